// What one launch is to do, as plain data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "device/device.h"
#include "job/cipher/cipher_job.h"
#include "kernels/aead_layout.h"
#include "kernels/block/layout.h"
#include "launch/block_parts.h"

namespace lanecrypt::runtime {

struct BlockWorkspace;

struct CipherWork {
  CipherKind kind;
  // `first_tile` and `first_point` are BlockLaunch's; the rest is set.
  std::vector<CipherPiece> pieces;
  std::vector<const uint8_t *> keys;   // kind.key_bytes each
  const device::Buffer *in = nullptr;  // nullptr: addresses
  const device::Buffer *out = nullptr;
  const device::Buffer *chain = nullptr;  // nullptr: a fresh one
  std::vector<BlockPart> parts;           // these are BlockLaunch's
  uint32_t points = 0;
  bool secret_starts = false;          // the pieces' IVs are made from a key
  bool is_concurrent = false;          // other launches run at the same time
  bool is_in_graph = false;            // a graph does it again: what it uses is its own, and stays
  bool is_sorted = false;              // chains: the longest piece comes first already
  std::vector<device::Argument> more;  // of a chain's kernel, after those of all
  // CTR: the launch before it in the stream makes nothing for it, and need not have ended.
  bool begins_concurrently = false;
  // Pieces lie at any address, and the kernel is the one for that; in ChaCha20-Poly1305 that of
  // what is not hashed by matrices.
  bool is_unaligned = false;
  // XTS: the kernels for whole blocks would do many slots one by one, since data units end in a
  // part of a block. So the kernels are those for such units, at any address.
  bool is_partial = false;
  bool in_slot = false;    // the key schedule is in the device's key slot
  bool by_stream = false;  // schedules lie as threads with a stream each read them
  // Where a launch before it in the stream has expanded the same keys; nullptr: this does.
  const BlockWorkspace *keys_of = nullptr;
};

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

// How the nonces of segments go on where a graph does them again at each launch.
struct GraphUpdateWork {
  SegmentGraphUpdate update = {};
  const device::Buffer *nonce = nullptr, *verdict = nullptr;  // nullptr: addresses, or none
};

// Segments of one text, instead of pieces, parts and checks, which the device makes of them.
struct SegmentsWork {
  SegmentRule rule = {};            // `run_bytes`, `run_count`, tiles and runs are AeadLaunch's
  const uint8_t *nonces = nullptr;  // where each is given, one after the other; copied by upload()
  // Additional data: on the host, copied by upload(); or on the device, at rule.aad_at from a base.
  const uint8_t *aad = nullptr;
  const device::Buffer *aad_base = nullptr;
  std::optional<GraphUpdateWork> update;
};

// What a launch needs beside CipherWork, whose pieces have the IV of their first
// block.
struct AeadWork {
  std::vector<AeadPart> parts;
  std::optional<SegmentsWork> segments;
  // Messages whose tags are written on the device, or that are wiped there where their tags
  // are wrong; `first_sum` counts parts.
  std::vector<TagCheck> checks;
  // Whole messages of few bytes, each of which a thread block does; made by upload().
  bool is_short = false;
  // Nobody on the host wants the parts' sums.
  bool tags_stay_on_device = false;
  const device::Buffer *tags = nullptr, *verdicts = nullptr;  // nullptr: addresses, or none
  // Additional data that are not in CipherWork::in; copied by upload().
  std::vector<std::pair<const uint8_t *, uint64_t>> aad;
  // CCM: headers that are not there.
  std::vector<uint8_t> headers;

  // Made by upload():
  CipherWork text;                    // GCM: its CTR, with pieces cut where a counter wraps
  CipherWork starts;                  // GCM: H of every key and the mask of every tag
  std::vector<uint32_t> matrices_of;  // GCM: each key's set of matrices, or HASH_NO_MATRICES
  uint64_t run_bytes = 0;             // of the longest runs
  bool is_late = false;               // launch() lists runs, sums and batches
  KeptVector<HashRun> runs;
  std::vector<HashSum> sums;
  std::vector<GhashBatch> batches;
  std::vector<uint32_t> matrix_sets;  // GCM: GHASH_SET of each; Poly1305: the one-time key
  std::vector<OneTimeKey> one_time_keys;
  std::vector<CcmStream> streams;
  uint32_t run_count = 0, sum_count = 0, check_count = 0;
  // What is hashed lies at any address; in ChaCha20-Poly1305 what is hashed by matrices.
  bool is_unaligned = false;
  // GCM: texts of one key lie at several places in blocks of memory. Matrices are for one place, so
  // theirs are for the beginning of a block, and the texts are moved.
  bool is_mixed = false;
  uint32_t masks = 0, levels = 0, thread_runs = 0;
  uint64_t tiles = 0;

  bool has_aad() const { return segments ? segments->rule.aad_length != 0 : !aad.empty(); }
};

// What the launch of a chunk is to do.
struct ChunkWork : CipherWork {
  AeadWork aead;  // authenticated modes
};

}  // namespace lanecrypt::runtime
