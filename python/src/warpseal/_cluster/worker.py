"""What a worker does: whole objects, and parts of huge ones."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from warpseal import _core
from warpseal._cluster.errors import SourceChangedError, StoreError, WorkerLostError
from warpseal._cluster.secret import Secret
from warpseal._cluster.stores import Identity, Store, split, store_for
from warpseal._slots import change_slots
from warpseal.exceptions import Error, WrongKeyError

__all__ = ["Done", "Job", "Large", "Proof", "Secret", "Worker", "WorkerSetup", "pack", "unpack"]

Result = TypeVar("Result")

FIRST_WAIT_SECONDS = 0.1
KEPT_READERS = 8
# Failures that another attempt cannot mend.
FINAL = (
    FileNotFoundError,
    FileExistsError,
    PermissionError,
    IsADirectoryError,
    NotADirectoryError,
    SourceChangedError,
)


@dataclass(frozen=True)
class WorkerSetup:
    """What all workers of a run have in common. options: of the stores, by protocol."""

    secret: Secret
    options: dict[str, dict[str, Any]] = field(repr=False)
    suite: str | None = None
    device: str = "auto"
    threads: int = 0
    attempts: int = 5
    new_secret: Secret | None = None  # of a rotation


@dataclass(frozen=True)
class Job:
    """One object of a run. ours: an earlier attempt may have made the target."""

    source: str
    target: str = ""
    part_bytes: int = 64 << 20
    overwrite: bool = False
    check: bool = True
    ours: bool = False


@dataclass(frozen=True)
class Done:
    """An object that is whole. reused: the target was there, with the same text."""

    text_bytes: int
    file_bytes: int
    tag: str
    reused: bool = False


@dataclass(frozen=True)
class Large:
    """An object that is worked on in parts of the text. file_bytes: of the sealed object."""

    identity: Identity
    text_bytes: int
    file_bytes: int


@dataclass(frozen=True)
class Proof:
    """The first bytes of an object that a run wrote."""

    count: int
    digest: bytes


def pack(plan: _core.Plan) -> bytes:
    return zlib.compress(plan.data, 9)


def unpack(packed: bytes, key: bytes, engine: _core.Engine | None) -> _core.Plan:
    """Opens a packed plan, which is at most 64 KiB and some."""
    data = zlib.decompressobj().decompress(packed, 128 << 10)
    return _core.Plan(data, [("key", key)], engine)


def is_transient(error: BaseException) -> bool:
    if isinstance(error, FINAL):
        return False
    origin = type(error).__module__.partition(".")[0]
    return isinstance(error, (OSError, TimeoutError)) or origin in (
        "aiobotocore",
        "aiohttp",
        "botocore",
        "asyncio",
        "fsspec",
    )


class Worker:
    """Runs one call at a time. Every call may be repeated, on this worker or on another."""

    def __init__(self, setup: WorkerSetup) -> None:
        self._setup = setup
        self._key = setup.secret.read()
        self._new_key = None if setup.new_secret is None else setup.new_secret.read()
        self._engine = _core.Engine(setup.device, threads=setup.threads)
        self._stores: dict[str, Store] = {}
        self._plans: dict[bytes, _core.Plan] = {}
        self._readers: dict[tuple[str, Identity], _core.Reader] = {}
        # The sealed part whose fingerprint the run has still to compare.
        self._held: dict[tuple[bytes, int], bytes] = {}

    def ready(self) -> bool:
        return True

    def look(self, uri: str) -> Identity:
        return self._identify(uri)

    # Stores

    def _at(self, uri: str) -> tuple[Store, str]:
        protocol, path = split(uri)
        if protocol not in self._stores:
            self._stores[protocol] = store_for(protocol, self._setup.options.get(protocol, {}))
        return self._stores[protocol], path

    def _has_parts(self, *uris: str) -> bool:
        """False if a store cannot say that two reads are of one object, or cannot write parts."""
        return all(self._at(uri)[0].max_parts > 1 for uri in uris)

    def _retry(self, call: Callable[[], Result]) -> Result:
        wait = FIRST_WAIT_SECONDS
        for _ in range(self._setup.attempts - 1):
            try:
                return call()
            except Exception as error:
                if not is_transient(error):
                    raise
            time.sleep(wait)
            wait *= 3
        return call()

    def _identify(self, uri: str) -> Identity:
        store, path = self._at(uri)
        return self._retry(lambda: store.identify(path))

    def _read(self, uri: str, identity: Identity, offset: int, count: int) -> bytes:
        store, path = self._at(uri)
        return self._retry(lambda: store.read(path, identity, offset, count))

    def _read_back(self, uri: str, offset: int, count: int) -> bytes:
        """Reads what was written before. A store that does not have it lies."""

        def read() -> bytes:
            store, path = self._at(uri)
            try:
                return store.read(path, store.identify(path), offset, count)
            except FileNotFoundError as error:
                raise StoreError(f"{uri!r}: the store accepted it, and does not have it") from error

        return self._retry(read)

    def _create(self, job: Job, data: bytes, *, private: bool) -> tuple[str, bool]:
        """Makes the target appear. Returns its tag, and true if it was there with this content."""
        store, path = self._at(job.target)
        tries = 0

        def create() -> str:
            nonlocal tries
            tries += 1
            return store.create(path, data, overwrite=job.overwrite, private=private)

        try:
            return self._retry(create), False
        except FileExistsError:
            # The answer to an earlier attempt was lost, or another worker made it.
            if (tries > 1 or job.ours) and self._holds(job.target, data):
                return self._identify(job.target).tag, True
            raise

    def _holds(self, uri: str, data: bytes) -> bool:
        identity = self._identify(uri)
        return identity.size == len(data) and self._read(uri, identity, 0, len(data)) == data

    def _check_whole(self, job: Job, data: bytes) -> None:
        if job.check and not self._retry(lambda: self._holds(job.target, data)):
            raise StoreError(f"{job.target!r}: the store returned other bytes than were written")

    # Sealing

    def _plan(self, packed: bytes) -> _core.Plan:
        if packed not in self._plans:
            self._plans = {packed: unpack(packed, self._key, self._engine)}
        return self._plans[packed]

    def seal(self, job: Job) -> Done | Large:
        """Seals a small object, or looks at a large one."""
        identity = self._identify(job.source)
        if identity.size > job.part_bytes and self._has_parts(job.source, job.target):
            source, path = self._at(job.source)
            source.settle(path, identity)
            return Large(identity, identity.size, 0)
        text = self._read(job.source, identity, 0, identity.size)
        if job.ours and not job.overwrite and self._holds_text(job.target, text):
            found = self._identify(job.target)
            return Done(len(text), found.size, found.tag, reused=True)
        # A plan of this attempt alone: another one has other keys.
        plan = _core.Plan.create(
            len(text), 1, identity.pin(), [("key", self._key)], self._setup.suite, self._engine
        )
        data = plan.front + plan.seal(0, text)[0]
        tag, _ = self._create(job, data, private=False)
        self._check_whole(job, data)
        return Done(len(text), len(data), tag)

    def _holds_text(self, uri: str, text: bytes) -> bool:
        """True if an object is there and opens to this text."""
        try:
            reader = self._reader(uri, self._identify(uri))
            return reader.size() == len(text) and reader.read(0, len(text)) == text
        except FileNotFoundError:
            return False
        except StoreError:
            raise
        except Error:  # another key, or no sealed file
            return False

    def seal_part(self, packed: bytes, source: str, identity: Identity, index: int) -> bytes:
        """Seals a part and keeps it until put_part(). Returns the fingerprint of its text."""
        plan = self._plan(packed)
        offset, count, _, _ = plan.shard(index)
        text = self._read(source, identity, offset, count)
        try:
            sealed, fingerprint = plan.seal(index, text)
        except ValueError as error:  # this worker sealed the part with another text
            raise SourceChangedError(f"{source!r}: {error}") from error
        self._held = {(packed, index): plan.front + sealed if index == 0 else sealed}
        return fingerprint

    def put_part(self, packed: bytes, target: str, upload: str, index: int) -> str:
        """Writes the part that seal_part() kept here."""
        data = self._held.pop((packed, index), None)
        if data is None:
            raise WorkerLostError(f"part {index} is not on this worker")
        offset = 0 if index == 0 else self._plan(packed).shard(index)[2]
        return self._put(target, upload, index, offset, data)

    def _put(self, target: str, upload: str, number: int, offset: int, data: bytes) -> str:
        store, path = self._at(target)
        return self._retry(lambda: store.put(path, upload, number, offset, data))

    def begin(self, target: str, size: int, overwrite: bool, private: bool) -> str:
        """Begins a target in parts."""
        store, path = self._at(target)
        if not overwrite:
            try:
                self._identify(target)
            except FileNotFoundError:
                pass
            else:
                raise FileExistsError(f"{target!r} exists: remove it, or give overwrite=True")
        return self._retry(lambda: store.begin(path, size, private=private))

    def complete(
        self, target: str, upload: str, tags: list[str], overwrite: bool, proof: Proof
    ) -> str:
        """Makes a target in parts appear. Returns its tag."""
        store, path = self._at(target)
        try:
            return self._retry(lambda: store.complete(path, upload, tags, overwrite=overwrite))
        except (FileExistsError, FileNotFoundError):
            # An earlier attempt, whose answer was lost, may have made it.
            if self._begins_with(target, proof):
                return self._identify(target).tag
            raise

    def _begins_with(self, uri: str, proof: Proof) -> bool:
        try:
            identity = self._identify(uri)
        except FileNotFoundError:
            return False
        if identity.size < proof.count:
            return False
        start = self._read(uri, identity, 0, proof.count)
        return hashlib.sha256(start).digest() == proof.digest

    def abort(self, target: str, upload: str) -> None:
        store, path = self._at(target)
        self._retry(lambda: store.abort(path, upload))

    # Opening

    def _reader(self, uri: str, identity: Identity) -> _core.Reader:
        if (uri, identity) in self._readers:
            return self._readers[uri, identity]
        reader = self._new_reader(uri, identity, self._key)
        while len(self._readers) >= KEPT_READERS:
            self._readers.pop(next(iter(self._readers)))
        self._readers[uri, identity] = reader
        return reader

    def _new_reader(self, uri: str, identity: Identity, key: bytes) -> _core.Reader:
        def read(offset: int, memory: memoryview) -> int:
            count = min(len(memory), identity.size - offset)
            memory[:count] = self._read(uri, identity, offset, count)
            return count

        return _core.Reader(read, identity.size, [("key", key)], None, False, self._engine)

    def open(self, job: Job) -> Done | Large:
        """Opens a small object, or looks at a large one."""
        identity = self._identify(job.source)
        reader = self._reader(job.source, identity)
        if reader.size() > job.part_bytes and self._has_parts(job.source, job.target):
            return Large(identity, reader.size(), identity.size)
        text = reader.read(0, reader.size())
        tag, reused = self._create(job, text, private=True)
        self._check_whole(job, text)
        return Done(len(text), identity.size, tag, reused)

    def open_part(
        self,
        source: str,
        identity: Identity,
        target: str,
        upload: str,
        number: int,
        offset: int,
        count: int,
    ) -> tuple[str, bytes]:
        """Opens a range of the text and writes it. Returns the part's tag and its SHA-256."""
        text = self._reader(source, identity).read(offset, count)
        return self._put(target, upload, number, offset, text), hashlib.sha256(text).digest()

    def check_bytes(self, target: str, offset: int, count: int, digest: bytes) -> None:
        """Reads a part back."""
        if hashlib.sha256(self._read_back(target, offset, count)).digest() != digest:
            raise StoreError(f"{target!r}: the store returned other bytes at byte {offset}")

    # Verifying

    def verify(self, job: Job) -> Done | Large:
        """Verifies a small object, or looks at a large one."""
        identity = self._identify(job.source)
        reader = self._reader(job.source, identity)
        if reader.size() > job.part_bytes and self._has_parts(job.source):
            return Large(identity, reader.size(), identity.size)
        reader.read(0, reader.size())
        return Done(reader.size(), identity.size, identity.tag)

    def verify_part(self, uri: str, identity: Identity, offset: int, count: int) -> None:
        """Verifies a range of the text."""
        self._reader(uri, identity).read(offset, count)

    def identify_written(self, uri: str, file_bytes: int, proof: Proof) -> Identity:
        """Returns the identity of a target that this run completed."""
        try:
            identity = self._identify(uri)
        except FileNotFoundError as error:
            raise StoreError(f"{uri!r}: the store accepted it, and does not have it") from error
        if identity.size != file_bytes:
            raise StoreError(f"{uri!r}: the store has {identity.size} bytes, not {file_bytes}")
        if not self._begins_with(uri, proof):
            raise StoreError(f"{uri!r}: the store returned another beginning than was written")
        return identity

    # Keys

    def rotate(self, job: Job) -> Done:
        """Replaces the slots that the key opens, in place, by one for the new key."""
        assert self._new_key is not None
        reused = False
        try:
            self._replace(job, self._key)
        except WrongKeyError:
            # An earlier attempt, whose answer was lost, may have done it, or one of two copies.
            self._replace(job, self._new_key)
            reused = True
        identity = self._identify(job.source)
        reader = self._new_reader(job.source, identity, self._new_key)
        return Done(reader.size(), identity.size, identity.tag, reused)

    def _replace(self, job: Job, key: bytes) -> None:
        path = split(job.source)[1]
        new = self._new_key
        self._retry(lambda: change_slots(path, key=key, new_key=new, replace=True))
