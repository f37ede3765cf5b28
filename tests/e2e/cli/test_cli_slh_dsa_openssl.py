# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt slh-dsa` compared with an OpenSSL that has SLH-DSA, from 3.5 on:
LANECRYPT_TEST_OPENSSL names it."""

import os
import re

import pytest

from provider_fixtures import OPENSSL, plain
from slh_files import SETS, encoded, slh

VERSION = tuple(map(int, re.search(rb"OpenSSL (\d+)\.(\d+)",
                                   plain(OPENSSL, "version").stdout).groups()))
pytestmark = pytest.mark.skipif(VERSION < (3, 5), reason="this OpenSSL has no SLH-DSA")


@pytest.mark.parametrize("of", SETS)
def test_it_writes_keys_as_openssl_does(tmp_path, of):
    path = tmp_path / "key.pem"
    slh("keygen", "--out", path, of)
    assert plain(OPENSSL, "pkey", "-in", path).stdout == path.read_bytes()
    public = slh("public", "--key", path).stdout
    assert plain(OPENSSL, "pkey", "-in", path, "-pubout").stdout == public
    plain(OPENSSL, "pkey", "-in", path, "-check", "-noout")


@pytest.mark.parametrize("of", ["SHA2-128f", "SHAKE-128f", "SHA2-128s", "SHA2-256f"])
@pytest.mark.parametrize("pre_hash", [None, "sha3-256"])
def test_openssl_takes_them(tmp_path, of, pre_hash):
    """For pre-hash signatures OpenSSL has only the internal interface."""
    key, public, path = tmp_path / "key.pem", tmp_path / "public.pem", tmp_path / "message"
    plain(OPENSSL, "genpkey", "-algorithm", f"SLH-DSA-{of}", "-out", key)
    plain(OPENSSL, "pkey", "-in", key, "-pubout", "-out", public)
    path.write_bytes(os.urandom(300))
    words = ["--context", "where"] + (["--pre-hash", pre_hash] if pre_hash else [])
    theirs, option = path, ["-pkeyopt", "context-string:where"]
    if pre_hash:
        theirs, option = tmp_path / "encoded", ["-pkeyopt", "message-encoding:0"]
        theirs.write_bytes(encoded(path.read_bytes(), b"where", pre_hash))
    signature = tmp_path / "message.sig"
    slh("sign", "--key", key, *words, path)
    plain(OPENSSL, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public, "-in", theirs,
          "-sigfile", signature, *option)
    plain(OPENSSL, "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", theirs, "-out", signature,
          *option)
    slh("verify", "--key", public, *words, path)
