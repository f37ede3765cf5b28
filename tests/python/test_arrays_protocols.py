# SPDX-License-Identifier: Apache-2.0
"""Objects that implement the array protocols, without a framework and without a GPU."""

import ctypes
import subprocess

import pytest

import lanecrypt
from conftest import NONCE, run_script, sealed_by_pyca


class Tensor(ctypes.Structure):
    """DLTensor and DLManagedTensor of DLPack."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("threads", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Producer:
    """An array that has only __dlpack__, in the form without versions."""

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
    """Bytes of a CUDA device, as an array describes them that has __dlpack_device__ too."""

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
    # Now all arguments are right, but there is no GPU.
    places[moved].__dlpack_device__ = lambda: (2, 0)
    for call in calls.values():
        with pytest.raises(lanecrypt.NoDeviceError, match="cuda:0"):
            call()


def test_the_card_of_an_address(tmp_path):
    """Numba's arrays have no __dlpack_device__. The driver knows to which device their memory
    belongs."""
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
