"""Which programs a shell command runs: as bash reads it, and never by a text that is only text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.shell_words import LIMIT, Command, commands, operands, succeeded, writers

PUSH = Command("git", ("push",), True)


def pushes(text: str) -> bool:
    return any(one.program == "git" and operands(one)[:1] == ("push",) for one in commands(text))


ONLY_TEXT = {
    "echo": 'echo "git push"',
    "echo without quotes": "echo git push",
    "grep": "git log | grep 'git push' docs/",
    "a comment": "# git push\nls # git push",
    "a commit message": "git commit -m 'then git push'",
    "a commit message in a here-document": (
        'git commit -m "$(cat <<\'EOF\'\nDon\'t (git push\ngit push && done; "now"\nEOF\n)"'
    ),
    "a here-document": "cat <<'EOF'\ngit push\nEOF",
    "a here-document that expands": "cat <<EOF\ngit push\nEOF",
    "a here-document with tabs": "cat <<-EOF\n\tgit push\n\tEOF\nls",
    "a tab before the end of one that allows none": "cat <<EOF\n\tEOF\ngit push\nEOF\nls",
    "a here-document that is never closed": "cat <<'EOF'\ngit push\n",
    "a here-document whose end is a word of several quotes": "cat <<E'O'\"F\"\ngit push\nEOF",
    "two here-documents": "cat <<A <<B\ngit push\nA\ngit push\nB\nls",
    "a here-document of a line that goes on": "cat <<A && ls\ngit push\nA",
    "a here-document in CRLF": "cat <<'EOF'\r\ngit push\r\nEOF\r\nls\r\n",
    "a here-string": "cat <<< 'git push'",
    "a here-string without quotes": "grep x <<<push; echo git push",
    "a quote over several lines": "echo '\ngit push\n'",
    "escaped operators": "echo \\; git push \\&\\& git push",
    "an assignment": "message='git push'",
    "an assignment with substitution in single quotes": "m='$(git push)'",
    "a quote that is never closed": "echo 'a\ngit push",
    "a function that nobody calls": "f() { git push; }\nls",
    "a case pattern": "case $1 in git push) ls;; esac",
    "the words of a loop": "for word in git push; do echo $word; done",
    "an array": "words=(git push)\nls",
    "a question for the program": "command -v git push",
    "a test": "[ git = push ] && [[ git < push && ( git > push ) ]]",
    "a redirection": "ls > git push",
    "arithmetic": "echo $((git<<push))\n((git << push))",
    "another program of that name's end": "mygit push; git-push x",
    "another subcommand": "git -C push status; git -c push=1 log push",
    "xargs of another": "echo git push | xargs echo git push",
    "an escaped substitution": 'echo "\\$(git push) \\`git push\\`"',
}
RUNS = {
    "plain": "git push",
    "a folder of its own": "git -C x push",
    "options of git": "git --no-pager -c a.b=c --git-dir=/x push -f",
    "a path": "/usr/bin/git push",
    "a path nobody knows": '"$PREFIX/bin/git" push',
    "a variable": "g=push; git $g",
    "a variable in quotes and braces": 'g=push; git "${g}"',
    "a variable that holds it all": "all='git push'; $all",
    "a variable put together": "g=pu; g+=sh; git $g",
    "an exported variable": "export g=push && git $g",
    "quotes in the middle": "g'i't \"pu\"\\sh",
    "escapes of bash": "$'\\x67it' $'p\\165sh'",
    "bash -c": "bash -c 'git push && ls'",
    "clustered options": 'bash -lec "cd $folder && git push"',
    "sh of a path": "/bin/sh -c 'git push'",
    "eval": "eval 'git push'",
    "eval of words": "eval git push",
    "eval of a variable": "x='git push'; eval \"$x\"",
    "trap": "trap 'git push' EXIT",
    "a substitution": "echo $(git push)",
    "a substitution in quotes": 'echo "a $(echo "b $(git push)")"',
    "backticks": "echo `git push`",
    "backticks in backticks": "echo `echo \\`git push\\``",
    "a substitution in a here-document": "cat <<EOF\n$(git push)\nEOF",
    "a substitution in a default": "echo ${x:-$(git push)}",
    "a substitution in arithmetic": "echo $((1 + $(git push)))",
    "a process substitution": "diff <(git push) x",
    "a shell's here-document": "bash <<'EOF'\ngit push\nEOF",
    "a shell's here-string": "bash <<< 'git push'",
    "xargs": "ls | xargs git push",
    "xargs with options": "ls | xargs -n 1 -I{} git push {}",
    "find": "find . -name x -exec git push {} \\;",
    "sudo": "sudo -u dev git push",
    "env": "env -i A=b git push",
    "assignments": "A=1 B='2 3' git push",
    "time, timeout, nice, nohup": "time timeout -k 5 60 nice -n 5 nohup git push",
    "exec": "exec git push",
    "behind a pipe": "yes | git push",
    "behind and": "ls && git push",
    "behind or": "ls || git push",
    "behind a semicolon": "ls;git push",
    "behind an ampersand": "ls & git push",
    "behind a comment": "ls # it's\ngit push",
    "behind a here-document": "cat <<'EOF'\nit's\nEOF\ngit push",
    "behind an end with blanks in it": "cat <<'E F'\nx\nE F\ngit push",
    "behind arithmetic": "x=$((1<<2)); (( x <<= 2 ))\ngit push",
    "behind arithmetic of the older form": 'echo $[1<<2] "$[a[0] << 1]"\ngit push',
    "a substitution in arithmetic of the older form": "echo $[1 + $(git push)]",
    "behind a test": "[ -f x ] && git push",
    "behind a double bracket": "[[ $a =~ ^(x|y)$ ]] && git push",
    "behind an array": "a=(1 $x\n2)\ngit push",
    "a subshell": "(cd x && git push)",
    "a group": "{ ls; git push; }",
    "a condition": "if true; then ls; else git push; fi",
    "a loop": "for i in 1 2; do git push; done",
    "a loop of numbers": "for ((i=0; i<(1<<2); i++)); do git push; done",
    "a while": "while read x; do git push; done < f",
    "not": "! git push",
    "a case": "case $x in (a|b) ls;; c) git push;; esac",
    "a case in a substitution": "echo $(case x in x) git push;; esac)",
    "a function that is called": "f() { git push; }\nf",
    "the other spelling of a function": "function f {\n git push\n}\nf",
    "a redirection before": "2>&1 >log git push",
    "a joined line": "git \\\n  push",
    "CRLF": "ls\r\ngit push\r\n",
}


@pytest.mark.parametrize("text", ONLY_TEXT.values(), ids=ONLY_TEXT.keys())
def test_a_text_that_only_mentions_a_push_runs_none(text):
    assert not pushes(text), commands(text)


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS.keys())
def test_a_push_is_seen_wherever_a_shell_would_run_it(text):
    assert pushes(text), commands(text)
    assert all(one.certain for one in commands(text) if one.program == "git")


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS.keys())
def test_the_same_script_in_single_quotes_runs_nothing(text):
    quoted = "'" + text.replace("'", "'\\''") + "'"
    assert (
        commands(f"printf %s {quoted}") == [Command("printf", ("%s", text), True)] or "\r" in text
    )


@pytest.mark.parametrize(
    "text",
    [
        *("git $x", "$x push", "$(which git) push", "`x` push", "git {push,fetch}", "g?t push"),
        *("eval $x", 'bash -c "$x"', "echo 'git push' | bash", "ls | xargs git", "sudo $opts git"),
        *("g=push; g=$x; git $g", "[ a ] || g=push; git $g", "(g=push); git $g", "read g; git $g"),
        *("for g in push pull; do git $g; done", 'f() { "$@"; }; f git push', "${x:-git} push"),
        *("$((ls) | (cat))", "g=push; g[1]=x; git $g", "find . -exec $x {} \\;", "git $opts push"),
        *("ls | xargs -I{} git {}", "export g; g=$g; git $g", "g=push bash -c 'git $g'"),
    ],
)
def test_what_only_the_shell_can_know_is_not_certain(text):
    assert not all(one.certain for one in commands(text)), commands(text)


def test_commands_come_in_their_order_with_their_arguments_as_they_would_be():
    text = "cd 'a b'; x=1; A=2 make -j\"$x\" all >log 2>&1 | tee out.txt"
    assert commands(text) == [
        Command("cd", ("a b",), True),
        Command("make", ("-j1", "all"), True),
        Command("tee", ("out.txt",), True),
    ]


def test_what_is_not_known_stands_in_the_arguments_as_it_is_written():
    assert commands('gh pr view $N --json "$(cat f)"')[1] == Command(
        "gh", ("pr", "view", "$N", "--json", "$()"), True
    )


def test_the_operands_of_a_program_begin_with_its_subcommand():
    assert operands(Command("git", ("-C", "x", "--no-pager", "push", "-f"), True)) == ("push", "-f")
    assert operands(Command("gh", ("-R", "a/b", "pr", "create"), True)) == ("pr", "create")
    assert operands(Command("git", ("--", "x"), True)) == ("x",)
    assert operands(Command("git", (), True)) == ()


PROVEN = {
    "make": ["make"],
    "cd x && make": ["cd", "make"],
    "ls; make": ["make"],
    "ls\nmake\n": ["make"],
    "ls\n\nmake # x\n\n": ["make"],
    "yes | make": ["make"],
    "cd x && yes | make": ["cd", "make"],
    "make >log 2>&1": ["make"],
    "make && ls | tail": ["make", "tail"],
    "ls || cd x && make": ["make"],
    "sudo make": ["make"],
    "make | tail": ["tail"],
    "make || ls": [],
    "ls || make": [],
    "make; ls": ["ls"],
    "make; x=1": [],
    "make; [[ a ]]": [],
    "make; ((1))": [],
    "! make": [],
    "make && ! ls": ["make"],
    "make &": [],
    "make & ls": ["ls"],
    "if make; then ls; fi": [],
    "make; if true; then ls; fi": [],
    "make && (ls)": [],
    "make && { ls || true; }": [],
    "for x in a; do make; done": [],
    "f() { make; }; f": [],
    "bash -c '! make'": [],
    "eval make": [],
    "echo $(make)": ["echo"],
    "": [],
    "#" * (LIMIT + 1): [],
}


@pytest.mark.parametrize(("text", "proven"), PROVEN.items(), ids=[text[:30] for text in PROVEN])
def test_an_exit_of_0_proves_what_it_proves_and_no_more(text, proven):
    assert [one.program for one in succeeded(text)] == proven


def test_a_text_that_is_too_long_is_not_read():
    assert commands("git push\n" + "#" * LIMIT) == [Command("", (), False)]


PIECES = st.sampled_from(
    [
        *("git push", " ", "\n", ";", "&", "|", "(", ")", "{", "}", "<", ">", "<<E", "\nE\n"),
        *('"', "'", "`", "$(", "$((", "${", "$x", "x=", "\\", "#", "((", "))", "[[", "]]", "$'"),
        *("case x in ", "esac", ";;", "for x in ", "do", "done", "if", "fi", "f()", "function "),
        *(
            "eval ",
            "bash -c ",
            "sudo ",
            "xargs ",
            "find -exec ",
            "<(",
            "é",
            "\0",
            "\ud800",
            "time ",
        ),
    ]
)


@settings(deadline=None, max_examples=100)
@given(st.lists(PIECES | st.text(max_size=6), max_size=60).map("".join))
def test_no_text_raises_and_what_comes_back_are_texts(text):
    for one in commands(text):
        assert isinstance(one.program, str)
        assert all(isinstance(arg, str) for arg in one.args)


@settings(deadline=None, max_examples=100)
@given(st.text().filter(lambda text: "'" not in text))
def test_no_text_in_single_quotes_is_a_command(text):
    assert {one.program for one in commands(f"echo '{text}' # {text.splitlines()[:1]}")} == {"echo"}


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet=st.characters(exclude_characters="\r"), max_size=80))
def test_no_line_of_a_quoted_here_document_is_a_command(text):
    found = commands(f"cat <<'-E-'\n{text}\n-E-\ntail")
    assert [one.program for one in found] == ["cat", *(["tail"] if "-E-" not in text else [])] or (
        "-E-" in text
    )


LONG = [
    *("$((", "$(", "${a:-", '"$(', '"${a:-', "`", "\\`", "<<a ", "f(){ f;f; };", "a=$a$a$a x;"),
    *("eval ", "find -exec ", "sudo ", "( ", "case x in ", "{ ", "a=(", "'\"'", "bash -c ", "<("),
    *("x<<E\n$(x<<E\n", "if ", "for x in y; do ", "[[ ", "function f { ", "a", "\\", "$'\\x", "|"),
    *("a=xxxxxxxx;b=$a$a;a=$b$b;", "trap ", "<<E\nE\n", "#", "$a", "((", "git -C ", "x\n"),
]


@pytest.mark.parametrize("piece", LONG)
def test_the_longest_text_of_one_piece_ends_soon(piece):
    """Quadratic reading of this many characters would take minutes."""
    began = time.process_time()
    commands((piece * LIMIT)[:LIMIT])
    assert time.process_time() - began < 5


WRITES = {
    "ls > out": ["ls"],
    "cat <<'E' >> notes\nx\nE": ["cat"],
    "> empty": [""],
    "{ ls; pwd; } > out": [""],
    "(ls) &> out": [""],
    "sudo env A=1 /bin/ls 2>errors": ["ls"],
    "bash -c 'ls > out'": ["ls"],
    "a > x | b >| y": ["a", "b"],
    "ls >& both": ["ls"],
}
WRITES_NOT = (
    *("ls > /dev/null 2>&1", "ls >&2", "ls 2>&-", "ls < in", "cat <<E\n> x\nE", "cat <<< '> x'"),
    *("echo '> x'", 'echo "a -> b"', "echo \\> x", "[[ a > b ]]", "(( a > b ))", "ls # > x"),
    *("git log --format='%h -> %s'", "awk '$1 > 2' file", ""),
)


@pytest.mark.parametrize(("text", "programs"), WRITES.items(), ids=WRITES.keys())
def test_what_a_command_sends_into_a_file_is_seen(text: str, programs: list[str]) -> None:
    assert writers(text) == programs


@pytest.mark.parametrize("text", WRITES_NOT)
def test_what_goes_elsewhere_or_is_only_text_writes_no_file(text: str) -> None:
    assert writers(text) == []
