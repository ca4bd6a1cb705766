"""A thousand clients send half a ClientHello and no more. Good handshakes continue meanwhile, and
the batcher of key exchanges holds nothing for these clients.

Usage: half_open_test.py NTRU_REFERENCE PEER MODULE
"""

import os
import resource
import sys
import tempfile
import time

import peers
import tls13
from foreign_test import SECONDS, require
from key_shares import GROUPS, ClientShare, Ntru
from malformed_test import WITHIN, ends_well, serve

CLIENTS = 1000


def counts(server, asked):
    server.write(b"?\n")
    with server.heard:
        require(server.heard.wait_for(lambda: sum(line.startswith("counts") for line in server.lines if line) > asked, SECONDS), "the server counts nothing")
    return [int(word) for word in server.lines[-1].split()[1:]]


def wait_for_open(server, wanted):
    """Waits until the server has accepted that many connections."""
    end, asked = time.monotonic() + SECONDS, 0
    while True:
        now = counts(server, asked)
        if now[2] == wanted:
            return now
        asked += 1
        require(time.monotonic() < end, f"{now[2]} connections open, wanted {wanted}")


def exchanges(directory):
    """Returns the numbers of exchange requests and of waiting ones, from the provider's metrics,
    written at the server's end."""
    numbers = {"warpseal_kem_requests_total": 0, "warpseal_kem_queue_length": 0}
    files = [name for name in os.listdir(directory) if name.endswith(".prom")]
    require(len(files) == 1, f"metrics in {files}")
    with open(os.path.join(directory, files[0]), encoding="ascii") as file:
        for line in file:
            name, _, value = line.replace("{", " ").partition(" ")
            if name in numbers:
                numbers[name] += int(float(value.rpartition(" ")[2]))
    return tuple(numbers.values())


def main():
    program, peer, module = sys.argv[1:]
    version = peers.libssl_version()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < CLIENTS + 100:
        if hard != resource.RLIM_INFINITY and hard < CLIENTS + 100:
            peers.not_run(f"{hard} open files at most")
        resource.setrlimit(resource.RLIMIT_NOFILE, (CLIENTS + 100, hard))
    with tempfile.TemporaryDirectory(prefix="warpseal-tls-") as directory, Ntru(program) as ntru:
        certificate, env = peers.Certificate(directory), peers.environment(os.path.abspath(module), directory)
        env["WARPSEAL_METRICS_DIRECTORY"] = directory
        server, port = serve(peer, certificate, ":".join(group.name for group in GROUPS), env)
        held = []
        with server:
            for number in range(CLIENTS):
                group = GROUPS[number % len(GROUPS)]
                hello = tls13.record(tls13.HANDSHAKE, tls13.client_hello([(group.code, os.urandom(group.share_bytes))]))
                held.append(peers.connected(port, time.monotonic() + SECONDS))
                held[-1].sendall(hello[: len(hello) // 2])
            wait_for_open(server, CLIENTS)
            slowest = 0.0
            for group in GROUPS:
                share, start = ClientShare(group, ntru), time.monotonic()
                with peers.connected(port, start + SECONDS) as sock:
                    client = tls13.Client(sock, [(group.code, share)], start + SECONDS)
                    client.connection.send_data(b"still there?")
                    require(client.connection.receive_data(12) == b"still there?", "other data")
                slowest = max(slowest, time.monotonic() - start)
            require(slowest < WITHIN, f"a good handshake took {slowest:.2f} s")
            for sock in held:
                sock.close()
            handshakes, failed, _ = wait_for_open(server, 0)
            require(handshakes == len(GROUPS) and failed == CLIENTS, f"{handshakes} handshakes, {failed} that failed")
            ends_well(server)
        require(exchanges(directory) == (len(GROUPS), 0), f"exchanges requested, and waiting: {exchanges(directory)}")
    print(f"half_open_test.py with {version}: {len(GROUPS)} good handshakes beside {CLIENTS} half-open clients, the slowest {slowest:.3f} s")


if __name__ == "__main__":
    main()
