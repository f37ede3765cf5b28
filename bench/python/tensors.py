#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the Python package on tensors of PyTorch on a CUDA device.

Compares it with encrypt_into of pyca/cryptography on the same host. Prints a table, and writes
JSON in the format of bench/results.

Usage: PYTHONPATH=build/python/site python3 bench/python/tensors.py [--json FILE] [--small]

--small: tiny sizes in the emulator's memory, without PyTorch, to test the script itself. Its
figures mean nothing.

Each case first compares a part of its output with OpenSSL on the CPU, and checks that the device
did the work. Then it is repeated until its time is over, and the median counts. GB/s are of
plaintext.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import lanecrypt

KEY, NONCE, PREFIX = bytes(range(32)), bytes(12), bytes(7)
MIB, GIB = 1 << 20, 1 << 30
CIPHERS = {"aes-128-gcm": ("AESGCM", 16), "aes-256-gcm": ("AESGCM", 32),
           "chacha20-poly1305": ("ChaCha20Poly1305", 32)}


class Card:
    """A CUDA device through PyTorch."""

    api, device, is_small = "cuda", "cuda:0", False

    def __init__(self):
        import torch
        self.torch = torch

    def random(self, nbytes):
        return self.torch.randint(0, 256, (nbytes,), dtype=self.torch.uint8, device="cuda")

    def empty(self, nbytes):
        return self.torch.empty(nbytes, dtype=self.torch.uint8, device="cuda")

    def read(self, array, at, nbytes):
        return bytes(array[at:at + nbytes].cpu().numpy())

    def sync(self):
        self.torch.cuda.synchronize()

    def name(self):
        return self.torch.cuda.get_device_name(0)


class Emulator:
    """The emulator's memory, of a library built for tests."""

    api, device, is_small = "host", "host:0", True

    def random(self, nbytes):
        memory = self.context.allocate("host:0", nbytes)
        memory.copy_from(os.urandom(nbytes))
        return memory

    def empty(self, nbytes):
        return self.context.allocate("host:0", nbytes)

    def read(self, array, at, nbytes):
        return array.to_bytes(nbytes, at)

    def sync(self):
        pass

    def name(self):
        return "emulator"


class Bench:
    def __init__(self, place, seconds):
        self.place, self.seconds, self.results = place, seconds, []
        self.context = lanecrypt.Context(devices=place.api, threshold_bytes=0, fallback="none")
        self.cpu = lanecrypt.Context(devices="none")
        place.context = self.context

    def aead(self, cipher, context=None):
        kind, key_bytes = CIPHERS[cipher]
        return getattr(lanecrypt, kind)(KEY[:key_bytes], context=context or self.context)

    def add(self, name, values, unit, nbytes=None):
        row = {"name": name, "value": statistics.median(values), "unit": unit,
               "runs": len(values), "min": min(values), "max": max(values)}
        if nbytes is not None:
            row["bytes"] = nbytes
        self.results.append({**row, "clock": "wall"})
        print(f"{name:48} {row['value']:10.2f} {unit:5} {row['min']:10.2f} {row['max']:10.2f} "
              f"{len(values):5}", flush=True)
        return row["value"]

    def times(self, call, least=5, most=101):
        """Returns the seconds of each run, after two runs that warm up."""
        for _ in range(2):
            call()
        self.place.sync()
        spent, end = [], time.monotonic() + self.seconds
        while len(spent) < least or (time.monotonic() < end and len(spent) < most):
            begin = time.perf_counter()
            call()
            self.place.sync()
            spent.append(time.perf_counter() - begin)
        return spent

    def rate(self, name, call, nbytes):
        return self.add(name, [nbytes / spent / 1e9 for spent in self.times(call)], "GB/s", nbytes)

    @contextlib.contextmanager
    def done_by_the_device(self, nbytes):
        before = self.context.counters()
        yield
        after = self.context.counters()
        done = after[self.place.device].bytes - before[self.place.device].bytes
        if done < nbytes or after["cpu"].bytes != before["cpu"].bytes:
            raise SystemExit(f"the device did {done} bytes of {nbytes}")

    # ---- Cases ----

    def pyca(self, name, cipher, nbytes):
        """Measures encrypt_into if this version of pyca/cryptography has it, otherwise
        encrypt."""
        try:
            from cryptography.hazmat.primitives.ciphers import aead
        except ImportError:
            return
        kind, key_bytes = CIPHERS[cipher]
        theirs = getattr(aead, kind)(KEY[:key_bytes])
        data = bytearray(os.urandom(min(nbytes, GIB)))
        if hasattr(theirs, "encrypt_into"):
            buf = bytearray(len(data) + 16)
            self.rate(f"{name}.pyca", lambda: theirs.encrypt_into(NONCE, data, None, buf),
                      len(data))
        else:
            self.rate(f"{name}.pyca-encrypt", lambda: theirs.encrypt(NONCE, data, None), len(data))

    def whole(self, name, cipher, nbytes):
        ours = self.aead(cipher)
        data, out = self.place.random(nbytes), self.place.empty(nbytes + 16)
        with self.done_by_the_device(nbytes):
            ours.encrypt_into(NONCE, data, None, out)
        again = self.place.empty(nbytes)
        ours.decrypt_into(NONCE, out, None, again)
        part = min(nbytes, MIB)
        if (self.place.read(again, nbytes - part, part) != self.place.read(data, nbytes - part, part)
                or self.place.read(out, 0, part) != self.aead(cipher, self.cpu).encrypt(
                    NONCE, self.place.read(data, 0, part), None)[:part]):
            raise SystemExit(f"{name}: wrong bytes")
        del again
        self.rate(f"{name}.{self.place.api}",
                  lambda: ours.encrypt_into(NONCE, data, None, out), nbytes)
        self.pyca(name, cipher, nbytes)

    def segments(self, name, cipher, layout, nbytes, offset=0, decrypts=False):
        """Measures segments. `offset` is where the text begins in its memory; it may make it
        unaligned."""
        ours, count = self.aead(cipher), layout.count(nbytes)
        inside = 16 * count if layout.tags_inside else 0
        data = self.place.random(nbytes + offset)
        out = self.place.empty(nbytes + inside + offset)
        if offset:
            data, out = data[offset:], out[offset:]
        tags = None if inside else self.place.empty(16 * count)

        def encrypt():
            ours.encrypt_segments(layout, PREFIX, data, out=out, tags=tags)

        with self.done_by_the_device(nbytes):
            encrypt()
        size = layout.segment_bytes
        first = layout.first_bytes or size
        for number in {0, 1, count - 2}:  # none of these is the last segment
            at = max(first + (number - 1) * size, 0) if number else 0
            text = self.place.read(data, at, first if number == 0 else size)
            expected = self.aead(cipher, self.cpu).encrypt(
                PREFIX + number.to_bytes(4, "big") + b"\0", text, None)
            if inside:
                got = self.place.read(out, at + 16 * number, len(expected))
            else:
                got = (self.place.read(out, at, len(text))
                       + self.place.read(tags, 16 * number, 16))
            if got != expected:
                raise SystemExit(f"{name}: segment {number} is wrong")
        if decrypts:
            again = self.place.empty(nbytes)
            self.rate(f"{name}.decrypt.{self.place.api}", lambda: ours.decrypt_segments(
                layout, PREFIX, out, tags=tags, out=again), nbytes)
            if self.place.read(again, 0, size) != self.place.read(data, 0, size):
                raise SystemExit(f"{name}: wrong plaintext")
            del again
        self.rate(f"{name}.{self.place.api}", encrypt, nbytes)
        self.pyca(name, cipher, layout.segment_bytes)

    def calls(self):
        """Measures the host time of a call of 16 bytes: until it returns with its work in the
        stream, and until the work has completed."""
        ours = self.aead("aes-256-gcm")
        data, out = self.place.random(16), self.place.empty(32)
        ours.encrypt_into(NONCE, data, None, out)
        if self.place.read(out, 0, 32) != self.aead("aes-256-gcm", self.cpu).encrypt(
                NONCE, self.place.read(data, 0, 16), None):
            raise SystemExit("python.call: wrong bytes")
        submitted, waited = [], []
        for _ in range(20 if self.place.is_small else 200):
            jobs = []
            begin = time.perf_counter()
            for _ in range(50):
                jobs.append(ours.submit_encrypt_into(NONCE, data, None, out))
            submitted.append((time.perf_counter() - begin) / 50 * 1e6)
            for job in jobs:
                job.result()
            begin = time.perf_counter()
            ours.encrypt_into(NONCE, data, None, out)
            waited.append((time.perf_counter() - begin) * 1e6)
        self.add("python.call.host", submitted, "us", 16)
        self.add(f"python.call.whole.{self.place.api}", waited, "us", 16)

    def imports(self):
        spent = []
        for _ in range(3 if self.place.is_small else 15):
            text = ("import time; t = time.perf_counter(); import lanecrypt; "
                    "print(time.perf_counter() - t)")
            spent.append(1e3 * float(subprocess.run([sys.executable, "-c", text], check=True,
                                                    capture_output=True, text=True).stdout))
        self.add("python.import", spent, "ms")

    def download(self, nbytes):
        """Encrypts on the device and copies the ciphertext to pinned memory in one call: as one
        message, and in segments of 1 MiB. Also measures the plain copy of the same number of
        bytes."""
        torch, ours = self.place.torch, self.aead("aes-256-gcm")
        data = self.place.random(nbytes)
        pinned = torch.empty(nbytes + 16, dtype=torch.uint8, pin_memory=True)
        layout = lanecrypt.Segments(MIB, number=lanecrypt.Number(7), tags_inside=False)
        tags = torch.empty((nbytes // MIB, 16), dtype=torch.uint8)

        def whole():
            ours.encrypt_into(NONCE, data, None, pinned)

        def segments():
            ours.encrypt_segments(layout, PREFIX + bytes(5), data, out=pinned[:nbytes], tags=tags)

        def check(at, expected):
            if bytes(pinned[at:at + len(expected)].numpy()) != expected:
                raise SystemExit("encrypt-and-download: wrong bytes")

        with self.done_by_the_device(2 * nbytes):
            whole()
            counter = NONCE + (2 + (nbytes - MIB) // 16).to_bytes(4, "big")  # SP 800-38D, section 7.1
            check(nbytes - MIB, lanecrypt.Cipher("aes-ctr", KEY, context=self.cpu).encrypt(
                counter, self.place.read(data, nbytes - MIB, MIB)))
            tag = bytes(pinned[nbytes:].numpy())
            on_card = self.place.empty(nbytes + 16)
            ours.encrypt_into(NONCE, data, None, on_card)
            if self.place.read(on_card, nbytes, 16) != tag:
                raise SystemExit("encrypt-and-download: wrong tag")
            del on_card
            segments()
        for number in (0, nbytes // MIB - 1):
            check(number * MIB, self.aead("aes-256-gcm", self.cpu).encrypt(
                PREFIX + number.to_bytes(4, "big") + b"\0", self.place.read(data, number * MIB, MIB),
                None)[:MIB])
        plain = self.rate("copy-to-pinned.cuda",
                          lambda: pinned[:nbytes].copy_(data, non_blocking=True), nbytes)
        for name, call in (("", whole), (".segments-1MiB", segments)):
            rate = self.rate(f"aes-256-gcm.encrypt-and-download{name}.cuda", call, nbytes)
            self.results[-1]["over_copy"] = rate / plain


def tink(segment_bytes):
    return lanecrypt.Segments(segment_bytes - 16, first_bytes=segment_bytes - 56,
                              number=lanecrypt.Number(7), last_flag_at=11)


def apart(segment_bytes):
    return lanecrypt.Segments(segment_bytes, number=lanecrypt.Number(7), last_flag_at=11,
                              tags_inside=False)


def cases(bench):
    """Returns the names of the cases and what to run. The emulator gets 1/4096 of the bytes."""
    small = bench.place.is_small
    big, middle, mib = (MIB, 65536, 4096) if small else (4 * GIB, 256 * MIB, MIB)
    many, kib64 = (MIB, 1024) if small else (GIB, 65536)
    gcm, chacha = "aes-256-gcm", "chacha20-poly1305"
    for cipher in ("aes-256-gcm", "aes-128-gcm", chacha):
        name = f"{cipher}.torch-4GiB"
        yield name, lambda n=name, c=cipher: bench.whole(n, c, big)
    yield "torch-256MiB", lambda: bench.whole(f"{gcm}.torch-256MiB", gcm, middle)
    for label, size in (("1MiB", mib), ("64KiB", kib64)):
        for cipher in (gcm, chacha):
            name = f"{cipher}.segments-{label}"
            yield name, lambda n=name, c=cipher, s=size: bench.segments(n, c, apart(s), many,
                                                                        decrypts=True)
    yield "tink-1MiB", lambda: bench.segments(f"{gcm}.tink-1MiB", gcm, tink(mib), many,
                                              decrypts=True)
    if not small:
        yield "unaligned-1MiB", lambda: bench.segments(f"{chacha}.unaligned-1MiB", chacha,
                                                       apart(mib), many, offset=5)
    yield "python.call", bench.calls
    yield "python.import", bench.imports
    if not small:
        yield "encrypt-and-download", lambda: bench.download(16 * GIB)


def machine(place):
    model = platform.processor()
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="ascii") as info:
        model = next((line.partition(":")[2].strip() for line in info
                      if line.startswith("model name")), model)
    return {"gpu": place.name(), "cpu": model, "cores": os.cpu_count()}


def software():
    found = {"python": platform.python_version(), "lanecrypt": lanecrypt.__version__}
    for name in ("torch", "cryptography"):
        with contextlib.suppress(ImportError):
            found[name] = __import__(name).__version__
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", help="the file for the results")
    options.add_argument("--small", action="store_true", help="tiny sizes, on the emulator")
    options.add_argument("--seconds", type=float, help="seconds for each figure (2, or 0.05 with --small)")
    options.add_argument("--only", default="", help="only cases whose names contain this")
    given = options.parse_args()
    place = Emulator() if given.small else Card()
    bench = Bench(place, given.seconds or (0.05 if given.small else 2))
    print(f"{'':48} {'median':>10} {'':5} {'least':>10} {'most':>10} {'runs':>5}")
    failed = []
    for name, case in cases(bench):
        if given.only not in name:
            continue
        try:
            case()
        except (lanecrypt.Error, MemoryError, RuntimeError, ValueError) as error:
            failed.append(name)
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(place), "date": datetime.date.today().isoformat(),
                       "software": software(), "results": bench.results}, file, indent=2)
            file.write("\n")
    return 1 if failed or not bench.results else 0


if __name__ == "__main__":
    sys.exit(main())
