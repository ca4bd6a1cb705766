"""encrypt --plan, --shards, --shard and --join: the joined file is an ordinary sealed file."""

import io
import json
import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor

from kit import CHUNK, FRONT, PART_HEAD, QUICK, TEXT, check_opens, join, planned, seal, seal_all

from program import NotRun, case, check, check_equal, main, some_bytes


@case
def two_shards(p):
    content = planned(p, 2)
    seal_all(p, 2)
    said = join(p).err
    check("joined 2 parts" in said and "verified" in said, said)
    check_opens(p, content)


@case
def every_length_and_count(p):
    for size in [1, TEXT - 1, TEXT, TEXT + 1, 3 * TEXT, 7 * TEXT + 5]:
        chunks = size // TEXT + 1
        for shards in sorted({1, 2, 3, chunks}):
            if shards > chunks:
                continue
            names = {"name": f"t{size}", "plan": f"p{size}.{shards}"}
            content = planned(p, shards, some_bytes(size), **names)
            seal_all(p, shards, **names)
            joined = f"j{size}.{shards}"
            join(p, output=joined, plan=names["plan"])
            check_opens(p, content, joined)
            sizes = [os.path.getsize(p.file(f"{names['plan']}.{n + 1}")) for n in range(shards)]
            bodies = sum(sizes) - shards * PART_HEAD
            check_equal(os.path.getsize(p.file(joined)), FRONT + bodies, "the length of the joined file")
            check(max(sizes) - min(sizes) <= CHUNK + TEXT, f"shards of very different lengths: {sizes}")


@case
def the_second_reader_opens_it(p):
    try:
        import warpseal_reader
    except ImportError as missing:
        raise NotRun(str(missing))
    content = planned(p, 3)
    seal_all(p, 3)
    join(p)
    out = io.BytesIO()
    warpseal_reader.open_file(io.BytesIO(p.read("sealed")), out, key=p.read("key"))
    check(out.getvalue() == content, "the second reader reads another text")


@case
def the_front_is_that_of_the_plan_and_parts_are_its_chunks(p):
    planned(p, 3)
    seal_all(p, 3)
    join(p)
    sealed, plan = p.read("sealed"), p.read("plan")
    check_equal(plan[:8], b"WARPPLAN", "the plan")
    check(plan[56:56 + FRONT] == sealed[:FRONT], "the front of the file")
    bodies = [p.read(f"plan.{n}")[PART_HEAD:] for n in (1, 2, 3)]
    check(b"".join(bodies) == sealed[FRONT:], "the chunks of the file")


@case
def a_shard_is_the_same_bytes_whoever_seals_it(p):
    """Retries elsewhere cannot harm: one text gives one part, on any number of threads."""
    planned(p, 2, some_bytes(40 * TEXT + 9))
    seal(p, 1, 2, "-o", "a", "--threads", 1)
    seal(p, 1, 2, "-o", "b", "--threads", 3)
    check(p.read("a") == p.read("b"), "the parts differ")


@case
def shards_at_the_same_time(p):
    content = planned(p, 8, some_bytes(400 * TEXT + 77))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: seal(p, number, 8), range(1, 9)))
    join(p)
    check_opens(p, content)
    text = p.ok("-q", "decrypt", "-k", "key", "--range", f"{300 * TEXT - 5}:10", "sealed").out
    check_equal(text, content[300 * TEXT - 5:300 * TEXT + 5], "a range over two shards")


@case
def a_shard_that_is_there_is_done(p):
    planned(p, 2)
    seal(p, 1, 2)
    before = os.stat(p.file("plan.1")).st_mtime_ns
    said = seal(p, 1, 2).err
    check("already" in said, said)
    check_equal(os.stat(p.file("plan.1")).st_mtime_ns, before, "the part was written again")


@case
def processes_that_seal_one_shard_all_succeed(p):
    content = planned(p, 2, some_bytes(2000 * TEXT))
    with ThreadPoolExecutor(4) as pool:
        said = [result.err for result in pool.map(lambda _: seal(p, 1, 2), range(8))]
    check_equal(sum("already" not in text for text in said), 1, "processes that made the part")
    seal(p, 2, 2)
    join(p)
    check_opens(p, content)


@case
def more_parts_than_descriptors(p):
    content = planned(p, 80, some_bytes(80 * TEXT))
    seal_all(p, 80)
    p.ok("encrypt", "-k", "key", "--plan", "plan", "--join", "-o", "sealed", "--device", "cpu", "--threads", 1,
         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    check_opens(p, content)


@case
def parts_are_taken_by_any_name_and_in_any_order(p):
    content = planned(p, 3)
    for number, name in [(1, "x"), (2, "y"), (3, "z")]:
        seal(p, number, 3, "-o", name)
    join(p, "z", "x", "y")
    check_opens(p, content)


@case
def secrets_ciphers_and_recipients_of_the_plan(p):
    content = some_bytes(3 * TEXT)
    p.write("text", content)
    p.key()
    p.write("word", b"correct horse\n", 0o600)
    p.ok("-q", "keygen", "--age", "-o", "me")
    recipient = p.ok("keygen", "-y", "me").out.decode().strip()
    p.ok("-q", "encrypt", "-c", "camellia-256-gcm", "-k", "key", "-r", recipient, "--passphrase-file", "word", *QUICK,
         "--plan", "plan", "--shards", 2, "text")
    p.ok("-q", "encrypt", "--passphrase-file", "word", "--plan", "plan", "--shard", "1/2", "text")
    seal(p, 2, 2)
    join(p)
    info = json.loads(p.ok("info", "--json", "sealed").out)
    check_equal((info["cipher"], len(info["slots"])), ("camellia-256-gcm", 3), "the header")
    check_opens(p, content)
    check_equal(p.ok("-q", "decrypt", "-i", "me", "sealed").out, content, "by its recipient")
    # The key that the shards needed can be taken off.
    p.ok("-q", "key", "remove", "1", "--passphrase-file", "word", "sealed")
    check_equal(p.run("decrypt", "-k", "key", "sealed").code, 12, "the key of the shards")


@case
def progress_and_quiet(p):
    planned(p, 2)
    said = p.ok("encrypt", "-k", "key", "--plan", "plan", "--shard", "1/2", "--progress", "json", "text").err
    check('"event":"done"' in said, said)
    check_equal(p.ok("-q", "encrypt", "-k", "key", "--plan", "plan", "--shard", "2/2", "text").err, "", "quiet")


@case
def making_a_plan_takes_no_time_with_the_text(p):
    """A plan reads nothing of the text: 1 TiB of holes."""
    p.key()
    try:
        with open(p.file("text"), "wb") as file:
            file.truncate(1 << 40)
    except OSError as error:
        raise NotRun(f"no sparse file of 1 TiB here: {error}")
    begin = time.monotonic()
    p.ok("-q", "encrypt", "-k", "key", "--plan", "plan", "--shards", 10000, "text")
    check(time.monotonic() - begin < 10, "it took long")


main()
