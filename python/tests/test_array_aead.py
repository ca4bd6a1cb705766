"""warpseal.arrays in host memory, beside pyca's cryptography, and on a stand-in for a GPU."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy
import pytest
import warpseal
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from gpu_stand_in import CudaArray, StandIn, on_gpu
from hypothesis import given
from hypothesis import strategies as st
from warpseal import _core
from warpseal._arrays import check_apart, check_statuses
from warpseal.arrays import AEAD, Opened, Sealed, raise_if_failed

KEY = bytes(range(32))


def bytes_of(thing: Any) -> bytes:
    return bytes(thing.tobytes()) if hasattr(thing, "tobytes") else bytes(thing)


def opened_by_pyca(sealed: Sealed, aad: bytes | None = None, rows: bool = False) -> list[bytes]:
    data = list(sealed.data) if rows or isinstance(sealed.data, list) else [sealed.data]
    return [
        AESGCM(KEY).decrypt(
            bytes_of(nonce), bytes_of(one) + bytes_of(tag), aad
        )
        for one, nonce, tag in zip(
            data, numpy.asarray(sealed.nonces), numpy.asarray(sealed.tags), strict=True
        )
    ]


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=12), st.booleans())
def test_pyca_opens_lists(texts: list[bytes], in_place: bool) -> None:
    arrays = [bytearray(text) for text in texts]
    sealed = AEAD(KEY).seal(arrays, out=arrays if in_place else None)
    assert opened_by_pyca(sealed) == texts
    assert (sealed.data is arrays) == in_place
    opened = AEAD(KEY).open(sealed)
    assert [bytes(one) for one in opened.data] == texts
    assert list(opened.statuses) == [0] * len(texts)


@pytest.mark.parametrize("dtype", ["u1", "f2", "i8", "c16", "?"])
def test_arrays_keep_their_type(dtype: str) -> None:
    array = numpy.arange(600).reshape(10, 60).astype(dtype)
    for rows in (False, True):
        sealed = AEAD(KEY).seal(array, rows=rows)
        assert sealed.data.dtype == array.dtype and sealed.data.shape == array.shape
        assert numpy.asarray(sealed.nonces).shape == ((10 if rows else 1), 12)
        assert numpy.asarray(sealed.tags).shape == ((10 if rows else 1), 16)
        texts = [row.tobytes() for row in array] if rows else [array.tobytes()]
        assert opened_by_pyca(sealed, rows=rows) == texts
        back = AEAD(KEY).open(sealed, rows=rows)
        assert back.data.dtype == array.dtype and (back.data == array).all()


def test_in_place_and_given_outputs() -> None:
    array = numpy.arange(100, dtype="f8")
    before = array.copy()
    nonces, tags = numpy.zeros((1, 12), "u1"), numpy.zeros((1, 16), "u1")
    sealed = AEAD(KEY).seal(array, out=array, nonces=nonces, tags=tags)
    assert sealed.data is array and sealed.nonces is nonces and sealed.tags is tags
    assert (array != before).any() and nonces.any() and tags.any()
    other = numpy.zeros(100)
    statuses = numpy.full(1, 9, "i4")
    opened = AEAD(KEY).open(sealed, out=other, statuses=statuses)
    assert opened.data is other and (other == before).all() and statuses[0] == 0
    AEAD(KEY).open(sealed, out=array)
    assert (array == before).all()


def test_associated_data() -> None:
    arrays = [numpy.full(50 + i, i, "u1") for i in range(4)]
    one = AEAD(KEY).seal(arrays, associated_data=b"for all")
    assert opened_by_pyca(one, b"for all") == [array.tobytes() for array in arrays]
    each = [b"", b"first", numpy.arange(9, dtype="u1"), b"third"]
    own = AEAD(KEY).seal(arrays, associated_data=each)
    for i, aad in enumerate(each):
        got = AESGCM(KEY).decrypt(
            own.nonces[i].tobytes(), own.data[i].tobytes() + own.tags[i].tobytes(), bytes(aad)
        )
        assert got == arrays[i].tobytes()
    AEAD(KEY).open(own, associated_data=each)
    with pytest.raises(warpseal.InvalidTag, match="1 of the messages do not verify: 1"):
        AEAD(KEY).open(own, associated_data=[b"", b"second", each[2], b"third"])
    with pytest.raises(ValueError, match="associated_data has 3 items, and there are 4 messages"):
        AEAD(KEY).open(own, associated_data=each[:3])


def test_forged_messages_are_zeros() -> None:
    array = numpy.ones((8, 100), "u1")
    sealed = AEAD(KEY).seal(array, rows=True)
    sealed.data[2, 50] ^= 1
    sealed.tags[5, 0] ^= 1
    sealed.nonces[7, 11] ^= 1
    with pytest.raises(warpseal.InvalidTag, match="3 of the messages do not verify: 2, 5, 7"):
        AEAD(KEY).open(sealed, rows=True)
    opened = AEAD(KEY).open(sealed, rows=True, check=False)
    assert isinstance(opened, Opened)
    for i in range(8):
        forged = i in (2, 5, 7)
        assert (opened.data[i] == (0 if forged else 1)).all() and bool(opened.statuses[i]) == forged
    with pytest.raises(warpseal.InvalidTag):
        raise_if_failed(opened.statuses)
    raise_if_failed(opened.statuses[:2])


def test_nonces() -> None:
    aead, array = AEAD(KEY), numpy.zeros((1000, 16), "u1")
    seen = {bytes(n) for _ in range(3) for n in aead.seal(array, rows=True).nonces}
    assert len(seen) == 3000
    mine = numpy.arange(24, dtype="u1").reshape(2, 12)
    sealed = aead.seal(array[:2], rows=True, unsafe_nonces=mine)
    assert sealed.nonces is mine
    assert sealed.data[1].tobytes() + sealed.tags[1].tobytes() == AESGCM(KEY).encrypt(
        mine[1].tobytes(), bytes(16), None
    )


def test_other_ciphers_and_tags() -> None:
    text = numpy.arange(77, dtype="u1")
    ccm = AEAD(KEY[:16], mode="ccm", tag_length=8).seal(text)
    assert (
        AESCCM(KEY[:16], tag_length=8).decrypt(
            ccm.nonces.tobytes(), ccm.data.tobytes() + ccm.tags.tobytes(), None
        )
        == text.tobytes()
    )
    for cipher, size in (("aria", 24), ("camellia", 32), ("sm4-128", 16)):
        aead = AEAD(KEY[:size], cipher=cipher)
        assert (aead.open(aead.seal(text)).data == text).all()


def test_empty_arrays() -> None:
    empty = numpy.zeros(0, "f4")
    sealed = AEAD(KEY).seal([empty, numpy.ones(3, "u1")])
    assert opened_by_pyca(sealed) == [b"", bytes([1, 1, 1])]
    AEAD(KEY).open(sealed)
    AEAD(KEY).open(AEAD(KEY).seal(empty))


def test_refusals() -> None:
    aead, array = AEAD(KEY), numpy.zeros((10, 10), "u1")
    readonly = numpy.zeros((10, 10), "u1")
    readonly.flags.writeable = False
    cases: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (TypeError, "out is read-only", {"data": array, "out": readonly}),
        (TypeError, "data is read-only", {"data": readonly, "out": readonly}),
        (
            ValueError,
            r"out\[0\] has 99 bytes, and data has 100",
            {"data": array, "out": bytearray(99)},
        ),
        (BufferError, "data is not contiguous", {"data": array.T[:5]}),
        (TypeError, "data: a bytes-like object", {"data": 5}),
        (ValueError, "the list is empty", {"data": []}),
        (ValueError, "data is one array then", {"data": [array], "rows": True}),
        (ValueError, "data has no first axis", {"data": b"bytes", "rows": True}),
        (ValueError, "out has 1 arrays, and data has 2", {"data": [array, array], "out": [array]}),
        (ValueError, "tags has 15 bytes", {"data": array, "tags": bytearray(15)}),
        (ValueError, "nonces has 24 bytes", {"data": array, "nonces": bytearray(24)}),
        (TypeError, "nonces is read-only", {"data": array, "nonces": bytes(12)}),
        (ValueError, "overlap", {"data": [array, array], "out": [array, array]}),
        (ValueError, "overlap", {"data": array, "out": array, "tags": array.reshape(-1)[:16]}),
    ]
    for kind, text, arguments in cases:
        with pytest.raises(kind, match=text):
            aead.seal(**arguments)
    assert not array.any()
    memory = bytearray(200)
    with pytest.raises(ValueError, match="out and data overlap|data and out overlap"):
        aead.seal(memoryview(memory)[:100], out=memoryview(memory)[50:150])
    assert not any(memory)
    with pytest.raises(ValueError, match="key must be 16, 24 or 32 bytes"):
        AEAD(bytes(20))
    with pytest.raises(ValueError, match="mode must be"):
        AEAD(KEY, mode="ctr")
    with pytest.raises(warpseal.UnsupportedError):
        AEAD(KEY, cipher="rot")


@pytest.mark.parametrize(("count", "kind"), [(1, "f4"), (2, "u2"), (4, "u1"), (1, "i8")])
def test_statuses_of_another_type_are_refused(count: int, kind: str) -> None:
    """As floats, the status of a forgery would read as zero."""
    aead, data = AEAD(KEY), numpy.ones(100, "u1")
    sealed = aead.seal(data)
    before = sealed.data.copy()
    tags = numpy.zeros_like(sealed.tags)
    statuses = numpy.zeros(count, kind)
    with pytest.raises(TypeError, match="statuses: an array of int32"):
        aead.open(sealed._replace(tags=tags), out=sealed.data, statuses=statuses)
    with pytest.raises(TypeError, match="statuses: an array of int32"):
        aead.open(sealed, out=sealed.data, statuses=object())
    assert (sealed.data == before).all()
    integers = (ctypes.c_int32 * 1)(9)
    aead.open(sealed, out=sealed.data, statuses=integers)
    assert integers[0] == 0 and (sealed.data == 1).all()


def test_out_alone_may_be_what_is_read() -> None:
    def apart(written: str, read: str) -> None:
        check_apart([(1000, 12, written)], [(1000, 12, read)])

    apart("out", "data")
    for written, read in [("nonces", "data"), ("tags", "data"), ("out", "associated_data"),
                          ("out", "tags"), ("statuses", "nonces")]:
        with pytest.raises(ValueError, match=f"{written} and {read}|{read} and {written}"):
            apart(written, read)


def test_a_build_without_cuda_says_so() -> None:
    if _core.has_cuda:
        pytest.skip("this build has CUDA")
    (array,) = on_gpu(numpy.zeros(16, "u1"))
    with pytest.raises(warpseal.NoDeviceError, match="data lies in the memory of a GPU.*--gpu"):
        AEAD(KEY).seal(array, out=array)


# ---- on the stand-in for a GPU


def test_one_array_of_a_gpu_needs_no_upload(gpu: StandIn) -> None:
    array = numpy.arange(64, dtype="f4")
    text = array.tobytes()
    nonces, tags, statuses = (numpy.zeros(s, d) for s, d in ((12, "u1"), (16, "u1"), (1, "i4")))
    data, *parts = on_gpu(array, nonces, tags, statuses)
    sealed = AEAD(KEY).seal(data, out=data, nonces=parts[0], tags=parts[1], stream=7)
    assert gpu.streams == [7] and gpu.uploads == 0
    assert AESGCM(KEY).decrypt(nonces.tobytes(), array.tobytes() + tags.tobytes(), None) == text
    AEAD(KEY).open(sealed, out=data, statuses=parts[2], stream=7)
    assert array.tobytes() == text and gpu.uploads == 0


def test_lists_of_a_gpu_are_described_by_tables(gpu: StandIn) -> None:
    arrays = [numpy.full(10 * i, i, "u1") for i in range(1, 6)]
    texts = [array.tobytes() for array in arrays]
    nonces, tags = numpy.zeros((5, 12), "u1"), numpy.zeros((5, 16), "u1")
    (there,) = on_gpu(numpy.arange(3, dtype="u1"))
    each: list[Any] = [b"a", b"", b"longer than sixteen bytes", there, b"e"]
    data = on_gpu(*arrays)
    sealed = AEAD(KEY).seal(
        data,
        out=data,
        nonces=CudaArray(nonces),
        tags=CudaArray(tags),
        associated_data=each,
    )
    assert gpu.uploads == 1 and gpu.streams == [0]
    plain = [aad.array.tobytes() if isinstance(aad, CudaArray) else aad for aad in each]
    for array, nonce, tag, text, aad in zip(arrays, nonces, tags, texts, plain, strict=True):
        assert AESGCM(KEY).decrypt(nonce.tobytes(), array.tobytes() + tag.tobytes(), aad) == text
    statuses = numpy.zeros(5, "i4")
    tags[3, 3] ^= 1
    with pytest.raises(warpseal.InvalidTag, match="1 of the messages do not verify: 3"):
        AEAD(KEY).open(sealed, out=data, statuses=CudaArray(statuses), associated_data=each)
    assert not arrays[3].any() and [a.tobytes() for a in arrays[:3]] == texts[:3]


def test_shared_associated_data_of_a_gpu(gpu: StandIn) -> None:
    array, aad = numpy.zeros(32, "u1"), numpy.arange(5, dtype="u1")
    nonces, tags = numpy.zeros(12, "u1"), numpy.zeros(16, "u1")
    data, *parts = on_gpu(array, nonces, tags)
    for associated_data, uploads in ((CudaArray(aad), 0), (aad.tobytes(), 1)):
        array[:] = 0
        AEAD(KEY).seal(
            data, out=data, nonces=parts[0], tags=parts[1], associated_data=associated_data
        )
        sealed = array.tobytes() + tags.tobytes()
        assert AESGCM(KEY).decrypt(nonces.tobytes(), sealed, aad.tobytes()) == bytes(32)
        assert gpu.uploads == uploads


def test_rows_of_a_gpu_and_a_workspace(gpu: StandIn) -> None:
    array = numpy.arange(200, dtype="u1").reshape(4, 50)
    texts = [row.tobytes() for row in array]
    nonces, tags = numpy.zeros((4, 12), "u1"), numpy.zeros((4, 16), "u1")
    data, *parts = on_gpu(array, nonces, tags)
    aead = AEAD(KEY)
    assert aead.workspace_bytes(data, rows=True) == 64
    work = CudaArray(numpy.zeros(64, "u1"))
    aead.seal(data, out=data, rows=True, nonces=parts[0], tags=parts[1], workspace=work)
    assert gpu.uploads == 0
    for row, nonce, tag, text in zip(array, nonces, tags, texts, strict=True):
        assert AESGCM(KEY).decrypt(nonce.tobytes(), row.tobytes() + tag.tobytes(), None) == text


def test_streams(gpu: StandIn) -> None:
    class WithProtocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 21

    class Torch:
        cuda_stream = 22

    class CuPy:
        ptr = 23

    array, nonces, tags = numpy.zeros(16, "u1"), numpy.zeros(12, "u1"), numpy.zeros(16, "u1")
    for stream, handle in ((WithProtocol(), 21), (Torch(), 22), (CuPy(), 23), (24, 24)):
        data, *parts = on_gpu(array, nonces, tags)
        AEAD(KEY).seal(data, out=data, nonces=parts[0], tags=parts[1], stream=stream)
        assert gpu.streams[-1] == handle
    with pytest.raises(TypeError, match="stream: a stream of PyTorch or CuPy"):
        AEAD(KEY).seal(data, out=data, stream="fast")
    # Work on another stream than ours comes first.
    assert gpu.waits == []
    data = CudaArray(array, stream=31)
    AEAD(KEY).seal(data, out=data, nonces=parts[0], tags=parts[1], stream=24)
    assert set(gpu.waits) == {31}
    gpu.waits.clear()
    sealed = AEAD(KEY).seal(data, out=data, nonces=parts[0], tags=parts[1], stream=31)
    assert gpu.waits == []
    # Statuses are read after the work on the stream.
    data, *parts = on_gpu(array, nonces, tags, numpy.zeros(1, "i4"))
    sealed = sealed._replace(data=data, nonces=parts[0], tags=parts[1])
    opened = AEAD(KEY).open(sealed, out=data, statuses=parts[2], stream=35, check=False)
    assert gpu.waits == []
    raise_if_failed(opened.statuses, stream=35)
    assert gpu.waits == [35]
    AEAD(KEY).seal(data, out=data, nonces=parts[0], tags=parts[1])
    AEAD(KEY).open(sealed, out=data, statuses=parts[2])
    assert gpu.waits == [35, 0]


def test_a_gpu_lost_by_pytorch(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor:
        __module__ = "torch"

        def reshape(self, _: int) -> Tensor:
            return self

        def tolist(self) -> list[int]:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

        def data_ptr(self) -> int:
            return 4711

    asked = []

    def lost(engine: object, address: int, size: int) -> bytes:
        asked.append((address, size))
        raise warpseal.NoDeviceError("lost")

    monkeypatch.setattr(_core, "download", lost)
    with pytest.raises(warpseal.NoDeviceError):
        check_statuses(Tensor(), 0, None, current=True)
    # The GPU that holds the statuses is asked, which need not be the first one.
    assert asked == [(4711, 4)] and gpu.waits == []
    monkeypatch.setattr(_core, "download", lambda engine, address, size: bytes(size))
    with pytest.raises(RuntimeError, match="illegal memory access"):
        check_statuses(Tensor(), 0, None, current=True)


def test_tables_stay_until_the_work_is_done(gpu: StandIn) -> None:
    array, nonces, tags = numpy.zeros(16, "u1"), numpy.zeros(12, "u1"), numpy.zeros(16, "u1")
    data, *parts = on_gpu(array, nonces, tags)
    AEAD(KEY).seal([data], out=[data], nonces=parts[0], tags=parts[1], stream=37)
    assert gpu.waits == [37]
    # A call that fails may have queued some of its work.
    gpu.failure = RuntimeError("the second kernel")
    with pytest.raises(RuntimeError, match="the second kernel"):
        AEAD(KEY).seal([data], out=[data], nonces=parts[0], tags=parts[1], stream=38)
    assert gpu.waits == [37, 38]


def test_messages_too_long_for_a_gpu(gpu: StandIn) -> None:
    array, nonces, tags = numpy.zeros(1 << 24, "u1"), numpy.zeros(12, "u1"), numpy.zeros(16, "u1")
    data, *parts = on_gpu(array, nonces, tags)
    with pytest.raises(warpseal.LimitExceededError, match="data.0. has 16777216 bytes"):
        AEAD(KEY, mode="ccm").seal([data], out=[data], nonces=parts[0], tags=parts[1])
    assert gpu.streams == []
    data = CudaArray(array[:-1])
    AEAD(KEY, mode="ccm").seal([data], out=[data], nonces=parts[0], tags=parts[1])
    assert gpu.streams == [0]


def test_refused_arrays_of_a_gpu(gpu: StandIn) -> None:
    array = numpy.zeros((8, 8), "u1")
    masked = CudaArray(array, mask=object())
    readonly = CudaArray(array, data=(array.ctypes.data, True))
    (good,) = on_gpu(array)
    cases: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (BufferError, "data has a mask", {"data": masked, "out": masked}),
        (TypeError, "data is read-only", {"data": readonly, "out": readonly}),
        (BufferError, "data is not contiguous", {"data": CudaArray(array.T[:4]), "out": good}),
        (TypeError, "out: give an array to write to", {"data": good}),
        (ValueError, "data lies in GPU 0 and out in host memory", {"data": good, "out": array}),
        (ValueError, "move them together", {"data": [good, array], "out": [good, array]}),
        (ValueError, "tags in host memory", {"data": good, "out": good, "tags": bytearray(16)}),
    ]
    for kind, text, arguments in cases:
        with pytest.raises(kind, match=text):
            AEAD(KEY).seal(**arguments)
    with pytest.raises(ValueError, match="associated_data lies on a GPU, and data in host"):
        AEAD(KEY).seal(array, associated_data=good)
    assert gpu.streams == [] and not array.any()
