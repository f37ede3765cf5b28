# SPDX-License-Identifier: Apache-2.0
"""Refuses subinterpreters. Only the main interpreter may load the extension module: a second
interpreter in the same process would replace the module's state, which all share, even if its own
import fails.
"""

import importlib
from typing import Any


def refuse_others() -> None:
    """Raises ImportError in a subinterpreter."""
    # The names of the module from CPython 3.13 on, and before. A Python with neither has no
    # subinterpreters.
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters: Any = importlib.import_module(name)
        except ImportError:
            continue
        if _number(interpreters.get_current()) != _number(interpreters.get_main()):
            raise ImportError("lanecrypt works in the main interpreter alone, not in subinterpreters")
        return


def _number(told: Any) -> int:
    return int(told[0] if isinstance(told, tuple) else told)


refuse_others()
