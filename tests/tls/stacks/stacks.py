"""Foreign TLS stacks in the chroot of scripts/debian-13, and a relay that reads which group a
server chose."""

import os
import pathlib
import socket
import subprocess
import sys
import threading

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "tests" / "tls"))
import peers  # noqa: E402
import tls13  # noqa: E402

SECONDS = 60
# draft-ietf-tls-ecdhe-mlkem and draft-ietf-tls-mlkem.
GROUPS = {"X25519MLKEM768": 0x11EC, "SecP256r1MLKEM768": 0x11EB, "SecP384r1MLKEM1024": 0x11ED, "MLKEM512": 0x0200, "MLKEM768": 0x0201,
          "MLKEM1024": 0x0202}


def in_chroot(shared, *command):
    """The arguments that run a command in the chroot, where the folder `shared` is visible."""
    chroot = os.environ.get("WARPSEAL_DEBIAN_13") or str(TREE / "build" / "debian-13")
    return [str(TREE / "scripts" / "debian-13"), "--in", chroot, "--share", str(shared), "--run", *command]


def need_chroot(shared):
    """Ends the test as not run if there is no chroot. WARPSEAL_NEEDS_DEBIAN_13 demands one."""
    tried = subprocess.run(in_chroot(shared, "openssl", "version"), capture_output=True, text=True, check=False)
    if tried.returncode == peers.NOT_RUN and os.environ.get("WARPSEAL_NEEDS_DEBIAN_13") != "1":
        peers.not_run(f"no Debian 13: {tried.stderr.strip().rpartition('NOT RUN: ')[2]}")
    if tried.returncode != 0:
        sys.exit(f"FAILED: {tried.stderr.strip()}\n0 passed, 1 failed")
    return tried.stdout.strip()


def require(condition, text):
    if not condition:
        raise AssertionError(text)


class Relay:
    """Passes one connection on to a server, and reads the ServerHello on the way."""

    def __init__(self, target):
        self.target, self.answer = target, b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(SECONDS)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.pass_on, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.thread.join(SECONDS)

    def pass_on(self):
        try:
            client, _ = self.listener.accept()
            with client, socket.create_connection(("127.0.0.1", self.target), SECONDS) as server:
                back = threading.Thread(target=self.copy, args=(server, client, True), daemon=True)
                back.start()
                self.copy(client, server, False)
                back.join(SECONDS)
        except OSError:
            pass  # the test notices that its data does not arrive

    def copy(self, source, sink, is_answer):
        try:
            while block := source.recv(1 << 16):
                if is_answer and len(self.answer) < 1 << 14:
                    self.answer += block
                sink.sendall(block)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def group(self):
        """The group of the server's first message, which must not ask for another hello."""
        reader = tls13.Reader(self.answer)
        require(reader.number(1) == tls13.HANDSHAKE, "the server's first record is no handshake")
        reader.take(2)
        message = tls13.Reader(reader.vector(2))
        require(message.number(1) == tls13.SERVER_HELLO, "the server's first message is no ServerHello")
        hello = tls13.Hello(message.vector(3), of_client=False)
        require(not hello.retry, "a HelloRetryRequest")
        return hello.group


class Programs:
    """openssl's server and client: this machine's with the module, or the chroot's without it."""

    def __init__(self, folder, certificate, env):
        self.folder, self.certificate, self.env = folder, certificate, env

    def command(self, ours, *arguments):
        if ours:
            return [peers.openssl(), *arguments], self.env
        return in_chroot(self.folder, "openssl", *arguments), dict(os.environ)

    def server(self, ours, groups):
        """A process that returns each line reversed, and its port."""
        command, env = self.command(ours, "s_server", "-accept", "127.0.0.1:0", "-tls1_3", "-groups", groups, "-cert", self.certificate.certificate_file,
                                    "-key", self.certificate.key_file, "-rev")
        process = peers.Process(command, env)
        try:
            return process, int(process.line("ACCEPT", SECONDS).rpartition(":")[2])
        except AssertionError:
            process.__exit__()
            raise

    def client(self, ours, groups, port):
        command, env = self.command(ours, "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-groups", groups, "-CAfile",
                                    self.certificate.certificate_file, "-verify_return_error", "-verify_hostname", "localhost", "-quiet")
        return peers.Process(command, env)


def exchange(client, port, group, says=b"lines both ways\n", hears="syaw htob senil"):
    """client(port) starts a client. Its line must come back as the server's answer, over `group`."""
    with Relay(port) as relay, client(relay.port) as process:
        process.write(says)
        process.line(hears, SECONDS)
        require(relay.group() == group, f"the group {relay.group():#06x}, not {group:#06x}")

