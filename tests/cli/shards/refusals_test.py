"""What shards refuse: another text under one plan, parts of other plans, damage, options that do not go together."""

import mmap
import os
import shutil
import time

from kit import CHUNK, FRONT, PART_HEAD, TEXT, check_opens, join, planned, seal, seal_all

from program import NotRun, case, check, check_equal, main, some_bytes, wait_until_output_is_open


def shard(number, shards, *more, plan="plan"):
    return ["encrypt", "-k", "key", "--plan", plan, "--shard", f"{number}/{shards}", *more]


JOIN = ["encrypt", "-k", "key", "--plan", "plan", "--join", "-o", "sealed"]


@case
def a_changed_text_is_refused(p):
    """Two texts under one plan would be two texts under one nonce."""
    content = planned(p, 2)
    seal(p, 1, 2)
    changed = bytearray(content)
    changed[-1] ^= 1
    times = os.stat(p.file("text"))
    with open(p.file("text"), "r+b") as file:
        file.write(changed)
    # Its time of modification can be set back, its time of change cannot.
    os.utime(p.file("text"), ns=(times.st_atime_ns, times.st_mtime_ns))
    p.fails(16, ["its times are other ones", "Make a new plan", "Nothing was written"], *shard(2, 2, "text"))
    os.remove(p.file("plan.1"))
    p.fails(16, "Make a new plan", *shard(1, 2, "text"))


@case
def another_text_is_refused(p):
    content = planned(p, 2)
    p.write("other", bytes(len(content)))
    os.utime(p.file("other"), ns=(os.stat(p.file("text")).st_atime_ns, os.stat(p.file("text")).st_mtime_ns))
    p.fails(16, ["another file", "Make a new plan"], *shard(1, 2, "other"))
    for size in [len(content) - 1, len(content) + 1]:
        p.write("other", bytes(size))
        p.fails(16, [f"has {size} bytes", f"had {len(content)}"], *shard(1, 2, "other"))
    p.fails(2, "not empty", *shard(1, 2), input=content)
    p.fails(10, "no input", *shard(1, 2, "absent"))


@case
def another_file_of_the_same_times_is_refused(p):
    """Files that were written in one tick of the clock differ in their inodes alone."""
    p.key()
    # utime also sets the change time, to that of the last tick. Later times of a file that was
    # looked at may be finer, so that each attempt takes new files.
    for number in range(100):
        pair = [f"text{number}{which}" for which in "ab"]
        for name in pair:
            p.write(name, name.encode() * 10000)
        for name in pair:
            os.utime(p.file(name), ns=(10**18, 10**18))
        one, other = (os.stat(p.file(name)) for name in pair)
        if one.st_ctime_ns == other.st_ctime_ns:
            break
    else:
        raise NotRun("no two files have the same times here")
    p.ok("-q", "encrypt", "-k", "key", "--plan", "plan", "--shards", 1, pair[0])
    p.fails(16, "another file", *shard(1, 1, pair[1]))
    p.ok("-q", *shard(1, 1, pair[0]))


def sees_mappings(path):
    """True if a store in a clean page of a mapping gives a file another time, as it does not in tmpfs."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        os.fsync(file.fileno())
        before = os.stat(path).st_ctime_ns
        time.sleep(0.05)
        mapping[0] ^= 1
        return os.stat(path).st_ctime_ns != before


@case
def a_text_that_a_mapping_changes_is_refused(p):
    """A dirty page of a mapping takes stores without another time. The plan makes it clean."""
    p.key()
    p.write("text", some_bytes(3 * TEXT))
    if not sees_mappings(p.file("text")):
        raise NotRun("this file system has no times of stores in mappings")
    with open(p.file("text"), "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        mapping[0] ^= 1
        time.sleep(0.05)
        p.ok("-q", "encrypt", "-k", "key", "--plan", "plan", "--shards", 2, "text")
        mapping[1] ^= 1
        p.fails(16, "Make a new plan", *shard(1, 2, "text"))


@case
def a_text_that_changes_while_it_is_read_leaves_no_part(p):
    planned(p, 1, some_bytes(64 << 20))
    process = p.start(*shard(1, 1, "--threads", 1, "text"))
    wait_until_output_is_open(process, p.directory)
    with open(p.file("text"), "r+b") as file:
        file.write(b"changed")
    _, err = process.communicate(timeout=120)
    if process.returncode == 0:  # it was done before
        check(os.path.exists(p.file("plan.1")), "no part")
        return
    check_equal(process.returncode, 16, err)
    check(not os.path.exists(p.file("plan.1")), "a part is there")


@case
def parts_of_two_plans_are_not_joined(p):
    planned(p, 2)
    p.ok("-q", "encrypt", "-k", "key", "--plan", "second", "--shards", 2, "text")
    seal_all(p, 2)
    seal_all(p, 2, plan="second")
    p.fails(2, ["'second.2'", "of another plan"], *JOIN, "plan.1", "second.2")
    # Nor with a head that is taken from the right part.
    p.write("forged", p.read("plan.2")[:PART_HEAD] + p.read("second.2")[PART_HEAD:])
    p.fails(13, ["does not verify", "'forged'", "seal shard 2 again"], *JOIN, "plan.1", "forged")


@case
def missing_and_double_parts(p):
    planned(p, 5)
    for number in (1, 3):
        seal(p, number, 5)
    p.fails(10, ["3 of 5 parts are missing", "2, 4, 5", "--shard I/5"], *JOIN)
    seal_all(p, 5)
    shutil.copy(p.file("plan.2"), p.file("again"))
    p.fails(2, ["'plan.2'", "'again'", "both shard 2"], *JOIN, "plan.1", "plan.2", "again")
    p.fails(10, "there is no input", *JOIN, "plan.1", "absent")
    p.fails(10, "1 of 5 parts are missing, of shard 4", *JOIN, *(f"plan.{n}" for n in (5, 3, 2, 1)))


@case
def a_part_that_is_a_pipe_is_refused(p):
    planned(p, 2)
    seal(p, 1, 2)
    os.mkfifo(p.file("pipe"))
    p.fails(2, ["'pipe'", "no regular file"], *JOIN, "plan.1", "pipe")


@case
def damaged_parts(p):
    content = planned(p, 3, some_bytes(9 * TEXT + 1))
    seal_all(p, 3)
    whole = p.read("plan.2")
    for at in [PART_HEAD, PART_HEAD + CHUNK, len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[at] ^= 1
        p.write("bad", damaged)
        p.fails(13, ["does not verify", "'bad'", "Nothing was written"], *JOIN, "plan.1", "bad", "plan.3")
    for at in [8, 9, 13, 17, 24, 40, 70, PART_HEAD - 1]:
        damaged = bytearray(whole)
        damaged[at] ^= 1
        p.write("bad", damaged)
        result = p.run(*JOIN, "plan.1", "bad", "plan.3")
        check(result.code in (2, 13, 15) and "'bad'" in result.err, f"{at}: {result.code} {result.err}")
        check(not os.path.exists(p.file("sealed")), "a file is there")
    p.write("bad", whole[:-1])
    p.fails(14, "'bad'", *JOIN, "plan.1", "bad", "plan.3")
    p.write("bad", whole + b"x")
    p.fails(13, ["'bad'", "follows"], *JOIN, "plan.1", "bad", "plan.3")
    for bad, code in [(b"", 14), (whole[:100], 14), (b"something else", 15)]:
        p.write("bad", bad)
        p.fails(code, "'bad'", *JOIN, "plan.1", "bad", "plan.3")
    # Chunks of one part in the place of another's, with the right head.
    first = p.read("plan.1")
    p.write("bad", whole[:PART_HEAD] + first[PART_HEAD:PART_HEAD + CHUNK] + whole[PART_HEAD + CHUNK:])
    p.fails(13, "'bad'", *JOIN, "plan.1", "bad", "plan.3")
    join(p)
    check_opens(p, content)


@case
def damaged_plans(p):
    planned(p, 2)
    seal_all(p, 2)
    whole = p.read("plan")
    for at, code in [(0, 15), (9, 15), (12, 13), (20, 13), (30, 13), (56 + 4096 + 20, 13), (len(whole) - 1, 13), (len(whole) - 70, 13)]:
        damaged = bytearray(whole)
        damaged[at] ^= 1
        p.write("plan", damaged)
        for arguments in [shard(1, 2, "-o", "new", "text"), JOIN]:
            result = p.run(*arguments)
            check_equal(result.code, code, f"byte {at}: {result.err}")
            check("'plan'" in result.err, result.err)
    for size in [0, 5, 100, FRONT, len(whole) - 1]:
        p.write("plan", whole[:size])
        p.fails(14, "'plan'", *shard(1, 2, "-o", "new", "text"))
    p.write("plan", whole + b"x")
    check_equal(p.run(*shard(1, 2, "-o", "new", "text")).code, 13, "a longer plan")
    check(not os.path.exists(p.file("new")), "a part of a damaged plan")
    p.write("plan", whole)
    p.write("other", os.urandom(32), 0o600)
    p.fails(12, "'plan'", "encrypt", "-k", "other", "--plan", "plan", "--shard", "1/2", "-o", "new", "text")


@case
def outputs_that_exist(p):
    content = planned(p, 2)
    p.fails(11, "exists", "encrypt", "-k", "key", "--plan", "plan", "--shards", 2, "text")
    p.write("plan.1", b"another file")
    p.fails(11, "exists", *shard(1, 2, "text"))
    os.remove(p.file("plan.1"))
    seal_all(p, 2)
    p.fails(11, "exists", *shard(2, 2, "-o", "plan.1", "text"))  # the part of another shard
    p.write("sealed", b"old")
    p.fails(11, "exists", *JOIN)
    p.fails(2, "same file", *JOIN[:-1], "plan.1", "-f")
    p.fails(2, "same file", *JOIN[:-1], "plan", "-f")
    join(p, options=["-f"])
    check_opens(p, content)


@case
def options_that_do_not_go_together(p):
    planned(p, 2)
    seal_all(p, 2)
    plan = ["encrypt", "-k", "key", "--plan", "p2", "--shards", "2", "text"]
    for words, arguments in [
        ("--plan FILE", ["encrypt", "-k", "key", "--shards", "2", "text"]),
        ("--plan FILE", ["encrypt", "-k", "key", "--shard", "1/2", "text"]),
        ("--plan FILE", ["encrypt", "-k", "key", "--join", "-o", "out"]),
        ("one of --shards", ["encrypt", "-k", "key", "--plan", "plan", "text"]),
        ("one of --shards", [*plan, "--join"]),
        ("one of --shards", [*plan, "--shard", "1/2"]),
        ("--format", [*plan, "--format", "cobblestone"]),
        ("--format", [*plan, "--format", "age"]),
        ("--tar", [*plan, "--tar"]),
        ("many files", [*plan, "--recursive"]),
        ("many files", [*plan, "--rm"]),
        ("one input", [*plan, "second"]),
        ("--force", [*plan, "-f"]),
        ("--force", shard(1, 2, "-f", "text")),
        ("without -o", [*plan, "-o", "x"]),
        ("the plan has them", shard(1, 2, "-c", "aes-128-gcm", "text")),
        ("-o", JOIN[:-2]),
        ("-o", [*JOIN[:-1], "-"]),
        ("a part is a file", shard(1, 2, "-o", "-", "text")),
        ("has 2 shards", shard(1, 3, "text")),
        ("a key", ["encrypt", "--plan", "p2", "--shards", "2", "text"]),
    ]:
        p.fails(2, words, *arguments)
    for text in ["", "0/2", "3/2", "1", "1/", "/2", "a/2", "1/2/3", "-1/2", "1/0", "1/99999999999"]:
        result = p.run("encrypt", "-k", "key", "--plan", "plan", f"--shard={text}", "text")
        check_equal(result.code, 2, f"{text!r}: {result.err}")
        check("--shard" in result.err, result.err)


@case
def texts_that_have_no_shards(p):
    p.key()
    p.write("empty", b"")
    plan = ["encrypt", "-k", "key", "--plan", "plan"]
    p.fails(2, "empty", *plan, "--shards", 1, "empty")
    p.write("small", bytes(TEXT))
    p.fails(2, ["3 shards", "1 to 2"], *plan, "--shards", 3, "small")
    p.fails(2, "pipe", *plan, "--shards", 2, input=b"text")
    os.mkdir(p.file("folder"))
    p.fails(16, "directory", *plan, "--shards", 2, "folder")


@case
def a_plan_is_no_sealed_file_and_no_part(p):
    planned(p, 2)
    seal_all(p, 2)
    p.fails(15, "not a Warpseal file", "decrypt", "-k", "key", "plan")
    p.fails(15, "not a Warpseal file", "decrypt", "-k", "key", "plan.1")
    p.fails(15, "'plan.1'", "encrypt", "-k", "key", "--plan", "plan.1", "--join", "-o", "out", "plan.1", "plan.2")
    p.fails(15, "'plan'", *JOIN, "plan", "plan.2")


main()
