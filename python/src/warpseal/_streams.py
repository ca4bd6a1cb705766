"""File calls that run in a thread, between a pipe and a file."""

from __future__ import annotations

import contextlib
import io
import os
import threading
import weakref
from fcntl import F_SETPIPE_SZ, fcntl
from typing import TYPE_CHECKING

from warpseal import _core
from warpseal._endpoints import Input, Output
from warpseal._file_call import FileCall, WritableFile

if TYPE_CHECKING:
    from typing_extensions import Buffer

PIPE_BYTES = 1 << 20


class Worker:
    """Runs a file call between a pipe and a file, in a thread."""

    def __init__(self, call: FileCall, file: int) -> None:
        self._call = call
        self._cancellation = _core.Cancellation()
        self._failure: BaseException | None = None
        reader, writer = os.pipe2(os.O_CLOEXEC)
        with contextlib.suppress(OSError):  # over the user's limit
            fcntl(writer, F_SETPIPE_SZ, PIPE_BYTES)
        self.pipe, self._far_end = (writer, reader) if call.sealing else (reader, writer)
        ends = (reader, file) if call.sealing else (file, writer)
        self._thread = threading.Thread(target=self._run, args=ends, daemon=True)
        self._thread.start()

    def _run(self, source: int, target: int) -> None:
        try:
            self._call.run(source, target, cancellation=self._cancellation)
        except BaseException as failure:  # noqa: BLE001 - finish() raises it
            self._failure = failure
        os.close(self._far_end)

    def cancel(self) -> None:
        self._cancellation.cancel()

    def finish(self) -> None:
        """Waits for the call and raises its exception."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def abort(self) -> None:
        """Ends the call, whose result is dropped."""
        self.cancel()
        if self._call.sealing:
            os.close(self.pipe)
        else:
            while os.read(self.pipe, PIPE_BYTES):
                pass
            os.close(self.pipe)
        self._thread.join()


class FileSink:
    """Writes what arrives in a pipe to a file object. It has the interface of Output."""

    def __init__(self, file: WritableFile) -> None:
        self._file = file
        self._dropping = False
        self._failure: BaseException | None = None
        reader, self.descriptor = os.pipe2(os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._run, args=[reader], daemon=True)
        self._thread.start()

    def _run(self, reader: int) -> None:
        try:
            while part := os.read(reader, PIPE_BYTES):
                while part and not self._dropping:
                    part = part[self._file.write(part) :]
        except BaseException as failure:  # noqa: BLE001 - commit() raises it
            self._failure = failure
        os.close(reader)

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def drop(self) -> None:
        """Writes nothing more, so that what was written is no whole message."""
        self._dropping = True

    def commit(self) -> None:
        self._end()
        self.raise_failure()

    def close(self) -> None:
        self._end()

    def _end(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        self._thread.join()


class RawReader(io.RawIOBase):
    """The plaintext of a sealed file, in order. Only verified bytes come out."""

    def __init__(self, source: Input, call: FileCall) -> None:
        super().__init__()
        self._input = source
        self._worker = Worker(call, source.descriptor)
        self._position = 0
        open_files.add(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        count = os.readv(self._worker.pipe, [buffer]) if len(memoryview(buffer)) else 0
        if count == 0 and len(memoryview(buffer)):
            self._worker.finish()  # the end of the text, or a failure
        self._position += count
        return count

    def tell(self) -> int:
        return self._position

    def abort(self) -> None:
        self.close()

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        if hasattr(self, "_worker"):
            self._worker.abort()
            self._input.close()


class RawWriter(io.RawIOBase):
    """Plaintext that is sealed to a file. The file appears at close()."""

    def __init__(self, output: Output | FileSink, call: FileCall) -> None:
        super().__init__()
        self._output = output
        self._worker = Worker(call, output.descriptor)
        self._position = 0
        open_files.add(self)

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        try:
            count = os.write(self._worker.pipe, data)
        except BrokenPipeError:
            self._finish()
            raise
        self._position += count
        return count

    def tell(self) -> int:
        return self._position

    def abort(self) -> None:
        """Ends without a file."""
        if self.closed:
            return
        super().close()
        self._output.drop()
        self._worker.abort()
        self._output.close()

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        try:
            os.close(self._worker.pipe)
            self._finish()
            self._output.commit()
        finally:
            self._output.close()

    def _finish(self) -> None:
        try:
            self._worker.finish()
        except BaseException:
            self._output.raise_failure()  # the cause
            raise


open_files: weakref.WeakSet[RawReader | RawWriter] = weakref.WeakSet()


def abort_open_files() -> None:
    """At the interpreter's exit: files that were not closed do not appear."""
    for file in list(open_files):
        if not file.closed:
            file.abort()


def _forgetopen_files() -> None:
    """In a forked child, which has no thread of theirs."""
    open_files.clear()


os.register_at_fork(after_in_child=_forgetopen_files)
