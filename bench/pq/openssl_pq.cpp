// SPDX-License-Identifier: Apache-2.0
#include "bench/pq/openssl_signer.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <memory>
#include <vector>

#include "bench/load/on_threads.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct FreePkey {
  void operator()(EVP_PKEY *key) const { EVP_PKEY_free(key); }
};
struct FreeHash {
  void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};

Spread rate_of(EVP_PKEY *key, unsigned cores, const Patience &patience) {
  constexpr std::chrono::milliseconds kSlice{300};
  std::atomic<uint64_t> done{0};
  return measure_rate(patience, 1, [&] {
    done = 0;
    const auto start = Clock::now();
    on_threads(cores, [&](unsigned) {
      const std::unique_ptr<EVP_MD_CTX, FreeHash> context(EVP_MD_CTX_new());
      std::vector<uint8_t> signature(size_t(EVP_PKEY_get_size(key)));
      const std::vector<uint8_t> text(32, 0x15);
      // A slow set takes longer than a slice for its first signature.
      do {
        size_t bytes = signature.size();
        // From 3.5 on a context makes one signature.
        if (!context ||
            EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, nullptr, "provider=default", key,
                                  nullptr) != 1 ||
            EVP_DigestSign(context.get(), signature.data(), &bytes, text.data(), text.size()) != 1)
          throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL does not sign");
        ++done;
      } while (Clock::now() - start < kSlice);
    });
    const std::chrono::duration<double> wall = Clock::now() - start;
    return wall.count() / static_cast<double>(done);
  });
}

}  // namespace

std::string row_name(const std::string &algorithm) {
  std::string name = algorithm;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return name;
}

void bench_openssl_signer(const std::string &algorithm, const Patience &patience, BenchLog &log) {
  const std::string name = row_name(algorithm) + ".sign.openssl", of_all = name + "-all-cores";
  if (!log.wants(name) && !log.wants(of_all)) return;
  const std::unique_ptr<EVP_PKEY, FreePkey> key(
      EVP_PKEY_Q_keygen(nullptr, "provider=default", algorithm.c_str()));
  if (!key) {
    log.note(fmt::format("this OpenSSL has no {}: it is not measured", algorithm));
    return;
  }
  const auto measure = [&](const std::string &row, unsigned cores) {
    if (!log.wants(row)) return;
    log.tell(row);
    log.add({row, "op/s", rate_of(key.get(), cores, patience), {}, {}, "wall", {}});
  };
  measure(name, 1);
  measure(of_all, cpu::usable_cores());
}

}  // namespace lanecrypt::bench
