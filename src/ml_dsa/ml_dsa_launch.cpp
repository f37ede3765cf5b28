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
            .shared_bytes = 4 * ML_DSA_SHARED_WORDS(set)};               \
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

// The alignment of each part of the staging memory.
constexpr uint64_t kAlignment = 256;

bool makes_keys(const MlDsaWork &work) { return work.operation == LC_ML_DSA_GENERATE; }

// `Sent` is the sizes of the uploaded data and their offsets in the staging memory, in bytes.
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

// Returns the number of downloaded bytes before the verdicts.
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

// The launch id is odd, so zeroed memory never equals it. A launch that signs uses two. It is no
// secret.
uint32_t MlDsaLaunch::next_launch_id() { return launch_id_ += 4; }

Status MlDsaLaunch::launch(device::Stream &stream, const MlDsaWork &work, const char *name,
                           uint32_t thread_blocks, std::span<const Argument> arguments) {
  const std::string kernel = work.shape.kernels + name;
  const uint32_t threads =
      std::min<uint32_t>(ML_DSA_THREAD_BLOCK, device_.properties().max_thread_block_size);
  LC_TRY(
      stream.launch({kernel.c_str(), thread_blocks, threads, work.shape.shared_bytes, arguments}));
  ++launches_;
  return Status();
}

// `Keys` is the distinct keys of the items.
struct MlDsaLaunch::Keys {
  std::vector<const MlDsaKey *> all;
  std::vector<uint32_t> of_item;  // indices in `all`

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

Status MlDsaLaunch::make_workspace(MlDsaWorkspace &workspace, MlDsaWork &work) {
  constexpr MemoryKind kDevice = MemoryKind::kDevice;
  const uint64_t count = work.items.size(), verdicts = count * sizeof(uint32_t);
  const Sent sent(work);
  work.verdicts_at = output_bytes(work);
  LC_TRY(memory_.grow(workspace.results, MemoryKind::kPinned, work.verdicts_at + verdicts));
  work.result_bytes = work.verdicts_at + verdicts;
  LC_TRY(memory_.grow(workspace.staging, MemoryKind::kPinned, sent.bytes()));
  work.staged_bytes = sent.bytes();
  LC_TRY(memory_.grow(workspace.verdicts, kDevice, verdicts));
  LC_TRY(memory_.grow(workspace.keys, kDevice, uint64_t{work.key_count} * work.shape.key_stride));
  LC_TRY(memory_.grow(workspace.expanded, kDevice,
                      uint64_t{work.key_count} * work.shape.expanded_bytes));
  if (makes_keys(work)) return memory_.grow(workspace.seeds, kDevice, sent.seeds);
  LC_TRY(memory_.grow(workspace.pieces, kDevice, sent.pieces));
  return memory_.grow(workspace.signatures, kDevice, count * work.shape.signature_stride);
}

// Writes the data to upload to the staging memory, and enqueues the uploads.
Status MlDsaLaunch::send(device::Stream &stream, MlDsaWorkspace &workspace, const Keys &keys,
                         MlDsaWork &work) {
  const Sent sent(work);
  uint8_t *const host = workspace.staging->host();
  // The part of a key without a private key is zero.
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
  if (makes_keys(work))
    return stream.upload(*workspace.seeds, 0, host + sent.seeds_at(), sent.seeds);
  LC_TRY(stream.upload(*workspace.pieces, 0, host, sent.pieces));
  LC_TRY(stream.upload(*workspace.keys, 0, host + sent.keys_at(), sent.keys));
  if (sent.signatures == 0) return Status();
  return stream.upload(*workspace.signatures, 0, host + sent.signatures_at(), sent.signatures);
}

Status MlDsaLaunch::expand(device::Stream &stream, MlDsaWorkspace &workspace, const MlDsaWork &work,
                           uint32_t parts) {
  const Argument arguments[] = {workspace.keys.get(), workspace.expanded.get(), parts,
                                work.key_count};
  return launch(stream, work, "expand_all", work.key_count, arguments);
}

Status MlDsaLaunch::verify(device::Stream &stream, MlDsaWorkspace &workspace,
                           const MlDsaWork &work) {
  const auto count = uint32_t(work.items.size());
  const Argument arguments[] = {
      workspace.pieces.get(),   workspace.expanded.get(), workspace.signatures.get(),
      workspace.verdicts.get(), work.launch_id,           count};
  return launch(stream, work, "verify_all", count, arguments);
}

// Signs, and verifies each signature with the expanded key of the same launch.
Status MlDsaLaunch::sign(device::Stream &stream, MlDsaWorkspace &workspace, const MlDsaWork &work) {
  const auto count = uint32_t(work.items.size());
  LC_TRY(expand(stream, workspace, work,
                ML_DSA_EXPAND_A | ML_DSA_EXPAND_T1 | ML_DSA_EXPAND_S | ML_DSA_EXPAND_T0));
  // The kernel gets another launch id than the verification, in case the latter silently does not
  // run.
  const Argument arguments[] = {workspace.pieces.get(),
                                workspace.keys.get(),
                                workspace.expanded.get(),
                                workspace.signatures.get(),
                                workspace.verdicts.get(),
                                work.launch_id - 2,
                                count};
  LC_TRY(launch(stream, work, "sign_all", count, arguments));
  return verify(stream, workspace, work);
}

Status MlDsaLaunch::generate(device::Stream &stream, MlDsaWorkspace &workspace,
                             const MlDsaWork &work) {
  const auto count = uint32_t(work.items.size());
  const Argument draw[] = {workspace.seeds.get(), workspace.keys.get(), count};
  LC_TRY(launch(stream, work, "draw_keys_all", count, draw));
  LC_TRY(expand(stream, workspace, work, ML_DSA_EXPAND_A | ML_DSA_EXPAND_S));
  const Argument finish[] = {workspace.keys.get(), workspace.expanded.get(), count};
  LC_TRY(launch(stream, work, "finish_keys_all", count, finish));
  const Argument hash[] = {workspace.keys.get(), workspace.verdicts.get(), work.launch_id, count};
  return launch(stream, work, "hash_keys_all", count, hash);
}

// Zeroes the keys and all that was derived from them on the device.
Status MlDsaLaunch::wipe_keys(device::Stream &stream, MlDsaWorkspace &workspace,
                              const MlDsaWork &work) {
  const Sent sent(work);
  LC_TRY(stream.zero(*workspace.keys, 0, uint64_t{work.key_count} * work.shape.key_stride));
  LC_TRY(stream.zero(*workspace.expanded, 0, uint64_t{work.key_count} * work.shape.expanded_bytes));
  return makes_keys(work) ? stream.zero(*workspace.seeds, 0, sent.seeds)
                          : stream.zero(*workspace.pieces, 0, sent.pieces);
}

Status MlDsaLaunch::start(device::Stream &stream, device::Event &sent, MlDsaWorkspace &workspace,
                          MlDsaWork &work) {
  work.launch_id = next_launch_id();
  const Keys keys(work);
  work.key_count = uint32_t(makes_keys(work) ? work.items.size() : keys.all.size());
  LC_TRY(make_workspace(workspace, work));
  const uint64_t verdicts = work.items.size() * sizeof(uint32_t);
  uint8_t *const results = workspace.results->host();
  // Clears the output, so that stale results of an earlier launch are never taken for this one's if
  // a kernel or a copy silently did not run.
  LC_TRY(stream.zero(*workspace.verdicts, 0, verdicts));
  if (work.operation == LC_ML_DSA_SIGN)
    LC_TRY(stream.zero(*workspace.signatures, 0, work.verdicts_at));
  LC_TRY(send(stream, workspace, keys, work));
  LC_TRY(stream.mark(sent));
  switch (work.operation) {
    case LC_ML_DSA_SIGN:
      LC_TRY(sign(stream, workspace, work));
      LC_TRY(stream.download(results, *workspace.signatures, 0, work.verdicts_at));
      // A rejected attempt may have left parts of a signature here.
      LC_TRY(stream.zero(*workspace.signatures, 0, work.verdicts_at));
      break;
    case LC_ML_DSA_VERIFY:
      LC_TRY(expand(stream, workspace, work, ML_DSA_EXPAND_A | ML_DSA_EXPAND_T1));
      LC_TRY(verify(stream, workspace, work));
      break;
    case LC_ML_DSA_GENERATE:
      LC_TRY(generate(stream, workspace, work));
      LC_TRY(stream.download(results, *workspace.keys, 0, work.verdicts_at));
      break;
  }
  LC_TRY(stream.download(results + work.verdicts_at, *workspace.verdicts, 0, verdicts));
  return wipe_keys(stream, workspace, work);
}

uint32_t MlDsaLaunch::verdict(const MlDsaWorkspace &workspace, const MlDsaWork &work, size_t n) {
  uint32_t verdict;
  std::memcpy(&verdict, workspace.results->host() + work.verdicts_at + n * sizeof verdict,
              sizeof verdict);
  return verdict;
}

void MlDsaLaunch::read_checks(const MlDsaWorkspace &workspace, const MlDsaWork &work,
                              ItemResults &results) {
  const bool may_refuse = work.operation == LC_ML_DSA_VERIFY;
  for (size_t n = 0; n < work.items.size(); ++n) {
    const uint32_t its = verdict(workspace, work, n);
    if (its != work.launch_id && !(may_refuse && its == ~work.launch_id)) results.mark_wrong(n);
  }
}

Result<bool> MlDsaLaunch::is_right(const MlDsaWorkspace &workspace, const MlDsaWork &work,
                                   size_t n) {
  const MlDsaSizes &sizes = work.sizes;
  const MlDsaItem &item = work.items[n];
  const uint8_t *const result = workspace.results->host();
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
  return is_valid == (signs || verdict(workspace, work, n) == work.launch_id);
}

void MlDsaLaunch::take_results(MlDsaWorkspace &workspace, MlDsaWork &work,
                               const ItemResults &results_of) {
  const MlDsaSizes &sizes = work.sizes;
  const uint8_t *const results = workspace.results->host();
  for (size_t n = 0; n < work.items.size(); ++n) {
    const MlDsaItem &item = work.items[n];
    if (!results_of.is_right(n)) continue;
    if (work.operation == LC_ML_DSA_SIGN) {
      std::memcpy(item.signature, results + n * work.shape.signature_stride, sizes.signature_bytes);
    } else if (work.operation == LC_ML_DSA_VERIFY) {
      *item.verdict = verdict(workspace, work, n) == work.launch_id ? 1 : 0;
    } else {
      const uint8_t *const key = results + n * work.shape.key_stride;
      std::memcpy(item.public_key, key, sizes.public_bytes);
      std::memcpy(item.private_key, key + sizes.public_bytes, sizes.private_bytes);
    }
  }
  // Only new keys are secret.
  if (makes_keys(work)) secure::wipe(workspace.results->host(), work.result_bytes);
  work.result_bytes = 0;
}

void MlDsaLaunch::wipe_sent(MlDsaWorkspace &workspace, MlDsaWork &work) {
  if (workspace.staging != nullptr)
    secure::wipe(workspace.staging->host(),
                 std::min(work.staged_bytes, workspace.staging->bytes()));
  work.staged_bytes = 0;
}

void MlDsaLaunch::wipe_host(MlDsaWorkspace &workspace, MlDsaWork &work) {
  wipe_sent(workspace, work);
  if (workspace.results != nullptr)
    secure::wipe(workspace.results->host(),
                 std::min(work.result_bytes, workspace.results->bytes()));
  work.result_bytes = 0;
}

void MlDsaLaunch::wipe_device(device::Stream &stream, MlDsaWorkspace &workspace) {
  for (const device::Buffer *buffer :
       {workspace.pieces.get(), workspace.keys.get(), workspace.seeds.get(),
        workspace.expanded.get(), workspace.signatures.get()})
    if (buffer != nullptr) (void)stream.zero(*buffer, 0, buffer->bytes());
}

}  // namespace lanecrypt::runtime
