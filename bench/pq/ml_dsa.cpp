// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "bench/load/on_threads.h"
#include "bench/pq/pq.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;

constexpr lc_ml_dsa_set kSets[] = {LC_ML_DSA_44, LC_ML_DSA_65, LC_ML_DSA_87};
// Concurrent callers of a batch: each hashes its messages while the device works for the others.
constexpr unsigned kCallers = 4;

[[noreturn]] void fail(const std::string &text) {
  throw cli::Failure(cli::ExitCode::kFailed, text);
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
    job.has_device = 1;
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
  // The emulator's times mean nothing. It only shows that the command works.
  const size_t each = info.is_gpu ? 16384 : 2;
  const struct {
    const char *what;
    lc_ml_dsa_operation operation;
  } batches[] = {{"sign-batch", LC_ML_DSA_SIGN},
                 {"verify-batch", LC_ML_DSA_VERIFY},
                 {"keygen-batch", LC_ML_DSA_GENERATE}};
  const auto name_of = [&](const char *what) {
    return fmt::format("ml-dsa-{}.{}.{}", int(set), what, info.api);
  };
  const auto is_wanted = [&](const auto &batch) { return log.wants(name_of(batch.what)); };
  if (!log.wants(name_of("sign-one")) &&
      std::none_of(std::begin(batches), std::end(batches), is_wanted))
    return;
  const MlDsaKey key = key_of(set);
  std::vector<std::unique_ptr<Caller>> callers;
  for (unsigned n = 0; n < kCallers; n++)
    callers.push_back(std::make_unique<Caller>(context, device, set, key, each));
  // Verification needs signatures.
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

}  // namespace

void bench_ml_dsa(const Context &context, const std::vector<OpensslPq> &openssls, bool quick,
                  BenchLog &log) {
  const Patience patience = quick ? Patience{3, 1, 1} : Patience{9, 5, 6};
  for (const lc_ml_dsa_set set : kSets) {
    if (quick && set != LC_ML_DSA_65) continue;
    bench_openssl_pq(openssls, fmt::format("ML-DSA-{}", int(set)), patience, log);
    for (uint32_t index = 0; index < context.device_count(); index++)
      if (const lc_device_info info = context.device(index); info.selected)
        measure_device(context, index, info, set, patience, log);
  }
}

}  // namespace lanecrypt::bench
