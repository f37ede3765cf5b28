# SPDX-License-Identifier: Apache-2.0
"""What the measurements of whole programs share: a configuration, and the file of results."""

import datetime
import json
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIG = """\
openssl_conf = init
[init]
providers = providers
alg_section = algorithms
[providers]
default = default_settings
gpu = gpu_settings
[default_settings]
activate = 1
[gpu_settings]
activate = 1
module = {module}
{settings}
[algorithms]
default_properties = ?provider=gpu
"""


def cpu_model():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    match = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return match[1] if match else platform.machine()


def gpu_and_driver():
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                               "--format=csv,noheader"], capture_output=True, text=True, check=True)
        return [part.strip() for part in done.stdout.splitlines()[0].split(",")]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ["", ""]


def output_of(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def compiler_of(module):
    """Returns the compiler's name and version, as recorded in the file."""
    match = re.search(rb"(GCC: \([^)\0]*\) [\d.]+|clang version [\d.]+)", module.read_bytes())
    return match[1].decode() if match else "unknown"


def write_results(path, results, module, openssl, commit=None):
    """Writes figures that were measured with a module `gpu.so` and a program `openssl`, both
    built from `commit`, or from this clone's commit if that is None."""
    gpu, driver = gpu_and_driver()
    document = {
        "machine": {"gpu": gpu, "driver": driver, "cpu": cpu_model(), "cores": os.cpu_count()},
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "software": {"commit": commit or output_of("git", "rev-parse", "--short=12", "HEAD"),
                     "compiler": compiler_of(module),
                     "openssl": output_of(openssl, "version")},
        "results": results,
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
