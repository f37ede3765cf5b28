# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of `lanecrypt run`: programs under it, their services, and a key."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

from cli_fixtures import LANECRYPT, environment, openssl

RUN_FAILED, CANNOT_RUN, NO_PROGRAM = 125, 126, 127

# Prints the path of its configuration, and waits for a line.
WAITS = 'echo "$OPENSSL_CONF"; read line; '


def words(*command, options=()):
    return [str(word) for word in (LANECRYPT, "run", *options, "--", *command)]


def run(*command, options=(), env=None, devices="host", **more):
    """Runs a program with the command and returns the finished process."""
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(words(*command, options=options), env=environment(devices, **(env or {})),
                          capture_output=True, timeout=300, start_new_session=True, **more)


def script(text, **more):
    return run("sh", "-c", text, **more)


# The tests' own user, or nobody if that is root. (root's folders are always in /run.)
NOBODY = 65534 if os.geteuid() == 0 else os.geteuid()
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"} if os.geteuid() == 0 else {"cwd": "/"}


@pytest.fixture
def own():
    """A folder that belongs to NOBODY, in /tmp. (Only the tests' own user can enter the folders
    above tmp_path.)"""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lc-", dir="/tmp"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


def ok(done):
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout.decode()


def until(holds, seconds=60):
    """Waits until `holds` returns true."""
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
    """Returns the status of the service in this folder."""
    return json.loads(subprocess.run([LANECRYPT, "service", "status", "--json", "--socket",
                                      f"{folder}/socket"], capture_output=True, timeout=60,
                                     check=False).stdout)


def keeper_of(folder):
    """Returns the parent process of the folder's service."""
    with open(f"/proc/{state_of(folder)['pid']}/stat", encoding="utf-8") as file:
        parent = int(file.read().rsplit(")", 1)[1].split()[1])
    with open(f"/proc/{parent}/comm", encoding="utf-8") as file:
        assert file.read() == "lanecrypt-keep\n"
    return parent


class Running:
    """A shell script under the command, which waits for a line before its last words."""

    def __init__(self, text="", last="exit 0", before=(), **more):
        self.process = subprocess.Popen(
            [*before, *words("sh", "-c", text + WAITS + last)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment("host", **more), start_new_session=True)
        self.folder = os.path.dirname(self.process.stdout.readline().decode().strip())
        assert self.folder, self.process.stderr.read()
        self.service = state_of(self.folder)["pid"]
        self.keeper = keeper_of(self.folder)

    def go_on(self):
        """Lets the script continue. Returns the rest of its output after its end."""
        out, err = self.process.communicate(b"go on\n", timeout=300)
        return out.decode(), err.decode()

    def is_gone(self):
        """Waits until only the program, at most, is left."""
        until(lambda: not is_alive(self.service) and not is_alive(self.keeper))
        until(lambda: not os.path.exists(self.folder))


@pytest.fixture
def key(tmp_path):
    openssl("genrsa", "-out", tmp_path / "key.pem", "2048")
    openssl("rsa", "-in", tmp_path / "key.pem", "-pubout", "-out", tmp_path / "public.pem")
    (tmp_path / "text").write_text("a text")
    return tmp_path


@pytest.fixture
def always(key):
    """A user configuration that sends every signature to the service. (By default a single
    signature would stay on its core.)"""
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
    """Repeats `attempt` until the service has done one operation. On a busy machine the service
    may not answer in time, and the program then signs itself. One success is enough."""
    for _ in range(5):
        attempt()
        if counters(always)["rsa_service_jobs"]:
            return
    raise AssertionError(counters(always))
