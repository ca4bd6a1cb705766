"""The arguments of runs: names of targets, and what all workers have in common."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from warpseal._cluster.secret import Secret
from warpseal._cluster.stores import split
from warpseal._cluster.worker import Job, WorkerSetup

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Target", "jobs_for", "rotation_jobs", "secret_of", "setup_for"]

Target: TypeAlias = str | Callable[[str], str]
LEAST_PART_BYTES = 64 << 10
LEAST_S3_PART_BYTES = 16 << 20  # S3 refuses parts under 5 MiB, and shards differ in length


def _name(uri: str) -> str:
    name = split(uri)[1].rstrip("/").rpartition("/")[2]
    if not name:
        raise ValueError(f"uris: {uri!r} names no object")
    return name


def _named(uri: str, folder: str, suffix: str, sealing: bool) -> str:
    name = _name(uri)
    if not sealing and (not name.endswith(suffix) or name == suffix):
        raise ValueError(
            f"uris: {uri!r} does not end in {suffix!r}; give a function as target to name its text"
        )
    return f"{folder.rstrip('/')}/{name + suffix if sealing else name.removesuffix(suffix)}"


def jobs_for(
    uris: Iterable[str],
    target: Target | None,
    suffix: str,
    sealing: bool,
    part_bytes: int,
    overwrite: bool,
    check: bool,
) -> list[Job]:
    """Names the targets. Raises ValueError if two sources, or two targets, are one."""
    if isinstance(uris, str):
        raise TypeError("uris: give a list of URIs, not one string")
    jobs: list[Job] = []
    for uri in uris:
        _name(uri)
        named = ""
        if target is not None:
            named = target(uri) if callable(target) else _named(uri, target, suffix, sealing)
            _name(named)
        jobs.append(Job(uri, named, part_bytes, overwrite, check))
    _check_distinct([job.source for job in jobs], "uris: {!r} is given twice")
    targets = [job.target for job in jobs if job.target]
    _check_distinct(targets, "target: two objects would be {!r}")
    for name in {*targets} & {job.source for job in jobs}:
        raise ValueError(f"target: {name!r} is one of the uris")
    protocols = {split(name)[0] for name in targets}
    least = LEAST_S3_PART_BYTES if protocols & {"s3", "s3a"} else LEAST_PART_BYTES
    if part_bytes < least:
        raise ValueError(f"part_bytes: {part_bytes} is too small; give at least {least}")
    return jobs


def _check_distinct(names: list[str], text: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(text.format(name))
        seen.add(name)


def rotation_jobs(uris: Iterable[str]) -> list[Job]:
    """Raises ValueError for an object that is no file, whose slots cannot change in place."""
    jobs = jobs_for(uris, None, "", False, LEAST_PART_BYTES, False, True)
    for job in jobs:
        if split(job.source)[0] not in ("file", "local"):
            raise ValueError(
                f"uris: {job.source!r} is no file, and key slots change in place: open it and seal "
                "it again"
            )
    return jobs


def setup_for(
    key: Buffer | None,
    key_file: str | os.PathLike[str] | None,
    suite: str | None,
    storage_options: dict[str, dict[str, Any]] | None,
    device: str,
    num_cpus: float,
    attempts: int,
    new_secret: Secret | None = None,
) -> WorkerSetup:
    if attempts < 1:
        raise ValueError(f"attempts: {attempts} is less than 1")
    secret = secret_of(key, key_file)
    threads = max(1, math.floor(num_cpus))
    return WorkerSetup(
        secret, storage_options or {}, suite, device, threads, attempts, new_secret
    )


def secret_of(
    key: Buffer | None, key_file: str | os.PathLike[str] | None, prefix: str = ""
) -> Secret:
    """prefix: of the names of the arguments, in messages."""
    if (key is None) == (key_file is None):
        raise ValueError(
            f"give {prefix}key=, 32 bytes, or {prefix}key_file=, a key file that every node has"
        )
    data = None if key is None else bytes(memoryview(key))
    if data is not None and len(data) != 32:
        raise ValueError(f"{prefix}key: {len(data)} bytes, not the 32 of a key file")
    return Secret(data, None if key_file is None else os.path.abspath(os.fspath(key_file)))
