"""warpseal.hazmat beside pyca's cryptography."""

from __future__ import annotations

from typing import Any

import pytest
import warpseal
from cryptography.hazmat.decrepit.ciphers import modes as decrepit
from cryptography.hazmat.primitives import cmac, padding
from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, Cipher, modes
from cryptography.hazmat.primitives.ciphers.algorithms import AES, SM4
from hypothesis import given
from hypothesis import strategies as st
from warpseal.hazmat import XTS, BlockCipher, ciphers

KEY, IV = bytes(range(16)), bytes(range(100, 116))
MODES: dict[str, Any] = {
    "ecb": modes.ECB(),
    "ctr": modes.CTR(IV),
    "cbc": modes.CBC(IV),
    "cfb": decrepit.CFB(IV),
    "ofb": decrepit.OFB(IV),
}
ALGORITHMS: dict[str, BlockCipherAlgorithm] = {"aes-128": AES(KEY), "sm4-128": SM4(KEY)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cipher", ALGORITHMS)
@given(data=st.binary(max_size=3000))
def test_modes_agree_with_pyca(cipher: str, mode: str, data: bytes) -> None:
    if mode in ("ecb", "cbc"):
        data = data[: len(data) // 16 * 16]
    encryptor = Cipher(ALGORITHMS[cipher], MODES[mode]).encryptor()
    expected = encryptor.update(data) + encryptor.finalize()
    ours, iv = BlockCipher(cipher, KEY), None if mode == "ecb" else IV
    assert ours.encrypt(mode, iv, data) == expected
    assert ours.decrypt(mode, iv, expected) == data
    buf = bytearray(data)
    assert ours.encrypt_into(mode, iv, buf, buf) == len(data)
    assert buf == expected
    ours.decrypt_into(mode, iv, buf, buf)
    assert buf == data


@given(data=st.binary(max_size=500))
def test_padding_agrees_with_pyca(data: bytes) -> None:
    padder = padding.PKCS7(128).padder()
    encryptor = Cipher(AES(KEY), modes.CBC(IV)).encryptor()
    expected = encryptor.update(padder.update(data) + padder.finalize()) + encryptor.finalize()
    ours = BlockCipher("aes-128", KEY)
    assert ours.encrypt_padded(IV, data) == expected
    assert ours.decrypt_padded(IV, expected) == data


@given(data=st.binary(max_size=500), tag_length=st.integers(1, 16))
def test_cmac_agrees_with_pyca(data: bytes, tag_length: int) -> None:
    theirs = cmac.CMAC(AES(KEY))
    theirs.update(data)
    tag = theirs.finalize()
    ours = BlockCipher("aes-128", KEY)
    assert ours.mac(data) == tag
    assert ours.mac(data, tag_length) == tag[:tag_length]
    ours.verify_mac(data, tag[:tag_length])
    with pytest.raises(warpseal.InvalidTag):
        ours.verify_mac(data + b"x", tag)


@given(data=st.binary(min_size=16, max_size=3000), unit=st.binary(min_size=16, max_size=16))
def test_xts_agrees_with_pyca(data: bytes, unit: bytes) -> None:
    key = bytes(range(32))
    encryptor = Cipher(AES(key), modes.XTS(unit)).encryptor()
    expected = encryptor.update(data) + encryptor.finalize()
    ours = XTS("aes-128", key)
    assert ours.encrypt(unit, data) == expected
    assert ours.decrypt(unit, expected) == data


def test_xts_units_are_numbered() -> None:
    ours, data = XTS("aes-128", bytes(range(32))), bytes(1536)
    first, second = (number.to_bytes(16, "little") for number in (7, 8))
    parts = ours.encrypt(first, data[:512]), ours.encrypt(second, data[:512])
    assert ours.encrypt(first, data, 512)[:1024] == parts[0] + parts[1]


def test_ciphers() -> None:
    known = {cipher.name: cipher for cipher in ciphers()}
    assert {"aes-256", "aria-192", "camellia-128", "sm4-128", "lea-256", "seed-128"} <= set(known)
    aes = known["aes-256"]
    assert (aes.key_bytes, aes.block_bytes, aes.legacy) == (32, 16, False)
    assert {"ecb", "cbc", "cfb", "ofb", "ctr", "xts", "gcm", "ccm"} <= set(aes.modes)
    for cipher in known.values():
        ours = BlockCipher(cipher.name, bytes(range(1, 1 + cipher.key_bytes)))
        block = bytes(cipher.block_bytes)
        assert ours.decrypt("ecb", None, ours.encrypt("ecb", None, block)) == block


def test_refusals() -> None:
    ours = BlockCipher("aes-128", KEY)
    with pytest.raises(warpseal.UnsupportedError, match="no such cipher"):
        BlockCipher("aes", KEY)
    with pytest.raises(ValueError, match="key: aes-256 needs 32 bytes, this has 16"):
        BlockCipher("aes-256", KEY)
    with pytest.raises(ValueError, match="mode: 'gcm' is not"):
        ours.encrypt("gcm", IV, b"")
    with pytest.raises(ValueError, match="iv: aes-128 in ctr mode needs 16 bytes"):
        ours.encrypt("ctr", IV[:12], b"")
    with pytest.raises(ValueError, match="iv: aes-128 in ecb mode needs 0 bytes"):
        ours.encrypt("ecb", IV, bytes(16))
    with pytest.raises(ValueError, match="data: cbc needs whole blocks"):
        ours.encrypt("cbc", IV, bytes(17))
    with pytest.raises(ValueError, match="padded ciphertext is whole blocks"):
        ours.decrypt_padded(IV, b"")
    with pytest.raises(warpseal.BadPaddingError):
        ours.decrypt_padded(IV, ours.encrypt("cbc", IV, bytes(16)))
    for tag_length in (-1, 0, 17):
        with pytest.raises(ValueError, match="tag_length must be 1 to 16"):
            ours.mac(b"", tag_length)
    with pytest.raises(ValueError, match="tag must be 1 to 16 bytes"):
        ours.verify_mac(b"", b"")
    with pytest.raises(ValueError, match="first_unit must be 16 bytes"):
        XTS("aes-128", bytes(range(32))).encrypt(bytes(8), bytes(16))
    with pytest.raises(ValueError, match="XTS needs at least 16 bytes"):
        XTS("aes-128", bytes(range(32))).encrypt(IV, bytes(15))
    with pytest.raises(warpseal.WeakKeyError):
        XTS("aes-128", bytes(32))
    memory = memoryview(bytearray(64))
    with pytest.raises(ValueError, match="buf and data overlap"):
        ours.encrypt_into("ctr", IV, memory[1:33], memory[:32])
    with pytest.raises(TypeError, match="buf is read-only"):
        ours.encrypt_into("ctr", IV, b"", b"")
