"""A shell script of any bytes: what it runs, and that a quoted text runs nothing."""

from __future__ import annotations

from hooks.context.shell_words import Command, commands, operands

SHELL = (
    *(b"git push", b"\n", b"\r\n", b";", b"&&", b"|", b"(", b")", b"{ ", b"}", b">&2", b"\\", b"#"),
    *(
        b"<<E",
        b"<<-'E'",
        b"\nE\n",
        b"<<<",
        b"<(",
        b"$(",
        b"$((",
        b"((",
        b"))",
        b"${x:-",
        b"$x",
        b"x=",
    ),
    *(b'"', b"'", b"`", b"$'\\x67", b"[[ ", b" ]]", b"case x in ", b"esac", b";;", b"for x in "),
    *(b"; do ", b"done", b"if ", b"then ", b"fi", b"f() {", b"function f ", b"eval ", b"bash -c "),
    *(b"sudo ", b"xargs ", b"find . -exec ", b"{a,b}", b"time ", b"trap ", b"export ", b"x+=("),
)


def shell(data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    found = commands(text)
    for one in found:
        assert isinstance(one.program, str)
        assert set(operands(one)) <= set(one.args)
    if "'" not in text and "\r" not in text and len(text) < 60_000:
        assert commands(f"echo '{text}'") == [Command("echo", (text,), True)]
    return tuple((one.program[:4], one.certain) for one in found[:3])
