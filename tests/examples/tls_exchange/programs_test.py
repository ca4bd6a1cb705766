"""`tls-exchange serve` and `connect`: data in both directions, and clients that lie, hurry,
delay or eavesdrop (docs/tls-exchange.md)."""

import contextlib
import os
import random
import re
import select
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli"))
from program import case, check, check_equal, main, some_bytes  # noqa: E402

SETS = {"ntruhps2048509": 699, "ntruhps2048677": 930, "ntruhps4096821": 1230, "ntruhps40961229": 1842, "ntruhrss701": 1138, "ntruhrss1373": 2401}
SMALL = "ntruhps2048509"
PROTOCOL = "warpseal-exchange/1"
HELLO, KEY, CIPHERTEXT, CONFIRMATION, RECORD, LAST, REFUSAL = range(1, 8)
FAILED, BUSY, NO_COMMON_SET = 1, 2, 3


def frame(kind, number, body):
    return b"WSX\x01" + bytes([kind, number]) + len(body).to_bytes(2, "big") + body


def certificate(p):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
                   cwd=p.directory, check=True, capture_output=True)


class Server:
    def __init__(self, p, *options):
        certificate(p)
        self.process = p.start("serve", "--cert", "cert.pem", "--key", "key.pem", "--listen", "127.0.0.1:0",
                               *(() if "--set" in options else ("--set", SMALL)), *options)
        self.port = int(self.process.stdout.readline().split(b":")[-1])
        self.counts = {}

    def address(self):
        return f"127.0.0.1:{self.port}"

    def end(self):
        self.process.terminate()
        out, err = self.process.communicate(timeout=120)
        check_equal(self.process.returncode, 0, f"exit code of the server ({err.decode()})")
        for name, value in re.findall(r"([a-z ]+) ([0-9.]+)", out.decode()):
            self.counts[name.strip()] = float(value)


@contextlib.contextmanager
def server(p, *options):
    one = Server(p, *options)
    try:
        yield one
        one.end()
    finally:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def connect(p, one, *more, data=b"data", **options):
    return p.ok("connect", one.address(), "--ca", "cert.pem", "--set", SMALL, *more, input=data, **options).out


def tls(p, one, alpn=PROTOCOL):
    context = ssl.create_default_context(cafile=p.file("cert.pem"))
    if alpn:
        context.set_alpn_protocols([alpn])
    return context.wrap_socket(socket.create_connection(("127.0.0.1", one.port), timeout=10), server_hostname="localhost")


def read_frame(connection):
    """Returns None if the connection ended."""
    data = b""
    while len(data) < 8 or len(data) < 8 + int.from_bytes(data[6:8], "big"):
        try:
            more = connection.recv(1 if len(data) < 8 else 8 + int.from_bytes(data[6:8], "big") - len(data))
        except (ConnectionError, ssl.SSLError):
            return None
        if not more:
            return None
        data += more
    return data[4], data[5], data[8:]


def key_of(connection):
    connection.sendall(frame(HELLO, 0, bytes([1])))
    kind, number, body = read_frame(connection)
    check_equal((kind, number, len(body)), (KEY, 1, SETS[SMALL]), "the server's key")
    return body


@case
def data_is_echoed_in_every_set(p):
    for name in SETS:
        with server(p, "--set", name) as one:
            for size in (0, 1, 16384, 1_000_000) if name == SMALL else (1000,):
                data = some_bytes(size)
                out = p.ok("connect", one.address(), "--ca", "cert.pem", *[o for s in SETS for o in ("--set", s)], input=data).out
                check_equal(out == data, True, f"{size} bytes in {name}")


def waits_for_its_batch(p, options, delay):
    """Sends one signal after `delay` seconds. If the server has not ended within half a second, sends
    a second one, and returns whether that ended it. Returns false if the first one did, which is
    right between batches."""
    with server(p, *options) as one:
        time.sleep(delay)
        one.process.terminate()
        one.end = lambda: None
        try:
            check_equal(one.process.wait(timeout=0.5), 0, "exit code after one signal")
        except subprocess.TimeoutExpired:
            one.process.terminate()
            return one.process.wait(timeout=20) == 143
        return False


@case
def a_stop_waits_for_the_batch_of_keys(p):
    """These keys take longer than the grace period of other commands. A second signal ends it."""
    busy = ("--set", "ntruhrss701", "--device", "portable", "--pairs", 16384)
    with server(p, *busy):
        pass
    delays = [tenths / 10 for tenths in range(20)]  # the first batch may begin late
    check(any(waits_for_its_batch(p, busy, delay) for delay in delays),
          "one signal lets a batch end, and a second one does not")


@case
def an_untrusted_server_gets_no_data(p):
    with server(p) as one:
        check("certificate" in p.run("connect", one.address(), input=b"x").err, "an unknown certificate is reported")
        result = p.run("connect", one.address(), "--ca", "cert.pem", "--name", "example.org", input=b"x")
        check_equal((result.code, result.out), (16, b""), "a certificate of another name")
    check_equal(one.counts["exchanges"], 0, "exchanges")


@case
def invalid_files_have_their_exit_code(p):
    """docs/exit-codes.md: checked before any connection or measurement."""
    certificate(p)
    os.mkdir(p.file("folder"))
    serve = {"--cert": "cert.pem", "--key": "key.pem", "--listen": "127.0.0.1:0"}
    for option, value, code, words in [("--set", "bogus", 15, "ntruhps2048509"), ("--cert", "absent.pem", 10, "absent.pem: No such file"),
                                       ("--key", "absent.pem", 10, "absent.pem: No such file"), ("--key", "folder", 16, "folder: Is a directory"),
                                       ("--listen", "127.0.0.1:99999", 2, "99999"), ("--listen", "127.0.0.1:-1", 2, "-1"),
                                       ("--listen", "127.0.0.1:65536", 2, "65535"), ("--listen", "127.0.0.1: 1", 2, "no port")]:
        p.fails(code, words, "serve", *[word for pair in {**serve, option: value}.items() for word in pair])
    nobody = "127.0.0.1:1"
    p.fails(15, "ntruhps2048509", "connect", nobody, "--set", "bogus")
    p.fails(10, "absent.pem: No such file", "connect", nobody, "--ca", "absent.pem")
    p.fails(2, "65535", "connect", "127.0.0.1:65537")


@case
def clients_without_the_exchange_are_refused_by_tls(p):
    with server(p) as one:
        for alpn in (None, "h2"):
            try:
                connection = tls(p, one, alpn)
                connection.settimeout(10)
                answer = connection.recv(1)
            except (ssl.SSLError, ConnectionError):
                answer = b""
            check_equal(answer, b"", f"an answer to {alpn}")
        check_equal(connect(p, one), b"data", "the server continues")


@case
def invalid_frames_are_refused_at_once(p):
    rng = random.Random(1)
    hello, size = frame(HELLO, 0, b"\x01"), SETS[SMALL] + 32
    lies = [b"GET / HTTP/1.1\r\n\r\n", b"WSX\x02" + hello[4:], frame(HELLO, 0, b""), frame(HELLO, 1, b"\x01"), frame(HELLO, 0, bytes(256)),
            frame(9, 0, b"x"), frame(RECORD, 0, bytes(40)), frame(CONFIRMATION, 0, bytes(32)), b"WSX\x01\x01\x00\xff\xff",
            hello + frame(HELLO, 0, b"\x01"), hello + frame(CIPHERTEXT, 1, bytes(size - 1)), hello + frame(CIPHERTEXT, 1, bytes(size + 1)),
            hello + frame(CIPHERTEXT, 2, bytes(size)), hello + frame(CIPHERTEXT, 1, bytes(size)), hello + frame(RECORD, 0, bytes(16)),
            hello + frame(CIPHERTEXT, 1, rng.randbytes(size)) + frame(LAST, 0, bytes(16))]
    lies += [rng.randbytes(rng.randrange(8, 3000)) for _ in range(100)]
    lies += [hello + frame(CIPHERTEXT, 1, rng.randbytes(size)) for _ in range(50)]
    with server(p) as one:
        for lie in lies:
            with tls(p, one) as connection:
                start = time.monotonic()
                connection.sendall(lie)
                answer = read_frame(connection)
                if answer and answer[0] == KEY:
                    answer = read_frame(connection)
                check_equal(answer, (REFUSAL, 0, bytes([FAILED])), f"the answer to {lie[:20]!r}")
                check(time.monotonic() - start < 5, f"{lie[:20]!r} takes long")
        with tls(p, one) as connection:
            connection.sendall(frame(HELLO, 0, bytes([2, 6])))
            check_equal(read_frame(connection), (REFUSAL, 0, bytes([NO_COMMON_SET])), "the answer to other sets")
        check_equal(connect(p, one), b"data", "the server continues")
    check_equal((one.counts["exchanges"], one.counts["refused"]), (1, len(lies) + 1), "exchanges and refusals")


def relay(p, one, listening, heard):
    """Has the server's own key, so that TLS does not detect it, and relays everything."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(p.file("cert.pem"), p.file("key.pem"))
    context.set_alpn_protocols([PROTOCOL])
    with context.wrap_socket(listening.accept()[0], server_side=True) as client, tls(p, one) as further:
        ends = {client: further, further: client}
        while True:
            for end in [end for end in ends if end.pending()] or select.select(list(ends), [], [], 10)[0]:
                try:
                    data = end.recv(65536)
                except (ssl.SSLError, ConnectionError):
                    return
                if not data:
                    return
                if end is client:
                    heard.append(data)
                ends[end].sendall(data)


@case
def a_man_in_the_middle_is_detected_and_learns_nothing(p):
    with server(p) as one, socket.create_server(("127.0.0.1", 0)) as listening:
        heard = []
        thread = threading.Thread(target=relay, args=(p, one, listening, heard))
        thread.start()
        result = p.run("connect", f"127.0.0.1:{listening.getsockname()[1]}", "--ca", "cert.pem", "--set", SMALL, input=b"secret")
        thread.join()
        check_equal((result.code, result.out), (1, b""), f"through a relay ({result.err})")
        check("exchange" in result.err, f"the client says why: {result.err}")
        said = b"".join(heard)
        check_equal(said[:9], frame(HELLO, 0, b"\x01"), "data seen by the relay")
        check_equal((said[13], len(said)), (CIPHERTEXT, 9 + 8 + SETS[SMALL] + 32), "the next data seen by the relay")
        with tls(p, one) as connection:
            connection.sendall(said[:9])
            read_frame(connection)
            connection.sendall(said[9:])
            check_equal(read_frame(connection), (REFUSAL, 0, bytes([FAILED])), "the answer to a replay")
        check_equal(connect(p, one), b"data", "the server continues")
    check_equal((one.counts["exchanges"], one.counts["refused"]), (1, 2), "exchanges and refusals")


@case
def only_slow_clients_are_disconnected(p):
    pairs = 64
    with server(p, "--timeout", 6, "--pairs", pairs, "--max-clients", 2000) as one:
        silent = [socket.create_connection(("127.0.0.1", one.port)) for _ in range(1000)]  # not even TLS
        check_equal(connect(p, one), b"data", "next to a thousand silent clients")
        dawdling = [tls(p, one) for _ in range(pairs)]
        keys = {key_of(connection) for connection in dawdling}
        check_equal(len(keys), pairs, "different keys")
        with tls(p, one) as late:
            late.sendall(frame(HELLO, 0, b"\x01"))
            check_equal(read_frame(late), (REFUSAL, 0, bytes([BUSY])), "the answer when all key pairs are in use")
        with tls(p, one) as dripping:
            start = time.monotonic()
            with contextlib.suppress(ssl.SSLError, ConnectionError):
                for byte in frame(HELLO, 0, bytes([1] * 200)):
                    dripping.sendall(bytes([byte]))
                    time.sleep(0.05)
                    check(time.monotonic() - start < 20, "a client that sends a byte now and then is served for long")
        for connection in dawdling + silent:
            connection.settimeout(20)
            with contextlib.suppress(ssl.SSLError, ConnectionError):
                check_equal(connection.recv(1), b"", "the last data sent to a slow client")
            connection.close()
        check_equal(connect(p, one), b"data", "after the slots are free again")
    check_equal(one.counts["exchanges"], 2, "exchanges")
    check(one.counts["timed out"] >= 1000 + pairs, f"timed out: {one.counts}")


@case
def a_thousand_clients_are_decapsulated_together(p):
    clients = 1000
    with server(p, "--max-delay-us", 200_000, "--timeout", 60) as one:
        done = subprocess.run([os.environ["WARPSEAL_MANY_CLIENTS"], one.address(), p.file("cert.pem"), str(clients)],
                              capture_output=True, text=True, timeout=120, check=False)
        check_equal(done.returncode, 0, f"the clients ({done.stderr})")
    check_equal((one.counts["exchanges"], one.counts["refused"], one.counts["failed"]), (clients, 0, 0), "exchanges")
    mean = float(one.counts["secrets"] / one.counts["secret batches"])
    print(f"{clients} clients, batches of {mean:.1f} ciphertexts on average, {one.counts['largest batch']:.0f} at most")
    check(mean >= 64, f"batches of {mean}")


if __name__ == "__main__":
    main()
