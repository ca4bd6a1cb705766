"""Files of age, FLOE and openssl enc: stored answers, round trips, damage and arguments."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import zlib
from typing import Any

import pytest
import warpseal
from warpseal import _bech32
from warpseal._openssl import Cipher
from warpseal.hazmat import BlockCipher, open_openssl_file

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "vectors"
KEY = bytes(range(32))
CHUNK = 65536
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 64 * CHUNK, 64 * CHUNK + 1, 5_000_000]
FAILURES = (
    warpseal.InvalidTag,
    warpseal.TruncatedError,
    warpseal.LimitExceededError,
    warpseal.UnsupportedError,
)


def text_of(size: int) -> bytes:
    return (bytes(i * 7 % 251 for i in range(min(size, 5000))) * (size // 5000 + 1))[:size]


def pair(folder: pathlib.Path, text: bytes) -> tuple[pathlib.Path, pathlib.Path]:
    (folder / "plain").write_bytes(text)
    return folder / "plain", folder / "sealed"


def kit() -> list[tuple[str, dict[str, list[str]], bytes]]:
    files = []
    for path in sorted((VECTORS / "age" / "testdata").iterdir()):
        head, _, body = path.read_bytes().partition(b"\n\n")
        values: dict[str, list[str]] = {}
        for line in head.decode().splitlines():
            key, _, value = line.partition(": ")
            values.setdefault(key, []).append(value)
        files.append((path.name, values, zlib.decompress(body) if "compressed" in values else body))
    return files


@pytest.mark.parametrize(("name", "values", "content"), kit(), ids=lambda value: str(value)[:40])
def test_age_answers(
    tmp_path: pathlib.Path, name: str, values: dict[str, list[str]], content: bytes
) -> None:
    sealed, opened = tmp_path / "sealed", tmp_path / "opened"
    sealed.write_bytes(content)
    secrets: dict[str, Any] = {}
    if "identity" in values:
        secrets["identities"] = values["identity"]
    if "passphrase" in values:
        secrets["passphrase"] = values["passphrase"][0]
    if not secrets:
        secrets["passphrase"] = "none is given"
    expect = values["expect"][0]
    try:
        warpseal.open_file(sealed, opened, format="age", **secrets)
    except warpseal.WrongKeyError:
        assert expect == "no match"
    except FAILURES:
        assert expect not in ("success", "no match")
    else:
        assert expect == "success"
        assert hashlib.sha256(opened.read_bytes()).hexdigest() == values["payload"][0]
    assert opened.exists() == (expect == "success")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("post_quantum", [False, True])
def test_age_round_trip(tmp_path: pathlib.Path, size: int, post_quantum: bool) -> None:
    identity, recipient = warpseal.generate_identity(post_quantum=post_quantum)
    text = text_of(size)
    plain, sealed = pair(tmp_path, text)
    result = warpseal.seal_file(plain, sealed, format="age", recipients=[recipient])
    assert (result.plaintext_bytes, result.file_bytes) == (size, sealed.stat().st_size)
    warpseal.open_file(sealed, tmp_path / "opened", format="age", identities=[identity])
    assert (tmp_path / "opened").read_bytes() == text
    warpseal.verify(sealed, format="age", identities=[identity])
    with warpseal.open(sealed, format="age", identities=[identity]) as file:
        assert file.read() == text
    other, _ = warpseal.generate_identity(post_quantum=post_quantum)
    with pytest.raises(warpseal.WrongKeyError):
        warpseal.verify(sealed, format="age", identities=[other])


def test_age_passphrase_and_streams(tmp_path: pathlib.Path) -> None:
    with warpseal.open(tmp_path / "sealed", "wb", format="age", passphrase="correct horse") as out:
        out.write(text_of(200_000))
    with warpseal.open(tmp_path / "sealed", format="age", passphrase="correct horse") as file:
        assert file.read() == text_of(200_000)
        with pytest.raises(io.UnsupportedOperation):
            file.read_at(0, 1)
    with pytest.raises(warpseal.WrongKeyError):
        warpseal.verify(tmp_path / "sealed", format="age", passphrase="wrong horse")


@pytest.mark.parametrize(("log2", "advice"), [(21, True), (22, True), (23, False), (99, False)])
def test_age_passphrase_that_costs_too_much(
    tmp_path: pathlib.Path, log2: int, advice: bool
) -> None:
    salt, wrapped, mac = ("A" * length for length in (22, 43, 43))
    header = f"age-encryption.org/v1\n-> scrypt {salt} {log2}\n{wrapped}\n--- {mac}\n"
    sealed = tmp_path / "sealed"
    sealed.write_bytes(header.encode() + bytes(100))
    with pytest.raises(warpseal.LimitExceededError, match="GiB") as raised:
        warpseal.verify(sealed, format="age", passphrase="words")
    assert ("the program `warpseal` reads" in str(raised.value)) == advice


def test_age_in_an_armor(tmp_path: pathlib.Path) -> None:
    identity, recipient = warpseal.generate_identity()
    plain, sealed = pair(tmp_path, text_of(100_000))
    warpseal.seal_file(plain, sealed, format="age", recipients=[recipient])
    lines = base64.b64encode(sealed.read_bytes())
    parts = [lines[at : at + 64] for at in range(0, len(lines), 64)]
    head, end = b"-----BEGIN AGE ENCRYPTED FILE-----", b"-----END AGE ENCRYPTED FILE-----"
    for newline, before, after in ((b"\n", b"", b""), (b"\r\n", b" \n\n", b"\n \n")):
        sealed.write_bytes(before + newline.join([head, *parts, end]) + after)
        warpseal.open_file(
            sealed, tmp_path / "opened", format="age", identities=[identity], overwrite=True
        )
        assert (tmp_path / "opened").read_bytes() == text_of(100_000)


def test_damaged_age_files(tmp_path: pathlib.Path) -> None:
    identity, recipient = warpseal.generate_identity()
    plain, sealed = pair(tmp_path, text_of(3 * CHUNK + 5))
    warpseal.seal_file(plain, sealed, format="age", recipients=[recipient])
    whole = sealed.read_bytes()
    changes = [
        whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 9973)
    ]
    cuts = [whole[:length] for length in (0, 10, 150, len(whole) - 21, len(whole) - 1)]
    for damaged in [*changes, *cuts, whole + b"x", whole + bytes(CHUNK + 16)]:
        sealed.write_bytes(damaged)
        with pytest.raises((*FAILURES, warpseal.WrongKeyError)):
            warpseal.open_file(sealed, tmp_path / "opened", format="age", identities=[identity])
        assert not (tmp_path / "opened").exists()


def test_floe_answers(tmp_path: pathlib.Path) -> None:
    with gzip.open(VECTORS / "floe" / "floe.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    opened = 0
    for row in rows:
        if row["rotation_bits"] != 20:
            continue  # keys that change after other than 2^20 segments are a parameter of tests
        (tmp_path / "sealed").write_bytes(bytes.fromhex(row["ct"]))
        secrets: dict[str, Any] = {
            "format": "floe",
            "key": bytes.fromhex(row["key"]),
            "context": bytes.fromhex(row["aad"]),
            "overwrite": True,
        }
        if row["valid"]:
            warpseal.open_file(tmp_path / "sealed", tmp_path / "opened", **secrets)
            assert (tmp_path / "opened").read_bytes() == bytes.fromhex(row["pt"]), row.get("id")
            opened += 1
        else:
            with pytest.raises((*FAILURES, warpseal.WrongKeyError)):
                warpseal.open_file(tmp_path / "sealed", tmp_path / "none", **secrets)
    assert opened > 5


FLOE_TEXT = (1 << 20) - 32


@pytest.mark.parametrize("size", [0, 1, FLOE_TEXT, FLOE_TEXT + 1, 16 * FLOE_TEXT + 9])
def test_floe_round_trip(tmp_path: pathlib.Path, size: int) -> None:
    plain, sealed = pair(tmp_path, text_of(size))
    result = warpseal.seal_file(plain, sealed, format="floe", key=KEY, context=b"bound")
    segments = max(1, -(-size // FLOE_TEXT))
    assert result.file_bytes == sealed.stat().st_size == 74 + size + 32 * segments
    warpseal.open_file(sealed, tmp_path / "opened", format="floe", key=KEY, context=b"bound")
    assert (tmp_path / "opened").read_bytes() == text_of(size)
    for key, context in ((bytes(32), b"bound"), (KEY, b"other")):
        with pytest.raises(warpseal.WrongKeyError):
            warpseal.verify(sealed, format="floe", key=key, context=context)
    whole = sealed.read_bytes()
    for damaged in (whole[:-1], whole + b"x", whole[:80], whole[:-1] + bytes([whole[-1] ^ 1])):
        sealed.write_bytes(damaged)
        with pytest.raises(FAILURES):
            warpseal.verify(sealed, format="floe", key=KEY, context=b"bound")


def openssl_rows() -> list[dict[str, Any]]:
    lines = (VECTORS / "openssl-enc" / "files.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("row", openssl_rows(), ids=lambda row: f"{row['file']}-{row['cipher']}")
def test_openssl_answers(tmp_path: pathlib.Path, row: dict[str, Any]) -> None:
    source, target = VECTORS / "openssl-enc" / row["file"], tmp_path / "opened"
    given: dict[str, Any] = {
        "passphrase": row["password"],
        "cipher": row["cipher"],
        "digest": row["md"],
        "iterations": row["iterations"] if row["kdf"] == "pbkdf2" else None,
        "salted": "-nosalt" not in (row.get("options") or []),
    }
    if not row["valid"]:
        with pytest.raises((*FAILURES, warpseal.BadPaddingError)):
            open_openssl_file(source, target, **given)
        assert not target.exists()
        return
    result = open_openssl_file(source, target, **given)
    text = target.read_bytes()
    assert (len(text), hashlib.sha256(text).hexdigest()) == (row["bytes"], row["sha256"])
    assert (result.plaintext_bytes, result.file_bytes) == (len(text), source.stat().st_size)
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        open_openssl_file(source, target, **given)


@pytest.mark.parametrize("mode", ["cbc", "ctr", "cfb", "ofb"])
@pytest.mark.parametrize("coded", [False, True])
def test_openssl_files_of_several_batches(tmp_path: pathlib.Path, mode: str, coded: bool) -> None:
    text, salt = text_of(2 * (1 << 20) + 77), bytes(range(8))
    derived = hashlib.pbkdf2_hmac("sha512", b"word", salt, 77, 32 + 16)
    cipher, iv = BlockCipher("aes-256", derived[:32]), derived[32:]
    sealed = cipher.encrypt_padded(iv, text) if mode == "cbc" else cipher.encrypt(mode, iv, text)
    content = b"Salted__" + salt + sealed
    if coded:
        content = base64.encodebytes(content).replace(b"\n", b"\r\n")
    source, target = tmp_path / "sealed", tmp_path / "opened"
    source.write_bytes(content)
    given: dict[str, Any] = {"cipher": f"aes-256-{mode}", "digest": "sha512", "iterations": 77}
    open_openssl_file(source, target, passphrase=b"word", **given)
    assert target.read_bytes() == text
    # The last one has more white space than a part that is read at once.
    for bad in (content + b"A", content[:-3], content + b" " * 200_000 + b"AAAA") if coded else ():
        source.write_bytes(bad)
        with pytest.raises((warpseal.TruncatedError, warpseal.UnsupportedError)):
            open_openssl_file(source, tmp_path / "never", passphrase=b"word", **given)
    assert not (tmp_path / "never").exists()
    for wrong in ({"cipher": "aes-256-ecb"}, {"cipher": "none"}, {"iterations": 0}):
        with pytest.raises(ValueError, match="cipher|iterations"):
            open_openssl_file(source, tmp_path / "never", passphrase="", **{**given, **wrong})


@pytest.mark.parametrize(
    ("name", "key_bytes", "block_bytes", "mode"),
    [
        ("AES256", 32, 16, "cbc"),
        ("-aria192", 24, 16, "cbc"),
        ("camellia-128-ofb", 16, 16, "ofb"),
        ("sm4-ctr", 16, 16, "ctr"),
        ("seed", 16, 16, "cbc"),
        ("des", 8, 8, "cbc"),
        ("des-ede-cbc", 16, 8, "cbc"),
        ("des3", 24, 8, "cbc"),
    ],
)
def test_names_of_openssl(name: str, key_bytes: int, block_bytes: int, mode: str) -> None:
    cipher = Cipher(name)
    assert (cipher.key_bytes, cipher.block_bytes, cipher.mode) == (key_bytes, block_bytes, mode)


def test_arguments(tmp_path: pathlib.Path) -> None:
    _, recipient = warpseal.generate_identity()
    _, hybrid = warpseal.generate_identity(post_quantum=True)
    plain, sealed = pair(tmp_path, b"text")
    wrong: list[dict[str, Any]] = [
        {"format": "age", "key": KEY},
        {"format": "age", "recipients": [recipient, hybrid]},
        {"format": "age", "recipients": [recipient], "passphrase": "word"},
        {"format": "age", "recipients": [recipient], "context": b"x"},
        {"format": "age", "recipients": [recipient], "suite": "aes-256-gcm"},
        {"format": "age", "recipients": ["age1" + "q" * 58]},
        {"format": "age", "recipients": ["ssh-ed25519 AAAA"]},
        {"format": "floe", "passphrase": "word"},
        {"format": "floe", "key": KEY[:16]},
        {"format": "floe", "key": KEY, "recipients": [recipient]},
        {"format": "zip", "key": KEY},
    ]
    for options in wrong:
        with pytest.raises(ValueError):
            warpseal.seal_file(plain, sealed, **options)
        assert not sealed.exists()
    calls: list[tuple[int, int | None]] = []

    def stop(done: int, total: int | None) -> None:
        calls.append((done, total))
        raise KeyError("enough")

    plain.write_bytes(bytes(300_000_000))
    with pytest.raises(KeyError):
        warpseal.seal_file(plain, sealed, format="age", recipients=[recipient], progress=stop)
    assert calls and calls[0][1] == 300_000_000 and not sealed.exists()
    with pytest.raises(TypeError, match="give a path"):
        warpseal.open(io.BytesIO(b""), format="floe", key=KEY)


def test_bech32() -> None:
    for size in (0, 1, 31, 32, 1216):
        data = os.urandom(size)
        text = _bech32.encode("age", data)
        assert _bech32.decode(text) == ("age", data, False)
        assert _bech32.decode(text.upper()) == ("age", data, True)
        assert _bech32.decode(text[:-1] + ("q" if text[-1] != "q" else "p")) is None
        assert _bech32.decode(text[0].upper() + text[1:]) is None
    assert _bech32.decode("") is None and _bech32.decode("1qqqqqq") is None
