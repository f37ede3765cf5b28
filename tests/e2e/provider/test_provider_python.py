# SPDX-License-Identifier: Apache-2.0
"""Debian's python3-cryptography, unchanged, with an OPENSSL_CONF that names the provider."""

import sys

import pytest

from provider_fixtures import Configuration, plain

pytest.importorskip("cryptography")

# Prints a digest of each mode's output for slightly more than 3 MiB, at once and in pieces.
PROGRAM = r"""
import hashlib
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
data = bytes(range(256)) * (3 * 4096 + 1)
iv = bytes([255] * 15 + [250])
for size in (16, 24, 32):
    for mode in (modes.ECB(), modes.CBC(iv), modes.CTR(iv)):
        cipher = Cipher(algorithms.AES(bytes(range(size))), mode)
        for operation in (cipher.encryptor(), cipher.decryptor()):
            result = operation.update(data) + operation.finalize()
            print(size, mode.name, hashlib.sha256(result).hexdigest())
        encryptor, into = cipher.encryptor(), bytearray(len(data) + 16)
        at = 0
        for begin, end in ((0, 5), (5, 2_000_000), (2_000_000, len(data))):
            at += encryptor.update_into(data[begin:end], memoryview(into)[at:])
        encryptor.finalize()
        assert at == len(data)
        print(size, mode.name, hashlib.sha256(into[:at]).hexdigest())
"""


@pytest.mark.parametrize("device", [
    "host", pytest.param("opencl", marks=pytest.mark.full),
    pytest.param("gl", marks=pytest.mark.full), "cuda"])
def test_cryptography_is_moved_to_a_device(tmp_path, build, devices, device):
    if not any(d["api"] == device and not d["reason"] for d in devices):
        if device == "opencl":
            pytest.skip("needs OpenCL: there is no device that can be used")
        if device == "gl":
            pytest.skip("needs OpenGL: there is no device that can be used")
        if device == "cuda":
            pytest.skip("needs a GPU: there is no CUDA device that can be used")
    configuration = Configuration(tmp_path, build, devices=device, threshold_bytes="1M")
    # The emulator has its usual kernels here, as other devices do.
    configuration.environment.pop("LANECRYPT_AES_FORM", None)
    ours = configuration.run(sys.executable, "-c", PROGRAM).stdout
    assert ours == plain(sys.executable, "-c", PROGRAM).stdout
    counters = configuration.counters()
    # For each of nine ciphers: two encryptions or decryptions at once and two large pieces, but no
    # CBC encryption.
    assert counters["device_jobs"] == 6 * 4 + 3
    assert counters["device_bytes"] > 6 * 3 * (3 << 20)
    assert counters["failures"] == 0
    assert counters["devices"] == [f"{device}:0"]


def test_cryptography_without_a_device(tmp_path, build):
    configuration = Configuration(tmp_path, build, devices="none")
    ours = configuration.run(sys.executable, "-c", PROGRAM).stdout
    assert ours == plain(sys.executable, "-c", PROGRAM).stdout
    counters = configuration.counters()
    assert counters["device_jobs"] == 0 and counters["cpu_bytes"] > 27 * (3 << 20)


def test_a_short_program_looks_for_no_device(tmp_path, build):
    """By default a device is used only if it is faster and the program runs long enough."""
    configuration = Configuration(tmp_path, build, devices="host")
    ours = configuration.run(sys.executable, "-c", PROGRAM).stdout
    assert ours == plain(sys.executable, "-c", PROGRAM).stdout
    counters = configuration.counters()
    assert counters["device_jobs"] == 0 and counters["failures"] == 0
    assert counters["devices"] == []


def test_require_gpu_reaches_the_program(tmp_path, build):
    configuration = Configuration(tmp_path, build, devices="none", require_gpu="yes")
    done = configuration.run(sys.executable, "-c", PROGRAM, check=False)
    assert done.returncode == 1
    assert b"require_gpu is set, and this request cannot run on a device" in done.stderr
