"""Seeded mutation fuzzing: one target per parser of what other programs wrote."""
