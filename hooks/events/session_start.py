STEPS = (
    "forget_reads",
    "index_session",
    "record_scope",
    "inject_memory",
    "tell_branch",
    "watch_tools",
    "start_worker",
)
