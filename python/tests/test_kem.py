"""warpseal.kem: batches, buffers and refusals."""

from __future__ import annotations

import concurrent.futures

import numpy
import pytest
import warpseal
from warpseal.kem import KEM, parameter_sets

SETS = parameter_sets()


def test_names() -> None:
    assert len(SETS) == 12 and {"ntruhps2048509", "ml-kem-768"} <= set(SETS)


@pytest.mark.parametrize("name", SETS)
def test_round_trip(name: str) -> None:
    kem = KEM(name)
    keys = kem.generate(3)
    assert len(keys.secret_keys) == len(keys.public_keys) == 3
    sent = kem.encapsulate(keys.public_keys)
    received = kem.decapsulate(keys.secret_keys, sent.ciphertexts)
    assert received == sent.shared_secrets
    assert received.shape == (3, 64 if name == "x25519mlkem768" else 32)
    assert len({bytes(row) for row in received.tolist()}) == 3


def test_one_secret_key_opens_many() -> None:
    kem = KEM(SETS[0])
    keys = kem.generate()
    one = numpy.asarray(keys.public_keys)
    sent = kem.encapsulate(numpy.repeat(one, 5, axis=0))
    assert kem.decapsulate(keys.secret_keys, sent.ciphertexts) == sent.shared_secrets


def test_changed_ciphertext_gives_another_secret() -> None:
    kem = KEM(SETS[0])
    keys = kem.generate(2)
    sent = kem.encapsulate(keys.public_keys)
    changed = numpy.array(sent.ciphertexts)
    changed[1, 0] ^= 1
    received = kem.decapsulate(keys.secret_keys, changed)
    first, second = (bytes(row) for row in received.tolist())
    assert first == bytes(sent.shared_secrets.tolist()[0])
    assert second != bytes(sent.shared_secrets.tolist()[1])


def test_refusals() -> None:
    kem = KEM(SETS[0])
    keys = kem.generate(2)
    sent = kem.encapsulate(keys.public_keys)
    with pytest.raises(warpseal.UnsupportedError, match="no such set"):
        KEM("ntru")
    with pytest.raises(ValueError, match="count must be"):
        kem.generate(0)
    with pytest.raises(ValueError, match="public_keys must be items of"):
        kem.encapsulate(bytes(5))
    with pytest.raises(ValueError, match="ciphertexts must be items of"):
        kem.decapsulate(keys.secret_keys, b"")
    with pytest.raises(ValueError, match="secret_keys must be one"):
        kem.decapsulate(kem.generate(3).secret_keys, sent.ciphertexts)
    with pytest.raises(BufferError, match="public_keys is not contiguous"):
        kem.encapsulate(numpy.asarray(keys.public_keys)[:, ::2])


@pytest.mark.parametrize("name", SETS)
def test_prepared_keys(name: str) -> None:
    kem = KEM(name)
    keys = kem.generate()
    public_key, secret_key = kem.public_key(keys.public_keys), kem.secret_key(keys.secret_keys)
    for count in (1, 20):
        sent = public_key.encapsulate(count)
        assert sent.ciphertexts.shape == (count, len(sent.ciphertexts.tobytes()) // count)
        assert secret_key.decapsulate(sent.ciphertexts) == sent.shared_secrets
        assert kem.decapsulate(keys.secret_keys, sent.ciphertexts) == sent.shared_secrets
        assert len({bytes(row) for row in sent.shared_secrets.tolist()}) == count


def test_prepared_keys_keep_the_engine_and_the_key() -> None:
    keys = KEM("ml-kem-768").generate()
    key = bytearray(keys.secret_keys)
    secret_key = KEM("ml-kem-768", engine=warpseal.Engine("cpu", threads=1)).secret_key(key)
    key[:] = bytes(len(key))
    sent = KEM("ml-kem-768").encapsulate(keys.public_keys)
    assert secret_key.decapsulate(sent.ciphertexts) == sent.shared_secrets


def test_prepared_keys_of_threads() -> None:
    kem = KEM("ml-kem-768")
    keys = kem.generate()
    public_key, secret_key = kem.public_key(keys.public_keys), kem.secret_key(keys.secret_keys)

    def right(_: int) -> bool:
        sent = public_key.encapsulate(9)
        return bool(secret_key.decapsulate(sent.ciphertexts) == sent.shared_secrets)

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert all(threads.map(right, range(40)))


def test_prepared_keys_are_checked() -> None:
    kem = KEM("ml-kem-768")
    keys = kem.generate()
    with pytest.raises(ValueError, match="public_key must be 1184 bytes, this has 5 bytes"):
        kem.public_key(bytes(5))
    with pytest.raises(ValueError, match="public_key is not valid"):
        kem.public_key(b"\xff" * 1184)
    damaged = bytearray(keys.secret_keys)
    damaged[-40] ^= 1
    with pytest.raises(ValueError, match="secret_key is not valid"):
        kem.secret_key(damaged)
    with pytest.raises(ValueError, match="count must be"):
        kem.public_key(keys.public_keys).encapsulate(0)
    with pytest.raises(ValueError, match="ciphertexts must be items of"):
        kem.secret_key(keys.secret_keys).decapsulate(bytes(7))
