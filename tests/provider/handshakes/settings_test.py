"""The provider's settings: in openssl.cnf, in the environment, and invalid values."""

import os
import re

from stock import GROUPS, Machine, case, check, check_equal, main, need, shares

HYBRID = "x25519_ntru_hps4096821"


def load(machine, **environment):
    """Loads by -provider, which reports the reason of a failure; programs that read openssl.cnf do
    not."""
    return machine.run("openssl", "list", "-providers", "-provider-path", machine.module.rpartition("/")[0], "-provider", "warpseal",
                       environment={**machine.with_module, "OPENSSL_CONF": machine.p.file("plain.cnf"), **environment})


@case
def invalid_values(p):
    with Machine(p) as machine:
        for name, value, why in [("THREADS", "many", "number from 0"), ("THREADS", "-1", "number from 0"), ("THREADS", "5000", "number from 0"),
                                 ("THREADS", "", "number from 0"), ("DEVICE", "bogus", "cuda:N"), ("DEVICE", "cuda:0,0", "cuda:N"), ("DEVICE", "", "cuda:N"),
                                 ("MAX_DELAY_US", "1e3", "number from 0"), ("X25519", "always", "auto or never"),
                                 ("MAX_BATCH", "99999999999999999999", "number from 0"), ("MAX_WAITING", "0x", "number from 0"),
                                 ("GROUPS", "ntru_hps2048509, ntru_hps", "no group is called ntru_hps"),
                                 ("NUMBER_NTRU_HRSS701", "0x1d", "number from"), ("NUMBER_NTRU_HRSS701", "65536", "number from"),
                                 ("NUMBER_NTRU_HRSS701", "0x0214", "the number of ntru_hps2048509"),
                                 ("NUMBER_NTRU_HRSS701", "0x11EC", "number of something else"),
                                 ("NUMBER_NTRU_HRSS701", "0xDADA", "number of something else")]:
            done = load(machine, **{f"WARPSEAL_{name}": value})
            check_equal(done.returncode, 1, f"{name} = {value}: {done.text}")
            check(f"WARPSEAL_{name}" in done.text and why in done.text, f"{name} = {value}: {done.text}")
        check_equal(load(machine, WARPSEAL_THREADS="2", WARPSEAL_GROUPS="ntru_hrss701", WARPSEAL_NUMBER_NTRU_HRSS701="0xFEFE").returncode, 0,
                    "valid values")


@case
def other_numbers(p):
    """One side takes a number from openssl.cnf, the other from the environment, which overrides its
    openssl.cnf."""
    with Machine(p, settings=f"number_{HYBRID} = 0xFE77\nmax_delay_us = 100\n") as machine:
        machine.certificate()
        server = machine.s_server([HYBRID])
        client = machine.s_client(server.port, [HYBRID], "-trace")
        check_equal((client.returncode, shares(client.text)), (0, [(0xFE77, GROUPS[HYBRID][1])] * 2), client.text[-1000:])
        environment = {**machine.with_module, f"WARPSEAL_NUMBER_{HYBRID.upper()}": "0xfe78"}
        client = machine.s_client(server.port, [HYBRID], environment=environment)
        check(client.returncode != 0 and "handshake failure" in client.text, client.text[-1000:])
        server = machine.s_server([HYBRID], environment=environment)
        client = machine.s_client(server.port, [HYBRID], "-trace", environment=environment)
        check_equal((client.returncode, shares(client.text)), (0, [(0xFE78, GROUPS[HYBRID][1])] * 2), client.text[-1000:])


@case
def fewer_groups(p):
    with Machine(p, settings=f"groups = {HYBRID} p256_ntru_hps2048509\n") as machine:
        machine.certificate()
        server = machine.s_server([HYBRID, "p256_ntru_hps2048509"])
        check_equal(machine.s_client(server.port, ["p256_ntru_hps2048509"]).returncode, 0, "a group that is offered")
        client = machine.s_client(server.port, ["ntru_hps4096821"])
        check(client.returncode != 0 and "ntru_hps4096821" in client.text, client.text[-1000:])
        # It is still available as an algorithm.
        machine.ok("openssl", "genpkey", "-algorithm", "ntru_hps4096821", "-out", "other.pem")


@case
def x25519(p):
    """A query takes X25519 to the module, whatever `groups` says, but not with `x25519 = never`. The
    client's is OpenSSL's."""
    for setting, requests in (("auto", 2), ("never", 0)):
        with Machine(p, settings=f"groups = {HYBRID}\nx25519 = {setting}\nmetrics_directory = {p.directory}\n") as machine:
            machine.certificate()
            server = machine.s_server(["X25519"], "-naccept", 1, "-propquery", "?provider=warpseal")
            client = machine.s_client(server.port, ["X25519"])
            check_equal(client.returncode, 0, f"{setting}: {client.text[-1000:]}")
            check_equal(server.wait(20), 0, server.said())
            name = p.file(f"warpseal-{server.pid}.prom")
            text = p.read(name).decode() if os.path.exists(name) else ""
            done = re.findall(r"^warpseal_kem_requests_total\{[^}]*\} (\d+)", text, flags=re.M)
            check_equal(sum(map(int, done)), requests, f"{setting}: {text}")


@case
def one_target(p):
    with Machine(p, settings="device = portable\nthreads = 1\n") as machine:
        machine.ok("openssl", "genpkey", "-algorithm", HYBRID, "-out", "key.pem")
    with Machine(p, settings="device = cuda:31\n") as machine:  # a valid name: the device is checked at first use
        done = machine.run("openssl", "genpkey", "-algorithm", HYBRID, "-out", "other.pem")
        check(done.returncode != 0 and "the engine cannot be made" in done.text, done.text)


@case
def metrics(p):
    with Machine(p, settings=f"metrics_directory = {p.directory}\n") as machine:
        machine.certificate()
        server = machine.s_server([HYBRID], "-naccept", 3)
        for _ in range(3):
            check_equal(machine.s_client(server.port, [HYBRID]).returncode, 0, "a handshake")
        check_equal(server.wait(20), 0, server.said())
        text = p.read(f"warpseal-{server.pid}.prom").decode()
        check(re.search(r"^warpseal_kem_\w+(\{[^}]*\})? [0-9]", text, flags=re.M), text)


need("openssl")
main()
