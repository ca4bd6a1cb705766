"""bench/papers_applications: its results, and which kinds it leaves out, on fake applications."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from program import case, check, check_equal, main  # noqa: E402

FAKE = ROOT / "tests/bench/fake_application"
APPLICATIONS = ("ffmpeg", "ffprobe", "iconv", "mpg123", "soffice")
KINDS = ["Text", "MP3", "MP4", "Docx", "Hwp"]
FACTS = ["plain_opens"] + [
    f"{how}_{fact}"
    for how in ("sealed", "raw")
    for fact in ("is_refused", "decrypted_is_identical", "decrypted_opens")
]


def measured(p, code, fault="", applications=APPLICATIONS, program=None, under="run"):
    """Returns the rows by kind, the report's head, and what the script printed."""
    folder = pathlib.Path(p.file(under))
    path, build, report = folder / "path", folder / "build", folder / "report"
    path.mkdir(parents=True)
    build.mkdir()
    fake = f"#!{sys.executable}\n{FAKE.read_text(encoding='utf-8')}"
    for file in [path / name for name in applications] + [build / "warpseal"] * (program is None):
        file.write_text(fake, encoding="utf-8")
        file.chmod(0o755)
    if program is not None:
        (build / "warpseal").symlink_to(os.path.abspath(program))
    done = subprocess.run(
        [sys.executable, ROOT / "bench/papers_applications", "--build", build, "--json", report],
        env={**os.environ, "PATH": str(path), "FAKE": fault},
        capture_output=True,
        text=True,
        timeout=600,
    )
    check_equal(done.returncode, code, f"exit code ({done.stderr})")
    check("Traceback" not in done.stderr, done.stderr)
    if not report.exists():
        return {}, {}, done.stdout + done.stderr
    content = json.loads(report.read_text(encoding="utf-8"))
    rows = content["papers_applications"]
    check_equal([row["kind"] for row in rows], KINDS, "kinds")
    check_equal(sorted(os.listdir(p.file(under))), ["build", "path", "report"], "files")
    return {row["kind"]: row for row in rows}, content["head"], done.stdout


def failed(rows):
    """Returns the facts that do not hold, by kind."""
    facts = {kind: [fact for fact in FACTS if not row[fact]] for kind, row in rows.items()}
    return {kind: names for kind, names in facts.items() if names}


@case
def all_kinds_with_the_real_program(p):
    rows, head, text = measured(p, 0, program=p.path)
    check_equal(failed(rows), {}, "failed facts")
    for kind, row in rows.items():
        check(row["not_run"] is None and row["bytes"] > 50, row)
        check_equal([f for f in row if f.startswith(("plain_", "sealed_", "raw_"))], FACTS, kind)
    check_equal(
        head["applications"], {name: f"{name} version 1 of" for name in APPLICATIONS}, "versions"
    )
    check("warpseal" in head["program"] and "NO" not in text, text)


@case
def an_application_that_opens_anything(p):
    both = ["sealed_is_refused", "raw_is_refused"]
    for name, kinds in [
        ("ffprobe", ["MP4"]), ("mpg123", ["MP3"]), ("iconv", ["Text"]), ("soffice", KINDS[3:]),
    ]:
        rows, _, text = measured(p, 1, fault=f"{name} accepts", under=name)
        check_equal(failed(rows), {kind: both for kind in kinds}, name)
        check_equal(text.count("is_refused: NO"), 2 * len(kinds), text)


@case
def an_application_that_opens_nothing(p):
    opens = ["plain_opens", "sealed_decrypted_opens", "raw_decrypted_opens"]
    rows, _, _ = measured(p, 1, fault="soffice refuses,iconv refuses")
    check_equal(failed(rows), {kind: opens for kind in ("Text", "Docx", "Hwp")}, "failed facts")


@case
def a_program_that_does_not_encrypt(p):
    rows, _, _ = measured(p, 1, fault="warpseal copies")
    check_equal(set(failed(rows)), set(KINDS), "kinds")
    for row in rows.values():
        check(not row["sealed_is_refused"] and not row["raw_is_refused"], row)
        check(row["sealed_decrypted_is_identical"], row)


@case
def a_program_that_damages_a_byte(p):
    rows, _, _ = measured(p, 1, fault="warpseal damages")
    for row in rows.values():
        check(not row["sealed_decrypted_is_identical"], row)
        check(not row["raw_decrypted_is_identical"], row)


@case
def without_some_applications(p):
    rows, head, text = measured(p, 3, applications=("iconv", "ffmpeg", "ffprobe"))
    check_equal(failed({kind: rows[kind] for kind in ("Text", "MP4")}), {}, "failed facts")
    check_equal(rows["MP3"]["not_run"], "there is no mpg123", "MP3")
    check_equal(rows["Hwp"]["not_run"], "there is no soffice", "Hwp")
    check_equal(sorted(head["applications"]), ["ffmpeg", "ffprobe", "iconv"], "versions")
    check_equal(text.count("NOT RUN"), 3, text)


@case
def a_failure_weighs_more_than_an_absent_application(p):
    rows, _, _ = measured(p, 1, fault="iconv accepts", applications=("iconv",))
    check_equal(rows["MP4"]["not_run"], "there is no ffmpeg and no ffprobe", "MP4")


@case
def files_that_cannot_be_made(p):
    rows, _, _ = measured(p, 3, fault="ffmpeg fails")
    for kind in ("MP3", "MP4"):
        check("cannot be made: ffmpeg: ffmpeg: out of order" in rows[kind]["not_run"], rows[kind])
    check_equal(failed({kind: rows[kind] for kind in ("Text", "Docx", "Hwp")}), {}, "failed facts")


@case
def a_program_that_fails(p):
    rows, _, text = measured(p, 1, fault="warpseal fails")
    check("papers_applications:" in text and "out of order" in text, text)
    check_equal(rows, {}, "a report")


@case
def no_program(p):
    done = subprocess.run(
        [sys.executable, ROOT / "bench/papers_applications", "--build", p.directory],
        capture_output=True,
        text=True,
        timeout=600,
    )
    check_equal(done.returncode, 2, "exit code")
    check("--build: there is no" in done.stderr and "scripts/build" in done.stderr, done.stderr)


main()
