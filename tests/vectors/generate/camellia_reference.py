# SPDX-License-Identifier: Apache-2.0
"""Camellia (RFC 3713), for the modes of aes_reference.py."""

from aes_reference import xor

SBOX1 = bytes.fromhex(
    "70822cecb327c0e5e4855735ea0cae4123ef6b934519a521ed0e4f4e1d6592bd"
    "86b8af8f7ceb1fce3e30dc5f5ec50b1aa6e139cad5475d3dd9015ad651566c4d"
    "8b0d9a66fbccb02d74122b20f0b18499df4ccbc2347e76056db7a931d11704d7"
    "14583a61de1b111c320f9c165318f222fe44cfb2c3b57a912408e8a860fc6950"
    "aad0a07da1896297545b1e95e0ff64d210c40048a3f775db8a03e6da093fdd94"
    "875c8302cd4a90337367f6f39d7fbfe2529bd826c837c63b81966f4b13be632e"
    "e979a78c9f6ebc8e29f5f9b62ffdb4597898066ae74671bad425ab4288a28dfa"
    "7207b955f8eeac0a36492a683c38f1a44028d37bbbc943c115e3adf477c7809e"
)


def turn(value, bits, size):
    return (value << bits | value >> (size - bits)) & ((1 << size) - 1)


# RFC 3713, 2.4.1.
SBOX2 = bytes(turn(s, 1, 8) for s in SBOX1)
SBOX3 = bytes(turn(s, 7, 8) for s in SBOX1)
SBOX4 = bytes(SBOX1[turn(x, 1, 8)] for x in range(256))
SBOXES = (SBOX1, SBOX2, SBOX3, SBOX4, SBOX2, SBOX3, SBOX4, SBOX1)
# The outputs of the eight S-boxes whose sum is each output byte.
SUMS = ((0, 2, 3, 5, 6, 7), (0, 1, 3, 4, 6, 7), (0, 1, 2, 4, 5, 7), (1, 2, 3, 4, 5, 6),
        (0, 1, 5, 6, 7), (1, 2, 4, 6, 7), (2, 3, 4, 5, 7), (0, 3, 4, 5, 6))  # fmt: skip
SIGMA = (0xA09E667F3BCC908B, 0xB67AE8584CAA73B2, 0xC6EF372FE94F82BE, 0x54FF53A5F1D36F1C,
         0x10E527FADE682D1D, 0xB05688C2B3E6C1FD)  # fmt: skip
LOW = (1 << 64) - 1
# RFC 3713, 2.2: for each pair of subkeys, in order of use, the value from which it is taken and
# that value's rotation in bits. With a key of 128 bits one pair is taken from two values.
SHORT = (("L", 0), ("A", 0), ("L", 15), ("A", 15), ("A", 30), ("L", 45), ("A", 45, "L", 60), ("A", 60),
         ("L", 77), ("L", 94), ("A", 94), ("L", 111), ("A", 111))  # fmt: skip
LONG = (("L", 0), ("B", 0), ("R", 15), ("A", 15), ("R", 30), ("B", 30), ("L", 45), ("A", 45), ("L", 60),
        ("R", 60), ("B", 60), ("L", 77), ("A", 77), ("R", 94), ("A", 94), ("L", 111), ("B", 111))  # fmt: skip


def f(x, key):
    z = [box[byte] for box, byte in zip(SBOXES, (x ^ key).to_bytes(8, "big"))]
    out = bytes(8)
    for place in range(8):
        out = xor(out, bytes(z[place] if place in chosen else 0 for chosen in SUMS))
    return int.from_bytes(bytes(out), "big")


def fl(x, key):
    left, right = x >> 32, x & 0xFFFFFFFF
    right ^= turn(left & key >> 32, 1, 32)
    left ^= right | key & 0xFFFFFFFF
    return left << 32 | right


def inverse_fl(y, key):
    left, right = y >> 32, y & 0xFFFFFFFF
    left ^= right | key & 0xFFFFFFFF
    right ^= turn(left & key >> 32, 1, 32)
    return left << 32 | right


def two_rounds(value, first, second):
    left, right = value >> 64, value & LOW
    right ^= f(left, first)
    left ^= f(right, second)
    return left << 64 | right


class Camellia:
    """Camellia with one key; a block is a bytes object of length 16."""

    def __init__(self, key):
        whole, right = int.from_bytes(key[:16], "big"), key[16:]
        if len(right) == 8:
            right += bytes(byte ^ 0xFF for byte in right)
        k = {"L": whole, "R": int.from_bytes(right, "big")}
        k["A"] = two_rounds(two_rounds(k["L"] ^ k["R"], *SIGMA[:2]) ^ k["L"], *SIGMA[2:4])
        k["B"] = two_rounds(k["A"] ^ k["R"], *SIGMA[4:])
        self.pairs = []
        for name, bits, *other in SHORT if len(key) == 16 else LONG:
            second_name, second_bits = other or (name, bits)
            self.pairs.append((turn(k[name], bits, 128) >> 64, turn(k[second_name], second_bits, 128) & LOW))

    def encrypt_block(self, block):
        value = int.from_bytes(block, "big") ^ (self.pairs[0][0] << 64 | self.pairs[0][1])
        for place, (first, second) in enumerate(self.pairs[1:-1], start=1):
            if place % 4 == 0:
                value = fl(value >> 64, first) << 64 | inverse_fl(value & LOW, second)
            else:
                value = two_rounds(value, first, second)
        value = (value & LOW) << 64 | value >> 64
        return (value ^ (self.pairs[-1][0] << 64 | self.pairs[-1][1])).to_bytes(16, "big")
