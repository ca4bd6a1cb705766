"""Checked access to JSON: an error names the file and the key."""

from __future__ import annotations

import json
import pathlib
from typing import Any, NoReturn

MOST = 1e30  # no figure is larger
MAY_BE_NEGATIVE = ("% of the time", "points")  # units of time saved
# Attributes by kind that no figure may lack.
REQUIRED: dict[str, tuple[str, ...]] = {
    "throughput": ("device", "place", "threads", "bytes", "message_bytes"),
    "sizes": ("device", "place", "threads", "bytes"),
    "auto": ("place", "bytes", "picked"),
    "rates": ("device", "place", "threads", "batch"),
    "submission": ("device", "threads", "batch"),
    "exchanges": ("set",),
    "round_trips": ("round_trips",),
    "papers": ("paper", "table"),
    "files": ("bytes",),
    "file_paths": ("device", "place", "threads", "bytes"),
    "file_copies": ("place", "bytes"),
    "openssl_speed": ("bytes",),
    "openssl_keys": ("bytes", "key"),
}
TEXTS = frozenset(
    "device place picked set key paper table title published_on published_bound method_what "
    "default_what differs not_run what taught checked_against pays figure better published_text "
    "scaled per_unit published_units_source".split()
)
NUMBERS = frozenset(
    "threads bytes message_bytes data_unit_bytes batch gpus clients published method "
    "gigabytes_per_second times_cp peak_memory_bytes registers local_bytes shared_bytes "
    "threads_per_block p50_seconds p99_seconds p50_milliseconds p99_milliseconds mean_batch "
    "core_microseconds handshakes_per_second key_exchange_microseconds server_cpu_ratio failures "
    "round_trips mismatches secrets_distinct default_per_unit_ratio scaled_by count "
    "method_over_one_core default_over_one_core".split()
)


class BadResult(Exception):
    """A result that cannot be used. The text names the file and the key."""


def fail(source: str, where: str, problem: str) -> NoReturn:
    raise BadResult(f"{source}: {where}: {problem}" if where else f"{source}: {problem}")


class Checked:
    """A JSON object whose values are checked as they are read."""

    def __init__(self, source: str, where: str, value: Any):
        if not isinstance(value, dict):
            fail(source, where, f"an object is expected, not {shown(value)}")
        self.source, self.where, self.value = source, where, value

    def key(self, name: str) -> str:
        return ".".join(filter(None, (self.where, name)))

    def fail(self, name: str, problem: str) -> NoReturn:
        fail(self.source, self.key(name), problem)

    def number(self, name: str) -> float:
        value = self.optional_number(name)
        if value is None:
            self.fail(name, "a number is missing")
        return value

    def optional_number(self, name: str) -> float | None:
        value = self.value.get(name)
        if value is None:
            return None
        if not is_number(value):
            self.fail(name, f"a number is expected, not {shown(value)}")
        return value

    def amount(self, name: str) -> float | None:
        """Returns a number, or None. It is not negative, unless it is time saved."""
        value = self.optional_number(name)
        if value is not None and value < 0 and self.value.get("unit") not in MAY_BE_NEGATIVE:
            self.fail(name, f"{shown(value)} is negative")
        return value

    def text(self, name: str) -> str:
        value = self.optional_text(name)
        if not value.strip():
            self.fail(name, "a text is missing")
        return value

    def optional_text(self, name: str) -> str:
        value = self.value.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.fail(name, f"a text is expected, not {shown(value)}")
        return value

    def range(self, name: str) -> tuple[float, float] | None:
        value = self.value.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 2 or not all(map(is_number, value)):
            self.fail(name, f"two numbers are expected, not {shown(value)}")
        if not 0 <= value[0] <= value[1]:
            self.fail(name, f"{shown(value)} is not a range from lowest to highest")
        return value[0], value[1]

    def numbers(self, name: str) -> list[float]:
        value = self.value.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(map(is_number, value)):
            self.fail(name, f"a list of numbers is expected, not {shown(value)}")
        return value

    def rates(self, name: str) -> dict[str, float | str]:
        """Returns rates by name. One that is missing has a text in its place."""
        value = self.value.get(name, {})
        if not isinstance(value, dict):
            self.fail(name, f"an object is expected, not {shown(value)}")
        for rate in value.values():
            if not isinstance(rate, str) and not (is_number(rate) and rate >= 0):
                self.fail(name, f"a rate or a text is expected, not {shown(rate)}")
        return value

    def objects(self, name: str) -> list[Checked]:
        value = self.value.get(name)
        if not isinstance(value, list):
            self.fail(name, f"a list is expected, not {shown(value)}")
        return [
            Checked(self.source, f"{self.key(name)}[{i}]", item) for i, item in enumerate(value)
        ]

    def object(self, name: str) -> Checked:
        if name not in self.value:
            self.fail(name, "it is missing")
        return Checked(self.source, self.key(name), self.value[name])


def is_number(value: Any) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= MOST  # false for NaN too


def check_attributes(kind: str, row: Checked) -> None:
    """Checks the attributes of a figure that a page or a table uses."""
    for key in row.value:
        if key in NUMBERS:
            row.amount(key)
        elif key in TEXTS:
            row.optional_text(key)
    for key in REQUIRED.get(kind, ()):
        if row.value.get(key) is None:
            row.fail(key, "it is missing")
    if kind in ("throughput", "sizes") and not row.value["bytes"] > 0:
        row.fail("bytes", "it must be more than 0")


def shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def load(path: pathlib.Path) -> Any:
    """Returns the JSON of a file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        fail(str(path), "", f"cannot be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        fail(str(path), "", f"is not JSON: {error}")
