"""Modes without a tag, and CMAC. Changed ciphertext is not noticed: prefer warpseal.aead.

For data that other programs encrypt, and for building protocols.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warpseal import _core, _openssl
from warpseal._core import XTS, BlockCipher
from warpseal._endpoints import OPENED_MODE, Input, Output

if TYPE_CHECKING:
    from warpseal._file_call import FileResult, Path, Progress, Source

__all__ = ["XTS", "BlockCipher", "CipherInfo", "ciphers", "open_openssl_file"]


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


def open_openssl_file(
    source: Source,
    target: Path,
    *,
    passphrase: str | bytes,
    cipher: str,
    digest: str = "sha256",
    iterations: int | None = None,
    salted: bool = True,
    base64: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    engine: _core.Engine | None = None,
) -> FileResult:
    """Decrypts a file of `openssl enc`. Nothing in it is authenticated: the result may be wrong.

    cipher: openssl's name, such as "aes-256-cbc" or "des3"; CBC, CTR, CFB or OFB. digest: "md5"
    before OpenSSL 1.1.0. iterations: of PBKDF2, 10,000 for -pbkdf2 alone; None for neither -pbkdf2
    nor -iter. salted: False for -nosalt. base64: recognised where there is a salt.
    `target` appears when it is complete. BadPaddingError for most wrong passphrases with CBC.
    """
    with Input(source) as read, Output(target, overwrite=overwrite, mode=OPENED_MODE) as output:
        result = _openssl.run(
            read,
            output.descriptor,
            passphrase=passphrase,
            cipher=cipher,
            digest=digest,
            iterations=iterations,
            salted=salted,
            base64=base64,
            progress=progress,
            engine=engine,
        )
        output.commit()
    return result
