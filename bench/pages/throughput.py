"""Sections with bars: throughput of ciphers by place, and how it depends on the size."""

from __future__ import annotations

from typing import Any, Callable

from . import charts
from .markup import (
    Column,
    axis,
    bar,
    escaped,
    figure_text,
    noise_mark,
    range_text,
    ratio_text,
    size_text,
    small,
    table,
)
from .results import Figure
from .sources import Sources

MODES = ("ecb", "ctr", "cbc", "cfb", "ofb", "xts", "gcm", "ccm", "cmac")


def on_gpu(figure: Figure) -> bool:
    return str(figure.get("device", "")).startswith("cuda")


def cipher_and_rest(figure: Figure) -> tuple[str, str]:
    """Splits "aes-128-ctr encrypt" into "aes-128" and "ctr encrypt"."""
    what, _, operation = figure.name.partition(" ")
    cipher, _, mode = what.rpartition("-")
    return cipher, f"{mode} {operation}"


def mode_order(figure: Figure) -> tuple[int, str, float, float]:
    """Sorts rows of a cipher by mode and operation, and long messages first."""
    mode, _, operation = cipher_and_rest(figure)[1].partition(" ")
    order = MODES.index(mode) if mode in MODES else len(MODES)
    forward = {"decrypt": "2", "open": "2", "verify": "2"}.get(operation, "1")
    return order, forward, -figure.get("message_bytes", 0), -figure.get("bytes", 0)


def where(figure: Figure) -> str:
    device, place = str(figure.get("device", "")), figure.get("place")
    if on_gpu(figure):
        gpus = figure.get("gpus", 1)
        if place == "device":
            return "In GPU memory" if gpus == 1 else f"In the memory of {gpus} GPUs"
        return "From host memory to host memory through the GPU"
    threads = figure.get("threads", 1)
    cores = f"{threads:g} core{'s' if threads != 1 else ''} ({device})"
    if place == "file":
        return f"From file to file on {cores}"
    return f"On {cores}" if figure.get("buffer_per_thread") else f"One call on host memory, {cores}"


def what(figure: Figure) -> str:
    size, message = figure.get("bytes", 0), figure.get("message_bytes", 0)
    text = escaped(cipher_and_rest(figure)[1])
    if message < size and figure.get("place") != "file":
        text += small(f"{size_text(message)} messages")
    if on_gpu(figure) and size != 2**30:
        text += small(size_text(size))
    if figure.get("key_per_message"):
        text += small("a key each")
    unit = figure.get("data_unit_bytes")
    return text + (small(f"data units of {size_text(unit)}") if unit and unit != 4096 else "")


def mark_of(figure: Figure) -> float | None:
    """Returns the marker across a bar: a GPU's bound, or the yardstick's rate on the same cores."""
    return figure.bound if on_gpu(figure) else figure.yardstick


def bound_text(figure: Figure) -> str:
    if not figure.bound or not figure.median:
        return ""
    title = f"at most {figure_text(figure.bound)}: {figure.bound_by}"
    return f'<span title="{escaped(title)}">{100 * figure.median / figure.bound:.0f} %</span>'


def label_of(figure: Figure) -> str:
    text = f"{figure_text(figure.median)} GB/s"
    if figure.range:
        text += f" ({range_text(figure)})"
    if figure.bound and on_gpu(figure):
        text += f", at most {figure_text(figure.bound)}: {figure.bound_by}"
    if figure.yardstick:
        text += f", {figure.yardstick_name} {figure_text(figure.yardstick)} GB/s"
    return text


def card(cipher: str, figures: list[Figure], end: float, sources: Sources) -> str:
    bounds = any(f.bound for f in figures)
    openssl = any(f.ratio is not None for f in figures)
    other = "best other" if any(f.get("yardsticks") for f in figures) else "OpenSSL"
    columns = [Column("mode"), Column(axis(end, "GB/s"), "chart"), Column("GB/s", "number")]
    columns += [Column("of bound", "number")] if bounds else []
    columns += [Column(f"× {other}", "number")] if openssl else []
    rows = []
    for figure in figures:
        row = [
            what(figure) + sources.mark(figure, figures),
            bar(figure, mark_of(figure), end, label_of(figure)),
            figure_text(figure.median) + noise_mark(figure),
        ]
        row += [bound_text(figure)] if bounds else []
        row += [ratio_text(figure)] if openssl else []
        rows.append(row)
    return table(columns, rows, escaped(cipher), "card")


def key(figures: list[Figure]) -> str:
    """Returns the legend of bars and markers."""
    several = any(f.get("yardsticks") for f in figures)
    other = "the best other library" if several else "OpenSSL"
    text = '<p class="key"><i class="ours"></i> median <i class="range"></i> range of repetitions'
    if on_gpu(figures[0]) and any(f.bound for f in figures):
        text += (
            ' <i class="mark"></i> bound: what the busiest unit of this GPU can do at its highest '
            "clock, or copies over the link (docs/design/tuning.md)"
        )
    elif not on_gpu(figures[0]) and any(f.yardstick for f in figures):
        text += f' <i class="mark"></i> {other} on as many cores'
    if on_gpu(figures[0]) and any(f.yardstick for f in figures):
        text += f"; × {other}: beside one core of that machine"
    if any(f.yardstick_name.endswith("-ecb") for f in figures):
        text += f"; with *, ECB of the cipher by {other}, as the mode is lacking"
    return text + "</p>\n"


def grouped(figures: list[Figure], name: Callable[[Figure], Any]) -> dict[Any, list[Figure]]:
    groups: dict[Any, list[Figure]] = {}
    for figure in figures:
        groups.setdefault(name(figure), []).append(figure)
    return groups


def place_section(title: str, figures: list[Figure], sources: Sources, folded: bool) -> str:
    end = max(max(f.median or 0, mark_of(f) or 0) for f in figures) or 1
    text = f"<h2>{escaped(title)}</h2>\n" + sources.note(figures) + key(figures)
    text += '<div class="cards">\n'
    for cipher, rows in grouped(figures, lambda f: cipher_and_rest(f)[0]).items():
        text += card(cipher, sorted(rows, key=mode_order), end, sources)
    text += "</div>\n"
    if folded:
        text = f"<details><summary>{escaped(title)}</summary>\n{text}</details>"
    return f"<section>{text}</section>\n"


def rank(figures: list[Figure]) -> tuple[float, float]:
    """Sorts a GPU before cores, and more of each before fewer."""
    first = figures[0]
    if on_gpu(first):
        return (0 if first.get("place") == "device" else 1, first.get("gpus", 1))
    return (2, -first.get("threads", 1))


def throughput_sections(figures: list[Figure], sources: Sources) -> str:
    """Returns a section for each place of each machine; less usual targets are folded."""
    machines = {f.run.text("machine") for f in figures}

    def title(figure: Figure) -> str:
        machine = f" – {figure.run.text('machine')}" if len(machines) > 1 else ""
        return where(figure) + machine

    places = sorted(grouped(figures, title).items(), key=lambda place: rank(place[1]))
    text, shown = "", set()
    for name, rows in places:
        slot = (rows[0].run.text("machine"), rows[0].get("threads", 1))
        folded = not on_gpu(rows[0]) and slot in shown
        shown |= set() if on_gpu(rows[0]) else {slot}
        text += place_section(name, rows, sources, folded)
    return text


# ---- by size


def line_name(figure: Figure) -> str:
    if on_gpu(figure):
        return "GPU, in its memory" if figure.get("place") == "device" else "GPU, from host memory"
    return f"{figure.get('device')} on {figure.get('threads', 1):g} cores"


def sizes_section(figures: list[Figure], sources: Sources) -> str:
    text = "<section><h2>By size</h2>\n" + sources.note(figures)
    text += (
        "<p>One call on so many bytes. In GPU memory by the GPU's clock, which leaves out how long "
        "a call takes to reach the GPU; else by wall-clock time.</p>\n"
        '<div class="cards">\n'
    )
    for name, rows in grouped(figures, lambda f: f.name).items():
        lines = grouped(sorted(rows, key=lambda f: f.get("bytes")), line_name)
        points = {
            line: [(f.get("bytes"), f.median, f.range) for f in on_line if f.median]
            for line, on_line in lines.items()
        }
        text += f"<figure><figcaption>{escaped(name)}</figcaption>\n"
        text += charts.size_chart(points, f"{name}: GB/s against bytes of a call")
        text += sizes_table(lines) + "</figure>\n"
    return text + "</div></section>\n"


def sizes_table(lines: dict[str, list[Figure]]) -> str:
    sizes = sorted({f.get("bytes") for rows in lines.values() for f in rows})
    columns = [Column("bytes"), *(Column(escaped(name), "number") for name in lines)]
    rows = []
    for size in sizes:
        cells = [
            next((figure_text(f.median) + noise_mark(f) for f in row if f.get("bytes") == size), "")
            for row in lines.values()
        ]
        rows.append([size_text(size), *cells])
    return f"<details><summary>The same as a table</summary>{table(columns, rows)}</details>\n"
