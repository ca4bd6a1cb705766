"""A checkpoint from a GPU to disk, and back.

checkpoint.py FOLDER

The tensors are sealed where they lie: host memory has ciphertext alone. Without a GPU the same
calls work on the cores.
"""

import os
import pathlib
import sys

import torch
import warpseal
import warpseal.torch as sealed


def main():
    folder = pathlib.Path(sys.argv[1])
    device = "cuda" if warpseal.has_cuda and torch.cuda.is_available() else "cpu"
    key = os.urandom(32)
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.Linear(2048, 512)).to(device)

    path = folder / "model.safetensors.ws"
    sealed.save_file(dict(model.state_dict()), path, key=key, metadata={"step": "1000"})

    weights = sealed.load_file(path, device=device, key=key)
    model.load_state_dict(weights)
    print(f"{len(weights)} tensors on {device}, {path.stat().st_size} bytes on disk")

    # A changed byte is noticed, and nothing of the tensor remains.
    content = bytearray(path.read_bytes())
    content[-1000] ^= 1
    path.write_bytes(content)
    try:
        sealed.load_file(path, device=device, key=key)
    except warpseal.InvalidTag as refusal:
        print(f"refused: {refusal}")


main()
