"""Workers that a run gives calls to: threads of this process, or anything with this interface."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from warpseal._cluster.worker import Worker, WorkerSetup

__all__ = ["Answer", "Pool", "ThreadPool"]


@dataclass
class Answer:
    """The end of a call. worker: its number, which is never used for another worker."""

    call: Any
    worker: int
    value: Any = None
    error: Exception | None = field(default=None)


class Pool(Protocol):
    """Each worker runs one call at a time."""

    def idle(self) -> list[int]:
        """Returns the workers that wait for a call."""

    def is_alive(self, worker: int) -> bool: ...
    def start(self, worker: int, call: Any, method: str, arguments: tuple[Any, ...]) -> None: ...
    def wait(self, seconds: float) -> list[Answer]:
        """Waits for calls to end. A worker that ended is a WorkerLostError of its call.

        Raises an exception if no worker is left and none can be had.
        """

    def close(self) -> None: ...


class ThreadPool:
    """Workers in threads of this process."""

    def __init__(
        self, setup: WorkerSetup, count: int, make: Callable[[WorkerSetup], Any] = Worker
    ) -> None:
        self._answers: queue.Queue[Answer] = queue.Queue()
        self._calls: list[queue.Queue[Any]] = [queue.Queue() for _ in range(count)]
        self._idle = set(range(count))
        self._threads = [
            threading.Thread(target=self._work, args=(i, make(setup)), daemon=True)
            for i in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def _work(self, number: int, worker: Any) -> None:
        while (given := self._calls[number].get()) is not None:
            call, method, arguments = given
            answer = Answer(call, number)
            try:
                answer.value = getattr(worker, method)(*arguments)
            except Exception as error:
                answer.error = error
            self._answers.put(answer)

    def idle(self) -> list[int]:
        return sorted(self._idle)

    def is_alive(self, worker: int) -> bool:
        return True

    def start(self, worker: int, call: Any, method: str, arguments: tuple[Any, ...]) -> None:
        self._idle.remove(worker)
        self._calls[worker].put((call, method, arguments))

    def wait(self, seconds: float) -> list[Answer]:
        answers = []
        try:
            answers.append(self._answers.get(timeout=seconds))
            while True:
                answers.append(self._answers.get_nowait())
        except queue.Empty:
            pass
        self._idle.update(answer.worker for answer in answers)
        return answers

    def close(self) -> None:
        for calls in self._calls:
            calls.put(None)
        for thread in self._threads:
            thread.join()
