// Decides where a cipher request runs that its caller could also do by OpenSSL, on its own
// thread. It estimates the time of each side from measurements on this machine and from the
// work that waits there now.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "placement/calibration.h"

namespace lanecrypt::placement {

enum class Prefer {
  kSpeed,    // the side that is done sooner
  kOffload,  // the side that takes less CPU time, unless it takes more than twice as long
};

struct Question {
  CipherKind kind;
  bool pinned = false;  // whether all of its memory is pinned
  uint32_t streams = 1;
  uint64_t bytes = 0;  // of all streams together, which should be about equally long
};

// The load at the time of the question.
struct Load {
  uint64_t device_bytes = 0;  // bytes that wait or are under way on the device
  // Whether the threads for several cores have other work.
  bool cores_are_busy = false;
};

// The times that a request would take.
struct Estimate {
  uint64_t device_ns, device_cpu_ns, cpu_ns;
  uint64_t cores_ns;  // 0: several cores cannot do it
};

// Any other side must be so much sooner than the caller's core. Then a poor measurement does no
// harm.
constexpr uint64_t kMarginPercent = 10;

// Any thread: it does not change.
class CostModel {
 public:
  explicit CostModel(const Calibration &calibration);

  // nullopt if nothing like it was measured.
  std::optional<Estimate> estimate(const Question &question, const Load &load) const;
  // LC_CHOICE_CPU, the caller's core, if nothing like it was measured.
  lc_choice choose(const Question &question, const Load &load, Prefer prefer) const;
  // The fewest bytes of one stream for which a device or several cores are chosen when nothing
  // is under way. nullopt if they never are.
  std::optional<uint64_t> threshold(const CipherKind &kind, bool pinned, Prefer prefer) const;

 private:
  // The points of one kind, memory and number of streams, by size.
  using Curve = std::vector<Point>;
  const Curve *find(const CipherKind &kind, bool pinned, bool many) const;
  const Curve *find_exact(const CipherKind &kind, bool pinned, bool many) const;

  std::vector<Curve> curves_;
};

}  // namespace lanecrypt::placement
