"""What signals, kills and failures of decrypt --tar leave behind, and what later runs remove."""

import os
import resource
import shutil
import signal
import subprocess

from archives import KEY, check_same_tree, small_tree
from program import case, check, check_equal, main, snapshot, wait_until


def stopped(p, number, out):
    """Stops an extraction that waits for its input, after its first files."""
    before = set(os.listdir(p.file(out))) if os.path.isdir(p.file(out)) else set()
    where = p.file(out) if os.path.isdir(p.file(out)) else p.directory
    process = p.start("decrypt", *KEY, "--tar", "--output-dir", out, stdin=subprocess.PIPE)
    sealed = p.read("a.ws")
    process.stdin.write(sealed[:len(sealed) // 2])
    process.stdin.flush()
    temporary = lambda: [name for name in os.listdir(where) if name.startswith(".warpseal-")]
    wait_until(lambda: temporary() and os.path.exists(os.path.join(where, temporary()[0], "in/000")), "a file is unpacked")
    process.send_signal(number)
    process.wait(timeout=60)
    _, err = process.communicate(timeout=60)
    return process.returncode, err.decode(), before, temporary()


@case
def interrupts_leave_nothing(p):
    small_tree(p)
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    os.mkdir(p.file("there"))
    for out in ["new", "there"]:
        for number in [signal.SIGINT, signal.SIGTERM]:
            before = snapshot(p.directory)
            code, err, _, _ = stopped(p, number, out)
            check_equal(code, 128 + number, err)
            check_equal(snapshot(p.directory), before, "the directory after a signal")


@case
def kills_leave_no_final_names(p):
    small_tree(p)
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    os.mkdir(p.file("there"))
    for out in ["there", "new"]:
        code, _, before, left = stopped(p, signal.SIGKILL, out)
        check_equal(code, -signal.SIGKILL, "exit code")
        check_equal(len(left), 1, "temporary directories")
        where = p.file("there") if out == "there" else p.directory
        check(out == "new" or set(os.listdir(where)) == before | set(left), "names after the kill")
        check(out == "there" or not os.path.exists(p.file("new")), "the new directory")
        # A later run removes it, but not at once: it may belong to a run on another machine.
        p.ok("decrypt", *KEY, "--tar", "a.ws", "--output-dir", out, "--force")
        check(left[0] in os.listdir(where), "a young directory was removed")
        shutil.rmtree(p.file("new"), ignore_errors=True)
        os.utime(os.path.join(where, left[0]), (1, 1))
        said = p.ok("decrypt", *KEY, "--tar", "a.ws", "--output-dir", out, "--force")
        check(left[0] in said.err and "a run that was killed left behind" in said.err, said.err)
        check(left[0] not in os.listdir(where), "an old directory was left")
        shutil.rmtree(p.file("new"), ignore_errors=True)


@case
def only_directories_of_its_own_are_removed(p):
    """The name alone is no proof: others may rename in a directory that they may write to."""
    small_tree(p, 2)
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    name = ".warpseal-0123456789abcdef.tmp"
    os.makedirs(p.file("there/" + name), 0o700)
    p.write(f"there/{name}/precious", b"precious")
    os.makedirs(p.file("elsewhere"), 0o1700)
    p.write("elsewhere/precious", b"precious")
    link = ".warpseal-0123456789abcdee.tmp"
    os.symlink("../elsewhere", p.file("there/" + link))
    for path in ["there/" + name, "elsewhere", "there/" + link]:
        os.utime(p.file(path), (1, 1), follow_symlinks=False)
    said = p.ok("decrypt", *KEY, "--tar", "a.ws", "--output-dir", "there")
    check("left behind" not in said.err, said.err)
    check_equal(p.read(f"there/{name}/precious") + p.read("elsewhere/precious"), b"precious" * 2, "content")
    # A new directory has no mark of a temporary one.
    p.ok("decrypt", *KEY, "--tar", "a.ws", "--output-dir", name)
    check_equal(os.stat(p.file(name)).st_mode & 0o7777, 0o700, "mode")
    os.utime(p.file(name), (1, 1))
    p.ok("decrypt", *KEY, "--tar", "a.ws", "--output-dir", "other")
    check_same_tree(p.file(name + "/in"), p.file("in"))


@case
def an_interrupt_leaves_directories_of_others_alone(p):
    """While the program waits for a passphrase, another directory gets the temporary one's name."""
    small_tree(p, 2, 1000)
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    for is_swapped in [False, True]:
        os.makedirs(p.file("mine"), exist_ok=True)
        p.write("mine/precious", b"precious")
        os.mkdir(p.file("there"))
        reading, writing = os.pipe()
        process = p.start("decrypt", "--passphrase-fd", reading, "--tar", "a.ws", "--output-dir", "there", pass_fds=[reading])
        os.close(reading)
        wait_until(lambda: os.listdir(p.file("there")), "the temporary directory is there")
        name = os.path.realpath(p.file("there/" + os.listdir(p.file("there"))[0]))
        descriptors = f"/proc/{process.pid}/fd"
        wait_until(lambda: name in [os.path.realpath(f"{descriptors}/{number}") for number in os.listdir(descriptors)], "the program has opened it")
        if is_swapped:
            os.rename(name, p.file("moved"))
            os.rename(p.file("mine"), name)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        os.close(writing)
        check_equal(process.returncode, 130, "exit code")
        check_equal(os.path.exists(name + "/precious"), is_swapped, "the other directory")
        check_equal(os.path.exists(name), is_swapped, "the name")
        shutil.rmtree(p.file("there"))


@case
def few_descriptors_leave_nothing(p):
    small_tree(p, 2, 1000)
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "a.ws")
    os.mkdir(p.file("there"))
    codes = set()
    for count in range(6, 40):
        before = snapshot(p.directory)
        limit = lambda count=count: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
        result = p.run("decrypt", *KEY, "--tar", "a.ws", "--output-dir", "there/new", preexec_fn=limit)
        codes.add(result.code)
        if result.code == 0:
            shutil.rmtree(p.file("there/new"))
            continue
        check(result.code == 16 and "Too many open files" in result.err, f"{count}: {result.err}")
        check_equal(snapshot(p.directory), before, f"files with {count} descriptors")
    check_equal(codes, {0, 16}, "exit codes")


main()
