"""`warpseal key`: list, add, remove, passwd and rotate, their refusals, and kills at every write."""

import collections
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "support"),
                str(pathlib.Path(__file__).resolve().parents[2] / "container/reader")]

from program import NotRun, case, check, check_equal, main, some_bytes
from terminal import Terminal

QUICK = ["--argon2-memory", "8", "--argon2-passes", "1"]
CONTENT = some_bytes(40_000)
OLD, NEW, OTHER = ["--passphrase-file", "old"], ["--passphrase-file", "new"], ["--passphrase-file", "other"]
TO_NEW = ["--new-passphrase-file", "new"]
# How many kills at system calls, besides those at writes.
KILLS = int(os.environ.get("WARPSEAL_TEST_KEY_KILLS", "25"))


def words(p):
    for name in ["old", "new", "other"]:
        p.write(name, f"the {name} passphrase\n".encode(), 0o600)


def with_passphrase(p, name="sealed"):
    words(p)
    p.write("plain", CONTENT)
    p.ok("-q", "encrypt", *QUICK, *OLD, "plain", "-o", name)
    return name


def opens(p, name, secret):
    result = p.run("decrypt", *secret, name)
    check(result.code in (0, 12), result.err)
    check(result.code != 0 or result.out == CONTENT, "another content")
    return result.code == 0


def copies_are_whole(p, name):
    """Both header copies are alike, and a second reader opens each of them alone."""
    header = p.read(name)[4096:61440]
    check_equal(header[:28672], header[28672:], "the two copies")


def slots(p, name):
    return json.loads(p.ok("key", "list", "--json", name).out)["slots"]


@case
def list_needs_no_key(p):
    with_passphrase(p)
    p.key()
    p.ok("key", "add", *OLD, "--new-key", "key", "sealed")
    p.sealed(CONTENT, "second")
    shown = p.ok("key", "list", "sealed", "second").out.decode()
    check_equal(shown, "sealed:\n   1  passphrase, Argon2id 8 MiB, 1 pass\n   2  key file\nsecond:\n   1  key file\n", "the list")
    lines = [json.loads(line) for line in p.ok("key", "list", "--json", "sealed", "second").out.splitlines()]
    check_equal([line["file"] for line in lines], ["sealed", "second"], "files")
    check_equal(lines[0]["slots"], [{"type": "passphrase", "argon2_passes": 1, "argon2_memory_kib": 8192, "slot": 1}, {"type": "key file", "slot": 2}], "slots")
    check_equal((lines[0]["generation"], lines[1]["generation"], lines[0]["authenticated"]), (2, 1, False), "generation")
    p.fails(10, "'none'", "key", "list", "none")
    p.fails(15, "'old'", "key", "list", "old")
    p.fails(2, "file is required", "key", "list")


@case
def add_and_remove(p):
    with_passphrase(p)
    p.key()
    p.key("key2")
    result = p.ok("key", "add", *QUICK, *OLD, "--new-key", "key", "--new-key", "key2", *TO_NEW, "sealed")
    check("'sealed': key added, 4 slots now." in result.err, result.err)
    check("revoke" not in result.err, result.err)
    for secret in [OLD, NEW, ["-k", "key"], ["-k", "key2"]]:
        check(opens(p, "sealed", secret), secret)
    result = p.ok("key", "remove", 1, "-k", "key", "sealed")
    check("slot 1 removed, 3 slots left" in result.err, result.err)
    check_equal(result.err.count("does not revoke"), 1, "warnings")
    check(not opens(p, "sealed", OLD) and opens(p, "sealed", NEW), "the removed slot")
    check_equal(p.ok("-q", "key", "remove", 1, *NEW, "sealed").err, "", "under --quiet")
    check(not opens(p, "sealed", ["-k", "key"]) and opens(p, "sealed", ["-k", "key2"]), "the removed slot")
    copies_are_whole(p, "sealed")


@case
def refusals_of_remove(p):
    with_passphrase(p)
    p.key()
    p.fails(2, "last key slot", "key", "remove", 1, *OLD, "sealed")
    p.ok("key", "add", *OLD, "--new-key", "key", "sealed")
    p.fails(2, "would not open", "key", "remove", 2, "-k", "key", "sealed")
    p.fails(2, "no slot 3", "key", "remove", 3, *OLD, "sealed")
    for number in ["0", "33", "x", "-1"]:
        p.fails(2, "", "key", "remove", number, *OLD, "sealed")
    p.fails(2, "file is required", "key", "remove", 1, *OLD)
    p.fails(12, "key list", "key", "remove", 1, *OTHER, "sealed")


@case
def passwd_changes_every_file(p):
    for name in ["one", "two", "three"]:
        with_passphrase(p, name)
    result = p.ok("key", "passwd", *QUICK, *OLD, *TO_NEW, "one", "two", "three")
    check_equal(result.err.count("does not revoke"), 1, "warnings")
    for name in ["one", "two", "three"]:
        check(f"'{name}': passphrase changed, 1 slot." in result.err, result.err)
        check(opens(p, name, NEW) and not opens(p, name, OLD), name)
    check_equal(slots(p, "one"), [{"type": "passphrase", "argon2_passes": 1, "argon2_memory_kib": 8192, "slot": 1}], "slots")


@case
def a_failure_names_the_files_left(p):
    for name in ["one", "three", "four"]:
        with_passphrase(p, name)
    p.ok("-q", "encrypt", *QUICK, *OTHER, "plain", "-o", "two")
    before = [p.read(name) for name in ["two", "three", "four"]]
    result = p.run("key", "passwd", *QUICK, *OLD, *TO_NEW, "one", "two", "three", "four")
    check_equal(result.code, 12, result.err)
    check("'two': wrong key" in result.err and "Not changed: 'three', 'four'." in result.err, result.err)
    check_equal([p.read(name) for name in ["two", "three", "four"]], before, "the other files")
    check(opens(p, "one", NEW), "the first file")
    p.fails(10, "'none'", "key", "passwd", *QUICK, *OLD, *TO_NEW, "three", "none")


@case
def passwd_asks(p):
    with_passphrase(p)
    terminal = Terminal(p, "key", "passwd", *QUICK, "sealed")
    for prompt, text in [("Old passphrase: ", "the old passphrase"), ("New passphrase: ", "the new passphrase"), ("New passphrase again: ", "the new passphrase")]:
        terminal.wait_for(prompt)
        terminal.type(text + "\n")
    code, _, err = terminal.end()
    check_equal(code, 0, err)
    check(opens(p, "sealed", NEW) and not opens(p, "sealed", OLD), "the new passphrase")
    terminal = Terminal(p, "key", "passwd", *QUICK, *NEW, "sealed")
    for prompt, text in [("New passphrase: ", "one"), ("New passphrase again: ", "two")]:
        terminal.wait_for(prompt)
        terminal.type(text + "\n")
    code, _, err = terminal.end()
    check("differ" in err and code == 2, err)
    check(opens(p, "sealed", NEW), "the passphrase after a mistake")
    p.fails(2, "no new key", "key", "passwd", *NEW, "sealed")
    p.fails(2, "opens the file", "key", "passwd", *TO_NEW, "sealed")


@case
def rotate(p):
    for name in ["one", "two"]:
        p.sealed(CONTENT, name)
    p.key("key2")
    result = p.ok("key", "rotate", "-k", "key", "--to", "key2", "one", "two")
    check_equal((result.err.count("key replaced, 1 slot."), result.err.count("does not revoke")), (2, 1), result.err)
    for name in ["one", "two"]:
        check(opens(p, name, ["-k", "key2"]) and not opens(p, name, ["-k", "key"]), name)
    p.ok("key", "rotate", "--key-command", "cat key2", "--to", "-", "one", input=p.read("key"))
    check(opens(p, "one", ["-k", "key"]), "a key from standard input")
    p.fails(12, "wrong key", "key", "rotate", "-k", "key", "--to", "key2", "two")
    p.fails(2, "one old key", "key", "rotate", "--to", "key2", "two")
    p.fails(2, "--to", "key", "rotate", "-k", "key", "two")
    p.fails(2, "one descriptor", "key", "rotate", "-k", "-", "--to", "-", "two")


@case
def full_slots(p):
    p.sealed(CONTENT)
    for i in range(2, 33):
        p.key(f"key{i}")
    p.ok("key", "add", "-k", "key", *[part for i in range(2, 33) for part in ["--new-key", f"key{i}"]], "sealed")
    check_equal(len(slots(p, "sealed")), 32, "slots")
    p.key("more")
    p.fails(17, "full", "key", "add", "-k", "key", "--new-key", "more", "sealed")
    check(opens(p, "sealed", ["-k", "key32"]), "the last key")


@case
def files_that_are_not_changed(p):
    p.sealed(CONTENT)
    p.key("key2")
    rotate = ["key", "rotate", "-k", "key", "--to", "key2"]
    os.mkdir(p.file("folder"))
    os.mkfifo(p.file("pipe"))
    p.write("text", b"some text")
    p.fails(16, "directory", *rotate, "folder")
    p.fails(2, "regular", *rotate, "pipe")
    p.fails(15, "'text'", *rotate, "text")
    p.fails(10, "'none'", *rotate, "none")
    p.write("short", p.read("sealed")[:9000])
    p.fails(14, "'short'", *rotate, "short")
    with open(p.file("sealed"), "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        p.fails(16, ["locked", "Try again"], *rotate, "sealed")
    os.symlink("sealed", p.file("link"))
    p.ok(*rotate, "link")
    check(os.path.islink(p.file("link")) and opens(p, "sealed", ["-k", "key2"]), "a link")


@case
def one_file_with_two_names(p):
    p.sealed(CONTENT)
    p.key("key2")
    os.link(p.file("sealed"), p.file("hard"))
    os.symlink("sealed", p.file("link"))
    before = p.read("sealed")
    for other in ["sealed", "hard", "link"]:
        p.fails(2, ["same file", f"'{other}'"], "key", "rotate", "-k", "key", "--to", "key2", "sealed", other)
    check_equal(p.read("sealed"), before, "the file")


@case
def a_damaged_copy_is_repaired(p):
    p.sealed(CONTENT)
    p.key("key2")
    damaged = bytearray(p.read("sealed"))
    damaged[4096 + 28672 + 100] ^= 1
    p.write("sealed", damaged)
    check("damaged or outdated" in p.ok("key", "list", "sealed").err, "the list is silent")
    check("Both are whole" in p.ok("key", "rotate", "-k", "key", "--to", "key2", "sealed").err, "rotate is silent")
    copies_are_whole(p, "sealed")


@case
def a_second_reader_opens_changed_files(p):
    try:
        import warpseal_reader
    except ImportError as error:
        raise NotRun(str(error)) from error
    with_passphrase(p)
    p.key()
    p.ok("key", "add", *OLD, "--new-key", "key", "sealed")
    p.ok("key", "passwd", *QUICK, *OLD, *TO_NEW, "sealed")
    for copy in [None, 0, 1]:
        content = bytearray(p.read("sealed"))
        if copy is not None:
            content[4096 + 28672 * copy:32768 + 28672 * copy] = bytes(28672)
        p.write("part", content)
        for secret in [{"key": p.read("key")}, {"passphrase": b"the new passphrase"}]:
            with open(p.file("part"), "rb") as stream, open(p.file("out"), "wb") as out:
                warpseal_reader.open_file(stream, out, **secret)
            check(p.read("out") == CONTENT, "another content")


def killed(p, calls, number):
    """Runs `key passwd` and kills it when a thread enters its call of that number. Returns true if
    it was killed."""
    traced = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:signal=SIGKILL:when={number}", p.path,
                             "-q", "key", "passwd", *QUICK, *OLD, *TO_NEW, "sealed"], cwd=p.directory, stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True, check=False)
    if b"ptrace" in traced.stderr:
        raise NotRun("no ptrace here")
    check(traced.returncode in (0, -9, 137), traced.stderr)
    return traced.returncode != 0


def judge(p, sealed, was_killed):
    """The file opens with the old or the new passphrase. Returns which of them opens it."""
    old, new = opens(p, "sealed", OLD), opens(p, "sealed", NEW)
    check(old or new, "the file is lost")
    check(was_killed or (new and not old), "a run to its end")
    p.write("sealed", sealed)
    return old, new


@case
def killed_at_every_write(p):
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    sealed = p.read(with_passphrase(p))
    seen = []
    for calls in ["pwritev", "fsync"]:
        number = 1
        while killed(p, calls, number):
            seen.append(judge(p, sealed, True))
            number += 1
        judge(p, sealed, False)
        check_equal(number - 1, {"pwritev": 2, "fsync": 3}[calls], f"kills at {calls}")
    check_equal(seen, [(True, False), (True, True), (True, False), (True, True), (False, True)], "which passphrases open")


def calls_of_main_thread(p):
    """The system calls that a whole run of `key passwd` makes in its first thread, in order, each with
    its number among those of its name."""
    traced = subprocess.run(["strace", "-f", "-qq", "-o", "calls", p.path, "-q", "key", "passwd", *QUICK, *OLD, *TO_NEW, "sealed"],
                            cwd=p.directory, stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True, check=False)
    if b"ptrace" in traced.stderr:
        raise NotRun("no ptrace here")
    check_equal(traced.returncode, 0, traced.stderr)
    lines = p.read("calls").decode(errors="replace").splitlines()
    first, count, calls = lines[0].split()[0], collections.Counter(), []
    for line in lines:
        found = re.match(r"(\d+) +(\w+)\(", line)
        if found and found[1] == first:
            count[found[2]] += 1
            calls.append((found[2], count[found[2]]))
    return calls


@case
def killed_at_every_system_call(p):
    """Each of them, if there are so many kills: else as evenly as they go, from the last one on."""
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    sealed = p.read(with_passphrase(p))
    calls = calls_of_main_thread(p)
    p.write("sealed", sealed)
    check(len(calls) > 50 and calls[-1] == ("exit_group", 1), calls)
    calls.pop()  # after which nothing runs
    chosen = [calls[i % len(calls)] if KILLS >= len(calls) else calls[-1 - i * len(calls) // KILLS] for i in range(KILLS)]
    hit, seen = 0, set()
    for name, number in chosen:
        was_killed = killed(p, name, number)
        seen.add(judge(p, sealed, was_killed))
        hit += was_killed
    print(f"  key passwd: {hit} of {KILLS} kills hit it, at {len(set(chosen))} of its {len(calls)} system calls: no file lost")
    # Not every run makes the same calls.
    check(hit >= KILLS - max(KILLS // 10, 3), "few kills hit")
    check({(True, False), (False, True)} <= seen, f"kills before and after the change: {seen}")


@case
def signals_wait_for_both_copies(p):
    """Two stop signals while the first copy is synced: a second one ends other work at once."""
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    sealed = p.read(with_passphrase(p))
    with subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=1000000:when=2", p.path,
                           "-q", "key", "passwd", *QUICK, *OLD, *TO_NEW, "sealed"], cwd=p.directory, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as traced:
        while traced.poll() is None and p.read("sealed") == sealed:
            time.sleep(0.01)
        if traced.poll() is not None and b"ptrace" in traced.stderr.read():
            raise NotRun("no ptrace here")
        program = int(pathlib.Path(f"/proc/{traced.pid}/task/{traced.pid}/children").read_text().split()[0])
        for _ in range(2):
            os.kill(program, signal.SIGTERM)
            time.sleep(0.2)
        code = traced.wait()
    check(code in (0, -signal.SIGTERM, 143), code)
    check(opens(p, "sealed", NEW) and not opens(p, "sealed", OLD), "one copy is not written")
    copies_are_whole(p, "sealed")


main()
