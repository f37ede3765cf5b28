# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt run`: a program sees what it would see without, but for OPENSSL_CONF, and its
service goes with it, however it ends."""

import contextlib
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import stat
import subprocess
import sys
import time

import pytest

from cli_fixtures import BUILD, LANECRYPT, environment, openssl

RUN_FAILED, CANNOT_RUN, NO_PROGRAM = 125, 126, 127

# Says where its configuration is, and waits to be told to go on.
WAITS = 'echo "$OPENSSL_CONF"; read line; '


def words(*command, options=()):
    return [str(word) for word in (LANECRYPT, "run", *options, "--", *command)]


def run(*command, options=(), env=None, devices="host", **more):
    """Runs a program by the command and returns the finished process."""
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(words(*command, options=options), env=environment(devices, **(env or {})),
                          capture_output=True, timeout=300, start_new_session=True, **more)


def script(text, **more):
    return run("sh", "-c", text, **more)


def ok(done):
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout.decode()


def until(holds, seconds=60):
    """Waits until it holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def state_of(folder):
    """What the service in this folder tells."""
    return json.loads(subprocess.run([LANECRYPT, "service", "status", "--json", "--socket",
                                      f"{folder}/socket"], capture_output=True, timeout=60,
                                     check=False).stdout)


def keeper_of(folder):
    """The parent of the folder's service."""
    with open(f"/proc/{state_of(folder)['pid']}/stat", encoding="utf-8") as file:
        parent = int(file.read().rsplit(")", 1)[1].split()[1])
    with open(f"/proc/{parent}/comm", encoding="utf-8") as file:
        assert file.read() == "lanecrypt-keep\n"
    return parent


class Running:
    """A shell script under the command that waits for a line before its last words."""

    def __init__(self, text="", last="exit 0", before=(), **more):
        self.process = subprocess.Popen(
            [*before, *words("sh", "-c", text + WAITS + last)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment("host", **more), start_new_session=True)
        self.folder = os.path.dirname(self.process.stdout.readline().decode().strip())
        assert self.folder, self.process.stderr.read()
        self.service = state_of(self.folder)["pid"]
        self.keeper = keeper_of(self.folder)

    def go_on(self):
        """The rest of its output, after its end."""
        out, err = self.process.communicate(b"go on\n", timeout=300)
        return out.decode(), err.decode()

    def is_gone(self):
        """Waits until nothing is left but, perhaps, the program."""
        until(lambda: not is_alive(self.service) and not is_alive(self.keeper))
        until(lambda: not os.path.exists(self.folder))


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
    """Also those that the command would take for its own, or openssl's."""
    own = ["-devices", "x", "--verify=most", "-aes-256-ctr", "--", "-k", "secret", ""]
    show = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
    assert ok(run(*show, *own)).strip() == str(own)
    done = subprocess.run([LANECRYPT, "run", "--devices=host", *show, *own], env=environment(None),
                          capture_output=True, timeout=300, check=True)
    assert done.stdout.decode().strip() == str(own)
    # A script without a first line that names an interpreter, as from a shell.
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
    """But for OPENSSL_CONF."""
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
    """The keeper and the service hold no end of the program's pipes: a reader that waits for the
    end of the output would wait for them."""
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


# ---- Where its folder is -------------------------------------------------------


def test_the_folder_is_its_users_own(tmp_path):
    tmp_path.chmod(0o700)
    for variables, parent in (({"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": "/no/such/folder"}, tmp_path),
                              ({"XDG_RUNTIME_DIR": "relative", "TMPDIR": str(tmp_path)}, tmp_path),
                              ({"XDG_RUNTIME_DIR": "/usr"}, "/tmp"),
                              ({"TMPDIR": str(tmp_path / ("x" * 100))}, "/tmp")):
        for name in ("XDG_RUNTIME_DIR", "TMPDIR"):
            variables.setdefault(name, "")
        told = ok(script('f=$(dirname "$OPENSSL_CONF"); echo "$f"; stat -c "%a %u" "$f"', env=variables))
        folder, mode = told.splitlines()
        assert os.path.dirname(folder) == str(parent) and mode == f"700 {os.geteuid()}"
        until(lambda: not os.path.exists(folder))
    done = script("exit 0", env={"XDG_RUNTIME_DIR": "", "TMPDIR": "/no/such/folder"})
    assert done.returncode == RUN_FAILED
    assert b"cannot make a folder in /no/such/folder: No such file or directory" in done.stderr


def test_a_runtime_folder_that_others_may_enter_is_not_taken(tmp_path):
    tmp_path.chmod(0o711)
    told = ok(script('echo "$OPENSSL_CONF"', env={"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": "/tmp"}))
    assert told.startswith("/tmp/lanecrypt-run.")


@pytest.mark.parametrize("others", ["write", "own"])
def test_a_temporary_folder_in_which_others_could_move_it_is_not_taken(tmp_path_factory, others):
    """They could put a configuration of their own in its place, and code into the program."""
    # A socket's address has few bytes, of which tmp_path takes as many as the test's name has.
    folder = tmp_path_factory.mktemp("t") / "theirs"
    folder.mkdir()
    inside = folder / "inside"
    inside.mkdir(mode=0o755)
    if others == "write":
        folder.chmod(0o777)
    elif os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
    else:
        pytest.skip("only root gives folders away")
    for temporary in (folder, inside):
        told = ok(script('echo "$OPENSSL_CONF"', env={"XDG_RUNTIME_DIR": "", "TMPDIR": str(temporary)}))
        assert told.startswith("/tmp/lanecrypt-run."), told
    # As /tmp is.
    os.chown(folder, os.geteuid(), -1)
    folder.chmod(0o1777)
    told = ok(script('echo "$OPENSSL_CONF"', env={"XDG_RUNTIME_DIR": "", "TMPDIR": str(folder)}))
    assert told.startswith(f"{folder}/lanecrypt-run."), told


def test_too_few_descriptors_are_told():
    done = run("true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)))
    assert done.returncode == RUN_FAILED
    assert b"lanecrypt: cannot keep a service: Too many open files\n" in done.stderr


# ---- Kills -----------------------------------------------------------------------


@pytest.fixture
def key(tmp_path):
    openssl("genrsa", "-out", tmp_path / "key.pem", "2048")
    openssl("rsa", "-in", tmp_path / "key.pem", "-pubout", "-out", tmp_path / "public.pem")
    (tmp_path / "text").write_text("a text")
    return tmp_path


@pytest.fixture
def always(key):
    """A configuration of the user's that has every signature go to the service. (A lone one
    would stay on its core.)"""
    (key / "user.cnf").write_text(f"""
openssl_conf = start
[start]
providers = list
[list]
gpu = settings
[settings]
rsa = always
stats_file = {key}/stats.json
""")
    return key


SIGN = "openssl dgst -sha256 -sign {0}/key.pem -out {0}/signature {0}/text"


def verify(folder):
    openssl("dgst", "-sha256", "-verify", folder / "public.pem", "-signature", folder / "signature",
            folder / "text")


def counters(folder):
    lines = [json.loads(line) for line in (folder / "stats.json").read_text().splitlines()]
    return {name: sum(line[name] for line in lines) for name in ("rsa_service_jobs", "rsa_cpu_jobs")}


def operations(state):
    return sum(kind["done"] for kind in state["kinds"] if kind["kind"].endswith("-private"))


def until_the_service_has_done_one(always, attempt):
    """A program does a signature itself where a busy machine keeps the service from answering in
    time. So there are several attempts; one that worked is enough."""
    for _ in range(5):
        attempt()
        if counters(always)["rsa_service_jobs"]:
            return
    raise AssertionError(counters(always))


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
    else:  # nobody is left to remove it
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
    time.sleep(0.5)  # several looks
    assert is_alive(service.service) and is_alive(service.keeper)
    if number is None:
        service.go_on()
        assert service.process.returncode == 3
    else:
        service.process.send_signal(number)
        # It has ended, though nobody has waited for it yet.
        service.is_gone()
        assert service.process.wait(60) == -number
    service.is_gone()


@pytest.mark.parametrize("way", ["pidfd", "no pidfd"])
def test_a_program_lives_as_long_as_any_of_its_threads(request, way):
    """The first may end before the others. The name of the thread looks like the end of the name."""
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
def copied(tmp_path, daemon):
    """A copy of the command, with another program in the place of lanecryptd."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").symlink_to(BUILD.resolve() / "lib")
    command = shutil.copy(LANECRYPT, tmp_path / "bin" / "lanecrypt")
    if daemon is not None:
        (tmp_path / "bin" / "lanecryptd").write_text("#!/bin/sh\n" + daemon)
        (tmp_path / "bin" / "lanecryptd").chmod(0o755)
    (tmp_path / "run").mkdir()
    yield command
    until(lambda: os.listdir(tmp_path / "run") == [])


@pytest.mark.parametrize("daemon, said", [
    (None, "cannot run {0}/bin/lanecryptd: No such file or directory\n"),
    ("echo 'lanecryptd: it is too late' >&2; exit 1", "lanecryptd: it is too late\n"),
    ("kill -9 $$", ""),
    ('while [ "$1" != --ready-fd ]; do shift; done; echo steady >&"$2"; sleep 60', ""),
])
def test_a_service_that_does_not_start(tmp_path, daemon, said):
    """Then the program does not start either. One that does not end either is killed."""
    with copied(tmp_path, daemon) as command:
        done = subprocess.run([command, "run", "touch", tmp_path / "made"], capture_output=True,
                              env=environment("host", TMPDIR=str(tmp_path / "run"), XDG_RUNTIME_DIR=""),
                              timeout=60, check=False)
        assert done.returncode == RUN_FAILED
        text = done.stderr.decode()
        assert said.format(tmp_path) in text
        assert text.endswith("lanecrypt: the service, lanecryptd, did not start\n")
        assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_while_the_service_starts(tmp_path, number):
    with copied(tmp_path, 'while [ "$1" != --until-closed ]; do shift; done; cat <&"$2"') as command:
        process = subprocess.Popen([command, "run", "true"], start_new_session=True,
                                   env=environment("host", TMPDIR=str(tmp_path / "run"), XDG_RUNTIME_DIR=""))
        until(lambda: os.listdir(tmp_path / "run") != [])
        time.sleep(0.2)
        process.send_signal(number)
        assert process.wait(60) == -number


# ---- A terminal --------------------------------------------------------------------


class Terminal:
    """The command as a child with a terminal of its own, as from a shell."""

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
    """A program that goes on after Ctrl-C keeps its service."""
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
    # No shell: one catches the signal, and may lose it while it starts another program.
    shell = Terminal(sys.executable, "-c", "import os, signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); "
                     "print('in', os.environ['OPENSSL_CONF'], flush=True); time.sleep(60)")
    folder = os.path.dirname(shell.expect(rb"in (\S+)\r\n")[1].decode())
    shell.type(b"\x03")
    assert shell.end() == -signal.SIGINT
    until(lambda: not os.path.exists(folder))


def test_job_control():
    """Ctrl-Z stops the program, as its shell sees, and not its service. It goes on later."""
    # A shell of its own group: the group of the terminal's first process cannot be stopped.
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
    """A set-uid copy of the command would start a program of its caller's."""
    if os.geteuid() != 0:
        pytest.skip("only root makes a set-uid program for others")
    if os.statvfs("/usr/lib").f_flag & os.ST_NOSUID:
        pytest.skip("/usr/lib takes no set-uid programs")
    # Elsewhere the loader does not look beside a set-uid program for its libraries.
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
    """The active providers that `openssl list -providers` names."""
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
    # A path that is relative to the folder in which the command runs.
    done = run("openssl", "list", "-providers", env={"OPENSSL_CONF": own.name}, cwd=tmp_path)
    assert providers(ok(done)) == {"default", "base", "gpu"}


def test_a_file_that_openssl_cannot_read(tmp_path):
    own = tmp_path / "openssl.cnf"
    own.write_text("[start\n")
    done = run("openssl", "list", "-providers", env={"OPENSSL_CONF": str(own)})
    assert providers(ok(done)) == {"default", "gpu"}
    assert done.stderr.decode() == f"lanecrypt: {own} is left out, since OpenSSL cannot read it\n"
    # OpenSSL itself says nothing of one that is not there.
    done = run("openssl", "list", "-providers", env={"OPENSSL_CONF": "/no/such/file"})
    assert providers(ok(done)) == {"default", "gpu"} and done.stderr == b""


def test_node(always):
    """It reads a section of its own."""
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
