# SPDX-License-Identifier: Apache-2.0
"""Arrays of frameworks, and of everything that has the same protocols, without a card."""

import contextlib
import ctypes
import hashlib
import importlib
import os
import subprocess
import sys
import types

import pytest

import lanecrypt
from cryptography import exceptions
from cryptography.hazmat.primitives.ciphers import aead as pyca
from conftest import Work, emulator, run_script
from lanecrypt import _arrays

KEY = bytes(range(32))
NONCE = bytes(12)


def framework(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")


@pytest.fixture
def numpy():
    return framework("numpy")


@pytest.fixture
def torch():
    return framework("torch")


@pytest.fixture
def jax():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    framework("jax")
    return importlib.import_module("jax.dlpack") and framework("jax")


def sealed_by_pyca(data, aad=None):
    return pyca.AESGCM(KEY).encrypt(NONCE, bytes(data), aad)


@pytest.fixture
def ours(context):
    return lanecrypt.AESGCM(KEY, context=context)


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
    # Old releases lack some.
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
    """What PyTorch computes only when it reads them: their bytes are another tensor's."""
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
    out, tags = ours.encrypt_many(bytes(120), array)
    assert out.shape == array.shape and out.dtype == array.dtype and tags.shape == (10, 16)
    assert (ours.decrypt_many(bytes(120), out, tags) == array).all()


def test_jax_is_never_written(ours, jax):
    array = jax.numpy.zeros(100, dtype="uint8")
    for call in (lambda: ours.encrypt_into(NONCE, bytes(84), None, array),
                 lambda: ours.decrypt_into(NONCE, bytes(116), None, array),
                 lambda: ours.encrypt_many(bytes(12), [array], out=[array])):
        with pytest.raises(TypeError, match="immutable"):
            call()
    assert not array.any()


# ---- The emulator's memory ----


def on_device(context, data):
    memory = context.allocate("host:0", max(len(data), 1))
    if data:
        memory.copy_from(data)
    return memory


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
    # Rows, whose tags lie beside the output.
    rows = numpy.zeros((3, 1000), "u1")
    nonces = bytes(range(36))
    out, tags = ours.encrypt_many([nonces[n:n + 12] for n in (0, 12, 24)],
                                  [on_device(host, text[n:n + 1000]) for n in (0, 1000, 2000)],
                                  out=list(rows))
    assert isinstance(tags, numpy.ndarray) and tags.shape == (3, 16)
    for n in range(3):
        assert rows[n].tobytes() + tags[n].tobytes() == theirs.encrypt(
            nonces[12 * n:12 * n + 12], text[1000 * n:1000 * n + 1000], None)
    # Segments, with their tags inside and apart.
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
    # Others could not read it.
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
    """No core may read the address of a device."""
    memory = on_device(host, bytes(10))
    with pytest.raises(ValueError, match="host memory"):
        memory.copy_from(on_device(host, bytes(range(10))))
    assert memory.to_bytes() == bytes(10)


# ---- Producers of protocols, without a framework ----


class Tensor(ctypes.Structure):
    """DLTensor and DLManagedTensor of DLPack."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Producer:
    """An array that has __dlpack__ alone, in the form before versions."""

    def __init__(self, data, shape, strides=None, bits=8, device=1, offset=0):
        self.memory = ctypes.create_string_buffer(data, len(data))
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = (ctypes.c_int64 * len(shape))(*strides) if strides else None
        self.deleted = 0
        self.asked = []
        self.device = device

        def delete(_):
            self.deleted += 1

        self.deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(delete)
        self.tensor = Tensor(ctypes.addressof(self.memory), device, 0, len(shape), 1, bits, 1,
                             self.shape, self.strides, offset, None,
                             ctypes.cast(self.deleter, ctypes.c_void_p))

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                       ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


def test_dlpack_alone(ours):
    producer = Producer(b"text" * 10, (2, 5), bits=32)
    sealed = ours.encrypt(NONCE, producer)
    assert type(sealed) is bytes and sealed == sealed_by_pyca(b"text" * 10)
    assert producer.deleted == 1 and producer.asked == [None]
    into = Producer(bytes(40), (40,), strides=(1,))
    ours.decrypt_into(NONCE, sealed, None, into)
    assert into.memory.raw == b"text" * 10 and into.deleted == 1
    shifted = Producer(b"..text", (4,), offset=2)
    assert ours.encrypt(NONCE, shifted) == sealed_by_pyca(b"text")


def test_dlpack_with_strides(ours):
    for shape, strides in (((4, 5), (1, 4)), ((4,), (2,)), ((2, 2), (3, 1)), ((2,), (-1,))):
        producer = Producer(bytes(40), shape, strides)
        with pytest.raises(BufferError, match="contiguous"):
            ours.encrypt(NONCE, producer)
        assert producer.deleted == 1
    assert ours.encrypt(NONCE, Producer(bytes(40), (4, 1, 5), (5, 77, 1))) == sealed_by_pyca(
        bytes(20))


def test_dlpack_of_other_devices(ours):
    producer = Producer(bytes(40), (40,), device=10)
    with pytest.raises(lanecrypt.UnsupportedError, match="device type 10"):
        ours.encrypt(NONCE, producer)
    assert producer.deleted == 1


def test_a_cuda_array_without_cuda(ours):
    class Array:
        __cuda_array_interface__ = {"shape": (10,), "typestr": "|u1", "data": (4096, False),
                                    "version": 3, "strides": None}

    with pytest.raises((lanecrypt.NoDeviceError, TypeError)):
        ours.encrypt(NONCE, Array())
    with pytest.raises(lanecrypt.NoDeviceError, match="cuda:0"):
        ours.encrypt_into(NONCE, Array(), None,
                          type("Out", (), {"__cuda_array_interface__": {
                              **Array.__cuda_array_interface__, "shape": (26,)}})())


class OnCard:
    """Bytes of a CUDA device, as an array tells of them that has __dlpack_device__ too."""

    def __init__(self, nbytes, ordinal=0):
        self.__cuda_array_interface__ = {"shape": (nbytes,), "typestr": "|u1", "version": 3,
                                         "data": (4096, False)}
        self.__dlpack_device__ = lambda: (2, ordinal)


@pytest.mark.parametrize("moved, what", [
    ("aad", "the associated data"), ("tags", "the tags"), ("out", "the input and the output"),
    ("verdicts", "the verdicts"), ("verdict", "the verdict"), ("nonce_out", "the nonce or IV"),
])
def test_all_of_a_call_lies_on_one_card(ours, moved, what):
    places = {name: OnCard(nbytes, name == moved) for name, nbytes in {
        "aad": 5, "tags": 32, "out": 100, "verdicts": 2, "verdict": 1, "nonce_out": 12}.items()}
    layout, text = lanecrypt.Segments(64, tags_inside=False), OnCard(100)
    aad, apart = places["aad"], {name: places[name] for name in ("tags", "out")}
    calls = {"encrypt": lambda: ours.encrypt_segments(layout, bytes(8), text, aad, **apart),
             "decrypt": lambda: ours.decrypt_segments(layout, bytes(8), text, aad,
                                                      verdicts=places["verdicts"], **apart),
             "capture": lambda: ours.capture_encrypt_segments(
                 layout, bytes(8), text, aad, verdict=places["verdict"],
                 nonce_out=places["nonce_out"], launches=1, **apart)}
    takes = {"verdicts": ["decrypt"], "verdict": ["capture"], "nonce_out": ["capture"]}
    for name in takes.get(moved, calls):
        with pytest.raises(ValueError, match=f"^{what} .*lie on"):
            calls[name]()
    # Otherwise all of it is right, but there is no card.
    places[moved].__dlpack_device__ = lambda: (2, 0)
    for call in calls.values():
        with pytest.raises(lanecrypt.NoDeviceError, match="cuda:0"):
            call()


def test_the_card_of_an_address(tmp_path):
    """Arrays of Numba have no __dlpack_device__. The driver knows whose their memory is."""
    (tmp_path / "driver.c").write_text("""
        int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer) {
          if (attribute != 9 || pointer < 0x1000) return 1;
          *(int *)value = pointer >= 0x2000;
          return 0;
        }""")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o",
                    tmp_path / "driver.so", tmp_path / "driver.c"], check=True)
    run_script("""
        import ctypes, sys, lanecrypt
        class Array:
            def __init__(self, nbytes, address):
                self.__cuda_array_interface__ = {"shape": (nbytes,), "typestr": "|u1",
                                                 "data": (address, False), "version": 3}
        aead = lanecrypt.AESGCM(bytes(32), context=lanecrypt.Context("none"))
        def outcome(*addresses):
            try:
                aead.encrypt_into(bytes(12), Array(10, addresses[0]), None, Array(26, addresses[1]))
            except (ValueError, lanecrypt.NoDeviceError) as error:
                return str(error)
        def of(ordinal):
            return f"this context has no device cuda:{ordinal} (see devices())"
        # Nobody has loaded a driver.
        assert outcome(0x2000, 0x2000) == of(0)
        assert "libcuda" not in open("/proc/self/maps").read()
        driver = ctypes.CDLL(sys.argv[1])
        assert outcome(0x2000, 0x2000) == of(1)
        assert outcome(0x1000, 0x1000) == of(0)
        assert outcome(0x800, 0x800) == of(0)  # it knows nothing of it
        for addresses in ((0x1000, 0x2000), (0x2000, 0x1000)):
            assert "do not all lie on one device" in outcome(*addresses)
        """, tmp_path / "driver.so")


@pytest.mark.parametrize("interface", [
    {}, {"shape": (10,)}, {"shape": (10,), "typestr": "?", "data": (0, False)},
    {"shape": (10,), "typestr": "|u1", "data": None}, {"shape": 10, "typestr": "|u1"}, [],
])
def test_a_broken_cuda_array_interface(ours, interface):
    array = type("Array", (), {"__cuda_array_interface__": interface})()
    with pytest.raises((TypeError, KeyError, ValueError, BufferError)):
        ours.encrypt(NONCE, array)


@pytest.mark.parametrize("given", [None, 5, "text", object()])
def test_a_broken_dlpack(ours, given):
    array = type("Array", (), {"__dlpack__": lambda self, **words: given,
                               "__dlpack_device__": lambda self: (1, 0)})()
    with pytest.raises(BufferError, match="capsule"):
        ours.encrypt(NONCE, array)


@pytest.mark.parametrize("told", ["x", (), None, ("a", "b"), (1.5, {}), 5])
def test_a_dlpack_of_no_device(ours, told):
    array = type("Array", (), {"__dlpack__": lambda self, **words: None,
                               "__dlpack_device__": lambda self: told})()
    with pytest.raises((TypeError, IndexError, BufferError)):
        ours.encrypt(NONCE, array)


def test_errors_of_producers_come_through(ours):
    def fail(self, **words):
        raise ZeroDivisionError("as it says")

    array = type("Array", (), {"__dlpack__": fail, "__dlpack_device__": lambda self: (1, 0)})()
    with pytest.raises(ZeroDivisionError, match="as it says"):
        ours.encrypt(NONCE, array)


# ---- Streams ----


@pytest.mark.parametrize("stream", ["1", 1.5, True, object()])
def test_what_is_no_stream(ours, stream):
    with pytest.raises(TypeError, match="__cuda_stream__"):
        ours.encrypt(NONCE, b"text", stream=stream)


def test_a_stream_goes_with_a_cuda_device(ours):
    class Stream:
        def __cuda_stream__(self):
            return 0, 77

    for stream in (0, 77, Stream()):
        with pytest.raises(ValueError, match="CUDA device only"):
            ours.encrypt(NONCE, b"text", stream=stream)
    with pytest.raises(ValueError, match="negative"):
        ours.encrypt(NONCE, b"text", stream=-1)


class Cuda:
    """Stands for PyTorch or CuPy and a card with two devices: test_cuda.py has these themselves. An
    object is a device, which is current within `with`."""

    def __init__(self, number):
        self.number = number

    def __enter__(self):
        Cuda.entered.append(self.number)

    def __exit__(self, *error):
        Cuda.entered.pop()

    entered = [0]
    captured = None  # the device whose current stream is being captured
    ordinal = None  # of the array

    @classmethod
    def current(cls, device=None):
        number = cls.entered[-1] if device is None else device.number
        return types.SimpleNamespace(ptr=7 + number, cuda_stream=7 + number,
                                     is_capturing=lambda: cls.captured == number)


def framework_on_a_card(monkeypatch, name, ordinal=0, captured=None):
    """An array of that framework, which is on a device."""
    class Array:
        device = Cuda(ordinal)
        __cuda_array_interface__ = {"shape": (10,), "typestr": "|u1", "data": (4096, False),
                                    "version": 3, "strides": None, "stream": None}

        def __dlpack_device__(self):
            return 2, ordinal

    Array.__module__ = name
    monkeypatch.setattr(Cuda, "captured", captured)
    cuda = types.SimpleNamespace(
        device=Cuda, current_device=lambda: Cuda.entered[-1], current_stream=Cuda.current,
        get_current_stream=Cuda.current,
        stream=lambda stream: ("within", stream),
        default_stream=lambda device: ("default", device.number),
        ExternalStream=lambda number, device=None: (number, device and device.number),
        is_current_stream_capturing=lambda: Cuda.current().is_capturing())
    monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(cuda=cuda))
    return Array()


@pytest.mark.parametrize("name", ["torch", "cupy"])
@pytest.mark.parametrize("stream", [None, 7])
def test_a_capture_is_refused(ours, monkeypatch, name, stream):
    """A graph's replay would use the nonce again."""
    array = framework_on_a_card(monkeypatch, name, captured=0)
    layout = lanecrypt.Segments(4, number=lanecrypt.Number(7))
    for call in (lambda: ours.encrypt(NONCE, array, stream=stream),
                 lambda: ours.decrypt(NONCE, array, stream=stream),
                 lambda: ours.encrypt_many([NONCE], [array], stream=stream),
                 lambda: ours.encrypt_segments(layout, bytes(7), array, stream=stream),
                 lambda: lanecrypt.Cipher("aes-ctr", KEY).encrypt(bytes(16), array, stream=stream),
                 lambda: lanecrypt.keystream(KEY, NONCE, out=array, stream=stream)):
        with pytest.raises(RuntimeError, match="captured"):
            call()


@pytest.mark.parametrize("name", ["torch", "cupy"])
@pytest.mark.parametrize("ordinal", [0, 1])
def test_the_stream_is_of_the_arrays_device(monkeypatch, name, ordinal):
    """Device 0 is the current one."""
    array = framework_on_a_card(monkeypatch, name, ordinal, captured=1 - ordinal)
    view = _arrays.view(array)
    assert view.on_cuda and _arrays.stream_for(array, view, None) == 7 + ordinal
    assert _arrays.stream_for(array, view, 5) == 5
    monkeypatch.setattr(Cuda, "captured", ordinal)
    with pytest.raises(RuntimeError, match="captured"):
        _arrays.stream_for(array, view, None)
    assert _arrays.stream_for(array, view, None, captures=True) == 7 + ordinal
    assert Cuda.entered == [0]


@pytest.mark.parametrize("number", [0, 1, 2, 1000])
def test_new_arrays_are_in_the_order_of_the_stream(monkeypatch, number):
    """Whatever stream that is: PyTorch and CuPy would take memory and zero it in their own."""
    array = framework_on_a_card(monkeypatch, "torch", 1)
    expected = ("default", 1) if number < 2 else (number, 1)
    assert _arrays._on_stream("torch", number, array.device) == ("within", expected)
    for same in (None, 8):  # what is the current one needs nothing
        assert isinstance(_arrays._on_stream("torch", same, array.device), contextlib.nullcontext)
    framework_on_a_card(monkeypatch, "cupy")
    assert _arrays._on_stream("cupy", number, None) == (number, None)


def test_new_tensors_are_where_pytorch_works(monkeypatch):
    """In the stream that the tensor tells, PyTorch allocates by itself, and is not asked for it."""
    array = framework_on_a_card(monkeypatch, "torch")
    interface = dict(array.__cuda_array_interface__, stream=9)
    monkeypatch.setattr(type(array), "__cuda_array_interface__", interface)
    entered, made = [], []

    class Within:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            entered.append(self.stream)

        def __exit__(self, *error):
            entered.pop()

    def empty(shape, dtype, device):
        made.append((shape, dtype, device, *entered))
        return array

    monkeypatch.setattr(type(array), "data_ptr", lambda self: 4096, raising=False)
    monkeypatch.setattr(type(array), "numel", lambda self: 5, raising=False)
    monkeypatch.setattr(type(array), "element_size", lambda self: 2, raising=False)
    torch = sys.modules["torch"]
    torch.uint8, torch.empty, torch.cuda.stream = "u1", empty, Within
    view = _arrays.view(array)
    for stream in (None, 9, 5):
        output = _arrays.new_bytes(array, view, 10, None, stream)
        assert output.value is output.view.owner is array
        assert output.view.on_cuda and output.view.nbytes == 10 and output.view.ordinal == 0
    usual = ((10,), "u1", array.device)
    assert made == [usual, usual, (*usual, (5, 0))]
    torch.cuda.current_stream = None  # may be asked for another stream alone
    _arrays.new_bytes(array, view, 10, None, 9)
    with pytest.raises(TypeError, match="NoneType"):
        _arrays.new_bytes(array, view, 10, None, 5)
