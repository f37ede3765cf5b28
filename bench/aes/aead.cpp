// SPDX-License-Identifier: Apache-2.0
#include "bench/aes/aead.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>

#include "bench/load/aead_seal.h"
#include "bench/report/log.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kSliceBytes = 64 << 20;  // bytes of data generated or checked at a time
constexpr uint64_t kPacketBytes = 1500, kPacketStep = 1504;
constexpr uint64_t kStreamBytes = 16 << 10;  // bytes of a CCM message
constexpr uint64_t kMostPackets = 65536;

struct AeadCase {
  const char *name, *openssl;
  lc_cipher cipher;
  uint32_t key_bytes;
  // A chain is computed by one thread per message, so only many messages give a meaningful
  // figure.
  bool is_chain() const { return cipher == LC_AES_CCM; }
};
constexpr AeadCase kCases[] = {
    {"aes-128-gcm", "AES-128-GCM", LC_AES_GCM, 16},
    {"aes-256-gcm", "AES-256-GCM", LC_AES_GCM, 32},
    {"aes-128-ccm", "AES-128-CCM", LC_AES_CCM, 16},
    {"aes-256-ccm", "AES-256-CCM", LC_AES_CCM, 32},
    {"chacha20-poly1305", "ChaCha20-Poly1305", LC_CHACHA20_POLY1305, 32},
};

[[noreturn]] void fail(const std::string &text) {
  throw cli::Failure(cli::ExitCode::kFailed, text);
}

// Messages under one key, one after another in device memory.
struct Batch {
  Batch(const BenchData &data, const uint8_t *in, uint8_t *out, uint64_t message_bytes,
        uint64_t step, uint64_t count)
      : nonces(count), tags(count), list(count) {
    for (uint64_t n = 0; n < count; n++) {
      const cli::Block iv = data.iv(n);
      // BenchData::iv() puts the stream number in the upper half of the IV, so the first 12 bytes
      // differ.
      std::copy(iv.begin(), iv.begin() + 12, nonces[n].begin());
      list[n].key = data.key();
      list[n].iv = nonces[n].data();
      list[n].in = in + n * step;
      list[n].out = out + n * step;
      list[n].length = message_bytes;
      list[n].tag = tags[n].data();
    }
  }
  std::vector<Nonce> nonces;
  std::vector<Tag> tags;
  std::vector<lc_message> list;
};

class CardBench {
 public:
  CardBench(const Context &context, uint32_t index, const Patience &patience, const BenchData &data,
            uint64_t bytes)
      : context_(context),
        index_(index),
        patience_(patience),
        data_(data),
        bytes_(bytes),
        plain_(context.on_device(index, bytes)),
        cipher_(context.on_device(index, bytes)) {
    std::vector<uint8_t> slice(std::min(kSliceBytes, bytes));
    for (uint64_t done = 0; done < bytes; done += slice.size()) {
      data.fill(done, slice);
      plain_.fill_from(slice.data(), slice.size(), done);
    }
  }

  BenchResult whole(const AeadCase &run, lc_direction direction, const std::string &name) {
    const bool seals = direction == LC_ENCRYPT;
    // Decryption needs the tag that the encryption just before it has written.
    Batch batch(data_, plain_.address(), cipher_.address(), bytes_, bytes_, 1);
    if (!seals) {
      job(run, LC_ENCRYPT, batch);
      batch.list[0].in = cipher_.address();
      batch.list[0].out = plain_.address();
    }
    BenchResult result = measure(run, direction, batch, bytes_, name);
    check_whole(run, batch, name);
    return result;
  }

  // Encrypts messages of `message_bytes` that begin `step` bytes apart.
  BenchResult packets(const AeadCase &run, uint64_t message_bytes, uint64_t step,
                      const std::string &name) {
    const uint64_t count = std::min(kMostPackets, bytes_ / step);
    Batch batch(data_, plain_.address(), cipher_.address(), message_bytes, step, count);
    BenchResult result = measure(run, LC_ENCRYPT, batch, count * message_bytes, name);
    result.streams = count;
    std::vector<uint8_t> in(count * step / 16 * 16), out(in.size()), expected(message_bytes);
    data_.fill(0, in);
    cipher_.read_to(out.data(), out.size());
    for (uint64_t n = 0; n < count; n++) {
      Seal seal(run.openssl, data_.key(), batch.nonces[n], message_bytes);
      seal.update(in.data() + n * step, expected.data(), message_bytes);
      if (std::memcmp(expected.data(), out.data() + n * step, message_bytes) != 0 ||
          seal.finish() != batch.tags[n])
        fail(fmt::format("{}: packet {} is not OpenSSL's", name, n));
    }
    return result;
  }

 private:
  double job(const AeadCase &run, lc_direction direction, const Batch &batch) const {
    lc_cipher_job job =
        cipher_job(run.cipher, direction, run.key_bytes, batch.list.data(), batch.list.size());
    job.memory = LC_MEMORY_DEVICE;
    job.device = index_;
    job.has_device = 1;
    const auto start = std::chrono::steady_clock::now();
    const lc_result told = context_.run(job);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    return told.kernel_ns != 0 ? static_cast<double>(told.kernel_ns) / 1e9 : wall.count();
  }

  BenchResult measure(const AeadCase &run, lc_direction direction, const Batch &batch,
                      uint64_t bytes, const std::string &name) {
    BenchResult result{name, "GB/s", {}, bytes, {}, "device", {}};
    result.spread = measure_rate(patience_, static_cast<double>(bytes) / 1e9,
                                 [&] { return job(run, direction, batch); });
    return result;
  }

  // Compares the plaintext, the ciphertext and the tag with OpenSSL's.
  void check_whole(const AeadCase &run, const Batch &batch, const std::string &name) const {
    Seal seal(run.openssl, data_.key(), batch.nonces[0], bytes_);
    const PinnedBuffer out = context_.pinned(kSliceBytes);
    std::vector<uint8_t> in, expected;
    for (uint64_t done = 0; done < bytes_; done += in.size()) {
      const uint64_t now = std::min(kSliceBytes, bytes_ - done);
      for (auto *bytes : {&in, &expected}) bytes->resize(now);
      data_.fill(done, in);
      plain_.read_to(out.data(), now, done);
      if (std::memcmp(in.data(), out.data(), now) != 0)
        fail(fmt::format("{}: the plaintext is not what it was", name));
      cipher_.read_to(out.data(), now, done);
      seal.update(in.data(), expected.data(), now);
      if (std::memcmp(expected.data(), out.data(), now) != 0)
        fail(fmt::format("{}: the ciphertext is not OpenSSL's", name));
    }
    if (seal.finish() != batch.tags[0]) fail(fmt::format("{}: the tag is not OpenSSL's", name));
  }

  const Context &context_;
  const uint32_t index_;
  const Patience patience_;
  const BenchData &data_;
  const uint64_t bytes_;
  DeviceBuffer plain_, cipher_;
};

}  // namespace

void bench_aead(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                const Patience &patience, const BenchData &data, BenchLog &log) {
  std::optional<CardBench> made;
  const auto measure = [&](const std::string &name, const auto &how) {
    if (!log.wants(name)) return;
    log.tell(name);
    if (!made) made.emplace(context, index, patience, data, bytes);
    log.unless_unsupported([&] { log.add(how(name)); });
  };
  for (const AeadCase &run : kCases) {
    const std::string name = run.name, card = ".card." + where;
    const auto whole = [&](lc_direction direction) {
      return [&, direction](const std::string &full) { return made->whole(run, direction, full); };
    };
    if (!run.is_chain()) {
      measure(name + card, whole(LC_ENCRYPT));
      measure(name + "-decrypt" + card, whole(LC_DECRYPT));
    }
    measure(name + ".card-packets." + where, [&](const std::string &full) {
      return made->packets(run, kPacketBytes, kPacketStep, full);
    });
    if (run.is_chain())
      measure(name + ".card-streams." + where, [&](const std::string &full) {
        return made->packets(run, kStreamBytes, kStreamBytes, full);
      });
  }
}

void bench_hashing(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                   const Patience &patience, const BenchData &data, BenchLog &log) {
  std::optional<CardBench> bench;
  for (const AeadCase &run : kCases) {
    const std::string name = std::string(run.name) + "." + where;
    if (run.is_chain() || !log.wants(name)) continue;
    log.tell(name);
    if (!bench) bench.emplace(context, index, patience, data, bytes);
    log.unless_unsupported([&] { log.add(bench->whole(run, LC_ENCRYPT, name)); });
  }
}

}  // namespace lanecrypt::bench
