STEPS = ("show_markers",)
