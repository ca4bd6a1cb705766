"""The programs of examples/python run, on a GPU where there is one."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
PRINTS = {
    "checkpoint.py": ["4 tensors on", "refused: chunk"],
    "gpu_weights.py": ["6 layers of 4194304 bytes on"],
    "kv_cache.py": ["refused: 1 of the messages do not verify: 0", "64 pages of 65536 bytes on"],
}


def test_every_example_is_here() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == set(PRINTS)


@pytest.mark.parametrize("name", PRINTS)
def test_example(name: str, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("torch", reason="no PyTorch")
    done = subprocess.run(
        [sys.executable, "-B", FOLDER / name, tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for text in PRINTS[name]:
        assert text in done.stdout
