// One launch of an authenticated mode, or of ChaCha20, on a device: the text
// encrypted, its hash taken in runs, and the sums that become tags.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cpu/cpu_aead.h"
#include "kernels/aead_layout.h"
#include "launch/block_launch.h"

namespace lanecrypt::schedule {

// What is hashed of one piece, and what closes its message.
struct AeadPart {
  static constexpr uint32_t kNoPiece = UINT32_MAX;
  uint32_t piece;   // of CipherWork::pieces; kNoPiece: additional data, or empty
  uint64_t aad_at;  // where additional data begin
  uint64_t length;  // bytes to be hashed
  // CCM: what comes before the text, from aad_at on, and the number of the
  // text's first block.
  uint64_t header_bytes, first_block;
  uint64_t exponent;  // of H for the last block
  uint32_t key;       // of CipherWork::keys
  Iv start;           // as cpu::aead_start() gives it
  bool is_aad;
  bool closes;
  std::array<uint32_t, 4> lengths;
};

// What a launch needs beside CipherWork, whose pieces have the IV of their first
// block.
struct AeadWork {
  std::vector<AeadPart> parts;
  // Messages to be wiped where their tags are wrong; `first_sum` counts parts.
  std::vector<TagCheck> checks;
  // Additional data that are not in CipherWork::in; copied by upload().
  std::vector<std::pair<const uint8_t *, uint64_t>> aad;
  // CCM: headers that are not there.
  std::vector<uint8_t> headers;

  // Made by upload():
  CipherWork text;    // GCM: its CTR, with pieces cut where a counter wraps
  CipherWork starts;  // GCM: H of every key and the mask of every tag
  std::vector<HashRun> runs;
  std::vector<HashSum> sums;
  std::vector<GhashBatch> batches;
  std::vector<uint32_t> matrix_keys;
  std::vector<OneTimeKey> one_time_keys;
  std::vector<CcmStream> streams;
  uint32_t masks = 0, levels = 0, lane_runs = 0;
  uint64_t tiles = 0;
};

struct AeadRoom {
  BlockRoom text, starts;  // whose staged things are here too
  StagedMemory staged;
  std::unique_ptr<device::Buffer> pieces, keys, runs, sums, checks, batches, matrix_keys, wanted,
      aad, streams, blocks;                                                 // staged
  std::unique_ptr<device::Buffer> powers, matrices, one_time_keys, hashes;  // reserved there
  std::unique_ptr<device::Buffer> results, results_host;
  // Of results_host, where the kernels write there; else they write to `results`.
  std::unique_ptr<device::Buffer> reached;
  const device::Buffer *sums_to() const { return (reached != nullptr ? reached : results).get(); }
};

// Whether GHASH and Poly1305 of long messages go by matrices: where the device can,
// unless the environment variable LANECRYPT_HASH_FORM is `integer`, for measurements.
// An error where it is `matrix` and the device cannot.
Result<bool> choose_matrices(const device::Properties &properties);

class AeadLaunch {
 public:
  AeadLaunch(device::Device &device, BlockLaunch &blocks);

  static bool takes(const CipherKind &kind);
  uint32_t max_keys(const CipherKind &kind) const;

  // As of BlockLaunch.
  Status upload(device::Stream &stream, AeadRoom &room, CipherWork &work, AeadWork &aead);
  Status launch(device::Stream &stream, AeadRoom &room, const CipherWork &work,
                const AeadWork &aead, device::Event &begin, device::Event &end);
  // Moves the parts' sums to the host, where the kernels have not done so; they can be
  // read when the stream is there.
  Status download(device::Stream &stream, AeadRoom &room, const CipherWork &work,
                  const AeadWork &aead);
  cpu::AeadSum sum(const AeadRoom &room, const CipherWork &work, size_t part) const;
  // Wipes what is secret of room.staged, and the sums.
  void wipe_staging(AeadRoom &room) const;

  uint64_t launches() const { return launches_; }

 private:
  void plan_counters(const CipherWork &work, AeadWork &aead) const;
  void plan_runs(const CipherWork &work, AeadWork &aead) const;
  void plan_batches(const CipherWork &work, AeadWork &aead) const;
  void stage_hashes(Staging &staging, AeadRoom &room, const AeadWork &aead) const;
  Status make_results(AeadRoom &room, const CipherWork &work, const AeadWork &aead);
  Status upload_gcm(device::Stream &stream, AeadRoom &room, CipherWork &work, AeadWork &aead);
  Status upload_chacha20(device::Stream &stream, AeadRoom &room, CipherWork &work, AeadWork &aead);
  Status launch_gcm(device::Stream &stream, AeadRoom &room, const CipherWork &work,
                    const AeadWork &aead);
  Status launch_ghash(device::Stream &stream, AeadRoom &room, const CipherWork &work,
                      const AeadWork &aead);
  // In ccm_launch.cpp.
  Status upload_ccm(device::Stream &stream, AeadRoom &room, CipherWork &work, AeadWork &aead);
  Status launch_chacha20(device::Stream &stream, AeadRoom &room, const CipherWork &work,
                         const AeadWork &aead);
  Status launch_check(device::Stream &stream, AeadRoom &room, const CipherWork &work,
                      const AeadWork &aead);
  Status zero_secrets(device::Stream &stream, AeadRoom &room, const CipherWork &work,
                      const AeadWork &aead);
  Status start(device::Stream &stream, const char *kernel, uint64_t items, uint32_t lanes,
               uint32_t local_words, std::span<const device::Argument> arguments);

  device::Device &device_;
  BlockLaunch &blocks_;
  bool has_matrices_ = false;
  uint64_t launches_ = 0;
};

}  // namespace lanecrypt::schedule
