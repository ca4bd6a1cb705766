"""Modes without a tag, and CMAC. Changed ciphertext is not noticed: prefer warpseal.aead.

For data that other programs encrypt, and for building protocols.
"""

from typing import NamedTuple

from warpseal import _core
from warpseal._core import XTS, BlockCipher

__all__ = ["XTS", "BlockCipher", "CipherInfo", "ciphers"]


class CipherInfo(NamedTuple):
    """A block cipher. `legacy`: only for data that is already encrypted with it."""

    name: str
    key_bytes: int
    block_bytes: int
    modes: tuple[str, ...]
    legacy: bool


def ciphers() -> list[CipherInfo]:
    """Returns the ciphers whose names BlockCipher and XTS take."""
    return [CipherInfo(*fields) for fields in _core.ciphers()]
