# SPDX-License-Identifier: Apache-2.0
"""What gpu.so and liblanecrypt.so bring into a process, and what they must not."""

import subprocess

import pytest


def read(tool, *arguments):
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=True,
                          timeout=60).stdout


@pytest.fixture(params=["gpu.so", "liblanecrypt.so"])
def module(build, request):
    return build / "lib" / request.param


def test_no_libcrypto_is_needed(module):
    needed = [line for line in read("readelf", "-d", module).splitlines() if "NEEDED" in line]
    assert needed and not any("libcrypto" in line or "libssl" in line for line in needed), needed


def test_no_function_of_libcrypto_is_exported(module):
    names = [line.split()[-1] for line in read("nm", "-D", "--defined-only", module).splitlines()]
    prefixes = ("EVP_", "OSSL_", "OPENSSL_", "CRYPTO_", "ERR_", "RAND_")
    exported = [name for name in names if name.startswith(prefixes)]
    assert exported == (["OSSL_provider_init"] if module.name == "gpu.so" else [])


def test_the_module_exports_its_entry_alone(build):
    lines = read("nm", "-D", "--defined-only", build / "lib" / "gpu.so").splitlines()
    assert [line.split()[-1] for line in lines] == ["OSSL_provider_init"]
