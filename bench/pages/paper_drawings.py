"""Draws the charts of the papers by matplotlib, for the page and as SVG files."""

from __future__ import annotations

import io
import math
import re
import textwrap
from typing import Any

from .charts import COLOURS, GRID, LINES, MARKERS, SOFT, as_element, library
from .markup import figure_text, size_text
from .paper_charts import Chart, Series
from .paper_rows import Claim

ROLE_COLOURS = {"published": SOFT, "method": LINES[2], "default": LINES[0], "ideal": LINES[1]}
WIDTH, BAR = 4.3, 0.17  # inches
SETTINGS = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": SOFT,
    "axes.edgecolor": GRID,
    "axes.labelcolor": SOFT,
}


def slug(name: str) -> str:
    """Returns the name as part of an element's id or of a file's name."""
    return re.sub(r"\W+", "-", name)


def colour_of(series: list[Series], at: int) -> str:
    """Returns the colour of a series: by role, or in turn if one role has many series."""
    one = series[at]
    alike = [other for other in series if other.role == one.role]
    if one.style == "kernel":
        return list(COLOURS)[at % 5]
    if one.role == "published" and len(alike) > 1 and one is not alike[0]:
        return LINES[1]
    return ROLE_COLOURS[one.role]


def svg_of(chart: Chart, machine: str, background: str = "white") -> str:
    """Returns a stand-alone SVG on that background. Two charts of a page share no id."""
    matplotlib = library()
    label = f"{chart.name}, {machine}"
    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": label}):
        figure = matplotlib.figure.Figure(figsize=(WIDTH, height_of(chart)), layout="constrained")
        axes = figure.add_subplot()
        if chart.x_label:
            draw_lines(axes, chart, slug(label))
        else:
            draw_bars(axes, chart, slug(label))
        decorate(axes)
        return saved(figure, background)


def element_of(chart: Chart, machine: str) -> str:
    """Returns the chart for use inside HTML."""
    return as_element(svg_of(chart, machine, "none"), f"{chart.name}: {chart.caption}", "drawing")


def saved(figure: Any, background: str) -> str:
    """Returns the SVG without a date and without the version of the library."""
    for axes in figure.axes:
        axes.patch.set_facecolor("none")
    out = io.StringIO()
    metadata = {"Date": None, "Creator": None}
    figure.savefig(out, format="svg", facecolor=background, metadata=metadata)
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", out.getvalue(), flags=re.S)
    text = text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


def decorate(axes: Any, columns: int = 38) -> None:
    axes.tick_params(colors=SOFT, which="both")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        wrapped = [textwrap.fill(label, columns) for label in labels]
        axes.legend(
            handles, wrapped, loc="lower left", bbox_to_anchor=(0, 1.01), frameon=False, borderpad=0
        )


def plain(value: float, _position: int = 0) -> str:
    """Returns the number of a tick: "0.1", "10,000"."""
    return f"{value:,.10g}"


def value_text(chart: Chart, series: Series, value: float) -> str:
    exact = series.role == "published" or chart.y_label == "threads"
    return f"{value:g}" if exact else figure_text(value)


# ---- lines


def draw_lines(axes: Any, chart: Chart, prefix: str) -> None:
    if chart.x_log:
        axes.set_xscale("log", base=chart.x_log)
    if chart.y_log:
        axes.set_yscale("log")
    else:
        values = [value for series in chart.series for _, value in series.points]
        axes.set_ylim(0, 1.1 * max(values))
    for at, series in enumerate(chart.series):
        if series.points:
            draw_curve(axes, chart, at, f"{prefix}-{series.role}-{at}")
    ticks_of(axes, chart)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.grid(color=GRID, lw=0.7)


def draw_curve(axes: Any, chart: Chart, at: int, name: str) -> None:
    series = chart.series[at]
    xs, ys = [point[0] for point in series.points], [point[1] for point in series.points]
    marked = series.role in ("method", "default") or series.style == "points"
    axes.plot(
        xs,
        ys,
        color=colour_of(chart.series, at),
        marker=("D" if series.role == "published" else MARKERS[at % 4]) if marked else "",
        ls={"points": "", "kernel": "-"}.get(series.style, series.style),
        ms=6 if series.style == "points" else 4,
        lw=1.8 if marked else 1.2,
        label=series.label,
        gid=name,
    )


def ticks_of(axes: Any, chart: Chart) -> None:
    ticker = library().ticker
    places = sorted({float(x) for series in chart.series for x, _ in series.points})
    if chart.x_log == 2:
        powers = [2.0 ** round(math.log2(place)) for place in places]
        ticks = [power for power, place in zip(powers, places) if abs(place / power - 1) < 0.001]
        ticks = ticks[:: max(1, len(ticks) // 6)]
        text = size_text if chart.x_label == "bytes" else plain
        axes.set_xticks(ticks, [text(tick) for tick in ticks])
    elif not chart.x_log:
        axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
        axes.set_xlim(places[0] - 0.5, places[-1] + 0.5)
    else:
        axes.set_xticks(places, [plain(place) for place in places])
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())


# ---- bars


def categories(chart: Chart) -> list[str]:
    return list(dict.fromkeys(str(x) for series in chart.series for x, _ in series.points))


def bars_of(chart: Chart, category: str) -> list[tuple[int, float]]:
    """Returns the series that have a bar in the category, and the bars' values."""
    return [
        (at, value)
        for at, series in enumerate(chart.series)
        for x, value in series.points
        if str(x) == category
    ]


def height_of(chart: Chart) -> float:
    if chart.x_label:
        return 3.2
    count = sum(len(series.points) for series in chart.series)
    return 1.5 + BAR * (count + 0.7 * len(categories(chart)))


def draw_bars(axes: Any, chart: Chart, prefix: str, columns: int = 22) -> None:
    """Draws horizontal bars in groups, with their values beside them.

    `columns` is the width of the groups' names."""
    named: set[int] = set()
    ticks, at_y, start = [], 0.0, start_of_bars(chart)
    for category in categories(chart):
        own = bars_of(chart, category)
        ticks.append((at_y + (len(own) - 1) / 2, textwrap.fill(category, columns)))
        for at, value in own:
            bar = axes.barh(
                at_y,
                value - start,
                left=start,
                height=0.82,
                color=colour_of(chart.series, at),
                label=None if at in named else chart.series[at].label,
            )
            bar.patches[0].set_gid(f"{prefix}-{chart.series[at].role}-{len(named)}-{at_y:g}")
            named.add(at)
            axes.annotate(
                value_text(chart, chart.series[at], value),
                (value, at_y),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
            at_y += 1
        at_y += 0.7
    axes.set_yticks([y for y, _ in ticks], [text for _, text in ticks])
    axes.set_ylim(at_y - 1, -0.7)
    axes.tick_params(axis="y", length=0)
    scale_of_bars(axes, chart)
    axes.grid(axis="x", color=GRID, lw=0.7)


def start_of_bars(chart: Chart) -> float:
    """Returns 0, or where a logarithmic axis begins if the values differ much."""
    values = [value for series in chart.series for _, value in series.points]
    apart = chart.y_log and min(values) > 0 and max(values) > 20 * min(values)
    return min(values) / 2 if apart else 0.0


def scale_of_bars(axes: Any, chart: Chart) -> None:
    ticker = library().ticker
    low = start_of_bars(chart)
    values = [value for series in chart.series for _, value in series.points]
    if low:
        axes.set_xscale("log")
        axes.set_xlim(low, max(values) * (max(values) / low) ** 0.16)
        axes.xaxis.set_minor_formatter(ticker.NullFormatter())
        axes.set_xlabel(f"{chart.y_label} (logarithmic)")
    else:
        axes.set_xlim(0, 1.16 * max(values) or 1)
        whole = all(value.is_integer() for value in map(float, values))
        axes.xaxis.set_major_locator(ticker.MaxNLocator(5, integer=whole))
        axes.set_xlabel(chart.y_label)
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(plain))


# ---- the summary


def summary_svg(found: list[tuple[str, Claim]], machine: str) -> str:
    """Returns bars of our default over each published figure and over its paper's method here."""
    ratios = [
        Series("default", [], "our default over the published figure"),
        Series("method", [], "our default over the paper's method on the same machine"),
    ]
    names = []
    for paper, claim in found:
        name = f"{paper} {claim.name}"
        names.append(name)
        ratios[0].points.append((name, claim.published))
        if claim.method is not None:
            ratios[1].points.append((name, claim.method))
    chart = Chart("summary", f"default over published and over method, {machine}", "times", ratios)
    matplotlib = library()
    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": "summary", "font.size": 10}):
        rows = sum(len(series.points) for series in ratios) + 0.7 * len(names)
        size = (8, 1.1 + 0.2 * rows)
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        draw_bars(axes, chart, "summary", columns=34)
        axes.axvline(1, color=LINES[1], lw=1.5)
        axes.set_xlabel("times as fast (logarithmic); the line is 1")
        decorate(axes, columns=60)
        return saved(figure, "white")
