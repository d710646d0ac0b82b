"""Starts the program of the clone that this plugin's folder is a part of."""

import os
import sys

CLONE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# What the person reads where the agent has copied this folder out of its clone.
LOST = (
    '{"systemMessage":"brainhooks: the plugin with the server door works from a clone only.'
    " Nothing is remembered in this session. Take the plugin brainhooks instead, or a clone:"
    ' claude plugin marketplace add /path/to/brainhooks"}\n'
)

if os.path.isfile(os.path.join(CLONE, "hooks", "dispatch.py")):
    sys.path.insert(0, CLONE)
    import hooks.__main__  # noqa: F401 - it runs, and ends this process
elif sys.argv[1:] == ["SessionStart"]:
    os.write(1, LOST.encode())
