"""Sealed tensors for PyTorch: state dicts, safetensors files, and checkpoints of
torch.distributed.

save_file() and safe_open() seal and open tensors of a GPU there: host memory has only their names
and shapes. save(), load() and checkpoint_extension() go through host memory. Import it with PyTorch
installed; the rest of the package does not need it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import torch

from warpseal import _core, files
from warpseal._array_files import PART_BYTES, seal_array
from warpseal._arrays import HOST, gpu_of_all, memory_of
from warpseal._file_call import IdentityText, Path, Source
from warpseal._safetensors import LENGTH_BYTES, build, length_of, parse
from warpseal.exceptions import TruncatedError, UnsupportedError

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["checkpoint_extension", "load", "load_file", "safe_open", "save", "save_file"]

# Names of the format for types that this version of PyTorch has.
_NAMES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "I16": "int16",
    "U16": "uint16",
    "F16": "float16",
    "BF16": "bfloat16",
    "I32": "int32",
    "U32": "uint32",
    "F32": "float32",
    "I64": "int64",
    "U64": "uint64",
    "F64": "float64",
    "C64": "complex64",
}
# This many threads open the tensors of a file. On a GPU each waits for it between its reads.
_THREADS = 8
_TYPES = {name: getattr(torch, own) for name, own in _NAMES.items() if hasattr(torch, own)}
_NAME_OF = {dtype: name for name, dtype in _TYPES.items()}


def save(
    obj: Any,
    target: Path,
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    recipients: Sequence[str] = (),
    overwrite: bool = False,
    engine: _core.Engine | None = None,
) -> None:
    """torch.save to a sealed file, which appears when it is complete.

    PyTorch copies tensors of a GPU to host memory for it; save_file() does not.
    """
    mode: Any = "wb" if overwrite else "xb"
    with files.open(
        target,
        mode,
        key=key,
        passphrase=passphrase,
        recipients=recipients,
        engine=engine,
    ) as file:
        torch.save(obj, file)


def load(
    source: Source,
    *,
    map_location: Any = None,
    weights_only: bool = True,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    engine: _core.Engine | None = None,
) -> Any:
    """torch.load of a sealed file. Every byte is verified before PyTorch sees it."""
    with files.open(
        source,
        key=key,
        passphrase=passphrase,
        identities=identities,
        engine=engine,
    ) as file:
        return torch.load(file, map_location=map_location, weights_only=weights_only)


def _as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().reshape(-1).view(torch.uint8)


def _checked(tensors: Mapping[str, torch.Tensor]) -> list[tuple[str, str, tuple[int, ...]]]:
    described = []
    for name, tensor in tensors.items():
        if tensor.dtype not in _NAME_OF:
            raise UnsupportedError(f"{name!r} has the type {tensor.dtype}, which has no name here")
        if not tensor.is_contiguous():
            raise ValueError(f"{name!r} is not contiguous: give a contiguous copy")
        described.append((name, _NAME_OF[tensor.dtype], tuple(tensor.shape)))
    return described


def save_file(
    tensors: Mapping[str, torch.Tensor],
    target: Path,
    *,
    metadata: Mapping[str, str] | None = None,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    recipients: Sequence[str] = (),
    suite: str | None = None,
    overwrite: bool = False,
    engine: _core.Engine | None = None,
) -> None:
    """Seals tensors as one safetensors file, which appears when it is complete.

    All tensors lie in host memory or on one GPU. There they are copied side by side, which takes as
    much memory again, and sealed where they lie.
    """
    head, header = build(_checked(tensors), metadata)
    named = [(f"tensors[{name!r}]", tensor) for name, tensor in tensors.items()]
    if named and gpu_of_all(named) != HOST:
        device = next(iter(tensors.values())).device
        size = header.bytes + max(entry.end for entry in header.entries.values())
        image = torch.empty(size, dtype=torch.uint8, device=device)
        image[: header.bytes] = torch.frombuffer(bytearray(head), dtype=torch.uint8).to(device)
        for name, entry in header.entries.items():
            begin, end = header.bytes + entry.begin, header.bytes + entry.end
            image[begin:end] = _as_bytes(tensors[name])
        seal_array(
            image,
            target,
            key=key,
            passphrase=passphrase,
            recipients=recipients,
            suite=suite,
            overwrite=overwrite,
            engine=engine,
        )
        return
    mode: Any = "wb" if overwrite else "xb"
    with files.open(
        target,
        mode,
        key=key,
        passphrase=passphrase,
        recipients=recipients,
        suite=suite,
        engine=engine,
    ) as file:
        file.write(head)
        for name in header.entries:
            memory = memory_of(_as_bytes(tensors[name]), name)
            view = memory.view()
            for begin in range(0, memory.size, PART_BYTES):
                file.write(view[begin : begin + PART_BYTES])


class safe_open:  # noqa: N801 - the name of the safetensors library
    """A sealed safetensors file whose tensors are opened where they are wanted.

    device: of the tensors, "cpu" or "cuda". On a GPU they are decrypted there. The header and the
    end of the file are verified at first, each tensor when it is opened.
    """

    def __init__(
        self,
        source: Source,
        *,
        device: Any = "cpu",
        key: Buffer | None = None,
        passphrase: str | bytes | None = None,
        identities: Sequence[IdentityText] = (),
        engine: _core.Engine | None = None,
    ) -> None:
        self._device = torch.device(device)
        if self._device.type == "cuda" and self._device.index is None:
            # Other threads, which open tensors too, have a current GPU of their own.
            self._device = torch.device("cuda", torch.cuda.current_device())
        self._file = files.open(
            source,
            key=key,
            passphrase=passphrase,
            identities=identities,
            engine=engine,
        )
        try:
            size = self._file.size
            length = length_of(self._read(0, LENGTH_BYTES), size)
            self._header = parse(self._read(LENGTH_BYTES, length), size)
        except BaseException:
            self._file.close()
            raise

    def _read(self, offset: int, count: int) -> bytes:
        """Reads a part of the header. Its chunks have tensors too, whose bytes stay on the GPU."""
        if self._device.type == "cpu":
            return self._file.read_at(offset, count)
        memory = torch.empty(count, dtype=torch.uint8, device=self._device)
        read = self._file.read_into(offset, memory)
        return bytes(memory[:read].cpu().numpy())

    def keys(self) -> list[str]:
        return list(self._header.entries)

    def metadata(self) -> dict[str, str]:
        return dict(self._header.metadata)

    def get_shape(self, name: str) -> tuple[int, ...]:
        return self._header.entries[name].shape

    def get_tensor(self, name: str, *, out: torch.Tensor | None = None) -> torch.Tensor:
        """Opens a tensor. out: a tensor of the same size that receives it.

        Any number of threads may open tensors at once. On a GPU the call ends when the tensor is
        complete. InvalidTag: a chunk was changed; `out` is zeros then.
        """
        entry = self._header.entries[name]
        self._check_type(name, entry.dtype)
        tensor = self._new_tensor(name) if out is None else out
        size = entry.end - entry.begin
        if tensor.numel() * tensor.element_size() != size:
            raise ValueError(
                f"out has {tensor.numel() * tensor.element_size()} bytes: {size} are needed"
            )
        if not tensor.is_contiguous():
            raise BufferError("out is not contiguous: give a contiguous tensor")
        memory = _as_bytes(tensor)
        if size and self._file.read_into(self._header.bytes + entry.begin, memory) != size:
            raise TruncatedError(f"the file ends within {name!r}")
        return tensor

    def _load_all(self) -> dict[str, torch.Tensor]:
        """Opens all tensors, several at once."""
        for name, entry in self._header.entries.items():
            self._check_type(name, entry.dtype)
        # This thread makes them, so that their memory belongs to its stream.
        tensors = {name: self._new_tensor(name) for name in self}
        if self._device.type == "cuda":
            torch.cuda.current_stream(self._device).synchronize()
        with ThreadPoolExecutor(_THREADS) as pool:
            try:
                for _ in pool.map(lambda item: self.get_tensor(item[0], out=item[1]),
                                  tensors.items()):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return tensors

    @staticmethod
    def _check_type(name: str, dtype: str) -> None:
        if dtype not in _TYPES:
            raise UnsupportedError(f"{name!r} has the type {dtype}, which PyTorch lacks")

    def _new_tensor(self, name: str) -> torch.Tensor:
        entry = self._header.entries[name]
        memory = torch.empty(entry.end - entry.begin, dtype=torch.uint8, device=self._device)
        return memory.view(_TYPES[entry.dtype]).reshape(entry.shape)

    def close(self) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self._header.entries)

    def __len__(self) -> int:
        return len(self._header.entries)

    def __enter__(self) -> safe_open:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def load_file(
    source: Source,
    *,
    device: Any = "cpu",
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    engine: _core.Engine | None = None,
) -> dict[str, torch.Tensor]:
    """Opens all tensors of a sealed safetensors file."""
    with safe_open(
        source,
        device=device,
        key=key,
        passphrase=passphrase,
        identities=identities,
        engine=engine,
    ) as file:
        return file._load_all()


def checkpoint_extension(*, key: Buffer, engine: _core.Engine | None = None) -> Any:
    """Returns an extension class for torch.distributed.checkpoint that seals every item.

        extension = checkpoint_extension(key=key)
        FileSystemWriter(path, _extensions=[extension()])
        registry = ExtensionRegistry()
        registry.register(extension)
        FileSystemReader(path, _extension_registry=registry)

    key: 16 or 32 bytes. Items of one checkpoint, or of two with one key, can be exchanged without
    notice, as can the file `.metadata`: keep that where it cannot be changed. PyTorch's interface
    is experimental; this needs version 2.7 or later.
    """
    from torch.distributed.checkpoint._extension import StreamTransformExtension

    class SealedStreams(StreamTransformExtension):  # type: ignore[misc]
        @staticmethod
        def registry_name() -> str:
            return "stream.warpseal"

        @staticmethod
        def from_descriptor(version: str) -> SealedStreams:
            if version.partition(".")[0] != "1":
                raise UnsupportedError(f"version {version!r} of sealed streams is not known")
            return SealedStreams()

        def get_descriptor(self) -> str:
            return f"{self.registry_name()}/1"

        def transform_to(self, output: Any) -> Any:
            return files.open(output, "wb", key=key, format="cobblestone", engine=engine)

        def transform_from(self, input: Any) -> Any:  # noqa: A002 - PyTorch's name
            return files.open(
                cast(Source, input), key=key, format="cobblestone", engine=engine
            )

    return SealedStreams
