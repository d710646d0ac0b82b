"""What a tool call does, and how it failed, so that a repetition is seen as one.

Paths, URLs, hashes, numbers, times and temporary names are what a repetition differs in; they
are masked. Pure, linear in the text, and of a long error only both ends are read.
"""

from __future__ import annotations

from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import NamedTuple

    from hooks.context.shell_words import Command
else:
    from hooks.record import NamedTuple

# What every denial of ours begins with: a denial is no failure of the tool, and never counted.
OURS = "brainhooks guard: "
EDITORS = ("Edit", "MultiEdit", "Write", "NotebookEdit")  # the tools that change a file
_PARTS = 6  # commands of a script that tell it from another
_PART = 48  # characters of one
_END = 4_096  # characters of an error that are read at each end
_LINE = 300  # masked characters of a line that count


class Operation(NamedTuple):
    """``Bash`` with programs and subcommands; of every other tool its name alone."""

    tool: str
    parts: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Name it in a sentence."""
        return f"`{' + '.join(self.parts)}`" if self.parts else f"the tool {self.tool}"


def operation(tool: str, tool_input: Mapping[str, object]) -> Operation:
    """Return what a call of ``tool`` does, as far as two calls are one operation."""
    command = tool_input.get("command")
    if tool != "Bash" or not isinstance(command, str):
        return Operation(_plain(tool))
    from hooks.context.shell_words import commands

    return Operation(tool, groups(commands(command)))


def groups(some: Iterable[Command]) -> tuple[str, ...]:
    """Return program and subcommand of each command, each once, in order.

    What only prepares, prints or filters (``cd``, ``echo``, ``tail``) counts where nothing else is.
    """
    found = dict.fromkeys(_group(one.program, one.args, one.certain) for one in some)
    telling = [group for group in found if group.partition(" ")[0] not in _CARRIERS]
    return tuple((telling or list(found))[:_PARTS])


_CARRY = (
    "cd pushd popd echo printf export declare local set unset shopt source . true false : exit "
    "return break continue shift sleep wait head tail cat less tr cut sort uniq wc tee column nl "
    "grep egrep fgrep date pwd test [ read which type hash ulimit umask trap"
)
_CARRIERS = frozenset(_CARRY.split())
_PYTHONS = ("python", "pypy")
# Programs that are told apart by so many of their first operands.
_ONE = (
    "git npm pnpm yarn bun npx bunx uvx pipx deno docker podman kubectl helm cargo rustup go uv "
    "pip pipenv poetry pdm hatch conda make just task nox tox rake rails bundle gem mix composer "
    "dotnet mvn gradle gradlew bazel terraform pulumi apt apt-get dnf apk brew snap systemctl "
    "service journalctl pre-commit alembic ruff flutter dart swift ng next vite turbo nx lerna svn "
    "hg jj vercel netlify fly heroku redis-cli brainhooks claude"
)
_TWO = ("gh", "glab", "aws", "gcloud", "az", "doctl")
_SUBCOMMANDS = {**dict.fromkeys(_ONE.split(), 1), **dict.fromkeys(_TWO, 2)}
_GO_ON = frozenset(("run", "run-script", "compose", "tool", "submodule", "stash"))
# What runs another program, which then is told apart as if it stood alone.
_RUNNERS = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch"), ("run",)),
    **dict.fromkeys(("pnpm", "yarn", "npm"), ("exec", "dlx", "x")),
    "bundle": ("exec",),
}


def _group(program: str, args: tuple[str, ...], certain: bool) -> str:
    if not program or not certain:
        return "?"
    name = program.rstrip("0123456789.-") or program
    out = [_named(name)]
    for _ in range(3):
        words = _words(name, args)
        inner = [at for at in range(1, len(words)) if not words[at].startswith("-")][:1]
        if not inner or words[0] not in _RUNNERS.get(name, ()):
            break
        name, args = words[inner[0]].rpartition("/")[2], words[inner[0] + 1 :]
        out += [words[0], _named(name)]
    out += _subcommands(name, args)
    return " ".join(out)[:_PART]


def _words(name: str, args: tuple[str, ...]) -> tuple[str, ...]:
    from hooks.context.shell_words import Command, operands

    return operands(Command(name, args, True))


def _subcommands(name: str, args: tuple[str, ...]) -> list[str]:
    if name in _PYTHONS:
        return _module(args)
    most = _SUBCOMMANDS.get(name, 0)
    found: list[str] = []
    for word in _words(name, args) if most else ():
        if len(found) == most or word.startswith("-"):
            break
        if not _is_word(word):
            break
        found.append(_named(word))
        most += found == [word] and word in _GO_ON
    return found


def _module(args: tuple[str, ...]) -> list[str]:
    """``python -m pytest`` is another operation than ``python x.py``."""
    for index, arg in enumerate(args):
        if arg == "-m" and index + 1 < len(args):
            return [_named(args[index + 1])]
        if not arg.startswith("-"):
            break
    return []


def _is_word(text: str) -> bool:
    return text[:1].isalpha() and text.isascii() and not text.strip(_WORD)


_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:"


def _named(text: str) -> str:
    """Return a program's or subcommand's name without what differs from call to call."""
    return "".join(_digits(piece) for piece in _pieces(_plain(text)))[:_PART]


def _plain(text: str) -> str:
    """A name goes into a sentence for the model, in quotes: no other characters than of names."""
    return "".join(char if char.isalnum() or char in "-_.:@+" else "?" for char in text[:_PART])


def _digits(piece: str) -> str:
    if _is_random(piece):
        return "#"
    out: list[str] = []
    for char in piece:
        digit = char.isdigit()
        if not digit or out[-1:] != ["#"]:
            out.append("#" if digit else char)
    return "".join(out)


def fingerprint(tool: str, tool_input: Mapping[str, object], error: str) -> str:
    """Return 32 hex digits that are the same for what is the same error."""
    return short_digest("\n".join(signature(tool, tool_input, error)).encode("utf-8"))


def signature(tool: str, tool_input: Mapping[str, object], error: str) -> list[str]:
    """Return the masked lines that tell one error of ``tool`` from another.

    Of a shell command its exit code and the first and last line that speak of a failure (the
    last line where none does); of any other tool the first line: what follows quotes the input.
    """
    lines = _lines(_ends(error))
    if tool != "Bash":
        lines = [line for line in lines if sum(map(str.isalpha, line)) > 2][:1]
        return [masked(_without_input(line, tool_input))[:_LINE] for line in lines]
    said = lines.pop(0) if lines and lines[0].startswith("Exit code ") else ""
    telling = [line for line in lines if _tells(line)] or lines[-1:]
    picked = dict.fromkeys((telling[0], telling[-1])) if telling else {}
    return [said[:_LINE], *(masked(line)[:_LINE] for line in picked)]


def _ends(text: str) -> str:
    """Return both ends of a long text, whole lines where it has some."""
    if len(text) <= 2 * _END:
        return text
    head, tail = text[:_END], text[-_END:]
    return f"{head.rpartition(chr(10))[0] or head}\n{tail.partition(chr(10))[2]}"


def _lines(text: str) -> list[str]:
    first, *colored = text.split("\x1b[")
    for piece in colored:  # up to the letter that ends a color
        at = next((at for at, char in enumerate(piece) if char.isalpha()), len(piece))
        first += piece[at + 1 :]
    return [line for line in map(str.strip, first.splitlines()) if line]


_TELLING = (
    *("error", "fail", "fatal", "denied", "cannot", "can't", "could not", "couldn't", "not found"),
    *("no such", "exception", "refused", "timed out", "timeout", "unable", "invalid", "missing"),
    *("unexpected", "undefined", "unknown", "panic", "abort", "killed", "conflict", "rejected"),
    *("not permitted", "not allowed", "does not", "unsupported", "usage:", "blocked"),
)


def _tells(line: str) -> bool:
    lower = line.lower()
    return any(word in lower for word in _TELLING)


def _without_input(line: str, tool_input: Mapping[str, object]) -> str:
    """Take out what the call itself said where it is a path, blanks in it and all."""
    for value in list(tool_input.values())[:16]:
        if isinstance(value, str) and 2 < len(value) < _LINE and ("/" in value or "\\" in value):
            line = line.replace(value, "/")
    return line


def masked(line: str) -> str:
    """Return ``line`` with everything in it that a repetition may differ in as one sign."""
    out: list[str] = []
    for chunk in _chunks(line):
        if chunk in _ENDS_CHUNK:
            _put(out, chunk)
        elif "/" in chunk or "\\" in chunk or _is_file(chunk):
            _put(out, "<path>")
        elif _is_uuid(chunk):
            _put(out, "#")
        else:
            for piece in _pieces(chunk):
                _put(out, "#" if _differs(piece) else piece)
    return "".join(out)


def _put(out: list[str], piece: str) -> None:
    """``12:30:05.2`` and ``10-11`` are one number; so are two with nothing between them."""
    if piece == "#":
        if out[-1:] == ["#"]:
            return
        if len(out) > 1 and out[-2] == "#" and out[-1] in _JOINTS:
            del out[-1]
            return
    out.append(piece)


_JOINTS = ("-", ":", ".", ",", "_", "+")
_QUOTES = "'\"`"
_ENDS_URL = frozenset(" \t\r\n'\"`()[]{}<>;")
_ENDS_CHUNK = frozenset(" \t\r\n'\"`()[]{}<>=,;|:!?*")


def _chunks(line: str) -> Iterator[str]:
    """Split into runs without blanks, quotes and brackets, and those signs one by one.

    A text in quotes that holds a path is one run: a path may have blanks.
    """
    at, unpaired = 0, set()
    while at < len(line):
        char = line[at]
        if char in _QUOTES and char not in unpaired and not line[at - 1 : at].isalnum():
            end = line.find(char, at + 1)
            if end < 0:
                unpaired.add(char)
            elif "/" in line[at:end] or "\\" in line[at:end]:
                yield from (char, "/", char)
                at = end + 1
                continue
        end = at + 1 if char in _ENDS_CHUNK else _end(line, at + 1)
        yield line[at:end]
        at = end


def _end(line: str, at: int) -> int:
    """Return where the run ends; a drive with its path, and a whole URL, are one."""
    ends = _ENDS_CHUNK
    while at < len(line):
        if line[at] == ":" and line[at + 1 : at + 2] in ("/", "\\"):
            ends = _ENDS_URL
        elif line[at] in ends:
            break
        at += 1
    return at


def _pieces(text: str) -> Iterator[str]:
    """Split into runs of letters and digits, and the signs between them one by one."""
    start = 0
    for at, char in enumerate(text):
        if not char.isalnum():
            if start < at:
                yield text[start:at]
            yield char
            start = at + 1
    if start < len(text):
        yield text[start:]


def _differs(piece: str) -> bool:
    return any(map(str.isdigit, piece)) or _is_random(piece)


_HEX = "0123456789abcdefABCDEF"


def _is_random(piece: str) -> bool:
    """Say whether it is a hash, or a name that something temporary was given."""
    return (len(piece) > 6 and not piece.strip(_HEX)) or (piece[:3] == "tmp" and len(piece) > 3)


def _is_uuid(chunk: str) -> bool:
    digits = chunk.replace("-", "")
    return len(chunk) == 36 and len(digits) == 32 and not digits.strip(_HEX)


_FILES = (
    "txt md rst py pyi pyc js mjs cjs ts tsx jsx vue css scss html htm json jsonl yaml yml toml "
    "ini cfg conf env lock log out err sh bash c h cc cpp hpp o so a rs go java kt class jar rb "
    "php pl swift sql db sqlite csv tsv xml svg png jpg gif pdf zip gz tar tgz whl ipynb tmp bak "
    "diff patch"
)
_SUFFIXES = frozenset(_FILES.split())


def _is_file(chunk: str) -> bool:
    stem, dot, suffix = chunk.rstrip(".").rpartition(".")
    return bool(dot and stem) and suffix.lower() in _SUFFIXES
