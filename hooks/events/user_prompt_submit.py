STEPS = (
    "answer_verb",
    "catch_up_start",
    "tell_branch",
    "watch_tools",
    "inject_news",
)
