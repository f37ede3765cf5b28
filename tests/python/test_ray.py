# SPDX-License-Identifier: Apache-2.0
"""The callable classes for Ray, called as an actor calls them. They do not need Ray.
test_ray_cluster.py runs them in a cluster."""

import os
import pickle

import pytest

import lanecrypt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers import aead as pyca
from lanecrypt import ray as lray

numpy = pytest.importorskip("numpy")

KEY = bytes(range(32, 64))
CONTEXTS = [{"devices": "none"}, {"devices": "host", "threshold_bytes": 0, "fallback": "none"}]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder of keys, as a mounted secret would be."""
    (tmp_path / "orders").write_bytes(KEY)
    monkeypatch.setenv("LANECRYPT_KEYS", str(tmp_path))
    return tmp_path


def objects(values):
    column = numpy.empty(len(values), dtype=object)
    column[:] = values
    return column


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name,kind", [("aes-gcm", pyca.AESGCM), ("aes-ccm", pyca.AESCCM),
                                       ("chacha20-poly1305", pyca.ChaCha20Poly1305)])
def test_columns_of_bytes(context, name, kind):
    words = {"cipher": name, "associated_data": b"2026", "context": context}
    batch = {"id": numpy.arange(5), "a": objects([b"", b"x", bytes(1000), b"y" * 17, b"z" * 16]),
             "b": objects([b"1", b"22", b"333", b"4444", b"55555"])}
    sealed = lray.Encrypt("orders", ["a", "b"], **words)(batch)
    assert (sealed["id"] == batch["id"]).all()
    for column in "ab":
        for text, value in zip(batch[column], sealed[column]):
            assert kind(KEY).decrypt(value[:12], value[12:], b"2026") == text
    opened = lray.Decrypt("orders", ["a", "b"], **words)(sealed)
    assert list(opened["a"]) == list(batch["a"]) and list(opened["b"]) == list(batch["b"])
    nonces = {bytes(value[:12]) for column in "ab" for value in sealed[column]}
    assert len(nonces) == 10


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("dtype,shape", [("f4", (3, 5)), ("u1", (7,)), ("i8", ()), ("f8", (0, 4)),
                                         ("?", (2,)), ("M8[s]", (3,))])
def test_columns_of_tensors(context, dtype, shape):
    size = 6 * int(numpy.prod(shape, dtype="i8"))
    array = numpy.arange(size).astype(dtype).reshape(6, *shape)
    sealed = lray.Encrypt("orders", ["x"], context=context)({"x": array})
    assert sealed["x"].dtype == numpy.uint8
    assert sealed["x"].shape == (6, 28 + array[0].nbytes)
    for n in range(6):
        row = bytes(sealed["x"][n])
        assert pyca.AESGCM(KEY).decrypt(row[:12], row[12:], None) == array[n].tobytes()
    opened = lray.Decrypt("orders", {"x": (dtype, shape)}, context=context)(sealed)
    assert opened["x"].dtype == array.dtype and opened["x"].shape == array.shape
    assert (opened["x"] == array).all()
    raw = lray.Decrypt("orders", ["x"])(sealed)
    assert [bytes(value) for value in raw["x"]] == [row.tobytes() for row in array]


def test_the_emulator_did_it():
    made = lray.Encrypt("orders", ["x"], context=CONTEXTS[1])
    made({"x": numpy.zeros((10, 100), "u1")})
    counters = made._context.counters()
    assert counters["host:0"].bytes == 1000 and counters["cpu"].bytes == 0


def test_an_empty_batch():
    for column in (objects([]), numpy.zeros((0, 5), "f4")):
        sealed = lray.Encrypt("orders", ["x"], bind="x")({"x": column})
        assert len(sealed["x"]) == 0
        assert len(lray.Decrypt("orders", ["x"])(sealed)["x"]) == 0
        assert lray.Decrypt("orders", {"x": ("f4", (5,))})(sealed)["x"].shape == (0, 5)


@pytest.mark.parametrize("ids", [numpy.arange(3), objects([b"a", b"b", b"c"]),
                                 numpy.array(["α", "b", "c"])])
def test_values_are_bound_to_their_rows(ids):
    batch = {"id": ids, "x": objects([b"one", b"two", b"three"])}
    words = {"bind": "id", "associated_data": b"table"}
    sealed = lray.Encrypt("orders", ["x"], **words)(batch)
    assert list(lray.Decrypt("orders", ["x"], **words)(sealed)["x"]) == list(batch["x"])
    first = sealed["x"][0]
    value = ids[0] if isinstance(ids[0], bytes) else str(ids[0]).encode()
    assert pyca.AESGCM(KEY).decrypt(first[:12], first[12:], bytes(7) + b"\5table" + value) == b"one"
    swapped = {**sealed, "x": sealed["x"][[1, 0, 2]]}
    with pytest.raises(lanecrypt.InvalidTag) as caught:
        lray.Decrypt("orders", ["x"], **words)(swapped)
    assert caught.value.failed == (0, 1)


def test_rows_that_are_bound_to_nothing_sensible():
    with pytest.raises(TypeError, match="rows are bound"):
        lray.Encrypt("orders", ["x"], bind="y")({"x": objects([b""]), "y": objects([1.5])})
    with pytest.raises(ValueError, match="2 values for 1"):
        lray.Encrypt("orders", ["x"], bind="y")({"x": objects([b""]), "y": [b"", b""]})


def test_wrong_values():
    open_it = lray.Decrypt("orders", ["x"])
    sealed = lray.Encrypt("orders", ["x"])({"x": objects([b"one", b"two", b"three"])})["x"]
    changed = bytearray(sealed[1])
    changed[12] ^= 1
    for wrong in (bytes(changed), sealed[1][:27], b""):
        with pytest.raises(lanecrypt.InvalidTag) as caught:
            open_it({"x": objects([sealed[0], wrong, sealed[2]])})
        assert caught.value.failed == (1,)
    with pytest.raises(lanecrypt.InvalidTag) as caught:
        lray.Decrypt("orders", {"x": ("u1", (3,))})({"x": sealed})
    assert caught.value.failed == (2,)
    for value in ("text", None, 5):
        with pytest.raises(TypeError):
            lray.Encrypt("orders", ["x"])({"x": objects([value])})


def test_process_stays_in_the_actor():
    class Length(lray.Decrypt):
        def process(self, batch):
            return {"sum": batch["x"].sum(axis=1)}

    class Made(lray.Encrypt):
        def process(self, batch):
            return {"x": numpy.full((len(batch["id"]), 4), 7, "u1")}

    sealed = Made("orders", ["x"])({"id": numpy.arange(3)})
    assert set(sealed) == {"x"}
    assert list(Length("orders", {"x": ("u1", (4,))})(sealed)["sum"]) == [28, 28, 28]


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    devices = ["cpu"] + ["cuda"] * torch.cuda.is_available()
    for device in devices:
        class Seen(lray.Decrypt):
            def process(self, batch):
                assert batch["x"].device.type == device and batch["x"].dtype == torch.float32
                return {"x": batch["x"] + 1}

        tensor = torch.randn(6, 3, 5, device=device)
        sealed = lray.Encrypt("orders", ["x"], bind="id")({"id": numpy.arange(6), "x": tensor})
        assert sealed["x"].shape == (6, 88) and isinstance(sealed["x"], numpy.ndarray)
        row = bytes(sealed["x"][4])
        assert pyca.AESGCM(KEY).decrypt(row[:12], row[12:], bytes(8) + b"4") == bytes(
            tensor[4].cpu().numpy())
        opened = Seen("orders", {"x": ("f4", (3, 5))}, bind="id", device=device)(sealed)
        assert isinstance(opened["x"], numpy.ndarray)
        assert (opened["x"] == (tensor + 1).cpu().numpy()).all()
        sealed["x"][2, 20] ^= 1
        with pytest.raises(lanecrypt.InvalidTag) as caught:
            Seen("orders", {"x": ("f4", (3, 5))}, bind="id", device=device)(sealed)
        assert caught.value.failed == (2,)


# ---- RSA ----


@pytest.mark.parametrize("context", CONTEXTS)
def test_keys_and_signatures(context, folder):
    made = lray.GenerateKeys(1024, "orders", context=context)({"id": numpy.arange(3)})
    assert list(made["id"]) == [0, 1, 2] and len(set(made["public_key"])) == 3
    batch = {"message": objects([b"a", b"", b"c" * 1000])}
    for public, wrapped in zip(made["public_key"], made["wrapped_key"]):
        theirs = serialization.load_der_public_key(public)
        der = pyca.AESGCM(KEY).decrypt(wrapped[:12], wrapped[12:], public)
        assert serialization.load_der_private_key(der, None).public_key().public_numbers() == (
            theirs.public_numbers())
        key = lray.WrappedKey(wrapped, "orders", public)
        signed = lray.Sign(key, "message", padding="pss", hash="sha384", salt_length=20,
                           context=context)(batch)
        for message, signature in zip(batch["message"], signed["signature"]):
            theirs.verify(signature, message,
                          padding.PSS(padding.MGF1(hashes.SHA384()), 20), hashes.SHA384())
        with pytest.raises(lanecrypt.InvalidTag):
            lray.Sign(lray.WrappedKey(wrapped, "orders", b"other"), "message")
        for nbytes in (0, 11, 27, 28, len(wrapped) - 1):
            with pytest.raises(lanecrypt.InvalidTag):
                lray.WrappedKey(wrapped[:nbytes], "orders", public).get_key()
    (folder / "signing").write_bytes(der)
    signed = lray.Sign("signing", "message", into="by", context=context)(batch)
    theirs.verify(signed["by"][2], batch["message"][2], padding.PKCS1v15(), hashes.SHA256())
    assert len(lray.GenerateKeys(1024, "orders")({"id": numpy.arange(0)})["public_key"]) == 0


# ---- Keys ----


class Carries(lanecrypt.KeyProvider):
    def __init__(self, key):
        self.key = key

    def get_key(self):
        return self.key


def makers():
    return [lambda key: lray.Encrypt(key, ["x"]), lambda key: lray.Decrypt(key, ["x"]),
            lambda key: lray.GenerateKeys(1024, key), lambda key: lray.Sign(key, "x"),
            lambda key: lray.WrappedKey(bytes(100), key).get_key()]


@pytest.mark.parametrize("make", makers())
def test_a_key_itself_is_refused(make):
    for key in (KEY, bytearray(KEY), memoryview(KEY)):
        with pytest.raises(TypeError, match="told by its name") as caught:
            make(key)
        assert KEY.hex() not in str(caught.value) and repr(KEY) not in str(caught.value)
    for key in (KEY, bytearray(KEY)):
        with pytest.raises(ValueError, match="carries its key"):
            make(Carries(key))


@pytest.mark.parametrize("name", ["", ".", "..", "../orders", "a/b", ".hidden", "a\0b", "a\n", "é"])
def test_what_is_no_name(name):
    with pytest.raises(ValueError, match="name"):
        lray.Encrypt(name, ["x"])


def test_a_name_without_a_key(monkeypatch, tmp_path):
    with pytest.raises(FileNotFoundError):
        lray.Encrypt("others", ["x"])
    monkeypatch.delenv("LANECRYPT_KEYS")
    with pytest.raises(FileNotFoundError, match="/run/secrets/no-such-key"):
        lray.Encrypt("no-such-key", ["x"])


def test_nothing_with_a_key_is_pickled_or_printed(folder):
    (folder / "signing").write_bytes(lanecrypt.rsa.generate(1024)[0])
    for made in (lray.Encrypt("orders", ["x"]), lray.Decrypt("orders", ["x"]),
                 lray.GenerateKeys(1024, "orders"), lray.Sign("signing", "x")):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="pickled"):
                pickle.dumps(made, protocol)
        assert KEY.hex() not in repr(made) and repr(KEY)[2:20] not in repr(made)
    for provider in (lray.NamedKey("orders"), lray.WrappedKey(bytes(40), "orders")):
        again = pickle.loads(pickle.dumps(provider))
        assert repr(again) == repr(provider) and "orders" in repr(again)
        assert KEY not in pickle.dumps(provider)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="list of names"):
        lray.Encrypt("orders", "x")
    with pytest.raises(ValueError, match="device="):
        lray.Decrypt("orders", ["x"], device="cuda")
    with pytest.raises(KeyError):
        lray.Encrypt("orders", ["x"])({"y": objects([b""])})
    assert os.environ["LANECRYPT_KEYS"]
