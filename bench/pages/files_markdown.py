"""The table of bench/file_through_gpu in docs/benchmarks.md."""

from __future__ import annotations

from typing import Callable

from .results import Figure

GIB = 2**30
Text = Callable[[float | None], str]


def pays_text(figure: Figure | None) -> str:
    """Returns whether a GPU is faster than the most cores, and which it is faster than if not."""
    if figure is None or not figure.get("pays"):
        return "–"
    text, over = str(figure.get("pays")), figure.get("pays_over_threads", [])
    if text == "yes":
        return text
    if over:
        text += f"; yes beside {max(over)} core{'s' * (max(over) > 1)}"
    if figure.get("pays_from_bytes") is not None:
        text += f"; from {figure.get('pays_from_bytes') / GIB:.1f} GiB on"
    return text


def bound_text(figure: Figure | None, number: Text) -> str:
    if figure is None or figure.bound is None:
        return "–"
    return f"{number(figure.bound)}, {'link' if 'link' in figure.bound_by else 'copy'}"


def size_table(figures: list[Figure], number: Text) -> list[str]:
    """Returns the table of one size: a row for each store, cipher and operation."""
    counts = sorted({f.get("threads") for f in figures if f.get("device") == "cpu"})
    cores = "".join(f" {n} core{'s' * (n > 1)} |" for n in counts)
    lines = [f"| store | |{cores} GPU | its bound | a GPU pays |"]
    lines.append("|---|---|" + "---:|" * (len(counts) + 2) + "---|")
    found: dict[tuple[str, str], dict[int | str, Figure]] = {}
    for f in figures:
        where = f.get("threads") if f.get("device") == "cpu" else "gpu"
        found.setdefault((f.get("place"), f.name), {})[where] = f
    for (place, name), row in found.items():
        cells = [row[n].median if n in row else None for n in [*counts, "gpu"]]
        gpu = row.get("gpu")
        lines.append(
            f"| {place} | {name} | {' | '.join(map(number, cells))} | {bound_text(gpu, number)} "
            f"| {pays_text(gpu)} |"
        )
    return lines


def markdown(figures: list[Figure], number: Text, sources: str) -> list[str]:
    """Returns the tables of one file of results, one for each size."""
    lines = []
    for size in dict.fromkeys(f.get("bytes") for f in figures):
        here = [f for f in figures if f.get("bytes") == size]
        lines += [
            f"**File to file through a GPU**, GB/s, files of {size / GIB:g} GiB, "
            f"{here[0].run.text('machine')}; {sources}",
            "",
            *size_table(here, number),
            "",
        ]
    return lines
