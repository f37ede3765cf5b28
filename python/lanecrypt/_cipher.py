# SPDX-License-Identifier: Apache-2.0
"""Ciphers without authentication: block cipher modes and ChaCha20."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, Union, overload

from . import _arrays, _core
from ._captured import Captured, capture_decryption, capture_encryption
from ._context import Context, checked, default_context
from ._job import Job
from ._keys import KeyProvider, check_key_bytes, check_pickled, kept_provider, secret_key
from ._messages import CIPHERS, Messages, Prepared, bytes_of, check_size, run
from ._names import check_name
from ._numbers import whole
from ._segments import Segments
from ._stream import CHACHA20_BLOCKS, CipherStream, Continuation, check_blocks
from ._types import Aad, BytesLike, Data, Many, ManyBytes

_AES, _SM4, _OTHER = (16, 24, 32), (16,), (16, 24, 32)


class _Mode(NamedTuple):
    key_sizes: tuple[int, ...]
    iv_bytes: int = 16
    continuation: Optional[str] = None
    """None if a message cannot be processed in pieces."""
    has_data_units: bool = False


def _modes_of(name: str, keys: tuple[int, ...]) -> dict[str, _Mode]:
    return {
        f"{name}-ecb": _Mode(keys, 0, Continuation.BLOCKS),
        f"{name}-cbc": _Mode(keys, 16, Continuation.CIPHERTEXT_BLOCKS),
        f"{name}-ctr": _Mode(keys, 16, Continuation.COUNTER),
        f"{name}-cfb": _Mode(keys, 16, Continuation.CIPHERTEXT),
        f"{name}-ofb": _Mode(keys, 16, Continuation.KEYSTREAM),
    }


_MODES: dict[str, _Mode] = {
    **_modes_of("aes", _AES),
    "aes-xts": _Mode((32, 64), has_data_units=True),
    "aes-cfb8": _Mode(_AES, 16, Continuation.SHIFTED),
    "aes-cfb1": _Mode(_AES, 16, Continuation.SHIFTED),
    "aes-cbc-cs1": _Mode(_AES),
    "aes-cbc-cs2": _Mode(_AES),
    "aes-cbc-cs3": _Mode(_AES),
    "chacha20": _Mode((32,), 16, Continuation.CHACHA20),
    **_modes_of("sm4", _SM4),
    "sm4-xts": _Mode((32,), has_data_units=True),
    "sm4-xts-gb": _Mode((32,), has_data_units=True),
    **_modes_of("camellia", _OTHER),
    **_modes_of("aria", _OTHER),
}


class Cipher:
    """A cipher without authentication, with one key. Anyone who can change the ciphertext can
    change the plaintext: use AESGCM or another AEAD if that matters.

    IVs: never use an IV twice under one key. In CTR, OFB and ChaCha20 the XOR of the two
    ciphertexts would be that of the plaintexts. In CTR and ChaCha20 a message uses one counter
    value per block, and no two messages may share one. CBC and CFB need an IV that nobody can
    predict. A random nonce of 12 bytes for ChaCha20 is safe for 2^32 messages under one key. An IV
    has 16 bytes: the first counter block of CTR, in which all 128 bits count and wrap around; the
    first tweak of XTS, little-endian; the 32-bit block counter of ChaCha20, little-endian, followed
    by its nonce. Raises ValueError if a message has more blocks than the counter of ChaCha20 has
    values left. ECB has no IV: pass None.

    There is no padding: messages of ECB and CBC must be whole blocks of 16 bytes.

    name: "aes-", "sm4-", "camellia-" or "aria-" with "ecb", "cbc", "ctr", "cfb" (CFB128) or "ofb"
        (SP 800-38A); also "aes-cfb8" and "aes-cfb1" (on the CPU only), "aes-cbc-cs1", "-cs2", "-cs3" (ciphertext
        stealing, the addendum to SP 800-38A), "aes-xts", "sm4-xts" (IEEE 1619), "sm4-xts-gb" (GB/T
        17964-2021) and "chacha20" (RFC 8439).
    key: bytes-like, or a KeyProvider: 16, 24 or 32 bytes; 16 for SM4, 32 for ChaCha20; twice as
        many for XTS, the key for the data and then the key for the tweak. The key is copied to
        locked memory, which is erased when this object is destroyed.
    data_unit_bytes: for XTS, the length of a data unit. A message is a sequence of data units with
        consecutive tweaks. 0: a message is one data unit.
    context: the devices to use; by default default_context().

    Data, streams, results, threads and errors are as for AEAD.
    """

    __slots__ = ("_number", "_name", "_mode", "_key", "_unit_bytes", "_context", "_provider",
                 "__weakref__")
    _tag_bytes = 0
    _ivs_name = "ivs"

    def __init__(
        self,
        name: str,
        key: Union[BytesLike, KeyProvider],
        *,
        data_unit_bytes: int = 0,
        context: Optional[Context] = None,
    ) -> None:
        check_name("cipher", name, _MODES)
        self._name = name
        self._mode = _MODES[name]
        self._number = CIPHERS[name]
        self._key = secret_key(key)
        self._provider = kept_provider(key)
        sizes = " or ".join(map(str, self._mode.key_sizes))
        check_key_bytes(self._key, key, self._mode.key_sizes,
                        f"a key of {name} has {sizes} bytes, not {self._key.nbytes}")
        self._unit_bytes = whole("data_unit_bytes", data_unit_bytes)
        if self._unit_bytes and not self._mode.has_data_units:
            raise ValueError(f"{name} has no data units")
        self._context = checked(context)

    def __repr__(self) -> str:
        return f"<lanecrypt.Cipher {self._name} at {id(self):#x}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        check_pickled(type(self), self._provider, self._context)
        its = (type(self), self._name, self._provider, self._unit_bytes)
        return _unpickled, its, getattr(self, "__dict__", None)

    @overload
    def encrypt(self, iv: Aad, data: BytesLike, *, out: None = None,
                stream: Any = None) -> bytes: ...

    @overload
    def encrypt(self, iv: Aad, data: Data, *, out: Optional[Data] = None,
                stream: Any = None) -> Any: ...

    def encrypt(self, iv: Aad, data: Data, *, out: Optional[Data] = None,
                stream: Any = None) -> Any:
        """Encrypts one message. Returns `out`, or a new array with the shape and type of the data,
        bytes for bytes-like data.

        out: writable, with as many bytes as the data; the data themselves for encryption in place.
        """
        return run(self._one(True, iv, data, out, stream))

    @overload
    def submit_encrypt(self, iv: Aad, data: BytesLike, *, out: None = None,
                       stream: Any = None) -> Job[bytes]: ...

    @overload
    def submit_encrypt(self, iv: Aad, data: Data, *, out: Optional[Data] = None,
                       stream: Any = None) -> Job[Any]: ...

    def submit_encrypt(self, iv: Aad, data: Data, *, out: Optional[Data] = None,
                       stream: Any = None) -> Job[Any]:
        """Does the same as encrypt(), but returns a Job without waiting."""
        return Job(*self._one(True, iv, data, out, stream))

    @overload
    def decrypt(self, iv: Aad, data: BytesLike, *, out: None = None,
                stream: Any = None) -> bytes: ...

    @overload
    def decrypt(self, iv: Aad, data: Data, *, out: Optional[Data] = None,
                stream: Any = None) -> Any: ...

    def decrypt(self, iv: Aad, data: Data, *, out: Optional[Data] = None,
                stream: Any = None) -> Any:
        """Decrypts one message. The arguments and the result are as for encrypt()."""
        return run(self._one(False, iv, data, out, stream))

    @overload
    def submit_decrypt(self, iv: Aad, data: BytesLike, *, out: None = None,
                       stream: Any = None) -> Job[bytes]: ...

    @overload
    def submit_decrypt(self, iv: Aad, data: Data, *, out: Optional[Data] = None,
                       stream: Any = None) -> Job[Any]: ...

    def submit_decrypt(self, iv: Aad, data: Data, *, out: Optional[Data] = None,
                       stream: Any = None) -> Job[Any]:
        """Does the same as decrypt(), but returns a Job without waiting."""
        return Job(*self._one(False, iv, data, out, stream))

    @overload
    def encrypt_many(self, ivs: Optional[Many], data: ManyBytes, *, out: None = None,
                     stream: Any = None) -> list[bytes]: ...

    @overload
    def encrypt_many(self, ivs: Optional[Many], data: Many, *, out: Optional[Many] = None,
                     stream: Any = None) -> Any: ...

    def encrypt_many(self, ivs: Optional[Many], data: Many, *, out: Optional[Many] = None,
                     stream: Any = None) -> Any:
        """Encrypts many messages in one request. Returns `out`, or new outputs in the form of the
        data.

        ivs: a sequence with one IV per message, or all IVs concatenated in one object. None for
            ECB.
        data: a list or tuple of messages of any lengths, or an array whose first dimension indexes
            messages of one length.
        out: the outputs, in the form of the data. No output may overlap another output or the data,
            except exactly in place.
        """
        return run(self._many(True, ivs, data, out, stream))

    @overload
    def submit_encrypt_many(self, ivs: Optional[Many], data: ManyBytes, *, out: None = None,
                            stream: Any = None) -> Job[list[bytes]]: ...

    @overload
    def submit_encrypt_many(self, ivs: Optional[Many], data: Many, *, out: Optional[Many] = None,
                            stream: Any = None) -> Job[Any]: ...

    def submit_encrypt_many(self, ivs: Optional[Many], data: Many, *, out: Optional[Many] = None,
                            stream: Any = None) -> Job[Any]:
        """Does the same as encrypt_many(), but returns a Job without waiting."""
        return Job(*self._many(True, ivs, data, out, stream))

    @overload
    def decrypt_many(self, ivs: Optional[Many], data: ManyBytes, *, out: None = None,
                     stream: Any = None) -> list[bytes]: ...

    @overload
    def decrypt_many(self, ivs: Optional[Many], data: Many, *, out: Optional[Many] = None,
                     stream: Any = None) -> Any: ...

    def decrypt_many(self, ivs: Optional[Many], data: Many, *, out: Optional[Many] = None,
                     stream: Any = None) -> Any:
        """Decrypts many messages. The arguments and the result are as for encrypt_many()."""
        return run(self._many(False, ivs, data, out, stream))

    @overload
    def submit_decrypt_many(self, ivs: Optional[Many], data: ManyBytes, *, out: None = None,
                            stream: Any = None) -> Job[list[bytes]]: ...

    @overload
    def submit_decrypt_many(self, ivs: Optional[Many], data: Many, *, out: Optional[Many] = None,
                            stream: Any = None) -> Job[Any]: ...

    def submit_decrypt_many(self, ivs: Optional[Many], data: Many, *, out: Optional[Many] = None,
                            stream: Any = None) -> Job[Any]:
        """Does the same as decrypt_many(), but returns a Job without waiting."""
        return Job(*self._many(False, ivs, data, out, stream))

    def encryptor(self, iv: Aad = None) -> CipherStream:
        """Returns a CipherStream that encrypts one message in pieces. Raises ValueError for XTS and
        ciphertext stealing, where the end of a message depends on its length.
        """
        return self._stream(True, iv)

    def decryptor(self, iv: Aad = None) -> CipherStream:
        """Returns a CipherStream that decrypts one message in pieces, as encryptor() encrypts it.
        """
        return self._stream(False, iv)

    # ---- In a CUDA graph ----

    def capture_encrypt_segments(self, layout: Segments, iv: Any, data: Any, *, out: Any,
                                 launches: int, verdict: Any, iv_out: Any = None, first: int = 0,
                                 stream: Any = None) -> Captured:
        """Adds encryption with CTR or ChaCha20 to the CUDA graph that is being captured. Each
        launch of the graph then encrypts the contents that `data` has at that time. All arrays must
        be on the GPU and stay allocated. Nothing here waits. There may be at most 65,536 segments;
        a text in one piece is one segment. Other modes raise ValueError. After any error do not
        launch the graph: it may contain part of the call.

        Each segment and each launch has the next number in the IV; its blocks are counted after the
        number, or before it for ChaCha20. layout.number must have enough bytes for all `launches`,
        and the block count of a segment must not reach the number. So no keystream is used twice.
        Nothing else may use these numbers under the key: make a key for each graph, and instantiate
        the graph only once.

        iv: 16 bytes, of which layout.number overwrites some: the first segment has the number
            layout.number.start + first.
        out: an array for the output; it may be the data.
        launches: the number of launches that encrypt. Each later one zeroes `out`.
        verdict: an array of one byte, which each launch sets to 1, or to 0 if it did not encrypt.
        iv_out: an array of 16 bytes that each launch fills with the IV of its first segment.
        """
        return capture_encryption(self, layout, iv, data, None, out, launches, verdict, iv_out,
                                  None, first, True, stream)

    def capture_decrypt_segments(self, layout: Segments, iv: Any, data: Any, *, out: Any,
                                 first: int = 0, stream: Any = None) -> Captured:
        """Adds decryption to the CUDA graph that is being captured, as capture_encrypt_segments()
        does. Nothing prevents a second run under the same IV. Do not use it to encrypt: that would
        use a keystream twice.

        iv: an array of 16 bytes on the GPU with the IV of the first segment, which each launch
            reads; the number in it is incremented for the following segments. Or 16 bytes in host
            memory, the same at each launch.
        """
        return capture_decryption(self, layout, iv, data, None, out, None, None, first, True,
                                  stream)

    # ---- Implementation ----

    def _usual_iv_bytes(self) -> int:
        return self._mode.iv_bytes

    def _check_length(self, iv_bytes: int, text_bytes: int) -> None:
        pass  # the library checks the length

    def _check_counters(self, ivs: bytes, lengths: Iterable[int]) -> None:
        """Raises ValueError before anything is written if a message has too many blocks. The
        library would carry into the nonce, as OpenSSL does, and the message would continue with the
        keystream of another one.
        """
        if self._mode.continuation == Continuation.CHACHA20:
            for (block,), nbytes in zip(struct.iter_unpack("<I12x", ivs), lengths):
                check_blocks(nbytes, CHACHA20_BLOCKS - block)

    def _task(self, context: Context, encrypts: bool, iv_bytes: int,
              stream: Optional[int]) -> _core.CipherTask:
        if iv_bytes != self._mode.iv_bytes:
            needed = self._mode.iv_bytes or "no"
            raise ValueError(f"an IV of {self._name} has {needed} bytes, not {iv_bytes}")
        return _core.CipherTask(context._core, self._number, encrypts, self._key, iv_bytes, 0,
                                self._unit_bytes, stream)

    def _one(self, encrypts: bool, iv: Any, data: Any, out: Any, stream: Any) -> Prepared:
        context = self._context or default_context()
        handle = _arrays.stream_number(stream)
        source = _arrays.view(data, handle)
        handle = _arrays.stream_for(data, source, handle)
        start = b"" if iv is None else bytes_of(iv, "iv")
        task = self._task(context, encrypts, len(start), handle)
        self._check_counters(start, (source.nbytes,))
        if out is None:
            output = _arrays.new_like(data, source, context._core, handle)
        else:
            output = _arrays.Output(_arrays.view(out, handle, writable=True, name="out"), out)
            check_size(output.view, source.nbytes, "out")
        task.add(start, source, 0, source.nbytes, output.view, 0, None)
        return task, lambda: output.value

    def _many(self, encrypts: bool, ivs: Any, data: Any, out: Any, stream: Any) -> Prepared:
        context = self._context or default_context()
        messages = Messages(data, out, context, stream)
        task = messages.task(self, ivs, None, encrypts)
        if out is None:
            task.set_outputs_apart()
        return task, lambda: messages.value

    def _stream(self, encrypts: bool, iv: Any) -> CipherStream:
        if self._mode.continuation is None:
            raise ValueError(f"a message of {self._name} cannot be given in pieces")
        start = b"" if iv is None else bytes_of(iv, "iv")
        if len(start) != self._mode.iv_bytes:
            needed = self._mode.iv_bytes or "no"
            raise ValueError(f"an IV of {self._name} has {needed} bytes, not {len(start)}")
        return CipherStream(self, self._mode.continuation, encrypts, start)


def _unpickled(kind: type[Cipher], name: str, provider: KeyProvider, unit_bytes: int) -> Cipher:
    made = kind.__new__(kind)
    Cipher.__init__(made, name, provider, data_unit_bytes=unit_bytes)
    return made
