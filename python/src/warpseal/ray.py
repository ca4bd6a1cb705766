"""Seals, opens and verifies many objects, or parts of huge ones, on a Ray cluster; changes keys.

docs/shards.md has examples. Objects are named by URIs: s3://BUCKET/KEY, paths of files that all
nodes see, or URIs of other filesystems of fsspec, whose objects are worked on whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

try:
    import ray
except ImportError as missing:
    raise ImportError(
        "warpseal.ray needs Ray: pip install './python[ray]' in a checkout of Warpseal"
    ) from missing

from warpseal import _core
from warpseal._cluster.actions import OpenRun, RotateRun, SealRun, VerifyRun, items_to_do
from warpseal._cluster.errors import RunError, SourceChangedError, StoreError
from warpseal._cluster.jobs import Target, jobs_for, rotation_jobs, secret_of, setup_for
from warpseal._cluster.manifest import Manifest
from warpseal._cluster.ray_pool import RayPool
from warpseal._cluster.run import Item, Run, RunProgress, RunResult, run_all
from warpseal._cluster.worker import Job, WorkerSetup

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "RunError",
    "RunProgress",
    "RunResult",
    "SourceChangedError",
    "StoreError",
    "open",
    "rotate",
    "seal",
    "verify",
]

Progress = Callable[[RunProgress], object]
Options = dict[str, dict[str, Any]]
PART_BYTES = 64 << 20


def seal(
    uris: Iterable[str],
    target: Target,
    *,
    key: Buffer | None = None,
    key_file: str | os.PathLike[str] | None = None,
    suite: str | None = None,
    manifest: str | os.PathLike[str] | None = None,
    storage_options: Options | None = None,
    part_bytes: int = PART_BYTES,
    overwrite: bool = False,
    check: bool = True,
    progress: Progress | None = None,
    workers: int | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    device: str = "auto",
    attempts: int = 5,
) -> RunResult:
    """Seals each object to a target. Each target appears whole, is never replaced without
    `overwrite`, and is read back and verified unless `check` is false.

    target: a folder's URI, which gets NAME.ws for each NAME, or a function from a URI to another.
    key: 32 bytes, sent to the workers; key_file: a key file that every node has instead.
    manifest: a file of the driver. A second run with it does what is missing.
    storage_options: options of fsspec by protocol, such as {"s3": {"endpoint_url": ...}}.
    part_bytes: larger objects are sealed in parts of about that size, each by any worker.
    workers: how many; by default as many as the cluster has room for. num_cpus, num_gpus: of each.
    attempts: of each request to a store that failed.
    Raises RunError after the last object if some failed, and BlockingIOError if another run has
    the manifest.
    """
    jobs = jobs_for(uris, target, ".ws", True, part_bytes, overwrite, check)
    setup = setup_for(key, key_file, suite, storage_options, device, num_cpus, attempts)

    def start(opened: Manifest) -> Run:
        engine = _core.Engine("cpu", threads=1)
        return SealRun(opened, setup.secret.read(), suite, engine)

    return _run(SealRun.action, start, jobs, setup, manifest, progress, workers, num_cpus, num_gpus)


def open(
    uris: Iterable[str],
    target: Target,
    *,
    key: Buffer | None = None,
    key_file: str | os.PathLike[str] | None = None,
    manifest: str | os.PathLike[str] | None = None,
    storage_options: Options | None = None,
    part_bytes: int = PART_BYTES,
    overwrite: bool = False,
    check: bool = True,
    progress: Progress | None = None,
    workers: int | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    device: str = "auto",
    attempts: int = 5,
) -> RunResult:
    """Opens each sealed object to a target, which appears when all of its text is verified.

    target: a folder's URI, which gets NAME for each NAME.ws, or a function from a URI to another.
    Other arguments and errors: as for seal().
    """
    jobs = jobs_for(uris, target, ".ws", False, part_bytes, overwrite, check)
    setup = setup_for(key, key_file, None, storage_options, device, num_cpus, attempts)
    return _run(
        OpenRun.action, OpenRun, jobs, setup, manifest, progress, workers, num_cpus, num_gpus
    )


def verify(
    uris: Iterable[str],
    *,
    key: Buffer | None = None,
    key_file: str | os.PathLike[str] | None = None,
    manifest: str | os.PathLike[str] | None = None,
    storage_options: Options | None = None,
    part_bytes: int = PART_BYTES,
    progress: Progress | None = None,
    workers: int | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    device: str = "auto",
    attempts: int = 5,
) -> RunResult:
    """Reads and verifies each sealed object. Arguments and errors: as for seal()."""
    jobs = jobs_for(uris, None, "", False, part_bytes, False, False)
    setup = setup_for(key, key_file, None, storage_options, device, num_cpus, attempts)
    return _run(
        VerifyRun.action, VerifyRun, jobs, setup, manifest, progress, workers, num_cpus, num_gpus
    )


def rotate(
    uris: Iterable[str],
    *,
    key: Buffer | None = None,
    key_file: str | os.PathLike[str] | None = None,
    new_key: Buffer | None = None,
    new_key_file: str | os.PathLike[str] | None = None,
    manifest: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    num_cpus: float = 1,
    attempts: int = 5,
) -> RunResult:
    """Replaces the key of sealed files in place, as warpseal.change_slots does with replace=True.

    uris: of files that all nodes see; objects of S3 cannot change in place. A file that has the new
    key already is done. After a crash each file opens with the old or the new key.
    The contents are not encrypted again, and the old key is not revoked: who had it may have kept
    the data key.
    manifest: of one rotation. Name a new one for the next, which would skip all files otherwise.
    Other arguments and errors: as for seal().
    """
    jobs = rotation_jobs(uris)
    new_secret = secret_of(new_key, new_key_file, "new_")
    setup = setup_for(key, key_file, None, None, "cpu", num_cpus, attempts, new_secret)
    return _run(RotateRun.action, RotateRun, jobs, setup, manifest, progress, workers, num_cpus, 0)


def _run(
    action: str,
    start: Callable[[Manifest], Run],
    jobs: list[Job],
    setup: WorkerSetup,
    manifest: str | os.PathLike[str] | None,
    progress: Progress | None,
    workers: int | None,
    num_cpus: float,
    num_gpus: float,
) -> RunResult:
    with Manifest(manifest, action) as opened:
        items: list[Item] = list(items_to_do(opened, jobs))
        run = start(opened)
        if not items:
            return RunResult(len(jobs), 0, len(jobs), 0, 0, 0.0)
        if not ray.is_initialized():
            ray.init()
        count = max(1, workers or _room(num_cpus, num_gpus))
        pool = RayPool(setup, count, num_cpus=num_cpus, num_gpus=num_gpus)
        try:
            skipped = len(jobs) - len(items)
            return run_all(run, items, pool, skipped=skipped, progress=progress)
        finally:
            pool.close()


def _room(num_cpus: float, num_gpus: float) -> int:
    """Returns how many workers the cluster has room for."""
    have = ray.cluster_resources()
    resources = (("CPU", num_cpus), ("GPU", num_gpus))
    rooms = [have.get(name, 0) / wanted for name, wanted in resources if wanted]
    return int(min(rooms)) if rooms else os.cpu_count() or 1

