// Drivers that compile with LLVM put its signal handlers in place of the
// program's, for files to be removed at a crash: a server would no longer hear
// that it is to reload or to stop.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <array>

namespace lanecrypt::device::opencl {

// Puts back, when it goes, each handler that a driver has set while it lived. A
// driver's is one in code that was not there when the first of these was made,
// which is to be before a driver is loaded: what the program sets stays.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers();
  ~KeptSignalHandlers();
  KeptSignalHandlers(const KeptSignalHandlers &) = delete;

 private:
  static constexpr int kSignals = 65;
  std::array<struct sigaction, kSignals> before_{};
  std::array<bool, kSignals> known_{};
};

}  // namespace lanecrypt::device::opencl
