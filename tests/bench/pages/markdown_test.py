"""Tables that scripts/readme-table writes: files through a GPU, and the papers."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "bench")]
from pages import files_markdown, papers_markdown, reports  # noqa: E402
from program import case, check, check_equal, main  # noqa: E402

import samples  # noqa: E402


def number(value):
    return "–" if value is None else f"{value:.2f}"


def figures_of(report, kind):
    return [f for f in reports.read_report(report, "x").figures if f.kind == kind]


@case
def files_have_a_row_for_each_store_and_cipher(p):
    figures = figures_of(samples.files_through_a_gpu(), "file_paths")
    lines = files_markdown.markdown(figures, number, "data")
    check_equal(
        lines[2:],
        [
            "| store | | 1 core | 16 cores | GPU | its bound | a GPU pays |",
            "|---|---|---:|---:|---:|---:|---|",
            "| tmpfs | aria-256-gcm encrypt | 1.25 | 7.50 | 9.25 | 12.50, copy | yes |",
            "| disk | aria-256-gcm encrypt | 1.50 | 1.88 | 1.75 | 2.00, link "
            "| no; yes beside 1 core; from 3.0 GiB on |",
            "| disk | des-ede3-ctr encrypt | – | – | – | – | – |",
            "",
        ],
        "table",
    )
    check("1 GiB" in lines[0] and lines[0].endswith("; data"), lines[0])
    larger = samples.files_through_a_gpu()
    for row in larger["file_paths"][:3]:
        row["bytes"] = 8 << 30
    lines = files_markdown.markdown(figures_of(larger, "file_paths"), number, "data")
    check_equal(sum(line.startswith("**") for line in lines), 2, "a table for each size")


def paper_row(table, name, unit, published, method, default, **more):
    row = {"paper": "P2", "table": table, "title": "t", "row": name, "unit": unit}
    row |= {"published": published, "published_on": "a card", "method": method, "default": default}
    return {**row, "differs": "", **more}


def papers(rows, **head):
    return figures_of({"head": {**samples.HEAD, **head}, "rows": rows}, "papers")


@case
def a_paper_has_its_rows_once(p):
    figures = papers(
        [
            paper_row("table 2", "a", "s", 9.72, 2.5, 0.5),
            paper_row("table 2", "a", "Gbit/s", 452.2, 2612.0, 7598.0, published_text="452.16"),
            paper_row("section 4.2", "b", "% of the time", 8.74, 0.25, None, published_bound="about"),
            paper_row("section 4.2", "c", "ms", 10, None, 4.0),
            paper_row("another", "d", "s", 1, 1, 1),
        ]
    )
    lines = papers_markdown.markdown("P2", figures, lambda rows: f"{len(rows)} rows")
    check_equal(
        lines[4:],
        [
            "| table 2 | a | Gbit/s | 452.16 | 2612 | 7598 | 16.8× |",
            "| section 4.2 | b | % of the time | about 8.74 | 0.25 | – | – |",
            "|  | c | ms | 10 | – | 4 | 2.5× |",
            "",
        ],
        "rows",
    )
    check("3 rows" in lines[0], lines[0])
    check("bench papers P3" in papers_markdown.markdown("P3", figures, str)[0], "without figures")


@case
def the_newest_run_of_the_machine_with_most_figures(p):
    one = paper_row("table 2", "a", "Gbit/s", 1.0, 2.0, 3.0)
    two = paper_row("table 2", "b", "Gbit/s", 1.0, 2.0, 3.0)
    old = papers([one, two], machine="large", date="2026-11-01T00:00:00Z")
    new = papers([{**one, "default": 4.0}], machine="large", date="2026-11-02T00:00:00Z")
    small = papers([{**one, "default": 9.0}], machine="small", date="2026-11-03T00:00:00Z")
    bare = papers(
        [{**row, "method": None, "default": None} for row in (one, two, one | {"row": "c"})],
        machine="bare",
        date="2026-11-04T00:00:00Z",
    )
    rows = papers_markdown.shown("P2", new + bare + small + old)
    check_equal([(f.name, f.median) for f in rows], [("a", 4.0), ("b", 3.0)], "rows")


main()
