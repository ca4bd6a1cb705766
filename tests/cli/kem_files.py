"""NTRU parameter sets, and `warpseal kem` commands on the files pk, sk, ct."""

import os
import stat

# Sizes of public key, secret key and ciphertext (docs/kem.md).
SETS = {"ntruhps2048509": (699, 935, 699), "ntruhps2048677": (930, 1234, 930), "ntruhps4096821": (1230, 1590, 1230),
        "ntruhps40961229": (1842, 2366, 1842), "ntruhrss701": (1138, 1450, 1138), "ntruhrss1373": (2401, 2983, 2401)}
SMALL = "ntruhps2048509"


def keygen(p, name=SMALL, *more, **options):
    return p.ok("kem", "keygen", "--set", name, "--secret-key", "sk", "--public-key", "pk", *more, **options)


def encapsulate(*more, ct="ct", ss="sent"):
    return ("kem", "encapsulate", "--public-key", "pk", "--ciphertext", ct, "--shared-secret", ss, *more)


def decapsulate(*more, sk="sk", ct="ct", ss="received"):
    return ("kem", "decapsulate", "--secret-key", sk, "--ciphertext", ct, "--shared-secret", ss, *more)


def mode(p, name):
    return stat.S_IMODE(os.stat(p.file(name)).st_mode)
