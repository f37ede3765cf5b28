# SPDX-License-Identifier: Apache-2.0
"""Whole programs with the provider: what is in their process, and how they end.

LANECRYPT_TEST_ENDS is how many processes each way of ending is tried by (10 by default,
1,000 for a survey; the moments at which they end are random).
"""

import concurrent.futures
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from provider_fixtures import Configuration, DEVICES, plain

RUNS = int(os.environ.get("LANECRYPT_TEST_ENDS", "10"))
# Everything goes to a device that can, and at once.
FORCED = {"threshold_bytes": "0", "rsa": "always", "keystream": "always", "keystream_after": "1",
          "devices": DEVICES}
STATUS = 7  # of test_client, where it was not told to end otherwise
# Of a driver, or of the library that loads one.
DRIVERS = ("liblanecrypt", "libcuda", "libOpenCL", "libpocl", "LLVM", "libEGL", "libGL", "libgallium")


@pytest.fixture(scope="session")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "key.pem"
    plain("openssl", "genrsa", "-out", path, "2048")
    return path


@pytest.fixture
def client(build, key):
    """Runs test_client; the words are its own. Returns what subprocess.run() does."""

    def run(configuration, timeout=60, **words):
        words.setdefault("key", key)
        return subprocess.run([build / "bin" / "test_client",
                               *(f"{name}={value}" for name, value in words.items())],
                              env=configuration.environment, capture_output=True, timeout=timeout)

    return run


def mapped(pid):
    """The files that a process has mapped."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return {line.split(None, 5)[5].strip() for line in maps if len(line.split(None, 5)) == 6}


def look_inside(build, configuration, **words):
    """What a process that has done its work has mapped, and how many threads it has."""
    process = subprocess.Popen([build / "bin" / "test_client", "after_us=30000000", "updates=0",
                                *(f"{name}={value}" for name, value in words.items())],
                               env=configuration.environment, stdout=subprocess.PIPE)
    try:
        # It sleeps when it is done, the output in its buffer.
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


def drivers_of(files):
    return sorted(name for name in files if any(part in name for part in DRIVERS))


# By default nothing of ours but the module itself comes into a process, whatever it does.
def test_default_brings_no_driver_and_no_thread(tmp_path, build, key):
    configuration = Configuration(tmp_path, build, in_process=None)
    files, threads = look_inside(build, configuration, key=key, threads=8, signs=40)
    assert any(name.endswith("/gpu.so") for name in files)
    assert drivers_of(files) == []
    assert threads == 1


def test_default_brings_none_for_bulk_either(tmp_path, build, client):
    configuration = Configuration(tmp_path, build, in_process=None)
    # 1.3 GiB, which once had a card opened.
    done = client(configuration, key="", updates=42, kib=16384)
    assert (done.returncode, done.stdout) == (STATUS, b"done\n")
    counters = configuration.counters()
    assert counters["device_jobs"] == 0 and counters["cpu_bytes"] >= 84 * 16384 * 1024
    # The library itself may not be loaded: that would show in a file that it cannot find.
    files, threads = look_inside(build, configuration, key="")
    assert drivers_of(files) == [] and threads == 1


# A process that only signs, by the devices that it names, has no other driver.
def test_only_the_apis_that_are_named_are_loaded(tmp_path, build, key):
    configuration = Configuration(tmp_path, build, **{**FORCED, "devices": "host"})
    files, threads = look_inside(build, configuration, key=key, signs=4)
    assert [name for name in drivers_of(files) if "liblanecrypt" not in name] == []
    assert threads > 1  # the emulator's
    assert configuration.path.exists()


def test_none_loads_nothing(tmp_path, build, client):
    configuration = Configuration(tmp_path, build, **{**FORCED, "devices": "none"})
    files, _ = look_inside(build, configuration)
    assert [name for name in drivers_of(files) if "liblanecrypt" not in name] == []


# ---- Programs that serve a stranger ------------------------------------------


@pytest.fixture
def set_uid_client(build, key):
    """test_client, root's and set-uid, where others can start it."""
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
    """Its caller names a driver and a fault; the program's own configuration forces devices."""
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
    assert (done.returncode, done.stdout) == (STATUS, b"done\n"), done.stderr
    assert os.listdir(folder + "/marks") == []
    assert not os.path.exists(folder + "/stats.json")


# The same program without the rights of another does load what its caller names: the test
# above can fail.
def test_the_hostile_driver_is_loaded_where_it_harms_its_owner_only(build, tmp_path, client):
    configuration = Configuration(tmp_path, build, **{**FORCED, "devices": "opencl"})
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "hostile.icd").write_text(f"{build}/lib/hostile_driver.so\n")
    mark = tmp_path / "mark"
    configuration.environment.update(OCL_ICD_VENDORS=str(tmp_path / "vendors"),
                                     HOSTILE_MARK=str(mark), XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = client(configuration, updates=1, kib=4096)
    assert (done.returncode, done.stdout) == (STATUS, b"done\n"), done.stderr
    # In the program that looks for devices alone: it has none, so nobody else loads it.
    assert {os.path.basename(line) for line in mark.read_text().split()} == {"lanecrypt-probe"}


@pytest.mark.parametrize("harm", ["abort", "crash", "exit", "hang"])
def test_a_driver_that_harms_hurts_nobody(build, tmp_path, client, harm):
    configuration = Configuration(tmp_path, build, **{**FORCED, "devices": "opencl"})
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "hostile.icd").write_text(f"{build}/lib/hostile_driver.so\n")
    configuration.environment.update(OCL_ICD_VENDORS=str(tmp_path / "vendors"), HOSTILE_DRIVER=harm,
                                     XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = client(configuration, updates=1, kib=4096)
    assert (done.returncode, done.stdout) == (STATUS, b"done\n"), done.stderr
    # The second does not ask again.
    begin = time.monotonic()
    done = client(configuration, updates=1, kib=4096)
    assert (done.returncode, done.stdout) == (STATUS, b"done\n"), done.stderr
    assert time.monotonic() - begin < 10  # the program that asks has 15 s
    listed = subprocess.run([build / "bin" / "lanecrypt", "devices", "--json"], timeout=60,
                            env=configuration.environment, capture_output=True, check=False)
    assert listed.returncode == 0, listed.stderr


# ---- Ends ---------------------------------------------------------------------

WORK = {
    "signs": {"threads": 8, "signs": 6},
    "many-threads": {"threads": 64, "signs": 2},
    "bulk": {"threads": 2, "updates": 3, "kib": 2048, "signs": 0},
    "stream": {"updates": 64, "kib": 16, "signs": 1},
}
ENDS = {
    "return": {}, "exit": {"end": "exit"}, "_exit": {"end": "_exit"}, "quick": {"end": "quick"},
    "signal": {"end": "signal"}, "throw": {"end": "throw"}, "cleanup": {"cleanup": "yes"},
    "exec": {"exec": "yes"}, "fork-before": {"fork": "before"}, "fork-after": {"fork": "after"},
    "fork-in-thread": {"fork": "thread"},
}
EXPECTED = {"signal": -signal.SIGTERM, "throw": -signal.SIGABRT}
SETTINGS = {"default": {"in_process": None}, "in-process": {}, "forced": FORCED}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("end", ENDS)
def test_ends_with_its_own_status(tmp_path, client, build, settings, end):
    configuration = Configuration(tmp_path, build, **SETTINGS[settings])
    works = [{**WORK[name], **ENDS[end], "after_us": random.choice((0, 0, 1000, 30000, 200000))}
             for name, _ in zip(list(WORK) * RUNS, range(RUNS))]
    if settings == "forced" and end.startswith("fork"):
        # Each process has its own emulator, and forks beside threads that compute.
        works = [{**work, "threads": min(int(work.get("threads", 1)), 8)} for work in works]
    with concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 2) // 2)) as pool:
        ended = list(pool.map(lambda work: client(configuration, timeout=120, **work), works))
    expected = EXPECTED.get(end, STATUS)
    for work, done in zip(works, ended):
        assert done.returncode == expected, (work, done.returncode, done.stderr)
        # What it had printed has arrived; a program begun anew does its work again.
        assert done.stdout.startswith(b"done\n"), (work, done.stdout)


# ---- Sandboxes ------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_process_that_sandboxes_itself_is_left_alone(tmp_path, client, build, settings):
    configuration = Configuration(tmp_path, build, **SETTINGS[settings])
    done = client(configuration, sandbox="yes", signs=8, updates=8, kib=4096)
    assert (done.returncode, done.stdout) == (STATUS, b"done\n"), done.stderr

