"""Commands that are measured in turn, on the same cores, within one run."""

from __future__ import annotations

import collections.abc
import os
import pathlib
import statistics
import subprocess
import sys
import time


def first_cores(count: int) -> list[int]:
    """The cores that commands run on. Ends the program if there are not so many."""
    cores = sorted(os.sched_getaffinity(0))
    if not 0 < count <= len(cores):
        sys.exit(f"--cores {count}: this process may use 1 to {len(cores)}")
    return cores[:count]


def seconds_of(commands: list[list[object]], cores: list[int]) -> float:
    """Returns the seconds until all commands, run concurrently, have ended. A failure exits."""
    begin = time.monotonic()
    running = [
        subprocess.Popen(
            [str(word) for word in command],
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
            stdin=subprocess.DEVNULL,
        )
        for command in commands
    ]
    codes = [process.wait() for process in running]
    seconds = time.monotonic() - begin
    if any(codes):
        sys.exit(f"failed with {codes}: {commands}")
    return seconds


def in_turn(
    work: dict[str, collections.abc.Callable[[], float]], repetitions: int
) -> dict[str, list[float]]:
    """Seconds of each work in each round. Every other round has the opposite order."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for number in range(repetitions):
        names = list(work) if number % 2 == 0 else list(reversed(work))
        for name in names:
            seconds[name].append(work[name]())
    return seconds


def median_of_ratios(over: list[float], under: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(over, under, strict=True))


def write_random(path: pathlib.Path, size: int) -> None:
    with open(path, "wb") as file:
        while size > 0:
            size -= file.write(os.urandom(min(size, 1 << 24)))
