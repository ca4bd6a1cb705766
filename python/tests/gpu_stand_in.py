"""A stand-in for a GPU: arrays that say they lie on one, in memory of NumPy.

The extension runs their batches on the cores. So the tests see which addresses, tables and streams
the package gives to a GPU.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy
import pytest
from warpseal import _core


class CudaArray:
    """An array with the CUDA array interface alone."""

    def __init__(self, array: numpy.ndarray[Any, Any], **changes: Any) -> None:
        self.array, self.changes = array, changes

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        face: dict[str, Any] = {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data, not self.array.flags.writeable),
            "version": 3,
            "strides": None if self.array.flags.c_contiguous else self.array.strides,
        }
        return face | self.changes


class Buffer:
    """Device memory of the extension."""

    def __init__(self, engine: object, size: int) -> None:
        self.memory = numpy.zeros(size, "u1")
        self.address = self.memory.ctypes.data


class StandIn:
    """What the package asked of the GPU."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.streams: list[int] = []  # of batches
        self.waits: list[int] = []  # streams that were waited for
        self.uploads = 0
        self.failure: Exception | None = None  # of batches
        self.real_key = _core.ArrayKey
        patch.setattr(_core, "has_cuda", True)
        patch.setattr(_core, "DeviceBuffer", Buffer)
        patch.setattr(_core, "upload", self.upload)
        patch.setattr(_core, "download", self.download)
        patch.setattr(_core, "synchronize", lambda engine, stream: self.waits.append(stream))
        patch.setattr(_core, "ArrayKey", self.key)
        self.patch = patch

    def upload(self, engine: object, address: int, data: bytes) -> None:
        self.uploads += 1
        ctypes.memmove(address, data, len(data))

    def download(self, engine: object, address: int, size: int) -> bytes:
        return ctypes.string_at(address, size)

    def key(self, *arguments: Any) -> Key:
        return Key(self, self.real_key(*arguments))


class Key:
    def __init__(self, gpu: StandIn, real: Any) -> None:
        self.gpu, self.real = gpu, real

    def run(self, operation: str, fields: dict[str, int], device: bool, stream: int) -> bool:
        if device:
            self.gpu.streams.append(stream)
            # The library refuses such a batch without statuses.
            assert fields.get("statuses") or not fields.keys() & {"lengths", "aad_lengths"}
        if self.gpu.failure is not None:
            raise self.gpu.failure
        return bool(self.real.run(operation, fields, False, 0))

    def workspace(self, fields: dict[str, int]) -> int:
        return 16 * fields["message_count"]


def on_gpu(*arrays: numpy.ndarray[Any, Any]) -> list[CudaArray]:
    return [CudaArray(array) for array in arrays]
