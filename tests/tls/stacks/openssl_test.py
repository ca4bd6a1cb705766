"""Our module in this machine's OpenSSL shakes hands with OpenSSL 3.5 of Debian 13, which has ML-KEM
itself: each group with ML-KEM, in both directions, data both ways.

Usage: openssl_test.py MODULE
"""

import os
import sys
import tempfile

import stacks
from stacks import GROUPS, peers


def check(programs, name, ours_serves):
    # X25519 as second choice: without our group the handshake would still succeed.
    groups = f"{name}:X25519"
    server, port = programs.server(ours_serves, groups)
    with server:
        stacks.exchange(lambda at: programs.client(not ours_serves, groups, at), port, GROUPS[name])


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="warpseal-tls-") as folder:
        foreign = stacks.need_chroot(folder)
        programs = stacks.Programs(folder, peers.Certificate(folder), peers.environment(os.path.abspath(sys.argv[1]), folder))
        for name in GROUPS:
            for ours_serves in (True, False):
                what = f"{name}, our {'server' if ours_serves else 'client'}"
                try:
                    check(programs, name, ours_serves)
                    passed += 1
                    print(f"passed {what}")
                except Exception as wrong:  # every group is reported
                    failed += 1
                    print(f"FAILED {what}: {type(wrong).__name__}: {wrong}")
    print(f"{peers.libssl_version()} with the module, and {foreign}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
