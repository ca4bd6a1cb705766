"""Arrays as arguments: by the buffer protocol, and by DLPack alone as PyTorch's tensors."""

from __future__ import annotations

import sys
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warpseal.aead import AESGCM, Cobblestone128Encryptor

KEY, NONCE = bytes(16), bytes(12)


class Tensor:
    """An array that has DLPack and no buffer."""

    def __init__(self, array: numpy.ndarray[Any, Any], device: int = 1) -> None:
        self.array, self.device, self.exports = array, device, 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        self.exports += 1
        return self.array.__dlpack__(**options)


class OldTensor(Tensor):
    """As before DLPack 1.0."""

    def __dlpack__(self, *, stream: None = None) -> Any:  # type: ignore[override]
        return self.array.__dlpack__(stream=stream)


def seal(data: Any) -> bytes:
    return AESGCM(KEY).encrypt(NONCE, data, None)


@pytest.mark.parametrize("dtype", ["u1", "i8", "f2", "f4", "c16", "?"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4, 5), (2, 0)])
def test_shapes_and_types(dtype: str, shape: tuple[int, ...]) -> None:
    array = numpy.arange(numpy.prod(shape)).reshape(shape).astype(dtype)
    expected = seal(array.tobytes())
    assert seal(array) == expected
    assert seal(Tensor(array)) == expected
    assert seal(OldTensor(array)) == expected
    assert AESGCM(KEY).encrypt(NONCE, b"", Tensor(array)) == AESGCM(KEY).encrypt(
        NONCE, b"", array.tobytes()
    )


@given(offset=st.integers(0, 100), count=st.integers(0, 100))
def test_slices_begin_where_they_begin(offset: int, count: int) -> None:
    array = numpy.arange(200, dtype="u2")[offset : offset + count]
    assert seal(Tensor(array)) == seal(array.tobytes())


def test_output() -> None:
    array = numpy.arange(1000, dtype="u4")
    expected = seal(array.tobytes())
    out = numpy.zeros(4016, "u1")
    assert AESGCM(KEY).encrypt_into(NONCE, Tensor(array), None, Tensor(out)) == 4016
    assert out.tobytes() == expected
    back = numpy.zeros((10, 100), "u4")
    AESGCM(KEY).decrypt_into(NONCE, Tensor(out), None, Tensor(back))
    assert (back.ravel() == array).all()
    # In place, in one array.
    memory = numpy.concatenate([array.view("u1"), numpy.zeros(16, "u1")])
    AESGCM(KEY).encrypt_into(NONCE, Tensor(memory[:4000]), None, Tensor(memory))
    assert memory.tobytes() == expected
    with pytest.raises(ValueError, match="buf and data overlap"):
        AESGCM(KEY).encrypt_into(NONCE, Tensor(memory[16:]), None, Tensor(memory))


def test_updates() -> None:
    encryptor = Cobblestone128Encryptor(KEY, b"")
    assert len(encryptor.update(Tensor(numpy.zeros(20_000, "u1")))) == 56 + 16384 + 16


def test_refusals() -> None:
    array = numpy.zeros((10, 10), "u1")
    with pytest.raises(BufferError, match="data is not contiguous"):
        seal(Tensor(array.T[:5]))
    for device in (2, 13):
        with pytest.raises(BufferError, match="data lies in device memory: copy it"):
            seal(Tensor(array, device))
    assert seal(Tensor(array, 3)) == seal(array)
    readonly = numpy.zeros(116, "u1")
    readonly.flags.writeable = False
    assert seal(Tensor(readonly)) == seal(bytes(116))
    with pytest.raises(TypeError, match="buf is read-only"):
        AESGCM(KEY).encrypt_into(NONCE, bytes(100), None, Tensor(readonly))

    class Graph(Tensor):
        def __dlpack__(self, **options: Any) -> Any:
            raise RuntimeError("use tensor.detach()")

    with pytest.raises(RuntimeError, match="detach"):
        seal(Graph(array))


def test_arrays_are_released() -> None:
    array = numpy.zeros(100, "u1")
    before = sys.getrefcount(array)
    for _ in range(100):
        seal(Tensor(array))
        AESGCM(KEY).encrypt_into(NONCE, bytes(84), None, Tensor(array))
    assert sys.getrefcount(array) == before
