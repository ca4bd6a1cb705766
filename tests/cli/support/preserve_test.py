"""--preserve, and the names of outputs at a terminal."""

import errno
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program import NotRun, case, check, check_equal, main, some_bytes

PAST = 1_000_000_000_123_456_789


def about(p, name):
    found = os.stat(p.file(name))
    return found.st_mode & 0o7777, found.st_mtime_ns, found.st_uid, found.st_gid


def old_file(p, name, mode):
    p.write(name, b"text", mode)
    os.utime(p.file(name), ns=(PAST, PAST))


@case
def permissions_and_time_are_preserved(p):
    p.key()
    old_file(p, "plain", 0o640)
    p.ok("encrypt", "-k", "key", "--preserve", "plain", "-o", "sealed")
    check_equal(about(p, "sealed")[:2], (0o640, PAST), "of the sealed file")
    p.ok("decrypt", "-k", "key", "--preserve", "sealed", "-o", "opened")
    check_equal(about(p, "opened")[:2], (0o640, PAST), "of the opened file")
    p.ok("decrypt", "-k", "key", "sealed", "-o", "private")
    check_equal(about(p, "private")[0], 0o600, "without the option")
    check(about(p, "private")[1] != PAST, "the time without the option")


@case
def every_way_to_seal_preserves(p):
    p.key()
    p.write("word", b"correct horse\n", 0o600)
    os.mkdir(p.file("in"))
    for name in ("in/one", "in/two"):
        old_file(p, name, 0o604)
    p.ok("encrypt", "-k", "key", "--preserve", "--recursive", "in", "--output-dir", "out")
    check_equal(about(p, "out/in/two.ws")[:2], (0o604, PAST), "of a file of a run")
    p.ok("encrypt", "-k", "key", "--format", "floe", "--preserve", "in/one", "-o", "floe")
    check_equal(about(p, "floe")[:2], (0o604, PAST), "of FLOE")
    p.ok("keygen", "--age", "-o", "identity")
    recipient = p.ok("keygen", "-y", "identity").out.decode().strip()
    p.ok("encrypt", "-r", recipient, "--preserve", "in/one", "-o", "age")
    p.ok("decrypt", "-i", "identity", "--preserve", "age", "-o", "from-age")
    check_equal(about(p, "from-age")[:2], (0o604, PAST), "of age")


@case
def set_id_bits_are_not_preserved(p):
    p.key()
    old_file(p, "plain", 0o6755)
    p.ok("encrypt", "-k", "key", "--preserve", "plain", "-o", "sealed")
    check_equal(about(p, "sealed")[0], 0o755, "permissions")


@case
def a_replaced_file_still_limits_the_permissions(p):
    p.key()
    old_file(p, "plain", 0o644)
    p.write("sealed", b"old", 0o600)
    p.ok("encrypt", "-k", "key", "--preserve", "--force", "plain", "-o", "sealed")
    check_equal(about(p, "sealed")[:2], (0o600, PAST), "permissions and time")


def access_list(*entries):
    """Packs the attribute of an access control list (acl(5)): tag, permissions, number."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, bits, number) for tag, bits, number in entries)


# The user 65534 may read. That makes the mask, which stat shows as the group's bits, r--.
ONE_USER_READS = access_list((1, 6, 2**32 - 1), (2, 4, 65534), (4, 0, 2**32 - 1), (16, 4, 2**32 - 1), (32, 0, 2**32 - 1))


def give_access_list(p, name, attribute, content):
    try:
        os.setxattr(p.file(name), attribute, content)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            raise NotRun("this file system has no access control lists") from error
        raise


@case
def the_mask_of_an_access_list_is_no_permission_of_the_group(p):
    p.key()
    old_file(p, "plain", 0o600)
    give_access_list(p, "plain", "system.posix_acl_access", ONE_USER_READS)
    check_equal(about(p, "plain")[0], 0o640, "what stat shows of the input")
    p.ok("encrypt", "-k", "key", "--preserve", "plain", "-o", "sealed")
    check_equal(about(p, "sealed")[0], 0o600, "permissions")


@case
def a_list_of_the_directory_gets_no_access(p):
    p.key()
    old_file(p, "plain", 0o640)
    p.ok("encrypt", "-k", "key", "--preserve", "plain", "-o", "sealed")
    os.mkdir(p.file("shared"))
    give_access_list(p, "shared", "system.posix_acl_default", ONE_USER_READS)
    p.ok("decrypt", "-k", "key", "--preserve", "sealed", "-o", "shared/plain")
    check_equal(about(p, "shared/plain")[0], 0o600, "permissions, whose middle digit is the list's mask")


@case
def another_group_gets_what_others_had(p):
    if os.geteuid() != 0:
        raise NotRun("only root can give files away")
    if subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", p.path, "--version"], capture_output=True, check=False).returncode != 0:
        raise NotRun("another user cannot run the program")
    p.key()
    old_file(p, "plain", 0o664)
    os.mkdir(p.file("theirs"), 0o755)
    for name in (".", "theirs", "key"):
        os.chown(p.file(name), 65534, 65533)
    p.ok("encrypt", "-k", "key", "--preserve", "plain", "-o", "theirs/sealed", user=65534, group=65533, extra_groups=[])
    check_equal(about(p, "theirs/sealed"), (0o644, PAST, 65534, 65533), "the sealed file")


@case
def root_preserves_the_owner(p):
    if os.geteuid() != 0:
        raise NotRun("only root can give files away")
    p.key()
    old_file(p, "plain", 0o640)
    os.chown(p.file("plain"), 65534, 65533)
    p.ok("encrypt", "-k", "key", "--preserve", "plain", "-o", "sealed")
    check_equal(about(p, "sealed"), (0o640, PAST, 65534, 65533), "owner")


@case
def streams_have_nothing_to_preserve(p):
    p.key()
    p.write("plain", b"text")
    p.sealed(b"text")
    p.fails(2, ["--preserve", "an input"], "encrypt", "-k", "key", "--preserve", "-o", "new", input=b"text")
    p.fails(2, ["--preserve", "-o"], "encrypt", "-k", "key", "--preserve", "plain")
    p.fails(2, "--tar does not go with --preserve: the archive keeps", "encrypt", "-k", "key", "--preserve", "--tar", "plain", "-o", "new")
    p.fails(2, "--tar does not go with --preserve: the archive keeps", "decrypt", "-k", "key", "--preserve", "--tar", "sealed", "--output-dir", "new")
    p.fails(2, ["--preserve", "--range"], "decrypt", "-k", "key", "--preserve", "--range", "0:1", "sealed", "-o", "new")


def at_terminal(p, check_run, *arguments, **options):
    ours, theirs = os.openpty()
    try:
        return check_run(*arguments, stdout=theirs, **options)
    finally:
        os.close(ours)
        os.close(theirs)


@case
def one_input_names_the_output_at_a_terminal(p):
    p.key()
    content = some_bytes(1000)
    p.write("plain", content)
    said = at_terminal(p, p.ok, "encrypt", "-k", "key", "plain").err
    check("'plain.ws'" in said and p.ok("decrypt", "-k", "key", "plain.ws").out == content, said)
    # Neither direction replaces a file.
    at_terminal(p, lambda *a, **o: p.fails(11, "'plain.ws' exists", *a, **o), "encrypt", "-k", "key", "plain")
    at_terminal(p, lambda *a, **o: p.fails(11, "'plain' exists", *a, **o), "decrypt", "-k", "key", "plain.ws")
    os.unlink(p.file("plain"))
    at_terminal(p, p.ok, "decrypt", "-k", "key", "plain.ws")
    check(p.read("plain") == content, "the opened file")
    at_terminal(p, p.ok, "encrypt", "-k", "key", "--force", "plain")
    at_terminal(p, p.ok, "encrypt", "-k", "key", "--format", "floe", "plain")
    check(os.path.exists(p.file("plain.floe")), "the suffix of the format")


@case
def other_inputs_are_refused_at_a_terminal(p):
    p.key()
    p.sealed(b"text")
    p.write("plain", b"text")
    refused = lambda *a, **o: p.fails(2, ["terminal", "-o"], *a, **o)
    at_terminal(p, refused, "encrypt", "-k", "key", input=b"text")
    at_terminal(p, refused, "encrypt", "-k", "key", "/dev/null")
    at_terminal(p, refused, "decrypt", "-k", "key", "sealed")
    with open(p.file("plain"), "rb") as plain:
        at_terminal(p, lambda *a, **o: p.fails(2, ["terminal", "-o"], *a, **o), "encrypt", "-k", "key", "/dev/stdin", stdin=plain)
    at_terminal(p, refused, "decrypt", "-k", "key", "--range", "0:1", "sealed")
    check(p.ok("encrypt", "-k", "key", "plain").out[:8] == b"WARPSEAL", "a pipe gets the file")


main()
