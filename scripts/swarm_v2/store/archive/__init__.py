"""The transcript archive: every session byte for byte, after the agent deleted its own copy.

A transcript is cut into segments. Each is two texts: its *body* (the lines that a fork repeats,
without the ids that a fork changes) and its *own* (those ids, and the lines of this file alone).
Bodies are chunks named by the SHA-256 of what they hold, so a fork's copied lines are stored
once. A stamped manifest per session lists the segments. It needs no store and no dependency.

    <home>/archive/k2-archive-<32 hex>.json    one session's manifest
    <home>/archive/chunks/<64 hex>             compressed; the name is the digest of the content
    <home>/archive/tails/<key>-<32 hex>        what a session wrote behind its last whole segment
"""
