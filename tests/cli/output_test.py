"""Output paths: existing files, full disks, closed pipes, directories, links, modes. A failure
leaves nothing behind."""

import errno
import os
import shutil
import stat
import subprocess

from program import NotRun, case, check, check_equal, main, snapshot, some_bytes, wait_until_output_is_open
from refusal import refuse, with_fault, with_pause, without_unnamed_files


def both_ways(p):
    """Returns the arguments that encrypt to, and decrypt to, a path that follows."""
    p.sealed(some_bytes(100_000))
    p.write("plain", some_bytes(100_000))
    return [["encrypt", "-k", "key", "plain", "-o"], ["decrypt", "-k", "key", "sealed", "-o"]]


@case
def existing_output(p):
    for command in both_ways(p):
        p.write("old", b"precious")
        p.fails(11, ["'old'", "--force"], *command, "old")
        # Refused before any work: not even the key is read.
        p.fails(11, "'old'", command[0], "-k", "no-key-here", "plain", "-o", "old")
        p.ok(*command, "old", "--force")
        check(p.read("old") != b"precious", "--force replaces")
        check_equal(sorted(os.listdir(p.directory)), ["key", "old", "plain", "sealed"], "files")


@case
def an_output_created_meanwhile(p):
    p.key()
    process = p.start("encrypt", "-k", "key", "-o", "new", stdin=subprocess.PIPE)
    process.stdin.write(b"text")
    process.stdin.flush()
    wait_until_output_is_open(process, p.directory)
    check(not os.path.exists(p.file("new")), "the output has its name before it is whole")
    p.write("new", b"someone else's")
    _, err = process.communicate(b"more", timeout=60)
    check_equal(process.returncode, 11, err)
    check_equal(p.read("new"), b"someone else's", "the other's file")
    check_equal(sorted(os.listdir(p.directory)), ["key", "new"], "files")


@case
def a_failure_keeps_the_old_output(p):
    p.sealed(some_bytes(4 * 16384))
    p.write("cut", p.read("sealed")[:-16])  # without the last, empty chunk
    p.write("old", b"precious")
    p.fails(14, "Nothing was written", "decrypt", "-k", "key", "cut", "--force", "-o", "old")
    p.key("other")
    p.fails(12, "Nothing was written", "decrypt", "-k", "other", "sealed", "--force", "-o", "old")


@case
def directories(p):
    os.mkdir(p.file("directory"))
    os.symlink("directory", p.file("link"))
    for command in both_ways(p):
        for name in [".", "directory", "directory/", "link", "/"]:
            p.fails(16, "directory", *command, name)
            p.fails(16, "directory", *command, name, "--force")
        p.fails(16, "'no/where'", *command, "no/where")
        p.fails(16, "'plain/file'", *command, "plain/file")
        p.fails(16, "long", *command, "x" * 300)


@case
def no_permission(p):
    if os.geteuid() == 0:
        commands = both_ways(p)
        # Not even root may create files here. A chroot may have only one of the two mounted.
        for path in [f"/{name}/warpseal-test" for name in ("proc", "sys") if os.path.ismount(f"/{name}")]:
            for command in commands:
                p.fails(16, path, *command, path)
        return
    os.mkdir(p.file("closed"), 0o500)
    for command in both_ways(p):
        p.fails(16, "'closed/file'", *command, "closed/file")


@case
def device_full(p):
    for command in both_ways(p):
        p.fails(16, "No space left", *command, "/dev/full")
        with open("/dev/full", "wb") as full:
            p.fails(16, ["standard output", "No space left"], *command[:-1], stdout=full)
    with open("/dev/full", "wb") as full:
        for command in [["list"], ["devices"], ["info", "sealed"], ["--help"], ["--version"]]:
            p.fails(16, "standard output", *command, stdout=full)


@case
def null_and_named_pipe(p):
    os.mkfifo(p.file("pipe"))
    for command in both_ways(p):
        p.ok(*command, "/dev/null")
        reader = subprocess.Popen(["cat", "pipe"], cwd=p.directory, stdout=subprocess.PIPE)
        p.ok(*command, "pipe")
        check(len(reader.communicate(timeout=30)[0]) >= 100_000, "bytes through a named pipe")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null is still a device")


@case
def disk_full(p):
    if os.geteuid() != 0:
        raise NotRun("only root can mount a small tmpfs")
    mount = p.file("small")
    os.mkdir(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", mount], capture_output=True).returncode != 0:
        raise NotRun("a tmpfs cannot be mounted here")
    try:
        p.key()
        p.write("plain", some_bytes(3 << 20))
        p.sealed(some_bytes(3 << 20))
        for command in [["encrypt", "-k", "key", "plain"], ["decrypt", "-k", "key", "sealed"]]:
            p.fails(16, ["No space left", "'small/out'"], *command, "-o", "small/out")
            with open(os.path.join(mount, "old"), "wb") as old:
                old.write(b"precious")
            p.fails(16, ["No space left", "'small/old'"], *command, "-o", "small/old", "--force")
        check_equal(os.statvfs(mount).f_bfree > 200, True, "the space is free again")
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


@case
def file_size_limit(p):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    for command in both_ways(p):
        p.fails(16, "too large", *command, "new", preexec_fn=limit)


@case
def closed_standard_output(p):
    commands = [command[:-1] for command in both_ways(p)]
    for command in commands + [["list"], ["devices"], ["info", "sealed"], ["--help"]]:
        p.fails(16, "standard output", *command, stdout=None, preexec_fn=lambda: os.close(1))
    for command in commands:  # the next opened file must not reuse a closed descriptor
        p.ok(*command, "-o", "out-" + command[0], stdout=None, preexec_fn=lambda: os.close(1))
        p.ok(*command, "-o", "out2-" + command[0], stdin=None, stdout=None, stderr=None, preexec_fn=lambda: os.closerange(0, 3))
    check(p.read("out-decrypt") == p.read("out2-decrypt") == some_bytes(100_000), "bytes differ")


@case
def broken_pipe(p):
    p.sealed(some_bytes(4 << 20))
    p.write("plain", some_bytes(4 << 20))
    for command in [["encrypt", "-k", "key", "plain"], ["decrypt", "-k", "key", "sealed"]]:
        process = p.start(*command)
        process.stdout.read(1000)
        process.stdout.close()
        err = process.stderr.read().decode()
        check_equal(process.wait(timeout=60), 16, "exit code " + err)
        check("Broken pipe" in err, err)


@case
def input_as_output(p):
    p.key()
    content = some_bytes(100_000)
    p.write("file", content)
    os.link(p.file("file"), p.file("second-name"))
    p.fails(11, "'file'", "encrypt", "-k", "key", "file", "-o", "file")
    p.fails(11, "'second-name'", "encrypt", "-k", "key", "file", "-o", "second-name")
    for flags in [os.O_WRONLY | os.O_APPEND, os.O_RDWR]:
        same = os.open(p.file("file"), flags)
        p.fails(2, "same file", "encrypt", "-k", "key", "file", stdout=same)
        source = os.open(p.file("second-name"), os.O_RDONLY)
        p.fails(2, "same file", "encrypt", "-k", "key", stdin=source, stdout=same)
    os.symlink("file", p.file("link"))
    for name in ["file", "./file", "link", "second-name"]:
        p.fails(2, "same file", "encrypt", "-k", "key", "file", "--force", "-o", name)
        with open(p.file("file"), "rb") as source:
            p.fails(2, "same file", "encrypt", "-k", "key", "--force", "-o", name, stdin=source)


@case
def a_key_as_output(p):
    p.sealed(some_bytes(1000))
    p.write("plain", some_bytes(1000))
    p.write("word", b"secret\n", 0o600)
    os.symlink("key", p.file("link"))
    raw = ["raw", "encrypt", "-c", "aes-256-gcm", "-k", "key", "--iv", "00" * 12, "--aad-file", "word", "plain"]
    for command in [["encrypt", "-k", "key", "--passphrase-file", "word", "plain"], ["decrypt", "-k", "key", "sealed"], raw]:
        for name in ["key", "./key", "link", "word" if "word" in command else "key"]:
            p.fails(2, ["'" + name + "'", "same file"], *command, "--force", "-o", name)
        with open(p.file("key"), "ab") as key:
            p.fails(2, "same file", *command, stdout=key)
    with open(p.file("word"), "rb") as word:
        p.fails(2, "same file", "encrypt", "--passphrase-fd", word.fileno(), "plain", "-f", "-o", "word", pass_fds=[word.fileno()])


@case
def no_name(p):
    p.key()
    p.write("plain", b"text")
    check_equal(p.fails(2, "--output", "encrypt", "-k", "key", "plain", "-o", "").out, b"", "standard output")


@case
def symbolic_links(p):
    for command in both_ways(p):
        p.write("target", b"old")
        os.symlink("target", p.file("link"))
        os.symlink("nowhere", p.file("dangling"))
        p.fails(11, "'link'", *command, "link")
        p.fails(11, "'dangling'", *command, "dangling")
        p.ok(*command, "link", "--force")
        check(os.path.islink(p.file("link")) and p.read("target") != b"old", "the file behind the link is replaced")
        p.ok(*command, "dangling", "--force")
        check(os.path.isfile(p.file("dangling")), "a link to nothing is replaced")
        for name in ["target", "link", "dangling"]:
            os.unlink(p.file(name))


@case
def modes(p):
    commands = both_ways(p)
    for umask, sealed_mode in [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)]:
        for command, mode in zip(commands, [sealed_mode, 0o600]):
            p.ok(*command, "out", umask=umask)
            check_equal(stat.S_IMODE(os.stat(p.file("out")).st_mode), mode, f"mode of {command[0]} under umask {umask:o}")
            p.write("out", b"", 0o666)
            p.ok(*command, "out", "--force", umask=umask)
            check_equal(stat.S_IMODE(os.stat(p.file("out")).st_mode), mode, f"mode of {command[0]} --force under umask {umask:o}")
            os.unlink(p.file("out"))


@case
def permissions_of_a_replaced_file(p):
    """The new file has at most the permissions of the old one, with unnamed files and without."""
    commands = both_ways(p)
    p.key("other")
    for preexec in [None, without_unnamed_files()]:
        for old in [0o640, 0o600, 0o444, 0o400, 0o777]:
            for command, new in zip(commands + [["keygen", "-o"]], [0o644, 0o600, 0o600]):
                p.write("out", b"old", old)
                p.ok(*command, "out", "--force", umask=0o022, preexec_fn=preexec)
                check(p.read("out") != b"old", "the old file is replaced")
                check_equal(stat.S_IMODE(os.stat(p.file("out")).st_mode), old & new, f"mode of {command[0]} --force over {old:o}")
                os.unlink(p.file("out"))


@case
def groups_of_a_replaced_file(p):
    """The new file belongs to the caller's group. If the old file had another group, its group bits
    do not apply."""
    if os.geteuid() != 0:
        raise NotRun("only root can give a file away")
    command = both_ways(p)[0]
    for group, mode in [(os.getegid(), 0o640), (os.getegid() + 12345, 0o600)]:
        p.write("out", b"old", 0o640)
        os.chown(p.file("out"), -1, group)
        p.ok(*command, "out", "--force", umask=0o022)
        check_equal(stat.S_IMODE(os.stat(p.file("out")).st_mode), mode, f"mode of what replaces a file of group {group}")


@case
def names_of_temporaries(p):
    """A file with such a name could be removed by a later command."""
    for command in both_ways(p):
        for path in [".warpseal-00000000000000aa.tmp", "./.warpseal-00000000000000aa.tmp"]:
            p.fails(2, "temporary files", *command, path)
        p.ok(*command, ".warpseal-0aa.tmp")
        os.unlink(p.file(".warpseal-0aa.tmp"))


@case
def links_that_others_planted(p):
    """In a directory like /tmp another user's link is not followed, whatever fs.protected_symlinks
    is set to."""
    if os.geteuid() != 0:
        raise NotRun("only root can make a link that is another user's")
    nobody = 65534
    commands = both_ways(p)
    os.mkdir(p.file("shared"))
    os.symlink("shared/link", p.file("chain"))

    def plant(target, link_owner, directory_owner, mode):
        if os.path.lexists(p.file("shared/link")):
            os.unlink(p.file("shared/link"))
        os.symlink(target, p.file("shared/link"))
        os.lchown(p.file("shared/link"), link_owner, link_owner)
        os.chown(p.file("shared"), directory_owner, directory_owner)
        os.chmod(p.file("shared"), mode)

    for command in commands:
        p.write("victim", b"precious")
        for target in ["../victim", p.file("victim"), "../nowhere", "/dev/null"]:
            plant(target, nobody, 0, 0o1777)
            for name in ["shared/link", p.file("shared/link"), "chain"]:
                for force in [[], ["--force"]]:
                    p.fails(2, ["link of another user", name], *command, name, *force)
        for owners_and_mode in [(0, 0, 0o1777), (0, nobody, 0o1777), (nobody, nobody, 0o1777), (nobody, 0, 0o755), (nobody, 0, 0o777)]:
            for name in ["shared/link", "chain"]:
                plant("../victim", *owners_and_mode)
                p.write("victim", b"precious")
                p.ok(*command, name, "--force")
                check(p.read("victim") != b"precious" and os.path.islink(p.file("shared/link")), f"not followed: {owners_and_mode}")


def shared_pipe(p, name, pipe_owner, directory_owner, mode):
    """Makes a named pipe in a new directory `shared`, each with its owner. Returns a reader of it,
    so that no writer blocks."""
    if not os.path.isdir(p.file("shared")):
        os.mkdir(p.file("shared"))
    path = p.file("shared/" + name)
    if os.path.lexists(path):
        os.unlink(path)
    os.mkfifo(path)
    os.chown(path, pipe_owner, pipe_owner)
    os.chown(p.file("shared"), directory_owner, directory_owner)
    os.chmod(p.file("shared"), mode)
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


@case
def pipes_that_others_planted(p):
    """In a directory like /tmp another user's pipe is not written to, whatever fs.protected_fifos
    is set to."""
    if os.geteuid() != 0:
        raise NotRun("only root can make a pipe that is another user's")
    nobody = 65534
    p.sealed(b"text")
    p.write("plain", b"text")
    os.symlink("shared/pipe", p.file("link"))
    commands = [["encrypt", "-k", "key", "plain", "-o"], ["decrypt", "-k", "key", "sealed", "-o"], ["keygen", "-o"]]
    for command in commands:
        reader = shared_pipe(p, "pipe", nobody, 0, 0o1777)
        for name in ["shared/pipe", p.file("shared/pipe"), "link"]:
            for force in [[], ["--force"]]:
                p.fails(2, ["pipe or device of another user", name], *command, name, *force)
        check_equal(os.read(reader, 1), b"", "bytes written to another user's pipe")
        # A pipe that is already open was chosen by the process that opened it.
        writer = os.open(p.file("shared/pipe"), os.O_WRONLY)
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]:
            p.ok(*command, name, stdout=writer)
            check(os.read(reader, 1 << 16), f"nothing came through {name}")
        os.close(writer)
        os.close(reader)
        for owners_and_mode in [(0, 0, 0o1777), (0, nobody, 0o1777), (nobody, nobody, 0o1777), (nobody, 0, 0o755), (nobody, 0, 0o777), (nobody, 0, 0o1775)]:
            reader = shared_pipe(p, "pipe", *owners_and_mode)
            for name in ["shared/pipe", "link"]:
                p.ok(*command, name)
                check(os.read(reader, 1 << 16), f"nothing was written: {owners_and_mode}")
            os.close(reader)


@case
def a_pipe_in_place_of_another(p):
    """Another user's pipe that replaces ours after a check gets no output."""
    if os.geteuid() != 0:
        raise NotRun("only root can make a pipe that is another user's")
    p.key()
    p.write("plain", b"text")
    refused = 0
    for stat_call in range(1, 100):
        ours, planted = (shared_pipe(p, name, owner, 0, 0o1777) for name, owner in (("pipe", 0), ("planted", 65534)))
        code, err, paused = with_pause(p, stat_call, "shared/pipe", ["encrypt", "-k", "key", "plain", "-o", "shared/pipe"],
                                       lambda: os.rename(p.file("shared/planted"), p.file("shared/pipe")))
        check_equal(os.read(planted, 1), b"", f"bytes written to another user's pipe after stat(2) call {stat_call}")
        check(code in (2, 16) if not os.read(ours, 1) else code == 0, err)
        refused += code != 0
        os.close(ours)
        os.close(planted)
        if not paused:
            break
    if stat_call == 1:
        raise NotRun("the program's stat calls cannot be observed here")
    check(refused, "the pipe was not checked before it was opened")


def close_of_the_output(p, command, **options):
    """Returns the number of the main thread's call of close(2): the first after the directory's
    sync."""
    _, _, calls = with_fault(p, "close", 10_000, command, **options)
    last_sync = max(number for number, line in enumerate(calls) if line.startswith("fsync("))
    return 1 + sum(line.startswith("close(") for line in calls[:last_sync])


@case
def failures_after_the_file_has_its_name(p):
    """The failure message describes what is on the disk."""
    content = some_bytes(100_000)
    p.sealed(content)
    command = ["decrypt", "--threads", "1", "--device", "cpu", "-k", "key", "sealed", "-o", "out"]

    code, err, _ = with_fault(p, "fsync", 2, command)
    check_equal((code, os.path.exists(p.file("out"))), (16, False), err)
    check("directory of 'out'" in err and "Nothing is left under its name" in err, err)

    p.write("out", b"precious", 0o600)
    code, err, _ = with_fault(p, "fsync", 2, command + ["--force"])
    check_equal((code, p.read("out") == content), (16, True), err)
    check("The old file is gone; the new one is in its place" in err and "loss of power" in err, err)

    for old, force, words in [(False, [], "The new file is there, whole and synced"), (True, ["--force"], "The old file is gone; the new one")]:
        if os.path.exists(p.file("out")):
            os.unlink(p.file("out"))
        number = close_of_the_output(p, command)
        os.unlink(p.file("out"))
        if old:
            p.write("out", b"precious", 0o600)
            number = close_of_the_output(p, command + force)
            p.write("out", b"precious", 0o600)
        code, err, _ = with_fault(p, "close", number, command + force)
        check_equal((code, p.read("out") == content), (16, True), err)
        check("cannot close 'out'" in err and words in err, err)
    check_equal(sorted(os.listdir(p.directory)), ["key", "out", "sealed"], "files")


@case
def failures_of_a_new_file_without_a_safe_rename(p):
    """Without unnamed files and RENAME_NOREPLACE, also under --force: a failure over a free name
    does not report a lost file."""
    content = some_bytes(100_000)
    p.sealed(content)
    command = ["decrypt", "--threads", "1", "--device", "cpu", "-k", "key", "sealed", "-o", "out", "--force"]
    filters = without_unnamed_files(), refuse("renameat2", errno.EINVAL)
    options = {"preexec_fn": lambda: [install() for install in filters]}

    code, err, _ = with_fault(p, "fsync", 2, command, **options)
    check_equal((code, os.path.exists(p.file("out"))), (16, False), err)
    check("directory of 'out'" in err and "Nothing is left under its name" in err and "old file" not in err, err)
    number = close_of_the_output(p, command, **options)
    os.unlink(p.file("out"))
    code, err, _ = with_fault(p, "close", number, command, **options)
    check_equal((code, p.read("out") == content), (16, True), err)
    check("The new file is there, whole and synced" in err and "old file" not in err, err)

    p.write("out", b"precious", 0o600)
    code, err, _ = with_fault(p, "fsync", 2, command, **options)
    check_equal((code, p.read("out") == content), (16, True), err)
    check("The old file is gone; the new one is in its place" in err, err)


@case
def refused_system_calls(p):
    """The kernel refuses each call that the output needs. Checks errno's text, the exit code, no
    leftovers, and the old file whole."""
    commands = both_ways(p)
    p.write("old", b"precious")
    for call, error, options in [("fsync", errno.EIO, ["-o", "new"]), ("fsync", errno.EDQUOT, ["-o", "old", "-f"]),
                                 ("linkat", errno.EIO, ["-o", "new"]), ("linkat", errno.ENOSPC, ["-o", "old", "-f"]),
                                 ("renameat", errno.EIO, ["-o", "old", "-f"]), ("pwritev", errno.EIO, ["-o", "new"]),
                                 ("pwritev", errno.ENOSPC, ["-o", "old", "-f"]), ("pwritev", errno.EDQUOT, ["-o", "new"]),
                                 ("preadv", errno.EIO, ["-o", "new"]), ("openat", errno.EMFILE, ["-o", "new"])]:
        flags = 0o20200000 if call == "openat" else None
        for command in commands:
            words = [os.strerror(error)]
            p.fails(16, words, *command[:-1], *options, preexec_fn=refuse(call, error, flags))
    # The second sync, the directory's, cannot be selected by a filter; strace(1) can do that.
    if not shutil.which("strace"):
        raise NotRun("the sync of the directory alone: strace is not here (all other calls were tried)")
    for command in commands:
        before = snapshot(p.directory)
        traced = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=2", p.path, *command, "new"],
                                cwd=p.directory, capture_output=True, start_new_session=True)
        if b"ptrace" in traced.stderr:
            raise NotRun("the sync of the directory alone: no ptrace here")
        check_equal(traced.returncode, 16, traced.stderr)
        check(b"directory" in traced.stderr, traced.stderr)
        check_equal(snapshot(p.directory), before, "the directory after a failed sync of it")


@case
def no_random_source(p):
    p.write("plain", b"text")
    p.key()
    for command in [["keygen", "new"], ["encrypt", "-k", "key", "plain", "-o", "new"]]:
        p.fails(1, "random", *command, preexec_fn=refuse("getrandom", errno.EIO))


@case
def no_locked_memory(p):
    """A low RLIMIT_MEMLOCK is no reason to refuse."""
    refusals = [refuse(call, errno.ENOMEM) for call in ("mlock", "mlock2")]
    for command in both_ways(p):
        p.ok(*command, "out-" + command[0], preexec_fn=lambda: [install() for install in refusals])


main()
