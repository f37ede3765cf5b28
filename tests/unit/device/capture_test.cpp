// Jobs that a graph does again at each launch. The emulator has no graphs: the test keeps what is
// launched in a captured stream, and launches that again.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "cipher/executor.h"
#include "job/cipher/replays.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"
#include "unit/support/warp_device.h"
#include "unit/support/watched_device.h"

namespace lanecrypt::test {
namespace {

using runtime::CapturedJob;
using runtime::Executor;

// What a captured stream was given. Buffers are named as a graph names them: nothing keeps them.
class Graph {
 public:
  void add(const device::Launch &launch) {
    launches_.push_back(
        {launch.kernel, launch, {launch.arguments.begin(), launch.arguments.end()}});
  }
  void launch(device::Stream &stream) const {
    for (const Kept &kept : launches_) {
      device::Launch again = kept.launch;
      again.kernel = kept.kernel.c_str();
      again.arguments = kept.arguments;
      ASSERT_TRUE(stream.launch(again).ok());
    }
    ASSERT_TRUE(stream.finish().ok());
  }
  bool is_empty() const { return launches_.empty(); }
  bool has(const std::string &kernel) const {
    return std::any_of(launches_.begin(), launches_.end(),
                       [&](const Kept &kept) { return kept.kernel == kernel; });
  }

 private:
  struct Kept {
    std::string kernel;
    device::Launch launch;
    std::vector<device::Argument> arguments;
  };
  std::vector<Kept> launches_;
};

class CapturedStream : public device::Stream {
 public:
  explicit CapturedStream(Graph &graph) : graph_(graph) {}
  Status upload(const device::Buffer &, uint64_t, const void *, uint64_t) override { return no(); }
  Status download(void *, const device::Buffer &, uint64_t, uint64_t) override { return no(); }
  Status copy(const device::Buffer &, uint64_t, const device::Buffer &, uint64_t,
              uint64_t) override {
    return no();
  }
  Status zero(const device::Buffer &, uint64_t, uint64_t) override { return no(); }
  Status launch(const device::Launch &launch) override {
    graph_.add(launch);
    return Status();
  }
  Status mark(device::Event &) override { return Status(); }
  Status await(device::Event &) override { return no(); }
  Status finish() override { return no(); }

 private:
  static Status no() {
    ADD_FAILURE() << "a launch of the graph cannot do this, or should not";
    return Status(LC_ERROR_INTERNAL, "not in a graph");
  }
  Graph &graph_;
};

// Its streams for capture are named by the graph.
class CapturingDevice : public WatchedDevice {
 public:
  using WatchedDevice::WatchedDevice;
  Result<std::unique_ptr<device::Stream>> adopt_captured_stream(void *handle) override {
    return std::unique_ptr<device::Stream>(new CapturedStream(*static_cast<Graph *>(handle)));
  }
};

struct Shape {
  const char *name;
  lc_cipher cipher;
  uint64_t text_bytes, segment_bytes, first_bytes = 0;
  bool in_place = false, tags_behind = false;
  lc_numbering number = {};
  int last_flag = 0;
  uint32_t last_flag_at = 0;
  uint32_t lanes = 1;     // of a group; 32: hashes by matrices, which takes the emulator long
  uint64_t launches = 3;  // that encrypt
  uint32_t aad_bytes = 0;
  lc_memory aad_memory = LC_MEMORY_HOST;
  lc_numbering aad_number = {};
  uint32_t key_bytes = 32;
  const char *kernel = nullptr;  // which the graph must have
  bool as_card = false;          // block ciphers by the kernels of a card, which want 32 lanes
};

constexpr Shape kShapes[] = {
    {"OneOfGcm", LC_AES_GCM, 5000, 5000, 0, false, false, {8, 4, 0, 7}, 0, 0},
    {"OneShorterThanItMayBe", LC_AES_GCM, 77, 4096, 0, true, true, {0, 8, 1, 1ull << 40}, 0, 0},
    {"AsInTink", LC_AES_GCM, 4500, 1000, 800, false, true, {7, 4, 0, 0}, 1, 11},
    {"InPlace", LC_AES_GCM, 3001, 1000, 0, true, false, {9, 3, 1, 0xfffff4}, 0, 0},
    {"OneOfChaCha20", LC_CHACHA20_POLY1305, 5000, 5000, 0, true, true, {4, 8, 0, 9}, 0, 0},
    {"ManyOfChaCha20", LC_CHACHA20_POLY1305, 5003, 333, 0, false, false, {0, 2, 0, 65000}, 0, 0},
    {"Poly1305ByMatrices",
     LC_CHACHA20_POLY1305,
     (1 << 20) + 40,
     2 << 20,
     0,
     true,
     true,
     {8, 4, 0, 1},
     0,
     0,
     32,
     1,
     20,
     LC_MEMORY_DEVICE},
    {.name = "OneOfGcmWithAad",
     .cipher = LC_AES_GCM,
     .text_bytes = 100,
     .segment_bytes = 100,
     .number = {8, 4, 0, 7},
     .launches = 20,
     .aad_bytes = 13,
     .aad_memory = LC_MEMORY_DEVICE},
    {.name = "AadOfTheHost",
     .cipher = LC_AES_GCM,
     .text_bytes = 4500,
     .segment_bytes = 1000,
     .first_bytes = 800,
     .tags_behind = true,
     .number = {7, 4, 0, 0},
     .last_flag = 1,
     .last_flag_at = 11,
     .aad_bytes = 16},
    {.name = "NumbersInAad",
     .cipher = LC_AES_GCM,
     .text_bytes = 999,
     .segment_bytes = 333,
     .in_place = true,
     .number = {9, 3, 1, 5},
     .aad_bytes = 4096,
     .aad_memory = LC_MEMORY_DEVICE,
     .aad_number = {4080, 9, 1, 0xfe}},
    {.name = "NumbersInAadOfChaCha20",
     .cipher = LC_CHACHA20_POLY1305,
     .text_bytes = 5003,
     .segment_bytes = 333,
     .number = {0, 2, 0, 65000},
     .aad_bytes = 33,
     .aad_number = {31, 2, 0, 0xfe}},
    // The IV counts blocks behind the number: from the end of a window on, and with a carry.
    {.name = "OneOfCtr",
     .cipher = LC_AES_CTR,
     .text_bytes = 70000,
     .segment_bytes = 70000,
     .number = {8, 4, 0, 7},
     .launches = 20},
    {.name = "ManyOfCtrInPlace",
     .cipher = LC_AES_CTR,
     .text_bytes = 10001,
     .segment_bytes = 999,
     .first_bytes = 100,
     .in_place = true,
     .number = {0, 14, 0, 0xfffff0}},
    {.name = "BlocksOfCtr",
     .cipher = LC_CAMELLIA_CTR,
     .text_bytes = 777,
     .segment_bytes = 16,
     .number = {12, 4, 0, 0xfffffe0}},
    {.name = "OneOfChaCha20WithoutTag",
     .cipher = LC_CHACHA20,
     .text_bytes = 9000,
     .segment_bytes = 9000,
     .in_place = true,
     .number = {4, 12, 1, 1}},
    {.name = "ManyOfChaCha20WithoutTags",
     .cipher = LC_CHACHA20,
     .text_bytes = 5003,
     .segment_bytes = 333,
     .number = {13, 3, 0, 65000},
     .launches = 20},
    {.name = "GcmOfAria",
     .cipher = LC_ARIA_GCM,
     .text_bytes = 777,
     .segment_bytes = 300,
     .in_place = true,
     .tags_behind = true,
     .number = {8, 4, 0, 7},
     .aad_bytes = 13,
     .aad_memory = LC_MEMORY_DEVICE},
    {.name = "GcmOfSm4",
     .cipher = LC_SM4_GCM,
     .text_bytes = 777,
     .segment_bytes = 300,
     .number = {8, 4, 0, 7},
     .aad_bytes = 13,
     .key_bytes = 16},
    // Segments that begin at any address, where there are warps.
    {.name = "AnyAddressOfChaCha20",
     .cipher = LC_CHACHA20,
     .text_bytes = 30003,
     .segment_bytes = 3333,
     .number = {13, 3, 0, 65000},
     .lanes = 32,
     .kernel = "chacha20_across"},
    {.name = "AnyAddressOfChaCha20Poly1305",
     .cipher = LC_CHACHA20_POLY1305,
     .text_bytes = 30003,
     .segment_bytes = 3333,
     .in_place = true,
     .number = {0, 2, 0, 65000},
     .lanes = 32,
     .kernel = "chacha20_poly1305_runs_across"},
    {.name = "AnyAddressOfGcm",
     .cipher = LC_AES_GCM,
     .text_bytes = 30003,
     .segment_bytes = 3333,
     .first_bytes = 1000,
     .tags_behind = true,
     .number = {7, 4, 0, 0},
     .last_flag = 1,
     .last_flag_at = 11,
     .lanes = 32,
     .kernel = "aes_table4_ctr_across",
     .as_card = true},
    {.name = "AnyAddressOfGcmOfSm4InPlace",
     .cipher = LC_SM4_GCM,
     .text_bytes = 5003,
     .segment_bytes = 1001,
     .in_place = true,
     .number = {8, 4, 0, 7},
     .lanes = 32,
     .key_bytes = 16,
     .kernel = "sm4_table4_ctr_across",
     .as_card = true},
    {.name = "AnyAddressOfGcmOfAria",
     .cipher = LC_ARIA_GCM,
     .text_bytes = 5003,
     .segment_bytes = 2050,
     .number = {8, 4, 0, 7},
     .lanes = 32,
     .kernel = "aria_table4_ctr_across",
     .as_card = true},
    {.name = "AnyAddressOfCtr",
     .cipher = LC_AES_CTR,
     .text_bytes = 70001,
     .segment_bytes = 9999,
     .number = {8, 4, 0, 7},
     .lanes = 32,
     .launches = 5,
     .kernel = "aes_table4_ctr_across",
     .as_card = true},
    {.name = "AnyAddressOfCtrOfCamelliaInPlace",
     .cipher = LC_CAMELLIA_CTR,
     .text_bytes = 10001,
     .segment_bytes = 999,
     .first_bytes = 100,
     .in_place = true,
     .number = {0, 14, 0, 0xfffff0},
     .lanes = 32,
     .kernel = "camellia_table4_ctr_across",
     .as_card = true},
    {.name = "AlignedCtrOfACard",
     .cipher = LC_AES_CTR,
     .text_bytes = 20000,
     .segment_bytes = 4096,
     .number = {8, 4, 0, 7},
     .lanes = 32,
     .kernel = "aes_table4_ctr",
     .as_card = true},
};

std::vector<Shape> shapes() {
  std::vector<Shape> made;
  for (const Shape &shape : kShapes)
    if (!mode_of(shape.cipher).is_aead || has_reference(shape.cipher)) made.push_back(shape);
  return made;
}

class Capture : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    setenv("LANECRYPT_AES_FORM", shape_.as_card ? "table4" : "table1", 1);
    setenv("LANECRYPT_HOST_LANES", std::to_string(shape_.lanes).c_str(), 1);
    device::Found found = wrapped(device::find_host().front(), [this](auto inner) {
      if (shape_.as_card) inner = std::make_unique<WarpDevice>(std::move(inner));
      return std::make_unique<CapturingDevice>(std::move(inner), memory_);
    });
    runtime::PipelineOptions options;
    options.skip_self_test = true;
    executor_ = std::make_unique<Executor>(
        std::move(found), options, pinned_, movers_,
        [](const runtime::RequestPointer &, const Status &) { ADD_FAILURE(); });
    ASSERT_TRUE(executor_->make_ready().ok());
    random_.fill(key_.data(), key_.size());
    random_.fill(nonce_.data(), nonce_.size());
    // Of the counter of CTR little is left until it carries, and of that of ChaCha20 much.
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
    unsetenv("LANECRYPT_HOST_LANES");
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
  // Where a segment's text lies if there are `gap` bytes behind each.
  uint64_t place_of(uint64_t n, uint64_t gap) const {
    return n == 0 ? 0 : first_bytes() + gap + (n - 1) * (shape_.segment_bytes + gap);
  }
  uint64_t gap(bool is_sealed) const {
    return shape_.tags_behind && (is_sealed || shape_.in_place) ? 16 : 0;
  }
  const uint8_t *tag_of(uint64_t n) const {
    return shape_.tags_behind ? out_ + place_of(n, 16) + length_of(n) : tags_ + 16 * n;
  }
  bool has_tags() const { return mode_of(shape_.cipher).is_aead; }
  uint32_t nonce_bytes() const { return mode_of(shape_.cipher).iv_bytes; }
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
  // Additional data, at any address.
  uint8_t *aad() { return (reads_aad() ? aad_ : host_aad_.data()) + 3; }
  // Those of a segment; the same numbers at each launch.
  Bytes aad_of(uint64_t n) {
    Bytes made(aad(), aad() + shape_.aad_bytes);
    const lc_numbering &number = shape_.aad_number;
    uint64_t value = number.first + n;
    for (uint32_t i = 0; i < number.bytes; ++i, value >>= 8)
      made[number.at + (number.little_endian != 0 ? i : number.bytes - 1 - i)] =
          static_cast<uint8_t>(value);
    return made;
  }

  // A job over this shape. Decryption reads what encryption has written.
  const CapturedJob *capture(Graph &graph, lc_direction direction, uint64_t launches) {
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
    // Sealed in place, the tags have their place in what comes in, and so in what comes out.
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
    lc_replays replays = {};
    replays.struct_size = sizeof replays;
    replays.count = launches;
    replays.nonce = small_ + 1;  // at any address
    if (seals) replays.verdict = verdict();
    Result<CipherJob> made = make_cipher_job(&job, nullptr, true);
    EXPECT_TRUE(made.ok()) << made.status().text();
    if (!made.ok()) return nullptr;
    Result<Replays> read = read_replays(&replays, *made, direction);
    EXPECT_TRUE(read.ok()) << read.status().text();
    if (!read.ok()) return nullptr;
    Result<const CapturedJob *> captured =
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
  uint8_t *verdicts() const { return tags_ + count_ * 16; }  // fewer bytes than the text has

  // New texts for the next launch, and additional data where it reads them.
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
  // But for a segment that is wiped, or all of them.
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
  runtime::Movers movers_;
  std::unique_ptr<Executor> executor_;
  Random random_{77};
  Bytes key_ = Bytes(32), nonce_ = Bytes(16), host_aad_ = Bytes(100);
  uint64_t count_ = 0, room_ = 0;
  uint8_t *in_ = nullptr, *out_ = nullptr, *back_ = nullptr, *tags_ = nullptr, *small_ = nullptr,
          *aad_ = nullptr;
};

class CapturedKey : public Capture {};

// Each launch has the next nonces and tells the first; the same text comes back in another graph.
// After the last launch that may encrypt, nothing does.
TEST_P(Capture, EachLaunchHasNoncesOfItsOwn) {
  Graph seals, opens;
  const CapturedJob *const sealing = capture(seals, LC_ENCRYPT, shape_.launches);
  const CapturedJob *const opening = capture(opens, LC_DECRYPT, 0);
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
    if (shape_.lanes != 1 || !has_tags()) continue;
    const uint64_t wrong = number % count_;
    const_cast<uint8_t *>(tag_of(wrong))[number % 16] ^= 0x20;
    launch(opens);
    expect_opened(plain, wrong);
    const_cast<uint8_t *>(tag_of(wrong))[number % 16] ^= 0x20;
    if (!reads_aad()) continue;
    // Outside of the number, and so wrong for all.
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
  EXPECT_TRUE(executor_->free_captured(opening).ok());
  EXPECT_TRUE(executor_->free_captured(sealing).ok());
}

// The graph's key is where the graph needs it, until that is freed, or the device is closed.
TEST_P(CapturedKey, IsWiped) {
  Graph freed, left;
  const CapturedJob *const job = capture(freed, LC_ENCRYPT, 1);
  ASSERT_NE(nullptr, job);
  EXPECT_TRUE(executor_->has_captured(job));
  (void)write_plain();
  launch(freed);
  EXPECT_TRUE(memory_.holds(key_)) << "or this test sees nothing";
  EXPECT_TRUE(executor_->free_captured(job).ok());
  EXPECT_FALSE(executor_->has_captured(job));
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

// What no graph may do again, by the C ABI.
class CaptureRefuses : public testing::Test {
 protected:
  CaptureRefuses() {
    segments_.struct_size = sizeof segments_;
    segments_.key = key_;
    segments_.nonce = nonce_;
    segments_.in = segments_.out = memory_;
    segments_.tags = memory_ + 64;
    segments_.text_bytes = 64;
    segments_.segment_bytes = 16;
    segments_.number = {8, 4, 0, 0};
    job_.struct_size = sizeof job_;
    job_.cipher = LC_AES_GCM;
    job_.key_bytes = 32;
    job_.memory = job_.tag_memory = LC_MEMORY_DEVICE;
    job_.stream = memory_;
    job_.segments = &segments_;
    replays_.struct_size = sizeof replays_;
    replays_.count = 4;
    replays_.verdict = memory_ + 200;
    lc_options options = {};
    options.struct_size = sizeof options;
    options.devices = "host";
    options.fallback = LC_FALLBACK_NONE;
    EXPECT_EQ(LC_OK, lc_open(&options, &context_)) << lc_last_error();
  }
  ~CaptureRefuses() override { lc_close(context_); }

  void expect(lc_status status, const char *text) {
    lc_captured *captured = nullptr;
    EXPECT_EQ(status, lc_capture(context_, &job_, &replays_, &captured)) << lc_last_error();
    EXPECT_NE(nullptr, strstr(lc_last_error(), text)) << lc_last_error();
    EXPECT_EQ(nullptr, captured);
  }

  lc_context *context_ = nullptr;
  uint8_t key_[32] = {}, nonce_[64] = {}, memory_[256] = {};
  lc_segments segments_ = {};
  lc_cipher_job job_ = {};
  lc_replays replays_ = {};
};

TEST_F(CaptureRefuses, WhatWouldUseANonceTwice) {
  segments_.number.first = UINT32_MAX - 15;
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");  // 4 launches of 4 segments
  segments_.number.first += 1;
  expect(LC_ERROR_ARGUMENT, "4 launches of 4 segments need more numbers");
  segments_.number = {0, 8, 0, UINT64_MAX - 14};
  expect(LC_ERROR_ARGUMENT, "need more numbers");
  replays_.count = UINT64_MAX;
  segments_.number.first = 0;
  expect(LC_ERROR_ARGUMENT, "need more numbers");
  replays_.count = 0;
  expect(LC_ERROR_ARGUMENT, "no launch of the graph may encrypt");
  replays_.count = 1;
  segments_.number = {};
  segments_.nonce_stride = 12;
  expect(LC_ERROR_ARGUMENT, "would use the same nonces");
  segments_.nonce_stride = 0;
  segments_.segment_bytes = 64;
  expect(LC_ERROR_ARGUMENT, "would use the same nonces");
  job_.direction = LC_DECRYPT;
  job_.verdicts = memory_ + 128;
  replays_.verdict = nullptr;
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  segments_.nonce_stride = 12;
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  replays_.nonce = memory_ + 130;
  expect(LC_ERROR_ARGUMENT, "nonce is given");
  replays_.nonce = nullptr;
  replays_.verdict = memory_;
  expect(LC_ERROR_ARGUMENT, "verdicts");
}

TEST_F(CaptureRefuses, WhatWouldUseAKeystreamTwice) {
  segments_.tags = nullptr;
  job_.tag_memory = LC_MEMORY_HOST;
  segments_.segment_bytes = 64;  // one segment
  for (const lc_cipher cipher : {LC_AES_CTR, LC_CHACHA20}) {
    job_.cipher = cipher;
    segments_.number = {4, 8, 0, 0};
    expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
    segments_.number = {};
    expect(LC_ERROR_ARGUMENT, "would use the same nonces");
    segments_.number = {4, 8, 0, UINT64_MAX - 2};
    expect(LC_ERROR_ARGUMENT, "4 launches of 1 segments need more numbers");
  }
  segments_.number = {1, 3, 0, 0};
  expect(LC_ERROR_ARGUMENT, "the blocks of a segment reach the number of the next launch");
  segments_.number = {4, 8, 0, 0};
  memset(nonce_, 0xff, 4);
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");  // a block of 64 bytes
  segments_.text_bytes = segments_.segment_bytes = 65;
  expect(LC_ERROR_ARGUMENT, "the blocks of a segment reach the number of the next launch");
  job_.cipher = LC_AES_CTR;
  segments_.number = {8, 8, 0, 0};
  expect(LC_ERROR_ARGUMENT, "the blocks of a segment reach the number of the next launch");
  segments_.number = {8, 7, 0, 0};
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  nonce_[15] = 252;
  expect(LC_ERROR_ARGUMENT, "the blocks of a segment reach the number of the next launch");
  job_.direction = LC_DECRYPT;
  replays_.verdict = nullptr;
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  job_.verdicts = memory_;
  expect(LC_ERROR_ARGUMENT, "has no tags");
}

TEST_F(CaptureRefuses, WhatNoGraphCanDo) {
  const auto only = [&](const char *text) { expect(LC_ERROR_UNSUPPORTED, text); };
  replays_.verdict = nullptr;
  expect(LC_ERROR_ARGUMENT, "verdict");
  replays_.verdict = memory_;
  replays_.struct_size = 8;
  expect(LC_ERROR_ARGUMENT, "lc_replays");
  replays_.struct_size = sizeof replays_;
  for (void *stream : {LC_STREAM_LEGACY, LC_STREAM_PER_THREAD}) {
    job_.stream = stream;
    only("a stream that the program has made");
  }
  job_.stream = nullptr;
  expect(LC_ERROR_ARGUMENT, "no stream");
  job_.stream = memory_;
  segments_.aad = key_;
  segments_.aad_length = 4097;
  only("4096 bytes of additional data");
  segments_.aad_memory = LC_MEMORY_DEVICE;
  only("are at most 4096 bytes");
  segments_.aad_length = 4096;
  only("captures no graphs");
  segments_.aad_memory = LC_MEMORY_DEVICE_TO_HOST;
  expect(LC_ERROR_ARGUMENT, "unknown kind of memory 2 of additional data");
  segments_.aad_memory = LC_MEMORY_HOST;
  segments_.aad_length = 0;
  job_.iv_bytes = 16;
  only("nonces of 12 bytes");
  job_.iv_bytes = 0;
  job_.tag_memory = LC_MEMORY_HOST;
  only("texts and tags in the device's memory");
  job_.tag_memory = LC_MEMORY_DEVICE;
  segments_.text_bytes = 0;
  expect(LC_ERROR_ARGUMENT, "no text");
  segments_.text_bytes = 64;
  for (const lc_cipher ccm : {LC_AES_CCM, LC_ARIA_CCM}) {
    job_.cipher = ccm;
    only("a graph can have segments alone");
  }
  job_.cipher = LC_AES_GCM;
  job_.memory = LC_MEMORY_DEVICE_TO_HOST;
  job_.tag_memory = LC_MEMORY_HOST;
  segments_.out = memory_ + 128;
  only("a graph can have segments alone");
  job_.memory = LC_MEMORY_DEVICE;
  job_.cipher = LC_AES_CBC;
  expect(LC_ERROR_ARGUMENT, "takes none");
  const lc_message message = {};
  job_.segments = nullptr;
  job_.messages = &message;
  job_.message_size = sizeof message;
  only("a graph can have segments alone");
}

// What is refused is the device, and none of these.
TEST_F(CaptureRefuses, GcmOfNoCipher) {
  job_.key_bytes = 16;
  for (const lc_cipher gcm : {LC_AES_GCM, LC_ARIA_GCM, LC_SM4_GCM}) {
    job_.cipher = gcm;
    expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  }
}

TEST_F(CaptureRefuses, WhatItDoesNotKnow) {
  EXPECT_EQ(LC_OK, lc_captured_free(context_, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_captured_free(context_, reinterpret_cast<lc_captured *>(key_)));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_captured_free(nullptr, reinterpret_cast<lc_captured *>(key_)));
  lc_captured *captured = nullptr;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_capture(nullptr, &job_, &replays_, &captured));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_capture(context_, &job_, &replays_, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_capture(context_, nullptr, &replays_, &captured));
}

}  // namespace
}  // namespace lanecrypt::test
