"""The key of a run, as its workers get it."""

from __future__ import annotations

import hashlib
import hmac

__all__ = ["Secret"]


class Secret:
    """A key, or the name of its file on every node. Its text shows neither."""

    def __init__(self, key: bytes | None, file: str | None) -> None:
        self._key, self._file, self._digest = key, file, b""
        self._digest = self._digest_of(self.read())

    @staticmethod
    def _digest_of(key: bytes) -> bytes:
        return hashlib.blake2b(key, digest_size=32, person=b"warpseal/run-key").digest()

    def read(self) -> bytes:
        """Raises ValueError if the file has another key here than where the run began."""
        if self._key is not None:
            return self._key
        assert self._file is not None
        with open(self._file, "rb") as file:
            key = file.read(33)
        if len(key) != 32:
            raise ValueError(f"key_file: {self._file!r} has not the 32 bytes of a key file")
        if self._digest and not hmac.compare_digest(self._digest_of(key), self._digest):
            raise ValueError(f"key_file: {self._file!r} is another key on this node")
        return key

    def __repr__(self) -> str:
        return "<secret>"
