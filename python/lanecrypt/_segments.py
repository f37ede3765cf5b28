# SPDX-License-Identifier: Apache-2.0
"""One text in segments, each a separate message, as in files of Tink, age and Iceberg, and for
tensors and caches that are split.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _arrays, _core
from ._context import Context, default_context
from ._errors import invalid_tag
from ._messages import Prepared, bytes_of, check_rows, check_size
from ._numbers import whole
from ._verdicts import with_verdicts

if TYPE_CHECKING:
    from ._aead import AEAD
    from ._cipher import Cipher

_MOST_BYTES = 1 << 62


def _make_ints(given: object, *names: str) -> None:
    """Converts fields to Python ints: NumPy's integers have 8 to 64 bits, and their sums overflow.
    Raises TypeError if one is not an integer.
    """
    for name in names:
        object.__setattr__(given, name, operator.index(getattr(given, name)))


@dataclasses.dataclass(frozen=True)
class Number:
    """A number that increases by 1 from segment to segment, within bytes that are otherwise the
    same for all segments.

    at: the index of its first byte.
    nbytes: its length in bytes, 1 to 8.
    byteorder: "big" or "little".
    start: the number of a text's first segment.
    """

    at: int
    nbytes: int = 4
    byteorder: str = "big"
    start: int = 0

    def __post_init__(self) -> None:
        _make_ints(self, "at", "nbytes", "start")
        if self.byteorder not in ("big", "little"):
            raise ValueError("byteorder is 'big' or 'little'")
        if not (0 <= self.at < 1 << 32 and 1 <= self.nbytes <= 8):
            raise ValueError("a number has 1 to 8 bytes, from byte 0 on or later")
        if not 0 <= self.start < 1 << 64:
            raise ValueError("a number has 64 bits at most, and no sign")


@dataclasses.dataclass(frozen=True)
class Segments:
    """How a text is divided into segments, and how their nonces are made.

    segment_bytes: bytes of text in every segment except the last, which has the rest.
    first_bytes: bytes of text in the first segment, if it has fewer; 0: as the others.
    number: the position of the number in the nonce. None: each nonce is given. Otherwise the given
        nonce is either whole, or only the bytes before the number and the flag, if no other bytes
        are between them or after them: no byte is invented.
    last_flag_at: the index of the byte of the nonce that is 1 in the last segment and 0 in all
        others; None if there is no such byte.
    aad_number: the position of the number in the associated data; None if it is not in them.
    tags_inside: whether each tag follows the text of its segment, or all tags are in separate
        memory.

    For example, the ciphertext of Tink's AES256_GCM_HKDF_1MB after its header of 40 bytes:
        Segments((1 << 20) - 16, first_bytes=(1 << 20) - 56, number=Number(7), last_flag_at=11)
    The first 7 bytes of the nonce are random there, and would repeat within some thousand texts. So
    Tink derives a key for each text from a random salt. Do the same.
    """

    segment_bytes: int
    _: dataclasses.KW_ONLY
    first_bytes: int = 0
    number: Optional[Number] = Number(8)
    last_flag_at: Optional[int] = None
    aad_number: Optional[Number] = None
    tags_inside: bool = True

    def __post_init__(self) -> None:
        _make_ints(self, "segment_bytes", "first_bytes",
                   *(["last_flag_at"] if self.last_flag_at is not None else []))
        for where in (self.number, self.aad_number):
            if where is not None and not isinstance(where, Number):
                raise TypeError(f"a number is a lanecrypt.Number, not {type(where).__name__}")
        if not 0 < self.segment_bytes < _MOST_BYTES:
            raise ValueError("segment_bytes is at least 1, and less than 2^62")
        if not 0 <= self.first_bytes <= self.segment_bytes:
            raise ValueError("first_bytes is not more than segment_bytes")
        if self.last_flag_at is not None and not 0 <= self.last_flag_at < 128:
            raise ValueError("last_flag_at is a byte of the nonce")
        if self.number is None and self.last_flag_at is not None:
            raise ValueError("nonces that are given have no last flag")

    def count(self, text_bytes: int, *, first: int = 0) -> int:
        """Returns the number of segments of a text of `text_bytes` bytes whose first segment has
        the index `first`. An empty text has one segment.
        """
        text_bytes, first = operator.index(text_bytes), operator.index(first)
        rest = max(text_bytes - self._first_bytes(first), 0)
        return 1 + -(-rest // self.segment_bytes)

    def text_bytes(self, sealed_bytes: int, tag_bytes: int = 16, *, first: int = 0) -> int:
        """Returns the number of bytes of text in `sealed_bytes` bytes with tags inside. Raises
        ValueError if no text has that length.
        """
        sealed_bytes, tag_bytes = operator.index(sealed_bytes), operator.index(tag_bytes)
        first = operator.index(first)
        whole, start = self.segment_bytes + tag_bytes, self._first_bytes(first) + tag_bytes
        rest = max(sealed_bytes - start, 0)
        if sealed_bytes < tag_bytes or 0 < rest % whole <= tag_bytes:
            raise ValueError("the last segment is shorter than a tag and a byte")
        return sealed_bytes - self._count_sealed(sealed_bytes, tag_bytes, first) * tag_bytes

    def _count_sealed(self, sealed_bytes: int, tag_bytes: int, first: int) -> int:
        """Returns the number of segments in `sealed_bytes` bytes with tags inside, even if the last
        one is truncated.
        """
        rest = max(sealed_bytes - self._first_bytes(first) - tag_bytes, 0)
        return 1 + -(-rest // (self.segment_bytes + tag_bytes))

    def _first_bytes(self, first: int) -> int:
        return self.first_bytes if self.first_bytes and first == 0 else self.segment_bytes

    def _nonce(self, given: Any, name: str) -> bytes:
        """Returns a whole nonce. `given` is whole, or has only the bytes before those that are
        numbered.
        """
        nonce = bytes_of(given, name)
        if self.number is None:
            return nonce
        made = {*range(self.number.at, self.number.at + self.number.nbytes)}
        if self.last_flag_at is not None:
            made.add(self.last_flag_at)
        before, end = min(made), max(made) + 1
        if len(nonce) >= end:
            return nonce
        # Zeros for missing bytes could make the nonce of another text under the same key.
        if len(made) != end - before:
            raise ValueError(f"a nonce of this layout is given whole, in {end} bytes or more, not "
                             f"{len(nonce)}")
        if len(nonce) != before:
            raise ValueError(f"a nonce of this layout has {before} bytes before its number, or is "
                             f"given whole, in {end} bytes or more, not {len(nonce)}")
        return nonce + bytes(end - before)


def _number(number: Optional[Number], first: int) -> Optional[tuple[int, int, bool, int]]:
    if number is None:
        return None
    if number.start + first >= 1 << 64:
        raise ValueError("the numbers of the segments do not fit in 64 bits")
    return number.at, number.nbytes, number.byteorder == "little", number.start + first


class _Request:
    """The common part of encryption and decryption requests."""

    def __init__(self, aead: Union[AEAD, Cipher], layout: Segments, data: Any, first: int,
                 stream: Any, *, captures: bool = False) -> None:
        if not isinstance(layout, Segments):
            raise TypeError("the layout is a lanecrypt.Segments")
        first = whole("first", first)
        self.aead = aead
        self.layout = layout
        self.first = first
        self.data = data
        self.context: Context = aead._context or default_context()
        self.stream = _arrays.stream_number(stream)
        self.source = _arrays.view(data, self.stream)
        self.stream = _arrays.stream_for(data, self.source, self.stream, captures=captures)

    def output(self, given: Any, nbytes: int) -> _arrays.Output:
        if given is not None:
            made = _arrays.Output(_arrays.view(given, self.stream, writable=True, name="out"), given)
            check_size(made.view, nbytes, "out")
            return made
        if self.layout.tags_inside:
            return _arrays.new_bytes(self.data, self.source, nbytes, self.context._core,
                                     self.stream)
        return _arrays.new_like(self.data, self.source, self.context._core, self.stream)

    def task(self, encrypts: bool, nonce: Any, text_bytes: int, output: _arrays.Output, aad: Any,
             is_end: bool) -> _core.CipherTask:
        layout, count = self.layout, self.layout.count(text_bytes, first=self.first)
        name = self.aead._ivs_name[:-1]
        nonces = layout._nonce(nonce, name)
        nonce_bytes, stride = len(nonces), 0
        if layout.number is None:
            check_rows(nonce, count, name)
            if nonce_bytes % count:
                raise ValueError(f"{nonce_bytes} bytes of nonces are not as many for each of "
                                 f"{count} segments")
            nonce_bytes = stride = nonce_bytes // count
        task = self.aead._task(self.context, encrypts, nonce_bytes, self.stream)
        longest = min(layout.segment_bytes, text_bytes)
        self.aead._check_length(nonce_bytes, longest)
        self.aead._check_counters(nonces, itertools.repeat(longest))
        first_bytes = layout._first_bytes(self.first)
        aad = None if aad is None else _arrays.view(aad, self.stream, name="associated_data")
        task.set_segments(nonces, stride, _number(layout.number, self.first), layout.last_flag_at,
                          is_end, self.source, output.view, text_bytes, layout.segment_bytes,
                          0 if first_bytes == layout.segment_bytes else first_bytes,
                          layout.tags_inside, aad, _number(layout.aad_number, self.first))
        return task


def encrypting(aead: AEAD, layout: Segments, nonce: Any, data: Any, aad: Any, first: int,
               is_end: bool, out: Any, tags: Any, stream: Any) -> Prepared:
    request = _Request(aead, layout, data, first, stream)
    length = request.source.nbytes
    count = layout.count(length, first=first)
    if layout.tags_inside:
        if tags is not None:
            raise ValueError("the tags lie inside: tags= goes with tags_inside=False")
        output = request.output(out, length + count * aead._tag_bytes)
        task = request.task(True, nonce, length, output, aad, is_end)
        return task, lambda: output.value
    output = request.output(out, length)
    task = request.task(True, nonce, length, output, aad, is_end)
    if tags is not None:
        place = _arrays.Output(_arrays.view(tags, request.stream, writable=True, name="tags"), tags)
        check_size(place.view, count * aead._tag_bytes, "tags")
    else:
        beside = (out, output.view) if out is not None and output.view.on_host else (data, request.source)
        place = _arrays.new_rows(*beside, (count, aead._tag_bytes), request.context._core,
                                 request.stream)
    task.put_tags(place.view, 0)
    return task, lambda: (output.value, place.value)


def decrypting(aead: AEAD, layout: Segments, nonce: Any, data: Any, aad: Any, tags: Any,
               first: int, is_end: bool, out: Any, verdicts: Any, stream: Any) -> Prepared:
    request = _Request(aead, layout, data, first, stream)
    length = request.source.nbytes
    if layout.tags_inside:
        if tags is not None:
            raise ValueError("the tags lie inside: tags= goes with tags_inside=False")
        try:
            length = layout.text_bytes(length, aead._tag_bytes, first=first)
        except ValueError:
            last = layout._count_sealed(length, aead._tag_bytes, first) - 1
            raise invalid_tag((last,)) from None
    elif tags is None:
        raise ValueError("the tags lie apart: give them as tags=")
    output = request.output(out, length)
    task = request.task(False, nonce, length, output, aad, is_end)
    if tags is not None:
        place = _arrays.view(tags, request.stream, name="tags")
        check_size(place, task.count * aead._tag_bytes, "tags")
        task.put_tags(place, 0)
    finish = with_verdicts(task, data, request.source, request.context, request.stream, verdicts)

    def value() -> Any:
        finish()
        return output.value

    return task, value
