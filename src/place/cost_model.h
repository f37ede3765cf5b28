// Where a cipher request runs that its caller could also do by OpenSSL, on his own
// thread: what all sides would take, by what was measured on this machine and by
// what waits there now.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "place/calibration.h"

namespace lanecrypt::place {

enum class Prefer {
  kSpeed,    // the side that is done sooner
  kOffload,  // the one that takes less CPU time, unless it is slower than half
};

struct Question {
  CipherKind kind;
  bool pinned = false;  // all of its memory
  uint32_t streams = 1;
  uint64_t bytes = 0;  // of all streams, which are about as long as each other
};

// How things stand when it is asked.
struct Load {
  uint64_t device_bytes = 0;  // that wait or are under way there
  // The threads that would be several cores are at something else.
  bool cores_are_busy = false;
};

// What a request would take.
struct Estimate {
  uint64_t device_ns, device_cpu_ns, cpu_ns;
  uint64_t cores_ns;  // 0: it is nothing for several cores
};

// What is not the caller's core must be so much sooner that what was measured badly
// does no harm.
constexpr uint64_t kMarginPercent = 10;

// Any thread: it does not change.
class CostModel {
 public:
  explicit CostModel(const Calibration &calibration);

  // nullopt where nothing like it was measured.
  std::optional<Estimate> estimate(const Question &question, const Load &load) const;
  // LC_CHOICE_CPU, the caller's core, where nothing like it was measured.
  lc_choice choose(const Question &question, const Load &load, Prefer prefer) const;
  // The least bytes of one stream for which, with nothing under way, a device or several
  // cores are chosen; nullopt where they never are.
  std::optional<uint64_t> threshold(const CipherKind &kind, bool pinned, Prefer prefer) const;

 private:
  // Of one kind, memory and number of streams, by size.
  using Curve = std::vector<Point>;
  const Curve *find(const CipherKind &kind, bool pinned, bool many) const;
  const Curve *find_exact(const CipherKind &kind, bool pinned, bool many) const;

  std::vector<Curve> curves_;
};

}  // namespace lanecrypt::place
