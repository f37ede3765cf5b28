// Which launch may use the device's key slot, which holds the schedule of one key at a time. Runs
// on the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/block/ciphers.h"
#include "launch/block_launch.h"
#include "unit/support/forwarding_device.h"

namespace lanecrypt::runtime {
namespace {

// The emulator with a key slot. It has no kernels that read the slot, and none runs here.
class SlotDevice : public test::ForwardingDevice {
 public:
  explicit SlotDevice(std::shared_ptr<Device> inner) : ForwardingDevice(std::move(inner)) {
    Result<std::unique_ptr<device::Buffer>> made =
        allocate(device::MemoryKind::kDevice, 2 * BLOCK_MOST_SCHEDULE_WORDS * 4);
    if (made.ok()) slot_ = std::move(*made);
  }
  const device::Buffer *key_slot() override { return slot_.get(); }

 private:
  std::unique_ptr<device::Buffer> slot_;
};

class Stream : public test::ForwardingStream {
 public:
  using ForwardingStream::ForwardingStream;
  Status launch(const device::Launch &) override { return Status(); }
  Status mark(device::Event &event) override {
    return marks_fail ? Status(LC_ERROR_DEVICE, "no mark") : ForwardingStream::mark(event);
  }
  Status zero(const device::Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    return zeros_fail ? Status(LC_ERROR_DEVICE, "no zeros")
                      : ForwardingStream::zero(buffer, offset, bytes);
  }
  bool marks_fail = false, zeros_fail = false;
};

class KeySlot : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<device::Device>> made =
        device::find_host().front().open(device::KernelSet::kCiphers);
    ASSERT_TRUE(made.ok());
    device_ = std::make_unique<SlotDevice>(std::move(*made));
    ASSERT_NE(nullptr, device_->key_slot());
    Result<std::unique_ptr<device::Stream>> stream = device_->make_stream();
    ASSERT_TRUE(stream.ok());
    stream_ = std::make_unique<Stream>(std::move(*stream));
    launch_ = std::make_unique<BlockLaunch>(*device_, BlockForm::kBitslice, BlockGrid());
    Result<std::unique_ptr<device::Buffer>> text =
        device_->allocate(device::MemoryKind::kDevice, 64);
    ASSERT_TRUE(text.ok());
    text_ = std::move(*text);
  }

  ChunkWork work() const {
    ChunkWork made;
    made.kind = {LC_AES_CTR, LC_ENCRYPT, 32};
    made.keys = {key_};
    CipherPiece piece = {};
    piece.length = 64;
    made.pieces = {piece};
    made.in = made.out = text_.get();
    return made;
  }
  // Whether a launch that begins now would use the slot.
  bool may_take_it() {
    ChunkWork next = work();
    const std::unique_ptr<LaunchWorkspace> workspace = launch_->make_workspace();
    EXPECT_TRUE(launch_->upload(*stream_, *workspace, next).ok());
    EXPECT_TRUE(stream_->finish().ok());
    return next.in_slot;
  }

  const uint8_t key_[32] = {1, 2, 3};
  std::unique_ptr<SlotDevice> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<BlockLaunch> launch_;
  std::unique_ptr<device::Buffer> text_;
};

// Its first steps may still wait in a stream, and no mark says when they end.
TEST_F(KeySlot, IsLeftToALaunchThatFailedUntilItHasEnded) {
  for (const bool by_mark : {false, true}) {
    SCOPED_TRACE(by_mark);
    ChunkWork failing = work();
    const std::unique_ptr<LaunchWorkspace> workspace = launch_->make_workspace();
    ASSERT_TRUE(launch_->upload(*stream_, *workspace, failing).ok());
    ASSERT_TRUE(failing.in_slot);
    (by_mark ? stream_->marks_fail : stream_->zeros_fail) = true;
    EXPECT_FALSE(launch_->launch(*stream_, *workspace, failing, nullptr, nullptr).ok());
    stream_->marks_fail = stream_->zeros_fail = false;
    EXPECT_FALSE(may_take_it());
    launch_->has_ended(*workspace);
    EXPECT_TRUE(may_take_it());
  }
}

// A launch that waits for this mark may begin after it.
TEST_F(KeySlot, IsForTheNextWhereALaunchHasMarkedItsEnd) {
  ChunkWork first = work();
  const std::unique_ptr<LaunchWorkspace> workspace = launch_->make_workspace();
  ASSERT_TRUE(launch_->upload(*stream_, *workspace, first).ok());
  EXPECT_TRUE(launch_->launch(*stream_, *workspace, first, nullptr, nullptr).ok());
  EXPECT_TRUE(may_take_it());
}

}  // namespace
}  // namespace lanecrypt::runtime
