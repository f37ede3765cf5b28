// What the measurements of the papers share: one AES case, run by OpenSSL and by a device on the
// same data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/load/data.h"
#include "bench/load/pass.h"
#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// The input of a paper's part, and the log for its results.
struct PaperBench {
  const Context &context;
  bool quick;
  std::string folder;  // for files
  BenchLog &log;

  // The devices to measure. The emulator's times mean nothing; small sizes show that each part
  // works on it.
  std::vector<uint32_t> devices() const;
  bool has_gpu() const;
};

// The function for each paper's letter, for `lanecrypt bench papers`. Compares every output with
// OpenSSL's. Throws Failure (kFailed) if one differs.
void paper_h(PaperBench &bench);
void paper_m(PaperBench &bench);
void paper_r(PaperBench &bench);
void paper_s(PaperBench &bench);
void paper_s_rsa(PaperBench &bench);  // the RSA part of S
void paper_w(PaperBench &bench);

// Sets an environment variable of the library while this object lives. Contexts that are opened
// during that time use it.
class ScopedSetting {
 public:
  ScopedSetting(const char *name, const std::string &value);
  ~ScopedSetting();
  ScopedSetting(const ScopedSetting &) = delete;
  ScopedSetting &operator=(const ScopedSetting &) = delete;

 private:
  const char *const name_;
  std::optional<std::string> before_;
};

// Input data in host memory, and memory for the output.
class PaperData {
 public:
  // If `pinned`, the memory can be accessed directly by the devices of the context.
  PaperData(const Context &context, uint64_t bytes, bool pinned);

  const BenchData &data() const { return data_; }
  const uint8_t *in() const { return in_; }
  uint8_t *out() { return out_; }

  // Returns the seconds of one pass over the first `bytes`, as one message or, if the case has
  // streams, as streams.
  double by_openssl(const BenchCase &run, uint64_t bytes);
  // Returns the seconds of one pass by a device, on the same memory. If `told` is not null, it
  // gets the job's result, such as kernel_ns.
  double by_device(const Context &context, uint32_t device, const BenchCase &run, uint64_t bytes,
                   lc_result *told = nullptr);
  // Throws if the output is not OpenSSL's. Clears the output.
  void check(const BenchCase &run, uint64_t bytes, const std::string &name);

 private:
  BenchData data_;
  std::vector<uint8_t> ordinary_;
  PinnedBuffer pinned_in_, pinned_out_;
  uint8_t *in_, *out_;
};

// Device memory, and passes over its first bytes as one message. It keeps a reference to `data`,
// which has the key.
class CardData {
 public:
  CardData(const Context &context, uint32_t device, const BenchData &data, uint64_t bytes);

  void fill_from(const uint8_t *in) const { in_.fill_from(in, bytes_); }
  void read_to(uint8_t *out, uint64_t bytes) const { out_.read_to(out, bytes); }

  // Returns the seconds of a call by the wall clock.
  double by_wall(const BenchCase &run, uint64_t bytes) const;
  // Returns the seconds of the kernels by the device's clock, or of the call if the device has no
  // clock.
  double by_kernel(const BenchCase &run, uint64_t bytes);
  // The clock that by_kernel() used, as BenchResult names it.
  const char *clock() const { return has_clock_ ? "device" : "wall"; }

 private:
  double pass(const BenchCase &run, uint64_t bytes, lc_result *told) const;

  const Context &context_;
  const uint32_t device_;
  const BenchData &data_;
  const uint64_t bytes_;
  const DeviceBuffer in_, out_;
  bool has_clock_ = true;
};

}  // namespace lanecrypt::bench
