"""`warpseal bench`, `kem bench` and `tls-bench` run the program warpseal-bench in their place."""

import os
import shutil
import signal

from program import case, check, check_equal, main

COMPANION = """#!/bin/sh
for argument in "$@"; do echo "<$argument>"; done
[ "$1" = wait ] && exec sleep 60
exit 42
"""


def alone(p):
    """Uses a copy of the program without companions."""
    os.makedirs(p.file("bin"))
    shutil.copy(p.path, p.file("bin/warpseal"))
    p.path = p.file("bin/warpseal")


@case
def arguments_and_exit_code_are_passed_on(p):
    alone(p)
    p.write("bin/warpseal-bench", COMPANION.encode(), 0o755)
    for command, first in ((["bench"], []), (["kem", "bench"], ["kem"]), (["tls-bench"], ["tls"])):
        for arguments in ([], ["--help"], ["-q"], ["aes-128-ctr", "--json", "a file"], ["papers", "P4"], ["--size=1MiB", "--", "-x"]):
            result = p.run(*command, *arguments)
            check_equal((result.code, result.out.decode().split("\n")[:-1]), (42, [f"<{a}>" for a in first + arguments]), f"{command} {arguments}")
        result = p.run("--quiet", *command, "x")
        check_equal(result.out.decode().split("\n")[:-1], [f"<{a}>" for a in ["--quiet", *first, "x"]], f"{command} --quiet")


@case
def a_signal_ends_it(p):
    alone(p)
    p.write("bin/warpseal-bench", COMPANION.encode(), 0o755)
    process = p.start("bench", "wait")
    check_equal(process.stdout.readline(), b"<wait>\n", "it runs")
    process.kill()
    process.communicate(timeout=20)
    check_equal(process.returncode, -signal.SIGKILL, "exit code")


@case
def without_the_companion_there_is_a_next_step(p):
    alone(p)
    for command in (["bench"], ["kem", "bench"], ["tls-bench"]):
        p.fails(15, ["warpseal-bench", "cmake --install"], *command)
    os.makedirs(p.file("libexec/warpseal"))
    p.write("libexec/warpseal/warpseal-bench", COMPANION.encode(), 0o755)
    check_equal(p.run("bench").code, 42, "where it is installed")
    os.chmod(p.file("libexec/warpseal/warpseal-bench"), 0o644)
    if os.geteuid() != 0:
        p.fails(1, "cannot run", "bench")


@case
def the_product_has_no_measurements(p):
    """Its own commands do not depend on the companion."""
    alone(p)
    check("warpseal-bench" not in p.ok("list").out.decode(), "list")
    p.key()
    p.ok("encrypt", "-k", "key", "key", "-o", "sealed")


main()
