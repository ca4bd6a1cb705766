"""What the tests of --tar share: trees with their content, and archives made by Python's tarfile."""

import hashlib
import io
import os
import stat
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from program import check_equal, some_bytes  # pylint: disable=wrong-import-position

RECIPIENT = "age1q2n8gez7zz66xus3rtnug9efh5tns5vuau2p434k8my5zg70zpjs3k99m3"
IDENTITY = b"AGE-SECRET-KEY-1JMR3HQSFYRQUU33G4DQXDVE4W0Q0SQEWKX5U8VNNRT83RYEMSKCSAP89HU\n"
AGE = ["--format", "age", "-r", RECIPIENT]
OPEN_AGE = ["-i", "identity"]
KEY = ["-k", "key"]


def described(top):
    """Returns mode, time and content of everything below a directory, by path as bytes. Files with
    one inode have one number."""
    top = os.fsencode(top)
    seen, groups = {}, {}
    for root, directories, files in os.walk(top):
        for name in directories + files + ([b"."] if root == top else []):
            path = os.path.join(root, name)
            about = os.lstat(path)
            content = None
            if stat.S_ISREG(about.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest(), about.st_size
            elif stat.S_ISLNK(about.st_mode):
                content = os.readlink(path)
            group = None
            if stat.S_ISREG(about.st_mode) and about.st_nlink > 1:
                group = groups.setdefault(about.st_ino, len(groups))
            mode = None if stat.S_ISLNK(about.st_mode) else about.st_mode
            seen[os.path.relpath(path, top)] = (mode, about.st_mtime_ns, content, group)
    return {path: seen[path] for path in sorted(seen)}


def same_but_groups(tree):
    """Numbers of inodes depend on the order of a walk, which differs between directories."""
    by_group = {}
    for path, row in tree.items():
        if row[3] is not None:
            by_group.setdefault(row[3], []).append(path)
    return ({path: row[:3] for path, row in tree.items()}, sorted(paths for paths in by_group.values() if len(paths) > 1))


def check_same_tree(got, wanted):
    got, wanted = same_but_groups(described(got)), same_but_groups(described(wanted))
    check_equal(list(got[0]), list(wanted[0]), "names")
    for path, row in wanted[0].items():
        check_equal(got[0][path], row, f"{path!r}")
    check_equal(got[1], wanted[1], "hard links")


def member(name, kind=tarfile.REGTYPE, content=b"", **fields):
    info = tarfile.TarInfo(name)
    info.type, info.size, info.mode = kind, len(content), 0o644
    if kind == tarfile.DIRTYPE:
        info.mode = 0o755
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def archive(members, form=tarfile.PAX_FORMAT):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as out:
        for info, content in members:
            out.addfile(info, io.BytesIO(content))
    return made.getvalue()


def sealed_archive(p, members, name="evil.ws", form=tarfile.PAX_FORMAT):
    return p.sealed(members if isinstance(members, bytes) else archive(members, form), name)


def age_identity(p):
    p.write("identity", IDENTITY, 0o600)


def small_tree(p, count=20, size=100_000):
    p.key()
    os.mkdir(p.file("in"))
    for i in range(count):
        p.write(f"in/{i:03}", some_bytes(size, i))
