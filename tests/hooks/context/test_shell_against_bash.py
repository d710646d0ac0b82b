"""The reader against bash itself: random scripts of nested quotes, here-documents and functions.

``git`` is a program of ours that notes a push; nothing else is in PATH.
"""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest

from hooks.context.shell_words import commands, operands, succeeded

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="the reference is bash")

GIT = """#!/bin/sh
while :; do case $1 in -C) shift 2;; -*) shift;; *) break;; esac; done
[ "$1" = push ] && echo x >> "$LOG"
exit 0
"""
LEAVES = [
    *("git push", "git -C x push -f", "g=push; git $g", "p=git\n$p push", "git pu\\\nsh"),
    *("git $'pu\\x73h'", 'export g=push; git "$g"', "case git in git) git push;; esac"),
    *("echo git push", "git status", ":", "# git push", "echo 'git push'", "a=(git push)"),
    *("[[ git > push ]]", "((1<<2))", "echo $[1<<2]", 'echo "git push"', "x='git push'"),
]
AROUND = [
    *("{x}\n{y}", "{x}\n{y}", "echo $({x}\n)", 'echo "a $({x}\n) b"', "bash -c {q}", "eval {q}"),
    *("cat <<'{n}'\n{x}\n{n}", "cat <<-'{n}'\n\t{x}\n\t{n}", "cat <<{n}\n$({x}\n)\n{n}"),
    *("bash <<'{n}'\n{x}\n{n}", "bash <<< {q}", "cat <<< {q}", "if {x}\nthen {y}\nfi"),
    *("( {x}\n)", "{{ {x}\n}}", "f{n}() {{ {x}\n}}\nf{n}", "f{n}() {{ {x}\n}}", "echo {q}"),
    *("function f{n} {{\n{x}\n}}\nf{n}", '[ -n "$({x}\n)" ]', 'v{n}={q}\neval "$v{n}"'),
    *("echo `{b}`", "for i in 1\ndo {x}\ndone", "case a in\n b) {y}\n ;;\n (a) {x}\n ;;\nesac"),
    *("while {x}\ndo break\ndone", "! {{ {x}\n}}", "trap {q} EXIT", "cat <({x}\n)", "z=$({x}\n)"),
    *("echo ${{u:-$({x}\n)}}", "a=($({x}\n))", "printf %s {q} | bash", "time {{ {x}\n}}"),
]


def script(chance, depth):
    if depth == 0:
        return chance.choice(LEAVES)
    inner = script(chance, depth - 1)
    return chance.choice(AROUND).format(
        x=inner,
        y=script(chance, depth - 1) if chance.random() < 0.4 else ":",
        q="'" + inner.replace("'", "'\\''") + "'",
        b=inner.replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$"),
        n=f"E{chance.randrange(10**6)}",
    )


@pytest.fixture
def ran(tmp_path):
    """Run a script in bash; say whether it pushed, and its exit code."""
    programs, log = tmp_path / "bin", tmp_path / "log"
    programs.mkdir()
    (tmp_path / "x").mkdir()
    (programs / "git").write_text(GIT)
    (programs / "git").chmod(0o755)
    for name in ("bash", "cat"):
        (programs / name).symlink_to(shutil.which(name))

    def run(text):
        log.unlink(missing_ok=True)
        env = {"PATH": str(programs), "LOG": str(log)}
        done = subprocess.run(
            [BASH, "-c", text],
            cwd=tmp_path,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return log.exists(), done.returncode

    return run


def is_push(one):
    return one.program == "git" and operands(one)[:1] == ("push",)


@pytest.mark.parametrize("seed", range(4))
def test_no_push_that_bash_runs_is_missed_and_none_is_proven_that_it_does_not(ran, seed):
    chance, pushed = random.Random(seed), 0
    for _ in range(60):
        text = script(chance, chance.randint(1, 5))
        did, code = ran(text)
        pushed += did
        found = commands(text)
        if did:
            assert any(is_push(one) or not one.certain for one in found), text
        elif code == 0:
            assert not any(is_push(one) for one in succeeded(text)), text
    assert pushed > 5


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_plain_command_is_read_exactly_as_bash_runs_it(ran, leaf):
    assert ran(leaf)[0] is any(is_push(one) for one in commands(leaf))
