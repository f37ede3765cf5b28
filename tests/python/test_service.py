# SPDX-License-Identifier: Apache-2.0
"""Contexts that use the service lanecryptd. Its device is the emulator."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

import pytest

import lanecrypt
from lanecrypt import rsa
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric import rsa as pyca
from conftest import run_script

PROGRAMS = pathlib.Path(lanecrypt.__file__).parent / "bin"
MESSAGES = [b"a", b"b", b"c"]
SIGN, MAKE = "rsa-1024-private", "rsa-1024-generate"


class Service:
    """A running service. Its socket is in a folder that only this user can access."""

    def __init__(self, folder):
        self.path = str(folder / "lanecrypt" / "socket")
        os.mkdir(folder / "lanecrypt", 0o700)
        reads, writes = os.pipe()
        with open(reads, "rb") as ready:
            # The emulator pretends that threads share a number, as on CUDA. Otherwise it makes no
            # single keys.
            self.process = subprocess.Popen(
                [PROGRAMS / "lanecryptd", "--socket", self.path, "--devices", "host", "--ready-fd",
                 str(writes)], pass_fds=[writes], stdin=subprocess.DEVNULL,
                env={**os.environ, "LANECRYPT_HOST_SUBGROUPS": "1"})
            os.close(writes)
            assert ready.read() == b"ready\n"

    def done(self, kind):
        """Returns how many operations of this kind the service has done."""
        told = subprocess.run([PROGRAMS / "lanecrypt", "service", "stats", "--json", "--socket",
                               self.path], capture_output=True, check=True, timeout=60).stdout
        return sum(row["done"] for row in json.loads(told)["kinds"] if row["kind"] == kind)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def context(self, **options):
        """Returns a context that fails if the service does not do an operation."""
        return lanecrypt.Context(**{"devices": "none", "service": self.path, "fallback": "none",
                                    **options})


@contextlib.contextmanager
def running():
    if not (PROGRAMS / "lanecryptd").exists():
        pytest.skip("the package was built without the service")
    # A short path: the path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="lanecrypt-") as folder:
        service = Service(pathlib.Path(folder))
        try:
            yield service
        finally:
            service.kill()


@pytest.fixture(scope="module")
def service():
    with running() as one:
        yield one


@pytest.fixture(scope="module")
def key():
    return pyca.generate_private_key(65537, 1024)


@pytest.fixture(scope="module")
def signatures(key):
    return [key.sign(message, padding.PKCS1v15(), hashes.SHA256()) for message in MESSAGES]


def test_operations(service, key, signatures):
    before = service.done(SIGN)
    with service.context() as context:
        assert rsa.sign_many(key, MESSAGES, context=context) == signatures
        assert rsa.submit_sign_many(key, MESSAGES, context=context).result() == signatures
        how = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        sealed = [key.public_key().encrypt(message, how) for message in MESSAGES]
        assert rsa.decrypt_many(key, sealed, context=context) == MESSAGES
        assert context.counters()["cpu"].operations == 0
    assert service.done(SIGN) - before == 9


def test_every_result_is_checked(service, key, signatures):
    before = service.done(SIGN)
    with service.context(verify="full") as context:
        assert rsa.sign_many(key, MESSAGES, context=context) == signatures
    assert service.done(SIGN) - before == 3


def test_new_keys(service):
    before = service.done(MAKE)
    with service.context() as context:
        made = rsa.generate(1024, 2, format="pyca", context=context)
    assert service.done(MAKE) - before == 2
    assert [key.key_size for key in made] == [1024, 1024]
    assert len({key.private_numbers().p for key in made}) == 2
    for one in made:
        one.public_key().verify(one.sign(b"a", padding.PKCS1v15(), hashes.SHA256()), b"a",
                                padding.PKCS1v15(), hashes.SHA256())


@pytest.mark.parametrize("name", ["auto", "require"])
def test_the_usual_place(service, key, signatures, monkeypatch, name):
    if os.path.exists("/run/lanecrypt/socket"):
        pytest.skip("this machine has a service")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(pathlib.Path(service.path).parents[1]))
    before = service.done(SIGN)
    with lanecrypt.Context("none", service=name) as context:
        assert rsa.sign_many(key, MESSAGES, context=context) == signatures
    assert service.done(SIGN) - before == 3


def test_where_there_is_none(key, signatures, monkeypatch, tmp_path):
    if os.path.exists("/run/lanecrypt/socket"):
        pytest.skip("this machine has a service")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with lanecrypt.Context("none", service="auto") as context:
        assert rsa.sign_many(key, MESSAGES, context=context) == signatures
        assert context.counters()["cpu"].operations == 3
    with lanecrypt.Context("none", service="require") as context:
        with pytest.raises(lanecrypt.NoDeviceError, match="no service: .*lanecrypt/socket"):
            rsa.sign_many(key, MESSAGES, context=context)
        with pytest.raises(lanecrypt.NoDeviceError, match="no service: "):
            rsa.generate(1024, context=context)


def test_it_is_killed(key, signatures):
    with running() as service:
        with service.context(fallback="cpu") as going_on, service.context() as strict:
            for context in (going_on, strict):
                assert rsa.sign_many(key, MESSAGES, context=context) == signatures
            service.kill()
            assert rsa.sign_many(key, MESSAGES, context=going_on) == signatures
            assert going_on.counters()["cpu"].operations == 3
            with pytest.raises((lanecrypt.NoDeviceError, lanecrypt.DeviceError)):
                rsa.sign_many(key, MESSAGES, context=strict)


def test_a_threshold_keeps_them_here(service, key, signatures):
    before = service.done(SIGN)
    with service.context(threshold_bytes=1 << 20, fallback="cpu") as context:
        assert rsa.sign_many(key, MESSAGES, context=context) == signatures
        assert context.counters()["cpu"].operations == 3
    assert service.done(SIGN) == before


def test_a_child_of_fork(service, key):
    before = service.done(SIGN)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                            serialization.NoEncryption())
    run_script("""
        import os, sys
        import lanecrypt
        from lanecrypt import rsa
        context = lanecrypt.Context("none", service=sys.argv[1], fallback="none")
        key = rsa.PrivateKey(sys.argv[2].encode())
        first = rsa.sign_many(key, [b"a"], context=context)
        child = os.fork()
        again = rsa.sign_many(key, [b"a"], context=context)
        if child == 0:
            os._exit(0 if again == first else 1)
        assert again == first and os.waitpid(child, 0)[1] == 0
        """, service.path, pem.decode())
    assert service.done(SIGN) - before == 3


@pytest.mark.parametrize("name", ["socket", "", "/a\0b", "Auto"])
def test_wrong_names(name):
    with pytest.raises(ValueError):
        lanecrypt.Context("none", service=name)


def test_off():
    with lanecrypt.Context("none", service="off") as context:
        assert rsa.generate(1024, context=context)
    with pytest.raises(TypeError):
        lanecrypt.Context("none", service=None)
