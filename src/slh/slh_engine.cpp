// SPDX-License-Identifier: Apache-2.0
#include "slh/slh_engine.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "batch/open_for.h"
#include "cpu/core_count.h"
#include "cpu/digest.h"
#include "slh/slh_batch.h"
#include "verify/hex.h"
#include "verify/self_test.h"
#include "verify/slh_known_answers.h"

namespace lanecrypt::runtime {
namespace {

// A device that computes fewer hashes within its time limit is too slow to use.
constexpr double kHashesOfLimit = 1 << 28;
// Copy threads in addition to the batcher's thread. With more, memory bandwidth is the limit.
constexpr unsigned kMostCopiers = 4;

double hashes_of(const SlhSet &set, uint32_t operation) {
  const double tree = double(uint64_t{set.chains() * set.chain_values()} << set.tree_height);
  if (operation == LC_SLH_DSA_GENERATE) return tree;
  if (operation == LC_SLH_DSA_SIGN)
    return tree * set.layers + double(uint64_t{3 * set.fors_trees} << set.fors_height);
  return double(set.layers) * set.chains() * set.chain_values();
}

class Engine : public BatchEngine {
 public:
  Engine(std::unique_ptr<device::Device> device, DeviceTrust trust)
      : device_(std::move(device)),
        trust_(trust),
        launch_(*device_, copiers_),
        spot_checks_(trust.verify),
        slots_(*device_,
               trust.time_limit.count() != 0 ? trust.time_limit
                                             : default_time_limit(device_->properties()),
               SlhLaunch::wipe_device) {}

  Started start(BatchKind kind, std::span<const BatchItem> items, ItemResults &) override {
    return start_slh_batch(launch_, slots_, &spot_checks_, kind, items);
  }
  Failure prove() override {
    if (trust_.skip_self_test) return Failure();
    const uint64_t before = launch_.launches();
    const Status status = self_test();
    test_launches_ += launch_.launches() - before;
    return Failure::of_self_test(status);
  }
  size_t best_batch(BatchKind kind) const override {
    return SlhLaunch::best_batch(slh_set_of(kind), lc_slh_dsa_operation(kind.operation));
  }
  double share_of_limit(BatchKind kind, size_t operations) const override {
    return double(operations) * hashes_of(slh_set_of(kind), kind.operation) / kHashesOfLimit;
  }
  bool is_stuck() const override { return slots_.is_stuck(); }
  uint64_t launches() const override { return launch_.launches() - test_launches_; }

  Status open() { return Status(); }
  // Runs the known answers of the fast sets (128f and so on), which use all kernels of FIPS 205.
  // The other sets differ in the size of their trees. The CPU checks the first results of each of
  // those, and of the draft's sets, whose kernels few devices are asked for.
  Status self_test() {
    std::vector<verify::SlhKnownAnswer> fast;
    for (const verify::SlhKnownAnswer &answer : verify::slh_known_answers())
      if (answer.set.ends_with('f')) fast.push_back(answer);
    return verify::self_test(fast, [this](const auto &answer) { return knows(answer); });
  }
  void begin_service() {
    test_launches_ = launch_.launches();
    device_->begin_service();
  }

 private:
  Result<bool> knows(const verify::SlhKnownAnswer &answer);
  Status run(const SlhRequestPointer &request);

  std::unique_ptr<device::Device> device_;
  const DeviceTrust trust_;
  Workers copiers_{std::min(kMostCopiers, cpu::usable_cores())};
  SlhLaunch launch_;
  SlhSpotChecks spot_checks_;
  SlhSlots slots_;
  uint64_t test_launches_ = 0;
};

// Runs the only operation of a request, and waits for it.
Status Engine::run(const SlhRequestPointer &request) {
  const BatchItem item{request, 0};
  const Started started =
      start_slh_batch(launch_, slots_, nullptr, request->kind_of(0), {&item, 1});
  if (!started.failure.ok()) return started.failure.status();
  const auto end = std::chrono::steady_clock::now() + slots_.time_limit();
  while (!started.batch->is_done()) {
    if (std::chrono::steady_clock::now() >= end) {
      started.batch->abandon();
      return stuck_status(slots_.time_limit());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  ItemResults results(1);
  if (const Failure failure = started.batch->finish(results); !failure.ok())
    return failure.status();
  return results.is_right(0) ? Status()
                             : verify::failed_self_test("a signature that does not verify");
}

Result<bool> Engine::knows(const verify::SlhKnownAnswer &answer) {
  const SlhSet &set = *find_slh_set(answer.set);
  std::vector<uint8_t> seeds(set.seed_bytes()), key(set.private_bytes()),
      signature(set.signature_bytes());
  std::iota(seeds.begin(), seeds.end(), uint8_t{0});
  const auto keys = std::make_shared<SlhKeys>(
      SlhGeneration{
          .set = &set, .count = 1, .seeds = seeds.data(), .keys = key.data(), .random = {}},
      nullptr);
  LC_TRY(keys->take_seeds());
  LC_TRY(run(keys));
  if (verify::to_hex(std::span(key).last(set.n)) != answer.root) return false;

  const auto made = std::make_shared<SlhKey>(set, key, RandomSource{});
  LC_TRY(cpu::prepare(*made));
  SlhJob job;
  job.is_deterministic = true;
  job.keys = {made};
  job.messages.push_back({.key = 0,
                          .message = {reinterpret_cast<const uint8_t *>(verify::kSlhMessage.data()),
                                      verify::kSlhMessage.size()},
                          .context = {},
                          .signature = signature.data()});
  const auto signatures = std::make_shared<SlhSignatures>(job, nullptr);
  LC_TRY(signatures->hash(nullptr));
  LC_TRY(run(signatures));
  uint8_t digest[32];
  LC_TRY(cpu::digest(cpu::Digest::kSha256, {signature}, digest));
  if (verify::to_hex(digest) != answer.signature_sha256) return false;

  uint8_t verdict = 0;
  job.operation = LC_SLH_DSA_VERIFY;
  job.verdicts = &verdict;
  for (const uint8_t expected : {1, 0}) {
    signature.back() ^= uint8_t(1 - expected);
    const auto verified = std::make_shared<SlhSignatures>(job, nullptr);
    LC_TRY(verified->hash(nullptr));
    LC_TRY(run(verified));
    if (verdict != expected) return false;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<BatchEngine>> make_slh_engine(const device::Found &found,
                                                     const DeviceTrust &trust) {
  return open_for<BatchEngine, Engine>(device::KernelSet::kSlh, found, trust);
}

}  // namespace lanecrypt::runtime
