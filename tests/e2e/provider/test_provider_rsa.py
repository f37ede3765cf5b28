# SPDX-License-Identifier: Apache-2.0
"""RSA of `openssl` and of servers with the provider `gpu`.

LANECRYPT_TEST_HANDSHAKES is the number of handshakes with each server (40 by default).
LANECRYPT_TEST_RSA_DEVICES names the devices of these tests (`host` by default).
"""

import concurrent.futures
import itertools
import os
import signal
import ssl
import subprocess
import threading
import time

import pytest

from local_server import (children, connected, free_port, handshake, haproxy, nginx, program,
                          wait_for)
from provider_fixtures import OPENSSL, Configuration, make_key, plain

HANDSHAKES = int(os.environ.get("LANECRYPT_TEST_HANDSHAKES", "40"))
DEVICES = os.environ.get("LANECRYPT_TEST_RSA_DEVICES", "host")


@pytest.fixture
def configuration(tmp_path, build):
    return Configuration(tmp_path, build, devices=DEVICES, rsa="always")


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A key and its certificate, made without the provider."""
    folder = tmp_path_factory.mktemp("key")
    make_key(folder)
    return folder


def rsa_jobs(configuration):
    """Returns how many private operations devices have done so far. Checks that nothing has
    failed, and that the CPU has done none."""
    sums = configuration.counters()
    assert sums["rsa_failures"] == 0 and sums["failures"] == 0
    assert sums["rsa_cpu_jobs"] == 0
    return sums["rsa_device_jobs"]


@pytest.mark.parametrize("options", [
    ["-sha256"],
    ["-sha512", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:max"],
    ["-sha1", "-sigopt", "rsa_padding_mode:x931"],
], ids=["pkcs1", "pss", "x931"])
def test_dgst(tmp_path, configuration, key, options):
    data, signature = tmp_path / "data", tmp_path / "signature"
    data.write_bytes(os.urandom(100_000))
    configuration.run(OPENSSL, "dgst", *options, "-sign", key / "key.pem", "-out", signature, data)
    plain(OPENSSL, "dgst", *options, "-verify", key / "public.pem", "-signature", signature, data)
    configuration.run(OPENSSL, "dgst", *options, "-verify", key / "public.pem", "-signature",
                      signature, data)
    assert rsa_jobs(configuration) == 1


@pytest.mark.parametrize("padding", [
    [], ["-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:sha256"],
], ids=["pkcs1", "oaep"])
def test_pkeyutl(tmp_path, configuration, key, padding):
    sealed = tmp_path / "sealed"
    plain(OPENSSL, "pkeyutl", "-encrypt", "-pubin", "-inkey", key / "public.pem", *padding,
          "-out", sealed, input=b"a secret")
    opened = configuration.run(OPENSSL, "pkeyutl", "-decrypt", "-inkey", key / "key.pem", *padding,
                               "-in", sealed)
    assert opened.stdout == b"a secret"
    configuration.run(OPENSSL, "pkeyutl", "-encrypt", "-pubin", "-inkey", key / "public.pem",
                      *padding, "-out", sealed, input=b"another")
    assert plain(OPENSSL, "pkeyutl", "-decrypt", "-inkey", key / "key.pem", *padding, "-in",
                 sealed).stdout == b"another"
    assert rsa_jobs(configuration) == 1


def test_keys_in_every_form(tmp_path, configuration, key):
    """A key from PEM, DER, PKCS#8 with a password, PKCS#12 or a store gives the same signature."""
    data = tmp_path / "data"
    data.write_bytes(b"some text")
    run = configuration.run
    run(OPENSSL, "rsa", "-in", key / "key.pem", "-traditional", "-out", tmp_path / "old.pem")
    run(OPENSSL, "pkey", "-in", key / "key.pem", "-outform", "DER", "-out", tmp_path / "key.der")
    run(OPENSSL, "pkcs8", "-topk8", "-in", key / "key.pem", "-passout", "pass:word", "-out",
        tmp_path / "sealed.pem")
    run(OPENSSL, "pkcs12", "-export", "-inkey", key / "key.pem", "-in", key / "certificate.pem",
        "-passout", "pass:word", "-out", tmp_path / "key.p12")
    stored = run(OPENSSL, "storeutl", "-keys", "-noout", f"file:{key / 'key.pem'}")
    assert b"Total found: 1" in stored.stdout
    forms = [(key / "key.pem", []), (tmp_path / "old.pem", []),
             (tmp_path / "key.der", ["-keyform", "DER"]),
             (tmp_path / "sealed.pem", ["-passin", "pass:word"]),
             (tmp_path / "key.p12", ["-keyform", "P12", "-passin", "pass:word"])]
    signatures = {run(OPENSSL, "dgst", "-sha256", "-sign", path, *options, data).stdout
                  for path, options in forms}
    assert len(signatures) == 1 and len(signatures.pop()) == 256
    # Only these signed. Reading and writing keys needed no private operation.
    assert rsa_jobs(configuration) == len(forms)


def test_generation_and_checks(tmp_path, configuration):
    for name, options in (("rsa", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]),
                          ("pss", ["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:1024",
                                   "-pkeyopt", "rsa_pss_keygen_md:sha256",
                                   "-pkeyopt", "rsa_pss_keygen_mgf1_md:sha256",
                                   "-pkeyopt", "rsa_pss_keygen_saltlen:32"])):
        path = tmp_path / f"{name}.pem"
        configuration.run(OPENSSL, "genpkey", *options, "-out", path)
        text = configuration.run(OPENSSL, "pkey", "-in", path, "-text", "-noout", "-check").stdout
        assert b"Key is valid" in text and b"1024 bit" in text
        assert text == plain(OPENSSL, "pkey", "-in", path, "-text", "-noout", "-check").stdout


def test_requests_and_certificates(tmp_path, configuration, key):
    run = configuration.run
    run(OPENSSL, "req", "-new", "-key", key / "key.pem", "-subj", "/CN=asks", "-out",
        tmp_path / "request.pem", "-config", os.devnull)
    run(OPENSSL, "req", "-verify", "-in", tmp_path / "request.pem", "-noout", "-config", os.devnull)
    run(OPENSSL, "x509", "-req", "-in", tmp_path / "request.pem", "-CA", key / "certificate.pem",
        "-CAkey", key / "key.pem", "-CAcreateserial", "-CAserial", tmp_path / "serial",
        "-extfile", os.devnull,
        "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest",
        "-out", tmp_path / "made.pem")
    plain(OPENSSL, "verify", "-CAfile", key / "certificate.pem", tmp_path / "made.pem")
    run(OPENSSL, "verify", "-CAfile", key / "certificate.pem", tmp_path / "made.pem")
    assert rsa_jobs(configuration) == 2


def test_cms(tmp_path, configuration, key):
    data, sealed = tmp_path / "data", tmp_path / "sealed"
    data.write_bytes(os.urandom(5000))
    for options in ([], ["-keyopt", "rsa_padding_mode:oaep"]):
        plain(OPENSSL, "cms", "-encrypt", "-binary", "-in", data, "-outform", "DER", "-out", sealed,
              "-recip", key / "certificate.pem", *options)
        opened = configuration.run(OPENSSL, "cms", "-decrypt", "-inform", "DER", "-in", sealed,
                                   "-recip", key / "certificate.pem", "-inkey", key / "key.pem")
        assert opened.stdout == data.read_bytes()
    for options in ([], ["-keyopt", "rsa_padding_mode:pss"]):
        configuration.run(OPENSSL, "cms", "-sign", "-binary", "-nodetach", "-in", data, "-outform",
                          "DER", "-out", sealed, "-signer", key / "certificate.pem", "-inkey",
                          key / "key.pem", *options)
        for program in (plain, configuration.run):
            done = program(OPENSSL, "cms", "-verify", "-binary", "-inform", "DER", "-in", sealed,
                           "-CAfile", key / "certificate.pem", "-purpose", "any")
            assert done.stdout == data.read_bytes()
    assert rsa_jobs(configuration) == 4


@pytest.mark.parametrize("options", [[], ["-async_jobs", "16"]], ids=["plain", "async"])
def test_speed(tmp_path, build, options):
    configuration = Configuration(tmp_path, build, devices=DEVICES, rsa="always")
    done = configuration.run(OPENSSL, "speed", "-seconds", "1", *options, "rsa1024")
    assert b"rsa" in done.stdout and b"1024 bits" in done.stdout, done.stdout
    assert rsa_jobs(configuration) > 0


def test_auto_leaves_a_lone_caller_on_its_cpu(tmp_path, build, key):
    configuration = Configuration(tmp_path, build, devices=DEVICES)
    data = tmp_path / "data"
    data.write_bytes(b"some text")
    configuration.run(OPENSSL, "dgst", "-sha256", "-sign", key / "key.pem", "-out",
                      tmp_path / "signature", data)
    counters = configuration.counters()
    assert counters["rsa_cpu_jobs"] == 1 and counters["rsa_device_jobs"] == 0
    # The program did not even look for a device.
    assert counters["devices"] == []


def greet(port, key, version):
    with connected(port, key, version) as connection:
        connection.sendall(b"hello\n")
        connection.unwrap()


@pytest.mark.xdist_group("ports")
@pytest.mark.parametrize("version", [["-tls1_2", "-cipher", "AES128-GCM-SHA256"],
                                     ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"],
                                     ["-tls1_3"]], ids=["key-transport", "tls1_2", "tls1_3"])
@pytest.mark.parametrize("options", [[], ["-async"]], ids=["plain", "async"])
def test_s_server(tmp_path, configuration, key, version, options):
    port = free_port()
    # As an HTTP server (-www), s_server sleeps for a second whenever an ASYNC job pauses. With
    # -async it therefore only prints what it receives, and its standard input stays silent.
    # -naccept counts one connection more, that of wait_for().
    answers = not options
    with open(tmp_path / "heard", "wb") as heard:
        server = subprocess.Popen(
            [OPENSSL, "s_server", "-accept", str(port), "-key", str(key / "key.pem"), "-cert",
             str(key / "certificate.pem"), "-quiet", "-naccept", str(HANDSHAKES + 1), *options,
             *version, *(["-www"] if answers else [])],
            env=configuration.environment, stdin=subprocess.PIPE, stdout=heard, stderr=subprocess.PIPE)
    try:
        wait_for(port, server)
        wanted = (ssl.TLSVersion.TLSv1_3 if version[0] == "-tls1_3" else ssl.TLSVersion.TLSv1_2)
        for _ in range(HANDSHAKES):
            if answers:
                assert b"HTTP/1.0 200 ok" in handshake(port, key, wanted)
            else:
                greet(port, key, wanted)
        server.wait(timeout=300)
    finally:
        server.kill()
        server.communicate()
    assert answers or (tmp_path / "heard").read_bytes() == b"hello\n" * HANDSHAKES
    assert rsa_jobs(configuration) >= HANDSHAKES


@pytest.mark.xdist_group("ports")
@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_s_client(tmp_path, configuration, key, version):
    """The client has the provider and a key. The server requires a client certificate and has no
    provider."""
    port = free_port()
    times = min(HANDSHAKES, 4)
    server = subprocess.Popen(
        [OPENSSL, "s_server", "-accept", str(port), "-key", str(key / "key.pem"), "-cert",
         str(key / "certificate.pem"), "-CAfile", str(key / "certificate.pem"), "-Verify", "1",
         "-verify_return_error", "-naccept", str(times + 1), "-www", "-quiet", version],
        env={**os.environ, "OPENSSL_CONF": os.devnull}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    try:
        wait_for(port, server)
        for _ in range(times):
            done = configuration.run(
                OPENSSL, "s_client", "-connect", f"127.0.0.1:{port}", "-key", key / "key.pem", "-cert",
                key / "certificate.pem", "-CAfile", key / "certificate.pem", "-verify_return_error",
                "-ign_eof", version, input=b"GET / HTTP/1.0\r\n\r\n")
            assert b"HTTP/1.0 200 ok" in done.stdout, done.stderr
            # What the server reports about the client.
            assert b"Client certificate" in done.stdout and b"CN=localhost" in done.stdout.replace(b" ", b"")
        server.wait(timeout=300)
    finally:
        server.kill()
        server.communicate()
    assert rsa_jobs(configuration) == times


def start_haproxy(port, folder, configuration, key):
    return subprocess.Popen(haproxy(folder, port, key), env=configuration.environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def start_nginx(port, folder, configuration, key):
    return subprocess.Popen(nginx(folder, port, key), env=configuration.environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


# For each server: how many of its processes work, the signal that reloads it, and the signal that
# ends it gracefully.
@pytest.mark.xdist_group("ports")
@pytest.mark.parametrize("name, start, workers, reload_signal, end_signal", [
    ("haproxy", start_haproxy, 1, signal.SIGUSR2, signal.SIGUSR1),
    ("nginx", start_nginx, 2, signal.SIGHUP, signal.SIGQUIT)])
def test_a_server_that_is_reloaded_under_load(tmp_path, configuration, key, name, start, workers,
                                              reload_signal, end_signal):
    if not program(name):
        pytest.skip(f"needs {name}")
    if os.environ.get("LANECRYPT_TEST_OPENSSL"):
        pytest.skip("the server uses the system's OpenSSL")
    port = free_port()
    server = start(port, tmp_path, configuration, key)
    try:
        wait_for(port, server)
        versions = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]
        enough = threading.Event()
        visits = []

        def visit(first):
            for number in itertools.count(first):
                if enough.is_set():
                    return
                assert handshake(port, key, versions[number % 2]).endswith(b"here")
                visits.append(number)

        def wait_for_more(what, is_there, seconds=300):
            until = time.monotonic() + seconds
            while not is_there() and time.monotonic() < until:
                assert not any(visitor.done() for visitor in visitors), "a visitor failed"
                time.sleep(0.05)
            assert not what or is_there(), what
            return is_there()

        def reload():
            before = set(children(server))
            for _ in range(30):
                server.send_signal(reload_signal)
                # HAProxy's master ignores signals while it restarts itself.
                if wait_for_more("", lambda: set(children(server)) - before, 10):
                    return
            pytest.fail("no new worker came")

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            visitors = [pool.submit(visit, n) for n in range(8)]
            try:
                for _ in range(3):
                    # Visits end before each reload, and continue during it.
                    had = len(visits)
                    time.sleep(0.5)
                    wait_for_more("no visit ended", lambda: len(visits) > had)
                    reload()
                had = len(visits)
                wait_for_more("too few visits", lambda: len(visits) >= max(HANDSHAKES, had + 8))
            finally:
                enough.set()
            for visitor in visitors:
                visitor.result()
        # The old workers have been told to end.
        until = time.monotonic() + 300
        while len(children(server)) > workers and time.monotonic() < until:
            time.sleep(0.1)
        assert len(children(server)) == workers
    finally:
        server.send_signal(end_signal)
        try:
            server.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()
    assert rsa_jobs(configuration) >= len(visits)
