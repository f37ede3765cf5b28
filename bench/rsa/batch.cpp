// SPDX-License-Identifier: Apache-2.0
#include "bench/rsa/batch.h"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "bench/load/on_threads.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

using Clock = std::chrono::steady_clock;
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;

[[noreturn]] void fail(const std::string &text) {
  throw cli::Failure(cli::ExitCode::kFailed, text);
}

}  // namespace

BenchRsaKey::BenchRsaKey(unsigned bits)
    : pkey_(EVP_PKEY_Q_keygen(nullptr, "provider=default", "RSA", size_t{bits})) {
  if (!pkey_) fail("OpenSSL made no RSA key");
  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  const struct {
    const char *name;
    lc_number lc_rsa_parts::*part;
  } numbers[] = {{OSSL_PKEY_PARAM_RSA_N, &lc_rsa_parts::n},
                 {OSSL_PKEY_PARAM_RSA_E, &lc_rsa_parts::e},
                 {OSSL_PKEY_PARAM_RSA_FACTOR1, &lc_rsa_parts::p},
                 {OSSL_PKEY_PARAM_RSA_FACTOR2, &lc_rsa_parts::q},
                 {OSSL_PKEY_PARAM_RSA_EXPONENT1, &lc_rsa_parts::dp},
                 {OSSL_PKEY_PARAM_RSA_EXPONENT2, &lc_rsa_parts::dq},
                 {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, &lc_rsa_parts::qinv}};
  std::vector<std::vector<uint8_t>> bytes;
  for (const auto &number : numbers) {
    BIGNUM *value = nullptr;
    if (EVP_PKEY_get_bn_param(pkey_.get(), number.name, &value) != 1)
      fail("OpenSSL gives no numbers of its key");
    bytes.emplace_back(BN_num_bytes(value));
    BN_bn2bin(value, bytes.back().data());
    BN_clear_free(value);
    parts.*number.part = {bytes.back().data(), bytes.back().size()};
  }
  key_ = RsaKey(parts);
}

void BenchRsaKey::run_openssl(bool is_private,
                              const std::function<bool(const uint8_t **, uint8_t **)> &more) const {
  const PkeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, pkey_.get(), "provider=default"),
                            EVP_PKEY_CTX_free);
  if (!context ||
      (is_private ? EVP_PKEY_decrypt_init(context.get()) : EVP_PKEY_encrypt_init(context.get())) !=
          1 ||
      EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_NO_PADDING) != 1)
    return;
  const uint8_t *in = nullptr;
  uint8_t *out = nullptr;
  while (more(&in, &out)) {
    size_t written = bytes();
    if ((is_private ? EVP_PKEY_decrypt(context.get(), out, &written, in, bytes())
                    : EVP_PKEY_encrypt(context.get(), out, &written, in, bytes())) != 1)
      return;
  }
}

RsaBatch::RsaBatch(const BenchRsaKey &key, size_t count)
    : key_(key), in_(count * key.bytes()), out_(in_.size()), messages_(count) {
  for (size_t at = 0; at < in_.size(); at += size_t{1} << 20)
    if (RAND_bytes(in_.data() + at, static_cast<int>(std::min(in_.size() - at, size_t{1} << 20))) !=
        1)
      fail("OpenSSL gives no random bytes");
  for (size_t n = 0; n < count; n++) {
    in_[n * key.bytes()] &= 0x3f;  // less than any modulus of this length
    messages_[n] = {key.get(), &in_[n * key.bytes()], &out_[n * key.bytes()]};
  }
}

double RsaBatch::run(const Context &context, uint32_t device, lc_rsa_operation operation) const {
  lc_rsa_job job = rsa_job(operation, messages_.data(), messages_.size());
  job.device = device;
  job.has_device = 1;
  const auto start = Clock::now();
  const lc_result told = context.run(job);
  const std::chrono::duration<double> wall = Clock::now() - start;
  if (told.device_operations != count())
    fail(fmt::format("{} of {} operations of RSA were not done by the device",
                     count() - told.device_operations, count()));
  return wall.count();
}

void RsaBatch::check(lc_rsa_operation operation, const std::string &name) const {
  std::atomic<size_t> next{0}, wrong{0};
  on_threads(cpu::usable_cores(), [&](unsigned) {
    std::vector<uint8_t> result(key_.bytes());
    size_t now = count();
    const bool is_private = operation == LC_RSA_PRIVATE;
    const auto look = [&] {
      const auto *expected =
          static_cast<const uint8_t *>(is_private ? messages_[now].in : messages_[now].out);
      wrong += std::equal(result.begin(), result.end(), expected) ? 0 : 1;
    };
    key_.run_openssl(false, [&](const uint8_t **in, uint8_t **out) {
      if (now < count()) look();
      now = next++;
      if (now >= count()) return false;
      *in = static_cast<const uint8_t *>(is_private ? messages_[now].out : messages_[now].in);
      *out = result.data();
      return true;
    });
  });
  if (next < count() || wrong > 0)
    fail(fmt::format("{}: {} results are not OpenSSL's", name, wrong.load()));
}

Spread openssl_rsa_rate(const BenchRsaKey &key, unsigned cores, const Patience &patience) {
  constexpr std::chrono::milliseconds kSlice{300};
  std::vector<std::vector<uint8_t>> in(cores, std::vector<uint8_t>(key.bytes(), 0x15)), out = in;
  std::atomic<uint64_t> done{0};
  return measure_rate(patience, 1, [&] {
    done = 0;
    const auto start = Clock::now();
    on_threads(cores, [&](unsigned core) {
      key.run_openssl(true, [&](const uint8_t **from, uint8_t **to) {
        if (Clock::now() - start > kSlice) return false;
        ++done;
        *from = in[core].data();
        *to = out[core].data();
        return true;
      });
    });
    const std::chrono::duration<double> wall = Clock::now() - start;
    return wall.count() / static_cast<double>(std::max<uint64_t>(done, 1));
  });
}

}  // namespace lanecrypt::bench
