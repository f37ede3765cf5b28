# SPDX-License-Identifier: Apache-2.0
"""Programs that free OpenSSL's objects after OpenSSL's own cleanup, or their library context
before its objects, and programs that load and unload the provider many times. They are built and
run with the release of the `openssl` that LANECRYPT_TEST_OPENSSL names."""

import os
import pathlib
import shutil
import statistics
import subprocess

import pytest

from conftest import EVERY_CASE, REPOSITORY
from provider_fixtures import OPENSSL, Configuration, make_key, plain

FOLDER = REPOSITORY / "tests" / "process"
PROGRAMS = ("late_frees", "provider_loads")
# With other releases of OpenSSL a sample runs: the whole takes ten minutes.
WHOLE = EVERY_CASE and not os.environ.get("LANECRYPT_TEST_OPENSSL")
SETTINGS = {
    "default": {"in_process": None},
    "in-process": {"devices": "host"},
    "forced": {"devices": "host", "threshold_bytes": "0", "rsa": "always"},
    "cores": {"in_process": None, "cores": "4"},
    "service": {"in_process": None, "rsa": "always", "service": "/run/lanecrypt-no-such/socket"},
}
# Settings, and the number of loads. The emulator starts slowly, and each load in a new library
# context starts it.
LOADS = {"default": (SETTINGS["default"], 1000),
         "in-process": ({**SETTINGS["in-process"], "threshold_bytes": "0", "rsa": "always"},
                        1000 if WHOLE else 150)}
# After these loads memory may no longer grow.
FIRST_LOADS = slice(20, 40)
# glibc counts memory in a thread's cache, and the header of each arena, as in use. With these
# settings there are no such caches and only one arena.
EXACT_HEAP = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"}
WHENS = ("main", "global", "handler", "library", "cleanup", "thread", "race", "unload")
OWNS = ("no", "yes", "first")
# valgrind is slow, so by default each way of ending and each setting runs once.
SHORT = [("default", "no", "global"), ("default", "no", "handler"), ("default", "first", "main"),
         ("default", "yes", "library"), ("in-process", "no", "cleanup"), ("cores", "no", "thread"),
         ("service", "first", "handler"), ("default", "no", "unload"), ("forced", "yes", "main"),
         ("forced", "first", "global")]
# No library context is freed while or after OPENSSL_cleanup() runs in another thread: OpenSSL
# promises nothing then. Even without the provider, OpenSSL 4 reads a context that another thread
# has freed when a thread that has used it ends.
WAYS = [(own, when) for own in OWNS for when in WHENS
        if own == "no" or when not in ("race", "thread")]
ALL = [(name, *way) for name in SETTINGS for way in WAYS]
# The loader compares in words of eight bytes.
SUPPRESSION = "{\n the loader\n Memcheck:Addr8\n fun:strncmp\n fun:is_dst\n}\n"


@pytest.fixture(scope="session")
def programs(build, tmp_path_factory):
    """The folder of the programs, built for the OpenSSL under test."""
    if not os.environ.get("LANECRYPT_TEST_OPENSSL"):
        return build / "bin"
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a compiler of C++")
    prefix = pathlib.Path(OPENSSL).resolve().parents[1]
    libraries, = prefix.glob("lib*")
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        plain(compiler, "-std=c++20", "-g", "-I", prefix / "include", FOLDER / f"{name}.cpp", "-o",
              folder / name, "-L", libraries, f"-Wl,-rpath,{libraries}", "-lssl", "-lcrypto",
              "-pthread")
    return folder


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    make_key(folder)
    return folder


def configure(folder, build, name, when):
    """If the program unloads the provider, the program itself loads it."""
    configuration = Configuration(folder, build, activate=when != "unload", **SETTINGS[name])
    # OpenSSL 3.0.13, of Ubuntu 24.04, forgets the path of a module that it does not activate.
    configuration.environment["OPENSSL_MODULES"] = str(build / "lib")
    return configuration


def free_late(programs, keys, configuration, *before, **words):
    words = [f"{name}={value}" for name, value in {"key": keys / "both.pem", **words}.items()]
    return subprocess.run([*before, programs / "late_frees", *words], capture_output=True,
                          env=configuration.environment, timeout=120, check=False)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("used", ["no", "yes"])
def test_late_frees_end_well(tmp_path, build, programs, keys, name, used):
    failed = []
    for own, when in WAYS:
        configuration = configure(tmp_path, build, name, when)
        done = free_late(programs, keys, configuration, own=own, when=when, used=used)
        if done.returncode != 0 or not done.stdout.startswith(b"freed "):
            failed.append((own, when, done.returncode, done.stderr[-300:]))
    assert failed == []


@pytest.mark.parametrize("name,own,when", ALL if WHOLE else SHORT)
def test_late_frees_touch_nothing_that_is_gone(tmp_path, build, programs, keys, name, own, when):
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("needs valgrind")
    (tmp_path / "known").write_text(SUPPRESSION)
    configuration = configure(tmp_path, build, name, when)
    # The emulator's kernels read memory outside of their data, without using it.
    done = free_late(programs, keys, configuration, valgrind, "-q", "--error-exitcode=98",
                     "--undef-value-errors=no", f"--suppressions={tmp_path}/known", own=own,
                     when=when, used="yes")
    assert done.returncode == 0, done.stderr.decode()[-6000:]


@pytest.mark.parametrize("own", ["no", "yes"])
@pytest.mark.parametrize("name", LOADS)
def test_loads_leave_nothing_behind(tmp_path, build, programs, keys, name, own):
    """Memory in use, threads and descriptors after the last loads are the same as after the
    first ones."""
    settings, loads = LOADS[name]
    configuration = Configuration(tmp_path, build, activate=False, **settings)
    done = subprocess.run(
        [programs / "provider_loads", f"key={keys}/key.pem", f"loads={loads}", f"own={own}"],
        capture_output=True, env={**configuration.environment, **EXACT_HEAP}, timeout=1500,
        check=False)
    assert done.returncode == 0, done.stderr.decode()
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(rows) == loads
    before, after = rows[FIRST_LOADS], rows[-(loads // 10):]
    heap, pages = ([statistics.median(row[column] for row in part) for part in (before, after)]
                   for column in (0, 1))
    # This detects 5 bytes that are left by each of 1,000 loads, or 37 by each of 150. Threads that
    # stay in the one context may be at different points of their work, and the allocator keeps some
    # pages.
    assert heap[1] - heap[0] < 4096, heap
    assert pages[1] - pages[0] < 256, pages
    assert {row[2:] for row in before} == {row[2:] for row in after}
    # The settings were read, and the emulator was used.
    counters = configuration.counters()
    assert (counters["device_jobs"] > 0) == (name == "in-process"), counters
