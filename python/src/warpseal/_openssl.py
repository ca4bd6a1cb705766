"""Files of `openssl enc`, which are not authenticated, and do not say how they were encrypted."""

from __future__ import annotations

import base64 as codec
import binascii
import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpseal import _core
from warpseal._file_call import FileResult, encoded
from warpseal._transfer import Blocks, Transfer
from warpseal.exceptions import TruncatedError, UnsupportedError

if TYPE_CHECKING:
    from warpseal._file_call import Progress

MAGIC = b"Salted__"
CODED = b"U2FsdGVkX1"  # its base64
SALT = 8
BATCH = 1 << 20  # whole blocks of every cipher
MODES = ("cbc", "ctr", "cfb", "ofb")


def derive(passphrase: bytes, salt: bytes, size: int, digest: str, iterations: int | None) -> bytes:
    """Key and IV: PBKDF2, or without iterations one round of EVP_BytesToKey."""
    if iterations is not None:
        return hashlib.pbkdf2_hmac(digest, passphrase, salt, iterations, size)
    made = block = b""
    while len(made) < size:
        block = hashlib.new(digest, block + passphrase + salt, usedforsecurity=False).digest()
        made += block
    return made[:size]


def _binary(blocks: Blocks) -> Iterator[bytes]:
    """What base64 in lines of any length encodes."""
    held, ended = b"", False
    while part := blocks.read(1 << 16):
        held += part.translate(None, b" \t\r\n")
        if ended and held:
            raise UnsupportedError("text follows the padding of its base64")
        whole = len(held) // 4 * 4
        try:
            data = codec.b64decode(held[:whole], validate=True)
        except binascii.Error:
            raise UnsupportedError("it is not base64") from None
        ended = ended or held[:whole].endswith(b"=")
        held = held[whole:]
        if ended and held:
            raise UnsupportedError("text follows the padding of its base64")
        yield data
    if held:
        raise TruncatedError("its base64 is cut off")


def _nonempty(parts: Iterator[bytes]) -> Iterator[bytes]:
    return (part for part in parts if part)


def _read_salt(source: Blocks) -> bytes:
    header = source.read(len(MAGIC) + SALT)
    if not header.startswith(MAGIC[: len(header)]):
        raise UnsupportedError("it does not begin with 'Salted__': is it without a salt?")
    if len(header) < len(MAGIC) + SALT:
        raise TruncatedError(f"it has {len(header)} bytes, and the header has 16")
    return header[len(MAGIC) :]


def _our_name(name: str) -> str:
    """openssl does not always name CBC, nor the only key size."""
    name = name.lower().removeprefix("-")
    for family in ("aes", "aria", "camellia"):
        if name in (f"{family}128", f"{family}192", f"{family}256"):
            return f"{family}-{name[-3:]}-cbc"
    if name == "des3":
        return "des-ede3-cbc"
    if name in ("des", "seed", "sm4"):
        name += "-cbc"
    for family in ("seed", "sm4"):
        if name.startswith(f"{family}-") and "-128-" not in name:
            name = name.replace(f"{family}-", f"{family}-128-", 1)
    if name.startswith("des-ede-"):
        name = name.replace("des-ede-", "des-ede2-", 1)
    return name


class Cipher:
    """A cipher and mode by openssl's name, such as "aes-256-cbc"."""

    def __init__(self, name: str) -> None:
        wanted = _our_name(name)
        self._name, _, self.mode = wanted.rpartition("-")
        sizes = {cipher[0]: (cipher[1], cipher[2], cipher[3]) for cipher in _core.ciphers()}
        if self.mode not in MODES:
            raise UnsupportedError(f"cipher: {name!r} is none of cbc, ctr, cfb and ofb")
        if self._name not in sizes:
            raise UnsupportedError(f"cipher: there is no {self._name!r}: see hazmat.ciphers()")
        self.key_bytes, self.block_bytes, modes = sizes[self._name]
        if self.mode not in modes:
            raise UnsupportedError(f"cipher: {self._name!r} has no mode {self.mode!r}")

    def decrypt(
        self, transfer: Transfer, source: Blocks, derived: bytes, engine: _core.Engine | None
    ) -> int:
        """Returns the number of bytes written."""
        cipher = _core.BlockCipher(self._name, derived[: self.key_bytes], engine=engine)
        iv, done = derived[self.key_bytes :], 0
        padded = self.mode == "cbc"
        while True:
            sealed = source.read(BATCH)
            last = not source.peek(1)
            if padded and (len(sealed) % self.block_bytes or not sealed):
                raise TruncatedError(f"it does not end with a whole block of {self._name}")
            if padded and last:
                text = cipher.decrypt_padded(iv, sealed)
            else:
                text = cipher.decrypt(self.mode, iv, sealed) if sealed else b""
            transfer.write(text)
            done += len(text)
            if last:
                return done
            iv = self._next_iv(iv, sealed, text)

    def _next_iv(self, iv: bytes, sealed: bytes, text: bytes) -> bytes:
        size = self.block_bytes
        if self.mode == "ctr":
            counter = int.from_bytes(iv, "big") + len(sealed) // size
            return (counter % (1 << 8 * size)).to_bytes(size, "big")
        if self.mode == "ofb":
            pairs = zip(sealed[-size:], text[-size:], strict=True)
            return bytes(a ^ b for a, b in pairs)
        return sealed[-size:]


def run(
    source: int,
    target: int,
    *,
    passphrase: str | bytes,
    cipher: str,
    digest: str,
    iterations: int | None,
    salted: bool,
    base64: bool,
    progress: Progress | None,
    engine: _core.Engine | None,
) -> FileResult:
    if iterations is not None and iterations < 1:
        raise ValueError("iterations: at least 1")
    form = Cipher(cipher)
    transfer = Transfer(source, target, progress, _core.Cancellation())
    blocks = Blocks(transfer.blocks())
    if base64 or (salted and blocks.peek(len(CODED)) == CODED):
        blocks = Blocks(_nonempty(_binary(blocks)))
    salt = _read_salt(blocks) if salted else b""
    size = form.key_bytes + form.block_bytes
    derived = derive(encoded(passphrase), salt, size, digest, iterations)
    done = form.decrypt(transfer, blocks, derived, engine)
    transfer.finish(done)
    return FileResult(done, transfer.read_bytes, "cpu", False)
