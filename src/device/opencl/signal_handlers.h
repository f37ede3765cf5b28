// Keeps the program's signal handlers. Drivers that compile with LLVM install LLVM's handlers,
// which remove files after a crash, instead of the program's. A server would then no longer receive
// the signals to reload or to stop.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <array>

namespace lanecrypt::device::opencl {

// The destructor restores each handler that a driver has replaced during the object's lifetime. A
// handler counts as a driver's if it lies in code that was not loaded when the first of these
// objects was made, which must be before any driver is loaded. Handlers that the program itself
// installs are kept.
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
