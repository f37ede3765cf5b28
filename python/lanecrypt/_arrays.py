# SPDX-License-Identifier: Apache-2.0
"""Access to arrays of the frameworks that the program has loaded: their memory, new arrays, and
their streams. This module imports no framework, because the framework of an array is already
loaded.
"""

from __future__ import annotations

import contextlib
import re
import sys
from typing import Any, Optional

from . import _core

# The number of bytes per copy when device memory is zeroed.
_ZEROS = 16 << 20
# The handle of CUDA's legacy default stream. Frameworks use 0 for it too.
LEGACY_STREAM = 1

_frameworks: dict[type, str] = {}


def framework_of(value: Any) -> str:
    """Returns the framework of an object: "torch", "numpy", "cupy", "jax" or "numba", or "" for any
    other object.
    """
    kind = type(value)
    found = _frameworks.get(kind)
    if found is None:
        found = ""
        for base in kind.__mro__:
            top = base.__module__.partition(".")[0]
            if top in ("torch", "numpy", "cupy", "numba"):
                found = top
                break
            if top in ("jax", "jaxlib"):
                found = "jax"
                break
        _frameworks[kind] = found
    return found


def stream_number(stream: Any) -> Optional[int]:
    """Returns the handle of a CUDA stream that is given as an int or as an object with
    __cuda_stream__.
    """
    if stream is None:
        return None
    method = getattr(stream, "__cuda_stream__", None)
    number = method()[1] if method is not None else stream
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError("a stream is an int, the handle, or an object with __cuda_stream__")
    if number < 0:
        raise ValueError("a stream's handle is not negative")
    return number


def view(value: Any, stream: Optional[int] = None, *, writable: bool = False, name: str = "data",
         index: Optional[int] = None) -> _core.View:
    """Returns a view of the memory of a bytes-like object or an array. Raises TypeError if `value`
    is neither, and BufferError if its bytes are not contiguous. The text of an error begins with
    the name of the argument, and with the index if the argument is a list.
    """
    made = _core.plain_view(value, writable, *_array_types())
    return made if made is not None else _other_view(value, stream, writable, name, index)


def views(values: list[Any], stream: Optional[int] = None, *, writable: bool = False,
          name: str = "data") -> list[_core.View]:
    """Returns view() of each item of a list. For plain items this runs no Python code per item."""
    return _core.views(values, writable, *_array_types(),
                       lambda value, index: _other_view(value, stream, writable, name, index))


def _array_types() -> tuple[Any, Any]:
    """Returns numpy.ndarray and torch.Tensor, each None if the program has not loaded the
    framework.
    """
    modules = sys.modules
    return (getattr(modules.get("numpy"), "ndarray", None), getattr(modules.get("torch"), "Tensor", None))


def _other_view(value: Any, stream: Optional[int], writable: bool, name: str,
          index: Optional[int]) -> _core.View:
    """Returns the view of an object for which plain_view() returns none, or raises the error that
    says why there is none.
    """
    try:
        framework = framework_of(value)
        if framework == "torch":
            return _view_of_torch(value, stream, writable)
        return _view(value, framework, stream, writable)
    except (BufferError, TypeError, ValueError) as error:
        kind = type(error)
        if kind not in (BufferError, TypeError, ValueError):
            raise  # a framework's own error class, whose constructor may need more than a text
        which = name if index is None else f"{name}[{index}]"
        raise kind(f"{which}: {error}").with_traceback(error.__traceback__) from None


def _view(value: Any, framework: str, stream: Optional[int], writable: bool) -> _core.View:
    if framework == "numpy":
        value = _of_known_type(value, writable)
    elif framework == "jax":
        if writable:
            raise TypeError("arrays of JAX are immutable, so none can be an output")
        return _view_of_jax(value, stream)
    return _core.View(value, writable, stream)


_NOT_CONTIGUOUS = ("the array is not contiguous: its bytes do not lie one behind the other in C's order. "
                   "Make a copy that is, by .contiguous() or numpy.ascontiguousarray()")


# NumPy's built-in types have lower numbers (NPY_NTYPES_LEGACY).
_NUMPY_TYPES = 24


def _of_known_type(value: Any, writable: bool) -> Any:
    """Returns `value`, or a view of it as an array of bytes if it is a NumPy array whose type the
    buffer protocol cannot describe: times, structures, and types of other packages, such as
    float8_e5m2 of ml_dtypes.
    """
    numpy = sys.modules["numpy"]
    if not isinstance(value, (numpy.ndarray, numpy.generic)):
        return value
    dtype = value.dtype
    if dtype.hasobject:
        raise TypeError("an array of Python's objects has no bytes of its own")
    if 0 <= dtype.num < _NUMPY_TYPES and dtype.kind not in "mMV":
        return value
    if isinstance(value, numpy.generic):
        if writable:
            raise TypeError("the output is read-only")
        value = numpy.asarray(value)
    if not value.flags.c_contiguous:
        raise BufferError(_NOT_CONTIGUOUS)
    # The first dimension is kept, because it may index messages.
    value = value.view(numpy.ndarray)
    return (value if value.ndim else value.reshape(1)).view("u1")


def _view_of_jax(array: Any, stream: Optional[int]) -> _core.View:
    try:
        return _core.View(array, False, stream)
    except Exception:
        # JAX exports some types, such as bfloat16, only to NumPy.
        if _device_type_of(array) != _DLPACK_CPU:
            raise
        return _core.View(_of_known_type(sys.modules["numpy"].asarray(array), False), False, stream)


_DLPACK_CPU = 1


def _device_type_of(array: Any) -> int:
    try:
        return int(array.__dlpack_device__()[0])
    except Exception:
        return 0


def _view_of_torch(tensor: Any, stream: Optional[int], writable: bool) -> _core.View:
    torch = sys.modules["torch"]
    kind: Any = getattr(torch, "Tensor", ())
    if not isinstance(tensor, kind):  # a module, a storage
        return _core.View(tensor, writable, stream)
    _refuse_without_memory(torch, tensor)
    try:
        made = _core.View(tensor, writable, stream)
    except Exception:
        _refuse_other_signs(tensor)
        if tensor.dtype is torch.uint8:
            raise
        # Some releases export tensors of this type to no other package: 1.13 and 2.0 not bool, 2.6
        # not float8, which is used for weights and caches.
        if not tensor.is_contiguous():
            raise BufferError(_NOT_CONTIGUOUS) from None
        as_bytes = (tensor if tensor.dim() else tensor.reshape(1)).view(torch.uint8)
        return _core.View(as_bytes, writable, stream)
    _refuse_other_signs(tensor)
    return made


def _refuse_without_memory(torch: Any, tensor: Any) -> None:
    """Raises BufferError if the tensor's values are not the contents of its memory, or if it has
    none. DLPack refuses such tensors too, but some releases of PyTorch crash before that.
    """
    kind = type(tensor)
    if (getattr(kind, "__torch_dispatch__", None)
            is not getattr(torch.Tensor, "__torch_dispatch__", None)):
        raise BufferError(f"a tensor of the class {kind.__name__} has no plain memory: give the tensors "
                          "that it is made of")
    if tensor.is_quantized:
        raise BufferError("the tensor is quantized: give its .int_repr(), and keep its scales")
    if tensor.layout is not torch.strided:
        raise BufferError(f"the tensor has the layout {tensor.layout}: only strided ones have plain memory")
    if getattr(tensor, "is_nested", False):
        raise BufferError("the tensor is nested: give its parts, by .unbind()")
    if tensor.requires_grad:
        raise BufferError("the tensor requires a gradient: give its .detach()")
    try:
        has_memory = tensor.numel() == 0 or tensor.data_ptr() != 0
    except Exception:  # for example inside a transform of torch.func
        has_memory = False
    if tensor.is_meta or not has_memory:
        raise BufferError("the tensor has no memory")


def _refuse_other_signs(tensor: Any) -> None:
    """Raises BufferError if a PyTorch tensor is a lazy conjugate or negative of its memory, which
    it shares with another tensor: PyTorch applies the sign only when it reads the memory. Tensors
    of integers are never lazy.
    """
    if hasattr(tensor, "is_conj") and (tensor.is_conj() or tensor.is_neg()):
        raise BufferError("the tensor is the conjugate or the negative of what lies in its memory: "
                          "make a copy that is not, by .resolve_conj().resolve_neg()")


def stream_for(value: Any, its_view: _core.View, given: Optional[int], *,
               captures: bool = False) -> Optional[int]:
    """Returns the stream of a call: `given`, or the current stream of the value's framework; None
    if the value is ready or the framework has no streams. Raises RuntimeError if that stream is
    being captured into a CUDA graph and `captures` is false: each launch of the graph would use the
    nonce again.
    """
    if its_view.on_host:
        return given
    framework = framework_of(value)
    if framework == "torch":
        cuda = sys.modules["torch"].cuda
        # The stream that the tensor reports is cheaper to use than asking PyTorch.
        is_captured = its_view.is_captured
        if is_captured is None:
            # PyTorch checks only the current device, which may not be the value's.
            with cuda.device(its_view.ordinal):
                is_captured = cuda.is_current_stream_capturing()
        stream = given if given is not None else its_view.stream
        if stream is None:  # releases of PyTorch whose tensors do not report their stream
            stream = cuda.current_stream(value.device).cuda_stream
    elif framework == "cupy":
        with value.device:  # CuPy reports the stream of the current device
            now = sys.modules["cupy"].cuda.get_current_stream()
            is_captured = now.is_capturing()
        stream = given if given is not None else now.ptr
    else:
        return given if given is not None else its_view.stream
    if is_captured and not captures:
        raise RuntimeError("a call cannot be captured in a CUDA graph: it waits for its end, and each "
                           "replay would use a cipher's nonce again (see capture_encrypt_segments)")
    return stream


def _on_stream(framework: str, stream: Optional[int], device: Any) -> Any:
    """Returns a context manager within which PyTorch or CuPy works and allocates in stream order,
    if the stream is on the device.
    """
    cuda = sys.modules[framework].cuda
    if framework == "torch":
        if stream is None or stream == cuda.current_stream(device).cuda_stream:
            return contextlib.nullcontext()
        if stream in (0, LEGACY_STREAM):  # PyTorch accepts neither as an external stream
            return cuda.stream(cuda.default_stream(device))
        return cuda.stream(cuda.ExternalStream(stream, device=device))
    return contextlib.nullcontext() if stream is None else cuda.ExternalStream(stream)


def _numba_stream(stream: int) -> Any:
    cuda = sys.modules["numba"].cuda
    if stream in (0, LEGACY_STREAM):
        return cuda.legacy_default_stream()
    return cuda.per_thread_default_stream() if stream == 2 else cuda.external_stream(stream)


def wait_for_stream(its_view: _core.View, stream: Optional[int], context: _core.Context) -> None:
    """Waits until all work that is in the stream now has completed, if the memory is on its device.
    For copies that are in no stream.
    """
    if its_view.on_cuda and stream is not None:
        context.wait_for_stream(context.device_of(its_view), stream or LEGACY_STREAM)


class Output:
    """An output of a task: a new array or bytes object, or the caller's. `value` is what the user
    gets when the task has completed.
    """

    __slots__ = ("view", "_value")

    def __init__(self, its_view: _core.View, value: Any) -> None:
        self.view = its_view
        self._value = value

    @property
    def value(self) -> Any:
        return self._value


class _JaxOutput(Output):
    """The output for JAX, whose arrays are immutable: the task writes the bytes to other memory, of
    which JAX then takes ownership.
    """

    __slots__ = ("_shape", "_dtype")

    def __init__(self, its_view: _core.View, memory: Any, shape: tuple[int, ...], dtype: Any) -> None:
        super().__init__(its_view, memory)
        self._shape = shape
        self._dtype = dtype

    @property
    def value(self) -> Any:
        jax = sys.modules["jax"]
        if not isinstance(self._value, _core.DeviceMemory):
            return jax.numpy.asarray(self._value.view(self._dtype).reshape(self._shape))
        array, kind = jax.dlpack.from_dlpack(self._value), self._dtype
        if array.dtype != kind:
            item = kind.itemsize
            array = array.reshape(-1, item) if item > 1 else array.reshape(-1)
            if kind.kind == "c":  # JAX has no bitcast to complex types
                parts = jax.lax.bitcast_convert_type(array.reshape(-1, 2, item // 2), f"f{item // 2}")
                array = jax.lax.complex(parts[:, 0], parts[:, 1])
            else:
                array = jax.lax.bitcast_convert_type(array, kind)
        return array.reshape(self._shape)


# The names of types with less than 8 bits.
_IS_NARROW = re.compile(r"u?int[124]|float[46]_\w+").fullmatch


def _new_array(like: Any, shape: tuple[int, ...], dtype: Any, context: _core.Context,
               its_view: _core.View, stream: Optional[int]) -> Output:
    framework = framework_of(like)
    if framework == "torch":
        torch = sys.modules["torch"]
        words = {"dtype": dtype or torch.uint8, "device": like.device}
        # The stream that a tensor reports is the one in which PyTorch allocates by default.
        if stream is None or stream == its_view.stream or its_view.on_host:
            array = torch.empty(shape, **words)
        else:
            with _on_stream(framework, stream, like.device):
                array = torch.empty(shape, **words)
        # The view needs only the address from the new array; all else is that of the input. PyTorch
        # 1 has no nbytes.
        address, nbytes = array.data_ptr(), array.numel() * array.element_size()
        return Output(_core.View.beside(its_view, address, nbytes, array), array)
    elif framework == "cupy":
        cupy = sys.modules["cupy"]
        with like.device, _on_stream(framework, stream, None):
            array = cupy.empty(shape, dtype=dtype or "u1")
    elif framework == "numba":
        array = sys.modules["numba"].cuda.device_array(shape, dtype=dtype or "u1")
    elif framework == "numpy":
        array = sys.modules["numpy"].empty(shape, dtype=dtype or "u1")
    elif framework == "jax":
        numpy = sys.modules["numpy"]
        dtype = numpy.dtype(dtype or "u1")
        if dtype == bool or _IS_NARROW(dtype.name):
            # These types do not preserve every byte value, as ciphertext needs.
            dtype = numpy.dtype("u1")
        nbytes = dtype.itemsize
        for length in shape:
            nbytes *= length
        memory = (numpy.empty(nbytes, "u1") if its_view.on_host or nbytes == 0 else
                  _core.allocate(context, f"cuda:{its_view.ordinal}", nbytes))
        return _JaxOutput(view(memory, stream, writable=True), memory, shape, dtype)
    else:
        raise TypeError(f"an output for {type(like).__name__} must be given, as out=")
    return Output(view(array, stream, writable=True), array)


def new_bytes(like: Any, its_view: _core.View, nbytes: int, context: _core.Context,
              stream: Optional[int] = None) -> Output:
    """Returns a new output of `nbytes` bytes: a one-dimensional array of bytes of the framework and
    on the device of `like`, or a bytes object for a bytes-like one.
    """
    return new_rows(like, its_view, (nbytes,), context, stream)


def new_rows(like: Any, its_view: _core.View, shape: tuple[int, ...], context: _core.Context,
             stream: Optional[int] = None) -> Output:
    """Returns the same as new_bytes(), but an array of the given shape."""
    if isinstance(like, _core.DeviceMemory):
        nbytes = 1
        for length in shape:
            nbytes *= length
        memory = _core.allocate(context, like.device, max(nbytes, 1))
        return Output(view(memory, writable=True), memory)
    if framework_of(like) == "" and its_view.on_host:
        nbytes = 1
        for length in shape:
            nbytes *= length
        filled = _core.View.of_new_bytes(nbytes)
        return Output(filled, filled.owner)
    return _new_array(like, shape, None, context, its_view, stream)


def new_memory(like: Any, its_view: _core.View, nbytes: int, context: _core.Context,
               stream: Optional[int] = None) -> _core.View:
    """Returns new memory on the value's device for internal use."""
    if framework_of(like) in ("torch", "cupy", "numba"):
        return _new_array(like, (nbytes,), None, context, its_view, stream).view
    device = like.device if isinstance(like, _core.DeviceMemory) else f"cuda:{its_view.ordinal}"
    return view(_core.allocate(context, device, nbytes), writable=True)


def new_like(like: Any, its_view: _core.View, context: _core.Context,
             stream: Optional[int] = None) -> Output:
    """Returns a new output with the shape, type and device of `like`; a bytes object for a
    bytes-like one.
    """
    if framework_of(like) == "":
        return new_bytes(like, its_view, its_view.nbytes, context, stream)
    return _new_array(like, tuple(like.shape), like.dtype, context, its_view, stream)


def row_count(its_view: _core.View) -> int:
    """Returns the number of messages in an array, one in each row."""
    if len(its_view.shape) < 2:
        raise ValueError("many messages are a sequence, or an array of two dimensions or more "
                         "whose first one numbers them")
    return its_view.shape[0]


def fill_with_zeros(value: Any, its_view: _core.View, stream: Optional[int],
                    context: _core.Context) -> None:
    """Zeroes a writable array, in stream order."""
    framework = framework_of(value)
    if its_view.on_host:
        _core.zero(its_view)
    elif isinstance(value, _core.DeviceMemory):
        wait_for_stream(its_view, stream, context)
        for offset in range(0, value.nbytes, _ZEROS):
            value.copy_from(bytes(min(_ZEROS, value.nbytes - offset)), offset)
    elif framework == "torch":
        with _on_stream(framework, stream, value.device):
            value.detach().zero_()
    elif framework == "cupy":
        with value.device, _on_stream(framework, stream, None):
            value.fill(0)
    elif framework == "numba":
        # value[:] = 0 would make Numba compile a kernel.
        cuda = sys.modules["numba"].cuda
        with cuda.gpus[its_view.ordinal]:
            cuda.cudadrv.driver.device_memset(value, 0, its_view.nbytes,
                                              _numba_stream(stream or LEGACY_STREAM))
        if stream is None:  # the cipher then waits for no stream
            wait_for_stream(its_view, LEGACY_STREAM, context)
    else:
        raise TypeError(f"an array of {type(value).__name__} cannot be filled here")
