# SPDX-License-Identifier: Apache-2.0
"""`lanecryptd` as a program: its options, its exit codes, and who may connect."""

import contextlib
import grp
import json
import mmap
import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import time

import pytest

from cli_fixtures import BUILD, environment

DAEMON = BUILD / "bin" / "lanecryptd"
FAILED, USAGE = 1, 2
VERSION, HELLO, STATISTICS, WELCOME, TEXT = 3, 1, 5, 16, 18
NOT_ALLOWED = 7
NOBODY = 65534


def run(*arguments, **options):
    """Runs the program, which is expected to end by itself."""
    return subprocess.run([DAEMON, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env=environment(None), **options)


@pytest.fixture
def folder():
    """A folder with a short path, since the path of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="lanecryptd-") as name:
        yield pathlib.Path(name)


@contextlib.contextmanager
def service(path, *arguments, devices="host", is_ready=True, **options):
    """A running service. Checks that it ends as it should."""
    reads, writes = os.pipe()
    started = subprocess.Popen([DAEMON, "--socket", path, "--devices", devices, "--ready-fd", str(writes), *arguments],
                               stderr=subprocess.PIPE, text=True, env=environment(None),
                               pass_fds=[writes, *options.pop("pass_fds", ())], **options)
    os.close(writes)
    try:
        if is_ready:
            assert os.read(reads, 100) == b"ready\n", started.stderr.read()
            assert os.read(reads, 100) == b"", "it keeps the descriptor"
        yield started
        if started.poll() is None:
            started.send_signal(signal.SIGTERM)
        assert started.wait(timeout=60) == 0, started.stderr.read()
    finally:
        started.kill()
        started.wait()
        os.close(reads)


def packet(kind, body=b""):
    return struct.pack("=HHI", kind, VERSION, 8 + len(body)) + body


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(60)
        self.socket.connect(str(path))

    def hello(self):
        """Returns the kind of the answer, what follows its header, and the descriptors."""
        with contextlib.suppress(BrokenPipeError):
            self.socket.send(packet(HELLO))
        data, descriptors, _, _ = socket.recv_fds(self.socket, 16384, 32)
        return struct.unpack("=H", data[:2])[0], data[8:], descriptors

    def statistics(self):
        self.socket.send(packet(STATISTICS))
        text = b""
        while True:
            data = self.socket.recv(16384)
            kind, _, size, is_last, length = struct.unpack("=HHIII", data[:16])
            assert kind == TEXT and size == len(data) and length == len(data) - 16
            text += data[16:]
            if is_last:
                return json.loads(text)


# ---- Options ----------------------------------------------------------------


def test_help_and_version():
    told = run("--help")
    assert told.returncode == 0 and told.stderr == ""
    for option in ("--socket", "--group", "--devices", "--verify", "--ready-fd", "--until-closed", "--version"):
        assert option in told.stdout
    told = run("--version")
    assert told.returncode == 0 and told.stdout.startswith("lanecryptd 0.")


@pytest.mark.parametrize("arguments, text", [
    (["--nothing"], "--nothing"),
    (["a word"], "a word"),
    (["--verify", "some"], "--verify"),
    (["--ready-fd", "x"], "--ready-fd"),
    (["--ready-fd", "1"], "--ready-fd"),
    (["--ready-fd", "977"], "descriptor 977 is not open"),
    (["--until-closed", "977"], "descriptor 977 is not open"),
    (["--group", "no such group"], "there is no group 'no such group'"),
])
def test_wrong_usage(folder, arguments, text):
    told = run("--socket", folder / "socket", *arguments)
    assert told.returncode == USAGE and told.stdout == ""
    assert text in told.stderr and told.stderr.startswith("lanecryptd: ")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("devices", ["cuda:x", "vulkan", "host,,host"])
def test_a_malformed_list_of_devices(folder, devices):
    told = run("--socket", folder / "socket", "--devices", devices)
    assert told.returncode == USAGE and told.stderr.startswith("lanecryptd: ")
    assert list(folder.iterdir()) == []


def test_paths_that_cannot_be(folder):
    for path in (folder / "none" / "socket", folder / "\033[2J" / "socket", folder / ("x" * 120), ""):
        told = run("--socket", path, "--devices", "none")
        assert told.returncode == FAILED and told.stderr.startswith("lanecryptd: ")
        assert "\033" not in told.stderr
    (folder / "file").write_text("mine")
    told = run("--socket", folder / "file", "--devices", "none")
    assert told.returncode == FAILED and "no socket" in told.stderr
    assert (folder / "file").read_text() == "mine"


def test_a_device_that_is_not_here(folder):
    """The service continues for later: its clients use their own cores."""
    with service(folder / "socket", devices="host:9") as running:
        kind, _, _ = Client(folder / "socket").hello()
        assert kind == WELCOME
        assert running.poll() is None
    assert "host:9" in running.stderr.read()


def test_each_line_of_its_log_says_whose_it_is(folder):
    with service(folder / "socket") as running:
        pass
    lines = running.stderr.read().splitlines()
    assert lines[0] == f"lanecryptd: listens on {folder}/socket"
    assert any("host:0" in line and "is ready" in line for line in lines)
    assert all(line.startswith("lanecryptd: ") for line in lines)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it(folder, number):
    with service(folder / "socket") as running:
        assert sorted(path.name for path in folder.iterdir()) == ["socket", "socket.lock"]
        running.send_signal(number)
        assert running.wait(timeout=60) == 0
    assert list(folder.iterdir()) == []


def test_it_ends_with_its_starter(folder):
    reads, writes = os.pipe()
    with service(folder / "socket", "--until-closed", str(reads), pass_fds=[reads]) as running:
        os.close(reads)
        os.write(writes, b"nothing")
        time.sleep(0.2)
        assert running.poll() is None
        os.close(writes)
        assert running.wait(timeout=60) == 0


def test_closed_standard_descriptors_do_no_harm(folder):
    path = folder / "socket"
    started = subprocess.Popen(["sh", "-c", f"exec {DAEMON} --socket {path} --devices none <&- >&- 2>&-"],
                               env=environment(None))
    try:
        end = time.monotonic() + 60
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert Client(path).hello()[0] == WELCOME
        started.terminate()
        assert started.wait(timeout=60) == 0
    finally:
        started.kill()


# ---- What a client gets -----------------------------------------------------


def test_the_report_has_every_field(folder):
    with service(folder / "socket") as running:
        client = Client(folder / "socket")
        assert client.hello()[0] == WELCOME
        told = client.statistics()
        assert told["version"] and told["pid"] == running.pid and told["uptime_seconds"] > 0
        numbers = {"clients": 1, "clients_total": 1, "clients_refused_total": 0, "keys": 0, "channels": 0,
                   "operations_waiting": 0, "operations_under_way": 0}
        assert {name: told[name] for name in numbers} == numbers
        assert told["kinds"] == []
        device, = told["devices"]
        assert device["id"] == "host:0" and device["rsa_state"] == "ready" and device["reason"] == ""
        assert device["operations"] > 0 and device["launches"] > 0 and device["failures"] == 0
        assert device["temperature_celsius"] is None and device["memory_used_bytes"] is None
        assert {"name", "state", "memory_bytes"} <= device.keys()
        assert told["users"] == [{"uid": os.geteuid(), "clients": 1, "channels": 0, "keys": 0, "operations": 0}]


def test_the_page_cannot_be_written(folder):
    with service(folder / "socket", devices="none"):
        kind, _, descriptors = Client(folder / "socket").hello()
        assert kind == WELCOME and len(descriptors) == 1
        page = mmap.mmap(descriptors[0], 4096, mmap.MAP_SHARED, mmap.PROT_READ)
        assert struct.unpack("=I", page[:4])[0] == 0x4750434C
        with pytest.raises(PermissionError):
            mmap.mmap(descriptors[0], 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        with pytest.raises(PermissionError):
            os.pwrite(descriptors[0], b"x", 0)
        with pytest.raises(PermissionError):
            os.ftruncate(descriptors[0], 0)
        # It cannot be written through the file system either.
        with pytest.raises(PermissionError):
            again = os.open(f"/proc/self/fd/{descriptors[0]}", os.O_RDWR)
            mmap.mmap(again, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)


# ---- Who may connect --------------------------------------------------------

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")

ASK = """
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(60)
try:
    s.connect(sys.argv[1])
except PermissionError:
    print("no permission")
    sys.exit()
try:
    s.send(struct.pack("=HHI", 1, 3, 8))
except BrokenPipeError:
    pass
kind, _, _, outcome = struct.unpack("=HHII", s.recv(16384)[:12])
print("welcome" if kind == 16 else f"refused {outcome}")
if kind == 16:
    s.send(struct.pack("=HHI", 5, 3, 8))
    print("users" if b'"users"' in s.recv(16384) else "no users")
"""


def ask_as(user, path, group=NOBODY, groups=""):
    """Returns what a process of that user receives."""
    words = ["setpriv", f"--reuid={user}", f"--regid={group}", f"--groups={groups}" if groups else "--clear-groups"]
    done = subprocess.run([*words, "/usr/bin/python3", "-c", ASK, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


@needs_root
def test_the_sockets_mode(folder):
    with service(folder / "socket", devices="none"):
        mode = (folder / "socket").stat()
        groups = [group.gr_gid for group in grp.getgrall() if group.gr_name == "lanecrypt"]
        assert stat.S_IMODE(mode.st_mode) == (0o660 if groups else 0o600)
    group = grp.getgrgid(NOBODY).gr_name
    with service(folder / "socket", "--group", group, devices="none"):
        mode = (folder / "socket").stat()
        assert stat.S_IMODE(mode.st_mode) == 0o660 and mode.st_gid == NOBODY and mode.st_uid == 0


@needs_root
def test_another_user_is_not_admitted(folder):
    folder.chmod(0o755)
    with service(folder / "socket", devices="none") as started:
        assert ask_as(NOBODY, folder / "socket") == ["no permission"]
        # Even if the file's mode allows access, the peer's credentials count.
        (folder / "socket").chmod(0o666)
        assert ask_as(NOBODY, folder / "socket") == [f"refused {NOT_ALLOWED}"]
        assert ask_as(0, folder / "socket") == ["welcome", "users"]
        client = Client(folder / "socket")
        client.hello()
        assert client.statistics()["clients_refused_total"] == 1
        started.terminate()
        said = started.communicate(timeout=60)[1]
    assert f"turned away: user {NOBODY} may not connect\n" in said


@needs_root
def test_a_member_of_the_group_is_admitted(folder):
    folder.chmod(0o755)
    group = grp.getgrgid(NOBODY).gr_name
    with service(folder / "socket", "--group", group, devices="none"):
        assert ask_as(4711, folder / "socket", group=NOBODY) == ["welcome", "no users"]
        assert ask_as(4711, folder / "socket", group=4712, groups=f"4713,{NOBODY}") == ["welcome", "no users"]
        assert ask_as(4711, folder / "socket", group=4712, groups="4713") == ["no permission"]


@needs_root
def test_a_service_of_an_ordinary_user(folder):
    """The service serves its own user and root, and no process may trace it."""
    os.chown(folder, NOBODY, NOBODY)
    with service(folder / "socket", devices="none", user=NOBODY, group=NOBODY, extra_groups=[]) as running:
        assert ask_as(NOBODY, folder / "socket") == ["welcome", "users"]
        assert ask_as(0, folder / "socket") == ["welcome", "users"]
        folder.chmod(0o755)
        (folder / "socket").chmod(0o666)
        assert ask_as(4711, folder / "socket", group=4712) == [f"refused {NOT_ALLOWED}"]
        memory = f"/proc/{running.pid}/mem"
        told = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                               "cat", memory], capture_output=True, timeout=60)
        assert told.returncode != 0 and b"Permission denied" in told.stderr


@needs_root
def test_a_folder_of_others(folder):
    os.chown(folder, NOBODY, NOBODY)
    folder.chmod(0o755)
    told = subprocess.run(["setpriv", "--reuid=4711", "--regid=4712", "--clear-groups", DAEMON, "--socket",
                           folder / "socket", "--devices", "none"], capture_output=True, text=True, timeout=60,
                          env=environment(None))
    assert told.returncode == FAILED and "belongs to another user" in told.stderr


def test_a_second_service_leaves_the_first(folder):
    with service(folder / "socket", devices="none"):
        told = run("--socket", folder / "socket", "--devices", "none")
        assert told.returncode == FAILED and "another lanecryptd listens there" in told.stderr
        assert Client(folder / "socket").hello()[0] == WELCOME


def test_after_kill_the_next_one_takes_the_socket(folder):
    path = folder / "socket"
    started = subprocess.Popen([DAEMON, "--socket", path, "--devices", "none"], env=environment(None))
    while not path.exists():
        time.sleep(0.01)
    started.kill()
    started.wait()
    assert path.exists()
    with service(path, devices="none"):
        assert Client(path).hello()[0] == WELCOME
