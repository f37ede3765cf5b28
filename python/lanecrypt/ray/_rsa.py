# SPDX-License-Identifier: Apache-2.0
"""RSA in bulk: new keys, which leave the actor encrypted, and signatures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, Optional

from .. import rsa
from .._aead import AEAD
from .._context import Context
from ._columns import Batch, _message, _objects
from ._keys import NONCE_BYTES, KeyByName, key_of, provider_of

# AlgorithmIdentifier of rsaEncryption, with its parameters (RFC 3279, 2.3.1).
_RSA_ENCRYPTION = bytes.fromhex("300d06092a864886f70d0101010500")
_SEQUENCE, _BIT_STRING = 0x30, 0x03


class GenerateKeys:
    """Generates an RSA key for each row of a batch, on a device if that is faster. Adds two
    columns:

    public_key: SubjectPublicKeyInfo, DER.
    wrapped_key: PKCS#8, DER, encrypted with AES-GCM under the wrapping key: a nonce of 12 bytes,
        the ciphertext and the tag. The associated data are the public key. WrappedKey decrypts it.

    The arguments:

    bits, exponent: as for rsa.generate().
    wrapping_key: the name of a key (NamedKey), or a KeyProvider, which is called once in the actor.
        The key may wrap 2^32 keys, over all actors and runs.
    context: the arguments of Context(), as a dict.

    If Ray runs a batch again, it gets other keys, and those of the first run are lost.
    """

    def __init__(self, bits: int, wrapping_key: KeyByName, *, exponent: int = 65537,
                 context: Optional[Mapping[str, Any]] = None) -> None:
        self._bits = bits
        self._exponent = exponent
        self._context = Context(**context) if context is not None else None
        self._wrapping = AEAD("aes-gcm", key_of(provider_of(wrapping_key)), context=self._context)

    def __call__(self, batch: Batch) -> Batch:
        count = len(next(iter(batch.values()))) if batch else 0
        keys = rsa.generate(self._bits, count, exponent=self._exponent, format="der",
                            context=self._context) if count else []
        public = [public_key_of(key) for key in keys]
        wrapped = []
        for key, its_public in zip(keys, public):
            nonce = os.urandom(NONCE_BYTES)
            wrapped.append(nonce + self._wrapping.encrypt(nonce, key, its_public))
        return {**batch, "public_key": _objects(public), "wrapped_key": _objects(wrapped)}

    def __repr__(self) -> str:
        return f"<lanecrypt.ray.GenerateKeys of {self._bits} bits at {id(self):#x}>"

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("GenerateKeys holds a key and cannot be pickled")


class Sign:
    """Signs a column with one private key. Adds a column of signatures.

    key: the name of a key (NamedKey), or a KeyProvider: PKCS#8 or PKCS#1, DER or PEM. The key is
        got once, in the actor.
    column: the name of the column of messages, which are bytes.
    into: the name of the new column.
    context: the arguments of Context(), as a dict.

    The other arguments are as for rsa.sign_many().
    """

    def __init__(self, key: KeyByName, column: str, *, into: str = "signature",
                 padding: Literal["pkcs1v15", "pss"] = "pkcs1v15", hash: str = "sha256",
                 salt_length: Optional[int] = None, prehashed: bool = False,
                 context: Optional[Mapping[str, Any]] = None) -> None:
        self._key = rsa.PrivateKey(key_of(provider_of(key)))
        self._column = column
        self._into = into
        self._how: dict[str, Any] = {
            "padding": padding, "hash": hash, "salt_length": salt_length, "prehashed": prehashed,
            "context": Context(**context) if context is not None else None}

    def __call__(self, batch: Batch) -> Batch:
        messages = [_message(value) for value in batch[self._column]]
        return {**batch, self._into: _objects(rsa.sign_many(self._key, messages, **self._how))}

    def __repr__(self) -> str:
        return f"<lanecrypt.ray.Sign of {self._column} at {id(self):#x}>"

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("Sign holds a key and cannot be pickled")


def public_key_of(pkcs8: bytes) -> bytes:
    """Returns the SubjectPublicKeyInfo of an RSA PrivateKeyInfo that this package made."""
    # PrivateKeyInfo: version, algorithm, RSAPrivateKey (RFC 5958, section 2; RFC 8017, A.1.2).
    _, _, (_, private) = _items(_items(pkcs8)[0][1])[:3]
    _, modulus, exponent = _items(_items(private)[0][1])[:3]
    numbers = _item(_SEQUENCE, _item(*modulus) + _item(*exponent))
    return _item(_SEQUENCE, _RSA_ENCRYPTION + _item(_BIT_STRING, b"\0" + numbers))


def _items(data: bytes) -> list[tuple[int, bytes]]:
    """Returns the tags and contents of consecutive DER elements."""
    found, at = [], 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length & 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(data[at:at + size], "big"), at + size
        found.append((tag, data[at:at + length]))
        at += length
    return found


def _item(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    size = (length.bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + length.to_bytes(size, "big") + content
