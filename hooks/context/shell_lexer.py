"""The words of a shell script: quotes, expansions and here-documents, in one pass over the text.

What runs inside a word (``$(…)``, backticks, an unquoted here-document) is read where it stands.
An expansion nobody knows the value of stays in the word as it is written, a substitution as
``$()``, and the word says so.
"""

from __future__ import annotations

from hooks.context.shell_word import Maker, ansi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from hooks.context.shell_word import Word
else:
    Protocol = object

META = frozenset(" \t\n;&|()<>")
_SPECIAL = META | frozenset("'\"\\$`")
_IN_DOUBLE = frozenset('"\\$`')
_SHORT = frozenset("@*#?$!-0123456789")  # $@, $1, $?
_LONGER = ";; ;& ;;& && || |& << <<- <<< >> <& >& &> &>> <> >|"
_OPERATORS = frozenset(_LONGER.split())  # each of ``META`` that is no blank is one too


class Shell(Protocol):
    """What the words are read for."""

    def value(self, name: str) -> str | None:
        """Return a variable's value, None where it is not known."""

    def enter(self) -> bool:
        """Go one level deeper; False where that is too deep: then nothing more is read."""

    def leave(self) -> None: ...

    def script(self, text: str) -> None:
        """Read ``text`` as a script of its own."""

    def unknown(self) -> None:
        """Something runs, and nobody can say what."""


class Heredoc:
    __slots__ = ("end", "expands", "run", "tabs")

    def __init__(self, end: str, expands: bool, tabs: bool) -> None:
        self.end, self.expands, self.tabs = end, expands, tabs
        self.run = False  # a shell reads it as its script


class Source:
    """A text and how far it is read. ``substitution`` reads a script up to its ``)``."""

    def __init__(self, text: str, shell: Shell, substitution: Callable[[Source], None]) -> None:
        self.text, self.at, self.end = text, 0, len(text)
        self.shell, self.substitution = shell, substitution
        self.pending: list[Heredoc] = []

    def peek(self) -> str | None:
        """Return the operator that comes next; None for a word, "" at the end."""
        self._skip()
        text, at = self.text, self.at
        if at >= self.end:
            return ""
        if text[at] not in META or text[at : at + 2] in ("<(", ">("):
            return None
        for length in (3, 2):
            if text[at : at + length] in _OPERATORS:
                return text[at : at + length]
        return text[at]

    def _skip(self) -> None:
        """Pass blanks, joined lines and a comment."""
        text = self.text
        while self.at < self.end:
            if text[self.at] in " \t":
                self.at += 1
            elif text.startswith("\\\n", self.at):
                self.at += 2
            elif text[self.at] == "#":
                end = text.find("\n", self.at)
                self.at = self.end if end < 0 else end
            else:
                return

    def word(self) -> list[Word]:
        """Read a word; [] where none begins here, or all of it vanished."""
        make = Maker()
        text = self.text
        while self.at < self.end:
            start = self.at
            while self.at < self.end and text[self.at] not in _SPECIAL:
                self.at += 1
            if start < self.at:
                make.add(text[start : self.at])
            if not self._special(make):
                break
        return make.words()

    def _special(self, make: Maker) -> bool:
        """Read what a special character begins; False where it ends the word."""
        char = self.text[self.at : self.at + 1]
        if char in META or not char:
            if self.text[self.at : self.at + 2] not in ("<(", ">("):
                return False
            self.at += 2
            self._within(lambda: self.substitution(self))
            make.unsure("<()")
            return True
        self.at += 1
        if char == "\\":
            self._escape(make)
        elif char == "'":
            make.quoted(self._upto("'"))
        elif char == '"':
            self._double(make)
        else:
            self._expansion(char, make, False)
        return True

    def _escape(self, make: Maker) -> None:
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if char != "\n":
            make.quoted(char or "\\")

    def _upto(self, char: str) -> str:
        start, end = self.at, self.text.find(char, self.at)
        if end < 0:  # never closed: a shell runs nothing of it
            self.at = self.end
            return self.text[start:]
        self.at = end + 1
        return self.text[start:end]

    def _double(self, make: Maker, closes: bool = True) -> None:
        """Read to the closing quote, or the whole text where nothing closes (a here-document)."""
        make.quoted("")
        while self.at < self.end:
            start = self.at
            while self.at < self.end and self.text[self.at] not in _IN_DOUBLE:
                self.at += 1
            make.quoted(self.text[start : self.at])
            char = self.text[self.at : self.at + 1]
            self.at += 1
            if char == '"':
                if closes:
                    return
                make.quoted(char)
            elif char == "\\":
                self._escape_in_double(make)
            elif char:
                self._expansion(char, make, True)

    def _escape_in_double(self, make: Maker) -> None:
        char = self.text[self.at : self.at + 1]
        if char not in _IN_DOUBLE and char != "\n":
            make.quoted("\\")
        else:
            self.at += 1
            make.quoted("" if char == "\n" else char)

    def _expansion(self, char: str, make: Maker, quoted: bool) -> None:
        read = self._backtick if char == "`" else self._dollar
        self._within(lambda: read(make, quoted))

    def _within(self, read: Callable[[], None]) -> None:
        if self.shell.enter():
            read()
            self.shell.leave()
        else:
            self.at = self.end

    def _dollar(self, make: Maker, quoted: bool) -> None:
        char = self.text[self.at : self.at + 1]
        if char == "(":
            self._parenthesis(make)
        elif char == "{":
            self.at += 1
            self._braced(make, quoted)
        elif char == "[":
            self._bracketed(make)
        elif char == "'" and not quoted:
            text, self.at = ansi(self.text, self.at + 1)
            make.quoted(text)
        elif char == '"' and not quoted:
            self.at += 1
            self._double(make)
        elif char and char in _SHORT:
            self.at += 1
            make.unsure("$" + char)
        elif name := self._name():
            self._variable(name, "$" + name, make, quoted)
        else:
            make.quoted("$")

    def _bracketed(self, make: Maker) -> None:
        """Read ``$[…]``, arithmetic as it was written once."""
        opened, spare = 0, Maker()
        while self.at < self.end:
            char = self.text[self.at]
            self.at += 1
            opened += (char == "[") - (char == "]")
            if not opened:
                break
            if char in "$`":
                self._expansion(char, spare, True)
        make.unsure("$[]")

    def _parenthesis(self, make: Maker) -> None:
        if self.text.startswith("((", self.at):
            self.at += 2
            self.arithmetic()
            make.unsure("$(())")
        else:
            self.at += 1
            self.substitution(self)
            make.unsure("$()")

    def arithmetic(self) -> None:
        """Read to the end of what ``((`` began; two subshells that begin so are not made out."""
        opened, closed_at, spare = 2, -2, Maker()
        while self.at < self.end and opened:
            char = self.text[self.at]
            self.at += 1
            if char == "(":
                opened += 1
            elif char == ")":
                opened -= 1
                if not opened and closed_at != self.at - 1:
                    self.shell.unknown()
                closed_at = self.at
            elif char in "$`":
                self._expansion(char, spare, True)

    def _name(self) -> str:
        start = at = self.at
        text = self.text
        while at < self.end and (text[at] == "_" or (text[at].isascii() and text[at].isalnum())):
            at += 1
        if start < at and text[start].isdigit():
            return ""
        self.at = at
        return text[start:at]

    def _variable(self, name: str, written: str, make: Maker, quoted: bool) -> None:
        value = self.shell.value(name)
        if value is None:
            make.unsure(written)
        elif quoted:
            make.quoted(value)
        else:
            make.split(value)

    def _braced(self, make: Maker, quoted: bool) -> None:
        name = self._name()
        written = "${" + name + "}"
        if name and self.text.startswith("}", self.at):
            self.at += 1
            self._variable(name, written, make, quoted)
            return
        spare = Maker()
        while self.at < self.end:
            char = self.text[self.at]
            self.at += 1
            if char == "}":
                break
            self._in_braces(char, spare, quoted)
        make.unsure(written)

    def _in_braces(self, char: str, spare: Maker, quoted: bool) -> None:
        if char == "\\":
            self.at += 1
        elif char == "'" and not quoted:
            self._upto("'")
        elif char == '"':
            self._within(lambda: self._double(spare))
        elif char in "$`":
            self._expansion(char, spare, True)

    def _backtick(self, make: Maker, quoted: bool) -> None:
        out: list[str] = []
        escapes = '\\`$"' if quoted else "\\`$"
        while self.at < self.end:
            char = self.text[self.at]
            self.at += 1
            if char == "`":
                break
            if char == "\\" and self.at < self.end and self.text[self.at] in escapes:
                char = self.text[self.at]
                self.at += 1
            out.append(char)
        self.shell.script("".join(out))
        make.unsure("$()")

    def heredoc(self, tabs: bool) -> Heredoc:
        """Read the end word behind ``<<``; the body follows at the next line's end."""
        self._skip()
        out, expands = [], True
        while self.at < self.end and (char := self.text[self.at]) not in META:
            self.at += 1
            if char in "'\"":
                char, expands = self._upto(char), False
            elif char == "\\":
                char, expands = self.text[self.at : self.at + 1], False
                self.at += 1
            out.append(char)
        self.pending.append(Heredoc("".join(out), expands, tabs))
        return self.pending[-1]

    def bodies(self) -> None:
        """Read the bodies that wait, at the beginning of a line; one without an end has it all."""
        pending, self.pending = self.pending, []
        for one in pending:
            body = self._body(one)
            if one.expands:
                body = self._expanded(body)
            if one.run:
                self.shell.script(body)

    def _body(self, one: Heredoc) -> str:
        start = self.at
        while self.at < self.end:
            begin, end = self.at, self.text.find("\n", self.at)
            end = self.end if end < 0 else end
            self.at = min(end + 1, self.end)
            line = self.text[begin:end]
            if (line.lstrip("\t") if one.tabs else line) == one.end:
                return self.text[start:begin]
        return self.text[start:]

    def _expanded(self, body: str) -> str:
        inner, make = Source(body, self.shell, self.substitution), Maker()
        inner._double(make, closes=False)
        return "".join(word.text for word in make.words())
