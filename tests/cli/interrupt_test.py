"""Interrupted runs: SIGKILL at random times, SIGINT and SIGTERM. No partial output or plaintext
remains, and the old file is whole."""

import errno
import json
import os
import random
import signal
import subprocess
import threading
import time

from program import case, check, check_equal, main, some_bytes, wait_until_output_is_open, wait_until_signals_are_watched
from raw_data import MIB, key_file, need
from refusal import refuse

KILLS = int(os.environ.get("WARPSEAL_TEST_KILLS", "100"))


# The slowest path, so that no signal comes too late.
SLOW = ["--device", "portable", "--threads", 1]


def kill_at_random(p, command, name, kills, judge):
    """Kills the command after random times. What hits it follows the load of the machine: a kill
    that came too late shortens the times after it, and one that hit lengthens them. Returns how
    often the command was still running."""
    dice = random.Random(7)
    before = set(os.listdir(p.directory))
    killed, longest = 0, 0.5
    for _ in range(kills):
        process = p.start(*command, "-o", name, stderr=subprocess.DEVNULL)
        time.sleep(dice.random() * longest)
        process.kill()
        process.communicate()
        hit = process.returncode == -signal.SIGKILL
        killed += hit
        longest *= 1.1 if hit else 0.8
        judge(process.returncode, set(os.listdir(p.directory)) - before)
    check(killed > kills // 5, f"only {killed} of {kills} kills hit a running program")
    return killed


@case
def killed_while_decrypting(p):
    content = some_bytes(8 << 20)
    p.sealed(content)

    def judge(code, new):
        if code == 0 or "out" in new:
            check_equal(new, {"out"}, "files after the end")
            check(p.read("out") == content, "an output that is not whole")
            os.unlink(p.file("out"))
        else:
            check_equal(new, set(), "left behind by kill -9")

    killed = kill_at_random(p, ["decrypt", "-k", "key", "sealed"], "out", KILLS, judge)
    print(f"  decrypt: {killed} of {KILLS} kills in the middle, nothing left behind")


@case
def killed_while_encrypting(p):
    content = some_bytes(8 << 20)
    p.key()
    p.write("plain", content)

    def judge(code, new):
        if code == 0 or "out" in new:
            check_equal(new, {"out"}, "files after the end")
            check(p.ok("decrypt", "-k", "key", "out").out == content, "an output that is not whole")
            os.unlink(p.file("out"))
        else:
            check_equal(new, set(), "left behind by kill -9")

    killed = kill_at_random(p, ["encrypt", "-k", "key", "plain"], "out", KILLS // 3, judge)
    print(f"  encrypt: {killed} of {KILLS // 3} kills in the middle, nothing left behind")


@case
def killed_while_replacing(p):
    """With --force over an existing file: the old or the new one remains, whole. A whole new file
    may also keep its temporary name if the kill fell between the two calls that name it:
    docs/exit-codes.md says so."""
    content = some_bytes(8 << 20)
    p.sealed(content)
    named = []

    def judge(code, new):
        now = p.read("old")
        check(now in (b"precious", content), "neither the old file nor the new one")
        p.write("old", b"precious")
        for name in new:
            check(name.startswith(".warpseal-") and p.read(name) == content, f"{name} is not a whole output")
            os.unlink(p.file(name))
            named.append(name)

    p.write("old", b"precious")
    killed = kill_at_random(p, ["decrypt", "-k", "key", "--force", "sealed"], "old", KILLS, judge)
    print(f"  decrypt --force: {killed} of {KILLS} kills in the middle, {len(named)} between link and rename")


def interrupt(p, number, command, before):
    """Returns the exit code, the events after the signal, and the bytes done by the last one."""
    process = p.start(*command, "--progress", "json", stderr=subprocess.PIPE)
    check(b"progress" in process.stderr.readline(), "no progress")
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    check_equal(set(os.listdir(p.directory)), before, f"the directory ({process.returncode}, {err})")
    events = [json.loads(line) for line in err.splitlines() if line.startswith(b"{")]
    return process.returncode, err.decode(), max([event.get("done_bytes", 0) for event in events], default=0)


@case
def interrupted(p):
    """The big file is sparse. It would take minutes, and the program stops in the middle."""
    p.key()
    whole = 64 << 30
    with open(p.file("plain"), "wb") as file:
        file.truncate(whole)
    before = set(os.listdir(p.directory))
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]:
        for to in [["-o", "out"], ["-o", "/dev/null"]]:
            code, err, done = interrupt(p, number, ["encrypt", *SLOW, "-k", "key", "plain", *to], before)
            check_equal(code, 128 + number, err)
            check("interrupted" in err, err)
            check(done < whole // 2, f"{done} bytes were done after the signal")


@case
def interrupted_decryption(p):
    p.key()
    seal = p.start("encrypt", "-k", "key", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    opening = p.start("decrypt", "-k", "key", "-o", "out", stdin=seal.stdout)
    before = set(os.listdir(p.directory))
    seal.stdin.write(some_bytes(4 << 20))
    seal.stdin.flush()
    wait_until_output_is_open(opening, p.directory)
    opening.send_signal(signal.SIGINT)
    _, err = opening.communicate(timeout=120)
    seal.kill()
    seal.communicate()
    check_equal(opening.returncode, 130, err)
    check_equal(set(os.listdir(p.directory)), before, "the directory")


@case
def interrupted_while_input_is_idle(p):
    """A read that blocks forever cannot be asked to stop. The program still ends soon."""
    p.key()
    before = set(os.listdir(p.directory))
    reading, writing = os.pipe()
    for number in [signal.SIGINT, signal.SIGTERM]:
        process = p.start("encrypt", "-k", "key", "-o", "out", stdin=reading)
        wait_until_output_is_open(process, p.directory)
        process.send_signal(number)
        process.communicate(timeout=120)
        check_equal(process.returncode, 128 + number, "exit code")
        check_equal(set(os.listdir(p.directory)), before, "the directory")
    os.close(writing)


def interrupted_raw(p, *output, stdout):
    """Interrupts `raw encrypt`, fed without end, after one segment of 16 MiB went to a pipe or an
    equal time. Returns its message."""
    process = p.start("-q", "raw", "encrypt", "-c", "aes-128-ctr", "--key-file", "key", "--iv", "00" * 16, *output, stdin=subprocess.PIPE,
                      stdout=stdout)

    def feed():
        try:
            while True:
                process.stdin.write(bytes(MIB))
        except BrokenPipeError:
            pass

    feeder = threading.Thread(target=feed)
    feeder.start()
    if stdout == subprocess.PIPE:
        check_equal(len(process.stdout.read(MIB)), MIB, "what went out")
    else:
        wait_until_output_is_open(process, p.directory)
    process.send_signal(signal.SIGINT)
    while stdout == subprocess.PIPE and process.stdout.read(MIB):
        pass
    err = process.stderr.read().decode()
    check_equal(process.wait(timeout=120), 130, err)
    feeder.join()
    return err


@case
def an_interrupt_of_raw_reports_its_output(p):
    need(p, "aes-128", "ctr")
    key_file(p, some_bytes(16))
    before = set(os.listdir(p.directory))
    err = interrupted_raw(p, stdout=subprocess.PIPE)
    check("standard output is not whole" in err and "nothing was written" not in err, err)
    err = interrupted_raw(p, "-o", "out", stdout=subprocess.DEVNULL)
    check("nothing was written to 'out'" in err, err)
    check_equal(set(os.listdir(p.directory)), before, "the directory")


GRACE = 2  # seconds that a program has after the first signal: cli/support/interrupt.cpp


@case
def a_second_signal_ends_at_once(p):
    """A program that waits through its time of grace is never faster than that. A busy machine may
    make the others slow, so one fast run of several is enough."""
    p.key()
    reading, writing = os.pipe()
    for _ in range(20):
        process = p.start("encrypt", "-k", "key", "-o", "out", stdin=reading)
        wait_until_output_is_open(process, p.directory)
        start = time.monotonic()
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        took = time.monotonic() - start
        process.communicate()
        check_equal(process.returncode, 130, "exit code")
        if took < GRACE:
            break
    check(took < GRACE, "the second signal waited")
    os.close(writing)


@case
def an_ignored_signal_stays_ignored(p):
    """SIGINT is ignored as under nohup and in background jobs of scripts."""
    p.key()
    process = p.start("encrypt", "-k", "key", stdin=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_until_signals_are_watched(process)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    sealed, err = process.communicate(b"text", timeout=120)
    check_equal(process.returncode, 0, err)
    check_equal(p.ok("decrypt", "-k", "key", input=sealed).out, b"text", "what comes back")


@case
def without_a_watcher_thread(p):
    """Without the watching thread a signal would leave partial files, so the program does not start
    the work."""
    def no_threads():
        for call in ["clone", "clone3"]:
            refuse(call, errno.EAGAIN)()

    p.key()
    p.write("plain", b"text")
    for command in [["list"], ["encrypt", "-k", "key", "plain", "-o", "sealed"]]:
        p.fails(1, "thread", *command, preexec_fn=no_threads)


main()
