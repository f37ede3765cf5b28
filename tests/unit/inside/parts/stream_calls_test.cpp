// The device calls that a chunk needs in addition to its kernels. Each call delays the next one, on
// the bus or on the calling thread. Runs on the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>

#include "cipher/executor.h"
#include "unit/support/forwarding_device.h"
#include "unit/support/one_executor.h"
#include "unit/support/one_message.h"

namespace lanecrypt::runtime {
namespace {

using device::Buffer;
using Counts = std::map<std::string, int>;

class CountedStream : public test::ForwardingStream {
 public:
  CountedStream(std::unique_ptr<Stream> inner, Counts &counts)
      : ForwardingStream(std::move(inner)), counts_(counts) {}
  Status upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) override {
    ++counts_["upload"];
    return ForwardingStream::upload(to, offset, from, bytes);
  }
  Status download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) override {
    ++counts_["download"];
    return ForwardingStream::download(to, from, offset, bytes);
  }
  Status copy(const Buffer &to, uint64_t to_offset, const Buffer &from, uint64_t from_offset,
              uint64_t bytes) override {
    ++counts_["copy"];
    return ForwardingStream::copy(to, to_offset, from, from_offset, bytes);
  }
  Status zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    ++counts_["zero"];
    return ForwardingStream::zero(buffer, offset, bytes);
  }
  Status launch(const device::Launch &launch) override {
    ++counts_[launch.kernel];
    return ForwardingStream::launch(launch);
  }
  Status mark(device::Event &event) override {
    ++counts_["mark"];
    return ForwardingStream::mark(event);
  }
  Status await(device::Event &event) override {
    ++counts_["await"];
    return ForwardingStream::await(event);
  }

 private:
  Counts &counts_;
};

class CountedDevice : public test::ForwardingDevice {
 public:
  CountedDevice(std::unique_ptr<Device> inner, Counts &counts)
      : ForwardingDevice(std::move(inner)), counts_(counts) {}
  Result<std::unique_ptr<device::Stream>> make_stream() override {
    Result<std::unique_ptr<device::Stream>> stream = inner().make_stream();
    if (!stream.ok()) return stream;
    return std::unique_ptr<device::Stream>(new CountedStream(std::move(*stream), counts_));
  }

 private:
  Counts &counts_;
};

class StreamCalls : public testing::Test {
 protected:
  void SetUp() override { open(""); }
  ~StreamCalls() override {
    unsetenv("LANECRYPT_HOST_FAULT");
    unsetenv("LANECRYPT_AES_FORM");
  }

  void open(const char *fault) {
    executor_.reset();
    setenv("LANECRYPT_HOST_FAULT", fault, 1);
    device::Found found = test::wrapped(device::find_host().front(), [this](auto inner) {
      return std::make_unique<CountedDevice>(std::move(inner), counts_);
    });
    PipelineOptions options;
    options.skip_self_test = true;
    executor_ = test::executor_of(std::move(found), options, pinned_, copy_threads_);
    ASSERT_TRUE(executor_->make_ready().ok());
  }

  // Returns the calls for one chunk of messages under one key.
  Counts count(lc_cipher cipher, size_t messages = 1) {
    const std::vector<uint8_t> key(32, 1), aad(20, 3);
    std::vector<uint8_t> ivs(messages * 16, 2), texts(messages * 48), tags(messages * 16);
    std::vector<lc_message> list(messages);
    for (size_t n = 0; n < messages; ++n) {
      list[n].key = key.data();
      ivs[n * 16] = static_cast<uint8_t>(n);
      ivs[n * 16 + 1] = static_cast<uint8_t>(n >> 8);
      list[n].iv = &ivs[n * 16];
      list[n].in = list[n].out = &texts[n * 48];
      list[n].length = 48;
      if (!cipher_info(cipher).is_aead) continue;
      list[n].aad = aad.data();
      list[n].aad_length = aad.size();
      list[n].tag = &tags[n * 16];
    }
    return count(test::job_of(list, cipher));
  }

  // Returns the calls for a message in device memory whose tag stays there.
  Counts count_on_device(lc_cipher cipher, uint64_t length) {
    const std::vector<uint8_t> key(32, 1), iv(12, 2), aad(20, 3);
    uint64_t memory = 0;
    on_its_thread([&](DeviceMemory &all) {
      Result<uint64_t> made = all.allocate(length + 16);
      ASSERT_TRUE(made.ok()) << made.status().text();
      memory = *made;
    });
    uint8_t *const tag = reinterpret_cast<uint8_t *>(memory), *const text = tag + 16;
    lc_message message = test::plain_message(key.data(), iv.data(), text, text, length);
    message.tag = tag;
    message.aad = aad.data();
    message.aad_length = aad.size();
    lc_cipher_job asked = test::job_of(message, cipher);
    asked.memory = asked.tag_memory = LC_MEMORY_DEVICE;
    asked.device = 0;
    asked.has_device = 1;
    const Counts counted = count(asked);
    on_its_thread([&](DeviceMemory &all) { EXPECT_TRUE(all.free(memory).ok()); });
    return counted;
  }

  Counts count(const lc_cipher_job &asked) {
    Counts counted;
    Result<CipherJob> made = make_cipher_job(&asked);
    EXPECT_TRUE(made.ok()) << made.status().text();
    if (!made.ok()) return counted;
    const RequestPointer request = std::make_shared<Request>(std::move(*made), nullptr);
    on_its_thread([&](DeviceMemory &) { counts_.clear(); });
    EXPECT_TRUE(executor_->submit(request));
    const Status status = request->wait();
    EXPECT_TRUE(status.ok()) << status.text();
    on_its_thread([&](DeviceMemory &) { counted = counts_; });
    return counted;
  }

  void on_its_thread(const std::function<void(DeviceMemory &)> &work) {
    const Status status = executor_->call([&](device::Device &, DeviceMemory &memory) {
      work(memory);
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status.text();
  }

  Counts counts_;  // written only by the device's thread
  PinnedMemory pinned_;
  CopyThreads copy_threads_;
  std::unique_ptr<Executor> executor_;
};

constexpr const char *kOtherCalls[] = {"upload", "copy", "zero", "download", "mark", "await"};

TEST_F(StreamCalls, AuthenticatedAsOfCtr) {
  Counts ctr = count(LC_AES_CTR);
  EXPECT_EQ(2, ctr["upload"]);  // what the launch needs, and the text
  EXPECT_EQ(1, ctr["download"]);
  for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305}) {
    SCOPED_TRACE(cipher_info(cipher).title);
    Counts counted = count(cipher);
    for (const char *call : kOtherCalls) {
      // The key schedule has its own memory.
      const int fewer = cipher == LC_CHACHA20_POLY1305 && std::string(call) == "zero" ? 1 : 0;
      EXPECT_EQ(ctr[call] - fewer, counted[call]) << call;
    }
    EXPECT_EQ(cipher == LC_AES_GCM ? 1 : 0, counted["aes_expand_keys"]);
  }
}

// Such a launch needs no other calls but marks: of its beginning, its end, and the chunk's end.
TEST_F(StreamCalls, ShortMessageIsOneLaunch) {
  setenv("LANECRYPT_AES_FORM", "table4", 1);
  const std::pair<lc_cipher, const char *> ciphers[] = {
      {LC_AES_GCM, "aes_table1_gcm_short"}, {LC_CHACHA20_POLY1305, "chacha20_poly1305_short"}};
  for (const auto &[cipher, kernel] : ciphers) {
    SCOPED_TRACE(cipher_info(cipher).title);
    open("");
    for (const uint64_t length : {0, 48, 16384}) {
      SCOPED_TRACE(length);
      EXPECT_EQ((Counts{{kernel, 1}, {"mark", 1}}), count_on_device(cipher, length));
    }
    EXPECT_EQ(0, count_on_device(cipher, 16385)[kernel]);
    // The message, which contains the key, is copied and zeroed.
    open("no-reach:0");
    EXPECT_EQ((Counts{{kernel, 1}, {"mark", 1}, {"upload", 1}, {"zero", 1}}),
              count_on_device(cipher, 48));
  }
}

// One copy downloads the sums, which are zeroed after it.
TEST_F(StreamCalls, SumsOutOfReachAreCopied) {
  constexpr size_t kMany = 600;  // and as many pieces of additional data
  for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305, LC_AES_CCM}) {
    SCOPED_TRACE(cipher_info(cipher).title);
    open("");
    Counts reached = count(cipher);
    EXPECT_EQ(1, reached["download"]);
    if (cipher != LC_AES_CCM) {
      Counts many = count(cipher, kMany);
      EXPECT_EQ(2, many["download"]);
      EXPECT_EQ(reached["zero"] + 1, many["zero"]);
    }
    open("no-reach:0");
    Counts copied = count(cipher);
    EXPECT_EQ(2, copied["download"]);
    EXPECT_EQ(reached["zero"] + 1, copied["zero"]);
  }
}

}  // namespace
}  // namespace lanecrypt::runtime
