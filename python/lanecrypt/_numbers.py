# SPDX-License-Identifier: Apache-2.0
"""Whole numbers that users give."""

from __future__ import annotations

import operator
from typing import Any


def whole(name: str, value: Any, bits: int = 64) -> int:
    """The value as an int of Python: NumPy's integers are whole numbers too, and lack what an int
    has. ValueError where it is negative, or does not fit in so many bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is an int, not {type(value).__name__}") from None
    if number < 0:
        raise ValueError(f"{name} is negative")
    if number >> bits:
        raise ValueError(f"{name} is too large")
    return number
