#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the fuzzers' first inputs: what each of wire.cpp, daemon.cpp and client.cpp reads as a
whole conversation that goes well, and a few that do not. The fuzzers change them from there.

Usage: fuzz/make_corpus.py FOLDER   (writes FOLDER/wire, FOLDER/daemon, FOLDER/client)
"""

import pathlib
import struct
import sys

VERSION = 3
HELLO, OPEN_CHANNELS, FORGET_KEY, LOOK_AGAIN, STATISTICS = 1, 2, 3, 4, 5
WELCOME, CHANNELS, TEXT, REFUSED = 16, 17, 18, 19
RSA_PRIVATE, RSA_GENERATE, ML_DSA_SIGN, SLH_DSA_SIGN = 32, 33, 34, 35
RESULT, RSA_KEY, STILL_AT_WORK = 48, 49, 50
# For each parameter set, by its number: the lengths of the input and of the key.
ML_DSA = {44: (96, 2560), 65: (96, 4032), 87: (96, 4896)}
SLH_DSA = {first + kind: lengths for first in (0, 6) for kind, lengths in enumerate(
    [(46, 48), (50, 48), (63, 72), (66, 72), (79, 96), (81, 96)])}
# The lengths of the signatures of ML-DSA, and of SLH-DSA those that fit into wire.cpp's packets.
SIGNATURES = [2420, 3309, 4627, 7856]


def packet(kind, body=b""):
    return struct.pack("=HHI", kind, VERSION, 8 + len(body)) + body


def private(modulus_bytes, with_key):
    half = modulus_bytes // 2
    parts = [modulus_bytes, 3, half, half, half, half, half, 0] if with_key else [0] * 8
    body = struct.pack("=QI8HI", 7, modulus_bytes, *parts, 0)
    return packet(RSA_PRIVATE, body + bytes([1] * modulus_bytes) + bytes([3]) * sum(parts))


def signature(kind, of, input_bytes, key_bytes):
    return packet(kind, struct.pack("=QII", 7, of, key_bytes) + bytes([1] * (input_bytes + key_bytes)))


def result(outcome, output_bytes):
    output = bytes([5]) * (output_bytes if outcome == 0 else 0)
    return packet(RESULT, struct.pack("=II", outcome, len(output)) + output)


def key_made(outcome):
    parts = [128] * 8 if outcome == 0 else [0] * 8
    return packet(RSA_KEY, struct.pack("=I8HI", outcome, *parts, 0) + bytes([9]) * sum(parts))


# wire.cpp reads the number of descriptors to send, the room for them, and a packet.
PACKETS = [
    packet(HELLO), packet(OPEN_CHANNELS, struct.pack("=II", 4, 0)),
    packet(FORGET_KEY, struct.pack("=Q", 7)), packet(LOOK_AGAIN), packet(STATISTICS),
    packet(WELCOME, struct.pack("=II", 64, 64)), packet(CHANNELS, struct.pack("=II", 2, 0)),
    packet(TEXT, struct.pack("=II", 1, 4) + b"text"), packet(REFUSED, struct.pack("=II", 4, 0)),
    private(128, False), private(256, False), private(128, True), private(256, True),
    packet(RSA_GENERATE, struct.pack("=II", 2048, 3) + bytes([1, 0, 1])),
    result(0, 128), result(0, 256), result(1, 256), result(9, 256), key_made(0), key_made(6),
    packet(STILL_AT_WORK), signature(ML_DSA_SIGN, 66, 96, 0), signature(ML_DSA_SIGN, 65, 96, 2560),
    signature(SLH_DSA_SIGN, 12, 46, 0), signature(SLH_DSA_SIGN, 0, 46, 72),
    *(signature(kind, of, input_bytes, with_key * key_bytes)
      for kind, sets in ((ML_DSA_SIGN, ML_DSA), (SLH_DSA_SIGN, SLH_DSA))
      for of, (input_bytes, key_bytes) in sets.items() for with_key in (0, 1)),
    *(result(0, signature_bytes) for signature_bytes in SIGNATURES),
]
WIRE = [bytes([descriptors, room]) + body for body in PACKETS
        for descriptors, room in ((0, 0), (1, 1), (3, 2))]

# daemon.cpp reads steps, each with its number in Client::step().
SAY_HELLO, READ, STATISTICS_STEP = bytes([0]), bytes([5]), bytes([4])


def channels(count):
    return bytes([1, count])


def sign(channel, how, key, first=0x11):
    return bytes([8, channel, how, key, first])


# Returns a step that signs with the parameter set at index `which` of kSignatureSets.
def by_set(channel, which, how, key, first=0x11, secret=1):
    return bytes([11, channel, which, how, key, first, *([secret] if how & 4 else [])])


def read(channel):
    return bytes([10, channel])


def generate(channel, bits):
    return bytes([9, channel, 3, 1, 0, 1]) + struct.pack("<H", bits)


WELL = SAY_HELLO + READ + channels(3)
DAEMON = [
    WELL + sign(0, 5, 1) + read(0) + sign(0, 1, 1) + read(0),
    WELL + sign(0, 4, 1) + sign(1, 4, 1) + sign(2, 0, 1) + read(0) + read(1) + read(2),
    WELL + sign(0, 1, 1) + read(0) + sign(0, 5, 1) + read(0),
    WELL + sign(0, 5, 1) + read(0) + bytes([2, 1]) + sign(0, 1, 1) + read(0),
    WELL + sign(0, 7, 3) + read(0) + sign(0, 7, 3, 0xf5) + read(0) + sign(0, 3, 3, 0xff) + read(0),
    WELL + sign(0, 5, 1) + sign(0, 5, 1) + read(0),
    WELL + generate(0, 2048) + read(0) + generate(1, 1024) + read(1) + generate(1, 2049),
    WELL + STATISTICS_STEP + READ + bytes([3]) + bytes([12, 2]) + bytes([12, 1]),
    WELL + sign(0, 5, 1) + bytes([12, 1]), WELL + sign(1, 5, 1) + bytes([12, 6]),
    *(WELL + by_set(0, of, 4, 1) + read(0) + by_set(0, of, 0, 1) + read(0) + by_set(0, of + 1, 0, 1)
      + read(0) for of in (0, 3, 8)),
    *(WELL + by_set(0, of, 4, 1) + by_set(1, of, 4, 1) + sign(2, 5, 2) + read(0) + read(1) + read(2)
      for of in (1, 14)),
    WELL + by_set(0, 2, 4, 1, secret=2) + read(0) + sign(0, 5, 1) + read(0) + by_set(0, 1, 4, 1)
    + read(0),
    *(WELL + by_set(0, of, 4, 3, 0xf5) + read(0) + by_set(0, of, 0, 3, 0xff) + bytes([12, 1])
      for of in (1, 8)),
    WELL + by_set(0, 8, 4, 1, secret=0xf4) + read(0) + by_set(0, 8, 0, 1) + read(0),
    WELL + by_set(0, 8, 4, 1) + by_set(0, 8, 0, 1) + by_set(0, 8, 0, 1) + by_set(0, 8, 0, 1),
    channels(1), SAY_HELLO + SAY_HELLO, bytes([6, 0, 8, 0]) + packet(HELLO),
    WELL + bytes([7, 0, 3, 8, 0]) + packet(STILL_AT_WORK),
    SAY_HELLO + b"".join(channels(32) for _ in range(40)),
]

# client.cpp reads the packets of the service, and then the operations of the client.
GOOD_WELCOME = bytes([0, 0, 1])


def client_channels(*answers):
    return bytes([1, len(answers)]) + b"".join(answers)


DONE, UNKNOWN, BUSY, MADE, WORKS, SIGNED, LONG = (
    bytes([0]), bytes([1, 1]), bytes([1, 4]), bytes([2]), bytes([3]), bytes([5]), bytes([6]))


def channel(*packets):
    return bytes([len(packets)]) + b"".join(packets)


CLIENT = [
    bytes([2]) + GOOD_WELCOME + client_channels(channel(DONE, DONE)) + bytes([0, 0, 0, 6, 7]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(DONE, DONE, DONE)) + bytes([2, 2, 2, 2]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(UNKNOWN, DONE)) + bytes([0, 0]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(BUSY, DONE)) + bytes([0, 2, 5, 3, 3]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(WORKS, MADE)) + bytes([4, 4]),
    bytes([3]) + GOOD_WELCOME + client_channels(channel(DONE)) + client_channels(
        channel(DONE), channel(DONE)) + bytes([2, 18, 0, 0, 0, 255]),
    bytes([1]) + GOOD_WELCOME + bytes([5, 0, 1, 16, 1, 5, 1, 9, 0, 2]),
    bytes([1, 0, 16, 1, 5, 0, 0, 0x80, 0]) + bytes([5, 0, 16, 1, 0]),  # a time long ago
    bytes([2]) + GOOD_WELCOME + client_channels(channel(SIGNED, DONE)) + bytes([32, 0, 38, 5, 5, 9]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(UNKNOWN, SIGNED, SIGNED)) + bytes([32, 34]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(DONE, SIGNED)) + bytes([32]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(LONG, LONG, DONE)) + bytes([64, 66, 0]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(UNKNOWN, LONG, BUSY)) + bytes([64, 66, 70]),
    bytes([2]) + GOOD_WELCOME + client_channels(channel(LONG, SIGNED)) + bytes([64, 64]),
    bytes([2]) + GOOD_WELCOME + bytes([2, 4]) + bytes([0, 2, 4]),
    bytes([1, 2, 7, 0]), bytes([1, 0, 1, 1, 0]), bytes([1, 0, 4, 1, 0]), bytes([0, 0]),
]


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, inputs in (("wire", WIRE), ("daemon", DAEMON), ("client", CLIENT)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(inputs):
            (folder / name / f"first-{number:02}").write_bytes(content)


if __name__ == "__main__":
    main()
