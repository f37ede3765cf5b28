// SPDX-License-Identifier: Apache-2.0
#include "cli/io/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

constexpr size_t kAheadBytes = 64 << 10;
// The buffer size to request for a pipe, so that both ends wake up less often.
constexpr int kPipeBytes = 1 << 20;

}  // namespace

Input::Input(const std::string &path) {
  if (path.empty()) throw Failure(ExitCode::kUsage, "the input has an empty name");
  if (path == "-") {
    name_ = "standard input";
    descriptor_ = STDIN_FILENO;
  } else {
    name_ = fmt::format("'{}'", path);
    file_ = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_) throw_errno(fmt::format("cannot open {} for reading", name_), errno);
    descriptor_ = file_.get();
  }
  if (fstat(descriptor_, &status_) != 0) throw_errno(fmt::format("cannot read {}", name_), errno);
  if (S_ISDIR(status_.st_mode))
    throw Failure(ExitCode::kFailed, fmt::format("{} is a directory, not a file", name_));
  if (S_ISFIFO(status_.st_mode)) (void)fcntl(descriptor_, F_SETPIPE_SZ, kPipeBytes);
  stop_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  if (!stop_) throw_errno("cannot make an eventfd", errno);
  const off_t position = lseek(descriptor_, 0, SEEK_CUR);
  // Files of /proc report size 0 but are not empty, and files of /sys report the size of a page.
  // Both are read as streams.
  struct statfs system {};
  const bool is_told = fstatfs(descriptor_, &system) == 0 && system.f_type != SYSFS_MAGIC;
  if (S_ISREG(status_.st_mode) && status_.st_size > 0 && position >= 0 && is_told) {
    positioned_ = true;
    start_ = static_cast<uint64_t>(position);
    size_ = static_cast<uint64_t>(std::max<off_t>(0, status_.st_size - position));
    (void)posix_fadvise(descriptor_, position, 0, POSIX_FADV_SEQUENTIAL);
  }
}

Input::~Input() {
  if (pages_ != nullptr) munmap(const_cast<uint8_t *>(pages_), start_ + *size_);
}

void Input::stop() { (void)eventfd_write(stop_.get(), 1); }

size_t Input::read_descriptor(std::span<uint8_t> out) {
  size_t done = 0;
  while (done < out.size()) {
    pollfd events[] = {{descriptor_, POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(events, 2, -1) < 0 && errno == EINTR) continue;
    if (events[1].revents != 0)
      throw Failure(ExitCode::kFailed, fmt::format("reading {} was cancelled", name_));
    const ssize_t got = ::read(descriptor_, out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(fmt::format("cannot read {}", name_), errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

size_t Input::read(std::span<uint8_t> out) {
  size_t done = 0;
  if (positioned_) {
    done = static_cast<size_t>(std::min<uint64_t>(out.size(), *size_));
    read_at(0, out.first(done));
    start_ += done;
    *size_ -= done;
    return done;
  }
  done = std::min(out.size(), ahead_.size() - ahead_taken_);
  if (done > 0) std::memcpy(out.data(), ahead_.data() + ahead_taken_, done);
  ahead_taken_ += done;
  if (!size_) return done + read_descriptor(out.subspan(done));
  *size_ -= done;
  return done;
}

void Input::read_ahead(size_t bytes) {
  if (positioned_ || size_) return;
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<ptrdiff_t>(ahead_taken_));
  ahead_taken_ = 0;
  const size_t had = ahead_.size();
  if (had >= bytes) return;
  ahead_.resize(bytes);
  const size_t got = read_descriptor(std::span(ahead_).subspan(had));
  ahead_.resize(had + got);
  if (ahead_.size() < bytes) size_ = ahead_.size();
}

bool Input::at_end() {
  if (!size_ && ahead_taken_ == ahead_.size()) read_ahead(kAheadBytes);
  return size_ && *size_ == 0;
}

void Input::read_at(uint64_t offset, std::span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = pread(descriptor_, out.data() + done, out.size() - done,
                              static_cast<off_t>(start_ + offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_error(errno);
    if (got == 0) throw_shorter();
    done += static_cast<size_t>(got);
  }
}

bool Input::map() {
  if (*size_ == 0) return false;
  void *const pages = mmap(nullptr, start_ + *size_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (pages == MAP_FAILED) return false;
  pages_ = static_cast<const uint8_t *>(pages);
  return true;
}

void Input::throw_error(int error) const {
  throw_errno(fmt::format("cannot read {}", name_), error);
}

void Input::throw_shorter() const {
  throw Failure(ExitCode::kFailed, fmt::format("{} became shorter while it was being read", name_));
}

void Input::throw_bus_error() const {
  struct stat now {};
  if (fstat(descriptor_, &now) == 0 && now.st_size >= status_.st_size) throw_error(EIO);
  throw_shorter();
}

bool Input::go_direct() { return file_ && set_direct(descriptor_, true); }

void Input::leave_direct() { (void)set_direct(descriptor_, false); }

bool Input::is_cached() const {
  constexpr uint64_t kPlaces = 16;
  uint64_t cached = 0;
  for (uint64_t n = 0; n < kPlaces; ++n) {
    uint8_t byte = 0;
    iovec one{&byte, 1};
    const auto at = static_cast<off_t>(start_ + *size_ / kPlaces * n);
    cached += preadv2(descriptor_, &one, 1, at, RWF_NOWAIT) == 1;
  }
  return cached > kPlaces / 2;
}

bool Input::is_in_memory() const {
  if (!positioned_ || !size_) return false;
  struct statfs system {};
  return (fstatfs(descriptor_, &system) == 0 && system.f_type == TMPFS_MAGIC) || is_cached();
}

bool Input::has_grown() const {
  struct stat now {};
  return positioned_ && fstat(descriptor_, &now) == 0 && now.st_size > status_.st_size;
}

void Input::finish() {
  if (positioned_ && !file_) (void)lseek(descriptor_, status_.st_size, SEEK_SET);
}

}  // namespace lanecrypt::cli
