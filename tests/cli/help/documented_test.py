"""Runs every command of the table in docs/cli.md, and those at the start of README.md, in order."""

import os
import pathlib
import re
import select
import shlex
import shutil
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "support")]
from program import NotRun, case, check, check_equal, main, some_bytes
from terminal import Terminal

ROOT = TESTS.parent.parent
PAGE = ROOT / "docs" / "cli.md"
WORD, NEW_WORD = "correct horse battery", "another staple here"


def commands():
    rows = re.findall(r"^\| \w+ \| `[^|]*` \| `warpseal ([^|]*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    check_equal(len(rows), PAGE.read_text(encoding="utf-8").count("| `warpseal "), "rows that are read")
    return [shlex.split(row) for row in rows]


def commands_of_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.search(r"^```\n(warpseal .*?)^```$", text, re.MULTILINE | re.DOTALL)[1].splitlines()
    split = [shlex.split(line, comments=True) for line in lines]
    check(all(words[0] == "warpseal" for words in split), f"commands of the program: {lines}")
    return [words[1:] for words in split]


def answer(p, *arguments, words=(WORD,)):
    """Runs the command on a terminal and answers its questions with the passphrases in turn. The last one serves for all that follow."""
    terminal, answered, end = Terminal(p, *arguments), 0, time.monotonic() + 120
    while terminal.process.poll() is None:
        check(time.monotonic() < end, f"{arguments} still waits: {terminal.shown!r}")
        if select.select([terminal.ours], [], [], 0.05)[0]:
            terminal.shown += os.read(terminal.ours, 4096).decode()
        asked = len(re.findall(r": ", terminal.shown))
        if asked > answered and not terminal.echo():
            terminal.type(words[min(answered, len(words) - 1)] + "\n")
            answered += 1
    code, out, err = terminal.end()
    check_equal(code, 0, f"exit code of {arguments}: {err}")
    return out.decode(), answered


@case
def every_documented_command_works(p):
    content = {"film": some_bytes(200_000, 1), "letter": b"Dear reader\n", "old": b"from before\n"}
    for name, data in content.items():
        p.write(name, data)
    os.makedirs(p.file("photos/2025"))
    p.write("photos/2025/a.jpg", some_bytes(5000, 2))
    openssl = shutil.which("openssl")
    if not openssl:
        raise NotRun("openssl is not here")
    subprocess.run([openssl, "enc", "-aes-256-cbc", "-pbkdf2", "-in", p.file("old"), "-out", p.file("old.enc"), "-pass", "stdin"],
                   input=WORD.encode(), check=True)
    recipient, shown = "", {}
    for arguments in commands():
        arguments = [recipient if word == "age1…" else word for word in arguments]
        output = arguments[arguments.index("-o") + 1] if "-o" in arguments else None
        if output and os.path.exists(p.file(output)):
            os.unlink(p.file(output))
        line = " ".join(arguments[:2])
        shown[line], answered = answer(p, *arguments)
        check_equal(answered > 0, "-p" in arguments or "--new-passphrase" in arguments or "passwd" in arguments, f"{arguments} asks")
        if arguments[0] == "decrypt" and output in content:
            check(p.read(output) == content[output], f"the content after {arguments}")
        if "-y" in arguments:
            recipient = shown[line].strip()
            p.write("friends.txt", recipient.encode() + b"\n")
    check(re.fullmatch(r"[0-9a-f]{64}\n", shown["random --hex"]), "random bytes")
    check("passphrase" in shown["key list"], "key list")
    check(p.read("copy/photos/2025/a.jpg") == p.read("photos/2025/a.jpg"), "the restored folder")
    check_equal(sorted(os.listdir(p.file("sent"))), ["film.ws", "letter.ws"], "files sent")
    # What raw wrote is what openssl writes.
    theirs = subprocess.run([openssl, "enc", "-aes-256-ctr", "-K", p.read("my.key").hex(), "-iv", "000102030405060708090a0b0c0d0e0f", "-in", p.file("film")],
                            capture_output=True, check=True).stdout
    check(p.read("film.raw") == theirs, "raw is openssl's ciphertext")
    check_equal(p.ok("key", "list", "letter.ws").out.decode().count("key file"), 1, "slots after key remove")


@case
def the_readme_begins_with_commands_that_work(p):
    content = {"film.mp4": some_bytes(200_000, 3), "letter.txt": b"Dear reader\n"}
    for name, data in content.items():
        p.write(name, data)
    os.makedirs(p.file("photos"))
    p.write("photos/a.jpg", some_bytes(5000, 4))
    recipient, word, ran = "", WORD, []
    for arguments in commands_of_the_readme():
        arguments = [recipient if argument == "age1…" else argument for argument in arguments]
        output = arguments[arguments.index("-o") + 1] if "-o" in arguments else None
        if arguments[0] == "decrypt" and output:
            os.unlink(p.file(output))
        if "--output-dir" in arguments:
            os.rename(p.file("photos"), p.file("before"))
        if "passwd" in arguments:
            _, answered = answer(p, *arguments, words=(WORD, NEW_WORD))
            check_equal(answered, 3, "the old passphrase, and the new one twice")
            p.write("new", NEW_WORD.encode() + b"\n", 0o600)
            p.write("old", WORD.encode() + b"\n", 0o600)
            check(p.ok("decrypt", "--passphrase-file", "new", arguments[-1]).out == content["letter.txt"], "the new passphrase")
            p.fails(12, "", "decrypt", "--passphrase-file", "old", arguments[-1], "-o", "other")
        else:
            _, answered = answer(p, *arguments)
            check_equal(answered > 0, "-p" in arguments, f"{arguments} asks")
        if arguments[0] == "decrypt" and output:
            check(p.read(output) == content[output], f"the content after {arguments}")
        if arguments[0] == "keygen":
            recipient = re.search(r"age1\w+", p.read(output).decode())[0]
        ran.append(arguments[0])
    check(p.read("photos/a.jpg") == p.read("before/a.jpg"), "the folder")
    check_equal(sorted(set(ran)), ["decrypt", "encrypt", "key", "keygen"], "commands")


main()
