# SPDX-License-Identifier: Apache-2.0
"""ML-DSA of `openssl` with the provider `gpu`, from OpenSSL 3.5 on: LANECRYPT_TEST_OPENSSL names
it. Before 3.5 the provider offers no ML-DSA."""

import os
import re
import subprocess

import pytest

from local_server import free_port, wait_for
from provider_fixtures import OPENSSL, Configuration, plain

DEVICES = os.environ.get("LANECRYPT_TEST_RSA_DEVICES", "host")
SETS = ("44", "65", "87")
VERSION = tuple(map(int, re.search(rb"OpenSSL (\d+)\.(\d+)",
                                   plain(OPENSSL, "version").stdout).groups()))
has_ml_dsa = pytest.mark.skipif(VERSION < (3, 5), reason="this OpenSSL has no ML-DSA")


@pytest.fixture
def configuration(tmp_path, build):
    return Configuration(tmp_path, build, devices=DEVICES, ml_dsa="always")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A key of each set, its public half, and a message, made without the provider."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "message").write_bytes(os.urandom(5000))
    (folder / "mu").write_bytes(os.urandom(64))
    for of in SETS:
        plain(OPENSSL, "genpkey", "-algorithm", f"ML-DSA-{of}", "-out", folder / f"{of}.pem")
        plain(OPENSSL, "pkey", "-in", folder / f"{of}.pem", "-pubout", "-out",
              folder / f"{of}.pub.pem")
    return folder


def ml_dsa_jobs(configuration):
    """Returns how many signatures devices have made so far. Checks that nothing has failed, and
    that the CPU has made none."""
    sums = configuration.counters()
    assert sums["ml_dsa_failures"] == 0 and sums["failures"] == 0
    assert sums["ml_dsa_cpu_jobs"] == 0
    return sums["ml_dsa_device_jobs"]


def test_nothing_is_offered_before_3_5(configuration):
    offered = configuration.run(OPENSSL, "list", "-signature-algorithms").stdout.decode()
    assert ("ML-DSA-65" in offered) == (VERSION >= (3, 5))
    ours = [line for line in offered.splitlines() if "@ gpu" in line and "ML-DSA" in line]
    assert len(ours) == (3 if VERSION >= (3, 5) else 0)


@has_ml_dsa
def test_nothing_is_offered_where_no_device_may_come(tmp_path, build):
    for settings in ({"in_process": None, "service": "off"}, {"ml_dsa": "off"}):
        configuration = Configuration(tmp_path, build, devices=DEVICES, stats_file=None, **settings)
        listed = configuration.run(OPENSSL, "list", "-signature-algorithms", "-key-managers")
        assert not [line for line in listed.stdout.decode().splitlines()
                    if "@ gpu" in line and "ML-DSA" in line]


@has_ml_dsa
@pytest.mark.parametrize("of", SETS)
@pytest.mark.parametrize("options", [[], ["deterministic:1"], ["context-string:where"],
                                     ["message-encoding:0"], ["mu:1"]],
                         ids=["hedged", "deterministic", "context", "raw", "mu"])
def test_signatures(tmp_path, configuration, keys, of, options):
    what = keys / ("mu" if options == ["mu:1"] else "message")
    options = [part for option in options for part in ("-pkeyopt", option)]
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    sign = ["pkeyutl", "-sign", "-rawin", "-inkey", keys / f"{of}.pem", "-in", what, *options]
    verify = ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", keys / f"{of}.pub.pem",
              "-in", what, *(option for option in options if option != "deterministic:1")]
    verify = [part for n, part in enumerate(verify)
              if not (part == "-pkeyopt" and n + 1 == len(verify))]
    configuration.run(OPENSSL, *sign, "-out", ours)
    assert ml_dsa_jobs(configuration) == 1
    plain(OPENSSL, *sign, "-out", theirs)
    if "deterministic:1" in options:
        assert ours.read_bytes() == theirs.read_bytes()
    plain(OPENSSL, *verify, "-sigfile", ours)
    configuration.run(OPENSSL, *verify, "-sigfile", theirs)
    wrong = bytearray(theirs.read_bytes())
    wrong[len(wrong) // 2] ^= 1
    theirs.write_bytes(wrong)
    assert configuration.run(OPENSSL, *verify, "-sigfile", theirs, check=False).returncode == 1


@has_ml_dsa
def test_wrong_calls_end_as_without_the_provider(configuration, keys, tmp_path):
    (tmp_path / "short").write_bytes(bytes(63))
    for options in (["-pkeyopt", "mu:1", "-in", tmp_path / "short"],
                    ["-pkeyopt", "context-string:" + 256 * "x", "-in", keys / "mu"],
                    ["-pkeyopt", "hextest-entropy:0102", "-in", keys / "mu"],
                    ["-digest", "sha256", "-in", keys / "mu"]):
        command = [OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", keys / "44.pem", *options]
        assert configuration.run(*command, check=False).returncode != 0
        assert subprocess.run([str(part) for part in command], capture_output=True,
                              check=False).returncode != 0


@has_ml_dsa
@pytest.mark.parametrize("of", SETS)
def test_keys(tmp_path, configuration, of):
    """Keys from one seed are the same, and so are all formats in which OpenSSL writes them."""
    seed = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    make = [OPENSSL, "genpkey", "-algorithm", f"ML-DSA-{of}", "-pkeyopt", "hexseed:" + seed]
    ours = configuration.run(*make).stdout
    assert ours == plain(*make).stdout
    key = tmp_path / "key.pem"
    key.write_bytes(ours)
    for options in (["-text", "-noout"], ["-pubout"], ["-outform", "DER"], ["-text", "-pubout"]):
        show = [OPENSSL, "pkey", "-in", key, *options]
        assert configuration.run(*show).stdout == plain(*show).stdout, options
    locked = tmp_path / "locked.pem"
    configuration.run(OPENSSL, "pkey", "-in", key, "-aes256", "-passout", "pass:word", "-out", locked)
    assert plain(OPENSSL, "pkey", "-in", locked, "-passin", "pass:word").stdout == ours
    assert configuration.run(OPENSSL, "pkey", "-in", key, "-check", "-noout").returncode == 0


def make_chain(configuration, folder):
    """Makes a root with ML-DSA-87, an authority with ML-DSA-65, and certificates of `localhost`
    and of a client with ML-DSA-44, all with the provider."""
    run = configuration.run
    run(OPENSSL, "req", "-x509", "-newkey", "ML-DSA-87", "-nodes", "-keyout", folder / "root.key",
        "-out", folder / "root.pem", "-subj", "/CN=root", "-days", "2", "-config", os.devnull,
        "-addext", "basicConstraints=critical,CA:TRUE")
    for name, of, issuer, extension in (
            ("authority", "65", "root", "basicConstraints=critical,CA:TRUE"),
            ("server", "44", "authority", "subjectAltName=DNS:localhost"),
            ("client", "44", "authority", "subjectAltName=DNS:client")):
        run(OPENSSL, "req", "-new", "-newkey", f"ML-DSA-{of}", "-nodes", "-keyout",
            folder / f"{name}.key", "-out", folder / f"{name}.csr", "-subj", f"/CN={name}",
            "-config", os.devnull, "-addext", extension)
        run(OPENSSL, "x509", "-req", "-in", folder / f"{name}.csr", "-CA", folder / f"{issuer}.pem",
            "-CAkey", folder / f"{issuer}.key", "-out", folder / f"{name}.pem", "-days", "2",
            "-copy_extensions", "copy", "-extfile", os.devnull)
    return ["-CAfile", folder / "root.pem", "-untrusted", folder / "authority.pem"]


@has_ml_dsa
def test_a_chain_of_certificates(tmp_path, configuration):
    trusted = make_chain(configuration, tmp_path)
    # A request is signed with its own key, a certificate with its issuer's.
    assert ml_dsa_jobs(configuration) == 1 + 3 + 3
    for verify in (plain, configuration.run):
        for name in ("server", "client"):
            verify(OPENSSL, "verify", *trusted, tmp_path / f"{name}.pem")
        verify(OPENSSL, "req", "-in", tmp_path / "client.csr", "-verify", "-noout", "-config",
               os.devnull)


@has_ml_dsa
@pytest.mark.parametrize("who", ["both", "server", "client"])
def test_tls_with_mutual_authentication(tmp_path, build, configuration, who):
    """Each side signs with ML-DSA, with the provider or without."""
    make_chain(configuration, tmp_path)
    before = ml_dsa_jobs(configuration)
    server_environment = configuration.environment if who != "client" else os.environ
    client = configuration.run if who != "server" else plain
    port = free_port()
    server = subprocess.Popen(
        [str(part) for part in (
            OPENSSL, "s_server", "-accept", port, "-cert", tmp_path / "server.pem", "-key",
            tmp_path / "server.key", "-cert_chain", tmp_path / "authority.pem", "-CAfile",
            tmp_path / "root.pem", "-chainCAfile", tmp_path / "root.pem", "-Verify", "3",
            "-verify_return_error", "-naccept", "2", "-www")],
        env=server_environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        wait_for(port, server)
        answer = client(
            OPENSSL, "s_client", "-connect", f"localhost:{port}", "-CAfile", tmp_path / "root.pem",
            "-cert", tmp_path / "client.pem", "-key", tmp_path / "client.key", "-cert_chain",
            tmp_path / "authority.pem", "-verify_return_error", "-verify_hostname", "localhost",
            "-tls1_3", "-ign_eof", input=b"GET / HTTP/1.0\r\n\r\n").stdout.decode(errors="replace")
        server.wait(60)
    finally:
        server.kill()
        server.wait()
    assert "Verification: OK" in answer or "Verify return code: 0 (ok)" in answer
    assert re.search("mldsa44", answer), answer
    assert ml_dsa_jobs(configuration) == before + (2 if who == "both" else 1)
