# SPDX-License-Identifier: Apache-2.0
"""dev/clients: its quick programs, run by default and with everything forced to the emulator.
dev/clients_*.py say what each program does and what must be true of it."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

# They bind ports, so they run one after the other.
pytestmark = pytest.mark.xdist_group("ports")
# Programs that dev/setup installs, or that most machines have.
QUICK = ("openssl", "python", "perl", "curl", "nginx", "haproxy", "sshd", "softhsm", "strongswan",
         "lighttpd", "mosquitto", "named")
# sshd's processes before the login are in a sandbox: the tests do not check what a device does for
# them.
SANDBOXED = ("sshd",)
# The fields of a row. dev/clients may sample a short run too late to see its processes or drivers,
# so the tests assert only what is certain.
ROW = {"program", "version", "way", "ok", "failed", "ms", "module_mapped", "processes",
       "processes_with_module", "drivers", "most_threads", "half_sandboxed", "counters"}


def run_clients(repository, build, *arguments):
    command = [repository / "dev" / "clients", "--build", build, *arguments]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=900, check=False, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def installed(repository, build):
    """Returns the programs that this machine has, as dev/clients lists them."""
    done = run_clients(repository, build, "--list")
    assert done.returncode == 0, done.stderr
    lines = [line.split(None, 1) for line in done.stdout.splitlines()]
    assert set(QUICK) < {name for name, _ in lines}
    return {name for name, version in lines if version != "not installed"}


@pytest.mark.parametrize("name", QUICK)
def test_a_program_does_the_same_with_the_provider(tmp_path, repository, build, installed, name):
    if name not in installed:
        pytest.skip(f"needs {name}, with what dev/clients uses of it")
    if os.environ.get("LANECRYPT_TEST_OPENSSL"):
        pytest.skip("the program uses the system's OpenSSL")
    report = tmp_path / "report.json"
    done = run_clients(repository, build, "--json", report, name)
    rows = json.loads(report.read_text())["programs"]
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(row["way"], row["ok"]) for row in rows] == [
        ("plain", True), ("default", True), ("forced", True)]
    plain, default, forced = rows
    assert set(plain) == ROW and not plain["module_mapped"] and plain["counters"] is None
    # By default no driver is loaded into a process.
    assert default["module_mapped"] and default["drivers"] == []
    assert default["counters"]["device_jobs"] + default["counters"]["rsa_device_jobs"] == 0
    assert forced["half_sandboxed"] == 0
    if name not in SANDBOXED:
        assert forced["counters"]["device_jobs"] + forced["counters"]["rsa_device_jobs"] > 0
        assert forced["counters"]["failures"] == forced["counters"]["rsa_failures"] == 0


def test_a_program_without_the_provider_is_told(tmp_path, repository, build):
    """A wrong setting keeps the provider from loading. The program still works without it, and
    dev/clients must report that."""
    report = tmp_path / "report.json"
    done = run_clients(repository, build, "--json", report, "--way", "default", "--set",
                       "threshold_bytes=wrong", "openssl")
    row, = json.loads(report.read_text())["programs"]
    assert done.returncode == 1 and not row["ok"]
    assert row["failed"] == "the provider was in none of its processes"


def test_a_device_that_does_nothing_is_told(tmp_path, repository, build):
    report = tmp_path / "report.json"
    done = run_clients(repository, build, "--json", report, "--way", "forced", "--devices", "none",
                       "openssl")
    row, = json.loads(report.read_text())["programs"]
    assert done.returncode == 1 and not row["ok"]
    assert row["failed"] == "no device did anything, though all was to run on one"


def test_a_failure_without_words_is_told(repository, build):
    """A command that fails without any output fails its program."""
    script = """
import sys
import clients_run as clients
def work(stage):
    clients.plain("false")
clients.PROGRAMS["silent"] = clients.Program(work, [clients.OPENSSL, "version"])
sys.argv[1:] += ["--way", "plain", "silent"]
sys.exit(clients.main())
"""
    done = subprocess.run([sys.executable, "-B", "-c", script, "--build", str(build)],
                          cwd=repository / "dev", capture_output=True, text=True, timeout=300,
                          check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and " NO " in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_where_it_is_stopped(tmp_path, repository, build, installed, by):
    if "nginx" not in installed:
        pytest.skip("needs nginx")
    process = subprocess.Popen(
        [repository / "dev" / "clients", "--build", build, "nginx"], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)})
    until = time.monotonic() + 120
    while not list(tmp_path.glob("*/nginx-*/nginx.pid")) and time.monotonic() < until:
        time.sleep(0.01)
    server = int((next(tmp_path.glob("*/nginx-*/nginx.pid")).read_text().strip() or "0"))
    process.send_signal(by)
    process.communicate(timeout=120)
    assert process.returncode == 128 + by
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(server or 2 ** 30, 0)


def test_unknown_programs_are_refused(repository, build):
    done = run_clients(repository, build, "no-such-program")
    assert done.returncode == 2 and "no such program: no-such-program" in done.stderr
