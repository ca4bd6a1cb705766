"""Authenticated encryption, with the interface of pyca's cryptography.

An existing program changes one line: ``from warpseal.aead import AESGCM``. The Cobblestone classes
seal and open a message of any length in updates, as those of ``cryptography.cobblestone`` do.
"""

from warpseal._core import (
    AESCCM,
    AESGCM,
    ARIAGCM,
    SM4GCM,
    CamelliaGCM,
    Cobblestone128Decryptor,
    Cobblestone128Encryptor,
    Cobblestone256Decryptor,
    Cobblestone256Encryptor,
)

__all__ = [
    "AESCCM",
    "AESGCM",
    "ARIAGCM",
    "CamelliaGCM",
    "Cobblestone128Decryptor",
    "Cobblestone128Encryptor",
    "Cobblestone256Decryptor",
    "Cobblestone256Encryptor",
    "SM4GCM",
]
