// Copies of small things to the device, all through one piece of pinned memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "schedule/aes_launch.h"

namespace lanecrypt::schedule {

class Staging {
 public:
  template <typename T>
  void add(std::unique_ptr<device::Buffer> &to, const std::vector<T> &items) {
    add(to, reinterpret_cast<const uint8_t *>(items.data()), items.size() * sizeof(T));
  }
  void add(std::unique_ptr<device::Buffer> &to, const uint8_t *from, uint64_t bytes,
           uint64_t at = 0) {
    if (bytes != 0) copies_.push_back({&to, from, bytes, at});
    bytes_ += whole_blocks(bytes);
  }
  uint64_t bytes() const { return bytes_; }
  Status run(AesLaunch &aes, device::Stream &stream, std::unique_ptr<device::Buffer> &staging) {
    LC_TRY(aes.grow(staging, device::MemoryKind::kPinned, std::max<uint64_t>(bytes_, 1)));
    uint8_t *place = staging->host();
    for (const Copy &copy : copies_) {
      memcpy(place, copy.from, copy.bytes);
      if (copy.at == 0) LC_TRY(aes.grow(*copy.to, device::MemoryKind::kDevice, copy.bytes));
      LC_TRY(stream.upload(**copy.to, copy.at, place, copy.bytes));
      place += whole_blocks(copy.bytes);
    }
    return Status();
  }

 private:
  struct Copy {
    std::unique_ptr<device::Buffer> *to;
    const uint8_t *from;
    uint64_t bytes, at;
  };
  std::vector<Copy> copies_;
  uint64_t bytes_ = 0;
};

}  // namespace lanecrypt::schedule
