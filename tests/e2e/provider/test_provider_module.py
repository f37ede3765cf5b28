# SPDX-License-Identifier: Apache-2.0
"""What gpu.so and liblanecrypt.so bring into a process, and what they must not bring."""

import os
import resource
import subprocess

import pytest

from provider_fixtures import OPENSSL, Configuration


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


@pytest.mark.parametrize("place", ["link", "link that leads nowhere", "pipe", "pipe that nobody reads"])
def test_counters_go_to_a_regular_file_alone(tmp_path, build, place):
    """If another user may have put something else at that path, the program writes no counters
    and ends as usual."""
    configuration = Configuration(tmp_path, build)
    stats, other = configuration.stats, tmp_path / "another"
    reader = None
    if place.startswith("link"):
        stats.symlink_to(other)
        if place == "link":
            other.touch()
    else:
        os.mkfifo(stats)
        if place == "pipe":
            reader = os.open(stats, os.O_RDONLY | os.O_NONBLOCK)
    configuration.run(OPENSSL, "rand", "1")
    assert not other.exists() or other.read_bytes() == b""
    if reader is not None:
        assert os.read(reader, 1) == b""
        os.close(reader)


def test_counters_go_to_the_file_that_an_operator_made(tmp_path, build):
    configuration = Configuration(tmp_path, build)
    configuration.stats.touch()
    configuration.stats.chmod(0o666)
    for _ in range(2):
        configuration.run(OPENSSL, "rand", "1")
    assert len(configuration.stats.read_text().splitlines()) == 2
    configuration.counters()
    assert configuration.stats.stat().st_mode & 0o777 == 0o666


def test_no_part_of_a_line_stays(tmp_path, build):
    """If a line does not fit, as on a full disk, the next line that fits is complete."""
    configuration = Configuration(tmp_path, build)
    configuration.run(OPENSSL, "rand", "1")
    line = configuration.stats.read_bytes()
    limit = len(line) + 100
    configuration.run(OPENSSL, "rand", "1",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert configuration.stats.read_bytes() == line
