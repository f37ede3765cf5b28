# SPDX-License-Identifier: Apache-2.0
"""What the provider offers with a libcrypto that lacks a cipher, because it is older or was
built without it."""

import os
import pathlib
import re
import subprocess

import pytest

from provider_fixtures import OPENSSL, Configuration

# For each cipher, by the beginning of its names: the replacements that remove it from a copy of
# libcrypto, in algorithm names, function names and object identifiers; and the functions that
# libcrypto itself calls. Each new text is as long as the old one.
CUT = {
    "SM4": ([(b"SM4-", b"SM0-"), (b"sm4-", b"sm0-"), (b":SM4:", b":SM0:"), (b"EVP_sm4_", b"EVP_sm0_"),
             (b"1.2.156.10197.1.104.", b"1.2.156.10197.1.904.")],
            [f"EVP_sm0_{mode}" for mode in ("ecb", "cbc", "ctr", "ofb", "cfb128")]),
    "CAMELLIA": ([(b"CAMELLIA", b"CAMELLI0"), (b"camellia-", b"camelli0-"), (b"EVP_camellia_", b"EVP_camelli0_"),
                  (b"0.3.4401.5.3.1.9.", b"0.3.4401.5.3.1.8."), (b"1.2.392.200011.61.", b"1.2.392.200011.91.")],
                 [f"EVP_camelli0_{bits}_{mode}" for bits in (128, 192, 256)
                  for mode in ("ecb", "cbc", "ctr", "ofb", "cfb1", "cfb8", "cfb128")]),
    "ARIA": ([(b"ARIA", b"ARI0"), (b"aria-", b"ari0-"), (b"EVP_aria_", b"EVP_ari0_"),
              (b"1.2.410.200046.1.1.", b"1.2.410.200046.1.9.")],
             [f"EVP_ari0_{bits}_{mode}" for bits in (128, 192, 256)
              for mode in ("ecb", "cbc", "ctr", "ofb", "cfb1", "cfb8", "cfb128", "gcm", "ccm")]),
}


def libcrypto_under_test():
    where = subprocess.run(["sh", "-c", f'ldd "$(command -v {OPENSSL})"'], capture_output=True, text=True, check=True)
    return pathlib.Path(re.search(r"libcrypto\.so\S* => (\S+)", where.stdout).group(1))


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """Returns a function without(cipher): the environment of a program whose libcrypto lacks
    that cipher."""
    made = {}

    def make(cipher):
        if cipher not in made:
            folder = tmp_path_factory.mktemp(cipher)
            whole = libcrypto_under_test()
            texts, functions = CUT[cipher]
            content = whole.read_bytes()
            for old, new in texts:
                assert len(old) == len(new)
                content = content.replace(old, new)
            (folder / whole.name).write_bytes(content)
            # libcrypto registers its ciphers with functions that the dynamic linker no longer finds
            # in the copy.
            source = folder / "functions.c"
            source.write_text("".join(f"void *{name}(void) {{ return 0; }}\n" for name in functions))
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "functions.so", source], check=True)
            made[cipher] = {"LD_LIBRARY_PATH": str(folder), "LD_PRELOAD": str(folder / "functions.so")}
        return made[cipher]

    return make


def offered(configuration, environment=None):
    """Returns {provider: the first names of the ciphers that it offers}, from `openssl list`."""
    command = [OPENSSL, "list", "-cipher-algorithms"]
    done = subprocess.run(command, env={**configuration.environment, **(environment or {})}, capture_output=True,
                          text=True, timeout=300, check=True)
    names = {}
    for line in done.stdout.splitlines():
        # A line is "  { 1.2.156.10197.1.104.2, SM4, SM4-CBC } @ gpu", or has one name alone.
        found = re.fullmatch(r"\s+(?:\{ (.*) \}|(\S+)) @ (\w+)", line)
        if found:
            names.setdefault(found[3], set()).update((found[1] or found[2]).split(", "))
    return names


def enc(cipher, *query):
    key = "00112233445566778899aabbccddeeff" * (2 if "256" in cipher else 1)
    return [OPENSSL, "enc", f"-{cipher}", "-K", key, "-iv", "0f" * 16, *query]


def test_all_that_is_offered_the_default_provider_has(tmp_path, build):
    names = offered(Configuration(tmp_path, build, devices="none"))
    assert {"AES-128-CTR", "SM4-CTR", "CAMELLIA-256-CBC", "ARIA-192-OFB", "ChaCha20"} <= names["gpu"]
    assert names["gpu"] <= names["default"]
    # Which of these OpenSSL has depends on its version.
    for name in ("SM4-GCM", "SM4-CCM", "SM4-XTS"):
        assert (name in names["gpu"]) == (name in names["default"]), name


@pytest.mark.parametrize("cipher", CUT)
def test_what_libcrypto_lacks_is_not_offered(tmp_path, build, without, cipher):
    configuration = Configuration(tmp_path, build, devices="host", threshold_bytes=0)
    environment = without(cipher)
    names = offered(configuration, environment)
    assert not [name for side in names.values() for name in side if name.upper().startswith(cipher)]
    assert names["gpu"] <= names["default"]
    assert len(names["gpu"]) > 80 and [name for other in set(CUT) - {cipher} for name in names["gpu"]
                                       if name.startswith(other)]

    configuration.environment.update(environment)
    name = {"SM4": "sm4-ctr", "CAMELLIA": "camellia-256-ctr", "ARIA": "aria-256-ctr"}[cipher]
    plain = {key: value for key, value in configuration.environment.items() if key != "OPENSSL_CONF"}
    alone = subprocess.run(enc(name), input=b"text", env=plain, capture_output=True, timeout=300)
    for query in ([], ["-propquery", "?provider=gpu"], ["-propquery", "provider=gpu"]):
        ours = configuration.run(*enc(name, *query), input=b"text", check=False)
        assert ours.returncode == alone.returncode != 0 and ours.stdout == b""
    # All other ciphers still work.
    ours = configuration.run(*enc("aes-256-ctr"), input=b"text" * 5000).stdout
    assert ours == subprocess.run(enc("aes-256-ctr"), input=b"text" * 5000, env=os.environ, capture_output=True,
                                  check=True, timeout=300).stdout
    assert configuration.counters()["device_bytes"] >= 19000


@pytest.mark.parametrize("cipher", ["sm4-ctr", "sm4-cbc", "camellia-256-ctr", "aria-256-ctr", "aria-256-cfb"])
def test_the_cpu_goes_on_where_the_device_is_lost(tmp_path, build, cipher):
    """The device is lost in the middle, and before it has run the cipher's self-test."""
    text = os.urandom(300_007)
    theirs = subprocess.run(enc(cipher), input=text, env=os.environ, capture_output=True, check=True, timeout=300).stdout
    for fault in ("lost-after:20", "lost-after:0"):
        folder = tmp_path / fault.replace(":", "-")
        folder.mkdir()
        configuration = Configuration(folder, build, devices="host", threshold_bytes=0)
        configuration.environment["LANECRYPT_HOST_FAULT"] = fault
        options = ["-d"] if cipher.endswith("cfb") else []
        ours = configuration.run(*enc(cipher, *options), input=theirs if options else text).stdout
        assert ours == (text if options else theirs)
        counters = configuration.counters()
        assert counters["failures"] == 1
        assert counters["cpu_jobs"] > 0
