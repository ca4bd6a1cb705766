"""SSH keys as recipients and identities: OpenSSH's format and PEM, and what is refused."""

import base64
import os
import re
import shutil
import struct
import subprocess

import kit
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
    p.fails(15, ["identity file 'locked'", "under a passphrase", "ssh-keygen -p -N '' -f COPY"], "decrypt", "-i", "locked", input=sealed)
    # It is an error only for a file that it opens, if nothing else does.
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
        p.fails(15, [f"identity file '{name}'", "under a passphrase", "ssh-keygen -p"], "decrypt", "-i", name, input=sealed)
    if shutil.which("ssh-keygen"):  # The next step that the message names.
        subprocess.run(["ssh-keygen", "-q", "-p", "-P", "correct horse", "-N", "", "-f", p.file("locked")], check=True, stdout=subprocess.DEVNULL)
        check_equal(p.ok("decrypt", "-i", "locked", input=sealed).out, TEXT, "an unlocked copy")


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
