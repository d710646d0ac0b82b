"""The bytes that every opening marker holds, known without importing the grammar."""

from __future__ import annotations

HINT = b"!-- @"  # not "<!-- @": some JSON writers escape the angle bracket
