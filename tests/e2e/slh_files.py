# SPDX-License-Identifier: Apache-2.0
"""Files of `lanecrypt slh-dsa` in the formats of RFC 9909 and FIPS 205, for its tests."""

import base64
import hashlib

from cli_fixtures import fails, ok

# Each set with its n, in the order of their object identifiers.
SETS = {f"{family}-{size}{kind}": int(size) // 8
        for family in ("SHA2", "SHAKE") for size in ("128", "192", "256") for kind in "sf"}
# The last number of each object identifier, hashlib's name, and the digest's length.
PRE_HASHES = {"sha224": (4, "sha224", 0), "sha256": (1, "sha256", 0), "sha384": (2, "sha384", 0),
              "sha512": (3, "sha512", 0), "sha3-224": (7, "sha3_224", 0),
              "sha3-256": (8, "sha3_256", 0), "sha3-384": (9, "sha3_384", 0),
              "sha3-512": (10, "sha3_512", 0), "shake128": (11, "shake_128", 32),
              "shake256": (12, "shake_256", 64), "sha512-224": (5, "sha512_224", 0),
              "sha512-256": (6, "sha512_256", 0)}


def slh(*words, devices="none", **options):
    return ok("slh-dsa", *words, devices=devices, **options)


def slh_fails(code, text, *words, devices="none", **options):
    return fails(code, text, "slh-dsa", *words, devices=devices, **options)


def pem(label, der):
    text = base64.b64encode(der).decode()
    lines = "".join(text[n:n + 64] + "\n" for n in range(0, len(text), 64))
    return f"-----BEGIN {label}-----\n{lines}-----END {label}-----\n".encode()


def element(tag, contents):
    assert len(contents) < 256
    return bytes([tag] + [0x81] * (len(contents) > 127) + [len(contents)]) + contents


def algorithm(of):
    return element(0x30, bytes.fromhex("06096086480165030403") +
                   bytes([20 + list(SETS).index(of)]))


def private_der(of, key, version=0, more=b""):
    return element(0x30, element(2, bytes([version])) + algorithm(of) + element(4, key) + more)


def public_der(of, key):
    return element(0x30, algorithm(of) + element(3, b"\0" + key))


def key_of(path, of):
    """Returns the bytes of the private key in a file, which must conform to RFC 9909 and PEM."""
    text = path.read_bytes()
    key = base64.b64decode(b"".join(text.splitlines()[1:-1]))[-4 * SETS[of]:]
    assert text == pem("PRIVATE KEY", private_der(of, key))
    return key


def encoded(message, context, pre_hash):
    """Returns M' of FIPS 205, sections 10.2.1 and 10.2.2."""
    if pre_hash is None:
        return bytes([0, len(context)]) + context + message
    number, name, length = PRE_HASHES[pre_hash]
    digest = hashlib.new(name, message).digest(*([length] if length else []))
    identifier = bytes.fromhex("06096086480165030402") + bytes([number])
    return bytes([1, len(context)]) + context + identifier + digest
