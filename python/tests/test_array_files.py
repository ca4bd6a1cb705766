"""Sealed files of the memory of arrays: seal_array, open_into and SealedReader.read_into."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy
import pytest
import warpseal
from gpu_stand_in import CudaArray, StandIn

KEY = bytes(32)
CHUNK = 16384


@pytest.fixture
def array() -> numpy.ndarray[Any, Any]:
    return numpy.random.default_rng(1).random(100_000)


def test_round_trip(tmp_path: pathlib.Path, array: numpy.ndarray[Any, Any]) -> None:
    target = tmp_path / "array.ws"
    seen: list[tuple[int, int | None]] = []
    result = warpseal.seal_array(
        array, target, key=KEY, progress=lambda done, total: seen.append((done, total))
    )
    assert result.plaintext_bytes == array.nbytes
    assert result.file_bytes == target.stat().st_size
    assert seen[-1] == (array.nbytes, array.nbytes)
    out = numpy.zeros_like(array)
    assert warpseal.open_into(target, out, key=KEY) == array.nbytes
    assert (out == array).all()
    part = numpy.zeros(1000)
    assert warpseal.open_into(target, part, 8 * 5000, key=KEY) == 8000
    assert (part == array[5000:6000]).all()
    # The text ends within the array, and before it.
    part[:] = 1
    assert warpseal.open_into(target, part, array.nbytes - 80, key=KEY) == 80
    assert (part[:10] == array[-10:]).all() and (part[10:] == 1).all()
    assert warpseal.open_into(target, part, array.nbytes + 5, key=KEY) == 0
    with pytest.raises(FileExistsError):
        warpseal.seal_array(array, target, key=KEY)
    warpseal.seal_array(array[:10], target, key=KEY, overwrite=True)
    assert warpseal.info(target).plaintext_bytes == 80


def test_other_formats(tmp_path: pathlib.Path, array: numpy.ndarray[Any, Any]) -> None:
    target = tmp_path / "array.ws"
    options: dict[str, Any] = {"key": KEY, "format": "cobblestone", "context": b"context"}
    warpseal.seal_array(array, target, **options)
    out = numpy.zeros_like(array)
    warpseal.open_into(target, out, **options)
    assert (out == array).all()


def test_recipients(tmp_path: pathlib.Path, array: numpy.ndarray[Any, Any]) -> None:
    target = tmp_path / "array.ws"
    identity, recipient = warpseal.generate_identity()
    warpseal.seal_array(array, target, recipients=[recipient])
    out = numpy.zeros_like(array)
    warpseal.open_into(target, out, identities=[identity])
    assert (out == array).all()
    other, _ = warpseal.generate_identity()
    with pytest.raises(warpseal.WrongKeyError):
        warpseal.open_into(target, out, identities=[other])


def test_a_changed_chunk_leaves_zeros(
    tmp_path: pathlib.Path, array: numpy.ndarray[Any, Any]
) -> None:
    target = tmp_path / "array.ws"
    warpseal.seal_array(array, target, key=KEY)
    content = bytearray(target.read_bytes())
    content[-50_000] ^= 1
    target.write_bytes(content)
    out = numpy.ones_like(array)
    with pytest.raises(warpseal.InvalidTag, match="chunk"):
        warpseal.open_into(target, out, key=KEY)
    assert not out.any()
    with warpseal.open(target, key=KEY) as file:
        assert file.read_into(0, out[:1000]) == 8000
    assert (out[:1000] == array[:1000]).all()


def test_refusals(tmp_path: pathlib.Path, array: numpy.ndarray[Any, Any]) -> None:
    target = tmp_path / "array.ws"
    with pytest.raises(BufferError, match="array is not contiguous"):
        warpseal.seal_array(array[::2], target, key=KEY)
    with pytest.raises(TypeError, match="array: a bytes-like object"):
        warpseal.seal_array(7, target, key=KEY)
    assert not target.exists()
    warpseal.seal_array(array, target, key=KEY)
    with warpseal.open(target, key=KEY) as file:
        with pytest.raises(TypeError, match="array is read-only"):
            file.read_into(0, bytes(10))
        with pytest.raises(ValueError, match="offset must not be negative"):
            file.read_into(-1, bytearray(10))
    with pytest.raises(ValueError, match="closed"):
        file.read_into(0, bytearray(10))


def test_memory_of_a_gpu_goes_to_the_device_calls(
    tmp_path: pathlib.Path, gpu: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []

    def seal(*arguments: Any) -> tuple[int, int, str, bool]:
        calls.append(arguments)
        return arguments[1], 100, "cuda", False

    monkeypatch.setattr("warpseal._core.seal_from_device", seal)
    array = CudaArray(numpy.zeros(64, "u1"))
    result = warpseal.seal_array(array, tmp_path / "x.ws", key=KEY, stream=9)
    address = array.array.ctypes.data
    assert result.plaintext_bytes == 64 and calls[0][:3] == (address, 64, 9)
    assert (tmp_path / "x.ws").exists()


def test_an_engine_of_cores_refuses_a_gpu(tmp_path: pathlib.Path, gpu: StandIn) -> None:
    warpseal.seal_array(bytes(100), tmp_path / "x.ws", key=KEY)
    with (
        warpseal.open(tmp_path / "x.ws", key=KEY, engine=warpseal.Engine("cpu")) as file,
        pytest.raises(warpseal.NoDeviceError, match="the engine has no GPU"),
    ):
        file.read_into(0, CudaArray(numpy.zeros(64, "u1")))
