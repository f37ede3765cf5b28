# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of the provider `gpu`: configurations and their counters.

LANECRYPT_TEST_OPENSSL names the `openssl` to test with (the system's by default),
LANECRYPT_TEST_DEVICES the devices (the emulator by default).
"""

import json
import os
import subprocess

OPENSSL = os.environ.get("LANECRYPT_TEST_OPENSSL") or "openssl"
DEVICES = os.environ.get("LANECRYPT_TEST_DEVICES") or "host"

# The emulator's default kernels are bitsliced: they take as long for a block as for 32, in each
# process's self-test too. The unit tests run every form, so these processes use tables.
EMULATORS_FORM = {"LANECRYPT_AES_FORM": "table1"}

KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
IV = "f0f1f2f3f4f5f6f7f8f9fafbfffffffe"


class Configuration:
    """An openssl.cnf with which programs prefer the provider, and the counters of their runs."""

    def __init__(self, folder, build, activate=True, default=(), **settings):
        self.stats = folder / "stats.json"
        self.path = folder / "openssl.cnf"
        settings.setdefault("stats_file", self.stats)
        # Most tests are about this setting. The value None omits a setting.
        settings.setdefault("in_process", "yes")
        settings = {name: value for name, value in settings.items() if value is not None}
        lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
        # `default`: lines of settings for the default provider.
        default = "".join(f"{line}\n" for line in default)
        self.path.write_text(f"""
openssl_conf = start
nodejs_conf = start
[start]
providers = providers
alg_section = properties
[properties]
default_properties = ?provider=gpu
[providers]
default = default_settings
gpu = gpu_settings
[default_settings]
activate = 1
{default}[gpu_settings]
module = {build}/lib/gpu.so
{"activate = 1" if activate else ""}
{lines}""")
        form = EMULATORS_FORM if settings.get("devices") == "host" else {}
        self.environment = {**os.environ, "OPENSSL_CONF": str(self.path), **form}

    def run(self, *command, check=True, **options):
        """Runs a program with this configuration; its output is bytes."""
        done = subprocess.run([str(part) for part in command], env=self.environment,
                              capture_output=True, timeout=300, **options)
        if check:
            assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done

    def counters(self):
        """Returns the sums of all lines in stats_file, which must exist."""
        lines = [json.loads(line) for line in self.stats.read_text().splitlines()]
        assert lines
        names = ("device_jobs", "device_bytes", "cpu_jobs", "cpu_bytes", "failures",
                 "rsa_device_keys", "rsa_cpu_keys", "rsa_device_jobs", "rsa_cpu_jobs", "rsa_failures",
                 "ml_dsa_device_jobs", "ml_dsa_cpu_jobs", "ml_dsa_failures",
                 "slh_dsa_device_keys", "slh_dsa_cpu_keys", "slh_dsa_device_jobs",
                 "slh_dsa_cpu_jobs", "slh_dsa_failures")
        sums = {name: sum(line[name] for line in lines) for name in names}
        sums["devices"] = sorted({d["id"] for line in lines for d in line["devices"] if d["bytes"]})
        return sums


def are_under_test(ids):
    """Returns whether `ids` is not empty, and DEVICES names each of them by its id or its API."""
    return bool(ids) and all({id, id.split(":")[0]} & set(DEVICES.split(",")) for id in ids)


def plain(*command, **options):
    """Runs a program without the provider's configuration."""
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=300,
                          **options)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done


def make_key(folder):
    """Writes an RSA key, its certificate of `localhost`, both in one file, and the public half
    to the folder, without the provider."""
    plain(OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key.pem",
          "-out", folder / "certificate.pem", "-subj", "/CN=localhost", "-days", "2",
          "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:TRUE",
          "-config", os.devnull)
    plain(OPENSSL, "pkey", "-in", folder / "key.pem", "-pubout", "-out", folder / "public.pem")
    both = (folder / "certificate.pem").read_text() + (folder / "key.pem").read_text()
    (folder / "both.pem").write_text(both)
