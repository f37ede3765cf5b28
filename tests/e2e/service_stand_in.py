# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the service lanecryptd, which sends what a test specifies."""

import fcntl
import json
import os
import socket
import struct
import threading

VERSION = 3
HELLO, STATISTICS, WELCOME, TEXT, REFUSED = 1, 5, 16, 18, 19
OPEN_CHANNELS, CHANNELS, SLH_DSA_SIGN, RESULT = 2, 17, 35, 48
PAGE_MAGIC, PAGE_VERSION, PAGE_BYTES = 0x4750434c, 3, 4096


def packet(kind, body=b"", version=VERSION, length=None):
    """Returns a packet in the format of service/wire/messages.h."""
    return struct.pack("=HHI", kind, version, 8 + len(body) if length is None else length) + body


def welcome():
    return packet(WELCOME, struct.pack("=II", 128, 128))


def piece(text, is_last):
    return packet(TEXT, struct.pack("=II", is_last, len(text)) + text)


def refused(outcome):
    return packet(REFUSED, struct.pack("=II", outcome, 0))


def pieces(text, size=16000):
    """Returns the packets of a whole text."""
    cut = [text[at:at + size] for at in range(0, len(text), size)]
    return [piece(part, n + 1 == len(cut)) for n, part in enumerate(cut)]


class StandIn:
    """Listens at a socket. It answers kHello with `hello` and kStatistics with `statistics`,
    which are lists of packets. None in a list: it sends nothing more and waits. A number: it
    sleeps that many seconds before it continues."""

    def __init__(self, path, hello=None, statistics=(), accepts=True, backlog=16):
        self.path, self.asked = path, []
        self.hello = [welcome()] if hello is None else hello
        self.statistics = statistics
        self.ended = threading.Event()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(str(path))
        self.socket.listen(backlog)
        self.thread = threading.Thread(target=self.serve if accepts else self.ended.wait, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(30)
        os.unlink(self.path)

    def serve(self):
        while not self.ended.is_set():
            try:
                client = self.socket.accept()[0]
            except OSError:
                return
            with client:
                try:
                    self.talk(client)
                except OSError:
                    pass  # the client has gone

    def talk(self, client):
        for expected, answers in ((HELLO, self.hello), (STATISTICS, self.statistics)):
            asked = client.recv(1 << 16)
            if not asked:
                return
            self.asked.append(asked)
            assert asked == packet(expected)
            for answer in answers:
                if answer is None:
                    self.ended.wait(60)
                elif isinstance(answer, (int, float)):
                    self.ended.wait(answer)
                else:
                    client.sendall(answer)
        client.recv(1 << 16)  # until the client closes


class WrongSigner(StandIn):
    """Signs with SLH-DSA for one client after another. None of its signatures is valid."""

    def __init__(self, path, signature_bytes):
        self.signature, self.signed = b"\7" * signature_bytes, 0
        super().__init__(path)

    def talk(self, client):
        assert client.recv(1 << 16) == packet(HELLO)
        page = os.memfd_create("page", os.MFD_ALLOW_SEALING)
        os.write(page, struct.pack("=II", PAGE_MAGIC, PAGE_VERSION).ljust(PAGE_BYTES, b"\0"))
        fcntl.fcntl(page, 1033, 2)  # F_ADD_SEALS, F_SEAL_SHRINK
        socket.send_fds(client, [welcome()], [page])
        os.close(page)
        while asked := client.recv(1 << 16):
            if asked[0] != OPEN_CHANNELS:
                continue
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            socket.send_fds(client, [packet(CHANNELS, struct.pack("=II", 1, 0))], [theirs.fileno()])
            theirs.close()
            threading.Thread(target=self.sign, args=[ours], daemon=True).start()

    def sign(self, channel):
        with channel:
            while asked := channel.recv(1 << 16):
                assert asked[0] == SLH_DSA_SIGN
                self.signed += 1
                channel.send(packet(RESULT, struct.pack("=II", 0, len(self.signature)) + self.signature))


def histogram(bounds, counts, beyond=0, total=1.0):
    """Returns a histogram like the service's. `counts` are those of each bucket alone, not
    cumulative."""
    sums = [sum(counts[:n + 1]) for n in range(len(counts))]
    return {"count": sum(counts) + beyond, "sum": total,
            "buckets": [{"le": bound, "count": count} for bound, count in zip(bounds, sums)]}


def state(**changes):
    """Returns statistics that a service could send."""
    none = histogram([], [])
    kind = {"kind": "rsa-2048-private", "done": 100,
            "outcomes": {"bad_input": 0, "busy": 2, "no_device": 1, "failed": 0, "bad_key": 0,
                         "unknown_key": 0},
            "batches": 7.0, "batch_operations": histogram([1, 2, 4, 8, 16], [0, 0, 0, 50, 50], 0, 1200),
            "queue_seconds": histogram([0.001, 0.002], [90, 10], 0, 0.06),
            "device_seconds": histogram([0.001, 0.002], [0, 95], 5, 0.2),
            "service_seconds": histogram([0.001, 0.002], [0, 100], 0, 0.15)}
    device = {"id": "cuda:0", "name": "A card", "state": "ready", "rsa_state": "ready", "reason": "",
              "memory_bytes": 150 << 30, "memory_used_bytes": 3 << 29, "temperature_celsius": 40,
              "launches": 7, "failures": 0, "operations": 100}
    whole = {"version": "0.1.0", "pid": 4711, "uptime_seconds": 3725.5, "clients": 2, "clients_total": 10,
             "clients_refused_total": 3, "keys": 5, "channels": 128, "operations_waiting": 6,
             "operations_under_way": 9,
             "kinds": [kind, {**kind, "kind": "rsa-2048-generate", "done": 0, "batches": 0,
                              "outcomes": {}, "batch_operations": none, "queue_seconds": none,
                              "device_seconds": none, "service_seconds": none}],
             "devices": [device],
             "users": [{"uid": 0, "clients": 2, "channels": 128, "keys": 5, "operations": 15}]}
    whole.update(changes)
    return whole


def text_of(whole):
    return json.dumps(whole).encode()
