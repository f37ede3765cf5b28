# SPDX-License-Identifier: Apache-2.0
"""Checks of integers that users pass."""

from __future__ import annotations

import operator
from typing import Any


def whole(name: str, value: Any, bits: int = 64) -> int:
    """Returns the value as a Python int: NumPy's integers are accepted, but lack methods of int.
    Raises ValueError if it is negative or does not fit into `bits` bits.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is an int, not {type(value).__name__}") from None
    if number < 0:
        raise ValueError(f"{name} is negative")
    if number >> bits:
        raise ValueError(f"{name} is too large")
    return number
