# SPDX-License-Identifier: Apache-2.0
"""Every kind of array: values of any type are accepted as bytes. Arrays without plain memory are
refused before the framework is asked for memory that does not exist."""

import array
import os
import sys

import pytest

import lanecrypt
from conftest import KEY, NONCE, framework, run_script, sealed_by_pyca


@pytest.fixture
def torch():
    return framework("torch")


# Every call that takes an array, as input and as output.
def inputs(ours, ctr, array):
    return [
        lambda: ours.encrypt(NONCE, array), lambda: ours.decrypt(NONCE, array),
        lambda: ours.encrypt(array, b"text"), lambda: ours.encrypt(NONCE, b"text", array),
        lambda: ours.submit_encrypt(NONCE, array), lambda: ours.encrypt_many([NONCE], [array]),
        lambda: ours.encrypt_many(bytes(12), array), lambda: ours.encrypt_many([array], [b"text"]),
        lambda: ours.encrypt_many(array, [b"text"]),
        lambda: ours.encrypt_many([NONCE], [b"text"], [array]),
        lambda: ours.decrypt_many([NONCE], [b"text"], array),
        lambda: ours.decrypt_many([NONCE], [b"text"], [array]),
        lambda: ours.encrypt_segments(lanecrypt.Segments(64), bytes(8), array),
        lambda: ctr.encrypt(bytes(16), array), lambda: ctr.encrypt(array, b"text"),
        lambda: ctr.encryptor(bytes(16)).update(array),
        lambda: lanecrypt.hash_many("sha256", [array]), lambda: lanecrypt.blake3(array),
        lambda: lanecrypt.merkle_root(array, 4), lambda: lanecrypt.keystream(KEY, array, 4),
    ]


def outputs(ours, ctr, array, nbytes):
    text = bytes(nbytes)
    sealed = ours.encrypt(NONCE, text)
    return [
        lambda: ours.decrypt_into(NONCE, sealed, None, array),
        lambda: ours.encrypt_into(NONCE, text[16:], None, array),
        lambda: ours.encrypt_many([NONCE], [text], out=[array]),
        lambda: ours.encrypt_many([NONCE], [b"text"], tags=array),
        lambda: ours.encrypt_segments(lanecrypt.Segments(64, tags_inside=False), bytes(8), text,
                                      out=array),
        lambda: ctr.encrypt(bytes(16), text, out=array),
        lambda: ctr.encryptor(bytes(16)).update_into(text, array),
        lambda: lanecrypt.keystream(KEY, NONCE, out=array),
        lambda: lanecrypt.hash_many("sha256", [b"text"], out=array),
    ]


def refused(array, kind, nbytes=64, match=None):
    """Every call raises that exception, whose text begins with the name of an argument."""
    ours, ctr = lanecrypt.AESGCM(KEY), lanecrypt.Cipher("aes-ctr", KEY)
    for call in inputs(ours, ctr, array) + outputs(ours, ctr, array, nbytes):
        with pytest.raises(kind, match=match) as caught:
            call()
        assert type(caught.value) is kind
        assert str(caught.value).split(":")[0].split("[")[0] in (
            "nonce", "nonces", "data", "associated_data", "buf", "out", "tags", "iv", "messages")


# ---- PyTorch ----

# Tensors whose values have no plain memory, and a word of the error.
TENSORS = {
    "qint8": ("torch.quantize_per_tensor(torch.ones(64), 0.1, 0, torch.qint8)", "quantized"),
    "quint8": ("torch.quantize_per_tensor(torch.ones(64), 0.1, 0, torch.quint8)", "quantized"),
    "qint32": ("torch.quantize_per_tensor(torch.ones(16), 0.1, 0, torch.qint32)", "quantized"),
    "quint4x2": ("torch.empty(64, dtype=torch.quint4x2)", "quantized"),
    "per channel": ("torch.quantize_per_channel(torch.ones(8, 8), torch.ones(8), torch.zeros(8), 0,"
                    " torch.qint8)", "quantized"),
    "coo": ("torch.eye(4).to_sparse()", "layout"),
    "coo of bytes": ("torch.eye(8).to(torch.uint8).to_sparse()", "layout"),
    "coo of bool": ("torch.eye(8).bool().to_sparse()", "layout"),
    "csr": ("torch.eye(4).to_sparse_csr()", "layout"),
    "mkldnn": ("torch.ones(4, 4).to_mkldnn()", "layout"),
    "nested": ("torch.nested.nested_tensor([torch.ones(3), torch.ones(5)])", "nested|no plain memory"),
    "meta": ("torch.empty(16, device='meta')", "no memory"),
    "meta bool": ("torch.empty(64, device='meta', dtype=torch.bool)", "no memory"),
    "freed": ("freed(torch.ones(16))", "no memory"),
    "freed bool": ("freed(torch.ones(64).bool())", "no memory"),
    "zeros": ("torch._efficientzerotensor((16,))", "no memory"),
    "fake": ("__import__('torch._subclasses', fromlist=['x']).FakeTensorMode().from_tensor("
             "torch.ones(16))", "no plain memory"),
    "masked": ("torch.masked.masked_tensor(torch.ones(16), torch.ones(16).bool())", "no plain memory"),
    "gradient": ("torch.ones(16, requires_grad=True)", "gradient"),
    "parameter": ("torch.nn.Parameter(torch.ones(16))", "gradient"),
    "result with gradient": ("torch.ones(16, requires_grad=True) * 2", "gradient"),
    "conjugate": ("torch.ones(8, dtype=torch.complex64).conj()", "conjugate"),
    "negative": ("torch.ones(16, dtype=torch.complex64)[:1].conj().imag.expand(16)",
                 "conjugate|contiguous"),
    "every other": ("torch.ones(32)[::2]", "contiguous"),
    "transposed bool": ("torch.ones(8, 8).bool()[:, :4].T", "contiguous"),
    "expanded": ("torch.ones(1).expand(16)", "contiguous"),
}


def freed(tensor):
    tensor.storage().resize_(0)
    return tensor


def refuse_all_tensors():
    import warnings

    import torch

    warnings.simplefilter("ignore")
    for name, (code, word) in TENSORS.items():
        try:
            tensor = eval(code, {"torch": torch, "freed": freed})
        except (AttributeError, RuntimeError, TypeError):
            continue  # this release cannot make such a tensor
        print(name, flush=True)
        refused(tensor, BufferError, match=word)


def test_tensors_without_plain_memory(torch):
    """Runs in another process, because some of these tensors crash it."""
    done = run_script("import test_arrays_kinds; test_arrays_kinds.refuse_all_tensors()", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"coo", "csr", "freed bool", "gradient", "conjugate", "expanded"} <= {*done.stdout.split("\n")}


def test_what_is_no_tensor(torch):
    for wrong in (torch.nn.Linear(3, 3), torch.ones(3).storage(), torch.float32, torch):
        refused(wrong, TypeError, match=rf"^\w+(\[0\])?: .* not {type(wrong).__name__}$")


@pytest.mark.parametrize("code", [
    "torch.ones(0)", "torch.ones(0, 3).bool()", "torch.ones(3, 0, dtype=torch.bfloat16)",
    "torch.tensor(1.5)", "torch.tensor(True)", "torch.ones(16).bool()",
    "torch.ones(8, dtype=torch.complex32)", "torch.ones(8, dtype=torch.complex128)",
    "torch.ones(8, dtype=torch.bfloat16)", "torch.nn.Parameter(torch.ones(8)).detach()",
    "torch.nn.Parameter(torch.ones(8), requires_grad=False)", "torch.ones(2, 3).T.contiguous()",
    "torch.ones(8, dtype=torch.complex64).conj().resolve_conj()",
    "torch.ones(8, dtype=torch.uint16)", "torch.ones(8).to(torch.float8_e5m2)",
    "torch.zeros(8, dtype=torch.uint8).view(torch.bits8)",
])
def test_tensors_with_plain_memory(torch, ours, code):
    try:
        tensor = eval(code)
    except AttributeError:
        pytest.skip("this release of PyTorch has none")
    flat = tensor if tensor.dim() else tensor.reshape(1)
    raw = flat.contiguous().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    sealed = ours.encrypt(NONCE, tensor)
    assert sealed.numpy().tobytes() == sealed_by_pyca(raw)
    into = torch.zeros_like(tensor)
    assert ours.decrypt_into(NONCE, sealed, None, into) == len(raw)
    again = ours.encrypt(NONCE, into)
    assert torch.equal(again, sealed)


# ---- NumPy and JAX ----


def numpy_types(numpy):
    """Returns all types of NumPy and ml_dtypes, without aliases."""
    types = [*"?bBhHiIlLqQefdgFDG", ">i4", ">f8", ">c16", "S5", "U3", ">U3", "V7", "M8[ns]", "m8[D]",
             ">M8[s]", [("a", "u1"), ("b", "<f4")], numpy.dtype([("a", "u1"), ("b", "f4")], align=True),
             [("when", "M8[s]"), ("x", ">f8", (2, 3))]]
    try:
        import ml_dtypes
    except ImportError:
        return types
    return types + [kind for kind in vars(ml_dtypes).values()
                    if isinstance(kind, type) and issubclass(kind, numpy.generic)]


def test_numpy_of_all_types(ours, numpy):
    for kind in numpy_types(numpy):
        size = numpy.dtype(kind).itemsize
        array = numpy.frombuffer(os.urandom(6 * size), "u1").view(kind).reshape(2, 3)
        raw = array.tobytes()
        assert ours.encrypt(NONCE, array).tobytes() == sealed_by_pyca(raw), kind
        into = numpy.zeros((2, 3), kind)
        assert ours.decrypt_into(NONCE, sealed_by_pyca(raw), None, into) == len(raw)
        assert into.tobytes() == raw, kind
        sealed, tags = ours.encrypt_many(bytes(range(24)), array)
        assert sealed.dtype == array.dtype and sealed.shape == array.shape
        assert ours.decrypt_many(bytes(range(24)), sealed, tags).tobytes() == raw
        for other in (array.T, array[:, ::2], numpy.broadcast_to(array[:1], (4, 3))):
            with pytest.raises((BufferError, TypeError), match="^data: .*contiguous"):
                ours.encrypt(NONCE, other)
            with pytest.raises((BufferError, TypeError), match="^buf: .*(contiguous|read-only)"):
                ours.decrypt_into(NONCE, bytes(other.size * size + 16), None, other)
        into.flags.writeable = False
        with pytest.raises(TypeError, match="^buf: .*read-only"):
            ours.decrypt_into(NONCE, sealed_by_pyca(raw), None, into)
        assert into.tobytes() == raw


def test_types_of_ml_dtypes_are_among_them(numpy):
    pytest.importorskip("ml_dtypes")
    names = {numpy.dtype(kind).name for kind in numpy_types(numpy)}
    assert {"float8_e5m2", "float8_e4m3fn", "bfloat16", "int4"} <= names


def test_numpy_of_objects(numpy):
    kinds = ["O", [("a", "O")], [("t", "M8[s]"), ("b", "O", (2,))], [("x", [("y", "O")])]]
    if hasattr(numpy, "dtypes") and hasattr(numpy.dtypes, "StringDType"):
        kinds.append(numpy.dtypes.StringDType())
    for kind in kinds:
        refused(numpy.zeros(4, kind), TypeError, match="Python's objects")


@pytest.mark.parametrize("kind", ["f4", "M8[s]", "V3", [("a", "u1")]])
def test_scalars_of_numpy_are_no_outputs(ours, numpy, kind):
    """The output would be written to a copy, and lost."""
    scalar = numpy.ones(1, kind)[0]
    assert ours.encrypt(NONCE, scalar).tobytes() == sealed_by_pyca(numpy.ones(1, kind).tobytes())
    with pytest.raises(TypeError, match="^buf: the output is read-only$"):
        ours.decrypt_into(NONCE, bytes(scalar.nbytes + 16), None, scalar)


def test_jax_of_all_types(ours, numpy, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    jax = framework("jax")
    # JAX may be loaded already, with a GPU as its default device.
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        check_jax_of_all_types(ours, numpy, jax)


def check_jax_of_all_types(ours, numpy, jax):
    for kind in numpy_types(numpy):
        try:
            array = jax.numpy.ones((2, 3)).astype(kind)
        except Exception:
            continue  # a type that only NumPy has
        raw = numpy.asarray(array).tobytes()
        assert numpy.asarray(ours.encrypt(NONCE, array)).tobytes() == sealed_by_pyca(raw), kind
        sealed, tags = ours.encrypt_many(bytes(range(24)), array)
        assert sealed.shape == array.shape
        # Arrays of types that do not keep every byte become arrays of bytes.
        keeps = array.dtype != bool and not array.dtype.name.startswith(("int1", "int2", "int4", "uint1",
                                                                         "uint2", "uint4", "float4"))
        keeps |= array.dtype.name in ("int16", "uint16")
        assert sealed.dtype == (array.dtype if keeps else "uint8"), kind
        assert numpy.asarray(ours.decrypt_many(bytes(range(24)), sealed, tags)).tobytes() == raw, kind


# ---- Lists ----


def test_plain_items_of_lists_take_no_python_code(ours, numpy, monkeypatch):
    """Otherwise calls with ten thousand short messages would take as long as that Python code."""
    lists = [[b"text", bytearray(b"text"), memoryview(b"text")],
             [numpy.zeros(8, kind) for kind in ("u1", ">f8", "?", "V3", [("a", "u1")])]]
    torch = sys.modules.get("torch")
    if hasattr(getattr(torch, "Tensor", None), "__dlpack_c_exchange_api__"):
        lists.append([torch.zeros(8, dtype=kind) for kind in (
            torch.uint8, torch.int64, torch.bool, torch.float32, torch.bfloat16, torch.complex64)])
    monkeypatch.setattr("lanecrypt._arrays._other_view", None)
    for texts in lists:
        nonces = bytes(range(12 * len(texts)))
        sealed, tags = ours.encrypt_many(nonces, texts)
        out = [bytearray(len(text)) for text in sealed] if isinstance(texts[0], bytes) else sealed
        assert ours.decrypt_many(nonces, sealed, tags, out=out) is out


def test_items_of_lists_of_other_kinds(ours, numpy):
    """Some items are plain, and some are not."""
    days = numpy.arange(4).astype("M8[D]")
    texts = [b"text", numpy.ma.masked_array([1, 2]), days, array.array("H", [5, 6]), memoryview(b"")]
    raw = [text if isinstance(text, bytes) else text.tobytes() for text in texts]
    nonces = [bytes([n]) * 12 for n in range(len(texts))]
    out, tags = [bytearray(len(text)) for text in raw], bytearray(16 * len(texts))
    ours.encrypt_many(nonces, texts, out=out, tags=tags)
    for n, text in enumerate(raw):
        assert out[n] + tags[16 * n:16 * n + 16] == ours.encrypt(nonces[n], text), n
    for n in range(len(texts)):
        wrong = [*out]
        wrong[n] = numpy.zeros((8, 8), "u1").T
        with pytest.raises(BufferError, match=rf"^data\[{n}\]: .*contiguous"):
            ours.encrypt_many(nonces, wrong)
        wrong[n] = b"text"
        with pytest.raises(TypeError, match=rf"^out\[{n}\]: .*read-only"):
            ours.encrypt_many(nonces, texts, out=wrong)


# ---- What is no array ----


@pytest.mark.parametrize("wrong", [5, 1.5, "text", object(), {}, lanecrypt, lanecrypt.AESGCM],
                         ids=lambda wrong: type(wrong).__name__)
def test_what_is_no_array(wrong):
    refused(wrong, TypeError, match=rf"^\w+(\[0\])?: .*, not {type(wrong).__name__}$")


def test_none():
    ours = lanecrypt.AESGCM(KEY)
    for name, call in [("nonce", lambda: ours.encrypt(None, b"")), ("data", lambda: ours.encrypt(NONCE, None)),
                       ("data", lambda: ours.decrypt(NONCE, None)),
                       (r"data\[1\]", lambda: ours.encrypt_many(bytes(24), [b"", None])),
                       (r"nonces\[1\]", lambda: ours.encrypt_many([NONCE, None], [b"", b""])),
                       (r"out\[0\]", lambda: ours.encrypt_many([NONCE], [b""], out=[None])),
                       (r"tags\[0\]", lambda: ours.decrypt_many([NONCE], [b""], [None])),
                       ("tags", lambda: ours.decrypt_many([NONCE], [b""], None)),
                       ("buf", lambda: ours.encrypt_into(NONCE, b"", None, None)),
                       ("buf", lambda: ours.decrypt_into(NONCE, bytes(16), None, None))]:
        with pytest.raises(TypeError, match=f"^{name}: .*, not NoneType$"):
            call()
