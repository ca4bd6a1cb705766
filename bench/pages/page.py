"""The page: all sections, and what the results lack."""

from __future__ import annotations

import pathlib
from typing import Callable

from . import papers, studies, tables, throughput
from .markup import NOISY, Column, escaped, figure_text, range_text, table
from .results import Figure, Result, replaced
from .sources import Sources

Section = Callable[[list[Figure], Sources], str]
# Sections in order: the kind of figures, the title where there are none, and what measures them.
SECTIONS: dict[str, tuple[str, str, Section]] = {
    "throughput": ("Throughput", "warpseal bench", throughput.throughput_sections),
    "sizes": ("By size", "warpseal bench survey", throughput.sizes_section),
    "auto": ("The choice of auto", "warpseal bench auto", tables.auto_section),
    "files": ("File to file", "bench/file_to_file", tables.files_section),
    "file_paths": (
        "Files through a GPU",
        "bench/file_through_gpu",
        tables.file_paths_section,
    ),
    "file_copies": (
        "Plain copies of files",
        "bench/file_through_gpu",
        tables.file_copies_section,
    ),
    "rates": ("NTRU", "warpseal kem bench", tables.rates_section),
    "submission": (
        "Key encapsulation on cores, beside other code",
        "bench/kem_against_submission, bench/kem_against_mlkem_native",
        tables.submission_section,
    ),
    "round_trips": (
        "Round trips of NTRU",
        "warpseal kem bench --round-trips",
        tables.round_trips_section,
    ),
    "exchanges": (
        "Key exchanges alone",
        "warpseal tls-bench exchanges",
        tables.exchanges_section,
    ),
    "handshakes": ("TLS 1.3 handshakes", "warpseal tls-bench", tables.handshakes_section),
    "openssl_speed": (
        "openssl speed with the provider",
        "bench/openssl_speed",
        tables.openssl_speed_section,
    ),
    "openssl_keys": (
        "Short messages through the provider",
        "bench/openssl_keys",
        tables.openssl_keys_section,
    ),
    "ladder": ("The ladder", "warpseal bench ladder", studies.ladder_section),
    "papers": ("The papers' tables", "warpseal bench papers", papers.papers_section),
}


def all_figures(results: list[Result]) -> list[Figure]:
    """Returns the figures of all results; of two that measured the same thing, the later one."""
    figures: list[Figure] = []
    for result in sorted(results, key=lambda result: result.date):
        figures = replaced(figures, result.figures)
    return figures


def noisy_section(figures: list[Figure], sources: Sources) -> str:
    noisy = [f for f in figures if f.spread() > NOISY]
    measured = sum(f.range is not None for f in figures)
    text = "<section><h2>Noisy figures</h2>\n"
    if not measured:
        return text + '<p class="absent">No figure here has repetitions.</p></section>\n'
    text += (
        f"<p>{len(noisy)} of {measured} figures with repetitions have a range of more than "
        f"{100 * NOISY:.0f} % of their median. Something else ran, or the clocks changed.</p>\n"
    )
    if not noisy:
        return text + "</section>\n"
    columns = [Column("figure"), Column("where"), Column("median", "number"), Column("range")]
    rows = [
        [
            f"{escaped(f.name)} <small>[{sources.number(f)}]</small>",
            escaped(throughput.where(f)) if f.get("place") else "",
            f"{figure_text(f.median)} {escaped(f.unit)}",
            escaped(range_text(f)),
        ]
        for f in sorted(noisy, key=Figure.spread, reverse=True)
    ]
    listed = table(columns, rows, "", "wide")
    return text + f"<details><summary>The list</summary>{listed}</details></section>\n"


def absent_section(kinds: set[str], results: list[Result]) -> str:
    lines = [
        f"<li>{escaped(title)}: <code>{escaped(command)}</code></li>\n"
        for kind, (title, command, _) in SECTIONS.items()
        if kind not in kinds
    ]
    text = ""
    if lines:
        text = (
            "<section><h2>Not in these results</h2>\n<p>Each with what measures it.</p>\n"
            f'<ul class="absent">\n{"".join(lines)}</ul></section>\n'
        )
    unknown = [(r.source, key) for r in results for key in r.not_shown]
    if unknown:
        names = ", ".join(f"{pathlib.PurePath(s).name}: {key}" for s, key in unknown)
        text += f'<p class="absent">Not shown, as its meaning is not known: {escaped(names)}</p>\n'
    empty = [pathlib.PurePath(r.source).name for r in results if not r.figures]
    if empty:
        text += f'<p class="absent">Without a figure: {escaped(", ".join(empty))}</p>\n'
    return text


def html_page(results: list[Result]) -> str:
    """Returns one self-contained page without scripts."""
    figures = all_figures(results)
    sources = Sources([Result("", {}, figures)])
    machines = list(dict.fromkeys(f.run.text("machine") for f in figures))
    title = "Warpseal" + (f" on {'; '.join(machines)}" if machines else "")
    style = (pathlib.Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    kinds = {figure.kind for figure in figures}
    body = ""
    for kind in [*SECTIONS, *sorted(kinds - SECTIONS.keys())]:
        own = [figure for figure in figures if figure.kind == kind]
        if own and kind in SECTIONS:
            body += SECTIONS[kind][2](own, sources)
        elif own:
            body += tables.other_section(kind, own, sources)
    body += noisy_section(figures, sources) + absent_section(kinds, results) + sources.section()
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escaped(title)}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{escaped(title)}</h1>
<p>GB/s are 10<sup>9</sup> bytes of data a second, counted once. Figures are medians of
repetitions; ± marks a range of more than {100 * NOISY:.0f} % of the median. Numbers in brackets
name the run, at the end of the page. Every output was compared before it had a figure.</p>
{body}</main>
</body>
</html>
"""
