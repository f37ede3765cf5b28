// Random bytes. All come from OpenSSL or from a function of the caller's, at once or as a seed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "job/random_source.h"
#include "job/status.h"
#include "secure/wiped_bytes.h"

namespace lanecrypt::cpu {

// Fills `to` with secret random bytes from OpenSSL's private random generator. Thread-safe.
Status random_bytes(void *to, size_t bytes);
// The same from `source`, on the calling thread.
Status random_bytes_from(const RandomSource &source, void *to, size_t bytes);

// Random bytes made of seeds by SHAKE256, for threads on which the seeds' source must not be
// called. Each call replaces the state, so what was given out before cannot be computed from it.
// One thread at a time.
class SeededRandom {
 public:
  static constexpr size_t kSeedBytes = 32;
  // seeds: kSeedBytes from each source.
  explicit SeededRandom(std::span<const uint8_t> seeds) : state_(seeds.begin(), seeds.end()) {}
  Status fill(void *to, size_t bytes);

 private:
  secure::WipedBytes state_;
};

}  // namespace lanecrypt::cpu
