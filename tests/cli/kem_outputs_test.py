"""Outputs of `warpseal kem`: files left unchanged, files replaced, and the state after a failure.
"""

import errno
import os
import shutil
import signal
import subprocess

from kem_files import SMALL, decapsulate, encapsulate, keygen, mode
from program import NotRun, case, check, check_equal, main, sees_into_programs, snapshot, wait_until, wait_until_output_is_open
from refusal import refuse, with_fault, without_unnamed_files


@case
def outputs_are_left_alone(p):
    keygen(p)
    before = snapshot(p.directory)
    for secret, public in [("sk", "new"), ("new", "pk")]:
        p.fails(11, "--force", "kem", "keygen", "--set", SMALL, "--secret-key", secret, "--public-key", public)
    check_equal(snapshot(p.directory), before, "files")
    for other in ["new", "./new"]:
        p.fails(2, "same file", "kem", "keygen", "--set", SMALL, "--secret-key", "new", "--public-key", other, "--force")
    p.fails(16, "No space", "kem", "keygen", "--set", SMALL, "--secret-key", "new", "--public-key", "/dev/full")
    os.symlink("sk", p.file("link"))
    p.fails(2, "same file", *decapsulate("--force", ct="pk", ss="link"))
    p.fails(2, "same file", *encapsulate("--force", ct="pk"))
    p.fails(2, "same file", *encapsulate("--force", ss="pk"))
    p.fails(2, "same file", *decapsulate("--force", ct="pk", ss="pk"))
    # The key may be a file or standard input.
    p.fails(2, "same file", *("kem", "encapsulate", "--public-key", "-", "--ciphertext", "new", "--shared-secret", "new", "--force"),
            input=p.read("pk"))
    for secret in ("sk", "-"):
        p.fails(2, "same file" if secret == "sk" else "standard input", *decapsulate(sk=secret, ct=secret, ss="-"), input=p.read("sk"))
    old = p.read("sk")
    keygen(p, SMALL, "--force")
    check(p.read("sk") != old and mode(p, "sk") == 0o600, "--force makes new keys")


@case
def a_key_pair_appears_when_both_files_are_complete(p):
    keygen(p)
    before = snapshot(p.directory)
    for error in (errno.EIO, errno.ENOSPC):
        p.fails(16, os.strerror(error), "kem", "keygen", "--set", SMALL, "--secret-key", "sk", "--public-key", "pk", "--force",
                preexec_fn=refuse("fsync", error))
    # If one file cannot have its name, the other has none either, whichever comes first.
    for taken in ("new.sk", "new.pk"):
        process = p.start("kem", "keygen", "--set", SMALL, "--secret-key", "new.sk", "--public-key", "new.pk", "--count", "200000")
        wait_until_output_is_open(process, p.directory)
        p.write(taken, b"another's")
        _, err = process.communicate(timeout=120)
        check_equal((process.returncode, p.read(taken)), (11, b"another's"), err)
        os.unlink(p.file(taken))
        check_equal(snapshot(p.directory), before, "files")
    # Without unnamed files both temporaries are removed, whatever ends the program.
    process = p.start("kem", "keygen", "--set", SMALL, "--secret-key", "new.sk", "--public-key", "new.pk", "--count", "1000000",
                      preexec_fn=without_unnamed_files())
    wait_until(lambda: sum(name.startswith(".warpseal-") for name in os.listdir(p.directory)) == 2, "both temporaries are there")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    check_equal(process.returncode, 128 + signal.SIGTERM, "exit code")
    check_equal(snapshot(p.directory), before, "files after the signal")


@case
def a_key_pair_replaces_a_key_pair(p):
    """With --force too: two matching new files, or the two old ones."""
    keygen(p)
    replace = ("kem", "keygen", "--set", SMALL, "--secret-key", "sk", "--public-key", "pk", "--force")
    # The third command cannot replace the file it must keep until both have their names.
    for preexec in (None, without_unnamed_files(), refuse("renameat", errno.EIO), refuse("renameat2", errno.EINVAL)):
        old = p.read("sk"), p.read("pk")
        p.ok(*replace, preexec_fn=preexec)
        check(p.read("sk") != old[0] and p.read("pk") != old[1], "both are new")
        check_equal(sorted(os.listdir(p.directory)), ["pk", "sk"], "nothing else is left")
        p.ok(*encapsulate())
        p.ok(*decapsulate())
        check_equal(p.read("received"), p.read("sent"), "they belong together")
        for name in ("ct", "sent", "received"):
            os.unlink(p.file(name))


@case
def the_old_key_pair_is_kept(p):
    """With --force, if one of the two cannot have its name."""
    keygen(p)
    os.mkdir(p.file("keys"))
    before = snapshot(p.directory)

    def fails_as_the_folder_goes(secret, public, **options):
        process = p.start("kem", "keygen", "--set", SMALL, "--secret-key", secret, "--public-key", public, "--force", "--count", "200000", **options)
        wait_until_output_is_open(process, p.file("keys"))
        os.rmdir(p.file("keys"))
        _, err = process.communicate(timeout=120)
        check_equal(process.returncode, 16, err)
        os.mkdir(p.file("keys"))
        check_equal(snapshot(p.directory), before, "files")

    # The second cannot be named: the file replaced first is restored, and a newly created one is
    # removed.
    for public in ("pk", "new"):
        fails_as_the_folder_goes("keys/sk", public)
    # Neither of two old files can be replaced.
    filters = refuse("renameat2", errno.EINVAL), refuse("renameat", errno.EPERM)
    p.fails(16, os.strerror(errno.EPERM), "kem", "keygen", "--set", SMALL, "--secret-key", "sk", "--public-key", "pk", "--force",
            preexec_fn=lambda: [install() for install in filters])
    # If files cannot be exchanged, the secret key is renamed last, so that the old one is intact
    # if the other fails.
    fails_as_the_folder_goes("sk", "keys/pk", preexec_fn=refuse("renameat2", errno.EINVAL))


@case
def each_sync_counts(p):
    """Fails the sync of each file, then of each directory: the old pair stays in every case."""
    keygen(p)
    if not shutil.which("strace"):
        raise NotRun("strace is not here")
    before = snapshot(p.directory)
    for sync in range(1, 6):
        traced = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", f"inject=fsync:error=EIO:when={sync}", p.path, "kem", "keygen", "--set",
                                 SMALL, "--secret-key", "sk", "--public-key", "pk", "--force"],
                                cwd=p.directory, capture_output=True, start_new_session=True)
        if b"ptrace" in traced.stderr:
            raise NotRun("no ptrace here")
        if sync == 5:
            check_equal(traced.returncode, 0, "there are four")
            check(snapshot(p.directory) != before, "both are new")
            continue
        check_equal(traced.returncode, 16, traced.stderr)
        check_equal(snapshot(p.directory), before, f"files after sync {sync} has failed")


@case
def each_close_counts(p):
    """The file has its name by then: the old pair still comes back. The file kept aside is never
    mistaken for a temporary."""
    keygen(p)
    command = ["kem", "keygen", "--set", SMALL, "--secret-key", "sk", "--public-key", "pk", "--force"]
    for output in (3, 4):  # the syncs of the directories are the third and the fourth
        code, err, calls = with_fault(p, "close", 10_000, command)
        check_equal(code, 0, err)
        exchanges = [line for line in calls if "RENAME_EXCHANGE" in line]
        check_equal(len(exchanges), 2, "exchanged files")
        if sees_into_programs():  # other processes cannot read the program's strings
            check(all(".old" in line and ".tmp" not in line for line in exchanges), f"what stands aside: {exchanges}")
        sync = [number for number, line in enumerate(calls) if line.startswith("fsync(")][output - 1]
        before = snapshot(p.directory)
        code, err, _ = with_fault(p, "close", 1 + sum(line.startswith("close(") for line in calls[:sync]), command)
        check_equal(code, 16, err)
        check("cannot close" in err and "The old file is back" in err, err)
        check_equal(snapshot(p.directory), before, f"files after close {output - 2} has failed")


@case
def names_of_outputs(p):
    keygen(p)
    p.ok(*encapsulate())
    before = snapshot(p.directory)
    for call in (("kem", "keygen", "--set", SMALL, "--secret-key", "", "--public-key", "x"),
                 ("kem", "keygen", "--set", SMALL, "--secret-key", "x", "--public-key", ""),
                 encapsulate(ss=""), encapsulate(ct=""), decapsulate(ss="")):
        result = p.fails(2, "it names no file", *call)
        check_equal(result.out, b"", "nothing is printed")
    # Another name of standard output is the same pipe.
    for other in ("-", "/dev/stdout", "/dev/fd/1"):
        result = p.fails(2, "are the same", "kem", "keygen", "--set", SMALL, "--secret-key", "/dev/stdout", "--public-key", other)
        check_equal(result.out, b"", "nothing is printed")
    p.fails(2, "are the same", *encapsulate(ct="/dev/stdout", ss="-"))
    p.ok("kem", "keygen", "--set", SMALL, "--secret-key", "/dev/null", "--public-key", "/dev/null")
    check_equal(snapshot(p.directory), before, "files")


main()
