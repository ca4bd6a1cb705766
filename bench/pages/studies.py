"""The section on the ladder of kernels."""

from __future__ import annotations

from .markup import Column, axis, bar, escaped, figure_text, rate_text, small, table
from .results import Figure
from .sources import Sources
from .throughput import grouped


def count_text(figure: Figure, key: str) -> str:
    value = figure.get(key)
    return "" if value is None else escaped(value)


def step_text(figure: Figure) -> str:
    """Returns the name of a step, what it changes and what it taught."""
    paper = figure.get("paper")
    text = f"<b>{escaped(figure.name)}</b>" + small(paper or "")
    if figure.get("keystream_only"):
        text += small("keystream only")
    text += f'<div class="about">{escaped(figure.get("what", ""))}</div>'
    taught = figure.get("taught")
    return text + (f'<div class="about note">{escaped(taught)}</div>' if taught else "")


def ladder_table(unit: str, figures: list[Figure], sources: Sources) -> str:
    end = max((f.median or 0 for f in figures), default=0)
    text_of = figure_text if unit == "GB/s" else rate_text
    columns = [
        Column("step: what it changes, and what it taught"),
        Column(axis(end, unit) if end else "", "chart"),
        Column(escaped(unit), "number"),
        *(Column(name, "number") for name in ("registers", "local", "shared", "threads")),
    ]
    rows = []
    for figure in figures:
        label = f"{figure.name}: {text_of(figure.median)} {unit}"
        picture = f"<small>not run: {escaped(figure.get('not_run', 'no reason given'))}</small>"
        if figure.median:
            picture = bar(figure, None, end, label)
        keys = ("registers", "local_bytes", "shared_bytes", "threads_per_block")
        rows.append(
            [
                step_text(figure) + sources.mark(figure, figures),
                picture,
                text_of(figure.median or None),
                *(count_text(figure, key) for key in keys),
            ]
        )
    return table(columns, rows, "", "wide ladder")


def ladder_section(figures: list[Figure], sources: Sources) -> str:
    text = "<section><h2>The ladder: from the papers' kernels to ours</h2>\n"
    text += sources.note(figures)
    text += (
        "<p>Registers and local bytes are those of a thread, shared bytes those of a block of "
        "threads.</p>\n"
    )
    for unit, rows in grouped(figures, lambda f: f.unit).items():
        text += ladder_table(unit, rows, sources)
    return text + "</section>\n"
