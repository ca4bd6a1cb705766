"""An HTTP proxy before a store that answers some requests with lies."""

from __future__ import annotations

import http.client
import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Answer", "Liar", "Request", "lying"]


@dataclass
class Request:
    method: str
    path: str
    range: str


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    # Closes the connection after so many bytes of the body.
    cut: int | None = None


Lie = Callable[[Request, Answer], Answer]


@dataclass
class Liar:
    port: int
    requests: list[Request] = field(default_factory=list)
    lies: int = 0


@contextmanager
def lying(
    store_port: int, wants: Callable[[Request], bool], lie: Lie, most: int = 10**9
) -> Iterator[Liar]:
    """Serves a proxy. The answers to the first `most` requests that are wanted are lies."""
    about = Liar(0)
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, self.path, self.headers.get("Range") or "")
            with lock:
                about.requests.append(request)
                chosen = wants(request) and about.lies < most
                about.lies += chosen
            store = http.client.HTTPConnection("127.0.0.1", store_port, timeout=30)
            store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                store.putheader(name, value)
            store.endheaders(body)
            got = store.getresponse()
            hop_by_hop = ("transfer-encoding", "connection")
            headers = [pair for pair in got.getheaders() if pair[0].lower() not in hop_by_hop]
            answer = Answer(got.status, headers, got.read())
            store.close()
            self.reply(lie(request, answer) if chosen else answer)

        def reply(self, answer: Answer) -> None:
            self.send_response_only(answer.status)
            length = len(answer.body)
            for name, value in answer.headers:
                if name.lower() == "content-length":
                    length = int(value) if self.command == "HEAD" else length
                else:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body[: answer.cut])
            if answer.cut is not None:
                self.close_connection = True

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = serve

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    about.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield about
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
