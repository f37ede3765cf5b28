# SPDX-License-Identifier: Apache-2.0
"""The steps of dev/demo, over what lies in build/."""

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
# `openssl enc` hands a cipher 4 KiB at a time.
ENC_PIECE_BYTES = 4096
KEYS = ["-pbkdf2", "-pass", "env:DEMO_PASSWORD"]

# Encrypts a file with one call of the cipher, as a program with data in memory does.
CRYPTOGRAPHY = """
import sys
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
encryptor = Cipher(algorithms.AES(bytes(range(32))), modes.CTR(bytes(16))).encryptor()
with open(sys.argv[1], "rb") as plain, open(sys.argv[2], "wb") as sealed:
    sealed.write(encryptor.update(plain.read()) + encryptor.finalize())
"""


class Failed(Exception):
    """A step did not do what it must; the text says which and why."""


def write_contents(path, total):
    """A quarter each of what Rosenberg's files 1 to 4 held: the bytes 0 to 255
    repeated, 0xAA alone, random in a growing range, random."""
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
                            if not k.startswith("OPENSSL_")}
        self.environment["DEMO_PASSWORD"] = "correct horse battery staple"
        if not gpus:
            self.environment.setdefault("LANECRYPT_DEVICES", "opencl")
        # Where it is not told to use a device, the command has cores encrypt what lies in
        # memory, as the files here may.
        chosen = ",".join(d["id"] for d in gpus if d["selected"])
        self.devices = self.environment.get("LANECRYPT_DEVICES", chosen)

    def run(self, step, device, size, *command, **environment):
        """Runs a command, adds its row to the table and returns the row and
        what the command said. Time is of the whole process, start included."""
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True,
                              env={**self.environment, **environment}, check=False)
        seconds = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise Failed(f"{step}: exit status {done.returncode}: {done.stderr.strip()}")
        row = {"step": step, "device": device, "bytes": size, "gb_per_s": size / seconds / 1e9,
               "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
               "device_bytes": 0, "same": None}
        self.rows.append(row)
        return row, done.stdout

    def lanecrypt(self, verb, cipher, source, target):
        row, said = self.run(f"lanecrypt {verb} -{cipher}", "", source.stat().st_size, LANECRYPT,
                             verb, f"-{cipher}", *KEYS, "-in", source, "-out", target, "--json",
                             LANECRYPT_DEVICES=self.devices)
        told = json.loads(said.splitlines()[-1])
        row["device"], row["device_bytes"] = told["device"], told["device_bytes"]
        if not told["device_bytes"]:
            raise Failed(f"{row['step']} ran no byte on a device: {told.get('note', '')}")
        return row

    def openssl(self, verb, cipher, source, target, step="", options=(), **environment):
        row, _ = self.run(step or f"openssl enc {verb} -{cipher}", "cpu", source.stat().st_size,
                          "openssl", "enc", verb, f"-{cipher}", *KEYS, "-in", source,
                          "-out", target, *options, **environment)
        return row

    def compare(self, one, other, *rows):
        """Compares two files by cmp and notes the answer in the rows."""
        same = subprocess.run(["cmp", one, other], capture_output=True, text=True, check=False)
        for row in rows:
            row["same"] = same.returncode == 0
        if same.returncode != 0:
            raise Failed(f"{rows[0]['step']}: {same.stdout}{same.stderr}".strip())

    def provider(self, threshold):
        """An openssl.cnf that turns the provider on, and the file of its counters."""
        stats = self.folder / f"stats-{len(self.rows)}"
        config = self.folder / f"openssl-{len(self.rows)}.cnf"
        config.write_text(
            "openssl_conf = start\n"
            "[start]\nproviders = providers\nalg_section = algorithms\n"
            "[providers]\ndefault = default_provider\ngpu = gpu_provider\n"
            "[algorithms]\ndefault_properties = ?provider=gpu\n"
            "[default_provider]\nactivate = 1\n"
            f"[gpu_provider]\nmodule = {MODULES}/gpu.so\nstats_file = {stats}\n"
            + (f"threshold_bytes = {threshold}\n" if threshold is not None else "")
            + "activate = 1\n")
        return config, stats

    def note_stats(self, row, stats):
        """Takes the provider's own count of what ran where into the row."""
        if not stats.exists():
            raise Failed(f"{row['step']}: the provider left no counters")
        lines = [json.loads(line) for line in stats.read_text().splitlines()]
        row["device_bytes"] = sum(line["device_bytes"] for line in lines)
        used = [d["id"] for line in lines for d in line["devices"] if d["bytes"]]
        row["device"] = used[0] if used else "cpu"

    def provider_enc(self, name, source, threshold):
        """`openssl enc` through the provider; opened again without it."""
        config, stats = self.provider(threshold)
        sealed, opened = self.folder / "sealed", self.folder / "opened"
        row = self.openssl("-e", "aes-256-ctr", source, sealed, step=name,
                           options=["-provider-path", MODULES, "-provider", "default",
                                    "-provider", "gpu", "-propquery", "?provider=gpu"],
                           OPENSSL_CONF=str(config))
        self.note_stats(row, stats)
        back = self.openssl("-d", "aes-256-ctr", sealed, opened)
        self.compare(source, opened, row, back)
        return row

    def provider_large(self, source):
        """A program that hands over all at once, through the provider and without."""
        config, stats = self.provider("1M")
        through, without = self.folder / "sealed", self.folder / "opened"
        size = source.stat().st_size
        row, _ = self.run("python3-cryptography, provider on", "", size, sys.executable, "-c",
                          CRYPTOGRAPHY, source, through, OPENSSL_CONF=str(config))
        self.note_stats(row, stats)
        cpu, _ = self.run("python3-cryptography, provider off", "cpu", size, sys.executable, "-c",
                          CRYPTOGRAPHY, source, without)
        self.compare(through, without, row, cpu)
        return row

    def print_table(self):
        print(f"\n{'step':<42} {'device':<10} {'bytes':>13} {'GB/s':>7} {'CPU s':>7} "
              f"{'on a device':>13}  same bytes")
        for row in self.rows:
            same = {True: "yes", False: "NO", None: "not compared"}[row["same"]]
            print(f"{row['step']:<42} {row['device']:<10} {row['bytes']:>13,} "
                  f"{row['gb_per_s']:>7.3f} {row['cpu_seconds']:>7.2f} "
                  f"{row['device_bytes']:>13,}  {same}")


def say(text):
    print(text, flush=True)


def steps(demo, size):
    plain, sealed, opened = (demo.folder / name for name in ("plain", "sealed", "opened"))
    say(f"Writing {size // MIB} MiB: bytes 0 to 255 repeated, 0xAA, random in a growing range, "
        "random")
    write_contents(plain, size)

    say("AES-256-CTR: lanecrypt encrypts, the machine's openssl decrypts")
    one = demo.lanecrypt("enc", "aes-256-ctr", plain, sealed)
    two = demo.openssl("-d", "aes-256-ctr", sealed, opened)
    demo.compare(plain, opened, one, two)

    for cipher in ("aes-256-ctr", "aes-256-cbc"):
        say(f"{cipher.upper()}: openssl encrypts, lanecrypt decrypts")
        one = demo.openssl("-e", cipher, plain, sealed)
        two = demo.lanecrypt("dec", cipher, sealed, opened)
        demo.compare(plain, opened, one, two)

    say("openssl enc through the provider gpu, with its default settings. openssl enc hands over "
        f"{ENC_PIECE_BYTES} bytes at a time, too little to gain from a device, so they stay on "
        "the CPU")
    demo.provider_enc("openssl enc, provider gpu", plain, None)
    part = demo.folder / "part"
    with open(plain, "rb") as whole:
        # From the middle: two kinds of content.
        whole.seek(size // 2 - 2 * MIB)
        part.write_bytes(whole.read(4 * MIB))
    say(f"The same for {part.stat().st_size // MIB} MiB with threshold_bytes = {ENC_PIECE_BYTES}, "
        "which sends each piece to the device, at a loss, to show that it is right there too")
    row = demo.provider_enc("openssl enc, provider gpu, threshold 4096", part, ENC_PIECE_BYTES)
    if not row["device_bytes"]:
        raise Failed(f"{row['step']}: no byte ran on a device")

    try:
        import cryptography  # noqa: F401  pylint: disable=unused-import,import-outside-toplevel
    except ImportError:
        say("There is no python3-cryptography here; its step is left out")
        return
    say("Python's cryptography, unchanged, with the provider on by OPENSSL_CONF: all in one call, "
        "with threshold_bytes = 1M. Without that a device would have to be sooner, by measurement, "
        "and the program longer at work than to open one takes")
    row = demo.provider_large(plain)
    if not row["device_bytes"]:
        raise Failed(f"{row['step']}: no byte ran on a device")


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
    else:
        opencl = [d["name"] for d in devices if d["api"] == "opencl"]
        if not opencl and "LANECRYPT_DEVICES" not in os.environ:
            say("demo: there is no GPU and no OpenCL device here (package pocl-opencl-icd)")
            return 1
        say("There is no GPU here. What follows runs through OpenCL on the CPU "
            f"({', '.join(opencl)}): it shows that all is right, not how fast a GPU is.")

    size = (options.mib or (1024 if gpus else 64)) * MIB
    size -= size % (4 * MIB)
    size = max(size, 8 * MIB)
    shm = pathlib.Path("/dev/shm")
    on_ram = shm.is_dir() and os.access(shm, os.W_OK) and shutil.disk_usage(shm).free > 5 * size
    with tempfile.TemporaryDirectory(prefix="lanecrypt-demo.", dir=shm if on_ram else None) as name:
        say(f"The files lie {'on a RAM disk' if on_ram else 'on a disk'}, in {name}")
        demo = Demo(pathlib.Path(name), gpus)
        failure = None
        try:
            steps(demo, size)
        except Failed as failed:
            failure = failed
        demo.print_table()
    if failure:
        say(f"\ndemo: FAILED: {failure}")
        return 1
    say("\nEvery file came back byte for byte.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
