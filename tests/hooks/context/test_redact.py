from __future__ import annotations

import base64
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.redact import redact

WORD = string.ascii_letters + string.digits
URLSAFE = WORD + "-_"


def some(rng, count, alphabet=WORD):
    """Letters and digits with at least one of each, as any real token has."""
    return "a7" + "".join(rng.choice(alphabet) for _ in range(count - 3)) + "Q"


def upper(rng, count):
    return "".join(rng.choice(string.ascii_uppercase + string.digits) for _ in range(count))


def pem(rng, kind="RSA "):
    body = "\n".join(some(rng, 64, WORD + "+/") for _ in range(8))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


SECRETS = {
    "aws-key": lambda r: "AKIA" + upper(r, 16),
    "github-token": lambda r: r.choice(["ghp_", "gho_", "ghs_"]) + some(r, 36),
    "github-fine-grained": lambda r: f"github_pat_{some(r, 22)}_{some(r, 59)}",
    "gitlab-token": lambda r: "glpat-" + some(r, 20, URLSAFE),
    "slack-token": lambda r: f"xoxb-{r.randrange(10**11)}-{some(r, 24)}",
    "slack-webhook": lambda r: "https://hooks.slack.com/services/T0/B0/" + some(r, 24),
    "jwt": lambda r: f"eyJ{some(r, 33)}.eyJ{some(r, 80, URLSAFE)}.{some(r, 43, URLSAFE)}",
    "anthropic-key": lambda r: "sk-ant-api03-" + some(r, 93, URLSAFE),
    "openai-key": lambda r: "sk-" + some(r, 48),
    "openai-project-key": lambda r: "sk-proj-" + some(r, 64, URLSAFE),
    "npm-token": lambda r: "npm_" + some(r, 36),
    "pypi-token": lambda r: "pypi-AgEIcHlwaS5vcmc" + some(r, 80, URLSAFE),
    "google-key": lambda r: "AIza" + some(r, 35, URLSAFE),
    "stripe-key": lambda r: "sk_live_" + some(r, 24),
    "private-key": pem,
    "openssh-key": lambda r: pem(r, "OPENSSH "),
    "plain-key": lambda r: pem(r, ""),
}
FORMS = {
    "bearer": "curl -H 'Authorization: Bearer {}'",
    "bearer in prose": "it sends bearer {} with each call",
    "password=": "password={}",
    "PASSWORD: quoted": 'DB_PASSWORD: "{}"',
    "json": '{{"passwd": "{}", "user": "me"}}',
    "json in json": '{{\\"client_secret\\":\\"{}\\"}}',
    "yaml": "password:\n  {}\nuser: me",
    "token:": "token: {}",
    "api_key=": "OPENAI_API_KEY={} make test",
    "npmrc": "//host.example/:_authToken={}",
    "markdown": "**password:** `{}`",
    "option": "tool --auth-token {} run",
    "curl": "curl -u me:{} http://host.example",
    "url": "https://me:{}@host.example/path",
    "url without a user": "redis://:{}@host.example:6379/0",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_shaped_secret_never_stays_wherever_it_stands(kind):
    rng = random.Random(kind)
    for around in ("{}", "use {}, then go", "({})", "`{}`", "a\n{}\nb", "KEY={}", '"{}"', "x:{}"):
        for _ in range(5):
            secret = SECRETS[kind](rng)
            check(around.replace("{}", secret), secret)


@pytest.mark.parametrize("form", FORMS)
def test_a_named_secret_never_stays_whatever_its_shape(form):
    rng = random.Random(form)
    for _ in range(20):
        secret = some(rng, rng.randrange(8, 40), WORD + "-_.+")
        check(FORMS[form].format(secret), secret)


@pytest.mark.parametrize("kind", ["aws-key", "github-token", "npm-token", "jwt", "gitlab-token"])
@pytest.mark.parametrize("joint", ["\n", "\r\n  ", "\\\n"])
def test_a_secret_broken_over_two_lines_is_taken_whole(kind, joint):
    rng = random.Random(kind + joint)
    for _ in range(20):
        secret = SECRETS[kind](rng)
        at = len(secret) - rng.randrange(1, 12)
        text, _ = check(f"use {secret[:at]}{joint}{secret[at:]} then", secret[:at])
        assert text.startswith("use [redacted:")
        assert text.endswith("] then")


def test_an_encoded_secret_is_found():
    for inside in ("AKIAIOSFODNN7EXAMPLE", "password=hunter2-hunter2", "//me:secret@http://u:pw@h"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            check(f"kept as {encode(inside.encode()).decode()}", encode(inside.encode()).decode())
    plain = base64.b64encode(b"always run the tests before a commit").decode()
    assert redact(plain) == (plain, ())


def check(text, secret):
    clean, kinds = redact(text)
    assert secret not in clean
    assert secret[4:] not in clean
    assert kinds
    assert all(f"[redacted:{kind}]" in clean or len(kinds) > 1 for kind in kinds)
    assert redact(clean) == (clean, ())
    return clean, kinds


@pytest.mark.parametrize(
    "prose",
    [
        "keys begin with sk- and sk-learn-compatible-estimators-api is a package",
        "the sk-SK locale; risk-free; task-runner",
        "The token: refreshed hourly by the client",
        "max_tokens: 4096 and token_count=12",
        "password: must be set; the passwords are rotated",
        "PASSWORD=$DB_PASSWORD and token: ${TOKEN} and secret: <your secret>",
        "token = get_token() and password = os.environ['P']",
        "send it as a bearer token, basic auth is off",
        "git@github.com:o/r.git, ssh://git@host.example/o/r.git, https://me@host.example",
        "https://host.example/@scope/pkg and http://localhost:8080/users",
        "docker run -u 1000:1000 image",
        "secretary: Bob, tokenizer: bert, keyboard: us",
        "eyJ is how a JWT begins; AKIA begins an AWS key; ghp_ a GitHub token",
        "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567 in hooks/context/redact.py",
        "use_secret=true, token=None, api_key: null",
        "a 550e8400-e29b-41d4-a716-446655440000 id",
    ],
)
def test_prose_and_code_about_secrets_stay(prose):
    assert redact(prose) == (prose, ())


def test_a_key_cut_off_before_its_end_is_taken_as_far_as_it_goes():
    rng = random.Random(1)
    cut = pem(rng).rsplit("\n", 1)[0]
    clean, kinds = redact(f"see {cut}\nand so on")
    assert (clean, kinds) == ("see [redacted:private-key]\nand so on", ("private-key",))


def test_each_kind_is_said_once():
    text = "ghp_0123456789abcdefghij AKIAIOSFODNN7EXAMPLE ghp_0123456789abcdefghik password=x"
    assert redact(text)[1] == ("aws-key", "github-token", "password")


PARTS = st.sampled_from(
    [
        *("password", "token", "=", ":", " ", "\n", '"', "'", "`", "\\", "@", "://", "Bearer "),
        *("sk-ant-", "ghp_", "eyJ", ".", "AKIA", "AAAAAAAAAAAAAAAA", "a1b2c3d4e5f6a7b8c9d0", "--"),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "[redacted:", "]", "-u "),
        *("QUtJQUlPU0ZPRE5ON0VYQU1QTEU", "é", "word", "$X", "<x>"),
    ]
)


@given(st.lists(PARTS, max_size=25).map("".join))
@settings(deadline=None, max_examples=100)
def test_twice_is_the_same_as_once(text):
    once, _ = redact(text)
    assert redact(once) == (once, ())


@given(st.lists(PARTS, max_size=10).map("".join), st.sampled_from(sorted(SECRETS)), st.integers())
@settings(deadline=None, max_examples=100)
def test_whatever_stands_before_it_on_other_lines_a_secret_goes(before, kind, seed):
    secret = SECRETS[kind](random.Random(seed))
    assert secret[8:] not in redact(f"{before}\n\n{secret}\n")[0]


HOSTILE = {
    "jwt heads": "eyJaaaaaa-" * 25_000,
    "pypi heads": "pypi-" * 50_000,
    "names": "password=" * 28_000,
    "names and blanks": ("password" + " " * 200) * 1_200,
    "base64": "QUJD" * 62_000,
    "key heads": "-----BEGIN PRIVATE KEY-----" * 9_000,
    "urls": "://a" + "a@" * 120_000,
    "options": "--a-a-a-" * 31_000,
    "open quotes": 'password="' * 25_000,
    "escapes": 'password="' + "\\a" * 120_000,
    "one word": "x" * 250_000,
    "dots": "password=" + "." * 250_000,
    "blanks around a line end": "password: " + " " * 120_000 + "\n" + " " * 120_000 + ";",
    "blanks without end": "password:" + " " * 250_000,
    "broken over blank lines": "token=" + "\n    " * 50_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_ends(name):
    clean, _ = redact(HOSTILE[name])
    assert redact(clean)[0] == clean
