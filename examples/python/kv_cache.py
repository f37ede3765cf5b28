# SPDX-License-Identifier: Apache-2.0
"""A key-value cache whose old blocks are encrypted on the GPU and moved to host memory.

The cache of a language model's conversation reveals the conversation. Host memory, a disk or
another machine should see only ciphertext.

    python3 kv_cache.py
"""

import hashlib
import os
import threading

import torch

import lanecrypt

device = "cuda" if torch.cuda.is_available() else "cpu"

LAYERS, HEADS, DIMENSION, TOKENS = 4, 4, 64, 16  # per block
BLOCKS = 64


class HostCache:
    """Ciphertext blocks in host memory, by the hash of their tokens.

    The key is made here and never leaves this object, so the number of a block can be its nonce.
    Random nonces are not enough: they are safe for 2^32 messages under one key (SP 800-38D, 8.3),
    and a GPU encrypts that many blocks of 64 KiB in ten minutes.
    """

    def __init__(self):
        self.aead = lanecrypt.AESGCM(lanecrypt.AESGCM.generate_key(128))
        self.kept = {}
        self.count = 0
        self.lock = threading.Lock()
        self.process = os.getpid()

    def new_nonces(self, count):
        """Returns `count` nonces that have never been used with this key."""
        if os.getpid() != self.process:
            raise RuntimeError("a child of fork has the key and the count of its parent, and would use "
                               "its nonces again: make a new cache")
        with self.lock:
            first, self.count = self.count, self.count + count
        return b"".join(number.to_bytes(12, "big") for number in range(first, first + count))

    def put(self, hashes, blocks):
        """Encrypts all blocks in one call, each as a message that is bound to its hash."""
        nonces = self.new_nonces(len(hashes))
        sealed, tags = self.aead.encrypt_many(nonces, blocks, list(hashes))
        # Only ciphertext is copied from the GPU.
        sealed, tags = sealed.cpu(), tags.cpu()
        for n, name in enumerate(hashes):
            self.kept[name] = (nonces[12 * n:12 * n + 12], sealed[n], tags[n])

    def get(self, hashes, blocks):
        """Decrypts into `blocks`. Returns the indices of the blocks that are not authentic: their
        memory is zeroed, and the caller computes them again.
        """
        found = [self.kept[name] for name in hashes]
        nonces = b"".join(nonce for nonce, _, _ in found)
        sealed = torch.stack([text for _, text, _ in found]).to(blocks.device)
        tags = torch.stack([tag for _, _, tag in found]).to(blocks.device)
        try:
            self.aead.decrypt_many(nonces, sealed, tags, list(hashes), out=blocks)
        except lanecrypt.InvalidTag as error:
            return error.failed
        return ()


# The layout of the attention kernels: the data of a block is contiguous.
cache = torch.randn(BLOCKS, 2, LAYERS, HEADS, TOKENS, DIMENSION, device=device).to(torch.bfloat16)
names = [hashlib.sha256(b"tokens of block %d" % n).digest() for n in range(BLOCKS)]
host = HostCache()

host.put(names, cache)
room = torch.empty_like(cache)
assert host.get(names, room) == () and torch.equal(room, cache)

# Decrypts some blocks in another order.
some = [40, 3, 17]
few = torch.empty_like(cache[:3])
assert host.get([names[n] for n in some], few) == ()
assert torch.equal(few, cache[some])

# Another conversation's block in place of this one, and a flipped bit.
host.kept[names[3]] = host.kept[names[4]]
host.kept[names[17]][1].view(torch.uint8).view(-1)[99] ^= 1
assert host.get([names[n] for n in some], few) == (1, 2)
assert torch.equal(few[0], cache[40]) and not few[1:].any()

print(f"{BLOCKS} blocks there and back, on {device}")
