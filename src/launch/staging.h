// What a launch needs beside its data: small things from many places, which one copy
// brings to the device where addresses are flat. As many copies would keep the data from
// the bus, each for as long as some 200 KiB take. What is secret of it lies together, with
// what the launch makes of it, and one call zeroes that. Elsewhere each has a buffer of its
// own: NVIDIA's OpenCL crashed on parts of one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "device/device.h"

namespace lanecrypt::runtime {

// Buffers that have become too small, until the device is closed: to free memory may wait for
// all of a card's work, a program's own too.
using Outgrown = std::vector<std::unique_ptr<device::Buffer>>;

// Makes it a buffer of at least `bytes`, whose content is lost where it grows.
Status grow(device::Device &device, std::unique_ptr<device::Buffer> &buffer,
            device::MemoryKind kind, uint64_t bytes, Outgrown &outgrown);

// Where the small things of one launch lie, on the host as on the device; grown as
// needed, reused.
struct StagedMemory {
  struct Secret {
    const device::Buffer *buffer;
    uint64_t at, bytes;
  };
  std::unique_ptr<device::Buffer> host, device;
  Outgrown outgrown;
  uint64_t secret_at = 0, secret_bytes = 0;  // of `host`
  std::vector<Secret> on_device;             // until the next run()

  // On the host, when the copy is done.
  void wipe_secrets();
  // On the device, when what was launched before this is done.
  Status zero_secrets(device::Stream &stream) const;
};

// The list of them, for one copy.
class Staging {
 public:
  // Writes a thing to where it lies on the host; called by run().
  using Write = std::function<void(uint8_t *)>;

  explicit Staging(device::Device &device) : device_(device) {}
  // run() makes `to` where the thing lies on the device, from its beginning on, which is
  // its user's until the next one. A thing of no bytes is left out.
  void add(std::unique_ptr<device::Buffer> &to, uint64_t bytes, bool is_secret, Write write);
  template <typename T, typename Allocator>
  void add(std::unique_ptr<device::Buffer> &to, const std::vector<T, Allocator> &items,
           bool is_secret = false) {
    add(to, items.size() * sizeof(T), is_secret,
        [&items](uint8_t *place) { memcpy(place, items.data(), items.size() * sizeof(T)); });
  }
  // The same for what the launch itself writes on the device, all of it secret; what is
  // there before is not said.
  void reserve(std::unique_ptr<device::Buffer> &to, uint64_t bytes);
  Status run(device::Stream &stream, StagedMemory &memory);
  // The same without a copy: `to` is where kernels read the thing in the host's memory. Where they
  // reach that, and nothing is reserved.
  Status run_in_reach(StagedMemory &memory);

 private:
  // In the order in which they lie in memory.
  enum class Kind { kOpen, kSecret, kReserved };
  struct Thing {
    std::unique_ptr<device::Buffer> *to;
    uint64_t at, bytes;
    Kind kind;
    Write write;
  };
  // Where they lie, on the host as on the device.
  struct Layout {
    uint64_t end = 0, secret_at = UINT64_MAX;
    uint64_t copied = 0;  // bytes, of what does not lie on the device alone
  };
  Layout lay_out();
  // Writes them to the host's memory.
  Status write(const Layout &layout, StagedMemory &memory);
  Status make_views(StagedMemory &memory);

  device::Device &device_;
  std::vector<Thing> things_;
};

}  // namespace lanecrypt::runtime
