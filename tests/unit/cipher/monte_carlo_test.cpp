// AESAVS's Monte Carlo tests, on every device: 100 times 1,000 blocks. Each block's output is the
// input of the next, so each block is a job. The chains of a file run concurrently, each in a
// thread, so that their jobs meet in the device's queue.
//
// LANECRYPT_TEST_EVERY_ANSWER  1: checks all answers on emulated devices too, not only the first
// ones. A GPU always computes all of them.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>

#include "unit/support/devices.h"
#include "unit/support/vector_file.h"

namespace lanecrypt::test {
namespace {

// Returns how many answers of each chain a device computes. A launch costs much more on a CPU:
// there OpenCL and OpenGL compute the first answer, and the emulator two. The key, IV and text of
// each answer follow from the answer before.
uint64_t answers_of(const DeviceCase &device) {
  const char *value = std::getenv("LANECRYPT_TEST_EVERY_ANSWER");
  if (device.is_gpu || (value && std::string_view(value) == "1")) return 100;
  return device.id.starts_with("host:") ? 2 : 1;
}

class Chain {
 public:
  explicit Chain(const VectorChain &vector)
      : vector_(vector), key_(vector.key), iv_(vector.iv), text_(vector.text) {}

  // Does 1,000 blocks. Returns what went wrong, or "".
  std::string round(lc_context *context) {
    Bytes chain = iv_, before = iv_, last = iv_, answer(16);
    for (int n = 0; n < 1000; n++) {
      std::string error = block(context, chain, text_, answer);
      if (!error.empty()) return error;
      if (vector_.cipher.mode == LC_AES_CBC) {
        chain = vector_.direction == LC_ENCRYPT ? answer : text_;
        text_ = last;  // the IV at first, later the answer before this one
      } else {
        text_ = answer;
      }
      before = last;
      last = answer;
    }
    if (last != vector_.answers[rounds_]) return "wrong answer";
    if (vector_.cipher.mode == LC_AES_CBC) {
      iv_ = last;
      text_ = before;
    }
    Bytes both = before;
    both.insert(both.end(), last.begin(), last.end());
    std::transform(key_.begin(), key_.end(), both.end() - key_.size(), key_.begin(),
                   [](uint8_t a, uint8_t b) -> uint8_t { return a ^ b; });
    rounds_++;
    return "";
  }

  std::string name() const { return vector_.name + ", answer " + std::to_string(rounds_); }
  uint64_t rounds() const { return rounds_; }

 private:
  std::string block(lc_context *context, const Bytes &chain, const Bytes &in, Bytes &out) {
    const lc_message message = plain_message(key_.data(), chain.empty() ? nullptr : chain.data(),
                                             in.data(), out.data(), 16);
    lc_cipher_job job{};
    job.struct_size = sizeof job;
    job.cipher = vector_.cipher.mode;
    job.direction = vector_.direction;
    job.key_bytes = vector_.cipher.key_bytes;
    job.device = LC_ANY_DEVICE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    return lc_run(context, &job, nullptr) == LC_OK ? "" : lc_last_error();
  }

  const VectorChain &vector_;
  Bytes key_, iv_, text_;
  uint64_t rounds_ = 0;
};

class MonteCarlo : public DeviceTest {
 protected:
  void check_file(const std::string &file_name);
};

void MonteCarlo::check_file(const std::string &file_name) {
  const VectorFile file = read_vectors(file_name);
  ASSERT_EQ(6u, file.chains.size()) << file_name << " is not whole";
  const uint64_t wanted = std::min<uint64_t>(scaled(100), answers_of(GetParam()));

  std::vector<Chain> chains;
  for (const VectorChain &vector : file.chains) {
    ASSERT_EQ(100u, vector.answers.size()) << file_name << " is not whole";
    if (!offers(vector.cipher.mode)) continue;
    chains.emplace_back(vector);
  }
  std::vector<std::thread> threads;
  std::vector<std::string> errors(chains.size());
  for (size_t n = 0; n < chains.size(); n++)
    threads.emplace_back([&, n] {
      while (errors[n].empty() && chains[n].rounds() < wanted)
        errors[n] = chains[n].round(context());
    });
  for (std::thread &thread : threads) thread.join();

  uint64_t rounds = 0;
  for (size_t n = 0; n < chains.size(); n++) {
    EXPECT_EQ("", errors[n]) << chains[n].name();
    EXPECT_EQ(wanted, chains[n].rounds()) << chains[n].name();
    rounds += chains[n].rounds();
  }
  if (!HasFailure()) expect_done(1000 * rounds, 16000 * rounds);
  std::cout << "  " << rounds << " of 600 answers checked\n";
  RecordProperty("answers", static_cast<int>(rounds));
}

TEST_P(MonteCarlo, Ecb) { check_file("aesavs_ecb_monte_carlo.txt"); }
TEST_P(MonteCarlo, Cbc) { check_file("aesavs_cbc_monte_carlo.txt"); }

INSTANTIATE_TEST_SUITE_P(, MonteCarlo, testing::ValuesIn(devices_under_test()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
