"""File keys of age files, wrapped for recipients, identities and passphrases."""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import NamedTuple

from warpseal import _bech32, _core
from warpseal.exceptions import InvalidTag, LimitExceededError, UnsupportedError
from warpseal.kem import KEM

FILE_KEY, BODY, SALT = 16, 32, 16
X25519, HYBRID, SCRYPT = "X25519", "mlkem768x25519", "scrypt"
SCRYPT_LABEL = b"age-encryption.org/v1/scrypt"
SCRYPT_LOG2 = 18  # 256 MiB, as age writes
MAX_SCRYPT_LOG2 = 20  # 1 GiB: hashlib takes less than 2 GiB
PROGRAM_SCRYPT_LOG2 = 22  # what the program reads
BASE_POINT = b"\x09" + bytes(31)
# Prefixes of texts, and the bytes of the public key and of the share.
FORMS = {
    X25519: ("age", "age-secret-key-", 32, 32),
    HYBRID: ("age1pq", "age-secret-key-pq-", 1216, 1120),
}


class Key(NamedTuple):
    """The type of its stanza, and a public or secret key."""

    type: str
    key: bytes


class Wrapped(NamedTuple):
    """A share, and the wrapped file key."""

    share: bytes
    body: bytes


def hkdf(key: bytes, salt: bytes, info: bytes) -> bytes:
    """RFC 5869 with SHA-256 and 32 bytes of output."""
    extracted = hmac.digest(salt or bytes(32), key, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def parse_recipient(text: str) -> Key:
    """ValueError never has the text."""
    found = _bech32.decode(text)
    for kind, (prefix, _, size, _) in FORMS.items():
        if found and not found[2] and found[0] == prefix and len(found[1]) == size:
            return Key(kind, found[1])
    if text.upper().startswith("AGE-SECRET-KEY-"):
        raise ValueError("recipients: one is an identity, which is secret: give its public half")
    if text.startswith(("ssh-", "age1")) and (found or text.startswith("ssh-")):
        raise UnsupportedError(
            "recipients: the program `warpseal` takes SSH keys and plugins: "
            "give age1… or age1pq1…"
        )
    raise ValueError("recipients: one is neither age1… nor age1pq1…, copied whole")


def parse_identity(text: bytes) -> Key:
    """ValueError never has the text."""
    found = _bech32.decode(text.decode("ascii", "replace"))
    for kind, (_, prefix, _, _) in FORMS.items():
        if found and found[2] and found[0] == prefix and len(found[1]) == 32:
            return Key(kind, found[1])
    raise ValueError("identities: one is not AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…")


def generate_identity(*, post_quantum: bool = False) -> tuple[str, str]:
    """Makes an identity of age. Returns it and its recipient, "AGE-SECRET-KEY-1…" and "age1…".

    post_quantum: for ML-KEM-768 with X25519.
    """
    kind = HYBRID if post_quantum else X25519
    recipient, identity, _, _ = FORMS[kind]
    keys = _kem(kind).generate(1)
    secret, public = bytes(keys.secret_keys[0:1]), bytes(keys.public_keys[0:1])
    return _bech32.encode(identity, secret).upper(), _bech32.encode(recipient, public)


def _kem(kind: str, engine: _core.Engine | None = None) -> KEM:
    return KEM("x25519" if kind == X25519 else "x-wing", engine=engine)


def _wrap_key(kind: str, shared: bytes, share: bytes, public: bytes) -> tuple[bytes, bytes]:
    """Returns the key that wraps a file key, and its nonce."""
    if kind == X25519:
        return hkdf(shared, share + public, b"age-encryption.org/v1/X25519"), bytes(12)
    return _hpke(shared)


def _hpke(shared: bytes) -> tuple[bytes, bytes]:
    """The key schedule of HPKE in base mode (RFC 9180) for X-Wing."""
    start = b"HPKE-v1HPKE\x64\x7a\x00\x01\x00\x03"

    def extract(salt: bytes, label: bytes, key: bytes = b"") -> bytes:
        return hmac.digest(salt or bytes(32), start + label + key, "sha256")

    def expand(key: bytes, label: bytes, context: bytes, size: int) -> bytes:
        info = size.to_bytes(2, "big") + start + label + context
        return hmac.digest(key, info + b"\x01", "sha256")[:size]

    context = b"\x00" + extract(b"", b"psk_id_hash")
    context += extract(b"", b"info_hash", b"age-encryption.org/mlkem768x25519")
    secret = extract(shared, b"secret")
    return expand(secret, b"key", context, 32), expand(secret, b"base_nonce", context, 12)


def wrap(recipient: Key, file_key: bytes, engine: _core.Engine | None) -> Wrapped:
    sent = _kem(recipient.type, engine).encapsulate(recipient.key)
    share = bytes(sent.ciphertexts[0:1])
    shared = bytes(sent.shared_secrets[0:1])
    key, nonce = _wrap_key(recipient.type, shared, share, recipient.key)
    return Wrapped(share, _core.chacha20_poly1305(False, key, nonce, file_key) or b"")


def unwrap(identity: Key, wrapped: Wrapped, engine: _core.Engine | None) -> bytes | None:
    """Returns the file key, or None for that of another recipient."""
    kem, public = _kem(identity.type, engine), b""
    try:
        shared = bytes(kem.decapsulate(identity.key, wrapped.share)[0:1])
    except ValueError:
        raise InvalidTag("the header is malformed: a share is of low order") from None
    if identity.type == X25519:
        public = bytes(kem.decapsulate(identity.key, BASE_POINT)[0:1])
    key, nonce = _wrap_key(identity.type, shared, wrapped.share, public)
    return _core.chacha20_poly1305(True, key, nonce, wrapped.body)


def _scrypt(passphrase: bytes, salt: bytes, log2: int) -> bytes:
    return hashlib.scrypt(
        passphrase,
        salt=SCRYPT_LABEL + salt,
        n=1 << log2,
        r=8,
        p=1,
        maxmem=(1024 << log2) + (1 << 20),
        dklen=32,
    )


def wrap_by_passphrase(passphrase: bytes, file_key: bytes) -> Wrapped:
    """The share is the salt."""
    salt = os.urandom(SALT)
    key = _scrypt(passphrase, salt, SCRYPT_LOG2)
    return Wrapped(salt, _core.chacha20_poly1305(False, key, bytes(12), file_key) or b"")


def unwrap_by_passphrase(passphrase: bytes, wrapped: Wrapped, log2: int) -> bytes | None:
    if log2 > MAX_SCRYPT_LOG2:
        advice = ": the program `warpseal` reads this file" if log2 <= PROGRAM_SCRYPT_LOG2 else ""
        raise LimitExceededError(f"the passphrase needs {1 << log2 - 20} GiB{advice}")
    key = _scrypt(passphrase, wrapped.share, log2)
    return _core.chacha20_poly1305(True, key, bytes(12), wrapped.body)
