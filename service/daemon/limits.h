// How much of the service one client and one user may have. What goes beyond is refused with
// kBusy, and the client's own core does it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "service/wire/sort.h"

namespace lanecrypt::service::daemon {

inline constexpr size_t kMostSessions = 8192;
inline constexpr size_t kMostSessionsOfUser = 2048;

// Of all descriptors for clients, a user has no more than half of those that other users leave: two
// for a session, also one that waits to be admitted, and one for a channel.
constexpr size_t most_descriptors_of_user(size_t most, size_t others) {
  return most > others ? (most - others) / 2 : 0;
}

// A channel costs the service a descriptor, and carries one operation at a time.
inline constexpr size_t kMostChannelsOfSession = 4096;
inline constexpr size_t kMostChannelsOfUser = 16384;
// What one holds of answers that its client has not read, and then one answer more. The kernel
// doubles it: the longest answer has room, whatever the system's own limit is.
inline constexpr int kChannelSendBytes = 32768;

inline constexpr size_t kMostKeysOfSession = 4096;
inline constexpr size_t kMostKeysOfUser = 16384;
// The memory of a user's keys, and of all users', by bytes_of_key(). dist/systemd's MemoryMax must
// have room for it.
inline constexpr size_t kMostKeyBytesOfUser = size_t{512} << 20;
inline constexpr size_t kMostKeyBytes = size_t{4} << 30;
// One of SLH-DSA keeps up to 37 KiB of what it has signed, so a user has a quarter as many.
constexpr size_t seats_of_key(Family family) { return family == Family::kSlhDsa ? 4 : 1; }

// The length for which a key of RSA is charged: a device computes as if both primes were as long as
// the longer one.
constexpr uint32_t charged_bits(uint32_t modulus_bits, uint32_t longer_prime_bits) {
  return modulus_bits > 2 * longer_prime_bits ? modulus_bits : 2 * longer_prime_bits;
}

// Keys of RSA that no device takes (src/rsa/rsa_kind.cpp) are refused before their primes are
// tested, since that takes longest of these.
inline constexpr uint32_t kLeastModulusBits = 1024;
inline constexpr uint32_t kMostPrimeBits = 4154;
inline constexpr uint32_t kMostExponentBits = 64;

// What a key takes at most, once it has been used in every way. `bits`: charged_bits() of RSA.
constexpr size_t bytes_of_key(Family family, uint32_t bits) {
  if (family == Family::kSlhDsa) return 48 << 10;
  // Of ML-DSA-87 the library takes 24 KiB, and OpenSSL from 3.5 on, which signs what a device did
  // wrong, 40 KiB.
  if (family == Family::kMlDsa) return 72 << 10;
  // The library keeps two images of a key, each of up to 141 numbers (kernels/rsa/rsa_layout.h) of
  // the key's class (src/rsa/rsa_kind.cpp), with a double for 52 bits.
  constexpr uint32_t kClasses[] = {1028, 2068, 3108, 4148, 6228, 8308};
  uint32_t of_class = 0;
  for (const uint32_t each : kClasses)
    if (of_class < bits) of_class = each;
  const size_t number = (of_class + 51) / 52 * sizeof(double);
  // Beside them the parts, here and in the library, and what OpenSSL makes of them.
  return 2 * 141 * number + 4 * bits;
}

// Operations that wait for their turn, and not those given to the library.
inline constexpr size_t kMostWaitingOfUser = 8192;
// Whatever has waited longer for its turn is told kBusy: by then its client would have done it.
inline constexpr std::chrono::seconds kMostWait{2};

// What the library has at once, in operations of RSA-2048. It keeps a card busy for some
// batches, and is how much stands before whoever comes next.
inline constexpr size_t kWindow = 4096;
// Searches for new keys at once. Each has a thread. A user has no more than half of those that
// other users leave (work/turns.h): a search may take longer than kMostWait.
inline constexpr size_t kMostSearches = 16;

// Reports of the counters for a user other than root and the service's own: so many at once, and
// then one each such time. Further ones are refused.
inline constexpr size_t kReportsAtOnce = 20;
inline constexpr std::chrono::milliseconds kReportsEach{100};

// Connections that the kernel keeps until they are accepted, and that are accepted before the main
// thread looks at other things. Those of a user who connects over and over stand before all others
// there. What has no room waits in connect(), each thread by itself. (dist/systemd has the number
// too.)
inline constexpr int kMostUnaccepted = 128;

// Connections of a user: so many at once, and then one each such time. Further ones are refused.
inline constexpr size_t kConnectionsAtOnce = 4096;
inline constexpr std::chrono::microseconds kConnectionsEach{500};

// The main thread's work for control packets of a user: so many units at once, and then one each
// such time. A packet is one unit, and each channel that it opens is one more, which takes some 10
// microseconds. Packets beyond that wait. With the first figure a user can open all channels of all
// sessions that it may have.
inline constexpr size_t kControlAtOnce = 32768;
inline constexpr std::chrono::microseconds kControlEach{50};

// For how long at least a user is remembered who has no client any more, so that a user who comes
// again has no new place in the turns (work/turns.h).
inline constexpr std::chrono::seconds kUserRemembered{60};

// Lines of the log about clients that were turned away.
inline constexpr size_t kRefusalLinesAtOnce = 10;
inline constexpr std::chrono::seconds kRefusalLinesEach{60};

// A client that connects and says nothing is sent away.
inline constexpr std::chrono::seconds kHelloTime{5};

// Descriptors that no client gets: for the drivers, the library, and a moment's use.
inline constexpr size_t kOwnDescriptors = 512;

}  // namespace lanecrypt::service::daemon
