"""The runs that a page is of, numbered, and the facts about their machines."""

from __future__ import annotations

import pathlib
from typing import Iterable

from .markup import Column, escaped, small, table
from .results import Figure, Result, Run

LIBRARIES = (("driver", "CUDA driver"), ("system", ""), ("age", "age"), ("cp", ""))
# Facts about a run, with the words before them.
SETTINGS = (
    ("note", ""),
    ("how", ""),
    ("seconds", "seconds for each figure:"),
    ("in_flight", "handshakes in flight:"),
    ("rounds", "rounds:"),
    ("outstanding", "requests outstanding:"),
    ("threads", "threads:"),
    ("device", "device:"),
    ("directory", "directory:"),
    ("power_watts", "watts:"),
)


class Sources:
    """Numbers the runs of a page by date."""

    def __init__(self, results: list[Result]):
        self.runs: list[Run] = []
        self.numbers: dict[int, int] = {}  # by the id of a run; the figures of one share it
        figures = [figure for result in results for figure in result.figures]
        for figure in sorted(figures, key=lambda figure: figure.run.date):
            if id(figure.run) not in self.numbers:
                self.numbers[id(figure.run)] = self.added(figure.run)

    def added(self, run: Run) -> int:
        """Returns the number of a run, which is that of an equal one if there is one."""
        for number, known in enumerate(self.runs, 1):
            if self.same(run, known):
                return number
        self.runs.append(run)
        return len(self.runs)

    @staticmethod
    def same(one: Run, other: Run) -> bool:
        return (one.facts, one.machine) == (other.facts, other.machine)

    def number(self, figure: Figure) -> int:
        return self.numbers[id(figure.run)]

    def note(self, figures: Iterable[Figure]) -> str:
        """Returns a line with machine, date and commit of the figures."""
        numbers = sorted({self.number(figure) for figure in figures})
        parts = []
        for number in numbers:
            run = self.runs[number - 1]
            note = f" ({escaped(run.text('note'))})" if run.text("note") else ""
            parts.append(
                f"[{number}] {escaped(run.text('machine'))}, {escaped(run.date[:10])}, "
                f"commit {escaped(run.commit)}{note}"
            )
        return f'<p class="source">{"; ".join(parts)}</p>\n'

    def mark(self, figure: Figure, among: Iterable[Figure]) -> str:
        """Returns the number of the figure's source if the figures beside it have others."""
        numbers = {self.number(other) for other in among}
        return f" <small>[{self.number(figure)}]</small>" if len(numbers) > 1 else ""

    def section(self) -> str:
        """Returns the facts of each machine, and a table of the runs."""
        machines: list[Run] = []
        for run in self.runs:
            if not any(run.machine == other.machine for other in machines):
                machines.append(run)
        text = '<section id="sources"><h2>Machines and runs</h2>\n<div class="cards">\n'
        text += "".join(machine_table(run) for run in machines) + "</div>\n"
        columns = [Column(name) for name in ("run", "measured", "commit", "libraries", "settings")]
        rows = [run_row(number, run) for number, run in enumerate(self.runs, 1)]
        return text + table(columns, rows, "", "wide runs") + "</section>\n"


def gpu_text(run: Run) -> str:
    capability = run.text("gpu_compute_capability")
    if not capability or not run.text("gpu"):
        return run.text("gpu")
    return f"{run.text('gpu')}, compute capability {capability[:-1]}.{capability[-1]}"


def number_of(run: Run, key: str) -> float:
    value = run.machine.get(key, run.facts.get(key))
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0


def machine_rows(run: Run) -> list[tuple[str, str]]:
    clock, memory = number_of(run, "gpu_clock_megahertz"), number_of(run, "gpu_memory_bytes")
    rate, shared = (
        number_of(run, "gpu_memory_bytes_per_second"),
        number_of(run, "gpu_shared_bytes_per_block"),
    )
    units = run.text("gpu_multiprocessors")
    cpu = run.text("cpu") or ("" if run.text("machine") else "not recorded")
    rows = [
        ("CPU", f"{cpu}, {run.text('cores')} cores" if cpu else run.text("machine")),
        ("GPU", gpu_text(run)),
        ("Multiprocessors", units + (f" at {clock:.0f} MHz at most" if units and clock else "")),
    ]
    if memory:
        speed = f", {rate / 1e9:.0f} GB/s" if rate else ""
        rows.append(("GPU memory", f"{memory / 2**30:.1f} GiB{speed}"))
    if shared:
        rows.append(("Shared memory", f"{shared / 1024:.0f} KiB a block"))
    return rows


def machine_table(run: Run) -> str:
    lines = "".join(
        f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>\n'
        for name, value in machine_rows(run)
        if value
    )
    name = escaped(run.text("machine"))
    return f'<table class="facts"><caption>{name}</caption>\n<tbody>\n{lines}</tbody></table>\n'


def resident_text(run: Run) -> str:
    first, last = (
        number_of(run, "resident_bytes_after_first_round"),
        number_of(run, "resident_bytes_at_end"),
    )
    if not first or not last:
        return ""
    return f"{first / 1e6:.0f} MB resident after the first round, {last / 1e6:.0f} at the end"


def run_row(number: int, run: Run) -> list[str]:
    version, libraries = run.text("warpseal"), [run.text("openssl")]
    if run.text("libssl") not in ("", run.text("openssl")):
        libraries.append(f"libssl {run.text('libssl')}")
    libraries += [f"{name} {run.text(key)}".strip() for key, name in LIBRARIES if run.text(key)]
    settings = [f"{name} {run.text(key)}".strip() for key, name in SETTINGS if run.text(key)]
    settings += filter(None, [resident_text(run)])
    file = pathlib.PurePath(run.source).name
    return [
        f"[{number}]" + small(file),
        escaped(run.date.replace("T", " ").removesuffix("Z")),
        escaped(run.commit) + small(version),
        escaped(", ".join(filter(None, libraries))),
        escaped("; ".join(settings)),
    ]
