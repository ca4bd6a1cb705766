"""Failing system calls: a seccomp filter makes the kernel refuse chosen calls with a chosen errno.
"""

import ctypes
import errno
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys

from program import NotRun, wait_until

O_TMPFILE = 0o20200000
CALLS = {"write": 1, "mmap": 9, "fsync": 74, "getrandom": 318, "linkat": 265, "renameat": 264, "renameat2": 316, "openat": 257, "mlock": 149, "mlock2": 325,
         "preadv": 295, "pwritev": 296, "readv": 19, "writev": 20, "read": 0, "clone": 56, "clone3": 435, "fchmod": 91, "madvise": 28, "ioctl": 16}
AUDIT_ARCH_X86_64 = 0xC000003E
LOAD, JUMP_EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


def statement(code, value, yes=0, no=0):
    return struct.pack("HBBI", code, yes, no, value)


def refuse(call, error, flags=None, argument=2):
    """For subprocess's preexec_fn: `call` fails with `error`; with `flags`, only if the argument
    has all these bits."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise NotRun("system calls are refused by their x86-64 numbers")
    program = [statement(LOAD, 4), statement(JUMP_EQUAL, AUDIT_ARCH_X86_64, 1, 0), statement(RETURN, ALLOW), statement(LOAD, 0)]
    if flags is None:
        program += [statement(JUMP_EQUAL, CALLS[call], 0, 1)]
    else:
        program += [statement(JUMP_EQUAL, CALLS[call], 0, 4), statement(LOAD, 16 + 8 * argument), statement(AND, flags),
                    statement(JUMP_EQUAL, flags, 0, 1)]
    program += [statement(RETURN, REFUSE | error), statement(RETURN, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(program))
    filter_program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, filter_program, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "seccomp")

    install.keep = code  # the kernel copies it only when installed
    return install


def without_unnamed_files(error=errno.EOPNOTSUPP):
    """Simulates a file system without O_TMPFILE."""
    return refuse("openat", error, O_TMPFILE)


def with_fault(p, call, number, command, error="EIO", **options):
    """Runs the command and makes the main thread's call of that number fail, which no filter can
    count. Returns its exit code, its output and the main thread's calls."""
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    traced = subprocess.run(["strace", "-f", "-o", p.file("calls"), "-e", "trace=fsync,close,renameat2," + call, "-e", f"inject={call}:error={error}:when={number}",
                             p.path, *command], cwd=p.directory, capture_output=True, start_new_session=True, check=False, **options)
    if b"ptrace" in traced.stderr:
        raise NotRun("no ptrace here")
    with open(p.file("calls"), encoding="ascii", errors="replace") as log:
        lines = [line.split(None, 1) for line in log]
    os.unlink(p.file("calls"))
    return traced.returncode, traced.stderr.decode(), [line[1] for line in lines if line[0] == lines[0][0]]


def with_pause(p, stat_call, path, command, meanwhile):
    """Runs the command and stops it after that stat(2) call on the path while `meanwhile` is
    called. Returns its exit code, its output, and true if it got that far."""
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    log = p.file("calls")
    traced = subprocess.Popen(["strace", "-f", "-o", log, "-P", path, "-e", "trace=%%stat", "-e", f"inject=%%stat:signal=SIGSTOP:when={stat_call}",
                               p.path, *command], cwd=p.directory, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    def stopped():
        if not os.path.exists(log):
            return None
        with open(log, encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[0]) for line in lines if "stopped by SIGSTOP" in line), None)

    wait_until(lambda: stopped() or traced.poll() is not None, "the program is stopped or has ended")
    paused = stopped() is not None
    if paused:
        meanwhile()
        os.kill(stopped(), signal.SIGCONT)
    _, err = traced.communicate(timeout=60)
    if b"ptrace" in err:
        raise NotRun("no ptrace here")
    os.unlink(log)
    return traced.returncode, err.decode(), paused
