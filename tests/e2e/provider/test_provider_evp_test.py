# SPDX-License-Identifier: Apache-2.0
"""evp_test, OpenSSL's own test of providers, with the vectors of its release."""

import os
import pathlib
import re
import subprocess

import pytest

from provider_fixtures import OPENSSL, Configuration

DEVICES = os.environ.get("LANECRYPT_TEST_DEVICES", "host")
RSA_DEVICES = os.environ.get("LANECRYPT_TEST_RSA_DEVICES", DEVICES)


# The first of these tests builds evp_test. In another process the others would only wait for it.
pytestmark = pytest.mark.xdist_group("evp_test")


@pytest.fixture(scope="module")
def evp_test(repository):
    """The program for the OpenSSL under test, and the folder of its vectors."""
    told = subprocess.run([OPENSSL, "version"], capture_output=True, text=True, check=True).stdout
    version = re.match(r"OpenSSL (\d+\.\d+)", told).group(1)
    done = subprocess.run([repository / "dev" / "evp-test", version], capture_output=True,
                          text=True, timeout=900)
    if done.returncode in (2, 3):
        pytest.skip(f"needs OpenSSL's test sources: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    program, folder = done.stdout.split()
    return program, pathlib.Path(folder)


def completed(output):
    """Returns (tests, errors, skipped), as evp_test prints them at its end."""
    found = re.search(rb"Completed (\d+) tests with (\d+) errors and (\d+) skipped", output)
    assert found, output[-3000:].decode(errors="replace")
    return tuple(int(number) for number in found.groups())


# `on_devices` is the minimum number of private operations on devices, and `on_cpu` the maximum on
# the CPU. The CPU does those with a key of 512 bits or with MDC2. Since 3.5 evppkey_rsa_common.txt
# also has OpenSSL's vectors of implicit rejection. Most names in evppkey_rsa_sigalg.txt contain a
# digest, and gpu offers no such names. evppkey_rsa_kem.txt needs the FIPS provider.
@pytest.mark.parametrize("name, on_devices, on_cpu", [("evppkey_rsa.txt", {"": 4}, 2),
                                                      ("evppkey_rsa_common.txt", {"": 247, "3.0": 145}, 2),
                                                      ("evppkey_rsa_sigalg.txt", {"": 2}, 0),
                                                      ("evppkey_rsa_kem.txt", {"": 0}, 0)])
def test_rsa(tmp_path, build, evp_test, name, on_devices, on_cpu):
    program, folder = evp_test
    if not (folder / name).exists():
        pytest.skip(f"this release has no {name}")
    empty = tmp_path / "empty.cnf"
    empty.write_text("")
    alone = subprocess.run([program, "-config", empty, folder / name], capture_output=True,
                           timeout=300)
    configuration = Configuration(tmp_path, build, devices=RSA_DEVICES, threshold_bytes=0, rsa="always")
    # evp_test ignores OPENSSL_CONF.
    ours = configuration.run(program, "-config", configuration.path, folder / name, check=False)
    assert ours.returncode == alone.returncode, ours.stderr[-3000:].decode(errors="replace")
    tests, errors, skipped = completed(ours.stdout + ours.stderr)
    assert (tests, errors, skipped) == completed(alone.stdout + alone.stderr)
    # A distribution's 3.0 may implement implicit rejection, which that release's vectors do not
    # expect. Then OpenSSL has the same errors without the provider.
    assert tests > 100 * errors
    counters = configuration.counters()
    version = program.rsplit("-", 1)[1]
    assert counters["rsa_device_jobs"] >= on_devices.get(version, on_devices[""])
    assert counters["rsa_cpu_jobs"] <= on_cpu
    assert counters["rsa_failures"] == 0


# These run on the emulator, unless a device is named. Each file runs normally, in place, and in
# pieces: of 1 byte, which no device gets, and of 40, or of 80 for ChaCha20, whose blocks have 64.
# evp_test of 3.0 has neither -process nor -chunk.
@pytest.mark.parametrize("name, options, least_device_jobs", [
    ("evpciph_aes_common.txt", [], 300),
    ("evpciph_aes_common.txt", ["-process", "in_place"], 300),
    ("evpciph_aes_common.txt", ["-chunk", "40"], 50),
    ("evpciph_aes_common.txt", ["-chunk", "1"], 0),
    ("evpciph_aes_ccm_cavs.txt", [], 20000),
    ("evpciph_aes_ccm_cavs.txt", ["-process", "in_place"], 9000),
    ("evpciph_aes_cts.txt", [], 400),
    ("evpciph_aes_cts.txt", ["-process", "in_place"], 150),
    ("evpciph_aes_cts.txt", ["-chunk", "40"], 50),
    ("evpciph_camellia.txt", [], 10),
    ("evpciph_aria.txt", [], 10),
    ("evpciph_sm4.txt", [], 10),
    ("evpciph_sm4.txt", ["-process", "in_place"], 5),
    ("evpciph_chacha.txt", [], 300),
    ("evpciph_chacha.txt", ["-process", "in_place"], 100),
    ("evpciph_chacha.txt", ["-chunk", "80"], 100),
    ("evpciph_chacha.txt", ["-chunk", "1"], 0),
    # The provider does not offer these. The default provider still does them.
    ("evpciph_aes_ocb.txt", [], 0),
    ("evpciph_aes_siv.txt", [], 0),
    ("evpciph_aes_gcm_siv.txt", [], 0),
    ("evpciph_aes_wrap.txt", [], 0),
    ("evpciph_aes_stitched.txt", [], 0)])
def test_ciphers(tmp_path, build, evp_test, name, options, least_device_jobs):
    program, folder = evp_test
    if not (folder / name).exists():
        pytest.skip(f"this release has no {name}")
    if options:
        known = subprocess.run([program, "-help"], capture_output=True, timeout=60)
        if options[0].encode() not in known.stdout + known.stderr:
            pytest.skip(f"evp_test of this release knows no {options[0]}")
    empty = tmp_path / "empty.cnf"
    empty.write_text("")
    alone = subprocess.run([program, "-config", empty, *options, folder / name],
                           capture_output=True, timeout=300)
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes=0)
    ours = configuration.run(program, "-config", configuration.path, *options, folder / name)
    tests, errors, skipped = completed(ours.stdout + ours.stderr)
    assert (tests, errors, skipped) == completed(alone.stdout + alone.stderr)
    assert tests > 0 and errors == 0
    counters = configuration.counters()
    assert counters["device_jobs"] >= least_device_jobs
    assert counters["failures"] == 0
