"""JSON without the price of the ``json`` package.

``import json`` costs a whole interpreter start (it loads ``re``). The C scanner and string
encoder behind it cost nothing, so hooks use them directly; where an interpreter lacks them,
``json`` itself stands in and the answers are the same (``tests`` compare the two).
"""

from __future__ import annotations

MAX_DEPTH = 200  # deeper documents are refused; real payloads and transcripts stay below 40


def clean(text: str) -> str:
    """Replace lone surrogates by U+FFFD; every other text comes back as it is."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _refuse_constant(name: str) -> object:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:  # 1e999: it could be read, but never be written again
        _refuse_constant(text)
    return value


class _Context:
    """What the C scanner reads its options from."""

    strict = False  # raw control characters inside strings are data, as other writers emit them
    object_hook = None
    object_pairs_hook = None
    parse_float = staticmethod(_finite)
    parse_int = int
    parse_constant = staticmethod(_refuse_constant)


try:
    from _json import encode_basestring_ascii, make_scanner

    _scan_once = make_scanner(_Context())  # type: ignore[arg-type]  # read by attribute only
except ImportError:  # an interpreter without the accelerator
    import json
    from json.encoder import encode_basestring_ascii

    _scan_once = json.JSONDecoder(
        strict=False, parse_float=_finite, parse_constant=_refuse_constant
    ).scan_once  # type: ignore[attr-defined]  # not in typeshed


def scan(text: str, start: int = 0) -> tuple[object, int]:
    """Read one JSON value at ``start`` (after blanks); return it and the index behind it.

    Raises:
        ValueError: no whole JSON value stands there (also NaN, Infinity and nesting that is
            deeper than the interpreter bears).
    """
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    try:
        return _scan_once(text, start)
    except StopIteration as err:
        msg = f"no JSON value at character {err.value}"
        raise ValueError(msg) from None
    except RecursionError:
        msg = "JSON nested too deeply"
        raise ValueError(msg) from None
    except SystemError:  # Python 3.11's scanner, where nobody has loaded json's own error class
        msg = f"broken JSON value at character {start}"
        raise ValueError(msg) from None


def loads(data: str | bytes) -> object:
    """Parse one whole JSON document; bytes are strict UTF-8, a byte order mark is skipped.

    Raises:
        ValueError: not exactly one JSON document.
    """
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    text = text.removeprefix("\ufeff")
    value, end = scan(text)
    if text[end:].strip(" \t\r\n"):
        msg = f"more text behind the JSON value at character {end}"
        raise ValueError(msg)
    return value


def load_object(data: str | bytes | None) -> dict[str, object] | None:
    """Parse one JSON object; None for absent data, damage, or any other kind of value."""
    if data is None or not _may_be_object(data):
        return None
    try:
        value = loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _may_be_object(data: str | bytes) -> bool:
    # A torn line is common and has no closing brace. Told here it is free; from Python 3.12 on
    # the scanner loads the whole json package to say so.
    if isinstance(data, bytes):
        return data.rstrip(b" \t\r\n").endswith(b"}")
    return data.rstrip(" \t\r\n").endswith("}")


def dumps(value: object, *, sort_keys: bool = False) -> str:
    """Write compact ASCII JSON (separators ``,`` and ``:``), keys in order or sorted.

    Takes str, int, finite float, bool, None, dict with str keys, list and tuple.

    Raises:
        ValueError: NaN, Infinity, or nesting deeper than ``MAX_DEPTH``.
        TypeError: any other type, or a key that is not a str.
    """
    out: list[str] = []
    _write(value, out, sort_keys, 0)
    return "".join(out)


def canonical(value: object) -> bytes:
    """Return the canonical bytes that keys and digests are made over: sorted, compact, ASCII."""
    return dumps(value, sort_keys=True).encode("ascii")


def _write(value: object, out: list[str], sort_keys: bool, depth: int) -> None:
    if depth > MAX_DEPTH:
        msg = f"nested deeper than {MAX_DEPTH}"
        raise ValueError(msg)
    if isinstance(value, str):
        out.append(encode_basestring_ascii(value))
    elif isinstance(value, dict):
        _write_object(value, out, sort_keys, depth)
    elif isinstance(value, (list, tuple)):
        out.append("[")
        for index, item in enumerate(value):
            if index:
                out.append(",")
            _write(item, out, sort_keys, depth + 1)
        out.append("]")
    else:
        out.append(_scalar(value))


def _write_object(value: dict[object, object], out: list[str], sort_keys: bool, depth: int) -> None:
    wrong = [key for key in value if not isinstance(key, str)]
    if wrong:
        msg = f"a JSON key must be a str, not {wrong[0]!r}"
        raise TypeError(msg)
    names = sorted(value) if sort_keys else list(value)  # type: ignore[type-var]
    out.append("{")
    for index, name in enumerate(names):
        out.append("," if index else "")
        out.append(encode_basestring_ascii(name))  # type: ignore[arg-type]
        out.append(":")
        _write(value[name], out, sort_keys, depth + 1)
    out.append("}")


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        if value - value != 0:  # NaN and both infinities
            msg = f"{value!r} is not JSON"
            raise ValueError(msg)
        return float.__repr__(value)
    msg = f"{type(value).__name__} is not JSON"
    raise TypeError(msg)
