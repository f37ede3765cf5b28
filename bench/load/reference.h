// OpenSSL's output for a benchmark's data, with which outputs are compared.
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
  // Computes the output with OpenSSL on this thread.
  Reference(const BenchCase &run, const BenchData &data, const uint8_t *in, uint64_t bytes);

  // Throws Failure (kFailed) if the output differs. Then clears it, so that the next run cannot
  // pass with stale data.
  void check(uint8_t *out, const std::string &name) const;
  // Also checks the tags for GCM.
  void check(Messages &messages, uint8_t *out, const std::string &name) const;

 private:
  std::vector<uint8_t> expected_;
  Tag tag_{};
};

}  // namespace lanecrypt::bench
