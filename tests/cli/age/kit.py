"""The test files of C2SP/CCTV for age, in tests/vectors/age, and what the tests here share."""

import os
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

VECTORS = os.path.join(HERE, "..", "..", "vectors", "age")
KEYS = {"expect", "payload", "identity", "passphrase", "file key", "armored", "compressed", "comment"}


class KitFile:
    """One test file: the values of its head by key, and the bytes to decrypt."""

    def __init__(self, name):
        self.name = name
        with open(os.path.join(VECTORS, "testdata", name), "rb") as file:
            head, _, body = file.read().partition(b"\n\n")
        self.values = {}
        for line in head.decode().splitlines():
            key, value = line.split(": ", 1)
            if key not in KEYS:
                raise AssertionError(f"{name}: unknown key {key}")
            self.values.setdefault(key, []).append(value)
        self.expect = self.values["expect"][0]
        self.content = zlib.decompress(body) if "compressed" in self.values else body

    def options(self, p):
        """Writes the secrets into files and returns the options that name these."""
        options = ["--format", "age"]
        if "identity" in self.values:
            p.write("identities", "\n".join(self.values["identity"]).encode() + b"\n", 0o600)
            options += ["-i", "identities"]
        for number, passphrase in enumerate(self.values.get("passphrase", [])):
            p.write(f"passphrase{number}", passphrase.encode() + b"\n", 0o600)
            options += ["--passphrase-file", f"passphrase{number}"]
        return options


def kit_files():
    return [KitFile(name) for name in sorted(os.listdir(os.path.join(VECTORS, "testdata")))]


def post_quantum_recipient(p, name="post-quantum"):
    """Makes an identity file for ML-KEM-768 with X25519 and returns its recipient."""
    p.ok("-q", "keygen", "--age", "--post-quantum", "-o", name)
    return p.ok("keygen", "-y", name).out.decode().strip()
