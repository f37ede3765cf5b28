// A job leaves nothing in a device's memory that depends on its keys. The same jobs run twice, with
// different keys and otherwise equal inputs. Afterwards the device memory and the pinned host
// memory must be the same both times, except the data themselves, which are in buffers of two known
// sizes. No key may be in memory that the program frees meanwhile. Runs on the emulator and on
// CUDA.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "cipher/executor.h"
#include "device/device_enumeration.h"
#include "unit/support/forwarding_device.h"
#include "unit/support/freed_memory.h"
#include "unit/support/one_executor.h"
#include "unit/support/one_message.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::runtime {
namespace {

using device::Buffer;
using device::MemoryKind;
using test::Bytes;

bool holds_data(const Buffer &buffer) {
  return buffer.bytes() == kChunkBytes || buffer.bytes() == kSmallSlotBytes;
}

// Reads a device's memory, on the device's thread.
class Watch {
 public:
  void begin(device::Device *device) { device_ = device; }
  void add(device::Stream *stream) { streams_.push_back(stream); }
  void add(const Buffer *buffer) { live_[next_++] = buffer; }
  // Reads the content of a buffer that is about to be freed.
  void remove(const Buffer *buffer) {
    const auto at = std::find_if(live_.begin(), live_.end(),
                                 [&](const auto &entry) { return entry.second == buffer; });
    if (!holds_data(*buffer)) freed_.push_back(read(*buffer));
    live_.erase(at);
  }
  Bytes read(const Buffer &buffer) const {
    Bytes content(buffer.bytes());
    if (buffer.kind() == MemoryKind::kPinned) {
      std::memcpy(content.data(), buffer.host(), content.size());
      return content;
    }
    Result<std::unique_ptr<device::Stream>> stream = device_->make_stream();
    EXPECT_TRUE(stream.ok());
    EXPECT_TRUE((*stream)->download(content.data(), buffer, 0, content.size()).ok());
    EXPECT_TRUE((*stream)->finish().ok());
    return content;
  }
  // Returns the content of all memory that was freed since the last call, and of all live memory.
  // Waits first until the device has done all its work, because a job ends before its keys are
  // zeroed.
  std::vector<Bytes> take() {
    for (device::Stream *stream : streams_) EXPECT_TRUE(stream->finish().ok());
    std::vector<Bytes> all = std::move(freed_);
    freed_.clear();
    for (const auto &[number, buffer] : live_)
      if (!holds_data(*buffer)) all.push_back(read(*buffer));
    if (device_->key_slot() != nullptr) all.push_back(read(*device_->key_slot()));
    return all;
  }

 private:
  device::Device *device_ = nullptr;
  uint64_t next_ = 0;
  std::map<uint64_t, const Buffer *> live_;  // in the order of allocation
  std::vector<Bytes> freed_;
  std::vector<device::Stream *> streams_;  // owned by the pipeline
};

class WatchedBuffer : public test::ForwardingBuffer {
 public:
  WatchedBuffer(std::unique_ptr<Buffer> inner, Watch &watch)
      : ForwardingBuffer(std::move(inner)), watch_(watch) {
    watch_.add(this);
  }
  ~WatchedBuffer() override { watch_.remove(this); }

 private:
  Watch &watch_;
};

class WatchedDevice : public test::ForwardingDevice {
 public:
  WatchedDevice(std::unique_ptr<Device> made, Watch &watch)
      : ForwardingDevice(std::move(made)), watch_(watch) {
    watch_.begin(&inner());
  }
  Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) override {
    Result<std::unique_ptr<Buffer>> buffer = inner().allocate(kind, bytes);
    if (!buffer.ok()) return buffer.status();
    // Old contents must not affect the comparison.
    if (kind == MemoryKind::kPinned) {
      std::memset((*buffer)->host(), 0, bytes);
    } else {
      Result<std::unique_ptr<device::Stream>> stream = inner().make_stream();
      if (!stream.ok()) return stream.status();
      LC_TRY((*stream)->zero(**buffer, 0, bytes));
      LC_TRY((*stream)->finish());
    }
    return std::unique_ptr<Buffer>(new WatchedBuffer(std::move(*buffer), watch_));
  }
  Result<std::unique_ptr<device::Stream>> make_stream() override {
    Result<std::unique_ptr<device::Stream>> stream = inner().make_stream();
    if (stream.ok()) watch_.add(stream->get());
    return stream;
  }

 private:
  Watch &watch_;
};

// One executor on a watched device, and jobs under keys from one seed.
class Trial {
 public:
  Trial(const device::Found &device, uint64_t key_seed) : keys_(key_seed) {
    device::Found found = test::wrapped(device, [this](auto inner) {
      return std::make_unique<WatchedDevice>(std::move(inner), watch_);
    });
    PipelineOptions options;
    options.pinned_bytes = 1 << 20;
    executor_ = test::executor_of(std::move(found), options, pinned_, copy_threads_);
    const Status status = executor_->make_ready();
    EXPECT_TRUE(status.ok()) << status.text();
  }

  // Runs messages of these lengths. The IV and everything else except the keys comes from
  // `data_seed`.
  void job(lc_cipher cipher, lc_direction direction, uint32_t iv_bytes,
           const std::vector<uint64_t> &lengths, uint64_t data_seed) {
    const CipherInfo &info = cipher_info(cipher);
    test::Random data(data_seed);
    const uint32_t key_bytes = (info.key_sizes & kKey128 ? 16 : 32) * info.keys;
    std::vector<Bytes> keys, ivs, aads, texts, tags;
    std::vector<lc_message> messages;
    for (uint64_t length : lengths) {
      keys.emplace_back(key_bytes);
      keys_.fill(keys.back().data(), key_bytes);
      ivs.emplace_back(std::max(iv_bytes, 16u));
      aads.emplace_back(33);
      texts.emplace_back(length);
      tags.emplace_back(16);
      for (auto *bytes : {&ivs, &aads, &texts, &tags})
        data.fill(bytes->back().data(), bytes->back().size());
    }
    for (size_t n = 0; n < lengths.size(); n++) {
      lc_message message = test::plain_message(keys[n].data(), ivs[n].data(), texts[n].data(),
                                               texts[n].data(), lengths[n]);
      if (info.is_aead) {
        message.aad = aads[n].data();
        message.aad_length = aads[n].size();
        message.tag = tags[n].data();
      }
      messages.push_back(message);
    }
    lc_cipher_job asked = test::job_of(messages, cipher, direction, key_bytes);
    asked.iv_bytes = iv_bytes;
    // On decryption the tags are random, and therefore wrong.
    const bool opens = info.is_aead && direction == LC_DECRYPT;
    run(asked, opens ? LC_ERROR_TAG : LC_OK);
  }

  // Allocates device memory of a size that holds data.
  uint64_t allocate() {
    uint64_t memory = 0;
    use([&](DeviceMemory &all) {
      Result<uint64_t> made = all.allocate(kSmallSlotBytes);
      ASSERT_TRUE(made.ok()) << made.status().text();
      memory = *made;
    });
    return memory;
  }

  // Runs messages in that memory, each with its own key. The tags stay in device memory.
  void job_on_device(lc_cipher cipher, const std::vector<uint64_t> &lengths, uint64_t memory) {
    std::vector<Bytes> keys(lengths.size(), Bytes(32));
    const Bytes iv(12, 2), aad(20, 3);
    std::vector<lc_message> messages;
    auto *place = reinterpret_cast<uint8_t *>(memory);
    for (size_t n = 0; n < lengths.size(); n++) {
      keys_.fill(keys[n].data(), keys[n].size());
      lc_message message = {};
      message.key = keys[n].data();
      message.iv = iv.data();
      message.tag = place;
      message.in = message.out = place + 16;
      message.length = lengths[n];
      message.aad = aad.data();
      message.aad_length = aad.size();
      messages.push_back(message);
      place += 16 + lengths[n];
    }
    lc_cipher_job asked = test::job_of(messages, cipher);
    asked.memory = asked.tag_memory = LC_MEMORY_DEVICE;
    asked.device = 0;
    asked.has_device = 1;
    const test::FreedMemory freed(keys);
    run(asked, LC_OK);
    EXPECT_EQ(0u, freed.found()) << "keys in freed memory";
    EXPECT_GT(freed.looked_at(), 0u);
  }

  std::vector<Bytes> memory() {
    std::vector<Bytes> all;
    use([&](DeviceMemory &) { all = watch_.take(); });
    return all;
  }

 private:
  void run(const lc_cipher_job &asked, lc_status expected) {
    Result<CipherJob> made = make_cipher_job(&asked);
    ASSERT_TRUE(made.ok()) << made.status().text();
    const RequestPointer request = std::make_shared<Request>(std::move(*made), nullptr);
    ASSERT_TRUE(executor_->submit(request));
    const Status status = request->wait();
    ASSERT_EQ(expected, status.code()) << status.text();
  }
  void use(const std::function<void(DeviceMemory &)> &work) {
    const Status status = executor_->call([&](device::Device &, DeviceMemory &memory) {
      work(memory);
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status.text();
  }

  Watch watch_;
  test::Random keys_;
  PinnedMemory pinned_;
  CopyThreads copy_threads_;
  std::unique_ptr<Executor> executor_;
};

void compare(const std::vector<Bytes> &one, const std::vector<Bytes> &other) {
  ASSERT_EQ(one.size(), other.size());
  for (size_t n = 0; n < one.size(); n++) {
    ASSERT_EQ(one[n].size(), other[n].size());
    const auto [at, unused] = std::mismatch(one[n].begin(), one[n].end(), other[n].begin());
    EXPECT_TRUE(at == one[n].end())
        << "buffer " << n << ", of " << one[n].size() << " bytes, tells of the key from byte "
        << at - one[n].begin() << " on";
  }
}

class WipedMemory : public testing::TestWithParam<const char *> {
 protected:
  ~WipedMemory() override { unsetenv("LANECRYPT_AES_FORM"); }

  // Finds the first usable device of the API. Returns whether there is one.
  bool find(const std::string &api) {
    setenv("LANECRYPT_AES_FORM", GetParam(), 1);
    for (const device::Found &found : device::find_all_here())
      if (found.properties.api == api && found.properties.unusable.empty()) {
        device_ = found;
        return true;
      }
    return false;
  }

  void check_every_mode() {
    Trial one(device_, 1), other(device_, 2);
    uint64_t seed = 100;
    const auto check = [&](const CipherInfo &info, lc_direction direction, uint32_t iv_bytes,
                           const std::vector<uint64_t> &lengths) {
      SCOPED_TRACE(std::string(info.title) +
                   (direction == LC_ENCRYPT ? " encryption" : " decryption") + ", IVs of " +
                   std::to_string(iv_bytes) + " bytes");
      seed++;
      for (Trial *trial : {&one, &other})
        trial->job(info.cipher, direction, iv_bytes, lengths, seed);
      compare(one.memory(), other.memory());
    };
    compare(one.memory(), other.memory());
    for (const CipherInfo &info : kCipherInfos)
      for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
        if (info.is_cpu_only) continue;
        check(info, direction, info.iv_bytes, {160, 48, 4096, 320, 64});
        // A single key may be stored elsewhere, and so may a counter that is computed with H.
        check(info, direction, info.cipher == LC_AES_GCM ? 20 : info.iv_bytes, {1280});
      }
    // Long enough for tables of H's powers.
    check(cipher_info(LC_AES_GCM), LC_ENCRYPT, 12, {1200000});
    // Long enough for the powers of r as matrices.
    check(cipher_info(LC_CHACHA20_POLY1305), LC_ENCRYPT, 12, {1200000});
    // Tags that stay on the device: of as many messages as one launch does at once, of one, and of
    // a longer one. Launches contain addresses, so both trials use the same memory.
    const uint64_t memory = one.allocate();
    std::vector<uint64_t> many(64, 48);
    many.back() = 16000;
    for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305, LC_AES_CCM})
      for (const std::vector<uint64_t> &lengths : {many, {48}, {40000}}) {
        SCOPED_TRACE(std::string(cipher_info(cipher).title) + " on the device, " +
                     std::to_string(lengths.size()) + " messages, the last of " +
                     std::to_string(lengths.back()) + " bytes");
        for (Trial *trial : {&one, &other}) trial->job_on_device(cipher, lengths, memory);
        compare(one.memory(), other.memory());
      }
  }

  // Streams that are cut into slices have their own chaining values, which are freed with the job.
  void check_slices() {
    if (std::string(GetParam()) == "bitslice") return;
    constexpr size_t kStreams = 203;  // more streams would not be cut
    Trial trial(device_, 3);
    trial.job(LC_AES_OFB, LC_ENCRYPT, 16,
              std::vector<uint64_t>(kStreams, kChunkBytes / kStreams + 1000), 99);
    size_t found = 0;
    for (const Bytes &content : trial.memory()) {
      if (content.size() != kStreams * kBlockBytes) continue;
      found++;
      EXPECT_EQ(Bytes(content.size()), content);
    }
    EXPECT_EQ(1u, found);
  }

  device::Found device_;
};

TEST_P(WipedMemory, OnTheHostDevice) {
  ASSERT_TRUE(find("host"));
  check_every_mode();
  check_slices();
}

TEST_P(WipedMemory, OnCuda) {
  if (!find("cuda")) GTEST_SKIP() << "needs a GPU: none was found for CUDA";
  check_every_mode();
  check_slices();
}

INSTANTIATE_TEST_SUITE_P(, WipedMemory, testing::Values("table4", "table1", "bitslice"),
                         [](const auto &one) { return std::string(one.param); });

}  // namespace
}  // namespace lanecrypt::runtime
