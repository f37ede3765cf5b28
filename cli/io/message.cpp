// SPDX-License-Identifier: Apache-2.0
#include "cli/io/message.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

namespace lanecrypt::cli {
namespace {

// Reading a smaller file is cheaper than the page faults of a mapping.
constexpr uint64_t kLeastMapped = 128 << 10;
constexpr uint64_t kStep = 1 << 20;

uint64_t most_of_a_stream() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) / 2 *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Message::Message(const std::string &path) : path_(path) {
  Input input(path);
  name_ = input.name();
  status_ = input.status();
  if (!input.positioned() || *input.size() < kLeastMapped || !map(input)) {
    try {
      read(input);
    } catch (...) {
      std::free(memory_);
      throw;
    }
  }
  input.finish();
}

Message::Message(Message &&other) noexcept
    : path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      guard_(std::move(other.guard_)),
      memory_(std::exchange(other.memory_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      data_(other.data_),
      bytes_(other.bytes_),
      status_(other.status_) {}

Message::~Message() {
  if (memory_ == nullptr) return;
  guard_.reset();
  if (mapped_bytes_ != 0)
    munmap(memory_, mapped_bytes_);
  else
    std::free(memory_);
}

bool Message::map(Input &input) {
  const uint64_t bytes = input.place(*input.size());
  void *const pages = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, input.descriptor(), 0);
  if (pages == MAP_FAILED) return false;
  memory_ = pages;
  mapped_bytes_ = bytes;
  guard_.emplace(pages, bytes);
  data_ = static_cast<const uint8_t *>(pages) + input.place(0);
  bytes_ = *input.size();
  return true;
}

std::optional<Failure> Message::damage() const {
  if (!guard_ || !guard_->was_lost()) return std::nullopt;
  struct stat now {};
  const bool is_there =
      (path_ == "-" ? fstat(STDIN_FILENO, &now) : stat(path_.c_str(), &now)) == 0 &&
      now.st_dev == status_.st_dev && now.st_ino == status_.st_ino;
  const char *const why = !is_there ? "became shorter or unreadable while it was being read"
                          : now.st_size < status_.st_size ? "became shorter while it was being read"
                                                          : nullptr;
  if (why != nullptr) return Failure(ExitCode::kFailed, fmt::format("{} {}", name_, why));
  return errno_failure(fmt::format("cannot read {}", name_), EIO);
}

// Reads the input into malloc() memory. For a stream, the memory grows by realloc().
void Message::read(Input &input) {
  const uint64_t most = most_of_a_stream();
  uint64_t room = input.size().value_or(0);
  for (;;) {
    if (!input.positioned()) room = bytes_ + std::max(kStep, bytes_ / 8);
    if (room > most)
      throw Failure(ExitCode::kFailed,
                    fmt::format("{} has more than {} MiB, half of this machine's memory: only a "
                                "regular file may be larger",
                                input.name(), most >> 20));
    void *const more = std::realloc(memory_, std::max<uint64_t>(room, 1));
    if (more == nullptr) throw std::bad_alloc();
    memory_ = more;
    data_ = static_cast<const uint8_t *>(memory_);
    const uint64_t got = input.read({static_cast<uint8_t *>(memory_) + bytes_, room - bytes_});
    bytes_ += got;
    if (bytes_ < room || input.positioned()) return;
  }
}

}  // namespace lanecrypt::cli
