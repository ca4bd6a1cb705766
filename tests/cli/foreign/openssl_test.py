"""Files of `openssl enc`: tests/vectors/openssl-enc, files of the openssl at hand, damage, options."""

import base64
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from program import NotRun, case, check, check_equal, main, some_bytes

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "openssl-enc"
MIB = 1 << 20


def rows():
    return [json.loads(line) for line in (VECTORS / "files.jsonl").read_text(encoding="utf-8").splitlines()]


def options(row):
    named = ["--cipher", row["cipher"], "--digest", row["md"]]
    if row["kdf"] == "pbkdf2":
        named += ["--iter", row["iterations"]]
    if "-nosalt" in (row.get("options") or []):
        named += ["--format", "openssl", "--no-salt"]
    return named


def word(p, text):
    p.write("word", text.encode() + b"\n", 0o600)
    return ["--passphrase-file", "word"]


def encrypted(p, text, *arguments, password="secret"):
    if not shutil.which("openssl"):
        raise NotRun("openssl is not here")
    p.write("plain", text)
    done = subprocess.run(["openssl", "enc", *arguments, "-pass", f"pass:{password}", "-in", p.file("plain")], capture_output=True, check=False)
    if done.returncode != 0:
        raise NotRun(f"openssl enc {arguments}: {done.stderr!r}")
    return done.stdout


@case
def answers(p):
    opened = failed = 0
    for row in rows():
        data = (VECTORS / row["file"]).read_bytes()
        for explicit in [[], ["--format", "openssl"]]:
            if "--no-salt" in options(row) and explicit:
                continue
            command = ["decrypt", *options(row), *explicit, *word(p, row["password"])]
            if row["valid"]:
                for result in [p.ok(*command, VECTORS / row["file"]), p.ok(*command, input=data)]:
                    check_equal((len(result.out), hashlib.sha256(result.out).hexdigest()), (row["bytes"], row["sha256"]), row["file"])
                    check("not authenticated" in result.err, f"{row['file']}: no notice in {result.err!r}")
                p.ok(*command, VECTORS / row["file"], "-o", "opened", "--force")
                check_equal(hashlib.sha256(p.read("opened")).hexdigest(), row["sha256"], row["file"])
                opened += 1
            else:
                result = p.run(*command, VECTORS / row["file"], "-o", "never")
                check(result.code in (2, 14, 15, 19), f"{row['file']} {row['comment']}: {result.code} {result.err}")
                p.fails(result.code, "", *command, VECTORS / row["file"], "-o", "never")
                check(p.run(*command, input=data).code != 0, f"{row['file']} from a pipe")
                failed += 1
    check(opened >= 60 and failed >= 12, f"{opened} opened, {failed} failed")


@case
def files_of_this_openssl(p):
    for cipher in ["aes-256-cbc", "aes128", "aes-192-cfb", "aes-256-ofb", "des3", "des-ede-cbc", "camellia256", "aria-128-ctr", "sm4-cbc"]:
        for kdf, ours in [(["-md", "md5"], ["--digest", "md5"]), (["-pbkdf2"], ["--pbkdf2"]),
                          (["-pbkdf2", "-md", "sha3-256", "-iter", "77"], ["--digest", "sha3-256", "--iter", "77"]),
                          (["-md", "blake2b512"], ["--digest", "blake2b512"])]:
            text = some_bytes(1000)
            p.write("sealed", encrypted(p, text, "-" + cipher, *kdf))
            check(p.ok("decrypt", "-c", cipher, *ours, *word(p, "secret"), "sealed").out == text, f"{cipher} {kdf}")


@case
def sizes(p):
    for size in [0, 1, 15, 16, 17, 16 * MIB - 17, 16 * MIB - 16, 16 * MIB - 1, 16 * MIB, 33 * MIB + 3]:
        text = some_bytes(size, size)
        for cipher in ["aes-256-cbc", "aes-256-ctr"]:
            p.write("sealed", encrypted(p, text, "-" + cipher))
            command = ["-q", "decrypt", "-c", cipher, *word(p, "secret")]
            check(p.ok(*command, "sealed").out == text, f"{size} {cipher}: file")
            check(p.ok(*command, input=p.read("sealed")).out == text, f"{size} {cipher}: pipe")


@case
def text_in_base64(p):
    text = some_bytes(200_000)
    for coding in [["-a"], ["-a", "-A"]]:
        for salt, ours in [([], []), (["-nosalt"], ["--format", "openssl", "--no-salt", "--base64"])]:
            sealed = encrypted(p, text, "-aes-256-cbc", "-pbkdf2", *coding, *salt)
            command = ["-q", "decrypt", "-c", "aes-256-cbc", "--pbkdf2", *ours, *word(p, "secret")]
            p.write("sealed", sealed)
            check(p.ok(*command, "sealed").out == text, f"{coding} {salt}: file")
            check(p.ok(*command, input=sealed).out == text, f"{coding} {salt}: pipe")
            check(p.ok(*command, input=sealed.replace(b"\n", b"\r\n")).out == text, f"{coding} {salt}: CRLF")
    p.write("sealed", sealed[:1000] + b"!" + sealed[1000:])
    p.fails(15, "base64", *command, "sealed", "-o", "opened")
    binary = encrypted(p, text, "-aes-256-cbc", "-pbkdf2")
    p.write("sealed", base64.b64encode(binary)[:-3])
    p.fails(14, "base64", "decrypt", "-c", "aes-256-cbc", "--pbkdf2", *word(p, "secret"), "sealed", "-o", "opened")


@case
def wrong_passphrase_and_options(p):
    """Padding is checked before anything is written; it comes out once in 256 tries, and then the
    text is another."""
    text = some_bytes(40 * MIB)
    p.write("sealed", encrypted(p, text, "-aes-256-cbc", "-pbkdf2"))
    wrong = [(["--pbkdf2"], "other"), ([], "secret"), (["--iter", "9999"], "secret"), (["--pbkdf2", "--digest", "sha1"], "secret"), (["--pbkdf2"], "secret ")]
    refused = 0
    for arguments, password in wrong:
        command = ["decrypt", "-c", "aes-256-cbc", *arguments, *word(p, password), "sealed"]
        result = p.run(*command)
        check(result.code in (0, 19) and result.out != text, f"{arguments}: {result.code}")
        if result.code == 19:
            refused += 1
            check_equal(result.out, b"", "output")
            p.fails(19, ["passphrase", "--cipher", "--digest", "--iter", "Nothing was written"], *command, "-o", "opened")
    check(refused >= 3, f"{refused} refused")


@case
def wrong_passphrase_from_a_pipe(p):
    """The padding comes last. Up to 16 MiB nothing is written before it; what went out of a longer
    input is not called right."""
    for size in [1000, 16 * MIB - 1, 20 * MIB]:
        sealed = encrypted(p, some_bytes(size), "-aes-256-cbc", "-pbkdf2")
        coded = base64.encodebytes(sealed)
        p.write("coded", coded)
        for source, options in [([], {"input": sealed}), ([], {"input": coded}), (["coded"], {})]:
            refused = 0
            for password in ["one", "two", "three"]:
                command = ["decrypt", "-c", "aes-256-cbc", "--pbkdf2", *word(p, password), *source]
                result = p.run(*command, **options)
                check(result.code in (0, 19), f"{size}: {result.code} {result.err}")
                if result.code == 0:
                    continue
                refused += 1
                check_equal(len(result.out), 0 if size <= 16 * MIB else 16 * MIB, f"output of {size}")
                said = "Nothing was written to standard output" if size <= 16 * MIB else "standard output is not verified and may all be wrong"
                check(said in result.err, result.err)
                if refused == 1:
                    p.fails(19, ["passphrase", "Nothing was written"], *command, "-o", "opened", **options)
            check(refused >= 1, "all three came out")


@case
def base64_is_strict(p):
    """In text of any length nothing is dropped: neither what follows a '-', nor after the padding."""
    text = some_bytes(150_000)
    binary = encrypted(p, text, "-aes-256-ctr", "-pbkdf2")
    coded = base64.b64encode(binary)
    command = ["decrypt", "-c", "aes-256-ctr", "--pbkdf2", *word(p, "secret")]
    for good in [coded, coded + b"\r\n\n", coded[:7] + b"\r\n \t" + coded[7:]]:
        if good.startswith(b"U2FsdGVkX1"):
            check(p.ok(*command, input=good).out == text, "good text")
        check(p.ok(*command, "--format", "openssl", "--base64", input=good).out == text, "good text")
    chunk = 1 << 16
    for at in [40, 1000, chunk - 4, chunk, len(coded) - 8]:
        for wrong in [coded[:at] + b"-" + coded[at:], coded[:at] + b"-", coded[:at - 4] + b"AA==" + coded[at:], coded[:at] + b"\0" + coded[at:],
                      coded[:at] + b"_" + coded[at + 1:], coded[:at] + b"\xc3" + coded[at + 1:]]:
            p.write("wrong", wrong)
            p.fails(15, "not base64", *command, "wrong", "-o", "opened")
    check_equal(coded[-2:], b"==", "padding")
    for wrong in [coded + b"AAAA", coded + b"\n=", coded + coded]:
        p.write("wrong", wrong)
        p.fails(15, "not base64", *command, "wrong", "-o", "opened")
    for wrong in [coded[:-1], coded[:-2], coded[:-3]]:
        p.write("wrong", wrong)
        p.fails(14, "base64 is cut off", *command, "wrong", "-o", "opened")


@case
def files_without_padding_and_in_ecb(p):
    text = bytes(range(64))
    p.write("sealed", encrypted(p, text, "-aes-256-cbc", "-pbkdf2", "-nopad"))
    p.fails(19, ["-nopad", "openssl enc -d"], "decrypt", "-c", "aes-256-cbc", "--pbkdf2", *word(p, "secret"), "sealed", "-o", "opened")
    for name in ["aes-256-ecb", "camellia-128-ecb", "des-ede3", "des-ede", "-aes-128-ecb"]:
        p.fails(15, [f"'{name}' is ECB", "openssl enc -d"], "decrypt", f"--cipher={name}", *word(p, "secret"), "sealed", "-o", "opened")


@case
def damage(p):
    text = some_bytes(100)
    sealed = encrypted(p, text, "-aes-256-cbc", "-pbkdf2")
    command = ["decrypt", "-c", "aes-256-cbc", "--pbkdf2", *word(p, "secret")]
    for length in range(len(sealed)):
        result = p.run(*command, "--format", "openssl", "-o", "never", input=sealed[:length])
        wanted = {14} if length % 16 or length <= 16 else {0, 19}
        check(result.code in wanted, f"cut to {length}: {result.code} {result.err}")
        if result.code == 0:
            check(p.read("never") != text, "whole text of a part")
            (pathlib.Path(p.file("never"))).unlink()
    for at in range(8):
        changed = bytearray(sealed)
        changed[at] ^= 1
        p.write("changed", bytes(changed))
        p.fails(15, ["Salted__", "--no-salt"], *command, "--format", "openssl", "changed", "-o", "opened")


@case
def options_that_do_not_fit(p):
    sealed = encrypted(p, b"text", "-aes-256-cbc")
    p.key()
    p.write("sealed", sealed)
    end = ["sealed", "-o", "opened"]
    password = word(p, "secret")
    p.fails(2, ["cipher", "aes-256-cbc", "--pbkdf2"], "decrypt", *password, *end)
    for name in ["aes-256-gcm", "aes-256-xts", "aes-256-ecb", "rot13", "aes-512-cbc", "aes-256"]:
        p.fails(15, f"'{name}'", "decrypt", "-c", name, *password, *end)
    for name in ["md6", "shake256", "nothing", "null"]:
        p.fails(15, f"'{name}'", "decrypt", "-c", "aes256", "--digest", name, *password, *end)
    p.fails(2, "passphrase", "decrypt", "-c", "aes256", "-k", "key", *end)
    p.fails(2, "passphrase", "decrypt", "-c", "aes256", *end)
    p.fails(2, "--iter", "decrypt", "-c", "aes256", "--iter", 0, *password, *end)
    p.fails(2, "one passphrase", "decrypt", "-c", "aes256", *password, *password, *end)
    p.fails(2, "--aad", "decrypt", "-c", "aes256", "--aad", "00", *password, *end)
    p.fails(15, "is authenticated", "verify", *password, "sealed")
    p.fails(15, "only read", "encrypt", "--format", "openssl", *password, "sealed", "-o", "out")
    p.write("plain", b"text")
    p.fails(2, ["openssl", "--format openssl"], "decrypt", "-c", "aes256", *password, "plain", "-o", "opened")
    p.fails(15, "--range", "decrypt", "--range", "0:1", "--format", "openssl", *password, *end)
    check_equal(p.ok("-q", "decrypt", "-c", "aes256", *password, "sealed").err, "", "stderr under -q")


main()
