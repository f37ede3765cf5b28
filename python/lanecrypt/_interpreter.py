# SPDX-License-Identifier: Apache-2.0
"""Only the main interpreter may load the extension module: a second one in the same process would
take what the module keeps for all of them, even if it failed to load it."""

from typing import Any


def refuse_others() -> None:
    """Raises ImportError in a subinterpreter."""
    interpreters: Any
    try:
        # CPython 3.13 and later
        import _interpreters as interpreters  # type: ignore[import-not-found]
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters  # type: ignore[import-not-found, no-redef]
        except ImportError:
            return  # a Python without them
    if _number(interpreters.get_current()) != _number(interpreters.get_main()):
        raise ImportError("lanecrypt works in the main interpreter alone, not in subinterpreters")


def _number(told: Any) -> int:
    return int(told[0] if isinstance(told, tuple) else told)


refuse_others()
