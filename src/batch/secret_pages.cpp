// SPDX-License-Identifier: Apache-2.0
#include "batch/secret_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "job/round_up.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {
namespace {

using device::Buffer;
using device::MemoryKind;

class Pages {
 public:
  explicit Pages(uint64_t bytes) : bytes_(bytes) {
    void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return;
    memory_ = pages;
    // Without MADV_WIPEONFORK, after a fork the device could also read other pages than those
    // that are written here. The pages are not locked: pinned memory is not swapped, and the
    // limit of locked memory is needed for keys.
    is_guarded_ =
        madvise(pages, bytes, MADV_DONTDUMP) == 0 && madvise(pages, bytes, MADV_WIPEONFORK) == 0;
  }
  Pages(Pages &&other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        bytes_(other.bytes_),
        is_guarded_(other.is_guarded_) {}
  ~Pages() {
    if (memory_ == nullptr) return;
    secure::wipe(memory_, bytes_);
    munmap(memory_, bytes_);
  }
  void *memory() const { return memory_; }
  bool is_guarded() const { return is_guarded_; }

 private:
  void *memory_ = nullptr;
  const uint64_t bytes_;
  bool is_guarded_ = false;
};

class SecretPages : public Buffer {
 public:
  SecretPages(Pages pages, std::unique_ptr<Buffer> pinned, uint64_t bytes)
      : Buffer(MemoryKind::kPinned, reinterpret_cast<uint64_t>(pages.memory()), bytes),
        pages_(std::move(pages)),
        pinned_(std::move(pinned)) {}

 private:
  const Pages pages_;
  const std::unique_ptr<Buffer> pinned_;  // freed first
};

}  // namespace

Result<std::unique_ptr<Buffer>> allocate_secret_pages(device::Device &device, uint64_t bytes) {
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (device.pins_in_place() && bytes <= INT64_MAX) {
    const uint64_t whole = round_up(bytes, page);
    Pages pages(whole);
    if (pages.is_guarded()) {
      Result<std::unique_ptr<Buffer>> pinned = device.pin_in_place(pages.memory(), whole);
      if (pinned.ok())
        return std::unique_ptr<Buffer>(
            new SecretPages(std::move(pages), std::move(*pinned), bytes));
    }
  }
  return device.allocate(MemoryKind::kPinned, bytes);
}

}  // namespace lanecrypt::runtime
