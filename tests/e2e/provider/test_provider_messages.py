# SPDX-License-Identifier: Apache-2.0
"""Signatures of messages with libcrypto's own functions and the provider `gpu`. ML-DSA accepts a
message in pieces, which the default provider does from OpenSSL 4.0 on. The libcrypto is that of
the `openssl` that LANECRYPT_TEST_OPENSSL names. Before 3.5 nothing is tested."""

import json
import os
import pathlib
import re
import shutil
import sys

import pytest

from provider_fixtures import OPENSSL, Configuration, plain

DEVICES = os.environ.get("LANECRYPT_TEST_RSA_DEVICES", "host")
PROGRAM = pathlib.Path(__file__).with_name("libcrypto_messages.py")
VERSION = tuple(map(int, re.search(rb"OpenSSL (\d+)\.(\d+)",
                                   plain(OPENSSL, "version").stdout).groups()))
pytestmark = pytest.mark.skipif(VERSION < (3, 5), reason="this OpenSSL has no ML-DSA and SLH-DSA")

ML_DSA = {"ML-DSA-44": 2420, "ML-DSA-65": 3309, "ML-DSA-87": 4627}
SLH_DSA = {"SLH-DSA-SHA2-128f": 17088, "SLH-DSA-SHAKE-128f": 17088}
OPTIONS = {"deterministic": {}, "context": {"context-string": "where"},
           "raw": {"message-encoding": "0"}}

# SHAKE256 has blocks of 136 bytes. 64 to 71 bytes are hashed before the first piece.
PIECES = (0, 1, 63, 64, 65, 1000, 0, 135, 136, 137, 5)
MESSAGE = os.urandom(sum(PIECES))
OTHER = MESSAGE[:-1] + bytes([MESSAGE[-1] ^ 1])


@pytest.fixture
def configuration(tmp_path, build):
    return Configuration(tmp_path, build, devices=DEVICES, ml_dsa="always", slh_dsa="always")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A key of each set and its public half, made without the provider."""
    folder = tmp_path_factory.mktemp("keys")
    for of in (*ML_DSA, *SLH_DSA):
        plain(OPENSSL, "genpkey", "-algorithm", of, "-out", folder / f"{of}.pem")
        plain(OPENSSL, "pkey", "-in", folder / f"{of}.pem", "-pubout", "-out",
              folder / f"{of}.public.pem")
    return folder


class Calls:
    """Calls of libcrypto, in the order in which a program would make them."""

    def __init__(self, keys, of, kind=""):
        listed = plain("ldd", shutil.which(OPENSSL)).stdout.decode()
        libcrypto = re.search(r"libcrypto\S* => (\S+)", listed)[1]
        self.command = [sys.executable, PROGRAM, libcrypto, keys / f"{of}{kind}.pem", of]
        self.calls = []

    def add(self, call, context, *arguments):
        self.calls.append([call, context, *(argument.hex() if isinstance(argument, bytes)
                                            else argument for argument in arguments)])

    def add_pieces(self, call, context, message, sizes=PIECES):
        for size in sizes:
            self.add(call, context, message[:size])
            message = message[size:]

    def run(self, run):
        """Returns their results by function and context, each in the order of the calls."""
        done = json.loads(run(*self.command, input=json.dumps(self.calls).encode()).stdout)
        assert len(done) == len(self.calls)
        results = {}
        for (call, context, *_), result in zip(self.calls, done):
            results.setdefault((call, context), []).append(result)
        return results


@pytest.mark.parametrize("of", ["ML-DSA-44", "SLH-DSA-SHA2-128f"])
def test_public_keys_sign_nothing(configuration, keys, of):
    """They do not return a signature's length either, if OpenSSL's do not."""
    size = {**ML_DSA, **SLH_DSA}[of]
    calls = Calls(keys, of, ".public")
    calls.add("sign_message_init", "one", {})
    for room in (None, size, size - 1):
        calls.add("sign", "one", room, MESSAGE)
    theirs = calls.run(plain)
    assert theirs["sign", "one"][1] == [0, None]
    assert calls.run(configuration.run) == theirs


def default_signatures(keys, of, options):
    """Returns the default provider's deterministic signatures of MESSAGE and of OTHER."""
    calls = Calls(keys, of)
    calls.add("sign_message_init", "default", {**options, "deterministic": "1"})
    for message in (MESSAGE, OTHER):
        calls.add("sign", "default", ML_DSA[of], message)
    return [signature for _, signature in calls.run(plain)["sign", "default"]]


def wrong(signature):
    """Returns the signature with another byte in its middle."""
    changed = bytearray(signature)
    changed[len(changed) // 2] ^= 1
    return bytes(changed)


def counted(configuration, family, jobs):
    """Checks that devices have made `jobs` signatures, the CPU none, and that nothing failed."""
    sums = configuration.counters()
    assert sums[f"{family}_device_jobs"] == jobs
    assert sums[f"{family}_cpu_jobs"] == sums[f"{family}_failures"] == sums["failures"] == 0


@pytest.mark.parametrize("of", ML_DSA)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_ml_dsa_signs_pieces(configuration, keys, of, options):
    size, half = ML_DSA[of], len(PIECES) // 2
    calls = Calls(keys, of)
    calls.add("sign_message_init", "one", {**options, "deterministic": "1"})
    calls.add("sign_message_final", "one", size)  # before any piece
    calls.add_pieces("sign_message_update", "one", MESSAGE, PIECES[:half])
    calls.add("dup", "one", "copy")
    # Signing another message at once does not affect the pieces
    calls.add("sign", "one", size, OTHER)
    for context, message in (("one", MESSAGE), ("copy", OTHER)):
        calls.add_pieces("sign_message_update", context, message[sum(PIECES[:half]):],
                         PIECES[half:])
    # The length, too little room, the signature, and the signature again.
    for room in (None, size - 1, size, size):
        calls.add("sign_message_final", "one", room)
    # Pieces that follow are not a new message.
    calls.add("sign_message_update", "one", MESSAGE)
    calls.add("dup", "one", "ended")
    calls.add("sign_message_update", "ended", MESSAGE)
    for context in ("one", "ended"):
        calls.add("sign_message_final", context, size)
    calls.add("sign_message_final", "copy", size)
    calls.add("sign_message_init", "hedged", options)
    calls.add_pieces("sign_message_update", "hedged", MESSAGE)
    calls.add("sign_message_final", "hedged", size + 1)
    done = calls.run(configuration.run)

    first, second = default_signatures(keys, of, options)
    assert done["sign_message_init", "one"] == [[1] * (2 + len(options))]
    refused = [0, None]
    assert done["sign_message_update", "one"] == [1] * len(PIECES) + [0]
    assert done["sign_message_final", "one"] == [refused, [1, size], refused, [1, first], refused,
                                                 refused]
    assert done["sign_message_update", "ended"] == [0]
    assert done["sign_message_final", "ended"] == [refused]
    assert done["sign_message_final", "copy"] == done["sign", "one"] == [[1, second]]
    (hedged_result, hedged), = done["sign_message_final", "hedged"]
    assert hedged_result == 1 and hedged != first
    counted(configuration, "ml_dsa", 4)

    calls = Calls(keys, of)
    calls.add("verify_message_init", "default", options)
    calls.add("verify", "default", bytes.fromhex(hedged), MESSAGE)
    calls.add("verify", "default", wrong(bytes.fromhex(hedged)), MESSAGE)
    assert calls.run(plain)["verify", "default"] == [1, 0]


@pytest.mark.parametrize("of", ML_DSA)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_ml_dsa_verifies_pieces(configuration, keys, of, options):
    signature = bytes.fromhex(default_signatures(keys, of, options)[0])
    half = len(PIECES) // 2
    calls = Calls(keys, of)
    calls.add("verify_message_init", "one", options)
    calls.add("verify_message_final", "one")  # before any piece
    calls.add("set_signature", "one", signature)
    calls.add_pieces("verify_message_update", "one", MESSAGE, PIECES[:half])
    calls.add("dup", "one", "copy")
    calls.add("verify", "one", signature, OTHER)  # does not affect a message in pieces
    for context, message in (("one", MESSAGE), ("copy", OTHER)):
        calls.add_pieces("verify_message_update", context, message[sum(PIECES[:half]):],
                         PIECES[half:])
    calls.add("verify_message_final", "one")
    calls.add("verify_message_final", "one")
    calls.add("verify_message_update", "one", MESSAGE)
    calls.add("verify_message_final", "one")
    calls.add("verify_message_final", "copy")
    others = {"late": signature, "wrong": wrong(signature), "short": signature[:-1],
              "long": signature + b"\0", "none": None}
    for context, its in others.items():
        calls.add("verify_message_init", context, options)
        calls.add_pieces("verify_message_update", context, MESSAGE)
        if its is not None:
            calls.add("set_signature", context, its)
        calls.add("verify_message_final", context)
    done = calls.run(configuration.run)

    assert done["set_signature", "one"] == [1]
    assert done["verify_message_update", "one"] == [1] * len(PIECES) + [0]
    assert done["verify_message_final", "one"] == [0, 1, 0, 0]
    assert done["verify", "one"] == done["verify_message_final", "copy"] == [0]
    for context in others:
        assert done["verify_message_update", context] == [1] * len(PIECES)
        assert done["verify_message_final", context] == [int(context == "late")], context


@pytest.mark.parametrize("of", SLH_DSA)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_slh_dsa_does_as_without_the_provider(configuration, keys, of, options):
    """It accepts only whole messages, and refuses pieces with an error."""
    size = SLH_DSA[of]
    calls = Calls(keys, of)
    calls.add("sign_message_init", "one", {**options, "deterministic": "1"})
    calls.add("sign_message_update", "one", MESSAGE)
    calls.add("sign_message_final", "one", size)
    calls.add("dup", "one", "copy")
    calls.add("sign", "one", None, MESSAGE)
    calls.add("sign", "one", size - 1, MESSAGE)
    calls.add("sign", "one", size, MESSAGE)
    calls.add("sign", "copy", size, OTHER)
    theirs = calls.run(plain)
    assert theirs["sign_message_update", "one"] == [-2]
    assert calls.run(configuration.run) == theirs
    counted(configuration, "slh_dsa", 2)

    signature = bytes.fromhex(theirs["sign", "one"][2][1])
    calls = Calls(keys, of)
    calls.add("verify_message_init", "one", options)
    calls.add("set_signature", "one", signature)
    calls.add("verify_message_update", "one", MESSAGE)
    calls.add("verify_message_final", "one")
    calls.add("dup", "one", "copy")
    for context in ("one", "copy"):
        calls.add("verify", context, signature, MESSAGE)
        calls.add("verify", context, signature, OTHER)
        calls.add("verify", context, wrong(signature), MESSAGE)
    theirs = calls.run(plain)
    assert theirs["verify", "copy"][0] == 1
    assert calls.run(configuration.run) == theirs
