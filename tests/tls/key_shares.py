"""The groups of docs/provider.md, and key shares made without any code of ours: curves by
`cryptography`, NTRU by tests/reference."""

import os
import subprocess

from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

# Bytes of a classical share and of its secret: 32, or those of the curve's field.
CLASSICAL = {"x25519": (32, 32), "p256": (65, 32), "p384": (97, 48), "p521": (133, 66)}
CURVES = {"p256": ec.SECP256R1, "p384": ec.SECP384R1, "p521": ec.SECP521R1}
NTRU_SECRET = 32


class Group:
    """A named group: its number on the wire, the bytes of its share (equal for client and server),
    and its components."""

    def __init__(self, name, code, share_bytes):
        self.name, self.code, self.share_bytes = name, code, share_bytes
        self.classical = name.partition("_")[0] if not name.startswith("ntru_") else None
        self.set = "ntru" + name.rpartition("ntru_")[2]
        self.classical_bytes, self.classical_secret = CLASSICAL[self.classical] if self.classical else (0, 0)
        self.ntru_bytes = share_bytes - self.classical_bytes
        self.secret_bytes = self.classical_secret + NTRU_SECRET


GROUPS = [
    Group("ntru_hps2048509", 0x0214, 699),
    Group("ntru_hps2048677", 0x0215, 930),
    Group("ntru_hps4096821", 0x0216, 1230),
    Group("ntru_hrss701", 0x0217, 1138),
    Group("ntru_hps40961229", 0x0245, 1842),
    Group("ntru_hrss1373", 0x0246, 2401),
    Group("x25519_ntru_hps2048509", 0x2F94, 731),
    Group("p256_ntru_hps2048509", 0x2F14, 764),
    Group("p384_ntru_hps2048677", 0x2F15, 1027),
    Group("p521_ntru_hps4096821", 0x2F16, 1363),
    Group("p384_ntru_hrss701", 0x2F17, 1235),
    Group("p521_ntru_hps40961229", 0x2F45, 1975),
    Group("p521_ntru_hrss1373", 0x2F46, 2534),
    Group("x25519_ntru_hps2048677", 0xFE00, 962),
    Group("x25519_ntru_hps4096821", 0xFE01, 1262),
    Group("x25519_ntru_hps40961229", 0xFE02, 1874),
    Group("x25519_ntru_hrss701", 0xFE03, 1170),
    Group("x25519_ntru_hrss1373", 0xFE04, 2433),
]
X25519 = 0x001D


class Ntru:
    """The program over tests/reference."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.known = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(10)

    def ask(self, *words):
        self.process.stdin.write(" ".join(word.hex() if isinstance(word, bytes) else word for word in words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] == "error":
            raise ValueError(f"{words[0]} {words[1]}: {answer}")
        return answer

    def sizes(self, name):
        if name not in self.known:
            self.known[name] = [int(word) for word in self.ask("sizes", name)]
        return self.known[name]

    def spare_bits(self, name):
        return self.sizes(name)[4]

    def keypair(self, name):
        while True:
            answer = self.ask("keypair", name, os.urandom(self.sizes(name)[2]))
            if answer[0] != "none":
                return bytes.fromhex(answer[0]), bytes.fromhex(answer[1])

    def encapsulate(self, name, public):
        return tuple(bytes.fromhex(word) for word in self.ask("encapsulate", name, os.urandom(self.sizes(name)[3]), public))

    def decapsulate(self, name, ciphertext, secret):
        return bytes.fromhex(self.ask("decapsulate", name, ciphertext, secret)[0])


class Curve:
    """A classical key pair for one exchange."""

    def __init__(self, name):
        self.name = name
        self.private = x25519.X25519PrivateKey.generate() if name == "x25519" else ec.generate_private_key(CURVES[name]())
        form = (Encoding.Raw, PublicFormat.Raw) if name == "x25519" else (Encoding.X962, PublicFormat.UncompressedPoint)
        self.public = self.private.public_key().public_bytes(*form)

    def secret(self, theirs):
        if self.name == "x25519":
            return self.private.exchange(x25519.X25519PublicKey.from_public_bytes(theirs))
        return self.private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVES[self.name](), theirs))


class ClientShare:
    """A client's offer for a group, and its derivation of the secret from the server's share: classical,
    then NTRU, in both."""

    def __init__(self, group, ntru):
        self.group, self.ntru = group, ntru
        self.curve = Curve(group.classical) if group.classical else None
        self.ntru_public, self.ntru_secret = ntru.keypair(group.set)
        self.public = (self.curve.public if self.curve else b"") + self.ntru_public

    def secret(self, theirs):
        point, ciphertext = theirs[: self.group.classical_bytes], theirs[self.group.classical_bytes :]
        return (self.curve.secret(point) if self.curve else b"") + self.ntru.decapsulate(self.group.set, ciphertext, self.ntru_secret)


class CurveShare:
    """A classical group alone, as any stock peer has it."""

    def __init__(self, name="x25519"):
        self.curve = Curve(name)
        self.public, self.secret = self.curve.public, self.curve.secret


def server_share(group, ntru, theirs):
    """Returns the server's share for a client's, and the secret."""
    curve = Curve(group.classical) if group.classical else None
    ciphertext, secret = ntru.encapsulate(group.set, theirs[group.classical_bytes :])
    if curve is None:
        return ciphertext, secret
    return curve.public + ciphertext, curve.secret(theirs[: group.classical_bytes]) + secret
