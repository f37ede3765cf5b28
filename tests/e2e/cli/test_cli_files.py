# SPDX-License-Identifier: Apache-2.0
"""How `lanecrypt enc` and `dec` read and write files: with threads, with io_uring, and with
io_uring and O_DIRECT."""

import os
import pathlib
import subprocess

import pytest

from cli_fixtures import FAILED, LANECRYPT, USAGE, data, environment, fails, lanecrypt, ok, openssl, report
from test_cli_errors import in_namespace

RAW = ["-K", "00" * 32, "-iv", "01" * 16]
# Lengths around a page, which is the unit of O_DIRECT and of the chunks here, with the 16 bytes of
# the salt's header and without.
LENGTHS = [0, 1, 4079, 4080, 4081, 4095, 4096, 4097, 8192, 40961, 65536]
CHUNK = ["--chunk", "4096"]


def by(way, *arguments, **options):
    return ok(*arguments, env={"LANECRYPT_FILE_IO": way}, **options)


def has_ring():
    """Returns whether this build and this kernel have io_uring."""
    done = lanecrypt("enc", "-aes-256-ctr", *RAW, "-in", __file__, "-out", "/dev/null", "--json", "--chunk", "4096",
                     env={"LANECRYPT_FILE_IO": "ring"})
    return done.returncode == 0 and report(done)["input_io"] == "ring"


ring = pytest.mark.skipif(not has_ring(), reason="there is no io_uring here")


@pytest.fixture(params=["plain", pytest.param("ring", marks=ring), pytest.param("direct", marks=ring)])
def way(request):
    return request.param


@pytest.mark.parametrize("cipher", ["aes-256-ctr", "aes-256-cbc"])
def test_every_way_reads_and_writes_alike(cipher, way, tmp_path):
    plain, sealed, opened = (tmp_path / name for name in ("plain", "sealed", "opened"))
    for length in LENGTHS:
        expected = data(length)
        plain.write_bytes(expected)
        by(way, "enc", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", plain, "-out", sealed, *CHUNK)
        back = openssl("enc", "-d", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", sealed).stdout
        assert back == expected, length
        by(way, "dec", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", sealed, "-out", opened, *CHUNK)
        assert opened.read_bytes() == expected, length
        by(way, "enc", f"-{cipher}", *RAW, "-nosalt", "-in", plain, "-out", sealed, *CHUNK)
        assert sealed.read_bytes() == openssl("enc", f"-{cipher}", *RAW, "-in", plain).stdout, length


@ring
def test_the_report_tells_the_way(tmp_path):
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(data(100_000))

    def told(way, source, *arguments, **options):
        done = by(way, source, "-aes-256-ctr", *RAW, "--json", *CHUNK, *arguments, **options)
        line = report(done)
        return line["input_io"], line["output_io"]

    files = ["-in", plain, "-out", sealed]
    assert told("plain", "enc", *files) == ("threads", "threads")
    assert told("ring", "enc", *files) == ("ring", "ring")
    # Threads read and write pipes and devices.
    assert told("ring", "enc", "-out", sealed, stdin=b"abc") == ("threads", "ring")
    assert told("ring", "enc", "-in", plain, "-out", "/dev/null") == ("ring", "threads")
    # For small files io_uring gains nothing.
    done = ok("enc", "-aes-256-ctr", *RAW, "--json", *files)
    assert (report(done)["input_io"], report(done)["output_io"]) == ("threads", "threads")


@ring
def test_direct_where_the_file_system_allows(tmp_path):
    """On a file system that has O_DIRECT. The flags of a descriptor that other processes share
    stay unchanged."""
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(data(100_000))
    try:
        os.close(os.open(plain, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        pytest.skip("the file system of the tests' folder has no O_DIRECT")
    words = ["enc", "-aes-256-ctr", *RAW, "--json", "-out", sealed]
    done = report(by("direct", *words, "-in", plain, *CHUNK))
    assert (done["input_io"], done["output_io"]) == ("direct", "direct")
    with plain.open("rb") as shared:
        done = report(by("direct", *words, *CHUNK, stdin=shared))
    assert (done["input_io"], done["output_io"]) == ("ring", "direct")
    # Chunks whose size is not a multiple of a page go through the page cache.
    done = report(by("direct", *words, "-in", plain, "--chunk", "4112"))
    assert (done["input_io"], done["output_io"]) == ("ring", "ring")


def test_streams(way, tmp_path):
    plain, sealed = data(100_001), tmp_path / "sealed"
    expected = openssl("enc", "-aes-256-ctr", *RAW, stdin=plain).stdout
    by(way, "enc", "-aes-256-ctr", *RAW, "-out", sealed, *CHUNK, stdin=plain)
    assert sealed.read_bytes() == expected
    assert by(way, "dec", "-aes-256-ctr", *RAW, "-in", sealed, *CHUNK).stdout == plain
    assert by(way, "dec", "-aes-256-ctr", *RAW, *CHUNK, stdin=expected).stdout == plain


def test_a_chain_on_the_cpu(way, tmp_path):
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(data(100_001))
    by(way, "enc", "-aes-256-cbc", *RAW, "-in", plain, "-out", sealed, *CHUNK)
    assert sealed.read_bytes() == openssl("enc", "-aes-256-cbc", *RAW, "-in", plain).stdout


def test_bad_padding_leaves_nothing(way, tmp_path):
    sealed, out = tmp_path / "sealed", tmp_path / "out"
    sealed.write_bytes(data(40_960))
    done = lanecrypt("dec", "-aes-256-cbc", *RAW, "-in", sealed, "-out", out, *CHUNK,
                     env={"LANECRYPT_FILE_IO": way})
    assert done.returncode == 3 and b"bad decrypt" in done.stderr
    assert os.listdir(tmp_path) == ["sealed"]


def test_full_disk(way, tmp_path):
    plain, image, mount = tmp_path / "plain", tmp_path / "image", tmp_path / "mount"
    plain.write_bytes(data(8 << 20))
    mount.mkdir()
    # A file system that has O_DIRECT, if this user may make one, or else a RAM disk.
    script = """
        export LANECRYPT_FILE_IO="$5"
        if truncate -s 4M "$4" && mkfs.ext4 -q -O ^has_journal "$4" && mount -o loop "$4" "$3" 2>/dev/null; then :
        else mount -t tmpfs -o size=2m none "$3" || exit 99; fi
        printf precious > "$3/out"
        "$1" enc -aes-256-ctr -pbkdf2 -k x -in "$2" -out "$3/out" --chunk 262144
        echo "code $? content $(cat "$3/out")"
    """
    done = in_namespace(script, LANECRYPT, plain, mount, image, way)
    assert b"No space left on device" in done.stderr, done
    assert done.stdout == b"code 1 content precious\n"


def test_a_file_that_becomes_shorter(way, tmp_path):
    """It does so while the command reads it, and waits for the reader of its output."""
    plain = tmp_path / "plain"
    plain.write_bytes(data(8 << 20))
    process = subprocess.Popen([LANECRYPT, "enc", "-aes-256-ctr", *RAW, "-in", plain, "--chunk", "65536"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment("host", LANECRYPT_FILE_IO=way))
    process.stdout.read(65536)
    os.truncate(plain, 4096)
    _, said = process.communicate(timeout=300)
    assert process.returncode == FAILED and b"became shorter while it was being read" in said, said


def test_without_io_uring(tmp_path):
    """If a kernel or a filter refuses io_uring, threads read the files."""
    source = pathlib.Path(__file__).parents[1] / "refuse_call.py"
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(data(100_000))
    done = subprocess.run(["/usr/bin/python3", source, "io_uring_setup", LANECRYPT, "enc", "-aes-256-ctr", *RAW, "-in", plain, "-out",
                           sealed, "--json", *CHUNK], capture_output=True, timeout=300,
                          env=environment("host", LANECRYPT_FILE_IO="ring"))
    if b"cannot filter" in done.stderr:
        pytest.skip("no seccomp filter may be set here")
    assert done.returncode == 0, done.stderr
    assert report(done)["input_io"] == "threads"
    assert sealed.read_bytes() == openssl("enc", "-aes-256-ctr", *RAW, "-in", plain).stdout


def test_a_way_that_is_none(tmp_path):
    fails(USAGE, "LANECRYPT_FILE_IO is neither", "enc", "-aes-256-ctr", *RAW, "-in", __file__, "-out",
          tmp_path / "out", env={"LANECRYPT_FILE_IO": "fast"})
