"""Every setting, read once at the door: environment first, then ``<home>/settings.json``."""

from __future__ import annotations

import os

from hooks.errors import SettingsError
from hooks.home import resolve_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

SETTINGS_FILE = "settings.json"
MAX_TIMEOUT_S = 30
MAX_BUDGET = 9_900  # the client cuts a hook's output above 10,000 UTF-16 units

# setting -> (default, what it is); README's table and settings.json's keys are these.
TABLE = {
    "AGENTIHOOKS_HOME": ("", "folder of the installation"),
    "BRAIN_SOURCE_TYPE": ("local", "which brain: `local`, `file` or `none`"),
    "BRAIN_SOURCE_PATH": (
        "",
        "folder of a `file` brain: a whole path, or one from `~/`; it is never made",
    ),
    "BRAIN_URL": ("", "address of a brain service; wins over BRAIN_SOURCE_TYPE"),
    "BRAIN_HTTP_TOKEN": ("", "bearer token for BRAIN_URL; sent to that address only"),
    "BRAIN_HTTP_TOKEN_FILE": ("", "file that holds the token: yours, private, no link"),
    "BRAIN_HTTP_TIMEOUT": ("3", "most seconds for one whole answer of the service, up to 30"),
    "BRAIN_HTTP_CA": ("", "PEM file of the certificates to trust instead of the system's"),
    "BRAIN_CONTEXT_BUDGET": ("3000", "most UTF-16 units of memory at session start, up to 9900"),
    "BRAINHOOKS_PRINCIPAL": ("", "whose personal memories these are; default: the installation"),
    "BRAINHOOKS_DISPLAY": ("marks", "`marks` shows ◆ lines for markers, `raw` the comments"),
    "BRAINHOOKS_CI": ("0", "`1` keeps the hooks working where CI is set"),
    "BRAINHOOKS_ARCHIVE": ("0", "`1` saves each session's transcript as it stops"),
    "BRAINHOOKS_READ_CACHE": ("0", "`1` answers a second read of an unchanged range of a file"),
    "BRAINHOOKS_BREAKER_DENY": ("0", "`1` also denies what has failed ten times, beside telling"),
    "BRAINHOOKS_TRANSCRIPT_LOG": ("0", "`1` logs each session's turns, redacted, for 30 days"),
    "REDIS_URL": ("", "Redis that keeps the sessions' state instead of `state.db`: docs/state.md"),
    "REDIS_KEY_PREFIX": ("agentihooks", "what every key of ours in that Redis begins with"),
    "BRAINHOOKS_MEMORY_URL": (
        "",
        "Redis or server of `brainhooks memory`, for `brain/local.db`: docs/scoped-memory.md",
    ),
    "AGENTIHOOKS_PROJECT_ID": ("", "`local:<id>` for a folder without a repository"),
    "AGENTIHOOKS_PROJECT_GRANT": ("", "project ids a marker may name itself, comma separated"),
    "AGENTIHOOKS_SESSION_SCOPE": ("1", "`0` keeps no record of where a session worked"),
    "AGENTIHOOKS_SWARM": ("", "group of sessions this one belongs to"),
    "AGENTIHOOKS_SWARM_TASK": ("", "the piece of work this session has"),
    "AGENTIHOOKS_SWARM_TASK_REVISION": ("", "its revision, a whole number"),
    "AGENTIHOOKS_SWARM_LANE": ("", "this session's role in the group"),
}

# The settings that are on or off: any other word is as if it were not set, since no hook may stop
# for it, and doctor tells it.
SWITCHES = (
    "BRAINHOOKS_CI",
    "BRAINHOOKS_ARCHIVE",
    "BRAINHOOKS_READ_CACHE",
    "BRAINHOOKS_BREAKER_DENY",
    "BRAINHOOKS_TRANSCRIPT_LOG",
    "AGENTIHOOKS_SESSION_SCOPE",
)
ON = ("1", "true", "yes", "on")
OFF = ("0", "false", "no", "off")


class Swarm(NamedTuple):
    """The group this session works in; every part may be empty."""

    swarm: str = ""
    task: str = ""
    task_revision: str = ""
    lane: str = ""


class Secret(str):
    """A text that shows itself to nobody by accident."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'(hidden)'"


class Http(NamedTuple):
    """How to speak with a brain service; every text may be empty."""

    token: str = ""
    token_file: str = ""
    timeout_s: float = 3.0  # of one whole exchange, the name's look-up included
    ca: str = ""


class Redis(NamedTuple):
    """Where the sessions' state is kept; without a URL it is ``state.db``."""

    url: str = ""  # a Secret: it may hold a password
    prefix: str = "agentihooks"


class Guards(NamedTuple):
    """What is off unless asked for."""

    read_cache: bool = False
    breaker_deny: bool = False
    transcript_log: bool = False


class Settings(NamedTuple):
    home: str  # absolute path of the installation's folder
    brain_source: str = "local"  # "local", "file" or "none"; BRAIN_URL wins over it
    brain_path: str = ""  # folder of a file brain
    brain_url: str = ""  # may hold a secret: never log it
    budget_units: int = 3_000
    principal: str = ""  # "" means the installation itself
    display_marks: bool = True
    project_id: str = ""
    grants: tuple[str, ...] = ()
    session_scope: bool = True
    archive: bool = False  # save transcripts as sessions stop
    swarm: Swarm = Swarm()
    http: Http = Http()
    redis: Redis = Redis()
    memory_url: str = ""  # a Secret: it may hold a password
    guards: Guards = Guards()


def load(env: Mapping[str, str]) -> Settings:
    """Read the settings that hold for ``env``.

    Raises:
        SettingsError: a value outside what its row in the table allows, or a damaged file.
    """
    home = resolve_home(env)
    values = {**_file(home), **{name: env[name] for name in TABLE if env.get(name)}}

    def text(name: str) -> str:
        return values.get(name, TABLE[name][0]).strip()

    def on(name: str) -> bool:
        return is_on(name, values.get(name, ""))

    return Settings(
        home=home,
        brain_source=_one_of("BRAIN_SOURCE_TYPE", text("BRAIN_SOURCE_TYPE").lower(), _SOURCES),
        brain_path=_from_home(text("BRAIN_SOURCE_PATH"), env),
        brain_url=text("BRAIN_URL"),
        budget_units=_budget(text("BRAIN_CONTEXT_BUDGET")),
        principal=_unicode("BRAINHOOKS_PRINCIPAL", text("BRAINHOOKS_PRINCIPAL")),
        display_marks=_one_of("BRAINHOOKS_DISPLAY", text("BRAINHOOKS_DISPLAY"), _DISPLAYS)
        == "marks",
        project_id=text("AGENTIHOOKS_PROJECT_ID"),
        grants=tuple(
            part.strip() for part in text("AGENTIHOOKS_PROJECT_GRANT").split(",") if part.strip()
        ),
        session_scope=on("AGENTIHOOKS_SESSION_SCOPE"),
        archive=on("BRAINHOOKS_ARCHIVE"),
        swarm=Swarm(
            text("AGENTIHOOKS_SWARM"),
            text("AGENTIHOOKS_SWARM_TASK"),
            text("AGENTIHOOKS_SWARM_TASK_REVISION"),
            text("AGENTIHOOKS_SWARM_LANE"),
        ),
        http=Http(
            _token("BRAIN_HTTP_TOKEN", text("BRAIN_HTTP_TOKEN")),
            text("BRAIN_HTTP_TOKEN_FILE"),
            _seconds("BRAIN_HTTP_TIMEOUT", text("BRAIN_HTTP_TIMEOUT")),
            text("BRAIN_HTTP_CA"),
        ),
        redis=Redis(Secret(text("REDIS_URL")), text("REDIS_KEY_PREFIX")),
        memory_url=Secret(text("BRAINHOOKS_MEMORY_URL")),
        guards=Guards(
            read_cache=on("BRAINHOOKS_READ_CACHE"),
            breaker_deny=on("BRAINHOOKS_BREAKER_DENY"),
            transcript_log=on("BRAINHOOKS_TRANSCRIPT_LOG"),
        ),
    )


def is_on(name: str, value: str) -> bool:
    """Say whether a switch is on; what is no word for it means the default."""
    word = value.strip().lower()
    return word in ON or (word not in OFF and TABLE[name][0] == "1")


def _from_home(path: str, env: Mapping[str, str]) -> str:
    """Return the path with ``~/`` as a shell would put it: settings.json is read by no shell."""
    home = env.get("HOME", "")
    return os.path.join(home, path[2:]) if path.startswith("~/") and home else path


_SOURCES = ("local", "file", "none")
_DISPLAYS = ("marks", "raw")


def _file(home: str) -> dict[str, str]:
    path = os.path.join(home, SETTINGS_FILE)
    if not os.path.exists(path):
        return {}
    from hooks.atomic import read
    from scripts.swarm_v2.wire_json import load_object

    try:
        found = load_object(read(path))
    except OSError as err:
        raise _unusable_file(path) from err
    if found is None:
        raise _unusable_file(path)
    texts = {name: _flat(name, value) for name, value in found.items() if name in TABLE}
    return {name: text for name, text in texts.items() if text}  # empty means unset, as in env


def _unusable_file(path: str) -> SettingsError:
    err = SettingsError(SETTINGS_FILE, path, wants="one flat JSON object")
    err.hint = f"mend {path} or move it away; every setting can come from the environment instead"
    return err


def _flat(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise SettingsError(name, f"a {type(value).__name__}", wants="one text or number")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise SettingsError(name, value, wants=" or ".join(allowed))
    return value


def _unicode(name: str, value: str) -> str:
    # Not repaired: two principals that differ only in undecodable bytes would become one.
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise SettingsError(name, value, wants="text in UTF-8") from None
    return value


def _token(name: str, value: str) -> Secret:
    # What no HTTP header can hold would be an error deep inside, and perhaps shown there.
    if not is_token(value):
        raise SettingsError(name, "(hidden)", wants="printable ASCII without blanks")
    return Secret(value)


def is_token(text: str) -> bool:
    """Say whether ``text`` can be sent as a bearer token; the empty one is none."""
    return text.isascii() and text.isprintable() and " " not in text


def _seconds(name: str, value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MAX_TIMEOUT_S:  # nan is refused too
        raise SettingsError(name, value, wants=f"a number of seconds up to {MAX_TIMEOUT_S}")
    return seconds


def _budget(value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise SettingsError(
            "BRAIN_CONTEXT_BUDGET", value, wants=f"a whole number up to {MAX_BUDGET}"
        )
    # Python refuses to read very long numbers, and anything above the cap means the cap.
    return min(int(value), MAX_BUDGET) if len(value.lstrip("0")) <= 4 else MAX_BUDGET
