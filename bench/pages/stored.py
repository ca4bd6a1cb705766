"""Reads and writes the files of bench/results. Their README has the format."""

from __future__ import annotations

import collections
import dataclasses
import json
from typing import Any

from .checked import Checked, check_attributes, shown
from .results import Figure, Object, Result, Run

FORMAT = 1
# Figures with equal values of these share a section of the file.
GROUPS: dict[str, tuple[str, ...]] = {
    "throughput": ("device", "place", "threads"),
    "sizes": ("device", "place", "threads"),
    "rates": ("device", "place", "threads"),
    "papers": ("paper", "table"),
}
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
        check_attributes(kind, row), row.rates("yardsticks")
        figures.append(
            Figure(
                kind=kind,
                name=row.text("name"),
                unit=row.text("unit"),
                run=runs[index],
                median=row.amount("median"),
                range=row.range("range"),
                repetitions=row.amount("repetitions"),
                bound=row.amount("bound"),
                bound_by=row.optional_text("bound_by"),
                yardstick=row.amount("yardstick"),
                yardstick_name=row.optional_text("yardstick_name"),
                yardstick_range=row.range("yardstick_range"),
                ratio=row.amount("ratio"),
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
        ' "runs": [\n  '
        + ",\n  ".join(run_lines)
        + '\n ],\n "sections": [\n '
        + ",\n ".join(parts)
        + "\n ]}\n"
    )
