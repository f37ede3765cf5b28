// The caller's bytes of one chunk, as spans. A span, also called a run, is contiguous both in host
// memory and in the chunk's memory on the device.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"
#include "pipeline/pinned_memory.h"

namespace lanecrypt::runtime {

// One span.
struct HostSpan {
  uint8_t *host;  // an input is only read
  uint64_t at;    // where the run is in the chunk
  uint64_t length;
  bool must_stage;   // may not be direct
  bool direct;       // the device copies from or to `host` itself
  bool begins_row;   // what lies before it in the chunk is not of this side
  uint64_t ring_at;  // if not direct: its place in the chunk's pinned memory
};

// The spans of one side of a chunk: its input or its output.
class HostSpans {
 public:
  void clear();
  // Adds a span, in order of `at`. must_stage: output that overwrites its input. The device may
  // not write there, since it may be lost half way.
  void add(const uint8_t *host, uint64_t at, uint64_t length, bool must_stage = false);
  // The next run is not copied together with the last one, since others fill what lies between.
  void leave_gap() { leaves_gap_ = true; }

  // Makes long runs direct whose memory is pinned already.
  void find_pinned(const PinnedMemory &pinned, device::Device &device);
  // How many bytes are in runs that are not direct, and may be pinned and gain by it.
  uint64_t bytes_to_pin() const;
  // Pins the whole pages of such runs, which are then direct. After an error all is as
  // before, except `pages`, which the caller must free.
  Status pin(device::Device &device, std::vector<std::unique_ptr<device::Buffer>> *pages);

  // Gives each run that is not direct its place in the ring. Returns how many bytes that takes.
  uint64_t lay_in_ring();
  uint64_t staged_bytes() const;
  bool has_direct() const;

  // The copies between host and ring, in parts of about equal size.
  size_t count_parts() const { return parts_.size(); }
  void copy_in(uint8_t *ring, size_t part) const;
  void copy_out(const uint8_t *ring, size_t part) const;

  // Reads the output, from `at` in the chunk on, wherever it is.
  void read(uint64_t at, uint64_t bytes, const uint8_t *ring, uint8_t *to) const;
  // The place of output in the ring, if it is not direct.
  const uint8_t *find_in_ring(uint64_t at, const uint8_t *ring) const;

  // The copies between host or ring and the device.
  Status upload(device::Stream &stream, const device::Buffer &to, const device::Buffer *ring) const;
  Status download(device::Stream &stream, const device::Buffer &from,
                  const device::Buffer *ring) const;

 private:
  struct Copy {
    uint8_t *host;
    uint64_t ring_at, length;
  };
  std::vector<HostSpan>::const_iterator find(uint64_t at) const;
  template <typename Transfer>
  Status transfer(Transfer one) const;

  std::vector<HostSpan> runs_;
  bool leaves_gap_ = false;
  std::vector<Copy> copies_;
  std::vector<size_t> parts_;  // where each part ends in copies_
};

}  // namespace lanecrypt::runtime
