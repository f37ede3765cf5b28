# SPDX-License-Identifier: Apache-2.0
"""Many processes of bench/service that work in the same window of time."""

import json
import os
import select
import statistics
import subprocess
import time

from service import cpu_seconds_of


class CrowdFailed(Exception):
    """A process of a crowd did not do what it was told."""


class Process:
    """One process of a crowd. Its standard error goes to the file `errors`."""

    def __init__(self, command, environment, errors):
        self.command, self.errors, self.buffer = command, errors, b""
        with open(errors, "ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log)

    def tell(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # line() reports what happened

    def line(self, deadline):
        """Returns the next line of the process, or raises CrowdFailed at `deadline`."""
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            # poll(), because select() cannot handle descriptors above 1023.
            poll = select.poll()
            poll.register(self.process.stdout, select.POLLIN)
            if left <= 0 or not poll.poll(left * 1000):
                raise CrowdFailed(f"says nothing: {self.about()}")
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                self.process.wait()
                raise CrowdFailed(f"ended with {self.process.returncode}: {self.about()}")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def about(self):
        with open(self.errors, encoding="utf-8", errors="replace") as log:
            return " ".join(self.command)[-300:] + ": " + log.read()[-1000:].strip()

    def end(self, timeout):
        self.process.stdin.close()
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise CrowdFailed(f"does not end: {self.about()}") from None
        finally:
            self.process.stdout.close()


class Crowd:
    """A group of processes, one for each command line in `commands`."""

    def __init__(self, commands, environment, folder, timeout=120):
        self.timeout, self.processes = timeout, []
        errors = folder / f"errors-{time.monotonic_ns()}"
        self.errors = errors
        try:
            for command in commands:
                self.processes.append(Process([str(word) for word in command], environment, errors))
            deadline = time.monotonic() + timeout
            for process in self.processes:
                line = process.line(deadline)
                if line != "ready":
                    raise CrowdFailed(f"said {line!r}: {process.about()}")
        except BaseException:
            self.kill()
            raise

    def pids(self):
        return [process.process.pid for process in self.processes]

    def begin(self, warm_up, seconds):
        """Starts the work of all processes. Returns the window's begin and end in ns of
        CLOCK_MONOTONIC."""
        begin = time.monotonic_ns() + int(warm_up * 1e9)
        end = begin + int(seconds * 1e9)
        for process in self.processes:
            process.tell(f"{begin} {end}")
        return begin, end

    def results(self):
        """Returns what each process did in the window."""
        deadline = time.monotonic() + self.timeout
        return [json.loads(process.line(deadline)) for process in self.processes]

    def measure(self, warm_up, seconds, watched=(), amid=None):
        """Lets all processes work for `seconds`. Returns their results, and the CPU time that the
        processes `watched` used meanwhile. Calls `amid` in the middle of the window."""
        begin, end = self.begin(warm_up, seconds)
        sleep_until(begin)
        cpu_before = cpu_seconds_of(watched)
        if amid:
            sleep_until((begin + end) // 2)
            amid()
        sleep_until(end)
        cpu = cpu_seconds_of(watched) - cpu_before
        return self.results(), cpu

    def end(self):
        """Ends all processes. Raises CrowdFailed if one does not exit with status 0."""
        try:
            for process in self.processes:
                process.process.stdin.close()
            statuses = [process.end(self.timeout) for process in self.processes]
        except BaseException:
            self.kill()
            raise
        if any(statuses):
            raise CrowdFailed(f"processes ended with {sorted(set(statuses))}: "
                              f"{self.processes[0].about()}")

    def kill(self):
        for process in self.processes:
            process.process.kill()
        for process in self.processes:
            process.process.wait()


def sleep_until(ns):
    left = ns - time.monotonic_ns()
    if left > 0:
        time.sleep(left / 1e9)


def total(results, name):
    return sum(result.get(name, 0) for result in results)


def merged_latencies(results):
    merged = {}
    for result in results:
        for bucket, count in result["latencies"]:
            merged[bucket] = merged.get(bucket, 0) + count
    return merged


def percentile_us(latencies, share):
    """Returns the time in microseconds within which `share` of the operations ended."""
    wanted, seen = share * sum(latencies.values()), 0
    for bucket in sorted(latencies):
        seen += latencies[bucket]
        if seen >= wanted:
            return round(2 ** ((bucket + 0.5) / 16) / 1e3, 2)
    return None


def spread(name, figures, unit, **more):
    return {"name": name, "value": statistics.median(figures), "unit": unit,
            "runs": len(figures), "min": min(figures), "max": max(figures), **more}
