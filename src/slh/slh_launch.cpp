// SPDX-License-Identifier: Apache-2.0
#include "slh/slh_launch.h"

#include <algorithm>
#include <cstring>

#include "cpu/slh/slh_message.h"
#include "job/round_up.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::MemoryKind;

constexpr uint64_t kMostThreadBlocks = 65535;

uint32_t layers_of(const SlhSet &set, bool is_key) { return is_key ? 1 : set.layers; }

}  // namespace

uint32_t SlhLaunch::best_batch(const SlhSet &set, lc_slh_dsa_operation operation) {
  // The signatures of a batch are in pinned memory and on the device.
  constexpr uint32_t kMostVerified = 16384, kMostVerifiedBytes = 256 << 20;
  if (operation == LC_SLH_DSA_VERIFY)
    return std::min(kMostVerified, kMostVerifiedBytes / set.signature_bytes());
  if (set.is_draft()) return 1;
  // With these counts a batch takes about 250 MiB of memory.
  const uint32_t signatures =
      set.tree_height >= 8 ? (set.n == 16 ? 96 : 48) : (set.n == 16 ? 1024 : 512);
  return operation == LC_SLH_DSA_SIGN ? signatures : signatures * set.layers;
}

uint64_t SlhLaunch::thread_blocks_for(uint64_t threads) const {
  const uint64_t of_group =
      std::min<uint32_t>(SLH_THREAD_BLOCK, device_.properties().max_thread_block_size);
  return std::clamp<uint64_t>(divide_up(threads, of_group), 1, kMostThreadBlocks);
}

Status SlhLaunch::launch(device::Stream &stream, const SlhSet &set, const char *name,
                         uint64_t thread_blocks, bool has_shared,
                         std::span<const Argument> arguments) {
  const std::string kernel = set.kernels() + name;
  const uint32_t threads =
      std::min<uint32_t>(SLH_THREAD_BLOCK, device_.properties().max_thread_block_size);
  const uint32_t local = has_shared ? 4 * SLH_SHARED_WORDS(set.n) : 0;
  LC_TRY(stream.launch({kernel.c_str(), uint32_t(thread_blocks), threads, local, arguments}));
  ++launches_;
  return Status();
}

void SlhLaunch::share(uint32_t count, uint64_t bytes, const std::function<void(uint32_t)> &work) {
  // A thread copies this many bytes in about the time that it takes to wake another.
  constexpr uint64_t kPartBytes = 256 << 10;
  const auto part = uint32_t(std::max<uint64_t>(kPartBytes / bytes, 1));
  const auto run = [&](size_t number) {
    const uint32_t first = uint32_t(number) * part;
    for (uint32_t n = first; n < std::min(count, first + part); ++n) work(n);
  };
  const uint32_t parts = count_up(count, part);
  if (parts == 1)
    run(0);
  else
    copiers_.share(parts, run);
}

// Uploads the shape and the items. The roots and the verdicts are in workspace.out after the
// signatures.
Status SlhLaunch::begin(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                        uint32_t count, const PutItem &put_item, bool is_key,
                        std::span<const uint32_t> tree) {
  workspace.count = count;
  // The launch id is odd, so zeroed memory never equals it. It is no secret.
  workspace.launch_id = uint32_t(sampler_.uniform_below(uint64_t{1} << 31)) | 1;
  const uint64_t words = is_key ? 0 : uint64_t{count} * (set.signature_bytes() / 4);
  const uint64_t roots = uint64_t{count} * layers_of(set, is_key) * (set.n / 4);
  workspace.roots_at = words * sizeof(uint32_t);
  workspace.verdicts_at = (words + roots) * sizeof(uint32_t);
  const SlhShape shape = {.count = count,
                          .layers = layers_of(set, is_key),
                          .first_layer = is_key ? set.layers - 1 : 0,
                          .tree_height = set.tree_height,
                          .fors_trees = is_key ? 0 : set.fors_trees,
                          .fors_height = set.fors_height,
                          .fors_low = slh_fors_low(set),
                          .signature_words = set.signature_bytes() / 4,
                          .launch_id = workspace.launch_id,
                          .roots_at = uint32_t(words),
                          .verdicts_at = uint32_t(words + roots),
                          .part_height = tree.empty() ? set.tree_height : SlhSet::kKeptHeight};
  const uint64_t bytes = sizeof shape + uint64_t{count} * sizeof(SlhItem);
  LC_TRY(memory_.grow(workspace.staging, MemoryKind::kPinned, bytes + tree.size_bytes()));
  LC_TRY(memory_.grow(workspace.told, MemoryKind::kDevice, bytes));
  workspace.told_bytes = bytes;
  uint8_t *const host = workspace.staging->host();
  std::memcpy(host, &shape, sizeof shape);
  auto *const items = reinterpret_cast<SlhItem *>(host + sizeof shape);
  share(count, sizeof *items, [&](uint32_t n) { put_item(n, items[n]); });
  if (!tree.empty()) {
    std::memcpy(host + bytes, tree.data(), tree.size_bytes());
    LC_TRY(memory_.grow(workspace.nodes, MemoryKind::kDevice, tree.size_bytes()));
    LC_TRY(stream.upload(*workspace.nodes, 0, host + bytes, tree.size_bytes()));
  }
  return stream.upload(*workspace.told, 0, host, bytes);
}

// Computes the trees of all layers and of FORS or, for a key, the top tree only (FIPS 205,
// Algorithm 18, slh_keygen_internal).
Status SlhLaunch::make_xmss_trees(device::Stream &stream, SlhWorkspace &workspace,
                                  const SlhSet &set, bool is_key) {
  constexpr MemoryKind kDevice = MemoryKind::kDevice;
  const uint64_t n = set.n, count = workspace.count, trees = count * layers_of(set, is_key);
  const uint64_t leaves = trees << set.tree_height, chains = leaves * set.chains();
  const uint64_t fors = is_key ? 0 : count * set.fors_trees;
  const uint32_t high = set.fors_height - slh_fors_low(set);
  LC_TRY(memory_.grow(workspace.tops, kDevice, chains * n));
  LC_TRY(memory_.grow(workspace.leaves, kDevice, leaves * n));
  LC_TRY(memory_.grow(workspace.kept, kDevice,
                      is_key ? 256 : trees * set.chains() * set.chain_values() * n));
  LC_TRY(memory_.grow(workspace.fors_nodes, kDevice, std::max<uint64_t>((fors << high) * n, 256)));
  LC_TRY(memory_.grow(workspace.fors_roots, kDevice, std::max<uint64_t>(fors * n, 256)));
  LC_TRY(memory_.grow(workspace.fors_keys, kDevice, std::max<uint64_t>(count * n, 256)));

  const auto low_thread_blocks = uint32_t(is_key ? 0 : slh_spans(fors << high, slh_fors_low(set)));
  const Argument treehash[] = {workspace.told.get(), workspace.tops.get(),
                               workspace.kept.get(), workspace.fors_nodes.get(),
                               workspace.out.get(),  low_thread_blocks};
  LC_TRY(launch(stream, set, "treehash", low_thread_blocks + thread_blocks_for(chains), true,
                treehash));
  const auto high_thread_blocks = uint32_t(is_key ? 0 : slh_spans(fors, high));
  const Argument compress[] = {workspace.told.get(),       workspace.tops.get(),
                               workspace.leaves.get(),     workspace.fors_nodes.get(),
                               workspace.fors_roots.get(), workspace.out.get(),
                               high_thread_blocks};
  LC_TRY(launch(stream, set, "leaves", high_thread_blocks + thread_blocks_for(leaves), true,
                compress));
  const auto key_thread_blocks = uint32_t(is_key ? 0 : thread_blocks_for(count));
  const Argument join[] = {workspace.told.get(),       workspace.leaves.get(),
                           workspace.fors_roots.get(), workspace.fors_keys.get(),
                           workspace.out.get(),        key_thread_blocks};
  return launch(stream, set, "trees", key_thread_blocks + slh_spans(trees, set.tree_height), true,
                join);
}

Status SlhLaunch::start_sign(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                             uint32_t count, const PutItem &put_item,
                             std::span<const uint32_t> tree) {
  LC_TRY(begin(stream, workspace, set, count, put_item, false, tree));
  const uint64_t verdicts = uint64_t{count} * (set.layers + 1) * sizeof(uint32_t);
  const uint64_t out = workspace.verdicts_at + verdicts;
  LC_TRY(memory_.grow(workspace.out, MemoryKind::kDevice, out));
  LC_TRY(memory_.grow(workspace.results, MemoryKind::kPinned, out));
  LC_TRY(stream.zero(*workspace.out, workspace.verdicts_at, verdicts));
  LC_TRY(set.is_draft() ? make_xmss_parts(stream, workspace, set, false, !tree.empty())
                        : make_xmss_trees(stream, workspace, set, false));
  const Argument reveal[] = {workspace.told.get(),      workspace.kept.get(),
                             workspace.fors_keys.get(), workspace.out.get(),
                             workspace.tops.get(),      workspace.fors_nodes.get()};
  const uint64_t threads = count * (set.fors_trees + uint64_t{set.layers} * set.chains());
  LC_TRY(launch(stream, set, "reveal", thread_blocks_for(threads), false, reveal));
  const Argument check[] = {workspace.told.get(), workspace.fors_keys.get(), workspace.out.get(),
                            workspace.tops.get(), workspace.fors_nodes.get()};
  LC_TRY(launch(stream, set, "check", thread_blocks_for(uint64_t{count} * (set.layers + 1)), false,
                check));
  workspace.result_bytes = workspace.roots_at;
  LC_TRY(stream.download(workspace.results->host(), *workspace.out, 0, out));
  LC_TRY(stream.zero(*workspace.kept, 0, workspace.kept->bytes()));
  LC_TRY(stream.zero(*workspace.out, 0, workspace.roots_at));
  return stream.zero(*workspace.told, 0, workspace.told_bytes);
}

bool SlhLaunch::is_right(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number) {
  const uint64_t parts = set.layers + 1;
  const uint8_t *from =
      workspace.results->host() + workspace.verdicts_at + number * parts * sizeof(uint32_t);
  bool right = true;
  for (uint64_t part = 0; part < parts; ++part, from += sizeof(uint32_t)) {
    uint32_t verdict;
    std::memcpy(&verdict, from, sizeof verdict);
    right = right && verdict == workspace.launch_id;
  }
  return right;
}

const uint8_t *SlhLaunch::signature(const SlhWorkspace &workspace, const SlhSet &set,
                                    uint32_t number) {
  return workspace.results->host() + uint64_t{number} * set.signature_bytes();
}

void SlhLaunch::take_roots(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number,
                           std::span<uint8_t> roots) {
  const uint8_t *const from =
      workspace.results->host() + workspace.roots_at + uint64_t{number} * set.layers * set.n;
  uint32_t words[8];
  for (uint32_t layer = 0; layer < set.layers; ++layer) {
    std::memcpy(words, from + layer * set.n, set.n);
    cpu::slh_bytes(set, words, &roots[layer * set.n]);
  }
}

Status SlhLaunch::start_keys(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                             uint32_t count, const PutItem &put_item) {
  LC_TRY(begin(stream, workspace, set, count, put_item, true, {}));
  LC_TRY(memory_.grow(workspace.out, MemoryKind::kDevice, workspace.verdicts_at));
  const uint64_t nodes = uint64_t{count} * set.kept_bytes();
  LC_TRY(memory_.grow(workspace.results, MemoryKind::kPinned, workspace.verdicts_at + nodes));
  LC_TRY(set.is_draft() ? make_xmss_parts(stream, workspace, set, true, false)
                        : make_xmss_trees(stream, workspace, set, true));
  uint8_t *const host = workspace.results->host();
  LC_TRY(stream.download(host, *workspace.out, 0, workspace.verdicts_at));
  if (nodes != 0) LC_TRY(stream.download(host + workspace.verdicts_at, *workspace.nodes, 0, nodes));
  return stream.zero(*workspace.told, 0, workspace.told_bytes);
}

void SlhLaunch::take_root(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number,
                          uint8_t *root) {
  uint32_t words[8];
  std::memcpy(words, workspace.results->host() + uint64_t{number} * set.n, set.n);
  cpu::slh_bytes(set, words, root);
}

const uint32_t *SlhLaunch::kept_nodes(const SlhWorkspace &workspace, const SlhSet &set,
                                      uint32_t number) {
  return reinterpret_cast<const uint32_t *>(workspace.results->host() + workspace.verdicts_at +
                                            uint64_t{number} * set.kept_bytes());
}

Status SlhLaunch::start_verify(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                               uint32_t count, const PutItem &put_item,
                               const SignatureOf &signature_of) {
  LC_TRY(begin(stream, workspace, set, count, put_item, false, {}));
  const uint64_t verdicts = uint64_t{count} * sizeof(uint32_t), each = set.signature_bytes();
  LC_TRY(memory_.grow(workspace.out, MemoryKind::kDevice, workspace.verdicts_at + verdicts));
  LC_TRY(memory_.grow(workspace.results, MemoryKind::kPinned, workspace.verdicts_at + verdicts));
  LC_TRY(memory_.grow(workspace.tops, MemoryKind::kDevice, uint64_t{count} * set.chains() * set.n));
  LC_TRY(stream.zero(*workspace.out, workspace.verdicts_at, verdicts));
  uint8_t *const host = workspace.results->host();
  share(count, each, [&](uint32_t n) { std::memcpy(host + n * each, signature_of(n), each); });
  LC_TRY(stream.upload(*workspace.out, 0, host, count * each));
  const Argument arguments[] = {workspace.told.get(), workspace.out.get(), workspace.tops.get()};
  LC_TRY(launch(stream, set, "verify", thread_blocks_for(count), false, arguments));
  return stream.download(host + workspace.verdicts_at, *workspace.out, workspace.verdicts_at,
                         verdicts);
}

Result<bool> SlhLaunch::verdict(const SlhWorkspace &workspace, uint32_t number) {
  uint32_t verdict;
  std::memcpy(&verdict, workspace.results->host() + workspace.verdicts_at + number * sizeof verdict,
              sizeof verdict);
  if (verdict != workspace.launch_id && verdict != workspace.launch_id + 1)
    return Status(LC_ERROR_DEVICE, "it gave no verdict of a signature");
  return verdict == workspace.launch_id;
}

void SlhLaunch::wipe_host(SlhWorkspace &workspace) {
  if (workspace.told_bytes != 0) secure::wipe(workspace.staging->host(), workspace.told_bytes);
  if (workspace.result_bytes != 0) secure::wipe(workspace.results->host(), workspace.result_bytes);
  workspace.told_bytes = workspace.result_bytes = 0;
}

void SlhLaunch::wipe_device(device::Stream &stream, SlhWorkspace &workspace) {
  for (const auto &buffer :
       {&workspace.told, &workspace.tops, &workspace.kept, &workspace.leaves, &workspace.fors_nodes,
        &workspace.fors_roots, &workspace.fors_keys, &workspace.nodes, &workspace.out})
    if (*buffer != nullptr) (void)stream.zero(**buffer, 0, (*buffer)->bytes());
}

}  // namespace lanecrypt::runtime
