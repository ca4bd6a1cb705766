"""`bench/record --add`: what it writes reads back as the reports, and a figure measured again
replaces the earlier one."""

import copy
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "bench")]
from pages import reports, stored  # noqa: E402
from program import case, check, check_equal, main  # noqa: E402

import samples  # noqa: E402


def record(p, report, *options, machine="box"):
    p.path = str(ROOT / "bench/record")
    p.write("report.json", json.dumps(report).encode())
    return p.run(machine, "--results", p.directory, "--add", "report.json", *options)


def recorded(p, name="box-2026-11-21.json"):
    return reports.read(pathlib.Path(p.file(name)))


def contents(figures):
    """Returns everything about figures but their file, in an order that does not depend on it."""
    return sorted(
        json.dumps([f.kind, f.run.facts, f.run.machine, stored.plain(f)], sort_keys=True)
        for f in figures
    )


@case
def everything_reads_back(p):
    wanted = []
    for report in samples.all_reports():
        check_equal(record(p, report).code, 0, "exit code")
        wanted += reports.read_report(report, "x").figures
    check_equal(contents(recorded(p).figures), contents(wanted), "figures")
    text = p.read("box-2026-11-21.json").decode()
    check_equal(stored.write_result(recorded(p)), text, "the file written again")
    check(all(len(line) < 1000 for line in text.splitlines()), "a line for each figure")
    check('repetitions": [' not in text, "raw repetitions")


@case
def committed_results_are_as_the_recorder_writes(p):
    paths = sorted((ROOT / "bench/results").glob("*.json"))
    check(paths, "no results")
    for path in paths:
        result = reports.read(path)
        check_equal(stored.write_result(result) == path.read_text(), True, path.name)
        check(path.name.endswith(f"{result.date}.json"), f"{path.name} is of {result.date}")
        check(path.stat().st_size < 200_000, f"{path.name} is large")


@case
def values_are_those_of_the_report(p):
    record(p, samples.measurements())
    figure = next(f for f in recorded(p).figures if f.name == "aes-256-gcm seal")
    check_equal(
        (figure.median, figure.range, figure.repetitions), (180.0, (144.0, 180.0), 3), "figure"
    )
    check_equal(
        (figure.yardstick, figure.yardstick_range, figure.ratio),
        (72.0, (72.0, 72.0), 2.5),
        "yardstick",
    )
    check_equal((figure.yardstick_name, figure.unit), ("aes-256-ecb", "GB/s"), "names")
    check_equal((figure.get("threads"), figure.get("buffer_per_thread")), (16, True), "attributes")
    figure = next(f for f in recorded(p).figures if f.name == "aes-256-ecb encrypt")
    check_equal((figure.bound, figure.bound_by), (750.0, "112 lookups a block"), "bound")
    record(p, samples.handshakes())
    figure = next(f for f in recorded(p).figures if f.name == "X25519")
    check_equal(
        (figure.median, figure.range, figure.unit), (388.8, (378.8, 438.8), "µs"), "CPU time"
    )


@case
def several_yardsticks(p):
    record(p, samples.measurements())
    figure = next(f for f in recorded(p).figures if f.name == "camellia-256-xts encrypt")
    check_equal(
        (figure.yardstick, figure.yardstick_name, figure.yardstick_range, figure.ratio),
        (1.5, "libgcrypt 1.11.0", (1.35, 1.65), 5.0),
        "the best",
    )
    rates = figure.get("yardsticks")
    check_equal((rates["openssl 3.0.19"], rates["libgcrypt 1.11.0"]), (0.25, 1.5), "rates")
    check(rates["botan"].startswith("NOT RUN: Botan cannot be loaded"), rates)


@case
def a_second_measurement_replaces_the_first(p):
    first, second = samples.measurements(), copy.deepcopy(samples.measurements())
    second["head"]["date"], second["head"]["commit"] = "2026-11-21T09:00:00Z", "def"
    second["rows"], second["sizes"] = [samples.row("aes-128", "ctr", 777.0)], []
    record(p, first), record(p, second)
    same = [
        f for f in recorded(p).figures if f.name == "aes-128-ctr encrypt" and f.kind == "throughput"
    ]
    check_equal(
        sorted((f.median, f.run.commit) for f in same), [(48.5, "abc"), (777.0, "def")], "figures"
    )
    before = len(recorded(p).figures)
    record(p, second, "--note", "while idle")
    same = [f for f in recorded(p).figures if f.median == 777.0]
    check_equal(sorted(f.run.text("note") for f in same), ["", "while idle"], "both notes")
    check_equal(len(recorded(p).figures), before + 1, "figures with the note")


@case
def a_day_and_a_machine_have_their_file(p):
    next_day = copy.deepcopy(samples.rates())
    next_day["head"]["date"] = "2026-11-22T00:00:01Z"
    record(p, samples.rates()), record(p, next_day), record(p, samples.rates(), machine="other")
    names = sorted(n for n in os.listdir(p.directory) if n != "report.json")
    check_equal(
        names, ["box-2026-11-21.json", "box-2026-11-22.json", "other-2026-11-21.json"], "files"
    )


@case
def cores_alone_and_with_a_gpu_are_one_machine(p):
    """A run of the cores does not know the GPU of its machine."""
    cores = copy.deepcopy(samples.rates())
    cores["head"] = {k: v for k, v in samples.HEAD.items() if not k.startswith("gpu_")}
    cores["head"].update(machine="Xeon, 16 cores", gpu=None)
    for order in ((cores, samples.measurements()), (samples.measurements(), cores)):
        for report in order:
            check_equal(record(p, report).code, 0, "exit code")
        check_equal(recorded(p).machine["machine"], samples.HEAD["machine"], "machine")
        check_equal(len(recorded(p).figures), 44, "figures")
        os.remove(p.file("box-2026-11-21.json"))


@case
def refusals_leave_the_file(p):
    record(p, samples.rates())
    before = p.read("box-2026-11-21.json")
    other = copy.deepcopy(samples.rates())
    other["head"]["cores"] = 64
    wrong = copy.deepcopy(samples.rates())
    wrong["rows"][0]["operations_per_second"] = "fast"
    unknown = {**samples.rates(), "news": [1]}
    empty = {**samples.rates(), "rows": []}
    for report, words in (
        (other, "head.cores: 64 is not the machine"),
        (wrong, "rows[0].operations_per_second"),
        (unknown, "news"),
        (empty, "no figure"),
        ({**samples.rates(), "head": {**samples.HEAD, "date": "../2026-1"}}, "is not a date"),
        ([], "an object is expected"),
    ):
        result = record(p, report)
        check_equal(result.code, 1, f"exit code: {result.err}")
        check(result.err.startswith("bench/record: ") and words in result.err, result.err)
        check_equal(p.read("box-2026-11-21.json") == before, True, f"the file after {words}")
    check_equal(sorted(os.listdir(p.directory)), ["box-2026-11-21.json", "report.json"], "files")


main()
