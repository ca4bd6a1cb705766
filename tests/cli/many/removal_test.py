"""Runs over many files: --rm, --skip-done, and interrupts."""

import os
import shutil
import signal
import subprocess
import time

import many
from program import NotRun, case, check, check_equal, main, some_bytes, wait_until


@case
def removal(p):
    p.key()
    contents = many.tree(p, ["a", "deep/b"], "top")
    p.ok("encrypt", "-k", "key", "--rm", "--recursive", "top")
    check_equal(many.names(p), ["key", "top/a.ws", "top/deep/b.ws"], "files")
    p.ok("decrypt", "-k", "key", "--rm", "top/a.ws", "top/deep/b.ws")
    for name, content in contents.items():
        check_equal(p.read(name), content, name)
    p.ok("encrypt", "-k", "key", "--rm", "top/a", "-o", "other")
    check_equal(many.names(p), ["key", "other", "top/deep/b"], "files")


@case
def what_failed_is_not_removed(p):
    p.key()
    contents = many.tree(p, ["a", "b", "c"])
    p.ok("encrypt", "-k", "key", "--rm", *contents)
    sealed = bytearray(p.read("b.ws"))
    sealed[-1] ^= 1
    p.write("b.ws", bytes(sealed))
    p.write("c", b"precious")
    result = p.run("decrypt", "-k", "key", "--rm", "--keep-going", "a.ws", "b.ws", "c.ws")
    check_equal(result.code, 3, result.err)
    check_equal(many.names(p), ["a", "b.ws", "c", "c.ws", "key"], "files")
    check_equal(p.read("c"), b"precious", "an existing output")


@case
def what_is_never_removed(p):
    p.key()
    contents = many.tree(p, ["a", "b"])
    os.symlink("a", p.file("link"))
    p.fails(2, ["symbolic link", "'link'"], "encrypt", "-k", "key", "--rm", "link")
    p.fails(2, "'/dev/null'", "encrypt", "-k", "key", "--rm", "a", "-o", "/dev/null")
    p.fails(2, "--rm", "encrypt", "-k", "key", "--rm", "a", "-o", "-")
    for force in [[], ["--force"]]:
        p.fails(2, "input", "encrypt", "-k", "key", "--rm", *force, "a", "-o", "a")
    os.link(p.file("a"), p.file("same"))
    p.fails(2, "input", "encrypt", "-k", "key", "--rm", "--force", "a", "-o", "same")
    check_equal(len(contents), 2, "files")
    p.write("word", b"correct horse\n", 0o600)
    made = subprocess.run(["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-pass", "file:word", "-in", "a", "-out", "a.ws"], cwd=p.directory,
                          capture_output=True, check=False)
    if made.returncode != 0:
        raise NotRun("no openssl: files of openssl enc, which --rm leaves alone")
    p.fails(2, "not authenticated", "decrypt", "--passphrase-file", "word", "-c", "aes-256-cbc", "--pbkdf2", "--rm", "--output-dir", ".", "--force", "a.ws")


@case
def files_of_secrets_are_not_removed(p):
    """What is sealed with them could never be opened again."""
    os.mkdir(p.file("top"))
    p.key("top/key")
    p.write("top/word", b"correct horse\n", 0o600)
    p.ok("-q", "keygen", "--age", "-o", "top/identity.age")
    os.link(p.file("top/key"), p.file("other"))
    p.fails(2, ["--rm", "'top/key'"], "encrypt", "-k", "other", "--rm", "top/key")
    p.fails(2, ["--rm", "'top/word'"], "encrypt", *many.QUICK, "--passphrase-file", "top/word", "--rm", "top/word")
    p.fails(2, ["--rm", "'top/identity.age'"], "decrypt", "-i", "top/identity.age", "--rm", "top/identity.age")
    for options, name in [(["-k", "-"], "key"), ([*many.QUICK, "--passphrase-fd", "0"], "word")]:
        with open(p.file("top/" + name), "rb") as secret:
            result = p.run("encrypt", *options, "--rm", "top/" + name, stdin=secret)
        check_equal((result.code, many.names(p, "top")), (2, ["top/identity.age", "top/key", "top/word"]), result.err)
    p.write("aad", b"data")
    p.fails(2, ["--rm", "'aad'"], "encrypt", "-k", "top/key", "--format", "floe", "--aad-file", "aad", "--rm", "aad")
    many.tree(p, ["a"], "top")
    check_equal(p.run("encrypt", "-k", "top/key", "--rm", "--keep-going", "--recursive", "top").code, 3, "exit code")
    check_equal(many.names(p, "top"), ["top/a.ws", "top/identity.age.ws", "top/key", "top/word.ws"], "files")


@case
def a_directory_that_a_link_replaces(p):
    """The key command runs after the directories were read."""
    p.key()
    contents = many.tree(p, ["top/d/a", "other/a"])
    result = p.run("encrypt", "--key-command", "mv top/d top/e; ln -s ../other top/d; cat key", "--rm", "--recursive", "top")
    check_equal(result.code, 16, result.err)
    check("'top/d/a' was replaced meanwhile" in result.err, result.err)
    check_equal(p.read("other/a"), contents["other/a"], "a file that is no input")


@case
def inputs_whose_outputs_are_one_file(p):
    p.key()
    contents = many.tree(p, ["x/a", "y/a", "b", "c"])
    os.makedirs(p.file("out/y"))
    os.symlink("y", p.file("out/x"))
    p.write("b.ws", b"old")
    os.symlink("b.ws", p.file("c.ws"))
    for inputs in [["--output-dir", "out", "--recursive", "x", "y"], ["b", "c"]]:
        result = p.run("encrypt", "-k", "key", "--rm", "--force", "--keep-going", *inputs)
        check_equal(result.code, 3, result.err)
        check("the same file as the output of another input" in result.err, result.err)
    p.write("text", b"text")
    p.ok("encrypt", "-k", "key", "text", "-o", "d.ws")
    p.ok("encrypt", "-k", "key", "text", "-o", "d.floe", "--format", "floe")
    result = p.run("decrypt", "-k", "key", "--rm", "--force", "--keep-going", "d.ws", p.file("d.floe"))
    check_equal(result.code, 3, result.err)
    check(os.path.exists(p.file("d.ws")) != os.path.exists(p.file("d.floe")), "one of two is left")
    for name in ["d", "d.ws", "d.floe", "text"]:
        if os.path.exists(p.file(name)):
            os.unlink(p.file(name))
    left = [name for name in contents if os.path.exists(p.file(name))]
    check_equal(len(left), 2, "inputs that were not removed")
    check_equal(many.names(p), sorted(["key", "out/y/a.ws", "b.ws", "c.ws", *left]), "files")


@case
def outputs_behind_a_mount(p):
    if os.geteuid() != 0:
        raise NotRun("only root can mount a directory twice")
    p.key()
    many.tree(p, ["x/a", "y/a"])
    os.makedirs(p.file("out/x"))
    os.makedirs(p.file("out/y"))
    if subprocess.run(["mount", "--bind", p.file("out/x"), p.file("out/y")], capture_output=True, check=False).returncode != 0:
        raise NotRun("a directory cannot be mounted here")
    try:
        for old in [None, b"old"]:
            if old is not None:
                p.write("out/x/a.ws", old)
            result = p.run("encrypt", "-k", "key", "--rm", "--force", "--keep-going", "--threads", "1", "--recursive", "x", "y", "--output-dir", "out")
            check_equal((result.code, os.path.exists(p.file("x/a")), os.path.exists(p.file("y/a"))), (3, False, True), result.err)
            many.tree(p, ["x/a"])
        # Hard links are different files to replace.
        os.link(p.file("out/x/a.ws"), p.file("out/x/b.ws"))
        many.tree(p, ["x/b"])
        p.ok("encrypt", "-k", "key", "--rm", "--force", "--recursive", "x", "--output-dir", "out")
    finally:
        subprocess.run(["umount", p.file("out/y")], check=True)


@case
def the_output_is_synced_before_the_input_is_removed(p):
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    p.key()
    many.tree(p, ["a"])
    traced = subprocess.run(["strace", "-f", "-o", p.file("calls"), "-e", "trace=fsync,linkat,unlink,unlinkat", p.path, "encrypt", "-k", "key", "--rm",
                             "a"], cwd=p.directory, capture_output=True, start_new_session=True, check=False)
    if b"ptrace" in traced.stderr:
        raise NotRun("no ptrace here")
    check_equal(traced.returncode, 0, traced.stderr)
    with open(p.file("calls"), encoding="ascii", errors="replace") as log:
        calls = [line.split(None, 1)[1] for line in log]
    order = [call.split("(")[0] for call in calls if call.startswith(("fsync", "linkat", "unlink"))]
    check_equal(order, ["fsync", "linkat", "fsync", "unlink"], "order of calls")
    check(any(call.startswith('unlink("a")') for call in calls), "what is removed")


@case
def a_new_directory_is_synced_in_its_parent(p):
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    p.key()
    many.tree(p, ["a"])
    os.mkdir(p.file("in"))
    for directory, parent in [("1", "."), ("in/2", "in/"), ("in/3//", "in/")]:
        traced = subprocess.run(["strace", "-f", "-y", "-o", p.file("calls"), "-e", "trace=fsync", p.path, "encrypt", "-k", "key", "--output-dir", directory,
                                 "a"], cwd=p.directory, capture_output=True, start_new_session=True, check=False)
        if b"ptrace" in traced.stderr:
            raise NotRun("no ptrace here")
        check_equal(traced.returncode, 0, traced.stderr)
        with open(p.file("calls"), encoding="utf-8", errors="replace") as log:
            check(f"<{os.path.realpath(p.file(parent))}>" in log.read(), f"no sync of the parent of {directory}")


@case
def nothing_is_removed_before_a_new_directory_is_synced(p):
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    p.key()
    contents = many.tree(p, ["a", "b", "c", "d"])
    process = subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-P", os.path.realpath(p.directory), "-e", "inject=fsync:delay_enter=2000000", p.path,
                                "encrypt", "-k", "key", "--rm", "--threads", "4", *contents, "--output-dir", "out"], cwd=p.directory,
                               stderr=subprocess.PIPE, start_new_session=True)
    wait_until(lambda: os.path.exists(p.file("out")) or process.poll() is not None, "the directory is made")
    begin = time.monotonic()
    time.sleep(0.5)
    left = many.names(p)
    seconds = time.monotonic() - begin
    _, err = process.communicate(timeout=120)
    if b"ptrace" in err:
        raise NotRun("no ptrace here")
    if seconds > 1.5:
        raise NotRun(f"the files were listed after {seconds} s: the sync may have ended")
    check_equal((process.returncode, left), (0, ["a", "b", "c", "d", "key"]), err)
    check_equal(many.names(p), ["key", *["out/" + name + ".ws" for name in contents]], "files")


@case
def a_failed_sync_removes_nothing(p):
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    p.key()
    many.tree(p, ["a"])
    for number in [1, 2]:
        traced = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", f"inject=fsync:error=EIO:when={number}", p.path, "encrypt", "-k", "key", "--rm",
                                 "a"], cwd=p.directory, capture_output=True, start_new_session=True, check=False)
        if b"ptrace" in traced.stderr:
            raise NotRun("no ptrace here")
        check_equal(traced.returncode, 16, traced.stderr)
        check_equal(many.names(p), ["a", "key"], "files")


@case
def skip_done(p):
    p.key()
    p.key("other")
    contents = many.tree(p, ["a", "b", "c", "d", "e", "f"])
    p.ok("encrypt", "-k", "key", *contents)

    def statuses(command, *options):
        result = p.run(command, "-k", "key", "--skip-done", "--keep-going", "--json", *options)
        return {name: (row["status"], row["exit_code"]) for name, row in many.rows(result).items()}

    check_equal(set(statuses("encrypt", *contents).values()), {("skipped", 0)}, "all are done")
    os.unlink(p.file("a.ws"))
    p.write("b.ws", p.read("b.ws")[:-1])  # cut
    p.write("c.ws", p.read("d.ws"))  # another file, one byte longer
    os.utime(p.file("d"), (time.time() + 60, time.time() + 60))  # changed since
    p.ok("-q", "encrypt", "-k", "other", "--force", "e", "-o", "e.ws")
    wanted = {name: ("failed", 11) for name in "bcde"}
    check_equal(statuses("encrypt", *contents), {**wanted, "a": ("done", 0), "f": ("skipped", 0)}, "without --force")
    wanted = {name: ("done", 0) for name in "bcde"}
    check_equal(statuses("encrypt", "--force", *contents), {**wanted, "a": ("skipped", 0), "f": ("skipped", 0)}, "with --force")


@case
def skip_done_when_decrypting(p):
    p.key()
    contents = many.tree(p, ["a", "b", "c"])
    p.ok("encrypt", "-k", "key", "--rm", *contents)
    sealed = [name + ".ws" for name in contents]
    p.ok("decrypt", "-k", "key", *sealed)
    os.unlink(p.file("a"))
    p.write("b", contents["b"][:-1])
    result = p.run("decrypt", "-k", "key", "--skip-done", "--keep-going", "--json", *sealed)
    check_equal({name: (row["status"], row["exit_code"]) for name, row in many.rows(result).items()},
                {"a.ws": ("done", 0), "b.ws": ("failed", 11), "c.ws": ("skipped", 0)}, "lines")
    # What was skipped is not removed: its output was not compared.
    p.ok("decrypt", "-k", "key", "--skip-done", "--rm", "a.ws", "c.ws")
    check("a.ws" in many.names(p) and "c.ws" in many.names(p), "inputs")
    p.fails(15, "--skip-done", "encrypt", "--format", "age", "--skip-done", "--passphrase-fd", 0, "a")


@case
def interrupted_among_small_files(p):
    p.key()
    contents = many.tree(p, [f"f{i:04}" for i in range(3000)], "in")
    for number in [signal.SIGINT, signal.SIGTERM]:
        process = p.start("encrypt", "-k", "key", "--recursive", "in", "--output-dir", "out")
        wait_until(lambda: len(many.names(p, "out")) > 20, "some files are done")
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        finished = many.names(p, "out")
        if process.returncode == 0:
            raise NotRun("the run ended before the signal")
        check_equal(process.returncode, 128 + number, err)
        check(b"interrupted" in err and f"{len(finished)} files are done".encode() in err, err)
        check(all(name.endswith(".ws") for name in finished), "names")
        check(len(finished) < len(contents), "it did not stop")
        p.ok("verify", "-k", "key", "--recursive", "out")
        shutil.rmtree(p.file("out"))


@case
def interrupted_in_a_big_file(p):
    """Without unnamed files: the temporary name goes too."""
    p.key()
    many.tree(p, ["a", "b"])
    with open(p.file("c"), "wb") as file:
        file.truncate(64 << 30)
    process = p.start("encrypt", "-k", "key", "--device", "portable", "--progress", "json", "a", "b", "c")
    wait_until(lambda: os.path.exists(p.file("a.ws")) and os.path.exists(p.file("b.ws")), "the small files are done")
    for line in process.stderr:
        if b'"progress"' in line and b'"c"' in line:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    check_equal(process.returncode, 130, err)
    check(b"2 files are done, 1 not begun or not finished" in err, err)
    check_equal(many.names(p), ["a", "a.ws", "b", "b.ws", "c", "key"], "files")


@case
def killed_files_are_swept_once(p):
    """What a killed run left is removed, however many files a run has."""
    p.key()
    contents = many.tree(p, ["a", "b", "c"])
    p.write(".warpseal-0123456789abcdef.tmp", some_bytes(10))
    os.utime(p.file(".warpseal-0123456789abcdef.tmp"), (1, 1))
    err = p.ok("encrypt", "-k", "key", *contents).err
    check_equal(err.count("left behind"), 1, err)
    check(".warpseal-0123456789abcdef.tmp" not in many.names(p), "a file of a killed run")


main()
