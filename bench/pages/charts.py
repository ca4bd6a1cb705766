"""Drawings by matplotlib: throughput against size for the page, and the README's picture."""

from __future__ import annotations

import io
import json
import math
import pathlib
import re
import struct
from typing import Any

from .checked import BadResult
from .markup import escaped, size_text

# One line of a chart: bytes, median and range.
Point = tuple[float, float, tuple[float, float] | None]
COLOURS = {
    "#2f6fd0": "var(--a)",
    "#b45309": "var(--b)",
    "#15803d": "var(--c)",
    "#9333ea": "var(--d)",
    "#5b6470": "var(--soft)",
    "#d9dee5": "var(--line)",
}
LINES = list(COLOURS)[:4]
SOFT, GRID = list(COLOURS)[4:]
MARKERS = "o^sD"  # tell lines apart without colours


def library() -> Any:
    try:
        import matplotlib
        import matplotlib.figure
        import matplotlib.ticker
    except ImportError:
        raise BadResult("charts need matplotlib: scripts/bootstrap installs it") from None
    matplotlib.use("Agg")
    return matplotlib


# ---- throughput against size


def size_chart(lines: dict[str, list[Point]], label: str) -> str:
    """Returns an SVG element with logarithmic axes and a line for each place."""
    matplotlib = library()
    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": label,
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "text.color": SOFT,
        "axes.edgecolor": GRID,
    }
    with matplotlib.rc_context(settings):
        figure = matplotlib.figure.Figure(figsize=(5.6, 3.6), layout="constrained")
        axes = figure.add_subplot()
        for i, (name, points) in enumerate(lines.items()):
            draw_line(axes, i, name, points)
        decorate(axes, sorted({point[0] for points in lines.values() for point in points}))
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return as_element(out.getvalue(), label)


def draw_line(axes: Any, i: int, name: str, points: list[Point]) -> None:
    sizes = [point[0] for point in points]
    colour, marker = LINES[i % 4], MARKERS[i % 4]
    axes.plot(sizes, [p[1] for p in points], color=colour, marker=marker, ms=4, lw=1.8, label=name)
    for size, _, spread in points:
        if spread:
            axes.plot([size, size], spread, color=colour, lw=1)


def decorate(axes: Any, sizes: list[float]) -> None:
    ticker = library().ticker
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    first, last = math.floor(math.log2(sizes[0])), math.ceil(math.log2(sizes[-1]))
    step = max(1, math.ceil((last - first) / 6))
    ticks = [2**power for power in range(first, last + 1, step)]
    axes.set_xticks(ticks, [size_text(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_ylabel("GB/s", color=SOFT)
    axes.tick_params(colors=SOFT, which="both")
    axes.grid(color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)


def as_element(text: str, label: str, style: str = "sizes") -> str:
    """Returns the drawing for use inside HTML: in the page's colours, with a name for readers."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r'(<svg[^>]*?) (?:width|height)="[^"]*"', r"\1", text)
    text = re.sub(r'(<svg[^>]*?) (?:width|height)="[^"]*"', r"\1", text)
    text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", text, count=2).replace("xlink:href", "href")
    for colour, variable in COLOURS.items():
        text = text.replace(colour, variable)
    name = escaped(label)
    text = text.replace("<svg", f'<svg class="{style}" role="img" aria-label="{name}"', 1)
    return text.replace(">", f"><title>{name}</title>", 1)


# ---- picture of the README


def draw_speed(rows: list[dict[str, Any]], path: pathlib.Path) -> None:
    """Draws bars of Warpseal beside OpenSSL, or the best other library.

    The file holds the rows that it shows.
    """
    matplotlib = library()
    with matplotlib.rc_context({"font.size": 11, "font.family": "DejaVu Sans"}):
        figure = matplotlib.figure.Figure(figsize=(8, 5.4), dpi=150, layout="constrained")
        axes = figure.add_subplot()
        for place, row in enumerate(reversed(rows)):
            draw_pair(axes, place, row, yardstick_title(rows))
        labels = [f"{row['what']}\n{row['where']}" for row in reversed(rows)]
        axes.set_yticks(range(len(rows)), labels)
        axes.set_xscale("log")
        axes.set_xlim(0.1, 3000)
        axes.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1000"])
        axes.set_xlabel("GB/s (logarithmic)")
        axes.grid(axis="x", color="#dddddd")
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.legend(*legend(axes), loc="upper right", frameon=True, edgecolor="none")
        metadata = {"Software": None, "Description": json.dumps(rows)}
        figure.savefig(path, metadata=metadata)


def yardstick_title(rows: list[dict[str, Any]]) -> str:
    """Returns what stands beside ours: one library in all rows, or the best of each row."""
    return "Best other library" if any(row.get("yardstick") for row in rows) else "OpenSSL 3.0"


def draw_pair(axes: Any, place: int, row: dict[str, Any], other: str) -> None:
    for value, offset, colour, name in (
        (row["ours"], 0.2, "#1f5fa8", "Warpseal"),
        (row["openssl"], -0.2, "#6f6f6f", other),
    ):
        if value:
            axes.barh(place + offset, value, height=0.38, color=colour, label=name)
            text = f"{value:.0f}" if value >= 100 else f"{value:.{1 if value >= 10 else 2}f}"
            axes.text(value * 1.08, place + offset, text, va="center", color=colour)


def legend(axes: Any) -> tuple[list[Any], list[str]]:
    """Returns each name once, in the order of the bars."""
    found = dict(zip(*reversed(axes.get_legend_handles_labels())))
    names = sorted(found, reverse=True)
    return [found[name] for name in names], names


def rows_of(path: pathlib.Path) -> list[dict[str, Any]] | None:
    """Returns the rows that a picture by draw_speed shows, or None if it has none."""
    data, at = path.read_bytes() if path.exists() else b"", 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + length]
        if kind == b"tEXt" and content.startswith(b"Description\0"):
            return json.loads(content.partition(b"\0")[2])
        at += length + 12
    return None
