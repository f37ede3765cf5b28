// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "cli/console.h"
#include "cli/threads.h"

namespace lanecrypt::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{150};

}  // namespace

std::string format_amount(uint64_t done_bytes, std::optional<uint64_t> total_bytes) {
  static constexpr const char *kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double scale = 1;
  size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) &&
         std::max(done_bytes, total_bytes.value_or(0)) / scale >= 1000;
       unit++)
    scale *= 1000;
  const int digits = unit == 0 ? 0 : 2;
  const auto number = [&](uint64_t bytes) {
    return fmt::format("{:.{}f}", static_cast<double>(bytes) / scale, digits);
  };
  if (!total_bytes) return fmt::format("{} {}", number(done_bytes), kUnits[unit]);
  return fmt::format("{} of {} {}", number(done_bytes), number(*total_bytes), kUnits[unit]);
}

std::string format_duration(double seconds) {
  const auto whole = static_cast<uint64_t>(std::max(0.0, std::round(seconds)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

void Progress::set_device(std::string name) {
  const std::lock_guard lock(mutex_);
  device_ = std::move(name);
}

std::string Progress::device() const {
  const std::lock_guard lock(mutex_);
  return device_;
}

ProgressLine::ProgressLine(const Progress &progress, std::optional<uint64_t> total_bytes,
                           bool wanted)
    : progress_(progress), total_bytes_(total_bytes) {
  if (!wanted || !isatty(STDERR_FILENO)) return;
  drawer_ = start_thread([this] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kRedraw, [&] { return end_; })) {
      try {
        draw();
      } catch (const std::bad_alloc &) {  // a later line may succeed
      }
    }
  });
}

ProgressLine::~ProgressLine() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  drawer_.join();
  say("\r\033[K");
}

void ProgressLine::draw() const {
  const uint64_t done = progress_.done_bytes();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string line = fmt::format("{}  {:.2f} GB/s", format_amount(done, total_bytes_), rate / 1e9);
  if (total_bytes_ && rate > 0)
    line += fmt::format(
        "  {} left",
        format_duration(static_cast<double>(*total_bytes_ - std::min(done, *total_bytes_)) / rate));
  line += "  " + progress_.device();
  struct winsize window {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
    line.resize(std::min<size_t>(line.size(), window.ws_col - 1u));
  say(fmt::format("\r{}\033[K", line));
}

}  // namespace lanecrypt::cli
