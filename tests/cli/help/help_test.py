"""What is made from the program's options: `help`, the man pages, and completions for shells."""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program import NotRun, case, check, check_equal, main

COMPANIONS = {"bench", "tls-bench", "kem bench"}


def commands_of(p, *words):
    """Returns the path of each command below, as --help lists them."""
    shown = p.ok(*words, "--help").out.decode().partition("Subcommands:\n")[2]
    found = []
    for name in re.findall(r"^  ([a-z-]+) ", shown.partition("\n\n")[0], re.MULTILINE):
        path = (*words, name)
        found += [path, *(commands_of(p, *path) if " ".join(path) not in COMPANIONS else [])]
    return found


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))


def options_of(p, command):
    """Returns the options that --help lists in its left column."""
    lines = p.ok(*command, "--help").out.decode().splitlines()
    return options_in(" ".join(re.split(r"\s{2,}", line[2:])[0] for line in lines if re.match(r"  -", line)))


def needs(tool):
    path = shutil.which(tool)
    if not path:
        raise NotRun(f"{tool} is not here")
    return path


def share(p):
    p.ok("help", "--share", "share")
    return p.file("share")


def runs(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ, LC_ALL="C.UTF-8"), **options)
    check_equal(done.returncode, 0, f"exit code of {command}: {done.stderr}")
    return done


@case
def help_shows_a_command(p):
    commands = commands_of(p)
    check(("key", "add") in commands and ("raw", "decrypt") in commands and ("help",) in commands, f"{commands}")
    for command in commands:
        if " ".join(command) not in COMPANIONS and command != ("help",):
            check_equal(p.ok("help", *command).out, p.ok(*command, "--help").out, f"help {command}")
    check_equal(p.ok("help").out, p.ok("--help").out, "help alone")
    p.fails(2, "Did you mean 'encrypt'?", "help", "encrpyt")
    p.fails(2, "no command 'more'", "help", "encrypt", "more")
    p.fails(2, "--bogus", "help", "--bogus")
    p.fails(2, "more", "help", "--completion", "bash", "more")
    p.fails(2, "--completion", "help", "--completion", "csh")


@case
def help_of_a_companion_is_its_own(p):
    if not os.path.exists(os.path.join(os.path.dirname(p.path), "warpseal-bench")):
        raise NotRun("warpseal-bench is not beside the program")
    check("--against" in p.ok("help", "bench").out.decode(), "help bench")


@case
def every_command_has_a_man_page_with_its_options(p):
    folder = os.path.join(share(p), "man", "man1")
    commands = commands_of(p)
    wanted = {"warpseal.1"} | {"-".join(("warpseal", *command)) + ".1" for command in commands}
    check_equal(set(os.listdir(folder)), wanted, "pages")
    for command in commands:
        if " ".join(command) in COMPANIONS:
            continue
        with open(os.path.join(folder, "-".join(("warpseal", *command)) + ".1"), encoding="ascii") as page:
            text = page.read().replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
        missing = options_of(p, command) - options_in(text)
        check(not missing, f"the page of {command} lacks {missing}")
        # --quiet is an option of all.
        check("--quiet" in text or command == ("help",), f"--quiet on the page of {command}")
    with open(os.path.join(folder, "warpseal.1"), encoding="ascii") as page:
        check("wrong key file or passphrase" in page.read(), "exit codes")


@case
def man_pages_are_shown_without_warnings(p):
    man = needs("man")
    for page in glob.glob(os.path.join(share(p), "man", "man1", "*")):
        done = runs(man, "-l", "--warnings", page)
        check_equal(done.stderr, "", page)
        check("NAME\n" in done.stdout and "EXIT STATUS" in done.stdout, done.stdout)
    # Terminals without UTF-8 show everything too.
    done = subprocess.run([man, "-l", "--warnings", os.path.join(p.file("share"), "man", "man1", "warpseal-encrypt.1")],
                          capture_output=True, text=True, check=False, env=dict(os.environ, LC_ALL="C"))
    check(done.stderr == "" and "age1..." in done.stdout, done.stderr)


@case
def man_pages_pass_mandoc(p):
    mandoc = needs("mandoc")
    for page in glob.glob(os.path.join(share(p), "man", "man1", "*")):
        done = subprocess.run([mandoc, "-Tlint", "-W", "warning", page], capture_output=True, text=True, check=False)
        found = [line for line in done.stdout.splitlines() if "missing date" not in line]
        check_equal(found, [], page)


def bash_completes(p, *words):
    """Returns what bash offers for the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _warpseal warpseal "${@: -1}" "${@: -2:1}"; printf "%s\\n" "${COMPREPLY[@]}"'
    # Without a terminal there is no completion whose options compopt could change.
    # The words do not depend on the user's IFS.
    script = "compopt() { :; }; IFS=:; " + script
    done = runs(needs("bash"), "--norc", "-c", script, "bash", p.file("share/bash-completion/completions/warpseal"), "warpseal", *words)
    check_equal(done.stderr, "", f"bash says for {words}")
    return set(done.stdout.split())


@case
def bash_completes_everything(p):
    share(p)
    check_equal(bash_completes(p, ""), {command[0] for command in commands_of(p) if len(command) == 1}, "commands")
    check_equal(bash_completes(p, "de"), {"decrypt", "devices"} & bash_completes(p, "") , "commands with de")
    for command in commands_of(p):
        if " ".join(command) not in COMPANIONS and command != ("help",):
            offered = {word for word in bash_completes(p, *command, "--") if word.startswith("--")}
            check_equal(offered - {"--quiet"}, options_of(p, command), f"options of {command}")
    check_equal(bash_completes(p, "key", ""), {"list", "add", "remove", "passwd", "rotate"}, "commands of key")
    check_equal(bash_completes(p, "help", "key", "a"), {"add"}, "commands to explain")
    check_equal(bash_completes(p, "encrypt", "-c", "ar"), {"aria-256-gcm"}, "ciphers of files")
    check({"aes-256-ctr", "aes-256-cfb128", "aes-256-xts"} < bash_completes(p, "raw", "encrypt", "-c", "aes-256-"), "cipher and mode")
    check({"auto", "cpu", "cuda", "cuda:0", "portable"} <= bash_completes(p, "verify", "--device", ""), "devices")
    check_equal(bash_completes(p, "encrypt", "--progress", "=", "js"), {"json"}, "after =")
    check("x25519" in bash_completes(p, "kem", "keygen", "--set", ""), "sets")
    for files in (["encrypt", ""], ["encrypt", "-k", ""], ["encrypt", "-k", "list", ""], ["encrypt", "--threads", ""], ["decrypt", "--", "-"]):
        check_equal(bash_completes(p, *files), set(), f"files are left to bash: {files}")


@case
def bash_takes_file_names_elsewhere(p):
    """Through readline, as at a prompt."""
    share(p)
    p.write("unique-name", b"")
    typed = f"source {p.file('share/bash-completion/completions/warpseal')}\nPS1=; bind 'set bell-style none'\nwarpseal() {{ echo \"got $*.\"; }}\nwarpseal enc\t-k uniq\t\nexit\n"
    ours, theirs = os.openpty()
    process = subprocess.Popen([needs("bash"), "--norc", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=p.directory,
                               start_new_session=True, env=dict(os.environ, TERM="dumb", HISTFILE="/dev/null"))
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    try:
        while data := os.read(ours, 4096):
            shown += data
    except OSError:
        pass
    process.wait(60)
    check(b"got encrypt -k unique-name" in shown, shown.decode())


@case
def zsh_reads_its_completions(p):
    runs(needs("zsh"), "-n", os.path.join(share(p), "zsh", "site-functions", "_warpseal"))


@case
def fish_completes(p):
    fish, script = needs("fish"), os.path.join(share(p), "fish", "vendor_completions.d", "warpseal.fish")
    runs(fish, "-n", script)

    def offers(line):
        done = runs(fish, "--no-config", "-c", f"source {script}; complete -C '{line}'", cwd=p.directory)
        return {offered.split("\t")[0] for offered in done.stdout.splitlines()}

    check_equal(offers("warpseal key r"), {"remove", "rotate"}, "commands of key")
    check_equal(offers("warpseal encrypt -c ar"), {"aria-256-gcm"}, "ciphers")
    check("--new-key-command" in offers("warpseal key add --new"), "options")
    check("--new-key" not in offers("warpseal key list --n"), "options of another command")


@case
def both_ways_to_a_script_agree(p):
    folder = share(p)
    for shell, name in [("bash", "bash-completion/completions/warpseal"), ("zsh", "zsh/site-functions/_warpseal"), ("fish", "fish/vendor_completions.d/warpseal.fish")]:
        check_equal(p.ok("help", "--completion", shell).out, p.read(os.path.join("share", name)), shell)
    check(not glob.glob(os.path.join(folder, "**", "*.tmp"), recursive=True), "no temporary files")


main()
