# SPDX-License-Identifier: Apache-2.0
"""A setting that names a socket does not make the socket's owner trusted. `service_owner` does."""

import json
import os
import subprocess

import pytest

from cli_fixtures import BUILD, LANECRYPT, NO_DEVICE, environment
from provider_fixtures import OPENSSL, Configuration, plain
from run_fixtures import AS_NOBODY, NOBODY, own  # noqa: F401

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts the service of another user")


@pytest.fixture
def socket(own):
    """The socket of a service that runs as nobody."""
    os.chmod(own, 0o755)
    path = own / "socket"
    ready, told = os.pipe()
    process = subprocess.Popen([BUILD / "bin" / "lanecryptd", "--socket", path, "--devices", "host", "--ready-fd",
                                str(told)], pass_fds=[told], stderr=subprocess.DEVNULL,
                               # The emulator's threads share a number, as CUDA's do. Otherwise it
                               # makes no single key.
                               env={**os.environ, "LANECRYPT_HOST_SUBGROUPS": "1"}, **AS_NOBODY)
    os.close(told)
    with os.fdopen(ready) as answer:
        assert answer.read() == "ready\n"
    yield path
    process.kill()
    process.wait()


@pytest.mark.parametrize("owner, is_used", [(None, False), ("root", False), ("4711", False), ("no-such-user", False),
                                            ("nobody", True), (str(NOBODY), True)])
def test_the_provider(tmp_path, socket, owner, is_used):
    key = tmp_path / "key.pem"
    plain(OPENSSL, "genrsa", "-out", key, "2048")
    gpu = Configuration(tmp_path, BUILD.resolve(), in_process=None, service=socket, service_owner=owner, rsa="always")
    for _ in range(5):  # on a busy machine a signature may come too late
        gpu.run(OPENSSL, "dgst", "-sha256", "-sign", key, "-out", tmp_path / "signature", key)
        lines = [json.loads(line) for line in gpu.stats.read_text().splitlines()]
        if sum(line["rsa_service_jobs"] for line in lines):
            break
    assert any(line["rsa_service_jobs"] for line in lines) == is_used, lines


def test_the_command(tmp_path, socket):
    """The command would otherwise get private keys that another user has made."""
    def genrsa(*options):
        return subprocess.run([LANECRYPT, "genrsa", "--require-gpu", f"--service={socket}", *options, "1024"],
                              capture_output=True, timeout=300, check=False, env=environment("none"))

    for options in ((), ("--service-owner", "root"), ("--service-owner=4711",)):
        done = genrsa(*options)
        assert (done.returncode, done.stdout) == (NO_DEVICE, b""), done.stderr
        assert b"it belongs to another user" in done.stderr
    done = genrsa("--service-owner", "no-such-user")
    assert done.returncode == NO_DEVICE and b"there is no user 'no-such-user'" in done.stderr
    done = genrsa("--service-owner", "nobody")
    assert done.returncode == 0 and done.stdout.startswith(b"-----BEGIN PRIVATE KEY"), done.stderr
