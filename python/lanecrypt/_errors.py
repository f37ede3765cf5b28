# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package."""

from __future__ import annotations

import functools
from collections.abc import Sequence


class Error(RuntimeError):
    """The library could not do what was asked, and nothing is wrong with what was asked."""


class NoDeviceError(Error):
    """There is no usable device, and the CPU was not allowed."""


class DeviceError(Error):
    """A device failed, and nothing else took over."""


class UnsupportedError(Error):
    """What was asked is valid, and is not offered here."""


class StoppedError(Error):
    """The end of the program, or a callback, stopped it."""


class _OwnInvalidTag(Exception):
    """A tag is wrong: no plaintext was given out. Where pyca/cryptography is installed,
    lanecrypt.InvalidTag is cryptography.exceptions.InvalidTag instead.

    failed: the numbers of the messages whose tags are wrong, from 0. The text has them too, if the
    function takes many messages."""

    failed: tuple[int, ...] = ()


_OwnInvalidTag.__name__ = _OwnInvalidTag.__qualname__ = "InvalidTag"
_OwnInvalidTag.__module__ = "lanecrypt"


@functools.cache
def invalid_tag_type() -> type[Exception]:
    """The class of the exception for a wrong tag. Imports pyca/cryptography if it is there. It stays
    what it was when it was first asked for, since an except clause has it from then on."""
    try:
        from cryptography.exceptions import InvalidTag
    except ImportError:
        return _OwnInvalidTag
    return InvalidTag


# So many numbers of messages are in a text. `failed` has all.
_MOST_NUMBERS = 20


def messages_text(failed: Sequence[int]) -> str:
    """The messages of these numbers, for a person."""
    numbers = ", ".join(map(str, failed[:_MOST_NUMBERS]))
    if len(failed) > _MOST_NUMBERS:
        numbers += f", ... ({len(failed)} in all)"
    return f"message {numbers}" if len(failed) == 1 else f"messages {numbers}"


def invalid_tag(failed: Sequence[int] = ()) -> Exception:
    """The exception for wrong tags. Without numbers it is for a function that takes one message, and
    has no text, as pyca/cryptography has it."""
    kind = invalid_tag_type()
    error = kind(f"wrong tag: {messages_text(failed)}") if failed else kind()
    error.failed = tuple(failed) or (0,)  # type: ignore[attr-defined]
    return error


# lc_status, whose numbers are part of the ABI.
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
    """The exception for a status of the C ABI, which the extension module then raises."""
    if status == _WRONG_TAG:
        return invalid_tag(failed)
    return _TYPES.get(status, Error)(text)
