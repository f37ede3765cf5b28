# SPDX-License-Identifier: Apache-2.0
"""lanecrypt.ray in a Ray cluster of two nodes on this machine, each of which reports a GPU:
actors read the keys, workers are killed, and nothing secret is in Ray's store."""

import glob
import os
import pathlib
import re
import signal
import sys
import time

import pytest

pytest.importorskip("ray", reason="needs Ray (dev/ray-test brings it)")
pytest.importorskip("pyarrow", reason="needs pyarrow, for Ray Data")
numpy = pytest.importorskip("numpy")

import ray  # noqa: E402
import ray.cluster_utils  # noqa: E402
import ray.data  # noqa: E402

import lanecrypt  # noqa: E402
from lanecrypt import ray as lray  # noqa: E402
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import padding  # noqa: E402

# The key is never in this file, which a worker could read.
KEY = os.urandom(32)
ROWS, BLOCKS = 64, 8
EMULATOR = {"devices": "host", "threshold_bytes": 0, "fallback": "none"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    (folder / "orders").write_bytes(KEY)
    return folder


@pytest.fixture(scope="module")
def cluster(folder):
    """Two nodes, whose workers see the folder of keys as they would see a mounted secret."""
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    before = dict(os.environ)
    os.environ["LANECRYPT_KEYS"] = str(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    # Writes nothing to the user's home, and tolerates a busy machine.
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled",
                      RAY_agent_register_timeout_ms="300000")
    node = {"num_cpus": 2, "num_gpus": 1, "object_store_memory": 100 << 20,
            "include_dashboard": False}
    made = ray.cluster_utils.Cluster(initialize_head=True, head_node_args=node)
    try:
        made.add_node(**{k: v for k, v in node.items() if k != "include_dashboard"})
        ray.init(address=made.address, log_to_driver=False)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
        os.environ.clear()
        os.environ.update(before)


def once(folder, name):
    """Returns whether this is the first call with that name, in any process."""
    try:
        os.close(os.open(pathlib.Path(folder) / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def die_once(folder, name):
    if once(folder, name):
        os.kill(os.getpid(), signal.SIGKILL)


def node_of_this():
    return ray.get_runtime_context().get_node_id()


def plaintext(n):
    return b"%03d" % n * 20


def rows():
    return ray.data.from_items([{"id": n, "text": plaintext(n)} for n in range(ROWS)],
                               override_num_blocks=BLOCKS)


def taken(dataset):
    found = sorted(dataset.take_all(), key=lambda row: row["id"])
    assert [row["id"] for row in found] == list(range(ROWS)), "rows are lost, or there twice"
    return found


def sealed_here(text_of=plaintext):
    """Returns rows that were encrypted outside of Ray."""
    text = numpy.empty(ROWS, dtype=object)
    text[:] = [text_of(n) for n in range(ROWS)]
    batch = lray.Encrypt("orders", ["text"], bind="id")({"id": numpy.arange(ROWS), "text": text})
    return [{"id": n, "text": batch["text"][n]} for n in range(ROWS)]


@pytest.fixture
def sealed(cluster):
    return ray.data.from_items(sealed_here(), override_num_blocks=BLOCKS)


def on_gpus(dataset, kind, **arguments):
    return dataset.map_batches(kind, num_gpus=1, concurrency=2, batch_size=ROWS // BLOCKS,
                               batch_format="numpy", fn_constructor_kwargs=arguments)


def test_there_and_back(cluster):
    class There(lray.Encrypt):
        def process(self, batch):
            time.sleep(0.2)  # so that the other node gets some too
            return {**batch, "node": numpy.array([node_of_this()] * len(batch["id"]))}

    arguments = {"key": "orders", "columns": ["text"], "bind": "id", "context": EMULATOR}
    done = on_gpus(rows(), There, **arguments).materialize()
    found = taken(done)
    assert len({row["node"] for row in found}) == 2
    assert len({row["text"][:12] for row in found}) == ROWS
    opened = taken(on_gpus(done, lray.Decrypt, **arguments))
    assert [row["text"] for row in opened] == [plaintext(n) for n in range(ROWS)]


def test_tensors(cluster):
    tensors = ray.data.range_tensor(ROWS, shape=(4, 3), override_num_blocks=BLOCKS)
    done = on_gpus(tensors, lray.Encrypt, key="orders", columns=["data"], context=EMULATOR)
    assert done.take(1)[0]["data"].shape == (28 + 96,)
    opened = on_gpus(done, lray.Decrypt, key="orders", columns={"data": ("i8", (4, 3))},
                     context=EMULATOR).take_all()
    assert sorted(int(row["data"][0, 0]) for row in opened) == list(range(ROWS))
    assert all((row["data"] == row["data"][0, 0]).all() for row in opened)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_worker_loses_nothing(cluster, sealed, tmp_path, when):
    """Ray runs its batch again in another actor, which reads the key again."""
    class Dies(lray.Decrypt):
        def __call__(self, batch):
            if when == "before" and 30 in batch["id"]:
                die_once(tmp_path, "killed")
            opened = super().__call__(batch)
            if when == "after" and 30 in batch["id"]:
                die_once(tmp_path, "killed")
            return opened

    found = taken(on_gpus(sealed, Dies, key="orders", columns=["text"], bind="id",
                          context=EMULATOR))
    assert (tmp_path / "killed").exists()
    assert [row["text"] for row in found] == [plaintext(n) for n in range(ROWS)]


def test_no_nonce_is_used_twice_where_a_worker_is_killed(cluster, tmp_path):
    """What the killed worker had encrypted is encrypted again, with other nonces."""
    class Dies(lray.Encrypt):
        def __call__(self, batch):
            done = super().__call__(batch)
            if 30 in batch["id"] and once(tmp_path, "killed"):
                (tmp_path / "nonces").write_bytes(b"".join(bytes(v[:12]) for v in done["text"]))
                os.kill(os.getpid(), signal.SIGKILL)
            return done

    found = taken(on_gpus(rows(), Dies, key="orders", columns=["text"]))
    lost = (tmp_path / "nonces").read_bytes()
    nonces = {row["text"][:12] for row in found} | {lost[n:n + 12] for n in range(0, len(lost), 12)}
    assert len(nonces) == ROWS + ROWS // BLOCKS


def test_a_wrong_value_ends_the_run(cluster):
    broken = sealed_here()
    broken[13]["text"] = broken[13]["text"][:-1] + bytes([broken[13]["text"][-1] ^ 1])
    dataset = ray.data.from_items(broken, override_num_blocks=BLOCKS)
    with pytest.raises(Exception) as caught:
        on_gpus(dataset, lray.Decrypt, key="orders", columns=["text"], bind="id").take_all()
    told = "".join(map(str, (caught.value, caught.value.__cause__, repr(caught.value))))
    assert "InvalidTag" in told and KEY.hex() not in told


def test_keys_and_signatures(cluster, tmp_path, folder):
    class Dies(lray.GenerateKeys):
        def __call__(self, batch):
            made = super().__call__(batch)
            if 3 in batch["id"]:
                die_once(tmp_path, "killed")
            return made

    made = ray.data.range(6, override_num_blocks=3).map_batches(
        Dies, num_gpus=1, concurrency=2, batch_size=2, batch_format="numpy",
        fn_constructor_kwargs={"bits": 1024, "wrapping_key": "orders"}).take_all()
    assert (tmp_path / "killed").exists()
    assert sorted(row["id"] for row in made) == list(range(6))
    assert len({row["public_key"] for row in made}) == 6
    row = made[0]
    signer = ray.remote(num_gpus=1)(lray.Sign).remote(
        lray.WrappedKey(row["wrapped_key"], "orders", row["public_key"]), "message")
    signed = ray.get(signer.__call__.remote({"message": [b"a", b"b"]}))
    public = serialization.load_der_public_key(row["public_key"])
    for message, signature in zip((b"a", b"b"), signed["signature"]):
        public.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
    ray.kill(signer)


def test_a_key_cannot_be_sent(cluster):
    """It cannot be sent as an argument, inside a provider, or in an object that uses it."""
    class Carries(lanecrypt.KeyProvider):
        def __init__(self, key):
            self.key = key

        def get_key(self):
            return self.key

    with pytest.raises(TypeError, match="pickled"):
        ray.put(lray.Encrypt("orders", ["text"]))
    with pytest.raises(TypeError, match="pickled"):
        ray.put(lanecrypt.AESGCM(KEY))
    encrypt = ray.remote(num_gpus=1)(lray.Encrypt)
    other = os.urandom(32)
    for key, why in ((other, "told by its name"), (Carries(other), "carries its key")):
        with pytest.raises(ray.exceptions.RayError, match=why):
            ray.get(encrypt.remote(key, ["text"]).__call__.remote({"text": []}))


def processes_of_ray():
    """Returns the raylets and the control store: all that the nodes store goes through their
    memory."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            program = pathlib.Path(path).read_bytes().split(b"\0")[0]
        except OSError:
            continue
        if os.path.basename(program) in (b"raylet", b"gcs_server"):
            found.append(int(path.split("/")[2]))
    return found


def is_in_memory(process, patterns):
    """Returns which of the patterns are in the memory of a process, including shared memory."""
    found = set()
    with open(f"/proc/{process}/maps", encoding="ascii") as maps, \
            open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in maps:
            area, rights = line.split()[:2]
            begin, end = (int(x, 16) for x in area.split("-"))
            if not rights.startswith("rw") or "[v" in line:
                continue
            step, at = 16 << 20, begin
            while at < end:
                try:
                    memory.seek(at)
                    data = memory.read(min(step + 256, end - at))
                except (OSError, ValueError, OverflowError):
                    break
                found |= {pattern for pattern in patterns if pattern in data}
                at += step
    return found


def test_the_store_has_no_key_and_no_plaintext(cluster):
    """process() keeps the plaintext in the actor. A marker that does go through the store shows
    that the test searches the right memory. No other test uses this plaintext, because Ray wipes
    nothing."""
    class Lengths(lray.Decrypt):
        def process(self, batch):
            return {"id": batch["id"], "length": numpy.array([len(t) for t in batch["text"]])}

    mark = os.urandom(32)
    kept = ray.put(numpy.frombuffer(mark * 40_000, "u1"))
    secret = os.urandom(60)
    dataset = ray.data.from_items(sealed_here(lambda n: secret), override_num_blocks=BLOCKS)
    found = taken(on_gpus(dataset, Lengths, key="orders", columns=["text"], bind="id").materialize())
    assert {row["length"] for row in found} == {60}
    processes = processes_of_ray()
    assert len(processes) >= 3
    try:
        there = set().union(*(is_in_memory(process, [KEY, KEY.hex().encode(), secret, mark])
                              for process in processes))
    except PermissionError:
        pytest.skip("needs the right to read the memory of Ray's processes")
    assert there == {mark}
    del kept
    logs = glob.glob(os.path.join(ray._private.worker._global_node.get_session_dir_path(), "**"),
                     recursive=True)
    texts = [pathlib.Path(path).read_bytes() for path in logs if os.path.isfile(path)]
    assert len(texts) > 5
    for text in texts:
        assert KEY not in text and KEY.hex().encode() not in text
        assert not re.search(re.escape(repr(KEY)[2:-1]).encode(), text)
