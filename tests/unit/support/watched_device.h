// A device whose memory a test can search: all memory of the emulator, on the device and on the
// host. A test can thus see which secrets are left there.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "forwarding_device.h"
#include "mapping_flags.h"
#include "reference.h"

namespace lanecrypt::test {

// So many consecutive bytes of a secret do not occur in memory by chance.
inline constexpr size_t kWindow = 12;

// All memory of a device, and the content of each buffer when it was freed.
class WatchedMemory {
 public:
  void add(const device::Buffer *buffer) { live_.insert(buffer); }
  void remove(const device::Buffer *buffer) {
    freed_.push_back(content(*buffer));
    live_.erase(buffer);
  }
  // Whether any part of `secret` is in memory, or was there when memory was freed.
  bool holds(const Bytes &secret) const {
    for (const Bytes &content : freed_)
      if (is_in(content, secret)) return true;
    return std::any_of(live_.begin(), live_.end(), [&](const device::Buffer *buffer) {
      return is_in(content(*buffer), secret);
    });
  }

  // Returns the flags that the kernel reports for each pinned buffer.
  std::vector<std::string> flags_of_pinned() const {
    std::vector<std::string> flags;
    for (const device::Buffer *buffer : live_)
      if (buffer->kind() == device::MemoryKind::kPinned) flags.push_back(flags_of(buffer->host()));
    return flags;
  }

 private:
  static Bytes content(const device::Buffer &buffer) {
    const auto *from = reinterpret_cast<const uint8_t *>(buffer.address());
    return Bytes(from, from + buffer.bytes());
  }
  static bool is_in(const Bytes &content, const Bytes &secret) {
    for (size_t at = 0; at + kWindow <= secret.size(); at += kWindow)
      if (memmem(content.data(), content.size(), &secret[at], kWindow) != nullptr) return true;
    return false;
  }

  std::set<const device::Buffer *> live_;
  std::vector<Bytes> freed_;
};

class WatchedBuffer : public ForwardingBuffer {
 public:
  WatchedBuffer(std::unique_ptr<device::Buffer> inner, WatchedMemory &memory)
      : ForwardingBuffer(std::move(inner)), memory_(memory) {
    std::memset(reinterpret_cast<void *>(address()), 0, bytes());
    memory_.add(this);
  }
  ~WatchedBuffer() override { memory_.remove(this); }

 private:
  WatchedMemory &memory_;
};

class WatchedDevice : public ForwardingDevice {
 public:
  WatchedDevice(std::unique_ptr<device::Device> inner, WatchedMemory &memory)
      : ForwardingDevice(std::move(inner)), memory_(memory) {}
  Result<std::unique_ptr<device::Buffer>> allocate(device::MemoryKind kind,
                                                   uint64_t bytes) override {
    Result<std::unique_ptr<device::Buffer>> buffer = inner().allocate(kind, bytes);
    if (!buffer.ok()) return buffer.status();
    return std::unique_ptr<device::Buffer>(new WatchedBuffer(std::move(*buffer), memory_));
  }
  Result<std::unique_ptr<device::Buffer>> pin_in_place(void *memory, uint64_t bytes) override {
    Result<std::unique_ptr<device::Buffer>> buffer = inner().pin_in_place(memory, bytes);
    if (!buffer.ok()) return buffer.status();
    return std::unique_ptr<device::Buffer>(new WatchedBuffer(std::move(*buffer), memory_));
  }

 private:
  WatchedMemory &memory_;
};

}  // namespace lanecrypt::test
