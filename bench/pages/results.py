"""Figures of benchmarks, the runs that they are of, and how two sets of figures merge."""

from __future__ import annotations

import dataclasses
from typing import Any

from .checked import fail, shown

Object = dict[str, Any]
# Facts of a report's head that describe the machine; all others describe the run.
MACHINE_FACTS = ("machine", "cpu", "cores", "gpu")
# Settings of a run that tell its figures apart from those of another run of the same program.
SETTINGS = ("note", "how", "in_flight", "outstanding", "threads", "device", "directory")
# Attributes that tell apart two figures of one kind and name.
ATTRIBUTES = (
    "device",
    "place",
    "threads",
    "bytes",
    "message_bytes",
    "key_per_message",
    "pinned",
    "data_unit_bytes",
    "buffer_per_thread",
    "batch",
    "set",
    "clients",
    "paper",
    "table",
    "key",
)


@dataclasses.dataclass
class Run:
    """One run of a program: its commit, date, library versions and settings."""

    facts: Object
    machine: Object
    source: str

    def text(self, key: str) -> str:
        value = self.facts.get(key, self.machine.get(key))
        return "" if value is None else str(value)

    @property
    def date(self) -> str:
        return self.text("date")

    @property
    def commit(self) -> str:
        return self.text("commit")

    def settings(self) -> tuple[str, ...]:
        return tuple(repr(self.facts.get(key)) for key in SETTINGS)


@dataclasses.dataclass
class Figure:
    """One figure with its spread, its bound and what it is compared with."""

    kind: str
    name: str
    unit: str
    run: Run
    median: float | None = None
    range: tuple[float, float] | None = None
    repetitions: float | None = None
    bound: float | None = None
    bound_by: str = ""
    yardstick: float | None = None
    yardstick_name: str = ""
    yardstick_range: tuple[float, float] | None = None
    ratio: float | None = None
    about: Object = dataclasses.field(default_factory=dict)

    def get(self, key: str, default: Any = None) -> Any:
        value = self.about.get(key)
        return default if value is None else value

    def identity(self) -> tuple[str, ...]:
        """Returns texts that are equal for two measurements of the same thing."""
        attributes = (repr(self.about.get(key)) for key in ATTRIBUTES)
        # NTRU is compared with more than one yardstick; a cipher's yardstick depends on OpenSSL.
        against = self.yardstick_name if self.kind == "submission" else ""
        return (self.kind, self.name, self.unit, against, *attributes, *self.run.settings())

    def spread(self) -> float:
        """Returns the range over the median, or 0 if there is none."""
        if not self.range or not self.median:
            return 0.0
        return (self.range[1] - self.range[0]) / self.median


@dataclasses.dataclass
class Result:
    """Content of one file."""

    source: str
    machine: Object
    figures: list[Figure]
    not_shown: list[str] = dataclasses.field(default_factory=list)  # keys of unknown meaning

    @property
    def date(self) -> str:
        """The day of the first run."""
        days = [figure.run.date[:10] for figure in self.figures]
        return min(filter(None, days), default="")


def merged(old: Result, new: Result) -> Result:
    """Returns both. A figure of `new` replaces the one of `old` that measured the same thing."""
    machine = merged_machine(old, new)
    for figure in old.figures + new.figures:
        figure.run.machine = machine
    return Result(old.source, machine, replaced(old.figures, new.figures))


def merged_machine(old: Result, new: Result) -> Object:
    """Returns the facts of both about one machine. A run of cores alone does not know the GPU."""
    machine = {**new.machine, **old.machine}
    for key, after in new.machine.items():
        before = old.machine.get(key, after)
        if key == "machine" and str(after).startswith(str(before)):
            machine[key] = after
        elif before != after and not (key == "machine" and str(before).startswith(str(after))):
            fail(
                new.source,
                f"head.{key}",
                f"{shown(after)} is not the machine of {old.source}, which has {shown(before)}",
            )
    return machine


def replaced(old: list[Figure], new: list[Figure]) -> list[Figure]:
    """Returns `new` after the figures of `old` that it does not measure again."""
    again = {(figure.run.text("machine"), *figure.identity()) for figure in new}
    return [f for f in old if (f.run.text("machine"), *f.identity()) not in again] + new
