# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt run`: except for OPENSSL_CONF, a program sees the same as without it. The service
ends with the program, however that ends."""

import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys

import pytest

from cli_fixtures import BUILD, LANECRYPT, environment, openssl
from run_fixtures import (CANNOT_RUN, NO_PROGRAM, RUN_FAILED, SIGN, Running, always, counters, is_alive,  # noqa: F401
                          key, ok, run, script, until, until_the_service_has_done_one, verify)


# ---- How it ends ---------------------------------------------------------------


@pytest.mark.parametrize("status", [0, 1, 2, 7, 125, 255])
def test_the_exit_status_is_the_programs(status):
    done = script(f"exit {status}")
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_so_is_the_signal(number):
    assert script(f"kill -{number.value} $$").returncode == -number


def test_a_program_that_is_not_there(tmp_path):
    done = run("no-such-program")
    assert done.returncode == NO_PROGRAM
    assert done.stderr == b"lanecrypt: cannot run no-such-program: No such file or directory\n"
    (tmp_path / "not-executable").write_text("#!/bin/sh\n")
    done = run(tmp_path / "not-executable")
    assert done.returncode == CANNOT_RUN
    assert done.stderr.endswith(b"not-executable: Permission denied\n")


def test_a_wrong_command_line():
    for arguments, said in (([], "no program is named"), (["--"], "no program is named"),
                            (["--nonsense", "true"], "--nonsense"),
                            (["--verify", "most", "true"], "--verify"), (["--devices"], "--devices")):
        done = subprocess.run([LANECRYPT, "run", *arguments], env=environment(), capture_output=True,
                              timeout=60, check=False)
        assert done.returncode == RUN_FAILED, arguments
        assert said in done.stderr.decode() and done.stderr.startswith(b"lanecrypt: "), arguments
    done = subprocess.run([LANECRYPT, "run", "--help"], env=environment(), capture_output=True,
                          timeout=60, check=True)
    assert b"PROGRAM" in done.stdout


def test_the_programs_words_are_its_own(tmp_path):
    """Also those that look like options of the command, or of openssl."""
    own = ["-devices", "x", "--verify=most", "-aes-256-ctr", "--", "-k", "secret", ""]
    show = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
    assert ok(run(*show, *own)).strip() == str(own)
    done = subprocess.run([LANECRYPT, "run", "--devices=host", *show, *own], env=environment(None),
                          capture_output=True, timeout=300, check=True)
    assert done.stdout.decode().strip() == str(own)
    # A script without an interpreter line, which a shell would run.
    (tmp_path / "script").write_text("exit 9\n")
    (tmp_path / "script").chmod(0o755)
    assert run(tmp_path / "script").returncode == 9


# ---- What the program sees -----------------------------------------------------

LOOK = r"""
import json, os, signal, sys
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
print(json.dumps({
    "environment": {k: v for k, v in os.environ.items() if k != "OPENSSL_CONF"},
    "descriptors": sorted(os.listdir("/proc/self/fd")),
    "signals": [status[name] for name in ("SigBlk", "SigIgn", "SigPnd", "ShdPnd")],
    "ids": [os.getppid(), os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid()],
    "children": open(f"/proc/self/task/{os.getpid()}/children").read(),
    "folder": os.getcwd(),
    "threads": status["Threads"],
    "mask": oct(os.umask(0)),
}))
"""


@pytest.mark.parametrize("closed", [(), (0,), (0, 1, 2)])
@pytest.mark.parametrize("ignored", [(), (signal.SIGHUP, signal.SIGPIPE)])
def test_it_sees_what_it_would_see_without(tmp_path, closed, ignored):
    """Except for OPENSSL_CONF."""
    file = tmp_path / "out"

    def prepare():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        for descriptor in closed:
            os.close(descriptor)
        os.umask(0o27)

    def look(*before):
        text = LOOK.replace("print(json", f"print(file=open({str(file)!r}, 'w'), *[json").replace("\n}))", "\n})])")
        command = [*before, sys.executable, "-S", "-c", text]
        with open(os.devnull, "rb") as held:
            done = subprocess.run(command, env=environment("host", A_VARIABLE="of mine"), preexec_fn=prepare,
                                  pass_fds=[held.fileno()], start_new_session=True, timeout=300,
                                  restore_signals=False, cwd=tmp_path, check=False)
        assert done.returncode == 0
        return json.loads(file.read_text())

    assert look(LANECRYPT, "run", "--") == look()


def test_its_output_ends_when_it_ends():
    """The keeper and the service hold no end of the program's pipes: otherwise a reader that
    waits for the end of the output would wait for them."""
    service = Running(last="exec >&- 2>&-; sleep 60")
    try:
        service.process.stdin.write(b"go on\n")
        service.process.stdin.flush()
        assert service.process.stdout.read() == b"" and service.process.stderr.read() == b""
        assert is_alive(service.process.pid) and is_alive(service.service)
    finally:
        service.process.kill()
        service.process.wait()
    service.is_gone()


# ---- Limits -------------------------------------------------------------------------


def test_too_few_descriptors_are_told():
    done = run("true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)))
    assert done.returncode == RUN_FAILED
    assert b"lanecrypt: cannot keep a service: Too many open files\n" in done.stderr


# ---- Devices, rights -----------------------------------------------------------------


def test_without_a_device_it_runs_on_the_cpu(always):
    for options, devices in ((["--devices", "none"], "host"), ([], "none")):
        done = run("sh", "-c", SIGN.format(always), options=options, devices=devices,
                   env={"OPENSSL_CONF": str(always / "user.cnf")})
        assert done.returncode == 0, done.stderr
        verify(always)
        assert re.fullmatch(r"lanecrypt: there is no usable device( \(.*\))?, so the program runs on the CPU\n",
                            done.stderr.decode()), done.stderr
    assert counters(always) == {"rsa_service_jobs": 0, "rsa_cpu_jobs": 2}


def test_devices_and_verify_are_the_services():
    done = run("sh", "-c", 'tr "\\0" " " < /proc/$("$0" service status --json --socket '
               '"$(dirname "$OPENSSL_CONF")/socket" | sed -n \'s/.*"pid": \\([0-9]*\\).*/\\1/p\')/cmdline',
               LANECRYPT, options=["--devices", "host", "--verify", "full"], devices=None)
    assert "--devices host --verify full " in ok(done)


def test_a_device_that_is_none():
    done = run("true", options=["--devices", "cuda:x"])
    assert done.returncode == RUN_FAILED and b"cuda:x" in done.stderr


def test_it_refuses_to_serve_a_stranger():
    """A set-user-ID copy of the command would start a program that its caller chooses."""
    if os.geteuid() != 0:
        pytest.skip("only root makes a set-uid program for others")
    if os.statvfs("/usr/lib").f_flag & os.ST_NOSUID:
        pytest.skip("/usr/lib takes no set-uid programs")
    # In other folders the loader does not look for the libraries next to a set-user-ID program.
    folder = f"/usr/lib/lanecrypt-run-test-{os.getpid()}"
    os.makedirs(f"{folder}/bin")
    try:
        shutil.copytree(BUILD / "lib", f"{folder}/lib", symlinks=True)
        command = shutil.copy(LANECRYPT, f"{folder}/bin/lanecrypt")
        shutil.copy(BUILD / "bin" / "lanecryptd", f"{folder}/bin/lanecryptd")
        os.chmod(command, 0o4755)
        os.chmod(folder, 0o755)
        done = subprocess.run([command, "run", "id"], user=65534, group=65534, extra_groups=[],
                              env=environment("host"), capture_output=True, timeout=60, cwd="/", check=False)
        assert done.returncode == RUN_FAILED and done.stdout == b""
        assert b"lanecryptd is not run with more rights than its caller has" in done.stderr
    finally:
        shutil.rmtree(folder)


# ---- The user's and the system's configuration -----------------------------------------


def test_the_systems_settings_hold():
    """`openssl req` needs sections of the system's file."""
    if not os.path.exists(re.search(rb'"(.*)"', openssl("version", "-d").stdout)[1].decode() + "/openssl.cnf"):
        pytest.skip("this system has no openssl.cnf")
    told = ok(run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", os.devnull,
                  "-subj", "/CN=localhost"))
    assert "BEGIN CERTIFICATE" in told


def providers(text):
    """Returns the active providers that `openssl list -providers` names."""
    return set(re.findall(r"^  (\w+)\n(?:    .*\n)*?    status: active$", text, re.M))


def test_the_providers_of_the_users_file_stay(tmp_path):
    assert providers(ok(run("openssl", "list", "-providers"))) == {"default", "gpu"}
    own = tmp_path / "a file.cnf"
    own.write_text("""
openssl_conf = my start
[my start]
providers = list
[list]
default = plain
base = other
[plain]
activate = 1
[other]
activate = 1
""")
    done = run("openssl", "list", "-providers", env={"OPENSSL_CONF": str(own)})
    assert providers(ok(done)) == {"default", "base", "gpu"} and done.stderr == b""
    # A path relative to the folder in which the command runs.
    done = run("openssl", "list", "-providers", env={"OPENSSL_CONF": own.name}, cwd=tmp_path)
    assert providers(ok(done)) == {"default", "base", "gpu"}


def test_a_file_that_openssl_cannot_read(tmp_path):
    own = tmp_path / "openssl.cnf"
    own.write_text("[start\n")
    done = run("openssl", "list", "-providers", env={"OPENSSL_CONF": str(own)})
    assert providers(ok(done)) == {"default", "gpu"}
    assert done.stderr.decode() == f"lanecrypt: {own} is left out, since OpenSSL cannot read it\n"
    # OpenSSL itself reports nothing if the file does not exist.
    done = run("openssl", "list", "-providers", env={"OPENSSL_CONF": "/no/such/file"})
    assert providers(ok(done)) == {"default", "gpu"} and done.stderr == b""


def test_node(always):
    """Node.js reads a separate section."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node here")
    (always / "user.cnf").write_text((always / "user.cnf").read_text().replace(
        "openssl_conf", "nodejs_conf"))
    program = """
const c = require('crypto'), fs = require('fs'), key = fs.readFileSync(process.argv[1]);
const s = c.sign('sha256', Buffer.from('x'), key);
process.exit(c.verify('sha256', Buffer.from('x'), c.createPublicKey(key), s) ? 0 : 1);
"""
    until_the_service_has_done_one(always, lambda: ok(
        run(node, "-e", program, always / "key.pem", env={"OPENSSL_CONF": str(always / "user.cnf")})))


def test_its_files_are_not_for_others():
    service = Running()
    for name in ("log", "socket"):
        assert os.stat(f"{service.folder}/{name}").st_uid == os.geteuid()
    assert stat.S_IMODE(os.stat(f"{service.folder}/log").st_mode) == 0o600
    service.go_on()
    service.is_gone()
