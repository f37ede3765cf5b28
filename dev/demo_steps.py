# SPDX-License-Identifier: Apache-2.0
"""The steps of dev/demo, which use what is in build/."""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
LANECRYPT = REPOSITORY / "build" / "bin" / "lanecrypt"
MODULES = REPOSITORY / "build" / "lib"
MIB = 1 << 20
# `openssl enc` passes 4 KiB at a time to a cipher.
ENC_PIECE_BYTES = 4096
KEYS = ["-pbkdf2", "-pass", "env:DEMO_PASSWORD"]

# Encrypts a file with one call of the cipher, as a program with data in memory does. Prints
# how long the second such call took, since the first starts threads or a device.
CRYPTOGRAPHY = """
import sys, time
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
plain = open(sys.argv[1], "rb").read()
sealed = bytearray(len(plain) + 15)
for _ in range(2):
    encryptor = Cipher(algorithms.AES(bytes(range(32))), modes.CTR(bytes(16))).encryptor()
    started = time.monotonic()
    encryptor.update_into(plain, sealed)
    seconds = time.monotonic() - started
with open(sys.argv[2], "wb") as file:
    file.write(sealed[:len(plain)])
print(seconds)
"""
# Without a GPU the device is OpenCL on the CPU, which is slow.
SMALL_BYTES = 8 * MIB
# The command uses no more cores (docs/lab/host-memory.md).
MOST_CORES = 8


class Failed(Exception):
    """A step failed. The text says which one and why."""


def write_contents(path, total):
    """Writes a file with a quarter each of the contents of Rosenberg's files 1 to 4: the bytes 0
    to 255 repeated, only 0xAA, random bytes from a growing range, and random bytes."""
    quarter = total // 4
    with open(path, "wb") as file:
        file.write((bytes(range(256)) * (MIB // 256)) * (quarter // MIB))
        file.write(b"\xaa" * quarter)
        steps = 256
        for step in range(steps):
            scale = bytes(value * (step + 1) // 256 for value in range(256))
            file.write(os.urandom(quarter // steps).translate(scale))
        for _ in range(quarter // MIB):
            file.write(os.urandom(MIB))
    if path.stat().st_size != total:
        raise Failed(f"{path} came out {path.stat().st_size} bytes long, not {total}")


class Demo:
    def __init__(self, folder, gpus):
        self.folder = folder
        self.gpu = bool(gpus)
        self.rows = []
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith("OPENSSL_") and k != "LANECRYPT_DEVICES"}
        self.environment["DEMO_PASSWORD"] = "correct horse battery staple"
        # By default the command uses cores for files that are in memory, as these may be.
        chosen = ",".join(d["id"] for d in gpus if d["selected"]) or "opencl"
        self.devices = os.environ.get("LANECRYPT_DEVICES", chosen)
        self.cores = min(len(os.sched_getaffinity(0)), MOST_CORES)

    def run(self, step, size, *command, **environment):
        """Runs a command and adds its row to the table. Returns the row and what the command
        printed. The time is that of the whole process including its start."""
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True,
                              env={**self.environment, **environment}, check=False)
        seconds = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise Failed(f"{step}: exit status {done.returncode}: {done.stderr.strip()}")
        row = {"step": step, "where": "CPU", "bytes": size, "gb_per_s": size / seconds / 1e9,
               "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
               "device_bytes": 0, "same": None}
        self.rows.append(row)
        return row, done.stdout

    def lanecrypt(self, verb, cipher, source, target, on_device):
        row, said = self.run(f"lanecrypt {verb} -{cipher}", source.stat().st_size, LANECRYPT, verb,
                             f"-{cipher}", *KEYS, "-in", source, "-out", target, "--json",
                             **({"LANECRYPT_DEVICES": self.devices} if on_device else {}))
        told = json.loads(said.splitlines()[-1])
        row["device_bytes"] = told["device_bytes"]
        if told["device_bytes"]:
            row["where"] = told["device"]
        elif on_device:
            raise Failed(f"{row['step']} ran no byte on a device: {told.get('note', '')}")
        return row

    def openssl(self, verb, cipher, source, target, step="", options=(), **environment):
        row, _ = self.run(step or f"openssl enc {verb} -{cipher}", source.stat().st_size,
                          "openssl", "enc", verb, f"-{cipher}", *KEYS, "-in", source,
                          "-out", target, *options, **environment)
        return row

    def compare(self, one, other, *rows):
        """Compares two files by cmp and notes the result in the rows."""
        same = subprocess.run(["cmp", one, other], capture_output=True, text=True, check=False)
        for row in rows:
            row["same"] = same.returncode == 0
        if same.returncode != 0:
            raise Failed(f"{rows[0]['step']}: {same.stdout}{same.stderr}".strip())

    def there_and_back(self, plain, on_device):
        """The command and the machine's openssl read each other's files."""
        sealed, opened = self.folder / "sealed", self.folder / "opened"
        one = self.lanecrypt("enc", "aes-256-ctr", plain, sealed, on_device)
        two = self.openssl("-d", "aes-256-ctr", sealed, opened)
        self.compare(plain, opened, one, two)
        for cipher in ("aes-256-ctr", "aes-256-cbc"):
            one = self.openssl("-e", cipher, plain, sealed)
            two = self.lanecrypt("dec", cipher, sealed, opened, on_device)
            self.compare(plain, opened, one, two)

    def provider(self, **settings):
        """Writes an openssl.cnf that enables the provider. Returns it and the file of its
        counters."""
        stats = self.folder / f"stats-{len(self.rows)}"
        config = self.folder / f"openssl-{len(self.rows)}.cnf"
        config.write_text(
            "openssl_conf = start\n"
            "[start]\nproviders = providers\nalg_section = algorithms\n"
            "[providers]\ndefault = default_provider\ngpu = gpu_provider\n"
            "[algorithms]\ndefault_properties = ?provider=gpu\n"
            "[default_provider]\nactivate = 1\n"
            f"[gpu_provider]\nmodule = {MODULES}/gpu.so\nstats_file = {stats}\n"
            + "".join(f"{name} = {value}\n" for name, value in settings.items())
            + "activate = 1\n")
        return config, stats

    def note_stats(self, row, stats):
        """Writes into the row what ran where, by the provider's counters."""
        if not stats.exists():
            raise Failed(f"{row['step']}: the provider left no counters")
        lines = [json.loads(line) for line in stats.read_text().splitlines()]
        row["device_bytes"] = sum(line["device_bytes"] for line in lines)
        used = [d["id"] for line in lines for d in line["devices"] if d["bytes"]]
        if used:
            row["where"] = used[0]
        elif any(line["cores_bytes"] for line in lines):
            row["where"] = f"{self.cores} cores"

    def devices_for(self, settings):
        """Returns the variable that names the devices, if the settings allow any."""
        return {"LANECRYPT_DEVICES": self.devices} if "in_process" in settings else {}

    def provider_enc(self, source, **settings):
        """Runs `openssl enc` through the provider, and decrypts the file without it."""
        config, stats = self.provider(**settings)
        sealed, opened = self.folder / "sealed", self.folder / "opened"
        row = self.openssl("-e", "aes-256-ctr", source, sealed,
                           step=f"openssl enc, gpu: {told_of(settings)}",
                           options=["-provider-path", MODULES, "-provider", "default",
                                    "-provider", "gpu", "-propquery", "?provider=gpu"],
                           OPENSSL_CONF=str(config), **self.devices_for(settings))
        self.note_stats(row, stats)
        back = self.openssl("-d", "aes-256-ctr", sealed, opened)
        self.compare(source, opened, row, back)
        return row

    def program(self, step, source, target, **environment):
        """Runs a program that passes all data at once. Its row has the time of this call only."""
        size = source.stat().st_size
        row, said = self.run(step, size, sys.executable, "-c", CRYPTOGRAPHY, source, target,
                             **environment)
        row["gb_per_s"] = size / float(said) / 1e9
        return row

    def provider_large(self, source, **settings):
        """Runs the program with the provider and without."""
        config, stats = self.provider(**settings)
        through, without = self.folder / "sealed", self.folder / "opened"
        cpu = self.program("Python, one call", source, without)
        row = self.program(f"Python, gpu: {told_of(settings)}", source, through,
                           OPENSSL_CONF=str(config), **self.devices_for(settings))
        self.note_stats(row, stats)
        self.compare(through, without, row, cpu)
        return row

    def print_table(self, with_speed):
        """Prints the rows since the last table."""
        if not self.rows:
            return
        print(f"\n  {'':<58} {'ran on':<9} {'MB':>6} "
              + (f"{'GB/s':>6} {'CPU s':>6} " if with_speed else "") + " same bytes")
        for row in self.rows:
            same = {True: "yes", False: "NO", None: "not compared"}[row["same"]]
            print(f"  {row['step']:<58} {row['where']:<9} {row['bytes'] / 1e6:>6.0f} "
                  + (f"{row['gb_per_s']:>6.2f} {row['cpu_seconds']:>6.2f} " if with_speed else "")
                  + f" {same}")
        print(flush=True)
        self.rows.clear()


def told_of(settings):
    return ", ".join(f"{name} = {value}" for name, value in settings.items()) or "no setting"


def say(text):
    print(text, flush=True)


def has_cryptography():
    try:
        import cryptography  # noqa: F401  pylint: disable=unused-import,import-outside-toplevel
    except ImportError:
        say("There is no python3-cryptography here; its step is left out.")
        return False
    return True


def show_defaults(demo, plain):
    """Shows what a user gets without asking for a device."""
    say("By default no device is asked for. The command has the cores encrypt what lies in memory. "
        "The provider\ngpu leaves all to OpenSSL on one core, and large requests to several where "
        "`cores` allows it. GB/s is of the\nwhole program, start and files included; of Python's "
        "cryptography, which has all in memory, of the call.")
    demo.there_and_back(plain, on_device=False)
    demo.provider_enc(plain)
    if not has_cryptography():
        return
    row = demo.provider_large(plain, cores=demo.cores)
    # A single core cannot share a request.
    if demo.cores > 1 and not row["where"].endswith("cores"):
        raise Failed(f"{row['step']}: it ran on one core")


def show_device(demo, plain, part):
    """Shows the same on a device. openssl enc gets only `part`, piece by piece."""
    demo.there_and_back(plain, on_device=True)
    # The pieces are too small to gain by a device. This shows that the result is right there too.
    rows = [demo.provider_enc(part, in_process="yes", threshold_bytes=ENC_PIECE_BYTES)]
    if has_cryptography():
        rows.append(demo.provider_large(plain, in_process="yes", threshold_bytes="1M"))
    for row in rows:
        if not row["device_bytes"]:
            raise Failed(f"{row['step']}: no byte ran on a device")


def steps(demo, size, opencl):
    plain, part, small = (demo.folder / name for name in ("plain", "part", "small"))
    say(f"Writing {size // MIB} MiB: bytes 0 to 255 repeated, 0xAA, random in a growing range, "
        "random.\n")
    write_contents(plain, size)
    show_defaults(demo, plain)
    demo.print_table(with_speed=True)

    with open(plain, "rb") as whole:
        # From the middle of the file, where two kinds of content meet.
        whole.seek(size // 2 - 2 * MIB)
        part.write_bytes(whole.read(4 * MIB))
    if demo.gpu:
        say(f"On {demo.devices}, since it is asked for. A single file passes the bus twice, and "
            "its start takes\nabout half a second; docs/performance.md says where a GPU gains.")
        show_device(demo, plain, part)
        demo.print_table(with_speed=True)
        return
    if "LANECRYPT_DEVICES" in os.environ:
        say(f"On {demo.devices}, as LANECRYPT_DEVICES says.")
    elif opencl:
        say(f"There is no GPU here. OpenCL on the CPU ({', '.join(opencl)}) stands in for one: it "
            "shows that\na device's bytes are right, and nothing of how fast a GPU is.")
    else:
        raise Failed("there is no GPU and no OpenCL device here (package pocl-opencl-icd)")
    write_contents(small, SMALL_BYTES)
    show_device(demo, small, part)
    demo.print_table(with_speed=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int)
    options = parser.parse_args()

    told = subprocess.run([str(LANECRYPT), "devices", "--json"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if told.returncode != 0:
        say(f"demo: lanecrypt devices failed: {told.stderr.strip()}")
        return 1
    devices = [d for d in json.loads(told.stdout)["devices"] if not d["reason"]]
    gpus = [d for d in devices if d["is_gpu"]]
    if gpus:
        say("GPUs here: " + ", ".join(f"{d['id']} {d['name']}" for d in gpus))

    size = (options.mib or (1024 if gpus else 256)) * MIB
    size -= size % (4 * MIB)
    size = max(size, 8 * MIB)
    shm = pathlib.Path("/dev/shm")
    on_ram = shm.is_dir() and os.access(shm, os.W_OK) and shutil.disk_usage(shm).free > 5 * size
    with tempfile.TemporaryDirectory(prefix="lanecrypt-demo.", dir=shm if on_ram else None) as name:
        say(f"The files lie {'on a RAM disk' if on_ram else 'on a disk'}, in {name}")
        demo = Demo(pathlib.Path(name), gpus)
        failure = None
        try:
            steps(demo, size, [d["name"] for d in devices if d["api"] == "opencl"])
        except Failed as failed:
            failure = failed
            demo.print_table(with_speed=False)
    if failure:
        say(f"demo: FAILED: {failure}")
        return 1
    say("Every file came back byte for byte.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
