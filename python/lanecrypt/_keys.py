# SPDX-License-Identifier: Apache-2.0
"""Keys, and where they come from."""

from __future__ import annotations

import abc
import os
import stat
from typing import Union

from . import _core

BytesLike = Union[bytes, bytearray, memoryview]


class KeyProvider(abc.ABC):
    """Something that gets a key by its name: from a file, a key service, a hardware module.

    It is asked once, by the object that uses the key, in the process that uses it. It holds no
    key itself, so that it may be pickled and sent elsewhere.
    """

    @abc.abstractmethod
    def get_key(self) -> BytesLike:
        """The key. A bytearray is wiped when it was copied."""


class KeyFile(KeyProvider):
    """A key that is the whole content of a file, such as a mounted secret. A file that is not
    a regular one, or has more than 64 KiB, is refused."""

    MOST_BYTES = 64 << 10

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._path = os.fspath(path)

    def get_key(self) -> bytearray:
        """The content of the file, as it is: a newline at its end would be part of the key."""
        # One byte more than a key may have: the size that a file tells may be old, or none.
        memory = bytearray(self.MOST_BYTES + 1)
        try:
            with open(self._path, "rb", buffering=0, opener=_open) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise ValueError(f"{self._path} is not a regular file")
                count = 0
                while read := file.readinto(memoryview(memory)[count:]):
                    count += read
            if count > self.MOST_BYTES:
                raise ValueError(f"{self._path} is too long to be a key")
            return bytearray(memoryview(memory)[:count])
        finally:
            memory[:] = bytes(len(memory))

    def __repr__(self) -> str:
        return f"KeyFile({self._path!r})"


def _open(path: str, flags: int) -> int:
    # To open a pipe would wait for its writer.
    return os.open(path, flags | os.O_NONBLOCK)


def secret_key(key: Union[BytesLike, KeyProvider]) -> _core.SecretKey:
    """A copy of the key in locked memory that is wiped with it."""
    if isinstance(key, KeyProvider):
        return _core.SecretKey(key.get_key(), True)
    return _core.SecretKey(key, False)
