// OpenSSL's rates on one core and on all, to compare devices with.
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

// Runs all messages of a case over the data, one after another on the calling thread. `first` is
// the number of the first stream.
void openssl_pass(OpensslCipher &openssl, const BenchCase &run, const BenchData &data,
                  const uint8_t *in, uint8_t *out, uint64_t bytes, uint64_t first = 0);

// Runs OpenSSL on all cores at once. Each core gets an equal share of the data: a share of the
// streams or, if the case is one message, a message of its own.
class OpensslCores {
 public:
  OpensslCores(const BenchCase &run, const BenchData &data, uint64_t bytes);

  // The bytes of one pass. It is less than the data if they do not divide into equal shares.
  uint64_t bytes() const { return share_ * ciphers_.size(); }
  // Runs `times` passes on each core. Returns when all cores are done.
  void pass(const uint8_t *in, uint8_t *out, int times = 1);

 private:
  const BenchCase run_;
  const BenchData &data_;
  std::vector<OpensslCipher> ciphers_;  // one per core
  uint64_t share_;
};

// The rates that OpenSSL reached in this run, by case and bytes.
class OpensslRates {
 public:
  // `bytes` is the most that measure() can be called with.
  OpensslRates(const Patience &patience, uint64_t bytes, const BenchData &data);

  BenchResult measure(const BenchCase &run, uint64_t bytes, const std::string &name);
  BenchResult measure_on_all_cores(const BenchCase &run, const std::string &name);

  void add(const BenchCase &run, uint64_t bytes, double rate) { rates_[run.name()][bytes] = rate; }
  // The rate at the largest measured size not above `bytes`, or at the smallest if all are above.
  std::optional<double> of(const BenchCase &run, uint64_t bytes) const;

 private:
  const Patience patience_;
  const BenchData &data_;
  std::vector<uint8_t> in_, out_;
  std::map<std::string, std::map<uint64_t, double>> rates_;
};

}  // namespace lanecrypt::bench
