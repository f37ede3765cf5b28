// What OpenSSL makes of a benchmark's data, beside which outputs are held.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/load/pass.h"

namespace lanecrypt::cli {

class Reference {
 public:
  // By OpenSSL, on this thread.
  Reference(const BenchCase &run, const BenchData &data, const uint8_t *in, uint64_t bytes);

  // Throws Failure (kFailed) where the output differs. Wipes it: the next run must not
  // pass by what lies there.
  void check(uint8_t *out, const std::string &name) const;
  // And their tags, of GCM.
  void check(Messages &messages, uint8_t *out, const std::string &name) const;

 private:
  std::vector<uint8_t> expected_;
  Tag tag_{};
};

}  // namespace lanecrypt::cli
