"""Files of age (https://age-encryption.org/v1): header, armor and payload."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from warpseal import _age_keys, _core
from warpseal._age_keys import Wrapped, hkdf
from warpseal._file_call import FileResult, encoded
from warpseal._transfer import Blocks, Transfer
from warpseal.exceptions import InvalidTag, LimitExceededError, TruncatedError, WrongKeyError

if TYPE_CHECKING:
    from warpseal._file_call import FileCall, Progress

VERSION = b"age-encryption.org/v1"
CHUNK, TAG, NONCE = 65536, 16, 16
BATCH = 64  # chunks: 4 MiB keep all cores busy
LINE = 64
MAX_HEADER, MAX_STANZAS, MAX_BODY = 1 << 20, 1024, 64 << 10
ARMOR_BEGIN, ARMOR_END = b"-----BEGIN AGE ENCRYPTED FILE-----", b"-----END AGE ENCRYPTED FILE-----"
WHITE = b" \t\r\n"


class Stanza(NamedTuple):
    """A line of arguments, of which the first is its type, and a body."""

    arguments: list[str]
    body: bytes


class Header(NamedTuple):
    stanzas: list[Stanza]
    authenticated: bytes
    mac: bytes


def _malformed(what: str) -> InvalidTag:
    return InvalidTag(f"the header is malformed: {what}")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).rstrip(b"=").decode()


def _from_base64(text: str) -> bytes:
    """Canonical base64 without padding, else InvalidTag."""
    if len(text) % 4 == 1 or not re.fullmatch(r"[A-Za-z0-9+/]*", text):
        raise _malformed("it has bad base64")
    data = base64.b64decode(text + "=" * (-len(text) % 4))
    if _base64(data) != text:
        raise _malformed("its base64 is not canonical")
    return data


def _armored(source: Blocks) -> Iterator[bytes]:
    """The file within an armor."""
    while source.peek(1) and source.peek(1) in WHITE:
        source.read(1)
    if (source.line(LINE + 1) or b"").removesuffix(b"\r") != ARMOR_BEGIN:
        raise _malformed("the armor has no first line")
    ended = False
    while True:
        line = source.line(LINE + 1)
        if line is None:
            if source.peek(len(ARMOR_END) + 1) != ARMOR_END:
                raise TruncatedError("the armor has no last line")
            source.read(len(ARMOR_END))
            break
        line = line.removesuffix(b"\r")
        if line == ARMOR_END:
            break
        if ended or not line or len(line) > LINE:
            raise _malformed("a line of the armor has another length")
        ended = len(line) < LINE or line.endswith(b"=")
        yield _armor_line(line)
    while rest := source.read(1 << 16):
        if rest.strip(WHITE):
            raise _malformed("text follows the armor")


def _armor_line(line: bytes) -> bytes:
    try:
        data = base64.b64decode(line, validate=True)
    except binascii.Error:
        raise _malformed("the armor has bad base64") from None
    if base64.b64encode(data) != line:
        raise _malformed("base64 of the armor is not canonical")
    return data


def _binary(source: Blocks) -> Blocks:
    """The file, without its armor if it has one."""
    if source.peek(len(VERSION)) == VERSION:
        return source
    if source.peek(2048).lstrip(WHITE).startswith(ARMOR_BEGIN):
        return Blocks(_armored(source))
    return source


def _read_body(source: Blocks, lines: list[bytes]) -> bytes:
    body = b""
    while True:
        line = source.line(LINE)
        if line is None:
            raise _malformed("a stanza has no end")
        lines.append(line)
        body += _from_base64(line.decode("ascii", "replace"))
        if len(body) > MAX_BODY:
            raise LimitExceededError("a stanza has more than 64 KiB")
        if len(line) < LINE:
            return body


def read_header(source: Blocks) -> Header:
    first = source.line(len(VERSION))
    if first != VERSION:
        raise _malformed("it is not that of an age file of version 1")
    lines = [first]
    stanzas: list[Stanza] = []
    while True:
        line = source.line(MAX_HEADER)
        too_long = line is None and len(source.peek(MAX_HEADER)) == MAX_HEADER
        if too_long or source.taken > MAX_HEADER or len(stanzas) > MAX_STANZAS:
            raise LimitExceededError("the header has more than 1 MiB or 1024 stanzas")
        if line is None:
            raise TruncatedError("the file ends within its header")
        if line.startswith(b"--- "):
            mac = _from_base64(line[4:].decode("ascii", "replace"))
            if len(mac) != 32:
                raise _malformed("its MAC has another length")
            return Header(stanzas, b"\n".join([*lines, b"---"]), mac)
        arguments = line[3:].decode("ascii", "replace").split(" ")
        good = all(re.fullmatch(r"[!-~]+", one) for one in arguments)
        if not line.startswith(b"-> ") or not good:
            raise _malformed("a line is no stanza")
        lines.append(line)
        stanzas.append(Stanza(arguments, _read_body(source, lines)))


def _known(stanza: Stanza) -> Wrapped | None:
    """The parts of a stanza that passphrases or identities open; InvalidTag if it is malformed."""
    kind = stanza.arguments[0]
    share = {"scrypt": 16, **{name: form[3] for name, form in _age_keys.FORMS.items()}}.get(kind)
    if share is None:
        return None
    if len(stanza.arguments) != (3 if kind == "scrypt" else 2) or len(stanza.body) != 32:
        raise _malformed(f"a stanza {kind} has another form")
    first = _from_base64(stanza.arguments[1])
    if len(first) != share:
        raise _malformed(f"a stanza {kind} has another form")
    if kind == "scrypt" and not re.fullmatch(r"[1-9][0-9]?", stanza.arguments[2]):
        raise _malformed("a stanza scrypt has another form")
    return Wrapped(first, stanza.body)


def _file_key(header: Header, call: FileCall) -> bytes:
    known = [(stanza, wrapped) for stanza in header.stanzas if (wrapped := _known(stanza))]
    passphrases = [pair for pair in known if pair[0].arguments[0] == "scrypt"]
    if passphrases and len(header.stanzas) != 1:
        raise _malformed("a stanza scrypt is not the only one")
    identities = [_age_keys.parse_identity(encoded(text).strip()) for text in call.identities]
    found = None
    for stanza, wrapped in known:
        if stanza.arguments[0] == "scrypt" and call.passphrase is not None:
            passphrase, log2 = encoded(call.passphrase), int(stanza.arguments[2])
            found = _age_keys.unwrap_by_passphrase(passphrase, wrapped, log2)
        for identity in identities:
            if found is None and identity.type == stanza.arguments[0]:
                found = _age_keys.unwrap(identity, wrapped, call.engine)
    if found is None:
        raise WrongKeyError("no identity or passphrase opens the file")
    if not hmac.compare_digest(_mac(found, header.authenticated), header.mac):
        raise InvalidTag("the MAC of the header does not verify")
    return found


def _mac(file_key: bytes, authenticated: bytes) -> bytes:
    return hmac.digest(hkdf(file_key, b"", b"header"), authenticated, "sha256")


def _lines(body: bytes) -> list[bytes]:
    text = _base64(body).encode()
    return [text[at : at + LINE] for at in range(0, len(text) + 1, LINE)]


def make_header(call: FileCall, file_key: bytes) -> bytes:
    recipients = [_age_keys.parse_recipient(text.strip()) for text in call.recipients]
    if call.passphrase is not None and recipients:
        raise ValueError("an age file has recipients or a passphrase, not both")
    if len({recipient.type for recipient in recipients}) > 1:
        raise ValueError("recipients: age1… beside age1pq1… would weaken the file for all")
    stanzas = []
    for recipient in recipients:
        wrapped = _age_keys.wrap(recipient, file_key, call.engine)
        stanzas.append(Stanza([recipient.type, _base64(wrapped.share)], wrapped.body))
    if call.passphrase is not None:
        wrapped = _age_keys.wrap_by_passphrase(encoded(call.passphrase), file_key)
        log2 = str(_age_keys.SCRYPT_LOG2)
        stanzas.append(Stanza(["scrypt", _base64(wrapped.share), log2], wrapped.body))
    lines = [VERSION]
    for stanza in stanzas:
        lines += [b"-> " + " ".join(stanza.arguments).encode(), *_lines(stanza.body)]
    header = b"\n".join([*lines, b"---"])
    return header + b" " + _base64(_mac(file_key, header)).encode() + b"\n"


def _transform(
    transfer: Transfer, source: Blocks, key: bytes, opening: bool, engine: _core.Engine | None
) -> int:
    """Seals or opens the payload. Returns the bytes of plaintext."""
    size = BATCH * (CHUNK + TAG if opening else CHUNK)
    number, text_bytes = 0, 0
    block = source.read(size)
    while True:
        ends = not source.peek(1)
        if opening and not block:
            raise TruncatedError("the payload ends too early")
        # Only an empty file has an empty chunk.
        if opening and number + len(block) > TAG and len(block) % (CHUNK + TAG) == TAG:
            raise InvalidTag("the last chunk is empty")
        out = _core.age_chunks(opening, key, number, ends, block, engine)
        transfer.write(out)
        text_bytes += len(out) if opening else len(block)
        if ends:
            return text_bytes
        number += BATCH
        block = source.read(size)


def run(
    call: FileCall,
    source: int,
    target: int,
    progress: Progress | None,
    cancellation: _core.Cancellation,
) -> FileResult:
    if call.key is not None:
        raise ValueError("key: an age file takes recipients=, identities= or passphrase=")
    if call.context is not None:
        raise ValueError("context: an age file has none")
    transfer = Transfer(source, target, progress, cancellation)
    plain = Blocks(transfer.blocks())
    if call.sealing:
        file_key, nonce = os.urandom(16), os.urandom(NONCE)
        transfer.write(make_header(call, file_key) + nonce)
        key = hkdf(file_key, nonce, b"payload")
        text_bytes = _transform(transfer, plain, key, False, call.engine)
        file_bytes = transfer.written_bytes
    else:
        binary = _binary(plain)
        file_key = _file_key(read_header(binary), call)
        nonce = binary.read(NONCE)
        if len(nonce) != NONCE:
            raise TruncatedError("the file ends right after its header")
        key = hkdf(file_key, nonce, b"payload")
        text_bytes = _transform(transfer, binary, key, True, call.engine)
        file_bytes = transfer.read_bytes
    transfer.finish(text_bytes)
    return FileResult(text_bytes, file_bytes, "cpu", False)
