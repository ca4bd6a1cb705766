"""`warpseal bench --html`: what it measures for a page, and the bounds of GPUs."""

import html.parser
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import case, check, check_equal, main  # noqa: E402

FAULTY = os.environ["WARPSEAL_FAULTY_PROGRAM"]
HOSTILE = """</title><script>alert(1)</script>&amp;"'><img src=x onerror=y>"""
HEAD = {"machine": "Xeon, 16 cores, " + HOSTILE, "gpu": "H200 " + HOSTILE, "driver": "13.0", "date": "2026-11-21T00:00:00Z", "commit": "abc",
        "warpseal": "0.1.0", "openssl": "OpenSSL 3", "cpu": "Xeon", "cores": 16, "system": HOSTILE, "gpu_compute_capability": 90,
        "gpu_multiprocessors": 132, "gpu_clock_megahertz": 1980, "gpu_memory_bytes": 150 << 30, "gpu_memory_bytes_per_second": 4917 * 10**9,
        "gpu_shared_bytes_per_block": 232448}
# Shared memory: 132 multiprocessors, 1.98 GHz, 32 banks. Logic: 64 lanes.
LOOKUPS, LOGIC = 132 * 1.98 * 32, 132 * 1.98 * 64
BOUNDS = {("aes-128", "ctr"): LOOKUPS / 112 * 16, ("aes-256", "ecb"): LOOKUPS / 208 * 16, ("aria-128", "ctr"): LOOKUPS / 162 * 16,
          ("camellia-128", "ctr"): LOOKUPS / 124 * 16, ("des", "ecb"): LOGIC / ((3584 + 640) / 32) * 8,
          ("des", "ctr"): LOGIC / ((3584 + 320) / 32) * 8, ("des-ede3", "cbc"): LOOKUPS / 384 * 8,
          ("aes-128", "ccm"): LOOKUPS / (160 + 112) * 16}


def row(cipher, mode, figure, **more):
    return {"cipher": cipher, "mode": mode, "operation": "encrypt", "device": "cuda", "place": "device", "threads": 1, "bytes": 1 << 30,
            "message_bytes": 1 << 30, "gigabytes_per_second": figure, "openssl_gigabytes_per_second": None, "ratio": None, **more}


def measurements():
    """Measurements of a fictitious machine: with bounds, without, beside OpenSSL, by size; and
    names that would be markup."""
    rows = [row(cipher, mode, round(0.9 * bound, 1)) for (cipher, mode), bound in BOUNDS.items()]
    rows += [row(HOSTILE, "ctr", 50.0), row("aes-128", "ctr", 48.5, place="host", pinned=True, link_gigabytes_per_second=50.5)]
    rows += [row("aes-256", "gcm", figure, device="vaes512", place="host", threads=16, bytes=65536, message_bytes=65536, operation=operation,
                 buffer_per_thread=True, openssl_gigabytes_per_second=figure / 2.5, ratio=2.5, openssl_yardstick=HOSTILE)
             for operation, figure in (("seal", 180.0), ("open", 0.0123))]
    sizes = [row("aes-128", "ctr", 0.01 * 3 ** i, bytes=1024 * 4 ** i, **place) for i in range(11)
             for place in ({}, {"place": "host"}, {"place": "host", "device": "vaes512", "threads": 16})]
    return {"head": HEAD, "rows": rows, "sizes": sizes}


def studies():
    """Reports as warpseal-bench writes them."""
    ladder = [{"step": f"step {i} {HOSTILE}", "paper": "P1" if i == 0 else None, "cipher": "aes-128", "mode": "ecb", "keystream_only": i == 1,
               "product": i == 3, "what": "a table " + HOSTILE, "taught": HOSTILE, "gigabytes_per_second": figure,
               "not_run": None if figure else "too many threads", "registers": 40, "local_bytes": 0, "shared_bytes": 4096,
               "threads_per_block": 256} for i, figure in enumerate((12.5, 300.25, None, 894.0))]
    ladder += [{"step": f"ntru {i} {HOSTILE}", "paper": "P4", "set": "ntruhps4096821", "operation": "encapsulate", "product": False, "what": "a block",
                "taught": "", "operations_per_second": figure, "not_run": None if figure else "out of memory"} for i, figure in enumerate((1.5e6, None))]
    papers = [{"paper": paper, "table": "t", "title": "Throughput " + HOSTILE, "row": f"{i}", "unit": "Gbit/s", "published": 3.1,
               "published_bound": None, "published_on": "8800 GTS", "method": method, "method_what": "8-bit", "default": default,
               "default_what": "aes-128-ecb", "ratio": default and default / method, "not_run": None if default else "no GPU",
               "differs": HOSTILE} for paper in ("P1", "P2") for i, (method, default) in enumerate(((120.0, 6100.0), (None, None)))]
    return {"head": HEAD, "rows": ladder}, {"head": HEAD, "rows": papers}


def make(p, *reports):
    names = []
    for i, report in enumerate(reports):
        names.append(f"report{i}.json")
        p.write(names[-1], json.dumps(report).encode())
    p.ok("bench", "--html", "page.html", "--from", ",".join(names))
    return p.file("page.html")


class Markup(html.parser.HTMLParser):
    """Checks that the page is well formed and has nothing that a browser would load or run."""
    VOID = {"meta", "br", "link", "img", "input", "hr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.cells = [], [], []
        self.feed(text)
        self.close()
        check_equal(self.open, [], "unclosed elements")

    def handle_starttag(self, tag, attributes):
        check(tag not in ("script", "img", "link", "iframe", "object", "embed", "base", "form"), f"<{tag}>")
        for name, value in attributes:
            check(not name.startswith("on") and name not in ("src", "href", "srcset", "data", "action", "xlink:href"), f"{tag} {name}={value}")
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID and tag not in ("path", "rect", "circle") or (tag in ("path", "rect", "circle") and not self.rawdata):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        check(tag in ("path", "rect", "circle"), f"<{tag}/>")
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        check_equal(self.open.pop(), tag, "what is closed")

    def count(self, tag, **wanted):
        return sum(name == tag and all(attributes.get(key.rstrip("_")) == value for key, value in wanted.items()) for name, attributes in self.tags)


def page_of_everything(p):
    return make(p, measurements(), *studies())


def table_rows(text):
    """Returns the cell texts of every row of every table."""
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<t[hd].*?</t[hd]>", line, re.S)]
            for line in re.findall("<tr>.*?</tr>", text, re.S)]


@case
def bounds_are_as_documented(p):
    text = pathlib.Path(page_of_everything(p)).read_text()
    labels = [a["aria-label"] for tag, a in Markup(text).tags if tag == "svg" and a.get("class") == "bar"]
    for (cipher, mode), bound in BOUNDS.items():
        figure = round(0.9 * bound, 1)
        said = [label for label in labels if label.startswith(f"{figure:.0f} GB/s, at most {bound:.0f}: ")]
        check(said, f"{cipher}-{mode}: no bound of {bound:.0f} in {labels}")
    check([label for label in labels if label.startswith("48.5 GB/s, at most 50.5: plain copies")], "no bound of the link")
    check_equal(sum("at most" in label for label in labels), len(BOUNDS) + 1, "bounds")


@case
def memory_bounds_what_passes_through_it(p):
    """A MAC reads and writes nothing; LEA in CCM is LEA twice."""
    slow = dict(HEAD, gpu_memory_bytes_per_second=100 * 10**9)
    text = pathlib.Path(make(p, {"head": slow, "rows": [row("aes-128", "ctr", 25.0), row("aes-128", "cmac", 75.0, operation="mac")]})).read_text()
    labels = [a["aria-label"] for tag, a in Markup(text).tags if tag == "svg" and a.get("class") == "bar"]
    check_equal(labels, ["25.0 GB/s, at most 50.0: memory, read and written once", "75.0 GB/s, at most 100: memory, read once"], "labels")
    check_equal([cells[-1] for cells in table_rows(text) if cells[-1].endswith(" %")], ["50 %", "75 %"], "of the bound")
    fast = dict(HEAD, gpu_memory_bytes_per_second=10**15)
    text = pathlib.Path(make(p, {"head": fast, "rows": [row("lea-128", mode, 1.0) for mode in ("ecb", "ccm")]})).read_text()
    once, twice = (float(bound) for bound in re.findall(r'<svg[^>]*at most (\d+):', text))
    check(abs(once - 2 * twice) <= 2, f"bounds of LEA once and twice: {once} and {twice}")


@case
def each_cipher_has_a_bound(p):
    """A new cipher is covered too: its cost is counted from its header."""
    ciphers = [cipher["cipher"] for cipher in json.loads(p.ok("list", "--json").out)["ciphers"]]
    text = pathlib.Path(make(p, {"head": HEAD, "rows": [row(cipher, "ecb", 1.0) for cipher in ciphers]})).read_text()
    labels = [a["aria-label"] for tag, a in Markup(text).tags if tag == "svg" and a.get("class") == "bar"]
    check_equal(sum(" a block, " in label for label in labels), len(ciphers), f"bounds in {labels}")


@case
def without_facts_there_are_no_bounds(p):
    report = measurements()
    report["head"] = {name: value for name, value in HEAD.items() if not name.startswith("gpu_")}
    report["rows"] = [{name: value for name, value in r.items() if name != "link_gigabytes_per_second"} for r in report["rows"]]
    check("at most" not in pathlib.Path(make(p, report)).read_text(), "a bound without facts")


@case
def usage(p):
    p.write("broken.json", b"{")
    p.write("other.json", b'{"head": {}, "rows": [{"cipher": "aes-128"}]}')
    for name, code in (("nowhere.json", 10), ("broken.json", 15), ("other.json", 15)):
        p.fails(code, name, "bench", "--html", "page.html", "--from", name)
    p.fails(16, ".: Is a directory", "bench", "--html", "page.html", "--from", ".")
    p.write("report.json", json.dumps(measurements()).encode())
    p.fails(16, "nowhere", "bench", "--html", "nowhere/page.html", "--from", "report.json")
    for wrong in (("--from", "report.json"), ("--max-size", "1MiB"), ("--html", "page.html", "--place", "host"), ("--html", "page.html", "--size", "1MiB"),
                  ("--html", "page.html", "--messages", "3", "--message-bytes", "16"), ("--html", "page.html", "--max-size", "1"),
                  ("--html", "page.html", "--from", "report.json", "aes-128"), ("--html", "-", "--json", "-")):
        check_equal(p.run("bench", *wrong).code, 2, f"exit code of {wrong}")


@case
def a_run_of_the_cores(p):
    """The page has exactly the rows of --json."""
    p.ok("bench", "--html", "page.html", "--json", "report.json", "--device", "cpu", "--seconds", "0.01", "--max-size", "256KiB", "aes-128", "des")
    report = json.loads(p.read("report.json"))
    page = Markup(p.read("page.html").decode())
    check_equal(page.count("svg", class_="bar"), len(report["rows"]), "bars")
    check_equal(sorted({(r["cipher"], r["bytes"]) for r in report["sizes"]}),
                sorted((cipher, size) for cipher in ("aes-128", "des") for size in (1024, 4096, 16384, 65536, 262144)), "sizes")
    check(all(r["checked_against"].startswith("openssl") for r in report["sizes"]), "what sizes are checked against")
    p.ok("bench", "--html", "again.html", "--from", "report.json")
    same = [re.sub(rb'<p class="absent">.*', b"", p.read(name)) for name in ("page.html", "again.html")]
    check(same[0] == same[1], "the page of the recorded run differs")


@case
def a_run_with_a_gpu(p):
    """A GPU made of the cores: checks which rows exist."""
    p.path = FAULTY
    p.ok("bench", "--html", "page.html", "--json", "report.json", "--seconds", "0.01", "--max-size", "64KiB", "aes-256",
         env=dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1"))
    report = json.loads(p.read("report.json"))
    check_equal({(r["device"], r["place"]) for r in report["rows"] if r["device"] == "cuda"}, {("cuda", "device"), ("cuda", "host")}, "places")
    places = [(r["device"] == "cuda", r["place"]) for r in report["sizes"]]
    check_equal({place: places.count(place) for place in places}, {(False, "host"): 4, (True, "host"): 4, (True, "device"): 4}, "sizes")
    check_equal(Markup(p.read("page.html").decode()).count("svg", class_="bar"), len(report["rows"]), "bars")


STUDIES = """#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/asked"
[ "$1" = papers ] && cat "$here/papers.json" > "$3"
"""


@case
def a_run_of_everything_asks_for_the_studies(p):
    """A fake warpseal-bench has the papers but fails with the ladder; the real one takes minutes.
    All results are of one GPU."""
    os.link(FAULTY, p.file("warpseal"))
    p.path = p.file("warpseal")
    p.write("warpseal-bench", STUDIES.encode(), 0o755)
    p.write("papers.json", json.dumps(studies()[1]).encode())
    result = p.run("bench", "--html", "page.html", "--json", "report.json", "--seconds", "0.01", "--max-size", "64KiB", "--device", "cuda:1",
                   env=dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1"))
    check_equal(result.code, 1, "exit code when a study fails")
    check("ladder failed" in result.err, result.err)
    check_equal([line.split()[:1] + line.split()[3:] for line in p.read("asked").decode().splitlines()],
                [["papers", "--seconds", "0.01", "--bytes", "1GiB", "--device", "cuda:1"], ["ladder", "--seconds", "0.01", "--device", "1"]], "arguments of the studies")
    text, rows = p.read("page.html").decode(), json.loads(p.read("report.json"))["rows"]
    check_equal(Markup(text).count("svg", class_="bar"), len(rows), "bars")
    check_equal((text.count('table class="wide papers"'), text.count('<p class="absent">Not run')), (2, 1), "papers, and no ladder")
    for cipher in ("aes-128", "aes-256", "des", "des-ede3", "aria-128"):
        check(any(r["cipher"] == cipher for r in rows), f"no {cipher}")


@case
def a_wrong_output_has_no_bar(p):
    p.path = FAULTY
    result = p.run("bench", "--html", "page.html", "--json", "report.json", "--device", "cpu", "--seconds", "0.01", "--max-size", "4KiB",
                   "aes-128", env=dict(os.environ, WARPSEAL_TEST_FAULT="encrypt"))
    check_equal(result.code, 1, "exit code")
    report = json.loads(p.read("report.json"))
    check(not any(r["mode"] in ("ctr", "ecb") for r in report["rows"] + report["sizes"]), "a row of a wrong output")
    check_equal(Markup(p.read("page.html").decode()).count("svg", class_="bar"), len(report["rows"]), "bars")


main()
