"""`warpseal vectors`: its counts, the errors it must find, and the inputs it must not accept."""

import concurrent.futures
import functools
import gzip
import hashlib
import json
import os
import pathlib

from program import NotRun, case, check, check_equal, main, some_bytes

VECTORS = pathlib.Path(os.environ["WARPSEAL_VECTORS"])
FAULTY = os.environ["WARPSEAL_FAULTY_PROGRAM"]
MODES = ["ecb", "ctr", "gcm", "cbc", "cbc-pkcs7", "cfb128", "ofb", "xts", "ccm", "cmac"]
TARGETS = ["portable", "aesni", "avx2", "vaes256", "vaes512", "cuda"]


def rows(name):
    with gzip.open(VECTORS / name, "rt") if name.endswith(".gz") else open(VECTORS / name) as file:
        return [json.loads(line) for line in file]


@functools.cache
def of_cipher(cipher):
    """Returns the cipher's known-answer files in every folder."""
    return [row for path in sorted((VECTORS / "block").iterdir()) for row in rows(f"block/{path.name}")
            if row["cipher"] == cipher and "rounds" not in row and "pt_len" not in row]


def find(cipher, mode, wanted):
    found = next((row for row in of_cipher(cipher) if row["mode"] == mode and wanted(row)), None)
    check(found, f"no such vector of {cipher}-{mode}")
    return found


def has(p, cipher, mode):
    told = {row["cipher"]: row["modes"] for row in json.loads(p.ok("list", "--json").out)["ciphers"]}
    return mode.replace("-pkcs7", "") in told.get(cipher, [])


def lines(some_rows):
    return "".join(json.dumps(row) + "\n" for row in some_rows).encode()


def some(mode, **wanted):
    """Returns a row of AES-256 in that mode with some plaintext."""
    return find("aes-256", mode, lambda r: len(r.get("pt", "")) >= 64 and r["valid"] and all(len(r[k]) == 2 * n for k, n in wanted.items()))


def counts(result):
    words = result.out.decode().strip().split("\n")[-1].replace(",", "").split()
    check_equal(words[1::2], ["passed", "failed", "skipped"], "last line")
    return tuple(int(n) for n in words[0::2])


def expect(p, wanted, *arguments, **options):
    """Checks the counts, and the exit code that belongs to them."""
    result = p.run("vectors", *arguments, **options)
    check_equal(counts(result), wanted, f"counts ({result.out.decode().strip()} {result.err.strip()})")
    check_equal(result.code, 0 if wanted[1] + wanted[2] == 0 else 1, "exit code")
    return result.out.decode()


def expect_row(p, wanted, row):
    p.write("row", lines([row]))
    return expect(p, wanted, "row")


def flip(text, digit=-1):
    at = digit % len(text)
    return text[:at] + f"{int(text[at], 16) ^ 1:x}" + text[at + 1:]


def usable_targets(p):
    out = p.ok("list").out.decode()
    states = {line.split()[0]: line.split()[1] for line in out.splitlines() if line.split()[1:2] in (["yes"], ["no"])}
    check_equal(sorted(states), sorted(TARGETS), "targets")
    return states


def counts_of_files(p, target, files):
    """Runs one process per file, as many at a time as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        each = list(pool.map(lambda file: counts(p.run("vectors", "--device", target, file, timeout=1500)), files))
    return tuple(map(sum, zip(*each)))


def with_short_chains(p, path):
    """Returns the file, or a copy with a tenth of the Monte Carlo rounds where all take minutes:
    DES costs a bundle per block."""
    if path.name != "des.jsonl.gz":
        return str(path)
    cut = [row | {"rounds": row["rounds"][:len(row["rounds"]) // 10]} if "rounds" in row else row for row in rows(f"block/{path.name}")]
    return str(p.write(path.name, lines(cut)))


def all_files_on(target):
    def on_target(p):
        files = sorted(with_short_chains(p, path) for folder in ("block", "mct", "cobblestone") for path in (VECTORS / folder).iterdir())
        if usable_targets(p)[target] == "no":
            check_equal(p.run("vectors", "--device", target, files[0]).code, 20, "exit code")
            raise NotRun(f"{target} is not on this machine")
        passed, failed, skipped = counts_of_files(p, target, files)
        check(passed > 10_000 and failed == 0 and skipped == 0, f"{passed} passed, {failed} failed, {skipped} skipped")

    on_target.__name__ = f"all_files_on_{target}"
    return case(on_target)


# The known-answer tests run every row on every target. Here the program runs them on the two most
# common ones.
for name in ("vaes512", "cuda"):
    all_files_on(name)


@case
def key_files_and_groups_of_nist_curves(p):
    """Rows of the OpenSSL provider, which the program contains."""
    files = ["mlkem/der.jsonl.gz", "mlkem/tls-groups.jsonl.gz"]
    for target in ("portable", "auto"):
        expect(p, (199, 0, 0), "--device", target, *(str(VECTORS / name) for name in files))
    every = [row for name in files for row in rows(name)]

    def some_row(operation, result, group="ml-kem"):
        return next(row for row in every if (row["operation"], row["result"]) == (operation, result) and row["set"].startswith(group))

    def changed(row, name):
        return {**row, name: row[name][:-1] + ("1" if row[name][-1] == "0" else "0")}

    exchange, client = some_row("tls-exchange", "valid", "SecP"), some_row("tls-client", "valid", "SecP")
    private, public = some_row("decode-private", "valid"), some_row("decode-public", "valid")
    wrong = [changed(private, "dk"), changed(private, "ek"), changed(public, "ek"), changed(exchange, "secret"),
             changed(exchange, "client_share"), changed(exchange, "server_share"), changed(client, "secret"),
             *({**row, "result": "invalid"} for row in (private, public, client)),
             *({**some_row(*kind), "result": "valid"}
               for kind in (("decode-private", "invalid"), ("decode-public", "invalid"), ("tls-server", "invalid", "SecP")))]
    p.write("wrong", lines(wrong))
    expect(p, (0, len(wrong), 0), "wrong")


@case
def a_machine_that_computes_wrong(p):
    """The self-test of every target fails: nothing is written, whatever the command."""
    p.key()
    p.write("plain", some_bytes(1000))
    p.ok("encrypt", "-k", "key", "plain", "-o", "sealed")
    p.write("raw", some_bytes(32), 0o600)
    p.path, broken = FAULTY, dict(os.environ, WARPSEAL_TEST_FAULT="cores")
    for arguments in (("encrypt", "-k", "key", "plain", "-o", "other"), ("decrypt", "-k", "key", "sealed", "-o", "other"),
                      ("raw", "encrypt", "-c", "aes-256-ctr", "--key-file", "raw", "--iv", "00" * 16, "plain", "-o", "other"),
                      ("raw", "encrypt", "-c", "aes-256-gcm", "--key-file", "raw", "--iv", "00" * 12, "plain", "-o", "other")):
        p.fails(18, "", *arguments, env=broken)


@case
def auto_by_default(p):
    files = [str(path) for path in sorted((VECTORS / "cobblestone").iterdir())] + [str(VECTORS / "block/aes-128-gcm.jsonl.gz")]
    passed, failed, skipped = counts(p.run("vectors", *files))
    check(passed > 3000 and failed == 0 and skipped == 0, f"{passed} passed, {failed} failed, {skipped} skipped")


@case
def a_named_target_never_falls_back(p):
    p.write("row", lines([some("ctr")]))
    masked = dict(os.environ, WARPSEAL_TARGETS="portable")
    for target in TARGETS[1:]:
        check_equal(p.run("vectors", "--device", target, "row", env=masked).code, 20, f"exit code of {target}")
    check_equal(p.run("vectors", "--device", "portable", "row", env=masked).code, 0, "exit code of portable")
    check_equal(p.run("vectors", "--device", "sparc", "row").code, 2, "exit code of a target that does not exist")


@case
def content_decides_not_the_name(p):
    row = some("gcm")
    p.write("plain.gz", lines([row]))
    p.write("packed.txt", gzip.compress(lines([row])) + gzip.compress(lines([row, row])))
    p.write("document.jsonl.gz", (VECTORS / "cobblestone/cobblestone-128.json").read_bytes())
    document = json.loads((VECTORS / "cobblestone/cobblestone-128.json").read_bytes())
    p.write("one-line", json.dumps(document).encode())
    p.write("no-newline", b"\n  \n" + lines([row]).strip())
    tests = sum(len(group["tests"]) for group in document["testGroups"])
    expect(p, (1 + 3 + 2 * tests + 1, 0, 0), "plain.gz", "packed.txt", "document.jsonl.gz", "one-line", "no-newline")


@case
def a_line_for_each_file(p):
    p.write("good", lines([some("ctr")]))
    p.write("bad", lines([dict(some("ctr"), ct="00" * (len(some("ctr")["ct"]) // 2))]))
    p.write("unknown", lines([dict(some("ctr"), cipher="rot-13"), dict(some("ctr"), cipher="rot-13")]))
    out = expect(p, (1, 1, 2), "good", "bad", "unknown").splitlines()
    check_equal(out[0], "good: 1 passed, 0 failed, 0 skipped", "first line")
    check("unknown: 0 passed, 0 failed, 2 skipped" in out, out)
    check(out[-2].startswith("skipped 2: ") and "rot-13" in out[-2], out)


@case
def every_changed_field_is_found(p):
    for mode in MODES:
        if not has(p, "aes-256", mode):
            continue
        row = some(mode)
        expect_row(p, (1, 0, 0), row)
        for field in ("key", "iv", "aad", "pt", "ct", "tag"):
            for digit in (0, -1):
                if row.get(field):
                    expect_row(p, (0, 1, 0), dict(row, **{field: flip(row[field], digit)}))
    refused = next(r for r in rows("block/aes-256-gcm.jsonl.gz") if not r["valid"] and r["iv"] and len(r["tag"]) == 32)
    expect_row(p, (0, 1, 0), dict(some("gcm"), valid=False))
    expect_row(p, (0, 1, 0), dict(refused, valid=True, pt=refused["ct"]))


@case
def short_tags(p):
    short = next(r for r in rows("block/aes-128-gcm.jsonl.gz") if len(r["tag"]) == 8 and r["valid"] and r["pt"])
    expect_row(p, (1, 0, 0), short)
    expect_row(p, (0, 1, 0), dict(short, tag=flip(short["tag"])))
    expect_row(p, (1, 0, 0), {k: v for k, v in dict(short, tag=flip(short["tag"]), valid=False).items() if k != "pt"})


@case
def parameters_that_must_be_refused(p):
    ctr, gcm = some("ctr"), some("gcm")
    expect_row(p, (0, 1, 0), dict(ctr, iv=ctr["iv"] + "00"))
    expect_row(p, (1, 0, 0), dict(ctr, iv=ctr["iv"] + "00", valid=False))
    expect_row(p, (0, 1, 0), dict(ctr, key=ctr["key"][2:]))
    expect_row(p, (1, 0, 0), {k: v for k, v in dict(gcm, iv="", valid=False).items() if k != "pt"})
    expect_row(p, (0, 1, 0), dict(gcm, iv=""))
    expect_row(p, (1, 0, 0), {k: v for k, v in dict(gcm, tag=gcm["tag"] + "00", valid=False).items() if k != "pt"})


@case
def what_policy_refuses_goes_through_the_internal_interface(p):
    """Weak DES keys, equal TDEA keys and equal halves of an XTS key: computed, and refused by the
    public calls."""
    p.path = FAULTY
    found = 0
    for cipher, mode, wanted, fault in [
            ("des", "ecb", lambda r: r["key"] == "01" * 8, "encrypt_allows"), ("des", "cbc", lambda r: r["key"] == "01" * 8, "encrypt_allows"),
            ("des-ede3", "cfb64", lambda r: r["key"][:16] == r["key"][16:32] == r["key"][32:], "encrypt_batch_allows"),
            ("aes-128", "xts", lambda r: r["key"][:32] == r["key"][32:], "key_create_xts_allows")]:
        if not has(p, cipher, mode):
            continue
        row = find(cipher, mode, wanted)
        expect_row(p, (1, 0, 0), row)
        expect_row(p, (0, 1, 0), dict(row, ct=flip(row["ct"])))
        p.write("row", lines([row]))
        check_equal(counts(p.run("vectors", "row", env=dict(os.environ, WARPSEAL_TEST_FAULT=fault)))[1], 1, f"{cipher}-{mode} with {fault}")
        found += 1
    if not found:
        raise NotRun("this program has no cipher with weak keys, and no XTS")


@case
def foreign_parameters_of_a_mode(p):
    if not has(p, "aes-128", "ccm"):
        raise NotRun("this program has no CCM")
    for row in [r for r in of_cipher("aes-128") if r["checked"] == ["parameters refused"]][:20]:
        expect_row(p, (1, 0, 0), row)
        expect_row(p, (0, 1, 0), dict(row, valid=True, pt=row["ct"]))


@case
def padding(p):
    if not has(p, "aes-128", "cbc"):
        raise NotRun("this program has no CBC")
    bad = find("aes-128", "cbc-pkcs7", lambda r: not r["valid"] and r["ct"])
    good = find("aes-128", "cbc-pkcs7", lambda r: r["valid"] and r["pt"])
    expect_row(p, (1, 0, 0), bad)
    expect_row(p, (0, 1, 0), {k: v for k, v in dict(good, valid=False).items() if k != "pt"})
    expect_row(p, (0, 1, 0), dict(good, pt=good["pt"][:-2]))
    expect_row(p, (0, 1, 0), dict(good, pt=good["pt"] + "00"))


@case
def malformed_rows_are_skipped_with_their_reason(p):
    row = some("gcm")
    for broken in (dict(row, ct="0g"), dict(row, ct="000"), dict(row, key=7), {k: v for k, v in row.items() if k != "tag"},
                   dict(row, valid="yes"), dict(row, mode="eax"), dict(row, cipher="rot-13"), dict(row, mode="gcm-pkcs7"), dict(row, ct=row["ct"] + "00"), {"x": 1}, [1], 7):
        out = expect_row(p, (0, 0, 1), broken)
        check(out.splitlines()[-2].startswith("skipped 1: "), out)


@case
def broken_files_fail(p):
    good = lines([some("ctr"), some("gcm")])
    p.write("half", good[:-40])
    expect(p, (1, 1, 0), "half")
    p.write("half.gz", gzip.compress(good)[:-20])
    expect(p, (0, 1, 0), "half.gz")
    damaged = bytearray(gzip.compress(good))
    damaged[len(damaged) // 2] ^= 0xFF
    p.write("damaged.gz", bytes(damaged))
    expect(p, (0, 1, 0), "damaged.gz")
    with open(p.file("long"), "wb") as file:
        file.truncate((64 << 20) + 1)
    p.write("long.gz", gzip.compress(bytes((64 << 20) + 1)))
    for name in ("long", "long.gz", "/dev/zero"):
        p.fails(17, [name, "64.0 MiB"], "vectors", name)
    p.write("empty", b"")
    expect(p, (0, 1, 0), "empty")
    p.write("noise", bytes(range(128, 256)))
    expect(p, (0, 1, 0), "noise")
    check_equal(p.run("vectors", "missing").code, 10, "exit code of a missing file")
    os.mkdir(p.file("directory"))
    check_equal(p.run("vectors", "directory").code, 16, "exit code of a directory")
    check_equal(p.run("vectors").code, 2, "exit code without a file")


def of_chains(cipher, mode):
    """Returns one chain in each direction."""
    lines_ = [row for path in sorted((VECTORS / "block").iterdir()) for row in rows(f"block/{path.name}") if "rounds" in row]
    wanted = [row for row in lines_ if (row["cipher"], row["mode"]) == (cipher, mode) and len(row["rounds"]) > 1]
    return list({row["op"]: row for row in wanted}.values())


def every_link_is_checked(p, row):
    expect_row(p, (1, 0, 0), row)
    for index in range(len(row["rounds"])):
        for field in ("key", "iv", "in", "out"):
            changed = json.loads(json.dumps(row))
            if field in changed["rounds"][index]:
                changed["rounds"][index][field] = flip(changed["rounds"][index][field], 2)  # not a parity bit
                expect_row(p, (0, 1, 0), changed)


@case
def chains(p):
    row = next(r for r in rows("mct/aes-256-ecb.jsonl") if r["op"] == "decrypt")
    row["rounds"] = row["rounds"][:4]
    every_link_is_checked(p, row)
    for mode in ("cbc", "cfb128", "ofb", "ctr", "cfb64"):
        for cipher in ("aes-128", "aria-192", "des-ede3"):
            for found in [r for r in of_chains(cipher, mode)] if has(p, cipher, mode) else []:
                every_link_is_checked(p, dict(found, rounds=found["rounds"][:2]))
    expect_row(p, (0, 1, 0), dict(row, inner=999))
    expect_row(p, (0, 1, 0), dict(row, op="encrypt"))
    expect_row(p, (0, 0, 1), dict(row, rule="another"))
    expect_row(p, (0, 0, 1), dict(row, rounds=[]))


def bulk_rows():
    return [row for path in sorted((VECTORS / "block").iterdir()) for row in rows(f"block/{path.name}") if "pt_len" in row]


@case
def bulk(p):
    for mode in ("ecb", "ctr", "gcm", "xts"):
        if not has(p, "aes-256", mode):
            continue
        row = next(r for r in bulk_rows() if r["cipher"] == "aes-256" and r["mode"] == mode and r.get("data_unit_len") != r["pt_len"])
        expect_row(p, (1, 0, 0), row)
        for field in ("key", "iv", "aad", "ct_sha256", "ct_head", "ct_tail", "tag"):
            if row.get(field):
                expect_row(p, (0, 1, 0), dict(row, **{field: flip(row[field])}))
        expect_row(p, (0, 0, 1), dict(row, pt_splitmix64_seed=str(int(row["pt_splitmix64_seed"]) ^ 1)))


@case
def cobblestone(p):
    document = json.loads((VECTORS / "cobblestone/cobblestone-256.json").read_bytes())
    tests = document["testGroups"][0]["tests"]

    def expect_test(wanted, test, **group):
        p.write("document", json.dumps(dict(document, testGroups=[dict(document["testGroups"][0], tests=[test], **group)])).encode())
        expect(p, wanted, "document")

    for bits in 128, 256:
        expect(p, (2, 0, 0), VECTORS / f"cobblestone/empty-{bits}.json")
    valid = next(t for t in tests if t["result"] == "valid" and t["msgLength"] > 16384)
    expect_test((1, 0, 0), valid)
    expect_test((0, 1, 0), dict(valid, result="invalid"))
    for field in ("key", "msgSha512", "aeadKey", "baseNonce"):
        expect_test((0, 1, 0), dict(valid, **{field: flip(valid[field])}))
    expect_test((0, 1, 0), dict(valid, ctx=valid["ctx"] + "00"))
    expect_test((0, 1, 0), dict(valid, msgLength=valid["msgLength"] + 1))
    expect_test((0, 0, 1), dict(valid, ct=valid["ct"][:-8]))
    expect_test((0, 0, 1), dict(valid, result="perhaps"))
    expect_test((0, 0, 1), valid, aead="AEAD_ROT13")
    for test in tests:
        if test["result"] == "invalid":
            expect_test((0, 1, 0), dict(test, result="valid"))


@case
def faults_in_the_library_are_found(p):
    """Corrupts one bit in each computing call: the rows that use it must fail."""
    short = next(r for r in rows("block/aes-128-gcm.jsonl.gz") if len(r["tag"]) == 8 and r["valid"] and r["pt"])
    forged = next(r for r in rows("block/aes-256-gcm.jsonl.gz") if not r["valid"] and r["iv"] and r["ct"] and len(r["tag"]) == 32)
    modes = [mode for mode in MODES if has(p, "aes-256", mode)]
    files = {mode: lines([some(mode)]) for mode in modes}
    files |= {"short": lines([short]), "forged": lines([forged]), "cobblestone": (VECTORS / "cobblestone/cobblestone-256.json").read_bytes()}
    if "cbc-pkcs7" in modes:
        files["bad"] = lines([find("aes-128", "cbc-pkcs7", lambda r: not r["valid"] and r["ct"])])
    for name, content in files.items():
        p.write(name, content)
    plain = [mode for mode in ("ecb", "ctr", "cbc", "cfb128", "ofb") if mode in modes]
    aead = [mode for mode in ("gcm", "ccm") if mode in modes]
    faults = {"encrypt": plain, "decrypt": plain, "seal_unsafe_iv": aead, "seal_unsafe_iv_tag": aead, "open": aead,
              "open_accepts": [*aead, "forged", "short"], "open_releases": [*aead, "forged"], "seal_unsafe_iv_allows": ["short"],
              "internal_seal": ["short"], "internal_seal_tag": ["short"], "internal_open": ["short"], "internal_open_accepts": ["short"],
              "encrypt_batch": plain[1:], "decrypt_batch": plain[1:], "seal_batch_unsafe_iv": [*aead, "cobblestone"],
              "open_batch": [*aead, "forged", "cobblestone"], "file_seal": ["cobblestone"], "file_open": ["cobblestone"],
              "file_open_accepts": ["cobblestone"]}
    for call, mode in [("encrypt_padded", "cbc-pkcs7"), ("encrypt_padded_length", "cbc-pkcs7"), ("decrypt_padded", "cbc-pkcs7"),
                       ("decrypt_padded_length", "cbc-pkcs7"), ("decrypt_padded_accepts", "bad"), ("decrypt_padded_releases", "bad"),
                       ("xts_encrypt", "xts"), ("xts_decrypt", "xts"), ("mac", "cmac"), ("mac_verify", "cmac"), ("mac_verify_accepts", "cmac"),
                       ("mac_batch", "cmac"), ("mac_verify_batch", "cmac")]:
        faults[call] = [mode] if mode in files else []
    gpu = {"encrypt_device": ["ecb", "ctr"], "decrypt_device": [mode for mode in plain if mode != "ofb"], "encrypt_batch_device": plain[1:],
           "decrypt_batch_device": plain[1:], "seal_batch_device_unsafe_iv": aead, "seal_batch_device_unsafe_iv_tag": aead,
           "open_batch_device": [*aead, "forged"], "open_batch_device_status": aead}
    for call, mode in [("xts_encrypt_device", "xts"), ("xts_decrypt_device", "xts"), ("mac_batch_device_tag", "cmac"),
                       ("mac_verify_batch_device_status", "cmac")]:
        gpu[call] = [mode] if mode in files else []
    p.path = FAULTY
    for device, found in (("auto", faults), ("cuda", dict(faults, **gpu))):
        environment = dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1")
        for name in files:
            check_equal(p.run("vectors", "--device", device, name, env=environment).code, 0, f"exit code for {name} without a fault")
        for fault, found_in in found.items():
            for name in found_in:
                result = p.run("vectors", "--device", device, name, env=dict(environment, WARPSEAL_TEST_FAULT=fault))
                check(counts(result)[1] > 0 and result.code == 1, f"{fault} was not found on {device} with {name}: {result.out.decode()}")


@case
def a_gpu_runs_chains_and_bulk_rows_in_its_memory(p):
    """A GPU made of the cores if there is none: checks the calls that are made with it."""
    p.path = FAULTY
    environment = dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1")
    for name in ("mct/aes-256-ecb.jsonl", "block/aes-bulk.jsonl"):
        path = str(VECTORS / name)
        check_equal(counts(p.run("vectors", "--device", "cuda", path, env=environment))[1:], (0, 0), name)
        check(counts(p.run("vectors", "--device", "cuda", path, env=dict(environment, WARPSEAL_TEST_FAULT="encrypt_device")))[1] > 0, name)


def ntru(name):
    raw = (VECTORS / "ntru" / name).read_bytes()
    return (gzip.decompress(raw) if name.endswith(".gz") else raw).decode().splitlines(keepends=True)


def blocks(name, wanted):
    """Returns the title of an answer file and that many of its blocks."""
    text = "".join(ntru(name))
    return "\n\n".join(text.split("\n\n")[:1 + wanted]) + "\n"


@case
def ntru_on_every_target(p):
    """All rows of the fastest set. tests/kem runs every set on every target."""
    files = sorted(str(path) for path in (VECTORS / "ntru").glob("ntruhps2048509*"))
    for target in ("auto", "portable", "avx2", "vaes512"):
        result = p.run("vectors", "--device", target, *files)
        if result.code == 20 and target != "portable":
            continue
        check_equal(counts(result), (25 + 2 + 51 + 16, 0, 0), target)
    p.write("packed", gzip.compress("".join(ntru("ntruhps2048509-bulk.txt")).encode()))
    p.write("plain", "".join(ntru("ntruhps2048509.rsp.gz")).replace("\n", "\r\n").encode())
    expect(p, (16 + 25, 0, 0), "packed", "plain")


@case
def ntru_in_device_memory(p):
    p.path = FAULTY
    p.write("row", blocks("ntruhps2048509.rsp.gz", 2).encode())
    gpu = dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1")
    expect(p, (2, 0, 0), "--device", "cuda", "row", env=gpu)
    for call in ("kem_keypair", "kem_encapsulate", "kem_decapsulate"):
        expect(p, (0, 2, 0), "row", env=dict(os.environ, WARPSEAL_TEST_FAULT=call))
        expect(p, (0, 2, 0), "--device", "cuda", "row", env=dict(gpu, WARPSEAL_TEST_FAULT=call + "_device"))
        # On a device only its status reports an item without a result.
        expect(p, (0, 2, 0), "--device", "cuda", "row", env=dict(gpu, WARPSEAL_TEST_FAULT=call + "_status"))
    p.write("row", blocks("ntruhps2048509-coins.rsp.gz", 2).encode())
    expect(p, (2, 0, 0), "row")
    for call in ("kem_keypair", "kem_encapsulate", "kem_decapsulate"):
        expect(p, (0, 2, 0), "row", env=dict(os.environ, WARPSEAL_TEST_FAULT=call))


@case
def ntru_every_changed_field_is_found(p):
    for name, wanted in [("ntruhrss701.rsp.gz", ("count", "seed", "pk", "sk", "ct", "ss")),
                         ("ntruhrss701-coins.rsp.gz", ("count", "keypair_coins", "prf_key", "enc_coins")),
                         ("ntruhrss701-decaps.rsp.gz", ("count", "result", "ct", "ss"))]:
        text = blocks(name, 1)
        p.write("row", text.encode())
        expect(p, (1, 0, 0), "row")
        for field in wanted:
            for place in (0, 1, -1):
                lines_of = text.split("\n")
                at = next(i for i, line in enumerate(lines_of) if line.startswith(field + " = "))
                value = lines_of[at].removeprefix(field + " = ")
                new = {"accept": "reject", "reject": "accept"}.get(value) or (str(int(value) + 1) if field == "count" else flip(value, place % len(value)))
                lines_of[at] = f"{field} = {new}"
                p.write("row", "\n".join(lines_of).encode())
                expect(p, (0, 1, 0), "row")
    bulk = ntru("ntruhrss701-bulk.txt")
    head, row = bulk[0], next(line for line in bulk[1:] if line[0].isdigit()).split()
    short = [*row[:2], *row[2:]]
    p.write("row", (head + " ".join(short) + "\n").encode())
    expect(p, (1, 0, 0), "row")
    for field in range(7):
        changed = list(short)
        changed[field] = str(int(changed[field]) + 1) if field < 2 else flip(changed[field])
        p.write("row", (head + " ".join(changed) + "\n").encode())
        expect(p, (0, 1, 0), "row")


@case
def ntru_malformed(p):
    good = blocks("ntruhrss701-decaps.rsp.gz", 1)
    ct = next(line for line in good.splitlines() if line.startswith("ct = "))
    nothing = " " + hashlib.sha256().hexdigest()
    for text in [good.replace("# ntruhrss701", "# ntruhrss702"), good.replace("count = 0", "count = x"), good.replace("ct = ", "c = "),
                 good.replace("kind = ", "sort = "), good.replace("\nss = ", "\nss = 00\nss = "), good.replace("\nss = ", "\njunk\nss = "), "# ntruhrss701\n0 256 00\n", "# ntruhrss701\nnothing\n",
                 good.replace("count = 0", "count = 100"), good.replace(ct, ct[:-2]), good.replace(ct, ct + "00"),
                 "# ntruhrss701\n0 0" + 5 * nothing + "\n", "# ntruhrss701\n0 65537" + 5 * nothing + "\n"]:
        p.write("row", text.encode())
        check_equal(p.run("vectors", "row").code, 1, text[:60])
        expect(p, (0, 0, 1), "row")
    for title in (b"# ntruhrss701 and no rows\n\n", b"# ", b"# \n", b"#  \r\n\n"):
        p.write("row", title)
        expect(p, (0, 1, 0), "row")

main()
