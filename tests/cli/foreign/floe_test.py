"""FLOE: the answers of tests/vectors/floe, round trips around segment limits, damage, options."""

import gzip
import hashlib
import hmac
import json
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from program import case, check, check_equal, main, some_bytes

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "floe"
HEADER, OVERHEAD = 74, 32
# The names that a failure may have; readers differ in them.
CODES = {"wrong key": {12}, "segment": {13, 14}, "truncated": {14, 13}, "trailing": {13}, "unsupported": {15}, "unsupported or wrong key": {15, 12}}


def rows():
    with gzip.open(VECTORS / "floe.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def aad(text):
    return ["--aad", text] if text else []


def derive(key, header, data, purpose, length):
    return hmac.digest(key, header[:42] + purpose + data + b"\x01", "sha384")[:length]


def open_segment(p, key, header, data, position, segment, last):
    """Opens one segment by its definition, with AES-GCM of `warpseal raw`."""
    message_key = derive(key, header, data, b"MESSAGE_KEY:", 48)
    p.write("segment-key", derive(message_key, header, data, b"DEK:" + struct.pack(">Q", position >> 20 << 20), 32), 0o600)
    p.write("segment-aad", struct.pack(">QB", position, last))
    return p.ok("-q", "raw", "decrypt", "-c", "aes-256-gcm", "-k", "segment-key", "--iv", segment[4:16].hex(), "--aad-file", "segment-aad",
                input=segment[16:]).out


@case
def answers(p):
    opened = 0
    for row in rows():
        p.write("key", bytes.fromhex(row["key"]), 0o600)
        p.write("sealed", bytes.fromhex(row["ct"]))
        name = row.get("id")
        for arguments in [["--format", "floe"], []]:
            command = ["decrypt", *arguments, "-k", "key", *aad(row["aad"]), "sealed"]
            result = p.run(*command)
            if row["valid"] and row["rotation_bits"] == 20:
                check_equal((result.code, result.out), (0, bytes.fromhex(row["pt"])), f"{name} {result.err}")
                opened += 1
            elif row["valid"]:
                # Keys that change after other than 2^20 segments: a parameter of tests, which no
                # file carries. What was verified before that is written.
                check_equal(result.code, 13, name)
                whole = (row["segment"] - OVERHEAD) << row["rotation_bits"]
                check_equal(result.out, bytes.fromhex(row["pt"])[:whole], f"{name}: prefix")
            else:
                check(result.code in CODES[row["error"]], f"{name}: {result.code} {result.err}")
                p.fails(result.code, "Nothing was written", *command, "-o", "opened")
    check(opened >= 30, f"only {opened} opened")


@case
def answer_with_long_segments(p):
    row = json.loads((VECTORS / "1M.json").read_text())
    p.write("key", bytes.fromhex(row["key"]), 0o600)
    sealed = (VECTORS / "1M.floe").read_bytes()
    for arguments, options in [([VECTORS / "1M.floe"], {}), ([], {"input": sealed})]:
        text = p.ok("decrypt", "-k", "key", "--aad", row["aad"], *arguments, **options).out
        check_equal((len(text), hashlib.sha256(text).hexdigest()), (row["pt_bytes"], row["pt_sha256"]), "plaintext")


@case
def round_trips(p):
    p.key()
    for segment in [33, 48, 4096, 1 << 20, 3 << 20]:
        each = segment - OVERHEAD
        for size in sorted({0, 1, each - 1, each, each + 1, 2 * each, 3 * each + 7}):
            if segment > 1 << 20 and size not in (each, each + 1):
                continue
            text = some_bytes(size, size)
            p.write("plain", text)
            options = ["-q", "--format", "floe", "-k", "key", "--aad", "00ff"]
            p.ok("encrypt", *options, "--segment-bytes", segment, "plain", "-o", "sealed", "--force")
            sealed = p.read("sealed")
            count = max(1, -(-size // each))
            check_equal(len(sealed), HEADER + size + count * OVERHEAD, f"length of {size} bytes in segments of {segment}")
            check_equal(sealed[:10], struct.pack(">BBII", 0, 0, segment, 32), "parameters")
            check(p.ok("decrypt", *options, "sealed").out == text, f"{size} in {segment}: file")
            check(p.ok("decrypt", *options, "-o", "opened", "--force", input=sealed).out == b"" and p.read("opened") == text, "pipe")
            check_equal(p.ok("verify", *options, "sealed").out, b"", "verify")
            piped = p.ok("encrypt", *options, "--segment-bytes", segment, input=text).out
            check(piped[10:42] != sealed[10:42], "an IV repeats")
            check(p.ok("decrypt", *options, input=piped).out == text, f"{size} in {segment}: pipes")


@case
def default_segment_and_large_text(p):
    p.key()
    text = some_bytes((37 << 20) + 5)
    p.write("plain", text)
    p.ok("encrypt", "--format", "floe", "-k", "key", "plain", "-o", "sealed")
    check_equal(p.read("sealed")[:10], struct.pack(">BBII", 0, 0, 1 << 20, 32), "parameters")
    check(p.ok("decrypt", "-k", "key", "sealed").out == text, "bytes differ")
    check(p.ok("decrypt", "-k", "key", "--threads", 3, "--device", "cpu", input=p.read("sealed")).out == text, "bytes differ from a pipe")


@case
def segments_are_as_defined(p):
    key = p.read(p.key())
    for data in [b"", b"context"]:
        text = some_bytes(100)
        sealed = p.ok("encrypt", "--format", "floe", "-k", "key", *aad(data.hex()), "--segment-bytes", 64, input=text).out
        header = sealed[:HEADER]
        check_equal(header[42:], derive(key, header, data, b"HEADER_TAG:", 32), "header tag")
        parts = [sealed[at:at + 64] for at in range(HEADER, len(sealed), 64)]
        check_equal([part[:4].hex() for part in parts], ["ffffffff"] * 3 + [struct.pack(">I", 36).hex()], "length fields")
        opened = [open_segment(p, key, header, data, i, part, i == 3) for i, part in enumerate(parts)]
        check_equal(b"".join(opened), text, "text")
        check_equal(len({part[4:16] for part in parts}), 4, "nonces")


@case
def key_changes_after_two_to_the_20_segments(p):
    key = p.read(p.key())
    p.write("plain", some_bytes((1 << 20) + 3))
    p.ok("encrypt", "--format", "floe", "-k", "key", "--segment-bytes", 33, "plain", "-o", "sealed")
    sealed, text = p.read("sealed"), p.read("plain")
    for position in [0, (1 << 20) - 1, 1 << 20, (1 << 20) + 1]:
        segment = sealed[HEADER + 33 * position:][:33]
        check_equal(open_segment(p, key, sealed[:HEADER], b"", position, segment, 0), text[position:position + 1], f"segment {position}")
    check(p.ok("decrypt", "-k", "key", "sealed").out == text, "bytes differ")


@case
def an_empty_last_segment_is_read(p):
    """A text of whole segments may end with an empty segment."""
    key = p.read(p.key())
    sealed = p.ok("encrypt", "--format", "floe", "-k", "key", "--segment-bytes", 64, input=some_bytes(40)).out
    header = sealed[:HEADER]
    internal = sealed[HEADER:HEADER + 64]
    message_key = derive(key, header, b"", b"MESSAGE_KEY:", 48)
    p.write("dek", derive(message_key, header, b"", b"DEK:" + bytes(8), 32), 0o600)
    p.write("aad", struct.pack(">QB", 1, 1))
    tag = p.ok("raw", "encrypt", "-c", "aes-256-gcm", "-k", "dek", "--iv", "ab" * 12, "--aad-file", "aad", input=b"").out
    made = header + internal + struct.pack(">I", 32) + b"\xab" * 12 + tag
    check_equal(p.ok("decrypt", "-k", "key", input=made).out, some_bytes(40)[:32], "text")


@case
def changed_bytes_and_cuts(p):
    p.key()
    text = some_bytes(100)
    sealed = p.ok("encrypt", "--format", "floe", "-k", "key", "--segment-bytes", 64, input=text).out
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 1 << at % 8
        p.write("changed", bytes(changed))
        result = p.run("decrypt", "--format", "floe", "-k", "key", "changed")
        check(result.code in ({12, 15} if at < HEADER else {13, 14}), f"byte {at}: {result.code}")
        check_equal(result.out, text[:32 * max(0, (at - HEADER) // 64)], f"byte {at}: prefix")
        check("what went to" in result.err.lower() or "nothing was written" in result.err.lower(), result.err)
        if at % 16 == 0:
            p.fails(result.code, "Nothing was written", "decrypt", "--format", "floe", "-k", "key", "changed", "-o", "opened")
            check_equal(p.run("verify", "--format", "floe", "-k", "key", "changed").code, {13: 26, 14: 26}.get(result.code, result.code), f"verify, byte {at}")
    for length in range(len(sealed)):
        result = p.run("decrypt", "--format", "floe", "-k", "key", input=sealed[:length])
        check_equal(result.code, 14, f"cut to {length}")
        check_equal(result.out, text[:32 * max(0, (length - HEADER) // 64)], f"cut to {length}: prefix")
    for more in [b"\0", sealed[HEADER:], bytes(1000)]:
        check_equal(p.run("decrypt", "-k", "key", input=sealed + more).code, 13, "trailing bytes")


@case
def moved_and_relabelled_segments(p):
    """Only the whole segments in their order are the text."""
    p.key()
    text = some_bytes(96 + 5)
    options = ["--format", "floe", "-k", "key", "--segment-bytes", 64]
    sealed = p.ok("encrypt", *options, input=text).out
    other = p.ok("encrypt", *options, input=text).out
    whole = p.ok("encrypt", *options, input=text[:96]).out
    header, parts = sealed[:HEADER], [sealed[at:at + 64] for at in range(HEADER, len(sealed), 64)]
    final = struct.pack(">I", 64)
    cases = {
        "swapped": ([parts[1], parts[0], *parts[2:]], 0),
        "twice": ([parts[0], parts[0], *parts[1:]], 1),
        "left out": ([parts[0], *parts[2:]], 1),
        "of another file": ([parts[0], other[HEADER + 64:HEADER + 128], *parts[2:]], 1),
        "the last one of another file": ([*parts[:3], other[HEADER + 192:]], 3),
        "an internal one as the last": ([parts[0], final + parts[1][4:]], 1),
        "more after the last": ([*parts, parts[3]], None),
        "the last one first": ([parts[3], *parts], 0),
    }
    for kind, (made, prefix) in cases.items():
        result = p.run("decrypt", "-k", "key", input=header + b"".join(made))
        check_equal(result.code, 13, kind)
        check_equal(result.out, text if prefix is None else text[:32 * prefix], kind)
        p.write("changed", header + b"".join(made))
        p.fails(13, "Nothing was written", "decrypt", "-k", "key", "changed", "-o", "opened")
        p.fails(26, "cannot verify", "verify", "-k", "key", "changed")
    check_equal(p.run("decrypt", "-k", "key", input=other[:HEADER] + b"".join(parts)).out, b"", "a header of another file")
    # A full last segment, marked as an internal one.
    check_equal(whole[-64:-60], final, "a full last segment")
    for more in [b"", whole[-64:]]:
        result = p.run("decrypt", "-k", "key", input=whole[:-64] + b"\xff" * 4 + whole[-60:] + more)
        check_equal((result.code, result.out), (13, text[:64]), "a last segment as an internal one")


@case
def wrong_key_and_aad(p):
    p.key()
    p.key("other")
    p.write("aad", b"\0\1")
    p.write("plain", b"text")
    p.ok("encrypt", "--format", "floe", "-k", "key", "--aad-file", "aad", "plain", "-o", "sealed")
    check_equal(p.ok("decrypt", "-k", "key", "--aad", "0001", "sealed").out, b"text", "AAD as digits")
    check_equal(p.ok("decrypt", "-k", "other", "-k", "key", "--aad-file", "aad", "sealed").out, b"text", "the second key")
    p.write("aad", some_bytes((1 << 20) + 1))
    p.fails(17, ["'aad'", "--aad-file"], "encrypt", "--format", "floe", "-k", "key", "--aad-file", "aad", "plain", "-o", "longer")
    p.write("aad", some_bytes(1 << 20))
    p.ok("encrypt", "--format", "floe", "-k", "key", "--aad-file", "aad", "plain", "-o", "longest")
    check_equal(p.ok("decrypt", "-k", "key", "--aad-file", "aad", "longest").out, b"text", "the longest AAD")
    for arguments in [["-k", "other", "--aad", "0001"], ["-k", "key"], ["-k", "key", "--aad", "000100"]]:
        p.fails(12, ["wrong key", "AAD", "Nothing was written"], "decrypt", *arguments, "sealed", "-o", "opened")


@case
def options(p):
    p.key()
    p.key("short", 16)
    p.write("plain", b"text")
    p.write("word", b"secret\n", 0o600)
    floe = ["--format", "floe", "plain", "-o", "out"]
    p.fails(2, "-k KEYFILE", "encrypt", *floe)
    p.fails(2, "passphrase", "encrypt", "--passphrase-file", "word", *floe)
    p.fails(2, "one key", "encrypt", "-k", "key", "-k", "key", *floe)
    p.fails(2, "wrong size", "encrypt", "-k", "short", *floe)
    p.fails(15, "aes-256-gcm", "encrypt", "-k", "key", "-c", "aria-256-gcm", *floe)
    p.fails(2, "--context", "encrypt", "-k", "key", "--context", "00", *floe)
    p.fails(2, "hexadecimal", "encrypt", "-k", "key", "--aad", "0", *floe)
    p.fails(2, ["--aad-file", "-k -"], "encrypt", "-k", "-", "--aad-file", "-", *floe, input=p.read("key"))
    p.fails(2, ["--aad-file -", "input"], "encrypt", "-k", "key", "--aad-file", "-", "--format", "floe", "-o", "out", input=b"")
    p.fails(2, ["--aad-file", "no file"], "encrypt", "-k", "key", "--aad-file", "", *floe)
    p.fails(10, "'none'", "encrypt", "-k", "key", "--aad-file", "none", *floe)
    for size in [0, 32, (16 << 20) + 1]:
        p.fails(2, "segment-bytes", "encrypt", "-k", "key", "--segment-bytes", size, *floe)
    p.fails(2, "--aad", "encrypt", "-k", "key", "--aad", "00", "plain", "-o", "out")
    p.fails(2, "--segment-bytes", "encrypt", "-k", "key", "--segment-bytes", 64, "plain", "-o", "out")
    p.ok("encrypt", "-k", "key", *floe)
    p.fails(11, "--force", "encrypt", "-k", "key", *floe)
    p.fails(2, "openssl", "decrypt", "-k", "key", "--pbkdf2", "out", "-o", "opened")
    p.fails(15, "cannot decrypt", "decrypt", "-k", "key", "--format", "warpseal", "out", "-o", "opened")
    for segment, where in [(32, 15), ((16 << 20) + 1, 15)]:
        p.write("header", struct.pack(">BBII", 0, 0, segment, 32) + bytes(64))
        p.fails(where, ["segments", str(segment)], "decrypt", "--format", "floe", "-k", "key", "header", "-o", "opened")


@case
def a_slow_pipe_is_recognised(p):
    p.key()
    text = some_bytes(10_000)
    sealed = p.ok("encrypt", "--format", "floe", "-k", "key", input=text).out
    process = p.start("decrypt", "-k", "key", stdin=subprocess.PIPE)
    for part in [sealed[:3], sealed[3:9], sealed[9:40], sealed[40:]]:
        process.stdin.write(part)
        process.stdin.flush()
    out, _ = process.communicate(timeout=60)
    check_equal((process.returncode, out), (0, text), "result")
    for part in [b"", b"\0", sealed[:9]]:
        check(p.run("decrypt", "-k", "key", input=part).code in (14, 15), f"{len(part)} bytes")


@case
def ranges(p):
    """The end and the range must be authentic, and nothing else."""
    p.key()
    options = ("decrypt", "-k", "key", "--aad", "00ff", "--range")
    for segment in (40, 4096):
        each = segment - OVERHEAD
        for size in (0, 1, each, each + 1, 5 * each, 5 * each + 3):
            content = some_bytes(size)
            p.ok("-q", "encrypt", "-f", "--format", "floe", "-k", "key", "--aad", "00ff", "--segment-bytes", segment, "-o", "sealed", input=content)
            for offset, length in ((0, size), (size // 2, 3), (max(size - 1, 0), 5), (size, 5), (each - 1, 2), (each, each), (max(size - each - 1, 0), each + 1)):
                if offset > size:
                    continue
                result = p.ok(*options, f"{offset}:{length}", "sealed")
                check_equal(result.out, content[offset:offset + length], f"{offset}:{length} of {size} in segments of {segment}")
                check_equal("the plaintext ends" in result.err, offset + length > size, f"a remark on {offset}:{length} of {size}")
            p.fails(2, "begins at byte", *options, f"{size + 1}:1", "sealed", "-o", "out")
    sealed = p.read("sealed")
    for at, codes in ((HEADER + 50, [0]), (HEADER + 4096 + 50, [13]), (HEADER + 3 * 4096 + 9, [0]), (len(sealed) - 35, [13, 14]), (len(sealed) - 1, [13])):
        p.write("damaged", sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1:])
        result = p.run(*options, f"{each}:10", "damaged")
        check(result.code in codes, f"a change at {at}: {result.code} {result.err}")
        check_equal(result.out, content[each:each + 10] if result.code == 0 else b"", f"what comes out with a change at {at}")
    for end in (HEADER, HEADER + 2 * 4096, HEADER + 5 * 4096, len(sealed) - 1, len(sealed) - 34):
        p.write("damaged", sealed[:end])
        result = p.run(*options, f"{each}:10", "damaged")
        check(result.code in (13, 14), f"the first {end} of {len(sealed)} bytes: {result.code} {result.err}")
        check_equal(result.out, b"", f"what comes out of the first {end} bytes")
    p.fails(2, "a pipe or a device", *options, "0:1", input=sealed)
    p.fails(12, "wrong AAD", "decrypt", "-k", "key", "--range", "0:1", "sealed", "-o", "out")


main()
