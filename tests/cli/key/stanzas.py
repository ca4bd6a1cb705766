"""What the tests of key slots for SSH keys and plugins share."""

import json
import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "cli"), str(TESTS / "cli/support"), str(TESTS / "container/reader")]

from plugins import running_plugins  # pylint: disable=wrong-import-position,unused-import
from program import check, some_bytes  # pylint: disable=wrong-import-position

CONTENT = some_bytes(40_000)
KEYS = TESTS / "vectors/age/ssh"
RECIPIENT = "age1test1wfjkx6tsd9jkuaqra6j3p"
PLUGIN_IDENTITY = "AGE-PLUGIN-TEST-1D9JX2MN5D968JAGUYQJ"
QUICK = ["--argon2-memory", "8", "--argon2-passes", "1"]
SLOT, COPY = 4096 + 16, 28672


def keys(p):
    for name in ("ed25519", "rsa", "locked"):
        p.write(name, (KEYS / name).read_bytes(), 0o600)
        p.write(f"{name}.pub", (KEYS / f"{name}.pub").read_bytes())
    p.key()
    p.write("word", b"correct horse\n", 0o600)
    p.write("wrong", b"battery staple\n", 0o600)
    p.write("third", b"neither\n", 0o600)
    p.write("plain", CONTENT)


def plugin(p, mode="", name="test"):
    """Installs the plugin, and returns the environment that it is found in."""
    os.makedirs(p.file("plugins"), exist_ok=True)
    program = (TESTS / "cli/age/test_plugin.py").read_text().replace("#!/usr/bin/env python3", f"#!{sys.executable} -B")
    p.write(f"plugins/age-plugin-{name}", program.encode(), 0o755)
    p.write("identity", f"{PLUGIN_IDENTITY}\n".encode(), 0o600)
    # Without a log, as a failure leaves the directory unchanged.
    return {"env": {**os.environ, "PATH": p.file("plugins"), "PLUGIN_MODE": mode, "PLUGIN_LOG": "/dev/null" if mode else p.file("log")}}


def started(p):
    """What each process of the plugin was sent since the last call."""
    lines = p.read("log").splitlines() if os.path.exists(p.file("log")) else []
    p.write("log", b"")
    return [[arguments[0] for arguments, _ in json.loads(line)["received"]] for line in lines]


def slots(p, name):
    """Type and parameters of each slot of the first header copy."""
    data, found, at = p.read(name), [], SLOT
    for _ in range(int.from_bytes(data[SLOT - 8:SLOT - 6], "big")):
        kind, size = int.from_bytes(data[at:at + 2], "big"), int.from_bytes(data[at + 2:at + 4], "big")
        found.append((kind, data[at + 4:at + 4 + size]))
        at += 6 + size + 104
    return found


def types(p, name):
    return [slot["type"] for slot in json.loads(p.ok("key", "list", "--json", name).out)["slots"]]


def opens(p, *arguments, **options):
    result = p.run("decrypt", *arguments, **options)
    check(result.code in (0, 12), result.err)
    check(result.code != 0 or result.out == CONTENT, "another content")
    return result.code == 0
