"""Plans: shards that are sealed apart are one ordinary sealed file."""

from __future__ import annotations

import io
import random

import pytest
import warpseal
from warpseal import _core

KEY, PIN = bytes(range(32)), b"p" * 32
SECRETS = [("key", KEY)]
CHUNK = 16384


def made(size: int, shards: int, pin: bytes = PIN) -> _core.Plan:
    return _core.Plan.create(size, shards, pin, SECRETS, None, None)


def parts(plan: _core.Plan, text: bytes) -> list[bytes]:
    sealed = []
    for i in range(plan.shard_count):
        offset, count, _, file_bytes = plan.shard(i)
        sealed.append(plan.seal(i, text[offset : offset + count])[0])
        assert len(sealed[-1]) == file_bytes
    return sealed


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 10 * CHUNK, 5000 * CHUNK + 7])
def test_shards_are_one_file(size: int) -> None:
    text = random.Random(size).randbytes(size)
    for shards in {1, min(2, size // CHUNK + 1), min(7, size // CHUNK + 1)}:
        plan = made(size, shards)
        other = _core.Plan(plan.data, SECRETS, None)  # as another process has it
        first, second = parts(plan, text), parts(other, text)
        assert first == second
        sealed = plan.front + b"".join(first)
        _, _, offset, count = plan.shard(shards - 1)
        assert len(sealed) == offset + count
        with warpseal.open(io.BytesIO(sealed), key=KEY) as file:
            assert file.read() == text


def test_a_second_text_is_refused() -> None:
    plan, text = made(2 * CHUNK, 2), bytes(CHUNK)
    first = plan.seal(0, text)
    assert plan.seal(0, text) == first
    with pytest.raises(ValueError, match="another text"):
        plan.seal(0, b"x" + text[1:])
    assert plan.seal(0, text) == first


def test_fingerprints_tell_texts_and_shards_apart() -> None:
    size = 3 * CHUNK
    plan = made(size, 3)
    seen = {plan.seal(0, bytes(CHUNK))[1], plan.seal(1, bytes(CHUNK))[1]}
    for at in (0, CHUNK - 1):
        text = bytearray(CHUNK)
        text[at] = 1
        seen.add(_core.Plan(plan.data, SECRETS, None).seal(0, text)[1])
    assert len(seen) == 4
    assert made(size, 3).seal(0, bytes(CHUNK))[1] not in seen


def test_the_plan_holds_pin_and_layout() -> None:
    plan = _core.Plan(made(100_000, 3).data, SECRETS, None)
    assert (plan.pin, plan.text_bytes, plan.shard_count) == (PIN, 100_000, 3)
    offsets = [plan.shard(i)[0] for i in range(3)]
    assert offsets[0] == 0 and all(offset % CHUNK == 0 for offset in offsets)


def test_damage_and_wrong_keys() -> None:
    data = made(100_000, 3).data
    with pytest.raises(warpseal.WrongKeyError):
        _core.Plan(data, [("key", bytes(32))], None)
    for at in (12, 20, 30, len(data) - 1, 56 + 5000):
        damaged = bytearray(data)
        damaged[at] ^= 1
        with pytest.raises(warpseal.InvalidTag):
            _core.Plan(damaged, SECRETS, None)
    with pytest.raises(warpseal.TruncatedError):
        _core.Plan(data[:1000], SECRETS, None)
    with pytest.raises(warpseal.UnsupportedError):
        _core.Plan(b"no plan at all", SECRETS, None)


def test_arguments() -> None:
    with pytest.raises(ValueError, match="2 shards"):
        made(CHUNK - 1, 2)
    with pytest.raises(ValueError, match="0 shards"):
        made(1, 0)
    with pytest.raises(ValueError, match="pin: 3 bytes"):
        made(1, 1, b"pin")
    plan = made(100_000, 3)
    with pytest.raises(ValueError, match="index: 3"):
        plan.shard(3)
    with pytest.raises(ValueError, match="index: 3"):
        plan.seal(3, b"")
    with pytest.raises(ValueError, match="text: 5 bytes"):
        plan.seal(0, b"12345")
    with pytest.raises(warpseal.LimitExceededError):
        made(2**60, 1)
