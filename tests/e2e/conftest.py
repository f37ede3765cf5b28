# SPDX-License-Identifier: Apache-2.0
"""Common parts of the end-to-end tests: the build under test, and the available devices.

LANECRYPT_BUILD names the build folder (build/ by default).
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

# Whether everything runs, as with dev/test --full.
EVERY_CASE = os.environ.get("LANECRYPT_TEST_EVERY_FORM") == "1"
# Also tests that take hours, or are meaningful only on a GPU (dev/test --every-answer).
EVERY_ANSWER = os.environ.get("LANECRYPT_TEST_EVERY_ANSWER") == "1"
# The tests that take longest, or must run one after the other, begin first, so that no core is idle
# while the last of them runs.
FIRST = ("test_clients", "test_cli_devices", "test_processes", "test_service_provider",
         "test_provider_evp_test", "test_cli_bench_host", "test_setup_demo", "test_bench_service")
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# Tests of the service use fixtures of the provider's tests: pytest itself adds only the folder of
# each file that it runs, and this one.
sys.path.append(os.path.join(os.path.dirname(__file__), "provider"))


def pytest_configure(config):
    # pytest-xdist knows this mark. Without it, tests run one after the other anyway.
    config.addinivalue_line("markers", "xdist_group(name): tests that must not run at once, or "
                            "that share a fixture which takes long")
    config.addinivalue_line("markers", "full: tests of what few changes break, which take long: "
                            "dev/test --full runs them")
    # The settings of the person who runs the tests must not change their results.
    for name in ("OPENSSL_CONF", "OPENSSL_MODULES", "LANECRYPT_DEVICES", "LANECRYPT_HOST_FAULT"):
        os.environ.pop(name, None)
    # A shell makes background processes ignore Ctrl-C, and children inherit that. The tests send
    # such signals, which must arrive.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def pytest_collection_modifyitems(config, items):
    if not (EVERY_CASE or EVERY_ANSWER):
        left = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    places = {name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.module.__name__, len(FIRST)))


@pytest.fixture(scope="session")
def repository():
    return REPOSITORY


@pytest.fixture(scope="session")
def build():
    """The build folder. A test that uses it fails if nothing is built."""
    folder = pathlib.Path(os.environ.get("LANECRYPT_BUILD", REPOSITORY / "build")).resolve()
    assert (folder / "lib" / "liblanecrypt.so").exists(), f"nothing is built in {folder}"
    return folder


@pytest.fixture(scope="session")
def devices(build):
    """Every device of this machine, as `lanecrypt devices --json` lists it."""
    environment = {k: v for k, v in os.environ.items() if k != "LANECRYPT_DEVICES"}
    done = subprocess.run([build / "bin" / "lanecrypt", "devices", "--json"], env=environment,
                          capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)["devices"]
