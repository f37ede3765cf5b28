// Several cores encrypt a mapped file, and report if it becomes shorter. No device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/cores_engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

constexpr size_t kBytes = 64 << 10;

class CoresEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/lanecrypt-cores-XXXXXX";
    const int file = mkstemp(name.data());
    ASSERT_GE(file, 0);
    close(file);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << std::string(kBytes, 'x');
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // The chunk is the whole file, at the address where it is mapped.
  void run(const Input &input, bool encrypt, std::vector<uint8_t> &out) {
    CoresEngine engine(cipher_, encrypt, key_, input);
    Chunk chunk;
    chunk.in = input.pages(0);
    chunk.out = out.data();
    chunk.work_bytes = kBytes;
    bool is_done = false;
    engine.start(chunk, [&](std::exception_ptr failure) { is_done = failure == nullptr; });
    EXPECT_TRUE(is_done);
  }

  std::string path_;
  const BlockCipherMode cipher_ = *find_cipher("aes-256-ctr");
  const SecretBytes key_ = SecretBytes(cipher_.key_bytes);
};

TEST_F(CoresEngineTest, OpensWhatItSealed) {
  std::vector<uint8_t> sealed(kBytes), opened(kBytes);
  {
    Input input(path_);
    ASSERT_TRUE(input.map());
    run(input, true, sealed);
  }
  EXPECT_NE(sealed, std::vector<uint8_t>(kBytes, 'x'));
  std::ofstream(path_, std::ios::binary)
      .write(reinterpret_cast<const char *>(sealed.data()), kBytes);
  Input input(path_);
  ASSERT_TRUE(input.map());
  run(input, false, opened);
  EXPECT_EQ(opened, std::vector<uint8_t>(kBytes, 'x'));
}

TEST_F(CoresEngineTest, AFileThatBecomesShorterIsAnError) {
  Input input(path_);
  ASSERT_TRUE(input.map());
  ASSERT_EQ(truncate(path_.c_str(), 4096), 0);
  std::vector<uint8_t> out(kBytes);
  // Twice, because the engine must still work after an error.
  for (int n = 0; n < 2; ++n) try {
      run(input, true, out);
      ADD_FAILURE() << "there is nothing to read";
    } catch (const Failure &failure) {
      EXPECT_NE(std::string(failure.what()).find("became shorter"), std::string::npos);
    }
}

}  // namespace
}  // namespace lanecrypt::cli
