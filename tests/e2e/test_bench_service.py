# SPDX-License-Identifier: Apache-2.0
"""bench/service/ on the emulator: the scripts run, and their figures have the form of
bench/results. The figures themselves mean nothing there."""

import datetime
import json
import subprocess
import sys

import pytest

from conftest import REPOSITORY
from local_server import program
from test_bench_results import lacks_of

pytestmark = pytest.mark.full


def figures(script, build, folder, *options):
    """Returns the figures that a script writes, by name."""
    out = folder / f"{datetime.datetime.now(datetime.timezone.utc).date()}-emulator.json"
    done = subprocess.run(
        [sys.executable, "-B", REPOSITORY / "bench" / "service" / script, "--build", build,
         "--devices", "host", "--seconds", "0.3", "--runs", "1", "--commit", "0123456789ab",
         "--out", out, *options], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(out.read_text())
    assert lacks_of(out.name, told) == set()
    return {row["name"]: row for row in told["results"]}


def test_many_processes(build, tmp_path):
    rows = figures("measure.py", build, tmp_path, "--small", "--cases", "16x64,own-keys,lone,start")
    for case in ("16x64", "own-keys.16x64"):
        assert rows[f"rsa-1024.service.{case}.openssl"]["value"] > 0
        assert rows[f"rsa-1024.service.{case}.host"]["share_on_device"] > 0
        assert rows[f"rsa-1024.in-process.{case}.host"]["share_on_device"] > 0
    assert "rsa-1024.service.lone.host" in rows
    assert "process.start.sign.provider-less-plain" in rows


def test_many_processes_that_sign_by_sets(build, tmp_path):
    listed = subprocess.run(["openssl", "list", "-signature-algorithms"], capture_output=True,
                            text=True, check=True).stdout
    if "SLH-DSA-SHA2-128f" not in listed:
        pytest.skip("this OpenSSL has neither family")
    rows = figures("measure.py", build, tmp_path, "--small", "--cases", "ml-dsa,slh-dsa-128f",
                   "--ways", "openssl,service")
    for name in ("ml-dsa-65", "slh-dsa-sha2-128f"):
        assert f"{name}.service.16x64.openssl" in rows
        assert rows[f"{name}.service.16x64.host"]["share_on_device"] > 0


def test_handshakes(build, tmp_path):
    if not program("nginx"):
        pytest.skip("nginx is not installed")
    rows = figures("handshakes.py", build, tmp_path, "--servers", "nginx-2", "--bits", "2048",
                   "--ways", "openssl,service-always", "--tls", "1.2,1.3",
                   # The emulator is slow on a busy machine.
                   "--seconds", "3")
    for tls in ("tls12", "tls13"):
        assert rows[f"handshakes.nginx-2.rsa-2048-{tls}.openssl"]["value"] > 0
        assert rows[f"handshakes.nginx-2.rsa-2048-{tls}.service-always"]["share_on_device"] > 0


def test_handshakes_through_kills(build, tmp_path):
    if not program("nginx"):
        pytest.skip("nginx is not installed")
    rows = figures("handshakes.py", build, tmp_path, "--endure", "300", "--workers", "8",
                   "--bits", "2048", "--set", "rsa=always", "--seed", "1")
    assert rows["handshakes.endure.failed"]["value"] == 0
    assert rows["handshakes.endure.made"]["value"] >= 300
