"""Key encapsulation in batches: ML-KEM, X25519 and their hybrids, and NTRU, which is no standard.

Batches are two-dimensional memoryviews of bytes, one row for each item. numpy.asarray() makes
arrays of them without a copy. Every argument may be any contiguous buffer or array of whole items.
"""

from __future__ import annotations

from typing import NamedTuple

from warpseal import _core
from warpseal._types import Data

__all__ = ["KEM", "Encapsulations", "KeyPairs", "parameter_sets"]


class KeyPairs(NamedTuple):
    """Key pairs, one a row. The caller wipes secret_keys."""

    secret_keys: memoryview
    public_keys: memoryview


class Encapsulations(NamedTuple):
    """Shared secrets and their ciphertexts, one a row, in pyca's order."""

    shared_secrets: memoryview
    ciphertexts: memoryview


def _rows(items: bytearray, item_bytes: int) -> memoryview:
    return memoryview(items).cast("B", (len(items) // item_bytes, item_bytes))


def parameter_sets() -> list[str]:
    """Returns the names that KEM takes."""
    return _core.kem_parameter_sets()


class KEM:
    """One parameter set. Its calls work on whole batches, on the engine's cores or GPU."""

    def __init__(self, parameter_set: str, *, engine: _core.Engine | None = None) -> None:
        self._set = _core.Kem(parameter_set, engine=engine)

    def generate(self, count: int = 1) -> KeyPairs:
        """Makes key pairs."""
        secret_keys, public_keys = self._set.generate(count)
        return KeyPairs(
            _rows(secret_keys, self._set.secret_key_bytes),
            _rows(public_keys, self._set.public_key_bytes),
        )

    def encapsulate(self, public_keys: Data) -> Encapsulations:
        """Makes a shared secret and its ciphertext for each public key.

        ValueError names the first public key that is not valid.
        """
        secrets, ciphertexts = self._set.encapsulate(public_keys)
        return Encapsulations(
            _rows(secrets, self._set.shared_secret_bytes),
            _rows(ciphertexts, self._set.ciphertext_bytes),
        )

    def decapsulate(self, secret_keys: Data, ciphertexts: Data) -> memoryview:
        """Returns the shared secrets. secret_keys: one for each ciphertext, or one for all.

        A ciphertext of another key gives another secret, not an error.
        """
        secrets = self._set.decapsulate(secret_keys, ciphertexts)
        return _rows(secrets, self._set.shared_secret_bytes)
