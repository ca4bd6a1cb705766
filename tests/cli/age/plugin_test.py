"""age plugins: the program as their client in both roles, and plugins that fail."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import kit
from program import NotRun, case, check, check_equal, main, wait_until
from support.plugins import running_plugins
from support.terminal import Terminal

IDENTITY = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
PUBLIC = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"
ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def bech32(prefix, data):
    """BIP 173 without its limit of length."""
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    groups = [int(bits[at:at + 5], 2) for at in range(0, len(bits), 5)]
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    remainder = 1
    for group in expanded + groups + [0] * 6:
        top, remainder = remainder >> 25, (remainder & 0x1ffffff) << 5 ^ group
        for bit, value in enumerate((0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3)):
            remainder ^= value if top >> bit & 1 else 0
    groups += [(remainder ^ 1) >> 5 * (5 - i) & 31 for i in range(6)]
    return prefix + "1" + "".join(ALPHABET[group] for group in groups)


RECIPIENT = bech32("age1test", b"recipient")
PLUGIN_IDENTITY = bech32("age-plugin-test-", b"identity").upper()
NO_DATA = bech32("age-plugin-test-", b"").upper()


def install(p, name="age-plugin-test", folder="plugins"):
    os.makedirs(p.file(folder), exist_ok=True)
    with open(os.path.join(kit.HERE, "test_plugin.py"), encoding="ascii") as file:
        program = file.read()
    p.write(os.path.join(folder, name), program.replace("#!/usr/bin/env python3", f"#!{sys.executable} -B").encode(), 0o755)


def environment(p, mode="", path=None):
    values = dict(os.environ, PLUGIN_MODE=mode, PLUGIN_LOG=p.file("log"))
    values["PATH"] = p.file("plugins") if path is None else path
    return {"env": values}


def prepare(p):
    """Installs the plugin, writes its identity, and returns a file that it wrapped."""
    install(p)
    p.write("log", b"")
    p.write("identity", f"{PLUGIN_IDENTITY}\n".encode(), 0o600)
    return p.ok("encrypt", "--format", "age", "-r", RECIPIENT, input=b"text", **environment(p)).out


def logged(p):
    return [json.loads(line) for line in p.read("log").decode().splitlines()]


@case
def both_directions(p):
    sealed = prepare(p)
    check(b"\n-> wrapped-by-test\n" in sealed, "no stanza of the plugin")
    check_equal(p.ok("decrypt", "-i", "identity", input=sealed, **environment(p)).out, b"text", "what comes out")
    p.ok("verify", "-i", "identity", input=sealed, **environment(p))
    wrap, unwrap, _ = logged(p)
    check_equal(wrap["arguments"], ["--age-plugin=recipient-v1"], "arguments")
    sent = [(arguments, body) for arguments, body in wrap["received"] if not arguments[0].startswith("grease-")]
    check_equal(len(wrap["received"]) - len(sent), 1, "grease")
    check_equal([arguments for arguments, _ in sent], [["add-recipient", RECIPIENT], ["wrap-file-key"], ["extension-labels"]], "what is sent")
    check_equal(len(sent[1][1]), 32, "digits of the file key")
    check_equal(unwrap["arguments"], ["--age-plugin=identity-v1"], "arguments")
    sent = [arguments for arguments, _ in unwrap["received"] if not arguments[0].startswith("grease-")]
    check_equal(sent, [["add-identity", PLUGIN_IDENTITY], ["recipient-stanza", "0", "wrapped-by-test"]], "what is sent")
    check_equal(len(unwrap["received"]) - len(sent), 1, "grease")


@case
def without_an_identity_file(p):
    prepare(p)
    sealed = p.ok("encrypt", "--format", "age", "-j", "test", input=b"text", **environment(p)).out
    check_equal(p.ok("decrypt", "-j", "test", input=sealed, **environment(p)).out, b"text", "what comes out")
    for entry in logged(p)[1:]:
        check(["add-identity", NO_DATA] in [arguments for arguments, _ in entry["received"]], entry)
    for name in ("", "../test", "/bin/sh", "TEST", "a b", "te\nst", "test/"):
        p.fails(2, "no name of a plugin", "decrypt", "-j", name, input=sealed, **environment(p))
    p.fails(2, "not both", "encrypt", "--format", "age", "-j", "test", "-p", input=b"", **environment(p))
    p.fails(2, "no recipient", "encrypt", "--format", "age", input=b"", **environment(p))


@case
def beside_other_recipients(p):
    prepare(p)
    p.write("other", IDENTITY.encode(), 0o600)
    p.write("list", f"{RECIPIENT}\n{bech32('age1test', b'second')}\n{PUBLIC}\n".encode())
    p.write("log", b"")
    sealed = p.ok("encrypt", "--format", "age", "-R", "list", input=b"text", **environment(p)).out
    check_equal(len(logged(p)), 1, "processes")
    for options in (["-i", "identity"], ["-i", "other"], ["-i", "identity", "-i", "other"]):
        check_equal(p.ok("decrypt", *options, input=sealed, **environment(p)).out, b"text", f"with {options}")
    check_equal(len(logged(p)), 2, "a plugin runs although another identity opens the file")
    p.write("locked", p.ok("encrypt", "--format", "age", "--passphrase-file", p.write("word", b"correct horse\n", 0o600),
                           input=PLUGIN_IDENTITY.encode()).out, 0o600)
    check_equal(p.ok("decrypt", "-i", "locked", "--passphrase-file", "word", input=sealed, **environment(p)).out, b"text", "in a locked file")
    # Another opens the file although the plugin fails.
    p.ok("keygen", "--age", "-o", "useless")
    p.ok("decrypt", "-i", "identity", "-i", "locked", "--passphrase-file", "word", input=sealed, **environment(p))
    p.fails(16, "age-plugin-test", "decrypt", "-i", "identity", "-i", "useless", input=sealed, **environment(p, "die"))
    install(p, "age-plugin-more")
    p.write("more", f"{bech32('age-plugin-aaa-', b'').upper()}\n{bech32('age-plugin-more-', b'').upper()}\n".encode(), 0o600)
    check_equal(p.ok("decrypt", "-i", "more", input=sealed, **environment(p)).out, b"text", "a plugin is missing and another is not")


@case
def where_the_plugin_is_from(p):
    sealed = prepare(p)
    os.rename(p.file("plugins"), p.file("elsewhere"))
    shutil.copy(p.file("elsewhere/age-plugin-test"), p.file("age-plugin-test"))
    for path in ("", ":", ".", "elsewhere", ".:/nonexistent", p.file("empty")):
        p.fails(15, "no program age-plugin-test on PATH", "encrypt", "--format", "age", "-r", RECIPIENT, input=b"text", **environment(p, path=path))
        p.fails(15, "no program age-plugin-test on PATH", "decrypt", "-i", "identity", input=sealed, **environment(p, path=path))
    os.mkdir(p.file("plugins"))
    os.mkdir(p.file("plugins/age-plugin-test"))
    path = p.file("plugins") + "::" + p.file("elsewhere")
    p.ok("decrypt", "-i", "identity", input=sealed, **environment(p, path=path))
    os.chmod(p.file("elsewhere/age-plugin-test"), 0o644)
    p.fails(15, "no program", "decrypt", "-i", "identity", input=sealed, **environment(p, path=path))
    p.write("elsewhere/age-plugin-test", b"no program", 0o755)
    p.fails(16, "cannot be started", "decrypt", "-i", "identity", input=sealed, **environment(p, path=path))
    p.write("name", f"{bech32('age-plugin-../../test-', b'').upper()}\n".encode(), 0o600)
    p.fails(2, "line 1 of identity file 'name' is no identity", "decrypt", "-i", "name", input=sealed, **environment(p))
    p.fails(2, "-r 1 is no recipient", "encrypt", "--format", "age", "-r", bech32("age1../test", b""), input=b"", **environment(p))
    p.fails(15, "hardware key", "encrypt", "--format", "age", "-r", bech32("age1tag", bytes(33)), input=b"", **environment(p))


@case
def empty_entries_of_path(p):
    """They are not the root directory either."""
    prepare(p)
    strace = shutil.which("strace")
    if not strace:
        raise NotRun("strace is not here")
    traced = subprocess.run([strace, "-f", "-qq", "-o", p.file("calls"), "-e", "trace=%file", p.path, "encrypt", "--format", "age", "-j", "test"], cwd=p.directory, input=b"text",
                            capture_output=True, start_new_session=True, check=False, timeout=120, **environment(p, path=f"::/nonexistent:{p.file('plugins')}"))
    if b"ptrace" in traced.stderr:
        raise NotRun("no ptrace here")
    check_equal(traced.returncode, 0, f"exit code ({traced.stderr})")
    calls = p.read("calls").decode(errors="replace")
    if os.geteuid() != 0 and "/nonexistent" not in calls:
        raise NotRun("only root sees the texts in the program's calls")
    check('"/nonexistent/age-plugin-test"' in calls, "no look at an entry")
    check('"/age-plugin-test"' not in calls, "a look at the root directory")


@case
def what_the_plugin_inherits(p):
    prepare(p)
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    p.ok("encrypt", "--format", "age", "-r", RECIPIENT, input=b"text", pass_fds=[writing], **environment(p))
    os.close(writing)
    os.close(reading)
    for entry in logged(p):
        check_equal((entry["cwd"], entry["descriptors"], entry["blocked"]), ("/", [0, 1, 2], []), "directory, descriptors and blocked signals")


def fails(p, code, words, mode, *arguments, **options):
    return p.fails(code, words, *arguments, **options, **silent(p, mode))


def silent(p, mode=""):
    """Without a log, as a failure leaves the directory unchanged."""
    values = environment(p, mode)
    values["env"]["PLUGIN_LOG"] = "/dev/null"
    return values


@case
def plugins_that_fail_to_wrap(p):
    prepare(p)
    for mode, words in (("die", ["ended with exit code 7", "the card is", "\\x1b[31mgone"]), ("killed", "ended by signal 9"), ("silent", "exit code 0 before it was done"),
                        ("garbage", "no stanza"), ("endless line", "more than 1048576 bytes"), ("endless arguments", "more than 1048576 bytes"),
                        ("endless body", "more than 65536 bytes"), ("bad body", "malformed"),
                        ("endless messages", "more messages"), ("error", ["reports: no card\\x1b[31m here"]), ("error and gone", ["reports: no card here"]),
                        ("error index", "an identity that it was not given"), ("index", "a file that it was not given"), ("index form", "a file that it was not given"),
                        ("index sign", "a file that it was not given"), ("index long", "a file that it was not given"), ("labels twice", "its labels twice"),
                        ("label twice", "a label twice"), ("short", "without a type"), ("scrypt", "for a passphrase"), ("x25519", "stanza X25519 of another form"),
                        ("many stanzas", "more stanzas"), ("large stanzas", "more than the header"), ("nothing", "has not wrapped every file key"), ("endless errors", ["exit code 1", "eeee"]),
                        ("bad question", "asks in a form")):
        wanted = ["age-plugin-test", *([words] if isinstance(words, str) else words)]
        result = fails(p, 16, wanted, mode, "encrypt", "--format", "age", "-r", RECIPIENT, "-o", "sealed", input=b"text")
        check(len(result.err) < 8192, "the text is long")


@case
def most_stanzas(p):
    """What is written can be read."""
    prepare(p)
    values = silent(p, "most stanzas")
    sealed = p.ok("encrypt", "--format", "age", "-r", RECIPIENT, input=b"text", **values).out
    check_equal(sealed.count(b"\n-> wrapped-by-test"), 1024, "stanzas")
    p.write("other", IDENTITY.encode(), 0o600)
    p.fails(12, "no identity", "decrypt", "-i", "other", input=sealed)
    p.fails(17, "1025 stanzas", "encrypt", "--format", "age", "-r", RECIPIENT, "-r", PUBLIC, "-o", "sealed", input=b"text", **values)


@case
def ended_while_another_holds_its_pipes(p):
    prepare(p)
    begun = time.monotonic()
    fails(p, 16, "ended with exit code 9", "forks", "encrypt", "--format", "age", "-r", RECIPIENT, "-o", "sealed", input=b"text")
    check(time.monotonic() - begun < 50, "its end is noticed late")
    terminal = Terminal(p, "encrypt", "--format", "age", "-r", RECIPIENT, "-o", "sealed", **silent(p, "forks"))
    code, _, err = terminal.end()
    check_equal(code, 16, f"exit code on a terminal ({err})")
    check("ended with exit code 9" in err, err)


@case
def plugins_that_fail_to_unwrap(p):
    sealed = prepare(p)
    for mode, code, words in (("die", 16, "ended with exit code 7"), ("silent", 16, "exit code 0"), ("index", 16, "a file that it was not given"),
                              ("index form", 16, "a file that it was not given"), ("twice", 16, "two keys"), ("key length", 16, "17 bytes instead of 16"),
                              ("no key", 16, "0 bytes instead of 16"), ("wrong key", 13, "MAC"), ("nothing", 12, "no identity"), ("error", 16, "no card"),
                              ("endless body", 16, "more than 65536 bytes"), ("endless messages", 16, "more messages")):
        fails(p, code, words, mode, "decrypt", "-i", "identity", "-o", "opened", input=sealed)
    for mode in ("grease", "late error", "stays"):
        check_equal(p.ok("decrypt", "-i", "identity", input=sealed, **environment(p, mode)).out, b"text", mode)
    check_equal(p.ok("encrypt", "--format", "age", "-r", RECIPIENT, input=b"text", **environment(p, "grease")).out[:3], b"age", "grease")


@case
def plugins_that_hang(p):
    """All at once, as each takes a minute."""
    prepare(p)
    values = silent(p)
    running = []
    for mode, words in (("hang", "does not answer"), ("half", "does not answer"), ("stubborn", "does not answer"), ("unread", "has closed its input")):
        values["env"]["PLUGIN_MODE"] = mode
        running.append((mode, words, p.start("encrypt", "--format", "age", "-r", RECIPIENT, "-o", "sealed", **values)))
    # What it is sent does not fit into the pipe.
    p.write("many", "".join(bech32("age1test", bytes([number]) * 600) + "\n" for number in range(200)).encode())
    values["env"]["PLUGIN_MODE"] = "hang"
    running.append(("hang", "does not read", p.start("encrypt", "--format", "age", "-R", "many", "-o", "sealed", **values)))
    # A terminal does not excuse one that stops within a line.
    terminal = Terminal(p, "encrypt", "--format", "age", "-r", RECIPIENT, "-o", "sealed", **silent(p, "half"))
    for mode, words, process in running:
        err = process.communicate(timeout=300)[1].decode()
        check_equal(process.returncode, 16, f"exit code with {mode} ({err})")
        check(words in err, f"{mode}: {err}")
    code, _, err = terminal.end()
    check_equal(code, 16, f"exit code on a terminal ({err})")
    check("does not answer" in err, err)
    check(not os.path.exists(p.file("sealed")), "an output")
    check_equal(running_plugins(p), [], "plugins that are left")


def is_ignored(number, process):
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        mask = next(int(line.split()[1], 16) for line in status if line.startswith("SigIgn:"))
    return mask >> (number - 1) & 1 == 1


@case
def interrupts(p):
    prepare(p)
    for mode in ("hang", "stubborn"):
        def is_ready(mode=mode):
            found = running_plugins(p)
            return found and (mode == "hang" or is_ignored(signal.SIGTERM, found[0]))

        for number in (signal.SIGINT, signal.SIGTERM):
            values = environment(p, mode)
            process = p.start("encrypt", "--format", "age", "-r", RECIPIENT, "-o", "sealed", **values)
            wait_until(is_ready, "the plugin runs")
            begun = time.monotonic()
            process.send_signal(number)
            err = process.communicate(timeout=60)[1].decode()
            check(time.monotonic() - begun < 10, "the interrupt takes long")
            check_equal(process.returncode, 128 + number, f"exit code ({err})")
            check("interrupted" in err, err)
            check_equal(running_plugins(p), [], f"plugins that are left with {mode}")
            check(not os.path.exists(p.file("sealed")), "an output")


@case
def dialogue(p):
    prepare(p)
    terminal = Terminal(p, "-q", "encrypt", "--format", "age", "-r", RECIPIENT, "-o", "sealed", **environment(p, "dialogue"))
    terminal.wait_for("Really? [y: Go on, n: Stop] ")
    os.write(terminal.ours, b"what\n")
    terminal.wait_for("Really? [y: Go on, n: Stop] ", 2)
    os.write(terminal.ours, b"n\n")
    terminal.wait_for("Sure? [y: Go on, n] ")
    os.write(terminal.ours, b"y\n")
    terminal.wait_for("Name: ")
    check(terminal.echo(), "a public answer is not shown")
    os.write(terminal.ours, b"Anna\n")
    terminal.wait_for("PIN: ")
    terminal.type("1234\n")
    code, _, err = terminal.end()
    check_equal(code, 0, f"exit code ({err})")
    check("age-plugin-test: touch\\x07 the key" in err, err)
    check("1234" not in terminal.shown, "the secret is shown")
    check("it wrote" not in err.lower(), err)
    check_equal(logged(p)[-1]["answers"], [[["ok"], ""], [["ok", "no"], ""], [["ok", "yes"], ""], [["ok"], "Anna"], [["ok"], "1234"]], "answers")
    terminal = Terminal(p, "-q", "encrypt", "--format", "age", "-r", RECIPIENT, "-o", "another", **environment(p, "dialogue"))
    terminal.wait_for("Really?")
    os.write(terminal.ours, b"\n")
    terminal.wait_for("Sure?")
    os.write(terminal.ours, b"\x04")
    terminal.wait_for("Name: ")
    os.write(terminal.ours, b"\n")
    terminal.wait_for("PIN: ")
    terminal.type("\n")
    code, _, err = terminal.end()
    check_equal(code, 0, f"exit code ({err})")
    check_equal([arguments for arguments, _ in logged(p)[-1]["answers"]], [["ok"], ["fail"], ["fail"], ["ok"], ["ok"]], "empty answers")
    p.ok("encrypt", "--format", "age", "-r", RECIPIENT, "-o", "other", input=b"text", **environment(p, "dialogue"))
    check_equal([arguments for arguments, _ in logged(p)[-1]["answers"]], [["ok"]] + [["fail"]] * 4, "answers without a terminal")


@case
def interrupted_while_it_asks(p):
    prepare(p)
    terminal = Terminal(p, "encrypt", "--format", "age", "-r", RECIPIENT, "-o", "sealed", **environment(p, "dialogue"))
    terminal.wait_for("Really?")
    os.write(terminal.ours, b"y\n")
    terminal.wait_for("Sure?")
    os.write(terminal.ours, b"\x03")
    code, _, err = terminal.end()
    check_equal(code, 130, f"exit code ({err})")
    check_equal(running_plugins(p), [], "plugins that are left")
    check(not os.path.exists(p.file("sealed")), "an output")


@case
def labels(p):
    prepare(p)
    values = silent(p)
    p.write("pq", p.ok("keygen", "--age", "--post-quantum", "-o", "-").out, 0o600)
    hybrid = p.ok("keygen", "-y", "pq").out.decode().strip()
    for mode, others, words in (("", [hybrid], "age-plugin-test is not post-quantum"), ("post-quantum", [PUBLIC], "-r 2 is not post-quantum"),
                                ("labels", [PUBLIC], "refuse to share a file"), ("labels", [hybrid], "age-plugin-test is not post-quantum")):
        values["env"]["PLUGIN_MODE"] = mode
        given = [option for text in others for option in ("-r", text)]
        p.fails(2, words, "encrypt", "--format", "age", "-r", RECIPIENT, *given, "-o", "sealed", input=b"text", **values)
    for mode, others in (("", [PUBLIC]), ("post-quantum", [hybrid]), ("labels", []), ("post-quantum", [])):
        values["env"]["PLUGIN_MODE"] = mode
        given = [option for text in others for option in ("-r", text)]
        p.ok("encrypt", "--format", "age", "-r", RECIPIENT, *given, input=b"text", **values)


@case
def several_files(p):
    prepare(p)
    for number in range(5):
        p.write(f"file{number}", f"text {number}".encode())
    names = [f"file{number}" for number in range(5)]
    sealed = [name + ".age" for name in names]
    p.write("log", b"")
    p.ok("encrypt", "--format", "age", "-r", RECIPIENT, *names, **environment(p))
    check_equal(len({p.read(name).split(b"wrapped-by-test\n")[1][:22] for name in sealed}), 5, "file keys")
    p.ok("decrypt", "-i", "identity", "--output-dir", "opened", *sealed, **environment(p))
    for number in range(5):
        check_equal(p.read(f"opened/file{number}"), f"text {number}".encode(), f"file {number}")
    wrap, unwrap = logged(p)
    for entry, command in ((wrap, "wrap-file-key"), (unwrap, "recipient-stanza")):
        check_equal([arguments[0] for arguments, _ in entry["received"]].count(command), 5, f"times {command}")
    # One that does not open leaves the others.
    p.write("file1.age", p.ok("encrypt", "--format", "age", "-r", PUBLIC, input=b"text").out)
    p.write("file2.age", b"age-encryption.org/v1\n-> ")
    p.fails(3, "2 of 5", "verify", "-i", "identity", "--keep-going", *sealed, **silent(p))
    # One failure of the plugin is the failure of all, which does not ask for a PIN again and again.
    p.write("log", b"")
    result = p.run("encrypt", "--format", "age", "-r", RECIPIENT, "--keep-going", "--output-dir", "none", *names, **environment(p, "error"))
    check_equal((result.code, len(logged(p))), (3, 1), "exit code and processes")
    p.write("log", b"")
    result = p.run("verify", "-i", "identity", "--keep-going", *sealed, **environment(p, "error"))
    check_equal((result.code, len(logged(p))), (3, 1), "exit code and processes")
    check_equal(result.err.count("reports: no card"), 4, f"reports in {result.err}")


@case
def without_descriptors_and_processes(p):
    """Whatever call fails, the program ends with a message and leaves nothing."""
    sealed = prepare(p)
    p.write("sealed", sealed)
    failed = 0
    for limit in range(6, 40):
        result = p.run("decrypt", "-i", "identity", "sealed", "-o", "opened", **silent(p), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        if result.code == 0:
            check_equal(p.read("opened"), b"text", f"the output with {limit} descriptors")
            break
        failed += "age-plugin-test cannot be started: Too many open files" in result.err
        check(result.err.startswith("warpseal: "), f"{limit} descriptors: {result.err}")
        check(not os.path.exists(p.file("opened")), f"an output with {limit} descriptors")
    check_equal(result.code, 0, "the exit code with enough descriptors")
    check(failed > 0, "no pipe failed")
    strace = shutil.which("strace")
    if not strace:
        raise NotRun("strace is not here")
    for call in ("vfork,clone,clone3", "pipe2", "chdir"):
        found = False
        for number in range(1, 60):
            traced = subprocess.run([strace, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:error=EAGAIN:when={number}", p.path,
                                     "decrypt", "-i", "identity", "sealed", "-o", f"{number}"], cwd=p.directory, stdin=subprocess.DEVNULL, capture_output=True,
                                    start_new_session=True, check=False, timeout=120, **silent(p))
            err = traced.stderr.decode()
            if "ptrace" in err:
                raise NotRun("no ptrace here")
            check(os.path.exists(p.file(str(number))) == (traced.returncode == 0), f"{call} {number}: exit code and output disagree: {err}")
            found |= "age-plugin-test cannot be started: Resource temporarily unavailable" in err
            if traced.returncode == 0:
                os.remove(p.file(str(number)))
                break
        check(found, f"{call}: the plugin is started in any case")
    check_equal(running_plugins(p), [], "plugins that are left")


@case
def keygen_does_not_know_their_recipients(p):
    prepare(p)
    p.fails(15, "ask the plugin", "keygen", "-y", "identity")


if __name__ == "__main__":
    main()
