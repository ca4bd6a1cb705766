"""warpseal.ray on three nodes and a real S3 server, while a node dies."""

from __future__ import annotations

import json
import os
import pathlib
import random
import threading
import time
from typing import Any

import pytest
import warpseal
from conftest import S3, STORE_BYTES

KEY = bytes(range(32))
# The variables make long runs: 2,000 objects of 1 MiB, for instance.
OBJECTS = int(os.environ.get("WARPSEAL_TEST_OBJECTS", "60"))
OBJECT_BYTES = int(os.environ.get("WARPSEAL_TEST_OBJECT_BYTES", "40000"))
PART = 16 << 20
LARGE = 3 * PART + 99


def put(s3: S3, folder: str, count: int, size: int, first: int = 0) -> dict[str, bytes]:
    texts = {}
    for number in range(first, first + count):
        text = random.Random(number).randbytes(size)
        s3.put(f"{folder}/{number:04}", text)
        texts[f"s3://data/{folder}/{number:04}"] = text
    return texts


def check_all(s3: S3, folder: str, texts: dict[str, bytes]) -> None:
    found = {path.name for path in (s3.folder / folder).iterdir()}
    assert found == {f"{uri.rpartition('/')[2]}.ws" for uri in texts}
    for uri, text in texts.items():
        with warpseal.open(s3.folder / folder / f"{uri.rpartition('/')[2]}.ws", key=KEY) as file:
            assert file.read() == text


def done_lines(manifest: pathlib.Path) -> list[str]:
    rows = [json.loads(line) for line in manifest.read_text().splitlines()]
    return [row["source"] for row in rows if row.get("event") == "done"]


def test_many_objects_while_a_node_dies(cluster: Any, s3: S3, tmp_path: pathlib.Path) -> None:
    from warpseal import ray as runs

    texts = put(s3, "many", OBJECTS, OBJECT_BYTES)
    texts.update(put(s3, "big", 1, LARGE, first=9000))
    manifest, options = tmp_path / "manifest", {"s3": s3.options}
    dead: list[Any] = []
    seen: list[runs.RunProgress] = []

    def progress(now: runs.RunProgress) -> None:
        seen.append(now)
        if now.done >= 5 and not dead:
            dead.append(cluster.extra.pop())
            killer = threading.Thread(
                target=cluster.remove_node, args=[dead[0]], kwargs={"allow_graceful": False}
            )
            killer.start()

    begun = time.monotonic()
    result = runs.seal(
        list(texts),
        "s3://data/many-sealed",
        key=KEY,
        manifest=manifest,
        storage_options=options,
        part_bytes=PART,
        progress=progress,
    )
    seconds = time.monotonic() - begun
    print(f"{result.done} objects in {seconds:.1f} s, {seen[-1].workers_lost} workers lost")
    cluster.extra.append(
        cluster.add_node(num_cpus=1, node_ip_address="127.0.0.5", object_store_memory=STORE_BYTES)
    )
    assert dead and seen[-1].workers_lost >= 1
    assert result.done == len(texts) and result.text_bytes >= sum(map(len, texts.values()))
    assert sorted(done_lines(manifest)) == sorted(texts)  # none twice, none lost
    check_all(s3, "many-sealed", texts)

    # A second run has nothing to do.
    again = runs.seal(
        list(texts), "s3://data/many-sealed", key=KEY, manifest=manifest, storage_options=options
    )
    assert (again.done, again.skipped) == (0, len(texts))
    names = sorted(path.name for path in (s3.folder / "many-sealed").iterdir())
    sealed = [f"s3://data/many-sealed/{name}" for name in names]
    verified = runs.verify(sealed, key=KEY, storage_options=options, part_bytes=PART)
    assert verified.text_bytes == sum(map(len, texts.values()))


def test_one_huge_object_in_eight_parts(cluster: Any, tmp_path: pathlib.Path) -> None:
    from warpseal import ray as runs

    text = random.Random(8).randbytes(8 << 20)
    (tmp_path / "huge").write_bytes(text)
    (tmp_path / "key").write_bytes(KEY)
    manifest = tmp_path / "manifest"
    runs.seal(
        [str(tmp_path / "huge")],
        str(tmp_path / "out"),
        key_file=tmp_path / "key",
        manifest=manifest,
        part_bytes=1 << 20,
    )
    (done,) = [json.loads(line) for line in manifest.read_text().splitlines() if '"done"' in line]
    assert done["parts"] == 8
    with warpseal.open(tmp_path / "out/huge.ws", key=KEY) as file:
        assert file.read() == text
    runs.open(
        [str(tmp_path / "out/huge.ws")],
        str(tmp_path / "back"),
        key_file=tmp_path / "key",
        part_bytes=1 << 20,
    )
    assert (tmp_path / "back/huge").read_bytes() == text


def test_failures_have_their_own_types(cluster: Any, tmp_path: pathlib.Path) -> None:
    from warpseal import ray as runs

    (tmp_path / "text").write_bytes(b"text")
    warpseal.seal_file(tmp_path / "text", tmp_path / "sealed.ws", key=bytes(32))
    absent = str(tmp_path / "absent.ws")
    with pytest.raises(runs.RunError, match="2 of 2") as failure:
        runs.open([str(tmp_path / "sealed.ws"), absent], str(tmp_path / "out"), key=KEY)
    assert {uri: type(error) for uri, error in failure.value.failures.items()} == {
        str(tmp_path / "sealed.ws"): warpseal.WrongKeyError,
        absent: FileNotFoundError,
    }
    with pytest.raises(ValueError, match="give key="):
        runs.verify([absent])
    with pytest.raises(TimeoutError, match="num_cpus=99"):
        from warpseal._cluster import ray_pool

        ray_pool.PATIENCE_SECONDS = 1.0
        try:
            runs.verify([absent], key=KEY, num_cpus=99, workers=1)
        finally:
            ray_pool.PATIENCE_SECONDS = 120.0


def test_rotation(cluster: Any, tmp_path: pathlib.Path) -> None:
    from warpseal import ray as runs

    texts = {str(tmp_path / f"{number}.ws"): bytes([number]) * 1000 for number in range(6)}
    for path, text in texts.items():
        (tmp_path / "text").write_bytes(text)
        warpseal.seal_file(tmp_path / "text", path, key=KEY)
    new_key = bytes(32)
    for _ in range(2):
        result = runs.rotate(list(texts), key=KEY, new_key=new_key)
        assert (result.done, result.text_bytes) == (len(texts), 1000 * len(texts))
        for path, text in texts.items():
            with warpseal.open(path, key=new_key) as file:
                assert file.read() == text
            with pytest.raises(warpseal.WrongKeyError):
                warpseal.open(path, key=KEY)
    with pytest.raises(ValueError, match="seal it again"):
        runs.rotate(["s3://data/x"], key=KEY, new_key=new_key)


def test_two_runs_on_one_manifest(cluster: Any, tmp_path: pathlib.Path) -> None:
    from warpseal import ray as runs
    from warpseal._cluster.manifest import Manifest

    (tmp_path / "text").write_bytes(b"text")
    with Manifest(tmp_path / "manifest", "seal"), pytest.raises(BlockingIOError):
        runs.seal(
            [str(tmp_path / "text")], str(tmp_path / "out"), key=KEY, manifest=tmp_path / "manifest"
        )
    assert not (tmp_path / "out").exists()
