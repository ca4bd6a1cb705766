"""Passphrases: from a file, a descriptor, and the terminal with its echo off."""

import os
import pathlib
import re
import signal
import sys
import termios

from program import case, check, check_equal, main, some_bytes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))

from terminal import Terminal

QUICK = ["--argon2-memory", "8", "--argon2-passes", "1"]


@case
def from_a_file(p):
    content = some_bytes(10_000)
    p.write("plain", content)
    p.write("word", "pässwörd 1".encode() + b"\n", 0o600)
    p.write("word-crlf", "pässwörd 1".encode() + b"\r\n", 0o600)
    p.write("word-bare", "pässwörd 1".encode(), 0o600)
    p.ok("encrypt", *QUICK, "--passphrase-file", "word", "plain", "-o", "sealed")
    for name in ["word", "word-crlf", "word-bare"]:
        check(p.ok("decrypt", "--passphrase-file", name, "sealed").out == content, name)


@case
def from_a_descriptor(p):
    content = some_bytes(10_000)
    p.write("plain", content)

    def descriptor():
        reading, writing = os.pipe()
        os.write(writing, b"secret words\n")
        os.close(writing)
        return reading

    fd = descriptor()
    p.ok("encrypt", *QUICK, "--passphrase-fd", fd, "plain", "-o", "sealed", pass_fds=[fd])
    fd = descriptor()
    check(p.ok("decrypt", "--passphrase-fd", fd, "sealed", pass_fds=[fd]).out == content, "bytes differ")
    check(p.ok("decrypt", "--passphrase-fd", 0, "sealed", input=b"secret words").out == content, "standard input as the descriptor")
    p.fails(16, "descriptor 77", "decrypt", "--passphrase-fd", 77, "sealed", "-o", "opened")


@case
def the_programs_own_descriptors(p):
    """The program's own descriptors take the lowest numbers. None is read as a promised passphrase."""
    p.write("plain", b"content\n")
    for fd in range(3, 9):
        p.fails(16, [f"descriptor {fd}", "not open"], "encrypt", *QUICK, "--passphrase-fd", fd, "plain", "-o", "sealed")
        p.fails(16, [f"descriptor {fd}", "not open"], "encrypt", *QUICK, "-k", "nothing", "--passphrase-fd", fd, "nothing", "-o", "sealed")


@case
def no_passphrase(p):
    p.write("plain", b"text")
    for content, word in [(b"", "'word' is empty."), (b"\n", "'word' is empty."), (b"\r\n", "'word' is empty."), (b"a\nb\n", "more than one line"), (b"x" * 5000, "too long")]:
        p.write("word", content, 0o600)
        p.fails(2, word, "encrypt", *QUICK, "--passphrase-file", "word", "plain", "-o", "sealed")
    p.fails(2, ["terminal", "--passphrase-file"], "encrypt", "-p", "plain", "-o", "sealed")


@case
def cost_is_kept_in_the_file_and_bounded(p):
    p.write("plain", b"text")
    p.write("word", b"secret\n", 0o600)
    p.ok("encrypt", "--argon2-memory", 16, "--argon2-passes", 2, "--passphrase-file", "word", "plain", "-o", "sealed")
    shown = p.ok("info", "sealed").out.decode()
    check("16 MiB, 2 passes" in shown, shown)
    p.ok("encrypt", "--passphrase-file", "word", "plain", "-o", "default")
    check("256 MiB, 3 passes" in p.ok("info", "default").out.decode(), "the default cost")
    p.fails(2, "--argon2-passes", "encrypt", "--argon2-passes", 17, "--passphrase-file", "word", "plain", "-o", "other")
    p.fails(2, "--argon2-memory", "encrypt", "--argon2-memory", 4096, "--passphrase-file", "word", "plain", "-o", "other")


@case
def asked_twice_to_seal_and_once_to_open(p):
    content = some_bytes(5000)
    p.write("plain", content)
    terminal = Terminal(p, "encrypt", *QUICK, "-p", "plain", "-o", "sealed")
    terminal.wait_for("Passphrase: ")
    terminal.type("from the keyboard\n")
    terminal.wait_for("again: ")
    terminal.type("from the keyboard\n")
    code, _, err = terminal.end()
    check_equal(code, 0, err)
    check("keyboard" not in terminal.shown, "the passphrase is shown")
    for options in [["-p"], []]:  # the terminal is asked when no source is named
        terminal = Terminal(p, "decrypt", *options, "sealed")
        terminal.wait_for("Passphrase: ")
        terminal.type("from the keyboard\n")
        code, out, err = terminal.end()
        check_equal((code, out == content), (0, True), err)
        check("again" not in terminal.shown, "asked twice to open")


@case
def two_different_entries(p):
    p.write("plain", b"text")
    before = sorted(os.listdir(p.directory))
    terminal = Terminal(p, "encrypt", *QUICK, "-p", "plain", "-o", "sealed")
    terminal.wait_for("Passphrase: ")
    terminal.type("one\n")
    terminal.wait_for("again: ")
    terminal.type("two\n")
    code, _, err = terminal.end()
    check_equal(code, 2, err)
    check("differ" in err, err)
    check_equal(sorted(os.listdir(p.directory)), before, "the directory")


@case
def interrupted_while_asking(p):
    p.write("plain", b"text")
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]:
        terminal = Terminal(p, "encrypt", "-p", "plain", "-o", "sealed")
        terminal.wait_for("Passphrase: ")
        check(not terminal.echo(), "the terminal echoes")
        terminal.process.send_signal(number)
        code, _, err = terminal.end()
        check_equal(code, 128 + number, err)
        check_equal(os.listdir(p.directory), ["plain"], "the directory")


@case
def interrupted_at_a_stopped_terminal(p):
    """Ctrl-S stops the output of a terminal: the program waits for it, and its time of grace ends."""
    p.write("plain", b"text")
    terminal = Terminal(p, "encrypt", "-p", "plain", "-o", "sealed")
    terminal.wait_for("Passphrase: ")
    check(not terminal.echo(), "the terminal echoes")
    termios.tcflow(terminal.theirs, termios.TCOOFF)
    terminal.process.send_signal(signal.SIGTERM)
    code, _, err = terminal.end()
    check_equal(code, 128 + signal.SIGTERM, err)
    check_equal(os.listdir(p.directory), ["plain"], "the directory")


@case
def keys_that_end_the_program_while_asking(p):
    p.write("plain", b"text")
    for typed, number in [("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)]:  # Ctrl-C, Ctrl-\\
        terminal = Terminal(p, "encrypt", "-p", "plain", "-o", "sealed")
        terminal.wait_for("Passphrase: ")
        terminal.type(typed)
        code, _, err = terminal.end()
        check_equal(code, 128 + number, err)
        check("interrupted" in err, err)
        check_equal(os.listdir(p.directory), ["plain"], "the directory")


@case
def a_short_passphrase_gets_a_warning(p):
    p.write("plain", b"text")
    for word, short in [("seven77", True), ("sïx-ßßß", True), ("eight888", False), ("ääääßßßß", False)]:
        p.write("word", word.encode() + b"\n", 0o600)
        said = p.ok("encrypt", *QUICK, "--passphrase-file", "word", "plain", "-o", "sealed", "-f").err
        check_equal("fewer than 8 characters" in said, short, f"the message about {word}")
        check_equal(p.ok("-q", "encrypt", *QUICK, "--passphrase-file", "word", "plain", "-o", "sealed", "-f").err, "", "under --quiet")
        check("characters" not in p.ok("decrypt", "--passphrase-file", "word", "sealed").err, "decrypt comments on the length")


@case
def a_key_only_file_does_not_prompt(p):
    p.sealed(b"text")
    terminal = Terminal(p, "decrypt", "sealed")
    code, _, err = terminal.end()
    check_equal(code, 2, err)
    check("-k KEYFILE" in err, err)


@case
def progress_bar_on_a_terminal(p):
    p.write("plain", some_bytes(64 << 20))
    p.key()
    ours, theirs = os.openpty()
    process = p.start("encrypt", "-k", "key", "plain", "-o", "sealed", stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 65536):
            shown += data
    except OSError:
        pass
    process.communicate()
    check_equal(process.returncode, 0, "exit code")
    check(re.search(rb"% *, .* of .*iB", shown), f"no bar: {shown!r}")
    check(b"encrypted 64.0 MiB" in shown.rsplit(b"\033[K", 1)[-1], "the bar is erased before the last line")


main()
