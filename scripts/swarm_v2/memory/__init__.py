"""Scoped memory: one document, an instance per space, person and session."""
