"""Every Python example of docs/python.md runs. Those marked `py` need PyTorch."""

from __future__ import annotations

import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"
EXAMPLES = re.findall(r"^```(python|py)\n(.*?)^```", PAGE.read_text(), re.S | re.M)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(number: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, code = EXAMPLES[number]
    if mark == "py":
        pytest.importorskip("torch", reason="no PyTorch")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, f"{PAGE.name}, example {number + 1}", "exec"), {})


def test_page_has_examples() -> None:
    assert len(EXAMPLES) >= 12 and {mark for mark, _ in EXAMPLES} == {"python", "py"}
