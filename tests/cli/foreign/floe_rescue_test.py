"""`warpseal rescue` of FLOE files: holes, the end, length fields, and what cannot be rescued."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from program import case, check, check_equal, main, some_bytes

HEADER, SEGMENT = 74, 4096
TEXT = SEGMENT - 32


def hole(offset, count, reason="not authentic"):
    return {"offset": offset, "bytes": count, "reason": reason}


def with_holes(content, holes):
    text = bytearray(content)
    for one in holes:
        text[one["offset"]:one["offset"] + one["bytes"]] = bytes(one["bytes"])
    return bytes(text)


def sealed(p, content):
    if not os.path.exists(p.file("key")):
        p.key()
    return bytearray(p.ok("encrypt", "--format", "floe", "-k", "key", "--aad", "00ff", "--segment-bytes", SEGMENT, input=content).out)


def rescued(p, code, content):
    p.write("film.floe", content)
    result = p.run("rescue", "-k", "key", "--aad", "00ff", "film.floe", "-o", "film.rescued")
    check_equal(result.code, code, result.err)
    text, listed = p.read("film.rescued"), json.loads(p.read("film.rescued.json"))
    os.unlink(p.file("film.rescued"))
    os.unlink(p.file("film.rescued.json"))
    check_equal(listed["hole_bytes"], sum(one["bytes"] for one in listed["holes"]), "bytes of all holes")
    check_equal((listed["output_bytes"], listed["authentic_bytes"]), (len(text), len(text) - listed["hole_bytes"]), "lengths")
    return text, listed, result.err


@case
def segments_that_verify_are_written(p):
    for size in (0, 1, TEXT, TEXT + 1, 30 * TEXT, 30 * TEXT + 77):
        content = some_bytes(size, size)
        made = sealed(p, content)
        text, listed, _ = rescued(p, 0, made)
        check(text == content and listed["end"] == "found" and not listed["holes"], f"a whole file of {size} bytes: {listed}")
    for numbers, holes in (([0], [hole(0, TEXT)]), ([1, 2, 4], [hole(TEXT, 2 * TEXT), hole(4 * TEXT, TEXT)]), ([30], [hole(30 * TEXT, 77, "cut or changed")])):
        changed = bytearray(made)
        for k in numbers:
            changed[HEADER + k * SEGMENT + 50] ^= 1
        text, listed, err = rescued(p, 27, changed)
        check_equal(listed["holes"], holes, "holes")
        check(text == with_holes(content, holes), "the rescued text")
        check_equal(listed["end"], "missing" if 30 in numbers else "found", "the end")
        check("'film.rescued' is not the whole file" in err, err)


@case
def length_fields_are_not_trusted(p):
    content = some_bytes(3 * TEXT + 10)
    made = sealed(p, content)
    for k in range(4):
        made[HEADER + k * SEGMENT:HEADER + k * SEGMENT + 4] = b"\x00\x00\x00\x21"
    text, listed, _ = rescued(p, 0, made)
    check(text == content and listed["end"] == "found", str(listed))


@case
def the_end(p):
    content = some_bytes(5 * TEXT + 500)
    made = sealed(p, content)
    for length, holes, size in ((HEADER + 2 * SEGMENT, [], 2 * TEXT), (HEADER + 2 * SEGMENT + 1032, [hole(2 * TEXT, 1000, "cut or changed")], 2 * TEXT + 1000),
                                (HEADER + 2 * SEGMENT + 31, [], 2 * TEXT)):
        text, listed, err = rescued(p, 27, made[:length])
        check_equal((listed["holes"], listed["end"], len(text)), (holes, "missing", size), f"cut to {length} bytes")
        check(text == with_holes(content[:size], holes) and "the end of the file is missing" in err, err)
    for more in (1, 31, 5000, 7 * SEGMENT):
        text, listed, err = rescued(p, 0, made + bytes(more))
        check(text == content, f"{more} bytes after the end")
        check_equal((listed["end"], listed["bytes_after_end"]), ("found", more), "the end")
        check(f"{more} bytes follow the end of 'film.floe'" in err, err)


@case
def nothing_is_left_where_nothing_verifies(p):
    made = sealed(p, some_bytes(100))
    command = ["rescue", "-k", "key", "--aad", "00ff", "film.floe", "-o", "film.rescued"]
    made[-1] ^= 1
    p.write("film.floe", made)
    p.fails(13, ["none of its 1 chunks verifies", "Nothing was written"], *command)
    p.write("film.floe", made[:HEADER])
    p.fails(14, "nothing can be rescued", *command)
    made[20] ^= 1
    p.write("film.floe", made)
    p.fails(12, "wrong key file or wrong AAD", *command)
    p.write("film.floe", sealed(p, b"text"))
    p.fails(12, "AAD", "rescue", "-k", "key", "film.floe", "-o", "film.rescued")
    p.fails(2, "original", *command[:-1], "film.rescued", "--holes", "film")
    p.write("old", b"Salted__" + bytes(32))
    p.fails(15, "nothing is authenticated", "rescue", "--passphrase-file", "key", "old", "-o", "film.rescued")


main()
