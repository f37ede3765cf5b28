# SPDX-License-Identifier: Apache-2.0
"""Verification of SLH-DSA from the text of FIPS 205 alone, for what OpenSSL cannot verify:
before 3.5 all of it, and always the sets of the draft SP 800-230, whose w is not 16."""

import hashlib
import struct

WOTS_HASH, WOTS_PK, TREE, FORS_TREE, FORS_ROOTS, WOTS_PRF, FORS_PRF = range(7)


class Parameters:
    """A row of FIPS 205, table 2, or of the draft, and its hashes by sections 11.1 and 11.2."""

    def __init__(self, n, h, d, a, k, lg_w=4, family="SHAKE"):
        self.n, self.h, self.d, self.a, self.k, self.lg_w = n, h, d, a, k, lg_w
        self.is_shake = family == "SHAKE"
        self.tree_height = h // d
        self.digits = 8 * n // lg_w
        greatest = self.digits * ((1 << lg_w) - 1)
        self.sum_digits = (greatest.bit_length() - 1) // lg_w + 1
        self.chains = self.digits + self.sum_digits
        self.signature_bytes = n * (1 + k * (a + 1) + h + d * self.chains)
        self.digest_bytes = ((k * a + 7) // 8 + (h - self.tree_height + 7) // 8 +
                             (self.tree_height + 7) // 8)

    def _wide(self):
        return hashlib.sha256 if self.n == 16 else hashlib.sha512

    def hash(self, seed, address, data):
        """Computes F or PRF if `data` has n bytes, and H or T_l if it has more."""
        if self.is_shake:
            return hashlib.shake_256(seed + address + data).digest(self.n)
        of = hashlib.sha256 if len(data) == self.n else self._wide()
        padding = bytes(of().block_size - self.n)
        short = address[3:4] + address[8:16] + address[19:]
        return of(seed + padding + short + data).digest()[:self.n]

    def message_digest(self, r, public_key, message):
        """H_msg of FIPS 205, sections 11.1 and 11.2."""
        if self.is_shake:
            return hashlib.shake_256(r + public_key + message).digest(self.digest_bytes)
        of = self._wide()
        start = r + public_key[:self.n] + of(r + public_key + message).digest()
        blocks = (of(start + struct.pack(">I", number)).digest() for number in range(3))
        return b"".join(blocks)[:self.digest_bytes]


SHAKE_128F = Parameters(16, 66, 22, 6, 33)


def address_of(layer, tree, kind, *words):
    """Returns the 32 bytes of ADRS (FIPS 205, section 4.2)."""
    return struct.pack(">I4xQ4I", layer, tree, kind, *words)


def digits_of(data, bits, count):
    """FIPS 205, Algorithm 4, base_2b."""
    number, length = int.from_bytes(data, "big"), 8 * len(data)
    return [number >> (length - bits * (n + 1)) & (1 << bits) - 1 for n in range(count)]


def wots_digits(p, message):
    """Returns the digits of the message and of its checksum (FIPS 205, Algorithm 7, wots_sign)."""
    values = digits_of(message, p.lg_w, p.digits)
    checksum = sum((1 << p.lg_w) - 1 - value for value in values)
    length = (p.sum_digits * p.lg_w + 7) // 8
    checksum <<= 8 * length - p.sum_digits * p.lg_w
    return values + digits_of(checksum.to_bytes(length, "big"), p.lg_w, p.sum_digits)


def place_of(p, digest):
    """Returns the indices that FORS reveals, the tree and the leaf (FIPS 205, Algorithm 19,
    slh_sign_internal)."""
    fors_bytes, tree_bytes = (p.k * p.a + 7) // 8, (p.h - p.tree_height + 7) // 8
    leaf_bytes = (p.tree_height + 7) // 8
    shown = digits_of(digest[:fors_bytes], p.a, p.k)
    tree = int.from_bytes(digest[fors_bytes:fors_bytes + tree_bytes], "big")
    leaf = int.from_bytes(digest[-leaf_bytes:], "big")
    return shown, tree % (1 << p.h - p.tree_height), leaf % (1 << p.tree_height)


def climb(p, node, index, path, seed, address_at):
    """Returns the root above a leaf, from its authentication path. The ADRS of a node is
    address_at(height, index)."""
    for height in range(len(path) // p.n):
        beside = path[p.n * height:p.n * (height + 1)]
        pair = beside + node if index >> height & 1 else node + beside
        node = p.hash(seed, address_at(height + 1, index >> height + 1), pair)
    return node


def end_of_chain(p, seed, place, first, value):
    """Returns the end of a chain from its value at step `first`. `place` is layer, tree, leaf
    and chain."""
    layer, tree, leaf, chain = place
    for step in range(first, (1 << p.lg_w) - 1):
        value = p.hash(seed, address_of(layer, tree, WOTS_HASH, leaf, chain, step), value)
    return value


def wots_key(p, seed, layer, tree, leaf, message, signature):
    """FIPS 205, Algorithm 8, wots_pkFromSig."""
    ends = b""
    for chain, value in enumerate(wots_digits(p, message)):
        shown = signature[p.n * chain:p.n * (chain + 1)]
        ends += end_of_chain(p, seed, (layer, tree, leaf, chain), value, shown)
    return p.hash(seed, address_of(layer, tree, WOTS_PK, leaf, 0, 0), ends)


def root_of(p, public_key, message, signature):
    """Returns the root that a signature leads to (FIPS 205, Algorithm 20, slh_verify_internal).
    The message is that of the internal interface."""
    n, seed = p.n, public_key[:p.n]
    shown, tree, leaf = place_of(p, p.message_digest(signature[:n], public_key, message))
    rest = signature[n:]
    roots = b""
    for number, index in enumerate(shown):
        index += number << p.a
        node = p.hash(seed, address_of(0, tree, FORS_TREE, leaf, 0, index), rest[:n])
        roots += climb(p, node, index, rest[n:n * (p.a + 1)], seed,
                       lambda height, at: address_of(0, tree, FORS_TREE, leaf, height, at))
        rest = rest[n * (p.a + 1):]
    node = p.hash(seed, address_of(0, tree, FORS_ROOTS, leaf, 0, 0), roots)
    for layer in range(p.d):
        wots, path = rest[:n * p.chains], rest[n * p.chains:n * (p.chains + p.tree_height)]
        node = wots_key(p, seed, layer, tree, leaf, node, wots)
        node = climb(p, node, leaf, path, seed,
                     lambda height, at: address_of(layer, tree, TREE, 0, height, at))
        rest = rest[n * (p.chains + p.tree_height):]
        tree, leaf = tree >> p.tree_height, tree % (1 << p.tree_height)
    return node


def is_right(p, public_key, message, signature):
    return (len(signature) == p.signature_bytes and
            root_of(p, public_key, message, signature) == public_key[p.n:])
