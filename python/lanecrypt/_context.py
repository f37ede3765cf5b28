# SPDX-License-Identifier: Apache-2.0
"""Contexts: which devices are used, and what they have done."""

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
    """The name in Context(devices=...) and in counters(), such as "cuda:0" or "opencl:1"."""
    api: str
    """The API: "cuda", "opencl", "gl", or "host" for the emulator in test builds."""
    name: str
    """The name of the model that the driver reports."""
    driver: str
    """The version of the driver or platform."""
    reason: str
    """Why the device is unusable or lost; "" otherwise."""
    memory_bytes: int
    """The size of the device's memory."""
    compute_units: int
    """The number of multiprocessors (CUDA) or compute units."""
    is_gpu: bool
    """False for a device that runs on the CPU."""
    selected: bool
    """Whether this context sends work to the device by default."""
    state: str
    """The state for ciphers: "untried", "ready", "unusable" or "lost"."""
    rsa_state: str
    """The state for RSA, with the same values."""


class Counters(NamedTuple):
    """What a device or the CPU has done since its context was opened."""

    jobs: int
    """Jobs of which at least one byte was processed here."""
    bytes: int
    """Bytes of data that were processed here."""
    launches: int
    """Kernels launched; 0 for the CPU."""
    failures: int
    """Launches, copies, self-tests and checks that failed."""
    operations: int
    """RSA operations, and rounds of primality tests."""


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
    """A set of devices, with their queues and memory. Opening a context uses no device; the first
    call that needs one does.

    devices: a comma-separated list, in order of preference, of device IDs such as "cuda:0", or APIs
        ("cuda", "opencl", "gl") for all of their devices; "none" for only the CPU. None: the
        devices that LANECRYPT_DEVICES names, or every GPU if it is not set.
    threshold_bytes: requests on host memory of at least this many bytes go to a device. None: a
        request goes to a device if it was measured to be faster there on this machine. Data in
        device memory are always processed on that device.
    fallback: "cpu", or "none" to raise NoDeviceError or DeviceError if no device can do the work.
    verify: how much of a device's output the CPU computes again: "sampled", "off" or "full".
        lc_verify in lanecrypt/core.h says more.
    prefer: "speed", or "offload" for the choice that takes less CPU time.
    pinned_bytes: the most pinned host memory of the queues of one device; 0 for the default.
    time_limit: the seconds after which a device that completes nothing is no longer used; 0 for the
        default.
    prime_pool: the number of primes that may be kept for later RSA keys.
    cores: the most cores for one job on the CPU; 0 for the default.
    service: who runs the private operations of RSA and generates RSA keys. "off": the devices
        above. Otherwise the service lanecryptd of this machine runs all of them, except those that
        threshold_bytes keeps on the CPU. "auto" uses the service at /run/lanecrypt/socket or
        $XDG_RUNTIME_DIR/lanecrypt/socket; an absolute path, the one at that socket. The socket must
        belong to root, to this user or to service_owner, in folders that nobody else can change. If
        the service does not do an operation, the CPU does it, unless fallback is "none". "require"
        is like "auto", but raises NoDeviceError or DeviceError if the service does not do an
        operation. lc_options in lanecrypt/core.h says more.
    service_owner: the name or number of another user whose socket may be used too.

    A context is thread-safe. It is also a context manager, which closes it. A forked child may
    continue to use it, and starts without open devices; jobs and device memory stay with the
    parent.
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
            math.ceil(time_limit * 1000),  # rounded up, so that a short limit does not become 0,
                                           # the default
            whole("prime_pool", prime_pool, 32),
            whole("cores", cores, 32),
            service,
            service_owner,
            threshold_bytes,
        )

    def close(self) -> None:
        """Waits for running jobs, erases secrets and frees everything. Other calls then raise
        ValueError. If close() is not called, this happens when the interpreter exits.

        Memory from allocate() is freed too, so no job of another context may be using it. If
        another package still has such memory, through __dlpack__ or __cuda_array_interface__ (as
        JAX has its results on a GPU), everything is freed when that package releases it.
        """
        self._core.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._core.closed

    def devices(self) -> list[Device]:
        """Returns the devices of this machine, first those that get work. The first call looks for
        them with a separate program, and may take a second.
        """
        return [Device(**row) for row in self._core.devices()]

    def counters(self) -> dict[str, Counters]:
        """Returns what each device, and "cpu", has done for this context."""
        return {name: Counters(**row) for name, row in self._core.counters().items()}

    def test(self, device: str) -> None:
        """Opens a device and runs its known-answer tests now instead of at its first job. Raises
        DeviceError or NoDeviceError if it cannot be used.
        """
        self._core.test(self._core.index_of(device))

    def allocate(self, device: str, nbytes: int) -> _core.DeviceMemory:
        """Allocates memory on a device, for data that are not in an array of a framework."""
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
    """Returns the context of all calls for which none is given. The first call opens it with the
    default options.
    """
    global _default
    with _lock:
        if _default is None or _default.closed:
            _default = Context()
        return _default


def checked(context: Optional[Context]) -> Optional[Context]:
    """Checks and returns the context that the user gave; None stands for the default one."""
    if context is not None and not isinstance(context, Context):
        raise TypeError(f"context is a lanecrypt.Context, not {type(context).__name__}")
    return context


def used_context(context: Optional[Context]) -> Context:
    """Returns the context that the user gave, or the default one."""
    return checked(context) or default_context()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _core.after_fork()


def devices() -> list[Device]:
    """Returns the devices of this machine, as default_context() has them."""
    return default_context().devices()


def counters() -> dict[str, Counters]:
    """Returns what each device, and "cpu", has done for default_context()."""
    return default_context().counters()
