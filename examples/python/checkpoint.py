# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.checkpoint that writes ciphertext: every tensor is encrypted where it lies, and
`.metadata` too.

    python3 checkpoint.py [FOLDER]

Two things look like the way and are not. StreamTransformExtension sees tensors only after they came
to the CPU as plaintext, and none of them at all where the writer serializes as safetensors: an
extension that encrypts would let plaintext through, and say nothing. And `.metadata` is a pickle:
whoever can change it runs code in the job that loads it, so it must be authenticated first.
"""

import dataclasses
import io
import os
import pathlib
import pickle
import sys
import tempfile

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta
from torch.distributed.checkpoint.planner import LoadItemType, WriteItemType
from torch.distributed.checkpoint.storage import WriteResult
from torch.futures import Future

import lanecrypt

device = "cuda" if torch.cuda.is_available() else "cpu"


@dataclasses.dataclass
class Place:
    """Where one piece of a checkpoint lies, and what it is."""

    file: str
    offset: int
    length: int
    dtype: object = None
    shape: tuple = ()


def told(name, index):
    """What is authenticated with a piece: of which checkpoint it is, and which part."""
    return repr((name, index.fqn, tuple(index.offset or ()), index.index)).encode()


def done(value):
    future = Future()
    future.set_result(value)
    return future


class Sealed:
    """A folder of one checkpoint and its key. Each piece is a nonce, the ciphertext and the tag."""

    def __init__(self, folder, name, aead):
        self.folder, self.name, self.aead = pathlib.Path(folder), name, aead

    def reset(self, checkpoint_id=None):
        pass

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        return True

    def prepare_local_plan(self, plan):
        return plan

    def prepare_global_plan(self, plans):
        # A file for each rank.
        return [dataclasses.replace(plan, storage_data=f"rank{n}.sealed")
                for n, plan in enumerate(plans)]

    def seal(self, data, aad):
        nonce = os.urandom(12)
        return nonce, self.aead.encrypt(nonce, data, aad)


class Writer(Sealed, dcp.StorageWriter):
    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        self.folder.mkdir(parents=True, exist_ok=True)

    def storage_meta(self):
        return StorageMeta(checkpoint_id=self.name)

    def write_data(self, plan, planner):
        results = []
        with open(self.folder / plan.storage_data, "wb") as file:
            for item in plan.items:
                data, place = planner.resolve_data(item), Place(plan.storage_data, file.tell(), 0)
                if item.type == WriteItemType.BYTE_IO:
                    nonce, sealed = self.seal(data.getvalue(), told(self.name, item.index))
                else:
                    tensor = data.detach().contiguous()
                    place.dtype, place.shape = tensor.dtype, tuple(tensor.shape)
                    nonce, sealed = self.seal(tensor, told(self.name, item.index))
                    # Ciphertext is all that leaves the card.
                    sealed = memoryview(sealed.cpu().numpy())
                file.write(nonce)
                file.write(sealed)
                place.length = file.tell() - place.offset
                results.append(WriteResult(item.index, place.length, place))
        return done(results)

    def finish(self, metadata, results):
        metadata.storage_data = {result.index: result.storage_data
                                 for of_rank in results for result in of_rank}
        metadata.storage_meta = self.storage_meta()
        nonce, sealed = self.seal(pickle.dumps(metadata), self.name.encode())
        part = self.folder / ".metadata.part"
        part.write_bytes(nonce + sealed)
        part.replace(self.folder / ".metadata")


class Reader(Sealed, dcp.StorageReader):
    def read_metadata(self, *args, **kwargs):
        sealed = (self.folder / ".metadata").read_bytes()
        # Raises InvalidTag before anything is unpickled.
        metadata = pickle.loads(self.aead.decrypt(sealed[:12], sealed[12:], self.name.encode()))
        assert isinstance(metadata, Metadata)
        return metadata

    def set_up_storage_reader(self, metadata, is_coordinator, *args, **kwargs):
        self.places = metadata.storage_data

    def read_data(self, plan, planner):
        for item in plan.items:
            place, aad = self.places[item.storage_index], told(self.name, item.storage_index)
            with open(self.folder / place.file, "rb") as file:
                file.seek(place.offset)
                nonce, sealed = file.read(12), bytearray(file.read(place.length - 12))
            if item.type == LoadItemType.BYTE_IO:
                planner.load_bytes(item, io.BytesIO(self.aead.decrypt(nonce, bytes(sealed), aad)))
                continue
            target = planner.resolve_tensor(item).detach()
            whole = torch.empty(place.shape, dtype=place.dtype, device=target.device)
            arrived = torch.frombuffer(sealed, dtype=torch.uint8).to(target.device)
            self.aead.decrypt_into(nonce, arrived, aad, whole)
            for dimension, (start, length) in enumerate(zip(item.storage_offsets, item.lengths)):
                whole = whole.narrow(dimension, start, length)
            target.copy_(whole)
            planner.commit_tensor(item, target)
        return done(None)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "step-100"
    aead = lanecrypt.AESGCM(lanecrypt.AESGCM.generate_key(256))
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Linear(512, 8)).to(device)
    state = {"model": model.state_dict(), "step": 100, "marker": "secret words " * 20}
    dcp.save(state, storage_writer=Writer(folder, "run-1/step-100", aead))

    weights = bytes(model[0].weight.detach().cpu().numpy())
    for file in folder.iterdir():
        content = file.read_bytes()
        assert b"secret words" not in content and weights[:64] not in content

    again = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Linear(512, 8)).to(device)
    loaded = {"model": again.state_dict(), "step": 0, "marker": ""}
    dcp.load(loaded, storage_reader=Reader(folder, "run-1/step-100", aead))
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, loaded["model"][name]), name
    assert loaded["step"] == 100 and loaded["marker"] == state["marker"]

    # Another checkpoint's metadata, or a changed one, is not unpickled.
    for name, change in (("run-1/step-200", 0), ("run-1/step-100", 1)):
        content = bytearray((folder / ".metadata").read_bytes())
        content[40] ^= change
        (folder / ".metadata").write_bytes(content)
        try:
            Reader(folder, name, aead).read_metadata()
        except lanecrypt.InvalidTag:
            continue
        raise SystemExit("changed metadata were taken")
    count = sum(tensor.numel() for tensor in model.state_dict().values())
    print(f"a checkpoint of {count:,} numbers there and back, on {device}")


if __name__ == "__main__":
    main()
