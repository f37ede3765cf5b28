#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the test vectors of the folder above, in the form that its README.md describes, from the
inputs of the standards and the reference ciphers and modes beside this script. The Monte Carlo
chains take a minute.

    write_vectors.py            writes every file
    write_vectors.py --check    writes none; fails if a file would change
    write_vectors.py sp800_38a  writes, or checks, the files named
"""

import pathlib
import sys

from aead_reference import (ccm_seal, chacha20_crypt, chacha20_poly1305_seal, gcm_seal,
                            poly1305)
from aes_reference import (Aes, cbc_encrypt, cfb_encrypt, ctr_crypt, cts_encrypt, ecb_encrypt,
                           ofb_crypt, xor, xts_encrypt)
from aesavs_inputs import GFSBOX_PLAINTEXTS, KEYSBOX_KEYS, MONTE_CARLO_SEEDS
from aria_reference import Aria
from camellia_reference import Camellia
from sm4_reference import Sm4

FOLDER = pathlib.Path(__file__).resolve().parent.parent
SIZES = (128, 192, 256)
ZERO_BLOCK = bytes(16)


EXAMPLE_KEYS = {
    128: "2b7e151628aed2a6abf7158809cf4f3c",
    192: "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
    256: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
}
EXAMPLE_TEXT = (
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)


def encrypt(mode, key, iv, plaintext, cipher=Aes):
    if mode == "ecb":
        return ecb_encrypt(key, plaintext, cipher)
    if mode.startswith("cfb"):
        return cfb_encrypt(key, iv, plaintext, int(mode[3:]), cipher)
    if mode.startswith("cs"):
        return cts_encrypt(key, iv, plaintext, int(mode[2:]))
    if mode.startswith("xts"):
        return xts_encrypt(key, iv, plaintext, cipher, mode == "xts_gb")
    return {"cbc": cbc_encrypt, "ctr": ctr_crypt, "ofb": ofb_crypt}[mode](key, iv, plaintext, cipher)


class Writer:
    """The lines of one file. Writes a cipher, key or IV only if it changes."""

    def __init__(self, *titles):
        self.lines = ["# SPDX-License-Identifier: Apache-2.0"]
        self.lines += [f"# {title}" for title in titles]
        self.now = {}

    def say(self, word, value):
        if value and self.now.get(word) != value:
            self.lines.append(f"{word} {value}")
            self.now[word] = value

    def cipher(self, bits, mode):
        self.named(f"aes-{bits}-{mode}")

    def named(self, cipher):
        self.lines.append("")
        self.now = {}
        self.say("cipher", cipher)

    def seal(self, name, key, iv, aad, plaintext, sealed_and_tag):
        self.say("key", key.hex())
        self.say("iv", iv.hex())
        fields = [aad, plaintext, *sealed_and_tag]
        self.lines.append(f"seal {name} " + " ".join(field.hex() or "-" for field in fields))

    def case(self, name, mode, key, iv, plaintext, cipher=Aes):
        self.say("key", key.hex())
        self.say("iv", iv.hex())
        ciphertext = encrypt(mode, key, iv, plaintext, cipher)
        self.lines.append(f"case {name} {plaintext.hex()} {ciphertext.hex()}")

    def text(self):
        return "\n".join(self.lines) + "\n"


def fips197():
    out = Writer("FIPS 197: the example of appendix B, and those of appendix C.")
    out.cipher(128, "ecb")
    out.case("B", "ecb", bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"), b"",
             bytes.fromhex("3243f6a8885a308d313198a2e0370734"))  # fmt: skip
    plaintext = bytes.fromhex("00112233445566778899aabbccddeeff")
    for number, bits in enumerate(SIZES, start=1):
        if bits != 128:
            out.cipher(bits, "ecb")
        out.case(f"C.{number}", "ecb", bytes(range(bits // 8)), b"", plaintext)
    return out.text()


def sp800_38a():
    keys = EXAMPLE_KEYS
    plaintext = bytes.fromhex(EXAMPLE_TEXT)
    ivs = {
        "ecb": b"",
        "cbc": bytes(range(16)),
        "ctr": bytes(range(0xF0, 0x100)),
    }
    out = Writer(
        "SP 800-38A, appendix F: F.1 (ECB), F.2 (CBC) and F.5 (CTR), each once for",
        "both directions, named after the section that encrypts.",
    )
    for section, mode in ((1, "ecb"), (2, "cbc"), (5, "ctr")):
        for number, bits in enumerate(SIZES):
            out.cipher(bits, mode)
            out.case(f"F.{section}.{2 * number + 1}", mode, bytes.fromhex(keys[bits]), ivs[mode],
                     plaintext)  # fmt: skip
    return out.text()


def sp800_38a_feedback():
    out = Writer(
        "SP 800-38A, appendix F: F.3 (CFB1, CFB8, CFB128) and F.4 (OFB), each once for",
        "both directions, named after the section that encrypts.",
    )
    first = {"cfb1": ("F.3", 1, 2), "cfb8": ("F.3", 7, 18), "cfb128": ("F.3", 13, 64),
             "ofb": ("F.4", 1, 64)}  # fmt: skip
    for mode, (section, number, length) in first.items():
        for size, bits in enumerate(SIZES):
            out.cipher(bits, mode)
            out.case(f"{section}.{number + 2 * size}", mode, bytes.fromhex(EXAMPLE_KEYS[bits]),
                     bytes(range(16)), bytes.fromhex(EXAMPLE_TEXT)[:length])  # fmt: skip
    return out.text()


def cts():
    """The inputs of RFC 3962's vectors, whose mode is CS3, in all three modes."""
    out = Writer(
        "CBC with ciphertext stealing, the addendum to SP 800-38A: the key, IV and",
        "plaintexts of RFC 3962, appendix B, whose own ciphertexts are those of CS3.",
    )
    text = b"I would like the General Gau's Chicken, please, and wonton soup."
    for mode in ("cs1", "cs2", "cs3"):
        out.cipher(128, mode)
        for length in (17, 31, 32, 47, 48, 64):
            out.case(f"RFC3962.{length}", mode, b"chicken teriyaki", ZERO_BLOCK, text[:length])
    return out.text()


def ieee1619():
    out = Writer(
        "IEEE 1619, appendix B: vectors 2, 3 (XTS-AES-128), 10 (XTS-AES-256) and 15 to",
        "18 (parts of blocks). Not 1, whose two keys are the same.",
    )
    out.cipher(128, "xts")
    units = {2: (b"\x11" * 16 + b"\x22" * 16, 0x3333333333, b"\x44" * 32),
             3: (bytes(range(255, 239, -1)) + b"\x22" * 16, 0x3333333333, b"\x44" * 32)}
    for number in (15, 16, 17, 18):
        units[number] = (bytes(range(255, 239, -1)) + bytes(range(191, 175, -1)), 0x123456789A,
                         bytes(range(number + 2)))  # fmt: skip
    for number, (keys, unit, text) in units.items():
        out.case(f"{number}", "xts", keys, unit.to_bytes(16, "little"), text)
    out.cipher(256, "xts")
    keys = bytes.fromhex("2718281828459045235360287471352662497757247093699959574966967627"
                         "3141592653589793238462643383279502884197169399375105820974944592")
    out.case("10", "xts", keys, (0xFF).to_bytes(16, "little"), bytes(range(256)) * 2)
    return out.text()


def sm4():
    keys = ("0123456789abcdeffedcba9876543210", "fedcba98765432100123456789abcdef")
    out = Writer(
        "SM4: GB/T 32907-2016, appendix A.1, and draft-ribose-cfrg-sm4-10, appendix A.2, named",
        "after its section and the number of the example.",
    )
    halves = [bytes([byte]) for byte in b"\xaa\xbb\xcc\xdd\xee\xff\xaa\xbb"]
    for section, mode, each in ((1, "ecb", 4), (2, "cbc", 4), (3, "ofb", 4), (4, "cfb128", 4),
                                (5, "ctr", 8)):  # fmt: skip
        out.named(f"sm4-{mode}")
        if mode == "ecb":
            key = bytes.fromhex(keys[0])
            out.case("A.1", mode, key, b"", key, Sm4)
        for number, key in enumerate(keys, start=1):
            out.case(f"A.2.{section}-{number}", mode, bytes.fromhex(key),
                     b"" if mode == "ecb" else bytes(range(16)),
                     b"".join(half * each for half in halves), Sm4)  # fmt: skip
    return out.text()


def sm4_xts():
    out = Writer(
        "SM4 in XTS, by IEEE 1619 and by GB/T 17964-2021: the inputs of evpciph_sm4.txt of OpenSSL 3.5,",
        "whose own answers are these.",
    )
    for mode in ("xts", "xts_gb"):
        out.named(f"sm4-{mode}")
        out.case("1", mode, bytes.fromhex(EXAMPLE_KEYS[128]) + bytes(range(16)), bytes(range(0xF0, 0x100)),
                 bytes.fromhex(EXAMPLE_TEXT)[:56], Sm4)  # fmt: skip
        out.case("2", mode, bytes(range(0xFF, 0xEF, -1)) + bytes(range(0xBF, 0xAF, -1)),
                 (0x123456789A).to_bytes(16, "little"), bytes(range(17)), Sm4)  # fmt: skip
    return out.text()


def rfc3713():
    out = Writer("RFC 3713, appendix A: Camellia.")
    key = "0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff"
    for bits in SIZES:
        out.named(f"camellia-{bits}-ecb")
        out.case(f"A-{bits}", "ecb", bytes.fromhex(key[: bits // 4]), b"", bytes.fromhex(key[:32]),
                 Camellia)  # fmt: skip
    return out.text()


def rfc5794():
    out = Writer("RFC 5794, appendix A: ARIA.")
    for number, bits in enumerate(SIZES, start=1):
        out.named(f"aria-{bits}-ecb")
        out.case(f"A.{number}", "ecb", bytes(range(bits // 8)), b"",
                 bytes.fromhex("00112233445566778899aabbccddeeff"), Aria)  # fmt: skip
    return out.text()


def rfc8998():
    out = Writer("RFC 8998, appendix A: SM4 in GCM (A.1) and CCM (A.2).")
    key, iv = bytes.fromhex("0123456789abcdeffedcba9876543210"), bytes.fromhex("00001234567800000000abcd")
    aad = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    text = b"".join(bytes([byte]) * 8 for byte in b"\xaa\xbb\xcc\xdd\xee\xff\xee\xaa")
    out.named("sm4-gcm")
    out.seal("A.1", key, iv, aad, text, gcm_seal(key, iv, aad, text, Sm4))
    out.named("sm4-ccm")
    out.seal("A.2", key, iv, aad, text, ccm_seal(key, iv, aad, text, 16, Sm4))
    return out.text()


def gcm_authors():
    out = Writer(
        "GCM: the test cases of McGrew and Viega's specification, appendix B, numbered",
        "as there.",
    )
    key = bytes.fromhex("feffe9928665731c6d6a8f9467308308") * 2
    text = bytes.fromhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                         "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255")
    aad = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    iv = bytes.fromhex("cafebabefacedbaddecaf888")
    long_iv = bytes.fromhex("9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728"
                            "c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b")
    number = 0
    for bits in SIZES:
        zero, some = bytes(bits // 8), key[: bits // 8]
        out.cipher(bits, "gcm")
        for case in ((zero, bytes(12), b"", b""), (zero, bytes(12), b"", ZERO_BLOCK),
                     (some, iv, b"", text), (some, iv, aad, text[:60]),
                     (some, iv[:8], aad, text[:60]), (some, long_iv, aad, text[:60])):  # fmt: skip
            number += 1
            out.seal(f"{number}", *case, gcm_seal(*case))
    return out.text()


def sp800_38c():
    out = Writer("SP 800-38C, appendix C: examples 1 to 3. The 4th differs in the length of its aad.")
    out.cipher(128, "ccm")
    key = bytes(range(0x40, 0x50))
    examples = ((7, bytes(range(8)), 4, 4), (8, bytes(range(16)), 16, 6),
                (12, bytes(range(20)), 24, 8))  # fmt: skip
    for number, (nonce_bytes, aad, text_bytes, tag_bytes) in enumerate(examples, start=1):
        nonce, text = bytes(range(16, 16 + nonce_bytes)), bytes(range(32, 32 + text_bytes))
        out.seal(f"{number}", key, nonce, aad, text, ccm_seal(key, nonce, aad, text, tag_bytes))
    return out.text()


def rfc8439():
    out = Writer(
        "RFC 8439: the examples of sections 2.4.2 and 2.8.2, and of appendix A: A.2",
        "(ChaCha20) and A.5 (ChaCha20-Poly1305). An IV of ChaCha20 is counter and nonce.",
    )
    sunscreen = (b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip "
                 b"for the future, sunscreen would be it.")
    note = (b'Any submission to the IETF intended by the Contributor for publication as all or '
            b'part of an IETF Internet-Draft or RFC and any statement made within the context of '
            b'an IETF activity is considered an "IETF Contribution". Such statements include oral '
            b'statements in IETF sessions, as well as written and electronic communications made '
            b'at any time or place, which are addressed to')
    slithy = (b"'Twas brillig, and the slithy toves\nDid gyre and gimble in the wabe:\nAll mimsy "
              b"were the borogoves,\nAnd the mome raths outgrabe.")
    drafts = ("Internet-Drafts are draft documents valid for a maximum of six months and may be "
              "updated, replaced, or obsoleted by other documents at any time. It is "
              "inappropriate to use Internet-Drafts as reference material or to cite them other "
              "than as /\u201cwork in progress./\u201d").encode()
    key_a = bytes.fromhex("1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0")
    out.named("chacha20")
    for name, key, counter, nonce, text in (
        ("2.4.2", bytes(range(32)), 1, bytes(7) + b"\x4a" + bytes(4), sunscreen),
        ("A.2.1", bytes(32), 0, bytes(12), bytes(64)),
        ("A.2.2", bytes(31) + b"\x01", 1, bytes(11) + b"\x02", note),
        ("A.2.3", key_a, 42, bytes(11) + b"\x02", slithy),
    ):
        start = counter.to_bytes(4, "little") + nonce
        out.say("key", key.hex())
        out.say("iv", start.hex())
        out.lines.append(f"case {name} {text.hex()} {chacha20_crypt(key, start, text).hex()}")
    out.named("chacha20_poly1305")
    for name, key, nonce, aad, text in (
        ("2.8.2", bytes(range(0x80, 0xA0)), bytes([7, 0, 0, 0]) + bytes(range(0x40, 0x48)),
         bytes.fromhex("50515253c0c1c2c3c4c5c6c7"), sunscreen),
        ("A.5", key_a, bytes(4) + bytes(range(1, 9)), bytes.fromhex("f33388860000000000004e91"),
         drafts),
    ):  # fmt: skip
        out.seal(name, key, nonce, aad, text, chacha20_poly1305_seal(key, nonce, aad, text))
    return out.text()


def rfc8439_poly1305():
    """Writes R, S and the data of each case, and a title that says what makes it hard."""
    out = Writer(
        "Poly1305: RFC 8439, section 2.5.2, and sums at the edges of the field, as those",
        "of appendix A.3.",
    )
    out.lines.append("")
    zero, one, two = bytes(16), b"\x01" + bytes(15), b"\x02" + bytes(15)
    full, four = b"\xff" * 16, bytes([1, 0, 0, 0, 0, 0, 0, 0, 4]) + bytes(7)
    long = bytes.fromhex("e33594d7505e43b900000000000000003394d7505e4379cd0100000000000000")
    example = bytes.fromhex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b")
    for name, r, s, data in (
        ("2.5.2", example[:16], example[16:], b"Cryptographic Forum Research Group"),
        ("not-reduced", two, zero, full),
        ("s-carries-out", two, full, two),
        ("limb-carries", one, zero, full + b"\xf0" + full[1:] + b"\x11" + bytes(15)),
        ("is-p", one, zero, full + b"\xfb" + b"\xfe" * 15 + b"\x01" * 16),
        ("is-p-less-1", two, zero, b"\xfd" + full[1:]),
        ("long-product", four, zero, long + zero + one),
        ("long-product-last", four, zero, long + zero),
    ):
        out.lines.append(f"mac {name} {(r + s).hex()} {data.hex()} {poly1305(r + s, data).hex()}")
    return out.text()


def leading_ones(length):
    """One bit set, two bits set, ... all set, from the left, in `length` bytes."""
    bits = 8 * length
    for count in range(1, bits + 1):
        yield (((1 << count) - 1) << (bits - count)).to_bytes(length, "big")


def known_answers(mode):
    iv = b"" if mode == "ecb" else ZERO_BLOCK
    out = Writer(
        f"AESAVS known-answer tests, {mode.upper()}: GFSbox, KeySbox, VarTxt, VarKey.",
        "The IV is zeros." if iv else "",
    )
    if not iv:
        out.lines.pop()
    for bits in SIZES:
        zero_key = bytes(bits // 8)
        out.cipher(bits, mode)
        for i, text in enumerate(GFSBOX_PLAINTEXTS[bits]):
            out.case(f"GFSbox.{i}", mode, zero_key, iv, bytes.fromhex(text))
        for i, text in enumerate(leading_ones(16)):
            out.case(f"VarTxt.{i}", mode, zero_key, iv, text)
        for i, key in enumerate(KEYSBOX_KEYS[bits]):
            out.case(f"KeySbox.{i}", mode, bytes.fromhex(key), iv, ZERO_BLOCK)
        for i, key in enumerate(leading_ones(bits // 8)):
            out.case(f"VarKey.{i}", mode, key, iv, ZERO_BLOCK)
    return out.text()


def ecb_inner_loop(crypt, text):
    """Does 1,000 blocks, each the answer to the one before. Returns the last two."""
    before = text
    for _ in range(1000):
        before, text = text, crypt(text)
    return before, text


def cbc_inner_loop(aes, direction, iv, text):
    """Does 1,000 blocks in CBC. The text of each is the answer before the last one."""
    chain, before, last = iv, iv, iv
    for _ in range(1000):
        if direction == "encrypt":
            answer = chain = aes.encrypt_block(bytes(xor(text, chain)))
        else:
            answer = bytes(xor(aes.decrypt_block(text), chain))
            chain = text
        # The second text is the IV. Later each text is the answer before the last one.
        text = last
        before, last = last, answer
    return before, last


def monte_carlo_chain(mode, direction, key, iv, text):
    """The 100 answers of a chain, by AESAVS 6.4.1 (ECB) and 6.4.2 (CBC)."""
    for _ in range(100):
        aes = Aes(key)
        if mode == "ecb":
            crypt = aes.encrypt_block if direction == "encrypt" else aes.decrypt_block
            before, last = ecb_inner_loop(crypt, text)
            text = last
        else:
            before, last = cbc_inner_loop(aes, direction, iv, text)
            iv, text = last, before
        key = bytes(xor(key, (before + last)[-len(key) :]))
        yield last


def monte_carlo(mode):
    out = Writer(
        f"AESAVS Monte Carlo tests, {mode.upper()}: 100 answers a chain, each the last of",
        "1,000 blocks, from the seeds of NIST's published sample.",
    )
    for bits in SIZES:
        for direction in ("encrypt", "decrypt"):
            key, iv, text = map(bytes.fromhex, MONTE_CARLO_SEEDS[mode, bits, direction])
            out.cipher(bits, mode)
            out.say("key", key.hex())
            out.say("iv", iv.hex())
            out.lines.append(f"chain {direction} {text.hex()}")
            for answer in monte_carlo_chain(mode, direction, key, iv, text):
                out.lines.append(f"answer {answer.hex()}")
    return out.text()


FILES = {
    "fips197": fips197,
    "sp800_38a": sp800_38a,
    "sp800_38a_feedback": sp800_38a_feedback,
    "cts": cts,
    "ieee1619": ieee1619,
    "sm4": sm4,
    "sm4_xts": sm4_xts,
    "rfc8998": rfc8998,
    "rfc3713": rfc3713,
    "rfc5794": rfc5794,
    "gcm_authors": gcm_authors,
    "sp800_38c": sp800_38c,
    "rfc8439": rfc8439,
    "rfc8439_poly1305": rfc8439_poly1305,
    "aesavs_ecb": lambda: known_answers("ecb"),
    "aesavs_cbc": lambda: known_answers("cbc"),
    "aesavs_ecb_monte_carlo": lambda: monte_carlo("ecb"),
    "aesavs_cbc_monte_carlo": lambda: monte_carlo("cbc"),
}


def main(arguments):
    check = "--check" in arguments
    names = [a for a in arguments if a != "--check"] or list(FILES)
    unknown = [name for name in names if name not in FILES]
    if unknown:
        sys.exit(f"write_vectors.py: no file named {unknown[0]}; there are: {', '.join(FILES)}")
    changed = []
    for name in names:
        path, text = FOLDER / f"{name}.txt", FILES[name]()
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            changed.append(path.name)
    if changed:
        sys.exit(f"write_vectors.py: not what this script writes: {', '.join(changed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
