# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy and of other frameworks, without a GPU."""

import ctypes
import hashlib
import importlib
import os

import pytest

import lanecrypt
from cryptography import exceptions
from cryptography.hazmat.primitives.ciphers import aead as pyca
from conftest import KEY, NONCE, Work, framework, sealed_by_pyca


@pytest.fixture
def torch():
    return framework("torch")


@pytest.fixture
def jax():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    framework("jax")
    return importlib.import_module("jax.dlpack") and framework("jax")


# ---- NumPy ----


@pytest.mark.parametrize("kind", ["u1", "<f4", ">f8", "<i8", "?", "c16", "f2", "M8[s]", "V3", "S5"])
def test_numpy_of_every_type(ours, numpy, kind):
    array = numpy.frombuffer(os.urandom(480), dtype=kind).reshape(2, -1)
    sealed = ours.encrypt(NONCE, array, b"x")
    assert isinstance(sealed, numpy.ndarray) and sealed.dtype == "u1" and sealed.ndim == 1
    assert sealed.tobytes() == sealed_by_pyca(array.tobytes(), b"x")
    opened = ours.decrypt(NONCE, sealed, b"x")
    assert isinstance(opened, numpy.ndarray) and opened.tobytes() == array.tobytes()
    into = numpy.empty_like(array)
    assert ours.decrypt_into(NONCE, sealed, b"x", into) == 480
    assert into.tobytes() == array.tobytes()


@pytest.mark.parametrize("kind", ["<f4", "M8[s]", "m8[s]", "V2", [("a", "u1"), ("b", "<f4")]])
def test_rows_of_numpy_of_every_type(context, ours, numpy, kind):
    array = numpy.frombuffer(os.urandom(480), dtype=kind).reshape(3, -1)
    sealed, tags = ours.encrypt_many(bytes(range(36)), array)
    assert sealed.dtype == array.dtype and sealed.shape == array.shape and tags.shape == (3, 16)
    for n in range(3):
        assert sealed[n].tobytes() + tags[n].tobytes() == pyca.AESGCM(KEY).encrypt(
            bytes(range(12 * n, 12 * n + 12)), array[n].tobytes(), None)
    opened = ours.decrypt_many(bytes(range(36)), sealed, tags)
    assert opened.dtype == array.dtype and opened.tobytes() == array.tobytes()
    assert lanecrypt.hash_many("sha256", array, context=context).tobytes() == b"".join(
        hashlib.sha256(row.tobytes()).digest() for row in array)
    for no_rows in (array[0], array[0, 0]):
        with pytest.raises(ValueError, match="two dimensions"):
            ours.encrypt_many(bytes(36), no_rows)


def test_numpy_shapes(ours, numpy):
    for shape in ((), (0,), (1,), (3, 0, 4), (2, 3, 4)):
        array = numpy.ones(shape, "<i4")
        assert ours.encrypt(NONCE, array).tobytes() == sealed_by_pyca(array.tobytes())
        times = array.astype("M8[s]")
        assert ours.encrypt(NONCE, times).tobytes() == sealed_by_pyca(times.tobytes())


@pytest.mark.parametrize("make", [
    lambda array: array[::2], lambda array: array.T, lambda array: array[:, 1:],
    lambda array: array[::-1], lambda array: array.astype("M8[s]")[::2],
])
def test_numpy_that_is_not_contiguous(ours, numpy, make):
    array = make(numpy.arange(64).reshape(8, 8))
    with pytest.raises(BufferError, match="contiguous"):
        ours.encrypt(NONCE, array)
    with pytest.raises(BufferError, match="contiguous"):
        ours.decrypt_into(NONCE, bytes(array.nbytes + 16), None, array)


def test_arrays_of_objects(ours, numpy):
    array = numpy.array([object(), object()])
    structs = numpy.zeros(2, dtype=[("a", "i4"), ("Of", "O")])
    for value in (array, memoryview(array), structs):
        with pytest.raises(TypeError):
            ours.encrypt(NONCE, value)
        with pytest.raises(TypeError):
            ours.decrypt_into(NONCE, bytes(value.nbytes + 16), None, value)

    class Named(ctypes.Structure):
        _fields_ = [("Offset", ctypes.c_int32)]

    assert ours.encrypt(NONCE, Named(5)) == sealed_by_pyca(bytes(Named(5)))


def test_numpy_that_is_read_only(ours, numpy):
    array = numpy.zeros(100, "u1")
    array.flags.writeable = False
    sealed = ours.encrypt(NONCE, array)
    with pytest.raises(TypeError, match="read-only"):
        ours.decrypt_into(NONCE, sealed, None, array)


def test_numpy_in_place(ours, numpy):
    array = numpy.zeros(116, "u1")
    ours.encrypt_into(NONCE, array[:100], None, array)
    assert array.tobytes() == sealed_by_pyca(bytes(100))
    ours.decrypt_into(NONCE, array, None, array[:100])
    assert not array[:100].any()


def test_numpy_rows(ours, numpy, context):
    array = numpy.frombuffer(os.urandom(8 * 300), "<f4").reshape(8, 3, 25)
    nonces = numpy.frombuffer(os.urandom(96), "u1").reshape(8, 12)
    before = Work(context)
    out, tags = ours.encrypt_many(nonces, array, b"all")
    assert out.shape == array.shape and out.dtype == array.dtype and tags.shape == (8, 16)
    for n in range(8):
        assert out[n].tobytes() + tags[n].tobytes() == pyca.AESGCM(KEY).encrypt(
            nonces[n].tobytes(), array[n].tobytes(), b"all")
    name = "cpu" if context.counters()["cpu"].jobs else "host:0"
    assert before.of(name) >= array.nbytes and before.of(name, "jobs") == 1
    opened = ours.decrypt_many(nonces, out, tags, [b"all"] * 8)
    assert opened.tobytes() == array.tobytes()
    assert ours.decrypt_many(list(nonces), out, list(tags), b"all", out=out) is out
    assert out.tobytes() == array.tobytes()


def test_numpy_rows_with_a_wrong_tag(ours, numpy):
    array = numpy.full((5, 100), 0x55, "u1")
    nonces = numpy.arange(60, dtype="u1")
    out, tags = ours.encrypt_many(nonces, array)
    tags[3, 0] ^= 1
    with pytest.raises(exceptions.InvalidTag) as caught:
        ours.decrypt_many(nonces, out, tags, out=out)
    assert caught.value.failed == (3,)
    assert not out[3].any() and (out[[0, 1, 2, 4]] == 0x55).all()


def test_numpy_messages_of_different_lengths(ours, numpy):
    arrays = [numpy.arange(n, dtype="<i2") for n in (0, 1, 100)]
    nonces = [bytes([n]) * 12 for n in range(3)]
    out, tags = ours.encrypt_many(nonces, arrays)
    assert tags.shape == (3, 16) and [part.dtype for part in out] == ["<i2"] * 3
    opened = ours.decrypt_many(nonces, out, tags)
    assert [part.tobytes() for part in opened] == [array.tobytes() for array in arrays]


# ---- Other frameworks ----


def test_torch_on_the_cpu(context, ours, torch):
    names = ("uint8", "float32", "bfloat16", "bool", "complex64", "float8_e4m3fn", "int16")
    before, done = Work(context), 0
    # Old releases lack some types.
    for kind in [getattr(torch, name) for name in names if hasattr(torch, name)]:
        tensor = torch.randint(0, 2, (6, 50)).to(kind)
        raw = tensor.view(torch.uint8).numpy().tobytes()
        sealed = ours.encrypt(NONCE, tensor)
        assert isinstance(sealed, torch.Tensor) and sealed.dtype == torch.uint8
        assert sealed.numpy().tobytes() == sealed_by_pyca(raw)
        into = torch.zeros_like(tensor)
        ours.decrypt_into(NONCE, sealed, None, into)
        assert into.view(torch.uint8).numpy().tobytes() == raw
        out, tags = ours.encrypt_many(bytes(range(72)), tensor)
        assert out.dtype == kind and out.shape == tensor.shape and tags.shape == (6, 16)
        opened = ours.decrypt_many(bytes(range(72)), out, tags)
        assert opened.dtype == kind and opened.view(torch.uint8).numpy().tobytes() == raw
        done += 4 * len(raw)
        with pytest.raises(BufferError, match="contiguous"):
            ours.encrypt(NONCE, tensor.T)
    assert before.of("cpu" if context.counters()["cpu"].jobs else "host:0") == done
    with pytest.raises(BufferError, match="contiguous"):
        ours.encrypt(NONCE, torch.zeros(8)[::2])


def test_torch_of_other_signs_than_its_memory(ours, torch):
    """PyTorch computes these values only when it reads them: the memory is another tensor's."""
    tensor = torch.randn(6, dtype=torch.complex64)
    rows = torch.randn(6, 2, dtype=torch.complex64)
    ctr = lanecrypt.Cipher("aes-ctr", KEY)
    for view in (tensor.conj(), tensor[:1].conj().imag):
        sealed = ours.encrypt(NONCE, view.clone().resolve_conj().resolve_neg())
        for call in (lambda: ours.encrypt(NONCE, view), lambda: ctr.encrypt(bytes(16), view),
                     lambda: ours.decrypt_into(NONCE, sealed, None, view),
                     lambda: ours.encrypt_many([NONCE], [view]),
                     lambda: ours.encrypt_many(bytes(72), rows.conj())):
            with pytest.raises(BufferError, match="resolve_conj"):
                call()
        copy = view.resolve_conj().resolve_neg()
        into = torch.zeros_like(copy)
        ours.decrypt_into(NONCE, ours.encrypt(NONCE, copy), None, into)
        assert torch.equal(into, view)


def test_torch_parameters(ours, torch):
    layer = torch.nn.Linear(8, 8)
    before = layer.weight.detach().clone()
    sealed = ours.encrypt(NONCE, layer.weight.detach())
    with torch.no_grad():
        layer.weight.zero_()
    ours.decrypt_into(NONCE, sealed, None, layer.weight.detach())
    assert torch.equal(layer.weight, before)


def test_jax_on_the_cpu(ours, jax):
    array = jax.numpy.arange(300, dtype="float32").reshape(10, 30)
    raw = bytes(memoryview(array).cast("B"))
    sealed = ours.encrypt(NONCE, array)
    assert isinstance(sealed, jax.Array) and sealed.dtype == "uint8"
    assert bytes(memoryview(sealed)) == sealed_by_pyca(raw)
    assert bytes(memoryview(ours.decrypt(NONCE, sealed))) == raw
    out, tags = ours.encrypt_many(bytes(range(120)), array)
    assert out.shape == array.shape and out.dtype == array.dtype and tags.shape == (10, 16)
    assert (ours.decrypt_many(bytes(range(120)), out, tags) == array).all()


def test_jax_is_never_written(ours, jax):
    array = jax.numpy.zeros(100, dtype="uint8")
    for call in (lambda: ours.encrypt_into(NONCE, bytes(84), None, array),
                 lambda: ours.decrypt_into(NONCE, bytes(116), None, array),
                 lambda: ours.encrypt_many(bytes(12), [array], out=[array])):
        with pytest.raises(TypeError, match="immutable"):
            call()
    assert not array.any()
