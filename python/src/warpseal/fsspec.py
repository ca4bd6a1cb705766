"""An fsspec filesystem of sealed files over any other filesystem.

``fsspec.open("warpseal::s3://bucket/film.ws", warpseal={"key": key})`` opens one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import fsspec
from fsspec.implementations.chained import ChainedFileSystem

from warpseal._file_call import FileCall, IdentityText
from warpseal._random_reader import RawRandomReader
from warpseal._streams import FileSink, RawWriter
from warpseal.files import BUFFER_BYTES, SealedReader, SealedWriter

__all__ = ["WarpsealFileSystem"]


class _CommittedSink(FileSink):
    """Writes to a file of fsspec that appears only when it is whole."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self._inner = file
        self._committed = False

    def commit(self) -> None:
        super().commit()
        self._inner.close()
        self._inner.commit()
        self._committed = True

    def close(self) -> None:
        super().close()
        if not self._committed:
            with contextlib.suppress(Exception):  # the failure before this one is raised
                self._inner.close()
            with contextlib.suppress(Exception):
                self._inner.discard()


class WarpsealFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """Sealed files as their plaintext. Names and folders are those of the filesystem below.

    fs, or target_protocol with target_options: that filesystem. The other arguments are those of
    warpseal.open: recipients seal files, identities open them, and key or passphrase does both.
    Reads fetch the ranges that they need. `ls` has the size None for a file; `info` reads its
    header and its end, and has the verified size.
    """

    protocol = "warpseal"
    cachable = False  # fsspec would keep the key with the instance

    def __init__(
        self,
        fo: str | None = None,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fs: Any = None,
        *,
        key: Any = None,
        passphrase: str | bytes | None = None,
        recipients: Sequence[str] = (),
        identities: Sequence[IdentityText] = (),
        suite: str | None = None,
        format: Any = "warpseal",
        context: Any = None,
        engine: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.fs = fs or fsspec.filesystem(target_protocol, **(target_options or {}))
        for_both = key is not None or passphrase is not None
        self._opening: FileCall | None = None
        self._sealing: FileCall | None = None
        if for_both or identities or not recipients:
            self._opening = FileCall(
                False, key, passphrase, None, format, context, engine, (), identities
            )
        if for_both or recipients:
            self._sealing = FileCall(
                True, key, passphrase, suite, format, context, engine, recipients
            )

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return str(path).removeprefix("warpseal://")

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> SealedReader | SealedWriter:
        if mode == "rb":
            return SealedReader(self._raw_reader(path), BUFFER_BYTES)
        if mode != "wb":
            raise ValueError(f"mode: {mode!r} is not 'rb' or 'wb'")
        if not autocommit:
            raise ValueError("sealed files take no part in transactions of fsspec")
        if self._sealing is None:
            raise ValueError("recipients: identities only open files; give recipients= to write")
        if block_size is not None:
            options["block_size"] = block_size
        sink = _CommittedSink(self.fs.open(path, "wb", autocommit=False, **options))
        try:
            return SealedWriter(RawWriter(sink, self._sealing), BUFFER_BYTES)
        except BaseException:
            sink.close()
            raise

    def _raw_reader(self, path: str) -> RawRandomReader:
        def read_at(offset: int, memory: memoryview) -> int:
            part = self.fs.cat_file(path, start=offset, end=offset + len(memory))
            memory[: len(part)] = part
            return len(part)

        if self._opening is None:
            raise ValueError("identities: recipients only seal files; give identities= to read")
        return RawRandomReader((read_at, self.fs.size(path)), self._opening)

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        below = dict(self.fs.info(path, **options))
        if below["type"] == "file":
            below["sealed_size"] = below["size"]
            with SealedReader(self._raw_reader(path)) as file:
                below["size"] = file.size
        return below

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        entries = self.fs.ls(self._strip_protocol(path), detail=detail, **options)
        if not detail:
            return entries
        return [
            {**entry, "size": None, "sealed_size": entry["size"]}
            if entry["type"] == "file"
            else entry
            for entry in entries
        ]

    def exists(self, path: str, **options: Any) -> Any:
        return self.fs.exists(self._strip_protocol(path), **options)

    def isfile(self, path: str) -> Any:
        return self.fs.isfile(self._strip_protocol(path))

    def isdir(self, path: str) -> Any:
        return self.fs.isdir(self._strip_protocol(path))

    def created(self, path: str) -> Any:
        return self.fs.created(self._strip_protocol(path))

    def modified(self, path: str) -> Any:
        return self.fs.modified(self._strip_protocol(path))

    def ukey(self, path: str) -> Any:
        return self.fs.ukey(self._strip_protocol(path))

    def mkdir(self, path: str, create_parents: bool = True, **options: Any) -> None:
        self.fs.mkdir(self._strip_protocol(path), create_parents=create_parents, **options)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self.fs.makedirs(self._strip_protocol(path), exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        self.fs.rmdir(self._strip_protocol(path))

    def rm_file(self, path: str) -> None:
        self.fs.rm_file(self._strip_protocol(path))

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        """Copies a sealed file as it is."""
        self.fs.cp_file(self._strip_protocol(path1), self._strip_protocol(path2), **options)
