# SPDX-License-Identifier: Apache-2.0
"""A stage is where dev/clients runs one program in one way. It gives the program a folder and an
OPENSSL_CONF, and runs and ends its processes. It records what they map, how many threads they
have, and which of them are left at the end."""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "e2e"))

from provider_fixtures import Configuration  # noqa: E402

WAYS = ("plain", "default", "forced")
PR_SET_CHILD_SUBREAPER = 36
# Names in a process's maps that show our module and drivers.
OURS = "gpu.so"
DRIVERS = ("libcuda.so", "libOpenCL.so", "libpocl", "libLLVM", "libEGL", "libGLES")


class Failure(Exception):
    """A sentence that says what a program did wrong."""


def expect(holds, what):
    if not holds:
        raise Failure(what)


def adopt_orphans():
    """Makes processes whose parent has ended children of this process, so that none gets lost."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def read(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def parents():
    """Returns the parent of each running process, without zombies."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        fields = read(f"/proc/{name}/stat").rpartition(")")[2].split()
        if fields and fields[0] not in "ZX":
            found[int(name)] = int(fields[1])
    return found


def descendants(root, apart=()):
    """Returns the processes below `root`, without those in `apart` and their descendants."""
    children = {}
    for process, parent in parents().items():
        children.setdefault(parent, []).append(process)
    found, todo = set(), [root]
    while todo:
        new = [p for p in children.get(todo.pop(), []) if p not in apart and p not in found]
        found.update(new)
        todo += new
    return found


def command_of(process):
    return read(f"/proc/{process}/cmdline").replace("\0", " ").strip()[:100]


def where_it_waits(process):
    """Returns what each thread of a process does, for the report of one that hangs."""
    lines = []
    for thread in sorted(pathlib.Path(f"/proc/{process}/task").glob("*")):
        call = read(thread / "syscall").split(" ")[0].strip() or "?"
        lines.append(f"{read(thread / 'comm').strip()} in {read(thread / 'wchan') or '?'}"
                     f" (syscall {call})")
    return f"{command_of(process)}: " + ", ".join(lines)


class Watch(threading.Thread):
    """Looks at a stage's processes every few milliseconds, until it is stopped."""

    def __init__(self, stage):
        super().__init__(daemon=True)
        self.stage, self.over = stage, threading.Event()
        self.processes, self.with_ours, self.drivers, self.most_threads = set(), set(), set(), 0
        self.half_sandboxed = set()

    def look(self):
        for process in descendants(os.getpid(), self.stage.apart):
            threads = re.search(r"^Threads:\s*(\d+)", read(f"/proc/{process}/status"), re.M)
            maps = read(f"/proc/{process}/maps")
            if not threads or not maps:
                continue
            self.processes.add(process)
            self.most_threads = max(self.most_threads, int(threads.group(1)))
            if f"/{OURS}" in maps:
                self.with_ours.add(process)
                # A filter holds only for its thread and for threads that this thread starts
                # later.
                sandboxed = {re.search(r"^Seccomp:\s*(\d+)", read(task / "status"), re.M)
                             for task in pathlib.Path(f"/proc/{process}/task").glob("*")}
                if len({found.group(1) for found in sandboxed if found}) > 1:
                    self.half_sandboxed.add(process)
            self.drivers.update(name for name in DRIVERS if f"/{name}" in maps)

    def run(self):
        pause = 0.004
        while not self.over.wait(pause):
            begun = time.thread_time()
            self.look()
            # Leaves the program most of the core, even if there are many processes to look at.
            pause = max(0.004, 4 * (time.thread_time() - begun))

    def stop(self):
        self.over.set()
        self.join()


class Stage:
    """One program in one way. It is a context manager. After its end no process of the program is
    left."""

    def __init__(self, folder, way, key, options, reference=None):
        self.folder, self.way, self.key, self.options = folder, way, key, options
        # The folder of the same program's stage without the provider, to compare with.
        self.reference = reference
        self.apart, self.servers, self.begun = set(), [], time.monotonic()
        folder.mkdir()
        folder.chmod(0o755)
        settings = {"in_process": None}  # the provider's own default
        if way == "forced":
            settings = {"devices": options.devices, "threshold_bytes": 0, "rsa": "always",
                        "in_process": "yes"}
        if way != "plain":
            settings.update(options.settings)
        self.configuration = Configuration(folder, options.build, **settings)
        if way == "plain":
            # The same file without our provider, so that reading it takes as long.
            text = self.configuration.path.read_text()
            text = text.replace("gpu = gpu_settings\n", "").replace("?provider=gpu", "")
            self.configuration.path.write_text(text)
        # For servers whose workers run as another user.
        self.configuration.stats.touch()
        self.configuration.stats.chmod(0o666)
        self.environment = {**self.configuration.environment, "HOME": str(folder),
                            "XDG_CACHE_HOME": str(options.cache)}
        self.watch = Watch(self)

    def __enter__(self):
        self.watch.start()
        return self

    def __exit__(self, kind, *_):
        left = self.what_is_left(0 if kind else 10)
        self.watch.stop()
        kill_descendants()
        for server in self.servers:
            server.wait()
        reap()
        if left and kind is None:
            raise Failure("left processes: " + "; ".join(sorted(left.values())))

    def what_is_left(self, patience):
        """Returns the processes of the program that have not ended after `patience` seconds."""
        until = time.monotonic() + patience
        while True:
            left = {p: command_of(p) for p in descendants(os.getpid(), self.apart)}
            if not left or time.monotonic() >= until:
                return left
            time.sleep(0.02)

    def as_user(self, user):
        """Returns the words before a command that make it run as the user, if this process is
        root."""
        if not user or os.geteuid() != 0:
            return []
        return [shutil.which("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups"]

    def run(self, *command, status=0, user=None, environment=None, **options):
        """Runs the program with the configuration, to its end. Returns what it wrote."""
        command = [*self.as_user(user), *(str(part) for part in command)]
        done = self.finish(subprocess.Popen(
            command, env={**self.environment, **(environment or {})}, cwd=self.folder,
            stdin=subprocess.PIPE if "input" in options else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True),
            command, **options)
        if status is not None and done.returncode != status:
            said = (done.stderr or done.stdout).decode(errors="replace").strip()[-300:]
            raise Failure(f"{name_of(command)} ended with {status_text(done.returncode)}: {said}")
        return done

    def finish(self, process, command, **options):
        try:
            out, err = process.communicate(options.get("input"), timeout=self.options.timeout)
        except subprocess.TimeoutExpired:
            hangs = [where_it_waits(p) for p in descendants(os.getpid(), self.apart)]
            process.kill()
            process.communicate()
            raise Failure(f"{name_of(command)} did not end in {self.options.timeout:g} s: "
                          + "; ".join(hangs)) from None
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def start(self, *command, user=None, environment=None):
        """Starts a server with the configuration. Its output goes to its log."""
        with open(self.folder / "log", "ab") as log:
            server = subprocess.Popen([*self.as_user(user), *(str(part) for part in command)],
                                      env={**self.environment, **(environment or {})}, stdout=log,
                                      stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder,
                                      # Apache ends its process group at its end.
                                      start_new_session=True)
        self.servers.append(server)
        return server

    def start_plain(self, *command, **options):
        """Starts another program, which runs without the provider."""
        with open(self.folder / "log-plain", "ab") as log:
            process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True, **options)
        self.apart.add(process.pid)
        self.servers.append(process)
        return process

    def log(self):
        return read(self.folder / "log")

    def end(self, server, by=signal.SIGTERM, statuses=(0,)):
        """Ends a server by the signal. It must end in time, with one of the statuses."""
        expect(server.poll() is None, f"the server had ended: {self.log()[-300:]}")
        until = time.monotonic() + self.options.timeout
        # HAProxy's master ignores signals while it restarts itself. A second signal would kill
        # its worker while that serves its last clients, with any provider or none.
        while is_ignored(server.pid, by) and time.monotonic() < until:
            time.sleep(0.02)
        server.send_signal(by)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(max(0, until - time.monotonic()))
        if server.poll() is None:
            hangs = [where_it_waits(p) for p in descendants(os.getpid(), self.apart)]
            raise Failure("the server does not end: " + "; ".join(hangs))
        expect(server.returncode in statuses,
               f"the server ended with {status_text(server.returncode)}: {self.log()[-300:]}")

    def counters(self):
        """Returns the sums of the counters that the program's processes wrote at their ends, or
        None."""
        lines = [json.loads(line) for line in read(self.configuration.stats).splitlines()]
        if not lines:
            return None
        sums = {name: sum(line[name] for line in lines) for name, value in lines[0].items()
                if isinstance(value, int) and name not in ("pid", "time")}
        reasons = {device["reason"] for line in lines for device in line["devices"]
                   if "reason" in device}
        return {"lines": len(lines), **sums, "reasons": sorted(reasons)}


def is_ignored(process, number):
    """Returns whether a process ignores the signal."""
    masks = [int(line.split()[1], 16) for line in read(f"/proc/{process}/status").splitlines()
             if line.startswith("SigIgn:")]
    return any(mask & 1 << number - 1 for mask in masks)


def name_of(command):
    """Returns a command in a few words."""
    return " ".join(str(part) for part in command)[:80]


def status_text(status):
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def kill_all(processes):
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_descendants():
    """Kills all descendants of this process, until none is left that one of them started
    meanwhile."""
    while below := descendants(os.getpid()):
        kill_all(below)
        time.sleep(0.01)


def reap():
    """Waits for adopted orphans that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
