# SPDX-License-Identifier: Apache-2.0
"""Authenticated encryption: AESGCM, AESCCM, ChaCha20Poly1305, and AEAD for the other ciphers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Optional, Union, overload

from . import _arrays, _core
from ._captured import Captured, capture_decryption, capture_encryption
from ._context import Context, checked, default_context
from ._errors import invalid_tag
from ._job import Job
from ._keys import KeyProvider, check_key_bytes, check_pickled, kept_provider, secret_key
from ._messages import (CIPHERS, Messages, Prepared, aad_of, bytes_of, check_count, check_size,
                        run)
from ._names import check_name
from ._numbers import whole
from ._segments import Segments, decrypting, encrypting
from ._types import Aad, BytesLike, Data, Many, ManyAads, ManyBytes
from ._verdicts import with_verdicts

_TAG_SIZES = {"gcm": (4, 8, 12, 13, 14, 15, 16), "ccm": (4, 6, 8, 10, 12, 14, 16)}

_KEY_SIZES = {"sm4": (16,), "chacha20": (32,)}

_NAMES = [name for name in CIPHERS if name.endswith(("-gcm", "-ccm", "-poly1305"))]

# Default for a buffer argument: a new buffer is made. None is not used, because it is not a valid
# buffer.
_NEW = object()


class AEAD:
    """An authenticated cipher with one key: "aes-gcm" (SP 800-38D), "aes-ccm" (SP 800-38C),
    "chacha20-poly1305" (RFC 8439, section 2.8), "sm4-gcm", "sm4-ccm", "aria-gcm" or "aria-ccm".

    Nonces: never use a nonce twice under one key. Anyone who has two ciphertexts with the same
    nonce learns the XOR of their plaintexts and, with GCM, can forge messages under the key. Random
    nonces of 12 bytes are safe for 2^32 messages under one key in total (SP 800-38D, 8.3); each
    message of encrypt_many() counts. For more messages use a counter as the nonce, or derive a key
    for each text. With a random part of only 7 bytes, the same probability of a repetition is
    reached after 5,793 messages. Only the nonces within one call are compared with each other.

    key: bytes-like, or a KeyProvider. The key is copied to locked memory, which is erased when this
        object is destroyed. Only an object that was made with a KeyFile and without a context can
        be pickled.
    tag_length: bytes of every tag. None means 16.
    context: the devices to use; by default default_context().

    Data: bytes-like objects or contiguous arrays of any type except Python objects, taken as bytes:
    arrays of NumPy, PyTorch, CuPy, JAX and Numba, and every object with __dlpack__ or
    __cuda_array_interface__. Data on a CUDA device are processed on that device; data in host
    memory on a device or the CPU, whichever is faster. Nonces and associated data must be in host
    memory, unless a function says that they may be on the device. The result has the type of the
    input: bytes for a bytes-like object, and a new array on the same device for an array.

    Streams: `stream` is for arrays on a CUDA device: an int (the handle), or an object with
    __cuda_stream__. The work is ordered in that stream, by default in the current stream of the
    array's framework. The functions return after the work has completed.

    Threads: the functions without submit_ wait, and release the GIL meanwhile. Those with submit_
    take the same arguments and return a Job. All functions are thread-safe.

    Errors: ValueError or TypeError for wrong arguments. BufferError for arrays whose values are not
    plain memory: arrays that are not contiguous, and tensors of PyTorch that are quantized, sparse
    or nested, require a gradient or have no memory. The text begins with the name of the argument.
    InvalidTag if a tag is wrong: no plaintext is returned, and the output is zeroed.
    lanecrypt.Error if the library cannot do it.
    """

    __slots__ = ("_number", "_name", "_mode", "_key", "_tag_bytes", "_context", "_provider",
                 "__weakref__")
    _ivs_name = "nonces"

    def __init__(
        self,
        name: str,
        key: Union[BytesLike, KeyProvider],
        tag_length: Optional[int] = 16,
        *,
        context: Optional[Context] = None,
    ) -> None:
        check_name("authenticated cipher", name, _NAMES)
        self._name = name
        self._mode = name.rpartition("-")[2]
        self._number = CIPHERS[name]
        self._tag_bytes = whole("tag_length", 16 if tag_length is None else tag_length)
        self._key = secret_key(key)
        self._provider = kept_provider(key)
        check_key_bytes(self._key, key, _KEY_SIZES.get(name.partition("-")[0], (16, 24, 32)),
                        self._key_text())
        if self._tag_bytes not in _TAG_SIZES.get(name[-3:], (16,)):
            raise ValueError("Invalid tag_length")
        self._context = checked(context)

    def _key_text(self) -> str:
        return f"a key of {self._name} does not have {self._key.nbytes} bytes"

    def __repr__(self) -> str:
        return f"<lanecrypt.{type(self).__name__} {self._name} at {id(self):#x}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        check_pickled(type(self), self._provider, self._context)
        its = (type(self), self._name, self._provider, self._tag_bytes)
        return _unpickled, its, getattr(self, "__dict__", None)

    # ---- One message ----

    @overload
    def encrypt(self, nonce: Data, data: BytesLike, associated_data: Aad = None, *,
                stream: Any = None) -> bytes: ...

    @overload
    def encrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                stream: Any = None) -> Any: ...

    def encrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                stream: Any = None) -> Any:
        """Encrypts and authenticates one message. Returns the ciphertext, which is as long as the
        data, followed by the tag: as bytes, or as a new one-dimensional array of bytes on the
        device of `data`.

        nonce: must never be used twice under one key; os.urandom(12) is safe for at most 2^32
            messages.
        """
        return run(self._encrypt(nonce, data, associated_data, stream))

    @overload
    def submit_encrypt(self, nonce: Data, data: BytesLike, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[bytes]: ...

    @overload
    def submit_encrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[Any]: ...

    def submit_encrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[Any]:
        """Does the same as encrypt(), but returns a Job without waiting."""
        return Job(*self._encrypt(nonce, data, associated_data, stream))

    @overload
    def decrypt(self, nonce: Data, data: BytesLike, associated_data: Aad = None, *,
                stream: Any = None) -> bytes: ...

    @overload
    def decrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                stream: Any = None) -> Any: ...

    def decrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                stream: Any = None) -> Any:
        """Decrypts what encrypt() returned. Returns the plaintext: as bytes, or as a new
        one-dimensional array of bytes on the device of `data`. Raises InvalidTag if the key, the
        nonce, the data or the associated data differ from those of the encryption.
        """
        return run(self._decrypt(nonce, data, associated_data, stream))

    @overload
    def submit_decrypt(self, nonce: Data, data: BytesLike, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[bytes]: ...

    @overload
    def submit_decrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[Any]: ...

    def submit_decrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[Any]:
        """Does the same as decrypt(), but returns a Job without waiting."""
        return Job(*self._decrypt(nonce, data, associated_data, stream))

    def encrypt_into(self, nonce: Data, data: Data, associated_data: Aad, buf: Data, *,
                     stream: Any = None) -> int:
        """Encrypts into `buf` and returns its length. `buf` must be writable and have exactly as
        many bytes as the data and the tag. It can be on the device of the data: it may begin at the
        same address, but must not overlap them in any other way. Or it can be in host memory while
        the data are on a device: parts of the ciphertext are then copied back while others are
        encrypted, fastest into page-locked memory (PyTorch's pin_memory).
        """
        count: int = run(self._encrypt(nonce, data, associated_data, stream, buf))
        return count

    def submit_encrypt_into(self, nonce: Data, data: Data, associated_data: Aad, buf: Data, *,
                            stream: Any = None) -> Job[int]:
        """Does the same as encrypt_into(), but returns a Job without waiting."""
        return Job(*self._encrypt(nonce, data, associated_data, stream, buf))

    def decrypt_into(self, nonce: Data, data: Data, associated_data: Aad, buf: Data, *,
                     stream: Any = None) -> int:
        """Decrypts into `buf` and returns its length. `buf` is an array of any type with exactly as
        many bytes as the data without the tag. It may begin at the same address as the data. If the
        tag is wrong, raises InvalidTag and zeroes `buf`; in host memory it may hold unverified
        plaintext until then.
        """
        count: int = run(self._decrypt(nonce, data, associated_data, stream, buf))
        return count

    def submit_decrypt_into(self, nonce: Data, data: Data, associated_data: Aad, buf: Data, *,
                            stream: Any = None) -> Job[int]:
        """Does the same as decrypt_into(), but returns a Job without waiting."""
        return Job(*self._decrypt(nonce, data, associated_data, stream, buf))

    # ---- Many messages ----

    @overload
    def encrypt_many(self, nonces: Many, data: ManyBytes, associated_data: ManyAads = None, *,
                     out: None = None, tags: None = None,
                     stream: Any = None) -> tuple[list[bytes], list[bytes]]: ...

    @overload
    def encrypt_many(self, nonces: Many, data: Many, associated_data: ManyAads = None, *,
                     out: Optional[Many] = None, tags: Optional[Data] = None,
                     stream: Any = None) -> tuple[Any, Any]: ...

    def encrypt_many(self, nonces: Many, data: Many, associated_data: ManyAads = None, *,
                     out: Optional[Many] = None, tags: Optional[Data] = None,
                     stream: Any = None) -> tuple[Any, Any]:
        """Encrypts many messages under the key in one request. Returns (out, tags).

        Caution: if memory that is mapped at two addresses is passed as two of data, out and tags,
        the overlap is not detected, and the ciphertexts are wrong although their tags are valid.

        data: a list or tuple of messages of any lengths, or an array whose first dimension indexes
            messages of one length.
        nonces: a sequence with one nonce per message, or all nonces concatenated in one object: an
            array of shape (count, bytes of a nonce), or bytes. Raises ValueError if two are the
            same. If they are not in ascending order, this may be detected only during the
            encryption; new outputs and outputs in host memory are then zeroed. No nonce may occur
            in another call under the key either. If they are random, each message counts toward the
            2^32 that the key may encrypt.
        associated_data: None, one object for all messages, or a list or tuple with one object per
            message.
        out: the outputs, in the same form as the data, each as long as its message; the data
            themselves for encryption in place. Raises ValueError if an output overlaps another
            output, another message, associated data or a tag in any other way. By default new
            outputs are made with the shape and type of the data, bytes for bytes-like messages. All
            outputs may be in host memory while the data are on a device, as in encrypt_into().
        tags: an array for the concatenated tags. By default a new array of shape (count, bytes of a
            tag) on the device of the data, or in host memory if `out` is there; a list of bytes for
            bytes-like messages.
        """
        made: tuple[Any, Any] = run(self._encrypt_many(nonces, data, associated_data, out, tags,
                                                       stream))
        return made

    @overload
    def submit_encrypt_many(self, nonces: Many, data: ManyBytes, associated_data: ManyAads = None, *,
                            out: None = None, tags: None = None,
                            stream: Any = None) -> Job[tuple[list[bytes], list[bytes]]]: ...

    @overload
    def submit_encrypt_many(self, nonces: Many, data: Many, associated_data: ManyAads = None, *,
                            out: Optional[Many] = None, tags: Optional[Data] = None,
                            stream: Any = None) -> Job[tuple[Any, Any]]: ...

    def submit_encrypt_many(self, nonces: Many, data: Many, associated_data: ManyAads = None, *,
                            out: Optional[Many] = None, tags: Optional[Data] = None,
                            stream: Any = None) -> Job[Any]:
        """Does the same as encrypt_many(), but returns a Job without waiting."""
        return Job(*self._encrypt_many(nonces, data, associated_data, out, tags, stream))

    @overload
    def decrypt_many(self, nonces: Many, data: ManyBytes, tags: Many,
                     associated_data: ManyAads = None, *, out: None = None,
                     verdicts: Optional[Data] = None, stream: Any = None) -> list[bytes]: ...

    @overload
    def decrypt_many(self, nonces: Many, data: Many, tags: Many, associated_data: ManyAads = None, *,
                     out: Optional[Many] = None, verdicts: Optional[Data] = None,
                     stream: Any = None) -> Any: ...

    def decrypt_many(self, nonces: Many, data: Many, tags: Many, associated_data: ManyAads = None, *,
                     out: Optional[Many] = None, verdicts: Optional[Data] = None,
                     stream: Any = None) -> Any:
        """Decrypts what encrypt_many() made. Returns the outputs. `tags` is an array, or a list or
        tuple with one tag per message. If tags are wrong, raises InvalidTag, whose `failed` has the
        indices of those messages: their outputs are zeroed, and all others are valid. Raises
        ValueError if an output overlaps a tag, associated data, another output or another message's
        data.

        Caution: do not pass memory that is mapped at two addresses, as for encrypt_many().

        verdicts: an array with one byte per message, on the device of the data. If it is given, a
            wrong tag is not an error: in stream order, each byte becomes 1 if the tag is right, and
            0 if it is wrong and the output was zeroed.
        """
        return run(self._decrypt_many(nonces, data, tags, associated_data, out, verdicts, stream))

    @overload
    def submit_decrypt_many(self, nonces: Many, data: ManyBytes, tags: Many,
                            associated_data: ManyAads = None, *, out: None = None,
                            verdicts: Optional[Data] = None,
                            stream: Any = None) -> Job[list[bytes]]: ...

    @overload
    def submit_decrypt_many(self, nonces: Many, data: Many, tags: Many,
                            associated_data: ManyAads = None, *, out: Optional[Many] = None,
                            verdicts: Optional[Data] = None, stream: Any = None) -> Job[Any]: ...

    def submit_decrypt_many(self, nonces: Many, data: Many, tags: Many,
                            associated_data: ManyAads = None, *, out: Optional[Many] = None,
                            verdicts: Optional[Data] = None, stream: Any = None) -> Job[Any]:
        """Does the same as decrypt_many(), but returns a Job without waiting."""
        return Job(*self._decrypt_many(nonces, data, tags, associated_data, out, verdicts, stream))

    # ---- Segments of one text ----

    def encrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                         associated_data: Aad = None, *, first: int = 0, is_end: bool = True,
                         out: Any = None, tags: Any = None, stream: Any = None) -> Any:
        """Encrypts one text in segments, each a separate message, in one request. Returns the
        ciphertext with the tags inside, as bytes or as a one-dimensional array of bytes. If
        `layout` has tags_inside=False, returns (out, tags) instead, where `out` has the shape and
        type of the data.

        nonce: the bytes before the number in each nonce, or a whole nonce. If layout.number is
            None: all nonces concatenated. Two texts under one key must differ in it. A few random
            bytes soon repeat (7 bytes after some thousand texts), so derive a key for each text
            from a random salt, as Tink does, or put a counter of the texts into the nonce.
        associated_data: one object for all segments; layout.aad_number is written into it. With GCM
            and ChaCha20-Poly1305, nonces of 12 bytes, and text and tags on a device, it may be an
            array on that device of at most 4,096 bytes.
        first: the index of the first segment in this call, if the data are a later part of a text.
        is_end: whether the last segment in this call is the last one of the whole text.
        out, tags: arrays for the outputs; the tags are concatenated. `out` may be the data if the
            tags are not inside. Both may be in host memory while the data are on a device, as in
            encrypt_into().
        """
        return run(encrypting(self, layout, nonce, data, associated_data, first, is_end, out,
                              tags, stream))

    def submit_encrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                                associated_data: Aad = None, *, first: int = 0,
                                is_end: bool = True, out: Any = None, tags: Any = None,
                                stream: Any = None) -> Job[Any]:
        """Does the same as encrypt_segments(), but returns a Job without waiting."""
        return Job(*encrypting(self, layout, nonce, data, associated_data, first, is_end, out,
                               tags, stream))

    def decrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                         associated_data: Aad = None, *, tags: Any = None, first: int = 0,
                         is_end: bool = True, out: Any = None, verdicts: Any = None,
                         stream: Any = None) -> Any:
        """Decrypts what encrypt_segments() made. Returns `out`, or a new output: if the tags are
        inside, bytes or a one-dimensional array of bytes. InvalidTag and `verdicts` are as in
        decrypt_many(), with the indices of segments from 0.
        """
        return run(decrypting(self, layout, nonce, data, associated_data, tags, first, is_end,
                              out, verdicts, stream))

    def submit_decrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                                associated_data: Aad = None, *, tags: Any = None, first: int = 0,
                                is_end: bool = True, out: Any = None, verdicts: Any = None,
                                stream: Any = None) -> Job[Any]:
        """Does the same as decrypt_segments(), but returns a Job without waiting."""
        return Job(*decrypting(self, layout, nonce, data, associated_data, tags, first, is_end,
                               out, verdicts, stream))

    # ---- In a CUDA graph ----

    def capture_encrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                                 associated_data: Aad = None, *, out: Data, launches: int,
                                 verdict: Any, nonce_out: Any = None, tags: Any = None,
                                 first: int = 0, is_end: bool = True,
                                 stream: Any = None) -> Captured:
        """Adds encrypt_segments() to the CUDA graph that is being captured. Each launch of the
        graph then encrypts the contents that `data` has at that time. All arrays must be on the GPU
        and stay allocated. Nothing here waits. Supported are GCM (of AES, SM4 and ARIA) and
        ChaCha20-Poly1305 with nonces of 12 bytes, at least one byte of data, and at most 65,536
        segments; others raise UnsupportedError. After any error do not launch the graph: it may
        contain part of the call.

        Each launch uses the numbers after those of the launch before, so that no nonce is used
        twice: layout.number must have enough bytes for all `launches`. Nothing else may use these
        numbers under the key: make a key for each graph, and instantiate the graph only once.

        nonce, first, is_end: as in encrypt_segments(), for the first launch.
        associated_data: at most 4,096 bytes: an array on the GPU, which each launch reads, or an
            object in host memory, which is copied now. The numbers in it are the same at each
            launch.
        out, tags: arrays for the outputs. `out` may be the data if the tags are not inside.
        launches: the number of launches that encrypt. Each later one zeroes `out` and `tags`.
        verdict: an array of one byte, which each launch sets to 1, or to 0 if it did not encrypt.
        nonce_out: an array of 12 bytes that each launch fills with the nonce of its first segment.
        """
        return capture_encryption(self, layout, nonce, data, associated_data, out, launches,
                                  verdict, nonce_out, tags, first, is_end, stream)

    def capture_decrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                                 associated_data: Aad = None, *, out: Data, verdicts: Any,
                                 tags: Any = None, first: int = 0, is_end: bool = True,
                                 stream: Any = None) -> Captured:
        """Adds decrypt_segments() to the CUDA graph that is being captured, as
        capture_encrypt_segments() does.

        nonce: an array of 12 bytes on the GPU with the nonce of the first segment, which each
            launch reads; the number in it is incremented for the following segments. Or as in
            decrypt_segments(), the same at each launch.
        associated_data: as in capture_encrypt_segments().
        verdicts: an array with one byte per segment, which becomes 1 if the tag is right, and 0 if
            it is wrong and the output was zeroed.
        """
        return capture_decryption(self, layout, nonce, data, associated_data, out, verdicts, tags,
                                  first, is_end, stream)

    # ---- Implementation ----

    def _check_nonce(self, nonce_bytes: int) -> None:
        if self._mode == "ccm":
            if not 7 <= nonce_bytes <= 13:
                raise ValueError("Nonce must be between 7 and 13 bytes")
        elif self._mode == "gcm":
            if not 8 <= nonce_bytes <= 128:
                raise ValueError("Nonce must be between 8 and 128 bytes")
        elif nonce_bytes != 12:
            raise ValueError("Nonce must be 12 bytes")

    def _check_length(self, nonce_bytes: int, text_bytes: int) -> None:
        # The nonce leaves 15 - n bytes for the length of the text (SP 800-38C, A.1).
        if self._mode == "ccm" and text_bytes >> (8 * (15 - nonce_bytes)):
            raise ValueError("Data too long for nonce")

    def _check_counters(self, ivs: bytes, lengths: Iterable[int]) -> None:
        pass  # no nonce contains a block counter

    def _usual_iv_bytes(self) -> int:
        return 12

    def _task(self, context: Context, encrypts: bool, nonce_bytes: int,
              stream: Optional[int]) -> _core.CipherTask:
        self._check_nonce(nonce_bytes)
        return _core.CipherTask(context._core, self._number, encrypts, self._key, nonce_bytes,
                                self._tag_bytes, 0, stream)

    def _encrypt(self, nonce: Any, data: Any, aad: Any, stream: Any, buf: Any = _NEW) -> Prepared:
        context = self._context or default_context()
        handle = _arrays.stream_number(stream)
        nonce = bytes_of(nonce, "nonce")
        source = _arrays.view(data, handle)
        handle = _arrays.stream_for(data, source, handle)
        aad = aad_of(aad)
        given = None if buf is _NEW else _arrays.view(buf, handle, writable=True, name="buf")
        task = self._task(context, True, len(nonce), handle)
        length = source.nbytes
        self._check_length(len(nonce), length)
        whole = length + self._tag_bytes
        if given is None:
            output = _arrays.new_bytes(data, source, whole, context._core, handle)
        else:
            check_size(given, whole)
            output = _arrays.Output(given, whole)
        task.add(nonce, source, 0, length, output.view, 0, aad)
        task.put_tags(output.view, length)
        return task, lambda: output.value

    def _decrypt(self, nonce: Any, data: Any, aad: Any, stream: Any, buf: Any = _NEW) -> Prepared:
        context = self._context or default_context()
        handle = _arrays.stream_number(stream)
        nonce = bytes_of(nonce, "nonce")
        source = _arrays.view(data, handle)
        handle = _arrays.stream_for(data, source, handle)
        aad = aad_of(aad)
        given = None if buf is _NEW else _arrays.view(buf, handle, writable=True, name="buf")
        task = self._task(context, False, len(nonce), handle)
        task.set_single()
        length = source.nbytes - self._tag_bytes
        if length < 0:
            raise invalid_tag()
        self._check_length(len(nonce), length)
        if given is None:
            output = _arrays.new_bytes(data, source, length, context._core, handle)
        else:
            check_size(given, length)
            output = _arrays.Output(given, length)
        task.add(nonce, source, 0, length, output.view, 0, aad)
        task.put_tags(source, length)
        finish = with_verdicts(task, data, source, context, handle)

        def value() -> Any:
            finish()
            return output.value

        return task, value

    def _encrypt_many(self, nonces: Any, data: Any, aad: Any, out: Any, tags: Any,
                      stream: Any) -> Prepared:
        context = self._context or default_context()
        messages = Messages(data, out, context, stream)
        task = messages.task(self, nonces, aad, True)
        if out is None and tags is None:
            task.set_outputs_apart()
        if tags is not None:
            tags_view = _arrays.view(tags, messages.stream, writable=True, name="tags")
            check_size(tags_view, messages.count * self._tag_bytes, "tags")
            made = _arrays.Output(tags_view, tags)
            task.put_tags(made.view, 0)
        elif not messages.has_bytes:
            made = _arrays.new_rows(*messages.beside, (messages.count, self._tag_bytes),
                                    context._core, messages.stream)
            task.put_tags(made.view, 0)
        else:
            made = None

        def finish() -> tuple[Any, Any]:
            if made is None:
                return messages.value, [task.tag(n) for n in range(messages.count)]
            return messages.value, made.value

        return task, finish

    def _decrypt_many(self, nonces: Any, data: Any, tags: Any, aad: Any, out: Any, verdicts: Any,
                      stream: Any) -> Prepared:
        context = self._context or default_context()
        messages = Messages(data, out, context, stream)
        task = messages.task(self, nonces, aad, False)
        if out is None and verdicts is None:
            task.set_outputs_apart()
        if isinstance(tags, (list, tuple)):
            check_count(len(tags), messages.count, "tags")
            for number, tag in enumerate(tags):
                task.load_tag(number, bytes_of(tag, "tags", number))
        else:
            tags_view = _arrays.view(tags, messages.stream, name="tags")
            check_size(tags_view, messages.count * self._tag_bytes, "tags")
            task.put_tags(tags_view, 0)
        finish = with_verdicts(task, messages.like, messages.like_view, context, messages.stream,
                               verdicts)

        def value() -> Any:
            finish()
            return messages.value

        return task, value


class AESGCM(AEAD):
    """AES-GCM (SP 800-38D), with the signatures of cryptography.hazmat.primitives.ciphers.aead.
    Keys have 16, 24 or 32 bytes, nonces 8 to 128, usually 12, and tags 16. No nonce may be used
    twice under one key. If nonces are random and have 12 bytes, a key may encrypt 2^32 messages.
    """

    __slots__ = ()

    def __init__(self, key: Union[BytesLike, KeyProvider], *,
                 context: Optional[Context] = None) -> None:
        super().__init__("aes-gcm", key, context=context)

    def _key_text(self) -> str:
        return "AESGCM key must be 128, 192, or 256 bits."

    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """Returns a random key of 128, 192 or 256 bits."""
        return _random_key(bit_length)


class AESCCM(AEAD):
    """AES-CCM (SP 800-38C), with the signatures of cryptography.hazmat.primitives.ciphers.aead.
    Keys have 16, 24 or 32 bytes, nonces 7 to 13, and tags 4, 6, 8, 10, 12, 14 or 16. The blocks of
    a message are processed one after the other, so pass many messages at once. No nonce may be used
    twice under one key. Random nonces of 7 bytes repeat with a probability of 2^-32 within 5,793
    messages, so use 13 bytes for texts below 64 KiB and 12 for texts below 16 MiB, or use a
    counter.
    """

    __slots__ = ()

    def __init__(self, key: Union[BytesLike, KeyProvider], tag_length: Optional[int] = 16, *,
                 context: Optional[Context] = None) -> None:
        super().__init__("aes-ccm", key, tag_length, context=context)

    def _key_text(self) -> str:
        return "AESCCM key must be 128, 192, or 256 bits."

    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """Returns a random key of 128, 192 or 256 bits."""
        return _random_key(bit_length)


class ChaCha20Poly1305(AEAD):
    """ChaCha20-Poly1305 (RFC 8439, section 2.8), with the signatures of
    cryptography.hazmat.primitives.ciphers.aead. Keys have 32 bytes, nonces 12, and tags 16. No
    nonce may be used twice under one key. If nonces are random, a key may encrypt 2^32 messages.
    """

    __slots__ = ()

    def __init__(self, key: Union[BytesLike, KeyProvider], *,
                 context: Optional[Context] = None) -> None:
        super().__init__("chacha20-poly1305", key, context=context)

    def _key_text(self) -> str:
        return "ChaCha20Poly1305 key must be 32 bytes."

    @staticmethod
    def generate_key() -> bytes:
        """Returns a random key of 256 bits."""
        return os.urandom(32)


def _unpickled(kind: type[AEAD], name: str, provider: KeyProvider, tag_bytes: int) -> AEAD:
    made = kind.__new__(kind)
    AEAD.__init__(made, name, provider, tag_bytes)
    return made


def _random_key(bit_length: int) -> bytes:
    bits = whole("bit_length", bit_length)
    if bits not in (128, 192, 256):
        raise ValueError("bit_length must be 128, 192, or 256")
    return os.urandom(bits // 8)
