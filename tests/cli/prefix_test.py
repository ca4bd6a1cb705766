"""Standard output on a regular file: after a failure it holds an exact prefix of the plaintext or
of the sealed file.

WARPSEAL_RUNS: number of damaged files to decrypt, 60 by default. WARPSEAL_DEVICE: a value of
--device; its files are larger, so that a GPU has several chunks in flight.
"""

import os
import random
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

from program import case, check, check_equal, main, some_bytes

CHUNK, SEALED, FRONT = 16384, 16400, 61496  # docs/file-format.md: plaintext bytes, sealed bytes, and bytes before the first chunk
RUNS = int(os.environ.get("WARPSEAL_RUNS", "60"))
DEVICE = os.environ.get("WARPSEAL_DEVICE")
ON_DEVICE = ["--device", DEVICE] if DEVICE else []
BYTES = 60_000_000 if DEVICE else 3_000_000


def damaged(sealed, how, dice):
    """Returns the changed file, and the number of chunks before the first changed one."""
    whole = (len(sealed) - FRONT) // SEALED
    if how == "flipped":
        at = dice.randrange(FRONT, len(sealed))
        changed = bytearray(sealed)
        changed[at] ^= 1 << dice.randrange(8)
        return bytes(changed), (at - FRONT) // SEALED
    if how == "cut":
        length = dice.randrange(FRONT, len(sealed))
        return sealed[:length], (length - FRONT) // SEALED
    if how == "extended":
        return sealed + dice.randbytes(dice.choice([1, 16, SEALED, 20 * SEALED + 5])), whole
    first, second = sorted(dice.sample(range(whole), 2))

    def chunk(number):
        return sealed[FRONT + number * SEALED:FRONT + (number + 1) * SEALED]

    between = sealed[FRONT + (first + 1) * SEALED:FRONT + second * SEALED]
    return sealed[:FRONT + first * SEALED] + chunk(second) + between + chunk(first) + sealed[FRONT + (second + 1) * SEALED:], first


def to_file(p, *command, name="out", **options):
    with open(p.file(name), "wb") as out:
        result = p.run(*command, stdout=out, **options)
    return result, p.read(name)


@case
def decrypted_from_a_damaged_file(p):
    content = some_bytes(BYTES)
    sealed = p.read(p.sealed(content))
    dice = random.Random(5)

    def one(number):
        how = ["flipped", "cut", "extended", "swapped"][number % 4]
        with drawing:
            changed, good = damaged(sealed, how, dice)
        p.write(f"changed {number}", changed)
        result, out = to_file(p, "decrypt", "--threads", 8, *ON_DEVICE, "-k", "key", f"changed {number}", name=f"out {number}")
        check(result.code in (13, 14), f"run {number}, {how}: exit code {result.code} ({result.err.strip()})")
        check_equal(len(out), good * CHUNK, f"run {number}, {how}: length of the output")
        check(content.startswith(out), f"run {number}, {how}: the output is no prefix")
        check("not the whole file" in result.err if out else "Nothing was written" in result.err, result.err)
        for name in ("changed", "out"):
            os.remove(p.file(f"{name} {number}"))

    drawing = threading.Lock()
    with ThreadPoolExecutor(8 if DEVICE else 1) as pool:
        for job in [pool.submit(one, number) for number in range(RUNS)]:
            job.result()
    print(f"  {RUNS} damaged files, each with an exact prefix of its plaintext")


@case
def a_named_output_is_removed(p):
    """The same failures with -o, which may write in any order: nothing is left."""
    sealed = p.read(p.sealed(some_bytes(BYTES)))
    dice = random.Random(6)
    for how in ["flipped", "cut", "extended", "swapped"]:
        p.write("changed", sealed[:-5] if how == "cut" else damaged(sealed, how, dice)[0])
        p.fails(13, "Nothing was written", "decrypt", "--threads", 8, *ON_DEVICE, "-k", "key", "changed", "-o", "opened")


@case
def encrypted_and_interrupted(p):
    """The file has a start and a long hole: on the slowest path it would take minutes."""
    content = some_bytes(20 * CHUNK + 5)
    p.key()
    p.write("plain", content)
    os.truncate(p.file("plain"), 64 << 30)
    for _ in range(5):
        with open(p.file("sealed"), "wb") as out:
            process = p.start("encrypt", "--threads", 8, "--device", "portable", "-k", "key", "--progress", "json", "plain", stdout=out,
                              stderr=subprocess.PIPE)
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=120)
        check_equal(process.returncode, 130, "exit code")
        whole = max(0, os.path.getsize(p.file("sealed")) - FRONT) // SEALED
        result, out = to_file(p, "decrypt", "-k", "key", "sealed")
        check(result.code in (13, 14), f"exit code {result.code} of a truncated file: {result.err}")
        check_equal(len(out), whole * CHUNK, "length of the output")
        check(out == content[:len(out)] + bytes(max(0, len(out) - len(content))), "the output is no prefix")


main()
