"""Plugins of age that tests start."""

import os


def running_plugins(p):
    """Processes of plugins in this directory."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                if p.file("plugins").encode() in file.read():
                    found.append(int(number))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found
