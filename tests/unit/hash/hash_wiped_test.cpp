// A hash job with a key leaves nothing secret in device memory or in pinned host memory, however it
// ended. The tests use the emulator, whose device memory they can read.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "cpu/hash/cpu_hash.h"
#include "hash/host_hashes.h"
#include "unit/support/faulty_device.h"
#include "unit/support/watched_device.h"

namespace lanecrypt::runtime {
namespace {

using test::Bytes;

class HashWiped : public testing::TestWithParam<lc_hash> {
 protected:
  void open(const std::string &faults) {
    host_.reset();
    launch_.reset();
    device_.reset();
    memory_ = test::WatchedMemory();
    Result<std::unique_ptr<device::Device>> device =
        test::with_faults(test::find_device("host:0"), faults).open(device::KernelSet::kHash);
    ASSERT_TRUE(device.ok()) << device.status().text();
    device_ = std::make_unique<test::WatchedDevice>(std::move(*device), memory_);
    launch_ = std::make_unique<HashLaunch>(*device_);
    host_ = std::make_unique<HostHashes>(*device_, *launch_, workers_,
                                         HostHashesOptions{.chunk_bytes = HashLaunch::kMostAlone});
    ASSERT_TRUE(host_->open().ok());
    device_->begin_service();
  }
  // Hashes one message that a single thread hashes, and one that is hashed as a tree.
  Status run(lc_hash hash = GetParam()) {
    std::vector<lc_hash_message> list;
    for (size_t n = 0; n < messages_.size(); ++n)
      list.push_back({messages_[n].data(), messages_[n].size(), digests_[n].data()});
    lc_hash_job given = {};
    given.struct_size = sizeof given;
    given.hash = hash;
    given.messages = list.data();
    given.message_count = list.size();
    given.message_size = sizeof(lc_hash_message);
    if (hash == LC_BLAKE3_KEYED) {
      given.key = key_.data();
      given.key_bytes = key_.size();
    }
    Result<HashJob> job = make_hash_job(&given);
    EXPECT_TRUE(job.ok());
    EXPECT_TRUE(cpu::prepare_hash(&job->spec).ok());
    return host_->run(*job).status();
  }
  // Looks for a part of the secret, and for its end too if it is long.
  bool is_there(const Bytes &secret) const {
    const auto part = ptrdiff_t(test::kWindow);
    return memory_.holds({secret.begin(), secret.begin() + part}) ||
           (secret.size() > 32 && memory_.holds({secret.end() - part, secret.end()}));
  }
  void expect_no_secrets() {
    for (const Bytes &digest : digests_) {
      if (digest == Bytes(digest.size())) continue;
      EXPECT_FALSE(is_there(digest)) << "a digest";
    }
    if (GetParam() == LC_BLAKE3_KEYED) {
      EXPECT_FALSE(is_there(key_)) << "the key";
      return;
    }
    for (const Bytes &message : messages_) EXPECT_FALSE(is_there(message)) << "the material";
  }

  static Bytes drawn(size_t bytes, uint32_t seed) {
    Bytes made(bytes);
    for (uint8_t &byte : made) byte = uint8_t((seed = seed * 1664525 + 1013904223) >> 24);
    return made;
  }
  const Bytes key_ = drawn(32, 1);
  const std::vector<Bytes> messages_ = {drawn(100, 2), drawn(200000, 3)};
  std::vector<Bytes> digests_ = {Bytes(32), Bytes(32)};
  test::WatchedMemory memory_;
  Workers workers_{2};
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<HashLaunch> launch_;
  std::unique_ptr<HostHashes> host_;
};

TEST_P(HashWiped, AfterAJob) {
  open("");
  for (int n = 0; n < 2; ++n) {
    const Status status = run();
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_NE(Bytes(32), digests_[1]);
    expect_no_secrets();
  }
  // Without a key nothing is wiped. This shows that the test can fail.
  EXPECT_TRUE(run(LC_BLAKE3).ok());
  EXPECT_TRUE(is_there(messages_[1]) && is_there(digests_[1]));
}

TEST_P(HashWiped, AfterAJobThatFails) {
  for (const char *kind : {"fail-launch:", "no-memory:", "wrong-download:"}) {
    bool struck = true;
    for (int n = 0; n < 20 && struck; ++n) {
      SCOPED_TRACE(kind + std::to_string(n));
      open(kind + std::to_string(n));
      struck = !run().ok();
      expect_no_secrets();
      host_.reset();
      launch_.reset();
      device_.reset();
      expect_no_secrets();
    }
    EXPECT_FALSE(struck) << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(Hashes, HashWiped, testing::Values(LC_BLAKE3_KEYED, LC_BLAKE3_DERIVE_KEY));

}  // namespace
}  // namespace lanecrypt::runtime
