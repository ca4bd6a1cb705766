"""Exceptions of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpseal.exceptions import Error

if TYPE_CHECKING:
    from warpseal._cluster.run import RunResult

__all__ = ["RunError", "SourceChangedError", "StoreError", "WorkerLostError"]


class SourceChangedError(Error, OSError):
    """The source is not the object that it was when its sealing began."""


class StoreError(Error, OSError):
    """The answer of a store is not what was asked for: a short body, or other bytes."""


class WorkerLostError(Error):
    """A worker ended before it answered. Its work is done again by another."""


class RunError(Error):
    """Some objects failed. The others are done, and a run with the same manifest skips them.

    failures: the exception of each failed source. result: what was done.
    """

    def __init__(self, text: str, failures: dict[str, Exception], result: RunResult) -> None:
        super().__init__(text)
        self.failures = failures
        self.result = result

    def __reduce__(self) -> Any:
        return RunError, (str(self), self.failures, self.result)
