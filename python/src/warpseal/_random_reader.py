"""Reads of sealed files at any offset."""

from __future__ import annotations

import io
import os
import threading
from typing import TYPE_CHECKING, Any

from warpseal._arrays import HOST, memory_of, stream_of
from warpseal._endpoints import Input, descriptor_of
from warpseal._file_call import FileCall, ReadableFile, ReadAt, Source
from warpseal._streams import RawReader

if TYPE_CHECKING:
    from typing_extensions import Buffer


def _reading(file: ReadableFile) -> tuple[ReadAt, int]:
    """Returns a function that reads a seekable file at an offset, and the bytes that it has."""
    start, lock = file.tell(), threading.Lock()
    # PyTorch's view of a part of a file returns from `seek` where the file stands.
    file.seek(0, os.SEEK_END)
    size = file.tell() - start

    def read_at(offset: int, memory: memoryview) -> int:
        with lock:
            file.seek(start + offset)
            part = file.read(len(memory))
        memory[: len(part)] = part
        return len(part)

    return read_at, size


class RawRandomReader(io.RawIOBase):
    """The plaintext of a sealed file at any offset. Only verified bytes come out."""

    def __init__(self, source: Input | tuple[ReadAt, int], call: FileCall) -> None:
        """source: a regular file, or a function that reads and the bytes that there are."""
        super().__init__()
        self._input = source if isinstance(source, Input) else None
        if isinstance(source, Input):
            self._reader = call.reader(source.descriptor, 0)
        else:
            self._reader = call.reader(*source)
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def read_at(self, offset: int, count: int) -> bytes:
        self._check_open()
        if offset < 0 or count < 0:
            raise ValueError("offset and count must not be negative")
        return self._reader.read(offset, count)

    def read_into(self, offset: int, array: Any, stream: Any) -> int:
        self._check_open()
        if offset < 0:
            raise ValueError("offset must not be negative")
        handle = stream_of(stream, array)
        memory = memory_of(array, "array", writable=True, stream=handle)
        if memory.device == HOST:
            return self._reader.read_into(offset, memory.view())
        return self._reader.read_into_device(offset, memory.address, memory.size, handle)

    def size(self) -> int:
        self._check_open()
        return self._reader.size()

    def readinto(self, buffer: Buffer, /) -> int:
        self._check_open()
        count = self._reader.read_into(self._position, buffer)
        self._position += count
        return count

    def readall(self) -> bytes:
        rest = self.read_at(self._position, self._reader.size())
        self._position += len(rest)
        return rest

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._check_open()
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._reader.size()}
        if whence not in starts:
            raise ValueError(f"whence: {whence} is not SEEK_SET, SEEK_CUR or SEEK_END")
        position = starts[whence] + offset
        if position < 0:
            raise ValueError(f"offset: {position} is before the start of the file")
        self._position = position
        return position

    def tell(self) -> int:
        self._check_open()
        return self._position

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        if hasattr(self, "_reader"):
            del self._reader
            if self._input is not None:
                self._input.close()


def raw_reader(file: Source, call: FileCall) -> RawReader | RawRandomReader:
    if not isinstance(file, (str, os.PathLike)) and descriptor_of(file) is None:
        if not call.has_reader:
            raise TypeError(
                f"file: give a path for format {call.format!r}, or a file of the system"
            )
        if not file.seekable():
            raise TypeError("file: give a path, a seekable file, or one of the operating system")
        return RawRandomReader(_reading(file), call)
    source = Input(file)
    try:
        kind = RawRandomReader if source.is_regular() and call.has_reader else RawReader
        return kind(source, call)
    except BaseException:
        source.close()
        raise
