# SPDX-License-Identifier: Apache-2.0
"""The authenticated modes on bytes-like objects: results and errors are those of
pyca/cryptography."""

import copy
import os
import pickle

import pytest

import lanecrypt
from cryptography import exceptions
from cryptography.hazmat.primitives.ciphers import aead as pyca

KEY = bytes(range(32))
NONCE = bytes(range(100, 112))

# The class name, which both packages use, and the length of the key in bytes.
CLASSES = [("AESGCM", 16), ("AESGCM", 24), ("AESGCM", 32), ("AESCCM", 16), ("AESCCM", 32),
           ("ChaCha20Poly1305", 32)]


def pair(name, key_bytes, context=None, **options):
    key = KEY[:key_bytes]
    return (getattr(lanecrypt, name)(key, context=context, **options),
            getattr(pyca, name)(key, **options))


@pytest.mark.parametrize("name, key_bytes", CLASSES)
@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 1000, 65536])
def test_as_pyca(context, name, key_bytes, length):
    ours, theirs = pair(name, key_bytes, context)
    nonce = NONCE[:12]
    text = os.urandom(length)
    for aad in (None, b"", b"a", os.urandom(100)):
        sealed = ours.encrypt(nonce, text, aad)
        assert type(sealed) is bytes and sealed == theirs.encrypt(nonce, text, aad)
        opened = ours.decrypt(nonce, sealed, aad)
        assert type(opened) is bytes and opened == text


def test_the_emulator_did_it(host, work):
    lanecrypt.AESGCM(KEY, context=host).encrypt(NONCE, bytes(100), None)
    lanecrypt.ChaCha20Poly1305(KEY, context=host).encrypt(NONCE, bytes(200), None)
    assert (work.of("host:0"), work.of("host:0", "jobs")) == (300, 2)
    assert work.of("cpu") == 0


def test_the_cpu_did_it(cpu):
    before = cpu.counters()["cpu"].bytes
    lanecrypt.AESGCM(KEY, context=cpu).encrypt(NONCE, bytes(100), None)
    assert cpu.counters()["cpu"].bytes == before + 100
    assert list(cpu.counters()) == ["cpu"] or all(
        counters.bytes == 0 for name, counters in cpu.counters().items() if name != "cpu")


def test_small_requests_stay_on_the_cpu():
    with lanecrypt.Context(devices="host") as context:
        lanecrypt.AESGCM(KEY, context=context).encrypt(NONCE, bytes(100), None)
        assert context.counters()["host:0"].bytes == 0


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_bytes_like_object(context, kind):
    ours, theirs = pair("AESGCM", 32, context)
    sealed = ours.encrypt(kind(NONCE), kind(b"text"), kind(b"data"))
    assert sealed == theirs.encrypt(NONCE, b"text", b"data")
    assert ours.decrypt(kind(NONCE), kind(sealed), kind(b"data")) == b"text"


@pytest.mark.parametrize("nonce_bytes", [8, 11, 12, 13, 16, 128])
def test_nonces_of_gcm(context, nonce_bytes):
    ours, theirs = pair("AESGCM", 32, context)
    nonce = os.urandom(nonce_bytes)
    assert ours.encrypt(nonce, b"text", None) == theirs.encrypt(nonce, b"text", None)


@pytest.mark.parametrize("tag_length", [4, 6, 8, 10, 12, 14, 16])
@pytest.mark.parametrize("nonce_bytes", [7, 13])
def test_nonces_and_tags_of_ccm(context, tag_length, nonce_bytes):
    ours, theirs = pair("AESCCM", 16, context, tag_length=tag_length)
    nonce = os.urandom(nonce_bytes)
    sealed = ours.encrypt(nonce, b"text", b"data")
    assert sealed == theirs.encrypt(nonce, b"text", b"data")
    assert ours.decrypt(nonce, sealed, b"data") == b"text"


def outcome(function, *arguments, **words):
    """Returns what a call does, in a form that can be compared."""
    try:
        return "returns", function(*arguments, **words)
    except Exception as error:
        return type(error), str(error)


# Wrong calls, as (class, key bytes, method, arguments).
WRONG = [
    ("AESGCM", 32, "encrypt", (bytes(7), b"", None)),
    ("AESGCM", 32, "encrypt", (bytes(129), b"", None)),
    ("AESGCM", 32, "decrypt", (bytes(7), bytes(16), None)),
    ("AESGCM", 32, "decrypt", (bytes(12), b"", None)),
    ("AESGCM", 32, "decrypt", (bytes(12), bytes(15), None)),
    ("AESGCM", 32, "decrypt", (bytes(12), bytes(16), None)),
    ("AESGCM", 32, "decrypt", (bytes(12), bytes(100), b"x")),
    ("AESGCM", 32, "encrypt_into", (bytes(12), b"text", None, bytearray(19))),
    ("AESGCM", 32, "encrypt_into", (bytes(12), b"text", None, bytearray(21))),
    ("AESGCM", 32, "decrypt_into", (bytes(12), bytes(20), None, bytearray(5))),
    ("AESGCM", 32, "decrypt_into", (bytes(12), bytes(20), None, bytearray(4))),
    ("AESGCM", 32, "decrypt_into", (bytes(12), bytes(4), None, bytearray(4))),
    ("AESCCM", 16, "encrypt", (bytes(6), b"", None)),
    ("AESCCM", 16, "encrypt", (bytes(14), b"", None)),
    ("AESCCM", 16, "encrypt", (bytes(13), bytes(70_000), None)),
    ("AESCCM", 16, "decrypt", (bytes(13), bytes(70_000), None)),
    ("AESCCM", 16, "decrypt", (bytes(13), bytes(3), None)),
    ("ChaCha20Poly1305", 32, "encrypt", (bytes(8), b"", None)),
    ("ChaCha20Poly1305", 32, "encrypt", (bytes(13), b"", None)),
    ("ChaCha20Poly1305", 32, "decrypt", (bytes(12), b"", None)),
]


@pytest.mark.parametrize("name, key_bytes, method, arguments", WRONG)
def test_errors_are_pycas(context, name, key_bytes, method, arguments):
    ours, theirs = pair(name, key_bytes, context)
    expected = outcome(getattr(theirs, method), *arguments)
    assert expected[0] != "returns"
    assert outcome(getattr(ours, method), *arguments) == expected


@pytest.mark.parametrize("method", ["encrypt", "decrypt"])
@pytest.mark.parametrize("wrong", [0, 1, 2])
@pytest.mark.parametrize("value", ["text", 5, 1.5, object(), ["a"]])
def test_wrong_types(cpu, method, wrong, value):
    arguments = [bytes(12), bytes(32), b"data"]
    arguments[wrong] = value
    with pytest.raises(TypeError) as caught:
        getattr(lanecrypt.AESGCM(KEY, context=cpu), method)(*arguments)
    assert type(value).__name__ in str(caught.value)


@pytest.mark.parametrize("make", [
    lambda module: module.AESGCM(bytes(15)),
    lambda module: module.AESGCM(b""),
    lambda module: module.AESCCM(bytes(17)),
    lambda module: module.AESCCM(bytes(16), tag_length=5),
    lambda module: module.AESCCM(bytes(16), tag_length=0),
    lambda module: module.ChaCha20Poly1305(bytes(31)),
    lambda module: module.AESGCM.generate_key(100),
    lambda module: module.AESCCM.generate_key(0),
])
def test_errors_of_making_are_pycas(make):
    expected = outcome(make, pyca)
    assert expected[0] is ValueError and outcome(make, lanecrypt) == expected


@pytest.mark.parametrize("key", [KEY[:16], bytearray(KEY[:16]), memoryview(KEY[:16])])
def test_no_tag_length_is_16(context, key):
    for theirs, ours in [(pyca.AESCCM(key, None), lanecrypt.AESCCM(key, None, context=context)),
                         (pyca.AESCCM(key, tag_length=None),
                          lanecrypt.AESCCM(key, tag_length=None, context=context)),
                         (pyca.AESCCM(key), lanecrypt.AEAD("aes-ccm", key, None, context=context))]:
        for aad in (None, b"aad"):
            sealed = theirs.encrypt(NONCE, b"text", aad)
            assert ours.encrypt(NONCE, b"text", aad) == sealed and len(sealed) == 20
            assert ours.decrypt(NONCE, sealed, aad) == b"text"
    assert lanecrypt.AEAD("aes-gcm", key, None).encrypt(NONCE, b"", None) == pyca.AESGCM(key).encrypt(
        NONCE, b"", None)


# Several arguments are wrong at once. The error must be about the same one as pyca's.
WRONG_TWICE = [
    ("encrypt", (5, 5, 5)), ("encrypt", (bytes(5), 5, None)), ("encrypt", (bytes(5), b"", 5)),
    ("encrypt", (5, memoryview(bytes(24))[::2], None)),
    ("encrypt", (memoryview(bytes(24))[::2], 5, None)),
    ("encrypt_into", (bytes(5), b"", None, 5)), ("encrypt_into", (bytes(5), b"", None, bytearray(3))),
    ("decrypt", (bytes(5), b"", None)), ("decrypt", (bytes(5), b"", 5)),
    ("decrypt_into", (bytes(5), b"", None, None)), ("decrypt_into", (bytes(12), b"", 5, None)),
]


@pytest.mark.parametrize("method, arguments", WRONG_TWICE)
def test_of_two_errors_it_is_pycas(cpu, method, arguments):
    for ours, theirs in (pair("AESGCM", 32, cpu), pair("AESCCM", 16, cpu),
                         pair("ChaCha20Poly1305", 32, cpu)):
        expected = outcome(getattr(theirs, method), *arguments)[0]
        assert outcome(getattr(ours, method), *arguments)[0] is expected


def test_of_two_errors_of_making_it_is_pycas():
    for arguments in ((bytes(15), "16"), (bytes(15), 5), (None, 5), (bytes(15), None)):
        assert outcome(lanecrypt.AESCCM, *arguments)[0] is outcome(pyca.AESCCM, *arguments)[0]


@pytest.mark.parametrize("key", ["x" * 32, 32, None, [1] * 32])
def test_keys_of_wrong_types(key):
    for name in ("AESGCM", "AESCCM", "ChaCha20Poly1305"):
        with pytest.raises(TypeError) as caught:
            getattr(lanecrypt, name)(key)
        assert "xxx" not in str(caught.value)
        assert str(caught.value).startswith("a key is a bytes-like object or a KeyProvider, not")


def test_keys_in_strided_memory():
    """As in pyca/cryptography: the object is bytes-like, so its type is not wrong."""
    strided = memoryview(bytes(64))[::2]
    for module in (lanecrypt, pyca):
        with pytest.raises(BufferError):
            module.AESGCM(strided)


def test_generated_keys():
    for bits in (128, 192, 256):
        assert len(lanecrypt.AESGCM.generate_key(bits)) == bits // 8
        assert lanecrypt.AESCCM.generate_key(bit_length=bits) != lanecrypt.AESCCM.generate_key(bits)
    assert len(lanecrypt.ChaCha20Poly1305.generate_key()) == 32


@pytest.mark.parametrize("length", [0, 1, 100, 100_000])
def test_into(context, length):
    ours, theirs = pair("AESGCM", 32, context)
    text = os.urandom(length)
    sealed = bytearray(length + 16)
    assert ours.encrypt_into(NONCE, text, b"data", sealed) == length + 16
    assert sealed == theirs.encrypt(NONCE, text, b"data")
    opened = bytearray(length)
    assert ours.decrypt_into(NONCE, sealed, b"data", opened) == length
    assert opened == text


def test_none_is_no_output(cpu):
    """Otherwise a caller that lost its buffer would get plaintext, or a text instead of a
    length."""
    for ours, theirs in (pair("AESGCM", 32, cpu), pair("ChaCha20Poly1305", 32, cpu)):
        sealed = ours.encrypt(NONCE, b"text", None)
        for aead in (ours, theirs):
            with pytest.raises(TypeError):
                aead.encrypt_into(NONCE, b"text", None, None)
            with pytest.raises(TypeError):
                aead.decrypt_into(NONCE, sealed, None, None)
        with pytest.raises(TypeError, match="not NoneType"):
            ours.submit_encrypt_into(NONCE, b"text", None, None)


def test_in_place(context):
    ours, theirs = pair("ChaCha20Poly1305", 32, context)
    text = os.urandom(1000)
    memory = bytearray(text + bytes(16))
    ours.encrypt_into(NONCE, memoryview(memory)[:1000], None, memory)
    assert memory == theirs.encrypt(NONCE, text, None)
    ours.decrypt_into(NONCE, memory, None, memoryview(memory)[:1000])
    assert memory[:1000] == text


def test_overlap_in_part(context):
    memory = bytearray(1016)
    with pytest.raises(ValueError, match="overlap"):
        lanecrypt.AESGCM(KEY, context=context).encrypt_into(
            NONCE, memoryview(memory)[1:1000], None, memoryview(memory)[:1015])


def test_read_only_outputs(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    with pytest.raises(TypeError, match="read-only"):
        ours.encrypt_into(NONCE, b"text", None, bytes(20))
    with pytest.raises(TypeError, match="read-only"):
        ours.encrypt_into(NONCE, b"text", None, memoryview(bytes(20)))


def test_strided_memory(context):
    with pytest.raises(BufferError, match="not contiguous"):
        lanecrypt.AESGCM(KEY, context=context).encrypt(NONCE, memoryview(bytes(100))[::2], None)


def test_a_wrong_tag_wipes(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    for length in (1, 100, 70_000):
        sealed = bytearray(ours.encrypt(NONCE, b"\x55" * length, None))
        for at in (0, length - 1, length, length + 15):
            sealed[at] ^= 1
            opened = bytearray(b"\xaa" * length)
            with pytest.raises(exceptions.InvalidTag):
                ours.decrypt_into(NONCE, sealed, None, opened)
            assert opened == bytes(length)
            sealed[at] ^= 1


def test_a_wrong_tag_in_place_wipes(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    memory = bytearray(ours.encrypt(NONCE, b"\x55" * 100, None))
    memory[-1] ^= 1
    tag = memory[100:]
    with pytest.raises(exceptions.InvalidTag):
        ours.decrypt_into(NONCE, memory, None, memoryview(memory)[:100])
    assert memory == bytes(100) + tag


# ---- Many ----


@pytest.mark.parametrize("as_rows", [False, True])
def test_nonces_of_many_are_of_one_length(context, as_rows):
    """Their total length is right. If that were accepted, one message would get a part of
    another's nonce."""
    nonces, ours = [b"a" * 12, b"b" * 11, b"c" * 13], lanecrypt.AESGCM(KEY, context=context)
    texts = bytes(30)
    if as_rows:
        texts = memoryview(texts).cast("B", (3, 10))
    else:
        texts = [texts[:10]] * 3
    for call in (lambda: ours.encrypt_many(nonces, texts),
                 lambda: ours.decrypt_many(nonces, texts, bytes(48)),
                 lambda: ours.encrypt_many(nonces[:2] + [b"c" * 12], texts)):
        with pytest.raises(ValueError, match="11 bytes"):
            call()


def test_nonces_of_many_are_in_rows(context):
    """An array of another shape has the same number of bytes, but would be cut into other nonces
    than its rows, some of which may be equal."""
    ours = lanecrypt.AESGCM(KEY, context=context)
    memory = memoryview(bytes(range(48)))
    layout = lanecrypt.Segments(10, number=None, tags_inside=False)
    texts, expected = [bytes(10)] * 4, None
    for shape in ((48,), (4, 12), (2, 2, 12), (4, 3, 4)):
        nonces = memory.cast("B", shape)
        sealed, tags = ours.encrypt_many(nonces, texts)
        expected = expected or tags
        assert tags == expected
        assert bytes(ours.encrypt_segments(layout, nonces, bytes(40))[1]) == b"".join(tags)
    for shape in ((12, 4), (2, 24), (48, 1), (6, 2, 4)):
        nonces = memory.cast("B", shape)
        for call in (lambda: ours.encrypt_many(nonces, texts),
                     lambda: ours.decrypt_many(nonces, sealed, tags),
                     lambda: ours.encrypt_segments(layout, nonces, bytes(40))):
            with pytest.raises(ValueError, match="not one in each row for 4"):
                call()


def test_many_of_different_lengths(context):
    ours, theirs = pair("AESGCM", 32, context)
    texts = [os.urandom(length) for length in (0, 1, 16, 100, 5000)]
    nonces = [os.urandom(12) for _ in texts]
    aads = [b"one", b"", None, b"four", b"five"]
    sealed, tags = ours.encrypt_many(nonces, texts, aads)
    assert all(type(part) is bytes for part in sealed + tags)
    assert [text + tag for text, tag in zip(sealed, tags)] == [
        theirs.encrypt(*its) for its in zip(nonces, texts, aads)]
    assert ours.decrypt_many(nonces, sealed, tags, aads) == texts
    assert ours.decrypt_many(b"".join(nonces), sealed, b"".join(tags), tuple(aads)) == texts


def test_many_with_one_aad_into_given_memory(context):
    ours, theirs = pair("ChaCha20Poly1305", 32, context)
    texts = [bytearray(os.urandom(64)) for _ in range(10)]
    copies = [bytes(text) for text in texts]
    nonces = os.urandom(120)
    tags = bytearray(160)
    sealed, given = ours.encrypt_many(nonces, texts, b"all", out=texts, tags=tags)
    assert sealed is texts and given is tags
    for n in range(10):
        assert texts[n] + tags[16 * n:16 * n + 16] == theirs.encrypt(
            nonces[12 * n:12 * n + 12], copies[n], b"all")
    assert ours.decrypt_many(nonces, texts, tags, b"all", out=texts) is texts
    assert [bytes(text) for text in texts] == copies


def test_none_at_all(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    assert ours.encrypt_many([], []) == ([], [])
    assert ours.decrypt_many([], [], []) == []


def test_some_wrong_tags(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    texts = [b"\x55" * 50 for _ in range(8)]
    nonces = [bytes([n]) * 12 for n in range(8)]
    sealed, tags = ours.encrypt_many(nonces, texts)
    tags[2] = bytes(16)
    sealed[5] = bytes(50)
    out = [bytearray(b"\xaa" * 50) for _ in range(8)]
    with pytest.raises(exceptions.InvalidTag) as caught:
        ours.decrypt_many(nonces, sealed, tags, out=out)
    assert caught.value.failed == (2, 5)
    for n in range(8):
        assert out[n] == (bytes(50) if n in (2, 5) else texts[n])


def test_the_text_of_the_error_has_the_messages(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    nonces = [n.to_bytes(12, "big") for n in range(40)]
    sealed, tags = ours.encrypt_many(nonces, [b"text"] * 40)
    layout = lanecrypt.Segments(10)
    text = bytearray(ours.encrypt_segments(layout, bytes(8), bytes(100)))
    text[26 * 3] ^= 1
    wrong = [bytes(16)] * 40
    for call, expected in [
        (lambda: ours.decrypt_many(nonces, sealed, tags[:3] + wrong[:1] + tags[4:]), "message 3"),
        (lambda: ours.decrypt_many(nonces[:1], sealed[:1], wrong[:1]), "message 0"),
        (lambda: ours.decrypt_many(nonces, sealed, wrong[:1] + tags[1:39] + wrong[:1]), "messages 0, 39"),
        (lambda: ours.submit_decrypt_many(nonces, sealed, wrong[:1] + tags[1:39] + wrong[:1]).result(),
         "messages 0, 39"),
        (lambda: ours.decrypt_many(nonces, sealed, wrong),
         f"messages {', '.join(map(str, range(20)))}, ... (40 in all)"),
        (lambda: ours.decrypt_segments(layout, bytes(8), text), "message 3"),
        (lambda: ours.decrypt_segments(layout, bytes(8), text[:26 * 5 + 3]), "message 5"),
    ]:
        with pytest.raises(exceptions.InvalidTag) as caught:
            call()
        assert str(caught.value) == f"wrong tag: {expected}"
    # A call with a single message has pyca's error text.
    for call in (lambda: ours.decrypt(nonces[0], bytes(20)), lambda: ours.decrypt(nonces[0], bytes(3)),
                 lambda: ours.submit_decrypt(nonces[0], bytes(20)).result(),
                 lambda: ours.decrypt_into(nonces[0], bytes(20), None, bytearray(4))):
        with pytest.raises(exceptions.InvalidTag) as caught:
            call()
        assert str(caught.value) == "" and caught.value.failed == (0,)


@pytest.mark.parametrize("call", [
    lambda ours: ours.encrypt_many([bytes(12)], [b"a", b"b"]),
    lambda ours: ours.encrypt_many([bytes(12), bytes(11)], [b"a", b"b"]),
    lambda ours: ours.encrypt_many(bytes(range(25)), [b"a", b"b"]),
    lambda ours: ours.encrypt_many(bytes(range(24)), [b"a", b"b"], [b"x"]),
    lambda ours: ours.encrypt_many(bytes(range(24)), [b"a", b"b"], out=[bytearray(1)]),
    lambda ours: ours.encrypt_many(bytes(range(24)), [b"a", b"b"], out=[bytearray(1), bytearray(2)]),
    lambda ours: ours.encrypt_many(bytes(range(24)), [b"a", b"b"], tags=bytearray(31)),
    lambda ours: ours.decrypt_many(bytes(24), [b"a", b"b"], [bytes(16)]),
    lambda ours: ours.decrypt_many(bytes(24), [b"a", b"b"], [bytes(16), bytes(15)]),
    lambda ours: ours.decrypt_many(bytes(24), [b"a", b"b"], bytes(33)),
    lambda ours: ours.encrypt_many(bytes(12), b"text"),
])
def test_many_of_wrong_sizes(cpu, call):
    with pytest.raises(ValueError):
        call(lanecrypt.AESGCM(KEY, context=cpu))


# ---- The other ciphers ----


@pytest.mark.parametrize("name", ["sm4-gcm", "sm4-ccm", "aria-gcm", "aria-ccm", "aes-gcm"])
def test_other_ciphers_agree_on_both(host, cpu, name):
    key = KEY[:16]
    on_host = lanecrypt.AEAD(name, key, context=host)
    on_cpu = lanecrypt.AEAD(name, key, context=cpu)
    sealed = on_host.encrypt(NONCE, b"text" * 100, b"data")
    assert sealed == on_cpu.encrypt(NONCE, b"text" * 100, b"data")
    assert on_cpu.decrypt(NONCE, sealed, b"data") == b"text" * 100


def test_rfc_8998_sm4_gcm(context):
    """RFC 8998, appendix A.1."""
    aead = lanecrypt.AEAD("sm4-gcm", bytes.fromhex("0123456789ABCDEFFEDCBA9876543210"),
                          context=context)
    text = b"".join(bytes([value]) * 8 for value in (0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0xEE,
                                                     0xAA))
    sealed = aead.encrypt(bytes.fromhex("00001234567800000000ABCD"), text,
                          bytes.fromhex("FEEDFACEDEADBEEFFEEDFACEDEADBEEFABADDAD2"))
    assert sealed[64:] == bytes.fromhex("83DE3541E4C2B58177E065A9BF7B62EC")


@pytest.mark.parametrize("name", ["", "aes", "aes-ctr", "chacha20", "AES-GCM", None])
def test_unknown_names(name):
    with pytest.raises((ValueError, TypeError)):
        lanecrypt.AEAD(name, KEY)


# ---- Keys ----


class Provider(lanecrypt.KeyProvider):
    def __init__(self, key):
        self.key = key
        self.asked = 0

    def get_key(self):
        self.asked += 1
        return self.key


def test_key_providers(context, tmp_path):
    provider = Provider(bytearray(KEY))
    ours = lanecrypt.AESGCM(provider, context=context)
    assert provider.asked == 1 and provider.key == bytes(32)
    (tmp_path / "key").write_bytes(KEY)
    file = pickle.loads(pickle.dumps(lanecrypt.KeyFile(tmp_path / "key")))
    assert ours.encrypt(NONCE, b"text", None) == lanecrypt.AESGCM(
        file, context=context).encrypt(NONCE, b"text", None)
    assert KEY.hex() not in repr(file)


def test_what_a_provider_may_give(tmp_path):
    with pytest.raises(TypeError):
        lanecrypt.AESGCM(Provider("text"))
    with pytest.raises(TypeError):
        lanecrypt.KeyProvider()
    with pytest.raises(FileNotFoundError):
        lanecrypt.AESGCM(lanecrypt.KeyFile(tmp_path / "none"))
    (tmp_path / "long").write_bytes(bytes(70_000))
    with pytest.raises(ValueError, match="too long"):
        lanecrypt.AESGCM(lanecrypt.KeyFile(tmp_path / "long"))


def test_what_file_a_key_may_be(tmp_path, monkeypatch):
    path, most = tmp_path / "key", lanecrypt.KeyFile.MOST_BYTES
    path.write_bytes(b"k" * most)
    assert lanecrypt.KeyFile(path).get_key() == b"k" * most
    os.mkfifo(tmp_path / "pipe")
    for wrong in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(ValueError, match="regular"):
            lanecrypt.KeyFile(wrong).get_key()
    with pytest.raises((ValueError, IsADirectoryError)):
        lanecrypt.KeyFile(tmp_path).get_key()
    # A file that grows after its size was read.
    before = os.stat(path)
    path.write_bytes(b"k" * (most + 1))
    monkeypatch.setattr(os, "fstat", lambda descriptor: before)
    with pytest.raises(ValueError, match="too long"):
        lanecrypt.KeyFile(path).get_key()


def test_keys_stay_inside(cpu):
    ours = lanecrypt.AESGCM(KEY, context=cpu)
    for holder in (ours, ours._key, cpu):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(holder)
        assert KEY.hex() not in repr(holder) and repr(KEY)[2:-1] not in repr(holder)
    assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize("digits", [KEY.hex(), KEY.hex().upper(), KEY.hex() + "\n", f"  {KEY.hex()}\r\n"])
def test_files_of_hex(tmp_path, digits):
    path = tmp_path / "key"
    path.write_text(digits)
    for encoding in (None, "hex"):
        file = lanecrypt.KeyFile(path, encoding=encoding)
        assert type(file.get_key()) is bytearray and file.get_key() == KEY
        assert lanecrypt.AESGCM(file).encrypt(NONCE, b"", None) == pyca.AESGCM(KEY).encrypt(NONCE, b"", None)
    assert lanecrypt.KeyFile(path, encoding="raw").get_key() == path.read_bytes()


def test_files_that_are_no_hex(tmp_path):
    path = tmp_path / "key"
    for content in (KEY, KEY + b"\n", b"0" * 31, b"0" * 34, b"g" * 64, b"00" * 31 + b" 0", b"", b" " * 64,
                    KEY.hex(" ").encode(), b"\xff" * 64, "\u0661".encode() * 32):
        path.write_bytes(content)
        assert lanecrypt.KeyFile(path).get_key() == content
    for content in (b"0" * 63, b"g" * 64, b"", KEY):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"has {len(content)} bytes, which are not an even number") as caught:
            lanecrypt.KeyFile(path, encoding="hex").get_key()
        assert str(path) in str(caught.value)
    path.write_bytes(b"0" * 34)
    assert lanecrypt.KeyFile(path, encoding="hex").get_key() == bytes(17)
    with pytest.raises(ValueError, match="encoding"):
        lanecrypt.KeyFile(path, encoding="base64")


def test_files_of_wrong_lengths_are_told(tmp_path):
    path = tmp_path / "key"
    for count in (0, 15, 17, 33, 65, 100):
        path.write_bytes(b"\xaa" * count)
        for make in (lanecrypt.AESGCM, lanecrypt.AESCCM, lanecrypt.ChaCha20Poly1305,
                     lambda key: lanecrypt.AEAD("aria-gcm", key), lambda key: lanecrypt.AEAD("sm4-gcm", key),
                     lambda key: lanecrypt.Cipher("aes-ctr", key), lambda key: lanecrypt.Cipher("aes-xts", key)):
            with pytest.raises(ValueError, match=rf"KeyFile\('{path}'\) has {count} bytes") as caught:
                make(lanecrypt.KeyFile(path))
            if count in (17, 33, 65) and "newline" not in str(caught.value):
                assert make is not lanecrypt.AESGCM or count == 65
            assert "\xaa" not in str(caught.value) and "aaaa" not in str(caught.value)


def test_what_has_a_key_file_can_be_pickled(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(KEY)
    file = lanecrypt.KeyFile(path)

    for made in (lanecrypt.AESGCM(file), lanecrypt.AESCCM(file, 8), lanecrypt.ChaCha20Poly1305(file),
                 lanecrypt.AEAD("aria-ccm", file, 6), Mine(file)):
        sealed = made.encrypt(NONCE, b"text", b"aad")
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            pickled = pickle.dumps(made, protocol)
            again = pickle.loads(pickled)
            assert type(again) is type(made) and again.encrypt(NONCE, b"text", b"aad") == sealed
            assert KEY not in pickled and KEY[:8] not in pickled
            assert pickle.loads(pickle.dumps(again)).decrypt(NONCE, sealed, b"aad") == b"text"
        for copied in (copy.copy(made), copy.deepcopy(made)):
            assert copied.decrypt(NONCE, sealed, b"aad") == b"text"
    assert pickle.loads(pickle.dumps(Mine(file))).name == "mine"
    xts = lanecrypt.Cipher("aes-xts", file, data_unit_bytes=16)
    assert pickle.loads(pickle.dumps(xts)).encrypt(bytes(16), bytes(64)) == xts.encrypt(bytes(16), bytes(64))
    # Unpickling reads the key that is in the file then.
    pickled = pickle.dumps(lanecrypt.AESGCM(file))
    path.write_bytes(KEY[::-1])
    assert pickle.loads(pickled).encrypt(NONCE, b"", None) == pyca.AESGCM(KEY[::-1]).encrypt(NONCE, b"", None)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)


class Mine(lanecrypt.AESGCM):
    def __init__(self, key):
        super().__init__(key)
        self.name = "mine"


def test_raw_keys_are_never_pickled(cpu, tmp_path):
    (tmp_path / "key").write_bytes(KEY)
    for holder in (lanecrypt.AESGCM(KEY), lanecrypt.AESGCM(Provider(KEY)), lanecrypt.Cipher("aes-ctr", KEY),
                   lanecrypt.AESGCM(lanecrypt.KeyFile(tmp_path / "key"), context=cpu)):
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="pickled"):
                copied(holder)


def test_a_key_given_as_bytearray_may_change_later(cpu):
    key = bytearray(KEY)
    ours = lanecrypt.AESGCM(key, context=cpu)
    before = ours.encrypt(NONCE, b"text", None)
    key[:] = bytes(32)
    assert ours.encrypt(NONCE, b"text", None) == before
