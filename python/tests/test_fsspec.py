"""The fsspec filesystem, over files and over memory."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import fsspec
import pytest
import warpseal
from warpseal.fsspec import WarpsealFileSystem

KEY = bytes(range(32))
TEXT = bytes(range(256)) * 1000


@pytest.fixture(params=["file", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[str]:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    yield f"file://{tmp_path}" if request.param == "file" else "memory://folder"
    memory.store.clear()


def opened(url: str, mode: str = "rb") -> Any:
    return fsspec.open(f"warpseal::{url}", mode, warpseal={"key": KEY})


def filesystem(url: str) -> tuple[WarpsealFileSystem, str]:
    fs, path = fsspec.url_to_fs(f"warpseal::{url}", warpseal={"key": KEY})
    assert isinstance(fs, WarpsealFileSystem)
    return fs, path


def test_round_trip(place: str) -> None:
    with opened(f"{place}/x.ws", "wb") as out:
        out.write(TEXT)
    with fsspec.open(f"{place}/x.ws", "rb") as sealed:
        assert TEXT[:1000] not in sealed.read()
    with opened(f"{place}/x.ws") as file:
        assert file.read() == TEXT
        file.seek(100_000)
        assert file.read(1000) == TEXT[100_000:101_000]


def test_interface(place: str) -> None:
    fs, folder = filesystem(place)
    fs.makedirs(f"{folder}/sub", exist_ok=True)
    fs.pipe_file(f"{folder}/sub/a.ws", TEXT)
    fs.pipe_file(f"{folder}/sub/b.ws", b"")
    assert fs.info(f"{folder}/sub/a.ws")["size"] == len(TEXT)
    assert fs.info(f"{folder}/sub/a.ws")["sealed_size"] > len(TEXT)
    assert fs.size(f"{folder}/sub/b.ws") == 0
    assert fs.cat_file(f"{folder}/sub/a.ws", start=50_000, end=50_010) == TEXT[50_000:50_010]
    assert fs.cat_file(f"{folder}/sub/a.ws", start=-10) == TEXT[-10:]
    assert [path.rpartition("/")[2] for path in fs.glob(f"{folder}/sub/*.ws")] == ["a.ws", "b.ws"]
    assert {entry["size"] for entry in fs.ls(f"{folder}/sub")} == {None}
    fs.cp_file(f"{folder}/sub/a.ws", f"{folder}/sub/c.ws")
    assert fs.cat_file(f"{folder}/sub/c.ws") == TEXT
    fs.rm_file(f"{folder}/sub/a.ws")
    assert not fs.exists(f"{folder}/sub/a.ws") and fs.isdir(f"{folder}/sub")
    with pytest.raises(FileNotFoundError):
        fs.open(f"{folder}/sub/a.ws")


def test_many_files(place: str) -> None:
    for number in range(3):
        with opened(f"{place}/{number}.ws", "wb") as out:
            out.write(bytes([number]) * 10)
    files = fsspec.open_files(f"warpseal::{place}/*.ws", warpseal={"key": KEY})
    assert len(files) == 3
    for number, one in enumerate(files):
        with one as file:
            assert file.read() == bytes([number]) * 10


def test_recipients_and_identities(place: str) -> None:
    identity, recipient = warpseal.generate_identity()
    url = f"warpseal::{place}/x.ws"
    reads, writes = {"identities": [identity]}, {"recipients": [recipient]}
    with fsspec.open(url, "wb", warpseal=writes) as out:
        out.write(TEXT)
    with fsspec.open(url, warpseal=reads) as file:
        assert file.read() == TEXT
    with pytest.raises(ValueError, match="give identities= to read"):
        fsspec.open(url, warpseal=writes).open()
    with pytest.raises(ValueError, match="give recipients= to write"):
        fsspec.open(url, "wb", warpseal=reads).open()
    # A key beside them seals a slot of its own.
    with fsspec.open(url, "wb", warpseal={"key": KEY, **writes}) as out:
        out.write(TEXT[:100])
    for options in ({"key": KEY}, reads):
        with fsspec.open(url, warpseal=options) as file:
            assert file.read() == TEXT[:100]


def test_text(place: str) -> None:
    with opened(f"{place}/x.ws", "wt") as out:
        out.write("zwölf")
    with opened(f"{place}/x.ws", "rt") as file:
        assert file.read() == "zwölf"


def test_exception_leaves_no_file(tmp_path: pathlib.Path) -> None:
    fs, folder = filesystem(f"file://{tmp_path}")  # of memory, a file is there once it is opened
    with pytest.raises(KeyError), fs.open(f"{folder}/x.ws", "wb") as out:
        out.write(TEXT)
        raise KeyError("midway")
    assert not fs.exists(f"{folder}/x.ws")


def test_refusals(place: str) -> None:
    fs, folder = filesystem(place)
    fs.pipe_file(f"{folder}/x.ws", TEXT)
    other, _ = fsspec.url_to_fs(f"warpseal::{place}", warpseal={"key": bytes(32)})
    with pytest.raises(warpseal.WrongKeyError):
        other.cat_file(f"{folder}/x.ws")
    with pytest.raises(ValueError, match="mode: 'ab'"):
        fs.open(f"{folder}/x.ws", "ab")
    with pytest.raises(ValueError, match="give key="):
        fsspec.url_to_fs(f"warpseal::{place}")


def test_no_text_form_has_the_key(place: str) -> None:
    fs, _ = filesystem(place)
    assert not WarpsealFileSystem.cachable
    assert KEY.hex() not in repr(fs) and repr(KEY) not in repr(fs)
    assert repr(KEY) not in repr(fs._opening) + repr(fs._sealing)
