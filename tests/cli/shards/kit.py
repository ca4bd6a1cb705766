"""What the tests of shards share: a text, its plan, its parts."""

import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "cli"), str(TESTS / "container/reader")]

from program import check_equal, some_bytes  # pylint: disable=wrong-import-position

TEXT, CHUNK, FRONT, PART_HEAD = 16384, 16400, 61496, 4096
QUICK = ["--argon2-memory", "8", "--argon2-passes", "1"]


def planned(p, shards, content=None, key="key", name="text", plan="plan"):
    """Writes a text and makes a plan for it. Returns the text."""
    content = some_bytes(5 * TEXT + 100) if content is None else content
    if not os.path.exists(p.file(key)):
        p.key(key)
    p.write(name, content)
    p.ok("-q", "encrypt", "-k", key, "--plan", plan, "--shards", shards, name)
    return content


def seal(p, number, shards, *options, plan="plan", name="text"):
    return p.ok("encrypt", "-k", "key", "--plan", plan, "--shard", f"{number}/{shards}", *options, name)


def seal_all(p, shards, **names):
    for number in range(1, shards + 1):
        seal(p, number, shards, **names)


def join(p, *parts, output="sealed", plan="plan", options=()):
    return p.ok("encrypt", "-k", "key", "--plan", plan, "--join", "-o", output, *options, *parts)


def check_opens(p, content, name="sealed"):
    check_equal(p.ok("-q", "decrypt", "-k", "key", name).out, content, f"the text of {name}")
