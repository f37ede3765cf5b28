// What is kept on disk is read only where nobody else can have written it.
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

// Half of the names that a store may take are taken, as by processes of this number that were
// killed before.
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

// Of users such as nobody, whose home is /nonexistent. A home that is there gets what it lacks.
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
