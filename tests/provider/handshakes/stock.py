"""Stock programs over libssl with the module under test, as users run them: each in a directory of
its own, on loopback alone.

Scripts here run as `python3 NAME_test.py MODULE`; cases and their count are those of
tests/cli/program.py.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "cli"), str(TESTS / "support")]
from openssl_configuration import configuration  # noqa: E402
from program import case, check, check_equal, main, wait_until  # noqa: E402,F401

# Name: number in TLS, bytes of a share. OQS's numbers; X25519 hybrids without one use numbers from
# 0xFE00.
GROUPS = {
    "ntru_hps2048509": (0x0214, 699), "ntru_hps2048677": (0x0215, 930), "ntru_hps4096821": (0x0216, 1230),
    "ntru_hps40961229": (0x0245, 1842), "ntru_hrss701": (0x0217, 1138), "ntru_hrss1373": (0x0246, 2401),
    "x25519_ntru_hps2048509": (0x2F94, 731), "x25519_ntru_hps2048677": (0xFE00, 962), "x25519_ntru_hps4096821": (0xFE01, 1262),
    "x25519_ntru_hps40961229": (0xFE02, 1874), "x25519_ntru_hrss701": (0xFE03, 1170), "x25519_ntru_hrss1373": (0xFE04, 2433),
    "p256_ntru_hps2048509": (0x2F14, 764), "p384_ntru_hps2048677": (0x2F15, 1027), "p521_ntru_hps4096821": (0x2F16, 1363),
    "p384_ntru_hrss701": (0x2F17, 1235), "p521_ntru_hps40961229": (0x2F45, 1975), "p521_ntru_hrss1373": (0x2F46, 2534),
}
REQUEST = "[req]\ndistinguished_name = name\n[name]\n"  # of `openssl req`


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def need(*programs):
    """Ends a script whose programs this machine lacks."""
    for program in programs:
        if find(program) is None:
            print(f"NOT RUN: {program} is not installed")
            sys.exit(77)


class Machine:
    """Programs in one directory, with the module by openssl.cnf or without it."""

    def __init__(self, p, settings="", properties=""):
        self.p, self.module = p, p.path
        text = configuration(self.module, settings, properties).rstrip("\n") + "\n" + REQUEST
        p.write("openssl.cnf", text.encode())
        p.write("plain.cnf", b"[req]\ndistinguished_name = name\n[name]\n")
        self.started = []
        self.with_module = {**os.environ, "OPENSSL_CONF": p.file("openssl.cnf"), "LC_ALL": "C"}
        self.without = {**os.environ, "OPENSSL_CONF": p.file("plain.cnf"), "LC_ALL": "C"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdin.close()

    def run(self, program, *arguments, environment=None, input=b"", timeout=20):
        done = subprocess.run([find(program), *map(str, arguments)], input=input, capture_output=True, timeout=timeout, cwd=self.p.directory,
                              env=self.with_module if environment is None else environment)
        done.text = (done.stdout + done.stderr).decode(errors="replace")
        return done

    def ok(self, program, *arguments, **options):
        done = self.run(program, *arguments, **options)
        check_equal(done.returncode, 0, f"exit code of {program} {arguments}: {done.text.strip()[-1500:]}")
        return done

    def start(self, program, *arguments, environment=None):
        """Starts a server in a process group of its own; its output goes to a file."""
        name = self.p.file(f"said{len(self.started)}")
        with open(name, "wb") as said:
            process = subprocess.Popen([find(program), *map(str, arguments)], stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT,
                                       cwd=self.p.directory, env=self.with_module if environment is None else environment,
                                       start_new_session=True)
        self.started.append(process)
        process.said = lambda: pathlib.Path(name).read_text(errors="replace")
        return process

    def certificate(self):
        self.ok("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem", "-out",
                "certificate.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", 2, environment=self.without)

    def s_server(self, groups, *more, environment=None):
        """Returns its port, once it listens."""
        server = self.start("openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "certificate.pem", "-key", "key.pem", "-tls1_3",
                            "-groups", ":".join(groups), *more, environment=environment)
        port = re.compile(r"ACCEPT 127\.0\.0\.1:(\d+)")
        wait_until(lambda: port.search(server.said()) or server.poll() is not None, "s_server listens")
        found = port.search(server.said())
        check(found, f"s_server ended: {server.said()}")
        server.port = int(found.group(1))
        return server

    def s_client(self, port, groups, *more, environment=None, input=b"Q\n"):
        return self.run("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", "certificate.pem", "-verify_return_error",
                        "-verify_hostname", "localhost", "-groups", ":".join(groups), *more, environment=environment, input=input)


def shares(trace):
    """Returns (number, bytes) of each share in the output of -trace, in order."""
    return [(int(number), int(length)) for number, length in re.findall(r"NamedGroup: [^(]*\((\d+)\)\s+key_exchange:\s+\(len=(\d+)\)", trace)]
