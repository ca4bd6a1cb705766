"""bench/file_through_gpu: bounds and outcomes, refusals, and that it leaves no file behind."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "bench")]
from file_paths import runs, stores, outcomes  # noqa: E402
from file_paths.refusal import Refusal  # noqa: E402
from program import NotRun, case, check, check_equal, main, wait_until  # noqa: E402
from whole_file import write_whole  # noqa: E402

FAKE = ROOT / "tests/bench/fake_warpseal"
MIB = 1 / 1024  # in GiB
STORES = ("tmpfs", "page cache", "disk")


def measure(p, *arguments, program=FAKE, fault="", **options):
    """Runs the script on files in the test's directories, which must be empty afterwards."""
    folders = prepare(p)
    command = [sys.executable, ROOT / "bench/file_through_gpu", "--program", program]
    command += ["--tmpfs", folders[0], "--directory", folders[1], "--json", p.file("report")]
    environment = {**os.environ, "FAKE": fault, "TMPDIR": folders[2]}
    process = subprocess.Popen(
        [*map(str, command), *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    return process, folders


def prepare(p):
    folders = [tempfile.mkdtemp(prefix="warpseal-test-", dir="/dev/shm"), p.file("disk")]
    folders.append(p.file("temporary"))
    for folder in folders[1:]:
        os.makedirs(folder, exist_ok=True)
    return folders


def ended(process, folders, code):
    out, err = process.communicate(timeout=600)
    left = [name for folder in folders for name in os.listdir(folder)]
    os.rmdir(folders[0])
    check_equal(process.returncode, code, f"exit code ({err})")
    check_equal(left, [], "files left behind")
    return out, err


def on_a_disk(p):
    mounts = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    return stores.file_system_of(pathlib.Path(p.directory), mounts) not in ("tmpfs", "ramfs")


def row(device, threads, rates, **more):
    made = {"device": device, "threads": threads, "cipher": "a", "operation": "encrypt"}
    made |= {"place": "tmpfs", "bytes": 10**9, **more}
    outcomes.add_figures(made, [1 / rate for rate in rates])
    return made


# ---- pure functions


@case
def figures_are_medians_of_rates(p):
    made = row("cpu", 1, [1.0, 4.0, 2.0])
    check_equal(made["gigabytes_per_second"], 2.0, "median")
    check_equal(made["repetitions"], [1.0, 4.0, 2.0], "repetitions")
    check_equal(made["seconds"], 0.5, "seconds")


@case
def a_bound_is_the_least_of_copy_and_link(p):
    copies = [
        {"command": "copy by 16 processes", "threads": 16, "gigabytes_per_second": 9.0},
        {"command": "copy by 1 process", "threads": 1, "gigabytes_per_second": 2.0},
        {"command": "copy by cp", "gigabytes_per_second": 3.0},
    ]

    def bound(made, link):
        outcomes.add_bound(made, copies, link)
        return made.get("bound_gigabytes_per_second"), made.get("bound", "")

    check_equal(bound(row("cpu", 1, [1]), 1.0), (3.0, "plain copy by cp, synced"), "one core")
    check_equal(bound(row("cpu", 16, [1]), 1.0)[0], 9.0, "cores do not use the link")
    check_equal(bound(row("cuda", 16, [1]), 8.0), (8.0, outcomes.LINK), "a slow link")
    check_equal(bound(row("cuda", 16, [1]), 50.0)[0], 9.0, "a fast link")
    check_equal(bound(row("cuda", 16, [1]), None)[0], 9.0, "a link that was not measured")
    nothing = row("cpu", 1, [1])
    outcomes.add_bound(nothing, [], None)
    check("bound" not in nothing, "a bound without a copy")


@case
def a_gpu_pays_where_it_is_faster_than_the_best_cores(p):
    def outcome(gpu, *cores):
        made = row("cuda", 16, gpu)
        outcomes.add_outcomes([made, *cores])
        return made.get("pays"), made.get("pays_over_threads")

    one, many = row("cpu", 1, [1.0, 1.1]), row("cpu", 16, [5.0, 5.2])
    check_equal(outcome([6.0, 6.1], one, many), ("yes", [1, 16]), "faster than all")
    check_equal(outcome([4.0, 4.1], one, many), ("no", [1]), "between")
    check_equal(outcome([5.1, 5.3], one, many), ("within the spread", [1]), "overlapping")
    check_equal(outcome([0.5, 0.6], one, many), ("no", []), "slower than all")
    for key, other in (("place", "disk"), ("cipher", "b"), ("operation", "decrypt"), ("bytes", 1)):
        elsewhere = row("cpu", 16, [9.0], **{key: other})
        check_equal(outcome([6.0], many, elsewhere)[0], "yes", f"another {key}")
    check_equal(outcome([6.0]), (None, None), "without cores")
    not_run = {**row("cpu", 16, [1]), "repetitions": []}
    check_equal(outcome([6.0], not_run), (None, None), "with cores that were not run")


@case
def a_size_from_which_a_gpu_pays(p):
    def crossing(gpu_rate, gpu_startup, cores_rate, cores_startup):
        gpu = {"sustained_gigabytes_per_second": gpu_rate, "startup_seconds": gpu_startup}
        cores = {"sustained_gigabytes_per_second": cores_rate, "startup_seconds": cores_startup}
        return outcomes.crossing_bytes(gpu, cores)

    # 0.5 s + x / 4 = 0.1 s + x / 2 at x = 1.6 GB
    check_equal(crossing(4.0, 0.5, 2.0, 0.1), 1_600_000_000, "bytes")
    check_equal(crossing(2.0, 0.5, 4.0, 0.1), None, "a GPU that is slower")
    check_equal(crossing(4.0, 0.1, 2.0, 0.5), 0, "a GPU that starts sooner")
    check_equal(crossing(None, 0.5, 2.0, 0.1), None, "a run as short as its startup")
    check_equal(outcomes.sustained(row("cuda", 1, [1.0]), 0.5), 2.0, "half of it is startup")
    check_equal(outcomes.sustained(row("cuda", 1, [1.0]), 1.5), None, "all of it is startup")


@case
def the_target_is_parsed(p):
    for text, target in (
        ("warpseal: encrypted 1.0 GiB on vaes512 in 0.50 s (2.15 GB/s)", "vaes512"),
        ("x\nwarpseal: decrypted 3 B on cuda (picked by auto) in 0.50 s (0.00 GB/s)", "cuda"),
        ("warpseal: des-ede3-ctr is unauthenticated: whoever can change on x in y", ""),
        ("", ""),
    ):
        check_equal(runs.target_in(text), target, repr(text))


@case
def a_file_system_is_found_by_its_longest_mount(p):
    mounts = (
        "1 0 8:1 / / rw - ext4 /dev/sda rw\n"
        "2 1 0:9 / /dev/shm rw shared:1 - tmpfs tmpfs rw\n"
        "3 1 8:2 / /a\\040b rw - xfs /dev/sdb rw\n"
        "4 1 8:3 / /late rw - ext4 /dev/sdc rw\n"
        "5 1 8:4 / /late rw - btrfs /dev/sdd rw\n"
    )
    for path, kind in (("/", "ext4"), ("/dev/shm/x", "tmpfs"), ("/dev/shmx", "ext4"),
                       ("/a b/c", "xfs"), ("/late/x", "btrfs")):
        check_equal(stores.file_system_of(pathlib.Path(path), mounts), kind, path)


@case
def copies_and_digests_are_of_the_whole_file(p):
    size = 3 * stores.PIECE + 1000
    plain, again = pathlib.Path(p.file("plain")), pathlib.Path(p.file("again"))
    random = os.urandom(stores.PART)
    digest = stores.write_input(plain, size, random)
    check_equal(plain.stat().st_size, size, "size")
    check_equal(stores.digest_of(plain), digest, "digest")
    for processes in (1, 2, 7):
        check(stores.copy(plain, again, processes) > 0, "seconds")
        check_equal(stores.digest_of(again), digest, f"copy by {processes}")
        again.unlink()
    stores.copy_by_cp(plain, again)
    check_equal(stores.digest_of(again), digest, "cp")
    with open(again, "r+b") as file:
        file.seek(size - 1)
        file.write(bytes([plain.read_bytes()[-1] ^ 1]))
    check(stores.digest_of(again) != digest, "a changed last byte has the same digest")
    large = pathlib.Path(p.file("large"))
    stores.write_input(large, 2 * stores.PART, random)
    halves = large.read_bytes()
    check(halves[: stores.PART] != halves[stores.PART :], "parts are equal")


# ---- the script, with a fake program that has a GPU


@case
def a_report_has_every_job_and_a_outcome(p):
    if not on_a_disk(p):
        raise NotRun("the temporary directory is in memory")
    most = len(os.sched_getaffinity(0))
    threads = [1, most, most + 1]
    _, err = ended(*measure(p, "--gib", 2 * MIB, "--decrypt", "--repetitions", 2,
                            "--budget", 1000, "--threads", *threads), 0)
    check(f"NOT RUN {most + 1} threads: this machine has {most} cores" in err, err)
    report = json.loads(p.read("report"))
    made = {(r["place"], r["cipher"], r["operation"], r["device"], r["threads"])
            for r in report["file_paths"]}
    devices = {("cuda", most), ("cpu", 1), ("cpu", most)}
    wanted = {(store, cipher, operation, *device) for store in STORES for cipher in runs.CIPHERS
              for operation in ("encrypt", "decrypt") for device in devices}
    check_equal(made, wanted, "rows")
    for r in report["file_paths"]:
        check_equal(len(r["repetitions"]), 2, "repetitions")
        check_equal(r["format"], "raw" if "des" in r["cipher"] else "warpseal", "format")
        check(r["bound_gigabytes_per_second"] > 0, r)
        check(("pays" in r) == (r["device"] == "cuda"), r)
        if r["device"] == "cuda":
            check(r["bound_gigabytes_per_second"] <= 0.25, f"the link bounds: {r}")
            same = [c for c in report["file_paths"] if c["device"] == "cpu" and
                    all(c[key] == r[key] for key in ("place", "cipher", "operation"))]
            best = max(same, key=lambda c: c["gigabytes_per_second"])
            check_equal(r["best_threads"], best["threads"], "best number of cores")
            slower = max(best["repetitions"]) < min(r["repetitions"])
            check_equal(r["pays"] == "yes", slower, f"{r} beside {best}")
    check_equal(report["head"]["link_gigabytes_per_second"], 0.25, "link")
    check_equal({(r["place"], r.get("threads")) for r in report["file_copies"]},
                {(store, n) for store in STORES for n in {1, most, None}}, "copies")


@case
def a_job_without_time_is_named(p):
    _, err = ended(*measure(p, "--gib", MIB, "--stores", "tmpfs", "--threads", 1,
                            "--ciphers", "aes-256-gcm", "--budget", 3, fault="slow"), 0)
    rows = json.loads(p.read("report"))["file_paths"]
    check_equal(len(rows), 2, "rows")
    for r in rows:
        check("--budget" in r["not_run"] and "gigabytes_per_second" not in r, r)
    check_equal(err.count("NOT RUN tmpfs      aes-256-gcm"), 2, err)


@case
def without_a_gpu_cores_are_measured(p):
    out, err = ended(*measure(p, "--gib", MIB, "--stores", "tmpfs", "--threads", 1,
                              "--ciphers", "aes-256-gcm", fault="no-gpu"), 0)
    check("NOT RUN GPU: no GPU here" in err, err)
    rows = json.loads(p.read("report"))["file_paths"]
    check_equal([(r["device"], "pays" in r) for r in rows], [("cpu", False)], "rows")


@case
def a_wrong_output_has_no_figures(p):
    _, err = ended(*measure(p, "--gib", MIB, "--stores", "tmpfs", "--threads", 1, fault="wrong"), 1)
    check("does not decrypt to the input" in err, err)
    check(not os.path.exists(p.file("report")), "a report was written")


# ---- refusals


def refused(p, code, words, *arguments, **options):
    _, err = ended(*measure(p, *arguments, **options), code)
    check(words in err and "Traceback" not in err, err)
    check(not os.path.exists(p.file("report")), "a report was written")


@case
def refusals(p):
    small = ("--gib", MIB, "--stores", "tmpfs", "--threads", 1)
    refused(p, 10, "--program: there is no program", *small, program="/nowhere/warpseal")
    refused(p, 10, "--program: there is no program", *small, program="/")
    refused(p, 20, "device 'cuda:7' cannot be used", *small, "--device", "cuda:7", fault="no-gpu")
    refused(p, 16, "GiB free", "--gib", 10**6, "--stores", "tmpfs")
    refused(p, 16, "No space left on device", *small, fault="full")
    refused(p, 16, "there is no directory", *small, "--tmpfs", "/nowhere")
    refused(p, 2, "is tmpfs; the store 'disk' needs", *("--gib", MIB, "--stores", "disk"),
            "--directory", "/dev/shm")
    refused(p, 2, "--gib", "--gib", "0")
    refused(p, 2, "--json: there is no directory", *small, "--json", "/nowhere/report")
    if on_a_disk(p):
        refused(p, 2, "needs tmpfs", *small, "--tmpfs", p.directory)


@case
def a_report_that_cannot_be_written(p):
    small = ("--gib", MIB, "--stores", "tmpfs", "--threads", 1, "--ciphers", "aes-256-gcm")
    os.mkdir(p.file("taken"))
    _, err = ended(*measure(p, *small, "--json", p.file("taken")), 16)
    check("--json" in err and "taken" in err and "Traceback" not in err, err)
    check_equal(os.listdir(p.file("taken")), [], "files in the directory")


@case
def a_report_replaces_an_older_one_only_when_it_is_whole(p):
    report = pathlib.Path(p.file("report"))
    write_whole(report, "old\n")
    try:
        write_whole(report, "new\n" + 100000 * "x" + "\udc00")  # no encoding of that exists
        check(False, "it was written")
    except UnicodeEncodeError:
        check_equal(report.read_text(), "old\n", "the older report")
    check_equal(os.listdir(p.directory), ["report"], "files")
    write_whole(report, "new\n")
    check_equal(report.read_text(), "new\n", "the report")
    check_equal(os.listdir(p.directory), ["report"], "files")


@case
def a_file_system_that_fills_up(p):
    def limited():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))

    refused(p, 16, "File too large", "--gib", MIB, "--stores", "tmpfs", "--threads", 1,
            preexec_fn=limited)


@case
def memory_is_checked(p):
    available = stores.available_memory
    stores.available_memory = lambda: 1 << 20
    shm = stores.Store("tmpfs", pathlib.Path("/dev/shm"), "tmpfs")
    try:
        stores.check_room([shm], 1 << 20)
        check(False, "more than the memory was accepted")
    except Refusal as refusal:
        check("memory available" in str(refusal), refusal)
    finally:
        stores.available_memory = available
    check(available() > 1 << 20, "memory of this machine")


def command_line(process):
    try:
        return pathlib.Path(f"/proc/{process}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # it has ended


@case
def an_interrupt_leaves_nothing(p):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process, folders = measure(p, "--gib", MIB, "--stores", "tmpfs", "--threads", 1,
                                   fault="slow")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        encrypting = []

        def encrypts():
            encrypting[:] = [child for child in children.read_text().split()
                             if "encrypt" in command_line(child)]
            return encrypting

        wait_until(encrypts, "it encrypts")
        process.send_signal(number)
        ended(process, folders, 128 + number)
        check(not os.path.exists(f"/proc/{encrypting[0]}"), "the program still runs")


# ---- the real program


@case
def files_of_the_real_program(p):
    _, err = ended(*measure(p, "--gib", MIB, "--stores", "tmpfs", "--threads", 1, "--decrypt",
                            "--repetitions", 1, "--device", "none", program=p.path), 0)
    check("NOT RUN GPU: --device none" in err, err)
    rows = json.loads(p.read("report"))["file_paths"]
    check_equal({r["cipher"] for r in rows}, set(runs.CIPHERS), "ciphers")
    check(all(r["target"] or r["format"] == "raw" for r in rows), "targets")


main()
