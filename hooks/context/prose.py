"""Which parts of a Markdown text are code or quotation, decided line by line.

The rules look back, never forward over a line's end, so what was decided about a whole line
holds whatever follows it. They are CommonMark's with these simplifications, each of which
takes text for prose where it is in doubt (a marker that we miss is lost, one that we take by
mistake can be forgotten): an indented line is code only after a blank line, a fence or at the
start; inside a list it needs four columns more than the latest item; a quotation is only the
lines that begin with ``>``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

IN_FENCE = "in-code-fence"
INDENTED = "indented-code"
QUOTED = "quoted"
INLINE = "inline-code"

_CODE_INDENT = 4
_DIGITS = frozenset("0123456789")
_ITEM_DIGITS = 9


def indent_of(line: str, index: int = 0, column: int = 0) -> tuple[int, int]:
    """Return column and index of the next visible character (tabs stop at fours)."""
    while index < len(line):
        if line[index] == " ":
            column += 1
        elif line[index] == "\t":
            column += 4 - column % 4
        else:
            break
        index += 1
    return column, index


class LineRules:
    """Feed it the lines of one text in order; it says what each one is."""

    def __init__(self) -> None:
        self._fence = ""  # the run that opened the fence we are in
        self._fence_indent = 0
        self._may_indent = True  # an indented line here would be code
        self._after_blank = True
        self._outer = self._inner = 0  # content columns of the outermost and latest list item

    def reason(self, line: str) -> str:
        """Return why nothing on this line counts, or ``""`` for prose.

        ``line`` comes without its newline. Inline code is not judged here.
        """
        column, index = indent_of(line)
        if index == len(line) or not line.strip():
            return self._blank()
        if self._fence:
            return self._in_fence(line, column)
        if self._may_indent and column >= self._inner + _CODE_INDENT:
            self._after_blank = False
            return INDENTED
        if (self._after_blank or self._may_indent) and column < self._outer:
            self._outer = self._inner = 0
        column, index = self._enter_items(line, column, index)
        self._after_blank = self._may_indent = False
        if line[index : index + 1] == ">":
            return QUOTED
        return self._open_fence(line, column, index)

    def _blank(self) -> str:
        if self._fence:
            return IN_FENCE
        self._after_blank = self._may_indent = True
        return ""

    def _in_fence(self, line: str, column: int) -> str:
        run = line.strip()
        closes = run.startswith(self._fence) and not run.strip(self._fence[0])
        if closes and column < self._fence_indent + _CODE_INDENT:
            self._fence = ""
            self._may_indent = True
        return IN_FENCE

    def _open_fence(self, line: str, column: int, index: int) -> str:
        if not line.startswith(("```", "~~~"), index):
            return ""
        rest = line[index:].lstrip(line[index])
        # four columns in, outside a list, it is the lazy end of a paragraph
        if (line[index] == "`" and "`" in rest) or column >= self._inner + _CODE_INDENT:
            return ""
        self._fence = line[index : len(line) - len(rest)]
        self._fence_indent = column
        return IN_FENCE

    def _enter_items(self, line: str, column: int, index: int) -> tuple[int, int]:
        """Step over list markers at the head of the line."""
        if _is_rule(line):
            return column, index
        first = True
        while end := _item_end(line, index):
            behind = column + end - index
            inner, after = indent_of(line, end, behind)
            if inner - behind > _CODE_INDENT or after == len(line):
                inner, after = behind + 1, min(end + 1, len(line))
            if first and (not self._outer or column < self._outer):
                self._outer = inner
            first = False
            self._inner = inner
            column, index = inner, after
        return column, index


def _item_end(line: str, index: int) -> int:
    """Return where the list marker (``-``, ``1.`` …) at ``index`` ends; 0 where there is none."""
    end = index
    while line[end : end + 1] in _DIGITS:
        end += 1
    mark = line[end : end + 1]
    if not mark or mark not in ("-*+" if end == index else ".)") or end - index > _ITEM_DIGITS:
        return 0
    return end + 1 if line[end + 1 : end + 2] in ("", " ", "\t") else 0


def _is_rule(line: str) -> bool:
    """Say whether the line is a thematic break such as ``* * *``, which opens no list."""
    marks = line.replace(" ", "").replace("\t", "").rstrip("\r")
    return len(marks) > 2 and marks[0] in "-*_" and not marks.strip(marks[0])


def closing_runs(line: str) -> dict[int, int]:
    """Map the start of each backtick run that opens a code span to the end of that span.

    A span is closed by the next run of the same length on the line; a run without one is
    literal. A run whose first backtick is escaped is one shorter and starts one later.
    """
    spans: dict[int, int] = {}
    if "`" not in line:
        return spans
    later: dict[int, int] = {}  # length of a run → end of the nearest such run to the right
    for start, end in reversed(list(runs(line, 0, len(line)))):
        slash = start
        while slash and line[slash - 1] == "\\":
            slash -= 1
        escaped = (start - slash) % 2
        close = later.get(end - start - escaped)
        if close is not None and end - start > escaped:
            spans[start + escaped] = close
        later[end - start] = end
    return spans


def runs(line: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each run of backticks in ``line[start:stop]``."""
    start = line.find("`", start, stop)
    while start >= 0:
        end = start + 1
        while end < stop and line[end] == "`":
            end += 1
        yield start, end
        start = line.find("`", end, stop)
