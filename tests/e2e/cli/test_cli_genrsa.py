# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt genrsa`: keys that openssl accepts, files that are kept, and clear errors."""

import concurrent.futures
import math
import os
import signal
import stat
import subprocess
import time

import pytest
from cryptography.hazmat.primitives import serialization

from cli_fixtures import BAD_DATA, FAILED, LANECRYPT, NO_DEVICE, USAGE, environment, fails, ok, openssl, service

DEVICES = os.environ.get("LANECRYPT_TEST_RSA_DEVICES", "host")


def genrsa(folder, count, *words, **options):
    return ok("genrsa", "--count", count, "--bits", 1024, "--out-dir", folder, *words, **options)


def primes_of(path):
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    numbers = key.private_numbers()
    return numbers.p, numbers.q


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("devices", ["host", "none"])
def test_keys_are_good(tmp_path, devices):
    folder = tmp_path / "keys"
    said = genrsa(folder, 3, devices=devices).stdout.decode()
    assert "3 keys of 1024 bits" in said
    # The CPU begins, and may finish before a device is open.
    assert "the CPU" in said or (devices == "host" and "host:0" in said)
    assert files(folder) == [f"key-{n:08}.pem" for n in (1, 2, 3)]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        checked = openssl("rsa", "-in", str(path), "-check", "-noout")
        assert b"RSA key ok" in checked.stdout + checked.stderr
        # Byte for byte what openssl writes for this key.
        assert openssl("pkey", "-in", str(path)).stdout == path.read_bytes()


def test_a_run_goes_on_where_it_was(tmp_path):
    genrsa(tmp_path, 2)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    # Files that a power failure and a killed run leave behind.
    (tmp_path / "key-00000003.pem").touch(0o600)
    (tmp_path / ".key-00000004.pem.part").write_bytes(b"half")
    (tmp_path / "notes").write_bytes(b"mine")
    said = genrsa(tmp_path, 5).stdout.decode()
    assert "2 of them from before; 3 made" in said
    assert files(tmp_path) == [f"key-{n:08}.pem" for n in range(1, 6)] + ["notes"]
    assert all((tmp_path / name).read_bytes() == data for name, data in before.items())
    said = genrsa(tmp_path, 5, "--require-gpu", devices="none").stdout.decode()
    assert "5 of them from before" in said and "made" not in said


def test_foreign_files_stay(tmp_path):
    genrsa(tmp_path, 1)
    words = ("genrsa", "--count", 2, "--out-dir", tmp_path)
    fails(BAD_DATA, "its key has 1024 bits", *words, "--bits", 1026)
    fails(BAD_DATA, "another public exponent", *words, "--bits", 1024, "--exponent", 65539)
    for name, text, why in [
        ("garbage", b"no key", "no private RSA key"),
        ("damaged", (tmp_path / "key-00000001.pem").read_bytes().replace(b"A", b"B"), "is not such a key"),
    ]:
        (tmp_path / "key-00000002.pem").touch(0o600)
        (tmp_path / "key-00000002.pem").write_bytes(text)
        fails(BAD_DATA, why, *words, "--bits", 1024)
        assert (tmp_path / "key-00000002.pem").read_bytes() == text, name


def test_exponents(tmp_path):
    genrsa(tmp_path, 1, "--exponent", "0x" + "ff" * 32)
    key = serialization.load_pem_private_key((tmp_path / "key-00000001.pem").read_bytes(), None)
    assert key.public_key().public_numbers().e == 2**256 - 1


@pytest.mark.parametrize(
    "words, why",
    [
        (("--count", 0), "--count must be"),
        (("--count", 1, "--bits", 1023), "(--bits) must be"),
        (("--count", 1, "--bits", 512), "(--bits) must be"),
        (("--count", 1, "--exponent", 3), "65537 to 2^256 - 1"),
        (("--count", 1, "--exponent", 65538), "65537 to 2^256 - 1"),
        (("--count", 1, "--exponent", "many"), "is no number"),
        (("--count", 1, "--exponent", -65537), "is no number"),
        (("--bits", 2048), "--count"),
        (("--count", 1, "--out", "key.pem"), "--out"),
    ],
)
def test_wrong_words(tmp_path, words, why):
    fails(USAGE, why, "genrsa", "--out-dir", tmp_path, *words)
    assert files(tmp_path) == []


@pytest.mark.parametrize("words, bits", [(("1024",), 1024), (("--bits", "1026"), 1026), ((), 2048)])
def test_one_key_goes_to_standard_output(words, bits):
    done = ok("genrsa", *words)
    # Byte for byte what openssl writes for this key, and nothing else.
    assert openssl("pkey", stdin=done.stdout).stdout == done.stdout
    key = serialization.load_pem_private_key(done.stdout, None)
    assert key.key_size == bits and key.public_key().public_numbers().e == 65537
    assert done.stderr == b""


def test_keys_of_a_service(tmp_path):
    path = tmp_path / "socket"
    # The emulator's threads share a number, as CUDA's do. Otherwise it makes no single key.
    with service(path, LANECRYPT_HOST_SUBGROUPS="1"):
        said = genrsa(tmp_path / "keys", 10, f"--service={path}", "--require-gpu").stdout.decode()
        assert "10 made in" in said and said.endswith("by the service\n")
        for key in (tmp_path / "keys").iterdir():
            openssl("rsa", "-in", str(key), "-check", "-noout")
        one = ok("genrsa", f"--service={path}", "1024").stdout
        assert openssl("pkey", stdin=one).stdout == one
    # Without the service the CPU makes them, or the command fails.
    said = genrsa(tmp_path / "more", 1, f"--service={path}").stdout.decode()
    assert said.endswith("by the CPU\n")
    fails(NO_DEVICE, "no service", "genrsa", f"--service={path}", "--require-gpu", "1024")
    fails(USAGE, "--devices", "genrsa", "--service", "--devices", "host", "1024")


@pytest.mark.parametrize("words", [("512",), ("1025",), ("16386",), ("-5",), ("many",), ("1024", "1024"),
                                   ("1024", "--bits", "1024"), ("--count", "2"), ("--out", "")])
def test_wrong_words_for_one_key(words):
    assert fails(USAGE, "", "genrsa", *words).stdout == b""


def test_one_key_in_a_file(tmp_path):
    path = tmp_path / "key.pem"
    assert ok("genrsa", "-out", path, "1024", umask=0).stdout == b""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and files(tmp_path) == [path.name]
    first = path.read_bytes()
    assert openssl("pkey", "-in", path).stdout == first
    # Another key makes a new file, so that a process which has opened the old one does not see the
    # new key.
    path.chmod(0o644)
    with path.open("rb") as before:
        ok("genrsa", "--out", path, "--bits", "1024")
        assert before.read() == first
    assert path.read_bytes() != first and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ok("genrsa", "--out", "-", "1024").stdout.startswith(b"-----BEGIN PRIVATE KEY-----\n")


def test_one_key_or_none(tmp_path):
    """A run that fails or is interrupted leaves the old file, and nothing else."""
    path, link = tmp_path / "key.pem", tmp_path / "link"
    path.write_bytes(b"mine")
    link.symlink_to(path)
    fails(FAILED, "symbolic link", "genrsa", "--out", link, "1024")
    fails(NO_DEVICE, "no usable device", "genrsa", "--out", path, "--require-gpu", "1024", devices="none")
    fails(FAILED, "standard output", "genrsa", "1024", stdout=open("/dev/full", "wb"))
    command = [LANECRYPT, "genrsa", "--out", path, "16384"]
    with subprocess.Popen(command, env=environment("none")) as run:
        # Such a key takes minutes. The threads show that the run has begun to search.
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and len(os.listdir(f"/proc/{run.pid}/task")) < 3:
            time.sleep(0.05)
        run.send_signal(signal.SIGTERM)
        assert run.wait(300) == -signal.SIGTERM
    assert sorted(files(tmp_path)) == ["key.pem", "link"] and path.read_bytes() == b"mine"


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    fails(FAILED, "cannot open", "genrsa", "--count", 1, "--out-dir", tmp_path / "file")
    fails(FAILED, "cannot make", "genrsa", "--count", 1, "--out-dir", tmp_path / "no" / "keys")


def test_require_gpu(tmp_path):
    words = ("genrsa", "--count", 1, "--bits", 1024, "--out-dir", tmp_path)
    fails(NO_DEVICE, "no usable device", *words, "--require-gpu", devices="none")
    fails(NO_DEVICE, "cuda:99", *words, "--devices", "cuda:99")
    assert files(tmp_path) == []


def test_what_is_not_ours_stays(tmp_path):
    """Files that look like parts of keys, and non-files with a key's name."""
    others = [".key-notes.pem.part", ".key-.pem.part", ".key-1.pem.part.old"]
    for name in others:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".key-00000007.pem.part").write_text("of a run that was broken off")
    genrsa(tmp_path, 1)
    assert sorted(files(tmp_path)) == sorted([*others, "key-00000001.pem"])
    (tmp_path / "nothing").touch()
    second = tmp_path / "key-00000002.pem"
    for place in (os.mkfifo, lambda path: path.symlink_to("nothing")):
        place(second)
        fails(BAD_DATA, "it is no file", "genrsa", "--count", 2, "--bits", 1024, "--out-dir", tmp_path)
        second.unlink()
    assert (tmp_path / "nothing").exists()


root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_write_to(tmp_path, mode):
    """The folder is refused: others could put their keys there, which the run would keep as its
    own."""
    folder = tmp_path / "keys"
    genrsa(folder, 1)
    (folder / ".key-00000002.pem.part").write_bytes(b"half")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    folder.chmod(mode)
    fails(FAILED, "others can write to it", "genrsa", "--count", 2, "--bits", 1024, "--out-dir", folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    # Others may read the names, which reveals no key.
    folder.chmod(0o755)
    genrsa(folder, 2)


@root
def test_a_folder_of_another_user(tmp_path):
    folder = tmp_path / "keys"
    folder.mkdir()
    os.chown(folder, 65534, -1)
    fails(FAILED, "belongs to another user", "genrsa", "--count", 1, "--bits", 1024, "--out-dir", folder)
    assert files(folder) == []


@pytest.mark.parametrize("slashes", ["", "/", "//"])
def test_a_folder_that_is_a_link(tmp_path, slashes):
    (tmp_path / "keys").mkdir()
    (tmp_path / "link").symlink_to("keys")
    fails(FAILED, "it is a symbolic link", "genrsa", "--count", 1, "--bits", 1024,
          "--out-dir", f"{tmp_path}/link{slashes}")
    assert files(tmp_path / "keys") == []
    genrsa(f"{tmp_path}/keys{slashes}", 1)


@pytest.mark.parametrize("mode, why", [
    (0o640, "others can read it"), (0o604, "others can read it"),
    (0o620, "others can write to it"), (0o602, "others can write to it"),
])
def test_a_key_that_others_reach(tmp_path, mode, why):
    genrsa(tmp_path, 1)
    key = tmp_path / "key-00000001.pem"
    text = key.read_bytes()
    key.chmod(mode)
    fails(BAD_DATA, why, "genrsa", "--count", 2, "--bits", 1024, "--out-dir", tmp_path)
    assert files(tmp_path) == [key.name] and key.read_bytes() == text
    assert stat.S_IMODE(key.stat().st_mode) == mode


@root
def test_a_key_of_another_user(tmp_path):
    genrsa(tmp_path, 1)
    key = tmp_path / "key-00000001.pem"
    os.chown(key, 65534, -1)
    fails(BAD_DATA, "belongs to another user", "genrsa", "--count", 2, "--bits", 1024, "--out-dir", tmp_path)
    assert files(tmp_path) == [key.name]


def test_a_key_that_is_a_link(tmp_path):
    genrsa(tmp_path / "others", 1)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "key-00000001.pem").symlink_to(tmp_path / "others" / "key-00000001.pem")
    fails(BAD_DATA, "it is no file", "genrsa", "--count", 1, "--bits", 1024, "--out-dir", tmp_path / "keys")


def test_interrupted(tmp_path):
    command = [LANECRYPT, "genrsa", "--count", "100000", "--bits", "1024", "--out-dir", tmp_path]
    with subprocess.Popen(command, env=environment("host"), stdout=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 300
        while len(files(tmp_path)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        # Only one run at a time may use the folder.
        fails(FAILED, "another run", "genrsa", "--count", 1, "--out-dir", tmp_path)
        run.send_signal(signal.SIGINT)
        assert run.wait(300) == -signal.SIGINT
    assert len(files(tmp_path)) >= 3
    for path in tmp_path.iterdir():
        assert path.name.startswith("key-")
        primes_of(path)


def test_no_prime_twice(tmp_path):
    """A batch GCD with a product tree over all keys of a run that does not fork. openssl accepts
    every key."""
    count = int(os.environ.get("LANECRYPT_TEST_KEYS", "40"))
    genrsa(tmp_path, count, devices=DEVICES, timeout=3600)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = pool.map(lambda path: openssl("rsa", "-in", str(path), "-check", "-noout"),
                          tmp_path.iterdir())
        said = [done.stdout + done.stderr for done in checks]
    assert len(said) == count and all(b"RSA key ok" in text for text in said)
    moduli = [p * q for p, q in map(primes_of, tmp_path.iterdir())]
    levels = [moduli]
    while len(levels[-1]) > 1:
        level = levels[-1]
        levels.append([math.prod(level[n : n + 2]) for n in range(0, len(level), 2)])
    rests = levels.pop()
    while levels:
        level = levels.pop()
        rests = [rests[n // 2] % (number * number) for n, number in enumerate(level)]
    assert all(math.gcd(rest // number, number) == 1 for rest, number in zip(rests, moduli))
