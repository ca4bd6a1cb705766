"""`warpseal tls-bench`: tens of thousands of full handshakes without a failure and in flat memory, thousands in flight on fibres, and batches."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from program import case, check, check_equal, main  # noqa: E402

MIXED = ["X25519", "x25519_ntru_hps4096821", "ntru_hps4096821", "ntru_hps2048509", "ntru_hrss701", "p256_ntru_hps2048509"]


def bench(p, *options, groups):
    names = [word for group in groups for word in ("--group", group)]
    report = json.loads(p.ok("tls-bench", *names, *options, "--json", "-", timeout=500).out)
    return report["head"], report["rows"]


def check_all_done(rows, handshakes):
    for row in rows:
        check_equal((row["handshakes"], row["failures"]), (handshakes, 0), f"{row['group']}: handshakes and failures")


@case
def fifty_thousand_handshakes_in_flat_memory(p):
    handshakes, in_flight, growth = 50_000, 64, 5 << 20
    head, rows = bench(p, "--mixed", "--handshakes", handshakes, "--in-flight", in_flight, "--rounds", 10, groups=MIXED)
    check_all_done(rows, handshakes)
    grown = head["resident_bytes_at_end"] - head["resident_bytes_after_first_round"]
    print(f"{handshakes} handshakes, {in_flight} at once, {rows[0]['handshakes_per_second']:.0f}/s, memory grew by {grown / 2**20:.2f} MiB")
    check(grown <= growth, f"memory grew by {grown} bytes")


@case
def ten_thousand_in_flight_on_fibres(p):
    handshakes = 10_000
    _, rows = bench(p, "--async", "--handshakes", handshakes, "--in-flight", handshakes, "--rounds", 1, groups=["ntru_hps2048509"])
    check_all_done(rows, handshakes)


@case
def a_thousand_in_flight_make_batches(p):
    handshakes, in_flight = 3_000, 1_000
    _, rows = bench(p, "--async", "--handshakes", handshakes, "--in-flight", in_flight, "--max-delay-us", 20_000, "--rounds", 3,
                    groups=["ntru_hps4096821"])
    check_all_done(rows, handshakes)
    print(f"{in_flight} in flight: batches of {rows[0]['mean_batch']:.1f} on average, {rows[0]['mean_wait_microseconds']:.0f} us in the queue")
    check(rows[0]["mean_batch"] >= 64, f"batches of {rows[0]['mean_batch']}")


@case
def sockets_and_a_server_elsewhere(p):
    _, rows = bench(p, "--sockets", "--async", "--handshakes", 600, "--in-flight", 100, "--rounds", 3, groups=MIXED[:3])
    check_all_done(rows, 600)
    p.fails(1, "X25519: client", "tls-bench", "--group", "X25519", "--connect", "127.0.0.1:1", "--handshakes", "3")
    p.fails(15, "no group", "tls-bench", "--group", "ntru_hps4096822")


if __name__ == "__main__":
    main()
