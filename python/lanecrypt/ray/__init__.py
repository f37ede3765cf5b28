# SPDX-License-Identifier: Apache-2.0
"""Classes for Ray: callable classes for map_batches() of Ray Data, or for actors, that encrypt and
decrypt columns, make RSA keys and sign, each with a key that it gets where it runs.

    sealed = dataset.map_batches(lanecrypt.ray.Encrypt, num_gpus=1, concurrency=8,
                                 fn_constructor_kwargs={"key": "orders", "columns": ["card"]})

A key is given by its name or by a KeyProvider. None of its bytes is in an argument, in a closure or
in an object of Ray's store: the actor reads the key from a mounted secret or asks a key service.
docs/scale.md says which bytes are where.

Importing this module imports neither Ray nor a framework.
"""

from ._columns import Decrypt, Encrypt
from ._keys import NamedKey, WrappedKey
from ._rsa import GenerateKeys, Sign

__all__ = ["Decrypt", "Encrypt", "GenerateKeys", "NamedKey", "Sign", "WrappedKey"]


def __dir__() -> list[str]:
    return sorted(__all__)
