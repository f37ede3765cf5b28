# SPDX-License-Identifier: Apache-2.0
"""NIST's and OpenSSL's answers for the authenticated modes, from pyca's package of vectors.
Quick runs use an even sample of each file. With --long all cases run, except on the emulator,
which gets each seventh case of a file of thousands: the unit test Cavp.Gcm gives it all of them."""

import os
import pathlib
import re

import pytest

import lanecrypt

# How many cases of each file a quick run uses.
FEW = {"host": 25, "cpu": 100}


def folder():
    named = os.environ.get("LANECRYPT_CAVP_DIR")
    if named and pathlib.Path(named).is_dir():
        return pathlib.Path(named) / "ciphers"
    try:
        import cryptography_vectors
    except ImportError:
        pytest.skip("there are no vectors (dev/setup test fetches them)")
    return pathlib.Path(cryptography_vectors.__file__).parent / "ciphers"


def cases(path):
    """Yields the cases of a file, each with the values of its section."""
    section, case, is_new = {}, None, True
    for line in path.read_text().splitlines():
        line = line.strip()
        if line.startswith("["):
            if is_new:
                section, is_new = {}, False
            for name, value in re.findall(r"(\w+)\s*=\s*(\d+)", line):
                section[name.lower()] = value
            continue
        name, _, value = (part.strip() for part in line.partition("="))
        if name.lower() == "count":
            if case:
                yield case
            case = dict(section)
            is_new = True
        elif line == "FAIL":
            case["fail"] = "1"
        elif name and not line.startswith("#"):
            (section if case is None or (name == "Key" and not is_new) else case)[
                name.lower()] = value
    if case:
        yield case


def some(found, context, host, is_long):
    found = list(found)
    few = FEW["host" if context is host else "cpu"]
    assert len(found) >= 40
    if is_long:
        # Seven divides the number of cases of no section; otherwise some would never run.
        return found[::7] if context is host and len(found) > 1000 else found
    return found[::max(1, len(found) // few)]


def raw(case, *names):
    for name in names:
        if name in case:
            return bytes.fromhex(case[name])
    raise KeyError(names)


@pytest.mark.parametrize("name", ["gcmEncryptExtIV128", "gcmEncryptExtIV192", "gcmEncryptExtIV256",
                                  "gcmDecrypt128", "gcmDecrypt192", "gcmDecrypt256"])
def test_gcm(context, host, is_long, name):
    checked = 0
    for case in some(cases(folder() / "AES" / "GCM" / f"{name}.rsp"), context, host, is_long):
        nonce, tag = raw(case, "iv"), raw(case, "tag")
        if len(nonce) < 8:
            continue  # pyca's classes do not accept them, so neither do these
        aead = lanecrypt.AEAD("aes-gcm", raw(case, "key"), len(tag), context=context)
        aad, sealed = raw(case, "aad"), raw(case, "ct") + tag
        checked += 1
        if "fail" in case:
            with pytest.raises(lanecrypt.InvalidTag):
                aead.decrypt(nonce, sealed, aad)
        else:
            assert aead.decrypt(nonce, sealed, aad) == raw(case, "pt")
            assert aead.encrypt(nonce, raw(case, "pt"), aad) == sealed
    assert checked > 10


@pytest.mark.parametrize("name", ["openssl"])
def test_chacha20_poly1305(context, host, is_long, name):
    found = cases(folder() / "ChaCha20Poly1305" / f"{name}.txt")
    for case in (found if context is not host or is_long else list(found)[::2]):
        nonce = raw(case, "iv")
        if len(nonce) != 12:
            continue
        aead = lanecrypt.ChaCha20Poly1305(raw(case, "key"), context=context)
        sealed = raw(case, "ciphertext") + raw(case, "tag")
        if "result" in case:
            with pytest.raises(lanecrypt.InvalidTag):
                aead.decrypt(nonce, sealed, raw(case, "aad"))
        else:
            assert aead.decrypt(nonce, sealed, raw(case, "aad")) == raw(case, "plaintext")
            assert aead.encrypt(nonce, raw(case, "plaintext"), raw(case, "aad")) == sealed


@pytest.mark.parametrize("name", ["DVPT128", "DVPT192", "DVPT256"])
def test_ccm(context, host, is_long, name):
    checked = 0
    for case in some(cases(folder() / "AES" / "CCM" / f"{name}.rsp"), context, host, is_long):
        aead = lanecrypt.AESCCM(raw(case, "key"), int(case["tlen"]), context=context)
        aad = raw(case, "adata")[:int(case["alen"])]
        sealed = raw(case, "ct")
        checked += 1
        if case["result"].startswith("Fail"):
            with pytest.raises(lanecrypt.InvalidTag):
                aead.decrypt(raw(case, "nonce"), sealed, aad)
        else:
            text = aead.decrypt(raw(case, "nonce"), sealed, aad)
            assert text == raw(case, "payload")[:int(case["plen"])]
            assert aead.encrypt(raw(case, "nonce"), text, aad) == sealed
    assert checked > 10
