"""`warpseal bench survey`: which rows and sizes it has, and its options. It prints no figure for a
wrong output."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import case, check, check_equal, main  # noqa: E402

FAULTY = os.environ["WARPSEAL_FAULTY_PROGRAM"]
SURVEY = ("bench", "survey", "--json", "report.json", "--seconds", "0.01")
PRETEND_GPU = dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1")


@case
def a_run_of_the_cores(p):
    table = p.ok(*SURVEY, "--device", "cpu", "--max-size", "256KiB", "aes-128", "des").out.decode()
    report = json.loads(p.read("report.json"))
    check_equal(report["head"]["seconds"], 0.01, "how long for each figure")
    check_equal({r["cipher"] for r in report["rows"]}, {"aes-128", "des"}, "ciphers")
    check_equal({(r["device"] == "cuda", r["place"], r["threads"]) for r in report["rows"]},
                {(False, "host", report["head"]["cores"])}, "places")
    check_equal(sorted({(r["cipher"], r["bytes"]) for r in report["sizes"]}),
                sorted((cipher, size) for cipher in ("aes-128", "des") for size in (1024, 4096, 16384, 65536, 262144)), "sizes")
    check(all(r["checked_against"].startswith("openssl") for r in report["sizes"]), "what sizes are checked against")
    check(all("bound" not in r for r in report["rows"]), "a bound of cores")
    lines = [line.split()[:2] for line in table.splitlines()]
    for r in report["rows"]:
        check([f"{r['cipher']}-{r['mode']}", r["operation"]] in lines, f"no line of {r}")


@case
def a_run_with_a_gpu(p):
    """A GPU made of the cores: checks which rows exist."""
    p.path = FAULTY
    p.ok(*SURVEY, "--max-size", "64KiB", "aes-256", env=PRETEND_GPU)
    report = json.loads(p.read("report.json"))
    check_equal({(r["device"], r["place"]) for r in report["rows"] if r["device"] == "cuda"}, {("cuda", "device"), ("cuda", "host")}, "places")
    places = [(r["device"] == "cuda", r["place"]) for r in report["sizes"]]
    check_equal({place: places.count(place) for place in places}, {(False, "host"): 4, (True, "host"): 4, (True, "device"): 4}, "sizes")
    through = [r for r in report["rows"] if (r["device"], r["place"]) == ("cuda", "host")]
    check_equal([r["bound_gigabytes_per_second"] for r in through], [r["link_gigabytes_per_second"] for r in through], "bounds of the link")


@case
def a_run_of_everything(p):
    """Without names: the shortest key of each family, and the longest of AES and DES."""
    p.path = FAULTY
    result = p.run(*SURVEY, "--max-size", "64KiB", "--device", "cuda:1", env=PRETEND_GPU)
    rows = json.loads(p.read("report.json"))["rows"]
    check_equal(result.code, 0, result.err)
    for cipher in ("aes-128", "aes-256", "des", "des-ede3", "aria-128"):
        check(any(r["cipher"] == cipher for r in rows), f"no {cipher}")
    check(not any(r["cipher"] in ("aes-192", "aria-256") for r in rows), "a key length between")


@case
def a_wrong_output_has_no_figure(p):
    p.path = FAULTY
    result = p.run(*SURVEY, "--device", "cpu", "--max-size", "4KiB", "aes-128", env=dict(os.environ, WARPSEAL_TEST_FAULT="encrypt"))
    check_equal(result.code, 1, "exit code")
    check("no figure" in result.err, result.err)
    report = json.loads(p.read("report.json"))
    check(report["rows"], "rows of other modes")
    check(not any(r["mode"] in ("ctr", "ecb") for r in report["rows"] + report["sizes"]), "a row of a wrong output")


@case
def json_on_stdout(p):
    result = p.ok("bench", "survey", "--json", "-", "--seconds", "0.01", "--device", "cpu", "--max-size", "4KiB", "lea-128")
    check(json.loads(result.out)["rows"], "rows")
    check("lea-128" in result.err, "the table goes to stderr")


@case
def usage(p):
    for wrong in (("aes-128", "--max-size", "1MiB"), ("survey", "--place", "host"), ("survey", "--size", "1MiB"), ("survey", "--threads", "2"),
                  ("survey", "--messages", "3", "--message-bytes", "16"), ("survey", "--max-size", "1")):
        check_equal(p.run("bench", *wrong).code, 2, f"exit code of {wrong}")
    p.fails(15, "aes-129", "bench", "survey", "aes-129")
    p.fails(16, "nowhere", "bench", "survey", "--json", "nowhere/report.json")


main()
