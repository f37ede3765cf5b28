// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/signal_handlers.h"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lanecrypt::device::opencl {
namespace {

struct Range {
  uintptr_t begin, end;
};

struct Ranges {
  std::vector<Range> all;
  size_t found = 0;  // may exceed all.size(), which is the number that is stored
};

// dl_iterate_phdr() is C code and holds a lock. So this must not throw, and does not let `all`
// grow.
int add_code(dl_phdr_info *object, size_t, void *to) noexcept {
  Ranges &ranges = *static_cast<Ranges *>(to);
  for (unsigned n = 0; n < object->dlpi_phnum; ++n) {
    const auto &segment = object->dlpi_phdr[n];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (ranges.found < ranges.all.size())
      ranges.all[ranges.found] = {begin, begin + segment.p_memsz};
    ++ranges.found;
  }
  return 0;
}

// Returns the address ranges of the process's code. Other threads may load more code between two
// passes, so it repeats.
std::vector<Range> code_now() {
  Ranges ranges;
  do {
    ranges.all.resize(ranges.found);
    ranges.found = 0;
    dl_iterate_phdr(add_code, &ranges);
  } while (ranges.found > ranges.all.size());
  ranges.all.resize(ranges.found);
  return std::move(ranges.all);
}

const std::vector<Range> &code_before_drivers() {
  static const auto &code = *new std::vector<Range>(code_now());
  return code;
}

// Returns the handler's address, whichever kind it is.
uintptr_t handler_of(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<uintptr_t>(action.sa_sigaction)
                                             : reinterpret_cast<uintptr_t>(action.sa_handler);
}

bool is_of_driver(const struct sigaction &action) {
  const uintptr_t handler = handler_of(action);
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return false;
  const std::vector<Range> &code = code_before_drivers();
  return std::none_of(code.begin(), code.end(), [&](const Range &range) {
    return handler >= range.begin && handler < range.end;
  });
}

}  // namespace

KeptSignalHandlers::KeptSignalHandlers() {
  (void)code_before_drivers();
  for (int number = 1; number < kSignals; ++number)
    known_[number] = sigaction(number, nullptr, &before_[number]) == 0;
}

KeptSignalHandlers::~KeptSignalHandlers() {
  for (int number = 1; number < kSignals; ++number) {
    struct sigaction now {};
    if (!known_[number] || sigaction(number, nullptr, &now) != 0) continue;
    if (handler_of(now) != handler_of(before_[number]) && is_of_driver(now))
      (void)sigaction(number, &before_[number], nullptr);
  }
}

}  // namespace lanecrypt::device::opencl
