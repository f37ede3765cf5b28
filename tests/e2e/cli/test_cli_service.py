# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt service`: its output for a service, for one that breaks the protocol, and for none."""

import contextlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time

import pytest

import open_metrics
from cli_fixtures import (BUILD, FAILED, LANECRYPT, NO_DEVICE, USAGE, environment, fails, lanecrypt, ok,
                          openssl)
from provider_fixtures import Configuration
from service_stand_in import (StandIn, TEXT, VERSION, WELCOME, packet, piece, pieces, refused,
                              state, text_of, welcome)

NO_SERVICE = 5
QUESTIONS = ("status", "stats", "metrics")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "socket"


def says(path, *words, whole=None, **changes):
    """Returns what the command prints for a service with these statistics."""
    with StandIn(path, statistics=pieces(text_of(whole or state(**changes)))):
        return ok("service", *words, "--socket", path).stdout.decode()


# ---- What it prints ----------------------------------------------------------


def test_status(path):
    lines = says(path, "status").splitlines()
    assert lines[0] == f"lanecryptd 0.1.0, process 4711, at {path}"
    since = re.fullmatch(r"since:      (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d), 1 h 2 min", lines[1])
    started = time.mktime(time.strptime(since[1], "%Y-%m-%d %H:%M:%S"))
    assert abs(time.time() - 3725.5 - started) < 60
    assert lines[2] == "clients:    2 now, 10 in all, 3 refused; 5 keys, 128 channels"
    assert lines[3] == "operations: 100 done, 3 left to clients' CPUs; 6 waiting, 9 under way"
    assert lines[4] == ("device:     cuda:0, A card: ready; 1.5 of 150.0 GiB used; 40 °C; "
                        "100 operations in 7 launches, 0 failures")
    assert lines[5:] == ["user 0: 2 clients, 128 channels, 5 keys, 15 operations"]


def test_status_of_a_device_that_is_lost(path):
    lost = {**state()["devices"][0], "state": "lost", "reason": "it ended nothing for a minute",
            "memory_used_bytes": None, "temperature_celsius": None}
    with StandIn(path, statistics=pieces(text_of(state(devices=[lost])))):
        done = lanecrypt("service", "status", "--socket", path)
    assert done.returncode == NO_DEVICE
    assert b"device:     cuda:0, A card: lost; 100 operations" in done.stdout
    assert b"            it ended nothing for a minute\n" in done.stdout
    # A device whose ciphers were never tried still does RSA. One without RSA is of no use.
    for rsa_state, code in (("ready", 0), ("unusable", NO_DEVICE)):
        other = {**state()["devices"][0], "state": "untried", "rsa_state": rsa_state}
        with StandIn(path, statistics=pieces(text_of(state(devices=[other])))):
            done = lanecrypt("service", "status", "--socket", path)
        assert done.returncode == code and f"A card: {rsa_state};".encode() in done.stdout
    with StandIn(path, statistics=pieces(text_of(state(devices=[])))):
        done = lanecrypt("service", "status", "--socket", path)
    assert done.returncode == NO_DEVICE and b"device:     none\n" in done.stdout


def test_status_as_json(path):
    assert json.loads(says(path, "status", "--json")) == {"running": True, "socket": str(path), **state()}
    done = lanecrypt("service", "status", "--json", "--socket", path)
    assert done.returncode == NO_SERVICE
    assert json.loads(done.stdout) == {"running": False, "socket": str(path)}


def test_stats(path):
    lines = says(path, "stats").splitlines()
    table = [re.split(r"  +", line) for line in lines[:3]]
    assert table[0] == ["KIND", "DONE", "NOT DONE", "BATCHES", "IN A BATCH", "IN THE QUEUE", "ON THE DEVICE",
                        "IN ALL"]
    assert table[1] == ["rsa-2048-private", "100", "3", "7", "8 / 16", "556 us / 1.9 ms",
                        "1.53 ms / > 2 ms", "1.5 ms / 1.99 ms"]
    assert table[2] == ["rsa-2048-generate", "0", "0", "0", "-", "-", "-", "-"]
    assert lines[4:] == ["rsa-2048-private: 2 left to the client's CPU: busy",
                         "rsa-2048-private: 1 left to the client's CPU: no_device"]
    assert says(path, "stats", kinds=[]) == "No operation has come yet.\n"
    assert json.loads(says(path, "stats", "--json")) == state()


def test_metrics(path):
    families = open_metrics.parse(says(path, "metrics"))
    assert all(name.startswith("lanecrypt_") for name in families)

    def value(family, suffix="", **labels):
        return families[family].value(suffix, **labels)

    assert value("lanecrypt_service_up") == 1
    assert value("lanecrypt_service_info", version="0.1.0") == 1
    assert value("lanecrypt_service_uptime_seconds") == 3725.5
    assert families["lanecrypt_service_uptime_seconds"].unit == "seconds"
    assert value("lanecrypt_clients") == 2 and value("lanecrypt_clients_connected", "_total") == 10
    assert value("lanecrypt_clients_refused", "_total") == 3
    assert value("lanecrypt_keys") == 5 and value("lanecrypt_channels") == 128
    assert value("lanecrypt_operations_waiting") == 6 and value("lanecrypt_operations_under_way") == 9
    kind = {"kind": "rsa-2048-private"}
    assert value("lanecrypt_operations", "_total", **kind, outcome="done") == 100
    assert value("lanecrypt_operations", "_total", **kind, outcome="busy") == 2
    assert value("lanecrypt_batches", "_total", **kind) == 7
    assert value("lanecrypt_batch_operations", "_bucket", **kind, le="8.0") == 50
    assert value("lanecrypt_device_seconds", "_bucket", **kind, le="0.002") == 95
    assert value("lanecrypt_device_seconds", "_bucket", **kind, le="+Inf") == 100
    assert value("lanecrypt_service_seconds", "_sum", **kind) == 0.15
    assert value("lanecrypt_queue_seconds", "_count", kind="rsa-2048-generate") == 0
    card = {"device": "cuda:0"}
    assert value("lanecrypt_device_ready", **card, name="A card") == 1
    assert value("lanecrypt_device_memory_bytes", **card) == 150 << 30
    assert value("lanecrypt_device_memory_used_bytes", **card) == 3 << 29
    assert value("lanecrypt_device_temperature_celsius", **card) == 40
    assert value("lanecrypt_device_launches", "_total", **card) == 7
    assert value("lanecrypt_user_operations", uid="0") == 15


def test_metrics_of_what_is_not_known(path):
    device = {**state()["devices"][0], "name": 'a "b" \\ c\n\x1b[2J', "state": "unusable",
              "memory_used_bytes": None, "temperature_celsius": None}
    whole = state(devices=[device])
    del whole["users"]
    families = open_metrics.parse(says(path, "metrics", whole=whole))
    assert families["lanecrypt_device_ready"].value(device="cuda:0", name='a "b" \\ c\\n\\033[2J') == 0
    assert families["lanecrypt_device_memory_used_bytes"].samples == {}
    assert families["lanecrypt_user_clients"].samples == {}


def test_metrics_where_no_service_is(path):
    done = ok("service", "metrics", "--socket", path)
    families = open_metrics.parse(done.stdout.decode())
    assert list(families) == ["lanecrypt_service_up"]
    assert families["lanecrypt_service_up"].value() == 0
    assert f"no service listens at {path}" in done.stderr.decode()


# ---- No service --------------------------------------------------------------


@pytest.mark.parametrize("question", QUESTIONS[:2])
def test_no_service(path, question):
    fails(NO_SERVICE, f"no service listens at {path}", "service", question, "--socket", path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left_behind:
        left_behind.bind(str(path))
    fails(NO_SERVICE, f"no service listens at {path}", "service", question, "--socket", path)


def test_the_usual_sockets(tmp_path):
    if os.path.exists("/run/lanecrypt/socket"):
        pytest.skip("this machine has a service")
    runtime = {"XDG_RUNTIME_DIR": str(tmp_path)}
    fails(NO_SERVICE, "no service listens at /run/lanecrypt/socket", "service", "status", env=runtime)
    (tmp_path / "lanecrypt").mkdir()
    own = tmp_path / "lanecrypt" / "socket"
    with StandIn(own, statistics=pieces(text_of(state()))):
        assert f"at {own}\n".encode() in ok("service", "status", env=runtime).stdout


def test_the_command_line(path):
    fails(USAGE, "unknown question 'restart'", "service", "restart")
    done = lanecrypt("service")
    assert done.returncode == USAGE and b"status" in done.stderr
    assert b"metrics" in ok("service", "--help").stdout
    fails(USAGE, "--nonsense", "service", "status", "--nonsense")
    fails(USAGE, "--json", "service", "metrics", "--json")
    fails(USAGE, "empty name", "service", "status", "--socket", "")
    fails(USAGE, "--socket needs a value", "service", "status", "--socket")
    fails(USAGE, "is too long", "service", "status", "--socket", "/" + 107 * "x")


# ---- A service that does not keep to the protocol ------------------------------

WHOLE = text_of(state())
NOT_THE_PROTOCOL = "does not keep to the protocol"
ENDED = "ended the conversation"
ENDED_AT_ONCE = ENDED + ": it may have another version than this command"
HOSTILE = {
    "another version": ([packet(WELCOME, bytes(8), version=VERSION + 1)], [], ENDED_AT_ONCE),
    "a length that lies": ([packet(WELCOME, bytes(8), length=17)], [], ENDED_AT_ONCE),
    "half a header": ([b"\x10"], [], ENDED_AT_ONCE),
    "a packet too long": ([packet(WELCOME, bytes(17000))], [], ENDED_AT_ONCE),
    "a welcome too short": ([packet(WELCOME)], [], NOT_THE_PROTOCOL),
    "a text instead of a welcome": ([piece(b"{}", 1)], [], NOT_THE_PROTOCOL),
    "a welcome instead of a text": (None, [welcome()], NOT_THE_PROTOCOL),
    "an end amid the text": (None, [piece(WHOLE[:100], 0), b""], ENDED),
    "a piece that lies about its length":
        (None, [packet(TEXT, struct.pack("=II", 1, 5) + b"{}")], NOT_THE_PROTOCOL),
    "a mark that is none": (None, [packet(TEXT, struct.pack("=II", 2, 2) + b"{}")], NOT_THE_PROTOCOL),
    "empty pieces for ever": (None, 1000 * [piece(b"", 0)], NOT_THE_PROTOCOL),
    "a text without end": (None, 300 * [piece(16000 * b"x", 0)], "says too much"),
    "nothing": (None, [piece(b"", 1)], "a form that is not known"),
    "no JSON": (None, [piece(b"{", 1)], "a form that is not known"),
    "no object": (None, [piece(b"[]", 1)], "a form that is not known"),
    "no UTF-8": (None, pieces(WHOLE.replace(b"A card", b"\xff card")), "a form that is not known"),
    "too many levels": (None, pieces(b'{"version":' + 100000 * b"["), "a form that is not known"),
    "levels that end": (None, pieces(b'{"version":' + 50000 * b"[" + 50000 * b"]" + b"}"),
                        "a form that is not known"),
    "no access": ([refused(7)], [], "does not let this user in"),
    "no room": ([refused(4)], [], "has too many clients"),
    "no answer": (None, [refused(6)], "refused to answer"),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("what", HOSTILE)
def test_a_service_that_is_wrong(path, what, question):
    hello, statistics, said = HOSTILE[what]
    with StandIn(path, hello=hello, statistics=statistics):
        done = fails(FAILED, said, "service", question, "--socket", path, timeout=60)
    assert done.stdout == b""


def changed(*keys, to):
    """Returns the state with one value changed, or removed."""
    whole = json.loads(WHOLE)
    place = whole
    for key in keys[:-1]:
        place = place[key]
    if to is None:
        del place[keys[-1]]
    else:
        place[keys[-1]] = to
    return whole


WRONG = {
    "no version": changed("version", to=None),
    "a count below 0": changed("clients", to=-1),
    "a count that is none": changed("clients", to=1.5),
    "a count too large": changed("clients", to=1 << 65),
    "a text for a count": changed("keys", to="5"),
    "a time below 0": changed("uptime_seconds", to=-0.5),
    "no list": changed("kinds", to={}),
    "a kind that is none": changed("kinds", 0, to=7),
    "a kind with another name": changed("kinds", 0, "kind", to='x"} 1\n'),
    "an outcome with another name": changed("kinds", 0, "outcomes", to={"a\x1b[2J": 1}),
    "an outcome that is no count": changed("kinds", 0, "outcomes", "busy", to="many"),
    "no histogram": changed("kinds", 0, "queue_seconds", to=[]),
    "bounds that fall": changed("kinds", 0, "queue_seconds", "buckets", 1, "le", to=0.0005),
    "counts that fall": changed("kinds", 0, "queue_seconds", "buckets", 1, "count", to=1),
    "more in the buckets than in all": changed("kinds", 0, "queue_seconds", "count", to=99),
    "a device without a name": changed("devices", 0, "name", to=None),
    "a temperature that is none": changed("devices", 0, "temperature_celsius", to="hot"),
    "a user that is none": changed("users", 0, "uid", to=-5),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_text_that_is_wrong(path, what):
    for question in QUESTIONS:
        with StandIn(path, statistics=pieces(text_of(WRONG[what]))):
            done = fails(FAILED, "the service's answer has ", "service", question, "--socket", path)
        assert done.stdout == b"" and b"\x1b" not in done.stderr


def test_what_would_command_a_terminal_is_not_printed(path):
    device = {**state()["devices"][0], "name": "\x1b]0;x\x07", "reason": "\x9b2J\r\n\x7f"}
    told = says(path, "status", devices=[device])
    assert r"cuda:0, \033]0;x\007: ready" in told and "            \\302\\2332J\\r\\n\\177\n" in told


SILENT = {
    "it accepts nobody": dict(accepts=False),
    "it says nothing": dict(hello=[None]),
    "it answers nothing": dict(statistics=[None]),
    "it takes its time": dict(statistics=[piece(b"x", 0), 1] * 60),
}


@pytest.mark.parametrize("what", SILENT)
def test_a_service_that_is_silent(path, what):
    """The command gives up after five seconds, a limit for all answers together."""
    with StandIn(path, **SILENT[what]):
        started = time.monotonic()
        fails(FAILED, "did not answer within 5 seconds", "service", "status", "--socket", path)
        assert 4.5 < time.monotonic() - started < 30


# ---- The service itself ----------------------------------------------------------


@contextlib.contextmanager
def running(*command, **options):
    """A process that must end normally when it is told to."""
    with subprocess.Popen([str(word) for word in command], env=environment("host"),
                          stderr=subprocess.PIPE, **options) as process:
        try:
            yield process
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.fixture
def service(tmp_path):
    """The real service on the emulator. Yields its socket's path."""
    reading, writing = os.pipe()
    path = tmp_path / "socket"
    with running(BUILD / "bin" / "lanecryptd", "--socket", path, "--ready-fd", writing, pass_fds=[writing]):
        os.close(writing)
        assert os.read(reading, 16) == b"ready\n"
        os.close(reading)
        yield path


def sign(tmp_path, path, count):
    """Signs until the service at this path has done `count` signatures. On a busy machine the
    service may not answer in time, and the program then signs itself."""
    openssl("genrsa", "-out", tmp_path / "key.pem", "2048")
    configuration = Configuration(tmp_path, BUILD.resolve(), service=path, in_process=None, rsa="always")
    for _ in range(20):
        configuration.run("openssl", "dgst", "-sha256", "-sign", tmp_path / "key.pem", "-out", os.devnull,
                          LANECRYPT)
        if configuration.counters()["rsa_device_jobs"] == count:
            return
    raise AssertionError(configuration.counters())


def test_the_real_service(service, tmp_path):
    sign(tmp_path, service, 3)
    status = json.loads(ok("service", "status", "--json", "--socket", service).stdout)
    assert status["running"] and status["clients"] == 1 and status["clients_total"] >= 4
    assert [device["id"] for device in status["devices"]] == ["host:0"]
    (kind,) = json.loads(ok("service", "stats", "--json", "--socket", service).stdout)["kinds"]
    done, others = kind["done"], sum(kind["outcomes"].values())
    assert kind["kind"] == "rsa-2048-private" and done >= 3
    text = ok("service", "status", "--socket", service).stdout.decode()
    assert f"process {status['pid']}, at {service}" in text and "host:0" in text and ": ready; " in text
    assert f"operations: {done} done, {others} left to clients' CPUs; 0 waiting, 0 under way" in text
    table = ok("service", "stats", "--socket", service).stdout.decode()
    assert re.search(rf"^rsa-2048-private +{done} +{others} ", table, re.M)
    families = open_metrics.parse(ok("service", "metrics", "--socket", service).stdout.decode())
    labels = {"kind": "rsa-2048-private"}
    assert families["lanecrypt_operations"].value("_total", **labels, outcome="done") == done
    for name in ("batch_operations", "queue_seconds", "device_seconds", "service_seconds"):
        assert done <= families[f"lanecrypt_{name}"].value("_count", **labels) <= done + others, name
    assert families["lanecrypt_service_seconds"].value("_sum", **labels) > 0
    assert families["lanecrypt_device_operations"].value("_total", device="host:0") >= 3
    assert families["lanecrypt_user_clients"].value(uid=str(os.geteuid())) == 1


def test_every_metric_is_told(service, repository):
    told = (repository / "docs" / "operate.md").read_text()
    for family in open_metrics.parse(ok("service", "metrics", "--socket", service).stdout.decode()).values():
        name = family.name + ("_total" if family.type == "counter" else "")
        assert re.search(rf"`{name}[`{{]", told), name


def test_another_user_is_not_let_in(service):
    """Another user gets no statistics either."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    os.chmod(service, 0o666)
    for folder in service.parents:
        os.chmod(folder, os.stat(folder).st_mode | 0o011)
    done = subprocess.run([LANECRYPT, "service", "status", "--socket", service], user=65534, group=65534,
                          extra_groups=[], env=environment(None), capture_output=True, timeout=60, check=False)
    assert done.returncode == FAILED and done.stdout == b""
    assert b"does not let this user in (members of its group may connect)" in done.stderr
    os.chmod(service, 0o600)
    done = subprocess.run([LANECRYPT, "service", "status", "--socket", service], user=65534, group=65534,
                          extra_groups=[], env=environment(None), capture_output=True, timeout=60, check=False)
    assert done.returncode == FAILED and b"does not let this user in" in done.stderr


def test_a_socket_of_systemds(tmp_path):
    """The first client starts the service, and no client is refused meanwhile."""
    if shutil.which("systemd-socket-activate") is None:
        pytest.skip("there is no systemd-socket-activate")
    path = tmp_path / "socket"
    with running("systemd-socket-activate", "--seqpacket", "-l", path, "-E", "LANECRYPT_DEVICES=host",
                 BUILD / "bin" / "lanecryptd", "--socket", path) as process:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.02)
        # The first answer may come before the device is open.
        end = time.monotonic() + 120
        while lanecrypt("service", "status", "--socket", path).returncode != 0:
            assert time.monotonic() < end
            time.sleep(0.02)
        sign(tmp_path, path, 2)
        status = json.loads(ok("service", "status", "--json", "--socket", path).stdout)
        assert status["pid"] == process.pid  # the process has become the service
    assert path.exists()  # it belongs to systemd
