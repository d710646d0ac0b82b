"""Which brain this installation talks to, and the namespaces that keep its keys apart."""

from __future__ import annotations

import os

from hooks.settings import SETTINGS_FILE
from scripts.swarm_v2.keyspace import Namespace, brain_identity, installation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from hooks.settings import Settings

    BrainKind = Literal["local", "file", "http", "none", "invalid"]

LOCAL_DATABASE = os.path.join("brain", "local.db")
LOCAL_FORMAT = 2  # of that file; see brains.local_schema
INVALID = "invalid"  # the identity of a brain address that cannot be normalised


def brain_kind(settings: Settings) -> BrainKind:
    """Say which kind of brain is configured: BRAIN_URL wins, then BRAIN_SOURCE_TYPE."""
    if settings.brain_url:
        return "invalid" if brain_id(settings) == INVALID else "http"
    source = settings.brain_source
    if source == "file":  # a relative path would be another folder wherever a hook runs
        return "file" if os.path.isabs(settings.brain_path) else "invalid"
    return "none" if source == "none" else "local"


def brain_id(settings: Settings | None = None) -> str:
    """Return the identity of the configured brain: a hash that holds no secret.

    ``url-<32 hex>``, ``file-<32 hex>`` (the local brain is its database file), ``none`` only
    when asked for, ``invalid`` where the address cannot be normalised. Without ``settings`` the
    process environment decides, as it does for every documented entry point of the library.
    """
    if settings is None:
        from hooks.settings import load

        settings = load(os.environ)  # noqa: TID251 - documented to need no argument
    if settings.brain_url:
        return _url_identity(settings.brain_url)
    if settings.brain_source == "none":
        return brain_identity()
    if settings.brain_source == "file":
        return brain_identity(path=settings.brain_path) if settings.brain_path else INVALID
    return brain_identity(path=os.path.join(settings.home, LOCAL_DATABASE))


def why_invalid(settings: Settings) -> str:
    """Say why what is configured can be no brain. No address is shown: it may hold a secret."""
    if settings.brain_url:
        return "BRAIN_URL is no address of a brain"
    if not settings.brain_path:
        return "BRAIN_SOURCE_TYPE is file, and no BRAIN_SOURCE_PATH names the folder"
    said = f"BRAIN_SOURCE_PATH is {settings.brain_path!r}, which is no whole path"
    return f"{said}: it would be another folder wherever a hook runs"


def place(settings: Settings) -> str:
    """Return a file brain's folder, or scheme and host of a service: no user, path, query."""
    if not settings.brain_url:
        return settings.brain_path
    from hooks.context.brains.http_address import parse

    address = parse(settings.brain_url)
    return f"{address.scheme}://{address.host_header}"


def where_set(settings: Settings, env: Mapping[str, str]) -> str:
    """Name the place where the settings say where a file brain is."""
    name = "BRAIN_SOURCE_PATH" if settings.brain_path else "BRAIN_SOURCE_TYPE"
    return "the environment" if env.get(name) else os.path.join(settings.home, SETTINGS_FILE)


def how_to_mend(settings: Settings, env: Mapping[str, str]) -> str:
    """Say what to set in place of what can be no brain."""
    if settings.brain_url:
        return "set BRAIN_URL to http(s)://host[:port]/path, or unset it"
    todo = "to the whole path of a folder that is there (/… or ~/…), or unset BRAIN_SOURCE_TYPE"
    return f"in {where_set(settings, env)}, set BRAIN_SOURCE_PATH {todo}"


def _url_identity(url: str) -> str:
    try:
        return brain_identity(url=url)
    except ValueError:
        return INVALID


def namespace(settings: Settings, project: str = "") -> Namespace:
    """Return the namespace of this installation and brain, for one project or for none.

    ``unknown`` is no project: it becomes the empty one.

    Raises:
        ValueError: ``installation.json`` breaks its grammar; nothing was changed.
    """
    who = installation(settings.home).installation_id
    return Namespace(who, brain_id(settings), "" if project == "unknown" else project)


def principal(settings: Settings) -> str:
    """Return whose personal memories are meant: BRAINHOOKS_PRINCIPAL, else the installation."""
    return settings.principal or installation(settings.home).installation_id
