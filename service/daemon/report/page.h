// The page that all clients can read and only the service can write.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/daemon/system/descriptor.h"
#include "service/wire/status_page.h"

namespace lanecrypt::service::daemon {

class Page {
 public:
  // Throws Failure.
  Page();
  ~Page();
  Page(const Page &) = delete;

  StatusPage &status() { return *status_; }
  const StatusPage &status() const { return *status_; }
  // What clients get. The kernel refuses to map it writable, to write to it, or to change its
  // size.
  int descriptor() const { return memory_.get(); }

 private:
  Descriptor memory_;
  StatusPage *status_ = nullptr;
};

// Keeps the time that an operation took, as a mean that follows the last ones.
void note_latency(StatusPage &page, const Sort &sort, uint32_t load, uint64_t microseconds);

}  // namespace lanecrypt::service::daemon
