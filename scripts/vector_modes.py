"""The modes of tests/vectors in Python, over the encryption of one block. For scripts/vectors."""


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def blocks(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]


class Modes:
    """`key` gives a function that encrypts one block of `size` bytes under a key."""

    def __init__(self, key, size):
        self.key, self.size = key, size

    def ecb(self, key, pt):
        encrypt = self.key(key)
        return b"".join(encrypt(block) for block in blocks(pt, self.size))

    def cbc(self, key, iv, pt):
        encrypt, out = self.key(key), []
        for block in blocks(pt, self.size):
            iv = encrypt(xor(iv, block))
            out.append(iv)
        return b"".join(out)

    def cfb(self, key, iv, pt):
        encrypt, out = self.key(key), []
        for block in blocks(pt, self.size):
            iv = xor(encrypt(iv), block)
            out.append(iv)
        return b"".join(out)

    def ofb(self, key, iv, pt):
        encrypt, out = self.key(key), []
        for block in blocks(pt, self.size):
            iv = encrypt(iv)
            out.append(xor(iv, block))
        return b"".join(out)

    def ctr(self, key, iv, pt):
        encrypt, counter, out = self.key(key), int.from_bytes(iv, "big"), []
        for i, block in enumerate(blocks(pt, self.size)):
            number = (counter + i) % (1 << (8 * self.size))
            out.append(xor(encrypt(number.to_bytes(self.size, "big")), block))
        return b"".join(out)

    def cmac(self, key, pt):  # SP 800-38B
        encrypt, bits = self.key(key), 8 * self.size
        subkey = int.from_bytes(encrypt(bytes(self.size)), "big")
        whole = pt != b"" and len(pt) % self.size == 0
        for _ in range(1 if whole else 2):
            subkey = subkey << 1 ^ (subkey >> (bits - 1)) * (0x87 if self.size == 16 else 0x1B)
            subkey %= 1 << bits
        if not whole:
            pt += b"\x80" + bytes(-(len(pt) + 1) % self.size)
        last = xor(pt[-self.size :], subkey.to_bytes(self.size, "big"))
        return self.cbc(key, bytes(self.size), pt[: -self.size] + last)[-self.size :]

    def xts(self, keys, iv, pt):  # IEEE 1619: one data unit
        half = len(keys) // 2
        encrypt, tweak = self.key(keys[:half]), int.from_bytes(self.key(keys[half:])(iv), "little")
        out = []

        def one(block, tweak):
            mask = tweak.to_bytes(16, "little")
            return xor(encrypt(xor(block, mask)), mask)

        for block in blocks(pt, 16):
            if len(block) < 16:  # steals the end of the block before
                out[-1], block = one(block + out[-1][len(block) :], tweak), out[-1][: len(block)]
                out.append(block)
                break
            out.append(one(block, tweak))
            tweak = (tweak << 1 ^ (tweak >> 127) * 0x87) % (1 << 128)
        return b"".join(out)

    def gcm(self, key, iv, aad, pt):  # SP 800-38D; the tag has 16 bytes
        encrypt = self.key(key)
        h = int.from_bytes(encrypt(bytes(16)), "big")

        def ghash(*texts):
            y = 0
            for text in texts:
                for block in blocks(text, 16):
                    x, y = y ^ int.from_bytes(block.ljust(16, b"\0"), "big"), 0
                    v = h
                    for i in range(127, -1, -1):
                        y ^= v * (x >> i & 1)
                        v = v >> 1 ^ (v & 1) * (0xE1 << 120)
            return y.to_bytes(16, "big")

        def lengths(a, b):
            return (8 * len(a)).to_bytes(8, "big") + (8 * len(b)).to_bytes(8, "big")

        counter = iv + b"\0\0\0\1" if len(iv) == 12 else ghash(iv, lengths(b"", iv))
        ct, number = b"", int.from_bytes(counter[12:], "big")
        for i, block in enumerate(blocks(pt, 16), 1):
            low = (number + i) % (1 << 32)
            ct += xor(encrypt(counter[:12] + low.to_bytes(4, "big")), block)
        return ct, xor(encrypt(counter), ghash(aad, ct, lengths(aad, ct)))

    def ccm(self, key, iv, aad, pt, tag_bytes):  # SP 800-38C
        width = 15 - len(iv)
        flags = 64 * (aad != b"") + 8 * (tag_bytes // 2 - 1) + width - 1
        mac = bytes([flags]) + iv + len(pt).to_bytes(width, "big")
        if aad:
            aad = len(aad).to_bytes(2, "big") + aad
            mac += aad + bytes(-len(aad) % 16)
        mac += pt + bytes(-len(pt) % 16)
        tag = self.cbc(key, bytes(16), mac)[-16:]
        stream = self.ctr(key, bytes([width - 1]) + iv + bytes(width), bytes(16) + pt)
        return stream[16:], xor(tag, stream[:16])[:tag_bytes]
