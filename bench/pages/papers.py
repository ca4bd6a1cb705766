"""The papers' section: an index, and for each paper its outcome, charts and tables."""

from __future__ import annotations

from typing import Callable, Iterable

from . import paper_charts, paper_drawings
from .markup import Column, escaped, figure_text, noise_mark, small, table, times_text
from .paper_charts import Chart
from .paper_facts import PAPERS, Paper
from .paper_rows import Claim, claims, over_method, over_published, published_text
from .results import Figure
from .sources import Sources
from .throughput import grouped

# Units of counts, which have no decimals.
COUNTS = ("bytes", "registers", "operations", "threads", "blocks")
PER_UNIT = "÷ published, by unit and GHz"  # without the machine
LONG_TABLE = 20  # rows; a longer table is folded


class OnMachine:
    """The rows of one paper that were measured on one machine."""

    def __init__(self, paper: Paper, machine: str, place: int, rows: list[Figure]):
        self.paper, self.machine, self.rows = paper, machine, rows
        self.anchor = paper.name if not place else f"{paper.name}-{place + 1}"
        self.claims = claims(rows)
        self.charts = paper_charts.charts_of(paper.name, rows)

    def beaten(self) -> str:
        if not self.claims:
            return ""
        return f"{sum(claim.beaten for claim in self.claims)} of {len(self.claims)}"


def by_machine(figures: Iterable[Figure]) -> list[list[OnMachine]]:
    """Returns the papers of each machine; the machine with most figures comes first."""
    machines = grouped(list(figures), lambda f: f.run.text("machine"))
    order = sorted(machines, key=lambda name: -sum(f.median is not None for f in machines[name]))
    found = []
    for place, machine in enumerate(order):
        rows = grouped(machines[machine], lambda f: f.get("paper"))
        known = [paper for paper in PAPERS if paper.name in rows]
        found.append([OnMachine(paper, machine, place, rows[paper.name]) for paper in known])
    return found


# ---- outcomes and the index


def outcome(found: list[Claim]) -> str:
    """Returns how many distinct figures are beaten; those that are not come first."""
    if not found:
        return "<p>No published figure can be compared with our default in these results.</p>\n"
    below = [claim for claim in found if not claim.beaten]
    above = [claim for claim in found if claim.beaten]
    text = ""
    if below:
        lines = "; ".join(f"{escaped(c.text())}, {times_text(c.published)}" for c in below)
        text += f'<p class="outcome"><b class="noisy">Not beaten:</b> {lines}.</p>\n'
    text += f'<p class="outcome"><b>{len(above)} of {len(found)}</b> distinct figures are beaten'
    lines = "; ".join(f"{escaped(c.name)} {times_text(c.published)}" for c in above)
    return text + (f": {lines}.</p>\n" if lines else ".</p>\n")


def index(papers: list[OnMachine]) -> str:
    columns = [
        Column("paper"),
        Column("authors and title"),
        Column("year"),
        Column("figures beaten", "number"),
        Column("not beaten"),
    ]
    rows = []
    for found in papers:
        paper = found.paper
        below = [f"{c.name} {times_text(c.published)}" for c in found.claims if not c.beaten]
        rows.append(
            [
                f'<a href="#{found.anchor}">{escaped(paper.name)}</a>',
                f"{escaped(paper.authors)}: {escaped(paper.title)}",
                escaped(paper.year),
                found.beaten(),
                escaped("; ".join(below)) or ("none" if found.claims else "nothing was compared"),
            ]
        )
    return table(columns, rows, "", "wide index")


# ---- charts


def drawing(chart: Chart, machine: str) -> str:
    note = f'<p class="note">{escaped(chart.note)}</p>\n' if chart.note else ""
    return (
        f'<figure class="drawing" data-drawing="{escaped(chart.name)}">\n'
        f"<figcaption>{escaped(chart.name)}: {escaped(chart.caption)}</figcaption>\n"
        f"{paper_drawings.element_of(chart, machine)}\n{note}</figure>\n"
    )


def without_charts(found: OnMachine) -> str:
    """Names the drawings that have no chart: those without data, and those not measured."""
    drawn = {chart.name for chart in found.charts}
    missing = [
        f"figure {number}, {subject}"
        for number, subject in found.paper.data
        if f"{found.paper.name} figure {number}" not in drawn
    ]
    text = ""
    if missing:
        text = f'<p class="note">Not measured here: {escaped("; ".join(missing))}.</p>\n'
    diagrams = "; ".join(f"{number}, {subject}" for number, subject in found.paper.diagrams)
    return text + f'<p class="note">Figures without measurements: {escaped(diagrams)}.</p>\n'


# ---- tables


def number_text(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if unit in COUNTS else figure_text(value)


def rows_text(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def texts_of(rows: list[Figure], key: str) -> list[str]:
    """Returns the different values of a key."""
    return list(dict.fromkeys(str(row.get(key)) for row in rows if row.get(key)))


class PaperTable:
    """One published table, with the columns that have figures."""

    def __init__(self, rows: list[Figure]):
        self.rows, first = rows, rows[0]
        self.title = f"{first.get('paper')}, {first.get('table')}: {first.get('title', '')}"
        self.title = self.title.rstrip(": ")
        self.unit = first.unit if len({row.unit for row in rows}) == 1 else ""
        machines = texts_of(rows, "published_on")
        self.machine = machines[0] if len(machines) == 1 else ""
        wanted: tuple[tuple[str, Callable[[Figure], str]], ...] = (
            ("published", self.published),
            ("method here", lambda row: number_text(row.get("method"), row.unit)),
            ("default", self.default),
            ("default ÷ published", lambda row: times_text(over_published(row))),
            (PER_UNIT, lambda row: times_text(row.get("default_per_unit_ratio"))),
            ("default ÷ method", lambda row: times_text(over_method(row))),
        )
        cells = {name: [text(row) for row in rows] for name, text in wanted}
        self.columns = {name: texts for name, texts in cells.items() if any(texts)}

    def published(self, row: Figure) -> str:
        text, on = escaped(published_text(row)), row.get("published_on", "")
        return text + small("" if self.machine or not text or on in row.name else on)

    def default(self, row: Figure) -> str:
        noisy = ' <span class="noisy" title="repetitions differ">±</span>'
        mark = noise_mark(row) or (noisy if row.get("noisy") else "")
        return number_text(row.median, row.unit) + mark

    def name(self, row: Figure) -> str:
        text = escaped(row.name) + small("" if self.unit else row.unit)
        scale = row.get("scaled_by", 1)
        scaled = row.get("scaled") or (f"1/{scale:g} of the size" if scale != 1 else "")
        text += small(f"measured: {scaled}" if scaled else "")
        if row.get("not_run") and row.get("method") is None and row.median is None:
            text += small(f"not run: {row.get('not_run')}")
        return text

    def notes(self) -> str:
        lines = []
        for key, name in (("method_what", "Method"), ("default_what", "Default")):
            if texts_of(self.rows, key):
                lines.append(f"{name}: {'; '.join(texts_of(self.rows, key))}.")
        if PER_UNIT in self.columns:
            of = " or ".join(texts_of(self.rows, "per_unit"))
            lines.append(f"By unit and GHz: each figure divided by its machine's {of}.")
        if self.rows[0].get("differs"):
            lines.append(f"Differences from the paper: {self.rows[0].get('differs')}.")
        return f'<p class="note">{escaped(" ".join(lines))}</p>\n' if lines else ""

    def html(self) -> str:
        """Returns the table; one that compares no speeds is folded."""
        title = escaped(self.title) + small(f"({self.unit})" if self.unit else "")
        if self.machine and "published" in self.columns:
            title += small(f"published: {self.machine}")
        if "method here" not in self.columns and "default" not in self.columns:
            reasons = {row.get("not_run") or "no reason given" for row in self.rows}
            text = f"{title}: not run: {escaped('; '.join(sorted(reasons)))}"
            return f'<p class="absent">{text} ({rows_text(len(self.rows))})</p>\n'
        rows = [[self.name(row), *cells] for row, *cells in zip(self.rows, *self.columns.values())]
        columns = [Column("row"), *(Column(name, "number") for name in self.columns)]
        text = table(columns, rows, title, "wide papers") + self.notes()
        if "default ÷ published" in self.columns and len(rows) <= LONG_TABLE:
            return text
        return f"<details><summary>{title}: {rows_text(len(rows))}</summary>\n{text}</details>\n"


# ---- the section


def paper_section(found: OnMachine, sources: Sources, several: bool) -> str:
    paper = found.paper
    heading = f"{paper.name}. {paper.title}" + (f" – {found.machine}" if several else "")
    text = f'<section class="paper" id="{found.anchor}"><h3>{escaped(heading)}</h3>\n'
    text += f"<p>{escaped(paper.authors)}, {escaped(paper.year)}</p>\n" + sources.note(found.rows)
    text += outcome(found.claims)
    if found.charts:
        charts = "".join(drawing(chart, found.machine) for chart in found.charts)
        text += f'<div class="cards">\n{charts}</div>\n'
    text += without_charts(found)
    tables = grouped(found.rows, lambda f: f.get("table"))
    text += "".join(PaperTable(rows).html() for rows in tables.values())
    return text + "</section>\n"


def papers_section(figures: list[Figure], sources: Sources) -> str:
    text = '<section id="papers"><h2>The papers\' tables and drawings</h2>\n'
    text += (
        "<p>Published: on the paper's machine. Method here: the paper's method on this machine. "
        "Default: our default path on this machine. Quotients are of speeds: above 1 our default "
        "is faster. A figure of ours that stands beside several published ones counts once, "
        "beside the one that is hardest to beat.</p>\n"
    )
    machines = by_machine(figures)
    for papers in machines:
        if len(machines) > 1:
            text += f"<h3>{escaped(papers[0].machine)}</h3>\n"
        text += index(papers)
    for papers in machines:
        text += "".join(paper_section(paper, sources, len(machines) > 1) for paper in papers)
    return text + "</section>\n"


def figure_files(figures: list[Figure]) -> dict[str, str]:
    """Returns the charts as SVG by file name, and the summary of all papers as papers.svg."""
    files = {}
    for place, papers in enumerate(by_machine(f for f in figures if f.kind == "papers")):
        suffix = f"-{place + 1}" if place else ""
        for found in papers:
            for chart in found.charts:
                name = f"{paper_drawings.slug(chart.name)}{suffix}.svg"
                files[name] = paper_drawings.svg_of(chart, found.machine)
        all_claims = [(found.paper.name, claim) for found in papers for claim in found.claims]
        if all_claims:
            machine = papers[0].machine
            files[f"papers{suffix}.svg"] = paper_drawings.summary_svg(all_claims, machine)
    return files
