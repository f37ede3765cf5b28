// Jobs of device memory texts at any address, for tests that check which kernels ran.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cipher/executor.h"
#include "unit/support/forwarding_device.h"
#include "unit/support/one_executor.h"
#include "unit/support/one_message.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::runtime {

using test::Bytes;
using Kernels = std::set<std::string>;

class NamedStream : public test::ForwardingStream {
 public:
  NamedStream(std::unique_ptr<Stream> inner, Kernels &kernels)
      : ForwardingStream(std::move(inner)), kernels_(kernels) {}
  Status launch(const device::Launch &launch) override {
    kernels_.insert(launch.kernel);
    return ForwardingStream::launch(launch);
  }

 private:
  Kernels &kernels_;
};

class NamedDevice : public test::ForwardingDevice {
 public:
  NamedDevice(std::unique_ptr<Device> inner, Kernels &kernels)
      : ForwardingDevice(std::move(inner)), kernels_(kernels) {}
  Result<std::unique_ptr<device::Stream>> make_stream() override {
    Result<std::unique_ptr<device::Stream>> stream = inner().make_stream();
    if (!stream.ok()) return stream;
    return std::unique_ptr<device::Stream>(new NamedStream(std::move(*stream), kernels_));
  }

 private:
  Kernels &kernels_;
};

// A message in device memory.
struct Text {
  uint64_t in, out, length;
};

class AnyAddress : public testing::Test {
 protected:
  void SetUp() override { open("32"); }
  ~AnyAddress() override {
    executor_.reset();
    unsetenv("LANECRYPT_HOST_THREADS");
  }

  // Returns the device to use: the emulator, or what a derived class makes of it.
  virtual std::unique_ptr<device::Device> device_of(std::unique_ptr<device::Device> emulator) {
    return emulator;
  }
  void open(const char *threads) {
    executor_.reset();
    setenv("LANECRYPT_HOST_THREADS", threads, 1);
    device::Found found = test::wrapped(device::find_host().front(), [this](auto inner) {
      return std::make_unique<NamedDevice>(device_of(std::move(inner)), kernels_);
    });
    PipelineOptions options;
    options.skip_self_test = true;
    executor_ = test::executor_of(std::move(found), options, pinned_, copy_threads_);
    ASSERT_TRUE(executor_->make_ready().ok());
  }

  // Adds a text close behind the previous one. The skews are the addresses of input and output
  // modulo 16.
  void add(uint32_t in_skew, uint32_t out_skew, uint64_t length) {
    const auto next = [](uint64_t at, uint32_t skew) { return at + (skew - at) % 16; };
    const uint64_t in =
        next(texts_.empty() ? 16 : texts_.back().in + texts_.back().length, in_skew);
    const uint64_t out =
        next(texts_.empty() ? 16 : texts_.back().out + texts_.back().length, out_skew);
    texts_.push_back({in, out, length});
  }
  void in_place() {
    for (Text &text : texts_) text.out = text.in;
    is_in_place_ = true;
  }

  // Returns the IV of message `n`, which is short.
  Bytes iv_of(lc_cipher cipher, size_t n) const {
    Bytes iv(cipher_info(cipher).iv_bytes, static_cast<uint8_t>(7 * n + 1));
    if (!iv.empty()) iv[0] = static_cast<uint8_t>(n);
    return iv;
  }
  // Messages use the keys in turn.
  const Bytes &key_of(size_t n) const { return keys_[n % keys_.size()]; }
  static uint32_t key_bytes_of(lc_cipher cipher) {
    return cipher_info(cipher).is_aead ? 32 : test::key_sizes(cipher).back();
  }
  Bytes aad_of(size_t n) const { return Bytes(n % 40, static_cast<uint8_t>(n)); }

  // Encrypts all texts as one job in device memory, and decrypts them by another job. Every byte of
  // both memories must be what OpenSSL makes of it, and the bytes around the texts must not change.
  // Returns the kernels that ran in each direction.
  std::pair<Kernels, Kernels> run_both(lc_cipher cipher, bool tags_stay = false) {
    const Text &last = texts_.back();
    const uint64_t in_bytes = last.in + last.length + 40, out_bytes = last.out + last.length + 40;
    const uint64_t count = texts_.size();
    in_ = allocate(in_bytes);
    out_ = is_in_place_ ? in_ : allocate(out_bytes);
    tags_ = allocate(17 * count);
    test::Random random(count);
    keys_.resize(key_count_);
    for (Bytes &key : keys_) {
      key.resize(key_bytes_of(cipher));
      random.fill(key.data(), key.size());
    }
    random.fill(in_, in_bytes);
    if (!is_in_place_) random.fill(out_, out_bytes);
    Bytes plain(in_, in_ + in_bytes), sealed(out_, out_ + out_bytes), tags(16 * count);
    for (size_t n = 0; n < count; ++n) {
      const Text &text = texts_[n];
      if (cipher_info(cipher).is_aead)
        test::reference_seal({cipher, 32, key_of(n).data(), iv_of(cipher, n), aad_of(n)},
                             &plain[text.in], &sealed[text.out], text.length, &tags[16 * n]);
      else
        test::reference_crypt({cipher, LC_ENCRYPT, key_bytes_of(cipher), unit_bytes_},
                              key_of(n).data(), iv_of(cipher, n).data(), &plain[text.in],
                              &sealed[text.out], text.length);
    }
    take_kernels();
    EXPECT_EQ("", submit(cipher, LC_ENCRYPT, tags_stay));
    EXPECT_TRUE(sealed == Bytes(out_, out_ + out_bytes));
    if (!is_in_place_) {
      EXPECT_TRUE(plain == Bytes(in_, in_ + in_bytes));
    }
    const Kernels kernels = take_kernels();
    if (cipher_info(cipher).is_aead) {
      EXPECT_TRUE(tags == Bytes(tags_, tags_ + tags.size()));
    }
    // Decrypts from the output, back to where the input was.
    random.fill(in_, is_in_place_ ? 0 : in_bytes);
    Bytes around(in_, in_ + in_bytes);
    for (const Text &text : texts_) std::copy_n(&plain[text.in], text.length, &around[text.in]);
    EXPECT_EQ("", submit(cipher, LC_DECRYPT, tags_stay));
    EXPECT_TRUE(around == Bytes(in_, in_ + in_bytes));
    for (uint8_t *memory : {in_, is_in_place_ ? nullptr : out_, tags_}) free(memory);
    return {kernels, take_kernels()};
  }
  // As run_both(), if both directions use the same kernels. Returns these.
  Kernels run(lc_cipher cipher, bool tags_stay = false) {
    const auto [encrypting, decrypting] = run_both(cipher, tags_stay);
    EXPECT_EQ(encrypting, decrypting);
    return encrypting;
  }

  // Returns the kernels that ran since the last call, except those that write and compare tags.
  Kernels take_kernels() {
    Kernels kernels = std::move(kernels_);
    kernels_.clear();
    kernels.erase("aead_tags");
    kernels.erase("aead_check");
    return kernels;
  }

  // Returns what went wrong, or "". Decryption reads where encryption has written.
  std::string submit(lc_cipher cipher, lc_direction direction, bool tags_stay) {
    std::vector<lc_message> messages;
    std::vector<Bytes> ivs, aads;
    Bytes tags(tags_, tags_ + 16 * texts_.size());
    for (size_t n = 0; n < texts_.size(); ++n) {
      ivs.push_back(iv_of(cipher, n));
      aads.push_back(aad_of(n));
    }
    for (size_t n = 0; n < texts_.size(); ++n) {
      const Text &text = texts_[n];
      lc_message message = test::plain_message(key_of(n).data(), ivs[n].data(), in_ + text.in,
                                               out_ + text.out, text.length);
      if (direction == LC_DECRYPT) {
        message.in = out_ + text.out;
        message.out = in_ + text.in;
      }
      if (cipher_info(cipher).is_aead) {
        message.aad = aads[n].data();
        message.aad_length = aads[n].size();
        message.tag = tags_stay ? tags_ + 16 * n : &tags[16 * n];
      }
      messages.push_back(message);
    }
    lc_cipher_job job = test::job_of(messages, cipher, direction, key_bytes_of(cipher));
    job.data_unit_bytes = unit_bytes_;
    job.memory = LC_MEMORY_DEVICE;
    if (tags_stay) {
      job.tag_memory = LC_MEMORY_DEVICE;
      if (direction == LC_DECRYPT) job.verdicts = tags_ + 16 * texts_.size();
    }
    job.device = 0;
    job.has_device = 1;
    Result<CipherJob> made = make_cipher_job(&job);
    if (!made.ok()) return made.status().text();
    const RequestPointer request = std::make_shared<Request>(std::move(*made), nullptr);
    EXPECT_TRUE(executor_->submit(request));
    const Status status = request->wait();
    if (!tags_stay) std::copy(tags.begin(), tags.end(), tags_);
    if (job.verdicts != nullptr) {
      EXPECT_EQ(Bytes(texts_.size(), 1),
                Bytes(tags_ + 16 * texts_.size(), tags_ + 17 * texts_.size()));
    }
    return status.text();
  }

  uint8_t *allocate(uint64_t bytes) {
    uint8_t *made = nullptr;
    EXPECT_TRUE(executor_
                    ->call([&](device::Device &, DeviceMemory &memory) {
                      Result<uint64_t> address = memory.allocate(bytes);
                      if (!address.ok()) return address.status();
                      made = reinterpret_cast<uint8_t *>(*address);
                      return Status();
                    })
                    .ok());
    return made;
  }
  void free(uint8_t *memory) {
    if (memory == nullptr) return;
    EXPECT_TRUE(executor_
                    ->call([&](device::Device &, DeviceMemory &all) {
                      return all.free(reinterpret_cast<uint64_t>(memory));
                    })
                    .ok());
  }

  Kernels kernels_;
  PinnedMemory pinned_;
  CopyThreads copy_threads_;
  std::unique_ptr<Executor> executor_;
  std::vector<Text> texts_;
  bool is_in_place_ = false;
  uint32_t key_count_ = 1;
  uint32_t unit_bytes_ = 0;  // XTS
  std::vector<Bytes> keys_;
  uint8_t *in_ = nullptr, *out_ = nullptr, *tags_ = nullptr;
};

}  // namespace lanecrypt::runtime
