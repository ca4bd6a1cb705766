"""The manifest of a run: JSON Lines, which are synced before what follows from them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from collections.abc import Iterator
from typing import Any

__all__ = ["Manifest"]

VERSION = 1


class Manifest:
    """Lines of events. One run at a time may have a manifest; a second one is refused.

    path: None keeps no manifest. action: "seal" or another; a manifest is of one action.
    """

    def __init__(self, path: str | os.PathLike[str] | None, action: str) -> None:
        self.lines: list[dict[str, Any]] = []  # that were there
        self._lines: list[bytes] = []  # that are added
        self._descriptor = -1
        self._shown = "" if path is None else os.fspath(path)
        if path is None:
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o666)
        try:
            self._lock()
            self._load(action)
        except BaseException:
            self.close()
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            raise BlockingIOError(
                errno.EWOULDBLOCK,
                f"manifest: {self._shown!r} is that of a run that has not ended; "
                "wait for it, or name another manifest",
            ) from error

    def _load(self, action: str) -> None:
        with open(self._descriptor, "rb", closefd=False) as file:
            data = file.read()
        # A line without its end is of a run that was killed while it wrote.
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) != len(data):
            os.ftruncate(self._descriptor, len(whole))
        self.lines = list(self._parse(whole))
        if not self.lines:
            self.write({"manifest": VERSION, "action": action})
            self.flush()
            self._sync_name()
            return
        head = self.lines.pop(0)
        if head.get("manifest") != VERSION:
            raise ValueError(f"manifest: {self._shown!r} is no manifest of version {VERSION}")
        if head.get("action") != action:
            raise ValueError(
                f"manifest: {self._shown!r} is of {head.get('action')!r}, not of {action!r}; "
                "name another one"
            )

    def _parse(self, data: bytes) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(data.splitlines(), 1):
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise ValueError(f"manifest: line {number} of {self._shown!r} is no JSON object")
            yield row

    def write(self, row: dict[str, Any]) -> None:
        """Adds a line, which flush() writes."""
        if self._descriptor >= 0:
            self._lines.append(json.dumps(row).encode() + b"\n")

    def flush(self) -> None:
        """Appends the lines that were added, and syncs them."""
        data = b"".join(self._lines)
        if not data:
            return
        self._lines.clear()
        while data:
            data = data[os.write(self._descriptor, data) :]
        os.fsync(self._descriptor)

    def _sync_name(self) -> None:
        folder = os.open(os.path.dirname(os.path.abspath(self._shown)), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def close(self) -> None:
        """Writes what was added and lets another run have the manifest."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):  # the failure before this one is raised
                self.flush()
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Manifest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
