// The state file of an SLH-DSA signer with a parameter set of the draft: a count that was written
// is never lost, and no other file is accepted as state.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/slh_signer_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <vector>

#include "cli/failure.h"
#include "temporary_folder.h"

namespace lanecrypt::cli {
namespace {

using Octets = std::vector<uint8_t>;

SlhKeyFile key_from(uint8_t first, lc_slh_dsa_set set = LC_SLH_DSA_SHA2_128_24) {
  SlhKeyFile key;
  key.set = set;
  key.private_key = SecretBytes(4 * lc_slh_dsa_hash_bytes(set));
  std::iota(key.private_key.data(), key.private_key.data() + key.private_key.size(), first);
  return key;
}

class SlhSignerState : public testing::Test {
 protected:
  SlhSignerState() : tree_(lc_slh_dsa_tree_bytes(LC_SLH_DSA_SHA2_128_24), 0x5a) {}
  void make() { SignerState::make(path_, key_, tree_); }
  uint64_t count() { return SignerState(path_, key_).count(); }
  void add(uint64_t signatures) { SignerState(path_, key_).add(signatures); }
  // Returns the message of the Failure that reading the state throws, or "".
  std::string refusal(const SlhKeyFile &key) {
    try {
      const SignerState state(path_, key);
    } catch (const Failure &failure) {
      return failure.what();
    }
    return "";
  }
  std::string refusal() { return refusal(key_); }
  static Octets content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return Octets(std::istreambuf_iterator<char>(file), {});
  }
  static void write(const std::string &path, const Octets &bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
  }
  static bool says(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
  }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/state", count_path_ = path_ + ".count";
  const SlhKeyFile key_ = key_from(1);
  const Octets tree_;
};

TEST_F(SlhSignerState, CountsForGood) {
  make();
  EXPECT_EQ(0u, count());
  EXPECT_EQ(tree_, SignerState(path_, key_).tree());
  add(3);
  EXPECT_EQ(3u, count());
  {
    SignerState state(path_, key_);
    state.add(1);
    state.add(2);
    EXPECT_EQ(6u, state.count());
  }
  EXPECT_EQ(6u, count());
  EXPECT_EQ(tree_, SignerState(path_, key_).tree());
  struct stat entry {};
  ASSERT_EQ(0, stat(path_.c_str(), &entry));
  EXPECT_EQ(0600u, entry.st_mode & 0777);
}

TEST_F(SlhSignerState, EndsAtTheLastSignature) {
  make();
  EXPECT_THROW(add(kMostDraftSignatures + 1), Failure);
  EXPECT_THROW(add(UINT64_MAX), Failure);
  EXPECT_EQ(0u, count());
  add(kMostDraftSignatures - 1);
  EXPECT_THROW(add(2), Failure);
  add(1);
  EXPECT_THROW(add(1), Failure);
  EXPECT_THROW(add(UINT64_MAX), Failure);
  EXPECT_EQ(kMostDraftSignatures, count());
}

TEST_F(SlhSignerState, IsNotWrittenOver) {
  make();
  add(1);
  EXPECT_THROW(make(), Failure);
  EXPECT_THROW(SignerState::make(path_, key_from(2), tree_), Failure);
  std::filesystem::remove(path_);
  EXPECT_THROW(make(), Failure);  // its count file still exists
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_THROW(SignerState::make("-", key_, tree_), Failure);
}

TEST_F(SlhSignerState, HasOneUser) {
  make();
  const SignerState state(path_, key_);
  EXPECT_TRUE(says(refusal(), "another run"));
}

TEST_F(SlhSignerState, OfAnotherKeyOrSet) {
  make();
  EXPECT_TRUE(says(refusal(key_from(2)), "another key"));
  EXPECT_TRUE(says(refusal(key_from(1, LC_SLH_DSA_SHAKE_128_24)), "another key"));
  EXPECT_TRUE(says(refusal(key_from(1, LC_SLH_DSA_SHA2_192_24)), "length"));
  // The same public key is not enough.
  SlhKeyFile other = key_from(1);
  other.private_key.data()[0] ^= 1;
  EXPECT_TRUE(says(refusal(other), "changed"));
}

TEST_F(SlhSignerState, ThatGoesBackIsRefused) {
  make();
  const Octets first = content(path_);
  add(1);
  const Octets second = content(path_), second_count = content(count_path_);
  add(1);
  write(path_, second);
  EXPECT_TRUE(says(refusal(), "older"));
  write(path_, first);
  EXPECT_TRUE(says(refusal(), "older"));
  // As after a run that was killed between writing the two files.
  write(path_, second);
  write(count_path_, second_count);
  EXPECT_EQ(1u, count());
  add(1);
  write(count_path_, second_count);
  EXPECT_EQ(2u, count());
  std::filesystem::remove(count_path_);
  EXPECT_TRUE(says(refusal(), "missing"));
}

TEST_F(SlhSignerState, ThatWasChangedIsRefused) {
  make();
  add(1);
  for (const std::string &path : {path_, count_path_}) {
    const Octets whole = content(path);
    for (size_t at = 0; at < whole.size(); at += at < 64 || at + 64 > whole.size() ? 1 : 997) {
      Octets changed = whole;
      changed[at] ^= 1;
      write(path, changed);
      EXPECT_NE("", refusal()) << path << " " << at;
    }
    for (const size_t size : {size_t{0}, size_t{1}, whole.size() - 1, whole.size() + 1}) {
      Octets cut = whole;
      cut.resize(size);
      write(path, cut);
      EXPECT_TRUE(says(refusal(), "length")) << path << " " << size;
    }
    write(path, whole);
    EXPECT_EQ("", refusal());
  }
  // One file replaced by the other.
  write(path_, content(count_path_));
  EXPECT_NE("", refusal());
}

TEST_F(SlhSignerState, ThatOthersCanWriteIsRefused) {
  make();
  for (const mode_t mode : {0620, 0602}) {
    ASSERT_EQ(0, chmod(path_.c_str(), mode));
    EXPECT_TRUE(says(refusal(), "others can write"));
  }
  ASSERT_EQ(0, chmod(path_.c_str(), 0600));
  EXPECT_EQ("", refusal());
  std::filesystem::rename(path_, path_ + ".real");
  EXPECT_TRUE(says(refusal(), "cannot open"));
  std::filesystem::create_symlink(path_ + ".real", path_);
  EXPECT_TRUE(says(refusal(), "symbolic link"));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_TRUE(says(refusal(), "no file"));
}

TEST_F(SlhSignerState, InAFolderOfOthersIsRefused) {
  make();
  for (const mode_t mode : {0720, 0702, 0777}) {
    ASSERT_EQ(0, chmod(folder_.path().c_str(), mode));
    EXPECT_TRUE(says(refusal(), "is no folder for a signer's state"));
    EXPECT_TRUE(says(refusal(), "may write to this folder"));
    EXPECT_THROW(SignerState::make(path_ + "2", key_, tree_), Failure);
  }
  EXPECT_FALSE(std::filesystem::exists(path_ + "2.lock"));
  // In a folder like /tmp, which is sticky, no other user can remove the files.
  ASSERT_EQ(0, chmod(folder_.path().c_str(), 01777));
  EXPECT_EQ("", refusal());
  if (geteuid() != 0) return;  // only root can give a folder away
  for (const mode_t mode : {0700, 01777}) {
    ASSERT_EQ(0, chown(folder_.path().c_str(), 4711, gid_t(-1)));
    ASSERT_EQ(0, chmod(folder_.path().c_str(), mode));
    EXPECT_TRUE(says(refusal(), "it belongs to another user"));
  }
  ASSERT_EQ(0, chown(folder_.path().c_str(), 0, gid_t(-1)));
}

// A user that can write to a folder above can replace the whole folder by an older copy.
TEST_F(SlhSignerState, BelowAFolderOfOthersIsRefused) {
  const std::string folder = folder_.path() + "/folder";
  ASSERT_EQ(0, mkdir(folder.c_str(), 0700));
  SignerState::make(folder + "/state", key_, tree_);
  const auto refusal_below = [&] {
    try {
      const SignerState state(folder + "/state", key_);
      return std::string();
    } catch (const Failure &failure) {
      return std::string(failure.what());
    }
  };
  EXPECT_EQ("", refusal_below());
  ASSERT_EQ(0, chmod(folder_.path().c_str(), 0777));
  EXPECT_TRUE(says(refusal_below(), "is no folder for a signer's state"));
  ASSERT_EQ(0, chmod(folder_.path().c_str(), 01777));
  EXPECT_EQ("", refusal_below());
}

}  // namespace
}  // namespace lanecrypt::cli
