// SPDX-License-Identifier: Apache-2.0
#include "cpu/hash/portable_hash.h"

#include <bit>
#include <cstring>

#include "kernels/hash/blake3_messages.h"
#include "kernels/hash/keccak.h"

namespace lanecrypt::cpu {
namespace {

void node_of(std::span<const uint32_t, 8> key, uint32_t flags, std::span<const uint8_t, 64> both,
             Blake3Node *node) {
  std::memcpy(node->block, both.data(), sizeof node->block);
  ::blake3_parent(key.data(), flags, node);
}

}  // namespace

void blake3_initial(std::span<uint32_t, 8> key) { sha256_start(key.data()); }

uint64_t blake3_most_bytes() { return BLAKE3_MOST_ALONE; }

void blake3_hash(std::span<const uint32_t, 8> key, uint32_t flags, std::span<const uint8_t> message,
                 std::span<uint8_t> digest) {
  Blake3Node root;
  // The kernels' code chooses its loads by the alignment of the offset, so the address is passed as
  // the offset from nullptr.
  const uint64_t at = reinterpret_cast<uintptr_t>(message.data());
  ::blake3_message(nullptr, at, message.size(), key.data(), flags, &root);
  ::blake3_output(&root, digest.data(), digest.size(), 0, 1);
}

void blake3_leaf(std::span<const uint32_t, 8> key, uint32_t flags, uint64_t number,
                 std::span<const uint8_t> chunk, std::span<uint8_t, 32> value) {
  Blake3Node node;
  ::blake3_chunk(nullptr, reinterpret_cast<uintptr_t>(chunk.data()), uint32_t(chunk.size()), number,
                 key.data(), flags, &node);
  uint32_t chain[8];
  ::blake3_chain(&node, chain);
  std::memcpy(value.data(), chain, sizeof chain);
}

void blake3_node(std::span<const uint32_t, 8> key, uint32_t flags,
                 std::span<const uint8_t, 64> both, std::span<uint8_t, 32> value) {
  Blake3Node node;
  node_of(key, flags, both, &node);
  uint32_t chain[8];
  ::blake3_chain(&node, chain);
  std::memcpy(value.data(), chain, sizeof chain);
}

void blake3_root(std::span<const uint32_t, 8> key, uint32_t flags,
                 std::span<const uint8_t, 64> both, std::span<uint8_t> digest) {
  Blake3Node node;
  node_of(key, flags, both, &node);
  ::blake3_output(&node, digest.data(), digest.size(), 0, 1);
}

namespace {

// `Encoded` is a number as big-endian bytes without leading zeros, as left_encode and right_encode
// need it (SP 800-185, section 2.3.1).
struct Encoded {
  uint8_t bytes[9];
  size_t count = 0;
};

Encoded big_endian(uint64_t number) {
  Encoded made;
  made.count = number == 0 ? 1 : (std::bit_width(number) + 7) / 8;
  for (size_t n = 0; n < made.count; ++n)
    made.bytes[n] = uint8_t(number >> (8 * (made.count - 1 - n)));
  return made;
}

}  // namespace

ParallelSponge::ParallelSponge(uint32_t rate_bytes, std::span<const uint8_t> customization)
    : rate_bytes_(rate_bytes) {
  static constexpr std::string_view kName = "ParallelHash";
  absorb_left_encoded(rate_bytes);
  absorb_string({reinterpret_cast<const uint8_t *>(kName.data()), kName.size()});
  absorb_string(customization);
  if (at_ != 0) permute();  // bytepad (SP 800-185, section 2.3.3)
}

void ParallelSponge::permute() {
  keccak_f1600(state_);
  at_ = 0;
}

void ParallelSponge::absorb(std::span<const uint8_t> bytes) {
  for (const uint8_t byte : bytes) {
    state_[at_ / 8] ^= uint64_t{byte} << (8 * (at_ % 8));
    if (++at_ == rate_bytes_) permute();
  }
}

void ParallelSponge::absorb_left_encoded(uint64_t number) {
  const Encoded encoded = big_endian(number);
  const auto count = uint8_t(encoded.count);
  absorb({&count, 1});
  absorb({encoded.bytes, encoded.count});
}

void ParallelSponge::absorb_right_encoded(uint64_t number) {
  const Encoded encoded = big_endian(number);
  const auto count = uint8_t(encoded.count);
  absorb({encoded.bytes, encoded.count});
  absorb({&count, 1});
}

// Absorbs encode_string(bytes) (SP 800-185, section 2.3.2).
void ParallelSponge::absorb_string(std::span<const uint8_t> bytes) {
  absorb_left_encoded(8 * bytes.size());
  absorb(bytes);
}

void ParallelSponge::squeeze(std::span<uint8_t> to) {
  constexpr uint64_t kPad = 0x04, kLastBit = 0x80;
  state_[at_ / 8] ^= kPad << (8 * (at_ % 8));
  state_[rate_bytes_ / 8 - 1] ^= kLastBit << 56;
  permute();
  for (uint8_t &byte : to) {
    if (at_ == rate_bytes_) permute();
    byte = uint8_t(state_[at_ / 8] >> (8 * (at_ % 8)));
    ++at_;
  }
}

}  // namespace lanecrypt::cpu
