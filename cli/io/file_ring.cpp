// SPDX-License-Identifier: Apache-2.0
#include "cli/io/file_ring.h"

#ifdef LANECRYPT_HAVE_URING

#include <liburing.h>
#include <sys/eventfd.h>

#include <cerrno>

#include "cli/failure.h"
#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {
namespace {

constexpr uint64_t kWakeTag = UINT64_MAX;
// The most bytes of one transfer.
constexpr size_t kMostBytes = 1 << 30;

class LinuxRing : public FileRing {
 public:
  ~LinuxRing() override {
    if (is_open_) io_uring_queue_exit(&ring_);
  }

  // One more entry is for the read of the eventfd.
  bool open(unsigned depth) {
    wake_event_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
    is_open_ = wake_event_ && io_uring_queue_init(depth + 1, &ring_, 0) == 0;
    return is_open_;
  }

  void read(int descriptor, uint8_t *to, size_t bytes, uint64_t offset, bool may_block,
            uint64_t tag) override {
    io_uring_sqe *entry = next();
    io_uring_prep_read(entry, descriptor, to, cut(bytes), offset);
    finish(entry, may_block, tag);
  }
  void write(int descriptor, const uint8_t *from, size_t bytes, uint64_t offset, bool may_block,
             uint64_t tag) override {
    io_uring_sqe *entry = next();
    io_uring_prep_write(entry, descriptor, from, cut(bytes), offset);
    finish(entry, may_block, tag);
  }

  std::vector<RingCompletion> wait() override {
    if (!is_listening_) {
      io_uring_sqe *entry = next();
      io_uring_prep_read(entry, wake_event_.get(), &wake_count_, sizeof wake_count_, 0);
      finish(entry, false, kWakeTag);
      is_listening_ = true;
    }
    int error = 0;
    do error = io_uring_submit_and_wait(&ring_, 1);
    while (error == -EINTR || error == -EAGAIN);
    if (error < 0) throw_errno("cannot wait for files", -error);
    std::vector<RingCompletion> over;
    io_uring_cqe *entry = nullptr;
    while (io_uring_peek_cqe(&ring_, &entry) == 0) {
      if (entry->user_data == kWakeTag)
        is_listening_ = false;
      else
        over.push_back({entry->user_data, entry->res});
      io_uring_cqe_seen(&ring_, entry);
    }
    return over;
  }

  void wake() override { (void)eventfd_write(wake_event_.get(), 1); }

 private:
  static unsigned cut(size_t bytes) {
    return static_cast<unsigned>(bytes < kMostBytes ? bytes : kMostBytes);
  }
  io_uring_sqe *next() {
    io_uring_sqe *entry = io_uring_get_sqe(&ring_);
    if (entry == nullptr) {
      (void)io_uring_submit(&ring_);
      entry = io_uring_get_sqe(&ring_);
    }
    if (entry == nullptr) throw_errno("cannot queue a transfer of a file", EBUSY);
    return entry;
  }
  static void finish(io_uring_sqe *entry, bool may_block, uint64_t tag) {
    if (may_block) io_uring_sqe_set_flags(entry, IOSQE_ASYNC);
    entry->user_data = tag;
  }

  io_uring ring_{};
  bool is_open_ = false;
  FileDescriptor wake_event_;
  bool is_listening_ = false;
  uint64_t wake_count_ = 0;
};

}  // namespace

std::unique_ptr<FileRing> FileRing::make(unsigned depth) {
  auto ring = std::make_unique<LinuxRing>();
  return ring->open(depth) ? std::move(ring) : nullptr;
}

}  // namespace lanecrypt::cli

#else

namespace lanecrypt::cli {

std::unique_ptr<FileRing> FileRing::make(unsigned) { return nullptr; }

}  // namespace lanecrypt::cli

#endif
