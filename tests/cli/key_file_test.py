"""Key files: created private and whole, refused when of the wrong size or readable by others."""

import os
import stat

from program import case, check, check_equal, main, some_bytes


@case
def keygen_makes_a_private_file(p):
    for umask in [0o022, 0o000, 0o077]:
        name = f"key-{umask}"
        p.ok("keygen", name, umask=umask)
        about = os.stat(p.file(name))
        check_equal((stat.S_IMODE(about.st_mode), about.st_size), (0o600, 32), "mode and size")
    check(len({p.read(f"key-{umask}") for umask in [0o022, 0o000, 0o077]}) == 3, "keys repeat")
    check_equal(len(os.listdir(p.directory)), 3, "files")


@case
def keygen_refuses_to_overwrite(p):
    p.ok("keygen", "key")
    old = p.read("key")
    p.fails(11, ["'key'", "--force"], "keygen", "key")
    p.fails(11, "--force", "keygen", "-o", "key")
    p.ok("keygen", "key", "--force")
    check(p.read("key") != old, "--force makes a new key")
    check_equal(stat.S_IMODE(os.stat(p.file("key")).st_mode), 0o600, "mode after --force")
    check_equal(os.listdir(p.directory), ["key"], "files")


@case
def keygen_needs_an_output(p):
    p.fails(2, "--output", "keygen")
    p.fails(16, "directory", "keygen", ".")
    p.fails(16, "'no/key'", "keygen", "no/key")
    p.fails(16, "/dev/full", "keygen", "/dev/full")
    check_equal(len(p.ok("keygen", "-o", "-").out), 32, "bytes on a pipe")


@case
def wrong_size(p):
    p.write("plain", b"text")
    for size in [0, 1, 16, 31, 33, 64, 5000]:
        p.key("key", size)
        p.fails(2, ["'key'", "32"], "encrypt", "-k", "key", "plain", "-o", "sealed")
        if size != 16:
            p.fails(2, ["'key'", "16 or 32"], "encrypt", "--format", "cobblestone", "-k", "key", "plain", "-o", "sealed")
    p.sealed(b"text", key="good")
    p.fails(2, "'key'", "decrypt", "-k", "key", "sealed", "-o", "opened")
    p.fails(2, "'key'", "verify", "-k", "key", "sealed")


@case
def open_to_others(p):
    p.write("plain", b"text")
    p.sealed(b"text", key="good")
    for mode in [0o640, 0o604, 0o644, 0o620, 0o602, 0o610, 0o601, 0o666, 0o700 | 0o010]:
        p.write("key", some_bytes(32), mode)
        p.fails(2, ["'key'", f"{mode:04o}", "chmod 600"], "encrypt", "-k", "key", "plain", "-o", "sealed2")
        p.fails(2, "chmod 600", "decrypt", "-k", "key", "sealed", "-o", "opened")
    for mode in [0o600, 0o400, 0o700]:
        p.write("key", some_bytes(32), mode)
        p.ok("encrypt", "-k", "key", "plain", "-o", f"sealed-{mode}")
    p.write("word", b"secret\n", 0o644)
    p.fails(2, ["'word'", "chmod 600"], "encrypt", "--passphrase-file", "word", "plain", "-o", "sealed2")


@case
def missing_or_unreadable(p):
    p.write("plain", b"text")
    p.fails(10, "'none'", "encrypt", "-k", "none", "plain", "-o", "sealed")
    p.fails(10, "'none'", "encrypt", "--passphrase-file", "none", "plain", "-o", "sealed")
    os.mkdir(p.file("directory"), 0o700)
    p.fails(16, "'directory'", "encrypt", "-k", "directory", "plain", "-o", "sealed")


@case
def a_key_through_a_pipe(p):
    content = some_bytes(1000)
    p.sealed(content)
    reading, writing = os.pipe()
    os.write(writing, p.read("key"))
    os.close(writing)
    check(p.ok("decrypt", "-k", f"/dev/fd/{reading}", "sealed", pass_fds=[reading]).out == content, "process substitution")


main()
