"""One server has all groups, and tens of thousands of wrong key shares to answer: each by an alert
within a second, while good handshakes continue.

Usage: malformed_test.py NTRU_REFERENCE PEER MODULE
"""

import collections
import concurrent.futures
import os
import socket
import struct
import sys
import tempfile
import threading
import time

import peers
import tls13
from foreign_test import SECONDS, require
from key_shares import GROUPS, X25519, ClientShare, Ntru
from malformed_shares import ACCEPTED, ANSWERED, REFUSED, Case, Samples, hellos

AT_ONCE = 24
WITHIN = 1.0
GROWTH = 8 << 20
LEAVERS = 28  # for each group


class Answer:
    """The server's end of one case: what it sent, and after how many seconds."""

    def __init__(self, what, seconds):
        self.what, self.seconds = what, seconds

    def is_right(self, wanted):
        if wanted == ANSWERED:
            return self.what == "hello" or self.what.startswith("alert ")
        return self.what == "hello" if wanted == ACCEPTED else self.what.startswith("alert ")


def answer_to(connection, hello):
    connection.send(tls13.HANDSHAKE, hello)
    kind, payload = connection.receive()
    require(kind == tls13.HANDSHAKE and payload[0] == tls13.SERVER_HELLO, f"a record of type {kind}")
    return "retry" if payload[6:38] == tls13.RETRY_RANDOM else "hello"


def offer(port, case):
    start = time.monotonic()
    deadline = start + SECONDS
    try:
        with peers.connected(port, deadline) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # avoids TIME_WAIT
            connection = tls13.Connection(sock, deadline)
            what = answer_to(connection, case.hello)
            if case.second:
                require(what == "retry", f"{what} in place of a retry")
                what = answer_to(connection, case.second)
    except tls13.Alerted as alert:
        what = f"alert {alert}"
    except tls13.Ended as ended:
        what = f"end without an alert, {ended}"
    except (OSError, AssertionError) as wrong:
        what = f"{type(wrong).__name__}: {wrong}"
    return Answer(what, time.monotonic() - start)


class GoodClient(threading.Thread):
    """Shakes hands over each group in turn with a valid share, continuously and at least once over
    each."""

    def __init__(self, port, ntru):
        super().__init__(daemon=True)
        self.port, self.ntru, self.done, self.wrong = port, ntru, 0, []
        self.enough = threading.Event()

    def run(self):
        while not self.wrong and not (self.enough.is_set() and self.done >= len(GROUPS)):
            group = GROUPS[self.done % len(GROUPS)]
            try:
                deadline = time.monotonic() + SECONDS
                with peers.connected(self.port, deadline) as sock:
                    client = tls13.Client(sock, [(group.code, ClientShare(group, self.ntru))], deadline)
                    client.connection.send_data(b"still there?")
                    require(client.connection.receive_data(12) == b"still there?", "other data")
                self.done += 1
            except Exception as wrong:  # any error is reported at the end
                self.wrong.append(f"{group.name}: {type(wrong).__name__}: {wrong}")


def tell(alerts):
    for (group, wanted), answers in alerts.items():
        print(f"{group}, {wanted}: " + ", ".join(f"{count} {what}" for what, count in answers.most_common()))


def attack(port, cases):
    """Returns the errors, the counts of answers for each group and expected result, and the slowest
    answer."""
    wrong, tally, slowest = [], collections.defaultdict(collections.Counter), 0.0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda case: offer(port, case), cases))
    for case, answer in zip(cases, answers):
        if answer.seconds > WITHIN:
            answer = offer(port, case)  # alone now: if it is late again, the server is slow, not this machine
        slowest = max(slowest, answer.seconds)
        tally[case.group.name, case.wanted][answer.what] += 1
        if answer.seconds > WITHIN or not answer.is_right(case.wanted):
            wrong.append(f"{case.group.name}, {case.what}: {answer.what} after {answer.seconds:.2f} s, wanted: {case.wanted}")
    return wrong, tally, slowest


def elsewhere(groups, ntru):
    """Valid shares, for a server that has X25519 alone."""
    for group in groups:
        yield Case(group, "of a group that the server has not", tls13.client_hello([(group.code, Samples(group, ntru).share())]), REFUSED)


def serve(peer, certificate, groups, env, how="serve"):
    server = peers.Process([peer, how, certificate.certificate_file, certificate.key_file, groups], env)
    try:
        return server, int(server.line("port").split()[1])
    except AssertionError:
        server.__exit__()
        raise


def leave(port, hello):
    """Sends a ClientHello and disconnects."""
    with peers.connected(port, time.monotonic() + SECONDS) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.sendall(tls13.record(tls13.HANDSHAKE, hello))


def ends_well(server):
    """The end of its input ends the server: checks its last output."""
    server.process.stdin.close()
    require(server.process.wait(SECONDS) == 0, f"the server ended with {server.process.returncode}")
    server.reader.join(SECONDS)
    return [line for line in server.lines if line and line.startswith("failed")]


class Attack:
    """The main attack on one server, with good handshakes all the while."""

    def __init__(self, peer, certificate, env, how, cases, program, leavers=()):
        server, port = serve(peer, certificate, ":".join(group.name for group in GROUPS) + ":X25519", env, how)
        with server, Ntru(program) as ntru:
            good = GoodClient(port, ntru)
            good.start()
            first = len(cases) // 4
            begun = time.monotonic()
            for hello in leavers:
                leave(port, hello)
            before, self.answers, slowest = attack(port, cases[:first])
            resident = server.resident_bytes()
            after, answers, slowest_after = attack(port, cases[first:])
            seconds = time.monotonic() - begun
            good.enough.set()
            good.join(SECONDS)
            growth = server.resident_bytes() - resident
            self.wrong = before + after + good.wrong
            for key, counts in answers.items():
                self.answers[key] += counts
            slowest = max(slowest, slowest_after)
            if good.done < len(GROUPS):
                self.wrong.append(f"{good.done} good handshakes in all this time")
            if growth > GROWTH and "LD_PRELOAD" not in env:  # a sanitizer keeps freed memory
                self.wrong.append(f"the server's memory grew by {growth} bytes")
            self.reasons = ends_well(server)
        self.text = (f"{how}: {len(cases)} cases in {seconds:.1f} s, slowest {slowest:.3f} s, {good.done} good handshakes meanwhile, "
                     f"memory {growth:+} bytes")


def main():
    program, peer, module = sys.argv[1:]
    version = peers.libssl_version()
    with tempfile.TemporaryDirectory(prefix="warpseal-tls-") as directory, Ntru(program) as ntru:
        certificate, env = peers.Certificate(directory), peers.environment(os.path.abspath(module), directory)
        cases = [case for group in GROUPS for case in hellos(Samples(group, ntru))]
        main_attack = Attack(peer, certificate, env, "serve", cases, program)
        tell(main_attack.answers)
        print("\n".join(main_attack.reasons))
        right = [case.hello for case in cases if case.what == "right"]
        on_fibres = Attack(peer, certificate, env, "serve-async", cases[::9], program, right * LEAVERS)
        wrong = main_attack.wrong + on_fibres.wrong
        server, port = serve(peer, certificate, "X25519", env)
        with server:
            wrong += attack(port, list(elsewhere(GROUPS, ntru)))[0]
            ends_well(server)
    for text in wrong[:20]:
        print("FAILED", text)
    print(main_attack.text)
    print(on_fibres.text)
    print(f"malformed_test.py with {version}: {len(wrong)} wrong")
    sys.exit(bool(wrong) or len(cases) < 12000)


if __name__ == "__main__":
    main()
