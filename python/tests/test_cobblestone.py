"""The Cobblestone classes beside pyca's."""

from __future__ import annotations

import itertools
import os
import threading
import time
from typing import TypeAlias

import pytest
import warpseal
from cryptography import cobblestone as pyca
from cryptography.exceptions import AlreadyFinalized as PycaAlreadyFinalized
from hypothesis import given, settings
from hypothesis import strategies as st
from warpseal.aead import (
    Cobblestone128Decryptor,
    Cobblestone128Encryptor,
    Cobblestone256Decryptor,
    Cobblestone256Encryptor,
)

CHUNK, HEAD = 16384, 56
Encryptor: TypeAlias = (
    Cobblestone128Encryptor
    | Cobblestone256Encryptor
    | pyca.Cobblestone128Encryptor
    | pyca.Cobblestone256Encryptor
)
Decryptor: TypeAlias = (
    Cobblestone128Decryptor
    | Cobblestone256Decryptor
    | pyca.Cobblestone128Decryptor
    | pyca.Cobblestone256Decryptor
)


def seal(encryptor: Encryptor, parts: list[bytes]) -> bytes:
    return b"".join([*map(encryptor.update, parts), encryptor.finalize()])


def opened(decryptor: Decryptor, sealed: bytes, cuts: list[int]) -> bytes:
    ends = sorted({0, len(sealed), *(cut % (len(sealed) + 1) for cut in cuts)})
    parts = [sealed[start:end] for start, end in itertools.pairwise(ends)]
    return b"".join([*map(decryptor.update, parts), decryptor.finalize()])


@settings(max_examples=40)
@given(
    parts=st.lists(st.binary(max_size=40000), max_size=6),
    cuts=st.lists(st.integers(0, 250_000), max_size=6),
    context=st.binary(max_size=40),
)
def test_agrees_with_pyca(parts: list[bytes], cuts: list[int], context: bytes) -> None:
    text, key16, key32 = b"".join(parts), bytes(range(16)), bytes(range(32))
    sealed = seal(Cobblestone128Encryptor(key16, context), parts)
    assert len(sealed) == HEAD + len(text) + 16 * (len(text) // CHUNK + 1)
    assert opened(pyca.Cobblestone128Decryptor(key16, context), sealed, []) == text
    assert opened(Cobblestone128Decryptor(key16, context), sealed, cuts) == text
    sealed = seal(pyca.Cobblestone256Encryptor(key32, context), parts)
    assert opened(Cobblestone256Decryptor(key32, context), sealed, cuts) == text


@given(data=st.data(), size=st.sampled_from([0, 100, CHUNK, 40_000]))
def test_every_change_is_noticed(data: st.DataObject, size: int) -> None:
    key = bytes(32)
    sealed = bytearray(seal(Cobblestone256Encryptor(key, b""), [bytes(size)]))
    position = data.draw(st.integers(0, len(sealed) - 1))
    sealed[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(warpseal.InvalidTag):
        opened(Cobblestone256Decryptor(key, b""), bytes(sealed), [])
    sealed[position:] = b""
    with pytest.raises(warpseal.InvalidTag):
        opened(Cobblestone256Decryptor(key, b""), bytes(sealed), [])


def test_a_failed_object_stays_failed() -> None:
    decryptor = Cobblestone256Decryptor(bytes(32), b"")
    with pytest.raises(warpseal.InvalidTag):
        decryptor.update(bytes(100))
    with pytest.raises(warpseal.AlreadyFinalized):
        decryptor.update(b"")
    with pytest.raises(PycaAlreadyFinalized):
        decryptor.finalize()


def test_refused_text_is_zero() -> None:
    sealed = bytearray(seal(Cobblestone256Encryptor(bytes(32), b""), [b"text" * 20_000]))
    sealed[HEAD + 3 * (CHUNK + 16)] ^= 1
    buf = bytearray(b"x" * 80_000)
    with pytest.raises(warpseal.InvalidTag):
        Cobblestone256Decryptor(bytes(32), b"").update_into(sealed, buf)
    assert buf[: 4 * CHUNK] == bytes(4 * CHUNK)


def test_bad_buffers() -> None:
    encryptor = Cobblestone128Encryptor(bytes(16), b"")
    memory = memoryview(bytearray(200))
    with pytest.raises(ValueError, match="buf and data overlap"):
        encryptor.update_into(memory[50:60], memory)
    with pytest.raises(ValueError, match="buf: buffer must be at least 56 bytes, it has 55"):
        encryptor.update_into(b"", memory[:55])
    with pytest.raises(BufferError, match="data is not contiguous"):
        encryptor.update(memory[::2])
    with pytest.raises(TypeError, match="context: a bytes-like object"):
        Cobblestone128Encryptor(bytes(16), "text")  # type: ignore[arg-type]
    assert encryptor.update_into(b"", memory) == HEAD


def test_two_threads_are_refused() -> None:
    encryptor = Cobblestone128Encryptor(bytes(16), b"", engine=warpseal.Engine(threads=1))
    data, refused, end = bytes(16 << 20), threading.Event(), time.monotonic() + 60

    def update(part: bytes) -> None:
        while not refused.is_set() and time.monotonic() < end:
            try:
                encryptor.update(part)
            except RuntimeError as error:
                assert "another thread" in str(error)
                refused.set()

    worker = threading.Thread(target=update, args=[data])
    worker.start()
    update(b"")
    worker.join()
    assert refused.is_set()


def test_child_of_a_fork_may_not_continue() -> None:
    encryptor = Cobblestone128Encryptor(bytes(16), b"")
    encryptor.update(b"text")
    child = os.fork()
    if child == 0:
        try:
            encryptor.update(b"more")
        except ValueError as error:
            os._exit(7 if "fork" in str(error) else 8)
        os._exit(9)
    assert os.waitpid(child, 0)[1] == 7 << 8
    encryptor.finalize()
