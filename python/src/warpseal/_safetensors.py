"""The header of safetensors files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from warpseal.exceptions import UnsupportedError

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000  # of the format

# Bytes of an element. Types of less than a byte are not in the table.
ITEM_BYTES = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "F8_E8M0": 1,
    "I16": 2,
    "U16": 2,
    "F16": 2,
    "BF16": 2,
    "I32": 4,
    "U32": 4,
    "F32": 4,
    "I64": 8,
    "U64": 8,
    "F64": 8,
    "C64": 8,
}


@dataclass(frozen=True)
class Entry:
    """One tensor: its bytes lie at [begin, end) after the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    entries: dict[str, Entry]
    metadata: dict[str, str]
    bytes: int  # before the data


def length_of(start: bytes, file_bytes: int) -> int:
    """Returns the length of the JSON text from the first 8 bytes of a file."""
    length = int.from_bytes(start, "little")
    if len(start) != LENGTH_BYTES or length > min(MAX_HEADER_BYTES, file_bytes - LENGTH_BYTES):
        raise ValueError("not a safetensors file: its header is longer than the file")
    return length


def _entry(name: str, fields: Any, data_bytes: int) -> Entry:
    try:
        dtype, shape = str(fields["dtype"]), tuple(int(length) for length in fields["shape"])
        begin, end = (int(offset) for offset in fields["data_offsets"])
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"not a safetensors file: the entry of {name!r} is malformed") from None
    if dtype not in ITEM_BYTES:
        raise UnsupportedError(f"{name!r} has the type {dtype}, which this version does not read")
    wanted = math.prod(shape) * ITEM_BYTES[dtype]
    if min(shape, default=0) < 0 or not 0 <= begin <= end <= data_bytes or end - begin != wanted:
        raise ValueError(f"not a safetensors file: {name!r} does not fit its shape or the file")
    return Entry(dtype, shape, begin, end)


def parse(text: bytes, file_bytes: int) -> Header:
    """Reads the JSON text of a header."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("not a safetensors file: its header is no JSON") from None
    if not isinstance(fields, dict):
        raise ValueError("not a safetensors file: its header is no JSON object")
    header_bytes = LENGTH_BYTES + len(text)
    metadata = fields.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict):
        raise ValueError("not a safetensors file: its metadata is no JSON object")
    entries = {
        name: _entry(name, value, file_bytes - header_bytes) for name, value in fields.items()
    }
    return Header(entries, {str(k): str(v) for k, v in metadata.items()}, header_bytes)


def build(
    tensors: Iterable[tuple[str, str, tuple[int, ...]]], metadata: Mapping[str, str] | None
) -> tuple[bytes, Header]:
    """Returns the bytes before the data, and the header. Takes names, types and shapes.

    The order of the data is that of the library: larger elements first, then by name.
    """
    ordered = sorted(tensors, key=lambda one: (-ITEM_BYTES[one[1]], one[0]))
    entries, at = {}, 0
    for name, dtype, shape in ordered:
        end = at + math.prod(shape) * ITEM_BYTES[dtype]
        entries[name] = Entry(dtype, shape, at, end)
        at = end
    fields: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    for name, entry in entries.items():
        fields[name] = {
            "dtype": entry.dtype,
            "shape": list(entry.shape),
            "data_offsets": [entry.begin, entry.end],
        }
    text = json.dumps(fields, separators=(",", ":")).encode()
    text = text.ljust(-(-len(text) // 8) * 8)
    head = len(text).to_bytes(LENGTH_BYTES, "little") + text
    return head, Header(entries, dict(metadata or {}), len(head))
