// What the measurements of the papers share: one case of AES by OpenSSL and by a
// device, on the same data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench_data.h"
#include "bench_results.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// What a paper's part is given, and where it puts what it finds.
struct PaperBench {
  const Context &context;
  bool quick;
  std::function<void(const std::string &)> tell;
  std::vector<BenchResult> results;

  // The devices to measure. The emulators are no measure of anything; a little of
  // each part shows there that it works.
  std::vector<uint32_t> devices() const;
  void add(BenchResult result) { results.push_back(std::move(result)); }
};

// Each is what `lanecrypt bench papers` runs for the letter of its paper. Every
// output is compared with OpenSSL's; throws Failure (kFailed) where one differs.
void paper_m(PaperBench &bench);
void paper_s(PaperBench &bench);
void paper_s_rsa(PaperBench &bench);  // the part of S that is RSA
void paper_w(PaperBench &bench);

double seconds_of(const std::function<void()> &run);
// CPU seconds of this process, all threads, in the kernel and outside.
double cpu_seconds();
// The spread of the seconds that `run` returns.
Spread measure_seconds(const Patience &patience, const std::function<double()> &run);

// Data in host memory and what becomes of them.
class PaperData {
 public:
  // `pinned`: in memory that the devices of the context read by themselves.
  PaperData(const Context &context, uint64_t bytes, bool pinned);

  const BenchData &data() const { return data_; }
  const uint8_t *in() const { return in_; }
  uint8_t *out() { return out_; }

  // Seconds of one pass over the first bytes: a message, or streams where the case
  // has them.
  double by_openssl(const BenchCase &run, uint64_t bytes);
  // Where the data are; kernel_ns and the like of lc_result in *told.
  double by_device(const Context &context, uint32_t device, const BenchCase &run, uint64_t bytes,
                   lc_result *told = nullptr);
  // Throws where the output is not OpenSSL's.
  void check(const BenchCase &run, uint64_t bytes, const std::string &name);

 private:
  BenchData data_;
  std::vector<uint8_t> ordinary_;
  PinnedBuffer pinned_in_, pinned_out_;
  uint8_t *in_, *out_;
};

// The messages of a pass over data that lie in one piece.
std::vector<lc_message> messages_of(const BenchCase &run, const BenchData &data, const uint8_t *in,
                                    uint8_t *out, uint64_t bytes, std::vector<Block> *ivs);

}  // namespace lanecrypt::cli
