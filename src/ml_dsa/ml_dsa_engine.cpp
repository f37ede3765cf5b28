// SPDX-License-Identifier: Apache-2.0
#include "ml_dsa/ml_dsa_engine.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>

#include "batch/open_for.h"
#include "batch/stream_slots.h"
#include "cpu/digest.h"
#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "cpu/ml_dsa/host_ml_dsa.h"
#include "ml_dsa/ml_dsa_launch.h"
#include "verify/hex.h"
#include "verify/ml_dsa_known_answers.h"
#include "verify/random_sampler.h"
#include "verify/self_test.h"

namespace lanecrypt::runtime {
namespace {

// A device that completes fewer operations within its time limit is too slow to use.
constexpr double kOperationsOfLimit = 4096;
// The number of results of the first batch of each kind that the CPU checks.
constexpr size_t kFirstLooks = 16;

using Slots = StreamSlots<MlDsaWorkspace>;
using Slot = Slots::Slot;

class Engine;

class MlDsaBatch : public Batch {
 public:
  // `spot_checks` is how many of its results the CPU checks.
  MlDsaBatch(Engine &engine, std::unique_ptr<Slot> slot, MlDsaWork work, size_t spot_checks)
      : engine_(engine),
        slot_(std::move(slot)),
        work_(std::move(work)),
        spot_checks_(spot_checks) {}
  ~MlDsaBatch() override;

  bool is_done() override {
    // Wiping here costs no time, because the device is still computing.
    if (work_.staged_bytes != 0 && slot_->sent->reached())
      MlDsaLaunch::wipe_sent(slot_->workspace, work_);
    return slot_->done->reached();
  }
  bool await(std::chrono::milliseconds limit) { return await_within(*slot_->done, limit); }
  Failure finish(ItemResults &results) override;
  void abandon() override { is_over_ = false; }

 private:
  Engine &engine_;
  std::unique_ptr<Slot> slot_;
  MlDsaWork work_;
  size_t spot_checks_;
  bool is_over_ = false;
};

class Engine : public MlDsaEngine {
 public:
  Engine(std::unique_ptr<device::Device> device, DeviceTrust trust)
      : device_(std::move(device)),
        launch_(*device_),
        trust_(trust),
        time_limit_(trust.time_limit.count() != 0 ? trust.time_limit
                                                  : default_time_limit(device_->properties())),
        slots_(*device_, time_limit_, MlDsaLaunch::wipe_device) {}

  Started start_items(lc_ml_dsa_operation operation, const MlDsaSizes &sizes,
                      std::vector<MlDsaItem> items) override {
    // Freeing memory waits for all work of the device, so it happens only while the device is idle.
    if (slots_.under_way() == 0) launch_.memory().free_outgrown();
    Result<std::unique_ptr<Slot>> taken = slots_.take();
    if (!taken.ok()) return Failure::of_device(taken.status());
    MlDsaWork work(operation, sizes, std::move(items));
    Slots::Starting slot(slots_, std::move(*taken), [&work](MlDsaWorkspace &workspace) {
      MlDsaLaunch::wipe_host(workspace, work);
    });
    Status status = launch_.start(slot->last(), *slot->sent, slot->workspace, work);
    if (status.ok()) status = slot->last().mark(*slot->done);
    if (!status.ok())
      return Failure::of_device(slot.give_up() ? status : stuck_status(time_limit_));
    const size_t spot_checks = spot_checks_of(operation, sizes);
    return std::unique_ptr<Batch>(new MlDsaBatch(*this, slot.take(), std::move(work), spot_checks));
  }
  Failure prove() override {
    if (trust_.skip_self_test) return Failure();
    const uint64_t before = launch_.launches();
    const Status status = self_test();
    test_launches_ += launch_.launches() - before;
    return Failure::of_self_test(status);
  }
  size_t best_batch(BatchKind kind) const override {
    if (!device_->properties().is_gpu) return 256;
    // A key takes 50 to 90 KiB of the device's memory while it is made.
    return kind.operation == LC_ML_DSA_GENERATE ? 2048 : 4096;
  }
  double share_of_limit(BatchKind, size_t operations) const override {
    return double(operations) / kOperationsOfLimit;
  }
  bool is_stuck() const override { return slots_.is_stuck(); }
  uint64_t launches() const override { return launch_.launches() - test_launches_; }

  Slots &slots() { return slots_; }
  uint64_t uniform_below(uint64_t bound) { return sampler_.uniform_below(bound); }

  Status open() { return Status(); }
  // For each set the device makes a key, signs with it, and must distinguish a valid from an
  // invalid signature.
  Status self_test() {
    return verify::self_test(
        verify::ml_dsa_known_answers(),
        [this](const verify::MlDsaKnownAnswer &answer) { return knows(answer); });
  }
  void begin_service() {
    test_launches_ = launch_.launches();
    device_->begin_service();
  }

 private:
  size_t spot_checks_of(lc_ml_dsa_operation operation, const MlDsaSizes &sizes) {
    if (trust_.verify == LC_VERIFY_FULL) return SIZE_MAX;
    return known_.insert({operation, sizes.set}).second ? kFirstLooks : 1;
  }

  // Runs one operation and waits for it. Returns whether the device's own check found it right.
  Result<bool> run_one(lc_ml_dsa_operation operation, const MlDsaSizes &sizes,
                       const MlDsaItem &item) {
    Started started = start_items(operation, sizes, {item});
    if (!started.failure.ok()) return started.failure.status();
    if (!static_cast<MlDsaBatch &>(*started.batch).await(time_limit_)) {
      started.batch->abandon();
      return stuck_status(time_limit_);
    }
    ItemResults results(1);
    if (const Failure failure = started.batch->finish(results); !failure.ok())
      return failure.status();
    if (!results.is_right(0) && !results.is_wrong(0)) return results.failure(0).status();
    return results.is_right(0);
  }
  Result<bool> knows(const verify::MlDsaKnownAnswer &answer);

  std::unique_ptr<device::Device> device_;
  MlDsaLaunch launch_;
  const DeviceTrust trust_;
  const std::chrono::milliseconds time_limit_;
  Slots slots_;
  // The kinds of batches that have run.
  std::set<std::pair<lc_ml_dsa_operation, lc_ml_dsa_set>> known_;
  verify::RandomSampler sampler_;
  uint64_t test_launches_ = 0;
};

Result<bool> has_sha256(std::span<const uint8_t> bytes, std::string_view expected) {
  std::array<uint8_t, 32> digest;
  LC_TRY(cpu::digest(cpu::Digest::kSha256, {bytes}, digest));
  return verify::to_hex(digest) == expected;
}

Result<bool> Engine::knows(const verify::MlDsaKnownAnswer &answer) {
  const MlDsaSizes &sizes = *find_ml_dsa_sizes(answer.set);
  std::vector<uint8_t> whole(sizes.public_bytes + sizes.private_bytes);
  std::array<uint8_t, kMlDsaSeedBytes> seed;
  std::iota(seed.begin(), seed.end(), uint8_t{0});
  MlDsaItem generation;
  generation.random = seed.data();
  generation.public_key = whole.data();
  generation.private_key = &whole[sizes.public_bytes];
  Result<bool> right = run_one(LC_ML_DSA_GENERATE, sizes, generation);
  if (!right.ok() || !*right) return right;
  right = has_sha256(whole, answer.key_sha256);
  if (!right.ok() || !*right) return right;

  const std::span<const uint8_t> all = whole;
  Result<std::shared_ptr<MlDsaKey>> key =
      cpu::make_ml_dsa_key({.sizes = &sizes,
                            .seed = {},
                            .private_key = all.subspan(sizes.public_bytes),
                            .public_key = all.first(sizes.public_bytes),
                            .random = {}});
  if (!key.ok()) return key.status();
  std::vector<uint8_t> signature(sizes.signature_bytes, 0xa5);
  MlDsaItem signing;
  signing.key = key->get();
  signing.signature = signature.data();
  constexpr std::array<uint8_t, kMlDsaRandomBytes> kZeros = {};
  signing.random = kZeros.data();
  const std::string_view text = verify::kMlDsaMessage;
  cpu::ml_dsa_mu(LC_MESSAGE_PURE, signing.key->tr, {},
                 {reinterpret_cast<const uint8_t *>(text.data()), text.size()}, signing.mu);
  right = run_one(LC_ML_DSA_SIGN, sizes, signing);
  if (!right.ok() || !*right) return right;
  right = has_sha256(signature, answer.signature_sha256);
  if (!right.ok() || !*right) return right;

  MlDsaItem verification = signing;
  uint8_t verdict = 0;
  verification.verdict = &verdict;
  right = run_one(LC_ML_DSA_VERIFY, sizes, verification);
  if (!right.ok() || !*right || verdict != 1) return right.ok() ? Result<bool>(false) : right;
  signature[signature.size() / 2] ^= 1;
  right = run_one(LC_ML_DSA_VERIFY, sizes, verification);
  if (!right.ok() || !*right) return right;
  return verdict == 0;
}

Failure MlDsaBatch::finish(ItemResults &results) {
  const Status status = slot_->done->wait();
  is_over_ = true;
  if (!status.ok()) return Failure::of_device(status);
  MlDsaLaunch::read_checks(slot_->workspace, work_, results);
  spot_check(results, engine_.uniform_below(results.size()), spot_checks_,
             [this](size_t n) { return MlDsaLaunch::is_right(slot_->workspace, work_, n); });
  MlDsaLaunch::take_results(slot_->workspace, work_, results);
  return Failure();
}

MlDsaBatch::~MlDsaBatch() {
  MlDsaLaunch::wipe_host(slot_->workspace, work_);
  engine_.slots().give_back(std::move(slot_), is_over_);
}

}  // namespace

BatchEngine::Started MlDsaEngine::start(BatchKind kind, std::span<const BatchItem> items,
                                        ItemResults &) {
  std::vector<MlDsaItem> ours;
  ours.reserve(items.size());
  for (const BatchItem &item : items)
    ours.push_back(static_cast<const MlDsaRequest &>(*item.request).item(item.number));
  return start_items(static_cast<lc_ml_dsa_operation>(kind.operation),
                     *find_ml_dsa_sizes(kind.size), std::move(ours));
}

Result<std::unique_ptr<MlDsaEngine>> make_ml_dsa_engine(const device::Found &found,
                                                        const DeviceTrust &trust) {
  return open_for<MlDsaEngine, Engine>(device::KernelSet::kMlDsa, found, trust);
}

}  // namespace lanecrypt::runtime
