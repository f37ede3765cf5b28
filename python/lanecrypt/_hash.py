# SPDX-License-Identifier: Apache-2.0
"""Hashes of many messages, and of large ones."""

from __future__ import annotations

from typing import Any, Optional, Union, overload

from . import _arrays, _core
from ._context import Context, used_context
from ._keys import KeyProvider, secret_key
from ._messages import check_size
from ._names import check_name, hash_name
from ._numbers import whole
from ._types import BytesLike, Data, Many, ManyBytes

# By name: the number in the C ABI, the default length of a digest in bytes, and whether other
# lengths are possible.
_HASHES = _core.hashes()
# The hashes for many messages: those without further parameters.
_PLAIN = [name for name in _HASHES
          if name not in ("blake3-keyed", "blake3-derive-key", "merkle-sha256")]


def _digest_bytes(name: str, given: Optional[int]) -> int:
    usual, is_any = _HASHES[name][1:]
    if given is None:
        return usual
    given = whole("digest_bytes", given)
    if given != usual and not is_any:
        raise ValueError(f"a digest of {name} has {usual} bytes, not {given}")
    if not 1 <= given <= 1 << 30:
        raise ValueError("a digest has 1 to 2**30 bytes")
    return given


@overload
def hash_many(
    name: str, messages: ManyBytes, *, digest_bytes: Optional[int] = None, out: None = None,
    stream: Any = None, context: Optional[Context] = None,
) -> list[bytes]: ...


@overload
def hash_many(
    name: str, messages: Many, *, digest_bytes: Optional[int] = None, out: Optional[Data] = None,
    stream: Any = None, context: Optional[Context] = None,
) -> Any: ...


def hash_many(
    name: str,
    messages: Many,
    *,
    digest_bytes: Optional[int] = None,
    out: Optional[Data] = None,
    stream: Any = None,
    context: Optional[Context] = None,
) -> Any:
    """Returns the digests of many messages, which are hashed in parallel, each on one thread of a
    device or on one core. Digests of data on a GPU stay on the GPU.

    name: "sha224", "sha256", "sha384", "sha512" (FIPS 180-4), "sha3-224", "sha3-256", "sha3-384",
        "sha3-512", "shake128", "shake256" (FIPS 202) or "blake3". hashlib's names "sha3_256" and
        "shake_128" are accepted too.
    messages: a list or tuple of bytes-like objects or arrays, or an array whose first dimension
        indexes messages of one length. All are in host memory, or all on one device.
    digest_bytes: the length of a digest, for "shake128" (by default 32), "shake256" (64) and
        "blake3" (32).
    out: a writable array of exactly as many bytes as all digests have, for the concatenated
        digests. It is returned. By default a new array of shape (count, bytes of a digest) on the
        device of the messages; a list of bytes for a list of bytes-like messages.
    stream: as for AEAD, but not 2, CUDA's per-thread default stream, which raises UnsupportedError.
    context: the devices to use; by default default_context().

    Digests are those of hashlib. If the messages are in host memory, the CPU computes one of them
    again as a check, unless the context has verify="off".
    """
    if hash_name(name) in _PLAIN:
        name = hash_name(name)
    check_name("hash", name, _PLAIN)
    used = used_context(context)
    length = _digest_bytes(name, digest_bytes)
    handle = _arrays.stream_number(stream)
    is_sequence = isinstance(messages, (list, tuple))
    items: list[Any] = list(messages) if isinstance(messages, (list, tuple)) else [messages]
    sources = (_arrays.views(items, handle, name="messages") if is_sequence
               else [_arrays.view(messages, handle, name="messages")])
    like, like_view = (items[0], sources[0]) if items else (b"", _core.View(b""))
    handle = _arrays.stream_for(like, like_view, handle)
    task = _core.HashTask(used._core, _HASHES[name][0], length, 0, None, b"", handle)
    if is_sequence:
        for source in sources:
            task.add(source)
    else:
        task.add_rows(sources[0], _arrays.row_count(sources[0]))
    if out is not None:
        output = _arrays.Output(_arrays.view(out, handle, writable=True, name="out"), out)
        check_size(output.view, task.count * length, "out")
    elif is_sequence and _arrays.framework_of(like) == "" and like_view.on_host:
        task.run()
        return [task.digest(number) for number in range(task.count)]
    else:
        output = _arrays.new_rows(like, like_view, (task.count, length), used._core, handle)
    task.put_digests(output.view)
    task.run()
    return output.value


def _one(name: str, data: Any, length: int, leaf_bytes: int, key: Optional[_core.SecretKey],
         text: bytes, stream: Any, context: Optional[Context]) -> bytes:
    used = used_context(context)
    handle = _arrays.stream_number(stream)
    source = _arrays.view(data, handle)
    handle = _arrays.stream_for(data, source, handle)
    task = _core.HashTask(used._core, _HASHES[name][0], length, leaf_bytes, key, text, handle)
    task.add(source)
    task.run()
    return task.digest(0)


def blake3(
    data: Data,
    *,
    key: Union[BytesLike, KeyProvider, None] = None,
    derive_key_context: Optional[str] = None,
    digest_bytes: int = 32,
    stream: Any = None,
    context: Optional[Context] = None,
) -> bytes:
    """Returns the BLAKE3 digest of a bytes-like object or of an array. All parts are hashed in
    parallel where the data are; only the digest is copied to the host.

    key: 32 bytes, or a KeyProvider: the result is then a message authentication code. Compare codes
        with hmac.compare_digest().
    derive_key_context: derives a key from the data, for the purpose that this text names. Excludes
        `key`. This is not a Context; that is `context`.
    digest_bytes: up to 2**30.
    stream: as for hash_many().
    context: the devices to use; by default default_context().
    """
    if key is not None and derive_key_context is not None:
        raise TypeError("give either key or derive_key_context")
    if derive_key_context is not None and not isinstance(derive_key_context, str):
        raise TypeError("derive_key_context is a str")
    length = _digest_bytes("blake3", digest_bytes)
    if key is not None:
        secret = secret_key(key)
        if secret.nbytes != 32:
            raise ValueError(f"a key of BLAKE3 has 32 bytes, not {secret.nbytes}")
        return _one("blake3-keyed", data, length, 0, secret, b"", stream, context)
    if derive_key_context is not None:
        return _one("blake3-derive-key", data, length, 0, None, derive_key_context.encode(), stream,
                    context)
    return _one("blake3", data, length, 0, None, b"", stream, context)


def merkle_root(
    data: Data,
    leaf_bytes: int,
    *,
    stream: Any = None,
    context: Optional[Context] = None,
) -> bytes:
    """Returns the root, of 32 bytes, of the Merkle tree with SHA-256 (RFC 9162, section 2.1.1) over
    a bytes-like object or an array. Each leaf has `leaf_bytes` bytes; the last one has the rest.
    All leaves are hashed in parallel where the data are; only the root is copied to the host.

    stream: as for hash_many().
    context: the devices to use; by default default_context().
    """
    leaf_bytes = whole("leaf_bytes", leaf_bytes)
    if leaf_bytes < 1:
        raise ValueError("a leaf has 1 byte at least")
    return _one("merkle-sha256", data, 32, leaf_bytes, None, b"", stream, context)
