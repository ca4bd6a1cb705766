"""Reads and writes bench/results: one file for each machine and date. Its README has the format."""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import pathlib
from typing import Any, NoReturn

FORMAT = 1
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
# Figures with equal values of these share a section of the file.
GROUPS: dict[str, tuple[str, ...]] = {
    "throughput": ("device", "place", "threads"),
    "sizes": ("device", "place", "threads"),
    "rates": ("device", "place", "threads"),
    "papers": ("paper", "table"),
}


class BadResult(Exception):
    """A result that cannot be used. The text names the file and the key."""


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
        return tuple(json.dumps(self.facts.get(key)) for key in SETTINGS)


@dataclasses.dataclass
class Figure:
    """One figure with its spread, its bound and what it is compared with."""

    kind: str
    name: str
    unit: str
    run: Run
    median: float | None = None
    range: tuple[float, float] | None = None
    repetitions: int | None = None
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
        attributes = (json.dumps(self.about.get(key)) for key in ATTRIBUTES)
        # NTRU is compared with more than one yardstick; a cipher's yardstick depends on OpenSSL.
        against = self.yardstick_name if self.kind == "submission" else ""
        return (self.kind, self.name, against, *attributes, *self.run.settings())

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


# ---- checked access


def fail(source: str, where: str, problem: str) -> NoReturn:
    raise BadResult(f"{source}: {where}: {problem}" if where else f"{source}: {problem}")


class Checked:
    """A JSON object whose values are checked as they are read."""

    def __init__(self, source: str, where: str, value: Any):
        if not isinstance(value, dict):
            fail(source, where, f"an object is expected, not {shown(value)}")
        self.source, self.where, self.value = source, where, value

    def key(self, name: str) -> str:
        return ".".join(filter(None, (self.where, name)))

    def fail(self, name: str, problem: str) -> NoReturn:
        fail(self.source, self.key(name), problem)

    def number(self, name: str) -> float:
        value = self.optional_number(name)
        if value is None:
            self.fail(name, "a number is missing")
        return value

    def optional_number(self, name: str) -> float | None:
        value = self.value.get(name)
        if value is None:
            return None
        if not is_number(value):
            self.fail(name, f"a number is expected, not {shown(value)}")
        return value

    def text(self, name: str) -> str:
        if self.value.get(name) is None:
            self.fail(name, "a text is missing")
        return self.optional_text(name)

    def optional_text(self, name: str) -> str:
        value = self.value.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.fail(name, f"a text is expected, not {shown(value)}")
        return value

    def range(self, name: str) -> tuple[float, float] | None:
        value = self.value.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 2 or not all(map(is_number, value)):
            self.fail(name, f"two numbers are expected, not {shown(value)}")
        if value[0] > value[1]:
            self.fail(name, f"the lower number comes first, unlike {shown(value)}")
        return value[0], value[1]

    def numbers(self, name: str) -> list[float]:
        value = self.value.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(map(is_number, value)):
            self.fail(name, f"a list of numbers is expected, not {shown(value)}")
        return value

    def objects(self, name: str) -> list[Checked]:
        value = self.value.get(name)
        if not isinstance(value, list):
            self.fail(name, f"a list is expected, not {shown(value)}")
        return [
            Checked(self.source, f"{self.key(name)}[{i}]", item) for i, item in enumerate(value)
        ]

    def object(self, name: str) -> Checked:
        if name not in self.value:
            self.fail(name, "it is missing")
        return Checked(self.source, self.key(name), self.value[name])


def is_number(value: Any) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    )


def shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def load(path: pathlib.Path) -> Any:
    """Returns the JSON of a file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        fail(str(path), "", f"cannot be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        fail(str(path), "", f"is not JSON: {error}")


# ---- reading

# Values that stand in each figure's own line, even if they are equal.
MEASURED = ("name", "median", "range", "bound", "yardstick", "yardstick_range", "ratio")
FIELDS = {field.name for field in dataclasses.fields(Figure)} - {"kind", "unit", "run", "about"}


def read_result(value: Any, source: str) -> Result:
    """Returns the content of a file of bench/results."""
    top = Checked(source, "", value)
    if top.value.get("format") != FORMAT:
        top.fail("format", f"{FORMAT} is expected, not {shown(top.value.get('format'))}")
    machine = top.object("machine").value
    runs = [Run(run.value, machine, source) for run in top.objects("runs")]
    for run in top.objects("runs"):
        run.text("date"), run.text("commit")
    result = Result(source, machine, [])
    for section in top.objects("sections"):
        result.figures += read_section(section, runs)
    return result


def read_section(section: Checked, runs: list[Run]) -> list[Figure]:
    kind, index = section.text("kind"), section.number("run")
    if not isinstance(index, int) or not 0 <= index < len(runs):
        section.fail("run", f"there is no run {shown(index)}")
    common = section.object("common").value
    figures = []
    for item in section.objects("figures"):
        values = {k: v for k, v in {**common, **item.value}.items() if v is not None}
        row = Checked(item.source, item.where, values)
        figures.append(
            Figure(
                kind=kind,
                name=row.text("name"),
                unit=row.text("unit"),
                run=runs[index],
                median=row.optional_number("median"),
                range=row.range("range"),
                repetitions=row.optional_number("repetitions"),
                bound=row.optional_number("bound"),
                bound_by=row.optional_text("bound_by"),
                yardstick=row.optional_number("yardstick"),
                yardstick_name=row.optional_text("yardstick_name"),
                yardstick_range=row.range("yardstick_range"),
                ratio=row.optional_number("ratio"),
                about={k: v for k, v in row.value.items() if k not in FIELDS | {"unit"}},
            )
        )
    return figures


# ---- writing


def plain(figure: Figure) -> Object:
    """Returns the figure's keys in the file, without those that are empty."""
    row: Object = {"name": figure.name, "unit": figure.unit}
    for field in dataclasses.fields(Figure):
        if field.name in FIELDS:
            row[field.name] = getattr(figure, field.name)
    row.update(sorted(figure.about.items()))
    return {key: value for key, value in row.items() if value is not None and value != ""}


def common_values(rows: list[Object]) -> Object:
    """Returns values that most of the rows share."""
    common = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        count = collections.Counter(json.dumps(row.get(key)) for row in rows)
        text, times = count.most_common(1)[0]
        if key not in MEASURED and text != "null" and 2 * times > len(rows) > 1:
            common[key] = json.loads(text)
    return common


def section_text(kind: str, run: int, figures: list[Figure]) -> str:
    rows = [json.loads(json.dumps(plain(figure))) for figure in figures]
    common = common_values(rows)
    lines = []
    for row in rows:
        own = {key: value for key, value in row.items() if common.get(key) != value}
        own.update((key, None) for key in common if key not in row)
        lines.append("  " + json.dumps(own, ensure_ascii=False))
    head = json.dumps({"kind": kind, "run": run, "common": common}, ensure_ascii=False)
    return f'{head[:-1]}, "figures": [\n' + ",\n".join(lines) + "\n ]}"


def write_result(result: Result) -> str:
    """Returns the text of a file: one line for each run and each figure."""
    runs: list[Object] = []
    sections: dict[tuple[Any, ...], list[Figure]] = {}
    for figure in result.figures:
        if figure.run.facts not in runs:
            runs.append(figure.run.facts)
    for figure in result.figures:
        group = [json.dumps(figure.get(key)) for key in GROUPS.get(figure.kind, ())]
        key = (figure.kind, runs.index(figure.run.facts), *group)
        sections.setdefault(key, []).append(figure)
    parts = [section_text(key[0], key[1], figures) for key, figures in sections.items()]
    run_lines = [json.dumps(run, ensure_ascii=False) for run in runs]
    return (
        f'{{"format": {FORMAT},\n "machine": {json.dumps(result.machine, ensure_ascii=False)},\n'
        ' "runs": [\n  ' + ",\n  ".join(run_lines) + '\n ],\n "sections": [\n '
        + ",\n ".join(parts)
        + "\n ]}\n"
    )


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
