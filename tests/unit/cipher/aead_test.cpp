// GCM, CCM and ChaCha20-Poly1305 on every device, compared with OpenSSL: lengths, additional data,
// IVs and tags of every size, in host and device memory. Also messages that were tampered with, and
// tags and verdicts in device memory, which the host does not read.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "job/cipher/cipher_info.h"
#include "kernels/aead/gf128.h"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

struct Message {
  uint32_t key = 0;
  Bytes iv, aad, plain, cipher, tag;
  bool in_place = false;
  uint32_t in_alignment = 0, out_alignment = 0;
};

struct Setting {
  lc_cipher cipher;
  uint32_t key_bytes;
  uint32_t iv_bytes = 12, tag_bytes = 16;
  DataMemory data_memory = DataMemory::kHost;
  // Whether tags and verdicts are in device memory too. Only for texts in device memory.
  bool tags_on_device = false;
};

// Tags and verdicts in device memory. The tags have any alignment, and bytes between them that must
// not change.
class DeviceTags {
 public:
  DeviceTags(lc_context *context, const std::vector<Bytes> &tags, uint32_t tag_bytes)
      : context_(context), stride_(tag_bytes + 5), before_(tags.size() * (stride_ + 1), 0x5a) {
    for (size_t n = 0; n < tags.size(); n++)
      std::copy_n(tags[n].begin(), tag_bytes, before_.begin() + n * stride_);
    void *memory = nullptr;
    EXPECT_EQ(LC_OK, lc_alloc_device(context, 0, before_.size(), &memory)) << lc_last_error();
    memory_ = static_cast<uint8_t *>(memory);
    EXPECT_EQ(LC_OK, lc_copy_to_device(context, 0, memory, before_.data(), before_.size()));
  }
  ~DeviceTags() { lc_free_device(context_, 0, memory_); }
  DeviceTags(const DeviceTags &) = delete;

  uint8_t *tag(size_t n) const { return memory_ + n * stride_; }
  uint8_t *verdicts(size_t messages) const { return memory_ + messages * stride_; }
  // Compares the memory with `tags` and `verdicts`. An empty `verdicts` means that none was
  // written.
  void check(const std::vector<Bytes> &tags, uint32_t tag_bytes, const Bytes &verdicts) const {
    Bytes expected = before_, now(before_.size());
    for (size_t n = 0; n < tags.size(); n++)
      std::copy_n(tags[n].begin(), tag_bytes, expected.begin() + n * stride_);
    std::copy(verdicts.begin(), verdicts.end(), expected.begin() + tags.size() * stride_);
    EXPECT_EQ(LC_OK, lc_copy_from_device(context_, 0, now.data(), memory_, now.size()));
    EXPECT_EQ(expected, now) << "tags or verdicts on the device";
  }

 private:
  lc_context *context_;
  size_t stride_;
  Bytes before_;
  uint8_t *memory_ = nullptr;
};

constexpr uint64_t kSlack = 64;  // canaries around each output

class Aead : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!offers(LC_AES_GCM)) GTEST_SKIP() << GetParam().id << " seals nothing";
    keys_.resize(8 * 32);
    random_.fill(keys_.data(), keys_.size());
  }
  const uint8_t *key(uint32_t number) const { return keys_.data() + 32 * (number % 8); }

  Message make(const Setting &setting, uint64_t length, uint64_t aad_length) {
    Message message;
    message.key = static_cast<uint32_t>(random_.below(3));
    message.iv.resize(setting.iv_bytes);
    message.aad.resize(aad_length);
    message.plain.resize(length);
    for (Bytes *bytes : {&message.iv, &message.aad, &message.plain})
      random_.fill(bytes->data(), bytes->size());
    // No job may encrypt with one nonce twice under one key, and short random nonces would repeat.
    while (!used_.emplace(message.key, message.iv).second)
      random_.fill(message.iv.data(), message.iv.size());
    message.in_place = random_.below(2) == 0;
    message.in_alignment = random_.below(2) ? 0 : static_cast<uint32_t>(random_.below(16));
    message.out_alignment = message.in_alignment ? static_cast<uint32_t>(random_.below(16)) : 0;
    answer(setting, &message);
    return message;
  }
  void answer(const Setting &setting, Message *message) {
    message->cipher.assign(message->plain.size(), 0);
    message->tag.assign(setting.tag_bytes, 0);
    reference_seal({setting.cipher, setting.key_bytes, key(message->key), message->iv, message->aad,
                    setting.tag_bytes},
                   message->plain.data(), message->cipher.data(), message->plain.size(),
                   message->tag.data());
  }

  // Runs all messages in one job. `wrong[n]` says that message n must be refused.
  void check(const Setting &setting, lc_direction direction, const std::vector<Message> &messages,
             const std::vector<bool> &wrong = {});

  Bytes iv_of(uint32_t key_number, uint32_t counter);

  Random random_{3800};
  Bytes keys_;
  std::set<std::pair<uint32_t, Bytes>> used_;  // the key's number, and the nonce
};

void Aead::check(const Setting &setting, lc_direction direction,
                 const std::vector<Message> &messages, const std::vector<bool> &wrong) {
  SCOPED_TRACE(cipher_name(setting.cipher, setting.key_bytes) +
               (direction == LC_ENCRYPT ? " encryption" : " decryption") + ", IV of " +
               std::to_string(setting.iv_bytes) + ", tag of " + std::to_string(setting.tag_bytes) +
               ", " + data_memory_name(setting.data_memory) +
               (setting.tags_on_device ? ", tags there too" : ""));
  // The arena: inputs and outputs, with canaries between them.
  std::vector<uint64_t> in_at, out_at;
  uint64_t bytes = 64;
  for (const Message &message : messages) {
    bytes = (bytes + kSlack + 15) / 16 * 16;
    in_at.push_back(bytes + message.in_alignment);
    bytes += message.in_alignment + message.plain.size();
    if (!message.in_place) {
      bytes = (bytes + kSlack + 15) / 16 * 16;
      out_at.push_back(bytes + message.out_alignment);
      bytes += message.out_alignment + message.plain.size();
    } else {
      out_at.push_back(in_at.back());
    }
  }
  bytes += kSlack;
  Bytes before(bytes, 0xa5), after, host;
  for (size_t n = 0; n < messages.size(); n++) {
    const Bytes &in = direction == LC_ENCRYPT ? messages[n].plain : messages[n].cipher;
    std::copy(in.begin(), in.end(), before.begin() + in_at[n]);
  }
  after = before;
  uint64_t total = 0;
  bool some_wrong = false;
  for (size_t n = 0; n < messages.size(); n++) {
    Bytes out = direction == LC_ENCRYPT ? messages[n].cipher : messages[n].plain;
    if (!wrong.empty() && wrong[n]) std::fill(out.begin(), out.end(), 0);
    some_wrong |= !wrong.empty() && wrong[n];
    std::copy(out.begin(), out.end(), after.begin() + out_at[n]);
    total += out.size();
  }

  uint8_t *arena = nullptr;
  void *memory = nullptr;
  host = before;
  if (setting.data_memory == DataMemory::kHost) {
    arena = host.data();
  } else if (setting.data_memory == DataMemory::kPinned) {
    LANECRYPT_ASSERT_OK(lc_alloc_pinned(context(), bytes, &memory));
    arena = static_cast<uint8_t *>(memory);
    std::memcpy(arena, before.data(), bytes);
  } else {
    LANECRYPT_ASSERT_OK(lc_alloc_device(context(), 0, bytes, &memory));
    arena = static_cast<uint8_t *>(memory);
    LANECRYPT_ASSERT_OK(lc_copy_to_device(context(), 0, arena, before.data(), bytes));
  }
  std::vector<Bytes> tags;
  for (const Message &message : messages)
    tags.push_back(direction == LC_ENCRYPT ? Bytes(setting.tag_bytes + 4, 0x5a) : message.tag);
  std::vector<lc_message> list(messages.size());
  std::vector<lc_status> statuses(messages.size(), LC_PENDING);
  for (size_t n = 0; n < messages.size(); n++) {
    list[n].key = key(messages[n].key);
    list[n].iv = messages[n].iv.data();
    list[n].in = arena + in_at[n];
    list[n].out = arena + out_at[n];
    list[n].length = messages[n].plain.size();
    list[n].aad = messages[n].aad.data();
    list[n].aad_length = messages[n].aad.size();
    list[n].tag = tags[n].data();
  }
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = setting.cipher;
  job.direction = direction;
  job.key_bytes = setting.key_bytes;
  job.memory = setting.data_memory == DataMemory::kDevice ? LC_MEMORY_DEVICE : LC_MEMORY_HOST;
  job.device = LC_ANY_DEVICE;
  job.messages = list.data();
  job.message_count = list.size();
  job.message_size = sizeof list[0];
  job.iv_bytes = setting.iv_bytes;
  job.tag_bytes = setting.tag_bytes;
  job.message_status = statuses.data();
  std::unique_ptr<DeviceTags> on_device;
  if (setting.tags_on_device) {
    on_device = std::make_unique<DeviceTags>(context(), tags, setting.tag_bytes);
    for (size_t n = 0; n < messages.size(); n++) list[n].tag = on_device->tag(n);
    job.tag_memory = LC_MEMORY_DEVICE;
    job.message_status = nullptr;
    if (direction == LC_DECRYPT) job.verdicts = on_device->verdicts(messages.size());
  }
  const lc_status status = lc_run(context(), &job, nullptr);
  EXPECT_EQ(some_wrong && !setting.tags_on_device ? LC_ERROR_TAG : LC_OK, status)
      << lc_last_error();
  expect_done(1, total);
  if (setting.tags_on_device) {
    Bytes verdicts(direction == LC_DECRYPT ? messages.size() : 0, 1);
    std::vector<Bytes> expected;
    for (size_t n = 0; n < messages.size(); n++) {
      expected.push_back(messages[n].tag);
      // Puts the tags where the comparison below expects them, as if the host had them.
      if (direction == LC_ENCRYPT)
        std::copy(messages[n].tag.begin(), messages[n].tag.end(), tags[n].begin());
      const bool is_wrong = !wrong.empty() && wrong[n];
      if (!verdicts.empty()) verdicts[n] = is_wrong ? 0 : 1;
      statuses[n] = is_wrong ? LC_ERROR_TAG : LC_OK;
    }
    on_device->check(expected, setting.tag_bytes, verdicts);
    on_device.reset();
  }

  Bytes now(bytes);
  if (setting.data_memory == DataMemory::kDevice) {
    LANECRYPT_ASSERT_OK(lc_copy_from_device(context(), 0, now.data(), arena, bytes));
    lc_free_device(context(), 0, memory);
  } else {
    std::memcpy(now.data(), arena, bytes);
    if (memory != nullptr) lc_free_pinned(context(), memory);
  }
  for (size_t n = 0; n < messages.size(); n++) {
    const Message &message = messages[n];
    const std::string which = "message " + std::to_string(n) + " of " +
                              std::to_string(message.plain.size()) + " bytes, " +
                              std::to_string(message.aad.size()) + " additional, " +
                              (message.in_place ? "in place" : "apart");
    EXPECT_EQ(!wrong.empty() && wrong[n] ? LC_ERROR_TAG : LC_OK, statuses[n]) << which;
    if (direction == LC_ENCRYPT) {
      Bytes expected = message.tag;
      expected.resize(setting.tag_bytes + 4, 0x5a);
      EXPECT_EQ(expected, tags[n]) << which;
    }
    if (!std::equal(now.begin() + out_at[n], now.begin() + out_at[n] + message.plain.size(),
                    after.begin() + out_at[n]))
      ADD_FAILURE() << "wrong output of " << which;
    if (HasFailure()) return;
  }
  EXPECT_TRUE(now == after) << "a byte was written that belongs to no output";
}

std::vector<lc_cipher> offered_aead() {
  std::vector<lc_cipher> modes;
  for (const CipherInfo &info : kCipherInfos)
    if (info.is_aead && has_reference(info.cipher)) modes.push_back(info.cipher);
  return modes;
}

// Every text length with many lengths of additional data. Some messages share keys.
TEST_P(Aead, Lengths) {
  for (lc_cipher cipher : offered_aead())
    for (uint32_t key_bytes : key_sizes(cipher))
      for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
        if (!is_thorough() && (key_bytes == 24) != (data_memory == DataMemory::kDevice) &&
            key_bytes != 32)
          continue;
        Setting setting{cipher, key_bytes, 12, 16, data_memory};
        std::vector<Message> messages;
        for (uint64_t length = 0; length <= 1100; length++) {
          if (!is_thorough() && length > 200 && random_.below(6) != 0) continue;
          messages.push_back(make(setting, length, random_.below(3) ? random_.below(70) : 0));
        }
        check(setting, LC_ENCRYPT, messages);
        check(setting, LC_DECRYPT, messages);
        if (HasFailure()) return;
      }
}

TEST_P(Aead, AdditionalData) {
  Sample sample(5);
  for (lc_cipher cipher : offered_aead())
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kPinned, DataMemory::kDevice}) {
      Setting setting{cipher, key_sizes(cipher)[0], 12, 16, data_memory};
      std::vector<Message> messages;
      for (uint64_t length = 0; length <= 130; length++)
        if (sample.takes_next()) messages.push_back(make(setting, random_.below(4) * 23, length));
      for (uint64_t length : {1000, 4096, 65279, 65280, 65281, 100001})
        if (sample.takes_next()) messages.push_back(make(setting, random_.below(100), length));
      check(setting, LC_ENCRYPT, messages);
      check(setting, LC_DECRYPT, messages);
      if (HasFailure()) return;
    }
}

// SP 800-38D, 5.2.1.1 and 5.2.1.2; SP 800-38C, A.1.
TEST_P(Aead, IvAndTagSizes) {
  for (lc_cipher cipher : offered_aead()) {
    const bool ccm = cipher_info(cipher).mode == Mode::kCcm,
               gcm = cipher_info(cipher).mode == Mode::kGcm;
    std::vector<uint32_t> ivs = {12}, tags = {16};
    if (gcm) ivs = {1, 2, 8, 11, 12, 13, 15, 16, 17, 31, 32, 64, 100, 128};
    if (ccm) ivs = {7, 8, 9, 10, 11, 12, 13};
    if (gcm) tags = {4, 8, 12, 13, 14, 15, 16};
    if (ccm) tags = {4, 6, 8, 10, 12, 14, 16};
    for (uint32_t iv : ivs)
      for (uint32_t tag : tags) {
        if (iv != 12 && tag != 16 && random_.below(4) != 0) continue;
        Setting setting{cipher, key_sizes(cipher).back(), iv, tag,
                        random_.below(2) ? DataMemory::kHost : DataMemory::kDevice};
        std::vector<Message> messages;
        for (uint64_t length : {0, 1, 16, 33, 250})
          messages.push_back(make(setting, length, random_.below(30)));
        check(setting, LC_ENCRYPT, messages);
        check(setting, LC_DECRYPT, messages);
        if (HasFailure()) return;
      }
  }
}

// Every message that was changed anywhere is refused, no other message is, and none of its text is
// left behind.
TEST_P(Aead, Tampered) {
  for (lc_cipher cipher : offered_aead())
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kPinned, DataMemory::kDevice})
      for (uint32_t tag_bytes : {16u, 12u}) {
        if (tag_bytes != 16 && cipher == LC_CHACHA20_POLY1305) continue;
        Setting setting{cipher, key_sizes(cipher)[0], 12, tag_bytes, data_memory};
        std::vector<Message> messages;
        std::vector<bool> wrong;
        for (int n = 0; n < 60; n++) {
          Message message = make(setting, random_.below(500), random_.below(60));
          bool is_wrong = true;
          const auto flip = [&](Bytes &bytes) {
            if (bytes.empty()) {
              is_wrong = false;
              return;
            }
            bytes[random_.below(bytes.size())] ^= static_cast<uint8_t>(1 << random_.below(8));
          };
          switch (n % 5) {
            case 0:
              is_wrong = false;
              break;
            case 1:
              flip(message.tag);
              break;
            case 2:
              flip(message.aad);
              break;
            case 3:
              flip(message.iv);
              break;
            case 4:
              flip(message.cipher);
          }
          wrong.push_back(is_wrong);
          messages.push_back(message);
        }
        check(setting, LC_DECRYPT, messages, wrong);
        if (HasFailure()) return;
      }
}

// Messages that take several chunks or many runs, and one that is mostly additional data.
TEST_P(Aead, Large) {
  const uint64_t scale = is_thorough() ? 16 : 1;
  for (lc_cipher cipher : offered_aead()) {
    if (cipher_info(cipher).mode == Mode::kCcm) continue;
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kPinned, DataMemory::kDevice}) {
      // Each kind of memory uses another key size.
      const std::vector<uint32_t> sizes = key_sizes(cipher);
      Setting setting{cipher, sizes[static_cast<size_t>(data_memory) % sizes.size()], 12, 16,
                      data_memory};
      const bool over_chunk = data_memory == DataMemory::kHost && scaled(10) >= 10;
      std::vector<Message> messages;
      messages.push_back(make(setting, (over_chunk ? 17 << 20 : 2 << 20) * scale + 5, 100));
      messages.push_back(make(setting, 300000, 1 << 20));
      messages.push_back(make(setting, 65537, 0));
      check(setting, LC_ENCRYPT, messages);
      check(setting, LC_DECRYPT, messages);
      if (HasFailure()) return;
      messages[0].cipher[messages[0].cipher.size() / 2] ^= 1;
      check(setting, LC_DECRYPT, messages, {true, false, false});
      if (HasFailure()) return;
    }
  }
}

// Returns the IV of 16 bytes whose J0 ends in `counter`. J0 = (IV * H + L) * H, where L is the
// block with the IV's length, so IV = (J0 / H + L) / H (SP 800-38D, section 7.1).
Bytes Aead::iv_of(uint32_t key_number, uint32_t counter) {
  Block zero = {}, h = {}, start = {{1, 2, 3, __builtin_bswap32(counter)}};
  reference_crypt({LC_AES_ECB, LC_ENCRYPT, 16}, key(key_number), nullptr,
                  reinterpret_cast<const uint8_t *>(&zero), reinterpret_cast<uint8_t *>(&h), 16);
  // The inverse of H is H to the power 2^128 - 2.
  Gf128 inverse = gf128_one(), power = gf128_of_block(h);
  for (int n = 1; n < 128; n++) {
    power = gf128_square(power);
    inverse = gf128_multiply(inverse, power);
  }
  const Gf128 length = {{128, 0, 0, 0}};
  const Gf128 iv =
      gf128_multiply(gf128_add(gf128_multiply(gf128_of_block(start), inverse), length), inverse);
  const Block block = gf128_to_block(iv);
  Bytes bytes(16);
  std::memcpy(bytes.data(), &block, 16);
  return bytes;
}

// GCM's counter has 32 bits and wraps (inc32, SP 800-38D, section 6.2). With a J0 from a long IV it
// can wrap anywhere in a message.
TEST_P(Aead, GcmCounterWraps) {
  Setting setting{LC_AES_GCM, 16, 16, 16, DataMemory::kHost};
  for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
    setting.data_memory = data_memory;
    std::vector<Message> messages;
    for (uint32_t counter : {0xffffffffu, 0xfffffffeu, 0xffffff00u, 0xffffc001u}) {
      Message message = make(setting, 400000, 3);
      message.iv = iv_of(message.key, counter);
      answer(setting, &message);
      messages.push_back(message);
    }
    check(setting, LC_ENCRYPT, messages);
    check(setting, LC_DECRYPT, messages);
    if (HasFailure()) return;
  }
}

// If tags and verdicts are in device memory, the device writes and compares each tag.
TEST_P(Aead, TagsOnTheDevice) {
  for (lc_cipher cipher : offered_aead())
    for (uint32_t tag_bytes : {16u, 12u}) {
      if (tag_bytes != 16 && cipher == LC_CHACHA20_POLY1305) continue;
      Setting setting{cipher, key_sizes(cipher).back(), 12, tag_bytes, DataMemory::kDevice, true};
      std::vector<Message> messages;
      std::vector<bool> wrong;
      for (uint64_t length : {0, 0, 1, 15, 16, 17, 64, 65, 300, 4096, 70001})
        for (uint64_t aad_length : {0, 20}) messages.push_back(make(setting, length, aad_length));
      check(setting, LC_ENCRYPT, messages);
      check(setting, LC_DECRYPT, messages);
      if (HasFailure()) return;
      for (size_t n = 0; n < messages.size(); n++) {
        wrong.push_back(n % 3 == 0);
        Bytes &changed =
            n % 2 == 0 || messages[n].plain.empty() ? messages[n].tag : messages[n].cipher;
        if (wrong.back()) changed[random_.below(changed.size())] ^= 1;
      }
      check(setting, LC_DECRYPT, messages, wrong);
      if (HasFailure()) return;
    }
}

// Devices read the list of up to about 4,000 runs and sums of GCM from host memory, and the host
// makes it while the texts are encrypted. A longer list is copied before that.
TEST_P(Aead, FewRunsAndMany) {
  for (lc_cipher cipher : {LC_AES_GCM, LC_ARIA_GCM}) {
    if (!offers(cipher)) continue;
    for (uint32_t count : {1500, 2500}) {
      const Setting setting{cipher, 16, 12, 16, DataMemory::kDevice, true};
      std::vector<Message> messages;
      for (uint32_t n = 0; n < count; n++)
        messages.push_back(make(setting, random_.below(100), n % 4 == 0 ? 7 : 0));
      check(setting, LC_ENCRYPT, messages);
      if (HasFailure()) return;
    }
  }
}

// A few short messages, for which devices have kernels that do a whole message at once.
TEST_P(Aead, ShortWithTagsOnTheDevice) {
  for (lc_cipher cipher : offered_aead())
    for (uint32_t key_bytes : key_sizes(cipher)) {
      const uint32_t tag_bytes = cipher == LC_CHACHA20_POLY1305 ? 16 : key_bytes / 2;
      for (uint32_t iv_bytes : {12u, 9u}) {
        if (iv_bytes != 12 && cipher_info(cipher).mode != Mode::kGcm) continue;
        Setting setting{cipher, key_bytes, iv_bytes, std::min(tag_bytes, 16u), DataMemory::kDevice,
                        true};
        std::vector<Message> messages;
        for (uint64_t length : {0, 1, 15, 16, 17, 64, 65, 300, 4096, 4100, 16384})
          for (uint64_t aad_length : {0, 1, 16, 77, 2500}) {
            if (length > 4096 && aad_length > 16) continue;
            messages.push_back(make(setting, length, aad_length));
          }
        messages.push_back(make(setting, 100, 4096));
        check(setting, LC_ENCRYPT, messages);
        check(setting, LC_DECRYPT, messages);
        std::vector<bool> wrong;
        for (size_t n = 0; n < messages.size(); n++) {
          wrong.push_back(n % 3 == 0);
          Bytes &changed =
              n % 2 == 0 || messages[n].plain.empty() ? messages[n].tag : messages[n].cipher;
          if (wrong.back()) changed[random_.below(changed.size())] ^= 1;
        }
        check(setting, LC_DECRYPT, messages, wrong);
        check(setting, LC_ENCRYPT, {make(setting, 16, 0)});
        if (HasFailure()) return;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, Aead, testing::ValuesIn(devices_in_every_form()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
