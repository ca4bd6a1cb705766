"""Invalid key shares of many kinds, and the rule for a valid one."""

import os

from cryptography.hazmat.primitives.asymmetric import ec

from key_shares import CURVES, X25519, Curve
from tls13 import client_hello

UNKNOWN = 0x0A0A  # reserved (RFC 8701): no server knows it
FIELD = {"x25519": 2**255 - 19, "p256": 2**256 - 2**224 + 2**192 + 2**96 - 1, "p384": 2**384 - 2**128 - 2**96 + 2**32 - 1, "p521": 2**521 - 1}
# u of the points of order 1, 2, 4 and 8 on the curve and its twist.
LOW_ORDER = (0, 1, FIELD["x25519"] - 1, 0xB8495F16056286FDB1329CEB8D09DA6AC49FF1FAE35616AEB8413B7C7AEBE0,
             0x57119FD0DD4E22D8868E1C58C45C44045BEF839C55B1D0B1248C50A3BC959C5F)
REFUSED, ACCEPTED, ANSWERED = "refused", "accepted", "answered"


class Case:
    """A ClientHello, its error, and how a server must end it. second: a ClientHello for after a
    HelloRetryRequest."""

    def __init__(self, group, what, hello, wanted, second=None):
        self.group, self.what, self.hello, self.wanted, self.second = group, what, hello, wanted, second


class Samples:
    """Valid shares of a group: any polynomial is a public key, so its bytes are random except the
    spare bits."""

    def __init__(self, group, ntru):
        self.group, self.spare = group, ntru.spare_bits(group.set)
        self.point = Curve(group.classical).public if group.classical else b""

    def polynomial(self):
        text = bytearray(os.urandom(self.group.ntru_bytes))
        text[-1] &= 0xFF >> self.spare
        return bytes(text)

    def share(self):
        return self.point + self.polynomial()

    def right(self, share):
        if len(share) != self.group.share_bytes or share[-1] >> (8 - self.spare):
            return False
        return right_point(self.group.classical, share[: self.group.classical_bytes])


def right_point(curve, point):
    if curve is None:
        return True
    if curve == "x25519":
        return (int.from_bytes(point, "little") & (2**255 - 1)) % FIELD[curve] not in LOW_ORDER
    if point[0] != 4:  # RFC 8446, 4.2.8.2: uncompressed, nothing else
        return False
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(CURVES[curve](), point)
    except ValueError:
        return False
    return True


def lengths(samples):
    """Every wrong length: a prefix of a valid share, and random excess bytes."""
    size = samples.group.share_bytes
    text = samples.share() + os.urandom(64)
    for length in range(size + 65):
        if length != size:
            yield f"{length} bytes", text[:length]


def random_shares(samples, count=48):
    for _ in range(count):
        yield "random", os.urandom(samples.group.share_bytes)


def spare_bits(samples):
    for bits in range(1, 1 << samples.spare):
        share = bytearray(samples.share())
        share[-1] |= bits << (8 - samples.spare)
        yield f"spare bits {bits:#x}", bytes(share)


def halves(samples):
    """Hybrids: halves swapped or zero; pure groups: all zeros and all ones."""
    group, polynomial = samples.group, samples.polynomial()
    yield "all zero", bytes(group.share_bytes)
    yield "all ones", b"\xff" * group.share_bytes
    if group.classical:
        yield "halves swapped", polynomial + samples.point
        yield "classical half zero", bytes(group.classical_bytes) + polynomial
        yield "NTRU half zero", samples.point + bytes(group.ntru_bytes)
        yield "classical half twice", (samples.point * (group.share_bytes // len(samples.point) + 1))[: group.share_bytes]
        yield "NTRU half alone, filled up", polynomial + bytes(group.classical_bytes)


def points(samples):
    """Classical halves of low order, off the curve, not reduced, or in another encoding."""
    curve = samples.group.classical
    if curve == "x25519":
        for u in LOW_ORDER:
            for value in (u, u + FIELD[curve], u | 1 << 255):
                if value < 1 << 256:
                    yield f"point of low order {value:#x}", value.to_bytes(32, "little") + samples.polynomial()
    elif curve:
        point, size = samples.point, (len(samples.point) - 1) // 2
        x, y = int.from_bytes(point[1 : size + 1], "big"), int.from_bytes(point[size + 1 :], "big")
        for what, form, a, b in [("y + 1", 4, x, y + 1), ("x + 1", 4, x + 1, y), ("x and y changed about", 4, y, x), ("x not reduced", 4, x + FIELD[curve], y),
                                 ("y not reduced", 4, x, y + FIELD[curve]), ("largest x", 4, FIELD[curve] - 1, y), ("infinity", 0, 0, 0),
                                 *((f"form {form}", form, x, y) for form in (0, 1, 2, 3, 5, 6, 7, 255))]:
            if max(a, b) < 1 << 8 * size:
                yield what, bytes([form]) + a.to_bytes(size, "big") + b.to_bytes(size, "big") + samples.polynomial()


def single_shares(samples):
    """Returns (what, share) of all the above."""
    for kind in (lengths, random_shares, spare_bits, halves, points):
        yield from kind(samples)


def wanted(samples, share):
    return ACCEPTED if samples.right(share) else REFUSED


def hellos(samples):
    """Cases of one group, for a server that has all groups and X25519."""
    group = samples.group
    code = group.code
    for what, share in single_shares(samples):
        yield Case(group, what, client_hello([(code, share)]), wanted(samples, share))
    right, wrong, stock = samples.share(), samples.share()[:-1], Curve("x25519").public
    yield Case(group, "right", client_hello([(code, right)]), ACCEPTED)
    yield Case(group, "of a group not said to be supported", client_hello([(code, right)], [X25519]), REFUSED)
    yield Case(group, "under a number nobody knows", client_hello([(UNKNOWN, right)]), REFUSED)
    yield Case(group, "beside one nobody knows", client_hello([(UNKNOWN, right), (code, right)]), ACCEPTED)
    for first, second in [(right, right), (right, wrong), (wrong, right), (wrong, wrong)]:
        yield Case(group, "twice", client_hello([(code, first), (code, second)]), ANSWERED)
        yield Case(group, "before X25519", client_hello([(code, first), (X25519, stock)]), ANSWERED)
        yield Case(group, "after X25519", client_hello([(X25519, stock), (code, first)]), ANSWERED)
    yield from retries(samples)


def retries(samples):
    """The client has no share of the group at first; the server requests one, and gets this."""
    group = samples.group
    size = group.share_bytes
    text = samples.share() + os.urandom(64)
    some = {0, 1, group.classical_bytes, group.ntru_bytes, *range(size - 8, size + 9), size + 64, *range(16, size, size // 16)}
    shares = [(f"{length} bytes after a retry", text[:length]) for length in sorted(some)]
    shares += [(what + " after a retry", share) for kind in (spare_bits, halves, points) for what, share in kind(samples)]
    for what, share in shares:
        yield Case(group, what, client_hello([], [group.code]), wanted(samples, share), client_hello([(group.code, share)]))
    other = client_hello([(X25519, Curve("x25519").public)], [group.code, X25519])
    yield Case(group, "another group after a retry", client_hello([], [group.code]), REFUSED, other)
    yield Case(group, "none after a retry", client_hello([], [group.code]), REFUSED, client_hello([], [group.code]))
