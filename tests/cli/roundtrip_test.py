"""Round trips: files and pipes, many sizes, ciphers, formats, several keys."""

import json
import os
import subprocess
import sys
import threading

from program import case, check, check_equal, main, some_bytes

CHUNK = 16384
SIZES = [0, 1, 15, 16, 17, CHUNK - 1, CHUNK, CHUNK + 1, 65536, 16 * CHUNK, 16 * CHUNK + 1, 1 << 20, (5 << 20) + 12345, 33 << 20]


@case
def file_to_file(p):
    p.key()
    for size in SIZES:
        content = some_bytes(size, size)
        p.write("plain", content)
        p.ok("encrypt", "-k", "key", "plain", "-o", f"sealed-{size}")
        p.ok("decrypt", "-k", "key", f"sealed-{size}", "-o", f"opened-{size}")
        check(p.read(f"opened-{size}") == content, f"{size} bytes differ")
        check(len(p.read(f"sealed-{size}")) > size, "no room for tags")


@case
def pipe_to_pipe(p):
    p.key()
    for size in SIZES:
        content = some_bytes(size, size)
        sealed = p.ok("encrypt", "-k", "key", input=content).out
        check(p.ok("decrypt", "-k", "key", input=sealed).out == content, f"{size} bytes differ")
        check(p.ok("decrypt", "-k", "key", "-", "-o", "-", input=sealed).out == content, f"{size} bytes differ with -")


@case
def file_to_pipe_and_pipe_to_file(p):
    p.key()
    for size in SIZES:
        content = some_bytes(size, size)
        p.write("plain", content)
        sealed = p.ok("encrypt", "-k", "key", "plain").out
        p.ok("decrypt", "-k", "key", "-o", f"opened-{size}", input=sealed)
        check(p.read(f"opened-{size}") == content, f"{size} bytes differ")


@case
def one_pipeline(p):
    p.key()
    content = some_bytes(20 << 20)
    first = p.start("encrypt", "-k", "key", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    second = p.start("decrypt", "-k", "key", stdin=first.stdout, stderr=subprocess.DEVNULL)
    first.stdout.close()
    reader = subprocess.Popen(["cat"], stdin=second.stdout, stdout=subprocess.PIPE)
    second.stdout.close()
    feeder = threading.Thread(target=lambda: (first.stdin.write(content), first.stdin.close()))
    feeder.start()
    got = reader.communicate(timeout=60)[0]
    feeder.join()
    check_equal((first.wait(), second.wait()), (0, 0), "exit codes")
    check(got == content, "bytes differ")


@case
def ciphers(p):
    p.key()
    content = some_bytes(100_000)
    for cipher in json.loads(p.ok("list", "--json").out)["file_ciphers"]:
        sealed = p.ok("encrypt", "-c", cipher, "-k", "key", input=content).out
        check(p.ok("decrypt", "-k", "key", input=sealed).out == content, cipher)


@case
def several_keys(p):
    for name in ["one", "two", "three"]:
        p.key(name)
    content = some_bytes(50_000)
    sealed = p.ok("encrypt", "-k", "one", "-k", "two", input=content).out
    for name in ["one", "two"]:
        check(p.ok("decrypt", "-k", name, input=sealed).out == content, name)
    check(p.ok("decrypt", "-k", "three", "-k", "two", input=sealed).out == content, "the second key is tried")
    p.fails(12, "cannot decrypt", "decrypt", "-k", "three", input=sealed)


@case
def cobblestone(p):
    for size in [16, 32]:
        p.key("raw", size)
        for context in [[], ["--context", "00ff10"]]:
            for length in [0, 1, CHUNK, 3 * CHUNK + 5]:
                content = some_bytes(length, length)
                options = ["--format", "cobblestone", *context, "-k", "raw"]
                sealed = p.ok("encrypt", *options, input=content).out
                # c2sp.org/chunked-encryption: salt 24, commitment 32, a tag of 16 for each chunk;
                # the last chunk is shorter than a full one
                check_equal(len(sealed), 56 + length + 16 * (length // CHUNK + 1), "length of the message")
                check(p.ok("decrypt", *options, input=sealed).out == content, "bytes differ")
        p.fails(12, ["cannot decrypt", "context"], "decrypt", "--format", "cobblestone", "-k", "raw", "--context", "00ff11", input=sealed)


@case
def devices_and_threads(p):
    p.key()
    content = some_bytes(3 << 20)
    for options in [["--device", "cpu"], ["--device", "portable"], ["--threads", "1"], ["--threads", "3"]]:
        sealed = p.ok("encrypt", "-k", "key", *options, input=content).out
        check(p.ok("decrypt", "-k", "key", *options, input=sealed).out == content, str(options))


@case
def auto_reports_its_target(p):
    p.key()
    p.write("plain", some_bytes(100_000))
    said = p.ok("encrypt", "-k", "key", "plain", "-o", "sealed").err
    check_equal(len(said.splitlines()), 1, "lines on stderr")
    check("picked by auto" in said, said)
    check_equal(p.ok("-q", "decrypt", "-k", "key", "sealed", "-o", "opened").err, "", "stderr under -q")


# A process's peak includes that of the process it was forked from, so a small parent measures.
MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


@case
def memory_is_bounded(p):
    """A sparse gibibyte, from a file and from a pipe, in each direction: peak memory is a fraction
    of it."""
    p.key()
    with open(p.file("plain"), "wb") as file:
        file.truncate(1 << 30)
    p.ok("encrypt", "-k", "key", "plain", "-o", "sealed")
    for command, name in [("encrypt", "plain"), ("decrypt", "sealed")]:
        start = [sys.executable, "-c", MEASURE, p.path, command, "-q", "--device", "cpu", "-k", "key"]
        with open(p.file(name), "rb") as file:
            feeder = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        for arguments, source in [([name, "-o", "/dev/null"], subprocess.DEVNULL), ([], feeder.stdout)]:
            measured = subprocess.run(start + arguments, cwd=p.directory, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            code, kibibytes = map(int, measured.stderr.split())
            check_equal(code, 0, f"{command} {arguments}")
            check(kibibytes < 64 << 10, f"{command} {arguments}: peak memory {kibibytes >> 10} MiB")
        feeder.stdout.close()
        feeder.wait()


@case
def verify_writes_nothing(p):
    p.sealed(some_bytes(100_000))
    before = set(os.listdir(p.directory))
    check_equal(p.ok("verify", "-k", "key", "sealed").out, b"", "stdout")
    check_equal(set(os.listdir(p.directory)), before, "the directory")


main()
