#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long one signature of SLH-DSA takes a program that calls EVP_DigestSign(), one after the other:
with the provider, which signs on a card within the process, and with OpenSSL's own, in turn. Each
signature by the provider is verified by OpenSSL's own. Needs OpenSSL 3.5 or later. Prints the
figures, and writes JSON in the format of bench/results.

Usage: bench/pq/evp_sign_one.py --libcrypto FILE --module FILE [--devices LIST] [--sets NAMES]
           [--runs N] [--commit HASH] [--compiler TEXT] [--out FILE]

--module FILE  the provider, gpu.so
--sets NAMES   such as SLH-DSA-SHA2-128s,SLH-DSA-SHA2-128f
--runs N       signatures by the provider; OpenSSL's own makes three
"""

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

CONFIG = """openssl_conf = init
[init]
providers = providers
[providers]
default = default_section
gpu = gpu_section
[default_section]
activate = 1
[gpu_section]
module = {module}
activate = 1
in_process = yes
devices = {devices}
slh_dsa = always
"""
OWN, OURS = b"provider=default", b"provider=gpu"
MESSAGE = b"how long does this take"


class Crypto:
    """The functions of libcrypto that are needed here."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.OpenSSL_version.restype = ctypes.c_char_p
        for name in ("EVP_PKEY_Q_keygen", "EVP_MD_CTX_new", "EVP_PKEY_get0_provider", "OSSL_PROVIDER_get0_name"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.library.OSSL_PROVIDER_get0_name.restype = ctypes.c_char_p
        self.version = self.library.OpenSSL_version(0).decode()

    def check(self, done, what):
        if not done:
            self.library.ERR_print_errors_fp(ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stderr"))
            raise SystemExit(f"{what} failed")
        return done

    def key(self, name, properties):
        return ctypes.c_void_p(self.check(
            self.library.EVP_PKEY_Q_keygen(None, properties, name.encode()), f"a key of {name}"))

    def provider_of(self, key):
        return self.library.OSSL_PROVIDER_get0_name(
            ctypes.c_void_p(self.library.EVP_PKEY_get0_provider(key))).decode()

    def sign(self, key, properties):
        """A signature, and the seconds that EVP_DigestSign() took."""
        context = ctypes.c_void_p(self.library.EVP_MD_CTX_new())
        self.check(self.library.EVP_DigestSignInit_ex(context, None, None, None, properties, key, None) == 1,
                   "EVP_DigestSignInit_ex()")
        signature, length = ctypes.create_string_buffer(65536), ctypes.c_size_t(65536)
        begin = time.perf_counter()
        done = self.library.EVP_DigestSign(context, signature, ctypes.byref(length), MESSAGE,
                                           ctypes.c_size_t(len(MESSAGE)))
        seconds = time.perf_counter() - begin
        self.check(done == 1, "EVP_DigestSign()")
        self.library.EVP_MD_CTX_free(context)
        return signature.raw[:length.value], seconds

    def verify(self, key, signature):
        context = ctypes.c_void_p(self.library.EVP_MD_CTX_new())
        self.check(self.library.EVP_DigestVerifyInit_ex(context, None, None, None, OWN, key, None) == 1,
                   "EVP_DigestVerifyInit_ex()")
        right = self.library.EVP_DigestVerify(context, signature, ctypes.c_size_t(len(signature)), MESSAGE,
                                              ctypes.c_size_t(len(MESSAGE)))
        self.library.EVP_MD_CTX_free(context)
        self.check(right == 1, "EVP_DigestVerify()")


def measure(crypto, name, runs):
    ours, own = crypto.key(name, OURS), crypto.key(name, OWN)
    if crypto.provider_of(ours) != "gpu":
        raise SystemExit(f"{name} is not the provider's")
    crypto.sign(ours, OURS)  # opens the device
    results, by_ours, by_own = [], [], []
    for run in range(runs):
        signature, seconds = crypto.sign(ours, OURS)
        crypto.verify(ours, signature)
        by_ours.append(seconds)
        if run % (runs // 3) == 0 and len(by_own) < 3:
            by_own.append(crypto.sign(own, OWN)[1])
    for way, figures in (("evp.provider", by_ours), ("evp.openssl", by_own)):
        row = {"name": f"{name.lower()}.sign-one.{way}", "value": statistics.median(figures), "unit": "s",
               "runs": len(figures), "min": min(figures), "max": max(figures)}
        print(f"{row['name']:50} {row['value']:.6f} s  {row['min']:.6f} {row['max']:.6f} {row['runs']}")
        results.append(row)
    return results


def gpu():
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True, check=True).stdout
        return said.splitlines()[0].split(", ")
    except (OSError, subprocess.CalledProcessError):
        return ["", ""]


def cpu():
    with open("/proc/cpuinfo", encoding="ascii") as info:
        return next((line.partition(":")[2].strip() for line in info if line.startswith("model name")), "")


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--libcrypto", required=True)
    options.add_argument("--module", required=True)
    options.add_argument("--devices", default="cuda:0")
    options.add_argument("--sets", default="SLH-DSA-SHA2-128s,SLH-DSA-SHA2-128f")
    options.add_argument("--runs", type=int, default=99)
    options.add_argument("--commit", default="")
    options.add_argument("--compiler", default="")
    options.add_argument("--out")
    given = options.parse_args()
    if given.runs < 3:
        options.error("--runs is 3 at least")
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "openssl.cnf"
        config.write_text(CONFIG.format(module=given.module, devices=given.devices), encoding="utf-8")
        os.environ["OPENSSL_CONF"] = str(config)
        crypto = Crypto(given.libcrypto)
        results = [row for name in given.sets.split(",") for row in measure(crypto, name, given.runs)]
    if given.out:
        card, driver = gpu()
        report = {"machine": {"gpu": card, "driver": driver, "cpu": cpu(), "cores": os.cpu_count()},
                  "date": datetime.date.today().isoformat(),
                  "software": {"commit": given.commit, "compiler": given.compiler,
                               "openssl": crypto.version}, "results": results}
        pathlib.Path(given.out).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
