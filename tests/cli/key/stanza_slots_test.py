"""SSH keys and plugins as recipients of Warpseal files."""

import json
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "age")]

from program import case, check, check_equal, main, some_bytes

CONTENT = some_bytes(40_000)
KEYS = pathlib.Path(__file__).resolve().parents[2] / "vectors/age/ssh"
PLUGIN = pathlib.Path(__file__).resolve().parents[1] / "age/test_plugin.py"


def keys(p):
    for name in ("ed25519", "rsa", "locked"):
        p.write(name, (KEYS / name).read_bytes(), 0o600)
        p.write(f"{name}.pub", (KEYS / f"{name}.pub").read_bytes())
    p.write("word", b"correct horse\n", 0o600)
    p.write("plain", CONTENT)


def types(p, name):
    return [slot["type"] for slot in json.loads(p.ok("key", "list", "--json", name).out)["slots"]]


def opened(p, *arguments):
    return p.ok("decrypt", *arguments).out == CONTENT


@case
def ssh_keys(p):
    keys(p)
    p.key()
    for name, kind in (("ed25519", "ssh-ed25519"), ("rsa", "ssh-rsa")):
        p.ok("encrypt", "-f", "-R", f"{name}.pub", "plain", "-o", "sealed")
        check(p.read("sealed").startswith(b"WARPSEAL"), "the format")
        check_equal(types(p, "sealed"), [kind], "slots")
        check(opened(p, "-i", name, "sealed"), f"{name} does not open it")
        p.ok("verify", "-i", name, "sealed")
        check_equal(p.ok("decrypt", "-i", name, "--range", "100:50", "sealed").out, CONTENT[100:150], "a range")
        p.ok("rescue", "-i", name, "sealed", "-o", f"{name}.rescued")
        other = "rsa" if name == "ed25519" else "ed25519"
        check_equal(p.run("decrypt", "-i", other, "sealed").code, 12, "another key")
    p.ok("encrypt", "-f", "-R", "ed25519.pub", "-R", "rsa.pub", "-R", "locked.pub", "-k", "key", "plain", "-o", "all")
    check_equal(sorted(types(p, "all")), ["key file", "ssh-ed25519", "ssh-ed25519", "ssh-rsa"], "slots of all")
    for secret in (["-i", "ed25519"], ["-i", "rsa"], ["-k", "key"], ["-i", "locked", "--passphrase-file", "word"]):
        check(opened(p, *secret, "all"), f"{secret}")
    with open(p.file("word"), "rb") as word:
        check_equal(p.ok("decrypt", "-i", "locked", "--passphrase-fd", word.fileno(), "all", pass_fds=[word.fileno()]).out, CONTENT, "by a descriptor")
    check_equal(p.run("decrypt", "-i", "ed25519", input=p.read("all")).code, 15, "a stream")
    p.ok("key", "add", "-k", "key", "-R", "rsa.pub", "all")
    check_equal(types(p, "all").count("ssh-rsa"), 2, "slots after key add")
    check(opened(p, "-i", "rsa", "all"), "the added slot")


@case
def many_files(p):
    keys(p)
    names = [f"text{number}" for number in range(5)]
    for name in names:
        p.write(name, CONTENT + name.encode())
    p.ok("encrypt", "-R", "ed25519.pub", "-R", "locked.pub", *names, "--output-dir", "sealed")
    for secret in (["-i", "ed25519"], ["-i", "locked", "--passphrase-file", "word"]):
        p.ok("decrypt", "-f", *secret, "--recursive", "sealed", "--output-dir", "out")
        for name in names:
            check_equal(p.read(f"out/sealed/{name}"), CONTENT + name.encode(), name)


@case
def no_mixture_with_post_quantum_recipients(p):
    keys(p)
    p.ok("-q", "keygen", "--pq", "-o", "pq")
    recipient = p.ok("keygen", "-y", "pq").out.decode().strip()
    p.fails(2, "not post-quantum", "encrypt", "-r", recipient, "-R", "ed25519.pub", "plain", "-o", "sealed")
    p.ok("encrypt", "-r", recipient, "plain", "-o", "sealed")
    p.fails(2, "not post-quantum", "key", "add", "-i", "pq", "-R", "ed25519.pub", "sealed")


@case
def changed_slots_open_nothing(p):
    keys(p)
    p.ok("encrypt", "-R", "ed25519.pub", "plain", "-o", "sealed")
    whole = p.read("sealed")
    slot = 4096 + 16
    for offset in (4, 8, 40, 74, 80, 120):  # tag, share, wrapped key, body
        changed = bytearray(whole)
        for copy in (0, 28672):
            changed[slot + copy + offset] ^= 1
        p.write("changed", changed)
        check(p.run("decrypt", "-i", "ed25519", "changed").code in (12, 13), f"byte {offset}")


@case
def plugins(p):
    keys(p)
    os.mkdir(p.file("plugins"))
    p.write("plugins/age-plugin-test", PLUGIN.read_bytes(), 0o755)
    environment = {**os.environ, "PATH": p.file("plugins") + ":" + os.environ["PATH"], "PLUGIN_LOG": p.file("log")}
    for name in ("a", "b", "c"):
        p.write(name, CONTENT)
    p.ok("encrypt", "-j", "test", "a", "b", "c", "--output-dir", "sealed", env=environment)
    check_equal(types(p, "sealed/a.ws"), ["plugin"], "slots")
    check_equal(p.ok("decrypt", "-j", "test", "sealed/a.ws", env=environment).out, CONTENT, "one file")
    p.ok("decrypt", "-j", "test", "--recursive", "sealed", "--output-dir", "out", env=environment)
    for name in ("a", "b", "c"):
        check_equal(p.read(f"out/sealed/{name}"), CONTENT, name)


main()
