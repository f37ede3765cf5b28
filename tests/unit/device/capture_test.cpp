// Captured jobs: a CUDA graph repeats them at each launch, with new nonces. Runs on the emulator,
// with a stand-in for a graph.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "cipher/executor.h"
#include "job/cipher/graph_update.h"
#include "unit/device/captured_shapes.h"
#include "unit/support/captured_graph.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"
#include "unit/support/warp_device.h"

namespace lanecrypt::test {
namespace {

using runtime::Executor;
using runtime::GraphJob;

class Capture : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    setenv("LANECRYPT_AES_FORM", shape_.as_card ? "table4" : "table1", 1);
    setenv("LANECRYPT_HOST_THREADS", std::to_string(shape_.threads).c_str(), 1);
    device::Found found = wrapped(device::find_host().front(), [this](auto inner) {
      if (shape_.as_card) inner = std::make_unique<WarpDevice>(std::move(inner));
      return std::make_unique<CapturingDevice>(std::move(inner), memory_);
    });
    runtime::PipelineOptions options;
    options.skip_self_test = true;
    executor_ = std::make_unique<Executor>(
        std::move(found), options, pinned_, copy_threads_,
        [](const runtime::RequestPointer &, const Status &) { ADD_FAILURE(); });
    ASSERT_TRUE(executor_->make_ready().ok());
    random_.fill(key_.data(), key_.size());
    random_.fill(nonce_.data(), nonce_.size());
    // The counter of CTR is about to carry, and that of ChaCha20 is far from its end.
    std::fill(nonce_.begin() + 12, nonce_.end(), 0xf0);
    nonce_[3] = 0;
    random_.fill(host_aad_.data(), host_aad_.size());
    const uint64_t rest = shape_.text_bytes - std::min(shape_.text_bytes, first_bytes());
    count_ = 1 + (rest + shape_.segment_bytes - 1) / shape_.segment_bytes;
    room_ = std::max<uint64_t>(shape_.text_bytes + count_ * 16, shape_.aad_bytes) + 16;
    for (uint8_t **place : {&in_, &out_, &back_, &tags_, &small_, &aad_}) *place = allocate(room_);
    if (shape_.in_place) out_ = in_;
  }
  ~Capture() override {
    executor_.reset();
    unsetenv("LANECRYPT_AES_FORM");
    unsetenv("LANECRYPT_HOST_THREADS");
  }

  uint8_t *allocate(uint64_t bytes) {
    uint8_t *to = nullptr;
    EXPECT_TRUE(executor_
                    ->call([&](device::Device &, runtime::DeviceMemory &memory) {
                      Result<uint64_t> address = memory.allocate(bytes);
                      if (!address.ok()) return address.status();
                      to = reinterpret_cast<uint8_t *>(*address);
                      return Status();
                    })
                    .ok());
    return to;
  }
  uint64_t first_bytes() const {
    return shape_.first_bytes != 0 ? shape_.first_bytes : shape_.segment_bytes;
  }
  uint64_t length_of(uint64_t n) const {
    if (n == 0) return std::min(first_bytes(), shape_.text_bytes);
    const uint64_t before = first_bytes() + (n - 1) * shape_.segment_bytes;
    return std::min(shape_.segment_bytes, shape_.text_bytes - before);
  }
  // Returns the offset of segment `n`'s text if `gap` bytes follow each text.
  uint64_t place_of(uint64_t n, uint64_t gap) const {
    return n == 0 ? 0 : first_bytes() + gap + (n - 1) * (shape_.segment_bytes + gap);
  }
  uint64_t gap(bool is_sealed) const {
    return shape_.tags_behind && (is_sealed || shape_.in_place) ? 16 : 0;
  }
  const uint8_t *tag_of(uint64_t n) const {
    return shape_.tags_behind ? out_ + place_of(n, 16) + length_of(n) : tags_ + 16 * n;
  }
  bool has_tags() const { return cipher_info(shape_.cipher).is_aead; }
  uint32_t nonce_bytes() const { return cipher_info(shape_.cipher).iv_bytes; }
  Bytes nonce_of(uint64_t launch, uint64_t n) const {
    Bytes nonce(nonce_.begin(), nonce_.begin() + nonce_bytes());
    const lc_numbering &number = shape_.number;
    uint64_t value = number.first + launch * count_ + n;
    for (uint32_t i = 0; i < number.bytes; ++i, value >>= 8)
      nonce[number.at + (number.little_endian != 0 ? i : number.bytes - 1 - i)] =
          static_cast<uint8_t>(value);
    if (shape_.last_flag != 0) nonce[shape_.last_flag_at] = n + 1 == count_ ? 1 : 0;
    return nonce;
  }

  bool reads_aad() const { return shape_.aad_memory == LC_MEMORY_DEVICE; }
  // Returns the additional data, which are unaligned.
  uint8_t *aad() { return (reads_aad() ? aad_ : host_aad_.data()) + 3; }
  // Returns the additional data of segment `n`. Each launch numbers them alike.
  Bytes aad_of(uint64_t n) {
    Bytes made(aad(), aad() + shape_.aad_bytes);
    const lc_numbering &number = shape_.aad_number;
    uint64_t value = number.first + n;
    for (uint32_t i = 0; i < number.bytes; ++i, value >>= 8)
      made[number.at + (number.little_endian != 0 ? i : number.bytes - 1 - i)] =
          static_cast<uint8_t>(value);
    return made;
  }

  // Captures a job over this shape. Decryption reads what encryption has written.
  const GraphJob *capture(Graph &graph, lc_direction direction, uint64_t launches) {
    const bool seals = direction == LC_ENCRYPT;
    lc_segments segments = {};
    segments.struct_size = sizeof segments;
    segments.key = key_.data();
    segments.nonce = nonce_.data();
    segments.text_bytes = shape_.text_bytes;
    segments.segment_bytes = shape_.segment_bytes;
    segments.first_bytes = shape_.first_bytes;
    segments.in = seals ? in_ : out_;
    segments.out = seals ? out_ : back_;
    // If it seals in place, the input has gaps for the tags, and so has the output.
    if (shape_.in_place)
      segments.out_stride = segments.in_stride = shape_.segment_bytes + gap(true);
    if (has_tags() && !shape_.tags_behind) segments.tags = tags_;
    segments.number = shape_.number;
    segments.last_flag = shape_.last_flag;
    segments.last_flag_at = shape_.last_flag_at;
    segments.is_end = 1;
    segments.aad = shape_.aad_bytes != 0 ? aad() : nullptr;
    segments.aad_length = shape_.aad_bytes;
    segments.aad_number = shape_.aad_number;
    segments.aad_memory = shape_.aad_memory;
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = shape_.cipher;
    job.direction = direction;
    job.key_bytes = shape_.key_bytes;
    job.memory = LC_MEMORY_DEVICE;
    job.stream = &graph;
    job.segments = &segments;
    if (has_tags()) job.tag_memory = LC_MEMORY_DEVICE;
    if (has_tags() && !seals) job.verdicts = verdicts();
    lc_graph_update update = {};
    update.struct_size = sizeof update;
    update.count = launches;
    update.nonce = small_ + 1;  // unaligned
    if (seals) update.verdict = verdict();
    Result<CipherJob> made = make_cipher_job(&job, nullptr, true);
    EXPECT_TRUE(made.ok()) << made.status().text();
    if (!made.ok()) return nullptr;
    Result<GraphUpdate> read = read_graph_update(&update, *made, direction);
    EXPECT_TRUE(read.ok()) << read.status().text();
    if (!read.ok()) return nullptr;
    Result<const GraphJob *> captured =
        executor_->capture(std::make_shared<runtime::Request>(std::move(*made), nullptr), *read);
    EXPECT_TRUE(captured.ok()) << captured.status().text();
    return captured.ok() ? *captured : nullptr;
  }
  void launch(const Graph &graph) {
    ASSERT_FALSE(graph.is_empty());
    EXPECT_TRUE(executor_
                    ->call([&](device::Device &device, runtime::DeviceMemory &) {
                      Result<std::unique_ptr<device::Stream>> stream = device.make_stream();
                      if (!stream.ok()) return stream.status();
                      graph.launch(**stream);
                      return Status();
                    })
                    .ok());
  }
  uint8_t *verdict() const { return small_ + 18; }
  uint8_t *verdicts() const { return tags_ + count_ * 16; }  // fewer than the text has bytes

  // Writes a new text for the next launch, and new additional data if the device reads them.
  Bytes write_plain() {
    Bytes plain(shape_.text_bytes);
    random_.fill(plain.data(), plain.size());
    uint64_t at = 0;
    for (uint64_t n = 0; n < count_; at += length_of(n++))
      std::memcpy(in_ + place_of(n, gap(false)), &plain[at], length_of(n));
    if (reads_aad()) random_.fill(aad_, shape_.aad_bytes + 3);
    return plain;
  }
  void expect_sealed(const Bytes &plain, uint64_t number) {
    const Bytes first = nonce_of(number, 0);
    EXPECT_EQ(0, std::memcmp(small_ + 1, first.data(), first.size()));
    EXPECT_EQ(1, *verdict());
    uint64_t at = 0;
    for (uint64_t n = 0; n < count_; at += length_of(n++)) {
      Bytes right(length_of(n)), tag(16);
      if (!has_tags()) {
        reference_crypt({shape_.cipher, LC_ENCRYPT, 32}, key_.data(), nonce_of(number, n).data(),
                        &plain[at], right.data(), right.size());
        ASSERT_EQ(0, std::memcmp(out_ + place_of(n, gap(true)), right.data(), right.size()))
            << "launch " << number << ", segment " << n;
        continue;
      }
      reference_seal({shape_.cipher, shape_.key_bytes, key_.data(), nonce_of(number, n), aad_of(n)},
                     &plain[at], right.data(), right.size(), tag.data());
      ASSERT_EQ(0, std::memcmp(out_ + place_of(n, gap(true)), right.data(), right.size()))
          << "launch " << number << ", segment " << n;
      ASSERT_EQ(0, std::memcmp(tag_of(n), tag.data(), tag.size()))
          << "launch " << number << ", segment " << n;
    }
  }
  // Expects `plain`, except that segment `wiped`, or all of them, must be zeros.
  static constexpr uint64_t kAll = UINT64_MAX - 1;
  void expect_opened(const Bytes &plain, uint64_t wiped = UINT64_MAX) {
    uint64_t at = 0;
    for (uint64_t n = 0; n < count_; at += length_of(n++)) {
      const uint8_t *opened = back_ + place_of(n, shape_.in_place ? gap(true) : 0);
      const bool is_wiped = n == wiped || wiped == kAll;
      if (has_tags()) {
        EXPECT_EQ(is_wiped ? 0 : 1, verdicts()[n]);
      }
      Bytes right(&plain[at], &plain[at] + length_of(n));
      if (is_wiped) right.assign(right.size(), 0);
      EXPECT_EQ(0, std::memcmp(opened, right.data(), right.size())) << "segment " << n;
    }
  }

  const Shape shape_ = GetParam();
  WatchedMemory memory_;
  runtime::PinnedMemory pinned_;
  runtime::CopyThreads copy_threads_;
  std::unique_ptr<Executor> executor_;
  Random random_{77};
  Bytes key_ = Bytes(32), nonce_ = Bytes(16), host_aad_ = Bytes(100);
  uint64_t count_ = 0, room_ = 0;
  uint8_t *in_ = nullptr, *out_ = nullptr, *back_ = nullptr, *tags_ = nullptr, *small_ = nullptr,
          *aad_ = nullptr;
};

class CapturedKey : public Capture {};

// Each launch uses the next nonces and reports the first of them. Another graph decrypts the text
// again. After the last launch that may encrypt, no launch encrypts anything.
TEST_P(Capture, EachLaunchHasNoncesOfItsOwn) {
  Graph seals, opens;
  const GraphJob *const sealing = capture(seals, LC_ENCRYPT, shape_.launches);
  const GraphJob *const opening = capture(opens, LC_DECRYPT, 0);
  ASSERT_TRUE(sealing != nullptr && opening != nullptr);
  if (shape_.kernel != nullptr) {
    EXPECT_TRUE(seals.has(shape_.kernel) && opens.has(shape_.kernel)) << shape_.kernel;
  }
  for (uint64_t number = 0; number < shape_.launches; ++number) {
    const Bytes plain = write_plain();
    launch(seals);
    expect_sealed(plain, number);
    launch(opens);
    expect_opened(plain);
    if (shape_.threads != 1 || !has_tags()) continue;
    const uint64_t wrong = number % count_;
    const_cast<uint8_t *>(tag_of(wrong))[number % 16] ^= 0x20;
    launch(opens);
    expect_opened(plain, wrong);
    const_cast<uint8_t *>(tag_of(wrong))[number % 16] ^= 0x20;
    if (!reads_aad()) continue;
    // Changes a byte outside of the number, so that the additional data of all segments are wrong.
    aad()[number % 4] ^= 0x20;
    launch(opens);
    expect_opened(plain, kAll);
  }
  for (int more = 0; more < 2; ++more) {
    (void)write_plain();
    std::memset(small_, 0xa5, 20);
    launch(seals);
    EXPECT_EQ(0, *verdict());
    EXPECT_EQ(Bytes(small_ + 1, small_ + 1 + nonce_bytes()), Bytes(nonce_bytes()))
        << "the nonce of no launch";
    EXPECT_EQ(0xa5, small_[0]);
    EXPECT_EQ(0xa5, small_[1 + nonce_bytes()]);
    for (uint64_t n = 0; n < count_; ++n) {
      const uint8_t *out = out_ + place_of(n, gap(true));
      EXPECT_EQ(Bytes(out, out + length_of(n)), Bytes(length_of(n))) << "segment " << n;
      if (has_tags()) {
        EXPECT_EQ(Bytes(tag_of(n), tag_of(n) + 16), Bytes(16)) << "segment " << n;
      }
    }
  }
  EXPECT_TRUE(executor_->free_graph_job(opening).ok());
  EXPECT_TRUE(executor_->free_graph_job(sealing).ok());
}

// The graph's key stays in device memory until the graph job is freed or the device is closed. Then
// it is wiped.
TEST_P(CapturedKey, IsWiped) {
  Graph freed, left;
  const GraphJob *const job = capture(freed, LC_ENCRYPT, 1);
  ASSERT_NE(nullptr, job);
  EXPECT_TRUE(executor_->has_graph_job(job));
  (void)write_plain();
  launch(freed);
  EXPECT_TRUE(memory_.holds(key_)) << "or this test sees nothing";
  EXPECT_TRUE(executor_->free_graph_job(job).ok());
  EXPECT_FALSE(executor_->has_graph_job(job));
  EXPECT_FALSE(memory_.holds(key_));
  ASSERT_NE(nullptr, capture(left, LC_DECRYPT, 0));
  launch(left);
  executor_.reset();
  EXPECT_FALSE(memory_.holds(key_));
}

INSTANTIATE_TEST_SUITE_P(Ciphers, CapturedKey,
                         testing::Values(kShapes[0], kShapes[4], kShapes[11], kShapes[14]),
                         [](const auto &one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(Shapes, Capture, testing::ValuesIn(shapes()),
                         [](const auto &one) { return std::string(one.param.name); });

}  // namespace
}  // namespace lanecrypt::test
