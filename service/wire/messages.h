// What a client and the service say to each other: packets with fixed layouts. Both run on
// one machine, so numbers have its byte order. docs/design/service.md has the whole protocol.
//
// A client has one control socket, which it connects, and channels, which the service makes
// and hands over. On a channel the client has at most one request under way, and waits on the
// channel itself for the answer. All are sockets of SOCK_SEQPACKET: a packet comes whole or
// not at all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanecrypt::service {

// A change of any layout below is another version. Each side serves its own version alone.
inline constexpr uint16_t kVersion = 3;

// The longest modulus: 8192 bits, as devices take.
inline constexpr size_t kMostModulusBytes = 1024;
inline constexpr size_t kLeastModulusBytes = 128;
// What a signature of ML-DSA is made of: mu and rnd of FIPS 204, algorithm 7.
inline constexpr size_t kMlDsaMuBytes = 64, kMlDsaRandomBytes = 32;
inline constexpr size_t kMlDsaInputBytes = kMlDsaMuBytes + kMlDsaRandomBytes;
// The longest outputs of an operation with a key: a signature of SLH-DSA-SHA2-256f, and of all
// but SLH-DSA one of ML-DSA-87.
inline constexpr size_t kMostOutputBytes = 49856, kMostShortOutputBytes = 4627;
// No packet is longer, but for answers with an output.
inline constexpr size_t kMostPacketBytes = 16384;
// The most channels in one answer. The kernel takes 253 descriptors in a packet.
inline constexpr size_t kMostChannelsAtOnce = 32;

enum class Kind : uint16_t {
  // On the control socket, by the client:
  kHello = 1,         // the first packet
  kOpenChannels = 2,  // wants more channels
  kForgetKey = 3,     // has no more use for a key; no answer
  kLookAgain = 4,     // wants StatusPage::runnable to be kept up to date; no answer
  kStatistics = 5,    // wants the counters
  // On the control socket, by the service:
  kWelcome = 16,   // answers kHello; with the descriptor of the status page
  kChannels = 17,  // answers kOpenChannels; with as many descriptors as `count` says
  kText = 18,      // answers kStatistics: a piece of a JSON text
  kRefused = 19,   // instead of another answer
  // On a channel, by the client:
  kRsaPrivate = 32,
  kRsaGenerate = 33,
  kMlDsaSign = 34,
  kSlhDsaSign = 35,
  // On a channel, by the service:
  kResult = 48,       // of an operation with a key
  kRsaKey = 49,       // a new key
  kStillAtWork = 50,  // of a kRsaGenerate that takes long: comes about four times a second
};

// How a request ended. Whatever is not kDone, the client does itself, but for kFaultSigned.
enum class Outcome : uint32_t {
  kDone = 0,
  kUnknownKey = 1,  // the client sends it again, with the key
  kBadKey = 2,      // the parts of the key do not belong together, or no device takes it
  kBadInput = 3,    // the input is not less than the modulus, or the key is of another sort
  kBusy = 4,        // a limit of this client or its user is reached, or all would take too long
  kNoDevice = 5,    // there is no usable device, or none yet
  kFailed = 6,      // the device failed, or its result did not pass its check
  kNotAllowed = 7,  // this user may not use the service
  // Of SLH-DSA: a one-time key has signed a fault before, and whoever makes this signature gives
  // the key away (docs/security.md). So nobody makes it.
  kFaultSigned = 8,
};

// The beginning of every packet.
struct Header {
  Kind kind;
  uint16_t version;  // kVersion
  uint32_t bytes;    // of the whole packet, this included
};

struct Hello {
  Header header;
};

struct Welcome {
  Header header;
  uint32_t most_channels;  // that this client may have
  uint32_t most_keys;      // that it may leave with the service
};

struct OpenChannels {
  Header header;
  uint32_t count;  // 1 to kMostChannelsAtOnce
  uint32_t reserved;
};

struct Channels {
  Header header;
  uint32_t count;
  uint32_t reserved;
};

struct ForgetKey {
  Header header;
  uint64_t key;
};

struct LookAgain {
  Header header;
};

struct Statistics {
  Header header;
};

// A piece of a text. Its bytes follow.
struct Text {
  Header header;
  uint32_t is_last;  // 0 or 1
  uint32_t text_bytes;
};

struct Refused {
  Header header;
  Outcome outcome;
  uint32_t reserved;
};

// The numbers of a private key by RFC 8017, section 3.2, in this order, big-endian. The last
// is left out by a client, and given by the service of a new key.
enum KeyPart { kN, kE, kP, kQ, kDp, kDq, kQinv, kD, kKeyParts };
// Where keys of all families are kept alike, a key of another than RSA is the only part.
inline constexpr KeyPart kWholeKey = kN;

// in^d mod n. `input` follows, modulus_bytes long, and then the parts of the key in the order
// of KeyPart, each as long as part_bytes says.
struct RsaPrivate {
  Header header;
  // The client's own number of the key, not 0. Each client has numbers of its own.
  uint64_t key;
  uint32_t modulus_bytes;
  // All 0: the service has the key already. Otherwise all but kD are at least 1. A key that
  // comes again under the same number must be the same.
  uint16_t part_bytes[kKeyParts];
  uint32_t reserved;
};

// A signature, of a message that the client has hashed. What is signed follows, and then the
// private key, key_bytes long. Their lengths are in sort.h.
// kMlDsaSign (FIPS 204, algorithm 7, from line 7 on): mu and rnd; the key as skEncode makes it.
// kSlhDsaSign (FIPS 205, algorithm 19, from line 6 on): R and the digest; SK.seed, PK.seed and
// PK.root, since SK.prf served to make R alone.
struct Sign {
  Header header;
  uint64_t key;        // as in RsaPrivate: keys of all families share their numbers
  uint32_t set;        // the number of the parameter set
  uint32_t key_bytes;  // 0: the service has the key already
};

// The output of kRsaPrivate, as long as the modulus, or of the others, the signature, follows. It
// is empty unless the outcome is kDone.
struct Result {
  Header header;
  Outcome outcome;
  uint32_t output_bytes;
};

// A new key of two primes. `exponent_bytes` of the public exponent follow, big-endian.
struct RsaGenerate {
  Header header;
  uint32_t bits;
  uint32_t exponent_bytes;  // 1 to 32
};

// The parts of the new key follow, as in RsaPrivate, but with kD. All part_bytes are 0 unless
// the outcome is kDone.
struct RsaKeyMade {
  Header header;
  Outcome outcome;
  uint16_t part_bytes[kKeyParts];
  uint32_t reserved;
};

struct StillAtWork {
  Header header;
};

// No layout has gaps, in which a sender's memory would leak.
static_assert(sizeof(Header) == 8 && sizeof(Hello) == 8 && sizeof(Welcome) == 16);
static_assert(sizeof(OpenChannels) == 16 && sizeof(Channels) == 16 && sizeof(ForgetKey) == 16);
static_assert(sizeof(Text) == 16 && sizeof(Refused) == 16);
static_assert(sizeof(RsaPrivate) == 40 && sizeof(Sign) == 24 && sizeof(Result) == 16);
static_assert(sizeof(RsaGenerate) == 16 && sizeof(RsaKeyMade) == 32);

}  // namespace lanecrypt::service
