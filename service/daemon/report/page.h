// The status page, which all clients can read and only the service can write.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/daemon/system/descriptor.h"
#include "service/wire/status_page.h"

namespace lanecrypt::service::daemon {

class Page {
 public:
  // Creates and seals the memory of the page. Throws Failure.
  Page();
  ~Page();
  Page(const Page &) = delete;

  StatusPage &status() { return *status_; }
  const StatusPage &status() const { return *status_; }
  // The descriptor that clients get. Its seals forbid to map it writable, to write to it and to
  // change its size.
  int descriptor() const { return memory_.get(); }

 private:
  Descriptor memory_;
  StatusPage *status_ = nullptr;
};

// Adds the time of an operation to the page, as a moving average with a weight of 1/8.
void note_latency(StatusPage &page, const OperationKind &operation_kind, uint32_t load,
                  uint64_t microseconds);

}  // namespace lanecrypt::service::daemon
