"""`warpseal tls-bench`: tens of thousands of full handshakes without a failure and in flat memory,
thousands in flight on fibres, and batches."""

import contextlib
import json
import os
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(TESTS, "cli"), os.path.join(TESTS, "support")]
from openssl_configuration import configuration  # noqa: E402
from program import NotRun, case, check, check_equal, main, wait_until  # noqa: E402

SANITIZER = os.environ.get("WARPSEAL_SANITIZE", "")
MIXED = ["X25519", "x25519_ntru_hps4096821", "ntru_hps4096821", "ntru_hps2048509", "ntru_hrss701"]


def bench(p, *options, groups):
    names = [word for group in groups for word in ("--group", group)]
    report = json.loads(p.ok("tls-bench", *names, *options, "--json", "-", timeout=500).out)
    return report["head"], report["rows"]


def listening_port(process):
    """Returns the port of the only listening socket."""
    found = []

    def look():
        sockets = set()
        for descriptor in os.listdir(f"/proc/{process}/fd"):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                sockets.add(os.readlink(f"/proc/{process}/fd/{descriptor}"))
        with open(f"/proc/{process}/net/tcp", encoding="ascii") as table:
            rows = [row.split() for row in table.readlines()[1:]]
        found[:] = [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]
        return found

    wait_until(look, "the server listens")
    return str(found[0])


def other_certificate(p):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=other", "-keyout", "other.key", "-out", "other.pem"], cwd=p.directory, check=True, capture_output=True)
    return "other.pem"


def without_thread_sanitizer():
    if "thread" in SANITIZER:
        raise NotRun("ThreadSanitizer does not support fibres")


def check_all_done(rows, handshakes):
    for row in rows:
        check_equal((row["handshakes"], row["failures"]), (handshakes, 0), f"{row['group']}: handshakes and failures")


@case
def fifty_thousand_handshakes_in_flat_memory(p):
    handshakes, in_flight, growth = 1_000 if SANITIZER else 50_000, 64, 5 << 20
    head, rows = bench(p, "--mixed", "--handshakes", handshakes, "--in-flight", in_flight, "--rounds", 10, groups=MIXED)
    check_all_done(rows, handshakes)
    grown = head["resident_bytes_at_end"] - head["resident_bytes_after_first_round"]
    print(f"{handshakes} handshakes, {in_flight} at once, {rows[0]['handshakes_per_second']:.0f}/s, memory grew by {grown / 2**20:.2f} MiB")
    check(SANITIZER or grown <= growth, f"memory grew by {grown} bytes")


@case
def ten_thousand_in_flight_on_fibres(p):
    without_thread_sanitizer()
    handshakes = 1_000 if SANITIZER else 10_000
    _, rows = bench(p, "--async", "--handshakes", handshakes, "--in-flight", handshakes, "--rounds", 1, groups=["ntru_hps2048509"])
    check_all_done(rows, handshakes)


@case
def a_thousand_in_flight_make_batches(p):
    without_thread_sanitizer()
    handshakes, in_flight = 3_000, 1_000
    _, rows = bench(p, "--async", "--handshakes", handshakes, "--in-flight", in_flight, "--max-delay-us", 100_000, "--rounds", 3,
                    groups=["ntru_hps2048509"])
    check_all_done(rows, handshakes)
    print(f"{in_flight} in flight: batches of {rows[0]['mean_batch']:.1f} on average, {rows[0]['mean_wait_microseconds']:.0f} us in the queue")
    check(rows[0]["mean_batch"] >= 64, f"batches of {rows[0]['mean_batch']}")


@case
def the_device_is_chosen_by_the_server(p):
    options = ("tls-bench", "--group", "ntru_hps2048509", "--handshakes", 10, "--rounds", 1, "--json", "-")

    def head(*more, device):
        return json.loads(p.ok(*options, *more, env={**os.environ, "WARPSEAL_DEVICE": device}).out)["head"]

    check_equal(head(device="portable")["device"], "portable", "device from the environment")
    check_equal(head("--device", "cpu", device="portable")["device"], "cpu", "device by the option")
    p.fails(2, "there is no device", *options, "--device", "cuda:x")


@case
def every_secret_of_exchanges_alone_arrives(p):
    report = json.loads(p.ok("tls-bench", "exchanges", "--set", "ntruhps2048509", "--clients", 100, "--clients", 1000, "--threads", 4,
                             "--outstanding", 512, "--seconds", 0.05, "--json", "-").out)
    check_equal([row["wrong"] for row in report["rows"]], [0] * len(report["rows"]), "secrets that did not arrive")
    check(all(row["core_microseconds"] > 0 for row in report["rows"]), "no core time")
    check_equal(sorted({row["clients"] for row in report["rows"] if "clients" in row}), [100, 1000], "numbers of clients")


@case
def loops_share_library_contexts(p):
    groups, handshakes = ["X25519", "ntru_hps2048509"], 120
    head, rows = bench(p, "--library-contexts", 2, "--server-threads", 3, "--handshakes", handshakes, "--rounds", 2, groups=groups)
    check_equal(head["library_contexts"], 2, "library contexts")
    check_all_done(rows, handshakes)
    # Loops 0 and 2 share the first context. Each handshake has one request of the server.
    check_equal(rows[1]["requests_of_contexts"], [2 * handshakes // 3, handshakes // 3], "requests of each context")
    p.fails(2, "--sockets", "tls-bench", "--library-contexts", 2, "--sockets")
    p.fails(2, "--connect", "tls-bench", "--library-contexts", 2, "--connect", "127.0.0.1:1")
    p.fails(2, "give as many at most", "tls-bench", "--library-contexts", 3, "--server-threads", 2)


@case
def handshakes_over_sockets(p):
    fibres = () if "thread" in SANITIZER else ("--async",)
    _, rows = bench(p, "--sockets", *fibres, "--handshakes", 600, "--in-flight", 100, "--rounds", 3, groups=MIXED[:3])
    check_all_done(rows, 600)


@case
def handshakes_with_a_server_elsewhere(p):
    if SANITIZER:
        raise NotRun("Debian's openssl loads no module of a sanitizer")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"], cwd=p.directory,
                   check=True, capture_output=True)
    module = os.path.join(os.path.dirname(p.path), "warpseal.so")
    file = p.write("openssl.cnf", configuration(module).encode())
    server = subprocess.Popen(["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "cert.pem", "-key", "key.pem", "-tls1_3", "-quiet",
                               "-naccept", "1000", "-groups", "ntru_hps2048509:X25519", "-www"], cwd=p.directory, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                              env={**os.environ, "OPENSSL_CONF": file})
    try:
        address = "127.0.0.1:" + listening_port(server.pid)
        groups, options = ["ntru_hps2048509", "X25519"], ("--handshakes", 20, "--in-flight", 4, "--rounds", 2)
        check_all_done(bench(p, "--connect", address, "--ca", "cert.pem", *options, groups=groups)[1], 20)
        check_all_done(bench(p, "--connect", address, *options, groups=groups)[1], 20)
        p.fails(1, "certificate", "tls-bench", "--connect", address, "--ca", other_certificate(p), "--group", "X25519", "--handshakes", 2)
    finally:
        server.kill()
        server.communicate()
    p.fails(16, "cannot connect", "tls-bench", "--group", "X25519", "--connect", "127.0.0.1:1", "--handshakes", 3)
    p.fails(15, "no group", "tls-bench", "--group", "ntru_hps4096822")
    p.fails(2, "default or warpseal", "tls-bench", "--group", "X25519=fips")
    p.fails(2, "the server chooses", "tls-bench", "--connect", "127.0.0.1:1", "--group", "X25519=warpseal")
    p.fails(2, "without a provider", "tls-bench", "--mixed", "--group", "X25519", "--group", "X25519=warpseal")


if __name__ == "__main__":
    main()
