# SPDX-License-Identifier: Apache-2.0
"""Runs a private lanecryptd: its start, its end, its counters, and the openssl.cnf of its
clients."""

import array
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from whole_programs import CONFIG, ROOT  # noqa: E402,F401

# From service/wire/messages.h.
VERSION = 3
HELLO, STATISTICS, WELCOME, TEXT = 1, 5, 16, 18
MOST_PACKET_BYTES = 16384
HEADER = struct.Struct("=HHI")
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds_of(pids):
    """Returns the CPU time that these processes have used."""
    spent = 0
    for pid in pids:
        try:
            text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:
            continue
        fields = text.rpartition(")")[2].split()
        spent += int(fields[11]) + int(fields[12])
    return spent / TICKS


def configuration(path, module, settings):
    """Writes the openssl.cnf of a client with these settings. Returns the environment that names
    it."""
    lines = "\n".join(f"{name} = {value}" for name, value in settings.items())
    path.write_text(CONFIG.format(module=module, settings=lines), encoding="utf-8")
    return {"OPENSSL_CONF": str(path)}


class Service:
    """A `lanecryptd` that the caller starts, kills and starts again. Its log is in `folder`."""

    def __init__(self, build, folder, devices, verify="sampled", environment=None, words=()):
        self.socket = folder / "socket"
        self.log = folder / "lanecryptd.log"
        self.command = [*words, str(build / "bin" / "lanecryptd"), "--socket", str(self.socket),
                        "--devices", devices, "--verify", verify]
        self.environment = {**os.environ, "OPENSSL_CONF": os.devnull, **(environment or {})}
        self.process = None

    def start(self, wait=True, timeout=60):
        """Starts the service. With `wait`, returns when it listens and has opened its devices."""
        ours, theirs = os.pipe()
        try:
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(
                    [*self.command, "--ready-fd", str(theirs)], pass_fds=[theirs], stdout=log,
                    stderr=log, stdin=subprocess.DEVNULL, env=self.environment,
                    start_new_session=True)
            os.close(theirs)
            theirs = None
            if wait:
                self.wait_until_ready(ours, timeout)
        finally:
            os.close(ours)
            if theirs is not None:
                os.close(theirs)

    def wait_until_ready(self, pipe, timeout):
        os.set_blocking(pipe, False)
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            try:
                said = os.read(pipe, 64)
            except BlockingIOError:
                time.sleep(0.002)
                continue
            if said:
                return
            break
        self.kill()
        raise RuntimeError(f"lanecryptd did not become ready: {self.tail_of_log()}")

    def tail_of_log(self):
        return self.log.read_text(encoding="utf-8", errors="replace")[-2000:]

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self, timeout=30):
        """Ends the service as systemd does. Raises an error if it does not exit with status 0."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"lanecryptd does not end: {self.tail_of_log()}") from None
        if status != 0:
            raise RuntimeError(f"lanecryptd ended with {status}: {self.tail_of_log()}")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            if kind is None:
                self.end()
            else:
                self.kill()

    def cpu_seconds(self):
        return cpu_seconds_of([self.process.pid])

    def open_files(self):
        """Returns how many files the service has open, or 0 if only root may know."""
        try:
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except PermissionError:
            return 0

    def statistics(self, timeout=10):
        """Returns the service's counters, queried by its own protocol."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as control:
            control.settimeout(timeout)
            control.connect(str(self.socket))
            control.send(HEADER.pack(HELLO, VERSION, HEADER.size))
            receive(control, WELCOME)
            control.send(HEADER.pack(STATISTICS, VERSION, HEADER.size))
            text = b""
            while True:
                packet = receive(control, TEXT)
                is_last, size = struct.unpack_from("=II", packet, HEADER.size)
                text += packet[HEADER.size + 8:HEADER.size + 8 + size]
                if is_last:
                    return json.loads(text)

    def done(self):
        """Returns how many private RSA operations the service has done."""
        return sum(kind["done"] for kind in self.statistics()["kinds"]
                   if kind["kind"].endswith("-private"))


def receive(control, kind):
    """Receives a packet of this kind. Closes descriptors that come with it."""
    packet, ancillary, _, _ = control.recvmsg(MOST_PACKET_BYTES, socket.CMSG_SPACE(4 * 64))
    for level, what, data in ancillary:
        if (level, what) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors = array.array("i")
            descriptors.frombytes(data[:len(data) - len(data) % descriptors.itemsize])
            for descriptor in descriptors:
                os.close(descriptor)
    if len(packet) < HEADER.size or HEADER.unpack_from(packet)[0] != kind:
        raise RuntimeError(f"the service answered {packet[:16].hex() or 'nothing'}, not {kind}")
    return packet


def difference(before, after):
    """Returns how many private and signing operations, and batches of them, a service did between
    two statistics."""
    def sums(told):
        kinds = [kind for kind in told["kinds"] if kind["kind"].endswith(("-private", "-sign"))]
        return (sum(kind["done"] for kind in kinds), sum(kind["batches"] for kind in kinds))
    return tuple(b - a for a, b in zip(sums(before), sums(after)))
