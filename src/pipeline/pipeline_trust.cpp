// How a pipeline treats a device that gives wrong output or ends nothing.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>

#include "pipeline/pipeline.h"
#include "thread/stuck.h"

namespace lanecrypt::runtime {
namespace {

constexpr std::chrono::milliseconds kPatience{5000};
constexpr std::chrono::microseconds kShortJob{100};

const uint8_t *ring_of(const Slot &slot) {
  return slot.share.ring_out == nullptr ? nullptr : slot.share.ring_out->host();
}

}  // namespace

// Called on the thread that waited for the output, before the output goes to where it belongs.
Status Pipeline::check_output(Slot &slot) noexcept {
  try {
    return check_output_of(slot);
  } catch (const std::exception &) {  // want of memory
    return out_of_memory();
  }
}

Status Pipeline::check_output_of(Slot &slot) {
  Status status;
  if (options_.verify == LC_VERIFY_FULL) {
    const bool is_aead = slot.work.kind.info().is_aead;
    for (size_t n = 0; n < slot.pieces.size() && status.ok(); ++n) {
      const ChunkPiece &part = slot.pieces[n];
      if (part.request->job.reads_device()) continue;
      const bool has_output = part.request->text_of(part.piece).length != 0;
      if (!has_output && (!is_aead || slot.work.kind.is_ccm())) continue;
      const uint8_t *out =
          has_output ? slot.share.out.find_in_ring(slot.places[n], ring_of(slot)) : nullptr;
      cpu::AeadSum sum = {};
      if (is_aead) sum = slot.launch->sum(*slot.workspace, slot.work, n);
      status = check_whole(part, out, &sum);
    }
  } else if (options_.verify == LC_VERIFY_SAMPLED) {
    status = slot.check.compare(slot.pieces, [&](size_t n, uint8_t *to) {
      const OutputCheck::Entry &entry = slot.check.entries()[n];
      slot.share.out.read(entry.from(), entry.bytes(), ring_of(slot), to);
    });
  }
  slot.gave_wrong_output = status.code() == LC_ERROR_DEVICE;
  // A check that the CPU could not do says nothing of the device, which stays in service.
  if (!status.ok() && !slot.gave_wrong_output)
    status = Status(LC_ERROR_MEMORY, "the output could not be checked: " + status.text());
  return status;
}

bool Pipeline::poll_oldest() {
  if (under_way_.empty()) {
    const Clock::time_point end = Clock::now() + kShortJob;
    do
      if (find_over() != nullptr) return true;
    while (Clock::now() < end);
    return false;
  }
  Slot &slot = *under_way_.front();
  const auto reaches = [](device::Event &event) {
    // A short job is over before a sleep would end. How long a look takes depends on the API.
    const Clock::time_point end = Clock::now() + kShortJob;
    do
      if (event.reached()) return true;
    while (Clock::now() < end);
    return false;
  };
  if (slot.stage == Stage::kComputing) {
    if (!reaches(*slot.kernel_end)) return false;
    Status status = slot.kernel_end->wait();
    if (status.ok()) status = bring_back(slot);
    if (!status.ok()) fail(slot, status);
  }
  return slot.stage == Stage::kOver || reaches(*slot.download_end);
}

bool Pipeline::wait_by_itself() {
  if (own_waits_.empty()) return false;
  const std::function<void()> wait = std::move(own_waits_.front());
  own_waits_.pop_front();
  wait();
  return true;
}

std::chrono::milliseconds Pipeline::patience() const {
  auto most = options_.time_limit;
  if (!under_way_.empty())
    most -= std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - waiting_since_);
  return std::max(most, std::chrono::milliseconds(1));
}

void Pipeline::give_up_if_overdue() {
  is_stuck_ = is_stuck_ || (is_overdue() && !is_over(*under_way_.front()));
}

void Pipeline::wait() {
  if (wait_by_itself()) return;
  (void)wake_event_.wait(patience());
  give_up_if_overdue();
}

// Chunks in a caller's stream do not count: there the device may wait for the caller's own work.
bool Pipeline::is_overdue() const {
  return !under_way_.empty() && Clock::now() - waiting_since_ >= options_.time_limit;
}

Status Pipeline::stuck() const { return stuck_status(options_.time_limit); }

// Takes a chunk away from the threads that wait for it. Our own threads first end the copies
// that they have begun, since these touch the caller's memory.
void Pipeline::give_up(Slot &slot) {
  const Clock::time_point patience_ends = Clock::now() + kPatience;
  while (true) {
    const Stage stage = slot.stage;
    if (stage == Stage::kOver || stage == Stage::kGivenUp) return;
    const bool is_ours = stage == Stage::kPreparing || stage == Stage::kFinishing;
    // Data in place may still be input in one half, and already output in the other.
    const bool must_end = stage == Stage::kScattering;
    if (must_end || (is_ours && Clock::now() < patience_ends)) {
      (void)wake_event_.wait(std::chrono::milliseconds(10));
    } else if (slot.claim(stage, Stage::kGivenUp)) {
      slot.status = stuck();
    }
  }
}

Status Pipeline::finish(device::Stream &stream) {
  if (is_stuck_) return stuck();
  std::unique_ptr<device::Event> event;
  try {
    Result<std::unique_ptr<device::Event>> made = device_.make_event();
    if (made.ok()) {
      LC_TRY(stream.mark(**made));
      event = std::move(*made);
    }
  } catch (const std::exception &) {
    // Want of memory, as the device may say too.
  }
  if (event == nullptr) return stream.finish();
  if (!await_within(*event, options_.time_limit)) {
    is_stuck_ = true;
    // The event must not be freed while the device may still reach it.
    (void)event.release();
    return stuck();
  }
  return event->wait();
}

}  // namespace lanecrypt::runtime
