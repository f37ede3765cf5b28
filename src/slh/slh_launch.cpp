// SPDX-License-Identifier: Apache-2.0
#include "slh/slh_launch.h"

#include <algorithm>
#include <cstring>

#include "cpu/rsa/cpu_rsa.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::MemoryKind;

constexpr uint64_t kMostGroups = 65535;

uint32_t fors_low(const SlhSet &set) { return std::min<uint32_t>(set.fors_height, SLH_SPAN_BITS); }

// Groups that grow so many trees of a height.
uint64_t spans(uint64_t trees, uint32_t height) {
  const uint64_t of_span = SLH_SPAN >> height;
  return (trees + of_span - 1) / of_span;
}

uint32_t layers_of(const SlhSet &set, bool is_key) { return is_key ? 1 : set.layers; }

}  // namespace

uint32_t SlhLaunch::best_batch(const SlhSet &set) {
  // The memory of a batch is then about 250 MiB.
  return set.tree_height >= 8 ? (set.n == 16 ? 96 : 48) : (set.n == 16 ? 1024 : 512);
}

uint64_t SlhLaunch::groups_for(uint64_t lanes) const {
  const uint64_t of_group = std::min<uint32_t>(SLH_GROUP, device_.properties().max_group_lanes);
  return std::clamp<uint64_t>((lanes + of_group - 1) / of_group, 1, kMostGroups);
}

Status SlhLaunch::launch(device::Stream &stream, const SlhSet &set, const char *name,
                         uint64_t groups, bool has_local, std::span<const Argument> arguments) {
  const std::string kernel = set.kernels() + name;
  const uint32_t lanes = std::min<uint32_t>(SLH_GROUP, device_.properties().max_group_lanes);
  const uint32_t local = has_local ? 4 * SLH_SHARED_WORDS(set.n) : 0;
  LC_TRY(stream.launch({kernel.c_str(), uint32_t(groups), lanes, local, arguments}));
  ++launches_;
  return Status();
}

// Sends the shape and the items.
Status SlhLaunch::begin(device::Stream &stream, SlhRoom &room, const SlhSet &set,
                        std::span<const SlhItem> items, bool is_key) {
  room.count = uint32_t(items.size());
  LC_TRY(cpu::random_bytes(&room.nonce, sizeof room.nonce));
  room.nonce = (room.nonce | 1) & 0x7fffffff;
  const SlhShape shape = {.count = room.count,
                          .layers = layers_of(set, is_key),
                          .first_layer = is_key ? set.layers - 1 : 0,
                          .tree_height = set.tree_height,
                          .fors_trees = is_key ? 0 : set.fors_trees,
                          .fors_height = set.fors_height,
                          .fors_low = fors_low(set),
                          .signature_words = set.signature_bytes() / 4,
                          .nonce = room.nonce,
                          .unused = 0};
  const uint64_t bytes = items.size_bytes();
  LC_TRY(memory_.grow(room.staging, MemoryKind::kPinned, sizeof shape + bytes));
  LC_TRY(memory_.grow(room.shape, MemoryKind::kDevice, sizeof shape));
  LC_TRY(memory_.grow(room.items, MemoryKind::kDevice, bytes));
  uint8_t *const host = room.staging->host();
  std::memcpy(host, &shape, sizeof shape);
  std::memcpy(host + sizeof shape, items.data(), bytes);
  LC_TRY(stream.upload(*room.shape, 0, host, sizeof shape));
  return stream.upload(*room.items, 0, host + sizeof shape, bytes);
}

// The trees of all layers and of FORS, or for a key the top tree alone.
Status SlhLaunch::grow_trees(device::Stream &stream, SlhRoom &room, const SlhSet &set,
                             bool is_key) {
  constexpr MemoryKind kDevice = MemoryKind::kDevice;
  const uint64_t n = set.n, count = room.count, trees = count * layers_of(set, is_key);
  const uint64_t leaves = trees << set.tree_height, chains = leaves * set.chains();
  const uint64_t fors = is_key ? 0 : count * set.fors_trees;
  const uint32_t high = set.fors_height - fors_low(set);
  LC_TRY(memory_.grow(room.tops, kDevice, chains * n));
  LC_TRY(memory_.grow(room.leaves, kDevice, leaves * n));
  LC_TRY(memory_.grow(room.roots, kDevice, trees * n));
  LC_TRY(
      memory_.grow(room.kept, kDevice, is_key ? 256 : trees * set.chains() * SLH_CHAIN_VALUES * n));
  LC_TRY(memory_.grow(room.fors_nodes, kDevice, std::max<uint64_t>((fors << high) * n, 256)));
  LC_TRY(memory_.grow(room.fors_roots, kDevice, std::max<uint64_t>(fors * n, 256)));
  LC_TRY(memory_.grow(room.fors_keys, kDevice, std::max<uint64_t>(count * n, 256)));
  LC_TRY(memory_.grow(room.out, kDevice, is_key ? 256 : count * set.signature_bytes()));

  const auto low_groups = uint32_t(is_key ? 0 : spans(fors << high, fors_low(set)));
  const Argument grow[] = {room.shape.get(), room.items.get(),      room.tops.get(),
                           room.kept.get(),  room.fors_nodes.get(), room.out.get(),
                           low_groups};
  LC_TRY(launch(stream, set, "grow", low_groups + groups_for(chains), true, grow));
  const auto high_groups = uint32_t(is_key ? 0 : spans(fors, high));
  const Argument compress[] = {
      room.shape.get(),      room.items.get(),      room.tops.get(), room.leaves.get(),
      room.fors_nodes.get(), room.fors_roots.get(), room.out.get(),  high_groups};
  LC_TRY(launch(stream, set, "leaves", high_groups + groups_for(leaves), true, compress));
  const auto key_groups = uint32_t(is_key ? 0 : groups_for(count));
  const Argument join[] = {
      room.shape.get(),     room.items.get(), room.leaves.get(), room.fors_roots.get(),
      room.fors_keys.get(), room.roots.get(), room.out.get(),    key_groups};
  return launch(stream, set, "trees", key_groups + spans(trees, set.tree_height), true, join);
}

Status SlhLaunch::start_sign(device::Stream &stream, SlhRoom &room, const SlhSet &set,
                             std::span<const SlhItem> items) {
  const uint64_t verdicts = items.size() * (set.layers + 1) * sizeof(uint32_t);
  const uint64_t out = items.size() * set.signature_bytes();
  LC_TRY(memory_.grow(room.verdicts, MemoryKind::kDevice, verdicts));
  LC_TRY(memory_.grow(room.results, MemoryKind::kPinned, out + verdicts));
  LC_TRY(begin(stream, room, set, items, false));
  LC_TRY(stream.zero(*room.verdicts, 0, verdicts));
  LC_TRY(grow_trees(stream, room, set, false));
  const uint64_t count = room.count;
  const Argument sign[] = {room.shape.get(),     room.items.get(),     room.kept.get(),
                           room.fors_keys.get(), room.roots.get(),     room.out.get(),
                           room.tops.get(),      room.fors_nodes.get()};
  const uint64_t lanes = count * (set.fors_trees + uint64_t{set.layers} * set.chains());
  LC_TRY(launch(stream, set, "sign", groups_for(lanes), false, sign));
  const Argument check[] = {room.shape.get(),      room.items.get(),   room.fors_keys.get(),
                            room.roots.get(),      room.out.get(),     room.tops.get(),
                            room.fors_nodes.get(), room.verdicts.get()};
  LC_TRY(launch(stream, set, "check", groups_for(count * (set.layers + 1)), false, check));
  LC_TRY(stream.download(room.results->host(), *room.out, 0, out));
  LC_TRY(stream.download(room.results->host() + out, *room.verdicts, 0, verdicts));
  LC_TRY(stream.zero(*room.kept, 0, room.kept->bytes()));
  LC_TRY(stream.zero(*room.out, 0, out));
  return stream.zero(*room.items, 0, items.size_bytes());
}

void SlhLaunch::finish_sign(SlhRoom &room, const SlhSet &set, std::span<uint8_t> signatures,
                            std::span<uint8_t> right) {
  const uint64_t bytes = set.signature_bytes(), parts = set.layers + 1;
  uint8_t *const from = room.results->host();
  const uint8_t *const verdicts = from + room.count * bytes;
  for (uint64_t i = 0; i < room.count; ++i) {
    right[i] = 1;
    for (uint64_t part = 0; part < parts; ++part) {
      uint32_t verdict;
      std::memcpy(&verdict, verdicts + (i * parts + part) * sizeof verdict, sizeof verdict);
      if (verdict != room.nonce) right[i] = 0;
    }
    if (right[i] != 0)
      std::memcpy(&signatures[i * bytes + set.n], from + i * bytes + set.n, bytes - set.n);
  }
  secure::wipe(from, room.count * bytes);
  secure::wipe(room.staging->host(), sizeof(SlhShape) + room.count * sizeof(SlhItem));
}

Status SlhLaunch::start_roots(device::Stream &stream, SlhRoom &room, const SlhSet &set,
                              std::span<const SlhItem> items) {
  LC_TRY(memory_.grow(room.results, MemoryKind::kPinned, items.size() * set.n));
  LC_TRY(begin(stream, room, set, items, true));
  LC_TRY(grow_trees(stream, room, set, true));
  LC_TRY(stream.download(room.results->host(), *room.roots, 0, items.size() * set.n));
  return stream.zero(*room.items, 0, items.size_bytes());
}

void SlhLaunch::finish_roots(SlhRoom &room, const SlhSet &set, std::span<uint8_t> roots) {
  for (uint64_t i = 0; i < room.count; ++i) {
    uint32_t words[8];
    std::memcpy(words, room.results->host() + i * set.n, set.n);
    slh_bytes(set, words, &roots[i * set.n]);
  }
  secure::wipe(room.staging->host(), sizeof(SlhShape) + room.count * sizeof(SlhItem));
}

Status SlhLaunch::start_verify(device::Stream &stream, SlhRoom &room, const SlhSet &set,
                               std::span<const SlhItem> items,
                               std::span<const uint8_t> signatures) {
  constexpr MemoryKind kDevice = MemoryKind::kDevice;
  const uint64_t count = items.size(), verdicts = count * sizeof(uint32_t);
  LC_TRY(memory_.grow(room.out, kDevice, signatures.size()));
  LC_TRY(memory_.grow(room.tops, kDevice, count * set.chains() * set.n));
  LC_TRY(memory_.grow(room.verdicts, kDevice, verdicts));
  LC_TRY(memory_.grow(room.results, MemoryKind::kPinned, verdicts));
  LC_TRY(begin(stream, room, set, items, false));
  LC_TRY(stream.zero(*room.verdicts, 0, verdicts));
  LC_TRY(stream.upload(*room.out, 0, signatures.data(), signatures.size()));
  const Argument arguments[] = {room.shape.get(), room.items.get(), room.out.get(), room.tops.get(),
                                room.verdicts.get()};
  LC_TRY(launch(stream, set, "verify", groups_for(count), false, arguments));
  return stream.download(room.results->host(), *room.verdicts, 0, verdicts);
}

Status SlhLaunch::finish_verify(SlhRoom &room, std::span<uint8_t> valid) {
  for (uint32_t i = 0; i < room.count; ++i) {
    uint32_t verdict;
    std::memcpy(&verdict, room.results->host() + i * sizeof verdict, sizeof verdict);
    if (verdict != room.nonce && verdict != room.nonce + 1)
      return Status(LC_ERROR_DEVICE, "it gave no verdict of a signature");
    valid[i] = verdict == room.nonce;
  }
  return Status();
}

}  // namespace lanecrypt::runtime
