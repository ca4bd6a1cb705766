"""Files that appear, or replace an older one, only when they are whole."""

from __future__ import annotations

import pathlib


def write_whole(path: pathlib.Path, text: str) -> None:
    """Writes a regular file by way of another name. A pipe or device is written directly."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
