"""Inputs that are missing, unreadable, a directory, closed, or changing while they are read."""

import json
import os
import signal
import subprocess
import time

from program import NotRun, case, check, check_equal, main, sees_into_programs, some_bytes


@case
def missing(p):
    p.key()
    for command in [["encrypt", "-k", "key", "-o", "out"], ["decrypt", "-k", "key", "-o", "out"], ["verify", "-k", "key"], ["info"]]:
        p.fails(10, "'nothing'", *command, "nothing")
        p.fails(10, "'key/nothing'", *command, "key/nothing")
    p.fails(14, "standard input", "info")


@case
def directory(p):
    p.key()
    os.mkdir(p.file("directory"))
    for command in [["encrypt", "-k", "key", "-o", "out"], ["decrypt", "-k", "key", "-o", "out"], ["verify", "-k", "key"], ["info"]]:
        said = p.fails(16, ["'directory'", "is a directory"], *command, "directory").err
        check("| warpseal" not in said, said)
        with_directory = os.open(p.file("directory"), os.O_RDONLY)
        p.fails(16, "is a directory", *command, stdin=with_directory)
        os.close(with_directory)


@case
def unreadable(p):
    """/proc/self/mem opens, and fails with EIO when read: unreadable even for root."""
    p.key()
    for command in [["encrypt", "-k", "key"], ["decrypt", "-k", "key"], ["verify", "-k", "key"]]:
        to = [] if command[0] == "verify" else ["-o", "out"]
        # Only root can open it for a program that is not dumpable.
        p.fails(16, ["/proc/self/mem", "Input/output error" if os.geteuid() == 0 else "Permission denied"], *command, *to, "/proc/self/mem")
        with open("/proc/self/mem", "rb") as mine:
            p.fails(16, ["standard input", "Input/output error"], *command, *to, stdin=mine)
    if os.geteuid() != 0:
        p.write("closed", b"text", 0)
        p.fails(16, ["'closed'", "Permission denied"], "encrypt", "-k", "key", "closed", "-o", "out")


@case
def closed_standard_input(p):
    p.key()
    for command in [["encrypt", "-k", "key", "-o", "out"], ["decrypt", "-k", "key", "-o", "out"], ["verify", "-k", "key"], ["info"]]:
        p.fails(16, "standard input", *command, stdin=None, preexec_fn=lambda: os.close(0))


@case
def closed_descriptors_are_held_open(p):
    """Else a key file or the output would take their numbers: messages go to 2, whatever it is."""
    if not sees_into_programs():
        raise NotRun("this process cannot list the open files of the program")
    p.key()
    os.mkfifo(p.file("pipe"))
    for closed in [[0], [1], [2], [0, 1, 2]]:
        process = p.start("-q", "encrypt", "-k", "key", "pipe", "-o", "out", stdin=None, stdout=None, stderr=None,
                          preexec_fn=lambda: [os.close(number) for number in closed])
        with open(p.file("pipe"), "wb") as pipe:  # waits until the program has opened it
            for number in closed:
                link = f"/proc/{process.pid}/fd/{number}"
                check_equal(os.readlink(link), "/dev/null", f"descriptor {number} with {closed} closed")
            pipe.write(b"text")
        check_equal(process.wait(timeout=60), 0, "exit code")
        check_equal(p.ok("decrypt", "-k", "key", "out").out, b"text", "bytes")
        os.unlink(p.file("out"))


@case
def a_file_without_a_length(p):
    """Files of /proc report 0 bytes and have more: the bytes read count."""
    p.key()
    sealed = p.ok("encrypt", "-k", "key", "/proc/self/status").out
    check(b"Name:" in p.ok("decrypt", "-k", "key", input=sealed).out, "the content of /proc/self/status")


def change_while_read(p, command, name, length, change):
    """Stops the program after its first progress report, changes the input and resumes. Uses the
    slowest path to be in time."""
    process = p.start(*command, "--threads", 1, "--device", "portable", "--progress", "json", name, "-o", "out")
    for line in process.stderr:
        report = json.loads(line)
        check_equal(report["event"], "progress", "first event")
        if report["done_bytes"] < length // 2:
            break
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    change()
    process.send_signal(signal.SIGCONT)
    rest = process.stderr.read().decode()
    process.communicate()
    check(process.returncode is not None and process.returncode >= 0, "ended by a signal")
    check(not os.path.exists(p.file("out")), "an output is left")
    check_equal([n for n in os.listdir(p.directory) if n.startswith(".")], [], "temporaries")
    return process.returncode, rest


@case
def shrinks_while_read(p):
    p.key()
    length = 128 << 20  # sparse; long enough to be interrupted
    for left in [0, 1 << 20, length - 1]:
        with open(p.file("plain"), "wb") as file:
            file.truncate(length)
        code, said = change_while_read(p, ["encrypt", "-k", "key"], "plain", length, lambda: os.truncate(p.file("plain"), left))
        check_equal(code, 16, said)
        check("while it was read" in said, said)
        check_equal(os.path.getsize(p.file("plain")), left, "the input")


@case
def grows_while_read(p):
    p.key()
    length = 128 << 20
    with open(p.file("plain"), "wb") as file:
        file.truncate(length)
    code, said = change_while_read(p, ["encrypt", "-k", "key"], "plain", length, lambda: os.truncate(p.file("plain"), length + 1))
    check_equal(code, 16, said)


@case
def rewritten_while_read(p):
    """Rewrites the input in place at equal length, and restores its modification time."""
    p.key()
    length = 128 << 20

    def rewrite(hide):
        before = os.stat(p.file("plain"))
        with open(p.file("plain"), "r+b") as file:
            file.write(b"x")
        if hide:
            os.utime(p.file("plain"), ns=(before.st_atime_ns, before.st_mtime_ns))

    for hide in [False, True]:
        with open(p.file("plain"), "wb") as file:
            file.truncate(length)
        code, said = change_while_read(p, ["encrypt", "-k", "key"], "plain", length, lambda: rewrite(hide))
        check_equal(code, 16, said)
        check("was changed" in said and "while it was read" in said, said)


@case
def a_sealed_file_shrinks_while_opened(p):
    p.sealed(some_bytes(64 << 20))
    length = os.path.getsize(p.file("sealed"))
    content = p.read("sealed")
    code, said = change_while_read(p, ["decrypt", "-k", "key"], "sealed", length, lambda: os.truncate(p.file("sealed"), length - 5000))
    check(code in (13, 14, 16), f"exit code {code}: {said}")
    check(content.startswith(p.read("sealed")), "the input")


@case
def slow_input(p):
    """Feeds bytes one at a time, with a late last one."""
    p.key()
    process = p.start("encrypt", "-k", "key", stdin=subprocess.PIPE)
    content = some_bytes(200)
    for byte in content:
        process.stdin.write(bytes([byte]))
        process.stdin.flush()
        time.sleep(0.001)
    time.sleep(0.1)
    sealed, _ = process.communicate(b"!")
    check_equal(p.ok("decrypt", "-k", "key", input=sealed).out, content + b"!", "what comes back")


main()
