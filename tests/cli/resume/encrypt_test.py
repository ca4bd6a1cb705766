"""`encrypt --resume`: killed runs are continued, or begun anew with other keys when a nonce could
serve two texts."""

import fcntl
import os
import resource
import signal
import stat

from unfinished import ENCRYPT_SECOND_WINDOW, HEADER, WINDOW, encrypt_killed, file_id, killed, opens, plain

from refusal import with_fault
from program import NotRun, case, check, check_equal, main, some_bytes, wait_until

RESUME = ["encrypt", "--resume", "-k", "key", "plain", "-o", "sealed"]


@case
def killed_and_continued(p):
    encrypt_killed(p)
    before = p.read("sealed.unfinished")
    check_equal(stat.S_IMODE(os.stat(p.file("sealed.unfinished")).st_mode) & 0o111, 0, "mode")
    result = p.ok(*RESUME)
    check("'sealed' was continued: 32.0 MiB" in result.err, result.err)
    sealed = p.read("sealed")
    check_equal(file_id(sealed), file_id(before), "file id")
    check_equal(sealed[:HEADER + 2048 * 16400], before[:HEADER + 2048 * 16400], "the first window")
    opens(p)
    p.fails(11, "exists", *RESUME)
    p.ok(*RESUME, "--force")
    check(file_id(p.read("sealed")) != file_id(sealed), "another run has another file id")
    opens(p)


@case
def killed_at_every_kind_of_call(p):
    """Whatever the run was doing, the same command finishes it."""
    plain(p)
    number = 0
    for calls, numbers in [("pwritev", [1, 2, 3, 4, 131, 132, 133]), ("fdatasync", [1, 2]), ("fsync", [1, 2]), ("ftruncate", [1]),
                           ("renameat2", [1]), ("flock", [1])]:
        for when in numbers:
            number += killed(p, calls, when, *RESUME)
            if os.path.exists(p.file("sealed")):
                os.unlink(p.file("sealed"))
            result = p.run(*RESUME)
            if result.code == 11:  # cut to its length already
                check("is not an unfinished output" in result.err and calls in ("fsync", "renameat2"), result.err)
                os.unlink(p.file("sealed.unfinished"))
                result = p.run(*RESUME)
            check_equal(result.code, 0, f"{calls} {when}: {result.err}")
            opens(p)
            os.unlink(p.file("sealed"))
    check(number >= 12, f"only {number} runs were killed")


@case
def a_failed_sync_discards_what_was_done(p):
    """The kernel may have dropped what it could not write, and the next sync would not say so."""
    plain(p, content=some_bytes(100_000))
    p.ok("encrypt", "-k", "key", "plain", "-o", "whole.ws")
    for command in (RESUME, ["decrypt", "--resume", "-k", "key", "whole.ws", "-o", "opened"]):
        output = command[-1]
        code, err, _ = with_fault(p, "fsync", 1, command)
        check_equal(code, 16, err)
        check("What was done was discarded" in err, err)
        for name in (output, output + ".unfinished"):
            check(not os.path.exists(p.file(name)), f"{name} is left")
        p.ok(*command)


@case
def changed_input_has_other_keys(p):
    encrypt_killed(p)
    before = p.read("sealed.unfinished")
    about = os.stat(p.file("plain"))
    for number, change in enumerate([lambda: p.write("plain", some_bytes(WINDOW + 3_000_000, 2)),
                                     lambda: os.chmod(p.file("plain"), 0o600),
                                     lambda: os.rename(p.write("other", p.read("plain")), p.file("plain")),
                                     lambda: os.truncate(p.file("plain"), WINDOW + 5)]):
        p.write("sealed.unfinished", before)
        change()
        # Its time of modification is no evidence.
        os.utime(p.file("plain"), ns=(about.st_atime_ns, about.st_mtime_ns))
        result = p.ok(*RESUME)
        check("begun anew: the input was changed" in result.err, result.err)
        check(file_id(p.read("sealed")) != file_id(before), f"change {number}: the old keys")
        opens(p, content=p.read("plain"))
        os.unlink(p.file("sealed"))


@case
def other_keys_recipients_and_ciphers(p):
    encrypt_killed(p)
    before = p.read("sealed.unfinished")
    p.key("second")
    recipient = p.ok("keygen", "--age", "-o", "identity").err.split()[-1]
    for more in [["-k", "second"], ["-r", recipient], ["-c", "aria-256-gcm"]]:
        p.write("sealed.unfinished", before)
        result = p.ok(*RESUME, *more)
        check("begun anew" in result.err and file_id(p.read("sealed")) != file_id(before), f"{more}: {result.err}")
        opens(p)
        os.unlink(p.file("sealed"))
    p.write("sealed.unfinished", before)
    p.fails(12, ["'sealed.unfinished'", "remove it"], "encrypt", "--resume", "-k", "second", "plain", "-o", "sealed")
    p.fails(2, "recipient", "encrypt", "--resume", "-r", recipient, "plain", "-o", "sealed")
    p.ok(*RESUME)
    opens(p)


@case
def passphrases(p):
    p.write("words", b"correct horse\n", 0o600)
    secret = ["--passphrase-file", "words"]
    command = ["encrypt", "--resume", *secret, "--argon2-memory", 8, "--argon2-passes", 1, "plain", "-o", "sealed"]
    plain(p)
    check(killed(p, "pwritev", ENCRYPT_SECOND_WINDOW, *command), "the run was not killed")
    check("was continued: 32.0 MiB" in p.ok(*command).err, "it was not continued")
    opens(p, secret=secret)


@case
def torn_and_damaged_chunks_are_written_again(p):
    encrypt_killed(p)
    before = bytearray(p.read("sealed.unfinished"))
    for at, wrong in [(HEADER + 100, bytes([before[HEADER + 100] ^ 1])), (HEADER + 2048 * 16400 - 20, bytes(20)), (HEADER + 16384, b"tag"), (HEADER + 99 * 4096, bytes(4096))]:
        changed = bytearray(before)
        changed[at:at + len(wrong)] = wrong
        p.write("sealed.unfinished", changed)
        check("continued: 0 B" in p.ok(*RESUME).err, "a damaged window was kept")
        opens(p)
        os.unlink(p.file("sealed"))


@case
def one_run_at_a_time(p):
    encrypt_killed(p)
    with open(p.file("sealed.unfinished"), "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        p.fails(16, "another run is writing 'sealed.unfinished'", *RESUME)
    p.ok(*RESUME)
    opens(p)


@case
def what_is_no_unfinished_output(p):
    plain(p)
    p.write("sealed.unfinished", some_bytes(50_000), 0o600)
    p.fails(11, ["'sealed.unfinished' exists", "remove it"], *RESUME)
    os.chmod(p.file("sealed.unfinished"), 0o777)
    p.fails(11, "permissions", *RESUME)
    os.chmod(p.file("sealed.unfinished"), 0o600)
    os.link(p.file("sealed.unfinished"), p.file("hard"))
    p.fails(11, "another name", *RESUME)
    for make in [lambda path: os.symlink("hard", path), os.mkfifo, os.mkdir, lambda path: os.symlink("none", path)]:
        path = p.file("sealed.unfinished")
        (os.rmdir if os.path.isdir(path) else os.unlink)(path)
        make(path)
        p.fails(11, "no regular file", *RESUME)
    p.fails(2, "unfinished outputs", "encrypt", "--resume", "-k", "key", "plain", "-o", "x.unfinished")


@case
def belongs_to_another_user(p):
    if os.geteuid() != 0:
        raise NotRun("only root can give files away")
    encrypt_killed(p)
    os.chown(p.file("sealed.unfinished"), 12345, -1)
    p.fails(11, "another user", *RESUME)


@case
def interrupted_and_continued(p):
    """Ctrl-C says how to go on."""
    plain(p)
    process = p.start(*RESUME, "--threads", "1", "--device", "cpu")
    wait_until(lambda: os.path.exists(p.file("sealed.unfinished")) or process.poll() is not None, "there is an output")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    if process.returncode == 0:
        return opens(p)
    check_equal(process.returncode, 130, err)
    if os.path.exists(p.file("sealed.unfinished")):
        check(b"the same command continues it" in err or b"The same command finishes it" in err or b"interrupted" in err, err)
    p.ok(*RESUME)
    return opens(p)


@case
def full_disk(p):
    """What was written stays, and the next run continues. Where nothing fits, nothing is left."""
    plain(p)
    result = p.run("-q", *RESUME, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    check(result.code in (16, -signal.SIGXFSZ), f"{result.code}: {result.err}")
    check(not os.path.exists(p.file("sealed")), "an unfinished output has the final name")
    code, err, _ = with_fault(p, "pwritev", ENCRYPT_SECOND_WINDOW, [*RESUME, "--threads", "1", "--device", "cpu"], error="ENOSPC")
    check_equal(code, 16, err)
    check("No space left" in err and "kept as 'sealed.unfinished': the same command continues it" in err, err)
    check("'sealed' was continued: 32.0 MiB" in p.ok(*RESUME).err, "it was not continued")
    opens(p)


@case
def what_cannot_be_resumed(p):
    plain(p, content=b"some text")
    os.mkdir(p.file("folder"))
    recipient = p.ok("keygen", "--age", "-o", "identity").err.split()[-1]
    p.fails(2, "pipe", "encrypt", "--resume", "-k", "key", "-o", "sealed", input=b"text")
    p.fails(2, "-o", "encrypt", "--resume", "-k", "key", "plain")
    p.fails(2, "-o", "encrypt", "--resume", "-k", "key", "plain", "-o", "-")
    p.fails(2, "--tar", "encrypt", "--resume", "-k", "key", "--tar", "folder", "-o", "sealed")
    p.fails(15, "age", "encrypt", "--resume", "--format", "age", "-r", recipient, "plain", "-o", "sealed")
    p.fails(15, "FLOE", "encrypt", "--resume", "--format", "floe", "-k", "key", "plain", "-o", "sealed")


@case
def small_and_empty_files(p):
    for name, content in [("empty", b""), ("small", b"x")]:
        plain(p, name, content)
        p.ok("encrypt", "--resume", "-k", "key", name, "-o", name + ".ws")
        opens(p, name + ".ws", content)


@case
def cobblestone_messages(p):
    plain(p)
    command = ["encrypt", "--resume", "--format", "cobblestone", "-k", "key", "plain", "-o", "sealed"]
    check(killed(p, "pwritev", ENCRYPT_SECOND_WINDOW, *command), "the run was not killed")
    before = p.read("sealed.unfinished")
    check("was continued: 32.0 MiB" in p.ok(*command).err, "it was not continued")
    check_equal(p.read("sealed")[:56], before[:56], "salt and commitment")
    opens(p, secret=["-k", "key", "--format", "cobblestone"])


main()
