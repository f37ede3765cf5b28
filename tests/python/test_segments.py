# SPDX-License-Identifier: Apache-2.0
"""One text in segments, compared with pyca segment by segment."""

import os

import pytest

import lanecrypt
from conftest import Work
from cryptography import exceptions
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import aead as pyca
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from lanecrypt import Number, Segments

KEY = bytes(range(32))
PREFIX = b"prefix7"
# Tink's layout, with segments of 1000 bytes of ciphertext after a header of 40 bytes.
TINK = Segments(1000 - 16, first_bytes=1000 - 16 - 40, number=Number(7), last_flag_at=11)
ROWS = Segments(640, tags_inside=False)


def tink_nonce(number, is_last):
    return PREFIX + number.to_bytes(4, "big") + bytes([is_last])


def texts_of(text, segment_bytes, first_bytes):
    """Returns the segments of a text, cut by independent code."""
    parts, at, size = [], 0, first_bytes
    while True:
        parts.append(text[at:at + size])
        at, size = at + size, segment_bytes
        if at >= len(text):
            return parts


def sealed_by_pyca(text, cipher=pyca.AESGCM, aad=b""):
    parts = texts_of(text, TINK.segment_bytes, TINK.first_bytes)
    return b"".join(cipher(KEY).encrypt(tink_nonce(n, n + 1 == len(parts)), part, aad)
                    for n, part in enumerate(parts))


@pytest.mark.parametrize("kind", ["AESGCM", "ChaCha20Poly1305"])
@pytest.mark.parametrize("nbytes", [0, 1, 943, 944, 945, 944 + 984, 944 + 985, 100_000])
def test_tags_inside(context, kind, nbytes):
    text = os.urandom(nbytes)
    ours = getattr(lanecrypt, kind)(KEY, context=context)
    sealed = ours.encrypt_segments(TINK, PREFIX, text, b"file")
    assert sealed == sealed_by_pyca(text, getattr(pyca, kind), b"file")
    assert ours.decrypt_segments(TINK, PREFIX, sealed, b"file") == text


def test_a_file_of_tink(context):
    """The whole of AES256_GCM_HKDF_1MB, by its definition: the header, the key, three segments."""
    main, aad = os.urandom(32), b"associated"
    salt, prefix, text = os.urandom(32), os.urandom(7), os.urandom((2 << 20) + 12345)
    key = HKDF(hashes.SHA256(), 32, salt, aad).derive(main)
    parts = texts_of(text, (1 << 20) - 16, (1 << 20) - 16 - 40)
    expected = b"".join(
        pyca.AESGCM(key).encrypt(prefix + n.to_bytes(4, "big") + bytes([n == len(parts) - 1]),
                                 part, None) for n, part in enumerate(parts))
    layout = Segments((1 << 20) - 16, first_bytes=(1 << 20) - 56, number=Number(7),
                      last_flag_at=11)
    ours = lanecrypt.AESGCM(key, context=context)
    work = Work(context)
    header = bytes([40]) + salt + prefix
    assert header + ours.encrypt_segments(layout, prefix, text) == header + expected
    assert ours.decrypt_segments(layout, prefix, expected) == text
    worker = "host:0" if "host:0" in work.before else "cpu"
    assert work.of(worker) == 2 * len(text)


@pytest.mark.parametrize("kind", ["i8", "u8", "u1"])
def test_layouts_of_numpys_numbers(context, kind):
    """Sums of NumPy's numbers overflow, where Python's int grows."""
    numpy = pytest.importorskip("numpy")
    n = numpy.dtype(kind).type
    layout = Segments(n(64), first_bytes=n(24), number=Number(n(7), n(4), start=n(1)),
                      last_flag_at=n(11), aad_number=Number(n(0), n(4)))
    same = Segments(64, first_bytes=24, number=Number(7, start=1), last_flag_at=11,
                    aad_number=Number(0))
    assert layout == same and repr(layout) == repr(same)
    ours, text = lanecrypt.AESGCM(KEY, context=context), os.urandom(1000)
    sealed = ours.encrypt_segments(layout, PREFIX, text, b"data", first=n(0))
    assert sealed == ours.encrypt_segments(same, PREFIX, text, b"data")
    assert ours.decrypt_segments(layout, PREFIX, sealed, b"data") == text
    assert layout.count(n(100), first=n(0)) == 3 and layout.text_bytes(n(150)) == 102


@pytest.mark.parametrize("cut", [1, 15, 16, 17, 984, 999])
def test_a_text_that_was_cut(context, cut):
    ours = lanecrypt.AESGCM(KEY, context=context)
    sealed = sealed_by_pyca(os.urandom(5000))
    with pytest.raises(exceptions.InvalidTag):
        ours.decrypt_segments(TINK, PREFIX, sealed[:-cut])
    # Only whole segments remain. The last of them is not marked as the last one.
    with pytest.raises(exceptions.InvalidTag):
        ours.decrypt_segments(TINK, PREFIX, sealed[:1960])
    with pytest.raises(exceptions.InvalidTag):
        ours.decrypt_segments(TINK, PREFIX, sealed[:15])
    # The fourth segment begins after a shorter first one, and has no complete tag.
    with pytest.raises(exceptions.InvalidTag) as caught:
        ours.decrypt_segments(TINK, PREFIX, sealed[:960 + 2 * 1000 + 16])
    assert caught.value.failed == (3,)


def test_parts_of_a_text(context):
    ours, text = lanecrypt.AESGCM(KEY, context=context), os.urandom(944 + 5 * 984 + 100)
    cut = 944 + 3 * 984
    sealed = (ours.encrypt_segments(TINK, PREFIX, text[:cut], is_end=False)
              + ours.encrypt_segments(TINK, PREFIX, text[cut:], first=4))
    assert sealed == sealed_by_pyca(text)
    assert ours.decrypt_segments(TINK, PREFIX, sealed[4000 - 40:], first=4) == text[cut:]


def test_numbers_in_the_associated_data(context):
    """Iceberg's AGS1: the nonces are given, and the associated data end with a little-endian
    number."""
    layout = Segments(100, number=None, aad_number=Number(3, byteorder="little"))
    text, nonces = os.urandom(730), os.urandom(12 * 8)
    ours = lanecrypt.AESGCM(KEY, context=context)
    sealed = ours.encrypt_segments(layout, nonces, text, b"ags" + bytes(4))
    assert sealed == b"".join(
        pyca.AESGCM(KEY).encrypt(nonces[12 * n:12 * n + 12], part,
                                 b"ags" + n.to_bytes(4, "little"))
        for n, part in enumerate(texts_of(text, 100, 100)))
    assert ours.decrypt_segments(layout, nonces, sealed, b"ags" + bytes(4)) == text
    with pytest.raises(ValueError, match="nonces"):
        ours.encrypt_segments(layout, nonces[:-1], text)


def test_tags_apart_of_arrays(context):
    numpy = pytest.importorskip("numpy")
    array = numpy.frombuffer(os.urandom(6404), "f4").copy().reshape(1601, 1)
    ours = lanecrypt.AESGCM(KEY, context=context)
    out, tags = ours.encrypt_segments(ROWS, b"12345678", array)
    assert out.shape == array.shape and out.dtype == array.dtype and tags.shape == (11, 16)
    for n, part in enumerate(texts_of(array.tobytes(), 640, 640)):
        whole = pyca.AESGCM(KEY).encrypt(b"12345678" + n.to_bytes(4, "big"), part, None)
        assert out.tobytes()[640 * n:640 * n + 640] + tags[n].tobytes() == whole
    tags[3, 0] ^= 1
    tags[10, 0] ^= 1
    with pytest.raises(exceptions.InvalidTag) as caught:
        ours.decrypt_segments(ROWS, b"12345678", out, tags=tags, out=out)
    assert caught.value.failed == (3, 10)
    got, text = out.tobytes(), array.tobytes()
    assert got[:1920] == text[:1920] and got[2560:6400] == text[2560:6400]
    assert not any(got[1920:2560]) and not any(got[6400:])


def test_what_stays_on_the_device(host, work):
    """Texts, tags and verdicts are in the emulator's memory."""
    text = os.urandom(5 * 640)
    ours = lanecrypt.AESGCM(KEY, context=host)
    memory, verdicts = host.allocate("host:0", len(text)), host.allocate("host:0", 5)
    memory.copy_from(text)
    out, tags = ours.encrypt_segments(ROWS, b"12345678", memory, out=memory)
    assert out is memory and isinstance(tags, lanecrypt.DeviceMemory) and tags.nbytes == 80
    expected = [pyca.AESGCM(KEY).encrypt(b"12345678" + n.to_bytes(4, "big"), part, None)
                for n, part in enumerate(texts_of(text, 640, 640))]
    assert tags.to_bytes() == b"".join(one[-16:] for one in expected)
    tags.copy_from(b"?", 17)
    ours.decrypt_segments(ROWS, b"12345678", out, tags=tags, out=out, verdicts=verdicts)
    assert verdicts.to_bytes() == b"\1\0\1\1\1"
    assert out.to_bytes() == text[:640] + bytes(640) + text[1280:]
    with pytest.raises(exceptions.InvalidTag) as caught:
        memory.copy_from(b"".join(one[:-16] for one in expected))
        ours.decrypt_segments(ROWS, b"12345678", out, tags=tags, out=out)
    assert caught.value.failed == (1,)
    assert work.of("host:0") == 3 * len(text) and work.of("cpu") == 0


def test_tags_inside_on_the_device(host):
    text = os.urandom(9000)
    ours, memory = lanecrypt.AESGCM(KEY, context=host), host.allocate("host:0", 9000)
    memory.copy_from(text)
    sealed = ours.encrypt_segments(TINK, PREFIX, memory)
    assert sealed.to_bytes() == sealed_by_pyca(text)
    assert ours.submit_decrypt_segments(TINK, PREFIX, sealed).result(60).to_bytes() == text
    sealed.copy_from(b"??", 2000)
    with pytest.raises(exceptions.InvalidTag) as caught:
        ours.submit_decrypt_segments(TINK, PREFIX, sealed).result(60)
    assert caught.value.failed == (2,)


@pytest.mark.parametrize("kind", ["AESGCM", "ChaCha20Poly1305"])
def test_associated_data_on_the_device(host, work, kind):
    """The device reads the associated data, with each segment's number in them."""
    layout = Segments(640, aad_number=Number(3, 2), tags_inside=False)
    text, ours = os.urandom(3 * 640), getattr(lanecrypt, kind)(KEY, context=host)
    memory, aad = host.allocate("host:0", len(text)), host.allocate("host:0", 5)
    memory.copy_from(text)
    aad.copy_from(b"aad??")
    out, tags = ours.encrypt_segments(layout, b"12345678", memory, aad)
    whole = [getattr(pyca, kind)(KEY).encrypt(b"12345678" + n.to_bytes(4, "big"), part,
                                              b"aad" + n.to_bytes(2, "big"))
             for n, part in enumerate(texts_of(text, 640, 640))]
    assert out.to_bytes() + tags.to_bytes() == (b"".join(one[:-16] for one in whole)
                                                + b"".join(one[-16:] for one in whole))
    assert ours.decrypt_segments(layout, b"12345678", out, aad, tags=tags).to_bytes() == text
    aad.copy_from(b"x")
    with pytest.raises(exceptions.InvalidTag) as caught:
        ours.decrypt_segments(layout, b"12345678", out, aad, tags=tags)
    assert caught.value.failed == (0, 1, 2)
    assert work.of("host:0") == 3 * len(text) and work.of("cpu") == 0
    with pytest.raises(ValueError, match="on the device of the data"):
        ours.encrypt_segments(layout, b"12345678", text, aad)
    with pytest.raises(lanecrypt.UnsupportedError, match="additional data"):
        ours.encrypt_segments(layout, b"12345678", memory, host.allocate("host:0", 4097))


def test_verdicts_of_rows(host):
    text, nonces = os.urandom(4 * 100), os.urandom(4 * 12)
    ours = lanecrypt.AESGCM(KEY, context=host)
    memory, verdicts = host.allocate("host:0", 100), host.allocate("host:0", 1)
    memory.copy_from(text[:100])
    (out,), tags = ours.encrypt_many([nonces[:12]], [memory])
    assert ours.decrypt_many([nonces[:12]], [out], tags,
                             verdicts=verdicts)[0].to_bytes() == text[:100]
    assert verdicts.to_bytes() == b"\1"
    with pytest.raises(ValueError, match="device"):
        ours.decrypt_many([bytes(12)], [bytes(5)], [bytes(16)], verdicts=bytearray(1))


def test_only_a_card_has_graphs(host):
    """test_cuda.py tests on a GPU what each launch of a graph does."""
    ours, memory = lanecrypt.AESGCM(KEY, context=host), host.allocate("host:0", 1000)
    small = {"tags": host.allocate("host:0", 32), "verdict": host.allocate("host:0", 1)}
    with pytest.raises(ValueError, match="on the card"):
        ours.capture_encrypt_segments(ROWS, bytes(8), bytes(1000), out=bytearray(1000), launches=1,
                                      **small)
    with pytest.raises(ValueError, match="no stream"):
        ours.capture_encrypt_segments(ROWS, bytes(8), memory, out=memory, launches=1, **small)
    with pytest.raises(ValueError, match="tags"):
        ours.capture_encrypt_segments(ROWS, bytes(8), memory, out=memory, launches=1,
                                      verdict=small["verdict"])
    with pytest.raises(ValueError, match="the verdict has 1 bytes, not 1000"):
        ours.capture_encrypt_segments(ROWS, bytes(8), memory, out=memory, launches=1,
                                      tags=small["tags"], verdict=memory)
    with pytest.raises(ValueError, match="no stream"):
        ours.capture_decrypt_segments(ROWS, host.allocate("host:0", 12),
                                      memory, out=memory, tags=small["tags"],
                                      verdicts=host.allocate("host:0", 2))
    with pytest.raises(ValueError, match="takes none"):
        lanecrypt.Cipher("aes-cbc", KEY, context=host).capture_encrypt_segments(
            ROWS, bytes(16), memory, out=memory, launches=1, verdict=small["verdict"])
    cipher = lanecrypt.Cipher("aes-ctr", KEY, context=host)
    with pytest.raises(ValueError, match="no stream"):
        cipher.capture_encrypt_segments(ROWS, bytes(16), memory, out=memory, launches=1,
                                        verdict=small["verdict"])
    with pytest.raises(ValueError, match="16 bytes, not 12"):
        cipher.capture_encrypt_segments(ROWS, bytes(12), memory, out=memory, launches=1,
                                        verdict=small["verdict"])
    with pytest.raises(ValueError, match="the nonce or IV has 16 bytes, not 12"):
        cipher.capture_decrypt_segments(ROWS, host.allocate("host:0", 12), memory, out=memory)
    with pytest.raises(ValueError, match="no stream"):
        cipher.capture_decrypt_segments(ROWS, host.allocate("host:0", 16), memory, out=memory)


def test_no_byte_of_a_nonce_is_made_up(cpu):
    """Missing bytes are not filled in: two users with short prefixes would have the same nonces
    under one key."""
    ours, text = lanecrypt.AESGCM(KEY, context=cpu), bytes(25)
    gap = Segments(10, number=Number(4), last_flag_at=11)
    for layout, right in ((Segments(10), (8, 12, 13)), (TINK, (7, 12)),
                          (gap, (12,)), (Segments(10, number=Number(4, 7), last_flag_at=11), (4, 12)),
                          (Segments(10, number=Number(9, 3), last_flag_at=8), (8, 12)),
                          (Segments(10, number=Number(0)), range(8, 13))):
        for nbytes in range(14):
            nonce = bytes(range(1, nbytes + 1))
            if nbytes in right or nbytes > 12:
                sealed = ours.encrypt_segments(layout, nonce, text)
                assert ours.decrypt_segments(layout, nonce, sealed) == text
                continue
            for call in (ours.encrypt_segments, ours.decrypt_segments):
                with pytest.raises(ValueError, match="nonce|Nonce"):
                    call(layout, nonce, bytes(73))
    with pytest.raises(ValueError, match="8 bytes before its number"):
        ours.encrypt_segments(Segments(10), b"", text)
    with pytest.raises(ValueError, match="whole, in 12 bytes"):
        ours.encrypt_segments(gap, b"abcd", text)


def test_wrong_arguments(cpu):
    ours = lanecrypt.AESGCM(KEY, context=cpu)
    for wrong in (dict(segment_bytes=0), dict(segment_bytes=5, first_bytes=6),
                  dict(segment_bytes=5, number=None, last_flag_at=11)):
        with pytest.raises(ValueError):
            Segments(**wrong)
    for wrong in (dict(nbytes=0), dict(nbytes=9), dict(byteorder="middle"), dict(start=-1)):
        with pytest.raises(ValueError):
            Number(8, **wrong)
    for wrong in (dict(segment_bytes=1.5), dict(segment_bytes=5, number=8),
                  dict(segment_bytes=5, aad_number=0), dict(segment_bytes=5, last_flag_at=1.5)):
        with pytest.raises(TypeError):
            Segments(**wrong)
    with pytest.raises(TypeError):
        Number(8.5)
    with pytest.raises(ValueError, match="fit"):  # a nonce would repeat
        ours.encrypt_segments(Segments(1, number=Number(11, 1)), bytes(12), bytes(257))
    with pytest.raises(ValueError):
        ours.encrypt_segments(Segments(10, number=Number(11, 2)), bytes(12), bytes(20), first=-1)
    with pytest.raises(ValueError, match="tags"):
        ours.decrypt_segments(ROWS, bytes(12), bytes(20))
    with pytest.raises(ValueError, match="tags"):
        ours.encrypt_segments(TINK, PREFIX, bytes(20), tags=bytearray(16))
    with pytest.raises(ValueError, match="out"):
        ours.encrypt_segments(TINK, PREFIX, bytes(20), out=bytearray(20))
    with pytest.raises(TypeError, match="Segments"):
        ours.encrypt_segments(640, PREFIX, bytes(20))
