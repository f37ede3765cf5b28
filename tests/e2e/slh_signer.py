# SPDX-License-Identifier: Apache-2.0
"""Keys and signatures of SLH-DSA sets that have one tree, from the text of FIPS 205 alone."""

import hashlib
import hmac

from slh_reference import (FORS_PRF, FORS_ROOTS, FORS_TREE, TREE, WOTS_HASH, WOTS_PK, WOTS_PRF,
                           address_of, climb, end_of_chain, place_of, wots_digits)

# The trees of the draft's sets are kept from this height on.
KEPT_HEIGHT = 9


def secret_of(p, seeds, kind, leaf, *words):
    return p.hash(seeds[2 * p.n:], address_of(0, 0, kind, leaf, *words), seeds[:p.n])


def levels_of(p, seed, leaves, address_at):
    """Returns the nodes of a tree, level by level. The ADRS of a node is address_at(height,
    index)."""
    levels = [leaves]
    while len(levels[-1]) > 1:
        below, height = levels[-1], len(levels)
        levels.append([p.hash(seed, address_at(height, at), below[2 * at] + below[2 * at + 1])
                       for at in range(len(below) // 2)])
    return levels


def path_of(levels, index):
    return b"".join(level[index >> height ^ 1] for height, level in enumerate(levels[:-1]))


def leaf_of(p, seeds, leaf):
    seed = seeds[2 * p.n:]
    ends = b"".join(end_of_chain(p, seed, (0, 0, leaf, chain), 0,
                                 secret_of(p, seeds, WOTS_PRF, leaf, chain, 0))
                    for chain in range(p.chains))
    return p.hash(seed, address_of(0, 0, WOTS_PK, leaf, 0, 0), ends)


def tree_of(p, seeds):
    return levels_of(p, seeds[2 * p.n:], [leaf_of(p, seeds, leaf) for leaf in range(1 << p.h)],
                     lambda height, at: address_of(0, 0, TREE, 0, height, at))


def randomizer(p, seeds, message):
    """PRF_msg with opt_rand = PK.seed."""
    prf, seed = seeds[p.n:2 * p.n], seeds[2 * p.n:]
    if p.is_shake:
        return hashlib.shake_256(prf + seed + message).digest(p.n)
    return hmac.digest(prf, seed + message, "sha256" if p.n == 16 else "sha512")[:p.n]


def fors_tree(p, seeds, leaf, number, index):
    """Returns the secret that FORS reveals of a tree with the path to its root, and that root."""
    seed, first = seeds[2 * p.n:], number << p.a
    secrets = [secret_of(p, seeds, FORS_PRF, leaf, 0, first + at) for at in range(1 << p.a)]
    leaves = [p.hash(seed, address_of(0, 0, FORS_TREE, leaf, 0, first + at), secret)
              for at, secret in enumerate(secrets)]
    levels = levels_of(p, seed, leaves, lambda height, at: address_of(
        0, 0, FORS_TREE, leaf, height, (first >> height) + at))
    return secrets[index] + path_of(levels, index), levels[-1][0]


def wots_signature(p, seeds, leaf, message):
    shown = b""
    for chain, digit in enumerate(wots_digits(p, message)):
        value = secret_of(p, seeds, WOTS_PRF, leaf, chain, 0)
        for step in range(digit):
            value = p.hash(seeds[2 * p.n:], address_of(0, 0, WOTS_HASH, leaf, chain, step), value)
        shown += value
    return shown


def sign(p, seeds, tree, message):
    r, seed = randomizer(p, seeds, message), seeds[2 * p.n:]
    digest = p.message_digest(r, seed + tree[-1][0], message)
    shown, _, leaf = place_of(p, digest)
    fors = [fors_tree(p, seeds, leaf, number, index) for number, index in enumerate(shown)]
    key = p.hash(seed, address_of(0, 0, FORS_ROOTS, leaf, 0, 0), b"".join(root for _, root in fors))
    return (r + b"".join(signed for signed, _ in fors) + wots_signature(p, seeds, leaf, key) +
            path_of(tree, leaf))


def draft_signature(p, message_of):
    """Returns a key of a set of the draft, its kept nodes, a message, and a signature of it. The
    whole tree is not needed for that: one part of it is real, and all other nodes, and what FORS
    reveals, are random. A message must then lead into that part. message_of(number) returns
    messages to choose from."""
    n, parts = p.n, 1 << p.h - KEPT_HEIGHT
    seeds = hashlib.shake_256(b"seeds").digest(3 * n)
    seed, first = seeds[2 * n:], 3 << KEPT_HEIGHT
    part = levels_of(p, seed, [leaf_of(p, seeds, first + at) for at in range(1 << KEPT_HEIGHT)],
                     lambda height, at: address_of(0, 0, TREE, 0, height, (first >> height) + at))
    made = hashlib.shake_256(b"nodes").digest(n * parts)
    nodes = [made[n * at:n * (at + 1)] for at in range(parts)]
    nodes[first >> KEPT_HEIGHT] = part[-1][0]
    upper = levels_of(p, seed, nodes, lambda height, at: address_of(
        0, 0, TREE, 0, KEPT_HEIGHT + height, at))
    key = seeds + upper[-1][0]
    r = hashlib.shake_256(b"r").digest(n)
    number = 0
    while True:
        encoded, message = message_of(number)
        shown, _, leaf = place_of(p, p.message_digest(r, key[2 * n:], encoded))
        if leaf >> KEPT_HEIGHT == first >> KEPT_HEIGHT:
            break
        number += 1
    signature, roots = r, b""
    for tree, index in enumerate(shown):
        fors = hashlib.shake_256(b"fors%d" % tree).digest(n * (p.a + 1))
        signature += fors
        index += tree << p.a
        node = p.hash(seed, address_of(0, 0, FORS_TREE, leaf, 0, index), fors[:n])
        roots += climb(p, node, index, fors[n:], seed,
                       lambda height, at: address_of(0, 0, FORS_TREE, leaf, height, at))
    fors_key = p.hash(seed, address_of(0, 0, FORS_ROOTS, leaf, 0, 0), roots)
    signature += wots_signature(p, seeds, leaf, fors_key)
    signature += path_of(part, leaf - first) + path_of(upper, leaf >> KEPT_HEIGHT)
    return key, b"".join(nodes), message, signature
