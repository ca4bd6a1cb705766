"""warpseal.torch on the CPU: state dicts, safetensors, checkpoints of torch.distributed."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
import warpseal
from warpseal.arrays import AEAD

torch: Any = pytest.importorskip("torch", reason="no PyTorch")
wt: Any = pytest.importorskip("warpseal.torch")

KEY = bytes(range(32))


def tensors() -> dict[str, Any]:
    generator = torch.Generator().manual_seed(1)
    return {
        "weight": torch.randn(300, 70, generator=generator),
        "half": torch.randn(5, 7, generator=generator).to(torch.bfloat16),
        "scalar": torch.tensor(3.5, dtype=torch.float64),
        "none": torch.zeros(0, 4),
        "flags": torch.tensor([True, False, True]),
        "complex": torch.randn(9, dtype=torch.complex64, generator=generator),
    }


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(value, other[name]) and value.dtype == other[name].dtype
        for name, value in one.items()
    )


def test_state_dicts(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state.ws"
    wt.save(tensors(), path, key=KEY)
    assert b"weight" not in path.read_bytes()
    assert same(wt.load(path, key=KEY), tensors())
    with pytest.raises(warpseal.WrongKeyError):
        wt.load(path, key=bytes(32))
    with pytest.raises(FileExistsError):
        wt.save({}, path, key=KEY)


def test_safetensors(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "weights.safetensors.ws"
    wt.save_file(tensors(), path, metadata={"format": "pt"}, passphrase="words")
    with wt.safe_open(path, passphrase="words") as file:
        assert set(file.keys()) == set(tensors()) and len(file) == 6
        assert file.metadata() == {"format": "pt"}
        assert file.get_shape("weight") == (300, 70)
        assert torch.equal(file.get_tensor("half"), tensors()["half"])
        out = torch.zeros(300, 70)
        assert file.get_tensor("weight", out=out) is out
        assert torch.equal(out, tensors()["weight"])
        with pytest.raises(ValueError, match="out has 20 bytes: 84000 are needed"):
            file.get_tensor("weight", out=torch.zeros(5))
        with pytest.raises(KeyError):
            file.get_tensor("bias")
    assert same(wt.load_file(path, passphrase="words"), tensors())


def test_recipients(tmp_path: pathlib.Path) -> None:
    identity, recipient = warpseal.generate_identity()
    path = tmp_path / "state.ws"
    wt.save(tensors(), path, recipients=[recipient])
    assert same(wt.load(path, identities=[identity]), tensors())
    weights = tmp_path / "weights.safetensors.ws"
    wt.save_file(tensors(), weights, recipients=[recipient])
    assert same(wt.load_file(weights, identities=[identity]), tensors())


def test_the_library_reads_what_is_sealed(tmp_path: pathlib.Path) -> None:
    library: Any = pytest.importorskip("safetensors.torch", reason="no safetensors")
    sealed, plain = tmp_path / "x.ws", tmp_path / "x.safetensors"
    wt.save_file(tensors(), sealed, key=KEY, metadata={"a": "b"})
    warpseal.open_file(sealed, plain, key=KEY)
    assert same(library.load_file(plain), tensors())
    library.save_file(tensors(), plain)
    warpseal.seal_file(plain, sealed, key=KEY, overwrite=True)
    assert same(wt.load_file(sealed, key=KEY), tensors())


def test_only_the_damaged_tensor_is_lost(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.ws"
    wt.save_file({"a": torch.ones(100_000), "b": torch.ones(100_000)}, path, key=KEY)
    content = bytearray(path.read_bytes())
    content[-500_000] ^= 1
    path.write_bytes(content)
    with wt.safe_open(path, key=KEY) as file:
        assert torch.equal(file.get_tensor("b"), torch.ones(100_000))
        out = torch.ones(100_000)
        with pytest.raises(warpseal.InvalidTag):
            file.get_tensor("a", out=out)
        assert not out.any()
    with pytest.raises(warpseal.InvalidTag):
        wt.load_file(path, key=KEY)


def test_a_type_that_pytorch_lacks(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.ws"
    wt.save_file({"a": torch.ones(3), "b": torch.ones(3, dtype=torch.int16)}, path, key=KEY)
    monkeypatch.delitem(wt._TYPES, "I16")
    with pytest.raises(warpseal.UnsupportedError, match="'b' has the type I16"):
        wt.load_file(path, key=KEY)
    with wt.safe_open(path, key=KEY) as file:
        assert torch.equal(file.get_tensor("a"), torch.ones(3))


def test_refused_tensors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="'x' is not contiguous"):
        wt.save_file({"x": torch.zeros(4, 4).T}, tmp_path / "x.ws", key=KEY)
    with pytest.raises(warpseal.UnsupportedError, match="complex128"):
        wt.save_file({"x": torch.zeros(4, dtype=torch.complex128)}, tmp_path / "x.ws", key=KEY)
    (tmp_path / "plain").write_bytes(bytes(100))
    warpseal.seal_file(tmp_path / "plain", tmp_path / "y.ws", key=KEY)
    with pytest.raises(ValueError, match="not a safetensors file"):
        wt.safe_open(tmp_path / "y.ws", key=KEY)
    assert not (tmp_path / "x.ws").exists()


def test_tensors_as_arrays() -> None:
    tensor = torch.arange(60, dtype=torch.float32).reshape(6, 10)
    before = tensor.clone()
    sealed = AEAD(KEY).seal(tensor, out=tensor, rows=True)
    assert sealed.data is tensor and sealed.nonces.shape == (6, 12)
    assert not torch.equal(tensor, before)
    assert torch.equal(AEAD(KEY).open(sealed, rows=True).data, before)
    several = [torch.ones(3), torch.zeros(5, dtype=torch.int64)]
    opened = AEAD(KEY).open(AEAD(KEY).seal(several))
    assert all(torch.equal(a, b) for a, b in zip(opened.data, several, strict=True))
    with pytest.raises((BufferError, RuntimeError), match="grad"):
        AEAD(KEY).seal(torch.ones(3, requires_grad=True))


def test_checkpoints(tmp_path: pathlib.Path) -> None:
    dcp: Any = pytest.importorskip("torch.distributed.checkpoint")
    pytest.importorskip("torch.distributed.checkpoint._extension", reason="no PyTorch 2.7")
    from torch.distributed.checkpoint._extension import ExtensionRegistry

    extension = wt.checkpoint_extension(key=KEY)
    assert extension().get_descriptor() == "stream.warpseal/1"
    state = {"model": {"w": torch.arange(1000.0), "b": torch.ones(3)}, "step": 17}
    dcp.save(
        state, storage_writer=dcp.FileSystemWriter(tmp_path, _extensions=[extension()]),
        no_dist=True,
    )
    written = b"".join(path.read_bytes() for path in tmp_path.glob("*.distcp"))
    assert torch.arange(1000.0).numpy().tobytes()[:64] not in written
    registry = ExtensionRegistry()
    registry.register(extension)
    loaded: dict[str, Any] = {"model": {"w": torch.zeros(1000), "b": torch.zeros(3)}, "step": 0}
    dcp.load(
        loaded,
        storage_reader=dcp.FileSystemReader(tmp_path, _extension_registry=registry),
        no_dist=True,
    )
    assert torch.equal(loaded["model"]["w"], state["model"]["w"])  # type: ignore[index]
    assert loaded["step"] == 17
    with pytest.raises(warpseal.UnsupportedError, match="version '2'"):
        extension.from_descriptor("2")
