"""Malformed results: an error names the file and the key, and nothing is written."""

import copy
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "bench")]
from pages import checked, page, reports, stored  # noqa: E402
from program import case, check, check_equal, main  # noqa: E402

import samples  # noqa: E402


def refused(p, content, *words, name="bad.json"):
    """Checks that one line on stderr has all the words, and that there is no page."""
    p.write(name, content if isinstance(content, bytes) else json.dumps(content).encode())
    result = p.run(name)
    check_equal(result.code, 1, f"exit code for {words}: {result.err}")
    check_equal(result.err.count("\n"), 1, f"lines on stderr: {result.err}")
    check(result.err.startswith("bench/page: bad.json: "), result.err)
    for word in words:
        check(word in result.err, f"no {word!r} in {result.err!r}")
    check(not os.path.exists(p.file("page.html")), "a page was written")


def report(**changes):
    row = {**samples.row("aes-128", "ctr", 5.0), **changes}
    return {"head": samples.HEAD, "rows": [samples.row("des", "ecb", 1.0), row]}


def compact():
    return json.loads(stored.write_result(reports.read_report(samples.measurements(), "x")))


@case
def files_that_are_no_results(p):
    whole = json.dumps(samples.measurements()).encode()
    for content, word in (
        (b"", "is not JSON"),
        (whole[: len(whole) // 2], "is not JSON"),
        (b"\xff\xfe{}", "is not JSON"),
        (b"[" * 100000, "is not JSON"),
        (b"[]", "an object is expected, not []"),
        (b"{}", "head: it is missing"),
        ({"head": []}, "head: an object is expected"),
        ({"head": samples.HEAD}, "rows: it is missing"),
    ):
        refused(p, content, word)
    for path, word in (("nowhere.json", "No such file"), (".", "Is a directory")):
        result = p.run(path)
        check_equal(result.code, 1, f"exit code of {path}")
        check(f"bench/page: {path}: cannot be read: {word}" in result.err, result.err)


@case
def values_of_a_report(p):
    for changes, *words in (
        ({"gigabytes_per_second": "fast"}, "rows[1].gigabytes_per_second", 'not "fast"'),
        ({"gigabytes_per_second": None}, "rows[1].gigabytes_per_second", "missing"),
        ({"gigabytes_per_second": True}, "rows[1].gigabytes_per_second", "not true"),
        ({"gigabytes_per_second": -1.0}, "rows[1].gigabytes_per_second", "negative"),
        ({"gigabytes_per_second": float("nan")}, "rows[1].gigabytes_per_second", "NaN"),
        ({"gigabytes_per_second": 10**400}, "rows[1].gigabytes_per_second"),
        ({"cipher": 5}, "rows[1].cipher", "a text is expected"),
        ({"mode": None}, "rows[1].mode", "missing"),
        ({"operation": " "}, "rows[1].operation", "missing"),
        ({"device": None}, "rows[1].device", "missing"),
        ({"device": 0}, "rows[1].device", "a text is expected"),
        ({"bytes": "1 GiB"}, "rows[1].bytes", "a number is expected"),
        ({"bytes": 0}, "rows[1].bytes", "more than 0"),
        ({"threads": []}, "rows[1].threads", "a number is expected"),
        ({"repetitions": 7}, "rows[1].repetitions", "a list of numbers"),
        ({"repetitions": [1, None]}, "rows[1].repetitions", "a list of numbers"),
        ({"bound": 3}, "rows[1].bound:", "a text is expected"),
        ({"bound_gigabytes_per_second": {}}, "rows[1].bound_gigabytes_per_second"),
        ({"best": "botan", "yardsticks": []}, "rows[1].best", "botan has no figure"),
        ({"yardsticks": [{"name": "botan"}]}, "rows[1].yardsticks[0].not_run", "missing"),
    ):
        refused(p, report(**changes), *words)
    refused(p, {"head": samples.HEAD, "rows": {}}, "rows: a list is expected")
    refused(p, {"head": samples.HEAD, "rows": [1]}, "rows[0]: an object is expected, not 1")
    refused(p, {"head": samples.HEAD, "rows": [{"x": 1}]}, "rows[0]: no kind of row")
    refused(p, {"head": samples.HEAD, "sizes": [{}]}, "sizes[0].cipher")
    for fact in ("machine", "date", "commit"):
        refused(p, {**report(), "head": {**samples.HEAD, fact: None}}, f"head.{fact}")


@case
def values_of_a_recorded_result(p):
    def changed(change):
        value = compact()
        change(value)
        return value

    figure = ("sections", 0, "figures", 0)

    def put(*path, to):
        def change(value):
            for step in path[:-1]:
                value = value[step]
            value[path[-1]] = to

        return changed(change)

    for value, *words in (
        (put("format", to=2), "format: 1 is expected, not 2"),
        (put("machine", to=None), "machine: an object"),
        (put("runs", to={}), "runs: a list"),
        (put("runs", 0, "commit", to=None), "runs[0].commit"),
        (put("sections", to=3), "sections: a list"),
        (put("sections", 0, "run", to=7), "sections[0].run: there is no run 7"),
        (put("sections", 0, "run", to=-1), "sections[0].run: there is no run -1"),
        (put("sections", 0, "run", to=False), "sections[0].run"),
        (put("sections", 0, "kind", to=None), "sections[0].kind"),
        (put("sections", 0, "common", to=[]), "sections[0].common"),
        (put(*figure, "name", to=""), "sections[0].figures[0].name"),
        (put(*figure, "median", to="x"), "sections[0].figures[0].median"),
        (put(*figure, "range", to=[1]), "sections[0].figures[0].range", "two numbers"),
        (put(*figure, "range", to=[2, 1]), "sections[0].figures[0].range", "lowest"),
        (put(*figure, "bytes", to=None), "sections[0].figures[0].bytes", "missing"),
        (put(*figure, "yardstick", to=-1), "sections[0].figures[0].yardstick", "negative"),
        (put(*figure, "yardsticks", to={"botan": -1}), "sections[0].figures[0].yardsticks", "a rate"),
        (put(*figure, "yardsticks", to=[]), "sections[0].figures[0].yardsticks", "an object"),
    ):
        refused(p, value, *words)


def leaves(value, path=()):
    """Yields the path of every value within a report."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, (dict, list)):
            yield from leaves(inner, (*path, key))


def planted(report_, path, bad):
    copied = copy.deepcopy(report_)
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = bad
    return copied


@case
def any_value_may_be_wrong(p):
    """Each value of each kind of report is replaced: there is a page or a named error."""
    keys = {path[-1] for report_ in samples.all_reports() for path in leaves(report_)}
    check_equal((checked.NUMBERS | checked.TEXTS) - keys, set(), "attributes without a sample")
    drawn = failed = 0
    small = samples.measurements()
    small["sizes"] = []
    whole = [small, *samples.all_reports()[1:]]
    recorded = [json.loads(stored.write_result(reports.read_report(r, "x"))) for r in whole]
    for report_ in whole + recorded:
        read = stored.read_result if "format" in report_ else reports.read_report
        for path in leaves(report_):
            for bad in (None, "", "x", -1, 0, 1e300, True, [], [None], {}, {"a": 1}):
                try:
                    text = page.html_page([read(planted(report_, path, bad), "bad.json")])
                    check(text.endswith("</html>\n"), f"{path} {bad}")
                    drawn += 1
                except checked.BadResult as error:
                    check(str(error).startswith("bad.json: "), f"{path} {bad}: {error}")
                    failed += 1
                except AssertionError:
                    raise
                except Exception as error:
                    raise AssertionError(f"{path} = {bad!r}: {error!r}") from error
    check(drawn > 1000 and failed > 1000, f"{drawn} pages, {failed} errors")


main()
