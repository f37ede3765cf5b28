# SPDX-License-Identifier: Apache-2.0
"""Random messages, compared with pyca/cryptography."""

import pytest

import lanecrypt
from cryptography import exceptions
from cryptography.hazmat.primitives.ciphers import aead as pyca
from conftest import emulator
from test_cipher import KEY, STREAMS, by_pyca, iv_of

hypothesis = pytest.importorskip("hypothesis")
given, strategies = hypothesis.given, hypothesis.strategies

CONTEXTS = {}


def context(name):
    if name not in CONTEXTS:
        CONTEXTS[name] = emulator() if name == "host" else lanecrypt.Context(devices="none")
    return CONTEXTS[name]


@pytest.fixture(scope="module", autouse=True)
def closed_at_the_end():
    yield
    for one in CONTEXTS.values():
        one.close()
    CONTEXTS.clear()


places = strategies.sampled_from(["host", "none"])
texts = strategies.binary(max_size=3000)


@given(places, strategies.sampled_from([16, 24, 32]), strategies.binary(min_size=8, max_size=64),
       texts, strategies.none() | strategies.binary(max_size=200))
def test_gcm(place, key_bytes, nonce, text, aad):
    ours = lanecrypt.AESGCM(KEY[:key_bytes], context=context(place))
    sealed = ours.encrypt(nonce, text, aad)
    assert sealed == pyca.AESGCM(KEY[:key_bytes]).encrypt(nonce, text, aad)
    assert ours.decrypt(nonce, sealed, aad) == text


@given(places, strategies.sampled_from([4, 8, 16]), strategies.binary(min_size=7, max_size=13),
       texts, strategies.binary(max_size=200))
def test_ccm(place, tag_length, nonce, text, aad):
    ours = lanecrypt.AESCCM(KEY[:16], tag_length, context=context(place))
    sealed = ours.encrypt(nonce, text, aad)
    assert sealed == pyca.AESCCM(KEY[:16], tag_length).encrypt(nonce, text, aad)
    assert ours.decrypt(nonce, sealed, aad) == text


@given(places, strategies.lists(strategies.tuples(
    strategies.binary(min_size=12, max_size=12), texts, strategies.binary(max_size=50)),
    max_size=20, unique_by=lambda message: message[0]))  # no nonce twice under the key
def test_many(place, messages):
    ours = lanecrypt.ChaCha20Poly1305(KEY[:32], context=context(place))
    nonces, data, aads = ([message[n] for message in messages] for n in range(3))
    out, tags = ours.encrypt_many(nonces, data, aads)
    assert [part + tag for part, tag in zip(out, tags)] == [
        pyca.ChaCha20Poly1305(KEY[:32]).encrypt(*message) for message in messages]
    assert ours.decrypt_many(nonces, out, tags, aads) == data


@given(places, texts, strategies.binary(max_size=20), strategies.data())
def test_any_flipped_bit_is_found(place, text, aad, data):
    ours = lanecrypt.AESGCM(KEY[:32], context=context(place))
    sealed = bytearray(ours.encrypt(bytes(12), text, aad))
    bit = data.draw(strategies.integers(0, 8 * len(sealed) - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    out = bytearray(b"\xaa" * len(text))
    with pytest.raises(exceptions.InvalidTag):
        ours.decrypt_into(bytes(12), sealed, aad, out)
    assert out == bytes(len(text))


@given(places, strategies.sampled_from(STREAMS), strategies.integers(0, 100),
       strategies.lists(strategies.integers(0, 300), max_size=8), strategies.booleans())
def test_pieces(place, cipher, blocks, cuts, encrypts):
    name, key_bytes = cipher
    ours = lanecrypt.Cipher(name, KEY[:key_bytes], context=context(place))
    text = bytes(n * 7 % 251 for n in range(16 * blocks))
    sealed = by_pyca(name, key_bytes, text)
    stream = (ours.encryptor if encrypts else ours.decryptor)(iv_of(name))
    given_text, expected = (text, sealed) if encrypts else (sealed, text)
    at, got = 0, b""
    for cut in cuts:
        got += stream.update(given_text[at:at + cut])
        at = min(at + cut, len(given_text))
    assert got + stream.update(given_text[at:]) == expected
    stream.finalize()
