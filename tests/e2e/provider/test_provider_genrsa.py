# SPDX-License-Identifier: Apache-2.0
"""Keys that `openssl` makes with the provider `gpu`."""

import os

import pytest

from provider_fixtures import OPENSSL, Configuration, plain

DEVICES = os.environ.get("LANECRYPT_TEST_RSA_DEVICES", "host")


@pytest.fixture
def configuration(tmp_path, build):
    return Configuration(tmp_path, build, devices=DEVICES, rsa="always")


def check(path, bits, exponent=65537):
    checked = plain(OPENSSL, "pkey", "-in", path, "-check", "-noout", "-text")
    assert b"Key is valid" in checked.stdout + checked.stderr
    text = checked.stdout.decode()
    assert f"({bits} bit, 2 primes)" in text and f"publicExponent: {exponent} " in text


@pytest.mark.parametrize("command", [
    ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
    ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024",
     "-pkeyopt", "rsa_keygen_pubexp:65539"],
    ["genrsa", "1024"],
    ["req", "-new", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=a", "-config", os.devnull],
])
def test_keys_of_openssl(configuration, tmp_path, command):
    path = tmp_path / "key.pem"
    words = command.copy()
    # Options precede the number of bits.
    words[1:1] = ["-keyout", path, "-out", os.devnull] if words[0] == "req" else ["-out", path]
    done = configuration.run(OPENSSL, *words)
    check(path, 1024, 65539 if "65539" in command[-1] else 65537)
    sums = configuration.counters()
    assert (sums["rsa_device_keys"], sums["rsa_cpu_keys"], sums["rsa_failures"]) == (1, 0, 0)
    assert b"error" not in done.stderr.lower()


def test_progress_is_shown(configuration, tmp_path):
    words = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]
    said = configuration.run(OPENSSL, *words, "-out", tmp_path / "key.pem").stderr
    if not said:  # OpenSSL 3.2 and later need -verbose
        said = configuration.run(OPENSSL, *words, "-verbose", "-out", tmp_path / "key.pem").stderr
    assert b"." in said


@pytest.mark.parametrize("option", ["rsa_keygen_bits:512", "rsa_keygen_pubexp:3",
                                    "rsa_keygen_primes:3"])
def test_what_devices_do_not_make(configuration, tmp_path, option):
    configuration.run(OPENSSL, "genpkey", "-algorithm", "RSA", "-pkeyopt",
                      "rsa_keygen_bits:1536", "-pkeyopt", option, "-out", tmp_path / "key.pem")
    sums = configuration.counters()
    assert (sums["rsa_device_keys"], sums["rsa_cpu_keys"], sums["rsa_failures"]) == (0, 1, 0)


def test_a_lost_device_gives_a_key(configuration, tmp_path):
    configuration.environment["LANECRYPT_HOST_FAULT"] = "lost-after:1"
    if "host" not in DEVICES:
        pytest.skip("the emulator alone can be lost")
    path = tmp_path / "key.pem"
    configuration.run(OPENSSL, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024",
                      "-out", path)
    check(path, 1024)
