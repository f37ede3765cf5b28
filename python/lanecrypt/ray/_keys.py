# SPDX-License-Identifier: Apache-2.0
"""Keys that are given by their names, and got where they are used."""

from __future__ import annotations

import os
import pickle
import re
import sys
from typing import Optional, Union

from .._aead import AEAD
from .._errors import invalid_tag
from .._keys import KeyFile, KeyProvider
from .._types import BytesLike

# The environment variable with the folder of keys, and the default, where Docker and Kubernetes
# mount secrets.
_FOLDER, _USUAL_FOLDER = "LANECRYPT_KEYS", "/run/secrets"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

NONCE_BYTES, TAG_BYTES = 12, 16

KeyByName = Union[str, KeyProvider]


class NamedKey(KeyProvider):
    """The key that is the whole content of the file `name` in the folder of keys on the machine
    where it is used: the folder in LANECRYPT_KEYS, or /run/secrets.
    """

    def __init__(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError("a key's name has letters, digits and any of _ . - and begins with none "
                             "of the last two")
        self._name = name

    def get_key(self) -> BytesLike:
        """Returns the key."""
        return KeyFile(os.path.join(os.environ.get(_FOLDER) or _USUAL_FOLDER, self._name)).get_key()

    def __repr__(self) -> str:
        return f"NamedKey({self._name!r})"


class WrappedKey(KeyProvider):
    """A key that was encrypted under another key with AES-GCM, such as a wrapped_key of
    GenerateKeys: a nonce of 12 bytes, the ciphertext, and the tag. It may go through Ray's store.

    wrapping_key: the name of the other key (NamedKey), or a KeyProvider.
    associated_data: for a wrapped_key of GenerateKeys, the public_key in the same row.
    """

    def __init__(self, wrapped: bytes, wrapping_key: KeyByName,
                 associated_data: Optional[bytes] = None) -> None:
        self._wrapped = bytes(wrapped)
        self._wrapping_key = provider_of(wrapping_key)
        self._associated_data = associated_data

    def get_key(self) -> BytesLike:
        """Returns the decrypted key. Raises InvalidTag if it was not encrypted under these."""
        aead = AEAD("aes-gcm", key_of(self._wrapping_key))
        if len(self._wrapped) < NONCE_BYTES + TAG_BYTES:
            raise invalid_tag()
        text = bytearray(len(self._wrapped) - NONCE_BYTES - TAG_BYTES)
        aead.decrypt_into(self._wrapped[:NONCE_BYTES], self._wrapped[NONCE_BYTES:],
                          self._associated_data, text)
        return text

    def __repr__(self) -> str:
        return f"WrappedKey(of {self._wrapping_key!r})"


def provider_of(key: KeyByName) -> KeyProvider:
    """Returns the provider of a key. Raises TypeError if the key itself was given."""
    if isinstance(key, str):
        return NamedKey(key)
    if isinstance(key, KeyProvider):
        return key
    # The argument may be the key, so the message contains only its type.
    raise TypeError(f"a key is told by its name or by a KeyProvider, not by {type(key).__name__}: the "
                    "arguments of an actor lie in Ray's store")


class _Got(KeyProvider):
    """A key that was already got, for the one object that copies and erases it."""

    def __init__(self, key: BytesLike) -> None:
        self._key = key

    def get_key(self) -> BytesLike:
        return self._key

    def __repr__(self) -> str:
        return "<a key>"

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a key cannot be pickled")


def key_of(provider: KeyProvider) -> KeyProvider:
    """Gets the key. Raises ValueError if the provider contains it, because the key has then gone
    wherever the provider went.
    """
    pickled = _pickled(provider)
    key = provider.get_key()
    if isinstance(key, (bytes, bytearray)) and len(key) >= 8 and pickled.find(key) >= 0:
        raise ValueError(f"{type(provider).__name__} carries its key: Ray's store has it then. Let "
                         "get_key() read it where it is used")
    return _Got(key)


def _pickled(value: object) -> bytes:
    """Returns the object as Ray would send it; b"" if it cannot be pickled."""
    pickler = sys.modules.get("ray.cloudpickle", pickle)
    try:
        made: bytes = pickler.dumps(value)
    except Exception:  # a class of the user may raise anything
        return b""
    return made
