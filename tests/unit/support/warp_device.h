// An emulator that runs the table kernels of block ciphers as a GPU does: with warps of 32 threads,
// a key slot, and kernels for texts at any address. It forwards everything else to the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "forwarding_device.h"

namespace lanecrypt::test {

// `inner` is an emulator with thread blocks of 32 threads (LANECRYPT_HOST_THREADS). Select the form
// table4 (LANECRYPT_AES_FORM): the other forms, and ChaCha20 of aligned texts without a tag, are
// for warps of one thread. The process has one key slot, so work that uses it runs serially.
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
