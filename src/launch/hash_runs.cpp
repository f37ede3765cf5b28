// Runs of what is hashed: how long they are, which go by matrices, and when they are listed.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "job/round_up.h"
#include "launch/aead_launch.h"

namespace lanecrypt::runtime {
namespace {

// Runs that kernels read on the host, some three packets each. Of more a copy is fewer packets;
// where that begins to pay was not measured.
constexpr uint64_t kMostListedLate = 4096;

uint32_t count(size_t items) { return static_cast<uint32_t>(items); }

// Where a part begins, from the base pointer of what is hashed.
uint64_t hashed_from(const CipherWork &work, const AeadPart &part) {
  if (part.is_aad) return part.aad_at;
  if (part.piece == AeadPart::kNoPiece || !work.kind.is_gcm()) return 0;  // counted from the piece
  const CipherPiece &piece = work.pieces[part.piece];
  return work.kind.direction == LC_DECRYPT ? piece.in : piece.out;
}

}  // namespace

uint64_t AeadLaunch::least_run_bytes(const CipherKind &kind) {
  return kind.is_gcm() ? GHASH_TILE_BLOCKS * kBlockBytes : POLY1305_TILE_BYTES;
}

uint64_t AeadLaunch::run_bytes(const CipherKind &kind, uint64_t bytes, bool by_matrix) const {
  constexpr uint64_t kMost = 256 << 10;
  const uint64_t least = least_run_bytes(kind);
  const auto share = [&](uint64_t workers) {
    return std::max(divide_up(divide_up(bytes, workers), least) * least, least);
  };
  // If one key has most of the runs, each warp takes one run, and all end together.
  if (by_matrix) return share(uint64_t{matrix_thread_blocks(kind)} * matrix_warps(kind));
  return std::min(share(uint64_t{device_.properties().compute_units} * 64), kMost);
}

uint32_t AeadLaunch::levels_for(uint64_t most_exponent) {
  // The first tile of a run by matrices begins with zeros, which have powers too.
  const uint64_t most = most_exponent + GHASH_TILE_BLOCKS;
  uint32_t levels = 2;
  while (levels < GHASH_MOST_LEVELS && most >> (5 * levels) != 0) ++levels;
  return levels;
}

// Runs short enough to keep the device full.
void AeadLaunch::plan_hashes(const CipherWork &work, AeadWork &aead) const {
  uint64_t bytes = 0, most_exponent = 1, longest = 0;
  std::vector<uint64_t> key_bytes(work.keys.size());
  for (const AeadPart &part : aead.parts) {
    bytes += part.length;
    key_bytes[part.key] += part.length;
    longest = std::max(longest, part.length);
    most_exponent = std::max(most_exponent, part.exponent + hash_blocks(part.length));
  }
  aead.levels = levels_for(most_exponent);
  aead.matrices_of.assign(work.keys.size(), HASH_NO_MATRICES);
  if (work.kind.is_gcm() && has_matrices_) plan_matrices(work, key_bytes, aead);
  // Poly1305 has a key for each message.
  if (work.kind.is_gcm()) longest = *std::max_element(key_bytes.begin(), key_bytes.end());
  const bool is_one = has_matrices_ && longest >= kWorthMatrices && 2 * longest >= bytes;
  aead.run_bytes = run_bytes(work.kind, bytes, is_one);
  for (const AeadPart &part : aead.parts)
    aead.run_count += count(divide_up(part.length, aead.run_bytes));
  // Each part may have a run more, where its matrices end.
  aead.runs.reserve(bytes / aead.run_bytes + 2 * aead.parts.size());
  aead.sums.reserve(aead.parts.size());
  aead.is_late = can_list_late(work, aead);
  if (aead.is_late) aead.batches.reserve(aead.run_count);
}

// A set for each key that has enough to hash, for the skew of what goes by it; for none, if any
// key's have several.
void AeadLaunch::plan_matrices(const CipherWork &work, std::span<const uint64_t> key_bytes,
                               AeadWork &aead) const {
  constexpr uint32_t kUnknown = UINT32_MAX;
  const uint64_t least = least_run_bytes(work.kind) / 2;
  std::vector<uint32_t> skews(work.keys.size(), kUnknown);
  for (const AeadPart &part : aead.parts) {
    if (key_bytes[part.key] < kWorthMatrices || part.length < least) continue;
    const uint32_t skew = hashed_from(work, part) % kBlockBytes;
    if (skews[part.key] != kUnknown && skews[part.key] != skew) aead.is_mixed = true;
    skews[part.key] = skew;
  }
  for (uint32_t key = 0; key < work.keys.size(); ++key) {
    if (skews[key] == kUnknown) continue;
    aead.matrices_of[key] = count(aead.matrix_sets.size());
    aead.matrix_sets.push_back(GHASH_SET(key, aead.is_mixed ? 0 : skews[key]));
  }
}

// The hash of a text comes after the text. To list its runs takes the host some 20 us, and their
// copy the card some 6 (docs/lab/device-memory.md).
bool AeadLaunch::can_list_late(const CipherWork &work, const AeadWork &aead) const {
  if (!work.kind.is_gcm() || work.kind.direction != LC_ENCRYPT || work.is_in_graph ||
      !device_.properties().reaches_pinned)
    return false;
  return aead.run_count + aead.parts.size() <= kMostListedLate;
}

// The sums' places too.
void AeadLaunch::list_runs(const CipherWork &work, AeadWork &aead) const {
  const uint64_t least = least_run_bytes(work.kind), most_bytes = aead.run_bytes;
  for (size_t n = 0; n < aead.parts.size(); ++n) {
    const AeadPart &part = aead.parts[n];
    HashSum sum = {};
    sum.first_run = count(aead.runs.size());
    sum.key = part.key;
    if (!work.kind.is_gcm()) {
      sum.key = count(n);  // a one-time key for each part
      OneTimeKey wanted = {.key = part.key, .nonce = {}};
      memcpy(wanted.nonce, part.start.data() + 4, sizeof wanted.nonce);
      aead.one_time_keys.push_back(wanted);
    }
    const CipherPiece *piece =
        part.piece != AeadPart::kNoPiece ? &work.pieces[part.piece] : nullptr;
    const uint64_t from = hashed_from(work, part);
    // Poly1305's matrices are those of one message, and want whole tiles.
    uint32_t set = aead.matrices_of[part.key];
    uint64_t matrix_bytes = part.length;
    if (!work.kind.is_gcm()) {
      const bool is_worth = has_matrices_ && piece != nullptr && part.length >= kWorthMatrices;
      if (is_worth && (piece->in | piece->out) % kBlockBytes != 0) aead.is_unaligned = true;
      matrix_bytes = is_worth ? part.length / POLY1305_TILE_BYTES * POLY1305_TILE_BYTES : 0;
      if (is_worth) {
        set = count(aead.matrix_sets.size());
        aead.matrix_sets.push_back(sum.key);
      }
    }
    for (uint64_t at = 0; at < part.length;) {
      const bool by_matrix = set != HASH_NO_MATRICES && at < matrix_bytes;
      HashRun run = {};
      run.at = from + at;
      run.length = std::min(most_bytes, (by_matrix ? matrix_bytes : part.length) - at);
      run.exponent = part.exponent + hash_blocks(part.length) - hash_blocks(at + run.length);
      run.key = sum.key;
      run.source = part.is_aad ? HASH_SOURCE_AAD : HASH_SOURCE_DATA;
      run.matrices = by_matrix && run.length >= least / 2 ? set : HASH_NO_MATRICES;
      run.piece = part.piece == AeadPart::kNoPiece ? 0 : part.piece;
      if (run.matrices == HASH_NO_MATRICES) ++aead.thread_runs;
      if (work.kind.is_gcm() && run.at % kBlockBytes != 0) aead.is_unaligned = true;
      aead.runs.push_back(run);
      at += run.length;
    }
    sum.run_count = count(aead.runs.size()) - sum.first_run;
    sum.closes = part.closes;
    if (part.closes && work.kind.is_gcm()) sum.mask = aead.masks++;
    std::copy(part.lengths.begin(), part.lengths.end(), sum.lengths);
    aead.sums.push_back(sum);
  }
  aead.run_count = count(aead.runs.size());
}

uint32_t AeadLaunch::matrix_warps(const CipherKind &kind) const {
  const uint32_t most = kind.is_gcm() ? GHASH_MATRIX_THREADS : POLY1305_MATRIX_THREADS;
  return std::max(blocks_.threads_of(most) / 32, 1u);
}

uint32_t AeadLaunch::matrix_thread_blocks(const CipherKind &kind) const {
  if (kind.is_gcm())
    return device_.resident_thread_blocks("ghash_matrix_runs",
                                          blocks_.threads_of(GHASH_MATRIX_THREADS),
                                          GHASH_MATRIX_SHARED_WORDS * 4);
  return device_.resident_thread_blocks("chacha20_poly1305_matrix_runs",
                                        blocks_.threads_of(POLY1305_MATRIX_THREADS),
                                        POLY1305_MATRIX_SHARED_WORDS * 4);
}

// As many as make every thread block of the device busy.
uint32_t AeadLaunch::runs_of_batch(const CipherKind &kind, uint32_t matrix_runs) const {
  const uint32_t warps = matrix_warps(kind);
  return count(divide_up(divide_up(matrix_runs, matrix_thread_blocks(kind)), warps) * warps);
}

// Runs of one key side by side, for a thread block each.
void AeadLaunch::plan_batches(const CipherWork &work, AeadWork &aead) const {
  const uint32_t runs = aead.run_count - aead.thread_runs;
  if (runs == 0) return;
  const uint32_t most = runs_of_batch(work.kind, runs);
  for (uint32_t n = 0; n < aead.runs.size(); ++n) {
    const uint32_t matrices = aead.runs[n].matrices;
    if (matrices == HASH_NO_MATRICES) continue;
    GhashBatch *last = aead.batches.empty() ? nullptr : &aead.batches.back();
    if (last != nullptr && last->matrices == matrices && last->run_count < most &&
        last->first_run + last->run_count == n)
      ++last->run_count;
    else
      aead.batches.push_back({.first_run = n, .run_count = 1, .matrices = matrices, .reserved = 0});
  }
}

// While the device has no secrets yet, which a want of memory would leave there.
Status AeadLaunch::reserve_to_list(AeadWorkspace &workspace, const AeadWork &aead) const {
  constexpr uint64_t kBetween = 3 * 256;  // they are aligned
  const uint64_t bytes = aead.run_count * (sizeof(HashRun) + sizeof(GhashBatch)) +
                         aead.parts.size() * sizeof(HashSum) + kBetween;
  return grow(device_, workspace.listed.host, device::MemoryKind::kPinned, bytes,
              workspace.listed.outgrown);
}

Status AeadLaunch::list_late(AeadWorkspace &workspace, const CipherWork &work,
                             AeadWork &aead) const {
  list_runs(work, aead);
  plan_batches(work, aead);
  Staging staging(device_);
  staging.add(workspace.runs, aead.runs);
  staging.add(workspace.sums, aead.sums);
  staging.add(workspace.batches, aead.batches);
  return staging.run_in_reach(workspace.listed);
}

}  // namespace lanecrypt::runtime
