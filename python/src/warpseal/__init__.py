"""Bulk encryption with standard block ciphers, on cores and GPUs."""

import atexit
import os

from warpseal import _core
from warpseal._age_keys import generate_identity
from warpseal._array_files import open_into, seal_array
from warpseal._core import Engine, SlotKeys, __version__, has_cuda
from warpseal._many import change_slots_of, open_files, seal_files
from warpseal._slots import SlotChange, change_slots, slots
from warpseal._streams import abort_open_files
from warpseal.exceptions import (
    AlreadyFinalized,
    BadPaddingError,
    CancelledError,
    Error,
    InvalidTag,
    LimitExceededError,
    NoDeviceError,
    NoRandomError,
    SelfTestError,
    TruncatedError,
    UnsupportedError,
    WeakKeyError,
    WrongKeyError,
)
from warpseal.files import (
    FileInfo,
    FileResult,
    SealedReader,
    SealedWriter,
    SlotInfo,
    info,
    open,
    open_file,
    seal_file,
    verify,
)

__all__ = [
    "AlreadyFinalized",
    "BadPaddingError",
    "CancelledError",
    "Engine",
    "Error",
    "FileInfo",
    "FileResult",
    "InvalidTag",
    "LimitExceededError",
    "NoDeviceError",
    "NoRandomError",
    "SealedReader",
    "SealedWriter",
    "SelfTestError",
    "SlotChange",
    "SlotInfo",
    "SlotKeys",
    "TruncatedError",
    "UnsupportedError",
    "WeakKeyError",
    "WrongKeyError",
    "__version__",
    "change_slots",
    "change_slots_of",
    "generate_identity",
    "has_cuda",
    "info",
    "open",
    "open_file",
    "open_files",
    "open_into",
    "seal_array",
    "seal_file",
    "seal_files",
    "slots",
    "verify",
]


def _end() -> None:
    abort_open_files()
    _core.drain_calls()


atexit.register(_end)
os.register_at_fork(after_in_child=_core.after_fork_in_child)
