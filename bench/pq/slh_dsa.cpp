// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bench/pq/pq.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;
// The number of jobs in flight when a rate is measured, so that messages are hashed and results
// are copied while the device computes.
constexpr unsigned kUnderWay = 3;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The memory of one job.
struct Work {
  std::vector<Bytes> signatures;
  std::vector<lc_slh_dsa_message> messages;
  Bytes keys, verdicts;
  Ticket ticket;
};

class SlhDsaBench {
 public:
  SlhDsaBench(const Context &context, uint32_t device, const lc_device_info &info,
              lc_slh_dsa_set set, const Patience &patience, BenchLog &log)
      : context_(context),
        device_(device),
        info_(info),
        set_(set),
        name_(lc_slh_dsa_name(set)),
        patience_(patience),
        log_(log) {}

  void measure() {
    if (std::none_of(std::begin(kRows), std::end(kRows),
                     [&](const char *what) { return log_.wants(row(what)); }))
      return;
    make_key();
    if (is_draft()) return measure_draft();
    const bool is_fast = name_.back() == 'f', is_shake = name_.find("SHAKE") != name_.npos;
    // With these numbers a batch takes a GPU about the same time in each set. The emulator's
    // times mean nothing.
    const size_t share = is_shake ? 4 : 1;
    const size_t signatures = info_.is_gpu ? (is_fast ? 8192 : 512) / share : 2;
    const size_t keys = info_.is_gpu ? (is_fast ? 65536 : 4096) / share : 2;
    const size_t verifications = info_.is_gpu ? 32768 : 2;
    Bytes made(4 * lc_slh_dsa_hash_bytes(set_));
    fill(one_, 1);
    seconds("sign-one", [&] { told(context_.run(job(one_, LC_SLH_DSA_SIGN)), 1); });
    seconds("keygen-one", [&] { told(context_.generate(generation(1, made)), 1); });
    for (Work &work : works_) fill(work, signatures);
    rate("sign-batch", signatures,
         [&](Work &work) { work.ticket = context_.submit(job(work, LC_SLH_DSA_SIGN)); });
    for (Work &work : works_) work.keys.resize(keys * made.size());
    rate("keygen-batch", keys,
         [&](Work &work) { work.ticket = context_.submit(generation(keys, work.keys)); });
    if (!log_.wants(row("verify-batch"))) return;
    for (Work &work : works_) {
      told(context_.run(job(work, LC_SLH_DSA_SIGN)), signatures);
      work.messages.clear();
      for (size_t n = 0; n < verifications; ++n)
        work.messages.push_back(message(work, n % signatures));
      work.verdicts.assign(verifications, 0);
    }
    rate("verify-batch", verifications,
         [&](Work &work) { work.ticket = context_.submit(job(work, LC_SLH_DSA_VERIFY)); });
    for (const Work &work : works_)
      if (std::count(work.verdicts.begin(), work.verdicts.end(), 1) !=
          std::ptrdiff_t(verifications))
        throw cli::Failure(cli::ExitCode::kFailed, "a signature of " + name_ + " is wrong");
  }

 private:
  static constexpr const char *kRows[] = {"sign-one",   "sign-one-without-tree", "keygen-one",
                                          "sign-batch", "keygen-batch",          "verify-batch"};

  // A key of a parameter set of SP 800-230 (draft) keeps a tree.
  bool is_draft() const { return lc_slh_dsa_tree_bytes(set_) != 0; }
  // Measures single operations of such a set: one operation fills a GPU.
  void measure_draft() {
    Bytes made(4 * lc_slh_dsa_hash_bytes(set_)), tree(lc_slh_dsa_tree_bytes(set_));
    fill(one_, 1);
    const auto sign = [&] { told(context_.run(job(one_, LC_SLH_DSA_SIGN)), 1); };
    seconds("sign-one", sign);
    one_.messages[0].key = key_without_tree_.get();
    seconds("sign-one-without-tree", sign);
    lc_slh_dsa_generation what = generation(1, made);
    what.trees = tree.data();
    seconds("keygen-one", [&] { told(context_.generate(what), 1); });
  }

  void make_key() {
    Bytes key(4 * lc_slh_dsa_hash_bytes(set_)), tree(lc_slh_dsa_tree_bytes(set_));
    lc_slh_dsa_generation what = generation(1, key);
    if (is_draft()) what.trees = tree.data();
    told(context_.generate(what), 1);
    lc_slh_dsa_parts parts{};
    parts.struct_size = sizeof parts;
    parts.set = set_;
    parts.private_key = key.data();
    parts.private_key_bytes = key.size();
    if (is_draft()) {
      key_without_tree_ = SlhDsaKey(parts);
      parts.tree = tree.data();
      parts.tree_bytes = tree.size();
    }
    key_ = SlhDsaKey(parts);
  }
  lc_slh_dsa_message message(Work &work, size_t n) const {
    lc_slh_dsa_message made{};
    made.key = key_.get();
    made.message = "What is signed, of 32 bytes here";
    made.message_bytes = 32;
    made.signature = work.signatures[n].data();
    made.signature_bytes = work.signatures[n].size();
    return made;
  }
  void fill(Work &work, size_t count) const {
    work.signatures.assign(count, Bytes(lc_slh_dsa_signature_bytes(set_)));
    work.messages.clear();
    for (size_t n = 0; n < count; ++n) work.messages.push_back(message(work, n));
  }
  lc_slh_dsa_job job(Work &work, lc_slh_dsa_operation operation) const {
    lc_slh_dsa_job made =
        slh_dsa_job(operation, work.messages.data(), work.messages.size(),
                    operation == LC_SLH_DSA_VERIFY ? work.verdicts.data() : nullptr);
    made.device = device_;
    made.has_device = 1;
    return made;
  }
  lc_slh_dsa_generation generation(size_t count, Bytes &keys) const {
    lc_slh_dsa_generation what{};
    what.struct_size = sizeof what;
    what.set = set_;
    what.device = device_;
    what.has_device = 1;
    what.count = count;
    what.keys = keys.data();
    return what;
  }

  void told(const lc_result &result, size_t count) const {
    if (result.device_operations != count)
      throw cli::Failure(cli::ExitCode::kFailed,
                         fmt::format("{} of {} operations of {} were not done by the device",
                                     count - result.device_operations, count, name_));
  }
  std::string row(const char *what) const {
    return fmt::format("{}.{}.{}", row_name(name_), what, info_.api);
  }
  // Measures single calls, one after another. The CPU checks the first ones of a device.
  void seconds(const char *what, const std::function<void()> &run) {
    if (!log_.wants(row(what))) return;
    log_.tell(row(what));
    Patience patience = patience_;
    if (is_draft())
      patience.budget_seconds = std::min(patience.budget_seconds, 2.0);
    else if (info_.is_gpu)
      patience.runs = 200;
    BenchResult result{row(what), "s", {}, {}, 1, "wall", {}};
    result.spread = measure_seconds(patience, [&] {
      const auto begin = Clock::now();
      run();
      return seconds_since(begin);
    });
    log_.add(std::move(result));
  }
  // Measures kUnderWay jobs per run, from the completion of one job to that of the last.
  void rate(const char *what, size_t amount, const std::function<void(Work &)> &start) {
    if (!log_.wants(row(what))) return;
    log_.tell(row(what));
    for (Work &work : works_) start(work);
    BenchResult result{row(what), "op/s", {}, {}, amount, "wall", {}};
    result.spread = measure_rate(patience_, double(amount * kUnderWay), [&] {
      const auto begin = Clock::now();
      for (Work &work : works_) {
        finish(work, amount);
        start(work);
      }
      return seconds_since(begin);
    });
    for (Work &work : works_) finish(work, amount);
    log_.add(std::move(result));
  }
  void finish(Work &work, size_t amount) const { told(work.ticket.wait(), amount); }

  const Context &context_;
  const uint32_t device_;
  const lc_device_info info_;
  const lc_slh_dsa_set set_;
  const std::string name_;
  const Patience patience_;
  BenchLog &log_;
  SlhDsaKey key_, key_without_tree_;
  Work one_;
  std::array<Work, kUnderWay> works_;
};

}  // namespace

void bench_slh_dsa(const Context &context, const std::vector<OpensslPq> &openssls, bool quick,
                   BenchLog &log) {
  const Patience patience = quick ? Patience{3, 1, 1} : Patience{12, 5, 4};
  for (uint32_t set = 0; set <= LC_SLH_DSA_SHAKE_256_24; ++set) {
    const char *const name = lc_slh_dsa_name(lc_slh_dsa_set(set));
    if (name == nullptr) continue;
    if (quick && set != LC_SLH_DSA_SHA2_128S && set != LC_SLH_DSA_SHA2_128F) continue;
    // No OpenSSL has the parameter sets of the draft.
    if (set < LC_SLH_DSA_SHA2_128_24) bench_openssl_pq(openssls, name, patience, log);
    for (uint32_t index = 0; index < context.device_count(); index++)
      if (const lc_device_info info = context.device(index); info.selected)
        // The emulator takes minutes for a batch of a set with small signatures ("s").
        if (info.is_gpu || set == LC_SLH_DSA_SHA2_128F)
          SlhDsaBench(context, index, info, lc_slh_dsa_set(set), patience, log).measure();
  }
}

}  // namespace lanecrypt::bench
