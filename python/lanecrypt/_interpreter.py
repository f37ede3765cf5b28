# SPDX-License-Identifier: Apache-2.0
"""Only the main interpreter may load the extension module: a second one in the same process would
take what the module keeps for all of them, even if it failed to load it."""

import importlib
from typing import Any


def refuse_others() -> None:
    """Raises ImportError in a subinterpreter."""
    # From CPython 3.13 on, and before. A Python without them has no other interpreters.
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
