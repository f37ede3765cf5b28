// SPDX-License-Identifier: Apache-2.0
#include "cpu/ml_dsa/host_ml_dsa.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/ml_dsa/ml_dsa.h"
#include "secure/key_memory.h"

namespace lanecrypt::cpu {
namespace {

#define LC_SET(name, k, l, eta, tau, gamma1, gamma2, omega, hash) \
  case LC_ML_DSA_##name:                                          \
    return {k, l, eta, tau, gamma1, gamma2, omega, hash};
MlDsaSet set_of(lc_ml_dsa_set number) {
  switch (number) {
    ML_DSA_SET_44(LC_SET)
    ML_DSA_SET_65(LC_SET)
    ML_DSA_SET_87(LC_SET)
  }
  return {};
}
#undef LC_SET

// What a thread block of the kernels has of shared memory, and the data in the layout that these
// expect.
class Workspace {
 public:
  explicit Workspace(const MlDsaSizes &sizes)
      : set(set_of(sizes.set)),
        memory_(4 * (key_words() + signature_words() + expanded_words() + shared_words_of())) {}
  bool ok() const {
    return memory_.ok(4 * (key_words() + signature_words() + expanded_words() + shared_words_of()));
  }
  u32 *key() { return reinterpret_cast<u32 *>(memory_.data()); }
  u8 *key_bytes() { return memory_.data(); }
  u8 *signature() { return reinterpret_cast<u8 *>(key() + key_words()); }
  u32 *expanded() { return key() + key_words() + signature_words(); }
  MlDsaSharedMemory memory() { return ml_dsa_shared_memory(expanded() + expanded_words(), set); }

  const MlDsaSet set;

 private:
  size_t key_words() const { return ML_DSA_KEY_STRIDE(set) / 4; }
  size_t signature_words() const { return ML_DSA_SIGNATURE_STRIDE(set) / 4; }
  size_t expanded_words() const { return size_t{ML_DSA_KEY_POLYS(set)} * ML_DSA_POLY; }
  size_t shared_words_of() const { return ML_DSA_SHARED_WORDS(set); }

  secure::KeyMemory memory_;
};

Status no_memory() { return Status(LC_ERROR_MEMORY, "no memory for an operation of ML-DSA"); }

// SHAKE256 of several concatenated parts.
class Shake256 {
 public:
  void take(Bytes bytes) {
    for (const uint8_t byte : bytes) {
      state_[at_ / 8] ^= uint64_t{byte} << (at_ % 8 * 8);
      if (++at_ == kBlock) permute();
    }
  }
  // Writes the output, at most one block.
  void give(std::span<uint8_t> to) {
    state_[at_ / 8] ^= uint64_t{ML_DSA_SHAKE_END} << (at_ % 8 * 8);
    state_[kBlock / 8 - 1] ^= ML_DSA_LAST_BIT;
    permute();
    for (size_t n = 0; n < to.size(); ++n) to[n] = uint8_t(state_[n / 8] >> (n % 8 * 8));
  }

 private:
  static constexpr size_t kBlock = 8 * ML_DSA_SHAKE256_WORDS;
  void permute() {
    keccak_f1600(state_);
    at_ = 0;
  }

  u64 state_[25] = {};
  size_t at_ = 0;
};

MlDsaPiece piece_of(Bytes mu, Bytes random) {
  MlDsaPiece piece = {};
  std::memcpy(piece.mu, mu.data(), sizeof piece.mu);
  if (!random.empty()) std::memcpy(piece.random, random.data(), sizeof piece.random);
  return piece;
}

// Computes t0, t1 and tr of a key whose other parts are set.
void finish_key(Workspace &workspace) {
  ml_dsa_expand_key(workspace.expanded(), workspace.key(), ML_DSA_EXPAND_A | ML_DSA_EXPAND_S,
                    workspace.memory(), workspace.set);
  ml_dsa_finish_key(workspace.key(), workspace.expanded(), workspace.memory(), workspace.set);
  ml_dsa_hash_key(workspace.key(), workspace.memory(), workspace.set);
}

// Returns whether the coefficients of s1 and s2 are from -eta to eta.
bool has_small_secrets(Workspace &workspace, const u32 *private_key) {
  const MlDsaSet &set = workspace.set;
  const MlDsaSharedMemory memory = workspace.memory();
  ml_dsa_unpack(memory.first, private_key + ML_DSA_S1_AT / 4, set.l, ML_DSA_S_BITS(set),
                ML_DSA_FROM_TOP, set.eta, 0);
  ml_dsa_unpack(memory.second, private_key + ML_DSA_S2_AT(set) / 4, set.k, ML_DSA_S_BITS(set),
                ML_DSA_FROM_TOP, set.eta, 0);
  return ml_dsa_fits(memory.first, set.l, set.eta + 1, 1, memory.flag) &&
         ml_dsa_fits(memory.second, set.k, set.eta + 1, 1, memory.flag);
}

}  // namespace

Status host_ml_dsa_key(const MlDsaSizes &sizes, Bytes seed, std::span<uint8_t> whole) {
  Workspace workspace(sizes);
  if (!workspace.ok()) return no_memory();
  u32 *const xi = workspace.memory().drawn;
  std::memcpy(xi, seed.data(), kMlDsaSeedBytes);
  ml_dsa_draw_key(workspace.key(), xi, workspace.memory(), workspace.set);
  finish_key(workspace);
  std::memcpy(whole.data(), workspace.key_bytes(), whole.size());
  return Status();
}

Status host_ml_dsa_public(const MlDsaSizes &sizes, std::span<uint8_t> whole) {
  Workspace workspace(sizes);
  if (!workspace.ok()) return no_memory();
  u8 *const private_key = workspace.key_bytes() + sizes.public_bytes;
  std::memcpy(private_key, &whole[sizes.public_bytes], sizes.private_bytes);
  std::memcpy(workspace.key_bytes(), private_key, 32);  // rho
  const bool is_small = has_small_secrets(workspace, workspace.key() + sizes.public_bytes / 4);
  finish_key(workspace);
  uint8_t differs = is_small ? 0 : 1;
  for (size_t n = 0; n < sizes.private_bytes; ++n)
    differs |= private_key[n] ^ whole[sizes.public_bytes + n];
  if (differs != 0)
    return Status(LC_ERROR_ARGUMENT, "the parts of the private key do not belong together");
  std::memcpy(whole.data(), workspace.key_bytes(), sizes.public_bytes);
  return Status();
}

Status host_ml_dsa_sign(const MlDsaSizes &sizes, Bytes whole, Bytes mu, Bytes random,
                        std::span<uint8_t> signature) {
  Workspace workspace(sizes);
  if (!workspace.ok()) return no_memory();
  std::memcpy(workspace.key_bytes(), whole.data(), whole.size());
  ml_dsa_expand_key(workspace.expanded(), workspace.key(),
                    ML_DSA_EXPAND_A | ML_DSA_EXPAND_S | ML_DSA_EXPAND_T0, workspace.memory(),
                    workspace.set);
  MlDsaPiece piece = piece_of(mu, random);
  const bool made = ml_dsa_sign(workspace.signature(), &piece, workspace.key(),
                                workspace.expanded(), workspace.memory(), workspace.set) != 0;
  secure::wipe(&piece, sizeof piece);
  if (!made) return Status(LC_ERROR_INTERNAL, "too many attempts at a signature were refused");
  std::memcpy(signature.data(), workspace.signature(), sizes.signature_bytes);
  return Status();
}

Result<uint8_t> host_ml_dsa_verify(const MlDsaSizes &sizes, Bytes public_key, Bytes mu,
                                   Bytes signature) {
  Workspace workspace(sizes);
  if (!workspace.ok()) return no_memory();
  std::memcpy(workspace.key_bytes(), public_key.data(), sizes.public_bytes);
  std::memcpy(workspace.signature(), signature.data(), sizes.signature_bytes);
  ml_dsa_expand_key(workspace.expanded(), workspace.key(), ML_DSA_EXPAND_A | ML_DSA_EXPAND_T1,
                    workspace.memory(), workspace.set);
  const MlDsaPiece piece = piece_of(mu, {});
  return uint8_t(ml_dsa_verify(workspace.signature(), &piece, workspace.expanded(),
                               workspace.memory(), workspace.set));
}

void ml_dsa_tr(Bytes public_key, std::span<uint8_t> tr) {
  Shake256 hash;
  hash.take(public_key);
  hash.give(tr);
}

void ml_dsa_mu(lc_message_encoding encoding, Bytes tr, Bytes context, Bytes message,
               std::span<uint8_t> mu) {
  if (encoding == LC_MESSAGE_MU) {
    std::memcpy(mu.data(), message.data(), kMlDsaMuBytes);
    return;
  }
  Shake256 hash;
  hash.take(tr);
  if (encoding == LC_MESSAGE_PURE) {
    const uint8_t begin[] = {0, uint8_t(context.size())};
    hash.take(begin);
    hash.take(context);
  }
  hash.take(message);
  hash.give(mu);
}

}  // namespace lanecrypt::cpu
