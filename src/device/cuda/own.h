// Results of the driver's calls: an error, or an object that owns what the driver returned.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "device/cuda/driver.h"

namespace lanecrypt::device::cuda {

inline Status check(const Driver &driver, CUresult result, const char *what) {
  return result == kSuccess ? Status() : error(driver, result, what);
}

// Makes an object that owns what the driver returned, from its parts. If there is no memory for the
// object, `give_back` returns the driver's object.
template <class Base, class Made, class GiveBack, class... Parts>
Result<std::unique_ptr<Base>> own(const GiveBack &give_back, Parts &&...parts) {
  if (auto *const made = new (std::nothrow) Made(std::forward<Parts>(parts)...))
    return std::unique_ptr<Base>(made);
  give_back();
  return Status(LC_ERROR_MEMORY, "out of memory");
}

}  // namespace lanecrypt::device::cuda
