#!/usr/bin/env python3
"""Changed sealed files through the program and through the second reader (tests/container/reader):
the same error class, and the same text where the file opens."""
import argparse
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "container/reader"))
sys.dont_write_bytecode = True

try:
    import warpseal_reader
except ImportError as missing:
    # The project's environment, or the one named for the tests, has the package.
    other = os.environ.get("WARPSEAL_TEST_PYTHON", str(pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python3"))
    if "WARPSEAL_FUZZ_TRIED" not in os.environ and os.access(other, os.X_OK):
        os.execve(other, [other, *sys.argv], os.environ | {"WARPSEAL_FUZZ_TRIED": "1"})
    print(f"NOT RUN: {missing} (scripts/requirements.txt)")
    sys.exit(0)

CODES = {12: "wrong_key", 13: "not_authentic", 14: "truncated", 15: "unsupported", 17: "limit_exceeded"}
TESTS = pathlib.Path(__file__).resolve().parent.parent
SSH_KEYS = TESTS / "vectors/age/ssh"
HEADER_BYTES = 4096 + 2 * 28672
# Offsets of the fields that parsers read: fixed part, start of each header copy, payload.
FIELDS = [range(0, 40), range(4096, 4096 + 180), range(4096, 4096 + 1290), range(4096 + 28672 - 70, 4096 + 28672 + 180), range(HEADER_BYTES - 70, HEADER_BYTES + 80)]


def by_program(program, folder, data, secret):
    (folder / "changed").write_bytes(data)
    done = subprocess.run([program, "decrypt", "-q", "--device", "cpu", "--threads", "1", "--format", "warpseal", *secret, folder / "changed"],
                          capture_output=True, timeout=60)
    return ("ok", done.stdout) if done.returncode == 0 else (CODES.get(done.returncode, f"exit code {done.returncode}"), b"")


def by_reader(data, **secret):
    out = io.BytesIO()
    try:
        warpseal_reader.open_file(io.BytesIO(data), out, **secret)
    except warpseal_reader.Refused as refused:
        return refused.kind, b""
    return "ok", out.getvalue()


def changed(draw, file):
    """Flips, overwrites, cuts or extends; in most cases in the fields that parsers read."""
    data = bytearray(file)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.choice(draw.choice(FIELDS)) if draw.random() < 0.8 else draw.randrange(len(data) + 1)
        at = min(at, len(data))
        kind = draw.randrange(8)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data += draw.randbytes(draw.choice((1, 16, 40, 16400)))
        elif kind == 2:
            del data[at:at + draw.choice((1, 2, 16, 4096))]
        elif at < len(data):
            data[at] = draw.choice((0, 1, 2, 32, 33, 255, data[at] ^ 1 << draw.randrange(8), draw.randrange(256)))
        if draw.random() < 0.3 and 4096 <= at < 4096 + 28672 < len(data) - 28672 and at < len(data):  # in both copies
            data[at + 28672] = data[at]
    return bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--at-least", type=int, default=1, help="fewer comparisons fail")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    counts = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        key = bytes(range(32))
        (folder / "key").write_bytes(key)
        (folder / "key").chmod(0o600)
        plugin = folder / "age-plugin-test"
        plugin.write_text((TESTS / "cli/age/test_plugin.py").read_text().replace("#!/usr/bin/env python3", f"#!{sys.executable} -B"))
        plugin.chmod(0o755)
        found = {**os.environ, "PATH": f"{folder}:{os.environ.get('PATH', '')}", "PLUGIN_LOG": os.devnull}
        files = []  # content, the program's options that open it, and the reader's
        for length, pair in ((0, None), (100, None), (16384, None), (40000, None), (9, []), (10, ["--post-quantum"]), (11, "ed25519"), (12, "rsa"), (13, "plugin")):
            (folder / "text").write_bytes(random.Random(length).randbytes(length))
            to, program, reader = ["-k", folder / "key"], ["-k", folder / "key"], {"key": key}
            if pair == "plugin":  # which the reader and a key pass by
                to = ["-j", "test", *to]
            elif isinstance(pair, str):
                identity = folder / pair
                identity.write_bytes((SSH_KEYS / pair).read_bytes())
                identity.chmod(0o600)
                to, program, reader = ["-R", SSH_KEYS / f"{pair}.pub"], ["-i", identity], {"identity": identity.read_text()}
            elif pair is not None:
                identity = folder / f"identity{length}"
                subprocess.run([given.program, "keygen", "-q", "--age", *pair, "-o", identity], check=True)
                to = ["-r", subprocess.run([given.program, "keygen", "-y", identity], check=True, capture_output=True, text=True).stdout.strip()]
                program, reader = ["-i", identity], {"identity": identity.read_text().splitlines()[-1]}
            subprocess.run([given.program, "encrypt", "-q", *to, "--force", "-o", folder / "file", folder / "text"], check=True, env=found)
            files.append(((folder / "file").read_bytes(), program, reader))
        end, run = time.monotonic() + given.seconds, 0
        while run < given.runs and time.monotonic() < end:
            draw = random.Random(given.seed + run)
            file, program, reader = draw.choice(files)
            data = changed(draw, file)
            ours, theirs = by_program(given.program, folder, data, program), by_reader(data, **reader)
            if ours != theirs:
                print(f"DIFFERENCE: the program: {ours[0]}, the second reader: {theirs[0]}\n"
                      f"repeat with: --seed {given.seed + run} --runs 1")
                return 1
            counts[ours[0]] = counts.get(ours[0], 0) + 1
            run += 1
    print(f"{run} files, 0 differences:", ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())))
    if run < given.at_least:
        print(f"FAILED: fewer than {given.at_least} comparisons")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
