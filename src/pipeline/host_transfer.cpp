// SPDX-License-Identifier: Apache-2.0
#include "pipeline/host_transfer.h"

#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "cpu/core_count.h"

namespace lanecrypt::runtime {
namespace {

constexpr uint64_t kSmallBytes = 256 << 10;

// What a MiB costs on a server of 2026 with pages of 4 KiB. Only the proportion matters.
// Pinning and unpinning take 45,000 ns. They take as much again by delaying the calls that
// keep the device busy, and twice that on a bad day.
constexpr uint64_t kPinNsPerMib = 144000, kCopyNsPerMib = 115000;

// Half the cores. As measured, three quarters of the cores copy a fifth faster for a quarter
// more CPU time, and a quarter of them a third slower for a quarter less.
unsigned choose_copy_threads() { return std::clamp(cpu::usable_cores() / 2, 1u, 8u); }

}  // namespace

CopyThreads::CopyThreads() : workers(choose_copy_threads()) {}

void Copies::begin() {
  std::lock_guard lock(mutex_);
  ++count_;
}

void Copies::end() {
  std::lock_guard lock(mutex_);
  --count_;
  changed_.notify_all();
}

void Copies::await_none() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return count_ == 0; });
}

HostTransfer::HostTransfer(device::Device &device, const PinnedMemory &pinned,
                           CopyThreads &copy_threads, bool saves_cpu)
    : device_(device),
      pinned_(pinned),
      copy_threads_(copy_threads),
      saves_cpu_(saves_cpu),
      pinner_(1, [this] { device_.attach_thread(); }) {}

bool HostTransfer::choose_pinning(uint64_t bytes) {
  if (bytes == 0) return false;
  const uint64_t pin_ns = (waiting_to_pin_bytes_ + bytes) * kPinNsPerMib;
  const uint64_t copy_ns =
      (copy_threads_.waiting_bytes + bytes) * kCopyNsPerMib / copy_threads_.workers.most_threads();
  if (pin_ns >= copy_ns && !saves_cpu_) return false;
  waiting_to_pin_bytes_ += bytes;
  return true;
}

void HostTransfer::plan(ChunkTransfer &share) {
  share.pin_in = share.pin_out = false;
  if (share.stages_all) return;
  share.in.find_pinned(pinned_, device_);
  share.out.find_pinned(pinned_, device_);
  if (!share.may_pin || !device_.pins_in_place()) return;
  share.pin_in = choose_pinning(share.in.bytes_to_pin());
  share.pin_out = choose_pinning(share.out.bytes_to_pin());
}

bool HostTransfer::is_small(const HostSpans &runs) { return runs.staged_bytes() <= kSmallBytes; }

void HostTransfer::pin(ChunkTransfer &share, std::function<void(Status)> done) {
  pinner_.give([this, &share, done = std::move(done)] {
    const uint64_t bytes = (share.pin_in ? share.in.bytes_to_pin() : 0) +
                           (share.pin_out ? share.out.bytes_to_pin() : 0);
    Status status;
    if (share.pin_in) {
      DriverTurn::Long turn(turn_);
      status = share.in.pin(device_, &share.pages);
    }
    if (status.ok() && share.pin_out) {
      DriverTurn::Long turn(turn_);
      status = share.out.pin(device_, &share.pages);
    }
    waiting_to_pin_bytes_ -= bytes;
    done(status);
  });
}

void HostTransfer::copy_instead(ChunkTransfer &share) {
  unpin(share);
  share.pin_in = share.pin_out = false;
  share.in.find_pinned(pinned_, device_);
  share.out.find_pinned(pinned_, device_);
}

void HostTransfer::lay_in_ring(ChunkTransfer &share) {
  share.ring_in_bytes = share.in.lay_in_ring();
  share.ring_out_bytes = share.out.lay_in_ring();
}

void HostTransfer::gather_now(const ChunkTransfer &share) {
  for (size_t n = 0; n < share.in.count_parts(); ++n) share.in.copy_in(share.ring_in->host(), n);
}

void HostTransfer::copy(uint64_t bytes, size_t count, std::function<void(size_t)> part,
                        std::function<void()> done) {
  copy_threads_.waiting_bytes += bytes;
  copies_->begin();
  // After done() the chunk may be over, and *this be gone.
  copy_threads_.workers.give(
      count, std::move(part),
      [&copy_threads = copy_threads_, bytes, copies = copies_, done = std::move(done)] {
        copy_threads.waiting_bytes -= bytes;
        done();
        copies->end();
      });
}

void HostTransfer::gather(const ChunkTransfer &share, std::function<void()> done) {
  copy(
      share.in.staged_bytes(), share.in.count_parts(),
      [&share](size_t part) { share.in.copy_in(share.ring_in->host(), part); }, std::move(done));
}

void HostTransfer::scatter_now(const ChunkTransfer &share) {
  for (size_t n = 0; n < share.out.count_parts(); ++n)
    share.out.copy_out(share.ring_out->host(), n);
}

void HostTransfer::scatter(const ChunkTransfer &share, std::function<void()> done) {
  copy(
      share.out.staged_bytes(), share.out.count_parts(),
      [&share](size_t part) { share.out.copy_out(share.ring_out->host(), part); }, std::move(done));
}

void HostTransfer::unpin(ChunkTransfer &share) {
  if (share.pages.empty()) return;
  DriverTurn::Long turn(turn_);
  share.pages.clear();
}

}  // namespace lanecrypt::runtime
