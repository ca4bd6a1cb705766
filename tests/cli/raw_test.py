"""Raw data: what openssl enc makes, we read, and the other way round; and what is refused."""

import gzip
import json
import os
import pathlib
import stat
import subprocess
import threading

from program import NotRun, case, check, check_equal, main, some_bytes

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors" / "block"
TAG = 16
MIB = 1 << 20


def ciphers(p):
    return {row["cipher"]: row for row in json.loads(p.ok("list", "--json").out)["ciphers"]}


def need(p, name, mode):
    row = ciphers(p).get(name)
    if not row or mode not in row["modes"]:
        raise NotRun(f"this program has no {name}-{mode}")
    return row


def legacy(row):
    return ["--legacy"] if row["legacy"] else []


def key_file(p, key, name="key"):
    p.write(name, key, 0o600)
    return name


def raw(p, direction, what, iv, *arguments, **options):
    return p.ok("raw", direction, "-c", what, "--key-file", "key", "--iv", iv.hex(), *arguments, **options)


def iv_for(row, mode):
    return some_bytes(12 if mode in ("gcm", "ccm") else 16 if mode == "xts" else row["block_bytes"], 3)


def units(mode):
    return ["--data-unit-bytes", 512] if mode == "xts" else []


@case
def every_cipher_and_mode_comes_back(p):
    seen = 0
    for name, row in ciphers(p).items():
        for mode in row["modes"]:
            if mode in ("ecb", "cmac"):
                continue
            key_file(p, some_bytes(row["key_bytes"] * (2 if mode == "xts" else 1), 5))
            text, iv = some_bytes(100_003, 4), iv_for(row, mode)
            more = units(mode) + legacy(row)
            sealed = raw(p, "encrypt", f"{name}-{mode}", iv, *more, input=text)
            check(sealed.out[:64] != text[:64], f"{name}-{mode} does nothing")
            check_equal("unauthenticated" in sealed.err, mode not in ("gcm", "ccm"), f"{name}-{mode} says so: {sealed.err}")
            opened = raw(p, "decrypt", f"{name}-{mode}", iv, *more, input=sealed.out)
            check(opened.out == text, f"{name}-{mode} does not come back")
            seen += 1
    check(seen >= 2, f"{seen} modes")


def openssl(*arguments, data):
    """None where it has no such cipher, or one of that name with another key."""
    try:
        result = subprocess.run(["openssl", "enc", *arguments], input=data, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return None if b"too long" in result.stderr or b"too short" in result.stderr else result.stdout


@case
def openssl_enc_reads_and_writes_the_same(p):
    """Every streaming mode that both have, over the length of several pieces."""
    seen = 0
    for name, row in ciphers(p).items():
        for mode in set(row["modes"]) & {"cbc", "ctr", "ofb", "cfb128", "cfb64"}:
            key, iv = some_bytes(row["key_bytes"], 6), some_bytes(row["block_bytes"], 7)
            theirs = mode.rstrip("0123456789")
            size = 33 * MIB + 5 if row["forms"].get("aesni") == "instructions" else 2_000_003
            if theirs != "cbc":
                size += 3
            text = some_bytes(size, 8)
            more = ["-K", key.hex(), "-iv", iv.hex(), "-provider", "legacy", "-provider", "default"]
            sealed = None
            for family in (name, name.rpartition("-")[0], name[:-1]):
                sealed = sealed or openssl(f"-{family}-{theirs}", "-e", *more, data=text)
            if sealed is None:
                continue
            key_file(p, key)
            p.write("plain", text)
            limit = legacy(row) + (["--beyond-sweet32"] if row["block_bytes"] == 8 else [])
            raw(p, "encrypt", f"{name}-{mode}", iv, *limit, "plain", "-o", "sealed", "-f")
            check(p.read("sealed") == sealed, f"{name}-{mode}: not what openssl enc writes")
            raw(p, "decrypt", f"{name}-{mode}", iv, *legacy(row), "sealed", "-o", "opened", "-f")
            check(p.read("opened") == text, f"{name}-{mode}: does not come back")
            seen += 1
    if not seen:
        raise NotRun("openssl is not installed, or has none of our modes")


def published(cipher, mode, wanted):
    for path in sorted(VECTORS.glob("*.jsonl.gz")):
        with gzip.open(path, "rt") as file:
            for line in file:
                row = json.loads(line)
                if row.get("cipher") == cipher and row.get("mode") == mode and "pt_len" not in row and "rounds" not in row and wanted(row):
                    return row
    raise NotRun(f"no vector of {cipher}-{mode}")


def parts_differ(key):
    """Keys of Triple DES with equal parts are not for encryption."""
    parts = [key[i:i + 16] for i in range(0, len(key), 16)]
    return len(set(parts)) == len(parts)


@case
def published_vectors(p):
    for cipher, mode, what in [("aes-128", "gcm", "gcm"), ("aes-256", "ccm", "ccm"), ("aes-128", "xts", "xts"), ("aes-256", "cbc-pkcs7", "cbc"),
                               ("aes-128", "cfb128", "cfb128"), ("des-ede3", "cfb64", "cfb64")]:
        if what not in ciphers(p).get(cipher, {"modes": []})["modes"]:
            continue
        row = published(cipher, mode, lambda r: r["valid"] and r["pt"] and len(r.get("tag", "0" * 32)) == 32 and parts_differ(r["key"]))
        key_file(p, bytes.fromhex(row["key"]))
        p.write("aad", bytes.fromhex(row.get("aad", "")))
        text, sealed = bytes.fromhex(row["pt"]), bytes.fromhex(row["ct"] + row.get("tag", ""))
        more = ["--aad-file", "aad"] if mode in ("gcm", "ccm") else []
        more += ["--data-unit-bytes", len(text)] if mode == "xts" else []
        more += ["--legacy"] if cipher.startswith("des") else []
        for direction, given, wanted in [("encrypt", text, sealed), ("decrypt", sealed, text)]:
            got = raw(p, direction, f"{cipher}-{what}", bytes.fromhex(row["iv"]), *more, input=given)
            check(got.out == wanted, f"{direction} {cipher}-{mode} {row['id']}")


@case
def lengths_around_pieces(p):
    """A piece is 16 MiB: what follows from one to the next, and which is the last."""
    for mode in ("ctr", "cbc", "cfb128", "ofb", "xts"):
        row = need(p, "aes-128", mode)
        key_file(p, some_bytes(32 if mode == "xts" else 16, 1))
        for size in (0, 1, 15, 16, 17, 16 * MIB - 1, 16 * MIB, 16 * MIB + 1, 16 * MIB + 16, 32 * MIB, 32 * MIB + 17):
            if mode == "xts" and size % 512 % 16 and size < 16:
                continue
            if mode == "xts" and 0 < size % 512 < 16 or mode == "xts" and size == 0:
                continue
            text = some_bytes(size, 2)
            p.write("plain", text)
            raw(p, "encrypt", f"aes-128-{mode}", iv_for(row, mode), *units(mode), "plain", "-o", "sealed", "-f")
            if mode == "cbc":
                check_equal(os.path.getsize(p.file("sealed")), size // 16 * 16 + 16, f"{size} bytes padded")
            raw(p, "decrypt", f"aes-128-{mode}", iv_for(row, mode), *units(mode), "sealed", "-o", "opened", "-f")
            check(p.read("opened") == text, f"{mode}, {size} bytes")


@case
def a_changed_tag_releases_nothing(p):
    for mode in ("gcm", "ccm"):
        row = need(p, "aes-256", mode)
        iv = iv_for(row, mode)
        key_file(p, some_bytes(32))
        p.write("plain", some_bytes(50_000))
        p.write("aad", b"beside")
        raw(p, "encrypt", f"aes-256-{mode}", iv, "--aad-file", "aad", "plain", "-o", f"sealed-{mode}")
        sealed = p.read(f"sealed-{mode}")
        check_equal(len(sealed), 50_000 + TAG, "length")
        common = ["raw", "decrypt", "-c", f"aes-256-{mode}", "--key-file", "key", "--iv", iv.hex()]
        for at in (0, 25_000, 49_999, 50_000, -1):
            changed = bytearray(sealed)
            changed[at] ^= 1
            p.write("changed", bytes(changed))
            p.fails(13, mode, *common, "--aad-file", "aad", "changed", "-o", "opened")
            check_equal(p.run(*common, "--aad-file", "aad", input=bytes(changed)).out, b"", "what is released")
        p.fails(13, mode, *common, f"sealed-{mode}", "-o", "opened")  # without its AAD
        p.write("short", sealed[:15])
        p.fails(14, "tag", *common, "short", "-o", "opened")
        p.ok(*common, "--aad-file", "aad", f"sealed-{mode}", "-o", f"opened-{mode}")
        check_equal(p.read(f"opened-{mode}"), p.read("plain"), "opened")
        empty = raw(p, "encrypt", f"aes-256-{mode}", iv, input=b"")
        check_equal(len(empty.out), TAG, "an empty message")
        check_equal(raw(p, "decrypt", f"aes-256-{mode}", iv, input=empty.out).out, b"", "opened")


@case
def outputs_are_as_careful_as_those_of_files(p):
    need(p, "aes-128", "ctr")
    key_file(p, some_bytes(16))
    p.write("plain", some_bytes(1000))
    common = ["-c", "aes-128-ctr", "--key-file", "key", "--iv", "00" * 16]
    p.ok("raw", "encrypt", *common, "plain", "-o", "sealed", umask=0o022)
    check_equal(stat.S_IMODE(os.stat(p.file("sealed")).st_mode), 0o644, "mode")
    p.fails(11, "--force", "raw", "encrypt", *common, "plain", "-o", "sealed")
    p.ok("raw", "decrypt", *common, "sealed", "-o", "opened", umask=0)
    check_equal(stat.S_IMODE(os.stat(p.file("opened")).st_mode), 0o600, "mode")
    p.fails(10, "'none'", "raw", "encrypt", *common, "none", "-o", "new")
    p.fails(16, "directory", "raw", "encrypt", *common, ".", "-o", "new")
    with open("/dev/full", "w") as full:
        check_equal(p.run("raw", "encrypt", *common, "plain", stdout=full).code, 16, "a full disk")


@case
def from_pipe_to_pipe_in_bounded_memory(p):
    need(p, "aes-128", "ctr")
    key_file(p, some_bytes(16))
    process = p.start("-q", "raw", "encrypt", "-c", "aes-128-ctr", "--key-file", "key", "--iv", "00" * 16, "--device", "portable",
                      "--threads", 1, stdin=subprocess.PIPE)
    peak = [0]

    def feed():
        for _ in range(300):
            process.stdin.write(bytes(MIB))
        with open(f"/proc/{process.pid}/status") as status:
            peak[0] = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        process.stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    got = 0
    while data := process.stdout.read(MIB):
        got += len(data)
    feeder.join()
    check_equal((process.wait(), got), (0, 300 * MIB), "exit code and length")
    check(peak[0] < 150 * 1024, f"{peak[0]} KiB of memory")


@case
def what_must_be_refused(p):
    row = need(p, "aes-256", "ctr")
    p.write("plain", some_bytes(1000))
    key_file(p, some_bytes(32))

    def refused(code, words, what, *arguments, key="key", iv="00" * 16, direction="encrypt"):
        p.fails(code, words, "raw", direction, "-c", what, "--key-file", key, "--iv", iv, *arguments, "plain", "-o", "sealed")

    refused(15, "ECB", "aes-256-ecb")
    refused(15, "rot-13", "rot-13-ctr")
    refused(15, "aes-256", "aes-256")
    for iv in ("", "00", "00" * 15, "00" * 17):
        refused(2, "--iv", "aes-256-ctr", iv=iv)
    refused(2, "hexadecimal", "aes-256-ctr", iv="0g" * 16)
    refused(2, "hexadecimal", "aes-256-ctr", iv="0" * 31)
    refused(2, "--data-unit-bytes", "aes-256-ctr", "--data-unit-bytes", 512)
    refused(2, "--no-padding", "aes-256-ctr", "--no-padding")
    refused(2, "--aad-file", "aes-256-ctr", "--aad-file", "plain")
    refused(10, "'none'", "aes-256-ctr", key="none")
    for size in (0, 16, 31, 33, 64):
        refused(2, ["wrong size", "32"], "aes-256-ctr", key=key_file(p, some_bytes(size), "other"))
    p.write("other", some_bytes(32), 0o644)
    refused(2, "chmod 600", "aes-256-ctr", key="other")
    os.remove(p.file("other"))
    check_equal(p.run("raw").code, 2, "raw alone")
    check_equal(p.run("raw", "encrypt", "-c", "aes-256-ctr", "--key-file", "key").code, 2, "without an IV")
    if "cmac" in row["modes"]:
        refused(15, "CMAC", "aes-256-cmac")
    if "gcm" in row["modes"]:
        refused(2, "--iv", "aes-256-gcm", iv="")
    if "ccm" in row["modes"]:
        for count in (6, 14):
            refused(2, "7 to 13", "aes-256-ccm", iv="00" * count)
    if "cbc" in row["modes"]:
        refused(2, "blocks", "aes-256-cbc", "--no-padding")
        refused(14, "blocks", "aes-256-cbc", direction="decrypt")
    if "xts" in row["modes"]:
        refused(2, "--data-unit-bytes", "aes-256-xts")
        refused(2, "wrong size", "aes-256-xts", "--data-unit-bytes", 512)
        refused(21, "xts", "aes-256-xts", "--data-unit-bytes", 512, key=key_file(p, b"k" * 64, "equal"))
        refused(2, "shortest", "aes-256-xts", "--data-unit-bytes", 991, key=key_file(p, some_bytes(64), "halves"))


@case
def bad_padding(p):
    need(p, "aes-128", "cbc")
    key_file(p, some_bytes(16))
    iv = bytes(16)
    blocks = raw(p, "encrypt", "aes-128-cbc", iv, "--no-padding", input=bytes(64)).out
    check_equal(len(blocks), 64, "no padding, no block more")
    p.write("sealed", blocks)
    p.fails(19, "--no-padding", "raw", "decrypt", "-c", "aes-128-cbc", "--key-file", "key", "--iv", iv.hex(), "sealed", "-o", "opened")
    check_equal(raw(p, "decrypt", "aes-128-cbc", iv, "--no-padding", "sealed").out, bytes(64), "as it was")


@case
def legacy_ciphers_ask_for_a_word(p):
    old = {name: row for name, row in ciphers(p).items() if row["legacy"]}
    if not old:
        raise NotRun("this program has no legacy cipher")
    p.write("plain", some_bytes(1000))
    for name, row in old.items():
        key_file(p, some_bytes(row["key_bytes"], 11))
        common = ["-c", f"{name}-cbc", "--key-file", "key", "--iv", "00" * row["block_bytes"]]
        for direction in ("encrypt", "decrypt"):
            p.fails(2, "--legacy", "raw", direction, *common, "plain", "-o", "out")
        p.ok("raw", "encrypt", "--legacy", *common, "plain", "-o", f"sealed-{name}")
        p.ok("raw", "decrypt", "--legacy", *common, f"sealed-{name}", "-o", f"opened-{name}")
        p.fails(15, name, "encrypt", "-c", f"{name}-gcm", "-k", "key", "plain", "-o", "out")
    if "des" in old:
        for weak in ("0101010101010101", "fefefefefefefefe", "1f1f1f1f0e0e0e0e", "e01fe01ff10ef10e", "0000000000000000"):
            key_file(p, bytes.fromhex(weak))
            common = ["-c", "des-cbc", "--key-file", "key", "--iv", "00" * 8, "--legacy", "plain", "-o", "out"]
            p.fails(21, "weak", "raw", "encrypt", *common)
            p.ok("raw", "decrypt", *common[:-4], "--no-padding", "--legacy", "plain", "-o", f"opened-{weak}")
    if "des-ede3" in old:
        one, two = some_bytes(8, 1), some_bytes(8, 2)
        for equal in (one + one + two, one + two + two, one + one + one):
            key_file(p, equal)
            p.fails(21, "weak", "raw", "encrypt", "-c", "des-ede3-ofb", "--key-file", "key", "--iv", "00" * 8, "--legacy", "plain", "-o", "out")


@case
def sweet32(p):
    """2^20 blocks under one key; decryption takes any number."""
    limit = 1 << 20
    old = [name for name, row in ciphers(p).items() if row["block_bytes"] == 8]
    if not old:
        raise NotRun("this program has no cipher with blocks of 64 bits")
    for name in old:
        row = ciphers(p)[name]
        key_file(p, some_bytes(row["key_bytes"], 12))
        for mode, blocks, extra, allowed in [("ctr", limit - 1, 0, True), ("ctr", limit, 0, True), ("ctr", limit, 1, False),
                                             ("ctr", limit + 1, 0, False), ("cbc", limit - 1, 0, True), ("cbc", limit, 0, False),
                                             ("ofb", limit - 1, 1, True)]:
            p.write("plain", bytes(8 * blocks + extra))
            common = ["--legacy", "-c", f"{name}-{mode}", "--key-file", "key", "--iv", "00" * 8]
            if allowed:
                p.ok("raw", "encrypt", *common, "plain", "-o", "sealed", "-f")
                os.remove(p.file("sealed"))
            else:
                p.fails(17, "--beyond-sweet32", "raw", "encrypt", *common, "plain", "-o", "sealed")
                p.ok("raw", "encrypt", "--beyond-sweet32", *common, "plain", "-o", "sealed")
                p.ok("raw", "decrypt", *common, "sealed", "-o", "opened", "-f")
                check(p.read("opened") == p.read("plain"), "comes back")
                os.remove(p.file("sealed"))
                os.remove(p.file("opened"))


main()
