# SPDX-License-Identifier: Apache-2.0
"""Runs a script, examples/python/checkpoint.py, with a PyTorch whose distributed checkpoints
were not public yet: Debian 12's 1.13, where they are torch.distributed._shard.checkpoint. It
provides today's names. The code that plans a checkpoint, and calls the script's writer and
reader, is that PyTorch's.

    python3 early_checkpoint.py SCRIPT
"""

import dataclasses
import functools
import runpy
import sys
import types
import unittest.mock

import torch  # noqa: F401  before the module is changed

PUBLIC = "torch.distributed.checkpoint"
dataclass = dataclasses.dataclass


def hashable(kind=None, **words):
    """Python 3.11, which is younger than PyTorch 1.13, allows only hashable default values in
    dataclasses."""
    if kind is None:
        return functools.partial(hashable, **words)
    return dataclass(kind, unsafe_hash="__hash__" not in vars(kind), **words)


with unittest.mock.patch("dataclasses.dataclass", hashable):
    from torch.distributed._shard import checkpoint as early
    from torch.distributed._shard.checkpoint import metadata, planner, storage


class StorageWriter(storage.StorageWriter):
    def init(self, is_coordinator):
        self.set_up_storage_writer(is_coordinator)


class StorageReader(storage.StorageReader):
    def init(self, of_checkpoint, is_coordinator):
        self.set_up_storage_reader(of_checkpoint, is_coordinator)


@dataclass
class StorageMeta:
    checkpoint_id: str


def flattened(state):
    """Today's PyTorch does this itself: the name of a nested dictionary precedes the names of
    its entries."""
    flat = {}
    for name, value in state.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{key}": entry for key, entry in value.items()})
        else:
            flat[name] = value
    return flat


def save(state, storage_writer):
    early.save_state_dict(flattened(state), storage_writer, no_dist=True)


def load(state, storage_reader):
    flat = flattened(state)
    early.load_state_dict(flat, storage_reader, no_dist=True)
    # The tensors were loaded in place.
    state.update({name: flat[name] for name in state if name in flat})


def public_modules():
    """Returns today's modules by their names."""
    metadata.StorageMeta = StorageMeta
    made = types.ModuleType(PUBLIC)
    vars(made).update(StorageWriter=StorageWriter, StorageReader=StorageReader, save=save, load=load)
    return {PUBLIC: made, f"{PUBLIC}.metadata": metadata, f"{PUBLIC}.planner": planner,
            f"{PUBLIC}.storage": storage}


if __name__ == "__main__":
    sys.modules.update(public_modules())
    sys.argv.pop(0)
    runpy.run_path(sys.argv[0], run_name="__main__")
