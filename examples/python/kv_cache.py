"""Offloads pages of a KV cache from a GPU to host memory, sealed.

kv_cache.py

Pages are sealed in place, each with its own nonce and tag, by one call without an upload. The copy
to pinned host memory moves ciphertext. A page comes back, is opened, and is verified.
"""

import os

import torch
import warpseal
from warpseal.arrays import AEAD, Sealed

PAGES, HEADS, TOKENS, WIDTH = 64, 8, 16, 128


def main():
    device = "cuda" if warpseal.has_cuda and torch.cuda.is_available() else "cpu"
    aead = AEAD(os.urandom(32))
    cache = torch.randn(PAGES, 2, HEADS, TOKENS, WIDTH, device=device).to(torch.bfloat16)
    before = cache.clone()

    # Out: the cache's own memory, then host memory.
    sealed = aead.seal(cache, out=cache, rows=True)
    host = torch.empty(cache.shape, dtype=cache.dtype, pin_memory=device == "cuda")
    host.copy_(sealed.data, non_blocking=True)
    if device == "cuda":
        torch.cuda.current_stream().synchronize()
    cache.zero_()  # other requests use the pages meanwhile

    # In: three pages that a request needs.
    wanted = [3, 17, 40]
    pages = host[wanted].to(device)
    opened = aead.open(
        Sealed(pages, sealed.nonces[wanted].contiguous(), sealed.tags[wanted].contiguous()),
        out=pages,
        rows=True,
    )
    assert torch.equal(opened.data, before[wanted])

    # Somebody changes a page in host memory.
    host[17].view(torch.uint8).view(-1)[5] ^= 1
    pages = host[[17]].to(device)
    try:
        aead.open(Sealed(pages, sealed.nonces[17:18], sealed.tags[17:18]), out=pages, rows=True)
    except warpseal.InvalidTag as refusal:
        print(f"refused: {refusal}")
    assert not pages.any()
    print(f"{PAGES} pages of {cache[0].nbytes} bytes on {device}")


main()
