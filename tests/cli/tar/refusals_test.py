"""Archives that would write outside of the directory, or more than they may: each is refused with
its reason, nothing outside is touched and nothing is left inside."""

import os
import resource
import tarfile

from archives import AGE, KEY, OPEN_AGE, age_identity, archive, member, sealed_archive
from program import case, check, check_equal, main

LINK, HARD, DIRECTORY = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE

# Name, reason, entries.
REFUSED = [
    ("absolute path", "its path is absolute", [member("/tmp/warpseal-evil")]),
    ("absolute directory", "its path is absolute", [member("/evil", DIRECTORY)]),
    ("up at the begin", "its path contains '..'", [member("../evil")]),
    ("up in the middle", "its path contains '..'", [member("a", DIRECTORY), member("a/../../evil")]),
    ("up that stays inside", "its path contains '..'", [member("a", DIRECTORY), member("a/../evil")]),
    ("up at the end", "its path contains '..'", [member("a/..", DIRECTORY)]),
    ("up alone", "its path contains '..'", [member("..", DIRECTORY)]),
    ("absolute link", "its target is absolute", [member("a", LINK, linkname="/etc/passwd")]),
    ("link up", "its target leaves the directory", [member("a", LINK, linkname="../evil")]),
    ("deep link up", "its target leaves the directory", [member("a/b/c", LINK, linkname="../../../evil")]),
    ("link up in the middle", "'..' behind another name", [member("a/b", DIRECTORY), member("a/b/c", LINK, linkname="x/../../d")]),
    ("link through a link", "'..' behind another name",
     [member("c/x/up", LINK, linkname="../.."), member("c/b", LINK, linkname="x/up/..")]),
    ("link to nothing", "its target is empty", [member("a", LINK, linkname="")]),
    ("file through a link", "go through a symbolic link", [member("a", LINK, linkname="b"), member("b", DIRECTORY), member("a/evil")]),
    ("directory over a link", "go through a symbolic link", [member("a", LINK, linkname="b"), member("a", DIRECTORY)]),
    ("link through a deep link", "go through a symbolic link",
     [member("b/c", DIRECTORY), member("a", LINK, linkname="b"), member("a/c/evil", LINK, linkname="x")]),
    ("file over a link", "two entries of that name", [member("a", LINK, linkname="b"), member("a", content=b"evil")]),
    ("file twice", "two entries of that name", [member("a", content=b"1"), member("a", content=b"2")]),
    ("file over a directory", "two entries of that name", [member("a", DIRECTORY), member("a", content=b"2")]),
    ("directory over a file", "a file of that name", [member("a", content=b"1"), member("a/b", content=b"2")]),
    ("absolute hard link", "its path is absolute", [member("a", HARD, linkname="/etc/passwd")]),
    ("hard link up", "its path contains '..'", [member("a", HARD, linkname="../outside")]),
    ("hard link to nothing", "no file unpacked before", [member("a", HARD, linkname="b")]),
    ("hard link to a later file", "no file unpacked before", [member("a", HARD, linkname="b"), member("b")]),
    ("hard link to a link", "no file unpacked before",
     [member("a/b/c", LINK, linkname="../../x"), member("d", HARD, linkname="a/b/c")]),
    ("hard link through a link", "no file unpacked before",
     [member("b/c", content=b"x"), member("a", LINK, linkname="b"), member("d", HARD, linkname="a/c")]),
    ("hard link to a directory", "no file unpacked before", [member("b", DIRECTORY), member("a", HARD, linkname="b")]),
    ("character device", "a device", [member("a", tarfile.CHRTYPE, devmajor=1, devminor=3)]),
    ("block device", "a device", [member("a", tarfile.BLKTYPE, devmajor=8, devminor=0)]),
    ("pipe", "a named pipe", [member("a", tarfile.FIFOTYPE)]),
    ("too many levels", "more than 256 levels", [member("/".join(["a"] * 257))]),
    ("a long path", "longer than 4095 bytes", [member("/".join(["a" * 200] * 21))]),
    ("a directory's name for a file", "its name is that of a directory", [member(".", content=b"x")]),
]


def refused(p, code, words, sealed, *options):
    """Both into a directory that is there and into one that is not."""
    os.makedirs(p.file("there"), exist_ok=True)
    p.write("there/precious", b"precious")
    for out in ["new", "there"]:
        said = p.fails(code, words, "decrypt", *(options or KEY), "--tar", sealed, "--output-dir", out)
        check(f"Nothing was written to '{out}'." in said.err, said.err)


@case
def each_kind_is_refused(p):
    p.write("outside", b"precious")
    for number, (name, reason, members) in enumerate(REFUSED):
        # A good file first, so that something has to be removed.
        sealed = sealed_archive(p, [member("good/file", content=b"good" * 1000), *members], f"{number}.ws")
        try:
            refused(p, 28, [reason], sealed)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    check(not os.path.exists("/tmp/warpseal-evil"), "/tmp/warpseal-evil")


@case
def the_same_in_the_format_of_gnu_tar(p):
    for number, (name, reason, members) in enumerate(REFUSED):
        if name in ["link to nothing"]:
            continue
        sealed = sealed_archive(p, members, f"{number}.ws", tarfile.GNU_FORMAT)
        p.fails(28, reason, "decrypt", *KEY, "--tar", sealed, "--output-dir", "new")


@case
def names_are_shown_escaped(p):
    sealed = sealed_archive(p, [member("../\x1b[2Jevil\n")])
    p.fails(28, r"'../\x1b[2Jevil\x0a': its path contains '..'", "decrypt", *KEY, "--tar", sealed, "--output-dir", "new")


@case
def names_of_headers_are_checked_and_not_those_before(p):
    """pax and GNU long names replace the name in the entry's own header."""
    for form in [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]:
        long = "../" + "x" * 150
        sealed = sealed_archive(p, [member(long)], f"{form}.ws", form)
        p.fails(28, "its path contains '..'", "decrypt", *KEY, "--tar", sealed, "--output-dir", "new")
    info, _ = member("fine")
    info.pax_headers = {"path": "../evil"}
    p.fails(28, "its path contains '..'", "decrypt", *KEY, "--tar", sealed_archive(p, [(info, b"")], "pax.ws"), "--output-dir", "new")
    info, _ = member("fine", LINK, linkname="fine")
    info.pax_headers = {"linkpath": "../evil"}
    p.fails(28, "its target leaves", "decrypt", *KEY, "--tar", sealed_archive(p, [(info, b"")], "link.ws"), "--output-dir", "new")


@case
def a_hard_link_with_content_writes_nothing(p):
    """Content of a hard link would be written into the file that it names."""
    good, content = member("a", content=b"good")
    link, _ = member("b", HARD, linkname="a")
    link.pax_headers = {"size": "4"}
    stream = archive([(good, content), (link, b"")])
    check_equal(stream[1024 + 156:1024 + 157], b"x", "the header before the link")
    stream = stream[:1024 + 1536] + b"evil".ljust(512, b"\0") + stream[1024 + 1536:]
    p.key()
    p.ok("encrypt", *KEY, "-o", "evil.ws", input=stream)
    p.fails(28, "a hard link with content", "decrypt", *KEY, "--tar", "evil.ws", "--output-dir", "new")


@case
def set_user_id_is_dropped(p):
    sealed = sealed_archive(p, [member("d", DIRECTORY, mode=0o7755), member("d/a", content=b"x", mode=0o6755)])
    p.ok("decrypt", *KEY, "--tar", sealed, "--output-dir", "new")
    for name in ["new/d", "new/d/a"]:
        check_equal(os.stat(p.file(name)).st_mode & 0o7777, 0o755, name)


@case
def what_is_no_archive(p):
    for content, words in [(b"hello\n" * 1000, "no whole tar archive"), (b"", "no whole tar archive"),
                           (archive([member("a", content=b"x" * 5000)])[:3000], "no whole tar archive"),
                           (archive([member("a"), member("b")])[:512] + b"\1" * 1024, "no whole tar archive")]:
        refused(p, 15, words, sealed_archive(p, content, "no.ws"))
        os.unlink(p.file("no.ws"))


@case
def a_header_without_end(p):
    """The header of an entry is bounded before it is kept."""
    sparse = "".join(f"{i * 2}\n1\n" for i in range(2_000_000)).encode()
    info, _ = member("a")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a", "GNU.sparse.realsize": "4000000"}
    content = b"2000000\n" + sparse
    info.size = len(content)
    refused(p, 17, "longer than 8 MiB", sealed_archive(p, [(info, content)], "map.ws"))


@case
def existing_names(p):
    sealed = sealed_archive(p, [member("d", DIRECTORY, mode=0o700), member("d/a", content=b"new"), member("d/b", content=b"b"), member("e/f", content=b"f"),
                                member("l", LINK, linkname="d/a")])
    os.makedirs(p.file("out/d"))
    os.chmod(p.file("out/d"), 0o750)
    p.write("out/d/a", b"old")
    p.write("out/d/c", b"other")
    said = p.fails(11, ["'out/d' exists already", "--force"], "decrypt", *KEY, "--tar", sealed, "--output-dir", "out")
    check("Nothing was written to 'out'." in said.err, said.err)
    p.ok("decrypt", *KEY, "--tar", sealed, "--output-dir", "out", "--force")
    check_equal({name: p.read("out/" + name) for name in ["d/a", "d/b", "d/c", "e/f", "l"]},
                {"d/a": b"new", "d/b": b"b", "d/c": b"other", "e/f": b"f", "l": b"new"}, "files")
    check_equal(os.stat(p.file("out/d")).st_mode & 0o777, 0o750, "mode of a directory that was there")
    # The last of the names is in the way: the first ones are not left.
    only_last = sealed_archive(p, [member("x"), member("y"), member("e")], "last.ws")
    p.fails(11, "'out/e' exists already", "decrypt", *KEY, "--tar", only_last, "--output-dir", "out")
    # A name is refused before its content, which is too big here, is unpacked.
    big = sealed_archive(p, [member("d/big", content=bytes(2_000_000))], "big.ws")
    p.fails(11, "'out/d' exists already", "decrypt", *KEY, "--tar", big, "--output-dir", "out",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)))


@case
def force_follows_no_link_and_replaces_no_directory(p):
    os.makedirs(p.file("out/directory"))
    os.makedirs(p.file("elsewhere"))
    p.write("elsewhere/a", b"precious")
    os.symlink("../elsewhere", p.file("out/d"))
    os.symlink("../elsewhere/a", p.file("out/l"))
    through = sealed_archive(p, [member("other"), member("d/a", content=b"evil")], "through.ws")
    p.fails(11, "'out/d' exists already and is no directory", "decrypt", *KEY, "--tar", through, "--output-dir", "out", "--force")
    over = sealed_archive(p, [member("other"), member("directory", content=b"evil")], "over.ws")
    p.fails(11, "'out/directory' exists already and is a directory", "decrypt", *KEY, "--tar", over, "--output-dir", "out", "--force")
    # A file replaces a link itself.
    p.ok("decrypt", *KEY, "--tar", sealed_archive(p, [member("l", content=b"new")], "l.ws"), "--output-dir", "out", "--force")
    check(not os.path.islink(p.file("out/l")), "the link is still there")
    check_equal(p.read("elsewhere/a"), b"precious", "what the link led to")


@case
def other_options(p):
    p.key()
    os.mkdir(p.file("in"))
    p.write("in/a", b"a")
    p.ok("encrypt", *KEY, "--tar", "in", "-o", "out.ws")
    for words, options in [("--recursive", ["--recursive"]), ("--rm", ["--rm"]), ("--skip-done", ["--skip-done"]), ("--suffix", ["--suffix", ".x"]),
                           ("--keep-going", ["--keep-going"]), ("--json", ["--json"]), ("--files-from0", ["--files-from0", "in/a"])]:
        p.fails(2, ["--tar does not go with", words], "encrypt", *KEY, "--tar", "in", "-o", "x.ws", *options)
        p.fails(2, ["--tar does not go with", words], "decrypt", *KEY, "--tar", "out.ws", "--output-dir", "x", *options)
    p.fails(2, "--output-dir", "encrypt", *KEY, "--tar", "in", "--output-dir", "x")
    p.fails(2, "--output-dir", "decrypt", *KEY, "--tar", "out.ws")
    p.fails(2, "-o", "decrypt", *KEY, "--tar", "out.ws", "-o", "x", "--output-dir", "x")
    p.fails(2, "--range", "decrypt", *KEY, "--tar", "out.ws", "--output-dir", "x", "--range", "0:1")
    p.fails(2, "one file", "decrypt", *KEY, "--tar", "out.ws", "out.ws", "--output-dir", "x")
    p.fails(2, "name one or more", "encrypt", *KEY, "--tar", "-o", "x.ws")
    p.fails(2, "standard input", "encrypt", *KEY, "--tar", "-", "-o", "x.ws")
    p.fails(2, "two inputs would be 'a'", "encrypt", *KEY, "--tar", "in/a", "./in/a", "-o", "x.ws")
    p.fails(10, "'nothing'", "encrypt", *KEY, "--tar", "in", "nothing", "-o", "x.ws")
    p.fails(16, "no directory", "decrypt", *KEY, "--tar", "out.ws", "--output-dir", "key")
    p.fails(16, "No such file", "decrypt", *KEY, "--tar", "out.ws", "--output-dir", "no/where")


@case
def what_is_not_authenticated_is_not_unpacked(p):
    p.write("pass", b"correct horse\n", 0o600)
    p.write("old.enc", b"Salted__" + os.urandom(8) + os.urandom(1024))
    p.fails(15, "not authenticated", "decrypt", "--passphrase-file", "pass", "--tar", "old.enc", "--output-dir", "x")


@case
def age_files_are_refused_the_same_way(p):
    age_identity(p)
    p.ok("encrypt", *AGE, "-o", "evil.age", input=archive([member("good"), member("../evil")]))
    refused(p, 28, "its path contains '..'", "evil.age", *OPEN_AGE)


main()
