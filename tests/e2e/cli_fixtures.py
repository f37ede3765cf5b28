# SPDX-License-Identifier: Apache-2.0
"""Helpers with which the tests of the command call it and the machine's own openssl."""

import contextlib
import json
import os
import pathlib
import subprocess

from provider_fixtures import EMULATORS_FORM

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LANECRYPT_BUILD", REPOSITORY / "build"))
LANECRYPT = BUILD / "bin" / "lanecrypt"

CIPHERS = [f"aes-{bits}-{mode}" for bits in (128, 192, 256) for mode in ("ecb", "cbc", "ctr")]
CIPHERS += ["sm4-ecb", "sm4-cbc", "sm4-ctr"]

# Exit codes of lanecrypt(1).
FAILED, USAGE, BAD_DATA, NO_DEVICE = 1, 2, 3, 4


def environment(devices="host", **more):
    """Returns the environment of a run, without the tester's openssl.cnf. The device is the
    emulator, unless `devices` names others (None: the library chooses)."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LANECRYPT_", "OPENSSL_"))}
    for key in ("LANECRYPT_BUILD", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
        if key in os.environ:
            env[key] = os.environ[key]
    if devices is not None:
        env["LANECRYPT_DEVICES"] = devices
    env["LC_ALL"] = "C"
    env.update(more)
    return env


def lanecrypt(*arguments, devices="host", stdin=b"", timeout=300, env=None, **options):
    """Runs the command and returns the finished process. stdin is bytes or a file."""
    if arguments[:1] in (("enc",), ("dec",)) and devices == "host" and not {"-devices", "--devices"} & set(arguments):
        env = {**EMULATORS_FORM, **(env or {})}
    source = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    # No terminal: a test must never stop to ask for a password.
    return subprocess.run(
        [str(LANECRYPT), *map(str, arguments)],
        env=environment(devices, **(env or {})),
        timeout=timeout,
        start_new_session=True,
        **source,
        **options,
    )


def ok(*arguments, **options):
    """Runs the command, which must succeed."""
    done = lanecrypt(*arguments, **options)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done


def fails(code, text, *arguments, **options):
    """Runs the command, which must exit with `code` and print `text`."""
    done = lanecrypt(*arguments, **options)
    said = done.stderr.decode()
    assert done.returncode == code, (arguments, done.returncode, said)
    assert text in said, (arguments, said)
    assert said.rstrip("\n").splitlines()[-1].startswith("lanecrypt: "), said
    return done


def openssl(*arguments, stdin=b"", check=True):
    done = subprocess.run(
        ["openssl", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=environment(None),
        timeout=300,
        start_new_session=True,
    )
    if check:
        assert done.returncode == 0, (arguments, done.stderr)
    return done


def report(done):
    """Returns the line of JSON that a run with --json printed."""
    return json.loads(done.stdout.decode().splitlines()[-1])


def data(length, seed=1):
    """Returns pseudorandom bytes, the same in every run."""
    import random

    return random.Random(seed * 1_000_003 + length).randbytes(length)


@contextlib.contextmanager
def service(path, **more):
    """Runs a lanecryptd at this socket, with the emulator, whose devices are open."""
    ready = os.pipe()
    with subprocess.Popen([LANECRYPT.parent / "lanecryptd", "--socket", path, "--ready-fd",
                           str(ready[1])], pass_fds=[ready[1]], stderr=subprocess.DEVNULL,
                          env=environment(devices="host", **more)) as process:
        try:
            os.close(ready[1])
            assert os.read(ready[0], 16) == b"ready\n"
            yield
        finally:
            process.terminate()
            os.close(ready[0])
