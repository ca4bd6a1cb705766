"""Sealed files: whole files by one call, and file objects."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from warpseal import _core
from warpseal._endpoints import OPENED_MODE, SEALED_MODE, Input, Output
from warpseal._file_call import (
    FileCall,
    FileInfo,
    FileResult,
    Format,
    IdentityText,
    Path,
    Progress,
    SlotInfo,
    Source,
    WritableFile,
)
from warpseal._random_reader import RawRandomReader, raw_reader
from warpseal._streams import FileSink, RawReader, RawWriter

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "FileInfo",
    "FileResult",
    "SealedReader",
    "SealedWriter",
    "SlotInfo",
    "info",
    "open",
    "open_file",
    "seal_file",
    "verify",
]

BUFFER_BYTES = 256 << 10  # whole chunks of the file format


def seal_file(
    source: Source,
    target: Path,
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    recipients: Sequence[str] = (),
    suite: str | None = None,
    format: Format = "warpseal",
    context: Buffer | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    engine: _core.Engine | None = None,
) -> FileResult:
    """Seals a file. `target` appears when it is complete and synced.

    source: a path, or a file with a descriptor. key: 32 bytes; passphrase; recipients: texts of
    age, such as "age1…". Each opens the file alone.
    progress: called about every 100 ms with the bytes done and the bytes expected or None. An
    exception of it, or Ctrl-C, ends the call, and no file appears.
    """
    call = FileCall(True, key, passphrase, suite, format, context, engine, recipients)
    with Input(source) as read, Output(target, overwrite=overwrite, mode=SEALED_MODE) as output:
        result = call.run(read, output.descriptor, any_order=True, progress=progress)
        output.commit()
    return result


def open_file(
    source: Source,
    target: Path,
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    format: Format = "warpseal",
    context: Buffer | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    engine: _core.Engine | None = None,
) -> FileResult:
    """Opens a sealed file. `target` appears when all of it is verified and synced."""
    call = FileCall(False, key, passphrase, None, format, context, engine, (), identities)
    with Input(source) as read, Output(target, overwrite=overwrite, mode=OPENED_MODE) as output:
        result = call.run(read, output.descriptor, any_order=True, progress=progress)
        output.commit()
    return result


def verify(
    source: Source,
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    format: Format = "warpseal",
    context: Buffer | None = None,
    progress: Progress | None = None,
    engine: _core.Engine | None = None,
) -> FileResult:
    """Verifies a sealed file without writing anything. Raises what open_file does."""
    call = FileCall(False, key, passphrase, None, format, context, engine, (), identities)
    with Input(source) as read:
        return call.run(read, -1, progress=progress)


def info(source: Source) -> FileInfo:
    """Reads a file's header without a key. Nothing in it is authenticated."""
    with Input(source) as read:
        fields = _core.file_info(read)
    slots = tuple(SlotInfo(*slot) for slot in fields.pop("slots"))
    return FileInfo(**fields, slots=slots)


class SealedReader(io.BufferedReader):
    """A sealed file open for reading. Every byte that it returns is verified.

    Files can be read at any offset; their end is verified when they are opened. Pipes are read in
    order, and their end is verified where read() returns b"".
    """

    raw: RawReader | RawRandomReader

    def read_at(self, offset: int, count: int) -> bytes:
        """Reads at an offset, fewer bytes at the end. Any number of threads may do so at once."""
        return self._random().read_at(offset, count)

    def read_into(self, offset: int, array: Any, *, stream: Any = None) -> int:
        """Reads at an offset into an array, in host memory or on a GPU. Returns the bytes read.

        On a GPU the text is decrypted there, once the work queued on `stream` is done, by default
        the current one of the array's library. It is never in host memory. Any number of threads
        may read at once.
        """
        return self._random().read_into(offset, array, stream)

    @property
    def size(self) -> int:
        """The bytes of plaintext. UnsupportedOperation for a pipe."""
        return self._random().size()

    def _random(self) -> RawRandomReader:
        if isinstance(self.raw, RawReader):
            raise io.UnsupportedOperation("a pipe is read in order, and its size is not known")
        return self.raw


class SealedWriter(io.BufferedWriter):
    """A sealed file open for writing. It appears at close(), complete and synced.

    After an exception in its `with` block, without close(), or after abort(), no file appears.
    """

    raw: RawWriter

    def abort(self) -> None:
        """Ends without a file."""
        self.raw.abort()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def close(self) -> None:
        if self.closed:
            return
        try:
            self.flush()
        except BaseException:
            self.abort()
            raise
        super().close()

    def __del__(self) -> None:
        if not self.closed:
            self.abort()
            warnings.warn("a SealedWriter was not closed: no file appears", ResourceWarning, 2)


@overload
def open(
    file: Source,
    mode: Literal["rb", "r"] = "rb",
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    suite: None = None,
    format: Format = "warpseal",
    context: Buffer | None = None,
    engine: _core.Engine | None = None,
) -> SealedReader: ...
@overload
def open(
    file: Path | WritableFile,
    mode: Literal["wb", "w", "xb", "x"],
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    recipients: Sequence[str] = (),
    suite: str | None = None,
    format: Format = "warpseal",
    context: Buffer | None = None,
    engine: _core.Engine | None = None,
) -> SealedWriter: ...
def open(
    file: Source | WritableFile,
    mode: str = "rb",
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    recipients: Sequence[str] = (),
    identities: Sequence[IdentityText] = (),
    suite: str | None = None,
    format: Format = "warpseal",
    context: Buffer | None = None,
    engine: _core.Engine | None = None,
) -> SealedReader | SealedWriter:
    """Opens a sealed file as a binary file object.

    mode: "rb" reads, "wb" writes and replaces, "xb" writes a new file.
    file: a path. For reading also a pipe, an open file, or an object with read, seek and tell.
    Regular files and objects can be read at any offset. For writing also an object with write,
    which stays open.
    recipients: of a new file, texts of age such as "age1…". identities: "AGE-SECRET-KEY-1…".
    suite: "aes-256-gcm" (default), "aes-128-gcm", "aria-256-gcm" or "camellia-256-gcm".
    """
    if mode not in ("r", "rb", "w", "wb", "x", "xb"):
        raise ValueError(f"mode: {mode!r} is not 'rb', 'wb' or 'xb'")
    if mode[0] == "r":
        if recipients:
            raise ValueError("recipients: they seal files, and identities open them")
        call = FileCall(False, key, passphrase, None, format, context, engine, (), identities)
        if not isinstance(file, (str, os.PathLike)) and not hasattr(file, "read"):
            raise TypeError("file: a path or a file object is needed")
        return SealedReader(raw_reader(cast(Source, file), call), BUFFER_BYTES)
    if identities:
        raise ValueError("identities: they open files, and recipients seal them")
    call = FileCall(True, key, passphrase, suite, format, context, engine, recipients)
    output: Output | FileSink
    if isinstance(file, (str, os.PathLike)):
        output = Output(file, overwrite=mode[0] == "w", mode=SEALED_MODE)
    elif hasattr(file, "write"):
        output = FileSink(cast(WritableFile, file))
    else:
        raise TypeError("file: a path or a file object is needed")
    try:
        return SealedWriter(RawWriter(output, call), BUFFER_BYTES)
    except BaseException:
        output.close()
        raise
