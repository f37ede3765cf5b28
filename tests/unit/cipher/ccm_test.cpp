// CCM of messages that are not done in one piece, on every device: in slices, or half on a device
// that is lost and half on the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Messages under three keys with additional data of several lengths, and the job that encrypts or
// decrypts them.
class Messages {
 public:
  Messages(const std::vector<uint64_t> &lengths, const std::vector<uint64_t> &aad_lengths,
           bool in_place)
      : in_place_(in_place), lengths_(lengths) {
    keys_.resize(3 * 16);
    random_.fill(keys_.data(), keys_.size());
    for (size_t n = 0; n < lengths.size(); n++) {
      for (auto *list : {&plain_, &cipher_}) list->emplace_back(lengths[n]);
      ivs_.emplace_back(kIvBytes);
      aads_.emplace_back(aad_lengths[n]);
      tags_.emplace_back(kTagBytes);
      for (Bytes *bytes : {&plain_[n], &ivs_[n], &aads_[n]})
        random_.fill(bytes->data(), bytes->size());
      reference_seal({LC_AES_CCM, 16, key(n), ivs_[n], aads_[n], kTagBytes}, plain_[n].data(),
                     cipher_[n].data(), lengths[n], tags_[n].data());
    }
  }

  // Returns the status of the job. `done` receives where it ran.
  lc_status run(lc_context *context, lc_direction direction, lc_result *done = nullptr) {
    in_ = direction == LC_ENCRYPT ? plain_ : cipher_;
    out_ = in_;
    if (!in_place_)
      for (Bytes &bytes : out_) std::fill(bytes.begin(), bytes.end(), 0xa5);
    made_ = direction == LC_ENCRYPT ? std::vector<Bytes>(tags_.size(), Bytes(kTagBytes)) : tags_;
    std::vector<lc_message> list;
    for (size_t n = 0; n < lengths_.size(); n++) {
      lc_message message =
          plain_message(key(n), ivs_[n].data(), in_place_ ? out_[n].data() : in_[n].data(),
                        out_[n].data(), lengths_[n]);
      message.aad = aads_[n].data();
      message.aad_length = aads_[n].size();
      message.tag = made_[n].data();
      list.push_back(message);
    }
    lc_cipher_job job{};
    job.struct_size = sizeof job;
    job.cipher = LC_AES_CCM;
    job.direction = direction;
    job.key_bytes = 16;
    job.device = LC_ANY_DEVICE;
    job.messages = list.data();
    job.message_count = list.size();
    job.message_size = sizeof list[0];
    job.iv_bytes = kIvBytes;
    job.tag_bytes = kTagBytes;
    return lc_run(context, &job, done);
  }
  bool is_right(lc_direction direction) const {
    return out_ == (direction == LC_ENCRYPT ? cipher_ : plain_) && made_ == tags_;
  }
  bool is_wiped(size_t n) const {
    return std::all_of(out_[n].begin(), out_[n].end(), [](uint8_t byte) { return byte == 0; });
  }
  Bytes &tag(size_t n) { return tags_[n]; }
  const Bytes &plain(size_t n) const { return plain_[n]; }
  const Bytes &output(size_t n) const { return out_[n]; }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (uint64_t length : lengths_) sum += length;
    return sum;
  }

 private:
  static constexpr uint32_t kIvBytes = 11, kTagBytes = 10;
  const uint8_t *key(size_t n) const { return keys_.data() + n % 3 * 16; }

  Random random_{3803};
  bool in_place_;
  std::vector<uint64_t> lengths_;
  Bytes keys_;
  std::vector<Bytes> plain_, cipher_, ivs_, aads_, tags_, in_, out_, made_;
};

// 40 streams of which a chunk takes 0.4 MiB each. A slice ends within the additional data of some
// and within the text of others, and some messages end within the first slice.
Messages sliced(uint64_t chunks, bool in_place) {
  std::vector<uint64_t> lengths(40, (16 * chunks * kMiB) / 40 + 77), aads(40, 0);
  for (size_t n = 0; n < lengths.size(); n += 5) std::swap(lengths[n], aads[n]);
  lengths[0] = 0;
  lengths[5] = 1;
  lengths[1] = aads[1] = 1000;
  lengths[2] += 40 * kMiB / 10;
  return Messages(lengths, aads, in_place);
}

class CcmSlices : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!offers(LC_AES_CCM)) GTEST_SKIP() << GetParam().id << " seals nothing";
  }
};

TEST_P(CcmSlices, GoOnWhereTheyEnded) {
  Messages messages = sliced(1, true);
  for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
    LANECRYPT_ASSERT_OK(messages.run(context(), direction));
    expect_done(1, messages.bytes());
    EXPECT_TRUE(messages.is_right(direction));
  }
  messages.tag(2)[3] ^= 4;
  EXPECT_EQ(LC_ERROR_TAG, messages.run(context(), LC_DECRYPT));
  expect_done(1, messages.bytes());
  EXPECT_TRUE(messages.is_wiped(2));
  EXPECT_EQ(messages.plain(3), messages.output(3));
}

INSTANTIATE_TEST_SUITE_P(, CcmSlices, testing::ValuesIn(devices_for_one_stream()),
                         device_case_name);

// The device is lost when it starts its third chunk. The CPU computes the MAC of what was
// downloaded, and does the rest.
TEST(CcmOnALostDevice, IsFinishedByTheCpu) {
  ScopedEnvironment fault("LANECRYPT_HOST_FAULT", "lost-after:4");
  ScopedEnvironment form("LANECRYPT_AES_FORM", "table1");
  for (bool in_place : {true, false})
    for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      if (in_place != (direction == LC_ENCRYPT) && scaled(10) < 10) continue;
      Messages messages = sliced(3, in_place);
      Context context("host", LC_FALLBACK_CPU);
      lc_result done{};
      done.struct_size = sizeof done;
      LANECRYPT_ASSERT_OK(messages.run(context.get(), direction, &done));
      EXPECT_TRUE(messages.is_right(direction));
      EXPECT_GT(done.device_bytes, 0u);
      EXPECT_GT(done.cpu_bytes, 0u);
      EXPECT_EQ(messages.bytes(), done.device_bytes + done.cpu_bytes);
    }
}

}  // namespace
}  // namespace lanecrypt::test
