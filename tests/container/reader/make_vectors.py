"""Writes tests/vectors/container/envelope.json: files made from docs/file-format.md by a second
writer, and the expected result of each."""

import base64
import hashlib
import hmac
import json
import pathlib
import struct
import zlib

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from warpseal_reader import BlockGcm

CHUNK = 16384
SEALED = CHUNK + 16
AEADS = {  # number: name, key bytes, encryptor
    2: (b"AEAD_AES_256_GCM", 32, AESGCM),
    1: (b"AEAD_AES_128_GCM", 16, AESGCM),
    0x8001: (b"AEAD_ARIA_256_GCM", 32, lambda key: BlockGcm("ARIA-256-ECB", key)),
    0x8002: (b"AEAD_CAMELLIA_256_GCM", 32, lambda key: BlockGcm("CAMELLIA-256-ECB", key)),
}


def draw(label, length):
    """Replaces the operating system's random source: deterministic."""
    return hashlib.shake_256(b"warpseal vectors: " + label.encode()).digest(length)


def expand(key, label, length):
    return HKDFExpand(SHA512(), length, label).derive(key)


def chunks(key, context, text, salt, suite=2):
    """Chunked encryption, c2sp.org/chunked-encryption: its head, then its sealed chunks as a list."""
    name, key_bytes, make = AEADS[suite]
    okm = expand(key, b"c2sp.org/chunked-encryption@v1+" + name + b"\0" + salt + context, key_bytes + 44)
    aead, base = make(okm[:key_bytes]), int.from_bytes(okm[key_bytes : key_bytes + 12], "big")
    count = len(text) // CHUNK + 1
    sealed = [aead.encrypt((base ^ k).to_bytes(12, "big"), text[CHUNK * k : CHUNK * (k + 1)], None) for k in range(count)]
    return [salt + okm[-32:]] + sealed


class Stanza:
    """The first stanza of one of C2SP's test files for age, and the secrets that go with it."""

    def __init__(self, name, number=0):
        path = pathlib.Path(__file__).resolve().parents[2] / "vectors/age/testdata" / name
        head, _, body = path.read_bytes().partition(b"\n\n")
        values = [line.split(": ", 1) for line in head.decode().splitlines()]
        self.file_key = bytes.fromhex(next(value for key, value in values if key == "file key"))
        self.identity = next(value for key, value in values if key == "identity")
        lines = body.split(b"\n---")[0].split(b"\n-> ")[1:][number].split(b"\n")
        kind, share = lines[0].split()
        self.type = {b"X25519": 3, b"mlkem768x25519": 4}[kind]
        self.parameters = b"".join(base64.b64decode(part + b"=" * (-len(part) % 4)) for part in (share, lines[1]))


class File:
    """A file under construction; each part may be changed before the next is made from it."""

    def __init__(self, name, text=b"", suite=2, copy_bytes=8192, salt="salt"):
        self.name, self.suite, self.copy_bytes = name, suite, copy_bytes
        self.fixed = b"WARPSEAL" + struct.pack(">HHI", 1, suite, copy_bytes) + draw(name + " id", 16)
        self.data_key = draw(name + " data key", 32)
        self.block = self.fixed.ljust(4096, b"\0")
        self.copies = [b"", b""]
        if suite in AEADS:
            key = expand(self.data_key, b"warpseal/payload/v1", AEADS[suite][1])
            self.payload = chunks(key, self.fixed, text, draw(name + salt, 24), suite)

    def slot(self, secret, cost=(1, 64), body=None):
        if isinstance(secret, Stanza):
            head = struct.pack(">HH", secret.type, len(secret.parameters)) + secret.parameters
            key, secret = expand(secret.file_key, b"warpseal/recipient/v1", 32), secret.type
        elif isinstance(secret, bytes):
            head, key = struct.pack(">HH", 1, 0), expand(secret, b"warpseal/key-file/v1", 32)
        else:
            salt = draw(f"{self.name} {secret} argon2", 16)
            head = struct.pack(">HHII", 2, 24, *cost) + salt
            allowed = 1 <= cost[0] <= 16 and 8 <= cost[1] <= 4096
            key = Argon2id(salt=salt, length=32, iterations=cost[0], lanes=1, memory_cost=cost[1]).derive(secret.encode()) if allowed else bytes(32)
        salt = draw(f"{self.name} {secret} slot", 24)
        sealed = body or b"".join(chunks(key, b"warpseal/slot/v1" + self.fixed + head, self.data_key, salt))
        return head + struct.pack(">H", len(sealed)) + sealed

    def copy(self, slots, generation=1, count=None, mark=None):
        front = struct.pack(">QH6x", generation, len(slots) if count is None else count) + b"".join(slots)
        front = front.ljust(self.copy_bytes - 64, b"\0")
        if mark is not None:  # a byte that must be zero
            front = flip(front, mark)
        return front + hmac.digest(expand(self.data_key, b"warpseal/header-mac/v1", 64), self.block + front, "sha512")

    def both(self, slots, **how):
        self.copies = [self.copy(slots, **how)] * 2
        return self

    def bytes(self):
        return b"".join([self.block, *self.copies, *self.payload])


def flip(data, at):
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


KEY, OTHER = draw("key", 32), draw("other key", 32)
vectors = []


def add(name, data, result, text=None, key=KEY, passphrase=None, identity=None):
    row = {"name": name, "result": result}
    if key is not None:
        row["key"] = key.hex()
    if passphrase is not None:
        row["passphrase"] = passphrase
    if identity is not None:
        row["identity"] = identity
    if text is not None:
        row |= {"textBytes": len(text), "textSha512": hashlib.sha512(text).hexdigest()}
    row["file"] = zlib.compress(data, 9).hex()
    vectors.append(row)


def good_files():
    for suite in AEADS:
        for length in (0, 1, 16):
            text = draw("text", length)
            add(f"suite {suite:#x}, {length} bytes" if suite > 2 else f"suite {suite}, {length} bytes", sealed("small", text, suite), "ok", text)
    for length in (CHUNK, CHUNK + 1):
        text = draw("text", length)
        add(f"{length} bytes", sealed("long", text), "ok", text)
    for suite in (0x8001, 0x8002):
        text = draw("text", CHUNK + 1)
        data = sealed("long", text, suite)
        add(f"suite {suite:#x}, {CHUNK + 1} bytes", data, "ok", text)
        add(f"suite {suite:#x}, a chunk changed", flip(data, -20), "not_authentic")
        add(f"suite {suite:#x}, said to be the default", data[:10] + b"\0\2" + data[12:], "wrong_key")


def sealed(name, text, suite=2):
    file = File(name, text, suite)
    return file.both([file.slot(KEY)]).bytes()


def slots():
    text = b"slots"
    f = File("slots", text)
    both = f.both([f.slot(KEY), f.slot("correct horse")]).bytes()
    add("two slots, by key", both, "ok", text)
    add("two slots, by passphrase", both, "ok", text, None, "correct horse")
    add("two slots, another passphrase", both, "wrong_key", None, None, "correct horsf")
    add("a wrong key and the right passphrase", both, "ok", text, OTHER, "correct horse")
    add("passphrase beyond ASCII, lowest cost", f.both([f.slot("pässwörd ☃", (1, 8))]).bytes(), "ok", text, None, "pässwörd ☃")
    add("three passes", f.both([f.slot("p", (3, 32))]).bytes(), "ok", text, None, "p")
    add("32 slots, the last opens", f.both([f.slot(draw(f"k{i}", 32)) for i in range(31)] + [f.slot(KEY)]).bytes(), "ok", text)
    add("an unknown slot type comes first", f.both([struct.pack(">HHHH", 77, 2, 5, 3) + b"abc", f.slot(KEY)]).bytes(), "ok", text)
    add("only an unknown slot type", f.both([struct.pack(">HHHH", 77, 2, 5, 3) + b"abc"]).bytes(), "wrong_key")
    add("no slot for a key", f.both([f.slot("p")]).bytes(), "wrong_key")
    add("another key", f.both([f.slot(OTHER)]).bytes(), "wrong_key")
    other = File("slots 2", text)
    add("a slot from another file", f.both([other.slot(KEY)]).bytes(), "wrong_key")
    add("a slot's tag changed in both copies", f.both([flip(f.slot(KEY), -1)]).bytes(), "not_authentic")
    add("a slot's commitment changed in both copies", f.both([flip(f.slot(KEY), 40)]).bytes(), "wrong_key")
    for cost in ((0, 64), (17, 64), (2**32 - 1, 64), (1, 0), (1, 7), (1, 2**20 + 1), (1, 2**32 - 1)):
        add(f"Argon2id with {cost[0]} passes, {cost[1]} KiB", f.both([f.slot("p", cost)]).bytes(), "limit_exceeded", None, None, "p")
    dear = [f.slot(str(i), (16, 2**20)) for i in range(3)]
    add("Argon2id work of all slots together", f.both(dear).bytes(), "limit_exceeded", None, None, "p")
    add("Argon2id beyond the bounds beside a key", f.both([f.slot("p", (17, 64)), f.slot(KEY)]).bytes(), "ok", text)


def recipients():
    text = b"recipients"
    f = File("recipients", text, copy_bytes=28672)
    weak, strong = Stanza("x25519"), Stanza("hybrid")
    for name, one, other in (("X25519", weak, strong), ("mlkem768x25519", strong, weak)):
        slot, share = f.slot(one), 4 + len(one.parameters) - 32
        good = f.both([slot]).bytes()
        add(f"{name} slot", good, "ok", text, None, None, one.identity)
        add(f"{name} slot, the other identity", good, "wrong_key", None, None, None, other.identity)
        add(f"{name} slot, a key", good, "wrong_key")
        all_kinds = f.both([f.slot("p"), slot, f.slot(KEY)]).bytes()
        add(f"{name} slot among others, by identity", all_kinds, "ok", text, None, None, one.identity)
        add(f"{name} slot among others, by key", all_kinds, "ok", text)
        add(f"{name} slot among others, by passphrase and a wrong identity", all_kinds, "ok", text, None, "p", other.identity)
        add(f"{name} slot, its share changed", f.both([flip(slot, 4)]).bytes(), "wrong_key", None, None, None, one.identity)
        add(f"{name} slot, its wrapped key changed", f.both([flip(slot, share)]).bytes(), "wrong_key", None, None, None, one.identity)
        low = f.both([slot[: share - 32] + bytes(32) + slot[share:]]).bytes()
        add(f"{name} slot, its share of low order", low, "not_authentic", None, None, None, one.identity)
        add(f"{name} slot, its commitment changed", f.both([flip(slot, -50)]).bytes(), "not_authentic", None, None, None, one.identity)
        add(f"{name} slot, its tag changed", f.both([flip(slot, -1)]).bytes(), "not_authentic", None, None, None, one.identity)
        add(f"{name} slot, an intact one follows", f.both([flip(slot, -1), slot]).bytes(), "ok", text, None, None, one.identity)
        moved = File("recipients 2", text).slot(one)
        add(f"{name} slot of another file", f.both([moved]).bytes(), "not_authentic", None, None, None, one.identity)
        short = slot[:2] + struct.pack(">H", len(one.parameters) - 1) + slot[5:]
        add(f"{name} slot, a byte short", f.both([short]).bytes(), "not_authentic", None, None, None, one.identity)
        relabelled = struct.pack(">H", 3 if one is strong else 4) + slot[2:]
        add(f"{name} slot of the other type", f.both([relabelled]).bytes(), "not_authentic", None, None, None, one.identity)
    stanza = Stanza("hybrid")
    f = File("recipients in a small header", text, copy_bytes=8192)
    add("mlkem768x25519 slots in a header of 8192 bytes", f.both([f.slot(stanza)] * 6).bytes(), "ok", text, None, None, stanza.identity)


def wrapped_by_programs():
    """Slots of SSH keys and plugins, which a reader without these checks and skips."""
    text = b"wrapped by programs"
    f = File("wrapped by programs", text, copy_bytes=28672)

    def slot(kind, parameters, body_bytes=104):
        return struct.pack(">HH", kind, len(parameters)) + parameters + struct.pack(">H", body_bytes) + draw(f"body {kind}", body_bytes)

    stanza = b"-> some-type an-argument\n\n"
    for name, kind, least, most in (("ssh-ed25519", 5, 68, 68), ("ssh-rsa", 6, 260, 2052), ("plugin", 16, 2, 8192)):
        for size in sorted({least, most}):
            one = slot(kind, bytes(size))
            add(f"{name} slot of {size} bytes comes first", f.both([one, f.slot(KEY)]).bytes(), "ok", text)
            add(f"{name} slot of {size} bytes alone", f.both([one]).bytes(), "wrong_key")
        for size in (least - 1, most + 1):
            add(f"{name} slot of {size} bytes", f.both([slot(kind, bytes(size)), f.slot(KEY)]).bytes(), "not_authentic")
        for size in (103, 105):
            add(f"{name} slot with a body of {size} bytes", f.both([slot(kind, bytes(least), size), f.slot(KEY)]).bytes(), "not_authentic")
    for flags in (0, 1, 2, 3, 128, 255):
        row = f.both([slot(16, bytes([flags]) + stanza * 2), f.slot(KEY)]).bytes()
        add(f"plugin slot with flags {flags}", row, *(("ok", text) if flags < 2 else ("not_authentic",)))


def copies():
    text = b"copies"
    f = File("copies", text)
    good, slot = f.copy([f.slot(KEY)]), f.slot(KEY)
    newer = f.copy([f.slot(OTHER)], 2)

    def file(a, b):
        f.copies = [a, b]
        return f.bytes()

    add("first copy all zero", file(bytes(8192), good), "ok", text)
    add("second copy all ones", file(good, b"\xff" * 8192), "ok", text)
    add("both copies all zero", file(bytes(8192), bytes(8192)), "not_authentic")
    add("first copy's MAC changed", file(flip(good, -1), good), "ok", text)
    add("both copies' MACs changed", file(flip(good, -1), flip(good, -64)), "not_authentic")
    add("a zero of both copies changed", file(flip(good, 5000), flip(good, 5000)), "not_authentic")
    add("newer second copy", file(good, newer), "ok", text, OTHER)
    add("newer first copy", file(newer, good), "ok", text, OTHER)
    add("the copy before an unfinished rewrite", file(good, newer), "ok", text)
    add("newer copy does not verify", file(good, flip(f.copy([slot], 9), 6000)), "ok", text)
    add("newer copy was cut while written", file(good, newer[:4096] + good[4096:]), "ok", text)
    add("highest generation", file(good, f.copy([slot], 2**64 - 1)), "ok", text)
    add("generation 0", file(*[f.copy([slot], 0)] * 2), "not_authentic")
    for count in (0, 2, 33, 65535):
        add(f"slot count {count}, one slot", file(*[f.copy([slot], 1, count)] * 2), "not_authentic")
    add("a slot longer than its copy", file(*[f.copy([struct.pack(">HHH", 77, 0, 65535)])] * 2), "not_authentic")
    add("slot type 0", file(*[f.copy([struct.pack(">HHH", 0, 0, 0), slot])] * 2), "not_authentic")
    add("a key slot with a short body", file(*[f.copy([f.slot(KEY, body=bytes(103))])] * 2), "not_authentic")
    for place, at in (("head", 10), ("head's end", 15), ("slots", 16 + len(slot)), ("MAC", 8192 - 65)):
        marked = f.copy([slot], 2, mark=at)
        add(f"both copies authentic, not zero at the {place}", file(marked, marked), "not_authentic")
        add(f"newer copy authentic, not zero at the {place}", file(good, marked), "ok", text)
    add("equal generations, slots of both open, first key", file(f.copy([slot]), f.copy([f.slot(OTHER)])), "ok", text)
    add("equal generations, slots of both open, second key", file(f.copy([slot]), f.copy([f.slot(OTHER)])), "ok", text, OTHER)
    dear, torn = f.copy([f.slot("p", (17, 64))]), f.copy([flip(f.slot("p"), -1)])
    add("equal generations, the first copy's slot asks too much", file(dear, torn), "limit_exceeded", None, None, "p")
    add("equal generations, the first copy's slot is changed", file(torn, dear), "not_authentic", None, None, "p")
    beyond = f.copy([f.slot(str(i), (16, 2**20)) for i in range(3)], 2)
    add("newer copy asks too much in all, the other opens", file(f.copy([f.slot("p")]), beyond), "ok", text, None, "p")
    add("Argon2id work beyond the bound, and only a key given", file(beyond, beyond), "wrong_key")
    for copy_bytes in (4096, 28672):
        g = File("sizes", text, copy_bytes=copy_bytes)
        add(f"copies of {copy_bytes} bytes", g.both([g.slot(KEY)]).bytes(), "ok", text)
    other = File("copies 2", text)
    other.both([other.slot(KEY)])
    add("header of another file, but for the fixed part", file(*other.copies), "wrong_key")


def fixed_part():
    data = sealed("fixed", b"fixed")

    def patched(at, layout, value):
        return data[:at] + struct.pack(layout, value) + data[at + struct.calcsize(layout) :]

    add("first letter changed", flip(data, 0), "unsupported")
    add("last letter changed", flip(data, 7), "unsupported")
    for version in (0, 2, 65535):
        add(f"version {version}", patched(8, ">H", version), "unsupported")
    for suite in (0, 3, 0x8000, 0x8003, 0xFFFF):
        add(f"suite {suite:#06x}", patched(10, ">H", suite), "unsupported")
    add("the other suite's number", patched(10, ">H", 1), "wrong_key")
    for size in (0, 1, 4095, 8193, 32768, 2**31, 2**32 - 1):
        add(f"copies said to have {size} bytes", patched(12, ">I", size), "limit_exceeded")
    add("file id changed", flip(data, 20), "wrong_key")
    add("a zero after the fixed part changed", flip(data, 32), "not_authentic")
    add("the last zero of the first block changed", flip(data, 4095), "not_authentic")
    for length in (0, 1, 7, 8, 31, 32, 4095, 4096, 12288, 20479, 20480, 20535, 20536, 20551):
        add(f"cut to {length} bytes", data[:length], "truncated")
    add("cut within the last chunk", data[:-1], "not_authentic")
    add("a byte follows", data + b"\0", "not_authentic")
    add("not our file", b"age-encryption.org/v1\n" + bytes(5000), "unsupported")


def payload():
    text = draw("three", 2 * CHUNK + 5)
    f = File("payload", text)
    f.both([f.slot(KEY)])
    head, a, b, last = f.payload

    def file(*parts):
        f.payload = list(parts)
        return f.bytes()

    add("salt changed", file(flip(head, 0), last), "not_authentic")
    add("commitment changed", file(flip(head, 55), last), "not_authentic")
    add("last chunk alone", file(head, last), "not_authentic")
    add("no chunk", file(head), "truncated")
    add("first two chunks swapped", file(head, b, a, last), "not_authentic")
    add("last chunk missing", file(head, a), "truncated")
    add("last chunk twice", file(head, last, last), "not_authentic")
    g = File("payload", b"12345", salt="another")
    add("chunk of another payload under the same data key", file(head, g.payload[1]), "not_authentic")
    add("payload sealed again under the same data key", file(*g.payload), "ok", b"12345")
    h = File("another file", b"12345")
    add("payload of another file", file(*h.payload), "not_authentic")


for part in (good_files, slots, recipients, wrapped_by_programs, copies, fixed_part, payload):
    part()
target = pathlib.Path(__file__).resolve().parents[2] / "vectors/container/envelope.json"
target.parent.mkdir(exist_ok=True)
target.write_text(json.dumps({"format": "docs/file-format.md, version 1", "vectors": vectors}, indent=1, ensure_ascii=False) + "\n")
print(f"{len(vectors)} vectors, {target.stat().st_size} bytes")
