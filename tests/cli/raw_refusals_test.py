"""Raw data: refused calls, options that must be given by name, and the help text about modes
without a tag."""

import os
import subprocess

from program import NotRun, case, check, check_equal, main, some_bytes
from raw_data import ciphers, key_file, need, raw


@case
def help_lists_unauthenticated_modes(p):
    for direction in ("encrypt", "decrypt"):
        text = " ".join(p.ok("raw", direction, "--help").out.decode().split())
        check("cbc, cfb, ctr, ofb and xts are unauthenticated" in text, text)


@case
def refused_calls(p):
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
    refused(2, ["--aad-file", "no file"], "aes-256-gcm", "--aad-file", "")
    if "gcm" in row["modes"]:
        p.fails(2, ["--aad-file", "standard input"], "raw", "encrypt", "-c", "aes-256-gcm", "--key-file", "key", "--iv", "00" * 12, "--aad-file", "-",
                "-o", "sealed", input=b"text")
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
def more_than_a_pipes_buffer_limit(p):
    """A tag covers the whole message, which a pipe delivers once. At most 1 GiB of it is held."""
    need(p, "aes-128", "gcm")
    key_file(p, some_bytes(16))
    with subprocess.Popen(["head", "-c", str((1 << 30) + 1), "/dev/zero"], stdout=subprocess.PIPE) as zeros:
        p.fails(17, ["held in memory", "1.0 GiB"], "raw", "encrypt", "-c", "aes-128-gcm", "--key-file", "key", "--iv", "00" * 12, "-o", "sealed",
                stdin=zeros.stdout)
        zeros.stdout.close()


@case
def bad_padding(p):
    need(p, "aes-128", "cbc")
    key_file(p, some_bytes(16))
    iv = bytes(16)
    blocks = raw(p, "encrypt", "aes-128-cbc", iv, "--no-padding", input=bytes(64)).out
    check_equal(len(blocks), 64, "no padding, no extra block")
    p.write("sealed", blocks)
    p.fails(19, "--no-padding", "raw", "decrypt", "-c", "aes-128-cbc", "--key-file", "key", "--iv", iv.hex(), "sealed", "-o", "opened")
    check_equal(raw(p, "decrypt", "aes-128-cbc", iv, "--no-padding", "sealed").out, bytes(64), "as it was")


@case
def legacy_ciphers_need_an_option(p):
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
    """At most 2^20 blocks in one encryption; decryption takes any number."""
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
                p.fails(17, ["a call", "--beyond-sweet32"], "raw", "encrypt", *common, "plain", "-o", "sealed")
                p.ok("raw", "encrypt", "--beyond-sweet32", *common, "plain", "-o", "sealed")
                p.ok("raw", "decrypt", *common, "sealed", "-o", "opened", "-f")
                check(p.read("opened") == p.read("plain"), "comes back")
                os.remove(p.file("sealed"))
                os.remove(p.file("opened"))


main()
