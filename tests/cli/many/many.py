"""What the tests of runs over many files share."""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from program import check_equal, some_bytes  # pylint: disable=wrong-import-position

QUICK = ["--argon2-memory", "8", "--argon2-passes", "1"]


def tree(p, files, top=""):
    """Writes files, named by paths, with contents of their own. Returns the contents by path."""
    contents = {}
    for number, name in enumerate(files):
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(p.file(path)) or p.directory, exist_ok=True)
        contents[path] = some_bytes(100 + number, number)
        p.write(path, contents[path])
    return contents


def names(p, top="."):
    """Returns the paths of all files below a directory."""
    return sorted(os.path.relpath(os.path.join(root, name), p.directory)
                  for root, _, files in os.walk(p.file(top)) for name in files)


def rows(result):
    """Returns the JSON lines of a run by input."""
    lines = [json.loads(line) for line in result.out.splitlines()]
    check_equal(len({line["input"] for line in lines}), len(lines), "lines for different inputs")
    return {line["input"]: line for line in lines}
