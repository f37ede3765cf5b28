// SPDX-License-Identifier: Apache-2.0
#include "rsa/rsa_engine.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "cpu/rsa/cpu_rsa.h"
#include "rsa/open_for_rsa.h"
#include "rsa/rsa_request.h"
#include "thread/stuck.h"
#include "verify/dice.h"
#include "verify/rsa_known_answer.h"

namespace lanecrypt::schedule {
namespace {

// A device that does fewer RSA-2048 operations within its time limit is of no use.
constexpr double kOperationsOfLimit = 4096;
// Of the first batches of each kind, and in each way of the kernels, more is looked at.
constexpr size_t kFirstLooks = 16;

// Streams of its own for each batch under way, so that small ones share the
// device.
struct Slot {
  std::unique_ptr<device::Stream> powers, ends;  // no `ends` where streams are all alike
  std::unique_ptr<device::Event> turn, done;
  RsaRoom room;

  device::Stream &last() { return ends != nullptr ? *ends : *powers; }
  RsaStreams streams() { return {.ends = last(), .powers = *powers, .turn = *turn}; }
};

class Engine;

class RsaBatch : public Batch {
 public:
  // work: of these items. looks: how many of its results the CPU computes back.
  RsaBatch(Engine &engine, std::unique_ptr<Slot> slot, std::vector<RsaItem> items, RsaWork work,
           size_t looks)
      : engine_(engine),
        slot_(std::move(slot)),
        items_(std::move(items)),
        work_(std::move(work)),
        looks_(looks) {}
  ~RsaBatch() override;

  bool is_done() override { return slot_->done->reached(); }
  bool await(std::chrono::milliseconds limit) { return await_within(*slot_->done, limit); }
  Status finish(std::span<uint8_t> right) override;
  void abandon() override { is_over_ = false; }

 private:
  Engine &engine_;
  std::unique_ptr<Slot> slot_;
  const std::vector<RsaItem> items_;
  RsaWork work_;
  size_t looks_;
  bool is_over_ = false;
};

class Engine : public RsaEngine {
 public:
  Engine(std::unique_ptr<device::Device> device, RsaArithmetic arithmetic, RsaTrust trust)
      : device_(std::move(device)), launch_(*device_, arithmetic), trust_(trust) {
    if (trust_.time_limit.count() == 0)
      trust_.time_limit = default_time_limit(device_->properties());
  }
  ~Engine() override {
    // A launch that failed has left there what others zero themselves.
    for (const std::unique_ptr<Slot> &slot : free_) {
      RsaLaunch::wipe_device(slot->last(), slot->room);
      (void)slot->last().finish();
    }
    free_.clear();
  }

  Result<std::unique_ptr<Batch>> start_items(lc_rsa_operation operation,
                                             std::vector<RsaItem> items) override {
    // To free memory waits for all that the device does.
    if (under_way_ == 0) launch_.free_outgrown();
    Result<std::unique_ptr<Slot>> slot = take_slot();
    if (!slot.ok()) return slot.status();
    RsaWork work;
    work.operation = operation;
    work.items = items;
    Status status = launch_.start((*slot)->streams(), (*slot)->room, work);
    if (status.ok()) status = (*slot)->last().mark(*(*slot)->done);
    if (status.ok()) {
      ++under_way_;
      const size_t looks = looks_at(work);
      return std::unique_ptr<Batch>(
          new RsaBatch(*this, std::move(*slot), std::move(items), std::move(work), looks));
    }
    // What was begun must not use the room any more.
    bool is_idle = finish(**slot);
    if (is_idle) {
      RsaLaunch::wipe_device((*slot)->last(), (*slot)->room);
      is_idle = finish(**slot);
    }
    RsaLaunch::wipe_host((*slot)->room, work);
    (is_idle ? free_ : stuck_).push_back(std::move(*slot));
    return is_idle ? status : stuck_status(trust_.time_limit);
  }
  size_t best_batch(BatchKind kind) const override {
    return launch_.best_batch(rsa_class(kind.size));
  }
  uint64_t launches() const override { return launch_.launches() - test_launches_; }

  double share_of_limit(BatchKind kind, size_t operations) const override {
    const double length = rsa_class(kind.size).prime_bits / 1024.0;
    return double(operations) * length * length * length / kOperationsOfLimit;
  }
  bool is_stuck() const override { return !stuck_.empty(); }

  // Of a batch that goes.
  void give_back(std::unique_ptr<Slot> slot, bool is_over) {
    --under_way_;
    (is_over ? free_ : stuck_).push_back(std::move(slot));
  }
  uint64_t throw_below(uint64_t bound) { return dice_.throw_below(bound); }

  Status open() {
    if (!trust_.skip_self_test) LC_TRY(self_test());
    test_launches_ = launch_.launches();
    device_->begin_service();
    return Status();
  }

 private:
  // Each way in which the kernels for RSA-2048 run must find the known answer; the
  // first batch in any other is computed back.
  Status self_test() {
    Result<verify::RsaKnownAnswer> answer = verify::rsa_known_answer();
    if (!answer.ok()) return answer.status();
    const RsaKey &key = *answer->key;
    const RsaClass &size = rsa_class(rsa_kind(key, LC_RSA_PRIVATE));
    const size_t ways = launch_.ways(limbs_of(size), RsaPart::kPower).size();
    for (size_t way = 0; way < ways; ++way) {
      launch_.force_way(way);
      LC_TRY(ask(key, LC_RSA_PRIVATE, answer->input, answer->output));
    }
    launch_.force_way(SIZE_MAX);
    return ask(key, LC_RSA_PUBLIC, answer->output, answer->input);
  }

  uint32_t limbs_of(const RsaClass &size) const {
    return launch_.arithmetic() == RsaArithmetic::kFp64 ? size.fp64_limbs : size.u32_limbs;
  }

  size_t looks_at(const RsaWork &work) {
    if (trust_.verify == LC_VERIFY_FULL) return SIZE_MAX;
    const bool is_new = known_.insert(work.way).second;
    return is_new ? kFirstLooks : 1;
  }

  // Waits until the streams have done what they were given; false where that does not
  // end.
  bool finish(Slot &slot) {
    for (device::Stream *stream : {slot.powers.get(), slot.ends.get()}) {
      if (stream == nullptr) continue;
      if (!stream->mark(*slot.done).ok())
        (void)stream->finish();
      else if (!await_within(*slot.done, trust_.time_limit))
        return false;
    }
    return true;
  }

  Result<std::unique_ptr<Slot>> take_slot() {
    if (!free_.empty()) {
      std::unique_ptr<Slot> slot = std::move(free_.back());
      free_.pop_back();
      return slot;
    }
    auto slot = std::make_unique<Slot>();
    Result<std::unique_ptr<device::Stream>> powers = device_->make_stream(),
                                            ends = device_->make_urgent_stream();
    if (!powers.ok()) return powers.status();
    if (!ends.ok()) return ends.status();
    slot->powers = std::move(*powers);
    slot->ends = std::move(*ends);
    for (std::unique_ptr<device::Event> *event : {&slot->turn, &slot->done}) {
      Result<std::unique_ptr<device::Event>> made = device_->make_event();
      if (!made.ok()) return made.status();
      *event = std::move(*made);
    }
    return slot;
  }

  Status ask(const RsaKey &key, lc_rsa_operation operation, const std::vector<uint8_t> &input,
             const std::vector<uint8_t> &expected) {
    constexpr size_t kCount = 3;
    std::vector<std::vector<uint8_t>> outputs(kCount, std::vector<uint8_t>(expected.size(), 0xa5));
    std::vector<RsaItem> items;
    for (std::vector<uint8_t> &output : outputs)
      items.push_back({&key, input.data(), output.data()});
    std::vector<uint8_t> right(kCount, 1);
    Result<std::unique_ptr<Batch>> batch = start_items(operation, std::move(items));
    if (!batch.ok()) return batch.status();
    if (!static_cast<RsaBatch &>(**batch).await(trust_.time_limit)) {
      (*batch)->abandon();
      return stuck_status(trust_.time_limit);
    }
    LC_TRY((*batch)->finish(right));
    for (size_t n = 0; n < kCount; ++n)
      if (right[n] == 0 || outputs[n] != expected)
        return Status(LC_ERROR_SELF_TEST, "its self-test failed: wrong output of RSA-2048");
    return Status();
  }

  std::unique_ptr<device::Device> device_;
  RsaLaunch launch_;
  RsaTrust trust_;
  std::vector<std::unique_ptr<Slot>> free_, stuck_;
  size_t under_way_ = 0;
  // The ways in which batches ran.
  std::set<std::string> known_;
  verify::Dice dice_;
  uint64_t test_launches_ = 0;
};

Status RsaBatch::finish(std::span<uint8_t> right) {
  const Status status = slot_->done->wait();
  is_over_ = true;
  if (!status.ok()) return status;
  RsaLaunch::read_checks(slot_->room, work_, right);
  // Before anything is written: an output may lie on its input.
  const size_t count = work_.items.size(), first = engine_.throw_below(count);
  for (size_t n = 0; n < std::min(looks_, count); ++n) {
    const size_t at = (first + n) % count;
    if (right[at] != 0) LC_TRY(RsaLaunch::compute_back(slot_->room, work_, at));
  }
  RsaLaunch::take_results(slot_->room, work_, right);
  return Status();
}

RsaBatch::~RsaBatch() {
  RsaLaunch::wipe_host(slot_->room, work_);
  engine_.give_back(std::move(slot_), is_over_);
}

}  // namespace

Result<std::unique_ptr<Batch>> RsaEngine::start(BatchKind kind, std::span<const BatchItem> items) {
  std::vector<RsaItem> ours;
  ours.reserve(items.size());
  for (const BatchItem &item : items)
    ours.push_back(static_cast<const RsaRequest &>(*item.request).item(item.number));
  return start_items(static_cast<lc_rsa_operation>(kind.operation), std::move(ours));
}

Result<std::unique_ptr<RsaEngine>> make_rsa_engine(const device::Found &found,
                                                   const RsaTrust &trust) {
  return open_for_rsa<RsaEngine, Engine>(found, trust);
}

}  // namespace lanecrypt::schedule
