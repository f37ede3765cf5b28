// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "bench/pq/pq.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;

constexpr lc_ml_dsa_set kSets[] = {LC_ML_DSA_44, LC_ML_DSA_65, LC_ML_DSA_87};
// Callers of a batch: each hashes its messages while the device works for others.
constexpr unsigned kCallers = 4;

[[noreturn]] void fail(const std::string &text) { throw Failure(ExitCode::kFailed, text); }

void on_threads(unsigned count, const std::function<void(unsigned)> &work) {
  std::vector<std::thread> threads;
  std::exception_ptr failure;
  std::atomic<bool> has_failed{false};
  const auto run = [&](unsigned n) {
    try {
      work(n);
    } catch (...) {
      if (!has_failed.exchange(true)) failure = std::current_exception();
    }
  };
  for (unsigned n = 1; n < count; n++) threads.emplace_back(run, n);
  run(0);
  for (std::thread &thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

MlDsaKey key_of(lc_ml_dsa_set set) {
  const Bytes seed(lc_ml_dsa_bytes(set, LC_ML_DSA_SEED), 7);
  lc_ml_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = set;
  parts.seed = seed.data();
  return MlDsaKey(parts);
}

// The operations of one caller, on messages of 32 bytes.
class Caller {
 public:
  Caller(const Context &context, uint32_t device, lc_ml_dsa_set set, const MlDsaKey &key,
         size_t count)
      : context_(context),
        device_(device),
        set_(set),
        signatures_(count * lc_ml_dsa_bytes(set, LC_ML_DSA_SIGNATURE)),
        public_keys_(count * lc_ml_dsa_bytes(set, LC_ML_DSA_PUBLIC_KEY)),
        private_keys_(count * lc_ml_dsa_bytes(set, LC_ML_DSA_PRIVATE_KEY)),
        text_(32 * count, 0x15),
        verdicts_(count),
        messages_(count) {
    const size_t bytes = signatures_.size() / count;
    for (size_t n = 0; n < count; n++) {
      text_[32 * n] = uint8_t(n);
      messages_[n].key = key.get();
      messages_[n].message = &text_[32 * n];
      messages_[n].message_bytes = 32;
      messages_[n].signature = &signatures_[n * bytes];
      messages_[n].signature_bytes = bytes;
    }
  }
  void run(lc_ml_dsa_operation operation) {
    std::vector<lc_ml_dsa_message> messages = messages_;
    if (operation == LC_ML_DSA_GENERATE)
      for (size_t n = 0; n < messages.size(); n++) {
        messages[n] = {};
        messages[n].public_key = &public_keys_[n * (public_keys_.size() / messages.size())];
        messages[n].private_key = &private_keys_[n * (private_keys_.size() / messages.size())];
      }
    lc_ml_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = operation;
    job.encoding = LC_MESSAGE_PURE;
    job.set = set_;
    job.device = device_;
    job.messages = messages.data();
    job.message_count = messages.size();
    job.message_size = sizeof messages[0];
    if (operation == LC_ML_DSA_VERIFY) job.verdicts = verdicts_.data();
    const lc_result told = context_.run(job);
    if (device_ != LC_CPU && told.device_operations != messages.size())
      fail(fmt::format("{} of {} operations of ML-DSA were not done by the device",
                       messages.size() - told.device_operations, messages.size()));
    if (operation == LC_ML_DSA_VERIFY &&
        std::count(verdicts_.begin(), verdicts_.end(), 1) != std::ptrdiff_t(verdicts_.size()))
      fail("a signature of ML-DSA is wrong");
  }

 private:
  const Context &context_;
  const uint32_t device_;
  const lc_ml_dsa_set set_;
  Bytes signatures_, public_keys_, private_keys_, text_, verdicts_;
  std::vector<lc_ml_dsa_message> messages_;
};

void measure_device(const Context &context, uint32_t device, const lc_device_info &info,
                    lc_ml_dsa_set set, const Patience &patience, BenchLog &log) {
  // The emulator measures nothing. It shows that the command works.
  const size_t each = info.is_gpu ? 16384 : 2;
  const struct {
    const char *what;
    lc_ml_dsa_operation operation;
  } batches[] = {{"sign-batch", LC_ML_DSA_SIGN},
                 {"verify-batch", LC_ML_DSA_VERIFY},
                 {"keygen-batch", LC_ML_DSA_GENERATE}};
  const MlDsaKey key = key_of(set);
  const auto name_of = [&](const char *what) {
    return fmt::format("ml-dsa-{}.{}.{}", int(set), what, info.api);
  };
  std::vector<std::unique_ptr<Caller>> callers;
  for (unsigned n = 0; n < kCallers; n++)
    callers.push_back(std::make_unique<Caller>(context, device, set, key, each));
  // What is verified must have been signed.
  on_threads(kCallers, [&](unsigned n) { callers[n]->run(LC_ML_DSA_SIGN); });
  for (const auto &[what, operation] : batches) {
    const std::string name = name_of(what);
    if (!log.wants(name)) continue;
    log.tell(name);
    BenchResult result{name, "op/s", {}, {}, kCallers * each, "wall", {}};
    result.spread = measure_rate(patience, double(kCallers * each), [&, operation = operation] {
      const auto start = Clock::now();
      on_threads(kCallers, [&](unsigned n) { callers[n]->run(operation); });
      return std::chrono::duration<double>(Clock::now() - start).count();
    });
    log.add(std::move(result));
  }
  if (const std::string name = name_of("sign-one"); log.wants(name)) {
    log.tell(name);
    Caller one(context, device, set, key, 1);
    BenchResult result{name, "s", {}, {}, 1, "wall", {}};
    result.spread = measure_seconds(patience, [&] {
      const auto start = Clock::now();
      one.run(LC_ML_DSA_SIGN);
      return std::chrono::duration<double>(Clock::now() - start).count();
    });
    log.add(std::move(result));
  }
}

struct FreePkey {
  void operator()(EVP_PKEY *key) const { EVP_PKEY_free(key); }
};
struct FreeHash {
  void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};

// OpenSSL's signatures a second on so many cores.
Spread openssl_rate(EVP_PKEY *key, size_t signature_bytes, unsigned cores,
                    const Patience &patience) {
  constexpr std::chrono::milliseconds kSlice{300};
  std::atomic<uint64_t> done{0};
  return measure_rate(patience, 1, [&] {
    done = 0;
    const auto start = Clock::now();
    on_threads(cores, [&](unsigned) {
      const std::unique_ptr<EVP_MD_CTX, FreeHash> context(EVP_MD_CTX_new());
      Bytes signature(signature_bytes);
      const Bytes text(32, 0x15);
      if (!context || EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, nullptr,
                                            "provider=default", key, nullptr) != 1)
        fail("OpenSSL does not sign by ML-DSA");
      while (Clock::now() - start < kSlice) {
        size_t bytes = signature.size();
        if (EVP_DigestSign(context.get(), signature.data(), &bytes, text.data(), text.size()) != 1)
          fail("OpenSSL does not sign by ML-DSA");
        ++done;
      }
    });
    const std::chrono::duration<double> wall = Clock::now() - start;
    return wall.count() / static_cast<double>(std::max<uint64_t>(done, 1));
  });
}

}  // namespace

void bench_ml_dsa(const Context &context, bool quick, BenchLog &log) {
  const Patience patience = quick ? Patience{3, 1, 1} : Patience{9, 5, 6};
  for (const lc_ml_dsa_set set : kSets) {
    if (quick && set != LC_ML_DSA_65) continue;
    const std::string name = fmt::format("ml-dsa-{}.sign.openssl", int(set));
    const std::string of_all = name + "-all-cores";
    const std::unique_ptr<EVP_PKEY, FreePkey> key(
        EVP_PKEY_Q_keygen(nullptr, "provider=default", fmt::format("ML-DSA-{}", int(set)).c_str()));
    if (!key) log.note("this OpenSSL has no ML-DSA: it is not measured");
    const size_t bytes = lc_ml_dsa_bytes(set, LC_ML_DSA_SIGNATURE);
    if (key && log.wants(name)) {
      log.tell(name);
      log.add({name, "op/s", openssl_rate(key.get(), bytes, 1, patience), {}, {}, "wall", {}});
    }
    if (key && log.wants(of_all)) {
      log.tell(of_all);
      log.add({of_all,
               "op/s",
               openssl_rate(key.get(), bytes, cpu::usable_cores(), patience),
               {},
               {},
               "wall",
               {}});
    }
    for (uint32_t index = 0; index < context.device_count(); index++)
      if (const lc_device_info info = context.device(index); info.selected)
        measure_device(context, index, info, set, patience, log);
  }
}

}  // namespace lanecrypt::cli
