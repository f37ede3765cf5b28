// The limits of one client and of one user. The service refuses what exceeds them with kBusy, and
// the client's own core does the work.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "service/wire/operation_kind.h"

namespace lanecrypt::service::daemon {

inline constexpr size_t kMostSessions = 8192;
inline constexpr size_t kMostSessionsOfUser = 2048;

// Returns the most descriptors of a user: half of those that other users leave. A session takes
// two, also while it waits to be admitted, and a channel takes one. `most`: descriptors for all
// clients. `others`: those of other users.
constexpr size_t most_descriptors_of_user(size_t most, size_t others) {
  return most > others ? (most - others) / 2 : 0;
}

// A channel costs the service a descriptor and carries one operation at a time.
inline constexpr size_t kMostChannelsOfSession = 4096;
inline constexpr size_t kMostChannelsOfUser = 16384;
// SO_SNDBUF of a channel: holds the answers that the client has not read, and one answer more. The
// kernel doubles it, so the longest answer has room, whatever the system's own limit is.
inline constexpr int kChannelSendBytes = 32768;

inline constexpr size_t kMostKeysOfSession = 4096;
inline constexpr size_t kMostKeysOfUser = 16384;
// The most memory of a user's keys, and of all users' keys, as bytes_of_key() counts it. MemoryMax
// in dist/systemd must have room for it.
inline constexpr size_t kMostKeyBytesOfUser = size_t{512} << 20;
inline constexpr size_t kMostKeyBytes = size_t{4} << 30;
// The number of keys that a key counts for. An SLH-DSA key keeps up to 37 KiB of what its one-time
// keys have signed, so a user may have a quarter as many.
constexpr size_t quota_of_key(Family family) { return family == Family::kSlhDsa ? 4 : 1; }

// Returns the length in bits for which an RSA key is charged: a device computes as if both primes
// were as long as the longer one.
constexpr uint32_t charged_bits(uint32_t modulus_bits, uint32_t longer_prime_bits) {
  return modulus_bits > 2 * longer_prime_bits ? modulus_bits : 2 * longer_prime_bits;
}

// The limits of RSA keys on devices (src/rsa/rsa_kind.cpp). Keys beyond them are refused before
// their primes are tested, which is the slowest check.
inline constexpr uint32_t kLeastModulusBits = 1024;
inline constexpr uint32_t kMostPrimeBits = 4154;
inline constexpr uint32_t kMostExponentBits = 64;

// Returns the most memory that a key takes, after all kinds of use. `bits`: charged_bits() for RSA.
constexpr size_t bytes_of_key(Family family, uint32_t bits) {
  if (family == Family::kSlhDsa) return 48 << 10;
  // For ML-DSA-87 the library keeps 24 KiB. OpenSSL 3.5 and later, which signs again what a device
  // did wrong, keeps 40 KiB.
  if (family == Family::kMlDsa) return 72 << 10;
  // The library keeps two images of a key. Each has up to 141 numbers (kernels/rsa/rsa_layout.h) of
  // the key's class (src/rsa/rsa_kind.cpp), with a double for each 52 bits.
  constexpr uint32_t kClasses[] = {1028, 2068, 3108, 4148, 6228, 8308};
  uint32_t of_class = 0;
  for (const uint32_t each : kClasses)
    if (of_class < bits) of_class = each;
  const size_t number = (of_class + 51) / 52 * sizeof(double);
  // 4 * bits: the parts of the key, here and in the library, and OpenSSL's form of it.
  return 2 * 141 * number + 4 * bits;
}

// The most operations of a user that wait, without those that the library has.
inline constexpr size_t kMostWaitingOfUser = 8192;
// The most time that an operation waits. After it the answer is kBusy: by then the client would
// have done it itself.
inline constexpr std::chrono::seconds kMostWait{2};

// The most work that the library has at once, in operations of RSA-2048. It keeps a device busy for
// some batches, and it bounds the work ahead of a new operation.
inline constexpr size_t kWindow = 4096;
// The most searches for new keys at once. Each has a thread. A user has at most half of those that
// other users leave (work/fair_queue.h), since a search may take longer than kMostWait.
inline constexpr size_t kMostSearches = 16;

// The rate of reports for a user other than root and the service's own: kReportsAtOnce at once,
// then one in each kReportsEach. Others are refused.
inline constexpr size_t kReportsAtOnce = 20;
inline constexpr std::chrono::milliseconds kReportsEach{100};

// The most connections that the kernel keeps until they are accepted (the backlog of listen()), and
// the most that are accepted before the main thread handles anything else. A user who connects over
// and over again fills the backlog; everyone else then waits in connect(). dist/systemd repeats the
// number.
inline constexpr int kMostUnaccepted = 128;

// The rate of a user's connections: kConnectionsAtOnce at once, then one in each kConnectionsEach.
// Others are refused.
inline constexpr size_t kConnectionsAtOnce = 4096;
inline constexpr std::chrono::microseconds kConnectionsEach{500};

// The rate of the main thread's work for a user's control packets: kControlAtOnce units at once,
// then one in each kControlEach. A packet is one unit, and each channel that it opens is one more,
// which takes some 10 microseconds. Other packets wait. kControlAtOnce is enough to open all
// channels of all sessions that a user may have.
inline constexpr size_t kControlAtOnce = 32768;
inline constexpr std::chrono::microseconds kControlEach{50};

// How long a user without clients is remembered at least, so that a user who comes again keeps its
// charges in the queues (work/fair_queue.h).
inline constexpr std::chrono::seconds kUserRemembered{60};

// The rate of log lines about refused clients.
inline constexpr size_t kRefusalLinesAtOnce = 10;
inline constexpr std::chrono::seconds kRefusalLinesEach{60};

// A client that has not sent kHello after this time is disconnected.
inline constexpr std::chrono::seconds kHelloTime{5};

// Descriptors that clients cannot use up: for the drivers, the library, and short use by the
// service.
inline constexpr size_t kOwnDescriptors = 512;

}  // namespace lanecrypt::service::daemon
