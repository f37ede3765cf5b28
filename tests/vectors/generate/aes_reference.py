# SPDX-License-Identifier: Apache-2.0
"""AES as FIPS 197 describes it, and modes for any cipher with 16-byte blocks, written to be
compared with the standards. They are slow and not constant time: only for test vectors.

The state is a list of 16 bytes, column by column, so byte 4*c + r is row r of column c.
"""

BLOCK = 16


def xtime(a):
    """Multiplies by x in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, 4.2.1)."""
    a <<= 1
    return (a ^ 0x11B) if a & 0x100 else a


def multiply(a, b):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = xtime(a)
        b >>= 1
    return product


def make_sbox():
    """The inverse in the field, then the affine map (FIPS 197, 5.1.1)."""
    sbox = []
    for a in range(256):
        inverse = next((b for b in range(256) if multiply(a, b) == 1), 0)
        mapped = 0x63
        for turn in range(5):
            mapped ^= ((inverse << turn) | (inverse >> (8 - turn))) & 0xFF
        sbox.append(mapped)
    return sbox


SBOX = make_sbox()
INVERSE_SBOX = [SBOX.index(a) for a in range(256)]
# Products by the constants of MixColumns and InvMixColumns.
BY = {k: [multiply(a, k) for a in range(256)] for k in (2, 3, 9, 11, 13, 14)}
# The index in the state from which ShiftRows takes each byte, and the inverse.
SHIFT_ROWS = [4 * ((c + r) % 4) + r for c in range(4) for r in range(4)]
INVERSE_SHIFT_ROWS = [4 * ((c - r) % 4) + r for c in range(4) for r in range(4)]


def expand_key(key):
    """Round keys of 16 bytes each (FIPS 197, 5.2)."""
    words_in_key = len(key) // 4
    rounds = words_in_key + 6
    words = [list(key[4 * i : 4 * i + 4]) for i in range(words_in_key)]
    round_constant = 1
    for i in range(words_in_key, 4 * (rounds + 1)):
        word = list(words[i - 1])
        if i % words_in_key == 0:
            word = [SBOX[b] for b in word[1:] + word[:1]]
            word[0] ^= round_constant
            round_constant = xtime(round_constant)
        elif words_in_key == 8 and i % 8 == 4:
            word = [SBOX[b] for b in word]
        words.append([a ^ b for a, b in zip(word, words[i - words_in_key])])
    return [sum(words[4 * r : 4 * r + 4], []) for r in range(rounds + 1)]


def mix_columns(s):
    two, three = BY[2], BY[3]
    out = []
    for c in range(0, 16, 4):
        a, b, d, e = s[c : c + 4]
        out += [two[a] ^ three[b] ^ d ^ e, a ^ two[b] ^ three[d] ^ e,
                a ^ b ^ two[d] ^ three[e], three[a] ^ b ^ d ^ two[e]]  # fmt: skip
    return out


def inverse_mix_columns(s):
    n, b, d, e = BY[9], BY[11], BY[13], BY[14]
    out = []
    for c in range(0, 16, 4):
        p, q, r, t = s[c : c + 4]
        out += [e[p] ^ b[q] ^ d[r] ^ n[t], n[p] ^ e[q] ^ b[r] ^ d[t],
                d[p] ^ n[q] ^ e[r] ^ b[t], b[p] ^ d[q] ^ n[r] ^ e[t]]  # fmt: skip
    return out


def xor(a, b):
    return [x ^ y for x, y in zip(a, b)]


class Aes:
    """AES with one key; a block is a bytes object of length 16."""

    def __init__(self, key):
        self.round_keys = expand_key(key)

    def encrypt_block(self, block):
        s = xor(block, self.round_keys[0])
        for round_key in self.round_keys[1:-1]:
            s = xor(mix_columns([SBOX[s[i]] for i in SHIFT_ROWS]), round_key)
        return bytes(xor([SBOX[s[i]] for i in SHIFT_ROWS], self.round_keys[-1]))

    def decrypt_block(self, block):
        s = xor(block, self.round_keys[-1])
        for round_key in self.round_keys[-2:0:-1]:
            s = inverse_mix_columns(xor([INVERSE_SBOX[s[i]] for i in INVERSE_SHIFT_ROWS], round_key))
        return bytes(xor([INVERSE_SBOX[s[i]] for i in INVERSE_SHIFT_ROWS], self.round_keys[0]))


def blocks_of(text):
    return [text[i : i + BLOCK] for i in range(0, len(text), BLOCK)]


def ecb_encrypt(key, plaintext, cipher=Aes):
    block_cipher = cipher(key)
    return b"".join(block_cipher.encrypt_block(block) for block in blocks_of(plaintext))


def cbc_encrypt(key, iv, plaintext, cipher=Aes):
    block_cipher, out, chain = cipher(key), [], iv
    for block in blocks_of(plaintext):
        chain = block_cipher.encrypt_block(bytes(xor(block, chain)))
        out.append(chain)
    return b"".join(out)


def ctr_crypt(key, counter, text, cipher=Aes):
    """All 128 bits of the counter block count, and wrap to 0."""
    block_cipher, out, count = cipher(key), [], int.from_bytes(counter, "big")
    for block in blocks_of(text):
        stream = block_cipher.encrypt_block(count.to_bytes(BLOCK, "big"))
        out.append(bytes(xor(block, stream)))
        count = (count + 1) % (1 << 128)
    return b"".join(out)


def cfb_encrypt(key, iv, text, segment_bits, cipher=Aes):
    """CFB, SP 800-38A, section 6.3, bit by bit of the register."""
    block_cipher, out, register = cipher(key), 0, int.from_bytes(iv, "big")
    bits, value = 8 * len(text), int.from_bytes(text, "big")
    for at in range(0, bits, segment_bits):
        size = min(segment_bits, bits - at)
        made = int.from_bytes(block_cipher.encrypt_block(register.to_bytes(BLOCK, "big")), "big")
        segment = (value >> (bits - at - size)) & ((1 << size) - 1)
        segment ^= made >> (128 - size)
        out = out << size | segment
        register = (register << size | segment) & ((1 << 128) - 1)
    return out.to_bytes(len(text), "big")


def ofb_crypt(key, iv, text, cipher=Aes):
    block_cipher, out, state = cipher(key), [], iv
    for at in range(0, len(text), BLOCK):
        state = bytes(block_cipher.encrypt_block(state))
        out.append(bytes(xor(text[at : at + BLOCK], state)))
    return b"".join(out)


def cts_encrypt(key, iv, text, variant):
    """The addendum to SP 800-38A: CBC over the text, padded with zeros. Then the last two blocks
    are truncated and exchanged, as the variant requires."""
    part = (len(text) - 1) % BLOCK + 1
    whole = cbc_encrypt(key, iv, text + bytes(BLOCK - part))
    if len(text) == BLOCK:
        return whole
    front, cut, last = whole[: -2 * BLOCK], whole[-2 * BLOCK : -BLOCK][:part], whole[-BLOCK:]
    swapped = variant == 3 or (variant == 2 and part != BLOCK)
    return front + (last + cut if swapped else cut + last)


def turn_bytes(block):
    """Returns each byte with its bits in reverse order."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in block)


def xts_encrypt(keys, tweak, text, cipher=Aes, is_gb=False):
    """One data unit by IEEE 1619, 5.3. In GB/T 17964-2021 the bits of tweaks are in reverse
    order."""
    half = len(keys) // 2
    turned = turn_bytes if is_gb else bytes
    data_cipher = cipher(keys[:half])
    mask = int.from_bytes(turned(bytes(cipher(keys[half:]).encrypt_block(tweak))), "little")

    def block(plain, factor):
        return bytes(xor(bytes(data_cipher.encrypt_block(bytes(xor(plain, factor)))), factor))

    factors = []
    for _ in range(len(text) // BLOCK + 1):
        factors.append(turned(mask.to_bytes(BLOCK, "little")))
        mask = (mask << 1) ^ (0x87 | 1 << 128 if mask >> 127 else 0)
    whole, part = len(text) // BLOCK, len(text) % BLOCK
    out = [block(text[BLOCK * n : BLOCK * (n + 1)], factors[n]) for n in range(whole)]
    if part:
        stolen = out.pop()
        out += [block(text[-part:] + stolen[part:], factors[whole]), stolen[:part]]
    return b"".join(out)
