// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "cli/failure.h"

namespace lanecrypt::bench {

std::vector<uint32_t> PaperBench::devices() const {
  std::vector<uint32_t> found;
  for (uint32_t index = 0; index < context.device_count(); index++)
    if (context.device(index).selected) found.push_back(index);
  return found;
}

bool PaperBench::has_gpu() const {
  const std::vector<uint32_t> all = devices();
  return std::any_of(all.begin(), all.end(),
                     [&](uint32_t index) { return context.device(index).is_gpu != 0; });
}

ScopedSetting::ScopedSetting(const char *name, const std::string &value) : name_(name) {
  if (const char *before = secure_getenv(name); before != nullptr) before_ = before;
  setenv(name, value.c_str(), 1);
}

ScopedSetting::~ScopedSetting() {
  if (before_)
    setenv(name_, before_->c_str(), 1);
  else
    unsetenv(name_);
}

PaperData::PaperData(const Context &context, uint64_t bytes, bool pinned) {
  if (pinned) {
    pinned_in_ = context.pinned(bytes);
    pinned_out_ = context.pinned(bytes);
    in_ = pinned_in_.data();
    out_ = pinned_out_.data();
  } else {
    ordinary_.resize(2 * bytes);
    in_ = ordinary_.data();
    out_ = in_ + bytes;
  }
  data_.fill(0, {in_, bytes});
}

double PaperData::by_openssl(const BenchCase &run, uint64_t bytes) {
  OpensslCipher openssl(run);
  const uint64_t step = run.stream_bytes != 0 ? run.stream_bytes : bytes;
  // A short pass is too short for the clock, so the time is the mean of many passes.
  const uint64_t repeats = std::max<uint64_t>(1, (1 << 18) / bytes);
  const double seconds = seconds_of([&] {
    for (uint64_t r = 0; r < repeats; r++)
      for (uint64_t done = 0; done < bytes; done += step) {
        openssl.begin(data_.key(), data_.iv(done / step));
        openssl.update(in_ + done, out_ + done, std::min(step, bytes - done));
      }
  });
  return seconds / static_cast<double>(repeats);
}

double PaperData::by_device(const Context &context, uint32_t device, const BenchCase &run,
                            uint64_t bytes, lc_result *told) {
  const Messages messages(run, data_, in_, out_, bytes);
  lc_cipher_job job = messages.job();
  job.device = device;
  job.has_device = 1;
  lc_result result{};
  const double seconds = seconds_of([&] { result = context.run(job); });
  if (result.device_bytes != bytes)
    throw cli::Failure(cli::ExitCode::kFailed,
                       fmt::format("{} of {} bytes were not done by the device",
                                   bytes - result.device_bytes, bytes));
  if (told != nullptr) *told = result;
  return seconds;
}

void PaperData::check(const BenchCase &run, uint64_t bytes, const std::string &name) {
  const bool is_one_chain =
      run.cipher.mode == LC_AES_CBC && run.direction == LC_ENCRYPT && run.stream_bytes == 0;
  const uint64_t slice = is_one_chain ? bytes : uint64_t{64} << 20;
  for (uint64_t done = 0; done < bytes; done += slice) {
    const uint64_t now = std::min(slice, bytes - done);
    if (!data_.matches(run, done, {out_ + done, now}))
      throw cli::Failure(cli::ExitCode::kFailed, name + ": the output is not OpenSSL's");
    // Clears the output, so that the next measurement cannot pass with stale results.
    std::memset(out_ + done, 0, now);
  }
}

CardData::CardData(const Context &context, uint32_t device, const BenchData &data, uint64_t bytes)
    : context_(context),
      device_(device),
      data_(data),
      bytes_(bytes),
      in_(context.on_device(device, bytes)),
      out_(context.on_device(device, bytes)) {}

double CardData::pass(const BenchCase &run, uint64_t bytes, lc_result *told) const {
  const Messages messages(run, data_, in_.address(), out_.address(), bytes);
  lc_cipher_job job = messages.job();
  job.memory = LC_MEMORY_DEVICE;
  job.device = device_;
  job.has_device = 1;
  return seconds_of([&] { *told = context_.run(job); });
}

double CardData::by_wall(const BenchCase &run, uint64_t bytes) const {
  lc_result told{};
  return pass(run, bytes, &told);
}

double CardData::by_kernel(const BenchCase &run, uint64_t bytes) {
  lc_result told{};
  const double seconds = pass(run, bytes, &told);
  has_clock_ &= told.kernel_ns != 0;
  return has_clock_ ? static_cast<double>(told.kernel_ns) / 1e9 : seconds;
}

}  // namespace lanecrypt::bench
