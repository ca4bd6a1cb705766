"""Files of FLOE (C2SP FLOE.md): segments under AES-256-GCM."""

from __future__ import annotations

import hmac
import os
import struct
from typing import TYPE_CHECKING

from warpseal import _core
from warpseal._file_call import FileResult
from warpseal._transfer import Blocks, Transfer
from warpseal.exceptions import (
    InvalidTag,
    LimitExceededError,
    TruncatedError,
    UnsupportedError,
    WrongKeyError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpseal._file_call import FileCall, Progress

SEGMENT = 1 << 20  # of new files
LEAST_SEGMENT, MOST_SEGMENT = 33, 16 << 20
IV, HEADER_TAG, BOUND, HEADER = 32, 32, 42, 74
LENGTH, NONCE, TAG = 4, 12, 16
OVERHEAD = LENGTH + NONCE + TAG
INNER = 0xFFFFFFFF  # the length field of all segments but the last
BATCH_BYTES = 16 << 20
SEGMENTS_OF_KEY, MOST_SEGMENTS = 1 << 20, 1 << 40


class Keys:
    """Keys of one file: HKDF-Expand with SHA-384 over its header and the data it is bound to."""

    _cipher: _core.AESGCM | None

    def __init__(self, key: bytes, bound: bytes, aad: bytes) -> None:
        self._bound, self._aad = bound, aad
        self._message_key = self._derive(key, b"MESSAGE_KEY:", 48)
        self.header_tag = self._derive(key, b"HEADER_TAG:", HEADER_TAG)
        self._number, self._cipher = -1, None

    def _derive(self, key: bytes, purpose: bytes, size: int) -> bytes:
        return hmac.digest(key, self._bound + purpose + self._aad + b"\x01", "sha384")[:size]

    def cipher(self, position: int, engine: _core.Engine | None) -> _core.AESGCM:
        """Returns the cipher of a segment. 2^20 segments have one."""
        number = position // SEGMENTS_OF_KEY
        if number * SEGMENTS_OF_KEY >= MOST_SEGMENTS:
            raise LimitExceededError("a FLOE file has at most 2^40 segments")
        if self._cipher is None or number != self._number:
            purpose = b"DEK:" + struct.pack(">Q", number * SEGMENTS_OF_KEY)
            key = self._derive(self._message_key, purpose, 32)
            self._number, self._cipher = number, _core.AESGCM(key, engine=engine)
        return self._cipher


def _batch_segments(segment: int) -> int:
    """A power of two, so that a batch never needs two keys."""
    return 1 << max(1, BATCH_BYTES // segment).bit_length() - 1


def _aad(position: int, count: int, ends: bool) -> list[bytes]:
    last = position + count - 1
    return [struct.pack(">QB", p, ends and p == last) for p in range(position, position + count)]


class Places:
    """Offsets of the parts of segments whose texts have these lengths."""

    def __init__(self, lengths: Sequence[int], segment: int) -> None:
        begins = range(0, len(lengths) * segment, segment)
        self.nonces = [begin + LENGTH for begin in begins]
        self.data = [begin + LENGTH + NONCE for begin in begins]
        self.tags = [at + length for at, length in zip(self.data, lengths, strict=True)]


def _seal(transfer: Transfer, keys: Keys, source: Blocks, engine: _core.Engine | None) -> int:
    each, position, done = SEGMENT - OVERHEAD, 0, 0
    while True:
        text = source.read(_batch_segments(SEGMENT) * each)
        ends = not source.peek(1)
        lengths = [each] * (len(text) // each)
        if len(text) % each or not lengths:  # a full last segment is followed by none
            lengths.append(len(text) % each)
        buf = bytearray(len(lengths) * SEGMENT)
        for i, length in enumerate(lengths):
            final = ends and i + 1 == len(lengths)
            begin = i * SEGMENT
            buf[begin : begin + LENGTH] = struct.pack(">I", length + OVERHEAD if final else INNER)
            begin += LENGTH + NONCE
            buf[begin : begin + length] = text[i * each : i * each + length]
        at = Places(lengths, SEGMENT)
        keys.cipher(position, engine).seal_records(
            buf,
            nonces=at.nonces,
            data=at.data,
            lengths=lengths,
            tags=at.tags,
            associated_data=_aad(position, len(lengths), ends),
        )
        size = (len(lengths) - 1) * SEGMENT + lengths[-1] + OVERHEAD
        transfer.write(memoryview(buf)[:size])
        done += len(text)
        if ends:
            return done
        position += len(lengths)


def _texts(block: bytearray, segment: int, ends: bool) -> tuple[list[int], bool]:
    """Returns the lengths of the texts, and True if the last segment is among them."""
    lengths = []
    for begin in range(0, len(block), segment):
        left = len(block) - begin
        field = int.from_bytes(block[begin : begin + LENGTH], "big") if left >= LENGTH else INNER
        size = segment if field == INNER else field
        if size < OVERHEAD or size > segment:
            raise InvalidTag("a segment has an impossible length")
        if left < size:
            raise TruncatedError("a segment is cut off")
        lengths.append(size - OVERHEAD)
        if field != INNER:
            if begin + size != len(block) or not ends:
                raise InvalidTag("bytes follow the last segment, or a length was changed")
            return lengths, True
    return lengths, False


def _open(
    transfer: Transfer, keys: Keys, source: Blocks, segment: int, engine: _core.Engine | None
) -> int:
    position, done, last = 0, 0, False
    while not last:
        block = bytearray(source.read(_batch_segments(segment) * segment))
        if not block:
            raise TruncatedError("the file ends before a last segment")
        lengths, last = _texts(block, segment, not source.peek(1))
        at = Places(lengths, segment)
        changed = keys.cipher(position, engine).open_records(
            block,
            nonces=at.nonces,
            data=at.data,
            lengths=lengths,
            tags=at.tags,
            associated_data=_aad(position, len(lengths), last),
        )
        if changed:
            raise InvalidTag("a segment does not verify")
        view = memoryview(block)
        for begin, length in zip(at.data, lengths, strict=True):
            transfer.write(view[begin : begin + length])
        done += sum(lengths)
        position += len(lengths)
    return done


def _read_header(source: Blocks) -> tuple[bytes, int]:
    header = source.read(HEADER)
    if len(header) < HEADER:
        raise TruncatedError(f"the file has {len(header)} bytes, and FLOE's header has {HEADER}")
    aead, kdf, segment, iv = struct.unpack(">BBII", header[:10])
    if (aead, kdf, iv) != (0, 0, IV) or not LEAST_SEGMENT <= segment <= MOST_SEGMENT:
        raise UnsupportedError("not a FLOE file that can be read")
    return header, segment


def run(
    call: FileCall,
    source: int,
    target: int,
    progress: Progress | None,
    cancellation: _core.Cancellation,
) -> FileResult:
    """call.context is the data that the file is bound to."""
    key = bytes(memoryview(call.key)) if call.key is not None else b""
    if len(key) != 32 or call.passphrase is not None or call.recipients or call.identities:
        raise ValueError("a FLOE file takes key=, of 32 bytes, and nothing else")
    aad = bytes(memoryview(call.context)) if call.context is not None else b""
    transfer = Transfer(source, target, progress, cancellation)
    blocks = Blocks(transfer.blocks())
    if call.sealing:
        bound = struct.pack(">BBII", 0, 0, SEGMENT, IV) + os.urandom(IV)
        keys = Keys(key, bound, aad)
        transfer.write(bound + keys.header_tag)
        text_bytes = _seal(transfer, keys, blocks, call.engine)
        file_bytes = transfer.written_bytes
    else:
        header, segment = _read_header(blocks)
        keys = Keys(key, header[:BOUND], aad)
        if not hmac.compare_digest(keys.header_tag, header[BOUND:]):
            raise WrongKeyError("wrong key or context, or the header was changed")
        text_bytes = _open(transfer, keys, blocks, segment, call.engine)
        file_bytes = transfer.read_bytes
    transfer.finish(text_bytes)
    return FileResult(text_bytes, file_bytes, "cpu", False)
