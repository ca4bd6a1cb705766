"""Wrong usage: unknown words, conflicting options, and the promises of --help and
docs/exit-codes.md."""

import os
import re
import subprocess

from program import NotRun, case, check, check_equal, main, some_bytes


@case
def unknown_words(p):
    p.fails(2, "--bogus", "encrypt", "--bogus")
    p.fails(2, "enkrypt", "enkrypt")
    p.fails(2, "enkrypt", "enkrypt", "--help")
    p.fails(2, "there is no command ''", "")
    p.fails(2, "--help")
    p.fails(2, "extra", "keygen", "one", "extra")
    p.fails(2, "--threads", "encrypt", "--threads", "many")
    p.fails(2, "--threads", "encrypt", "--threads", "0")
    p.fails(2, "--progress", "encrypt", "--progress", "loud")
    p.fails(2, "-k", "encrypt", "-k")


@case
def the_help_that_is_named_has_the_option(p):
    p.fails(2, "`warpseal raw encrypt --help`", "raw", "encrypt", "--bogus")
    p.fails(2, "`warpseal kem keygen --help`", "kem", "keygen", "--count", 0)
    p.fails(2, "`warpseal encrypt --help`", "encrypt", "--bogus")


@case
def unknown_cipher_and_format(p):
    p.key()
    p.write("plain", b"text")
    for cipher in ["rot13", "aes-256", "aes-192-gcm", "aes_256_gcm", "aes-256-gcm "]:
        p.fails(15, ["aes-256-gcm", "aes-128-gcm"], "encrypt", "-k", "key", "-c", cipher, "plain", "-o", "sealed")
    p.fails(15, ["zip", "cobblestone"], "encrypt", "-k", "key", "--format", "zip", "plain", "-o", "sealed")


@case
def no_secret(p):
    p.write("plain", b"text")
    p.fails(2, ["-k", "--passphrase-file"], "encrypt", "plain", "-o", "sealed")
    p.sealed(b"text")
    p.fails(2, ["-k", "--passphrase-file"], "decrypt", "sealed", "-o", "opened")


@case
def conflicting_options(p):
    p.key()
    p.key("raw", 16)
    p.write("plain", b"text")
    p.write("word", b"secret\n", 0o600)
    to = ["plain", "-o", "sealed"]
    p.fails(2, "--format cobblestone", "encrypt", "-k", "key", "--context", "00", *to)
    p.fails(2, "--format cobblestone", "decrypt", "-k", "key", "--context", "", "plain")
    cobblestone = ["encrypt", "--format", "cobblestone"]
    for bad in ["0", "0g", "zz", "0x00", "00 11"]:
        p.fails(2, "hexadecimal", *cobblestone, "-k", "key", "--context", bad, *to)
    p.fails(2, "exactly one", *cobblestone, *to)
    p.fails(2, "exactly one", *cobblestone, "-k", "key", "-k", "raw", *to)
    p.fails(2, "exactly one", *cobblestone, "-k", "key", "--passphrase-file", "word", *to)
    p.fails(2, "aes-128-gcm", *cobblestone, "-k", "raw", "-c", "aes-256-gcm", *to)
    p.fails(2, "--argon2-memory", "encrypt", "-k", "key", "--argon2-memory", 16, *to)
    p.fails(2, "--passphrase-fd 0", "encrypt", "--passphrase-fd", 0, "-o", "sealed")


@case
def missing_device(p):
    p.key()
    p.write("plain", b"text")
    p.fails(2, "warp9", "encrypt", "-k", "key", "--device", "warp9", "plain", "-o", "sealed")
    for device in ["cuda:x", "cuda:0,", "cuda:,0", "cuda:0,0", "cuda:0,x", "cuda:0 1"]:
        p.fails(2, device, "encrypt", "-k", "key", "--device", device, "plain", "-o", "sealed")
    if b"cuda:0" in p.ok("devices").out:
        for device in ["cuda:77", "cuda:0,77"]:
            p.fails(20, "--device auto", "encrypt", "-k", "key", "--device", device, "plain", "-o", "sealed")
        raise NotRun("this machine has a GPU: --device cuda works here")
    for device in ["cuda", "cuda:0", "cuda:5", "cuda:0,1"]:
        p.fails(20, ["'" + device + "'", "--device auto"], "encrypt", "-k", "key", "--device", device, "plain", "-o", "sealed")


@case
def masked_target(p):
    p.key()
    p.write("plain", b"text")
    masked = dict(os.environ, WARPSEAL_TARGETS="portable")
    p.fails(20, "'aesni'", "encrypt", "-k", "key", "--device", "aesni", "plain", "-o", "sealed", env=masked)
    check("portable" in p.ok("encrypt", "-k", "key", "plain", "-o", "sealed", env=masked).err, "the remaining target")
    unknown = dict(os.environ, WARPSEAL_TARGETS="avx3")
    p.fails(2, ["WARPSEAL_TARGETS", "avx3"], "encrypt", "-k", "key", "plain", "-o", "other", env=unknown)


@case
def help_and_version(p):
    check(re.fullmatch(rb"warpseal \d+\.\d+\.\d+\n", p.ok("--version").out), "version")
    top = p.ok("--help").out.decode()
    for command in ["encrypt", "decrypt", "verify", "info", "keygen", "random", "bench", "kem", "vectors", "devices", "list"]:
        check(command in top, f"{command} is missing in --help")
        check(p.ok(command, "--help").out, f"{command} --help is empty")
    check("Examples" in top, "no examples")
    decrypt = p.ok("decrypt", "--help").out.decode()
    check("exit code" in decrypt and "set -o pipefail" in decrypt, "decrypt --help does not explain how to detect a failure")
    check(max(map(len, top.splitlines())) <= 120, "--help is too wide")


@case
def exit_codes_are_the_documented_ones(p):
    documentation = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "exit-codes.md")
    with open(documentation, encoding="utf-8") as file:
        documented = re.findall(r"^\| (\d+) \|", file.read(), re.MULTILINE)
    shown = re.findall(r"^ +(\d+)  ", p.ok("--help").out.decode().split("Exit codes")[1], re.MULTILINE)
    check_equal(shown, documented, "codes in --help and in docs/exit-codes.md")


@case
def the_input_may_be_at_any_position(p):
    p.key()
    content = some_bytes(1000)
    p.write("plain", content)
    p.ok("encrypt", "plain", "-k", "key", "-o", "one")
    p.ok("encrypt", "-k", "key", "-o", "two", "plain")
    p.ok("encrypt", "-k", "key", "--output=three", "--", "plain")
    p.write("-odd", content)
    p.ok("encrypt", "-k", "key", "-o", "four", "--", "-odd")
    for name in ["one", "two", "three", "four"]:
        check(p.ok("decrypt", "-k", "key", name).out == content, name)


@case
def secrets_are_not_taken_by_value(p):
    """No argument or environment variable takes a key or passphrase by value."""
    shown = p.ok("encrypt", "--help").out.decode()
    check("PASSPHRASE " not in shown and "--key-hex" not in shown, shown)
    environment = dict(os.environ, WARPSEAL_PASSPHRASE="secret", WARPSEAL_KEY="00" * 32)
    p.fails(2, "no key and no passphrase", "encrypt", "-o", "sealed", env=environment)


@case
def binary_to_a_terminal(p):
    p.key()
    p.write("plain", some_bytes(1000))
    ours, theirs = os.openpty()
    p.fails(2, ["terminal", "-o"], "encrypt", "-k", "key", stdout=theirs)
    p.fails(2, ["terminal", "-o"], "decrypt", "-k", "key", "plain", stdout=theirs)
    pair = ("kem", "keygen", "--set", "ntruhps2048509", "--public-key", "public", "--secret-key")
    for name in ("-", "/dev/stdout"):
        p.fails(2, "terminal", "keygen", name, stdout=theirs)
        p.fails(2, "terminal", *pair, name, stdout=theirs)
    process = p.start("encrypt", "-k", "key", "plain", "-o", "-", stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    got = b""
    try:
        while data := os.read(ours, 65536):
            got += data
    except OSError:
        pass
    check_equal(process.wait(), 0, "exit code with -o -")
    check(len(got) > 1000, "-o - writes to the terminal")


main()
