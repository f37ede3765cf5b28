// SPDX-License-Identifier: Apache-2.0
#include "cli/io/message.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "cli/failure.h"
#include "cli/io/bus_error.h"

namespace lanecrypt::cli {
namespace {

// To read less costs less than the faults of its pages.
constexpr uint64_t kLeastMapped = 128 << 10;
constexpr uint64_t kStep = 1 << 20;

uint64_t most_of_a_stream() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) / 2 *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Message::Message(const std::string &path) {
  Input input(path);
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
    : memory_(std::exchange(other.memory_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      data_(other.data_),
      bytes_(other.bytes_),
      status_(other.status_) {}

Message::~Message() {
  if (memory_ == nullptr) return;
  if (mapped_bytes_ != 0)
    munmap(memory_, mapped_bytes_);
  else
    std::free(memory_);
}

bool Message::map(Input &input) {
  end_on_bus_error("lanecrypt: a file became shorter while it was being read\n");
  const uint64_t bytes = input.place(*input.size());
  void *const pages = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, input.descriptor(), 0);
  if (pages == MAP_FAILED) return false;
  memory_ = pages;
  mapped_bytes_ = bytes;
  data_ = static_cast<const uint8_t *>(pages) + input.place(0);
  bytes_ = *input.size();
  return true;
}

// Into memory that grows without being copied.
void Message::read(Input &input) {
  const uint64_t most = most_of_a_stream();
  uint64_t room = input.size().value_or(0);
  for (;;) {
    if (!input.positioned()) room = bytes_ + std::max(kStep, bytes_ / 8);
    if (room > most)
      throw Failure(ExitCode::kFailed,
                    fmt::format("{} has more than {} MiB, half of this machine's memory: only a "
                                "file may be so long",
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
