"""Key encapsulation in batches: ML-KEM, X25519 and their hybrids, and NTRU, which is no standard.

Batches are two-dimensional memoryviews of bytes, one row for each item. numpy.asarray() makes
arrays of them without a copy. Every argument may be any contiguous buffer or array of whole items.
Arrays of a GPU stay there: the results are arrays of the same library.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from warpseal import _core
from warpseal._arrays import (
    HOST,
    gpu_of,
    gpu_of_all,
    keep_until_done,
    memory_of,
    new_array,
    numbers_of,
    stream_of,
)
from warpseal._types import Data

__all__ = ["KEM", "Encapsulations", "KeyPairs", "PublicKey", "SecretKey", "parameter_sets"]


class KeyPairs(NamedTuple):
    """Key pairs, one a row: memoryviews, or arrays of a GPU. The caller wipes secret_keys."""

    secret_keys: Any
    public_keys: Any


class Encapsulations(NamedTuple):
    """Shared secrets and their ciphertexts, one a row, in pyca's order."""

    shared_secrets: Any
    ciphertexts: Any


def _rows(items: bytearray, item_bytes: int) -> memoryview:
    return memoryview(items).cast("B", (len(items) // item_bytes, item_bytes))


def parameter_sets() -> list[str]:
    """Returns the names that KEM takes."""
    return _core.kem_parameter_sets()


class PublicKey:
    """A public key, checked and prepared once for many encapsulations: KEM.public_key makes one.

    Any number of threads may use it.
    """

    def __init__(self, parameters: _core.Kem, key: Data) -> None:
        self._set = parameters
        self._key = parameters.prepare_public_key(key)

    def encapsulate(self, count: int = 1) -> Encapsulations:
        """Makes shared secrets and their ciphertexts."""
        secrets, ciphertexts = self._key.encapsulate(count)
        return Encapsulations(
            _rows(secrets, self._set.shared_secret_bytes),
            _rows(ciphertexts, self._set.ciphertext_bytes),
        )


class SecretKey:
    """A secret key, checked and prepared once for many ciphertexts: KEM.secret_key makes one.

    Any number of threads may use it. It is wiped when it is freed.
    """

    def __init__(self, parameters: _core.Kem, key: Data) -> None:
        self._set = parameters
        self._key = parameters.prepare_secret_key(key)

    def decapsulate(self, ciphertexts: Data) -> memoryview:
        """Returns the shared secrets. A ciphertext of another key gives another secret."""
        return _rows(self._key.decapsulate(ciphertexts), self._set.shared_secret_bytes)


class KEM:
    """One parameter set. Its calls work on whole batches, on the engine's cores or GPU."""

    def __init__(self, parameter_set: str, *, engine: _core.Engine | None = None) -> None:
        self._set = _core.Kem(parameter_set, engine=engine)
        self._engine = engine

    def generate(self, count: int = 1, *, like: Any = None, stream: Any = None) -> KeyPairs:
        """Makes key pairs. like: an array of a GPU, on which they are made and stay."""
        if like is None or gpu_of(like) == HOST:
            secret_keys, public_keys = self._set.generate(count)
            return KeyPairs(
                _rows(secret_keys, self._set.secret_key_bytes),
                _rows(public_keys, self._set.public_key_bytes),
            )
        batch = _DeviceBatch(self, like, "like", stream)
        batch.count = count
        secrets = batch.new("secret_keys", self._set.secret_key_bytes)
        publics = batch.new("public_keys", self._set.public_key_bytes)
        batch.run("keypair", "key pair")
        return KeyPairs(secrets, publics)

    def encapsulate(self, public_keys: Data, *, stream: Any = None) -> Encapsulations:
        """Makes a shared secret and its ciphertext for each public key.

        ValueError names the first public key that is not valid. With arrays of a GPU the call waits
        for the work on `stream`, to know.
        """
        if gpu_of(public_keys) == HOST:
            secrets, ciphertexts = self._set.encapsulate(public_keys)
            return Encapsulations(
                _rows(secrets, self._set.shared_secret_bytes),
                _rows(ciphertexts, self._set.ciphertext_bytes),
            )
        batch = _DeviceBatch(self, public_keys, "public_keys", stream)
        batch.count = batch.put("public_keys", public_keys, self._set.public_key_bytes)
        shared = batch.new("shared_secrets", self._set.shared_secret_bytes)
        sent = batch.new("ciphertexts", self._set.ciphertext_bytes)
        batch.run("encapsulate", "public key")
        return Encapsulations(shared, sent)

    def decapsulate(self, secret_keys: Data, ciphertexts: Data, *, stream: Any = None) -> Any:
        """Returns the shared secrets. secret_keys: one for each ciphertext, or one for all.

        A ciphertext of another key gives another secret, not an error.
        """
        if gpu_of_all([("secret_keys", secret_keys), ("ciphertexts", ciphertexts)]) == HOST:
            secrets = self._set.decapsulate(secret_keys, ciphertexts)
            return _rows(secrets, self._set.shared_secret_bytes)
        batch = _DeviceBatch(self, ciphertexts, "ciphertexts", stream)
        batch.count = batch.put("ciphertexts", ciphertexts, self._set.ciphertext_bytes)
        keys = batch.put("secret_keys", secret_keys, self._set.secret_key_bytes)
        if keys not in (1, batch.count):
            raise ValueError("secret_keys must be one, or one for each ciphertext")
        batch.one_key = keys == 1
        shared = batch.new("shared_secrets", self._set.shared_secret_bytes)
        batch.run("decapsulate", "ciphertext")
        return shared

    def public_key(self, public_key: Data) -> PublicKey:
        """Prepares one key for many encapsulations. ValueError: it is not valid."""
        return PublicKey(self._set, public_key)

    def secret_key(self, secret_key: Data) -> SecretKey:
        """Prepares one key for many decapsulations. ValueError: it is not valid."""
        return SecretKey(self._set, secret_key)


class _DeviceBatch:
    """The arrays of one call on a GPU."""

    def __init__(self, kem: KEM, like: Any, name: str, stream: Any) -> None:
        self._kem, self._like = kem, like
        self.stream = stream_of(stream, like)
        self.count = 0
        self.one_key = False
        self._addresses: dict[str, int] = {}
        self._kept: list[_core.Memory] = [self._memory(like, name, False)]

    def _memory(self, array: Any, name: str, writable: bool) -> _core.Memory:
        keep_until_done(array, self.stream)
        return memory_of(array, name, writable=writable, stream=self.stream)

    def put(self, name: str, array: Any, item_bytes: int) -> int:
        """Adds an argument. Returns how many items it has."""
        memory = self._memory(array, name, False)
        if memory.size == 0 or memory.size % item_bytes:
            raise ValueError(
                f"{name} must be items of {item_bytes} bytes each, this has {memory.size} bytes"
            )
        self._kept.append(memory)
        self._addresses[name] = memory.address
        return memory.size // item_bytes

    def new(self, name: str, item_bytes: int) -> Any:
        made = new_array(self._like, (self.count, item_bytes), "uint8", name)
        self._kept.append(self._memory(made, name, True))
        self._addresses[name] = self._kept[-1].address
        return made

    def run(self, operation: str, item: str) -> None:
        statuses = new_array(self._like, (self.count,), "int32", "statuses")
        memory = self._memory(statuses, "statuses", True)
        at = self._addresses.get
        self._kem._set.run_device(
            operation,
            self.count,
            at("public_keys", 0),
            at("secret_keys", 0),
            at("ciphertexts", 0),
            at("shared_secrets", 0),
            memory.address,
            self.one_key,
            self.stream,
        )
        for i, status in enumerate(numbers_of(statuses, memory, self._kem._engine, self.stream)):
            if status != 0:
                raise ValueError(f"{item} {i} is not valid")
