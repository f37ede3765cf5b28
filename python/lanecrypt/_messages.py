# SPDX-License-Identifier: Apache-2.0
"""The messages of one request, in whatever form the user passes them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any, Optional, Protocol

from . import _arrays, _core
from ._context import Context

# The numbers of ciphers in the C ABI, by name.
CIPHERS = _core.ciphers()

# A task, and a function that makes the user's result after the task has completed.
Prepared = tuple[_core.Task, Callable[[], Any]]


def run(prepared: Prepared) -> Any:
    task, finish = prepared
    task.run()
    return finish()


def bytes_of(value: Any, name: str, index: Optional[int] = None) -> bytes:
    """Returns a copy of a nonce, an IV, a tag or a digest. `name` and `index` are those of the
    argument, for error messages.
    """
    if type(value) is bytes:
        return value
    its_view = _arrays.view(value, name=name, index=index)
    if not its_view.on_host:
        raise ValueError(f"{name}: tags, nonces, IVs and digests must lie in host memory")
    return _core.to_bytes(its_view)


def aad_of(value: Any, index: Optional[int] = None) -> Any:
    """Returns associated data in the form that a task takes."""
    if value is None or type(value) is bytes:
        return value
    return _arrays.view(value, name="associated_data", index=index)


def check_size(its_view: _core.View, nbytes: int, what: str = "buffer") -> None:
    if its_view.nbytes != nbytes:
        raise ValueError(f"{what} must be {nbytes} bytes")


def check_count(given: int, needed: int, what: str) -> None:
    if given != needed:
        raise ValueError(f"there are {given} {what} for {needed} messages")


def check_rows(ivs: Any, count: int, name: str) -> None:
    """Raises ValueError if an array of several dimensions does not have one row per message: its
    bytes would be split into other nonces than its rows.
    """
    shape = [] if type(ivs) is bytes else _arrays.view(ivs, name=name).shape
    if len(shape) > 1 and count not in (shape[0], math.prod(shape[:-1])):
        raise ValueError(f"{name} of shape {tuple(shape)} are not one in each row for {count} "
                         "messages")


class Keyed(Protocol):
    """The interface of a cipher with its key, which makes tasks."""

    @property
    def _ivs_name(self) -> str: ...

    def _task(self, context: Context, encrypts: bool, iv_bytes: int,
              stream: Optional[int]) -> _core.CipherTask: ...

    def _check_length(self, iv_bytes: int, text_bytes: int) -> None: ...

    def _check_counters(self, ivs: bytes, lengths: Iterable[int]) -> None: ...

    def _usual_iv_bytes(self) -> int: ...


class Messages:
    """The messages of one request: their inputs and outputs."""

    def __init__(self, data: Any, out: Any, context: Context, stream: Any) -> None:
        handle = _arrays.stream_number(stream)
        self._context = context
        self._out = out
        self.is_sequence = isinstance(data, (list, tuple))
        items = list(data) if self.is_sequence else [data]
        self.sources = (_arrays.views(items, handle) if self.is_sequence
                        else [_arrays.view(data, handle)])
        self.count = (len(items) if self.is_sequence
                      else _arrays.row_count(self.sources[0]))
        # The first input: results get its type, and the order of the request is that of its stream.
        self.like = items[0] if items else b""
        self.like_view = self.sources[0] if items else _core.View(b"")
        handle = _arrays.stream_for(self.like, self.like_view, handle)
        self.stream = handle
        self.has_bytes = (self.is_sequence and _arrays.framework_of(self.like) == ""
                          and self.like_view.on_host)
        self.beside = (self.like, self.like_view)  # new tags go to the device of this
        if out is None:
            self.outputs = [_arrays.new_like(item, source, context._core, handle)
                            for item, source in zip(items, self.sources)]
        else:
            if self.is_sequence and not isinstance(out, (list, tuple)):
                raise TypeError(f"out: a list or tuple is needed, as data are one, not {type(out).__name__}")
            given = list(out) if self.is_sequence else [out]
            check_count(len(given), len(items), "outputs")
            views = (_arrays.views(given, handle, writable=True, name="out") if self.is_sequence
                     else [_arrays.view(out, handle, writable=True, name="out")])
            self.outputs = [_arrays.Output(*each) for each in zip(views, given)]
            if given and self.outputs[0].view.on_host:
                self.beside = (given[0], self.outputs[0].view)
            for source, output in zip(self.sources, self.outputs):
                check_size(output.view, source.nbytes, "an output")

    @property
    def value(self) -> Any:
        """The outputs in the form that the user gets."""
        if self._out is not None:
            return self._out
        values = [output.value for output in self.outputs]
        return values if self.is_sequence else values[0]

    def task(self, cipher: Keyed, ivs: Any, aad: Any, encrypts: bool) -> _core.CipherTask:
        """Returns a task for all messages. `ivs` is a sequence, one object with all IVs, or None.
        """
        joined = b"" if ivs is None else self._join(ivs, cipher._ivs_name)
        iv_bytes = (0 if ivs is None else
                    len(joined) // self.count if self.count else cipher._usual_iv_bytes())
        task = cipher._task(self._context, encrypts, iv_bytes, self.stream)
        if self.count:
            lengths = ([source.nbytes for source in self.sources] if self.is_sequence
                       else [self.sources[0].nbytes // self.count])
            cipher._check_length(iv_bytes, max(lengths))
            cipher._check_counters(joined, lengths if self.is_sequence else
                                   itertools.repeat(lengths[0]))
        if not self.is_sequence:
            task.add_rows(joined, self.sources[0], self.outputs[0].view, self.count,
                          [aad_of(one, n) for n, one in enumerate(aad)]
                          if isinstance(aad, (list, tuple)) else aad_of(aad))
            return task
        aads = ([aad_of(one, n) for n, one in enumerate(aad)]
                if isinstance(aad, (list, tuple)) else None)
        if aads is not None:
            check_count(len(aads), self.count, "associated data")
        shared = (None if aad is None or aads is not None
                  else _arrays.view(aad, name="associated_data"))
        for number, (source, output) in enumerate(zip(self.sources, self.outputs)):
            task.add(joined[number * iv_bytes:(number + 1) * iv_bytes], source, 0, source.nbytes,
                     output.view, 0, aads[number] if aads is not None else shared)
        return task

    def _join(self, ivs: Any, name: str) -> bytes:
        """Returns the concatenation of the IVs, which must all have the same length."""
        if not isinstance(ivs, (list, tuple)):
            joined = bytes_of(ivs, name)
            check_rows(ivs, self.count, name)
            if self.count and len(joined) % self.count:
                raise ValueError(f"{len(joined)} bytes of {name} are not as many for each of "
                                 f"{self.count} messages")
            return joined
        check_count(len(ivs), self.count, name)
        each = [bytes_of(iv, name, n) for n, iv in enumerate(ivs)]
        for iv in each:
            if len(iv) != len(each[0]):
                raise ValueError(f"one nonce or IV has {len(iv)} bytes, another {len(each[0])}")
        return b"".join(each)
