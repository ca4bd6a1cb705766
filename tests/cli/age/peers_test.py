"""Files go both ways between the program and age 1.1, age 1.3 (scripts/age-peers) and rage (pyrage).

Without any of these peers the test is NOT RUN. WARPSEAL_NEEDS_AGE_PEERS=1 requires all."""

import os
import re
import shutil
import subprocess
import sys

import kit
from program import NotRun, case, check, check_equal, main, some_bytes

TREE = os.path.join(kit.HERE, "..", "..", "..")
KEYS = os.path.join(kit.VECTORS, "ssh")
NOT_RUN = 77
SIZES = (0, 1, 65535, 65536, 65537, 3 * 65536, 200001)
SSH_KEYS = ("ed25519", "rsa", "rsa-pkcs1")


class Age:
    """One version of age, as a program."""

    def __init__(self, name):
        self.name = name
        folder = os.environ.get("AGE_PEERS") or os.path.join(TREE, "build", "age-peers")
        self.folder = os.path.join(folder, name.replace(" ", "-"), "usr", "bin")
        self.absent = None if self.starts() else f"no {name}: {self.folder} has no age that starts; scripts/age-peers unpacks it"

    def starts(self):
        try:
            said = subprocess.run([os.path.join(self.folder, "age"), "--version"], capture_output=True, check=False, text=True).stdout
        except OSError:
            return False
        return f"v{said}".replace("vv", "v").startswith(self.name.replace("age ", "v"))

    def run(self, program, *arguments, input=None):
        done = subprocess.run([os.path.join(self.folder, program), *arguments], input=input, capture_output=True, check=False, timeout=120)
        check_equal(done.returncode, 0, f"exit code of {self.name} {arguments}: {done.stderr.decode()}")
        return done.stdout

    def encrypt(self, recipients, text, armored=False):
        return self.run("age", *(["-a"] if armored else []), *(word for line in recipients for word in ("-r", line)), input=text)

    def decrypt(self, identity, sealed):
        return self.run("age", "-d", "-i", identity, input=sealed)

    def keygen(self, path, *options):
        self.run("age-keygen", *options, "-o", path)


class Rage:
    """The library of rage."""

    name = "pyrage"

    def __init__(self):
        try:
            import pyrage
            self.module, self.absent = pyrage, None
        except ImportError:
            self.absent = "no pyrage (scripts/requirements.txt)"

    def encrypt(self, recipients, text, armored=False):
        own = [(self.module.ssh if line.startswith("ssh-") else self.module.x25519).Recipient.from_str(line) for line in recipients]
        return self.module.encrypt(text, own, armored=armored)

    def decrypt(self, identity, sealed):
        with open(identity, "rb") as file:
            content = file.read()
        if content.startswith(b"-----"):
            own = self.module.ssh.Identity.from_buffer(content)
        else:
            own = self.module.x25519.Identity.from_str(re.search(rb"^AGE-SECRET-KEY-1\w+", content, re.MULTILINE)[0].decode())
        return self.module.decrypt(sealed, [own])

    def keygen(self, path):
        own = self.module.x25519.Identity.generate()
        with open(path, "w", encoding="ascii") as file:
            file.write(f"{own}\n")
        os.chmod(path, 0o600)


PEERS = {peer.name: peer for peer in (Age("age 1.1"), Age("age 1.3"), Rage())}


def peer_named(name):
    """Returns a peer, or ends the case as NOT RUN."""
    absent = PEERS[name].absent
    if absent and os.environ.get("WARPSEAL_NEEDS_AGE_PEERS") == "1":
        raise AssertionError(absent)
    if absent:
        raise NotRun(absent)
    return PEERS[name]


def identities(p, peer):
    """Pairs of an identity file and its recipient: of our keygen, of the peer's, and SSH keys."""
    p.ok("-q", "keygen", "--age", "-o", "ours")
    peer.keygen(p.file("theirs"))
    for name in SSH_KEYS:
        shutil.copy(os.path.join(KEYS, name), p.file(name))
        os.chmod(p.file(name), 0o600)
    return [(p.file(name), p.ok("keygen", "-y", name).out.decode().strip()) for name in ("ours", "theirs", *SSH_KEYS)]


def both_ways(p, name):
    peer = peer_named(name)
    all_identities = identities(p, peer)
    for identity, recipient in all_identities:
        for number, size in enumerate(SIZES):
            text, armored = some_bytes(size, size + 1), number % 2 == 1
            sealed = p.ok("encrypt", "--format", "age", *(["-a"] if armored else []), "-r", recipient, input=text).out
            check_equal(peer.decrypt(identity, sealed), text, f"{size} bytes from us by {identity}")
            sealed = peer.encrypt([recipient], text, armored)
            check_equal(sealed.startswith(b"-----BEGIN AGE"), armored, "an armor")
            check_equal(p.ok("decrypt", "-i", identity, input=sealed).out, text, f"{size} bytes from {name} by {identity}")
    recipients = [recipient for _, recipient in all_identities]
    text = some_bytes(1000)
    for sealed in (p.ok("encrypt", "--format", "age", *(word for line in recipients for word in ("-r", line)), input=text).out, peer.encrypt(recipients, text)):
        for identity, _ in all_identities:
            check_equal(peer.decrypt(identity, sealed), text, f"a file for all, by {name} and {identity}")
            check_equal(p.ok("decrypt", "-i", identity, input=sealed).out, text, f"a file for all, by us and {identity}")


@case
def age_1_1(p):
    both_ways(p, "age 1.1")


@case
def age_1_3(p):
    both_ways(p, "age 1.3")


@case
def rage(p):
    both_ways(p, "pyrage")


@case
def post_quantum_with_age_1_3(p):
    peer = peer_named("age 1.3")
    ours = kit.post_quantum_recipient(p, "ours")
    peer.keygen(p.file("theirs"), "-pq")
    theirs = p.ok("keygen", "-y", "theirs").out.decode().strip()
    check_equal(peer.run("age-keygen", "-y", p.file("ours")).decode().strip(), ours, "the recipient of our identity")
    check(theirs.encode() in p.read("theirs"), "the recipient of their identity")
    for identity, recipient in (("ours", ours), ("theirs", theirs)):
        for size in SIZES:
            text = some_bytes(size, size + 2)
            check_equal(peer.decrypt(p.file(identity), p.ok("encrypt", "--format", "age", "-r", recipient, input=text).out), text, f"{size} bytes from us, {identity}")
            check_equal(p.ok("decrypt", "-i", identity, input=peer.encrypt([recipient], text)).out, text, f"{size} bytes from age, {identity}")
    text = some_bytes(1000)
    sealed = p.ok("encrypt", "--format", "age", "-r", ours, "-r", theirs, input=text).out
    for identity in ("ours", "theirs"):
        check_equal(peer.decrypt(p.file(identity), sealed), text, f"a file for both, {identity}")


@case
def passphrases_with_rage(p):
    rage = peer_named("pyrage").module.passphrase
    text = some_bytes(70000)
    p.write("word", b"correct horse battery\n", 0o600)
    options = ["--passphrase-file", "word"]
    sealed = p.ok("encrypt", "--format", "age", *options, input=text).out
    check_equal(rage.decrypt(sealed, "correct horse battery"), text, "from us")
    check_equal(p.ok("decrypt", *options, input=rage.encrypt(text, "correct horse battery")).out, text, "from rage")


if __name__ == "__main__":
    if os.environ.get("WARPSEAL_NEEDS_AGE_PEERS") != "1" and all(peer.absent for peer in PEERS.values()):
        print("NOT RUN: " + "; ".join(peer.absent for peer in PEERS.values()))
        sys.exit(NOT_RUN)
    main()
