#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how decryption by Ray actors scales with the GPUs of one machine.

The actors decrypt data that they make themselves, and blocks from Ray's object store. Prints a
table, and writes JSON in the format of bench/results.

Usage: PYTHONPATH=build/python/site python3 bench/python/scale.py [--gpus 1,2] [--json FILE] [--small]

--small: tiny sizes in the emulator's memory, with GPUs that are only declared to Ray, to test the
script itself. Its figures mean nothing.

    ray.decrypt.N-gpus          segments of 1 MiB by AES-256-GCM, in device memory
    ray.decrypt.store.N-gpus    blocks of the store, copied to the device and decrypted there
    ray.decrypt.through.N-gpus  the same, and the plaintext copied back and put into the store

All actors of a run work at the same time, each with its own GPU. The rate is the sum of all. Each
actor first checks what it decrypts, and that the device does the work.
"""

import argparse
import datetime
import json
import os
import statistics
import sys
import tempfile
import time

import numpy
import ray

import lanecrypt
import lanecrypt.ray
from tensors import Card, Emulator, apart, machine, software

MIB = 1 << 20


class Worker:
    """An actor with one GPU."""

    def __init__(self, is_small):
        self.place = Emulator() if is_small else Card()
        self.context = lanecrypt.Context(devices=self.place.api, threshold_bytes=0, fallback="none")
        self.place.context = self.context
        self.aead = lanecrypt.AEAD("aes-gcm", lanecrypt.ray.NamedKey("bench"), context=self.context)
        self.layout = apart(4096 if is_small else MIB)
        self.is_small = is_small

    def machine(self):
        return machine(self.place)

    def make(self, nbytes):
        """Makes the actor's own data, and checks their decryption."""
        text, self.prefix = self.place.random(nbytes), os.urandom(7)
        self.sealed, self.opened = self.place.empty(nbytes), self.place.empty(nbytes)
        self.tags = self.place.empty(16 * self.layout.count(nbytes))
        self.aead.encrypt_segments(self.layout, self.prefix, text, out=self.sealed, tags=self.tags)
        before = self.context.counters()[self.place.device].bytes
        self.open()
        if self.context.counters()[self.place.device].bytes - before != nbytes:
            raise SystemExit("the device did not do the work")
        part = min(nbytes, MIB)
        for at in (0, nbytes - part):
            if self.place.read(self.opened, at, part) != self.place.read(text, at, part):
                raise SystemExit("wrong bytes")
        self.nbytes = nbytes

    def open(self):
        self.aead.decrypt_segments(self.layout, self.prefix, self.sealed, tags=self.tags,
                                   out=self.opened)

    def own(self, begin, seconds):
        """Decrypts from time `begin` for `seconds`. Returns the bytes and the seconds that it
        took."""
        self.open()
        time.sleep(max(begin - time.time(), 0))
        done, started = 0, time.perf_counter()
        while time.perf_counter() - started < seconds:
            self.open()
            done += self.nbytes
        return done, time.perf_counter() - started

    def blocks(self, count, nbytes):
        """Puts ciphertext into the store, as an earlier stage would."""
        self.text, prefix = os.urandom(nbytes), os.urandom(7)
        sealed, tags = self.aead.encrypt_segments(self.layout, prefix,
                                                  numpy.frombuffer(self.text, "u1"))
        return [ray.put((prefix, sealed, tags)) for _ in range(count)]

    def warm(self, refs):
        """Allocates the memory that from_store() needs, and checks one block."""
        _, sealed, tags = ray.get(refs[0])
        nbytes = sealed.nbytes
        self.opened = self.place.empty(nbytes)
        if self.is_small:
            self.arrived, self.its_tags = self.place.empty(nbytes), self.place.empty(tags.nbytes)
        else:
            torch = self.place.torch
            self.pinned = torch.empty(nbytes, dtype=torch.uint8, pin_memory=True)
            self.arrived = self.place.empty(nbytes)
        self.from_store(refs[:1], 0, puts_back=False)
        if self.place.read(self.opened, 0, nbytes) != self.text:
            raise SystemExit("wrong bytes from the store")

    def upload(self, sealed, tags):
        if self.is_small:
            self.arrived.copy_from(sealed)
            self.its_tags.copy_from(tags)
            return self.its_tags
        self.pinned.numpy()[:] = sealed
        self.arrived.copy_(self.pinned, non_blocking=True)
        return self.place.torch.tensor(tags, device="cuda").reshape(-1)

    def download(self):
        if self.is_small:
            return numpy.frombuffer(self.opened.to_bytes(), "u1")
        self.pinned.copy_(self.opened)
        return self.pinned.numpy()

    def from_store(self, refs, begin, puts_back):
        time.sleep(max(begin - time.time(), 0))
        done, started = 0, time.perf_counter()
        for ref in refs:
            prefix, sealed, tags = ray.get(ref)
            on_device = self.upload(sealed, tags)
            self.aead.decrypt_segments(self.layout, prefix, self.arrived, tags=on_device,
                                       out=self.opened)
            if puts_back:
                ray.put(self.download())
            done += sealed.nbytes
        return done, time.perf_counter() - started


class Bench:
    def __init__(self, is_small, seconds, runs):
        self.is_small, self.seconds, self.runs, self.results = is_small, seconds, runs, []

    def add(self, name, values, unit, least=None, most=None, nbytes=None):
        row = {"name": name, "value": statistics.median(values), "unit": unit, "runs": len(values),
               "min": min(values) if least is None else least,
               "max": max(values) if most is None else most}
        if nbytes is not None:
            row["bytes"] = nbytes
        self.results.append({**row, "clock": "wall"})
        print(f"{name:36} {row['value']:10.2f} {unit:5} {row['min']:10.2f} {row['max']:10.2f} "
              f"{row['runs']:5}", flush=True)
        return row

    def rates(self, call, workers):
        """Returns GB/s of all workers together, which start at the same time."""
        found = []
        for _ in range(self.runs):
            begin = time.time() + (0.2 if self.is_small else 0.5)
            done = ray.get([call(n, worker, begin) for n, worker in enumerate(workers)])
            found.append(sum(nbytes / seconds for nbytes, seconds in done) / 1e9)
        return found

    def measure(self, gpus):
        """Measures all cases with `gpus` GPUs. Returns the row of each case."""
        workers = [ray.remote(num_gpus=1)(Worker).remote(self.is_small) for _ in range(gpus)]
        nbytes, block, count = (MIB, MIB // 4, 2) if self.is_small else (4 << 30, 64 * MIB, 8)
        ray.get([worker.make.remote(nbytes) for worker in workers])
        rows = {"": self.add(f"ray.decrypt.{gpus}-gpus", self.rates(
            lambda n, worker, begin: worker.own.remote(begin, self.seconds), workers), "GB/s",
            nbytes=nbytes)}
        refs = ray.get([worker.blocks.remote(count, block) for worker in workers])
        ray.get([worker.warm.remote(mine) for worker, mine in zip(workers, refs)])
        for case, puts_back in (("store.", False), ("through.", True)):
            rows[case] = self.add(f"ray.decrypt.{case}{gpus}-gpus", self.rates(
                lambda n, worker, begin, back=puts_back: worker.from_store.remote(refs[n], begin, back),
                workers), "GB/s", nbytes=block)
        self.machine = ray.get(workers[0].machine.remote())
        for worker in workers:
            ray.kill(worker)
        return rows

    def compare(self, one, more, gpus):
        for case, row in more.items():
            self.add(f"ray.decrypt.{case}{gpus}-gpus.over-1", [row["value"] / one[case]["value"]], "x",
                     row["min"] / one[case]["max"], row["max"] / one[case]["min"])


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gpus", default="1,2", help="numbers of GPUs to measure in turn, separated by commas; begins with 1")
    options.add_argument("--json", help="the file for the results")
    options.add_argument("--small", action="store_true", help="tiny sizes, on the emulator")
    options.add_argument("--seconds", type=float, help="seconds of each run (1, or 0.1 with --small)")
    options.add_argument("--runs", type=int, help="runs of each case (5, or 1 with --small)")
    given = options.parse_args()
    numbers = [int(number) for number in given.gpus.split(",")]
    bench = Bench(given.small, given.seconds or (0.1 if given.small else 1),
                  given.runs or (1 if given.small else 5))
    with tempfile.TemporaryDirectory() as keys:
        with open(os.path.join(keys, "bench"), "wb") as file:
            file.write(os.urandom(32))
        os.environ.update(LANECRYPT_KEYS=keys, RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled",
                          RAY_agent_register_timeout_ms="300000")
        ray.init(num_gpus=max(numbers) if given.small else None, include_dashboard=False,
                 log_to_driver=False, logging_level="error",
                 object_store_memory=(100 << 20) if given.small else 4 << 30)
        print(f"{'':36} {'median':>10} {'':5} {'least':>10} {'most':>10} {'runs':>5}")
        rows = {number: bench.measure(number) for number in numbers}
        for number in numbers:
            if number > 1 and 1 in rows:
                bench.compare(rows[1], rows[number], number)
        ray.shutdown()
    if given.json:
        told = {"machine": {**bench.machine, "gpus": max(numbers)},
                "date": datetime.date.today().isoformat(),
                "software": {**software(), "ray": ray.__version__}, "results": bench.results}
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=2)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
