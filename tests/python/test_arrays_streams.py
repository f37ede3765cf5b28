# SPDX-License-Identifier: Apache-2.0
"""CUDA streams that a call or an array specifies. No GPU is needed."""

import contextlib
import sys
import types

import pytest

import lanecrypt
from conftest import KEY, NONCE
from lanecrypt import _arrays


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
    """Stands for PyTorch or CuPy and a machine with two CUDA devices. test_cuda.py uses the real
    ones. An object is a device, which is current within `with`."""

    def __init__(self, number):
        self.number = number

    def __enter__(self):
        Cuda.entered.append(self.number)

    def __exit__(self, *error):
        Cuda.entered.pop()

    entered = [0]
    captured = None  # the device whose current stream is being captured
    ordinal = None  # the array's device

    @classmethod
    def current(cls, device=None):
        number = cls.entered[-1] if device is None else device.number
        return types.SimpleNamespace(ptr=7 + number, cuda_stream=7 + number,
                                     is_capturing=lambda: cls.captured == number)


def framework_on_a_card(monkeypatch, name, ordinal=0, captured=None):
    """Returns an array of that framework, which is on a device."""
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
    """A replay of the graph would use the nonce again."""
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
    """This holds for any stream: PyTorch and CuPy would allocate memory and zero it in their own
    stream."""
    array = framework_on_a_card(monkeypatch, "torch", 1)
    expected = ("default", 1) if number < 2 else (number, 1)
    assert _arrays._on_stream("torch", number, array.device) == ("within", expected)
    for same in (None, 8):  # the current stream needs no context manager
        assert isinstance(_arrays._on_stream("torch", same, array.device), contextlib.nullcontext)
    framework_on_a_card(monkeypatch, "cupy")
    assert _arrays._on_stream("cupy", number, None) == (number, None)


def test_new_tensors_are_where_pytorch_works(monkeypatch):
    """In the stream that the tensor specifies, PyTorch allocates by itself, without a context
    manager."""
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
    torch.cuda.current_stream = None  # would be called only for another stream
    _arrays.new_bytes(array, view, 10, None, 9)
    with pytest.raises(TypeError, match="NoneType"):
        _arrays.new_bytes(array, view, 10, None, 5)
