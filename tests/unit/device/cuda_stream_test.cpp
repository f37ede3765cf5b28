// Jobs on a program's own CUDA memory and streams. Nothing is copied, the job runs in stream order,
// and the stream never waits for the host. Needs a CUDA device.
//
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "thread/signals.h"
#include "unit/support/batch.h"

namespace {

template <typename Function>
Function driver_function(const char *name) {
  static void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

// Calls a function of the CUDA driver API. Returns its CUresult; 0 is success.
template <typename... A>
int cu(const char *name, A... arguments) {
  const auto function = driver_function<int (*)(A...)>(name);
  return function == nullptr ? -1 : function(arguments...);
}

std::vector<uint8_t> by_openssl(const uint8_t *key, const uint8_t *iv,
                                const std::vector<uint8_t> &in) {
  std::vector<uint8_t> out(in.size());
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int length = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nullptr, key, iv), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context, out.data(), &length, in.data(), int(in.size())), 1);
  EVP_CIPHER_CTX_free(context);
  return out;
}

class CudaStream : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cu("cuInit", 0u) != 0 || cu("cuDeviceGetCount", &count) != 0 || count == 0)
      GTEST_SKIP() << "needs a GPU: there is no CUDA device";
    void *primary = nullptr;
    ASSERT_EQ(cu("cuDevicePrimaryCtxRetain", &primary, 0), 0);
    ASSERT_EQ(cu("cuCtxSetCurrent", primary), 0);
    ASSERT_EQ(cu("cuStreamCreate", &stream_, 1u), 0);
    lc_options options = {};
    options.struct_size = sizeof options;
    options.devices = "cuda:0";
    options.fallback = LC_FALLBACK_NONE;
    ASSERT_EQ(lc_open(&options, &context_), LC_OK) << lc_last_error();
    plain_.resize(kBytes);
    uint32_t state = 1;
    for (uint8_t &byte : plain_)
      byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    for (int i = 0; i < 32; ++i) first_key_[i] = uint8_t(i), second_key_[i] = uint8_t(200 - i);
    for (uint8_t &byte : iv_) byte = 0xff;
    ASSERT_EQ(cu("cuMemAlloc_v2", &memory_, kBytes + kMargin), 0);
    for (std::vector<uint8_t> &copy : copies_) copy.resize(kBytes + kMargin);
    // Copies to and from pageable memory would wait for the stream.
    for (std::vector<uint8_t> *pinned : {&plain_, &copies_[0], &copies_[1], &copies_[2]})
      ASSERT_EQ(cu("cuMemHostRegister_v2", static_cast<void *>(pinned->data()), pinned->size(), 0u),
                0);
    ASSERT_EQ(lc_device_test(context_, 0), LC_OK) << lc_last_error();
  }
  void TearDown() override {
    lc_close(context_);
    for (std::vector<uint8_t> *pinned : {&plain_, &copies_[0], &copies_[1], &copies_[2]})
      (void)cu("cuMemHostUnregister", static_cast<void *>(pinned->data()));
    if (memory_ != 0) {
      EXPECT_EQ(cu("cuMemFree_v2", memory_), 0);
    }
    if (stream_ != nullptr) {
      EXPECT_EQ(cu("cuStreamDestroy_v2", stream_), 0);
    }
  }

  void upload(void *stream) {
    ASSERT_EQ(cu("cuMemcpyHtoDAsync_v2", memory_, static_cast<const void *>(plain_.data()), kBytes,
                 stream),
              0);
  }
  void download(void *stream, std::vector<uint8_t> &to, size_t from = 0) {
    ASSERT_EQ(cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(to.data()), memory_ + from, to.size(),
                 stream),
              0);
  }
  void *at(size_t offset) const { return reinterpret_cast<void *>(memory_ + offset); }
  lc_cipher_job job(lc_cipher cipher, void *stream, const lc_message &message) const {
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = cipher;
    job.key_bytes = 32;
    job.memory = LC_MEMORY_DEVICE;
    job.stream = stream;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    return job;
  }
  // Enqueues a copy, two jobs in place and a copy back. Only stream order guarantees that each step
  // sees the result of the one before it.
  void run_twice(void *stream) {
    upload(stream);
    lc_ticket *tickets[2] = {};
    for (int n = 0; n < 2; ++n) {
      const lc_message message = lanecrypt::test::plain_message(n == 0 ? first_key_ : second_key_,
                                                                iv_, at(0), at(0), kBytes);
      const lc_cipher_job twice = job(LC_AES_CTR, stream, message);
      ASSERT_EQ(lc_submit(context_, &twice, nullptr, &tickets[n]), LC_OK) << lc_last_error();
    }
    std::vector<uint8_t> twice(kBytes);
    download(stream, twice);
    ASSERT_EQ(cu("cuStreamSynchronize", stream), 0);
    EXPECT_TRUE(twice == by_openssl(second_key_, iv_, by_openssl(first_key_, iv_, plain_)));
    for (lc_ticket *ticket : tickets) {
      lc_result result = {};
      result.struct_size = sizeof result;
      EXPECT_EQ(lc_ticket_wait(ticket, &result), LC_OK) << lc_last_error();
      EXPECT_EQ(result.device_bytes, kBytes);
      lc_ticket_free(ticket);
    }
  }

  static constexpr size_t kBytes = (64 << 20) + 5, kMargin = 64;
  // Blocks signals, so that threads that the driver starts here do not receive the signals of a
  // later test.
  const lanecrypt::runtime::SignalsBlocked blocked_;
  lc_context *context_ = nullptr;
  void *stream_ = nullptr;
  unsigned long long memory_ = 0;
  std::vector<uint8_t> plain_, copies_[3];
  uint8_t first_key_[32], second_key_[32], iv_[16];
};

TEST_F(CudaStream, RunsInTheOrderOfTheCallersStream) { run_twice(stream_); }

TEST_F(CudaStream, RunsInTheLegacyDefaultStream) { run_twice(LC_STREAM_LEGACY); }

// The library's thread that does the work has another per-thread default stream.
TEST_F(CudaStream, RunsInTheThreadsDefaultStream) { run_twice(LC_STREAM_PER_THREAD); }

// Holds a stream up until it is opened.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;

  static void wait(void *gate) {
    auto *self = static_cast<Gate *>(gate);
    std::unique_lock lock(self->mutex);
    self->changed.wait(lock, [self] { return self->is_open; });
  }
  void open() {
    std::lock_guard lock(mutex);
    is_open = true;
    changed.notify_all();
  }
};

// Seals, opens, changes the tag and opens again. All of it is enqueued before any of it may begin,
// and the host reads no tag.
TEST_F(CudaStream, TagsAndVerdictsStayInTheStream) {
  // The first launch of a kernel loads it, which may wait for all work of the GPU. The stream is
  // therefore held up only in the second round.
  for (bool is_held : {false, true})
    for (int n = 0; n < 4; n++) {
      void *const stream = n % 2 == 0 ? stream_ : LC_STREAM_PER_THREAD;
      const lc_cipher cipher = n / 2 == 0 ? LC_AES_GCM : LC_CHACHA20_POLY1305;
      Gate gate;
      gate.is_open = !is_held;
      ASSERT_EQ(cu("cuLaunchHostFunc", stream, &Gate::wait, static_cast<void *>(&gate)), 0);
      upload(stream);
      const size_t tag = kBytes + 3, verdict = kBytes + 40;
      ASSERT_EQ(cu("cuMemsetD8Async", memory_ + kBytes, static_cast<unsigned char>(0xa5), kMargin,
                   stream),
                0);
      lc_message message = lanecrypt::test::plain_message(first_key_, iv_, at(0), at(0), kBytes);
      message.tag = at(tag);
      lc_cipher_job sealing = job(cipher, stream, message);
      sealing.tag_memory = LC_MEMORY_DEVICE;
      lc_cipher_job opening = sealing;
      opening.direction = LC_DECRYPT;
      opening.verdicts = at(verdict);
      auto &[sealed, opened, spoilt] = copies_;
      ASSERT_EQ(lc_submit(context_, &sealing, nullptr, nullptr), LC_OK) << lc_last_error();
      download(stream, sealed);
      ASSERT_EQ(lc_submit(context_, &opening, nullptr, nullptr), LC_OK) << lc_last_error();
      download(stream, opened);
      ASSERT_EQ(
          cu("cuMemsetD8Async", memory_ + tag, static_cast<unsigned char>(0), size_t{1}, stream),
          0);
      ASSERT_EQ(lc_submit(context_, &opening, nullptr, nullptr), LC_OK) << lc_last_error();
      download(stream, spoilt);
      gate.open();
      ASSERT_EQ(cu("cuStreamSynchronize", stream), 0);

      EXPECT_FALSE(std::equal(plain_.begin(), plain_.end(), sealed.begin()));
      EXPECT_EQ(sealed[verdict], 0xa5) << "sealing tells no verdict";
      EXPECT_TRUE(std::equal(plain_.begin(), plain_.end(), opened.begin()));
      EXPECT_EQ(opened[verdict], 1);
      // The second opening took the plaintext for ciphertext, so its output must be wiped.
      EXPECT_EQ(spoilt[verdict], 0);
      EXPECT_TRUE(std::all_of(spoilt.begin(), spoilt.begin() + kBytes,
                              [](uint8_t byte) { return byte == 0; }));
      EXPECT_EQ(spoilt[verdict + 1], 0xa5);
      EXPECT_EQ(spoilt[tag + 16], 0xa5);
    }
}

// Ordinary jobs are refused in a stream that is being captured: a graph would repeat them with
// memory that is reused and with a nonce that must not be. Other work of the library does not
// invalidate the program's capture.
TEST_F(CudaStream, StaysOutOfCaptures) {
  for (int mode : {0, 1, 2}) {  // global, thread-local, relaxed
    ASSERT_EQ(cu("cuStreamBeginCapture_v2", stream_, mode), 0);
    const lc_message message =
        lanecrypt::test::plain_message(first_key_, iv_, at(0), at(0), kBytes);
    const lc_cipher_job captured = job(LC_AES_CTR, stream_, message);
    EXPECT_EQ(lc_submit(context_, &captured, nullptr, nullptr), LC_ERROR_UNSUPPORTED);
    EXPECT_STREQ(lc_last_error(), "the stream is being captured into a graph");
    std::vector<uint8_t> text(plain_);
    const lc_message on_host =
        lanecrypt::test::plain_message(first_key_, iv_, text.data(), text.data(), kBytes);
    lc_cipher_job beside = job(LC_AES_CTR, nullptr, on_host);
    beside.memory = LC_MEMORY_HOST;
    EXPECT_EQ(lc_run(context_, &beside, nullptr), LC_OK) << lc_last_error();
    EXPECT_TRUE(text == by_openssl(first_key_, iv_, plain_));
    void *graph = nullptr;
    EXPECT_EQ(cu("cuStreamEndCapture", stream_, &graph), 0) << "the capture was spoilt";
    if (graph != nullptr) {
      EXPECT_EQ(cu("cuGraphDestroy", graph), 0);
    }
  }
  lc_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(lc_device_get(context_, 0, &info), LC_OK);
  EXPECT_EQ(info.state, LC_DEVICE_READY) << info.reason;
}

// A graph seals, and opens what it has sealed with the nonce that it has reported. Each launch uses
// another nonce, while other work of the library goes on. After the last launch that may encrypt,
// no launch encrypts.
TEST_F(CudaStream, GraphsSealWithNoncesOfTheirOwn) {
  constexpr size_t kText = (5 << 20) + 5, kSegment = 1 << 20, kCount = 6, kLaunches = 3;
  constexpr size_t kOpened = 16 << 20, kTags = 32 << 20, kVerdicts = kTags + kCount * 16,
                   kNonce = kVerdicts + kCount, kVerdict = kNonce + 12, kAad = kVerdict + 1,
                   kAadBytes = 21;
  lc_segments segments = {};
  segments.struct_size = sizeof segments;
  segments.key = first_key_;
  segments.nonce = iv_;
  segments.in = segments.out = at(0);
  segments.tags = at(kTags);
  segments.text_bytes = kText;
  segments.segment_bytes = kSegment;
  segments.aad = at(kAad);
  segments.aad_length = kAadBytes;
  segments.aad_number = {17, 4, 1, 3};
  segments.aad_memory = LC_MEMORY_DEVICE;
  lc_graph_update update = {};
  update.struct_size = sizeof update;
  update.count = kLaunches;
  update.nonce = at(kNonce);
  update.verdict = at(kVerdict);
  for (int n = 0; n < 6; ++n) {
    const int mode = n / 2;  // global, thread-local, relaxed
    const lc_cipher cipher = n % 2 == 0 ? LC_AES_GCM : LC_CHACHA20_POLY1305;
    lc_cipher_job sealing = {};
    sealing.struct_size = sizeof sealing;
    sealing.cipher = cipher;
    sealing.key_bytes = 32;
    sealing.memory = sealing.tag_memory = LC_MEMORY_DEVICE;
    sealing.stream = stream_;
    sealing.segments = &segments;
    segments.number = {8, 4, 0, 5};
    lc_graph_job *captured[2] = {};
    EXPECT_EQ(lc_capture(context_, &sealing, &update, &captured[0]), LC_ERROR_ARGUMENT);
    EXPECT_STREQ(lc_last_error(), "the stream is not being captured into a graph");

    ASSERT_EQ(cu("cuStreamBeginCapture_v2", stream_, mode), 0);
    segments.number = {};
    segments.nonce_stride = 0;
    segments.segment_bytes = kText;
    EXPECT_EQ(lc_capture(context_, &sealing, &update, &captured[0]), LC_ERROR_ARGUMENT)
        << "a fixed nonce";
    segments.segment_bytes = kSegment;
    segments.number = {8, 4, 0, 5};
    ASSERT_EQ(lc_capture(context_, &sealing, &update, &captured[0]), LC_OK) << lc_last_error();
    lc_segments again = segments;
    again.out = at(kOpened);
    lc_cipher_job opening = sealing;
    opening.direction = LC_DECRYPT;
    opening.segments = &again;
    opening.verdicts = at(kVerdicts);
    lc_graph_update told = update;
    told.verdict = nullptr;
    ASSERT_EQ(lc_capture(context_, &opening, &told, &captured[1]), LC_OK) << lc_last_error();
    void *graph = nullptr, *ready = nullptr;
    ASSERT_EQ(cu("cuStreamEndCapture", stream_, &graph), 0);
    ASSERT_EQ(cu("cuGraphInstantiateWithFlags", &ready, graph, 0ull), 0);

    for (size_t launch = 0; launch <= kLaunches; ++launch) {
      const uint8_t *const plain = plain_.data() + launch * 1000;
      ASSERT_EQ(
          cu("cuMemcpyHtoDAsync_v2", memory_, static_cast<const void *>(plain), kText, stream_), 0);
      // Each launch has different additional data.
      ASSERT_EQ(cu("cuMemcpyHtoDAsync_v2", memory_ + kAad, static_cast<const void *>(plain),
                   kAadBytes, stream_),
                0);
      ASSERT_EQ(cu("cuGraphLaunch", ready, stream_), 0);
      std::vector<uint8_t> text(plain_.begin(), plain_.begin() + kSegment);
      const lc_message on_host =
          lanecrypt::test::plain_message(second_key_, iv_, text.data(), text.data(), text.size());
      lc_cipher_job beside = job(LC_AES_CTR, nullptr, on_host);
      beside.memory = LC_MEMORY_HOST;
      EXPECT_EQ(lc_run(context_, &beside, nullptr), LC_OK) << lc_last_error();
      const std::vector<uint8_t> &got = copies_[0];
      download(stream_, copies_[0]);
      ASSERT_EQ(cu("cuStreamSynchronize", stream_), 0);
      EXPECT_TRUE(text ==
                  by_openssl(second_key_, iv_, {plain_.begin(), plain_.begin() + kSegment}));
      const bool seals = launch < kLaunches;
      EXPECT_EQ(got[kVerdict], seals ? 1 : 0);
      for (size_t s = 0; s < kCount; ++s) {
        const size_t from = s * kSegment, bytes = std::min(kSegment, kText - from);
        std::vector<uint8_t> nonce(iv_, iv_ + 12), right(bytes), tag(16);
        const auto number = static_cast<uint32_t>(5 + launch * kCount + s);
        for (int byte = 0; byte < 4; ++byte)
          nonce[8 + byte] = static_cast<uint8_t>(number >> (24 - 8 * byte));
        std::vector<uint8_t> aad(plain, plain + kAadBytes);
        for (int byte = 0; byte < 4; ++byte)
          aad[17 + byte] = static_cast<uint8_t>(byte == 0 ? 3 + s : 0);
        if (seals)
          lanecrypt::test::reference_seal({cipher, 32, first_key_, nonce, aad}, plain + from,
                                          right.data(), bytes, tag.data());
        if (s == 0 && !seals) nonce.assign(12, 0);
        if (s == 0) {
          EXPECT_TRUE(std::equal(nonce.begin(), nonce.end(), &got[kNonce]));
        }
        EXPECT_TRUE(std::equal(right.begin(), right.end(), &got[from])) << launch << " " << s;
        EXPECT_TRUE(std::equal(tag.begin(), tag.end(), &got[kTags + 16 * s])) << launch << " " << s;
        EXPECT_EQ(got[kVerdicts + s], seals ? 1 : 0);
        const std::vector<uint8_t> opened(&got[kOpened + from], &got[kOpened + from] + bytes);
        EXPECT_TRUE(seals ? std::equal(opened.begin(), opened.end(), plain + from)
                          : opened == right)
            << launch << " " << s;
      }
    }
    EXPECT_EQ(cu("cuGraphExecDestroy", ready), 0);
    EXPECT_EQ(cu("cuGraphDestroy", graph), 0);
    for (lc_graph_job *one : captured)
      EXPECT_EQ(lc_graph_job_free(context_, one), LC_OK) << lc_last_error();
  }
}

}  // namespace
