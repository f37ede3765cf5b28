// A pass of a benchmark over its data: the messages, and their cost.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/load/aead_seal.h"
#include "bench/load/data.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

double seconds_of(const std::function<void()> &run);
// Returns the CPU time of all threads of this process in seconds, in user and kernel mode.
double cpu_seconds();

// Contiguous data as the messages of a case: one message, or one for each stream. With GCM they
// have space for their tags. `data`, which has the key, must outlive this object.
struct Messages {
  Messages(const BenchCase &run, const BenchData &data, const uint8_t *in, uint8_t *out,
           uint64_t bytes);
  Messages(const Messages &) = delete;
  Messages &operator=(const Messages &) = delete;

  // Returns a job over host memory, for any device. It is valid while this object exists.
  lc_cipher_job job() const;

  const BenchCase run;
  std::vector<cli::Block> ivs;
  std::vector<Tag> tags;
  std::vector<lc_message> list;
};

}  // namespace lanecrypt::bench
