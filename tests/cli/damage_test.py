"""Damaged files: wrong keys, changes, truncation, trailing bytes. Exit codes tell them apart, and
nothing is left behind."""

from program import case, check, check_equal, main, some_bytes

CHUNK = 16400  # of the payload, tag included


def opens_nowhere(p, code, words, name, verify_code=None):
    """Checks the same result with output to a file, to a pipe, and with verify."""
    p.fails(code, [*words, "Nothing was written"], "decrypt", "-k", "key", name, "-o", "opened")
    to_pipe = p.fails(code, words, "decrypt", "-k", "key", name)
    check(("Nothing was written" in to_pipe.err) == (to_pipe.out == b""), to_pipe.err)
    p.fails(verify_code or code, words, "verify", "-k", "key", name)
    return to_pipe.out


@case
def wrong_key(p):
    p.sealed(some_bytes(100_000))
    p.key("other")
    for command in [["decrypt", "-o", "opened"], ["decrypt"], ["verify"]]:
        result = p.fails(12, "'sealed'", *command, "-k", "other", "sealed")
        check(result.out == b"", "plaintext under a wrong key")


@case
def wrong_passphrase(p):
    p.write("right", b"correct horse\n", 0o600)
    p.write("wrong", b"battery staple\n", 0o600)
    p.ok("encrypt", "--passphrase-file", "right", "--argon2-memory", 8, "--argon2-passes", 1, "-o", "sealed", input=b"text")
    p.fails(12, "'sealed'", "decrypt", "--passphrase-file", "wrong", "sealed", "-o", "opened")
    p.key()
    p.fails(12, "'sealed'", "decrypt", "-k", "key", "sealed")
    check(p.ok("decrypt", "--passphrase-file", "right", "-k", "key", "sealed").out == b"text", "one right secret of two")


@case
def tampered(p):
    content = some_bytes(5 * 16384 + 100)
    sealed = bytearray(p.read(p.sealed(content)))
    for from_end in [1, 50, 17 + 100, CHUNK + 200, 3 * CHUNK]:
        changed = bytearray(sealed)
        changed[-from_end] ^= 0x40
        p.write("changed", changed)
        out = opens_nowhere(p, 13, ["cannot", "'changed'", "backup"], "changed", 26) if from_end else b""
        check(content.startswith(out), "the output is not an authenticated prefix")
        check(len(out) <= len(content) - len(content) % 16384, "the changed chunk was written")


@case
def one_copy_of_the_header_damaged(p):
    """The file opens with the other copy. verify and decrypt report it, also for a stream that
    cannot be read twice."""
    content = some_bytes(50_000)
    sealed = bytearray(p.read(p.sealed(content)))
    for command in ["verify", "decrypt"]:
        check("copies" not in p.ok(command, "-k", "key", "sealed").err, f"an undamaged file: {command}")
    for offset in [4096, 4096 + 100, 4096 + 28671, 4096 + 28672, 4096 + 2 * 28672 - 1]:  # docs/file-format.md: two copies of 28672 bytes
        changed = bytearray(sealed)
        changed[offset] ^= 1
        p.write("changed", changed)
        check(p.ok("decrypt", "-k", "key", "changed").out == content, "what comes back")
        for command in ["verify", "decrypt"]:
            check("warpseal: 'changed' is whole, but the two copies of its header differ" in p.ok("-q", command, "-k", "key", "changed").err,
                  f"{command} does not report byte {offset}")
            with open(p.file("changed"), "rb") as file:
                check("copies of its header differ" in p.ok(command, "-k", "key", stdin=file).err, f"{command} does not report byte {offset}")
            check("standard input is whole, but the two copies" in p.ok(command, "-k", "key", input=bytes(changed)).err,
                  f"{command} does not report byte {offset} of a pipe")
        p.ok("decrypt", "-k", "key", "changed", "-o", "opened", "-f")


@case
def a_failure_before_any_output_says_so(p):
    p.write("word", b"correct horse\n", 0o600)
    p.ok("encrypt", "--passphrase-file", "word", "--argon2-memory", 8, "--argon2-passes", 1, "-o", "sealed", input=some_bytes(50_000))
    changed = bytearray(p.read("sealed"))
    for copy in [4096, 4096 + 28672]:
        changed[copy + 16 + 7] = 17  # passes of the first slot: one more than the format allows
    p.write("changed", changed)
    result = p.fails(17, ["17 passes", "Nothing was written to standard output"], "decrypt", "--passphrase-file", "word", "changed")
    check_equal(result.out, b"", "standard output")


@case
def truncated(p):
    content = some_bytes(3 * 16384 + 100)
    sealed = p.read(p.sealed(content))
    whole_chunks = len(sealed) - 16 - 100  # ends with a full chunk: the short last one is missing
    for length in [whole_chunks, whole_chunks - 1, len(sealed) - 1, len(sealed) // 2, 40_000]:
        p.write("cut", sealed[:length])
        p.fails(26, "'cut'", "verify", "-k", "key", "cut")
        for options in [["-o", "opened"], []]:
            before = p.run("decrypt", "-k", "key", "cut", *options)
            check(before.code in (13, 14), f"cut at {length}: exit code {before.code}")
            check(content.startswith(before.out), "the output is not an authenticated prefix")
    p.fails(14, "'cut'", "decrypt", "-k", "key", p.write("cut", sealed[:whole_chunks]) and "cut", "-o", "opened")
    for length in range(0, 200):
        p.write("cut", sealed[:length])
        result = p.run("decrypt", "-k", "key", "cut", "-o", "opened")
        check(result.code in (12, 13, 14, 15), f"cut at {length}: exit code {result.code}")


@case
def trailing_bytes(p):
    sealed = p.read(p.sealed(some_bytes(40_000)))
    for extra in [b"\0", b"x" * 16, b"y" * CHUNK, sealed]:
        p.write("long", sealed + extra)
        result = p.run("decrypt", "-k", "key", "long", "-o", "opened")
        check(result.code in (13, 14), f"{len(extra)} more bytes: exit code {result.code}")
        p.fails(26, "'long'", "verify", "-k", "key", "long")


@case
def empty_file(p):
    p.key()
    p.write("empty", b"")
    p.fails(14, "'empty'", "decrypt", "-k", "key", "empty", "-o", "opened")
    p.fails(26, "'empty'", "verify", "-k", "key", "empty")
    p.fails(14, "'empty'", "info", "empty")
    check(p.ok("decrypt", "-k", "key", p.sealed(b"")).out == b"", "an empty message round-trips")


@case
def not_our_file(p):
    p.key()
    p.write("text", b"This is no sealed file.\n" * 1000)
    p.fails(15, ["'text'", "cobblestone"], "decrypt", "-k", "key", "text", "-o", "opened")
    p.fails(15, "'text'", "verify", "-k", "key", "text")
    p.fails(15, "'text'", "info", "text")
    p.fails(15, "'text'", "info", "--json", "text")


@case
def a_pipe_gets_a_prefix_and_a_failing_code(p):
    content = some_bytes(8 << 20)
    sealed = bytearray(p.read(p.sealed(content)))
    sealed[-3 * CHUNK] ^= 1
    result = p.run("decrypt", "-k", "key", input=bytes(sealed))
    check(result.code == 13, f"exit code {result.code}")
    check("not the whole file" in result.err, result.err)
    check(content.startswith(result.out) and len(result.out) % 16384 == 0, "not a prefix of whole chunks")


main()
