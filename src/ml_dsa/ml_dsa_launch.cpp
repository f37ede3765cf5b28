// SPDX-License-Identifier: Apache-2.0
#include "ml_dsa/ml_dsa_launch.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "cpu/ml_dsa/host_ml_dsa.h"
#include "job/round_up.h"
#include "kernels/ml_dsa/ml_dsa_layout.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::MemoryKind;

#define LC_SHAPE(name, ...)                                              \
  case LC_ML_DSA_##name: {                                               \
    constexpr MlDsaSet set = {__VA_ARGS__};                              \
    constexpr MlDsaSizes sizes = *find_ml_dsa_sizes(LC_ML_DSA_##name);   \
    static_assert(ML_DSA_PUBLIC_BYTES(set) == sizes.public_bytes &&      \
                  ML_DSA_PRIVATE_BYTES(set) == sizes.private_bytes &&    \
                  ML_DSA_SIGNATURE_BYTES(set) == sizes.signature_bytes); \
    return {.kernels = "ml_dsa_" #name "_",                              \
            .key_stride = ML_DSA_KEY_STRIDE(set),                        \
            .signature_stride = ML_DSA_SIGNATURE_STRIDE(set),            \
            .expanded_bytes = 4 * ML_DSA_KEY_POLYS(set) * ML_DSA_POLY,   \
            .local_bytes = 4 * ML_DSA_LOCAL_WORDS(set)};                 \
  }
MlDsaShape shape_of(lc_ml_dsa_set number) {
  switch (number) {
    ML_DSA_SET_44(LC_SHAPE)
    ML_DSA_SET_65(LC_SHAPE)
    ML_DSA_SET_87(LC_SHAPE)
  }
  return {};
}
#undef LC_SHAPE

// kAlignment: of each part of the staging memory.
constexpr uint64_t kAlignment = 256;

bool makes_keys(const MlDsaWork &work) { return work.operation == LC_ML_DSA_GENERATE; }

// What is sent, and where each part of it lies in the staging memory.
struct Sent {
  uint64_t pieces, keys, signatures, seeds;  // bytes
  explicit Sent(const MlDsaWork &work) {
    const uint64_t count = work.items.size();
    const bool makes = makes_keys(work);
    pieces = makes ? 0 : count * sizeof(MlDsaPiece);
    keys = makes ? 0 : uint64_t{work.key_count} * work.shape.key_stride;
    signatures = work.operation == LC_ML_DSA_VERIFY ? count * work.shape.signature_stride : 0;
    seeds = makes ? count * ML_DSA_SEED_BYTES : 0;
  }
  uint64_t keys_at() const { return round_up(pieces, kAlignment); }
  uint64_t signatures_at() const { return keys_at() + round_up(keys, kAlignment); }
  uint64_t seeds_at() const { return signatures_at() + round_up(signatures, kAlignment); }
  uint64_t bytes() const { return seeds_at() + seeds; }
};

// Bytes of what comes back before the verdicts.
uint64_t output_bytes(const MlDsaWork &work) {
  switch (work.operation) {
    case LC_ML_DSA_SIGN:
      return work.items.size() * work.shape.signature_stride;
    case LC_ML_DSA_GENERATE:
      return work.items.size() * work.shape.key_stride;
    default:
      return 0;
  }
}

bool are_equal(const uint8_t *a, const uint8_t *b, size_t bytes) {
  uint8_t differs = 0;
  for (size_t n = 0; n < bytes; ++n) differs |= a[n] ^ b[n];
  return differs == 0;
}

}  // namespace

MlDsaWork::MlDsaWork(lc_ml_dsa_operation of, const MlDsaSizes &set, std::vector<MlDsaItem> all)
    : operation(of), sizes(set), shape(shape_of(set.set)), items(std::move(all)) {}

// Odd, so cleared memory never has it. A launch that signs takes two. It is no secret.
uint32_t MlDsaLaunch::next_launch_id() { return launch_id_ += 4; }

Status MlDsaLaunch::launch(device::Stream &stream, const MlDsaWork &work, const char *name,
                           uint32_t groups, std::span<const Argument> arguments) {
  const std::string kernel = work.shape.kernels + name;
  const uint32_t lanes = std::min<uint32_t>(ML_DSA_GROUP, device_.properties().max_group_lanes);
  LC_TRY(stream.launch({kernel.c_str(), groups, lanes, work.shape.local_bytes, arguments}));
  ++launches_;
  return Status();
}

// The keys of the items, each once.
struct MlDsaLaunch::Keys {
  std::vector<const MlDsaKey *> all;
  std::vector<uint32_t> of_item;  // numbers in `all`

  explicit Keys(const MlDsaWork &work) {
    if (makes_keys(work)) return;
    std::unordered_map<const MlDsaKey *, uint32_t> numbers;
    for (const MlDsaItem &item : work.items) {
      const auto [at, is_new] = numbers.try_emplace(item.key, uint32_t(all.size()));
      if (is_new) all.push_back(item.key);
      of_item.push_back(at->second);
    }
  }
};

Status MlDsaLaunch::make_room(MlDsaRoom &room, MlDsaWork &work) {
  constexpr MemoryKind kDevice = MemoryKind::kDevice;
  const uint64_t count = work.items.size(), verdicts = count * sizeof(uint32_t);
  const Sent sent(work);
  work.verdicts_at = output_bytes(work);
  LC_TRY(memory_.grow(room.results, MemoryKind::kPinned, work.verdicts_at + verdicts));
  work.result_bytes = work.verdicts_at + verdicts;
  LC_TRY(memory_.grow(room.staging, MemoryKind::kPinned, sent.bytes()));
  work.staged_bytes = sent.bytes();
  LC_TRY(memory_.grow(room.verdicts, kDevice, verdicts));
  LC_TRY(memory_.grow(room.keys, kDevice, uint64_t{work.key_count} * work.shape.key_stride));
  LC_TRY(
      memory_.grow(room.expanded, kDevice, uint64_t{work.key_count} * work.shape.expanded_bytes));
  if (makes_keys(work)) return memory_.grow(room.seeds, kDevice, sent.seeds);
  LC_TRY(memory_.grow(room.pieces, kDevice, sent.pieces));
  return memory_.grow(room.signatures, kDevice, count * work.shape.signature_stride);
}

// Writes what goes to the device, and sends it.
Status MlDsaLaunch::send(device::Stream &stream, MlDsaRoom &room, const Keys &keys,
                         MlDsaWork &work) {
  const Sent sent(work);
  uint8_t *const host = room.staging->host();
  // A public key has no private one behind it.
  std::memset(host + sent.keys_at(), 0, sent.keys);
  for (size_t n = 0; n < keys.all.size(); ++n) {
    const std::span<const uint8_t> whole =
        work.operation == LC_ML_DSA_SIGN ? keys.all[n]->whole() : keys.all[n]->public_key();
    std::memcpy(host + sent.keys_at() + n * work.shape.key_stride, whole.data(), whole.size());
  }
  for (size_t n = 0; n < work.items.size(); ++n) {
    const MlDsaItem &item = work.items[n];
    if (makes_keys(work)) {
      std::memcpy(host + sent.seeds_at() + n * ML_DSA_SEED_BYTES, item.random, ML_DSA_SEED_BYTES);
      continue;
    }
    MlDsaPiece piece = {};
    std::memcpy(piece.mu, item.mu.data(), sizeof piece.mu);
    if (item.random != nullptr) std::memcpy(piece.random, item.random, sizeof piece.random);
    piece.key = keys.of_item[n];
    std::memcpy(host + n * sizeof piece, &piece, sizeof piece);
    if (work.operation == LC_ML_DSA_VERIFY)
      std::memcpy(host + sent.signatures_at() + n * work.shape.signature_stride, item.signature,
                  work.sizes.signature_bytes);
  }
  if (makes_keys(work)) return stream.upload(*room.seeds, 0, host + sent.seeds_at(), sent.seeds);
  LC_TRY(stream.upload(*room.pieces, 0, host, sent.pieces));
  LC_TRY(stream.upload(*room.keys, 0, host + sent.keys_at(), sent.keys));
  if (sent.signatures == 0) return Status();
  return stream.upload(*room.signatures, 0, host + sent.signatures_at(), sent.signatures);
}

Status MlDsaLaunch::expand(device::Stream &stream, MlDsaRoom &room, const MlDsaWork &work,
                           uint32_t parts) {
  const Argument arguments[] = {room.keys.get(), room.expanded.get(), parts, work.key_count};
  return launch(stream, work, "expand_all", work.key_count, arguments);
}

Status MlDsaLaunch::verify(device::Stream &stream, MlDsaRoom &room, const MlDsaWork &work) {
  const auto count = uint32_t(work.items.size());
  const Argument arguments[] = {room.pieces.get(),   room.expanded.get(), room.signatures.get(),
                                room.verdicts.get(), work.launch_id,      count};
  return launch(stream, work, "verify_all", count, arguments);
}

// Each signature is verified, with what the same launch has of the key.
Status MlDsaLaunch::sign(device::Stream &stream, MlDsaRoom &room, const MlDsaWork &work) {
  const auto count = uint32_t(work.items.size());
  LC_TRY(expand(stream, room, work,
                ML_DSA_EXPAND_A | ML_DSA_EXPAND_T1 | ML_DSA_EXPAND_S | ML_DSA_EXPAND_T0));
  // Not the launch id of the verification, in case that silently does not run.
  const Argument arguments[] = {room.pieces.get(),
                                room.keys.get(),
                                room.expanded.get(),
                                room.signatures.get(),
                                room.verdicts.get(),
                                work.launch_id - 2,
                                count};
  LC_TRY(launch(stream, work, "sign_all", count, arguments));
  return verify(stream, room, work);
}

Status MlDsaLaunch::generate(device::Stream &stream, MlDsaRoom &room, const MlDsaWork &work) {
  const auto count = uint32_t(work.items.size());
  const Argument draw[] = {room.seeds.get(), room.keys.get(), count};
  LC_TRY(launch(stream, work, "draw_keys_all", count, draw));
  LC_TRY(expand(stream, room, work, ML_DSA_EXPAND_A | ML_DSA_EXPAND_S));
  const Argument finish[] = {room.keys.get(), room.expanded.get(), count};
  LC_TRY(launch(stream, work, "finish_keys_all", count, finish));
  const Argument hash[] = {room.keys.get(), room.verdicts.get(), work.launch_id, count};
  return launch(stream, work, "hash_keys_all", count, hash);
}

// Zeroes the keys and what was made of them.
Status MlDsaLaunch::wipe_keys(device::Stream &stream, MlDsaRoom &room, const MlDsaWork &work) {
  const Sent sent(work);
  LC_TRY(stream.zero(*room.keys, 0, uint64_t{work.key_count} * work.shape.key_stride));
  LC_TRY(stream.zero(*room.expanded, 0, uint64_t{work.key_count} * work.shape.expanded_bytes));
  return makes_keys(work) ? stream.zero(*room.seeds, 0, sent.seeds)
                          : stream.zero(*room.pieces, 0, sent.pieces);
}

Status MlDsaLaunch::start(device::Stream &stream, device::Event &sent, MlDsaRoom &room,
                          MlDsaWork &work) {
  work.launch_id = next_launch_id();
  const Keys keys(work);
  work.key_count = uint32_t(makes_keys(work) ? work.items.size() : keys.all.size());
  LC_TRY(make_room(room, work));
  const uint64_t verdicts = work.items.size() * sizeof(uint32_t);
  uint8_t *const results = room.results->host();
  // What a launch before left is no result of this one, if a kernel or a copy should not take
  // place and nobody say so.
  LC_TRY(stream.zero(*room.verdicts, 0, verdicts));
  if (work.operation == LC_ML_DSA_SIGN) LC_TRY(stream.zero(*room.signatures, 0, work.verdicts_at));
  LC_TRY(send(stream, room, keys, work));
  LC_TRY(stream.mark(sent));
  switch (work.operation) {
    case LC_ML_DSA_SIGN:
      LC_TRY(sign(stream, room, work));
      LC_TRY(stream.download(results, *room.signatures, 0, work.verdicts_at));
      // An attempt that was refused may have left a part of it there.
      LC_TRY(stream.zero(*room.signatures, 0, work.verdicts_at));
      break;
    case LC_ML_DSA_VERIFY:
      LC_TRY(expand(stream, room, work, ML_DSA_EXPAND_A | ML_DSA_EXPAND_T1));
      LC_TRY(verify(stream, room, work));
      break;
    case LC_ML_DSA_GENERATE:
      LC_TRY(generate(stream, room, work));
      LC_TRY(stream.download(results, *room.keys, 0, work.verdicts_at));
      break;
  }
  LC_TRY(stream.download(results + work.verdicts_at, *room.verdicts, 0, verdicts));
  return wipe_keys(stream, room, work);
}

uint32_t MlDsaLaunch::verdict(const MlDsaRoom &room, const MlDsaWork &work, size_t n) {
  uint32_t verdict;
  std::memcpy(&verdict, room.results->host() + work.verdicts_at + n * sizeof verdict,
              sizeof verdict);
  return verdict;
}

void MlDsaLaunch::read_checks(const MlDsaRoom &room, const MlDsaWork &work, ItemResults &results) {
  const bool may_refuse = work.operation == LC_ML_DSA_VERIFY;
  for (size_t n = 0; n < work.items.size(); ++n) {
    const uint32_t its = verdict(room, work, n);
    if (its != work.launch_id && !(may_refuse && its == ~work.launch_id)) results.mark_wrong(n);
  }
}

Result<bool> MlDsaLaunch::is_right(const MlDsaRoom &room, const MlDsaWork &work, size_t n) {
  const MlDsaSizes &sizes = work.sizes;
  const MlDsaItem &item = work.items[n];
  const uint8_t *const result = room.results->host();
  if (work.operation == LC_ML_DSA_GENERATE) {
    const size_t bytes = sizes.public_bytes + sizes.private_bytes;
    secure::KeyMemory again(bytes);
    if (!again.ok(bytes)) return Status(LC_ERROR_MEMORY, "no memory for a new key");
    LC_TRY(cpu::host_ml_dsa_key(sizes, {item.random, kMlDsaSeedBytes}, {again.data(), bytes}));
    return are_equal(result + n * work.shape.key_stride, again.data(), bytes);
  }
  const bool signs = work.operation == LC_ML_DSA_SIGN;
  const uint8_t *const signature =
      signs ? result + n * work.shape.signature_stride : item.signature;
  Result<uint8_t> verified =
      cpu::ml_dsa_verify(*item.key, item.mu, {signature, sizes.signature_bytes});
  if (!verified.ok()) return verified.status();
  const bool is_valid = *verified == 1;
  return is_valid == (signs || verdict(room, work, n) == work.launch_id);
}

void MlDsaLaunch::take_results(MlDsaRoom &room, MlDsaWork &work, const ItemResults &results_of) {
  const MlDsaSizes &sizes = work.sizes;
  const uint8_t *const results = room.results->host();
  for (size_t n = 0; n < work.items.size(); ++n) {
    const MlDsaItem &item = work.items[n];
    if (!results_of.is_right(n)) continue;
    if (work.operation == LC_ML_DSA_SIGN) {
      std::memcpy(item.signature, results + n * work.shape.signature_stride, sizes.signature_bytes);
    } else if (work.operation == LC_ML_DSA_VERIFY) {
      *item.verdict = verdict(room, work, n) == work.launch_id ? 1 : 0;
    } else {
      const uint8_t *const key = results + n * work.shape.key_stride;
      std::memcpy(item.public_key, key, sizes.public_bytes);
      std::memcpy(item.private_key, key + sizes.public_bytes, sizes.private_bytes);
    }
  }
  // Only new keys are secret.
  if (makes_keys(work)) secure::wipe(room.results->host(), work.result_bytes);
  work.result_bytes = 0;
}

void MlDsaLaunch::wipe_sent(MlDsaRoom &room, MlDsaWork &work) {
  if (room.staging != nullptr)
    secure::wipe(room.staging->host(), std::min(work.staged_bytes, room.staging->bytes()));
  work.staged_bytes = 0;
}

void MlDsaLaunch::wipe_host(MlDsaRoom &room, MlDsaWork &work) {
  wipe_sent(room, work);
  if (room.results != nullptr)
    secure::wipe(room.results->host(), std::min(work.result_bytes, room.results->bytes()));
  work.result_bytes = 0;
}

void MlDsaLaunch::wipe_device(device::Stream &stream, MlDsaRoom &room) {
  for (const device::Buffer *buffer : {room.pieces.get(), room.keys.get(), room.seeds.get(),
                                       room.expanded.get(), room.signatures.get()})
    if (buffer != nullptr) (void)stream.zero(*buffer, 0, buffer->bytes());
}

}  // namespace lanecrypt::runtime
