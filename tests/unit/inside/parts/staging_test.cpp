// Staging: how the small inputs of a launch are copied to the device. Runs on the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include "launch/staging.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/support/forwarding_device.h"

namespace lanecrypt::runtime {
namespace {

using Bytes = std::vector<uint8_t>;

// A stream that counts calls. It copies directly, because the emulator's memory is host memory.
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
  Status zero(const device::Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    ++zeros;
    memset(reinterpret_cast<void *>(buffer.address() + offset), 0, bytes);
    return Status();
  }
  Status launch(const device::Launch &) override { return other(); }
  Status mark(device::Event &) override { return other(); }
  Status await(device::Event &) override { return other(); }
  Status finish() override { return other(); }

  int uploads = 0, zeros = 0;

 private:
  static Status other() { return Status(LC_ERROR_INTERNAL, "nothing else is called"); }
};

// The emulator, which reports flat addresses or not. Its memory is zeroed, so that no earlier
// contents remain.
class FlatOrNot : public test::ForwardingDevice {
 public:
  FlatOrNot(std::shared_ptr<Device> inner, bool is_flat) : ForwardingDevice(std::move(inner)) {
    properties_.flat_addresses = is_flat;
  }
  Result<std::unique_ptr<device::Buffer>> allocate(device::MemoryKind kind,
                                                   uint64_t bytes) override {
    Result<std::unique_ptr<device::Buffer>> made = inner().allocate(kind, bytes);
    if (made.ok()) memset(reinterpret_cast<void *>((*made)->address()), 0, bytes);
    return made;
  }
};

class Stagings : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<device::Device>> made =
        device::find_host().front().open(device::KernelSet::kCiphers);
    ASSERT_TRUE(made.ok());
    device_ = std::move(*made);
  }
  static Bytes beginning_of(const device::Buffer &buffer, uint64_t bytes) {
    const auto *memory = reinterpret_cast<const uint8_t *>(buffer.address());
    return Bytes(memory, memory + bytes);
  }
  static Bytes on_device(const device::Buffer &view) { return beginning_of(view, view.bytes()); }

  std::shared_ptr<device::Device> device_;
  CountedStream stream_;
  StagedMemory memory_;
};

TEST_F(Stagings, EachThingHasItsPlaceAfterOneCopy) {
  // The second list is longer than the memory of the first, and the third is short again.
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
    // The last item is longer, which moves the end of its region.
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
  FlatOrNot device(device_, true);
  std::unique_ptr<device::Buffer> a, b, c, d;
  const auto run = [&](bool is_longer) {
    const Bytes longer(is_longer ? 100000 : 1, 0x55);
    Staging staging(device);
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

// If all items share one buffer, and if each has its own.
TEST_F(Stagings, SecretsAreZeroedOnTheDevice) {
  const Bytes open(100, 0x55), secret(100, 0xaa), wiped(100, 0);
  for (const bool is_flat : {true, false}) {
    FlatOrNot device(device_, is_flat);
    std::unique_ptr<device::Buffer> a, b, c, d, made, none;
    for (const uint64_t reserved : {uint64_t{300}, uint64_t{70000}, uint64_t{300}}) {
      Staging staging(device);
      staging.add(a, secret, true);
      staging.add(b, open);
      staging.reserve(made, reserved);
      staging.reserve(none, 0);
      staging.add(c, secret, true);
      staging.add(d, open);
      ASSERT_TRUE(staging.run(stream_, memory_).ok());
      EXPECT_EQ(nullptr, none);
      ASSERT_LE(reserved, made->bytes());
      memset(reinterpret_cast<void *>(made->address()), 0xaa, reserved);
      for (auto *view : {&a, &c}) EXPECT_EQ(secret, beginning_of(**view, 100));
      stream_.zeros = 0;
      ASSERT_TRUE(memory_.zero_secrets(stream_).ok());
      EXPECT_EQ(is_flat ? 1 : 3, stream_.zeros);
      for (auto *view : {&a, &c}) EXPECT_EQ(wiped, beginning_of(**view, 100));
      for (auto *view : {&b, &d}) EXPECT_EQ(open, beginning_of(**view, 100));
      EXPECT_EQ(Bytes(reserved, 0), beginning_of(*made, reserved));
    }
  }
}

TEST_F(Stagings, WithoutSecretsNothingIsZeroed) {
  std::unique_ptr<device::Buffer> a;
  const Bytes secret(100, 0xaa), open(100, 0x55);
  for (const bool is_secret : {true, false}) {
    Staging staging(*device_);
    staging.add(a, is_secret ? secret : open, is_secret);
    ASSERT_TRUE(staging.run(stream_, memory_).ok());
    stream_.zeros = 0;
    ASSERT_TRUE(memory_.zero_secrets(stream_).ok());
    EXPECT_EQ(is_secret ? 1 : 0, stream_.zeros);
  }
  EXPECT_EQ(open, on_device(*a));
}

}  // namespace
}  // namespace lanecrypt::runtime
