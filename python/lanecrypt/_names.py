# SPDX-License-Identifier: Apache-2.0
"""Checks of the names of ciphers and hashes that users pass."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

# No name is longer. A key of 16 bytes is longer in Base64 and in hexadecimal digits.
_MOST_CHARACTERS = 20


def hash_name(name: Any) -> Any:
    """Returns the name of a hash in the form of this package. hashlib writes "sha3_256" for
    "sha3-256", and "shake_128" for "shake128".
    """
    return name.replace("_", "-").replace("shake-", "shake") if isinstance(name, str) else name


def check_name(what: str, name: Any, names: Collection[str]) -> None:
    """Raises TypeError or ValueError if `name` is not one of `names`. The user may have confused
    the arguments and passed a key, so the message does not repeat a long text.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a{'n' if what[0] in 'aeiou' else ''} {what} is a str, not "
                        f"{type(name).__name__}")
    if name not in names:
        told = f" {name!r}" if len(name) <= _MOST_CHARACTERS else " of that name"
        raise ValueError(f"there is no {what}{told}: there are {', '.join(names)}")
