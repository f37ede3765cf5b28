# SPDX-License-Identifier: Apache-2.0
"""Memory of the emulator, used like arrays on a device."""

import os

import pytest

import lanecrypt
from cryptography import exceptions
from cryptography.hazmat.primitives.ciphers import aead as pyca
from conftest import KEY, NONCE, emulator, on_device, sealed_by_pyca


def test_memory_of_a_device(host, work):
    ours = lanecrypt.AESGCM(KEY, context=host)
    text = os.urandom(1000)
    source = on_device(host, text)
    sealed = ours.encrypt(NONCE, source, b"x")
    assert isinstance(sealed, lanecrypt.DeviceMemory) and sealed.device == "host:0"
    assert sealed.to_bytes() == sealed_by_pyca(text, b"x")
    opened = ours.decrypt(NONCE, sealed, b"x")
    assert opened.to_bytes() == text
    assert work.of("host:0") == 2000 and work.of("cpu") == 0


def test_memory_of_a_device_into(host):
    ours = lanecrypt.ChaCha20Poly1305(KEY, context=host)
    text = os.urandom(500)
    source, sealed = on_device(host, text), host.allocate("host:0", 516)
    assert ours.encrypt_into(NONCE, source, None, sealed) == 516
    assert sealed.to_bytes() == pyca.ChaCha20Poly1305(KEY).encrypt(NONCE, text, None)
    with pytest.raises(ValueError, match="516"):
        ours.encrypt_into(NONCE, source, None, host.allocate("host:0", 517))
    with pytest.raises(ValueError, match="one device"):
        ours.decrypt_into(NONCE, sealed, None, bytearray(500))
    with pytest.raises(ValueError, match="one device"):
        ours.decrypt_into(NONCE, bytes(516), None, source)


@pytest.mark.parametrize("kind", ["AESGCM", "ChaCha20Poly1305"])
def test_from_memory_of_a_device_to_the_hosts(host, work, numpy, kind):
    ours, theirs = getattr(lanecrypt, kind)(KEY, context=host), getattr(pyca, kind)(KEY)
    text = os.urandom(70_000)
    source, sealed = on_device(host, text), bytearray(70_016)
    assert ours.encrypt_into(NONCE, source, b"x", sealed) == 70_016
    assert sealed == theirs.encrypt(NONCE, text, b"x")
    assert source.to_bytes() == text
    # Rows, whose tags are separate from the output.
    rows = numpy.zeros((3, 1000), "u1")
    nonces = bytes(range(36))
    out, tags = ours.encrypt_many([nonces[n:n + 12] for n in (0, 12, 24)],
                                  [on_device(host, text[n:n + 1000]) for n in (0, 1000, 2000)],
                                  out=list(rows))
    assert isinstance(tags, numpy.ndarray) and tags.shape == (3, 16)
    for n in range(3):
        assert rows[n].tobytes() + tags[n].tobytes() == theirs.encrypt(
            nonces[12 * n:12 * n + 12], text[1000 * n:1000 * n + 1000], None)
    # Segments, with their tags inside and separate.
    layout = lanecrypt.Segments(1000, number=lanecrypt.Number(8))
    sealed = numpy.zeros(70_000 + 70 * 16, "u1")
    ours.encrypt_segments(layout, bytes(8), source, out=sealed)
    assert sealed[1016:2032].tobytes() == theirs.encrypt(bytes(11) + b"\1", text[1000:2000], None)
    layout = lanecrypt.Segments(1000, number=lanecrypt.Number(8), tags_inside=False)
    out, tags = ours.encrypt_segments(layout, bytes(8), source, out=numpy.zeros(70_000, "u1"))
    assert out[1000:2000].tobytes() + tags[1].tobytes() == theirs.encrypt(
        bytes(11) + b"\1", text[1000:2000], None)
    assert work.of("host:0") == 3 * 70_000 + 3000 and work.of("cpu") == 0
    with pytest.raises(ValueError, match="one device"):
        ours.encrypt_many([NONCE, NONCE], [source, source],
                          out=[host.allocate("host:0", 70_000), bytearray(70_000)])


def test_a_wrong_tag_wipes_memory_of_a_device(host):
    ours = lanecrypt.AESGCM(KEY, context=host)
    sealed = on_device(host, sealed_by_pyca(b"\x55" * 100)[:-1] + b"\0")
    opened = on_device(host, b"\xaa" * 100)
    with pytest.raises(exceptions.InvalidTag):
        ours.decrypt_into(NONCE, sealed, None, opened)
    assert opened.to_bytes() == bytes(100)


def test_many_in_memory_of_a_device(host):
    ours = lanecrypt.AESGCM(KEY, context=host)
    texts = [os.urandom(n) for n in (16, 100, 4096)]
    nonces = [bytes([n]) * 12 for n in range(3)]
    sources = [on_device(host, text) for text in texts]
    out, tags = ours.encrypt_many(nonces, sources)
    joined = tags.to_bytes()
    for n in range(3):
        assert out[n].to_bytes() + joined[16 * n:16 * n + 16] == pyca.AESGCM(KEY).encrypt(
            nonces[n], texts[n], None)
    assert ours.decrypt_many(nonces, out, joined, out=out) is out
    assert [part.to_bytes() for part in out] == texts


def test_memory_of_a_device_is_checked(host):
    with pytest.raises(lanecrypt.NoDeviceError, match="cuda:7"):
        host.allocate("cuda:7", 10)
    with pytest.raises(ValueError):
        host.allocate("host:0", 0)
    memory = host.allocate("host:0", 10)
    for call in (lambda: memory.copy_from(bytes(11)), lambda: memory.copy_from(bytes(5), 6),
                 lambda: memory.to_bytes(5, 6), lambda: memory.to_bytes(11)):
        with pytest.raises(ValueError, match="end"):
            call()
    with pytest.raises(ValueError, match="stream"):
        lanecrypt.AESGCM(KEY, context=host).encrypt(NONCE, memory, stream=1)
    # Other packages could not read it.
    for call in (memory.__dlpack__, memory.__dlpack_device__,
                 lambda: memory.__cuda_array_interface__):
        with pytest.raises(BufferError, match="CUDA"):
            call()


def test_memory_of_a_closed_context(host):
    with emulator() as other:
        memory = on_device(other, bytes(1000))
    for call in (lambda: lanecrypt.AESGCM(KEY, context=host).encrypt(NONCE, memory),
                 lambda: lanecrypt.hash_many("sha256", [memory], context=host), memory.to_bytes,
                 lambda: memory.copy_from(b"x"), lambda: host.allocate("host:0", 4).copy_from(memory)):
        with pytest.raises(ValueError, match="context, which is closed"):
            call()


def test_what_is_copied_lies_in_host_memory(host):
    """The CPU cannot read a device address."""
    memory = on_device(host, bytes(10))
    with pytest.raises(ValueError, match="host memory"):
        memory.copy_from(on_device(host, bytes(range(10))))
    assert memory.to_bytes() == bytes(10)
