// Cipher jobs whose outputs overlap their inputs or each other are refused before anything is done.
// The jobs use host memory and the emulator's device memory.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "job/overlap.h"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr size_t kOverlapCount = 8, kOverlapLength = 1000, kOverlapSpace = 1 << 16;

// Messages in one buffer, whose addresses a test moves about.
class Overlap : public testing::TestWithParam<lc_memory> {
 protected:
  Overlap() : context_("host:0", LC_FALLBACK_NONE) {
    if (is_on_device()) memory_ = std::make_unique<DeviceMemory>(context_.get());
    std::iota(std::begin(key_), std::end(key_), uint8_t{1});
    for (size_t n = 0; n < kOverlapCount; ++n) {
      std::memset(nonces_[n], static_cast<int>(n), sizeof nonces_[n]);
      lc_message &message = messages_[n];
      message.key = key_;
      message.iv = nonces_[n];
      message.in = at(1024 * n);
      message.out = at((32 << 10) + 1024 * n);
      message.length = kOverlapLength;
      message.tag = at((16 << 10) + 16 * n);
      message.aad = aad_;
      message.aad_length = sizeof aad_;
    }
    job_.struct_size = sizeof job_;
    job_.cipher = LC_AES_GCM;
    job_.key_bytes = 16;
    job_.memory = GetParam();
    if (is_on_device()) job_.tag_memory = LC_MEMORY_DEVICE;
    job_.messages = messages_;
    job_.message_count = kOverlapCount;
    job_.message_size = sizeof messages_[0];
  }

  struct DeviceMemory {
    explicit DeviceMemory(lc_context *of) : context(of) {
      EXPECT_EQ(LC_OK, lc_alloc_device(context, 0, kOverlapSpace, &at)) << lc_last_error();
    }
    ~DeviceMemory() { EXPECT_EQ(LC_OK, lc_free_device(context, 0, at)); }
    lc_context *const context;
    void *at = nullptr;
  };

  bool is_on_device() const { return GetParam() == LC_MEMORY_DEVICE; }
  uint8_t *at(size_t offset) {
    return (is_on_device() ? static_cast<uint8_t *>(memory_->at) : space_) + offset;
  }
  std::vector<uint8_t> bytes() {
    std::vector<uint8_t> copy(kOverlapSpace);
    if (is_on_device())
      EXPECT_EQ(LC_OK, lc_copy_from_device(context_.get(), 0, copy.data(), at(0), kOverlapSpace));
    else
      std::memcpy(copy.data(), space_, kOverlapSpace);
    return copy;
  }

  // Changes the job with `spoil`. Both lc_run() and lc_submit() must then refuse it, name the two
  // overlapping ranges, and do nothing.
  template <typename Spoil>
  void refused(const char *words, Spoil spoil) {
    SCOPED_TRACE(words);
    const lc_cipher_job job = job_;
    lc_message messages[kOverlapCount];
    std::copy(messages_, messages_ + kOverlapCount, messages);
    const std::vector<uint8_t> before = bytes();
    const uint64_t done = context_.counters(0).bytes;
    spoil();
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, nullptr));
    EXPECT_NE(nullptr, std::strstr(lc_last_error(), words)) << lc_last_error();
    lc_ticket *ticket = nullptr;
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_submit(context_.get(), &job_, nullptr, &ticket));
    EXPECT_EQ(nullptr, ticket);
    EXPECT_EQ(before, bytes());
    EXPECT_EQ(done, context_.counters(0).bytes);
    job_ = job;
    std::copy(messages, messages + kOverlapCount, messages_);
  }
  // Changes the job with `change`. The device must then run it.
  template <typename Change>
  void accepted(Change change) {
    const lc_cipher_job job = job_;
    lc_message messages[kOverlapCount];
    std::copy(messages_, messages_ + kOverlapCount, messages);
    const uint64_t done = context_.counters(0).bytes;
    change();
    EXPECT_EQ(LC_OK, lc_run(context_.get(), &job_, nullptr)) << lc_last_error();
    EXPECT_LT(done, context_.counters(0).bytes);
    job_ = job;
    std::copy(messages, messages + kOverlapCount, messages_);
  }
  template <typename Change>
  void accepted_if_host(Change change) {
    if (!is_on_device()) accepted(change);
  }
  static void *moved(const void *pointer, std::ptrdiff_t by) {
    return const_cast<uint8_t *>(static_cast<const uint8_t *>(pointer)) + by;
  }
  void set_decryption() {
    job_.direction = LC_DECRYPT;
    if (is_on_device()) job_.verdicts = at(20 << 10);
  }

  Context context_;
  uint8_t key_[16], nonces_[kOverlapCount][12], aad_[20] = {7};
  alignas(16) uint8_t space_[kOverlapSpace] = {};
  std::unique_ptr<DeviceMemory> memory_;
  lc_message messages_[kOverlapCount] = {};
  lc_cipher_job job_ = {};
};

TEST_P(Overlap, OfThisTestIsNone) {
  accepted([] {});
}

TEST_P(Overlap, OutputAndTheInputOfAnotherMessage) {
  refused("the output of message 3 overlaps the input of message 5",
          [&] { messages_[3].out = moved(messages_[5].in, 999); });
  refused("the output of message 5 overlaps the input of message 3",
          [&] { messages_[5].out = moved(messages_[3].in, -20); });
  // Each output is the next message's input.
  refused("overlaps", [&] {
    for (size_t n = 0; n < kOverlapCount; ++n) messages_[n].out = at(1024 * (n + 1));
  });
  refused("input and output overlap in part",
          [&] { messages_[2].out = moved(messages_[2].in, 1); });
}

TEST_P(Overlap, OutputsOfTwoMessages) {
  refused("the output of message 6 overlaps the output of message 7",
          [&] { messages_[7].out = moved(messages_[6].out, 999); });
  refused("overlaps the output of message", [&] { messages_[7].out = messages_[0].out; });
  refused("overlaps the output of message", [&] {
    std::reverse(messages_, messages_ + kOverlapCount);
    messages_[4].out = moved(messages_[2].out, 1);
  });
  // The same buffer twice, in place.
  refused("overlaps the output of message", [&] {
    for (lc_message &message : messages_) message.out = const_cast<void *>(message.in);
    messages_[5].in = messages_[5].out = messages_[1].out;
  });
}

TEST_P(Overlap, TagsThatAreMade) {
  refused("tag", [&] { messages_[1].tag = moved(messages_[6].in, 992); });
  refused("tag", [&] { messages_[1].tag = moved(messages_[1].in, 0); });
  refused("tag", [&] { messages_[1].tag = moved(messages_[6].out, -15); });
  refused("tag", [&] { messages_[1].tag = moved(messages_[1].out, 999); });
  refused("the tag of message 1 overlaps the tag of message 2",
          [&] { messages_[2].tag = moved(messages_[1].tag, 15); });
  if (!is_on_device())
    refused("the tag of message 1 overlaps", [&] { messages_[1].tag = aad_ + 19; });
  // Each tag is behind its message's text, over the next text.
  refused("overlaps", [&] {
    for (lc_message &message : messages_) message.tag = moved(message.out, kOverlapLength);
    messages_[3].out = moved(messages_[2].tag, 15);
    messages_[3].tag = at(20 << 10);
  });
}

TEST_P(Overlap, TagsThatAreCompared) {
  set_decryption();
  refused("tag", [&] { messages_[0].out = moved(messages_[7].tag, 15); });
  refused("tag", [&] { messages_[0].out = moved(messages_[0].tag, 0); });
  // Records of text and tag, decrypted in place. One text reaches into another record's tag.
  refused("overlaps", [&] {
    for (lc_message &message : messages_) {
      message.in = message.out;
      message.tag = moved(message.out, kOverlapLength);
    }
    messages_[4].in = messages_[4].out = moved(messages_[3].tag, 8);
    messages_[4].tag = at(20 << 10);
  });
}

TEST_P(Overlap, AdditionalDataAndOtherArrays) {
  if (is_on_device()) {
    set_decryption();
    refused("verdicts", [&] { job_.verdicts = moved(messages_[0].out, 5); });
    refused("verdicts", [&] { job_.verdicts = moved(messages_[7].in, 999); });
    refused("verdicts", [&] { job_.verdicts = moved(messages_[0].tag, 15); });
    return;
  }
  refused("additional data", [&] {
    messages_[3].aad = moved(messages_[0].out, 10);
    messages_[3].aad_length = 1;
  });
  job_.direction = LC_DECRYPT;
  refused("message_status",
          [&] { job_.message_status = static_cast<lc_status *>(moved(messages_[2].out, 0)); });
  refused("message_status",
          [&] { job_.message_status = static_cast<lc_status *>(moved(messages_[2].in, 8)); });
  refused("additional data", [&] { messages_[3].aad = messages_[3].out; });
}

TEST_P(Overlap, WhatOnlyTouchesIsNone) {
  // Adjacent records of text and tag, in place, in any order.
  accepted([&] {
    for (size_t n = 0; n < kOverlapCount; ++n) {
      messages_[n].out = at((32 << 10) + (kOverlapLength + 16) * n);
      messages_[n].tag = moved(messages_[n].out, kOverlapLength);
    }
  });
  accepted([&] {
    for (size_t n = 0; n < kOverlapCount; ++n) {
      messages_[n].in = messages_[n].out =
          at((32 << 10) + (kOverlapLength + 16) * (n * 3 % kOverlapCount));
      messages_[n].tag = moved(messages_[n].out, kOverlapLength);
    }
  });
  // Inputs and outputs alternate.
  accepted([&] {
    for (size_t n = 0; n < kOverlapCount; ++n) {
      messages_[n].in = at(2 * kOverlapLength * n);
      messages_[n].out = at(2 * kOverlapLength * n + kOverlapLength);
      messages_[n].tag = at((40 << 10) + 16 * n);
    }
  });
  // All messages share one input, and the empty texts have any address.
  accepted([&] {
    for (lc_message &message : messages_) message.in = messages_[0].in;
    messages_[3].length = 0;
    messages_[3].out = messages_[4].out;
    messages_[5].length = 0;
    messages_[5].in = messages_[5].out = nullptr;
  });
}

TEST_P(Overlap, IsNotLookedForIfTheCallerVouches) {
  accepted([&] {
    messages_[1].out = messages_[0].out;
    job_.outputs_are_apart = 1;
  });
}

INSTANTIATE_TEST_SUITE_P(Memory, Overlap, testing::Values(LC_MEMORY_HOST, LC_MEMORY_DEVICE),
                         [](const auto &one) {
                           return one.param == LC_MEMORY_HOST ? "Host" : "Device";
                         });

// A message's additional data may be the previous tag, because decryption only reads both.
TEST(OverlapOfRecords, ChainedTagsAreDecryptedInPlace) {
  const Context context("none", LC_FALLBACK_CPU);
  const uint8_t key[16] = {1};
  uint8_t nonces[4][12] = {{0}, {1}, {2}, {3}}, space[4][64] = {};
  lc_message messages[4] = {};
  for (size_t n = 0; n < 4; ++n) {
    messages[n].key = key;
    messages[n].iv = nonces[n];
    messages[n].in = messages[n].out = space[n];
    messages[n].length = 48;
    messages[n].tag = space[n] + 48;
  }
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = LC_CHACHA20_POLY1305;
  job.key_bytes = 32;
  const uint8_t long_key[32] = {1};
  for (lc_message &message : messages) message.key = long_key;
  job.message_size = sizeof messages[0];
  job.message_count = 1;
  for (size_t n = 0; n < 4; ++n) {
    if (n != 0) {
      messages[n].aad = messages[n - 1].tag;
      messages[n].aad_length = 16;
    }
    job.messages = &messages[n];
    LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
  }
  job.direction = LC_DECRYPT;
  job.messages = messages;
  job.message_count = 4;
  EXPECT_EQ(LC_OK, lc_run(context.get(), &job, nullptr)) << lc_last_error();
  EXPECT_EQ(0, space[3][0] | space[0][47]);
  // Encrypting them in one job would authenticate tags that do not exist yet.
  job.direction = LC_ENCRYPT;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context.get(), &job, nullptr));
}

// Compares the result with a check of each range against every other one.
TEST(OverlapOfRandomPlaces, IsFoundAsByComparingAll) {
  const Context context("none", LC_FALLBACK_CPU);
  std::mt19937 random(20);
  const auto below = [&](size_t bound) { return random() % bound; };
  std::vector<uint8_t> space(20000);
  const uint8_t key[16] = {1};
  uint8_t nonces[12][12] = {};
  size_t refused = 0, done = 0;
  for (int round = 0; round < 4000; ++round) {
    const size_t count = 1 + below(12), step = 40 + below(200);
    const bool encrypts = below(2) != 0, is_aead = below(4) != 0;
    std::vector<lc_message> messages(count);
    // The messages are mostly in order, each near its own place.
    const auto place = [&](size_t n) {
      return space.data() + (below(6) == 0 ? below(15000) : n * step + below(2) * below(step));
    };
    for (size_t n = 0; n < count; ++n) {
      lc_message &message = messages[n];
      nonces[n][0] = static_cast<uint8_t>(n);
      message.key = key;
      message.iv = nonces[n];
      message.length = below(5) == 0 ? 0 : 1 + below(60);
      message.in = place(n);
      const size_t how = below(4);
      message.out = how == 0   ? const_cast<void *>(message.in)
                    : how == 1 ? place(n)
                               : space.data() + 9000 + (n * step) % 10000;
      if (!is_aead) continue;
      message.tag = below(2) != 0 ? static_cast<uint8_t *>(message.out) + message.length
                                  : space.data() + 4500 + 16 * n + below(2) * below(9000);
      message.aad_length = below(3) * 4;
      message.aad = place(n);
    }
    struct Piece {
      MemoryRange range;
      bool is_written;
    };
    std::vector<Piece> pieces;
    for (const lc_message &message : messages) {
      pieces.push_back({MemoryRange(message.out, message.length), true});
      if (message.in != message.out)
        pieces.push_back({MemoryRange(message.in, message.length), false});
      if (!is_aead) continue;
      pieces.push_back({MemoryRange(message.tag, 16), encrypts});
      pieces.push_back({MemoryRange(message.aad, message.aad_length), false});
    }
    bool overlaps = false;
    for (size_t n = 0; n < pieces.size(); ++n)
      for (size_t m = 0; m < n; ++m)
        overlaps = overlaps || (!pieces[n].range.empty() && !pieces[m].range.empty() &&
                                (pieces[n].is_written || pieces[m].is_written) &&
                                pieces[n].range.overlaps(pieces[m].range));
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = is_aead ? LC_AES_GCM : LC_AES_CTR;
    job.direction = encrypts ? LC_ENCRYPT : LC_DECRYPT;
    job.key_bytes = 16;
    uint8_t ivs[12][16] = {};
    for (size_t n = 0; n < count && !is_aead; ++n) messages[n].iv = ivs[n];
    job.messages = messages.data();
    job.message_count = count;
    job.message_size = sizeof messages[0];
    const lc_status status = lc_run(context.get(), &job, nullptr);
    ASSERT_EQ(overlaps, status == LC_ERROR_ARGUMENT)
        << "round " << round << ": " << status << " " << lc_last_error();
    ++(overlaps ? refused : done);
  }
  EXPECT_LT(500u, refused);
  EXPECT_LT(500u, done);
}

// The addresses of segments follow a rule.
class OverlapOfSegments : public testing::Test {
 protected:
  OverlapOfSegments() : context_("host:0", LC_FALLBACK_NONE) {
    segments_.struct_size = sizeof segments_;
    segments_.key = key_;
    segments_.in = space_;
    segments_.out = space_ + 8000;
    segments_.text_bytes = 1950;
    segments_.segment_bytes = 100;
    segments_.tags = space_ + 16000;
    segments_.nonce = nonce_;
    segments_.number = {.at = 8, .bytes = 4, .little_endian = 0, .first = 0};
    job_.struct_size = sizeof job_;
    job_.cipher = LC_AES_GCM;
    job_.key_bytes = 16;
    job_.segments = &segments_;
  }
  void is(lc_status expected, const char *words = "") {
    EXPECT_EQ(expected, lc_run(context_.get(), &job_, nullptr)) << lc_last_error();
    if (expected != LC_OK) {
      EXPECT_NE(nullptr, std::strstr(lc_last_error(), words)) << lc_last_error();
    }
  }

  Context context_;
  uint8_t key_[16] = {1}, nonce_[12] = {2}, space_[20000] = {};
  lc_segments segments_ = {};
  lc_cipher_job job_ = {};
};

TEST_F(OverlapOfSegments, TagsOverTexts) {
  is(LC_OK);
  segments_.tags = space_ + 1949;
  is(LC_ERROR_ARGUMENT, "tag");
  segments_.tags = space_ + 8000 - 20 * 16 + 1;
  is(LC_ERROR_ARGUMENT, "tag");
  segments_.tags = space_ + 8000 - 20 * 16;
  is(LC_OK);
  // Decryption only reads the tags.
  job_.direction = LC_DECRYPT;
  segments_.tags = space_ + 9900;
  is(LC_ERROR_ARGUMENT, "tag");
}

TEST_F(OverlapOfSegments, TagsBetweenTexts) {
  segments_.out_stride = 120;
  segments_.tag_stride = 120;
  for (const uint64_t first_bytes : {0, 30}) {
    segments_.first_bytes = first_bytes;
    uint8_t *const first_gap = space_ + 8000 + (first_bytes == 0 ? 100 : first_bytes);
    segments_.tags = first_gap;
    is(LC_OK);
    segments_.tags = first_gap + 4;
    is(LC_OK);
    segments_.tags = first_gap + 5;
    is(LC_ERROR_ARGUMENT, "tag");
    segments_.tags = first_gap - 1;
    is(LC_ERROR_ARGUMENT, "tag");
  }
  // With another stride, the tags reach a text in the end.
  segments_.first_bytes = 0;
  segments_.tags = space_ + 8100;
  segments_.tag_stride = 240;
  is(LC_OK);
  segments_.tag_stride = 119;
  is(LC_ERROR_ARGUMENT, "tag");
}

TEST_F(OverlapOfSegments, AdditionalDataAndStatuses) {
  segments_.aad = space_ + 9000;
  segments_.aad_length = 9;
  is(LC_ERROR_ARGUMENT, "additional data");
  segments_.aad = space_ + 1000;
  is(LC_OK);
  job_.direction = LC_DECRYPT;
  job_.message_status = reinterpret_cast<lc_status *>(space_ + 16000 + 32);
  is(LC_ERROR_ARGUMENT, "message_status");
}

}  // namespace
}  // namespace lanecrypt::test
