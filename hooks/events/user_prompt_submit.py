STEPS = (
    "answer_verb",
    "catch_up_start",
    "inject_news",
)
