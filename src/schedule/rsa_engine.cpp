// SPDX-License-Identifier: Apache-2.0
#include "schedule/rsa_engine.h"

#include <cstring>
#include <vector>

#include "schedule/open_for_rsa.h"
#include "verify/rsa_known_answer.h"

namespace lanecrypt::schedule {
namespace {

// A stream of its own for each batch under way, so that small ones share the
// device.
struct Slot {
  std::unique_ptr<device::Stream> stream;
  std::unique_ptr<device::Event> done;
  RsaRoom room;
};

class Engine;

class Batch : public RsaBatch {
 public:
  Batch(Engine &engine, std::unique_ptr<Slot> slot, RsaWork work)
      : engine_(engine), slot_(std::move(slot)), work_(std::move(work)) {}
  ~Batch() override;

  bool is_done() override { return slot_->done->reached(); }
  Status finish(std::span<uint8_t> right) override {
    const Status status = slot_->done->wait();
    is_over_ = true;
    if (status.ok()) RsaLaunch::take_results(slot_->room, work_, right);
    return status;
  }

 private:
  Engine &engine_;
  std::unique_ptr<Slot> slot_;
  RsaWork work_;
  bool is_over_ = false;
};

class Engine : public RsaEngine {
 public:
  Engine(std::unique_ptr<device::Device> device, RsaArithmetic arithmetic)
      : device_(std::move(device)), launch_(*device_, arithmetic) {}
  ~Engine() override {
    // What passed through was the callers' data.
    for (const std::unique_ptr<Slot> &slot : free_) {
      for (const auto *buffer : {slot->room.staging.get(), slot->room.results.get()})
        if (buffer != nullptr) secure::wipe(buffer->host(), buffer->bytes());
      for (const auto *buffer : {slot->room.in.get(), slot->room.out.get()})
        if (buffer != nullptr) (void)slot->stream->zero(*buffer, 0, buffer->bytes());
      (void)slot->stream->finish();
    }
    free_.clear();
  }

  Result<std::unique_ptr<RsaBatch>> start(lc_rsa_operation operation,
                                          std::span<const RsaItem> items) override {
    Result<std::unique_ptr<Slot>> slot = take_slot();
    if (!slot.ok()) return slot.status();
    RsaWork work;
    work.operation = operation;
    work.items = items;
    Status status = launch_.start(*(*slot)->stream, (*slot)->room, work);
    if (status.ok()) status = (*slot)->stream->mark(*(*slot)->done);
    if (status.ok())
      return std::unique_ptr<RsaBatch>(new Batch(*this, std::move(*slot), std::move(work)));
    // What was begun must not use the room any more.
    (void)(*slot)->stream->finish();
    RsaLaunch::wipe_staging((*slot)->room, work);
    free_.push_back(std::move(*slot));
    return status;
  }
  size_t most_at_once(RsaKind kind) const override { return launch_.most_at_once(rsa_class(kind)); }
  uint64_t launches() const override { return launch_.launches() - test_launches_; }

  void give_back(std::unique_ptr<Slot> slot) { free_.push_back(std::move(slot)); }

  // Each way in which the kernels run must find the known answer.
  Status open() {
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
    LC_TRY(ask(key, LC_RSA_PUBLIC, answer->output, answer->input));
    test_launches_ = launch_.launches();
    device_->begin_service();
    return Status();
  }

 private:
  uint32_t limbs_of(const RsaClass &size) const {
    return launch_.arithmetic() == RsaArithmetic::kFp64 ? size.fp64_limbs : size.u32_limbs;
  }

  Result<std::unique_ptr<Slot>> take_slot() {
    if (!free_.empty()) {
      std::unique_ptr<Slot> slot = std::move(free_.back());
      free_.pop_back();
      return slot;
    }
    auto slot = std::make_unique<Slot>();
    Result<std::unique_ptr<device::Stream>> stream = device_->make_stream();
    if (!stream.ok()) return stream.status();
    slot->stream = std::move(*stream);
    Result<std::unique_ptr<device::Event>> event = device_->make_event();
    if (!event.ok()) return event.status();
    slot->done = std::move(*event);
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
    Result<std::unique_ptr<RsaBatch>> batch = start(operation, items);
    if (!batch.ok()) return batch.status();
    LC_TRY((*batch)->finish(right));
    for (size_t n = 0; n < kCount; ++n)
      if (right[n] == 0 || outputs[n] != expected)
        return Status(LC_ERROR_SELF_TEST, "its self-test failed: wrong output of RSA-2048");
    return Status();
  }

  std::unique_ptr<device::Device> device_;
  RsaLaunch launch_;
  std::vector<std::unique_ptr<Slot>> free_;
  uint64_t test_launches_ = 0;
};

Batch::~Batch() {
  if (!is_over_) (void)slot_->stream->finish();
  RsaLaunch::wipe_staging(slot_->room, work_);
  engine_.give_back(std::move(slot_));
}

}  // namespace

Result<std::unique_ptr<RsaEngine>> make_rsa_engine(const device::Found &found) {
  return open_for_rsa<RsaEngine, Engine>(found);
}

}  // namespace lanecrypt::schedule
