// A device's thread that cannot allocate memory when a chunk has ended or failed on the device.
// From then on each of its allocations fails in turn, or all do. The request ends, no text with a
// wrong tag is released, and the process continues. Runs on the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "device/device_enumeration.h"
#include "placement/dispatcher.h"
#include "unit/support/failing_memory.h"
#include "unit/support/forwarding_device.h"
#include "unit/support/one_message.h"

namespace lanecrypt::test {
namespace {

// What happens to the next chunk.
struct Plan {
  std::atomic<bool> is_armed{false};
  lc_status outcome = LC_OK;
  long allocations = 0;
  bool lasts = false;

  Status strike(Status otherwise) {
    if (!is_armed.exchange(false)) return otherwise;
    fail_here_after(allocations, lasts);
    return outcome == LC_OK ? otherwise : Status(outcome, "");
  }
};

// Exempts the emulator from failures, because a real driver has its own memory.
struct EmulatorSpared {
  EmulatorSpared() { spare_this_thread(true); }
  ~EmulatorSpared() { spare_this_thread(false); }
};

class Event : public device::Event {
 public:
  Event(std::unique_ptr<device::Event> inner, Plan &plan) : inner_(std::move(inner)), plan_(plan) {}
  // The device's thread calls these for a chunk that is alone. `reached` waits, so that the chunk
  // is over at once and no other thread waits for it.
  bool reached() override { return inner_->wait().ok() || inner_->reached(); }
  Status wait() override { return plan_.strike(inner_->wait()); }
  Status wait_long() override { return inner_->wait_long(); }
  uint64_t nanoseconds_since(device::Event &earlier) override {
    return inner_->nanoseconds_since(static_cast<Event &>(earlier).inner());
  }
  device::Event &inner() { return *inner_; }

 private:
  std::unique_ptr<device::Event> inner_;
  Plan &plan_;
};

class Stream : public ForwardingStream {
 public:
  using ForwardingStream::ForwardingStream;
  Status mark(device::Event &event) override {
    const EmulatorSpared spared;
    return ForwardingStream::mark(static_cast<Event &>(event).inner());
  }
  Status await(device::Event &event) override {
    const EmulatorSpared spared;
    return ForwardingStream::await(static_cast<Event &>(event).inner());
  }
  Status zero(const device::Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    const EmulatorSpared spared;
    return ForwardingStream::zero(buffer, offset, bytes);
  }
  Status finish() override {
    const EmulatorSpared spared;
    return ForwardingStream::finish();
  }
};

class Device : public ForwardingDevice {
 public:
  Device(std::unique_ptr<device::Device> inner, Plan &plan)
      : ForwardingDevice(std::move(inner)), plan_(plan) {}
  Result<std::unique_ptr<device::Stream>> make_stream() override {
    Result<std::unique_ptr<device::Stream>> made = inner().make_stream();
    if (!made.ok()) return made.status();
    return std::unique_ptr<device::Stream>(new Stream(std::move(*made)));
  }
  Result<std::unique_ptr<device::Event>> make_event() override {
    Result<std::unique_ptr<device::Event>> made = [this] {
      const EmulatorSpared spared;
      return inner().make_event();
    }();
    if (!made.ok()) return made.status();
    return std::unique_ptr<device::Event>(new Event(std::move(*made), plan_));
  }

 private:
  Plan &plan_;
};

struct Case {
  lc_cipher cipher;
  lc_direction direction;
  bool has_wrong_tag;
};

class ExecutorWithoutMemory : public testing::TestWithParam<std::tuple<lc_status, bool>> {
 protected:
  static constexpr size_t kBytes = 4096;

  Status run(const Case &one, std::vector<uint8_t> &out) {
    runtime::DispatcherOptions options;
    options.devices = "host";
    options.fallback = LC_FALLBACK_CPU;
    options.pipeline.skip_self_test = true;
    options.find = [this] {
      device::DeviceEnumeration all = device::enumerate_devices({"host"});
      for (device::Found &found : all.found)
        found = wrapped(std::move(found), [this](std::unique_ptr<device::Device> inner) {
          return std::make_unique<Device>(std::move(inner), plan_);
        });
      return all;
    };
    runtime::Dispatcher dispatcher(options);
    EXPECT_TRUE(dispatcher.device(0)->make_ready().ok());

    std::vector<uint8_t> tag = tag_;
    if (one.has_wrong_tag) tag[0] ^= 1;
    lc_message message = plain_message(key_.data(), key_.data(), in_.data(), out.data(), kBytes);
    message.aad = key_.data();
    message.aad_length = 20;
    message.tag = one.cipher == LC_AES_GCM ? tag.data() : nullptr;
    const lc_cipher_job job = job_of(message, one.cipher, one.direction);
    Result<CipherJob> made = make_cipher_job(&job);
    EXPECT_TRUE(made.ok()) << made.status().text();
    const auto request = std::make_shared<runtime::Request>(std::move(*made), nullptr);
    plan_.is_armed = true;
    EXPECT_TRUE(dispatcher.submit(request).ok());
    const Status status = request->wait();
    has_struck_ = !plan_.is_armed.exchange(false);
    has_failed_ = end_failing();
    if (one.direction == LC_ENCRYPT && status.ok()) tag_ = tag;
    return status;
  }

  Plan plan_;
  bool has_struck_ = false, has_failed_ = false;
  const std::vector<uint8_t> key_ = std::vector<uint8_t>(32, 9);
  std::vector<uint8_t> in_ = std::vector<uint8_t>(kBytes, 5), tag_ = std::vector<uint8_t>(16);
};

TEST_P(ExecutorWithoutMemory, EveryRequestEnds) {
  const auto &[outcome, lasts] = GetParam();
  for (const Case &one : {Case{LC_AES_CTR, LC_ENCRYPT, false},
                          {LC_AES_CBC, LC_ENCRYPT, false},
                          {LC_AES_GCM, LC_ENCRYPT, false},
                          {LC_AES_GCM, LC_DECRYPT, false},
                          {LC_AES_GCM, LC_DECRYPT, true}}) {
    // Encrypts with memory available. GCM then decrypts the result.
    if (one.direction == LC_DECRYPT) {
      std::vector<uint8_t> sealed(kBytes);
      plan_.outcome = LC_OK;
      plan_.allocations = 1000000;
      in_.assign(kBytes, 5);
      ASSERT_TRUE(run({LC_AES_GCM, LC_ENCRYPT, false}, sealed).ok());
      in_ = sealed;
    }
    std::vector<uint8_t> right(kBytes);
    plan_.outcome = LC_OK;
    plan_.allocations = 1000000;
    Case good = one;
    good.has_wrong_tag = false;
    ASSERT_TRUE(run(good, right).ok());

    plan_.outcome = outcome;
    plan_.lasts = lasts;
    for (plan_.allocations = 0;; ++plan_.allocations) {
      SCOPED_TRACE(plan_.allocations);
      std::vector<uint8_t> out(kBytes);
      const Status status = run(one, out);
      ASSERT_TRUE(has_struck_);
      if (status.ok()) {
        EXPECT_FALSE(one.has_wrong_tag);
      }
      if (status.ok() || one.has_wrong_tag) {
        EXPECT_EQ(status.ok(), out == right);
      } else {
        EXPECT_TRUE(status.code() == LC_ERROR_MEMORY || status.code() == outcome) << status.text();
      }
      if (!has_failed_) {
        EXPECT_EQ(one.has_wrong_tag ? LC_ERROR_TAG : LC_OK, status.code()) << status.text();
        break;
      }
      ASSERT_LT(plan_.allocations, 1000) << "it never ends";
    }
    in_.assign(kBytes, 5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExecutorWithoutMemory,
                         testing::Combine(testing::Values(LC_OK, LC_ERROR_DEVICE, LC_ERROR_MEMORY),
                                          testing::Bool()));

}  // namespace
}  // namespace lanecrypt::test
