// `lanecrypt bench pq`, through EVP: the provider on each device makes one SLH-DSA signature
// after another.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/evp.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench/load/provider_library.h"
#include "bench/pq/pq.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr char kOurs[] = "provider=gpu", kOwn[] = "provider=default";
constexpr char kText[] = "What is signed, of 32 bytes here";
constexpr size_t kTextBytes = sizeof kText - 1;

struct FreeKey {
  void operator()(EVP_PKEY *key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
using EvpContext = std::unique_ptr<EVP_MD_CTX, FreeContext>;

// Signs and verifies as a program with this key does.
class EvpSigner {
 public:
  EvpSigner(OSSL_LIB_CTX *library, EVP_PKEY *key)
      : library_(library), key_(key), signature_bytes_(size_t(EVP_PKEY_get_size(key))) {}

  // Returns the seconds that EVP_DigestSign() took.
  double sign() {
    const EvpContext context(EVP_MD_CTX_new());
    Bytes signature(signature_bytes_);
    size_t bytes = signature.size();
    if (EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, library_, kOurs, key_, nullptr) != 1)
      fail("begins no signature");
    const auto begin = Clock::now();
    const int done = EVP_DigestSign(context.get(), signature.data(), &bytes,
                                    reinterpret_cast<const uint8_t *>(kText), kTextBytes);
    const std::chrono::duration<double> took = Clock::now() - begin;
    if (done != 1 || bytes != signature.size()) fail("does not sign");
    signatures_.push_back(std::move(signature));
    return took.count();
  }
  // Verifies all signatures that sign() has made.
  void verify() const {
    for (const Bytes &signature : signatures_) {
      const EvpContext context(EVP_MD_CTX_new());
      if (EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr, library_, kOwn, key_, nullptr) !=
              1 ||
          EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                           reinterpret_cast<const uint8_t *>(kText), kTextBytes) != 1)
        fail("has made a signature that OpenSSL refuses");
    }
  }
  size_t count() const { return signatures_.size(); }

 private:
  [[noreturn]] static void fail(const char *what) {
    throw cli::Failure(cli::ExitCode::kFailed, fmt::format("the provider {}", what));
  }

  OSSL_LIB_CTX *const library_;
  EVP_PKEY *const key_;
  const size_t signature_bytes_;
  std::vector<Bytes> signatures_;
};

// Returns false if the OpenSSL in use does not support such a key.
bool measure(const ProviderLibrary &provider, const char *set, const std::string &row,
             const Patience &patience, BenchLog &log) {
  constexpr char kDone[] = "lanecrypt.slh-dsa-device-jobs";
  const Key key(EVP_PKEY_Q_keygen(provider.get(), kOurs, set));
  if (!key) return false;
  log.tell(row);
  EvpSigner signer(provider.get(), key.get());
  const uint64_t before = provider.counter(kDone);
  BenchResult result{row, "s", {}, {}, 1, "wall", {}};
  result.spread = measure_seconds(patience, [&] { return signer.sign(); });
  if (provider.counter(kDone) - before != signer.count())
    throw cli::Failure(cli::ExitCode::kFailed, "the device has not made all signatures");
  signer.verify();
  log.add(std::move(result));
  return true;
}

}  // namespace

void bench_slh_dsa_evp(const Context &context, const std::string &module, bool quick,
                       BenchLog &log) {
  std::unique_ptr<ProviderLibrary> provider;
  for (uint32_t index = 0; index < context.device_count(); ++index, provider.reset()) {
    const lc_device_info info = context.device(index);
    if (!info.selected) continue;
    const Patience patience = info.is_gpu ? Patience{quick ? 20u : 200u, 3, 4} : Patience{2, 1, 1};
    for (uint32_t set = 0; set < LC_SLH_DSA_SHA2_128_24; ++set) {
      const char *const name = lc_slh_dsa_name(lc_slh_dsa_set(set));
      if (name == nullptr) continue;
      if (set != LC_SLH_DSA_SHA2_128F && (!info.is_gpu || (quick && set != LC_SLH_DSA_SHA2_128S)))
        continue;
      const std::string row = fmt::format("{}.evp-sign-one.{}", row_name(name), info.api);
      if (!log.wants(row)) continue;
      if (module.empty()) return log.note(kNoProvider);
      if (!provider)
        provider = std::make_unique<ProviderLibrary>(module, info.id, "slh_dsa = always");
      if (!measure(*provider, name, row, patience, log))
        return log.note("this OpenSSL has no SLH-DSA for the provider: it is not measured");
    }
  }
}

}  // namespace lanecrypt::bench
