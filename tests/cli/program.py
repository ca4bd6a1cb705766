"""The runner of the command-line tests: cases in fresh directories, and the checks common to every
failure of the program.

Each *_test.py is run as `python3 NAME_test.py PROGRAM`. A case is a function marked @case; it
passes if it returns. The last line counts passed, failed and NOT RUN cases. The exit code is 1 if
one failed or none passed.
"""

import hashlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback

CASES = []

# nohup and background jobs of scripts ignore these; the programs under test must not inherit that.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def case(function):
    CASES.append(function)
    return function


class NotRun(Exception):
    """This machine cannot run the case; the text says why. Never counted as passed."""


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err.decode(errors="replace")


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def check_equal(got, wanted, what):
    check(got == wanted, f"{what}: got {got!r}, wanted {wanted!r}")


def digest(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except PermissionError:  # not readable for the tests either
        return "unreadable"


def snapshot(directory):
    """Returns the name, mode and content of every file under a directory, which a failing command
    must not change."""
    seen = {}
    for root, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(root, name)
            about = os.lstat(path)
            content = None
            if stat.S_ISREG(about.st_mode):
                content = digest(path)
            elif stat.S_ISLNK(about.st_mode):
                content = os.readlink(path)
            seen[os.path.relpath(path, directory)] = (about.st_mode, content)
    return seen


def wait_until(condition, what):
    end = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < end, f"timed out waiting until {what}")
        time.sleep(0.005)


def wait_until_signals_are_watched(process):
    """Before anything else the program blocks the signals that its watcher thread waits for."""
    def blocked():
        with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as status:
            mask = next(line for line in status if line.startswith("SigBlk:"))
        return int(mask.split()[1], 16) >> (signal.SIGTERM - 1) & 1

    wait_until(blocked, "the program watches for signals")


def sees_into_programs():
    """Returns true if this process can inspect one that is not dumpable, as the program is. It
    needs CAP_SYS_PTRACE, which root in a container may lack."""
    with open("/proc/self/status", encoding="ascii") as status:
        capabilities = next(line for line in status if line.startswith("CapEff:"))
    return int(capabilities.split()[1], 16) >> 19 & 1


def wait_until_output_is_open(process, directory):
    """Waits until an unnamed file in the directory is open, which follows the checks of the output.
    Not every process can list the program's open files, but all can see its one locked file."""
    def locked_something():
        with open("/proc/locks", encoding="ascii") as locks:
            return any(line.split()[1] == "FLOCK" and line.split()[4] == str(process.pid) for line in locks)

    def open_unnamed():
        if not sees_into_programs():
            return locked_something()
        for descriptor in os.listdir(f"/proc/{process.pid}/fd"):
            try:
                if os.readlink(f"/proc/{process.pid}/fd/{descriptor}").startswith(os.path.realpath(directory) + "/#"):
                    return True
            except FileNotFoundError:
                pass
        return False

    wait_until(open_unnamed, "the output is open")


class Program:
    """The program under test, with a directory of its own."""

    def __init__(self, path, directory):
        self.path, self.directory = path, directory

    def file(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content, mode=0o644):
        with open(self.file(name), "wb") as file:
            file.write(content)
        os.chmod(self.file(name), mode)
        return self.file(name)

    def read(self, name):
        with open(self.file(name), "rb") as file:
            return file.read()

    def key(self, name="key", size=32):
        self.write(name, os.urandom(size), 0o600)
        return name

    def start(self, *arguments, **options):
        """Runs without a controlling terminal, so that it cannot prompt the person who runs the
        tests."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("cwd", self.directory)
        options.setdefault("start_new_session", True)
        return subprocess.Popen([self.path, *map(str, arguments)], **options)

    def run(self, *arguments, input=None, timeout=120, **options):
        if input is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(*arguments, **options)
        try:
            out, err = process.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError(f"{arguments} did not end within {timeout} s")
        return Result(process.returncode, out, err or b"")

    def ok(self, *arguments, **options):
        result = self.run(*arguments, **options)
        check_equal(result.code, 0, f"exit code of {arguments} ({result.err.strip()})")
        return result

    def fails(self, code, words, *arguments, **options):
        """Checks that the program exits with this code, prints these words on one line of stderr,
        and leaves the directory unchanged."""
        before = snapshot(self.directory)
        result = self.run(*arguments, **options)
        check_equal(result.code, code, f"exit code of {arguments} ({result.err.strip()})")
        said = [line for line in result.err.splitlines() if line.startswith("warpseal: ")]
        check(said, f"{arguments} prints nothing on stderr: {result.err!r}")
        for word in [words] if isinstance(words, str) else words:
            check(word in said[-1], f"{arguments}: no {word!r} in {said[-1]!r}")
        check_equal(snapshot(self.directory), before, f"the directory after {arguments}")
        return result

    def sealed(self, content, name="sealed", key="key"):
        """Makes a sealed file of that content, with a new key file unless there is one."""
        if not os.path.exists(self.file(key)):
            self.key(key)
        self.ok("-q", "encrypt", "-k", key, "-o", name, input=content)
        return name


# Python 3.12 draws less than 2^31 bits at once.
MOST_RANDOM_BYTES = 128 << 20


def some_bytes(count, seed=1):
    generator = random.Random(seed)
    steps = range(0, count, MOST_RANDOM_BYTES)
    return b"".join(generator.randbytes(min(MOST_RANDOM_BYTES, count - at)) for at in steps)


def main():
    program = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    passed, failed, not_run = 0, 0, 0
    for function in CASES:
        if wanted and function.__name__ not in wanted:
            continue
        directory = tempfile.mkdtemp(prefix="warpseal-cli-")
        try:
            function(Program(program, directory))
            passed += 1
        except NotRun as reason:
            not_run += 1
            print(f"NOT RUN {function.__name__}: {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {function.__name__}\n{traceback.format_exc()}", flush=True)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    print(f"{os.path.basename(sys.argv[0])}: {passed} passed, {failed} failed, {not_run} NOT RUN")
    sys.exit(1 if failed or not passed else 0)
