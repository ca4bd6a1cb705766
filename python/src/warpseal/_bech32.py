"""Bech32 (BIP 173) without a limit of length, as age writes recipients and identities."""

from __future__ import annotations

CHARACTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def _checksum(values: list[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, term in enumerate(GENERATOR):
            if top >> bit & 1:
                check ^= term
    return check


def _expanded(prefix: str) -> list[int]:
    return [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]


def _regroup(values: bytes | list[int], from_bits: int, to_bits: int) -> tuple[list[int], int, int]:
    """Returns the groups, and the bits that remain with their number."""
    groups, held, bits = [], 0, 0
    for value in values:
        held, bits = held << from_bits | value, bits + from_bits
        while bits >= to_bits:
            bits -= to_bits
            groups.append(held >> bits)
            held &= (1 << bits) - 1
    return groups, held, bits


def encode(prefix: str, data: bytes) -> str:
    """prefix: in lower case, as the text."""
    groups, held, bits = _regroup(data, 8, 5)
    if bits:
        groups.append(held << 5 - bits)
    check = _checksum(_expanded(prefix) + groups + [0] * 6) ^ 1
    groups += [check >> 5 * (5 - i) & 31 for i in range(6)]
    return prefix + "1" + "".join(CHARACTERS[group] for group in groups)


def decode(text: str) -> tuple[str, bytes, bool] | None:
    """Returns the prefix in lower case, the data, and True for upper case; or None."""
    upper = text == text.upper()
    if not upper and text != text.lower():
        return None
    lower = text.lower()
    prefix, separator, rest = lower.rpartition("1")
    if not separator or not prefix or len(rest) < 6 or not lower.isascii():
        return None
    if any(not "!" <= c <= "~" for c in prefix) or any(c not in CHARACTERS for c in rest):
        return None
    values = [CHARACTERS.index(c) for c in rest]
    if _checksum(_expanded(prefix) + values) != 1:
        return None
    data, held, bits = _regroup(values[:-6], 5, 8)
    if bits >= 5 or held:
        return None
    return prefix, bytes(data), upper
