// The engines that paper R compared a device with: the CPU, no cipher at all, and only the copies
// to and from a device.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <mutex>
#include <vector>

#include "bench/load/data.h"
#include "cli/crypt/pipeline.h"

namespace lanecrypt::bench {

// An engine with chunks in ordinary memory. The thread that has read a chunk also runs it.
class HostEngine : public cli::Engine {
 public:
  bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) override;
  void start(cli::Chunk &chunk, Done done) override;
  void collect(cli::Chunk &) override {}
  void abandon() override {}

 protected:
  virtual void run(cli::Chunk &chunk) = 0;

 private:
  struct Free {
    void operator()(void *memory) const { free(memory); }
  };
  std::mutex mutex_;
  std::vector<std::unique_ptr<void, Free>> buffers_;
};

// Encrypts by OpenSSL.
class CpuEngine : public HostEngine {
 public:
  CpuEngine(const BenchCase &run, const BenchData &data) : run_(run), data_(data) {}

 protected:
  void run(cli::Chunk &chunk) override;

 private:
  const BenchCase run_;
  const BenchData &data_;
};

// Encrypts nothing: it writes what was in the buffer before.
class NullEngine : public HostEngine {
 protected:
  void run(cli::Chunk &) override {}
};

// Copies to a device and back without a kernel, first one direction, then the other.
class CopyEngine : public cli::Engine {
 public:
  CopyEngine(const Context &context, uint32_t device) : context_(context), device_(device) {}

  bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) override;
  void start(cli::Chunk &chunk, Done done) override;
  void collect(cli::Chunk &) override {}
  void abandon() override {}

 private:
  const Context &context_;
  const uint32_t device_;
  std::mutex mutex_;  // protects buffers_
  std::mutex using_;  // protects on_device_
  std::vector<PinnedBuffer> buffers_;
  DeviceBuffer on_device_;
};

}  // namespace lanecrypt::bench
