STEPS = (
    "forget_reads",
    "collect_markers",
    "log_transcript",
    "count_tokens",
    "start_worker",
)
