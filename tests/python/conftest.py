# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of the Python package. They test the installed package, which must
be built with a library for tests (LANECRYPT_DIAGNOSTICS): the emulator stands for a GPU."""

import importlib
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import lanecrypt
from cryptography.hazmat.primitives.ciphers import aead as pyca

TESTS = os.path.dirname(__file__)


def pytest_configure(config):
    for name in ("OPENSSL_CONF", "OPENSSL_MODULES", "LANECRYPT_DEVICES", "LANECRYPT_HOST_FAULT"):
        os.environ.pop(name, None)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        import hypothesis
    except ImportError:
        return  # its tests are skipped
    is_long = config.getoption("--long")
    hypothesis.settings.register_profile(
        "lanecrypt", max_examples=1000 if is_long else 30, deadline=None,
        derandomize=not is_long, database=None,
        suppress_health_check=list(hypothesis.HealthCheck))
    hypothesis.settings.load_profile("lanecrypt")


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="more random cases, all vectors")


@pytest.fixture(scope="session")
def is_long(request):
    return request.config.getoption("--long")


def emulator(**options):
    """Returns a context in which only the emulator works, without any fallback."""
    return lanecrypt.Context(devices="host", threshold_bytes=0, fallback="none", **options)


@pytest.fixture(scope="session")
def host():
    with emulator() as context:
        yield context


@pytest.fixture(scope="session")
def cpu():
    with lanecrypt.Context(devices="none") as context:
        yield context


@pytest.fixture(params=["host", "cpu"])
def context(request, host, cpu):
    """Each of the two contexts, in turn."""
    return {"host": host, "cpu": cpu}[request.param]


class Work:
    """The number of bytes and jobs that the emulator and the CPU have done since this object was
    made."""

    def __init__(self, context):
        self.context = context
        self.before = context.counters()

    def of(self, name, what="bytes"):
        now = self.context.counters()
        return getattr(now[name], what) - getattr(self.before[name], what)


@pytest.fixture
def work(host):
    return Work(host)


@pytest.fixture(scope="session")
def gpu():
    """A context of the first CUDA device, without any fallback."""
    context = lanecrypt.Context(devices="cuda", threshold_bytes=0, fallback="none")
    try:
        found = any(device.api == "cuda" and not device.reason for device in context.devices())
    except lanecrypt.NoDeviceError:
        found = False
    if not found:
        context.close()
        pytest.skip("needs a GPU: there is no CUDA device that can be used")
    yield context
    context.close()


def framework(name):
    """Returns the module, or skips the test if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")


@pytest.fixture
def numpy():
    return framework("numpy")


def on_device(context, data):
    """Returns memory of the emulator that contains these bytes."""
    memory = context.allocate("host:0", max(len(data), 1))
    if data:
        memory.copy_from(data)
    return memory


# The key and nonce with which the tests of arrays encrypt.
KEY = bytes(range(32))
NONCE = bytes(12)


def sealed_by_pyca(data, aad=None):
    return pyca.AESGCM(KEY).encrypt(NONCE, bytes(data), aad)


@pytest.fixture
def ours(context):
    return lanecrypt.AESGCM(KEY, context=context)


def run_script(text, *arguments, check=True, timeout=120, **options):
    """Runs a script in a new process of this Python."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([TESTS, *sys.path])}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text), *arguments],
                          capture_output=True, text=True, timeout=timeout, env=environment,
                          stdin=subprocess.DEVNULL, **options)
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
    return done
