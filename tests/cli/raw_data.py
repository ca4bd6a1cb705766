"""Shared by the tests of raw data: the ciphers, and the arguments of a mode."""

import json

from program import NotRun, some_bytes

TAG = 16
MIB = 1 << 20


def ciphers(p):
    return {row["cipher"]: row for row in json.loads(p.ok("list", "--json").out)["ciphers"]}


def need(p, name, mode):
    row = ciphers(p).get(name)
    if not row or mode not in row["modes"]:
        raise NotRun(f"this program has no {name}-{mode}")
    return row


def legacy(row):
    return ["--legacy"] if row["legacy"] else []


def key_file(p, key, name="key"):
    p.write(name, key, 0o600)
    return name


def raw(p, direction, what, iv, *arguments, **options):
    return p.ok("raw", direction, "-c", what, "--key-file", "key", "--iv", iv.hex(), *arguments, **options)


def iv_for(row, mode):
    return some_bytes(12 if mode in ("gcm", "ccm") else 16 if mode == "xts" else row["block_bytes"], 3)


def units(mode):
    return ["--data-unit-bytes", 512] if mode == "xts" else []
