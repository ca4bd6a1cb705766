"""A lying server: the provider's client gets ciphertexts with each byte flipped and shares of wrong
length, and ends each handshake within a second.

Usage: client_test.py NTRU_REFERENCE PEER MODULE
"""

import collections
import os
import socket
import sys
import tempfile
import time

import peers
import tls13
from foreign_test import SECONDS, require
from key_shares import GROUPS, Ntru, server_share
from malformed_test import WITHIN

# Groups with every byte flipped; in the others one byte in STRIDE, and the first and last of each
# half.
WHOLE = ("ntru_hps2048509", "p256_ntru_hps2048509")
STRIDE = 37


def flips(group):
    """Each byte of the share, with one of its bits in turn."""
    size, seam = group.share_bytes, group.classical_bytes
    some = range(size) if group.name in WHOLE else sorted({0, seam, size - 1, *range(1, size, STRIDE)} | ({seam - 1} if seam else set()))
    for at in some:
        yield f"byte {at} flipped", lambda share, at=at: share[:at] + bytes([share[at] ^ 1 << at % 8]) + share[at + 1 :]


def wrong_lengths(group):
    for length in sorted({0, 1, group.classical_bytes, group.ntru_bytes, group.share_bytes - 1, group.share_bytes + 1, group.share_bytes + 64}):
        if length != group.share_bytes:
            yield f"{length} bytes", lambda share, length=length: (share + os.urandom(64))[:length]


def halves(group):
    seam = group.classical_bytes
    if seam:
        yield "halves swapped", lambda share: share[seam:] + share[:seam]
        yield "classical half zero", lambda share: bytes(seam) + share[seam:]
    yield "NTRU half zero", lambda share: share[:seam] + bytes(len(share) - seam)


def lie(sock, group, ntru, change):
    """Answers a ClientHello with a changed share and a plausible encrypted flight. Returns the
    client's reaction, and after how many seconds."""
    start = time.monotonic()
    connection = tls13.Connection(sock, start + SECONDS)
    hello = tls13.Hello(connection.hear(tls13.CLIENT_HELLO)[0], of_client=True)
    share, _ = server_share(group, ntru, dict(hello.shares)[group.code])
    answered = time.monotonic()
    connection.say(tls13.server_hello(hello, group.code, change(share)))
    connection.send(tls13.DATA, os.urandom(700))
    try:
        kind, _ = connection.receive()
        return f"record of type {kind}", time.monotonic() - answered
    except tls13.Alerted as alert:
        return f"alert {alert}", time.monotonic() - answered
    except tls13.Ended as ended:
        return f"end without an alert, {ended}", time.monotonic() - answered


def tell_truth(sock, group, ntru, certificate):
    server = tls13.Server(sock, group.code, lambda theirs: server_share(group, ntru, theirs), certificate.certificate, certificate.key,
                          time.monotonic() + SECONDS)
    require(len(server.secret) == group.secret_bytes, "the secret's length")


def one_group(group, ntru, peer, certificate, env, listener, answers):
    """The client connects to one lie after another, then to a correct server."""
    lies = [*flips(group), *wrong_lengths(group), *halves(group)]
    port = str(listener.getsockname()[1])
    with peers.Process([peer, "connect", port, group.name, str(len(lies) + 1)], env) as client:
        for number, (what, change) in enumerate(lies):
            sock, _ = listener.accept()
            with sock:
                took, seconds = lie(sock, group, ntru, change)
            answers[took] += 1
            require(took.startswith(("alert ", "record of type 23")), f"{what}: {took}")
            require(seconds < WITHIN, f"{what}: {took} after {seconds:.2f} s")
            with client.heard:
                heard = client.heard.wait_for(lambda count=number + 1: len(client.lines) >= count, SECONDS)
            require(heard and (client.lines[number] or "").startswith("failed"), f"{what}: the client said {client.lines[number:]}")
        sock, _ = listener.accept()
        with sock:
            tell_truth(sock, group, ntru, certificate)
        require(client.process.wait(SECONDS) == 0, f"the client ended with {client.process.returncode}")
        client.reader.join(SECONDS)
        require(client.lines[len(lies)] == "shaken", f"the client said {client.lines[len(lies):]}")
    return len(lies)


def main():
    program, peer, module = sys.argv[1:]
    version = peers.libssl_version()
    cases, failed, answers, start = 0, 0, collections.Counter(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="warpseal-tls-") as directory, Ntru(program) as ntru, socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        certificate, env = peers.Certificate(directory), peers.environment(os.path.abspath(module), directory)
        for group in GROUPS:
            try:
                cases += one_group(group, ntru, peer, certificate, env, listener, answers)
            except Exception as wrong:  # every group is reported
                failed += 1
                print(f"FAILED {group.name}: {type(wrong).__name__}: {wrong}")
    print(", ".join(f"{count} {what}" for what, count in answers.most_common()))
    print(f"client_test.py with {version}: {cases} lies in {time.monotonic() - start:.1f} s, "
          f"{len(GROUPS) - failed} groups passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
