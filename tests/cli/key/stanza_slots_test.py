"""SSH keys and plugins as recipients and identities of Warpseal files."""

import base64
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "cli"), str(TESTS / "cli/support"), str(TESTS / "container/reader")]

from program import NotRun, case, check, check_equal, main, some_bytes, wait_until
from terminal import Terminal

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


def running_plugins(p):
    """Processes of plugins in this directory."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                if p.file("plugins").encode() in file.read():
                    found.append(int(number))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def types(p, name):
    return [slot["type"] for slot in json.loads(p.ok("key", "list", "--json", name).out)["slots"]]


def opens(p, *arguments, **options):
    result = p.run("decrypt", *arguments, **options)
    check(result.code in (0, 12), result.err)
    check(result.code != 0 or result.out == CONTENT, "another content")
    return result.code == 0


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
def file_keys_are_not_shared(p):
    """Whoever opens one slot of a command has the key of that slot alone."""
    try:
        import warpseal_reader
    except ImportError as missing:
        raise NotRun(str(missing)) from missing
    keys(p)
    found = plugin(p)
    plugin(p, name="other")
    for name in ("x", "y"):
        p.write(name, CONTENT)
    p.ok("encrypt", "-R", "ed25519.pub", "-R", "rsa.pub", "-j", "test", "-j", "other", "x", "y", "--output-dir", "sealed", **found)
    file_keys = []
    for kind, parameters in slots(p, "sealed/x.ws"):
        if kind == 16:
            body = parameters.split(b"\n")[1]
            file_keys.append(bytes(a ^ b for a, b in zip(base64.b64decode(body + b"=="), range(16))))
        else:
            text = p.read("rsa" if kind == 6 else "ed25519").decode()
            file_keys.append(warpseal_reader.unwrap(kind, warpseal_reader.parse_identity(text)[1], parameters))
    check_equal((len(file_keys), len(set(file_keys))), (4, 4), "file keys")
    for secret in (["-i", "ed25519"], ["-i", "rsa"], ["-j", "test"], ["-j", "other"]):
        check(opens(p, *secret, "sealed/y.ws", **found), f"{secret}")


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
    for option in (["--age", "--post-quantum"], ["--ntru"]):
        p.ok("-q", "keygen", *option, "-f", "-o", "strong")
        recipient = p.ok("keygen", "-y", "strong").out.decode().strip()
        for name in ("ed25519", "rsa"):
            p.fails(2, "not post-quantum", "encrypt", "-r", recipient, "-R", f"{name}.pub", "plain", "-o", "sealed")
        p.ok("encrypt", "-f", "-r", recipient, "plain", "-o", "quantum")
        p.fails(2, "not post-quantum", "key", "add", "-i", "strong", "-R", "ed25519.pub", "quantum")


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


@case
def plugins(p):
    keys(p)
    found = plugin(p)
    for name in ("a", "b", "c"):
        p.write(name, CONTENT)
    p.ok("encrypt", "-j", "test", "a", "b", "c", "--output-dir", "sealed", **found)
    check_equal([sent.count("wrap-file-key") for sent in started(p)], [1], "file keys that it wraps")
    check_equal(types(p, "sealed/a.ws"), ["plugin"], "slots")
    check("recipient of a plugin" in p.ok("key", "list", "sealed/a.ws").out.decode(), "key list")
    (kind, parameters), = slots(p, "sealed/a.ws")
    check(kind == 16 and parameters.startswith(b"\0-> wrapped-by-test\n"), parameters)
    for secret in (["-j", "test"], ["-i", "identity"]):
        check(opens(p, *secret, "sealed/a.ws", **found), f"{secret}")
        check(opens(p, *secret, input=p.read("sealed/a.ws"), **found), f"a stream by {secret}")
        check_equal([sent.count("recipient-stanza") for sent in started(p)], [1, 1], "stanzas that it is sent")
    # Files of one run have one stanza, which it is asked about once.
    p.ok("decrypt", "-j", "test", "--recursive", "sealed", "--output-dir", "out", **found)
    check_equal(len(started(p)), 1, "processes")
    for name in ("a", "b", "c"):
        check_equal(p.read(f"out/sealed/{name}"), CONTENT, name)
    p.ok("encrypt", "-k", "key", "plain", "-o", "other")
    p.ok("key", "add", "-k", "key", "-r", RECIPIENT, "other", **found)
    check(opens(p, "-i", "identity", "other", **found), "an added slot")
    p.ok("key", "remove", 1, "-i", "identity", "other", **found)
    check_equal(types(p, "other"), ["plugin"], "slots that are left")
    # One process for all slots of a file.
    p.ok("key", "add", "-i", "identity", "-r", RECIPIENT, "other", **found)
    started(p)
    check(opens(p, "-i", "identity", "other", **found), "several slots")
    check_equal([sent.count("recipient-stanza") for sent in started(p)], [2], "stanzas that it is sent")
    p.fails(12, "wrong key", "decrypt", "-k", "key", "other")
    check(not opens(p, "-i", "ed25519", "other"), "an SSH key opens a plugin's slot")


@case
def plugins_that_need_all_stanzas(p):
    """A plugin may wrap a file key into stanzas that open it together only."""
    keys(p)
    found = plugin(p, "threshold")
    p.ok("encrypt", "-j", "test", "plain", "-o", "sealed", **found)
    (kind, parameters), = slots(p, "sealed")
    check_equal((kind, parameters.count(b"-> share-by-test\n")), (16, 2), "the slot")
    found = plugin(p)
    check(opens(p, "-j", "test", "sealed", **found), "it does not open")
    check_equal([sent.count("recipient-stanza") for sent in started(p)], [2], "stanzas that it is sent")
    check(opens(p, "-i", "identity", input=p.read("sealed"), **found), "a stream")
    p.ok("key", "add", "-j", "test", "-R", "ed25519.pub", "sealed", **found)
    p.ok("key", "remove", 1, "-i", "ed25519", "sealed")
    check(not opens(p, "-j", "test", "sealed", **found), "a removed slot")


@case
def plugins_in_key_commands(p):
    keys(p)
    found = plugin(p)
    p.ok("encrypt", "-j", "test", "plain", "-o", "sealed", **found)
    p.ok("key", "add", "-j", "test", "-R", "ed25519.pub", "sealed", **found)
    check_equal(types(p, "sealed"), ["plugin", "ssh-ed25519"], "slots")
    p.ok("key", "add", "-i", "ed25519", "-r", RECIPIENT, "sealed", **found)
    p.ok("key", "remove", 2, "-j", "test", "sealed", **found)
    check_equal(types(p, "sealed"), ["plugin", "plugin"], "slots that are left")
    # A failure of the plugin says why its slot does not stay.
    p.ok("key", "add", "-j", "test", "-R", "ed25519.pub", "sealed", **found)
    p.fails(2, ["would not open the file: ", "reports: no card"], "key", "remove", 3, "-j", "test", "-i", "ed25519", "sealed", **plugin(p, "error"))


@case
def interrupts(p):
    keys(p)
    p.ok("encrypt", "-j", "test", "-R", "locked.pub", "plain", "-o", "sealed", **plugin(p))
    before = p.read("sealed")
    for command in (["decrypt", "-o", "opened"], ["verify"], ["decrypt", "--range", "0:1", "-o", "opened"], ["rescue", "-o", "opened"], ["key", "remove", 2]):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = p.start(*command, "-j", "test", "sealed", **plugin(p, "hang"))
            wait_until(lambda: running_plugins(p), "the plugin runs")
            begun = time.monotonic()
            process.send_signal(number)
            err = process.communicate(timeout=60)[1].decode()
            check(time.monotonic() - begun < 10, "the interrupt takes long")
            check_equal(process.returncode, 128 + number, f"exit code of {command} ({err})")
            check("interrupted" in err, err)
            check_equal(running_plugins(p), [], f"plugins that are left by {command}")
            check(not os.path.exists(p.file("opened")), f"an output of {command}")
    terminal = Terminal(p, "decrypt", "-i", "locked", "sealed", "-o", "opened")
    terminal.wait_for("Passphrase of identity file 'locked': ")
    terminal.process.send_signal(signal.SIGINT)
    code, _, err = terminal.end()  # which checks that the echo is back
    check_equal(code, 130, err)
    check("interrupted" in err and not os.path.exists(p.file("opened")), err)
    check_equal(p.read("sealed"), before, "the sealed file")


@case
def other_formats(p):
    keys(p)
    p.write("salted", b"Salted__" + bytes(40))
    for option, secret in (("-j", ["-j", "test"]), ("-i", ["-i", "ed25519"])):
        words = f"{option} goes with Warpseal and age files only"
        for command in (["decrypt"], ["rescue"], ["decrypt", "--format", "floe", "-k", "key"], ["rescue", "--format", "cobblestone", "-k", "key"]):
            p.fails(2, words, *command, *secret, "salted", "-o", "opened", **plugin(p, "hang"))


@case
def plugins_are_asked_last(p):
    keys(p)
    found = plugin(p)
    p.ok("-q", "keygen", "--age", "-o", "mine")
    recipient = p.ok("keygen", "-y", "mine").out.decode().strip()
    p.ok("encrypt", "-j", "test", "-k", "key", "-r", recipient, "-R", "ed25519.pub", "-R", "locked.pub", "--passphrase-file", "wrong", *QUICK, "plain", "-o", "sealed", **found)
    started(p)
    for secret in (["-k", "key"], ["-i", "mine"], ["-i", "ed25519"], ["--passphrase-file", "wrong"]):
        check(opens(p, "-j", "test", *secret, "sealed", **found), f"{secret}")
        check_equal(started(p), [], f"processes beside {secret}")
    # A locked key may ask a person too, and comes after them.
    check(opens(p, "-j", "test", "-i", "locked", "sealed", **found), "the plugin")
    check_equal(len(started(p)), 1, "processes")
    for mode in ("nothing", "error", "die"):
        check(opens(p, "-j", "test", "-i", "locked", "--passphrase-file", "word", "sealed", **plugin(p, mode)), f"a locked key after a plugin with {mode}")


@case
def plugins_that_fail(p):
    keys(p)
    p.ok("encrypt", "-j", "test", "plain", "-o", "sealed", **plugin(p))
    for mode, code, words in (("die", 16, "ended with exit code 7"), ("error", 16, "reports: no card"), ("key length", 16, "17 bytes instead of 16"),
                              ("wrong key", 13, "a slot was changed"), ("nothing", 12, "wrong key file, passphrase or identity")):
        p.fails(code, words, "decrypt", "-i", "identity", "sealed", "-o", "opened", **plugin(p, mode))
    p.fails(15, "no program age-plugin-test", "decrypt", "-i", "identity", "sealed", env={**os.environ, "PATH": "/none"})
    for mode, code, words in (("error", 16, "reports: no card"), ("long stanza", 17, "8191"), ("most stanzas", 17, "8191"), ("scrypt", 16, "for a passphrase")):
        p.fails(code, words, "encrypt", "-j", "test", "plain", "-o", "new", **plugin(p, mode))
    # A failure is that of all files of a run with this stanza.
    for name in "ab":
        p.write(name, p.read("sealed"))
    found = plugin(p, "error")
    found["env"]["PLUGIN_LOG"] = p.file("log")
    started(p)
    result = p.run("verify", "--keep-going", "-i", "identity", "a", "b", "sealed", **found)
    check_equal((result.code, result.err.count("reports: no card"), len(started(p))), (3, 3, 1), result.err)
    # So is that of a plugin that wraps.
    result = p.run("encrypt", "--keep-going", "-j", "test", "a", "b", "plain", "--output-dir", "new", **found)
    check_equal((result.code, result.err.count("reports: no card"), len(started(p))), (3, 3, 1), result.err)


@case
def plugins_and_post_quantum_recipients(p):
    keys(p)
    for option in (["--age", "--post-quantum"], ["--ntru"]):
        p.ok("-q", "keygen", *option, "-f", "-o", "strong")
        recipient = p.ok("keygen", "-y", "strong").out.decode().strip()
        p.fails(2, "not post-quantum", "encrypt", "-r", recipient, "-j", "test", "plain", "-o", "sealed", **plugin(p, "grease"))
        p.ok("encrypt", "-f", "-r", recipient, "-j", "test", "plain", "-o", "both", **plugin(p, "post-quantum"))
        check(opens(p, "-i", "strong", "both") and opens(p, "-j", "test", "both", **plugin(p, "grease")), "a file for both")
        p.ok("encrypt", "-f", "-r", recipient, "plain", "-o", "one")
        p.fails(2, "not post-quantum", "key", "add", "-i", "strong", "-r", RECIPIENT, "one", **plugin(p, "grease"))
        p.ok("key", "add", "-i", "strong", "-r", RECIPIENT, "one", **plugin(p, "post-quantum"))
        # The slot says what the plugin said.
        p.ok("encrypt", "-f", "-j", "test", "plain", "-o", "weak", **plugin(p, "grease"))
        p.fails(2, "not post-quantum", "key", "add", "-j", "test", "-r", recipient, "weak", **plugin(p, "grease"))
        check_equal(slots(p, "weak")[0][1][0], 0, "flags")
    p.fails(2, "not post-quantum", "encrypt", "-R", "ed25519.pub", "-j", "test", "plain", "-o", "sealed", **plugin(p, "post-quantum"))
    p.ok("encrypt", "-j", "test", "plain", "-o", "sealed", **plugin(p, "post-quantum"))
    check_equal(slots(p, "sealed")[0][1][0], 1, "flags")
    p.fails(2, "not post-quantum", "key", "add", "-j", "test", "-R", "ed25519.pub", "sealed", **plugin(p, "grease"))


main()
