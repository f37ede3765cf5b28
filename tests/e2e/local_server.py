# SPDX-License-Identifier: Apache-2.0
"""Servers that a test starts on this machine: a port for one, and when it listens."""

import socket
import time

import pytest


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, server):
    """Returns when the process `server` takes connections; where it ends, or takes none
    for five minutes, the test fails."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        if server.poll() is not None:
            pytest.fail(f"the server ended: {server.communicate()}")
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            time.sleep(0.1)
    pytest.fail("the server does not listen")
