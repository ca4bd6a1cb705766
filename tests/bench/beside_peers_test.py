"""bench/age_files and bench/many_files: their rows, false results, and that they leave no file."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/cli")]
from program import case, check, check_equal, main  # noqa: E402

# A stand-in for age, with its options. FAULT changes what it writes.
AGE = """#!/bin/sh
case $* in
    --version) echo 1.3.fake; exit;;
    -d*) shift; "{program}" -q decrypt "$@" || exit;;
    *) "{program}" -q encrypt --format age "$@" || exit;;
esac
while [ "$1" != -o ]; do shift; done
[ -z "$FAULT" ] || printf xxxxxxxx | dd of="$2" bs=1 seek="$FAULT" conv=notrunc status=none
"""


def measure(p, script, *arguments, fault="", code=0):
    folder = p.file("folder")
    os.makedirs(folder, exist_ok=True)
    result = subprocess.run(
        [sys.executable, ROOT / "bench" / script, "--program", p.path, "--directory", folder]
        + ["--json", p.file("report"), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "FAULT": fault},
    )
    check_equal(result.returncode, code, result.stderr)
    check_equal(os.listdir(folder), [], "files left")
    check_equal(os.path.exists(p.file("report")), code == 0, "a report")
    return json.loads(p.read("report")) if code == 0 else result.stderr


def fake_age(p):
    p.write("age", AGE.format(program=p.path).encode(), 0o755)
    return ["--age", p.file("age"), "--gib", 0.001, "--cores", 1]


@case
def age_files(p):
    report = measure(p, "age_files", *fake_age(p), "--repetitions", 2)
    check_equal(report["head"]["age"], "1.3.fake", "the peer's version")
    rows = report["age_files"]
    check_equal([row["operation"] for row in rows], ["encrypt", "decrypt"], "rows")
    for row in rows:
        check_equal((row["cores"], row["bytes"], row["wanted_times_age"]), (1, int(0.001 * 2**30), 1.0), "a row")
        check_equal({name: len(of) for name, of in row["repetitions"].items()}, {"warpseal": 2, "age": 2, "copy": 2}, "repetitions")
        ratios = sorted(a / b for a, b in zip(row["repetitions"]["age"], row["repetitions"]["warpseal"]) if b)
        check(ratios[0] * 0.8 <= row["times_age"] <= ratios[-1] * 1.2, row)
        # The printed ratio is rounded.
        check(row["reached"] == (row["times_age"] >= 1) or abs(row["times_age"] - 1) < 0.001, row)


@case
def a_peer_that_makes_another_text(p):
    for fault in ("0", "70000"):
        said = measure(p, "age_files", *fake_age(p), "--repetitions", 1, fault=fault, code=1)
        check("opened is not the text that was sealed: no figures" in said, said)
    os.unlink(p.file("age"))
    check("there is no program" in measure(p, "age_files", "--age", p.file("age"), code=2), "no peer")
    check("may use 1 to" in measure(p, "age_files", *fake_age(p)[:4], "--cores", 4096, code=1), "too many cores")


@case
def many_files(p):
    check("at least 1" in measure(p, "many_files", "--files", 0, code=1), "no files")
    report = measure(p, "many_files", "--files", 20, "--bytes", 100, "--repetitions", 2, "--cores", 1)
    rows = report["many_files"]
    check_equal([(row["operation"], row["files"], row["bytes"], row["cores"]) for row in rows], [("encrypt", 20, 100, 1), ("decrypt", 20, 100, 1)], "rows")
    for row in rows:
        one, every = (row["repetitions"][f"{row['operation']} {what}"] for what in ("one", "all"))
        beyond = sum(b - a for a, b in zip(one, every)) / 2
        check(abs(beyond - row["seconds_beyond"]) < 0.01, row)
        check_equal((row["wanted_seconds"], row["reached"]), (None, None), "a size that is not judged")


main()
