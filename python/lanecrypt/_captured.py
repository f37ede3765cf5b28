# SPDX-License-Identifier: Apache-2.0
"""Encryption and decryption that each launch of a CUDA graph repeats."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _arrays, _core
from ._messages import check_size
from ._numbers import whole
from ._segments import Segments, _Request

if TYPE_CHECKING:
    from ._aead import AEAD
    from ._cipher import Cipher


class Captured:
    """The GPU memory that a captured call needs in a CUDA graph: the key, tables, and workspace for
    its kernels.

    close() zeroes and frees it. Call it when the graph is not running and will not be launched
    again. Until then, or until the context is closed, the memory stays, even if this object is
    garbage collected: its context then stays open until the interpreter exits. The caller must keep
    the arrays of the call alive, like all memory that a graph uses. In a forked child close()
    raises RuntimeError.
    """

    __slots__ = ("_core", "__weakref__")

    def __init__(self, core: _core.Captured) -> None:
        self._core = core

    def close(self) -> None:
        """Zeroes and frees the memory. Later calls do nothing. If it raises an error, the key is
        still on the GPU, and close() can be called again.
        """
        self._core.close()

    @property
    def closed(self) -> bool:
        """Whether the GPU memory has been freed."""
        return self._core.closed

    def __enter__(self) -> Captured:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("what is captured belongs to its process and cannot be pickled")


def _request(cipher: Union[AEAD, Cipher], layout: Segments, data: Any, first: int,
             stream: Any) -> _Request:
    request = _Request(cipher, layout, data, first, stream, captures=True)
    if request.source.on_host:
        raise ValueError("a CUDA graph can encrypt what is on the card alone")
    return request


def _put_tags(request: _Request, task: _core.CipherTask, tags: Any, writable: bool) -> None:
    if not request.aead._tag_bytes:
        return
    if request.layout.tags_inside != (tags is None):
        raise ValueError("tags= goes with tags_inside=False, and must be given then")
    if tags is not None:
        place = _arrays.view(tags, request.stream, writable=writable, name="tags")
        check_size(place, task.count * request.aead._tag_bytes, "tags")
        task.put_tags(place, 0)


def capture_encryption(cipher: Union[AEAD, Cipher], layout: Segments, nonce: Any, data: Any,
                       aad: Any, out: Any, launches: int, verdict: Any, nonce_out: Any, tags: Any,
                       first: int, is_end: bool, stream: Any) -> Captured:
    request = _request(cipher, layout, data, first, stream)
    length = request.source.nbytes
    count = layout.count(length, first=first)
    inside = count * cipher._tag_bytes if layout.tags_inside else 0
    task = request.task(True, nonce, length, request.output(out, length + inside), aad, is_end)
    _put_tags(request, task, tags, True)
    place = None if nonce_out is None else _arrays.view(nonce_out, request.stream, writable=True,
                                                        name="nonce_out or iv_out")
    its_verdict = _arrays.view(verdict, request.stream, writable=True, name="verdict")
    return Captured(_core.Captured(task, whole("launches", launches), place, its_verdict))


def capture_decryption(cipher: Union[AEAD, Cipher], layout: Segments, nonce: Any, data: Any,
                       aad: Any, out: Any, verdicts: Any, tags: Any, first: int, is_end: bool,
                       stream: Any) -> Captured:
    request = _request(cipher, layout, data, first, stream)
    length = request.source.nbytes
    if layout.tags_inside and cipher._tag_bytes:
        length = layout.text_bytes(length, cipher._tag_bytes, first=first)
    given = _arrays.view(nonce, request.stream, name=cipher._ivs_name[:-1])
    on_card = None if given.on_host else given
    task = request.task(False, bytes(cipher._usual_iv_bytes()) if on_card else nonce, length,
                        request.output(out, length), aad, is_end)
    _put_tags(request, task, tags, False)
    if cipher._tag_bytes:
        place = _arrays.view(verdicts, request.stream, writable=True, name="verdicts")
        check_size(place, task.count, "verdicts")
        task.set_verdicts(place)
    return Captured(_core.Captured(task, 0, on_card, None))
