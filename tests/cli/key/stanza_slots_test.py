"""SSH keys as recipients and identities of Warpseal files."""

import io
import json
import os
import subprocess

from stanzas import CONTENT, COPY, KEYS, QUICK, SLOT, keys, opens, types

from program import NotRun, case, check, check_equal, main
from terminal import Terminal


@case
def ssh_keys(p):
    keys(p)
    for name, kind in (("ed25519", "ssh-ed25519"), ("rsa", "ssh-rsa")):
        p.ok("encrypt", "-f", "-R", f"{name}.pub", "plain", "-o", "sealed")
        check(p.read("sealed").startswith(b"WARPSEAL"), "the format")
        check_equal(json.loads(p.ok("info", "--json", "sealed").out)["slots"], [{"type": kind}], "slots")
        check(f"slot 1      recipient {kind}\n" in p.ok("info", "sealed").out.decode(), "the text of info")
        check(opens(p, "-i", name, "sealed"), f"{name} does not open it")
        check(opens(p, "-i", name, input=p.read("sealed")), f"{name} does not open a stream")
        check(opens(p, "-i", "-", "sealed", input=p.read(name)), f"{name} on standard input")
        p.ok("verify", "-i", name, "sealed")
        check_equal(p.ok("decrypt", "-i", name, "--range", "100:50", "sealed").out, CONTENT[100:150], "a range")
        p.ok("rescue", "-i", name, "sealed", "-o", f"{name}.rescued")
        check_equal(p.read(f"{name}.rescued"), CONTENT, "a rescue")
        p.ok("decrypt", "--resume", "-i", name, "sealed", "-o", f"{name}.out")
        check_equal(p.read(f"{name}.out"), CONTENT, "a resumable run")
        other = "rsa" if name == "ed25519" else "ed25519"
        p.fails(12, "wrong key file, passphrase or identity", "decrypt", "-i", other, "sealed")


@case
def beside_other_secrets(p):
    keys(p)
    p.ok("-q", "keygen", "--age", "-o", "mine")
    recipient = p.ok("keygen", "-y", "mine").out.decode().strip()
    p.ok("encrypt", "-R", "ed25519.pub", "-R", "rsa.pub", "-R", "locked.pub", "-r", recipient, "-k", "key", "plain", "-o", "all")
    check_equal(sorted(types(p, "all")), ["X25519", "key file", "ssh-ed25519", "ssh-ed25519", "ssh-rsa"], "slots of all")
    for secret in (["-i", "ed25519"], ["-i", "rsa"], ["-i", "mine"], ["-k", "key"], ["-i", "locked", "--passphrase-file", "word"],
                   ["-i", "locked", "-i", "rsa"], ["-i", "mine", "-i", "locked"], ["-k", "key", "-i", "locked"]):
        check(opens(p, *secret, "all"), f"{secret}")
    # An SSH key in a file that is itself encrypted.
    p.write("within", p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=p.read("rsa")).out, 0o600)
    check(opens(p, "-i", "within", "--passphrase-file", "word", "all"), "an SSH key in an age file")


@case
def locked_keys(p):
    keys(p)
    made = subprocess.run(["openssl", "pkey", "-in", str(KEYS / "rsa-pkcs1"), "-aes256", "-passout", "pass:correct horse"], capture_output=True, check=True, stdin=subprocess.DEVNULL)
    p.write("pem", made.stdout, 0o600)
    p.write("pem.pub", (KEYS / "rsa-pkcs1.pub").read_bytes())
    for name in ("locked", "pem"):
        p.ok("encrypt", "-f", "-R", f"{name}.pub", "plain", "-o", "sealed")
        opened = ["-i", name, "sealed"]
        check(opens(p, *opened, "--passphrase-file", "word"), name)
        check(opens(p, *opened, "--passphrase-file", "wrong", "--passphrase-file", "word"), f"{name} by the second passphrase")
        with open(p.file("word"), "rb") as word:
            check(opens(p, *opened, "--passphrase-fd", word.fileno(), pass_fds=[word.fileno()]), f"{name} by a descriptor")
        p.fails(12, f"the passphrase does not open identity file '{name}'", "decrypt", *opened, "--passphrase-file", "wrong")
        p.fails(2, [f"identity file '{name}' is under a passphrase", "--passphrase-file"], "decrypt", *opened)
        terminal = Terminal(p, "decrypt", *opened)
        terminal.wait_for(f"Passphrase of identity file '{name}': ")
        terminal.type("correct horse\n")
        code, out, err = terminal.end()
        check_equal((code, out), (0, CONTENT), err)
        # Nothing is asked for a file that does not take the key.
        p.ok("encrypt", "-f", "-k", "key", "plain", "-o", "other")
        check(not opens(p, "-i", name, "other"), "a file without such a slot")
    p.ok("encrypt", "-f", "-R", "ed25519.pub", "plain", "-o", "other")
    check(not opens(p, "-i", "locked", "other"), "a file for another key")


@case
def many_files(p):
    keys(p)
    names = [f"text{number}" for number in range(5)]
    for name in names:
        p.write(name, CONTENT + name.encode())
    p.ok("encrypt", "-R", "ed25519.pub", "-R", "locked.pub", *names, "--output-dir", "sealed")
    p.write("mixed", CONTENT)
    p.ok("encrypt", "--format", "age", "-R", "locked.pub", "mixed", "--output-dir", "sealed")

    def check_all(what, folder):
        for name in names:
            check_equal(p.read(f"{folder}/sealed/{name}"), CONTENT + name.encode(), f"{name} by {what}")
        check_equal(p.read(f"{folder}/sealed/mixed"), CONTENT, f"an age file by {what}")

    p.ok("decrypt", "-i", "locked", "--passphrase-file", "word", "--recursive", "sealed", "--output-dir", "out")
    check_all("a file", "out")
    with open(p.file("word"), "rb") as word:
        p.ok("decrypt", "-i", "locked", "--passphrase-fd", word.fileno(), "--recursive", "sealed", "--output-dir", "read", pass_fds=[word.fileno()])
    check_all("a descriptor", "read")
    terminal = Terminal(p, "decrypt", "-i", "locked", "--recursive", "sealed", "--output-dir", "asked")
    terminal.wait_for("Passphrase of identity file 'locked': ")
    terminal.type("correct horse\n")
    code, _, err = terminal.end()
    check_equal(code, 0, err)
    check_equal(terminal.shown.count("Passphrase"), 1, "questions")
    check_all("a terminal", "asked")
    result = p.fails(3, "6 of 6", "verify", "--keep-going", "-i", "locked", "--passphrase-file", "wrong", "--recursive", "sealed")
    check_equal(result.err.count("the passphrase does not open identity file 'locked'"), 6, result.err)
    p.ok("verify", "-i", "ed25519", *[f"sealed/{name}.ws" for name in names])


@case
def mixed_runs(p):
    """Age and Warpseal files share unlocked keys, so that both try all passphrases."""
    keys(p)
    os.mkdir(p.file("sealed"))
    for name in ("a", "z"):  # on both sides of the age file
        p.ok("encrypt", "-R", "locked.pub", "plain", "-o", f"sealed/{name}")
    p.ok("encrypt", "--format", "age", "-R", "locked.pub", "plain", "-o", "sealed/m")
    for order in (["a", "m", "z"], ["m", "a", "z"], ["z", "a", "m"]):
        paths = [f"sealed/{name}" for name in order]
        p.ok("verify", "-i", "locked", "--passphrase-file", "word", *paths)
        p.ok("verify", "-i", "locked", "--passphrase-file", "wrong", "--passphrase-file", "word", *paths)
        result = p.fails(3, "3 of 3", "verify", "--keep-going", "-i", "locked", "--passphrase-file", "wrong", "--passphrase-file", "third", *paths)
        check_equal(result.err.count("the passphrase does not open identity file 'locked'"), 3, result.err)


@case
def long_names(p):
    """The message of a slot is short. A long path does not take the place of the advice."""
    keys(p)
    folder = "/".join("ä" * 100 for _ in range(2))
    os.makedirs(p.file(folder))
    p.write(f"{folder}/locked", (KEYS / "locked").read_bytes(), 0o600)
    p.ok("encrypt", "-R", "locked.pub", "plain", "-o", "sealed")
    result = p.fails(2, ["identity file 'ä", "…' is under a passphrase", "--passphrase-file or --passphrase-fd"], "decrypt", "-i", f"{folder}/locked", "sealed")
    check("\ufffd" not in result.err, "a character is cut")


@case
def key_commands(p):
    keys(p)
    p.ok("encrypt", "-k", "key", "--passphrase-file", "word", *QUICK, "plain", "-o", "sealed")
    p.ok("key", "add", "-k", "key", "-R", "ed25519.pub", "sealed")
    p.ok("key", "add", "-i", "ed25519", "-R", "rsa.pub", "-R", "locked.pub", "sealed")
    check_equal(types(p, "sealed"), ["key file", "passphrase", "ssh-ed25519", "ssh-rsa", "ssh-ed25519"], "slots")
    p.ok("key", "passwd", *QUICK, "--passphrase-file", "word", "--new-passphrase-file", "wrong", "sealed")
    p.key("next")
    p.ok("key", "rotate", "-k", "key", "--to", "next", "sealed")
    for secret in (["-i", "ed25519"], ["-i", "rsa"], ["-i", "locked", "--passphrase-file", "word"], ["-k", "next"], ["--passphrase-file", "wrong"]):
        check(opens(p, *secret, "sealed"), f"{secret}")
    number = types(p, "sealed").index("ssh-rsa") + 1
    p.fails(2, "would not open the file any more", "key", "remove", number, "-i", "rsa", "sealed")
    p.ok("key", "remove", number, "-i", "ed25519", "sealed")
    check(not opens(p, "-i", "rsa", "sealed"), "a removed slot")
    check(opens(p, "-i", "ed25519", "sealed"), "the slot that stays")
    p.fails(12, "the passphrase does not open", "key", "remove", 1, "-i", "locked", "--passphrase-file", "third", "sealed")
    # One key of two slots stays.
    p.ok("key", "add", "-i", "ed25519", "-R", "ed25519.pub", "sealed")
    p.ok("key", "remove", len(types(p, "sealed")), "-i", "ed25519", "sealed")
    check(opens(p, "-i", "ed25519", "sealed"), "the other slot of the key")


@case
def no_mixture_with_post_quantum_recipients(p):
    keys(p)
    for strong, *option in (("hybrid", "--age", "--post-quantum"), ("ntru", "--ntru")):
        p.ok("-q", "keygen", *option, "-o", strong)
        recipient = p.ok("keygen", "-y", strong).out.decode().strip()
        for name in ("ed25519", "rsa"):
            p.fails(2, "not post-quantum", "encrypt", "-r", recipient, "-R", f"{name}.pub", "plain", "-o", "sealed")
        p.ok("encrypt", "-f", "-r", recipient, "plain", "-o", "quantum")
        p.fails(2, "not post-quantum", "key", "add", "-i", strong, "-R", "ed25519.pub", "quantum")


@case
def changed_slots_open_nothing(p):
    keys(p)
    p.ok("encrypt", "-R", "ed25519.pub", "plain", "-o", "sealed")
    whole = p.read("sealed")
    # Tag, share and wrapped key; then the salt, the commitment and the chunk of the body.
    for offset, code in ((4, 12), (8, 12), (40, 12), (74, 13), (98, 13), (130, 13)):
        changed = bytearray(whole)
        for copy in (0, COPY):
            changed[SLOT + copy + offset] ^= 1
        p.write("changed", changed)
        p.fails(code, "cannot decrypt", "decrypt", "-i", "ed25519", "changed")
    low = bytearray(whole)  # a share of order 1
    for copy in (0, COPY):
        low[SLOT + copy + 8:SLOT + copy + 40] = bytes(32)
    p.write("changed", low)
    p.fails(13, "low order", "decrypt", "-i", "ed25519", "changed")
    check(opens(p, "-i", "ed25519", "sealed"), "the whole file")


@case
def the_second_reader_opens_them(p):
    try:
        import warpseal_reader
    except ImportError as missing:
        raise NotRun(str(missing)) from missing
    keys(p)
    for name in ("ed25519", "rsa"):
        sealed = p.ok("encrypt", "-k", "key", "-R", "locked.pub", "-R", f"{name}.pub", input=CONTENT).out
        out = io.BytesIO()
        warpseal_reader.open_file(io.BytesIO(sealed), out, identity=p.read(name).decode())
        check_equal(out.getvalue(), CONTENT, name)


@case
def other_commands(p):
    keys(p)
    p.fails(2, "SSH keys and plugins", "encrypt", "--resume", "-k", "key", "-R", "ed25519.pub", "plain", "-o", "sealed")
    for name in "ab":
        p.write(name, CONTENT)
    run = ["encrypt", "--skip-done", "-k", "key", "-R", "ed25519.pub", "a", "b"]
    p.ok(*run)
    check("2 skipped" in p.ok(*run).err, "nothing is skipped")
    p.ok("decrypt", "-f", "-i", "ed25519", "a.ws", "-o", "opened")
    check_equal(p.read("opened"), CONTENT, "a file of the run")
    os.mkdir(p.file("folder"))
    p.write("folder/text", CONTENT)
    p.ok("encrypt", "-R", "ed25519.pub", "--tar", "folder", "-o", "folder.tar.ws")
    p.write("sum", CONTENT)
    p.ok("-q", "encrypt", "-k", "key", "-R", "ed25519.pub", "--plan", "plan", "--shards", 2, "sum")
    for number in (1, 2):
        p.ok("encrypt", "-k", "key", "--plan", "plan", "--shard", f"{number}/2", "sum")
    p.ok("encrypt", "-k", "key", "--plan", "plan", "--join", "-o", "joined")
    check_equal(types(p, "joined"), ["key file", "ssh-ed25519"], "slots of a joined file")
    check(opens(p, "-i", "ed25519", "joined"), "a joined file")
    os.mkdir(p.file("unpacked"))
    p.ok("decrypt", "-i", "ed25519", "--tar", "folder.tar.ws", "--output-dir", "unpacked")
    check_equal(p.read("unpacked/folder/text"), CONTENT, "a directory")


main()
