"""A pseudo-terminal for programs that ask for a passphrase."""

import fcntl
import os
import select
import termios
import time

from program import check


class Terminal:
    """The program on its own controlling terminal."""

    def __init__(self, p, *arguments, **options):
        self.ours, theirs = os.openpty()

        def take_terminal():
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        self.process = p.start(*arguments, preexec_fn=take_terminal, pass_fds=[theirs], **options)
        self.theirs = theirs
        self.shown = ""

    def wait_for(self, text, count=1):
        end = time.monotonic() + 30
        while self.shown.count(text) < count:
            check(time.monotonic() < end, f"no {text!r} on the terminal: {self.shown!r}")
            if select.select([self.ours], [], [], 0.1)[0]:
                self.shown += os.read(self.ours, 4096).decode()

    def echo(self):
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)

    def suspends(self):
        """Returns true if a key of the terminal suspends the program."""
        return termios.tcgetattr(self.theirs)[6][termios.VSUSP] != b"\0"

    def type(self, text):
        check(not self.echo(), "the terminal echoes")
        check(not self.suspends(), "Ctrl-Z would leave the terminal without echo")
        os.write(self.ours, text.encode())

    def end(self):
        out, err = self.process.communicate(timeout=60)
        check(self.echo(), "the terminal is left without echo")
        check(self.suspends(), "the terminal is left without Ctrl-Z")
        while select.select([self.ours], [], [], 0)[0]:
            self.shown += os.read(self.ours, 4096).decode()
        os.close(self.ours)
        os.close(self.theirs)
        return self.process.returncode, out, err.decode()
