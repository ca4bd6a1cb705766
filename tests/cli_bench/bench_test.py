"""`warpseal bench`: its table and JSON, its options, and that it gives no figure for a wrong output."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import case, check, check_equal, main  # noqa: E402

FAULTY = os.environ["WARPSEAL_FAULTY_PROGRAM"]
QUICK = ("--seconds", "0.01")
CORES = (*QUICK, "--device", "cpu")
HEAD = {"machine", "gpu", "driver", "date", "commit", "warpseal", "openssl", "cpu", "cores"}
ROW = {"cipher", "mode", "operation", "device", "place", "threads", "bytes", "message_bytes", "gigabytes_per_second",
       "openssl_gigabytes_per_second", "ratio"}


def bench(p, *arguments):
    device = () if "--device" in arguments else ("--device", "cpu")
    result = p.ok("bench", *QUICK, *device, "--json", "figures.json", *arguments)
    report = json.loads(p.read("figures.json"))
    check(HEAD <= report["head"].keys(), f"head: {report['head'].keys()}")
    for row in report["rows"]:
        check(ROW <= row.keys(), f"row: {row.keys()}")
        check(row["gigabytes_per_second"] > 0, row)
    return report["rows"], result.out.decode()


@case
def everything(p):
    rows, table = bench(p, "--against", "openssl")
    names = {(r["cipher"], r["mode"], r["operation"]) for r in rows}
    wanted = {(f"aes-{bits}", mode, operation) for bits in (128, 192, 256)
              for mode, operations in (("ecb", ("encrypt", "decrypt")), ("ctr", ("encrypt", "decrypt")), ("gcm", ("seal", "open")))
              for operation in operations}
    check_equal(names, wanted, "cases")
    check_equal(len(rows), len(wanted), "rows")
    for row in rows:
        check(abs(row["ratio"] - row["gigabytes_per_second"] / row["openssl_gigabytes_per_second"]) < 0.01 * row["ratio"], row)
        check_equal((row["bytes"], row["message_bytes"], row["threads"], row["place"]), (65536, 65536, 1, "host"), "defaults")
        check(any(line.split()[:2] == [f"{row['cipher']}-{row['mode']}", row["operation"]] for line in table.splitlines()), f"no line: {row}")


@case
def without_openssl_there_is_no_ratio(p):
    rows, _ = bench(p, "aes-256-ctr")
    check_equal([(r["openssl_gigabytes_per_second"], r["ratio"]) for r in rows], [(None, None)] * 2, "rows")


@case
def sizes_threads_and_messages(p):
    rows, _ = bench(p, "--size", "16KiB,1MiB", "--threads", "2", "aes-128-gcm", "aes-128-ctr")
    check_equal(sorted({(r["bytes"], r["threads"]) for r in rows}), [(16384, 2), (1 << 20, 2)], "sizes")
    rows, _ = bench(p, "--size", "64KiB", "--message-size", "1008", "aes-256-gcm", "aes-256-ctr")
    check_equal({r["message_bytes"] for r in rows}, {1008}, "message size")
    check_equal(len(rows), 4, "rows")


@case
def each_target_by_name(p):
    for line in p.ok("list").out.decode().splitlines():
        words = line.split()
        if words[1:2] == ["yes"] and words[0] != "cuda":
            rows, _ = bench(p, "--device", words[0], "aes-256-gcm")
            check_equal({r["device"] for r in rows}, {words[0]}, "device")
        elif words[1:2] == ["no"]:
            check_equal(p.run("bench", "--device", words[0], "aes-256-gcm").code, 20, f"exit code without {words[0]}")


@case
def host_to_host(p):
    rows, _ = bench(p, "--place", "host", "--size", "4MiB", "aes-256")
    check_equal(sorted({(r["mode"], r["message_bytes"], r["pinned"]) for r in rows}),
                [("ctr", 4 << 20, False), ("ecb", 4 << 20, False), ("gcm", 16384, False), ("gcm", 4 << 20, False)], "rows")


@case
def file_to_file(p):
    for size in ("16KiB", "1MiB", "33MiB"):  # a last chunk that is empty, as every multiple of 16 KiB has
        rows, _ = bench(p, "--place", "file", "--size", size, "--directory", p.directory)
        check_equal(sorted((r["cipher"], r["operation"], r["place"]) for r in rows),
                    [(cipher, operation, "file") for cipher in ("aes-128", "aes-256") for operation in ("open", "seal")], "rows")
    check_equal([name for name in os.listdir(p.directory) if name.startswith("warpseal-bench")], [], "what is left behind")
    p.fails(15, "gcm", "bench", "--place", "file", "aes-256-ctr")
    p.fails(16, "nowhere", "bench", "--place", "file", "--directory", p.file("nowhere"))


@case
def json_on_stdout(p):
    result = p.ok("bench", *CORES, "--json", "-", "aes-128-ctr")
    check_equal(len(json.loads(result.out)["rows"]), 2, "rows")
    check("aes-128-ctr" in result.err, result.err)


@case
def usage(p):
    p.fails(15, "aes-129", "bench", "aes-129-ctr")
    p.fails(15, "rot-13", "bench", "rot-13")
    for wrong in (("--size", "many"), ("--size", "12"), ("--size", "0"), ("--against", "gnutls"), ("--place", "moon"), ("--threads", "0"),
                  ("--device", "sparc"), ("--device", "cpu", "--place", "device"), ("--message-size", "15")):
        check_equal(p.run("bench", *wrong).code, 2, f"exit code of {wrong}")
    masked = dict(os.environ, WARPSEAL_TARGETS="portable")
    for device in ("cuda", "vaes512"):
        check_equal(p.run("bench", "--device", device, env=masked).code, 20, f"exit code of {device}")
    p.fails(16, "nowhere", "bench", *CORES, "--json", "nowhere/figures.json", "aes-128-ctr")
    with open("/dev/full", "w") as full:
        check_equal(p.run("bench", *CORES, "aes-128-ctr", stdout=full).code, 16, "exit code with a full stdout")


@case
def wrong_outputs_give_no_figure(p):
    p.path = FAULTY
    host, batch, files = ("--size", "64KiB"), ("--size", "64KiB", "--message-size", "16KiB"), ("--place", "file", "--size", "1MiB")
    bulk = ("--place", "host", "--size", "1MiB")
    for fault, operation, what, arguments in [
            ("encrypt", "encrypt", "aes-128-ecb", host), ("encrypt", "encrypt", "aes-256-ctr", bulk), ("decrypt", "decrypt", "aes-128-ctr", host),
            ("decrypt", "decrypt", "aes-256-ecb", bulk), ("seal_unsafe_iv", "seal", "aes-256-gcm", host),
            ("seal_unsafe_iv_tag", "seal", "aes-256-gcm", host), ("open", "open", "aes-256-gcm", host), ("open", "open", "aes-256-gcm", bulk),
            ("encrypt_batch", "encrypt", "aes-128-ctr", batch), ("decrypt_batch", "decrypt", "aes-128-ctr", batch),
            ("seal_batch_unsafe_iv", "seal", "aes-128-gcm", batch), ("open_batch", "open", "aes-128-gcm", batch),
            ("seal_batch_unsafe_iv", "seal", "aes-128-gcm", bulk), ("file_seal", "seal", "aes-256-gcm", files),
            ("file_open", "open", "aes-256-gcm", files)]:
        result = p.run("bench", *CORES, "--json", "figures.json", *arguments, what, env=dict(os.environ, WARPSEAL_TEST_FAULT=fault))
        said = f"{fault} {what} {arguments}: {result.out.decode()} {result.err}"
        check_equal(result.code, 1, f"exit code with {said}")
        check("no figure" in result.err, said)
        by_that_call = [r for r in json.loads(p.read("figures.json"))["rows"] if r["operation"] == operation and
                        (r["place"] == "file" or ("batch" in fault) == (r["message_bytes"] < r["bytes"]))]
        check_equal(by_that_call, [], f"rows with {said}")


PRETEND_GPU = dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1")


@case
def cores_and_gpu_beside_each_other(p):
    """With a GPU made of the cores where there is none: which rows there are, not how fast."""
    p.path = FAULTY
    result = p.ok("bench", *QUICK, "--against", "openssl", "--size", "1MiB", "--json", "figures.json", "aes-256", env=PRETEND_GPU)
    report = json.loads(p.read("figures.json"))
    check_equal((report["head"]["gpu"], report["head"]["driver"]), ("pretended GPU", "0.0"), "head")
    on_gpu = sorted((r["mode"], r["operation"], r["message_bytes"]) for r in report["rows"] if r["device"] == "cuda")
    check_equal(on_gpu, [("ctr", "decrypt", 1 << 20), ("ctr", "encrypt", 1 << 20), ("ecb", "decrypt", 1 << 20), ("ecb", "encrypt", 1 << 20),
                         ("gcm", "open", 16384), ("gcm", "open", 1 << 20), ("gcm", "seal", 16384), ("gcm", "seal", 1 << 20)], "GPU rows")
    check_equal({(r["place"], r["bytes"]) for r in report["rows"] if r["device"] == "cuda"}, {("device", 1 << 20)}, "place")
    check_equal(len(report["rows"]), 8 + 6, "rows")
    check(all(r["ratio"] is not None for r in report["rows"]), "ratios")
    check_equal(sum(line.startswith("aes-256-") for line in result.out.decode().splitlines()), 8, "lines of the table")


@case
def host_to_host_through_a_gpu_is_pinned(p):
    p.path = FAULTY
    p.ok("bench", *QUICK, "--device", "cuda", "--place", "host", "--size", "1MiB", "--json", "figures.json", "aes-256-gcm", env=PRETEND_GPU)
    rows = json.loads(p.read("figures.json"))["rows"]
    check_equal({(r["place"], r["pinned"], r["device"]) for r in rows}, {("host", True, "cuda")}, "rows")
    check_equal(len(rows), 4, "rows")


@case
def wrong_outputs_of_a_gpu_give_no_figure(p):
    p.path = FAULTY
    for fault, what, left in [("encrypt_device", "aes-128-ctr", {"decrypt"}), ("decrypt_device", "aes-128-ecb", {"encrypt"}),
                              ("seal_batch_device_unsafe_iv", "aes-128-gcm", {"open"}), ("open_batch_device", "aes-128-gcm", {"seal"}),
                              ("seal_batch_device_unsafe_iv_tag", "aes-128-gcm", {"open"}), ("open_batch_device_status", "aes-128-gcm", {"seal"})]:
        result = p.run("bench", *QUICK, "--device", "cuda", "--size", "1MiB", "--json", "figures.json", what,
                       env=dict(PRETEND_GPU, WARPSEAL_TEST_FAULT=fault))
        check_equal(result.code, 1, f"exit code with {fault}: {result.err}")
        check_equal({r["operation"] for r in json.loads(p.read("figures.json"))["rows"]}, left, f"rows with {fault}")


main()
