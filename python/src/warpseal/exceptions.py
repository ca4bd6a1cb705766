"""Exceptions of the package. Bad arguments raise ValueError and TypeError, I/O raises OSError."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    _PycaAlreadyFinalized = Exception
    _PycaInvalidTag = Exception
else:
    try:
        from cryptography.exceptions import AlreadyFinalized as _PycaAlreadyFinalized
        from cryptography.exceptions import InvalidTag as _PycaInvalidTag
    except ImportError:
        _PycaAlreadyFinalized = _PycaInvalidTag = Exception

__all__ = [
    "AlreadyFinalized",
    "BadPaddingError",
    "CancelledError",
    "Error",
    "InvalidTag",
    "LimitExceededError",
    "NoDeviceError",
    "NoRandomError",
    "SelfTestError",
    "TruncatedError",
    "UnsupportedError",
    "WeakKeyError",
    "WrongKeyError",
]


class Error(Exception):
    """Base of the exceptions below."""


class InvalidTag(Error, _PycaInvalidTag):
    """A tag does not verify. It is also cryptography.exceptions.InvalidTag where that exists."""


class AlreadyFinalized(Error, _PycaAlreadyFinalized):
    """The message has ended or failed. It is pyca's AlreadyFinalized too, where that exists."""


class WrongKeyError(Error):
    """No slot of the file opens with the given keys and passphrases."""


class TruncatedError(Error):
    """The sealed file ends too early."""


class UnsupportedError(Error, ValueError):
    """There is no such cipher, parameter set or file format, or the cipher lacks the mode."""


class LimitExceededError(Error, OverflowError, ValueError):
    """More than the mode's standard or the file format allows."""


class WeakKeyError(Error, ValueError):
    """A weak DES key, equal TDEA parts or equal XTS halves: no encryption."""


class BadPaddingError(Error, ValueError):
    """The plaintext does not end in PKCS#7 padding."""


class NoDeviceError(Error):
    """The named device cannot be used here."""


class NoRandomError(Error):
    """The operating system's random source failed."""


class SelfTestError(Error):
    """Known answers came out wrong; the target is not used."""


class CancelledError(Error):
    """The interpreter is ending, or the progress callback asked to stop."""
