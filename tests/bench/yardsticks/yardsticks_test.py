"""`warpseal bench --against`: several libraries beside ours, by fakes with faults and by those of
this machine. A library or a mode that is lacking reads NOT RUN and has no figure."""

import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/cli"))
from program import NotRun, case, check, check_equal, main  # noqa: E402

FAKES = pathlib.Path(os.environ["WARPSEAL_FAKES"])
LIBGCRYPT, BOTAN = f"libgcrypt={FAKES}/warpseal-test-fake-libgcrypt.so", f"botan={FAKES}/warpseal-test-fake-botan.so"
LIBCRYPTO = f"openssl3.5={FAKES}/warpseal-test-fake-libcrypto.so"
QUICK = ("bench", "--seconds", "0.01", "--size", "8KiB", "--device", "cpu")
NO_BOTAN = "NOT RUN: Botan cannot be loaded: there is no libbotan-3.so.30 … libbotan-2.so.0"
OLD_ROW = {"cipher", "mode", "operation", "device", "place", "threads", "bytes", "message_bytes", "gigabytes_per_second",
           "openssl_gigabytes_per_second", "ratio", "buffer_per_thread", "checked_against", "repetitions", "openssl_threads",
           "openssl_repetitions"}


def bench(p, against, *arguments, **env):
    """The rows by mode and operation, and the table."""
    result = p.ok(*QUICK, "--against", against, "--json", "report.json", *arguments, env={**os.environ, **env})
    rows = json.loads(p.read("report.json"))["rows"]
    return {f"{row['cipher']}-{row['mode']} {row['operation']}": row for row in rows}, result.out.decode()


def check_row(row, ran, not_run=()):
    """The yardsticks that ran and did not run, each ratio, and which is the best."""
    by_name = {one["name"]: one for one in row["yardsticks"]}
    check_equal(set(by_name), {*ran, *not_run}, f"yardsticks of {row}")
    for name in not_run:
        one = by_name[name]
        check(one["not_run"] and not {"gigabytes_per_second", "ratio", "repetitions"} & one.keys(), one)
    for name in ran:
        one = by_name[name]
        check_equal((one["threads"], len(one["repetitions"])), (row["threads"], 7), f"{name} of {row}")
        median = statistics.median(one["repetitions"])
        check(abs(one["gigabytes_per_second"] - median) < 0.001 * median, one)
        check(abs(one["ratio"] - row["gigabytes_per_second"] / median) < 0.01 * one["ratio"], one)
    if not ran:
        check_equal((row["best"], row["ratio"]), (None, None), f"no best of {row}")
        return
    rates = [by_name[name]["gigabytes_per_second"] for name in ran]
    check_equal(by_name[row["best"]]["gigabytes_per_second"], max(rates), f"the best of {row}")
    check_equal(row["ratio"], by_name[row["best"]]["ratio"], f"ratio of {row}")


@case
def the_best_of_fakes(p):
    for slow, best in (("libgcrypt", "botan"), ("botan", "libgcrypt")):
        rows, table = bench(p, f"{LIBGCRYPT},{BOTAN}", "aes-128-ecb", FAKE_SLOW=slow)
        for row in rows.values():
            check_row(row, ("libgcrypt", "botan"))
            check_equal(row["best"], best, f"slow: {slow}")
            rates = {one["name"]: one["gigabytes_per_second"] for one in row["yardsticks"]}
            check(rates[slow] < 8192 / 0.002 / 1e9, f"a call of 2 ms: {rates}")
            check_equal(row["openssl_gigabytes_per_second"], None, "OpenSSL was not asked for")
            check_equal([one["version"] for one in row["yardsticks"]], ["9.8.7", "8.7.6"], "versions")
        check_equal(len(rows), 2, "rows")
        check_equal(table.count(f"x  of {best}"), 2, table)
        check("libgcrypt   9.8.7\nbotan       8.7.6\n" in table, table)


@case
def threads_and_large_buffers(p):
    rows, _ = bench(p, f"{LIBGCRYPT},openssl", "--threads", 2, "aes-128-ecb")
    for row in rows.values():
        check_row(row, ("libgcrypt", "openssl"))
    rows, _ = bench(p, f"{LIBGCRYPT},openssl", "--place", "host", "aes-128-ecb")
    for row in rows.values():
        check_row(row, ("libgcrypt", "openssl"))
    p.ok("bench", "survey", "--seconds", "0.01", "--device", "cpu", "--max-size", "4KiB", "--against", LIBGCRYPT, "--json", "report.json", "aes-128")
    by_mode = {row["mode"]: row for row in json.loads(p.read("report.json"))["rows"]}
    check_equal({one["cipher"] for row in by_mode.values() for one in row["yardsticks"]}, {"AES128-ecb"}, "survey")


@case
def openssl_alone_has_the_old_fields(p):
    rows, table = bench(p, "openssl", "aes-128-ctr")
    for row in rows.values():
        check_equal(set(row), OLD_ROW, "fields")
        check_equal(row["ratio"], float(f"{row['ratio']:.4g}"), "ratio")
        check(abs(row["ratio"] - row["gigabytes_per_second"] / row["openssl_gigabytes_per_second"]) < 0.01 * row["ratio"], row)
    check("OpenSSL    ratio\n" in table and " of " not in table.splitlines()[-1], table)
    rows, _ = bench(p, f"openssl,{LIBGCRYPT}", "aes-128-ecb")
    for row in rows.values():
        check_equal(set(row), OLD_ROW | {"best", "yardsticks"}, "fields of several")
        check_equal(row["openssl_gigabytes_per_second"], row["yardsticks"][0]["gigabytes_per_second"], "OpenSSL's rate")


@case
def a_mode_that_is_lacking(p):
    """ECB stands in for the mode if no yardstick has it, and only then."""
    rows, table = bench(p, f"openssl,{LIBGCRYPT}", "aes-128-ctr")
    for row in rows.values():
        check_row(row, ("openssl",), ("libgcrypt",))
        check_equal(row["yardsticks"][1]["not_run"], "it has no aes-128-ctr", "reason")
    check_equal(sum("NOT RUN" in line and line.startswith("aes-128-ctr") for line in table.splitlines()), 2, table)
    rows, table = bench(p, f"{LIBGCRYPT},{BOTAN}", "aes-128-ctr", FAKE_SLOW="botan")
    for row in rows.values():
        check_row(row, ("libgcrypt", "botan"))
        check_equal([(one["cipher"], one["ecb_instead"]) for one in row["yardsticks"]], [("AES128-ecb", True), ("AES-128-ecb", True)], "ECB")
    check("of libgcrypt AES128-ecb" in table, table)
    rows, table = bench(p, f"{LIBGCRYPT},{BOTAN}", "aes-256-ctr", "lea-128")
    for row in rows.values():
        check_row(row, (), ("libgcrypt", "botan"))
    check("x" not in [word[-1] for line in table.splitlines()[-5:] for word in line.split()], table)


@case
def a_library_that_is_absent(p):
    result = p.run(*QUICK, "--against", "botan", "--json", "report.json", "aes-128-ecb", env={**os.environ, "LD_LIBRARY_PATH": ""})
    check_equal(result.code, 0, result.err)
    rows = json.loads(p.read("report.json"))["rows"]
    if rows[0]["best"]:
        raise NotRun("this machine has Botan")
    for row in rows:
        check_row(row, (), ("botan",))
        check(row["gigabytes_per_second"] > 0 and "version" not in row["yardsticks"][0], row)
    check(f"botan       {NO_BOTAN}\n" in result.out.decode(), result.out.decode())


@case
def wrong_outputs_and_failures_give_no_figure(p):
    for against, name in ((LIBGCRYPT, "libgcrypt AES128-ecb"), (BOTAN, "botan AES-128-ecb")):
        for fault, words in (("wrong", f"{name}: the output is not what it must be"), ("late", f"{name}: the output is not what it must be"),
                             ("fails", f"{name}: a call failed")):
            result = p.run(*QUICK, "--against", against, "--json", "report.json", "aes-128-ecb", env={**os.environ, "FAKE_FAULT": fault})
            check_equal(result.code, 1, f"exit code with {fault}: {result.err}")
            check_equal(result.err.count(words), 2, f"{fault}: {result.err}")
            check_equal(json.loads(p.read("report.json"))["rows"], [], f"rows with {fault}")
            os.remove(p.file("report.json"))
        p.fails(1, "does not take a key of aes-128-ecb", *QUICK, "--against", against, "aes-128-ecb", env={**os.environ, "FAKE_FAULT": "refuses"})


@case
def libraries_that_are_none(p):
    for against, words in ((f"libgcrypt={FAKES}/warpseal-test-fake-libgcrypt-lacks.so", "lacks the function gcry_cipher_setctr"),
                           (f"botan={FAKES}/warpseal-test-fake-botan-lacks.so", "lacks the function botan_mac_final"),
                           ("libgcrypt=libm.so.6", "lacks the function gcry_check_version"), ("botan=./none.so", "there is no ./none.so"),
                           ("openssl3.5=./none.so", "libcrypto of OpenSSL 3.5 cannot be loaded")):
        if "openssl3.5" not in against or not sanitized(p):
            p.fails(1, words, *QUICK, "--against", against, "aes-128-ecb")


def sanitized(p):
    """A sanitizer does not let a program load a second libcrypto."""
    return "this sanitizer" in p.run(*QUICK, "--against", LIBCRYPTO, "aes-128-ecb").err


@case
def versions_of_openssl(p):
    if sanitized(p):
        raise NotRun("a sanitizer does not load a second libcrypto")
    for version, words in (("3.4", ["is OpenSSL 3.4, and 3.5 or later", "bench/in_debian_13"]), ("2.9", "is OpenSSL 2.9"), ("3.5", "lacks the function OPENSSL_init_crypto"),
                           ("4.0", "lacks the function OPENSSL_init_crypto")):
        p.fails(1, words, *QUICK, "--against", LIBCRYPTO, "aes-128-ecb", env={**os.environ, "FAKE_VERSION": version})
    linked = json.loads(p.ok(*QUICK, "--json", "-", "aes-128-ecb").out)["head"]["openssl"].split()[1]
    if tuple(map(int, linked.split(".")[:2])) < (3, 5):
        p.fails(1, f"is OpenSSL {linked.rpartition('.')[0]}, and 3.5", *QUICK, "--against", "openssl3.5", "aes-128-ecb")
    else:
        row = bench(p, "openssl,openssl3.5", "aes-128-ecb")[0]["aes-128-ecb encrypt"]
        check_equal([one["version"] for one in row["yardsticks"]], [linked] * 2, "the linked one")


@case
def usage(p):
    for against, words in (("gnutls", "it takes openssl, openssl3.5, libgcrypt, botan"), ("openssl,gnutls", "no 'gnutls'"), ("openssl=/x", "has no path"),
                           ("botan=", "needs a path"), ("openssl,openssl", "openssl twice"), (f"{LIBGCRYPT},libgcrypt", "libgcrypt twice"), ("", "--against")):
        p.fails(2, words, *QUICK, "--against", against, "aes-128-ecb")


# Modes that a library has for these ciphers in every version since libgcrypt 1.10 and Botan 2.19.
PARALLEL = ("ecb", "ctr", "cbc", "cfb", "ofb", "cmac")
FULL = (*PARALLEL, "gcm", "ccm", "xts")
HAS = {"libgcrypt": {"aes-128": FULL, "aes-256": FULL, "camellia-192": FULL, "sm4-128": FULL, "seed-128": FULL, "des-ede3": PARALLEL},
       "botan": {"aes-128": FULL, "aes-256": FULL, "camellia-192": FULL, "aria-256": FULL, "sm4-128": FULL, "seed-128": FULL, "des-ede3": PARALLEL}}


def everything_of(p, name):
    """Each output of the library is compared, in batches of messages with keys of their own too."""
    has = HAS[name]
    for more in ((), ("--message-bytes", "1008", "--key-per-message")):
        rows, _ = bench(p, f"openssl,{name}", *more, *has)
        for what, row in rows.items():
            there = {one["name"] for one in row["yardsticks"] if "not_run" not in one}
            check_row(row, there, {"openssl", name} - there)
            check(name in there or row["mode"] not in has[row["cipher"]], f"{name} was not run: {what} {row}")
    check_equal({row["cipher"] for row in rows.values()}, set(has), "ciphers")


@case
def libgcrypt_of_this_machine(p):
    try:
        ctypes.CDLL("libgcrypt.so.20")
    except OSError as error:
        raise NotRun(f"this machine has no libgcrypt: {error}") from error
    everything_of(p, "libgcrypt")


@case
def botan_of_this_machine(p):
    row = next(iter(bench(p, "botan", "aes-128-ecb")[0].values()))
    if not row["best"]:
        raise NotRun(f"this machine has no Botan: {row['yardsticks'][0]['not_run']}")
    everything_of(p, "botan")


@case
def in_debian_13(p):
    """OpenSSL 3.0 and 3.5 in one process differ, and 3.5 alone has its legacy provider."""
    chroot = pathlib.Path(os.environ.get("WARPSEAL_DEBIAN_13") or ROOT / "build/debian-13")
    packages = chroot / "etc/warpseal-packages"
    there = packages.read_text().split() if packages.exists() else []
    if not {"libgomp1", "libgcrypt20", "libbotan-3-7"} <= set(there):
        check(os.environ.get("WARPSEAL_NEEDS_DEBIAN_13") != "1", f"{chroot} has no more than {there}")
        raise NotRun("no Debian 13 with libgcrypt and Botan")
    if sanitized(p):
        raise NotRun("a sanitizer does not load a second libcrypto")

    def run(against, *names):
        env = {**os.environ, "BENCH": os.environ["WARPSEAL_BENCH"]}
        command = [ROOT / "bench/in_debian_13", *QUICK[1:], "--against", against, "--json", "-", *names]
        result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        check_equal(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    report = run("openssl,openssl3.5,libgcrypt,botan", "aes-128", "seed-128-ecb")
    check(not report["head"]["openssl"].startswith("OpenSSL 3.5"), report["head"])
    for row in report["rows"]:
        lacks = ("openssl3.5",) if row["cipher"] == "seed-128" else ()
        check_row(row, {"openssl", "openssl3.5", "libgcrypt", "botan"} - set(lacks), lacks)
        versions = {one["name"]: one["version"] for one in row["yardsticks"]}
        check(versions["openssl"] != versions["openssl3.5"] and versions["openssl3.5"].startswith("3.5"), versions)
    report = run("openssl3.5,libgcrypt,botan", "seed-128-ecb")
    for row in report["rows"]:
        check_row(row, ("openssl3.5", "libgcrypt", "botan"))


main()
