"""The arguments and results of file calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from warpseal import _core

if TYPE_CHECKING:
    from typing_extensions import Buffer


class ReadableFile(Protocol):
    """What a file object needs so that it can be read: bytes of a binary file."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = ..., /) -> int: ...
    def tell(self) -> int: ...
    def seekable(self) -> bool: ...


class WritableFile(Protocol):
    """A file object that a sealed file is written to."""

    def write(self, data: bytes, /) -> int: ...


Path: TypeAlias = str | os.PathLike[str]
Source: TypeAlias = Path | ReadableFile
Progress: TypeAlias = Callable[[int, int | None], object]
ReadAt: TypeAlias = Callable[[int, memoryview], int]
Format: TypeAlias = Literal["warpseal", "cobblestone"]



@dataclass(frozen=True)
class FileResult:
    """Result of a call on a whole file. `target`: what ran, for example "vaes512"."""

    plaintext_bytes: int
    file_bytes: int
    target: str
    header_copies_differ: bool


@dataclass(frozen=True)
class SlotInfo:
    """What opens a file: "key", "passphrase", "x25519" or "mlkem768x25519" (recipients), and the
    cost of a passphrase. A type of a later version is "unknown"."""

    type: str
    argon2_passes: int
    argon2_memory_kib: int


@dataclass(frozen=True)
class FileInfo:
    """A file's header. Nothing in it is authenticated. Sizes of a stream are None."""

    version: int
    suite: str
    file_id: bytes
    header_bytes: int
    generation: int
    file_bytes: int | None
    plaintext_bytes: int | None
    slots: tuple[SlotInfo, ...]


@dataclass(frozen=True)
class FileCall:
    """The arguments that all file calls share."""

    sealing: bool
    key: Buffer | None = field(repr=False)
    passphrase: str | bytes | None = field(repr=False)
    suite: str | None
    format: Format
    context: Buffer | None
    engine: _core.Engine | None

    def __post_init__(self) -> None:
        if self.format not in ("warpseal", "cobblestone"):
            raise ValueError(f"format: {self.format!r} is not 'warpseal' or 'cobblestone'")
        if self.key is None and self.passphrase is None:
            raise ValueError("give key=, the 32 bytes of a key file, or passphrase=")

    def run(
        self,
        source: int,
        target: int,
        *,
        any_order: bool = False,
        progress: Progress | None = None,
        cancellation: _core.Cancellation | None = None,
    ) -> FileResult:
        result = _core.run_file_call(
            self.sealing,
            source,
            target,
            self.key,
            self._passphrase_bytes(),
            self.suite,
            self.context,
            self.format == "cobblestone",
            any_order,
            progress,
            cancellation or _core.Cancellation(),
            self.engine,
        )
        return FileResult(*result)

    def reader(
        self, source: int | ReadAt, file_bytes: int
    ) -> _core.Reader:
        return _core.Reader(
            source,
            file_bytes,
            self.key,
            self._passphrase_bytes(),
            self.context,
            self.format == "cobblestone",
            self.engine,
        )

    def _passphrase_bytes(self) -> bytes | None:
        return self.passphrase.encode() if isinstance(self.passphrase, str) else self.passphrase
