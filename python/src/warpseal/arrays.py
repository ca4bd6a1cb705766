"""Authenticated encryption of arrays, in host memory or on a GPU.

NumPy, PyTorch, CuPy, JAX and whatever else has the buffer protocol, DLPack or the CUDA array
interface. Nothing is copied. On a GPU the calls are asynchronous on a stream, by default the
current one of the arrays' library.
"""

from __future__ import annotations

import itertools
from array import array
from typing import Any, NamedTuple

from warpseal import _core
from warpseal._arrays import (
    HOST,
    STATUS_BYTES,
    Places,
    Range,
    Scratch,
    check_apart,
    check_status_type,
    check_statuses,
    empty_like,
    gpu_of,
    gpu_of_all,
    gpu_of_items,
    keep_until_done,
    library_of,
    memory_of,
    new_array,
    places_of,
    stream_of,
)
from warpseal._types import Data
from warpseal.exceptions import LimitExceededError

__all__ = ["AEAD", "Opened", "Sealed", "raise_if_failed"]

NONCE_BYTES = 12
_TABLE_ALIGNMENT = 16


class Sealed(NamedTuple):
    """Sealed arrays: one, or a list; with a nonce of 12 bytes and a tag for each message."""

    data: Any
    nonces: Any
    tags: Any


class Opened(NamedTuple):
    """Opened arrays, and a status for each message: 0 if it is authentic. Others are zeros."""

    data: Any
    statuses: Any


# Bytes of a message under a nonce of 12 bytes: SP 800-38D, SP 800-38C.
_MOST_TEXT_BYTES = {"gcm": (1 << 36) - 32, "ccm": (1 << 24) - 1}


def raise_if_failed(statuses: Any, *, stream: Any = None) -> None:
    """Waits for an open(check=False) on a GPU. InvalidTag names the messages that do not verify.

    stream: that of the open().
    """
    check_statuses(statuses, stream_of(stream, statuses), None, current=False)


class AEAD:
    """One key, in GCM or CCM. Any number of threads may use it.

    key: 16, 24 or 32 bytes. cipher: "aes", "aria", "camellia", or a full name, "sm4-128".
    """

    def __init__(
        self,
        key: Data,
        *,
        cipher: str = "aes",
        mode: str = "gcm",
        tag_length: int = 16,
        engine: _core.Engine | None = None,
    ) -> None:
        size = memory_of(key, "key").size
        if size not in (16, 24, 32):
            raise ValueError(f"key must be 16, 24 or 32 bytes, this has {size}")
        name = cipher if "-" in cipher else f"{cipher}-{8 * size}"
        self._key = _core.ArrayKey(name, mode, key, tag_length, engine)
        self._mode = mode
        self._tag_bytes = tag_length
        self._engine = engine

    def seal(
        self,
        data: Any,
        *,
        out: Any = None,
        nonces: Any = None,
        tags: Any = None,
        unsafe_nonces: Any = None,
        associated_data: Any = None,
        rows: bool = False,
        workspace: Any = None,
        stream: Any = None,
    ) -> Sealed:
        """Seals an array, each array of a list, or with `rows` each row of an array.

        out: `data` itself, or arrays of the same sizes; by default new ones.
        nonces, tags: arrays of bytes that receive 12, or tag_length, bytes for each message; by
        default new ones.
        unsafe_nonces: nonces of the caller, never one twice. associated_data: bytes for all
        messages, or a list of one for each.
        workspace: device memory of workspace_bytes(); with it, and without a list or
        associated_data of bytes, a call on a GPU neither allocates nor waits, as CUDA graphs need.
        LimitExceededError: 2^32 nonces were drawn under this key.
        """
        batch = _Batch(self, data, out, rows, associated_data, stream)
        tags = batch.put("tags", tags, self._tag_bytes, writable=True)
        if unsafe_nonces is not None:
            nonces = batch.put("unsafe_nonces", unsafe_nonces, NONCE_BYTES)
        else:
            nonces = batch.put("nonces", nonces, NONCE_BYTES, writable=True)
        batch.put_workspace(workspace)
        batch.run("seal" if unsafe_nonces is None else "seal_unsafe_iv")
        return Sealed(batch.result, nonces, tags)

    def open(
        self,
        sealed: Sealed,
        *,
        out: Any = None,
        statuses: Any = None,
        associated_data: Any = None,
        rows: bool = False,
        workspace: Any = None,
        stream: Any = None,
        check: bool = True,
    ) -> Opened:
        """Opens what seal() returned. Messages that do not verify become zeros.

        out: `sealed.data` itself, or arrays of the same sizes; by default new ones.
        check: waits and raises InvalidTag. Without it the statuses tell, or raise_if_failed().
        Other arguments are those of seal().
        """
        batch = _Batch(self, sealed.data, out, rows, associated_data, stream)
        batch.put("tags", sealed.tags, self._tag_bytes)
        batch.put("nonces", sealed.nonces, NONCE_BYTES)
        statuses = batch.put_statuses(statuses)
        batch.put_workspace(workspace)
        batch.run("open")
        if check:
            current = batch.is_on_current_stream
            check_statuses(statuses, batch.stream, self._engine, current=current)
        return Opened(batch.result, statuses)

    def workspace_bytes(self, data: Any, *, rows: bool = False) -> int:
        """Returns the bytes of workspace that calls on a GPU use for such arrays."""
        batch = _Batch(self, data, data, rows, None, None)
        return self._key.workspace(batch.fields) if batch.gpu != HOST else 0


def _shape_of(array: Any) -> tuple[int, ...]:
    shape = getattr(array, "shape", None)
    if shape is None:
        shape = getattr(array, "__cuda_array_interface__", {}).get("shape", ())
    return tuple(shape)


class _Batch:
    """The arrays of one call, and the fields of the library's batch that describe them."""

    def __init__(
        self, aead: AEAD, data: Any, out: Any, rows: bool, associated_data: Any, stream: Any
    ) -> None:
        several = isinstance(data, (list, tuple))
        if several and rows:
            raise ValueError("rows: data is one array then, not a list")
        if several and not data:
            raise ValueError("data: the list is empty")
        self._aead, self._several = aead, several
        self._arrays = list(data) if several else [data]
        self.gpu = gpu_of_items(self._arrays, "data")
        self.stream = stream_of(stream, self._arrays[0])
        self.is_on_current_stream = (
            stream is None and self.gpu != HOST and library_of(self._arrays[0]) == "torch"
        )
        self._in_place = out is data
        self._inputs = self._places(self._arrays, "data", self._in_place)
        self._outputs = self._output_arrays(out)
        made: Any = self._outputs if several else self._outputs[0]
        self.result: Any = made if out is None else out
        self._written = (
            self._inputs if self._in_place else self._places(self._outputs, "out", True)
        )
        self.fields: dict[str, int] = {}
        self._ranges: tuple[list[Range], list[Range]] = ([], [])  # written, read
        self._kept: list[Any] = [self._inputs, self._written]  # in place until the call returns
        self._scratch: Scratch | None = None
        self.count = self._describe(rows)
        self._put_text(associated_data)

    def _output_arrays(self, out: Any) -> list[Any]:
        if self._in_place:
            return self._arrays
        if out is None:
            return [empty_like(item, "out") for item in self._arrays]
        outputs = list(out) if self._several else [out]
        if len(outputs) != len(self._arrays):
            raise ValueError(f"out has {len(outputs)} arrays, and data has {len(self._arrays)}")
        if gpu_of_items(outputs, "out") != self.gpu:
            gpu_of_all([("data", self._arrays[0]), ("out", outputs[0])])
        return outputs

    def _places(self, items: list[Any], name: str, writable: bool) -> Places:
        if self.gpu != HOST and not self.is_on_current_stream:
            for item in items:
                keep_until_done(item, self.stream)
        current = self.is_on_current_stream
        return places_of(items, name, writable=writable, stream=self.stream, current=current)

    def _describe(self, rows: bool) -> int:
        sizes, others = self._inputs.sizes, self._written.sizes
        if sizes != others:
            i = next(i for i, size in enumerate(sizes) if size != others[i])
            raise ValueError(f"out[{i}] has {others[i]} bytes, and data has {sizes[i]}")
        if not rows:
            return len(self._arrays)
        shape = _shape_of(self._arrays[0])
        if not shape:
            raise ValueError("rows: data has no first axis")
        return int(shape[0])

    def _put_text(self, associated_data: Any) -> None:
        fields, count = self.fields, self.count
        fields["message_count"] = count
        if self._several:
            self._put_tables(associated_data)
        else:
            size = self._inputs.sizes[0] // count if count else 0
            fields["message_bytes"] = size
            fields["in"], fields["in_stride"] = self._inputs.addresses[0], size
            fields["out"], fields["out_stride"] = self._written.addresses[0], size
            if associated_data is not None:
                self._put_tables(associated_data)
        written, read = self._ranges
        written += self._written.ranges("out")
        if not self._in_place:
            read += self._inputs.ranges("data")

    def _put_tables(self, associated_data: Any) -> None:
        """Lengths and pointers of a list, and associated data: arrays where the messages lie."""
        tables: dict[str, list[int]] = {}
        if self._several:
            tables["lengths"] = self._inputs.sizes
            # A GPU chooses its kernels by the mean length.
            self.fields["message_bytes"] = sum(self._inputs.sizes) // max(self.count, 1)
            tables["in_pointers"] = self._inputs.addresses
            tables["out_pointers"] = self._written.addresses
        aads = self._associated(associated_data)
        if self.gpu == HOST:
            if len(aads) == 1 and not isinstance(associated_data, (list, tuple)):
                self.fields["aad"], self.fields["aad_bytes"] = aads[0].address, aads[0].size
            elif aads:
                tables["aad_pointers"] = [aad.address for aad in aads]
                tables["aad_lengths"] = [aad.size for aad in aads]
            for name, values in tables.items():
                numbers = array("Q", values)
                self._kept.append(numbers)
                self.fields[name] = numbers.buffer_info()[0]
            return
        self._upload(tables, aads, shared=not isinstance(associated_data, (list, tuple)))

    def _associated(self, associated_data: Any) -> list[_core.Memory]:
        if associated_data is None:
            return []
        if not isinstance(associated_data, (list, tuple)):
            items = [associated_data]
        else:
            items = list(associated_data)
            if len(items) != self.count:
                raise ValueError(
                    f"associated_data has {len(items)} items, and there are {self.count} messages"
                )
        for item in items:
            if gpu_of(item) != HOST and not self.is_on_current_stream:
                keep_until_done(item, self.stream)
        aads = [
            memory_of(item, "associated_data", stream=self.stream if gpu_of(item) != HOST else 0)
            for item in items
        ]
        if self.gpu == HOST and any(aad.device != HOST for aad in aads):
            raise ValueError("associated_data lies on a GPU, and data in host memory")
        self._ranges[1].extend((aad.address, aad.size, "associated_data") for aad in aads)
        self._kept.append(aads)
        return aads

    def _upload(self, tables: dict[str, list[int]], aads: list[_core.Memory], shared: bool) -> None:
        """Copies tables, and associated data of host memory, to the GPU by one copy.

        With tables there are statuses. The caller may replace them.
        """
        # A GPU would leave a longer message as it is, and say so in its status alone.
        most = _MOST_TEXT_BYTES[self._aead._mode]
        lengths = tables.get("lengths", [0])
        if max(lengths) > most:
            i = next(i for i, size in enumerate(lengths) if size > most)
            raise LimitExceededError(f"data[{i}] has {lengths[i]} bytes, and {most} are the most")
        if shared and len(aads) == 1 and aads[0].device != HOST and not tables:
            self.fields["aad"], self.fields["aad_bytes"] = aads[0].address, aads[0].size
            return
        texts = [b"" if aad.device != HOST else bytes(aad.view()) for aad in aads]
        begins = list(itertools.accumulate(map(len, texts), initial=0))
        names = [*tables] + (["aad_pointers", "aad_lengths"] if aads and not shared else [])
        table_bytes = 8 * self.count
        statuses = len(names) * table_bytes  # their offset
        end = statuses + (STATUS_BYTES * self.count if names else 0)
        first_text = -(-end // _TABLE_ALIGNMENT) * _TABLE_ALIGNMENT
        scratch = Scratch(
            self._arrays[0], first_text + begins[-1] + 1, self.stream, self._aead._engine
        )
        places = [
            aad.address if aad.device != HOST else scratch.address + first_text + begin
            for aad, begin in zip(aads, begins, strict=False)
        ]
        if aads and shared:
            self.fields["aad"], self.fields["aad_bytes"] = places[0], aads[0].size
        elif aads:
            tables["aad_pointers"], tables["aad_lengths"] = places, [aad.size for aad in aads]
        image = b"".join(array("Q", tables[name]).tobytes() for name in names)
        scratch.write(image.ljust(first_text, b"\0") + b"".join(texts))
        for i, name in enumerate(names):
            self.fields[name] = scratch.address + i * table_bytes
        if names:
            self.fields["statuses"] = scratch.address + statuses
        self._scratch = scratch

    def put(self, name: str, given: Any, item_bytes: int, *, writable: bool = False) -> Any:
        """Adds an array with `item_bytes` bytes for each message. Makes one if none is given."""
        if given is None:
            given = new_array(self._arrays[0], (self.count, item_bytes), "uint8", name)
        memory = self._together(name, given, writable)
        if memory.size != self.count * item_bytes:
            raise ValueError(
                f"{name} has {memory.size} bytes: {self.count} messages need {item_bytes} each"
            )
        part = "tag" if name == "tags" else "iv"
        self.fields["tags" if part == "tag" else "ivs"] = memory.address
        self.fields[f"{part}_stride"] = item_bytes
        self._ranges[0 if writable else 1].append((memory.address, memory.size, name))
        return given

    def put_statuses(self, given: Any) -> Any:
        if given is None:
            given = new_array(self._arrays[0], (self.count,), "int32", "statuses")
        check_status_type(given)
        memory = self._together("statuses", given, True)
        if memory.size != STATUS_BYTES * self.count:
            raise ValueError(f"statuses has {memory.size} bytes: give {self.count} int32")
        self.fields["statuses"] = memory.address
        self._ranges[0].append((memory.address, memory.size, "statuses"))
        return given

    def put_workspace(self, given: Any) -> None:
        if given is None or self.gpu == HOST:
            return
        memory = self._together("workspace", given, True)
        self.fields["workspace"], self.fields["workspace_bytes"] = memory.address, memory.size
        self._ranges[0].append((memory.address, memory.size, "workspace"))

    def _together(self, name: str, given: Any, writable: bool) -> _core.Memory:
        gpu_of_all([("data", self._arrays[0]), (name, given)])
        if self.gpu != HOST and not self.is_on_current_stream:
            keep_until_done(given, self.stream)
        current = self.is_on_current_stream
        memory = memory_of(given, name, writable=writable, stream=self.stream, current=current)
        self._kept.append(memory)
        return memory

    def run(self, operation: str) -> None:
        check_apart(*self._ranges)
        try:
            self._aead._key.run(operation, self.fields, self.gpu != HOST, self.stream)
        finally:  # a call that fails may have queued kernels that read the tables
            if self._scratch is not None:
                self._scratch.release()
