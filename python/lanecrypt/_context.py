# SPDX-License-Identifier: Apache-2.0
"""Contexts: which devices do the work, and what they have done."""

from __future__ import annotations

import math
import threading
from types import TracebackType
from typing import Literal, NamedTuple, Optional, Union

from . import _core
from ._numbers import whole


class Device(NamedTuple):
    """A device of this machine."""

    id: str
    """Its name in Context(devices=...) and in counters(): "cuda:0", "opencl:1"."""
    api: str
    """"cuda", "opencl", "gl", or "host", the emulator of builds for tests."""
    name: str
    """The model, as its driver calls it."""
    driver: str
    """The version of the driver or platform."""
    reason: str
    """Why it is unusable or lost; "" otherwise."""
    memory_bytes: int
    compute_units: int
    is_gpu: bool
    """False for a device that computes on the CPU."""
    selected: bool
    """Whether this context sends work there by itself."""
    state: str
    """"untried", "ready", "unusable" or "lost"."""
    rsa_state: str
    """The same for RSA."""


class Counters(NamedTuple):
    """What a device or the CPU has done since its context was opened."""

    jobs: int
    bytes: int
    launches: int
    """Kernels started; 0 for the CPU."""
    failures: int
    operations: int
    """Of RSA: operations, and rounds of tests of primes."""


_FALLBACK = {"cpu": 0, "none": 1}
_VERIFY = {"sampled": 0, "off": 1, "full": 2}
_PREFER = {"speed": 0, "offload": 1}

_MOST_SECONDS = ((1 << 32) - 1) // 1000


def _number(what: str, names: dict[str, int], name: str) -> int:
    try:
        return names[name]
    except (KeyError, TypeError):
        raise ValueError(f"{what} must be one of {', '.join(names)}, not {name!r}") from None


class Context:
    """A set of devices, with their queues and memory. Opening one touches no device: the first
    call that needs one does.

    devices: names such as "cuda:0", or APIs ("cuda", "opencl", "gl") for all of their devices, in
        order of preference, with commas; "none" for the CPU alone. None: what LANECRYPT_DEVICES
        says, else every GPU.
    threshold_bytes: requests on host memory of at least so many bytes go to a device. None: a
        device gets what it was measured to do sooner on this machine. Memory of a device is
        always worked on where it lies.
    fallback: "cpu", or "none" to raise NoDeviceError or DeviceError where no device can do it.
    verify: how much of a device's output the CPU computes again: "sampled", "off" or "full".
        lc_verify in lanecrypt.h says more.
    prefer: "speed", or "offload" for what takes less CPU time.
    pinned_bytes: the most pinned host memory of one device's queues; 0 for the default.
    time_limit: seconds after which a device that ends nothing is given up; 0 for the default.
    prime_pool: how many primes may be kept for later RSA keys.
    cores: the most cores at one job of the CPU; 0 for the default.
    service: who does the private operations of RSA, and makes its keys: "off", the devices above;
        otherwise the service lanecryptd of this machine, and all of them go to it, unless
        threshold_bytes keeps them on the CPU. "auto" takes the one at /run/lanecrypt/socket or
        $XDG_RUNTIME_DIR/lanecrypt/socket; an absolute path, the one at that socket. The socket must
        belong to root, to this user or to service_owner, in folders that nobody else can change.
        What the service does not do, the CPU does, unless fallback is "none". "require" is as
        "auto", and what the service does not do raises NoDeviceError or DeviceError. lc_options in
        lanecrypt.h says more.
    service_owner: the name or number of another user whose socket is used too.

    Any thread may use it. It is also a context manager, which closes it. A child of fork may go
    on with it, and starts without devices; jobs and memory of devices stay with the parent.
    """

    __slots__ = ("_core", "__weakref__")

    def __init__(
        self,
        devices: Optional[str] = None,
        *,
        threshold_bytes: Optional[int] = None,
        fallback: Literal["cpu", "none"] = "cpu",
        verify: Literal["sampled", "off", "full"] = "sampled",
        prefer: Literal["speed", "offload"] = "speed",
        pinned_bytes: int = 0,
        time_limit: float = 0,
        prime_pool: int = 0,
        cores: int = 0,
        service: str = "off",
        service_owner: Union[str, int, None] = None,
    ) -> None:
        if isinstance(service_owner, int):
            service_owner = str(service_owner)
        for name, text in (("devices", "" if devices is None else devices), ("service", service),
                           ("service_owner", "" if service_owner is None else service_owner)):
            if not isinstance(text, str):
                raise TypeError(f"{name} is a str, not {type(text).__name__}")
            if "\0" in text:
                raise ValueError(f"{name} has a NUL character")
        if threshold_bytes is not None:
            threshold_bytes = whole("threshold_bytes", threshold_bytes)
        if not 0 <= time_limit <= _MOST_SECONDS:
            raise ValueError(f"time_limit is 0 to {_MOST_SECONDS} seconds")
        self._core = _core.Context(
            devices,
            _number("fallback", _FALLBACK, fallback),
            _number("verify", _VERIFY, verify),
            _number("prefer", _PREFER, prefer),
            whole("pinned_bytes", pinned_bytes),
            math.ceil(time_limit * 1000),  # what is short is not the default
            whole("prime_pool", prime_pool, 32),
            whole("cores", cores, 32),
            service,
            service_owner,
            threshold_bytes,
        )

    def close(self) -> None:
        """Waits for the jobs under way, wipes what is secret and frees everything. Later calls
        raise ValueError. Without it, that happens at the end of the interpreter.

        Memory of allocate() goes with it: no job of another context may use it meanwhile. Where
        another package has it, by __dlpack__ or __cuda_array_interface__, as JAX has its results on
        a card, all of that happens when it is gone."""
        self._core.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._core.closed

    def devices(self) -> list[Device]:
        """The devices of this machine, first those that get work. The first call looks for them,
        by another program; it may take a second."""
        return [Device(**row) for row in self._core.devices()]

    def counters(self) -> dict[str, Counters]:
        """What each device, and "cpu", has done for this context."""
        return {name: Counters(**row) for name, row in self._core.counters().items()}

    def test(self, device: str) -> None:
        """Opens a device and runs its known-answer tests now, not at its first job. Raises
        DeviceError or NoDeviceError where it cannot be used."""
        self._core.test(self._core.index_of(device))

    def allocate(self, device: str, nbytes: int) -> _core.DeviceMemory:
        """Memory on a device, for data that no framework holds there."""
        return _core.allocate(self._core, device, whole("nbytes", nbytes))

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("a context belongs to its process and cannot be pickled")


_lock = threading.Lock()
_default: Optional[Context] = None


def default_context() -> Context:
    """The context of all calls that name none. The first call opens it, with the default
    options."""
    global _default
    with _lock:
        if _default is None or _default.closed:
            _default = Context()
        return _default


def checked(context: Optional[Context]) -> Optional[Context]:
    """The context that a user gave, or None for the default one."""
    if context is not None and not isinstance(context, Context):
        raise TypeError(f"context is a lanecrypt.Context, not {type(context).__name__}")
    return context


def used_context(context: Optional[Context]) -> Context:
    """That which a user gave, or the default one."""
    return checked(context) or default_context()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _core.after_fork()


def devices() -> list[Device]:
    """The devices of this machine, as default_context() has them."""
    return default_context().devices()


def counters() -> dict[str, Counters]:
    """What each device, and "cpu", has done for default_context()."""
    return default_context().counters()
