"""A headless browser without a network, driven over a pair of pipes (the DevTools protocol), and
the content of its pictures."""

import base64
import fcntl
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import zlib

# Chromium under the names of its packages. Ubuntu's `chromium-browser` is a transitional package
# whose program does not start.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "google-chrome",
    "google-chrome-stable",
    "chrome-headless-shell",
    "chromium-browser",
)


def find():
    """Returns the path of a browser that starts, or None."""
    for name in filter(None, (os.environ.get("WARPSEAL_BROWSER"), *NAMES)):
        path = shutil.which(name)
        if (
            path
            and subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
        ):
            return path
    return None


class Browser:
    """Opens one page at a time. `events` has all browser events since the page was opened."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="warpseal-browser-")
        command_read, self.commands = os.pipe()
        self.answers, answer_write = os.pipe()

        def place():  # the browser reads descriptor 3 and writes descriptor 4
            read, write = (
                fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (command_read, answer_write)
            )
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-dev-shm-usage",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={self.profile}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=place,
            close_fds=True,
            pass_fds=(3, 4),
            start_new_session=True,
        )
        os.close(command_read)
        os.close(answer_write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Network", "Runtime", "Log", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=-1,
            uploadThroughput=-1,
        )

    def close(self):
        os.close(self.commands)
        os.close(self.answers)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise AssertionError("the browser ended")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        request = {
            "id": self.number,
            "method": method,
            "params": parameters,
            **({"sessionId": self.session} if self.session else {}),
        }
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data) :]
        while True:
            got = self.message()
            if got.get("id") == self.number:
                if "error" in got:
                    raise AssertionError(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)

    def open(self, path, width, dark=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            media="",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.events.clear()
        self.call("Page.navigate", url="file://" + path)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())
        self.run("document.fonts.ready.then(() => 0)")

    def run(self, script):
        got = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in got:
            raise AssertionError(f"{script}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def told(self, *methods):
        return [event["params"] for event in self.events if event["method"] in methods]

    def picture(self, scale=1):
        """Returns the whole page as PNG."""
        width, height = self.run(
            "[document.documentElement.clientWidth, document.documentElement.scrollHeight]"
        )
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        return base64.b64decode(
            self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        )


def colours(png):
    """Counts each colour in a PNG of 8 bits a channel: {(red, green, blue): count}."""
    at, data, header = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", png[at + 8 : at + 8 + length])
        if kind == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    width, height, depth, kind, _, _, interlaced = header
    assert (depth, interlaced) == (8, 0) and kind in (2, 6), header
    channels = 3 if kind == 2 else 4
    lines, stride, before, counts = (
        zlib.decompress(data),
        width * channels,
        bytearray(width * channels),
        {},
    )
    for y in range(height):
        filter_type, line = lines[y * (stride + 1)], bytearray(
            lines[y * (stride + 1) + 1 : (y + 1) * (stride + 1)]
        )
        for i in range(stride if filter_type else 0):
            left, up = line[i - channels] if i >= channels else 0, before[i]
            corner = before[i - channels] if i >= channels else 0
            if filter_type == 4:
                guess = left + up - corner
                nearest = min(
                    (abs(guess - left), 0, left),
                    (abs(guess - up), 1, up),
                    (abs(guess - corner), 2, corner),
                )
                line[i] = line[i] + nearest[2] & 255
            else:
                line[i] = line[i] + (0, left, up, (left + up) // 2)[filter_type] & 255
        before = line
        for x in range(0, stride, channels):
            colour = tuple(line[x : x + 3])
            counts[colour] = counts.get(colour, 0) + 1
    return counts
