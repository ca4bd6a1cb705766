"""`warpseal bench random`: its rows, its JSON and its options."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import case, check, check_equal, main  # noqa: E402

QUICK = ("bench", "random", "--seconds", "0.001", "--size", "1KiB,100000")


@case
def rows_of_every_source(p):
    table = p.ok(*QUICK, "--device", "cpu", "--json", "report.json").out.decode()
    report = json.loads(p.read("report.json"))
    check_equal([(r["source"], r["threads"], r["bytes"]) for r in report["rows"]],
                [(source, threads, size)
                 for source, threads in [("warpseal cpu", 1), ("warpseal cpu", 0), ("getrandom(2)", 1),
                                         ("OpenSSL RAND_bytes", 1)]
                 for size in [1024, 100000]], "rows")
    for row in report["rows"]:
        figures = row["repetitions_gigabytes_per_second"]
        check(len(figures) == 7 and min(figures) > 0, f"repetitions of {row}")
        check(min(figures) <= row["gigabytes_per_second"] <= max(figures), f"median of {row}")
        check(row["source"] in table, f"{row['source']} is missing in the table")
    check("NOT RUN" in table, "the GPU's row is not named")


@case
def wrong_options(p):
    for arguments, words in [(("--size", "x"), "--size"), (("--size", "0"), "--size"),
                             (("--seconds", "0"), "--seconds"), (("--device", "gpu"), "gpu")]:
        p.fails(2, words, "bench", "random", *arguments)
    p.fails(16, "nowhere", *QUICK, "--json", "nowhere/report.json")


main()
