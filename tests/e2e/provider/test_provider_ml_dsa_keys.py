# SPDX-License-Identifier: Apache-2.0
"""ML-DSA keys that pass through the provider `gpu` lose nothing, however the default provider is
configured. What `openssl` writes has the same format as without `gpu`, and the same bytes if the
key is the same. From OpenSSL 3.5 on: LANECRYPT_TEST_OPENSSL names it."""

import os
import re
import subprocess

import pytest

from provider_fixtures import OPENSSL, Configuration, plain

VERSION = tuple(map(int, re.search(rb"OpenSSL (\d+)\.(\d+)",
                                   plain(OPENSSL, "version").stdout).groups()))
pytestmark = pytest.mark.skipif(VERSION < (3, 5), reason="this OpenSSL has no ML-DSA")

SEED = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
FORMS = ("seed-priv", "priv-only", "oqskeypair", "seed-only", "bare-priv", "bare-seed")
# Settings of the default provider.
SETTINGS = {
    "nothing": [],
    "prefer-private": ["ml-dsa.prefer_seed = no"],
    "drop-seed": ["ml-dsa.retain_seed = no"],
    "drop-seed-prefer-private": ["ml-dsa.retain_seed = no", "ml-dsa.prefer_seed = no"],
    **{form: [f"ml-dsa.output_formats = {form}"] for form in FORMS},
    **{form + "-prefer-private": [f"ml-dsa.output_formats = {form}", "ml-dsa.prefer_seed = no"]
       for form in FORMS},
    "order": ["ml-dsa.output_formats = bare-seed,priv-only", "ml-dsa.retain_seed = no"],
    "inputs": ["ml-dsa.input_formats = seed-only, priv-only", "ml-dsa.output_formats = priv-only"],
    "other-inputs": ["ml-dsa.input_formats = seed-priv", "ml-dsa.prefer_seed = no"],
}


class Pair:
    """`openssl` with the provider and without, both with the same settings of the default
    provider."""

    def __init__(self, folder, build, lines):
        self.folder = folder
        self.ours = Configuration(folder, build, default=lines, in_process=None, stats_file=None)
        path = folder / "plain.cnf"
        path.write_text("openssl_conf = start\n[start]\nproviders = providers\n[providers]\n"
                        "default = settings\n[settings]\nactivate = 1\n" + "\n".join(lines) + "\n")
        self.plain = {**os.environ, "OPENSSL_CONF": str(path)}

    def run(self, *command, **options):
        """Returns the status and the output, with the provider and without."""
        ours = self.ours.run(OPENSSL, *command, check=False, **options)
        theirs = subprocess.run([str(part) for part in (OPENSSL, *command)], env=self.plain,
                                capture_output=True, check=False, timeout=300, **options)
        return (ours.returncode, ours.stdout), (theirs.returncode, theirs.stdout)

    def compare(self, *command, **options):
        """Checks that both do the same. Returns the output, or None if both fail."""
        ours, theirs = self.run(*command, **options)
        assert ours == theirs, command
        return ours[1] if ours[0] == 0 else None


@pytest.fixture(params=SETTINGS, ids=SETTINGS)
def pair(request, tmp_path, build):
    return Pair(tmp_path, build, SETTINGS[request.param])


def form_of(der):
    """Returns the lengths of an unencrypted PKCS#8 key and the tags of its contents, which
    identify its format."""
    parsed = plain(OPENSSL, "asn1parse", "-inform", "DER", "-i", input=der).stdout.decode()
    key = re.search(r"(\d+):d=1 .*hl=(\d+) l= *(\d+) prim: +OCTET STRING", parsed)
    inside = der[int(key[1]) + int(key[2]):]
    return len(der), inside[0] if len(inside) not in (32, 2560, 4032, 4896) else None


def test_a_key_of_a_seed_is_written_alike(pair):
    """A key is generated and written in each output format in one process."""
    for of in ("44", "65", "87"):
        make = ["genpkey", "-algorithm", f"ML-DSA-{of}", "-pkeyopt", "hexseed:" + SEED]
        for options in ([], ["-outform", "DER"], ["-text"], ["-quiet", "-text", "-outform", "DER"]):
            pair.compare(*make, *options)


def test_a_written_key_is_read_and_written_alike(pair, tmp_path):
    key = tmp_path / "key.pem"
    for form in FORMS:
        plain(OPENSSL, "genpkey", "-algorithm", "ML-DSA-65", "-pkeyopt", "hexseed:" + SEED,
              "-provparam", f"ml-dsa.output_formats={form}", "-out", key)
        for options in ([], ["-outform", "DER"], ["-text", "-noout"], ["-pubout"],
                        ["-pubout", "-outform", "DER"], ["-text_pub", "-noout"]):
            pair.compare("pkey", "-in", key, *options)
        pair.compare("pkcs8", "-topk8", "-nocrypt", "-in", key)


def test_an_encrypted_key_is_written_alike(pair, tmp_path):
    make = ["genpkey", "-algorithm", "ML-DSA-44", "-pkeyopt", "hexseed:" + SEED, "-aes-256-cbc",
            "-pass", "pass:word"]
    ours, theirs = pair.run(*make)
    assert ours[0] == theirs[0]
    if ours[0] == 0:
        assert b"ENCRYPTED PRIVATE KEY" in ours[1]
        read = [plain(OPENSSL, "pkcs8", "-topk8", "-nocrypt", "-passin", "pass:word", "-outform",
                      "DER", input=one[1]).stdout for one in (ours, theirs)]
        assert read[0] == read[1]
    ours, theirs = pair.run(*make, "-outform", "DER")
    assert (ours[0], len(ours[1])) == (theirs[0], len(theirs[1]))


def test_a_new_key_has_the_same_form(pair, tmp_path):
    """Keys and certificate requests from random seeds."""
    found = {}
    for who in ("ours", "theirs"):
        request = ["req", "-new", "-newkey", "ML-DSA-44", "-nodes", "-subj", "/CN=x", "-config",
                   os.devnull, "-keyout", tmp_path / who, "-out", tmp_path / "request.pem"]
        generate = ["genpkey", "-algorithm", "ML-DSA-87", "-outform", "DER"]
        if who == "ours":
            runs = [pair.ours.run(OPENSSL, *command, check=False)
                    for command in (request, generate)]
        else:
            runs = [subprocess.run([str(part) for part in (OPENSSL, *command)], env=pair.plain,
                                   capture_output=True, check=False)
                    for command in (request, generate)]
        found[who] = [run.returncode for run in runs]
        if runs[0].returncode == 0:
            found[who].append(len((tmp_path / who).read_bytes()))
        if runs[1].returncode == 0:
            found[who].append(form_of(runs[1].stdout))
    assert found["ours"] == found["theirs"]


def test_a_key_in_pkcs12_is_the_same(pair, tmp_path):
    """A key and its certificate are made, packed and unpacked with the provider."""
    key, certificate, store = tmp_path / "key", tmp_path / "certificate", tmp_path / "store"
    make = ["req", "-x509", "-newkey", "ML-DSA-44", "-nodes", "-subj", "/CN=x", "-config",
            os.devnull, "-days", "2", "-keyout", key, "-out", certificate]
    if subprocess.run([str(part) for part in (OPENSSL, *make)], env=pair.plain,
                      capture_output=True, check=False).returncode != 0:
        pytest.skip("the default provider writes no key with these settings")
    unpacked = []
    for who in ("ours", "theirs"):
        def run(*command):
            if who == "ours":
                return pair.ours.run(OPENSSL, *command, check=False)
            return subprocess.run([str(part) for part in (OPENSSL, *command)], env=pair.plain,
                                  capture_output=True, check=False)
        packed = run("pkcs12", "-export", "-inkey", key, "-in", certificate, "-out", store,
                     "-passout", "pass:word")
        opened = run("pkcs12", "-in", store, "-passin", "pass:word", "-nodes", "-nocerts")
        unpacked.append((packed.returncode, opened.returncode,
                         re.findall(rb"-----BEGIN.*?-----END[^\n]*", opened.stdout, re.S)))
    assert unpacked[0] == unpacked[1]
