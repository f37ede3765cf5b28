# SPDX-License-Identifier: Apache-2.0
"""Keys and their sources."""

from __future__ import annotations

import abc
import os
import re
import stat
from collections.abc import Collection
from typing import Literal, Optional, Union

from . import _core
from ._types import BytesLike


class KeyProvider(abc.ABC):
    """An object that gets a key by its name: from a file, a key service or a hardware module.

    get_key() is called once, by the object that uses the key, in the process that uses it. A
    provider holds no key itself, so it may be pickled and sent elsewhere.
    """

    @abc.abstractmethod
    def get_key(self) -> BytesLike:
        """Returns the key. A bytearray is zeroed after it has been copied."""


class KeyFile(KeyProvider):
    """A key that is the whole content of a file, such as a mounted secret. A file that is not a
    regular file, or has more than 64 KiB, is refused.

    encoding: "raw": the key is the unchanged content; a newline at its end would be part of it.
        "hex": the key is in hexadecimal digits, with optional white space around them. None: "hex"
        if the file has nothing but 32, 48, 64 or 128 hexadecimal digits and white space around
        them, as `openssl rand -hex 32` writes them; otherwise "raw".

    An object that was made with a KeyFile can be pickled. Only the name of the file is pickled; the
    file is read again where the object is unpickled.
    """

    MOST_BYTES = 64 << 10

    def __init__(self, path: Union[str, "os.PathLike[str]"], *,
                 encoding: Optional[Literal["raw", "hex"]] = None) -> None:
        if encoding not in (None, "raw", "hex"):
            raise ValueError('encoding must be "raw", "hex" or None')
        self._path = os.fspath(path)
        self._encoding = encoding

    def get_key(self) -> bytearray:
        """Returns the key. Raises ValueError if the file cannot contain one."""
        content = self._content()
        digits = content.strip()
        try:
            is_hex = _HEX.fullmatch(digits) is not None
            if self._encoding == "hex" and not is_hex:
                raise ValueError(f"{self._path} has {len(content)} bytes, which are not an even number of "
                                 "hexadecimal digits")
            if self._encoding == "raw" or not is_hex or (
                    self._encoding is None and len(digits) not in _HEX_DIGITS):
                return bytearray(content)
            # a2b_hex() returns bytes, which cannot be zeroed.
            return bytearray(int(digits[n:n + 2], 16) for n in range(0, len(digits), 2))
        finally:
            digits[:] = bytes(len(digits))
            content[:] = bytes(len(content))

    def _content(self) -> bytearray:
        # Reads one byte more than a key may have: the reported size of a file may be outdated or
        # missing.
        memory = bytearray(self.MOST_BYTES + 1)
        try:
            with open(self._path, "rb", buffering=0, opener=_open) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise ValueError(f"{self._path} is not a regular file")
                count = 0
                while read := file.readinto(memoryview(memory)[count:]):
                    count += read
            if count > self.MOST_BYTES:
                raise ValueError(f"{self._path} is too long to be a key: it has more than "
                                 f"{self.MOST_BYTES} bytes")
            return bytearray(memoryview(memory)[:count])
        finally:
            memory[:] = bytes(len(memory))

    def __repr__(self) -> str:
        return f"KeyFile({self._path!r})"


# The numbers of digits of keys of 16, 24, 32 and 64 bytes.
_HEX_DIGITS = (32, 48, 64, 128)
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2})+")


def _open(path: str, flags: int) -> int:
    # Without O_NONBLOCK, opening a pipe would wait for its writer.
    return os.open(path, flags | os.O_NONBLOCK)


def secret_key(key: Union[BytesLike, KeyProvider]) -> _core.SecretKey:
    """Returns a copy of the key in locked memory that is erased with the returned object."""
    if isinstance(key, KeyProvider):
        return _core.SecretKey(key.get_key(), True)
    return _core.SecretKey(key, False)


def check_key_bytes(key: _core.SecretKey, given: Union[BytesLike, KeyProvider], sizes: Collection[int],
                    text: str) -> None:
    """Raises ValueError, with a message that begins with `text`, if the key has none of the sizes.
    """
    found = key.nbytes
    if found in sizes:
        return
    if isinstance(given, KeyProvider):
        text += f" {given!r} has {found} bytes"
        if found - 1 in sizes:
            text += ": is there a newline at the end?"
    raise ValueError(text)


def kept_provider(key: object) -> Optional[KeyFile]:
    """Returns the provider that an object keeps, so that it can be pickled. A key itself is never
    pickled, and a provider class of the user may hold one, so only a KeyFile is kept.
    """
    return key if isinstance(key, KeyFile) else None


def check_pickled(kind: type, provider: Optional[KeyFile], context: object) -> None:
    """Raises TypeError if an object of the class `kind` cannot be pickled."""
    if provider is None:
        raise TypeError(f"{kind.__name__} holds a key and cannot be pickled: make it with a KeyFile")
    if context is not None:
        raise TypeError(f"{kind.__name__} has a context of its own, which belongs to its process, and "
                        "cannot be pickled")
