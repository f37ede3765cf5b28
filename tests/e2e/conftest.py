# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the build under test, and which devices are here.

LANECRYPT_BUILD names the build folder (build/ by default);
LANECRYPT_TEST_DEVICES the devices to test (all that are here by default).
"""

import json
import os
import pathlib
import signal
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def pytest_configure(config):
    # Settings of the person who runs the tests must not decide them.
    for name in ("OPENSSL_CONF", "OPENSSL_MODULES", "LANECRYPT_DEVICES", "LANECRYPT_HOST_FAULT"):
        os.environ.pop(name, None)
    # A shell starts what it runs in the background deaf to Ctrl-C, and children
    # inherit that; the tests send signals that must be heard.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="session")
def repository():
    return REPOSITORY


@pytest.fixture(scope="session")
def build():
    """The build folder; a test that asks for it fails where nothing is built."""
    folder = pathlib.Path(os.environ.get("LANECRYPT_BUILD", REPOSITORY / "build")).resolve()
    assert (folder / "lib" / "liblanecrypt.so").exists(), f"nothing is built in {folder}"
    return folder


@pytest.fixture(scope="session")
def devices(build):
    """Every device of this machine, as `lanecrypt devices --json` tells it."""
    environment = {k: v for k, v in os.environ.items() if k != "LANECRYPT_DEVICES"}
    done = subprocess.run([build / "bin" / "lanecrypt", "devices", "--json"], env=environment,
                          capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)["devices"]


def is_wanted(device):
    """Whether LANECRYPT_TEST_DEVICES asks for the device."""
    names = [n for n in os.environ.get("LANECRYPT_TEST_DEVICES", "").split(",") if n]
    return not names or device["id"] in names or device["api"] in names


@pytest.fixture(scope="session")
def gpus(devices):
    """Ids of the GPUs to test; a test that asks for it is skipped where there is none."""
    found = [d["id"] for d in devices
             if d["is_gpu"] and is_wanted(d) and not d["reason"]]
    if not found:
        pytest.skip("needs a GPU: there is none that can be used and is to be tested")
    return found
