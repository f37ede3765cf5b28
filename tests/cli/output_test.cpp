// An output file appears as a whole or not at all.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/io/output.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

namespace fs = std::filesystem;

// Runs in /tmp, and on the RAM disk, where output is written in another way.
class OutputTest : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    std::string name = std::string(GetParam()) + "/lanecrypt-output-XXXXXX";
    if (!mkdtemp(name.data())) GTEST_SKIP() << "no folder in " << GetParam();
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  std::vector<uint8_t> content(const std::string &name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path(const std::string &name) const { return folder_ / name; }

  fs::path folder_;
};

TEST_P(OutputTest, AppearsWhole) {
  const std::vector<uint8_t> data(100, 7);
  Output output(path("out"), {});
  output.create();
  output.write(data);
  EXPECT_FALSE(fs::exists(path("out")));
  output.commit(true);
  EXPECT_EQ(content("out"), data);
  EXPECT_EQ(entries(), 1u);
}

TEST_P(OutputTest, LeavesNothingWithoutCommit) {
  {
    Output output(path("out"), {});
    output.create();
    output.write(std::vector<uint8_t>(100, 7));
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_P(OutputTest, KeepsTheOldFileWithoutCommit) {
  std::ofstream(path("out")) << "old";
  {
    Output output(path("out"), {});
    output.create();
    output.write(std::vector<uint8_t>(100, 7));
    output.discard();
  }
  EXPECT_EQ(content("out"), (std::vector<uint8_t>{'o', 'l', 'd'}));
  EXPECT_EQ(entries(), 1u);
}

TEST_P(OutputTest, ManyThreadsWriteAtOddPlaces) {
  constexpr size_t kPiece = 100'003, kPieces = 64, kHeader = 16;
  std::vector<uint8_t> data(kPiece * kPieces);
  for (size_t i = 0; i < data.size(); i++) data[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
  Output output(path("out"), {});
  output.create();
  output.write(std::vector<uint8_t>(kHeader, 0xaa));
  output.set_size(kHeader + data.size() + 5);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      for (size_t n = t; n < kPieces; n += 4)
        output.write_at(kHeader + n * kPiece, std::span(data).subspan(n * kPiece, kPiece));
    });
  for (std::thread &thread : threads) thread.join();
  output.set_size(kHeader + data.size());
  output.commit(false);
  const std::vector<uint8_t> written = content("out");
  ASSERT_EQ(written.size(), kHeader + data.size());
  EXPECT_TRUE(std::equal(data.begin(), data.end(), written.begin() + kHeader));
  EXPECT_EQ(written[kHeader - 1], 0xaa);
}

INSTANTIATE_TEST_SUITE_P(Folders, OutputTest, testing::Values("/tmp", "/dev/shm"),
                         [](const auto &where) {
                           return std::string(where.param) == "/tmp" ? "tmp" : "shm";
                         });

}  // namespace
}  // namespace lanecrypt::cli
