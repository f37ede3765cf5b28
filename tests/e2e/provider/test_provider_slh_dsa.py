# SPDX-License-Identifier: Apache-2.0
"""SLH-DSA of `openssl` with the provider `gpu`, from OpenSSL 3.5 on: LANECRYPT_TEST_OPENSSL
names it. Before 3.5 the provider offers no SLH-DSA.

On the emulator a signature of a small set takes twenty times as long as one of a fast set, so
most tests use fast sets. If all sets run, each other set signs in two ways only, unless a GPU
signs or LANECRYPT_TEST_EVERY_ANSWER is 1: how OpenSSL passes the options does not depend on the
set."""

import os
import re
import subprocess

import pytest

from conftest import EVERY_ANSWER, EVERY_CASE
from provider_fixtures import OPENSSL, Configuration, plain
from slh_files import slh

DEVICES = os.environ.get("LANECRYPT_TEST_RSA_DEVICES", "host")
# Each set with its n.
SETS = {f"{family}-{size}{kind}": int(size) // 8
        for family in ("SHA2", "SHAKE") for size in ("128", "192", "256") for kind in "sf"}
FAST = ["SHA2-128f", "SHAKE-128f"]
TRIED = list(SETS) if EVERY_CASE else [*FAST, "SHA2-128s", "SHA2-256f"]
VERSION = tuple(map(int, re.search(rb"OpenSSL (\d+)\.(\d+)",
                                   plain(OPENSSL, "version").stdout).groups()))
has_slh_dsa = pytest.mark.skipif(VERSION < (3, 5), reason="this OpenSSL has no SLH-DSA")


@pytest.fixture
def configuration(tmp_path, build):
    return Configuration(tmp_path, build, devices=DEVICES, slh_dsa="always")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A key of each set, its public half, and a message, made without the provider."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "message").write_bytes(os.urandom(5000))
    for of in TRIED:
        plain(OPENSSL, "genpkey", "-algorithm", f"SLH-DSA-{of}", "-out", folder / f"{of}.pem")
        plain(OPENSSL, "pkey", "-in", folder / f"{of}.pem", "-pubout", "-out",
              folder / f"{of}.pub.pem")
    return folder


def slh_dsa_work(configuration):
    """Returns how many signatures and keys devices have made so far. Checks that nothing has
    failed, and that the CPU has made none."""
    sums = configuration.counters()
    assert sums["slh_dsa_failures"] == 0 and sums["failures"] == 0
    assert sums["slh_dsa_cpu_jobs"] == 0 and sums["slh_dsa_cpu_keys"] == 0
    return sums["slh_dsa_device_jobs"], sums["slh_dsa_device_keys"]


def ours(listed):
    return [line for line in listed.stdout.decode().splitlines()
            if "@ gpu" in line and "SLH-DSA" in line]


def test_nothing_is_offered_before_3_5(configuration):
    for option in ("-signature-algorithms", "-key-managers"):
        listed = configuration.run(OPENSSL, "list", option)
        assert len(ours(listed)) == (len(SETS) if VERSION >= (3, 5) else 0)


@has_slh_dsa
def test_nothing_is_offered_where_no_device_may_come(tmp_path, build):
    for settings in ({"in_process": None, "service": "off"}, {"slh_dsa": "off"}):
        configuration = Configuration(tmp_path, build, devices=DEVICES, stats_file=None, **settings)
        assert not ours(configuration.run(OPENSSL, "list", "-signature-algorithms",
                                          "-key-managers"))


@has_slh_dsa
@pytest.mark.parametrize("of", TRIED)
def test_names_are_those_of_openssl(configuration, of):
    def names(listed, provider):
        line, = (line for line in listed.stdout.decode().splitlines()
                 if f"SLH-DSA-{of}" in line and line.endswith(f"@ {provider}"))
        return set(re.search(r"\{(.*)\}", line)[1].replace(" ", "").split(","))

    listed = configuration.run(OPENSSL, "list", "-signature-algorithms")
    assert names(listed, "gpu") == names(listed, "default")


OPTIONS = {"hedged": [], "deterministic": ["deterministic:1"], "context": ["context-string:where"],
           "raw": ["message-encoding:0"], "entropy": ["hextest-entropy:"]}
EVERY_WAY = DEVICES != "host" or EVERY_ANSWER


def ways_to_sign():
    """Yields each set with its options: a fast set with all options, another one as said above."""
    others = [options for options in OPTIONS if options != "deterministic"]
    for number, of in enumerate(TRIED):
        two = {"deterministic", others[number % len(others)] if EVERY_CASE else None}
        for options in OPTIONS:
            if of in FAST or options in two or (EVERY_CASE and EVERY_WAY):
                yield of, options


@has_slh_dsa
@pytest.mark.parametrize("of, options", list(ways_to_sign()))
def test_signatures(tmp_path, configuration, keys, of, options):
    chosen = [option + "a5" * SETS[of] if option.endswith(":") else option
              for option in OPTIONS[options]]
    mine, theirs, what = tmp_path / "mine", tmp_path / "theirs", keys / "message"
    sign = ["pkeyutl", "-sign", "-rawin", "-inkey", keys / f"{of}.pem", "-in", what]
    verify = ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", keys / f"{of}.pub.pem",
              "-in", what]
    for option in chosen:
        sign += ["-pkeyopt", option]
        if options in ("context", "raw"):
            verify += ["-pkeyopt", option]
    configuration.run(OPENSSL, *sign, "-out", mine)
    assert slh_dsa_work(configuration) == (1, 0)
    plain(OPENSSL, *sign, "-out", theirs)
    # So only a signature without fresh random numbers is the same.
    assert (mine.read_bytes() == theirs.read_bytes()) == (options in ("deterministic", "entropy"))
    plain(OPENSSL, *verify, "-sigfile", mine)
    configuration.run(OPENSSL, *verify, "-sigfile", theirs)
    wrong = bytearray(theirs.read_bytes())
    wrong[len(wrong) // 2] ^= 1
    theirs.write_bytes(wrong)
    assert configuration.run(OPENSSL, *verify, "-sigfile", theirs, check=False).returncode == 1


@has_slh_dsa
def test_the_first_signature_of_a_program_stays_on_its_core(tmp_path, build, keys):
    """How long a signature takes there is not known yet, and no device is opened for it."""
    configuration = Configuration(tmp_path, build, devices=DEVICES)
    configuration.run(OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", keys / "SHA2-128f.pem", "-in",
                      keys / "message", "-out", tmp_path / "signature")
    sums = configuration.counters()
    assert (sums["slh_dsa_device_jobs"], sums["slh_dsa_cpu_jobs"]) == (0, 1)
    assert sums["slh_dsa_failures"] == 0 and sums["devices"] == []
    plain(OPENSSL, "pkeyutl", "-verify", "-rawin", "-inkey", keys / "SHA2-128f.pem", "-in",
          keys / "message", "-sigfile", tmp_path / "signature")


@has_slh_dsa
def test_wrong_calls_end_as_without_the_provider(configuration, keys):
    for options in (["-pkeyopt", "context-string:" + 256 * "x"],
                    ["-pkeyopt", "hextest-entropy:0102"],
                    ["-digest", "sha256"]):
        command = [OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", keys / "SHA2-128f.pem",
                   "-in", keys / "message", *options]
        assert configuration.run(*command, check=False).returncode != 0
        assert subprocess.run([str(part) for part in command], capture_output=True,
                              check=False).returncode != 0
    make = [OPENSSL, "genpkey", "-algorithm", "SLH-DSA-SHA2-128f", "-pkeyopt", "hexseed:0102"]
    assert configuration.run(*make, check=False).returncode != 0


@has_slh_dsa
@pytest.mark.parametrize("of", TRIED)
def test_keys(tmp_path, configuration, of):
    """Keys from one seed are the same, and so are all formats in which OpenSSL writes them."""
    seed = bytes(range(3 * SETS[of])).hex()
    make = [OPENSSL, "genpkey", "-algorithm", f"SLH-DSA-{of}", "-pkeyopt", "hexseed:" + seed]
    made = configuration.run(*make).stdout
    assert slh_dsa_work(configuration) == (0, 1)
    assert made == plain(*make).stdout
    key = tmp_path / "key.pem"
    key.write_bytes(made)
    for options in (["-text", "-noout"], ["-pubout"], ["-outform", "DER"], ["-text", "-pubout"]):
        show = [OPENSSL, "pkey", "-in", key, *options]
        assert configuration.run(*show).stdout == plain(*show).stdout, options
    locked = tmp_path / "locked.pem"
    configuration.run(OPENSSL, "pkey", "-in", key, "-aes256", "-passout", "pass:word", "-out", locked)
    assert plain(OPENSSL, "pkey", "-in", locked, "-passin", "pass:word").stdout == made
    assert configuration.run(OPENSSL, "pkey", "-in", key, "-check", "-noout").returncode == 0
    other = [OPENSSL, "genpkey", "-algorithm", f"SLH-DSA-{of}"]
    assert configuration.run(*other).stdout != configuration.run(*other).stdout


@has_slh_dsa
@pytest.mark.parametrize("of", FAST)
def test_a_key_that_openssl_did_not_make(tmp_path, configuration, keys, of):
    key, public, signature = (tmp_path / name for name in ("key.pem", "public.pem", "signature"))
    slh("keygen", "--out", key, of)
    for options in ([], ["-pubout"], ["-text", "-noout"], ["-outform", "DER"]):
        show = [OPENSSL, "pkey", "-in", key, *options]
        assert configuration.run(*show).stdout == plain(*show).stdout, options
    public.write_bytes(slh("public", "--key", key).stdout)
    configuration.run(OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in",
                      keys / "message", "-out", signature)
    assert slh_dsa_work(configuration) == (1, 0)
    slh("verify", "--key", public, "--signature", signature, keys / "message")
    configuration.run(OPENSSL, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public, "-in",
                      keys / "message", "-sigfile", signature)


@has_slh_dsa
@pytest.mark.parametrize("of", [*FAST, "SHA2-128s"])
def test_certificates_and_cms(tmp_path, configuration, keys, of):
    key, root = tmp_path / "root.key", tmp_path / "root.pem"
    configuration.run(OPENSSL, "req", "-x509", "-newkey", f"SLH-DSA-{of}", "-nodes", "-keyout", key,
                      "-out", root, "-subj", "/CN=root", "-days", "2", "-config", os.devnull,
                      "-addext", "basicConstraints=critical,CA:TRUE")
    assert slh_dsa_work(configuration) == (1, 1)
    request, leaf = tmp_path / "leaf.csr", tmp_path / "leaf.pem"
    configuration.run(OPENSSL, "req", "-new", "-key", keys / f"{of}.pem", "-out", request, "-subj",
                      "/CN=leaf", "-config", os.devnull)
    configuration.run(OPENSSL, "x509", "-req", "-in", request, "-CA", root, "-CAkey", key, "-out",
                      leaf, "-days", "2", "-extfile", os.devnull)
    assert slh_dsa_work(configuration) == (3, 1)
    for verify in (plain, configuration.run):
        verify(OPENSSL, "verify", "-CAfile", root, leaf)
        verify(OPENSSL, "req", "-in", request, "-verify", "-noout", "-config", os.devnull)
    signed = tmp_path / "signed"
    for number, (sign, verify) in enumerate(((configuration.run, plain),
                                             (plain, configuration.run))):
        sign(OPENSSL, "cms", "-sign", "-binary", "-nodetach", "-md", "sha512", "-in",
             keys / "message", "-signer", leaf, "-inkey", keys / f"{of}.pem", "-outform", "DER",
             "-out", signed)
        assert slh_dsa_work(configuration) == (4, 1), number
        opened = verify(OPENSSL, "cms", "-verify", "-binary", "-inform", "DER", "-in", signed,
                        "-CAfile", root, "-purpose", "any").stdout
        assert opened == (keys / "message").read_bytes()
