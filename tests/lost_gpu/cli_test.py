"""Commands whose GPU is lost in the middle of a file. They finish it on the cores: every output is
whole and right. Of a changed file there is an exact prefix, or nothing.

`python3 cli_test.py PROGRAM`, a program of this folder. WARPSEAL_LOSSES: losses for each way to read
and write. WARPSEAL_REAL_GPU: the program has a real GPU, which takes larger files.
"""

import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))

from program import case, check, check_equal, main, some_bytes  # pylint: disable=wrong-import-position

CHUNK, SEALED, FRONT = 16384, 16400, 61496  # docs/file-format.md: plaintext bytes, sealed bytes, and bytes before the first chunk
REAL = "WARPSEAL_REAL_GPU" in os.environ
LOSSES = int(os.environ.get("WARPSEAL_LOSSES", "4"))
BYTES = 320_000_000 if REAL else 40_000_000
CHUNKS = BYTES // CHUNK + 1
AT_ONCE = 8 if REAL else 2
WATCH = struct.Struct("<9Q")  # struct Watch in watched.h
NEVER = 2**64 - 1
TRAP, BAD_ADDRESS = 0, 1
LATER = 600 if REAL else 300  # microseconds, or chunks of the fake GPU
ON_GPU = ["--device", "cuda:0"]
NOTICE = "the GPU can no longer be used by this process: the CPU continues the work"

drawing = threading.Lock()
cut = 0  # commands whose GPU was lost within a call
runs = 0


def losing(p, lose_at, later, cause, *command, **options):
    """Runs a command whose GPU is lost at that chunk. Returns its result, the chunks that the GPU
    did, and the number of calls that it did not end; None: the GPU was not lost."""
    with tempfile.NamedTemporaryFile() as watch:
        watch.write(WATCH.pack(lose_at, later, cause, 0, 0, 0, 0, 0, 0))
        watch.flush()
        result = p.run(*command, *ON_GPU, env=dict(os.environ, WARPSEAL_TEST_LOST_GPU=watch.name), **options)
        watch.seek(0)
        *_, done, cut_calls, _, lost = WATCH.unpack(watch.read())
    return (result, done, cut_calls) if lost else (result, None, None)


def in_the_middle(p, dice, before, *command, at_once=False, **options):
    """Runs a command whose GPU is lost before that chunk. Checks that it was, with chunks left."""
    global cut, runs
    with drawing:
        lose_at, later = dice.randrange(before), dice.choice([0, 0, dice.randrange(LATER)])
        later = 0 if at_once else later
        cause = dice.choice([TRAP] * 7 + [BAD_ADDRESS])
    result, done, cut_calls = losing(p, lose_at, later, cause, *command, **options)
    what = f"{' '.join(map(str, command))}, lost at chunk {lose_at}, {later} later"
    check(done is not None, f"{what}: the GPU was not lost, code {result.code} ({result.err.strip()})")
    check(done < CHUNKS, f"{what}: the GPU was lost after its work")
    check_equal(result.err.count(NOTICE), 1, f"{what}: notices of the loss in {result.err!r}")
    with drawing:
        cut, runs = cut + (cut_calls > 0), runs + 1
    return result, what


def every_run(one, count=LOSSES):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for job in [pool.submit(one, number) for number in range(count)]:
            job.result()


def to_file(p, name, function, *arguments, **options):
    with open(p.file(name), "wb") as out:
        result, what = function(*arguments, stdout=out, **options)
    content = p.read(name)
    os.remove(p.file(name))
    return result, content, what


@case
def decrypted(p):
    """To a named file, a pipe and a redirected file."""
    content = some_bytes(BYTES)
    p.sealed(content)
    dice = random.Random(1)
    command = ["decrypt", "-k", "key", "sealed"]

    def one(number):
        how = ["named", "pipe", "redirected"][number % 3]
        if how == "named":
            result, what = in_the_middle(p, dice, CHUNKS // 2, *command, "-o", f"out {number}")
            check_equal(result.code, 0, f"{what}: exit code ({result.err.strip()})")
            out = p.read(f"out {number}")
            os.remove(p.file(f"out {number}"))
        elif how == "pipe":
            result, what = in_the_middle(p, dice, CHUNKS // 2, *command)
            out = result.out
        else:
            result, out, what = to_file(p, f"out {number}", in_the_middle, p, dice, CHUNKS // 2, *command)
        check_equal(result.code, 0, f"{what}, {how}: exit code ({result.err.strip()})")
        check(out == content, f"{what}, {how}: another text")

    every_run(one, 3 * LOSSES)
    check_equal(sorted(os.listdir(p.directory)), ["key", "sealed"], "files that are left")
    print(f"  {3 * LOSSES} files decrypted: all are whole")


@case
def decrypted_from_a_pipe(p):
    content = some_bytes(BYTES)
    sealed = p.read(p.sealed(content))
    dice = random.Random(2)

    def one(_):
        result, what = in_the_middle(p, dice, CHUNKS // 2, "decrypt", "-k", "key", input=sealed)
        check_equal(result.code, 0, f"{what}: exit code ({result.err.strip()})")
        check(result.out == content, f"{what}: another text")

    every_run(one)


@case
def verified(p):
    p.sealed(some_bytes(BYTES))
    dice = random.Random(3)

    def one(_):
        result, what = in_the_middle(p, dice, CHUNKS // 2, "verify", "-k", "key", "sealed")
        check_equal(result.code, 0, f"{what}: exit code ({result.err.strip()})")

    every_run(one)


@case
def encrypted(p):
    """To a named file and a pipe. Each opens on the cores."""
    content = some_bytes(BYTES)
    p.key()
    p.write("plain", content)
    dice = random.Random(4)

    def one(number):
        command = ["encrypt", "-k", "key", "plain"]
        if number % 2 == 0:
            result, what = in_the_middle(p, dice, CHUNKS // 2, *command, "-o", f"out {number}")
        else:
            result, what = in_the_middle(p, dice, CHUNKS // 2, *command)
            p.write(f"out {number}", result.out)
        check_equal(result.code, 0, f"{what}: exit code ({result.err.strip()})")
        check(p.ok("decrypt", "--device", "cpu", "-k", "key", f"out {number}").out == content, f"{what}: another text")
        os.remove(p.file(f"out {number}"))

    every_run(one, 2 * LOSSES)
    print(f"  {2 * LOSSES} files encrypted: all open")


def damaged(sealed, how, dice):
    """Returns a changed file, and the number of chunks before the first changed one."""
    bad = dice.randrange(CHUNKS // 4, CHUNKS - 1)
    at = FRONT + bad * SEALED
    if how == "flipped":
        changed = bytearray(sealed)
        changed[at + dice.randrange(SEALED)] ^= 1 << dice.randrange(8)
        return bytes(changed), bad
    if how == "cut":
        return sealed[:at + dice.randrange(SEALED)], bad
    swapped = sealed[at + SEALED:at + 2 * SEALED] + sealed[at:at + SEALED]
    return (sealed[:at] + swapped + sealed[at + 2 * SEALED:], bad) if bad < CHUNKS - 2 else (sealed[:at], bad)


@case
def damaged_files(p):
    """Standard output has the exact prefix before the first changed chunk; a named file is not there."""
    content = some_bytes(BYTES)
    sealed = p.read(p.sealed(content))
    dice = random.Random(5)

    def one(number):
        name, out = f"changed {number}", f"out {number}"
        with drawing:
            changed, good = damaged(sealed, ["flipped", "cut", "swapped"][number % 3], dice)
        p.write(name, changed)
        command = ["decrypt", "-k", "key", name]
        # The call during which the GPU is lost may have the changed chunk.
        in_this_call = number % 2 == 0
        before = good if in_this_call else good // 2
        how = ["named", "pipe", "redirected"][(number + number // 3) % 3]
        if how == "named":
            result, what = in_the_middle(p, dice, before, *command, "-o", out, at_once=in_this_call)
            check(not os.path.exists(p.file(out)), f"{what}: an output")
            check("Nothing was written" in result.err, result.err)
        elif how == "pipe":
            result, what = in_the_middle(p, dice, before, *command, at_once=in_this_call)
            got = result.out
        else:
            result, got, what = to_file(p, out, in_the_middle, p, dice, before, *command, at_once=in_this_call)
        check(result.code in (13, 14), f"{what}: exit code {result.code} ({result.err.strip()})")
        if how != "named":
            check_equal(len(got), good * CHUNK, f"{what}, {how}: length of the output")
            check(content.startswith(got), f"{what}, {how}: the output is no prefix")
        os.remove(p.file(name))

    every_run(one, 3 * LOSSES)
    check_equal(sorted(os.listdir(p.directory)), ["key", "sealed"], "files that are left")
    print(f"  {3 * LOSSES} damaged files: each with an exact prefix, or without an output")


@case
def the_losses_were_in_the_middle(p):
    """Of the cases before. Also, a command that loses no GPU is noticed."""
    check(runs > 0 and cut >= runs // 2, f"only {cut} of {runs} losses came within a call of the GPU")
    print(f"  {runs} losses of a GPU, {cut} of them within a call")
    p.sealed(some_bytes(BYTES // 10))
    result, done, _ = losing(p, NEVER, 0, TRAP, "decrypt", "-k", "key", "sealed", "-o", "out")
    check_equal((result.code, done, NOTICE in result.err), (0, None, False), "a command without a loss")


def has_gpu(program):
    with tempfile.NamedTemporaryFile() as key:
        key.write(os.urandom(32))
        key.flush()
        return subprocess.run([program, "encrypt", *ON_GPU, "-k", key.name, "/dev/null"], capture_output=True, check=False).returncode != 20


if REAL and not has_gpu(sys.argv[1]):
    print("NOT RUN: no GPU to lose on this machine")
    sys.exit(77)
main()
