STEPS = (
    "collect_markers",
    "start_worker",
)
