"""Key slots of sealed files: what opens a file, and changes of it in place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpseal import _core
from warpseal._file_call import IdentityText, Path, SlotInfo, Source, secret_pairs
from warpseal.files import info

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["SlotChange", "change_slots", "slots"]


@dataclass(frozen=True)
class SlotChange:
    """Result of a change: numbers of slots that were removed, and that the file has now."""

    removed: int
    slots: int


def slots(source: Source) -> tuple[SlotInfo, ...]:
    """Returns the key slots of a file, without a key. Nothing in them is authenticated."""
    return info(source).slots


def change_slots(
    file: Path,
    *,
    key: Buffer | None = None,
    passphrase: str | bytes | None = None,
    identities: Sequence[IdentityText] = (),
    new_key: Buffer | None = None,
    new_passphrase: str | bytes | None = None,
    new_recipients: Sequence[str] = (),
    remove: Iterable[int] = (),
    replace: bool = False,
    engine: _core.Engine | None = None,
    keys: _core.SlotKeys | None = None,
) -> SlotChange:
    """Changes the key slots of a file in place. The contents are not encrypted again.

    key, passphrase, identities: they open the file now. new_key, new_passphrase, new_recipients:
    one new slot each. remove: indices into slots(). replace: every slot that the given secrets
    open is removed, and the new ones take its place.
    keys: made by SlotKeys(), so that files of one passphrase need one key derivation.
    A crash leaves a file that opens with the old or the new keys. A removed key is not revoked.
    """
    secrets = secret_pairs(key, passphrase, (), identities)
    if not secrets:
        raise ValueError("give key=, passphrase= or identities=, which open the file now")
    added = secret_pairs(new_key, new_passphrase, new_recipients)
    descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        changed = _core.change_slots(
            descriptor, secrets, added, list(remove), replace, keys or _core.SlotKeys(), engine
        )
    finally:
        os.close(descriptor)
    return SlotChange(*changed)
