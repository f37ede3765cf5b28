// SPDX-License-Identifier: Apache-2.0
#include "rsa/rsa_engine.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "batch/stream_slots.h"
#include "rsa/open_for_rsa.h"
#include "rsa/rsa_request.h"
#include "verify/random_sampler.h"
#include "verify/rsa_known_answers.h"
#include "verify/self_test.h"

namespace lanecrypt::runtime {
namespace {

// A device that completes fewer RSA-2048 operations within its time limit is too slow to use.
constexpr double kOperationsOfLimit = 4096;
// The number of results that are checked in the first batch of each kind and kernel variant.
constexpr size_t kFirstLooks = 16;

using Slots = StreamSlots<RsaWorkspace>;
using Slot = Slots::Slot;

class Engine;

class RsaBatch : public Batch {
 public:
  // `work` describes the launch of `items`. `spot_checks` is how many of its results the CPU checks
  // with the inverse operation.
  RsaBatch(Engine &engine, std::unique_ptr<Slot> slot, std::vector<RsaItem> items, RsaWork work,
           size_t spot_checks)
      : engine_(engine),
        slot_(std::move(slot)),
        items_(std::move(items)),
        work_(std::move(work)),
        spot_checks_(spot_checks) {}
  ~RsaBatch() override;

  bool is_done() override {
    // Wiping here costs no time, because the device is still computing.
    if (work_.staged_bytes != 0 && slot_->sent->reached())
      RsaLaunch::wipe_sent(slot_->workspace, work_);
    return slot_->done->reached();
  }
  bool await(std::chrono::milliseconds limit) { return await_within(*slot_->done, limit); }
  Failure finish(ItemResults &results) override;
  void abandon() override { is_over_ = false; }

 private:
  Engine &engine_;
  std::unique_ptr<Slot> slot_;
  const std::vector<RsaItem> items_;
  RsaWork work_;
  size_t spot_checks_;
  bool is_over_ = false;
};

class Engine : public RsaEngine {
 public:
  Engine(std::unique_ptr<device::Device> device, RsaArithmetic arithmetic, DeviceTrust trust)
      : device_(std::move(device)),
        launch_(*device_, arithmetic),
        trust_(trust),
        time_limit_(time_limit_of(trust, *device_)),
        slots_(*device_, time_limit_, RsaLaunch::wipe_device) {}

  Started start_items(lc_rsa_operation operation, std::vector<RsaItem> items,
                      ItemResults &results) override {
    // Freeing memory waits for all work of the device, so it happens only while the device is idle.
    if (slots_.under_way() == 0) launch_.memory().free_outgrown();
    Result<std::unique_ptr<Slot>> taken = slots_.take();
    if (!taken.ok()) return Failure::of_device(taken.status());
    RsaWork work;
    work.operation = operation;
    work.items = items;
    Slots::Starting slot(slots_, std::move(*taken), [&work](RsaWorkspace &workspace) {
      RsaLaunch::wipe_host(workspace, work);
    });
    Status status = launch_.start({.ends = slot->last(),
                                   .powers = *slot->long_stream,
                                   .turn = *slot->turn,
                                   .sent = *slot->sent},
                                  slot->workspace, work, results);
    // Every item failed before the launch, and nothing was launched.
    if (status.ok() && !results.has_any_right()) return Started();
    if (status.ok()) status = slot->last().mark(*slot->done);
    if (!status.ok())
      return Failure::of_device(slot.give_up() ? status : stuck_status(time_limit_));
    const size_t spot_checks = spot_checks_of(work);
    return std::unique_ptr<Batch>(
        new RsaBatch(*this, slot.take(), std::move(items), std::move(work), spot_checks));
  }
  Failure prove() override {
    if (trust_.skip_self_test) return Failure();
    const uint64_t before = launch_.launches();
    const Status status = self_test();
    test_launches_ += launch_.launches() - before;
    return Failure::of_self_test(status);
  }
  size_t best_batch(BatchKind kind) const override {
    return launch_.best_batch(rsa_class(kind.size));
  }
  uint64_t launches() const override { return launch_.launches() - test_launches_; }

  double share_of_limit(BatchKind kind, size_t operations) const override {
    const double length = rsa_class(kind.size).prime_bits / 1024.0;
    return double(operations) * length * length * length / kOperationsOfLimit;
  }
  bool is_stuck() const override { return slots_.is_stuck(); }

  Slots &slots() { return slots_; }
  uint64_t uniform_below(uint64_t bound) { return sampler_.uniform_below(bound); }

  Status open() { return Status(); }
  // Each variant of the kernels for RSA-2048 must compute the known answer. In other variants the
  // CPU checks results of the first batch.
  Status self_test() {
    Result<std::vector<verify::RsaKnownAnswer>> answers = verify::rsa_known_answers();
    if (!answers.ok()) return answers.status();
    return verify::self_test(*answers, [this](const verify::RsaKnownAnswer &answer) {
      return answer.operation == LC_RSA_PRIVATE ? knows_every_variant(answer) : knows(answer);
    });
  }
  void begin_service() {
    test_launches_ = launch_.launches();
    device_->begin_service();
  }

 private:
  static std::chrono::milliseconds time_limit_of(const DeviceTrust &trust,
                                                 const device::Device &device) {
    return trust.time_limit.count() != 0 ? trust.time_limit
                                         : default_time_limit(device.properties());
  }

  size_t spot_checks_of(const RsaWork &work) {
    if (trust_.verify == LC_VERIFY_FULL) return SIZE_MAX;
    const bool is_new = known_.insert(work.variant).second;
    return is_new ? kFirstLooks : 1;
  }

  Result<bool> knows_every_variant(const verify::RsaKnownAnswer &answer) {
    const RsaClass &size = rsa_class(rsa_kind(*answer.key, answer.operation));
    const size_t variants = launch_.variants(launch_.limbs_of(size), RsaPart::kPower).size();
    Result<bool> right = true;
    for (size_t variant = 0; variant < variants && right.ok() && *right; ++variant) {
      launch_.force_variant(variant);
      right = knows(answer);
    }
    launch_.force_variant(SIZE_MAX);
    return right;
  }

  Result<bool> knows(const verify::RsaKnownAnswer &answer) {
    constexpr size_t kCount = 3;
    std::vector<std::vector<uint8_t>> outputs(kCount,
                                              std::vector<uint8_t>(answer.expected.size(), 0xa5));
    std::vector<RsaItem> items;
    for (std::vector<uint8_t> &output : outputs)
      items.push_back({answer.key.get(), answer.input.data(), output.data()});
    ItemResults results(kCount);
    Started started = start_items(answer.operation, std::move(items), results);
    if (!started.failure.ok()) return started.failure.status();
    if (started.batch != nullptr) {
      if (!static_cast<RsaBatch &>(*started.batch).await(time_limit_)) {
        started.batch->abandon();
        return stuck_status(time_limit_);
      }
      if (const Failure failure = started.batch->finish(results); !failure.ok())
        return failure.status();
    }
    for (size_t n = 0; n < kCount; ++n) {
      if (results.is_wrong(n)) return false;
      // The failure is the CPU's and says nothing about the device.
      if (!results.is_right(n)) return results.failure(n).status();
      if (outputs[n] != answer.expected) return false;
    }
    return true;
  }

  std::unique_ptr<device::Device> device_;
  RsaLaunch launch_;
  const DeviceTrust trust_;
  const std::chrono::milliseconds time_limit_;
  Slots slots_;
  // The variants in which batches have run.
  std::set<std::string> known_;
  verify::RandomSampler sampler_;
  uint64_t test_launches_ = 0;
};

Failure RsaBatch::finish(ItemResults &results) {
  const Status status = slot_->done->wait();
  is_over_ = true;
  if (!status.ok()) return Failure::of_device(status);
  RsaLaunch::read_checks(slot_->workspace, work_, results);
  // The check precedes the first write, because an output buffer may overlap its input.
  spot_check(results, engine_.uniform_below(results.size()), spot_checks_,
             [this](size_t n) { return RsaLaunch::computes_back(slot_->workspace, work_, n); });
  RsaLaunch::take_results(slot_->workspace, work_, results);
  return Failure();
}

RsaBatch::~RsaBatch() {
  RsaLaunch::wipe_host(slot_->workspace, work_);
  engine_.slots().give_back(std::move(slot_), is_over_);
}

}  // namespace

BatchEngine::Started RsaEngine::start(BatchKind kind, std::span<const BatchItem> items,
                                      ItemResults &results) {
  std::vector<RsaItem> ours;
  ours.reserve(items.size());
  for (const BatchItem &item : items)
    ours.push_back(static_cast<const RsaRequest &>(*item.request).item(item.number));
  return start_items(static_cast<lc_rsa_operation>(kind.operation), std::move(ours), results);
}

Result<std::unique_ptr<RsaEngine>> make_rsa_engine(const device::Found &found,
                                                   const DeviceTrust &trust) {
  return open_for_rsa<RsaEngine, Engine>(found, trust);
}

}  // namespace lanecrypt::runtime
