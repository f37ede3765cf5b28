# SPDX-License-Identifier: Apache-2.0
"""ML-DSA of `openssl` by the service, from OpenSSL 3.5 on: LANECRYPT_TEST_OPENSSL names it. The
service itself runs with the system's OpenSSL, which need not have ML-DSA."""

import json
import subprocess
import threading
import time

import pytest

from local_server import free_port, wait_for
from provider_fixtures import Configuration, OPENSSL, plain
from test_provider_ml_dsa import SETS, has_ml_dsa, keys  # noqa: F401
from test_service_provider import service  # noqa: F401

pytestmark = has_ml_dsa


@pytest.fixture(name="running")
def started(service):  # noqa: F811
    """The service, once its device has passed the self-test for ML-DSA."""
    start(service)
    return service


def start(one, family="ml_dsa"):
    one.start()
    deadline = time.monotonic() + 120
    while one.statistics()[family + "_devices"] == 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(name="gpu")
def configuration(tmp_path, build, running):
    return Configuration(tmp_path, build, in_process=None, service=running.socket, ml_dsa="always")


def counters(configuration, family="ml_dsa"):
    lines = [json.loads(line) for line in configuration.stats.read_text().splitlines()]
    return [sum(line[f"{family}_{name}"] for line in lines)
            for name in ("service_jobs", "cpu_jobs", "failures")]


@pytest.mark.parametrize("of", SETS)
@pytest.mark.parametrize("options", [[], ["deterministic:1"], ["context-string:where"], ["mu:1"]],
                         ids=["hedged", "deterministic", "context", "mu"])
def test_signatures(tmp_path, running, gpu, keys, of, options):  # noqa: F811
    what = keys / ("mu" if options == ["mu:1"] else "message")
    words = [part for option in options for part in ("-pkeyopt", option)]
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    sign = ["pkeyutl", "-sign", "-rawin", "-inkey", keys / f"{of}.pem", "-in", what, *words]
    gpu.run(OPENSSL, *sign, "-out", ours)
    assert counters(gpu) == [1, 0, 0]
    assert running.done(f"ml-dsa-{of}-sign") == 1
    if options == ["deterministic:1"]:
        plain(OPENSSL, *sign, "-out", theirs)
        assert ours.read_bytes() == theirs.read_bytes()
        words = []
    plain(OPENSSL, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", keys / f"{of}.pub.pem",
          "-in", what, *words, "-sigfile", ours)


def test_a_signature_is_verified_where_all_are(tmp_path, running, keys, build):  # noqa: F811
    checks = Configuration(tmp_path, build, in_process=None, service=running.socket,
                           ml_dsa="always", verify="full")
    checks.run(OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", keys / "65.pem", "-in",
               keys / "message", "-out", tmp_path / "out")
    assert counters(checks) == [1, 0, 0]


def test_tls(tmp_path, running, gpu):
    """A server whose certificate has an ML-DSA key signs with the service, and an ordinary
    client accepts the signature."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    plain(OPENSSL, "req", "-x509", "-newkey", "ML-DSA-44", "-nodes", "-keyout", key, "-out",
          certificate, "-subj", "/CN=localhost", "-days", "2", "-config", "/dev/null")
    port = free_port()
    server = subprocess.Popen([OPENSSL, "s_server", "-accept", str(port), "-cert", certificate,
                               "-key", key, "-naccept", "2", "-quiet"], env=gpu.environment,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    try:
        wait_for(port, server)
        done = plain(OPENSSL, "s_client", "-connect", f"localhost:{port}", "-CAfile", certificate,
                     "-verify_return_error", input=b"Q\n")
        assert b"Verify return code: 0 (ok)" in done.stdout
    finally:
        server.kill()
        server.wait()
    assert running.done("ml-dsa-44-sign") == 1


def test_nothing_is_lost_when_the_service_is_killed(tmp_path, running, gpu, keys):  # noqa: F811
    """One process after another signs while the service is killed and started again."""
    ends = threading.Event()
    failed, made = [], []

    def sign(worker):
        number = 0
        while not ends.is_set():
            number += 1
            out = tmp_path / f"{worker}-{number}"
            done = gpu.run(OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", keys / "44.pem",
                           "-in", keys / "message", "-out", out, check=False)
            if done.returncode != 0:
                failed.append(done.stderr)
            else:
                made.append(out)

    workers = [threading.Thread(target=sign, args=(n,)) for n in range(2)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(3):
            time.sleep(0.5)
            running.end(9)
            time.sleep(0.2)
            start(running)
    finally:
        ends.set()
        for worker in workers:
            worker.join()
    assert not failed and made
    for out in made:
        plain(OPENSSL, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", keys / "44.pub.pem",
              "-in", keys / "message", "-sigfile", out)
    assert sum(counters(gpu)[:2]) == len(made)


def test_jobs(running, gpu):
    gpu.run(OPENSSL, "speed", "-seconds", "2", "-async_jobs", "8", "ML-DSA-44")
    by_service, _, failures = counters(gpu)
    assert by_service > 8 and failures == 0
    # openssl abandons some jobs at the end.
    assert 0 <= running.done("ml-dsa-44-sign") - by_service <= 8
