"""A headless Chromium loads a page from stock nginx with the module, over X25519MLKEM768."""

import os
import socket
import sys
import threading

from stock import TESTS, Machine, case, check, check_equal, main, need

sys.path.insert(0, str(TESTS / "bench" / "pages"))
import browser  # noqa: E402
import nginx  # noqa: E402


def copy(source, sink):
    """Copies one direction of a connection until its end."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the other side has closed


class Relay:
    """A port of 127.0.0.1 whose connections reach a Unix socket. The browser opens no Unix
    sockets, and the kernel chooses a free port."""

    def __init__(self, path):
        self.path, self.listener = path, socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.path)
            for pair in ((client, server), (server, client)):
                threading.Thread(target=copy, args=pair, daemon=True).start()


def load(p, port):
    """Returns the page's text as the browser shows it."""
    program = browser.find()
    return Machine(p).run(program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                          "--disable-component-update", "--disable-dev-shm-usage", "--ignore-certificate-errors", "--dump-dom",
                          f"--user-data-dir={p.file('profile')}", f"https://127.0.0.1:{port}/", environment=dict(os.environ), timeout=120)


@case
def a_page_over_the_standard_group(p):
    with Machine(p, settings="mlkem = always\n") as machine:
        server = nginx.start(machine, ["X25519MLKEM768"])
        answer = load(p, Relay(p.file("socket")).port)
        check_equal(answer.returncode, 0, answer.text + server.said())
        check("0x11ec" in answer.stdout.decode(), f"the page: {answer.text} {server.said()}")
        check(server.poll() is None, f"nginx ended: {server.said()}")


@case
def no_page_over_a_group_that_browsers_lack(p):
    with Machine(p) as machine:
        server = nginx.start(machine, ["ntru_hps2048509"])
        answer = load(p, Relay(p.file("socket")).port)
        check("ERR_SSL_VERSION_OR_CIPHER_MISMATCH" in answer.text, f"the browser's error page: {answer.text}")
        check(server.poll() is None, f"nginx ended: {server.said()}")


need("openssl", "nginx")
if browser.find() is None and os.environ.get("WARPSEAL_NEEDS_BROWSER") != "1":
    print("NOT RUN: no headless browser")
    sys.exit(77)
main()
