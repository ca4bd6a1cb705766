"""Rows of the papers' tables: quotients, distinct claims, and which claims are beaten."""

from __future__ import annotations

import dataclasses
from typing import Iterable

from .markup import figure_text
from .results import Figure

TIMES = ("s", "ms", "µs", "ns")
RATES = ("Gbit/s", "GB/s")
QUOTIENTS = ("times",)
BELOW = ("<", "below")  # the paper's figure is no speed to reach


def published_text(figure: Figure) -> str:
    """Returns the published figure with the digits of the paper, or nothing."""
    printed = figure.get("published_text")
    value = figure.get("published")
    if printed is None and value is not None:
        printed = f"{value:g}" if isinstance(value, int) or value % 1 else f"{value:.0f}"
    bound = figure.get("published_bound", "")
    return "" if printed is None else f"{bound} {printed}".strip()


def higher_is_better(figure: Figure) -> bool | None:
    """Returns None for a figure that is neither better nor worse, such as a number of registers."""
    better = figure.get("better")
    if better:
        return better == "higher"
    return False if figure.unit in TIMES else True if figure.unit in RATES + QUOTIENTS else None


def over(figure: Figure, base: float | None) -> float | None:
    """Returns how many times the default is as good as `base`; None without such a ratio."""
    ours, higher = figure.median, higher_is_better(figure)
    if higher is None or figure.get("published_bound") in BELOW:
        return None
    if ours is None or base is None or ours <= 0 or base <= 0:
        return None
    return ours / base if higher else base / ours


def over_published(figure: Figure) -> float | None:
    return over(figure, figure.get("published"))


def over_method(figure: Figure) -> float | None:
    """Returns the default over the method. Quotients of a machine have no such ratio."""
    quotient = figure.unit in QUOTIENTS or figure.unit.startswith("%")
    return None if quotient else over(figure, figure.get("method"))


@dataclasses.dataclass
class Claim:
    """One figure of ours, and the published figure that is hardest for it to beat."""

    figure: Figure
    published: float  # our default over the published figure
    method: float | None  # our default over the paper's method here

    @property
    def beaten(self) -> bool:
        return self.published > 1 and (self.method is None or self.method > 1)

    @property
    def name(self) -> str:
        """Returns the name that the program gives to the figure, or its place in the paper."""
        named = self.figure.get("figure", "").removeprefix(f"{self.figure.get('paper')} ")
        return named or f"{self.figure.get('table')}: {self.figure.name}"

    def text(self) -> str:
        figure = self.figure
        unit = "times" if figure.unit in QUOTIENTS else figure.unit
        published = f"{published_text(figure)} {unit}"
        return f"{self.name} ({published} published, {figure_text(figure.median)} here)"


def same_claim(one: Figure, other: Figure) -> bool:
    """Returns True if both rows have the same figure of ours, also in another unit."""
    if one.get("figure") or other.get("figure"):
        return one.get("figure") == other.get("figure")
    if one.get("default_what") != other.get("default_what"):
        return False
    same_table = one.get("table") == other.get("table")
    if one.unit == other.unit:
        return one.median == other.median
    return same_table and one.name == other.name


def claims(rows: Iterable[Figure]) -> list[Claim]:
    """Returns the distinct claims of a paper on a machine, those not beaten first."""
    groups: list[list[Figure]] = []
    for row in rows:
        if over_published(row) is None:
            continue
        joined = [group for group in groups if any(same_claim(row, other) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(other for group in joined for other in group), row])
    found = []
    for group in groups:
        hardest = min(group, key=lambda row: over_published(row) or 0)
        found.append(Claim(hardest, over_published(hardest) or 0, over_method(hardest)))
    return sorted(found, key=lambda claim: claim.beaten)
