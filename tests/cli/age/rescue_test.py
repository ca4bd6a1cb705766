"""`warpseal rescue` of age files: holes, the end, armors, and what cannot be rescued."""

import json
import os

import kit
from program import case, check, check_equal, main, some_bytes

TEXT, CHUNK = 65536, 65552


def hole(offset, count, reason="not authentic"):
    return {"offset": offset, "bytes": count, "reason": reason}


def with_holes(content, holes):
    text = bytearray(content)
    for one in holes:
        text[one["offset"]:one["offset"] + one["bytes"]] = bytes(one["bytes"])
    return bytes(text)


def sealed(p, content, *more):
    """Returns an age file and the offset of its first chunk, which an armor does not show."""
    if not os.path.exists(p.file("identity")):
        p.ok("-q", "keygen", "--age", "-o", "identity")
    recipient = p.ok("keygen", "-y", "identity").out.decode().strip()
    made = bytearray(p.ok("encrypt", "--format", "age", "-r", recipient, *more, input=content).out)
    return made, made.find(b"\n--- ") + 49 + 16


def rescued(p, code, content, *arguments):
    p.write("film.age", content)
    result = p.run("rescue", "-i", "identity", "film.age", "-o", "film.rescued", *arguments)
    check_equal(result.code, code, result.err)
    text, listed = p.read("film.rescued"), json.loads(p.read("film.rescued.json"))
    for name in ["film.rescued", "film.rescued.json"]:
        check_equal(os.stat(p.file(name)).st_mode & 0o777, 0o600, f"permissions of {name}")
        os.unlink(p.file(name))
    check_equal(listed["hole_bytes"], sum(one["bytes"] for one in listed["holes"]), "bytes of all holes")
    check_equal((listed["output_bytes"], listed["authentic_bytes"]), (len(text), len(text) - listed["hole_bytes"]), "lengths")
    return text, listed, result.err


@case
def chunks_that_verify_are_written(p):
    for size in (0, 1, TEXT, TEXT + 1, 5 * TEXT, 5 * TEXT + 77):
        content = some_bytes(size, size)
        made, front = sealed(p, content)
        text, listed, _ = rescued(p, 0, made)
        check(text == content and listed["end"] == "found" and not listed["holes"], f"a whole file of {size} bytes: {listed}")
    for chunks, holes in (([0], [hole(0, TEXT)]), ([1, 2, 4], [hole(TEXT, 2 * TEXT), hole(4 * TEXT, TEXT)]), ([5], [hole(5 * TEXT, 77, "cut or changed")])):
        changed = bytearray(made)
        for k in chunks:
            changed[front + k * CHUNK + 50] ^= 1
        text, listed, err = rescued(p, 27, changed)
        check_equal(listed["holes"], holes, "holes")
        check(text == with_holes(content, holes), "the rescued text")
        check_equal(listed["end"], "missing" if 5 in chunks else "found", "the end")
        check("'film.rescued' is not the whole file" in err and "film.rescued.json" in err, err)


@case
def the_end(p):
    content = some_bytes(3 * TEXT + 500)
    made, front = sealed(p, content)
    for length, holes, size in ((front + 2 * CHUNK, [], 2 * TEXT), (front + 2 * CHUNK + 1016, [hole(2 * TEXT, 1000, "cut or changed")], 2 * TEXT + 1000),
                                (front + 2 * CHUNK + 9, [], 2 * TEXT), (front + 3 * CHUNK + 400, [hole(3 * TEXT, 384, "cut or changed")], 3 * TEXT + 384)):
        text, listed, err = rescued(p, 27, made[:length])
        check_equal((listed["holes"], listed["end"], len(text)), (holes, "missing", size), f"cut to {length} bytes")
        check(text == with_holes(content[:size], holes) and "the end of the file is missing" in err, err)
    for more in (1, 15, 16, 70_000, 3 * CHUNK):
        text, listed, err = rescued(p, 0, made + bytes(more))
        check(text == content, f"{more} bytes after the end")
        check_equal((listed["end"], listed["bytes_after_end"]), ("found", more), "the end")
        check(f"{more} bytes follow the end of 'film.age'" in err, err)
    for size in (0, 2 * TEXT):
        content = some_bytes(size)
        text, listed, _ = rescued(p, 0, sealed(p, content)[0] + b"more")
        check(text == content and listed["bytes_after_end"] == 4, f"a last chunk after {size} bytes: {listed}")
    # A chunk in the place of another is a hole.
    made, front = sealed(p, some_bytes(4 * TEXT + 1))
    swapped = made[:front] + made[front + CHUNK:front + 2 * CHUNK] + made[front:front + CHUNK] + made[front + 2 * CHUNK:]
    check_equal(rescued(p, 27, swapped)[1]["holes"], [hole(0, 2 * TEXT)], "chunks that changed places")


@case
def armors(p):
    content = some_bytes(3 * TEXT + 9)
    made = sealed(p, content, "-a")[0]
    check(rescued(p, 0, made)[0] == content, "a whole armor")
    lines = bytes(made).splitlines()
    lines[1500] = lines[1500][::-1]  # still base64
    text, listed, _ = rescued(p, 27, b"\n".join(lines))
    check_equal([one["bytes"] for one in listed["holes"]], [TEXT], "a changed line")
    check(text == with_holes(content, listed["holes"]), "the rescued text")
    lines[3000] = b"?" * 64
    text, listed, _ = rescued(p, 27, b"\n".join(lines))
    check_equal((listed["end"], len(text) % TEXT), ("missing", 0), "a line that is no base64")
    check(text == with_holes(content[:len(text)], listed["holes"]) and len(text) >= 2 * TEXT, "the rescued text")


@case
def keys_of_all_kinds(p):
    content = some_bytes(TEXT + 5)
    p.write("word", b"correct horse\n", 0o600)
    made = bytearray(p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=content).out)
    made[-1] ^= 1
    p.write("film.age", made)
    p.ok("-q", "keygen", "--age", "-o", "identity")
    check_equal(p.run("rescue", "--passphrase-file", "word", "film.age", "-o", "film.rescued").code, 27, "a passphrase")
    check(p.read("film.rescued") == content[:TEXT] + bytes(5), "the rescued text")
    for name in ("ed25519", "ed25519.pub"):
        with open(os.path.join(kit.VECTORS, "ssh", name), "rb") as file:
            p.write(name, file.read(), 0o600)
    made = bytearray(p.ok("encrypt", "--format", "age", "-R", "ed25519.pub", input=content).out)
    p.write("film.age", made)
    p.ok("rescue", "-i", "ed25519", "film.age", "-o", "by-ssh.rescued")
    check(p.read("by-ssh.rescued") == content, "the rescued text")


@case
def nothing_is_left_where_nothing_verifies(p):
    made, front = sealed(p, some_bytes(100))
    command = ["rescue", "-i", "identity", "film.age", "-o", "film.rescued"]
    made[-1] ^= 1
    p.write("film.age", made)
    p.fails(13, ["none of its 1 chunks verifies", "Nothing was written to 'film.rescued'"], *command)
    p.write("film.age", made[:front])
    p.fails(14, "nothing can be rescued", *command)
    p.write("film.age", made[:front - 3])
    p.fails(14, "right after its header", *command)
    made[25] ^= 1
    p.write("film.age", made)
    check(p.run(*command).code in (12, 13), "a changed header")
    p.ok("-q", "keygen", "--age", "-o", "other")
    p.write("film.age", sealed(p, b"text")[0])
    p.fails(12, "cannot rescue 'film.age'", "rescue", "-i", "other", "film.age", "-o", "film.rescued")
    p.fails(2, "original", "rescue", "-i", "identity", "film.age", "-o", "film.rescued", "--holes", "film")


main()
