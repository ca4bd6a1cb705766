"""Runs over many files: what the outputs are called, and which files are taken."""

import os
import socket

import many
from program import case, check, check_equal, main, some_bytes


@case
def outputs_beside_the_inputs(p):
    p.key()
    contents = many.tree(p, ["a", "b.txt", "d/c"])
    p.ok("encrypt", "-k", "key", *contents)
    check_equal(many.names(p), ["a", "a.ws", "b.txt", "b.txt.ws", "d/c", "d/c.ws", "key"], "files")
    for name in contents:
        os.unlink(p.file(name))
    p.ok("verify", "-k", "key", *[name + ".ws" for name in contents])
    p.ok("decrypt", "-k", "key", *[name + ".ws" for name in contents])
    for name, content in contents.items():
        check_equal(p.read(name), content, name)
        check_equal(os.stat(p.file(name)).st_mode & 0o777, 0o600, "mode of " + name)


@case
def one_input_is_written_to_standard_output(p):
    p.key()
    p.write("a", b"text")
    sealed = p.ok("encrypt", "-k", "key", "a").out
    check_equal(many.names(p), ["a", "key"], "files")
    check_equal(p.ok("decrypt", "-k", "key", input=sealed).out, b"text", "text")


@case
def names_that_look_like_lists_or_commands(p):
    p.key()
    contents = many.tree(p, ["[a,b]", "list", "info", "{}", "x y\n", "%%", "-dash"])
    p.ok("encrypt", "-k", "key", "--", *contents)
    check_equal(sorted(name for name in many.names(p) if name.endswith(".ws")), sorted(name + ".ws" for name in contents), "files")
    p.ok("decrypt", "-k", "key", "--output-dir", "out", "--", *[name + ".ws" for name in contents])
    for name, content in contents.items():
        check_equal(p.read("out/" + name), content, name)


@case
def suffix(p):
    p.key()
    contents = many.tree(p, ["a", "b"])
    p.ok("encrypt", "-k", "key", "--suffix", ".sealed", "a", "b")
    check_equal(many.names(p), ["a", "a.sealed", "b", "b.sealed", "key"], "files")
    p.fails(2, ["'a.sealed'", "--suffix"], "decrypt", "-k", "key", "--threads", 1, "a.sealed", "b.sealed", "--output-dir", "out")
    p.ok("decrypt", "-k", "key", "--suffix", ".sealed", "a.sealed", "--output-dir", "out")
    check_equal(p.read("out/a"), contents["a"], "text")
    for bad in ["", ".", "/x", "a/b"]:
        p.fails(2, "--suffix", "encrypt", "-k", "key", "--suffix", bad, "a")


@case
def a_name_that_is_the_suffix_alone(p):
    p.key()
    p.sealed(b"text", ".ws")
    p.fails(2, "'./.ws'", "decrypt", "-k", "key", "--output-dir", "out", "./.ws")


@case
def output_directory_keeps_the_tree(p):
    p.key()
    contents = many.tree(p, ["a", "deep/er/b", "deep/c"], "top")
    p.ok("encrypt", "-k", "key", "--recursive", "top/", "--output-dir", "out/")
    check_equal(many.names(p, "out"), ["out/top/a.ws", "out/top/deep/c.ws", "out/top/deep/er/b.ws"], "files")
    p.ok("decrypt", "-k", "key", "--recursive", "out/top", "--output-dir", "back")
    for name, content in contents.items():
        check_equal(p.read("back/" + name), content, name)
    check_equal(os.stat(p.file("back/top/deep")).st_mode & 0o777, 0o700, "mode of a directory of decrypted files")
    # The current directory has no name to keep.
    p.ok("encrypt", "-k", "../key", "--recursive", ".", "--output-dir", "../here", cwd=p.file("top"))
    check_equal(many.names(p, "here"), ["here/a.ws", "here/deep/c.ws", "here/deep/er/b.ws"], "files")
    p.fails(16, ["'no/where'", "No such file"], "encrypt", "-k", "key", "top/a", "--output-dir", "no/where")
    p.fails(16, "'key'", "encrypt", "-k", "key", "top/a", "--output-dir", "key")


@case
def directories_need_recursive(p):
    p.key()
    many.tree(p, ["top/a", "b"])
    p.fails(16, ["'top'", "--recursive"], "encrypt", "-k", "key", "top", "b", "--output-dir", "out", "--threads", "1")


@case
def recursion_leaves_sealed_files_out(p):
    """A second run over a directory takes no output of the first."""
    p.key()
    many.tree(p, ["a", "b"], "top")
    p.ok("encrypt", "-k", "key", "--recursive", "top")
    err = p.ok("encrypt", "-k", "key", "--recursive", "top", "--force").err
    check("2 files in directories were left out" in err, err)
    check_equal(many.names(p, "top"), ["top/a", "top/a.ws", "top/b", "top/b.ws"], "files")
    err = p.ok("verify", "-k", "key", "--recursive", "top").err
    check("verified 2 files" in err and "2 files in directories were left out" in err, err)


@case
def links_loops_and_special_files(p):
    p.key()
    contents = many.tree(p, ["a", "deep/b"], "top")
    os.symlink("..", p.file("top/deep/loop"))
    os.symlink("a", p.file("top/link"))
    os.symlink("nothing", p.file("top/dangling"))
    os.mkfifo(p.file("top/pipe"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(p.file("top/socket"))
    err = p.ok("encrypt", "-k", "key", "--recursive", "top", "--output-dir", "out", timeout=60).err
    check_equal(many.names(p, "out"), ["out/top/a.ws", "out/top/deep/b.ws"], "files")
    for name in ["deep/loop", "link", "dangling"]:
        check(f"'top/{name}' was left out: it is a symbolic link" in err, err)
    for name in ["pipe", "socket"]:
        check(f"'top/{name}' was left out: it is no regular file" in err, err)
    # A named link is followed, once.
    os.symlink("top", p.file("named"))
    p.ok("-q", "encrypt", "-k", "key", "--recursive", "named", "--output-dir", "out")
    check_equal(many.names(p, "out/named"), ["out/named/a.ws", "out/named/deep/b.ws"], "files")
    check_equal(len(contents), 2, "files")
    p.fails(2, ["'top/pipe'", "alone"], "encrypt", "-k", "key", "top/pipe", "--output-dir", "out")


@case
def names_from_a_list(p):
    p.key()
    contents = many.tree(p, ["a", "b\nc", "-"])
    for end in ["", "\0"]:
        p.write("list", ("\0".join(contents) + end).encode())
        p.ok("encrypt", "-k", "key", "--files-from0", "list", "--force")
        p.ok("encrypt", "-k", "key", "--files-from0", "-", "--force", input=p.read("list"))
        check_equal(many.names(p), sorted([*contents, *[name + ".ws" for name in contents], "key", "list"]), "files")
    p.write("list", b"a\0\0b\0")
    p.fails(2, ["name 2", "empty"], "encrypt", "-k", "key", "--files-from0", "list")
    p.fails(10, "'nothing'", "encrypt", "-k", "key", "--files-from0", "nothing")
    p.fails(2, "standard input", "encrypt", "-k", "-", "--files-from0", "-")
    p.write("list", b"")
    check("no files" in p.ok("encrypt", "-k", "key", "--files-from0", "list").err, "an empty list")


@case
def a_file_that_is_no_list(p):
    p.key()
    p.write("lines", b"a\n" * 10_000)
    for name, what in [("lines", ["name 1", "4095", "zero byte"]), ("/dev/zero", ["name 1", "empty"])]:
        err = p.fails(2, what, "encrypt", "-k", "key", "--files-from0", name).err
        check(len(err) < 500, f"{len(err)} bytes on stderr")
    many.tree(p, ["a", "b"])
    p.ok("encrypt", "-k", "key", "a", "b")
    # Some of these names lie across two reads.
    p.write("list", b"".join(b"./" * i + b"a.ws\0" for i in range(300)))
    check("verified 300 files" in p.ok("verify", "-k", "key", "--files-from0", "list").err, "names")


@case
def outputs_that_are_no_ordinary_names(p):
    """Taken off, a suffix leaves the name of standard output, or one that later runs remove."""
    p.key()
    p.write("a", b"text")
    p.ok("encrypt", "-k", "key", "a", "-o", "./-.ws")
    result = p.ok("decrypt", "-k", "key", "--files-from0", "-", input=b"-.ws")
    check_equal((result.out, p.read("-")), (b"", b"text"), "standard output and the file")
    temporary = ".warpseal-0123456789abcdef.tmp"
    p.write(temporary[:-4], b"text")
    p.write(temporary + ".ws", p.read("-.ws"))
    p.fails(2, ["temporary", temporary], "decrypt", "-k", "key", "--suffix", ".ws", temporary + ".ws")
    p.fails(2, "temporary", "encrypt", "-k", "key", "--suffix", ".tmp", temporary[:-4])


@case
def names_with_arbitrary_bytes(p):
    p.key()
    name = os.path.join(os.fsencode(p.directory), b"\xff\xfe")
    with open(name, "wb") as file:
        file.write(b"text")
    result = p.ok("encrypt", "-k", "key", "--json", "--files-from0", "-", input=b"\xff\xfe")
    check_equal([row["status"] for row in many.rows(result).values()], ["done"], "JSON lines")
    check(os.path.exists(name + b".ws"), "an output")


@case
def outputs_that_collide(p):
    p.key()
    many.tree(p, ["x/a", "y/a"])
    p.fails(2, ["'x/a'", "'y/a'", "both"], "encrypt", "-k", "key", "x/a", "y/a", "--output-dir", "out")
    p.fails(2, "both", "encrypt", "-k", "key", "x/a", "./x/a")
    # An output that is another input would be replaced before it is read.
    p.write("x/a.ws", b"precious")
    p.ok("-q", "encrypt", "-k", "key", "x/a.ws", "y/a", "--keep-going")
    for force in [[], ["--force"]]:
        p.fails(2, ["'x/a.ws'", "input"], "encrypt", "-k", "key", *force, "x/a", "x/a.ws", "--threads", "1")
        check_equal(p.read("x/a.ws"), b"precious", "an input")


@case
def options_that_exclude_each_other(p):
    p.key()
    many.tree(p, ["a", "b"])
    p.fails(2, ["-o", "2 inputs", "--output-dir"], "encrypt", "-k", "key", "a", "b", "-o", "out")
    p.fails(2, "-o", "encrypt", "-k", "key", "--recursive", "a", "-o", "out")
    p.fails(2, "-o", "encrypt", "-k", "key", "a", "--suffix", ".x", "-o", "out")
    p.fails(2, "alone", "encrypt", "-k", "key", "a", "-")
    p.fails(2, "alone", "encrypt", "-k", "key", "--rm", "-")
    p.fails(2, "alone", "decrypt", "-k", "key", "--range", "0:1", "a", "b")
    p.fails(2, "--json", "encrypt", "-k", "key", "--json", "-o", "-", "a")
    p.fails(2, "no file is named", "encrypt", "-k", "key", "--rm")
    p.fails(2, "no key", "encrypt", "a", "b")
    p.fails(2, "no key", "decrypt", "a", "b")
    p.fails(2, "-i -", "decrypt", "-i", "-", "a", "b")
    # Nothing but one named input may have -o.
    p.ok("encrypt", "-k", "key", "--keep-going", "a", "-o", "out")
    check("out" in many.names(p), "an output")


@case
def other_formats(p):
    contents = many.tree(p, ["a", "b"])
    p.key()
    p.ok("-q", "keygen", "--age", "-o", "identity")
    recipient = p.ok("keygen", "-y", "identity").out.decode().strip()
    p.ok("encrypt", "--format", "age", "-r", recipient, "a", "b")
    p.ok("encrypt", "-r", recipient, "a", "b")
    p.ok("encrypt", "-k", "key", "--format", "floe", "a", "b")
    p.ok("encrypt", "-k", "key", "--format", "cobblestone", "--suffix", ".cs", "a", "b")
    for options, ending, out in [(["-i", "identity"], ".age", "1"), (["-i", "identity"], ".ws", "4"), (["-k", "key"], ".floe", "2"),
                                 (["-k", "key", "--format", "cobblestone", "--suffix", ".cs"], ".cs", "3")]:
        p.ok("verify", *[option for option in options if option not in ("--suffix", ".cs")], "a" + ending, "b" + ending)
        p.ok("decrypt", *options, "a" + ending, "b" + ending, "--output-dir", out)
        for name, content in contents.items():
            check_equal(p.read(f"{out}/{name}"), content, name + ending)


@case
def a_big_file_among_small_ones(p):
    p.key()
    contents = many.tree(p, ["a", "b"])
    contents["big"] = some_bytes(5 << 20)
    p.write("big", contents["big"])
    p.ok("encrypt", "-k", "key", "a", "big", "b", "--output-dir", "out")
    p.ok("decrypt", "-k", "key", "--recursive", "out", "--output-dir", "back")
    for name, content in contents.items():
        check(p.read("back/out/" + name) == content, name)


main()
