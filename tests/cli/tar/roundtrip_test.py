"""Directories sealed by `encrypt --tar` and unpacked by `decrypt --tar`: content, modes, times, links,
names; the same stream in tar and in Python's tarfile."""

import hashlib
import io
import os
import socket
import subprocess
import tarfile

from archives import AGE, KEY, OPEN_AGE, age_identity, check_same_tree, described
from program import NotRun, case, check, check_equal, main, some_bytes


def stamp(path, number):
    os.utime(path, ns=(0, 1_600_000_000_123_456_789 + number * 1_000_000_007), follow_symlinks=False)


def tree(p, top="photos"):
    """A directory with what file systems have."""
    base = os.fsencode(p.file(top))
    os.makedirs(base + b"/2025/empty")
    for number, (name, size, mode) in enumerate([
            (b"a.jpg", 300_001, 0o644), (b"b.sh", 10, 0o755), (b"closed", 3, 0o600), (b"nothing", 0, 0o644), (b"2025/c.jpg", 1 << 20, 0o444),
            ("café".encode(), 5, 0o644), ("cafe\u0301".encode(), 6, 0o644), (b"bad\xff\xfename", 7, 0o644), (b"new\nline \x01", 8, 0o644),
            (b"L" * 255, 9, 0o644), (b"2025/" + b"m" * 120, 11, 0o640)]):
        path = os.path.join(base, name)
        with open(path, "wb") as file:
            file.write(some_bytes(size, number))
        os.chmod(path, mode)
        stamp(path, number)
    deep = os.path.join(base, *[b"d" * 50] * 20)
    os.makedirs(deep)
    with open(deep + b"/deep", "wb") as file:
        file.write(b"deep")
    os.link(base + b"/a.jpg", base + b"/2025/same.jpg")
    os.link(base + b"/a.jpg", base + b"/z.jpg")
    for number, (name, target) in enumerate([(b"link", b"a.jpg"), (b"2025/up", b"../a.jpg"), (b"nowhere", b"not/there"), (b"bad\xfelink", b"bad\xff\xfename"),
                                             (b"directory link", b"2025/empty")]):
        os.symlink(target, os.path.join(base, name))
        stamp(os.path.join(base, name), 50 + number)
    with open(base + b"/sparse", "wb") as file:
        file.write(b"begin")
        file.seek(5_000_000)
        file.write(b"middle")
        file.truncate(20_000_000)
    with open(base + b"/hole", "wb") as file:
        file.truncate(3_000_000)
    os.chmod(base + b"/2025/empty", 0o700)
    os.chmod(base + b"/2025", 0o755)
    for number, (root, _, _) in enumerate(sorted(os.walk(base), reverse=True)):
        stamp(root, 100 + number)
    return base


def seal(p, options, *arguments):
    p.key()
    age_identity(p)
    return p.ok("encrypt", *options, "--tar", *arguments)


@case
def everything_comes_back(p):
    base = tree(p)
    before = described(base)
    for number, options in enumerate([KEY, AGE]):
        sealed, out = f"{number}.ws", f"out{number}"
        seal(p, options, "photos", "-o", sealed)
        check_equal(described(base), before, "the directory that was sealed")
        said = p.ok("decrypt", *(KEY if options is KEY else OPEN_AGE), "--tar", sealed, "--output-dir", out)
        check_same_tree(p.file(out + "/photos"), base)
        check_equal(os.listdir(p.file(out)), ["photos"], "what is in the directory")
        entries = len(before)
        check(f"unpacked {entries} entries into '{out}'" in said.err, said.err)
    about = os.stat(p.file("out0/photos/sparse"))
    check_equal(about.st_size, 20_000_000, "size of a sparse file")
    check(about.st_blocks * 512 < 200_000, f"a sparse file takes {about.st_blocks} blocks")
    check(os.path.getsize(p.file("0.ws")) < 2_500_000, "holes were sealed as zeros")


@case
def other_programs_list_the_same(p):
    tree(p)
    seal(p, KEY, "photos", "-o", "out.ws")
    stream = p.ok("-q", "decrypt", *KEY, "out.ws").out
    with tarfile.open(fileobj=io.BytesIO(stream)) as read:
        members = {member.name: member for member in read}
    names = {b"photos" if path == b"." else b"photos/" + path for path in described(p.file("photos"))}
    check_equal({os.fsencode(name) for name in members}, names, "names in tarfile")
    check_equal(members["photos/café"].pax_headers.get("hdrcharset"), None, "a name in UTF-8")
    check_equal(members["photos/2025/same.jpg"].type, tarfile.REGTYPE, "the first name in order of three links")
    check_equal((members["photos/a.jpg"].type, members["photos/a.jpg"].linkname), (tarfile.LNKTYPE, "photos/2025/same.jpg"), "a hard link")
    check_equal(members["photos/link"].linkname, "a.jpg", "a symbolic link")
    listed = subprocess.run(["tar", "--quoting-style=literal", "--null", "-tf", "-"], input=stream, capture_output=True, check=True).stdout
    # tar's list has a line for each name, and one name has a line's end.
    check_equal(sorted(line.rstrip(b"/") for line in listed.splitlines()), sorted(line for name in names for line in name.split(b"\n")), "names in tar")
    os.mkdir(p.file("by-tar"))
    subprocess.run(["tar", "-xpf", "-", "-C", p.file("by-tar")], input=stream, stderr=subprocess.DEVNULL, check=True)
    check_same_tree(p.file("by-tar/photos"), p.file("photos"))


@case
def archives_of_tar_are_unpacked(p):
    base = tree(p)
    p.key()
    for form in ["pax", "gnu"]:
        stream = subprocess.run(["tar", "--format", form, "-c", "-C", p.directory, "--sparse", "./photos"], capture_output=True, check=True).stdout
        p.ok("encrypt", *KEY, "-o", form, input=stream)
        p.ok("decrypt", *KEY, "--tar", form, "--output-dir", "from-" + form)
        if form == "pax":
            check_same_tree(p.file("from-pax/photos"), base)
        check_equal({path: row[2] for path, row in described(p.file(f"from-{form}/photos")).items()},
                    {path: row[2] for path, row in described(base).items()}, "content of " + form)


@case
def streams_and_several_inputs(p):
    p.key()
    tree(p)
    p.write("file", b"content")
    os.symlink("photos", p.file("link"))
    sealed = p.ok("-q", "encrypt", *KEY, "--tar", "link", "file", p.file("photos/2025/")).out
    p.ok("decrypt", *KEY, "--tar", "--output-dir", "out", input=sealed)
    check_equal(sorted(os.listdir(p.file("out"))), ["2025", "file", "link"], "names at the top")
    check_same_tree(p.file("out/link"), p.file("photos"))
    check_equal(p.read("out/file"), b"content", "a file of the command line")
    # "." is the directory's own name.
    p.ok("encrypt", *KEY[:1], p.file("key"), "--tar", ".", "-o", p.file("dot.ws"), cwd=p.file("photos/2025"))
    p.ok("decrypt", *KEY, "--tar", "dot.ws", "--output-dir", "dot")
    check_same_tree(p.file("dot/2025"), p.file("photos/2025"))


@case
def the_stream_depends_on_the_files_alone(p):
    tree(p)
    p.key()
    digests = set()
    for _ in range(2):
        seal(p, KEY, "photos", "-o", "out.ws", "--force")
        digests.add(hashlib.sha256(p.ok("-q", "decrypt", *KEY, "out.ws").out).hexdigest())
    check_equal(len(digests), 1, "streams of one directory")
    with tarfile.open(fileobj=io.BytesIO(p.ok("-q", "decrypt", *KEY, "out.ws").out)) as read:
        names = [os.fsencode(member.name).split(b"/") for member in read]
    check_equal(names, sorted(names), "order")


@case
def the_output_is_not_in_the_archive(p):
    p.key()
    os.mkdir(p.file("in"))
    p.write("in/a", b"a")
    for target in ["in/out.ws", "in/./out.ws"]:
        said = p.ok("encrypt", *KEY, "--tar", "in", "-o", target, "--force")
    check("left out 'in/out.ws': it is the output" in said.err, said.err)
    with open(p.file("in/stdout.ws"), "wb") as out:
        p.ok("encrypt", *KEY, "--tar", "in", stdout=out)
    for sealed, names in [("in/out.ws", ["a"]), ("in/stdout.ws", ["a", "out.ws"])]:
        p.ok("decrypt", *KEY, "--tar", sealed, "--output-dir", "x", "--force")
        check_equal(sorted(os.listdir(p.file("x/in"))), names, sealed)
    p.fails(2, "is the output too", "encrypt", *KEY, "--tar", "in/a", "-o", "in/a", "--force")


@case
def what_is_no_file_is_left_out(p):
    p.key()
    os.mkdir(p.file("in"))
    p.write("in/a", b"a")
    os.mkfifo(p.file("in/pipe"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(p.file("in/socket"))
        said = p.ok("encrypt", *KEY, "--tar", "in", "-o", "out.ws")
    check("left out 'in/pipe': it is a pipe" in said.err and "left out 'in/socket': it is a socket" in said.err, said.err)
    p.ok("decrypt", *KEY, "--tar", "out.ws", "--output-dir", "out")
    check_equal(os.listdir(p.file("out/in")), ["a"], "names")
    p.fails(2, "is a pipe", "encrypt", *KEY, "--tar", "in/pipe", "-o", "x.ws")


@case
def links_that_will_be_refused_are_named(p):
    p.key()
    os.mkdir(p.file("in"))
    os.symlink("/etc/passwd", p.file("in/out"))
    said = p.ok("encrypt", *KEY, "--tar", "in", "-o", "out.ws")
    check("'in/out' is a link to '/etc/passwd': its target is absolute" in said.err, said.err)
    p.fails(28, "it is a link to '/etc/passwd'", "decrypt", *KEY, "--tar", "out.ws", "--output-dir", "out")


@case
def modes_follow_the_umask(p):
    p.key()
    os.mkdir(p.file("in"))
    p.write("in/a", b"a", 0o6777)
    os.chmod(p.file("in"), 0o3777)
    seal(p, KEY, "in", "-o", "out.ws")
    for mask, file in [(0o022, 0o755), (0, 0o777), (0o077, 0o700)]:
        p.ok("decrypt", *KEY, "--tar", "out.ws", "--output-dir", f"out{mask}", preexec_fn=lambda mask=mask: os.umask(mask))
        for name in ["in/a", "in"]:
            check_equal(os.stat(p.file(f"out{mask}/{name}")).st_mode & 0o7777, file, f"{name} under {mask:o}")
        check_equal(os.stat(p.file(f"out{mask}")).st_mode & 0o777, 0o700, "the new directory")


@case
def directories_that_their_owner_may_not_write_to(p):
    """Run as another user too, because root may write everywhere."""
    p.key()
    os.makedirs(p.file("in/closed/below"))
    p.write("in/closed/a", b"a")
    os.chmod(p.file("in/closed"), 0o555)
    os.chmod(p.file("in"), 0o555)
    os.chmod(p.file("key"), 0o600)
    options = {}
    if os.geteuid() == 0:
        program = p.path
        if subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", program, "--version"], capture_output=True, check=False).returncode != 0:
            raise NotRun("only root can become another user here")
        for root, directories, files in os.walk(p.directory):
            for name in directories + files + ["."]:
                os.chown(os.path.join(root, name), 65534, -1)
        options = {"user": 65534, "extra_groups": []}
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "out.ws", **options)
    os.mkdir(p.file("there"), 0o755)
    if options:
        os.chown(p.file("there"), 65534, -1)
    for out in ["new", "there"]:
        p.ok("decrypt", *KEY, "--tar", "out.ws", "--output-dir", out, **options)
        check_same_tree(p.file(out + "/in"), p.file("in"))
    # A failure leaves nothing, although the modes are in the way.
    sealed = bytearray(p.read("out.ws"))
    sealed[-1] ^= 1
    p.write("bad.ws", bytes(sealed))
    p.fails(13, "Nothing was written to 'bad'", "decrypt", *KEY, "--tar", "bad.ws", "--output-dir", "bad", **options)
    for root, directories, _ in os.walk(p.directory):
        for name in directories:
            os.chmod(os.path.join(root, name), 0o755)


main()
