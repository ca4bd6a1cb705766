"""Commands of warpseal that a measurement runs, and their time."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import threading
import time

from . import interrupts
from .refusal import ERROR, NO_INPUT, Refusal

SUITES = ("aes-256-gcm", "aria-256-gcm", "camellia-256-gcm")  # ciphers of sealed files
RAW = ("des-ede3-ctr",)  # no file format has it: `warpseal raw`, without authentication
CIPHERS = (*SUITES, *RAW)
SECTOR = 512  # unit of ru_inblock


@dataclasses.dataclass(frozen=True)
class Job:
    cipher: str
    operation: str  # encrypt or decrypt
    device: str
    threads: int


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a program. `stopped` means that it took longer than it was given."""

    seconds: float
    cpu_seconds: float
    memory_bytes: int
    read_bytes: int  # read from a disk
    target: str
    stopped: bool = False


class Program:
    """The program `warpseal`, with a key for each cipher in a folder."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path):
        self.path, self.folder = path, folder
        self.iv = os.urandom(8).hex()

    def make_keys(self) -> None:
        self.checked("-q", "keygen", "-o", self.folder / "key")
        with open(os.open(self.folder / "raw key", os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(os.urandom(24))

    def checked(self, *arguments: str | pathlib.Path) -> str:
        """Returns what a command prints. Ends the measurement with its error if it fails."""
        command = [str(word) for word in (self.path, *arguments)]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise Refusal(exit_code(result.returncode), result.stderr.strip() or str(command))
        return result.stdout

    def command(self, job: Job, source: pathlib.Path, target: pathlib.Path) -> list[str]:
        how: list[str | pathlib.Path] = [job.operation, "-k", self.folder / "key"]
        if job.cipher in RAW:
            how = ["raw", job.operation, "-k", self.folder / "raw key", "-c", job.cipher]
            how += ["--iv", self.iv, "--legacy"]
            how += ["--beyond-sweet32"] if job.operation == "encrypt" else []
        elif job.operation == "encrypt":
            how += ["-c", job.cipher]
        where = ["--device", job.device, "--threads", str(job.threads), "-o", target, source]
        return [str(word) for word in (self.path, *how, *where)]

    def timed(self, job: Job, source: pathlib.Path, target: pathlib.Path, limit: float) -> Run:
        """Runs a job for at most `limit` seconds."""
        killed = threading.Event()
        with interrupts.held():
            begin = time.monotonic()
            process = subprocess.Popen(
                self.command(job, source, target), stderr=subprocess.PIPE, text=True
            )
            timer = threading.Timer(limit, lambda: (killed.set(), process.kill()))
            timer.start()
        try:
            interrupts.check()
            told = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            timer.cancel()
            process.stderr.close()
        if process.returncode != 0 and not killed.is_set():
            raise Refusal(exit_code(process.returncode), told.strip())
        return Run(
            seconds,
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024,
            usage.ru_inblock * SECTOR,
            target_in(told),
            killed.is_set(),
        )

    def report(self, device: str) -> dict:
        """Returns a short report of `warpseal bench`; a GPU's has the rate of its link."""
        place = [] if device == "cpu" else ["--place", "host", "--size", "256MiB"]
        return json.loads(
            self.checked(
                *("bench", "--device", device, *place, "--seconds", "0.1"),
                *("--json", "-", "aes-256-gcm"),
            )
        )


def exit_code(returncode: int) -> int:
    return returncode if returncode > 0 else ERROR


def target_in(text: str) -> str:
    """Returns the target that a command says it used: vaes512, cuda."""
    found = re.search(r"^(?:warpseal: )?(?:en|de)crypted .* on (\S+) (?:\(.*\) )?in ", text, re.M)
    return found[1] if found else ""


def link_rates(report: dict) -> list[float]:
    return [
        row["link_gigabytes_per_second"]
        for row in report["rows"]
        if "link_gigabytes_per_second" in row
    ]


def check_program(path: pathlib.Path) -> pathlib.Path:
    if not os.access(path, os.X_OK) or path.is_dir():
        raise Refusal(
            NO_INPUT, f"--program: there is no program {path}: scripts/build makes it, or name one."
        )
    return path.resolve()


def find_gpu(program: Program, wanted: str) -> tuple[str, str]:
    """Returns the GPU to measure, or an empty text and the reason why there is none."""
    if wanted not in ("auto", "none"):
        return wanted, ""
    if wanted == "none":
        return "", "--device none"
    told = json.loads(program.checked("devices", "--json"))
    if told["gpus"]:
        return "cuda", ""
    reasons = [target["reason"] for target in told["targets"] if target["target"] == "cuda"]
    return "", (reasons or ["no GPU"])[0]
