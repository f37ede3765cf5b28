// How the small things of a launch come to the device.
//
// SPDX-License-Identifier: Apache-2.0
#include "schedule/staging.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lanecrypt::schedule {
namespace {

using Bytes = std::vector<uint8_t>;

// Of the emulator, whose memory is the host's.
class CountedStream : public device::Stream {
 public:
  Status upload(const device::Buffer &to, uint64_t offset, const void *from,
                uint64_t bytes) override {
    ++uploads;
    memcpy(reinterpret_cast<void *>(to.address() + offset), from, bytes);
    return Status();
  }
  Status download(void *, const device::Buffer &, uint64_t, uint64_t) override { return other(); }
  Status copy(const device::Buffer &, uint64_t, const device::Buffer &, uint64_t,
              uint64_t) override {
    return other();
  }
  Status zero(const device::Buffer &, uint64_t, uint64_t) override { return other(); }
  Status launch(const device::Launch &) override { return other(); }
  Status mark(device::Event &) override { return other(); }
  Status await(device::Event &) override { return other(); }
  Status finish() override { return other(); }

  int uploads = 0;

 private:
  static Status other() { return Status(LC_ERROR_INTERNAL, "only uploads are made"); }
};

class Stagings : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<device::Device>> made =
        device::find_host().front().open(device::KernelSet::kCiphers);
    ASSERT_TRUE(made.ok());
    device_ = std::move(*made);
  }
  static Bytes on_device(const device::Buffer &view) {
    const auto *memory = reinterpret_cast<const uint8_t *>(view.address());
    return Bytes(memory, memory + view.bytes());
  }

  std::unique_ptr<device::Device> device_;
  CountedStream stream_;
  StagedMemory memory_;
};

TEST_F(Stagings, EachThingHasItsPlaceAfterOneCopy) {
  // The second list is longer than the memory of the first, the third is short again.
  for (const size_t bytes : {size_t{1}, size_t{7000}, size_t{17}}) {
    const Bytes one(bytes, 1), two(300, 2), three(5, 3);
    const std::vector<uint64_t> words(9, 0x0404040404040404);
    const Bytes nothing;
    std::unique_ptr<device::Buffer> one_there, two_there, none_there, words_there, three_there;
    Staging staging(*device_);
    staging.add(one_there, one);
    staging.add(two_there, two);
    staging.add(none_there, nothing);
    staging.add(words_there, words);
    staging.add(three_there, three);
    stream_.uploads = 0;
    ASSERT_TRUE(staging.run(stream_, memory_).ok());
    EXPECT_EQ(1, stream_.uploads);
    EXPECT_EQ(nullptr, none_there);
    EXPECT_EQ(one, on_device(*one_there));
    EXPECT_EQ(two, on_device(*two_there));
    EXPECT_EQ(Bytes(words.size() * 8, 4), on_device(*words_there));
    EXPECT_EQ(three, on_device(*three_there));
    for (const auto *view : {&one_there, &two_there, &words_there, &three_there})
      EXPECT_EQ(0u, ((*view)->address() - memory_.device->address()) % 256);
  }
}

TEST_F(Stagings, PlacesThatAreAlikeKeepTheirViews) {
  const Bytes one(100, 1);
  std::unique_ptr<device::Buffer> there;
  const device::Buffer *first = nullptr;
  for (int n = 0; n < 3; ++n) {
    // Longer at last, which changes its place's end.
    const Bytes now(n < 2 ? 100 : 101, static_cast<uint8_t>(n));
    Staging staging(*device_);
    staging.add(there, now);
    ASSERT_TRUE(staging.run(stream_, memory_).ok());
    EXPECT_EQ(now, on_device(*there));
    if (n == 0) first = there.get();
    if (n == 1) {
      EXPECT_EQ(first, there.get());
    }
  }
  EXPECT_EQ(101u, there->bytes());
}

TEST_F(Stagings, SecretsAreWiped) {
  const Bytes open(100, 0x55), secret(100, 0xaa);
  std::unique_ptr<device::Buffer> a, b, c, d;
  const auto run = [&](bool is_longer) {
    const Bytes longer(is_longer ? 100000 : 1, 0x55);
    Staging staging(*device_);
    staging.add(a, open);
    staging.add(b, secret, true);
    staging.add(c, longer);
    staging.add(d, secret.size(), true,
                [&](uint8_t *place) { std::copy(secret.begin(), secret.end(), place); });
    ASSERT_TRUE(staging.run(stream_, memory_).ok());
  };
  const auto count = [&](uint8_t value) {
    const uint8_t *host = memory_.host->host();
    return std::count(host, host + d->address() - memory_.device->address() + 100, value);
  };
  for (const bool is_longer : {false, true, false}) {
    run(is_longer);
    EXPECT_EQ(200, count(0xaa));
    memory_.wipe_secrets();
    EXPECT_EQ(0, count(0xaa));
    EXPECT_LE(101, count(0x55));
  }
}

}  // namespace
}  // namespace lanecrypt::schedule
