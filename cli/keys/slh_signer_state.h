// The state of a signer with an SLH-DSA key of a draft parameter set (SP 800-230): the upper levels
// of its tree, so that a signature need not compute them, and the number of signatures made, which
// must not exceed 2^24.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/io/file_descriptor.h"
#include "cli/keys/slh_key_file.h"

namespace lanecrypt::cli {

inline constexpr uint64_t kMostDraftSignatures = uint64_t{1} << 24;

// The state is in FILE, and its count also in FILE.count, each with an HMAC under a key derived
// from the private key: nobody else can create a state, and no other key accepts it. FILE.lock
// keeps other runs out while a SignerState exists. An old FILE is refused if FILE.count is newer.
// The class cannot detect that both files are old, or that the key signed elsewhere. So others must
// not be able to remove files from the folder.
class SignerState {
 public:
  // Throws Failure if no new state may be created at `path`: if there is one already, for any key,
  // or if others can remove files from the folder.
  static void check_place(const std::string &path);
  // Writes the state of a new key. `tree` is as in lc_slh_dsa_generation.trees. Throws Failure,
  // also in the cases of check_place().
  static void make(const std::string &path, const SlhKeyFile &key, std::span<const uint8_t> tree);
  // Reads the state and locks it until the destructor. Throws Failure, also if others can remove
  // files from the folder. The HMAC shows that the holder of the key wrote the tree; whether the
  // tree is correct is not checked.
  SignerState(std::string path, const SlhKeyFile &key);
  SignerState(const SignerState &) = delete;
  ~SignerState();

  const std::vector<uint8_t> &tree() const { return tree_; }
  uint64_t count() const { return count_; }
  // Adds the number of signatures that are about to be made to the count. When this returns, the
  // count survives a loss of power. Throws Failure, and adds nothing, if the key may not make that
  // many.
  void add(uint64_t signatures);

 private:
  SignerState(std::string path, const SlhKeyFile &key, std::span<const uint8_t> tree);
  void lock();
  void read();
  void write() const;
  std::vector<uint8_t> head_of(std::string_view what, uint64_t count) const;
  uint64_t open_sealed(const std::string &path, std::string_view what, std::vector<uint8_t> bytes,
                       size_t rest, std::vector<uint8_t> *to) const;

  const std::string path_;
  const lc_slh_dsa_set set_;
  std::vector<uint8_t> public_key_, mac_key_, tree_;
  uint64_t count_ = 0;
  FileDescriptor lock_;
};

}  // namespace lanecrypt::cli
