# SPDX-License-Identifier: Apache-2.0
"""Runs in dev/clients: encrypts with Python's cryptography package. Usage: encrypt.py FOLDER"""

import concurrent.futures
import pathlib
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

folder = pathlib.Path(sys.argv[1])
data = (folder / "data.bin").read_bytes()
key = bytes.fromhex((folder / "key.hex").read_text())
iv = bytes.fromhex((folder / "iv.hex").read_text())
private = serialization.load_pem_private_key((folder / "key.pem").read_bytes(), None)


def transform(mode, backwards, text):
    cipher = Cipher(algorithms.AES(key), mode)
    context = cipher.decryptor() if backwards else cipher.encryptor()
    return context.update(text) + context.finalize(), context


def encrypt(name):
    """Encrypts the data, writes the result, and decrypts it again."""
    mode = {"ctr": modes.CTR(iv), "cbc": modes.CBC(iv), "gcm": modes.GCM(iv[:12])}[name]
    text = data + bytes([16 - len(data) % 16]) * (16 - len(data) % 16) if name == "cbc" else data
    sealed, context = transform(mode, False, text)
    tag = context.tag if name == "gcm" else b""
    (folder / f"{name}.out").write_bytes(sealed + tag)
    back = modes.GCM(iv[:12], tag) if name == "gcm" else mode
    assert transform(back, True, sealed)[0] == text, f"{name} does not decrypt"


def sign(number):
    return private.sign(data, padding.PKCS1v15(), hashes.SHA256())


# Several threads, since programs with several threads once hung at their end.
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    list(pool.map(encrypt, ("ctr", "cbc", "gcm")))
    signatures = set(pool.map(sign, range(8)))
assert len(signatures) == 1, "signatures differ"
(folder / "signature.out").write_bytes(signatures.pop())
(folder / "opened.out").write_bytes(private.decrypt(
    (folder / "sealed.bin").read_bytes(),
    padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)))
