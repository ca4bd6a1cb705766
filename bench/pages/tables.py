"""Sections with tables: `auto`, NTRU, TLS, the OpenSSL provider, files, and unknown kinds."""

from __future__ import annotations

from typing import Callable

from .markup import (
    Column,
    escaped,
    figure_text,
    noise_mark,
    range_text,
    rate_text,
    ratio_text,
    size_text,
    small,
    table,
    value_text,
)
from .results import Figure
from .sources import Sources
from .throughput import grouped, where

Cells = Callable[[Figure], list[str]]


def number(figure: Figure, key: str, factor: float = 1) -> str:
    value = figure.get(key)
    return "" if value is None else figure_text(value * factor)


def plain_section(
    title: str,
    about: str,
    columns: list[Column],
    cells: Cells,
    figures: list[Figure],
    sources: Sources,
) -> str:
    """Returns a section with one table; each row names its source if there are several."""

    def row(figure: Figure) -> list[str]:
        first, *rest = cells(figure)
        return [first + sources.mark(figure, figures), *rest]

    text = f"<section><h2>{escaped(title)}</h2>\n{sources.note(figures)}"
    text += f"<p>{escaped(about)}</p>\n" if about else ""
    return text + table(columns, map(row, figures), "", "wide") + "</section>\n"


def numbers(*headings: str) -> list[Column]:
    return [Column(heading, "number") for heading in headings]


# ---- the choice of `auto`


def auto_section(figures: list[Figure], sources: Sources) -> str:
    good = sum(bool(figure.get("good")) for figure in figures)
    return plain_section(
        "The choice of auto",
        f"{good} of {len(figures)} points reach 90 % of the best single target.",
        [
            Column("case"),
            Column("size"),
            Column("memory"),
            Column("auto chose"),
            *numbers("GB/s"),
            Column("best"),
            *numbers("GB/s", "ratio"),
        ],
        lambda f: [
            escaped(f.name),
            size_text(f.get("bytes", 0)),
            escaped(f.get("place")),
            escaped(f.get("picked")),
            figure_text(f.median),
            escaped(f.yardstick_name),
            figure_text(f.yardstick),
            ratio_text(f),
        ],
        figures,
        sources,
    )


# ---- NTRU


def rate_cell(figure: Figure | None) -> str:
    if not figure:
        return ""
    late = figure.get("p99_seconds")
    slow = small(f"p99 {figure_text(late * 1e3)} ms") if late else ""
    return value_text(figure) + noise_mark(figure) + slow


def rates_section(figures: list[Figure], sources: Sources) -> str:
    operations = list(dict.fromkeys(figure.name.partition(" ")[2] for figure in figures))

    def row_name(figure: Figure) -> tuple[str, ...]:
        place = where(figure) + sources.mark(figure, figures)
        return (figure.name.split()[0], place, f"{figure.get('batch'):g}")

    rows = []
    for names, here in grouped(figures, row_name).items():
        of = {figure.name.partition(" ")[2]: figure for figure in here}
        rows.append(
            [escaped(names[0]), names[1], names[2], *(rate_cell(of.get(o)) for o in operations)]
        )
    columns = [Column("set"), Column("where"), *numbers("batch", *(f"{o} /s" for o in operations))]
    text = f"<section><h2>NTRU</h2>\n{sources.note(figures)}"
    text += "<p>p99: 99 % of the calls of a batch took at most that long.</p>\n"
    return text + table(columns, rows, "", "wide") + "</section>\n"


def submission_section(figures: list[Figure], sources: Sources) -> str:
    return plain_section(
        "Key encapsulation on cores, beside other code",
        "The ratio is over the code named in the row, measured in turn with ours.",
        [
            Column("operation"),
            Column("target"),
            *numbers("threads", "batch", "/s"),
            Column("beside"),
            *numbers("/s", "ratio"),
        ],
        lambda f: [
            escaped(f.name),
            escaped(f.get("device")),
            f"{f.get('threads'):g}",
            f"{f.get('batch'):g}",
            value_text(f) + noise_mark(f),
            escaped(f.yardstick_name),
            rate_text(f.yardstick),
            ratio_text(f),
        ],
        figures,
        sources,
    )


def exchanges_section(figures: list[Figure], sources: Sources) -> str:
    return plain_section(
        "Key exchanges alone",
        "Core time is that of all threads of the process on the cores for one exchange.",
        [Column("exchange"), *numbers("clients", "/s", "p50 ms", "p99 ms", "core µs", "batch")],
        lambda f: [
            escaped(f.name) + small(f.get("set")),
            number(f, "clients"),
            value_text(f),
            number(f, "p50_milliseconds"),
            number(f, "p99_milliseconds"),
            number(f, "core_microseconds"),
            number(f, "mean_batch"),
        ],
        figures,
        sources,
    )


def round_trips_section(figures: list[Figure], sources: Sources) -> str:
    return plain_section(
        "Round trips of NTRU",
        "Each with fresh coins. Every secret is compared with the one sent.",
        [Column("set"), Column("device"), *numbers("round trips", "mismatches", "distinct", "s")],
        lambda f: [
            escaped(f.name),
            escaped(f.get("device", "")),
            rate_text(f.get("round_trips")),
            number(f, "mismatches"),
            rate_text(f.get("secrets_distinct")),
            figure_text(f.median),
        ],
        figures,
        sources,
    )


# ---- TLS and the OpenSSL provider


def handshakes_section(figures: list[Figure], sources: Sources) -> str:
    return plain_section(
        "TLS 1.3 handshakes",
        "Full handshakes with an ECDSA P-256 certificate. CPU time is the server's for one "
        "handshake, the median of the rounds; the ratio is over the run's first group.",
        [
            Column("group"),
            *numbers(
                "handshakes/s",
                "p50 ms",
                "p99 ms",
                "CPU µs",
                "range",
                "ratio",
                "key exchange µs",
                "mean batch",
                "failures",
            ),
        ],
        lambda f: [
            escaped(f.name),
            number(f, "handshakes_per_second"),
            number(f, "p50_milliseconds"),
            number(f, "p99_milliseconds"),
            figure_text(f.median),
            escaped(range_text(f).partition(" µs")[0]),
            number(f, "server_cpu_ratio"),
            number(f, "key_exchange_microseconds"),
            number(f, "mean_batch"),
            number(f, "failures"),
        ],
        figures,
        sources,
    )


def pivot(
    title: str,
    about: str,
    figures: list[Figure],
    sources: Sources,
    heading: Callable[[Figure], str],
) -> str:
    """Returns a table for each run, with a row for each name and a column for each heading."""
    text = f"<section><h2>{escaped(title)}</h2>\n{sources.note(figures)}<p>{escaped(about)}</p>\n"
    runs = grouped(figures, sources.number)
    for number, own in runs.items():
        headings = list(dict.fromkeys(map(heading, own)))
        columns = [Column("case"), *numbers(*map(escaped, headings))]
        rows = []
        for name, here in grouped(own, lambda f: f.name).items():
            of = {heading(figure): pivot_cell(figure) for figure in here}
            rows.append([escaped(name), *(of.get(h, "") for h in headings)])
        text += table(columns, rows, f"[{number}]" if len(runs) > 1 else "", "wide")
    return text + "</section>\n"


def pivot_cell(figure: Figure) -> str:
    return f"{value_text(figure)}{noise_mark(figure)} <small>{ratio_text(figure)}</small>"


def openssl_speed_section(figures: list[Figure], sources: Sources) -> str:
    return pivot(
        "openssl speed with the provider",
        "GB/s by the bytes of an update, on one core; the ratio is over OpenSSL without it.",
        figures,
        sources,
        lambda f: size_text(f.get("bytes")),
    )


def openssl_keys_section(figures: list[Figure], sources: Sources) -> str:
    return pivot(
        "Short messages through the provider",
        "Nanoseconds of CPU time for a message; the ratio is over OpenSSL, and below 1 ours is "
        "faster.",
        figures,
        sources,
        lambda f: f"{size_text(f.get('bytes'))}, {f.get('key')}",
    )


# ---- files and others


def files_section(figures: list[Figure], sources: Sources) -> str:
    def memory(figure: Figure) -> str:
        value = figure.get("peak_memory_bytes")
        return "" if value is None else figure_text(value / 2**20)

    return plain_section(
        "File to file",
        "",
        [Column("command"), Column("size"), *numbers("s", "GB/s", "times cp", "peak MiB")],
        lambda f: [
            f"<code>{escaped(f.name)}</code>",
            size_text(f.get("bytes")),
            figure_text(f.median) + noise_mark(f),
            number(f, "gigabytes_per_second"),
            number(f, "times_cp"),
            memory(f),
        ],
        figures,
        sources,
    )


def file_paths_section(figures: list[Figure], sources: Sources) -> str:
    def where(figure: Figure) -> str:
        device, threads = figure.get("device"), figure.get("threads")
        return device if device != "cpu" else f"{threads} core{'s' * (threads > 1)}"

    return plain_section(
        "Files through a GPU",
        "",
        [
            *(Column(name) for name in ("store", "what", "where", "size")),
            *numbers("GB/s", "bound"),
            Column("bound by"),
            Column("a GPU pays"),
        ],
        lambda f: [
            escaped(f.get("place")),
            escaped(f.name),
            escaped(where(f)),
            size_text(f.get("bytes")),
            escaped(f.get("not_run")) if f.median is None else value_text(f) + noise_mark(f),
            figure_text(f.bound),
            escaped(f.bound_by),
            escaped(f.get("pays", "")),
        ],
        figures,
        sources,
    )


def file_copies_section(figures: list[Figure], sources: Sources) -> str:
    return plain_section(
        "Plain copies of files",
        "",
        [Column("store"), Column("what"), Column("size"), *numbers("GB/s")],
        lambda f: [
            escaped(f.get("place")),
            escaped(f.name),
            size_text(f.get("bytes")),
            value_text(f) + noise_mark(f),
        ],
        figures,
        sources,
    )


def other_section(kind: str, figures: list[Figure], sources: Sources) -> str:
    title = {"before_after": "Before and after a change"}.get(kind, kind)
    return plain_section(
        title,
        "",
        [
            Column("figure"),
            *numbers("median"),
            Column("unit"),
            Column("beside"),
            *numbers("figure", "ratio"),
        ],
        lambda f: [
            escaped(f.name),
            value_text(f) + noise_mark(f),
            escaped(f.unit),
            escaped(f.yardstick_name),
            figure_text(f.yardstick),
            ratio_text(f),
        ],
        figures,
        sources,
    )
