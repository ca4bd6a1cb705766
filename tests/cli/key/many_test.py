"""`warpseal key` over many files: --keep-going, --json, --recursive, --files-from0, and one key
derivation for a run."""

import json
import os
import pathlib
import resource
import signal
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from program import case, check, check_equal, main, some_bytes

QUICK = ["--argon2-memory", "8", "--argon2-passes", "1"]
CONTENT = some_bytes(20_000)
OLD, NEW = ["--passphrase-file", "old"], ["--passphrase-file", "new"]
TO_NEW = ["--new-passphrase-file", "new"]


def words(p):
    for name in ("old", "new", "other"):
        p.write(name, f"the {name} passphrase\n".encode(), 0o600)


def opens(p, name, secret):
    result = p.run("decrypt", *secret, name)
    check(result.code in (0, 12), result.err)
    return result.code == 0 and result.out == CONTENT


def lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


def store(p):
    """Five files, of which the second and fourth do not open, beside others."""
    words(p)
    p.key()
    p.key("key2")
    os.makedirs(p.file("store/in"))
    for name in ("store/a.ws", "store/in/c.ws", "store/z.ws"):
        p.sealed(CONTENT, name)
    p.sealed(CONTENT, "store/b.ws", "key2")
    p.write("store/in/d.ws", b"no sealed file")
    p.write("store/notes.txt", b"text")
    return ["store/a.ws", "store/b.ws", "store/in/c.ws", "store/in/d.ws", "store/z.ws"]


@case
def keep_going_changes_what_it_can(p):
    names = store(p)
    p.key("new-key")
    result = p.run("key", "rotate", "-k", "key", "--to", "new-key", "--keep-going", "--json", "--recursive", "store")
    check_equal(result.code, 3, result.err)
    check("2 of 5 files failed" in result.err.splitlines()[-1], result.err)
    rows = {row["file"]: row for row in lines(result)}
    check_equal(sorted(rows), names, "files")
    for name, code in zip(names, (0, 12, 0, 15, 0)):
        row = rows[name]
        check_equal((row["status"], row["exit_code"]), ("failed" if code else "done", code), name)
        if code:
            check(name in row["message"] and any(name in line for line in result.err.splitlines()), row)
            check("slots" not in row, row)
        else:
            check_equal(row["slots"], 1, "slots")
            check(opens(p, name, ["-k", "new-key"]) and not opens(p, name, ["-k", "key"]), name)
    check(opens(p, "store/b.ws", ["-k", "key2"]), "a file that another key opens")


@case
def without_it_the_first_failure_ends_the_run(p):
    names = store(p)
    p.key("new-key")
    result = p.run("key", "rotate", "-k", "key", "--to", "new-key", "--json", *names)
    check_equal(result.code, 12, result.err)
    check_equal([(row["file"], row["exit_code"]) for row in lines(result)], [(names[0], 0), (names[1], 12)], "lines")
    check("Not changed: 'store/in/c.ws', 'store/in/d.ws', 'store/z.ws'." in result.err, result.err)
    before = {name: p.read(name) for name in names}
    result = p.run("key", "rotate", "-k", "new-key", "--to", "key", "--keep-going", names[0], "none", "store", names[0], os.path.join("store", "in", "c.ws"))
    check_equal(result.code, 3, result.err)
    for words_of in ("there is no input 'none'", "'store': it is a directory", "are the same file"):
        check(words_of in result.err, f"no {words_of!r} in {result.err!r}")
    check(opens(p, names[0], ["-k", "key"]), "the first file")
    check_equal(p.read("store/z.ws"), before["store/z.ws"], "a file that was not named")


@case
def all_five_commands(p):
    names = store(p)[::2]
    listed = p.run("key", "list", "--keep-going", "--json", *names, "store/notes.txt", "none")
    check_equal(listed.code, 3, listed.err)
    check_equal([(row["file"], row["status"], row["exit_code"]) for row in lines(listed)],
                [(name, "done", 0) for name in names] + [("store/notes.txt", "failed", 15), ("none", "failed", 10)], "list")
    check_equal(lines(listed)[0]["slots"], [{"type": "key file", "slot": 1}], "slots")
    added = p.ok("key", "add", "-k", "key", *QUICK, "--new-passphrase-file", "old", "--json", "--files-from0", "-", input="\0".join(names).encode())
    check_equal([(row["file"], row["slots"]) for row in lines(added)], [(name, 2) for name in names], "add")
    changed = p.run("key", "passwd", *QUICK, *OLD, *TO_NEW, "--keep-going", "--json", "store/b.ws", *names)
    check_equal((changed.code, [row["exit_code"] for row in lines(changed)]), (3, [12, 0, 0, 0]), "passwd")
    removed = p.run("key", "remove", 1, *NEW, "--keep-going", "--json", *names, "store/b.ws")
    check_equal((removed.code, [row["exit_code"] for row in lines(removed)]), (3, [0, 0, 0, 12]), "remove")
    for name in names:
        check(opens(p, name, NEW) and not opens(p, name, ["-k", "key"]), name)
    check_equal(removed.err.count("does not revoke"), 1, "warnings")
    p.fails(2, "file is required", "key", "list", "--keep-going")
    os.mkdir(p.file("empty"))
    check("there are no files" in p.ok("key", "list", "--recursive", "empty").err, "an empty directory")


@case
def secrets_that_are_wrong_for_all_end_the_run(p):
    names = store(p)
    before = [p.read(name) for name in names]
    p.fails(10, "'missing'", "key", "rotate", "-k", "missing", "--to", "key2", "--keep-going", *names)
    p.fails(10, "'missing'", "key", "passwd", *OLD, "--new-passphrase-file", "missing", "--keep-going", *names)
    check_equal([p.read(name) for name in names], before, "the files")


@case
def a_signal_ends_the_run(p):
    """The file being changed is whole, and the others are named as not changed."""
    words(p)
    p.write("plain", CONTENT)
    names = [f"{number}.ws" for number in range(60)]
    for name in names:
        p.ok("-q", "encrypt", *OLD, *QUICK, "plain", "-o", name)
    process = p.start("key", "passwd", "--argon2-memory", "64", *OLD, *TO_NEW, "--keep-going", "--json", *names)
    # readline() could buffer further lines, which communicate() would not return.
    begun = os.read(process.stdout.fileno(), 1 << 16)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    check(process.returncode in (143, 0), err)
    if process.returncode == 143:
        check(b"interrupted" in err and b"Not changed" in err and b" more." in err, err)
    changed = (begun + out).count(b'"done"')
    for number in (0, changed - 1, changed, 59):
        if number < 60:
            check_equal((opens(p, names[number], NEW), opens(p, names[number], OLD)), (number < changed, number >= changed), f"file {number} of {changed}")


@case
def one_key_derivation(p):
    words(p)
    p.key()
    names = [f"{number}.ws" for number in range(12)]
    for name in names:
        p.write(name[:-3], CONTENT)
    costly = ["--argon2-memory", "64", "--argon2-passes", "6"]
    p.ok("encrypt", *OLD, *costly, *[name[:-3] for name in names])

    def user_seconds(*arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        p.ok(*arguments)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    one = user_seconds("key", "passwd", *costly, *OLD, *TO_NEW, names[0])
    eleven = user_seconds("key", "passwd", *costly, *OLD, *TO_NEW, *names[1:])
    check(eleven < 3 * one, f"{eleven:.2f} s for eleven files, {one:.2f} s for one")
    salts = {p.read(name)[4096 + 16 + 12:4096 + 16 + 28] for name in names[1:]}
    check_equal(len(salts), 1, "salts of the new slots")


main()
