"""TLS 1.3 (RFC 8446) over a socket, both sides, with any key share: TLS_AES_128_GCM_SHA256,
certificates of ECDSA P-256, no resumption."""

import hashlib
import hmac
import os
import struct
import time

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
CLIENT_HELLO, SERVER_HELLO, ENCRYPTED_EXTENSIONS, CERTIFICATE, CERTIFICATE_VERIFY, FINISHED = 1, 2, 8, 11, 15, 20
SUPPORTED_GROUPS, SIGNATURES, VERSIONS, KEY_SHARE = 10, 13, 43, 51
TLS_AES_128_GCM_SHA256, ECDSA_P256_SHA256 = 0x1301, 0x0403
RETRY_RANDOM = hashlib.sha256(b"HelloRetryRequest").digest()
ALERTS = {0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 40: "handshake_failure", 47: "illegal_parameter", 50: "decode_error",
          51: "decrypt_error", 70: "protocol_version", 80: "internal_error", 109: "missing_extension"}


class Alerted(Exception):
    """The peer sent an alert."""

    def __init__(self, description):
        super().__init__(ALERTS.get(description, str(description)))
        self.description = description


class Ended(Exception):
    """The peer closed without an alert."""


class Wrong(Exception):
    """The peer violated TLS 1.3."""


def require(condition, text):
    if not condition:
        raise Wrong(text)


def vector(length_bytes, content):
    return len(content).to_bytes(length_bytes, "big") + content


def message(kind, body):
    return bytes([kind]) + vector(3, body)


def extension(kind, body):
    return struct.pack(">H", kind) + vector(2, body)


def record(kind, payload):
    return bytes([kind, 3, 3]) + vector(2, payload)


def client_hello(shares, groups=None):
    """shares: (number, bytes) pairs, in the order of the offer; groups: the numbers of the
    supported groups."""
    groups = [code for code, _ in shares] if groups is None else groups
    extensions = (
        extension(VERSIONS, vector(1, b"\x03\x04"))
        + extension(SUPPORTED_GROUPS, vector(2, b"".join(struct.pack(">H", code) for code in groups)))
        + extension(SIGNATURES, vector(2, struct.pack(">H", ECDSA_P256_SHA256)))
        + extension(KEY_SHARE, vector(2, b"".join(struct.pack(">H", code) + vector(2, share) for code, share in shares)))
    )
    body = b"\x03\x03" + os.urandom(32) + vector(1, b"") + vector(2, struct.pack(">H", TLS_AES_128_GCM_SHA256)) + vector(1, b"\0")
    return message(CLIENT_HELLO, body + vector(2, extensions))


class Reader:
    def __init__(self, content):
        self.content, self.at = content, 0

    def take(self, count):
        require(self.at + count <= len(self.content), "a message ends too soon")
        self.at += count
        return self.content[self.at - count : self.at]

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def vector(self, length_bytes):
        return self.take(self.number(length_bytes))

    def more(self):
        return self.at < len(self.content)

    def extensions(self):
        inner, found = Reader(self.vector(2)), {}
        while inner.more():
            kind = inner.number(2)
            require(kind not in found, f"extension {kind} twice")
            found[kind] = inner.vector(2)
        return found


class Hello:
    """A parsed ClientHello or ServerHello."""

    def __init__(self, body, of_client):
        reader = Reader(body)
        require(reader.number(2) == 0x0303, "legacy version")
        self.random = reader.take(32)
        self.session = reader.vector(1)
        self.suites = reader.vector(2) if of_client else reader.take(2)
        reader.vector(1) if of_client else reader.take(1)
        self.extensions = reader.extensions()
        self.retry = self.random == RETRY_RANDOM
        shares = Reader(self.extensions.get(KEY_SHARE, b"\0\0"))
        if of_client:
            shares = Reader(shares.vector(2))
            self.shares = []
            while shares.more():
                self.shares.append((shares.number(2), shares.vector(2)))
        else:
            self.group = shares.number(2)
            self.share = shares.vector(2) if not self.retry else b""


def expand(secret, label, context, count):
    info = struct.pack(">H", count) + vector(1, b"tls13 " + label) + vector(1, context)
    out = block = b""
    for i in range(1, -(-count // 32) + 1):
        block = hmac.digest(secret, block + info + bytes([i]), "sha256")
        out += block
    return out[:count]


class Keys:
    """One direction's traffic keys."""

    def __init__(self, secret):
        self.secret, self.count = secret, 0
        self.aead, self.iv = AESGCM(expand(secret, b"key", b"", 16)), expand(secret, b"iv", b"", 12)

    def nonce(self):
        self.count += 1
        return (int.from_bytes(self.iv, "big") ^ (self.count - 1)).to_bytes(12, "big")

    def seal(self, kind, payload):
        head = bytes([DATA, 3, 3]) + struct.pack(">H", len(payload) + 17)
        return head + self.aead.encrypt(self.nonce(), payload + bytes([kind]), head)

    def open(self, payload):
        head = bytes([DATA, 3, 3]) + struct.pack(">H", len(payload))
        inner = self.aead.decrypt(self.nonce(), payload, head).rstrip(b"\0")
        require(inner, "a record without a type")
        return inner[-1], inner[:-1]

    def finished(self, transcript):
        return hmac.digest(expand(self.secret, b"finished", b"", 32), transcript, "sha256")


class Connection:
    """Records, messages and the key schedule. Every wait ends at `deadline`, of time.monotonic()."""

    def __init__(self, sock, deadline):
        self.socket, self.deadline = sock, deadline
        self.pending, self.messages, self.transcript = b"", b"", hashlib.sha256()
        self.reads = self.writes = None

    def wait_at_most(self):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the peer said nothing in time")
        self.socket.settimeout(left)

    def bytes_of(self, count):
        while len(self.pending) < count:
            self.wait_at_most()
            try:
                got = self.socket.recv(65536)
            except ConnectionResetError as reset:
                raise Ended("reset") from reset
            if not got:
                raise Ended("closed")
            self.pending += got
        taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    def receive(self):
        """Returns the next record that is not a ChangeCipherSpec: its kind and payload."""
        while True:
            head = self.bytes_of(5)
            kind, payload = head[0], self.bytes_of(int.from_bytes(head[3:], "big"))
            if kind == DATA and self.reads:
                kind, payload = self.reads.open(payload)
            if kind == ALERT:
                raise Alerted(payload[1])
            if kind != CHANGE_CIPHER_SPEC:
                return kind, payload

    def send(self, kind, payload):
        self.wait_at_most()
        self.socket.sendall(self.writes.seal(kind, payload) if self.writes else record(kind, payload))

    def say(self, text):
        """Sends a handshake message and adds it to the transcript."""
        self.transcript.update(text)
        self.send(HANDSHAKE, text)

    def hear(self, wanted):
        """Returns the body of the next handshake message, which must be of that kind, and the
        transcript's hash before it."""
        while len(self.messages) < 4 or len(self.messages) < 4 + int.from_bytes(self.messages[1:4], "big"):
            kind, payload = self.receive()
            require(kind == HANDSHAKE, f"record of type {kind} within the handshake")
            self.messages += payload
        end = 4 + int.from_bytes(self.messages[1:4], "big")
        text, self.messages = self.messages[:end], self.messages[end:]
        require(text[0] == wanted, f"handshake message {text[0]}, wanted {wanted}")
        before = self.transcript.copy().digest()
        self.transcript.update(text)
        return text[4:], before

    def traffic(self, secret, label):
        return Keys(expand(secret, label, self.transcript.digest(), 32))

    def share_secret(self, shared, is_client):
        """After ServerHello: sets both directions' keys for the handshake."""
        early = hmac.digest(bytes(32), bytes(32), "sha256")
        self.handshake = hmac.digest(expand(early, b"derived", hashlib.sha256().digest(), 32), shared, "sha256")
        client, server = self.traffic(self.handshake, b"c hs traffic"), self.traffic(self.handshake, b"s hs traffic")
        self.reads, self.writes = (server, client) if is_client else (client, server)

    def application_keys(self):
        """After the server's Finished: returns both directions' keys for data, which the caller
        installs in its turn."""
        master = hmac.digest(expand(self.handshake, b"derived", hashlib.sha256().digest(), 32), bytes(32), "sha256")
        return self.traffic(master, b"c ap traffic"), self.traffic(master, b"s ap traffic")

    def send_data(self, data):
        self.send(DATA, data)

    def receive_data(self, count):
        """Returns at least that many bytes; session tickets in between are skipped."""
        got = b""
        while len(got) < count:
            kind, payload = self.receive()
            got += payload if kind == DATA else b""
        return got


def signed_text(side, transcript):
    return b" " * 64 + b"TLS 1.3, " + side + b" CertificateVerify\0" + transcript


class Client:
    """A full handshake. offers: (number, share) pairs; after a HelloRetryRequest `retry(number)`
    gives the requested share."""

    def __init__(self, sock, offers, deadline, groups=None, retry=None):
        self.connection = connection = Connection(sock, deadline)
        groups = [code for code, _ in offers] if groups is None else groups
        hello = self.greet(offers, groups)
        self.retried = hello.retry
        if hello.retry:
            require(hello.group in groups and retry, "an unrequested retry")
            offers = [(hello.group, retry(hello.group))]
            hello = self.greet(offers, groups)
            require(not hello.retry, "a second retry")
        require(hello.group in dict(offers), "a group that was not offered")
        self.group, self.server_share = hello.group, hello.share
        self.secret = dict(offers)[hello.group].secret(hello.share)
        connection.share_secret(self.secret, is_client=True)
        self.verify_server()
        client, server = connection.application_keys()
        connection.say(message(FINISHED, connection.writes.finished(connection.transcript.digest())))
        connection.reads, connection.writes = server, client

    def greet(self, offers, groups):
        connection = self.connection
        connection.say(client_hello([(code, share.public) for code, share in offers], groups))
        alone = connection.transcript.copy()
        body, _ = connection.hear(SERVER_HELLO)
        hello = Hello(body, of_client=False)
        require(hello.suites == struct.pack(">H", TLS_AES_128_GCM_SHA256), "another cipher suite")
        require(hello.extensions.get(VERSIONS) == b"\x03\x04", "another version")
        if hello.retry:
            connection.transcript = hashlib.sha256(message(254, alone.digest()) + message(SERVER_HELLO, body))
        return hello

    def verify_server(self):
        connection = self.connection
        connection.hear(ENCRYPTED_EXTENSIONS)
        reader = Reader(connection.hear(CERTIFICATE)[0])
        reader.vector(1)
        self.certificate = x509.load_der_x509_certificate(Reader(reader.vector(3)).vector(3))
        body, transcript = connection.hear(CERTIFICATE_VERIFY)
        reader = Reader(body)
        require(reader.number(2) == ECDSA_P256_SHA256, "another signature")
        try:
            self.certificate.public_key().verify(reader.vector(2), signed_text(b"server", transcript), ec.ECDSA(SHA256()))
        except InvalidSignature as wrong:
            raise Wrong("the server's signature") from wrong
        body, transcript = connection.hear(FINISHED)
        require(hmac.compare_digest(body, connection.reads.finished(transcript)), "the server's Finished")


class Server:
    """The server's side. respond(number, share) gives the server's share and the secret."""

    def __init__(self, sock, group, respond, certificate, key, deadline):
        self.connection = connection = Connection(sock, deadline)
        body, _ = connection.hear(CLIENT_HELLO)
        hello = Hello(body, of_client=True)
        require(group in dict(hello.shares), f"no share of group {group:#06x}")
        self.client_share = dict(hello.shares)[group]
        share, self.secret = respond(self.client_share)
        connection.say(server_hello(hello, group, share))
        connection.share_secret(self.secret, is_client=False)
        connection.say(message(ENCRYPTED_EXTENSIONS, vector(2, b"")))
        chain = vector(3, certificate.public_bytes(Encoding.DER)) + vector(2, b"")
        connection.say(message(CERTIFICATE, vector(1, b"") + vector(3, chain)))
        signature = key.sign(signed_text(b"server", connection.transcript.digest()), ec.ECDSA(SHA256()))
        connection.say(message(CERTIFICATE_VERIFY, struct.pack(">H", ECDSA_P256_SHA256) + vector(2, signature)))
        connection.say(message(FINISHED, connection.writes.finished(connection.transcript.digest())))
        client, server = connection.application_keys()
        body, transcript = connection.hear(FINISHED)
        require(hmac.compare_digest(body, connection.reads.finished(transcript)), "the client's Finished")
        connection.reads, connection.writes = client, server


def server_hello(hello, group, share):
    """Returns the answer to a ClientHello."""
    extensions = extension(VERSIONS, b"\x03\x04") + extension(KEY_SHARE, struct.pack(">H", group) + vector(2, share))
    body = b"\x03\x03" + os.urandom(32) + vector(1, hello.session) + struct.pack(">H", TLS_AES_128_GCM_SHA256) + b"\0" + vector(2, extensions)
    return message(SERVER_HELLO, body)
