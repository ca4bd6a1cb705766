"""Files as objects, on a filesystem that all workers see."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence

from warpseal._cluster.errors import SourceChangedError, StoreError
from warpseal._cluster.stores import Identity
from warpseal._endpoints import OPENED_MODE, SEALED_MODE, Output

__all__ = ["LocalStore"]

# Longest step of a filesystem's clock. Times without nanoseconds have steps of one or two seconds.
FINE_SECONDS, COARSE_SECONDS = 0.02, 2.1


def _identity(about: os.stat_result) -> Identity:
    return Identity(about.st_size, f"{about.st_mtime_ns}.{about.st_ctime_ns}")


def _write(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(descriptor, view, offset)
        view, offset = view[count:], offset + count


@contextlib.contextmanager
def _opened(path: str, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _check_upload(path: str, upload: str) -> None:
    """Refuses files that begin() did not make, which a forged manifest might name."""
    stem, _, token = upload.rpartition(".")
    if stem != _stem(path) or not re.fullmatch("[0-9a-f]{16}", token):
        raise ValueError(f"manifest: {upload!r} is no upload of {path!r}")


def _stem(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(folder, f".{name[:200]}")


class LocalStore:
    """Objects are files: they appear whole, synced, by one link or rename."""

    max_parts = 10_000
    least_part_bytes = 0

    def identify(self, path: str) -> Identity:
        about = os.stat(path)
        if not os.path.isfile(path):
            raise IsADirectoryError(f"{path!r} is no file")
        return _identity(about)

    def settle(self, path: str, identity: Identity) -> None:
        with _opened(path, os.O_RDONLY) as descriptor, contextlib.suppress(OSError):
            # Stores to mapped pages that are written back change the times; others need not.
            os.fsync(descriptor)
        about = os.stat(path)
        if _identity(about) != identity:
            raise SourceChangedError(f"{path!r} is being written: seal it when it is complete")
        fine = about.st_mtime_ns % 10**9 or about.st_ctime_ns % 10**9
        time.sleep(FINE_SECONDS if fine else COARSE_SECONDS)
        if _identity(os.stat(path)) != identity:
            raise SourceChangedError(f"{path!r} is being written: seal it when it is complete")

    def read(self, path: str, identity: Identity, offset: int, count: int) -> bytes:
        with _opened(path, os.O_RDONLY) as descriptor:
            data = bytearray(count)
            view, done = memoryview(data), 0
            while done < count:
                got = os.preadv(descriptor, [view[done:]], offset + done)
                if got == 0:
                    break
                done += got
            found = [_identity(os.fstat(descriptor))]
        # Opening asks a network filesystem for the times; a descriptor may remember old ones.
        with _opened(path, os.O_RDONLY) as descriptor:
            found.append(_identity(os.fstat(descriptor)))
        if found != [identity, identity]:
            raise SourceChangedError(f"{path!r} was changed: its times or its size are others")
        if done != count:
            raise StoreError(f"{path!r}: {done} bytes came, of {count} at byte {offset}")
        view.release()
        return bytes(data)

    def create(self, path: str, data: bytes, *, overwrite: bool, private: bool) -> str:
        self._make_parent(path, private)
        mode = OPENED_MODE if private else SEALED_MODE
        with Output(path, overwrite=overwrite, mode=mode) as output:
            _write(output.descriptor, data, 0)
            output.commit()
            return _identity(os.fstat(output.descriptor)).tag

    def begin(self, path: str, size: int, *, private: bool) -> str:
        self._make_parent(path, private)
        upload = f"{_stem(path)}.{secrets.token_hex(8)}"
        mode = OPENED_MODE if private else SEALED_MODE
        descriptor = os.open(upload, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            os.ftruncate(descriptor, size)
        finally:
            os.close(descriptor)
        return upload

    def put(self, path: str, upload: str, number: int, offset: int, data: bytes) -> str:
        _check_upload(path, upload)
        with _opened(upload, os.O_RDWR) as descriptor:
            _write(descriptor, data, offset)
            os.fsync(descriptor)
        return str(number)

    def complete(self, path: str, upload: str, tags: Sequence[str], *, overwrite: bool) -> str:
        _check_upload(path, upload)
        if overwrite:
            os.rename(upload, path)
        else:
            try:
                os.link(upload, path)
            except FileExistsError:
                # An earlier attempt may have come so far.
                if not os.path.exists(upload) or not os.path.samefile(upload, path):
                    raise
            os.unlink(upload)
        with _opened(os.path.dirname(os.path.abspath(path)), os.O_RDONLY) as folder:
            os.fsync(folder)
        return _identity(os.stat(path)).tag

    def abort(self, path: str, upload: str) -> None:
        _check_upload(path, upload)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(upload)

    def _make_parent(self, path: str, private: bool) -> None:
        parent = os.path.dirname(os.path.abspath(path))
        os.makedirs(parent, 0o700 if private else 0o777, exist_ok=True)
