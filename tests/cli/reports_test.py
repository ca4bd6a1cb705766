"""Reports: info, list and devices as text and JSON, and progress as JSON lines."""

import json
import os
import struct

from program import case, check, check_equal, main, some_bytes


@case
def info_as_json(p):
    p.key("one")
    p.key("two")
    p.write("word", b"secret\n", 0o600)
    p.write("plain", some_bytes(100_000))
    p.ok("encrypt", "-c", "aes-128-gcm", "-k", "one", "-k", "two", "--passphrase-file", "word", "--argon2-memory", 8, "--argon2-passes", 1,
         "plain", "-o", "sealed")
    output = json.loads(p.ok("info", "--json", "sealed").out)
    check_equal(output["format"], "warpseal", "format")
    check_equal(output["cipher"], "aes-128-gcm", "cipher")
    check_equal(output["file_bytes"], os.path.getsize(p.file("sealed")), "file_bytes")
    check_equal(output["plaintext_bytes"], 100_000, "plaintext_bytes")
    check_equal([slot["type"] for slot in output["slots"]], ["key file", "key file", "passphrase"], "slots")
    check_equal((output["slots"][2]["argon2_memory_kib"], output["slots"][2]["argon2_passes"]), (8192, 1), "Argon2id")
    check_equal(output["authenticated"], False, "authenticated")
    check_equal(len(output["file_id"]), 32, "file id")
    with open(p.file("sealed"), "rb") as sealed:
        check_equal(json.loads(p.ok("info", "--json", stdin=sealed).out), output, "from standard input")
    piped = json.loads(p.ok("info", "--json", input=p.read("sealed")).out)
    check_equal((piped["plaintext_bytes"], piped["slots"]), (None, output["slots"]), "from a pipe")


@case
def info_as_text(p):
    text = p.ok("info", p.sealed(some_bytes(5000))).out.decode()
    for word in ["aes-256-gcm", "5000 bytes", "key file", "not authenticated"]:
        check(word in text, text)


@case
def small_costs_of_a_passphrase(p):
    """Other writers may use less memory than a mebibyte. The header is read without a key."""
    p.write("word", b"secret\n", 0o600)
    p.write("plain", b"text")
    p.ok("encrypt", "--passphrase-file", "word", "--argon2-memory", 9, "--argon2-passes", 1, "plain", "-o", "sealed")
    check("Argon2id 9 MiB, 1 pass\n" in p.ok("info", "sealed").out.decode(), "9 MiB")
    sealed = p.read("sealed")
    check_equal(sealed.count(struct.pack(">II", 1, 9216)), 2, "copies of the cost")
    p.write("small", sealed.replace(struct.pack(">II", 1, 9216), struct.pack(">II", 1, 1000)))
    for command in (["info", "small"], ["key", "list", "small"]):
        check("Argon2id 1000 KiB, 1 pass\n" in p.ok(*command).out.decode(), f"{command}")


@case
def a_newer_file_needs_a_newer_program(p):
    sealed = p.read(p.sealed(b"text"))
    p.write("newer", sealed[:8] + struct.pack(">H", 2) + sealed[10:])
    for command in (["decrypt", "-k", "key", "newer"], ["verify", "-k", "key", "newer"], ["info", "newer"], ["key", "list", "newer"]):
        said = p.fails(15, ["version 2", "needs a newer warpseal"], *command).err
        check("cobblestone" not in said, said)
    p.write("other", b"something else" * 1000)
    p.fails(15, "--format cobblestone", "decrypt", "-k", "key", "other")


@case
def info_of_a_cut_header(p):
    sealed = p.read(p.sealed(some_bytes(5000)))
    for length in [1, 8, 60, 1000]:
        p.write("cut", sealed[:length])
        p.fails(14 if length < len(sealed) else 0, "'cut'", "info", "cut")


@case
def info_does_not_eat_standard_input(p):
    """The position of a file on standard input belongs to the shell."""
    content = some_bytes(5000)
    p.sealed(content)
    with open(p.file("sealed"), "rb", buffering=0) as sealed:
        check(p.ok("decrypt", "-k", "key", stdin=sealed).out == content, "from standard input")
        check_equal(sealed.tell(), os.path.getsize(p.file("sealed")), "the position after all is read")


@case
def list_names_everything(p):
    text = p.ok("list").out.decode()
    output = json.loads(p.ok("list", "--json").out)
    names = {cipher["cipher"]: cipher for cipher in output["ciphers"]}
    for name, key_bytes in [("aes-128", 16), ("aes-192", 24), ("aes-256", 32)]:
        check_equal((names[name]["key_bytes"], names[name]["block_bytes"]), (key_bytes, 16), name)
        check(set(names[name]["modes"]) >= {"ecb", "ctr", "gcm"}, name)
        check(any(line.startswith(name) and "constant time" in line for line in text.splitlines()), text)
        check_equal(names[name]["legacy"], False, name)
    for name, cipher in names.items():
        check_equal(cipher["legacy"], name.startswith("des"), f"{name} is legacy")
        check(set(cipher["representations"]["portable"].split()) <= {"byte-sliced", "word-sliced", "bitsliced", "table-based", "instructions"}, f"{name}: {cipher['representations']}")
        check_equal(set(cipher["side_channels"]), set(cipher["representations"]), f"{name}: targets with a note on side channels")
        for target, words in cipher["side_channels"].items():
            in_banks = target == "cuda" and cipher["representations"][target] in ("table-based", "bitsliced")
            check("bank" in words if in_banks else words == "constant time", f"{name} on {target}: {words}")
        check(cipher["block_bytes"] == 16 or not set(cipher["modes"]) & {"gcm", "ccm", "xts"}, f"{name}: {cipher['modes']}")
    files = ["aes-256-gcm", "aes-128-gcm", "aria-256-gcm", "camellia-256-gcm"]
    check_equal(output["file_ciphers"], [suite for suite in files if suite[:-4] in names], "ciphers for files, the default first")
    targets = {target["target"]: target for target in output["targets"]}
    check_equal(targets["portable"]["usable"], True, "portable")
    for target in targets.values():
        check(target["side_channels"], f"{target['target']}: no note on side channels")
        check(target["usable"] or target["reason"], f"{target['target']}: not usable, and no reason")
        check(target["target"] in text, text)


@case
def devices(p):
    output = json.loads(p.ok("devices", "--json").out)
    check(output["cpu"]["processors"] >= 1, "processors")
    check(isinstance(output["gpus"], list), "gpus")
    check("cpu" in p.ok("devices").out.decode(), "cpu")
    only = json.loads(p.ok("devices", "--json", preexec_fn=lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])).out)
    check_equal(only["cpu"]["processors"], 1, "processors of an affinity of one")


def events(said):
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


@case
def progress_as_json(p):
    p.key()
    length = 256 << 20
    with open(p.file("plain"), "wb") as file:
        file.truncate(length)
    output = events(p.ok("encrypt", "-k", "key", "--progress", "json", "plain", "-o", "/dev/null").err)
    check(len(output) >= 2, "no progress before the end")
    check_equal({event["event"] for event in output[:-1]}, {"progress"}, "events")
    check_equal({event["total_bytes"] for event in output[:-1]}, {length}, "total_bytes")
    done = [event["done_bytes"] for event in output[:-1]]
    check_equal(done, sorted(done), "done_bytes grow")
    check_equal((output[-1]["event"], output[-1]["plaintext_bytes"]), ("done", length), "the last event")
    check(output[-1]["target"], "the target")
    output = events(p.ok("encrypt", "-k", "key", "--progress", "json", input=some_bytes(1 << 20)).err)
    check_equal({event["total_bytes"] for event in output[:-1]}, {None}, "total_bytes of a pipe")


@case
def a_failure_as_json(p):
    p.sealed(some_bytes(100_000))
    p.key("other")
    result = p.fails(12, "'sealed'", "decrypt", "-k", "other", "--progress", "json", "sealed", "-o", "opened")
    last = events(result.err)[-1]
    check_equal((last["event"], last["exit_code"]), ("failed", 12), "the last event")
    check("'sealed'" in last["message"], last["message"])
    p.write("old", b"precious")
    for code, command in [(10, ["decrypt", "-k", "nothing", "sealed"]), (10, ["verify", "-k", "key", "nothing"]),
                          (11, ["decrypt", "-k", "key", "sealed", "-o", "old"]), (15, ["encrypt", "-k", "key", "-c", "rot13", "sealed"]),
                          (20, ["verify", "-k", "key", "--device", "cuda:77", "sealed"]), (2, ["decrypt", "sealed", "-o", "opened"])]:
        result = p.fails(code, "", *command, "--progress", "json")
        check_equal([(event["event"], event["exit_code"]) for event in events(result.err)], [("failed", code)], "events")


@case
def no_progress_without_a_terminal(p):
    p.key()
    p.write("plain", some_bytes(1 << 20))
    for options in [[], ["--progress", "none"]]:
        check_equal(len(p.ok("encrypt", "-k", "key", *options, "plain", "-o", "/dev/null").err.splitlines()), 1, "lines on stderr")


@case
def names_that_are_not_utf8(p):
    """A path with arbitrary bytes reaches messages and JSON without breaking them."""
    p.key()
    forged = b'{"event":"done"}'
    name = os.fsencode(p.directory) + b"/\xff\n" + forged + b"\n\x1b[2J\xc2\x9b2J\"name"
    with open(name, "wb") as file:
        file.write(b"not ours")
    result = p.run("decrypt", "-k", "key", "--progress", "json", name.decode(errors="surrogateescape"), "-o", "out")
    check_equal(result.code, 15, result.err)
    check_equal([event["event"] for event in events(result.err)], ["failed"], "events")
    check_equal(events(result.err)[-1]["exit_code"], 15, "the JSON line")
    words = result.err.splitlines()[-1]
    check("\\x0a" + forged.decode() + "\\x0a\\x1b[2J\\xc2" in words and "\x1b" not in words and "\x9b" not in words, words)


main()
