# SPDX-License-Identifier: Apache-2.0
"""Bulk encryption, RSA and hashing on GPUs: AES, ChaCha20, SM4, Camellia, ARIA, RSA and hashes, on
the device where the data are.

Importing this package uses no device and imports no framework.
"""

from __future__ import annotations

import atexit
import importlib
import os
from typing import TYPE_CHECKING, Any

from . import _interpreter  # must come first: it refuses subinterpreters
from . import _core, rsa
from ._aead import AEAD, AESCCM, AESGCM, ChaCha20Poly1305
from ._captured import Captured
from ._cipher import Cipher
from ._context import (Context, Counters, Device, _after_fork, counters, default_context,
                       devices)
from ._core import DeviceMemory
from ._errors import DeviceError, Error, NoDeviceError, StoppedError, UnsupportedError
from ._hash import blake3, hash_many, merkle_root
from ._job import Job
from ._keys import KeyFile, KeyProvider
from ._keystream import keystream
from ._openssl import openssl_conf
from ._segments import Number, Segments
from ._stream import CipherStream

if TYPE_CHECKING:
    from . import ray as ray
    from ._errors import _OwnInvalidTag as InvalidTag

__version__: str = _core.VERSION

__all__ = [
    "AEAD", "AESCCM", "AESGCM", "Captured", "ChaCha20Poly1305", "Cipher", "CipherStream", "Context",
    "Counters", "Device", "DeviceError", "DeviceMemory", "Error", "InvalidTag",
    "Job", "KeyFile", "KeyProvider", "NoDeviceError", "Number", "Segments",
    "StoppedError", "UnsupportedError", "blake3", "counters", "default_context", "devices",
    "hash_many", "keystream", "merkle_root", "openssl_conf", "ray", "rsa",
]

os.register_at_fork(after_in_child=_after_fork)
atexit.register(_core.end)


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name == "InvalidTag":
        # This imports pyca/cryptography if it is installed, so it waits until InvalidTag is used.
        from ._errors import invalid_tag_type

        globals()[name] = invalid_tag_type()
        return globals()[name]
    if name == "ray":
        return importlib.import_module(".ray", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
