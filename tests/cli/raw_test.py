"""Raw data: compatibility with openssl enc in both directions."""

import gzip
import json
import os
import pathlib
import stat
import subprocess
import threading

from program import NotRun, case, check, check_equal, main, some_bytes
from raw_data import MIB, ciphers, iv_for, key_file, legacy, need, raw, units

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors" / "block"


@case
def every_cipher_and_mode_round_trips(p):
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
            check(opened.out == text, f"{name}-{mode} does not round-trip")
            seen += 1
    check(seen >= 2, f"{seen} modes")


def openssl(*arguments, data):
    """Returns None if it has no such cipher, or one of that name with another key size."""
    try:
        result = subprocess.run(["openssl", "enc", *arguments], input=data, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return None if b"too long" in result.stderr or b"too short" in result.stderr else result.stdout


@case
def openssl_enc_reads_and_writes_the_same(p):
    """Compares every streaming mode that both have, over the length of several segments."""
    seen = 0
    for name, row in ciphers(p).items():
        for mode in set(row["modes"]) & {"cbc", "ctr", "ofb", "cfb128", "cfb64"}:
            key, iv = some_bytes(row["key_bytes"], 6), some_bytes(row["block_bytes"], 7)
            theirs = mode.rstrip("0123456789")
            size = 33 * MIB + 5 if row["representations"].get("aesni") == "instructions" else 2_000_003
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
            check(p.read("sealed") == sealed, f"{name}-{mode}: differs from openssl enc")
            raw(p, "decrypt", f"{name}-{mode}", iv, *legacy(row), "sealed", "-o", "opened", "-f")
            check(p.read("opened") == text, f"{name}-{mode}: does not round-trip")
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
    """Triple DES keys with equal parts are not accepted for encryption."""
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
def lengths_around_segments(p):
    """A segment is 16 MiB: tests the carry from one to the next, and which is the last."""
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
def outputs_follow_the_rules_of_files(p):
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


main()
