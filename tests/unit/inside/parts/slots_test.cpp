// How many chunks are processed at a time, and how much host memory they take. Runs on the
// emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "pipeline/pipeline.h"
#include "unit/support/forwarding_device.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::runtime {
namespace {

using device::Buffer;
using device::MemoryKind;
using Bytes = std::vector<uint8_t>;

constexpr uint64_t kStreamBytes = 256, kStreams = 256, kChunk = kStreamBytes * kStreams;
constexpr ChunkLimits kLimits = {kChunk, 1 << 16};

// The existing buffers for chunk data.
struct Memory {
  std::set<const Buffer *> pinned, device;
  size_t most_on_device = SIZE_MAX;
};

class CountedBuffer : public test::ForwardingBuffer {
 public:
  CountedBuffer(std::unique_ptr<Buffer> inner, std::set<const Buffer *> &counted)
      : ForwardingBuffer(std::move(inner)), counted_(counted) {
    counted_.insert(this);
  }
  ~CountedBuffer() override { counted_.erase(this); }

 private:
  std::set<const Buffer *> &counted_;
};

class CountedDevice : public test::ForwardingDevice {
 public:
  CountedDevice(std::unique_ptr<Device> inner, Memory &memory)
      : ForwardingDevice(std::move(inner)), memory_(memory) {}
  Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) override {
    const bool is_data = bytes == kChunkBytes || bytes == kSmallSlotBytes;
    if (is_data && kind == MemoryKind::kDevice && memory_.device.size() == memory_.most_on_device)
      return Status(LC_ERROR_MEMORY, "no more");
    Result<std::unique_ptr<Buffer>> made = inner().allocate(kind, bytes);
    if (!made.ok() || !is_data) return made;
    return std::unique_ptr<Buffer>(new CountedBuffer(
        std::move(*made), kind == MemoryKind::kDevice ? memory_.device : memory_.pinned));
  }

 private:
  Memory &memory_;
};

class Slots : public testing::Test {
 protected:
  void open(uint64_t pinned_bytes) {
    Result<std::unique_ptr<device::Device>> device =
        device::find_host().front().open(device::KernelSet::kCiphers);
    ASSERT_TRUE(device.ok());
    device_ = std::make_unique<CountedDevice>(std::move(*device), memory_);
    PipelineOptions options;
    options.pinned_bytes = pinned_bytes;
    options.time_limit = std::chrono::minutes(1);
    pipeline_ = std::make_unique<Pipeline>(*device_, LaunchForm{BlockForm::kTable1, {}}, options,
                                           pinned_, copy_threads_, wake_event_);
    ASSERT_TRUE(pipeline_->open().ok());
  }
  ~Slots() override {
    if (pipeline_ != nullptr) pipeline_->await_copies();
    pipeline_.reset();
  }

  // Returns a request for CBC encryption, or for decryption of its output, not in place. Each
  // stream has its own IV.
  RequestPointer request(lc_direction direction, const Bytes &in, Bytes &out,
                         uint64_t stream_bytes = kStreamBytes) {
    std::vector<lc_message> list(in.size() / stream_bytes);
    for (size_t n = 0; n < list.size(); ++n) {
      list[n].key = key_.data();
      list[n].iv = &ivs_[n * 16 % ivs_.size()];
      list[n].in = &in[n * stream_bytes];
      list[n].out = &out[n * stream_bytes];
      list[n].length = stream_bytes;
    }
    lc_cipher_job asked = {};
    asked.struct_size = sizeof asked;
    asked.cipher = LC_AES_CBC;
    asked.direction = direction;
    asked.key_bytes = static_cast<uint32_t>(key_.size());
    asked.device = LC_ANY_DEVICE;
    asked.messages = list.data();
    asked.message_count = list.size();
    asked.message_size = sizeof list[0];
    Result<CipherJob> made = make_cipher_job(&asked);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::make_shared<Request>(std::move(*made), nullptr);
  }
  // Starts as many chunks as there are slots for, and returns their number.
  size_t start() {
    size_t started = 0;
    for (; !queue_.empty() && pipeline_->has_free_slot(false); ++started)
      pipeline_->start(cut_chunk(queue_, kLimits));
    return started;
  }
  void retire() {
    const Retired retired = pipeline_->retire();
    EXPECT_TRUE(retired.status.ok()) << retired.status.text();
  }
  void pass_all() {
    do {
      (void)start();
      if (!pipeline_->is_idle()) retire();
    } while (!queue_.empty() || !pipeline_->is_idle());
  }
  // Decrypts with the same device, which uses another kernel than encryption.
  Bytes decrypted(const Bytes &in) {
    Bytes out(in.size());
    queue_ = {request(LC_DECRYPT, in, out)};
    pass_all();
    return out;
  }
  Bytes text(size_t chunks) {
    Bytes made(chunks * kChunk);
    random_.fill(made.data(), made.size());
    return made;
  }

  test::Random random_{9};
  const Bytes key_ = Bytes(16, 7), ivs_ = text(1);
  Memory memory_;
  PinnedMemory pinned_;
  CopyThreads copy_threads_;
  AutoResetEvent wake_event_;
  std::unique_ptr<CountedDevice> device_;
  std::unique_ptr<Pipeline> pipeline_;
  std::list<RequestPointer> queue_;
};

// Pinned streams need no ring.
TEST_F(Slots, StreamsThatNeedNoRingAreManyTogether) {
  open(256 << 20);
  const Bytes in = text(40);
  Bytes out(in.size());
  pinned_.add(in.data(), in.size());
  pinned_.add(out.data(), out.size());
  queue_ = {request(LC_ENCRYPT, in, out)};
  EXPECT_EQ(16u, start());
  EXPECT_TRUE(memory_.pinned.empty());
  pass_all();
  EXPECT_TRUE(memory_.pinned.empty());
  EXPECT_TRUE(in == decrypted(out));
}

// Their kernels end soon, so as many chunks as the ring has are enough to hide that.
TEST_F(Slots, ShortStreamsAreNoMoreThanTheRingHas) {
  open(256 << 20);
  const Bytes in = text(20);
  Bytes out(in.size());
  pinned_.add(in.data(), in.size());
  pinned_.add(out.data(), out.size());
  queue_ = {request(LC_ENCRYPT, in, out, kStreamBytes / 2)};
  EXPECT_EQ(8u, start());
  EXPECT_TRUE(memory_.pinned.empty());
  pass_all();
}

// The ring limits the number of all other chunks.
TEST_F(Slots, OthersHaveTheRing) {
  open(128 << 20);
  const Bytes in = text(12);
  Bytes out(in.size());
  queue_ = {request(LC_ENCRYPT, in, out)};
  EXPECT_EQ(4u, start());
  pass_all();
  EXPECT_EQ(8u, memory_.pinned.size());
  pinned_.add(in.data(), in.size());
  queue_ = {request(LC_ENCRYPT, in, out)};
  EXPECT_EQ(4u, start());
  pass_all();
  pinned_.add(out.data(), out.size());
  queue_ = {request(LC_DECRYPT, out, out)};
  EXPECT_EQ(4u, start());  // CBC decryption is no chain
  pass_all();
  EXPECT_TRUE(in == out);
}

// Chunks that need the ring follow others that do not. The ring keeps its size.
TEST_F(Slots, TheRingDoesNotGrow) {
  open(64 << 20);
  const Bytes in = text(30), more = text(9);
  Bytes out(in.size()), more_out(more.size());
  pinned_.add(in.data(), in.size());
  pinned_.add(out.data(), out.size());
  for (int round = 0; round < 3; ++round) {
    std::fill(out.begin(), out.end(), 0);
    std::fill(more_out.begin(), more_out.end(), 0);
    const RequestPointer pinned = request(LC_ENCRYPT, in, out);
    queue_ = {pinned};
    EXPECT_EQ(16u, start());
    // One chunk of each kind in turn.
    queue_.push_front(request(LC_ENCRYPT, more, more_out));
    retire();
    EXPECT_EQ(1u, start());
    while (!queue_.empty() || !pipeline_->is_idle()) {
      (void)start();
      EXPECT_LE(memory_.pinned.size(), 4u);
      if (!pipeline_->is_idle()) retire();
    }
    EXPECT_TRUE(more == decrypted(more_out));
    EXPECT_TRUE(in == decrypted(out));
    EXPECT_LE(memory_.pinned.size(), 4u);
  }
}

TEST_F(Slots, WithoutMemoryTheyAreFewer) {
  open(64 << 20);
  const Bytes in = text(20);
  Bytes out(in.size());
  pinned_.add(in.data(), in.size());
  pinned_.add(out.data(), out.size());
  memory_.most_on_device = 11;
  queue_ = {request(LC_ENCRYPT, in, out)};
  EXPECT_EQ(5u, start());
  EXPECT_EQ(10u, memory_.device.size());
  pass_all();
  EXPECT_TRUE(in == decrypted(out));
}

// Otherwise a chunk would have no launch, or two workspaces.
TEST(Launches, EachKindHasOne) {
  Result<std::unique_ptr<device::Device>> device =
      device::find_host().front().open(device::KernelSet::kCiphers);
  ASSERT_TRUE(device.ok());
  const auto launches = make_chunk_launches(**device, {BlockForm::kTable1, {}});
  for (const CipherInfo &info : kCipherInfos)
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      const CipherKind kind = {info.cipher, direction, 32};
      size_t takers = 0;
      for (const std::unique_ptr<ChunkLaunch> &launch : launches) {
        if (!launch->takes(kind)) continue;
        ++takers;
        EXPECT_NE(0u, launch->max_pieces(kind));
      }
      EXPECT_EQ(1u, takers) << kind.name();
    }
}

}  // namespace
}  // namespace lanecrypt::runtime
