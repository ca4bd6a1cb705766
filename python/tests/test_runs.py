"""Runs over many files, by workers in threads: what the manifest does, failures, and changes."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import warpseal
from warpseal._cluster.actions import OpenRun, RotateRun, SealRun, VerifyRun, items_to_do
from warpseal._cluster.errors import RunError, SourceChangedError, WorkerLostError
from warpseal._cluster.jobs import jobs_for, rotation_jobs, secret_of, setup_for
from warpseal._cluster.local_store import LocalStore
from warpseal._cluster.manifest import Manifest
from warpseal._cluster.pool import ThreadPool
from warpseal._cluster.run import Run, RunProgress, RunResult, run_all
from warpseal._cluster.stores import Identity, store_for
from warpseal._cluster.worker import Job, Worker, WorkerSetup

KEY = bytes(range(32))
PART = 64 << 10
LARGE = 10 * PART + 5


def contents(folder: pathlib.Path, sizes: Sequence[int]) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    texts = {}
    for number, size in enumerate(sizes):
        path = folder / f"object{number}"
        texts[str(path)] = random.Random(number).randbytes(size)
        path.write_bytes(texts[str(path)])
    return texts


def run(
    action: str,
    uris: Sequence[str],
    target: Any,
    manifest: pathlib.Path | None = None,
    *,
    key: bytes = KEY,
    overwrite: bool = False,
    check: bool = True,
    workers: int = 3,
    attempts: int = 2,
    make: Callable[[WorkerSetup], Any] = Worker,
    progress: Callable[[RunProgress], object] | None = None,
) -> RunResult:
    jobs = jobs_for(uris, target, ".ws", action == "seal", PART, overwrite, check)
    setup = setup_for(key, None, None, None, "cpu", 1, attempts)
    with Manifest(manifest, action) as opened:
        items = list(items_to_do(opened, jobs))
        started: Run
        if action == "seal":
            started = SealRun(opened, key, None, None)
        else:
            started = OpenRun(opened) if action == "open" else VerifyRun(opened)
        pool = ThreadPool(setup, workers, make)
        try:
            return run_all(started, items, pool, skipped=len(jobs) - len(items), progress=progress)
        finally:
            pool.close()


def opened(path: pathlib.Path) -> bytes:
    with warpseal.open(path, key=KEY) as file:
        return file.read()


def rows(manifest: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in manifest.read_text().splitlines()]


def files(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


SIZES = [0, 1, 1000, PART - 1, PART, PART + 1, LARGE]


def test_round_trip(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", SIZES)
    sealed, out = tmp_path / "sealed", tmp_path / "out"
    result = run("seal", list(texts), str(sealed), tmp_path / "manifest")
    assert (result.objects, result.done, result.skipped) == (len(texts), len(texts), 0)
    assert result.text_bytes == sum(SIZES)
    for path, text in texts.items():
        assert opened(sealed / f"{pathlib.Path(path).name}.ws") == text
    names = [str(path) for path in sealed.iterdir()]
    assert len(names) == len(texts)  # no temporary file is left
    assert run("verify", names, None).done == len(names)
    assert run("open", names, str(out)).text_bytes == sum(SIZES)
    for path, text in texts.items():
        assert (out / pathlib.Path(path).name).read_bytes() == text
        assert (out / pathlib.Path(path).name).stat().st_mode & 0o777 == 0o600


def test_a_second_run_does_what_is_missing(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", [10, 20, LARGE])
    manifest = tmp_path / "manifest"
    missing = tmp_path / "in/object1"
    missing.rename(tmp_path / "away")
    with pytest.raises(RunError, match="1 of 3 objects failed") as failure:
        run("seal", list(texts), str(tmp_path / "out"), manifest)
    assert list(failure.value.failures) == [str(missing)]
    assert isinstance(failure.value.failures[str(missing)], FileNotFoundError)
    assert failure.value.result.done == 2
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    (tmp_path / "away").rename(missing)
    result = run("seal", list(texts), str(tmp_path / "out"), manifest)
    assert (result.done, result.skipped, result.objects) == (1, 2, 3)
    for name, when in before.items():
        assert (tmp_path / "out" / name).stat().st_mtime_ns == when
    assert run("seal", list(texts), str(tmp_path / "out"), manifest).done == 0


class Stopped(BaseException):
    pass


def test_an_interrupted_run_continues_its_parts(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", [LARGE])
    manifest, out = tmp_path / "manifest", tmp_path / "out"

    def stop(now: RunProgress) -> None:
        if now.text_bytes > 3 * PART:
            raise Stopped

    class Slow(Worker):
        def put_part(self, *arguments: Any) -> str:
            time.sleep(0.08)
            return super().put_part(*arguments)

    with pytest.raises(Stopped):
        run("seal", list(texts), str(out), manifest, progress=stop, make=Slow, workers=1)
    assert not (out / "object0.ws").exists()
    written = {row["part"] for row in rows(manifest) if row.get("event") == "part"}
    assert 3 <= len(written) < 11
    again: list[int] = []

    class Watching(Worker):
        def seal_part(self, packed: bytes, source: str, identity: Identity, index: int) -> bytes:
            again.append(index)
            return super().seal_part(packed, source, identity, index)

    result = run("seal", list(texts), str(out), manifest, make=Watching)
    assert result.done == 1 and not written & set(again)
    assert len(written) + len(again) == 11
    assert opened(out / "object0.ws") == texts[str(tmp_path / "in/object0")]
    assert files(out) == ["object0.ws"]


def test_a_run_that_ended_after_its_last_part(tmp_path: pathlib.Path) -> None:
    """The object appeared, and the manifest does not say so."""
    texts = contents(tmp_path / "in", [LARGE, 100])
    manifest, out = tmp_path / "manifest", tmp_path / "out"
    run("seal", list(texts), str(out), manifest)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    kept = [row for row in rows(manifest) if row.get("event") != "done"]
    manifest.write_text("".join(json.dumps(row) + "\n" for row in kept))
    assert run("seal", list(texts), str(out), manifest).done == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_parts_of_a_source_that_changed_are_dropped(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", [LARGE])
    (source,) = texts
    manifest, out = tmp_path / "manifest", tmp_path / "out"

    class Stopping(Worker):
        def put_part(self, packed: bytes, target: str, upload: str, index: int) -> str:
            if index == 5:
                raise PermissionError("no more")
            return super().put_part(packed, target, upload, index)

    with pytest.raises(RunError):
        run("seal", [source], str(out), manifest, make=Stopping, workers=1)
    assert files(out) == []  # what failed is cleaned up
    # A kill leaves such a manifest: it has the parts, and the source is another one.
    kept = [row for row in rows(manifest) if row.get("event") != "failed"]
    manifest.write_text("".join(json.dumps(row) + "\n" for row in kept))
    changed = bytes(LARGE)
    pathlib.Path(source).write_bytes(changed)
    assert run("seal", [source], str(out), manifest).done == 1
    assert opened(out / "object0.ws") == changed
    plans = [row["plan"] for row in rows(manifest) if row.get("event") == "upload"]
    assert len(set(plans)) == 2


def test_a_source_that_changes_while_it_is_sealed(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", [LARGE])
    (source,) = texts
    out = tmp_path / "out"

    class Changing(Worker):
        def seal_part(self, packed: bytes, uri: str, identity: Identity, index: int) -> bytes:
            if index == 4:
                pathlib.Path(source).write_bytes(bytes(LARGE))
            return super().seal_part(packed, uri, identity, index)

    with pytest.raises(RunError) as failure:
        run("seal", [source], str(out), make=Changing, workers=1)
    assert isinstance(failure.value.failures[source], SourceChangedError)
    assert files(out) == []


@pytest.mark.parametrize("same_worker", [True, False])
def test_other_bytes_under_the_same_identity(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, same_worker: bool
) -> None:
    """A source that lies, and a worker that is lost in between: two texts under one nonce."""
    texts = contents(tmp_path / "in", [LARGE])
    (source,) = texts
    out, read, sealed = tmp_path / "out", LocalStore.read, 0

    def lie(self: LocalStore, path: str, identity: Identity, offset: int, count: int) -> bytes:
        data = read(self, path, identity, offset, count)
        return b"?" + data[1:] if sealed > 1 and path == source else data

    class Losing(Worker):
        def seal_part(self, *arguments: Any) -> bytes:
            nonlocal sealed
            sealed += 1
            return super().seal_part(*arguments)

        def put_part(self, *arguments: Any) -> str:
            if sealed == 1:
                if not same_worker:
                    self._plans.clear()
                raise WorkerLostError("after the part was sealed")
            return super().put_part(*arguments)

    monkeypatch.setattr(LocalStore, "read", lie)
    with pytest.raises(RunError) as failure:
        run("seal", [source], str(out), tmp_path / "manifest", make=Losing, workers=1)
    assert isinstance(failure.value.failures[source], SourceChangedError)
    said = str(failure.value.failures[source])
    assert ("another text" if same_worker else "other bytes than before") in said
    assert files(out) == []


@pytest.mark.parametrize(
    "method", ["seal", "begin", "seal_part", "put_part", "complete", "verify_part"]
)
def test_lost_workers(tmp_path: pathlib.Path, method: str) -> None:
    """Each call ends once before, and once after its work."""
    texts = contents(tmp_path / "in", [100, LARGE])
    lost: list[str] = []

    class Losing(Worker):
        def __getattribute__(self, name: str) -> Any:
            value = super().__getattribute__(name)
            if name != method or len(lost) == 2:
                return value

            def lose(*arguments: Any) -> Any:
                lost.append(name)
                if len(lost) == 2:
                    value(*arguments)
                raise WorkerLostError("as a node that dies")

            return lose

    out = tmp_path / "out"
    seen: list[RunProgress] = []
    result = run("seal", list(texts), str(out), make=Losing, workers=1, progress=seen.append)
    assert result.done == 2
    assert len(lost) == 2 and seen[-1].workers_lost == 2
    names = sorted(name for name in files(out) if not name.startswith("."))
    assert names == ["object0.ws", "object1.ws"]
    for number, text in enumerate(texts.values()):
        assert opened(out / f"object{number}.ws") == text


def test_a_worker_that_is_always_lost(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", [100])

    class Lost(Worker):
        def seal(self, job: Job) -> Any:
            raise WorkerLostError("out of memory")

    with pytest.raises(RunError, match="out of memory"):
        run("seal", list(texts), str(tmp_path / "out"), make=Lost)


@pytest.mark.parametrize("size", [100, LARGE])
def test_targets_that_exist(tmp_path: pathlib.Path, size: int) -> None:
    texts = contents(tmp_path / "in", [size])
    out = tmp_path / "out"
    out.mkdir()
    (out / "object0.ws").write_bytes(b"another file")
    with pytest.raises(RunError) as failure:
        run("seal", list(texts), str(out))
    assert isinstance(next(iter(failure.value.failures.values())), FileExistsError)
    assert (out / "object0.ws").read_bytes() == b"another file" and files(out) == ["object0.ws"]
    run("seal", list(texts), str(out), overwrite=True)
    assert opened(out / "object0.ws") == next(iter(texts.values()))


@pytest.mark.parametrize("size", [100, LARGE])
def test_a_store_that_returns_other_bytes(
    tmp_path: pathlib.Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = contents(tmp_path / "in", [size])
    out, manifest = tmp_path / "out", tmp_path / "manifest"
    read = LocalStore.read

    def lie(self: LocalStore, path: str, identity: Identity, offset: int, count: int) -> bytes:
        data = bytearray(read(self, path, identity, offset, count))
        if path.startswith(str(out)) and data:
            data[-1] ^= 1
        return bytes(data)

    monkeypatch.setattr(LocalStore, "read", lie)
    for action, uris in (("seal", list(texts)), ("open", [f"{next(iter(texts))}.ws"])):
        if action == "open":
            monkeypatch.undo()
            warpseal.seal_file(next(iter(texts)), uris[0], key=KEY)
            monkeypatch.setattr(LocalStore, "read", lie)
        with pytest.raises(RunError):
            run(action, uris, str(out), manifest.with_suffix(f".{action}"))
        events = [row.get("event") for row in rows(manifest.with_suffix(f".{action}"))]
        assert "failed" in events and "done" not in events


def test_damage(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", [100, LARGE])
    sealed = tmp_path / "sealed"
    run("seal", list(texts), str(sealed))
    names = [str(path) for path in sorted(sealed.iterdir())]
    for name in names:
        with open(name, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
    for action, target in (("verify", None), ("open", str(tmp_path / "out"))):
        with pytest.raises(RunError, match="2 of 2") as failure:
            run(action, names, target)
        assert {type(error) for error in failure.value.failures.values()} == {warpseal.InvalidTag}
    assert not (tmp_path / "out").exists() or files(tmp_path / "out") == []
    with pytest.raises(RunError) as failure:
        run("verify", names, None, key=bytes(32))
    assert {type(error) for error in failure.value.failures.values()} == {warpseal.WrongKeyError}


def test_manifests(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", [10])
    path = tmp_path / "manifest"
    with Manifest(path, "seal") as held:
        with pytest.raises(BlockingIOError, match="another manifest"):
            run("seal", list(texts), str(tmp_path / "out"), path)
        held.write({"event": "begin", "source": "x", "target": "y"})
        assert not rows(path)[1:]
        held.flush()
        assert len(rows(path)) == 2
    with open(path, "ab") as file:
        file.write(b'{"event":"done","sour')  # killed within a line
    run("seal", list(texts), str(tmp_path / "out"), path)
    assert [row.get("event") for row in rows(path)] == [None, "begin", "begin", "done"]
    with pytest.raises(ValueError, match="is of 'seal', not of 'open'"):
        run("open", [f"{tmp_path}/out/object0.ws"], str(tmp_path / "x"), path)
    with pytest.raises(ValueError, match="name another manifest"):
        run("seal", list(texts), str(tmp_path / "elsewhere"), path)
    for bad in ("not json\n", "[1]\n", '{"manifest": 2}\n'):
        path.write_text(bad)
        with pytest.raises(ValueError, match="manifest"):
            run("seal", list(texts), str(tmp_path / "out"), path)


def test_the_file_that_was_read_is_compared(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that points to another file while it is read, and to the right one after it."""
    (tmp_path / "right").write_bytes(b"right")
    (tmp_path / "wrong").write_bytes(b"wrong")
    os.utime(tmp_path / "wrong", (1, 1))
    link, read = tmp_path / "link", os.preadv

    def turn(name: str) -> None:
        link.unlink(missing_ok=True)
        link.symlink_to(name)

    def preadv(*arguments: Any) -> int:
        turn("right")
        return read(*arguments)

    turn("right")
    identity = LocalStore().identify(str(link))
    assert LocalStore().read(str(link), identity, 0, 5) == b"right"
    monkeypatch.setattr(os, "preadv", preadv)
    turn("wrong")
    with pytest.raises(SourceChangedError):
        LocalStore().read(str(link), identity, 0, 5)


def test_a_manifest_lasts(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is synced too, before what it says is true."""
    synced: list[pathlib.Path] = []
    sync = os.fsync

    def watch(descriptor: int) -> None:
        synced.append(pathlib.Path(os.readlink(f"/proc/self/fd/{descriptor}")))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    with Manifest(tmp_path / "manifest", "seal"):
        assert synced == [tmp_path / "manifest", tmp_path]


def test_a_manifest_names_no_other_files(tmp_path: pathlib.Path) -> None:
    texts = contents(tmp_path / "in", [LARGE])
    (source,) = texts
    about = os.stat(source)
    target, other = tmp_path / "out/object0.ws", tmp_path / ".object0.ws.0123456789abcdef"
    other.write_bytes(b"of nobody here")
    row = {"event": "upload", "source": source, "target": str(target), "size": about.st_size + 1}
    row |= {"tag": "", "upload": str(other), "plan": ""}
    manifest = tmp_path / "manifest"
    head = {"manifest": 1, "action": "seal"}
    manifest.write_text(json.dumps(head) + "\n" + json.dumps(row) + "\n")
    assert run("seal", [source], str(tmp_path / "out"), manifest).done == 1
    store = LocalStore()
    for upload in (str(other), str(tmp_path / "out/../.object0.ws.0123456789abcdef")):
        with pytest.raises(ValueError, match="no upload of"):
            store.put(str(target), upload, 0, 0, b"new")
        for overwrite in (False, True):
            with pytest.raises(ValueError, match="no upload of"):
                store.complete(str(target), upload, [], overwrite=overwrite)
    assert other.read_bytes() == b"of nobody here" and opened(target) == texts[source]


def test_another_key_on_a_node(tmp_path: pathlib.Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    setup = setup_for(None, tmp_path / "key", None, None, "cpu", 1, 1)
    assert Worker(pickle.loads(pickle.dumps(setup))).ready()
    (tmp_path / "key").write_bytes(bytes(32))
    with pytest.raises(ValueError, match="another key on this node"):
        Worker(pickle.loads(pickle.dumps(setup)))


def test_objects_of_other_stores_are_whole(tmp_path: pathlib.Path) -> None:
    """Their reads have no condition: ranges might be of two objects."""
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    text = random.Random(1).randbytes(LARGE)
    memory.pipe_file("/whole/text", text)
    manifest = tmp_path / "manifest"
    assert run("seal", ["memory://whole/text"], str(tmp_path), manifest).done == 1
    assert "upload" not in [row.get("event") for row in rows(manifest)]
    assert opened(tmp_path / "text.ws") == text
    memory.pipe_file("/whole/text.ws", (tmp_path / "text.ws").read_bytes())
    assert run("open", ["memory://whole/text.ws"], str(tmp_path)).done == 1
    assert (tmp_path / "text").read_bytes() == text
    store = store_for("memory", {})
    identity = store.identify("/whole/text")
    memory.pipe_file("/whole/text", text + b"more")
    with pytest.raises(SourceChangedError):
        store.read("/whole/text", identity, 0, LARGE)


def test_arguments(tmp_path: pathlib.Path) -> None:
    for uris, target, error in [
        (["a", "a"], "out", "given twice"),
        (["x/a", "y/a"], "out", "two objects would be"),
        (["a"], lambda uri: uri, "one of the uris"),
        (["s3://"], "out", "no URI"),
        (["a/"], lambda uri: "s3://", "no URI"),
        (["/"], "out", "names no object"),
    ]:
        with pytest.raises(ValueError, match=error):
            jobs_for(uris, target, ".ws", True, PART, False, True)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a list"):
        jobs_for("abc", "out", ".ws", True, PART, False, True)
    with pytest.raises(ValueError, match="does not end in"):
        jobs_for(["a"], "out", ".ws", False, PART, False, True)
    with pytest.raises(ValueError, match="part_bytes"):
        jobs_for(["a"], "s3://b/out", ".ws", True, PART, False, True)
    for key, file, error in [(None, None, "give key="), (b"x", None, "not the 32")]:
        with pytest.raises(ValueError, match=error):
            setup_for(key, file, None, None, "cpu", 1, 5)
    with pytest.raises(FileNotFoundError):
        setup_for(None, tmp_path / "absent", None, None, "cpu", 1, 5)
    assert "<secret>" in repr(setup_for(KEY, None, None, {"s3": {"secret": "word"}}, "cpu", 1, 5))
    assert "word" not in repr(setup_for(KEY, None, None, {"s3": {"secret": "word"}}, "cpu", 1, 5))


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_packages_that_are_absent() -> None:
    with pytest.raises(ImportError, match=r"pip install './python\[ray\]'"):
        importlib.import_module("warpseal.ray")
    with pytest.raises(ImportError, match=r"s3fs: pip install './python\[ray\]'"):
        store_for("s3", {})


def test_the_package_imports_nothing_of_runs() -> None:
    """Nor what takes long, wherever it is installed."""
    program = "import sys, warpseal; print([m for m in sys.modules if m.split('.')[0] in {}])"
    names = ["ray", "fsspec", "s3fs", "aiobotocore", "numpy"]
    program = program.replace("{}", repr(names)) + "; print('warpseal._cluster' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["[]", "False"]


NEW_KEY = bytes(reversed(KEY))


def rotate(
    uris: Sequence[str],
    manifest: pathlib.Path | None = None,
    make: Callable[[WorkerSetup], Any] = Worker,
    key: bytes = KEY,
) -> RunResult:
    jobs = rotation_jobs(uris)
    setup = setup_for(key, None, None, None, "cpu", 1, 2, secret_of(NEW_KEY, None, "new_"))
    with Manifest(manifest, "rotate") as opened:
        items = list(items_to_do(opened, jobs))
        pool = ThreadPool(setup, 3, make)
        try:
            return run_all(RotateRun(opened), items, pool, skipped=len(jobs) - len(items))
        finally:
            pool.close()


def sealed_files(tmp_path: pathlib.Path, count: int) -> dict[str, bytes]:
    texts = contents(tmp_path / "in", [1000 * number for number in range(count)])
    run("seal", list(texts), str(tmp_path / "sealed"))
    names = [str(tmp_path / "sealed" / f"{pathlib.Path(path).name}.ws") for path in texts]
    return dict(zip(names, texts.values(), strict=True))


def has_new_key(path: str, text: bytes) -> bool:
    with warpseal.open(path, key=NEW_KEY) as file:
        same = file.read() == text
    with pytest.raises(warpseal.WrongKeyError):
        warpseal.open(path, key=KEY)
    header = pathlib.Path(path).read_bytes()[4096:61440]
    return same and len(warpseal.slots(path)) == 1 and header[:28672] == header[28672:]


def test_rotation(tmp_path: pathlib.Path) -> None:
    texts = sealed_files(tmp_path, 5)
    manifest = tmp_path / "manifest"
    missing = pathlib.Path(list(texts)[2])
    missing.rename(tmp_path / "away")
    with pytest.raises(RunError, match="1 of 5 objects failed"):
        rotate(list(texts), manifest)
    (tmp_path / "away").rename(missing)
    result = rotate(list(texts), manifest)
    assert (result.done, result.skipped) == (1, 4)
    for path, text in texts.items():
        assert has_new_key(path, text)
    # Without the manifest all are done again, with the same result.
    assert rotate(list(texts)).done == 5
    for path, text in texts.items():
        assert has_new_key(path, text)
    with pytest.raises(RunError, match="WrongKeyError"):
        rotate_other(list(texts)[:1])


def rotate_other(uris: Sequence[str]) -> RunResult:
    """Neither key opens the files."""
    new = secret_of(bytes(range(1, 33)), None)
    setup = setup_for(bytes(32), None, None, None, "cpu", 1, 1, new)
    with Manifest(None, "rotate") as opened:
        pool = ThreadPool(setup, 1)
        try:
            items = list(items_to_do(opened, rotation_jobs(uris)))
            return run_all(RotateRun(opened), items, pool)
        finally:
            pool.close()


def test_rotation_survives_lost_answers(tmp_path: pathlib.Path) -> None:
    texts = sealed_files(tmp_path, 3)
    lost: set[str] = set()

    class Losing(Worker):
        def rotate(self, job: Job) -> Any:
            done = super().rotate(job)
            if job.source not in lost:
                lost.add(job.source)
                raise WorkerLostError("its answer is lost")
            assert done.reused
            return done

    assert rotate(list(texts), make=Losing).done == 3
    for path, text in texts.items():
        assert has_new_key(path, text)


@pytest.mark.parametrize("copy", [0, 1])
def test_rotation_finishes_what_a_crash_left(tmp_path: pathlib.Path, copy: int) -> None:
    """One header copy has the old key, the other the new one."""
    texts = sealed_files(tmp_path, 1)
    (path, text), at = next(iter(texts.items())), 4096 + copy * 28672
    before = pathlib.Path(path).read_bytes()[at : at + 28672]
    rotate([path])
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(before)
    assert rotate([path]).done == 1
    assert has_new_key(path, text)


def test_arguments_of_rotation(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"s3://a/b.*seal it again"):
        rotation_jobs(["s3://a/b"])
    for key, file, words in (
        (None, None, "give new_key="),
        (KEY, "file", "give new_key="),
        (KEY[:31], None, "new_key: 31 bytes"),
    ):
        with pytest.raises(ValueError, match=words):
            secret_of(key, file, "new_")
    with pytest.raises(FileNotFoundError):
        secret_of(None, tmp_path / "none", "new_")
