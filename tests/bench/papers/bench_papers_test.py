"""`warpseal bench papers` and `warpseal bench ladder` without a GPU: every published figure, the
parts that did not run, and a detected mismatch."""

import json
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
from program import case, check, check_equal, main  # noqa: E402

BENCH, FAULTY = os.environ["WARPSEAL_BENCH"], os.environ["WARPSEAL_FAULTY_BENCH"]
SCRIPTED = os.environ["WARPSEAL_SCRIPTED_BENCH"]
QUICK = ("--device", "cpu", "--bytes", "64KiB", "--seconds", "0.002")
KEYS = {"paper", "table", "title", "row", "unit", "better", "figure", "published", "published_text", "published_bound", "published_on", "method",
        "method_what", "default", "default_what", "method_ratio", "default_ratio", "ratio", "beats", "method_spread", "default_spread", "noisy",
        "scaled", "not_run", "differs", "per_unit", "published_units", "published_gigahertz", "published_units_source", "published_per_unit",
        "method_units", "method_per_unit", "method_per_unit_ratio", "default_units", "default_per_unit", "default_per_unit_ratio"}
# Typed again from the papers, table by table.
PUBLISHED = {
    ("P1", "table 3"): [3.1, 4.5, 4.8, 7.0, 1.6, 2.8],
    ("P1", "section 4.1"): [1.1, 0.625],
    ("P1", "table 3, by multiprocessors"): [None, None, 4.5 / 3.1, None, None, 7.0 / 4.8, None, None, 2.8 / 1.6],
    ("P1", "section 3.2"): [5, 1, None, 5, 1, None],
    ("P1", "section 4.2, occupancy"): [None, None, 1000] * 5,
    ("P1", "table 4"): [1016, 12, 20, 1332, 14, 7, 5168, 63, 176, 4348, 19, 0, 2080, 17, 128],
    ("P1", "conclusion, CPU load"): [None] * 9,
    ("P2", "table 2"): [9.72, 452.16, 13.31, 330.34, 13.24, 331.96, 8.87, 495.67, 12.07, 364.33, 12.17, 361.30, 7.27, 604.48, 9.64, 456.09,
                        9.67, 454.54],
    ("P2", "section 3.1"): [None] * 6,
    ("P2", "section 3.2, bank conflicts"): [None] * 4,
    ("P2", "section 4.2"): [8.74, 25.21, 16, 100 * (1 - 12.07 / 13.31), 100 * (1 - 9.64 / 13.31), 100 * (1 - 12.17 / 13.24),
                            100 * (1 - 9.67 / 13.24)],
    ("P3", "section 3, shared memory"): [8192, 8432],
    ("P3", "section 3, blocks on a multiprocessor"): [6, 5, None, None, 1],
    ("P3", "figure 9"): [25, None],
    ("P4", "table 5"): [4704.2, 651, 8, 382, 3534, 52, 11153.3, 10714, 103, 192, 3, 1],
    ("P4", "table 5, shares"): [13.8, 0.1, 8.1, 75.1, 1.1, None, 95.5, 0.9, 2.0, 0.0, 0.0, None],
    ("P4", "sections 4.1 and 4.3, estimates"): [3.9, 17.7, 11, 38],
    ("P4", "section 5.4"): [None] * 4 + [80, 80, None, None] + [None] * 8 + [80, 80] + [None] * 10 + [80, 80] + [None] * 6,
    ("P4", "tables 2 and 3, sizes"): [1590, 1230, 1230, 3168, 1568, 1568, 3040, 1312, 1472] + [None] * 21,
    ("P4", "table 6"): [7.8, 173.2, 18, 3.1, 183.6, 16, 11662.3, 1.0, 22, 604.3, 159.3, 58, 3.1, 183.6, 20, 3.5, 232.8, 19, 2.6, 209.4, 19,
                        2.7, 209.4, 19, None],
    ("P4", "table 8"): [94.4, 87.6, 72.2],
    ("P4", "table 8, improvement"): [49.8, 127.3, 154.5],
    ("P4", "section 5.3"): [1.2],
    ("P4", "sections 5.1 and 5.3"): [80, 82, 59, None, None],
    ("P4", "section 5.1, occupancy"): [75, 4, 63, 4],
    ("P5", "table 4"): [0] * 10,
    ("P5", "tables 5 to 9"): [73, 16, 93, 39, 13, 52, 21, None, 31],
    ("P5", "tables 1 to 3, as printed"): [0, 0, 0],
    ("P5", "figures 6 and 7"): [7.4999, 4.2343, 5.0127, 7.4999, 5.0127, 33],
    ("P5", "section 2.2, Amdahl's law"): [1.176, 1.25, None, None, None, None],
    ("P5", "section 4.3, tiles of states"): [None] * 5,
}
CORES = {("P1", "section 4.1"), ("P4", "table 5, shares"), ("P4", "tables 2 and 3, sizes"), ("P2", "section 3.2, bank conflicts"), ("P4", "table 5"), ("P5", "table 4"), ("P5", "tables 5 to 9"), ("P5", "figures 6 and 7"), ("P5", "section 4.3, fork and join"),
         ("P5", "speed-up"), ("P5", "figures 8 to 11"), ("P5", "tables 1 to 3, as printed"), ("P5", "figures 6 and 7, variants"),
         ("P5", "section 4.3, tiles of states"), ("P5", "section 2.2, Amdahl's law")}

# Rows of the GPU beside rows of the cores.
CORES_AND_GPU = {("P1", "conclusion, CPU load"), ("P4", "sections 4.1 and 4.3, estimates"), ("P4", "section 5.4")}


def papers(p, *arguments):
    result = p.ok("bench", "papers", *QUICK, "--json", "papers.json", *arguments)
    report = json.loads(p.read("papers.json"))
    for row in report["rows"]:
        check(KEYS <= row.keys(), f"keys of {row}")
    return report, result.out.decode()


def by_table(rows):
    tables = {}
    for row in rows:
        tables.setdefault((row["paper"], row["table"]), []).append(row)
    return tables


@case
def every_published_figure_and_what_did_not_run(p):
    report, text = papers(p, "--all")
    tables = by_table(report["rows"])
    for table, figures in PUBLISHED.items():
        check_equal([row["published"] for row in tables[table]], figures, f"published in {table}")
    for table, rows in tables.items():
        check(f"\n{table[0]} {table[1]}: " in text, f"{table} is not printed")
        if table == ("P3", "figure 8"):
            # 1 to 256 MiB are more than --bytes, with no row dropped.
            check_equal([row["not_run"] for row in rows], ["--device cpu", "--device cpu", "more than --bytes"] * 5, "sizes")
            continue
        if table == ("P3", "file encryption"):
            check_equal([row["not_run"] for row in rows], ["--device cpu", "more than --bytes"] * 12, "files")
            continue
        if table in CORES_AND_GPU:
            continue
        for row in rows:
            if table in CORES and row["row"] == "4 threads":
                check_equal((row["method"], row["not_run"]), (None, f"there are {report['head']['cores']} cores"), row)
            elif table in CORES:
                check(row["not_run"] is None and (row["method"] is not None or row["default"] is not None), row)
            else:
                check_equal((row["method"], row["default"], row["beats"], row["not_run"]), (None, None, None, "--device cpu"), row)
    check_equal({row["method"] for row in tables["P5", "table 4"]} | {row["default"] for row in tables["P5", "table 4"]}, {0}, "bytes that differ")
    check_equal([row["method"] for row in tables["P5", "tables 5 to 9"]], [73, 16, 85, 39, 13, 52, 21, 13, 31], "operations counted")
    check({"machine", "gpu", "date", "commit", "cores", "core_megahertz"} <= report["head"].keys(), report["head"])
    check_equal(report["head"]["papers"], ["P1", "P2", "P3", "P4", "P5"], "papers in the head")
    check_equal(text.count("not run"), sum(row["not_run"] is not None for row in report["rows"]), "lines that report it")


@case
def speed_ups_are_ratios_of_the_rows(p):
    report, _ = papers(p, "P5")
    seconds = [row for row in by_table(report["rows"])["P5", "figures 6 and 7"] if row["unit"] == "s"]
    check_equal(len(seconds), 5, "rows")
    for row in seconds:
        check(abs(row["method_ratio"] - row["published"] / row["method"]) < 0.01 * row["method_ratio"], row)
        check(abs(row["ratio"] - row["method"] / row["default"]) < 0.01 * row["ratio"], row)
        check(abs(row["default_ratio"] - row["published"] / row["default"]) < 0.01 * row["default_ratio"], row)
        check(row["default_per_unit"] is not None and row["method_per_unit"] is not None, row)
        check(abs(row["default_per_unit"] - row["default"] * row["default_units"] * report["head"]["core_megahertz"] / 1000)
              < 0.1 * row["default_per_unit"], f"the clock is measured twice: {row}")
        check_equal(row["beats"], row["default"] < min(row["published"], row["method"]), row)


@case
def times_and_speed_ups_are_consistent(p):
    report, _ = papers(p, "P5")
    tables = by_table(report["rows"])
    times = tables["P5", "figures 6 and 7"]
    serial, _, two, _, _, saved = times
    for figure in ("method", "default"):
        part = two[figure] / serial[figure]
        check(abs(saved[figure] - 100 * (1 - part)) < 0.2 * max(1, part), f"{figure} of what is saved: {times}")
    for row in (two, times[4]):
        check("extrapolated from " in row["method_what"], f"a few blocks stand for the file: {row}")
    abstract, conclusion, one, gain, *printed = tables["P5", "figures 6 and 7, variants"]
    check_equal([(row["published"], row["method"]) for row in (abstract, conclusion)], [(30, saved["method"]), (21, saved["method"])], "percentages")
    check(abs(gain["method"] * two["method"] - one["method"]) < 0.01 * one["method"], f"two threads over one: {gain}")
    check_equal([row["published"] for row in printed[:2]], [5.0127] * 2, "the printed listings")
    by_each_thread, *by_all = tables["P5", "tables 1 to 3, as printed"]
    check_equal((by_each_thread["method"], len(by_all)), (0, 2), "wrong blocks")
    state, tile, both, layout, second = (row["method"] for row in tables["P5", "section 4.3, tiles of states"])
    check(abs(layout * tile - state) < 0.01 * state and abs(second * both - tile) < 0.01 * tile, "layout and threads apart")
    fraction, *estimates = (row["method"] for row in tables["P5", "section 2.2, Amdahl's law"][2:])
    close(estimates, [1 / (1 - fraction / 100 * (1 - 1 / cores)) for cores in (2, 4, 1e9)], "Amdahl's law")
    one, *more = tables["P5", "speed-up"]
    for row in (one, *more):
        check(row["method"] is None or abs(row["method"] - row["method_gigabytes_per_second"] / row["serial_gigabytes_per_second"]) < 0.002 * row["method"],
              f"the method against the serial one: {row}")
        rate = "default_gigabytes_per_second"
        check(abs(row["default"] - row[rate] / one[rate]) < 0.002 * row["default"], f"the default of {row} beside {one}")
    two = more[0]
    check(two["row"] == "2 threads" and two["published"] is not None and two["method"] is not None, f"two threads, as in the paper: {two}")


@case
def one_paper_and_given_files(p):
    os.mkdir(p.file("own"))
    for name, content in (("a.txt", b"text\n" * 1000), ("b.bin", bytes(range(256)) * 33), ("empty", b"")):
        with open(p.file(f"own/{name}"), "wb") as file:
            file.write(content)
    report, _ = papers(p, "P5", "--files", "own")
    check_equal({row["paper"] for row in report["rows"]}, {"P5"}, "papers")
    rows = by_table(report["rows"])["P5", "table 4"]
    check_equal([row["row"] for row in rows],
                [f"{name}, {way}" for name in ("a.txt", "b.bin", "empty") for way in ("encryption", "decryption")], "rows")
    check_equal({(row["method"], row["default"], row["published"]) for row in rows}, {(0, 0, None)}, "bytes that differ")
    os.mkdir(p.file("nothing"))
    for folder in ("nothing", "nowhere"):
        check_equal(p.run("bench", "papers", *QUICK, "P5", "--files", folder).code, 10, f"exit code of {folder}")


@case
def a_wrong_output_is_caught(p):
    p.path = FAULTY
    for fault, ways in (("encrypt", {"encryption"}), ("decrypt", {"decryption"})):
        result = p.run("papers", *QUICK, "--json", "papers.json", "P5", env=dict(os.environ, WARPSEAL_TEST_FAULT=fault))
        check_equal(result.code, 1, f"exit code: {result.err}")
        check("outputs differ" in result.err, result.err)
        rows = by_table(json.loads(p.read("papers.json"))["rows"])["P5", "table 4"]
        check_equal({(row["row"].split(", ")[1], row["method"], row["default"]) for row in rows if row["default"]},
                    {(way, 0, 1) for way in ways}, "rows that differ")


@case
def a_wrong_secret_is_caught(p):
    p.path = FAULTY
    for fault in ("kem_encapsulate", "kem_decapsulate"):
        result = p.run("papers", *QUICK, "P4", env=dict(os.environ, WARPSEAL_TEST_FAULT=fault))
        check_equal((result.code, result.err.count("the plain NTRU on a core and ours differ")), (1, 1), f"{fault}: {result.err}")


STEPS = ("aes-128.bytes", "aes-128.words", "aria-128.bytes", "aria-128.words", "des.words",
         *(f"camellia-{bits}.{layout}" for bits in (128, 192, 256) for layout in ("global", "merged", "merged-copies")),
         "gkrypt.global", "gkrypt.constant", "gkrypt.shared-state", "gkrypt.device-keys", "gkrypt.unrolled", "gkrypt.shared-tables",
         *(f"gkrypt.decrypt.{step}" for step in ("global", "constant", "shared-state", "unrolled", "device-keys", "shared-tables")),
         "aes-128.bytes-persistent", "aria-128.bytes-persistent", "aes-128.words-persistent", "aria-128.words-persistent",
         "des.words-persistent", *(f"camellia-{bits}.{layout}" for layout in ("byte-tables", "word-tables") for bits in (128, 192, 256)))


def rate_of(step):
    """The rate of a step of fake_ladder.cpp."""
    return 10 * (1 + STEPS.index(step))


def close(got, wanted, what):
    check_equal(len(got), len(wanted), what)
    for figure, expected in zip(got, wanted):
        check(abs(figure - expected) <= 0.001 * abs(expected), f"{what}: {figure}, not {expected}")


@case
def a_gpus_figures_are_in_their_cells(p):
    """A ladder with known figures: fake_ladder.cpp."""
    p.path = SCRIPTED
    result = p.ok("papers", "--bytes", "64KiB", "--seconds", "0.002", "--json", "papers.json", "P1", "P2",
                  env=dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1"))
    report = json.loads(p.read("papers.json"))
    tables = by_table(report["rows"])
    kernels = [STEPS.index(name) for name in ("aes-128.bytes", "aria-128.bytes", "aes-128.words", "aria-128.words", "des.words")]
    check_equal([row["method"] for row in tables["P1", "table 4"]], [base + i for i in kernels for base in (300, 100, 200)], "shared, registers, local")
    check_equal([row["method_what"] for row in tables["P1", "table 4"]], [STEPS[i] for i in kernels for _ in range(3)], "steps")
    representation_rates = [10 * (1 + i) for i in kernels]  # bytes of AES and ARIA, words of AES, ARIA and DES
    check_equal([row["method"] for row in tables["P1", "table 3"]], [8 * rate for rate in representation_rates[2:] for _ in (1, 2)], "Gbit/s, words")
    core = [row["method"] / 8 for row in tables["P1", "section 4.1"]]
    representations = tables["P1", "section 3.2"]
    check_equal([row["method_gigabytes_per_second"] for row in representations],
                [rate_of(f"{cipher}-128.{how}") for cipher in ("aes", "aria") for how in ("words", "bytes", "bytes-persistent")], "representations")
    for i, row in enumerate(representations):
        check(abs(row["method"] * core[i // 3] - row["method_gigabytes_per_second"]) < 0.003 * row["method_gigabytes_per_second"], row)
    by_threads = [(row["method"], row["threads_per_block"]) for row in tables["P1", "section 4.2"]]
    counts = (32, 64, 128, 192, 256, 384, 512, 768, 1024)
    check_equal(by_threads, [(representation_rates[i], count) for i in (2, 0, 3, 1, 4) for count in ((16,) if i < 2 else ()) + counts], "by threads")
    close([row["method"] for row in tables["P1", "table 3, by multiprocessors"]],
          [figure for cipher in ("aes-128", "aria-128", "des")
           for figure in [*(8 * rate_of(f"{cipher}.words-persistent") * count / 100 for count in (12, 16, 25, 50, 75, 100)), 16 / 12]],
          "by multiprocessors")
    check_equal([row["method"] for row in tables["P1", "section 4.2, occupancy"]], [5, 50, 128000] * 5, "blocks, occupancy, threads")
    check_equal([row["method_what"] for row in tables["P1", "section 4.2, occupancy"]], [STEPS[i] for i in kernels for _ in range(3)], "steps")
    check_equal([row["method"] for row in tables["P2", "section 3.1"]],
                [8 * rate_of(f"camellia-{bits}.{layout}") for layout in ("byte-tables", "word-tables") for bits in (128, 192, 256)], "four tables")
    close([row["method"] for row in tables["P2", "section 4.2"]], [14.29, 25, 10.71, 10, 18.18, 7.692, 14.29], "% saved of rates of 60, 70 and 80, ...")
    rates = [rate_of(f"camellia-{bits}.{layout}") for layout in ("global", "merged", "merged-copies") for bits in (128, 192, 256)]
    wanted = [figure for rate in rates for figure in (2**35 * 16 / 1e9 / rate, 8 * rate)]
    rows = tables["P2", "table 2"]
    check_equal(len(rows), len(wanted), "rows")
    for row, figure in zip(rows, wanted):
        check(abs(row["method"] - figure) < 0.001 * figure, f"{figure} in {row}")
        check(row["default"] is not None, row)
    for seconds, rate in zip(rows[::2], rows[1::2]):
        check(abs(seconds["default"] * rate["default"] / (2**35 * 128 / 1e9) - 1) < 0.002, f"{seconds} and {rate}")
    figures = {}
    for row in report["rows"]:
        check_equal(row["figure"] is None, row["beats"] is None, f"a figure is named where it is judged: {row}")
        if row["figure"]:
            figures[row["figure"]] = figures.get(row["figure"], True) and row["beats"]
    check_equal(list(figures), ["P1 AES on a GPU", "P1 ARIA on a GPU", "P1 DES on a GPU", "P1 AES on a core", "P1 ARIA on a core",
                                "P2 Camellia-128 on a GPU", "P2 Camellia-192 on a GPU", "P2 Camellia-256 on a GPU"], "figures of 26 rows")
    head, beaten = report["head"], sum(figures.values())
    check_equal((head["figures_judged"], head["figures_beaten"], len(head["not_beaten"])), (8, beaten, 8 - beaten), "head")
    methods = {(row["figure"] or row["table"] + row["row"] + row["unit"], row["method_what"]): row for row in report["rows"]
               if row["method_ratio"] is not None}
    check_equal(head["methods_judged"], len(methods), f"distinct methods: {list(methods)}")
    check_equal(head["methods_below_published"], len(head["methods_below"]), "methods named")
    closing = f"\n{beaten} of 8 distinct figures that the papers publish are beaten by our default; {len(head['methods_below'])} of {len(methods)} methods"
    check(closing in result.out.decode(), f"the last line is not {closing}: {result.out.decode()[-500:]}")


@case
def cpu_load_is_cpu_time(p):
    report, _ = papers(p, "P1")
    rows = by_table(report["rows"])["P1", "conclusion, CPU load"]
    check_equal([row["row"] for row in rows], [f"{cipher}, {where}" for cipher in ("AES", "ARIA", "DES")
                                               for where in ("cores", "GPU, from host memory", "GPU, within its memory")], "rows")
    for row in rows:
        on_cores = row["row"].endswith("cores")
        check_equal((row["default"] is not None, row["not_run"]), (on_cores, None if on_cores else "--device cpu"), row)
        if on_cores:
            cores = row["default"] * row["default_gigabytes_per_second"]
            check(0 < cores < 1.1 * os.cpu_count() + 0.1, f"busy cores: {cores} in {row}")
        check_equal(row["method"] is not None, row["row"] in ("AES, cores", "ARIA, cores"), row)
        if row["method"] is not None:
            check(0 < row["method"] * row["method_gigabytes_per_second"] < 1.1, f"one core: {row}")


@case
def bank_conflicts_are_computed_without_a_gpu(p):
    report, _ = papers(p, "P2")
    rows = by_table(report["rows"])["P2", "section 3.2, bank conflicts"]
    figures = {row["row"]: (row["method"], row["most_wavefronts"]) for row in rows}
    check_equal(list(figures), ["byte-tables", "word-tables", "merged", "merged-copies"], "layouts in shared memory")
    check_equal(figures["merged-copies"], (1, 1), "a copy in each bank")
    check_equal(figures["merged"], figures["word-tables"], "an entry's bank is its index modulo 32 in both")
    # Two words of a table lie in each bank, so that a lookup takes one wavefront or two.
    check(1.8 < figures["byte-tables"][0] < 2 and figures["byte-tables"][1] == 2, figures)
    check(2.5 < figures["merged"][0] < 3.5, figures)


@case
def files_of_p3_have_a_time_and_a_rate(p):
    p.ok("bench", "papers", "P3", "--table", "file encryption", "--device", "cpu", "--bytes", "1MiB", "--seconds", "0.002", "--json", "papers.json")
    tables = by_table(json.loads(p.read("papers.json"))["rows"])
    check_equal(list(tables), [("P3", "file encryption")], "tables")
    rows = {row["row"]: row for row in tables["P3", "file encryption"]}
    check_equal(list(rows), [f"{size} MiB, {way}, {where}" for way in ("encryption", "decryption") for size in (1, 4, 16, 64, 256, 1024)
                             for where in ("GPU", "all cores")], "rows")
    for name, row in rows.items():
        if name.endswith("GPU"):
            check_equal((row["default"], row["not_run"]), (None, "--device cpu"), name)
        elif not name.startswith("1 MiB"):
            check_equal((row["default"], row["not_run"]), (None, "more than --bytes"), name)
        else:
            check_equal((row["not_run"], row["bytes"], row["unit"]), (None, 1049000, "ms"), name)  # four digits
            check(abs(row["default"] * row["gigabytes_per_second"] / (2**20 / 1e6) - 1) < 0.002, row)
            check("aes-256-gcm" in row["default_what"] and "file to file" in row["default_what"], row)


@case
def gkrypts_figures_are_in_their_cells(p):
    """The article's last kernel represents the method in figures 8 and 9, though unrolled is faster
    in this ladder, and our own shared-tables fastest."""
    p.path = SCRIPTED
    p.ok("papers", "--bytes", "1MiB", "--seconds", "0.002", "--json", "papers.json", "P3", env=dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1"))
    tables = by_table(json.loads(p.read("papers.json"))["rows"])
    names = ("global", "constant", "shared-state", "unrolled", "device-keys", "shared-tables")
    order = [STEPS.index(f"gkrypt.{way}{name}") for way in ("", "decrypt.") for name in names]
    steps = [(row["method"], row["registers"], row["local_bytes"], row["shared_bytes"], row["resident_blocks"]) for row in tables["P3", "section 3"]]
    check_equal(steps, [(10 * (i + 1), 100 + i, 200 + i, 300 + i, 5) for i in order], "steps")
    check_equal([row["row"] for row in tables["P3", "section 3"] if "(ours)" in row["row"]],
                ["shared-tables (ours), encryption", "shared-tables (ours), decryption"], "what is not in the article")
    check_equal([row["method"] for row in tables["P3", "section 3, shared memory"]], [316, 317], "shared bytes")
    blocks = tables["P3", "section 3, blocks on a multiprocessor"]
    # Rates of 190 and 180 GB/s with 6 and 5 of 10 blocks.
    check_equal([row["method"] for row in blocks], [49152 // 316, 49152 // 317, 114, 90, 0.7895], "blocks in 48 KB, rates with 6 and 5 blocks")
    check_equal([row.get("resident_blocks") for row in blocks], [None, None, 6, 5, None], "blocks")
    check_equal([row["not_run"] for row in tables["P3", "figure 8"]], [None] * 3 + ["more than --bytes"] * 12, "sizes")
    on_gpu, fastest, on_cores = tables["P3", "figure 8"][:3]
    check_equal((on_gpu["method"], on_gpu["method_what"]), (0.005825, "gkrypt.device-keys"), "ms for 1 MiB at 180 GB/s")
    check_equal((fastest["method"], fastest["method_what"]), (0.005519, "gkrypt.unrolled"), "ms for 1 MiB at 190 GB/s")
    over, over_by_fastest = tables["P3", "figure 9"]
    for row, rate, step in ((over, 180, "gkrypt.device-keys"), (over_by_fastest, 190, "gkrypt.unrolled")):
        check(abs(row["method"] * row["cores_gigabytes_per_second"] / rate - 1) < 0.002, f"{rate} GB/s over {row}")
        check(row["method_what"].startswith(step + " over "), row)
    check_equal((over_by_fastest["published"], over_by_fastest["default"]), (None, None), "the published figure beside another step")
    # Two measurements of one quantity, on a machine that may be busy.
    check(0.05 < over["cores_gigabytes_per_second"] * on_cores["method"] / (2**20 / 1e6) < 20, f"{over} beside {on_cores}")


@case
def steps_of_the_ladder_one_by_one(p):
    p.path, gpu = SCRIPTED, dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1")
    text = p.ok("ladder", "--json", "ladder.json", "--bytes", "1MiB", env=gpu).out.decode()
    rows = json.loads(p.read("ladder.json"))["rows"]
    steps, ntru = [row for row in rows if "cipher" in row], [row for row in rows if "set" in row]
    check_equal([(row["gigabytes_per_second"], row["registers"], row["local_bytes"], row["shared_bytes"], row["threads_per_block"]) for row in steps],
                [(10 * (i + 1), 100 + i, 200 + i, 300 + i, 256) for i in range(len(STEPS))], "steps")
    check_equal([row["operations_per_second"] for row in ntru], [float(f"{1e6 / (i + 1):.4g}") for i in range(17)], "steps of NTRU")
    check_equal([row.get("registers") for row in ntru], [None if i in (0, 3, 6) else 100 + i for i in range(17)], "registers, but of the product")
    check_equal({(row["resident_blocks"], row["occupancy"], row["blocks"]) for row in steps}, {(5, 0.5, 1000)}, "launches")
    lines = {words[0]: words[1:7] for words in map(str.split, text.splitlines()) if len(words) > 6}
    check_equal(lines["aes-128.words"], ["20", "101", "201", "301", "256", "5"], "a line")
    check_equal(lines["ntruhps4096821.encapsulate.block"][:2], ["0.5", "101"], "a line of NTRU")
    for wrong in ("aria-128.words", "ntruhps4096821.decapsulate.block"):
        result = p.run("ladder", "--json", "ladder.json", "--bytes", "1MiB", env=dict(gpu, WARPSEAL_TEST_FAULT=wrong))
        row = next(row for row in json.loads(p.read("ladder.json"))["rows"] if row["step"] == wrong)
        check_equal((result.code, row["not_run"] is None, "registers" in row), (1, False, False), wrong)
    result = p.run("papers", "--bytes", "64KiB", "--seconds", "0.002", "P1", env=dict(gpu, WARPSEAL_TEST_FAULT="aria-128.words"))
    check_equal((result.code, "aria-128.words: no figure" in result.err), (1, True), "a wrong step in the papers")


@case
def ntrus_figures_are_in_their_cells(p):
    """A ladder whose step i takes i + 1 microseconds for each operation, and whose components gain
    all that threads can bring."""
    p.path = SCRIPTED
    p.ok("papers", "--bytes", "4MiB", "--seconds", "0.002", "--json", "papers.json", "P4", env=dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1"))
    tables = by_table(json.loads(p.read("papers.json"))["rows"])
    whole = tables["P4", "table 8"]
    check_equal([(row["method"], row["default"]) for row in whole], [(20, 40), (50, 70), (60, 70)], "ms for 10,000, of fewer")
    cores = {row["row"]: (row["method"], row["default"]) for row in tables["P4", "table 5"]}
    for row, of_whole in zip(tables["P4", "table 8, improvement"], whole):
        for key, core in zip(("method", "default"), cores[row["row"].split(",")[0]]):
            check(abs(row[key] - core / of_whole[key]) < 0.002 * row[key], row)
    check_equal([row["method"] for row in tables["P4", "section 5.3"]], [0.8333], "rate of two kernels over one")
    check_equal([(row["method"], row["method_what"].split(".", 1)[1]) for row in tables["P4", "sections 5.1 and 5.3"]],
                [(101, "encapsulate.block"), (104, "decapsulate.block"), (105, "decapsulate.split-hash"), (107, "encapsulate.block-768"),
                 (108, "decapsulate.block-768")], "registers")
    check_equal([row["method"] for row in tables["P4", "section 5.1, occupancy"]], [50, 5] * 2, "occupancy and blocks")
    copies = tables["P4", "section 5.2"]
    close([row["method"] for row in copies], [20, 100, 20 / 100, 110, 20 / 110, 50, 140, 50 / 140, 150, 50 / 150], "copying")
    check_equal([row["row"].split(".", 1)[1] for row in copies if row["unit"] == "ms"],
                [f"{operation}.{how}" for operation in ("encapsulate", "decapsulate") for how in ("block", "copy-runs", "copy-alone")], "steps")
    close([row["method"] for row in tables["P4", "section 5.3, variants"]], [120, 20 / 120, 160, 50 / 160, 130, 20 / 130, 170, 60 / 170], "variants")
    check_equal((tables["P4", "table 6"][-1]["row"], tables["P4", "table 6"][-1]["method"]), ("Rq-mul, doubled factor: time", 13.02), "our part")
    for i in range(8):
        time, speed_up, registers = tables["P4", "table 6"][3 * i:3 * i + 3]
        check_equal((time["method"], speed_up["method"], registers["method"]), (13.02, 768, 200 + i), time["row"])
    check_equal([row["method"] for row in tables["P4", "figures 8 to 10"]], [1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 640, 768] * 8, "speed-ups")
    check_equal([(row["row"], row["method"]) for row in tables["P4", "section 4.3"]],
                [(f"{name}, T = {threads}", float(f"{whole / threads:.4g}")) for name, whole in (("encapsulation", 20), ("decapsulation", 60))
                 for threads in (1, 32, 64, 128, 192, 256, 384, 512, 640, 768)], "by threads")
    clients = [row for row in tables["P4", "figures 12 and 13, times"] if not row["not_run"]]
    check_equal([(row["row"], row["method"], row["default"]) for row in clients],
                [("encapsulation, N = 100", 0.2, 0.4), ("encapsulation, N = 1000", 2, 4), ("decapsulation, N = 100", 0.6, 0.7),
                 ("decapsulation, N = 1000", 6, 7), ("key pairs, N = 100", None, 0.1), ("key pairs, N = 1000", None, 1)], "by clients")
    check_equal([(row["row"], row["not_run"]) for row in tables["P4", "figures 12 and 13, times"] if row["not_run"]],
                [(f"{operation}, N = {clients}", "more than --bytes") for operation in ("encapsulation", "decapsulation", "key pairs")
                 for clients in (10000, 100000, 1000000)], "clients beyond --bytes")
    improvements = [row for row in tables["P4", "figures 12 and 13"] if not row["not_run"]]
    check_equal([row["row"] for row in improvements], [row["row"] for row in clients[:4]], "improvements")
    check_equal({row["scaled"] for row in improvements}, {None}, "100 and 1000 operations are not scaled")
    check_equal({row["scaled"] for row in whole}, {"1024 of 10000 operations ran (--bytes); times are scaled"}, "10,000 operations are")
    for row, time in zip(improvements, clients):
        for key, core in zip(("method", "default"), cores[row["row"].split(",")[0]]):
            wanted = core * row["count"] / 10000 / time[key]
            check(abs(row[key] - wanted) < 0.002 * wanted, f"{key} over one core's {core}: {row}")


@case
def ntrus_shares_and_sizes(p):
    p.ok("bench", "papers", *QUICK[:2], "--bytes", "4MiB", "--seconds", "0.002", "--json", "papers.json", "P4")
    tables = by_table(json.loads(p.read("papers.json"))["rows"])
    shares = tables["P4", "table 5, shares"]
    for operation in ("encapsulation", "decapsulation"):
        of_whole = [row["method"] for row in shares if row["row"].startswith(operation)]
        # Four digits each. A part that was preempted is longer than the whole, and the rest negative.
        rounding = 0.001 * sum(abs(share) for share in of_whole)
        check(abs(sum(of_whole) - 100) <= rounding, f"shares of {operation}: {of_whole}")
    product, estimate = shares[3]["method"] / 100, tables["P4", "sections 4.1 and 4.3, estimates"][0]["method"]
    wanted = 1 / (1 - product + product / 150)
    # Half a unit of the fourth digit of both: near 0, the denominator's error counts.
    rounding = 0.0005 * (product * wanted ** 2 + abs(wanted))
    check(abs(estimate - wanted) <= rounding, f"Amdahl's law: {estimate}, not {wanted} +- {rounding}")
    sizes = tables["P4", "tables 2 and 3, sizes"]
    for row in sizes:
        check_equal(row["default"] is None, "Saber" in row["row"], row)
        check(row["default"] in (None, row["method"]) and row["published"] in (None, row["method"]), row)
    bursts = tables["P4", "section 5.4"]
    ran = [row for row in bursts if row["default"] is not None]
    check_equal([row["row"] for row in ran], [f"server {scenario}, N = 1000, {device}, {age} batcher" for device in ("cores", "auto")
                                              for scenario in ("decapsulates", "encapsulates") for age in ("new", "warm")], "bursts that ran")
    for row in ran:
        check(0 < row["p50_milliseconds"] <= row["p99_milliseconds"] <= 1.001 * row["default"], row)
    check_equal({row["not_run"] for row in bursts if row["default"] is None}, {"--device cpu", "more than --bytes"}, "reasons")


@case
def a_wrong_step_of_ntru_is_caught(p):
    p.path = SCRIPTED
    arguments = ("papers", "--bytes", "4MiB", "--seconds", "0.002", "P4")
    for step in ("encapsulate.block", "decapsulate.split-hash", "keypair.product"):
        result = p.run(*arguments, env=dict(os.environ, WARPSEAL_TEST_PRETEND_GPU="1", WARPSEAL_TEST_FAULT="ntruhps4096821." + step))
        check_equal((result.code, f"{step}: no figure" in result.err), (1, True), result.err)


@case
def json_on_stdout(p):
    result = p.ok("bench", "papers", *QUICK, "--json", "-", "--all", "P2")
    check_equal(len(json.loads(result.out)["rows"]), 35, "rows")
    check("P2 table 2" in result.err, result.err)


@case
def usage(p):
    for command in ("papers", "ladder"):
        p.fails(2, "--seconds", "bench", command, "--seconds", "nan")
    for wrong in (("papers", "P6"), ("papers", "--bytes", "many"), ("papers", "--device", "sparc"), ("ladder", "--device", "-1")):
        check_equal(p.run("bench", *wrong).code, 2, f"exit code of {wrong}")
    p.fails(15, "no step", "bench", "ladder", "aes-129")
    p.fails(16, "nowhere", "bench", "papers", *QUICK, "--json", "nowhere/papers.json", "P2")
    check("--files" in p.ok("bench", "papers", "--help").out.decode(), "help of the study")


@case
def position_of_the_studies_program(p):
    os.makedirs(p.file("bin"))
    shutil.copy(p.path, p.file("bin/warpseal"))
    p.path = p.file("bin/warpseal")
    p.fails(15, "warpseal-bench", "bench", "papers", "P2")
    os.makedirs(p.file("libexec/warpseal"))
    os.symlink(BENCH, p.file("libexec/warpseal/warpseal-bench"))
    p.ok("bench", "ladder", "--list")


main()
