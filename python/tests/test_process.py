"""The package in a process: import, memory, other threads."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import warpseal
from warpseal.aead import AESGCM, Cobblestone256Decryptor, Cobblestone256Encryptor
from warpseal.hazmat import BlockCipher


def python(script: str) -> str:
    command = [sys.executable, "-B", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_import_is_quick_without_optional_packages() -> None:
    script = (
        "import sys, time\n"
        "sys.modules['cryptography'] = sys.modules['numpy'] = None\n"
        "start = time.process_time()\n"
        "import warpseal, warpseal.aead, warpseal.hazmat, warpseal.kem\n"
        "print(time.process_time() - start)\n"
        "assert issubclass(warpseal.InvalidTag, warpseal.Error)\n"
        "sealed = warpseal.aead.AESGCM(bytes(16)).encrypt(bytes(12), b'', None)\n"
        "assert len(sealed) == 16\n"
    )
    assert min(float(python(script)) for _ in range(5)) < 0.1


def resident_bytes() -> int:
    pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


def calls() -> None:
    aead = AESGCM(bytes(32))
    sealed = aead.encrypt(bytes(12), bytes(1000), b"associated")
    aead.decrypt(bytes(12), sealed, b"associated")
    with pytest.raises(warpseal.InvalidTag):
        aead.decrypt(bytes(12), sealed, None)
    with pytest.raises(BufferError):
        aead.encrypt(bytes(12), memoryview(sealed)[::2], None)
    with pytest.raises(ValueError):
        aead.encrypt_into(bytes(12), bytes(1000), None, bytearray(3))
    assert aead.open_batch(aead.seal_batch([bytes(100)] * 2, b"both"), b"both") == [bytes(100)] * 2
    assert aead.open_records(bytearray(50), nonces=[0], data=[12], lengths=[9], tags=[30]) == [0]
    cipher = BlockCipher("aes-128", bytes(16))
    cipher.encrypt("ctr", bytes(16), bytes(1000))
    encryptor = Cobblestone256Encryptor(bytes(32), b"")
    encryptor.update(bytes(100))
    with pytest.raises(warpseal.InvalidTag):
        Cobblestone256Decryptor(bytes(32), b"").update(bytes(100))


def test_calls_leak_nothing() -> None:
    for _ in range(1000):
        calls()
    before = resident_bytes()
    for _ in range(11_000):
        calls()  # nine calls of the extension and more: 100,000 of them
    # One leaked object of 100 bytes a round would be 1.1 MB.
    assert resident_bytes() - before < 1 << 20


def test_one_object_serves_many_threads() -> None:
    aead = AESGCM(bytes(32))
    expected = aead.encrypt(bytes(12), bytes(100_000), None)
    with ThreadPoolExecutor(8) as pool:
        done = pool.map(lambda _: aead.encrypt(bytes(12), bytes(100_000), None), range(200))
        assert all(sealed == expected for sealed in done)


def test_first_keys_in_many_threads() -> None:
    script = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from warpseal.aead import AESGCM\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    seal = lambda _: AESGCM(bytes(32)).encrypt(bytes(12), b'text', None)\n"
        "    print(len(set(pool.map(seal, range(64)))))\n"
    )
    assert python(script) == "1\n"
