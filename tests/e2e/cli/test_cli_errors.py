# SPDX-License-Identifier: Apache-2.0
"""Bad input gets a clear error, and nothing is lost: each test reads the message, and checks
that no output was made or changed."""

import os
import resource
import shutil
import signal
import subprocess
import time

import pytest

from cli_fixtures import (BAD_DATA, CIPHERS, FAILED, LANECRYPT, NO_DEVICE, USAGE, data, environment, fails,
                          lanecrypt, ok, openssl, report)

KEY = "00112233445566778899aabbccddeeff"
IV = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
RAW = ["-aes-128-cbc", "-K", KEY, "-iv", IV]
PW = ["-pbkdf2", "-k", "x"]


@pytest.fixture
def folder(tmp_path):
    """A folder with an input and an existing output. After the test both must be unchanged,
    without any other file."""
    (tmp_path / "in").write_bytes(data(10_000))
    (tmp_path / "out").write_bytes(b"precious")
    yield tmp_path
    assert sorted(os.listdir(tmp_path)) == ["in", "out"]
    assert (tmp_path / "out").read_bytes() == b"precious"
    assert (tmp_path / "in").read_bytes() == data(10_000)


def files(folder):
    return ["-in", folder / "in", "-out", folder / "out"]


def chunked(folder):
    return [*files(folder), "--chunk", "1024"]


# ---- The command line ------------------------------------------------------


def test_no_command():
    fails(USAGE, "unknown command 'encrypt'", "encrypt")
    assert lanecrypt().returncode == USAGE


def test_unknown_option(folder):
    fails(USAGE, "no cipher 'nonsense';", "enc", *RAW, "--nonsense=secret", *files(folder))


def test_unknown_cipher(folder):
    fails(USAGE, "unknown cipher 'aes-512-ctr': there are aes-128-ecb", "enc", "--cipher", "aes-512-ctr",
          *PW, *files(folder))
    for subcommand in ("enc", "dec"):
        fails(USAGE, f"there is no option and no cipher 'aes-999-ctr'; the help lists them (see lanecrypt {subcommand} "
              "--help)", subcommand, "-aes-999-ctr", *PW, *files(folder))
    said = ok("enc", "--help").stdout.decode().split()
    assert {"aes-128-ecb", "sm4-ctr", "camellia-256-cbc"} <= set(said)


def test_no_cipher(folder):
    fails(USAGE, "no cipher was given", "enc", *PW, *files(folder))


def test_unknown_digest(folder):
    fails(USAGE, "-md sha257: OpenSSL knows no such digest", "enc", "-aes-128-ctr", *PW, "-md", "sha257",
          *files(folder))


@pytest.mark.parametrize("words,reason", [
    (["-a"], "-a: base64 is not supported"),
    (["-base64"], "-base64: base64 is not supported"),
    (["-z"], "-z: compression is not supported"),
    (["-engine", "x"], "-engine: engines are not supported"),
    (["-provider", "gpu"], "-provider: providers are not supported"),
    (["-bufsize", "8k"], "-bufsize: the buffers are chosen by lanecrypt"),
])
def test_options_of_openssl_that_are_not_here(folder, words, reason):
    fails(USAGE, reason, "enc", *RAW, *words, *files(folder))


@pytest.mark.parametrize("count", ["0", "-1", "x"])
def test_bad_iteration_count(folder, count):
    fails(USAGE, "--iter", "enc", "-aes-128-ctr", "-k", "x", "-iter", count, *files(folder))


def test_contradictions(folder):
    fails(USAGE, "-e and -d exclude each other", "enc", "-e", "-d", *RAW, *files(folder))
    fails(USAGE, "-S and -nosalt exclude each other", "enc", "-aes-128-ctr", *PW, "-nosalt",
          "-S", "0011223344556677", *files(folder))


@pytest.mark.parametrize("word", ["-k0", "-K0", "-k-1", "-knone", "-p1", "-S0"])
def test_a_value_without_a_space(folder, word):
    """It is refused. Above all it must not be taken for the index of another secret in the same
    line."""
    fails(USAGE, "no option and no cipher", "enc", "-aes-128-ctr", *PW, word, *files(folder))


def test_bad_chunk(folder):
    fails(USAGE, "--chunk must be a multiple of 16 bytes", "enc", *RAW, "--chunk", "17", *files(folder))
    fails(USAGE, "--chunk", "enc", *RAW, "--chunk", "0", *files(folder))


# ---- Keys ------------------------------------------------------------------


@pytest.mark.parametrize("key", ["", "00", KEY[:-1], KEY + "0", KEY + "00", KEY * 2])
def test_wrong_key_length(folder, key):
    done = fails(USAGE, f"key (-K): 32 hexadecimal digits are needed (16 bytes), but {len(key)} were given",
                 "enc", "-aes-128-ctr", "-K", key, "-iv", IV, *files(folder))
    assert KEY.encode() not in done.stderr


def test_wrong_key_length_for_the_cipher(folder):
    fails(USAGE, "48 hexadecimal digits", "enc", "-aes-192-ctr", "-K", KEY, "-iv", IV, *files(folder))
    fails(USAGE, "64 hexadecimal digits", "dec", "-aes-256-ctr", "-K", KEY, "-iv", IV, *files(folder))


@pytest.mark.parametrize("iv", ["", "00", IV[:-1], IV + "00"])
def test_wrong_iv_length(folder, iv):
    fails(USAGE, "IV (-iv): 32 hexadecimal digits are needed", "enc", "-aes-128-ctr", "-K", KEY, "-iv", iv,
          *files(folder))


@pytest.mark.parametrize("wrong", ["g", "/", ":", "@", "G", "`", " ", "\u00e9"])
def test_bad_hex(folder, wrong):
    bad = KEY[:5] + wrong + KEY[6:]
    said = "a character is no hexadecimal digit"
    fails(USAGE, f"key (-K): {said}", "enc", "-aes-128-ctr", "-K", bad, "-iv", IV, *files(folder))
    fails(USAGE, f"IV (-iv): {said}", "enc", "-aes-128-ctr", "-K", KEY, "-iv", bad, *files(folder))
    fails(USAGE, f"salt (-S): {said}", "enc", "-aes-128-ctr", *PW, "-S", "001122" + wrong + "3", *files(folder))


def test_wrong_salt_length(folder):
    fails(USAGE, "salt (-S): 16 hexadecimal digits", "enc", "-aes-128-ctr", *PW, "-S", "0011", *files(folder))


def test_key_without_iv(folder):
    fails(USAGE, "iv undefined: aes-128-cbc with -K needs -iv too", "enc", "-aes-128-cbc", "-K", KEY,
          *files(folder))


@pytest.mark.parametrize("source", [KEY, "hunter2", "pass:" + KEY, "key:" + KEY, "file", "fd:x", "fd:", "fd:-1", ""])
def test_bad_key_source(folder, source):
    done = fails(USAGE, "-key-source", "enc", "-aes-128-ctr", "-iv", IV, "-key-source", source, *files(folder))
    assert KEY.encode() not in done.stderr and b"hunter2" not in done.stderr


def test_key_sources_that_give_none(folder, tmp_path_factory):
    words = ["enc", "-aes-128-ctr", "-iv", IV, *files(folder), "-key-source"]
    file = tmp_path_factory.mktemp("key") / "key.hex"
    file.write_bytes(b"")
    none = file.with_name("none")
    fails(FAILED, f"cannot open key file '{none}': No such file or directory", *words, f"file:{none}")
    fails(FAILED, "cannot read the key from file '/tmp': Is a directory", *words, "file:/tmp")
    fails(FAILED, "there is no key in file", *words, f"file:{file}")
    fails(FAILED, "there is no key in standard input", *words, "stdin")
    fails(FAILED, "cannot read the key from descriptor 99", *words, "fd:99")
    fails(USAGE, "-key-source env:NO_SUCH_NAME: the environment has no variable", *words, "env:NO_SUCH_NAME")
    fails(USAGE, "-key-source prompt: there is no terminal to ask on", *words, "prompt")
    fails(USAGE, "iv undefined: aes-128-ctr with -key-source needs -iv too", "enc", "-aes-128-ctr", *files(folder),
          "-key-source", "env:K", env={"K": KEY})
    fails(USAGE, "-K and -key-source exclude each other", *words, "env:K", "-K", KEY, env={"K": KEY})


@pytest.mark.parametrize("content,said", [
    (b"\n", "32 hexadecimal digits are needed (16 bytes), but 0 were given"),
    (KEY[:-2].encode(), "32 hexadecimal digits are needed (16 bytes), but 30 were given"),
    (KEY.encode() * 2, "32 hexadecimal digits are needed (16 bytes), but 64 were given"),
    (KEY.encode() + b" \n", "a character is no hexadecimal digit"),
    (b"0x" + KEY[2:].encode(), "a character is no hexadecimal digit"),
    (bytes.fromhex(KEY), "has a zero byte, but it is to be hexadecimal text"),
    (b"0" * 2000, "is longer than 1023 bytes"),
])
def test_bad_key_from_a_source(folder, tmp_path_factory, content, said):
    file = tmp_path_factory.mktemp("key") / "key.hex"
    file.write_bytes(content)
    done = fails(USAGE, said, "enc", "-aes-128-ctr", "-iv", IV, *files(folder), "-key-source", f"file:{file}")
    assert KEY[2:-2].encode() not in done.stderr


def test_iv_for_ecb_is_only_a_warning():
    done = ok("enc", "-aes-128-ecb", "-K", KEY, "-iv", IV, stdin=b"abc")
    assert b"warning: iv not used by this cipher" in done.stderr


# ---- Passphrases -----------------------------------------------------------


def test_no_passphrase_and_no_terminal(folder):
    fails(USAGE, "no passphrase and no key: give -pass", "enc", "-aes-128-ctr", "-pbkdf2", *files(folder))


@pytest.mark.parametrize("source", ["hunter2", "fd:x", "fd:", "fd:-1"])
def test_bad_passphrase_source(folder, source):
    done = fails(USAGE, "-pass", "enc", "-aes-128-ctr", "-pbkdf2", "-pass", source, *files(folder))
    assert b"hunter2" not in done.stderr


def test_passphrase_sources_that_give_none(folder, tmp_path_factory):
    words = ["enc", "-aes-128-ctr", "-pbkdf2", *files(folder)]
    empty = tmp_path_factory.mktemp("pw") / "empty"
    empty.write_bytes(b"")
    none = empty.with_name("none")
    fails(FAILED, "No such file or directory", *words, "-pass", f"file:{none}")
    fails(FAILED, "there is no passphrase in file", *words, "-pass", f"file:{empty}")
    fails(FAILED, "there is no passphrase in standard input", *words, "-pass", "stdin")
    fails(FAILED, "descriptor 99", *words, "-pass", "fd:99")
    fails(USAGE, "-pass env:NO_SUCH_NAME: the environment has no variable", *words, "-pass", "env:NO_SUCH_NAME")
    fails(USAGE, "is empty", *words, "-kfile", empty)
    fails(FAILED, f"cannot open passphrase file '{none}'", *words, "-kfile", none)
    empty.write_bytes(b"a\0b\n")
    fails(USAGE, "has a zero byte", *words, "-kfile", empty)


# ---- Data ------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["ecb", "cbc"])
def test_no_multiple_of_the_block_without_padding(folder, mode):
    (folder / "in").write_bytes(data(10_001))
    words = [f"-aes-128-{mode}", "-K", KEY, "-iv", IV, "-nopad"]
    said = "10001 bytes of data are no multiple of the block of 16 bytes, and -nopad leaves out the padding"
    fails(FAILED, said, "enc", *words, *files(folder))
    fails(FAILED, said, "enc", *words, "-out", folder / "out", stdin=data(10_001))
    (folder / "in").write_bytes(data(10_000))


@pytest.mark.parametrize("padding", [[], ["-nopad"]], ids=str)
def test_truncated_ciphertext(folder, padding):
    said = "10000 bytes of data are no multiple of the block of 16 bytes: the file is truncated"
    (folder / "in").write_bytes(data(10_001))
    fails(BAD_DATA, said.replace("10000", "10001"), "dec", *RAW, *padding, *chunked(folder))
    fails(BAD_DATA, said.replace("10000", "10001"), "dec", *RAW, *padding, "-out", folder / "out",
          "--chunk", "1024", stdin=data(10_001))
    (folder / "in").write_bytes(data(10_000))


def test_empty_ciphertext_where_there_must_be_padding(folder):
    fails(BAD_DATA, "there is no data, not even padding", "dec", *RAW, "-out", folder / "out")


@pytest.mark.parametrize("through_pipe", [False, True])
@pytest.mark.parametrize("cipher", ["aes-256-cbc", "aes-128-ecb"])
def test_wrong_password(folder, cipher, through_pipe):
    sealed = openssl("enc", f"-{cipher}", "-pbkdf2", "-k", "right", "-S", "0011223344556677",
                     "-in", folder / "in").stdout
    sealed = b"Salted__" + bytes.fromhex("0011223344556677") + sealed
    words = ["dec", f"-{cipher}", "-pbkdf2", "-k", "wrong", "--chunk", "1024", "-out", folder / "out"]
    said = "bad decrypt: the padding at the end is wrong. The passphrase or key"
    if through_pipe:
        fails(BAD_DATA, said, *words, stdin=sealed)
    else:
        (folder / "in").write_bytes(sealed)
        fails(BAD_DATA, said, *words, "-in", folder / "in")
        (folder / "in").write_bytes(data(10_000))


def padded(*tail):
    return bytes(16 - len(tail)) + bytes(tail)


@pytest.mark.parametrize("block", [padded(0), padded(17), padded(2, 1, 3), padded(255), padded(3, 1, 3),
                                   bytes([15]) + bytes([16]) * 15])
def test_each_kind_of_bad_padding(folder, block):
    sealed = openssl("enc", *RAW, "-nopad", stdin=b"x" * 16 + block).stdout
    fails(BAD_DATA, "the padding at the end is wrong", "dec", *RAW, "-out", folder / "out", stdin=sealed)
    assert openssl("enc", "-d", *RAW, stdin=sealed, check=False).returncode != 0


@pytest.mark.parametrize("content", [b"Salted_", b"Salted__", b"Salted__1234567", b"S", b""])
def test_truncated_header(folder, content):
    fails(BAD_DATA, f"the file is truncated: it has {len(content)} bytes", "dec", "-aes-256-ctr", *PW,
          "-out", folder / "out", stdin=content)


@pytest.mark.parametrize("content", [b"PK\x03\x04" + bytes(100), b"salted__12345678abc", b"x"])
def test_foreign_file(folder, content):
    fails(BAD_DATA, "bad magic number: the file does not begin with \"Salted__\"", "dec", "-aes-256-ctr",
          *PW, "-out", folder / "out", stdin=content)


# ---- Files -----------------------------------------------------------------


def test_missing_input(folder):
    none = folder / "none"
    fails(FAILED, f"cannot open '{none}' for reading: No such file or directory", "enc", *RAW,
          "-in", none, "-out", folder / "out")


def test_directory_as_input(folder):
    fails(FAILED, "is a directory, not a file", "enc", *RAW, "-in", "/tmp", "-out", folder / "out")


def test_directory_as_output(folder):
    fails(FAILED, "is a directory, not a file", "enc", *RAW, "-in", folder / "in", "-out", folder)
    fails(FAILED, "is the name of a directory", "enc", *RAW, "-in", folder / "in", "-out", f"{folder}/new/")


def test_output_in_a_folder_that_is_not_there(folder):
    fails(FAILED, "No such file or directory", "enc", *RAW, "-in", folder / "in", "-out", folder / "no" / "out")


def as_nobody():
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def reachable(path):
    """Returns whether another user can start the program there."""
    return os.geteuid() != 0 or all(os.stat(p).st_mode & 0o001 for p in [path, *path.resolve().parents])


@pytest.mark.skipif(not reachable(LANECRYPT), reason="another user cannot reach the build folder")
def test_unreadable_input_and_unwritable_output(tmp_path_factory):
    place = tmp_path_factory.mktemp("perm")
    for parent in (place, *place.parents[:2]):
        parent.chmod(0o755)
    (place / "in").write_bytes(b"secret")
    (place / "in").chmod(0)
    (place / "out").write_bytes(b"precious")
    (place / "out").chmod(0o444)
    fails(FAILED, "for reading: Permission denied", "enc", *RAW, "-in", place / "in", preexec_fn=as_nobody)
    fails(FAILED, "for writing: Permission denied", "enc", *RAW, "-out", place / "out", stdin=b"x",
          preexec_fn=as_nobody)
    assert (place / "out").read_bytes() == b"precious"


def test_input_as_output(folder):
    said = "is the input too: it would be destroyed"
    fails(USAGE, said, "enc", *RAW, "-in", folder / "in", "-out", folder / "in")
    os.link(folder / "in", folder / "linked")
    fails(USAGE, said, "enc", *RAW, "-in", folder / "in", "-out", folder / "linked")
    (folder / "linked").unlink()
    (folder / "soft").symlink_to(folder / "in")
    fails(USAGE, said, "enc", *RAW, "-in", folder / "soft", "-out", folder / "in")
    fails(USAGE, said, "enc", *RAW, "-in", folder / "in", "-out", folder / "soft")
    (folder / "soft").unlink()
    with (folder / "in").open("rb+") as same:
        fails(USAGE, "standard output is the input too", "enc", *RAW, "-in", folder / "in", stdout=same)


def test_link_that_leads_nowhere(folder):
    (folder / "soft").symlink_to(folder / "nothing")
    fails(FAILED, "is a symbolic link that leads nowhere", "enc", *RAW, "-in", folder / "in",
          "-out", folder / "soft")
    (folder / "soft").unlink()


def test_full_device_as_standard_output():
    with open("/dev/full", "wb") as full:
        fails(FAILED, "cannot write standard output: No space left on device", "enc", *RAW, stdin=data(100_000),
              stdout=full)
    fails(FAILED, "cannot write '/dev/full': No space left on device", "enc", *RAW, "-out", "/dev/full",
          stdin=data(100_000))


def test_output_that_nobody_reads():
    process = subprocess.Popen([LANECRYPT, "enc", *RAW], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment())
    process.stdout.close()
    process.stdin.write(data(100_000))
    process.stdin.close()
    assert b"cannot write standard output: Broken pipe" in process.stderr.read()
    assert process.wait(timeout=300) == FAILED


# Some tests hide /proc, without which a program does not find files next to itself.
LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(LANECRYPT)), "lib")


def in_namespace(script, *arguments):
    """Runs a shell script in a namespace in which it may mount. Skips if that is forbidden."""
    command = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", script, "sh", *map(str, arguments)]
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not here")
    # The leak sanitizer needs /proc, which some of these scripts hide.
    env = environment(ASAN_OPTIONS="detect_leaks=0", LD_LIBRARY_PATH=LIBRARIES)
    done = subprocess.run(command, capture_output=True, env=env, timeout=300, start_new_session=True)
    # The last of these occurs in a chroot whose root is not a mount point.
    if any(why in done.stderr for why in (b"not permitted", b"ermission denied", b"root filesystem propagation")):
        pytest.skip("mounting is forbidden here")
    return done


@pytest.mark.parametrize("source", ["file", "pipe"])
def test_full_disk(tmp_path, source):
    plain, mount = tmp_path / "plain", tmp_path / "mount"
    plain.write_bytes(data(8 << 20))
    mount.mkdir()
    script = """
        mount -t tmpfs -o size=2m none "$3" || exit 99
        printf precious > "$3/out"
        if [ "$4" = file ]; then "$1" enc -aes-256-ctr -pbkdf2 -k x -in "$2" -out "$3/out" --chunk 262144
        else "$1" enc -aes-256-ctr -pbkdf2 -k x -out "$3/out" --chunk 262144 < "$2"; fi
        echo "code $? files $(ls -A "$3" | tr '\\n' ' ')content $(cat "$3/out")"
    """
    done = in_namespace(script, LANECRYPT, plain, mount, source)
    assert b"No space left on device" in done.stderr, done
    assert done.stdout == b"code 1 files out content precious\n"


def test_limit_on_the_size_of_files(folder):
    fails(FAILED, "File too large", "enc", *RAW, *chunked(folder),
          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))


def test_without_unnamed_files(tmp_path):
    """If the kernel provides no unnamed files, a named temporary one is used."""
    plain, out = tmp_path / "plain", tmp_path / "out"
    plain.write_bytes(data(100_000))
    out.write_bytes(b"old")
    script = """
        mount -t tmpfs none /proc || exit 99
        "$1" enc -aes-256-ctr -K "$2$2" -iv "$2" -in "$3" -out "$4" --chunk 4096 &&
        "$1" enc -aes-256-ctr -K "$2$2" -iv "$2" -in "$3" -out "$4.new" --chunk 4096
    """
    done = in_namespace(script, LANECRYPT, KEY, plain, out)
    assert done.returncode == 0, done
    expected = openssl("enc", "-aes-256-ctr", "-K", KEY + KEY, "-iv", KEY, "-in", plain).stdout
    assert out.read_bytes() == expected and (tmp_path / "out.new").read_bytes() == expected
    assert sorted(os.listdir(tmp_path)) == ["out", "out.new", "plain"]


# ---- Signals ---------------------------------------------------------------


def start_slow(folder, *prefix):
    """Starts a run that has begun to write and waits for more input."""
    process = subprocess.Popen([*prefix, LANECRYPT, "enc", "-aes-256-ctr", *PW, "-out", folder / "out",
                                "--chunk", "65536"],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment(LD_LIBRARY_PATH=LIBRARIES), start_new_session=True)
    process.stdin.write(data(1 << 20) * 12)
    process.stdin.flush()
    time.sleep(0.7)
    assert process.poll() is None
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1,
                                    signal.SIGKILL])
def test_signals_leave_nothing(folder, number):
    process = start_slow(folder)
    process.send_signal(number)
    process.wait(timeout=300)
    assert process.returncode == -number
    process.communicate()


def test_signals_leave_nothing_of_a_named_temporary(folder):
    script = 'mount -t tmpfs none /proc || exit 99; exec "$@"'
    in_namespace("mount -t tmpfs none /proc || exit 99")
    process = start_slow(folder, "unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", script, "sh")
    temporary = [name for name in os.listdir(folder) if name.startswith(".lanecrypt-")]
    assert len(temporary) == 1, os.listdir(folder)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=300)
    assert process.returncode == -signal.SIGINT
    process.communicate()


def test_an_ignored_signal_stays_ignored(tmp_path):
    process = subprocess.Popen([LANECRYPT, "enc", "-aes-256-ctr", *PW, "-out", tmp_path / "out"],
                               stdin=subprocess.PIPE, env=environment(), start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.stdin.write(data(1 << 20) * 12)
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(signal.SIGHUP)
    process.stdin.close()
    assert process.wait(timeout=300) == 0
    assert (tmp_path / "out").stat().st_size == (12 << 20) + 16


# ---- Devices ---------------------------------------------------------------


def test_no_device_and_the_cpu_not_allowed(folder):
    fails(NO_DEVICE, "no usable device, and --require-gpu does not allow the CPU", "enc", "-aes-256-ctr", *PW,
          "-require-gpu", "-devices", "none", *files(folder))
    fails(NO_DEVICE, "no usable device", "dec", *RAW, "-require-gpu", *files(folder), devices="none")


def test_a_device_that_is_not_there(folder):
    fails(NO_DEVICE, "cuda:77", "enc", "-aes-256-ctr", *PW, "-require-gpu", "-devices", "cuda:77", *files(folder))


def test_a_malformed_list_of_devices(folder):
    wrong = "is wrong: it must be none, or names such as cuda:0"
    fails(USAGE, f'the list of devices "host:x,," {wrong}', "enc", "-aes-256-ctr", *PW, "-devices", "host:x,,",
          *files(folder))
    fails(USAGE, f'the environment variable LANECRYPT_DEVICES = "host:x,," {wrong}', "enc", "-aes-256-ctr", *PW,
          *files(folder), devices="host:x,,")


def test_cbc_encryption_needs_the_cpu(folder):
    fails(NO_DEVICE, "CBC encryption of one file is one serial chain", "enc", *RAW, "-require-gpu",
          *files(folder))


LOST = {"LANECRYPT_HOST_FAULT": "lost-after:3"}


# A device runs the self-test of any other block cipher when a job first needs that cipher, so here
# it would be lost in the self-test.
@pytest.mark.parametrize("cipher", [cipher for cipher in CIPHERS if cipher.startswith("aes")])
def test_a_device_lost_in_the_middle_the_cpu_takes_over(tmp_path, cipher):
    plain, sealed, again = tmp_path / "plain", tmp_path / "sealed", tmp_path / "again"
    plain.write_bytes(data(200_000))
    openssl("enc", f"-{cipher}", *PW, "-in", plain, "-out", sealed)
    words = ["dec", f"-{cipher}", *PW, "-in", sealed, "-out", again, "--chunk", "4096", "-json"]
    told = report(ok(*words, env=LOST))
    assert again.read_bytes() == plain.read_bytes()
    assert told["cpu_bytes"] > 0 and told["device_bytes"] > 0
    assert told["cpu_bytes"] + told["device_bytes"] >= 200_000
    assert report(ok(*words))["cpu_bytes"] == 0


def test_a_device_lost_in_the_middle_and_the_cpu_not_allowed(folder):
    done = fails(NO_DEVICE, "host:0", "enc", "-aes-256-ctr", *PW, "-require-gpu", *chunked(folder), env=LOST)
    assert b"lost" in done.stderr


# ---- Threads -----------------------------------------------------------------


@pytest.fixture(scope="module")
def few_threads(tmp_path_factory):
    """A library that lets a program start as many threads as THREADS says, as a limit would."""
    folder = tmp_path_factory.mktemp("threads")
    (folder / "few.c").write_text("""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <pthread.h>
        #include <stdlib.h>
        static int count;
        int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *with) {
          int (*start)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
          if (__sync_fetch_and_add(&count, 1) >= atoi(getenv("THREADS"))) return EAGAIN;
          *(void **)&start = dlsym(RTLD_NEXT, "pthread_create");
          return start(thread, how, run, with);
        }""")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "few.so", folder / "few.c", "-ldl"], check=True)
    return lambda threads: {"LD_PRELOAD": str(folder / "few.so"), "THREADS": str(threads)}


def test_where_no_thread_can_be_started(folder, few_threads):
    text = "cannot start a thread: end other processes, or raise the limits on processes (ulimit -u, pids.max)"
    fails(FAILED, text, "enc", *RAW, *files(folder), devices="none", env=few_threads(0))
    fails(FAILED, text, "genrsa", "1024", devices="none", env=few_threads(0))
    # The first thread waits for signals, and the others make the key.
    fails(NO_DEVICE, text, "genrsa", "1024", devices="none", env=few_threads(1))
    told = subprocess.run([LANECRYPT.parent / "lanecryptd", "--socket", folder / "socket"], capture_output=True,
                          env=environment("none", **few_threads(0)), timeout=60)
    assert told.returncode == FAILED and text in told.stderr.decode()
