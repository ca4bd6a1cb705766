"""Raw data with a tag: nothing is released before it is verified, even if the input changes
meanwhile."""

import os
import signal

from program import NotRun, case, check, check_equal, main, some_bytes, wait_until
from raw_data import MIB, TAG, iv_for, key_file, need, raw


@case
def a_changed_tag_releases_nothing(p):
    for mode in ("gcm", "ccm"):
        row = need(p, "aes-256", mode)
        iv = iv_for(row, mode)
        key_file(p, some_bytes(32))
        p.write("plain", some_bytes(50_000))
        p.write("aad", b"beside")
        raw(p, "encrypt", f"aes-256-{mode}", iv, "--aad-file", "aad", "plain", "-o", f"sealed-{mode}")
        sealed = p.read(f"sealed-{mode}")
        check_equal(len(sealed), 50_000 + TAG, "length")
        common = ["raw", "decrypt", "-c", f"aes-256-{mode}", "--key-file", "key", "--iv", iv.hex()]
        for at in (0, 25_000, 49_999, 50_000, -1):
            changed = bytearray(sealed)
            changed[at] ^= 1
            p.write("changed", bytes(changed))
            p.fails(13, mode, *common, "--aad-file", "aad", "changed", "-o", "opened")
            check_equal(p.run(*common, "--aad-file", "aad", input=bytes(changed)).out, b"", "what is released")
        p.fails(13, mode, *common, f"sealed-{mode}", "-o", "opened")  # without its AAD
        p.write("short", sealed[:15])
        p.fails(14, "tag", *common, "short", "-o", "opened")
        p.ok(*common, "--aad-file", "aad", f"sealed-{mode}", "-o", f"opened-{mode}")
        check_equal(p.read(f"opened-{mode}"), p.read("plain"), "opened")
        empty = raw(p, "encrypt", f"aes-256-{mode}", iv, input=b"")
        check_equal(len(empty.out), TAG, "an empty message")
        check_equal(raw(p, "decrypt", f"aes-256-{mode}", iv, input=empty.out).out, b"", "opened")


@case
def aad_from_standard_input(p):
    row = need(p, "aes-128", "gcm")
    key_file(p, some_bytes(16))
    p.write("plain", some_bytes(1000))
    p.write("aad", b"beside")
    common = ["-c", "aes-128-gcm", "--key-file", "key", "--iv", iv_for(row, "gcm").hex(), "plain"]
    sealed = p.ok("raw", "encrypt", *common, "--aad-file", "-", input=b"beside")
    check_equal(sealed.out, p.ok("raw", "encrypt", *common, "--aad-file", "aad").out, "sealed")


@case
def from_a_named_pipe(p):
    """Its length is not known before its end."""
    for mode in ("gcm", "ccm"):
        row = need(p, "aes-128", mode)
        key_file(p, some_bytes(16))
        text, iv = some_bytes(3 * MIB + 5), iv_for(row, mode)
        sealed = raw(p, "encrypt", f"aes-128-{mode}", iv, input=text).out
        os.mkfifo(p.file("pipe"))
        process = p.start("raw", "decrypt", "-c", f"aes-128-{mode}", "--key-file", "key", "--iv", iv.hex(), "pipe", "-o", f"opened-{mode}")
        with open(p.file("pipe"), "wb") as pipe:
            pipe.write(sealed)
        _, err = process.communicate(timeout=60)
        check_equal(process.returncode, 0, err)
        check(p.read(f"opened-{mode}") == text, "opened")
        os.remove(p.file("pipe"))


def stopped_in(p, file, name, *arguments):
    """Starts a decryption of an open file and stops it in `name`, after reading part or all of it.
    The parent reads the offset from its own descriptor of the file."""
    size = os.fstat(file.fileno()).st_size
    process = p.start("raw", "decrypt", *arguments, "--device", "portable", "--threads", 1, "-o", "opened", stdin=file)
    wait_until(lambda: file.tell() > 0 if name == "some" else file.tell() == size, f"{name} of it is read")
    process.send_signal(signal.SIGSTOP)
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
        state = stat.read().rpartition(")")[2].split()[0]
    if state == "Z" or (name == "some" and file.tell() == size):
        process.kill()
        process.communicate()
        raise NotRun("read faster than it could be stopped")
    return process


@case
def a_file_that_changes_its_length(p):
    row = need(p, "aes-128", "gcm")
    key_file(p, some_bytes(16))
    size = 512 * MIB
    for change in (size // 2, size + 1):
        with open(p.file("sealed"), "wb") as file:
            file.truncate(size)
        with open(p.file("sealed"), "rb", buffering=0) as file:
            process = stopped_in(p, file, "some", "-c", "aes-128-gcm", "--key-file", "key", "--iv", iv_for(row, "gcm").hex())
            os.truncate(p.file("sealed"), change)
            process.send_signal(signal.SIGCONT)
            _, err = process.communicate(timeout=60)
        check_equal(process.returncode, 16, err)
        check(b"changed its length" in err, err)
        check(not os.path.exists(p.file("opened")), "an output")


@case
def a_file_that_changes_after_it_was_read(p):
    """The checked bytes are the released ones: the file's original text, though it was overwritten
    before the work was done."""
    row = need(p, "aes-128", "gcm")
    key_file(p, some_bytes(16))
    text, iv = some_bytes(48 * MIB), iv_for(row, "gcm")
    p.write("plain", text)
    raw(p, "encrypt", "aes-128-gcm", iv, "plain", "-o", "sealed")
    with open(p.file("sealed"), "rb", buffering=0) as file:
        process = stopped_in(p, file, "all", "-c", "aes-128-gcm", "--key-file", "key", "--iv", iv.hex())
        p.write("sealed", bytes(48 * MIB + TAG))
        check(not os.path.exists(p.file("opened")), "an output exists too early for this test")
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=120)
    check_equal(process.returncode, 0, err)
    check(p.read("opened") == text, "a different text was released")


main()
