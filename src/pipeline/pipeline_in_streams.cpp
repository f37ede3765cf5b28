// Chunks in streams of callers': they wait for what the callers have put there, and may be looked
// after by them.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pipeline/pipeline.h"

namespace lanecrypt::runtime {
namespace {

// So few have slots enough: who looks after a chunk ends it, or the device's thread does before
// long. To look at one, and to end it, takes as long as a good part of a launch.
constexpr size_t kFewInStreams = 32;

}  // namespace

// Returns whether the caller of a chunk in its own stream polls for the end.
bool Pipeline::owns(const Slot *slot) {
  const Request &request = *slot->requests.front();
  return request.poll_until_done != nullptr && !request.has_callback();
}

Slot &Pipeline::take_stream_slot() {
  if (free_in_streams_.empty()) {
    stream_slots_.push_back(std::make_unique<Slot>());
    stream_slots_.back()->is_in_callers_order = true;
    free_in_streams_.push_back(stream_slots_.back().get());
  }
  Slot *slot = free_in_streams_.back();
  free_in_streams_.pop_back();
  in_streams_.push_back(slot);
  return begin(*slot);
}

// The stream in which messages in the device's memory are done.
Result<device::Stream *> Pipeline::stream_on_device(Slot &slot, Request &request) {
  void *const handle = request.job.stream;
  if (handle == nullptr || request.order != nullptr) {
    Result<device::Stream *> ours = stream_for(slot);
    if (!ours.ok() || request.order == nullptr) return ours;
    ThreadOrder &order = *request.order;
    LC_TRY((*ours)->await(*order.before));
    // The chunks of a job are in several streams: each also waits for the last one.
    if (order.has_begun) LC_TRY((*ours)->await(*order.after));
    return ours;
  }
  if (!device_.properties().default_streams && handle == LC_STREAM_LEGACY)
    return device::no_default_streams(device_.properties());
  Result<std::unique_ptr<device::Stream>> adopted = device_.adopt_stream(handle);
  if (!adopted.ok()) return adopted.status();
  slot.adopted = std::move(*adopted);
  return slot.adopted.get();
}

bool Pipeline::has_owner() const {
  return under_way_.empty() && std::all_of(in_streams_.begin(), in_streams_.end(), owns);
}

bool Pipeline::has_any_owner() const {
  return std::any_of(in_streams_.begin(), in_streams_.end(), owns);
}

bool Pipeline::has_failed_in_stream() const {
  return std::any_of(in_streams_.begin(), in_streams_.end(), [](const Slot *slot) {
    return slot->stage.load(std::memory_order_acquire) == Stage::kOver && !slot->status.ok();
  });
}

void Pipeline::await_in_stream(Workers &waiter, Slot &slot) {
  slot.is_polled = false;
  await(waiter, [this, &slot] {
    const Status status = slot.download_end->wait_long();
    if (!slot.claim(Stage::kReturning, Stage::kFinishing)) return;
    if (status.ok())
      move_to(slot, Stage::kOver);
    else
      fail(slot, status);
  });
}

std::shared_ptr<device::Event> Pipeline::end_in_stream(const Request &request) const {
  for (auto slot = in_streams_.rbegin(); slot != in_streams_.rend(); ++slot)
    if ((*slot)->requests.front().get() == &request) return (*slot)->download_end;
  return nullptr;
}

std::optional<Retired> Pipeline::retire_in_stream(const Request &request) {
  const auto has_ended_well = [](const Slot &slot) {
    return slot.stage == Stage::kReturning && slot.is_polled && slot.download_end->ended_well();
  };
  for (Slot *slot : in_streams_)
    if (slot->requests.front().get() == &request && has_ended_well(*slot)) return take_back(*slot);
  return std::nullopt;
}

RequestPointer Pipeline::oldest_owned() const {
  if (in_streams_.size() < kFewInStreams || !owns(in_streams_.front())) return nullptr;
  return in_streams_.front()->requests.front();
}

}  // namespace lanecrypt::runtime
