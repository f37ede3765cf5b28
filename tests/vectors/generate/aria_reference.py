# SPDX-License-Identifier: Apache-2.0
"""ARIA (RFC 5794), for the modes of aes_reference.py."""

from aes_reference import INVERSE_SBOX, SBOX, xor

SB2 = bytes.fromhex(
    "e24e54fc94c24acc620d6a463c4d8bd15efa64cbb497be2bbc772e03d31959c1"
    "1d06416b55f09969ea9c18ae63dfe7bb007366fb964c85e43a0945aa0fee10eb"
    "2d7ff429accfad918d78c895f92fcecd087a88385c832a2847dbb8c793a41253"
    "ff870e3136215848018e377432cae9b1b7ab0cd7c4564226079860d9b6b91140"
    "ec208cbda0c984044923f14f501f13dcd8c09e57e3c37b653b028f3ee82592e5"
    "15ddfd17a9bfd49a7ec53967fe769d43a7e1d0f568f21b347005a38ad57986a8"
    "30c6514b1ea627f635d26e2416825fdae675a2ef2cb21c9f5d6f800a72449b6c"
    "900b5b337d5a52f361a1f7b0d63f7c6ded14e0a53d22b3f889de711aafbab581"
)
SB4 = bytes(SB2.index(y) for y in range(256))
ODD, EVEN = (SBOX, SB2, INVERSE_SBOX, SB4), (INVERSE_SBOX, SB4, SBOX, SB2)
# RFC 5794, 2.4.3: the input bytes whose sum is each output byte.
SUMS = ((3, 4, 6, 8, 9, 13, 14), (2, 5, 7, 8, 9, 12, 15), (1, 4, 6, 10, 11, 12, 15), (0, 5, 7, 10, 11, 13, 14),
        (0, 2, 5, 8, 11, 14, 15), (1, 3, 4, 9, 10, 14, 15), (0, 2, 7, 9, 10, 12, 13), (1, 3, 6, 8, 11, 12, 13),
        (0, 1, 4, 7, 10, 13, 15), (0, 1, 5, 6, 11, 12, 14), (2, 3, 5, 6, 8, 13, 15), (2, 3, 4, 7, 9, 12, 14),
        (1, 2, 6, 7, 9, 11, 12), (0, 3, 6, 7, 8, 10, 13), (0, 3, 4, 5, 9, 11, 14), (1, 2, 4, 5, 8, 10, 15))  # fmt: skip
CONSTANTS = [bytes.fromhex(text) for text in ("517cc1b727220a94fe13abe8fa9a6ee0", "6db14acc9e21c820ff28b1d5ef5de2b0",
                                              "db92371d2126e9700324977504e8c90e")]  # fmt: skip
# The right rotations of the words in bits, for four round keys each.
TURNS = (19, 31, 128 - 61, 128 - 31, 128 - 19)


def diffuse(x):
    out = []
    for places in SUMS:
        total = 0
        for place in places:
            total ^= x[place]
        out.append(total)
    return out


def substitute(x, boxes):
    return [boxes[place % 4][byte] for place, byte in enumerate(x)]


def turn_right(block, bits):
    value = int.from_bytes(bytes(block), "big")
    return ((value >> bits | value << (128 - bits)) & ((1 << 128) - 1)).to_bytes(16, "big")


class Aria:
    """ARIA with one key; a block is a bytes object of length 16."""

    def __init__(self, key):
        first = (len(key) - 16) // 8
        w = [key[:16]]
        for number in range(3):
            constant = CONSTANTS[(first + number) % 3]
            made = diffuse(substitute(xor(w[-1], constant), EVEN if number == 1 else ODD))
            before = (key[16:] + bytes(16))[:16] if number == 0 else w[number - 1]
            w.append(bytes(xor(made, before)))
        self.round_keys = []
        for number in range(len(key) // 4 + 9):
            bits, own = TURNS[number // 4], number % 4
            self.round_keys.append(xor(w[own], turn_right(w[(own + 1) % 4], bits)))

    def encrypt_block(self, block):
        for number, key in enumerate(self.round_keys[:-2]):
            block = diffuse(substitute(xor(block, key), EVEN if number % 2 else ODD))
        return bytes(xor(substitute(xor(block, self.round_keys[-2]), EVEN), self.round_keys[-1]))
