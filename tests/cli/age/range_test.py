"""`decrypt --range` of age files."""

import kit  # sets the path of the next module
from program import case, check_equal, main, some_bytes

CHUNK, SEALED = 65536, 65552


def prepare(p):
    p.ok("-q", "keygen", "--age", "-o", "identity")
    p.write("recipients", p.ok("keygen", "-y", "identity").out)


def sealed(p, content, *options, name="sealed"):
    p.ok("-q", "encrypt", "--format", "age", "-f", "-R", "recipients", *options, "-o", name, input=content)
    return p.read(name)


@case
def every_kind_of_range(p):
    prepare(p)
    for size in (1, CHUNK - 1, CHUNK, CHUNK + 1, 40 * CHUNK, 40 * CHUNK + 5):
        content = some_bytes(size)
        sealed(p, content)
        for offset, length in ((0, size), (0, 1), (size - 1, 1), (size // 2, 3), (0, 0), (size, 0), (size, 5), (max(size - CHUNK - 1, 0), CHUNK + 1),
                               (CHUNK - 1, 2), (17 * CHUNK + 5, 20 * CHUNK), (size - 1, 10)):
            if offset > size:
                continue
            for threads in (1, 4) if length > 4 * CHUNK else (1,):
                result = p.ok("decrypt", "-i", "identity", "--threads", threads, "--range", f"{offset}:{length}", "sealed")
                check_equal(result.out == content[offset:offset + length], True, f"bytes {offset}:{length} of {size} with {threads} threads")
                check_equal("the plaintext ends" in result.err, offset + length > size, f"a remark on {offset}:{length} of {size}")
        check_equal(p.ok("decrypt", "-i", "identity", "--range", f"{size // 3}:", "sealed").out == content[size // 3:], True, "without an end")
        p.fails(2, "begins at byte", "decrypt", "-i", "identity", "--range", f"{size + 1}:1", "sealed", "-o", "x")
    sealed(p, b"")
    check_equal(p.ok("decrypt", "-i", "identity", "--range", "0:5", "sealed").out, b"", "of an empty file")


@case
def what_must_be_authentic(p):
    """The end and the range, and nothing else."""
    prepare(p)
    content = some_bytes(3 * CHUNK + 100)
    whole = sealed(p, content)
    begin = len(whole) - 3 * SEALED - 116
    options = ("decrypt", "-i", "identity", "--range", f"{CHUNK}:10", "damaged")

    def damaged(at):
        p.write("damaged", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])

    for at in (begin + 5, begin + 2 * SEALED + 5):
        damaged(at)
        check_equal(p.ok(*options).out, content[CHUNK:CHUNK + 10], "with a changed chunk elsewhere")
    for at in (begin + SEALED, begin + 2 * SEALED - 1, begin + 3 * SEALED + 5, len(whole) - 1, begin - 1):
        damaged(at)
        p.fails(13, "was changed", *options, "-o", "out")
    for end, code in ((begin + 3 * SEALED, 14), (begin + 2 * SEALED, 14), (begin + 3 * SEALED + 10, 14), (begin + 3 * SEALED + 50, 13), (begin, 14), (begin - 1, 14), (50, 14)):
        p.write("damaged", whole[:end])
        p.fails(code, "cannot decrypt", *options, "-o", "out")
    p.write("damaged", whole + b"x")
    p.fails(13, "cannot decrypt", *options, "-o", "out")
    # Chunks in another order.
    p.write("damaged", whole[:begin] + whole[begin + SEALED:begin + 2 * SEALED] + whole[begin:begin + SEALED] + whole[begin + 2 * SEALED:])
    p.fails(13, "was changed", *options, "-o", "out")


@case
def what_has_no_ranges(p):
    prepare(p)
    content = some_bytes(100)
    whole = sealed(p, content)
    p.fails(2, "a pipe or a device", "decrypt", "-i", "identity", "--range", "0:1", input=whole)
    sealed(p, content, "-a", name="armored")
    p.fails(15, "does not read an armor", "decrypt", "-i", "identity", "--range", "0:1", "armored", "-o", "out")
    p.ok("keygen", "--age", "-o", "other")
    p.fails(12, "no identity", "decrypt", "-i", "other", "--range", "0:1", "sealed", "-o", "out")


if __name__ == "__main__":
    main()
