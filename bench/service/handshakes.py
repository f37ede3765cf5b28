#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what lanecryptd gains or costs TLS servers.

Counts full handshakes a second, alternately with OpenSSL alone and through the service. No
session is resumed. The servers and the service share three eighths of the cores. The clients
(handshake_client) have the others, so that they do not limit the rate. The service's counters
must show whether it did the work. Prints the figures as they are measured and a table at the end,
and writes them as JSON in the format of bench/results.

Usage: bench/service/handshakes.py [--build DIR] [--devices LIST] [--servers LIST] [--bits LIST]
           [--tls LIST] [--seconds S] [--runs N] [--root DIR] [--set NAME=VALUE ...]
           [--ways LIST] [--server-cores N] [--small] [--commit HASH] [--out FILE]
       bench/service/handshakes.py --endure N [the same options]

--servers  some of nginx-16,nginx-64,nginx-256,haproxy,haproxy-async,apache-prefork-64,
           apache-event-256,stunnel,postgresql, and smaller ones: see tls_servers.py
--ways     some of openssl,service,service-always; the last one sets `rsa = always` and is not
           measured by default
--small    one small server for a moment, only to show that the script works
--server-cores  the number of cores for the servers and the service
--root     a folder with the programs and libraries of unpacked packages, or a folder that
           collect_servers.py made
--set      a setting of the provider
--endure   makes N handshakes with an nginx that is reloaded all the time and whose workers are
           killed, while the service is killed, stopped and started again. Fails if a handshake
           fails, except those that a killed worker was doing. It uses the last of the ways;
           `--ways openssl` shows what nginx itself does
--workers  the number of workers of that nginx; 64 by default, because with few workers
           signatures stay on the CPU
"""

import argparse
import grp
import os
import pathlib
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from crowd import Crowd, CrowdFailed, merged_latencies, percentile_us, spread, total
from service import ROOT, Service, configuration, difference
from tls_servers import OTHER_USER, SERVERS, Absent, HAProxy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from whole_programs import write_results  # noqa: E402

WARM_UP_S = 0.7
# How soon a client notices that its worker has ended.
DIES_WITHIN_S = 1
WAYS = ("openssl", "service", "service-always")
# The emulator is slow on a busy machine.
SMALL = {"servers": "nginx-2", "bits": "2048", "tls": "1.3", "seconds": 3, "runs": 1,
         "ways": "openssl,service-always", "workers": 8}
BEGAN = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - BEGAN:6.1f} s] {text}", flush=True)


def has_group(name):
    try:
        return bool(grp.getgrnam(name))
    except KeyError:
        return False


def make_keys(folder, bits):
    """Returns a folder with a key of `bits` bits and its certificate for `localhost`."""
    keys = folder / f"key-{bits}"
    if keys.exists():
        return keys
    keys.mkdir()
    keys.chmod(0o755)
    subprocess.run(["openssl", "req", "-x509", "-newkey", f"rsa:{bits}", "-nodes", "-keyout",
                    keys / "key.pem", "-out", keys / "certificate.pem", "-subj", "/CN=localhost",
                    "-days", "2", "-addext", "subjectAltName=DNS:localhost", "-config", os.devnull],
                   check=True, capture_output=True, env={**os.environ, "OPENSSL_CONF": os.devnull})
    both = (keys / "certificate.pem").read_text() + (keys / "key.pem").read_text()
    (keys / "both.pem").write_text(both)
    for path in keys.iterdir():
        path.chmod(0o644)
    return keys


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.results, self.failed = options, folder, [], False
        self.killed = []  # killed workers of a server: the times of the signal and of the end
        cpus = sorted(os.sched_getaffinity(0))
        few = options.server_cores or max(1, 3 * len(cpus) // 8)
        self.server_cpus, self.client_cpus = cpus[:few], cpus[few:] or cpus
        self.module = options.build / "lib" / "gpu.so"
        (folder / "cache").mkdir()
        (folder / "cache").chmod(0o777)
        shared = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        words = ["taskset", "-c", ",".join(map(str, self.server_cpus))]
        self.service = Service(options.build, folder, options.devices, words=words,
                               environment={"XDG_CACHE_HOME": str(folder / "cache")})
        if os.geteuid() == 0 and has_group(OTHER_USER):
            self.service.command += ["--group", OTHER_USER]  # the group of some servers' workers
        # A server that runs as another user may have no access to the build's folder.
        module = pathlib.Path(shutil.copy(self.module, folder))
        module.chmod(0o755)
        plain = folder / "plain.cnf"
        plain.write_text("", encoding="utf-8")
        settings = {"service": self.service.socket, **options.settings}
        self.environments = {
            "openssl": {**shared, "OPENSSL_CONF": str(plain)},
            "service": {**shared, **configuration(folder / "service.cnf", module, settings)},
            "service-always": {**shared, **configuration(
                folder / "always.cnf", module, {**settings, "rsa": "always"})}}
        for path in folder.glob("*.cnf"):
            path.chmod(0o644)

    def server(self, name, bits, way, workers=None):
        kind, count = SERVERS[name]
        if issubclass(kind, HAProxy):
            count = len(self.server_cpus)
        return kind(self.folder / f"{name}-{bits}-{way}-{time.monotonic_ns()}",
                    make_keys(self.folder, bits), self.environments[way], self.options.root,
                    workers or count, self.server_cpus)

    def visitors(self, server, tls, connections, checks=False):
        """Starts the clients of a server, one process per core."""
        each = max(1, connections // len(self.client_cpus))
        command = [self.options.build / "bin" / "handshake_client", f"port={server.port}",
                   f"tls={tls}", f"connections={each}"]
        if server.GET:
            command += [f"get={server.GET}", f"answer={server.ANSWER}"]
        if server.STARTTLS:
            command.append(f"starttls={server.STARTTLS}")
        if checks:
            command.append(f"ca={server.keys}/certificate.pem")
        environment = {**os.environ, "OPENSSL_CONF": os.devnull}
        return Crowd([["taskset", "-c", cpu, *command] for cpu in self.client_cpus], environment,
                     self.folder)

    def window(self, way, server, crowd):
        """Measures one run of a server."""
        before = self.service.statistics()
        begin, end = crowd.begin(WARM_UP_S, self.options.seconds)

        def spent():
            return server.cpu_seconds(), self.service.cpu_seconds()

        time.sleep(max(0, begin - time.monotonic_ns()) / 1e9)
        at_begin = spent()
        time.sleep(max(0, end - time.monotonic_ns()) / 1e9)
        at_end = spent()
        results = crowd.results()
        if total(results, "failures"):
            reasons = [reason[1] for result in results for reason in result["reasons"]]
            raise CrowdFailed(f"{total(results, 'failures')} handshakes failed: "
                              f"{sorted(set(reasons))[:5]}")
        done = difference(before, self.service.statistics())[0]
        if way == "openssl" and done:
            raise CrowdFailed("the service did something for OpenSSL alone")
        handshakes = total(results, "operations")
        return {"rate": handshakes / self.options.seconds, "latencies": merged_latencies(results),
                "server_us": 1e6 * (at_end[0] - at_begin[0]) / max(handshakes, 1),
                "service_us": 1e6 * (at_end[1] - at_begin[1]) / max(handshakes, 1),
                "client_us": 1e6 * total(results, "cpu_seconds") / max(handshakes, 1),
                "clients_busy": total(results, "cpu_seconds") / self.options.seconds
                / len(self.client_cpus),
                "share": done / max(total(results, "all"), 1)}

    def measure(self, name, bits):
        servers, crowds = {}, []
        try:
            for way in self.options.ways:
                servers[way] = self.server(name, bits, way)
                servers[way].start()
            for tls in self.options.tls:
                visitors = {way: self.visitors(server, tls, max(64, 2 * server.workers))
                            for way, server in servers.items()}
                crowds += visitors.values()
                runs = {way: [] for way in self.options.ways}
                for _ in range(self.options.runs):
                    for way in self.options.ways:
                        run = self.window(way, servers[way], visitors[way])
                        runs[way].append(run)
                        say(f"{name} rsa-{bits} TLS {tls} {way}: {run['rate']:.0f}/s, "
                            f"{100 * run['share']:.0f} % by the service")
                for way in self.options.ways:
                    visitors[way].end()
                    self.results.append(self.row(name, bits, tls, way, runs))
        except BaseException:
            for crowd in crowds:
                crowd.kill()
            for server in servers.values():
                if server.process:
                    say(f"its log: {server.log()[-500:]}")
            raise
        finally:
            for server in servers.values():
                server.end()

    def row(self, name, bits, tls, way, runs):
        def median(field, of=way):
            return statistics.median(run[field] for run in runs[of])

        latencies = {}
        for run in runs[way]:
            for bucket, count in run["latencies"].items():
                latencies[bucket] = latencies.get(bucket, 0) + count
        row = spread(f"handshakes.{name}.rsa-{bits}-tls{tls.replace('.', '')}.{way}",
                     [round(run["rate"], 1) for run in runs[way]], "handshakes/s",
                     p50_us=percentile_us(latencies, 0.5), p99_us=percentile_us(latencies, 0.99),
                     server_cpu_us=round(median("server_us"), 1),
                     client_cpu_us=round(median("client_us"), 1),
                     clients_busy=round(median("clients_busy"), 2))
        if way != "openssl":
            row["service_cpu_us"] = round(median("service_us"), 1)
            row["share_on_device"] = round(median("share"), 3)
            if "openssl" in runs:
                row["over_openssl"] = round(row["value"] / max(median("rate", "openssl"), 1e-9), 3)
        return row

    def measure_all(self):
        with self.service:
            for bits in self.options.bits:
                for name in self.options.servers:
                    try:
                        self.measure(name, bits)
                    except Absent as absent:
                        say(f"{name}: {absent}")
                    except (CrowdFailed, RuntimeError, OSError,
                            subprocess.CalledProcessError) as failure:
                        # The figures of the other servers are still useful.
                        self.failed = True
                        say(f"FAILED: {name} rsa-{bits}: {failure}")
                    self.write()

    def write(self):
        if self.options.out and self.results:
            write_results(self.options.out, self.results, self.module, "openssl",
                          self.options.commit)

    def table(self):
        print("\n| handshakes | 1/s | x openssl | p50, ms | p99, ms | CPU us: server | service |"
              " by the service | visitors busy |\n"
              "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for row in self.results:
            print(f"| {row['name'].removeprefix('handshakes.')} | {row['value']:.0f} | "
                  f"{row.get('over_openssl', '')} | {(row['p50_us'] or 0) / 1e3:.2f} | "
                  f"{(row['p99_us'] or 0) / 1e3:.2f} | {row['server_cpu_us']} | "
                  f"{row.get('service_cpu_us', '')} | {row.get('share_on_device', '')} | "
                  f"{row['clients_busy']} |")

    # ---- Endurance ----------------------------------------------------------------

    def endure(self):
        """Makes full handshakes through reloads, kills and restarts. Returns whether none
        failed."""
        self.service.start()
        way = self.options.ways[-1]
        server = self.server("nginx-8", self.options.bits[0], way, self.options.workers)
        crowds = []
        over, events, errors = threading.Event(), [], []
        chaos = threading.Thread(target=self.disturb, args=(server, over, events, errors))
        made, failures, by_service = 0, [], 0
        try:
            server.start()
            visitors = max(32, self.options.workers)
            crowds = [self.visitors(server, tls, visitors, checks=True)
                      for tls in self.options.tls]
            chaos.start()
            while made < self.options.endure and not errors:
                for crowd in crowds:
                    crowd.begin(0, 5)
                for crowd in crowds:
                    for result in crowd.results():
                        made += result["all"] - result["failures"]
                        failures += result["reasons"]
                        if result["failures"] > len(result["reasons"]):
                            errors.append(f"{result['failures']} handshakes failed at once")
                say(f"{made} handshakes, {len(failures)} failed, {len(events)} disturbances")
            over.set()
            chaos.join()
            by_service = sum(event[2] for event in events if event[1].startswith("service"))
            by_service += self.service.done()
            for crowd in crowds:
                crowd.end()
            crashes = [line for line in server.whole_log().splitlines()
                       if "exited on signal" in line and "signal 9" not in line]
            errors += crashes[:5]
        finally:
            over.set()
            if chaos.is_alive():
                chaos.join()
            for crowd in crowds:
                crowd.kill()
            server.end()
            self.service.kill()
        return self.judge(made, failures, by_service, events, errors)

    def disturb(self, server, over, events, errors):
        """Until `over` is set, reloads nginx, kills its workers, and kills, stops, ends and
        starts the service."""
        random.seed(self.options.seed)
        try:
            while not over.wait(random.uniform(0.2, 1.0)):
                what = random.choice(("reload", "reload", "worker", "service killed",
                                      "service killed", "service ended", "service stopped"))
                done = 0
                if what == "reload":
                    server.reload()
                elif what == "worker":
                    workers = server.workers_now()
                    if workers:
                        self.kill_worker(random.choice(workers))
                elif what == "service stopped":
                    self.service.send(signal.SIGSTOP)
                    over.wait(random.choice((0.1, 1, 7)))
                    self.service.send(signal.SIGCONT)
                else:
                    done = self.service.done()
                    if what == "service killed":
                        self.service.kill()
                    else:
                        self.service.end()
                    over.wait(random.choice((0, 0, 0.5)))
                    self.service.start()
                events.append((time.monotonic_ns(), what, done))
        except Exception as error:  # reported by the main thread
            errors.append(f"cannot go on to disturb: {type(error).__name__}: {error}")

    def kill_worker(self, worker):
        """Kills the worker, and records the times of the signal and of the worker's end."""
        told = time.monotonic_ns()
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            return  # an old worker, which has ended after a reload
        while os.path.exists(f"/proc/{worker}/fd/0"):
            time.sleep(0.002)
        self.killed.append((told, time.monotonic_ns()))

    def judge(self, made, failures, by_service, events, errors):
        """Returns whether the run was without errors. Connections of a killed worker are allowed
        to fail: they fail at once, because their sockets are closed."""
        with_worker, others = [], []
        for at, why in failures:
            at_kill = any(told < at < ended + DIES_WITHIN_S * 1e9 for told, ended in self.killed)
            closed = why in ("reset", "closed", "unexpected eof while reading",
                             "Connection reset by peer")
            (with_worker if at_kill and closed else others).append((at, why))
        for at, why in others[:10]:
            before = max((event for event in events if event[0] < at), default=(at, "nothing", 0))
            after = min((event for event in events if event[0] > at), default=(at, "nothing", 0))
            say(f"failed: {why}, {(at - before[0]) / 1e9:.2f} s after: {before[1]}, and "
                f"{(after[0] - at) / 1e9:.2f} s before the end of: {after[1]}")
        counts = {what: sum(1 for event in events if event[1] == what)
                  for what in sorted({event[1] for event in events})}
        say(f"{made} handshakes, of which the service signed about {by_service}, through {counts}:"
            f" {len(others)} failed, and {len(with_worker)} ended with their killed worker")
        for error in errors:
            say(f"FAILED: {error}")
        if not by_service and self.options.ways[-1] != "openssl":
            say("FAILED: the service signed nothing")
        if self.options.out:
            rows = [("failed", len(others)), ("with-killed-worker", len(with_worker)),
                    ("by-service", by_service), ("made", made)]
            self.results += [{**spread(f"handshakes.endure.{name}", [value], "handshakes"),
                              "disturbances": counts} for name, value in rows]
            self.write()
        return (not others and not errors and made >= self.options.endure
                and (bool(by_service) or self.options.ways[-1] == "openssl"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--devices", default="cuda")
    parser.add_argument("--servers", default="nginx-16,nginx-64,nginx-256,haproxy,haproxy-async")
    parser.add_argument("--bits", default="2048,4096")
    parser.add_argument("--tls", default="1.2,1.3")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ways", default="openssl,service")
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        dest="settings")
    parser.add_argument("--server-cores", type=int, default=0)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--endure", type=int, default=0, metavar="N")
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--commit", help="the commit of the build, if this is not a clone")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if options.small:
        vars(options).update(SMALL)
    options.build = options.build.resolve()
    options.root = options.root.resolve() if options.root else None
    options.servers, options.tls = options.servers.split(","), options.tls.split(",")
    options.bits = [int(bits) for bits in options.bits.split(",")]
    options.settings = dict(setting.split("=", 1) for setting in options.settings)
    options.ways = options.ways.split(",")
    if not set(options.ways) <= set(WAYS):
        parser.error(f"the ways are {', '.join(WAYS)}")
    unknown = [name for name in options.servers if name not in SERVERS]
    if unknown:
        parser.error(f"there is no server {unknown[0]}, only {', '.join(SERVERS)}")
    for path in ("lib/gpu.so", "bin/lanecryptd", "bin/handshake_client"):
        if not (options.build / path).exists():
            parser.error(f"there is no {options.build / path}; build first, or name its folder")
    return options


def main():
    options = arguments()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    with tempfile.TemporaryDirectory(prefix="lanecrypt-bench.", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        bench = Bench(options, folder)
        if options.endure:
            try:
                return 0 if bench.endure() else 1
            except (CrowdFailed, RuntimeError) as failure:
                say(f"FAILED: {failure}")
                return 1
        bench.measure_all()
        bench.table()
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
