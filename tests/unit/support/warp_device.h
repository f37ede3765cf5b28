// An emulator that takes block ciphers by tables as a card does: warps of 32 threads, a key slot,
// and kernels for texts at any address. What else it has is the emulator's own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "forwarding_device.h"

namespace lanecrypt::test {

// `inner` is an emulator with groups of 32 threads (LANECRYPT_HOST_THREADS). Ask for the form
// table4 (LANECRYPT_AES_FORM): its other forms are for warps of one thread, and so is ChaCha20 of
// aligned texts without a tag. It has one key slot for the whole process, and work for it one after
// another.
class WarpDevice : public ForwardingDevice {
 public:
  explicit WarpDevice(std::unique_ptr<device::Device> inner);
  Result<std::unique_ptr<device::Stream>> make_stream() override;
  Result<std::unique_ptr<device::Stream>> make_urgent_stream() override { return make_stream(); }
  const device::Buffer *key_slot() override { return key_slot_.get(); }

 private:
  std::unique_ptr<device::Buffer> key_slot_;
};

}  // namespace lanecrypt::test
