"""Calls on many files: side by side, with one key derivation for a passphrase."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_EXCEPTION,
    CancelledError,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import replace as with_fields
from typing import TYPE_CHECKING, TypeVar

from warpseal import _core
from warpseal._endpoints import OPENED_MODE, SEALED_MODE, Input, Output
from warpseal._file_call import FileCall, FileResult, Format, IdentityText, Path
from warpseal._slots import SlotChange, change_slots

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["change_slots_of", "open_files", "seal_files"]

Result = TypeVar("Result")
# A file waits for the disk most of the time, when it is synced.
THREADS = 4 * (os.cpu_count() or 1)


def _run(
    names: Sequence[Path],
    work: Callable[[int], Result],
    cancellation: _core.Cancellation,
    threads: int,
    keep_going: bool,
) -> list[Result]:
    """Returns work(i) for each name. Its exceptions have the name as a note."""
    failures: list[Exception] = []  # in the order of time

    def one(number: int) -> Result:
        if failures and not keep_going:  # this thread can be faster than the cancellation
            raise CancelledError
        try:
            return work(number)
        except Exception as error:
            error.add_note(f"file {os.fspath(names[number])!r}")
            failures.append(error)
            raise

    with ThreadPoolExecutor(max_workers=max(1, min(threads, len(names)))) as pool:
        futures = [pool.submit(one, number) for number in range(len(names))]
        try:
            wait(futures, return_when=ALL_COMPLETED if keep_going else FIRST_EXCEPTION)
        finally:  # of Ctrl-C too: files that are done stay
            if not all(future.done() for future in futures):
                cancellation.cancel()
                for future in futures:
                    future.cancel()
    if failures and keep_going:
        raise ExceptionGroup(f"{len(failures)} of {len(names)} files failed", failures)
    if failures:
        raise failures[0]
    return [future.result() for future in futures]


def _whole_files(
    files: Iterable[tuple[Path, Path]],
    call: FileCall,
    *,
    overwrite: bool,
    threads: int | None,
    keep_going: bool,
) -> list[FileResult]:
    pairs = [(os.fspath(source), os.fspath(target)) for source, target in files]
    targets = [os.path.abspath(target) for _, target in pairs]
    if len(set(targets)) != len(targets):
        raise ValueError("files: two of them have the same target")
    cancellation = _core.Cancellation()
    call = with_fields(call, keys=_core.SlotKeys())
    mode = SEALED_MODE if call.sealing else OPENED_MODE

    def work(number: int) -> FileResult:
        source, target = pairs[number]
        with Input(source) as read, Output(target, overwrite=overwrite, mode=mode) as output:
            result = call.run(read, output.descriptor, any_order=True, cancellation=cancellation)
            output.commit()
        return result

    names = [source for source, _ in pairs]
    return _run(names, work, cancellation, threads or THREADS, keep_going)


def seal_files(
    files: Iterable[tuple[Path, Path]],
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    recipients: Sequence[str] = (),
    suite: str | None = None,
    format: Format = "warpseal",
    overwrite: bool = False,
    keep_going: bool = False,
    threads: int | None = None,
    engine: _core.Engine | None = None,
) -> list[FileResult]:
    """Seals files, given as pairs of source and target. Each target appears when it is complete.

    The first failure ends the call; targets that are complete stay. keep_going: the others are
    done too, and an ExceptionGroup at the end has all failures. Each exception has a note with the
    source's name. threads: files at a time.
    """
    call = FileCall(True, key, passphrase, suite, format, None, engine, recipients)
    return _whole_files(
        files, call, overwrite=overwrite, threads=threads, keep_going=keep_going
    )


def open_files(
    files: Iterable[tuple[Path, Path]],
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    format: Format = "warpseal",
    overwrite: bool = False,
    keep_going: bool = False,
    threads: int | None = None,
    engine: _core.Engine | None = None,
) -> list[FileResult]:
    """Opens sealed files, given as pairs of source and target. The rest is as for seal_files."""
    call = FileCall(False, key, passphrase, None, format, None, engine, (), identities)
    return _whole_files(
        files, call, overwrite=overwrite, threads=threads, keep_going=keep_going
    )


def change_slots_of(
    files: Iterable[Path],
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    new_key: Buffer | None = None,
    new_passphrase: str | bytes | None = None,
    new_recipients: Sequence[str] = (),
    remove: Iterable[int] = (),
    replace: bool = False,
    keep_going: bool = False,
    engine: _core.Engine | None = None,
) -> list[SlotChange]:
    """Changes the key slots of files, one after another, as change_slots does.

    The first failure ends the call. keep_going: the others are changed too, and an ExceptionGroup
    at the end has all failures.
    """
    names = [os.fspath(file) for file in files]
    keys, indices = _core.SlotKeys(), list(remove)

    def work(number: int) -> SlotChange:
        return change_slots(
            names[number],
            key=key,
            passphrase=passphrase,
            identities=identities,
            new_key=new_key,
            new_passphrase=new_passphrase,
            new_recipients=new_recipients,
            remove=indices,
            replace=replace,
            engine=engine,
            keys=keys,
        )

    return _run(names, work, _core.Cancellation(), 1, keep_going)
