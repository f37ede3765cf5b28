// Every misuse of the C ABI returns its status and a message, and has no other effect. No device is
// needed.
//
// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <cstddef>
#include <cstring>
#include <functional>

#include "job/cipher/cipher_info.h"
#include "unit/support/devices.h"

#ifdef __SANITIZE_ADDRESS__
// The test OfMemory allocates more memory than exists. With AddressSanitizer too this must return a
// null pointer, not end the process.
extern "C" __attribute__((visibility("default"), used)) const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace lanecrypt::test {
namespace {

// Expects that `call` fails with the status `expected`, and that its message contains `words`.
#define EXPECT_REFUSED(expected, call, words)                                   \
  do {                                                                          \
    EXPECT_EQ(expected, call);                                                  \
    EXPECT_NE(nullptr, std::strstr(lc_last_error(), words)) << lc_last_error(); \
    EXPECT_STRNE("", lc_last_error());                                          \
  } while (0)

// Sets an enum to any number, as a C program can.
template <typename Enum>
void put(Enum *to, int number) {
  static_assert(sizeof *to == sizeof number);
  std::memcpy(to, &number, sizeof number);
}

class Arguments : public testing::Test {
 protected:
  Arguments() : context_("host:0", LC_FALLBACK_NONE) {
    message_ = plain_message(key_, iv_, in_, out_, sizeof in_);
    std::memset(out_, 0xa5, sizeof out_);
    job_.struct_size = sizeof job_;
    job_.cipher = LC_AES_CBC;
    job_.key_bytes = 16;
    job_.device = LC_ANY_DEVICE;
    job_.messages = &message_;
    job_.message_count = 1;
    job_.message_size = sizeof message_;
  }

  // lc_run() and lc_submit() must both refuse the job that `spoil` changes, and write nothing.
  void refused(const char *words, const std::function<void()> &spoil) {
    SCOPED_TRACE(words);
    const lc_cipher_job job = job_;
    const lc_message message = message_;
    spoil();
    EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, nullptr), words);
    lc_ticket *ticket = nullptr;
    EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_submit(context_.get(), &job_, nullptr, &ticket), words);
    EXPECT_EQ(nullptr, ticket);
    job_ = job;
    message_ = message;
    untouched();
  }
  void untouched() {
    for (uint8_t byte : out_) ASSERT_EQ(0xa5, byte) << "an output was written";
    EXPECT_EQ(0u, context_.counters(0).bytes);
  }

  Context context_;
  uint8_t key_[32] = {1}, iv_[16] = {2}, in_[64] = {3}, out_[64];
  lc_message message_{};
  lc_cipher_job job_{};
};

TEST_F(Arguments, OfThisTestAreRight) {
  LANECRYPT_ASSERT_OK(lc_run(context_.get(), &job_, nullptr));
  EXPECT_EQ(64u, context_.counters(0).bytes);
}

TEST_F(Arguments, OfJobs) {
  refused("struct_size", [&] { job_.struct_size = 0; });
  refused("struct_size", [&] { job_.struct_size = offsetof(lc_cipher_job, iv_bytes) - 1; });
  refused("cipher", [&] { put(&job_.cipher, kCipherInfoCount); });
  refused("cipher", [&] { put(&job_.cipher, -1); });
  refused("direction", [&] { put(&job_.direction, 2); });
  for (uint32_t bytes : {0u, 15u, 17u, 23u, 31u, 33u, 128u, UINT32_MAX})
    refused("16, 24 or 32", [&] { job_.key_bytes = bytes; });
  refused("IV of CBC has 16", [&] { job_.iv_bytes = 12; });
  refused("memory", [&] { put(&job_.memory, 3); });
  refused("device", [&] { job_.device = 1000; });
  refused("no CPU can reach", [&] {
    job_.device = LC_CPU;
    job_.memory = LC_MEMORY_DEVICE;
  });
  refused("stream", [&] { job_.stream = &job_; });
  refused("messages", [&] { job_.messages = nullptr; });
  refused("message_size", [&] { job_.message_size = 0; });
  refused("message_size", [&] { job_.message_size = offsetof(lc_message, aad) - 1; });
  refused("messages", [&] { job_.message_count = SIZE_MAX; });
}

TEST_F(Arguments, OfMessages) {
  refused("key", [&] { message_.key = nullptr; });
  refused("IV", [&] { message_.iv = nullptr; });
  refused("input", [&] { message_.in = nullptr; });
  refused("output", [&] { message_.out = nullptr; });
  for (uint64_t length : {1, 15, 17, 63})
    for (lc_cipher cipher : {LC_AES_ECB, LC_AES_CBC})
      refused("multiple of 16", [&] {
        job_.cipher = cipher;
        message_.length = length;
      });
  refused("length", [&] { message_.length = UINT64_MAX - 15; });
  refused("overlap", [&] { message_.out = in_ + 16; });
  // The second of two messages is invalid: the first is not processed either.
  lc_message two[2] = {message_, message_};
  two[1].length = 7;
  refused("message 1", [&] {
    job_.messages = two;
    job_.message_count = 2;
  });
}

TEST_F(Arguments, OfLargerStructsFromTheFutureArePassedOver) {
  struct {
    lc_message known;
    uint64_t more[3];
  } messages[2] = {{message_, {~0u, ~0u, ~0u}}, {message_, {~0u, ~0u, ~0u}}};
  uint8_t second[64];
  messages[1].known.out = second;
  struct {
    lc_cipher_job known;
    uint64_t more;
  } job = {job_, ~0u};
  job.known.struct_size = sizeof job;
  job.known.messages = &messages[0].known;
  job.known.message_count = 2;
  job.known.message_size = sizeof messages[0];
  LANECRYPT_ASSERT_OK(lc_run(context_.get(), &job.known, nullptr));
  EXPECT_EQ(0, std::memcmp(out_, second, sizeof second));
}

// Callers that were compiled against version 0.1, whose structs end before these fields.
TEST_F(Arguments, OfOlderStructsFromThePastAreTaken) {
  uint8_t in_newest[64];
  LANECRYPT_ASSERT_OK(lc_run(context_.get(), &job_, nullptr));
  std::memcpy(in_newest, out_, sizeof out_);
  std::memset(out_, 0, sizeof out_);
  job_.struct_size = offsetof(lc_cipher_job, iv_bytes);
  job_.iv_bytes = job_.tag_bytes = 77;
  job_.data_unit_bytes = 1;
  job_.message_size = offsetof(lc_message, aad);
  LANECRYPT_ASSERT_OK(lc_run(context_.get(), &job_, nullptr));
  EXPECT_EQ(0, std::memcmp(in_newest, out_, sizeof out_));
}

TEST_F(Arguments, OfRunning) {
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_run(nullptr, &job_, nullptr), "context");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_run(context_.get(), nullptr, nullptr), "job");
  lc_result result{};
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, &result), "lc_result");
  untouched();
  lc_ticket *ticket = nullptr;
  lc_completion completion{};
  completion.struct_size = sizeof completion;
  completion.eventfd = -1;
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_submit(nullptr, &job_, nullptr, &ticket), "context");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_submit(context_.get(), nullptr, nullptr, &ticket), "job");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_submit(context_.get(), &job_, nullptr, nullptr), "ticket");
  for (size_t size : {size_t{0}, offsetof(lc_completion, result) - 1}) {
    completion.struct_size = size;
    EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_submit(context_.get(), &job_, &completion, &ticket),
                   "lc_completion");
  }
  EXPECT_EQ(nullptr, ticket);
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_ticket_status(nullptr), "ticket");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_ticket_result(nullptr, nullptr), "ticket");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_ticket_wait(nullptr, nullptr), "ticket");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_ticket_wait_for(nullptr, 0, nullptr), "ticket");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_ticket_notify(nullptr, nullptr), "ticket");
  untouched();
}

TEST_F(Arguments, OfOpening) {
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_open(nullptr, nullptr), "context");
  lc_options options{};
  lc_context *context = nullptr;
  for (size_t size : {size_t{0}, size_t{1}, offsetof(lc_options, verify) - 1}) {
    options.struct_size = size;
    EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_open(&options, &context), "lc_options");
  }
  // The struct as the first version had it. Fields behind its end are not read.
  options.struct_size = offsetof(lc_options, verify);
  put(&options.verify, 9);
  EXPECT_EQ(LC_OK, lc_open(&options, &context));
  lc_close(context);
  context = nullptr;
  options.struct_size = sizeof options;
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_open(&options, &context), "verify");
  put(&options.verify, 0);
  put(&options.prefer, 2);
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_open(&options, &context), "prefer");
  put(&options.prefer, 0);
  options.struct_size = sizeof options;
  for (const char *list : {",", "host,", ",host", "host,,opencl", "host:", "host:x", "host:-1",
                           "host:0:1", "toaster", "toaster:0", "none,host", " "}) {
    options.devices = list;
    EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_open(&options, &context), list);
    EXPECT_EQ(nullptr, context);
  }
  options.devices = "none";
  put(&options.fallback, 2);
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_open(&options, &context), "fallback");
  EXPECT_EQ(nullptr, context);
  ScopedEnvironment wrong("LANECRYPT_DEVICES", "cuda:zero");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_open(nullptr, &context),
                 "the environment variable LANECRYPT_DEVICES = \"cuda:zero\" is wrong: it must be "
                 "none, or names such as cuda:0, opencl and gl, separated by commas");
  // The options take precedence over the environment.
  options.devices = "toaster";
  options.fallback = LC_FALLBACK_NONE;
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_open(&options, &context),
                 "the list of devices \"toaster\" is wrong");
  lc_close(nullptr);
}

TEST_F(Arguments, OfDevices) {
  uint32_t count = 0;
  LANECRYPT_ASSERT_OK(lc_device_count(context_.get(), &count));
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_device_count(nullptr, &count), "context");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_device_count(context_.get(), nullptr), "count");
  lc_device_info info{};
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_device_get(context_.get(), 0, &info), "struct_size");
  EXPECT_STREQ("", info.id);
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_device_get(context_.get(), 0, nullptr), "lc_device_info");
  info.struct_size = sizeof info;
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_device_get(nullptr, 0, &info), "context");
  lc_counters counters{};
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_counters_get(context_.get(), 0, &counters), "lc_counters");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_counters_get(context_.get(), 0, nullptr), "lc_counters");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_device_test(nullptr, 0), "context");
  counters.struct_size = sizeof counters;
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_counters_get(nullptr, LC_CPU, &counters), "context");
  for (uint32_t index : {count, LC_ANY_DEVICE}) {
    EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_device_get(context_.get(), index, &info), "no device");
    EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_device_test(context_.get(), index), "no device");
    EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_counters_get(context_.get(), index, &counters),
                   "no device");
  }
}

// Structs of an older caller, which end earlier, are filled up to their size.
TEST_F(Arguments, OfSmallerStructsFromThePastAreFilled) {
  struct {
    lc_counters counters;
    uint64_t canary;
  } old{};
  old.counters.struct_size = offsetof(lc_counters, launches);
  old.counters.launches = 77;
  LANECRYPT_ASSERT_OK(lc_run(context_.get(), &job_, nullptr));
  LANECRYPT_ASSERT_OK(lc_counters_get(context_.get(), 0, &old.counters));
  EXPECT_EQ(64u, old.counters.bytes);
  EXPECT_EQ(77u, old.counters.launches);
  EXPECT_EQ(0u, old.canary);
}

TEST_F(Arguments, OfMemory) {
  void *pointer = nullptr;
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_alloc_pinned(nullptr, 1, &pointer), "context");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_alloc_pinned(context_.get(), 1, nullptr), "pointer");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_alloc_pinned(context_.get(), 0, &pointer), "bytes");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_alloc_device(nullptr, 0, 1, &pointer), "context");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_alloc_device(context_.get(), 0, 1, nullptr), "pointer");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_alloc_device(context_.get(), 0, 0, &pointer), "bytes");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_alloc_device(context_.get(), 99, 1, &pointer), "99");
  EXPECT_EQ(nullptr, pointer);
  // The last of these sizes overflow to 0 if they are rounded up to pages.
  for (const uint64_t bytes :
       {uint64_t{1} << 60, UINT64_MAX - 4095, UINT64_MAX - 4094, UINT64_MAX}) {
    EXPECT_REFUSED(LC_ERROR_MEMORY, lc_alloc_device(context_.get(), 0, bytes, &pointer), "memory");
    EXPECT_REFUSED(LC_ERROR_MEMORY, lc_alloc_pinned(context_.get(), bytes, &pointer), "memory");
    EXPECT_EQ(nullptr, pointer);
  }

  LANECRYPT_ASSERT_OK(lc_alloc_device(context_.get(), 0, 64, &pointer));
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_copy_to_device(context_.get(), 0, nullptr, in_, 1),
                 "pointer");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_copy_to_device(context_.get(), 0, pointer, nullptr, 1),
                 "pointer");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_copy_from_device(context_.get(), 0, nullptr, pointer, 1),
                 "pointer");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_copy_to_device(context_.get(), 98, pointer, in_, 1), "98");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_copy_to_device(nullptr, 0, pointer, in_, 1), "context");
  // Copies past the end of the memory, and frees memory that was never allocated there.
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_copy_to_device(context_.get(), 0, pointer, in_, 65), "");
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_free_device(context_.get(), 0, in_), "");
  job_.memory = LC_MEMORY_DEVICE;
  message_.in = message_.out = static_cast<uint8_t *>(pointer) + 16;
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, nullptr), "");
  LANECRYPT_ASSERT_OK(lc_free_device(context_.get(), 0, pointer));
  EXPECT_REFUSED(LC_ERROR_ARGUMENT, lc_free_device(context_.get(), 0, pointer), "");
  LANECRYPT_ASSERT_OK(lc_free_device(context_.get(), 0, nullptr));
}

TEST_F(Arguments, StatusesHaveTexts) {
  for (int status = LC_OK; status <= LC_ERROR_TAG; status++) {
    EXPECT_STRNE("", lc_status_text(static_cast<lc_status>(status)));
    EXPECT_STRNE("unknown status", lc_status_text(static_cast<lc_status>(status)));
  }
  EXPECT_STREQ("unknown status", lc_status_text(static_cast<lc_status>(15)));
  EXPECT_STREQ(LC_VERSION_TEXT, lc_version());
}

// Statuses are numbers of the ABI, so they must not change.
static_assert(LC_OK == 0 && LC_PENDING == 1 && LC_ERROR_ARGUMENT == 2 &&
              LC_ERROR_UNSUPPORTED == 3 && LC_ERROR_MEMORY == 4 && LC_ERROR_NO_DEVICE == 5 &&
              LC_ERROR_DEVICE == 6 && LC_ERROR_SELF_TEST == 7 && LC_ERROR_INTERNAL == 8 &&
              LC_ERROR_TAG == 9);

}  // namespace
}  // namespace lanecrypt::test
