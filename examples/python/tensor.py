# SPDX-License-Identifier: Apache-2.0
"""Encrypts a tensor on the GPU, writes the ciphertext to a file, and reads it back.

    python3 tensor.py [FILE]
"""

import os
import sys
import tempfile

import torch

import lanecrypt

device = "cuda" if torch.cuda.is_available() else "cpu"
path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(tempfile.mkdtemp(), "weights.sealed")

# A key has 16, 24 or 32 bytes. KeyFile("/run/secrets/weights") reads one from a mounted secret.
aead = lanecrypt.AESGCM(lanecrypt.AESGCM.generate_key(256))
weights = torch.randn(1024, 1024, device=device, dtype=torch.float16)

# The name is authenticated with the data, so that one file cannot be passed off as another. A nonce
# must never be used twice under one key. Random nonces of 12 bytes are safe for 2^32 messages per
# key (SP 800-38D, 8.3).
nonce = os.urandom(12)
sealed = aead.encrypt(nonce, weights, b"model-7/layer-3")
assert sealed.device == weights.device and sealed.dtype == torch.uint8

with open(path, "wb") as file:
    file.write(nonce)
    file.write(memoryview(sealed.cpu().numpy()))

# Copies the ciphertext to the GPU and decrypts it there into a tensor of the right type.
with open(path, "rb") as file:
    nonce, data = file.read(12), bytearray(file.read())
arrived = torch.frombuffer(data, dtype=torch.uint8).to(device)
again = torch.empty_like(weights)
aead.decrypt_into(nonce, arrived, b"model-7/layer-3", again)
assert torch.equal(weights, again)

# Changed ciphertext is rejected, and the output is zeroed.
arrived[1000] ^= 1
try:
    aead.decrypt_into(nonce, arrived, b"model-7/layer-3", again)
except lanecrypt.InvalidTag:
    assert not again.any()
else:
    raise SystemExit("a changed file was taken")

os.unlink(path)
print(f"{len(data):,} bytes there and back, on {device}")
