STEPS = (
    "note_read",
    "note_success",
    "tell_pull_request",
    "tell_branch",
    "watch_tools",
)
