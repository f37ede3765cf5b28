// Jobs that a graph must not repeat are refused by the C ABI.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::test {
namespace {

class CaptureRefuses : public testing::Test {
 protected:
  CaptureRefuses() {
    segments_.struct_size = sizeof segments_;
    segments_.key = key_;
    segments_.nonce = nonce_;
    segments_.in = segments_.out = memory_;
    segments_.tags = memory_ + 64;
    segments_.text_bytes = 64;
    segments_.segment_bytes = 16;
    segments_.number = {8, 4, 0, 0};
    job_.struct_size = sizeof job_;
    job_.cipher = LC_AES_GCM;
    job_.key_bytes = 32;
    job_.memory = job_.tag_memory = LC_MEMORY_DEVICE;
    job_.stream = memory_;
    job_.segments = &segments_;
    update_.struct_size = sizeof update_;
    update_.count = 4;
    update_.verdict = memory_ + 200;
    lc_options options = {};
    options.struct_size = sizeof options;
    options.devices = "host";
    options.fallback = LC_FALLBACK_NONE;
    EXPECT_EQ(LC_OK, lc_open(&options, &context_)) << lc_last_error();
  }
  ~CaptureRefuses() override { lc_close(context_); }

  void expect(lc_status status, const char *text) {
    lc_graph_job *captured = nullptr;
    EXPECT_EQ(status, lc_capture(context_, &job_, &update_, &captured)) << lc_last_error();
    EXPECT_NE(nullptr, strstr(lc_last_error(), text)) << lc_last_error();
    EXPECT_EQ(nullptr, captured);
  }

  lc_context *context_ = nullptr;
  uint8_t key_[32] = {}, nonce_[64] = {}, memory_[256] = {};
  lc_segments segments_ = {};
  lc_cipher_job job_ = {};
  lc_graph_update update_ = {};
};

TEST_F(CaptureRefuses, WhatWouldUseANonceTwice) {
  segments_.number.first = UINT32_MAX - 15;
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");  // 4 launches of 4 segments
  segments_.number.first += 1;
  expect(LC_ERROR_ARGUMENT, "4 launches of 4 segments need more numbers");
  segments_.number = {0, 8, 0, UINT64_MAX - 14};
  expect(LC_ERROR_ARGUMENT, "need more numbers");
  update_.count = UINT64_MAX;
  segments_.number.first = 0;
  expect(LC_ERROR_ARGUMENT, "need more numbers");
  update_.count = 0;
  expect(LC_ERROR_ARGUMENT, "no launch of the graph may encrypt");
  update_.count = 1;
  segments_.number = {};
  segments_.nonce_stride = 12;
  expect(LC_ERROR_ARGUMENT, "would use the same nonces");
  segments_.nonce_stride = 0;
  segments_.segment_bytes = 64;
  expect(LC_ERROR_ARGUMENT, "would use the same nonces");
  job_.direction = LC_DECRYPT;
  job_.verdicts = memory_ + 128;
  update_.verdict = nullptr;
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  segments_.nonce_stride = 12;
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  update_.nonce = memory_ + 130;
  expect(LC_ERROR_ARGUMENT, "nonce is given");
  update_.nonce = nullptr;
  update_.verdict = memory_;
  expect(LC_ERROR_ARGUMENT, "verdicts");
}

TEST_F(CaptureRefuses, WhatWouldUseAKeystreamTwice) {
  segments_.tags = nullptr;
  job_.tag_memory = LC_MEMORY_HOST;
  segments_.segment_bytes = 64;  // one segment
  for (const lc_cipher cipher : {LC_AES_CTR, LC_CHACHA20}) {
    job_.cipher = cipher;
    segments_.number = {4, 8, 0, 0};
    expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
    segments_.number = {};
    expect(LC_ERROR_ARGUMENT, "would use the same nonces");
    segments_.number = {4, 8, 0, UINT64_MAX - 2};
    expect(LC_ERROR_ARGUMENT, "4 launches of 1 segments need more numbers");
  }
  segments_.number = {1, 3, 0, 0};
  expect(LC_ERROR_ARGUMENT, "the blocks of a segment reach the number of the next launch");
  segments_.number = {4, 8, 0, 0};
  memset(nonce_, 0xff, 4);
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");  // a block of 64 bytes
  segments_.text_bytes = segments_.segment_bytes = 65;
  expect(LC_ERROR_ARGUMENT, "the blocks of a segment reach the number of the next launch");
  job_.cipher = LC_AES_CTR;
  segments_.number = {8, 8, 0, 0};
  expect(LC_ERROR_ARGUMENT, "the blocks of a segment reach the number of the next launch");
  segments_.number = {8, 7, 0, 0};
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  nonce_[15] = 252;
  expect(LC_ERROR_ARGUMENT, "the blocks of a segment reach the number of the next launch");
  job_.direction = LC_DECRYPT;
  update_.verdict = nullptr;
  expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  job_.verdicts = memory_;
  expect(LC_ERROR_ARGUMENT, "has no tags");
}

TEST_F(CaptureRefuses, WhatNoGraphCanDo) {
  const auto only = [&](const char *text) { expect(LC_ERROR_UNSUPPORTED, text); };
  update_.verdict = nullptr;
  expect(LC_ERROR_ARGUMENT, "verdict");
  update_.verdict = memory_ + 200;
  update_.struct_size = 8;
  expect(LC_ERROR_ARGUMENT, "lc_graph_update");
  update_.struct_size = sizeof update_;
  for (void *stream : {LC_STREAM_LEGACY, LC_STREAM_PER_THREAD}) {
    job_.stream = stream;
    only("a stream that the program has made");
  }
  job_.stream = nullptr;
  expect(LC_ERROR_ARGUMENT, "no stream");
  job_.stream = memory_;
  const std::vector<uint8_t> aad(4097);
  segments_.aad = aad.data();
  segments_.aad_length = 4097;
  only("4096 bytes of additional data");
  segments_.aad_memory = LC_MEMORY_DEVICE;
  only("are at most 4096 bytes");
  segments_.aad_length = 4096;
  only("captures no graphs");
  segments_.aad_memory = LC_MEMORY_DEVICE_TO_HOST;
  expect(LC_ERROR_ARGUMENT, "unknown kind of memory 2 of additional data");
  segments_.aad_memory = LC_MEMORY_HOST;
  segments_.aad_length = 0;
  job_.iv_bytes = 16;
  only("nonces of 12 bytes");
  job_.iv_bytes = 0;
  job_.tag_memory = LC_MEMORY_HOST;
  only("texts and tags in the device's memory");
  job_.tag_memory = LC_MEMORY_DEVICE;
  segments_.text_bytes = 0;
  expect(LC_ERROR_ARGUMENT, "no text");
  segments_.text_bytes = 64;
  for (const lc_cipher ccm : {LC_AES_CCM, LC_ARIA_CCM}) {
    job_.cipher = ccm;
    only("a graph can have segments alone");
  }
  job_.cipher = LC_AES_GCM;
  job_.memory = LC_MEMORY_DEVICE_TO_HOST;
  job_.tag_memory = LC_MEMORY_HOST;
  segments_.out = memory_ + 128;
  only("a graph can have segments alone");
  job_.memory = LC_MEMORY_DEVICE;
  job_.cipher = LC_AES_CBC;
  expect(LC_ERROR_ARGUMENT, "takes none");
  const lc_message message = {};
  job_.segments = nullptr;
  job_.messages = &message;
  job_.message_size = sizeof message;
  only("a graph can have segments alone");
}

// All of these are valid, so only the emulator is refused, which cannot capture graphs.
TEST_F(CaptureRefuses, GcmOfNoCipher) {
  job_.key_bytes = 16;
  for (const lc_cipher gcm : {LC_AES_GCM, LC_ARIA_GCM, LC_SM4_GCM}) {
    job_.cipher = gcm;
    expect(LC_ERROR_UNSUPPORTED, "captures no graphs");
  }
}

TEST_F(CaptureRefuses, WhatItDoesNotKnow) {
  EXPECT_EQ(LC_OK, lc_graph_job_free(context_, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_graph_job_free(context_, reinterpret_cast<lc_graph_job *>(key_)));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_graph_job_free(nullptr, reinterpret_cast<lc_graph_job *>(key_)));
  lc_graph_job *captured = nullptr;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_capture(nullptr, &job_, &update_, &captured));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_capture(context_, &job_, &update_, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_capture(context_, nullptr, &update_, &captured));
}

// The memory that each launch writes, in addition to the job's outputs.
TEST_F(CaptureRefuses, PlacesThatOverlap) {
  update_.verdict = memory_ + 63;
  expect(LC_ERROR_ARGUMENT, "the verdict of the launch");
  update_.verdict = memory_ + 127;
  expect(LC_ERROR_ARGUMENT, "the verdict of the launch");
  update_.verdict = memory_ + 200;
  update_.nonce = memory_ + 190;
  expect(LC_ERROR_ARGUMENT, "the nonce in device memory");
  update_.nonce = memory_ + 120;
  expect(LC_ERROR_ARGUMENT, "the nonce in device memory");
}

}  // namespace
}  // namespace lanecrypt::test
