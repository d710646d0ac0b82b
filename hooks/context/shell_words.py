"""Which programs a shell command runs, as a shell would read it.

No hit in a quoted text, a here-document, a comment or an ``echo``; none missed behind ``eval``,
``bash -c``, ``sudo``, ``xargs``, a variable or a function. Nothing is executed and no file is
read: what only the shell can know comes back as not ``certain``. Pure, one pass, bounded.
"""

from __future__ import annotations

from hooks.context.shell_reader import Simple, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple

    from hooks.context.shell_word import Word
else:
    from hooks.record import NamedTuple

LIMIT = 65_536  # characters; more is not read
_DEPTH = 16  # substitutions and scripts within each other
_SPENT = 4 * LIMIT  # characters of scripts, values and commands that are used again


class Command(NamedTuple):
    """A simple command without what it is wrapped in, its assignments and its redirections.

    An expansion of unknown value stands as it was written (``$x``, ``$()`` for a substitution).
    """

    program: str  # its base name; "" where something runs that cannot be read
    args: tuple[str, ...]
    certain: bool  # False: an expansion decides which program, or which of its subcommands, runs


def commands(text: str) -> list[Command]:
    """Return what ``text`` runs, in its order; never raises.

    A text longer than ``LIMIT`` gives one command without a name that is not certain.
    """
    if len(text) > LIMIT:
        return [_UNKNOWN]
    shell = _Shell()
    read(text.replace("\r\n", "\n"), shell)
    return shell.found


def succeeded(text: str) -> list[Command]:
    """Return those of ``commands`` that have run and succeeded wherever ``text`` exited with 0.

    ``a && b`` proves both, ``a; b`` and ``a | b`` the second, ``a || b`` and a condition none.
    """
    if len(text) > LIMIT:
        return []
    proven = read(text.replace("\r\n", "\n"), _Shell())
    return [one for one in proven if isinstance(one, Command)]


def writers(text: str) -> list[str]:
    """Return the programs of ``text`` whose output it sends into a file; "" stands for a group."""
    if len(text) > LIMIT:
        return []
    shell = _Shell()
    read(text.replace("\r\n", "\n"), shell)
    return shell.writers


def operands(command: Command) -> tuple[str, ...]:
    """Return the arguments from the subcommand on: ``git -C x push -f`` gives push and -f."""
    at = _behind_options(command.args, 0, _VALUED.get(command.program, ""))
    return command.args[at:]


_UNKNOWN = Command("", (), False)
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash"))
_DECLARES = frozenset(("export", "declare", "local", "readonly", "typeset"))
_SETS = frozenset(("read", "unset", "mapfile", "readarray", "getopts", "printf", "let"))
_RUNS_ARGUMENTS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))

# program -> its options that take the next word as their value. A wrapper runs what follows.
_WRAPPERS = {
    "sudo": "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --chdir --prompt",
    "doas": "-u -C",
    "env": "-u -C --unset --chdir",
    "command": "",
    "builtin": "",
    "exec": "-a",
    "nohup": "",
    "setsid": "",
    "time": "-f -o --format --output",
    "timeout": "-s -k --signal --kill-after",
    "nice": "-n --adjustment",
    "ionice": "-c -n --class --classdata",
    "stdbuf": "-i -o -e --input --output --error",
    "unbuffer": "",
    "flock": "-w -E --timeout --conflict-exit-code",
    "strace": "-o -e -p -s -u",
    "xargs": "-I -n -P -L -d -a -E -s --max-args --max-procs --max-lines --delimiter --arg-file",
}
_OPERANDS = {"timeout": 1, "flock": 1}  # of the wrapper's own, before what it runs
_ASSIGNS = frozenset(("env", "sudo", "doas"))
_ASKS = frozenset(("-v", "-V", "-l", "-e", "-S", "--help", "--version", "--list", "--edit"))
_NO_RUN = {  # with one of these the wrapper does not run what follows, or not as words
    "command": _ASKS - {"-l", "-e", "-S"},
    "sudo": _ASKS - {"-S"},
    "env": frozenset(("-S", "--help", "--version")),
}
# Programs whose first operand says what they do.
_VALUED = {
    "git": "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env",
    "gh": "-R --repo",
    "glab": "-R --repo",
    **dict.fromkeys(("docker", "podman"), "-H --host -l --log-level --config -c --context"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "-C --prefix --cwd --dir --filter -F -w"),
    **dict.fromkeys(("cargo", "go", "uv", "pip", "poetry", "kubectl", "make", "terraform"), ""),
}


def _behind_options(args: Sequence[str], at: int, valued: str) -> int:
    """Return where the first operand is; ``len(args)`` where there is none."""
    takes = valued.split()
    while at < len(args) and args[at].startswith("-") and args[at] != "-":
        if args[at] == "--":
            return at + 1
        at += 2 if args[at] in takes else 1
    return min(at, len(args))


def _base(text: str) -> str:
    return text[text.rfind("/") + 1 :]


def _is_sure(word: Word, path: bool = False) -> bool:
    """Say whether the word is what it will be; of a ``path`` only the last part counts."""
    return not word.pattern and word.unsure <= (word.text.rfind("/") + 1 if path else 0)


class _Shell:
    """What one script knows while it is read, and what was found. See ``shell_reader.Runner``."""

    def __init__(self) -> None:
        self.variables: dict[str, str | None] = {}
        self.functions: dict[str, list[Command]] = {}
        self.found: list[Command] = []
        self.writers: list[str] = []
        self._outer: list[list[Command]] = []
        self._depth = self._spent = 0

    def value(self, name: str) -> str | None:
        value = self.variables.get(name)
        return value if value is not None and self._spend(len(value) + 1) else None

    def enter(self) -> bool:
        if self._depth >= _DEPTH:
            self.unknown()
            return False
        self._depth += 1
        return True

    def leave(self) -> None:
        self._depth -= 1

    def script(self, text: str) -> None:
        if not self._spend(len(text)):
            self.unknown()
        elif self.enter():
            read(text, self)
            self.leave()

    def unknown(self) -> None:
        if not self.found or self.found[-1] != _UNKNOWN:
            self.found.append(_UNKNOWN)

    def forget(self, name: str) -> None:
        self.variables[name] = None

    def begin_function(self) -> None:
        self._outer.append(self.found)
        self.found = []

    def end_function(self, name: str) -> None:
        self.functions[name] = self.found
        self.found = self._outer.pop()

    def run(self, command: Simple, sure: bool) -> Command | None:
        words, at = command.words, 0
        while at < len(words) and words[at].equals >= 0:
            at += 1
        if at < len(words):
            return self._run(words[at:], command, sure)
        if command.into_file:
            self.writers.append("")
        for word in words:
            self._assign(word, sure)
        return None

    def _spend(self, amount: int) -> bool:
        self._spent += amount
        return self._spent <= _SPENT

    def _assign(self, word: Word, sure: bool) -> None:
        name, value = word.text[: word.equals], word.text[word.equals + 1 :]
        known = sure and not word.unsure
        if name.endswith("+"):
            name = name[:-1]
            before = self.variables.get(name)
            known, value = known and before is not None, (before or "") + value
        name, bracket, _ = name.partition("[")
        known = known and not bracket
        self.variables[name] = value if known and self._spend(len(value)) else None

    def _run(self, words: list[Word], command: Simple, sure: bool) -> Command | None:
        at, fed = _unwrap(words)
        words = words[at:]
        name = _base(words[0].text)
        if command.into_file:
            self.writers.append(name)
        if name in self.functions:
            self._call(self.functions[name])
        elif not self._as_script(name, words, command):
            noted = self._note(name, words, command, fed)
            self._remember(name, words, sure)
            return noted
        return None

    def _call(self, body: list[Command]) -> None:
        if self._spend(len(body)):
            self.found += body
        else:
            self.unknown()

    def _as_script(self, name: str, words: list[Word], command: Simple) -> bool:
        """Read what ``eval``, ``trap`` or a shell runs; False where there is no text of it."""
        if name in ("eval", "trap"):
            texts = [word.text for word in words[1 : None if name == "eval" else 2]]
            return self._nested(" ".join(texts).removeprefix("-"))
        return name in _SHELLS and self._of_shell(words, command)

    def _nested(self, text: str) -> bool:
        before = len(self.found)
        self.script(text)
        return len(self.found) > before

    def _of_shell(self, words: list[Word], command: Simple) -> bool:
        args = [word.text for word in words[1:]]
        at = _behind_options(args, 0, "-o -O --rcfile --init-file")
        if any(arg[:1] == "-" and arg[:2] != "--" and "c" in arg for arg in args[:at]):
            return at < len(args) and self._other_shell(args[at])
        if at < len(args) and "-s" not in args[:at]:
            return False  # a file's
        if command.heredoc is not None:
            command.heredoc.run = True  # its body is still to come
            return True
        return command.stdin is not None and self._other_shell(command.stdin)

    def _other_shell(self, text: str) -> bool:
        """Another process knows none of our variables."""
        ours, self.variables = self.variables, {}
        try:
            return self._nested(text)
        finally:
            self.variables = ours

    def _note(self, name: str, words: list[Word], command: Simple, fed: bool) -> Command:
        args = tuple(word.text for word in words[1:])
        certain = _is_sure(words[0], path=True) and bool(name)
        if certain and name in _VALUED:
            at = _behind_options(args, 0, _VALUED[name])
            certain = _is_sure(words[at + 1]) and args[at] != "{}" if at < len(args) else not fed
        if name in _SHELLS and command.is_fed and not args:
            certain = False
        noted = Command(name, args, certain)
        self.found.append(noted)
        if name == "find":
            self._find(words)
        return noted

    def _find(self, words: list[Word]) -> None:
        at = 1
        while at < len(words):
            end = at + 1
            if words[at].text in _RUNS_ARGUMENTS:
                while end < len(words) and words[end].text not in (";", "+"):
                    end += 1
                if end > at + 1 and self.enter():
                    self._run(words[at + 1 : end], Simple(), False)
                    self.leave()
            at = end

    def _remember(self, name: str, words: list[Word], sure: bool) -> None:
        if name in _DECLARES:
            for word in words[1:]:
                if word.equals >= 0:
                    self._assign(word, sure)
        elif name in _SETS:
            for word in words[1:]:
                self.forget(word.text)
        elif name in ("source", "."):
            self.variables.clear()


def _unwrap(words: list[Word]) -> tuple[int, bool]:
    """Return where the wrapped program is, and whether ``xargs`` adds to its arguments."""
    at, fed = 0, False
    texts = [word.text for word in words]
    while (name := _base(texts[at])) in _WRAPPERS and _is_sure(words[at], path=True):
        to = _behind_options(texts, at + 1, _WRAPPERS[name]) + _OPERANDS.get(name, 0)
        while to < len(words) and name in _ASSIGNS and words[to].equals >= 0:
            to += 1
        if to >= len(words) or not _NO_RUN.get(name, frozenset()).isdisjoint(texts[at + 1 : to]):
            break
        at, fed = to, fed or name == "xargs"
    return at, fed
