"""What the commands read: the input's first bytes, the streams that inputs and keys share, and options of other formats."""

import base64
import os
import resource
import socket
import subprocess

import kit
from program import case, check, check_equal, main, some_bytes

TEXT = b"some text"


def identity(p):
    p.ok("-q", "keygen", "--age", "-o", "identity")
    return p.ok("keygen", "-y", "identity").out.decode().strip()


def under_passphrase(p, *options):
    """Returns an age file and the options that open it without naming its format."""
    p.write("passphrase", b"correct horse battery\n", 0o600)
    secret = ["--passphrase-file", "passphrase"]
    return p.ok("encrypt", "--format", "age", *options, *secret, input=TEXT).out, secret


@case
def pipes_and_sockets_are_recognised(p):
    sealed, secret = under_passphrase(p)
    armored, _ = under_passphrase(p, "-a")
    for content in (sealed, b" \n\t" * 300 + b"\n" + armored):
        os.mkfifo(p.file("pipe"))
        process = p.start("decrypt", *secret, "pipe")
        with open(p.file("pipe"), "wb") as pipe:
            pipe.write(content)
        out, err = process.communicate(timeout=60)
        check_equal((process.returncode, out), (0, TEXT), err.decode())
        os.remove(p.file("pipe"))
        check_equal(p.ok("decrypt", *secret, "/dev/stdin", input=content).out, TEXT, "/dev/stdin")
        ours, theirs = socket.socketpair()
        with theirs:
            process = p.start("decrypt", *secret, stdin=theirs)
        with ours:
            ours.sendall(content[:5])
            ours.sendall(content[5:])
            ours.shutdown(socket.SHUT_WR)
            out, err = process.communicate(timeout=60)
        check_equal((process.returncode, out), (0, TEXT), err.decode())


@case
def white_space_without_end_is_no_age_file(p):
    _, secret = under_passphrase(p)
    process = p.start("decrypt", *secret, stdin=subprocess.PIPE)
    try:
        while True:
            process.stdin.write(b" " * 4096)
    except BrokenPipeError:
        pass
    check_equal(process.wait(timeout=60), 15, "exit code while the writer is still there")
    check(b"not a Warpseal file" in process.stderr.read(), "the message")
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass


@case
def options_of_other_formats_are_refused(p):
    recipient = identity(p)
    key = p.key()
    p.write("sealed", p.ok("encrypt", "--format", "age", "-r", recipient, input=TEXT).out)
    for words, options in (("--key-command", ("--key-command", f"cat {key}")), ("--aad", ("--aad", "00")), ("--segment-bytes", ("--segment-bytes", "4096"))):
        p.fails(2, words, "encrypt", "--format", "age", "-r", recipient, *options, input=TEXT)
    for words, options in (("-r, -R and -j go with", ("-r", recipient, "--format", "floe")), ("-r, -R and -j go with", ("-r", recipient, "--format", "cobblestone")),
                           ("-a goes with age files only", ("-a", "-r", recipient, "--format", "warpseal"))):
        p.fails(2, words, "encrypt", "-k", key, *options, input=TEXT)
    for words, options in (("--key-command", ("-i", "identity", "--key-command", f"cat {key}")), ("--aad", ("-i", "identity", "--aad", "00")),
                           ("--cipher", ("-i", "identity", "-c", "aes-256-cbc")), ("-i goes with Warpseal and age files", ("-i", "identity", "--format", "floe", "-k", key)),
                           ("-j goes with Warpseal and age files", ("-j", "some", "--format", "floe", "-k", key)),
                           ("-k goes with Warpseal files", ("-i", "identity", "-k", key)), ("-k goes with Warpseal files", ("-k", key))):
        p.fails(2, words, "decrypt", *options, "sealed")
    for secret in (("-k", key), ("-i", "identity")):
        p.fails(15, "not a Warpseal file", "decrypt", "--format", "warpseal", *secret, "sealed")


@case
def keys_and_input_do_not_share_a_stream(p):
    recipient = identity(p)
    line = f"{recipient}\n".encode()
    for path in ("-", "/dev/stdin"):
        p.fails(2, f"-R {path} and the input", "encrypt", "--format", "age", "-R", path, input=line)
    for path in ("-", "/dev/stdin"):
        p.fails(2, f"-i {path} and the input", "decrypt", "-i", path, input=p.read("identity"))
    p.write("text", TEXT)
    for path in ("-", "/dev/stdin"):
        sealed = p.ok("encrypt", "--format", "age", "-R", path, "text", input=line).out
        check_equal(p.ok("decrypt", "-i", "identity", input=sealed).out, TEXT, f"-R {path}")
    p.write("sealed", sealed)
    check_equal(p.ok("decrypt", "-i", "-", "sealed", input=p.read("identity")).out, TEXT, "-i -")
    check_equal(p.ok("keygen", "-y", "-", input=p.read("identity")).out, line, "keygen -y -")
    p.fails(2, "line 1 of the identity file on standard input", "decrypt", "-i", "-", "sealed", input=b"hunter2")
    with open(p.file("identity"), "rb") as file:
        p.fails(2, "same file", "decrypt", "-f", "-i", "-", "sealed", "-o", "identity", stdin=file)
    p.write("list", line)
    sealed = p.ok("encrypt", "--format", "age", "-R", "list", "list").out
    check_equal(p.ok("decrypt", "-i", "identity", input=sealed).out, line, "a list encrypted to itself")
    with open(p.file("list"), "rb") as file:
        p.fails(2, "same file", "encrypt", "--format", "age", "-f", "-R", "-", "text", "-o", "list", stdin=file)


@case
def files_of_keys_as_editors_write_them(p):
    recipient = identity(p)
    p.write("list", b"\xef\xbb\xbf# mine\r\n\r\n" + recipient.encode() + b"\r\n")
    sealed = p.ok("encrypt", "--format", "age", "-R", "list", input=TEXT).out
    p.write("marked", b"\xef\xbb\xbf" + p.read("identity").replace(b"\n", b"\r\n"), 0o600)
    check_equal(p.ok("decrypt", "-i", "marked", input=sealed).out, TEXT, "what comes out")
    p.fails(16, ["identity file '.'", "directory"], "decrypt", "-i", ".", input=sealed)


@case
def a_reader_that_went_away_is_told_apart_from_no_output(p):
    recipient = identity(p)
    p.write("sealed", p.ok("encrypt", "--format", "age", "-r", recipient, input=some_bytes(3 * 1024 * 1024)).out)
    process = p.start("decrypt", "-i", "identity", "sealed")
    check_equal(len(process.stdout.read(10)), 10, "bytes read")
    process.stdout.close()
    err = process.stderr.read().decode()
    check_equal(process.wait(timeout=60), 16, err)
    check("is not the whole file" in err, err)


def within_memory(mebibytes):
    """Returns a function that bounds the memory of the program to be started."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20,) * 2)


@case
def a_high_work_factor_is_announced(p):
    _, secret = under_passphrase(p)
    for cost, words in ((20, None), (21, "needs 2.0 GiB of memory for scrypt"), (22, "needs 4.0 GiB of memory for scrypt")):
        stanza = f"-> scrypt {'A' * 22} {cost}\n{'A' * 43}\n--- {'A' * 43}\n"
        p.write("costly", b"age-encryption.org/v1\n" + stanza.encode() + bytes(32))
        result = p.fails(1, ["out of memory", "for scrypt", "Nothing was written"], "decrypt", *secret, "costly", preexec_fn=within_memory(512))
        check_equal(len(result.err.splitlines()), 2 if words else 1, "lines")
        check(words is None or words in result.err.splitlines()[0], result.err)
    p.write("costly", p.read("costly").replace(b" 22\n", b" 23\n"))
    p.fails(17, "work", "decrypt", *secret, "costly")


@case
def little_memory_ends_with_a_message(p):
    recipient = identity(p)
    text = some_bytes(6 * 1024 * 1024)
    p.write("text", text)
    for mebibytes in range(30, 230, 20):
        for output in ([], ["-o", "sealed", "-f"]):
            result = p.run("encrypt", "--format", "age", "--threads", "64", "-r", recipient, "text", *output, preexec_fn=within_memory(mebibytes))
            check(result.code == 0 or (result.code == 1 and any(text in result.err for text in ("out of memory", "cannot start a thread"))), f"{mebibytes} MiB: exit code {result.code}: {result.err}")
            if result.code == 0:
                sealed = result.out or p.read("sealed")
                check_equal(p.ok("decrypt", "-i", "identity", input=sealed).out, text, f"sealed in {mebibytes} MiB")


def with_header(stanzas):
    return b"age-encryption.org/v1\n" + stanzas + b"--- " + b"A" * 43 + b"\n" + bytes(32)


def body_of(size):
    text = base64.b64encode(bytes(size)).rstrip(b"=")
    return b"".join(text[at:at + 64] + b"\n" for at in range(0, len(text) + 1, 64))


@case
def headers_at_the_limits(p):
    """At a limit the header is read, and nothing in it is for the identity. Memory is bounded."""
    identity(p)
    rest = len(with_header(b"")) - 32
    longest = b"-> " + b"a" * (2**20 - rest - 5) + b"\n\n"
    check_equal(len(with_header(longest)) - 32, 2**20, "bytes of the longest header")
    arguments = b"->" + b" a" * ((2**20 - rest - 4) // 2) + b"\n\n"
    share = base64.b64encode(bytes([9]) + bytes(31)).rstrip(b"=")
    for code, words, stanzas in ((12, "no identity", longest), (17, "1048576 bytes", longest[:-2] + b"a\n\n"), (12, "no identity", arguments),
                                 (12, "no identity", b"-> a\n\n" * 1024), (17, "1024 stanzas", b"-> a\n\n" * 1025),
                                 (12, "no identity", b"-> a\n" + body_of(65536)), (17, "65536 bytes", b"-> a\n" + body_of(65537)),
                                 (17, "stanzas", b"-> a\n\n" * (2**20 // 6)), (17, "65536 bytes", b"-> a\n" + body_of(800_000)),
                                 (12, "no identity", (b"-> X25519 " + share + b"\n" + body_of(32)) * 1024)):
        p.write("sealed", with_header(stanzas))
        for command in ("decrypt", "verify"):
            p.fails(code, words, command, "-i", "identity", "--threads", 1, "sealed", preexec_fn=within_memory(400))
    p.write("sealed", with_header(longest[:-2] + b"a\n\n"))
    p.fails(17, "1048576 bytes", "info", "sealed")


@case
def a_header_without_end(p):
    identity(p)
    for begin, more in ((b"-> a", b"a"), (b"-> a\n", b"A" * 64 + b"\n"), (b"", b"-> a\n\n")):
        process = p.start("decrypt", "-i", "identity", "--format", "age", stdin=subprocess.PIPE)
        try:
            process.stdin.write(b"age-encryption.org/v1\n" + begin)
            while True:
                process.stdin.write(more * 4000)
        except BrokenPipeError:
            pass
        check_equal(process.wait(timeout=60), 17, "exit code while the writer is still there")
        check(b"header has" in process.stderr.read(), "the message")


if __name__ == "__main__":
    main()
