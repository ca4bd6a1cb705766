"""The driver of a run: gives calls to workers, and keeps the manifest."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from warpseal._cluster.errors import RunError, WorkerLostError
from warpseal._cluster.manifest import Manifest
from warpseal._cluster.pool import Answer, Pool
from warpseal._cluster.worker import Done, Job
from warpseal.exceptions import Error

__all__ = ["Call", "Item", "Run", "RunProgress", "RunResult", "run_all"]

REPORT_SECONDS = 0.1
# Objects whose beginning one sync of the manifest records.
ANNOUNCED = 1000
# A call whose worker ended is given to others so often.
MOST_LOSSES = 5
CLEAN_UP = "abort"


@dataclass(frozen=True)
class RunResult:
    """What a run did. skipped: objects that the manifest has as done."""

    objects: int
    done: int
    skipped: int
    text_bytes: int
    file_bytes: int
    seconds: float


@dataclass(frozen=True)
class RunProgress:
    """How far a run is. text_bytes: of finished objects, and of finished parts of others."""

    objects: int
    done: int
    failed: int
    text_bytes: int
    workers_lost: int


@dataclass
class Item:
    """An object and what is known of it."""

    job: Job
    waiting: int = 0  # calls that have not ended
    failed: Exception | None = None
    given_up: bool = False
    state: Any = None


@dataclass
class Call:
    """A call for a worker. worker: the only one that can run it, or None."""

    item: Item
    method: str
    arguments: tuple[Any, ...]
    part: int = -1
    worker: int | None = None
    losses: int = 0

    def may_run(self) -> bool:
        """False for the calls of an object that failed, but for those that clean up."""
        return self.item.failed is None or self.method == CLEAN_UP


@dataclass
class Counts:
    done: int = 0
    failed: int = 0
    text_bytes: int = 0
    file_bytes: int = 0
    workers_lost: int = 0
    failures: dict[str, Exception] = field(default_factory=dict)


class Run:
    """One action on many objects. Subclasses say which calls an object needs."""

    action: ClassVar[str]
    first_method: ClassVar[str]

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.counts = Counts()

    def announce(self, items: Iterable[Item]) -> None:
        """Says in the manifest that the targets may exist from here on."""
        for item in items:
            if item.job.target and not item.job.ours:
                self.manifest.write(
                    {"event": "begin", "source": item.job.source, "target": item.job.target}
                )

    def begin(self, item: Item) -> list[Call]:
        """Returns the first calls of an object."""
        return [Call(item, self.first_method, (item.job,))]

    def after(self, call: Call, value: Any) -> list[Call]:
        """Takes the value of a call and returns the next calls of its object."""
        raise NotImplementedError

    def lost(self, call: Call) -> list[Call]:
        """Returns the calls that do again what a lost worker did."""
        # It may have made the target.
        if call.method == self.first_method:
            call.item.job = replace(call.item.job, ours=True)
            call.arguments = (call.item.job,)
        call.worker = None
        return [call]

    def give_up(self, item: Item) -> list[Call]:
        """Returns the calls that clean up after an object that failed."""
        return []

    def finish(self, item: Item, done: Done, **more: Any) -> list[Call]:
        """Records an object that is done."""
        self.manifest.write(
            {
                "event": "done",
                "source": item.job.source,
                "target": item.job.target,
                "bytes": done.text_bytes,
                "file_bytes": done.file_bytes,
                "tag": done.tag,
                **more,
            }
        )
        self.counts.done += 1
        self.counts.file_bytes += done.file_bytes
        return []

    def fail(self, item: Item, error: Exception) -> None:
        """Records an object that failed."""
        item.failed = error
        self.counts.failed += 1
        self.counts.failures[item.job.source] = error
        self.manifest.write(
            {
                "event": "failed",
                "source": item.job.source,
                "error": type(error).__name__,
                "message": str(error),
            }
        )

    def take(self, answer: Answer) -> list[Call]:
        """Takes the end of a call and returns the calls that follow."""
        item = answer.call.item
        item.waiting -= 1
        following = self._follow(answer.call, answer)
        if item.failed is None or item.waiting > 0 or item.given_up:
            return following
        item.given_up = True
        return self.give_up(item)

    def _follow(self, call: Call, answer: Answer) -> list[Call]:
        if isinstance(answer.error, WorkerLostError):
            self.counts.workers_lost += 1
            call.losses += 1
            if call.losses <= MOST_LOSSES and call.may_run():
                return self.lost(call)
        if call.item.failed is not None or call.method == CLEAN_UP:
            return []
        if answer.error is not None:
            self.fail(call.item, answer.error)
            return []
        call.worker = answer.worker
        try:
            return self.after(call, answer.value)
        except (Error, ValueError) as error:
            self.fail(call.item, error)
            return []


class _Queue:
    """Calls that wait: those for one worker, and those for any."""

    def __init__(self) -> None:
        self._any: deque[Call] = deque()
        self._bound: dict[int, deque[Call]] = {}

    def add(self, calls: Iterable[Call]) -> None:
        """Later calls of an object go first, so that few objects are open at a time."""
        for call in reversed(list(calls)):
            call.item.waiting += 1
            if call.worker is None:
                self._any.appendleft(call)
            else:
                self._bound.setdefault(call.worker, deque()).append(call)

    def next(self, worker: int) -> Call | None:
        bound = self._bound.get(worker)
        if bound:
            return bound.popleft()
        return self._any.popleft() if self._any else None

    def __bool__(self) -> bool:
        return bool(self._any) or any(self._bound.values())

    def orphans(self, is_alive: Callable[[int], bool]) -> Iterator[Call]:
        """Takes out the calls for workers that have ended."""
        for worker in [number for number in self._bound if not is_alive(number)]:
            yield from self._bound.pop(worker)


class _Fresh:
    """Objects that are not begun. They are announced some time before."""

    def __init__(self, run: Run, items: list[Item]) -> None:
        self._run, self._items = run, items
        self._next = self._announced = 0

    def __bool__(self) -> bool:
        return self._next < len(self._items)

    def take(self) -> Item:
        if self._next == self._announced:
            self._announced += ANNOUNCED
            self._run.announce(self._items[self._next : self._announced])
        self._next += 1
        return self._items[self._next - 1]


def _give_calls(run: Run, calls: _Queue, fresh: _Fresh, pool: Pool) -> int:
    """Gives each idle worker a call. Returns how many were given."""
    given = 0
    for orphan in list(calls.orphans(pool.is_alive)):
        calls.add(run.take(Answer(orphan, -1, error=WorkerLostError("its worker ended"))))
    for worker in pool.idle():
        while True:
            call = calls.next(worker)
            if call is None and fresh:
                calls.add(run.begin(fresh.take()))
                continue
            if call is None or call.may_run():
                break
            calls.add(run.take(Answer(call, worker, error=call.item.failed)))
        if call is not None:
            run.manifest.flush()  # before what follows from its lines
            pool.start(worker, call, call.method, call.arguments)
            given += 1
    return given


def run_all(
    run: Run,
    items: list[Item],
    pool: Pool,
    *,
    skipped: int = 0,
    progress: Callable[[RunProgress], object] | None = None,
) -> RunResult:
    """Runs all objects. Raises RunError at the end if some failed."""
    begun, in_flight, calls = time.monotonic(), 0, _Queue()
    fresh, reported, counts = _Fresh(run, items), 0.0, run.counts

    def now() -> RunProgress:
        return RunProgress(
            len(items), counts.done, counts.failed, counts.text_bytes, counts.workers_lost
        )

    while True:
        in_flight += _give_calls(run, calls, fresh, pool)
        if in_flight == 0 and not fresh and not calls:
            break
        for answer in pool.wait(REPORT_SECONDS):
            in_flight -= 1
            calls.add(run.take(answer))
        if progress is not None and time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            progress(now())
    run.manifest.flush()
    if progress is not None:
        progress(now())
    result = RunResult(
        len(items) + skipped,
        counts.done,
        skipped,
        counts.text_bytes,
        counts.file_bytes,
        time.monotonic() - begun,
    )
    if counts.failures:
        source, error = next(iter(counts.failures.items()))
        raise RunError(
            f"{counts.failed} of {len(items)} objects failed, {source!r} first: "
            f"{type(error).__name__}: {error}. Run again, with the same manifest, for those alone",
            counts.failures,
            result,
        )
    return result
