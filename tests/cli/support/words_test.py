"""Words of the command line: unknown ones and what is suggested for them, letter case, and
WARPSEAL_DEVICE."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program import case, check, main, some_bytes


@case
def unknown_options_name_themselves(p):
    p.fails(2, ["no option '--bogus'", "`warpseal --help`"], "--bogus")
    p.fails(2, ["no option '--bogus'", "`warpseal key --help`"], "key", "--bogus")
    # Not the required options that are missing too.
    p.fails(2, ["no option '--bogus'", "`warpseal raw encrypt --help`"], "raw", "encrypt", "--bogus")
    p.fails(2, "no option '-Q'", "encrypt", "-Q")
    p.fails(2, "'extra' is one argument too many", "keygen", "one", "extra")


@case
def the_nearest_word_is_suggested(p):
    for right, wrong in [("encrypt", ["enkrypt"]), ("encrypt", ["ecnrypt"]), ("keygen", ["kem", "keygn"]), ("list", ["key", "lst"]),
                         ("--output", ["encrypt", "--outptu"]), ("--passphrase-file", ["decrypt", "--pasphrase-file=x"]),
                         ("--quiet", ["encrypt", "--quite"]), ("--public-key", ["kem", "keygen", "--publickey", "x"])]:
        p.fails(2, f"Did you mean '{right}'?", *wrong)
    for wrong in (["zzz"], ["encrypt", "--zzzzzz"], ["x" * 100_000]):
        said = p.fails(2, "there is no", *wrong).err
        check("mean" not in said, said[:300])


@case
def values_of_unknown_options_are_not_shown(p):
    said = p.fails(2, "no option '--pass'.", "encrypt", "--pass=hunter2").err
    check("hunter2" not in said, said)


@case
def misplaced_passphrases_are_not_shown(p):
    new = ["kem", "keygen", "--set", "x25519", "--secret-key", "s", "--public-key", "p"]
    for says, *words in [("--passphrase does not take", "encrypt", "--passphrase=Sesame"), ("no option '-S'", "encrypt", "-pSesame"),
                         ("--passphrase-fd: Value not in range 0 to", "decrypt", "--passphrase-fd", "Sesame"),
                         ("--count: Value not in range", *new, "--count", "Sesame : Value not in range 0"),
                         ("one argument too many. A passphrase", "rescue", "-p", "sealed", "Sesame")]:
        said = p.fails(2, says, *words).err
        check("Sesame" not in said and "esame" not in said, said)


@case
def unknown_values_are_explained_too(p):
    p.key()
    p.write("plain", b"text")
    seal = ["encrypt", "-k", "key", "plain", "-o", "sealed"]
    p.fails(15, "Did you mean 'aria-256-gcm'?", *seal, "-c", "aira-256-gcm")
    p.fails(15, "Did you mean 'cobblestone'?", *seal, "--format", "coblestone")
    p.fails(2, "Did you mean 'portable'?", *seal, "--device", "portabel")
    p.fails(15, "Did you mean 'camellia-256-ctr'?", "raw", "encrypt", "-k", "key", "-c", "camelia-256-ctr", "--iv", "00" * 16, "plain")
    p.fails(15, "Did you mean 'ml-kem-768'?", "kem", "keygen", "--set", "mlkem-768", "--secret-key", "s", "--public-key", "p")


@case
def names_are_taken_in_any_case(p):
    p.key()
    content = some_bytes(1000)
    p.write("plain", content)
    p.ok("encrypt", "-k", "key", "-c", "ARIA-256-Gcm", "--format", "Warpseal", "--device", "CPU", "plain", "-o", "sealed")
    check(b"aria-256-gcm" in p.ok("info", "sealed").out, "the cipher")
    raw = ["-k", "key", "--iv", "00" * 16]
    coded = p.ok("raw", "encrypt", "-c", "AES-256-CTR", *raw, "plain").out
    check(coded != content and p.ok("raw", "decrypt", "-c", "aes-256-ctr", *raw, input=coded).out == content, "raw")
    p.ok("kem", "keygen", "--set", "ML-KEM-512", "--secret-key", "secret", "--public-key", "public")


@case
def the_environment_chooses_the_device(p):
    """Of every command with --device; an option takes precedence."""
    p.key()
    p.write("plain", b"text")
    p.sealed(b"text")
    p.ok("kem", "keygen", "--set", "ml-kem-512", "--secret-key", "secret", "--public-key", "public")
    p.ok("kem", "encapsulate", "--public-key", "public", "--ciphertext", "to", "--shared-secret", "shared")
    raw = ["-k", "key", "-c", "aes-256-ctr", "--iv", "00" * 16, "plain"]
    commands = [["encrypt", "-k", "key", "plain"], ["decrypt", "-k", "key", "sealed"], ["verify", "-k", "key", "sealed"],
                ["rescue", "-k", "key", "sealed", "-o", "new.rescued"], ["raw", "encrypt", *raw], ["raw", "decrypt", *raw], ["random", "8"],
                ["kem", "keygen", "--set", "ml-kem-512", "--secret-key", "-", "--public-key", "new"],
                ["kem", "encapsulate", "--public-key", "public", "--ciphertext", "-", "--shared-secret", "new"],
                ["kem", "decapsulate", "--secret-key", "secret", "--ciphertext", "to", "--shared-secret", "-"], ["vectors", "plain"]]
    wrong = dict(os.environ, WARPSEAL_DEVICE="warp9")
    for command in commands:
        p.fails(2, "no device 'warp9'", *command, env=wrong)
    p.fails(2, ["no device 'warp9' of WARPSEAL_DEVICE", "use auto"], *commands[0], env=wrong)
    check("WARPSEAL_DEVICE" not in p.fails(2, "no device 'warp8'", *commands[0], "--device", "warp8", env=wrong).err, "the option counts")
    for command in COMMANDS:
        shown = p.ok(*command, "--help").out.decode()
        covered = any(tuple(one[:len(command)]) == command for one in commands)
        check(("--device DEVICE" in shown) == covered, f"{command} has --device, or is not tried above")
    p.ok("encrypt", "-k", "key", "plain", "-o", "one", "--device", "cpu", env=wrong)
    said = p.ok("encrypt", "-k", "key", "plain", "-o", "two", env=dict(os.environ, WARPSEAL_DEVICE="portable")).err
    check(" on portable in" in said, said)
    p.ok("encrypt", "-k", "key", "plain", "-o", "three", env=dict(os.environ, WARPSEAL_DEVICE=""))


COMMANDS = [("encrypt",), ("decrypt",), ("verify",), ("rescue",), ("info",), ("key", "list"), ("key", "add"), ("keygen",), ("random",),
            ("raw", "encrypt"), ("raw", "decrypt"), ("devices",), ("list",), ("doctor",), ("kem", "keygen"), ("kem", "encapsulate"),
            ("kem", "decapsulate"), ("vectors",)]
main()
