"""Commands whose GPU is lost in the middle of a file. They finish it on the cores: every output is
whole and right. Of a changed file there is an exact prefix, or nothing.

`python3 cli_test.py PROGRAM`, a program of this folder. WARPSEAL_LOSSES: losses for each way to
read and write. WARPSEAL_REAL_GPU: the program has a real GPU, which takes larger files.
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

from program import (  # pylint: disable=wrong-import-position
    case,
    check,
    check_equal,
    main,
    some_bytes,
)

# docs/file-format.md: plaintext bytes and sealed bytes of a chunk, and bytes before the first one.
CHUNK, SEALED, FRONT = 16384, 16400, 61496
REAL = "WARPSEAL_REAL_GPU" in os.environ
LOSSES = int(os.environ.get("WARPSEAL_LOSSES", "4" if REAL else "12"))
BYTES = 320_000_000 if REAL else 40_000_000
CHUNKS = BYTES // CHUNK + 1
AT_ONCE = 8 if REAL else 2
WATCH = struct.Struct("<8Q")  # struct Watch in watched.h
NEVER = 2**64 - 1
# Microseconds, or chunks of the fake GPU, until the loss: within some call, and within a given one.
LATER, LATER_IN_CALL = (600, 600) if REAL else (600, 1024)
ON_GPU = ["--device", "cuda:0"]
NOTICE = "the GPU can no longer be used by this process: the CPU continues the work"

counting = threading.Lock()
# Commands whose GPU was lost, those of them within a call, and those within one whose changed chunk
# it had done.
runs = cut = after_forgery = 0


def losing(p, lose_at, later, *command, **options):
    """Runs a command whose GPU is lost at that chunk. Returns its result and the chunks that the
    GPU did; None: the GPU was not lost."""
    global runs, cut, after_forgery
    with tempfile.NamedTemporaryFile() as watch:
        watch.write(WATCH.pack(lose_at, later, 0, 0, 0, 0, 0, 0))
        watch.flush()
        env = dict(os.environ, WARPSEAL_TEST_LOST_GPU=watch.name)
        result = p.run(*command, *ON_GPU, env=env, **options)
        watch.seek(0)
        *_, done, cut_calls, cut_after_forgery, lost = WATCH.unpack(watch.read())
    with counting:
        runs, cut = runs + lost, cut + (cut_calls > 0)
        after_forgery += cut_after_forgery > 0
    return result, done if lost else None


def in_the_middle(p, generator, before, *command, **options):
    """Runs a command whose GPU is lost before that chunk. Checks that it was, with chunks left."""
    lose_at = generator.randrange(before)
    later = generator.choice([0, 0, generator.randrange(LATER)])
    result, done = losing(p, lose_at, later, *command, **options)
    what = f"{' '.join(map(str, command))}, lost at chunk {lose_at}, {later} later"
    check(done is not None, f"{what}: the GPU was not lost ({result.code}: {result.err.strip()})")
    check(done < CHUNKS, f"{what}: the GPU was lost after its work")
    check_equal(result.err.count(NOTICE), 1, f"{what}: notices of the loss in {result.err!r}")
    return result, what


def in_the_call_with(p, generator, chunk, *command, **options):
    """Runs a command whose GPU is lost in the call with that chunk, or after it. With one thread
    there is one call at a time, of up to 1024 chunks."""
    later = generator.randrange(LATER_IN_CALL)
    result, _ = losing(p, chunk - 1, later, *command, "--threads", 1, **options)
    return result, f"{' '.join(map(str, command))}, lost at chunk {chunk - 1}, {later} later"


def every_run(one, count=LOSSES):
    """Calls one(number, generator), several at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for job in [pool.submit(one, number, random.Random(number)) for number in range(count)]:
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
    command = ["decrypt", "-k", "key", "sealed"]

    def one(number, generator):
        how = ["named", "pipe", "redirected"][number % 3]
        if how == "named":
            result, what = in_the_middle(p, generator, CHUNKS // 2, *command, "-o", f"out {number}")
            check_equal(result.code, 0, f"{what}: exit code ({result.err.strip()})")
            out = p.read(f"out {number}")
            os.remove(p.file(f"out {number}"))
        elif how == "pipe":
            result, what = in_the_middle(p, generator, CHUNKS // 2, *command)
            out = result.out
        else:
            where = (p, generator, CHUNKS // 2)
            result, out, what = to_file(p, f"out {number}", in_the_middle, *where, *command)
        check_equal(result.code, 0, f"{what}, {how}: exit code ({result.err.strip()})")
        check(out == content, f"{what}, {how}: another text")

    every_run(one, 3 * LOSSES)
    check_equal(sorted(os.listdir(p.directory)), ["key", "sealed"], "files that are left")
    print(f"  {3 * LOSSES} files decrypted: all are whole")


@case
def decrypted_from_a_pipe(p):
    content = some_bytes(BYTES)
    sealed = p.read(p.sealed(content))

    def one(_, generator):
        command = ["decrypt", "-k", "key"]
        result, what = in_the_middle(p, generator, CHUNKS // 2, *command, input=sealed)
        check_equal(result.code, 0, f"{what}: exit code ({result.err.strip()})")
        check(result.out == content, f"{what}: another text")

    every_run(one)


@case
def verified(p):
    p.sealed(some_bytes(BYTES))

    def one(_, generator):
        result, what = in_the_middle(p, generator, CHUNKS // 2, "verify", "-k", "key", "sealed")
        check_equal(result.code, 0, f"{what}: exit code ({result.err.strip()})")

    every_run(one)


@case
def encrypted(p):
    """To a named file and a pipe. Each opens on the cores."""
    content = some_bytes(BYTES)
    p.key()
    p.write("plain", content)

    def one(number, generator):
        command = ["encrypt", "-k", "key", "plain"]
        if number % 2 == 0:
            result, what = in_the_middle(p, generator, CHUNKS // 2, *command, "-o", f"out {number}")
        else:
            result, what = in_the_middle(p, generator, CHUNKS // 2, *command)
            p.write(f"out {number}", result.out)
        check_equal(result.code, 0, f"{what}: exit code ({result.err.strip()})")
        opened = p.ok("decrypt", "--device", "cpu", "-k", "key", f"out {number}")
        check(opened.out == content, f"{what}: another text")
        os.remove(p.file(f"out {number}"))

    every_run(one, 2 * LOSSES)
    print(f"  {2 * LOSSES} files encrypted: all open")


def damaged(sealed, how, generator):
    """Returns a changed file, and the number of chunks before the first changed one."""
    bad = generator.randrange(CHUNKS // 4, CHUNKS - 1)
    at = FRONT + bad * SEALED
    if how == "flipped":
        changed = bytearray(sealed)
        changed[at + generator.randrange(SEALED)] ^= 1 << generator.randrange(8)
        return bytes(changed), bad
    if how == "cut":
        return sealed[:at + generator.randrange(SEALED)], bad
    if bad >= CHUNKS - 2:
        return sealed[:at], bad
    swapped = sealed[at + SEALED:at + 2 * SEALED] + sealed[at:at + SEALED]
    return sealed[:at] + swapped + sealed[at + 2 * SEALED:], bad


@case
def damaged_files(p):
    """Standard output has the prefix before the first changed chunk; a named file is not there."""
    content = some_bytes(BYTES)
    sealed = p.read(p.sealed(content))

    def one(number, generator):
        name, out = f"changed {number}", f"out {number}"
        changed, good = damaged(sealed, ["flipped", "cut", "swapped"][number % 3], generator)
        p.write(name, changed)
        command = ["decrypt", "-k", "key", name]
        # The lost GPU may have done the changed chunk in some runs.
        lost, before = (in_the_call_with, good) if number % 2 == 0 else (in_the_middle, good // 2)
        how = ["named", "pipe", "redirected"][(number + number // 3) % 3]
        if how == "named":
            result, what = lost(p, generator, before, *command, "-o", out)
            check(not os.path.exists(p.file(out)), f"{what}: an output")
            check("Nothing was written" in result.err, result.err)
        elif how == "pipe":
            result, what = lost(p, generator, before, *command)
            got = result.out
        else:
            result, got, what = to_file(p, out, lost, p, generator, before, *command)
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
    check(runs > 0 and cut >= runs // 2, f"only {cut} of {runs} losses came within a call")
    check(REAL or after_forgery > 0, "no loss came after a changed chunk in a call")
    print(f"  {runs} losses of a GPU: {cut} within a call, {after_forgery} after its changed chunk")
    p.sealed(some_bytes(BYTES // 10))
    result, done = losing(p, NEVER, 0, "decrypt", "-k", "key", "sealed", "-o", "out")
    told = NOTICE in result.err
    check_equal((result.code, done, told), (0, None, False), "a command without a loss")


def has_gpu(program):
    with tempfile.NamedTemporaryFile() as key:
        key.write(os.urandom(32))
        key.flush()
        command = [program, "encrypt", *ON_GPU, "-k", key.name, "/dev/null"]
        no_device = 20
        return subprocess.run(command, capture_output=True, check=False).returncode != no_device


if REAL and not has_gpu(sys.argv[1]):
    print("NOT RUN: no GPU to lose on this machine")
    sys.exit(77)
main()
