"""warpseal.kem: batches, buffers and refusals."""

from __future__ import annotations

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
