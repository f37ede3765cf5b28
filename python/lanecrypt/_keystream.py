# SPDX-License-Identifier: Apache-2.0
"""Keystream as a source of bytes."""

from __future__ import annotations

from typing import Any, Optional, Union

from . import _arrays, _core
from ._cipher import Cipher
from ._context import Context, used_context
from ._keys import KeyProvider
from ._messages import bytes_of
from ._numbers import whole
from ._types import BytesLike


def keystream(
    key: Union[BytesLike, KeyProvider],
    nonce: BytesLike,
    nbytes: Optional[int] = None,
    *,
    out: Any = None,
    cipher: str = "chacha20",
    offset: int = 0,
    stream: Any = None,
    context: Optional[Context] = None,
) -> Any:
    """Returns bytes that are indistinguishable from random without the key, and that are the same
    each time for the same key, nonce and offset: a fast source of random data, on the GPU if `out`
    is there.

    Do not encrypt under a key and nonce that were used here: their keystream is then known.

    key: 32 bytes, or a KeyProvider; 16, 24 or 32 bytes for "aes-ctr".
    nonce: 12 bytes, different for each sequence of bytes under the key. Random ones are safe for
        2^32 sequences.
    nbytes: the number of bytes to return, as bytes. Give either this or `out`.
    out: a writable array or bytes-like object to fill; it is returned.
    cipher: "chacha20" (RFC 8439; at most 256 GiB under one nonce) or "aes-ctr" (SP 800-38A, with a
        32-bit counter after the nonce; at most 64 GiB).
    offset: the position in the sequence at which to begin, in bytes: a multiple of 64, or of 16 for
        "aes-ctr". So parts can be made separately.
    stream: as for AEAD.
    context: the devices to use; by default default_context().

    As a secret key, the result is as good as `key`.
    """
    if cipher not in ("chacha20", "aes-ctr"):
        raise ValueError('cipher must be "chacha20" or "aes-ctr"')
    if (nbytes is None) == (out is None):
        raise TypeError("give either nbytes or out")
    start = bytes_of(nonce, "nonce")
    if len(start) != 12:
        raise ValueError(f"the nonce has 12 bytes, not {len(start)}")
    block = 64 if cipher == "chacha20" else 16
    offset = whole("offset", offset, 128)
    if offset % block:
        raise ValueError(f"offset must be a multiple of {block}")
    handle = _arrays.stream_number(stream)
    if out is None:
        view = _core.View.of_new_bytes(whole("nbytes", nbytes, 63))
        value = view.owner
    else:
        view = _arrays.view(out, handle, writable=True, name="out")
        value = out
    first = offset // block
    if first + (view.nbytes + block - 1) // block > 1 << 32:
        raise ValueError(f"a sequence of {cipher} has {block << 32} bytes")
    if not view.nbytes:
        return value
    handle = _arrays.stream_for(out, view, handle)
    iv = (first.to_bytes(4, "little") + start if cipher == "chacha20"
          else start + first.to_bytes(4, "big"))
    used = used_context(context)
    task = Cipher(cipher, key, context=used)._task(used, True, 16, handle)
    task.add(iv, view, 0, view.nbytes, view, 0, None)
    # Encrypting zeros gives the keystream.
    _arrays.fill_with_zeros(out, view, handle, used._core)
    task.run()
    return value
