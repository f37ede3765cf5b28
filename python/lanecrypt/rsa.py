# SPDX-License-Identifier: Apache-2.0
"""RSA in bulk: signatures, decryption and key generation (RFC 8017, FIPS 186-5)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, Optional, Union

from . import _core
from ._context import Context, used_context
from ._job import Job
from ._keys import KeyProvider, check_pickled, kept_provider
from ._messages import Prepared, bytes_of, run
from ._names import hash_name
from ._numbers import whole
from ._types import BytesLike

__all__ = ["DecryptionError", "PrivateKey", "decrypt_many", "generate", "sign_many",
           "submit_decrypt_many", "submit_sign_many"]

# The DER before the digest in a DigestInfo (RFC 8017, section 9.2, note 1).
_DIGEST_INFO = {
    "sha1": "3021300906052b0e03021a05000414",
    "sha224": "302d300d06096086480165030402040500041c",
    "sha256": "3031300d060960864801650304020105000420",
    "sha384": "3041300d060960864801650304020205000430",
    "sha512": "3051300d060960864801650304020305000440",
    "sha3-256": "3031300d060960864801650304020805000420",
    "sha3-384": "3041300d060960864801650304020905000430",
    "sha3-512": "3051300d060960864801650304020a05000440",
}


def __dir__() -> list[str]:
    return sorted(__all__)


class DecryptionError(ValueError):
    """Some messages were not encrypted for the key. `failed` has their indices. `results` has the
    plaintexts of all other messages, and None for these.
    """

    def __init__(self, results: list[Optional[bytes]]) -> None:
        super().__init__("Decryption failed")
        self.results = results
        self.failed = tuple(n for n, result in enumerate(results) if result is None)


class PrivateKey:
    """A private key with two primes and 512 to 16384 bits, in locked memory that is erased when
    this object is destroyed. Devices support 1024 to 8192 bits.

    key: PKCS#8 or PKCS#1 as DER or PEM, bytes-like; a KeyProvider that returns that; or a private
        key of pyca/cryptography. Decrypt an encrypted key first, for example with
        cryptography.hazmat.primitives.serialization.load_pem_private_key().
    """

    __slots__ = ("_core", "_provider", "__weakref__")

    def __init__(self, key: Union[BytesLike, KeyProvider, Any]) -> None:
        self._provider = kept_provider(key)
        if isinstance(key, KeyProvider):
            given = key.get_key()
            self._core = _core.RsaKey(given, isinstance(given, bytearray))
        elif hasattr(key, "private_bytes"):
            from cryptography.hazmat.primitives import serialization

            der = bytearray(key.private_bytes(
                serialization.Encoding.DER, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()))
            self._core = _core.RsaKey(der, True)
        else:
            self._core = _core.RsaKey(key, False)

    @property
    def bits(self) -> int:
        """The number of bits of the modulus."""
        return self._core.bits

    def __repr__(self) -> str:
        return f"<lanecrypt.rsa.PrivateKey of {self.bits} bits at {id(self):#x}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        check_pickled(type(self), self._provider, None)
        return type(self), (self._provider,)


Key = Union[PrivateKey, BytesLike, KeyProvider, Any]


def sign_many(key: Key, messages: Sequence[BytesLike], *,
              padding: Literal["pkcs1v15", "pss"] = "pkcs1v15", hash: str = "sha256",
              salt_length: Optional[int] = None, prehashed: bool = False,
              context: Optional[Context] = None) -> list[bytes]:
    """Signs messages. Returns the signatures in the order of the messages, each as long as the
    modulus.

    key: a PrivateKey, or an argument for one. Each private operation is blinded, and its result is
        checked with the public exponent.
    padding: "pkcs1v15" for RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2), or "pss" for RSASSA-PSS with
        MGF1 of the same hash (section 8.1).
    hash: "sha1", "sha224", "sha256", "sha384", "sha512", "sha3-256", "sha3-384" or "sha3-512".
        hashlib's name "sha3_256" is accepted too.
    salt_length: bytes of the salt of PSS; by default as many as the digest has.
    prehashed: the messages are digests.
    context: the devices to use; by default default_context().
    """
    signatures: list[bytes] = run(_sign(key, messages, padding, hash, salt_length, prehashed,
                                        context))
    return signatures


def submit_sign_many(key: Key, messages: Sequence[BytesLike], *,
                     padding: Literal["pkcs1v15", "pss"] = "pkcs1v15", hash: str = "sha256",
                     salt_length: Optional[int] = None, prehashed: bool = False,
                     context: Optional[Context] = None) -> Job[list[bytes]]:
    """Does the same as sign_many(), but returns a Job without waiting."""
    return Job(*_sign(key, messages, padding, hash, salt_length, prehashed, context))


def decrypt_many(key: Key, ciphertexts: Sequence[BytesLike], *, hash: str = "sha256",
                 mgf_hash: Optional[str] = None, label: BytesLike = b"",
                 context: Optional[Context] = None) -> list[bytes]:
    """Decrypts messages with RSAES-OAEP (RFC 8017, section 7.1). Returns the plaintexts in the
    order of the ciphertexts. Raises DecryptionError if some are wrong, without saying in which way.

    key: a PrivateKey, or an argument for one.
    hash, mgf_hash: the hashes of the label and of MGF1, by default the same. OpenSSL's default is
        "sha1".
    label: the label of OAEP.
    context: the devices to use; by default default_context().
    """
    texts: list[bytes] = run(_decrypt(key, ciphertexts, hash, mgf_hash, label, context))
    return texts


def submit_decrypt_many(key: Key, ciphertexts: Sequence[BytesLike], *, hash: str = "sha256",
                        mgf_hash: Optional[str] = None, label: BytesLike = b"",
                        context: Optional[Context] = None) -> Job[list[bytes]]:
    """Does the same as decrypt_many(), but returns a Job without waiting."""
    return Job(*_decrypt(key, ciphertexts, hash, mgf_hash, label, context))


def generate(bits: int, count: int = 1, *, exponent: int = 65537,
             format: Literal["pem", "der", "pyca"] = "pem",
             progress: Optional[Callable[[int, int, int, int], None]] = None,
             context: Optional[Context] = None) -> list[Any]:
    """Generates keys with two probable primes (FIPS 186-5, A.1.3), each from fresh random numbers.
    Waits, and releases the GIL meanwhile. Ctrl-C cancels it.

    bits: the bits of the modulus: even, 1024 to 16384. Devices support up to 8192.
    count: the number of keys.
    exponent: the public exponent: odd, from 65537 to 2^256 - 1.
    format: "pem" or "der" for PKCS#8 in bytes, or "pyca" for keys of pyca/cryptography.
    progress: a function that is called from time to time, on the calling thread, with the numbers
        of candidates, of tests, of primes found and of keys made. An exception of it ends the call.
    context: the devices to use; by default default_context().
    """
    if format not in ("pem", "der", "pyca"):
        raise ValueError('format must be "pem", "der" or "pyca"')
    e = whole("exponent", exponent, 1 << 16)
    if e == 0:
        raise ValueError("the exponent is not positive")
    number = e.to_bytes((e.bit_length() + 7) // 8, "big")
    keys = _core.generate_rsa_keys(used_context(context)._core, whole("bits", bits, 32),
                                   whole("count", count), number, format == "pem", progress)
    if format != "pyca":
        return keys
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    return [load_der_private_key(key, None) for key in keys]


# ---- Implementation ----


def _sign(key: Key, messages: Sequence[BytesLike], padding: str, hash: str,
          salt_length: Optional[int], prehashed: bool, context: Optional[Context]) -> Prepared:
    if padding not in ("pkcs1v15", "pss"):
        raise ValueError('padding must be "pkcs1v15" or "pss"')
    new = _hash(hash)
    size = new().digest_size
    private = key if isinstance(key, PrivateKey) else PrivateKey(key)
    task = _core.RsaTask(used_context(context)._core, private._core)
    if salt_length is not None:
        salt_length = whole("salt_length", salt_length)
        if padding != "pss":
            raise ValueError("salt_length is for pss")
    prefix = bytes.fromhex(_DIGEST_INFO[hash_name(hash)])
    for n, message in enumerate(messages):
        digest = (bytes_of(message, "messages", n) if prehashed else
                  new(message if type(message) is bytes else bytes_of(message, "messages", n)).digest())
        if len(digest) != size:
            raise ValueError(f"a digest of {hash} has {size} bytes, not {len(digest)}")
        if padding == "pkcs1v15":
            task.add_pkcs1v15(prefix + digest)
        else:
            salt = os.urandom(size if salt_length is None else salt_length)
            task.add(_pss(new, digest, salt, private.bits))
    return task, lambda: [task.result(n) for n in range(task.count)]


def _hash(name: str) -> Callable[..., Any]:
    import hashlib

    its_name = hash_name(name)
    if its_name not in _DIGEST_INFO:
        raise ValueError(f"hash must be one of {', '.join(_DIGEST_INFO)}")
    made: Callable[..., Any] = getattr(hashlib, its_name.replace("-", "_"))
    return made


def _mgf1(new: Callable[..., Any], seed: bytes, length: int) -> bytes:
    """MGF1 (RFC 8017, B.2.1)."""
    size = new().digest_size
    parts = [new(seed + counter.to_bytes(4, "big")).digest()
             for counter in range((length + size - 1) // size)]
    return b"".join(parts)[:length]


def _pss(new: Callable[..., Any], digest: bytes, salt: bytes, bits: int) -> bytes:
    """EMSA-PSS-ENCODE (RFC 8017, section 9.1.1). The result is as long as the modulus."""
    em_bits = bits - 1
    em_bytes = (em_bits + 7) // 8
    size = len(digest)
    if em_bytes < size + len(salt) + 2:
        raise ValueError("the key is too short for this digest and salt")
    hashed: bytes = new(bytes(8) + digest + salt).digest()
    block = bytes(em_bytes - len(salt) - size - 2) + b"\x01" + salt
    masked = bytearray(_core.exclusive_or(block, _mgf1(new, hashed, len(block))))
    masked[0] &= 0xFF >> (8 * em_bytes - em_bits)
    return bytes((bits + 7) // 8 - em_bytes) + bytes(masked) + hashed + b"\xbc"


def _decrypt(key: Key, ciphertexts: Sequence[BytesLike], hash: str, mgf_hash: Optional[str],
             label: BytesLike, context: Optional[Context]) -> Prepared:
    new, mgf = _hash(hash), _hash(mgf_hash or hash)
    label_hash = new(bytes_of(label, "label")).digest()
    private = key if isinstance(key, PrivateKey) else PrivateKey(key)
    size, length = len(label_hash), private._core.nbytes
    if length < 2 * size + 2:
        raise ValueError("the key is too short for this hash")
    task = _core.RsaTask(used_context(context)._core, private._core)
    # A ciphertext that is not a number below the modulus was not encrypted for the key.
    numbers: list[Optional[int]] = []
    for n, ciphertext in enumerate(ciphertexts):
        number = task.count
        numbers.append(number if task.add(bytes_of(ciphertext, "ciphertexts", n)) else None)

    def open_one(number: Optional[int]) -> Optional[bytes]:
        if number is None:
            return None
        # EME-OAEP decoding (RFC 8017, section 7.1.2, step 3).
        encoded = task.result(number)
        masked_seed, masked_block = encoded[1:1 + size], encoded[1 + size:]
        seed = _core.exclusive_or(masked_seed, _mgf1(mgf, masked_block, size))
        block = _core.exclusive_or(masked_block, _mgf1(mgf, seed, len(masked_block)))
        return _core.oaep_message(encoded[0], block, label_hash)

    def finish() -> list[bytes]:
        results = [open_one(number) for number in numbers]
        opened = [result for result in results if result is not None]
        if len(opened) != len(results):
            raise DecryptionError(results)
        return opened

    return task, finish
