"""Plugins as recipients and identities of Warpseal files, also beside SSH keys."""

import base64
import os
import signal
import time

from stanzas import CONTENT, QUICK, RECIPIENT, keys, opens, plugin, running_plugins, slots, started, types

from program import NotRun, case, check, check_equal, main, wait_until
from terminal import Terminal


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
def plugins(p):
    keys(p)
    found = plugin(p)
    for name in ("a", "b", "c"):
        p.write(name, CONTENT)
    p.ok("encrypt", "-j", "test", "a", "b", "c", "--output-dir", "sealed", **found)
    check_equal([sent.count("wrap-file-key") for sent in started(p)], [1], "file keys that it wraps")
    check_equal(types(p, "sealed/a.ws"), ["plugin"], "slots")
    check("recipients of a plugin" in p.ok("key", "list", "sealed/a.ws").out.decode(), "key list")
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
def recipients_of_one_plugin_share_a_slot(p):
    """Slots are counted, of which a file has 32, and not recipients."""
    keys(p)
    p.write("list", f"{RECIPIENT}\n".encode() * 33)
    p.ok("encrypt", "-R", "list", "plain", "-o", "sealed", **plugin(p))
    check_equal(types(p, "sealed"), ["plugin"], "slots")
    p.write("list", p.read("list") + p.read("ed25519.pub") * 32)
    p.fails(17, ["65 recipients need 33 key slots", "at most 32"], "encrypt", "-R", "list", "plain", **plugin(p))


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
    p.fails(2, ["would not open the file any more; another slot failed: ", "reports: no card"], "key", "remove", 3, "-j", "test", "-i", "ed25519", "sealed", **plugin(p, "error"))


@case
def interrupts(p):
    keys(p)
    p.ok("encrypt", "-j", "test", "-R", "locked.pub", "plain", "-o", "sealed", **plugin(p))
    before = p.read("sealed")
    for command in (["decrypt", "-o", "opened"], ["verify"], ["decrypt", "--range", "0:1", "-o", "opened"], ["rescue", "-o", "opened.rescued"], ["key", "remove", 2]):
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
            for name in ("opened", "opened.rescued"):
                check(not os.path.exists(p.file(name)), f"an output of {command}")
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
            p.fails(2, words, *command, *secret, "salted", "-o", "opened.rescued", **plugin(p, "hang"))


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
    # A plugin that does not wrap ends the run.
    result = p.run("encrypt", "--keep-going", "-j", "test", "a", "b", "plain", "--output-dir", "new", **found)
    check_equal((result.code, result.err.count("reports: no card"), len(started(p))), (16, 1, 1), result.err)
    check(not os.path.exists(p.file("new/a.ws")), "a file without its recipients")


@case
def plugins_and_post_quantum_recipients(p):
    keys(p)
    for strong, *option in (("hybrid", "--age", "--post-quantum"), ("ntru", "--ntru")):
        p.ok("-q", "keygen", *option, "-o", strong)
        recipient = p.ok("keygen", "-y", strong).out.decode().strip()
        p.fails(2, "not post-quantum", "encrypt", "-r", recipient, "-j", "test", "plain", "-o", "sealed", **plugin(p, "grease"))
        p.ok("encrypt", "-f", "-r", recipient, "-j", "test", "plain", "-o", "both", **plugin(p, "post-quantum"))
        check(opens(p, "-i", strong, "both") and opens(p, "-j", "test", "both", **plugin(p, "grease")), "a file for both")
        p.ok("encrypt", "-f", "-r", recipient, "plain", "-o", "one")
        p.fails(2, "not post-quantum", "key", "add", "-i", strong, "-r", RECIPIENT, "one", **plugin(p, "grease"))
        p.ok("key", "add", "-i", strong, "-r", RECIPIENT, "one", **plugin(p, "post-quantum"))
        # The slot says what the plugin said.
        p.ok("encrypt", "-f", "-j", "test", "plain", "-o", "weak", **plugin(p, "grease"))
        p.fails(2, "not post-quantum", "key", "add", "-j", "test", "-r", recipient, "weak", **plugin(p, "grease"))
        check_equal(slots(p, "weak")[0][1][0], 0, "flags")
    p.fails(2, "not post-quantum", "encrypt", "-R", "ed25519.pub", "-j", "test", "plain", "-o", "sealed", **plugin(p, "post-quantum"))
    p.ok("encrypt", "-j", "test", "plain", "-o", "sealed", **plugin(p, "post-quantum"))
    check_equal(slots(p, "sealed")[0][1][0], 1, "flags")
    p.fails(2, "not post-quantum", "key", "add", "-j", "test", "-R", "ed25519.pub", "sealed", **plugin(p, "grease"))


main()
