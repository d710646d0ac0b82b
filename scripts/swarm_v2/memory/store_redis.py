"""Documents in Redis: see ``store.DocumentStore``. One Lua script per commit."""

from __future__ import annotations


class RedisStore:
    """See ``DocumentStore``. May be used from several threads."""

    def __init__(self, url: str, *, prefix: str = "brainhooks", timeout_s: float = 5.0) -> None:
        """Connect at the first use.

        Raises:
            MemoryRefused: ``store-busy`` (redis-py is missing, or the address is none).
        """
        raise NotImplementedError

    def user(self) -> str | None:
        """Return the ACL user that this connection is; None for ``default``, who is nobody.

        Raises:
            MemoryRefused: ``store-busy``.
        """
        raise NotImplementedError
