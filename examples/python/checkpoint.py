# SPDX-License-Identifier: Apache-2.0
"""Encrypted checkpoints with torch.distributed.checkpoint: every tensor is encrypted on its device,
and `.metadata` is encrypted too.

    python3 checkpoint.py [FOLDER]

Two simpler approaches do not work. StreamTransformExtension sees tensors only after they have been
copied to the CPU as plaintext, and none of them if the writer serializes as safetensors: an
extension that encrypts would then write plaintext without an error. And `.metadata` is a pickle:
anyone who can change it runs code in the job that loads it, so it must be authenticated first.

One key serves all checkpoints of all ranks. Random nonces under that key would be safe for only
2^32 pieces (SP 800-38D, 8.3), which thousands of ranks write in some weeks. So each file has its
own key, derived from that key and a random salt, and uses the number of a piece as its nonce.
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

SALT_BYTES = 32


@dataclasses.dataclass
class PieceLocation:
    """The position, data type and shape of one piece of a checkpoint."""

    file: str
    offset: int
    length: int
    dtype: object = None
    shape: tuple = ()


def told(name, index):
    """Returns the associated data of a piece: its checkpoint, and which part of it the piece is."""
    return repr((name, index.fqn, tuple(index.offset or ()), index.index)).encode()


def done(value):
    future = Future()
    future.set_result(value)
    return future


def aead_of_file(key, salt):
    """Returns the AEAD of one file. Its key is the keyed BLAKE3 hash (a PRF) of the file's salt."""
    return lanecrypt.AESGCM(lanecrypt.blake3(salt, key=key))


class SealedFile:
    """An encrypted file that is being written: its salt, then its pieces. Each piece is its nonce,
    the ciphertext and the tag.
    """

    def __init__(self, file, key):
        salt = os.urandom(SALT_BYTES)
        self.file, self.aead, self.count = file, aead_of_file(key, salt), 0
        file.write(salt)

    def write(self, data, aad):
        # Only this file uses the key, so no other piece has this nonce.
        nonce = self.count.to_bytes(12, "big")
        self.count += 1
        sealed = self.aead.encrypt(nonce, data, aad)
        if isinstance(sealed, torch.Tensor):
            # Only ciphertext leaves the GPU.
            sealed = memoryview(sealed.cpu().numpy())
        self.file.write(nonce)
        self.file.write(sealed)


class Sealed:
    """The folder of one checkpoint, and the key of all checkpoints."""

    def __init__(self, folder, name, key):
        self.folder, self.name, self.key = pathlib.Path(folder), name, key

    def reset(self, checkpoint_id=None):
        pass

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        return True

    def prepare_local_plan(self, plan):
        return plan

    def prepare_global_plan(self, plans):
        # One file per rank.
        return [dataclasses.replace(plan, storage_data=f"rank{n}.sealed")
                for n, plan in enumerate(plans)]


class Writer(Sealed, dcp.StorageWriter):
    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        self.folder.mkdir(parents=True, exist_ok=True)

    def storage_meta(self):
        return StorageMeta(checkpoint_id=self.name)

    def write_data(self, plan, planner):
        results = []
        with open(self.folder / plan.storage_data, "wb") as file:
            pieces = SealedFile(file, self.key)
            for item in plan.items:
                data = planner.resolve_data(item)
                location = PieceLocation(plan.storage_data, file.tell(), 0)
                if item.type == WriteItemType.BYTE_IO:
                    pieces.write(data.getvalue(), told(self.name, item.index))
                else:
                    tensor = data.detach().contiguous()
                    location.dtype, location.shape = tensor.dtype, tuple(tensor.shape)
                    pieces.write(tensor, told(self.name, item.index))
                location.length = file.tell() - location.offset
                results.append(WriteResult(item.index, location.length, location))
        return done(results)

    def finish(self, metadata, results):
        metadata.storage_data = {result.index: result.storage_data
                                 for of_rank in results for result in of_rank}
        metadata.storage_meta = self.storage_meta()
        part = self.folder / ".metadata.part"
        with open(part, "wb") as file:
            SealedFile(file, self.key).write(pickle.dumps(metadata), self.name.encode())
        part.replace(self.folder / ".metadata")


class Reader(Sealed, dcp.StorageReader):
    def read_metadata(self, *args, **kwargs):
        with open(self.folder / ".metadata", "rb") as file:
            salt, nonce, sealed = file.read(SALT_BYTES), file.read(12), file.read()
        # Raises InvalidTag before anything is unpickled.
        text = aead_of_file(self.key, salt).decrypt(nonce, sealed, self.name.encode())
        metadata = pickle.loads(text)
        assert isinstance(metadata, Metadata)
        return metadata

    def set_up_storage_reader(self, metadata, is_coordinator, *args, **kwargs):
        self.locations = metadata.storage_data

    def read_data(self, plan, planner):
        for item in plan.items:
            location, aad = self.locations[item.storage_index], told(self.name, item.storage_index)
            with open(self.folder / location.file, "rb") as file:
                aead = aead_of_file(self.key, file.read(SALT_BYTES))
                file.seek(location.offset)
                nonce, sealed = file.read(12), bytearray(file.read(location.length - 12))
            if item.type == LoadItemType.BYTE_IO:
                planner.load_bytes(item, io.BytesIO(aead.decrypt(nonce, bytes(sealed), aad)))
                continue
            target = planner.resolve_tensor(item).detach()
            whole = torch.empty(location.shape, dtype=location.dtype, device=target.device)
            arrived = torch.frombuffer(sealed, dtype=torch.uint8).to(target.device)
            aead.decrypt_into(nonce, arrived, aad, whole)
            for dimension, (start, length) in enumerate(zip(item.storage_offsets, item.lengths)):
                whole = whole.narrow(dimension, start, length)
            target.copy_(whole)
            planner.commit_tensor(item, target)
        return done(None)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "step-100"
    key = os.urandom(32)  # a real job reads a mounted secret: KeyFile("/run/secrets/checkpoints")
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Linear(512, 8)).to(device)
    state = {"model": model.state_dict(), "step": 100, "marker": "secret words " * 20}
    dcp.save(state, storage_writer=Writer(folder, "run-1/step-100", key))

    weights = bytes(model[0].weight.detach().cpu().numpy())
    for file in folder.iterdir():
        content = file.read_bytes()
        assert b"secret words" not in content and weights[:64] not in content

    again = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Linear(512, 8)).to(device)
    loaded = {"model": again.state_dict(), "step": 0, "marker": ""}
    dcp.load(loaded, storage_reader=Reader(folder, "run-1/step-100", key))
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, loaded["model"][name]), name
    assert loaded["step"] == 100 and loaded["marker"] == state["marker"]

    # Metadata of another checkpoint, or changed metadata, is not unpickled.
    for name, change in (("run-1/step-200", 0), ("run-1/step-100", 1)):
        content = bytearray((folder / ".metadata").read_bytes())
        content[SALT_BYTES + 40] ^= change
        (folder / ".metadata").write_bytes(content)
        try:
            Reader(folder, name, key).read_metadata()
        except lanecrypt.InvalidTag:
            continue
        raise SystemExit("changed metadata were taken")
    count = sum(tensor.numel() for tensor in model.state_dict().values())
    print(f"a checkpoint of {count:,} numbers there and back, on {device}")


if __name__ == "__main__":
    main()
