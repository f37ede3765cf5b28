# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt slh-dsa`: key and signature files that a reference implementation of FIPS 205
accepts, and clear errors."""

import json
import os
import resource
import stat
import time

import pytest

import slh_reference
from cli_fixtures import BAD_DATA, FAILED, NO_DEVICE, USAGE, lanecrypt, ok, openssl, service
from service_stand_in import WrongSigner
from slh_files import (PRE_HASHES, SETS, algorithm, element, encoded, key_of, pem, private_der,
                       public_der, slh, slh_fails)

SIGNATURE_BYTES = {"SHA2-128f": 17088, "SHAKE-128f": 17088, "SHA2-128s": 7856}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A key of each of three sets, and its public half in a separate file."""
    folder = tmp_path_factory.mktemp("keys")
    for of in ("SHA2-128f", "SHAKE-128f", "SHA2-128s"):
        slh("keygen", "--out", folder / f"{of}.pem", of)
        slh("public", "--key", folder / f"{of}.pem", "--out", folder / f"{of}.pub.pem")
    return folder


@pytest.mark.parametrize("of", SETS)
def test_keys(tmp_path, of):
    path = tmp_path / "key.pem"
    assert slh("keygen", "-out", path, of.lower(), umask=0).stdout == b""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    key = key_of(path, of)
    public = slh("public", "--key", path).stdout
    assert public == pem("PUBLIC KEY", public_der(of, key[2 * SETS[of]:]))
    (tmp_path / "public.pem").write_bytes(public)
    assert slh("public", "--key", tmp_path / "public.pem").stdout == public


def test_one_key_goes_to_standard_output(tmp_path):
    done = slh("keygen", "SLH-DSA-SHAKE-128f", "--require-gpu", devices="host")
    (tmp_path / "key.pem").write_bytes(done.stdout)
    key_of(tmp_path / "key.pem", "SHAKE-128f")
    assert done.stderr == b"" and slh("keygen", "SHAKE-128f").stdout != done.stdout


def test_many_keys(tmp_path):
    folder = tmp_path / "keys"
    words = ("keygen", "--out-dir", folder, "SHA2-128f")
    said = slh(*words, "--count", 3, "--require-gpu", devices="host").stdout.decode()
    assert "3 keys of SLH-DSA-SHA2-128f in" in said and "3 made in" in said and "by host:0" in said
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert sorted(path.name for path in before) == [f"key-{n:08}.pem" for n in (1, 2, 3)]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in before)
    assert len({key_of(path, "SHA2-128f") for path in before}) == 3
    said = slh(*words, "--count", 5).stdout.decode()
    assert "3 of them from before; 2 made in" in said and said.endswith("by the CPU\n")
    assert all(path.read_bytes() == text for path, text in before.items())
    assert slh(*words, "--count", 5, "--quiet").stdout == b""
    slh_fails(BAD_DATA, "its key is of SLH-DSA-SHA2-128f", "keygen", "--out-dir", folder, "--count",
              5, "SHA2-128s")
    public = slh("public", "--key", folder / "key-00000001.pem").stdout
    (folder / "key-00000002.pem").write_bytes(public)
    slh_fails(BAD_DATA, "its key is a public one", *words, "--count", 5)
    (folder / "key-00000002.pem").write_bytes(b"no key")
    slh_fails(BAD_DATA, "no key of SLH-DSA", *words, "--count", 5)


@pytest.mark.parametrize("of", ["SHAKE-128f", "SHA2-128f", "SHA2-128s"])
def test_signatures(tmp_path, keys, of):
    """Hedged signatures differ, deterministic ones do not, and the device makes the same ones as
    the CPU."""
    path = tmp_path / "message"
    path.write_bytes(os.urandom(5000))
    made = {}
    for name, words, devices in (("hedged", (), "none"), ("again", (), "none"),
                                 ("fixed", ("--deterministic",), "none"),
                                 ("device", ("--deterministic", "--require-gpu"), "host")):
        if of == "SHA2-128s" and name == "device":
            continue  # this takes the emulator too long
        slh("sign", "--key", keys / f"{of}.pem", *words, path, devices=devices)
        made[name] = path.with_name("message.sig").read_bytes()
        assert len(made[name]) == SIGNATURE_BYTES[of]
        for key in (f"{of}.pem", f"{of}.pub.pem"):
            assert slh("verify", "--key", keys / key, path).stdout.decode() == f"{path}: OK\n"
    assert made.get("device", made["fixed"]) == made["fixed"]
    assert len(set(made.values())) == 3


@pytest.mark.parametrize("context, pre_hash", [
    (b"", None), (b"where", None), (bytes(range(255)), None), (b"where", "sha256"),
    *((b"", name) for name in PRE_HASHES)])
def test_the_reference_takes_them(tmp_path, keys, context, pre_hash):
    path, key = tmp_path / "message", keys / "SHAKE-128f.pem"
    path.write_bytes(os.urandom(300))
    words = ["--key", key, "--context-hex", context.hex()]
    words += ["--pre-hash", pre_hash.upper()] if pre_hash else []
    slh("sign", *words, path)
    signature = path.with_name("message.sig").read_bytes()
    message = encoded(path.read_bytes(), context, pre_hash)
    public = key_of(key, "SHAKE-128f")[32:]
    assert slh_reference.is_right(slh_reference.SHAKE_128F, public, message, signature)
    assert not slh_reference.is_right(slh_reference.SHAKE_128F, public, message + b"x", signature)
    slh("verify", *words, path)
    if context == b"where":
        slh("verify", "--key", key, "--context", "where", *words[4:], path)
        slh_fails(BAD_DATA, "wrong", "verify", "--key", key, "--context", "there", *words[4:], path)
    if pre_hash:
        slh_fails(BAD_DATA, "wrong", "verify", *words[:4], path)


def test_many_files_in_one_batch(tmp_path, keys):
    """One of them is wrong, and one is too short; the others are right."""
    paths = [tmp_path / f"file-{n}" for n in range(6)]
    for number, path in enumerate(paths):
        path.write_bytes(os.urandom(number))
    key, public = keys / "SHA2-128f.pem", keys / "SHA2-128f.pub.pem"
    said = slh("sign", "--key", key, "--require-gpu", *paths, devices="host").stdout.decode()
    assert "6 files signed by SLH-DSA-SHA2-128f in" in said and "by host:0" in said
    assert len(list(tmp_path.iterdir())) == 12
    verify = ("verify", "--key", public, "--require-gpu", *paths)
    said = slh(*verify, devices="host").stdout.decode()
    assert said == "".join(f"{path}: OK\n" for path in paths)
    first, last = (path.with_name(path.name + ".sig") for path in (paths[0], paths[-1]))
    first.write_bytes(bytes([first.read_bytes()[0] ^ 1]) + first.read_bytes()[1:])
    last.write_bytes(last.read_bytes()[:-1])
    for devices in ("host", "none"):
        said = slh_fails(BAD_DATA, "2 of 6 signatures are wrong", *verify[:3], "--quiet", *paths,
                         devices=devices).stdout.decode()
        assert said == f"{paths[0]}: FAILED\n{paths[-1]}: FAILED\n"
    last.write_bytes(last.read_bytes() + b"xx")
    slh_fails(BAD_DATA, "1 of 1 signatures is wrong", *verify[:3], paths[-1])


def test_signatures_of_a_service(tmp_path, keys):
    paths = [tmp_path / f"file-{n}" for n in range(2)]
    for path in paths:
        path.write_bytes(os.urandom(5000))
    key, at = keys / "SHA2-128f.pem", tmp_path / "socket"
    by_service = ("sign", "--key", key, f"--service={at}", *paths)
    with service(at):
        # The service runs the device's self-test for SLH-DSA when the first key comes, which may be
        # too late for that key.
        deadline = time.monotonic() + 120
        said = ""
        while not said.endswith("by the service\n"):
            assert time.monotonic() < deadline
            said = slh(*by_service).stdout.decode()
            assert "2 files signed by SLH-DSA-SHA2-128f in" in said
            slh("verify", "--key", key, "--quiet", *paths)
        done = [kind for kind in json.loads(
            ok("service", "stats", "--json", "--socket", at).stdout)["kinds"]
            if kind["kind"] == "slh-dsa-sha2-128f-sign"]
        assert done[0]["done"] >= 2
        slh_fails(USAGE, "--devices", "sign", "--key", key, "--service", "--devices", "host", paths[0])
    # Without the service the CPU makes them, or the command fails.
    assert slh(*by_service).stdout.decode().endswith("by the CPU\n")
    slh("verify", "--key", key, "--quiet", *paths)
    slh_fails(NO_DEVICE, "no service", *by_service, "--require-gpu")


def test_wrong_signatures_of_a_service_are_not_written(tmp_path, keys):
    path, key, at = tmp_path / "file", keys / "SHA2-128f.pem", tmp_path / "socket"
    path.write_bytes(os.urandom(5000))
    by_service = ("sign", "--key", key, f"--service={at}", path)
    with WrongSigner(at, SIGNATURE_BYTES["SHA2-128f"]) as wrong:
        slh_fails(NO_DEVICE, "the service has failed", *by_service, "--require-gpu")
        assert wrong.signed == 1 and not path.with_name("file.sig").exists()
        slh(*by_service)
        assert wrong.signed == 2
    slh("verify", "--key", key, "--quiet", path)


def test_a_file_takes_no_memory_of_its_length(tmp_path, keys):
    path, most = tmp_path / "file", 64 << 20
    with path.open("wb") as file:
        file.write(b"text")
        file.truncate(2 * most)

    def limit():
        # The stacks of threads count too: with one core there are few.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    words = ("--key", keys / "SHA2-128f.pem", path)
    slh("sign", *words, preexec_fn=limit)
    slh("verify", *words)


def test_standard_input_and_output(tmp_path, keys):
    key = keys / "SHA2-128f.pem"
    signature = tmp_path / "signature"
    signature.write_bytes(slh("sign", "--key", key, stdin=b"message").stdout)
    words = ("verify", "--key", key, "--signature", signature)
    assert slh(*words, stdin=b"message").stdout == b"-: OK\n"
    assert slh_fails(BAD_DATA, "wrong", *words, "-", stdin=b"massage").stdout == b"-: FAILED\n"
    slh("sign", "--key", key, "--out", signature, "-", stdin=b"")
    slh(*words, stdin=b"")
    slh_fails(USAGE, "--signature", "verify", "--key", key, stdin=b"message")
    slh_fails(FAILED, "standard output", "sign", "--key", key, stdout=open("/dev/full", "wb"))


@pytest.mark.parametrize("words, why", [
    (("keygen",), "set"), (("keygen", "SHA2-128x"), "unknown set 'SHA2-128x'"),
    (("keygen", "SHA2-128f", "--count", 2), "--out-dir"),
    (("keygen", "SHA2-128f", "--count", 0, "--out-dir", "d"), "--count must be"),
    (("sign", "message"), "--key"), (("verify", "message"), "--key"), (("public",), "--key"),
    (("sign", "--key", "k", "--context", "a", "--context-hex", "00"), "--context"),
    (("sign", "--key", "k", "--context-hex", "0"), "context string"),
    (("sign", "--key", "k", "--context", 256 * "x"), "more than 255 bytes"),
    (("sign", "--key", "k", "--pre-hash", "md5"), "unknown hash 'md5'"),
    (("sign", "--key", "k", "--out", "s", "a", "b"), "--out is for one file"),
    (("verify", "--key", "k", "--signature", "s", "a", "b"), "--signature is for one file"),
    (("sign", "--key", "k", "a", "-"), "standard input"),
    (("verify", "--key", "k", "--deterministic", "a"), "--deterministic"),
    (("seal",), "unknown word 'seal'")])
def test_wrong_words(tmp_path, words, why):
    slh_fails(USAGE, why, *words, cwd=tmp_path)
    assert not list(tmp_path.iterdir())


def test_help():
    assert lanecrypt("slh-dsa").returncode == USAGE
    text = slh("--help").stdout.decode()
    for word in ("keygen", "public", "sign", "verify"):
        assert f"  {word} " in text and f"lanecrypt slh-dsa {word}" in slh(word, "--help").stdout.decode()


def test_keys_that_are_none(tmp_path, keys):
    of, path = "SHA2-128f", tmp_path / "message"
    path.write_bytes(b"message")
    key = key_of(keys / f"{of}.pem", of)
    good = private_der(of, key)
    public = element(0x81, b"\0" + key[32:])
    wrong = {
        "empty": b"", "of another kind": openssl("genpkey", "-algorithm", "ed25519").stdout,
        "cut": pem("PRIVATE KEY", good[:-1]), "longer": pem("PRIVATE KEY", good + b"\0"),
        "short": pem("PRIVATE KEY", private_der(of, key[:-1])),
        "of another length": pem("PRIVATE KEY", private_der("SHA2-192f", key)),
        "version 2": pem("PRIVATE KEY", private_der(of, key, 2)),
        "public in version 0": pem("PRIVATE KEY", private_der(of, key, 0, public)),
        "with an unknown field": pem("PRIVATE KEY", private_der(of, key, 1, element(0x82, b""))),
        "with a long length": pem("PRIVATE KEY", b"\x30\x82\0" + good[1:]),
        "with an endless length": pem("PRIVATE KEY", b"\x30\x80" + good[2:] + b"\0\0"),
        "of no set": pem("PRIVATE KEY", good.replace(algorithm(of), algorithm(of)[:-1] + b"\x20")),
        "with another label": pem("RSA PRIVATE KEY", good), "no base64": b"-----BEGIN PRIVATE KEY-----\n?",
        "too long": b"#" * (64 << 10) + pem("PRIVATE KEY", good),
        "with bits": pem("PUBLIC KEY", public_der(of, key[32:]).replace(b"\0" + key[32:], b"\1" + key[32:])),
        "with another public key": pem("PRIVATE KEY", private_der(of, key, 1, public[:-1] + bytes([public[-1] ^ 1]))),
    }
    for text in wrong.values():
        (tmp_path / "key.pem").write_bytes(text)
        slh_fails(BAD_DATA, "is not such a key", "sign", "--key", tmp_path / "key.pem", path)
    (tmp_path / "key.pem").write_bytes(pem("ENCRYPTED PRIVATE KEY", good))
    slh_fails(BAD_DATA, "encrypted", "sign", "--key", tmp_path / "key.pem", path)
    slh_fails(BAD_DATA, "it is a public one", "sign", "--key", keys / f"{of}.pub.pem", path)
    assert not path.with_name("message.sig").exists()
    # Other forms of PKCS#8, and text around a key.
    for text in (pem("PRIVATE KEY", private_der(of, key, 1, element(0xa0, b"") + public)),
                 b"a key:\n" + pem("SOMETHING ELSE", b"else") +
                 pem("PRIVATE KEY", good).replace(b"\n", b"\r\n")):
        (tmp_path / "key.pem").write_bytes(text)
        slh("sign", "--key", tmp_path / "key.pem", path)
        slh("verify", "--key", keys / f"{of}.pub.pem", path)


def test_a_key_whose_root_is_wrong_signs_nothing(tmp_path, keys):
    of, path = "SHAKE-128f", tmp_path / "message"
    path.write_bytes(b"message")
    key = bytearray(key_of(keys / f"{of}.pem", of))
    key[-1] ^= 1
    (tmp_path / "key.pem").write_bytes(pem("PRIVATE KEY", private_der(of, bytes(key))))
    assert lanecrypt("slh-dsa", "sign", "--key", tmp_path / "key.pem", path, devices="none").returncode != 0
    assert not path.with_name("message.sig").exists()


@pytest.mark.parametrize("key_name, words, names", [
    ("key.pem", ["--out", "key.pem"], ["message"]), ("message.sig", [], ["message"]),
    ("key.pem", [], ["message", "message.sig"]), ("key.pem", ["--out", "link"], ["message"])])
def test_no_signature_replaces_what_is_read(tmp_path, keys, key_name, words, names):
    key = (keys / "SHA2-128f.pem").read_bytes()
    for name in ("message", "message.sig", key_name):
        (tmp_path / name).write_bytes(key if name == key_name else name.encode())
    (tmp_path / "link").symlink_to("key.pem")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.exists()}
    words = [tmp_path / word if word in ("key.pem", "link") else word for word in words]
    slh_fails(USAGE, "it would be destroyed", "sign", "--key", tmp_path / key_name, *words,
              *(tmp_path / name for name in names))
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.exists()}


def test_files_that_cannot_be_read_or_written(tmp_path, keys):
    key, path = keys / "SHA2-128f.pem", tmp_path / "message"
    path.write_bytes(b"message")
    slh_fails(FAILED, "cannot open", "sign", "--key", tmp_path / "none.pem", path)
    slh_fails(FAILED, "cannot open", "sign", "--key", key, path, tmp_path / "none")
    slh_fails(FAILED, "message.sig", "verify", "--key", key, path)
    slh_fails(FAILED, "directory", "sign", "--key", key, tmp_path)
    slh_fails(USAGE, "it would be destroyed", "sign", "--key", key, "--out", path, path)
    slh_fails(FAILED, "cannot create", "sign", "--key", key, "--out", tmp_path / "no" / "s", path)
    slh_fails(NO_DEVICE, "no usable device", "sign", "--key", key, "--require-gpu", path)
    slh_fails(NO_DEVICE, "cuda:99", "sign", "--key", key, "--devices", "cuda:99", path)
    (tmp_path / "link.pem").symlink_to(path)
    slh_fails(FAILED, "symbolic link", "keygen", "--out", tmp_path / "link.pem", "SHA2-128f")
    assert path.read_bytes() == b"message"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.pem", "message"]


def test_a_signature_is_replaced_whole(tmp_path, keys):
    path, signature = tmp_path / "message", tmp_path / "message.sig"
    path.write_bytes(b"message")
    signature.write_bytes(b"old")
    with signature.open("rb") as before:
        slh("sign", "--key", keys / "SHA2-128f.pem", path)
        assert before.read() == b"old"
    assert signature.stat().st_size == SIGNATURE_BYTES["SHA2-128f"]
