# SPDX-License-Identifier: Apache-2.0
"""Jobs: what was started and goes on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Generic, Optional, TypeVar

from . import _core

T = TypeVar("T")


class Job(Generic[T]):
    """Something under way, as the submit_ functions return it. result(), or await in a coroutine,
    gives what the function without submit_ returns.

    It keeps its input, its output and its context until it is over, also where nobody keeps the
    Job; do not change the input or read the output before. result() lets go of the input, unless it
    raises what became of the job. Any thread may use it, but no child of
    fork. It cannot be stopped. The end of the interpreter waits for it.
    """

    __slots__ = ("_core", "_finish", "_value", "_has_value", "__weakref__")

    def __init__(self, task: _core.Task, finish: Callable[[], T]) -> None:
        self._core = _core.Job(task)
        self._finish: Optional[Callable[[], T]] = finish
        self._value: Optional[T] = None
        self._has_value = False

    def done(self) -> bool:
        """Whether it is over, well or not. Waits for nothing."""
        return self._core.done()

    def result(self, timeout: Optional[float] = None) -> T:
        """Waits until it is over, without the GIL, and returns its result or raises what became
        of it. timeout: seconds after which TimeoutError is raised; the job goes on."""
        if not self._core.wait(timeout):
            raise TimeoutError("the job is still under way")
        return self._take()

    def _take(self) -> T:
        self._core.finish()
        finish = self._finish
        if not self._has_value and finish is not None:
            self._value = finish()
            self._has_value = True
            self._finish = None
        return self._value  # type: ignore[return-value]

    def __await__(self) -> Generator[Any, None, T]:
        if not self._core.done():
            import asyncio

            loop = asyncio.get_running_loop()
            ended: asyncio.Future[None] = loop.create_future()

            def wake() -> None:
                if not ended.done():
                    ended.set_result(None)

            descriptor = self._core.add_descriptor()
            try:
                loop.add_reader(descriptor, wake)
                try:
                    yield from ended
                finally:
                    loop.remove_reader(descriptor)
            finally:
                self._core.remove_descriptor(descriptor)
        return self._take()

    def __repr__(self) -> str:
        return f"<lanecrypt.Job at {id(self):#x}>"

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a job belongs to its process and cannot be pickled")
