"""`warpseal random`: lengths, endless output, hexadecimal text, and outputs that are refused."""

import collections
import os
import re
import signal
import stat

from program import case, check, check_equal, main, wait_until


@case
def lengths(p):
    for size, bytes_ in [("0", 0), ("1", 1), ("32", 32), ("65537", 65537), ("64KiB", 65536), ("1MB", 10**6),
                         ("17MiB", 17 << 20)]:
        p.ok("random", size, "-o", size)
        about = os.stat(p.file(size))
        check_equal((about.st_size, stat.S_IMODE(about.st_mode)), (bytes_, 0o600), f"length and mode of {size}")
    check_equal(len(p.ok("random", 1000).out), 1000, "bytes on a pipe")
    check_equal(len(p.ok("random", 1000, "-o", "-").out), 1000, "bytes with -o -")


@case
def bytes_differ(p):
    runs = [p.ok("random", 100_000).out for _ in range(3)]
    check_equal(len(set(runs)), 3, "different runs")
    blocks = [run[i : i + 16] for run in runs for i in range(0, 100_000, 16)]
    check_equal(len(set(blocks)), len(blocks), "different blocks")
    counts = collections.Counter(runs[0])
    check(len(counts) == 256 and max(counts.values()) < 550, "values of bytes are uneven")


@case
def devices(p):
    for device in ["auto", "cpu", "portable"]:
        check_equal(len(p.ok("random", 100, "--device", device, "--threads", 1).out), 100, device)
    p.fails(2, "'gpu'", "random", 1, "--device", "gpu", "-o", "none")


@case
def hexadecimal(p):
    check(re.fullmatch(rb"[0-9a-f]{64}\n", p.ok("random", "--hex", 32).out), "32 bytes are one line")
    lines = p.ok("random", "--hex", 100).out.decode().splitlines()
    check_equal([len(line) for line in lines], [64, 64, 64, 8], "lines of 100 bytes")
    check_equal(p.ok("random", "--hex", 0).out, b"", "no bytes")
    p.ok("random", "--hex", "17MiB", "-o", "long")
    text = p.read("long")
    check_equal((len(bytes.fromhex(text.decode())), text.count(b"\n")), (17 << 20, 17 << 15), "bytes and lines")


@case
def terminal(p):
    """Binary data is refused, text is not."""
    ours, theirs = os.openpty()
    try:
        p.fails(2, ["terminal", "-o"], "random", 32, stdout=theirs)
        p.fails(2, ["terminal", "-o"], "random", stdout=theirs)
        p.ok("random", "--hex", 8, stdout=theirs)
        check(re.fullmatch(rb"[0-9a-f]{16}\r?\n", os.read(ours, 100)), "text on the terminal")
    finally:
        os.close(ours)
        os.close(theirs)


def after_closing(p, *arguments):
    """Reads 40 MB of endless output, closes the pipe and returns the exit code and the text."""
    process = p.start("random", *arguments)
    left = 40_000_000
    while left:
        got = process.stdout.read(min(left, 1 << 20))
        check(got, "the output ended")
        left -= len(got)
    process.stdout.close()
    error = process.stderr.read()
    return process.wait(timeout=60), error


@case
def endless_until_the_pipe_closes(p):
    check_equal(after_closing(p), (0, b""), "exit code and stderr")
    check_equal(after_closing(p, "--hex"), (0, b""), "exit code and stderr with --hex")


@case
def a_closed_pipe_is_a_failure_with_a_length(p):
    code, error = after_closing(p, "10GiB")
    check_equal(code, 16, "exit code")
    check(b"Broken pipe" in error, error)


@case
def endless_output_to_a_file_is_refused(p):
    p.fails(2, ["BYTES", "'noise'", "random 1GiB"], "random", "-o", "noise")
    with open(p.file("there"), "wb") as file:
        p.fails(2, "BYTES", "random", stdout=file)


@case
def existing_outputs_are_kept(p):
    p.write("old", b"old")
    p.fails(11, ["'old'", "--force"], "random", 10, "-o", "old")
    p.ok("random", 10, "-o", "old", "--force")
    check_equal(len(p.read("old")), 10, "length after --force")
    p.fails(16, "No space", "random", 10, "-o", "/dev/full")


@case
def wrong_sizes(p):
    for size in ["x", "-1", "1.5", "10Q", "99999999999999999999"]:
        result = p.run("random", "-o", "none", "--", size)
        check_equal(result.code, 2, f"exit code of {size!r} ({result.err})")
        check("bytes" in result.err, f"no bytes in {result.err!r}")
    check_equal(os.listdir(p.directory), [], "files")


@case
def interrupted_leaves_no_file(p):
    process = p.start("random", "200GiB", "-o", "noise")
    wait_until(lambda: process.poll() is not None or os.listdir(f"/proc/{process.pid}/task")[1:], "threads run")
    process.send_signal(signal.SIGTERM)
    check_equal(process.wait(timeout=60), 128 + signal.SIGTERM, "exit code")
    check_equal(os.listdir(p.directory), [], "files")


main()
