"""Workers that are actors of Ray, one call at a time each."""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from warpseal._cluster.errors import WorkerLostError
from warpseal._cluster.pool import Answer
from warpseal._cluster.worker import Worker, WorkerSetup

__all__ = ["RayPool"]

# Without any worker for so long, a run ends.
PATIENCE_SECONDS = 120.0
# Starts that may fail while other workers are at work, and while there is none.
MOST_FAILED_STARTS, MOST_FAILED_FIRST_STARTS = 20, 3


class RayPool:
    """Actors spread over the nodes. One that ends with its node is replaced where there is room."""

    def __init__(
        self, setup: WorkerSetup, count: int, *, num_cpus: float, num_gpus: float
    ) -> None:
        options = {
            "num_cpus": num_cpus,
            "num_gpus": num_gpus,
            "max_restarts": 0,
            "max_concurrency": 1,
            "scheduling_strategy": "SPREAD",
        }
        self._class: Any = ray.remote(Worker).options(**options)
        self._setup: Any = ray.put(setup)
        self._actors: dict[int, Any] = {}
        self._starting: dict[Any, tuple[int, Any]] = {}
        self._busy: dict[Any, tuple[int, Any]] = {}
        self._numbers = 0
        self._failed_starts = 0
        self._last_seen = time.monotonic()
        self._wanted = f"num_cpus={num_cpus:g}, num_gpus={num_gpus:g}"
        for _ in range(count):
            self._start_actor()

    def _start_actor(self) -> None:
        actor = self._class.remote(self._setup)
        self._starting[actor.ready.remote()] = (self._numbers, actor)
        self._numbers += 1

    def idle(self) -> list[int]:
        busy = {number for number, _ in self._busy.values()}
        return [number for number in self._actors if number not in busy]

    def is_alive(self, worker: int) -> bool:
        return worker in self._actors

    def start(self, worker: int, call: Any, method: str, arguments: tuple[Any, ...]) -> None:
        reference = getattr(self._actors[worker], method).remote(*arguments)
        self._busy[reference] = (worker, call)

    def wait(self, seconds: float) -> list[Answer]:
        references = [*self._busy, *self._starting]
        if references:
            ready, _ = ray.wait(references, num_returns=1, timeout=seconds)
            if ready:
                ready, _ = ray.wait(references, num_returns=len(references), timeout=0)
        else:
            ready = []
            time.sleep(seconds)
        answers = []
        for reference in ready:
            if reference in self._starting:
                self._started(reference)
            else:
                answers.append(self._answer(reference))
        self._check_patience()
        return answers

    def _started(self, reference: Any) -> None:
        number, actor = self._starting.pop(reference)
        try:
            ray.get(reference)
        except RayError as error:
            # Its constructor failed, or its node ended.
            self._failed_starts += 1
            most = MOST_FAILED_STARTS if self._actors else MOST_FAILED_FIRST_STARTS
            if self._failed_starts >= most:
                raise RuntimeError(f"a worker could not be started: {error}") from None
            self._start_actor()
            return
        self._actors[number] = actor

    def _answer(self, reference: Any) -> Answer:
        worker, call = self._busy.pop(reference)
        answer = Answer(call, worker)
        try:
            answer.value = ray.get(reference)
        except RayTaskError as error:
            cause = error.cause
            answer.error = cause if isinstance(cause, Exception) else error
        except RayError as error:  # the worker or its node ended, or cannot be reached
            ray.kill(self._actors.pop(worker))
            self._start_actor()
            answer.error = WorkerLostError(str(error))
        return answer

    def _check_patience(self) -> None:
        if self._actors:
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > PATIENCE_SECONDS:
            raise TimeoutError(
                f"no node of the cluster had room for a worker ({self._wanted}) for "
                f"{PATIENCE_SECONDS:g} s: give num_cpus and num_gpus that a node has"
            )

    def close(self) -> None:
        starting = [actor for _, actor in self._starting.values()]
        for actor in [*self._actors.values(), *starting]:
            ray.kill(actor)
        self._actors, self._starting, self._busy = {}, {}, {}
