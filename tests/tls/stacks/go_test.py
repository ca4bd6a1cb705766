"""Our module in this machine's OpenSSL shakes hands with Go's crypto/tls over X25519MLKEM768, in
both directions, data both ways. Debian 13's Go compiles the peer.

Usage: go_test.py MODULE
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import stacks
from stacks import SECONDS, peers

NAME = "X25519MLKEM768"
GROUPS = f"{NAME}:X25519"  # Go has the first alone


def build(folder):
    """Compiles the peer. The chroot keeps the compiled standard library for the next time."""
    source = pathlib.Path(__file__).resolve().parent / "peer.go"
    subprocess.run(stacks.in_chroot(folder, "env", "CGO_ENABLED=0", "GOTOOLCHAIN=local", "go", "build", "-o", f"{folder}/peer",
                                    str(source)), check=True)
    return stacks.in_chroot(folder, "go", "version")


def our_server(programs, folder):
    server, port = programs.server(True, GROUPS)
    with server:
        stacks.exchange(lambda at: peers.Process(stacks.in_chroot(folder, f"{folder}/peer", "connect", str(at), programs.certificate.certificate_file),
                                                 dict(os.environ)), port, stacks.GROUPS[NAME])


def our_client(programs, folder):
    certificate = programs.certificate
    command = stacks.in_chroot(folder, f"{folder}/peer", "serve", certificate.certificate_file, certificate.key_file)
    with peers.Process(command, dict(os.environ)) as server:
        port = int(server.line("port", SECONDS).split()[1])
        stacks.exchange(lambda at: programs.client(True, GROUPS, at), port, stacks.GROUPS[NAME], hears="LINES BOTH WAYS")


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="warpseal-tls-") as folder:
        stacks.need_chroot(folder)
        version = subprocess.run(build(folder), capture_output=True, text=True, check=True).stdout.strip()
        programs = stacks.Programs(folder, peers.Certificate(folder), peers.environment(os.path.abspath(sys.argv[1]), folder))
        for check in (our_server, our_client):
            try:
                check(programs, folder)
                passed += 1
                print(f"passed {check.__name__}")
            except Exception as wrong:  # both directions are reported
                failed += 1
                print(f"FAILED {check.__name__}: {type(wrong).__name__}: {wrong}")
    print(f"{peers.libssl_version()} with the module, and {version}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
