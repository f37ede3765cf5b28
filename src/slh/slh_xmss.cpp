// The sequence of launches up to the roots, for the sets of the draft SP 800-230.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "slh/slh_launch.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::Buffer;
using device::MemoryKind;

// Threads that make leaves concurrently. Each has memory for the chains of a key.
constexpr uint64_t kLeafThreads = 1 << 16;

// `Rising` is trees that are computed level by level: `from` holds the nodes of the height reached
// so far, and `to` will hold those above them.
struct Rising {
  uint64_t trees;
  uint32_t to_height, height;
  const Buffer *from, *to;

  uint32_t levels() const {
    return trees == 0 ? 0 : std::min<uint32_t>(to_height - height, SLH_SPAN_BITS);
  }
  uint32_t thread_blocks() const {
    const uint32_t rises = levels();
    return rises == 0 ? 0 : uint32_t(slh_spans(trees << (to_height - height - rises), rises));
  }
  void rise() {
    if (levels() == 0) return;
    height += levels();
    std::swap(from, to);
  }
};

}  // namespace

Status SlhLaunch::make_xmss_parts(device::Stream &stream, SlhWorkspace &workspace,
                                  const SlhSet &set, bool is_key, bool has_tree) {
  constexpr MemoryKind kDevice = MemoryKind::kDevice;
  const uint64_t n = set.n, count = workspace.count;
  const uint32_t grown = has_tree ? SlhSet::kKeptHeight : set.tree_height;
  const uint64_t leaves = count << grown;
  const uint64_t fors = is_key ? 0 : count * set.fors_trees;
  const uint32_t low = slh_fors_low(set), high = set.fors_height - low;
  const uint32_t higher = high - std::min<uint32_t>(high, SLH_SPAN_BITS);
  const uint64_t leaf_thread_blocks = thread_blocks_for(std::min(leaves, kLeafThreads));
  LC_TRY(memory_.grow(workspace.tops, kDevice,
                      leaf_thread_blocks * SLH_THREAD_BLOCK * set.chains() * n));
  LC_TRY(memory_.grow(workspace.leaves, kDevice, leaves * n));
  LC_TRY(memory_.grow(workspace.nodes, kDevice, std::max<uint64_t>(count * set.kept_bytes(), 256)));
  LC_TRY(memory_.grow(workspace.kept, kDevice,
                      is_key ? 256 : count * set.chains() * set.chain_values() * n));
  LC_TRY(memory_.grow(workspace.fors_nodes, kDevice, std::max<uint64_t>((fors << high) * n, 256)));
  LC_TRY(
      memory_.grow(workspace.fors_roots, kDevice, std::max<uint64_t>((fors << higher) * n, 256)));
  LC_TRY(memory_.grow(workspace.fors_keys, kDevice, std::max<uint64_t>(count * n, 256)));

  const auto low_thread_blocks = uint32_t(slh_spans(fors << high, low));
  const Argument sprout[] = {workspace.told.get(),       workspace.tops.get(),
                             workspace.kept.get(),       workspace.leaves.get(),
                             workspace.fors_nodes.get(), workspace.out.get(),
                             low_thread_blocks};
  LC_TRY(launch(stream, set, "sprout", low_thread_blocks + leaf_thread_blocks, true, sprout));
  Rising of_fors = {fors, set.fors_height, low, workspace.fors_nodes.get(),
                    workspace.fors_roots.get()};
  // If the key has a kept tree, the part with the signing leaf is computed first, in place: a
  // thread block reads all of it before it writes. Then the nodes above the kept ones are computed.
  // The check of the signature shows whether the kept nodes belong to the part.
  Rising of_layer = {count, grown, 0, workspace.leaves.get(),
                     has_tree ? workspace.leaves.get() : workspace.nodes.get()};
  while (of_fors.levels() != 0 || of_layer.levels() != 0) {
    const Argument rise[] = {workspace.told.get(),
                             of_fors.from,
                             of_fors.to,
                             of_layer.from,
                             of_layer.to,
                             workspace.out.get(),
                             of_fors.thread_blocks(),
                             SLH_PART(0u, of_fors.height, of_fors.levels()),
                             SLH_PART(1u, of_layer.height, of_layer.levels())};
    LC_TRY(launch(stream, set, "rise", of_fors.thread_blocks() + of_layer.thread_blocks(), true,
                  rise));
    of_fors.rise();
    of_layer.rise();
    if (of_layer.levels() == 0 && of_layer.to_height != set.tree_height)
      of_layer = {count, set.tree_height, grown, workspace.nodes.get(), workspace.leaves.get()};
  }
  if (is_key) return Status();
  const Argument bind[] = {workspace.told.get(), of_fors.from, workspace.fors_keys.get()};
  return launch(stream, set, "bind", thread_blocks_for(count), false, bind);
}

}  // namespace lanecrypt::runtime
