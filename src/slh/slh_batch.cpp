// SPDX-License-Identifier: Apache-2.0
#include "slh/slh_batch.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/slh/slh_message.h"
#include "secure/wiped_bytes.h"
#include "thread/stuck.h"

namespace lanecrypt::runtime {
namespace {

// So many results of the first batch of each kind are computed again.
constexpr size_t kFirstLooks = 4;
// Then the CPU rests so many times as long as it looked: one that always looks would take longer
// than a device for what it does.
constexpr int kRest = 50;

Status wrong_result() {
  return Status(LC_ERROR_DEVICE, "it gave a wrong result of SLH-DSA, and called it right");
}

// All of a batch have one.
const SlhSet &set_of(std::span<const BatchItem> items) {
  return static_cast<const SlhRequest &>(*items[0].request).set_of(items[0].number);
}

class SlhBatch : public Batch {
 public:
  SlhBatch(SlhLaunch &launch, SlhSlots &slots, SlhLooks *looks, BatchKind kind,
           SlhSlots::SlotPointer slot, std::vector<BatchItem> items)
      : launch_(launch),
        slots_(slots),
        looks_(looks),
        kind_(kind),
        slot_(std::move(slot)),
        items_(std::move(items)),
        set_(set_of(items_)) {}
  ~SlhBatch() override {
    SlhLaunch::wipe_host(slot_->room);
    slots_.give_back(std::move(slot_), is_over_);
  }

  bool is_done() override { return slot_->done->reached(); }
  Status finish(std::span<uint8_t> right) override;
  void abandon() override { is_over_ = false; }

 private:
  SlhSignatures &signatures(uint32_t at) const {
    return static_cast<SlhSignatures &>(*items_[at].request);
  }
  SlhKeys &keys(uint32_t at) const { return static_cast<SlhKeys &>(*items_[at].request); }
  const SlhRoom &room() const { return slot_->room; }

  Status take_signatures(std::span<uint8_t> right);
  Status take_verdicts();
  Status take_keys();
  Status look();
  // Computes result `at` again; not one that is known to be wrong.
  Status look_at(uint32_t at);
  Status look_at_signature(uint32_t at);
  Status look_at_verdict(uint32_t at);
  Status look_at_key(uint32_t at);
  Status look_at_draft_key(uint32_t at);

  SlhLaunch &launch_;
  SlhSlots &slots_;
  SlhLooks *const looks_;
  const BatchKind kind_;
  SlhSlots::SlotPointer slot_;
  const std::vector<BatchItem> items_;
  const SlhSet &set_;
  bool is_over_ = false;
};

Status SlhBatch::look_at(uint32_t at) {
  switch (kind_.operation) {
    case LC_SLH_DSA_SIGN:
      return look_at_signature(at);
    case LC_SLH_DSA_VERIFY:
      return look_at_verdict(at);
    default:
      return look_at_key(at);
  }
}

Status SlhBatch::look_at_signature(uint32_t at) {
  if (!SlhLaunch::is_right(room(), set_, at)) return Status();
  const SlhSignatures &request = signatures(at);
  const cpu::SlhHashed &hashed = request.hashed(items_[at].number);
  const uint8_t *const from = SlhLaunch::signature(room(), set_, at);
  secure::WipedBytes made(from, from + set_.signature_bytes());
  std::memcpy(made.data(), hashed.r, set_.n);
  bool valid = false;
  LC_TRY(cpu::slh_verify(request.key_of(items_[at].number), hashed, made, valid));
  return valid ? Status() : wrong_result();
}

Status SlhBatch::look_at_verdict(uint32_t at) {
  const SlhSignatures &request = signatures(at);
  const uint32_t number = items_[at].number;
  Result<bool> verdict = SlhLaunch::verdict(room(), at);
  if (!verdict.ok()) return verdict.status();
  bool valid = false;
  LC_TRY(cpu::slh_verify(request.key_of(number), request.hashed(number), request.signature(number),
                         valid));
  return valid == *verdict ? Status() : wrong_result();
}

Status SlhBatch::look_at_key(uint32_t at) {
  if (set_.is_draft()) return look_at_draft_key(at);
  const size_t n = set_.n;
  uint8_t root[32];
  SlhLaunch::take_root(room(), set_, at, root);
  secure::KeyMemory key(set_.private_bytes());
  if (!key.ok(set_.private_bytes())) return Status(LC_ERROR_MEMORY, "no memory for a key");
  LC_TRY(cpu::slh_make_key(set_, keys(at).seeds(items_[at].number), {key.data(), key.size()}));
  return std::memcmp(key.data() + 3 * n, root, n) == 0 ? Status() : wrong_result();
}

// To make such a key again would take a core minutes: it makes one part of the tree, which is one
// of thousands, and all that stands above the parts.
Status SlhBatch::look_at_draft_key(uint32_t at) {
  const size_t n = set_.n;
  uint8_t root[32], made[32];
  SlhLaunch::take_root(room(), set_, at, root);
  const uint32_t *const nodes = SlhLaunch::kept_nodes(room(), set_, at);
  const size_t part = looks_->below(set_.kept_nodes());
  LC_TRY(cpu::slh_part(set_, keys(at).seeds(items_[at].number), uint32_t(part), made));
  uint8_t node[32];
  cpu::slh_bytes(set_, nodes + part * (n / 4), node);
  if (std::memcmp(made, node, n) != 0) return wrong_result();
  LC_TRY(cpu::slh_root_of(set_, keys(at).seeds(items_[at].number).last(n), nodes, made));
  return std::memcmp(made, root, n) == 0 ? Status() : wrong_result();
}

// Which results the CPU computes again.
Status SlhBatch::look() {
  const SlhLooks::Range range = looks_->choose(kind_, items_.size());
  const auto begin = std::chrono::steady_clock::now();
  for (size_t n = 0; n < range.count; ++n)
    LC_TRY(look_at(uint32_t((range.first + n) % items_.size())));
  if (range.count != 0) looks_->took(kind_, std::chrono::steady_clock::now() - begin);
  return Status();
}

// A signature that is wrong, or whose roots differ from what its key has signed before, is the
// CPU's to make again.
Status SlhBatch::take_signatures(std::span<uint8_t> right) {
  launch_.share(uint32_t(items_.size()), set_.signature_bytes(), [&](uint32_t at) {
    std::array<uint8_t, size_t{SLH_MOST_LAYERS} * 32> roots;
    const SlhSignatures &request = signatures(at);
    const uint32_t number = items_[at].number;
    right[at] = 0;
    if (!SlhLaunch::is_right(room(), set_, at)) return;
    SlhLaunch::take_roots(room(), set_, at, roots);
    if (!request.have_roots_agree(number, roots)) return;
    const std::span<uint8_t> to = request.signature(number);
    std::memcpy(to.data(), request.hashed(number).r, set_.n);
    std::memcpy(&to[set_.n], SlhLaunch::signature(room(), set_, at) + set_.n,
                set_.signature_bytes() - set_.n);
    right[at] = 1;
  });
  // What was given out is no secret.
  if (std::find(right.begin(), right.end(), 0) == right.end()) slot_->room.result_bytes = 0;
  return Status();
}

Status SlhBatch::take_verdicts() {
  for (uint32_t at = 0; at < items_.size(); ++at)
    if (Result<bool> verdict = SlhLaunch::verdict(room(), at); !verdict.ok())
      return verdict.status();
  for (uint32_t at = 0; at < items_.size(); ++at)
    signatures(at).set_verdict(items_[at].number, *SlhLaunch::verdict(room(), at));
  return Status();
}

Status SlhBatch::take_keys() {
  for (uint32_t at = 0; at < items_.size(); ++at) {
    const std::span<uint8_t> to = keys(at).key(items_[at].number);
    const std::span<const uint8_t> seeds = keys(at).seeds(items_[at].number);
    std::memcpy(to.data(), seeds.data(), seeds.size());
    SlhLaunch::take_root(room(), set_, at, &to[seeds.size()]);
    const std::span<uint8_t> tree = keys(at).tree(items_[at].number);
    const uint32_t *const nodes = SlhLaunch::kept_nodes(room(), set_, at);
    for (size_t byte = 0; byte < tree.size(); byte += set_.n)
      cpu::slh_bytes(set_, nodes + byte / 4, &tree[byte]);
  }
  return Status();
}

Status SlhBatch::finish(std::span<uint8_t> right) {
  const Status status = slot_->done->wait();
  is_over_ = true;
  if (!status.ok()) return status;
  // This comes before anything is written.
  if (looks_ != nullptr) LC_TRY(look());
  switch (kind_.operation) {
    case LC_SLH_DSA_SIGN:
      return take_signatures(right);
    case LC_SLH_DSA_VERIFY:
      return take_verdicts();
    default:
      return take_keys();
  }
}

}  // namespace

SlhLooks::Range SlhLooks::choose(BatchKind kind, size_t operations) {
  const size_t first = dice_.throw_below(operations);
  if (verify_ == LC_VERIFY_FULL) return {first, operations};
  const auto known = next_.find(kind);
  if (known == next_.end()) return {first, std::min(kFirstLooks, operations)};
  return {first, known->second <= Clock::now() ? size_t{1} : size_t{0}};
}

void SlhLooks::took(BatchKind kind, std::chrono::nanoseconds time) {
  next_[kind] = Clock::now() + kRest * time;
}

Result<std::unique_ptr<Batch>> start_slh_batch(SlhLaunch &launch, SlhSlots &slots, SlhLooks *looks,
                                               BatchKind kind, std::span<const BatchItem> items) {
  // To free memory waits for all that the device does.
  if (slots.under_way() == 0) launch.memory().free_outgrown();
  Result<SlhSlots::SlotPointer> taken = slots.take();
  if (!taken.ok()) return taken.status();
  SlhSlots::Starting slot(slots, std::move(*taken), SlhLaunch::wipe_host);
  const SlhSet &set = set_of(items);
  const auto count = uint32_t(items.size());
  const auto put_item = [&](uint32_t at, SlhItem &item) {
    static_cast<SlhRequest &>(*items[at].request).put_item(items[at].number, item);
  };
  device::Stream &stream = *slot->long_stream;
  Status status;
  if (kind.operation == LC_SLH_DSA_SIGN) {
    // Of the draft's sets a batch is one signature.
    const std::span<const uint32_t> tree =
        static_cast<SlhSignatures &>(*items[0].request).key_of(items[0].number).tree;
    status = launch.start_sign(stream, slot->room, set, count, put_item, tree);
  } else if (kind.operation == LC_SLH_DSA_VERIFY) {
    status = launch.start_verify(stream, slot->room, set, count, put_item, [&](uint32_t at) {
      return static_cast<SlhSignatures &>(*items[at].request).signature(items[at].number).data();
    });
  } else {
    status = launch.start_keys(stream, slot->room, set, count, put_item);
  }
  if (status.ok()) status = stream.mark(*slot->done);
  if (!status.ok()) return slot.give_up() ? status : stuck_status(slots.time_limit());
  std::vector<BatchItem> its_items(items.begin(), items.end());
  return std::unique_ptr<Batch>(
      new SlhBatch(launch, slots, looks, kind, slot.take(), std::move(its_items)));
}

}  // namespace lanecrypt::runtime
