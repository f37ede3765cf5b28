// SPDX-License-Identifier: Apache-2.0
#include "pipeline/host_spans.h"

#include <unistd.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "job/cipher/cipher_job.h"
#include "job/round_up.h"

namespace lanecrypt::runtime {
namespace {

// Shorter runs gain nothing if the device copies them directly.
constexpr uint64_t kLeastDirectBytes = 64 << 10;
// Shorter runs gain nothing by being pinned, which takes two system calls.
constexpr uint64_t kLeastPinnedBytes = 3 << 20;
constexpr uint64_t kPartBytes = 1 << 20;

// No core soon reads what a longer copy has written. So it is written past the caches, which
// then need not read what it overwrites.
constexpr uint64_t kLeastStreamedBytes = 64 << 10;

void copy_bytes(uint8_t *to, const uint8_t *from, uint64_t bytes) {
#ifdef __SSE2__
  constexpr uint64_t kLineBytes = 64;
  if (bytes >= kLeastStreamedBytes) {
    const uint64_t head = -reinterpret_cast<uint64_t>(to) % kLineBytes;
    memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= kLineBytes; bytes -= kLineBytes, to += kLineBytes, from += kLineBytes) {
      const auto *source = reinterpret_cast<const __m128i *>(from);
      auto *sink = reinterpret_cast<__m128i *>(to);
      const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1),
                    c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
      _mm_stream_si128(sink, a);
      _mm_stream_si128(sink + 1, b);
      _mm_stream_si128(sink + 2, c);
      _mm_stream_si128(sink + 3, d);
    }
    _mm_sfence();
  }
#endif
  memcpy(to, from, bytes);
}

uint64_t page_bytes() {
  static const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool may_pin(const HostSpan &run) {
  return !run.direct && !run.must_stage && run.length >= kLeastPinnedBytes;
}

}  // namespace

void HostSpans::clear() {
  runs_.clear();
  copies_.clear();
  parts_.clear();
  leaves_gap_ = false;
}

void HostSpans::add(const uint8_t *host, uint64_t at, uint64_t length, bool must_stage) {
  if (length == 0) return;
  if (!runs_.empty()) {
    HostSpan &last = runs_.back();
    if (!leaves_gap_ && last.host + last.length == host && last.at + last.length == at &&
        last.must_stage == must_stage) {
      last.length += length;
      return;
    }
  }
  runs_.push_back({const_cast<uint8_t *>(host), at, length, must_stage, false, leaves_gap_, 0});
  leaves_gap_ = false;
}

void HostSpans::find_pinned(const PinnedMemory &pinned, device::Device &device) {
  for (HostSpan &run : runs_)
    run.direct =
        !run.must_stage && run.length >= kLeastDirectBytes &&
        (pinned.holds(run.host, run.length) || device.program_has_pinned(run.host, run.length));
}

uint64_t HostSpans::bytes_to_pin() const {
  uint64_t bytes = 0;
  for (const HostSpan &run : runs_) bytes += may_pin(run) ? run.length : 0;
  return bytes;
}

Status HostSpans::pin(device::Device &device, std::vector<std::unique_ptr<device::Buffer>> *pages) {
  const uint64_t page = page_bytes();
  std::vector<HostSpan> pinned;
  for (const HostSpan &run : runs_) {
    if (!may_pin(run)) {
      pinned.push_back(run);
      continue;
    }
    const uint64_t from = reinterpret_cast<uint64_t>(run.host);
    const uint64_t first = round_up(from, page);
    const uint64_t end = (from + run.length) / page * page;
    Result<std::unique_ptr<device::Buffer>> made =
        device.pin_in_place(reinterpret_cast<void *>(first), end - first);
    if (!made.ok()) return made.status();
    pages->push_back(std::move(*made));
    // The rest of the first and last page may be somebody else's, so these edges are copied.
    const uint64_t head = first - from, middle = end - first, tail = run.length - head - middle;
    if (head != 0) pinned.push_back({run.host, run.at, head, false, false, run.begins_row, 0});
    pinned.push_back({run.host + head, run.at + head, middle, false, true, false, 0});
    if (tail != 0)
      pinned.push_back(
          {run.host + head + middle, run.at + head + middle, tail, false, false, false, 0});
  }
  runs_ = std::move(pinned);
  return Status();
}

uint64_t HostSpans::lay_in_ring() {
  copies_.clear();
  parts_.clear();
  uint64_t used = 0, in_part = 0;
  const HostSpan *last = nullptr;
  for (HostSpan &run : runs_) {
    if (run.direct) {
      last = nullptr;
      continue;
    }
    // In the ring the two runs are as far apart as on the device, so that one copy takes both.
    if (last != nullptr && !run.begins_row)
      used = last->ring_at + (run.at - last->at);
    else
      used = whole_blocks(used);
    run.ring_at = used;
    for (uint64_t done = 0; done < run.length;) {
      const uint64_t length = std::min(run.length - done, kPartBytes - in_part);
      copies_.push_back({run.host + done, run.ring_at + done, length});
      done += length;
      in_part += length;
      if (in_part < kPartBytes) continue;
      parts_.push_back(copies_.size());
      in_part = 0;
    }
    used += run.length;
    last = &run;
  }
  if (in_part > 0) parts_.push_back(copies_.size());
  return used;
}

uint64_t HostSpans::staged_bytes() const {
  uint64_t bytes = 0;
  for (const HostSpan &run : runs_) bytes += run.direct ? 0 : run.length;
  return bytes;
}

bool HostSpans::has_direct() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const HostSpan &run) { return run.direct; });
}

void HostSpans::copy_in(uint8_t *ring, size_t part) const {
  for (size_t n = part == 0 ? 0 : parts_[part - 1]; n < parts_[part]; ++n)
    copy_bytes(ring + copies_[n].ring_at, copies_[n].host, copies_[n].length);
}

void HostSpans::copy_out(const uint8_t *ring, size_t part) const {
  for (size_t n = part == 0 ? 0 : parts_[part - 1]; n < parts_[part]; ++n)
    copy_bytes(copies_[n].host, ring + copies_[n].ring_at, copies_[n].length);
}

std::vector<HostSpan>::const_iterator HostSpans::find(uint64_t at) const {
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), at,
                       [](uint64_t place, const HostSpan &run) { return place < run.at; });
  return after - 1;
}

void HostSpans::read(uint64_t at, uint64_t bytes, const uint8_t *ring, uint8_t *to) const {
  for (auto run = find(at); bytes != 0; ++run) {
    const uint64_t skip = at - run->at, length = std::min(bytes, run->length - skip);
    memcpy(to, (run->direct ? run->host : ring + run->ring_at) + skip, length);
    at += length;
    to += length;
    bytes -= length;
  }
}

const uint8_t *HostSpans::find_in_ring(uint64_t at, const uint8_t *ring) const {
  const auto run = find(at);
  return ring + run->ring_at + (at - run->at);
}

// Calls `one` for each direct run, and once for each row of other runs.
template <typename Transfer>
Status HostSpans::transfer(Transfer one) const {
  for (size_t n = 0; n < runs_.size();) {
    const HostSpan &first = runs_[n];
    if (first.direct) {
      LC_TRY(one(first, first.length));
      ++n;
      continue;
    }
    do ++n;
    while (n < runs_.size() && !runs_[n].direct && !runs_[n].begins_row);
    LC_TRY(one(first, runs_[n - 1].at + runs_[n - 1].length - first.at));
  }
  return Status();
}

Status HostSpans::upload(device::Stream &stream, const device::Buffer &to,
                         const device::Buffer *ring) const {
  return transfer([&](const HostSpan &run, uint64_t length) {
    return stream.upload(to, run.at, run.direct ? run.host : ring->host() + run.ring_at, length);
  });
}

Status HostSpans::download(device::Stream &stream, const device::Buffer &from,
                           const device::Buffer *ring) const {
  return transfer([&](const HostSpan &run, uint64_t length) {
    return stream.download(run.direct ? run.host : ring->host() + run.ring_at, from, run.at,
                           length);
  });
}

}  // namespace lanecrypt::runtime
