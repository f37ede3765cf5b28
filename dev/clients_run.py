# SPDX-License-Identifier: Apache-2.0
"""The main program of dev/clients after the installation: runs programs in each way, and
reports."""

import argparse
import datetime
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import typing

# This script, and everything that runs without the provider, reads no openssl.cnf.
os.environ["OPENSSL_CONF"] = os.devnull
for variable in ("OPENSSL_MODULES", "LANECRYPT_DEVICES", "LANECRYPT_HOST_FAULT"):
    os.environ.pop(variable, None)

import clients_stage  # noqa: E402
from clients_stage import REPOSITORY, WAYS, Failure, Stage  # noqa: E402
from clients_commands import (PYTHON, SECRET, borg, curl, language, openssl,  # noqa: E402
                              softhsm, strongswan)
from clients_daemons import DAEMONS, serve_one  # noqa: E402
from clients_servers import (serve_by_apache, serve_by_haproxy, serve_by_nginx,  # noqa: E402
                             serve_by_stunnel)
from clients_sessions import postgres_program, postgresql, ssh, sshd  # noqa: E402
from local_server import program  # noqa: E402
from provider_fixtures import IV, KEY, OPENSSL, make_key, plain  # noqa: E402

DATA_BYTES = (512 << 10) + 7


class Program(typing.NamedTuple):
    work: typing.Callable
    # The command that prints the version, and so shows that the program is installed.
    version: list
    # Whether it must show counters, with some work done by devices if that is forced.
    counts: bool = True


PROGRAMS = {
    "openssl": Program(openssl, [OPENSSL, "version"]),
    "python": Program(language("encrypt.py", PYTHON),
                      [PYTHON, "-c", "import sys, cryptography as c;"
                       "print('Python', sys.version.split()[0], 'cryptography', c.__version__)"]),
    "perl": Program(language("encrypt.pl", "perl", outputs=("received", "signature", "opened")),
                    ["perl", "-MIO::Socket::SSL", "-MCrypt::OpenSSL::RSA", "-e",
                     "print qq(Perl $^V IO::Socket::SSL $IO::Socket::SSL::VERSION)"]),
    "php": Program(language("encrypt.php", "php"),
                   ["php", "-r", "openssl_get_md_methods(); echo 'PHP ', PHP_VERSION;"]),
    "ruby": Program(language("encrypt.rb", "ruby"), ["ruby", "-ropenssl", "-e", "puts RUBY_DESCRIPTION"]),
    "node": Program(language("encrypt.mjs", "node"),
                    ["node", "-p", "process.version + ' OpenSSL ' + process.versions.openssl"]),
    "curl": Program(curl, ["curl", "--version"]),
    "borg": Program(borg, ["borg", "--version"]),
    "softhsm": Program(softhsm, ["softhsm2-util", "--version"]),
    "strongswan": Program(strongswan, ["sh", "-c", "test -e /usr/lib/ipsec/plugins/libstrongswan-openssl.so &&"
                           " pki --help 2>&1 | grep strongSwan"]),
    "nginx": Program(serve_by_nginx, ["nginx", "-v"]),
    "haproxy": Program(serve_by_haproxy, ["haproxy", "-v"]),
    "apache-prefork": Program(serve_by_apache("prefork"), ["apache2", "-v"]),
    "apache-event": Program(serve_by_apache("event"), ["apache2", "-v"]),
    # stunnel fetches its TLS algorithms in such a way that it gets OpenSSL's own.
    "stunnel": Program(serve_by_stunnel, ["stunnel4", "-version"], counts=False),
    "postgresql": Program(postgresql, [postgres_program("postgres") or "postgres", "--version"]),
    # In a sandbox the CPU does everything.
    "sshd": Program(sshd, ["ssh", "-V"], counts=False),
    "ssh": Program(ssh, ["ssh", "-V"]),
    **{name: Program(serve_one(daemon), daemon.version, daemon.counts)
       for name, daemon in DAEMONS.items()},
}
NEEDS = {"curl": "nginx", "sshd": "sshd", "ssh": "sshd", "stunnel": "stunnel4",
         "softhsm": "pkcs11-tool", "nghttpx": "h2load", "mosquitto": "mosquitto_pub", "named": "dig",
         "unbound": "dig", "dnsdist": "dig", "pdns": "dig"}


@functools.cache
def version_of(name):
    """Returns the first line that contains a program's version, or None if it is not
    installed."""
    command = [program(PROGRAMS[name].version[0]), *PROGRAMS[name].version[1:]]
    if not command[0] or not program(NEEDS.get(name, "true")):
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        return None
    lines = [line for line in (done.stdout + done.stderr).splitlines() if re.search(r"\d", line)]
    return lines[0].strip() if lines else "?"


def run_one(name, way, folder, key, options):
    """Runs a program in one way. Returns the row of the report."""
    reference = folder / f"{name}-plain"
    stage = Stage(folder / f"{name}-{way}", way, key, options,
                  reference if way != "plain" and reference.is_dir() else None)
    failed = None
    try:
        with stage:
            PROGRAMS[name].work(stage)
    except (Failure, AssertionError) as failure:
        failed = str(failure) or "a command failed, and wrote nothing"
    except Exception:  # a failure of one program does not stop the others
        failed = traceback.format_exc().strip()
    watch, counters = stage.watch, stage.counters()
    if watch.half_sandboxed:
        failed = (f"threads outside the sandbox of their process, in {len(watch.half_sandboxed)}"
                  f" processes; {failed or 'otherwise well'}")
    # A module that refused to start stays mapped, but has no counters.
    seen = counters if PROGRAMS[name].counts else counters or watch.with_ours
    if not failed and way != "plain" and not seen:
        failed = "the provider was in none of its processes"
    if not failed and way == "forced" and PROGRAMS[name].counts and not done_by_device(counters):
        failed = "no device did anything, though all was to run on one"
    if not failed and counters and (counters["failures"] or counters["rsa_failures"]):
        failed = f"a device failed: {'; '.join(counters['reasons']) or 'no reason is told'}"
    return {"program": name, "version": version_of(name), "way": way, "ok": not failed,
            "failed": failed, "ms": round(1000 * (time.monotonic() - stage.begun)), "module_mapped":
            bool(watch.with_ours or counters), "processes": len(watch.processes),
            "processes_with_module": len(watch.with_ours), "drivers": sorted(watch.drivers),
            "most_threads": watch.most_threads,
            "half_sandboxed": len(watch.half_sandboxed), "counters": counters}


def done_by_device(counters):
    return bool(counters and counters["device_jobs"] + counters["rsa_device_jobs"])


def summary(counters):
    if not counters:
        return "-"
    return (f"{counters['device_jobs']}+{counters['rsa_device_jobs']} by devices, "
            f"{counters['cpu_jobs']}+{counters['rsa_cpu_jobs']} by the CPU")


def print_row(*cells):
    print("{:15} {:8} {:6} {:>9} {:6} {:>7}  {}".format(*cells), flush=True)


def prepare(key):
    """Writes, without the provider, what programs share: data, keys and an encrypted file."""
    key.mkdir()
    make_key(key)
    (key / "data.bin").write_bytes(os.urandom(DATA_BYTES))
    (key / "key.hex").write_text(KEY)
    (key / "iv.hex").write_text(IV)
    plain(OPENSSL, "pkeyutl", "-encrypt", "-pubin", "-inkey", key / "public.pem", "-pkeyopt",
          "rsa_padding_mode:oaep", "-out", key / "sealed.bin", input=SECRET)
    # Servers whose workers run as another user read these too. They are used in this run only.
    for path in (key, *key.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)


def arguments():
    parser = argparse.ArgumentParser(prog="dev/clients", description="Runs real programs with the "
                                     "provider gpu, and reports what they do.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; all by default")
    parser.add_argument("--list", action="store_true", help="list the known programs, and which of them are installed")
    parser.add_argument("--way", action="append", choices=WAYS, help="only this way")
    parser.add_argument("--devices", default="host", help="the devices of `forced`: host by default")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
                        help="a further setting of the provider, in the ways that have it")
    parser.add_argument("--hard", action="store_true", help="also kill workers of servers")
    parser.add_argument("--build", type=pathlib.Path, default=REPOSITORY / "build")
    parser.add_argument("--json", type=pathlib.Path, help="the file for the report, as JSON")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs")
    parser.add_argument("--timeout", type=float, default=120, help="the most seconds of a step: 120 by default")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PROGRAMS]
    if unknown:
        parser.error(f"no such program: {' '.join(unknown)} (see --list)")
    options.build = options.build.resolve()
    options.settings = dict(setting.split("=", 1) for setting in options.settings)
    return options


def main():
    options = arguments()
    names = options.names or list(PROGRAMS)
    if options.list:
        for name in names:
            print(f"{name:15} {version_of(name) or 'not installed'}")
        return 0
    if not (options.build / "lib" / "gpu.so").exists():
        print(f"clients: no provider is built in {options.build}", file=sys.stderr)
        return 2
    clients_stage.adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lanecrypt-clients."))
    rows = []
    try:
        folder.chmod(0o755)
        options.cache = folder / "cache"
        options.cache.mkdir()
        options.cache.chmod(0o777)
        prepare(folder / "key")
        print_row("program", "way", "ok", "ms", "module", "threads", "counters; what failed")
        for name in names:
            if version_of(name) is None:
                print_row(name, "-", "absent", "", "", "", "not installed; see dev/clients --install")
                rows.append({"program": name, "version": None, "ok": None})
                continue
            for way in options.way or WAYS:
                row = run_one(name, way, folder, folder / "key", options)
                rows.append(row)
                print_row(name, way, "yes" if row["ok"] else "NO", row["ms"],
                          "yes" if row["module_mapped"] else "no", row["most_threads"],
                          summary(row["counters"]) + (f"; {row['failed']}" if row["failed"] else ""))
    finally:
        clients_stage.kill_descendants()
        clients_stage.reap()
        if options.keep:
            print(f"the folder is {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
        if options.json:
            options.json.write_text(json.dumps(
                {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                 "devices": options.devices, "settings": options.settings, "programs": rows},
                indent=1) + "\n")
    return 1 if any(row["ok"] is False for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("clients: stopped", file=sys.stderr)
        sys.exit(130)
