"""Sections on the papers: the ladder of kernels and the published tables."""

from __future__ import annotations

from .markup import Column, axis, bar, escaped, figure_text, rate_text, small, table, times_text
from .results import Figure
from .sources import Sources
from .throughput import grouped

# Units of counts, which have no decimals.
COUNTS = ("bytes", "registers", "operations", "threads")
LONG_TABLE = 16  # rows; a longer table without published figures is folded


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


def study_text(value: float | None, unit: str, subject: str = "") -> str:
    if value is None:
        return ""
    return (f"{value:.0f}" if unit in COUNTS else figure_text(value)) + small(subject)


def paper_row(figure: Figure, machines: set[str]) -> list[str]:
    """Returns the cells of a row; it names the paper's machine if the table has several."""
    published = figure.get("published")
    bound = escaped(figure.get("published_bound", ""))
    method, ours = figure.get("method"), figure.median
    cells = [
        escaped(figure.name) + small(figure.get("published_on", "") if len(machines) > 1 else ""),
        bound + study_text(published, figure.unit),
        escaped(figure.unit),
        study_text(method, figure.unit, figure.get("method_what", "")),
        study_text(ours, figure.unit, figure.get("default_what", "")),
        times_text(figure.ratio),
    ]
    if method is None and ours is None and figure.get("not_run"):
        cells[4] = f"not run: {escaped(figure.get('not_run'))}"
    return cells


def paper_table(rows: list[Figure]) -> str:
    first, machines = rows[0], {figure.get("published_on", "") for figure in rows}
    title = escaped(f"{first.get('paper')}, {first.get('table')}: {first.get('title', '')}")
    title = title.rstrip(": ") + (small(*machines) if len(machines) == 1 else "")
    columns = [
        Column("row"),
        Column("published", "number"),
        Column("unit"),
        Column("its method here", "number"),
        Column("our default", "number"),
        Column("ratio", "number"),
    ]
    text = table(columns, [paper_row(row, machines) for row in rows], title, "wide papers")
    if first.get("differs"):
        text += f'<p class="note">What differs: {escaped(first.get("differs"))}</p>\n'
    if len(rows) > LONG_TABLE and all(figure.get("published") is None for figure in rows):
        return f"<details><summary>{title}</summary>\n{text}</details>\n"
    return text


def papers_section(figures: list[Figure], sources: Sources) -> str:
    text = "<section><h2>The papers' tables</h2>\n" + sources.note(figures)
    text += (
        "<p>Published: on the paper's machine, which stands beside the title or the row. Its "
        "method and our default: on this one. The ratio is our default over the method, as "
        "speeds.</p>\n"
    )
    tables = grouped(figures, lambda f: (f.run.text("machine"), f.get("paper"), f.get("table")))
    return text + "".join(map(paper_table, tables.values())) + "</section>\n"
