# SPDX-License-Identifier: Apache-2.0
"""Invalid numbers and contexts: the error names the argument, not an internal function."""

import base64

import pytest

import lanecrypt
from lanecrypt import rsa

KEY = bytes(range(32))

# The name of each numeric argument, and a call with it.
NUMBERS = [
    ("threshold_bytes", lambda n, _: lanecrypt.Context("none", threshold_bytes=n)),
    ("pinned_bytes", lambda n, _: lanecrypt.Context("none", pinned_bytes=n)),
    ("prime_pool", lambda n, _: lanecrypt.Context("none", prime_pool=n)),
    ("cores", lambda n, _: lanecrypt.Context("none", cores=n)),
    ("nbytes", lambda n, host: host.allocate("host:0", n)),
    ("nbytes", lambda n, _: lanecrypt.keystream(KEY, bytes(12), n)),
    ("offset", lambda n, _: lanecrypt.keystream(KEY, bytes(12), 5, offset=n)),
    ("tag_length", lambda n, _: lanecrypt.AESCCM(KEY, n)),
    ("bit_length", lambda n, _: lanecrypt.AESGCM.generate_key(n)),
    ("data_unit_bytes", lambda n, _: lanecrypt.Cipher("aes-xts", KEY, data_unit_bytes=n)),
    ("digest_bytes", lambda n, _: lanecrypt.hash_many("blake3", [b""], digest_bytes=n)),
    ("leaf_bytes", lambda n, _: lanecrypt.merkle_root(b"", n)),
    ("first", lambda n, _: lanecrypt.AESGCM(KEY).encrypt_segments(
        lanecrypt.Segments(10), bytes(8), b"", first=n)),
    ("bits", lambda n, _: rsa.generate(n)),
    ("count", lambda n, _: rsa.generate(1024, n)),
    ("exponent", lambda n, _: rsa.generate(1024, exponent=n)),
]


class Integer:
    """Like NumPy's integers: a whole number without the other methods of int."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


@pytest.mark.parametrize("name, call", NUMBERS)
def test_what_is_no_number(host, name, call):
    for wrong in (1.5, "5", b"5", [5], object()):
        with pytest.raises(TypeError, match=f"^{name} is an int, not {type(wrong).__name__}$"):
            call(wrong, host)
    with pytest.raises(ValueError, match=f"^{name} is negative$"):
        call(-1, host)
    if name != "exponent":  # an exponent may have many bits
        with pytest.raises(ValueError, match=f"^{name} is too large$|^a sequence of"):
            call(1 << 70, host)


@pytest.mark.parametrize("name, call", NUMBERS)
def test_numbers_of_others(host, name, call):
    right = {"tag_length": 16, "bit_length": 128, "offset": 64, "bits": 1024, "exponent": 65537,
             "data_unit_bytes": 512}.get(name, 2)
    call(Integer(right), host)


def test_keystream_at_a_number_of_others():
    assert (lanecrypt.keystream(KEY, bytes(12), Integer(5), offset=Integer(64))
            == lanecrypt.keystream(KEY, bytes(12), 69)[64:])


def test_launches_are_a_number(host):
    memory = host.allocate("host:0", 100)
    with pytest.raises(TypeError, match="^launches is an int, not str$"):
        lanecrypt.AESGCM(KEY, context=host).capture_encrypt_segments(
            lanecrypt.Segments(10, tags_inside=False), bytes(8), memory, out=memory, launches="1",
            tags=host.allocate("host:0", 160), verdict=host.allocate("host:0", 1))


def test_salt_lengths(cpu):
    key = rsa.PrivateKey(rsa.generate(1024, context=cpu)[0])
    assert len(rsa.sign_many(key, [b""], padding="pss", salt_length=Integer(5))[0]) == 128
    with pytest.raises(TypeError, match="^salt_length is an int, not float$"):
        rsa.sign_many(key, [b""], padding="pss", salt_length=1.5)


def test_options_of_a_context():
    for wrong in (-1, float("nan"), float("inf"), 1e30):
        with pytest.raises(ValueError, match="^time_limit is 0 to"):
            lanecrypt.Context("none", time_limit=wrong)
    for words in ({"devices": 5}, {"devices": b"none"}, {"service": None}, {"service": 5}):
        name, = words
        with pytest.raises(TypeError, match=f"^{name} is a str, not"):
            lanecrypt.Context(**words)


def test_a_wrong_list_of_devices(monkeypatch):
    """The error names the environment variable if it is wrong, and in both cases what a list may
    contain."""
    allowed = "is wrong: it must be none, or names such as cuda:0, opencl and gl"
    with pytest.raises(ValueError, match=f'^the list of devices "toaster" {allowed}'):
        lanecrypt.Context("toaster")
    monkeypatch.setenv("LANECRYPT_DEVICES", "toaster")
    with pytest.raises(ValueError, match=f'^the environment variable LANECRYPT_DEVICES = "toaster" {allowed}'):
        lanecrypt.Context()


@pytest.mark.parametrize("call", [
    lambda context: lanecrypt.AESGCM(KEY, context=context),
    lambda context: lanecrypt.AEAD("sm4-gcm", KEY[:16], context=context),
    lambda context: lanecrypt.Cipher("aes-ctr", KEY, context=context),
    lambda context: lanecrypt.keystream(KEY, bytes(12), 5, context=context),
    lambda context: lanecrypt.hash_many("sha256", [b""], context=context),
    lambda context: lanecrypt.blake3(b"", context=context),
    lambda context: lanecrypt.merkle_root(b"", 5, context=context),
    lambda context: rsa.generate(1024, context=context),
])
def test_what_is_no_context(call):
    for wrong in ("none", 0, lanecrypt.Context):
        with pytest.raises(TypeError, match="^context is a lanecrypt.Context, not"):
            call(wrong)


def test_unknown_names_tell_what_there_is():
    with pytest.raises(ValueError, match="there are .*aes-gcm.*aria-ccm"):
        lanecrypt.AEAD("AES-GCM", KEY)
    with pytest.raises(ValueError, match="there are .*aes-ctr.*chacha20"):
        lanecrypt.Cipher("aes-gcm", KEY)


@pytest.mark.parametrize("make", [lanecrypt.AEAD, lanecrypt.Cipher, lanecrypt.hash_many])
def test_a_key_in_the_place_of_a_name_is_not_repeated(make):
    for key in (KEY, bytearray(KEY)):
        with pytest.raises(TypeError, match="^the name of an? .* is a str, not byte"):
            make(key, "aes-gcm")
    for key in (KEY[:16].hex(), base64.b64encode(KEY[:16]).decode()):
        with pytest.raises(ValueError, match="there are") as caught:
            make(key, KEY)
        assert key[:10] not in str(caught.value)
