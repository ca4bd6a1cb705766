"""Keys as text, from standard input and from a command; files that are no keys are named."""

import base64
import fcntl
import os
import pathlib
import signal
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from program import NotRun, case, check, check_equal, main, some_bytes, wait_until

CONTENT = some_bytes(20_000)


def texts(key):
    coded = base64.b64encode(key)
    for text in [key.hex().encode(), key.hex().upper().encode(), coded, coded.rstrip(b"=")]:
        for end in [b"", b"\n", b"\r\n"]:
            yield text + end


@case
def text_is_the_same_key(p):
    key = p.read(p.key())
    p.sealed(CONTENT)
    for text in texts(key):
        p.write("text", text, 0o600)
        check(p.ok("decrypt", "-k", "text", "sealed").out == CONTENT, repr(text))
    p.ok("encrypt", "-k", "text", "-o", "sealed2", input=CONTENT)
    p.ok("verify", "-k", "key", "sealed2")


@case
def text_of_a_raw_cipher_key(p):
    for size, cipher in [(16, "aes-128-ctr"), (24, "aes-192-ctr"), (32, "aes-256-ctr")]:
        key = some_bytes(size, size)
        p.write("raw", key, 0o600)
        arguments = ["raw", "encrypt", "-c", cipher, "--iv", "00" * 16]
        wanted = p.ok(*arguments, "-k", "raw", input=CONTENT).out
        for text in texts(key):
            p.write("text", text, 0o600)
            check(p.ok(*arguments, "-k", "text", input=CONTENT).out == wanted, f"{cipher} {text!r}")


@case
def text_of_a_cobblestone_key(p):
    for size in [16, 32]:
        key = some_bytes(size, size)
        p.write("raw", key, 0o600)
        sealed = p.ok("encrypt", "--format", "cobblestone", "-k", "raw", input=CONTENT).out
        for text in texts(key):
            p.write("text", text, 0o600)
            arguments = ["decrypt", "--format", "cobblestone", "-k", "text"]
            # 32 digits without a newline can also be a raw key of 32 bytes.
            if len(text) == 32:
                p.write("sealed", sealed)
                p.fails(2, ["can be a raw key of 32", "newline"], *arguments, "sealed", "-o", "opened")
            else:
                check(p.ok(*arguments, input=sealed).out == CONTENT, repr(text))


@case
def a_raw_key_has_exactly_its_length(p):
    p.write("plain", CONTENT)
    key = some_bytes(32)
    p.write("key", b"0123456789abcdef" * 2, 0o600)
    p.ok("encrypt", "-k", "key", "plain", "-o", "sealed")
    p.fails(12, "wrong key", "decrypt", "-k", p.key("other"), "sealed", "-o", "opened")
    bad = [key + b"\n", key.hex().encode()[:-1], key.hex().encode() + b"0", key.hex().encode() + b"\n\n", b" " + key.hex().encode(),
           key.hex().encode()[:-1] + b"g", key.hex().encode() + b"\r", base64.b64encode(key)[:-1] + b"A", base64.b64encode(key)[:-2] + b"/=",
           base64.urlsafe_b64encode(b"\xff" * 32), base64.b64encode(key) + b"=", b"0x" + key.hex().encode()]
    for content in bad:
        p.write("key", content, 0o600)
        p.fails(2, ["'key'", "wrong size", "32 bytes", "hexadecimal or base64"], "encrypt", "-k", "key", "plain", "-o", "sealed2")


@case
def key_on_standard_input(p):
    key = p.read(p.key())
    p.sealed(CONTENT)
    p.write("plain", CONTENT)
    for text in [key, *texts(key)]:
        check(p.ok("decrypt", "-k", "-", "sealed", input=text).out == CONTENT, repr(text))
    p.fails(2, "wrong size", "decrypt", "-k", "-", "sealed", "-o", "opened", input=b"")
    p.fails(2, ["-k -", "input"], "decrypt", "-k", "-", input=key)
    p.fails(2, "standard input", "decrypt", "-k", "-", "-k", "-", "sealed", "-o", "opened", input=key)
    p.fails(2, "standard input", "decrypt", "-k", "-", "--passphrase-fd", 0, "sealed", "-o", "opened", input=key)
    arguments = ["-c", "aes-256-ctr", "--iv", "00" * 16]
    sealed = p.ok("raw", "encrypt", *arguments, "-k", "key", "plain").out
    check(p.ok("raw", "encrypt", *arguments, "-k", "-", "plain", input=key).out == sealed, "raw data")
    p.fails(2, "standard input", "raw", "encrypt", *arguments, "-k", "-", "-o", "sealed2", input=key)


@case
def key_of_a_command(p):
    p.key()
    p.sealed(CONTENT)
    p.write("text", base64.b64encode(p.read("key")) + b"\n", 0o600)
    for command in ["cat key", "cat text", "echo notice >&2; cat text"]:
        check(p.ok("decrypt", "--key-command", command, "sealed").out == CONTENT, command)
        check(p.ok("decrypt", "--key-command", command, input=p.read("sealed")).out == CONTENT, command)
    check_equal(p.ok("raw", "encrypt", "-c", "aes-256-ctr", "--iv", "00" * 16, "--key-command", "cat key", input=CONTENT).out,
                p.ok("raw", "encrypt", "-c", "aes-256-ctr", "--iv", "00" * 16, "-k", "key", input=CONTENT).out, "raw data")
    p.ok("encrypt", "--format", "cobblestone", "--key-command", "cat text", input=CONTENT)
    opened = ["sealed", "-o", "opened"]
    p.fails(16, ["--key-command", "exit code 7"], "decrypt", "--key-command", "cat key; exit 7", *opened)
    p.fails(16, "signal 9", "decrypt", "--key-command", "kill -9 $$", *opened)
    p.fails(16, "exit code 127", "decrypt", "--key-command", "./no-such-program", *opened)
    p.fails(2, "wrong size", "decrypt", "--key-command", "true", *opened)
    p.fails(16, "more than a key", "decrypt", "--key-command", "cat /dev/zero", *opened)
    p.fails(2, "one key", "raw", "decrypt", "-c", "aes-256-ctr", "--iv", "00" * 16, "--key-command", "cat key", "-k", "key", *opened)


@case
def commands_see_no_input_and_default_signals(p):
    p.key()
    sealed = p.read(p.sealed(CONTENT))
    check(p.ok("decrypt", "--key-command", "cat; cat key", input=sealed).out == CONTENT, "the command reads the input")
    seen = p.run("decrypt", "--key-command", "cp /proc/self/status signals; cat key", "sealed")
    check_equal(seen.code, 0, seen.err)
    blocked = next(line for line in p.read("signals").decode().splitlines() if line.startswith("SigBlk"))
    check_equal(int(blocked.split()[1], 16), 0, "blocked signals")


@case
def a_signal_ends_the_command(p):
    p.key()
    p.sealed(CONTENT)
    process = p.start("decrypt", "--key-command", "echo $$ >pid; exec sleep 100", "sealed", "-o", "opened")
    wait_until(lambda: os.path.exists(p.file("pid")) and p.read("pid").endswith(b"\n"), "the command runs")
    child = int(p.read("pid"))
    time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    check_equal(process.returncode, 128 + signal.SIGTERM, "exit code")
    check(not runs(child), "the command still runs")
    check(not os.path.exists(p.file("opened")), "an output remains")


def runs(process):
    """A killed process whose parent has ended may be a zombie for long."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@case
def a_signal_ends_all_processes_of_the_command(p):
    p.key()
    p.sealed(CONTENT)
    kinds = {
        "a pipeline": "sh -c 'echo $$ >pid1; exec sleep 100' | cat",
        "a closed output": "cat key; exec >&- sleep 100",
        "an ignored signal": "trap '' TERM; while sleep 0.1; do :; done",
    }
    for kind, command in kinds.items():
        pathlib.Path(p.file("pid")).unlink(missing_ok=True)
        process = p.start("decrypt", "--key-command", f"echo $$ >pid; {command}", "sealed", "-o", "opened")
        wait_until(lambda: os.path.exists(p.file("pid")) and p.read("pid").endswith(b"\n"), "the command runs")
        children = [int(p.read("pid"))]
        if kind == "a pipeline":
            wait_until(lambda: os.path.exists(p.file("pid1")) and p.read("pid1").endswith(b"\n"), "the pipeline runs")
            children.append(int(p.read("pid1")))
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        check_equal(process.returncode, 128 + signal.SIGTERM, f"exit code, {kind}")
        for child in children:
            wait_until(lambda: not runs(child), f"{kind}: process {child} ends")
        check(not os.path.exists(p.file("opened")), "an output remains")


@case
def a_command_may_ask_at_the_terminal(p):
    """It stays in the foreground, so that it can read there and Ctrl-C reaches it."""
    p.key()
    p.sealed(CONTENT)

    def on_terminal(command):
        ours, theirs = os.openpty()
        process = p.start("decrypt", "--key-command", command, "sealed", "-o", "opened", pass_fds=[theirs],
                          preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0))
        return ours, theirs, process

    ours, theirs, process = on_terminal("read answer </dev/tty; test $answer = yes && cat key")
    os.write(ours, b"yes\n")
    _, err = process.communicate(timeout=60)
    check_equal((process.returncode, p.read("opened") == CONTENT), (0, True), err)
    os.close(ours)
    os.close(theirs)
    os.remove(p.file("opened"))

    ours, theirs, process = on_terminal("echo $$ >pid; sleep 100")
    wait_until(lambda: os.path.exists(p.file("pid")) and p.read("pid").endswith(b"\n"), "the command runs")
    time.sleep(0.1)
    os.write(ours, b"\x03")
    process.communicate(timeout=60)
    check_equal(process.returncode, 130, "exit code")
    wait_until(lambda: not runs(int(p.read("pid"))), "the command ends")
    check(not os.path.exists(p.file("opened")), "an output remains")
    os.close(ours)
    os.close(theirs)


@case
def a_command_that_ctrl_c_ended_interrupts_the_program(p):
    """The signal may reach the command first."""
    p.key()
    p.sealed(CONTENT)
    for name, number in ("INT", signal.SIGINT), ("QUIT", signal.SIGQUIT):
        p.fails(128 + number, "interrupted", "decrypt", "--key-command", f"ulimit -c 0; kill -{name} $$", "sealed", "-o", "opened")
    p.fails(16, "signal 15", "decrypt", "--key-command", "kill -TERM $$", "sealed", "-o", "opened")


@case
def a_command_with_too_much_output_is_not_waited_for(p):
    p.key()
    p.sealed(CONTENT)
    begin = time.monotonic()
    p.fails(16, "more than a key", "decrypt", "--key-command", "head -c 5000 /dev/zero; sleep 100", "sealed", "-o", "opened")
    check(time.monotonic() - begin < 50, "the command was waited for")


@case
def a_failure_counts_where_the_caller_ignores_ended_children(p):
    p.key()
    p.sealed(CONTENT)

    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    p.fails(16, "exit code 7", "decrypt", "--key-command", "cat key; exit 7", "sealed", "-o", "opened", preexec_fn=ignore)
    check(p.ok("decrypt", "--key-command", "cat key", "sealed", preexec_fn=ignore).out == CONTENT, "a good command")


@case
def commands_do_not_see_the_passphrase(p):
    p.key()
    reading, writing = os.pipe()
    os.write(writing, b"a long passphrase\n")
    os.close(writing)
    command = f"ls -l /proc/self/fd >descriptors; timeout 5 cat >stolen <&{reading}; cat key"
    p.ok("encrypt", "--key-command", command, "--passphrase-fd", reading, "-o", "sealed", input=CONTENT, pass_fds=[reading])
    os.close(reading)
    check_equal(p.read("stolen"), b"", "what the command could read")
    p.write("word", b"a long passphrase\n", 0o600)
    check(p.ok("decrypt", "--passphrase-file", "word", "sealed").out == CONTENT, "bytes differ")


@case
def read_only_for_a_group_of_the_process(p):
    p.key("key")
    p.sealed(CONTENT)
    os.chmod(p.file("key"), 0o440)
    check(p.ok("decrypt", "-k", "key", "sealed").out == CONTENT, "mode 0440")
    for mode in [0o444, 0o460, 0o640, 0o450]:
        os.chmod(p.file("key"), mode)
        p.fails(2, [f"{mode:04o}", "chmod 600"], "decrypt", "-k", "key", "sealed", "-o", "opened")


@case
def not_for_another_group(p):
    p.key("key")
    p.sealed(CONTENT)
    try:
        os.chown(p.file("key"), -1, 54321)
    except OSError as error:
        raise NotRun(f"this user cannot give a file to another group ({error.strerror})") from error
    os.chmod(p.file("key"), 0o440)
    p.fails(2, ["0440", "chmod 600"], "decrypt", "-k", "key", "sealed", "-o", "opened")
    check(p.ok("decrypt", "-k", "key", "sealed", extra_groups=[54321]).out == CONTENT, "a supplementary group")


@case
def other_files_are_named(p):
    p.write("plain", CONTENT)
    p.sealed(CONTENT, name="sealed-file", key="good")
    p.ok("kem", "keygen", "--set", "ml-kem-768", "--public-key", "public", "--secret-key", "secret")
    files = {
        "a sealed file": p.read("sealed-file"),
        "a public key (PEM)": b"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEA\n-----END PUBLIC KEY-----\n",
        "a private key (PEM)": b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE=\n",
        "a PEM file": b"-----BEGIN CERTIFICATE-----\nMIIB\n",
        "an age file": b"age-encryption.org/v1\n-> X25519 abc\n",
        "an age identity": b"# created: 2026-01-01\nAGE-SECRET-KEY-1QQQ\n",
        "a public key (age recipient)": b"age1qqqqqqqqq\n",
        "a public key (SSH)": b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me\n",
        "a file of openssl enc": b"Salted__12345678" + bytes(17),
        "as long as a public key of ml-kem-768": p.read("public"),
        "as long as a secret key of ml-kem-768": p.read("secret"),
    }
    for what, content in files.items():
        p.write("other", content, 0o600)
        p.fails(2, [what, "32 bytes"], "encrypt", "-k", "other", "plain", "-o", "out")
        p.fails(2, [what, "16 bytes"], "raw", "encrypt", "-c", "aes-128-ctr", "--iv", "00" * 16, "-k", "other", "plain", "-o", "out")


main()
