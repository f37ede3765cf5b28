# SPDX-License-Identifier: Apache-2.0
"""Overlapping buffers of one call, and equal nonces in one call, are refused."""

from __future__ import annotations

import hashlib
import os

import lanecrypt
import pytest

numpy = pytest.importorskip("numpy")

KEY = bytes(range(32))


@pytest.fixture(params=["host", "cpu"])
def aead(request):
    """The emulator does everything that it is given, or the CPU does everything."""
    options = ({"devices": "host", "fallback": "none", "threshold_bytes": 0}
               if request.param == "host" else {"devices": "none"})
    with lanecrypt.Context(**options) as context:
        yield lanecrypt.ChaCha20Poly1305(KEY, context=context)


def nonces_of(count, start=0):
    return [number.to_bytes(12, "big") for number in range(start, start + count)]


def refused(words="overlap"):
    return pytest.raises(ValueError, match=words)


def test_outputs_that_overlap_other_messages(aead):
    memory = bytearray(os.urandom(4000))
    before = bytes(memory)
    rows = [memoryview(memory)[500 * n:500 * n + 400] for n in range(4)]
    outputs = [memoryview(memory)[500 * n + 500:500 * n + 900] for n in range(4)]
    with refused("the output of message 0 overlaps the input of message 1"):
        aead.encrypt_many(nonces_of(4), rows, out=outputs)
    job = None
    with refused():
        job = aead.submit_encrypt_many(nonces_of(4), rows, out=outputs)
        job.result()
    assert bytes(memory) == before
    with refused("the output of message 2 overlaps the output of message 3"):
        aead.encrypt_many(nonces_of(4), rows, out=[*[memoryview(memory)[2000 + 400 * n:][:400]
                                                     for n in range(3)], memory[0:0] or
                                                   memoryview(memory)[2801:3201]])
    # In place, and in adjacent memory.
    sealed, tags = aead.encrypt_many(nonces_of(4), rows, out=rows)
    assert sealed is rows
    assert bytes(memory) != before
    assert aead.decrypt_many(nonces_of(4), rows, tags, out=rows) is rows
    assert bytes(memory) == before


def test_one_buffer_twice_in_place(aead):
    buffer = bytearray(100)
    with refused("the output of message 0 overlaps the output of message 1"):
        aead.encrypt_many(nonces_of(2), [buffer, buffer], out=[buffer, buffer])
    assert buffer == bytearray(100)


@pytest.mark.parametrize("shift", [1, 99, 100, 350, -100])
def test_rows_of_an_array(aead, shift):
    memory = numpy.zeros(2000, "u1")
    memory[:] = numpy.frombuffer(os.urandom(2000), "u1")
    data = memory[500:1000].reshape(5, 100)
    out = memory[500 + shift:1000 + shift].reshape(5, 100)
    with refused():
        aead.encrypt_many(nonces_of(5), data, out=out)
    with refused():
        aead.decrypt_many(nonces_of(5), data, bytes(80), out=out)


def test_tags_that_overlap(aead):
    memory = numpy.zeros(2000, "u1")
    data, out = memory[:500].reshape(5, 100), memory[500:1000].reshape(5, 100)
    for begin in (420, 499, 920, 999):
        with refused("tag"):
            aead.encrypt_many(nonces_of(5), data, out=out, tags=memory[begin:begin + 80])
    with refused("tag"):
        aead.encrypt_many(nonces_of(5), data, tags=memory[499:579])
    _, tags = aead.encrypt_many(nonces_of(5), data, out=out, tags=memory[1000:1080])
    # Decryption would overwrite tags that are still to be compared.
    with refused("tag"):
        aead.decrypt_many(nonces_of(5), out, tags, out=memory[1040:1540].reshape(5, 100))
    aead.decrypt_many(nonces_of(5), out, tags, out=memory[1080:1580].reshape(5, 100))


def test_associated_data_that_are_overwritten(aead):
    memory = bytearray(1000)
    view = memoryview(memory)
    with refused("additional data"):
        aead.encrypt_many(nonces_of(2), [bytes(100)] * 2, view[:20], out=[view[10:110], view[200:300]])
    with refused("additional data"):
        aead.encrypt_many(nonces_of(2), [bytes(100)] * 2, [view[:20], view[299:310]],
                          out=[view[20:120], view[200:300]])


def test_one_message(aead):
    memory = bytearray(1000)
    view = memoryview(memory)
    with refused():
        aead.encrypt_into(bytes(12), view[5:105], None, view[:116])
    with refused("additional data"):
        aead.encrypt_into(bytes(12), view[200:300], view[110:120], view[:116])
    assert aead.encrypt_into(bytes(12), view[:100], None, view[:116]) == 116
    with refused():
        aead.decrypt_into(bytes(12), view[:116], None, view[1:101])
    assert aead.decrypt_into(bytes(12), view[:116], None, view[:100]) == 100


def test_modes_without_tags():
    with lanecrypt.Context(devices="none") as context:
        cipher = lanecrypt.Cipher("aes-ctr", KEY, context=context)
        memory = bytearray(1000)
        view = memoryview(memory)
        ivs = [bytes([n]) * 16 for n in range(2)]
        with refused():
            cipher.encrypt_many(ivs, [view[:100], view[100:200]], out=[view[150:250], view[300:400]])
        with refused():
            cipher.encrypt_many(ivs, [view[:100], view[100:200]], out=[view[250:350], view[300:400]])


def test_digests():
    with lanecrypt.Context(devices="none") as context:
        memory = numpy.zeros(1000, "u1")
        data = memory[:500].reshape(5, 100)
        for begin in (0, 340, 499):
            with refused("digest"):
                lanecrypt.hash_many("sha256", data, out=memory[begin:begin + 160], context=context)
        out = lanecrypt.hash_many("sha256", data, out=memory[500:660], context=context)
        assert bytes(out[:32]) == hashlib.sha256(bytes(100)).digest()


# ---- Nonces ----


@pytest.mark.parametrize("count", [2, 5, 3000])
@pytest.mark.parametrize("ascends", [True, False])
def test_equal_nonces_in_one_call(aead, count, ascends):
    nonces = nonces_of(count) if ascends else [os.urandom(12) for _ in range(count)]
    data = [b"text %d" % n for n in range(count)]
    aead.encrypt_many(nonces, data)
    nonces[count - 1] = nonces[count // 2 - 1]
    with refused(f"messages {count // 2 - 1} and {count - 1} have the same nonce"):
        aead.encrypt_many(nonces, data)
    with refused("have the same nonce"):
        aead.submit_encrypt_many(nonces, data).result()
    # The rows of an array, with nonces in an array too.
    rows = numpy.ones((count, 8), "u1")
    out, tags = numpy.full((count, 8), 7, "u1"), numpy.full((count, 16), 7, "u1")
    with refused("have the same nonce"):
        aead.encrypt_many(b"".join(nonces), rows, out=out, tags=tags)
    for given in (out, tags):
        assert set(given.reshape(-1).tolist()) <= {0, 7}, "ciphertext of a refused call"


def test_equal_nonces_keep_what_is_in_place(aead):
    rows = numpy.ones((1000, 8), "u1")
    with refused("have the same nonce"):
        aead.encrypt_many([os.urandom(12)] * 1000, rows, out=rows)
    assert (rows == 1).all()


def test_equal_nonces_may_be_decrypted(aead):
    sealed = [aead.encrypt(bytes(12), bytes([n]) * 9) for n in range(3)]
    opened = aead.decrypt_many([bytes(12)] * 3, [text[:-16] for text in sealed],
                               [text[-16:] for text in sealed])
    assert opened == [bytes([n]) * 9 for n in range(3)]
