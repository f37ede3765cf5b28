# SPDX-License-Identifier: Apache-2.0
"""GCM, CCM, ChaCha20, Poly1305 and ChaCha20-Poly1305 with Python's integers, written to be
compared with the standards. They are slow and not constant time: only for test vectors.
"""

from aes_reference import BLOCK, Aes, blocks_of, ctr_crypt, xor


def padded(text):
    return text + bytes(-len(text) % BLOCK)


def ghash(h, text):
    """GHASH, SP 800-38D, Algorithm 2, section 6.4. Bit 0 of a block, its first one, is the
    highest bit of the number."""
    y, h = 0, int.from_bytes(h, "big")
    for block in blocks_of(text):
        x, product, v = y ^ int.from_bytes(block, "big"), 0, h
        for bit in range(127, -1, -1):
            if x >> bit & 1:
                product ^= v
            v = v >> 1 ^ (0xE1 << 120 if v & 1 else 0)
        y = product
    return y.to_bytes(BLOCK, "big")


def gcm_seal(key, iv, aad, text, cipher=Aes):
    """GCM-AE, SP 800-38D, Algorithm 4, section 7.1; the tag has 16 bytes."""
    block_cipher = cipher(key)
    h = block_cipher.encrypt_block(bytes(BLOCK))
    start = iv + bytes([0, 0, 0, 1])
    if len(iv) != 12:
        start = ghash(h, padded(iv) + (8 * len(iv)).to_bytes(BLOCK, "big"))
    count, out = int.from_bytes(start[12:], "big"), []
    for number, block in enumerate(blocks_of(text), start=1):
        counter = start[:12] + ((count + number) % (1 << 32)).to_bytes(4, "big")
        out.append(bytes(xor(block, block_cipher.encrypt_block(counter))))
    sealed = b"".join(out)
    lengths = (8 * len(aad)).to_bytes(8, "big") + (8 * len(sealed)).to_bytes(8, "big")
    tag = ghash(h, padded(aad) + padded(sealed) + lengths)
    return sealed, bytes(xor(tag, block_cipher.encrypt_block(start)))


def ccm_seal(key, nonce, aad, text, tag_bytes, cipher=Aes):
    """CCM, SP 800-38C, section 6.1 and appendix A, with less than 65,280 bytes of aad."""
    block_cipher, count_bytes = cipher(key), 15 - len(nonce)
    flags = (64 if aad else 0) + 8 * ((tag_bytes - 2) // 2) + count_bytes - 1
    told = len(aad).to_bytes(2, "big") if aad else b""
    message = bytes([flags]) + nonce + len(text).to_bytes(count_bytes, "big")
    message += padded(told + aad) + padded(text)
    mac = bytes(BLOCK)
    for block in blocks_of(message):
        mac = block_cipher.encrypt_block(bytes(xor(mac, block)))
    counter = bytes([count_bytes - 1]) + nonce + bytes(count_bytes)
    sealed = ctr_crypt(key, counter, bytes(BLOCK) + text, cipher)
    return sealed[BLOCK:], bytes(xor(mac, sealed))[:tag_bytes]


def chacha20_block(key, counter, nonce):
    """The ChaCha20 block function, RFC 8439, section 2.3."""
    words = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    more = key + counter.to_bytes(4, "little") + nonce
    words += [int.from_bytes(more[i : i + 4], "little") for i in range(0, 48, 4)]
    state = list(words)

    def quarter(a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) & 0xFFFFFFFF
            state[z] ^= state[x]
            state[z] = (state[z] << turn | state[z] >> (32 - turn)) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    total = [(a + b) & 0xFFFFFFFF for a, b in zip(words, state)]
    return b"".join(word.to_bytes(4, "little") for word in total)


def chacha20_crypt(key, start, text):
    """ChaCha20. `start` is the counter, little-endian, followed by the nonce."""
    counter, nonce, out = int.from_bytes(start[:4], "little"), start[4:], []
    for number in range(0, len(text), 64):
        stream = chacha20_block(key, counter + number // 64, nonce)
        out.append(bytes(xor(text[number : number + 64], stream)))
    return b"".join(out)


def poly1305(key, message):
    """Poly1305, RFC 8439, section 2.5."""
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for block in blocks_of(message):
        total = (total + int.from_bytes(block + b"\x01", "little")) * r % ((1 << 130) - 5)
    total += int.from_bytes(key[16:], "little")
    return (total % (1 << 128)).to_bytes(16, "little")


def chacha20_poly1305_seal(key, nonce, aad, text):
    """ChaCha20-Poly1305, RFC 8439, section 2.8."""
    sealed = chacha20_crypt(key, bytes([1, 0, 0, 0]) + nonce, text)
    lengths = len(aad).to_bytes(8, "little") + len(sealed).to_bytes(8, "little")
    one_time_key = chacha20_block(key, 0, nonce)[:32]
    return sealed, poly1305(one_time_key, padded(aad) + padded(sealed) + lengths)
