"""warpseal.open and the calls on whole files."""

from __future__ import annotations

import gzip
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

import pytest
import warpseal
from hypothesis import given, settings
from hypothesis import strategies as st
from warpseal._file_call import FileCall
from warpseal._random_reader import RawRandomReader

if TYPE_CHECKING:
    from typing_extensions import Buffer

KEY = bytes(range(32))
CHUNK = 16384
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3_000_001]


def text_of(size: int) -> bytes:
    return bytes(i * 7 % 251 for i in range(min(size, 5000))) * (size // 5000 + 1)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path


def seal(folder: pathlib.Path, text: bytes, name: str = "sealed") -> pathlib.Path:
    plain, sealed = folder / "plain", folder / name
    plain.write_bytes(text)
    warpseal.seal_file(plain, sealed, key=KEY, overwrite=True)
    return sealed


class PartOfAFile:
    """As PyTorch's: `seek` returns where the whole file stands."""

    def __init__(self, file: io.BytesIO, start: int, size: int) -> None:
        self.file, self.start, self.size = file, start, size
        file.seek(start)

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.file.tell() - self.start

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        origins = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self.size}
        return self.file.seek(self.start + origins[whence] + offset)

    def read(self, size: int = -1, /) -> bytes:
        rest = self.size - self.tell()
        return self.file.read(rest if size < 0 else min(size, rest))


def test_part_of_a_file(folder: pathlib.Path) -> None:
    text = text_of(40_000)[:40_000]
    sealed = seal(folder, text).read_bytes()
    part = PartOfAFile(io.BytesIO(b"before" + sealed + b"after"), 6, len(sealed))
    with warpseal.open(part, key=KEY) as file:
        assert file.read() == text


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("options", [{"suite": "aria-256-gcm"}, {"format": "cobblestone"}, {}])
def test_whole_files(folder: pathlib.Path, size: int, options: dict[str, str]) -> None:
    plain, sealed, opened = (folder / name for name in ("plain", "sealed", "opened"))
    text = text_of(size)[:size]
    plain.write_bytes(text)
    result = warpseal.seal_file(plain, sealed, key=KEY, **options)  # type: ignore[arg-type]
    assert result.plaintext_bytes == size
    assert result.file_bytes == sealed.stat().st_size > size
    options.pop("suite", None)
    warpseal.verify(sealed, key=KEY, **options)  # type: ignore[arg-type]
    warpseal.open_file(sealed, opened, key=KEY, **options)  # type: ignore[arg-type]
    assert opened.read_bytes() == text
    assert opened.stat().st_mode & 0o777 == 0o600


@settings(max_examples=25)
@given(parts=st.lists(st.binary(max_size=40000), max_size=8), reads=st.integers(1, 50000))
def test_round_trip_in_parts(parts: list[bytes], reads: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "sealed"
        with warpseal.open(path, "wb", key=KEY) as out:
            for part in parts:
                out.write(part)
            assert not path.exists()
        with warpseal.open(path, key=KEY) as file:
            assert b"".join(iter(lambda: file.read(reads), b"")) == b"".join(parts)


def test_passphrase_and_info(folder: pathlib.Path) -> None:
    path = folder / "sealed"
    with warpseal.open(path, "xb", passphrase="correct horse", key=KEY) as out:
        out.write(b"text")
    for secret in ({"passphrase": "correct horse"}, {"passphrase": b"correct horse"}):
        with warpseal.open(path, **secret) as file:
            assert file.read() == b"text"
    info = warpseal.info(path)
    assert {slot.type for slot in info.slots} == {"key", "passphrase"}
    assert (info.suite, info.plaintext_bytes) == ("aes-256-gcm", 4)
    assert info.file_bytes == path.stat().st_size
    with pytest.raises(warpseal.WrongKeyError):
        warpseal.verify(path, passphrase="wrong horse")


def test_text_mode_by_a_wrapper(folder: pathlib.Path) -> None:
    path = folder / "sealed"
    with io.TextIOWrapper(warpseal.open(path, "wb", key=KEY), encoding="utf-8") as out:
        out.write("zwölf\nelf\n")
    with io.TextIOWrapper(warpseal.open(path, key=KEY), encoding="utf-8") as file:
        assert file.read().splitlines() == ["zwölf", "elf"]


def test_exception_leaves_no_file(folder: pathlib.Path) -> None:
    path = folder / "sealed"
    with pytest.raises(KeyError), warpseal.open(path, "wb", key=KEY) as out:
        out.write(bytes(3 << 20))
        raise KeyError("midway")
    assert list(folder.iterdir()) == []
    path.write_bytes(b"older")
    with pytest.raises(KeyError), warpseal.open(path, "wb", key=KEY) as out:
        raise KeyError("midway")
    assert path.read_bytes() == b"older"
    out = warpseal.open(path, "wb", key=KEY)
    out.write(b"text")
    out.abort()
    assert path.read_bytes() == b"older" and list(folder.iterdir()) == [path]


def test_writer_that_is_dropped_leaves_no_file(folder: pathlib.Path) -> None:
    out = warpseal.open(folder / "sealed", "wb", key=KEY)
    out.write(b"text")
    with pytest.warns(ResourceWarning, match="was not closed"):
        del out
    assert list(folder.iterdir()) == []


def change(path: pathlib.Path, at: int) -> None:
    changed = bytearray(path.read_bytes())
    changed[at] ^= 1
    path.write_bytes(changed)


@pytest.mark.parametrize("from_end", [1, 50_000])
def test_changed_file(folder: pathlib.Path, from_end: int) -> None:
    sealed = seal(folder, text_of(100_000))
    change(sealed, -from_end)
    with pytest.raises(warpseal.InvalidTag):
        warpseal.verify(sealed, key=KEY)
    with pytest.raises(warpseal.InvalidTag):
        warpseal.open_file(sealed, folder / "opened", key=KEY)
    with pytest.raises(warpseal.InvalidTag), warpseal.open(sealed, key=KEY) as file:
        file.read()
    assert not (folder / "opened").exists()


def test_one_damaged_copy_of_the_header(folder: pathlib.Path) -> None:
    sealed = seal(folder, text_of(100_000))
    change(sealed, 4096 + 100)
    assert warpseal.verify(sealed, key=KEY).header_copies_differ


@settings(max_examples=60)
@given(
    size=st.integers(0, 200_000),
    reads=st.lists(st.tuples(st.integers(0, 220_000), st.integers(0, 70_000)), max_size=10),
    cobblestone=st.booleans(),
    in_memory=st.booleans(),
)
def test_reads_at_any_offset(
    size: int, reads: list[tuple[int, int]], cobblestone: bool, in_memory: bool
) -> None:
    text = text_of(size)[:size]
    format: Literal["cobblestone", "warpseal"] = "cobblestone" if cobblestone else "warpseal"
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "sealed"
        with warpseal.open(path, "wb", key=KEY, format=format) as out:
            out.write(text)
        source = io.BytesIO(path.read_bytes()) if in_memory else path
        with warpseal.open(source, key=KEY, format=format) as file:
            assert file.seekable() and file.seek(0, os.SEEK_END) == size == file.size
            for offset, count in reads:
                assert file.seek(offset) == offset
                assert file.read(count) == text[offset : offset + count]
                assert file.tell() == offset + len(text[offset : offset + count])
                assert file.read_at(offset, count) == text[offset : offset + count]
            file.seek(size // 2)
            assert file.read() == text[size // 2 :]


def test_opening_verifies_the_end(folder: pathlib.Path) -> None:
    sealed = seal(folder, text_of(100_000))
    whole = sealed.read_bytes()
    sealed.write_bytes(whole[:-40_000])
    with pytest.raises((warpseal.TruncatedError, warpseal.InvalidTag)):
        warpseal.open(sealed, key=KEY)
    with pytest.raises((warpseal.TruncatedError, warpseal.InvalidTag)):
        warpseal.open(io.BytesIO(whole[:-40_000]), key=KEY)


def test_only_changed_chunks_are_refused(folder: pathlib.Path) -> None:
    text = text_of(100_000)[:100_000]
    sealed = seal(folder, text)
    change(sealed, -50_000)
    with warpseal.open(sealed, key=KEY) as file:
        assert file.read_at(0, CHUNK) == text[:CHUNK]
        with pytest.raises(warpseal.InvalidTag, match="chunk"):
            file.read_at(40_000, 40_000)
        assert file.read_at(90_000, 20_000) == text[90_000:]


def test_failures_of_a_file_object_come_through(folder: pathlib.Path) -> None:
    class Failing(io.BytesIO):
        broken = False

        def read(self, size: int | None = -1, /) -> bytes:
            if self.broken:
                raise ConnectionResetError("the store is gone")
            return super().read(size)

    source = Failing(seal(folder, text_of(100_000)).read_bytes())
    file = warpseal.open(source, key=KEY)
    source.broken = True
    with pytest.raises(ConnectionResetError, match="the store is gone"):
        file.read(100)
    source.broken = False
    assert len(file.read(100)) == 100
    source.truncate(9000)
    with pytest.raises(OSError):
        file.read_at(50_000, 10)


def test_each_call_raises_its_own_failure(folder: pathlib.Path) -> None:
    """A call fails while another one, which has failed already, still reads its second half."""
    data = seal(folder, text_of(20 * CHUNK)).read_bytes()
    second_reads, first_fails, other_ends = (threading.Event() for _ in range(3))
    head: list[int] = []  # offset of the first chunk

    def read_at(offset: int, memory: memoryview) -> int:
        chunk = (offset - head[-1]) // (CHUNK + 16) if len(head) == 1 else None
        if chunk == 0:
            assert second_reads.wait(30)
            first_fails.set()
            raise ConnectionResetError("of the one call")
        if chunk == 4:
            second_reads.set()
            assert other_ends.wait(30)
        if chunk == 12:
            raise TimeoutError("of the other call")
        part = data[offset : offset + len(memory)]
        memory[: len(part)] = part
        offsets.append(offset)
        return len(part)

    offsets: list[int] = []
    engine = warpseal.Engine("cpu", threads=2)
    call = FileCall(False, KEY, None, None, "warpseal", None, engine)
    reader = RawRandomReader((read_at, len(data)), call)
    assert reader.read_at(0, 1) == text_of(1)[:1]
    head.append(offsets[-1])
    with ThreadPoolExecutor(1) as pool:
        one = pool.submit(reader.read_at, 0, 8 * CHUNK)  # two parts of four chunks
        assert first_fails.wait(30)
        time.sleep(0.1)  # until the library has that failure
        with pytest.raises(TimeoutError, match="of the other call"):
            reader.read_at(12 * CHUNK, 1)
        other_ends.set()
        with pytest.raises(ConnectionResetError, match="of the one call"):
            one.result()
    reader.close()


def test_file_objects_begin_at_their_position(folder: pathlib.Path) -> None:
    text = text_of(50_000)
    sealed = seal(folder, text)
    sealed.write_bytes(b"before" + sealed.read_bytes())
    with sealed.open("rb") as source:
        assert source.read(6) == b"before"  # reads ahead
        with warpseal.open(source, key=KEY) as file:
            assert file.read() == text
    with gzip.open(folder / "packed", "wb") as packed:
        packed.write(sealed.read_bytes()[6:])
    with gzip.open(folder / "packed") as unpacked, warpseal.open(unpacked, key=KEY) as file:
        assert file.read() == text
    with gzip.open(folder / "packed") as unpacked, pytest.raises(TypeError, match="a path or a"):
        warpseal.verify(unpacked, key=KEY)


@pytest.mark.parametrize("size", SIZES)
def test_writing_to_a_file_object(size: int) -> None:
    text, target = text_of(size)[:size], io.BytesIO(b"before")
    target.seek(6)
    with warpseal.open(target, "wb", key=KEY) as out:
        out.write(text)
    assert target.getvalue().startswith(b"before")
    target.seek(6)
    with warpseal.open(target, key=KEY) as file:
        assert file.read() == text


def test_file_objects_that_fail() -> None:
    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: Buffer, /) -> int:
            raise ConnectionResetError("the store is gone")

    with pytest.raises(ConnectionResetError, match="the store is gone"):
        with warpseal.open(Full(), "wb", key=KEY) as out:
            for _ in range(100):
                out.write(bytes(1 << 20))
    with pytest.raises(ConnectionResetError, match="the store is gone"):
        with warpseal.open(Full(), "wb", key=KEY) as out:
            out.write(b"text")


def test_an_exception_leaves_no_whole_message() -> None:
    for size in (10, 3_000_000):
        target = io.BytesIO()
        with pytest.raises(KeyError), warpseal.open(target, "wb", key=KEY) as out:
            out.write(bytes(size))
            out.flush()
            raise KeyError("midway")
        target.seek(0)
        with pytest.raises((warpseal.TruncatedError, warpseal.InvalidTag)):
            warpseal.open(target, key=KEY)


def test_short_writes_are_continued() -> None:
    class Short(io.BytesIO):
        def write(self, data: Buffer, /) -> int:
            return super().write(memoryview(data)[:1000])

    target = Short()
    with warpseal.open(target, "wb", key=KEY) as out:
        out.write(bytes(100_000))
    with warpseal.open(io.BytesIO(target.getvalue()), key=KEY) as file:
        assert file.read() == bytes(100_000)


def test_archives_are_read_in_place(folder: pathlib.Path) -> None:
    with warpseal.open(folder / "sealed", "wb", key=KEY) as out, zipfile.ZipFile(out, "w") as made:
        made.writestr("first", text_of(100_000))
        made.writestr("second", b"text")
    with warpseal.open(folder / "sealed", key=KEY) as file, zipfile.ZipFile(file) as archive:
        assert archive.read("second") == b"text"
        assert archive.read("first") == text_of(100_000)


def test_threads_read_at_once(folder: pathlib.Path) -> None:
    text = text_of(2_000_000)
    for source in (seal(folder, text), io.BytesIO(seal(folder, text).read_bytes())):
        with warpseal.open(source, key=KEY) as file, ThreadPoolExecutor(4) as pool:
            offsets = range(0, len(text), 50_000)
            parts = pool.map(lambda offset: file.read_at(offset, 50_000), offsets)
            assert b"".join(parts) == text


def test_cut_and_extended_files(folder: pathlib.Path) -> None:
    sealed = seal(folder, text_of(100_000))
    whole = sealed.read_bytes()
    for cut in (10, 5000, len(whole) - 1):
        sealed.write_bytes(whole[:cut])
        with pytest.raises((warpseal.TruncatedError, warpseal.InvalidTag)):
            warpseal.open_file(sealed, folder / "opened", key=KEY)
        with pytest.raises((warpseal.TruncatedError, warpseal.InvalidTag)):
            warpseal.open(sealed, key=KEY).read()
    sealed.write_bytes(whole + b"x")
    with pytest.raises(warpseal.InvalidTag):
        warpseal.verify(sealed, key=KEY)
    assert not (folder / "opened").exists()


def test_bad_arguments(folder: pathlib.Path) -> None:
    sealed = seal(folder, b"text")
    with pytest.raises(warpseal.WrongKeyError):
        warpseal.open_file(sealed, folder / "opened", key=bytes(32))
    with pytest.raises(ValueError, match="give key="):
        warpseal.verify(sealed)
    with pytest.raises(ValueError, match="key"):
        warpseal.verify(sealed, key=bytes(31))
    with pytest.raises(ValueError, match="mode: 'a'"):
        warpseal.open(sealed, "a", key=KEY)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="format: 'zip'"):
        warpseal.open(sealed, key=KEY, format="zip")  # type: ignore[call-overload]
    for mode in ("rb", "wb"):
        with pytest.raises(TypeError, match="a path or a file object is needed"):
            warpseal.open(3, mode, key=KEY)  # type: ignore[call-overload]
    with pytest.raises(FileExistsError):
        warpseal.open(sealed, "xb", key=KEY)
    with pytest.raises(FileExistsError):
        warpseal.open_file(sealed, folder / "plain", key=KEY)
    with pytest.raises(FileNotFoundError):
        warpseal.open(folder / "absent", key=KEY)
    with pytest.raises(FileNotFoundError):
        warpseal.open(folder / "absent/sealed", "wb", key=KEY)
    with pytest.raises(IsADirectoryError):
        warpseal.seal_file(sealed, folder, key=KEY)
    with pytest.raises(warpseal.UnsupportedError):
        warpseal.seal_file(sealed, folder / "new", key=KEY, suite="rot-13")
    (folder / "other").write_bytes(b"not a sealed file" * 100)
    with pytest.raises(warpseal.UnsupportedError):
        warpseal.info(folder / "other")
    assert {path.name for path in folder.iterdir()} == {"plain", "sealed", "other"}


def test_closed_files(folder: pathlib.Path) -> None:
    with warpseal.open(folder / "sealed", "wb", key=KEY) as out:
        out.write(b"text")
    with pytest.raises(ValueError, match="closed file"):
        out.write(b"more")
    with warpseal.open(folder / "sealed", key=KEY) as file:
        assert file.read(2) == b"te"
    with pytest.raises(ValueError, match="closed file"):
        file.read()
    out.close()
    file.close()


def test_progress(folder: pathlib.Path) -> None:
    plain = folder / "plain"
    with plain.open("wb") as out:
        out.truncate(300 << 20)
    reports: list[tuple[int, int | None]] = []
    warpseal.seal_file(
        plain,
        folder / "sealed",
        key=KEY,
        progress=lambda done, total: reports.append((done, total)),
    )
    assert reports[-1] == (300 << 20, 300 << 20)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)

    def stop(done: int, total: int | None) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        warpseal.open_file(folder / "sealed", folder / "opened", key=KEY, progress=stop)
    assert not (folder / "opened").exists()


def test_pipes(folder: pathlib.Path) -> None:
    sealed, text = folder / "sealed", text_of(400_000)
    read_end, write_end = os.pipe()

    def feed() -> None:
        with open(write_end, "wb") as out:
            out.write(text)

    feeder = threading.Thread(target=feed)
    feeder.start()
    with open(read_end, "rb") as source:
        result = warpseal.seal_file(source, sealed, key=KEY)
    feeder.join()
    assert result.plaintext_bytes == len(text)
    with subprocess.Popen(["cat", sealed], stdout=subprocess.PIPE) as cat:
        assert cat.stdout is not None
        with warpseal.open(cat.stdout, key=KEY) as file:
            assert not file.seekable()
            with pytest.raises(io.UnsupportedOperation):
                file.read_at(0, 1)
            assert file.read() == text


def python(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_interrupt_ends_a_call_that_computes(folder: pathlib.Path) -> None:
    plain = folder / "plain"
    with plain.open("wb") as out:
        out.truncate(1 << 40)
    script = (
        "import os, signal, sys, threading, warpseal\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    warpseal.seal_file(sys.argv[1], sys.argv[2], key=bytes(32))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    started = time.monotonic()
    done = python(script, plain, folder / "sealed")
    assert done.stdout == "interrupted\n", done.stderr
    assert time.monotonic() - started < 20
    assert [path.name for path in folder.iterdir()] == ["plain"]


def test_exit_with_open_files(folder: pathlib.Path) -> None:
    sealed = seal(folder, text_of(3_000_000))
    done = python(
        "import sys, warpseal\n"
        "reader = warpseal.open(sys.argv[1], key=bytes(range(32)))\n"
        "reader.read(10)\n"
        "writer = warpseal.open(sys.argv[1] + '.new', 'wb', key=bytes(32))\n"
        "writer.write(bytes(5000000))\n",
        sealed,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert not pathlib.Path(f"{sealed}.new").exists()


def test_exit_with_a_call_in_a_thread(folder: pathlib.Path) -> None:
    plain = folder / "plain"
    with plain.open("wb") as out:
        out.truncate(1 << 40)
    done = python(
        "import sys, threading, time, warpseal\n"
        "work = lambda: warpseal.seal_file(sys.argv[1], sys.argv[2], key=bytes(32))\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(0.3)\n",
        plain,
        folder / "sealed",
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir()] == ["plain"]


def test_child_of_a_fork(folder: pathlib.Path) -> None:
    sealed = seal(folder, text_of(100_000))
    done = python(
        "import os, sys, warpseal\n"
        "from warpseal.aead import AESGCM\n"
        "aead = AESGCM(bytes(16)); text = aead.encrypt(bytes(12), bytes(1 << 20), None)\n"
        "writer = warpseal.open(sys.argv[1] + '.new', 'wb', key=bytes(32))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    assert aead.decrypt(bytes(12), text, None) == bytes(1 << 20)\n"
        "    assert AESGCM(bytes(16)).encrypt(bytes(12), bytes(1 << 20), None) == text\n"
        "    warpseal.verify(sys.argv[1], key=bytes(range(32)))\n"
        "    os._exit(7)\n"
        "assert os.waitpid(child, 0)[1] == 7 << 8\n"
        "writer.write(b'text'); writer.close()\n",
        sealed,
    )
    assert done.returncode == 0, done.stderr
    assert warpseal.open(f"{sealed}.new", key=bytes(32)).read() == b"text"
