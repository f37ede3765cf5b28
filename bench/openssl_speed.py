#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the provider gains or costs a program that does not know it.

Runs `openssl speed -evp` over ciphers and sizes, alternately without the provider and with the
provider preferred (`?provider=gpu`), in several rounds, so that other work on the machine affects
both alike. Prints a table of the ratios of the medians, and writes the figures as JSON in the
format of bench/results.

Usage: bench/openssl_speed.py [--module DIR] [--openssl PROGRAM] [--rounds N]
           [--seconds S] [--ciphers LIST] [--sizes LIST] [--decrypt]
           [--setting NAME=VALUE ...] [--out FILE] [--check]

Without a --setting the provider leaves all work to OpenSSL. in_process=yes allows devices, and
cores=N allows N cores.

--check exits with 1 if a ratio is below 0.95 for sizes of at least 1 KiB, or below 0.6 for
shorter ones.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from whole_programs import CONFIG, write_results

ROOT = pathlib.Path(__file__).resolve().parent.parent
CIPHERS = "aes-256-ctr,aes-256-cbc,aes-256-gcm,aes-256-xts,aes-256-ecb"
SIZES = "16,64,256,1K,16K,1M,16M,256M"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}
LEAST_LARGE, LEAST_SMALL, LARGE_BYTES = 0.95, 0.6, 1024
# OpenSSL refuses longer data units, and `openssl speed` counts refusals as work.
MOST_XTS_BYTES = 16 << 20

def parse_size(text):
    match = re.fullmatch(r"(\d+)([KM]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 16, 1K or 256M")
    return int(match[1]) * UNITS[match[2]]


def size_text(size):
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


def bytes_per_second(openssl, cipher, size, seconds, decrypt, environment):
    """Returns the rate of one run of `openssl speed`, from its machine-readable line
    +F:number:name:rates."""
    command = [openssl, "speed", "-mr", "-elapsed", "-seconds", str(seconds), "-bytes", str(size),
               "-evp", cipher] + (["-decrypt"] if decrypt else [])
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    match = re.search(r"^\+F:\d+:[^:]*:([\d.]+)\s*$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not match:
        sys.exit(f"openssl_speed: {' '.join(command)} failed:\n{done.stderr or done.stdout}")
    return float(match[1])


def spread(name, rates):
    figures = [rate / 1e9 for rate in rates]
    return {"name": name, "value": statistics.median(figures), "unit": "GB/s", "runs": len(figures),
            "min": min(figures), "max": max(figures)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default=str(ROOT / "build/lib"))
    parser.add_argument("--openssl", default="openssl")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--ciphers", default=CIPHERS)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--decrypt", action="store_true")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sizes = [parse_size(text) for text in options.sizes.split(",")]
    ciphers = options.ciphers.split(",")
    # OpenSSL would look for a relative path in its own folder of modules.
    module = pathlib.Path(options.module).resolve() / "gpu.so"
    if not module.is_file():
        sys.exit(f"openssl_speed: there is no {module}; build first, or name its folder by --module")

    results, below = [], []
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "gpu.cnf"
        empty = pathlib.Path(folder) / "empty.cnf"
        statistics_file = pathlib.Path(folder) / "stats.json"
        settings = "\n".join(options.setting + [f"stats_file = {statistics_file}"])
        config.write_text(CONFIG.format(module=module, settings=settings), encoding="utf-8")
        empty.write_text("", encoding="utf-8")
        without = dict(os.environ, OPENSSL_CONF=str(empty))
        preferred = dict(os.environ, OPENSSL_CONF=str(config))
        print("| size | " + " | ".join(ciphers) + " |")
        print("| --- |" + " --- |" * len(ciphers))
        for size in sizes:
            cells = []
            for cipher in ciphers:
                if cipher.endswith("-xts") and size > MOST_XTS_BYTES:
                    cells.append("")
                    continue
                rates = {"openssl": [], "gpu": []}
                for _ in range(options.rounds):
                    for side, environment in (("openssl", without), ("gpu", preferred)):
                        rates[side].append(bytes_per_second(options.openssl, cipher, size,
                                                            options.seconds, options.decrypt,
                                                            environment))
                ratio = statistics.median(rates["gpu"]) / statistics.median(rates["openssl"])
                least = LEAST_LARGE if size >= LARGE_BYTES else LEAST_SMALL
                if ratio < least:
                    below.append(f"{cipher} at {size_text(size)}: {ratio:.2f}, not {least}")
                what = cipher + (".decrypt" if options.decrypt else "")
                name = f"{what}.speed-{size}"
                results.append(spread(f"{name}.provider", rates["gpu"]))
                results.append(spread(f"{name}.openssl", rates["openssl"]))
                cells.append(f"{ratio:.2f}")
            print(f"| {size_text(size)} | " + " | ".join(cells) + " |", flush=True)
        if not statistics_file.is_file():
            sys.exit("openssl_speed: the provider was never loaded: these are no figures of it")

    if options.out:
        write_results(options.out, results, module, options.openssl)
    for line in below:
        print(f"below: {line}", file=sys.stderr)
    return 1 if options.check and below else 0


if __name__ == "__main__":
    sys.exit(main())
