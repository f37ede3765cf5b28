# SPDX-License-Identifier: Apache-2.0
"""Verification of SLH-DSA with SHAKE, from the text of FIPS 205 alone, for what no OpenSSL before
3.5 can verify."""

import hashlib
import struct

WOTS_HASH, WOTS_PK, TREE, FORS_TREE, FORS_ROOTS = range(5)
LG_W = 4


class Parameters:
    """A row of FIPS 205, table 2."""

    def __init__(self, n, h, d, a, k):
        self.n, self.h, self.d, self.a, self.k = n, h, d, a, k
        self.tree_height = h // d
        self.chains = 2 * n + 3
        self.signature_bytes = n * (1 + k * (a + 1) + h + d * self.chains)


SHAKE_128F = Parameters(16, 66, 22, 6, 33)


def shake(length, *parts):
    return hashlib.shake_256(b"".join(parts)).digest(length)


def address(layer, tree, kind, *words):
    """The 32 bytes of ADRS (section 4.2)."""
    return struct.pack(">I4xQ4I", layer, tree, kind, *words)


def digits(data, bits, count):
    """base_2b, algorithm 4."""
    number, length = int.from_bytes(data, "big"), 8 * len(data)
    return [number >> (length - bits * (n + 1)) & (1 << bits) - 1 for n in range(count)]


def climb(node, index, path, n, seed, address_of):
    """The root above a leaf, by its authentication path. address_of(height, index)."""
    for height in range(len(path) // n):
        beside = path[n * height:n * (height + 1)]
        pair = beside + node if index >> height & 1 else node + beside
        node = shake(n, seed, address_of(height + 1, index >> height + 1), pair)
    return node


def wots_key(p, seed, layer, tree, leaf, message, signature):
    """Algorithm 8."""
    values = digits(message, LG_W, 2 * p.n)
    checksum = sum(15 - value for value in values) << 4
    values += digits(checksum.to_bytes(2, "big"), LG_W, 3)
    ends = b""
    for chain, value in enumerate(values):
        end = signature[p.n * chain:p.n * (chain + 1)]
        for step in range(value, 15):
            end = shake(p.n, seed, address(layer, tree, WOTS_HASH, leaf, chain, step), end)
        ends += end
    return shake(p.n, seed, address(layer, tree, WOTS_PK, leaf, 0, 0), ends)


def is_right(p, public_key, message, signature):
    """Algorithm 20: of the message as the internal interface gets it."""
    n = p.n
    seed, root = public_key[:n], public_key[n:]
    if len(signature) != p.signature_bytes:
        return False
    fors_bytes, tree_bytes = (p.k * p.a + 7) // 8, (p.h - p.tree_height + 7) // 8
    leaf_bytes = (p.tree_height + 7) // 8
    digest = shake(fors_bytes + tree_bytes + leaf_bytes, signature[:n], seed, root, message)
    shown = digits(digest[:fors_bytes], p.a, p.k)
    tree = int.from_bytes(digest[fors_bytes:fors_bytes + tree_bytes], "big")
    tree %= 1 << p.h - p.tree_height
    leaf = int.from_bytes(digest[-leaf_bytes:], "big") % (1 << p.tree_height)
    rest = signature[n:]
    roots = b""
    for number, index in enumerate(shown):
        index += number << p.a
        node = shake(n, seed, address(0, tree, FORS_TREE, leaf, 0, index), rest[:n])
        roots += climb(node, index, rest[n:n * (p.a + 1)], n, seed,
                       lambda height, at: address(0, tree, FORS_TREE, leaf, height, at))
        rest = rest[n * (p.a + 1):]
    node = shake(n, seed, address(0, tree, FORS_ROOTS, leaf, 0, 0), roots)
    for layer in range(p.d):
        wots, path = rest[:n * p.chains], rest[n * p.chains:n * (p.chains + p.tree_height)]
        node = wots_key(p, seed, layer, tree, leaf, node, wots)
        node = climb(node, leaf, path, n, seed,
                     lambda height, at: address(layer, tree, TREE, 0, height, at))
        rest = rest[n * (p.chains + p.tree_height):]
        tree, leaf = tree >> p.tree_height, tree % (1 << p.tree_height)
    return node == root
