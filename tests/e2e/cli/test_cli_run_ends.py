# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt run`: program, service and keeper end or are killed, in every order, and on a
terminal."""

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest

from cli_fixtures import BUILD, LANECRYPT, environment
from run_fixtures import (AS_NOBODY, NOBODY, RUN_FAILED, SIGN, Running, always, counters, is_alive, key,  # noqa: F401
                          operations, own, state_of, until, until_the_service_has_done_one, verify, words)


def test_the_service_does_the_work(always):
    def attempt():
        service = Running(last=f"{SIGN.format(always)} || exit 1; {LANECRYPT} service stats --json --socket "
                          '"$(dirname "$OPENSSL_CONF")/socket"', OPENSSL_CONF=str(always / "user.cnf"))
        out, err = service.go_on()
        assert service.process.returncode == 0, err
        verify(always)
        assert operations(json.loads(out)) >= counters(always)["rsa_service_jobs"], out
        service.is_gone()

    until_the_service_has_done_one(always, attempt)


@pytest.mark.parametrize("victim", ["service", "keeper"])
def test_the_program_goes_on_without_its_service(always, victim):
    service = Running(last=SIGN.format(always), OPENSSL_CONF=str(always / "user.cnf"))
    os.kill(getattr(service, victim), signal.SIGKILL)
    until(lambda: not is_alive(service.service))
    out, err = service.go_on()
    assert service.process.returncode == 0, (out, err)
    verify(always)
    assert counters(always) == {"rsa_service_jobs": 0, "rsa_cpu_jobs": 1}
    if victim == "service":
        service.is_gone()
    else:  # no process is left to remove it
        shutil.rmtree(service.folder)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_of_a_program_that_is_killed(number):
    service = Running()
    service.process.send_signal(number)
    assert service.process.wait(60) == -number
    service.is_gone()


# As before Linux 5.3, and in containers whose filter does not know the call.
WITHOUT_PIDFD = ["/usr/bin/python3", os.path.join(os.path.dirname(__file__), "..", "refuse_call.py"), "pidfd_open"]


@pytest.fixture(scope="module")
def without_pidfd():
    done = subprocess.run([*WITHOUT_PIDFD, "/usr/bin/python3", "-c", "import os; os.pidfd_open(os.getpid())"],
                          capture_output=True, timeout=60, check=False)
    if b"cannot filter" in done.stderr:
        pytest.skip("no seccomp filter may be set here")
    assert b"Function not implemented" in done.stderr
    return WITHOUT_PIDFD


@pytest.mark.parametrize("number", [None, signal.SIGKILL])
def test_nothing_is_left_where_there_are_no_pidfds(without_pidfd, number):
    service = Running(before=without_pidfd, last="exit 3")
    time.sleep(0.5)  # several polls
    assert is_alive(service.service) and is_alive(service.keeper)
    if number is None:
        service.go_on()
        assert service.process.returncode == 3
    else:
        service.process.send_signal(number)
        # It has ended, though it has not been waited for yet.
        service.is_gone()
        assert service.process.wait(60) == -number
    service.is_gone()


@pytest.mark.parametrize("way", ["pidfd", "no pidfd"])
def test_a_program_lives_as_long_as_any_of_its_threads(request, way):
    """The first thread may end before the others. The thread's name looks like the end of the name
    field in /proc/PID/stat."""
    before = request.getfixturevalue("without_pidfd") if way == "no pidfd" else []
    program = f"""
import ctypes, os, threading
libc = ctypes.CDLL(None)
libc.prctl(15, b") Z 1 (", 0, 0, 0)  # PR_SET_NAME
def rest():
    print(os.environ["OPENSSL_CONF"], flush=True)
    os.read(0, 1)
    os._exit(5)
threading.Thread(target=rest).start()
libc.syscall({60 if os.uname().machine == "x86_64" else 93}, 0)  # exit(2), of this thread
"""
    process = subprocess.Popen([*before, *words(sys.executable, "-c", program)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=environment("host"), start_new_session=True)
    folder = os.path.dirname(process.stdout.readline().decode().strip())
    until(lambda: open(f"/proc/{process.pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()[0] == "Z")
    time.sleep(0.5)
    assert state_of(folder)["running"]
    process.communicate(b"x", timeout=60)
    assert process.returncode == 5
    until(lambda: not os.path.exists(folder))


def test_the_keeper_stays_until_the_program_has_ended():
    """A supervisor that ends a whole service sends a signal to all of its processes."""
    service = Running(text="trap '' TERM; ")
    for pid in (service.keeper, service.service, service.process.pid):
        os.kill(pid, signal.SIGTERM)
    until(lambda: not is_alive(service.service))
    assert is_alive(service.keeper) and os.path.exists(service.folder)
    service.go_on()
    assert service.process.returncode == 0
    service.is_gone()


@contextlib.contextmanager
def copied(own, daemon):
    """A copy of the command, with another program in place of lanecryptd."""
    (own / "bin").mkdir()
    (own / "lib").symlink_to(BUILD.resolve() / "lib")
    command = shutil.copy(LANECRYPT, own / "bin" / "lanecrypt")
    if daemon is not None:
        (own / "bin" / "lanecryptd").write_text("#!/bin/sh\n" + daemon)
        (own / "bin" / "lanecryptd").chmod(0o755)
    (own / "run").mkdir(0o700)
    if os.geteuid() == 0:
        os.chown(own / "run", NOBODY, NOBODY)
    yield command
    until(lambda: os.listdir(own / "run") == [])


@pytest.mark.parametrize("daemon, said", [
    (None, "cannot run {0}/bin/lanecryptd: No such file or directory\n"),
    ("echo 'lanecryptd: it is too late' >&2; exit 1", "lanecryptd: it is too late\n"),
    ("kill -9 $$", ""),
    ('while [ "$1" != --ready-fd ]; do shift; done; echo steady >&"$2"; sleep 60', ""),
])
def test_a_service_that_does_not_start(own, daemon, said):
    """Then the program does not start either. A service that does not end by itself is killed."""
    with copied(own, daemon) as command:
        done = subprocess.run([command, "run", "touch", own / "made"], capture_output=True,
                              env=environment("host", XDG_RUNTIME_DIR=str(own / "run")),
                              timeout=60, check=False, **AS_NOBODY)
        assert done.returncode == RUN_FAILED
        text = done.stderr.decode()
        assert said.format(own) in text
        assert text.endswith("lanecrypt: the service, lanecryptd, did not start\n")
        assert not (own / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_while_the_service_starts(own, number):
    with copied(own, 'while [ "$1" != --until-closed ]; do shift; done; cat <&"$2"') as command:
        process = subprocess.Popen([command, "run", "true"], start_new_session=True,
                                   env=environment("host", XDG_RUNTIME_DIR=str(own / "run")), **AS_NOBODY)
        until(lambda: os.listdir(own / "run") != [])
        time.sleep(0.2)
        process.send_signal(number)
        assert process.wait(60) == -number


# ---- A terminal --------------------------------------------------------------------


class Terminal:
    """The command as a child with its own terminal, as when started from a shell."""

    def __init__(self, *command):
        self.seen = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                os.execve(LANECRYPT, words(*command), environment("host"))
            finally:
                os._exit(127)

    def expect(self, pattern):
        end = time.monotonic() + 60
        while not (found := re.search(pattern, self.seen)):
            assert select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))[0], self.seen
            self.seen += os.read(self.terminal, 4096)
        self.seen = self.seen[found.end():]
        return found

    def type(self, keys):
        os.write(self.terminal, keys)

    def end(self):
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


def test_the_interrupt_key_is_the_programs():
    """A program that continues after Ctrl-C keeps its service."""
    shell = Terminal("sh", "-c", 'trap "echo caught" INT; echo "in $OPENSSL_CONF"; '
                     "while ! read line; do :; done; exit 3")
    folder = os.path.dirname(shell.expect(rb"in (\S+)\r\n")[1].decode())
    service = state_of(folder)["pid"]
    shell.type(b"\x03")
    shell.expect(rb"caught\r\n")
    assert state_of(folder)["pid"] == service
    shell.type(b"go on\n")
    assert shell.end() == 3
    until(lambda: not os.path.exists(folder))


def test_the_interrupt_key_ends_the_program():
    # Without a shell, which would catch the signal and may lose it while it starts another program.
    shell = Terminal(sys.executable, "-c", "import os, signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); "
                     "print('in', os.environ['OPENSSL_CONF'], flush=True); time.sleep(60)")
    folder = os.path.dirname(shell.expect(rb"in (\S+)\r\n")[1].decode())
    shell.type(b"\x03")
    assert shell.end() == -signal.SIGINT
    until(lambda: not os.path.exists(folder))


def test_job_control():
    """Ctrl-Z stops the program, as its shell sees, but not its service. The program continues
    later."""
    # A shell in its own process group: the group of the terminal's first process cannot be stopped.
    shell = Terminal("sh", "-c", 'set -m; sh -c \'echo "in $OPENSSL_CONF"; read line; exit 4\'; '
                     'echo "status $?"; fg; echo "status $?"')
    folder = os.path.dirname(shell.expect(rb"in (\S+)\r\n")[1].decode())
    shell.type(b"\x1a")
    stopped = shell.expect(rb"status (\d+)\r\n")[1]
    assert int(stopped) == 128 + signal.SIGTSTP
    assert state_of(folder)["running"]
    shell.type(b"go on\n")
    shell.expect(rb"status 4\r\n")
    assert shell.end() == 0
    until(lambda: not os.path.exists(folder))


def test_a_hang_up_ends_it():
    shell = Terminal("sh", "-c", 'echo "in $OPENSSL_CONF"; sleep 60')
    folder = os.path.dirname(shell.expect(rb"in (\S+)\r\n")[1].decode())
    os.close(shell.terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(shell.pid, 0)[1]) == -signal.SIGHUP
    until(lambda: not os.path.exists(folder))
