"""On a real GPU, with PyTorch and CuPy: scripts/gpu-test runs these."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import numpy
import pytest
import warpseal
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from warpseal import _core
from warpseal.arrays import AEAD, Sealed, raise_if_failed
from warpseal.kem import KEM

if not _core.has_cuda:
    pytest.skip("no GPU: this build has no CUDA", allow_module_level=True)
torch: Any = pytest.importorskip("torch", reason="no PyTorch")
if not torch.cuda.is_available():
    pytest.skip("no GPU for PyTorch", allow_module_level=True)
wt: Any = pytest.importorskip("warpseal.torch")

KEY = bytes(range(32))
GPU = "cuda:0"


def random_tensor(*shape: int, seed: int = 1, dtype: Any = None) -> Any:
    generator = torch.Generator(GPU).manual_seed(seed)
    tensor = torch.randn(*shape, generator=generator, device=GPU)
    return tensor if dtype is None else tensor.to(dtype)


def opened_by_pyca(data: Any, nonce: Any, tag: Any, aad: bytes | None = None) -> bytes:
    raw = data.reshape(-1).view(torch.uint8).cpu().numpy().tobytes()
    return AESGCM(KEY).decrypt(
        nonce.cpu().numpy().tobytes(), raw + tag.cpu().numpy().tobytes(), aad
    )


def raw(tensor: Any) -> bytes:
    return bytes(tensor.reshape(-1).view(torch.uint8).cpu().numpy().tobytes())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_one_tensor(dtype: str) -> None:
    tensor = (random_tensor(123, 45) * 100).to(getattr(torch, dtype))
    text = raw(tensor)
    sealed = AEAD(KEY).seal(tensor, associated_data=b"aad")
    assert sealed.data.device == tensor.device and sealed.data.dtype == tensor.dtype
    assert opened_by_pyca(sealed.data, sealed.nonces[0], sealed.tags[0], b"aad") == text
    assert raw(AEAD(KEY).open(sealed, associated_data=b"aad").data) == text
    # In place.
    inside = AEAD(KEY).seal(tensor, out=tensor)
    assert inside.data is tensor and raw(tensor) != text
    AEAD(KEY).open(inside, out=tensor)
    assert raw(tensor) == text


def test_lists_and_rows() -> None:
    tensors = [random_tensor(1 + 37 * i, seed=i) for i in range(200)]
    texts = [raw(tensor) for tensor in tensors]
    aads = [b"%d" % i for i in range(200)]
    sealed = AEAD(KEY).seal(tensors, out=tensors, associated_data=aads)
    for i in (0, 77, 199):
        assert (
            opened_by_pyca(tensors[i], sealed.nonces[i], sealed.tags[i], aads[i]) == texts[i]
        )
    assert len({bytes(n) for n in sealed.nonces.cpu().numpy()}) == 200
    sealed.tags[5, 3] ^= 1
    with pytest.raises(warpseal.InvalidTag, match="1 of the messages do not verify: 5"):
        AEAD(KEY).open(sealed, out=tensors, associated_data=aads)
    assert not tensors[5].any() and raw(tensors[6]) == texts[6]
    rows = random_tensor(300, 1024)
    text = raw(rows)
    opened = AEAD(KEY).open(AEAD(KEY).seal(rows, rows=True), rows=True, check=False)
    raise_if_failed(opened.statuses)
    assert raw(opened.data) == text


def test_a_shape_that_takes_two_passes() -> None:
    tensor = random_tensor(16 << 20)
    text = raw(tensor)
    sealed = AEAD(KEY).seal(tensor)
    assert opened_by_pyca(sealed.data, sealed.nonces[0], sealed.tags[0]) == text
    AEAD(KEY).open(sealed, out=tensor)
    assert raw(tensor) == text


def test_streams_are_honoured() -> None:
    stream = torch.cuda.Stream(GPU)
    for round_number in range(5):
        source = random_tensor(8 << 20, seed=round_number)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)  # the write comes late
            late = source * 1.0
            sealed = AEAD(KEY).seal(late)
            opened = AEAD(KEY).open(sealed, check=False)
        torch.cuda.current_stream().wait_stream(stream)
        assert torch.equal(opened.data, source)
        raise_if_failed(opened.statuses)
        # Written on one stream, sealed on another.
        torch.cuda._sleep(20_000_000)
        late = source * 2.0
        other = AEAD(KEY).seal(late, stream=stream)
        torch.cuda.current_stream().wait_stream(stream)
        assert torch.equal(AEAD(KEY).open(other).data, source * 2.0)
        # The statuses of another stream are read after its work.
        other.tags[0, 0] ^= 1
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
        with pytest.raises(warpseal.InvalidTag):
            AEAD(KEY).open(other, stream=stream)
        parts = list(late.split(1 << 20))
        whole = [part.clone() for part in parts]
        sealed = AEAD(KEY).seal(parts, associated_data=[b"%d" % i for i in range(8)], stream=stream)
        filler = [torch.full((1 << 10,), 7.0, device=GPU) for _ in range(50)]
        opened = AEAD(KEY).open(
            sealed, associated_data=[b"%d" % i for i in range(8)], stream=stream
        )
        assert all(torch.equal(a, b) for a, b in zip(opened.data, whole)) and len(filler) == 50


def test_graphs() -> None:
    aead = AEAD(KEY)
    tensor = random_tensor(64, 4096)
    text = tensor.clone()
    nonces = torch.empty(64, 12, dtype=torch.uint8, device=GPU)
    tags = torch.empty(64, 16, dtype=torch.uint8, device=GPU)
    statuses = torch.empty(64, dtype=torch.int32, device=GPU)
    work = torch.empty(
        max(1, aead.workspace_bytes(tensor, rows=True)), dtype=torch.uint8, device=GPU
    )
    options: dict[str, Any] = {"rows": True, "workspace": work}

    def seal() -> Sealed:
        return aead.seal(tensor, out=tensor, nonces=nonces, tags=tags, **options)

    def open_() -> None:
        aead.open(
            Sealed(tensor, nonces, tags), out=tensor, statuses=statuses, check=False, **options
        )

    stream = torch.cuda.Stream(GPU)
    with torch.cuda.stream(stream):  # the first calls test the paths
        seal()
        open_()
    torch.cuda.synchronize()
    # A graph of PyTorch has some memory of its own.
    counter, other = torch.zeros(1, device=GPU), torch.cuda.CUDAGraph()
    empty = torch.cuda.memory_allocated()
    with torch.cuda.graph(other, stream=stream):
        counter.add_(1)
    before = torch.cuda.memory_allocated()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        seal()
        open_()
    assert torch.cuda.memory_allocated() - before <= before - empty
    before = torch.cuda.memory_allocated()
    seen = set()
    for _ in range(4):
        graph.replay()
        torch.cuda.synchronize()
        raise_if_failed(statuses)
        assert torch.equal(tensor, text)
        seen |= {bytes(n) for n in nonces.cpu().numpy()}
    assert len(seen) == 4 * 64, "each replay draws new nonces"
    assert torch.cuda.memory_allocated() == before


def test_refusals() -> None:
    tensor = random_tensor(10, 10)
    with pytest.raises(BufferError, match="data is not contiguous"):
        AEAD(KEY).seal(tensor.T)
    with pytest.raises((BufferError, RuntimeError), match="grad"):
        AEAD(KEY).seal(tensor.clone().requires_grad_())
    with pytest.raises(ValueError, match="data lies in GPU 0 and out in host memory"):
        AEAD(KEY).seal(tensor, out=tensor.cpu())
    with pytest.raises(ValueError, match="overlap"):
        AEAD(KEY).seal(tensor.view(-1)[:50], out=tensor.view(-1)[10:60])
    with pytest.raises(ValueError, match="associated_data and out overlap|out and associated_data"):
        AEAD(KEY).seal(tensor, out=tensor, associated_data=tensor)
    with pytest.raises(warpseal.NoDeviceError):
        AEAD(KEY, engine=warpseal.Engine("cpu")).seal(tensor)


def test_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.ws"
    tensor = random_tensor(3_000_001)
    text = raw(tensor)
    result = warpseal.seal_array(tensor, path, key=KEY)
    assert result.target == "cuda" and result.plaintext_bytes == len(text)
    with warpseal.open(path, key=KEY) as file:
        assert file.read() == text
        part = torch.empty(1000, dtype=torch.float32, device=GPU)
        assert file.read_into(4 * 777_777, part) == 4000
        assert torch.equal(part, tensor[777_777:778_777])
    out = torch.ones_like(tensor)
    assert warpseal.open_into(path, out, key=KEY) == len(text)
    assert torch.equal(out, tensor)
    content = bytearray(path.read_bytes())
    content[-5_000_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(warpseal.InvalidTag):
        warpseal.open_into(path, out, key=KEY)
    assert not out.any()


def test_safetensors(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "w.ws"
    tensors = {
        f"layer.{i}": random_tensor(100 + i, 70, seed=i, dtype=torch.bfloat16) for i in range(20)
    }
    tensors["scalar"] = torch.tensor(1.5, device=GPU)
    wt.save_file(tensors, path, key=KEY)
    with wt.safe_open(path, device=GPU, key=KEY) as file:
        for name, tensor in tensors.items():
            got = file.get_tensor(name)
            assert got.device == tensor.device and torch.equal(got, tensor)
    on_host = wt.load_file(path, key=KEY)
    assert all(torch.equal(on_host[name], tensors[name].cpu()) for name in tensors)
    loaded = wt.load_file(path, device="cuda", key=KEY)
    assert loaded.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert loaded[name].device == tensor.device and torch.equal(loaded[name], tensor)
    content = bytearray(path.read_bytes())
    content[-100_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(warpseal.InvalidTag):
        wt.load_file(path, device=GPU, key=KEY)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="this machine has one GPU")
def test_safetensors_on_another_gpu(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "w.ws"
    tensors = {f"layer.{i}": random_tensor(100 + i, 70, seed=i) for i in range(20)}
    wt.save_file({name: one.to("cuda:1") for name, one in tensors.items()}, path, key=KEY)
    named = wt.load_file(path, device="cuda:1", key=KEY)
    with torch.cuda.device(1):
        current = wt.load_file(path, device="cuda", key=KEY)
    for loaded in (named, current):
        for name, tensor in tensors.items():
            assert loaded[name].device == torch.device("cuda", 1)
            assert torch.equal(loaded[name].cpu(), tensor.cpu())


@pytest.mark.parametrize("name", ["x25519mlkem768", "ml-kem-768", "ntruhps2048509"])
def test_kem(name: str) -> None:
    kem = KEM(name)
    like = torch.empty(1, dtype=torch.uint8, device=GPU)
    keys = kem.generate(300, like=like)
    sent = kem.encapsulate(keys.public_keys)
    got = kem.decapsulate(keys.secret_keys, sent.ciphertexts)
    assert got.device.type == "cuda" and torch.equal(got, sent.shared_secrets)
    one = kem.decapsulate(keys.secret_keys[:1], sent.ciphertexts[:1])
    assert torch.equal(one, got[:1])
    # The cores agree.
    host = kem.decapsulate(keys.secret_keys.cpu().numpy(), sent.ciphertexts.cpu().numpy())
    assert bytes(host) == raw(got)


def test_cupy() -> None:
    cupy: Any = pytest.importorskip("cupy", reason="no GPU library CuPy")
    array = cupy.arange(100_000, dtype="f4")
    text = cupy.asnumpy(array).tobytes()
    for stream in (None, cupy.cuda.Stream(non_blocking=True)):
        if stream is not None:
            cupy.cuda.get_current_stream().synchronize()
        sealed = AEAD(KEY).seal(array, stream=stream)
        assert isinstance(sealed.data, cupy.ndarray)
        opened = AEAD(KEY).open(sealed, stream=stream)
        if stream is not None:
            stream.synchronize()
        assert cupy.asnumpy(opened.data).tobytes() == text
    # Between libraries, without a copy.
    tensor = torch.from_dlpack(array)
    AEAD(KEY).open(AEAD(KEY).seal(tensor, out=tensor), out=array.view("f4"))
    assert cupy.asnumpy(array).tobytes() == text


def test_numba_interface() -> None:
    tensor = random_tensor(1000)
    text = raw(tensor)

    class Interface:
        __cuda_array_interface__ = tensor.__cuda_array_interface__

    nonces = torch.empty(1, 12, dtype=torch.uint8, device=GPU)
    tags = torch.empty(1, 16, dtype=torch.uint8, device=GPU)
    data = Interface()
    AEAD(KEY).seal(data, out=data, nonces=nonces, tags=tags)
    torch.cuda.synchronize()
    assert opened_by_pyca(tensor, nonces, tags) == text


CHILD = """
import sys, torch, warpseal
half = torch.tensor([int(word) for word in sys.argv[2:]], device="cuda:0")
tensor = (half * 3 + 1).repeat(100_000)
warpseal.seal_array(tensor, sys.argv[1], key=bytes(32))
out = torch.empty_like(tensor)
warpseal.open_into(sys.argv[1], out, key=bytes(32))
assert torch.equal(out, tensor)
print("done", flush=True)
sys.stdin.read()
"""


def test_no_plaintext_in_host_memory(tmp_path: pathlib.Path) -> None:
    """Text that a child computes on its GPU is in no page of its host memory."""
    half = [int(word) for word in numpy.random.default_rng().integers(2**40, 2**60, 8)]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "x.ws"), *map(str, half)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None and child.stdout is not None
    assert child.stdout.readline() == b"done\n"
    wanted = b"".join((word * 3 + 1).to_bytes(8, "little") for word in half)
    given = str(half[0]).encode()
    found, searched = 0, False
    try:
        with (
            open(f"/proc/{child.pid}/maps") as maps,
            open(f"/proc/{child.pid}/mem", "rb", 0) as memory,
        ):
            for line in maps:
                words = line.split()
                begin, end = (int(word, 16) for word in words[0].split("-"))
                if "r" not in words[1] or "/dev/" in line or "[v" in line:
                    continue
                for at in range(begin, end, 64 << 20):
                    try:
                        memory.seek(at)
                        part = memory.read(min(end - at, 64 << 20))
                    except (OSError, ValueError, OverflowError):
                        break
                    found += part.count(wanted)
                    searched = searched or given in part
    except PermissionError:
        pytest.skip("no GPU process may be looked into here")
    finally:
        child.communicate()
    assert searched, "the arguments must be found"
    assert found == 0
