// One launch of an authenticated mode, or of ChaCha20, on a device: the text
// encrypted, its hash taken in runs, and the sums that become tags.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "launch/block_launch.h"

namespace lanecrypt::runtime {

struct AeadWorkspace : LaunchWorkspace {
  BlockWorkspace text, starts;  // whose staged things are here too
  StagedMemory staged;
  // What is listed while the text is under way, where kernels read it on the host.
  StagedMemory listed;
  std::unique_ptr<device::Buffer> update;  // staged, of segments in a graph
  std::unique_ptr<device::Buffer> pieces, keys, runs, sums, checks, batches, matrix_sets, wanted,
      aad, given_aad, streams, blocks, rule, nonces, messages;  // staged
  // Reserved there; `kept_sums` where the sums stay on the device.
  std::unique_ptr<device::Buffer> powers, matrices, one_time_keys, hashes, kept_sums;
  std::unique_ptr<device::Buffer> results, results_host;
  uint64_t host_bytes = 0;  // of results_host that this launch fills
  // A view of results_host, if the kernels write there; otherwise they write to `results`.
  std::unique_ptr<device::Buffer> reached;
  // Never read where none are given.
  const device::Buffer *nonces_of(const SegmentRule &segments) const {
    return (segments.nonces_are_given != 0 ? nonces : rule).get();
  }
  const device::Buffer *sums_to(const AeadWork &work) const {
    if (work.tags_stay_on_device) return kept_sums.get();
    return (reached != nullptr ? reached : results).get();
  }
};

// A launch of the block cipher within one of GCM.
CipherWork inner_work(const CipherWork &work, Mode mode);

// Whether GHASH and Poly1305 of long messages go by matrices: where the device can,
// unless the environment variable LANECRYPT_HASH_FORM is `integer`, for measurements.
// An error where it is `matrix` and the device cannot.
Result<bool> choose_matrices(const device::Properties &properties);

class AeadLaunch : public ChunkLaunch {
 public:
  AeadLaunch(device::Device &device, BlockLaunch &blocks);

  bool takes(const CipherKind &kind) const override;
  uint32_t max_pieces(const CipherKind &kind) const override;
  std::unique_ptr<LaunchWorkspace> make_workspace() const override {
    return std::make_unique<AeadWorkspace>();
  }
  Status upload(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work) override;
  Status launch(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work,
                device::Event *begin, device::Event *end) override;
  bool is_worth_timing(const ChunkWork &work) const override { return !work.aead.is_short; }
  // The parts' sums, where the kernels have not written them to the host.
  Status download(device::Stream &stream, LaunchWorkspace &workspace,
                  const ChunkWork &work) override;
  cpu::AeadSum sum(const LaunchWorkspace &workspace, const ChunkWork &work,
                   size_t part) const override;
  void has_ended(LaunchWorkspace &workspace) override;
  // The sums too.
  void wipe(LaunchWorkspace &workspace) const override;
  uint64_t launches() const override { return launches_; }

 private:
  // Threads of a thread block that adds up the runs of one part.
  uint32_t sum_threads(const AeadWork &aead) const;
  CipherWork gcm_text(const CipherWork &work) const;
  bool pairs(const CipherWork &work) const;
  void plan_counters(const CipherWork &work, AeadWork &aead) const;
  void stage_hashes(Staging &staging, AeadWorkspace &workspace, const AeadWork &aead) const;
  static void reserve_sums(Staging &staging, AeadWorkspace &workspace, const CipherWork &work,
                           const AeadWork &aead);
  static void stage_aad(Staging &staging, AeadWorkspace &workspace, const AeadWork &aead);
  Status make_results(AeadWorkspace &workspace, const CipherWork &work, const AeadWork &aead);
  Status upload_gcm(device::Stream &stream, AeadWorkspace &workspace, CipherWork &work,
                    AeadWork &aead);
  Status upload_chacha20(device::Stream &stream, AeadWorkspace &workspace, CipherWork &work,
                         AeadWork &aead);
  Status launch_gcm(device::Stream &stream, AeadWorkspace &workspace, const CipherWork &work,
                    AeadWork &aead);
  Status launch_ghash(device::Stream &stream, AeadWorkspace &workspace, const CipherWork &work,
                      const AeadWork &aead);
  // Threads that take a tile of ChaCha20.
  uint32_t chacha20_warp(const CipherWork &work) const;
  static void stage_raw_keys(Staging &staging, AeadWorkspace &workspace, const CipherWork &work);
  // In hash_runs.cpp.
  // From so many bytes on a key's matrices are worth making.
  static constexpr uint64_t kWorthMatrices = 1 << 20;
  // The bytes of a run: at least those of a tile, and as many as keep the device full with `bytes`
  // bytes in all.
  static uint64_t least_run_bytes(const CipherKind &kind);
  // by_matrix: they go by matrices.
  uint64_t run_bytes(const CipherKind &kind, uint64_t bytes, bool by_matrix) const;
  static uint32_t levels_for(uint64_t most_exponent);
  // Groups that hash by matrices at once, and warps of each, which have a run each.
  uint32_t matrix_thread_blocks(const CipherKind &kind) const;
  uint32_t matrix_warps(const CipherKind &kind) const;
  // How many runs of so many a thread block takes.
  uint32_t runs_of_batch(const CipherKind &kind, uint32_t matrix_runs) const;
  // What is to be known of the runs before they are listed.
  void plan_hashes(const CipherWork &work, AeadWork &aead) const;
  void plan_matrices(const CipherWork &work, std::span<const uint64_t> key_bytes,
                     AeadWork &aead) const;
  bool can_list_late(const CipherWork &work, const AeadWork &aead) const;
  // A list of them, and of what becomes of them.
  void list_runs(const CipherWork &work, AeadWork &aead) const;
  void plan_batches(const CipherWork &work, AeadWork &aead) const;
  Status reserve_to_list(AeadWorkspace &workspace, const AeadWork &aead) const;
  Status list_late(AeadWorkspace &workspace, const CipherWork &work, AeadWork &aead) const;
  // In short_launch.cpp.
  bool is_short(const ChunkWork &work) const;
  Status upload_short(device::Stream &stream, AeadWorkspace &workspace, const CipherWork &work,
                      const AeadWork &aead);
  Status launch_short(device::Stream &stream, AeadWorkspace &workspace, const CipherWork &work,
                      const AeadWork &aead);
  // In ccm_launch.cpp.
  Status upload_ccm(device::Stream &stream, AeadWorkspace &workspace, CipherWork &work,
                    AeadWork &aead);
  // In segments_launch.cpp.
  // Whether any text may begin at no multiple of 16.
  static bool are_unaligned(const SegmentRule &rule);
  // How many segments have each shape.
  static std::array<uint64_t, 3> segment_counts(const SegmentRule &rule);
  static void stage_rule(Staging &staging, AeadWorkspace &workspace, const SegmentsWork &work);
  Status launch_next_nonces(device::Stream &stream, AeadWorkspace &workspace,
                            const SegmentsWork &work);
  void plan_segments(const CipherWork &work, AeadWork &aead) const;
  void stage_segment_texts(Staging &staging, AeadWorkspace &workspace, const CipherWork &work,
                           AeadWork &aead);
  static void stage_segments_aad(Staging &staging, AeadWorkspace &workspace,
                                 const SegmentsWork &work);
  Status upload_segments(device::Stream &stream, AeadWorkspace &workspace, CipherWork &work,
                         AeadWork &aead);
  Status launch_segments(device::Stream &stream, AeadWorkspace &workspace, const CipherWork &work,
                         const AeadWork &aead);
  // In plain_segments_launch.cpp: of modes without tags.
  Status upload_plain_segments(device::Stream &stream, AeadWorkspace &workspace, CipherWork &work,
                               AeadWork &aead);
  Status launch_plain_segments(device::Stream &stream, AeadWorkspace &workspace,
                               const CipherWork &work, const AeadWork &aead);
  Status launch_chacha20(device::Stream &stream, AeadWorkspace &workspace, const CipherWork &work,
                         const AeadWork &aead);
  Status launch_check(device::Stream &stream, AeadWorkspace &workspace, const CipherWork &work,
                      const AeadWork &aead);
  // What is never used must be something where there are no addresses.
  const device::Buffer *base(const device::Buffer *buffer, const device::Buffer *something) const;
  Status zero_secrets(device::Stream &stream, AeadWorkspace &workspace, const CipherWork &work,
                      const AeadWork &aead);
  Status start(device::Stream &stream, const char *kernel, uint64_t items, uint32_t threads,
               uint32_t shared_words_of, std::span<const device::Argument> arguments,
               bool overlaps_previous = false);

  device::Device &device_;
  BlockLaunch &blocks_;
  bool has_matrices_ = false;
  uint64_t launches_ = 0;
};

}  // namespace lanecrypt::runtime
