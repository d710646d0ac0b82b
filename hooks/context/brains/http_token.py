"""The bearer token of a brain service: from the settings, or from a proven secret file."""

from __future__ import annotations

import os

from hooks.errors import StateError
from hooks.settings import is_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hooks.settings import Settings


def token_of(settings: Settings, env: Mapping[str, str]) -> str:
    """Return the token, "" where none is set; the setting itself wins over the file.

    Raises:
        StateError: the file is no proven secret, or holds what no header can carry.
    """
    http = settings.http
    if http.token or not http.token_file:
        return http.token
    from hooks.context.secret_file import read_secret

    path = http.token_file
    if path.startswith("~/"):
        path = os.path.join(env.get("HOME", ""), path[2:])
    token = read_secret(path)
    if not is_token(token):
        raise StateError(path, "the secret file is refused: it holds more than one word")
    return token
