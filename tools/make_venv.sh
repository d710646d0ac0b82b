#!/bin/sh
# Make .venv in the current folder with brainhooks and its test extra in it.
# PYTHON names the interpreter; else the first of the usual names that is new enough.
set -eu

new_enough='import sys; sys.exit(sys.version_info < (3, 11))'

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3 python; do
        if "$name" -c "$new_enough" 2>/dev/null; then
            # The real file: a pyenv shim would ask again what to start, each time.
            "$name" -c 'import sys; print(getattr(sys, "_base_executable", None) or sys.executable)'
            return
        fi
    done
    echo "brainhooks needs Python 3.11 or newer; set PYTHON=/path/to/python3 and run make again" >&2
    exit 1
}

PIP_CACHE_DIR=$PWD/.cache/pip
export PIP_CACHE_DIR
rm -f .venv/ready
if ! .venv/bin/python -c "$new_enough" 2>/dev/null; then
    python=$(find_python)
    echo "making .venv with $python"
    rm -rf .venv
    if ! "$python" -m venv .venv; then
        rm -rf .venv
        echo "this Python cannot make a virtual environment; on Debian: apt install python3-venv" >&2
        exit 1
    fi
fi
echo "installing into .venv"
.venv/bin/python -m pip install --quiet --editable '.[test]'
.venv/bin/python -c 'import os; print(os.getcwd())' > .venv/ready
