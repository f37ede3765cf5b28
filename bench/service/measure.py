#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what lanecryptd gains or costs processes that sign with RSA, ML-DSA or SLH-DSA.

Many processes (sign_client) sign in the same windows of time, alternately in each of these ways:
by OpenSSL alone, by the service, by a device inside each process (`in_process = yes`), and by
that with NVIDIA's MPS, if it is available. The first and the last signatures of each job are
verified, and the service's counters must show that it did the work. Prints the figures as they
are measured and a table at the end, and writes them as JSON in the format of bench/results.

Usage: bench/service/measure.py [--build DIR] [--devices LIST] [--seconds S] [--runs N]
           [--cases LIST] [--ways LIST] [--small] [--commit HASH] [--out FILE]

--cases  some of 16x64,16x256,256x1,1x64,4096,own-keys,lone,start (the default), and
         ml-dsa,slh-dsa-128s,slh-dsa-128f, which need OpenSSL 3.5 or later
--ways   some of openssl,service,in-process,mps; all by default
--small  few processes and short keys, for the emulator, only to show that the script works
"""

import argparse
import dataclasses
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from crowd import Crowd, CrowdFailed, merged_latencies, percentile_us, spread, total
from service import Service, configuration, difference

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import process_costs  # noqa: E402
from whole_programs import ROOT, write_results  # noqa: E402

OPENING_S, WARM_UP_S = 3.0, 0.4
# MPS allows at most 60 processes, and the contexts of 256 processes do not fit on a GPU.
MOST_PROCESSES_ON_CARD = 60
OWN_KEYS = 64


@dataclasses.dataclass
class Case:
    name: str
    bits: int  # 0: `set` names a parameter set
    processes: int
    jobs: int  # 0: one thread that waits
    must: float = 0
    own_keys: bool = False
    # A single operation stays on its core.
    stays: bool = False
    set: str = ""  # the parameter set, by OpenSSL's name
    # For SLH-DSA, the number of jobs when OpenSSL alone signs: one core is so slow that a few
    # jobs show its rate.
    jobs_on_cpu: int = 0

    def key(self):
        return self.set.lower() if self.set else f"rsa-{self.bits}"

    def small(self):
        bits = {2048: 1024, 4096: 1536}.get(self.bits, self.bits)
        return dataclasses.replace(self, bits=bits,
                                   processes=min(self.processes, 3),
                                   jobs=min(self.jobs, 2 if self.jobs_on_cpu else 8))


CASES = {
    "16x64": Case("16x64", 2048, 16, 64, 200000),
    "16x256": Case("16x256", 2048, 16, 256, 280000),
    "256x1": Case("256x1", 2048, 256, 0, 100000),
    "1x64": Case("1x64", 2048, 1, 64, 31000),
    "4096": Case("16x64", 4096, 16, 64, 60000),
    "own-keys": Case("own-keys.16x64", 2048, 16, 64, 100000, own_keys=True),
    "lone": Case("lone", 2048, 1, 0, stays=True),
    "ml-dsa": Case("16x64", 0, 16, 64, 150000, set="ML-DSA-65"),
    "slh-dsa-128s": Case("16x64", 0, 16, 64, set="SLH-DSA-SHA2-128s", jobs_on_cpu=1),
    "slh-dsa-128f": Case("16x64", 0, 16, 64, set="SLH-DSA-SHA2-128f", jobs_on_cpu=4),
}
WAYS = ("openssl", "service", "in-process", "mps")


def say(text):
    print(f"[{time.monotonic() - BEGAN:6.1f} s] {text}", flush=True)


BEGAN = time.monotonic()


def on_devices(results):
    return sum(total(results, f"{family}-device-jobs") for family in ("rsa", "ml-dsa", "slh-dsa"))


class Mps:
    """NVIDIA's MPS, with its files in a private folder. It changes no setting of a GPU."""

    def __init__(self, folder):
        self.program = shutil.which("nvidia-cuda-mps-control") or shutil.which(
            "nvidia-cuda-mps-control", path="/usr/local/nvidia/bin:/usr/local/cuda/bin")
        self.environment = {"CUDA_MPS_PIPE_DIRECTORY": str(folder / "mps-pipe"),
                            "CUDA_MPS_LOG_DIRECTORY": str(folder / "mps-log")}
        self.is_on = False

    def start(self):
        if not self.program:
            return False
        for path in self.environment.values():
            os.makedirs(path, mode=0o700, exist_ok=True)
        self.is_on = subprocess.run([self.program, "-d"], env={**os.environ, **self.environment},
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL, timeout=20,
                                    check=False).returncode == 0
        return self.is_on

    def stop(self):
        if self.is_on:
            self.is_on = False
            subprocess.run([self.program], env={**os.environ, **self.environment}, input=b"quit\n",
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
                           check=False)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.build = options.build
        self.module = self.build / "lib" / "gpu.so"
        self.client = self.build / "bin" / "sign_client"
        self.is_emulated = options.devices.split(",")[0].startswith("host")
        self.device = options.devices.split(",")[0].split(":")[0]
        self.mps = Mps(folder)
        self.results, self.service = [], None
        cache = folder / "cache"
        cache.mkdir()
        self.shared = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        self.service = Service(self.build, folder, options.devices,
                               environment={"XDG_CACHE_HOME": str(cache)})
        self.environments = self.make_environments()

    def make_environments(self):
        # Without this setting the provider would not use the emulator.
        always = {name: "always" for name in ("rsa", "ml_dsa", "slh_dsa") if self.is_emulated}
        plain = self.folder / "plain.cnf"
        plain.write_text("", encoding="utf-8")
        inside = configuration(self.folder / "in-process.cnf", self.module,
                               {"in_process": "yes", "service": "off",
                                "devices": self.options.devices, **always})
        return {
            "openssl": {**self.shared, "OPENSSL_CONF": str(plain)},
            "service": {**self.shared, **configuration(
                self.folder / "service.cnf", self.module,
                {"service": self.service.socket, **always})},
            # For single operations the provider chooses, even with the emulator.
            "service-auto": {**self.shared, **configuration(
                self.folder / "service-auto.cnf", self.module, {"service": self.service.socket})},
            "in-process": {**self.shared, **inside},
            "mps": {**self.shared, **inside, **self.mps.environment},
        }

    def keys(self, case, count):
        """Returns files with `count` different keys."""
        paths = [self.folder / f"{case.key()}-{n}.pem" for n in range(count)]
        missing = [path for path in paths if not path.exists()]
        at_once = os.cpu_count() or 2
        for n in range(0, len(missing), at_once):
            words = ([case.set] if case.set else
                     ["RSA", "-pkeyopt", f"rsa_keygen_bits:{case.bits}"])
            makers = [subprocess.Popen(["openssl", "genpkey", "-out", path, "-algorithm", *words],
                                       env=self.environments["openssl"], stderr=subprocess.DEVNULL)
                      for path in missing[n:n + at_once]]
            if any(maker.wait() for maker in makers):
                raise CrowdFailed("openssl makes no key")
        return paths

    def start(self, case, way):
        keys = self.keys(case, OWN_KEYS if case.own_keys else 1)
        command = [self.client, "keys=" + ",".join(map(str, keys)), f"jobs={self.jobs(case, way)}"]
        environment = self.environments["service-auto" if case.stays and way == "service" else way]
        return Crowd([command] * case.processes, environment, self.folder)

    @staticmethod
    def jobs(case, way):
        return case.jobs_on_cpu if way == "openssl" and case.jobs_on_cpu else case.jobs

    def ways_of(self, case):
        ways = [way for way in WAYS if way in self.options.ways]
        if case.stays or case.processes > MOST_PROCESSES_ON_CARD:
            ways = [way for way in ways if way in ("openssl", "service")]
        if "mps" in ways and not self.mps.is_on:
            ways.remove("mps")
        return ways

    def name(self, case, way):
        if way == "openssl":
            return f"{case.key()}.service.{case.name}.openssl"
        return f"{case.key()}.{way}.{case.name}.{self.device}"

    def check(self, ways):
        """Checks quickly, before anything is timed, whether each of these ways works. A way that
        does not work is left out. If the service does not work, there is nothing to measure."""
        case = dataclasses.replace(CASES["16x64"], processes=2)
        if self.options.small:
            case = case.small()
        for way in self.ways_of(case):
            if way not in ways:
                continue
            try:
                self.check_way(case, way)
                say(f"check: {way} works")
            except CrowdFailed as failure:
                if way == "service":
                    raise
                self.failed = True
                self.options.ways.remove(way)
                say(f"FAILED: {way} is left out: {failure}")

    def check_way(self, case, way):
        before = self.service.statistics()
        crowd = self.start(case, way)
        try:
            results, _ = crowd.measure(OPENING_S if way in ("in-process", "mps") else WARM_UP_S, 0.3)
            crowd.end()
        except BaseException:
            crowd.kill()
            raise
        self.look(case, way, results)
        done = difference(before, self.service.statistics())[0]
        if way == "service" and not done:
            raise CrowdFailed("the service did nothing")
        if way != "service" and done:
            raise CrowdFailed("the service did something")
        if way in ("in-process", "mps") and not on_devices(results):
            raise CrowdFailed("no device did anything")

    @staticmethod
    def look(case, way, results):
        bad = {name: total(results, name) for name in ("failures", "wrong")}
        if any(bad.values()):
            raise CrowdFailed(f"{case.name} {way}: {bad}")
        if not all(result["all"] for result in results):
            raise CrowdFailed(f"{case.name} {way}: a process did nothing")

    def window(self, case, way, crowd, warm_up):
        """Measures one run of one way."""
        watched = [self.service.process.pid] if way == "service" else []
        before = self.service.statistics() if watched else None
        counted = getattr(crowd, "counted", {})
        results, cpu = crowd.measure(warm_up, self.options.seconds, watched)
        self.look(case, way, results)
        operations = total(results, "operations")
        crowd.counted = {"device": on_devices(results), "all": total(results, "all")}
        run = {"rate": operations / self.options.seconds, "latencies": merged_latencies(results),
               "client_us": 1e6 * total(results, "cpu_seconds") / max(operations, 1),
               "service_us": 1e6 * cpu / max(operations, 1)}
        all_of = crowd.counted["all"] - counted.get("all", 0)
        on_device = crowd.counted["device"] - counted.get("device", 0)
        if watched:
            on_device, batches = difference(before, self.service.statistics())
            run["batch"] = on_device / batches if batches else 0
        run["share"] = on_device / max(all_of, 1)
        return run

    def open_for_slh_dsa(self, case):
        """Makes the service test its devices for SLH-DSA, which it does when it gets the first
        key. Until then one core of each client would sign."""
        lone = dataclasses.replace(case, processes=1, jobs=1)
        until = time.monotonic() + 60
        while not any(kind["done"] for kind in self.service.statistics()["kinds"]
                      if kind["kind"] == f"{case.key()}-sign"):
            if time.monotonic() > until:
                raise CrowdFailed(f"the service does not sign by {case.set}")
            self.start(lone, "service").end()

    def measure(self, case):
        crowds = {}
        try:
            if case.set.startswith("SLH-DSA"):
                self.open_for_slh_dsa(case)
            for way in self.ways_of(case):
                crowds[way] = self.start(case, way)
            runs = {way: [] for way in crowds}
            # The two rates of a single operation differ by a few per cent, so they get more runs.
            for turn in range(self.options.runs * (2 if case.stays else 1)):
                for way, crowd in crowds.items():
                    opens = turn == 0 and way in ("in-process", "mps")
                    run = self.window(case, way, crowd, OPENING_S if opens else WARM_UP_S)
                    runs[way].append(run)
                    say(f"{self.name(case, way)}: {run['rate']:.0f}/s, {100 * run['share']:.0f} % on"
                        f" a device")
            for crowd in crowds.values():
                crowd.end()
        except BaseException:
            for crowd in crowds.values():
                crowd.kill()
            raise
        for way in crowds:
            self.results.append(self.row(case, way, runs[way], runs.get("openssl")))

    def row(self, case, way, runs, openssl):
        def median(name):
            return round(statistics.median(run[name] for run in runs), 3)

        latencies = {}
        for run in runs:
            for bucket, count in run["latencies"].items():
                latencies[bucket] = latencies.get(bucket, 0) + count
        row = spread(self.name(case, way), [round(run["rate"], 1) for run in runs], "op/s",
                     streams=case.processes * max(self.jobs(case, way), 1),
                     client_cpu_us=median("client_us"), p50_us=percentile_us(latencies, 0.5),
                     p99_us=percentile_us(latencies, 0.99))
        if way == "service":
            row["service_cpu_us"] = median("service_us")
            row["operations_a_batch"] = median("batch")
        if way != "openssl":
            row["share_on_device"] = median("share")
            theirs = statistics.median(run["rate"] for run in openssl or [{"rate": 0}])
            # In a short window a busy core may complete no signature of SLH-DSA.
            if theirs:
                row["over_openssl"] = round(row["value"] / theirs, 3)
        return row

    def measure_memory(self, before, ways):
        """Measures how much GPU memory 16 clients of each way use, together with their
        service."""
        case = dataclasses.replace(CASES["16x64"])
        if self.options.small:
            case = case.small()
        for way in self.ways_of(case):
            if way not in ways:
                continue
            alone = process_costs.card_mib()
            crowd = self.start(case, way)
            used = []
            crowd.measure(OPENING_S if way != "service" else 1, 1,
                          amid=lambda used=used: used.append(process_costs.card_mib()))
            crowd.end()
            if before is None or used[0] is None:
                say("card's memory: there is no nvidia-smi that tells it")
                return
            # In the other ways the idle service does not count.
            mib = used[0] - (before if way == "service" else alone)
            name = f"{way}.card-mib.{case.processes}"
            self.results.append(spread(name, [mib], "MiB"))
            say(f"{name}: {mib:.0f} MiB")

    def measure_start(self):
        sides = {"plain": self.environments["openssl"], "provider": self.environments["service-auto"]}
        rows = process_costs.measure_starts(self.folder, "openssl", sides,
                                            3 if self.options.small else 40)
        self.results += rows
        value = {row["name"]: row["value"] for row in rows}
        more = value["process.start.sign.provider"] - value["process.start.sign.plain"]
        self.results.append(spread("process.start.sign.provider-less-plain", [round(more, 3)], "ms"))

    def write(self):
        if self.options.out:
            write_results(self.options.out, self.results, self.module, "openssl",
                          self.options.commit)

    def table(self):
        """Prints the figures, and whether they reach the required ones."""
        value = {row["name"]: row for row in self.results}
        print("\n| name | value | must | x openssl | p50, us | p99, us | CPU us: client | service |"
              " on device |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        must = self.musts(value)
        for name, row in value.items():
            if name.startswith("process.start.") and not name.endswith("less-plain"):
                continue
            wanted, is_most, figure = must.get(name, (None, False, None))
            missed = wanted and (figure > wanted if is_most else figure < wanted)
            cells = [row.get(field, "") for field in ("over_openssl", "p50_us", "p99_us",
                                                      "client_cpu_us", "service_cpu_us",
                                                      "share_on_device")]
            print(f"| {name} | {row['value']:.6g} {row['unit']} | {wanted or ''}"
                  f"{' MISSED' if missed else ''} | " + " | ".join(map(str, cells)) + " |")

    def musts(self, rows):
        """Returns, by the name of a row: the required figure, whether it is a maximum, and the
        actual figure."""
        if self.options.small:
            return {}
        must = {}
        for case in self.cases():
            name = self.name(case, "service")
            if name not in rows:
                continue
            row, inside = rows[name], rows.get(self.name(case, "in-process"))
            if case.stays:
                must[name] = (0.98, False, row.get("over_openssl", 0))
            elif case.processes == 1 and inside:
                must[name] = (max(case.must, inside["value"]), False, row["value"])
            else:
                must[name] = (case.must, False, row["value"])
        for name, most in (("service.card-mib.16", 700),
                           ("process.start.sign.provider-less-plain", 1)):
            if name in rows:
                must[name] = (most, True, rows[name]["value"])
        return must

    def cases(self):
        chosen = [CASES[name] for name in self.options.cases if name in CASES]
        return [case.small() for case in chosen] if self.options.small else chosen

    def run(self):
        before = process_costs.card_mib()
        with self.service:
            for device in self.service.statistics()["devices"]:
                say(f"the service has {device['id']}, {device['name']}: {device['rsa_state']}")
            self.check(("openssl", "service", "in-process"))
            self.measure_memory(before, ("service", "in-process"))
            # Only now, because the MPS server also uses GPU memory.
            if "mps" in self.options.ways and not self.is_emulated:
                if self.mps.start():
                    self.check(("mps",))
                    self.measure_memory(before, ("mps",))
                else:
                    say("there is no MPS")
            if "start" in self.options.cases:
                self.measure_start()
            self.write()
            for case in self.cases():
                try:
                    self.measure(case)
                except CrowdFailed as failure:
                    # The figures of the other cases are still useful.
                    self.failed = True
                    say(f"FAILED: {case.name}: {failure}")
                self.write()

    failed = False


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--devices", default="cuda")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cases", default=",".join([name for name in CASES if not CASES[name].set] + ["start"]))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--commit", help="the commit of the build, if this is not a clone")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.cases, options.ways = options.cases.split(","), options.ways.split(",")
    for name in options.cases:
        if name not in CASES and name != "start":
            parser.error(f"there is no case {name}")
    for name in options.ways:
        if name not in WAYS:
            parser.error(f"there is no way {name}")
    for path in ("lib/gpu.so", "bin/lanecryptd", "bin/sign_client"):
        if not (options.build / path).exists():
            parser.error(f"there is no {options.build / path}; build first, or name its folder")
    return options


def main():
    options = arguments()
    # 256 processes with two pipes each.
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    with tempfile.TemporaryDirectory(prefix="lanecrypt-bench.") as name:
        bench = Bench(options, pathlib.Path(name))
        try:
            bench.run()
        except (CrowdFailed, RuntimeError, OSError) as failure:
            bench.failed = True
            say(f"FAILED: {failure}")
            if bench.service.log.exists():
                print(bench.service.tail_of_log())
        finally:
            bench.mps.stop()
        bench.table()
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
