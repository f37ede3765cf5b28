// Every device does what src/device/device.h promises.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <set>

#include "kernels/block/ciphers.h"
#include "kernels/block/layout.h"
#include "tests/device/test_devices.h"

namespace lanecrypt::device {
namespace {

constexpr auto kDevice = MemoryKind::kDevice;
constexpr auto kPinned = MemoryKind::kPinned;

// Returns bytes that depend on their position and on `salt`.
std::vector<uint8_t> pattern(size_t bytes, uint32_t salt) {
  std::vector<uint8_t> all(bytes);
  uint32_t x = salt * 2654435761u + 1;
  for (uint8_t &byte : all) {
    x = x * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(x >> 24);
  }
  return all;
}

class DeviceTest : public OnDevice {};

TEST_P(DeviceTest, SaysWhatItIs) {
  const Properties &properties = device_->properties();
  EXPECT_EQ(properties.id, GetParam());
  EXPECT_EQ(properties.id.substr(0, properties.id.find(':')), properties.api);
  EXPECT_FALSE(properties.name.empty());
  EXPECT_FALSE(properties.driver.empty());
  EXPECT_FALSE(properties.platform.empty());
  EXPECT_EQ(properties.unusable, "");
  if (properties.api != "host") {
    EXPECT_GT(properties.memory_bytes, 0u);
  }
  EXPECT_GE(properties.compute_units, 1u);
  EXPECT_GE(properties.warp_threads, 1u);
  EXPECT_GE(properties.max_thread_block_size, properties.warp_threads);
}

TEST_P(DeviceTest, BringsBackWhatWasUploaded) {
  auto stream = make_stream();
  for (const size_t bytes : {1u, 15u, 4096u, 1000003u}) {
    auto buffer = allocate(kDevice, bytes);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_EQ(buffer->kind(), kDevice);
    EXPECT_EQ(buffer->address() % 256, 0u);
    const auto sent = pattern(bytes, 1);
    std::vector<uint8_t> back(bytes);
    EXPECT_STATUS_OK(stream->upload(*buffer, 0, sent.data(), bytes));
    EXPECT_STATUS_OK(stream->download(back.data(), *buffer, 0, bytes));
    EXPECT_STATUS_OK(stream->finish());
    EXPECT_EQ(back, sent);
  }
}

TEST_P(DeviceTest, CopiesPartsAtOddOffsets) {
  auto stream = make_stream();
  auto first = allocate(kDevice, 1000), second = allocate(kDevice, 1000);
  const auto sent = pattern(1000, 2);
  std::vector<uint8_t> want(1000, 0), back(1000, 0xaa);
  std::copy_n(sent.begin() + 17, 301, want.begin() + 333);
  EXPECT_STATUS_OK(stream->upload(*first, 0, sent.data(), 500));
  EXPECT_STATUS_OK(stream->upload(*first, 500, sent.data() + 500, 500));
  EXPECT_STATUS_OK(stream->zero(*second, 0, 1000));
  EXPECT_STATUS_OK(stream->copy(*second, 333, *first, 17, 301));
  EXPECT_STATUS_OK(stream->download(back.data(), *second, 0, 1000));
  EXPECT_STATUS_OK(stream->finish());
  EXPECT_EQ(back, want);
}

TEST_P(DeviceTest, ZeroesWhatItIsToldAndNoMore) {
  auto stream = make_stream();
  struct Part {
    uint64_t offset, bytes;
  };
  for (const Part part : {Part{0, 512}, Part{16, 32}, Part{3, 7}, Part{511, 1}, Part{16, 33}}) {
    auto buffer = allocate(kDevice, 512);
    auto want = std::vector<uint8_t>(512, 0x5a);
    EXPECT_STATUS_OK(stream->upload(*buffer, 0, want.data(), 512));
    EXPECT_STATUS_OK(stream->zero(*buffer, part.offset, part.bytes));
    std::vector<uint8_t> back(512);
    EXPECT_STATUS_OK(stream->download(back.data(), *buffer, 0, 512));
    EXPECT_STATUS_OK(stream->finish());
    std::fill_n(want.begin() + static_cast<ptrdiff_t>(part.offset), part.bytes, 0);
    EXPECT_EQ(back, want) << part.bytes << " bytes at " << part.offset;
  }
}

TEST_P(DeviceTest, PinnedMemoryIsTheHosts) {
  auto stream = make_stream();
  auto in = allocate(kPinned, 100001), out = allocate(kPinned, 100001);
  auto buffer = allocate(kDevice, 100001);
  ASSERT_TRUE(in && out && buffer);
  EXPECT_EQ(in->kind(), kPinned);
  EXPECT_EQ(reinterpret_cast<uint64_t>(in->host()), in->address());
  const auto sent = pattern(100001, 3);
  std::copy(sent.begin(), sent.end(), in->host());
  std::fill_n(out->host(), 100001, 0);
  EXPECT_STATUS_OK(stream->upload(*buffer, 1, in->host() + 1, 100000));
  EXPECT_STATUS_OK(stream->download(out->host() + 1, *buffer, 1, 100000));
  EXPECT_STATUS_OK(stream->finish());
  EXPECT_EQ(out->host()[0], 0);
  EXPECT_TRUE(std::equal(sent.begin() + 1, sent.end(), out->host() + 1));
}

TEST_P(DeviceTest, AddressesAreUnique) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::set<std::pair<uint64_t, uint64_t>> ranges;
  for (uint64_t bytes : {1u, 1u, 5000u, 300u, 1u, 70000u}) {
    buffers.push_back(allocate(kDevice, bytes));
    ranges.insert({buffers.back()->address(), buffers.back()->address() + bytes});
  }
  EXPECT_EQ(ranges.size(), buffers.size());
  uint64_t end = 0;
  for (const auto &[from, to] : ranges) {
    EXPECT_GE(from, end);
    end = to;
  }
}

TEST_P(DeviceTest, ViewsSeeTheSameBytes) {
  auto stream = make_stream();
  auto buffer = allocate(kDevice, 4096);
  const auto sent = pattern(4096, 4);
  EXPECT_STATUS_OK(stream->upload(*buffer, 0, sent.data(), 4096));
  auto view = device_->view(buffer->address() + 1001, 95);
  ASSERT_TRUE(view.ok()) << view.status().text();
  EXPECT_EQ((*view)->address(), buffer->address() + 1001);
  EXPECT_EQ((*view)->bytes(), 95u);
  std::vector<uint8_t> back(90);
  EXPECT_STATUS_OK(stream->download(back.data(), **view, 5, 90));
  EXPECT_STATUS_OK(stream->finish());
  EXPECT_TRUE(std::equal(back.begin(), back.end(), sent.begin() + 1006));
  // Views may reach up to the last byte of the buffer.
  EXPECT_TRUE(device_->view(buffer->address(), 4096).ok());
  EXPECT_TRUE(device_->view(buffer->address() + 4095, 1).ok());
}

TEST_P(DeviceTest, RefusesViewsOfWhatIsNoBuffer) {
  auto buffer = allocate(kDevice, 4096);
  const uint64_t start = buffer->address();
  int on_the_stack = 0;
  struct Wrong {
    uint64_t address, bytes;
  };
  for (const Wrong wrong :
       {Wrong{start, 1u << 30}, Wrong{start + 4095, UINT64_MAX},
        Wrong{reinterpret_cast<uint64_t>(&on_the_stack), 4}, Wrong{0, 1}, Wrong{UINT64_MAX, 1}}) {
    auto view = device_->view(wrong.address, wrong.bytes);
    EXPECT_FALSE(view.ok()) << wrong.address << " " << wrong.bytes;
    EXPECT_EQ(view.status().code(), LC_ERROR_ARGUMENT);
    EXPECT_FALSE(view.status().text().empty());
  }
}

TEST_P(DeviceTest, SaysThatMemoryRanOut) {
  auto buffer = device_->allocate(kDevice, uint64_t{1} << 50);
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.status().code(), LC_ERROR_MEMORY) << buffer.status().text();
  EXPECT_FALSE(buffer.status().text().empty());
  // The device still works afterwards.
  EXPECT_NE(allocate(kDevice, 1 << 20), nullptr);
}

TEST_P(DeviceTest, EventsMarkPointsInAStream) {
  auto stream = make_stream();
  auto event = make_event(), half = make_event(), later = make_event();
  EXPECT_TRUE(event->reached()) << "an event that was never marked";
  EXPECT_STATUS_OK(event->wait());
  const size_t bytes = 8 << 20;
  auto buffer = allocate(kDevice, bytes);
  const auto sent = pattern(bytes, 5);
  std::vector<uint8_t> back(bytes);
  for (int round = 0; round < 3; ++round) {
    std::fill(back.begin(), back.end(), 0);
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_STATUS_OK(stream->mark(*event));
    EXPECT_STATUS_OK(stream->upload(*buffer, 0, sent.data(), bytes));
    EXPECT_STATUS_OK(stream->mark(*half));
    EXPECT_STATUS_OK(stream->download(back.data(), *buffer, 0, bytes));
    EXPECT_STATUS_OK(stream->mark(*later));
    EXPECT_STATUS_OK(later->wait());
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - begun;
    EXPECT_EQ(back, sent);
    EXPECT_TRUE(later->reached());
    EXPECT_TRUE(event->reached());
    // However the device schedules the work, more work does not end earlier. All of it lies within
    // the time that was waited here, measured by a clock that may run slightly differently.
    const uint64_t taken = later->nanoseconds_since(*event);
    EXPECT_GT(taken, 0u);
    EXPECT_GE(taken, half->nanoseconds_since(*event));
    EXPECT_LE(taken, 2 * static_cast<uint64_t>(waited.count()));
  }
}

TEST_P(DeviceTest, AStreamWaitsForAnother) {
  auto one = make_stream(), other = make_stream();
  auto urgent = device_->make_urgent_stream();
  ASSERT_TRUE(urgent.ok()) << urgent.status().text();
  if (*urgent != nullptr) other = std::move(*urgent);
  auto event = make_event();
  const size_t bytes = 4 << 20;
  auto buffer = allocate(kDevice, bytes);
  std::vector<uint8_t> back(bytes);
  EXPECT_STATUS_OK(other->await(*event));  // never marked, so this does not wait
  for (uint32_t round = 0; round < 8; ++round) {
    const auto sent = pattern(bytes, 6 + round);
    EXPECT_STATUS_OK(one->upload(*buffer, 0, sent.data(), bytes));
    EXPECT_STATUS_OK(one->mark(*event));
    EXPECT_STATUS_OK(other->await(*event));
    EXPECT_STATUS_OK(other->download(back.data(), *buffer, 0, bytes));
    EXPECT_STATUS_OK(other->finish());
    EXPECT_EQ(back, sent);
  }
}

TEST_P(DeviceTest, NoBytesAreNoWork) {
  auto stream = make_stream();
  auto buffer = allocate(kDevice, 64), other = allocate(kDevice, 64);
  EXPECT_STATUS_OK(stream->upload(*buffer, 64, nullptr, 0));
  EXPECT_STATUS_OK(stream->download(nullptr, *buffer, 0, 0));
  EXPECT_STATUS_OK(stream->copy(*buffer, 0, *other, 64, 0));
  EXPECT_STATUS_OK(stream->zero(*buffer, 64, 0));
  EXPECT_STATUS_OK(stream->finish());
}

TEST_P(DeviceTest, LaunchesAKernelByName) {
  // FIPS 197, A.1: the last round key of its 128-bit key.
  const std::array<uint8_t, 16> key = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                       0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
  const std::array<uint8_t, 16> last = {0xd0, 0x14, 0xf9, 0xa8, 0xc9, 0xee, 0x25, 0x89,
                                        0xe1, 0x3f, 0x0c, 0xc8, 0xb6, 0x63, 0x0c, 0xa6};
  // More than a thread block has threads, and not a multiple of that
  constexpr uint32_t kKeys = 300;
  auto stream = make_stream();
  auto keys = allocate(kDevice, kKeys * BLOCK_KEY_WORDS * 4);
  auto schedules = allocate(kDevice, kKeys * AES_SCHEDULE_WORDS * 4);
  std::vector<uint8_t> raw(keys->bytes());
  for (uint32_t k = 0; k < kKeys; ++k) std::copy(key.begin(), key.end(), &raw[k * 32]);
  EXPECT_STATUS_OK(stream->upload(*keys, 0, raw.data(), raw.size()));
  const Argument arguments[] = {keys.get(), schedules.get(), kKeys, 4u, 0u};
  const uint32_t threads = std::min(BLOCK_KEY_THREADS, device_->properties().max_thread_block_size);
  EXPECT_STATUS_OK(stream->launch({"aes_expand_keys", 2, threads, 0, arguments}));
  std::vector<uint8_t> back(schedules->bytes());
  EXPECT_STATUS_OK(stream->download(back.data(), *schedules, 0, back.size()));
  EXPECT_STATUS_OK(stream->finish());
  for (uint32_t k = 0; k < kKeys; ++k) {
    const uint8_t *schedule = &back[k * AES_SCHEDULE_WORDS * 4];
    ASSERT_TRUE(std::equal(key.begin(), key.end(), schedule)) << "key " << k;
    ASSERT_TRUE(std::equal(last.begin(), last.end(), schedule + 160)) << "key " << k;
  }
}

// One stream runs the kernel, and the host waits for another stream.
TEST_P(DeviceTest, AKernelWritesToPinnedMemory) {
  if (!device_->properties().reaches_pinned) {
    EXPECT_NE(device_->properties().api, "cuda");
    GTEST_SKIP() << "its kernels do not reach pinned memory";
  }
  constexpr uint32_t kKeys = 5;
  auto one = make_stream(), other = make_stream();
  auto event = make_event(), later = make_event();
  auto keys = allocate(kDevice, kKeys * BLOCK_KEY_WORDS * 4);
  auto schedules = allocate(kDevice, kKeys * AES_SCHEDULE_WORDS * 4);
  auto pinned = allocate(kPinned, schedules->bytes() + 64);
  const PinnedPart part(*pinned, 0, schedules->bytes());
  EXPECT_EQ(part.address(), pinned->address());
  EXPECT_EQ(part.kind(), kPinned);
  const uint32_t threads = std::min(BLOCK_KEY_THREADS, device_->properties().max_thread_block_size);
  EXPECT_STATUS_OK(one->zero(*schedules, 0, schedules->bytes()));
  std::fill_n(pinned->host(), pinned->bytes(), 0);
  std::fill_n(pinned->host() + part.bytes(), 64, 0xa5);
  for (uint32_t round = 0; round < 8; ++round) {
    const auto raw = pattern(keys->bytes(), 40 + round);
    std::vector<uint8_t> want(schedules->bytes());
    EXPECT_STATUS_OK(one->upload(*keys, 0, raw.data(), raw.size()));
    for (const Buffer *to : std::initializer_list<const Buffer *>{schedules.get(), &part}) {
      const Argument arguments[] = {keys.get(), to, kKeys, 8u, 0u};
      EXPECT_STATUS_OK(one->launch({"aes_expand_keys", 1, threads, 0, arguments}));
    }
    EXPECT_STATUS_OK(one->mark(*event));
    EXPECT_STATUS_OK(other->await(*event));
    EXPECT_STATUS_OK(other->download(want.data(), *schedules, 0, want.size()));
    EXPECT_STATUS_OK(other->mark(*later));
    EXPECT_STATUS_OK(later->wait());
    ASSERT_TRUE(std::equal(want.begin(), want.end(), pinned->host())) << "round " << round;
    EXPECT_TRUE(std::equal(raw.begin(), raw.begin() + 32, pinned->host()));
  }
  EXPECT_EQ(std::count(pinned->host() + part.bytes(), pinned->host() + pinned->bytes(), 0xa5), 64);
}

TEST_P(DeviceTest, SaysThatAKernelIsNotThere) {
  auto stream = make_stream();
  const Status status = stream->launch({"no_such_kernel", 1, 32, 0, {}});
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.text().find("no_such_kernel"), std::string::npos) << status.text();
  EXPECT_STATUS_OK(stream->finish());
}

TEST_P(DeviceTest, KnowsHowManyGroupsStay) {
  const uint32_t groups = device_->resident_thread_blocks("aes_expand_keys", BLOCK_KEY_THREADS, 0);
  EXPECT_GE(groups, 1u);
  EXPECT_LE(groups, 1u << 20);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceTest);
INSTANTIATE_TEST_SUITE_P(All, DeviceTest, testing::ValuesIn(test_device_ids()), test_device_name);

}  // namespace
}  // namespace lanecrypt::device
