"""Runs over many files: failures in the middle, --keep-going and its lines, full disks, threads that
cannot start."""

import errno
import json
import os
import resource
import shutil
import subprocess

import many
from program import NotRun, case, check, check_equal, main, some_bytes
from refusal import refuse

ONE_BY_ONE = ["--threads", "1"]


def without_output(p, name):
    """Puts a directory where an output would be."""
    os.mkdir(p.file(name))


@case
def the_first_failure_stops_the_run(p):
    p.key()
    contents = many.tree(p, ["a", "b", "c", "d"])
    os.unlink(p.file("b"))
    result = p.run("encrypt", "-k", "key", *ONE_BY_ONE, *contents)
    check_equal(result.code, 10, result.err)
    check("'b'" in result.err and "1 file is done, 2 not begun or not finished. Not done: 'c', 'd'.\n" in result.err, result.err)
    check_equal(many.names(p), ["a", "a.ws", "c", "d", "key"], "files")
    p.ok("verify", "-k", "key", "a.ws")


@case
def keep_going(p):
    p.key()
    contents = many.tree(p, ["a", "b", "c", "d", "e"])
    os.unlink(p.file("b"))
    without_output(p, "c.ws")
    p.write("e.ws", b"precious")
    result = p.run("encrypt", "-k", "key", "--keep-going", "--json", *contents)
    check_equal(result.code, 3, result.err)
    rows = many.rows(result)
    check_equal({name: (row["status"], row["exit_code"]) for name, row in rows.items()},
                {"a": ("done", 0), "b": ("failed", 10), "c": ("failed", 16), "d": ("done", 0), "e": ("failed", 11)}, "lines")
    for name in ["a", "d"]:
        check_equal((rows[name]["output"], rows[name]["bytes"], rows[name]["file_bytes"]),
                    (name + ".ws", len(contents[name]), len(p.read(name + ".ws"))), name)
    for name in "bce":
        check(rows[name]["message"] in result.err, f"{name} on stderr: {result.err}")
    check("3 of 5 files failed" in result.err.splitlines()[-1], result.err)
    check_equal(p.read("e.ws"), b"precious", "an existing output")
    # Without --json nothing is on standard output.
    check_equal(p.run("encrypt", "-k", "key", "--keep-going", *contents).out, b"", "standard output")


@case
def damage_in_the_middle(p):
    p.key()
    contents = many.tree(p, ["a", "b", "c"])
    p.ok("encrypt", "-k", "key", *contents)
    sealed = bytearray(p.read("b.ws"))
    sealed[-1] ^= 1
    p.write("b.ws", bytes(sealed))
    for command, code, options in [("decrypt", 13, ["--output-dir", "out"]), ("verify", 26, [])]:
        result = p.run(command, "-k", "key", "--keep-going", "--json", *options, "a.ws", "b.ws", "c.ws")
        check_equal(result.code, 3, result.err)
        check_equal([row["exit_code"] for _, row in sorted(many.rows(result).items())], [0, code, 0], "codes")
        check_equal(p.run(command, "-k", "key", *ONE_BY_ONE, *options, "--recursive", "b.ws").code, code, "the first failure's code")
    check_equal(many.names(p, "out"), ["out/a", "out/c"], "outputs")


@case
def unreadable_files_and_directories(p):
    if os.geteuid() == 0:
        raise NotRun("root reads everything")
    p.key()
    many.tree(p, ["a", "b", "closed/c"], "top")
    os.chmod(p.file("top/b"), 0)
    os.chmod(p.file("top/closed"), 0)
    result = p.run("encrypt", "-k", "key", "--keep-going", "--json", "--recursive", "top")
    check_equal(result.code, 3, result.err)
    check_equal({name: row["exit_code"] for name, row in many.rows(result).items()}, {"top/a": 0, "top/b": 16, "top/closed": 16}, "codes")
    os.chmod(p.file("top/closed"), 0o700)


@case
def what_is_wrong_for_all_is_said_once(p):
    many.tree(p, ["a", "b"])
    for code, options in [(10, ["-k", "nothing"]), (20, ["-k", "key", "--device", "cuda:99"])]:
        if code == 20:
            p.key()
        result = p.run("encrypt", "--keep-going", "--json", *options, "a", "b")
        check_equal((result.code, result.out), (code, b""), result.err)


@case
def a_disk_that_is_full_in_the_middle(p):
    if os.geteuid() != 0:
        raise NotRun("only root can mount a small tmpfs")
    os.mkdir(p.file("small"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", p.file("small")], capture_output=True, check=False).returncode != 0:
        raise NotRun("a tmpfs cannot be mounted here")
    try:
        p.key()
        os.mkdir(p.file("in"))
        for i in range(50):
            p.write(f"in/{i:02}", some_bytes(40_000, i))
        inputs = [f"in/{i:02}" for i in range(50)]
        result = p.run("encrypt", "-k", "key", *inputs, "--output-dir", "small")
        check_equal(result.code, 16, result.err)
        finished = many.names(p, "small")
        check("No space left" in result.err, result.err)
        check(f"{len(finished)} files are done" in result.err, result.err)
        check(5 < len(finished) < 30, f"{len(finished)} outputs")
        # The line names the first that failed, and of the others as many as fit.
        missing = [name for name in inputs if f"small/{name[3:]}.ws" not in finished]
        line = result.err.splitlines()[-1]
        first = next(name for name in missing if f"'small/{name[3:]}.ws'" in line)
        rest = [name for name in missing if name != first]
        named = ", ".join(f"'{name}'" for name in rest[:20]) + (f" and {len(rest) - 20} more" if len(rest) > 20 else "")
        check(line.endswith(f" Not done: {named}."), line)
        p.ok("verify", "-k", "key", *finished)
    finally:
        subprocess.run(["umount", p.file("small")], check=True)


@case
def a_full_standard_output_stops_the_run(p):
    p.key()
    contents = many.tree(p, ["a", "b", "c"])
    with open("/dev/full", "wb") as full:
        result = p.run("encrypt", "-k", "key", "--json", *ONE_BY_ONE, *contents, stdout=full)
    check_equal(result.code, 16, result.err)
    check("standard output" in result.err, result.err)
    check_equal(many.names(p), ["a", "a.ws", "b", "c", "key"], "files")


@case
def threads_that_cannot_start(p):
    """The watcher of signals starts first. No other thread does, and the files are done without."""
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    p.key()
    contents = many.tree(p, [f"f{i}" for i in range(20)])
    traced = subprocess.run(["strace", "-f", "-o", p.file("calls"), "-e", "trace=clone,clone3", "-e", "inject=clone,clone3:error=EAGAIN:when=2+", p.path,
                             "encrypt", "-k", "key", "--threads", "4", *contents], cwd=p.directory, capture_output=True, start_new_session=True, check=False)
    if b"ptrace" in traced.stderr:
        raise NotRun("no ptrace here")
    check_equal(traced.returncode, 0, traced.stderr)
    with open(p.file("calls"), encoding="ascii", errors="replace") as log:
        check("EAGAIN" in log.read(), "no other thread was wanted")
    p.ok("verify", "-k", "key", *[name + ".ws" for name in contents])


@case
def a_tree_deeper_than_paths_can_be(p):
    p.key()
    many.tree(p, ["a"], "top")
    directory = os.open(p.file("top"), os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=directory)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = below
    os.close(directory)
    result = p.run("encrypt", "-k", "key", "--keep-going", "--json", "--recursive", "top")
    check_equal(result.code, 3, result.err)
    check_equal(sorted(row["exit_code"] for row in many.rows(result).values()), [0, 16], "codes")
    check("File name too long" in result.err and os.path.exists(p.file("top/a.ws")), result.err)


@case
def progress_events_name_their_file(p):
    p.key()
    contents = many.tree(p, ["a", "b"])
    err = p.ok("encrypt", "-k", "key", "--progress", "json", *contents).err
    events = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    check_equal(sorted(event["file"] for event in events if event["event"] == "done"), ["a", "b"], "done")
    os.unlink(p.file("a"))
    err = p.run("encrypt", "-k", "key", "--progress", "json", "--force", "--keep-going", *contents).err
    events = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    check_equal([(event.get("file"), event["exit_code"]) for event in events if event["event"] == "failed"], [("a", 10), (None, 3)], "failed")


@case
def few_descriptors(p):
    """Fewer threads work then."""
    p.key()
    contents = many.tree(p, [f"f{i:03}" for i in range(200)])
    p.ok("encrypt", "-k", "key", "--threads", "64", *contents, "--output-dir", "out", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    check_equal(len(many.names(p, "out")), 200, "outputs")


@case
def a_run_without_descriptors(p):
    p.key()
    contents = many.tree(p, ["a", "b"])
    result = p.run("encrypt", "-k", "key", "--keep-going", *contents, preexec_fn=refuse("openat", errno.EMFILE, 0o20200000))
    check_equal(result.code, 3, result.err)
    check_equal(many.names(p), ["a", "b", "key"], "files")


main()
