"""Keys of the groups' algorithms in files, by `openssl genpkey` and `openssl pkey`."""

import re

from stock import GROUPS, Machine, case, check, check_equal, main, need

# Bytes of the secret key: the classical one's, then NTRU's (docs/kem.md).
NTRU = {"hps2048509": 935, "hps2048677": 1234, "hps4096821": 1590, "hps40961229": 2366, "hrss701": 1450, "hrss1373": 2983}
CLASSICAL = {"": 0, "x25519_": 32, "p256_": 32, "p384_": 48, "p521_": 66}


def hexadecimal(text, name):
    """Returns the bytes that -text prints under a name."""
    block = re.search(rf"^{name}:\n((?:    [0-9a-f:]+\n)+)", text, flags=re.M)
    check(block, text[:500])
    return bytes.fromhex(re.sub(r"[:\s]", "", block.group(1)))


@case
def every_group(p):
    with Machine(p) as machine:
        for name, (_, share_bytes) in GROUPS.items():
            machine.ok("openssl", "genpkey", "-algorithm", name, "-out", "key.pem")
            text = machine.ok("openssl", "pkey", "-in", "key.pem", "-noout", "-text", "-check").text
            check(f"{name} Private-Key:" in text and "Key is valid" in text, text[:500])
            classical, ntru = re.fullmatch(r"(.*_|)ntru_(.*)", name).groups()
            check_equal(len(hexadecimal(text, "priv")), CLASSICAL[classical] + NTRU[ntru], f"secret key of {name}")
            check_equal(len(hexadecimal(text, "pub")), share_bytes, f"share of {name}")
            machine.ok("openssl", "pkey", "-in", "key.pem", "-pubout", "-outform", "DER", "-out", "public.der")
            public = machine.ok("openssl", "pkey", "-pubin", "-inform", "DER", "-in", "public.der", "-noout", "-text").text
            check_equal(hexadecimal(public, "pub"), hexadecimal(text, "pub"), f"public key of {name}")
            check("priv:" not in public, "no secret key in a public one")
            check(p.read("public.der").endswith(hexadecimal(text, "pub")), "the share ends the encoding")


@case
def through_every_format(p):
    with Machine(p) as machine:
        for name in ["ntru_hrss701", "x25519_ntru_hps2048677", "p521_ntru_hps4096821"]:
            machine.ok("openssl", "genpkey", "-algorithm", name, "-out", "key.pem")
            machine.ok("openssl", "pkey", "-in", "key.pem", "-aes-256-cbc", "-passout", "pass:right", "-out", "sealed.pem")
            check(p.read("sealed.pem").startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----"), "it is encrypted")
            machine.ok("openssl", "pkey", "-in", "sealed.pem", "-passin", "pass:right", "-outform", "DER", "-out", "key.der")
            machine.ok("openssl", "pkey", "-inform", "DER", "-in", "key.der", "-out", "again.pem")
            check_equal(p.read("again.pem"), p.read("key.pem"), f"{name} through DER and a passphrase")
            wrong = machine.run("openssl", "pkey", "-in", "sealed.pem", "-passin", "pass:wrong", "-noout")
            check(wrong.returncode == 1, wrong.text)


@case
def mismatched_halves(p):
    with Machine(p) as machine:
        for name in ["ntru_hps2048509", "p256_ntru_hps2048509", "x25519_ntru_hps2048509"]:
            keys = []
            for file in ["one.der", "other.der"]:
                machine.ok("openssl", "genpkey", "-algorithm", name, "-outform", "DER", "-out", file)
                keys.append(p.read(file))
            share = GROUPS[name][1]
            for end in [len(keys[0]), len(keys[0]) - 699]:  # NTRU's half of the share, or the classical one
                start = len(keys[0]) - (699 if end == len(keys[0]) else share)
                if start == end:
                    continue
                p.write("mixed.der", keys[0][:start] + keys[1][start:end] + keys[0][end:])
                checked = machine.run("openssl", "pkey", "-inform", "DER", "-in", "mixed.der", "-noout", "-check")
                check("Key is invalid" in checked.text, f"{name}: {checked.text}")


@case
def invalid_keys(p):
    with Machine(p) as machine:
        name = "p256_ntru_hps2048509"
        machine.ok("openssl", "genpkey", "-algorithm", name, "-outform", "DER", "-out", "key.der")
        machine.ok("openssl", "pkey", "-inform", "DER", "-in", "key.der", "-pubout", "-outform", "DER", "-out", "public.der")
        key, public = p.read("key.der"), p.read("public.der")
        point = len(public) - GROUPS[name][1]
        for what, content in {"nothing": b"", "cut": public[:-1],
                              "a spare bit set": public[:-1] + bytes([public[-1] | 0x80]),
                              "off its curve": public[:point + 1] + bytes([public[point + 1] ^ 1]) + public[point + 2:],
                              "compressed": public[:point] + b"\2" + public[point + 1:],
                              "of another algorithm": public[:30] + bytes([public[30] ^ 1]) + public[31:]}.items():
            p.write("bad.der", content)
            done = machine.run("openssl", "pkey", "-pubin", "-inform", "DER", "-in", "bad.der", "-noout")
            check_equal(done.returncode, 1, f"a public key {what}: {done.text}")
        for what, content in {"cut": key[:-1], "half": key[:len(key) // 2]}.items():
            p.write("bad.der", content)
            done = machine.run("openssl", "pkey", "-inform", "DER", "-in", "bad.der", "-noout")
            check_equal(done.returncode, 1, f"a key {what}: {done.text}")


need("openssl")
main()
