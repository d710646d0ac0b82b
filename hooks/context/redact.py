"""Take secrets out of a text before it is stored or sent.

Rules of two sorts: shapes that only a credential has (``secret_shapes``), and values behind a
name or a word that says so. What reads as prose or code is left: ``sk-`` as a word,
``max_tokens: 4096``, "the token: refreshed hourly", ``token = get_token()``. It does not know a
secret that has neither a shape nor a name, and looks into base64 one layer deep.
"""

from __future__ import annotations

import binascii

from hooks.context.secret_shapes import SHAPES, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_PASSES = 8  # more than two are needed only where taking out one secret lays another bare

_PROSE = (
    r"(?:"
    r"a|an|and|any|are|as|be|by|can|changed|empty|expired|for|from|"
    r"given|has|in|invalid|is|its|may|missing|must|needed|never|no|none|not|"
    r"null|of|off|on|only|optional|or|read|required|rotated|see|set|should|stored|"
    r"string|that|the|this|to|true|false|unset|use|used|via|was|when|will|"
    r"with|wrong|your|yes)$"
)
_STAND_IN = (
    r"\$\{?[A-Z_][A-Z0-9_]*\}?$|\$\(|\$\{\{|\{\{|<[^>]*>?$|%[A-Z_]+%$|(?:[*.…]+|x{3,})$|\[redacted:"
    r"|(?:os|process|self|this|settings|config|env|import\.meta)\.[A-Za-z_]|[A-Za-z_][\w.]*[(\[]"
)
_PASSWORD_HINTS = ("pass", "pwd")
_OTHER_HINTS = ("secret", "token", "credential", "key", "_auth")
_PASSWORD = r"pass(?:word|wd|phrase|code|wort)|pwd"
_OTHER = (
    r"secret|token|credentials?|(?:api|access|account|private|signing|encryption|master)[_-]?key"
    r"|_auth"
)
_SUFFIX = r"(?:[_-]?(?:key|id|value|hash|token|[0-9]{1,3}))?"
# In quotes (also escaped ones, as in JSON inside JSON) up to the same quote or the line's end;
# bare up to a blank, without the punctuation of the sentence around it.
_VALUE = (
    r"(?P<quote>\\?[\"'`])?(?P<secret>(?(quote)(?:(?!(?P=quote))(?:\\.|[^\\\n]))+"
    r"|[^\s\"'`]*[^\s\"'`.,;:!?)\]}*\\]))"
)
_SIGNS = (":", "=")  # one of them stands between a name and its value
_NEXT_LINE = r"(?:[|>]?-?[ \t]*+\\?\r?\n[ \t]++)?"  # possessive: two runs of blanks meet here


def _named(names: str) -> str:
    return (
        rf"(?i)(?:{names}){_SUFFIX}[\\\"'`*\])]{{0,3}}[ \t]*+(?P<sign>:=|=>|==?|:)[*]{{0,2}}[ \t]*+"
        rf"{_NEXT_LINE}{_VALUE}"
    )


def _option(names: str) -> str:
    return rf"(?i)--(?:[a-z]{{1,20}}-){{0,3}}(?:{names}){_SUFFIX}(?P<sign>[ \t]+){_VALUE}"


def _bare(value: str) -> str:
    return value.strip("\"'`\\")


def _begins_with(pattern: str, value: str) -> bool:
    import re

    return re.match(pattern, value) is not None


def _stands_in(value: str) -> bool:
    """Say whether the value only names where the secret comes from, or was taken out."""
    return _begins_with(_STAND_IN, value)


def _is_word(value: str) -> bool:
    letters = value.replace("-", "")
    return len(value) < 16 and letters.isascii() and letters.isalpha() and value[1:].islower()


def _spare_password(found: re.Match[str]) -> bool:
    value = _bare(found["secret"])
    if _stands_in(value) or value.lower() in ("none", "null", "true", "false"):
        return True
    return found["sign"] != "=" and _begins_with(_PROSE, value)


def _spare_other(found: re.Match[str]) -> bool:
    """Tokens and keys are talked about more than they are told: prose and counts stay."""
    value = _bare(found["secret"])
    if _spare_password(found) or len(value) < 4 or (value.isdigit() and len(value) < 8):
        return True
    return found["sign"] != "=" and not found["quote"] and _is_word(value)


def _spare_word(found: re.Match[str]) -> bool:
    value = _bare(found["secret"])
    return _is_word(value) or _stands_in(value)


def _spare_header(found: re.Match[str]) -> bool:
    return _stands_in(found["secret"]) if found["scheme"] else _spare_word(found)


def _spare_user(found: re.Match[str]) -> bool:
    """``git@`` and ``name@`` are addresses; a long one without a colon is a token."""
    user, colon, password = found["secret"].partition(":")
    if found["secret"].startswith("[redacted:"):
        return True
    if not colon:
        return len(user) < 20 or _stands_in(user)
    return not password or _stands_in(password)


def _spare_ids(found: re.Match[str]) -> bool:
    return found["secret"].isdigit() or _stands_in(_bare(found["secret"]))


def _spare_basic(found: re.Match[str]) -> bool:
    return ":" not in _decoded(found["secret"])


def _spare_plain(found: re.Match[str]) -> bool:
    inside = _decoded(found["secret"])
    lowered = inside.lower()
    return not any(next(rule.matches(inside, lowered), None) for rule in _PLAIN)


def _decoded(text: str) -> str:
    """Return what base64 (also the URL alphabet, also broken over lines) says, or ``""``."""
    plain = "".join(text.split()).replace("\\", "").translate({45: "+", 95: "/", 61: None})
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        return binascii.a2b_base64(plain + "=" * (-len(plain) % 4)).decode("latin-1")
    except binascii.Error:
        return ""


_NAMED = (
    Rule(
        "url-userinfo",
        ("://",),
        r"(?<=://)(?P<secret>[^\s/\"'<>`@]+(?:@[^\s/\"'<>`@]+)*)(?=@)",
        _spare_user,
    ),
    Rule(
        "authorization",
        ("authorization",),
        r"(?i)authorization[\\\"']{0,2}[ \t]*+[:=][ \t]*+[\\\"']{0,2}"
        r"(?P<scheme>(?:basic|bearer|token|digest|apikey)\s+)?(?P<secret>[^\s\"'`,\\]{6,})",
        _spare_header,
    ),
    Rule(
        "bearer-token",
        ("bearer",),
        r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/=-]{6,})",
        _spare_word,
    ),
    Rule(
        "basic-auth",
        ("basic",),
        r"(?i)\bbasic[ \t]+(?P<secret>[A-Za-z0-9+/]{8,}={0,2})",
        _spare_basic,
    ),
    Rule(
        "basic-auth",
        ("-u", "--user"),
        r"(?<![\w-])(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:(?P<secret>[^\s\"']+)",
        _spare_ids,
    ),
    Rule("password", _PASSWORD_HINTS, _named(_PASSWORD), _spare_password, _SIGNS),
    Rule("password", _PASSWORD_HINTS, _option(_PASSWORD), _spare_password, ("--",)),
    Rule("secret", _OTHER_HINTS, _named(_OTHER), _spare_other, _SIGNS),
    Rule("secret", _OTHER_HINTS, _option(_OTHER), _spare_other, ("--",)),
)
_PLAIN = (*SHAPES, *_NAMED)
_ENCODED_MIN = 24
_IN_ENCODED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_ENCODED = Rule(
    "encoded-secret",
    ("",),
    r"(?<![A-Za-z0-9+/=_-])"
    rf"(?P<secret>(?:(?:\\?\r?\n[ \t]*+)?[A-Za-z0-9+/_-]){{{_ENCODED_MIN},}}={{0,2}})",
    _spare_plain,
)
_SPLIT = bytes(one if one in _IN_ENCODED else 32 for one in range(256))


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` with each secret as ``[redacted:<kind>]``, and the kinds, each once.

    Done twice it is the same as once.
    """
    kinds: list[str] = []
    lowered = text.lower()
    rules = (*_PLAIN, _ENCODED) if _may_be_encoded(text) else _PLAIN
    if not any(rule.may_match(lowered) for rule in rules):
        return text, ()
    for _ in range(_PASSES):
        before, lowered = text, text.lower()
        for rule in rules:
            text = _apply(rule, text, lowered, kinds)
        if text == before:
            break
    return text, tuple(kinds)


def _may_be_encoded(text: str) -> bool:
    """Say whether a long word may decode to something with a hint in it; no secret is missed.

    Wherever in its word an encoded secret begins, one of four ways to group the word's letters
    is its own, and what is decoded so contains what it says.
    """
    letters = _joined(text).encode("ascii", "replace").translate(_SPLIT)
    start = 0
    while start < len(letters):  # not split: a long text's short words would fill the memory
        stop = letters.find(b" ", start)
        stop = len(letters) if stop < 0 else stop
        if stop - start >= _ENCODED_MIN:
            word = letters[start:stop].decode("ascii")
            insides = (_decoded(word[shift:]).lower() for shift in range(4))
            if any(rule.may_match(inside) for inside in insides for rule in _PLAIN):
                return True
        start = stop + 1
    return False


def _joined(text: str) -> str:
    """Return ``text`` with each line ending taken out: a secret may be broken over lines."""
    if "\n" not in text:
        return text
    first, *others = text.split("\n")
    lines = [first, *(line.lstrip(" \t") for line in others)]
    return "".join(line.removesuffix("\r").removesuffix("\\") for line in lines)


def _apply(rule: Rule, text: str, lowered: str, kinds: list[str]) -> str:
    parts: list[str] = []
    at = 0
    for found in rule.matches(text, lowered):
        start, end = found.span("secret" if "secret" in found.re.groupindex else 0)
        parts += (text[at:start], f"[redacted:{rule.kind}]")
        at = end
        if rule.kind not in kinds:
            kinds.append(rule.kind)
    return "".join((*parts, text[at:])) if parts else text
