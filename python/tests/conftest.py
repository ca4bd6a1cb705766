"""Settings and fixtures of all tests. Nothing has a deadline: the machine may build meanwhile."""

import signal

import pytest
from gpu_stand_in import StandIn
from hypothesis import settings

settings.register_profile("warpseal", deadline=None, print_blob=True)
settings.load_profile("warpseal")
# A shell starts a background command with it ignored, and tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return StandIn(monkeypatch)
