"""Sealed files whose text is the memory of an array, in host memory or on a GPU."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warpseal import _core, files
from warpseal._arrays import HOST, memory_of, stream_of
from warpseal._endpoints import SEALED_MODE, Output
from warpseal._file_call import (
    FileCall,
    FileResult,
    Format,
    IdentityText,
    Path,
    Progress,
    Source,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

PART_BYTES = 16 << 20


def seal_array(
    array: Any,
    target: Path,
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    recipients: Sequence[str] = (),
    suite: str | None = None,
    format: Format = "warpseal",
    context: Buffer | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    stream: Any = None,
    engine: _core.Engine | None = None,
) -> FileResult:
    """Seals the bytes of an array. `target` appears when it is complete and synced.

    On a GPU the bytes are encrypted there, after the work that is queued on `stream`: host memory
    never has them. progress, errors: as for seal_file.
    """
    call = FileCall(True, key, passphrase, suite, format, context, engine, recipients)
    handle = stream_of(stream, array)
    memory = memory_of(array, "array", stream=handle)
    if memory.device != HOST:
        with Output(target, overwrite=overwrite, mode=SEALED_MODE) as output:
            result = call.run_on_device(memory, handle, output.descriptor, progress)
            output.commit()
        return result
    with files.open(
        target,
        "wb" if overwrite else "xb",
        key=key,
        passphrase=passphrase,
        recipients=recipients,
        suite=suite,
        format=format,
        context=context,
        engine=engine,
    ) as file:
        view = memory.view()
        for begin in range(0, memory.size, PART_BYTES):
            file.write(view[begin : begin + PART_BYTES])
            if progress is not None:
                progress(min(begin + PART_BYTES, memory.size), memory.size)
    return FileResult(memory.size, os.stat(target).st_size, "", False)


def open_into(
    source: Source,
    array: Any,
    offset: int = 0,
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    format: Format = "warpseal",
    context: Buffer | None = None,
    stream: Any = None,
    engine: _core.Engine | None = None,
) -> int:
    """Reads text of a sealed file into an array, from `offset` on. Returns the bytes that it read.

    They are fewer than the array has where the text ends. On a GPU the bytes are decrypted there,
    once the work that is queued on `stream` is done. Everything is verified when the call returns.
    After an exception the array is zeros as far as it would have been written.
    source: a path, a regular file, or an object with read, seek and tell.
    """
    with files.open(
        source,
        key=key,
        passphrase=passphrase,
        identities=identities,
        format=format,
        context=context,
        engine=engine,
    ) as file:
        return file.read_into(offset, array, stream=stream)
