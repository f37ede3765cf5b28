# SPDX-License-Identifier: Apache-2.0
"""The modes without authentication, at once and in pieces, and keystream."""

import os
import pickle

import pytest

import lanecrypt
from cryptography.hazmat.primitives.ciphers import Cipher as Pyca
from cryptography.hazmat.primitives.ciphers import algorithms, modes
from conftest import on_device

try:
    from cryptography.hazmat.decrepit.ciphers.modes import CFB, CFB8, OFB
    from cryptography.hazmat.decrepit.ciphers.algorithms import Camellia
except ImportError:
    from cryptography.hazmat.primitives.ciphers.modes import CFB, CFB8, OFB
    from cryptography.hazmat.primitives.ciphers.algorithms import Camellia

KEY = bytes(range(64))
IV = bytes(range(0xF8, 0x100)) + bytes([255] * 8)

ALGORITHMS = {"aes": algorithms.AES, "sm4": algorithms.SM4, "camellia": Camellia}
MODES = {"ecb": lambda iv: modes.ECB(), "cbc": modes.CBC, "ctr": modes.CTR, "cfb": CFB,
         "cfb8": CFB8, "ofb": OFB}
STREAMS = [("aes-ecb", 16), ("aes-cbc", 32), ("aes-ctr", 24), ("aes-cfb", 16),
           ("aes-ofb", 32), ("sm4-ecb", 16), ("sm4-cbc", 16), ("sm4-ctr", 16), ("sm4-cfb", 16),
           ("sm4-ofb", 16), ("camellia-cbc", 16), ("camellia-ofb", 32), ("chacha20", 32)]
WHOLE = ("ecb", "cbc")


def pycas(name, key_bytes, iv):
    algorithm, _, mode = name.partition("-")
    if name == "chacha20":
        return Pyca(algorithms.ChaCha20(KEY[:32], iv), None)
    return Pyca(ALGORITHMS[algorithm](KEY[:key_bytes]), MODES[mode](iv))


def iv_of(name):
    return None if name.endswith("ecb") else IV if name != "chacha20" else bytes(4) + IV[:12]


def by_pyca(name, key_bytes, text):
    encryptor = pycas(name, key_bytes, iv_of(name)).encryptor()
    return encryptor.update(text) + encryptor.finalize()


@pytest.mark.parametrize("name, key_bytes", STREAMS)
@pytest.mark.parametrize("blocks", [0, 1, 3, 300])
def test_as_pyca(context, name, key_bytes, blocks):
    ours = lanecrypt.Cipher(name, KEY[:key_bytes], context=context)
    text = os.urandom(16 * blocks + (0 if name.endswith(WHOLE) or not blocks else 5))
    sealed = ours.encrypt(iv_of(name), text)
    assert type(sealed) is bytes and sealed == by_pyca(name, key_bytes, text)
    assert ours.decrypt(iv_of(name), sealed) == text
    memory = bytearray(text)
    assert ours.encrypt(iv_of(name), memory, out=memory) is memory and memory == sealed
    assert ours.submit_decrypt(iv_of(name), memory, out=memory).result() == text


@pytest.mark.parametrize("name, key_bytes", STREAMS)
@pytest.mark.parametrize("cuts", [(1,), (16,), (15, 16, 17), (5, 5, 5, 100), (64, 1, 63, 32),
                                  (0, 3, 0), (48,)])
def test_pieces(context, name, key_bytes, cuts):
    ours = lanecrypt.Cipher(name, KEY[:key_bytes], context=context)
    text = os.urandom(512)
    sealed = by_pyca(name, key_bytes, text)
    for stream, given, expected in ((ours.encryptor(iv_of(name)), text, sealed),
                                    (ours.decryptor(iv_of(name)), sealed, text)):
        at, got = 0, b""
        for cut in cuts:
            got += stream.update(given[at:at + cut])
            at += cut
            assert got == expected[:len(got)]
            assert len(got) == (at // 16 * 16 if name.endswith(WHOLE) else at)
        got += stream.update(given[at:])
        assert got == expected and stream.finalize() == b""
        for call in (stream.finalize, lambda: stream.update(b"")):
            with pytest.raises(ValueError, match="ended"):
                call()


@pytest.mark.parametrize("name, key_bytes", STREAMS)
def test_pieces_in_place_and_on_a_device(host, work, name, key_bytes):
    ours = lanecrypt.Cipher(name, KEY[:key_bytes], context=host)
    text = os.urandom(512)
    sealed = by_pyca(name, key_bytes, text)
    for make, given, expected in ((ours.encryptor, text, sealed), (ours.decryptor, sealed, text)):
        memory, stream = bytearray(given), make(iv_of(name))
        for begin, end in ((0, 64), (64, 192), (192, 512)):
            part = memoryview(memory)[begin:end]
            assert stream.update_into(part, part) == end - begin
        assert memory == expected
        cuts = (0, 64, 192, 512) if name.endswith(WHOLE) else (0, 10, 75, 192, 512)
        stream, got = make(iv_of(name)), b""
        for begin, end in zip(cuts, cuts[1:]):
            got += stream.update(on_device(host, given[begin:end])).to_bytes()
        assert got == expected
    assert work.of("cpu") == 0


def test_a_rest(context):
    stream = lanecrypt.Cipher("aes-cbc", KEY[:16], context=context).encryptor(IV)
    assert stream.update(b"x" * 17) != b"" and stream.update(b"") == b""
    with pytest.raises(ValueError, match="2 are left|1 are left"):
        stream.finalize()
    with pytest.raises(ValueError, match="at least 16"):
        other = lanecrypt.Cipher("aes-cbc", KEY[:16], context=context).encryptor(IV)
        other.update_into(bytes(20), bytearray(15))


def test_the_counter_of_chacha20_ends(context):
    """No keystream is made past the counter's end, where OpenSSL would carry into the nonce."""
    ours = lanecrypt.Cipher("chacha20", KEY[:32], context=context)
    last, left = b"\xfe" + b"\xff" * 3 + IV[:12], 128  # two blocks
    sealed = pycas("chacha20", 32, last).encryptor().update(bytes(left))
    assert ours.encrypt(last, bytes(left)) == ours.decrypt(last, bytes(left)) == sealed
    assert ours.encrypt_many([last, IV], [bytes(left), bytes(left + 1)])[0] == sealed
    out = bytearray(b"?" * (left + 1))
    for call in (lambda: ours.encrypt(last, bytes(left + 1), out=out),
                 lambda: ours.decrypt(last, bytes(left + 1), out=out),
                 lambda: ours.submit_encrypt(last, bytes(left + 1), out=out),
                 lambda: ours.encrypt_many([IV, last], [b"", bytes(left + 1)],
                                           out=[bytearray(), out]),
                 lambda: ours.decrypt_many(IV + last, memoryview(bytes(2 * left + 2)).cast(
                     "B", (2, left + 1)), out=memoryview(out * 2).cast("B", (2, left + 1)))):
        with pytest.raises(ValueError, match="counter"):
            call()
    for make in (ours.encryptor, ours.decryptor):
        for before in (0, 1, 63, 64, 65, left):
            stream = make(last)
            assert stream.update(bytes(before)) == sealed[:before]
            with pytest.raises(ValueError, match="counter"):
                stream.update_into(bytes(left + 1 - before), out)
        for cut in (0, 1, 64, left):
            stream = make(last)
            assert stream.update(bytes(cut)) + stream.update(bytes(left - cut)) == sealed
            assert stream.update(b"") == b""
            with pytest.raises(ValueError, match="counter"):
                stream.update_into(b"x", out)
    assert out == b"?" * (left + 1)


def test_the_counter_of_ctr_wraps(context):
    """All 128 bits count (SP 800-38A, B.1). Only after 2^128 blocks would a counter value
    repeat."""
    ours, last = lanecrypt.Cipher("aes-ctr", KEY[:16], context=context), b"\xff" * 16
    expected = Pyca(algorithms.AES(KEY[:16]), modes.CTR(last)).encryptor().update(bytes(100))
    stream = ours.encryptor(last)
    assert ours.encrypt(last, bytes(100)) == expected
    assert stream.update(bytes(16)) + stream.update(bytes(84)) == expected


@pytest.mark.parametrize("name", ["aes-xts", "sm4-xts", "sm4-xts-gb"])
def test_xts(host, cpu, name):
    key = os.urandom(32)
    text = os.urandom(512 * 5 + 100)
    for unit in (0, 512):
        sealed = [lanecrypt.Cipher(name, key, data_unit_bytes=unit, context=context).encrypt(
            bytes(16), text) for context in (host, cpu)]
        assert sealed[0] == sealed[1]
    units = [lanecrypt.Cipher(name, key, context=host).encrypt(
        n.to_bytes(16, "little"), text[512 * n:512 * n + 512]) for n in range(6)]
    assert b"".join(units) == sealed[0]
    if name == "aes-xts":
        encryptor = Pyca(algorithms.AES(key), modes.XTS(bytes(16))).encryptor()
        assert encryptor.update(text[:512]) == sealed[0][:512]
    with pytest.raises(ValueError, match="pieces"):
        lanecrypt.Cipher(name, key).encryptor(bytes(16))


@pytest.mark.parametrize("name", ["aes-cbc-cs1", "aes-cbc-cs2", "aes-cbc-cs3",
                                  "camellia-ecb", "aria-ecb", "aria-cbc", "aria-ctr", "aria-cfb",
                                  "aria-ofb", "camellia-ctr", "camellia-cfb"])
def test_the_rest_agree_on_both(host, cpu, name):
    ciphers = [lanecrypt.Cipher(name, KEY[:16], context=context) for context in (host, cpu)]
    iv = None if name.endswith("ecb") else IV
    text = os.urandom(160)
    sealed = [cipher.encrypt(iv, text) for cipher in ciphers]
    assert sealed[0] == sealed[1] != text
    assert [cipher.decrypt(iv, sealed[0]) for cipher in ciphers] == [text, text]


@pytest.mark.parametrize("name", ["aes-cfb8", "aes-cfb1"])
def test_cfb8_and_cfb1_are_for_the_cpu(host, name):
    text = os.urandom(300)
    with lanecrypt.Context(devices="host", threshold_bytes=0) as context:
        ours = lanecrypt.Cipher(name, KEY[:16], context=context)
        sealed = ours.encrypt(IV, text)
        if name == "aes-cfb8":
            assert sealed == by_pyca(name, 16, text)
        assert ours.decrypt(IV, sealed) == text
        for stream, given, expected in ((ours.encryptor(IV), text, sealed),
                                        (ours.decryptor(IV), sealed, text)):
            got = b"".join(stream.update(given[at:at + 7]) for at in range(0, len(given), 7))
            assert got + stream.finalize() == expected
        assert context.counters()["host:0"].jobs == 0
    with pytest.raises(lanecrypt.UnsupportedError, match="does no AES-128-CFB"):
        lanecrypt.Cipher(name, KEY[:16], context=host).encrypt(IV, text)


def test_many(context):
    ours = lanecrypt.Cipher("aes-ctr", KEY[:16], context=context)
    texts = [os.urandom(n) for n in (0, 1, 100)]
    ivs = [os.urandom(16) for _ in texts]
    sealed = ours.encrypt_many(ivs, texts)
    assert sealed == [ours.encrypt(*each) for each in zip(ivs, texts)]
    assert ours.decrypt_many(b"".join(ivs), sealed) == texts
    ecb = lanecrypt.Cipher("aes-ecb", KEY[:16], context=context)
    assert ecb.encrypt_many(None, [bytes(16)] * 2) == [ecb.encrypt(None, bytes(16))] * 2


def test_many_rows(context):
    numpy = pytest.importorskip("numpy")
    ours = lanecrypt.Cipher("aes-cbc", KEY[:16], context=context)
    rows = numpy.arange(64, dtype="<u4").reshape(4, 16)
    ivs = numpy.arange(64, dtype="u1").reshape(4, 16)
    sealed = ours.encrypt_many(ivs, rows)
    assert sealed.dtype == rows.dtype and sealed.shape == rows.shape
    for n in range(4):
        assert sealed[n].tobytes() == ours.encrypt(ivs[n], rows[n].tobytes())
    assert (ours.decrypt_many(list(ivs), sealed, out=sealed) == rows).all()


@pytest.mark.parametrize("call", [
    lambda make: make("aes-ctr", bytes(15)), lambda make: make("sm4-ctr", bytes(32)),
    lambda make: make("chacha20", bytes(16)), lambda make: make("aes-xts", bytes(48)),
    lambda make: make("aes-gcm", bytes(16)), lambda make: make("none", bytes(16)),
    lambda make: make("aes-ctr", bytes(16), data_unit_bytes=512),
    lambda make: make("aes-xts", bytes(range(32)), data_unit_bytes=15).encrypt(bytes(16), bytes(64)),
    lambda make: make("aes-xts", bytes(32)).encrypt(bytes(16), bytes(16)),
    lambda make: make("aes-xts", bytes(range(32))).encrypt(bytes(16), bytes(15)),
    lambda make: make("aes-ctr", bytes(16)).encrypt(bytes(15), b""),
    lambda make: make("aes-ctr", bytes(16)).encrypt(None, b""),
    lambda make: make("aes-ecb", bytes(16)).encrypt(bytes(16), b""),
    lambda make: make("aes-cbc", bytes(16)).encrypt(bytes(16), bytes(15)),
    lambda make: make("aes-ctr", bytes(16)).encrypt(bytes(16), bytes(15), out=bytearray(16)),
    lambda make: make("aes-ctr", bytes(16)).encryptor(bytes(12)),
    lambda make: make("aes-ecb", bytes(16)).encryptor(bytes(16)),
])
def test_wrong_arguments(cpu, call):
    with pytest.raises(ValueError):
        call(lambda *arguments, **words: lanecrypt.Cipher(*arguments, context=cpu, **words))


def test_ivs_lie_in_host_memory(host):
    ours, iv = lanecrypt.Cipher("aes-ctr", KEY[:16], context=host), on_device(host, IV)
    for call in (lambda: ours.encrypt(iv, b"text"), lambda: ours.encryptor(iv),
                 lambda: ours.encrypt_many([iv], [b"text"]),
                 lambda: ours.encrypt_many(iv, [b"text"])):
        with pytest.raises(ValueError, match="IVs .* host memory"):
            call()


def test_keys_stay_inside(cpu):
    ours = lanecrypt.Cipher("aes-ctr", KEY[:16], context=cpu)
    for holder in (ours, ours.encryptor(IV)):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(holder)
        assert KEY[:16].hex() not in repr(holder)


# ---- Keystream ----


@pytest.mark.parametrize("cipher", ["chacha20", "aes-ctr"])
def test_keystream(context, cipher):
    key, nonce = KEY[:32], IV[:12]
    if cipher == "chacha20":
        expected = by_cipher(algorithms.ChaCha20(key, bytes(4) + nonce), None)
    else:
        expected = by_cipher(algorithms.AES(key), modes.CTR(nonce + bytes(4)))
    for nbytes in (0, 1, 64, 1000):
        got = lanecrypt.keystream(key, nonce, nbytes, cipher=cipher, context=context)
        assert type(got) is bytes and got == expected[:nbytes]
    assert lanecrypt.keystream(key, nonce, 100, cipher=cipher, offset=128,
                               context=context) == expected[128:228]
    memory = bytearray(b"\xff" * 1000)
    assert lanecrypt.keystream(key, nonce, out=memory, cipher=cipher, context=context) is memory
    assert memory == expected[:1000]


def by_cipher(algorithm, mode):
    return Pyca(algorithm, mode).encryptor().update(bytes(4096))


def test_keystream_in_arrays(host, cpu):
    numpy = pytest.importorskip("numpy")
    expected = lanecrypt.keystream(KEY[:32], IV[:12], 480, context=cpu)
    array = numpy.ones((3, 20), "<f8")
    assert lanecrypt.keystream(KEY[:32], IV[:12], out=array, context=host) is array
    assert array.tobytes() == expected
    memory = on_device(host, b"\xff" * 480)
    lanecrypt.keystream(KEY[:32], IV[:12], out=memory, context=host)
    assert memory.to_bytes() == expected


@pytest.mark.parametrize("words", [
    {}, {"nbytes": 5, "out": bytearray(5)}, {"nbytes": -1}, {"nbytes": 5, "offset": 1},
    {"nbytes": 5, "offset": -64}, {"nbytes": 5, "offset": 64 << 32}, {"out": bytes(5)},
    {"nbytes": 5, "cipher": "aes-gcm"}, {"nbytes": 5, "nonce": bytes(16)},
    {"nbytes": 5, "key": bytes(16)},
])
def test_wrong_arguments_of_keystream(cpu, words):
    with pytest.raises((ValueError, TypeError)):
        lanecrypt.keystream(**{"key": KEY[:32], "nonce": IV[:12], "context": cpu, **words})
