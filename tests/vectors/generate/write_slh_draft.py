#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ../slh_dsa_draft.txt, in the form that its first lines describe. The answers come from
tests/e2e: slh_reference.py verifies, and slh_signer.py makes keys and signatures. It takes half a
minute."""

import hashlib
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER.parent / "e2e"))

# pylint: disable=wrong-import-position
from slh_reference import Parameters, is_right, root_of  # noqa: E402
from slh_signer import sign, tree_of  # noqa: E402

# n, h, a, k and lg_w of the draft's sets, each of which has one tree.
DRAFT = {"128-24": (16, 22, 24, 6, 2), "192-24": (24, 21, 25, 9, 3), "256-24": (32, 21, 25, 12, 2)}
# Small trees that can be computed here: h and a.
SMALL = ((5, 6), (11, 12))
FAMILIES = ("SHA2", "SHAKE")
MESSAGE = b"Lanecrypt signs this."
FORM = """\
# SPDX-License-Identifier: Apache-2.0
# SLH-DSA with the w of the draft SP 800-230. generate/write_slh_draft.py writes this file.
# small FAMILY N H A K LG_W ROOT SIGNATURE: one tree, of a height that can be grown. The seeds are
#   the bytes from 0 on. PK.root, and the SHA-256 of the deterministic signature, by the internal
#   interface, of "Lanecrypt signs this.".
# draft SET ROOT: a set of the draft. The public key, and after it the signature, are the output of
#   SHAKE256 of the set's name. ROOT is where this signature of the same message leads to, which is
#   not PK.root.
"""


def small_line(family, n, h, a, k, lg_w):
    p = Parameters(n, h, 1, a, k, lg_w, family)
    seeds = bytes(range(3 * n))
    tree = tree_of(p, seeds)
    signature = sign(p, seeds, tree, MESSAGE)
    assert is_right(p, seeds[2 * n:] + tree[-1][0], MESSAGE, signature)
    return (f"small {family} {n} {h} {a} {k} {lg_w} {tree[-1][0].hex()} "
            f"{hashlib.sha256(signature).hexdigest()}")


def draft_line(family, size):
    n, h, a, k, lg_w = DRAFT[size]
    p = Parameters(n, h, 1, a, k, lg_w, family)
    name = f"SLH-DSA-{family}-{size}"
    made = hashlib.shake_256(name.encode()).digest(2 * n + p.signature_bytes)
    return f"draft {name} {root_of(p, made[:2 * n], MESSAGE, made[2 * n:]).hex()}"


def main():
    lines = [small_line(family, n, h, a, k, lg_w) for family in FAMILIES
             for n, _, _, k, lg_w in DRAFT.values() for h, a in SMALL]
    lines += [draft_line(family, size) for family in FAMILIES for size in DRAFT]
    (FOLDER / "slh_dsa_draft.txt").write_text(FORM + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
