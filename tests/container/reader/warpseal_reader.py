"""A second reader of docs/file-format.md in one file: the envelope by hand, the payload by the
`cryptography` package, or by hand over OpenSSL's block cipher where the package lacks the AEAD."""

import argparse
import base64
import ctypes
import ctypes.util
import hashlib
import hmac
import io
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke, serialization
from cryptography.hazmat.primitives.asymmetric import mlkem, padding, rsa, x25519
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256, SHA512
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography import cobblestone

FIXED_BYTES, FIRST_BLOCK_BYTES, MAC_BYTES, HEAD_BYTES = 32, 4096, 64, 56
CHUNK_BYTES, TAG_BYTES = 16400, 16
ARGON2_WORK = 32 << 20  # passes times KiB: for the slots of a copy; twice that for all tries
KEY_FILE, PASSPHRASE, X25519, HYBRID, SSH_ED25519, SSH_RSA, NTRU, PLUGIN = 1, 2, 3, 4, 5, 6, 9, 16
LENGTHS = {  # of the parameters, the least and the most
    KEY_FILE: (0, 0), PASSPHRASE: (24, 24), X25519: (64, 64), HYBRID: (1152, 1152),
    SSH_ED25519: (68, 68), SSH_RSA: (260, 2052), NTRU: (1294, 1294), PLUGIN: (2, 8192),
}


class BlockCipher:
    """A block cipher of OpenSSL by its EVP name, encrypting only."""

    library = None

    def __init__(self, name, key):
        evp = BlockCipher.library = BlockCipher.library or ctypes.CDLL(ctypes.util.find_library("crypto"))
        evp.EVP_get_cipherbyname.restype = evp.EVP_CIPHER_CTX_new.restype = ctypes.c_void_p
        cipher = evp.EVP_get_cipherbyname(name.encode())
        self.context = ctypes.c_void_p(evp.EVP_CIPHER_CTX_new())
        if not cipher or evp.EVP_EncryptInit_ex(self.context, ctypes.c_void_p(cipher), None, key, None) != 1:
            raise RuntimeError(f"OpenSSL has no {name}")

    def encrypt(self, blocks):
        out, wrote = ctypes.create_string_buffer(len(blocks) + 16), ctypes.c_int()
        if self.library.EVP_EncryptUpdate(self.context, out, ctypes.byref(wrote), blocks, len(blocks)) != 1 or wrote.value != len(blocks):
            raise RuntimeError("OpenSSL failed")
        return out.raw[: len(blocks)]


class BlockGcm:
    """GCM (SP 800-38D) over any block cipher, with 12-byte nonces and the interface of the
    package's AESGCM."""

    def __init__(self, name, key):
        self.cipher = BlockCipher(name, key)
        h, powers = int.from_bytes(self.cipher.encrypt(bytes(16)), "big"), []
        for _ in range(128):  # H * x^i: bits are reflected, so that multiplying by x shifts to the right
            powers.append(h)
            h = (h >> 1) ^ (0xE1 << 120 if h & 1 else 0)
        self.tables = [[0] * 256 for _ in range(16)]  # [byte of a block][its value]
        for position in range(16):
            for value in range(1, 256):
                low = value & -value
                self.tables[position][value] = self.tables[position][value ^ low] ^ powers[8 * position + 8 - low.bit_length()]

    def ghash(self, data):
        total = 0
        for at in range(0, len(data), 16):
            block = (total ^ int.from_bytes(data[at : at + 16].ljust(16, b"\0"), "big")).to_bytes(16, "big")
            total = 0
            for table, value in zip(self.tables, block):
                total ^= table[value]
        return total

    def keystream(self, nonce, length):
        """E(K, J0) for the tag, then as much keystream as the text needs."""
        count = (length + 15) // 16
        stream = self.cipher.encrypt(b"".join(nonce + k.to_bytes(4, "big") for k in range(1, count + 2)))
        return stream[:16], stream[16 : 16 + length]

    def tag(self, mask, ciphertext):
        lengths = (8 * len(ciphertext)).to_bytes(16, "big")
        return (self.ghash(ciphertext + bytes(-len(ciphertext) % 16) + lengths) ^ int.from_bytes(mask, "big")).to_bytes(16, "big")

    @staticmethod
    def mix(text, stream):
        return (int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(text), "big")

    def encrypt(self, nonce, text, _):
        mask, stream = self.keystream(nonce, len(text))
        ciphertext = self.mix(text, stream)
        return ciphertext + self.tag(mask, ciphertext)

    def decrypt(self, nonce, data, _):
        ciphertext, tag = data[:-TAG_BYTES], data[-TAG_BYTES:]
        mask, stream = self.keystream(nonce, len(ciphertext))
        if not hmac.compare_digest(self.tag(mask, ciphertext), tag):
            raise InvalidTag
        return self.mix(ciphertext, stream)


class BlockDecryptor:
    """Opens a payload as the package's Cobblestone decryptors do; the head's commitment was
    checked."""

    def __init__(self, aead_name, cipher_name, key, context):
        self.aead_name, self.cipher_name, self.key, self.context = aead_name, cipher_name, key, context
        self.aead, self.base, self.number, self.held = None, 0, 0, b""

    def open_chunk(self, chunk):
        self.number += 1
        return self.aead.decrypt((self.base ^ (self.number - 1)).to_bytes(12, "big"), chunk, None)

    def update(self, data):
        self.held += data
        if self.aead is None:
            info = b"c2sp.org/chunked-encryption@v1+" + self.aead_name + b"\0" + self.held[:24] + self.context
            okm = expand(self.key, info, len(self.key) + 44)
            self.aead, self.base = BlockGcm(self.cipher_name, okm[:-44]), int.from_bytes(okm[-44:-32], "big")
            self.held = self.held[HEAD_BYTES:]
        text = []
        while len(self.held) >= CHUNK_BYTES:
            text.append(self.open_chunk(self.held[:CHUNK_BYTES]))
            self.held = self.held[CHUNK_BYTES:]
        return b"".join(text)

    def finalize(self):
        return self.open_chunk(self.held)


def block_decryptor(aead_name, cipher_name):
    return lambda key, context: BlockDecryptor(aead_name, cipher_name, key, context)


SUITES = {  # number: IANA's name (from 0x8001 on ours), key bytes, decryptor, encryptor
    2: (b"AEAD_AES_256_GCM", 32, cobblestone.Cobblestone256Decryptor, cobblestone.Cobblestone256Encryptor),
    1: (b"AEAD_AES_128_GCM", 16, cobblestone.Cobblestone128Decryptor, cobblestone.Cobblestone128Encryptor),
    0x8001: (b"AEAD_ARIA_256_GCM", 32, block_decryptor(b"AEAD_ARIA_256_GCM", "ARIA-256-ECB"), None),
    0x8002: (b"AEAD_CAMELLIA_256_GCM", 32, block_decryptor(b"AEAD_CAMELLIA_256_GCM", "CAMELLIA-256-ECB"), None),
}


class Refused(Exception):
    """A file that does not open; `kind` is one of the error classes of docs/file-format.md."""

    def __init__(self, kind, why):
        super().__init__(why)
        self.kind = kind


def expand(key, label, length):
    return HKDFExpand(SHA512(), length, label).derive(key)


def check_head(suite, key, context, head):
    """Checks the commitment alone: the package reports a wrong key and a changed chunk alike."""
    name, key_bytes, _, _ = SUITES[suite]
    info = b"c2sp.org/chunked-encryption@v1+" + name + b"\0" + head[:24] + context
    if not hmac.compare_digest(expand(key, info, key_bytes + 44)[-32:], head[24:]):
        raise Refused("wrong_key", "the commitment does not match")


def open_payload(stream, suite, key, context, out):
    """Opens a payload from the position of `stream` to its end."""
    head = stream.read(HEAD_BYTES)
    if len(head) < HEAD_BYTES:
        raise Refused("truncated", "within the payload's head")
    check_head(suite, key, context, head)
    decryptor = SUITES[suite][2](key, context)
    total = 0
    try:
        out.write(decryptor.update(head))
        while data := stream.read(64 * CHUNK_BYTES):
            total += len(data)
            out.write(decryptor.update(data))
        if total % CHUNK_BYTES < TAG_BYTES:
            raise Refused("truncated", "the last chunk is missing or cut short")
        out.write(decryptor.finalize())
    except InvalidTag as error:
        raise Refused("not_authentic", "a chunk does not verify") from error


def bech32(text):
    """Returns (prefix in lower case, data) of Bech32 (BIP 173), without its limit of length."""
    prefix, _, data = text.rpartition("1")
    groups = ["qpzry9x8gf2tvdw0s3jn54khce6mua7l".index(c) for c in data.lower()]
    prefix, checksum = prefix.lower(), 1
    for group in [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix] + groups:
        top, checksum = checksum >> 25, (checksum & 0x1FFFFFF) << 5 ^ group
        for i, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            checksum ^= generator * (top >> i & 1)
    bits = "".join(f"{group:05b}" for group in groups[:-6])
    whole = len(bits) // 8 * 8
    if checksum != 1 or text not in (text.lower(), text.upper()) or len(bits) - whole > 4 or "1" in bits[whole:]:
        raise ValueError("no Bech32")
    return prefix, int("0" + bits[:whole], 2).to_bytes(whole // 8, "big")


def parse_identity(text):
    """Returns (slot type, secret key). An SSH key is a whole file in OpenSSH's format."""
    if text.startswith("-----BEGIN"):
        key = serialization.load_ssh_private_key(text.encode(), None)
        return SSH_RSA if isinstance(key, rsa.RSAPrivateKey) else SSH_ED25519, key
    prefix, secret = bech32(text)
    if len(secret) != 32 or text != text.upper():
        raise ValueError("no identity")
    return {"age-secret-key-": X25519, "age-secret-key-pq-": HYBRID}[prefix], secret


def exchange(secret, share):
    try:
        return secret.exchange(x25519.X25519PublicKey.from_public_bytes(share))
    except ValueError as error:  # of low order
        raise Refused("not_authentic", "a slot's share") from error


def unwrap_ssh(kind, key, parameters):
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    wire = base64.b64decode(public.split()[1])
    if parameters[:4] != hashlib.sha256(wire).digest()[:4]:
        raise Refused("wrong_key", "a slot of another SSH key")
    if kind == SSH_RSA:
        if len(parameters) - 4 != key.key_size // 8:
            raise Refused("not_authentic", "a slot's sealed file key")
        oaep = padding.OAEP(padding.MGF1(SHA256()), SHA256(), b"age-encryption.org/v1/ssh-rsa")
        try:
            return key.decrypt(parameters[4:], oaep)
        except ValueError as error:
            raise Refused("wrong_key", "a slot of another recipient") from error
    label, share, wrapped = b"age-encryption.org/v1/ssh-ed25519", parameters[4:36], parameters[36:]
    own = x25519.X25519PrivateKey.from_private_bytes(hashlib.sha512(key.private_bytes_raw()).digest()[:32])
    tweak = x25519.X25519PrivateKey.from_private_bytes(HKDF(SHA256(), 32, wire, label).derive(b""))
    shared = exchange(tweak, exchange(own, share))
    salt = share + own.public_key().public_bytes_raw()
    return ChaCha20Poly1305(HKDF(SHA256(), 32, salt, label).derive(shared)).decrypt(bytes(12), wrapped, None)


def unwrap(kind, secret, parameters):
    """Opens the stanza of a recipient's slot: returns the slot's file key."""
    share, wrapped = parameters[:-32], parameters[-32:]
    try:
        if kind in (SSH_ED25519, SSH_RSA):
            return unwrap_ssh(kind, secret, parameters)
        if kind == X25519:
            own = x25519.X25519PrivateKey.from_private_bytes(secret)
            salt = share + own.public_key().public_bytes_raw()
            key = HKDF(SHA256(), 32, salt, b"age-encryption.org/v1/X25519").derive(exchange(own, share))
            return ChaCha20Poly1305(key).decrypt(bytes(12), wrapped, None)
        seed = hashlib.shake_256(secret).digest(96)
        own = x25519.X25519PrivateKey.from_private_bytes(seed[64:])
        exchange(own, share[-32:])
        private = hpke.MLKEM768X25519PrivateKey(mlkem.MLKEM768PrivateKey.from_seed_bytes(seed[:64]), own)
        suite = hpke.Suite(hpke.KEM.MLKEM768_X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.CHACHA20_POLY1305)
        return suite.decrypt(parameters, private, b"age-encryption.org/mlkem768x25519")
    except InvalidTag as error:
        raise Refused("wrong_key", "a slot of another recipient") from error


def parse_fixed(block):
    if not block:
        raise Refused("truncated", "empty")
    if block[:8] != b"WARPSEAL"[: len(block)]:
        raise Refused("unsupported", "not a Warpseal file")
    if len(block) < FIXED_BYTES:
        raise Refused("truncated", "within the fixed part")
    version, suite, copy_bytes = struct.unpack_from(">HHI", block, 8)
    if version != 1:
        raise Refused("unsupported", f"version {version}")
    if suite not in SUITES:
        raise Refused("unsupported", f"suite {suite:#06x}")
    if copy_bytes == 0 or copy_bytes % 4096 or copy_bytes > 28672:
        raise Refused("limit_exceeded", f"header copies of {copy_bytes} bytes")
    if len(block) < FIRST_BLOCK_BYTES:
        raise Refused("truncated", "within the first block")
    if any(block[FIXED_BYTES:]):
        raise Refused("not_authentic", "bytes after the fixed part")
    return suite, copy_bytes


def parse_copy(raw):
    """Returns (generation, [(type, head, parameters, body)]), or None if the copy is malformed."""
    generation, count = struct.unpack_from(">QH", raw)
    if generation == 0 or not 1 <= count <= 32:
        return None
    rest, slots = raw[16:-MAC_BYTES], []
    for _ in range(count):
        try:
            kind, parameter_bytes = struct.unpack_from(">HH", rest)
            (body_bytes,) = struct.unpack_from(">H", rest, 4 + parameter_bytes)
        except struct.error:
            return None
        end = 6 + parameter_bytes + body_bytes
        if kind == 0 or end > len(rest):
            return None
        if kind in LENGTHS and not (LENGTHS[kind][0] <= parameter_bytes <= LENGTHS[kind][1] and body_bytes == 104):
            return None
        if kind == PLUGIN and rest[4] > 1:  # flags, of which one is known
            return None
        slots.append((kind, rest[: 4 + parameter_bytes], rest[4 : 4 + parameter_bytes], rest[6 + parameter_bytes : end]))
        rest = rest[end:]
    return None if any(raw[10:16]) or any(rest) else (generation, slots)


def argon2_allowed(parameters):
    passes, kib = struct.unpack_from(">II", parameters)
    return 1 <= passes <= 16 and 8 <= kib <= 1 << 20


def argon2_work(parameters):
    passes, kib = struct.unpack_from(">II", parameters)
    return passes * kib


def first_failure(failure, refused):
    return refused if failure.kind == "wrong_key" else failure


def slot_key(kind, parameters, secret):
    if kind == KEY_FILE:
        return expand(secret, b"warpseal/key-file/v1", 32)
    if kind != PASSPHRASE:
        return expand(unwrap(kind, secret, parameters), b"warpseal/recipient/v1", 32)
    passes, kib = struct.unpack_from(">II", parameters)
    return Argon2id(salt=parameters[8:], length=32, iterations=passes, lanes=1, memory_cost=kib).derive(secret)


def open_slots(fixed, copies, key, passphrase, identity):
    """Returns the data key from the first slot that opens: key files first, passphrases last, and
    the newer copy first."""
    failure = Refused("wrong_key", "no slot opens")
    tried, budget = set(), 2 * ARGON2_WORK
    own = parse_identity(identity) if identity is not None else (None, None)
    for kind, secret in ((KEY_FILE, key), own, (PASSPHRASE, passphrase)):
        for _, slots in copies if secret is not None else []:
            mine = [slot for slot in slots if slot[0] == kind]
            if kind == PASSPHRASE and sum(argon2_work(slot[2]) for slot in mine if argon2_allowed(slot[2])) > ARGON2_WORK:
                failure = first_failure(failure, Refused("limit_exceeded", "too much Argon2id work"))
                continue
            for slot in mine:
                if slot in tried:
                    continue
                tried.add(slot)
                if kind == PASSPHRASE and not (argon2_allowed(slot[2]) and argon2_work(slot[2]) <= budget):
                    failure = first_failure(failure, Refused("limit_exceeded", "Argon2id parameters, or work over all slots"))
                    continue
                budget -= argon2_work(slot[2]) if kind == PASSPHRASE else 0
                data_key = io.BytesIO()
                try:
                    open_payload(io.BytesIO(slot[3]), 2, slot_key(kind, slot[2], secret), b"warpseal/slot/v1" + fixed + slot[1], data_key)
                    return data_key.getvalue()
                except Refused as refused:
                    if kind not in (KEY_FILE, PASSPHRASE) and str(refused) == "the commitment does not match":
                        refused.kind = "not_authentic"  # the stanza opened, so the body was changed
                    failure = first_failure(failure, refused)
    raise failure


def open_header(stream, key=None, passphrase=None, identity=None):
    """Reads the envelope up to the payload; returns (suite number, fixed part, data key)."""
    block = stream.read(FIRST_BLOCK_BYTES)
    suite, copy_bytes = parse_fixed(block)
    raw = stream.read(2 * copy_bytes)
    if len(raw) < 2 * copy_bytes:
        raise Refused("truncated", "within the header")
    raws = [raw[:copy_bytes], raw[copy_bytes:]]
    parsed = [(parse_copy(r), r) for r in raws]
    well_formed = sorted((p for p in parsed if p[0]), key=lambda p: -p[0][0])
    if not well_formed:
        raise Refused("not_authentic", "both header copies are damaged")
    data_key = open_slots(block[:FIXED_BYTES], [p[0] for p in well_formed], key, passphrase, identity)
    mac_key = expand(data_key, b"warpseal/header-mac/v1", 64)
    for _, r in well_formed:
        if hmac.compare_digest(hmac.digest(mac_key, block + r[:-MAC_BYTES], "sha512"), r[-MAC_BYTES:]):
            return suite, block[:FIXED_BYTES], data_key
    raise Refused("not_authentic", "no header copy verifies")


def open_file(stream, out, key=None, passphrase=None, identity=None):
    suite, fixed, data_key = open_header(stream, key, passphrase, identity)
    try:
        open_payload(stream, suite, expand(data_key, b"warpseal/payload/v1", SUITES[suite][1]), fixed, out)
    except Refused as refused:
        if refused.kind == "wrong_key":  # the header verified, so the key is right
            refused.kind = "not_authentic"
        raise


def suite_of(key):
    return next(number for number, suite in SUITES.items() if suite[1] == len(key) and suite[3])


def seal_bare(stream, out, key, context):
    encryptor = SUITES[suite_of(key)][3](key, context)
    while data := stream.read(1 << 20):
        out.write(encryptor.update(data))
    out.write(encryptor.finalize())


def one_line(text):
    """Removes the final newline, LF or CR LF."""
    return text[:-2] if text.endswith(b"\r\n") else text.removesuffix(b"\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["open", "open-bare", "seal-bare"], help="bare: the payload alone, under a raw key")
    parser.add_argument("--key", help="key file")
    parser.add_argument("--passphrase-file")
    parser.add_argument("--identity-file", help="one AGE-SECRET-KEY-… line, or an SSH private key")
    parser.add_argument("--context", default="", help="of a bare payload, in hex")
    parser.add_argument("input")
    parser.add_argument("output")
    given = parser.parse_args()
    key = open(given.key, "rb").read() if given.key else None
    passphrase = one_line(open(given.passphrase_file, "rb").read()) if given.passphrase_file else None
    identity = one_line(open(given.identity_file, "rb").read()).decode() if given.identity_file else None
    context = bytes.fromhex(given.context)
    try:
        with open(given.input, "rb") as stream, open(given.output, "wb") as out:
            if given.command == "open":
                open_file(stream, out, key, passphrase, identity)
            elif given.command == "open-bare":
                open_payload(stream, suite_of(key), key, context, out)
            else:
                seal_bare(stream, out, key, context)
    except Refused as refused:
        sys.exit(f"{refused.kind}: {refused}")


if __name__ == "__main__":
    main()
