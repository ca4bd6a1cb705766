"""A peer that shares no code with the provider shakes hands with stock OpenSSL over every group:
sizes and order of share and secret, data both ways.

Usage: foreign_test.py NTRU_REFERENCE PEER MODULE
"""

import os
import socket
import sys
import tempfile
import time

import peers
import tls13
from key_shares import GROUPS, X25519, ClientShare, CurveShare, Ntru, server_share

SECONDS = 20


def require(condition, text):
    if not condition:
        raise AssertionError(text)


def echoed(connection):
    """s_server -rev returns each line reversed."""
    connection.send_data(b"lines both ways\n")
    answer = connection.receive_data(16)
    require(answer.strip() == b"syaw htob senil", f"the server's data: {answer!r}")


def shake_hands(port, certificate, offers, **options):
    deadline = time.monotonic() + SECONDS
    with peers.connected(port, deadline) as sock:
        client = tls13.Client(sock, offers, deadline, **options)
        require(client.certificate == certificate.certificate, "another certificate")
        echoed(client.connection)
    return client


def as_client(group, ntru, port, certificate):
    """Our client, their server: directly, and after a HelloRetryRequest."""
    share = ClientShare(group, ntru)
    require(len(share.public) == group.share_bytes, f"a share of {len(share.public)} bytes")
    client = shake_hands(port, certificate, [(group.code, share)])
    require(not client.retried, "a retry that was not needed")
    sizes = len(client.server_share), len(client.secret)
    require(sizes == (group.share_bytes, group.secret_bytes), f"share and secret have {sizes} bytes")
    client = shake_hands(port, certificate, [(X25519, CurveShare())], groups=[group.code, X25519], retry=lambda _: ClientShare(group, ntru))
    require(client.retried and client.group == group.code, "no HelloRetryRequest for this group")


def as_server(group, ntru, env, certificate):
    """Our server, their client."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        with peers.Process([peers.openssl(), "s_client", "-connect", f"127.0.0.1:{listener.getsockname()[1]}", "-tls1_3", "-groups", group.name,
                            "-CAfile", certificate.certificate_file, "-verify_return_error", "-verify_hostname", "localhost", "-quiet"], env) as client:
            sock, _ = listener.accept()
            with sock:
                server = tls13.Server(sock, group.code, lambda theirs: server_share(group, ntru, theirs), certificate.certificate,
                                      certificate.key, time.monotonic() + SECONDS)
                require(len(server.client_share) == group.share_bytes, f"the client's share has {len(server.client_share)} bytes")
                require(len(server.secret) == group.secret_bytes, f"the secret has {len(server.secret)} bytes")
                client.write(b"from their client\n")
                require(server.connection.receive_data(18) == b"from their client\n", "the client's data")
                server.connection.send_data(b"from our server\n")
                client.line("from our server")


def main():
    program, _, module = sys.argv[1:]
    peers.openssl()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="warpseal-tls-") as directory, Ntru(program) as ntru:
        certificate, env = peers.Certificate(directory), peers.environment(os.path.abspath(module), directory)
        for group in GROUPS:
            public, ciphertext = ntru.sizes(group.set)[:2]
            require(public == ciphertext == group.ntru_bytes, f"{group.name}: {group.share_bytes} bytes are not the sum of its components")
        server, port = peers.s_server(certificate, ":".join(group.name for group in GROUPS), env, "-rev")
        with server:
            for group in GROUPS:
                try:
                    as_client(group, ntru, port, certificate)
                    as_server(group, ntru, env, certificate)
                    print(f"{group.name} {group.code:#06x}: share {group.share_bytes}, secret {group.secret_bytes}, client, retry and server")
                except Exception as wrong:  # every group is reported
                    failed += 1
                    print(f"FAILED {group.name}: {type(wrong).__name__}: {wrong}")
    print(f"foreign_test.py with {peers.libssl_version()}: {len(GROUPS) - failed} groups passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
