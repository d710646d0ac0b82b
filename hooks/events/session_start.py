STEPS = (
    "index_session",
    "record_scope",
    "inject_memory",
    "start_worker",
)
