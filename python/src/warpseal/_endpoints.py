"""The files that file calls read and write."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat

from warpseal._file_call import Path, ReadableFile, Source

SEALED_MODE = 0o666  # before the umask
OPENED_MODE = 0o600  # plaintext is its owner's


def descriptor_of(file: ReadableFile) -> int | None:
    """Returns the descriptor of a file that reads it byte by byte; gzip's files do not."""
    file = getattr(file, "file", file)  # of tempfile
    raw = getattr(file, "raw", file)
    if not isinstance(raw, io.FileIO):
        return None
    descriptor = raw.fileno()
    with contextlib.suppress(OSError):  # a pipe
        os.lseek(descriptor, file.tell(), os.SEEK_SET)  # the object may have read ahead
    return descriptor


class Input:
    """A descriptor to read from: of a path, which is closed, or of the caller's file."""

    def __init__(self, source: Source) -> None:
        self._owned = isinstance(source, (str, os.PathLike))
        if isinstance(source, (str, os.PathLike)):
            self.descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
            return
        descriptor = descriptor_of(source)
        if descriptor is None:
            raise TypeError(
                "source: a path or a file of the operating system is needed; "
                "warpseal.open reads other file objects"
            )
        self.descriptor = descriptor

    def is_regular(self) -> bool:
        return stat.S_ISREG(os.fstat(self.descriptor).st_mode)

    def close(self) -> None:
        if self._owned:
            os.close(self.descriptor)

    def __enter__(self) -> int:
        return self.descriptor

    def __exit__(self, *_: object) -> None:
        self.close()


class Output:
    """A new file without a name until commit(). Without it, nothing remains."""

    def __init__(self, path: Path, *, overwrite: bool, mode: int) -> None:
        directory, self._name = os.path.split(os.path.abspath(os.fspath(path)))
        if os.path.isdir(path):
            raise IsADirectoryError(f"{os.fspath(path)!r} is a directory: name a file in it")
        if not overwrite and os.path.lexists(path):
            advice = "remove it, or give overwrite=True (of open: mode 'wb')"
            raise FileExistsError(f"{os.fspath(path)!r} exists: {advice}")
        self._overwrite = overwrite
        self._temporary = ""
        self._directory = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.descriptor = self._open(mode)
        except BaseException:
            os.close(self._directory)
            raise

    def _open(self, mode: int) -> int:
        flags = os.O_RDWR | os.O_CLOEXEC
        with contextlib.suppress(OSError):  # the file system has no unnamed files
            return os.open(".", flags | os.O_TMPFILE, mode, dir_fd=self._directory)
        self._temporary = self._new_name()
        flags |= os.O_CREAT | os.O_EXCL
        return os.open(self._temporary, flags, mode, dir_fd=self._directory)

    def _new_name(self) -> str:
        return f".{self._name[:200]}.{secrets.token_hex(8)}"

    def _link(self, name: str) -> None:
        source = self._temporary or f"/proc/self/fd/{self.descriptor}"
        os.link(source, name, src_dir_fd=self._directory, dst_dir_fd=self._directory)

    def commit(self) -> None:
        """Syncs the file and gives it its name."""
        os.fsync(self.descriptor)
        if not self._overwrite:
            self._link(self._name)
        else:
            if not self._temporary:
                name = self._new_name()
                self._link(name)
                self._temporary = name
            os.rename(
                self._temporary,
                self._name,
                src_dir_fd=self._directory,
                dst_dir_fd=self._directory,
            )
            self._temporary = ""
        os.fsync(self._directory)

    def drop(self) -> None:
        """Nothing remains without commit()."""

    def raise_failure(self) -> None:
        """Writes to the file fail in the file call."""

    def close(self) -> None:
        if self._temporary:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary, dir_fd=self._directory)
        os.close(self.descriptor)
        os.close(self._directory)

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
