// What the measurements of the papers share: one case of AES by OpenSSL and by a
// device, on the same data.
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

// What a paper's part gets, and where it puts its results.
struct PaperBench {
  const Context &context;
  bool quick;
  std::string folder;  // where files may be written
  BenchLog &log;

  // The devices to measure. The emulators measure nothing; a little of each part shows
  // that it works there.
  std::vector<uint32_t> devices() const;
  bool has_gpu() const;
};

// `lanecrypt bench papers` runs one of these for the letter of its paper. Every output is
// compared with OpenSSL's. Throws Failure (kFailed) if one differs.
void paper_h(PaperBench &bench);
void paper_m(PaperBench &bench);
void paper_r(PaperBench &bench);
void paper_s(PaperBench &bench);
void paper_s_rsa(PaperBench &bench);  // the part of S that is RSA
void paper_w(PaperBench &bench);

// Sets an environment variable of the library's while it lives. Contexts that are opened
// meanwhile go by it.
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

// Data in host memory, and the output for them.
class PaperData {
 public:
  // `pinned`: in memory that the devices of the context can access themselves.
  PaperData(const Context &context, uint64_t bytes, bool pinned);

  const BenchData &data() const { return data_; }
  const uint8_t *in() const { return in_; }
  uint8_t *out() { return out_; }

  // Seconds of one pass over the first bytes, as one message or, if the case has them, as
  // streams.
  double by_openssl(const BenchCase &run, uint64_t bytes);
  // The data are used where they lie. *told gets kernel_ns and the like of lc_result.
  double by_device(const Context &context, uint32_t device, const BenchCase &run, uint64_t bytes,
                   lc_result *told = nullptr);
  // Throws if the output is not OpenSSL's.
  void check(const BenchCase &run, uint64_t bytes, const std::string &name);

 private:
  BenchData data_;
  std::vector<uint8_t> ordinary_;
  PinnedBuffer pinned_in_, pinned_out_;
  uint8_t *in_, *out_;
};

// Memory of a device, and passes over its first bytes, each as one message. `data` has
// the key.
class CardData {
 public:
  CardData(const Context &context, uint32_t device, const BenchData &data, uint64_t bytes);

  void fill_from(const uint8_t *in) const { in_.fill_from(in, bytes_); }
  void read_to(uint8_t *out, uint64_t bytes) const { out_.read_to(out, bytes); }

  // Seconds of a call.
  double by_wall(const BenchCase &run, uint64_t bytes) const;
  // Seconds of its kernels by the device's clock, or of the call if the device has no
  // clock.
  double by_kernel(const BenchCase &run, uint64_t bytes);
  // Which of the two it was, as BenchResult names it.
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
