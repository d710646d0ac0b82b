"""The shapes that only a credential has. Adding one is a row; every pattern is linear.

``re`` and compiling all of them cost more than the rest of keeping a marker, so it is loaded,
and a rule compiled, only where one of its hints stands in the text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple


class Rule(NamedTuple):
    """Group ``secret`` of ``pattern``, or all of it, is taken out unless ``spare`` says so.

    ``hints`` are lower-case; no match is possible in a text that, in lower case, has none, nor
    in one that has none of ``signs``.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    spare: Callable[[re.Match[str]], bool] | None = None
    signs: tuple[str, ...] = ("",)

    def may_match(self, lowered: str) -> bool:
        return _has(lowered, self.hints) and _has(lowered, self.signs)

    def matches(self, text: str, lowered: str) -> Iterator[re.Match[str]]:
        """Yield what must be taken out of ``text``, from left to right."""
        if self.may_match(lowered):
            import re

            for found in re.compile(self.pattern, re.DOTALL).finditer(text):
                if self.spare is None or not self.spare(found):
                    yield found


def _has(text: str, parts: tuple[str, ...]) -> bool:
    return any(part in text for part in parts)


def _shape(kind: str, hints: str, pattern: str, *, before: str = "A-Za-z0-9") -> Rule:
    """Make a rule for what does not follow a character of ``before``.

    Where a pattern can fail after a long look, ``before`` must hold its whole alphabet: then
    no second look begins inside the first, and the search stays linear.
    """
    return Rule(kind, tuple(hints.split()), rf"(?<![{before}])(?:{pattern})")


# A secret may be broken over lines, as terminals and mails do.
_BREAK = r"(?:\\?\r?\n[ \t]*+)?"


def _broken(alphabet: str, count: int) -> str:
    return rf"(?:{_BREAK}[{alphabet}]){{{count}}}(?![{alphabet}])"


_PRIVATE_KEY = Rule(
    "private-key",
    ("-----begin ",),
    (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----BEGIN ).)*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        # cut off before its end: as far as it looks like a key
        r"|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*)"
    ),
)
_B64 = r"A-Za-z0-9_-"
_JWT = _shape(
    "jwt",
    "eyj",
    rf"eyJ[{_B64}]{{6,}}{_BREAK}\.{_BREAK}[{_B64}]{{6,}}{_BREAK}\."
    rf"(?:{_broken(_B64, 342)}|{_broken(_B64, 86)}|{_broken(_B64, 43)}|[{_B64}]*)",
    before=_B64,
)
SHAPES = (
    _PRIVATE_KEY,
    _shape(
        "aws-key",
        "akia asia abia acca",
        r"(?:AKIA|ASIA|ABIA|ACCA)(?:" + _broken("A-Z0-9", 16) + r"|[A-Z0-9]{12,})",
    ),
    _shape(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_(?:" + _broken("A-Za-z0-9", 36) + r"|[A-Za-z0-9]{16,})",
    ),
    _shape(
        "github-token",
        "github_pat_",
        r"github_pat_(?:" + _broken("A-Za-z0-9_", 82) + r"|[A-Za-z0-9_]{16,})",
    ),
    _shape(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- glimt- gloas- glffct-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas|ffct)-"
        r"(?:" + _broken(_B64, 20) + r"|[A-Za-z0-9_.-]{16,})",
    ),
    _shape("slack-token", "xox xapp-", r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}"),
    _shape(
        "slack-webhook",
        "hooks.slack.com",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{10,}",
    ),
    _JWT,
    _shape("anthropic-key", "sk-ant-", rf"sk-ant-[{_B64}]{{10,}}"),
    _shape("openai-key", "sk-", rf"sk-(?:proj|svcacct|admin|None|or-v1)-[{_B64}]{{16,}}"),
    _shape("openai-key", "sk-", r"sk-(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}"),
    _shape(
        "stripe-key", "k_live_ k_test_ whsec_", r"(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}"
    ),
    _shape("npm-token", "npm_", r"npm_(?:" + _broken("A-Za-z0-9", 36) + r"|[A-Za-z0-9]{20,})"),
    _shape(
        "pypi-token",
        "pypi-",
        rf"pypi-(?:AgE[{_B64}]{{10,}}|(?=[{_B64}]*[0-9])[{_B64}]{{40,}})",
        before=_B64,
    ),
    _shape(
        "google-key",
        "aiza ya29. gocspx-",
        rf"AIza[{_B64}]{{30,}}|ya29\.[{_B64}]{{20,}}|GOCSPX-[{_B64}]{{20,}}",
    ),
    _shape("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _shape("sendgrid-key", "sg.", rf"SG\.[{_B64}]{{16,}}\.[{_B64}]{{16,}}"),
    _shape("docker-token", "dckr_", rf"dckr_[a-z]{{3}}_[{_B64}]{{20,}}"),
    _shape("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{32,}"),
)
