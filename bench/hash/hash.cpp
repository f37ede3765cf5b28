// SPDX-License-Identifier: Apache-2.0
#include "bench/hash/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/hash/openssl_hash.h"
#include "bench/load/data.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;

struct HashCase {
  const char *name;  // in the rows' names
  lc_hash hash;
  const char *openssl;      // nullptr: OpenSSL does not support it
  uint64_t leaf_bytes = 0;  // lc_hash_job::leaf_bytes
  bool is_tree = false;     // many threads hash one message
  bool is_quick = false;
};

constexpr HashCase kCases[] = {
    {"sha-256", LC_SHA_256, "SHA2-256", 0, false, true},
    {"sha-512", LC_SHA_512, "SHA2-512"},
    {"sha3-256", LC_SHA3_256, "SHA3-256"},
    {"shake-128", LC_SHAKE_128, "SHAKE-128"},
    {"blake3", LC_BLAKE3, nullptr, 0, true, true},
    {"merkle-sha-256", LC_MERKLE_SHA_256, nullptr, 64 * kKiB, true},
    {"parallelhash-128", LC_PARALLEL_HASH_128, nullptr, 8 * kKiB, true},
};

// How the data are divided into messages, and the name of that in the rows.
struct Shape {
  uint64_t message_bytes, count;
  std::string name;
};

std::string size_text(uint64_t bytes) {
  if (bytes % kGiB == 0) return fmt::format("{}GiB", bytes / kGiB);
  if (bytes % kMiB == 0) return fmt::format("{}MiB", bytes / kMiB);
  return fmt::format("{}KiB", bytes / kKiB);
}

Shape messages_of(uint64_t message_bytes, uint64_t all) {
  const uint64_t count = all / message_bytes;
  return {message_bytes, count, fmt::format("messages-{}-x{}", size_text(message_bytes), count)};
}

std::vector<Shape> shapes_of(const HashCase &what, uint64_t bytes) {
  if (what.is_tree) return {{bytes, 1, size_text(bytes)}};
  std::vector<Shape> shapes{messages_of(4 * kKiB, std::min(bytes, kGiB))};
  if (bytes >= kGiB) shapes.push_back(messages_of(kMiB, bytes));
  return shapes;
}

// A hash job over contiguous messages that begin at `in`, and their digests.
class Digests {
 public:
  Digests(const HashCase &what, const Shape &shape, const uint8_t *in, lc_memory memory)
      : what_(what), memory_(memory), digests_(shape.count * kMostDigestBytes) {
    messages_.resize(shape.count);
    for (size_t n = 0; n < messages_.size(); ++n)
      messages_[n] = {in + n * shape.message_bytes, shape.message_bytes,
                      &digests_[n * kMostDigestBytes]};
  }
  lc_result run(const Context &context, uint32_t device) const {
    lc_hash_job job{};
    job.struct_size = sizeof job;
    job.hash = what_.hash;
    job.memory = memory_;
    job.device = device;
    job.has_device = 1;
    job.messages = messages_.data();
    job.message_count = messages_.size();
    job.message_size = sizeof messages_[0];
    job.leaf_bytes = what_.leaf_bytes;
    return context.run(job);
  }
  void clear() { std::fill(digests_.begin(), digests_.end(), 0); }
  size_t count() const { return messages_.size(); }
  bool operator==(const Digests &other) const { return digests_ == other.digests_; }

 private:
  static constexpr size_t kMostDigestBytes = 64;
  const HashCase &what_;
  const lc_memory memory_;
  std::vector<uint8_t> digests_;
  std::vector<lc_hash_message> messages_;
};

// Measures everything on one device.
class DeviceHashes {
 public:
  DeviceHashes(const Context &context, uint32_t device, bool quick, const Patience &patience,
               BenchLog &log)
      : context_(context),
        device_(device),
        info_(opened(context, device)),
        patience_(patience),
        log_(log) {
    // The emulator's times mean nothing. It only shows that the command works.
    bytes_ = info_.is_gpu ? (quick ? kGiB : 4 * kGiB) : 64 * kKiB;
    while (info_.is_gpu && bytes_ > kMiB && bytes_ > info_.memory_bytes / 4) bytes_ /= 2;
  }

  void measure(const HashCase &what, std::optional<double> openssl) {
    for (const Shape &shape : shapes_of(what, bytes_)) {
      const std::string on_card = fmt::format("{}.card-{}.{}", what.name, shape.name, info_.api),
                        pinned = fmt::format("{}.pinned-{}.{}", what.name, shape.name, info_.api);
      if (!log_.wants(on_card) && !log_.wants(pinned)) continue;
      make_data();
      const uint64_t all = shape.message_bytes * shape.count;
      Digests right(what, shape, host_.data(), LC_MEMORY_HOST);
      log_.tell(fmt::format("{}: by the CPU", what.name));
      right.run(context_, LC_CPU);
      const auto row = [&](const std::string &name, const uint8_t *in, lc_memory memory) {
        if (!log_.wants(name)) return;
        log_.tell(name);
        Digests digests(what, shape, in, memory);
        BenchResult result{name, "GB/s", {}, all, digests.count(), "wall", {}};
        result.spread = measure_rate(patience_, static_cast<double>(all) / 1e9, [&] {
          digests.clear();
          const auto start = Clock::now();
          const lc_result told = digests.run(context_, device_);
          const std::chrono::duration<double> took = Clock::now() - start;
          if (told.device_bytes != all)
            throw cli::Failure(cli::ExitCode::kFailed,
                               name + ": the device did not hash all of it");
          return took.count();
        });
        if (!(digests == right))
          throw cli::Failure(cli::ExitCode::kFailed, name + ": a digest is not the CPU's");
        if (openssl) result.over_openssl = result.spread.median / *openssl;
        log_.add(std::move(result));
      };
      log_.unless_unsupported([&] {
        row(on_card, card_.address(), LC_MEMORY_DEVICE);
        row(pinned, host_.data(), LC_MEMORY_HOST);
      });
    }
  }

 private:
  // The memory size of a device is known only after it is opened.
  static lc_device_info opened(const Context &context, uint32_t device) {
    context.on_device(device, kKiB);
    return context.device(device);
  }

  void make_data() {
    if (host_.size() == bytes_) return;
    log_.tell(fmt::format("{}: making {}", info_.id, size_text(bytes_)));
    host_ = context_.pinned(bytes_);
    BenchData().fill(0, {host_.data(), bytes_});
    card_ = context_.on_device(device_, bytes_);
    card_.fill_from(host_.data(), bytes_);
  }

  const Context &context_;
  const uint32_t device_;
  const lc_device_info info_;
  const Patience &patience_;
  BenchLog &log_;
  uint64_t bytes_;
  PinnedBuffer host_;
  DeviceBuffer card_;
};

}  // namespace

void bench_hash(const Context &context, bool quick, BenchLog &log) {
  const Patience patience = quick ? Patience{3, 1, 1} : Patience{9, 5, 6};
  std::vector<DeviceHashes> devices;
  for (uint32_t index = 0; index < context.device_count(); index++)
    if (context.device(index).selected) devices.emplace_back(context, index, quick, patience, log);
  for (const HashCase &what : kCases) {
    if (quick && !what.is_quick) continue;
    std::optional<double> openssl;
    if (what.openssl != nullptr)
      openssl = bench_openssl_hash(what.name, what.openssl, patience, log);
    for (DeviceHashes &device : devices) device.measure(what, openssl);
  }
}

}  // namespace lanecrypt::bench
