"""Exposure of a running program: core files, /proc, swap, and how long it holds a key file's and a
passphrase's bytes."""

import os
import pathlib
import resource
import subprocess
import time

from program import NotRun, case, check, check_equal, main, sees_into_programs, some_bytes, wait_until, wait_until_signals_are_watched

FRONT = 61496  # docs/file-format.md: the bytes before the first chunk
NOBODY = 65534
SSH_KEYS = pathlib.Path(__file__).resolve().parent.parent / "vectors/age/ssh"
WORD = b"a passphrase to search the memory for"


def mappings(process, name):
    """Returns (begin, end, backing file) of each writable mapping."""
    found = []
    with open(f"/proc/{process.pid}/{name}", encoding="ascii", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if len(words) >= 5 and "-" in words[0] and len(words[1]) == 4:
                begin, end = (int(part, 16) for part in words[0].split("-"))
                found.append((begin, end, words[1], []))
            else:
                found[-1][3].extend(words[1:] if words[0] == "VmFlags:" else [])
    return [(begin, end, flags) for begin, end, access, flags in found if access.startswith("rw")]


def addresses(process, secret):
    """Returns the addresses of the secret in the program's memory."""
    if not sees_into_programs():
        raise NotRun("only a process that sees into programs that are not dumpable can read its memory")
    found = []
    with open(f"/proc/{process.pid}/mem", "rb", buffering=0) as memory:
        for begin, end, _ in mappings(process, "maps"):
            if end - begin > 1 << 30:  # a sanitizer's shadow memory
                continue
            try:
                memory.seek(begin)
                content = memory.read(end - begin)
            except OSError:
                continue
            at = content.find(secret)
            while at >= 0:
                found.append(begin + at)
                at = content.find(secret, at + 1)
    return found


def waiting_for_input(p, *arguments, **options):
    process = p.start(*arguments, stdin=subprocess.PIPE, **options)
    wait_until_signals_are_watched(process)
    return process


@case
def no_core_file(p):
    p.key()
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if most == 0:
        raise NotRun("core files are off here already")
    process = waiting_for_input(p, "decrypt", "-k", "key",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)))
    check_equal(resource.prlimit(process.pid, resource.RLIMIT_CORE), (0, 0), "the limit of core files")
    process.communicate()


def owner_in_proc(process):
    return os.stat(f"/proc/{process.pid}/mem").st_uid


@case
def others_of_the_same_user_cannot_read_its_memory(p):
    """A process that is not dumpable belongs to root in /proc and cannot be attached to
    (PR_SET_DUMPABLE in prctl(2)). It writes no core to a pipe either."""
    p.key()
    as_user = {}
    user = os.geteuid()
    if user == 0:
        user = NOBODY
        as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for name in [p.directory, p.file("key")]:
            os.chown(name, NOBODY, NOBODY)
        if subprocess.run(["test", "-x", p.path], check=False, **as_user).returncode != 0:
            raise NotRun("no other user can run the program at its path")
    process = waiting_for_input(p, "decrypt", "-k", "key", "-o", "out", **as_user)
    other = subprocess.Popen(["sleep", "60"], **as_user)
    wait_until(lambda: owner_in_proc(other) == user, "another program is the user's")
    check_equal(owner_in_proc(process), 0, "the owner of the program's memory")
    reading = ["head", "-c", "1", f"/proc/{process.pid}/mem"]
    said = subprocess.run(reading, check=False, capture_output=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]}, **as_user).stderr
    check(b"Permission denied" in said, f"the memory can be opened: {said!r}")
    other.kill()
    other.wait()
    # The program's own use of /proc to name its output still works.
    process.communicate()
    plain = p.run("-q", "encrypt", "-k", "key", "-o", "sealed", input=b"text", **as_user)
    check_equal((plain.code, os.path.exists(p.file("sealed"))), (0, True), plain.err)


def both_secrets(p):
    """Makes a file that opens with a key file or a passphrase, and the options that give both."""
    p.write("word", WORD + b"\n", 0o600)
    p.key()
    p.write("plain", some_bytes(300_000))
    options = ["-k", "key", "--passphrase-file", "word"]
    p.ok("encrypt", *options, "--argon2-memory", 8, "--argon2-passes", 1, "plain", "-o", "sealed")
    return options, {"key file": p.read("key"), "passphrase": WORD}


@case
def secrets_lie_in_locked_pages(p):
    options, secrets = both_secrets(p)
    process = waiting_for_input(p, "decrypt", *options)
    for name, secret in secrets.items():
        wait_until(lambda: addresses(process, secret), f"the {name} was read")
        for address in addresses(process, secret):
            flags = next(flags for begin, end, flags in mappings(process, "smaps") if begin <= address < end)
            check("lo" in flags and "dd" in flags, f"the {name} is in a page that is not locked, or is in core files: {flags}")
    process.communicate(p.read("sealed"), timeout=60)


@case
def raw_text_is_in_no_core_file(p):
    """`raw` holds a whole message: it is found while the program waits for the reader of its output."""
    p.write("raw.key", some_bytes(32), 0o600)
    text = some_bytes(1 << 20)
    p.write("plain", text)
    options = ["-c", "aes-256-gcm", "-k", "raw.key", "--iv", "00" * 12]
    p.ok("raw", "encrypt", *options, "plain", "-o", "sealed")
    process = p.start("raw", "decrypt", *options, "sealed", stdout=subprocess.PIPE)
    wait_until(lambda: addresses(process, text[-64:]), "the text is decrypted")
    for address in addresses(process, text[-64:]):
        flags = next(flags for begin, end, flags in mappings(process, "smaps") if begin <= address < end)
        check("dd" in flags, f"the text is in core files: {flags}")
    check_equal(process.communicate(timeout=60)[0], text, "the text")
    check_equal(process.returncode, 0, "exit code")


@case
def secrets_are_zeroized_after_the_header_is_read(p):
    options, secrets = both_secrets(p)
    process = waiting_for_input(p, "decrypt", *options)
    for name, secret in secrets.items():
        wait_until(lambda: addresses(process, secret), f"the {name} was read")
    process.stdin.write(p.read("sealed")[:FRONT])
    process.stdin.flush()
    for name, secret in secrets.items():
        wait_until(lambda: not addresses(process, secret), f"the {name} is gone while the file is still to come")
    out, err = process.communicate(p.read("sealed")[FRONT:], timeout=60)
    check_equal((process.returncode, out == p.read("plain")), (0, True), err)


@case
def passphrases_are_copied_for_locked_keys_alone(p):
    options, secrets = both_secrets(p)
    word = secrets["passphrase"]
    for name, copies in (("ed25519", 1), ("locked", 2)):
        p.write(name, (SSH_KEYS / name).read_bytes(), 0o600)
        process = waiting_for_input(p, "decrypt", *options, "-i", name)
        wait_until(lambda: len(addresses(process, word)) >= copies, "the passphrase was read")
        time.sleep(0.5)  # in which no more copies are made
        found = addresses(process, word)
        check_equal(len(found), copies, f"copies with {name}")
        for address in found:
            flags = next(flags for begin, end, flags in mappings(process, "smaps") if begin <= address < end)
            check("dd" in flags, f"a copy is in core files: {flags}")
        process.stdin.write(p.read("sealed")[:FRONT])
        process.stdin.flush()
        wait_until(lambda: not addresses(process, word), "the passphrase is gone while the file is still to come")
        out, err = process.communicate(p.read("sealed")[FRONT:], timeout=60)
        check_equal((process.returncode, out == p.read("plain")), (0, True), err)


@case
def secrets_are_zeroized_after_the_header_is_written(p):
    options, secrets = both_secrets(p)
    process = waiting_for_input(p, "encrypt", *options, "--argon2-memory", 8, "--argon2-passes", 1)
    check_equal(len(process.stdout.read(FRONT)), FRONT, "the bytes before the first chunk")
    for name, secret in secrets.items():
        wait_until(lambda: not addresses(process, secret), f"the {name} is gone while the text is still to come")
    process.communicate(b"text", timeout=60)
    check_equal(process.returncode, 0, "exit code")


main()
