# SPDX-License-Identifier: Apache-2.0
"""The command on a terminal: it asks for the passphrase, with the echo off, and shows its
progress."""

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time

import pytest

from cli_fixtures import FAILED, LANECRYPT, USAGE, data, environment, openssl


class Terminal:
    """The command as a child with its own terminal."""

    def __init__(self, *arguments):
        self.seen = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                os.execve(LANECRYPT, [str(LANECRYPT), *map(str, arguments)], environment("none"))
            finally:
                os._exit(127)

    def read(self, seconds):
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if not ready:
            return False
        try:
            more = os.read(self.terminal, 4096)
        except OSError:  # the other end is closed
            return False
        self.seen += more
        return bool(more)

    def expect(self, text):
        end = time.monotonic() + 300
        while text not in self.seen:
            assert self.read(max(0.0, end - time.monotonic())), (text, self.seen)
        self.seen = self.seen.split(text, 1)[1]

    def type(self, keys):
        # The prompt appears before the echo is switched off. A person types later than that.
        end = time.monotonic() + 300
        while termios.tcgetattr(self.terminal)[3] & termios.ECHO:
            assert time.monotonic() < end, "the echo stays on"
            time.sleep(0.01)
        os.write(self.terminal, keys)

    def answer(self, line):
        self.type(line + b"\n")

    def finish(self):
        while self.read(300):
            pass
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain"
    path.write_bytes(data(1000))
    return path


def test_asks_twice_when_encrypting_and_once_when_decrypting(plain, tmp_path):
    sealed, again = tmp_path / "sealed", tmp_path / "again"
    run = Terminal("enc", "-aes-256-ctr", "-pbkdf2", "-in", plain, "-out", sealed)
    run.expect(b"enter aes-256-ctr encryption password:")
    run.answer(b"correct horse")
    run.expect(b"Verifying - enter aes-256-ctr encryption password:")
    run.answer(b"correct horse")
    assert run.finish() == 0
    assert b"correct horse" not in run.seen, "the passphrase was echoed"
    opened = openssl("enc", "-d", "-aes-256-ctr", "-pbkdf2", "-k", "correct horse", "-in", sealed)
    assert opened.stdout == plain.read_bytes()

    run = Terminal("dec", "-aes-256-ctr", "-pbkdf2", "-in", sealed, "-out", again)
    run.expect(b"enter aes-256-ctr decryption password:")
    run.answer(b"correct horse")
    assert run.finish() == 0
    assert again.read_bytes() == plain.read_bytes()


def test_asks_for_a_key(plain, tmp_path):
    sealed, again = tmp_path / "sealed", tmp_path / "again"
    key, words = b"00112233445566778899AABBCCDDEEFF", ["-aes-128-ctr", "-iv", "f" * 32]
    run = Terminal("enc", *words, "-key-source", "prompt", "-in", plain, "-out", sealed)
    run.expect(b"enter aes-128-ctr key in hexadecimal:")
    run.answer(key)
    run.expect(b"Verifying - enter aes-128-ctr key in hexadecimal:")
    run.answer(key)
    assert run.finish() == 0
    assert key not in run.seen, "the key was echoed"
    assert sealed.read_bytes() == openssl("enc", *words, "-K", key.decode(), "-in", plain).stdout

    run = Terminal("dec", *words, "-key-source", "prompt", "-in", sealed, "-out", again)
    run.expect(b"enter aes-128-ctr key in hexadecimal:")
    run.answer(key)
    assert run.finish() == 0
    assert again.read_bytes() == plain.read_bytes()


def test_keys_that_are_wrong_at_the_prompt(plain, tmp_path):
    words = ["enc", "-aes-128-ctr", "-iv", "f" * 32, "-key-source", "prompt", "-in", plain,
             "-out", tmp_path / "sealed"]
    for first, second, code, said in (
            (b"00" * 16, b"01" * 16, FAILED, b"the two keys differ"),
            (b"00" * 15, b"00" * 15, USAGE, b"32 hexadecimal digits are needed (16 bytes), but 30"),
            (b"", b"", USAGE, b"the key is empty")):
        run = Terminal(*words)
        run.expect(b"key in hexadecimal:")
        run.answer(first)
        run.expect(b"Verifying")
        run.expect(b"hexadecimal:")
        run.answer(second)
        assert run.finish() == code, run.seen
        assert said in run.seen
        assert os.listdir(tmp_path) == ["plain"]


def test_two_passphrases_that_differ(plain, tmp_path):
    run = Terminal("enc", "-aes-256-ctr", "-pbkdf2", "-in", plain, "-out", tmp_path / "sealed")
    run.expect(b"password:")
    run.answer(b"one")
    run.expect(b"password:")
    run.answer(b"other")
    assert run.finish() == FAILED
    assert b"the two passphrases differ" in run.seen
    assert os.listdir(tmp_path) == ["plain"]


def test_an_empty_passphrase(plain, tmp_path):
    run = Terminal("dec", "-aes-256-ctr", "-pbkdf2", "-nosalt", "-in", plain, "-out", tmp_path / "sealed")
    run.expect(b"password:")
    run.answer(b"")
    assert run.finish() == USAGE
    assert b"the passphrase is empty" in run.seen
    assert os.listdir(tmp_path) == ["plain"]


def test_no_more_than_openssl_takes(plain, tmp_path):
    """Otherwise the passphrase that opens the file could not be typed into openssl."""
    sealed = tmp_path / "sealed"
    for length, code in ((511, 0), (512, FAILED)):
        run = Terminal("enc", "-aes-256-ctr", "-pbkdf2", "-in", plain, "-out", sealed)
        for _ in range(2 if code == 0 else 1):
            run.expect(b"password:")
            run.answer(b"x" * length)
        assert run.finish() == code, run.seen
        assert sealed.exists() == (code == 0)
        sealed.unlink(missing_ok=True)


def test_interrupt_at_the_prompt(plain, tmp_path):
    run = Terminal("enc", "-aes-256-ctr", "-pbkdf2", "-in", plain, "-out", tmp_path / "sealed")
    run.expect(b"password:")
    run.type(b"\x03")
    assert run.finish() == -signal.SIGINT
    assert b"interrupted; nothing was written" in run.seen
    assert os.listdir(tmp_path) == ["plain"]


def run_slowly(*words, until=None):
    """Runs the command with stderr on a terminal, and returns what it wrote there. Its input
    comes in two halves: the second when stderr matches `until`, or after a while."""
    main, other = pty.openpty()
    process = subprocess.Popen([LANECRYPT, "enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", *words],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=other,
                               env=environment("none"), start_new_session=True)
    os.close(other)
    half = data(1 << 20) * 12
    process.stdin.write(half)
    process.stdin.flush()
    seen = b""
    if until is None:
        time.sleep(0.6)
    else:
        end = time.monotonic() + 300
        while not re.search(until, seen.decode(errors="replace")):
            assert select.select([main], [], [], max(0.0, end - time.monotonic()))[0], seen
            seen += os.read(main, 4096)
    process.stdin.write(half)
    process.stdin.close()
    while True:
        try:
            more = os.read(main, 4096)
        except OSError:
            break
        if not more:
            break
        seen += more
    os.close(main)
    assert process.wait(timeout=300) == 0
    return seen.decode()


def test_progress_line():
    line = r"\r[0-9.]+ MB  [0-9.]+ GB/s  CPU\x1b\[K"
    seen = run_slowly(until=line)
    assert re.search(line, seen), seen
    assert re.search(r"25\.17 MB in [0-9.]+ s \([0-9.]+ GB/s, .*on the CPU", seen), seen


def progress_of_a_file(path, devices):
    """Returns the progress lines of a run whose output is read slowly. Each comes with two
    times: it did not exist before the first, and was read at the second. The lines span at least
    a second and a half, and three of them show the time left."""
    main, other = pty.openpty()
    process = subprocess.Popen([LANECRYPT, "enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-in", path],
                               stdout=subprocess.PIPE, stderr=other, env=environment(devices),
                               start_new_session=True)
    os.close(other)
    start = time.monotonic()
    seen, lines, quiet = b"", [], 0.0
    try:
        while sum("left" in line for _, _, line in lines) < 3 or lines[-1][1] - lines[0][1] < 1.5:
            looked = time.monotonic() - start
            assert looked < 300, (seen, lines)
            ready, _, _ = select.select([main, process.stdout], [], [], 300)
            assert ready, (seen, lines)
            if main not in ready:
                quiet = looked
            if process.stdout in ready:
                assert os.read(process.stdout.fileno(), 1 << 16), (seen, lines)
                time.sleep(0.0003)
            if main in ready:
                seen += os.read(main, 4096)
                *whole, seen = seen.split(b"\x1b[K")
                lines += [(quiet, time.monotonic() - start, line.decode()) for line in whole]
    finally:
        process.kill()
        process.communicate()
        os.close(main)
    return lines


@pytest.mark.parametrize("devices, name", [("none", "CPU"), ("host", "host:0 emulator on the CPU, for tests")])
def test_progress_line_of_a_file(tmp_path, devices, name):
    """The line shows the bytes done and the total, the rate, the time left that follows from
    these, and the device. Figures may be off by rounding."""
    plain, total = tmp_path / "plain", 900.0
    with open(plain, "wb") as file:
        file.truncate(int(total * 1e6))
    lines = progress_of_a_file(plain, devices)
    before = 0.0
    for not_before, when, line in lines:
        told = re.fullmatch(r"\r([0-9]+\.[0-9]{2}) of 900\.00 MB  ([0-9]+\.[0-9]{2}) GB/s"
                            r"(?:  ([0-9]+):([0-5][0-9]) left)?  (.*)", line)
        assert told, line
        done, rate = float(told[1]), 1000 * float(told[2])  # MB, MB/s
        assert before <= done < total, lines
        before = done
        slowest, fastest = max(rate - 5, 0.001), rate + 5
        # The rate counts from the start of the run, which was before the first line.
        assert done / fastest <= when + 0.05, (when, line)
        assert done / slowest >= not_before - lines[0][1] - 0.5 or rate < 5, (when, line)
        if done == 0:
            continue
        left = 60 * int(told[3]) + int(told[4])
        assert (total - done) / fastest - 1 <= left <= (total - done) / slowest + 1, line
        assert told[5] == name, line


def test_quiet_means_quiet():
    assert run_slowly("-quiet") == ""


def test_no_progress_line_without_a_terminal():
    done = subprocess.run([LANECRYPT, "enc", "-aes-256-ctr", "-pbkdf2", "-k", "x"], input=data(1 << 20) * 12,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment("none"),
                          timeout=300, start_new_session=True, check=True)
    assert done.stderr == b""
