// SPDX-License-Identifier: Apache-2.0
#include "cpu/slh/host_slh.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "cpu/slh/slh_message.h"
#include "job/round_up.h"
#include "kernels/host_thread.h"
#include "secure/key_memory.h"

namespace lanecrypt::cpu {
namespace {

// The CPU makes no signatures of the draft's sets, so some of their kernels are unused.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels/all_slh.h"
#pragma GCC diagnostic pop

// `Kernels` is the kernels of one hash family, n and w. Those that the set does not have are
// nullptr.
struct Kernels {
  decltype(&slh_sha2_16_verify) verify;
  decltype(&slh_sha2_16_treehash) treehash;
  decltype(&slh_sha2_16_leaves) leaves;
  decltype(&slh_sha2_16_trees) trees;
  decltype(&slh_sha2_16_reveal) reveal;
  decltype(&slh_sha2_16_check) check;
  decltype(&slh_sha2_16w4_sprout) sprout;
  decltype(&slh_sha2_16w4_rise) rise;
};

#define LC_SLH_SHORT(name)                                                                        \
  {                                                                                               \
    name##_verify, name##_treehash, name##_leaves, name##_trees, name##_reveal, name##_check, {}, \
    {}                                                                                            \
  }
#define LC_SLH_TALL(name) \
  { name##_verify, {}, {}, {}, {}, {}, name##_sprout, name##_rise }
constexpr Kernels kSha2[] = {LC_SLH_SHORT(slh_sha2_16),  LC_SLH_SHORT(slh_sha2_24),
                             LC_SLH_SHORT(slh_sha2_32),  LC_SLH_TALL(slh_sha2_16w4),
                             LC_SLH_TALL(slh_sha2_24w8), LC_SLH_TALL(slh_sha2_32w4)};
constexpr Kernels kShake[] = {LC_SLH_SHORT(slh_shake_16),  LC_SLH_SHORT(slh_shake_24),
                              LC_SLH_SHORT(slh_shake_32),  LC_SLH_TALL(slh_shake_16w4),
                              LC_SLH_TALL(slh_shake_24w8), LC_SLH_TALL(slh_shake_32w4)};
#undef LC_SLH_SHORT
#undef LC_SLH_TALL

const Kernels &kernels_of(const SlhSet &set) {
  return (set.shake ? kShake : kSha2)[set.n / 8 - 2 + (set.is_draft() ? 3 : 0)];
}

// Runs a kernel's thread_blocks, of one thread each.
template <typename Kernel, typename... Arguments>
void run(Kernel kernel, uint64_t thread_blocks, Arguments... arguments) {
  const device::HostThread before = device::host_thread;
  for (uint64_t thread_block = 0; thread_block < thread_blocks; ++thread_block) {
    device::host_thread = {.thread_block = uint32_t(thread_block),
                           .thread_blocks = uint32_t(thread_blocks)};
    kernel(arguments...);
  }
  device::host_thread = before;
}

uint64_t spans(uint64_t trees, uint32_t height) { return divide_up(trees, SLH_SPAN >> height); }

static_assert(SlhSet::kKeptHeight == SLH_SPAN_BITS);

// `Work` is the memory of one operation. All of it is wiped.
class Work {
 public:
  Work(const SlhSet &set, const SlhItem &of, bool is_key)
      : set_(set),
        kernels_(kernels_of(set)),
        told_{.shape = {.count = 1,
                        .layers = is_key ? 1 : set.layers,
                        .first_layer = is_key ? set.layers - 1 : 0,
                        .tree_height = set.tree_height,
                        .fors_trees = is_key ? 0 : set.fors_trees,
                        .fors_height = set.fors_height,
                        .fors_low = SLH_FORS_LOW(set.fors_height),
                        .signature_words = set.signature_bytes() / 4,
                        .launch_id = 1,
                        .roots_at = is_key ? 0 : set.signature_bytes() / 4,
                        .verdicts_at = 0,
                        .part_height = SlhSet::kKeptHeight},
              .item = of},
        shape_(told_.shape) {
    told_.shape.verdicts_at = shape_.roots_at + shape_.layers * set.n / 4;
  }
  ~Work() {
    for (Words *part : {&tops_, &leaves_, &kept_, &fors_nodes_, &fors_roots_, &fors_key_, &nodes_,
                        &out_, &shared_})
      secure::wipe(part->words.get(), part->count * sizeof(u32));
    secure::wipe(&told_, sizeof told_);
  }

  // Computes the trees of all layers and of FORS or, for a key, the top tree only. Returns false if
  // memory is lacking.
  bool grow() {
    const uint64_t words = set_.n / 4, leaves = uint64_t{shape_.layers} << set_.tree_height;
    const uint32_t high = set_.fors_height - shape_.fors_low;
    const uint64_t fors = shape_.fors_trees;
    if (!tops_.allocate(leaves * set_.chains() * words) || !leaves_.allocate(leaves * words) ||
        !kept_.allocate(fors == 0 ? 0
                                  : shape_.layers * set_.chains() * set_.chain_values() * words) ||
        !fors_nodes_.allocate((fors << high) * words) || !fors_roots_.allocate(fors * words) ||
        !fors_key_.allocate(words) || !shared_.allocate(shared_words()) ||
        !out_.allocate(out_words()))
      return false;
    const auto low_groups = uint32_t(spans(fors << high, shape_.fors_low));
    run(kernels_.treehash, low_groups + 1, &shape_, tops_.at(), kept_.at(), fors_nodes_.at(),
        out_.at(), low_groups, shared_.at());
    const auto high_groups = uint32_t(spans(fors, high));
    run(kernels_.leaves, high_groups + 1, &shape_, tops_.at(), leaves_.at(), fors_nodes_.at(),
        fors_roots_.at(), out_.at(), high_groups, shared_.at());
    const uint32_t key_groups = fors == 0 ? 0 : 1;
    run(kernels_.trees, key_groups + spans(shape_.layers, set_.tree_height), &shape_, leaves_.at(),
        fors_roots_.at(), fors_key_.at(), out_.at(), key_groups, shared_.at());
    return true;
  }
  // Makes the signature and checks it. To be called after grow().
  bool sign() {
    run(kernels_.reveal, 1, &shape_, kept_.at(), fors_key_.at(), out_.at(), tops_.at(),
        fors_nodes_.at());
    run(kernels_.check, 1, &shape_, fors_key_.at(), out_.at(), tops_.at(), fors_nodes_.at());
    const u32 *const verdicts = out_.at() + shape_.verdicts_at;
    return std::all_of(verdicts, verdicts + shape_.layers + 1,
                       [&](u32 verdict) { return verdict == shape_.launch_id; });
  }
  bool verify(std::span<const uint8_t> signature, bool &valid) {
    if (!out_.allocate(out_words()) || !tops_.allocate(set_.chains() * set_.n / 4)) return false;
    std::memcpy(out_.at(), signature.data(), signature.size());
    run(kernels_.verify, 1, &shape_, out_.at(), tops_.at());
    valid = out_.at()[shape_.verdicts_at] == shape_.launch_id;
    return true;
  }

  // Computes the node above a part of a tall tree. The part's first leaf is that of the item.
  bool grow_part(uint32_t *node) {
    const uint64_t words = set_.n / 4;
    if (!tops_.allocate(set_.chains() * words) || !leaves_.allocate(words << shape_.part_height) ||
        !kept_.allocate(0) || !fors_nodes_.allocate(0) || !out_.allocate(out_words()) ||
        !shared_.allocate(shared_words()))
      return false;
    run(kernels_.sprout, 1, &shape_, tops_.at(), kept_.at(), leaves_.at(), fors_nodes_.at(),
        out_.at(), 0u, shared_.at());
    run(kernels_.rise, 1, &shape_, fors_nodes_.at(), fors_nodes_.at(), leaves_.at(), node,
        out_.at(), 0u, 0u, SLH_PART(1u, 0u, shape_.part_height), shared_.at());
    return true;
  }
  // Computes the root of a tall tree from the nodes above all parts.
  bool rise(const uint32_t *nodes) {
    const uint64_t words = set_.n / 4;
    uint32_t height = shape_.part_height;
    if (!nodes_.allocate(words << (set_.tree_height - height)) || !out_.allocate(out_words()) ||
        !shared_.allocate(shared_words()))
      return false;
    std::memcpy(nodes_.at(), nodes, nodes_.count * sizeof(u32));
    while (height < set_.tree_height) {
      const uint32_t levels = std::min<uint32_t>(set_.tree_height - height, SLH_SPAN_BITS);
      const uint64_t parts = uint64_t{1} << (set_.tree_height - height - levels);
      // A thread_block has read its span before it writes above it, and no later one reads there.
      run(kernels_.rise, spans(parts, levels), &shape_, nodes_.at(), nodes_.at(), nodes_.at(),
          nodes_.at(), out_.at(), 0u, 0u, SLH_PART(1u, height, levels), shared_.at());
      height += levels;
    }
    return true;
  }

  // The words of a signature, the roots and the verdicts.
  size_t out_words() const { return shape_.verdicts_at + SLH_MOST_LAYERS + 1; }
  size_t shared_words() const { return SLH_SHARED_WORDS(set_.n); }
  const uint8_t *signature() const { return reinterpret_cast<const uint8_t *>(out_.words.get()); }
  // Copies the roots of the layers.
  void roots(uint8_t *to) const {
    for (uint32_t layer = 0; layer < shape_.layers; ++layer)
      slh_bytes(set_, out_.words.get() + shape_.roots_at + layer * set_.n / 4, to + layer * set_.n);
  }

 private:
  struct Words {
    std::unique_ptr<u32[]> words;
    size_t count = 0;
    bool allocate(size_t wanted) {
      words.reset(new (std::nothrow) u32[wanted]());
      count = words ? wanted : 0;
      return words != nullptr;
    }
    u32 *at() { return words.get(); }
  };

  const SlhSet &set_;
  const Kernels &kernels_;
  struct Told {
    SlhShape shape;
    SlhItem item;
  } told_;
  const SlhShape &shape_;
  Words tops_, leaves_, kept_, fors_nodes_, fors_roots_, fors_key_, nodes_, out_, shared_;
};

Status no_memory() { return Status(LC_ERROR_MEMORY, "no memory for the trees of a signature"); }

}  // namespace

Status host_slh_sign(const SlhSet &set, const SlhItem &item, std::span<uint8_t> signature,
                     SlhRoots &roots) {
  Work work(set, item, false);
  if (!work.grow()) return no_memory();
  if (!work.sign())
    return Status(LC_ERROR_INTERNAL,
                  "the signature is wrong: the key's PK.root is not that of its seeds, or this "
                  "core computed wrongly");
  std::memcpy(&signature[set.n], work.signature() + set.n, set.signature_bytes() - set.n);
  work.roots(roots.data());
  return Status();
}

Status host_slh_root(const SlhSet &set, const SlhItem &item, std::span<uint8_t> root) {
  Work work(set, item, true);
  if (!work.grow()) return no_memory();
  work.roots(root.data());
  return Status();
}

Status host_slh_part(const SlhSet &set, const SlhItem &item, uint32_t *node) {
  return Work(set, item, true).grow_part(node) ? Status() : no_memory();
}

Status host_slh_root_of(const SlhSet &set, const SlhItem &item, const uint32_t *nodes,
                        std::span<uint8_t> root) {
  Work work(set, item, true);
  if (!work.rise(nodes)) return no_memory();
  work.roots(root.data());
  return Status();
}

Status host_slh_verify(const SlhSet &set, const SlhItem &item, std::span<const uint8_t> signature,
                       bool &valid, SlhRoots &roots) {
  Work work(set, item, false);
  if (!work.verify(signature, valid)) return no_memory();
  work.roots(roots.data());
  return Status();
}

}  // namespace lanecrypt::cpu
