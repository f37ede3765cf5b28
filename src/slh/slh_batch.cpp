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

// The number of results of the first batch of each kind that the CPU checks.
constexpr size_t kFirstLooks = 4;
// After a check, the CPU checks nothing for this multiple of the check's duration. A CPU that
// always checked would take longer than the device takes for the operations.
constexpr int kRest = 50;

// The set of a batch; all items have the same.
const SlhSet &set_of(std::span<const BatchItem> items) {
  return static_cast<const SlhRequest &>(*items[0].request).set_of(items[0].number);
}

class SlhBatch : public Batch {
 public:
  SlhBatch(SlhLaunch &launch, SlhSlots &slots, SlhSpotChecks *spot_checks, BatchKind kind,
           SlhSlots::SlotPointer slot, std::vector<BatchItem> items)
      : launch_(launch),
        slots_(slots),
        spot_checks_(spot_checks),
        kind_(kind),
        slot_(std::move(slot)),
        items_(std::move(items)),
        set_(set_of(items_)) {}
  ~SlhBatch() override {
    SlhLaunch::wipe_host(slot_->workspace);
    slots_.give_back(std::move(slot_), is_over_);
  }

  bool is_done() override { return slot_->done->reached(); }
  Failure finish(ItemResults &results) override;
  void abandon() override { is_over_ = false; }

 private:
  SlhSignatures &signatures(uint32_t at) const {
    return static_cast<SlhSignatures &>(*items_[at].request);
  }
  SlhKeys &keys(uint32_t at) const { return static_cast<SlhKeys &>(*items_[at].request); }
  const SlhWorkspace &workspace() const { return slot_->workspace; }

  Status read_checks(ItemResults &results);
  void take_signatures(ItemResults &results);
  void take_verdicts(const ItemResults &results);
  void take_keys(const ItemResults &results);
  void check_samples(ItemResults &results);
  // Whether result `at` is right, as the CPU finds. An error is the CPU's.
  Result<bool> is_right(uint32_t at);
  Result<bool> is_signature_right(uint32_t at);
  Result<bool> is_verdict_right(uint32_t at);
  Result<bool> is_key_right(uint32_t at);
  Result<bool> is_draft_key_right(uint32_t at);

  SlhLaunch &launch_;
  SlhSlots &slots_;
  SlhSpotChecks *const spot_checks_;
  const BatchKind kind_;
  SlhSlots::SlotPointer slot_;
  const std::vector<BatchItem> items_;
  const SlhSet &set_;
  bool is_over_ = false;
};

Result<bool> SlhBatch::is_right(uint32_t at) {
  switch (kind_.operation) {
    case LC_SLH_DSA_SIGN:
      return is_signature_right(at);
    case LC_SLH_DSA_VERIFY:
      return is_verdict_right(at);
    default:
      return is_key_right(at);
  }
}

Result<bool> SlhBatch::is_signature_right(uint32_t at) {
  const SlhSignatures &request = signatures(at);
  const cpu::SlhHashed &hashed = request.hashed(items_[at].number);
  const uint8_t *const from = SlhLaunch::signature(workspace(), set_, at);
  secure::WipedBytes made(from, from + set_.signature_bytes());
  std::memcpy(made.data(), hashed.r, set_.n);
  bool valid = false;
  LC_TRY(cpu::slh_verify(request.key_of(items_[at].number), hashed, made, valid));
  return valid;
}

Result<bool> SlhBatch::is_verdict_right(uint32_t at) {
  const SlhSignatures &request = signatures(at);
  const uint32_t number = items_[at].number;
  bool valid = false;
  LC_TRY(cpu::slh_verify(request.key_of(number), request.hashed(number), request.signature(number),
                         valid));
  return valid == *SlhLaunch::verdict(workspace(), at);
}

Result<bool> SlhBatch::is_key_right(uint32_t at) {
  if (set_.is_draft()) return is_draft_key_right(at);
  const size_t n = set_.n;
  uint8_t root[32];
  SlhLaunch::take_root(workspace(), set_, at, root);
  secure::KeyMemory key(set_.private_bytes());
  if (!key.ok(set_.private_bytes())) return Status(LC_ERROR_MEMORY, "no memory for a key");
  LC_TRY(cpu::slh_make_key(set_, keys(at).seeds(items_[at].number), {key.data(), key.size()}));
  return std::memcmp(key.data() + 3 * n, root, n) == 0;
}

// Checks a key of a draft's set. To compute such a key again would take a core minutes, so this
// computes one random part of the tree, which is one of thousands, and all nodes above the parts.
Result<bool> SlhBatch::is_draft_key_right(uint32_t at) {
  const size_t n = set_.n;
  uint8_t root[32], made[32];
  SlhLaunch::take_root(workspace(), set_, at, root);
  const uint32_t *const nodes = SlhLaunch::kept_nodes(workspace(), set_, at);
  const size_t part = spot_checks_->below(set_.kept_nodes());
  LC_TRY(cpu::slh_part(set_, keys(at).seeds(items_[at].number), uint32_t(part), made));
  uint8_t node[32];
  cpu::slh_bytes(set_, nodes + part * (n / 4), node);
  if (std::memcmp(made, node, n) != 0) return false;
  LC_TRY(cpu::slh_root_of(set_, keys(at).seeds(items_[at].number).last(n), nodes, made));
  return std::memcmp(made, root, n) == 0;
}

// Marks signatures that have no verdict of this launch as wrong. Returns an error of the device if
// a signature that was to be verified has no verdict.
Status SlhBatch::read_checks(ItemResults &results) {
  for (uint32_t at = 0; at < items_.size(); ++at) {
    if (kind_.operation == LC_SLH_DSA_SIGN && !SlhLaunch::is_right(workspace(), set_, at))
      results.mark_wrong(at);
    if (kind_.operation != LC_SLH_DSA_VERIFY) continue;
    if (Result<bool> verdict = SlhLaunch::verdict(workspace(), at); !verdict.ok())
      return verdict.status();
  }
  return Status();
}

// Which results the CPU computes again.
void SlhBatch::check_samples(ItemResults &results) {
  const SlhSpotChecks::Range range = spot_checks_->choose(kind_, items_.size());
  const auto begin = std::chrono::steady_clock::now();
  spot_check(results, range.first, range.count, [this](size_t n) { return is_right(uint32_t(n)); });
  if (range.count != 0) spot_checks_->took(kind_, std::chrono::steady_clock::now() - begin);
}

// Copies the signatures to the caller. A signature that is wrong, or whose roots differ from what
// its key has signed before, is marked as wrong, and the CPU makes it again.
void SlhBatch::take_signatures(ItemResults &results) {
  launch_.share(uint32_t(items_.size()), set_.signature_bytes(), [&](uint32_t at) {
    std::array<uint8_t, size_t{SLH_MOST_LAYERS} * 32> roots;
    const SlhSignatures &request = signatures(at);
    const uint32_t number = items_[at].number;
    if (!results.is_right(at)) return;
    SlhLaunch::take_roots(workspace(), set_, at, roots);
    if (!request.have_roots_agree(number, roots)) return results.mark_wrong(at);
    const std::span<uint8_t> to = request.signature(number);
    std::memcpy(to.data(), request.hashed(number).r, set_.n);
    std::memcpy(&to[set_.n], SlhLaunch::signature(workspace(), set_, at) + set_.n,
                set_.signature_bytes() - set_.n);
  });
  // Signatures that the caller has are not secret and need no wiping.
  if (results.are_all_right()) slot_->workspace.result_bytes = 0;
}

void SlhBatch::take_verdicts(const ItemResults &results) {
  for (uint32_t at = 0; at < items_.size(); ++at)
    if (results.is_right(at))
      signatures(at).set_verdict(items_[at].number, *SlhLaunch::verdict(workspace(), at));
}

void SlhBatch::take_keys(const ItemResults &results) {
  for (uint32_t at = 0; at < items_.size(); ++at) {
    if (!results.is_right(at)) continue;
    const std::span<uint8_t> to = keys(at).key(items_[at].number);
    const std::span<const uint8_t> seeds = keys(at).seeds(items_[at].number);
    std::memcpy(to.data(), seeds.data(), seeds.size());
    SlhLaunch::take_root(workspace(), set_, at, &to[seeds.size()]);
    const std::span<uint8_t> tree = keys(at).tree(items_[at].number);
    const uint32_t *const nodes = SlhLaunch::kept_nodes(workspace(), set_, at);
    for (size_t byte = 0; byte < tree.size(); byte += set_.n)
      cpu::slh_bytes(set_, nodes + byte / 4, &tree[byte]);
  }
}

Failure SlhBatch::finish(ItemResults &results) {
  Status status = slot_->done->wait();
  is_over_ = true;
  if (status.ok()) status = read_checks(results);
  if (!status.ok()) return Failure::of_device(status);
  // This comes before anything is written.
  if (spot_checks_ != nullptr) check_samples(results);
  if (kind_.operation == LC_SLH_DSA_SIGN)
    take_signatures(results);
  else if (kind_.operation == LC_SLH_DSA_VERIFY)
    take_verdicts(results);
  else
    take_keys(results);
  return Failure();
}

}  // namespace

SlhSpotChecks::Range SlhSpotChecks::choose(BatchKind kind, size_t operations) {
  const size_t first = sampler_.uniform_below(operations);
  if (verify_ == LC_VERIFY_FULL) return {first, operations};
  const auto known = next_.find(kind);
  if (known == next_.end()) return {first, std::min(kFirstLooks, operations)};
  return {first, known->second <= Clock::now() ? size_t{1} : size_t{0}};
}

void SlhSpotChecks::took(BatchKind kind, std::chrono::nanoseconds time) {
  next_[kind] = Clock::now() + kRest * time;
}

BatchEngine::Started start_slh_batch(SlhLaunch &launch, SlhSlots &slots, SlhSpotChecks *spot_checks,
                                     BatchKind kind, std::span<const BatchItem> items) {
  // Freeing memory waits for all work of the device, so it happens only while the device is idle.
  if (slots.under_way() == 0) launch.memory().free_outgrown();
  Result<SlhSlots::SlotPointer> taken = slots.take();
  if (!taken.ok()) return Failure::of_device(taken.status());
  SlhSlots::Starting slot(slots, std::move(*taken), SlhLaunch::wipe_host);
  const SlhSet &set = set_of(items);
  const auto count = uint32_t(items.size());
  const auto put_item = [&](uint32_t at, SlhItem &item) {
    static_cast<SlhRequest &>(*items[at].request).put_item(items[at].number, item);
  };
  device::Stream &stream = *slot->long_stream;
  Status status;
  if (kind.operation == LC_SLH_DSA_SIGN) {
    // A batch of a draft's set is one signature.
    const std::span<const uint32_t> tree =
        static_cast<SlhSignatures &>(*items[0].request).key_of(items[0].number).tree;
    status = launch.start_sign(stream, slot->workspace, set, count, put_item, tree);
  } else if (kind.operation == LC_SLH_DSA_VERIFY) {
    status = launch.start_verify(stream, slot->workspace, set, count, put_item, [&](uint32_t at) {
      return static_cast<SlhSignatures &>(*items[at].request).signature(items[at].number).data();
    });
  } else {
    status = launch.start_keys(stream, slot->workspace, set, count, put_item);
  }
  if (status.ok()) status = stream.mark(*slot->done);
  if (!status.ok())
    return Failure::of_device(slot.give_up() ? status : stuck_status(slots.time_limit()));
  std::vector<BatchItem> its_items(items.begin(), items.end());
  return std::unique_ptr<Batch>(
      new SlhBatch(launch, slots, spot_checks, kind, slot.take(), std::move(its_items)));
}

}  // namespace lanecrypt::runtime
