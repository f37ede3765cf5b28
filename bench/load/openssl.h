// OpenSSL's rates on one core and on all cores, for comparison with devices.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/load/data.h"
#include "bench/report/results.h"

namespace lanecrypt::bench {

// Runs all messages of a case over the data, one after the other on this thread. The first is
// stream `first`.
void openssl_pass(OpensslCipher &openssl, const BenchCase &run, const BenchData &data,
                  const uint8_t *in, uint8_t *out, uint64_t bytes, uint64_t first = 0);

// Runs all cores in parallel. Each has its share of the data: of the streams or, if the case is one
// message, as a separate message.
class OpensslCores {
 public:
  OpensslCores(const BenchCase &run, const BenchData &data, uint64_t bytes);

  // How much of the data one pass processes: equal shares.
  uint64_t bytes() const { return share_ * ciphers_.size(); }
  // Returns when all cores have done their share `times` times.
  void pass(const uint8_t *in, uint8_t *out, int times = 1);

 private:
  const BenchCase run_;
  const BenchData &data_;
  std::vector<OpensslCipher> ciphers_;  // one per core
  uint64_t share_;
};

// OpenSSL's rates of this run, by case and bytes.
class OpensslRates {
 public:
  // On `bytes` of data.
  OpensslRates(const Patience &patience, uint64_t bytes, const BenchData &data);

  BenchResult measure(const BenchCase &run, uint64_t bytes, const std::string &name);
  BenchResult measure_on_all_cores(const BenchCase &run, const std::string &name);

  void add(const BenchCase &run, uint64_t bytes, double rate) { rates_[run.name()][bytes] = rate; }
  // Returns the rate at the largest measured size that is not above `bytes`; if all are above, the
  // rate at the smallest one.
  std::optional<double> of(const BenchCase &run, uint64_t bytes) const;

 private:
  const Patience patience_;
  const BenchData &data_;
  std::vector<uint8_t> in_, out_;
  std::map<std::string, std::map<uint64_t, double>> rates_;
};

}  // namespace lanecrypt::bench
