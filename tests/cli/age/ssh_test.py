"""SSH keys as recipients and identities: OpenSSH's format and PEM, and what is refused."""

import base64
import os
import re
import resource
import shutil
import struct
import subprocess
import sys

import kit

sys.path.insert(0, os.path.join(os.path.dirname(kit.HERE), "support"))
from terminal import Terminal
from program import NotRun, case, check, check_equal, main, some_bytes

KEYS = os.path.join(kit.VECTORS, "ssh")
# Names of public key, private key and stanza.
PAIRS = (("ed25519.pub", "ed25519", "ssh-ed25519"), ("rsa.pub", "rsa", "ssh-rsa"), ("rsa-pkcs1.pub", "rsa-pkcs1", "ssh-rsa"), ("rsa-pkcs1.pub", "rsa-pkcs8", "ssh-rsa"))
ECDSA = ("ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBOWKCEdtDLUpIgUjfC5vXjm8MyeCQZl1SHoiM8xwBlfCo5LJ"
         "fPRqvHFWWpU7T2ZyUjkjmTPx2XBx3JKr3yzbPMY= who@where")
TEXT = b"some text"


def key(p, name):
    """Copies a stored key into the directory, private as ssh-keygen makes it, and returns its content."""
    with open(os.path.join(KEYS, name), "rb") as file:
        content = file.read()
    p.write(name, content, 0o644 if name.endswith(".pub") else 0o600)
    return content


def string(content):
    return struct.pack(">I", len(content)) + content


def rsa_line(modulus, exponent=65537):
    """A line of a .pub file for integers that need not be a key."""
    def integer(value):
        return string(value.to_bytes(value.bit_length() // 8 + 1, "big"))

    return "ssh-rsa " + base64.b64encode(string(b"ssh-rsa") + integer(exponent) + integer(modulus)).decode()


@case
def recipients_and_identities(p):
    for public, private, stanza in PAIRS:
        line = key(p, public).decode()
        key(p, private)
        for size in (0, 1, 65537):
            text = some_bytes(size, size)
            sealed = p.ok("encrypt", "--format", "age", "-r", line.strip(), input=text).out
            check(sealed.startswith(f"age-encryption.org/v1\n-> {stanza} ".encode()), "the stanza")
            check_equal(p.ok("decrypt", "-i", private, input=sealed).out, text, f"{size} bytes by {private}")
        check_equal(p.ok("decrypt", "-i", private, input=p.ok("encrypt", "-a", "-R", public, input=TEXT).out).out, TEXT, f"-R {public}")
        check_equal(p.ok("keygen", "-y", private).out.decode().split(), line.split()[:2], f"the recipient of {private}")
    key(p, "ed25519-pkcs8")
    recipient = p.ok("keygen", "-y", "ed25519-pkcs8").out.decode().strip()
    check_equal(p.ok("decrypt", "-i", "ed25519-pkcs8", input=p.ok("encrypt", "--format", "age", "-r", recipient, input=TEXT).out).out, TEXT, "Ed25519 in PKCS #8")


@case
def files_that_age_wrote(p):
    for name in ("ed25519", "rsa", "rsa-pkcs1"):
        key(p, name)
        sealed = key(p, f"{name}.age")
        check_equal(p.ok("decrypt", "-i", name, input=sealed).out, TEXT, f"{name}.age")
        p.ok("verify", "-i", name, f"{name}.age")


@case
def new_keys_of_ssh_keygen(p):
    if not shutil.which("ssh-keygen"):
        raise NotRun("no ssh-keygen (scripts/bootstrap)")
    for name, kind in (("new-ed25519", ["-t", "ed25519"]), ("new-rsa", ["-t", "rsa", "-b", "2048"]), ("new-pem", ["-t", "rsa", "-b", "2048", "-m", "PEM"])):
        for comment in ("", "a", "who@where") if "ed25519" in kind else ("who@where",):
            subprocess.run(["ssh-keygen", "-q", "-N", "", "-C", comment, "-f", p.file(name), *kind], check=True, stdin=subprocess.DEVNULL)
            sealed = p.ok("encrypt", "--format", "age", "-R", f"{name}.pub", input=TEXT).out
            check_equal(p.ok("decrypt", "-i", name, input=sealed).out, TEXT, f"{kind} with the comment {comment!r}")
            os.remove(p.file(name))


@case
def locked_keys(p):
    key(p, "locked")
    key(p, "ed25519")
    key(p, "locked.pub")
    sealed = key(p, "locked.age")
    p.write("word", b"correct horse\n", 0o600)
    p.write("wrong", b"battery staple\n", 0o600)
    p.fails(2, ["identity file 'locked' is under a passphrase", "--passphrase-file"], "decrypt", "-i", "locked", input=sealed)
    p.fails(12, "the passphrase does not open identity file 'locked'", "decrypt", "-i", "locked", "--passphrase-file", "wrong", input=sealed)
    check_equal(p.ok("decrypt", "-i", "locked", "--passphrase-file", "word", input=sealed).out, TEXT, "the unlocked key")
    # Its passphrase is needed only for a file that names it, if nothing else opens that.
    both = p.ok("encrypt", "--format", "age", "-R", "locked.pub", "-r", key(p, "ed25519.pub").decode(), input=TEXT).out
    for first, second in (("locked", "ed25519"), ("ed25519", "locked")):
        check_equal(p.ok("decrypt", "-i", first, "-i", second, input=both).out, TEXT, f"{first} before {second}")
    p.fails(12, "no identity or passphrase opens it", "decrypt", "-i", "locked", input=key(p, "ed25519.age"))
    check_equal(p.ok("keygen", "-y", "locked").out.decode().split(), p.read("locked.pub").decode().split()[:2], "its recipient")
    for name in ("pkcs8", "pkcs1"):
        options = ["-traditional"] if name == "pkcs1" else []
        made = subprocess.run(["openssl", "pkey", "-in", os.path.join(KEYS, "rsa-pkcs1"), "-aes256", "-passout", "pass:correct horse", *options],
                              capture_output=True, check=True, stdin=subprocess.DEVNULL)
        p.write(name, made.stdout, 0o600)
        opened = ["decrypt", "-i", name, "--passphrase-file"]
        check_equal(p.ok(*opened, "word", input=key(p, "rsa-pkcs1.age")).out, TEXT, f"{name} under a passphrase")
        p.fails(12, f"the passphrase does not open identity file '{name}'", *opened, "wrong", input=key(p, "rsa-pkcs1.age"))
        p.fails(2, [f"identity file '{name}' is under a passphrase"], "decrypt", "-i", name, input=key(p, "rsa-pkcs1.age"))
        p.fails(15, [f"identity file '{name}'", "ssh-keygen -y"], "keygen", "-y", name)


@case
def new_locked_keys_of_ssh_keygen(p):
    """All ciphers and some rounds, each with the same text for both key types."""
    if not shutil.which("ssh-keygen"):
        raise NotRun("no ssh-keygen (scripts/bootstrap)")
    p.write("wrong", b"battery staple\n", 0o600)
    number = 0
    for kind in (["-t", "ed25519"], ["-t", "rsa", "-b", "2048"]):
        for cipher, rounds in (("aes256-ctr", 1), ("aes256-ctr", 16), ("aes192-ctr", 2), ("aes128-ctr", 3), ("aes256-cbc", 5), ("aes192-cbc", 1), ("aes128-cbc", 1),
                               ("aes256-gcm@openssh.com", 1), ("aes128-gcm@openssh.com", 2), ("chacha20-poly1305@openssh.com", 1), ("3des-cbc", 1)):
            number += 1
            name, word = f"key{number}", "é" * number
            p.write("word", word.encode() + b"\n", 0o600)
            subprocess.run(["ssh-keygen", "-q", "-N", word, "-C", "x" * number, "-Z", cipher, "-a", str(rounds), "-f", p.file(name), *kind], check=True, stdin=subprocess.DEVNULL)
            sealed = p.ok("encrypt", "--format", "age", "-R", f"{name}.pub", input=TEXT).out
            opened = ["decrypt", "-i", name, "--passphrase-file"]
            if cipher in ("chacha20-poly1305@openssh.com", "3des-cbc"):
                p.fails(15, [f"'{name}'", "ssh-keygen -p -Z"], *opened, "word", input=sealed)
                continue
            check_equal(p.ok(*opened, "word", input=sealed).out, TEXT, f"{kind} {cipher} {rounds}")
            p.fails(12, f"does not open identity file '{name}'", *opened, "wrong", input=sealed)


@case
def a_locked_key_asks_and_serves_many_files(p):
    key(p, "locked")
    key(p, "locked.pub")
    p.write("word", b"correct horse\n", 0o600)
    for number in range(20):
        p.write(f"text{number}", str(number).encode())
    p.ok("encrypt", "--format", "age", "-R", "locked.pub", *[f"text{number}" for number in range(20)], "--output-dir", "sealed")
    p.ok("decrypt", "-i", "locked", "--passphrase-file", "word", "--recursive", "sealed", "--output-dir", "out")
    for number in range(20):
        check_equal(p.read(f"out/sealed/text{number}"), str(number).encode(), "a file of a run")
    terminal = Terminal(p, "decrypt", "-i", "locked", "sealed/text7.age")
    terminal.wait_for("Passphrase of identity file 'locked': ")
    terminal.type("correct horse\n")
    code, out, err = terminal.end()
    check_equal((code, out), (0, b"7"), err)


@case
def a_key_that_many_stanzas_name_is_unlocked_once(p):
    """A passphrase from a descriptor can be read once, and a derivation takes its time."""
    key(p, "locked")
    arguments, body, rest = stanza_of(key(p, "locked.age"))
    changed = bytes([body[0] ^ 1]) + body[1:]
    lines = with_stanza(arguments, changed, b"\n").split(b"\n", 1)[1]
    sealed = b"age-encryption.org/v1\n" + 50 * lines + with_stanza(arguments, body, rest).split(b"\n", 1)[1]
    p.write("word", b"correct horse\n", 0o600)
    with open(p.file("word"), "rb") as word:
        result = p.run("decrypt", "-i", "locked", "--passphrase-fd", word.fileno(), input=sealed, pass_fds=[word.fileno()])
    check_equal(result.code, 13, result.err)
    check("MAC" in result.err, result.err)


@case
def locked_keys_that_are_damaged_or_costly(p):
    content, sealed = key(p, "locked").decode(), key(p, "locked.age")
    p.write("word", b"correct horse\n", 0o600)
    binary = bytearray(base64.b64decode("".join(content.splitlines()[1:-1])))
    rounds = binary.index(b"bcrypt") + 6 + 4 + 4 + 16

    def changed(at, new):
        other = bytearray(binary)
        other[at:at + len(new)] = new
        p.write("other", b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + base64.encodebytes(other) + b"-----END OPENSSH PRIVATE KEY-----\n", 0o600)
        return ["decrypt", "-i", "other", "--passphrase-file", "word"]

    check_equal(p.ok(*changed(0, b""), input=sealed).out, TEXT, "the key put together again")
    p.fails(17, ["65537 rounds", "ssh-keygen -p -a 65536"], *changed(rounds, struct.pack(">I", 65537)), input=sealed)
    p.fails(2, "cut or damaged", *changed(rounds, struct.pack(">I", 0)), input=sealed)
    p.fails(15, "other than bcrypt", *changed(binary.index(b"bcrypt"), b"scrypt"), input=sealed)
    p.fails(12, "does not open", *changed(rounds - 1, b"?"), input=sealed)  # the salt
    p.fails(2, "cut or damaged", *changed(len(binary) - 1, bytes([binary[-1] ^ 1])), input=sealed)  # the padding


@case
def a_wrong_passphrase_does_not_end_the_search(p):
    """One passphrase is given: it may be that of any locked identity, and is read once."""
    key(p, "locked")
    locked_line = key(p, "locked.pub").decode()
    p.write("word", b"correct horse\n", 0o600)
    p.write("wrong", b"battery staple\n", 0o600)
    made = subprocess.run(["openssl", "pkey", "-in", os.path.join(KEYS, "rsa-pkcs1"), "-aes256", "-passout", "pass:battery staple"], capture_output=True, check=True, stdin=subprocess.DEVNULL)
    p.write("pem", made.stdout, 0o600)
    key(p, "ed25519")
    identity = p.ok("encrypt", "--format", "age", "--passphrase-file", "wrong", input=p.read("ed25519")).out
    p.write("within", identity, 0o600)
    # The locked key is named by a stanza in each of these, and another identity opens them.
    for other, line in (("pem", key(p, "rsa-pkcs1.pub").decode()), ("within", key(p, "ed25519.pub").decode())):
        p.write("sealed", p.ok("encrypt", "--format", "age", "-r", locked_line, "-r", line, input=TEXT).out)
        for order in (["-i", "locked", "-i", other], ["-i", other, "-i", "locked"]):
            for word in ("word", "wrong"):
                check_equal(p.ok("decrypt", *order, "--passphrase-file", word, "sealed").out, TEXT, f"{order} by {word}")
                with open(p.file(word), "rb") as source:
                    read = p.ok("decrypt", *order, "--passphrase-fd", source.fileno(), "sealed", pass_fds=[source.fileno()])
                check_equal(read.out, TEXT, f"{order} by a descriptor with {word}")
        p.write("third", b"neither\n", 0o600)
        p.fails(12, "the passphrase does not open identity file 'locked'", "decrypt", "-i", "locked", "-i", other, "--passphrase-file", "third", "sealed")
    if not shutil.which("ssh-keygen"):
        raise NotRun("no ssh-keygen (scripts/bootstrap)")
    subprocess.run(["ssh-keygen", "-q", "-N", "battery staple", "-a", "2", "-t", "ed25519", "-f", p.file("second")], check=True, stdin=subprocess.DEVNULL)
    p.write("sealed", p.ok("encrypt", "--format", "age", "-r", locked_line, "-R", "second.pub", input=TEXT).out)
    for order in (["-i", "locked", "-i", "second"], ["-i", "second", "-i", "locked"]):
        for word in ("word", "wrong"):
            check_equal(p.ok("decrypt", *order, "--passphrase-file", word, "sealed").out, TEXT, f"two SSH keys, {order} by {word}")


@case
def what_is_wrong_with_one_locked_identity_does_not_end_the_search(p):
    key(p, "locked")
    p.write("word", b"correct horse\n", 0o600)
    sealed = key(p, "locked.age")
    p.write("bad", p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=b"hunter2").out, 0o600)
    both = p.ok("encrypt", "--format", "age", "-r", key(p, "locked.pub").decode(), "-r", key(p, "ed25519.pub").decode(), input=TEXT).out
    p.write("good", p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=key(p, "ed25519")).out, 0o600)
    for first, second in (("bad", "good"), ("good", "bad")):
        check_equal(p.ok("decrypt", "-i", first, "-i", second, "--passphrase-file", "word", input=both).out, TEXT, f"{first} before {second}")
    check_equal(p.ok("decrypt", "-i", "bad", "-i", "locked", "--passphrase-file", "word", input=sealed).out, TEXT, "a bad file before a key")
    p.fails(2, "line 1 of identity file 'bad' is no identity", "decrypt", "-i", "bad", "--passphrase-file", "word", input=sealed)


@case
def one_passphrase_for_a_run(p):
    """A descriptor is read once: for age files under the passphrase, for locked keys, and for Warpseal files."""
    key(p, "locked")
    p.write("word", b"correct horse\n", 0o600)
    p.write("text", TEXT)
    p.ok("-q", "encrypt", "--format", "age", "-r", key(p, "locked.pub").decode(), "text", "-o", "recipient.age")
    p.ok("-q", "encrypt", "--format", "age", "--passphrase-file", "word", "text", "-o", "passphrase.age")
    p.ok("-q", "encrypt", "--argon2-memory", "8", "--argon2-passes", "1", "--passphrase-file", "word", "text", "-o", "sealed.ws")
    names = ["recipient.age", "passphrase.age", "sealed.ws"]
    with open(p.file("word"), "rb") as word:
        p.ok("decrypt", "-i", "locked", "--passphrase-fd", word.fileno(), *names, "--output-dir", "out", pass_fds=[word.fileno()])
    for name in names:
        check_equal(p.read("out/" + name.rsplit(".", 1)[0]), TEXT, name)


@case
def a_locked_identity_file_is_unlocked_once_in_a_run(p):
    p.write("word", b"correct horse\n", 0o600)
    p.write("wrong", b"battery staple\n", 0o600)
    p.write("locked", p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=key(p, "ed25519")).out, 0o600)
    names = [f"text{number}" for number in range(24)]
    for name in names:
        p.write(name, TEXT)
    p.ok("encrypt", "--format", "age", "-r", key(p, "ed25519.pub").decode(), *names, "--output-dir", "sealed")

    def user_seconds(code, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        result = p.run(*arguments)
        check_equal(result.code, code, result.err)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    for word, code, code_of_all in (("word", 0, 0), ("wrong", 12, 3)):
        options = ["-i", "locked", "--passphrase-file", word]
        one = user_seconds(code, "verify", *options, "sealed/text0.age")
        every = user_seconds(code_of_all, "verify", "--keep-going", *options, "--recursive", "sealed")
        check(every < 4 * one, f"{every:.2f} s for 24 files, {one:.2f} s for one, by {word}")


def der_tree(content):
    """Returns the elements of DER with short tags: sequences as lists, others as bytes with their tag."""
    elements = []
    while content:
        size, at = content[1], 2
        if size >= 0x80:
            at += size - 0x80
            size = int.from_bytes(content[2:at], "big")
        value = content[at:at + size]
        elements.append(der_tree(value) if content[0] == 0x30 else (content[0], value))
        content = content[at + size:]
    return elements


def der_of(elements):
    out = b""
    for element in elements:
        tag, value = (0x30, der_of(element)) if isinstance(element, list) else element
        size = len(value).to_bytes((len(value).bit_length() + 7) // 8 or 1, "big")
        out += bytes([tag]) + (size if len(value) < 0x80 else bytes([0x80 + len(size)]) + size) + value
    return out


def with_integers(der, *values):
    """Replaces the first integers of DER."""
    left = list(values)

    def replaced(elements):
        changed = []
        for element in elements:
            if isinstance(element, list):
                element = replaced(element)
            elif element[0] == 2 and left:
                value = left.pop(0)
                element = (2, value.to_bytes(value.bit_length() // 8 + 1, "big"))
            changed.append(element)
        return changed

    out = der_of(replaced(der_tree(der)))
    check(not left, "too few integers")
    return out


@case
def costly_keys_in_pem(p):
    """Their work is refused before it is done: the key derivation would take minutes or more."""
    sealed = key(p, "rsa-pkcs1.age")
    p.write("word", b"correct horse\n", 0o600)
    opened = ["decrypt", "-i", "pem", "--passphrase-file", "word"]

    def write(der, name="ENCRYPTED PRIVATE KEY", before=b""):
        p.write("pem", before + f"-----BEGIN {name}-----\n".encode() + base64.encodebytes(der) + f"-----END {name}-----\n".encode(), 0o600)

    for options in (["-iter", "70000"], ["-v2prf", "hmacWithSHA512"], ["-v1", "PBE-SHA1-3DES", "-iter", "70000"], ["-scrypt"]):
        made = subprocess.run(["openssl", "pkcs8", "-topk8", "-in", os.path.join(KEYS, "rsa-pkcs1"), "-passout", "pass:correct horse", "-outform", "DER", *options],
                              capture_output=True, check=True, stdin=subprocess.DEVNULL)
        der = made.stdout
        write(with_integers(der))
        check_equal(p.ok(*opened, input=sealed).out, TEXT, f"a key of openssl {options}")
        if "-scrypt" in options:
            continue
        write(with_integers(der, 70001))
        p.fails(12, "does not open identity file 'pem'", *opened, input=sealed)
        for rounds in (10_000_001, 2**31 - 1):
            write(with_integers(der, rounds))
            p.fails(17, ["identity file 'pem'", f"{rounds} rounds", "limit is 10000000", "ssh-keygen -p"], *opened, input=sealed)
        # After another block, which may be malformed, and under another name.
        for body in (b"AAAA", b"!!!!", b"AAAAA", b"AAAA==AAAA", b""):
            for name in ("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
                write(with_integers(der, 10_000_001), name, b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + body + b"\n-----END ENCRYPTED PRIVATE KEY-----\n")
                p.fails(17, "10000001 rounds", *opened, input=sealed)
    for n, r, parallel in ((32768, 8, 1), (16384, 16, 1), (2, 1 << 20, 1), (16384, 8, 64), (2, 8, 1 << 20), (1 << 40, 1 << 40, 1)):
        write(with_integers(der, n, r, parallel))
        p.fails(17, "32 MiB of memory or more", *opened, input=sealed)
    write(with_integers(der, 16384, 4, 2))
    p.fails(12, "does not open identity file 'pem'", *opened, input=sealed)
    p.write("pem", p.read("pem") + b"\n" * 16384, 0o600)
    p.fails(17, "more than 16.0 KiB", *opened, input=sealed)


@case
def files_of_recipients(p):
    ed25519, rsa = key(p, "ed25519.pub").decode(), key(p, "rsa.pub").decode()
    key(p, "ed25519")
    key(p, "rsa")
    p.write("keys", f"# of a server\n\n{ed25519.strip()} and more\r\n{ECDSA}\n{rsa}sk-ssh-ed25519@openssh.com AAAA x\n".encode())
    result = p.ok("encrypt", "--format", "age", "-R", "keys", input=TEXT)
    check_equal(re.findall(rb"\n-> (\S+) ", result.out), [b"ssh-ed25519", b"ssh-rsa"], "stanzas")
    for number, kind in ((4, "ecdsa-sha2-nistp256"), (6, "sk-ssh-ed25519@openssh.com")):
        check(f"line {number} of recipient file 'keys' is skipped: it is an SSH key of type {kind}," in result.err, result.err)
    check_equal(result.err.count("is skipped"), 2, "keys skipped")
    for name in ("ed25519", "rsa"):
        check_equal(p.ok("decrypt", "-i", name, input=result.out).out, TEXT, name)
    p.write("keys", f"{ECDSA}\n".encode())
    p.fails(2, "has no recipient", "encrypt", "--format", "age", "-R", "keys", input=TEXT)
    p.fails(15, ["-r 1", "type ecdsa-sha2-nistp256"], "encrypt", "--format", "age", "-r", ECDSA, input=TEXT)
    p.write("keys", f'restrict,command="a b" {ed25519}'.encode())
    p.fails(2, ["line 1 of recipient file 'keys'", "options before its SSH key"], "encrypt", "--format", "age", "-R", "keys", input=TEXT)
    post_quantum = kit.post_quantum_recipient(p)
    p.fails(2, "-r 2 is not post-quantum", "encrypt", "--format", "age", "-r", post_quantum, "-r", ed25519, input=TEXT)


@case
def bad_public_keys(p):
    ed25519, rsa = key(p, "ed25519.pub").decode().split(), key(p, "rsa.pub").decode().split()
    point = base64.b64decode(ed25519[1])[:-32]
    small_group = base64.b64encode(point + bytes(32)).decode()
    modulus = (1 << 2047) + 1
    for text, code, words in ((f"ssh-ed25519 {ed25519[1][:-4]}", 2, "no valid SSH key"), (f"ssh-ed25519 {ed25519[1]}AAAA", 2, "no valid SSH key"),
                              (f"ssh-rsa {ed25519[1]}", 2, "no valid SSH key"), (f"ssh-ed25519 {rsa[1]}", 2, "no valid SSH key"), ("ssh-ed25519", 2, "no valid SSH key"),
                              (f"ssh-ed25519 {ed25519[1]}!", 2, "no valid SSH key"), (f"ssh-ed25519 {small_group}", 2, "is no valid key"),
                              (rsa_line(modulus, 1), 2, "no valid SSH key"), (rsa_line(modulus, 65536), 2, "no valid SSH key"), (rsa_line(modulus + 1), 2, "no valid SSH key"),
                              (rsa_line((1 << 2046) + 1), 21, "RSA key of 2047 bits"), (rsa_line((1 << 1023) + 1), 21, "RSA key of 1024 bits"),
                              (rsa_line((1 << 16384) + 1), 17, "RSA key of 16385 bits")):
        result = p.fails(code, ["-r 1", words], "encrypt", "--format", "age", "-r", text, input=TEXT)
        check(text.split()[-1] not in result.err.replace("ssh-ed25519", ""), result.err)
        if len(text) < 4000:
            p.write("keys", f"# mine\n{text}\n".encode())
            p.fails(code, ["line 2 of recipient file 'keys'", words], "encrypt", "--format", "age", "-R", "keys", input=TEXT)
    p.ok("encrypt", "--format", "age", "-r", rsa_line(modulus), input=TEXT)


@case
def keys_in_the_wrong_place(p):
    for name in ("ed25519", "rsa-pkcs1", "rsa-pkcs8", "locked"):
        content = key(p, name).decode()
        for where, options in (("-r 1", ("-r", content)), (f"line 1 of recipient file '{name}'", ("-R", name))):
            result = p.fails(2, [where, "is a private key", ".pub"], "encrypt", *options, input=TEXT)
            check(not any(line in result.err for line in content.splitlines()), result.err)
    for mode in (0o600, 0o644):
        for name in ("ed25519.pub", "rsa.pub"):
            content = key(p, name).decode()
            os.chmod(p.file(name), mode)
            result = p.fails(2, [f"identity file '{name}' is an SSH public key", "without .pub"], "decrypt", "-i", name, input=b"")
            check(content.split()[1] not in result.err, result.err)
    p.fails(2, ["-r 1 is no recipient", "-R"], "encrypt", "--format", "age", "-r", "ed25519.pub", input=TEXT)
    key(p, "ed25519")
    os.chmod(p.file("ed25519"), 0o644)
    p.fails(2, "chmod 600", "decrypt", "-i", "ed25519", input=b"")


@case
def other_private_keys(p):
    sealed = key(p, "ed25519.age")
    for options, code, words in ((["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], 15, "another type"),
                                 (["genpkey", "-algorithm", "X25519"], 15, "another type"), (["genrsa", "1024"], 21, "RSA key of 1024 bits")):
        made = subprocess.run(["openssl", *options], capture_output=True, check=True, stdin=subprocess.DEVNULL)
        p.write("other", made.stdout, 0o600)
        p.fails(code, ["identity file 'other'", words], "decrypt", "-i", "other", input=sealed)
    for text, words in (("-----BEGIN CERTIFICATE-----\n", "no private key"), ("-----BEGIN PUBLIC KEY-----\n", "no private key"),
                        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "cut or damaged")):
        p.write("other", text.encode(), 0o600)
        p.fails(2, ["identity file 'other'", words], "decrypt", "-i", "other", input=sealed)
    p.write("other", key(p, "rsa-pkcs1") + b"\n" * 16384, 0o600)
    p.fails(17, "more than 16.0 KiB", "decrypt", "-i", "other", input=sealed)


@case
def a_key_under_age_s_own_passphrase(p):
    p.write("word", b"correct horse battery\n", 0o600)
    content = p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=key(p, "ed25519")).out
    p.write("within", content, 0o600)
    check_equal(p.ok("decrypt", "-i", "within", "--passphrase-file", "word", input=key(p, "ed25519.age")).out, TEXT, "what comes out")


def stanza_of(sealed):
    """Returns the arguments, the body and the rest of a file with one stanza."""
    head, rest = sealed.split(b"\n--- ", 1)
    first, *body = head.split(b"\n")[1:]
    return first.split(b" ")[1:], base64.b64decode(b"".join(body) + b"=="), b"\n--- " + rest


def with_stanza(arguments, body, rest):
    text = base64.b64encode(body).rstrip(b"=")
    lines = [text[at:at + 64] for at in range(0, len(text) + 1, 64)]
    return b"age-encryption.org/v1\n-> " + b" ".join(arguments) + b"\n" + b"\n".join(lines) + rest


def unpadded(content):
    return base64.b64encode(content).rstrip(b"=")


@case
def stanzas_of_another_form(p):
    for name in ("ed25519", "rsa"):
        key(p, name)
        arguments, body, rest = stanza_of(key(p, f"{name}.age"))
        check_equal(with_stanza(arguments, body, rest), p.read(f"{name}.age"), "the stanza put together again")
        changed = bytes([body[0] ^ 1]) + body[1:]
        wrong = [(arguments + [b"x"], body), (arguments[:-1], body), ([arguments[0], unpadded(bytes(3)), *arguments[2:]], body),
                 ([arguments[0], arguments[1][:-1] + b"!", *arguments[2:]], body), (arguments, body[:-1]), (arguments, body + b"x")]
        if name == "ed25519":
            wrong += [(arguments[:2] + [unpadded(size * b"x")], body) for size in (31, 33)]
            wrong += [(arguments[:2] + [unpadded(point + bytes(31))], body) for point in (b"\0", b"\1")]  # of low order
        for number, (words, content) in enumerate(wrong):
            p.fails(13, "header", "decrypt", "-i", name, input=with_stanza(words, content, rest))
        check_equal(p.run("decrypt", "-i", name, input=with_stanza(arguments, changed, rest)).code, 12, f"{name}: a changed body")
        other = [arguments[0], unpadded(b"tags"), *arguments[2:]]
        check_equal(p.run("decrypt", "-i", name, input=with_stanza(other, body, rest)).code, 12, f"{name}: another tag")
        named = [arguments[0].upper(), *arguments[1:]]
        check_equal(p.run("decrypt", "-i", name, input=with_stanza(named, body, rest)).code, 12, f"{name}: another type")
        # A malformed stanza ends the file even if another would open it.
        sealed = p.ok("encrypt", "--format", "age", "-R", os.path.join(KEYS, f"{name}.pub"), input=TEXT).out
        bad = b"-> " + b" ".join(arguments + [b"x"]) + b"\n\n"
        p.fails(13, "header", "decrypt", "-i", name, input=sealed.replace(b"\n-> ", b"\n" + bad + b"-> ", 1))
    for size in (255, 2049):
        p.fails(13, "header", "decrypt", "-i", "ed25519", input=with_stanza([b"ssh-rsa", unpadded(b"tags")], bytes(size), rest))
    check_equal(p.run("decrypt", "-i", "ed25519", input=with_stanza([b"ssh-rsa", unpadded(b"tags")], bytes(2048), rest)).code, 12, "another key's stanza")


if __name__ == "__main__":
    main()
