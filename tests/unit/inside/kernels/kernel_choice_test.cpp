// Which kernels ran. A device between the executor and the emulator records the name of each. A
// test of answers alone would not notice if another form or mode did the work.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

#include "cipher/executor.h"
#include "kernels/block/ciphers.h"
#include "unit/support/forwarding_device.h"
#include "unit/support/one_executor.h"
#include "unit/support/one_message.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::runtime {
namespace {

struct Record {
  std::mutex mutex;
  std::vector<std::string> kernels;
  std::map<std::string, uint32_t> thread_block_size;  // by kernel, at its last launch
  // Kernels that may begin before the one before has ended.
  std::vector<std::string> overlaps_previous;

  std::vector<std::string> take() {
    std::lock_guard lock(mutex);
    overlaps_previous.clear();
    return std::move(kernels);
  }
};

class RecordingStream : public test::ForwardingStream {
 public:
  RecordingStream(std::unique_ptr<Stream> inner, Record &record)
      : ForwardingStream(std::move(inner)), record_(record) {}

  Status launch(const device::Launch &launch) override {
    {
      std::lock_guard lock(record_.mutex);
      record_.kernels.push_back(launch.kernel);
      record_.thread_block_size[launch.kernel] = launch.thread_block_size;
      if (launch.overlaps_previous) record_.overlaps_previous.push_back(launch.kernel);
    }
    // The emulator has no such kernels, so their launches do nothing.
    for (const char *card : {"_slot_", "_unaligned"})
      if (std::string_view(launch.kernel).find(card) != std::string_view::npos) return Status();
    // The emulator has few threads, whatever a test configures. The kernels work with any number.
    device::Launch fewer = launch;
    fewer.thread_block_size = std::min(launch.thread_block_size, 4u);
    return ForwardingStream::launch(fewer);
  }

 private:
  Record &record_;
};

class RecordingDevice : public test::ForwardingDevice {
 public:
  RecordingDevice(std::unique_ptr<Device> inner, device::Properties properties, Record &record)
      : ForwardingDevice(std::move(inner)), record_(record) {
    properties_ = std::move(properties);
  }

  Result<std::unique_ptr<device::Stream>> make_stream() override {
    Result<std::unique_ptr<device::Stream>> stream = inner().make_stream();
    if (!stream.ok()) return stream;
    return std::unique_ptr<device::Stream>(new RecordingStream(std::move(*stream), record_));
  }
  // A constant, so that the test does not depend on the machine's number of cores.
  uint32_t resident_thread_blocks(const char *, uint32_t, uint32_t) override { return 2; }
  const device::Buffer *key_slot() override { return key_slot_.get(); }
  // Creates the key slot. From then on the device reports it.
  Status make_key_slot() {
    Result<std::unique_ptr<device::Buffer>> made =
        allocate(device::MemoryKind::kDevice, 2 * BLOCK_MOST_SCHEDULE_WORDS * 4);
    if (made.ok()) key_slot_ = std::move(*made);
    return made.status();
  }

 private:
  Record &record_;
  std::unique_ptr<device::Buffer> key_slot_;
};

class KernelChoice : public testing::Test {
 protected:
  ~KernelChoice() override {
    unsetenv("LANECRYPT_AES_FORM");
    unsetenv("LANECRYPT_HASH_FORM");
  }

  // Opens the emulator, which reports shared memory of the given kind and size.
  void open(
      const char *form, bool banked_shared, uint32_t shared_bytes,
      const std::function<void(device::Properties &)> &change = [](device::Properties &) {}) {
    if (form)
      setenv("LANECRYPT_AES_FORM", form, 1);
    else
      unsetenv("LANECRYPT_AES_FORM");
    device::Found found = device::find_host().front();
    found.properties.banked_shared = banked_shared;
    found.properties.shared_bytes = shared_bytes;
    change(found.properties);
    found = test::wrapped(std::move(found), [this, properties = found.properties](auto inner) {
      auto made = std::make_unique<RecordingDevice>(std::move(inner), properties, record_);
      device_ = made.get();
      return made;
    });
    executor_.reset();
    PipelineOptions options;
    options.pinned_bytes = 1 << 20;
    executor_ = test::executor_of(std::move(found), options, pinned_, copy_threads_);
    status_ = executor_->make_ready();
    self_test_ = record_.take();
  }

  // Returns the kernels of one job of three blocks.
  std::vector<std::string> kernels_of(lc_cipher cipher, lc_direction direction) {
    test::Bytes key(64, 1);
    key[0] = 2;
    const test::Bytes iv(16, 2), in(48, 3);
    test::Bytes out(48);
    return kernels_of(cipher, direction, key, iv, in, out);
  }

  std::vector<std::string> kernels_of(lc_cipher cipher, lc_direction direction,
                                      const test::Bytes &key, const test::Bytes &iv,
                                      const test::Bytes &in, test::Bytes &out) {
    const Status status = run(cipher, direction, 16 * cipher_info(cipher).keys, key, iv, in, out);
    EXPECT_TRUE(status.ok()) << status.text();
    return record_.take();
  }

  // Runs a job of one message. In an authenticated mode its tag is zeros.
  Status run(lc_cipher cipher, lc_direction direction, uint32_t key_bytes, const test::Bytes &key,
             const test::Bytes &iv, const test::Bytes &in, test::Bytes &out) {
    lc_message message =
        test::plain_message(key.data(), iv.data(), in.data(), out.data(), in.size());
    uint8_t tag[16] = {};
    if (cipher_info(cipher).is_aead) message.tag = tag;
    const lc_cipher_job job = test::job_of(message, cipher, direction, key_bytes);
    Result<CipherJob> made = make_cipher_job(&job);
    if (!made.ok()) return made.status();
    const RequestPointer request = std::make_shared<Request>(std::move(*made), nullptr);
    EXPECT_TRUE(executor_->submit(request));
    return request->wait();
  }

  // Returns the kernels of a job that must succeed, each followed by a space, without those that
  // make key schedules.
  std::string kernels_on_texts(const lc_cipher_job &job) {
    Result<CipherJob> made = make_cipher_job(&job);
    EXPECT_TRUE(made.ok()) << made.status().text();
    if (!made.ok()) return "";
    const RequestPointer request = std::make_shared<Request>(std::move(*made), nullptr);
    EXPECT_TRUE(executor_->submit(request));
    const Status status = request->wait();
    EXPECT_TRUE(status.ok()) << status.text();
    std::string names;
    for (const std::string &name : record_.take())
      if (name.find("_expand_") == std::string::npos) names += name + " ";
    return names;
  }

  void expect_form(const std::string &form) {
    SCOPED_TRACE(form);
    ASSERT_TRUE(status_.ok()) << status_.text();
    using Names = std::vector<std::string>;
    const auto with = [&](const std::string &mode) {
      const bool is_sliced = form == "bitslice";
      const bool has_streams = mode == "_cbc_encrypt" || mode == "_feedback" || mode == "_ccm";
      Names names = {has_streams && !is_sliced ? "aes_expand_stream_keys" : "aes_expand_keys"};
      // Kernels that process blocks in parallel make the sliced keys themselves.
      if (is_sliced && (has_streams || mode == "_xts_points" || mode == "_cfb_decrypt"))
        names.push_back("aes_bitslice_keys");
      names.push_back("aes_" + form + mode);
      return names;
    };
    EXPECT_EQ(with("_ecb_encrypt"), kernels_of(LC_AES_ECB, LC_ENCRYPT));
    EXPECT_EQ(with("_ecb_decrypt"), kernels_of(LC_AES_ECB, LC_DECRYPT));
    EXPECT_EQ(with("_cbc_encrypt"), kernels_of(LC_AES_CBC, LC_ENCRYPT));
    EXPECT_EQ(with("_cbc_decrypt"), kernels_of(LC_AES_CBC, LC_DECRYPT));
    EXPECT_EQ(with("_ctr"), kernels_of(LC_AES_CTR, LC_ENCRYPT));
    EXPECT_EQ(with("_ctr"), kernels_of(LC_AES_CTR, LC_DECRYPT));
    const auto with_points = [&](const char *mode) {
      Names names = with("_xts_points");
      names.push_back("aes_" + form + mode);
      return names;
    };
    EXPECT_EQ(with_points("_xts_encrypt"), kernels_of(LC_AES_XTS, LC_ENCRYPT));
    EXPECT_EQ(with_points("_xts_decrypt"), kernels_of(LC_AES_XTS, LC_DECRYPT));
    EXPECT_EQ(with("_feedback"), kernels_of(LC_AES_CFB128, LC_ENCRYPT));
    EXPECT_EQ(with("_cfb_decrypt"), kernels_of(LC_AES_CFB128, LC_DECRYPT));
    EXPECT_EQ(with("_ccm"), kernels_of(LC_AES_CCM, LC_ENCRYPT));
    EXPECT_EQ(with("_feedback"), kernels_of(LC_AES_OFB, LC_ENCRYPT));
    EXPECT_EQ(with("_feedback"), kernels_of(LC_AES_OFB, LC_DECRYPT));
    for (lc_cipher cipher : {LC_AES_CBC_CS1, LC_AES_CBC_CS2, LC_AES_CBC_CS3}) {
      Names encrypt = with("_cbc_encrypt"), decrypt = with("_cbc_decrypt");
      encrypt.push_back("aes_" + form + "_steal_encrypt");
      // The sliced keys of CBC are for parallel blocks, and these kernels slice by streams.
      if (form == "bitslice") decrypt.push_back("aes_bitslice_keys");
      decrypt.push_back("aes_" + form + "_steal_decrypt");
      EXPECT_EQ(encrypt, kernels_of(cipher, LC_ENCRYPT));
      EXPECT_EQ(decrypt, kernels_of(cipher, LC_DECRYPT));
    }
    // Users get the same kernels as the self-test.
    for (const char *mode : {"_ecb_encrypt", "_ecb_decrypt", "_cbc_encrypt", "_cbc_decrypt", "_ctr",
                             "_xts_points", "_xts_encrypt", "_xts_decrypt", "_feedback",
                             "_cfb_decrypt", "_steal_encrypt", "_steal_decrypt", "_ccm"})
      EXPECT_NE(self_test_.end(),
                std::find(self_test_.begin(), self_test_.end(), "aes_" + form + mode))
          << mode << " is not in the self-test";
  }

  Record record_;
  PinnedMemory pinned_;
  runtime::CopyThreads copy_threads_;
  RecordingDevice *device_ = nullptr;  // owned by the executor
  std::unique_ptr<Executor> executor_;
  Status status_;
  std::vector<std::string> self_test_;
};

constexpr uint32_t kKiB = 1024;

TEST_F(KernelChoice, IsTheFormAskedFor) {
  for (const char *form : {"table4", "table1", "bitslice"}) {
    open(form, true, 160 * kKiB);
    expect_form(form);
  }
}

TEST_F(KernelChoice, IsByTheDevicesSharedMemory) {
  open(nullptr, true, 160 * kKiB);
  expect_form("table4");
  open(nullptr, true, 160 * kKiB - 1);
  expect_form("table1");
  open(nullptr, true, 32 * kKiB);
  expect_form("table1");
  open(nullptr, true, 32 * kKiB - 1);
  expect_form("bitslice");
}

// Without banks the time of a table look-up may depend on the key.
TEST_F(KernelChoice, IsConstantTimeWhereSharedMemoryHasNoBanks) {
  open(nullptr, false, 1024 * kKiB);
  expect_form("bitslice");
}

// One large piece keeps both kinds of kernels busy: look-ups in tables, and gates concurrently.
TEST_F(KernelChoice, PairsTablesWithGatesForALargePiece) {
  open(nullptr, true, 160 * kKiB,
       [](device::Properties &properties) { properties.pairs_launches = true; });
  ASSERT_TRUE(status_.ok()) << status_.text();
  const struct {
    lc_cipher cipher;
    lc_direction direction;
    const char *mode;
    uint64_t bytes;
  } kCases[] = {{LC_AES_ECB, LC_ENCRYPT, "ecb_encrypt", 300000},
                {LC_AES_ECB, LC_DECRYPT, "ecb_decrypt", 300000},
                {LC_AES_CBC, LC_DECRYPT, "cbc_decrypt", 300000},
                {LC_AES_CTR, LC_ENCRYPT, "ctr", 1500003}};
  for (const auto &run : kCases) {
    SCOPED_TRACE(run.mode);
    const uint64_t bytes = run.bytes;
    test::Bytes key(16), iv(16), in(bytes), out(bytes), expected(bytes);
    test::Random random(bytes);
    for (test::Bytes *field : {&key, &iv, &in}) random.fill(field->data(), field->size());
    // The counter carries through all bytes, in the part that the gates do.
    std::fill(iv.begin(), iv.begin() + 14, 0xff);
    const std::vector<std::string> kernels =
        kernels_of(run.cipher, run.direction, key, iv, in, out);
    EXPECT_EQ((std::vector<std::string>{"aes_expand_keys", std::string("aes_table4_") + run.mode,
                                        std::string("aes_bitslice_") + run.mode}),
              kernels);
    test::reference_crypt({run.cipher, run.direction, 16}, key.data(), iv.data(), in.data(),
                          expected.data(), bytes);
    EXPECT_TRUE(expected == out);
    // For a small piece, or one of several, this gains nothing.
    EXPECT_EQ(2u, kernels_of(run.cipher, run.direction).size());
  }
}

// The encryption of the text does not depend on the kernels that prepare GHASH, so it overlaps
// them. A decryption hashes first, and waits for them. The kernel that adds the hashes starts
// before they are ready.
TEST_F(KernelChoice, EncryptsWhileGhashIsPrepared) {
  for (const bool pairs : {false, true}) {
    open("table4", true, 160 * kKiB,
         [pairs](device::Properties &properties) { properties.pairs_launches = pairs; });
    ASSERT_TRUE(status_.ok()) << status_.text();
    const test::Bytes key(32, 1), iv(16, 2), in(100000, 3);
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      SCOPED_TRACE(direction);
      test::Bytes out(in.size());
      EXPECT_EQ(direction == LC_ENCRYPT ? LC_OK : LC_ERROR_TAG,
                run(LC_AES_GCM, direction, 32, key, iv, in, out).code());
      std::vector<std::string> expected;
      if (pairs) expected = {"ghash_powers"};
      if (pairs && direction == LC_ENCRYPT) expected.push_back("aes_table4_ctr");
      if (pairs) expected.push_back("ghash_sums");
      EXPECT_EQ(expected, record_.overlaps_previous);
      EXPECT_FALSE(record_.take().empty());
    }
  }
}

// Tables and gates for texts at any address, if both kinds have kernels for them.
// unaligned_block_test.cpp checks their results, and so do the tests on a GPU.
TEST_F(KernelChoice, PairsThemAtAnyAddress) {
  open("table4", true, 160 * kKiB,
       [](device::Properties &properties) { properties.pairs_launches = true; });
  ASSERT_TRUE(status_.ok()) << status_.text();
  kernels_of(LC_SM4_ECB, LC_ENCRYPT);  // SM4 runs its self-test before
  ASSERT_TRUE(device_->make_key_slot().ok());
  constexpr uint64_t kBytes = 3000000, kOut = kBytes + 64;
  Result<std::unique_ptr<device::Buffer>> memory =
      device_->allocate(device::MemoryKind::kDevice, 2 * kOut);
  ASSERT_TRUE(memory.ok()) << memory.status().text();
  const test::Bytes key(16, 1), iv(16, 0);
  const auto kernels = [&](lc_cipher cipher, lc_direction direction, uint64_t skew) {
    auto *const in = reinterpret_cast<uint8_t *>((*memory)->address() + skew);
    const lc_message message = test::plain_message(key.data(), iv.data(), in, in + kOut, kBytes);
    lc_cipher_job job = test::job_of(message, cipher, direction, 16);
    job.memory = LC_MEMORY_DEVICE;
    job.device = 0;
    job.has_device = 1;
    return kernels_on_texts(job);
  };
  const auto both = [](const std::string &mode) {
    return "aes_table4_slot_" + mode + " aes_bitslice_slot_" + mode + " ";
  };
  EXPECT_EQ(both("ctr"), kernels(LC_AES_CTR, LC_ENCRYPT, 0));
  EXPECT_EQ(both("ctr_unaligned"), kernels(LC_AES_CTR, LC_ENCRYPT, 5));
  EXPECT_EQ(both("ecb_encrypt_unaligned"), kernels(LC_AES_ECB, LC_ENCRYPT, 5));
  EXPECT_EQ(both("ecb_decrypt_unaligned"), kernels(LC_AES_ECB, LC_DECRYPT, 5));
  EXPECT_EQ(both("cbc_decrypt"), kernels(LC_AES_CBC, LC_DECRYPT, 0));
  EXPECT_EQ("aes_table4_slot_cbc_decrypt_unaligned ", kernels(LC_AES_CBC, LC_DECRYPT, 5));
  EXPECT_EQ("sm4_table4_slot_ctr_unaligned ", kernels(LC_SM4_CTR, LC_ENCRYPT, 5));
}

// With the key in the device's key slot, or with several keys, which do not fit into it. The tests
// that run these kernels check their results: unaligned_block_test.cpp, any_address_block_test.cpp,
// and those on a GPU.
TEST_F(KernelChoice, TakesTextsAtAnyAddressByKernelsOfTheirOwn) {
  open("table4", true, 160 * kKiB,
       [](device::Properties &properties) { properties.max_thread_block_size = 1024; });
  ASSERT_TRUE(status_.ok()) << status_.text();
  // Each block cipher runs its self-test before.
  for (const lc_cipher cipher : {LC_SM4_ECB, LC_CAMELLIA_ECB, LC_ARIA_ECB})
    kernels_of(cipher, LC_ENCRYPT);
  ASSERT_TRUE(device_->make_key_slot().ok());
  constexpr uint64_t kBytes = 48, kOut = 2048;
  Result<std::unique_ptr<device::Buffer>> memory =
      device_->allocate(device::MemoryKind::kDevice, 2 * kOut);
  ASSERT_TRUE(memory.ok()) << memory.status().text();
  const auto at = [&](uint64_t offset) {
    return reinterpret_cast<uint8_t *>((*memory)->address() + offset);
  };
  test::Bytes keys(128, 1);
  keys[0] = 2;
  keys[64] = 3;
  const test::Bytes iv(16, 2);
  const auto kernels = [&](lc_cipher cipher, lc_direction direction, uint64_t in, uint64_t out,
                           size_t key_count = 1) {
    std::vector<lc_message> messages;
    for (size_t n = 0; n < key_count; ++n)
      messages.push_back(test::plain_message(&keys[64 * n], iv.data(), at(in + 256 * n),
                                             at(kOut + out + 256 * n), kBytes));
    lc_cipher_job job = test::job_of(messages, cipher, direction, 16 * cipher_info(cipher).keys);
    job.memory = LC_MEMORY_DEVICE;
    job.device = 0;
    job.has_device = 1;
    return kernels_on_texts(job);
  };
  // The kernels for one key with aligned and with unaligned texts, and for several keys.
  const struct {
    lc_cipher cipher;
    lc_direction direction;
    const char *aligned, *unaligned, *keys, *keys_unaligned;
  } kCases[] = {
      {LC_AES_ECB, LC_ENCRYPT, "aes_table4_slot_ecb_encrypt ",
       "aes_table4_slot_ecb_encrypt_unaligned ", "aes_table4_ecb_encrypt ",
       "aes_table4_ecb_encrypt_unaligned "},
      {LC_AES_ECB, LC_DECRYPT, "aes_table4_slot_ecb_decrypt ",
       "aes_table4_slot_ecb_decrypt_unaligned ", "aes_table4_ecb_decrypt ",
       "aes_table4_ecb_decrypt_unaligned "},
      {LC_AES_CBC, LC_DECRYPT, "aes_table4_slot_cbc_decrypt ",
       "aes_table4_slot_cbc_decrypt_unaligned ", "aes_table4_cbc_decrypt ",
       "aes_table4_cbc_decrypt_unaligned "},
      {LC_AES_CBC, LC_ENCRYPT, "aes_table4_slot_cbc_encrypt ",
       "aes_table4_slot_cbc_encrypt_unaligned ", "aes_table4_cbc_encrypt ",
       "aes_table4_cbc_encrypt_unaligned "},
      {LC_AES_CTR, LC_ENCRYPT, "aes_table4_slot_ctr ", "aes_table4_slot_ctr_unaligned ",
       "aes_table4_ctr ", "aes_table4_ctr_unaligned "},
      {LC_AES_CFB128, LC_DECRYPT, "aes_table4_cfb_decrypt ",
       "aes_table4_slot_cfb_decrypt_unaligned ", "aes_table4_cfb_decrypt ",
       "aes_table4_cfb_decrypt_unaligned "},
      {LC_AES_CBC_CS3, LC_DECRYPT, "aes_table4_cbc_decrypt aes_table4_steal_decrypt ",
       "aes_table4_slot_cbc_decrypt_unaligned aes_table4_steal_decrypt ",
       "aes_table4_cbc_decrypt aes_table4_steal_decrypt ",
       "aes_table4_cbc_decrypt_unaligned aes_table4_steal_decrypt "},
      // The kernel that encrypts the last two blocks reads the keys of CBC, in the layout for
      // streams.
      {LC_AES_CBC_CS3, LC_ENCRYPT, "aes_table4_cbc_encrypt aes_table4_steal_encrypt ",
       "aes_table4_cbc_encrypt_unaligned aes_table4_steal_encrypt ",
       "aes_table4_cbc_encrypt aes_table4_steal_encrypt ",
       "aes_table4_cbc_encrypt_unaligned aes_table4_steal_encrypt "},
      // These kernels take texts at any address.
      {LC_AES_CFB128, LC_ENCRYPT, "aes_table4_feedback ", "aes_table4_feedback ",
       "aes_table4_feedback ", "aes_table4_feedback "},
      {LC_AES_OFB, LC_DECRYPT, "aes_table4_feedback ", "aes_table4_feedback ",
       "aes_table4_feedback ", "aes_table4_feedback "},
      {LC_AES_XTS, LC_ENCRYPT, "aes_table4_xts_points aes_table4_slot_xts_encrypt ",
       "aes_table4_xts_points aes_table4_slot_xts_encrypt_unaligned ",
       "aes_table4_xts_points aes_table4_xts_encrypt ",
       "aes_table4_xts_points aes_table4_xts_encrypt_unaligned "},
      {LC_SM4_XTS_GB, LC_DECRYPT, "sm4_table4_xts_gb_points sm4_table4_slot_xts_gb_decrypt ",
       "sm4_table4_xts_gb_points sm4_table4_slot_xts_gb_decrypt_unaligned ",
       "sm4_table4_xts_gb_points sm4_table4_xts_gb_decrypt ",
       "sm4_table4_xts_gb_points sm4_table4_xts_gb_decrypt_unaligned "},
      {LC_CAMELLIA_CBC, LC_ENCRYPT, "camellia_table4_slot_cbc_encrypt ",
       "camellia_table4_slot_cbc_encrypt_unaligned ", "camellia_table4_cbc_encrypt ",
       "camellia_table4_cbc_encrypt_unaligned "},
      {LC_CAMELLIA_ECB, LC_ENCRYPT, "camellia_table4_slot_ecb_encrypt ",
       "camellia_table4_slot_ecb_encrypt_unaligned ", "camellia_table4_ecb_encrypt ",
       "camellia_table4_ecb_encrypt_unaligned "},
      {LC_ARIA_CFB128, LC_DECRYPT, "aria_table4_cfb_decrypt ",
       "aria_table4_slot_cfb_decrypt_unaligned ", "aria_table4_cfb_decrypt ",
       "aria_table4_cfb_decrypt_unaligned "},
  };
  for (const auto &one : kCases) {
    SCOPED_TRACE(one.unaligned);
    EXPECT_EQ(one.aligned, kernels(one.cipher, one.direction, 0, 0));
    EXPECT_EQ(one.unaligned, kernels(one.cipher, one.direction, 5, 0));
    EXPECT_EQ(one.unaligned, kernels(one.cipher, one.direction, 0, 3));
    EXPECT_EQ(one.keys, kernels(one.cipher, one.direction, 0, 0, 2));
    EXPECT_EQ(one.keys_unaligned, kernels(one.cipher, one.direction, 5, 0, 2));
    EXPECT_EQ(one.keys_unaligned, kernels(one.cipher, one.direction, 0, 3, 2));
  }
  // The thread blocks have the size for which registers are sufficient.
  EXPECT_EQ(768u, record_.thread_block_size["aes_table4_slot_xts_encrypt_unaligned"]);
  EXPECT_EQ(768u, record_.thread_block_size["aes_table4_xts_encrypt"]);
  EXPECT_EQ(512u, record_.thread_block_size["aes_table4_xts_encrypt_unaligned"]);
  EXPECT_EQ(512u, record_.thread_block_size["aes_table4_ctr_unaligned"]);
}

// partial_block_units_test.cpp checks the results, and so do the tests on a GPU.
TEST_F(KernelChoice, TakesXtsOfOddUnitsByKernelsOfTheirOwn) {
  open("table4", true, 160 * kKiB);
  ASSERT_TRUE(status_.ok()) << status_.text();
  kernels_of(LC_SM4_ECB, LC_ENCRYPT);  // SM4 runs its self-test before
  ASSERT_TRUE(device_->make_key_slot().ok());
  constexpr uint64_t kMost = 16 * kKiB;
  Result<std::unique_ptr<device::Buffer>> memory =
      device_->allocate(device::MemoryKind::kDevice, 2 * kMost);
  ASSERT_TRUE(memory.ok()) << memory.status().text();
  test::Bytes key(64, 1);
  key[0] = 2;
  const test::Bytes iv(16, 2);
  const auto kernels = [&](lc_cipher cipher, lc_direction direction, uint64_t skew, uint64_t unit,
                           uint64_t bytes) {
    auto *const in = reinterpret_cast<uint8_t *>((*memory)->address() + skew);
    const lc_message message = test::plain_message(key.data(), iv.data(), in, in + kMost, bytes);
    lc_cipher_job job = test::job_of(message, cipher, direction, 32);
    job.memory = LC_MEMORY_DEVICE;
    job.device = 0;
    job.has_device = 1;
    job.data_unit_bytes = unit;
    return kernels_on_texts(job);
  };
  const std::string points = "aes_table4_xts_points ", aes = "aes_table4_slot_xts_encrypt";
  for (const uint64_t skew : {0u, 5u}) {
    SCOPED_TRACE(skew);
    const std::string odd = points + aes + "_partial " + aes + "_partial_ends ";
    EXPECT_EQ(odd, kernels(LC_AES_XTS, LC_ENCRYPT, skew, 520, 5200));
    EXPECT_EQ(odd, kernels(LC_AES_XTS, LC_ENCRYPT, skew, 4097, 9000));
    EXPECT_EQ(odd, kernels(LC_AES_XTS, LC_ENCRYPT, skew, 0, 33));
    // A partial block at the end of many whole ones is little work.
    const std::string whole = points + aes + (skew != 0 ? "_unaligned " : " ");
    EXPECT_EQ(whole, kernels(LC_AES_XTS, LC_ENCRYPT, skew, 4096, 8192));
    EXPECT_EQ(whole, kernels(LC_AES_XTS, LC_ENCRYPT, skew, 512, 6 * 2048 + 17));
    const std::string gb = "sm4_table4_slot_xts_gb_decrypt";
    EXPECT_EQ("sm4_table4_xts_gb_points " + gb + "_partial " + gb + "_partial_ends ",
              kernels(LC_SM4_XTS_GB, LC_DECRYPT, skew, 100, 1000));
  }
}

// Kernels that are compiled for small thread blocks are launched in such, and all others are not.
TEST_F(KernelChoice, TakesStreamsInTheGroupsThatTheirKernelsHave) {
  const auto small_thread_blocks = [](device::Properties &properties) {
    properties.max_thread_block_size = 4;
    properties.fixed_thread_block_size = true;
    properties.chain_thread_block_size = 2;
  };
  open("table1", true, 160 * kKiB, small_thread_blocks);
  ASSERT_TRUE(status_.ok()) << status_.text();
  kernels_of(LC_AES_CBC_CS3, LC_ENCRYPT);
  kernels_of(LC_AES_OFB, LC_ENCRYPT);
  kernels_of(LC_AES_ECB, LC_ENCRYPT);
  EXPECT_EQ(record_.thread_block_size["aes_table1_ecb_encrypt"], 4u);
  for (const char *chain : {"cbc_encrypt", "steal_encrypt", "feedback"})
    EXPECT_EQ(record_.thread_block_size[std::string("aes_table1_") + chain], 2u) << chain;
  open("bitslice", true, 160 * kKiB, small_thread_blocks);
  kernels_of(LC_AES_CCM, LC_ENCRYPT);
  EXPECT_EQ(record_.thread_block_size["aes_bitslice_ccm"], 1u);  // one warp of the emulator
}

// XTS has as many threads as registers allow, unless a grid size was configured.
TEST_F(KernelChoice, GivesXtsGroupsOfItsOwn) {
  const auto large_thread_blocks = [](device::Properties &properties) {
    properties.max_thread_block_size = 1024;
  };
  for (const char *form : {"table4", "table1"}) {
    open(form, true, 160 * kKiB, large_thread_blocks);
    ASSERT_TRUE(status_.ok()) << status_.text();
    for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) kernels_of(LC_AES_XTS, direction);
    kernels_of(LC_AES_ECB, LC_ENCRYPT);
    const auto threads = [&](const char *mode) {
      return record_.thread_block_size["aes_" + std::string(form) + mode];
    };
    const bool has_more = std::string_view(form) == "table4";
    EXPECT_EQ(threads("_xts_encrypt"), has_more ? 768u : 512u);
    EXPECT_EQ(threads("_xts_decrypt"), has_more ? 768u : 512u);
    EXPECT_EQ(threads("_xts_points"), 512u);
    EXPECT_EQ(threads("_ecb_encrypt"), 512u);
  }
  const auto fixed_thread_blocks = [](device::Properties &properties) {
    properties.max_thread_block_size = 1024;
    properties.fixed_thread_block_size = true;
  };
  for (const bool fixed : {false, true}) {
    setenv("LANECRYPT_AES_GRID", fixed ? "2x512" : "2x256", 1);
    if (fixed)
      open("table4", true, 160 * kKiB, fixed_thread_blocks);
    else
      open("table4", true, 160 * kKiB, large_thread_blocks);
    unsetenv("LANECRYPT_AES_GRID");
    ASSERT_TRUE(status_.ok()) << status_.text();
    kernels_of(LC_AES_XTS, LC_ENCRYPT);
    EXPECT_EQ(record_.thread_block_size["aes_table4_xts_encrypt"], fixed ? 768u : 256u);
  }
}

TEST_F(KernelChoice, HashesByTheFormAskedFor) {
  setenv("LANECRYPT_HASH_FORM", "integer", 1);
  open("table4", true, 160 * kKiB,
       [](device::Properties &properties) { properties.bit_matrices = true; });
  ASSERT_TRUE(status_.ok()) << status_.text();
  const test::Bytes key(32, 1), iv(16, 2), in((1 << 20) + 16, 3);
  test::Bytes out(in.size());
  for (const std::string &name : kernels_of(LC_AES_GCM, LC_ENCRYPT, key, iv, in, out))
    EXPECT_EQ(name.find("matrix"), std::string::npos) << name;
  setenv("LANECRYPT_HASH_FORM", "matrix", 1);
  open(nullptr, true, 160 * kKiB,
       [](device::Properties &properties) { properties.bit_matrices = false; });
  EXPECT_EQ(LC_ERROR_NO_DEVICE, status_.code());
  setenv("LANECRYPT_HASH_FORM", "tables", 1);
  open(nullptr, true, 160 * kKiB);
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_.code());
  EXPECT_NE(std::string::npos, status_.text().find("tables")) << status_.text();
}

TEST_F(KernelChoice, RefusesWhatDoesNotFit) {
  open("table4", true, 64 * kKiB);
  EXPECT_EQ(LC_ERROR_NO_DEVICE, status_.code());
  EXPECT_NE(std::string::npos, status_.text().find("cannot run LANECRYPT_AES_FORM=table4"))
      << status_.text();
  open("table5", true, 160 * kKiB);
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_.code());
  EXPECT_NE(std::string::npos, status_.text().find("table5")) << status_.text();
}

}  // namespace
}  // namespace lanecrypt::runtime
