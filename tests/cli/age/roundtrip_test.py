"""Files that the program writes, and what it refuses when writing and opening them."""

import os
import subprocess

import kit
from program import case, check, check_equal, main, some_bytes

SIZES = (0, 1, 65535, 65536, 65537, 16 * 65536, 16 * 65536 + 1, 5 * 1024 * 1024 + 17)


def identity(p, name="identity", *options):
    """Makes an identity file and returns its recipient."""
    p.ok("-q", "keygen", "--age", *options, "-o", name)
    return p.ok("keygen", "-y", name).out.decode().strip()


def passphrase(p, text=b"correct horse battery"):
    p.write("passphrase", text + b"\n", 0o600)
    return ["--passphrase-file", "passphrase"]


@case
def sizes_files_and_pipes(p):
    recipient = identity(p)
    for size in SIZES:
        text = some_bytes(size, size)
        p.write("text", text)
        p.ok("encrypt", "--format", "age", "-f", "-r", recipient, "text", "-o", "text.age")
        check(p.read("text.age").startswith(b"age-encryption.org/v1\n-> X25519 "), "the header's beginning")
        p.ok("decrypt", "-f", "-i", "identity", "text.age", "-o", "opened")
        check_equal(p.read("opened"), text, f"{size} bytes through files")
        check_equal(os.stat(p.file("opened")).st_mode & 0o777, 0o600, "mode of the plaintext")
        sealed = p.ok("encrypt", "--format", "age", "-r", recipient, input=text).out
        header_bytes = sealed.index(b"\n--- ") + 49
        check_equal(len(sealed), header_bytes + 16 + size + 16 * max(1, -(-size // 65536)), f"length of {size} bytes sealed")
        check_equal(p.ok("decrypt", "-i", "identity", input=sealed).out, text, f"{size} bytes through pipes")
        p.ok("verify", "-i", "identity", "text.age")


@case
def every_number_of_threads(p):
    recipient = identity(p)
    text = some_bytes(3 * 1024 * 1024 + 5)
    for threads in ("1", "2", "7"):
        sealed = p.ok("--quiet", "encrypt", "--format", "age", "--threads", threads, "-r", recipient, input=text).out
        check_equal(p.ok("decrypt", "--threads", threads, "-i", "identity", input=sealed).out, text, f"{threads} threads")


@case
def standard_input_from_its_position_on(p):
    recipient = identity(p)
    text = some_bytes(2 * 1024 * 1024 + 9)
    p.write("text", b"before" + text)
    before = b"x" * 100
    for output in ([], ["-o", "sealed"]):
        with open(p.file("text"), "rb", buffering=0) as file:
            file.seek(6)
            sealed = p.ok("encrypt", "--format", "age", "-f", "-r", recipient, *output, stdin=file).out or p.read("sealed")
        p.write("shifted", before + sealed)
        with open(p.file("shifted"), "rb", buffering=0) as file:
            file.seek(len(before))
            check_equal(p.ok("decrypt", "-i", "identity", stdin=file).out, text, "what comes out")
        with open(p.file("shifted"), "rb", buffering=0) as file:
            file.seek(len(before))
            p.ok("decrypt", "-f", "-i", "identity", "-o", "opened", stdin=file)
        check_equal(p.read("opened"), text, "what is in the file")


@case
def several_recipients_and_files_of_them(p):
    recipients = [identity(p, name) for name in ("a", "b", "c")]
    p.write("list", f"# two\n\n{recipients[1]}\r\n{recipients[2]}\n".encode())
    sealed = p.ok("encrypt", "--format", "age", "-r", recipients[0], "-R", "list", input=b"text").out
    for name in ("a", "b", "c"):
        check_equal(p.ok("decrypt", "-i", name, input=sealed).out, b"text", name)
    identity(p, "other")
    check_equal(p.ok("decrypt", "-i", "other", "-i", "c", input=sealed).out, b"text", "two identity files")
    p.write("both", p.read("other") + p.read("c"), 0o600)
    check_equal(p.ok("decrypt", "-i", "both", input=sealed).out, b"text", "two identities in a file")
    p.fails(12, "no identity or passphrase opens it", "decrypt", "-i", "other", input=sealed)


@case
def armor(p):
    recipient = identity(p)
    for size in SIZES:
        text = some_bytes(size, size)
        sealed = p.ok("encrypt", "--format", "age", "-a", "-r", recipient, input=text).out
        lines = sealed.decode().splitlines()
        check_equal(lines[0], "-----BEGIN AGE ENCRYPTED FILE-----", "the first line")
        check_equal(lines[-1], "-----END AGE ENCRYPTED FILE-----", "the last line")
        check(all(len(line) == 64 for line in lines[1:-2]) and 0 < len(lines[-2]) <= 64, "length of the lines")
        check_equal(p.ok("decrypt", "-i", "identity", input=sealed).out, text, f"{size} bytes in an armor")
    p.write("armored", b"\n \n" + sealed.replace(b"\n", b"\r\n") + b"\n")
    check_equal(p.ok("decrypt", "-i", "identity", "armored").out, text, "an armor in white space")


@case
def passphrases(p):
    options = passphrase(p)
    sealed = p.ok("encrypt", "--format", "age", *options, input=b"text").out
    check(b"\n-> scrypt " in sealed, "the stanza")
    p.write("sealed", sealed)
    check_equal(p.ok("decrypt", *options, "sealed").out, b"text", "a file is recognised")
    check_equal(p.ok("decrypt", *options, input=sealed).out, b"text", "a pipe is recognised")
    p.write("other", b"another one\n", 0o600)
    p.fails(12, "no identity or passphrase opens it", "decrypt", "--passphrase-file", "other", "sealed")
    identity(p)
    p.fails(12, "it opens with a passphrase", "decrypt", "-i", "identity", "sealed")
    p.fails(2, "give -i IDENTITYFILE", "decrypt", input=p.ok("encrypt", "--format", "age", "-r", p.ok("keygen", "-y", "identity").out.decode().strip(), input=b"").out)
    p.fails(2, "not both", "encrypt", "--format", "age", "-r", "age1", *options, input=b"")
    p.fails(2, "no recipient and no passphrase", "encrypt", "--format", "age", input=b"")


@case
def post_quantum(p):
    recipient = identity(p, "identity", "--post-quantum")
    check(recipient.startswith("age1pq1") and len(recipient) == 1959, "the recipient")
    check(b"\nAGE-SECRET-KEY-PQ-1" in p.read("identity"), "the identity")
    sealed = p.ok("encrypt", "--format", "age", "-r", recipient, input=b"text").out
    check(b"\n-> mlkem768x25519 " in sealed, "the stanza")
    check_equal(p.ok("decrypt", "-i", "identity", input=sealed).out, b"text", "what comes out")
    classic = identity(p, "classic")
    p.fails(12, "no identity", "decrypt", "-i", "classic", input=sealed)
    p.fails(2, ["-r 2 is not post-quantum", "age1pq1"], "encrypt", "--format", "age", "-r", recipient, "-r", classic, input=b"")


@case
def recognised_in_slow_pipes(p):
    recipient = identity(p)
    sealed = p.ok("encrypt", "--format", "age", "-r", recipient, input=b"text").out
    options = passphrase(p)
    process = subprocess.Popen([p.path, "decrypt", *options], cwd=p.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for byte in sealed[:30]:
        process.stdin.write(bytes([byte]))
        process.stdin.flush()
    _, err = process.communicate(sealed[30:], timeout=60)
    check_equal(process.returncode, 12, err.decode())


@case
def every_changed_byte_is_refused(p):
    recipient = identity(p)
    sealed = p.ok("encrypt", "--format", "age", "-r", recipient, input=b"some text").out
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 1
        result = p.run("decrypt", "--format", "age", "-i", "identity", input=bytes(changed))
        check(result.code in (12, 13, 14, 15), f"byte {at}: exit code {result.code}: {result.err}")
        check_equal(result.out, b"", f"byte {at}: what came out")
    for length in range(len(sealed)):
        result = p.run("decrypt", "--format", "age", "-i", "identity", input=sealed[:length])
        check(result.code in (13, 14, 15), f"{length} bytes: exit code {result.code}: {result.err}")
        check_equal(result.out, b"", f"{length} bytes: what came out")
    p.fails(13, "", "decrypt", "-i", "identity", input=sealed + b"\0")


@case
def damaged_chunks_leave_an_exact_prefix(p):
    recipient = identity(p)
    text = some_bytes(40 * 65536)
    sealed = p.ok("encrypt", "--format", "age", "-r", recipient, input=text).out
    start = len(sealed) - 40 * 65552
    for chunk in (0, 1, 15, 16, 33, 39):
        changed = bytearray(sealed)
        changed[start + chunk * 65552 + 100] ^= 128
        result = p.run("decrypt", "--format", "age", "-i", "identity", input=bytes(changed))
        check_equal(result.code, 13, result.err)
        check_equal(result.out, text[:chunk * 65536], f"the prefix before chunk {chunk}")
        if chunk:
            check("is not the whole file" in result.err, result.err)
        p.write("changed", bytes(changed))
        p.fails(13, "Nothing was written to 'plain'", "decrypt", "-i", "identity", "changed", "-o", "plain")
        p.fails(26, "a chunk of its payload was changed", "verify", "-i", "identity", "changed")
    swapped = sealed[:start] + sealed[start + 65552:start + 2 * 65552] + sealed[start:start + 65552] + sealed[start + 2 * 65552:]
    check_equal(p.run("decrypt", "-i", "identity", input=swapped).out, b"", "two chunks changed places")
    cut = p.run("decrypt", "-i", "identity", input=sealed[:start + 20 * 65552])
    check_equal((cut.code, cut.out), (14, text[:20 * 65536]), "a file cut between chunks")


if __name__ == "__main__":
    main()
