"""`decrypt --resume`: killed runs are continued with what is authentic."""

import os
import stat

from unfinished import CONTENT, DECRYPT_SECOND_WINDOW, WINDOW, killed

from program import case, check, check_equal, main, some_bytes

RESUME = ["decrypt", "--resume", "-k", "key", "sealed", "-o", "opened"]


def decrypt_killed(p):
    p.sealed(CONTENT)
    check(killed(p, "pwritev", DECRYPT_SECOND_WINDOW, *RESUME), "the run was not killed")
    check(not os.path.exists(p.file("opened")), "an unfinished output has the final name")


def is_whole(p):
    check(p.read("opened") == CONTENT, "another content")
    check(not os.path.exists(p.file("opened.unfinished")), "the unfinished output is left")


@case
def killed_and_continued(p):
    decrypt_killed(p)
    check_equal(stat.S_IMODE(os.stat(p.file("opened.unfinished")).st_mode), 0o600, "mode")
    check("'opened' was continued: 32.0 MiB" in p.ok(*RESUME).err, "it was not continued")
    is_whole(p)
    p.fails(11, "exists", *RESUME)


@case
def changed_text_is_written_again(p):
    decrypt_killed(p)
    before = p.read("opened.unfinished")
    for at in [0, WINDOW // 2, WINDOW - 1]:
        changed = bytearray(before)
        changed[at] ^= 1
        p.write("opened.unfinished", changed, 0o600)
        check("continued: 0 B" in p.ok(*RESUME).err, "changed text was kept")
        is_whole(p)
        os.unlink(p.file("opened"))


@case
def output_of_another_file(p):
    decrypt_killed(p)
    p.sealed(CONTENT, "other")
    result = p.ok("decrypt", "--resume", "-k", "key", "other", "-o", "opened")
    check("begun anew: it belongs to another file" in result.err, result.err)
    is_whole(p)


@case
def damage_keeps_what_was_done(p):
    p.sealed(CONTENT)
    good = p.read("sealed")
    damaged = bytearray(good)
    damaged[-100] ^= 1
    p.write("sealed", damaged)
    result = p.run(*RESUME)
    check_equal(result.code, 13, result.err)
    check("kept as 'opened.unfinished'" in result.err, result.err)
    check(not os.path.exists(p.file("opened")), "a damaged file was decrypted")
    p.write("sealed", good)
    check("was continued: 32.0 MiB" in p.ok(*RESUME).err, "it was not continued")
    is_whole(p)


@case
def wrong_key_leaves_nothing(p):
    p.sealed(b"text")
    p.key("other")
    p.fails(12, "'sealed'", "decrypt", "--resume", "-k", "other", "sealed", "-o", "opened")


@case
def wide_permissions_are_refused(p):
    decrypt_killed(p)
    os.chmod(p.file("opened.unfinished"), 0o644)
    p.fails(11, "permissions", *RESUME)


@case
def what_cannot_be_resumed(p):
    p.sealed(b"text")
    recipient = p.ok("keygen", "--age", "-o", "identity").err.split()[-1]
    p.ok("encrypt", "--format", "age", "-r", recipient, "-o", "aged", input=b"text")
    p.ok("encrypt", "--format", "floe", "-k", "key", "-o", "floe", input=some_bytes(9000))
    p.fails(2, "pipe", "decrypt", "--resume", "-k", "key", "-o", "opened", input=p.read("sealed"))
    p.fails(2, "-o", "decrypt", "--resume", "-k", "key", "sealed")
    p.fails(2, "--range", "decrypt", "--resume", "--range", "0:1", "-k", "key", "sealed", "-o", "opened")
    p.fails(2, "--tar", "decrypt", "--resume", "--tar", "-k", "key", "sealed", "--output-dir", "folder")
    p.fails(15, "age", "decrypt", "--resume", "-i", "identity", "aged", "-o", "opened")
    p.fails(15, "FLOE", "decrypt", "--resume", "-k", "key", "floe", "-o", "opened")
    p.fails(2, "--resume", "verify", "--resume", "-k", "key", "sealed")


main()
