"""Bounds of figures, and where a GPU pays: pure functions of rates and seconds."""

from __future__ import annotations

import statistics
from typing import Any

Row = dict[str, Any]
LINK = "plain copies over the link, both ways at once, in the same run"


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def add_figures(row: Row, seconds: list[float]) -> None:
    """Adds the rates of a row and their median. `seconds` has one value for each repetition."""
    rates = [row["bytes"] / each / 1e9 for each in seconds]
    row["seconds"] = rounded(statistics.median(seconds))
    row["gigabytes_per_second"] = rounded(statistics.median(rates))
    row["repetitions"] = [rounded(rate) for rate in rates]


def add_bound(row: Row, copies: list[Row], link: float | None) -> None:
    """Adds the least bound: the best copy by at most as many processes, and the link of a GPU.

    `copies` are the plain copies in the row's store. cp is one process.
    """
    able = [each for each in copies if each.get("threads", 1) <= row["threads"]]
    bounds = []
    if able:
        best = max(able, key=lambda each: each["gigabytes_per_second"])
        bounds.append((best["gigabytes_per_second"], f"plain {best['command']}, synced"))
    if row["device"] != "cpu" and link:
        bounds.append((link, LINK))
    if bounds:
        row["bound_gigabytes_per_second"], row["bound"] = min(bounds)


def sustained(row: Row, startup: float) -> float | None:
    """Returns GB/s without the seconds that the program takes for a tiny file."""
    seconds = row["seconds"] - startup
    return row["bytes"] / seconds / 1e9 if seconds > 0 else None


def crossing_bytes(gpu: Row, cores: Row) -> int | None:
    """Returns the size from which the GPU is faster, or None if it never is.

    Both take their startup and then time in proportion to the size.
    """
    gpu_rate, cores_rate = (
        row.get("sustained_gigabytes_per_second") or 0 for row in (gpu, cores)
    )
    if gpu_rate <= cores_rate or cores_rate == 0:
        return None
    saved_per_byte = (1 / cores_rate - 1 / gpu_rate) / 1e9
    return max(0, round((gpu["startup_seconds"] - cores["startup_seconds"]) / saved_per_byte))


def compared(gpu: Row, cores: Row) -> str:
    """Returns yes, no, or that the ranges of the repetitions overlap."""
    if min(gpu["repetitions"]) > max(cores["repetitions"]):
        return "yes"
    if max(gpu["repetitions"]) < min(cores["repetitions"]):
        return "no"
    return "within the spread"


def add_outcome(gpu: Row, cores: list[Row]) -> None:
    """Adds to a GPU's row whether it pays beside the rows of cores with the same work."""
    cores = [row for row in cores if row.get("repetitions")]
    if not cores or not gpu.get("repetitions"):
        return
    best = max(cores, key=lambda row: row["gigabytes_per_second"])
    gpu["pays"] = compared(gpu, best)
    gpu["best_threads"] = best["threads"]
    gpu["best_gigabytes_per_second"] = best["gigabytes_per_second"]
    gpu["pays_over_threads"] = [r["threads"] for r in cores if compared(gpu, r) == "yes"]
    gpu["pays_from_bytes"] = crossing_bytes(gpu, best)


def add_outcomes(rows: list[Row]) -> None:
    for gpu in rows:
        if gpu["device"] != "cpu":
            same = ("cipher", "operation", "place", "bytes")
            add_outcome(
                gpu,
                [
                    row
                    for row in rows
                    if row["device"] == "cpu" and all(row[key] == gpu[key] for key in same)
                ],
            )
