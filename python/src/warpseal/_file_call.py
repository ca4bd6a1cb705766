"""The arguments and results of file calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
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
Format: TypeAlias = Literal["warpseal", "cobblestone", "age", "floe"]
# An identity of age: AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…
IdentityText: TypeAlias = str | bytes
SecretPairs: TypeAlias = "list[tuple[str, Buffer]]"

FORMATS = ("warpseal", "cobblestone", "age", "floe")


@dataclass(frozen=True)
class FileResult:
    """Result of a call on a whole file. `target`: what ran, for example "vaes512"."""

    plaintext_bytes: int
    file_bytes: int
    target: str
    header_copies_differ: bool


@dataclass(frozen=True)
class SlotInfo:
    """What opens a file: "key", "passphrase", or of recipients "x25519", "mlkem768x25519",
    "ntruhps4096821x25519", and of those that only the program opens "ssh-ed25519", "ssh-rsa" or
    "plugin"; and the cost of a passphrase. A type of a later version is "unknown"."""

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


def encoded(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def secret_pairs(
    key: Buffer | None,
    passphrase: str | bytes | None,
    recipients: Sequence[str] = (),
    identities: Sequence[IdentityText] = (),
) -> SecretPairs:
    """Returns the secrets of a call as the extension takes them."""
    for name, texts in (("recipients", recipients), ("identities", identities)):
        if isinstance(texts, (str, bytes)):
            raise TypeError(f"{name}: a sequence is needed, such as [{name[:-1]}]")
    pairs: SecretPairs = []
    if key is not None:
        pairs.append(("key", key))
    pairs += [("recipient", encoded(text.strip())) for text in recipients]
    pairs += [("identity", encoded(text).strip()) for text in identities]
    if passphrase is not None:
        pairs.append(("passphrase", encoded(passphrase)))
    return pairs


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
    recipients: Sequence[str] = ()
    identities: Sequence[IdentityText] = field(default=(), repr=False)
    keys: _core.SlotKeys | None = None  # of a run over many files

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ValueError(f"format: {self.format!r} is not one of {', '.join(FORMATS)}")
        if not self._secrets():
            other = "recipients=" if self.sealing else "identities="
            raise ValueError(f"give key=, the 32 bytes of a key file, passphrase= or {other}")
        if self.format in ("age", "floe") and self.suite is not None:
            raise ValueError(f"suite: format {self.format!r} has one cipher")

    def _secrets(self) -> SecretPairs:
        return secret_pairs(self.key, self.passphrase, self.recipients, self.identities)

    @property
    def has_reader(self) -> bool:
        """True if the file can be read at any offset."""
        return self.format in ("warpseal", "cobblestone")

    def run(
        self,
        source: int,
        target: int,
        *,
        any_order: bool = False,
        progress: Progress | None = None,
        cancellation: _core.Cancellation | None = None,
    ) -> FileResult:
        """target: -1 discards the text."""
        cancellation = cancellation or _core.Cancellation()
        if not self.has_reader:
            from warpseal import _age, _floe

            other = _age.run if self.format == "age" else _floe.run
            return other(self, source, target, progress, cancellation)
        result = _core.run_file_call(
            self.sealing,
            source,
            target,
            self._secrets(),
            self.suite,
            self.context,
            self.format == "cobblestone",
            any_order,
            progress,
            cancellation,
            self.keys,
            self.engine,
        )
        return FileResult(*result)

    def run_on_device(
        self, memory: _core.Memory, stream: int, target: int, progress: Progress | None
    ) -> FileResult:
        """Seals memory of a GPU."""
        if not self.has_reader:
            raise ValueError(f"format: {self.format!r} is not sealed on a GPU")
        result = _core.seal_from_device(
            memory.address,
            memory.size,
            stream,
            target,
            self._secrets(),
            self.suite,
            self.context,
            self.format == "cobblestone",
            progress,
            _core.Cancellation(),
            self.engine,
        )
        return FileResult(*result)

    def reader(self, source: int | ReadAt, file_bytes: int) -> _core.Reader:
        if not self.has_reader:
            raise ValueError(f"format: {self.format!r} is not read at any offset")
        return _core.Reader(
            source,
            file_bytes,
            self._secrets(),
            self.context,
            self.format == "cobblestone",
            self.engine,
        )
