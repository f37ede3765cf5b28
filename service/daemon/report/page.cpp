// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/report/page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "service/daemon/failure.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace lanecrypt::service::daemon {

Page::Page() {
  memory_ = Descriptor(memfd_create("lanecrypt-status", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory_.ok() || ftruncate(memory_.get(), kStatusPageBytes) != 0)
    throw Failure("cannot create the status page", errno);
  void *const mapped =
      mmap(nullptr, kStatusPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (mapped == MAP_FAILED) throw Failure("cannot map the status page", errno);
  status_ = new (mapped) StatusPage();
  status_->magic = kPageMagic;
  status_->version = kPageVersion;
  // F_SEAL_FUTURE_WRITE leaves the existing mapping writable.
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (fcntl(memory_.get(), F_ADD_SEALS, kSeals) != 0)
    throw Failure("cannot seal the status page (needs Linux 5.1 or later)", errno);
}

Page::~Page() {
  if (status_ != nullptr) (void)munmap(status_, kStatusPageBytes);
}

void note_latency(StatusPage &page, const OperationKind &operation_kind, uint32_t load,
                  uint64_t microseconds) {
  std::atomic<uint32_t> &known =
      StatusPage::times_of(page, operation_kind)[StatusPage::load_of(load)];
  const auto measured = int64_t(std::clamp<uint64_t>(microseconds, 1, UINT32_MAX / 2));
  const auto before = int64_t(known.load(std::memory_order_relaxed));
  // If two threads store at once, one measurement is lost, which matters little.
  const int64_t after = before == 0 ? measured : before + (measured - before) / 8;
  known.store(uint32_t(std::max<int64_t>(after, 1)), std::memory_order_relaxed);
}

}  // namespace lanecrypt::service::daemon
