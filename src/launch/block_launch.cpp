// SPDX-License-Identifier: Apache-2.0
#include "launch/block_launch.h"
#include "process/diagnostics.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "job/round_up.h"
#include "kernels/block/ciphers.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::MemoryKind;

constexpr uint64_t kKeyBytes = BLOCK_KEY_WORDS * 4;
constexpr uint64_t kChainBytes = 16;
constexpr uint64_t kPointBytes = 16;
// Half a bitsliced thread block: what has room beside a thread block of tables.
constexpr uint32_t kConcurrentThreads = BLOCK_BITSLICE_THREADS / 2;

// The bytes of a key's schedule, and of a bitsliced one; and the kernels that exist.
struct ScheduleShape {
  std::string_view name;
  uint64_t bytes, plane_bytes;
  uint32_t modes;
};
#define SCHEDULE_SHAPE(name, NAME) \
  {#name, NAME##_SCHEDULE_WORDS * 4, NAME##_PLANE_WORDS * 4, NAME##_MODES},
constexpr ScheduleShape kSchedules[] = {BLOCK_CIPHERS(SCHEDULE_SHAPE)};
#undef SCHEDULE_SHAPE

constexpr bool schedules_are_in_order() {
  if (std::size(kSchedules) != std::size(kBlockCiphers)) return false;
  for (size_t n = 0; n < std::size(kSchedules); ++n)
    if (kSchedules[n].name != kBlockCiphers[n].name ||
        kSchedules[n].bytes > BLOCK_MOST_SCHEDULE_WORDS * 4)
      return false;
  return true;
}
static_assert(schedules_are_in_order());

// Each cipher has the kernels of its modes, and no others.
constexpr bool kernels_follow_from_modes() {
  for (size_t n = 0; n < std::size(kSchedules); ++n) {
    const auto agrees = [&](uint32_t kernels, Mode mode) {
      return ((kSchedules[n].modes & kernels) != 0) == kBlockCiphers[n].has(mode);
    };
    if (!agrees(BLOCK_HAS_XTS, Mode::kXts) || !agrees(BLOCK_HAS_XTS_GB, Mode::kXtsGb) ||
        !agrees(BLOCK_HAS_CCM, Mode::kCcm) || !agrees(BLOCK_HAS_STEALING, Mode::kCs1) ||
        !agrees(BLOCK_HAS_STEALING, Mode::kCs3))
      return false;
  }
  return true;
}
static_assert(kernels_follow_from_modes());

const ScheduleShape &schedule_of(const CipherKind &kind) {
  return kSchedules[kind.info().block - kBlockCiphers];
}

struct FormShape {
  const char *name;
  uint32_t threads, xts_threads;
  uint32_t shared_bytes, chain_shared_bytes;  // of CBC encryption
};

constexpr BlockForm kForms[] = {BlockForm::kTable4, BlockForm::kTable1, BlockForm::kBitslice};

const FormShape &shape(BlockForm form) {
  static const FormShape kShapes[] = {
      {"table4", BLOCK_TABLE4_THREADS, BLOCK_TABLE4_XTS_THREADS, BLOCK_TABLE4_SHARED_WORDS * 4,
       BLOCK_TABLE4_CHAIN_WORDS * 4},
      {"table1", BLOCK_TABLE1_THREADS, BLOCK_TABLE1_THREADS, BLOCK_TABLE1_SHARED_WORDS * 4,
       BLOCK_TABLE1_SHARED_WORDS * 4},
      {"bitslice", BLOCK_BITSLICE_THREADS, BLOCK_BITSLICE_THREADS, 0, 0},
  };
  return kShapes[static_cast<int>(form)];
}

// Keys of the block cipher: first those of the data, then those of the tweaks.
uint32_t key_count(const CipherWork &work) {
  return static_cast<uint32_t>(work.keys.size()) * work.kind.info().keys;
}

// Bitsliced schedules: one for 32 streams, or one for each key.
uint32_t plane_count(const CipherWork &work) {
  return work.kind.is_chain() ? count_up(work.pieces.size(), BLOCK_BITSLICE_BLOCKS)
                              : key_count(work);
}

// The bitsliced kernels that are parallel in blocks take plain keys.
bool has_planes(BlockForm form, const CipherKind &kind) {
  return form == BlockForm::kBitslice &&
         (kind.is_chain() || kind.info().has_data_units() || kind.info().is_feedback);
}

// What NAME_expand_keys makes, or NAME_expand_stream_keys.
uint64_t schedule_bytes(const CipherWork &work) {
  const uint64_t keys = key_count(work);
  return (work.by_stream ? divide_up(keys, BLOCK_STREAM_KEYS) * BLOCK_STREAM_KEYS : keys) *
         schedule_of(work.kind).bytes;
}

// In the order in which the streams want them, so that threads side by side read theirs
// side by side.
void number_keys_by_stream(CipherWork &work) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> number(work.keys.size(), kNone);
  std::vector<const uint8_t *> keys;
  keys.reserve(work.keys.size());
  for (CipherPiece &piece : work.pieces) {
    uint32_t &of_key = number[piece.key];
    if (of_key == kNone) {
      of_key = static_cast<uint32_t>(keys.size());
      keys.push_back(work.keys[piece.key]);
    }
    piece.key = of_key;
  }
  work.keys = std::move(keys);
}

uint32_t points_of(const CipherPiece &piece) {
  const uint64_t unit_slots = piece.unit_bytes / kBlockBytes;
  return static_cast<uint32_t>(divide_up(piece.slots, unit_slots) *
                               divide_up(unit_slots, XTS_STRETCH));
}

// How the names of its kernels begin.
std::string name_in(BlockForm form, const CipherKind &kind) {
  return std::string(kind.info().block->name) + "_" + shape(form).name + "_";
}

std::string kernel_name(BlockForm form, const CipherKind &kind, bool in_slot = false) {
  const CipherInfo &info = kind.info();
  const bool encrypts = kind.direction == LC_ENCRYPT;
  const std::string begin = name_in(form, kind) + (in_slot ? "slot_" : "");
  if (const char *shared = encrypts ? info.encrypt_kernel : info.decrypt_kernel; shared != nullptr)
    return begin + shared;
  return begin + info.name + (info.is_own_inverse ? "" : encrypts ? "_encrypt" : "_decrypt");
}

std::string steal_name(BlockForm form, const CipherKind &kind) {
  return name_in(form, kind) + (kind.direction == LC_ENCRYPT ? "steal_encrypt" : "steal_decrypt");
}

bool can_run(const device::Properties &properties, BlockForm form) {
  return shape(form).chain_shared_bytes <= properties.shared_bytes &&
         has_kernel(properties, form, {LC_AES_CTR, LC_ENCRYPT, 16});
}

bool lists(const device::Properties &properties, const std::string &name) {
  const std::vector<std::string> &names = properties.kernels;
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string expand_name(const CipherKind &kind, const char *which) {
  return std::string(kind.info().block->name) + "_expand_" + which;
}

// OpenGL's kernels of streams read schedules as they lie, and it has no kernel that orders them.
bool orders_schedules(const device::Properties &properties, const CipherKind &kind) {
  return properties.kernels.empty() || lists(properties, expand_name(kind, "stream_keys"));
}

}  // namespace

bool has_kernel(const device::Properties &properties, BlockForm form, const CipherKind &kind) {
  if (kind.info().is_cpu_only) return false;
  const auto has = [&](const std::string &name) { return lists(properties, name); };
  if (properties.kernels.empty()) return true;
  // Devices that list their kernels have none of ChaCha20's.
  if (!kind.info().is_block_cipher()) return false;
  return has(kernel_name(form, kind)) &&
         (kind.info().tail_bytes == 0 || has(steal_name(form, kind)));
}

Result<BlockForm> choose_block_form(const device::Properties &properties) {
  if (const char *wanted = process::diagnostic_variable("LANECRYPT_AES_FORM");
      wanted != nullptr && *wanted != '\0') {
    for (const BlockForm form : kForms) {
      if (std::string_view(wanted) != shape(form).name) continue;
      if (can_run(properties, form)) return form;
      return Status(LC_ERROR_NO_DEVICE,
                    properties.id + " cannot run LANECRYPT_AES_FORM=" + wanted + ": it has " +
                        std::to_string(properties.shared_bytes) + " bytes of shared memory" +
                        (properties.kernels.empty() ? "" : ", and no such kernels"));
    }
    return Status(LC_ERROR_ARGUMENT,
                  std::string("LANECRYPT_AES_FORM is table4, table1 or bitslice, not ") + wanted);
  }
  if (properties.banked_shared) {
    if (can_run(properties, BlockForm::kTable4)) return BlockForm::kTable4;
    if (can_run(properties, BlockForm::kTable1)) return BlockForm::kTable1;
  }
  if (can_run(properties, BlockForm::kBitslice)) return BlockForm::kBitslice;
  if (can_run(properties, BlockForm::kTable1)) return BlockForm::kTable1;
  return Status(LC_ERROR_NO_DEVICE, properties.id + " has no kernels for block ciphers");
}

Result<BlockGrid> read_block_grid(const device::Properties &properties, BlockForm form) {
  const char *wanted = process::diagnostic_variable("LANECRYPT_AES_GRID");
  if (wanted == nullptr || *wanted == '\0') return BlockGrid();
  const uint32_t most = std::min(shape(form).threads, properties.max_thread_block_size);
  constexpr uint32_t kMostThreadBlocks = 65535;
  BlockGrid grid;
  int end = 0;
  if (sscanf(wanted, "%9ux%9u%n", &grid.thread_blocks, &grid.threads, &end) != 2 ||
      wanted[end] != '\0' || grid.thread_blocks == 0 || grid.thread_blocks > kMostThreadBlocks ||
      grid.threads == 0 || grid.threads > most || grid.threads % properties.warp_threads != 0 ||
      (properties.fixed_thread_block_size && grid.threads != most))
    return Status(LC_ERROR_ARGUMENT,
                  "LANECRYPT_AES_GRID is thread blocks x threads, such as 64x" +
                      std::to_string(most) + ", and not " + wanted + ": " + properties.id +
                      " takes " +
                      (properties.fixed_thread_block_size
                           ? std::to_string(most) + " threads"
                           : "multiples of " + std::to_string(properties.warp_threads) +
                                 " threads up to " + std::to_string(most)));
  return grid;
}

BlockLaunch::BlockLaunch(device::Device &device, BlockForm form, BlockGrid grid)
    : device_(device),
      form_(form),
      form_threads_(threads_of(grid.threads != 0 ? grid.threads : shape(form).threads)),
      // Where thread blocks have the threads that kernels are compiled for, no grid has others.
      xts_threads_(threads_of(grid.threads != 0 && !device.properties().fixed_thread_block_size
                                  ? grid.threads
                                  : shape(form).xts_threads)),
      shared_bytes_(shape(form).shared_bytes),
      resident_thread_blocks_(grid.thread_blocks != 0
                                  ? grid.thread_blocks
                                  : device.resident_thread_blocks(
                                        kernel_name(form, {LC_AES_CTR, LC_ENCRYPT, 16}).c_str(),
                                        form_threads_, shared_bytes_)),
      pairs_(grid.thread_blocks == 0 && device.properties().pairs_launches) {}

uint32_t BlockLaunch::threads_of(uint32_t most) const {
  const device::Properties &properties = device_.properties();
  const uint32_t threads = std::min(most, properties.max_thread_block_size);
  return std::max(threads / properties.warp_threads * properties.warp_threads,
                  properties.warp_threads);
}

bool BlockLaunch::has_slot(const CipherWork &work) const {
  return device_.key_slot() != nullptr && slot_filler_ == nullptr && work.keys.size() == 1 &&
         !work.is_concurrent && !work.is_in_graph && form_ != BlockForm::kTable1 &&
         !has_planes(form_, work.kind);
}

bool BlockLaunch::can_use_slot(const CipherWork &work) const {
  const CipherInfo &info = work.kind.info();
  const Mode mode = info.mode;
  // What steals ciphertext reads the keys after CBC, and when it encrypts, as streams have them.
  if (work.kind.is_chain() && info.steals()) return false;
  return has_slot(work) && (work.is_unaligned || mode == Mode::kEcb || mode == Mode::kCbc ||
                            mode == Mode::kCtr || info.has_data_units());
}

// Whether there is a kernel for texts that do not lie at multiples of 16, also where the key slot
// is not to be had, but only on devices that have one (BLOCK_UNALIGNED of
// kernels/block/table/form.inc). Of chains, CFB, OFB and CCM have one kernel for all texts.
bool BlockLaunch::has_unaligned(const CipherWork &work) const {
  const CipherInfo &info = work.kind.info();
  if (device_.key_slot() == nullptr || form_ != BlockForm::kTable4) return false;
  return !work.kind.is_chain() || (!info.is_feedback && !info.is_aead);
}

// Whether the kernels for data units that end in a partial block do this; see
// kernels/block/table/xts_partial_block.inc.
bool BlockLaunch::has_partial_units(const CipherWork &work) const {
  return work.kind.info().has_data_units() && has_unaligned(work) &&
         have_partial_units(work.pieces, device_.properties().warp_threads);
}

const device::Buffer *BlockLaunch::schedules(const BlockWorkspace &workspace,
                                             const CipherWork &work) const {
  if (work.in_slot) return device_.key_slot();
  return (work.keys_of != nullptr ? *work.keys_of : workspace).schedules.get();
}

bool BlockLaunch::takes(const CipherKind &kind) const {
  return kind.info().is_block_cipher() && !kind.info().is_aead;
}

uint32_t BlockLaunch::max_pieces(const CipherKind &kind) const {
  // A bitsliced schedule is 30 times as large as a plain one.
  return has_planes(form_, kind) && !kind.is_chain() ? 2048 : kMostPieces;
}

Status BlockLaunch::grow(std::unique_ptr<device::Buffer> &buffer, MemoryKind kind, uint64_t bytes) {
  return runtime::grow(device_, buffer, kind, bytes, outgrown_);
}

Status BlockLaunch::start(device::Stream &stream, const char *kernel, uint32_t thread_blocks,
                          uint32_t threads, uint32_t shared_bytes,
                          std::span<const Argument> arguments, uint64_t longest_bytes) {
  ++launches_;
  return stream.launch({.kernel = kernel,
                        .thread_blocks = std::max(thread_blocks, 1u),
                        .thread_block_size = threads,
                        .shared_bytes = shared_bytes,
                        .arguments = arguments,
                        .longest_bytes = longest_bytes});
}

// Bitsliced warps take texts at any address in ECB and CTR, by the key slot.
BlockWarps BlockLaunch::warps_for(const CipherWork &work, bool of_segments) const {
  const uint32_t warp = device_.properties().warp_threads;
  BlockWarps warps = {warp, uint64_t{resident_thread_blocks_} * form_threads_ / warp, 0, 0};
  if (pairs_)
    warps.concurrent = uint64_t{resident_thread_blocks_} * threads_of(kConcurrentThreads) / warp;
  const BlockCipher &block = *work.kind.info().block;
  const bool inverse = work.kind.is_inverse();
  if (!work.is_unaligned) {
    warps.share = inverse ? block.inverse_concurrent_share : block.concurrent_share;
    return warps;
  }
  const auto &unaligned = block.unaligned_concurrent_share;
  const Mode mode = work.kind.info().mode;
  if (work.in_slot && mode == Mode::kEcb)
    warps.share = inverse ? unaligned.inverse_ecb : unaligned.ecb;
  if (work.in_slot && mode == Mode::kCtr)
    warps.share = of_segments ? unaligned.ctr_segments : unaligned.ctr;
  return warps;
}

void BlockLaunch::plan(CipherWork &work) {
  if (work.kind.is_chain() && !work.is_sorted) {
    // Threads side by side then end together. Most often all streams are alike, and it
    // takes as long to sort those as all else here.
    const auto is_longer = [](const CipherPiece &a, const CipherPiece &b) {
      return a.length > b.length;
    };
    if (!std::is_sorted(work.pieces.begin(), work.pieces.end(), is_longer))
      std::stable_sort(work.pieces.begin(), work.pieces.end(), is_longer);
  }
  work.parts.clear();
  const auto is_unaligned = [](const CipherPiece &piece) {
    return (piece.in | piece.out) % kBlockBytes != 0;
  };
  work.is_unaligned =
      has_unaligned(work) && std::any_of(work.pieces.begin(), work.pieces.end(), is_unaligned);
  work.is_partial = has_partial_units(work);
  work.in_slot = can_use_slot(work);
  if (!work.kind.is_chain())
    work.parts = cut_into_parts(work.kind, form_, warps_for(work, false), work.pieces);
  work.by_stream = work.kind.is_chain() && !work.in_slot && form_ != BlockForm::kBitslice &&
                   orders_schedules(device_.properties(), work.kind);
  if (work.by_stream && work.keys.size() > 1) number_keys_by_stream(work);
  work.points = 0;
  for (CipherPiece &piece : work.pieces) {
    if (!work.kind.info().has_data_units()) break;
    piece.first_point = work.points;
    work.points += points_of(piece);
  }
}

void BlockLaunch::stage(Staging &staging, BlockWorkspace &workspace, CipherWork &work) {
  plan(work);
  staging.add(workspace.pieces, work.pieces, work.secret_starts);
  if (work.parts.size() > 1) {
    const size_t first = work.parts[1].first_piece;
    const uint64_t bytes = (work.pieces.size() - first) * sizeof(CipherPiece);
    staging.add(workspace.concurrent_pieces, bytes, work.secret_starts,
                [=, &work](uint8_t *place) { memcpy(place, &work.pieces[first], bytes); });
  }
  stage_keys(staging, workspace, work);
}

void BlockLaunch::stage_keys(Staging &staging, BlockWorkspace &workspace, const CipherWork &work) {
  if (work.keys_of != nullptr) return;
  staging.add(workspace.keys, key_count(work) * kKeyBytes, true, [&work](uint8_t *place) {
    const size_t keys = work.keys.size();
    const uint32_t one_key = work.kind.one_key_bytes();
    memset(place, 0, key_count(work) * kKeyBytes);
    for (size_t n = 0; n < key_count(work); ++n)
      memcpy(place + n * kKeyBytes, work.keys[n % keys] + n / keys * one_key, one_key);
  });
}

void BlockLaunch::reserve_alike(Staging &staging, BlockWorkspace &workspace, CipherWork &work,
                                std::span<AlikePieces, 3> alike) {
  work.is_unaligned = work.is_unaligned && has_unaligned(work);
  work.in_slot = can_use_slot(work);
  work.parts = parts_of_alike(work.kind, form_, warps_for(work, true), alike);
  uint64_t pieces = 0;
  for (const BlockPart &part : work.parts) pieces += part.pieces;
  staging.reserve(workspace.pieces, pieces * sizeof(CipherPiece));
  stage_keys(staging, workspace, work);
}

Status BlockLaunch::upload(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work) {
  auto &ours = static_cast<BlockWorkspace &>(workspace);
  Staging staging(device_);
  stage(staging, ours, work);
  return staging.run(stream, ours.staged);
}

Status BlockLaunch::expand_keys(device::Stream &stream, BlockWorkspace &workspace,
                                const CipherWork &work) {
  const uint32_t keys = key_count(work), key_words = work.kind.one_key_bytes() / 4;
  const uint32_t threads = threads_of(BLOCK_KEY_THREADS);
  if (!work.in_slot) LC_TRY(grow(workspace.schedules, MemoryKind::kDevice, schedule_bytes(work)));
  if (work.in_slot) {
    if (slot_user_ != nullptr) LC_TRY(stream.await(*slot_free_));
    slot_filler_ = &workspace;
  }
  if (work.by_stream) {
    const Argument arguments[] = {workspace.keys.get(), workspace.schedules.get(), keys, key_words};
    return start(stream, expand_name(work.kind, "stream_keys").c_str(), count_up(keys, threads),
                 threads, 0, arguments);
  }
  // Second keys only encrypt.
  const uint32_t inverse = work.kind.is_inverse() ? static_cast<uint32_t>(work.keys.size()) : 0;
  const Argument arguments[] = {workspace.keys.get(), schedules(workspace, work), keys, key_words,
                                inverse};
  LC_TRY(start(stream, expand_name(work.kind, "keys").c_str(), count_up(keys, threads), threads, 0,
               arguments));
  if (!has_planes(form_, work.kind)) return Status();

  return slice_keys(stream, workspace, work, plane_count(work), work.kind.is_chain(),
                    workspace.planes);
}

Status BlockLaunch::slice_keys(device::Stream &stream, BlockWorkspace &workspace,
                               const CipherWork &work, uint32_t planes, bool by_stream,
                               std::unique_ptr<device::Buffer> &to) {
  const uint32_t threads = threads_of(BLOCK_BITSLICE_THREADS);
  LC_TRY(grow(to, MemoryKind::kDevice, planes * schedule_of(work.kind).plane_bytes));
  const Argument slice[] = {workspace.schedules.get(),
                            to.get(),
                            planes,
                            work.kind.rounds(),
                            by_stream ? 1u : 0u,
                            workspace.pieces.get(),
                            static_cast<uint32_t>(work.pieces.size())};
  return start(stream, (name_in(BlockForm::kBitslice, work.kind) + "keys").c_str(),
               count_up(planes, threads), threads, 0, slice);
}

// XTS: the tweaks from which the main kernel's threads start.
Status BlockLaunch::launch_points(device::Stream &stream, BlockWorkspace &workspace,
                                  const CipherWork &work) {
  LC_TRY(
      grow(workspace.points, MemoryKind::kDevice, (work.points + XTS_SPARE_POINTS) * kPointBytes));
  const bool sliced = form_ == BlockForm::kBitslice;
  const Argument arguments[] = {workspace.pieces.get(),
                                static_cast<uint32_t>(work.pieces.size()),
                                work.points,
                                sliced ? workspace.planes.get() : schedules(workspace, work),
                                static_cast<uint32_t>(work.keys.size()),
                                work.kind.rounds(),
                                workspace.points.get()};
  const uint32_t thread_blocks = count_up(work.points, uint64_t{form_threads_} * (sliced ? 32 : 1));
  const std::string name = name_in(form_, work.kind) + work.kind.info().name + "_points";
  return start(stream, name.c_str(), std::min(thread_blocks, resident_thread_blocks_),
               form_threads_, shared_bytes_, arguments);
}

Status BlockLaunch::launch_part(device::Stream &stream, BlockWorkspace &workspace,
                                const CipherWork &work, size_t number) {
  const BlockPart &part = work.parts[number];
  const bool concurrent = number > 0;
  // What steals ciphertext may leave CBC itself nothing.
  if (part.tiles == 0) return Status();
  const device::Buffer *keys =
      has_planes(part.form, work.kind) ? workspace.planes.get() : schedules(workspace, work);
  Argument pieces = workspace.pieces.get();
  // What the device lists lies in one place, and where launches are paired addresses are flat.
  if (concurrent && work.pieces.empty())
    pieces = workspace.pieces->address() + part.first_piece * sizeof(CipherPiece);
  else if (concurrent)
    pieces = workspace.concurrent_pieces.get();
  std::vector<Argument> arguments = {pieces,  part.pieces, part.tiles, keys, work.kind.rounds(),
                                     work.in, work.out};
  if (work.kind.info().mode == Mode::kCtr) arguments.push_back(part.rows);
  if (work.kind.info().has_data_units()) arguments.push_back(workspace.points.get());
  const std::string name =
      kernel_name(part.form, work.kind, work.in_slot) + (work.is_partial     ? "_partial"
                                                         : work.is_unaligned ? "_unaligned"
                                                                             : "");
  // See BLOCK_LOADED_REGISTERS.
  const bool has_many_registers = (work.is_unaligned || work.is_partial) && !work.in_slot;
  const uint32_t alone =
      work.kind.info().has_data_units() && !has_many_registers ? xts_threads_ : form_threads_;
  const BlockGrid grid = tile_grid(part, concurrent ? threads_of(kConcurrentThreads) : alone);
  ++launches_;
  return stream.launch({.kernel = name.c_str(),
                        .thread_blocks = grid.thread_blocks,
                        .thread_block_size = grid.threads,
                        .shared_bytes = shape(part.form).shared_bytes,
                        .arguments = arguments,
                        .overlaps_previous = concurrent || work.begins_concurrently});
}

// Few tiles are dealt out over all thread blocks first; of tables, which all threads of a thread
// block make together, by the kernels.
BlockGrid BlockLaunch::tile_grid(const BlockPart &part, uint32_t most_threads) const {
  const uint32_t warp = device_.properties().warp_threads;
  uint32_t threads = most_threads, warps_each = 1;
  if (part.form == BlockForm::kBitslice && !device_.properties().fixed_thread_block_size) {
    const uint64_t warps = divide_up(part.tiles, resident_thread_blocks_);
    threads = static_cast<uint32_t>(std::min<uint64_t>(warps * warp, most_threads));
    warps_each = threads / warp;
  }
  const uint64_t thread_blocks = divide_up(part.tiles, warps_each);
  return {static_cast<uint32_t>(std::min<uint64_t>(thread_blocks, resident_thread_blocks_)),
          threads};
}

// Streams, or parties of 32 of them, are dealt out over all thread blocks first.
BlockGrid BlockLaunch::stream_grid(uint32_t streams) const {
  const uint32_t warp = device_.properties().warp_threads;
  const uint32_t wanted =
      form_ == BlockForm::kBitslice ? count_up(streams, BLOCK_BITSLICE_BLOCKS) : streams;
  if (!device_.properties().fixed_thread_block_size) {
    const uint32_t threads = std::clamp(
        count_up(count_up(wanted, resident_thread_blocks_), warp) * warp, warp, form_threads_);
    return {std::min(count_up(wanted, threads), resident_thread_blocks_), threads};
  }
  uint32_t threads = form_threads_;
  if (const uint32_t fewer = device_.properties().chain_thread_block_size; fewer != 0)
    threads = form_ == BlockForm::kBitslice ? warp : std::min(fewer, form_threads_);
  return {std::min(count_up(wanted, threads), resident_thread_blocks_ * (form_threads_ / threads)),
          threads};
}

Status BlockLaunch::launch_chains(device::Stream &stream, BlockWorkspace &workspace,
                                  const CipherWork &work) {
  const uint32_t pieces = static_cast<uint32_t>(work.pieces.size());
  if (work.chain == nullptr)
    LC_TRY(grow(workspace.chain, MemoryKind::kDevice, pieces * kChainBytes));
  std::vector<Argument> arguments = {
      workspace.pieces.get(),
      pieces,
      work.chain != nullptr ? work.chain : workspace.chain.get(),
      form_ == BlockForm::kBitslice ? workspace.planes.get() : schedules(workspace, work),
      work.kind.rounds(),
      work.in,
      work.out};
  if (work.kind.info().is_feedback)
    arguments.push_back(work.kind.info().mode == Mode::kOfb ? 1u : 0u);
  arguments.insert(arguments.end(), work.more.begin(), work.more.end());
  const BlockGrid grid = stream_grid(pieces);
  const std::string name = kernel_name(form_, work.kind, work.in_slot);
  const uint32_t shared_bytes =
      name.ends_with("_cbc_encrypt") ? shape(form_).chain_shared_bytes : shared_bytes_;
  // upload() has sorted them.
  return start(stream, (name + (work.is_unaligned ? "_unaligned" : "")).c_str(), grid.thread_blocks,
               grid.threads, shared_bytes, arguments, work.pieces.front().length);
}

// Ciphertext stealing: what CBC has left to do.
Status BlockLaunch::launch_tails(device::Stream &stream, BlockWorkspace &workspace,
                                 const CipherWork &work) {
  const uint32_t pieces = static_cast<uint32_t>(work.pieces.size());
  const bool encrypts = work.kind.direction == LC_ENCRYPT;
  std::vector<Argument> arguments = {workspace.pieces.get(), pieces};
  if (encrypts) arguments.push_back(work.chain != nullptr ? work.chain : workspace.chain.get());
  if (form_ != BlockForm::kBitslice) {
    arguments.push_back(schedules(workspace, work));
  } else if (encrypts) {
    arguments.push_back(workspace.planes.get());
  } else {
    LC_TRY(slice_keys(stream, workspace, work, count_up(pieces, BLOCK_BITSLICE_BLOCKS), true,
                      workspace.tail_planes));
    arguments.push_back(workspace.tail_planes.get());
  }
  for (const Argument &argument :
       {Argument(work.kind.rounds()), Argument(work.in), Argument(work.out)})
    arguments.push_back(argument);
  const std::string name = steal_name(form_, work.kind);
  const BlockGrid grid = stream_grid(pieces);
  return start(stream, name.c_str(), grid.thread_blocks, grid.threads, shared_bytes_, arguments);
}

// XTS of data units that end in a partial block: the second block of each unit's end. A thread has
// a unit, as it has a stream elsewhere.
Status BlockLaunch::launch_ends(device::Stream &stream, BlockWorkspace &workspace,
                                const CipherWork &work) {
  const Argument arguments[] = {workspace.pieces.get(),
                                static_cast<uint32_t>(work.pieces.size()),
                                work.points,
                                schedules(workspace, work),
                                work.kind.rounds(),
                                work.out,
                                workspace.points.get()};
  const std::string name = kernel_name(form_, work.kind, work.in_slot) + "_partial_ends";
  const BlockGrid grid = stream_grid(work.points);
  return start(stream, name.c_str(), grid.thread_blocks, grid.threads, shared_bytes_, arguments);
}

Status BlockLaunch::launch_mode(device::Stream &stream, BlockWorkspace &workspace,
                                const CipherWork &work) {
  if (work.kind.is_chain()) return launch_chains(stream, workspace, work);
  for (size_t number = 0; number < work.parts.size(); ++number)
    LC_TRY(launch_part(stream, workspace, work, number));
  return Status();
}

Status BlockLaunch::run(device::Stream &stream, BlockWorkspace &workspace, const CipherWork &work) {
  if (work.kind.info().has_data_units()) LC_TRY(launch_points(stream, workspace, work));
  LC_TRY(launch_mode(stream, workspace, work));
  if (work.is_partial) return launch_ends(stream, workspace, work);
  return work.kind.info().steals() ? launch_tails(stream, workspace, work) : Status();
}

Status BlockLaunch::launch(device::Stream &stream, LaunchWorkspace &workspace, ChunkWork &work,
                           device::Event *begin, device::Event *end) {
  auto &ours = static_cast<BlockWorkspace &>(workspace);
  LC_TRY(expand_keys(stream, ours, work));
  if (begin != nullptr) LC_TRY(stream.mark(*begin));
  LC_TRY(run(stream, ours, work));
  if (end != nullptr) LC_TRY(stream.mark(*end));
  LC_TRY(ours.staged.zero_secrets(stream));
  return zero_made(stream, ours, work);
}

void BlockLaunch::has_ended(LaunchWorkspace &workspace) {
  if (&workspace == slot_user_) slot_user_ = nullptr;
  if (&workspace == slot_filler_) slot_filler_ = nullptr;
}

void BlockLaunch::wipe(LaunchWorkspace &workspace) const {
  static_cast<BlockWorkspace &>(workspace).staged.wipe_secrets();
}

Status BlockLaunch::zero_made(device::Stream &stream, BlockWorkspace &workspace,
                              const CipherWork &work) {
  LC_TRY(stream.zero(*schedules(workspace, work), 0, schedule_bytes(work)));
  if (work.in_slot) {
    if (slot_free_ == nullptr) {
      Result<std::unique_ptr<device::Event>> made = device_.make_quiet_event();
      if (!made.ok()) return made.status();
      slot_free_ = std::move(*made);
    }
    LC_TRY(stream.mark(*slot_free_));
    slot_user_ = &workspace;
    slot_filler_ = nullptr;
  }
  if (work.kind.info().has_data_units())
    LC_TRY(stream.zero(*workspace.points, 0, work.points * kPointBytes));
  // The last keystream of OFB would tell the last plaintext, and the MAC of CCM
  // the right tag to who has a part of the keystream.
  if (work.kind.is_chain() && work.chain == nullptr)
    LC_TRY(stream.zero(*workspace.chain, 0, work.pieces.size() * kChainBytes));
  if (form_ == BlockForm::kBitslice && work.kind.info().steals() && !work.kind.is_chain())
    LC_TRY(stream.zero(
        *workspace.tail_planes, 0,
        divide_up(work.pieces.size(), BLOCK_BITSLICE_BLOCKS) * schedule_of(work.kind).plane_bytes));
  if (!has_planes(form_, work.kind)) return Status();
  return stream.zero(*workspace.planes, 0, plane_count(work) * schedule_of(work.kind).plane_bytes);
}

}  // namespace lanecrypt::runtime
