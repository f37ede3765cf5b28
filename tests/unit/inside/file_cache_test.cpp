// Cached files are read only if no other user can have written them. No device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "cache/file_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.h"

namespace {

using namespace lanecrypt;
namespace fs = std::filesystem;

class Kept : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", home_.path().c_str(), 1);
    cache::store("kept", "key", "content");
    for (const auto &entry : fs::directory_iterator(folder())) file_ = entry.path();
    ASSERT_EQ("content", cache::load("kept", "key"));
  }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  std::string folder() const { return home_.path() + "/lanecrypt/kept"; }
  static bool is_read() { return cache::load("kept", "key").has_value(); }

  const test::TemporaryFolder home_;
  fs::path file_;
};

TEST_F(Kept, ForItsOwnUserAlone) {
  struct stat info = {};
  ASSERT_EQ(0, stat(file_.c_str(), &info));
  EXPECT_EQ(mode_t{0600}, info.st_mode & 0777);
  ASSERT_EQ(0, stat(folder().c_str(), &info));
  EXPECT_EQ(mode_t{0700}, info.st_mode & 0777);
}

TEST_F(Kept, IsNotReadWhereOthersCanWrite) {
  for (const mode_t mode : {0620, 0602}) {
    ASSERT_EQ(0, chmod(file_.c_str(), mode));
    EXPECT_FALSE(is_read()) << mode;
  }
  ASSERT_EQ(0, chmod(file_.c_str(), 0600));
  for (const mode_t mode : {0720, 0702}) {
    ASSERT_EQ(0, chmod(folder().c_str(), mode));
    EXPECT_FALSE(is_read()) << mode;
  }
  ASSERT_EQ(0, chmod(folder().c_str(), 0700));
  EXPECT_TRUE(is_read());
}

TEST_F(Kept, IsNotReadFromAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(0, chown(file_.c_str(), kNobody, kNobody));
  EXPECT_FALSE(is_read());
  ASSERT_EQ(0, chown(file_.c_str(), 0, 0));
  EXPECT_TRUE(is_read());
  ASSERT_EQ(0, chown(folder().c_str(), kNobody, kNobody));
  EXPECT_FALSE(is_read());
}

TEST_F(Kept, IsNotReadThroughALink) {
  const fs::path moved = home_.path() + "/moved";
  fs::rename(file_, moved);
  fs::create_symlink(moved, file_);
  EXPECT_FALSE(is_read());
  fs::remove(file_);
  fs::rename(moved, file_);
  EXPECT_TRUE(is_read());
  fs::rename(folder(), moved);
  fs::create_directory_symlink(moved, folder());
  EXPECT_FALSE(is_read());
}

// A user that can write to a folder above could put another folder of this user there, with files
// that this user has unpacked from an archive.
TEST_F(Kept, IsNotReadWhereOthersCanExchangeItsFolder) {
  const std::string above = home_.path() + "/lanecrypt";
  for (const std::string &open : {above, home_.path()}) {
    for (const mode_t mode : {0720, 0702}) {
      ASSERT_EQ(0, chmod(open.c_str(), mode));
      EXPECT_FALSE(is_read()) << open << mode;
    }
    ASSERT_EQ(0, chmod(open.c_str(), 0700));
    EXPECT_TRUE(is_read()) << open;
  }
  // In a sticky folder like /tmp other users cannot replace this user's files.
  ASSERT_EQ(0, chmod(home_.path().c_str(), 01777));
  EXPECT_TRUE(is_read());
  if (geteuid() != 0) return;  // only root can give a folder away
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(0, chown(above.c_str(), kNobody, kNobody));
  EXPECT_FALSE(is_read());
}

// Cases: root with another user's HOME, and a symbolic link that another user has made.
TEST_F(Kept, MakesNothingWhereOthersCanExchangeIt) {
  const std::string other = home_.path() + "/other", target = home_.path() + "/target";
  ASSERT_EQ(0, mkdir(other.c_str(), 0777));
  ASSERT_EQ(0, chmod(other.c_str(), 0777));
  ASSERT_EQ(0, mkdir(target.c_str(), 0700));
  setenv("XDG_CACHE_HOME", other.c_str(), 1);
  cache::store("kept", "key", "content");
  EXPECT_TRUE(fs::is_empty(other));
  fs::create_directory_symlink(target, other + "/lanecrypt");
  cache::store("kept", "key", "content");
  EXPECT_TRUE(fs::is_empty(target));
  if (geteuid() != 0) return;  // only root can give a folder away
  fs::remove(other + "/lanecrypt");
  ASSERT_EQ(0, chmod(other.c_str(), 0755));
  ASSERT_EQ(0, chown(other.c_str(), 65534, 65534));
  cache::store("kept", "key", "content");
  EXPECT_TRUE(fs::is_empty(other));
}

// Half of the temporary names that a store may use are in use, as if killed processes with this PID
// had left them.
TEST_F(Kept, ThoughKilledProcessesLeftFiles) {
  constexpr int kNames = 1000, kInTurn = 10;
  for (int number = 0; number < kNames; ++number)
    if (number / kInTurn % 2 == 0)
      std::ofstream(file_.string() + "." + std::to_string(getpid()) + "." + std::to_string(number) +
                    ".tmp");
  for (int time = 0; time < 2 * kInTurn; ++time) {
    const std::string content = "content " + std::to_string(time);
    cache::store("kept", "key", content);
    EXPECT_EQ(content, cache::load("kept", "key"));
  }
}

// Users such as `nobody` have the home /nonexistent. If the home exists, missing folders in it are
// created.
TEST_F(Kept, MakesNoHome) {
  unsetenv("XDG_CACHE_HOME");
  const std::string before = getenv("HOME") == nullptr ? "" : getenv("HOME");
  const std::string home = home_.path() + "/home";
  for (const std::string &named : {home, home + "/"}) {
    setenv("HOME", named.c_str(), 1);
    cache::store("kept", "key", "content");
    EXPECT_FALSE(fs::exists(home)) << named;
    fs::create_directory(home);
    cache::store("kept", "key", "content");
    EXPECT_TRUE(is_read()) << named;
    fs::remove_all(home);
  }
  setenv("HOME", before.c_str(), 1);
}

}  // namespace
