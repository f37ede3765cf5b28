// SPDX-License-Identifier: Apache-2.0
#include "hash/hash_launch.h"

#include <algorithm>
#include <cstring>

#include "job/round_up.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::MemoryKind;

// The most blocks of each message in one launch, so that no launch takes seconds.
constexpr uint64_t kMostBlocks = 1 << 16;
constexpr uint64_t kKeyBytes = 32;
constexpr uint64_t kValueBytes = 4 * HASH_VALUE_WORDS;
// With fewer blocks, hashing takes no longer than a part of the thread block needs for its first
// schedule.
constexpr uint64_t kLeastDeepBlocks = 64;
// The most thread blocks of hash_sha256_deep for each multiprocessor. With more messages, one
// thread for each message is faster.
constexpr uint64_t kMostDeepThreadBlocks = 2;

uint64_t joined(uint64_t count) { return divide_up(count, HASH_SPAN); }

}  // namespace

uint32_t HashLaunch::threads_of_block() const {
  return std::min<uint32_t>(HASH_THREAD_BLOCK, device_.properties().max_thread_block_size);
}

bool HashLaunch::is_plain(const HashSpec &spec, uint64_t bytes, size_t messages) {
  // This many messages fill a device with one thread each.
  constexpr size_t kMany = 4096;
  constexpr uint64_t kMostOfFew = 32 << 10;
  if (!spec.is_tree()) return true;
  // RFC 9162, section 2.1.1: the hash of an empty tree is the hash of an empty string.
  if (spec.method->family == HashFamily::kMerkle) return bytes == 0;
  return spec.method->family == HashFamily::kBlake3 &&
         bytes <= (messages >= kMany ? kMostAlone : kMostOfFew);
}

bool HashLaunch::needs_states(const HashSpec &spec, uint64_t longest) {
  return longest > kMostBlocks * spec.method->block_bytes;
}

Status HashLaunch::launch(device::Stream &stream, const char *kernel, uint64_t thread_blocks,
                          uint32_t shared_bytes, std::span<const Argument> arguments) {
  LC_TRY(stream.launch(
      {kernel, uint32_t(thread_blocks), threads_of_block(), shared_bytes, arguments}));
  ++launches_;
  return Status();
}

Status HashLaunch::launch_threads(device::Stream &stream, const char *kernel, uint64_t threads,
                                  std::span<const Argument> arguments) {
  return launch(stream, kernel, divide_up(threads, threads_of_block()), 0, arguments);
}

Status HashLaunch::begin(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec) {
  if (spec.method->family != HashFamily::kBlake3) return Status();
  LC_TRY(memory_.grow(workspace.small, MemoryKind::kPinned, kKeyBytes));
  LC_TRY(memory_.grow(workspace.key, MemoryKind::kDevice, kKeyBytes));
  std::memcpy(workspace.small->host(), spec.key.data(), kKeyBytes);
  return stream.upload(*workspace.key, 0, workspace.small->host(), kKeyBytes);
}

Status HashLaunch::end(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec) {
  if (spec.flags == 0) return Status();
  // What is derived from a key is secret too: a derived key is a digest.
  for (const auto *buffer :
       {&workspace.key, &workspace.digests, &workspace.values, &workspace.levels})
    if (*buffer != nullptr) LC_TRY(stream.zero(**buffer, 0, (*buffer)->bytes()));
  return Status();
}

bool HashLaunch::is_deep(const HashInputs &inputs) const {
  // PoCL 5.0 ends the program while it compiles this kernel, and NVIDIA's OpenCL does not provide
  // enough shared memory for it.
  if (device_.properties().api == "opencl") return false;
  const uint32_t messages = threads_of_block() / SHA256_DEEP_PARTS;
  return messages != 0 && threads_of_block() % SHA256_DEEP_PARTS == 0 &&
         device_.properties().shared_bytes >= 4 * SHA256_DEEP_WORDS &&
         inputs.longest >= kLeastDeepBlocks * 64 &&
         inputs.count <= kMostDeepThreadBlocks * device_.properties().compute_units * messages;
}

Status HashLaunch::hash(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
                        const HashInputs &inputs) {
  const auto digest_bytes = uint32_t(spec.digest_bytes);
  if (spec.method->family == HashFamily::kBlake3) {
    const Argument arguments[] = {inputs.pieces,     inputs.in,           inputs.out, inputs.count,
                                  spec.digest_bytes, workspace.key.get(), spec.flags};
    return launch_threads(stream, "hash_blake3", inputs.count, arguments);
  }
  const uint64_t step = kMostBlocks * spec.method->block_bytes;
  uint64_t from = 0;
  do {
    const uint64_t to = from + step;
    const Argument sha2[] = {inputs.pieces, inputs.in,    inputs.out, workspace.states.get(),
                             inputs.count,  digest_bytes, from,       to};
    switch (spec.method->family) {
      case HashFamily::kSha256:
      case HashFamily::kMerkle:
        if (is_deep(inputs)) {
          const uint32_t messages = threads_of_block() / SHA256_DEEP_PARTS;
          const Argument deep[] = {inputs.pieces,
                                   inputs.in,
                                   inputs.out,
                                   workspace.states.get(),
                                   inputs.count,
                                   digest_bytes,
                                   from,
                                   to,
                                   std::max(device_.properties().compute_units, 1u)};
          LC_TRY(launch(stream, "hash_sha256_deep", divide_up(inputs.count, messages),
                        4 * SHA256_DEEP_WORDS, deep));
        } else {
          LC_TRY(launch_threads(stream, "hash_sha256", inputs.count, sha2));
        }
        break;
      case HashFamily::kSha512:
        LC_TRY(launch_threads(stream, "hash_sha512", inputs.count, sha2));
        break;
      default: {
        const Argument keccak[] = {inputs.pieces,
                                   inputs.in,
                                   inputs.out,
                                   workspace.states.get(),
                                   inputs.count,
                                   spec.digest_bytes,
                                   from,
                                   to,
                                   spec.method->block_bytes / 8,
                                   spec.method->pad};
        LC_TRY(launch_threads(stream, "hash_keccak", inputs.count, keccak));
      }
    }
    from = to;
  } while (from < inputs.longest);
  return Status();
}

Status HashLaunch::hash_leaves(device::Stream &stream, HashWorkspace &workspace,
                               const HashSpec &spec, const HashLeaves &leaves) {
  if (spec.method->family == HashFamily::kBlake3) {
    const Argument arguments[] = {leaves.in,    leaves.at,           leaves.bytes,
                                  leaves.first, leaves.count,        workspace.values.get(),
                                  leaves.to,    workspace.key.get(), spec.flags};
    return launch_threads(stream, "hash_blake3_leaves", leaves.count, arguments);
  }
  if (spec.method->family == HashFamily::kMerkle) {
    const Argument arguments[] = {leaves.in,       leaves.at,    leaves.bytes,
                                  spec.leaf_bytes, leaves.count, workspace.values.get(),
                                  leaves.to};
    return launch_threads(stream, "hash_merkle_leaves", leaves.count, arguments);
  }
  const Argument arguments[] = {leaves.in,
                                leaves.at,
                                leaves.bytes,
                                spec.leaf_bytes,
                                leaves.count,
                                workspace.values.get(),
                                leaves.to,
                                spec.method->block_bytes / 8,
                                spec.method->value_bytes};
  return launch_threads(stream, "hash_parallel_leaves", leaves.count, arguments);
}

Status HashLaunch::make_levels(HashWorkspace &workspace, uint64_t leaves) {
  uint64_t all = 0, count = leaves;
  do {
    count = joined(count);
    all += count;
  } while (count > HASH_SPAN);
  return memory_.grow(workspace.levels, MemoryKind::kDevice, all * kValueBytes);
}

Status HashLaunch::join(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
                        const device::Buffer &values, uint64_t from, uint32_t count, uint64_t to) {
  if (spec.method->family == HashFamily::kBlake3) {
    const Argument arguments[] = {
        &values, from, count, workspace.levels.get(), to, workspace.key.get(), spec.flags};
    return launch(stream, "hash_blake3_nodes", joined(count), 4 * HASH_TREE_WORDS, arguments);
  }
  const Argument arguments[] = {&values, from, count, workspace.levels.get(), to};
  return launch(stream, "hash_merkle_nodes", joined(count), 4 * HASH_TREE_WORDS, arguments);
}

Status HashLaunch::join_values(device::Stream &stream, HashWorkspace &workspace,
                               const HashSpec &spec, uint32_t count, uint64_t to) {
  return join(stream, workspace, spec, *workspace.values, 0, count, to);
}

Status HashLaunch::make_root(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
                             uint64_t leaves, const device::Buffer *out, uint64_t to) {
  // The value of a single span would be the root, but BLAKE3 computes its root differently from a
  // value.
  const bool is_one_span = leaves <= HASH_SPAN;
  const device::Buffer *const values =
      is_one_span ? workspace.values.get() : workspace.levels.get();
  uint64_t from = 0, count = is_one_span ? leaves : joined(leaves);
  while (count > HASH_SPAN) {
    LC_TRY(join(stream, workspace, spec, *values, from, uint32_t(count), from + count));
    from += count;
    count = joined(count);
  }
  if (spec.method->family == HashFamily::kBlake3) {
    const Argument arguments[] = {
        values, from, uint32_t(count), out, to, spec.digest_bytes, workspace.key.get(), spec.flags};
    return launch(stream, "hash_blake3_root", 1, 4 * HASH_TREE_WORDS, arguments);
  }
  const Argument arguments[] = {values, from, uint32_t(count), out, to};
  return launch(stream, "hash_merkle_root", 1, 4 * HASH_TREE_WORDS, arguments);
}

}  // namespace lanecrypt::runtime
