#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the provider costs each process: its start, its end and its memory.

Starts: whole runs of `openssl`, alternately without the provider and with it at its default
settings. Ends: test_client (tests/process/) works in many threads and ends in every way at random
moments. The script counts the processes that hang, and those that do not end in the requested
way. It also measures how long the end of a process takes, alone and among many, and compares
that with programs that only start NVIDIA's driver and end. Memory: the host memory and GPU
memory of a process. Prints tables, and writes the figures as JSON in the format of bench/results.

Usage: bench/process_costs.py [--build DIR] [--openssl PROGRAM] [--runs N] [--ends N]
           [--devices LIST] [--settings LIST] [--minutes N] [--out FILE]

--ends N     tries each way of ending with each of the settings, by N processes (0: only starts)
--minutes N  stops trying ends after N minutes, and prints how many were tried
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from whole_programs import CONFIG, ROOT, gpu_and_driver, write_results

sys.path.insert(0, str(ROOT / "tests" / "process"))
import ways  # noqa: E402

HUNG_AFTER_S = 60  # long, because as many other processes run concurrently as there are cores


def spread(name, figures, unit):
    return {"name": name, "value": statistics.median(figures), "unit": unit,
            "runs": len(figures), "min": min(figures), "max": max(figures)}


def count(name, number, of):
    return {"name": name, "value": number, "unit": "processes", "runs": of, "min": number,
            "max": number}


def commands(folder, openssl):
    text, key = folder / "text", folder / "key.pem"
    text.write_bytes(os.urandom(65536))
    subprocess.run([openssl, "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    return {
        "version": [openssl, "version"],
        "rand": [openssl, "rand", "-out", os.devnull, "16"],
        "dgst": [openssl, "dgst", "-sha256", "-out", os.devnull, text],
        "enc": [openssl, "enc", "-aes-256-ctr", "-K", "00" * 32, "-iv", "00" * 16, "-in", text,
                "-out", os.devnull],
        "sign": [openssl, "dgst", "-sha256", "-sign", key, "-out", os.devnull, text],
    }


def measure_starts(folder, openssl, sides, runs):
    results = []
    for name, command in commands(folder, openssl).items():
        taken = {side: [] for side in sides}
        for turn in range(runs + 1):
            for side, environment in sides.items():
                begin = time.perf_counter()
                subprocess.run(command, env=environment, check=True, capture_output=True)
                if turn > 0:  # the first run reads files from the disk
                    taken[side].append((time.perf_counter() - begin) * 1e3)
        for side, figures in taken.items():
            results.append(spread(f"process.start.{name}.{side}", figures, "ms"))
        plain, provider = (statistics.median(taken[side]) for side in ("plain", "provider"))
        print(f"| {name} | {plain:.2f} | {provider:.2f} | {provider - plain:+.2f} |", flush=True)
    return results


def card_mib():
    """Returns how much memory of the first GPU all processes use, in MiB, or None without a
    GPU."""
    try:
        done = subprocess.run(["nvidia-smi", "--id=0", "--query-gpu=memory.used",
                               "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, check=True)
        return float(done.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def measure_memory(folder, build, environments, runs):
    """Measures the peak memory of a process that has signed and encrypted once: in the host and
    on the GPU."""
    words = {"key": folder / "key.pem", "signs": 1, "updates": 1, "kib": 2048, "after_us": 5000000}
    results = []
    print("\n| settings | memory, MiB | of the card, MiB |\n| --- | ---: | ---: |")
    for settings, environment in environments.items():
        own, of_card = [], []
        for _ in range(runs):
            before = card_mib()
            process = subprocess.Popen(ways.command(build, words), env=environment,
                                       stdout=subprocess.DEVNULL)
            time.sleep(3)  # by then it has done its work and sleeps
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            own.append(int(re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)[1]) / 1024)
            if before is not None:
                of_card.append(card_mib() - before)
            process.kill()
            process.wait()
        for what, figures in (("memory", own), ("card-memory", of_card)):
            if figures:
                results.append(spread(f"process.{what}.{settings}", figures, "MiB"))
        print(f"| {settings} | {statistics.median(own):.1f} | "
              f"{f'{statistics.median(of_card):.0f}' if of_card else ''} |", flush=True)
    return results


def measure_first_use(folder, build, environments, runs):
    """Measures the time of a process that signs and encrypts once, with everything that it
    opens."""
    words = {"key": folder / "key.pem", "signs": 1, "updates": 1, "kib": 2048}
    results = []
    print("\n| settings | until the first work is done, ms |\n| --- | ---: |")
    for settings, environment in environments.items():
        taken = []
        for _ in range(runs):
            begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            done = subprocess.run(ways.command(build, words), env=environment, check=False,
                                  stdout=subprocess.PIPE)
            taken.append((int(done.stdout.split()[-1]) - begin) / 1e6)
        results.append(spread(f"process.first-use.{settings}", taken, "ms"))
        print(f"| {settings} | {statistics.median(taken):.1f} |", flush=True)
    return results


def end_once(build, key, environment, end, words):
    """Returns 'as told', 'hung' or 'crashed', how many ms the end took after the program's last
    line (or None), and the command."""
    command = ways.command(build, {"key": key, **words})
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        out, error = process.communicate(timeout=HUNG_AFTER_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hung", None, command
    over = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    done = subprocess.CompletedProcess(command, process.returncode, out, error)
    if not ways.ended_as_told(end, done):
        print(f"crashed: {' '.join(map(str, command))}: {done.returncode}, {out!r}, {error!r}",
              file=sys.stderr)
        return "crashed", None, command
    return "as told", (over - int(out.split()[-1])) / 1e6, command


def survey_ends(folder, build, environments, ends, minutes):
    """Tries every way of ending in turn, with each of the settings, until all are done or the
    time is over. Returns the rows and the number of processes that hung or crashed."""
    deadline = time.monotonic() + minutes * 60
    results, bad = [], 0
    print("\n| settings | processes | hung | crashed | end, ms | slowest |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for number, (settings, environment) in enumerate(environments.items()):
            share = deadline - (deadline - time.monotonic()) * (1 - 1 / (len(environments) - number))
            every = [(end, words) for one in zip(*(
                [(end, words) for words in ways.works(end, ends, settings == "forced")]
                for end in ways.ENDS)) for end, words in one]

            def try_it(case, environment=environment, share=share):
                if time.monotonic() > share:
                    return None
                return end_once(build, folder / "key.pem", environment, *case)

            ended = [one for one in pool.map(try_it, every) if one is not None]
            taken = [one[1] for one in ended if one[1] is not None]
            hung, crashed = (sum(1 for one in ended if one[0] == what)
                             for what in ("hung", "crashed"))
            results.append(count(f"process.exit.hung.{settings}", hung, len(ended)))
            results.append(count(f"process.exit.crashed.{settings}", crashed, len(ended)))
            results.append(spread(f"process.exit.ms.{settings}", taken, "ms"))
            bad += hung + crashed
            print(f"| {settings} | {len(ended)} | {hung} | {crashed} | "
                  f"{statistics.median(taken):.2f} | {max(taken):.1f} |", flush=True)
    for what in ("hung", "crashed"):
        of = [one for one in results if one["name"].startswith(f"process.exit.{what}.")]
        results.append(count(f"process.exit.{what}", sum(one["value"] for one in of),
                             sum(one["runs"] for one in of)))
    return results, bad


def compare_ends(folder, build, environments, runs):
    """Measures how long a process takes to end after its work. Compares processes with our
    settings with programs that have only started NVIDIA's driver, or have also created a CUDA
    context. Each runs alone on the machine, and then with as many of its kind as there are cores,
    which wait for one another in the driver."""
    plain = environments["plain"]
    cases = {}
    if gpu_and_driver()[0]:
        cases = {"bare-driver": (plain, "", {"driver": "cuda"}),
                 "bare-context": (plain, "", {"driver": "cuda-context"})}
    for settings, environment in environments.items():
        cases[settings] = (environment, folder / "key.pem",
                           {"signs": 1, "updates": 1, "kib": 2048, "after_us": 200000})
    results = []
    for how, at_once in (("alone", 1), ("together", os.cpu_count() or 2)):
        print(f"\n| {how} | end, ms | slowest |\n| --- | ---: | ---: |")
        for name, (environment, key, words) in cases.items():
            with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
                ended = list(pool.map(lambda _, of=(build, key, environment, "return", words):
                                      end_once(*of), range(max(runs, 3 * at_once))))
            taken = [milliseconds for what, milliseconds, _ in ended if what == "as told"]
            print(f"| {name} | {statistics.median(taken):.2f} | {max(taken):.1f} |", flush=True)
            results.append(spread(f"process.exit.{how}.{name}", taken, "ms"))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--openssl", default="openssl")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--ends", type=int, default=100)
    parser.add_argument("--devices", default="host")
    parser.add_argument("--settings", default="default,in-process,forced")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    module = build / "lib" / "gpu.so"
    if not module.is_file():
        sys.exit(f"process_costs: there is no {module}; build first, or name its folder by --build")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def environment(side, configuration):
            path = folder / f"{side}.cnf"
            path.write_text(configuration, encoding="utf-8")
            return dict(os.environ, OPENSSL_CONF=str(path))

        def with_settings(side, settings):
            lines = "\n".join(f"{name} = {value}" for name, value in settings.items())
            return environment(side, CONFIG.format(module=module, settings=lines))

        plain = environment("plain", "")
        print("| openssl | plain, ms | provider, ms | more |")
        print("| --- | ---: | ---: | ---: |")
        results = measure_starts(folder, options.openssl,
                                 {"plain": plain, "provider": with_settings("provider", {})},
                                 options.runs)
        bad = 0
        if options.ends:
            every = ways.settings(options.devices)
            chosen = {"plain": plain,
                      **{side: with_settings(side, every[side])
                         for side in options.settings.split(",")}}
            ends, bad = survey_ends(folder, build, chosen, options.ends, options.minutes)
            results += ends + compare_ends(folder, build, chosen, 20)
            results += measure_first_use(folder, build, chosen, 20)
            results += measure_memory(folder, build, chosen, 3)
        if options.out:
            write_results(options.out, results, module, options.openssl)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
