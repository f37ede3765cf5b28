# SPDX-License-Identifier: Apache-2.0
"""What users are told about a CUDA driver that cannot be used. The driver here is a fake."""

import json
import os
import re
import subprocess

import pytest


def functions(repository):
    """Returns the driver functions that Lanecrypt needs, from its own list."""
    text = (repository / "src/device/cuda/driver.h").read_text()
    return re.findall(r"\bF\((cu\w+),", text)


def devices(tmp_path, repository, build, version=13000, init=0, without=()):
    """Runs `lanecrypt devices --json` with a driver of that version, whose cuInit() returns
    `init` and which lacks the functions `without`."""
    lines = ["#include <stddef.h>"]
    for name in functions(repository):
        if name in without:
            continue
        if name == "cuDriverGetVersion":
            lines.append(f"int {name}(int *version) {{ *version = {version}; return 0; }}")
        elif name == "cuInit":
            lines.append(f"int {name}(unsigned flags) {{ return {init}; }}")
        elif name == "cuDeviceGetCount":
            lines.append(f"int {name}(int *count) {{ *count = 0; return 0; }}")
        elif name in ("cuGetErrorName", "cuGetErrorString"):
            lines.append(f'int {name}(int error, const char **text) '
                         f'{{ *text = error == 999 ? "CUDA_ERROR_UNKNOWN" : NULL; return 0; }}')
        else:
            lines.append(f"int {name}(void) {{ return 999; }}")
    source = tmp_path / "driver.c"
    source.write_text("\n".join(lines) + "\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    done = subprocess.run([build / "bin/lanecrypt", "devices", "--json"], check=True, capture_output=True,
                          env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    listed = json.loads(done.stdout)
    listed = listed["devices"] if isinstance(listed, dict) else listed
    return [device for device in listed if device["api"] == "cuda"]


@pytest.fixture(autouse=True)
def needs_cuda(build):
    if b"libcuda.so.1" not in (build / "lib/liblanecrypt.so").read_bytes():
        pytest.skip("this build leaves CUDA out")


def test_a_driver_that_is_too_old(tmp_path, repository, build):
    (device,) = devices(tmp_path, repository, build, version=12040)
    assert "the CUDA driver is too old: it is for CUDA 12.4, and 13.0 or newer is needed" in device["reason"]


def test_a_driver_without_a_function(tmp_path, repository, build):
    (device,) = devices(tmp_path, repository, build, without=("cuStreamWaitEvent",))
    assert "the CUDA driver is too old: it has no cuStreamWaitEvent" in device["reason"]


def test_a_driver_that_does_not_start(tmp_path, repository, build):
    (device,) = devices(tmp_path, repository, build, init=999)
    assert "the CUDA driver does not start: cuInit: CUDA_ERROR_UNKNOWN" in device["reason"]


def test_a_driver_without_a_card(tmp_path, repository, build):
    assert devices(tmp_path, repository, build) == []
    assert devices(tmp_path, repository, build, init=100) == []
