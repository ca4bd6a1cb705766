"""Reads and writes of the descriptors of a call on another format."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpseal import _core
from warpseal.exceptions import CancelledError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from warpseal._file_call import Progress

READ_BYTES = 1 << 20
PROGRESS_SECONDS = 0.1


class Transfer:
    """One call: its descriptors, progress and cancellation. target: -1 discards what is written."""

    def __init__(
        self,
        source: int,
        target: int,
        progress: Progress | None,
        cancellation: _core.Cancellation,
    ) -> None:
        self._source, self._target = source, target
        self._progress, self._cancellation = progress, cancellation
        self._due = time.monotonic() + PROGRESS_SECONDS
        self._ended = False
        self.read_bytes = self.written_bytes = 0
        about = os.fstat(source)
        self.total = about.st_size if stat.S_ISREG(about.st_mode) else None

    def check(self) -> None:
        """Reports the progress, and raises CancelledError or what the callback raises."""
        if self._cancellation.requested():
            raise CancelledError("cancelled")
        if self._progress is not None and time.monotonic() >= self._due:
            self._progress(self.read_bytes, self.total)
            self._due = time.monotonic() + PROGRESS_SECONDS

    def blocks(self) -> Iterator[bytes]:
        """The input until its end, as it comes."""
        while True:
            self.check()
            block = os.read(self._source, READ_BYTES)
            if not block:
                return
            self.read_bytes += len(block)
            yield block

    def write(self, data: Buffer) -> None:
        view = memoryview(data).cast("B")
        self.written_bytes += len(view)
        while len(view) and self._target >= 0:
            self.check()
            view = view[os.write(self._target, view) :]

    def finish(self, plaintext_bytes: int) -> None:
        if self._progress is not None:
            self._progress(plaintext_bytes, plaintext_bytes)


class Blocks:
    """Bytes from an iterator of parts, in pieces of any length."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._held = bytearray()
        self.taken = 0

    def _fill(self, count: int) -> None:
        while len(self._held) < count:
            part = next(self._parts, b"")
            if not part:
                return
            self._held += part

    def peek(self, count: int) -> bytes:
        """Returns the next bytes, fewer only at the end, and leaves them there."""
        self._fill(count)
        return bytes(self._held[:count])

    def read(self, count: int) -> bytes:
        """Returns the next bytes, fewer only at the end."""
        self._fill(count)
        part = bytes(self._held[:count])
        del self._held[:count]
        self.taken += len(part)
        return part

    def line(self, most: int) -> bytes | None:
        """Returns a line without its end, or None if there is none of at most that length."""
        seen = 0
        while (end := self._held.find(b"\n", seen, most + 1)) < 0:
            seen = len(self._held)
            self._fill(seen + 1)
            if seen > most or len(self._held) == seen:
                return None
        return self.read(end + 1)[:-1]
