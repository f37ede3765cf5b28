# SPDX-License-Identifier: Apache-2.0
"""Encryption of columns of batches, value by value."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from .._aead import AEAD
from .._arrays import framework_of
from .._context import Context
from .._errors import invalid_tag
from ._keys import NONCE_BYTES, TAG_BYTES, KeyByName, key_of, provider_of

Batch = dict[str, Any]

_AROUND = NONCE_BYTES + TAG_BYTES
# The alignment of each text in a device buffer; aligned texts are processed fastest.
_ALIGNED = 16


class _Columns:
    """The common part of Encrypt and Decrypt."""

    def __init__(self, key: KeyByName, columns: Any, *, cipher: str = "aes-gcm",
                 associated_data: bytes = b"", bind: Optional[str] = None,
                 context: Optional[Mapping[str, Any]] = None) -> None:
        if isinstance(columns, (str, bytes)):
            raise TypeError("columns are a list of names")
        self._context = Context(**context) if context is not None else None
        self._aead = AEAD(cipher, key_of(provider_of(key)), context=self._context)
        self._names = list(columns)
        self._associated_data = bytes(associated_data)
        self._bind = bind

    def __repr__(self) -> str:
        return f"<lanecrypt.ray.{type(self).__name__} of {', '.join(self._names)} at {id(self):#x}>"

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError(f"{type(self).__name__} holds a key and cannot be pickled: give the class to "
                        "map_batches(), with fn_constructor_kwargs")

    def process(self, batch: Batch) -> Batch:
        """Processes the plaintext in this actor. Subclasses override it. Returns a batch."""
        return batch

    def _aads(self, batch: Batch, count: int) -> Any:
        """Returns the associated data of each row."""
        if self._bind is None:
            return self._associated_data or None
        values = batch[self._bind]
        if len(values) != count:
            raise ValueError(f"the column {self._bind} has {len(values)} values for {count} rows")
        front = len(self._associated_data).to_bytes(8, "big") + self._associated_data
        return [front + _identity(value) for value in values]


def _identity(value: Any) -> bytes:
    """Returns a value that identifies a row, as bytes."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"rows are bound to bytes, text or integers, not to {type(value).__name__}")


class Encrypt(_Columns):
    """Encrypts the values of columns under one key, each as a separate message.

    At most 2^32 values may be encrypted under one key, over all actors and runs (SP 800-38D, 8.3).
    Use another key after that.

    key: the name of a key (NamedKey), or a KeyProvider. The key is got once, in the actor.
    columns: the names of columns. A value is bytes, or a row of an array of NumPy or PyTorch, taken
        as bytes. Data on a GPU are encrypted there.
    cipher: a name for AEAD; nonces have 12 bytes, and tags 16.
    associated_data: authenticated with each value.
    bind: the name of a column of bytes, text or integers that identify the rows. Each value is then
        bound to its row: it decrypts only together with the same value of that column. The
        associated data are then the length of associated_data in 8 bytes, big-endian,
        associated_data, and the row's value: bytes unchanged, text in UTF-8, integers in decimal.
    context: the arguments of Context(), as a dict.

    A value becomes a random nonce of 12 bytes, the ciphertext, and the tag: bytes if it was bytes,
    and a row of an array of bytes if it was a row of an array.

    A subclass may override process(), which makes the values to encrypt in the same actor.
    """

    def __init__(self, key: KeyByName, columns: Sequence[str], *, cipher: str = "aes-gcm",
                 associated_data: bytes = b"", bind: Optional[str] = None,
                 context: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(key, columns, cipher=cipher, associated_data=associated_data, bind=bind,
                         context=context)

    def __call__(self, batch: Batch) -> Batch:
        batch = dict(self.process(batch))
        for name in self._names:
            batch[name] = self._sealed(batch[name], batch)
        return batch

    def _sealed(self, values: Any, batch: Batch) -> Any:
        import numpy

        count = len(values)
        nonces = os.urandom(NONCE_BYTES * count)
        aads = self._aads(batch, count)
        if framework_of(values) == "torch" and count:
            return self._sealed_tensor(values, nonces, aads)
        if not isinstance(values, numpy.ndarray) or values.dtype.kind in "OSU" or count == 0:
            messages = [_message(value) for value in values]
            texts, tags = self._aead.encrypt_many(nonces, messages, aads)
            return _objects([nonces[NONCE_BYTES * n:NONCE_BYTES * (n + 1)] + bytes(text) + bytes(tag)
                             for n, (text, tag) in enumerate(zip(texts, tags))])
        rows = numpy.ascontiguousarray(values).reshape(count, values.size // count).view("u1")
        text, tags = self._aead.encrypt_many(nonces, rows, aads)
        return numpy.concatenate(
            [numpy.frombuffer(nonces, "u1").reshape(count, NONCE_BYTES), text, tags], axis=1)

    def _sealed_tensor(self, values: Any, nonces: bytes, aads: Any) -> Any:
        torch: Any = importlib.import_module("torch")

        count = len(values)
        rows = values.detach().contiguous().reshape(count, values.numel() // count).view(torch.uint8)
        text, tags = self._aead.encrypt_many(nonces, rows, aads)
        first = torch.frombuffer(bytearray(nonces), dtype=torch.uint8).reshape(count, NONCE_BYTES)
        return torch.cat([first.to(text.device), text, tags], dim=1).cpu().numpy()


class Decrypt(_Columns):
    """Decrypts what Encrypt made. Raises InvalidTag, whose `failed` has indices of rows of the
    batch, if a value is not what was encrypted. Ray then ends the run, or drops the block,
    depending on max_errored_blocks of its DataContext.

    columns: the names of columns, whose values become bytes. Or a dict from names to the (dtype,
        shape) of a row: their values become a NumPy array.
    device: such as "cuda": the values of a dict of columns are copied to the GPU as ciphertext, and
        decrypted there. process() gets PyTorch tensors on the GPU.

    The other arguments are as for Encrypt.

    A batch that is returned is in Ray's store, in plaintext. To prevent that, override process(),
    which gets the decrypted batch in the same actor and returns only what may leave it:

        class Predict(lanecrypt.ray.Decrypt):
            def process(self, batch):
                return {"id": batch["id"], "score": model(batch["image"])}
    """

    def __init__(self, key: KeyByName,
                 columns: Union[Sequence[str], Mapping[str, tuple[Any, tuple[int, ...]]]], *,
                 cipher: str = "aes-gcm", associated_data: bytes = b"", bind: Optional[str] = None,
                 device: Optional[str] = None,
                 context: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(key, columns, cipher=cipher, associated_data=associated_data, bind=bind,
                         context=context)
        self._forms = dict(columns) if isinstance(columns, Mapping) else {}
        if device is not None and not self._forms:
            raise ValueError("device= goes with columns whose type and shape are told")
        self._device = device

    def __call__(self, batch: Batch) -> Batch:
        opened = dict(batch)
        for name in self._names:
            opened[name] = self._opened(batch[name], self._aads(batch, len(batch[name])),
                                        self._forms.get(name))
        return {name: value.cpu().numpy() if framework_of(value) == "torch" else value
                for name, value in self.process(opened).items()}

    def _opened(self, values: Any, aads: Any, form: Any) -> Any:
        import numpy

        count = len(values)
        rows = [_message(value) for value in values]
        short = [n for n, row in enumerate(rows) if len(row) < _AROUND]
        if short:
            raise invalid_tag(short)
        nonces = [bytes(row[:NONCE_BYTES]) for row in rows]
        tags = [bytes(row[-TAG_BYTES:]) for row in rows]
        texts = [row[NONCE_BYTES:-TAG_BYTES] for row in rows]
        if form is None:
            return _objects([bytes(text) for text in
                             self._aead.decrypt_many(nonces, texts, tags, aads)])
        dtype, shape = numpy.dtype(form[0]), tuple(form[1])
        row_bytes = dtype.itemsize * int(numpy.prod(shape, dtype="i8"))
        wrong = [n for n, text in enumerate(texts) if len(text) != row_bytes]
        if wrong:
            raise invalid_tag(wrong)
        if self._device is not None:
            return self._opened_on_device(nonces, texts, tags, aads, dtype, shape, row_bytes)
        array = numpy.empty((count, *shape), dtype)
        if count and row_bytes:
            into = list(array.reshape(count, -1).view("u1"))
            self._aead.decrypt_many(nonces, texts, tags, aads, out=into)
        return array

    def _opened_on_device(self, nonces: list[bytes], texts: list[Any], tags: list[bytes], aads: Any,
                          dtype: Any, shape: tuple[int, ...], row_bytes: int) -> Any:
        """Decrypts on the device after one copy of the ciphertext from pinned memory."""
        import numpy
        torch: Any = importlib.import_module("torch")

        count = len(texts)
        pitch = -(-row_bytes // _ALIGNED) * _ALIGNED
        is_cuda = str(self._device).startswith("cuda")
        staged = torch.empty((count, pitch), dtype=torch.uint8, pin_memory=is_cuda)
        host = staged.numpy()
        for n, text in enumerate(texts):
            host[n, :row_bytes] = numpy.frombuffer(text, "u1")
        sealed = staged.to(self._device)
        into = torch.empty((count, row_bytes), dtype=torch.uint8, device=sealed.device)
        if count and row_bytes:
            self._aead.decrypt_many(nonces, [row[:row_bytes] for row in sealed], tags, aads,
                                    out=list(into))
        named = torch.from_numpy(numpy.empty(0, dtype)).dtype
        return into.reshape(-1).view(named).reshape(count, *shape)


def _message(value: Any) -> Any:
    """Returns a value as a view of bytes."""
    if isinstance(value, str):
        raise TypeError("text is no bytes: encode it first")
    view = memoryview(value)
    return view.cast("B") if view.nbytes else b""


def _objects(values: list[bytes]) -> Any:
    """Returns a column of bytes of several lengths."""
    import numpy

    column = numpy.empty(len(values), dtype=object)
    column[:] = values
    return column
