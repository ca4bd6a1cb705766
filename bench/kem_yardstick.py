"""Functions that the comparisons of key encapsulation with other implementations share."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPERATIONS = ["keygen", "encapsulate", "decapsulate"]


def build_program(build, into):
    """Builds the program that runs both. Returns its path."""
    library = build / "src/libwarpseal.so"
    if not library.exists():
        sys.exit(f"{library} is not there: scripts/build --only warpseal_shared")
    subprocess.run(
        [
            "gcc",
            "-std=gnu11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-pthread",
            "-rdynamic",
            f"-I{ROOT / 'include'}",
            ROOT / "bench/kem_against.c",
            library,
            f"-Wl,-rpath,{library.resolve().parent}",
            "-ldl",
            "-o",
            into / "program",
        ],
        check=True,
    )
    return into / "program"


def head(build, name):
    """Returns the head of a report of `warpseal kem bench`."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run(
            [
                build / "warpseal",
                "kem",
                "bench",
                "--device",
                "cpu",
                "--set",
                name,
                "--batch",
                "1",
                "--seconds",
                "0.01",
                "--json",
                file.name,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return json.loads(pathlib.Path(file.name).read_text())["head"]


def run(program, cores, *arguments):
    """Runs the program on those cores. Returns rates by implementation and operation."""
    pin = lambda: os.sched_setaffinity(0, cores)  # noqa: E731
    done = subprocess.run(
        [str(a) for a in (program, *arguments)], check=True, stdout=subprocess.PIPE, preexec_fn=pin
    )
    return {
        (row["who"], row["operation"]): row["repetitions"]
        for row in map(json.loads, done.stdout.splitlines())
    }


def usable(build, target, name):
    """Returns true if this machine runs the set on the target."""
    return (
        subprocess.run(
            [
                build / "warpseal",
                "kem",
                "bench",
                "--device",
                target,
                "--set",
                name,
                "--batch",
                "1",
                "--seconds",
                "0.01",
            ],
            capture_output=True,
        ).returncode
        == 0
    )


def row(name, operation, device, threads, batch, ours, theirs, yardstick):
    """Returns a row; the ratio is that of the medians. Repetitions of both alternate in time."""
    rate, other = statistics.median(ours), statistics.median(theirs)
    return {
        "set": name,
        "operation": operation,
        "device": device,
        "place": "host",
        "threads": threads,
        "batch": batch,
        "operations_per_second": float(f"{rate:.4g}"),
        "yardstick": yardstick,
        "yardstick_operations_per_second": float(f"{other:.4g}"),
        "ratio": float(f"{rate / other:.3g}"),
        "repetitions": ours,
        "yardstick_repetitions": theirs,
    }


class Report:
    """Rows of a comparison. Prints each, and writes the file after each, as a run may be
    interrupted."""

    def __init__(self, name, first_set, build, path):
        self.rows = []
        self._report = {"head": head(build, first_set), name: self.rows}
        self._path = path
        print(
            f"{self._report['head']['machine']}, commit "
            f"{self._report['head']['commit']}\n{'':18}{'':13}{'device':>9}{'threads':>8}"
            f"{'ours /s':>10}{'theirs /s':>11}{'ratio':>8}{'goal':>6}"
        )

    def add(self, new, goal):
        self.rows.append(new)
        print(
            f"{new['set']:18}{new['operation']:13}{new['device']:>9}{new['threads']:>8}"
            f"{new['operations_per_second']:>10.0f}"
            f"{new['yardstick_operations_per_second']:>11.0f}{new['ratio']:>8.2f}{goal:>6}",
            flush=True,
        )
        if self._path:
            self._path.write_text(json.dumps(self._report, indent=1) + "\n")
