// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/memory.h"

#include <iterator>
#include <map>
#include <mutex>

#include "device/cuda/own.h"
#include "process/of_process.h"

namespace lanecrypt::device::cuda {
namespace {

// The caller's pages that this process has pinned at the moment, by their first byte. Other memory
// that the driver reports as pinned, such as PyTorch's pinned tensors, was pinned by the
// application.
struct PinnedByUs {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> ends;

  static PinnedByUs &of_process() {
    static constinit process::OfProcess<PinnedByUs> all;
    return all.get();
  }
  // The caller holds the lock.
  bool overlap(uint64_t begin, uint64_t end) const {
    const auto behind = ends.lower_bound(end);
    return behind != ends.begin() && std::prev(behind)->second > begin;
  }
};

// Pinned pages of the caller. The destructor must run on a thread that is attached to the device.
class CudaPinnedPages : public Buffer {
 public:
  static Result<std::unique_ptr<Buffer>> pin(const Driver &driver, void *start, uint64_t bytes) {
    PinnedByUs &ours = PinnedByUs::of_process();
    const std::lock_guard lock(ours.mutex);
    const auto begin = reinterpret_cast<uint64_t>(start);
    // The entry comes first, since inserting it may fail for lack of memory. Another job may have
    // pinned the same pages.
    const auto [entry, is_new] = ours.ends.try_emplace(begin, begin + bytes);
    const Status status =
        check(driver, driver.host_register(start, bytes, 0), "pinning host memory");
    Result<std::unique_ptr<Buffer>> pages =
        status.ok() ? own<Buffer, CudaPinnedPages>([&] { (void)driver.host_unregister(start); },
                                                   driver, begin, bytes)
                    : status;
    if (!pages.ok() && is_new) ours.ends.erase(entry);
    return pages;
  }
  // Takes over pages that the driver has pinned.
  CudaPinnedPages(const Driver &driver, uint64_t start, uint64_t bytes)
      : Buffer(MemoryKind::kPinned, start, bytes), driver_(driver) {}
  ~CudaPinnedPages() override {
    PinnedByUs &ours = PinnedByUs::of_process();
    const std::lock_guard lock(ours.mutex);
    (void)driver_.host_unregister(host());
    ours.ends.erase(address());
  }

 private:
  const Driver &driver_;
};

// Whether all of the range is in one allocation of pinned memory.
bool is_pinned(const Driver &driver, uint64_t begin, uint64_t bytes) {
  unsigned type = 0;
  uint64_t start = 0;
  size_t size = 0;
  return driver.pointer_attribute(&type, kMemoryType, begin) == kSuccess &&
         type == kMemoryTypeHost &&
         driver.pointer_attribute(&start, kRangeStart, begin) == kSuccess &&
         driver.pointer_attribute(&size, kRangeSize, begin) == kSuccess && start <= begin &&
         bytes <= size && begin - start <= size - bytes;
}

}  // namespace

Result<std::unique_ptr<Buffer>> pin_pages(const Driver &driver, void *start, uint64_t bytes) {
  return CudaPinnedPages::pin(driver, start, bytes);
}

bool program_has_pinned(const Driver &driver, const void *start, uint64_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(start);
  if (!is_pinned(driver, begin, bytes)) return false;
  // Pages that another job has pinned do not count: they are unpinned when that job ends.
  PinnedByUs &ours = PinnedByUs::of_process();
  const std::lock_guard lock(ours.mutex);
  return !ours.overlap(begin, begin + bytes) && is_pinned(driver, begin, bytes);
}

}  // namespace lanecrypt::device::cuda
