// SPDX-License-Identifier: Apache-2.0
#include "bench/hash/openssl_hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/load/on_threads.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMessageBytes = 1 << 20;
constexpr std::chrono::milliseconds kSlice{200};

struct FreeDigest {
  void operator()(EVP_MD *digest) const { EVP_MD_free(digest); }
};

struct FreeContext {
  void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};

// SHAKE needs an explicit output length: from 3.4 on, OpenSSL computes no SHAKE digest without
// one.
bool hash_once(EVP_MD_CTX *context, const EVP_MD *digest, const std::vector<uint8_t> &message) {
  uint8_t out[EVP_MAX_MD_SIZE];
  constexpr size_t kShakeBytes = 32;
  if (context == nullptr || EVP_DigestInit_ex2(context, digest, nullptr) != 1 ||
      EVP_DigestUpdate(context, message.data(), message.size()) != 1)
    return false;
  if ((EVP_MD_get_flags(digest) & EVP_MD_FLAG_XOF) != 0)
    return EVP_DigestFinalXOF(context, out, kShakeBytes) == 1;
  return EVP_DigestFinal_ex(context, out, nullptr) == 1;
}

Spread rate_of(const EVP_MD *digest, unsigned cores, const Patience &patience) {
  std::atomic<uint64_t> messages{0};
  return measure_rate(patience, kMessageBytes / 1e9, [&] {
    messages = 0;
    const auto start = Clock::now();
    on_threads(cores, [&](unsigned) {
      const std::vector<uint8_t> message(kMessageBytes, 0x15);
      const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
      do {
        if (!hash_once(context.get(), digest, message))
          throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL does not hash");
        ++messages;
      } while (Clock::now() - start < kSlice);
    });
    const std::chrono::duration<double> wall = Clock::now() - start;
    return wall.count() / static_cast<double>(messages);
  });
}

}  // namespace

std::optional<double> bench_openssl_hash(const std::string &name, const std::string &digest,
                                         const Patience &patience, BenchLog &log) {
  const std::string of_one = name + ".openssl", of_all = of_one + "-all-cores";
  if (!log.wants(of_one) && !log.wants(of_all)) return {};
  const std::unique_ptr<EVP_MD, FreeDigest> fetched(
      EVP_MD_fetch(nullptr, digest.c_str(), "provider=default"));
  if (!fetched) throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL has no " + digest);
  const auto measure = [&](const std::string &row, unsigned cores) -> std::optional<double> {
    if (!log.wants(row)) return {};
    log.tell(row);
    const Spread rate = rate_of(fetched.get(), cores, patience);
    log.add({row, "GB/s", rate, {}, {}, "wall", {}});
    return rate.median;
  };
  const std::optional<double> one = measure(of_one, 1);
  measure(of_all, cpu::usable_cores());
  return one;
}

}  // namespace lanecrypt::bench
