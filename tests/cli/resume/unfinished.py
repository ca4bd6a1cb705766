"""What the tests of --resume share: runs that are killed at a chosen system call."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "many")]

from program import NotRun, check, some_bytes  # pylint: disable=wrong-import-position

WINDOW = 2048 * 16384  # bytes of text that one record of the journal covers
CONTENT = some_bytes(WINDOW + 3_000_000)
HEADER = 61496  # bytes before the first chunk
# Calls of pwritev with one thread: last block, header, record, 128 segments of the first window,
# and then those of the second.
ENCRYPT_SECOND_WINDOW = 3 + 128 + 4
DECRYPT_SECOND_WINDOW = 1 + 128 + 1 + 4


def killed(p, calls, number, *command):
    """Runs the command with one thread and kills it when it enters its call of that number. Returns
    false if it ended before."""
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    traced = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:signal=SIGKILL:when={number}", p.path,
                             "-q", *map(str, command), "--threads", "1", "--device", "cpu"], cwd=p.directory, stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True, check=False)
    if b"ptrace" in traced.stderr:
        raise NotRun("no ptrace here")
    check(traced.returncode in (0, -9, 137), traced.stderr)
    return traced.returncode != 0


def file_id(content):
    return content[16:32]


def plain(p, name="plain", content=CONTENT):
    if not os.path.exists(p.file("key")):
        p.key()
    p.write(name, content)
    return name


def encrypt_killed(p, *more, at=ENCRYPT_SECOND_WINDOW):
    """Leaves plain, key and sealed.unfinished with the first window and a part of the second."""
    plain(p)
    check(killed(p, "pwritev", at, "encrypt", "--resume", "-k", "key", "plain", "-o", "sealed", *more), "the run was not killed")
    check(not os.path.exists(p.file("sealed")), "an unfinished output has the final name")


def opens(p, name="sealed", content=CONTENT, secret=("-k", "key")):
    check(p.ok("-q", "decrypt", *secret, name).out == content, f"another content of {name}")
    check(not os.path.exists(p.file(name + ".unfinished")), "the unfinished output is left")
