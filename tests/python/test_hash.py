# SPDX-License-Identifier: Apache-2.0
"""Hashes, compared with hashlib, with BLAKE3's test vectors and package, and Merkle trees with
their definition."""

import hashlib
import os
import random

import pytest

import lanecrypt
from conftest import Work, framework

NAMES = ["sha224", "sha256", "sha384", "sha512", "sha3-224", "sha3-256", "sha3-384", "sha3-512"]
LENGTHS = [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 135, 136, 137, 1000, 5000]

# The first 32 bytes of the answers of BLAKE3's test vectors: hash, keyed_hash and derive_key.
VECTOR_KEY = b"whats the Elvish word for friend"
VECTOR_CONTEXT = "BLAKE3 2019-12-27 16:29:52 test vectors context"
VECTORS = {
    0: [
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26",
        "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d",
    ],
    1: [
        "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
        "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b",
        "b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c",
    ],
    1023: [
        "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11",
        "c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e",
        "74a16c1c3d44368a86e1ca6df64be6a2f64cce8f09220787450722d85725dea5",
    ],
    1024: [
        "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
        "75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4",
        "7356cd7720d5b66b6d0697eb3177d9f8d73a4a5c5e968896eb6a689684302706",
    ],
    1025: [
        "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
        "357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69",
        "effaa245f065fbf82ac186839a249707c3bddf6d3fdda22d1b95a3c970379bcb",
    ],
    2049: [
        "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030",
        "9f29700902f7c86e514ddc4df1e3049f258b2472b6dd5267f61bf13983b78dd5",
        "2ea477c5515cc3dd606512ee72bb3e0e758cfae7232826f35fb98ca1bcbdf273",
    ],
    31744: [
        "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47",
        "efa53b389ab67c593dba624d898d0f7353ab99e4ac9d42302ee64cbf9939a419",
        "39772aef80e0ebe60596361e45b061e8f417429d529171b6764468c22928e28e",
    ],
    102400: [
        "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085",
        "1c35d1a5811083fd7119f5d5d1ba027b4d01c0c6c49fb6ff2cf75393ea5db4a7",
        "4652cff7a3f385a6103b5c260fc1593e13c778dbe608efb092fe7ee69df6e9c6",
    ],
}


def reference(name, text, digest_bytes=None):
    if name.startswith("shake"):
        return hashlib.new(name.replace("shake", "shake_"), text).digest(
            digest_bytes or {"shake128": 32, "shake256": 64}[name])
    return hashlib.new(name.replace("sha3-", "sha3_"), text).digest()


def messages():
    source = random.Random(5)
    return [source.randbytes(length) for length in LENGTHS]


@pytest.mark.parametrize("name", NAMES + ["shake128", "shake256"])
def test_many_equal_hashlib(context, name):
    texts = messages()
    assert lanecrypt.hash_many(name, texts, context=context) == [reference(name, text) for text in texts]
    assert lanecrypt.hash_many(name, tuple(map(memoryview, texts)), context=context) == [
        reference(name, text) for text in texts]
    assert lanecrypt.hash_many(name, [], context=context) == []


def test_the_device_does_it(host, work):
    texts = messages()
    lanecrypt.hash_many("sha256", texts, context=host)
    assert work.of("host:0") == sum(LENGTHS) and work.of("cpu") == 0
    lanecrypt.blake3(bytes(5000), context=host)
    lanecrypt.merkle_root(bytes(5000), 100, context=host)
    assert work.of("host:0") == sum(LENGTHS) + 10000 and work.of("cpu") == 0


@pytest.mark.parametrize("name, length", [("shake128", 1), ("shake256", 333), ("blake3", 100)])
def test_digests_of_other_lengths(context, name, length):
    given = lanecrypt.hash_many(name, [b"abc", b""], digest_bytes=length, context=context)
    if name == "blake3":
        assert given == [lanecrypt.blake3(text, digest_bytes=length, context=context) for text in (b"abc", b"")]
        assert given[0][:32] == lanecrypt.blake3(b"abc", context=context)
    else:
        assert given == [reference(name, text, length) for text in (b"abc", b"")]


def vector_input(length):
    return bytes(n % 251 for n in range(length))


@pytest.mark.parametrize("length", VECTORS)
def test_blake3_gives_its_test_vectors(context, length):
    text = vector_input(length)
    plain, keyed, derived = map(bytes.fromhex, VECTORS[length])
    assert lanecrypt.blake3(text, context=context) == plain
    assert lanecrypt.hash_many("blake3", [text], context=context) == [plain]
    assert lanecrypt.blake3(text, key=VECTOR_KEY, context=context) == keyed
    assert lanecrypt.blake3(text, derive_key_context=VECTOR_CONTEXT, context=context) == derived


def test_blake3_equals_its_package(context):
    blake3 = pytest.importorskip("blake3").blake3
    for length in [*range(0, 9000, 333), 1 << 20, (1 << 20) + 1]:
        text = random.Random(length).randbytes(length)
        assert lanecrypt.blake3(text, context=context, digest_bytes=70) == blake3(text).digest(70)
        assert lanecrypt.blake3(text, key=VECTOR_KEY, context=context) == blake3(text, key=VECTOR_KEY).digest()
        assert lanecrypt.blake3(text, derive_key_context="a ü", context=context) == blake3(
            text, derive_key_context="a ü").digest()


def merkle_root(leaves):
    if len(leaves) == 0:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + merkle_root(leaves[:half]) + merkle_root(leaves[half:])).digest()


@pytest.mark.parametrize("length, leaf", [(0, 5), (4, 5), (5, 5), (6, 5), (70_000, 64), (100_000, 999)])
def test_merkle_roots(context, length, leaf):
    text = random.Random(length).randbytes(length)
    expected = merkle_root([text[at:at + leaf] for at in range(0, length, leaf)])
    assert lanecrypt.merkle_root(text, leaf, context=context) == expected


def test_an_array_is_many_messages(context):
    numpy = framework("numpy")
    rows = numpy.frombuffer(os.urandom(7 * 40), "<f4").reshape(7, 2, 5)
    expected = b"".join(reference("sha512", row.tobytes()) for row in rows)
    made = lanecrypt.hash_many("sha512", rows, context=context)
    assert isinstance(made, numpy.ndarray) and made.shape == (7, 64) and made.dtype == "u1"
    assert made.tobytes() == expected
    out = bytearray(7 * 64)
    assert lanecrypt.hash_many("sha512", rows, out=out, context=context) is out
    assert out == expected
    # A single hash takes the whole memory of the array, whatever its shape.
    assert lanecrypt.blake3(rows, context=context) == lanecrypt.blake3(rows.tobytes(), context=context)
    made = lanecrypt.hash_many("sha512", list(rows), context=context)
    assert made.tobytes() == expected
    assert lanecrypt.hash_many("sha256", numpy.zeros((0, 3)), context=context).shape == (0, 32)


def test_tensors_of_the_cpu(context):
    torch = framework("torch")
    tensor = torch.randn(5, 100)
    made = lanecrypt.hash_many("sha256", tensor, context=context)
    assert isinstance(made, torch.Tensor) and made.shape == (5, 32) and made.dtype == torch.uint8
    assert [bytes(row) for row in made.tolist()] == [
        reference("sha256", row.numpy().tobytes()) for row in tensor]


def test_memory_of_a_device(host):
    text = random.Random(1).randbytes(3000)
    memory = host.allocate("host:0", len(text))
    memory.copy_from(text)
    work = Work(host)
    assert lanecrypt.blake3(memory, context=host) == lanecrypt.blake3(text, context=host)
    assert lanecrypt.merkle_root(memory, 100, context=host) == lanecrypt.merkle_root(text, 100, context=host)
    [one] = lanecrypt.hash_many("sha256", [text], context=host)
    out = host.allocate("host:0", 32)
    assert lanecrypt.hash_many("sha256", [memory], out=out, context=host) is out
    assert out.to_bytes() == one == reference("sha256", text)
    assert work.of("cpu") == 0
    with pytest.raises(ValueError, match="one device"):
        lanecrypt.hash_many("sha256", [memory, text], context=host)


def test_what_is_wrong(context):
    with pytest.raises(ValueError, match="there is no hash 'md5'"):
        lanecrypt.hash_many("md5", [], context=context)
    with pytest.raises(ValueError, match="there is no hash"):
        lanecrypt.hash_many("merkle-sha256", [], context=context)
    with pytest.raises(ValueError, match="32 bytes, not 16"):
        lanecrypt.hash_many("sha256", [b""], digest_bytes=16, context=context)
    for length in (0, (1 << 30) + 1):
        with pytest.raises(ValueError, match="1 to"):
            lanecrypt.blake3(b"", digest_bytes=length, context=context)
    with pytest.raises(ValueError, match="64 bytes"):
        lanecrypt.hash_many("sha256", [b"", b""], out=bytearray(63), context=context)
    with pytest.raises(ValueError, match="first one numbers"):
        lanecrypt.hash_many("sha256", b"abc", context=context)
    with pytest.raises(ValueError, match="32 bytes, not 31"):
        lanecrypt.blake3(b"", key=bytes(31), context=context)
    with pytest.raises(TypeError, match="either"):
        lanecrypt.blake3(b"", key=bytes(32), derive_key_context="x", context=context)
    with pytest.raises(TypeError, match="is a str"):
        lanecrypt.blake3(b"", derive_key_context=b"x", context=context)
    with pytest.raises(ValueError, match="1 byte"):
        lanecrypt.merkle_root(b"", 0, context=context)
    with pytest.raises(TypeError):
        lanecrypt.blake3("text", context=context)
    with pytest.raises(ValueError, match="stream"):
        lanecrypt.blake3(b"", stream=1, context=context)


@pytest.mark.parametrize("name", ["sha3-224", "sha3-256", "sha3-384", "sha3-512", "shake-128", "shake-256"])
def test_names_of_hashlib(context, name):
    own, theirs = name.replace("shake-", "shake"), name.replace("-", "_")
    expected = lanecrypt.hash_many(own, [b"text"], context=context)
    for spelled in (own, theirs, name):
        assert lanecrypt.hash_many(spelled, [b"text"], context=context) == expected
    length = [len(expected[0])] if "shake" in name else []
    assert expected[0] == getattr(hashlib, theirs)(b"text").digest(*length)
    for wrong in (own.upper(), own + "_", own.replace("sha", "sha_"), "_", ""):
        with pytest.raises(ValueError, match="there is no hash"):
            lanecrypt.hash_many(wrong, [b"text"], context=context)
