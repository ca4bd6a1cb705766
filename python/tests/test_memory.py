"""Memory of arrays: capsules of DLPack, old and new, and what they keep alive."""

from __future__ import annotations

import sys
from typing import Any

import numpy
import pytest
from warpseal import _core
from warpseal._arrays import gpu_of, gpu_of_all, memory_of


def capsule(array: numpy.ndarray[Any, Any], versioned: bool = True) -> Any:
    return array.__dlpack__(max_version=(1, 0)) if versioned else array.__dlpack__()


@pytest.mark.parametrize("versioned", [True, False])
def test_capsules(versioned: bool) -> None:
    array = numpy.arange(24, dtype="u4").reshape(2, 3, 4)
    memory = _core.Memory.from_dlpack(capsule(array, versioned), "data", True)
    assert memory.address == array.ctypes.data and memory.size == 96 and memory.device == -1
    assert memory.view() == memoryview(array).cast("B")
    for empty in (numpy.zeros((2, 0)), numpy.zeros(())):
        assert _core.Memory.from_dlpack(capsule(empty, versioned), "x", True).size == empty.nbytes


def test_a_slice_begins_at_its_offset() -> None:
    array = numpy.arange(100, dtype="u1")[17:50]
    memory = _core.Memory.from_dlpack(capsule(array), "data", False)
    assert bytes(memory.view()) == array.tobytes()


def test_refused_capsules() -> None:
    array = numpy.zeros((4, 4))
    with pytest.raises(BufferError, match="data is not contiguous"):
        _core.Memory.from_dlpack(capsule(array.T[:2]), "data", False)
    readonly = numpy.zeros(4)
    readonly.flags.writeable = False
    assert _core.Memory.from_dlpack(capsule(readonly), "data", False).size == 32
    with pytest.raises(TypeError, match="out is read-only"):
        _core.Memory.from_dlpack(capsule(readonly), "out", True)
    for thing in (5, b"bytes"):
        with pytest.raises(BufferError, match="no capsule"):
            _core.Memory.from_dlpack(thing, "data", False)
    used = capsule(array)
    _core.Memory.from_dlpack(used, "data", False)
    with pytest.raises(BufferError, match="no capsule"):
        _core.Memory.from_dlpack(used, "data", False)


def test_arrays_are_released() -> None:
    array = numpy.zeros(100)
    before = sys.getrefcount(array)
    for versioned in (True, False):
        for _ in range(50):
            memory = _core.Memory.from_dlpack(capsule(array, versioned), "data", True)
            assert sys.getrefcount(array) == before + 1
            del memory
            with pytest.raises(BufferError):
                _core.Memory.from_dlpack(capsule(array.reshape(10, 10).T, versioned), "data", False)
    owner = bytearray(10)
    count = sys.getrefcount(owner)
    pointed = _core.Memory.from_pointer(4096, 10, 0, owner)
    assert sys.getrefcount(owner) == count + 1 and pointed.device == 0
    with pytest.raises(ValueError, match="no view in host memory"):
        pointed.view()
    del pointed
    assert sys.getrefcount(array) == before and sys.getrefcount(owner) == count


def test_places() -> None:
    class OnDevice:
        def __init__(self, kind: int, number: int) -> None:
            self.device = kind, number

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.device

    assert [gpu_of(OnDevice(kind, 3)) for kind in (1, 2, 3, 13)] == [-1, 3, -1, 3]
    assert gpu_of(b"") == gpu_of(numpy.zeros(3)) == -1
    with pytest.raises(ValueError, match="a lies in GPU 1 and b in GPU 2: move them together"):
        gpu_of_all([("a", OnDevice(2, 1)), ("b", OnDevice(2, 2))])
    assert bytes(memory_of(b"text", "data").view()) == b"text"
    assert memory_of(bytearray(0), "data", writable=True).size == 0
