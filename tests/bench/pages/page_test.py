"""`bench/page`: the page has every figure of the results and no other, with nothing to load."""

import copy
import html
import html.parser
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/cli"))
from program import case, check, check_equal, main  # noqa: E402

import samples  # noqa: E402
from markup import table_rows  # noqa: E402
from samples import HEAD, measurements, row  # noqa: E402

VOID = {"meta", "br", "link", "img", "input", "hr"}
LOADS = ("src", "href", "srcset", "data", "action", "xlink:href")


class Markup(html.parser.HTMLParser):
    """Checks that a page is well formed and has nothing that a browser would load or run."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags = [], []
        self.feed(text)
        self.close()
        check_equal(self.open, [], "unclosed elements")

    def handle_starttag(self, tag, attributes):
        refused = ("script", "img", "link", "iframe", "object", "embed", "base", "form")
        check(tag not in refused, f"<{tag}>")
        for name, value in attributes:
            local = name == "href" and value.startswith("#")
            check(
                not name.startswith("on") and (name not in LOADS or local), f"{tag} {name}={value}"
            )
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        check_equal(self.open.pop(), tag, "what is closed")

    def count(self, tag, name=None):
        return sum(t == tag and (not name or a.get("class") == name) for t, a in self.tags)

    def labels(self):
        return [a["aria-label"] for tag, a in self.tags if tag == "svg" and a["class"] == "bar"]


def draw(p, *reports):
    names = []
    for i, report in enumerate(reports):
        names.append(f"report{i}.json")
        p.write(names[-1], json.dumps(report).encode())
    p.ok(*names, "--output", "page.html")
    return p.read("page.html").decode()


def with_figure(report):
    keys = ("gigabytes_per_second", "operations_per_second")
    return [r for r in report["rows"] if any(r.get(key) for key in keys)]


@case
def everything_is_there_once(p):
    text = draw(p, *samples.all_reports())
    page, report = Markup(text), measurements()
    bars = len(report["rows"]) + len(with_figure(samples.ladder()))
    check_equal(page.count("svg", "bar"), bars, "bars")
    check_equal(page.count("svg", "sizes"), 1, "charts by size")
    check_equal(page.count("table", "wide papers"), 2, "papers")
    check_equal(page.count("table", "wide ladder"), 2, "ladders: of ciphers and of NTRU")
    check_equal(text.count("not run: no GPU"), 2, "rows of papers that did not run")
    not_run = text.count("not run: too many threads") + text.count("not run: out of memory")
    check_equal(not_run, 2, "steps that did not run")
    check_equal((page.count("main"), page.count("h1")), (1, 1), "outline")
    check("Not in these results" not in text, "a kind of figure was not recognized")
    for wanted in ("1 of 1 points", "0 of 1 points"):
        check_equal(wanted in text, wanted.startswith("0"), wanted)


@case
def names_are_text(p):
    text = draw(p, *samples.all_reports())
    Markup(text)
    for bad in ("<script", "onerror=y>", "@import", "http://", "https://"):
        check(bad not in text, f"{bad} is in the page")
    check(not re.search(r"url\((?!#)", text), "the page loads something")
    check(text.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 20, "escaped names")
    check("default-src 'none'" in text, "the page has no content security policy")


@case
def bars_have_their_bound_and_range(p):
    text = draw(p, measurements())
    labels = Markup(text).labels()
    check(
        any(
            label.startswith("900 GB/s (891 to 909 GB/s of 3), at most 1200: 112")
            for label in labels
        ),
        labels,
    )
    check(
        any(label.startswith("48.5 GB/s") and "at most 50.5" in label for label in labels), labels
    )
    check_equal(sum("at most" in label for label in labels), 3, "bounds")
    rows = table_rows(text)
    check_equal(
        [
            r[3]
            for r in rows
            if r[0].startswith(("ctr", "ecb")) and len(r) > 3 and r[3].endswith("%")
        ],
        ["75 %", "80 %", "96 %"],
        "of the bound",
    )
    ends = [float(x) for x in re.findall(r'class="mark" d="M([\d.]+) ', text)]
    check_equal(
        [round(x) for x in ends[:2]], [1000, 625], "places of the bounds on a scale to 1200"
    )
    widths = [float(x) for x in re.findall(r'class="ours" width="([\d.]+)"', text)]
    check_equal([round(x) for x in widths[:3]], [750, 500, 42], "lengths of the bars")
    noisy = re.findall(r'class="range" d="M([\d.]+) 5H([\d.]+)"', text)
    check_equal(
        [(round(float(a)), round(float(b))) for a, b in noisy],
        [(800, 1000)],
        "line over the noisy range",
    )


@case
def openssl_stands_beside(p):
    rows = table_rows(draw(p, measurements()))
    check_equal(
        [r[-1] for r in rows if r[-1].endswith("×*")], ["2.50×*"] * 2, "times OpenSSL's ECB"
    )
    text = draw(
        p,
        {
            "head": HEAD,
            "rows": [
                row(
                    "des",
                    "ecb",
                    2.0,
                    device="avx2",
                    place="host",
                    openssl_gigabytes_per_second=4.0,
                    ratio=0.5,
                )
            ],
        },
    )
    check_equal(
        [r[-1] for r in table_rows(text) if r[-1].endswith("×")], ["0.50×"], "times OpenSSL"
    )
    check_equal(text.count('class="mark"'), 2, "marker of the bar and its legend")


@case
def facts_equal_the_report(p):
    text = draw(p, measurements())
    facts = {cells[0]: cells[1] for cells in table_rows(text) if len(cells) == 2}
    wanted = {
        "GPU": HEAD["gpu"] + ", compute capability 9.0",
        "Multiprocessors": "132 at 1980 MHz at most",
        "GPU memory": "150.0 GiB, 4917 GB/s",
        "Shared memory": "227 KiB a block",
        "CPU": "Xeon, 16 cores",
    }
    check_equal({name: facts.get(name) for name in wanted}, wanted, "facts")
    notes = re.findall(r'<p class="source">(.*?)</p>', text)
    check(
        notes and all("2026-11-21, commit abc" in note and "Xeon" in note for note in notes), notes
    )


@case
def the_best_of_several_yardsticks(p):
    text = draw(p, measurements())
    found = re.search(r'<span title="([^"]*)">5.00×</span>', text)
    check(found, "no ratio over the best")
    title = html.unescape(found[1])
    for word in ("libgcrypt 1.11.0: 1.50 GB/s", "openssl 3.0.19: 0.25", "botan: NOT RUN: Botan"):
        check(word in title, f"{word}: {title}")
    check_equal((text.count("× best other"), text.count("the best other library")), (1, 1), "names")
    check("× OpenSSL" in text, "cards beside OpenSSL alone")


@case
def noisy_figures_are_marked(p):
    text = draw(p, measurements())
    check_equal(text.count('class="noisy"'), 1, "marks")
    check("1 of 40 figures with repetitions" in text, "count of noisy figures")
    check("144 to 180 GB/s of 3" in text, "range of the noisy figure")


@case
def each_distinct_figure_has_a_bar(p):
    """In one report and in a report for each."""
    others = [
        {},
        {"cipher": "aes-256"},
        {"mode": "ecb"},
        {"operation": "decrypt"},
        {"device": "cuda:0,1"},
        {"place": "host"},
        {"threads": 2},
        {"bytes": 1 << 20},
        {"message_bytes": 4096},
        {"message_bytes": 4096, "key_per_message": True},
        {"place": "host", "pinned": True},
        {"data_unit_bytes": 512},
        {"buffer_per_thread": True},
    ]
    rows = [{**row("aes-128", "ctr", 1.0), **other} for other in others]
    together, apart = [{"head": HEAD, "rows": rows}], [{"head": HEAD, "rows": [r]} for r in rows]
    for reports in (together, apart):
        check_equal(Markup(draw(p, *reports)).count("svg", "bar"), len(rows), "bars")


@case
def the_later_result_wins(p):
    """Whatever the order of the files; another machine's figure stays."""
    later, other = copy.deepcopy(measurements()), copy.deepcopy(measurements())
    later["head"]["date"], later["rows"], later["sizes"] = (
        "2026-11-22T00:00:00Z",
        [row("aes-128", "ctr", 777.0)],
        [],
    )
    other["head"]["machine"], other["rows"] = "another", [row("aes-128", "ctr", 555.0)]
    for order in ((measurements(), later, other), (later, other, measurements())):
        labels = Markup(draw(p, *order)).labels()
        for figure, times in ((777, 1), (900, 0), (555, 1)):
            check_equal(
                sum(label.startswith(f"{figure} GB/s") for label in labels),
                times,
                f"bars of {figure}",
            )


@case
def points_are_to_scale(p):
    text = draw(p, measurements())
    chart = re.search(r'<svg class="sizes".*?</svg>', text, re.S)[0]
    line = re.search(r'd="(M [^"]*)"[^>]*style="[^"]*stroke: var\(--a\)', chart)
    points = [(float(x), float(y)) for x, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", line[1])]
    check_equal(len(points), 11, "points of the first line")
    steps = [(b[0] - a[0], a[1] - b[1]) for a, b in zip(points, points[1:])]
    for dx, dy in steps:
        check(abs(dx - steps[0][0]) < 0.1 and abs(dy - steps[0][1]) < 0.1, f"uneven steps: {steps}")
    decade = [float(re.search(rf'y="([\d.]+)"[^>]*>{tick}<', chart)[1]) for tick in ("10", "100")]
    check(abs(steps[0][1] - (decade[0] - decade[1]) * math.log10(3)) < 0.2, f"{steps} of {decade}")
    table = [cells for cells in table_rows(text) if re.fullmatch(r"\d+ [KMG]iB", cells[0])]
    wanted = [[float(f"{0.01 * 3 ** i:.{3 if i > 4 else 2}g}")] * 3 for i in range(11)]
    check_equal([[float(cell) for cell in cells[1:]] for cells in table], wanted, "as a table")


@case
def columns_of_the_studies(p):
    rows = table_rows(draw(p, samples.ladder(), samples.papers()))
    steps = [
        cells
        for cells in rows
        if cells[0].startswith(("step ", "ntru "))
        and len(cells) == 7
        and not cells[0].startswith("step:")
    ]
    check_equal(
        [cells[2] for cells in steps], ["12.5", "300", "–", "894", "1.50 M", "–"], "figures"
    )
    check_equal([cells[3:] for cells in steps[:4]], [["40", "0", "4096", "256"]] * 4, "resources")
    own = [cells for cells in rows if cells[0] == "row 0"]
    check_equal(
        [cells[1:] for cells in own],
        [["3.1", "120", "6100", "1968×", "30.5×", "50.8×"]] * 2,
        "papers",
    )


@case
def other_tables(p):
    rows = table_rows(draw(p, *samples.all_reports()))

    def of(name, length):
        return [cells for cells in rows if cells[0].startswith(name) and len(cells) == length]

    check_equal(
        of("X25519", 10)[0][1:],
        ["1295", "46.9", "64.4", "389", "378.8 to 438.8", "1.00", "159", "–", "0"],
        "handshakes",
    )
    check_equal(
        of("server encapsulates: one call", 7)[0][1:],
        ["100", "356 k", "1.20", "1.40", "2.80", "100"],
        "exchanges",
    )
    check_equal(
        of("ntruhps2048509", 6)[0][1:], ["cuda:0,1", "100 M", "0", "100 M", "10.4"], "round trips"
    )
    check_equal(of("aria-128-ctr", 3)[0][1:], ["4.39 45.3×", "4.39 45.3×"], "openssl speed")
    check_equal(of("aes-128-gcm", 2)[0][1:], ["199 ± 0.58×"], "openssl keys")
    check_equal(
        of("ntruhrss701 keygen", 8)[1][1:],
        ["avx2", "1", "64", "36.5 k", "two engines", "26.6 k", "1.37×"],
        "submission",
    )
    check_equal(of("cp", 6)[0][1:], ["4 GiB", "1.53", "2.80", "1.00", "31.7"], "files")
    copied = "plain copy by 16 processes, synced"
    files = of("tmpfs", 8)
    check_equal(
        [row[1:] for row in files],
        [
            ["aria-256-gcm encrypt", "cuda", "1 GiB", "9.25", "12.5", copied, "yes"],
            ["aria-256-gcm encrypt", "16 cores", "1 GiB", "7.50", "–", "–", "–"],
            ["aria-256-gcm encrypt", "1 core", "1 GiB", "1.25", "–", "–", "–"],
        ],
        "files through a GPU",
    )
    check_equal(of("disk", 8)[3][2:5], ["16 cores", "1 GiB", "--budget"], "a file that was not run")
    check_equal(of("tmpfs", 4)[0][1:], ["copy by 16 processes", "1 GiB", "12.5"], "copies")
    check_equal(
        of("aes-256-ctr encrypt", 8)[0][1:],
        ["64 KiB", "pinned", "vaes512", "13.5", "cuda", "26.0", "0.52×"],
        "auto",
    )
    check_equal(
        of("ntruhps4096821", 5)[0][1:],
        ["In GPU memory", "64", "12.7 M ± p99 2.00 ms", "12.7 M ± p99 2.00 ms"],
        "rates",
    )


@case
def absent_results_are_named(p):
    """A run of chosen ciphers, an interrupted run, and facts that an older program left out."""
    report = measurements()
    del report["sizes"]
    text = draw(p, report)
    lacks = re.search(r"Not in these results.*?</ul>", text, re.S)[0]
    check_equal(lacks.count("<li>"), 14, "kinds that are not there")
    check("By size: <code>warpseal bench survey</code>" in lacks, lacks)
    text = draw(p, {"head": {"machine": "old", "date": "2025", "commit": "c"}, "rows": []})
    check("Without a figure: report0.json" in text and "No figure here" in text, text)
    old = {key: value for key, value in row("aes-128", "ctr", 5.0).items() if key != "repetitions"}
    text = draw(
        p, {"head": {"machine": "old", "date": "2025", "commit": "c"}, "rows": [old], "news": 1}
    )
    check_equal(Markup(text).labels(), ["5.00 GB/s"], "the bar, without a bound or a range")
    check("Not shown, as its meaning is not known: report0.json: news" in text, "an unknown key")
    check("at most" not in text and "of bound" not in text, "a bound that is not in the report")


@case
def committed_results(p):
    """Each makes a page with all its figures, alone and with the others."""
    paths = sorted((ROOT / "bench/results").glob("*.json"))
    check(len(paths) > 3, "no results")
    drawn = 0
    for path in paths:
        p.ok(path, "--output", "page.html")
        page = Markup(p.read("page.html").decode())
        data = json.loads(path.read_text())
        kinds = {"throughput": 0, "ladder": 0, "papers": 0}
        for section in data["sections"]:
            if section["kind"] in kinds:
                kinds[section["kind"]] += sum("median" in f for f in section["figures"])
        check_equal(
            page.count("svg", "bar"), kinds["throughput"] + kinds["ladder"], f"bars of {path.name}"
        )
        drawn += len(page.labels())
    p.ok(*paths, "--output", "page.html")
    check_equal(
        Markup(p.read("page.html").decode()).count("svg", "bar"), drawn, "bars of all files"
    )


@case
def output_and_usage(p):
    p.write("report.json", json.dumps(measurements()).encode())
    page = p.ok("report.json", "--output", "-").out
    check(page.startswith(b"<!DOCTYPE html>") and page.endswith(b"</html>\n"), "the page on stdout")
    p.ok("report.json")
    check_equal(p.read("page.html"), page, "the page in page.html")
    result = p.run("report.json", "--output", "nowhere/page.html")
    check_equal((result.code, result.err.count("\n")), (1, 1), "exit code and lines of stderr")
    check("cannot write nowhere/page.html: No such file" in result.err, result.err)
    for wrong in ((), ("--outptu", "x", "report.json")):
        check_equal(p.run(*wrong).code, 2, f"exit code of {wrong}")


main()
