"""Identity and recipient files: how they are made, and how bad ones are refused."""

import os
import re

import kit
from program import case, check, check_equal, main

SECRET = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
PUBLIC = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"


@case
def identity_files(p):
    result = p.ok("keygen", "--age", "-o", "identity")
    content = p.read("identity").decode()
    found = re.fullmatch(r"# created: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n# public key: (age1[0-9a-z]{58})\nAGE-SECRET-KEY-1[0-9A-Z]{58}\n", content)
    check(found, content)
    check(found[1] in result.err, result.err)
    check_equal(os.stat(p.file("identity")).st_mode & 0o777, 0o600, "mode")
    check_equal(p.ok("keygen", "-y", "identity").out.decode(), found[1] + "\n", "-y")
    p.fails(11, "exists", "keygen", "--age", "-o", "identity")
    p.fails(2, "never replaces", "keygen", "--age", "-f", "-o", "identity")
    for options in (["--pq"], ["--post-quantum"], ["--age", "--pq"]):
        made = p.ok("keygen", *options, "-o", "-").out.decode()
        check(re.search(r"^# public key: age1pq1[0-9a-z]{1952}\nAGE-SECRET-KEY-PQ-1[0-9A-Z]{58}\n", made, re.M), made)
    p.fails(2, "--ntru", "keygen", "--pq", "--ntru", "-o", "other")
    p.fails(2, "--output is required", "keygen")
    p.fails(2, "no other option", "keygen", "-y", "identity", "-o", "other")
    check(p.ok("keygen", "--age", "-o", "-").out != p.ok("keygen", "--age", "-o", "-").out, "two identities are alike")


@case
def recipients_of_known_identities(p):
    p.write("identity", f"{SECRET}\n# again\n\n{SECRET}".encode(), 0o600)
    check_equal(p.ok("keygen", "-y", "identity").out.decode(), f"{PUBLIC}\n{PUBLIC}\n", "recipients")


@case
def bad_recipients_are_refused_without_their_text(p):
    other = PUBLIC[:-1] + "q"
    for text, words in ((other, "is no recipient"), (PUBLIC.upper(), "is no recipient"), (SECRET, "is an identity"), (SECRET.lower(), "is an identity"),
                        ("ssh-ed25519 AAAA", "is no valid SSH key"), ("ecdsa-sha2-nistp256 AAAA", "type ecdsa-sha2-nistp256"), ("hunter2", "is no recipient"), (PUBLIC + " ", "is no recipient"), ("", "is no recipient")):
        result = p.fails(15 if "ecdsa" in words else 2, ["-r 1", words], "encrypt", "--format", "age", "-r", text, input=b"")
        check(not text or text not in result.err.replace("'--help'", ""), result.err)
        if not text or "ecdsa" in words:
            continue
        p.write("list", f"# mine\n{PUBLIC}\n{text}\n".encode())
        result = p.fails(2, ["line 3 of recipient file 'list'", words], "encrypt", "--format", "age", "-R", "list", input=b"")
        check(text not in result.err, result.err)
    p.write("empty", b"# none\n\n")
    p.fails(2, "has no recipient", "encrypt", "--format", "age", "-R", "empty", input=b"")
    p.fails(10, "'missing'", "encrypt", "--format", "age", "-R", "missing", input=b"")
    low_order = "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z"
    p.fails(2, "-r 1 is a point of low order", "encrypt", "--format", "age", "-r", low_order, input=b"")


@case
def bad_identities_are_refused_without_their_text(p):
    sealed = p.ok("encrypt", "--format", "age", "-r", PUBLIC, input=b"text").out
    for text, words, code in ((SECRET[:-1], "is no identity", 2), (SECRET.lower(), "is no identity", 2), (PUBLIC, "is a recipient", 2),
                              ("AGE-PLUGIN-YUBIKEY-1QQQ", "is no identity", 2), ("-----BEGIN OPENSSH PRIVATE KEY-----", "is a private key that is cut", 2),
                              ("age-encryption.org/v1", "itself encrypted", 2)):
        p.write("identity", f"{text}\n".encode(), 0o600)
        result = p.fails(code, ["identity file 'identity'", words], "decrypt", "-i", "identity", input=sealed)
        check(text not in result.err, result.err)
    p.write("identity", f"#\n{SECRET}\nhunter2\n".encode(), 0o600)
    check("hunter2" not in p.fails(2, "line 3 of identity file", "decrypt", "-i", "identity", input=sealed).err, "the content is shown")
    p.write("identity", b"# none\n", 0o600)
    p.fails(2, "has no identity", "decrypt", "-i", "identity", input=sealed)
    p.write("identity", SECRET.encode(), 0o644)
    p.fails(2, "chmod 600", "decrypt", "-i", "identity", input=sealed)
    p.fails(10, "'missing'", "decrypt", "-i", "missing", input=sealed)
    p.write("identity", SECRET.encode(), 0o600)
    check_equal(p.ok("decrypt", "-i", "identity", input=sealed).out, b"text", "a file without a last new line")


@case
def identity_files_under_a_passphrase(p):
    p.write("word", b"correct horse battery\n", 0o600)
    p.write("other", b"battery horse correct\n", 0o600)
    p.write("open", SECRET.encode(), 0o600)
    sealed = p.ok("encrypt", "--format", "age", "-r", PUBLIC, input=b"text").out
    p.ok("-q", "keygen", "--age", "-o", "useless")
    for armor in ([], ["-a"]):
        content = p.ok("encrypt", "--format", "age", *armor, "--passphrase-file", "word", input=f"# mine\n{SECRET}\n".encode()).out
        p.write("locked", content, 0o600)
        given = ["-i", "useless", "-i", "locked", "--passphrase-file"]
        check_equal(p.ok("decrypt", *given, "word", input=sealed).out, b"text", f"what comes out {armor}")
        p.ok("verify", *given, "word", input=sealed)
        p.fails(12, "the passphrase does not open identity file 'locked'", "decrypt", *given, "other", input=sealed)
    check_equal(p.ok("decrypt", "-i", "locked", "-i", "open", input=sealed).out, b"text", "without the passphrase")
    p.fails(2, "identity file 'locked' is itself encrypted", "decrypt", "-i", "locked", input=sealed)
    p.fails(15, "itself encrypted", "keygen", "-y", "locked")
    p.fails(2, "same file", "decrypt", "-f", *given, "word", "-o", "locked", input=sealed)
    p.write("locked", content[:-60], 0o600)
    p.fails(2, "cannot read identity file 'locked'", "verify", *given, "word", input=sealed)
    p.write("locked", sealed, 0o600)
    p.fails(15, "encrypted to a recipient", "decrypt", *given, "word", input=sealed)
    for text, words in ((b"hunter2", "line 1 of identity file 'locked' is no identity"), (b"", "has no identity")):
        p.write("locked", p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=text).out, 0o600)
        check("hunter2" not in p.fails(2, words, "decrypt", *given, "word", input=sealed).err, "the content is shown")


@case
def options_that_do_not_go_together(p):
    key = p.key()
    p.write("identity", SECRET.encode(), 0o600)
    for words, options in ((["-k", "-r"], ("encrypt", "--format", "age", "-r", PUBLIC, "-k", key)), (["-c"], ("encrypt", "--format", "age", "-r", PUBLIC, "-c", "aes-256-gcm")),
                           (["age files only"], ("encrypt", "-a", "--format", "cobblestone", "-k", key)), (["-k", "-i"], ("decrypt", "--format", "age", "-i", "identity", "-k", key))):
        p.fails(2, words, *options, input=b"")
    p.fails(20, "--device auto or cpu", "encrypt", "--format", "age", "-r", PUBLIC, "--device", "cuda", input=b"")
    p.write("sealed", p.ok("encrypt", "--format", "age", "-r", PUBLIC, input=b"text").out)
    p.fails(2, "same file", "decrypt", "-f", "-i", "identity", "sealed", "-o", "identity")


if __name__ == "__main__":
    main()
