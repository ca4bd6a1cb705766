"""warpseal rescue: the text, the zeros and the list of holes; names, exit codes, and failures that
leave nothing behind."""

import json
import os
import resource
import shutil
import signal
import subprocess

from program import NotRun, case, check, check_equal, main, snapshot, some_bytes, wait_until, wait_until_output_is_open

FRONT = 61496  # docs/file-format.md: the bytes before the first chunk
CHUNK = 16400  # of the payload, tag included
TEXT = 16384


def damaged(p, content, chunks, name="film.ws"):
    """Makes a sealed file of which these chunks are changed."""
    sealed = bytearray(p.read(p.sealed(content)))
    for k in chunks:
        sealed[FRONT + k * CHUNK + 100] ^= 1
    p.write(name, sealed)
    os.unlink(p.file("sealed"))
    return sealed


def rescued(p, code, *arguments, **options):
    """Returns the rescued text, the list and what was said."""
    result = p.run("rescue", "-k", "key", *arguments, "-o", "film.rescued", **options)
    check_equal(result.code, code, result.err)
    check_equal(result.out, b"", "standard output")
    text, holes = p.read("film.rescued"), json.loads(p.read("film.rescued.json"))
    for name in ["film.rescued", "film.rescued.json"]:
        check_equal(os.stat(p.file(name)).st_mode & 0o777, 0o600, f"permissions of {name}")
        os.unlink(p.file(name))
    check_equal(list(holes), ["version", "holes", "hole_bytes", "authentic_bytes", "output_bytes", "end", "bytes_after_end"], "members")
    check_equal(holes["version"], 1, "version")
    check_equal(holes["hole_bytes"], sum(hole["bytes"] for hole in holes["holes"]), "bytes of all holes")
    check_equal(holes["output_bytes"], len(text), "bytes of the output")
    check_equal(holes["authentic_bytes"], len(text) - holes["hole_bytes"], "authentic bytes")
    return text, holes, result.err


def hole(offset, count, reason="not authentic"):
    return {"offset": offset, "bytes": count, "reason": reason}


def with_holes(content, holes):
    """Returns the content with zeros in the holes."""
    text = bytearray(content)
    for one in holes:
        text[one["offset"]:one["offset"] + one["bytes"]] = bytes(one["bytes"])
    return text


@case
def chunks_that_verify_are_written(p):
    content = some_bytes(40 * TEXT + 100)
    for chunks, holes in [([0], [hole(0, TEXT)]),
                          ([3, 4, 39], [hole(3 * TEXT, 2 * TEXT), hole(39 * TEXT, TEXT)])]:
        damaged(p, content, chunks)
        text, listed, err = rescued(p, 27, "film.ws")
        check_equal(listed["holes"], holes, "holes")
        check(text == with_holes(content, holes), "the rescued text")
        check_equal((listed["end"], listed["bytes_after_end"]), ("found", 0), "end")
        check("'film.rescued' is not the whole file" in err and "film.rescued.json" in err, err)
        check(f"{listed['hole_bytes']} of {len(content)} bytes" in err, err)


@case
def a_whole_file_is_rescued_with_code_0(p):
    for content in [b"", some_bytes(TEXT), some_bytes(5 * TEXT + 1)]:
        damaged(p, content, [])
        text, listed, err = rescued(p, 0, "film.ws")
        check(text == content, "the rescued text")
        check_equal((listed["holes"], listed["end"]), ([], "found"), "the list")
        check("warpseal: rescued" in err, err)


@case
def the_end_is_cut_or_changed(p):
    content = some_bytes(2 * TEXT + 5000)
    sealed = damaged(p, content, [])
    p.write("film.ws", sealed[:FRONT + 2 * CHUNK])
    text, listed, err = rescued(p, 27, "film.ws")
    check_equal((listed["holes"], listed["end"]), ([], "missing"), "cut at the end of a chunk")
    check(text == content[:2 * TEXT], "the rescued text")
    check("the end of the file is missing" in err, err)
    p.write("film.ws", sealed[:FRONT + 2 * CHUNK + 1016])
    text, listed, _ = rescued(p, 27, "film.ws")
    check_equal((listed["holes"], listed["end"]), ([hole(2 * TEXT, 1000, "cut or changed")], "missing"), "cut in a chunk")
    check(text == content[:2 * TEXT] + bytes(1000), "the rescued text")
    changed = bytearray(sealed)
    changed[-1] ^= 1
    changed[FRONT] ^= 1
    p.write("film.ws", changed)
    text, listed, _ = rescued(p, 27, "film.ws")
    check_equal(listed["holes"], [hole(0, TEXT), hole(2 * TEXT, 5000, "cut or changed")], "the last chunk is changed")
    check(text == with_holes(content, listed["holes"]), "the rescued text")


@case
def bytes_after_the_end_are_left_out(p):
    content = some_bytes(3 * TEXT + 5)
    sealed = damaged(p, content, [])
    p.write("film.ws", sealed + bytes(70_000))
    text, listed, err = rescued(p, 0, "film.ws")
    check(text == content and listed["bytes_after_end"] == 70_000 and listed["end"] == "found", str(listed))
    check("70000 bytes follow the end of 'film.ws'" in err, err)


@case
def one_header_copy_is_damaged(p):
    content = some_bytes(TEXT + 5)
    sealed = damaged(p, content, [])
    sealed[4096 + 20] ^= 1
    p.write("film.ws", sealed)
    text, _, err = rescued(p, 0, "film.ws")
    check(text == content and "copies of the header" in err, err)
    sealed[4096 + 28672 + 20] ^= 1
    p.write("film.ws", sealed)
    p.fails(13, "cannot rescue 'film.ws'", "rescue", "-k", "key", "film.ws", "-o", "film.rescued")


@case
def nothing_is_left_where_nothing_verifies(p):
    sealed = damaged(p, some_bytes(2 * TEXT), [0, 1])
    sealed[-1] ^= 1
    p.write("film.ws", sealed)
    p.fails(13, ["none of its 3 chunks verifies", "Nothing was written"], "rescue", "-k", "key", "film.ws", "-o", "film.rescued")
    p.write("film.ws", sealed[:FRONT + 10])
    p.fails(14, "nothing can be rescued", "rescue", "-k", "key", "film.ws", "-o", "film.rescued")
    p.write("film.ws", b"")
    p.fails(14, "'film.ws'", "rescue", "-k", "key", "film.ws", "-o", "film.rescued")
    damaged(p, some_bytes(2 * TEXT), [0])
    p.key("other")
    p.fails(12, "'film.ws'", "rescue", "-k", "other", "film.ws", "-o", "film.rescued")
    p.fails(10, "'none.ws'", "rescue", "-k", "key", "none.ws", "-o", "film.rescued")


@case
def the_name_of_the_original_is_refused(p):
    damaged(p, some_bytes(50), [])
    rescue = ["rescue", "-k", "key"]
    p.fails(2, "must end in .rescued", *rescue, "film.ws", "-o", "film")
    p.fails(2, "must end in .rescued", *rescue, "film.ws", "-o", ".rescued")
    p.fails(2, "must end in .rescued", *rescue, "film.ws", "-o", "-")
    p.fails(2, "--output", *rescue, "film.ws")
    p.fails(2, "original", *rescue, "film.ws", "-o", "film.rescued", "--holes", "film")
    p.fails(2, "original", *rescue, "film.ws", "-o", "film.rescued", "--holes", "./film")
    os.rename(p.file("film.ws"), p.file("film.rescued.ws"))
    p.fails(2, "original", *rescue, "film.rescued.ws", "-o", "film.rescued")
    p.fails(2, "original", *rescue, "film.rescued.ws", "-o", p.file("film.rescued"))
    p.fails(2, "list of holes", *rescue, "film.rescued.ws", "-o", "x.rescued", "--holes", "./x.rescued")
    p.ok(*rescue, "film.rescued.ws", "-o", "film.rescued.rescued", "--holes", "list")
    check_equal(sorted(os.listdir(p.directory)), ["film.rescued.rescued", "film.rescued.ws", "key", "list"], "files")


@case
def existing_names_are_left_alone(p):
    damaged(p, some_bytes(3 * TEXT), [1])
    rescue = ["rescue", "-k", "key", "film.ws", "-o", "film.rescued"]
    p.write("film.rescued", b"old")
    result = p.fails(11, "'film.rescued' exists", *rescue)
    check("--force" not in result.err, "rescue has no --force")
    os.unlink(p.file("film.rescued"))
    p.write("film.rescued.json", b"old")
    p.fails(11, "'film.rescued.json' exists", *rescue)
    os.unlink(p.file("film.rescued.json"))
    # A link may lead to the original's name.
    os.symlink("film", p.file("film.rescued"))
    p.fails(11, "'film.rescued' exists", *rescue)
    p.fails(2, "--force", *rescue, "--force")


@case
def pipes_are_refused(p):
    sealed = damaged(p, some_bytes(3 * TEXT), [1])
    p.fails(2, "standard input is a pipe", "rescue", "-k", "key", "-o", "film.rescued", input=bytes(sealed))
    os.mkfifo(p.file("pipe.rescued"))
    os.mkfifo(p.file("pipe"))
    for names in [["-o", "pipe.rescued"], ["-o", "film.rescued", "--holes", "pipe"], ["-o", "film.rescued", "--holes", "-"]]:
        process = [os.open(p.file(name), os.O_RDWR) for name in ("pipe.rescued", "pipe")]
        p.fails(2, "pipe or a device", "rescue", "-k", "key", "film.ws", *names)
        for descriptor in process:
            os.close(descriptor)
    with open(p.file("film.ws"), "rb") as file:
        rescued(p, 27, stdin=file)


@case
def bare_messages(p):
    p.key()
    content = some_bytes(3 * TEXT + 5)
    p.ok("encrypt", "--format", "cobblestone", "--context", "0a", "-k", "key", "-o", "bare", input=content)
    changed = bytearray(p.read("bare"))
    changed[56 + CHUNK] ^= 1
    p.write("bare", changed)
    text, listed, _ = rescued(p, 27, "--format", "cobblestone", "--context", "0a", "bare")
    check_equal(listed["holes"], [hole(TEXT, TEXT)], "holes")
    check(text == with_holes(content, listed["holes"]), "the rescued text")
    p.fails(12, "--context", "rescue", "--format", "cobblestone", "-k", "key", "bare", "-o", "film.rescued")


@case
def events_say_27(p):
    damaged(p, some_bytes(3 * TEXT), [1])
    result = p.run("rescue", "--progress", "json", "-k", "key", "film.ws", "-o", "film.rescued")
    last = json.loads([line for line in result.err.splitlines() if line.startswith("{")][-1])
    check_equal((result.code, last["event"], last["exit_code"]), (27, "failed", 27), result.err)


@case
def a_full_disk_leaves_nothing(p):
    damaged(p, some_bytes(64 * TEXT), [1, 60])
    for limit in [0, 10, TEXT, 30 * TEXT, 64 * TEXT - 1]:
        p.fails(16, ["cannot", "film.rescued"] if limit == 0 else "cannot", "rescue", "-k", "key", "film.ws", "-o", "film.rescued",
                preexec_fn=lambda limit=limit: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))


@case
def a_list_too_long_for_the_disk_leaves_nothing(p):
    """2000 holes: the list is longer than its buffer, and longer than the text of the few chunks."""
    damaged(p, some_bytes(4000 * TEXT), range(1, 4000, 2))
    text, listed, _ = rescued(p, 27, "film.ws")
    check_equal([one["offset"] for one in listed["holes"]], [k * TEXT for k in range(1, 4000, 2)], "holes")
    each_call_fails(p, "write", "ENOSPC", 2)  # the first in the middle of the work


def each_call_fails(p, call, error, count):
    """Fails each of the `count` calls in turn: code 16, and nothing is left behind."""
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    before = snapshot(p.directory)
    for n in range(1, count + 2):
        traced = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", f"inject={call}:error={error}:when={n}", p.path, "rescue", "-k", "key", "film.ws", "-o",
                                 "film.rescued", "--device", "cpu", "--threads", "1"], cwd=p.directory, capture_output=True, start_new_session=True, check=False)
        if b"ptrace" in traced.stderr:
            raise NotRun("no ptrace here")
        if n > count:
            check_equal(traced.returncode, 27, f"there are {count} calls of {call}: {traced.stderr!r}")
            check_equal(sorted(set(snapshot(p.directory)) - set(before)), ["film.rescued", "film.rescued.json"], "new files")
            for name in ["film.rescued", "film.rescued.json"]:
                os.unlink(p.file(name))
            continue
        check_equal(traced.returncode, 16, f"{call} {n}: {traced.stderr!r}")
        check_equal(snapshot(p.directory), before, f"files after {call} {n} has failed")


@case
def each_step_of_naming_counts(p):
    """The syncs are of two files and of their directory, the latter for each name."""
    damaged(p, some_bytes(3 * TEXT), [1])
    each_call_fails(p, "fsync", "EIO", 4)
    each_call_fails(p, "linkat", "EPERM", 2)


@case
def a_killed_rescue_leaves_nothing(p):
    damaged(p, some_bytes(3 * TEXT), [1])
    with open(p.file("film.ws"), "ab") as file:
        file.truncate(64 << 30)  # a long hole, without a disk block: minutes of work
    before = sorted(os.listdir(p.directory))
    for number, code in [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143), (signal.SIGINT, 130)]:
        process = p.start("rescue", "--device", "portable", "--threads", 1, "-k", "key", "film.ws", "-o", "film.rescued")
        wait_until_output_is_open(process, p.directory)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        check_equal(process.returncode, code, err)
        check_equal(sorted(os.listdir(p.directory)), before, f"files after signal {number}")


@case
def memory_does_not_grow_with_the_file(p):
    content = some_bytes(3 * TEXT)
    def peak():
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                result = p.run("-q", "rescue", "--threads", 2, "--device", "cpu", "-k", "key", "film.ws", "-o", "film.rescued")
                os.write(write, json.dumps([result.code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]).encode())
                code = 0
            finally:
                os._exit(code)
        os.waitpid(child, 0)
        os.close(write)
        with os.fdopen(read, "rb") as answer:
            code, kib = json.loads(answer.read())
        check_equal(code, 0, "exit code")
        for name in ["film.rescued", "film.rescued.json"]:
            os.unlink(p.file(name))
        return kib

    damaged(p, content, [])
    small = peak()
    with open(p.file("film.ws"), "ab") as file:
        file.truncate(1 << 30)
    large = peak()
    check(large < small + 65536, f"{small} KiB for a small file, {large} KiB for one of 1 GiB")


main()
