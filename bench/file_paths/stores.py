"""Where files lie: in tmpfs, in the page cache of a file system, or on its disk alone."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import time

from . import interrupts
from .refusal import INPUT_OUTPUT, USAGE, Refusal

GIB = 2**30
# Input, output, and what the check decrypts.
FILES = 3
PART = 16 << 20  # bytes that one thread writes, reads and hashes at a time
PIECE = 256 << 10  # bytes of one read and write of a copy: a segment of warpseal on cores
STORES = {
    "tmpfs": "input and output in tmpfs",
    "page cache": "input in the page cache; output written and synced",
    "disk": "input dropped from the page cache before each run; output written and synced",
}


@dataclasses.dataclass(frozen=True)
class Store:
    name: str  # a key of STORES
    directory: pathlib.Path
    file_system: str

    @property
    def in_memory(self) -> bool:
        return self.name == "tmpfs"


def file_system_of(directory: pathlib.Path, mounts: str) -> str:
    """Returns the type of the file system of a directory by the text of /proc/self/mountinfo."""
    path, found, kind = str(directory.resolve()), "", "unknown"
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        # Spaces in a path are printed as octal numbers.
        escaped = fields.split()[4]
        mount = re.sub(r"\\([0-7]{3})", lambda digits: chr(int(digits[1], 8)), escaped)
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(found):  # a later mount hides an earlier one
            found, kind = mount, rest.split()[0]
    return kind


def find_stores(names: list[str], tmpfs: pathlib.Path, disk: pathlib.Path) -> list[Store]:
    mounts = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    stores = []
    for name in names:
        directory, option = (tmpfs, "--tmpfs") if name == "tmpfs" else (disk, "--directory")
        if not directory.is_dir():
            raise Refusal(INPUT_OUTPUT, f"{option}: there is no directory {directory}.")
        store = Store(name, directory, file_system_of(directory, mounts))
        if store.in_memory != (store.file_system in ("tmpfs", "ramfs")):
            raise Refusal(
                USAGE,
                f"{option}: {directory} is {store.file_system}; the store '{name}' needs "
                f"{'tmpfs' if store.in_memory else 'a file system on a disk'}. Name another "
                "directory, or leave the store out with --stores.",
            )
        stores.append(store)
    return stores


def check_room(stores: list[Store], size: int) -> None:
    """Refuses a size whose files do not fit, before anything is written."""
    for store in stores:
        about = os.statvfs(store.directory)
        free, needed = about.f_bavail * about.f_frsize, FILES * size + (64 << 20)
        if free < needed:
            option = "--tmpfs" if store.in_memory else "--directory"
            raise Refusal(
                INPUT_OUTPUT,
                f"{store.directory} has {free / GIB:.2f} GiB free, and the store '{store.name}' "
                f"needs {needed / GIB:.2f}: name another directory with {option}, a smaller "
                "--gib, or other --stores.",
            )
    available = available_memory()
    if available < FILES * size and any(store.name != "disk" for store in stores):
        raise Refusal(
            INPUT_OUTPUT,
            f"this machine has {available / GIB:.2f} GiB of memory available, and files in memory "
            f"need {FILES * size / GIB:.2f}: choose a smaller --gib, or --stores disk.",
        )


def available_memory() -> int:
    """Returns the bytes of memory that files may occupy, in this control group too."""
    text = pathlib.Path("/proc/meminfo").read_text(encoding="utf-8")
    available = 1024 * int(re.search(r"MemAvailable: +(\d+) kB", text)[1])
    try:
        group = pathlib.Path("/sys/fs/cgroup")
        most = (group / "memory.max").read_text().strip()
        if most != "max":
            used = int((group / "memory.current").read_text())
            statistics = (group / "memory.stat").read_text()
            cached = int(re.search(r"^file (\d+)$", statistics, re.MULTILINE)[1])
            available = min(available, int(most) - used + cached)
    except (OSError, TypeError):
        pass  # no control group with these files
    return available


def in_parts(size: int, work) -> str:
    """Calls `work(offset, length)`, which returns a digest, for each part on several threads.

    Returns the digest of these digests.
    """
    parts = [(offset, min(PART, size - offset)) for offset in range(0, size, PART)]
    threads = min(8, len(os.sched_getaffinity(0)))
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        digests = list(pool.map(lambda part: work(*part), parts))
    return hashlib.sha256(b"".join(digests)).hexdigest()


def write_input(path: pathlib.Path, size: int, random: bytes) -> str:
    """Writes parts of random bytes that differ in their first eight. Returns the digest."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    def write(offset: int, length: int) -> bytes:
        part = (offset.to_bytes(8, "big") + random[8:])[:length]
        data = memoryview(part)
        while data:
            done = os.pwrite(file, data, offset)
            data, offset = data[done:], offset + done
        return hashlib.sha256(part).digest()

    try:
        digest = in_parts(size, write)
        os.fsync(file)
    finally:
        os.close(file)
    return digest


def digest_of(path: pathlib.Path) -> str:
    with open(path, "rb", buffering=0) as file:

        def read(offset: int, length: int) -> bytes:
            return hashlib.sha256(os.pread(file.fileno(), length, offset)).digest()

        return in_parts(os.fstat(file.fileno()).st_size, read)


def prepare(store: Store, path: pathlib.Path) -> None:
    """Brings the input of a run to where the store says."""
    if store.name != "disk":
        return
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


def copy(source: pathlib.Path, target: pathlib.Path, processes: int) -> float:
    """Copies by processes that each read and write pieces in turn, and syncs.

    Returns the seconds from when all processes are ready.
    """
    reading = os.open(source, os.O_RDONLY)
    writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    waiting, ready = os.pipe()
    size = os.fstat(reading).st_size
    children: set[int] = set()
    try:
        for first in range(processes):
            with interrupts.held():
                child = os.fork()
                if child == 0:
                    os.close(ready)
                    offsets = range(first * PIECE, size, processes * PIECE)
                    copy_pieces(waiting, reading, writing, offsets)
                children.add(child)
            interrupts.check()
        begin = time.monotonic()
        os.close(ready)
        ready = -1
        for child in sorted(children):
            _, status = os.waitpid(child, 0)
            children.discard(child)
            if status != 0:
                raise Refusal(
                    INPUT_OUTPUT, f"cannot copy to {target}: is there room on that file system?"
                )
        os.fsync(writing)
        return time.monotonic() - begin
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        for file in (reading, writing, waiting, ready):
            if file >= 0:
                os.close(file)


def copy_pieces(waiting: int, reading: int, writing: int, offsets: range) -> None:
    """Runs in a child process from when `waiting` is closed, and ends it."""
    status = 1
    try:
        for number in interrupts.SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        buffer = memoryview(bytearray(PIECE))
        os.read(waiting, 1)
        for offset in offsets:
            length = os.preadv(reading, [buffer], offset)
            if os.pwrite(writing, buffer[:length], offset) != length:
                break
        else:
            status = 0
    finally:
        os._exit(status)


def copy_by_cp(source: pathlib.Path, target: pathlib.Path) -> float:
    """Copies with cp and syncs. Returns seconds."""
    begin = time.monotonic()
    command = ["cp", "--sparse=never", "--reflink=never", source, target]
    failed = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if failed.returncode != 0:
        raise Refusal(INPUT_OUTPUT, failed.stderr.strip())
    file = os.open(target, os.O_RDONLY)
    os.fsync(file)
    os.close(file)
    return time.monotonic() - begin
