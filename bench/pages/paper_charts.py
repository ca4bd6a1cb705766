"""Charts of the papers, reduced from their rows: published, the paper's method and our default."""

from __future__ import annotations

import dataclasses
import re
from typing import Callable, Iterable

from .paper_rows import RATES
from .results import Figure

ROLES = ("published", "method", "default")
Value = tuple[float | str, float]  # place on the horizontal axis, figure


@dataclasses.dataclass
class Series:
    role: str  # one of ROLES, or "ideal"
    points: list[Value]
    label: str
    style: str = "-"  # a line, dashes, or "points" for single points


@dataclasses.dataclass
class Chart:
    """Bars if `x_label` is empty, else lines."""

    name: str  # "P3 figure 8"
    caption: str
    y_label: str
    series: list[Series]
    x_label: str = ""
    x_log: int = 0  # base of a logarithmic axis; 0 is a linear one
    y_log: bool = True
    note: str = ""

    def measured(self) -> bool:
        return any(s.points for s in self.series if s.role in ("method", "default"))


def in_table(rows: Iterable[Figure], *names: str) -> list[Figure]:
    """Returns the rows of tables with one of these names."""
    return [row for row in rows if row.get("table") in names]


def value_of(figure: Figure, role: str) -> float | None:
    return figure.median if role == "default" else figure.get(role)


def labels_of(rows: list[Figure], role: str) -> str:
    """Returns the label of a role, with the paper's machine."""
    if role == "published":
        on = {row.get("published_on", "") for row in rows if row.get("published") is not None}
        return f"published: {on.pop()}" if len(on) == 1 else "published"
    return "the paper's method, here" if role == "method" else "our default, here"


def bars(
    name: str, caption: str, rows: list[Figure], y_label: str, shorten: str = "", note: str = ""
) -> Chart:
    """Returns a chart with a group of bars for each row. Names of rows lose what matches `shorten`.

    It is a regular expression."""
    series = []
    for role in ROLES:
        values: list[Value] = []
        for row in rows:
            value = value_of(row, role)
            if value is not None:
                values.append((re.sub(shorten, "", row.name), value))
        series.append(Series(role, values, labels_of(rows, role)))
    return Chart(name, caption, y_label, series, note=note)


def curve(
    rows: Iterable[Figure], role: str, key: str, value: Callable[[Figure, str], float | None]
) -> list[Value]:
    points: list[Value] = []
    for row in rows:
        x, y = row.get(key), value(row, role)
        if x is not None and y is not None:
            points.append((float(x), y))
    return sorted(points)


# ---- P1 and P2


def p1(rows: list[Figure]) -> list[Chart]:
    on_gpu = in_table(rows, "table 3")
    ciphers: dict[str, dict[str, list[Value]]] = {role: {} for role in ROLES}
    for row in on_gpu:
        cipher = row.name.partition(",")[0]
        for role in ROLES:
            value = value_of(row, role)
            series = row.get("published_on", "") if role == "published" else role
            points = ciphers[role].setdefault(series, [])
            if value is not None and cipher not in dict(points):
                points.append((cipher, value))
    series = [
        Series(role, points, f"published: {label}" if role == "published" else labels_of([], role))
        for role, by_label in ciphers.items()
        for label, points in by_label.items()
    ]
    return [
        Chart("P1 table 3", "block ciphers on a GPU", "Gbit/s", series),
        bars("P1 section 4.1", "on one core", in_table(rows, "section 4.1"), "Gbit/s"),
        by_threads(rows),
    ]


def by_threads(rows: list[Figure]) -> Chart:
    """Returns P1's kernels by threads in a block, of which the paper gives advice alone."""
    kernels: dict[str, list[Figure]] = {}
    for row in in_table(rows, "section 4.2"):
        kernels.setdefault(str(row.get("method_what", row.name)), []).append(row)
    series = [
        Series("method", curve(found, "method", "threads_per_block", value_of), kernel, "kernel")
        for kernel, found in kernels.items()
    ]
    return Chart(
        "P1 section 4.2",
        "rate by threads in a block",
        "GB/s",
        series,
        "threads in a block",
        x_log=2,
        note="The paper advises 192 or 256 threads and has no figures.",
    )


LAYOUTS = {
    "table in global memory": "global memory",
    "one shared copy, with bank conflicts": "1 shared copy",
    "32 shared copies, without conflicts": "32 shared copies",
}


def p2(rows: list[Figure]) -> list[Chart]:
    """Returns a chart for each key length. The paper has no drawing of its table 2."""
    by_key: dict[str, list[Figure]] = {}
    for row in in_table(rows, "table 2"):
        cipher, _, layout = row.name.partition(", ")
        if row.unit in RATES:
            short = dataclasses.replace(row, name=LAYOUTS.get(layout, layout))
            by_key.setdefault(cipher, []).append(short)
    return [
        bars(f"P2 table 2, {cipher}", "counter mode by layout of the table", found, "Gbit/s")
        for cipher, found in by_key.items()
    ]


# ---- P3


def p3(rows: list[Figure]) -> list[Chart]:
    places: dict[str, list[Figure]] = {}
    for row in in_table(rows, "figure 8"):
        places.setdefault(row.name.partition(", ")[2], []).append(row)
    styles = dict(zip(places, ("-", "--", ":", "-.")))
    if "all cores" in styles:
        styles["all cores"] = "--"
    series = [Series("published", [], labels_of([], "published"))]
    for place, found in places.items():
        for role in ("method", "default"):
            if role == "default" and "fastest" in place:
                continue
            label = f"{labels_of([], role).removesuffix(', here')}, {place}"
            points = curve(found, role, "bytes", value_of)
            series.append(Series(role, points, label, styles[place]))
    quotient = in_table(rows, "figure 9")
    return [
        Chart(
            "P3 figure 8",
            "time against input size",
            "ms",
            series,
            "bytes",
            x_log=2,
            note="The paper's curves have no numbers, in the drawing's text or beside it.",
        ),
        bars(
            "P3 figure 9",
            "the GPU over the cores",
            quotient,
            "times",
            shorten="^GPU over cores, ",
            note="Published: at least 25 times.",
        ),
    ]


# ---- P4


def improvement(row: Figure, role: str) -> float | None:
    """Returns the GPU over one core, also from a row in milliseconds."""
    return value_of(row, role) if row.unit == "times" else row.get(f"{role}_over_one_core")


def p4(rows: list[Figure]) -> list[Chart]:
    charts = []
    speed_ups = in_table(rows, "figures 8 to 10")
    best = {r.name.partition(":")[0]: r for r in in_table(rows, "table 6") if r.unit == "times"}
    for number, part in ((8, "randombytes"), (9, "Rq-mul"), (10, "sample-iid")):
        found = [row for row in speed_ups if row.name.startswith(f"{part}, T = ")]
        charts.append(by_block_size(number, part, found, best.get(part)))
    whole = in_table(rows, "table 8, improvement")
    clients = in_table(rows, "figures 12 and 13")
    for number, operation, kernels in (
        (12, "encapsulation", "one kernel"),
        (13, "decapsulation", "two kernels"),
    ):
        found = [row for row in clients if row.name.startswith(f"{operation}, N = ")]
        at = [row for row in whole if row.name == f"{operation}, {kernels}"]
        charts.append(by_clients(number, operation, found, at))
    return charts


def by_block_size(number: int, part: str, rows: list[Figure], best: Figure | None) -> Chart:
    method = curve(rows, "method", "threads_per_block", value_of)
    top = best.get("published") if best else None
    published: list[Value] = [(method[0][0], top), (method[-1][0], top)] if top and method else []
    ideal: list[Value] = [(x, float(x)) for x, _ in method]
    return Chart(
        f"P4 figure {number}",
        f"speed-up of {part} by threads",
        "speed-up over one thread",
        [
            Series("published", published, "published: the best (table 6)", ":"),
            Series("method", method, labels_of([], "method")),
            Series("default", curve(rows, "default", "threads_per_block", value_of), "our default"),
            Series("ideal", ideal, "ideal: as many times as threads", "--"),
        ],
        "threads T in the block",
        x_log=2,
        note="Of the paper's curve only the best is a number. Our default does not divide an "
        "operation like this and has no curve.",
    )


def by_clients(number: int, operation: str, rows: list[Figure], whole: list[Figure]) -> Chart:
    published: list[Value] = [(10000.0, r.get("published")) for r in whole if r.get("published")]
    return Chart(
        f"P4 figure {number}",
        f"improvement over one core by number of {operation}s",
        "times one core",
        [
            Series("published", published, "published: N = 10,000 (table 8)", "points"),
            Series("method", curve(rows, "method", "count", improvement), labels_of([], "method")),
            Series("default", curve(rows, "default", "count", improvement), "our default, here"),
        ],
        "operations N in a call",
        x_log=10,
        note="Of the paper's curve only the point at 10,000 is a number. Each side is divided by "
        "its own code on one core.",
    )


# ---- P5


def p5(rows: list[Figure]) -> list[Chart]:
    times = [row for row in in_table(rows, "figures 6 and 7") if row.unit == "s"]
    profile = in_table(rows, "figures 8 to 11")
    serial = [row for row in times if row.name.startswith("serial")]
    created = [row for row in profile if row.name.startswith("threads that ran")]
    alone = [row for row in created if row.name.endswith("serial")]
    # Threads of our own variants have no published figure.
    both = [row for row in created if row not in alone and row.get("published") is not None]
    return [
        bars("P5 figure 6", "100 MB by serial AES", serial, "seconds", shorten="^serial, "),
        bars(
            "P5 figure 7",
            "100 MB by parallel AES",
            [row for row in times if row not in serial],
            "seconds",
        ),
        busy(8, "serial", alone, profile),
        threads(9, "serial", alone, profile),
        busy(10, "parallel", both, profile),
        threads(11, "parallel", both, profile),
    ]


def product_threads(profile: list[Figure]) -> list[Value]:
    """Returns how busy each thread of our default is."""
    found: list[Value] = []
    for row in profile:
        match = re.match(r"the product's thread (\d+) of", row.name)
        if match and row.median is not None:
            found.append((float(match[1]), row.median))
    return found


def busy(number: int, way: str, created: list[Figure], profile: list[Figure]) -> Chart:
    shares: list[Value] = []
    for row in created:
        keys = (re.fullmatch(r"thread_(\d+)_percent_on_a_core", key) for key in row.about)
        shares += [(float(key[1]), row.get(key[0])) for key in keys if key]
    return Chart(
        f"P5 figure {number}",
        f"use of the cores by {way} AES",
        "% of the time on a core",
        [
            Series("published", [], labels_of([], "published")),
            Series("method", sorted(shares), labels_of([], "method"), "points"),
            Series("default", product_threads(profile), labels_of([], "default"), "points"),
        ],
        "thread",
        y_log=False,
        note="The paper's drawing is a timeline without numbers.",
    )


def threads(number: int, way: str, created: list[Figure], profile: list[Figure]) -> Chart:
    def points(role: str) -> list[Value]:
        return [("threads", r.get(role)) for r in created if r.get(role) is not None]

    ours: list[Value] = [("threads", float(len(product_threads(profile))))]
    return Chart(
        f"P5 figure {number}",
        f"threads created by {way} AES",
        "threads",
        [
            Series("published", points("published"), labels_of(created, "published")),
            Series("method", points("method"), labels_of([], "method")),
            Series("default", ours if ours[0][1] else [], labels_of([], "default")),
        ],
        y_log=False,
    )


CHARTS: dict[str, Callable[[list[Figure]], list[Chart]]] = {
    "P1": p1,
    "P2": p2,
    "P3": p3,
    "P4": p4,
    "P5": p5,
}


def charts_of(paper: str, rows: list[Figure]) -> list[Chart]:
    """Returns the charts of a paper on one machine, without those that nothing was measured for."""
    return [chart for chart in CHARTS[paper](rows) if chart.measured()]
