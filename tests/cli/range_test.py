"""warpseal decrypt --range: every class of offset and length, refusals, damage inside and outside of
the range, and the end of a very large sparse file."""

import hashlib
import hmac
import os
import subprocess
import sys
import time

from program import NotRun, case, check, check_equal, main, some_bytes

FRONT = 61496  # docs/file-format.md: the bytes before the first chunk
CHUNK = 16400  # of the payload, tag included
TEXT = 16384


@case
def ranges_of_every_class(p):
    content = some_bytes(40 * TEXT + 100)
    p.sealed(content)
    size = len(content)
    for offset in [0, 1, TEXT - 1, TEXT, TEXT + 1, 39 * TEXT, 40 * TEXT, size - 1, size]:
        for length in [0, 1, 2, TEXT, 5 * TEXT + 7, size - offset, size - offset + 1, 2**64 - 1]:
            text = p.ok("-q", "decrypt", "-k", "key", "--range", f"{offset}:{length}", "sealed").out
            check(text == content[offset:offset + length], f"{offset}:{length}")
        text = p.ok("-q", "decrypt", "-k", "key", "--range", f"{offset}:", "sealed").out
        check(text == content[offset:], f"{offset}:")


@case
def sizes_have_units(p):
    content = some_bytes(3 << 20)
    p.sealed(content)
    for text, offset, length in [("1MiB:64KiB", 1 << 20, 65536), ("1KiB:", 1024, len(content)), ("0:2MB", 0, 2_000_000)]:
        out = p.ok("-q", "decrypt", "-k", "key", "--range", text, "sealed").out
        check(out == content[offset:offset + length], text)


@case
def an_output_file_appears_when_whole(p):
    content = some_bytes(9 << 20)  # more than one buffer
    p.sealed(content)
    result = p.ok("decrypt", "-k", "key", "--range", "5:", "-o", "part", "sealed")
    check_equal(p.read("part"), content[5:], "the range")
    check_equal(os.stat(p.file("part")).st_mode & 0o777, 0o600, "permissions")
    check("decrypted" in result.err, result.err)
    p.fails(11, "exists", "decrypt", "-k", "key", "--range", "5:1", "-o", "part", "sealed")
    p.ok("decrypt", "-k", "key", "--range", "5:1", "-f", "-o", "part", "sealed")
    check_equal(p.read("part"), content[5:6], "the range that replaced it")
    p.fails(2, "sealed", "decrypt", "-k", "key", "--range", "5:1", "-f", "-o", "sealed", "sealed")


@case
def a_range_past_the_end(p):
    content = some_bytes(TEXT)
    p.sealed(content)
    said = p.ok("decrypt", "-k", "key", "--range", f"{TEXT - 5}:100", "sealed").err
    check("5 bytes into the range of 100" in said, said)
    check_equal(p.ok("decrypt", "-k", "key", "--range", f"{TEXT}:1", "sealed").out, b"", "at the end")
    p.fails(2, [f"begins at byte {TEXT + 1}", f"has {TEXT} bytes", "OFFSET of at most"],
            "decrypt", "-k", "key", "--range", f"{TEXT + 1}:1", "-o", "part", "sealed")
    p.sealed(b"", "empty")
    check_equal(p.ok("decrypt", "-k", "key", "--range", "0:", "empty").out, b"", "of an empty file")
    p.fails(2, "has 0 bytes", "decrypt", "-k", "key", "--range", "1:", "empty")


@case
def ranges_that_are_none(p):
    p.sealed(b"text")
    for text in ["", ":", "5", ":5", "-5:", "5:-1", "a:b", "1:2:3", "5:18446744073709551616", "1.5:2"]:
        result = p.run("decrypt", "-k", "key", f"--range={text}", "sealed")
        check_equal((result.code, result.out), (2, b""), f"{text!r}: {result.err}")
        check("--range" in result.err, f"{text!r}: {result.err}")


@case
def pipes_and_directories_are_refused(p):
    p.sealed(b"text")
    p.fails(2, ["--range needs a file", "standard input is a pipe", "tail -c"], "decrypt", "-k", "key", "--range", "0:1",
            input=p.read("sealed"))
    os.mkdir(p.file("folder"))
    p.fails(16, "directory", "decrypt", "-k", "key", "--range", "0:1", "folder")
    with open(p.file("sealed"), "rb") as file:
        check_equal(p.ok("decrypt", "-k", "key", "--range", "1:2", stdin=file).out, b"ex", "a file on standard input")


@case
def damage_matters_inside_the_range(p):
    content = some_bytes(40 * TEXT + 100)
    sealed = bytearray(p.read(p.sealed(content)))
    sealed[FRONT + 7 * CHUNK + 100] ^= 1
    p.write("damaged", sealed)
    for offset, length in [(0, 7 * TEXT), (8 * TEXT, 2**63)]:
        text = p.ok("-q", "decrypt", "-k", "key", "--range", f"{offset}:{length}", "damaged").out
        check(text == content[offset:offset + length], "the range beside the damage")
    for arguments in [["-o", "part"], []]:
        result = p.fails(13, ["chunk 7,", "Nothing was written"],
                         "decrypt", "-k", "key", "--range", f"{7 * TEXT}:1", *arguments, "damaged")
        check_equal(result.out, b"", "standard output")
    # The end is verified whatever the range is.
    for change, code in [(sealed[:-1], 13), (sealed[:FRONT + 9 * CHUNK], 14), (sealed + b"x", 13)]:
        p.write("damaged", change)
        p.fails(code, "", "decrypt", "-k", "key", "--range", "0:1", "damaged")
    p.write("other", os.urandom(32), 0o600)
    p.fails(12, "", "decrypt", "-k", "other", "--range", "0:1", "sealed")


@case
def a_prefix_goes_to_standard_output(p):
    """Text before the damage that is in another buffer has gone."""
    content = some_bytes(20 << 20)
    sealed = bytearray(p.read(p.sealed(content)))
    sealed[FRONT + 1100 * CHUNK] ^= 1  # after 17 MiB
    p.write("damaged", sealed)
    result = p.run("decrypt", "-k", "key", "--range", "3:", "damaged")
    check_equal(result.code, 13, result.err)
    check("is not the whole file" in result.err, result.err)
    check(0 < len(result.out) <= 1100 * TEXT - 3 and content[3:3 + len(result.out)] == result.out, "an exact prefix")


@case
def other_formats_and_options(p):
    content = some_bytes(3 * TEXT)
    p.key("short", 16)
    p.ok("-q", "encrypt", "-k", "short", "--format", "cobblestone", "--context", "0a0b", "-o", "bare", input=content)
    text = p.ok("-q", "decrypt", "-k", "short", "--format", "cobblestone", "--context", "0a0b", "--range", "9:99999", "bare").out
    check_equal(text, content[9:], "a bare payload")
    p.fails(12, "", "decrypt", "-k", "short", "--format", "cobblestone", "--range", "9:9", "bare")
    p.sealed(content)
    said = p.ok("decrypt", "-k", "key", "--progress", "json", "--range", "9:10", "sealed").err
    check('"event":"done"' in said and '"plaintext_bytes":10' in said, said)
    check_equal(p.run("verify", "-k", "key", "--range", "0:1", "sealed").code, 2, "verify takes no range")


def sparse_file(path, key, text_bytes, tail):
    """Writes a bare payload with holes for all chunks but those that the last `tail` text bytes lie
    in. Returns the text of these."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise NotRun("no cryptography (scripts/requirements.txt)")
    salt = os.urandom(24)
    info = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0" + salt
    okm, block = b"", b""
    for counter in [1, 2]:
        block = hmac.new(key, block + info + bytes([counter]), hashlib.sha512).digest()
        okm += block
    aead, base, commitment = AESGCM(okm[:32]), int.from_bytes(okm[32:44], "big"), okm[44:76]
    first = (text_bytes - tail) // TEXT
    content = some_bytes(text_bytes - first * TEXT)
    with open(path, "wb") as file:
        file.write(salt + commitment)
        file.seek(56 + first * CHUNK)
        for at in range(0, len(content) // TEXT + 1):
            nonce = (base ^ (first + at)).to_bytes(12, "big")
            file.write(aead.encrypt(nonce, content[at * TEXT:(at + 1) * TEXT], None))
    return content[-tail:]


@case
def the_end_of_a_sparse_file_of_100_gib(p):
    key = os.urandom(32)
    p.write("key", key, 0o600)
    size, wanted = 100 << 30, 1 << 20
    try:
        content = sparse_file(p.file("sparse"), key, size, wanted)
    except OSError as error:
        raise NotRun(f"no sparse file of 100 GiB here: {error}")
    arguments = ["-q", "decrypt", "-k", "key", "--format", "cobblestone", "--range", f"{size - wanted}:", "sparse"]
    seconds = []
    for _ in range(5):
        begin = time.monotonic()
        result = p.ok(*arguments)
        seconds.append(time.monotonic() - begin)
        check(result.out == content, "the last 1 MiB")
    # A small process runs it, as the memory of the one that forks counts for the child, too.
    measure = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", measure, p.path, *arguments], cwd=p.directory, capture_output=True, check=True)
    kib = int(done.stdout)
    print(f"1 MiB at the end of 100 GiB: {min(seconds):.3f} s, {kib / 1024:.0f} MiB")
    check(kib < 64 << 10, f"{kib} KiB of memory")
    check(min(seconds) < 0.1, f"{min(seconds)} s")



main()
