"""Runs the Python package's tests on a GPU: a wheel of `scripts/wheel --gpu`, with the PyTorch and
CuPy of the machine.

The wheels beside it are unpacked, too: nanobind-backend, and what the tests need. No package index
is asked.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as tree
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ["test_gpu.py", "test_torch.py", "test_examples.py"]


def unpacked(wheel, folder):
    for one in sorted(pathlib.Path(wheel).parent.glob("*.whl")):
        zipfile.ZipFile(one).extractall(folder)


def run(wheel, environment):
    """Returns passed, failed, skipped as (name, why), seconds and the output."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        unpacked(wheel, folder)
        report = pathlib.Path(folder, "report.xml")
        # PyTorch warns of this and that.
        options = ["-p", "no:cacheprovider", "-o", "filterwarnings=default", f"--junitxml={report}"]
        done = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", *options, *(f"tests/{name}" for name in TESTS)],
            cwd=ROOT / "python",
            env={**os.environ, **environment, "PYTHONPATH": folder,
                 "HYPOTHESIS_STORAGE_DIRECTORY": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        cases = tree.parse(report).getroot().findall(".//testcase") if report.exists() else []
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    skipped = [
        (case.get("name"), case.find("skipped").get("message"))
        for case in cases
        if case.find("skipped") is not None
    ]
    passed = len(cases) - failed - len(skipped)
    failed = max(failed, int(done.returncode != 0))
    return passed, failed, skipped, time.monotonic() - start, done.stdout
