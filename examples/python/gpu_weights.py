"""Weights that are plaintext only in the memory of a GPU.

gpu_weights.py FOLDER

A sealed safetensors file lies on disk. Each layer is opened on the GPU when it is needed, and its
memory is wiped after use.
"""

import os
import pathlib
import sys

import torch
import warpseal
import warpseal.torch as sealed

LAYERS, WIDTH = 6, 1024


def publish(path, key, device):
    """What the owner of the weights does once."""
    weights = {
        f"layer.{i}": torch.randn(WIDTH, WIDTH, device=device) / WIDTH**0.5 for i in range(LAYERS)
    }
    sealed.save_file(weights, path, key=key)


def main():
    path = pathlib.Path(sys.argv[1]) / "weights.safetensors.ws"
    device = "cuda" if warpseal.has_cuda and torch.cuda.is_available() else "cpu"
    key = os.urandom(32)
    publish(path, key, device)

    x = torch.randn(8, WIDTH, device=device)
    layer = torch.empty(WIDTH, WIDTH, device=device)  # one layer at a time
    with sealed.safe_open(path, device=device, key=key) as file:
        for name in sorted(file):
            file.get_tensor(name, out=layer)
            x = torch.relu(x @ layer)
    layer.zero_()
    print(f"{LAYERS} layers of {layer.nbytes} bytes on {device}: {x.abs().mean().item():.3g}")


main()
