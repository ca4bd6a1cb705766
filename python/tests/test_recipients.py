"""Recipients, identities, key slots and many files."""

from __future__ import annotations

import gc
import os
import pathlib
import threading
from typing import Any

import pytest
import warpseal
from warpseal import _core, _many

KEY, OTHER = bytes(range(32)), bytes(32)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "plain").write_bytes(b"a text\n" * 1000)
    return tmp_path


def opens(path: pathlib.Path, **secrets: Any) -> bool:
    try:
        with warpseal.open(path, **secrets) as file:
            return bool(file.read() == b"a text\n" * 1000)
    except warpseal.WrongKeyError:
        return False


@pytest.mark.parametrize("post_quantum", [False, True])
def test_recipients(folder: pathlib.Path, post_quantum: bool) -> None:
    people = [warpseal.generate_identity(post_quantum=post_quantum) for _ in range(3)]
    prefix = "age1pq1" if post_quantum else "age1"
    assert all(recipient.startswith(prefix) for _, recipient in people)
    recipients = [recipient for _, recipient in people[:2]]
    sealed = folder / "sealed"
    warpseal.seal_file(folder / "plain", sealed, recipients=recipients, key=KEY)
    kind = "mlkem768x25519" if post_quantum else "x25519"
    assert [slot.type for slot in warpseal.slots(sealed)] == ["key", kind, kind]
    for identity, _ in people[:2]:
        assert opens(sealed, identities=[identity])
        assert opens(sealed, identities=[people[2][0], identity.encode() + b"\n"])
        warpseal.verify(sealed, identities=[identity])
        warpseal.open_file(sealed, folder / "opened", identities=[identity], overwrite=True)
    assert opens(sealed, key=KEY) and not opens(sealed, identities=[people[2][0]])
    with warpseal.open(folder / "stream", "wb", recipients=recipients) as file:
        file.write(b"a text\n" * 1000)
    assert opens(folder / "stream", identities=[people[1][0]])


def test_wrong_texts(folder: pathlib.Path) -> None:
    identity, recipient = warpseal.generate_identity()
    _, other = warpseal.generate_identity(post_quantum=True)
    sealed = folder / "sealed"
    for recipients in ([identity], ["age1"], [recipient[:-1]], [recipient, other]):
        with pytest.raises(ValueError) as error:
            warpseal.seal_file(folder / "plain", sealed, recipients=recipients)
        assert identity not in str(error.value) and not sealed.exists()
    warpseal.seal_file(folder / "plain", sealed, recipients=[recipient])
    for wrong in (recipient, identity.lower(), identity[:-1]):
        with pytest.raises(ValueError) as error:
            warpseal.verify(sealed, identities=[wrong])
        assert wrong not in str(error.value)
    with pytest.raises(TypeError, match="recipients: a sequence"):
        warpseal.seal_file(folder / "plain", sealed, recipients=recipient)
    with pytest.raises(ValueError, match="identities"):
        warpseal.open(folder / "x", "wb", identities=[identity])  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="recipients"):
        warpseal.open(sealed, recipients=[recipient])  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="identities="):
        warpseal.verify(sealed)


def test_slots_change_in_place(folder: pathlib.Path) -> None:
    identity, recipient = warpseal.generate_identity()
    sealed = folder / "sealed"
    warpseal.seal_file(folder / "plain", sealed, key=KEY)
    inode = sealed.stat().st_ino
    change = warpseal.change_slots(
        sealed, key=KEY, new_recipients=[recipient], new_passphrase="word"
    )
    assert change == warpseal.SlotChange(removed=0, slots=3)
    assert opens(sealed, identities=[identity]) and opens(sealed, passphrase="word")
    change = warpseal.change_slots(sealed, identities=[identity], remove=[0])
    assert (change.removed, change.slots) == (1, 2) and not opens(sealed, key=KEY)
    change = warpseal.change_slots(sealed, passphrase="word", new_passphrase="new", replace=True)
    assert (change.removed, change.slots) == (1, 2)
    assert opens(sealed, passphrase=b"new") and not opens(sealed, passphrase="word")
    assert sealed.stat().st_ino == inode
    before = sealed.read_bytes()
    with pytest.raises(warpseal.WrongKeyError):
        warpseal.change_slots(sealed, key=KEY, new_key=OTHER)
    with pytest.raises(ValueError, match="no slot 8"):
        warpseal.change_slots(sealed, passphrase="new", remove=[7])
    with pytest.raises(ValueError, match="give key="):
        warpseal.change_slots(sealed, new_key=OTHER)
    with pytest.raises(FileNotFoundError):
        warpseal.change_slots(folder / "none", key=KEY)
    assert sealed.read_bytes() == before


def many(folder: pathlib.Path, count: int) -> list[tuple[pathlib.Path, pathlib.Path]]:
    (folder / "out").mkdir()
    pairs = [(folder / f"{number}.txt", folder / "out" / f"{number}.ws") for number in range(count)]
    for number, (source, _) in enumerate(pairs):
        source.write_bytes(bytes([number]) * (number * 1000))
    return pairs


def test_many_files(folder: pathlib.Path) -> None:
    pairs = many(folder, 20)
    results = warpseal.seal_files(pairs, passphrase="one word")
    assert [result.plaintext_bytes for result in results] == [n * 1000 for n in range(20)]
    salts = {target.read_bytes()[4096 + 28 : 4096 + 44] for _, target in pairs}
    assert len(salts) == 1
    opened = [(target, folder / f"{number}.opened") for number, (_, target) in enumerate(pairs)]
    warpseal.open_files(opened, passphrase="one word")
    for (source, _), (_, target) in zip(pairs, opened, strict=True):
        assert target.read_bytes() == source.read_bytes()
    changes = warpseal.change_slots_of(
        [target for _, target in pairs], passphrase="one word", new_key=KEY, replace=True
    )
    assert changes == [warpseal.SlotChange(1, 1)] * 20
    warpseal.verify(pairs[7][1], key=KEY)


def test_failures_of_many_files(folder: pathlib.Path) -> None:
    pairs = many(folder, 8)
    pairs[3][0].unlink()
    pairs[5][1].write_bytes(b"older")
    with pytest.raises((FileNotFoundError, FileExistsError)) as first:
        warpseal.seal_files(pairs, key=KEY, threads=1)
    assert isinstance(first.value, FileNotFoundError) and "3.txt" in first.value.__notes__[0]
    assert [target.exists() for _, target in pairs[:3]] == [True] * 3
    assert not pairs[4][1].exists() and pairs[5][1].read_bytes() == b"older"
    for _, target in pairs[:3]:
        target.unlink()
    with pytest.raises(ExceptionGroup) as group:
        warpseal.seal_files(pairs, key=KEY, keep_going=True)
    assert str(group.value).startswith("2 of 8 files failed")
    kinds = {type(error) for error in group.value.exceptions}
    assert kinds == {FileNotFoundError, FileExistsError}
    assert [target.exists() for _, target in pairs] == [n != 3 for n in range(8)]
    with pytest.raises(ValueError, match="same target"):
        warpseal.seal_files([(pairs[0][0], pairs[0][1])] * 2, key=KEY)
    files = [pairs[0][1], folder / "none"]
    with pytest.raises(ExceptionGroup):
        warpseal.change_slots_of(files, key=KEY, new_key=OTHER, keep_going=True)
    assert len(warpseal.slots(pairs[0][1])) == 2


def test_no_file_after_the_first_failure() -> None:
    worked = []

    def work(number: int) -> int:
        worked.append(number)
        if number == 3:
            raise FileNotFoundError(number)
        return number

    names = [str(number) for number in range(10_000)]
    with pytest.raises(FileNotFoundError):
        _many._run(names, work, _core.Cancellation(), threads=1, keep_going=False)
    assert worked == [0, 1, 2, 3]


def test_interrupt_of_many_files(folder: pathlib.Path) -> None:
    pairs = many(folder, 3)
    for source, _ in pairs:
        with source.open("wb") as file:
            file.truncate(4 << 30)  # takes longer than the signal
    timer = threading.Timer(0.3, os.kill, [os.getpid(), 2])
    gc.disable()  # Hypothesis has a callback there, in which an interrupt would be lost
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            warpseal.seal_files(pairs, key=KEY)
    finally:
        gc.enable()
    timer.join()
    assert not list((folder / "out").iterdir())
