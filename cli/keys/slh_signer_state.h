// What a signer keeps beside a key of SLH-DSA whose set is a draft's (SP 800-230): the upper levels
// of its tree, so that a signature need not grow them, and how many signatures it has made, of
// which it may make 2^24 only.
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

// It lies in FILE, and the count in FILE.count too, each with an HMAC under a key that the private
// key gives: nobody else can make one, and no other key takes it. FILE.lock keeps other runs out
// while this one lives. So an older FILE is refused where FILE.count is newer; that both are
// older, or that the key signed elsewhere, cannot be told; so others may not take files away from
// the folder.
class SignerState {
 public:
  // Throws Failure if no new one may lie there: if there is one of any key, or if others can take
  // files away from the folder.
  static void check_place(const std::string &path);
  // Writes that of a new key. Throws Failure, also where check_place() does. tree: as
  // lc_slh_dsa_generation.trees has it.
  static void make(const std::string &path, const SlhKeyFile &key, std::span<const uint8_t> tree);
  // Reads it, for its only user until this goes. Throws Failure, also if others can take files away
  // from the folder. Whether the tree is the key's is not tested, but that who has the key wrote
  // it.
  SignerState(std::string path, const SlhKeyFile &key);
  SignerState(const SignerState &) = delete;
  ~SignerState();

  const std::vector<uint8_t> &tree() const { return tree_; }
  uint64_t count() const { return count_; }
  // Counts signatures that are about to be made. When this returns, the count will survive a loss
  // of power. Throws Failure, and counts none, if the key may not make so many.
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
