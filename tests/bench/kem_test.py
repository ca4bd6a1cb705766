"""`warpseal kem bench`: its table, JSON and round trips. It prints no figure for secrets that do
not arrive."""

import json
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import case, check, check_equal, main, wait_until_output_is_open  # noqa: E402

FAULTY = os.environ["WARPSEAL_FAULTY_PROGRAM"]
SETS = ["ntruhps2048509", "ntruhps2048677", "ntruhps4096821", "ntruhps40961229", "ntruhrss701", "ntruhrss1373",
        "ml-kem-512", "ml-kem-768", "ml-kem-1024", "x25519", "x25519mlkem768", "x-wing"]
OPERATIONS = ["keygen", "encapsulate", "decapsulate"]
HEAD = {"machine", "gpu", "driver", "date", "commit", "warpseal", "cpu", "cores"}
QUICK = ("kem", "bench", "--seconds", "0.01", "--device", "cpu")
CALLS = ["kem_keypair", "kem_encapsulate", "kem_decapsulate"]


@case
def every_set(p):
    table = p.ok(*QUICK, "--batch", "1,3", "--json", "figures.json").out.decode()
    report = json.loads(p.read("figures.json"))
    check(HEAD <= report["head"].keys(), report["head"])
    check_equal(report["head"]["seconds"], 0.01, "how long for each figure")
    rows = report["rows"]
    check_equal([(r["set"], r["batch"], r["operation"]) for r in rows],
                [(name, batch, operation) for name in SETS for batch in (1, 3) for operation in OPERATIONS], "rows")
    for row in rows:
        check(row["operations_per_second"] > 0 and row["p50_seconds"] > 0, row)
        check(row["p99_seconds"] is None if row["calls"] < 100 else row["p99_seconds"] >= row["p50_seconds"], row)
        check(len(row["repetitions"]) == 7 and row["calls"] >= 7 and row["threads"] == 1, row)
        check_equal((row["device"], row["place"]), ("cpu", "host"), "where")
        check(any(line.split()[:5] == [row["set"], row["operation"], "cpu,", "host", str(row["batch"])] for line in table.splitlines()), row)


@case
def prepared_keys(p):
    table = p.ok(*QUICK, "--prepared", "--set", "ml-kem-768,x-wing,ntruhrss701", "--batch", "1,9", "--json", "figures.json").out.decode()
    check("one prepared key for all items" in table, table)
    rows = json.loads(p.read("figures.json"))["rows"]
    check_equal([(r["set"], r["batch"], r["operation"], r["prepared"]) for r in rows],
                [(name, batch, operation, True) for name in ("ml-kem-768", "x-wing", "ntruhrss701") for batch in (1, 9)
                 for operation in OPERATIONS[1:]], "rows")
    check(all(row["operations_per_second"] > 0 for row in rows), rows)
    for arguments, text in ((("--device", "cuda"), "--prepared is for the cores"), (("--place", "host"), "--prepared is for the cores"),
                            (("--round-trips", "5"), "--round-trips have no --prepared key")):
        result = p.run("kem", "bench", "--prepared", *arguments)
        check(result.code == 2 and text in result.err, result.err)


@case
def the_figures_of_a_row_are_consistent(p):
    """Uses calls of known length: 20 ms each, beside which the work is negligible, or 20 ms every
    fiftieth time."""
    p.path = FAULTY
    arguments = ("kem", "bench", "--device", "cpu", "--set", "ntruhps2048509", "--json", "figures.json")
    p.ok(*arguments, "--seconds", "0.3", "--batch", "16", env=dict(os.environ, WARPSEAL_TEST_FAULT="kem_encapsulate_slow"))
    row = json.loads(p.read("figures.json"))["rows"][1]
    check(row["operation"] == "encapsulate" and 0.02 <= row["p50_seconds"] < 0.2, row)
    for rate in [row["operations_per_second"], *row["repetitions"]]:
        check(0.2 < rate * 0.02 / 16 <= 1, row)
    p.ok(*arguments, "--seconds", "0.7", "--batch", "1", env=dict(os.environ, WARPSEAL_TEST_FAULT="kem_encapsulate_rare"))
    row = json.loads(p.read("figures.json"))["rows"][1]
    check(row["p50_seconds"] < 0.01 and 0.02 <= row["p99_seconds"] < 0.2, row)


@case
def the_table_has_the_same_figures(p):
    table = p.ok(*QUICK[:2], "--seconds", "0.2", "--device", "cpu", "--set", "ntruhps2048509", "--batch", "1,3", "--json", "figures.json").out.decode()
    rows = json.loads(p.read("figures.json"))["rows"]
    lines = [line.split() for line in table.splitlines() if line.startswith("ntruhps2048509")]
    check_equal(len(lines), len(rows), "lines")
    for line, row in zip(lines, rows):
        rate, p50, p99 = row["operations_per_second"], 1e6 * row["p50_seconds"], row["p99_seconds"]
        check_equal((line[0], line[1], int(line[4]), line[7]), (row["set"], row["operation"], row["batch"], "us"), "which")
        check(abs(float(line[5]) - rate) <= 0.001 * rate and abs(float(line[6]) - p50) <= 0.06 + 0.001 * p50, f"{line} and {row}")
        check(line[8] == "-" if p99 is None else abs(float(line[8]) - 1e6 * p99) <= 0.06 + 1000 * p99, f"{line} and {row}")


@case
def json_on_stdout(p):
    result = p.ok(*QUICK, "--set", "ntruhrss701", "--threads", "2", "--json", "-")
    rows = json.loads(result.out)["rows"]
    check_equal({(r["set"], r["threads"]) for r in rows}, {("ntruhrss701", 2)}, "rows")
    check_equal([r["batch"] for r in rows], [b for b in (64, 256, 1024, 4096) for _ in OPERATIONS], "batches by default")
    check("ntruhrss701" in result.err, "the table goes to stderr")


@case
def round_trips(p):
    out = p.ok(*QUICK, "--set", "ntruhps2048509,ntruhrss701", "--round-trips", "1000", "--batch", "300", "--json", "trips.json").out.decode()
    check_equal(out.count("1000 round trips in "), 2, out)
    report = json.loads(p.read("trips.json"))
    check_equal(report["rows"], [], "rows")
    for row in report["round_trips"]:
        check_equal((row["round_trips"], row["mismatches"], row["secrets_distinct"], row["batch"]),
                    (1000, 0, 1000, 300), row["set"])


@case
def a_report_appears_when_complete(p):
    p.write("old.json", b"precious")
    process = p.start("kem", "bench", "--seconds", "10", "--device", "cpu", "--json", "old.json")
    wait_until_output_is_open(process, p.directory)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    check_equal((process.returncode, p.read("old.json")), (128 + signal.SIGINT, b"precious"), "the old report")
    p.ok(*QUICK, "--set", "ntruhrss701", "--batch", "1", "--json", "old.json")
    check_equal(len(json.loads(p.read("old.json"))["rows"]), 3, "rows")
    p.fails(2, "it names no file", *QUICK, "--json", "")


@case
def refusals(p):
    p.fails(15, "ntruhps4096821", *QUICK, "--set", "ntru821")
    p.fails(2, "--batch", *QUICK, "--batch", "0")
    p.fails(2, "--round-trips", *QUICK, "--round-trips", "0")
    p.fails(2, "one --batch", *QUICK, "--round-trips", "10", "--batch", "2,3")
    p.fails(16, "no/such/folder", *QUICK, "--json", "no/such/folder/figures.json")
    p.fails(20, "'avx2'", "kem", "bench", "--device", "avx2", env=dict(os.environ, WARPSEAL_TARGETS="portable"))


@case
def a_gpu(p):
    """A GPU made of host memory: tests the program's use of a GPU's memory, not the GPU."""
    p.path = FAULTY
    gpu = dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1")
    arguments = ("kem", "bench", "--seconds", "0.01", "--set", "ntruhps2048509", "--batch", "5", "--json", "figures.json")
    for device, place, wanted in [("cuda", (), [("cuda", "device")]), ("cuda", ("--place", "host"), [("cuda", "host")]),
                                  ("auto", (), [("cpu", "host"), ("cuda", "device")]), ("auto", ("--place", "device"), [("cuda", "device")])]:
        p.ok(*arguments, "--device", device, *place, env=gpu)
        rows = json.loads(p.read("figures.json"))["rows"]
        check_equal([(r["device"], r["place"]) for r in rows], [each for each in wanted for _ in OPERATIONS], f"{device} {place}")
    p.ok(*arguments, "--device", "cuda", "--round-trips", "12", env=gpu)
    for call in CALLS:
        broken = dict(gpu, WARPSEAL_TEST_FAULT=call + "_device")
        check_equal(p.run(*arguments, "--device", "cuda", env=broken).code, 1, f"exit code with {call}")
        check_equal(p.run(*arguments, "--device", "cuda", "--round-trips", "12", env=broken).code, 1, f"exit code of round trips with {call}")
    p.fails(2, "--place device", *QUICK, "--place", "device")


@case
def a_secret_that_does_not_arrive_has_no_figure(p):
    p.path = FAULTY
    arguments = (*QUICK, "--set", "ntruhps2048509", "--batch", "4", "--json", "figures.json")
    for fault in [call + kind for call in CALLS for kind in ("", "_nothing", "_status", "_late")] + ["kem_same"]:
        broken = dict(os.environ, WARPSEAL_TEST_FAULT=fault)
        result = p.run(*arguments, env=broken)
        check_equal(result.code, 1, f"exit code with {fault}")
        check("no figure" in result.err and not json.loads(p.read("figures.json"))["rows"], f"{fault}: {result.err!r}")
        result = p.run(*arguments, "--round-trips", "10", env=broken)
        check_equal(result.code, 1, f"exit code of round trips with {fault}")
        # Bytes where a key pair was never written may be refused as a public key: then nothing was
        # counted.
        if fault == "kem_keypair_nothing" and "no figure: encapsulate" in result.err:
            check("round_trips" not in json.loads(p.read("figures.json")), f"{fault}: figures for refused calls")
            continue
        row = json.loads(p.read("figures.json"))["round_trips"][0]
        check(row["secrets_distinct"] == 3 and row["mismatches"] == 0 if fault == "kem_same" else row["mismatches"] > 0, f"{fault}: {row}")


@case
def work_returned_by_the_engine_has_no_figure(p):
    p.path = FAULTY
    noticed = dict(os.environ, WARPSEAL_TEST_FAULT="kem_encapsulate_notice")
    for more in ((), ("--round-trips", "30")):
        result = p.run(*QUICK, "--set", "ntruhps2048509", "--batch", "4", "--json", "figures.json", *more, env=noticed)
        check_equal(result.code, 1, f"exit code with {more}")
        check("a made-up notice" in result.err and "no figure" in result.err, result.err)
        report = json.loads(p.read("figures.json"))
        check(not report["rows"] and "round_trips" not in report, report)


main()
