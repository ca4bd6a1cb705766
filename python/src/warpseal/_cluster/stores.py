"""Where the objects of a run lie: files, S3, or another filesystem of fsspec."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from warpseal._cluster.errors import SourceChangedError, StoreError

__all__ = ["FsspecStore", "Identity", "Store", "split", "store_for"]

PIN_KIND = b"object\0\0"


@dataclass(frozen=True)
class Identity:
    """What an object is recognized by: the same identity means the same bytes."""

    size: int
    tag: str

    def pin(self) -> bytes:
        """Returns the 32 bytes that a plan keeps."""
        text = f"{self.size}:{self.tag}".encode()
        return PIN_KIND + hashlib.blake2b(text, digest_size=24).digest()


class Store(Protocol):
    """Objects by path. Every call raises OSError, FileNotFoundError or FileExistsError.

    max_parts: 1 if objects cannot be written in parts.
    """

    max_parts: int
    least_part_bytes: int

    def identify(self, path: str) -> Identity: ...
    def settle(self, path: str, identity: Identity) -> None:
        """Waits until another write would give another identity. Raises SourceChangedError."""

    def read(self, path: str, identity: Identity, offset: int, count: int) -> bytes:
        """Reads exactly `count` bytes of that object. Raises SourceChangedError or StoreError."""

    def create(self, path: str, data: bytes, *, overwrite: bool, private: bool) -> str:
        """Makes a whole object appear and returns its tag."""

    def begin(self, path: str, size: int, *, private: bool) -> str:
        """Begins an object in parts, which is invisible until complete(). Returns its upload."""

    def put(self, path: str, upload: str, number: int, offset: int, data: bytes) -> str:
        """Writes part `number`, from 0 on, at an offset of the object. Returns its tag."""

    def complete(self, path: str, upload: str, tags: Sequence[str], *, overwrite: bool) -> str: ...
    def abort(self, path: str, upload: str) -> None: ...


class FsspecStore:
    """Any filesystem of fsspec. Objects are written whole."""

    max_parts = 1
    least_part_bytes = 0

    def __init__(self, protocol: str, options: dict[str, Any]) -> None:
        import fsspec

        self.fs = fsspec.filesystem(protocol, **options)

    def identify(self, path: str) -> Identity:
        self.fs.invalidate_cache(path)
        return Identity(int(self.fs.info(path)["size"]), str(self.fs.ukey(path)))

    def settle(self, path: str, identity: Identity) -> None:
        pass

    def read(self, path: str, identity: Identity, offset: int, count: int) -> bytes:
        data: bytes = self.fs.cat_file(path, start=offset, end=offset + count)
        if len(data) != count:
            raise StoreError(f"{path!r}: {len(data)} bytes came, of {count} at byte {offset}")
        if self.identify(path) != identity:
            raise SourceChangedError(f"{path!r} was replaced or changed while it was read")
        return data

    def create(self, path: str, data: bytes, *, overwrite: bool, private: bool) -> str:
        if not overwrite and self.fs.exists(path):
            raise FileExistsError(f"{path!r} exists: remove it, or give overwrite=True")
        self.fs.makedirs(self.fs._parent(path), exist_ok=True)
        self.fs.pipe_file(path, data, mode="overwrite" if overwrite else "create")
        return self.identify(path).tag

    def begin(self, path: str, size: int, *, private: bool) -> str:
        raise NotImplementedError

    def put(self, path: str, upload: str, number: int, offset: int, data: bytes) -> str:
        raise NotImplementedError

    def complete(self, path: str, upload: str, tags: Sequence[str], *, overwrite: bool) -> str:
        raise NotImplementedError

    def abort(self, path: str, upload: str) -> None:
        raise NotImplementedError


def split(uri: str) -> tuple[str, str]:
    """Returns the protocol and the path of a URI. A path without a protocol is a file."""
    protocol, separator, path = uri.partition("://")
    if not separator:
        return "file", uri
    if not protocol or not path:
        raise ValueError(f"{uri!r} is no URI: give s3://BUCKET/KEY, or a path")
    return protocol, path


def store_for(protocol: str, options: dict[str, Any]) -> Store:
    """Makes a store. options: those of its fsspec filesystem."""
    if protocol in ("file", "local"):
        from warpseal._cluster.local_store import LocalStore

        return LocalStore()
    if protocol in ("s3", "s3a"):
        from warpseal._cluster.s3_store import S3Store

        return S3Store(options)
    return FsspecStore(protocol, options)
