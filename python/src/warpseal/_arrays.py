"""Memory of arrays: their protocols, the stream of a call, and new arrays like another."""

from __future__ import annotations

import contextlib
import math
import sys
from array import array
from collections.abc import Sequence
from itertools import repeat
from operator import attrgetter, le, mul
from typing import Any, NamedTuple

from warpseal import _core
from warpseal.exceptions import InvalidTag, NoDeviceError

HOST = -1
_CUDA_DEVICES = (2, 13)  # of DLPack: device memory, managed memory
STATUS_BYTES = 4
_LEGACY_STREAM = 1  # name of the default stream in DLPack, where 0 is not allowed

NO_CUDA = (
    "{} lies in the memory of a GPU, and this build of warpseal has no code for GPUs: install a "
    "wheel of `scripts/wheel --gpu`, or copy the array to host memory"
)


_is_cuda, _requires_grad = attrgetter("is_cuda"), attrgetter("requires_grad")

# Memory that a call reads or writes: address, size, and the argument that it belongs to.
Range = tuple[int, int, str]


class Places(NamedTuple):
    """Addresses and sizes of arrays, which stay in place as long as `kept`."""

    addresses: list[int]
    sizes: list[int]
    kept: Any

    def ranges(self, name: str) -> list[Range]:
        return list(zip(self.addresses, self.sizes, repeat(name)))


def library_of(thing: Any) -> str:
    """Returns the top-level module of an array's type: "torch", "cupy", "numpy"."""
    return type(thing).__module__.partition(".")[0]


def gpu_of(thing: Any) -> int:
    """Returns the number of the GPU that holds an array, or HOST."""
    if isinstance(thing, (bytes, bytearray, memoryview)):
        return HOST
    if library_of(thing) == "torch":
        return int(thing.get_device()) if thing.is_cuda else HOST
    if hasattr(thing, "__dlpack_device__"):
        kind, number = thing.__dlpack_device__()
        return int(number) if int(kind) in _CUDA_DEVICES else HOST
    if hasattr(thing, "__cuda_array_interface__"):
        return int(getattr(getattr(thing, "device", None), "id", 0))
    return HOST


def gpu_of_all(things: Sequence[tuple[str, Any]]) -> int:
    """Returns where all of the named arrays lie. ValueError if they do not lie together."""
    first_name, first = things[0]
    place = gpu_of(first)
    for name, thing in things[1:]:
        if gpu_of(thing) != place:
            places = ["host memory" if at == HOST else f"GPU {at}" for at in (place, gpu_of(thing))]
            raise ValueError(
                f"{first_name} lies in {places[0]} and {name} in {places[1]}: move them together"
            )
    return place


def gpu_of_items(items: Sequence[Any], name: str) -> int:
    """gpu_of_all() for the arrays of one argument."""
    if _all_of_torch(items):
        tensor: Any = sys.modules["torch"].Tensor
        if all(map(_is_cuda, items)):
            places = set(map(tensor.get_device, items))
            if len(places) == 1:
                return int(places.pop())
    return gpu_of_all([(name, item) for item in items])


def _all_of_torch(items: Sequence[Any]) -> bool:
    return {one.__module__.partition(".")[0] for one in set(map(type, items))} == {"torch"}


def _handle(stream: Any) -> int:
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, others
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(getattr(handle, "value", handle) or 0)
    raise TypeError("stream: a stream of PyTorch or CuPy, or its handle as an int, is needed")


def stream_of(stream: Any, thing: Any) -> int:
    """Returns the handle of a stream: the given one, or the current one of the array's library."""
    if stream is not None:
        return _handle(stream)
    module: Any = sys.modules.get(library_of(thing))
    if module is None or gpu_of(thing) == HOST:
        return 0
    if library_of(thing) == "torch":
        # A stream's object takes microseconds to make.
        raw = getattr(module._C, "_cuda_getCurrentRawStream", None)
        if raw is not None:
            return int(raw(thing.get_device()))
        return int(module.cuda.current_stream(thing.device).cuda_stream)
    if library_of(thing) == "cupy":
        return int(module.cuda.get_current_stream().ptr)
    return 0


def keep_until_done(thing: Any, stream: int) -> None:
    """Tells PyTorch that a tensor is used on a stream, so that its memory is not given away."""
    if library_of(thing) != "torch" or gpu_of(thing) == HOST:
        return
    torch: Any = sys.modules["torch"]
    if torch.cuda.current_stream(thing.device).cuda_stream != stream:
        thing.record_stream(torch.cuda.ExternalStream(stream, device=thing.device))


def memory_of(
    thing: Any, name: str, *, writable: bool = False, stream: int = 0, current: bool = False
) -> _core.Memory:
    """Returns the memory of a contiguous array. It stays in place as long as the result.

    stream: on which device memory will be used. Work that the array's library has queued elsewhere
    comes before it. current: it is PyTorch's current stream, so its tensors need no waiting.
    """
    gpu = gpu_of(thing)
    if library_of(thing) == "torch" and thing.requires_grad:
        raise BufferError(f"{name} requires grad: give its detach()")
    if gpu == HOST:
        return _core.Memory.from_host(thing, name, writable)
    if not _core.has_cuda:
        raise NoDeviceError(NO_CUDA.format(name))
    if current and _is_plain_tensor(thing):
        size = thing.numel() * thing.element_size()
        return _core.Memory.from_pointer(thing.data_ptr(), size, gpu, thing)
    if hasattr(thing, "__dlpack__"):
        return _core.Memory.from_dlpack(_capsule(thing, stream), name, writable)
    return _by_interface(thing, name, writable, stream)


def _is_plain_tensor(thing: Any) -> bool:
    """True for a tensor of PyTorch whose memory is its content; DLPack refuses others."""
    return library_of(thing) == "torch" and _are_plain([thing])


def _are_plain(tensors: Sequence[Any]) -> bool:
    # Iterators of methods take half as long as a function for each tensor.
    tensor: Any = sys.modules["torch"].Tensor
    return not (
        any(map(_requires_grad, tensors))
        or any(map(tensor.is_conj, tensors))
        or any(map(tensor.is_neg, tensors))
    ) and all(map(tensor.is_contiguous, tensors))


def places_of(
    things: Sequence[Any], name: str, *, writable: bool, stream: int, current: bool
) -> Places:
    """memory_of() for each of many arrays that lie together."""
    if (
        current
        and _core.has_cuda
        and _all_of_torch(things)
        and things[0].is_cuda
        and _are_plain(things)
    ):
        tensor: Any = sys.modules["torch"].Tensor
        sizes = list(map(mul, map(tensor.numel, things), map(tensor.element_size, things)))
        return Places(list(map(tensor.data_ptr, things)), sizes, things)
    kept = [
        memory_of(thing, name, writable=writable, stream=stream, current=current)
        for thing in things
    ]
    return Places([one.address for one in kept], [one.size for one in kept], kept)


def _capsule(thing: Any, stream: int) -> Any:
    handle = stream or _LEGACY_STREAM
    # PyTorch exports tensors of the current GPU alone.
    there: Any = contextlib.nullcontext()
    if library_of(thing) == "torch":
        there = sys.modules["torch"].cuda.device(thing.device)
    with there:
        try:
            return thing.__dlpack__(stream=handle, max_version=(1, 0))
        except TypeError:  # from before DLPack 1.0
            return thing.__dlpack__(stream=handle)


def _by_interface(thing: Any, name: str, writable: bool, stream: int) -> _core.Memory:
    """The CUDA array interface, version 3."""
    face = thing.__cuda_array_interface__
    address, read_only = face["data"]
    if face.get("mask") is not None:
        raise BufferError(f"{name} has a mask: give an array without")
    if writable and read_only:
        raise TypeError(f"{name} is read-only: give an array that can be written")
    item_bytes = int(face["typestr"][2:])
    expected = item_bytes
    shape, strides = face["shape"], face.get("strides")
    for length, stride in zip(reversed(shape), reversed(strides or ()), strict=False):
        if length != 1 and stride != expected and 0 not in shape:
            raise BufferError(f"{name} is not contiguous: give a contiguous copy")
        expected *= length
    theirs = face.get("stream")
    if theirs is not None and theirs != (stream or _LEGACY_STREAM):
        _core.synchronize(None, theirs)
    size = math.prod(shape) * item_bytes
    return _core.Memory.from_pointer(address, size, gpu_of(thing), thing)


def empty_like(thing: Any, name: str) -> Any:
    """Returns a new array of the same shape, type and place. name: the argument it replaces."""
    library = library_of(thing)
    module: Any = sys.modules.get(library)
    if library in ("torch", "numpy"):
        return module.empty_like(thing)
    if library == "cupy":
        with thing.device:
            return module.empty_like(thing)
    if gpu_of(thing) == HOST and isinstance(thing, (bytes, bytearray, memoryview, array)):
        return bytearray(memoryview(thing).nbytes)
    raise TypeError(f"{name}: give an array to write to, as {library} makes none that can be")


def new_array(thing: Any, shape: tuple[int, ...], dtype: str, name: str) -> Any:
    """Returns a new array of bytes or integers where `thing` lies. dtype: "uint8" or "int32"."""
    library = library_of(thing)
    module: Any = sys.modules.get(library)
    if library == "torch":
        return module.empty(shape, dtype=getattr(module, dtype), device=thing.device)
    if library == "numpy":
        return module.empty(shape, dtype)
    if library == "cupy":
        with thing.device:
            return module.empty(shape, dtype)
    if gpu_of(thing) == HOST:
        if dtype == "uint8":
            return memoryview(bytearray(math.prod(shape))).cast("B", shape)
        return memoryview(bytearray(4 * math.prod(shape))).cast("i", shape)
    raise TypeError(f"{name}: give an array to write to, as {library} makes none that can be")


class Scratch:
    """Device memory for one call on a stream: of the array's library, or of the first GPU."""

    def __init__(self, thing: Any, size: int, stream: int, engine: _core.Engine | None) -> None:
        self._engine, self._stream, self._library = engine, stream, library_of(thing)
        self._owner: Any
        if self._library in ("torch", "cupy"):
            self._owner = new_array(thing, (size,), "uint8", "workspace")
            keep_until_done(self._owner, stream)
            self.address = _core.Memory.from_dlpack(
                _capsule(self._owner, stream_of(None, thing)), "workspace", True
            ).address
        elif gpu_of(thing) == 0:
            self._owner = _core.DeviceBuffer(engine, size)
            self.address = self._owner.address
        else:
            raise TypeError(
                "data: lists and associated_data in host memory need arrays of PyTorch or CuPy on "
                "a GPU other than the first"
            )

    def write(self, data: bytes) -> None:
        """Copies from host memory, and waits."""
        # Queued work of the library may still use the memory.
        module: Any = sys.modules.get(self._library)
        if self._library == "torch":
            module.cuda.current_stream(self._owner.device).synchronize()
        elif self._library == "cupy":
            with self._owner.device:
                module.cuda.get_current_stream().synchronize()
        _core.upload(self._engine, self.address, data)

    def release(self) -> None:
        """Lets the owner of the memory reuse it once the work on the stream is done."""
        if self._library == "cupy":
            cuda: Any = sys.modules["cupy"].cuda
            with self._owner.device:
                now = cuda.get_current_stream()
                if now.ptr != self._stream:
                    now.wait_event(cuda.ExternalStream(self._stream).record())
        elif self._library != "torch" and self._stream != 0:
            _core.synchronize(self._engine, self._stream)


def numbers_of(
    statuses: Any, memory: _core.Memory, engine: _core.Engine | None, stream: int
) -> list[int]:
    """Returns the integers of a status array, after the work on the stream that writes them."""
    if memory.device != HOST:
        _core.synchronize(engine, stream)
    if hasattr(statuses, "tolist"):
        return [int(status) for status in statuses.tolist()]
    if memory.device == HOST:
        return list(memoryview(statuses).cast("B").cast("i"))
    values = array("i")
    values.frombytes(_core.download(engine, memory.address, memory.size))
    return list(values)


def check_statuses(
    statuses: Any, stream: int, engine: _core.Engine | None, *, current: bool
) -> None:
    """Raises InvalidTag unless all statuses are 0.

    current: the stream is PyTorch's current one, which its copies to the host follow.
    """
    if current and library_of(statuses) == "torch":
        try:
            numbers = statuses.reshape(-1).tolist()
        except RuntimeError:
            # PyTorch raises it where the GPU is lost. Then this call raises a NoDeviceError.
            _core.download(engine, statuses.data_ptr(), STATUS_BYTES)
            raise
    else:
        memory = memory_of(statuses, "statuses", stream=stream)
        numbers = numbers_of(statuses, memory, engine, stream)
    if any(numbers):
        failed = [i for i, status in enumerate(numbers) if status != 0]
        some = ", ".join(map(str, failed[:5])) + (", ..." if len(failed) > 5 else "")
        raise InvalidTag(f"{len(failed)} of the messages do not verify: {some}")


def check_status_type(statuses: Any) -> None:
    """TypeError unless an array has integers of 4 bytes; a bytearray has them by its content."""
    if isinstance(statuses, bytearray):
        return
    dtype = getattr(statuses, "dtype", None)
    if dtype is not None:
        right = str(dtype).rpartition(".")[2] in ("int32", "uint32")
    elif hasattr(statuses, "__cuda_array_interface__"):
        right = statuses.__cuda_array_interface__["typestr"][1:] in ("i4", "u4")
    else:
        try:
            view = memoryview(statuses)
        except TypeError:
            right = False
        else:
            right = view.itemsize == STATUS_BYTES and view.format.lstrip("@=<") in tuple("iIlL")
    if not right:
        raise TypeError("statuses: an array of int32 is needed")


def check_apart(written: Sequence[Range], read: Sequence[Range]) -> None:
    """Checks that no written range shares a byte with another one.

    `out` may be `data` as a whole.
    """
    in_place = {one[:2] for one in written if one[2] == "out"} if read else set()
    ranges = [(*one, True) for one in written if one[1]]
    ranges += [
        (*one, False) for one in read if one[1] and not (one[2] == "data" and one[:2] in in_place)
    ]
    ranges.sort()
    ends = [address + size for address, size, _, _ in ranges]
    if all(map(le, ends, (one[0] for one in ranges[1:]))):
        return
    end, end_name, written_end, written_name = 0, "", 0, ""
    for address, size, name, writes in ranges:
        limit, other = (end, end_name) if writes else (written_end, written_name)
        if address < limit:
            raise ValueError(f"{name} and {other} overlap: use separate memory")
        if address + size > end:
            end, end_name = address + size, name
        if writes and address + size > written_end:
            written_end, written_name = address + size, name
