STEPS = ("inject_top_lessons",)
