# SPDX-License-Identifier: Apache-2.0
"""The real `openssl` with the provider `gpu`, compared with `openssl` without it."""

import os
import re
import subprocess

import pytest

from local_server import free_port, wait_for
from provider_fixtures import DEVICES, IV, KEY, OPENSSL, Configuration, are_under_test, plain

CIPHERS = [f"aes-{bits}-{mode}" for bits in (128, 192, 256) for mode in ("ecb", "cbc", "ctr")]
CIPHERS += [f"sm4-{mode}" for mode in ("ecb", "cbc", "ctr", "cfb", "ofb")]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A file whose length is not a multiple of a block, and larger than many of openssl's
    pieces."""
    path = tmp_path_factory.mktemp("data") / "data.bin"
    path.write_bytes(os.urandom(300_007))
    return path


def enc(cipher, *options):
    key = KEY[:32 if cipher.startswith("sm4") else int(cipher.split("-")[1]) // 4]
    iv = [] if cipher.endswith("ecb") else ["-iv", IV]
    return [OPENSSL, "enc", f"-{cipher}", "-K", key, *iv, *options]


@pytest.mark.parametrize("cipher", CIPHERS)
def test_enc_makes_what_openssl_makes(tmp_path, build, data, cipher):
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes=0)
    ours = configuration.run(*enc(cipher, "-e", "-in", data)).stdout
    assert ours == plain(*enc(cipher, "-e", "-in", data)).stdout
    counters = configuration.counters()
    assert counters["device_bytes"] >= 290_000 and counters["failures"] == 0
    assert are_under_test(counters["devices"])

    back = configuration.run(*enc(cipher, "-d"), input=ours).stdout
    assert back == data.read_bytes()
    assert configuration.counters()["device_bytes"] >= 580_000


def test_enc_with_a_password(tmp_path, build, data):
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes=0)
    options = ["enc", "-aes-256-cbc", "-pbkdf2", "-iter", "1000", "-pass", "pass:word"]
    sealed = configuration.run(OPENSSL, *options, "-e", "-in", data).stdout
    assert sealed.startswith(b"Salted__")
    assert plain(OPENSSL, *options, "-d", input=sealed).stdout == data.read_bytes()
    assert configuration.counters()["device_bytes"] > 290_000


def test_enc_by_options_alone(build, data):
    """Uses -provider without any configuration. By default the provider offers no cipher: a
    query that prefers it gets OpenSSL's cipher, and one that requires it fails with an error."""
    options = ["-provider-path", build / "lib", "-provider", "gpu", "-provider", "default",
               "-in", data, "-propquery"]
    ours = plain(*enc("aes-256-ctr", "-e", *options, "?provider=gpu")).stdout
    assert ours == plain(*enc("aes-256-ctr", "-e", "-in", data)).stdout
    insisting = subprocess.run(enc("aes-256-ctr", "-e", *map(str, options), "provider=gpu"),
                               capture_output=True, timeout=300, check=False)
    assert insisting.returncode != 0 and insisting.stdout == b""


@pytest.mark.parametrize("mode", ["cfb8", "cfb1"])
def test_enc_by_what_the_provider_does_not_offer(tmp_path, build, data, mode):
    """A program that prefers the provider gets OpenSSL's cipher; one that requires it gets none."""
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes=0)
    command = enc(f"aes-128-{mode}", "-e", "-in", data)
    expected = plain(*command).stdout
    assert configuration.run(*command).stdout == expected
    assert configuration.run(*command, "-propquery", "?provider=gpu").stdout == expected
    insisting = configuration.run(*command, "-propquery", "provider=gpu", check=False)
    assert insisting.returncode != 0 and insisting.stdout == b""


@pytest.mark.parametrize("threshold", ["0", "1G"])
def test_enc_where_fips_is_the_default(tmp_path, build, data, threshold):
    """The default properties require fips=yes, which no provider here has. A fetch overrides
    that with -fips."""
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes=threshold)
    text = configuration.path.read_text()
    configuration.path.write_text(text.replace("= ?provider=gpu", "= fips=yes,?provider=gpu"))
    command = enc("aes-256-ctr", "-e", "-in", data)
    ours = configuration.run(*command, "-propquery", "?provider=gpu,-fips")
    assert ours.stdout == plain(*command).stdout
    assert ours.stderr == b""
    counters = configuration.counters()
    assert counters["device_bytes" if threshold == "0" else "cpu_bytes"] >= 290_000
    assert configuration.run(*command, check=False).returncode != 0


def test_enc_refuses_a_wrong_key_as_openssl_does(tmp_path, build, data):
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes=0)
    sealed = plain(*enc("aes-128-cbc", "-e", "-in", data)).stdout
    wrong = enc("aes-128-cbc", "-d")
    wrong[wrong.index("-K") + 1] = "ff" * 16
    ours = configuration.run(*wrong, input=sealed, check=False)
    theirs = subprocess.run(wrong, input=sealed, capture_output=True, timeout=300)
    assert ours.returncode == theirs.returncode == 1
    assert b"bad decrypt" in ours.stderr and b"bad decrypt" in theirs.stderr
    assert ours.stdout == theirs.stdout


def test_small_requests_stay_on_the_cpu(tmp_path, build, data):
    configuration = Configuration(tmp_path, build, devices=DEVICES)
    configuration.run(*enc("aes-256-ctr", "-e", "-in", data))
    counters = configuration.counters()
    assert counters["device_jobs"] == 0 and counters["cpu_bytes"] >= 300_007
    assert counters["devices"] == []


def test_speed(tmp_path, build):
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes="1M")
    done = configuration.run(OPENSSL, "speed", "-evp", "aes-128-ctr", "-bytes", "2097152",
                             "-seconds", "1")
    assert re.search(rb"(?i)aes-128-ctr +[0-9.]+k", done.stdout), done.stdout
    counters = configuration.counters()
    assert counters["device_jobs"] > 0 and counters["failures"] == 0
    assert counters["device_bytes"] == counters["device_jobs"] * 2097152


def test_speed_in_children_of_fork(tmp_path, build):
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes="1M")
    configuration.run(OPENSSL, "speed", "-multi", "2", "-evp", "aes-128-ctr", "-bytes", "2097152",
                      "-seconds", "1")
    assert configuration.counters()["failures"] == 0


def test_speed_by_default(tmp_path, build, monkeypatch):
    """Gigabytes of large requests cause the library to measure the device while the CPU does
    them. They stay on the CPU, since the device is the emulator. The program may end while the
    device is being measured."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    configuration = Configuration(tmp_path, build, devices="host")
    configuration.run(OPENSSL, "speed", "-evp", "aes-128-ctr", "-bytes", "2097152", "-seconds", "2")
    counters = configuration.counters()
    assert counters["device_jobs"] == 0 and counters["failures"] == 0
    assert counters["cpu_bytes"] > 0


@pytest.mark.xdist_group("ports")
@pytest.mark.parametrize("threshold", ["0", "1M"])
@pytest.mark.parametrize("protocol", [["-tls1_2", "-cipher", "AES256-SHA256"],
                                      ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA"],
                                      ["-tls1_3"]], ids=" ".join)
def test_tls_with_the_provider_active_everywhere(tmp_path, build, data, protocol, threshold):
    """s_server serves a file to s_client. With threshold 0 even the DRBG of OpenSSL before 3.5
    uses a device."""
    configuration = Configuration(tmp_path, build, devices=DEVICES, threshold_bytes=threshold)
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    configuration.run(OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key,
                      "-out", certificate, "-subj", "/CN=localhost", "-days", "2",
                      "-config", os.devnull)
    port = free_port()
    served = tmp_path / "served.txt"
    served.write_bytes(data.read_bytes().hex().encode())
    server = subprocess.Popen(
        [OPENSSL, "s_server", "-accept", str(port), "-key", str(key), "-cert", str(certificate),
         "-HTTP", "-quiet"], cwd=tmp_path, env=configuration.environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_for(port, server)
        client = configuration.run(
            OPENSSL, "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", certificate,
            "-verify_return_error", "-quiet", "-ign_eof", *protocol,
            input=b"GET /served.txt HTTP/1.0\r\n\r\n", check=False)
    finally:
        server.kill()
        server.communicate()
    assert client.stdout.endswith(served.read_bytes()), client.stderr.decode(errors="replace")
    # If OpenGL is the only device, requests that it cannot do, such as GCM, count as failures.
    if not re.fullmatch(r"(gl(:\d+)?,?)+", DEVICES):
        assert configuration.counters()["failures"] == 0


@pytest.mark.parametrize("cipher", ["aes-128-ctr", "aes-256-ecb", "aes-192-cbc"])
def test_require_gpu_without_a_device_says_so(tmp_path, build, data, cipher):
    configuration = Configuration(tmp_path, build, devices="none", threshold_bytes=1024,
                                  require_gpu="yes")
    done = configuration.run(*enc(cipher, "-e", "-in", data), check=False)
    assert done.returncode != 0
    assert b"require_gpu is set, and this request cannot run on a device" in done.stderr


@pytest.mark.parametrize("settings, says", [
    ({"threshold_bytes": "lots"}, "the setting threshold_bytes = lots is wrong"),
    ({"require_gpu": "perhaps"}, "the setting require_gpu = perhaps is wrong: it must be yes or no"),
    ({"stats_file": "here.json"}, "stats_file = here.json is wrong: it must be an absolute path"),
    ({"devices": "host,,"}, "provider gpu: "),
])
def test_wrong_settings_say_so(tmp_path, build, settings, says):
    configuration = Configuration(tmp_path, build, activate=False, **settings)
    done = configuration.run(OPENSSL, "list", "-providers", "-provider", "gpu", check=False)
    assert done.returncode != 0
    told = done.stderr.decode()
    if says not in told:
        version = configuration.run(OPENSSL, "version").stdout.decode().split()[1]
        if version == "3.0.13":
            pytest.skip("OpenSSL 3.0.13 drops what a provider says that refuses to start")
    assert says in told


def test_a_device_that_is_lost_in_the_middle(tmp_path, build, data):
    configuration = Configuration(tmp_path, build, devices="host", threshold_bytes=0)
    configuration.environment["LANECRYPT_HOST_FAULT"] = "lost-after:20"
    ours = configuration.run(*enc("aes-256-ctr", "-e", "-in", data)).stdout
    assert ours == plain(*enc("aes-256-ctr", "-e", "-in", data)).stdout
    counters = configuration.counters()
    assert 0 < counters["device_jobs"] < 30 and counters["failures"] == 1
    assert counters["cpu_jobs"] > 0
