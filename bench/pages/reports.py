"""Reduces the reports of the benchmark programs (`--json`) to one entry for each figure."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from .checked import BadResult, Checked, check_attributes, load
from .results import MACHINE_FACTS, Figure, Object, Result, Run
from .stored import read_result


@dataclasses.dataclass(frozen=True)
class Kind:
    """Where a kind of row has its name, its figure, and what the figure is compared with."""

    name: str  # format string over the row's texts
    value: str
    unit: str = "GB/s"
    repetitions: str = "repetitions"
    yardstick: str = ""
    yardstick_repetitions: str = ""
    # Values that the reader computes from others, or that every row has.
    derived: tuple[str, ...] = ()
    value_may_be_absent: bool = False


CIPHER = Kind(
    name="{cipher}-{mode} {operation}",
    value="gigabytes_per_second",
    yardstick="openssl_gigabytes_per_second",
    yardstick_repetitions="openssl_repetitions",
    derived=("link_ratio", "gpu_ratio"),
)
KINDS = {
    "throughput": CIPHER,
    "sizes": CIPHER,
    "auto": Kind(
        name="{cipher}-{mode} {operation}",
        value="gigabytes_per_second",
        yardstick="best_gigabytes_per_second",
    ),
    "rates": Kind(name="{set} {operation}", value="operations_per_second", unit="operations/s"),
    "submission": Kind(
        name="{set} {operation}",
        value="operations_per_second",
        unit="operations/s",
        yardstick="yardstick_operations_per_second",
        yardstick_repetitions="yardstick_repetitions",
    ),
    "ladder": Kind(name="{step}", value="gigabytes_per_second", value_may_be_absent=True),
    "papers": Kind(name="{row}", value="default", value_may_be_absent=True),
    "exchanges": Kind(name="{scenario}: {how}", value="exchanges_per_second", unit="exchanges/s"),
    "handshakes": Kind(
        name="{group}",
        value="server_cpu_microseconds",
        unit="µs",
        repetitions="server_cpu_rounds",
    ),
    "round_trips": Kind(name="{set}", value="seconds", unit="s"),
    "files": Kind(name="{command}", value="seconds", unit="s"),
    "file_paths": Kind(
        name="{cipher} {operation}",
        value="gigabytes_per_second",
        value_may_be_absent=True,
    ),
    "file_copies": Kind(name="{command}", value="gigabytes_per_second"),
    "openssl_speed": Kind(
        name="{case}",
        value="gigabytes_per_second",
        yardstick="openssl_gigabytes_per_second",
        yardstick_repetitions="openssl_repetitions",
    ),
    "openssl_keys": Kind(
        name="{case}",
        value="nanoseconds",
        unit="ns",
        yardstick="openssl_nanoseconds",
        yardstick_repetitions="openssl_repetitions",
    ),
}
# Lists of a report. The kind of an entry of `rows` follows from a key that only its kind has.
LISTS = {
    "sizes": "sizes",
    "points": "auto",
    "kem_against_submission": "submission",
    "kem_against_mlkem_native": "submission",
    "round_trips": "round_trips",
    "file_to_file": "files",
    "file_paths": "file_paths",
    "file_copies": "file_copies",
    "openssl_speed": "openssl_speed",
    "openssl_keys": "openssl_keys",
}
ROWS = {
    "step": "ladder",
    "paper": "papers",
    "group": "handshakes",
    "scenario": "exchanges",
    "cipher": "throughput",
    "set": "rates",
}
OWN_FIELDS = ("bound", "bound_gigabytes_per_second", "ratio")  # fields of a figure in all kinds
AS_PRINTED = ("published", "bytes", "count")  # values that keep all their digits
NAMES = (
    "cipher",
    "mode",
    "operation",
    "set",
    "step",
    "row",
    "scenario",
    "how",
    "group",
    "command",
    "case",
)


def rounded(value: float) -> float:
    """Returns the value with four significant digits."""
    return value if isinstance(value, int) else float(f"{value:.4g}")


def kind_of(row: Checked) -> str:
    for key, kind in ROWS.items():
        if key in row.value:
            return kind
    row.fail("", f"no kind of row: it has none of {', '.join(ROWS)}")


def low_and_high(values: list[float]) -> tuple[float, float] | None:
    return (rounded(min(values)), rounded(max(values))) if len(values) > 1 else None


def unit_of(name: str, kind: Kind, row: Checked) -> tuple[str, str]:
    """Returns the key of the figure and its unit."""
    if name == "papers":
        return kind.value, row.text("unit")
    if name == "ladder" and "operations_per_second" in row.value:
        return "operations_per_second", "operations/s"
    return kind.value, kind.unit


def yardstick_name(name: str, row: Checked) -> str:
    if name == "submission":
        return row.text("yardstick")
    if name == "auto":
        return row.text("best")
    return row.optional_text("openssl_yardstick") or "OpenSSL"


def figure_of(name: str, row: Checked, run: Run) -> Figure:
    """Returns the figure of a row of a report."""
    kind = KINDS[name]
    parts = {key: row.text(key) for key in NAMES if "{" + key + "}" in kind.name}
    check_attributes(name, row)
    value, unit = unit_of(name, kind, row)
    median = row.amount(value)
    if median is None and not kind.value_may_be_absent:
        row.fail(value, "a number is missing")
    repetitions = row.numbers(kind.repetitions)
    figure = Figure(name, kind.name.format(**parts), unit, run)
    figure.median = None if median is None else rounded(median)
    figure.range, figure.repetitions = low_and_high(repetitions), len(repetitions) or None
    figure.bound = row.amount("bound_gigabytes_per_second")
    figure.bound_by = row.optional_text("bound")
    ratio = row.amount("ratio")
    figure.ratio = None if ratio is None else rounded(ratio)
    used = {value, kind.repetitions, *kind.derived, *parts, *OWN_FIELDS}
    if kind.yardstick:
        against = row.amount(kind.yardstick)
        if against is not None:
            figure.yardstick = rounded(against)
            figure.yardstick_name = yardstick_name(name, row)
            figure.yardstick_range = low_and_high(row.numbers(kind.yardstick_repetitions))
        used |= {kind.yardstick, kind.yardstick_repetitions, "openssl_yardstick"}
        used |= {"yardstick"} if name == "submission" else {"best"} if name == "auto" else set()
    used |= {"unit"} if name == "papers" else set()
    used |= {"yardsticks", "best"} if kind is CIPHER else set()
    figure.about = {
        key: content if key in AS_PRINTED else rounded_within(content)
        for key, content in row.value.items()
        if key not in used and content is not None
    }
    if kind is CIPHER and "yardsticks" in row.value:
        add_yardsticks(figure, row)
    if figure.get("checked_against") == f"openssl {figure.name.split()[0]}":
        figure.about["checked_against"] = "openssl"  # the same mode, unlike "openssl des-ecb, …"
    return figure


def add_yardsticks(figure: Figure, row: Checked) -> None:
    """Takes the best of several yardsticks, and of each its rate or why it was not run."""
    best = row.optional_text("best")
    rates: dict[str, float | str] = {}
    figure.yardstick, figure.yardstick_name, figure.yardstick_range = None, "", None
    for one in row.objects("yardsticks"):
        name = f"{one.text('name')} {one.optional_text('version')}".strip()
        rate = one.amount("gigabytes_per_second")
        if rate is None:
            rates[name] = f"NOT RUN: {one.text('not_run')}"
            continue
        rates[name] = rate = rounded(rate)
        if one.text("name") == best:
            ecb = f" {one.text('cipher')}" if one.value.get("ecb_instead") else ""
            figure.yardstick, figure.yardstick_name = rate, name + ecb
            figure.yardstick_range = low_and_high(one.numbers("repetitions"))
    if best and figure.yardstick is None:
        row.fail("best", f"{best} has no figure")
    figure.about["yardsticks"] = rates


def rounded_within(value: Any) -> Any:
    if isinstance(value, float):
        return rounded(value)
    return {k: rounded_within(v) for k, v in value.items()} if isinstance(value, dict) else value


def read_report(value: Any, source: str) -> Result:
    """Returns the figures of a report, {head, rows} or {head, other lists}."""
    top = Checked(source, "", value)
    head = top.object("head")
    head.text("machine"), head.text("date"), head.text("commit")
    machine = {
        k: v
        for k, v in head.value.items()
        if (k in MACHINE_FACTS or k.startswith("gpu_")) and v is not None
    }
    facts: Object = {
        k: v
        for k, v in head.value.items()
        if k not in machine and k != "repetitions" and v is not None
    }
    run, result = Run(facts, machine, source), Result(source, machine, [])
    for key in top.value:
        if key == "rows" or key in LISTS:
            for row in top.objects(key):
                name = LISTS.get(key) or kind_of(row)
                result.figures.append(figure_of(name, row, run))
        elif key not in ("head", "left_out"):
            result.not_shown.append(key)
    if not any(key == "rows" or key in LISTS for key in top.value):
        raise BadResult(f"{source}: rows: it is missing, and so are all other lists of figures")
    return result


def read(path: pathlib.Path, source: str = "") -> Result:
    """Returns the content of a file of bench/results or of a report of a program."""
    value = load(path)
    name = source or str(path)
    if isinstance(value, dict) and "format" in value:
        return read_result(value, name)
    return read_report(value, name)
