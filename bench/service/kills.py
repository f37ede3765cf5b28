#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills lanecryptd under load, and its clients, at random moments.

Service: several processes (sign_client) sign in ASYNC jobs and in threads, and verify each
signature, while the service is killed, stopped, ended and started again. No operation may fail or
be wrong. Clients: processes are killed, or stopped and killed, during their work. Afterwards the
service must have as many clients, keys, channels and open files as before, and must serve the
next client.

Usage: bench/service/kills.py [--build DIR] [--devices LIST] [--services N] [--kills N]
           [--most-seconds S] [--client-kills N] [--bits N] [--set NAME=VALUE ...] [--seed N]
           [--small] [--commit HASH] [--out FILE]

--services  the number of services that share the kills, concurrently on the same devices, each
            with its own clients. Most of the time of a kill passes until the service has opened
            its devices again
--most-seconds  no service is killed any more after this time; what was done until then counts
--small     few kills, only to show that the script works
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from crowd import Crowd, CrowdFailed, Process, spread, total
from service import ROOT, Service, configuration

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from whole_programs import write_results  # noqa: E402

# The clients: arguments of sign_client.
CLIENTS = (["jobs=16"], ["jobs=4"], ["threads=4"], ["threads=1"])
WINDOW_S = 2
# How long clients may take to return to a restarted service: they double the pause after each
# attempt that finds none.
COMES_BACK_S = 20


class Stage:
    """A folder with keys, a service and the environment of its clients."""

    def __init__(self, build, folder, devices, bits, settings, seed):
        self.build, self.folder, self.random = build, folder, random.Random(seed)
        cache = {"XDG_CACHE_HOME": str(folder / "cache")}
        self.service = Service(build, folder, devices, environment=cache)
        self.environment = {**os.environ, **cache, **configuration(
            folder / "service.cnf", build / "lib" / "gpu.so",
            {"service": self.service.socket, **settings})}
        self.keys = [folder / f"key-{n}.pem" for n in range(4)]
        for path in self.keys:
            subprocess.run(["openssl", "genrsa", "-out", path, str(bits)], check=True,
                           capture_output=True, env={**os.environ, "OPENSSL_CONF": os.devnull})

    def command(self, words):
        return [self.build / "bin" / "sign_client", "keys=" + ",".join(map(str, self.keys)),
                "verify=all", *words]


def wait_for(holds, seconds):
    """Returns whether `holds` becomes true within `seconds`."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


class Killer(threading.Thread):
    """Kills the service `kills` times, mostly after it has done some work, and sometimes while
    its clients are connecting."""

    def __init__(self, stage, kills, most_seconds):
        super().__init__(daemon=True)
        self.stage, self.kills, self.amid, self.error = stage, kills, 0, None
        self.until = time.monotonic() + most_seconds
        self.by = {"killed": 0, "stopped": 0, "stopped and killed": 0, "ended": 0}

    def run(self):
        try:
            while sum(self.by.values()) < self.kills and time.monotonic() < self.until:
                self.kill_once()
            # The last service must serve the clients too.
            self.wait_for_work()
        except Exception as error:  # reported by the main thread
            self.error = f"{type(error).__name__}: {error}"

    def wait_for_work(self):
        service = self.stage.service
        if not wait_for(service.done, COMES_BACK_S):
            raise CrowdFailed(f"no client came back to the service: {service.tail_of_log()}")

    def kill_once(self):
        service, chance = self.stage.service, self.stage.random
        if chance.random() < 0.9:
            self.wait_for_work()
            time.sleep(chance.choice((0, 0.001, 0.01, 0.1)) * chance.random())
            told = service.statistics()
            self.amid += told["operations_waiting"] + told["operations_under_way"] > 0
        else:
            time.sleep(0.3 * chance.random())
        how = chance.choices(list(self.by), (90, 2, 3, 5))[0]
        self.by[how] += 1
        if how.startswith("stopped"):
            service.send(signal.SIGSTOP)
            # Sometimes longer than a client waits, sometimes shorter.
            time.sleep(chance.choice((0.05, 0.5, 6)))
        if how == "stopped":
            return service.send(signal.SIGCONT)
        if how == "ended":
            service.end()
        else:
            service.kill()
        time.sleep(chance.choice((0, 0, 0, 0.05, 0.4)))
        return service.start()


def kill_service(stage, kills, say=lambda text: None, most_seconds=3600):
    """Kills the service under load. Returns the numbers of operations, failures, and so on.
    Raises CrowdFailed if a client or the service did not behave as it should."""
    operations = failures = wrong = 0
    with stage.service:
        crowd = Crowd([stage.command(words) for words in CLIENTS], stage.environment, stage.folder)
        killer = Killer(stage, kills, most_seconds)
        killer.start()
        try:
            while killer.is_alive():
                crowd.begin(0, WINDOW_S)
                results = crowd.results()
                operations += total(results, "operations")
                failures += total(results, "failures")
                wrong += total(results, "wrong")
                say(f"{sum(killer.by.values())} kills, {operations} operations, {failures} failed,"
                    f" {wrong} wrong")
            crowd.end()
        finally:
            crowd.kill()
            killer.join()
    if killer.error:
        raise CrowdFailed(killer.error)
    return {"operations": operations, "failures": failures, "wrong": wrong, "amid": killer.amid,
            **killer.by}


def kill_services(stages, kills, say=lambda text: None, most_seconds=3600):
    """Kills the services of all stages concurrently, each its share of `kills` times. Returns the
    sums."""
    shares = [kills // len(stages) + (n < kills % len(stages)) for n in range(len(stages))]
    sums = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(len(stages)) as pool:
        runs = [pool.submit(kill_service, stage, share, lambda text, n=n: say(f"{n}: {text}"),
                            most_seconds)
                for n, (stage, share) in enumerate(zip(stages, shares))]
        for run in runs:
            sums.update(run.result())
    return sums


def standing(service):
    """Returns what a service holds for its clients, without the client that asks."""
    told = service.statistics()
    return {"clients": told["clients"] - 1, **{name: told[name] for name in (
        "keys", "channels", "operations_waiting", "operations_under_way")}}


NOTHING = {"clients": 0, "keys": 0, "channels": 0, "operations_waiting": 0,
           "operations_under_way": 0}


def kill_clients(stage, kills, at_once=4, say=lambda text: None):
    """Kills `kills` clients during their work. Returns how many operations the service did, and
    its open files before and after. Raises CrowdFailed if the service keeps anything of a dead
    client."""
    chance = stage.random
    with stage.service as service:
        if not wait_for(lambda: standing(service) == NOTHING, 5):
            raise CrowdFailed(f"a new service has {standing(service)}")
        # Serves one client first, so that files that are opened only once do not count.
        serve_one(stage)
        wait_for(lambda: standing(service) == NOTHING, 5)
        files = service.open_files()
        alive, killed = [], 0
        errors = stage.folder / "errors-of-the-killed"
        try:
            while killed < kills:
                while len(alive) < at_once:
                    words = stage.command(chance.choice(CLIENTS))
                    alive.append(Process([str(word) for word in words], stage.environment, errors))
                    if chance.random() < 0.8:
                        alive[-1].line(time.monotonic() + 60)
                    alive[-1].tell(f"0 {time.monotonic_ns() + int(60e9)}")
                time.sleep(0.1 * chance.random())
                process = alive.pop(chance.randrange(len(alive)))
                if chance.random() < 0.2:
                    process.process.send_signal(signal.SIGSTOP)
                    time.sleep(0.05 * chance.random())
                process.process.kill()
                process.process.wait()
                process.process.stdin.close()
                process.process.stdout.close()
                killed += 1
        finally:
            for process in alive:
                process.process.kill()
                process.process.wait()
        if not wait_for(lambda: standing(service) == NOTHING, 10):
            raise CrowdFailed(f"after its clients' ends the service has {standing(service)}")
        done = service.done()
        serve_one(stage)
        if not wait_for(lambda: service.open_files() <= files, 5):
            raise CrowdFailed(f"the service had {files} open files, and has "
                              f"{service.open_files()}")
        say(f"{killed} clients killed; the service did {done} operations")
        return {"killed": killed, "done": done, "files_before": files,
                "files_after": service.open_files()}


def serve_one(stage):
    """Lets one client sign, and checks that the service did the work."""
    before = stage.service.done()
    crowd = Crowd([stage.command(["jobs=16"])], stage.environment, stage.folder)
    results, _ = crowd.measure(0, 0.5)
    crowd.end()
    if total(results, "failures") or total(results, "wrong"):
        raise CrowdFailed(f"signatures failed: {results}")
    if stage.service.done() == before:
        raise CrowdFailed("the service did nothing for a client")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--devices", default="host")
    parser.add_argument("--services", type=int, default=1)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--most-seconds", type=float, default=3600)
    parser.add_argument("--client-kills", type=int, default=200)
    parser.add_argument("--bits", type=int, default=1024)
    parser.add_argument("--set", action="append", default=["rsa=always"], metavar="NAME=VALUE",
                        dest="settings")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--commit", help="the commit of the build, if this is not a clone")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if options.small:
        options.kills, options.client_kills = 4, 6
    options.build = options.build.resolve()
    options.settings = dict(setting.split("=", 1) for setting in options.settings)
    return options


def main():
    options = arguments()
    print(f"seed {options.seed}")
    results = []
    with tempfile.TemporaryDirectory(prefix="lanecrypt-kills.") as name:
        stages = []
        for n in range(options.services):
            folder = pathlib.Path(name) / str(n)
            folder.mkdir(mode=0o700)
            stages.append(Stage(options.build, folder, options.devices, options.bits,
                                options.settings, options.seed + n))
        try:
            clients = kill_clients(stages[0], options.client_kills, say=print)
            told = kill_services(stages, options.kills, lambda text: print(text, flush=True),
                                 options.most_seconds)
        except (CrowdFailed, RuntimeError) as failure:
            print(f"FAILED: {failure}")
            return 1
    print(dict(told), clients)
    for what in ("operations", "failures", "wrong", "amid", "killed", "ended", "stopped",
                 "stopped and killed"):
        results.append(spread(f"service.kills.{what.replace(' ', '-')}", [told[what]],
                              "operations" if what in ("operations", "failures", "wrong")
                              else "kills"))
    results.append(spread("service.kills.clients", [clients["killed"]], "kills"))
    if options.out:
        write_results(options.out, results, options.build / "lib" / "gpu.so", "openssl",
                      options.commit)
    return 1 if told["failures"] or told["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
