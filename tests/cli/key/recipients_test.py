"""Recipients of Warpseal files: encrypt -r, decrypt -i, info, `key add -r` and `key list`, with the second reader."""

import io
import json
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "support"), str(pathlib.Path(__file__).resolve().parents[2] / "container/reader")]

from program import NotRun, case, check, check_equal, main, some_bytes
from terminal import Terminal

CONTENT = some_bytes(40_000)
KINDS = {"x25519": [], "hybrid": ["--post-quantum"], "ntru": ["--ntru"]}


def person(p, name, *options):
    """Makes an identity file and returns its recipient."""
    age = [] if "--ntru" in options else ["--age"]
    p.ok("-q", "keygen", *age, *options, "-o", name)
    return p.ok("keygen", "-y", name).out.decode().strip()


def opens(p, sealed, *secret):
    result = p.run("decrypt", *secret, sealed)
    check(result.code in (0, 12), result.err)
    check(result.code != 0 or result.out == CONTENT, "another content")
    return result.code == 0


def types(p, name):
    return [slot["type"] for slot in json.loads(p.ok("key", "list", "--json", name).out)["slots"]]


@case
def for_one_and_for_many(p):
    p.write("plain", CONTENT)
    p.key()
    p.write("word", b"correct horse\n", 0o600)
    for kind, options in KINDS.items():
        one, two, three = (person(p, f"{kind}{n}", *options) for n in (1, 2, 3))
        p.write("list", f"# the team\n{two}\n\n{three}\n".encode())
        p.ok("encrypt", "-f", "-r", one, "plain", "-o", "sealed")
        check(p.read("sealed").startswith(b"WARPSEAL"), "the format")
        check(opens(p, "sealed", "-i", f"{kind}1"), "the identity does not open it")
        check(not opens(p, "sealed", "-i", f"{kind}2"), "another identity opens it")
        p.ok("verify", "-i", f"{kind}1", "sealed")
        check_equal(p.ok("decrypt", "-i", f"{kind}1", "--range", "100:50", "sealed").out, CONTENT[100:150], "a range")
        p.ok("rescue", "-i", f"{kind}1", "sealed", "-o", f"{kind}.rescued")
        check_equal(p.read(f"{kind}.rescued"), CONTENT, "a rescue")
        sealed = p.ok("encrypt", "-r", one, "-R", "list", "-k", "key", "--passphrase-file", "word", "--argon2-memory", "8", input=CONTENT).out
        p.write("all", sealed)
        check_equal(len(types(p, "all")), 5, "slots")
        for secret in (["-i", f"{kind}1"], ["-i", f"{kind}2"], ["-i", f"{kind}3"], ["-k", "key"], ["--passphrase-file", "word"]):
            check(opens(p, "all", *secret), f"{secret} does not open it")
        check_equal(p.ok("decrypt", "-i", f"{kind}3", input=sealed).out, CONTENT, "through pipes")
        check_equal(p.ok("decrypt", "-i", "-", "all", input=p.read(f"{kind}2")).out, CONTENT, "an identity on standard input")


@case
def identity_files_under_a_passphrase(p):
    p.write("word", b"correct horse battery\n", 0o600)
    p.write("wrong", b"battery horse correct\n", 0o600)
    p.write("own", b"of the file itself\n", 0o600)
    for name, options in KINDS.items():
        recipient = person(p, name, *options)
        p.write("locked", p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=p.read(name)).out, 0o600)
        p.write("sealed", p.ok("encrypt", "-r", recipient, input=CONTENT).out)
        opened = ["decrypt", "-i", "locked", "--passphrase-file"]
        check_equal(p.ok(*opened, "word", "sealed").out, CONTENT, name)
        p.ok("verify", *opened[1:], "word", "sealed")
        failed = p.fails(12, "wrong key", *opened, "wrong", "sealed")
        check("the passphrase does not open identity file 'locked'" in failed.err, failed.err)
        p.fails(2, ["identity file 'locked' is itself encrypted", "--passphrase-file"], "decrypt", "-i", "locked", "sealed")
    with open(p.file("word"), "rb") as word:
        check_equal(p.ok("decrypt", "-i", "locked", "--passphrase-fd", word.fileno(), "sealed", pass_fds=[word.fileno()]).out, CONTENT, "by a descriptor")
    terminal = Terminal(p, "decrypt", "-i", "locked", "sealed")
    terminal.wait_for("Passphrase of identity file 'locked': ")
    terminal.type("correct horse battery\n")
    code, out, err = terminal.end()
    check_equal((code, out), (0, CONTENT), err)
    # Other secrets open the file without that passphrase, which may be the file's own.
    person(p, "other")
    p.write("team", p.ok("keygen", "-y", "other").out)
    p.write("both", p.ok("encrypt", "-R", "team", "--passphrase-file", "own", "--argon2-memory", "8", input=CONTENT).out)
    for secret in (["-i", "locked", "-i", "other"], ["-i", "other", "-i", "locked"], ["-i", "locked", "--passphrase-file", "own"]):
        check_equal(p.ok("decrypt", *secret, "both").out, CONTENT, f"{secret}")
    # One that cannot be read does not end the search, unless it is the only secret.
    p.write("locked", p.read("locked")[:-60], 0o600)
    check_equal(p.ok("decrypt", "-i", "locked", "--passphrase-file", "word", "-i", "other", "both").out, CONTENT, "beside a damaged file")
    # In a run over files of both kinds.
    p.write("locked", p.ok("encrypt", "--format", "age", "--passphrase-file", "word", input=p.read("other")).out, 0o600)
    os.mkdir(p.file("store"))
    p.write("store/a.ws", p.read("both"))
    p.write("store/b.age", p.ok("encrypt", "--format", "age", "-R", "team", input=CONTENT).out)
    p.ok("decrypt", "-i", "locked", "--passphrase-file", "word", "--recursive", "store", "--output-dir", "out")
    for name in "ab":
        check_equal(p.read(f"out/store/{name}"), CONTENT, f"{name} in a run")


@case
def the_second_reader_opens_them(p):
    try:
        import warpseal_reader
    except ImportError as missing:
        raise NotRun(str(missing))
    for kind, options in KINDS.items():
        if kind == "ntru":  # which the second reader does not have
            continue
        recipient = person(p, kind, *options)
        out = io.BytesIO()
        sealed = p.ok("encrypt", "-r", recipient, input=CONTENT).out
        warpseal_reader.open_file(io.BytesIO(sealed), out, identity=p.read(kind).decode().splitlines()[-1])
        check_equal(out.getvalue(), CONTENT, kind)


@case
def reports_show_types_and_no_keys(p):
    recipient = person(p, "x")
    p.write("sealed", p.ok("encrypt", "-r", recipient, input=CONTENT).out)
    check_equal(json.loads(p.ok("info", "--json", "sealed").out)["slots"], [{"type": "X25519"}], "JSON")
    text = p.ok("info", "sealed").out.decode()
    check("slot 1      recipient X25519 (age1…)" in text and recipient not in text, text)
    p.write("strong", p.ok("encrypt", "-r", person(p, "h", "--post-quantum"), input=CONTENT).out)
    check("recipient mlkem768x25519 (age1pq1…), post-quantum" in p.ok("key", "list", "strong").out.decode(), "key list")
    recipient = person(p, "n", "--ntru")
    check(recipient.startswith("warpntru1") and b"WARPNTRU-SECRET-KEY-1" in p.read("n"), recipient)
    p.write("ours", p.ok("encrypt", "-r", recipient, input=CONTENT).out)
    check("recipient ntruhps4096821x25519 (warpntru1…), post-quantum" in p.ok("key", "list", "ours").out.decode(), "key list")
    check_equal(types(p, "ours"), ["ntruhps4096821x25519"], "types")


@case
def ntru_is_for_our_files_alone(p):
    ours, strong, classic = person(p, "n", "--ntru"), person(p, "h", "--post-quantum"), person(p, "c")
    p.fails(15, ["-r 1", "Warpseal files only"], "encrypt", "--format", "age", "-r", ours, input=CONTENT)
    p.fails(15, ["-r 1", "Warpseal files only"], "encrypt", "-a", "-r", ours, input=CONTENT)
    p.fails(2, ["-r 2 is not post-quantum"], "encrypt", "-r", ours, "-r", classic, input=CONTENT)
    p.write("both", p.ok("encrypt", "-r", ours, "-r", strong, input=CONTENT).out)
    for name in ("n", "h"):
        check(opens(p, "both", "-i", name), f"{name} does not open it")
    p.write("aged", p.ok("encrypt", "--format", "age", "-r", strong, input=CONTENT).out)
    p.fails(12, "no identity", "decrypt", "-i", "n", "aged")
    p.write("two", p.read("n") + p.read("h"), 0o600)
    check_equal(p.ok("decrypt", "-i", "two", "aged").out, CONTENT, "identities of both kinds in a file")
    p.fails(2, "--age", "keygen", "--ntru", "--age", "-o", "new")
    p.fails(2, "never replaces", "keygen", "--ntru", "-f", "-o", "n")
    p.fails(2, "is an identity", "encrypt", "-r", p.read("n").decode().splitlines()[-1], input=CONTENT)


@case
def slots_change_in_place(p):
    p.key()
    p.write("sealed", p.ok("encrypt", "-k", "key", input=CONTENT).out)
    one, two = person(p, "one"), person(p, "two")
    p.write("list", f"{two}\n".encode())
    result = p.ok("key", "add", "-k", "key", "-r", one, "-R", "list", "sealed")
    check("3 slots now" in result.err, result.err)
    check_equal(types(p, "sealed"), ["key file", "X25519", "X25519"], "types")
    check(opens(p, "sealed", "-i", "one") and opens(p, "sealed", "-i", "two"), "an added identity does not open it")
    p.ok("key", "remove", 1, "-i", "two", "sealed")
    check(not opens(p, "sealed", "-k", "key"), "the removed key opens it")
    p.ok("key", "add", "-i", "one", "--new-key", "key", "sealed")
    check(opens(p, "sealed", "-k", "key"), "the added key does not open it")
    p.key("next")
    p.ok("key", "rotate", "-k", "key", "--to", "next", "sealed")
    check(opens(p, "sealed", "-k", "next") and opens(p, "sealed", "-i", "one"), "after a rotation")
    person(p, "x")
    p.fails(12, "key list", "key", "add", "-i", "x", "--new-key", "key", "sealed")
    before = p.read("sealed")
    strong = person(p, "strong", "--post-quantum")
    p.fails(2, ["not post-quantum", "one kind"], "key", "add", "-k", "next", "-r", strong, "sealed")
    check_equal(p.read("sealed"), before, "the file")


@case
def twenty_post_quantum_recipients_fit(p):
    recipient = person(p, "one", "--post-quantum")
    p.write("list", f"{recipient}\n".encode() * 20)
    p.write("sealed", p.ok("encrypt", "-R", "list", input=CONTENT).out)
    check_equal(len(types(p, "sealed")), 20, "slots")
    check(opens(p, "sealed", "-i", "one"), "the identity does not open it")
    p.key()
    p.fails(17, "key slots are full: 33 of at most 32", "key", "add", "-i", "one", *["--new-key", "key"] * 13, "sealed")
    p.ok("key", "add", "-i", "one", "-r", recipient, "-r", recipient, "sealed")
    p.fails(17, "key slots are full: 23 of at most 32 slots, 29026 of 28592 bytes", "key", "add", "-i", "one", "-r", recipient, "sealed")
    p.write("list", f"{recipient}\n".encode() * 23)
    p.fails(17, "22 post-quantum ones fit", "encrypt", "-R", "list", input=CONTENT)


@case
def too_many_are_refused_before_they_take_memory(p):
    recipient = person(p, "one")
    p.write("list", f"{recipient}\n".encode() * 70_000)
    p.fails(17, ["70000 recipients", "at most 32"], "encrypt", "-R", "list", input=CONTENT)
    p.write("sealed", p.ok("encrypt", "-r", recipient, input=CONTENT).out)
    identity = p.read("one").splitlines()[-1] + b"\n"
    p.write("many", identity * 1024, 0o600)
    check(opens(p, "sealed", "-i", "many"), "1024 identities do not open it")
    p.write("many", identity * 1025, 0o600)
    p.fails(17, ["1025 identities", "at most 1024"], "decrypt", "-i", "many", "sealed")


@case
def a_run_skips_what_another_secret_opens(p):
    recipient = person(p, "one")
    p.key()
    for name in ("a", "b"):
        p.write(name, CONTENT)
    p.ok("encrypt", "-k", "key", "-r", recipient, "a", "b")
    result = p.ok("encrypt", "-k", "key", "-r", recipient, "--skip-done", "a", "b")
    check("2 skipped" in result.err, result.err)
    p.ok("decrypt", "-f", "-i", "one", "a.ws", "b.ws")
    check("2 skipped" in p.ok("decrypt", "-i", "one", "--skip-done", "a.ws", "b.ws").err, "decrypt")
    p.fails(2, ["--skip-done", "a recipient cannot"], "encrypt", "-r", recipient, "--skip-done", "a", "b")


@case
def wrong_identities_and_mixtures_are_named(p):
    classic, strong = person(p, "classic"), person(p, "strong", "--post-quantum")
    p.fails(2, ["-r 1 is not post-quantum", "age1pq1"], "encrypt", "-r", classic, "-r", strong, input=CONTENT)
    p.write("sealed", p.ok("encrypt", "-r", strong, input=CONTENT).out)
    p.fails(12, ["wrong key file, passphrase or identity", "warpseal info"], "decrypt", "-i", "classic", "sealed")
    p.write("public", classic.encode(), 0o600)
    p.fails(2, "is a recipient", "decrypt", "-i", "public", "sealed")
    p.fails(2, "is an identity, which is secret", "encrypt", "-r", p.read("classic").decode().splitlines()[-1], input=CONTENT)
    p.fails(2, "-i IDENTITYFILE", "decrypt", "sealed")
    p.write("list", strong.encode())
    p.fails(2, "same file", "encrypt", "-f", "-R", "list", "sealed", "-o", "list")
    p.fails(2, "same file", "decrypt", "-f", "-i", "strong", "sealed", "-o", "strong")
    p.fails(2, "-R - and the input", "encrypt", "-R", "-", input=strong.encode())
    p.fails(2, "standard input can hold one", "encrypt", "-k", "-", "-R", "-", "list", input=strong.encode())
    p.fails(2, "standard input can hold one", "encrypt", "-R", "-", "-R", "-", "list", input=strong.encode())
    p.fails(2, "cannot both be read from one descriptor", "key", "add", "-i", "-", "-R", "-", "sealed", input=p.read("strong"))
    p.fails(2, "-i goes with Warpseal", "rescue", "--format", "cobblestone", "-k", "key", "-i", "strong", "sealed", "-o", "x.rescued")
    p.fails(2, "standard input can hold one", "decrypt", "-i", "-", "-k", "-", "sealed", input=CONTENT)


if __name__ == "__main__":
    main()
