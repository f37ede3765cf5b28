# SPDX-License-Identifier: Apache-2.0
"""One message that is processed in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from . import _arrays, _core
from ._context import Context, default_context

if TYPE_CHECKING:
    from ._cipher import Cipher


class Continuation:
    """What replaces the IV at the start of the next piece."""

    BLOCKS = "nothing"
    CIPHERTEXT_BLOCKS = "the last block of ciphertext, of a mode of whole blocks"
    CIPHERTEXT = "the last block of ciphertext"
    SHIFTED = "the last 16 bytes of ciphertext, wherever it ends"
    KEYSTREAM = "the last block of keystream"
    COUNTER = "the counter, big-endian, of 128 bits"
    CHACHA20 = "the counter, little-endian, of 32 bits, and the nonce"


_WHOLE_BLOCKS = (Continuation.BLOCKS, Continuation.CIPHERTEXT_BLOCKS)


# The number of values of a 32-bit block counter (RFC 8439, section 2.4), and the bytes of a block.
CHACHA20_BLOCKS = 1 << 32
_CHACHA20_BLOCK_BYTES = 64


def check_blocks(nbytes: int, left: int) -> None:
    """Raises ValueError if `nbytes` bytes have more ChaCha20 blocks than `left`."""
    if -(-nbytes // _CHACHA20_BLOCK_BYTES) > left:
        raise ValueError("the message goes past the end of ChaCha20's block counter of 32 bits")


class CipherStream:
    """Encrypts or decrypts one message in pieces of any length. Cipher.encryptor() and decryptor()
    make it. The output so far depends only on the input so far.

    CTR, CFB, OFB and ChaCha20 return as many bytes as they get. ECB and CBC return whole blocks of
    16 bytes, and keep the rest for the next piece. Each piece may be on the host or on a device.
    The object is not thread-safe. After a call has failed, it cannot be used any more. A piece that
    exceeds ChaCha20's block counter is refused, and nothing of it is written.
    """

    __slots__ = ("_cipher", "_context", "_way", "_encrypts", "_iv", "_head", "_block_bytes",
                 "_blocks_left", "_is_over", "__weakref__")

    def __init__(self, cipher: Cipher, way: str, encrypts: bool, iv: bytes) -> None:
        self._cipher = cipher
        self._way = way
        self._encrypts = encrypts
        self._iv = iv
        # The input bytes of an incomplete block.
        self._head = bytearray()
        self._block_bytes = {Continuation.CHACHA20: _CHACHA20_BLOCK_BYTES,
                             Continuation.SHIFTED: 1}.get(way, 16)
        # For ChaCha20: the counter alone cannot distinguish the first block from the one after the
        # last.
        self._blocks_left = (CHACHA20_BLOCKS - int.from_bytes(iv[:4], "little")
                             if way == Continuation.CHACHA20 else 0)
        self._is_over = False

    def update(self, data: Any, *, stream: Any = None) -> Any:
        """Processes the next piece. Returns new bytes, or, for an array, a new one-dimensional
        array of bytes on its device.
        """
        context = self._cipher._context or default_context()
        source, handle = self._view(data, stream)
        output = _arrays.new_bytes(data, source, self._output_bytes(source.nbytes), context._core,
                                   handle)
        self._update(context, source, output.view, handle)
        return output.value

    def update_into(self, data: Any, buf: Any, *, stream: Any = None) -> int:
        """Processes the next piece into `buf`, and returns the number of bytes written. `buf` must
        be writable, on the device of the data, and have at least as many bytes as are written. It
        may be the data themselves if no rest was kept from earlier pieces.
        """
        context = self._cipher._context or default_context()
        source, handle = self._view(data, stream)
        output = _arrays.view(buf, handle, writable=True, name="buf")
        count = self._output_bytes(source.nbytes)
        if output.nbytes < count:
            raise ValueError(f"buf must be at least {count} bytes")
        self._update(context, source, output, handle)
        return count

    def finalize(self) -> bytes:
        """Ends the message. Returns b"". Raises ValueError if ECB or CBC have an incomplete block
        left.
        """
        self._check()
        rest = len(self._head)
        self._end()
        if rest and self._way in _WHOLE_BLOCKS:
            raise ValueError(f"the message is no multiple of 16 bytes: {rest} are left")
        return b""

    def __reduce_ex__(self, protocol: object) -> str:
        raise TypeError("CipherStream holds a key and cannot be pickled")

    # ---- Implementation ----

    def _check(self) -> None:
        if self._is_over:
            raise ValueError("the message was ended before")

    def _end(self) -> None:
        self._is_over = True
        self._head[:] = bytes(len(self._head))
        self._head.clear()

    def _view(self, data: Any, stream: Any) -> tuple[_core.View, Optional[int]]:
        self._check()
        handle = _arrays.stream_number(stream)
        source = _arrays.view(data, handle)
        handle = _arrays.stream_for(data, source, handle)
        return source, handle

    def _output_bytes(self, nbytes: int) -> int:
        if self._way not in _WHOLE_BLOCKS:
            return nbytes
        return (len(self._head) + nbytes) // 16 * 16

    def _update(self, context: Context, source: _core.View, output: _core.View,
                stream: Optional[int]) -> None:
        """Processes a piece completely, or raises and ends the stream."""
        try:
            if self._way == Continuation.CHACHA20:
                check_blocks(len(self._head) + source.nbytes, self._blocks_left)
            self._do_update(context, source, output, stream)
        except BaseException:
            self._end()
            raise

    def _do_update(self, context: Context, source: _core.View, output: _core.View,
                   stream: Optional[int]) -> None:
        # The ends of pieces are read and written by copies outside the stream.
        _arrays.wait_for_stream(source, stream, context._core)
        size = self._block_bytes
        taken = given = 0
        if self._head:
            taken = min(source.nbytes, size - len(self._head))
            before = len(self._head)
            self._head += context._core.read(source, 0, taken)
            is_whole = len(self._head) == size
            if self._way not in _WHOLE_BLOCKS:
                done = self._run_bytes(context, bytes(self._head))
                context._core.write(output, 0, done[before:])
                given = taken
            elif is_whole:
                done = self._run_bytes(context, bytes(self._head))
                context._core.write(output, 0, done)
                given = size
            if is_whole:
                self._advance(size, bytes(self._head), done)
                self._drop_head()
        rest = source.nbytes - taken
        whole = rest // size * size
        tail = rest - whole
        length = whole if self._way in _WHOLE_BLOCKS else rest
        last = min(whole, max(size, 16))
        # The end of the input is read first, because in-place processing overwrites it.
        end = taken + whole
        last_in = context._core.read(source, end - last, last) if self._looks_back(True) else b""
        kept = context._core.read(source, end, tail)
        if length:
            task = self._cipher._task(context, self._encrypts, len(self._iv), stream)
            task.add(self._iv or None, source, taken, length, output, given, None)
            task.run()
        if whole:
            end = given + whole
            last_out = (context._core.read(output, end - last, last)
                        if self._looks_back(False) else b"")
            self._advance(whole, last_in, last_out)
        self._head += kept

    def _looks_back(self, at_input: bool) -> bool:
        """Returns whether the next IV depends on the end of the input (`at_input`) or of the
        output.
        """
        if self._way == Continuation.KEYSTREAM:
            return True
        of_ciphertext = self._way in (Continuation.CIPHERTEXT, Continuation.CIPHERTEXT_BLOCKS,
                                      Continuation.SHIFTED)
        return of_ciphertext and at_input != self._encrypts

    def _drop_head(self) -> None:
        self._head[:] = bytes(len(self._head))
        self._head.clear()

    def _run_bytes(self, context: Context, data: bytes) -> bytes:
        source, output = _core.View(data), _core.View.of_new_bytes(len(data))
        task = self._cipher._task(context, self._encrypts, len(self._iv), None)
        task.add(self._iv or None, source, 0, len(data), output, 0, None)
        task.run()
        done: bytes = output.owner
        return done

    def _advance(self, nbytes: int, last_in: bytes, last_out: bytes) -> None:
        """Sets the IV for the data after `nbytes` bytes, which are whole blocks."""
        ciphertext = last_out if self._encrypts else last_in
        if self._way == Continuation.COUNTER:
            number = int.from_bytes(self._iv, "big") + nbytes // 16
            self._iv = (number % (1 << 128)).to_bytes(16, "big")
        elif self._way == Continuation.CHACHA20:
            self._blocks_left -= nbytes // _CHACHA20_BLOCK_BYTES
            number = (CHACHA20_BLOCKS - self._blocks_left) % CHACHA20_BLOCKS
            self._iv = number.to_bytes(4, "little") + self._iv[4:]
        elif self._way == Continuation.KEYSTREAM:
            self._iv = bytes(a ^ b for a, b in zip(last_in[-16:], last_out[-16:]))
        elif self._way == Continuation.SHIFTED:
            self._iv = (self._iv + ciphertext[-16:])[-16:]
        elif self._way != Continuation.BLOCKS:
            self._iv = ciphertext[-16:]
