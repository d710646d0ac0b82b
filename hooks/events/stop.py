STEPS = (
    "collect_markers",
    "log_transcript",
    "count_tokens",
    "start_worker",
)
