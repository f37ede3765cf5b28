# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt enc` and `dec`, compared with the machine's own `openssl enc`."""

import os
import pathlib
import re
import stat
import subprocess

import pytest

from cli_fixtures import CIPHERS, FAILED, LANECRYPT, data, fails, ok, openssl, report
from conftest import EVERY_CASE

KEY = {128: "00112233445566778899aabbccddeeff", 192: "00112233445566778899aabbccddeeff0123456789abcdef",
       256: "00112233445566778899aabbccddeeff" * 2}
IV = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
# Lengths around a block, around the chunk of the tests (4096), and of several chunks.
LENGTHS = [0, 1, 16, 17, 4095, 4096, 40961]
CHUNK = ("--chunk", "4096")


def lengths_for(cipher):
    """Returns all lengths, or some for other key sizes, which use the same code."""
    return LENGTHS if EVERY_CASE or "128" not in cipher and "192" not in cipher else [0, 17, 40961]


def bits_of(cipher):
    return 128 if cipher.startswith("sm4") else int(cipher.split("-")[1])


def raw_key(cipher):
    words = ["-K", KEY[bits_of(cipher)]]
    return words if cipher.endswith("ecb") else words + ["-iv", IV]


@pytest.mark.parametrize("cipher", CIPHERS)
def test_openssl_opens_what_lanecrypt_wrote(cipher, tmp_path):
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    for length in lengths_for(cipher):
        plain.write_bytes(data(length))
        ok("enc", f"-{cipher}", "-pbkdf2", "-k", "pa ss", "-in", plain, "-out", sealed, *CHUNK)
        assert sealed.read_bytes()[:8] == b"Salted__"
        opened = openssl("enc", "-d", f"-{cipher}", "-pbkdf2", "-k", "pa ss", "-in", sealed)
        assert opened.stdout == plain.read_bytes(), length


@pytest.mark.parametrize("cipher", CIPHERS)
def test_lanecrypt_opens_what_openssl_wrote(cipher, tmp_path):
    sealed, plain = tmp_path / "sealed", tmp_path / "plain"
    for length in lengths_for(cipher):
        expected = data(length)
        openssl("enc", f"-{cipher}", "-pbkdf2", "-k", "x", "-out", sealed, stdin=expected)
        ok("dec", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", sealed, "-out", plain, *CHUNK)
        assert plain.read_bytes() == expected, length


@pytest.mark.parametrize("cipher", CIPHERS)
def test_same_bytes_as_openssl_through_pipes(cipher):
    for length in (0, 15, 4096, 8193):
        plain = data(length)
        expected = openssl("enc", f"-{cipher}", *raw_key(cipher), stdin=plain).stdout
        sealed = ok("enc", f"-{cipher}", *raw_key(cipher), *CHUNK, stdin=plain).stdout
        assert sealed == expected, length
        assert ok("dec", f"-{cipher}", *raw_key(cipher), *CHUNK, stdin=sealed).stdout == plain


@pytest.mark.parametrize("cipher", ["aes-128-ecb", "aes-256-cbc"])
def test_without_padding(cipher):
    plain = data(8192)
    expected = openssl("enc", f"-{cipher}", "-nopad", *raw_key(cipher), stdin=plain).stdout
    assert len(expected) == len(plain)
    assert ok("enc", f"-{cipher}", "-nopad", *raw_key(cipher), *CHUNK, stdin=plain).stdout == expected
    assert ok("dec", f"-{cipher}", "-nopad", *raw_key(cipher), *CHUNK, stdin=expected).stdout == plain


@pytest.mark.parametrize("iv", ["f" * 32, "0" * 16 + "f" * 16, "0" * 24 + "f" * 8, "0" * 24 + "fffffff0"])
def test_counter_carries_between_chunks(iv, tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(data(20000))
    words = ["-aes-256-ctr", "-K", KEY[256], "-iv", iv, "-in", plain]
    assert ok("enc", *words, "--chunk", "16").stdout == openssl("enc", *words).stdout


DERIVATIONS = [
    ["-pbkdf2"],
    ["-iter", "1234"],
    ["-pbkdf2", "-iter", "7", "-md", "sha512"],
    ["-pbkdf2", "-md", "sha1"],
    ["-md", "md5"],
    [],
    ["-nosalt"],
    ["-nosalt", "-pbkdf2"],
    ["-S", "0123456789abcdef"],
    ["-S", "0123456789ABCDEF", "-pbkdf2", "-md", "sha384"],
    ["-pbkdf2", "-iv", IV],
    ["-pbkdf2", "-K", KEY[256]],
]


@pytest.mark.parametrize("words", DERIVATIONS, ids=" ".join)
def test_derivations_are_openssls(words):
    plain = data(1000)
    for cipher in ("aes-256-cbc", "aes-192-ecb", "aes-256-ctr"):
        if cipher != "aes-256-cbc" and ("-K" in words or "-iv" in words):
            continue
        sealed = ok("enc", f"-{cipher}", "-k", "secret", *words, stdin=plain).stdout
        assert openssl("enc", "-d", f"-{cipher}", "-k", "secret", *words, stdin=sealed).stdout == plain
        sealed = openssl("enc", f"-{cipher}", "-k", "secret", *words, stdin=plain).stdout
        assert ok("dec", f"-{cipher}", "-k", "secret", *words, stdin=sealed).stdout == plain


def test_warns_of_the_deprecated_derivation():
    said = ok("enc", "-aes-128-ctr", "-k", "x", stdin=b"x").stderr
    assert said == openssl("enc", "-aes-128-ctr", "-k", "x", stdin=b"x").stderr
    assert b"deprecated key derivation used" in said
    assert ok("enc", "-aes-128-ctr", "-k", "x", "-pbkdf2", stdin=b"x").stderr == b""


@pytest.mark.parametrize("cipher", ["aes-128-cbc", "aes-256-ecb", "aes-192-ctr"])
def test_prints_the_key_as_openssl_does(cipher):
    words = [f"-{cipher}", "-k", "x", "-pbkdf2", "-S", "0011223344556677"]
    assert ok("enc", *words, "-P").stdout == openssl("enc", *words, "-P").stdout
    assert ok("enc", *words, "-p", stdin=b"abc").stdout == openssl("enc", *words, "-p", stdin=b"abc").stdout
    words = [f"-{cipher}", "-k", "x", "-nosalt", "-pbkdf2", "-P"]
    assert ok("enc", *words).stdout == openssl("enc", *words).stdout


def test_option_spellings():
    plain = data(100)
    words = ["-K", KEY[256], "-iv", IV]
    expected = openssl("enc", "-aes-256-ctr", *words, stdin=plain).stdout
    for spelling in (["--aes-256-ctr"], ["--cipher", "aes-256-ctr"], ["-cipher=AES-256-CTR"],
                     ["-AES-256-CTR"], ["-e", "-aes-256-ctr"]):
        assert ok("enc", *spelling, *words, stdin=plain).stdout == expected
    assert ok("enc", "-d", "-aes-256-ctr", *words, stdin=expected).stdout == plain
    assert ok("enc", "-aes-256-ctr", f"--K={KEY[256]}", f"-iv={IV}", stdin=plain).stdout == expected
    assert ok("enc", "-aes256", *words, stdin=plain).stdout == openssl(
        "enc", "-aes256", *words, stdin=plain).stdout


def test_a_value_that_begins_with_a_dash():
    sealed = ok("enc", "-aes-128-ctr", "-pbkdf2", "-k", "-in", stdin=b"abc").stdout
    assert openssl("enc", "-d", "-aes-128-ctr", "-pbkdf2", "-pass", "pass:-in", stdin=sealed).stdout == b"abc"


def opens_with(sealed, passphrase):
    done = openssl("enc", "-d", "-aes-256-ctr", "-pbkdf2", "-pass", "pass:" + passphrase, stdin=sealed)
    return done.stdout


def test_passphrase_sources(tmp_path):
    words = ["enc", "-aes-256-ctr", "-pbkdf2", "-pass"]
    plain = b"the plain text"
    file = tmp_path / "pw"
    file.write_bytes(b"from file\nsecond line\n")
    assert opens_with(ok(*words, f"file:{file}", stdin=plain).stdout, "from file") == plain
    assert opens_with(ok(*words, "env:PW_OF_TEST", stdin=plain, env={"PW_OF_TEST": "from env"}).stdout,
                      "from env") == plain
    assert opens_with(ok(*words, "pass:", stdin=plain).stdout, "") == plain
    # What follows the line on standard input is the data.
    assert opens_with(ok(*words, "stdin", stdin=b"from stdin\n" + plain).stdout, "from stdin") == plain
    read_end, write_end = os.pipe()
    os.write(write_end, b"from fd\n")
    os.close(write_end)
    assert opens_with(ok(*words, f"fd:{read_end}", stdin=plain, pass_fds=[read_end]).stdout,
                      "from fd") == plain
    os.close(read_end)
    kfile = tmp_path / "kfile"
    for content in (b"k file\r\nmore", b"k file", b"k file\n"):
        kfile.write_bytes(content)
        assert opens_with(ok("enc", "-aes-256-ctr", "-pbkdf2", "-kfile", kfile, stdin=plain).stdout,
                          "k file") == plain


def test_key_sources(tmp_path):
    """The key itself comes from each source. The file is the same as with openssl's -K."""
    plain = data(1000)
    words = ["-aes-256-ctr", "-iv", IV]
    expected = openssl("enc", *words, "-K", KEY[256], stdin=plain).stdout
    line = KEY[256].encode()
    file = tmp_path / "key.hex"
    for content in (line, line + b"\n", line.upper() + b"\r\nsecond line\n"):
        file.write_bytes(content)
        assert ok("enc", *words, "-key-source", f"file:{file}", stdin=plain).stdout == expected
        assert ok("dec", *words, f"--key-source=file:{file}", stdin=expected).stdout == plain
    assert ok("enc", *words, "-key-source", "env:KEY_OF_TEST", stdin=plain,
              env={"KEY_OF_TEST": KEY[256]}).stdout == expected
    # What follows the line on standard input is the data.
    assert ok("enc", *words, "-key-source", "stdin", stdin=line + b"\n" + plain).stdout == expected
    read_end, write_end = os.pipe()
    os.write(write_end, line + b"\n")
    os.close(write_end)
    assert ok("enc", *words, "-key-source", f"fd:{read_end}", stdin=plain,
              pass_fds=[read_end]).stdout == expected
    os.close(read_end)
    ecb = ["-aes-256-ecb", "-key-source", f"file:{file}"]
    assert ok("enc", *ecb, stdin=plain).stdout == openssl("enc", "-aes-256-ecb", "-K", KEY[256],
                                                          stdin=plain).stdout


def test_a_key_source_beside_a_passphrase(tmp_path):
    """As with -K: the IV is derived from the passphrase, and the source gives the key."""
    (tmp_path / "key.hex").write_text(KEY[256])
    words = ["-aes-256-cbc", "-pbkdf2", "-k", "x", "-S", "0011223344556677"]
    sealed = ok("enc", *words, "-key-source", f"file:{tmp_path}/key.hex", stdin=b"abc").stdout
    assert sealed == openssl("enc", *words, "-K", KEY[256], stdin=b"abc").stdout


def test_long_passphrases_are_cut_as_openssl_cuts_them(tmp_path):
    file = tmp_path / "pw"
    file.write_bytes(b"x" * 3000 + b"\n")
    for words in (["-kfile", file], ["-pass", f"file:{file}"]):
        done = ok("enc", "-aes-256-ctr", "-pbkdf2", *words, stdin=b"abc")
        assert b"warning: only the first" in done.stderr
        opened = openssl("enc", "-d", "-aes-256-ctr", "-pbkdf2", *words, stdin=done.stdout)
        assert opened.stdout == b"abc"


def test_the_passphrase_does_not_stay_on_the_command_line():
    process = subprocess.Popen(
        [str(LANECRYPT), "enc", "-aes-256-ctr", "-pbkdf2", "-k", "hunter2",
         "-devices", "none"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        # Once the salt is written, the arguments have been read.
        process.stdin.write(b"y" * (9 << 20))
        process.stdin.flush()
        assert process.stdout.read(8) == b"Salted__"
        with open(f"/proc/{process.pid}/cmdline", "rb") as line:
            assert b"hunter2" not in line.read()
    finally:
        process.kill()
        process.communicate()


def test_report_says_what_ran_where(tmp_path):
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(data(100_000))
    words = ["-in", plain, "-out", sealed, "-pbkdf2", "-k", "x", "-json"]
    told = report(ok("enc", "-aes-256-ctr", *words))
    assert told["device"] == "host:0" and told["device_bytes"] == 100_000 and told["cpu_bytes"] == 0
    assert told["bytes"] == 100_000 and told["output_bytes"] == 100_016
    assert told["cipher"] == "aes-256-ctr" and told["direction"] == "encrypt"
    assert told["seconds"] > 0 and told["gb_per_s"] > 0 and told["cpu_seconds"] > 0
    assert told["devices"][0]["bytes"] == 100_000
    told = report(ok("enc", "-aes-256-ctr", *words, "-devices", "none"))
    assert told["device"] == "cpu" and told["cpu_bytes"] == 100_000 and told["device_bytes"] == 0
    told = report(ok("enc", "-aes-256-cbc", *words))
    assert told["device"] == "cpu" and told["cpu_bytes"] == 100_000
    assert "serial chain" in told["note"]
    told = report(ok("enc", "-aes-256-ctr", *words, devices=None))
    assert told["device"] == "cpu" and "too small" in told["note"]


def test_report_goes_to_standard_error_beside_data():
    done = ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-json", stdin=b"abc")
    assert len(done.stdout) == 19
    assert b'"bytes":3' in done.stderr


def test_verbose_report():
    said = ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-v", stdin=b"abc").stderr.decode()
    assert "on host:0" in said and "3 B" in said


def test_mode_of_a_new_file_follows_the_umask(tmp_path):
    out = tmp_path / "out"
    for mask, mode in ((0o022, 0o644), (0o077, 0o600)):
        ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-out", out, stdin=b"x",
           preexec_fn=lambda m=mask: os.umask(m))
        assert stat.S_IMODE(out.stat().st_mode) == mode
        out.unlink()


def test_a_replaced_file_keeps_its_mode(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    out.chmod(0o600)
    ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-out", out, stdin=b"x", umask=0o022)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert out.read_bytes().startswith(b"Salted__")
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-out", link, stdin=b"x")
    assert link.is_symlink() and target.read_bytes().startswith(b"Salted__")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("place", [pathlib.Path.touch, os.mkfifo])
def test_what_another_user_put_into_a_folder_of_all_is_not_written(tmp_path, place):
    """The other user could read the new content, since a replaced file keeps its owner and its
    mode."""
    out, link = tmp_path / "folder" / "out", tmp_path / "link"
    out.parent.mkdir()
    place(out)
    out.chmod(0o666)
    os.chown(out, 65534, -1)
    link.symlink_to(out)
    words = ["enc", "-aes-256-ctr", "-pbkdf2", "-k", "x"]
    for mode in (0o1777, 0o1770):
        out.parent.chmod(mode)
        for name in (out, link):
            fails(FAILED, "belongs to another user, in a folder where everyone may make files",
                  *words, "-out", name, stdin=b"x", timeout=60)
    assert out.stat().st_uid == 65534 and out.stat().st_size == 0
    if place == pathlib.Path.touch:
        out.parent.chmod(0o755)
        ok(*words, "-out", out, stdin=b"x")
        assert out.stat().st_uid == 65534 and out.read_bytes().startswith(b"Salted__")


def test_redirected_files(tmp_path):
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(data(50_000))
    with plain.open("rb") as source, sealed.open("wb") as target:
        source.seek(100)
        ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", *CHUNK, stdin=source, stdout=target)
        assert os.lseek(source.fileno(), 0, os.SEEK_CUR) == 50_000
    assert opens_with(sealed.read_bytes(), "x") == data(50_000)[100:]


def test_files_that_say_they_are_empty():
    with open("/proc/version", "rb") as version:
        expected = version.read()
    sealed = ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-in", "/proc/version").stdout
    assert opens_with(sealed, "x") == expected


def test_dashes_are_the_standard_streams():
    sealed = ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-in", "-", "-out", "-", stdin=b"abc").stdout
    assert opens_with(sealed, "x") == b"abc"


def test_fsync(tmp_path):
    out = tmp_path / "out"
    ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-out", out, "-fsync", stdin=b"x")
    assert len(out.read_bytes()) == 17


COMMANDS = ("enc", "dec", "hash", "genrsa", "slh-dsa", "run", "service", "devices", "bench", "tune")
SLH_DSA = ("keygen", "public", "sign", "verify")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=str)
def test_help_shows_an_example(command):
    for dashes in ("-", "--"):
        text = ok(*command, f"{dashes}help").stdout.decode()
        examples = text.partition("Example")[2]
        assert f"  {' '.join(['lanecrypt', *command])}" in examples


def test_help_names_every_command():
    usage = ok("--help").stdout.decode().partition("Usage: ")[2]
    assert tuple(re.findall(r"^  ([a-z][\w-]*) ", usage, re.M)) == COMMANDS


@pytest.mark.parametrize("command", [*(name for name in COMMANDS[2:] if name != "slh-dsa"),
                                     *(f"slh-dsa {name}" for name in SLH_DSA)])
def test_the_options_of_an_example_are_there(command):
    told, _, options = ok(*command.split(), "--help").stdout.decode().partition("\nOptions:\n")
    examples = re.findall(rf"^  lanecrypt {command}\b.*", told, re.M)
    assert examples
    for option in re.findall(r" (--[a-z-]+)", " ".join(examples)):
        assert re.search(rf"{option}\b", options), option


def test_version():
    assert ok("--version").stdout.decode().startswith("lanecrypt 0.")


def test_large_file_with_the_default_chunk(tmp_path):
    plain, sealed, again = tmp_path / "plain", tmp_path / "sealed", tmp_path / "again"
    plain.write_bytes(os.urandom((40 << 20) + 5))
    for cipher in ("aes-256-ctr", "aes-128-cbc"):
        ok("enc", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", plain, "-out", sealed, "-devices", "none")
        openssl("enc", "-d", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", sealed, "-out", again)
        assert again.read_bytes() == plain.read_bytes()
        ok("dec", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", sealed, "-out", again, "-devices", "none")
        assert again.read_bytes() == plain.read_bytes()
