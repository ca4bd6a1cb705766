"""Progress of `raw` and `kem`, and the time for a passphrase's key."""

import json
import os
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
from program import case, check, check_equal, main, some_bytes


def events(result):
    return [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]


@case
def raw_tells_its_progress(p):
    p.key()
    p.write("plain", some_bytes(1_000_001))
    for cipher, sealed in (("aes-256-ctr", 1_000_001), ("aes-256-cbc", 1_000_016), ("aes-256-gcm", 1_000_017)):
        raw = ["-c", cipher, "-k", "key", "--iv", "00" * (12 if "gcm" in cipher else 16), "--progress", "json"]
        told = events(p.ok("raw", "encrypt", *raw, "plain", "-o", cipher))
        check_equal((told[0]["event"], told[0]["total_bytes"]), ("progress", 1_000_001), cipher)
        check_equal((told[-1]["event"], told[-1]["file_bytes"]), ("done", sealed), cipher)
        told = events(p.ok("raw", "decrypt", *raw, cipher, "-o", cipher + "-opened"))
        check_equal((told[-1]["event"], told[-1]["plaintext_bytes"]), ("done", 1_000_001), cipher)
    failed = events(p.run("raw", "decrypt", *raw, "plain", "-o", "new"))
    check_equal((failed[-1]["event"], failed[-1]["exit_code"]), ("failed", 13), "a failure")


@case
def kem_tells_its_progress(p):
    told = events(p.ok("kem", "keygen", "--set", "x25519", "--count", 5000, "--secret-key", "secret", "--public-key", "public", "--progress", "json"))
    check_equal([event["event"] for event in told][-1], "done", "the last event")
    check_equal((told[0]["done_bytes"], told[0]["total_bytes"], told[-1]["file_bytes"]), (0, 320_000, 320_000), "bytes")
    for command in (["encapsulate", "--public-key", "public", "--ciphertext", "to", "--shared-secret", "theirs"],
                    ["decapsulate", "--secret-key", "secret", "--ciphertext", "to", "--shared-secret", "ours"]):
        told = events(p.ok("kem", *command, "--set", "x25519", "--progress", "json"))
        check_equal(told[-1]["event"], "done", command[0])
    check(p.read("ours") == p.read("theirs"), "shared secrets")


@case
def the_key_derivation_is_shown_apart(p):
    p.write("word", b"correct horse\n", 0o600)
    p.key()
    p.write("plain", some_bytes(100_000))
    slow = ["--passphrase-file", "word", "--argon2-memory", 64, "plain"]
    told = events(p.ok("encrypt", *slow, "-o", "one", "--progress", "json"))
    check(0 < told[-1]["key_seconds"] <= told[-1]["seconds"], f"{told[-1]}")
    said = p.ok("encrypt", *slow, "-o", "two").err
    check(re.search(r"GB/s\), after \d+\.\d\d s for the key", said), said)
    said = p.ok("encrypt", "-k", "key", "plain", "-o", "three").err
    check("for the key" not in said, said)
    ours, theirs = os.openpty()
    p.ok("encrypt", *slow, "-o", "four", stderr=theirs)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    check("deriving the key from the passphrase" in shown, shown)


main()
