"""The papers' section and `bench/page --figures`: outcomes, tables, and charts true to their
figures."""

import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/cli"))
from program import case, check, check_equal, main  # noqa: E402

from markup import table_rows, texts  # noqa: E402
from samples import HEAD  # noqa: E402

# Every drawing of measurements in the papers, by file name, and tables drawn besides.
DRAWINGS = [
    *(f"P3-figure-{number}" for number in (8, 9)),
    *(f"P4-figure-{number}" for number in (8, 9, 10, 12, 13)),
    *(f"P5-figure-{number}" for number in range(6, 12)),
]
TABLES = [
    "P1-table-3",
    "P1-section-4-1",
    "P1-section-4-2",
    *(f"P2-table-2-Camellia-{bits}" for bits in (128, 192, 256)),
]
MOST_BYTES = 300_000


def row(name, published, method, default, **more):
    return {
        "paper": "P1",
        "table": "table 3",
        "title": "ciphers",
        "row": name,
        "unit": "Gbit/s",
        "published": published,
        "published_on": "an old card",
        "method": method,
        "method_what": "the ladder's step",
        "default": default,
        "default_what": f"our {name}",
        **more,
    }


def report(*rows, machine="a machine"):
    return {"head": {**HEAD, "machine": machine}, "rows": list(rows)}


def section(p, *reports):
    """Returns the papers' section of the page of these reports."""
    names = []
    for i, content in enumerate(reports):
        names.append(f"report{i}.json")
        p.write(names[-1], json.dumps(content).encode())
    p.ok(*names, "--output", "page.html")
    text = p.read("page.html").decode()
    start = text.index('<section id="papers">')
    return text[start : text.index("<h2>", text.index("<h2>", start) + 4)]


def figures(p, *names):
    p.ok(*names, "--figures", "figures")
    folder = pathlib.Path(p.file("figures"))
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def committed():
    return sorted((ROOT / "bench/results").glob("*.json"))


@case
def rows_that_differ_only_in_unit_are_kept(p):
    rows = [
        row("Camellia", 9.72, 1.6, 0.5, unit="s", default_what="camellia"),
        row("Camellia", 452.16, 2612.0, 7598.0, default_what="camellia"),
    ]
    text = section(p, report(*rows), report(rows[1]))
    cells = [cells for cells in table_rows(text) if cells[0].startswith("Camellia")]
    wanted = [
        ["Camellia s", "9.72", "1.60", "0.5", "19.4×", "3.20×"],
        ["Camellia Gbit/s", "452.16", "2612", "7598", "16.8×", "2.91×"],
    ]
    check_equal(cells, wanted, "rows")
    check("<b>1 of 1</b> distinct figures" in text, "one figure of ours in two units")


@case
def digits_are_the_papers(p):
    rows = [
        row("a", 7.0, 1.0, 9.0, published_text="7.0"),
        row("b", 11662.3, 1.0, 90000.0),
        row("c", 7.4999, 1.0, 9.0),
        row("d", 25, 1.0, 9.0, published_text="25", published_bound="at least"),
    ]
    cells = {cells[0]: cells[1] for cells in table_rows(section(p, report(*rows)))}
    got = [cells[name] for name in "abcd"]
    check_equal(got, ["7.0", "11662.3", "7.4999", "at least 25"], "published")


@case
def outcomes_begin_with_figures_that_are_not_beaten(p):
    rows = [
        row("fast", 1.0, 2.0, 8.0),
        row("fast, an older card", 0.5, 2.0, 8.0, default_what="our fast"),
        row("slower than published", 10.0, 2.0, 8.0),
        row("slower than the method", 1.0, 9.0, 8.0),
        row("quotient", 25.0, 99.0, 5.0, unit="times"),
        row("below a bound", 1.0, 0.5, 0.1, unit="times", published_bound="below"),
        row("not a speed", 5.0, 4.0, 3.0, unit="registers"),
        row("time", 4.0, 3.0, 1.0, unit="ms"),
        row("named twice", 4.0, 3.0, 8.0, figure="P1 one"),
        row("named twice again", 5.0, 3.0, 8.5, figure="P1 one"),
    ]
    text = section(p, report(*rows))
    lines = [texts(line) for line in re.findall('<p class="outcome">.*?</p>', text)]
    check_equal(
        lines,
        [
            "Not beaten: table 3: slower than published (10 Gbit/s published, 8.00 here), 0.80×; "
            "table 3: slower than the method (1 Gbit/s published, 8.00 here), 8.00×; "
            "table 3: quotient (25 times published, 5.00 here), 0.20×.",
            "3 of 6 distinct figures are beaten: table 3: fast 8.00×; table 3: time 4.00×; "
            "one 1.70×.",
        ],
        "outcome",
    )
    index = [cells for cells in table_rows(text) if cells[0] == "P1"]
    check_equal([cells[3] for cells in index], ["3 of 6"], "index")


@case
def nothing_is_left_out_silently(p):
    rows = [
        row("scaled", 1.0, 2.0, 8.0, scaled="2^26 blocks"),
        row("noisy", 1.0, 2.0, 8.5, noisy=True),
        row("absent", 1.0, None, None, table="table 4", not_run="no GPU"),
        row("clock", 1.0, 2.0, 9.0, default_per_unit_ratio=3.5, per_unit="core and GHz"),
        row("saved", 33.0, -250.0, -0.5, unit="% of the time", table="section 4"),
    ]
    text = section(p, report(*rows))
    own = {cells[0]: cells for cells in table_rows(text)}
    check("scaled measured: 2^26 blocks" in own, f"a scaled row: {sorted(own)}")
    check_equal(own["noisy"][3], "8.50 ±", "a noisy figure")
    check("table 4: ciphers" in text and "not run: no GPU (1 row)" in text, "a table not run")
    check_equal(own["clock"][5], "3.50×", "by unit and GHz")
    check_equal(own["saved"][1:4], ["33", "-250", "-0.5"], "time that is lost instead of saved")


@case
def what_was_not_measured_has_no_chart(p):
    rows = [row("GPU over cores", 25, None, None, paper="P3", not_run="no GPU")]
    rows[0]["table"] = "figure 9"
    text = section(p, report(*rows))
    check("data-drawing" not in text, "a chart of published figures alone")
    check(
        "Not measured here: figure 8, time against input size, GPU and CPU; figure 9" in text, text
    )
    index = [cells for cells in table_rows(text) if cells[0] == "P3"]
    check_equal([cells[3:] for cells in index], [["–", "nothing was compared"]], "index")


@case
def machines_have_sections_of_their_own(p):
    rows = [row("a", 1.0, 2.0, 8.0), row("b", 1.0, 2.0, 8.0)]
    text = section(p, report(*rows), report(rows[0], machine="another"))
    ids = re.findall(r' id="([^"]*)"', text)
    check_equal([name for name in ids if name.startswith("P1")][:1], ["P1"], "anchors")
    check('id="P1-2"' in text and 'href="#P1-2"' in text, "the second machine's anchor")
    drawn = [name for name in ids if "table-3" in name]
    check_equal(len(set(drawn)), len(drawn), "ids of bars")


@case
def each_drawing_has_a_file(p):
    files = figures(p, *committed())
    names = [*DRAWINGS, *TABLES, "papers"]
    of_second_machine = {f"{name}-2.svg" for name in names}
    first = set(files) - (of_second_machine - {f"{name}.svg" for name in names})
    check_equal(sorted(first), sorted(f"{name}.svg" for name in names), "files")
    for name, text in files.items():
        check(len(text.encode()) < MOST_BYTES, f"{name} has {len(text)} bytes")
        check("<metadata" not in text, f"{name} has a date or a version")
        check("<text" in text and "http://www.w3.org/2000/svg" in text, f"text in {name}")
    check_equal(figures(p, *committed()), files, "a second run")


@case
def committed_summary_is_of_the_results(p):
    files = figures(p, *committed())
    kept = (ROOT / "docs/papers.svg").read_text()
    check_equal(
        svg_texts(kept),
        svg_texts(files["papers.svg"]),
        "docs/papers.svg: bench/page " "bench/results/*.json --figures DIR writes it",
    )


def svg_texts(text):
    return [texts(found) for found in re.findall("<text.*?</text>", text, re.S)]


def bars_by_role(text):
    """Returns the lengths of the bars by role, in the order of the chart."""
    found = {}
    pattern = (
        r'<g id="[^"]*-(published|method|default)-[\d.-]*">\s*<path d="M ([\d.]+) \S+\s+L ([\d.]+)'
    )
    for role, start, end in re.findall(pattern, text):
        found.setdefault(role, []).append(float(end) - float(start))
    return found


@case
def bars_are_as_long_as_their_figures(p):
    rows = [
        row("Camellia-128, table in global memory", 100.0, 200.0, 800.0, paper="P2"),
        row("Camellia-128, other", 50.0, 400.0, 850.0, paper="P2"),
    ]
    for line in rows:
        line["table"] = "table 2"
    p.write("report.json", json.dumps(report(*rows)).encode())
    text = figures(p, "report.json")["P2-table-2-Camellia-128.svg"]
    lengths = bars_by_role(text)
    unit = lengths["default"][0] / 800
    wanted = {"published": [100, 50], "method": [200, 400], "default": [800, 850]}
    got = {role: [round(x / unit) for x in values] for role, values in lengths.items()}
    check_equal(got, wanted, "bars")


@case
def curves_are_where_their_figures_are(p):
    counts, improvements = [100, 1000, 10000, 100000], [10.0, 100.0, 150.0, 400.0]
    rows = [
        row(f"encapsulation, N = {n}", None, y, 3 * y, unit="times", count=n, paper="P4")
        for n, y in zip(counts, improvements)
    ]
    for line in rows:
        line["table"] = "figures 12 and 13"
    p.write("report.json", json.dumps(report(*rows)).encode())
    text = figures(p, "report.json")["P4-figure-12.svg"]
    path = re.search(r'-method-1">\s*<path d="(M[^"]*)"', text)[1]
    points = [(float(x), float(y)) for x, y in re.findall(r"[ML] (\S+) (\S+)", path)]
    check_equal(len(points), 4, "points")
    across = [points[i + 1][0] - points[i][0] for i in range(3)]
    check(max(across) - min(across) < 0.01, f"decades: {across}")
    decade = points[0][1] - points[1][1]
    for (_, y), figure in zip(points, improvements):
        wanted = points[0][1] - decade * math.log10(figure / 10)
        check(abs(y - wanted) < 0.05, f"{figure} is at {y}, not at {wanted}")


@case
def errors_of_figures(p):
    p.write("empty.json", json.dumps(report()).encode())
    result = p.run("empty.json", "--figures", "figures")
    check_equal((result.code, result.err.count("\n")), (1, 1), "exit code and lines")
    check("no figures of papers" in result.err, result.err)
    p.write("report.json", json.dumps(report(row("a", 1.0, 2.0, 3.0))).encode())
    p.write("file", b"")
    result = p.run("report.json", "--figures", "file")
    check_equal(result.code, 1, "a file in place of the folder")
    check("cannot write file:" in result.err, result.err)


main()
