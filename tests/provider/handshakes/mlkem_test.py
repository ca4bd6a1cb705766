"""The groups with ML-KEM between stock programs, and ML-KEM's keys in files, by `openssl` and
`cryptography`."""

import re

from stock import Machine, case, check, check_equal, main, need, shares

# Name: number in TLS, bytes of the client's and of the server's share.
MLKEM = {
    "X25519MLKEM768": (0x11EC, 1216, 1120), "SecP256r1MLKEM768": (0x11EB, 1249, 1153), "SecP384r1MLKEM1024": (0x11ED, 1665, 1665),
    "MLKEM512": (0x0200, 800, 768), "MLKEM768": (0x0201, 1184, 1088), "MLKEM1024": (0x0202, 1568, 1568),
}


def own_mlkem(machine):
    """True if this OpenSSL has ML-KEM itself (3.5 and later): the module then leaves it alone."""
    version = re.search(r"OpenSSL (\d+)\.(\d+)", machine.ok("openssl", "version").text)
    return tuple(map(int, version.groups())) >= (3, 5)


def settings(machine):
    return "mlkem = always\n" if own_mlkem(machine) else ""


def machine_for(p):
    with Machine(p) as machine:
        text = settings(machine)
    return Machine(p, settings=text)


def handshakes(p, *mode):
    with machine_for(p) as machine:
        machine.certificate()
        server = machine.s_server(MLKEM, *mode)
        for name, (number, client_bytes, server_bytes) in MLKEM.items():
            client = machine.s_client(server.port, [name], "-trace", *mode)
            check_equal(client.returncode, 0, f"{name}: {client.text[-1500:]}")
            check_equal(shares(client.text), [(number, client_bytes), (number, server_bytes)], f"{name}: shares of client and server")
            check("Verification: OK" in client.text, f"{name}: {client.text[-1500:]}")
        check(server.poll() is None, f"the server ended: {server.said()}")


@case
def every_group(p):
    handshakes(p)


@case
def every_group_on_fibres(p):
    handshakes(p, "-async")


@case
def a_second_hello(p):
    with machine_for(p) as machine:
        machine.certificate()
        server = machine.s_server(["X25519MLKEM768"])
        client = machine.s_client(server.port, ["X25519", "X25519MLKEM768"], "-trace")
        check_equal(client.returncode, 0, client.text[-1500:])
        check_equal(shares(client.text)[-2:], [(0x11EC, 1216), (0x11EC, 1120)], "shares")


@case
def what_is_listed(p):
    with Machine(p) as machine:
        own = own_mlkem(machine)
        text = machine.ok("openssl", "list", "-kem-algorithms").text
        for name in MLKEM:
            ours = [line for line in text.splitlines() if re.search(rf"\b{name}\b", line) and "@ warpseal" in line]
            check_equal(len(ours), 0 if own else 1, f"{name} in automatic mode")


@case
def switched_off(p):
    with Machine(p, settings="mlkem = never\n") as machine:
        text = machine.ok("openssl", "list", "-kem-algorithms").text
        check(not re.search(r"MLKEM.*@ warpseal", text), text)
        check("ntru_hps4096821" in text, text)
        if not own_mlkem(machine):
            machine.certificate()
            refused = machine.run("openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "certificate.pem", "-key", "key.pem", "-groups", "MLKEM768")
            check(refused.returncode != 0, refused.text)


@case
def keys_in_files(p):
    """A key from `openssl genpkey` is read by `cryptography` and back, with secrets both ways."""
    try:
        from cryptography.hazmat.primitives.asymmetric import mlkem
        from cryptography.hazmat.primitives.serialization import (
            Encoding, NoEncryption, PrivateFormat, PublicFormat, load_pem_private_key, load_pem_public_key)
    except ImportError:
        print("NOT RUN: this Python package cryptography has no ML-KEM")
        return
    for size, private in ((768, mlkem.MLKEM768PrivateKey), (1024, mlkem.MLKEM1024PrivateKey)):
        with machine_for(p) as machine:
            machine.ok("openssl", "genpkey", "-propquery", "?provider=warpseal", "-algorithm", f"ML-KEM-{size}", "-out", "key.pem")
            machine.ok("openssl", "pkey", "-propquery", "?provider=warpseal", "-in", "key.pem", "-pubout", "-out", "public.pem")
            theirs = load_pem_private_key(p.read("key.pem"), None)
            check(isinstance(theirs, private), "another type")
            check_equal(theirs.public_key().public_bytes_raw(), load_pem_public_key(p.read("public.pem")).public_bytes_raw(), "public key")
            check_equal(theirs.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), p.read("key.pem"), "the file")
            made = private.generate()
            p.write("made.pem", made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            public = machine.ok("openssl", "pkey", "-propquery", "?provider=warpseal", "-in", "made.pem", "-pubout").stdout
            check_equal(public, made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "a public key of theirs")


need("openssl")
main()
