"""Peers for the raw side: programs over stock libssl with the provider under test, a certificate,
and the end of a test that cannot run."""

import datetime
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

NOT_RUN = 77
try:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
except ImportError:
    print("NOT RUN: no Python package cryptography (scripts/bootstrap)")
    sys.exit(NOT_RUN)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from openssl_configuration import configuration  # noqa: E402


def not_run(reason):
    print(f"NOT RUN: {reason}")
    sys.exit(NOT_RUN)


class Certificate:
    """A self-signed certificate of ECDSA P-256 for localhost, and its files."""

    def __init__(self, directory):
        self.key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(self.key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        self.certificate = builder.sign(self.key, SHA256())
        self.certificate_file, self.key_file = os.path.join(directory, "certificate.pem"), os.path.join(directory, "key.pem")
        pathlib.Path(self.certificate_file).write_bytes(self.certificate.public_bytes(Encoding.PEM))
        pathlib.Path(self.key_file).write_bytes(self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def environment(module, directory):
    """The environment of a program that loads the module beside `default`, by a configuration of
    its own."""
    path = os.path.join(directory, "openssl.cnf")
    pathlib.Path(path).write_text(configuration(module), encoding="ascii")
    env = {**os.environ, "OPENSSL_CONF": path, "LC_ALL": "C"}
    needed = subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout
    sanitizers = re.findall(r"=> (\S*/lib[at]san\.so\S*)", needed)
    if sanitizers:  # these must be loaded before everything else, also in programs without sanitizers
        env |= {"LD_PRELOAD": ":".join(sanitizers), "ASAN_OPTIONS": "detect_leaks=0"}
    return env


def openssl():
    return shutil.which("openssl") or not_run("no program openssl")


def libssl_version():
    return subprocess.run([openssl(), "version"], capture_output=True, text=True, check=True).stdout.strip()


class Process:
    """A program whose output is read line by line, and which is killed when the test leaves its
    context."""

    def __init__(self, arguments, env, **options):
        self.lines, self.heard = [], threading.Condition()
        self.process = subprocess.Popen(arguments, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.process.stdin.close()
        self.process.stdout.close()

    def read(self):
        for line in self.process.stdout:
            with self.heard:
                self.lines.append(line.decode(errors="replace").rstrip("\n"))
                self.heard.notify_all()
        with self.heard:
            self.lines.append(None)
            self.heard.notify_all()

    def line(self, beginning, seconds=20):
        """Waits for the first line with that prefix."""
        def found():
            return next((line for line in self.lines if line is None or line.startswith(beginning)), False)

        with self.heard:
            if not self.heard.wait_for(lambda: found() is not False, seconds) or found() is None:
                raise AssertionError(f"{self.process.args[:2]} did not say {beginning!r}: {self.lines[-12:]}")
            return found()

    def write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def running(self):
        return self.process.poll() is None

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def s_server(certificate, groups, env, *options):
    """Debian's own server, one connection at a time: the process and its port."""
    process = Process([openssl(), "s_server", "-accept", "127.0.0.1:0", "-naccept", "1000000", "-tls1_3", "-groups", groups, "-cert",
                       certificate.certificate_file, "-key", certificate.key_file, *options], env)
    try:
        return process, int(process.line("ACCEPT").rpartition(":")[2])
    except AssertionError:
        process.__exit__()
        raise


def connected(port, deadline):
    return socket.create_connection(("127.0.0.1", port), max(0.001, deadline - time.monotonic()))
