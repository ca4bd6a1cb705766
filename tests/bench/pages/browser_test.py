"""A page in a headless browser: text does not overlap, no cell is empty, nothing is cut off or
loaded, and bars are as long as they say."""

import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/cli"))
from program import case, check, check_equal, main  # noqa: E402

import browser  # noqa: E402
import samples  # noqa: E402

WIDTHS = ((1240, False), (1240, True), (800, False), (400, False))

APPEARANCE = r"""(() => {
  for (const details of document.querySelectorAll('details')) details.open = true;
  const short = e => e.outerHTML.slice(0, 200);
  const shown = [...document.querySelectorAll('.bar')].map(svg => {
    const page = svg.getBoundingClientRect(), mark = svg.querySelector('.mark');
    return {label: svg.getAttribute('aria-label'), page: page.width, height: page.height,
      bar: svg.querySelector('.ours').getBoundingClientRect().width,
      mark: mark && mark.getBoundingClientRect().x - page.x};
  });
  const clipped = [...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect();
    return !e.closest('.scroll, .unseen, svg, title') && e.getClientRects().length &&
      (box.right > innerWidth + 1 || box.left < -1);
  }).map(short);
  const outside = [...document.querySelectorAll('svg.sizes, svg.drawing')].flatMap(svg =>
    [...svg.querySelectorAll('text, path')].filter(e => !e.closest('defs')).filter(e => {
      const inner = e.getBoundingClientRect(), outer = svg.getBoundingClientRect();
      return inner.left < outer.left - 1 || inner.right > outer.right + 1 ||
        inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
    }).map(short));
  const empty = [...document.querySelectorAll('td, th')].filter(e =>
    !e.textContent.trim() || (e.matches('.chart') && !e.querySelector('svg, small, .axis')))
    .map(short);
  const boxes = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = walker.nextNode();) {
    if (!node.data.trim() || node.parentElement.closest('.unseen, title, style, defs')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects())
      boxes.push({node, left: r.left + 1, right: r.right - 1, top: r.top + 0.15 * r.height,
        bottom: r.bottom - 0.15 * r.height});
  }
  boxes.sort((a, b) => a.top - b.top);
  const overlapping = [];
  boxes.forEach((a, i) => {
    for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom; ++j) {
      const b = boxes[j];
      if (a.node !== b.node && a.left < b.right && b.left < a.right)
        overlapping.push(a.node.data.slice(0, 60) + ' | ' + b.node.data.slice(0, 60));
    }
  });
  const channel = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = text => {
    const [r, g, b] = text.match(/[\d.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const contrast = ink => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  const ink = e => light(getComputedStyle(e)[e.closest('svg') ? 'fill' : 'color']);
  const pale = [...document.querySelectorAll('body *:not(svg, svg *), svg text')].filter(e =>
    e.getClientRects().length && contrast(ink(e)) < 4.5).map(short);
  const scrolling = [...document.querySelectorAll('.scroll')].filter(e =>
    e.scrollWidth > e.clientWidth + 1).map(short);
  return {shown, clipped, outside, empty, overlapping, pale, scrolling, texts: boxes.length,
    width: document.documentElement.scrollWidth,
    paper: getComputedStyle(document.body).backgroundColor};
})()"""


# The drawings of the papers, with the series of each. A curve without numbers is not published.
ALL = {"published", "method", "default"}
DRAWINGS = {
    "P1 table 3": ALL,
    "P1 section 4.1": ALL,
    "P1 section 4.2": {"method"},
    **{f"P2 table 2, Camellia-{bits}": ALL for bits in (128, 192, 256)},
    "P3 figure 8": {"method", "default"},
    "P3 figure 9": ALL,
    **{f"P4 figure {number}": {"published", "method", "ideal"} for number in (8, 9, 10)},
    **{f"P4 figure {number}": ALL for number in (12, 13)},
    **{f"P5 figure {number}": ALL for number in (6, 7, 9, 11)},
    **{f"P5 figure {number}": {"method", "default"} for number in (8, 10)},
}
CHARTS = r"""Object.fromEntries(
  [...document.querySelectorAll('figure[data-drawing]')].map(figure => [
  figure.dataset.drawing,
  [...figure.querySelectorAll('svg g[id]')].filter(g => {
    const box = g.getBoundingClientRect();
    return box.width > 0.5 && box.height + box.width > 2;
  }).map(g => (/-(published|method|default|ideal)-\d/.exec(g.id) || [])[1]).filter(Boolean)]))"""


def needs_browser():
    path = browser.find()
    check(path, "no browser starts here, and this machine must have one")
    return path


def check_appearance(seen, width, wide=()):
    """`wide`: widths at which tables may scroll sideways."""
    check_equal(seen["width"], width, "width of the page: it scrolls sideways")
    for fault in ("clipped", "outside", "empty", "overlapping", "pale"):
        check_equal(seen[fault], [], f"{fault} at {width}")
    if width not in wide:
        check_equal(seen["scrolling"], [], f"tables that scroll at {width}")
    check(seen["texts"] > 100, f"{seen['texts']} texts")
    for bar in seen["shown"]:
        check(bar["page"] > 50 and bar["height"] > 5, f"an invisible bar: {bar}")


def open_sample(p, own, width, dark):
    names = []
    for i, report in enumerate(samples.all_reports()):
        names.append(f"report{i}.json")
        p.write(names[-1], json.dumps(report).encode())
    p.ok(*names, "--output", "page.html")
    own.open(p.file("page.html"), width, dark)


@case
def every_kind_of_figure(p):
    own = browser.Browser(needs_browser())
    try:
        papers = []
        for width, dark in WIDTHS:
            open_sample(p, own, width, dark)
            seen = own.run(APPEARANCE)
            check_appearance(seen, width, wide=(400,))
            papers.append(seen["paper"])
            requests = [e["request"]["url"] for e in own.told("Network.requestWillBeSent")]
            check_equal(requests, ["file://" + p.file("page.html")], "network requests")
            complaints = own.told(
                "Network.loadingFailed",
                "Runtime.consoleAPICalled",
                "Runtime.exceptionThrown",
                "Log.entryAdded",
            )
            check_equal(complaints, [], "complaints")
            check_picture(own.picture(0.25), dark)
        check(papers[0] == papers[2] != papers[1], f"light and dark: {papers}")
        check_names(own, len(seen["shown"]))
        pdf = own.call("Page.printToPDF", printBackground=True)["data"]
        check(pdf.startswith("JVBERi"), "no PDF")
    finally:
        own.close()


def check_picture(png, dark):
    seen = browser.colours(png)
    background = max(seen, key=seen.get)
    ink = 1 - seen[background] / sum(seen.values())
    check(len(seen) > 50 and 0.02 < ink < 0.7, f"{len(seen)} colours, {ink} of ink")
    check_equal(sum(background) < 300, dark, "a dark picture")


def check_names(own, bars):
    tree = own.call("Accessibility.getFullAXTree")["nodes"]
    roles = ("image", "img", "graphics-document")
    named = [
        node
        for node in tree
        if node.get("role", {}).get("value") in roles and not node.get("ignored")
    ]
    check(len(named) > bars, f"{len(named)} pictures for screen readers, {bars} bars")
    check(all(node["name"]["value"] for node in named), "pictures without a name")


@case
def bars_are_as_long_as_they_say(p):
    own = browser.Browser(needs_browser())
    try:
        rows = [
            samples.bounded("aes-128", "ctr", f, 1000.0, bytes=f * 2**20) for f in (250, 500, 900)
        ]
        p.write("report.json", json.dumps({"head": samples.HEAD, "rows": rows}).encode())
        p.ok("report.json", "--output", "page.html")
        own.open(p.file("page.html"), 800)
        shown = own.run(APPEARANCE)["shown"]
        check_equal(len(shown), 3, "bars")
        for bar in shown:
            figure = float(re.match(r"[\d.]+", bar["label"])[0])
            check(abs(bar["bar"] / bar["page"] - figure / 1000) < 0.005, f"length of {bar}")
            check(abs(bar["mark"] / bar["page"] - 1) < 0.01, f"marker of {bar}")
    finally:
        own.close()


@case
def committed_results(p):
    own = browser.Browser(needs_browser())
    try:
        p.ok(*sorted((ROOT / "bench/results").glob("*.json")), "--output", "page.html")
        for width in (1240, 800):
            own.open(p.file("page.html"), width)
            check_appearance(own.run(APPEARANCE), width)
    finally:
        own.close()


def check_papers(own, width):
    """Checks that each drawing of the papers has a chart with all its series."""
    check_appearance(own.run(APPEARANCE), width)
    drawn = {name: set(series) for name, series in own.run(CHARTS).items()}
    check_equal(drawn, DRAWINGS, "series of the papers' charts")


def papers_page(p):
    p.ok(*sorted((ROOT / "bench/results").glob("*.json")), "--output", "page.html")
    return p.read("page.html").decode()


@case
def each_drawing_of_the_papers_has_a_chart(p):
    own = browser.Browser(needs_browser())
    try:
        papers_page(p)
        for width, dark in ((1280, False), (1280, True)):
            own.open(p.file("page.html"), width, dark)
            check_papers(own, width)
    finally:
        own.close()


def planted(page):
    """Returns pages with one fault each, by the words that the complaint has."""
    chart = page.index('data-drawing="P4 figure 9"')
    text = re.compile(r"<text [^>]*>[^<]+</text>").search(page, chart)
    svg = re.compile(r"<svg.*?</svg>", re.S).search(page, chart)
    method = r'<g id="P4-figure-9[^"]*-method-\d+">.*?</g>\s*</g>'
    curve = re.compile(method, re.S).search(page, chart)
    label = text[0].replace(">", ">x", 1)

    def without(found):
        return page[: found.start()] + page[found.end() :]

    cell = page.index('<td class="number">', page.index('id="P1"')) + len('<td class="number">')
    return {
        "empty at": page[:cell] + page[page.index("</td>", cell) :],
        "overlapping at": page[: text.end()] + label + page[text.end() :],
        "series of the papers' charts": without(svg),
        "series of the papers' charts ": without(curve),
        "width of the page": page.replace('id="P1">', 'id="P1"><div style="width:1300px">x</div>'),
    }


@case
def faults_planted_in_the_papers_are_found(p):
    own = browser.Browser(needs_browser())
    try:
        page = papers_page(p)
        for complaint, bad in planted(page).items():
            check(bad != page, f"nothing was planted for {complaint}")
            own.open(p.write("bad.html", bad.encode()), 1280)
            try:
                check_papers(own, 1280)
            except AssertionError as error:
                check(complaint.strip() in str(error), f"{complaint}: {str(error)[:300]}")
            else:
                check(False, f"a planted fault was not found: {complaint}")
    finally:
        own.close()


@case
def a_bad_page_is_reported(p):
    """Checks the checks, by a page with every fault."""
    own = browser.Browser(needs_browser())
    try:
        bad = p.write(
            "bad.html",
            b"<body style='width:3000px'><div style='width:3000px'>x</div>"
            b"<img src='http://warpseal.invalid/x.png'><script>console.log(1)</script>"
            b"<p style='position:absolute;top:200px'>one text</p>"
            b"<p style='position:absolute;top:205px'>another</p>"
            b"<p style='color:#ddd'>pale</p><table><tr><td></td><td>x</td></tr></table>"
            b"<div class=scroll style='width:50px;overflow:auto'><p style='width:90px'>y</p></div>"
            b"<svg class=sizes width=50 height=50 style='overflow:visible'>"
            b"<text x=90 y=20>far</text></svg>",
        )
        own.open(bad, 1240)
        seen = own.run(APPEARANCE)
        check(seen["width"] > 1240, "it does not overflow")
        for fault in ("clipped", "outside", "overlapping", "pale", "scrolling"):
            check(seen[fault], f"{fault} is not reported")
        check_equal(seen["empty"], ["<td></td>"], "empty cells")
        check_equal(len(own.told("Network.requestWillBeSent")), 2, "requests")
        check(own.told("Network.loadingFailed"), "no failed request")
        check(own.told("Runtime.consoleAPICalled"), "no message on the console")
    finally:
        own.close()


if not browser.find() and os.environ.get("WARPSEAL_NEEDS_BROWSER") != "1":
    print("NOT RUN: no headless browser: scripts/bootstrap --check installs one on Debian")
    sys.exit(77)
main()
