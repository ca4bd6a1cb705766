"""A peer with the ML-KEM of `cryptography` shakes hands with stock OpenSSL over the groups with
ML-KEM, as client and as server. Bad shares end in an alert, and the next handshake works.

Usage: mlkem_test.py NTRU_REFERENCE PEER MODULE
"""

import collections
import os
import socket
import sys
import tempfile
import time

import peers
import tls13
from foreign_test import SECONDS, require, shake_hands
from key_shares import CLASSICAL, X25519, Curve, CurveShare
from malformed_shares import FIELD, LOW_ORDER

try:
    from cryptography.hazmat.primitives.asymmetric import mlkem
except ImportError:
    peers.not_run("this Python package cryptography has no ML-KEM")

MLKEM_SECRET = 32
SETS = {768: (mlkem.MLKEM768PrivateKey, mlkem.MLKEM768PublicKey, 1184, 1088), 1024: (mlkem.MLKEM1024PrivateKey, mlkem.MLKEM1024PublicKey, 1568, 1568)}


class Group:
    """A group's number, its halves and their order. curve: None, or a name of key_shares.py."""

    def __init__(self, name, code, size, curve=None, mlkem_first=False):
        self.name, self.code, self.curve, self.mlkem_first = name, code, curve, mlkem_first
        self.private, self.public, self.key_bytes, self.ciphertext_bytes = SETS[size]
        self.point_bytes, self.point_secret = CLASSICAL[curve] if curve else (0, 0)
        self.client_bytes, self.server_bytes = self.key_bytes + self.point_bytes, self.ciphertext_bytes + self.point_bytes
        self.secret_bytes = MLKEM_SECRET + self.point_secret

    def join(self, of_mlkem, of_curve):
        return of_mlkem + of_curve if self.mlkem_first else of_curve + of_mlkem

    def split(self, share):
        """Returns ML-KEM's half and the point."""
        if self.mlkem_first:
            seam = len(share) - self.point_bytes
            return share[:seam], share[seam:]
        return share[self.point_bytes :], share[: self.point_bytes]


# draft-ietf-tls-ecdhe-mlkem and draft-ietf-tls-mlkem.
GROUPS = [
    Group("X25519MLKEM768", 0x11EC, 768, "x25519", mlkem_first=True),
    Group("SecP256r1MLKEM768", 0x11EB, 768, "p256"),
    Group("SecP384r1MLKEM1024", 0x11ED, 1024, "p384"),
    Group("MLKEM768", 0x0201, 768),
    Group("MLKEM1024", 0x0202, 1024),
]
SIZES = {"X25519MLKEM768": (1216, 1120, 64), "SecP256r1MLKEM768": (1249, 1153, 64), "SecP384r1MLKEM1024": (1665, 1665, 80),
         "MLKEM768": (1184, 1088, 32), "MLKEM1024": (1568, 1568, 32)}


class ClientShare:
    def __init__(self, group):
        self.group, self.key = group, group.private.generate()
        self.curve = Curve(group.curve) if group.curve else None
        self.public = group.join(self.key.public_key().public_bytes_raw(), self.curve.public if self.curve else b"")

    def secret(self, theirs):
        ciphertext, point = self.group.split(theirs)
        return self.group.join(self.key.decapsulate(ciphertext), self.curve.secret(point) if self.curve else b"")


def server_share(group, theirs):
    """Returns the server's share for a client's, and the secret."""
    public, point = group.split(theirs)
    secret, ciphertext = group.public.from_public_bytes(public).encapsulate()
    curve = Curve(group.curve) if group.curve else None
    return group.join(ciphertext, curve.public if curve else b""), group.join(secret, curve.secret(point) if curve else b"")


def as_client(group, port, certificate):
    """Our client, their server: directly, and after a HelloRetryRequest."""
    client = shake_hands(port, certificate, [(group.code, ClientShare(group))])
    require(not client.retried, "a retry that was not needed")
    require((len(client.server_share), len(client.secret)) == SIZES[group.name][1:], "the sizes of share and secret")
    client = shake_hands(port, certificate, [(X25519, CurveShare())], groups=[group.code, X25519], retry=lambda _: ClientShare(group))
    require(client.retried and client.group == group.code, "no HelloRetryRequest for this group")


def stock_client(group, port, env, certificate):
    return peers.Process([peers.openssl(), "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-groups", group.name, "-CAfile",
                          certificate.certificate_file, "-verify_return_error", "-verify_hostname", "localhost", "-quiet"], env)


def as_server(group, env, certificate):
    """Our server, their client."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        with stock_client(group, listener.getsockname()[1], env, certificate) as client:
            sock, _ = listener.accept()
            with sock:
                server = tls13.Server(sock, group.code, lambda theirs: server_share(group, theirs), certificate.certificate, certificate.key,
                                      time.monotonic() + SECONDS)
                require((len(server.client_share), len(server.secret)) == SIZES[group.name][::2], "the sizes of share and secret")
                client.write(b"from their client\n")
                require(server.connection.receive_data(18) == b"from their client\n", "the client's data")
                server.connection.send_data(b"from our server\n")
                client.line("from our server")


# ---- bad shares to a server

def bad_points(group):
    """Points of low order, off the curve, or in another encoding."""
    if group.curve == "x25519":
        for u in LOW_ORDER:
            for value in (u, u + FIELD["x25519"], u | 1 << 255):
                if value < 1 << 256 and (value & (2**255 - 1)) % FIELD["x25519"] in LOW_ORDER:  # the highest bit is ignored
                    yield f"low order {value:#x}", value.to_bytes(32, "little")
    elif group.curve:
        point = Curve(group.curve).public
        yield "off the curve", point[:-1] + bytes([point[-1] ^ 1])
        yield "compressed", b"\x02" + point[1:]
        yield "a point of zeros", bytes(len(point))


def bad_client_shares(group):
    """Returns (what, share, alert): all are refused before any computation."""
    right = ClientShare(group).public
    public, point = group.split(right)
    yield "empty", b"", "decode_error"
    for length in (1, group.point_bytes, group.key_bytes, group.client_bytes - 1, group.client_bytes + 1):
        if length not in (0, group.client_bytes):
            yield f"{length} bytes", (right + os.urandom(1))[:length], "illegal_parameter"
    for at in (0, 384, group.key_bytes - 32 - 3):
        yield f"a coefficient of q at byte {at}", group.join(public[:at] + b"\x01\x0d\x00" + public[at + 3 :], point), "illegal_parameter"
        yield f"coefficients of 4095 at byte {at}", group.join(public[:at] + b"\xff\xff\xff" + public[at + 3 :], point), "illegal_parameter"
    for what, bad in bad_points(group):
        yield what, group.join(public, bad), "illegal_parameter"


def alert_of(port, hello):
    deadline = time.monotonic() + SECONDS
    with peers.connected(port, deadline) as sock:
        connection = tls13.Connection(sock, deadline)
        connection.send(tls13.HANDSHAKE, hello)
        try:
            return f"record of type {connection.receive()[0]}"
        except tls13.Alerted as alert:
            return str(alert)


def attack(group, port, answers):
    for what, share, alert in bad_client_shares(group):
        got = alert_of(port, tls13.client_hello([(group.code, share)]))
        answers[f"to a server: {got}"] += 1
        require(got == alert, f"{what}: {got}, not {alert}")


# ---- bad answers to a client

def bad_server_shares(group, right):
    ciphertext, point = group.split(right)
    for length in (1, group.point_bytes, group.server_bytes - 1, group.server_bytes + 1):
        if length not in (0, group.server_bytes):
            yield f"{length} bytes", (right + b"\0")[:length], ("illegal_parameter", "internal_error")
    for what, bad in bad_points(group):
        yield what, group.join(ciphertext, bad), ("illegal_parameter", "internal_error")
    # Implicit rejection: the secrets differ, and the first record does not open.
    yield "an altered ciphertext", group.join(bytes([ciphertext[0] ^ 1]) + ciphertext[1:], point), ("bad_record_mac",)


def lie(sock, group, change):
    connection = tls13.Connection(sock, time.monotonic() + SECONDS)
    hello = tls13.Hello(connection.hear(tls13.CLIENT_HELLO)[0], of_client=True)
    share, _ = server_share(group, dict(hello.shares)[group.code])
    connection.say(tls13.server_hello(hello, group.code, change(share)))
    connection.send(tls13.DATA, os.urandom(700))
    try:
        return f"record of type {connection.receive()[0]}"
    except tls13.Alerted as alert:
        return str(alert)


def lies(group, peer, certificate, env, listener, answers):
    kinds = list(bad_server_shares(group, server_share(group, ClientShare(group).public)[0]))
    with peers.Process([peer, "connect", str(listener.getsockname()[1]), group.name, str(len(kinds) + 1)], env) as client:
        for number, (what, _, alerts) in enumerate(kinds):
            sock, _ = listener.accept()
            with sock:
                got = lie(sock, group, lambda share, number=number: list(bad_server_shares(group, share))[number][1])
            answers[f"to a client: {got}"] += 1
            require(got in alerts, f"{what}: {got}, not one of {alerts}")
        sock, _ = listener.accept()
        with sock:
            tls13.Server(sock, group.code, lambda theirs: server_share(group, theirs), certificate.certificate, certificate.key,
                         time.monotonic() + SECONDS)
        require(client.process.wait(SECONDS) == 0, f"the client ended with {client.process.returncode}")
        client.reader.join(SECONDS)
        require(client.lines[len(kinds)] == "shaken", f"the client said {client.lines[len(kinds):]}")


def main():
    _, peer, module = sys.argv[1:]
    failed, answers = 0, collections.Counter()
    with tempfile.TemporaryDirectory(prefix="warpseal-tls-") as directory, socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        certificate, env = peers.Certificate(directory), peers.environment(os.path.abspath(module), directory)
        server, port = peers.s_server(certificate, ":".join(group.name for group in GROUPS), env, "-rev")
        with server:
            for group in GROUPS:
                try:
                    require((group.client_bytes, group.server_bytes, group.secret_bytes) == SIZES[group.name], "the sizes of the halves")
                    as_client(group, port, certificate)
                    as_server(group, env, certificate)
                    attack(group, port, answers)
                    lies(group, peer, certificate, env, listener, answers)
                    as_client(group, port, certificate)
                    print(f"{group.name} {group.code:#06x}: client, retry, server, bad shares and answers")
                except Exception as wrong:  # every group is reported
                    failed += 1
                    print(f"FAILED {group.name}: {type(wrong).__name__}: {wrong}")
    print(", ".join(f"{count} {what}" for what, count in answers.most_common()))
    print(f"mlkem_test.py with {peers.libssl_version()}: {len(GROUPS) - failed} groups passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
