# SPDX-License-Identifier: Apache-2.0
"""Unchanged programs whose RSA operations the service does, on the emulator. The counters of
both sides prove it, and must agree."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

from provider_fixtures import Configuration, OPENSSL, plain

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "process"))
import ways  # noqa: E402  (in the folder of the program that it describes)

# A row of figures of `openssl speed`, before 3.5 and since.
SPEED_ROW = rb"\brsa *1024( bits)? +[0-9.]+s"

VERSION, HELLO, STATISTICS, WELCOME, TEXT = 3, 1, 5, 16, 18


class Service:
    """lanecryptd at its own socket, with one emulator."""

    def __init__(self, build, folder):
        self.build, self.socket = build, folder / "socket"
        self.log = open(folder / "log", "wb")
        self.process = None

    def start(self, **environment):
        ready, told = os.pipe()
        self.process = subprocess.Popen(
            [self.build / "bin" / "lanecryptd", "--socket", self.socket, "--devices", "host",
             "--ready-fd", str(told)], pass_fds=[told], stderr=self.log,
            env={**os.environ, **environment})
        os.close(told)
        with os.fdopen(ready) as answer:
            assert answer.read() == "ready\n"

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        if self.process is not None:
            self.send(signal.SIGCONT)
            self.send(number)
            self.process.wait(timeout=60)
        self.process = None

    def statistics(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as control:
            control.connect(str(self.socket))
            control.send(struct.pack("=HHI", HELLO, VERSION, 8))
            welcome = control.recv(1 << 14)
            assert struct.unpack_from("=H", welcome)[0] == WELCOME
            control.send(struct.pack("=HHI", STATISTICS, VERSION, 8))
            text = b""
            while True:
                piece = control.recv(1 << 14)
                kind, _, _, is_last, _ = struct.unpack_from("=HHIII", piece)
                assert kind == TEXT
                text += piece[16:]
                if is_last:
                    return json.loads(text)

    def done(self, kind="rsa-1024-private"):
        """Returns how many operations of this kind the service has done."""
        return sum(row["done"] for row in self.statistics()["kinds"] if row["kind"] == kind)


@pytest.fixture
def service(build, tmp_path):
    if not (build / "bin" / "lanecryptd").exists():
        pytest.skip("lanecryptd was not built")
    folder = tmp_path / "service"
    folder.mkdir(mode=0o700)
    one = Service(build, folder)
    yield one
    one.end(signal.SIGKILL)
    one.log.close()


@pytest.fixture(scope="session")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "key.pem"
    plain(OPENSSL, "genrsa", "-out", path, "1024")
    return path


@pytest.fixture
def configuration(tmp_path, build, service):
    """All suitable operations go to the service. `require` would not name its socket."""

    def make(**settings):
        return Configuration(tmp_path, build, in_process=None,
                             **{"service": service.socket, "rsa": "always", **settings})

    return make


def counters(configuration):
    lines = [json.loads(line) for line in configuration.stats.read_text().splitlines()]
    names = ("rsa_device_jobs", "rsa_service_jobs", "rsa_cpu_jobs", "rsa_failures",
             "rsa_device_keys", "rsa_cpu_keys")
    return {name: sum(line[name] for line in lines) for name in names}


def begin(build, configuration, **words):
    return subprocess.Popen(ways.command(build, {"updates": 0, **words}),
                            env=configuration.environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def ended_well(process, timeout=120):
    """Checks that test_client made and verified all its signatures."""
    out, errors = process.communicate(timeout=timeout)
    assert process.returncode == ways.STATUS and out.startswith(b"done "), errors.decode()


def test_openssl_signs_and_decrypts(tmp_path, service, configuration, key):
    service.start()
    gpu = configuration()
    text, signature = tmp_path / "text", tmp_path / "signature"
    text.write_bytes(b"some text")
    plain(OPENSSL, "rsa", "-in", key, "-pubout", "-out", tmp_path / "public")
    gpu.run(OPENSSL, "dgst", "-sha256", "-sign", key, "-out", signature, text)
    plain(OPENSSL, "dgst", "-sha256", "-verify", tmp_path / "public", "-signature", signature, text)
    sealed = tmp_path / "sealed"
    for padding in ("pkcs1", "oaep"):
        plain(OPENSSL, "pkeyutl", "-encrypt", "-pubin", "-inkey", tmp_path / "public", "-in", text,
              "-out", sealed, "-pkeyopt", f"rsa_padding_mode:{padding}")
        opened = gpu.run(OPENSSL, "pkeyutl", "-decrypt", "-inkey", key, "-in", sealed,
                         "-pkeyopt", f"rsa_padding_mode:{padding}")
        assert opened.stdout == b"some text"
    assert counters(gpu) == {"rsa_device_jobs": 3, "rsa_service_jobs": 3, "rsa_cpu_jobs": 0,
                             "rsa_failures": 0, "rsa_device_keys": 0, "rsa_cpu_keys": 0}
    assert service.done() == 3


def test_openssl_speed_with_jobs(service, configuration):
    service.start()
    gpu = configuration()
    done = gpu.run(OPENSSL, "speed", "-seconds", "1", "-async_jobs", "8", "rsa1024")
    assert re.search(SPEED_ROW, done.stdout)
    counted = counters(gpu)
    # openssl speed makes its key itself, with all CRT parts.
    assert counted["rsa_service_jobs"] > 8 and counted["rsa_failures"] == 0
    # It abandons some jobs at the end.
    assert 0 <= service.done() - counted["rsa_service_jobs"] <= 8


@pytest.mark.parametrize("words", [{"threads": 1}, {"threads": 16}, {"fork": "before"},
                                   {"fork": "after"}, {"threads": 4, "fork": "thread"},
                                   {"threads": 4, "library": "yes"}, {"cancel": "yes"}])
def test_programs(build, service, configuration, key, words):
    service.start()
    gpu = configuration()
    ended_well(begin(build, gpu, key=key, signs=5, **words))
    counted = counters(gpu)
    assert counted["rsa_service_jobs"] > 0
    assert counted["rsa_cpu_jobs"] == 0 and counted["rsa_failures"] == 0


def test_a_sandbox_leaves_all_to_the_cpu(build, service, configuration, key):
    service.start()
    gpu = configuration()
    ended_well(begin(build, gpu, key=key, signs=5, sandbox="yes"))
    # The program signs once before its sandbox.
    assert service.done() == 1


def test_many_processes(build, service, configuration, key):
    service.start()
    gpu = configuration()
    processes = [begin(build, gpu, key=key, threads=4, signs=3) for _ in range(12)]
    for process in processes:
        ended_well(process)
    counted = counters(gpu)
    assert counted["rsa_service_jobs"] == 12 * 4 * 3 == service.done()
    assert counted["rsa_cpu_jobs"] == 0
    # All processes have disconnected.
    for _ in range(100):
        if service.statistics()["clients"] == 1:
            break
        time.sleep(0.05)
    assert service.statistics()["clients"] == 1 and service.statistics()["keys"] == 0


def test_python_cryptography(tmp_path, service, configuration, key):
    pytest.importorskip("cryptography")
    service.start()
    gpu = configuration()
    program = tmp_path / "program.py"
    program.write_text("""
import concurrent.futures, sys
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
key = serialization.load_pem_private_key(open(sys.argv[1], "rb").read(), None)
def sign(n):
    data = b"data %d" % n
    signature = key.sign(data, padding.PKCS1v15(), hashes.SHA256())
    key.public_key().verify(signature, data, padding.PKCS1v15(), hashes.SHA256())
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    list(pool.map(sign, range(24)))
""")
    gpu.run(sys.executable, program, key)
    counted = counters(gpu)
    assert counted["rsa_service_jobs"] == 24 and counted["rsa_cpu_jobs"] == 0


def test_new_keys(service, configuration):
    # With this setting the emulator searches for single keys.
    service.start(LANECRYPT_HOST_SUBGROUPS="1")
    gpu = configuration()
    # The service leaves the first short keys of all its clients to them.
    for _ in range(40):
        made = gpu.run(OPENSSL, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024")
        if counters(gpu)["rsa_device_keys"] > 0:
            break
    assert b"Key is valid" in plain(OPENSSL, "pkey", "-check", "-noout", input=made.stdout).stdout
    assert counters(gpu)["rsa_device_keys"] == 1 == service.done("rsa-1024-generate")
    assert counters(gpu)["rsa_failures"] == 0


def test_a_short_program_never_connects(service, configuration, key, tmp_path):
    service.start()
    gpu = configuration(rsa="auto")
    (tmp_path / "text").write_bytes(b"text")
    gpu.run(OPENSSL, "dgst", "-sha256", "-sign", key, "-out", tmp_path / "signature",
            tmp_path / "text")
    assert counters(gpu)["rsa_cpu_jobs"] == 1
    # Only clients that asked for statistics have ever connected.
    assert service.statistics()["clients_total"] == 1


def test_required(service, configuration, key, tmp_path):
    gpu = configuration(service="require", rsa="auto")
    # The usual socket of a service for one user.
    usual = tmp_path / "lanecrypt"
    usual.mkdir(mode=0o700)
    gpu.environment["XDG_RUNTIME_DIR"] = str(tmp_path)
    (tmp_path / "text").write_bytes(b"text")
    if os.path.exists("/run/lanecrypt/socket"):
        pytest.skip("a service runs here")
    command = (OPENSSL, "dgst", "-sha256", "-sign", key, "-out", tmp_path / "signature",
               tmp_path / "text")
    done = gpu.run(*command, check=False)
    assert done.returncode != 0 and b"service = require is set" in done.stderr
    service.socket = usual / "socket"
    service.start()
    gpu.run(*command)
    counted = counters(gpu)
    assert counted["rsa_service_jobs"] == 1 and counted["rsa_cpu_jobs"] == 0


# So many that a core takes several seconds for them.
SIGNS = 800


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_service_ends_under_load(build, service, configuration, key, number):
    service.start()
    gpu = configuration()
    processes = [begin(build, gpu, key=key, threads=8, signs=SIGNS) for _ in range(3)]
    for _ in range(2000):
        if service.done() > 100 or all(process.poll() is not None for process in processes):
            break
        time.sleep(0.05)
    assert service.done() > 100
    service.end(number)
    time.sleep(0.2)
    # It comes back under load, and is used again.
    service.start()
    # By then the clients have tried again, unless this machine's cores have already finished.
    time.sleep(1.5)
    are_at_work = any(process.poll() is None for process in processes)
    for process in processes:
        ended_well(process, 300)
    counted = counters(gpu)
    assert counted["rsa_service_jobs"] + counted["rsa_cpu_jobs"] == 3 * 8 * SIGNS
    assert counted["rsa_cpu_jobs"] > 0
    assert service.done() > 0 or not are_at_work


def test_kills_at_any_moment(build, service, configuration, key):
    gpu = configuration()
    signed = 0
    for turn in range(int(os.environ.get("LANECRYPT_TEST_KILLS", "8"))):
        service.start()
        process = begin(build, gpu, key=key, threads=6, signs=40)
        signed += 6 * 40
        time.sleep(0.02 + 0.013 * (turn % 20))
        service.end(signal.SIGKILL)
        ended_well(process)
    counted = counters(gpu)
    assert counted["rsa_service_jobs"] + counted["rsa_cpu_jobs"] == signed


def test_the_service_is_stopped_under_load(build, service, configuration, key):
    service.start()
    gpu = configuration()
    process = begin(build, gpu, key=key, threads=8, signs=2000)
    while service.done() < 50 and process.poll() is None:
        time.sleep(0.02)
    service.send(signal.SIGSTOP)
    stopped = time.monotonic()
    ended_well(process, 300)
    # A waiting client waited until the time limit. A client that waited forever would not have
    # ended.
    assert time.monotonic() - stopped > 4
    counted = counters(gpu)
    assert counted["rsa_cpu_jobs"] > 0
    # Another program connects to a service that accepts but sends nothing.
    done = begin(build, gpu, key=key, threads=4, signs=3)
    ended_well(done)
    service.send(signal.SIGCONT)
    before = counters(gpu)["rsa_service_jobs"]
    ended_well(begin(build, gpu, key=key, threads=4, signs=3))
    assert counters(gpu)["rsa_service_jobs"] == before + 12


def test_jobs_when_the_service_is_killed(service, configuration):
    service.start()
    gpu = configuration()
    speed = subprocess.Popen([OPENSSL, "speed", "-seconds", "4", "-async_jobs", "16", "rsa1024"],
                             env=gpu.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while service.done() < 50 and speed.poll() is None:
        time.sleep(0.02)
    service.end(signal.SIGKILL)
    out, errors = speed.communicate(timeout=120)
    assert speed.returncode == 0 and re.search(SPEED_ROW, out), errors
    counted = counters(gpu)
    assert counted["rsa_service_jobs"] >= 50 and counted["rsa_cpu_jobs"] > 0
