"""`warpseal bench`: its table, JSON and options. It prints no figure for a wrong output."""

import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import NotRun, case, check, check_equal, main, wait_until  # noqa: E402

FAULTY = os.environ["WARPSEAL_FAULTY_PROGRAM"]
QUICK = ("--seconds", "0.01")
CORES = (*QUICK, "--device", "cpu")
HEAD = {"machine", "gpu", "driver", "date", "commit", "warpseal", "openssl", "cpu", "cores"}
ROW = {"cipher", "mode", "operation", "device", "place", "threads", "bytes", "message_bytes", "gigabytes_per_second",
       "openssl_gigabytes_per_second", "ratio", "checked_against"}
OPERATIONS = {"gcm": ("seal", "open"), "ccm": ("seal", "open"), "cmac": ("mac", "verify")}


def listed(p):
    """Returns cipher and mode of every entry of the program, with modes named as in the bench."""
    return [(row["cipher"], mode.rstrip("0123456789")) for row in json.loads(p.ok("list", "--json").out)["ciphers"] for mode in row["modes"]]


def modes_of(p, cipher):
    return [mode for name, mode in listed(p) if name == cipher]


def operations(mode):
    return OPERATIONS.get(mode, ("encrypt", "decrypt"))


def bench(p, *arguments):
    device = () if "--device" in arguments else ("--device", "cpu")
    result = p.ok("bench", *QUICK, *device, "--json", "figures.json", *arguments)
    report = json.loads(p.read("figures.json"))
    check(HEAD <= report["head"].keys(), f"head: {report['head'].keys()}")
    check_equal(report["head"]["seconds"], float(QUICK[1]), "how long for each figure")
    for row in report["rows"]:
        check(ROW <= row.keys(), f"row: {row.keys()}")
        check(row["gigabytes_per_second"] > 0, row)
        check(abs(row["gigabytes_per_second"] - statistics.median(row["repetitions"])) < 0.001 * row["gigabytes_per_second"], f"median: {row}")
    return report["rows"], result.out.decode()


@case
def everything(p):
    rows, table = bench(p, "--against", "openssl", "--size", "8KiB")
    names = {(r["cipher"], r["mode"], r["operation"]) for r in rows}
    wanted = {(cipher, mode, operation) for cipher, mode in listed(p) for operation in operations(mode)}
    check_equal(names, wanted, "cases")
    check_equal(len(rows), len(wanted), "rows")
    for row in rows:
        if row["ratio"] is not None:
            check(abs(row["ratio"] - row["gigabytes_per_second"] / row["openssl_gigabytes_per_second"]) < 0.01 * row["ratio"], row)
        check_equal((row["bytes"], row["message_bytes"], row["threads"], row["place"]), (8192, 8192, 1, "host"), "defaults")
        lines = [line for line in table.splitlines() if line.split()[:2] == [f"{row['cipher']}-{row['mode']}", row["operation"]]]
        check(lines, f"no line: {row}")
        said = re.search(r" ([\d.]+)x", lines[0])
        check(bool(said) == (row["ratio"] is not None) and (not said or abs(float(said[1]) - row["ratio"]) < 0.006 + 0.001 * row["ratio"]),
              f"ratio of {row} in {lines[0]}")
        check_equal("data_unit_bytes" in row, row["mode"] == "xts", f"data units: {row}")


@case
def the_yardstick_is_named(p):
    """OpenSSL lacks the mode but has the cipher: another target gives the expected output."""
    targets = ("portable", "aesni", "avx2", "vaes256", "vaes512")
    found = 0
    for what, yardstick in [("des-ede3-ctr", "des-ede3-ecb"), ("aes-192-xts", "aes-192-ecb"), ("aria-128-xts", "aria-128-ecb"),
                            ("camellia-256-gcm", "camellia-256-ecb"), ("camellia-128-ccm", "camellia-128-ecb")]:
        cipher, _, mode = what.rpartition("-")
        if mode not in modes_of(p, cipher):
            continue
        rows, table = bench(p, "--against", "openssl", "--size", "8KiB", what)
        check_equal({r.get("openssl_yardstick") for r in rows}, {yardstick}, what)
        check(all(r["checked_against"] in targets and r["checked_against"] != r["device"] for r in rows), f"{rows}")
        check(all(r["ratio"] for r in rows) and f"of {yardstick}" in table, f"{rows} {table}")
        found += 1
    if not found:
        raise NotRun("OpenSSL may have every mode of this program")
    rows, _ = bench(p, "--against", "openssl", "--size", "8KiB", "aes-256-gcm")
    check_equal({(r["checked_against"], r.get("openssl_yardstick")) for r in rows}, {("openssl aes-256-gcm", None)}, "aes-256-gcm")


@case
def messages_with_keys_of_their_own(p):
    for mode in modes_of(p, "aes-256"):
        if mode in ("ecb", "xts"):
            p.fails(15, "batches", "bench", *CORES, "--messages", 10, "--message-bytes", 1024, f"aes-256-{mode}")
            continue
        for own in ((), ("--key-per-message",)):
            rows, _ = bench(p, "--messages", 100, "--message-bytes", "1KiB", *own, f"aes-256-{mode}")
            check_equal([(r["operation"], r["bytes"], r["message_bytes"], r.get("key_per_message", False), r["place"]) for r in rows],
                        [(operation, 102400, 1024, bool(own), "host") for operation in operations(mode)], "rows")
    rows, _ = bench(p, "--against", "openssl", "--size", "64KiB", "--message-bytes", "1KiB", "--key-per-message", "aes-128-gcm")
    check_equal({(r["key_per_message"], r["buffer_per_thread"]) for r in rows}, {(True, True)}, "rows")


@case
def data_units(p):
    if "xts" not in modes_of(p, "aes-128"):
        raise NotRun("this program has no XTS")
    for unit in ("512", "4KiB", "64KiB"):
        rows, _ = bench(p, "--against", "openssl", "--data-unit-bytes", unit, "aes-128-xts")
        check_equal({(r["data_unit_bytes"], r["checked_against"]) for r in rows}, {(int(unit) if unit == "512" else int(unit[:-3]) * 1024,
                                                                                   "openssl aes-128-xts")}, "rows")
    rows, _ = bench(p, "--place", "host", "--size", "1MiB", "aes-128-xts")
    check_equal({(r["data_unit_bytes"], r["message_bytes"]) for r in rows}, {(4096, 1 << 20)}, "rows")


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


def large_rows(modes, size):
    """Returns mode, operation and message length of the rows of a large buffer."""
    rows = []
    for mode in modes:
        for operation in operations(mode):
            serial = mode in ("ofb", "ccm", "cmac") or (mode in ("cbc", "cfb") and operation == "encrypt")
            rows.append((mode, operation, 4096 if serial else size))
            rows += [(mode, operation, 16384)] if mode == "gcm" else []
    return sorted(rows)


@case
def host_to_host(p):
    rows, _ = bench(p, "--place", "host", "--size", "4MiB", "aes-256")
    check_equal({r["pinned"] for r in rows}, {False}, "pinned")
    check_equal(sorted((r["mode"], r["operation"], r["message_bytes"]) for r in rows), large_rows(modes_of(p, "aes-256"), 4 << 20), "rows")


def open_files(process):
    """Names of the files that the process has open; it may close one at any moment."""
    names = []
    for descriptor in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(f"/proc/{process}/fd/{descriptor}"))
    return names


@case
def file_to_file(p):
    for size in ("16KiB", "1MiB", "33MiB"):  # an empty last chunk, as every multiple of 16 KiB has
        rows, _ = bench(p, "--place", "file", "--size", size, "--directory", p.directory)
        check_equal(sorted((r["cipher"], r["operation"], r["place"]) for r in rows),
                    [(cipher, operation, "file") for cipher in ("aes-128", "aes-256") for operation in ("open", "seal")], "rows")
    check_equal([name for name in os.listdir(p.directory) if name.startswith("warpseal-bench")], [], "leftover files")

    def unnamed(name):
        return name.startswith(p.directory) and name.endswith(" (deleted)")

    process = p.start("bench", "--place", "file", "--size", "64MiB", "--directory", p.directory, "aes-256-gcm")
    if os.geteuid() == 0:
        wait_until(lambda: process.poll() is not None or any(map(unnamed, open_files(process.pid))), "it has made a file")
    else:
        time.sleep(0.5)  # other processes cannot list its open files
    process.kill()
    process.communicate()
    check_equal(process.returncode, -signal.SIGKILL, "killed while it measures")
    check_equal([name for name in os.listdir(p.directory) if name.startswith("warpseal-bench")], [], "leftovers of kill -9")
    for seconds in ("nan", "inf", "0"):
        p.fails(2, "--seconds", "bench", "--place", "file", "--seconds", seconds)
        p.fails(2, "--seconds", "kem", "bench", "--seconds", seconds)
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
                  ("--device", "sparc"), ("--device", "cpu", "--place", "device"), ("--message-size", "15"), ("--messages", "3"),
                  ("--key-per-message",), ("--messages", "3", "--message-bytes", "16", "--size", "1MiB"), ("--data-unit-bytes", "100")):
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
            ("file_open", "open", "aes-256-gcm", files), ("encrypt", "encrypt", "aes-128-cbc", host), ("decrypt", "decrypt", "aes-128-cfb", bulk),
            ("encrypt", "encrypt", "aes-256-ofb", host), ("xts_encrypt", "encrypt", "aes-256-xts", host),
            ("xts_decrypt", "decrypt", "aes-256-xts", bulk), ("seal_unsafe_iv", "seal", "aes-128-ccm", host),
            ("open_batch", "open", "aes-128-ccm", bulk), ("mac", "mac", "aes-128-cmac", host), ("mac_verify", "verify", "aes-128-cmac", host),
            ("mac_batch", "mac", "aes-128-cmac", bulk), ("encrypt_batch", "encrypt", "aes-128-cbc", bulk),
            ("encrypt_late", "encrypt", "aes-128-ctr", host), ("decrypt_late", "decrypt", "aes-128-ctr", bulk),
            ("decrypt_nothing", "decrypt", "aes-128-ctr", bulk)]:  # where the encryption before it left the right output
        if what.rpartition("-")[2] not in modes_of(p, what.rpartition("-")[0]):
            continue
        result = p.run("bench", *CORES, "--json", "figures.json", *arguments, what, env=dict(os.environ, WARPSEAL_TEST_FAULT=fault))
        said = f"{fault} {what} {arguments}: {result.out.decode()} {result.err}"
        check_equal(result.code, 1, f"exit code with {said}")
        check("no figure" in result.err, said)
        by_that_call = [r for r in json.loads(p.read("figures.json"))["rows"] if r["operation"] == operation and
                        (r["place"] == "file" or ("batch" in fault) == (r["message_bytes"] < r["bytes"]))]
        check_equal(by_that_call, [], f"rows with {said}")


PRETEND_GPU = dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1")


@case
def cores_and_gpu_in_one_table(p):
    """Uses a GPU made of the cores where there is none: checks which rows exist, not their speed."""
    p.path = FAULTY
    result = p.ok("bench", *QUICK, "--against", "openssl", "--size", "1MiB", "--json", "figures.json", "aes-256", env=PRETEND_GPU)
    report = json.loads(p.read("figures.json"))
    check_equal((report["head"]["gpu"], report["head"]["driver"]), ("pretended GPU", "0.0"), "head")
    on_gpu = sorted((r["mode"], r["operation"], r["message_bytes"]) for r in report["rows"] if r["device"] == "cuda")
    check_equal(on_gpu, large_rows(modes_of(p, "aes-256"), 1 << 20), "GPU rows")
    check_equal({(r["place"], r["bytes"]) for r in report["rows"] if r["device"] == "cuda"}, {("device", 1 << 20)}, "place")
    check_equal(len(report["rows"]), len(on_gpu) + 2 * len(modes_of(p, "aes-256")), "rows")
    check(all(r["ratio"] is not None for r in report["rows"]), "ratios")
    check_equal(sum(line.startswith("aes-256-") for line in result.out.decode().splitlines()), len(on_gpu), "lines of the table")


@case
def host_to_host_through_a_gpu_is_pinned(p):
    p.path = FAULTY
    p.ok("bench", *QUICK, "--device", "cuda", "--place", "host", "--size", "1MiB", "--json", "figures.json", "aes-256-gcm", env=PRETEND_GPU)
    rows = json.loads(p.read("figures.json"))["rows"]
    check_equal({(r["place"], r["pinned"], r["device"]) for r in rows}, {("host", True, "cuda")}, "rows")
    check_equal(len(rows), 4, "rows")
    for row in rows:
        check_equal(row["bound_gigabytes_per_second"], row["link_gigabytes_per_second"], "bound")
        check(abs(row["link_ratio"] - row["gigabytes_per_second"] / row["link_gigabytes_per_second"]) < 0.01 * row["link_ratio"], row)


@case
def a_job_on_two_gpus(p):
    """One message is split between the GPUs; a tag covers a whole message. Both GPUs' segments are
    checked, and one GPU alone is listed beside them."""
    p.path = FAULTY
    job = ["bench", *QUICK, "--device", "cuda:0,1", "--place", "device", "--json", "figures.json"]
    p.ok(*job, "--size", "4MiB", "aes-128", env=PRETEND_GPU)
    rows = json.loads(p.read("figures.json"))["rows"]
    for row in rows:
        check_equal((row["device"], row["place"], row["gpus"], row["bytes"]), ("cuda:0,1", "device", 2, 4 << 20), "row")
        check(abs(row["gpu_ratio"] - row["gigabytes_per_second"] / row["one_gpu_gigabytes_per_second"]) < 0.02 * row["gpu_ratio"], row)
    large = {(r["mode"], r["operation"], r["message_bytes"]) for r in rows}
    check(large >= {("ctr", "encrypt", 4 << 20), ("gcm", "seal", 2 << 20), ("gcm", "open", 16 << 10), ("cbc", "encrypt", 4 << 10),
                    ("cbc", "decrypt", 4 << 20), ("xts", "encrypt", 4 << 20), ("cmac", "verify", 4 << 10)}, f"rows: {large}")
    p.ok(*job, "--messages", "256", "--message-bytes", "4KiB", "--key-per-message", "aes-128-gcm", "aes-128-ctr", "aes-128-cmac", env=PRETEND_GPU)
    check_equal(len(json.loads(p.read("figures.json"))["rows"]), 6, "rows of messages with keys of their own")
    p.fails(2, "whole messages", "bench", "--device", "cuda:0,1", "--place", "device", "--size", "1MiB", "aes-128-ctr", env=PRETEND_GPU)
    for fault, what, left in [("encrypt_device", "aes-128-ctr", {"decrypt"}), ("seal_batch_device_unsafe_iv", "aes-128-gcm", set()),
                              ("seal_batch_device_unsafe_iv_tag", "aes-128-gcm", set()), ("open_batch_device", "aes-128-gcm", {"seal"}),
                              ("open_batch_device_status", "aes-128-gcm", {"seal"}), ("mac_batch_device_tag", "aes-128-cmac", set()),
                              ("encrypt_device_1", "aes-128-ctr", {"decrypt"})]:
        result = p.run(*job, "--size", "4MiB", what, env=dict(PRETEND_GPU, WARPSEAL_TEST_FAULT=fault))
        check_equal(result.code, 1, f"exit code with {fault}: {result.err}")
        check_equal({r["operation"] for r in json.loads(p.read("figures.json"))["rows"]}, left, f"rows with {fault}")


@case
def figures_are_bytes_by_the_clock(p):
    """Every call takes a tenth of a second on any machine, or more on a busy one: checks an upper
    bound, and that the best repetition is not half of the figure."""
    p.path, ctr = FAULTY, "aes-128-ctr"
    per_call = {"host": 1 << 20, "device": 1 << 20, "file": 1 << 20, "cores": 2 * (64 << 10), "two": 2 << 20}
    for where, fault, arguments in (("cores", "encrypt_slow", ("--device", "cpu", "--threads", "2", ctr)),
                                    ("host", "encrypt_slow", ("--device", "cpu", "--place", "host", "--size", "1MiB", ctr)),
                                    ("file", "file_seal_slow", ("--device", "cpu", "--place", "file", "--size", "1MiB", "aes-128-gcm")),
                                    ("device", "encrypt_slow", ("--device", "cuda", "--size", "1MiB", ctr)),
                                    ("two", "encrypt_slow", ("--device", "cuda:0,1", "--place", "device", "--size", "4MiB", ctr))):
        p.ok("bench", *QUICK, *arguments, "--json", "figures.json", env=dict(PRETEND_GPU, WARPSEAL_TEST_FAULT=fault))
        row = next(r for r in json.loads(p.read("figures.json"))["rows"] if r["operation"] in ("encrypt", "seal"))
        wanted = per_call[where] / 0.1 / 1e9
        for name, best in (("all", max(row["repetitions"])), ("one GPU", row.get("one_gpu_gigabytes_per_second", wanted))):
            check(0.6 * wanted < best < 1.001 * wanted, f"{name} of {where}: {wanted} GB/s wanted: {row}")


CORES_ALONE = dict(os.environ, WARPSEAL_TARGETS="portable,aesni,avx2,vaes256,vaes512")


@case
def a_bad_point_of_auto_decides_the_exit_code(p):
    """Only auto is wrong, does nothing over a correct old output, has a wrong tag, or takes 20 ms
    where others take 17."""
    p.path = FAULTY
    for fault, why in (("auto", "auto has another output than portable"), ("auto_nothing", "auto has another output than portable"),
                       ("seal_unsafe_iv_tag", "not what it must be")):
        result = p.run("bench", "auto", "--size", "4KiB", "--json", "auto.json", env=dict(CORES_ALONE, WARPSEAL_TEST_FAULT=fault))
        check_equal(result.code, 1, f"exit code with {fault}")
        check(why in result.err, f"{fault}: {result.err}")
    result = p.run("bench", "auto", "--size", "4KiB", "--json", "auto.json", env=dict(os.environ, WARPSEAL_TEST_FAULT="auto_slow", WARPSEAL_TARGETS="portable"))
    slow = [point for point in json.loads(p.read("auto.json"))["points"] if point["mode"] == "ctr"]
    check_equal((result.code, len(slow), [point for point in slow if point["good"]]), (1, 3, []), "auto at 85 %")
    for point in slow:
        check(point["attempts"] == 3 and 0.9 * 4096 / 0.02 / 1e9 < point["gigabytes_per_second"] < 4096 / 0.02 / 1e9, f"GB/s of {point}")


@case
def auto_has_sixty_points(p):
    """No point has a figure if no key can be created."""
    p.path = FAULTY
    result = p.run("bench", "auto", env=dict(CORES_ALONE, WARPSEAL_TEST_FAULT="key_create"))
    check_equal(result.code, 1, "exit code")
    check_equal((result.err.count("making a key"), result.out.decode().count("  NOT RUN: there is no GPU\n")), (20, 40), "points")
    check("\n0 of 60 points within 10 % of the best; 40 NOT RUN" in result.out.decode(), result.out.decode())


@case
def auto_is_compared_with_the_best(p):
    """A shared machine may well have a bad point: the exit code reports that and nothing else."""
    masked = dict(os.environ, WARPSEAL_TARGETS="portable,aesni,avx2,vaes256,vaes512")
    result = p.run("bench", "auto", "--size", "4KiB,64KiB", "--json", "auto.json", env=masked)
    report = json.loads(p.read("auto.json"))
    points = report["points"]
    check_equal((len(points), report["left_out"]), (10, 20), "points on cores, and those that want a GPU")
    check_equal(result.code, 0 if all(point["good"] for point in points) else 1, f"exit code: {result.out}")
    for place in ("pinned", "device"):
        check_equal(result.out.decode().count(f"{place}  NOT RUN: there is no GPU"), 10, f"lines of {place} memory")
    for point in points:
        rates = point["candidates_gigabytes_per_second"]
        check_equal(point["best_gigabytes_per_second"], max(rates.values()), f"the best: {point}")
        check_equal(point["gigabytes_per_second"], rates["auto"], f"auto: {point}")
        check_equal(point["good"], rates["auto"] >= 0.9 * max(rates.values()), f"good: {point}")
        check(point["picked"] in rates, f"picked: {point}")


@case
def wrong_outputs_are_found_by_the_points_of_auto(p):
    p.path = FAULTY
    p.fails(1, "not what it must be", "bench", "auto", "--size", "4KiB", "--json", "-",
            env=dict(os.environ, WARPSEAL_TEST_FAULT="encrypt", WARPSEAL_TARGETS="portable,aesni,avx2,vaes256,vaes512"))


@case
def wrong_outputs_of_a_gpu_give_no_figure(p):
    p.path = FAULTY
    for fault, what, left in [("encrypt_device", "aes-128-ctr", {"decrypt"}), ("decrypt_device", "aes-128-ecb", {"encrypt"}),
                              ("seal_batch_device_unsafe_iv", "aes-128-gcm", {"open"}), ("open_batch_device", "aes-128-gcm", {"seal"}),
                              ("seal_batch_device_unsafe_iv_tag", "aes-128-gcm", {"open"}), ("open_batch_device_status", "aes-128-gcm", {"seal"}),
                              ("xts_encrypt_device", "aes-128-xts", {"decrypt"}), ("mac_batch_device_tag", "aes-128-cmac", {"verify"}),
                              ("encrypt_batch_device", "aes-128-cbc", {"decrypt"}), ("decrypt_device", "aes-128-cbc", {"encrypt"})]:
        if what.rpartition("-")[2] not in modes_of(p, "aes-128"):
            continue
        result = p.run("bench", *QUICK, "--device", "cuda", "--size", "1MiB", "--json", "figures.json", what,
                       env=dict(PRETEND_GPU, WARPSEAL_TEST_FAULT=fault))
        check_equal(result.code, 1, f"exit code with {fault}: {result.err}")
        check_equal({r["operation"] for r in json.loads(p.read("figures.json"))["rows"]}, left, f"rows with {fault}")


main()
