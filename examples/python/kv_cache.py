# SPDX-License-Identifier: Apache-2.0
"""A cache of keys and values whose old blocks go to host memory, encrypted on the card.

What an engine for language models keeps of a conversation is the conversation. Host memory, a disk or
another machine should see ciphertext alone.

    python3 kv_cache.py
"""

import hashlib
import os
import threading

import torch

import lanecrypt

device = "cuda" if torch.cuda.is_available() else "cpu"

LAYERS, HEADS, DIMENSION, TOKENS = 4, 4, 64, 16  # of a block
BLOCKS = 64


class HostCache:
    """Blocks by the hash of their tokens, as ciphertext in host memory.

    The key is made here and never leaves this object, so the number of a block is its nonce. Random
    nonces would not do: they are good for 2^32 messages under one key (SP 800-38D, 8.3), and a card
    encrypts that many blocks of 64 KiB in ten minutes."""

    def __init__(self):
        self.aead = lanecrypt.AESGCM(lanecrypt.AESGCM.generate_key(128))
        self.kept = {}
        self.count = 0
        self.lock = threading.Lock()
        self.process = os.getpid()

    def new_nonces(self, count):
        """Nonces that this key never had."""
        if os.getpid() != self.process:
            raise RuntimeError("a child of fork has the key and the count of its parent, and would use "
                               "its nonces again: make a new cache")
        with self.lock:
            first, self.count = self.count, self.count + count
        return b"".join(number.to_bytes(12, "big") for number in range(first, first + count))

    def put(self, hashes, blocks):
        """Encrypts all blocks in one request, each as a message that is bound to its hash."""
        nonces = self.new_nonces(len(hashes))
        sealed, tags = self.aead.encrypt_many(nonces, blocks, list(hashes))
        # From here on it is ciphertext: this is the only copy from the card.
        sealed, tags = sealed.cpu(), tags.cpu()
        for n, name in enumerate(hashes):
            self.kept[name] = (nonces[12 * n:12 * n + 12], sealed[n], tags[n])

    def get(self, hashes, blocks):
        """Decrypts into `blocks`. Returns the numbers of those that are not what was put: their
        memory is wiped, and the engine computes them again."""
        found = [self.kept[name] for name in hashes]
        nonces = b"".join(nonce for nonce, _, _ in found)
        sealed = torch.stack([text for _, text, _ in found]).to(blocks.device)
        tags = torch.stack([tag for _, _, tag in found]).to(blocks.device)
        try:
            self.aead.decrypt_many(nonces, sealed, tags, list(hashes), out=blocks)
        except lanecrypt.InvalidTag as error:
            return error.failed
        return ()


# The kernels' own layout: what a block holds lies together.
cache = torch.randn(BLOCKS, 2, LAYERS, HEADS, TOKENS, DIMENSION, device=device).to(torch.bfloat16)
names = [hashlib.sha256(b"tokens of block %d" % n).digest() for n in range(BLOCKS)]
host = HostCache()

host.put(names, cache)
room = torch.empty_like(cache)
assert host.get(names, room) == () and torch.equal(room, cache)

# Some of them, in another order.
some = [40, 3, 17]
few = torch.empty_like(cache[:3])
assert host.get([names[n] for n in some], few) == ()
assert torch.equal(few, cache[some])

# Another conversation's block in this one's place, and a bit that fell over.
host.kept[names[3]] = host.kept[names[4]]
host.kept[names[17]][1].view(torch.uint8).view(-1)[99] ^= 1
assert host.get([names[n] for n in some], few) == (1, 2)
assert torch.equal(few[0], cache[40]) and not few[1:].any()

print(f"{BLOCKS} blocks there and back, on {device}")
