# SPDX-License-Identifier: Apache-2.0
"""Arrays on a CUDA device: where results are stored, streams, and that the GPU did the work."""

import asyncio
import contextlib
import hashlib
import importlib
import os
import threading
import time
import weakref

import pytest

import lanecrypt
from cryptography import exceptions
from cryptography.hazmat.primitives import ciphers
from cryptography.hazmat.primitives.ciphers import aead as pyca
from cryptography.hazmat.primitives.ciphers import algorithms, modes
from conftest import Work

KEY = bytes(range(32))
NONCE = bytes(12)
NONCES = b"".join(n.to_bytes(12, "big") for n in range(50))


@pytest.fixture
def torch(gpu):
    module = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    if module is None or not module.cuda.is_available():
        pytest.skip("needs a GPU and a PyTorch that uses it")
    return module


@pytest.fixture
def ours(gpu):
    return lanecrypt.AESGCM(KEY, context=gpu)


def raw(tensor):
    import torch
    return bytes(tensor.contiguous().view(torch.uint8).reshape(-1).cpu().numpy())


def by_pyca(data, aad=None):
    return pyca.AESGCM(KEY).encrypt(NONCE, data, aad)


@pytest.mark.parametrize("nbytes", [0, 1, 16, 1000, 1 << 20, (1 << 24) + 5])
def test_torch(ours, gpu, torch, nbytes):
    work = Work(gpu)
    tensor = torch.randint(0, 256, (nbytes,), dtype=torch.uint8, device="cuda")
    sealed = ours.encrypt(NONCE, tensor, b"x")
    assert sealed.is_cuda and sealed.dtype == torch.uint8
    assert raw(sealed) == by_pyca(raw(tensor), b"x")
    assert torch.equal(ours.decrypt(NONCE, sealed, b"x"), tensor)
    assert work.of("cuda:0") == 2 * nbytes and work.of("cpu") == 0


def test_torch_of_other_types(ours, torch):
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.int64, torch.bool):
        tensor = torch.randn(64, 33, device="cuda").to(kind)
        sealed, into = ours.encrypt(NONCE, tensor), torch.empty_like(tensor)
        ours.decrypt_into(NONCE, sealed, None, into)
        assert torch.equal(tensor, into)
    with pytest.raises(BufferError, match="contiguous"):
        ours.encrypt(NONCE, torch.zeros(8, 8, device="cuda").T)


@pytest.mark.parametrize("way", ["default", "current", "given", "object"])
def test_the_order_of_a_stream(ours, torch, way):
    """The input is written late in the stream. If a wait were missing, the earlier content would
    be encrypted. Later work in the stream must find the output."""
    side = torch.cuda.Stream()
    stream = torch.cuda.current_stream() if way == "default" else side
    tensor = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
    out = torch.zeros((1 << 20) + 16, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    expected = by_pyca(b"\7" * (1 << 20))
    for _ in range(5):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            tensor.fill_(7)
            if way in ("default", "current"):
                ours.encrypt_into(NONCE, tensor, None, out)
        if way == "given":
            ours.encrypt_into(NONCE, tensor, None, out, stream=side.cuda_stream)
        if way == "object":
            class Stream:
                def __cuda_stream__(self):
                    return 0, side.cuda_stream
            ours.encrypt_into(NONCE, tensor, None, out, stream=Stream())
        with torch.cuda.stream(stream):
            copy = out.clone()
        stream.synchronize()
        assert raw(copy) == expected
        # The tag behind the text is read in stream order too.
        with torch.cuda.stream(stream):
            back = torch.empty_like(tensor)
            torch.cuda._sleep(50_000_000)
            late = out.clone()
            ours.decrypt_into(NONCE, late, None, back)
        stream.synchronize()
        assert torch.equal(back, tensor)
        tensor.zero_()
        out.zero_()
        torch.cuda.synchronize()


@pytest.mark.parametrize("pinned", [True, False])
def test_to_host_memory(ours, gpu, torch, pinned):
    """Ciphertext is downloaded in pieces, from input that is written late in the stream."""
    work = Work(gpu)
    side, nbytes = torch.cuda.Stream(), (40 << 20) + 5
    tensor = torch.zeros(nbytes, dtype=torch.uint8, device="cuda")
    out = torch.empty(nbytes + 16, dtype=torch.uint8, pin_memory=pinned)
    torch.cuda.synchronize()
    expected = by_pyca(b"\7" * nbytes, b"x")
    for way in ("current", "given"):
        with torch.cuda.stream(side):
            torch.cuda._sleep(50_000_000)
            tensor.fill_(7)
            if way == "current":
                ours.encrypt_into(NONCE, tensor, b"x", out)
        if way == "given":
            ours.encrypt_into(NONCE, tensor, b"x", out, stream=side.cuda_stream)
        assert raw(out) == expected
        tensor.zero_()
        out.zero_()
        torch.cuda.synchronize()
    assert work.of("cuda:0") == 2 * nbytes and work.of("cpu") == 0


def test_a_wrong_tag_wipes(ours, torch):
    sealed = ours.encrypt(NONCE, torch.full((100_000,), 5, dtype=torch.uint8, device="cuda"))
    sealed[7] ^= 1
    out = torch.full((100_000,), 9, dtype=torch.uint8, device="cuda")
    with pytest.raises(exceptions.InvalidTag):
        ours.decrypt_into(NONCE, sealed, None, out)
    assert not out.any()


def test_rows(ours, torch):
    tensor = torch.randn(64, 1000, device="cuda")
    nonces = os.urandom(12 * 64)
    out, tags = ours.encrypt_many(nonces, tensor, b"all")
    assert out.is_cuda and tags.is_cuda and tags.shape == (64, 16) and out.dtype == tensor.dtype
    for n in range(0, 64, 9):
        assert raw(out[n]) + raw(tags[n]) == pyca.AESGCM(KEY).encrypt(
            nonces[12 * n:12 * n + 12], raw(tensor[n]), b"all")
    tags[5, 0] ^= 1
    with pytest.raises(exceptions.InvalidTag) as caught:
        ours.decrypt_many(nonces, out, tags, b"all", out=out)
    assert caught.value.failed == (5,)
    assert torch.equal(out[4], tensor[4]) and not out[5].any()


def test_verdicts_in_the_order_of_a_stream(ours, torch):
    """Tags and verdicts are on the device only, and all work waits in the stream."""
    layout = lanecrypt.Segments(1000, number=lanecrypt.Number(7), tags_inside=False)
    nonce, stream = bytes(12), torch.cuda.Stream()
    text = torch.randint(0, 256, (64_500,), dtype=torch.uint8, device="cuda")
    sealed, tags = ours.encrypt_segments(layout, nonce, text)
    tags[7, 3] ^= 1
    late, verdicts = torch.zeros_like(sealed), torch.full((65,), 9, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        late.copy_(sealed)
        job = ours.submit_decrypt_segments(layout, nonce, late, tags=tags, out=late,
                                           verdicts=verdicts)
        right, got = verdicts.clone(), late.clone()
    stream.synchronize()
    assert job.result(60) is late
    assert right.tolist() == [1] * 7 + [0] + [1] * 57
    assert torch.equal(got[:7000], text[:7000]) and torch.equal(got[8000:], text[8000:])
    assert not got[7000:8000].any()


def test_a_capture_is_refused(ours, torch):
    """The refusal spoils neither the graph nor later work."""
    tensor, out = torch.zeros(1000, dtype=torch.uint8, device="cuda"), []
    sealed, graph = ours.encrypt(NONCE, tensor), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tensor.add_(1)
        try:
            ours.encrypt_into(NONCE, tensor, None, sealed)
        except RuntimeError as error:
            out.append(str(error))
    assert len(out) == 1 and "captured" in out[0]
    graph.replay()
    torch.cuda.synchronize()
    assert raw(tensor) == b"\1" * 1000 and raw(ours.encrypt(NONCE, tensor)) == by_pyca(raw(tensor))


@pytest.mark.parametrize("kind", ["AESGCM", "ChaCha20Poly1305"])
@pytest.mark.parametrize("has_aad", [False, True])
def test_a_graph_seals_with_nonces_of_its_own(gpu, torch, kind, has_aad):
    """Each launch uses the next nonces. After the last launch that may encrypt, no launch
    encrypts. Associated data on the device are read at each launch."""
    aead, theirs = getattr(lanecrypt, kind)(KEY, context=gpu), getattr(pyca, kind)(KEY)
    layout = lanecrypt.Segments(4096, number=lanecrypt.Number(8, start=3), tags_inside=False)
    page = torch.zeros(10_000, dtype=torch.uint8, device="cuda")
    sealed, opened = torch.zeros_like(page), torch.zeros_like(page)
    tags, nonce = (torch.zeros(n, dtype=torch.uint8, device="cuda") for n in (48, 12))
    verdict, verdicts = (torch.zeros(n, dtype=torch.uint8, device="cuda") for n in (1, 3))
    aad = torch.zeros(21, dtype=torch.uint8, device="cuda") if has_aad else None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        page.add_(1)
        if has_aad:
            aad.add_(3)
        sealing = aead.capture_encrypt_segments(layout, b"x" * 8, page, aad, out=sealed, tags=tags,
                                                launches=2, verdict=verdict, nonce_out=nonce)
        opening = aead.capture_decrypt_segments(layout, nonce, sealed, aad, out=opened, tags=tags,
                                                verdicts=verdicts)
    for launch in range(3):
        graph.replay()
        torch.cuda.synchronize()
        if launch == 2:
            assert not (verdict.any() or sealed.any() or tags.any() or nonce.any())
            assert not (verdicts.any() or opened.any())
            break
        assert verdict.item() == 1 and verdicts.tolist() == [1, 1, 1]
        assert torch.equal(opened, page) and page[0] == launch + 1
        text, first = raw(page), 3 + 3 * launch
        assert raw(nonce) == b"x" * 8 + first.to_bytes(4, "big")
        for n in range(3):
            its = b"x" * 8 + (first + n).to_bytes(4, "big")
            part = text[4096 * n:4096 * (n + 1)]
            assert theirs.encrypt(its, part, raw(aad) if has_aad else None) == (
                raw(sealed[4096 * n:4096 * (n + 1)]) + raw(tags[16 * n:16 * (n + 1)]))
    del graph
    with sealing:
        pass
    opening.close()
    assert sealing.closed and opening.closed


@pytest.mark.parametrize("name", ["aes-ctr", "chacha20"])
@pytest.mark.parametrize("segment_bytes", [10_000, 4096, 100_000])
def test_a_graph_has_keystreams_of_its_own(gpu, torch, name, segment_bytes):
    """Each launch uses the next numbers, for one segment as for several."""
    cipher = lanecrypt.Cipher(name, KEY, context=gpu)
    layout = lanecrypt.Segments(segment_bytes, number=lanecrypt.Number(8, start=3))
    page = torch.zeros(10_000, dtype=torch.uint8, device="cuda")
    out, back = torch.zeros_like(page), torch.zeros_like(page)
    small = torch.zeros(17, dtype=torch.uint8, device="cuda")
    iv, verdict, count = small[:16], small[16:], layout.count(10_000)
    start = bytes.fromhex("00f0ffff0000000000000000fffff0f0" if name == "aes-ctr" else
                          "f0ff0000000000000000000001020304")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        page.add_(1)
        sealing = cipher.capture_encrypt_segments(layout, start, page, out=out, launches=40,
                                                  verdict=verdict, iv_out=iv)
        opening = cipher.capture_decrypt_segments(layout, iv, out, out=back)
    for launch in range(41):
        graph.replay()
        torch.cuda.synchronize()
        if launch == 40:
            assert not (verdict.any() or iv.any() or out.any())
            break
        assert verdict.item() == 1 and torch.equal(back, page) and page[0] == launch + 1
        text = raw(page)
        for n in range(count):
            its = start[:8] + (3 + launch * count + n).to_bytes(4, "big") + start[12:]
            if n == 0:
                assert raw(iv) == its
            mode = ((algorithms.AES(KEY), modes.CTR(its)) if name == "aes-ctr" else
                    (algorithms.ChaCha20(KEY, its), None))
            assert raw(out[segment_bytes * n:segment_bytes * (n + 1)]) == (
                ciphers.Cipher(*mode).encryptor().update(
                    text[segment_bytes * n:segment_bytes * (n + 1)]))
    del graph
    sealing.close()
    opening.close()


def test_a_graph_refuses_a_keystream_twice(gpu, torch):
    cipher = lanecrypt.Cipher("aes-ctr", KEY, context=gpu)
    page, verdict = (torch.zeros(n, dtype=torch.uint8, device="cuda") for n in (100, 1))
    out, graph = [], torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        page.add_(1)
        for number, launches in ((None, 1), (lanecrypt.Number(12), 1), (lanecrypt.Number(8, 1), 257)):
            layout = lanecrypt.Segments(100, number=number)
            try:
                cipher.capture_encrypt_segments(layout, bytes(16), page, out=page,
                                                launches=launches, verdict=verdict)
            except ValueError as error:
                out.append(str(error))
    assert ["same nonces" in out[0], "blocks of a segment" in out[1], "more numbers" in out[2]] == [
        True, True, True]
    graph.replay()
    torch.cuda.synchronize()
    assert raw(page) == b"\1" * 100


def test_a_graph_refuses_fixed_nonces(ours, torch):
    page, out = torch.zeros(100, dtype=torch.uint8, device="cuda"), []
    tag, verdict = (torch.zeros(n, dtype=torch.uint8, device="cuda") for n in (16, 1))
    layout = lanecrypt.Segments(100, number=None, tags_inside=False)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        page.add_(1)
        try:
            ours.capture_encrypt_segments(layout, NONCE, page, out=page, tags=tag, launches=1,
                                          verdict=verdict)
        except ValueError as error:
            out.append(str(error))
    assert len(out) == 1 and "same nonces" in out[0]
    graph.replay()
    torch.cuda.synchronize()
    assert raw(page) == b"\1" * 100
    numbered = lanecrypt.Segments(100, tags_inside=False)
    for stream, error, text in ((1, lanecrypt.UnsupportedError, "program has made"),
                                (torch.cuda.Stream(), ValueError, "not being captured")):
        with pytest.raises(error, match=text):
            ours.capture_encrypt_segments(numbered, NONCE, page, out=page, tags=tag, launches=1,
                                          verdict=verdict, stream=stream)


def test_jobs(ours, torch):
    tensors = [torch.full((1 << 20,), n, dtype=torch.uint8, device="cuda") for n in range(4)]
    jobs = [ours.submit_encrypt(NONCE, tensor) for tensor in tensors]
    for n, job in enumerate(jobs):
        assert raw(job.result(60)) == by_pyca(bytes([n]) * (1 << 20))


def test_a_wrong_tag_wipes_though_nobody_waits(ours, torch):
    sealed = ours.encrypt(NONCE, torch.ones(1000, dtype=torch.uint8, device="cuda"))
    sealed[3] ^= 1
    out = torch.ones(1000, dtype=torch.uint8, device="cuda")
    ours.submit_decrypt_into(NONCE, sealed, None, out)
    torch.cuda.synchronize()
    assert not out.any()


def test_more_jobs_than_slots(ours, torch):
    """Some of the jobs are polled, some waited for, some awaited, and some dropped."""
    data = torch.arange(100, dtype=torch.uint8, device="cuda")
    gone, outs, jobs = [], [], [[] for _ in range(4)]
    for n in range(1200):
        own, out = data.clone(), torch.zeros(116, dtype=torch.uint8, device="cuda")
        gone.append(weakref.ref(own))
        outs.append(out)
        jobs[n % 4].append(ours.submit_encrypt_into(NONCE, own, None, out))
    del own
    jobs[0].clear()

    async def all_of(awaited):
        async def one(job):
            return await job

        return await asyncio.gather(*[one(job) for job in awaited])

    results = asyncio.run(all_of(jobs[1]))
    threads = [threading.Thread(target=lambda: results.extend([job.result(60) for job in jobs[2]]))
               for _ in range(3)]
    for thread in threads:
        thread.start()
    for job in jobs[3]:
        while not job.done():
            pass
        results.append(job.result(0))
    for thread in threads:
        thread.join()
    assert results == [116] * 1500
    jobs.clear()
    del job
    until = time.monotonic() + 60
    while any(ref() is not None for ref in gone) and time.monotonic() < until:
        time.sleep(0.01)
    assert all(ref() is None for ref in gone)
    expected = by_pyca(raw(data))
    assert all(raw(out) == expected for out in outs)


def test_a_job_that_its_stream_holds_up(ours, torch):
    data = torch.zeros(1000, dtype=torch.uint8, device="cuda")
    out, stream = torch.zeros(1016, dtype=torch.uint8, device="cuda"), torch.cuda.Stream()
    torch.cuda.synchronize()
    for hears in ("result", "await", "nobody"):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
            data.add_(1)
            job = ours.submit_encrypt_into(NONCE, data, None, out)
        if hears == "result":
            with contextlib.suppress(TimeoutError):
                job.result(0)
            assert job.result(60) == 1016
        elif hears == "await":
            async def one():
                return await job

            assert asyncio.run(one()) == 1016
        del job
        stream.synchronize()
        assert raw(out) == by_pyca(raw(data))


def test_ciphers_and_keystream(gpu, torch):
    cipher = lanecrypt.Cipher("aes-ctr", KEY, context=gpu)
    tensor = torch.randn(333, 7, device="cuda")
    sealed = cipher.encrypt(bytes(16), tensor)
    assert sealed.shape == tensor.shape and sealed.dtype == tensor.dtype
    assert raw(cipher.decrypt(bytes(16), sealed)) == raw(tensor)
    stream, parts = cipher.encryptor(bytes(16)), []
    for part in tensor.view(torch.uint8).reshape(-1).split(1000):
        parts.append(stream.update(part))
    assert raw(torch.cat(parts)) == raw(sealed)
    out = torch.ones(1001, dtype=torch.uint8, device="cuda")
    lanecrypt.keystream(KEY, NONCE, out=out, context=gpu)
    assert raw(out) == lanecrypt.keystream(KEY, NONCE, 1001,
                                           context=lanecrypt.Context(devices="none"))


@pytest.mark.parametrize("way", [0, 1, 2, "other"])
def test_the_order_of_a_stream_that_is_not_the_current_one(ours, gpu, torch, way):
    """Zeros for a keystream, and memory for a result, are made in the order of the call's
    stream, even if PyTorch works in another stream that is held up."""
    other, busy = torch.cuda.Stream(), torch.cuda.Stream()
    stream = other.cuda_stream if way == "other" else way
    expected = lanecrypt.keystream(KEY, NONCE, 1 << 20, context=lanecrypt.Context(devices="none"))
    out = torch.ones(1 << 20, dtype=torch.uint8, device="cuda")
    data = torch.full((1 << 20,), 7, dtype=torch.uint8, device="cuda")
    for warm in (True, False):
        torch.cuda.synchronize()
        with torch.cuda.stream(busy):
            if not warm:
                torch.cuda._sleep(200_000_000)
            lanecrypt.keystream(KEY, NONCE, out=out, stream=stream, context=gpu)
        torch.cuda.synchronize()
        assert raw(out) == expected
    with torch.cuda.stream(busy):
        # This memory is free again only for the stream that still writes to it.
        before = torch.empty((1 << 20) + 16, dtype=torch.uint8, device="cuda")
        torch.cuda._sleep(200_000_000)
        before.fill_(9)
        del before
        sealed = ours.encrypt(NONCE, data, stream=stream)
    torch.cuda.synchronize()
    assert raw(sealed) == by_pyca(raw(data))


def test_cupy(ours, gpu):
    cupy = pytest.importorskip("cupy")
    array = cupy.arange(5000, dtype="f4").reshape(50, 100)
    sealed = ours.encrypt(NONCE, array)
    assert isinstance(sealed, cupy.ndarray) and sealed.get().tobytes() == by_pyca(
        array.get().tobytes())
    with cupy.cuda.Stream(non_blocking=True):
        out, tags = ours.encrypt_many(NONCES, array)
        assert (ours.decrypt_many(NONCES, out, tags) == array).all()
    with pytest.raises(BufferError, match="contiguous"):
        ours.encrypt(NONCE, array.T)
    expected = lanecrypt.keystream(KEY, NONCE, 1000, context=lanecrypt.Context(devices="none"))
    out = cupy.ones(1000, "u1")
    other = cupy.cuda.Stream(non_blocking=True)
    for stream in (None, 0, 1, 2, other.ptr):
        cupy.cuda.Device().synchronize()
        with cupy.cuda.Stream(non_blocking=True):
            lanecrypt.keystream(KEY, NONCE, out=out, stream=stream, context=gpu)
        assert out.get().tobytes() == expected


def test_jax(ours, gpu):
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("needs a GPU and a JAX that uses it")
    array = jax.numpy.arange(5000, dtype="float32").reshape(50, 100)
    sealed = ours.encrypt(NONCE, array)
    assert isinstance(sealed, jax.Array) and bytes(jax.device_get(sealed)) == by_pyca(
        jax.device_get(array).tobytes())
    out, tags = ours.encrypt_many(NONCES, array)
    assert out.shape == array.shape and out.dtype == array.dtype
    assert (ours.decrypt_many(NONCES, out, tags) == array).all()
    with pytest.raises(TypeError, match="immutable"):
        ours.decrypt_into(NONCE, sealed, None, array)


def test_numba(ours, gpu):
    cuda = pytest.importorskip("numba.cuda")
    numpy = pytest.importorskip("numpy")
    if not cuda.is_available():
        pytest.skip("needs a GPU and a Numba that uses it")
    array = cuda.to_device(numpy.arange(1000, dtype="u1"))
    assert ours.encrypt(NONCE, array).copy_to_host().tobytes() == by_pyca(
        array.copy_to_host().tobytes())
    expected = lanecrypt.keystream(KEY, NONCE, 1000, context=lanecrypt.Context(devices="none"))
    for stream in (None, 0, 1, 2, cuda.stream()):
        number = stream if stream is None else int(stream)
        lanecrypt.keystream(KEY, NONCE, out=array, stream=number, context=gpu)
        assert array.copy_to_host().tobytes() == expected


def test_memory_for_others(ours, gpu, torch):
    memory = gpu.allocate("cuda:0", 1000)
    memory.copy_from(b"\3" * 1000)
    tensor = torch.from_dlpack(memory)
    assert raw(tensor) == b"\3" * 1000
    del memory
    assert raw(ours.encrypt(NONCE, tensor)) == by_pyca(b"\3" * 1000)


def test_hashes_of_tensors(gpu, torch):
    tensor = torch.randint(0, 256, (5000, 333), dtype=torch.uint8, device="cuda")
    work = Work(gpu)
    digests = lanecrypt.hash_many("sha256", tensor, context=gpu)
    assert digests.is_cuda and digests.shape == (5000, 32) and digests.dtype == torch.uint8
    rows = tensor.cpu().numpy()
    assert raw(digests) == b"".join(hashlib.sha256(row.tobytes()).digest() for row in rows)
    text = raw(tensor)
    root, leaf = lanecrypt.blake3(tensor, context=gpu), lanecrypt.merkle_root(tensor, 1000, context=gpu)
    assert work.of("cuda:0") == 3 * tensor.numel() and work.of("cpu") == 0
    with lanecrypt.Context(devices="none") as cpu:
        assert root == lanecrypt.blake3(text, context=cpu)
        assert leaf == lanecrypt.merkle_root(text, 1000, context=cpu)


def test_a_hash_follows_what_is_in_its_stream(gpu, torch):
    stream = torch.cuda.Stream()
    late = torch.zeros(1 << 22, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        late.fill_(7)
        digest = lanecrypt.blake3(late, context=gpu)
    with lanecrypt.Context(devices="none") as cpu:
        assert digest == lanecrypt.blake3(b"\7" * (1 << 22), context=cpu)
        assert lanecrypt.blake3(late, stream=stream, context=gpu) == digest
