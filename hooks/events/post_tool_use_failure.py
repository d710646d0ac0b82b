STEPS = (
    "count_failure",
    "tell_branch",
    "watch_tools",
)
