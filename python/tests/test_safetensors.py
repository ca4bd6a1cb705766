"""Headers of safetensors files, also malformed ones."""

from __future__ import annotations

import json

import pytest
import warpseal
from warpseal._safetensors import LENGTH_BYTES, build, length_of, parse


def test_build_and_parse() -> None:
    head, header = build(
        [("small", "U8", (3,)), ("b", "F64", (2, 2)), ("a", "F64", ()), ("none", "F32", (0, 5))],
        {"format": "pt"},
    )
    assert len(head) % 8 == 0 and header.bytes == len(head)
    assert list(header.entries) == ["a", "b", "none", "small"]
    assert [(e.begin, e.end) for e in header.entries.values()] == [
        (0, 8),
        (8, 40),
        (40, 40),
        (40, 43),
    ]
    size = len(head) + 43
    length = length_of(head[:LENGTH_BYTES], size)
    assert length == len(head) - LENGTH_BYTES
    assert parse(head[LENGTH_BYTES:], size) == header
    assert header.metadata == {"format": "pt"}


def fields(**changes: object) -> bytes:
    entry: dict[str, object] = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    return json.dumps({"x": {**entry, **changes}}).encode()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"x": 5}',
        b'{"__metadata__": ["pt"]}',
        b"[" * 100_000,
        fields(shape=[3]),
        fields(shape=[-2]),
        fields(shape="ab"),
        fields(data_offsets=[0]),
        fields(data_offsets=[8, 0]),
        fields(data_offsets=[-8, 0]),
        fields(data_offsets=[4, 12]),
        fields(shape=[2**61, 8]),
    ],
)
def test_malformed_headers(text: bytes) -> None:
    with pytest.raises(ValueError, match="not a safetensors file"):
        parse(text, LENGTH_BYTES + len(text) + 8)


def test_unknown_types() -> None:
    text = fields(dtype="F4")
    with pytest.raises(warpseal.UnsupportedError, match="'x' has the type F4"):
        parse(text, LENGTH_BYTES + len(text) + 8)


def test_lengths() -> None:
    for start, size in ((b"\x10", 100), ((93).to_bytes(8, "little"), 100), (b"\xff" * 8, 100)):
        with pytest.raises(ValueError, match="not a safetensors file"):
            length_of(start, size)
    assert length_of((92).to_bytes(8, "little"), 100) == 92
