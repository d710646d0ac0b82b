"""What is known of markers without importing the grammar."""

from __future__ import annotations

# The bytes that every opening holds; not "<!-- @", as some JSON writers escape the bracket.
HINT = b"!-- @"

# The text in the note on how to mark: an agent that repeats the note has learned nothing.
EXAMPLE = "what to remember"
