"""Debian's `openssl`: its list of the provider's algorithms, and handshakes of s_client with
s_server over every group."""

import re

from stock import GROUPS, Machine, case, check, check_equal, main, need, shares


@case
def what_openssl_lists(p):
    with Machine(p) as machine:
        text = machine.ok("openssl", "list", "-providers", "-verbose").text
        check(re.search(r"warpseal\n\s+name: Warpseal\n\s+version: \d+\.\d+\.\d+\n\s+status: active", text), text)
        for kind in ["-kem-algorithms", "-key-managers"]:
            listed = [line for line in machine.ok("openssl", "list", kind).text.splitlines() if "@ warpseal" in line]
            for name in GROUPS:
                check_equal(len([line for line in listed if re.search(rf"\b{name}\b", line)]), 1, f"{name} in {kind}")
            check_equal(len([line for line in listed if "ntru" in line]), len(GROUPS), kind)


def handshakes(p, *mode):
    with Machine(p) as machine:
        machine.certificate()
        server = machine.s_server(GROUPS, *mode)
        for name, (number, length) in GROUPS.items():
            client = machine.s_client(server.port, [name], "-trace", *mode)
            check_equal(client.returncode, 0, f"{name}: {client.text[-1500:]}")
            check_equal(shares(client.text), [(number, length)] * 2, f"{name}: shares of client and server")
            check("Verification: OK" in client.text, f"{name}: {client.text[-1500:]}")
        check(server.poll() is None, f"the server ended: {server.said()}")


@case
def every_group(p):
    handshakes(p)


@case
def every_group_on_fibres(p):
    handshakes(p, "-async")


@case
def preferred_for_everything(p):
    """A program that prefers this provider for everything: classical halves still come from another
    provider."""
    with Machine(p, properties="?provider=warpseal") as machine:
        machine.certificate()
        wanted = ["x25519_ntru_hps4096821", "p521_ntru_hrss1373"]
        server = machine.s_server(wanted)
        for name in wanted:
            client = machine.s_client(server.port, [name], "-trace")
            check_equal((client.returncode, shares(client.text)), (0, [GROUPS[name]] * 2), f"{name}: {client.text[-1500:]}")


@case
def a_second_hello(p):
    """The client guesses the wrong group, and sends the requested share."""
    with Machine(p) as machine:
        machine.certificate()
        for wanted in ["ntru_hps2048509", "p384_ntru_hrss701"]:
            server = machine.s_server([wanted])
            client = machine.s_client(server.port, ["X25519", wanted], "-trace")
            check_equal(client.returncode, 0, client.text[-1500:])
            check_equal(shares(client.text), [(29, 32), GROUPS[wanted], GROUPS[wanted]], "shares")


@case
def resumed(p):
    with Machine(p) as machine:
        machine.certificate()
        wanted = "x25519_ntru_hps4096821"
        server = machine.s_server([wanted], "-www")
        first = machine.s_client(server.port, [wanted], "-sess_out", "session", "-ign_eof", input=b"GET / HTTP/1.0\r\n\r\n")
        check_equal(first.returncode, 0, first.text[-1500:])
        client = machine.s_client(server.port, [wanted], "-sess_in", "session", "-trace")
        check_equal(client.returncode, 0, client.text[-1500:])
        check("\nReused, TLSv1.3" in client.text, client.text[-1500:])
        check_equal(shares(client.text), [GROUPS[wanted]] * 2, "a resumed connection has new shares")


@case
def no_group_in_common(p):
    with Machine(p) as machine:
        machine.certificate()
        server = machine.s_server(["ntru_hps2048677", "x25519_ntru_hps2048677"])
        refused = machine.s_client(server.port, ["ntru_hps2048509"])
        check(refused.returncode != 0 and "alert handshake failure" in refused.text, refused.text[-1500:])
        check_equal(machine.s_client(server.port, ["ntru_hps2048677"]).returncode, 0, "the server continues")


@case
def without_the_provider(p):
    with Machine(p) as machine:
        machine.certificate()
        server = machine.s_server(["X25519"])
        client = machine.s_client(server.port, ["ntru_hps4096821"], environment=machine.without)
        check(client.returncode != 0 and "ntru_hps4096821" in client.text, client.text)
        server = machine.s_server(["ntru_hps4096821", "X25519"])
        client = machine.s_client(server.port, ["X25519"], "-trace", environment=machine.without)
        check_equal((client.returncode, shares(client.text)), (0, [(29, 32)] * 2), "without the provider another group is used")


need("openssl")
main()
