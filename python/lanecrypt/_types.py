# SPDX-License-Identifier: Apache-2.0
"""The types of arguments, for type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Protocol, Union


class _HasBuffer(Protocol):
    """The buffer protocol, in a form that type checkers know for every release of Python."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class _HasDlpack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


class _HasCudaArrayInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...


BytesLike = Union[bytes, bytearray, memoryview]
"""The types for which functions return bytes."""

Data = Union[_HasBuffer, _HasDlpack, _HasCudaArrayInterface]
"""A bytes-like object or an array."""

ManyBytes = Union[Sequence[bytes], Sequence[bytearray], Sequence[memoryview]]
Many = Union[Data, Sequence[Data]]
"""Many messages: an array with one per row, or a sequence."""

Aad = Optional[Data]
ManyAads = Union[Data, Sequence[Optional[Data]], None]
