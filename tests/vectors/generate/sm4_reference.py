# SPDX-License-Identifier: Apache-2.0
"""SM4 (GB/T 32907-2016, draft-ribose-cfrg-sm4-10), for the modes of aes_reference.py."""

# The S-box of section 6.2.1 of the draft is computed from its structure: an inverse in this field
# between two equal affine maps.
FIELD = 0x1F5


def multiply(a, b):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a & 0x100:
            a ^= FIELD
        b >>= 1
    return product


def affine(x):
    """Applies the affine map, whose rows are rotations of one row."""
    bits = 0
    for row in range(8):
        turned = (0xA7 << row | 0xA7 >> (8 - row)) & 0xFF
        bits |= (bin(turned & x).count("1") & 1) << row
    return bits ^ 0xD3


def inverse(x):
    return next((y for y in range(256) if multiply(x, y) == 1), 0)


SBOX = [affine(inverse(affine(x))) for x in range(256)]
assert SBOX[0] == 0xD6 and SBOX[0xEF] == 0x84, "not the table of 6.2.1"
FAMILY_KEY = (0xA3B1BAC6, 0x56AA3350, 0x677D9197, 0xB27022DC)


def rotate(x, bits):
    return (x << bits | x >> (32 - bits)) & 0xFFFFFFFF


def substitute(x):
    return int.from_bytes(bytes(SBOX[byte] for byte in x.to_bytes(4, "big")), "big")


def words_of(block):
    return [int.from_bytes(block[i : i + 4], "big") for i in range(0, 16, 4)]


class Sm4:
    """SM4 with one key; a block is a bytes object of length 16."""

    def __init__(self, key):
        self.round_keys = []
        k = [word ^ own for word, own in zip(words_of(key), FAMILY_KEY)]
        for n in range(32):
            constant = int.from_bytes(bytes((4 * n + j) * 7 % 256 for j in range(4)), "big")
            s = substitute(k[1] ^ k[2] ^ k[3] ^ constant)
            k = k[1:] + [k[0] ^ s ^ rotate(s, 13) ^ rotate(s, 23)]
            self.round_keys.append(k[3])

    def encrypt_block(self, block):
        x = words_of(block)
        for round_key in self.round_keys:
            s = substitute(x[1] ^ x[2] ^ x[3] ^ round_key)
            x = x[1:] + [x[0] ^ s ^ rotate(s, 2) ^ rotate(s, 10) ^ rotate(s, 18) ^ rotate(s, 24)]
        return b"".join(word.to_bytes(4, "big") for word in reversed(x))
