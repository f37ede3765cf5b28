// The launches of chunks, as the pipeline sees them: what goes to the device beside the data,
// what runs there, and what comes back beside the output. A new kind of launch is added to
// make_chunk_launches().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "cpu/cpu_aead.h"
#include "device/device.h"
#include "launch/launch_work.h"

namespace lanecrypt::runtime {

// The memory of one launch beside its data; grown as needed, reused.
class LaunchWorkspace {
 public:
  virtual ~LaunchWorkspace() = default;
};

// For who has the use of the device alone, but for sum().
class ChunkLaunch {
 public:
  virtual ~ChunkLaunch() = default;
  virtual bool takes(const CipherKind &kind) const = 0;
  // The most pieces of a kind that it takes at once, each under a key of its own.
  virtual uint32_t max_pieces(const CipherKind &kind) const = 0;
  virtual std::unique_ptr<LaunchWorkspace> make_workspace() const = 0;

  // Plans it, and copies to the device what it needs beside its data. The work stays as it
  // is until that has run.
  virtual Status upload(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work) = 0;
  // Runs the kernels, and zeroes on the device the keys and what was made of them. May plan what
  // the last kernels need while the first run. Marks `begin` and `end` around the kernels; both are
  // nullptr where nobody asks how long they took.
  virtual Status launch(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work,
                        device::Event *begin, device::Event *end) = 0;
  // Whether its kernels, which upload() has chosen, take so long that marks are little against
  // them.
  virtual bool is_worth_timing(const ChunkWork &) const { return true; }
  // Brings to the host what the kernels left beside the output. It can be read when the
  // stream is there.
  virtual Status download(device::Stream &, LaunchWorkspace &, const ChunkWork &) {
    return Status();
  }
  // Returns the sum of work.aead.parts[part]. Any thread.
  virtual cpu::AeadSum sum(const LaunchWorkspace &, const ChunkWork &, size_t) const { return {}; }
  // Called where all that the launch put into its stream has ended, the zeroing too.
  virtual void has_ended(LaunchWorkspace &) {}
  // When it is over: wipes what is secret on the host.
  virtual void wipe(LaunchWorkspace &workspace) const = 0;

  // Kernels started so far.
  virtual uint64_t launches() const = 0;
};

// How the kernels run on a device.
struct LaunchForm {
  BlockForm blocks = BlockForm::kBitslice;
  BlockGrid grid;
};

// The best for a device, or what the environment asks for, for tests and measurements. An
// error where the device cannot run that.
Result<LaunchForm> choose_launch_form(const device::Properties &properties);

// Whether a device has the kernels for this in that form.
bool has_kernels(const device::Properties &properties, const LaunchForm &form,
                 const CipherKind &kind);

// All launches of a device. They use each other, so they go together.
std::vector<std::unique_ptr<ChunkLaunch>> make_chunk_launches(device::Device &device,
                                                              const LaunchForm &form);

}  // namespace lanecrypt::runtime
