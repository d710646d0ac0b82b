"""The simple commands of a shell script, in the order in which they stand.

Both branches of a condition are read: nobody can say here which one runs. What is defined as a
function is read where it is called.
"""

from __future__ import annotations

from hooks.context.shell_lexer import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from hooks.context.shell_lexer import Heredoc, Shell
    from hooks.context.shell_word import Word

    class Runner(Shell, Protocol):
        """What the commands are read for."""

        def run(self, command: Simple, sure: bool) -> object:
            """Take a command; not ``sure``: it runs under a condition, or in another process.

            Returns what it is, None where it is not a single program.
            """

        def forget(self, name: str) -> None:
            """The variable's value is not known any more."""

        def begin_function(self) -> None: ...

        def end_function(self, name: str) -> None: ...


_OPENS = {"if": "fi", "while": "done", "until": "done", "{": "}"}  # keyword -> what closes it
_CLOSES = frozenset(("fi", "done", "}"))
_PASSED = frozenset(("then", "else", "elif", "do", "coproc"))
_HERE = ("<<", "<<-")
_REDIRECTS = frozenset(("<", ">", ">>", "<&", ">&", "&>", "&>>", "<>", ">|"))
_OUTPUTS = frozenset((">", ">>", "&>", "&>>", ">|", ">&"))
_PIPES = ("|", "|&")
_UNSURE = frozenset(("|", "|&", "||"))


class Simple:
    """One simple command as it stands, assignments first."""

    __slots__ = ("after", "heredoc", "into_file", "other", "stdin", "words")

    def __init__(self, after: str = "") -> None:
        self.words: list[Word] = []
        self.into_file = False  # what it prints goes into a file
        self.other = False  # its status is a test's, or the opposite of its program's
        self.after = after  # the operator before it
        self.stdin: str | None = None  # a here-string
        self.heredoc: Heredoc | None = None

    @property
    def is_fed(self) -> bool:
        """Say whether its input is another command's output."""
        return self.after in _PIPES


def read(text: str, shell: Runner) -> list[object]:
    """Read ``text`` and hand each command to ``shell``. Never raises for what it finds.

    Returns what has run and succeeded wherever the whole text did: its last pipeline's end,
    and what ``&&`` joins to it.
    """
    source = Source(text, shell, lambda source: Script(source, shell, True).read())
    script = Script(source, shell)
    script.read()
    return script.proven


class Script:
    """``inner``: up to the ``)`` that closes a substitution."""

    def __init__(self, source: Source, shell: Runner, inner: bool = False) -> None:
        self.source, self.shell, self.inner = source, shell, inner
        self.frames: list[tuple[str, str]] = []  # what closes it, the function whose body it is
        self.command = Simple()
        self.function = ""  # was named, its body comes
        self.proven: list[object] = []

    def read(self) -> None:
        while (operator := self.source.peek()) != "":
            if operator is not None:
                self.source.at += len(operator)
                if self._operator(operator):
                    break
            elif self._top == "pattern":
                self._pattern_word()
            else:
                self._word()
        self._finish("")
        while self.frames:
            self._pop()

    @property
    def _top(self) -> str:
        return self.frames[-1][0] if self.frames else ""

    def _push(self, closes: str) -> None:
        self.frames.append((closes, self.function))
        if self.function:
            self.shell.begin_function()
        self.function = ""

    def _pop(self) -> None:
        _, function = self.frames.pop()
        if function:
            self.shell.end_function(function)

    def _finish(self, follows: str) -> None:
        command, self.command = self.command, Simple(follows)
        noted = None
        if command.words or command.into_file:
            nested = bool(self.frames) or self.inner
            sure = not nested and follows not in _PIPES and command.after not in _UNSURE
            noted = self.shell.run(command, sure)
        if command.words or command.other:
            self._prove(command, follows, noted)
        else:
            self.command.after = follows if follows not in ("", "\n") else command.after

    def _prove(self, command: Simple, follows: str, noted: object) -> None:
        """Keep what succeeded if all did; it may be less, never more."""
        if self.frames or command.after not in ("&&", *_PIPES):
            self.proven = []
        counts = not self.frames and not command.other and command.after != "||"
        if follows == "&":
            self.proven = []
        elif noted is not None and counts and follows not in _PIPES:
            self.proven.append(noted)

    def _operator(self, operator: str) -> bool:
        """Say whether it closes the substitution."""
        if operator in _HERE:
            self.command.heredoc = self.source.heredoc(operator == "<<-")
        elif operator == "<<<":
            self._here_string()
        elif operator in _REDIRECTS:
            self._redirect(operator)
        elif operator == "(":
            self._parenthesis()
        elif operator == ")":
            return self._close()
        else:
            self._separator(operator)
        return False

    def _separator(self, operator: str) -> None:
        if self._top == "pattern" and operator == "|":
            return
        self._finish(operator)
        if operator == "\n":
            self.source.bodies()
        elif operator in (";;", ";&", ";;&") and self._top == "esac":
            self.frames[-1] = ("pattern", self.frames[-1][1])

    def _target(self) -> list[Word]:
        return self.source.word() if self.source.peek() is None else []

    def _redirect(self, operator: str) -> None:
        for word in self._target():
            stream = word.text.isdigit() or word.text == "-" or word.text.startswith("/dev/")
            if operator in _OUTPUTS and not stream:
                self.command.into_file = True

    def _here_string(self) -> None:
        self.command.stdin = " ".join(word.text for word in self._target())

    def _parenthesis(self) -> None:
        if self._top == "pattern":
            return
        if self.command.words or self.function:
            self._definition()
        elif self.source.text.startswith("(", self.source.at):
            self.source.at += 1
            self.source.arithmetic()
            self.command.other = True
        else:
            self._push(")")

    def _definition(self) -> None:
        """``name ()``, or the body in parentheses of a function that was named."""
        if self.source.peek() != ")":
            self._finish("")
            self._push(")")
        elif self.command.words:
            self.source.at += 1
            self.function = self.command.words[-1].text
            self.command = Simple()

    def _close(self) -> bool:
        if self._top == "pattern":
            self.frames[-1] = ("esac", self.frames[-1][1])
            return False
        self._finish("")
        if self._top == ")":
            self._pop()
            return False
        return self.inner

    def _word(self) -> None:
        source = self.source
        words = source.word()
        if len(words) == 1 and words[0].plain:
            word = words[0]
            if word.text.isdigit() and source.text[source.at : source.at + 1] in ("<", ">"):
                return  # the number of a stream
            if not self.command.words and self._keyword(word.text):
                return
        if len(words) == 1 and words[0].equals == len(words[0].text) - 1:
            self._array(words[0])
        self.command.words += words

    def _array(self, word: Word) -> None:
        """``name=(…)``: its value is not kept."""
        source = self.source
        if not source.text.startswith("(", source.at):
            return
        source.at += 1
        while (operator := source.peek()) != "":
            if operator is None:
                source.word()
                continue
            source.at += len(operator)
            if operator == ")":
                break
        word.unsure = len(word.text)

    def _keyword(self, text: str) -> bool:
        if text in _OPENS:
            self._push(_OPENS[text])
        elif text in _CLOSES:
            if self._top == text:
                self._pop()
        elif text == "esac":
            return self._end_case()
        elif text == "time":
            self._time()
        elif text == "!":
            self.command.other = True
        elif text not in _PASSED:
            return self._header(text)
        return True

    def _header(self, text: str) -> bool:
        if text in ("for", "select"):
            self._loop()
        elif text == "case":
            self._case()
        elif text == "function":
            self._named_function()
        elif text == "[[":
            self._test()
        else:
            return False
        return True

    def _time(self) -> None:
        if self.source.peek() is None and self.source.text.startswith("-p", self.source.at):
            self.source.word()

    def _end_case(self) -> bool:
        if self._top != "esac":
            return False
        self._pop()
        return True

    def _pattern_word(self) -> None:
        words = self.source.word()
        if len(words) == 1 and words[0].plain and words[0].text == "esac":
            self._pop()

    def _loop(self) -> None:
        """``for name in …`` up to the end of its line, ``for ((…))``."""
        source = self.source
        self._push("done")
        if source.peek() == "(" and source.text.startswith("((", source.at):
            source.at += 2
            source.arithmetic()
            return
        for word in self._target():
            self.shell.forget(word.text)
        while source.peek() is None:
            words = source.word()
            if words and words[0].plain and words[0].text == "do":
                return

    def _case(self) -> None:
        self._target()
        while self.source.peek() == "\n":
            self.source.at += 1
            self.source.bodies()
        self._target()  # in
        self._push("pattern")

    def _named_function(self) -> None:
        for word in self._target():
            self.function = word.text
        for parenthesis in "()":
            if self.source.peek() == parenthesis:
                self.source.at += 1

    def _test(self) -> None:
        """``[[ … ]]``, where ``<``, ``(`` and ``&&`` are words of the test."""
        source = self.source
        while (operator := source.peek()) != "":
            if operator is not None:
                source.at += len(operator)
                continue
            words = source.word()
            if words and words[-1].plain and words[-1].text == "]]":
                break
        self.command.other = True
