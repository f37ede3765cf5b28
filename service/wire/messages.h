// The packets of the protocol between the service and its clients: fixed layouts, in the byte order
// of the machine, since both sides run on one machine. docs/design/service.md describes the
// protocol.
//
// A client connects one control socket. The service creates the channels and passes their
// descriptors to the client. On a channel the client has at most one request under way, and it
// receives the answer there. All sockets are SOCK_SEQPACKET: a packet arrives whole or not at all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanecrypt::service {

// The version of the protocol. A change of any layout below needs a new version. Each side accepts
// only its own version.
inline constexpr uint16_t kVersion = 3;

// The longest and the shortest modulus of RSA: 8192 bits, the most that devices take, and 1024
// bits.
inline constexpr size_t kMostModulusBytes = 1024;
inline constexpr size_t kLeastModulusBytes = 128;
// The input of an ML-DSA signature: mu and rnd of FIPS 204, Algorithm 7, ML-DSA.Sign_internal.
inline constexpr size_t kMlDsaMuBytes = 64, kMlDsaRandomBytes = 32;
inline constexpr size_t kMlDsaInputBytes = kMlDsaMuBytes + kMlDsaRandomBytes;
// The longest output of any operation with a key (a signature of SLH-DSA-SHA2-256f), and the
// longest of all families but SLH-DSA (a signature of ML-DSA-87).
inline constexpr size_t kMostOutputBytes = 49856, kMostShortOutputBytes = 4627;
// The longest packet, except for answers that carry an output.
inline constexpr size_t kMostPacketBytes = 16384;
// The most channels in one kChannels answer. The kernel passes at most 253 descriptors in a packet.
inline constexpr size_t kMostChannelsAtOnce = 32;

enum class Kind : uint16_t {
  // On the control socket, from the client:
  kHello = 1,         // the first packet
  kOpenChannels = 2,  // requests more channels
  kForgetKey = 3,     // the service may drop a key; no answer
  kLookAgain = 4,     // asks for updates of StatusPage::runnable; no answer
  kStatistics = 5,    // requests the counters
  // On the control socket, from the service:
  kWelcome = 16,   // answers kHello; carries the descriptor of the status page
  kChannels = 17,  // answers kOpenChannels; carries `count` descriptors
  kText = 18,      // answers kStatistics: one piece of a JSON text
  kRefused = 19,   // replaces any other answer
  // On a channel, from the client:
  kRsaPrivate = 32,
  kRsaGenerate = 33,
  kMlDsaSign = 34,
  kSlhDsaSign = 35,
  // On a channel, from the service:
  kResult = 48,       // the result of an operation with a key
  kRsaKey = 49,       // the new key of a kRsaGenerate
  kStillAtWork = 50,  // a kRsaGenerate is still under way; sent about four times a second
};

// How a request ended. The client does the operation itself after every outcome but kDone and
// kFaultSigned.
enum class Outcome : uint32_t {
  kDone = 0,
  kUnknownKey = 1,  // the client repeats the request, with the key
  kBadKey = 2,      // the parts of the key are inconsistent, or no device takes the key
  kBadInput = 3,    // the input is not less than the modulus, or the key is of another kind
  kBusy = 4,        // a limit of this client or its user is reached, or the wait would be too long
  kNoDevice = 5,    // there is no usable device, or none is open yet
  kFailed = 6,      // the device failed, or its result did not pass verification
  kNotAllowed = 7,  // this user may not use the service
  // SLH-DSA: a fault made a one-time key of this key sign a wrong root before. To sign the right
  // root with it too would reveal the key (docs/security.md), so neither side makes the signature.
  kFaultSigned = 8,
};

// The first bytes of every packet.
struct Header {
  Kind kind;
  uint16_t version;  // kVersion
  uint32_t bytes;    // length of the whole packet, with this header
};

struct Hello {
  Header header;
};

struct Welcome {
  Header header;
  uint32_t most_channels;  // channels that this client may have
  uint32_t most_keys;      // keys that the service keeps for it
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

// One piece of a text. `text_bytes` bytes follow.
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

// The numbers of an RSA private key (RFC 8017, section 3.2) in the order of their bytes in a
// packet, each big-endian. A client leaves kD out. The service sends kD with a new key.
enum KeyPart { kN, kE, kP, kQ, kDp, kDq, kQinv, kD, kKeyParts };
// The only part of a key that is not RSA, in code that stores the keys of all families in one form.
inline constexpr KeyPart kWholeKey = kN;

// Computes in^d mod n (RSADP and RSASP1 of RFC 8017, sections 5.1.2 and 5.2.1). The input follows,
// of `modulus_bytes` bytes, and then the parts of the key in the order of KeyPart, each of as many
// bytes as `part_bytes` says.
struct RsaPrivate {
  Header header;
  // The number that the client gave the key, not 0. Each client has its own numbers.
  uint64_t key;
  uint32_t modulus_bytes;
  // All 0: the service has the key already. Otherwise all but kD are at least 1, and kD is 0. A key
  // that is sent again under the same number must be the same.
  uint16_t part_bytes[kKeyParts];
  uint32_t reserved;
};

// Signs a message that the client has hashed. The input follows, and then the private key of
// `key_bytes` bytes. operation_kind.h has the lengths.
// - kMlDsaSign does FIPS 204, Algorithm 7, ML-DSA.Sign_internal, from line 7 on. The input is mu
//   and rnd. The private key has the encoding of Algorithm 24, skEncode.
// - kSlhDsaSign does FIPS 205, Algorithm 19, slh_sign_internal, from line 6 on. The input is R and
//   the digest. The private key is SK.seed, PK.seed and PK.root: SK.prf is left out, since only R
//   needs it.
struct Sign {
  Header header;
  uint64_t key;        // as in RsaPrivate; the keys of all families share one numbering
  uint32_t set;        // the number of the parameter set
  uint32_t key_bytes;  // 0: the service has the key already
};

// The result of a kRsaPrivate, kMlDsaSign or kSlhDsaSign. The output follows: as long as the
// modulus, or a signature. It is empty unless `outcome` is kDone.
struct Result {
  Header header;
  Outcome outcome;
  uint32_t output_bytes;
};

// Requests a new RSA key of two primes. The public exponent follows, big-endian, of
// `exponent_bytes` bytes.
struct RsaGenerate {
  Header header;
  uint32_t bits;
  uint32_t exponent_bytes;  // 1 to 32
};

// The new key of a kRsaGenerate. Its parts follow as in RsaPrivate, with kD. All `part_bytes` are 0
// unless `outcome` is kDone.
struct RsaKeyMade {
  Header header;
  Outcome outcome;
  uint16_t part_bytes[kKeyParts];
  uint32_t reserved;
};

struct StillAtWork {
  Header header;
};

// The layouts have no padding, so no uninitialized memory of the sender is sent.
static_assert(sizeof(Header) == 8 && sizeof(Hello) == 8 && sizeof(Welcome) == 16);
static_assert(sizeof(OpenChannels) == 16 && sizeof(Channels) == 16 && sizeof(ForgetKey) == 16);
static_assert(sizeof(Text) == 16 && sizeof(Refused) == 16);
static_assert(sizeof(RsaPrivate) == 40 && sizeof(Sign) == 24 && sizeof(Result) == 16);
static_assert(sizeof(RsaGenerate) == 16 && sizeof(RsaKeyMade) == 32);

}  // namespace lanecrypt::service
