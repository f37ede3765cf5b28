# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package."""

from __future__ import annotations

import functools
from collections.abc import Sequence


class Error(RuntimeError):
    """The library could not do what was asked, although the arguments are valid."""


class NoDeviceError(Error):
    """There is no usable device, and the CPU was not allowed."""


class DeviceError(Error):
    """A device failed, and no fallback was possible."""


class UnsupportedError(Error):
    """The request is valid but not supported here."""


class StoppedError(Error):
    """The exit of the program, or a callback, stopped the work."""


class _OwnInvalidTag(Exception):
    """A tag is wrong, and no plaintext was returned. If pyca/cryptography is installed,
    lanecrypt.InvalidTag is cryptography.exceptions.InvalidTag instead.

    failed: the indices, from 0, of the messages whose tags are wrong. The text has them too, if the
        function takes many messages.
    """

    failed: tuple[int, ...] = ()


_OwnInvalidTag.__name__ = _OwnInvalidTag.__qualname__ = "InvalidTag"
_OwnInvalidTag.__module__ = "lanecrypt"


@functools.cache
def invalid_tag_type() -> type[Exception]:
    """Returns the exception class for a wrong tag. Imports pyca/cryptography if it is installed.
    The result never changes after the first call, because except clauses refer to it.
    """
    try:
        from cryptography.exceptions import InvalidTag
    except ImportError:
        return _OwnInvalidTag
    return InvalidTag


# The most indices in a text. `failed` has all.
_MOST_NUMBERS = 20


def messages_text(failed: Sequence[int]) -> str:
    """Returns a text that names the messages with these indices."""
    numbers = ", ".join(map(str, failed[:_MOST_NUMBERS]))
    if len(failed) > _MOST_NUMBERS:
        numbers += f", ... ({len(failed)} in all)"
    return f"message {numbers}" if len(failed) == 1 else f"messages {numbers}"


def invalid_tag(failed: Sequence[int] = ()) -> Exception:
    """Returns the exception for wrong tags. Without indices it is for a function that takes one
    message, and has no text, as in pyca/cryptography.
    """
    kind = invalid_tag_type()
    error = kind(f"wrong tag: {messages_text(failed)}") if failed else kind()
    error.failed = tuple(failed) or (0,)  # type: ignore[attr-defined]
    return error


# The values of lc_status, which are part of the ABI.
_TYPES: dict[int, type[Exception]] = {
    2: ValueError,
    3: UnsupportedError,
    4: MemoryError,
    5: NoDeviceError,
    6: DeviceError,
    7: DeviceError,
    10: StoppedError,
}
_WRONG_TAG = 9


def error_for(status: int, text: str, failed: Sequence[int]) -> Exception:
    """Returns the exception for a status of the C ABI. The extension module raises it."""
    if status == _WRONG_TAG:
        return invalid_tag(failed)
    return _TYPES.get(status, Error)(text)
