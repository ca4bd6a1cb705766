"""Batches of warpseal.aead, beside single messages of pyca's cryptography."""

from __future__ import annotations

import os
import struct
import sys
import threading
from array import array
from dataclasses import dataclass
from typing import Any

import pytest
import warpseal
from cryptography.hazmat.primitives.ciphers.aead import AESCCM as PycaCCM
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as PycaGCM
from hypothesis import given, settings
from hypothesis import strategies as st
from warpseal.aead import AESCCM, AESGCM, ARIAGCM, SM4GCM, CamelliaGCM

KEY = bytes(range(16))
NONCE_BYTES, TAG_BYTES = 12, 16


@settings(deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=300), st.binary(max_size=40)), max_size=20))
def test_pyca_opens_a_batch(messages: list[tuple[bytes, bytes]]) -> None:
    texts, aads = [text for text, _ in messages], [aad for _, aad in messages]
    for ours, theirs in ((AESGCM(KEY), PycaGCM(KEY)), (AESCCM(KEY), PycaCCM(KEY))):
        sealed = ours.seal_batch(texts, aads)
        assert [
            theirs.decrypt(one[:NONCE_BYTES], one[NONCE_BYTES:], aad)
            for one, aad in zip(sealed, aads, strict=True)
        ] == texts
        assert ours.open_batch(sealed, aads) == texts
        assert len({one[:NONCE_BYTES] for one in sealed}) == len(texts)


@pytest.mark.parametrize("kind", [AESGCM, AESCCM, ARIAGCM, CamelliaGCM, SM4GCM])
def test_only_forged_messages_are_missing(
    kind: type[AESGCM | AESCCM | ARIAGCM | CamelliaGCM | SM4GCM],
) -> None:
    aead = kind(KEY)
    texts = [os.urandom(i) for i in range(60)]
    sealed = [bytearray(one) for one in aead.seal_batch(texts, b"shared")]
    sealed[0][-1] ^= 1
    sealed[17][0] ^= 1
    sealed[59][NONCE_BYTES + 5] ^= 1
    del sealed[3][NONCE_BYTES + TAG_BYTES - 1 :]
    sealed[4] = bytearray()
    opened = aead.open_batch(sealed, b"shared")
    wrong = {0, 3, 4, 17, 59}
    assert opened == [None if i in wrong else text for i, text in enumerate(texts)]
    assert aead.open_batch(sealed) == [None] * 60
    assert aead.open_batch([bytes(27)], [b"its own"]) == [None]
    assert aead.seal_batch([]) == [] == aead.open_batch([])


def test_tags_of_other_lengths() -> None:
    aead = AESCCM(KEY, tag_length=8)
    (sealed,) = aead.seal_batch([b"text"])
    assert len(sealed) == NONCE_BYTES + 4 + 8
    assert aead.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None) == b"text"
    assert aead.open_batch([sealed]) == [b"text"]


def test_items_may_come_from_an_iterator() -> None:
    aead = AESGCM(KEY)
    texts = tuple(bytes([i]) * 100 for i in range(50))
    sealed = aead.seal_batch(iter_items(texts))
    assert aead.open_batch(iter_items(sealed)) == list(texts)


class iter_items(tuple[bytes, ...]):
    """Items that nothing else refers to."""

    def __iter__(self):  # type: ignore[no-untyped-def]
        return (bytes(bytearray(item)) for item in tuple.__iter__(self))


@dataclass
class Records:
    """Records of length (4 bytes), nonce, text and tag, one after the other."""

    buf: bytearray
    nonces: list[int]
    data: list[int]
    lengths: list[int]
    tags: list[int]

    @staticmethod
    def of(texts: list[bytes]) -> Records:
        out = Records(bytearray(), [], [], [], [])
        for text in texts:
            out.buf += struct.pack("<I", len(text))
            out.nonces.append(len(out.buf))
            out.data.append(len(out.buf) + NONCE_BYTES)
            out.lengths.append(len(text))
            out.tags.append(len(out.buf) + NONCE_BYTES + len(text))
            out.buf += bytes(NONCE_BYTES) + text + bytes(TAG_BYTES)
        return out

    def seal(self, aead: AESGCM, associated_data: list[bytes] | bytes | None = None) -> None:
        aead.seal_records(
            self.buf,
            nonces=self.nonces,
            data=self.data,
            lengths=self.lengths,
            tags=self.tags,
            associated_data=associated_data,
        )

    def open(self, aead: AESGCM, associated_data: list[bytes] | bytes | None = None) -> list[int]:
        return aead.open_records(
            self.buf,
            nonces=array("Q", self.nonces),
            data=array("q", self.data),
            lengths=tuple(self.lengths),
            tags=self.tags,
            associated_data=associated_data,
        )

    def text(self, i: int) -> bytes:
        return bytes(self.buf[self.data[i] :][: self.lengths[i]])


TEXTS = [os.urandom(i % 300) for i in range(400)]


@pytest.mark.parametrize("aad", [None, b"shared", [bytes(i % 5) for i in range(400)]])
def test_records_in_place(aad: list[bytes] | bytes | None) -> None:
    aead, records = AESGCM(KEY), Records.of(TEXTS)
    records.seal(aead, aad)
    for i, text in enumerate(TEXTS):
        sealed = records.buf[records.data[i] :][: len(text) + TAG_BYTES]
        nonce = bytes(records.buf[records.nonces[i] :][:NONCE_BYTES])
        own = aad[i] if isinstance(aad, list) else aad
        assert PycaGCM(KEY).decrypt(nonce, bytes(sealed), own) == text
    records.buf[records.tags[399]] ^= 1
    records.buf[records.nonces[40]] ^= 1
    assert records.open(aead, aad) == [40, 399]
    for i, text in enumerate(TEXTS):
        assert records.text(i) == (bytes(len(text)) if i in (40, 399) else text)
    lengths = [struct.unpack("<I", records.buf[at - 4 : at])[0] for at in records.nonces]
    assert lengths == records.lengths


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("data", -1, r"data\[2\]: an offset is 0 or more"),
        ("data", 1 << 64, r"data\[2\]: an offset is 0 or more"),
        ("data", 1 << 63, r"data\[2\]: 20 bytes at 9223372036854775808 end past the \d+ bytes"),
        ("lengths", 1 << 20, r"data\[2\]: 1048576 bytes at \d+ end past"),
        ("nonces", -12, r"nonces\[2\]: an offset"),
        ("nonces", 5 * 52 - 11, r"nonces\[2\]: 12 bytes at 249 end past the 260 bytes of buf"),
        ("tags", 5 * 52 - 15, r"tags\[2\]: 16 bytes at 245 end past"),
        ("data", 16, "out overlaps out"),
        ("tags", 30, "overlaps"),
        ("nonces", 16, "overlaps"),
    ],
)
def test_refused_records(field: str, value: int, text: str) -> None:
    records = Records.of([bytes(20)] * 5)
    getattr(records, field)[2] = value
    before = bytes(records.buf)
    with pytest.raises(ValueError, match=text):
        records.seal(AESGCM(KEY))
    assert records.buf == before


def test_refused_arguments() -> None:
    aead, records = AESGCM(KEY), Records.of([bytes(20)] * 5)
    for field in ("nonces", "lengths", "tags"):
        short = Records.of([bytes(20)] * 5)
        getattr(short, field).pop()
        with pytest.raises(ValueError, match=f"{field} has 4 items, and data has 5"):
            short.open(aead)
    with pytest.raises(ValueError, match="associated_data has 2 items, and data has 5"):
        records.seal(aead, [b"a", b"b"])
    with pytest.raises(ValueError, match="associated_data has 1 items, and data has 2"):
        aead.seal_batch([b"a", b"b"], [b"c"])
    with pytest.raises(TypeError, match="data: a sequence of bytes-like objects is needed"):
        aead.seal_batch(b"text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sealed: a bytes-like object is needed, not int"):
        aead.open_batch([1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="buf is read-only"):
        aead.open_records(bytes(100), nonces=[0], data=[12], lengths=[4], tags=[16])
    with pytest.raises(TypeError):
        half: Any = [0.5]
        aead.open_records(bytearray(100), nonces=half, data=[12], lengths=[4], tags=[16])
    # The buffer is the caller's again after each exception.
    records.buf += b"more"


def test_a_text_that_is_too_long_for_ccm() -> None:
    with pytest.raises(warpseal.exceptions.LimitExceededError):
        AESCCM(KEY).seal_batch([b"", bytes(1 << 24)])


def test_threads_run_during_a_batch() -> None:
    """The main thread counts while another seals; without a released lock it would wait."""
    aead = AESGCM(KEY, engine=warpseal.Engine("portable", threads=1))
    text = bytes(1 << 20)
    running, ticks = threading.Event(), 0

    def seal() -> None:
        running.set()
        aead.seal_batch([text] * 64)

    worker = threading.Thread(target=seal)
    worker.start()
    running.wait()
    while worker.is_alive():
        worker.join(0.001)
        ticks += 1
    assert ticks >= 5


def test_memory_is_released() -> None:
    aead = AESGCM(KEY)
    texts = [bytes(100)] * 50
    counts = [sys.getrefcount(one) for one in texts[:1]]
    for _ in range(200):
        aead.open_batch(aead.seal_batch(texts, texts), texts)
    assert [sys.getrefcount(one) for one in texts[:1]] == counts
