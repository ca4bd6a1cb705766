"""--tar when something fails: files that change, full disks, damage, kills. Nothing is left under a
final name."""

import errno
import os
import resource
import shutil
import subprocess
import tarfile
import time

from archives import AGE, KEY, OPEN_AGE, age_identity, check_same_tree, member, sealed_archive, small_tree
from program import NotRun, case, check, check_equal, main, some_bytes, snapshot
from refusal import refuse


def big_tree(p):
    """The pipeline and the pipes between hold a few MiB: packing waits at the second file."""
    p.key()
    os.mkdir(p.file("in"))
    p.write("in/a", b"a" * 1000)
    with open(p.file("in/b"), "wb") as file:
        file.write(os.urandom(1 << 20) * 64)
    p.write("in/c", b"c" * 1000)


def begin_to_pack(p, options):
    """Starts to pack a directory, and reads as much as shows that the second file is being read."""
    process = p.start("encrypt", *options, "--tar", "in")
    begin = process.stdout.read(8 << 20)
    check_equal(len(begin), 8 << 20, "bytes of output")
    return process, begin


def changed_while_read(p, code, words, change, options):
    """Lets the program write into a pipe that nobody reads until the change is done."""
    shutil.rmtree(p.file("in"), ignore_errors=True)
    big_tree(p)
    age_identity(p)
    process, begin = begin_to_pack(p, options)
    change()
    out, err = process.communicate(timeout=60)
    text = err.decode()
    check_equal(process.returncode, code, text)
    for word in [words, "What went to standard output is useless."]:
        check(word in text.splitlines()[-1], f"no {word!r} in {text!r}")
    return begin + out


@case
def files_that_change_while_they_are_read(p):
    def append():
        with open(p.file("in/b"), "ab") as file:
            file.write(b"more")

    def replace():
        os.rename(p.file("in/a"), p.file("in/c"))

    for options in [KEY, AGE]:
        changed_while_read(p, 16, "'in/b' became longer while it was read", append, options)
        changed_while_read(p, 16, "'in/b' became shorter while it was read", lambda: os.truncate(p.file("in/b"), 1 << 20), options)
        changed_while_read(p, 16, "'in/b' was changed while it was read", lambda: os.utime(p.file("in/b")), options)
        changed_while_read(p, 16, "'in/c' was removed or replaced while it was read", lambda: os.unlink(p.file("in/c")), options)
        changed_while_read(p, 16, "'in' was changed while it was read", lambda: p.write("in/d", b"new"), options)
        changed_while_read(p, 16, "'in' was changed while it was read", replace, options)


@case
def a_stream_that_ends_early_is_not_whole(p):
    """The encryption sees an error, and not the end of its input: the last chunk is not written."""
    for options in [KEY, AGE]:
        out = changed_while_read(p, 16, "'in/b' was changed", lambda: os.utime(p.file("in/b")), options)
        result = p.run("verify", *(KEY if options is KEY else OPEN_AGE), input=out)
        check_equal(result.code, 26, result.err)


@case
def no_output_after_a_failure(p):
    big_tree(p)
    # While it waits for the passphrase, packing gets as far as the pipe between them takes.
    reading, writing = os.pipe()
    process = p.start("encrypt", "--passphrase-fd", reading, "--argon2-memory", "8", "--tar", "in", "-o", "out.ws", pass_fds=[reading])
    os.close(reading)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        os.utime(p.file("in/b"))
        time.sleep(0.01)
    os.write(writing, b"correct horse battery\n")
    os.close(writing)
    _, err = process.communicate(timeout=60)
    check_equal(process.returncode, 16, err)
    check(b"'in/b' was changed while it was read. Nothing was written to 'out.ws'." in err, err)
    check_equal(sorted(os.listdir(p.directory)), ["in", "key"], "files")


@case
def files_that_cannot_be_read(p):
    small_tree(p, 3)
    os.chmod(p.file("in/001"), 0)
    options = {}
    if os.geteuid() == 0:
        if subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", p.path, "--version"], capture_output=True, check=False).returncode != 0:
            raise NotRun("only root can become another user here")
        os.chown(p.file("key"), 65534, -1)
        os.chmod(p.directory, 0o777)
        options = {"user": 65534, "extra_groups": []}
    p.fails(16, ["cannot open 'in/001': Permission denied", "Nothing was written to 'out.ws'."], "encrypt", *KEY, "--tar", "in", "-o", "out.ws", **options)


@case
def paths_that_could_not_be_unpacked(p):
    p.key()
    os.makedirs(p.file("in/" + "/".join(["a"] * 260)))
    p.fails(17, "more than 256 levels", "encrypt", *KEY, "--tar", "in", "-o", "out.ws")


@case
def damage_leaves_nothing(p):
    small_tree(p)
    age_identity(p)
    os.mkdir(p.file("there"))
    for sealed, options in [("a.ws", KEY), ("a.age", AGE)]:
        p.ok("encrypt", *options, "--tar", "in", "-o", sealed)
        opened = KEY if options is KEY else OPEN_AGE
        whole = p.read(sealed)
        for position, codes in [(len(whole) // 2, [13]), (len(whole) - 1, [13]), (None, [13, 14])]:
            bad = bytearray(whole)
            if position is None:
                bad = bad[:-70_000]
            else:
                bad[position] ^= 1
            p.write("bad", bytes(bad))
            for out in ["new", "there"]:
                before = snapshot(p.directory)
                result = p.run("decrypt", *opened, "--tar", "bad", "--output-dir", out)
                check(result.code in codes, result.err)
                check(f"Nothing was written to '{out}'." in result.err and "archive" not in result.err, result.err)
                check_equal(snapshot(p.directory), before, "the directory")


@case
def a_full_disk(p):
    small_tree(p)
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    os.mkdir(p.file("small"))
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", p.file("small")], capture_output=True, check=False).returncode != 0:
        raise NotRun("a tmpfs cannot be mounted here")
    try:
        for out in ["small", "small/new"]:
            p.fails(16, ["No space left", f"Nothing was written to '{out}'."], "decrypt", *KEY, "--tar", "a.ws", "--output-dir", out)
        p.fails(16, ["No space left", "Nothing was written to 'small/a.ws'."], "encrypt", *KEY, "--tar", "in", "-o", "small/a.ws")
    finally:
        subprocess.run(["umount", p.file("small")], check=True)


@case
def files_that_are_too_big(p):
    p.key()
    os.mkdir(p.file("in"))
    p.write("in/a", some_bytes(1000))
    p.write("in/b", some_bytes(3_000_000))
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    limit = 1_000_000
    p.fails(16, ["cannot write 'in/b': File too large", "Nothing was written to 'out'."], "decrypt", *KEY, "--tar", "a.ws", "--output-dir", "out",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))


@case
def names_that_cannot_be_given(p):
    small_tree(p, 3)
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    os.mkdir(p.file("there"))
    for out in ["new", "there"]:
        p.fails(16, "cannot give its name", "decrypt", *KEY, "--tar", "a.ws", "--output-dir", out, preexec_fn=refuse("renameat2", errno.EIO))


@case
def file_systems_that_cannot_refuse_to_replace(p):
    small_tree(p, 3)
    p.write("single", b"x")
    os.mkdir(p.file("there"))
    p.ok("encrypt", *KEY, "--tar", "in", "single", "-o", "a.ws")
    for out in ["new", "there"]:
        p.ok("decrypt", *KEY, "--tar", "a.ws", "--output-dir", out, preexec_fn=refuse("renameat2", errno.EINVAL))
        check_same_tree(p.file(out + "/in"), p.file("in"))
        check_equal(sorted(os.listdir(p.file(out))), ["in", "single"], out)


@case
def file_systems_without_modes(p):
    small_tree(p, 3)
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    p.ok("decrypt", *KEY, "--tar", "a.ws", "--output-dir", "out", preexec_fn=refuse("fchmod", errno.EPERM))
    check_equal(p.read("out/in/000"), p.read("in/000"), "content")
    p.fails(16, "cannot unpack 'in/000'", "decrypt", *KEY, "--tar", "a.ws", "--output-dir", "new", preexec_fn=refuse("fchmod", errno.EIO))


@case
def other_formats(p):
    small_tree(p, 3)
    for name in ["cobblestone", "floe"]:
        p.ok("encrypt", *KEY, "--format", name, "--tar", "in", "-o", name)
        options = [*KEY, "--format", name, "--tar"]
        p.ok("decrypt", *options, name, "--output-dir", "from-" + name)
        check_same_tree(p.file(f"from-{name}/in"), p.file("in"))
        sealed = bytearray(p.read(name))
        sealed[len(sealed) // 2] ^= 1
        p.write("bad", bytes(sealed))
        p.fails(13, "Nothing was written to 'new'.", "decrypt", *options, "bad", "--output-dir", "new")
        p.fails(16, ["cannot write 'in/000': File too large", "Nothing was written to 'new'."], "decrypt", *options, name, "--output-dir", "new",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))


@case
def files_with_more_than_their_size_says(p):
    p.key()
    p.fails(16, ["'/proc/self/status' has more content than its size says", "Nothing was written to 'out.ws'."],
            "encrypt", *KEY, "--tar", "/proc/self/status", "-o", "out.ws")


@case
def hard_links_without_descriptors(p):
    """What cannot be opened is not refused as an entry."""
    sealed_archive(p, [member("a/b/c", content=b"x"), member("d", tarfile.LNKTYPE, linkname="a/b/c")], "a.ws")
    p.fails(16, "cannot unpack 'd': Too many open files", "decrypt", *KEY, "--tar", "a.ws", "--output-dir", "new",
            preexec_fn=refuse("openat", errno.EMFILE, os.O_PATH))


@case
def kills_while_packing_leave_nothing(p):
    big_tree(p)
    for delay in [0.02, 0.1, 0.3]:
        process = p.start("encrypt", *KEY, "--tar", "in", "-o", "out.ws")
        time.sleep(delay)
        process.kill()
        process.communicate()
        # An output that has its name is whole. The kill may come between that and the exit.
        if process.returncode == 0 or os.path.exists(p.file("out.ws")):
            p.ok("verify", *KEY, "out.ws")
            os.unlink(p.file("out.ws"))
        check_equal(sorted(os.listdir(p.directory)), ["in", "key"], "files")


@case
def memory_is_bounded(p):
    """Neither the size nor the number of the files counts."""
    p.key()
    os.mkdir(p.file("in"))
    for i in range(20):
        os.mkdir(p.file(f"in/{i}"))
        for j in range(250):
            p.write(f"in/{i}/{j}", b"x" * 100)
    with open(p.file("in/big"), "wb") as file:
        file.write(bytes(300_000_000))
    usage = []
    for arguments in [["encrypt", *KEY, "in/big", "-o", "plain.ws"], ["encrypt", *KEY, "--tar", "in", "-o", "a.ws"], ["decrypt", *KEY, "--tar", "a.ws", "--output-dir", "out"]]:
        process = p.start(*arguments, "--threads", "2")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        check_equal(process.returncode, 0, process.stderr.read())
        process.stdout.close()
        process.stderr.close()
        usage.append(used.ru_maxrss)
    check(max(usage) < usage[0] + 40_000, f"{usage} KiB")
    check_equal(os.path.getsize(p.file("out/in/big")), 300_000_000, "size")


@case
def many_descriptors(p):
    """One for each level of a path."""
    p.key()
    os.makedirs(p.file("in/" + "/".join(["a"] * 250)))
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    p.ok("decrypt", *KEY, "--tar", "a.ws", "--output-dir", "out")
    check_same_tree(p.file("out/in"), p.file("in"))
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    p.fails(16, "Too many open files", "encrypt", *KEY, "--tar", "in", "-o", "b.ws", preexec_fn=few)
    result = p.run("decrypt", *KEY, "--tar", "a.ws", "--output-dir", "few", preexec_fn=few)
    check_equal(result.code, 16, result.err)
    check("Too many open files" in result.err and not os.path.exists(p.file("few")), result.err)


@case
def damaged_archives_are_refused_and_crash_nothing(p):
    sealed_archive(p, [member("a", content=b"x" * 700), member("b/c", content=b"y")], "seed.ws")
    good = p.ok("-q", "decrypt", *KEY, "seed.ws").out
    for number in range(60):
        bad = bytearray(good)
        position = some_bytes(3, number)
        bad[int.from_bytes(position[:2], "big") % len(bad)] ^= 1 + position[2] % 255
        p.ok("-q", "encrypt", *KEY, "-o", "bad.ws", "--force", input=bytes(bad))
        result = p.run("decrypt", *KEY, "--tar", "bad.ws", "--output-dir", "out")
        check(result.code in [0, 15, 16, 17, 28], f"{number}: {result.code} {result.err}")
        check((result.code == 0) == os.path.exists(p.file("out")), f"{number}: {result.err}")
        shutil.rmtree(p.file("out"), ignore_errors=True)


main()
