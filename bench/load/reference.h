// What OpenSSL computes from a benchmark's data. Outputs are compared with it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/load/pass.h"

namespace lanecrypt::bench {

class Reference {
 public:
  // Computes the reference by OpenSSL on the calling thread.
  Reference(const BenchCase &run, const BenchData &data, const uint8_t *in, uint64_t bytes);

  // Throws Failure (kFailed) if the output differs. Clears the output, so that the next run
  // cannot pass with stale results.
  void check(uint8_t *out, const std::string &name) const;
  // Does the same, and also compares the tags of GCM.
  void check(Messages &messages, uint8_t *out, const std::string &name) const;

 private:
  std::vector<uint8_t> expected_;
  Tag tag_{};
};

}  // namespace lanecrypt::bench
