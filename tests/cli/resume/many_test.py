"""--resume in runs over many files."""

import os

from unfinished import CONTENT, WINDOW, killed

from many import names, rows, tree
from program import case, check, check_equal, main, some_bytes

RUN = ["encrypt", "--resume", "--recursive", "--skip-done", "-k", "key", "store"]


def big_tree(p):
    p.key()
    contents = tree(p, ["a", "b/c"], "store")
    for number, name in enumerate(["store/big", "store/b/bigger"]):
        contents[name] = some_bytes(WINDOW + 100_000, number)
        p.write(name, contents[name])
    return contents


def killed_in_big_file(p):
    contents = big_tree(p)
    # Two small files have four writes each, and the big one has more.
    check(killed(p, "pwritev", 8 + 3 + 128 + 2, *RUN), "the run was not killed")
    left = [name for name in names(p, "store") if name.endswith(".unfinished")]
    check_equal(len(left), 1, "unfinished outputs")
    return contents


@case
def a_tree_is_continued(p):
    contents = killed_in_big_file(p)
    result = p.ok(*RUN, "--json")
    check_equal(set(rows(result)), set(contents), "an unfinished output was taken for an input")
    check_equal(result.err.count("was continued: 32.0 MiB"), 1, result.err)
    check_equal(names(p, "store"), sorted([*contents, *[name + ".ws" for name in contents]]), "files")
    p.ok("decrypt", "--recursive", "--resume", "-k", "key", "store", "--output-dir", "out")
    for name, content in contents.items():
        check(p.read("out/" + name) == content, name)


@case
def without_resume_it_stays(p):
    contents = killed_in_big_file(p)
    left = [name for name in names(p, "store") if name.endswith(".unfinished")]
    p.ok("encrypt", "--recursive", "--skip-done", "-k", "key", "store")
    check_equal([name for name in names(p, "store") if name.endswith(".unfinished")], left, "unfinished outputs")
    check_equal(len(names(p, "store")), 2 * len(contents) + 1, "files")


@case
def inputs_go_when_their_outputs_are_whole(p):
    p.key()
    p.write("plain", CONTENT)
    command = ["encrypt", "--resume", "--rm", "-k", "key", "plain"]
    check(killed(p, "pwritev", 3 + 128 + 4, *command), "the run was not killed")
    check(os.path.exists(p.file("plain")), "the input is gone")
    p.ok(*command)
    check_equal(names(p), ["key", "plain.ws"], "files")


main()
