"""HTML text, tables and bars, and numbers as people read them."""

from __future__ import annotations

import html
import math
from typing import Iterable, Sequence

from .results import Figure

NOISY = 0.1  # a range of more than this share of the median is marked


def escaped(text: object) -> str:
    return html.escape(str(text), quote=True)


def figure_text(value: float | None) -> str:
    """Returns about three digits: "894", "48.1", "0.033"; a dash if there is no figure."""
    if value is None:
        return "–"
    if value < 0:
        return "-" + figure_text(-value)
    if isinstance(value, int) or value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.2g}"


def rate_text(value: float | None) -> str:
    """Returns a count with its prefix: "28.0 M", "36.5 k"."""
    if not value:
        return "–" if value is None else "0"
    for factor, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= factor:
            return figure_text(float(value / factor)) + prefix
    return figure_text(value)


def size_text(size: float) -> str:
    """Returns a size such as "16 KiB"."""
    whole = int(size)
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if whole >> shift and whole % (1 << shift) == 0:
            return f"{whole >> shift} {unit}"
    return f"{whole} B"


def value_text(figure: Figure) -> str:
    if figure.unit.endswith("/s") and figure.unit != "GB/s":
        return rate_text(figure.median)
    return figure_text(figure.median)


def range_text(figure: Figure) -> str:
    if not figure.range:
        return ""
    low, high = figure.range
    times = f" of {figure.repetitions}" if figure.repetitions else ""
    return f"{low:.4g} to {high:.4g} {figure.unit}{times}"


def times_text(ratio: float | None) -> str:
    """Returns a ratio such as "2.50×"."""
    if ratio is None:
        return ""
    return (f"{ratio:.2f}" if 0.1 <= ratio < 1 else figure_text(float(ratio))) + "×"


def ratio_text(figure: Figure) -> str:
    """Returns the ratio, with a title that says over what."""
    if figure.ratio is None:
        return ""
    title = f"{figure.yardstick_name}: {figure_text(figure.yardstick)} {figure.unit}"
    for name, rate in figure.get("yardsticks", {}).items():
        if not figure.yardstick_name.startswith(name):
            title += f"; {name}: {rate if isinstance(rate, str) else figure_text(rate)}"
    star = "*" if figure.yardstick_name.endswith("-ecb") else ""
    return f'<span title="{escaped(title)}">{times_text(figure.ratio)}{star}</span>'


def noise_mark(figure: Figure) -> str:
    """Returns a mark for a figure whose repetitions differ much, else nothing."""
    if figure.spread() <= NOISY:
        return ""
    return f' <span class="noisy" title="{escaped(range_text(figure))}">±</span>'


def small(text: object) -> str:
    return f" <small>{escaped(text)}</small>" if text not in ("", None) else ""


# ---- tables


class Column:
    """A heading, and whether the column has numbers, a chart or text."""

    def __init__(self, heading: str, kind: str = "text"):
        self.heading, self.kind = heading, kind


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], caption: str = "", style: str = ""
) -> str:
    """Returns a table. Captions, headings and cells are HTML; the first column names the row."""
    text = (
        f'<div class="scroll"><table class="{style}">' if style else '<div class="scroll"><table>'
    )
    text += f"<caption>{caption}</caption>\n" if caption else "\n"
    heads = (f'<th scope="col" class="{c.kind}">{c.heading}</th>' for c in columns)
    text += f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n"
    for row in rows:
        cells = [f'<th scope="row">{row[0]}</th>']
        cells += [f'<td class="{c.kind}">{x or "–"}</td>' for c, x in zip(columns[1:], row[1:])]
        text += f"<tr>{''.join(cells)}</tr>\n"
    return text + "</tbody></table></div>\n"


# ---- bars


def position(value: float, end: float) -> float:
    return 1000 * min(max(value / end, 0.0), 1.0)


def bar(figure: Figure, mark: float | None, end: float, label: str) -> str:
    """Returns a bar with a line over its range and a marker at `mark`, on a scale up to `end`."""
    value = figure.median or 0.0
    text = (
        '<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{escaped(label)}"><title>{escaped(label)}</title>'
        f'<rect class="ours" width="{position(value, end):.1f}" height="10"/>'
    )
    if figure.range and figure.spread() > 0.02:
        low, high = (position(x, end) for x in figure.range)
        text += f'<path class="range" d="M{low:.1f} 5H{high:.1f}"/>'
    if mark:
        line = f"M{position(mark, end):.1f} 0V10"
        text += f'<path class="halo" d="{line}"/><path class="mark" d="{line}"/>'
    return text + "</svg>"


def axis(end: float, unit: str) -> str:
    """Returns the numbers above bars on a scale up to `end`."""
    ten = 10 ** math.floor(math.log10(end))
    share = end / ten
    step = ten * (0.5 if share < 1.5 else 1 if share < 3 else 2 if share < 7 else 5)
    text, i = "", 0
    while i * step <= end:
        tick = rate_text(i * step) if end >= 1e4 else f"{i * step:g}"
        text += f'<span style="left:{100 * i * step / end:.2f}%">{tick}</span>'
        i += 1
    return f'<span class="axis">{text}</span><span class="unseen">{escaped(unit)}</span>'
