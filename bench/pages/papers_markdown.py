"""The table of each paper in docs/papers.md."""

from __future__ import annotations

import collections
from typing import Callable

from .results import Figure

TIMES = ("s", "ms", "µs", "ns")
RATES = ("Gbit/s", "GB/s", "times")
# Rows of each paper: the table, and what a row's name contains. `warpseal bench papers` has all.
SHOWN: dict[str, tuple[tuple[str, str], ...]] = {
    "P1": (("table 3", ""), ("section 4.1", ""), ("section 3.2", "")),
    "P2": (("table 2", ""), ("section 4.2", "")),
    "P3": (("figure 9", ""), ("section 3", "encryption"), ("file encryption", "1024 MiB")),
    "P4": (("table 8", ""), ("table 8, improvement", ""), ("sections 5.1 and 5.3", ""),
        ("section 5.4", "server decapsulates, N = 10000,")),
    "P5": (("figures 6 and 7", ""), ("speed-up", "")),
}


def shown(paper: str, figures: list[Figure]) -> list[Figure]:
    """Returns the rows of a paper in the order of SHOWN, each from its newest run.

    All are of the machine that has most of them. A row in two units has its rate.
    """
    newest: dict[tuple[str, ...], Figure] = {}
    for figure in sorted(figures, key=lambda f: f.run.date):
        if figure.get("paper") == paper:
            key = (figure.run.text("machine"), figure.get("table"), figure.name, figure.unit)
            newest[key] = figure
    measured = collections.Counter(
        key[0] for key, f in newest.items() if f.median is not None or f.get("method") is not None
    )
    if not measured:
        return []
    machine = measured.most_common(1)[0][0]
    rows = [
        figure
        for table, part in SHOWN[paper]
        for key, figure in newest.items()
        if key[:2] == (machine, table) and part in figure.name
    ]
    in_rate = {(f.get("table"), f.name) for f in rows if f.unit in RATES}
    return [f for f in rows if f.unit not in TIMES or (f.get("table"), f.name) not in in_rate]


def over_published(figure: Figure) -> float | None:
    """Returns how many times the default is as good as the published figure."""
    published, ours = figure.get("published"), figure.median
    if not published or not ours or figure.unit not in TIMES + RATES:
        return None
    return published / ours if figure.unit in TIMES else ours / published


def published_text(figure: Figure) -> str:
    """Returns the published figure with the digits of the paper if the row has them."""
    value = figure.get("published")
    if value is None:
        return "–"
    printed = figure.get("published_text") or f"{value:g}"
    return f"{figure.get('published_bound', '')} {printed}".strip()


def number(value: float | None) -> str:
    """Returns three digits, or all digits of a whole part that is longer."""
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def markdown(
    paper: str, figures: list[Figure], sources: Callable[[list[Figure]], str]
) -> list[str]:
    """Returns a paper's table. `sources` returns dates, commits and links of its rows."""
    rows = shown(paper, figures)
    if not rows:
        return [f"No figures: `warpseal bench papers {paper}` measures them.", ""]
    lines = [
        f"{rows[0].run.text('machine')}; {sources(rows)}. "
        f"All rows: `warpseal bench papers {paper}`.",
        "",
        "| | | | published | its method here | default here | default over published |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    last = ""
    for f in rows:
        table, over = f.get("table"), over_published(f)
        lines.append(
            f"| {table if table != last else ''} | {f.name} | {f.unit} | {published_text(f)} "
            f"| {number(f.get('method'))} | {number(f.median)} "
            f"| {'–' if over is None else number(over) + '×'} |"
        )
        last = table
    return [*lines, ""]
