STEPS = (
    "count_failure",
    "watch_tools",
)
