"""Virtual environments with pinned packages, and reports of pytest."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import venv
import xml.etree.ElementTree as tree

ROOT = pathlib.Path(__file__).resolve().parents[1]
NOT_RUN = 77


def not_run(reason: str) -> None:
    print(f"NOT RUN python: {reason}")
    sys.exit(NOT_RUN)


def run(*command: object, **options: object) -> None:
    """Runs a command; its failure ends the program."""
    words = [str(word) for word in command]
    code = subprocess.run(words, **options).returncode  # type: ignore[call-overload]
    if code != 0:
        sys.exit(f"failed with status {code}: {' '.join(words)}")


def pip_of(folder: pathlib.Path) -> list[object]:
    return [folder / "bin/python", "-m", "pip", "--disable-pip-version-check", "-q"]


def create(folder: pathlib.Path, requirements: pathlib.Path) -> None:
    """Makes a fresh virtual environment. Without a package index the program ends with NOT RUN."""
    if sys.version_info < (3, 11):
        not_run("the package needs Python 3.11")
    try:
        venv.create(folder, clear=True, with_pip=True)
    except subprocess.CalledProcessError:
        not_run("this Python makes no virtual environments (scripts/bootstrap)")
    command = [*pip_of(folder), "install", "--require-hashes", "--only-binary", ":all:"]
    done = subprocess.run(
        [*map(str, command), "-r", str(requirements)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        print(done.stdout)
        if "Failed to establish a new connection" in done.stdout:
            not_run("no package index can be reached")
        sys.exit(f"pip cannot install {requirements.relative_to(ROOT)}")


def reason(skipped: tree.Element) -> str:
    """Returns why a test did not run. The text of a file that was skipped whole ends in it."""
    message = skipped.get("message") or ""
    whole = re.search(r"'Skipped: (.*)'\)", skipped.text or "")
    return whole.group(1) if message == "collection skipped" and whole else message


def run_tests(command: list[object], junit: pathlib.Path, **options: object) -> int:
    """Runs pytest, prints the tests that did not run and the counts in the form of
    scripts/test-report, and returns the exit status. Results of an earlier run do not count."""
    junit.unlink(missing_ok=True)
    words = [*map(str, command), f"--junitxml={junit}"]
    code = subprocess.run(words, **options).returncode  # type: ignore[call-overload]
    if junit.exists():
        report(junit)
    else:
        print("python: 0 passed, 1 failed, 0 NOT RUN")
    return int(code)


def report(junit: pathlib.Path) -> None:
    """Prints what a run of pytest has written."""
    cases = tree.parse(junit).getroot().findall(".//testcase")
    absent = failed = 0
    for case in cases:
        skipped = case.find("skipped")
        if skipped is not None:
            absent += 1
            print(f"NOT RUN {case.get('name')}: {reason(skipped)}")
        failed += any(case.find(kind) is not None for kind in ("failure", "error"))
    print(f"python: {len(cases) - failed - absent} passed, {failed} failed, {absent} NOT RUN")
