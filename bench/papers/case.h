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

namespace lanecrypt::cli {

// What a paper's part is given, and where it puts what it finds.
struct PaperBench {
  const Context &context;
  bool quick;
  std::string folder;  // where files may be written
  BenchLog &log;

  // The devices to measure. The emulators are no measure of anything; a little of
  // each part shows there that it works.
  std::vector<uint32_t> devices() const;
  bool has_gpu() const;
};

// Each is what `lanecrypt bench papers` runs for the letter of its paper. Every
// output is compared with OpenSSL's; throws Failure (kFailed) where one differs.
void paper_h(PaperBench &bench);
void paper_m(PaperBench &bench);
void paper_r(PaperBench &bench);
void paper_s(PaperBench &bench);
void paper_s_rsa(PaperBench &bench);  // the part of S that is RSA
void paper_w(PaperBench &bench);

// An environment variable of the library's, for as long as it lives: contexts that are
// opened meanwhile go by it.
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

// Memory of a device, and passes over the first bytes of it, each one message. `data`
// has the key.
class CardData {
 public:
  CardData(const Context &context, uint32_t device, const BenchData &data, uint64_t bytes);

  void fill_from(const uint8_t *in) const { in_.fill_from(in, bytes_); }
  void read_to(uint8_t *out, uint64_t bytes) const { out_.read_to(out, bytes); }

  // Seconds of a call.
  double by_wall(const BenchCase &run, uint64_t bytes) const;
  // Seconds of its kernels by the device's clock, or of the call where it has none.
  double by_kernel(const BenchCase &run, uint64_t bytes);
  // By which of them, as BenchResult names it.
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

}  // namespace lanecrypt::cli
