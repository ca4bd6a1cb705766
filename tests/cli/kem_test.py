"""`warpseal kem`: keys, ciphertexts and secrets in files, single and batched; lengths, permissions
and pipes."""

import concurrent.futures
import errno
import os

from kem_files import SETS, SMALL, decapsulate, encapsulate, keygen, mode
from program import case, check, check_equal, main, snapshot, some_bytes
from refusal import refuse


@case
def hybrids(p):
    """X25519 and its hybrids with ML-KEM. Keys of two sets may have one length: then --set is needed."""
    for name, (public, secret, ciphertext, shared) in {"x25519": (32, 32, 32, 32), "x25519mlkem768": (1216, 2432, 1120, 64),
                                                       "x-wing": (1216, 32, 1120, 32)}.items():
        keygen(p, name, "--force")
        p.ok(*encapsulate("--set", name, "--force"))
        p.ok(*decapsulate("--set", name, "--force"))
        check_equal([len(p.read(file)) for file in ("pk", "sk", "ct", "sent")], [public, secret, ciphertext, shared], f"lengths of {name}")
        check_equal(p.read("received"), p.read("sent"), f"secrets of {name}")
    p.fails(2, ["1216 bytes", "x25519mlkem768 and x-wing", "--set"], *encapsulate("--force"))
    p.fails(2, ["32 bytes", "--set"], *decapsulate("--force"))
    p.write("ct", bytes(1120))
    p.fails(2, ["number 1", "low order"], *decapsulate("--set", "x-wing", "--force"))


@case
def a_secret_arrives_in_every_set(p):
    for name, lengths in SETS.items():
        keygen(p, name, "--force")
        p.ok(*encapsulate("--force"))
        p.ok(*decapsulate("--force"))
        check_equal(tuple(len(p.read(file)) for file in ("pk", "sk", "ct")), lengths, name)
        check_equal(len(p.read("sent")), 32, name)
        check_equal(p.read("received"), p.read("sent"), name)
    check_equal(sorted(os.listdir(p.directory)), ["ct", "pk", "received", "sent", "sk"], "files")


@case
def secrets_are_private(p):
    keygen(p, SMALL)
    p.ok(*encapsulate(), umask=0o022)
    p.ok(*decapsulate(), umask=0o000)
    check_equal([mode(p, name) for name in ("sk", "sent", "received")], [0o600] * 3, "secret files")
    check_equal(mode(p, "ct"), 0o644, "the ciphertext")
    for umask in (0o027, 0o000):
        for name in ("pk", "ct"):
            os.unlink(p.file(name))
        for again in (umask, 0o000):  # the file replaced here got its mode from the first run
            keygen(p, SMALL, "--force", umask=again)
            p.ok(*encapsulate("--force"), umask=again)
            p.ok(*decapsulate("--force"), umask=again)
            check_equal([mode(p, name) for name in ("sk", "sent", "received")], [0o600] * 3, "secret files")
            check_equal([mode(p, name) for name in ("pk", "ct")], [0o666 & ~umask] * 2, "what is public")
    os.chmod(p.file("sk"), 0o640)
    p.fails(2, ["'sk'", "chmod 600"], *decapsulate("--force"))


@case
def many_at_a_time(p):
    for name in [SMALL, "ntruhrss701"]:
        public, secret, ciphertext = SETS[name]
        keygen(p, name, "--count", "19", "--force")
        check_equal((len(p.read("pk")), len(p.read("sk"))), (19 * public, 19 * secret), "keys")
        p.ok(*encapsulate("--set", name, "--force"))
        p.ok(*decapsulate("--set", name, "--force"))
        sent = p.read("sent")
        check_equal(len({sent[i:i + 32] for i in range(0, len(sent), 32)}), 19, "secrets of their own")
        check_equal(p.read("received"), sent, "one key each")
        # Any one item alone, and several under one key.
        p.write("sk7", p.read("sk")[7 * secret:8 * secret], 0o600)
        p.write("ct7", p.read("ct")[7 * ciphertext:8 * ciphertext])
        p.ok(*decapsulate("--force", sk="sk7", ct="ct7", ss="alone"))
        check_equal(p.read("alone"), sent[7 * 32:8 * 32], "item 7")
        p.write("pk", p.read("pk")[7 * public:8 * public])
        p.ok(*encapsulate("--count", "5", "--force"))
        p.ok(*decapsulate("--force", sk="sk7"))
        check_equal(len(p.read("sent")), 5 * 32, "secrets under one key")
        check_equal(p.read("received"), p.read("sent"), "one key for all")


@case
def more_than_one_call(p):
    keygen(p)
    p.ok(*encapsulate("--count", "8200"))
    p.ok(*decapsulate())
    sent = p.read("sent")
    check_equal(len({sent[i:i + 32] for i in range(0, len(sent), 32)}), 8200, "secrets of their own")
    check(p.read("received") == sent, "secrets over several calls")
    # One key per item.
    count, public = 4100, SETS[SMALL][0]
    keygen(p, SMALL, "--count", str(count), "--force")
    check_equal((len(p.read("pk")), len(p.read("sk"))), (count * public, count * SETS[SMALL][1]), "keys")
    p.ok(*encapsulate("--set", SMALL, "--force"))
    p.ok(*decapsulate("--set", SMALL, "--force"))
    check(len(p.read("sent")) == 32 * count and p.read("received") == p.read("sent"), "secrets of as many keys")
    keys = bytearray(p.read("pk"))
    keys[(count - 1) * public - 1] |= 0x80
    p.write("pk", keys)
    p.fails(2, f"number {count - 1} ", *encapsulate("--set", SMALL, ct="c", ss="s"))


@case
def through_pipes(p):
    keygen(p)
    public, secret = p.read("pk"), p.read("sk")
    ct = p.ok(*("kem", "encapsulate", "--public-key", "-", "--ciphertext", "-", "--shared-secret", "sent"), input=public).out
    check_equal(len(ct), SETS[SMALL][2], "bytes on the pipe")
    p.write("ct", ct)
    check_equal(p.ok(*decapsulate(ct="-", ss="-"), input=ct).out, p.read("sent"), "secret on the pipe")
    check_equal(p.ok(*decapsulate(sk="-", ss="-"), input=secret).out, p.read("sent"), "key on the pipe")
    check_equal(len(p.ok("kem", "keygen", "--set", SMALL, "--secret-key", "-", "--public-key", "pk2").out), len(secret), "secret key")
    p.fails(2, "standard output", *encapsulate(ct="-", ss="-"))
    p.fails(2, "standard input", *decapsulate(sk="-", ct="-"))


@case
def never_to_a_terminal(p):
    keygen(p)
    ours, theirs = os.openpty()
    try:
        for command in [("kem", "keygen", "--set", SMALL, "--secret-key", "-", "--public-key", "new"), encapsulate(ct="-"),
                        encapsulate(ss="-"), decapsulate(ss="-", ct="pk")]:
            p.fails(2, "terminal", *command, stdout=theirs)
    finally:
        os.close(ours)
        os.close(theirs)


@case
def wrong_lengths(p):
    for name in [SMALL, "ntruhrss1373"]:
        keygen(p, name, "--force")
        p.ok(*encapsulate("--force"))
        good = {file: p.read(file) for file in ("pk", "sk", "ct")}
        for file, code, command in [("pk", 2, encapsulate(ct="c", ss="s")), ("sk", 2, decapsulate(ss="s")),
                                    ("ct", 14, decapsulate(ss="s"))]:
            whole = len(good[file])
            for size in [0, 1, 31, 32, whole // 2, whole - 1, whole + 1, whole + 63, whole + 64, 2 * whole - 1]:
                p.write(file, (2 * good[file])[:size], 0o600)
                named = ("--set", name) if size % 2 else ()
                p.fails(code, [f"'{file}'", f"{size} bytes"], *command, *named)
            p.write(file, good[file], 0o600)
    p.write("sk", 2 * good["sk"], 0o600)
    p.fails(2, "--set", *decapsulate(ss="s"))
    for count in (1, 3):
        p.write("ct", count * good["ct"])
        p.fails(2, ["2 secret keys", f"{count} ciphertexts"], *decapsulate("--set", "ntruhrss1373", ss="s"))
    p.write("pk", 2 * good["pk"])
    p.fails(2, "--count", *encapsulate("--set", "ntruhrss1373", "--count", "3", ct="c", ss="s"))
    p.fails(2, "699", *encapsulate("--set", SMALL, ct="c", ss="s"))


@case
def every_wrong_length_of_one_set(p):
    """Every wrong length of each kind of file, from 0 to 64 bytes too many. The named set runs on
    the cores, as only the program's own check is tested."""
    keygen(p)
    p.ok(*encapsulate())
    for what, file, code, operation in [
            ("public key", "pk", 2, ["encapsulate", "--public-key", "-", "--ciphertext", "c", "--shared-secret", "s"]),
            ("secret key", "sk", 2, ["decapsulate", "--secret-key", "-", "--ciphertext", "ct", "--shared-secret", "s"]),
            ("ciphertext", "ct", 14, ["decapsulate", "--secret-key", "sk", "--ciphertext", "-", "--shared-secret", "s"])]:
        whole = p.read(file)
        before = snapshot(p.directory)
        longest = whole + some_bytes(64)

        def try_length(size):
            result = p.run("kem", *operation, "--set", SMALL, "--device", "cpu", input=longest[:size])
            check(result.code == code and f"{what} on standard input" in result.err and f"{size} bytes" in result.err,
                  f"{what} of {size} bytes: {result.code} {result.err!r}")

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(try_length, (size for size in range(len(longest) + 1) if size != len(whole))))
        check_equal(snapshot(p.directory), before, "files")


@case
def invalid_ciphertexts_give_another_secret(p):
    keygen(p)
    p.ok(*encapsulate())
    changed = bytearray(p.read("ct"))
    changed[100] ^= 1
    p.write("ct", changed)
    p.ok(*decapsulate())
    first = p.read("received")
    check(first != p.read("sent") and len(first) == 32, "another secret")
    p.ok(*decapsulate("--force"))
    check_equal(p.read("received"), first, "the same each time")


@case
def spare_bits_of_a_public_key(p):
    keygen(p, SMALL, "--count", "3")
    public = bytearray(p.read("pk"))
    public[2 * SETS[SMALL][0] - 1] |= 0x80
    p.write("pk", public)
    p.fails(2, ["number 2", SMALL], *encapsulate("--set", SMALL))


@case
def no_random_source(p):
    """Nothing undrawn is written, and commands that draw nothing work."""
    keygen(p)
    p.ok(*encapsulate())
    refused = {"preexec_fn": refuse("getrandom", errno.EIO)}
    for extra in ((), ("--count", "3")):
        p.fails(1, "random", "kem", "keygen", "--set", SMALL, "--secret-key", "s", "--public-key", "p", *extra, **refused)
        p.fails(1, "random", *encapsulate(*extra, ct="c", ss="s"), **refused)
    p.ok(*decapsulate(), **refused)
    check_equal(p.read("received"), p.read("sent"), "secret")


@case
def wrong_use(p):
    p.fails(15, ["'ntru'", "ntruhps4096821"], "kem", "keygen", "--set", "ntru", "--secret-key", "sk", "--public-key", "pk")
    p.fails(2, "--set", "kem", "keygen", "--secret-key", "sk", "--public-key", "pk")
    p.fails(2, "", "kem")
    p.fails(2, "--count", "kem", "keygen", "--set", SMALL, "--secret-key", "sk", "--public-key", "pk", "--count", "0")
    p.fails(10, "'pk'", *encapsulate())
    p.fails(20, "'avx2'", *("kem", "keygen", "--set", SMALL, "--secret-key", "sk", "--public-key", "pk", "--device", "avx2"),
            env=dict(os.environ, WARPSEAL_TARGETS="portable"))
    keygen(p)
    p.ok(*encapsulate())
    for command in (encapsulate("--device", "avx2", ct="c", ss="s"), decapsulate("--device", "avx2")):
        p.fails(20, "'avx2'", *command, env=dict(os.environ, WARPSEAL_TARGETS="portable"))


main()
