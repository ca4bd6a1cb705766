"""Runs the commands of docs/shards.md, and reads the formats that it describes."""

import hashlib
import hmac
import os
import shlex
import struct

from kit import FRONT, PART_HEAD, TESTS, TEXT, planned, seal_all

from program import NotRun, case, check_equal, main, some_bytes

PAGE = (TESTS.parent / "docs/shards.md").read_text(encoding="utf-8")


@case
def every_command_works(p):
    content = some_bytes(20 * TEXT + 3)
    p.write("film", content)
    p.key("my.key")
    block = PAGE[PAGE.index("    warpseal encrypt"):PAGE.index("The machines share")]
    commands = [shlex.split(line.partition("#")[0]) for line in block.splitlines() if line.startswith("    warpseal")]
    check_equal(len(commands), 4, "commands")
    for number in range(2, 8):  # those that the page leaves out
        commands.insert(-2, [f"{number}/8" if word == "1/8" else word for word in commands[1]])
    for command in commands:
        p.ok("-q", *command[1:])
    check_equal(p.ok("-q", "decrypt", "-k", "my.key", "film.ws").out, content, "the film")


def expand(key, info, count):
    out, block = b"", b""
    for counter in range(1, count // 64 + 2):
        block = hmac.new(key, block + info + bytes([counter]), hashlib.sha512).digest()
        out += block
    return out[:count]


@case
def plans_and_parts_are_as_the_page_says(p):
    try:
        import warpseal_reader
    except ImportError as missing:
        raise NotRun(str(missing))
    content = planned(p, 3)
    seal_all(p, 3)
    plan = p.read("plan")
    magic, version, zeros, shards, size = struct.unpack(">8sHHIQ", plan[:24])
    check_equal((magic, version, zeros, shards, size), (b"WARPPLAN", 1, 0, 3, len(content)), "the plan")
    times = os.stat(p.file("text"))
    pin = struct.pack(">8sQQQ", b"file", times.st_ino, times.st_mtime_ns, times.st_ctime_ns)
    check_equal(plan[24:56], pin, "the pin")
    check_equal(len(plan), 56 + FRONT + 64, "its length")
    data_key = data_key_of(warpseal_reader, plan[56:-64], p.read("key"))
    key = expand(data_key, b"warpseal/shard-plan/v1", 64)
    check_equal(hmac.new(key, plan[:-64], hashlib.sha512).digest(), plan[-64:], "the MAC of the plan")
    key, chunks = expand(data_key, b"warpseal/shard-part/v1", 64), size // TEXT + 1
    for number in (1, 2, 3):
        part = p.read(f"plan.{number}")
        first, end = chunks * (number - 1) // 3, chunks * number // 3
        text = size - first * TEXT if number == 3 else (end - first) * TEXT
        head = struct.pack(">8sHHIIIQ32s", b"WARPPART", 1, 0, number, 3, 0, text + 16 * (end - first), plan[-64:-32])
        mac = hmac.new(key, head, hashlib.sha512).digest()
        check_equal(part[:PART_HEAD], (head + mac).ljust(PART_HEAD, b"\0"), f"the head of part {number}")


def data_key_of(reader, front, key):
    """The data key in the first slot, which is of a key file."""
    from cryptography.cobblestone import Cobblestone256Decryptor

    fixed, slot = front[:32], front[4096 + 16:]
    slot_key = expand(key, b"warpseal/key-file/v1", 32)
    check_equal(struct.unpack(">HHH", slot[:4] + slot[4:6]), (reader.KEY_FILE, 0, 104), "the slot")
    decryptor = Cobblestone256Decryptor(slot_key, b"warpseal/slot/v1" + fixed + slot[:4])
    return decryptor.update(slot[6:110]) + decryptor.finalize()


main()
