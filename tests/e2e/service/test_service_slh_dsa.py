# SPDX-License-Identifier: Apache-2.0
"""SLH-DSA of `openssl` by the service, from OpenSSL 3.5 on: LANECRYPT_TEST_OPENSSL names it. The
service itself runs with the system's OpenSSL, which need not have SLH-DSA."""

import time

import pytest

from provider_fixtures import Configuration, OPENSSL, plain
from test_provider_slh_dsa import FAST, SETS, has_slh_dsa, ours
from test_service_ml_dsa import counters, start
from test_service_provider import Service

pytestmark = has_slh_dsa
TRIED = [*FAST, "SHA2-256f"]


@pytest.fixture(scope="module", name="running")
def started(build, tmp_path_factory):
    """One service for all tests. It runs its device's self-test for SLH-DSA when the first key
    comes. Meanwhile the program may make the signature on its own core."""
    if not (build / "bin" / "lanecryptd").exists():
        pytest.skip("lanecryptd was not built")
    folder = tmp_path_factory.mktemp("service")
    folder.chmod(0o700)
    one = Service(build, folder)
    start(one, "slh_dsa")
    first = Configuration(folder, build, in_process=None, service=one.socket, slh_dsa="always")
    make = ["req", "-x509", "-newkey", "SLH-DSA-SHA2-128f", "-nodes", "-keyout", folder / "key.pem",
            "-out", folder / "cert.pem", "-subj", "/CN=any", "-config", "/dev/null"]
    deadline = time.monotonic() + 120
    while done(one, "SHA2-128f") == 0:
        assert time.monotonic() < deadline
        first.run(OPENSSL, *make)
    yield one
    one.end()
    one.log.close()


@pytest.fixture(scope="module", name="keys")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    (folder / "message").write_bytes(bytes(range(256)) * 300)
    for of in TRIED:
        plain(OPENSSL, "genpkey", "-algorithm", f"SLH-DSA-{of}", "-out", folder / f"{of}.pem")
        plain(OPENSSL, "pkey", "-in", folder / f"{of}.pem", "-pubout", "-out",
              folder / f"{of}.pub.pem")
    return folder


@pytest.fixture(name="gpu")
def configuration(tmp_path, build, running):
    return Configuration(tmp_path, build, in_process=None, service=running.socket,
                         slh_dsa="always")


def done(running, of):
    return running.done(f"slh-dsa-{of.lower()}-sign")


def verify(keys, of, signature, *words):
    plain(OPENSSL, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", keys / f"{of}.pub.pem",
          "-in", keys / "message", *words, "-sigfile", signature)


def test_the_service_alone_makes_the_provider_offer_it(gpu):
    listed = gpu.run(OPENSSL, "list", "-signature-algorithms", "-key-managers")
    assert len(ours(listed)) == 2 * len(SETS)


@pytest.mark.parametrize("of, option", [
    ("SHA2-128f", None), ("SHA2-128f", "context-string:where"), ("SHA2-128f", "message-encoding:0"),
    ("SHA2-128f", "deterministic:1"), ("SHAKE-128f", "deterministic:1"), ("SHAKE-128f", None),
    ("SHA2-256f", "deterministic:1")])
def test_signatures(tmp_path, running, gpu, keys, of, option):
    words = [] if option is None else ["-pkeyopt", option]
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    sign = ["pkeyutl", "-sign", "-rawin", "-inkey", keys / f"{of}.pem", "-in", keys / "message",
            *words]
    before = done(running, of)
    gpu.run(OPENSSL, *sign, "-out", mine)
    assert counters(gpu, "slh_dsa") == [1, 0, 0]
    assert done(running, of) == before + 1
    if option == "deterministic:1":
        plain(OPENSSL, *sign, "-out", theirs)
        assert mine.read_bytes() == theirs.read_bytes()
        words = []
    verify(keys, of, mine, *words)


def test_a_signature_is_verified_where_all_are(tmp_path, running, keys, build):
    checks = Configuration(tmp_path, build, in_process=None, service=running.socket,
                           slh_dsa="always", verify="full")
    checks.run(OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", keys / "SHA2-128f.pem", "-in",
               keys / "message", "-out", tmp_path / "out")
    assert counters(checks, "slh_dsa") == [1, 0, 0]


def test_certificates(tmp_path, gpu):
    """The key is new. The service does not make such keys."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    gpu.run(OPENSSL, "req", "-x509", "-newkey", "SLH-DSA-SHAKE-128f", "-nodes", "-keyout", key,
            "-out", certificate, "-subj", "/CN=root", "-days", "2", "-config", "/dev/null")
    assert counters(gpu, "slh_dsa") == [1, 0, 0]
    plain(OPENSSL, "verify", "-CAfile", certificate, certificate)


def test_jobs(running, gpu):
    before = done(running, "SHA2-128f")
    gpu.run(OPENSSL, "speed", "-seconds", "1", "-async_jobs", "4", "SLH-DSA-SHA2-128f")
    by_service, _, failures = counters(gpu, "slh_dsa")
    assert by_service > 4 and failures == 0
    # The program abandons some jobs at the end.
    assert 0 <= done(running, "SHA2-128f") - before - by_service <= 4


def test_nothing_is_lost_when_the_service_is_killed(tmp_path, running, gpu, keys):
    """This is the last test, because it kills the service."""
    for number in range(4):
        if number == 2:
            running.end(9)
        out = tmp_path / str(number)
        gpu.run(OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", keys / "SHA2-128f.pem", "-in",
                keys / "message", "-out", out)
        verify(keys, "SHA2-128f", out)
    assert counters(gpu, "slh_dsa")[:2] == [2, 2]
