"""The two digests that every key is made with, without the price of ``hashlib`` and ``uuid``.

``hashlib`` costs 0.4 of an interpreter start and ``uuid`` 1.2; the built-in C modules behind
them nothing. Their names changed in Python 3.12, and a build may leave them out.
"""

from __future__ import annotations

try:
    from _sha1 import sha1  # type: ignore[import-not-found]  # private, so typeshed has none

    try:
        from _sha2 import sha256  # type: ignore[import-not-found]  # Python 3.12 and later
    except ImportError:
        from _sha256 import sha256  # type: ignore[import-not-found]  # Python 3.11
except ImportError:
    from hashlib import sha1, sha256

# uuid.NAMESPACE_URL, RFC 4122 appendix C
_NAMESPACE_URL = bytes.fromhex("6ba7b8119dad11d180b400c04fd430c8")


def sha256_hex(data: bytes) -> str:
    """Return the 64 lower-case hex digits of SHA-256 over ``data``."""
    return str(sha256(data).hexdigest())


def short_digest(data: bytes) -> str:
    """Return the first 32 hex digits of SHA-256: the length every cache key uses."""
    return sha256_hex(data)[:32]


def uuid5_url_hex(name: str) -> str:
    """Return the 32 hex digits of ``uuid5(NAMESPACE_URL, name)``.

    Raises:
        UnicodeEncodeError: ``name`` holds a lone surrogate; clean the text first.
    """
    raw = bytearray(sha1(_NAMESPACE_URL + name.encode("utf-8")).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x50  # version 5
    raw[8] = raw[8] & 0x3F | 0x80  # RFC 4122 variant
    return raw.hex()
