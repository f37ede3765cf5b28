# SPDX-License-Identifier: Apache-2.0
"""Jobs: work that was submitted and has not been waited for."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Generic, Optional, TypeVar

from . import _core

T = TypeVar("T")


class Job(Generic[T]):
    """A job in progress, which the submit_ functions return. result(), or await in a coroutine,
    returns what the function without submit_ returns.

    A job keeps its input, its output and its context alive until it has completed, even if nobody
    keeps the Job. Do not change the input or read the output before. result() releases the input,
    unless it raises the error of the job. A Job is thread-safe, but cannot be used in a forked
    child. It cannot be cancelled. The interpreter waits for it before it exits.
    """

    __slots__ = ("_core", "_finish", "_value", "_has_value", "__weakref__")

    def __init__(self, task: _core.Task, finish: Callable[[], T]) -> None:
        self._core = _core.Job(task)
        self._finish: Optional[Callable[[], T]] = finish
        self._value: Optional[T] = None
        self._has_value = False

    def done(self) -> bool:
        """Returns whether the job has completed, successfully or not. Does not wait."""
        return self._core.done()

    def result(self, timeout: Optional[float] = None) -> T:
        """Waits until the job has completed, and releases the GIL meanwhile. Returns its result or
        raises its error.

        timeout: seconds after which TimeoutError is raised; the job continues.
        """
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
