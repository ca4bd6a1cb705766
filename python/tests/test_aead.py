"""warpseal.aead beside pyca's cryptography, an implementation of its own."""

from __future__ import annotations

import array
import threading
from typing import Protocol, TypeAlias

import pytest
import warpseal
from cryptography.exceptions import InvalidTag as PycaInvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM as PycaCCM
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as PycaGCM
from cryptography.hazmat.primitives.ciphers.algorithms import SM4
from hypothesis import given, settings
from hypothesis import strategies as st
from warpseal.aead import AESCCM, AESGCM, ARIAGCM, SM4GCM, CamelliaGCM

KEY = bytes(range(16))
NONCE = bytes(range(12))

Aead: TypeAlias = AESGCM | AESCCM | ARIAGCM | CamelliaGCM | SM4GCM


class AnyClass(Protocol):
    def __call__(self, key: bytes) -> Aead: ...


CLASSES: list[AnyClass] = [AESGCM, AESCCM, ARIAGCM, CamelliaGCM, SM4GCM]


@given(
    key=st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n)),
    nonce=st.binary(min_size=8, max_size=128),
    data=st.binary(max_size=5000),
    aad=st.none() | st.binary(max_size=300),
)
def test_gcm_agrees_with_pyca(key: bytes, nonce: bytes, data: bytes, aad: bytes | None) -> None:
    ours, theirs = AESGCM(key), PycaGCM(key)
    sealed = ours.encrypt(nonce, data, aad)
    assert sealed == theirs.encrypt(nonce, data, aad)
    assert ours.decrypt(nonce, sealed, aad) == data


@given(
    key=st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n)),
    nonce=st.binary(min_size=7, max_size=13),
    tag_length=st.sampled_from([4, 6, 8, 10, 12, 14, 16]),
    data=st.binary(max_size=2000),
    aad=st.none() | st.binary(max_size=300),
)
def test_ccm_agrees_with_pyca(
    key: bytes, nonce: bytes, tag_length: int, data: bytes, aad: bytes | None
) -> None:
    ours, theirs = AESCCM(key, tag_length), PycaCCM(key, tag_length)
    sealed = ours.encrypt(nonce, data, aad)
    assert sealed == theirs.encrypt(nonce, data, aad)
    assert ours.decrypt(nonce, sealed, aad) == data


@given(data=st.binary(max_size=3000), aad=st.binary(max_size=100))
def test_sm4_agrees_with_pyca(data: bytes, aad: bytes) -> None:
    encryptor = Cipher(SM4(KEY), modes.GCM(NONCE)).encryptor()
    encryptor.authenticate_additional_data(aad)
    expected = encryptor.update(data) + encryptor.finalize() + encryptor.tag
    assert SM4GCM(KEY).encrypt(NONCE, data, aad) == expected


def test_camellia_known_answer() -> None:  # draft-kato-ipsec-camellia-gcm, case 5
    cipher = CamelliaGCM(bytes.fromhex("feffe9928665731c6d6a8f9467308308"))
    text = (
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    )
    aad = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    sealed = cipher.encrypt(bytes.fromhex("cafebabefacedbad"), bytes.fromhex(text), aad)
    assert sealed.hex() == (
        "28fd7434d5cd424a5353818fc21a982460d20cf632eb1e6c4fbfca17d5abcf6a"
        "52111086162fe9570e7774c7a912aca3dfa10067ddaad40688645bdd"
        "e86f8f2e730c49d536f00fb5225d28b1"
    )


def test_aria_known_answer() -> None:  # Wycheproof, aria_gcm_test.json, tcId 10
    cipher = ARIAGCM(bytes.fromhex("e63a43216c08867210e248859eb5e99c"))
    sealed = cipher.encrypt(
        bytes.fromhex("9c3a4263d983456658aad4b1"),
        bytes.fromhex("b14da56b0462dc05b871fc815273ff4810f92f4b"),
        bytes.fromhex("834afdc5c737186b"),
    )
    assert sealed.hex() == (
        "958dc8edc90aa016290563df13e6a4ee07df1c98" "13477edb44988754ed4f1974a44d102f"
    )


@pytest.mark.parametrize("make", CLASSES)
@settings(max_examples=30)
@given(data=st.binary(max_size=20000), aad=st.binary(max_size=64), flip=st.integers(0))
def test_round_trip_and_refusal(make: AnyClass, data: bytes, aad: bytes, flip: int) -> None:
    cipher = make(KEY)
    sealed = cipher.encrypt(NONCE, data, aad)
    assert cipher.decrypt(NONCE, sealed, aad) == data
    changed = bytearray(sealed)
    changed[flip % len(changed)] ^= 1 << flip % 8
    for nonce, text, extra in (
        (NONCE, bytes(changed), aad),
        (bytes(12), sealed, aad),
        (NONCE, sealed, aad + b"x"),
        (NONCE, sealed[:-1], aad),
    ):
        with pytest.raises(warpseal.InvalidTag):
            cipher.decrypt(nonce, text, extra)


def test_invalid_tag_is_pycas() -> None:
    assert issubclass(warpseal.InvalidTag, PycaInvalidTag)
    with pytest.raises(PycaInvalidTag):
        AESGCM(KEY).decrypt(NONCE, b"short", None)


@pytest.mark.parametrize("make", CLASSES)
def test_into(make: AnyClass) -> None:
    cipher = make(KEY)
    data = bytes(range(256)) * 100
    sealed = cipher.encrypt(NONCE, data, b"aad")
    buf = bytearray(len(sealed))
    assert cipher.encrypt_into(NONCE, data, b"aad", buf) == len(sealed)
    assert buf == sealed
    plain = bytearray(len(data))
    assert cipher.decrypt_into(NONCE, sealed, b"aad", plain) == len(data)
    assert plain == data


@pytest.mark.parametrize("make", CLASSES)
def test_in_place(make: AnyClass) -> None:
    cipher = make(KEY)
    data = bytes(range(256)) * 100
    memory = bytearray(data) + bytearray(16)
    view = memoryview(memory)
    cipher.encrypt_into(NONCE, view[:-16], None, view)
    assert memory == cipher.encrypt(NONCE, data, None)
    cipher.decrypt_into(NONCE, view, None, view[:-16])
    assert memory[:-16] == data


def test_refused_text_is_zero() -> None:
    buf = bytearray(b"x" * 100)
    with pytest.raises(warpseal.InvalidTag):
        AESGCM(KEY).decrypt_into(NONCE, bytes(116), None, buf)
    assert buf == bytes(100)


@pytest.mark.parametrize("make", CLASSES)
def test_bad_sizes(make: AnyClass) -> None:
    cipher = make(KEY)
    for buf_bytes in (0, 115, 117):
        with pytest.raises(ValueError, match="buf: buffer must be 116 bytes"):
            cipher.encrypt_into(NONCE, bytes(100), None, bytearray(buf_bytes))
    with pytest.raises(ValueError, match="buf: buffer must be 84 bytes"):
        cipher.decrypt_into(NONCE, bytes(100), None, bytearray(100))
    with pytest.raises(ValueError, match="nonce must be between"):
        cipher.encrypt(bytes(6), b"", None)
    with pytest.raises(ValueError, match="nonce must be between"):
        cipher.encrypt(bytes(129), b"", None)
    for key_bytes in (0, 15, 17, 31, 33):
        with pytest.raises(ValueError, match="key must be"):
            make(bytes(key_bytes))


def test_bad_buffers() -> None:
    cipher = AESGCM(KEY)
    with pytest.raises(BufferError, match="data is not contiguous"):
        cipher.encrypt(NONCE, memoryview(bytes(100))[::2], None)
    with pytest.raises(TypeError, match="buf is read-only"):
        cipher.encrypt_into(NONCE, b"", None, bytes(16))
    with pytest.raises(TypeError, match="nonce: a bytes-like object"):
        cipher.encrypt(3, b"", None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="associated_data: a bytes-like object"):
        cipher.encrypt(NONCE, b"", "text")  # type: ignore[arg-type]
    memory = memoryview(bytearray(200))
    with pytest.raises(ValueError, match="buf and data overlap"):
        cipher.encrypt_into(NONCE, memory[8:108], None, memory[:116])
    with pytest.raises(ValueError, match="buf and nonce overlap"):
        cipher.encrypt_into(memory[115:127], bytes(100), None, memory[:116])
    with pytest.raises(ValueError, match="buf and associated_data overlap"):
        cipher.decrypt_into(NONCE, bytes(116), memory[99:120], memory[:100])
    assert bytes(memory) == bytes(200)  # nothing was written


def test_array_of_words_is_bytes() -> None:
    words = array.array("I", range(1000))
    expected = PycaGCM(KEY).encrypt(NONCE, words.tobytes(), None)
    assert AESGCM(KEY).encrypt(NONCE, words, None) == expected


def test_generate_key() -> None:
    for family in (AESGCM, AESCCM, ARIAGCM, CamelliaGCM):
        for bits in (128, 192, 256):
            key = family.generate_key(bits)
            assert len(key) * 8 == bits
            assert key != family.generate_key(bits)
        with pytest.raises(ValueError, match="bit_length"):
            family.generate_key(129)
    assert len(SM4GCM.generate_key()) == 16


def test_bad_tag_length() -> None:
    for tag_length in (-4, 2, 7, 18):
        with pytest.raises(ValueError, match="tag_length"):
            AESCCM(KEY, tag_length)


def test_threads_run_during_a_call() -> None:
    data = bytes(64 << 20)
    cipher = AESGCM(KEY, engine=warpseal.Engine("cpu", threads=1))
    running, ticks = threading.Event(), 0

    def encrypt() -> None:
        running.set()
        for _ in range(4):
            cipher.encrypt(NONCE, data, None)

    worker = threading.Thread(target=encrypt)
    worker.start()
    running.wait()
    while worker.is_alive():
        ticks += 1
        worker.join(0.001)
    assert ticks >= 5


def test_engines() -> None:
    data = bytes(1 << 20)
    expected = AESGCM(KEY).encrypt(NONCE, data, None)
    for engine in (warpseal.Engine("portable"), warpseal.Engine("cpu", threads=1)):
        assert AESGCM(KEY, engine=engine).encrypt(NONCE, data, None) == expected
    with pytest.raises(ValueError, match="device is nothing: give auto"):
        warpseal.Engine("nothing")
    with pytest.raises(TypeError):
        AESGCM(KEY, engine="cpu")  # type: ignore[arg-type]
