# SPDX-License-Identifier: Apache-2.0
"""Standard input, output and error, and descriptors that a user names: closed, full, in the
middle of a file, or open for something else."""

import json
import os
import pathlib
import resource
import subprocess

import pytest

from cli_fixtures import FAILED, LANECRYPT, USAGE, data, environment, fails, lanecrypt, ok, openssl

PLAIN = data(70_001)
PW = ["-aes-256-ctr", "-pbkdf2"]
KEY, IV = "00112233445566778899aabbccddeeff" * 2, "0f" * 16


def shell(script, *words, stdin=b""):
    """Runs a shell script in which "$@" is the command with `words`."""
    return subprocess.run(["sh", "-c", script, "sh", LANECRYPT, *map(str, words)], input=stdin,
                          capture_output=True, env=environment(), timeout=300, start_new_session=True)


@pytest.fixture
def plain(tmp_path):
    (tmp_path / "plain").write_bytes(PLAIN)
    return tmp_path / "plain"


@pytest.mark.parametrize("line, words, again", [
    ("pw", [*PW, "-pass", "stdin"], [*PW, "-k", "pw"]),
    ("pw", [*PW, "-kfile", "-"], [*PW, "-k", "pw"]),
    (KEY, ["-aes-256-ctr", "-iv", IV, "-key-source", "stdin"], ["-aes-256-ctr", "-iv", IV, "-K", KEY]),
], ids=["pass", "kfile", "key-source"])
def test_the_first_line_of_a_file_on_standard_input(tmp_path, line, words, again):
    """The line is not part of the data, in a file as in a pipe."""
    head = line.encode() + b"\n"
    (tmp_path / "plain").write_bytes(head + PLAIN)
    with open(tmp_path / "plain", "rb") as source:
        sealed = ok("enc", *words, stdin=source).stdout
    assert openssl("enc", "-d", *again, stdin=sealed).stdout == PLAIN
    (tmp_path / "sealed").write_bytes(head + sealed)
    with open(tmp_path / "sealed", "rb") as source:
        assert ok("dec", *words, stdin=source).stdout == PLAIN


def test_a_descriptor_that_is_not_open(tmp_path, plain):
    """The command must not read a descriptor that it opened itself: the first line of the data
    would be taken for the passphrase."""
    plain.write_bytes(b"first line\n" + PLAIN)
    for number in range(3, 8):
        fails(FAILED, f"cannot read the passphrase from descriptor {number}: Bad file descriptor", "enc", *PW,
              "-pass", f"fd:{number}", "-in", plain, "-out", tmp_path / "sealed")
    assert os.listdir(tmp_path) == ["plain"]


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_nobody_hears(tmp_path, plain, where):
    """A message that cannot be printed stops nothing, and every exit code is right."""
    # This run has a warning and a report to print.
    done = shell(f'"$@" {where}', "enc", "-aes-256-ctr", "-k", "pw", "-v", "-in", plain, "-out", tmp_path / "sealed")
    assert done.returncode == 0
    assert openssl("enc", "-d", "-aes-256-ctr", "-k", "pw", "-in", tmp_path / "sealed").stdout == PLAIN
    assert shell(f'"$@" {where}', "enc", *PW, "-k", "pw", "-in", tmp_path / "none").returncode == FAILED
    assert shell(f'"$@" {where}', "what").returncode == USAGE
    assert shell(f'"$@" {where}').returncode == USAGE


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["enc", "--help"], ["devices"], ["devices", "--json"],
                                   ["enc", *PW, "-k", "pw", "-P"]], ids=" ".join)
@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_results_that_cannot_be_written(words, where):
    done = shell(f'"$@" {where}', *words)
    assert done.returncode == FAILED
    assert b"cannot write" in done.stderr


def test_without_standard_output(tmp_path, plain):
    """No file that the command opens may get the descriptor of standard output."""
    sealed = tmp_path / "sealed"
    words = ["enc", *PW, "-k", "pw"]
    for redirect in (">&-", "<&- >&-"):
        done = shell(f'"$@" {redirect}', *words, "-in", plain, "-out", sealed)
        assert done.returncode == 0, done.stderr
        assert openssl("enc", "-d", *PW, "-k", "pw", "-in", sealed).stdout == PLAIN
    done = shell('cat | "$@" >&-', *words, "-out", sealed, "--json", stdin=PLAIN)
    assert done.returncode == FAILED and b"cannot write standard output" in done.stderr
    done = shell('"$@" >&-', *words, "-in", plain)
    assert done.returncode == FAILED
    assert b"cannot write standard output: Bad file descriptor" in done.stderr
    done = shell('"$@" <&-', *words, "-out", sealed)
    assert done.returncode == FAILED
    assert b"cannot read standard input: Bad file descriptor" in done.stderr


def test_a_report_beside_data_of_another_name(plain):
    done = lanecrypt("enc", *PW, "-k", "pw", "-in", plain, "-out", "/dev/stdout", "--json")
    assert done.returncode == 0
    assert openssl("enc", "-d", *PW, "-k", "pw", stdin=done.stdout).stdout == PLAIN
    assert json.loads(done.stderr)["bytes"] == len(PLAIN)


def test_empty_names(tmp_path, plain):
    fails(USAGE, "the input has an empty name", "enc", *PW, "-k", "pw", "-in", "", "-out", tmp_path / "sealed",
          stdin=PLAIN)
    done = fails(USAGE, "the output has an empty name", "enc", *PW, "-k", "pw", "-in", plain, "-out", "")
    assert done.stdout == b""


def test_a_file_that_says_it_is_longer():
    """Files of /sys report a size that they do not have."""
    path = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not path.is_file():
        pytest.skip(f"needs {path}")
    sealed = ok("enc", *PW, "-k", "pw", "-in", path).stdout
    assert openssl("enc", "-d", *PW, "-k", "pw", stdin=sealed).stdout == path.read_bytes()


def test_no_thread_to_be_had():
    """A user that may have no more processes gets an ordinary error."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become a user of few processes")

    def run_as_another(most_processes, *words, stdin=b""):
        def become():
            resource.setrlimit(resource.RLIMIT_NPROC, (most_processes, most_processes))
            os.setuid(61_803)  # a UID that has no other process

        return subprocess.run([LANECRYPT, *words], input=stdin, capture_output=True, env=environment(None),
                              timeout=300, preexec_fn=become)

    try:
        reads = run_as_another(64, "--version").returncode == 0
    except OSError:
        reads = False
    if not reads:
        pytest.skip("needs a build that every user can read")
    done = run_as_another(1, "enc", *PW, "-k", "pw", "--devices", "none", stdin=data(20 << 20))
    assert done.returncode == FAILED, done.stderr
    assert done.stderr.decode().startswith("lanecrypt: cannot start a thread: "), done.stderr
