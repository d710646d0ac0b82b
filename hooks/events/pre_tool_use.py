STEPS = (
    "answer_known_read",
    "deny_repeated_failure",
)
