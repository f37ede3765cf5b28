// One pass of a benchmark over its data: the messages, and what a pass costs.
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
// CPU seconds of all threads of this process, in user mode and in the kernel.
double cpu_seconds();

// Contiguous data as the messages of a case: one message, or one for each stream. For GCM it also
// has memory for the tags. It keeps a reference to the key in `data`, which must outlive it.
struct Messages {
  Messages(const BenchCase &run, const BenchData &data, const uint8_t *in, uint8_t *out,
           uint64_t bytes);
  Messages(const Messages &) = delete;
  Messages &operator=(const Messages &) = delete;

  // A job over host memory, without a device set. Valid while this object lives.
  lc_cipher_job job() const;

  const BenchCase run;
  std::vector<cli::Block> ivs;
  std::vector<Tag> tags;
  std::vector<lc_message> list;
};

}  // namespace lanecrypt::bench
