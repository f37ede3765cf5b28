// Wraps a device and forwards every call. A derived class overrides only what it changes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "device/device.h"

namespace lanecrypt::test {

// Works only for devices that take a buffer by its address: the emulator and CUDA.
class ForwardingBuffer : public device::Buffer {
 public:
  explicit ForwardingBuffer(std::unique_ptr<device::Buffer> inner)
      : Buffer(inner->kind(), inner->address(), inner->bytes()), inner_(std::move(inner)) {}

 private:
  std::unique_ptr<device::Buffer> inner_;
};

class ForwardingStream : public device::Stream {
 public:
  explicit ForwardingStream(std::unique_ptr<device::Stream> inner) : inner_(std::move(inner)) {}

  Status upload(const device::Buffer &to, uint64_t offset, const void *from,
                uint64_t bytes) override {
    return inner_->upload(to, offset, from, bytes);
  }
  Status download(void *to, const device::Buffer &from, uint64_t offset, uint64_t bytes) override {
    return inner_->download(to, from, offset, bytes);
  }
  Status copy(const device::Buffer &to, uint64_t to_offset, const device::Buffer &from,
              uint64_t from_offset, uint64_t bytes) override {
    return inner_->copy(to, to_offset, from, from_offset, bytes);
  }
  Status zero(const device::Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    return inner_->zero(buffer, offset, bytes);
  }
  Status launch(const device::Launch &launch) override { return inner_->launch(launch); }
  Status mark(device::Event &event) override { return inner_->mark(event); }
  Status await(device::Event &event) override { return inner_->await(event); }
  Status finish() override { return inner_->finish(); }

 private:
  std::unique_ptr<device::Stream> inner_;
};

class ForwardingDevice : public device::Device {
 public:
  explicit ForwardingDevice(std::shared_ptr<device::Device> inner)
      : inner_(std::move(inner)), properties_(inner_->properties()) {}

  const device::Properties &properties() const override { return properties_; }
  Result<std::unique_ptr<device::Buffer>> allocate(device::MemoryKind kind,
                                                   uint64_t bytes) override {
    return inner_->allocate(kind, bytes);
  }
  Result<std::unique_ptr<device::Buffer>> view(uint64_t address, uint64_t bytes) override {
    return inner_->view(address, bytes);
  }
  Result<std::unique_ptr<device::Stream>> make_stream() override { return inner_->make_stream(); }
  Result<std::unique_ptr<device::Stream>> make_urgent_stream() override {
    return inner_->make_urgent_stream();
  }
  Result<std::unique_ptr<device::Stream>> adopt_stream(void *handle) override {
    return inner_->adopt_stream(handle);
  }
  Result<std::unique_ptr<device::Event>> make_event() override { return inner_->make_event(); }
  uint32_t resident_thread_blocks(const char *kernel, uint32_t thread_block_size,
                                  uint32_t shared_bytes) override {
    return inner_->resident_thread_blocks(kernel, thread_block_size, shared_bytes);
  }
  const device::Buffer *key_slot() override { return inner_->key_slot(); }
  Result<std::unique_ptr<device::Buffer>> pin_in_place(void *memory, uint64_t bytes) override {
    return inner_->pin_in_place(memory, bytes);
  }
  bool pins_in_place() const override { return inner_->pins_in_place(); }
  void attach_thread() override { inner_->attach_thread(); }
  bool waits_on_one_thread() const override { return inner_->waits_on_one_thread(); }
  void begin_service() override { inner_->begin_service(); }

 protected:
  device::Device &inner() { return *inner_; }

 private:
  const std::shared_ptr<device::Device> inner_;

 protected:
  device::Properties properties_;  // those of the inner device, except where a test changes them
};

// Returns `found`, changed so that `wrap` wraps each opened device.
inline device::Found wrapped(
    device::Found found,
    std::function<std::unique_ptr<device::Device>(std::unique_ptr<device::Device>)> wrap) {
  found.open = [open = std::move(found.open), wrap = std::move(wrap)](
                   device::KernelSet kernels) -> Result<std::unique_ptr<device::Device>> {
    Result<std::unique_ptr<device::Device>> inner = open(kernels);
    if (!inner.ok()) return inner;
    return wrap(std::move(*inner));
  };
  return found;
}

}  // namespace lanecrypt::test
