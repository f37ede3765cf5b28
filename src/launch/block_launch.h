// One launch of a block cipher on a device: which form of the kernels, the grid, the key
// schedules before it and their wiping after.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "device/device.h"
#include "job/cipher/cipher_job.h"
#include "launch/chunk_launch.h"
#include "launch/staging.h"

namespace lanecrypt::runtime {

// The best form for a device, or the one that the environment variable
// LANECRYPT_AES_FORM (table4, table1, bitslice) names, for tests and
// measurements. An error where the device cannot run that.
Result<BlockForm> choose_block_form(const device::Properties &properties);

// What LANECRYPT_AES_GRID asks for, "132x512", for measurements; nothing where it is
// not set. An error where the device cannot run that.
Result<BlockGrid> read_block_grid(const device::Properties &properties, BlockForm form);

// Whether a device has the kernel for this in that form.
bool has_kernel(const device::Properties &properties, BlockForm form, const CipherKind &kind);

struct BlockWorkspace : LaunchWorkspace {
  StagedMemory staged;
  std::unique_ptr<device::Buffer> pieces, concurrent_pieces, keys;  // staged
  std::unique_ptr<device::Buffer> schedules, planes, chain, points, tail_planes;
};

class BlockLaunch : public ChunkLaunch {
 public:
  BlockLaunch(device::Device &device, BlockForm form, BlockGrid grid = {});

  static constexpr uint32_t kMostPieces = 1 << 16;
  bool takes(const CipherKind &kind) const override;
  uint32_t max_pieces(const CipherKind &kind) const override;
  std::unique_ptr<LaunchWorkspace> make_workspace() const override {
    return std::make_unique<BlockWorkspace>();
  }
  Status upload(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work) override;
  Status launch(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work,
                device::Event *begin, device::Event *end) override;
  void has_ended(LaunchWorkspace &workspace) override;
  void wipe(LaunchWorkspace &workspace) const override;
  uint64_t launches() const override { return launches_; }

  // No launch runs beside another from here on: not every driver can have that in a graph.
  void pair_no_launches() { pairs_ = false; }

  // The same step by step, for launches that have this one among them. Plans it, and adds
  // pieces and keys to what is copied to the device; the work stays as it is until that
  // has run.
  void stage(Staging &staging, BlockWorkspace &workspace, CipherWork &work);
  // The same for pieces that a kernel of the caller's writes to workspace.pieces, under one key, in
  // a mode without units and chains. work.is_unaligned says whether any of them may lie at no
  // multiple of 16.
  void reserve_alike(Staging &staging, BlockWorkspace &workspace, CipherWork &work,
                     std::span<AlikePieces, 3> alike);
  // The keys, where work.keys_of names no others; the kernels; and, when nobody wants the
  // keys any more, what was made of them. The caller zeroes what was staged.
  Status expand_keys(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work);
  Status run(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work);
  Status zero_made(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work);

  // For them too: a buffer of at least `bytes`, whose content is lost where it grows; and
  // the threads of a thread block of at most `most`.
  Status grow(std::unique_ptr<device::Buffer> &buffer, device::MemoryKind kind, uint64_t bytes);
  uint32_t threads_of(uint32_t most) const;
  bool has_tables() const { return form_ == BlockForm::kTable4 || form_ == BlockForm::kTable1; }

 private:
  void plan(CipherWork &work);
  static void stage_keys(Staging &staging, BlockWorkspace &workspace, const CipherWork &work);
  // For the work as it is placed; `of_segments`: of many pieces that are alike.
  BlockWarps warps_for(const CipherWork &work, bool of_segments) const;
  Status start(device::Stream &stream, const char *kernel, uint32_t thread_blocks, uint32_t threads,
               uint32_t shared_bytes, std::span<const device::Argument> arguments,
               uint64_t longest_bytes = 0);
  Status launch_points(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work);
  // How tiles are dealt out, and streams or, with one thread each, messages.
  BlockGrid tile_grid(const BlockPart &part, uint32_t most_threads) const;
  BlockGrid stream_grid(uint32_t streams) const;
  Status slice_keys(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work,
                    uint32_t planes, bool by_stream, std::unique_ptr<device::Buffer> &to);
  Status launch_tails(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work);
  Status launch_ends(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work);
  Status launch_mode(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work);
  bool has_slot(const CipherWork &work) const;
  bool can_use_slot(const CipherWork &work) const;
  bool has_unaligned(const CipherWork &work) const;
  bool has_partial_units(const CipherWork &work) const;
  Status launch_part(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work,
                     size_t number);
  Status launch_chains(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work);
  const device::Buffer *schedules(const BlockWorkspace &workspace, const CipherWork &work) const;

  device::Device &device_;
  BlockForm form_;
  uint32_t form_threads_, xts_threads_;  // of a thread block, and of one of XTS
  uint32_t shared_bytes_;
  uint32_t resident_thread_blocks_;
  bool pairs_;  // a launch beside another, where the device can
  // When the last launch that used the key slot has zeroed it; and of what workspace that was,
  // unless it is known to have ended.
  std::unique_ptr<device::Event> slot_free_;
  const LaunchWorkspace *slot_user_ = nullptr;
  // The workspace of the launch that fills the key slot and has not marked the slot's end yet. If
  // it fails before, no mark tells of that end, and others do without the slot until it has ended.
  const LaunchWorkspace *slot_filler_ = nullptr;
  Outgrown outgrown_;
  uint64_t launches_ = 0;
};

}  // namespace lanecrypt::runtime
