// One launch of a block cipher on a device: which form of the kernels, the grid, the key
// schedules before it and their wiping after.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "device/device.h"
#include "job/cipher_job.h"
#include "kernels/block/layout.h"
#include "launch/block_parts.h"
#include "launch/staging.h"

namespace lanecrypt::schedule {

// The best form for a device, or the one that the environment variable
// LANECRYPT_AES_FORM (table4, table1, bitslice) names, for tests and
// measurements. An error where the device cannot run that.
Result<BlockForm> choose_block_form(const device::Properties &properties);

// How many groups of how many lanes a launch has at most; 0: what suits the device.
struct BlockGrid {
  uint32_t groups = 0, lanes = 0;
};

// What LANECRYPT_AES_GRID asks for, "132x512", for measurements; nothing where it is
// not set. An error where the device cannot run that.
Result<BlockGrid> read_block_grid(const device::Properties &properties, BlockForm form);

// Whether a device has the kernel for this in that form.
bool has_kernel(const device::Properties &properties, BlockForm form, const CipherKind &kind);

// The memory of one launch beside its data; grown as needed, reused.
struct BlockRoom {
  StagedMemory staged;
  std::unique_ptr<device::Buffer> pieces, pieces_beside, keys;  // staged
  std::unique_ptr<device::Buffer> schedules, planes, chain, points, tail_planes;
};

struct CipherWork {
  CipherKind kind;
  // `first_tile` and `first_point` are this file's; the rest is set.
  std::vector<CipherPiece> pieces;
  std::vector<const uint8_t *> keys;   // kind.key_bytes each
  const device::Buffer *in = nullptr;  // nullptr: addresses
  const device::Buffer *out = nullptr;
  const device::Buffer *chain = nullptr;  // nullptr: a fresh one
  std::vector<BlockPart> parts;           // these are this file's
  uint32_t points = 0;
  bool secret_starts = false;          // the pieces' IVs are made from a key
  bool is_beside = false;              // other launches run at the same time
  bool is_sorted = false;              // chains: the longest piece comes first already
  std::vector<device::Argument> more;  // of a chain's kernel, after those of all
  bool in_slot = false;                // the key schedule is in the device's key slot
  bool by_stream = false;              // schedules lie as lanes with a stream each read them
  // Where a launch before it in the stream has expanded the same keys; nullptr: this does.
  const BlockRoom *keys_of = nullptr;
};

class BlockLaunch {
 public:
  BlockLaunch(device::Device &device, BlockForm form, BlockGrid grid = {});

  BlockForm form() const { return form_; }
  // The most that one launch takes.
  uint32_t max_pieces() const { return 1 << 16; }
  uint32_t max_keys(const CipherKind &kind) const;

  // Plans the launch, and adds pieces and keys to what is copied to the device. The
  // work stays as it is until that is run.
  void stage(Staging &staging, BlockRoom &room, CipherWork &work);
  // And copies them, by themselves; when the launch is done, the caller wipes what is
  // secret of room.staged.
  Status upload(device::Stream &stream, BlockRoom &room, CipherWork &work);
  // Launches the kernels, marks `begin` and `end` around the main one, and
  // zeroes the keys and what was made of them on the device.
  Status launch(device::Stream &stream, BlockRoom &room, const CipherWork &work,
                device::Event &begin, device::Event &end);

  // The same step by step, for launches that have others among them: the keys, where
  // work.keys_of names no others; the kernels; and, when nobody wants the keys any more,
  // what was made of them. The caller zeroes what was staged.
  Status expand_keys(device::Stream &stream, BlockRoom &room, const CipherWork &work);
  Status run(device::Stream &stream, BlockRoom &room, const CipherWork &work);
  Status zero_made(device::Stream &stream, BlockRoom &room, const CipherWork &work);

  // Kernels started so far.
  uint64_t launches() const { return launches_; }

  // For launches that have this one among them: a buffer of at least `bytes`,
  // whose content is lost where it grows; and the lanes of a group of at most
  // `most`.
  Status grow(std::unique_ptr<device::Buffer> &buffer, device::MemoryKind kind, uint64_t bytes);
  uint32_t lanes_of(uint32_t most) const;

 private:
  void plan(CipherWork &work);
  Status start(device::Stream &stream, const char *kernel, uint32_t groups, uint32_t lanes,
               uint32_t local_bytes, std::span<const device::Argument> arguments,
               uint64_t longest_bytes = 0);
  Status launch_points(device::Stream &stream, BlockRoom &room, const CipherWork &work);
  // How tiles are dealt out, and streams or, with one lane each, messages.
  BlockGrid tile_grid(const BlockPart &part, uint32_t most_lanes) const;
  BlockGrid stream_grid(uint32_t streams) const;
  Status slice_keys(device::Stream &stream, BlockRoom &room, const CipherWork &work,
                    uint32_t planes, bool by_stream, std::unique_ptr<device::Buffer> &to);
  Status launch_tails(device::Stream &stream, BlockRoom &room, const CipherWork &work);
  Status launch_mode(device::Stream &stream, BlockRoom &room, const CipherWork &work);
  bool can_use_slot(const CipherWork &work) const;
  Status launch_part(device::Stream &stream, BlockRoom &room, const CipherWork &work,
                     size_t number);
  Status launch_chains(device::Stream &stream, BlockRoom &room, const CipherWork &work);
  const device::Buffer *schedules(const BlockRoom &room, const CipherWork &work) const;

  device::Device &device_;
  BlockForm form_;
  uint32_t form_lanes_, xts_lanes_;  // of a group, and of one of XTS
  uint32_t local_bytes_;
  uint32_t resident_groups_;
  bool pairs_;  // a launch beside another, where the device can
  // When the last launch that used the key slot has zeroed it.
  std::unique_ptr<device::Event> slot_free_;
  uint64_t launches_ = 0;
};

}  // namespace lanecrypt::schedule
