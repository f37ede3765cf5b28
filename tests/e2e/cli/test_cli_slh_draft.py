# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt slh-dsa` with the sets of the draft SP 800-230: it verifies signatures of a
reference implementation, and signs only if the key's state file counts the signature."""

import hmac
import struct

import pytest

from cli_fixtures import BAD_DATA, FAILED, USAGE
from slh_files import pem, slh, slh_fails
from slh_reference import Parameters
from slh_signer import draft_signature

SETS = {"SHA2-128-24": Parameters(16, 22, 1, 24, 6, 2, "SHA2"),
        "SHA2-192-24": Parameters(24, 21, 1, 25, 9, 3, "SHA2"),
        "SHA2-256-24": Parameters(32, 21, 1, 25, 12, 2, "SHA2"),
        "SHAKE-128-24": Parameters(16, 22, 1, 24, 6, 2),
        "SHAKE-192-24": Parameters(24, 21, 1, 25, 9, 3),
        "SHAKE-256-24": Parameters(32, 21, 1, 25, 12, 2)}
NUMBERS = {of: 32 + number for number, of in enumerate(SETS)}


def key_files(folder, of, key):
    """Returns the files of the private key and of the public one."""
    n = SETS[of].n
    paths = folder / "key.pem", folder / "public.pem"
    for path, kind, data in zip(paths, ("PRIVATE", "PUBLIC"), (key, key[2 * n:])):
        path.write_bytes(pem(f"SLH-DSA-{of} DRAFT {kind} KEY", data))
    return paths


def sealed(key, data):
    """Returns `data` with an HMAC, whose key is derived from the secret half of the private key."""
    secret = hmac.digest(key[:len(key) // 2], b"lanecrypt slh-dsa state 1", "sha256")
    return data + hmac.digest(secret, data, "sha256")


def state_of(of, key, nodes, count):
    """Returns a state file as docs/lanecrypt.1 describes it."""
    head = b"lcslhst1" + struct.pack("<Q", NUMBERS[of]) + key[len(key) // 2:]
    return sealed(key, head + struct.pack("<Q", count) + nodes)


@pytest.fixture(scope="module")
def signed():
    return draft_signature(SETS["SHA2-128-24"], lambda number: (b"\0\0%d" % number, b"%d" % number))


@pytest.mark.parametrize("of", SETS)
def test_a_signature_of_the_reference(tmp_path, of):
    context = b"where"
    key, _, message, signature = draft_signature(SETS[of], lambda number: (
        bytes([0, len(context)]) + context + b"%d" % number, b"%d" % number))
    private, public = key_files(tmp_path, of, key)
    assert slh("public", "--key", private).stdout == public.read_bytes()
    path = tmp_path / "message"
    path.write_bytes(message)
    path.with_name("message.sig").write_bytes(signature)
    words = ("--context", "where", path)
    for name in (private, public):
        assert slh("verify", "--key", name, *words).stdout.decode() == f"{path}: OK\n"
    slh_fails(BAD_DATA, "wrong", "verify", "--key", public, path)
    for at in (0, len(signature) // 2, len(signature) - 1):
        changed = bytearray(signature)
        changed[at] ^= 1
        path.with_name("message.sig").write_bytes(changed)
        slh_fails(BAD_DATA, "wrong", "verify", "--key", public, *words)


def test_a_name_of_two_lines_has_one_verdict(tmp_path, signed):
    key, _, message, signature = signed
    _, public = key_files(tmp_path, "SHA2-128-24", key)
    path = tmp_path / "other: OK\nmessage"
    path.write_bytes(message)
    path.with_name(path.name + ".sig").write_bytes(signature)
    said = slh("verify", "--key", public, path.name, cwd=tmp_path).stdout
    assert said == b"\\other: OK\\nmessage: OK\n"


def test_a_key_needs_a_device(tmp_path):
    words = ("keygen", "--out", tmp_path / "key.pem")
    slh_fails(USAGE, "needs --state", *words, "SHA2-128-24")
    slh_fails(USAGE, "has no --state", *words, "--state", tmp_path / "state", "SHA2-128s")
    slh_fails(FAILED, "only a device makes keys", *words, "--state", tmp_path / "state",
              "SHA2-128-24")
    slh_fails(USAGE, "--state", "keygen", "--out-dir", tmp_path / "keys", "--count", 2, "--state",
              tmp_path / "state", "SHA2-128-24")
    assert not list(tmp_path.iterdir())
    # An unsuitable path for the state is reported before a device is looked for.
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    slh_fails(FAILED, "open' is no folder for a signer's state: ", *words, "--state",
              tmp_path / "open" / "state", "SHA2-128-24")
    (tmp_path / "state").write_bytes(b"")
    slh_fails(FAILED, "is there already", *words, "--state", tmp_path / "state", "SHA2-128-24")
    assert not list((tmp_path / "open").iterdir())


def test_signatures_are_counted_before_they_are_made(tmp_path, signed):
    """None is made here, since there is no device; so these numbers are lost."""
    of = "SHA2-128-24"
    key, nodes, _, _ = signed
    private, public = key_files(tmp_path, of, key)
    state, count = tmp_path / "state", tmp_path / "state.count"
    state.write_bytes(state_of(of, key, nodes, 0))
    files = [tmp_path / name for name in ("a", "b", "c")]
    for path in files:
        path.write_bytes(b"text")
    words = ("sign", "--key", private, "--state", state)
    slh_fails(USAGE, "signs with --state alone", "sign", "--key", private, *files)
    slh_fails(BAD_DATA, "public", "sign", "--key", public, "--state", state, *files)
    slh_fails(USAGE, "no --service signs", *words, "--service", *files)
    slh_fails(FAILED, "only a device makes", *words, *files)
    assert state.read_bytes() == state_of(of, key, nodes, 3)
    slh_fails(FAILED, "only a device makes", *words, files[0])
    assert state.read_bytes() == state_of(of, key, nodes, 4)
    assert count.exists() and not list(tmp_path.glob("*.sig"))
    # A state that is older, or another key's, is refused, and counts nothing.
    for wrong, text in ((state_of(of, key, nodes, 3), "older"),
                        (state_of(of, bytes(64), nodes, 9), "another key"),
                        (state_of(of, key, nodes, 9)[:-1] + b"x", "changed"),
                        (state_of(of, key, nodes[:-1] + b"x", 9), "kept nodes")):
        state.write_bytes(wrong)
        slh_fails(BAD_DATA, text, *words, files[0])
        assert state.read_bytes() == wrong
    state.write_bytes(state_of(of, key, nodes, 2**24 - 2))
    slh_fails(FAILED, "16777214 of the 16777216", *words, *files)
    assert state.read_bytes() == state_of(of, key, nodes, 2**24 - 2)


def test_other_keys_have_no_state(tmp_path):
    slh("keygen", "--out", tmp_path / "key.pem", "SHA2-128f")
    slh_fails(USAGE, "has no --state", "sign", "--key", tmp_path / "key.pem", "--state",
              tmp_path / "state", tmp_path / "key.pem")
    assert [path.name for path in tmp_path.iterdir()] == ["key.pem"]
