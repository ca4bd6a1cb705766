"""File systems without O_TMPFILE: the fallback says so, leaves nothing behind except after SIGKILL,
and replaces nothing without --force."""

import errno
import os
import signal
import stat
import subprocess
import time

from kem_files import SMALL, decapsulate, encapsulate, keygen
from program import NotRun, case, check, check_equal, main, snapshot, some_bytes, wait_until
from refusal import refuse, without_unnamed_files


def temporaries(p):
    return [name for name in os.listdir(p.directory) if name.startswith(".warpseal-")]


@case
def works_and_says_so(p):
    content = some_bytes(100_000)
    for error in [errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL]:
        p.write("plain", content)
        p.key()
        said = p.ok("encrypt", "-k", "key", "plain", "-o", "sealed", preexec_fn=without_unnamed_files(error)).err
        check("no unnamed files" in said and ".warpseal-" in said, said)
        said = p.ok("decrypt", "-k", "key", "sealed", "-o", "opened", preexec_fn=without_unnamed_files(error)).err
        check("no unnamed files" in said, said)
        check(p.read("opened") == content, "bytes differ")
        check_equal(stat.S_IMODE(os.stat(p.file("opened")).st_mode), 0o600, "mode")
        p.ok("decrypt", "-k", "key", "sealed", "-o", "opened", "--force", preexec_fn=without_unnamed_files(error))
        quiet = p.ok("-q", "decrypt", "-k", "key", "sealed", "-o", "opened", "--force", preexec_fn=without_unnamed_files(error)).err
        check("no unnamed files" in quiet and ".warpseal-" in quiet, f"--quiet hides where plaintext may be left: {quiet!r}")
        p.ok("keygen", "new-key", preexec_fn=without_unnamed_files(error))
        check_equal(stat.S_IMODE(os.stat(p.file("new-key")).st_mode), 0o600, "mode of a key file")
        check_equal(temporaries(p), [], "temporaries")
        for name in ["sealed", "opened", "new-key"]:
            os.unlink(p.file(name))


@case
def failures_leave_no_files(p):
    p.sealed(some_bytes(200_000))
    changed = bytearray(p.read("sealed"))
    changed[-100] ^= 1
    p.write("changed", changed)
    p.write("old", b"precious")
    p.key("other")
    refusal = without_unnamed_files()
    p.fails(13, "'new'", "decrypt", "-k", "key", "changed", "-o", "new", preexec_fn=refusal)
    p.fails(13, "'old'", "decrypt", "-k", "key", "changed", "-o", "old", "--force", preexec_fn=refusal)
    p.fails(12, "'new'", "decrypt", "-k", "other", "sealed", "-o", "new", preexec_fn=refusal)
    p.fails(11, "'old'", "decrypt", "-k", "key", "sealed", "-o", "old", preexec_fn=refusal)

    def both(call, error):
        first, second = without_unnamed_files(), refuse(call, error)
        return lambda: (first(), second())

    for call, error in [("fsync", errno.EIO), ("pwritev", errno.ENOSPC)]:
        p.fails(16, os.strerror(error), "decrypt", "-k", "key", "sealed", "-o", "new", preexec_fn=both(call, error))
    p.fails(16, "error", "decrypt", "-k", "key", "sealed", "-o", "old", "--force", preexec_fn=both("renameat", errno.EIO))
    # Without RENAME_NOREPLACE a hard link is used instead, which does not replace a file either.
    p.ok("decrypt", "-k", "key", "sealed", "-o", "linked", preexec_fn=both("renameat2", errno.EINVAL))
    check_equal(p.read("linked"), some_bytes(200_000), "bytes")
    check_equal(temporaries(p), [], "temporaries")


@case
def an_output_created_meanwhile(p):
    p.key()
    process = p.start("encrypt", "-k", "key", "-o", "new", stdin=subprocess.PIPE, preexec_fn=without_unnamed_files())
    process.stdin.write(b"text")
    process.stdin.flush()
    wait_until(lambda: temporaries(p), "the temporary is there")
    p.write("new", b"someone else's")
    _, err = process.communicate(b"more", timeout=60)
    check_equal(process.returncode, 11, err)
    check_equal(p.read("new"), b"someone else's", "the other's file")
    check_equal(temporaries(p), [], "temporaries")


@case
def interrupted(p):
    p.sealed(some_bytes(100_000))
    before = snapshot(p.directory)
    reading, writing = os.pipe()
    os.write(writing, p.read("sealed")[:40_000])
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT]:
        process = p.start("decrypt", "-k", "key", "-o", "new", stdin=reading, preexec_fn=without_unnamed_files())
        wait_until(lambda: temporaries(p), "the temporary is there")
        names = temporaries(p)
        check_equal(stat.S_IMODE(os.stat(p.file(names[0])).st_mode), 0o600, "mode of the temporary")
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        check_equal(process.returncode, 128 + number, err)
        check_equal(snapshot(p.directory), before, "the directory")
    os.close(writing)


@case
def interrupted_twice_in_a_long_computation(p):
    """Argon2id cannot be interrupted: a second signal ends the program within it, after the removal
    of its files."""
    p.write("word", b"secret words\n", 0o600)
    p.write("plain", b"text")
    before = snapshot(p.directory)
    process = p.start("encrypt", "--argon2-memory", 256, "--argon2-passes", 16, "--passphrase-file", "word", "plain",
                      "-o", "new", preexec_fn=without_unnamed_files())
    wait_until(lambda: temporaries(p), "the temporary is there")

    def computes():
        with open(f"/proc/{process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") > 100 << 20

    wait_until(computes, "Argon2id fills its memory")
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    check_equal(process.returncode, 128 + signal.SIGTERM, process.communicate()[1])
    check_equal(snapshot(p.directory), before, "the directory")


ABANDONED = ".warpseal-0123456789abcdef.tmp"


def grow_old(p, name, seconds=3600):
    long_ago = time.time() - seconds
    os.utime(p.file(name), (long_ago, long_ago), follow_symlinks=False)


def is_locked(path):
    inode = os.stat(path).st_ino
    with open("/proc/locks", encoding="ascii") as locks:
        return any(f":{inode} " in line for line in locks)


@case
def files_of_a_killed_run_are_removed(p):
    content = some_bytes(100_000)
    p.sealed(content)
    reading, writing = os.pipe()
    os.write(writing, p.read("sealed")[:40_000])
    process = p.start("decrypt", "-k", "key", "-o", "new", stdin=reading, preexec_fn=without_unnamed_files())
    wait_until(lambda: temporaries(p), "the temporary is there")
    (name,) = temporaries(p)
    wait_until(lambda: is_locked(p.file(name)), "the temporary is locked")
    grow_old(p, name)
    # While in use it is kept, however old: it is locked.
    p.ok("decrypt", "-k", "key", "sealed", "-o", "opened")
    check_equal(temporaries(p), [name], "temporaries")
    process.kill()
    process.communicate()
    os.close(reading)
    os.close(writing)
    # A minute after its run has died, the next run that writes there removes it.
    grow_old(p, name, 30)
    p.ok("decrypt", "-k", "key", "sealed", "-o", "opened", "--force")
    check_equal(temporaries(p), [name], "temporaries")
    grow_old(p, name)
    p.ok("verify", "-k", "key", "sealed")
    check_equal(temporaries(p), [name], "temporaries after a run that writes nothing")
    said = p.ok("decrypt", "-k", "key", "sealed", "-o", "opened", "--force").err
    check(f"removed './{name}'" in said, said)
    check_equal(temporaries(p), [], "temporaries")


@case
def wrong_usage_removes_nothing(p):
    p.sealed(b"text")
    p.write(ABANDONED, b"half of something", 0o600)
    grow_old(p, ABANDONED)
    p.write("empty", b"\n", 0o600)
    for secret in [["--passphrase-file", "empty"], ["-k", "sealed"]]:
        p.fails(2, "", "encrypt", "sealed", "-o", "out", *secret)
        check_equal(temporaries(p), [ABANDONED], f"temporaries after a refusal of {secret}")
    p.key("open")
    os.chmod(p.file("open"), 0o644)
    os.mkdir(p.file("directory"))
    raw = ["raw", "encrypt", "-c", "aes-256-gcm", "--iv", "00" * 12, "sealed", "-o", "out", "-k"]
    for code, words, key in [(10, "'none'", ["none"]), (2, "wrong size", ["empty"]), (2, "chmod 600", ["open"]), (16, "directory", ["directory"]),
                             (10, "'none'", ["key", "--aad-file", "none"]), (16, "directory", ["key", "--aad-file", "directory"])]:
        p.fails(code, words, *raw, *key)
        check_equal(temporaries(p), [ABANDONED], f"temporaries after a refusal of {key}")


@case
def wrong_inputs_of_kem_remove_nothing(p):
    keygen(p)
    p.ok(*encapsulate())
    for name in ["sk", "pk", "ct"]:
        p.write("cut-" + name, p.read(name)[:-1], 0o600)
    for name, count in [("two-sk", 2), ("two-pk", 2), ("three-ct", 3)]:
        p.write(name, p.read(name[-2:]) * count, 0o600)
    os.mkdir(p.file("directory"))
    p.write(ABANDONED, b"half of something", 0o600)
    grow_old(p, ABANDONED)
    outputs = ["--ciphertext", "new-ct", "--shared-secret", "new-ss"]
    for code, words, key in [(2, "one key of no set", ["cut-pk"]), (2, "wrong size", ["cut-pk", "--set", SMALL]), (15, "no set", ["pk", "--set", "none"]),
                             (2, "--count", ["two-pk", "--set", SMALL, "--count", "2"]), (16, "directory", ["directory"])]:
        p.fails(code, words, "kem", "encapsulate", *outputs, "--public-key", *key)
    for code, words, inputs in [(2, "one key of no set", {"sk": "cut-sk"}), (14, "wrong size", {"ct": "cut-ct"}), (16, "directory", {"ct": "directory"}),
                                (2, "3 ciphertexts", {"sk": "two-sk", "ct": "three-ct"})]:
        more = ["--set", SMALL] if "two-sk" in inputs.values() else []
        p.fails(code, words, *decapsulate(*more, **inputs))
    check_equal(temporaries(p), [ABANDONED], "temporaries after refusals")
    p.ok(*decapsulate())
    check_equal(temporaries(p), [], "temporaries after a run that writes")


@case
def every_writing_command_removes_them(p):
    p.sealed(b"text")
    p.key("raw-key", 32)
    for command in [["encrypt", "-k", "key", "sealed", "-o", "out"], ["decrypt", "-k", "key", "sealed", "-o", "out"], ["keygen", "out"],
                    ["raw", "encrypt", "-c", "aes-256-ctr", "-k", "raw-key", "--iv", "00" * 16, "sealed", "-o", "out"],
                    ["kem", "keygen", "--set", "ntruhps2048509", "--secret-key", "out", "--public-key", "public"]]:
        for preexec in [None, without_unnamed_files()]:
            p.write(ABANDONED, b"half of something", 0o600)
            grow_old(p, ABANDONED)
            p.ok(*command, "--force", preexec_fn=preexec)
            check_equal(temporaries(p), [], f"temporaries after {command[0]}")


@case
def nothing_else_is_removed(p):
    p.sealed(b"text")
    os.mkdir(p.file("sub"))
    p.write("victim", b"precious")
    kept = {}

    def keep(name, make):
        make(name)
        grow_old(p, name)
        kept[name] = True

    keep(".warpseal-0000000000000001.tmp", lambda name: os.symlink("victim", p.file(name)))
    keep(".warpseal-0000000000000002.tmp", lambda name: os.mkdir(p.file(name)))
    keep(".warpseal-0000000000000003.tmp", lambda name: os.mkfifo(p.file(name)))
    for name in [".warpseal-0000000000000004.old", ".warpseal-000000000000005.tmp", ".warpseal-000000000000000G.tmp",
                 ".warpseal-000000000000000A.tmp", "warpseal-0000000000000006.tmp", ".warpseal-0000000000000007.tmp.bak",
                 "sub/.warpseal-0000000000000008.tmp"]:
        keep(name, lambda name: p.write(name, b"not ours"))
    if os.geteuid() == 0:
        keep(".warpseal-0000000000000009.tmp", lambda name: os.chown(p.write(name, b"another's"), 65534, 65534))
    before = snapshot(p.directory)
    p.ok("decrypt", "-k", "key", "sealed", "-o", "opened")
    os.unlink(p.file("opened"))
    check_equal(snapshot(p.directory), before, "the directory")
    # The command's input, under whatever name.
    os.rename(p.file("sealed"), p.file(ABANDONED))
    os.rename(p.file("key"), p.file(".warpseal-00000000000000ab.tmp"))
    for name in [ABANDONED, ".warpseal-00000000000000ab.tmp"]:
        grow_old(p, name)
    p.ok("decrypt", "-k", ".warpseal-00000000000000ab.tmp", ABANDONED, "-o", "opened")
    check(os.path.exists(p.file(ABANDONED)) and os.path.exists(p.file(".warpseal-00000000000000ab.tmp")), "an input was removed")
    check_equal(p.read("opened"), b"text", "bytes")


@case
def on_a_real_file_system_without_them(p):
    """FAT has neither unnamed files nor hard links."""
    if os.geteuid() != 0:
        raise NotRun("only root can mount a file system (the same refusals by the kernel's filter ran)")
    image = p.file("image")
    with open(image, "wb") as file:
        file.truncate(16 << 20)
    for make in ["mkfs.vfat", "/sbin/mkfs.vfat", "/usr/sbin/mkfs.vfat"]:
        try:
            subprocess.run([make, image], check=True, capture_output=True)
            break
        except (OSError, subprocess.CalledProcessError):
            continue
    else:
        raise NotRun("mkfs.vfat is not here (the same refusals by the kernel's filter ran)")
    mount = p.file("fat")
    os.mkdir(mount)
    done = subprocess.run(["mount", "-o", "loop,umask=0", image, mount], capture_output=True)
    if done.returncode != 0:
        raise NotRun(f"FAT cannot be mounted: {done.stderr.decode().strip()} (the same refusals by the kernel's filter ran)")
    try:
        content = some_bytes(100_000)
        p.sealed(content)
        said = p.ok("decrypt", "-k", "key", "sealed", "-o", "fat/opened").err
        check("no unnamed files" in said, said)
        check(p.read("fat/opened") == content, "bytes differ")
        p.fails(11, "exists", "decrypt", "-k", "key", "sealed", "-o", "fat/opened")
        p.ok("decrypt", "-k", "key", "sealed", "-o", "fat/opened", "--force")
        check_equal(os.listdir(mount), ["opened"], "files")
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


main()
