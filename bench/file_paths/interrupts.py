"""Signals that ask the measurement to stop. They end it by SystemExit, so that it cleans up."""

from __future__ import annotations

import contextlib
import signal
from typing import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_held = False
_pending = 0


def watch() -> None:
    for number in SIGNALS:
        signal.signal(number, _stop)


def ignore() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _stop(number: int, _: object) -> None:
    global _pending
    if not _held:
        raise SystemExit(128 + number)
    _pending = number


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Delays a signal until a process that is being started is known, and so can be ended."""
    global _held
    _held = True
    try:
        yield
    finally:
        _held = False


def check() -> None:
    """Ends the measurement if a signal came while they were held."""
    if _pending:
        raise SystemExit(128 + _pending)
