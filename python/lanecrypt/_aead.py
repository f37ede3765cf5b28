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

# In the place of a buffer: a new one is made. None is no buffer.
_NEW = object()


class AEAD:
    """One key of an authenticated cipher: "aes-gcm" (SP 800-38D), "aes-ccm" (SP 800-38C),
    "chacha20-poly1305" (RFC 8439, 2.8), "sm4-gcm", "sm4-ccm", "aria-gcm", "aria-ccm".

    key: bytes-like, or a KeyProvider. It is copied to locked memory, and wiped with this object. Only
        an object that was made with a KeyFile, and without a context, can be pickled.
    tag_length: bytes of every tag. None means 16.
    context: where to run; by default default_context().

    Data are bytes-like objects or contiguous arrays of any type but objects, by their bytes: NumPy,
    PyTorch, CuPy, JAX, Numba, and all that has __dlpack__ or __cuda_array_interface__. Data on a CUDA
    device are worked on where they lie; those in host memory on a device or the CPU, whatever is
    sooner. Nonces and associated data lie in host memory, but where a function says that they may
    lie on the device. Results are of the input's kind: bytes for bytes-like objects, and for an
    array a new one beside it.

    stream: for arrays on a CUDA device, an int (the handle) or an object with __cuda_stream__. The
    work is done in the order of the stream, by default of the stream that the array's framework
    uses now. The functions return when it is done.

    The functions without submit_ wait, without the GIL. Those with submit_ take the same and
    return a Job. Any number of threads may use one object.

    Errors: ValueError or TypeError for wrong arguments, BufferError for arrays whose values are not
    their memory (not contiguous, or tensors of PyTorch that are quantized, sparse or nested, require
    a gradient or have no memory). They begin with the name of the argument. InvalidTag where a tag is
    wrong (then no plaintext is given out: the output is wiped), lanecrypt.Error where the library
    cannot do it.

    Nonces: two messages must never have the same one under one key. Whoever has both ciphertexts then
    learns the XOR of the plaintexts, and with GCM can forge messages of the key. Random nonces of 12
    bytes are good for 2^32 messages under one key in total (SP 800-38D, 8.3), each message of
    encrypt_many() counted. For more, count the nonces, or derive a key for each text. With a random
    part of 7 bytes the same probability of a repetition is reached after 5,793 messages. Only the
    nonces of one call are compared with each other.
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
        """Encrypts and authenticates. Returns the ciphertext, as long as the data, and behind it
        the tag: bytes, or a one-dimensional array of bytes beside the data.

        nonce: never the same twice under one key; os.urandom(12) for at most 2^32 messages."""
        return run(self._encrypt(nonce, data, associated_data, stream))

    @overload
    def submit_encrypt(self, nonce: Data, data: BytesLike, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[bytes]: ...

    @overload
    def submit_encrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[Any]: ...

    def submit_encrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[Any]:
        """As encrypt(), and returns a Job."""
        return Job(*self._encrypt(nonce, data, associated_data, stream))

    @overload
    def decrypt(self, nonce: Data, data: BytesLike, associated_data: Aad = None, *,
                stream: Any = None) -> bytes: ...

    @overload
    def decrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                stream: Any = None) -> Any: ...

    def decrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                stream: Any = None) -> Any:
        """Decrypts what encrypt() returned. Returns the plaintext: bytes, or a one-dimensional
        array of bytes beside the data. Raises InvalidTag where the key, the nonce, the data or
        the associated data are not those of the encryption."""
        return run(self._decrypt(nonce, data, associated_data, stream))

    @overload
    def submit_decrypt(self, nonce: Data, data: BytesLike, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[bytes]: ...

    @overload
    def submit_decrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[Any]: ...

    def submit_decrypt(self, nonce: Data, data: Data, associated_data: Aad = None, *,
                       stream: Any = None) -> Job[Any]:
        """As decrypt(), and returns a Job."""
        return Job(*self._decrypt(nonce, data, associated_data, stream))

    def encrypt_into(self, nonce: Data, data: Data, associated_data: Aad, buf: Data, *,
                     stream: Any = None) -> int:
        """Encrypts into `buf`, which is writable and has exactly as many bytes as the data and the
        tag. It lies on the device of the data, where it may begin with them and overlap them in no
        other way; or in host memory, while the data are on a device: then pieces of ciphertext
        come back while others are encrypted, soonest into page-locked memory (PyTorch's
        pin_memory). Returns its length."""
        count: int = run(self._encrypt(nonce, data, associated_data, stream, buf))
        return count

    def submit_encrypt_into(self, nonce: Data, data: Data, associated_data: Aad, buf: Data, *,
                            stream: Any = None) -> Job[int]:
        """As encrypt_into(), and returns a Job."""
        return Job(*self._encrypt(nonce, data, associated_data, stream, buf))

    def decrypt_into(self, nonce: Data, data: Data, associated_data: Aad, buf: Data, *,
                     stream: Any = None) -> int:
        """Decrypts into `buf`, an array of any type with exactly as many bytes as the data without
        the tag. It may begin where the data begin. Returns its length. Where the tag is wrong,
        `buf` is wiped; on the host it may hold text that is not verified before."""
        count: int = run(self._decrypt(nonce, data, associated_data, stream, buf))
        return count

    def submit_decrypt_into(self, nonce: Data, data: Data, associated_data: Aad, buf: Data, *,
                            stream: Any = None) -> Job[int]:
        """As decrypt_into(), and returns a Job."""
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
        """Beware of memory that is mapped at two addresses: if it is given as two of data, out and
        tags, their overlap is not recognised, and the ciphertexts are wrong under valid tags.

        Encrypts many messages under the key, in one request. Returns (out, tags).

        data: a list or tuple of messages of any lengths, or an array whose first dimension
            numbers messages of one length.
        nonces: a sequence with one for each message, or all of them one behind the other in one
            object: an array of shape (count, bytes of a nonce), or bytes. ValueError if two are
            the same. If they do not ascend, that may be found while the messages are encrypted,
            and new outputs and outputs in host memory are then zeros. No two may be
            equal in other calls under the key either. If they are random, each message is one of
            the 2^32 that the key may encrypt.
        associated_data: None, one object for all messages, or a list or tuple with one for each.
        out: where the ciphertexts go, in the same form as the data, each as long as its message;
            the data themselves to work in place. ValueError if an output overlaps another one,
            another message, associated data or a tag in any other way. By default new ones: of
            the shape and type of the data, bytes for bytes-like messages. All may be in host
            memory while the data are on a device, as encrypt_into() has it.
        tags: where the tags go: an array, one behind the other. By default a new array of shape
            (count, bytes of a tag) beside the data, or beside `out` where that is in host memory;
            a list of bytes for bytes-like messages.
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
        """As encrypt_many(), and returns a Job."""
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
        """Beware of memory that is mapped at two addresses, as for encrypt_many().

        Decrypts what encrypt_many() made, of which `tags` is an array, or a list or tuple with
        one for each message. Returns out. Where tags are wrong, raises InvalidTag, whose `failed`
        has the numbers of these messages: their outputs are wiped, and all others are good.
        ValueError if an output overlaps a tag, associated data, another output or another
        message's data.

        verdicts: an array of a byte for each message, on the device of the data. Then no tag is
            an error: in the order of the stream its bytes become 1 where the tag is right, and 0
            where it is wrong and the output was wiped."""
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
        """As decrypt_many(), and returns a Job."""
        return Job(*self._decrypt_many(nonces, data, tags, associated_data, out, verdicts, stream))

    # ---- Segments of one text ----

    def encrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                         associated_data: Aad = None, *, first: int = 0, is_end: bool = True,
                         out: Any = None, tags: Any = None, stream: Any = None) -> Any:
        """Encrypts one text in segments, each a message of its own, in one request. Returns the
        ciphertext with the tags inside, a one-dimensional array of bytes or bytes. If layout has
        tags_inside=False, returns (out, tags) instead: out of the shape and type of the data.

        nonce: what stands before the number in each nonce, or a whole one. Without
            layout.number: all nonces, one behind the other. Two texts under one key must differ in
            it. Few random bytes repeat soon (7 after some thousand texts), so derive a key for each
            text from a random salt, as Tink does, or count the texts in it.
        associated_data: one for all segments; layout.aad_number stands in it. With GCM and
            ChaCha20-Poly1305, nonces of 12 bytes, and text and tags on a device, it may be an array
            there of 4,096 bytes at most.
        first: the number of the first segment here, where the data are a later part of a text.
        is_end: whether the last segment here is the last one of the whole text.
        out, tags: where they go: arrays, tags one behind the other. out may be the data if tags
            are apart. Both may be in host memory while the data are on a device, as
            encrypt_into() has it.
        """
        return run(encrypting(self, layout, nonce, data, associated_data, first, is_end, out,
                              tags, stream))

    def submit_encrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                                associated_data: Aad = None, *, first: int = 0,
                                is_end: bool = True, out: Any = None, tags: Any = None,
                                stream: Any = None) -> Job[Any]:
        """As encrypt_segments(), and returns a Job."""
        return Job(*encrypting(self, layout, nonce, data, associated_data, first, is_end, out,
                               tags, stream))

    def decrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                         associated_data: Aad = None, *, tags: Any = None, first: int = 0,
                         is_end: bool = True, out: Any = None, verdicts: Any = None,
                         stream: Any = None) -> Any:
        """Decrypts what encrypt_segments() made. Returns `out`, or a new one: if the tags are
        inside, a one-dimensional array of bytes or bytes. InvalidTag and verdicts are as
        decrypt_many() has them, with the numbers of segments from 0."""
        return run(decrypting(self, layout, nonce, data, associated_data, tags, first, is_end,
                              out, verdicts, stream))

    def submit_decrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                                associated_data: Aad = None, *, tags: Any = None, first: int = 0,
                                is_end: bool = True, out: Any = None, verdicts: Any = None,
                                stream: Any = None) -> Job[Any]:
        """As decrypt_segments(), and returns a Job."""
        return Job(*decrypting(self, layout, nonce, data, associated_data, tags, first, is_end,
                               out, verdicts, stream))

    # ---- In a CUDA graph ----

    def capture_encrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                                 associated_data: Aad = None, *, out: Data, launches: int,
                                 verdict: Any, nonce_out: Any = None, tags: Any = None,
                                 first: int = 0, is_end: bool = True,
                                 stream: Any = None) -> Captured:
        """Puts encrypt_segments() into the CUDA graph that is being captured, which then does it
        at each launch, with what `data` hold at that time. All arrays are on the card and stay;
        nothing here waits. For GCM (of AES, SM4 and ARIA) and ChaCha20-Poly1305 with nonces of 12
        bytes and some data, in 65,536 segments at most; others raise UnsupportedError. After any
        error do not launch the graph: some of the call may be in it.

        Each launch uses the numbers that follow on those of the one before, so no nonce comes
        twice: layout.number must have room for all `launches`. Nothing else may use these numbers
        under the key: make a key for each graph. The graph is instantiated once.

        nonce, first, is_end: as in encrypt_segments(), of the first launch.
        associated_data: 4,096 bytes at most: an array on the card, which each launch reads, or
            what lies in host memory, which is copied now. Its numbers are the same at each launch.
        out, tags: where they go. out may be the data if tags are apart.
        launches: how many launches encrypt. Each later one makes out and tags zeros.
        verdict: an array of a byte, which each launch makes 1, or 0 where it did not encrypt.
        nonce_out: an array of 12 bytes that each launch fills with its first segment's nonce.
        """
        return capture_encryption(self, layout, nonce, data, associated_data, out, launches,
                                  verdict, nonce_out, tags, first, is_end, stream)

    def capture_decrypt_segments(self, layout: Segments, nonce: Data, data: Data,
                                 associated_data: Aad = None, *, out: Data, verdicts: Any,
                                 tags: Any = None, first: int = 0, is_end: bool = True,
                                 stream: Any = None) -> Captured:
        """Puts decrypt_segments() into the CUDA graph that is being captured, as
        capture_encrypt_segments() does.

        nonce: an array of 12 bytes on the card, the first segment's nonce, which each launch
            reads; the number in it counts on. Or as in decrypt_segments(), the same at each
            launch.
        associated_data: as in capture_encrypt_segments().
        verdicts: an array of a byte for each segment, which becomes 1 where the tag is right, and
            0 where it is wrong and the output was wiped."""
        return capture_decryption(self, layout, nonce, data, associated_data, out, verdicts, tags,
                                  first, is_end, stream)

    # ---- How ----

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
        # The rest of 15 bytes holds the text's length (SP 800-38C, A.1).
        if self._mode == "ccm" and text_bytes >> (8 * (15 - nonce_bytes)):
            raise ValueError("Data too long for nonce")

    def _check_counters(self, ivs: bytes, lengths: Iterable[int]) -> None:
        pass  # no nonce holds one

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
    """AES-GCM (SP 800-38D) with the signatures of cryptography.hazmat.primitives.ciphers.aead.
    Keys of 16, 24 or 32 bytes; nonces of 8 to 128, usually 12; tags of 16. No nonce may be used twice
    under one key. If they are random, of 12 bytes, a key may encrypt 2^32 messages."""

    __slots__ = ()

    def __init__(self, key: Union[BytesLike, KeyProvider], *,
                 context: Optional[Context] = None) -> None:
        super().__init__("aes-gcm", key, context=context)

    def _key_text(self) -> str:
        return "AESGCM key must be 128, 192, or 256 bits."

    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """A random key of 128, 192 or 256 bits."""
        return _random_key(bit_length)


class AESCCM(AEAD):
    """AES-CCM (SP 800-38C) with the signatures of cryptography.hazmat.primitives.ciphers.aead.
    Keys of 16, 24 or 32 bytes; nonces of 7 to 13; tags of 4, 6, 8, 10, 12, 14 or 16. Each block
    waits for the one before it: give many messages at once. No nonce may be used twice under one key.
    A random one of 7 bytes repeats, with a probability of 2^-32, within 5,793 messages, so take 13
    bytes for texts below 64 KiB, 12 below 16 MiB, or count them."""

    __slots__ = ()

    def __init__(self, key: Union[BytesLike, KeyProvider], tag_length: Optional[int] = 16, *,
                 context: Optional[Context] = None) -> None:
        super().__init__("aes-ccm", key, tag_length, context=context)

    def _key_text(self) -> str:
        return "AESCCM key must be 128, 192, or 256 bits."

    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """A random key of 128, 192 or 256 bits."""
        return _random_key(bit_length)


class ChaCha20Poly1305(AEAD):
    """ChaCha20-Poly1305 (RFC 8439, 2.8) with the signatures of
    cryptography.hazmat.primitives.ciphers.aead. Keys of 32 bytes; nonces of 12; tags of 16. No nonce
    may be used twice under one key. If they are random, a key may encrypt 2^32 messages."""

    __slots__ = ()

    def __init__(self, key: Union[BytesLike, KeyProvider], *,
                 context: Optional[Context] = None) -> None:
        super().__init__("chacha20-poly1305", key, context=context)

    def _key_text(self) -> str:
        return "ChaCha20Poly1305 key must be 32 bytes."

    @staticmethod
    def generate_key() -> bytes:
        """A random key of 256 bits."""
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
