#!/usr/bin/env python3
"""An age plugin for tests, in both roles. It XORs file keys with a constant.

PLUGIN_MODE in the environment says how it misbehaves, and PLUGIN_LOG where it appends a line of JSON
about what it was sent.
"""

import base64
import json
import os
import signal
import sys
import time

PAD = bytes(range(16))
MODE = os.environ.get("PLUGIN_MODE", "")
STANZA = "wrapped-by-test"
SHARE = "share-by-test"  # of a file key that takes two of them


def b64(data):
    return base64.b64encode(data).decode().rstrip("=")


def unb64(text):
    return base64.b64decode(text + "=" * (-len(text) % 4))


def xor(data):
    return bytes(a ^ b for a, b in zip(data, PAD))


def read_line():
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        sys.exit("test plugin: the input has ended")
    return line[:-1].decode()


def receive():
    first = read_line()
    assert first.startswith("-> "), first
    body = ""
    while True:
        line = read_line()
        body += line
        if len(line) < 64:
            return first[3:].split(" "), unb64(body)


def write(text):
    sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
    sys.stdout.buffer.flush()


def send(*arguments, body=b""):
    text = b64(body)
    lines = [text[at:at + 64] for at in range(0, len(text) + 1, 64)]
    write("-> " + " ".join(arguments) + "\n" + "\n".join(lines) + "\n")


def call(*arguments, body=b""):
    send(*arguments, body=body)
    return receive()


def log(**what):
    with open(os.environ["PLUGIN_LOG"], "a", encoding="ascii") as file:
        file.write(json.dumps(what) + "\n")


def first_phase():
    received = []
    while True:
        arguments, body = receive()
        if arguments == ["done"]:
            break
        received.append((arguments, body))
    descriptors = [int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
    log(arguments=sys.argv[1:], cwd=os.getcwd(), descriptors=sorted(descriptors), pid=os.getpid(),
        blocked=sorted(int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        received=[[arguments, body.hex()] for arguments, body in received])
    return received


def misbehave_early():
    if MODE == "die":
        print("the card is\n\x1b[31mgone\x1b[0m", file=sys.stderr, flush=True)
        sys.exit(7)
    if MODE == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "hang":
        time.sleep(600)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if MODE == "unread":
        os.close(0)
        time.sleep(600)
    if MODE == "forks" and os.fork() > 0:
        sys.exit(9)
    if MODE == "forks":
        while sys.stdin.buffer.read(1):
            pass
        sys.exit(0)
    if MODE == "garbage":
        write("hello\n\n")
        time.sleep(600)
    if MODE == "half":
        write("-> msg")
        time.sleep(600)
    if MODE == "endless line":
        while True:
            write("-> " + "x" * 65536)
    if MODE == "endless arguments":
        write("-> ")
        while True:
            write("x " * 32768)
    if MODE == "endless errors":
        for _ in range(64):
            sys.stderr.write("e" * 65536)
        sys.exit(1)


def misbehave():
    if MODE == "silent":
        sys.exit(0)
    if MODE == "endless body":
        write("-> msg\n")
        while True:
            write(("A" * 64 + "\n") * 1000)
    if MODE == "bad body":
        write("-> msg\n=\n")
        time.sleep(600)
    if MODE == "endless messages":
        while True:
            call("unknown")
    if MODE == "grease":
        assert call("unknown", "\\", "\"", body=bytes(100))[0] == ["unsupported"]
    if MODE == "error":
        assert call("error", "internal", body=b"no card\x1b[31m here")[0] == ["ok"]
        send("done")
        sys.exit(0)
    if MODE == "error and gone":
        send("error", "internal", body=b"no card here")
        sys.exit(1)
    if MODE == "error index":
        call("error", "identity", "5", body=b"which one")
    if MODE == "dialogue":
        answers = [call("msg", body=b"touch\x07 the key"), call("confirm", b64(b"Go on"), b64(b"Stop"), body=b"Really?"),
                   call("confirm", b64(b"Go on"), body=b"Sure?"), call("request-public", body=b"Name:"), call("request-secret", body=b"PIN:")]
        log(answers=[[arguments, body.decode()] for arguments, body in answers])
    if MODE == "bad question":
        call("confirm", body=b"Really?")


def recipient():
    received = first_phase()
    file_keys = [body for arguments, body in received if arguments[0] == "wrap-file-key"]
    misbehave()
    index = {"index": str(len(file_keys)), "index form": "00", "index sign": "-1", "index long": "9" * 40}.get(MODE)
    if MODE == "labels":
        assert call("labels", "one", "two")[0] == ["ok"]
    if MODE == "post-quantum":
        assert call("labels", "postquantum")[0] == ["ok"]
    if MODE == "labels twice":
        call("labels", "one")
        call("labels", "one")
    if MODE == "label twice":
        call("labels", "one", "one")
    if MODE == "short":
        call("recipient-stanza", "0")
    if MODE == "scrypt":
        call("recipient-stanza", "0", "scrypt", b64(bytes(16)), "18", body=bytes(32))
    if MODE == "x25519":
        call("recipient-stanza", "0", "X25519", "AA", body=bytes(32))
    if MODE == "long stanza":
        call("recipient-stanza", "0", STANZA, body=bytes(7000))
    if MODE == "large stanzas":
        for _ in range(17):
            call("recipient-stanza", "0", STANZA, body=bytes(65000))
    if MODE in ("many stanzas", "most stanzas"):
        for _ in range(1025 if MODE == "many stanzas" else 1023):
            call("recipient-stanza", "0", STANZA)
    if MODE == "threshold":
        for number, file_key in enumerate(file_keys):
            share = os.urandom(16)
            for part in (share, bytes(a ^ b for a, b in zip(file_key, share))):
                assert call("recipient-stanza", str(number), SHARE, body=part)[0] == ["ok"]
    elif MODE != "nothing":
        for number, file_key in enumerate(file_keys):
            answer = call("recipient-stanza", index or str(number), STANZA, body=xor(file_key))
            assert answer[0] == ["ok"], answer
    send("done")


def identity():
    received = first_phase()
    misbehave()
    shares = {}  # by file
    for arguments, body in received:
        if arguments[0] == "recipient-stanza" and arguments[2] == SHARE:
            shares.setdefault(arguments[1], []).append(body)
    for number, (one, other) in ((number, pair) for number, pair in shares.items() if len(pair) == 2):
        assert call("file-key", number, body=bytes(a ^ b for a, b in zip(one, other)))[0] == ["ok"]
    for arguments, body in received:
        if arguments[0] != "recipient-stanza" or arguments[2] != STANZA or MODE == "nothing":
            continue
        key = xor(body)
        if MODE == "key length":
            key += b"x"
        if MODE == "no key":
            key = b""
        if MODE == "wrong key":
            key = PAD
        index = {"index": "1", "index form": "00"}.get(MODE, arguments[1])
        answer = call("file-key", index, body=key)
        if MODE == "twice":
            answer = call("file-key", index, body=key)
        assert answer[0] == ["ok"], answer
    if MODE == "late error":
        call("error", "stanza", "0", "0", body=b"one of two")
    send("done")


misbehave_early()
if sys.argv[1] == "--age-plugin=recipient-v1":
    recipient()
elif sys.argv[1] == "--age-plugin=identity-v1":
    identity()
else:
    sys.exit(f"test plugin: unknown argument {sys.argv[1:]}")
if MODE == "stays":
    time.sleep(600)
