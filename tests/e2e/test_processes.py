# SPDX-License-Identifier: Apache-2.0
"""Whole programs with the provider: what is loaded into their process, and how they end.

LANECRYPT_TEST_ENDS is the number of processes for each way of ending (5 by default, 10 with
dev/test --full, 1,000 for a survey). They end at random moments.
"""

import concurrent.futures
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time

import pytest

from conftest import EVERY_CASE
from provider_fixtures import Configuration, DEVICES, plain

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "process"))
import ways  # noqa: E402  (in the folder of the program that it describes)

ENDS = ways.ENDS
SETTINGS = {name: {"in_process": None, **words}
            for name, words in ways.settings(DEVICES).items()}
FORCED = SETTINGS["forced"]
RUNS = int(os.environ.get("LANECRYPT_TEST_ENDS", "10" if EVERY_CASE else "5"))
# Names of driver files, and of the library that loads drivers.
DRIVERS = ("liblanecrypt", "libcuda", "libOpenCL", "libpocl", "LLVM", "libEGL", "libGL", "libgallium")


@pytest.fixture(scope="session")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "key.pem"
    # The emulator takes six times as long to sign with 2048 bits, and the length does not affect
    # how a process ends.
    plain("openssl", "genrsa", "-out", path, "1024")
    return path


@pytest.fixture
def client(build, key):
    """Returns a function that runs test_client with these arguments, and returns the finished
    process."""

    def run(configuration, timeout=60, **words):
        words.setdefault("key", key)
        return subprocess.run(ways.command(build, words), env=configuration.environment,
                              capture_output=True, timeout=timeout)

    return run


def mapped(pid):
    """Returns the files that a process has mapped."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return {line.split(None, 5)[5].strip() for line in maps if len(line.split(None, 5)) == 6}


def look_inside_of(program, environment, user=None, group=None, extra_groups=None, **words):
    """Returns the files that a process has mapped, and the number of its threads, after its
    work."""
    process = subprocess.Popen(
        [program, *ways.arguments({"after_us": 30000000, **words})], env=environment,
        stdout=subprocess.PIPE, user=user, group=group, extra_groups=extra_groups)
    try:
        # After its work it sleeps, with its output still in its buffer.
        for _ in range(600):
            time.sleep(0.05)
            with open(f"/proc/{process.pid}/wchan", encoding="utf-8") as wchan:
                sleeps = "nanosleep" in wchan.read()
            if sleeps:
                break
        files = mapped(process.pid)
        threads = len(os.listdir(f"/proc/{process.pid}/task"))
    finally:
        process.kill()
        process.wait()
    return files, threads


def look_inside(build, configuration, **words):
    return look_inside_of(build / "bin" / "test_client", configuration.environment,
                          **{"updates": 0, **words})


def drivers_of(files):
    return sorted(name for name in files if any(part in name for part in DRIVERS))


# By default only the module itself is loaded into a process, whatever the process does.
def test_default_brings_no_driver_and_no_thread(tmp_path, build, key):
    configuration = Configuration(tmp_path, build, in_process=None)
    files, threads = look_inside(build, configuration, key=key, threads=8, signs=40)
    assert any(name.endswith("/gpu.so") for name in files)
    assert drivers_of(files) == []
    assert threads == 1


def test_default_brings_none_for_bulk_either(tmp_path, build, client):
    configuration = Configuration(tmp_path, build, in_process=None)
    # 1.3 GiB: in an earlier version that was enough to open a GPU.
    done = client(configuration, key="", updates=42, kib=16384)
    assert ways.ended_as_told("return", done)
    counters = configuration.counters()
    # OpenSSL's own ciphers did it: the provider offers none.
    assert counters["device_jobs"] == counters["cpu_jobs"] == 0
    # Not even the library is loaded.
    files, threads = look_inside(build, configuration, key="")
    assert drivers_of(files) == [] and threads == 1


# A process that only signs loads the drivers of the devices that its settings name, and no others.
def test_only_the_apis_that_are_named_are_loaded(tmp_path, build, key):
    configuration = Configuration(tmp_path, build, **{**FORCED, "devices": "host"})
    files, threads = look_inside(build, configuration, key=key, signs=4)
    assert [name for name in drivers_of(files) if "liblanecrypt" not in name] == []
    assert threads > 1  # the emulator's threads
    assert configuration.path.exists()


def test_none_loads_nothing(tmp_path, build, client):
    configuration = Configuration(tmp_path, build, **{**FORCED, "devices": "none"})
    files, _ = look_inside(build, configuration)
    assert [name for name in drivers_of(files) if "liblanecrypt" not in name] == []


# ---- Set-user-ID programs -----------------------------------------------------


@pytest.fixture
def set_uid_client(build, key):
    """A folder with a copy of test_client that belongs to root, is set-user-ID, and can be
    started by others."""
    if os.geteuid() != 0:
        pytest.skip("only root makes a set-uid program for others")
    folder = "/usr/local/lib/lanecrypt-test-%d" % os.getpid()
    if os.statvfs("/usr/local").f_flag & os.ST_NOSUID:
        pytest.skip("/usr/local takes no set-uid programs")
    os.makedirs(folder, mode=0o755)
    try:
        program = shutil.copy(build / "bin" / "test_client", folder + "/client")
        os.chmod(program, 0o4755)
        for name in ("gpu.so", "liblanecrypt.so.0"):
            shutil.copy(build / "lib" / name, f"{folder}/{name}")
        os.makedirs(folder + "/lanecrypt")
        shutil.copy(build / "lib" / "lanecrypt" / "lanecrypt-probe", folder + "/lanecrypt/")
        shutil.copy(build / "lib" / "hostile_driver.so", folder + "/driver.so")
        shutil.copy(key, folder + "/key.pem")
        os.chmod(folder + "/key.pem", 0o644)
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("devices", ["", "host", "opencl", "none"])
def test_set_uid_programs_run_no_strangers_code(set_uid_client, tmp_path, devices):
    """The caller names a driver and a fault. The program's own configuration forces devices."""
    folder = set_uid_client
    configuration = Configuration(tmp_path, folder, **{**FORCED, "devices": devices or None,
                                                       "stats_file": folder + "/stats.json"})
    text = configuration.path.read_text().replace("/lib/gpu.so", "/gpu.so")
    with open(folder + "/openssl.cnf", "w", encoding="utf-8") as file:
        file.write(text)
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    (vendors / "hostile.icd").write_text(folder + "/driver.so\n")
    os.makedirs(folder + "/marks")
    os.chmod(folder + "/marks", 0o777)
    subprocess.run(["chmod", "-R", "a+rX", tmp_path], check=True)
    for parent in tmp_path.parents:
        if str(parent).startswith("/tmp/"):
            os.chmod(parent, 0o755)
    environment = {"PATH": "/usr/bin:/bin", "HOSTILE_MARK": folder + "/marks/mark",
                   "OCL_ICD_VENDORS": str(vendors), "OPENCL_VENDOR_PATH": str(vendors),
                   "LANECRYPT_DEVICES": "host,opencl", "LANECRYPT_HOST_FAULT": "flip-bit:0+",
                   "XDG_CACHE_HOME": folder + "/marks", "HOME": folder + "/marks"}
    done = subprocess.run(
        [folder + "/client", f"key={folder}/key.pem", f"config={folder}/openssl.cnf", "signs=2",
         "updates=2", "kib=4096"], env=environment, capture_output=True, timeout=120,
        user=65534, group=65534, extra_groups=[])
    assert ways.ended_as_told("return", done), done.stderr
    assert os.listdir(folder + "/marks") == []
    assert not os.path.exists(folder + "/stats.json")


def test_set_uid_programs_get_no_thread_and_no_library(set_uid_client, tmp_path):
    folder = set_uid_client
    configuration = Configuration(tmp_path, folder, **FORCED, cores="8", stats_file=None)
    with open(folder + "/openssl.cnf", "w", encoding="utf-8") as file:
        file.write(configuration.path.read_text().replace("/lib/gpu.so", "/gpu.so"))
    files, threads = look_inside_of(
        folder + "/client", {"PATH": "/usr/bin:/bin"}, user=65534, group=65534, extra_groups=[],
        key=folder + "/key.pem", config=folder + "/openssl.cnf", signs=2, kib=4096, updates=2)
    assert any(name.endswith("/gpu.so") for name in files)
    assert drivers_of(files) == [] and threads == 1


# A program that uses the library directly and names no devices. It names the library by its full
# path, since the loader accepts no other name in a set-user-ID program.
COUNTS_DEVICES = """
#include <lanecrypt/lanecrypt.h>
#include <stdio.h>
int main(void) {
  lc_context *context = NULL;
  uint32_t count = 0;
  if (lc_open(NULL, &context) != LC_OK) return 1;
  if (lc_device_count(context, &count) != LC_OK) return 2;
  printf("%u", count);
  lc_close(context);
  return 0;
}
"""


def test_the_library_finds_no_device_for_a_stranger(set_uid_client, build, repository, tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a compiler of C")
    folder, source = set_uid_client, tmp_path / "program.c"
    source.write_text(COUNTS_DEVICES)
    command = folder + "/program"
    plain(compiler, "-I", repository / "include", source, folder + "/liblanecrypt.so.0", "-o",
          command, "-Wl,-rpath," + folder, "-Wl,--allow-shlib-undefined")
    environment = {"PATH": "/usr/bin:/bin", "LANECRYPT_DEVICES": "host,opencl",
                   "XDG_CACHE_HOME": folder}

    def count_of_devices(**options):
        done = subprocess.run([command], capture_output=True, timeout=120, check=False, **options)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    os.chmod(command, 0o4755)
    assert count_of_devices(env=environment, user=65534, group=65534, extra_groups=[]) == 0
    assert not os.path.exists(folder + "/lanecrypt/devices")
    # Without set-user-ID it finds devices, which shows that the test can fail.
    os.chmod(command, 0o755)
    assert count_of_devices(env=environment) > 0


# Without set-user-ID the same program does load the driver that its caller names. This shows that
# the test above can fail.
def test_the_hostile_driver_is_loaded_where_it_harms_its_owner_only(build, tmp_path, client):
    configuration = Configuration(tmp_path, build, **{**FORCED, "devices": "opencl"})
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "hostile.icd").write_text(f"{build}/lib/hostile_driver.so\n")
    mark = tmp_path / "mark"
    configuration.environment.update(OCL_ICD_VENDORS=str(tmp_path / "vendors"),
                                     HOSTILE_MARK=str(mark), XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = client(configuration, updates=1, kib=4096)
    assert ways.ended_as_told("return", done), done.stderr
    # Only the program that enumerates devices loads the driver. The driver has no device, so no
    # other program loads it.
    assert {os.path.basename(line) for line in mark.read_text().split()} == {"lanecrypt-probe"}


@pytest.mark.parametrize("harm", ["abort", "crash", "exit", "hang"])
def test_a_driver_that_harms_hurts_nobody(build, tmp_path, client, harm):
    configuration = Configuration(tmp_path, build, **{**FORCED, "devices": "opencl"})
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "hostile.icd").write_text(f"{build}/lib/hostile_driver.so\n")
    configuration.environment.update(OCL_ICD_VENDORS=str(tmp_path / "vendors"), HOSTILE_DRIVER=harm,
                                     XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = client(configuration, updates=1, kib=4096)
    assert ways.ended_as_told("return", done), done.stderr
    # The second program does not enumerate again.
    begin = time.monotonic()
    done = client(configuration, updates=1, kib=4096)
    assert ways.ended_as_told("return", done), done.stderr
    assert time.monotonic() - begin < 10  # the enumerating program has 15 s
    listed = subprocess.run([build / "bin" / "lanecrypt", "devices", "--json"], timeout=60,
                            env=configuration.environment, capture_output=True, check=False)
    assert listed.returncode == 0, listed.stderr
    assert {"api": "opencl", "reason": "the driver of opencl hung or crashed when it was asked for "
            "its devices"} in json.loads(listed.stdout)["missing"]


# ---- Ends ---------------------------------------------------------------------

@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("end", ENDS)
def test_ends_with_its_own_status(tmp_path, client, build, settings, end):
    configuration = Configuration(tmp_path, build, **SETTINGS[settings])
    works = list(ways.works(end, RUNS, settings == "forced"))
    with concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 2) // 2)) as pool:
        ended = list(pool.map(lambda work: client(configuration, timeout=120, **work), works))
    for work, done in zip(works, ended):
        assert ways.ended_as_told(end, done), (work, done.returncode, done.stdout, done.stderr)


# ---- Limits -------------------------------------------------------------------------


@pytest.mark.parametrize("settings", ["cores", "forced"])
def test_where_no_thread_can_be_had_openssl_does_all(set_uid_client, tmp_path, settings):
    """Also in place: the library had not begun, so no byte is lost."""
    folder = set_uid_client
    os.chmod(folder + "/client", 0o755)
    words = {"in_process": None, "cores": "4"} if settings == "cores" else FORCED
    configuration = Configuration(tmp_path, folder, **{**words, "stats_file": None})
    text = configuration.path.read_text().replace("/lib/gpu.so", "/gpu.so")
    with open(folder + "/openssl.cnf", "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(
        [folder + "/client", f"key={folder}/key.pem", f"config={folder}/openssl.cnf", "signs=2",
         "updates=2", "kib=4096"], env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        capture_output=True, timeout=120, check=False, user=65534, group=65534, extra_groups=[],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)))
    assert ways.ended_as_told("return", done), (done.returncode, done.stderr)


def test_a_limit_of_files_ends_no_program(tmp_path, build):
    configuration = Configuration(tmp_path, build, in_process=None)
    done = subprocess.run(
        ["openssl", "version"], env=configuration.environment, capture_output=True, timeout=60,
        check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert (done.returncode, done.stdout[:7]) == (0, b"OpenSSL")


def test_nothing_is_looked_for_in_the_current_folder(build):
    """An empty entry in a file's run path would mean the current folder."""
    for file in ("lib/gpu.so", "lib/lanecrypt/lanecrypt-probe", "bin/lanecrypt",
                 "bin/lanecrypt-bench"):
        said = plain("readelf", "-d", build / file).stdout.decode()
        path = re.search(r"runpath: \[(.*)\]", said)[1]
        assert all(name.startswith(("/", "$ORIGIN")) for name in path.split(":")), (file, path)


# ---- Sandboxes ------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_process_that_sandboxes_itself_is_left_alone(tmp_path, client, build, settings):
    configuration = Configuration(tmp_path, build, **SETTINGS[settings])
    done = client(configuration, sandbox="yes", signs=8, updates=8, kib=4096)
    assert ways.ended_as_told("return", done), done.stderr

