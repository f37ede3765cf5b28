# SPDX-License-Identifier: Apache-2.0
"""Files in memory (RAM disks): the cores encrypt directly from one into the other."""

import os
import pathlib
import shutil
import tempfile

import pytest

from cli_fixtures import BAD_DATA, data, fails, ok, openssl, report

MIB = 1 << 20
CHUNK = 2 * MIB
IN_MEMORY = "both files lie in memory"
RAM_DISK = pathlib.Path("/dev/shm")


@pytest.fixture
def ram_disk():
    mounts = [line.split()[1:3] for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    if [str(RAM_DISK), "tmpfs"] not in mounts or not os.access(RAM_DISK, os.W_OK):
        pytest.skip("there is no RAM disk at /dev/shm")
    if " aes " not in pathlib.Path("/proc/cpuinfo").read_text():
        pytest.skip("without instructions for AES a device may be sooner")
    folder = pathlib.Path(tempfile.mkdtemp(dir=RAM_DISK, prefix="lanecrypt-"))
    yield folder
    shutil.rmtree(folder)


def here(*arguments):
    """Returns the report of a run that chooses by itself what does the work."""
    return report(ok(*arguments, "-json", devices=None))


@pytest.mark.parametrize("cipher", ["aes-256-ctr", "aes-128-ecb", "aes-192-cbc"])
@pytest.mark.parametrize("length", [1, CHUNK - 17, CHUNK - 16, CHUNK - 1, CHUNK, CHUNK + 16, 5 * MIB + 7])
def test_either_tool_opens_the_others_files(ram_disk, cipher, length):
    plain, sealed, opened = (ram_disk / name for name in ("plain", "sealed", "opened"))
    plain.write_bytes(data(length))
    words = [f"-{cipher}", "-pbkdf2", "-iter", "10", "-k", "x"]
    if not cipher.endswith("cbc"):
        told = here("enc", *words, "-in", plain, "-out", sealed)
        assert IN_MEMORY in told["note"] and told["device"] == "cpu"
        assert told["cpu_bytes"] == length and told["output_bytes"] == sealed.stat().st_size
        assert openssl("enc", "-d", *words, "-in", sealed).stdout == plain.read_bytes()
    openssl("enc", *words, "-in", plain, "-out", sealed)
    told = here("dec", *words, "-in", sealed, "-out", opened)
    assert IN_MEMORY in told["note"] and told["output_bytes"] == length
    assert opened.read_bytes() == plain.read_bytes()


def test_whoever_names_a_device_gets_it(ram_disk):
    plain = ram_disk / "plain"
    plain.write_bytes(data(100_000))
    words = ["enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-json", "-in", plain, "-out", ram_disk / "sealed"]
    assert report(ok(*words, "-devices", "host:0", devices=None))["device"] == "host:0"
    assert report(ok(*words, devices="host"))["device"] == "host:0"


def test_a_disk_is_no_memory(ram_disk, tmp_path):
    if os.stat(tmp_path).st_dev == os.stat(ram_disk).st_dev:
        pytest.skip("the folder of temporary files is a RAM disk")
    plain = ram_disk / "plain"
    plain.write_bytes(data(100_000))
    told = here("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-in", plain, "-out", tmp_path / "sealed")
    assert IN_MEMORY not in told["note"]


@pytest.mark.parametrize("length", [CHUNK + 5, CHUNK + 16])
def test_bad_data_leaves_nothing(ram_disk, length):
    sealed = ram_disk / "sealed"
    sealed.write_bytes(data(length))
    fails(BAD_DATA, "no multiple of the block" if length % 16 else "bad decrypt", "dec", "-aes-256-cbc",
          "-K", "0" * 64, "-iv", "0" * 32, "-in", sealed, "-out", ram_disk / "opened", devices=None)
    assert os.listdir(ram_disk) == ["sealed"]
