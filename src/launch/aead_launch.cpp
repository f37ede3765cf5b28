// SPDX-License-Identifier: Apache-2.0
#include "launch/aead_launch.h"
#include "process/diagnostics.h"

#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "job/cipher/counter.h"
#include "job/round_up.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::MemoryKind;

constexpr uint64_t kHashBytes = HASH_WORDS * 4;
constexpr uint64_t kOneTimeKeyBytes = POLY1305_KEY_WORDS * 4;
// Sums that kernels write to the host themselves, each as packets of the bus of its own.
// More of them are fewer packets in one copy; where that begins to pay was not measured.
constexpr size_t kMostReached = 1024;

uint32_t count(size_t items) { return static_cast<uint32_t>(items); }

bool is_gcm(const CipherKind &kind) { return kind.is_gcm(); }

// Segments without tags.
bool is_plain(const ChunkWork &work) { return work.aead.segments && !work.kind.info().is_aead; }

uint64_t sum_bytes(const CipherKind &kind) {
  return kind.info().is_block_cipher() ? kBlockBytes : POLY1305_SUM_WORDS * 4;
}

}  // namespace

CipherWork inner_work(const CipherWork &work, Mode mode) {
  CipherWork inner;
  inner.kind = work.kind.as(mode, LC_ENCRYPT);
  inner.keys = work.keys;
  inner.in = work.in;
  inner.out = work.out;
  inner.is_in_graph = work.is_in_graph;
  return inner;
}

Result<bool> choose_matrices(const device::Properties &properties) {
  const char *text = process::diagnostic_variable("LANECRYPT_HASH_FORM");
  const std::string_view wanted = text != nullptr ? text : "";
  if (wanted.empty()) return properties.bit_matrices;
  if (wanted == "integer") return false;
  if (wanted != "matrix")
    return Status(LC_ERROR_ARGUMENT,
                  "LANECRYPT_HASH_FORM is matrix or integer, not " + std::string(wanted));
  if (properties.bit_matrices) return true;
  return Status(LC_ERROR_NO_DEVICE, properties.id + " cannot run LANECRYPT_HASH_FORM=matrix");
}

AeadLaunch::AeadLaunch(device::Device &device, BlockLaunch &blocks)
    : device_(device), blocks_(blocks) {
  Result<bool> matrices = choose_matrices(device.properties());
  has_matrices_ = matrices.ok() && *matrices;
}

bool AeadLaunch::takes(const CipherKind &kind) const {
  return kind.info().is_aead || kind.cipher == LC_CHACHA20;
}

uint32_t AeadLaunch::max_pieces(const CipherKind &kind) const {
  if (!kind.info().is_block_cipher()) return BlockLaunch::kMostPieces;
  // Tables of powers take up to 6.5 KiB a key.
  return std::min(blocks_.max_pieces(kind), is_gcm(kind) ? 4096 : BlockLaunch::kMostPieces);
}

Status AeadLaunch::start(device::Stream &stream, const char *kernel, uint64_t thread_blocks,
                         uint32_t threads, uint32_t shared_words_of,
                         std::span<const Argument> arguments, bool overlaps_previous) {
  ++launches_;
  return stream.launch(
      {.kernel = kernel,
       .thread_blocks = static_cast<uint32_t>(std::max<uint64_t>(thread_blocks, 1)),
       .thread_block_size = blocks_.threads_of(threads),
       .shared_bytes = shared_words_of * 4,
       .arguments = arguments,
       .overlaps_previous = overlaps_previous});
}

// With very many parts of few runs each, more threads than runs would gain nothing.
uint32_t AeadLaunch::sum_threads(const AeadWork &aead) const {
  const device::Properties &properties = device_.properties();
  const bool are_few =
      uint64_t{aead.run_count} <= uint64_t{aead.sum_count} * properties.warp_threads;
  return are_few && !properties.fixed_thread_block_size ? properties.warp_threads
                                                        : HASH_SUM_THREADS;
}

// The text of an encryption needs nothing of what prepares the hash just before it.
CipherWork AeadLaunch::gcm_text(const CipherWork &work) const {
  CipherWork text = inner_work(work, Mode::kCtr);
  text.begins_concurrently = work.kind.direction == LC_ENCRYPT && pairs(work);
  return text;
}

// Old drivers do not take such launches into a graph.
bool AeadLaunch::pairs(const CipherWork &work) const {
  return device_.properties().pairs_launches && !work.is_in_graph;
}

// GCM counts 32 bits, CTR 128: a piece is cut where the former wraps.
void AeadLaunch::plan_counters(const CipherWork &work, AeadWork &aead) const {
  aead.text = gcm_text(work);
  // That of a long IV is a polynomial in H.
  aead.text.secret_starts = true;
  for (CipherPiece piece : work.pieces) {
    uint8_t iv[16];
    memcpy(iv, piece.iv, sizeof iv);
    const uint64_t until_wrap = blocks_until_gcm_wraps(iv) * kBlockBytes;
    if (piece.length > until_wrap) {
      CipherPiece front = piece;
      front.length = until_wrap;
      aead.text.pieces.push_back(front);
      piece.in += until_wrap;
      piece.out += until_wrap;
      piece.length -= until_wrap;
      piece.iv[3] = 0;
    }
    aead.text.pieces.push_back(piece);
  }
}

// The runs, what becomes of them, and additional data; and room for the hashes.
void AeadLaunch::stage_hashes(Staging &staging, AeadWorkspace &workspace,
                              const AeadWork &aead) const {
  if (!aead.is_late) {
    staging.add(workspace.runs, aead.runs);
    staging.add(workspace.sums, aead.sums);
    staging.add(workspace.batches, aead.batches);
  }
  staging.add(workspace.checks, aead.checks);
  staging.add(workspace.wanted, aead.one_time_keys);
  staging.add(workspace.matrix_sets, aead.matrix_sets);
  staging.reserve(workspace.hashes, (uint64_t{aead.run_count} + 1) * kHashBytes);
  stage_aad(staging, workspace, aead);
}

void AeadLaunch::reserve_sums(Staging &staging, AeadWorkspace &workspace, const CipherWork &work,
                              const AeadWork &aead) {
  if (aead.tags_stay_on_device)
    staging.reserve(workspace.kept_sums, aead.sum_count * sum_bytes(work.kind));
}

void AeadLaunch::stage_aad(Staging &staging, AeadWorkspace &workspace, const AeadWork &aead) {
  uint64_t aad_bytes = 0;
  for (const auto &one : aead.aad) aad_bytes += whole_blocks(one.second);
  staging.add(workspace.aad, aad_bytes, true, [&aead](uint8_t *place) {
    for (const auto &[from, bytes] : aead.aad) {
      memcpy(place, from, bytes);
      place += whole_blocks(bytes);
    }
  });
}

// H of every key and the mask of every tag are blocks under the cipher: zero and J0.
Status AeadLaunch::upload_gcm(device::Stream &stream, AeadWorkspace &workspace, CipherWork &work,
                              AeadWork &aead) {
  plan_counters(work, aead);
  aead.starts = inner_work(work, Mode::kEcb);
  std::vector<CipherPiece> &starts = aead.starts.pieces;
  const uint64_t keys = work.keys.size();
  std::vector<uint8_t> blocks(keys * kBlockBytes);
  for (uint32_t key = 0; key < keys; ++key) {
    CipherPiece piece = {};
    piece.in = piece.out = key * kBlockBytes;
    piece.length = kBlockBytes;
    piece.key = key;
    starts.push_back(piece);
  }
  for (const AeadPart &part : aead.parts) {
    if (!part.closes) continue;
    CipherPiece &last = starts.back();
    if (last.in >= keys * kBlockBytes && last.key == part.key) {
      last.length += kBlockBytes;
    } else {
      CipherPiece piece = {};
      piece.in = piece.out = blocks.size();
      piece.length = kBlockBytes;
      piece.key = part.key;
      starts.push_back(piece);
    }
    blocks.insert(blocks.end(), part.start.begin(), part.start.end());
  }
  Staging staging(device_);
  // A counter that begins with H's help tells of it.
  staging.add(workspace.blocks, blocks, true);
  blocks_.stage(staging, workspace.starts, aead.starts);
  aead.text.keys_of = &workspace.starts;
  if (!aead.text.pieces.empty()) blocks_.stage(staging, workspace.text, aead.text);
  stage_hashes(staging, workspace, aead);
  reserve_sums(staging, workspace, work, aead);
  staging.reserve(workspace.powers, keys * aead.levels * GHASH_LEVEL_WORDS * 4);
  staging.reserve(workspace.matrices, aead.matrix_sets.size() * GHASH_MATRIX_WORDS * 4);
  const Status status = staging.run(stream, workspace.staged);
  secure::wipe(blocks.data(), blocks.size());
  aead.starts.in = aead.starts.out = workspace.blocks.get();
  return status;
}

void AeadLaunch::stage_raw_keys(Staging &staging, AeadWorkspace &workspace,
                                const CipherWork &work) {
  constexpr uint64_t kKeyBytes = BLOCK_KEY_WORDS * 4;
  staging.add(workspace.keys, work.keys.size() * kKeyBytes, true, [&work](uint8_t *place) {
    for (const uint8_t *key : work.keys) {
      memcpy(place, key, kKeyBytes);
      place += kKeyBytes;
    }
  });
}

uint32_t AeadLaunch::chacha20_warp(const CipherWork &work) const {
  return work.is_unaligned ? CHACHA20_UNALIGNED_WARP : device_.properties().warp_threads;
}

Status AeadLaunch::upload_chacha20(device::Stream &stream, AeadWorkspace &workspace,
                                   CipherWork &work, AeadWork &aead) {
  const auto is_unaligned = [](const CipherPiece &piece) {
    return (piece.in | piece.out) % kBlockBytes != 0;
  };
  work.is_unaligned = device_.properties().warp_shuffle &&
                      std::any_of(work.pieces.begin(), work.pieces.end(), is_unaligned);
  const uint64_t warp = chacha20_warp(work);
  for (CipherPiece &piece : work.pieces) {
    piece.first_tile = aead.tiles;
    aead.tiles += divide_up(divide_up(piece.length, CHACHA20_BLOCK_BYTES), warp);
  }
  Staging staging(device_);
  stage_raw_keys(staging, workspace, work);
  staging.add(workspace.pieces, work.pieces);
  if (work.kind.info().is_aead) {
    stage_hashes(staging, workspace, aead);
    reserve_sums(staging, workspace, work, aead);
    staging.reserve(workspace.one_time_keys, aead.one_time_keys.size() * kOneTimeKeyBytes);
    staging.reserve(workspace.matrices, aead.matrix_sets.size() * POLY1305_MATRIX_WORDS * 4);
  }
  return staging.run(stream, workspace.staged);
}

// Where the sums go. A copy of a few bytes, and what zeroes them after it, would keep the
// stream that brings back the output from the next one.
Status AeadLaunch::make_results(AeadWorkspace &workspace, const CipherWork &work,
                                const AeadWork &aead) {
  const uint64_t bytes = aead.sum_count * sum_bytes(work.kind);
  workspace.reached.reset();
  workspace.host_bytes = 0;
  if (bytes == 0 || aead.tags_stay_on_device) return Status();
  LC_TRY(blocks_.grow(workspace.results_host, MemoryKind::kPinned, bytes));
  workspace.host_bytes = bytes;
  // aead_check reads them again.
  if (device_.properties().reaches_pinned && aead.check_count == 0 &&
      aead.sum_count <= kMostReached) {
    workspace.reached = std::make_unique<device::PinnedPart>(*workspace.results_host, 0, bytes);
    return Status();
  }
  return blocks_.grow(workspace.results, MemoryKind::kDevice, bytes);
}

Status AeadLaunch::upload(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work) {
  auto &ours = static_cast<AeadWorkspace &>(workspace);
  AeadWork &aead = work.aead;
  if (is_plain(work)) return upload_plain_segments(stream, ours, work, aead);
  aead.is_short = is_short(work);
  if (aead.is_short) return upload_short(stream, ours, work, aead);
  aead.sum_count = count(aead.parts.size());
  aead.check_count = count(aead.checks.size());
  if (aead.segments) {
    aead.check_count = aead.segments->rule.count;
    aead.sum_count = aead.check_count * aead.segments->rule.sums_each;
  }
  LC_TRY(make_results(ours, work, aead));
  if (aead.segments) return upload_segments(stream, ours, work, aead);
  if (work.kind.is_ccm()) return upload_ccm(stream, ours, work, aead);
  plan_hashes(work, aead);
  if (aead.is_late) {
    LC_TRY(reserve_to_list(ours, aead));
  } else {
    list_runs(work, aead);
    plan_batches(work, aead);
  }
  return is_gcm(work.kind) ? upload_gcm(stream, ours, work, aead)
                           : upload_chacha20(stream, ours, work, aead);
}

// The hashes of all runs, weighed and added up.
Status AeadLaunch::launch_ghash(device::Stream &stream, AeadWorkspace &workspace,
                                const CipherWork &work, const AeadWork &aead) {
  const device::Buffer *data = work.kind.direction == LC_DECRYPT ? work.in : work.out;
  const device::Buffer *aad = aead.has_aad() ? workspace.aad.get() : work.in;
  const uint32_t runs = aead.run_count;
  const auto listed = [&](const device::Buffer *buffer) {
    // There may be no runs at all.
    return aead.is_late && buffer != nullptr ? Argument(buffer->address()) : Argument(buffer);
  };
  if (!aead.batches.empty()) {
    const Argument by_matrix[] = {listed(workspace.runs.get()),
                                  listed(workspace.batches.get()),
                                  count(aead.batches.size()),
                                  workspace.matrices.get(),
                                  workspace.powers.get(),
                                  aead.levels,
                                  data,
                                  aad,
                                  workspace.hashes.get()};
    LC_TRY(start(stream, aead.is_mixed ? "ghash_matrix_runs_unaligned" : "ghash_matrix_runs",
                 aead.batches.size(), GHASH_MATRIX_THREADS, GHASH_MATRIX_SHARED_WORDS, by_matrix));
  }
  const Argument by_thread[] = {
      listed(workspace.runs.get()), workspace.powers.get(), aead.levels, data, aad,
      workspace.hashes.get()};
  if (aead.thread_runs != 0)
    LC_TRY(start(stream, aead.is_unaligned ? "ghash_runs_unaligned" : "ghash_runs", runs,
                 HASH_RUN_THREADS, HASH_RUN_SHARED_WORDS, by_thread));
  // The masks stand behind the H of all keys.
  const Argument sums[] = {
      listed(workspace.sums.get()), workspace.powers.get(),  aead.levels,
      workspace.blocks.get(),       count(work.keys.size()), workspace.hashes.get(),
      workspace.sums_to(aead)};
  return start(stream, "ghash_sums", aead.sum_count, sum_threads(aead), HASH_SUM_SHARED_WORDS, sums,
               pairs(work));
}

Status AeadLaunch::launch_gcm(device::Stream &stream, AeadWorkspace &workspace,
                              const CipherWork &work, AeadWork &aead) {
  const uint32_t keys = count(work.keys.size());
  LC_TRY(blocks_.expand_keys(stream, workspace.starts, aead.starts));
  LC_TRY(blocks_.run(stream, workspace.starts, aead.starts));
  const uint32_t key_threads = blocks_.threads_of(HASH_KEY_THREADS);
  // Each of these lets the next begin and waits for the last, so that the text begins with them.
  const Argument powers[] = {workspace.blocks.get(), workspace.powers.get(), keys, aead.levels};
  LC_TRY(start(stream, "ghash_powers", divide_up(uint64_t{keys} * aead.levels * 32, key_threads),
               HASH_KEY_THREADS, 0, powers, pairs(work)));
  if (const uint32_t sets = count(aead.matrix_sets.size()); sets != 0) {
    const Argument matrices[] = {workspace.matrix_sets.get(), sets, workspace.powers.get(),
                                 aead.levels, workspace.matrices.get()};
    LC_TRY(start(stream, "ghash_matrices",
                 divide_up(uint64_t{sets} * GHASH_MATRIX_ENTRIES, key_threads), HASH_KEY_THREADS, 0,
                 matrices, pairs(work)));
  }
  // The ciphertext is hashed: before it is overwritten, or once it is there.
  const bool opens = work.kind.direction == LC_DECRYPT;
  if (opens) LC_TRY(launch_ghash(stream, workspace, work, aead));
  if (!aead.text.parts.empty()) LC_TRY(blocks_.run(stream, workspace.text, aead.text));
  if (opens) return Status();
  if (aead.is_late) LC_TRY(list_late(workspace, work, aead));
  return launch_ghash(stream, workspace, work, aead);
}

Status AeadLaunch::launch_chacha20(device::Stream &stream, AeadWorkspace &workspace,
                                   const CipherWork &work, const AeadWork &aead) {
  if (!work.kind.info().is_aead) {
    const char *const kernel = work.is_unaligned ? "chacha20_unaligned" : "chacha20";
    const uint32_t shared_words_of = work.is_unaligned ? CHACHA20_UNALIGNED_SHARED_WORDS : 0;
    const uint32_t threads = blocks_.threads_of(CHACHA20_THREADS);
    const uint64_t warps = threads / chacha20_warp(work);
    const uint64_t resident = device_.resident_thread_blocks(kernel, threads, shared_words_of * 4);
    const uint32_t pieces = aead.segments ? aead.segments->rule.count : count(work.pieces.size());
    const Argument text[] = {workspace.pieces.get(), pieces,  aead.tiles,
                             workspace.keys.get(),   work.in, work.out};
    return start(stream, kernel, std::min(divide_up(aead.tiles, warps), resident), CHACHA20_THREADS,
                 shared_words_of, text);
  }
  // Each part has one, and each segment.
  const uint32_t one_time_keys = aead.segments ? aead.segments->rule.count : aead.sum_count;
  const uint32_t runs = aead.run_count;
  const Argument keys[] = {workspace.wanted.get(), one_time_keys, workspace.keys.get(),
                           workspace.one_time_keys.get()};
  const uint32_t key_threads = blocks_.threads_of(HASH_KEY_THREADS);
  LC_TRY(start(stream, "poly1305_keys", divide_up(one_time_keys, key_threads), HASH_KEY_THREADS, 0,
               keys));
  const uint32_t opens = work.kind.direction == LC_DECRYPT ? 1 : 0;
  if (const uint32_t sets = count(aead.matrix_sets.size()); sets != 0) {
    const Argument matrices[] = {workspace.matrix_sets.get(), sets, workspace.one_time_keys.get(),
                                 workspace.matrices.get()};
    LC_TRY(start(stream, "poly1305_matrices",
                 divide_up(uint64_t{sets} * POLY1305_MATRIX_ENTRIES, key_threads), HASH_KEY_THREADS,
                 0, matrices));
    const Argument by_matrix[] = {workspace.runs.get(),
                                  workspace.batches.get(),
                                  count(aead.batches.size()),
                                  workspace.matrices.get(),
                                  workspace.pieces.get(),
                                  workspace.keys.get(),
                                  workspace.one_time_keys.get(),
                                  opens,
                                  work.in,
                                  work.out,
                                  workspace.hashes.get()};
    LC_TRY(start(stream,
                 aead.is_unaligned ? "chacha20_poly1305_matrix_runs_unaligned"
                                   : "chacha20_poly1305_matrix_runs",
                 aead.batches.size(), POLY1305_MATRIX_THREADS, POLY1305_MATRIX_SHARED_WORDS,
                 by_matrix));
  }
  if (runs != 0) {
    const device::Buffer *aad = aead.has_aad() ? workspace.aad.get() : work.in;
    const device::Buffer *pieces = work.pieces.empty() && !aead.segments
                                       ? workspace.runs.get()
                                       : workspace.pieces.get();  // never read
    const Argument text[] = {workspace.runs.get(),
                             pieces,
                             workspace.keys.get(),
                             workspace.one_time_keys.get(),
                             opens,
                             work.in,
                             work.out,
                             aad,
                             workspace.hashes.get()};
    if (aead.thread_runs != 0)
      LC_TRY(start(
          stream, work.is_unaligned ? "chacha20_poly1305_runs_unaligned" : "chacha20_poly1305_runs",
          runs, HASH_RUN_THREADS, POLY1305_RUN_SHARED_WORDS, text));
    const Argument weigh[] = {workspace.runs.get(), runs, workspace.one_time_keys.get(),
                              workspace.hashes.get()};
    LC_TRY(start(stream, "poly1305_weigh", divide_up(runs, blocks_.threads_of(HASH_RUN_THREADS)),
                 HASH_RUN_THREADS, 0, weigh));
  }
  const Argument sums[] = {workspace.sums.get(), workspace.one_time_keys.get(),
                           workspace.hashes.get(), workspace.sums_to(aead)};
  return start(stream, "poly1305_sums", aead.sum_count, sum_threads(aead), HASH_SUM_SHARED_WORDS,
               sums);
}

const device::Buffer *AeadLaunch::base(const device::Buffer *buffer,
                                       const device::Buffer *something) const {
  return buffer != nullptr || device_.properties().flat_addresses ? buffer : something;
}

Status AeadLaunch::launch_check(device::Stream &stream, AeadWorkspace &workspace,
                                const CipherWork &work, const AeadWork &aead) {
  const uint32_t checks = aead.check_count;
  if (checks == 0) return Status();
  const device::Buffer *const results = workspace.sums_to(aead);
  const uint32_t is_poly = work.kind.info().is_block_cipher() ? 0 : 1;
  if (work.kind.direction == LC_ENCRYPT) {
    const Argument write[] = {workspace.checks.get(), checks, is_poly, results,
                              base(aead.tags, results)};
    return start(stream, "aead_tags", divide_up(checks, blocks_.threads_of(TAG_CHECK_THREADS)),
                 TAG_CHECK_THREADS, 0, write, pairs(work));
  }
  const Argument check[] = {workspace.checks.get(),
                            checks,
                            is_poly,
                            results,
                            base(work.out, results),
                            base(aead.tags, results),
                            base(aead.verdicts, results)};
  return start(stream, "aead_check",
               std::max<uint64_t>(checks, 8 * device_.properties().compute_units),
               TAG_CHECK_THREADS, 0, check);
}

Status AeadLaunch::launch(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work,
                          device::Event *begin, device::Event *end) {
  auto &ours = static_cast<AeadWorkspace &>(workspace);
  AeadWork &aead = work.aead;
  if (is_plain(work)) return launch_plain_segments(stream, ours, work, aead);
  if (work.kind.is_ccm()) LC_TRY(blocks_.expand_keys(stream, ours.text, work));
  if (begin != nullptr) LC_TRY(stream.mark(*begin));
  if (aead.segments) LC_TRY(launch_segments(stream, ours, work, aead));
  if (aead.is_short)
    LC_TRY(launch_short(stream, ours, work, aead));
  else if (work.kind.is_ccm())
    LC_TRY(blocks_.run(stream, ours.text, work));
  else if (is_gcm(work.kind))
    LC_TRY(launch_gcm(stream, ours, work, aead));
  else
    LC_TRY(launch_chacha20(stream, ours, work, aead));
  if (!aead.is_short) LC_TRY(launch_check(stream, ours, work, aead));
  if (end != nullptr) LC_TRY(stream.mark(*end));
  return work.is_in_graph ? Status() : zero_secrets(stream, ours, work, aead);
}

Status AeadLaunch::zero_secrets(device::Stream &stream, AeadWorkspace &workspace,
                                const CipherWork &work, const AeadWork &aead) {
  LC_TRY(workspace.staged.zero_secrets(stream));
  if (work.kind.is_ccm()) return blocks_.zero_made(stream, workspace.text, work);
  // The text has the same keys. What a thread block makes for a short message it wipes itself.
  return is_gcm(work.kind) && !aead.is_short
             ? blocks_.zero_made(stream, workspace.starts, aead.starts)
             : Status();
}

Status AeadLaunch::download(device::Stream &stream, LaunchWorkspace &workspace,
                            const ChunkWork &work) {
  const auto &ours = static_cast<const AeadWorkspace &>(workspace);
  if (work.aead.sum_count == 0 || work.aead.tags_stay_on_device || ours.reached != nullptr)
    return Status();
  const uint64_t bytes = work.aead.sum_count * sum_bytes(work.kind);
  LC_TRY(stream.download(ours.results_host->host(), *ours.results, 0, bytes));
  // The share of a piece is a polynomial in H or r, whose other numbers are known.
  return stream.zero(*ours.results, 0, bytes);
}

cpu::AeadSum AeadLaunch::sum(const LaunchWorkspace &workspace, const ChunkWork &work,
                             size_t part) const {
  const uint8_t *sums = static_cast<const AeadWorkspace &>(workspace).results_host->host();
  cpu::AeadSum sum = {};
  memcpy(sum.data(), sums + part * sum_bytes(work.kind), sum_bytes(work.kind));
  return sum;
}

void AeadLaunch::has_ended(LaunchWorkspace &workspace) {
  auto &ours = static_cast<AeadWorkspace &>(workspace);
  blocks_.has_ended(ours.text);
  blocks_.has_ended(ours.starts);
}

void AeadLaunch::wipe(LaunchWorkspace &workspace) const {
  auto &ours = static_cast<AeadWorkspace &>(workspace);
  ours.staged.wipe_secrets();
  if (ours.host_bytes != 0) secure::wipe(ours.results_host->host(), ours.host_bytes);
  ours.host_bytes = 0;
}

}  // namespace lanecrypt::runtime
