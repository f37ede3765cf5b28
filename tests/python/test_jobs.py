# SPDX-License-Identifier: Apache-2.0
"""Jobs, threads and asyncio."""

import asyncio
import gc
import os
import pickle
import sys
import threading
import time
import weakref

import pytest

import lanecrypt
from cryptography import exceptions
from cryptography.hazmat.primitives.ciphers import aead as pyca
from conftest import emulator

KEY = bytes(range(32))
NONCE = bytes(12)
# So long that a job is still pending when the call that started it returns.
LONG = 4 << 20


def test_results(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    text = os.urandom(1000)
    job = ours.submit_encrypt(NONCE, text, b"x")
    sealed = job.result()
    assert sealed == pyca.AESGCM(KEY).encrypt(NONCE, text, b"x")
    assert job.done() and job.result(0) is sealed
    assert ours.submit_decrypt(NONCE, sealed, b"x").result(60) == text
    into = bytearray(1016)
    assert ours.submit_encrypt_into(NONCE, text, b"x", into).result() == 1016 and into == sealed
    back = bytearray(1000)
    assert ours.submit_decrypt_into(NONCE, into, b"x", back).result() == 1000 and back == text
    out, tags = ours.submit_encrypt_many([NONCE], [text], b"x").result()
    assert out[0] + tags[0] == sealed
    assert ours.submit_decrypt_many([NONCE], out, tags, b"x").result() == [text]


def test_a_job_lets_go_of_its_input(context):
    ours, text = lanecrypt.AESGCM(KEY, context=context), bytearray(100)
    job = ours.submit_encrypt(NONCE, text)
    sealed = job.result()
    text.append(1)  # BufferError as long as a job holds the memory
    assert job.done() and job.result() is sealed


def test_a_wrong_tag_each_time(context):
    job = lanecrypt.AESGCM(KEY, context=context).submit_decrypt(NONCE, bytes(100))
    for _ in range(2):
        with pytest.raises(exceptions.InvalidTag) as caught:
            job.result()
        assert caught.value.failed == (0,)
    assert job.done()


def test_wrong_arguments_are_told_at_once(cpu):
    ours = lanecrypt.AESGCM(KEY, context=cpu)
    with pytest.raises(ValueError):
        ours.submit_encrypt(bytes(7), b"")
    with pytest.raises(exceptions.InvalidTag):
        ours.submit_decrypt(NONCE, b"")


def test_a_timeout(host):
    ours = lanecrypt.AESGCM(KEY, context=host)
    job = ours.submit_encrypt(NONCE, bytes(LONG))
    with pytest.raises(TimeoutError):
        job.result(0)
    with pytest.raises(ValueError, match="not a number"):
        job.result(float("nan"))
    assert not job.done()
    assert job.result(timeout=60)[:LONG] == pyca.AESGCM(KEY).encrypt(NONCE, bytes(LONG), None)[:-16]


def test_others_run_meanwhile(host):
    """Waiting releases the GIL."""
    ours = lanecrypt.AESGCM(KEY, context=host)
    for call in (lambda: ours.encrypt(NONCE, bytes(LONG)),
                 lambda: ours.submit_encrypt(NONCE, bytes(LONG)).result()):
        ended, turns = threading.Event(), 0
        thread = threading.Thread(target=lambda: (call(), ended.set()))
        thread.start()
        while not ended.is_set():
            turns += 1
            time.sleep(0.001)
        thread.join()
        assert turns > 5


def test_done_brings_no_surprise(context):
    job = lanecrypt.AESGCM(KEY, context=context).submit_encrypt(NONCE, b"text")
    while not job.done():
        time.sleep(0.001)
    assert job.result(0) == pyca.AESGCM(KEY).encrypt(NONCE, b"text", None)


def test_thousands_at_once(context):
    """Some of the jobs are waited for, some awaited, and some dropped."""
    ours, theirs = lanecrypt.AESGCM(KEY, context=context), pyca.AESGCM(KEY)
    let_go, jobs, gone = [], [], []
    for n in range(2000):
        data, out = Input(b"%d" % n), bytearray(16 + len(b"%d" % n))
        gone.append(weakref.ref(data))
        job = ours.submit_encrypt_into(NONCE, data, None, out)
        if n % 3 == 0:
            let_go.append((n, out))
        else:
            jobs.append((n, out, job))
    del data, job

    async def rest():
        async def one(job):
            return await job

        return await asyncio.gather(*[one(job) for n, _, job in jobs if n % 3 == 1])

    assert asyncio.run(rest()) == [len(out) for n, out, _ in jobs if n % 3 == 1]
    assert all(job.result() == len(out) for _, out, job in jobs)
    expected = [(n, out) for n, out, _ in jobs]
    del jobs
    until = time.monotonic() + 60
    while any(ref() is not None for ref in gone) and time.monotonic() < until:
        time.sleep(0.01)
    assert all(ref() is None for ref in gone)
    for n, out in expected + let_go:
        assert out == theirs.encrypt(NONCE, b"%d" % n, None)


def test_one_job_by_every_way(host):
    job = lanecrypt.AESGCM(KEY, context=host).submit_encrypt(NONCE, bytes(LONG))
    results = []

    def ask():
        while not job.done():
            pass
        results.append(job.result(0))

    async def work():
        return await job

    threads = [threading.Thread(target=ask),
               threading.Thread(target=lambda: results.append(job.result())),
               threading.Thread(target=lambda: results.append(asyncio.run(work())))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3 and all(result is results[0] for result in results)


def test_many_threads(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    theirs = pyca.AESGCM(KEY)
    wrong = []

    def work(number):
        for turn in range(20):
            nonce, text = bytes([number, turn] * 6), os.urandom(100 * number + turn)
            sealed = theirs.encrypt(nonce, text, None)
            if ours.encrypt(nonce, text) != sealed or ours.decrypt(nonce, sealed) != text:
                wrong.append((number, turn))
            job = ours.submit_encrypt(nonce, text)
            if job.result() != sealed:
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_threads_wait_for_one_job(host):
    job = lanecrypt.AESGCM(KEY, context=host).submit_encrypt(NONCE, bytes(LONG))
    results = []
    threads = [threading.Thread(target=lambda: results.append(job.result())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(result is results[0] for result in results)


class Input(bytearray):
    """Input that shows when it is freed."""


def test_many_threads_take_a_result_while_its_input_goes(context):
    """A tensor's destructor releases the GIL, in the middle of freeing what the job kept."""
    numpy = pytest.importorskip("numpy")
    aead = lanecrypt.AESGCM(KEY, context=context)
    ends = []

    class Slow(numpy.ndarray):
        def __del__(self):
            ends.append(None)
            time.sleep(0.05)

    expected = pyca.AESGCM(KEY).encrypt(NONCE, bytes(1000), None)
    for _ in range(5):
        job = aead.submit_encrypt(NONCE, memoryview(numpy.zeros(1000, "u1").view(Slow)), None)
        while not job.done():
            time.sleep(0.001)
        results = []
        threads = [threading.Thread(target=lambda: results.append(bytes(job.result(60))))
                   for _ in range(4)]
        before = len(ends)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [expected] * 4
        assert len(ends) == before + 1


@pytest.mark.parametrize("length", [100, LONG])
def test_a_job_keeps_its_memory(host, length):
    data = Input(length)
    gone = weakref.ref(data)
    job = lanecrypt.AESGCM(KEY, context=host).submit_encrypt(NONCE, data)
    with pytest.raises(BufferError):
        data.append(1)
    del data
    gc.collect()
    assert gone() is not None
    job.result()
    del job
    gc.collect()
    assert gone() is None


def test_an_abandoned_job_keeps_its_memory_until_its_end(host):
    data, out = Input(LONG), bytearray(LONG + 16)
    gone = weakref.ref(data)
    job = lanecrypt.AESGCM(KEY, context=host).submit_encrypt_into(NONCE, data, None, out)
    assert not job.done()
    del job, data
    assert gone() is not None
    until = time.monotonic() + 60
    while gone() is not None and time.monotonic() < until:
        time.sleep(0.01)
    assert gone() is None
    assert out == pyca.AESGCM(KEY).encrypt(NONCE, bytes(LONG), None)


def test_a_job_is_not_pickled(host):
    job = lanecrypt.AESGCM(KEY, context=host).submit_encrypt(NONCE, b"text")
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(job)
    assert "text" not in repr(job)
    job.result()


def test_no_reference_is_lost(context):
    ours = lanecrypt.AESGCM(KEY, context=context)
    data, out = bytearray(b"text"), bytearray(20)

    def turn():
        ours.encrypt_into(NONCE, data, data, out)
        ours.submit_encrypt_into(NONCE, data, data, out).result()
        for wrong in (lambda: ours.decrypt_into(NONCE, out, None, data),
                      lambda: ours.encrypt_into(bytes(1), data, None, out),
                      lambda: ours.encrypt_into(NONCE, data, 5, out),
                      lambda: ours.encrypt_into(NONCE, data, None, bytearray(3))):
            try:
                wrong()
            except Exception:
                pass

    turn()
    data[:] = b"text"
    before = sys.getrefcount(data), sys.getrefcount(out)
    for _ in range(50):
        turn()
    gc.collect()
    assert (sys.getrefcount(data), sys.getrefcount(out)) == before
    data.append(1)  # no buffer is held any more


# ---- asyncio ----


def test_await(context):
    ours = lanecrypt.AESGCM(KEY, context=context)

    async def work():
        sealed = await ours.submit_encrypt(NONCE, b"text")
        assert await ours.submit_decrypt(NONCE, sealed) == b"text"
        with pytest.raises(exceptions.InvalidTag):
            await ours.submit_decrypt(NONCE, bytes(100))
        texts = [os.urandom(100) for _ in range(50)]
        jobs = [ours.submit_encrypt(bytes([n]) * 12, text) for n, text in enumerate(texts)]

        async def one(job):
            return await job

        all_sealed = await asyncio.gather(*[one(job) for job in jobs])
        assert all_sealed == [pyca.AESGCM(KEY).encrypt(bytes([n]) * 12, text, None)
                              for n, text in enumerate(texts)]
        return sealed

    assert asyncio.run(work()) == pyca.AESGCM(KEY).encrypt(NONCE, b"text", None)


def test_several_await_one_job(host):
    job = lanecrypt.AESGCM(KEY, context=host).submit_encrypt(NONCE, bytes(LONG))

    async def one():
        return await job

    async def work():
        return await asyncio.gather(one(), one(), one())

    results = asyncio.run(work())
    assert results[0] is results[1] is results[2]


def test_the_loop_turns_meanwhile(host):
    job = lanecrypt.AESGCM(KEY, context=host).submit_encrypt(NONCE, bytes(LONG))

    async def work():
        turns = 0

        async def count():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.001)

        counting = asyncio.create_task(count())
        assert not job.done()
        await job
        counting.cancel()
        return turns

    assert asyncio.run(work()) > 5


def test_a_waiter_that_is_cancelled(host):
    job = lanecrypt.AESGCM(KEY, context=host).submit_encrypt(NONCE, bytes(LONG))
    before = len(os.listdir("/proc/self/fd"))

    async def work():
        async def one():
            return await job

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(one(), 0.001)
        return await job

    sealed = asyncio.run(work())
    assert sealed[-16:] == pyca.AESGCM(KEY).encrypt(NONCE, bytes(LONG), None)[-16:]
    assert len(os.listdir("/proc/self/fd")) <= before


# ---- Contexts ----


def test_a_closed_context():
    context = emulator()
    ours = lanecrypt.AESGCM(KEY, context=context)
    sealed = ours.encrypt(NONCE, b"text")
    job, unasked = (ours.submit_decrypt(NONCE, sealed) for _ in range(2))
    memory = context.allocate("host:0", 100)
    context.close()
    context.close()
    assert context.closed and job.done() and job.result() == b"text"
    assert unasked.result(0) == unasked.result(0) == b"text"
    for call in (lambda: ours.encrypt(NONCE, b""), lambda: ours.submit_encrypt(NONCE, b""),
                 context.devices, context.counters, memory.to_bytes):
        with pytest.raises(ValueError, match="closed"):
            call()
    del memory


def test_close_waits_for_jobs_and_threads():
    context = emulator()
    ours = lanecrypt.AESGCM(KEY, context=context)
    sealed, started = [], threading.Event()

    def work():
        started.set()
        sealed.append(ours.encrypt(NONCE, bytes(LONG)))

    thread = threading.Thread(target=work)
    job = ours.submit_encrypt(NONCE, bytes(LONG))
    thread.start()
    started.wait()
    time.sleep(0.02)
    context.close()
    assert job.done()
    thread.join()
    assert len(sealed) == 1 and len(sealed[0]) == LONG + 16


@pytest.mark.parametrize("options", [
    {"devices": "nothing"}, {"devices": "host,,"}, {"devices": "ho\0st"}, {"fallback": "x"},
    {"verify": 5}, {"prefer": None}, {"prime_pool": 70_000}, {"cores": -1},
])
def test_wrong_options(options):
    with pytest.raises(ValueError):
        lanecrypt.Context(**options)


def test_options_of_wrong_types():
    for options in ({"devices": 5}, {"threshold_bytes": "x"}, {"cores": 1.5}):
        with pytest.raises(TypeError):
            lanecrypt.Context(**options)


def test_no_device_and_no_fallback():
    with lanecrypt.Context(devices="none", threshold_bytes=0, fallback="none") as context:
        with pytest.raises(lanecrypt.NoDeviceError):
            lanecrypt.AESGCM(KEY, context=context).encrypt(NONCE, b"text")


def test_devices(host):
    first = host.devices()[0]
    assert (first.id, first.api, first.selected, first.is_gpu) == ("host:0", "host", True, False)
    host.test("host:0")
    assert host.devices()[0].state == "ready"
    with pytest.raises(lanecrypt.NoDeviceError):
        host.test("cuda:99")
    assert set(host.counters()) >= {"host:0", "cpu"}
