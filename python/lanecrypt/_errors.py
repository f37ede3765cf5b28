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

    failed: the numbers of the messages whose tags are wrong, from 0."""

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


def invalid_tag(failed: Sequence[int] = (0,)) -> Exception:
    error = invalid_tag_type()()
    error.failed = tuple(failed)  # type: ignore[attr-defined]
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
