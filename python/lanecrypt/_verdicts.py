# SPDX-License-Identifier: Apache-2.0
"""Verdicts: a device reports for each message in its memory whether the tag is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from . import _arrays, _core
from ._context import Context
from ._messages import check_size


def with_verdicts(task: _core.CipherTask, like: Any, like_view: _core.View, context: Context,
                  stream: Optional[int], given: Any = None) -> Callable[[], None]:
    """Gives a decryption task memory for its verdicts: the user's array, or new memory on the
    device of the data. Returns a function for the end of the task, which raises InvalidTag for
    wrong tags unless the user has the verdicts.
    """
    if given is not None:
        place = _arrays.view(given, stream, writable=True, name="verdicts")
        check_size(place, task.count, "verdicts")
        task.set_verdicts(place)
        return lambda: None
    if like_view.on_host or task.count == 0:
        return lambda: None
    task.set_verdicts(_arrays.new_memory(like, like_view, task.count, context._core, stream))
    return task.check_verdicts
