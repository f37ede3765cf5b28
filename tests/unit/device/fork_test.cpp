// A child of fork starts with fresh state, whatever its parent did before. Runs on the emulator,
// and at the end on every device.
//
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <linux/capability.h>
#include <openssl/crypto.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "test_scale.h"
#include "unit/support/devices.h"

// Whether the process leaves jobs behind at its end. Their memory is then no leak.
static bool leaves_jobs = false;
#ifdef __SANITIZE_ADDRESS__
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return leaves_jobs; }
#endif

// dlopen() of `held_library` waits until `is_held` is false again. The first such call sets
// `is_held`.
static std::atomic<const char *> held_library{nullptr};
static std::atomic<bool> is_held{false};

// Replaces the C library's dlopen(). The dynamic linker finds this one first, for liblanecrypt too.
extern "C" __attribute__((visibility("default"))) void *dlopen(const char *name, int flags) {
  const char *held = held_library;
  if (held != nullptr && name != nullptr && std::strcmp(name, held) == 0 &&
      held_library.compare_exchange_strong(held, nullptr)) {
    is_held = true;
    while (is_held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  static const auto next =
      reinterpret_cast<void *(*)(const char *, int)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(name, flags);
}

namespace lanecrypt::test {
namespace {

constexpr unsigned kMostSeconds = 120;

// Runs `body` in a child. `body` returns what went wrong, or "". An error text fails the test. An
// alarm ends a child that hangs.
void in_child(const std::function<std::string()> &body) {
  int pipe_fds[2];
  ASSERT_EQ(0, pipe(pipe_fds));
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(kMostSeconds);
    const std::string error = body();
    if (write(pipe_fds[1], error.data(), error.size()) < 0) _exit(2);
    _exit(error.empty() ? 0 : 1);
  }
  close(pipe_fds[1]);
  std::string error;
  char buffer[256];
  for (ssize_t count; (count = read(pipe_fds[0], buffer, sizeof buffer)) > 0;)
    error.append(buffer, count);
  close(pipe_fds[0]);
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status)) << "the child died of signal " << WTERMSIG(status);
  EXPECT_EQ("", error);
  EXPECT_EQ(0, WEXITSTATUS(status));
}

std::string one_job(lc_context *context, uint64_t seed, uint64_t length = 100001) {
  BatchShape shape;
  shape.cipher = LC_AES_CTR;
  shape.key_bytes = 32;
  shape.messages = {{.length = length, .in_place = length <= 100001}, {.length = 5}};
  Random random(seed);
  Batch batch(nullptr, shape, random);
  lc_cipher_job job = batch.job();
  if (lc_run(context, &job, nullptr) != LC_OK) return lc_last_error();
  return batch.check();
}

// libcrypto's allocator. `holds_next` holds up the next thread that allocates.
std::atomic<bool> holds_next{false};

void *allocate(size_t bytes, const char *, int) {
  if (holds_next.exchange(false)) {
    is_held = true;
    while (is_held) std::this_thread::yield();
  }
  return malloc(bytes);
}
void *reallocate(void *memory, size_t bytes, const char *, int) { return realloc(memory, bytes); }
void release(void *memory, const char *, int) { free(memory); }

// A static initialiser: CRYPTO_set_mem_functions() must run before libcrypto's first allocation.
const bool takes_ours = CRYPTO_set_mem_functions(allocate, reallocate, release) == 1;

// Forks while a thread of the parent is in its first use of libcrypto. The child must not wait for
// that thread, which exists only in the parent. The thread is held while it creates a library
// context, and holds none of libcrypto's own locks.
void fork_amid_first_use(const std::function<std::string(lc_context *)> &use) {
  ASSERT_TRUE(takes_ours);
  // These initialisations allocate too, so they must come before.
  ASSERT_EQ(1, OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG | OPENSSL_INIT_LOAD_CRYPTO_STRINGS |
                                       OPENSSL_INIT_ADD_ALL_CIPHERS | OPENSSL_INIT_ADD_ALL_DIGESTS,
                                   nullptr));
  Context context("none", LC_FALLBACK_CPU);
  std::atomic<bool> is_over{false};
  std::string error;
  holds_next = true;
  std::thread first([&] {
    error = use(context.get());
    is_over = true;
  });
  while (!is_held && !is_over) std::this_thread::yield();
  EXPECT_FALSE(is_over) << "it allocated nothing: there was a use before";
  in_child([&] { return use(context.get()); });
  is_held = false;
  first.join();
  EXPECT_EQ("", error);
}

// These two tests come first, in a process that has used no cipher and no hash. The expected values
// are constants, because a thread is just using libcrypto.
TEST(Fork, AmidTheFirstCipherOfTheCpu) {
  fork_amid_first_use([](lc_context *context) -> std::string {
    const uint8_t zeros[16] = {};
    uint8_t out[16] = {};
    lc_message message = {};
    message.key = message.iv = message.in = zeros;
    message.out = out;
    message.length = sizeof out;
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = LC_AES_CTR;
    job.direction = LC_ENCRYPT;
    job.key_bytes = 16;
    job.device = LC_CPU;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    if (lc_run(context, &job, nullptr) != LC_OK) return lc_last_error();
    // The hash key of test case 1 of GCM's specification (McGrew and Viega, appendix B).
    constexpr uint8_t expected[16] = {0x66, 0xe9, 0x4b, 0xd4, 0xef, 0x8a, 0x2c, 0x3b,
                                      0x88, 0x4c, 0xfa, 0x59, 0xca, 0x34, 0x2b, 0x2e};
    return memcmp(out, expected, sizeof out) == 0 ? "" : "wrong bytes";
  });
}

TEST(Fork, AmidTheFirstHashOfTheCpu) {
  fork_amid_first_use([](lc_context *context) -> std::string {
    uint8_t digest[32] = {};
    const lc_hash_message message = {.in = "abc", .length = 3, .digest = digest};
    lc_hash_job job = {};
    job.struct_size = sizeof job;
    job.hash = LC_SHA_256;
    job.device = LC_CPU;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    if (lc_hash_run(context, &job, nullptr) != LC_OK) return lc_last_error();
    // FIPS 180-2, appendix B.1.
    constexpr uint8_t expected[32] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                      0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                      0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                      0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    return memcmp(digest, expected, sizeof digest) == 0 ? "" : "wrong bytes";
  });
}

TEST(Fork, BeforeFirstUse) {
  Context context("host:0", LC_FALLBACK_NONE);
  in_child([&]() -> std::string {
    std::string error = one_job(context.get(), 1);
    if (error.empty() && context.counters(0).bytes != 100006) error = "not on the device";
    return error;
  });
  EXPECT_EQ("", one_job(context.get(), 2)) << "the parent, after its child";
}

TEST(Fork, AfterUse) {
  Context context("host:0", LC_FALLBACK_NONE);
  ASSERT_EQ("", one_job(context.get(), 1));
  for (int n = 0; n < 3; n++)
    in_child([&]() -> std::string {
      std::string error = one_job(context.get(), 3 + n);
      // The child's counters start at zero and contain nothing of the parent's.
      if (error.empty() && context.counters(0).bytes != 100006) error = "wrong count of bytes";
      return error;
    });
  EXPECT_EQ("", one_job(context.get(), 2)) << "the parent, after its child";
  EXPECT_EQ(200012u, context.counters(0).bytes);
}

TEST(Fork, ChildMayOpenAndCloseItsOwn) {
  Context context("host:0", LC_FALLBACK_NONE);
  ASSERT_EQ("", one_job(context.get(), 1));
  in_child([&]() -> std::string {
    Context own("host:0", LC_FALLBACK_NONE);
    std::string error = one_job(own.get(), 4);
    own.close();
    return error;
  });
}

// A child may close a context that it inherited, used or not, and the parent's stays usable.
TEST(Fork, ChildMayCloseWhatItInherits) {
  Context used("host:0", LC_FALLBACK_NONE), again("host:0", LC_FALLBACK_NONE);
  ASSERT_EQ("", one_job(used.get(), 1));
  ASSERT_EQ("", one_job(again.get(), 1));
  in_child([&]() -> std::string {
    used.close();
    std::string error = one_job(again.get(), 5);
    again.close();
    return error;
  });
  EXPECT_EQ("", one_job(used.get(), 2));
}

TEST(Fork, WithAJobUnderWay) {
  Context context("host:0", LC_FALLBACK_NONE);
  BatchShape shape;
  shape.cipher = LC_AES_CTR;
  shape.messages = {{.length = 4 << 20}};
  Random random(6);
  Batch batch(nullptr, shape, random);
  lc_cipher_job job = batch.job();
  lc_ticket *ticket = nullptr;
  LANECRYPT_ASSERT_OK(lc_submit(context.get(), &job, nullptr, &ticket));
  in_child([&]() -> std::string { return one_job(context.get(), 7); });
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr));
  EXPECT_EQ("", batch.check());
  lc_ticket_free(ticket);
}

// exit() destroys `late`, and so joins its thread, long after it has stopped the library's threads.
struct LateJoin {
  std::thread thread;
  ~LateJoin() {
    if (thread.joinable()) thread.join();
  }
} late;

// The limit for exit(). One second of it is for the jobs, and the rest for devices that are being
// opened.
constexpr std::chrono::seconds kMostAtExit{30};

// A list as in lc_options. Only a child of fork may open these devices.
const char *exit_devices() {
  const char *wanted = std::getenv("LANECRYPT_TEST_DEVICES");
  return wanted == nullptr || *wanted == '\0' ? "host:0" : wanted;
}

// As in_child(), and checks that the child ends soon.
void exit_in_child(const std::function<std::string()> &body) {
  const auto start = std::chrono::steady_clock::now();
  in_child([&]() -> std::string {
    leaves_jobs = true;
    std::string error = body();
    if (error.empty()) std::exit(0);
    return error;
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, kMostAtExit);
}

// A program that ends while its jobs run ends normally.
TEST(Exit, WhileJobsRun) {
  for (const bool closes : {false, true})
    exit_in_child([&]() -> std::string {
      static auto *const context = new Context(exit_devices(), LC_FALLBACK_CPU);
      BatchShape shape;
      shape.cipher = LC_AES_CBC;
      shape.messages.resize(20, {.length = 1 << 18});
      Random random(9);
      static auto *const batch = new Batch(nullptr, shape, random);
      lc_cipher_job job = batch->job();
      lc_ticket *ticket = nullptr;
      if (lc_submit(context->get(), &job, nullptr, &ticket) != LC_OK) return lc_last_error();
      if (!closes) return "";
      context->close();  // waits for the job
      return batch->check();
    });
}

// When a device is opened again, no second handler is registered with exit().
TEST(Exit, WhileJobsRunOnADeviceThatWasOpenedAgain) {
  exit_in_child([]() -> std::string {
    Context first(exit_devices(), LC_FALLBACK_NONE);
    if (const std::string error = one_job(first.get(), 1); !error.empty()) return error;
    first.close();
    static auto *const context = new Context(exit_devices(), LC_FALLBACK_NONE);
    if (const std::string error = one_job(context->get(), 2); !error.empty()) return error;
    BatchShape shape;
    shape.cipher = LC_AES_CBC;
    shape.messages.resize(20, {.length = 1 << 18});
    Random random(3);
    static auto *const batch = new Batch(nullptr, shape, random);
    lc_cipher_job job = batch->job();
    lc_ticket *ticket = nullptr;
    return lc_submit(context->get(), &job, nullptr, &ticket) == LC_OK ? "" : lc_last_error();
  });
}

lc_cipher_job job_of(const lc_message &message) {
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = LC_AES_CTR;
  job.direction = LC_ENCRYPT;
  job.key_bytes = 16;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  return job;
}

// A job for which the emulator needs long. exit() abandons the chunks that were not started.
TEST(Exit, WhileALongJobRuns) {
  constexpr size_t kBytes = size_t{1} << 30, kRingBytes = 64 << 20;
  exit_in_child([]() -> std::string {
    static auto *const context = new Context(exit_devices(), LC_FALLBACK_CPU, kRingBytes);
    // The kernel allocates its pages only when they are used.
    static void *const data = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return "mmap";
    static const uint8_t key[16] = {}, iv[16] = {};
    static lc_message message = {};
    message.key = key;
    message.iv = iv;
    message.in = message.out = data;
    message.length = kBytes;
    lc_ticket *ticket = nullptr;
    const lc_cipher_job job = job_of(message);
    return lc_submit(context->get(), &job, nullptr, &ticket) == LC_OK ? "" : lc_last_error();
  });
}

// Some of the thread's jobs are done, and the rest are refused. It waits forever for none.
TEST(Exit, WhileAThreadWaitsThatIsJoinedLate) {
  exit_in_child([]() -> std::string {
    static auto *const context = new Context(exit_devices(), LC_FALLBACK_NONE);
    if (const std::string error = one_job(context->get(), 1); !error.empty()) return error;
    static std::atomic<bool> runs{false};
    late.thread = std::thread([] {
      static uint8_t data[100000];
      const uint8_t key[16] = {}, iv[16] = {};
      lc_message message = {};
      message.key = key;
      message.iv = iv;
      message.in = message.out = data;
      message.length = sizeof data;
      const lc_cipher_job job = job_of(message);
      while (lc_run(context->get(), &job, nullptr) == LC_OK) runs = true;
    });
    while (!runs) std::this_thread::yield();
    return "";
  });
}

TEST(Exit, WhileKeysAreMade) {
  for (const char *device : {exit_devices(), "none"})
    exit_in_child([&]() -> std::string {
      static auto *const context = new Context(device, LC_FALLBACK_CPU);
      static std::atomic<bool> runs{false};
      late.thread = std::thread([] {
        lc_rsa_generation generation{};
        generation.struct_size = sizeof generation;
        generation.bits = 1024;
        generation.count = 100000;
        generation.device = LC_ANY_DEVICE;
        generation.on_key = [](void *, uint64_t, const lc_rsa_parts *) {
          runs = true;
          return 1;
        };
        (void)lc_rsa_generate(context->get(), &generation, nullptr);
        runs = true;
      });
      while (!runs) std::this_thread::yield();
      return "";
    });
}

// Forbids locked memory, as on systems where even root may not lock any.
std::string forbid_locked_memory() {
  const rlimit none = {0, 0};
  if (setrlimit(RLIMIT_MEMLOCK, &none) != 0) return "setrlimit failed";
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0) return "capget failed";
  data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
  if (syscall(SYS_capset, &header, data) != 0) return "capset failed";
  static char page[4096];
  return mlock(page, sizeof page) == 0 ? "a page was locked all the same" : "";
}

// Everything works without locked pages: memory for keys, and a job of a size that is pinned if
// possible.
TEST(Limits, NoLockedMemory) {
  if (kIsSanitized) GTEST_SKIP() << "mlock() is the sanitizer's, and locks nothing";
  in_child([]() -> std::string {
    if (std::string error = forbid_locked_memory(); !error.empty()) return error;
    const ScopedEnvironment nobodys("LANECRYPT_DEVICES", nullptr);
    Context all(nullptr, LC_FALLBACK_NONE);
    uint32_t count = 0;
    if (lc_device_count(all.get(), &count) != LC_OK) return lc_last_error();
    if (count == 0) return "there is no device, not even the emulator";
    for (uint32_t index = 0; index < count; index++) {
      const lc_device_info info = all.device(index);
      if (!info.is_gpu && std::string(info.api) != "host") continue;
      lc_options options{};
      options.struct_size = sizeof options;
      options.devices = info.id;
      options.fallback = LC_FALLBACK_NONE;
      options.prefer = LC_PREFER_OFFLOAD;
      Context context(options);
      const uint64_t length = (kIsSanitized ? 4 : 9) << 20;
      std::string error = one_job(context.get(), 10);
      if (error.empty()) error = one_job(context.get(), 11, length);
      if (!error.empty()) return std::string(info.id) + ": " + error;
    }
    return "";
  });
}

// These tests come last. If Mesa's drivers were loaded, exit() in a child would wait for threads
// that only the parent has, and whose memory may be reused in the child.

// Forks while a thread of the parent loads a driver, which takes long. The child waits neither for
// that thread nor for the locks that it holds.
TEST(ForkWithDrivers, AmidTheLoadingOfADriver) {
  const std::map<std::string, const char *> libraries = {
      {"cuda", "libcuda.so.1"}, {"opencl", "libOpenCL.so.1"}, {"gl", "libEGL.so.1"}};
  bool had_one = false;
  for (const DeviceCase &device : devices_under_test()) {
    const auto library = libraries.find(device.id.substr(0, device.id.find(':')));
    if (device.absent || library == libraries.end()) continue;
    SCOPED_TRACE(device.id);
    // One device of each API is enough, because a driver is loaded only once.
    static std::set<std::string> tried;
    if (!tried.insert(library->first).second) continue;
    had_one = true;
    Context context(device.id.c_str(), LC_FALLBACK_CPU);
    held_library = library->second;
    std::atomic<bool> is_over{false};
    std::string error;
    std::thread first([&] {
      error = one_job(context.get(), 1);
      is_over = true;
    });
    while (!is_held && !is_over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(is_over) << "the driver was loaded before";
    in_child([&]() -> std::string {
      held_library = nullptr;
      std::string wrong = one_job(context.get(), 12);
      if (wrong.empty() && context.counters(LC_CPU).bytes != 100006) wrong = "not by the CPU";
      // A context that the child opens cannot use the device either.
      if (wrong.empty()) {
        Context own(device.id.c_str(), LC_FALLBACK_NONE);
        wrong = one_job(own.get(), 13);
        if (wrong.find("in use before this process was forked") != std::string::npos) wrong.clear();
      }
      return wrong;
    });
    is_held = false;
    first.join();
    EXPECT_EQ("", error);
    EXPECT_EQ(100006u, context.counters(0).bytes) << "the parent, on the device";
  }
  if (!had_one) GTEST_SKIP() << "no device has a driver";
}

// With every device: if a driver does not survive fork, the CPU does the jobs.
TEST(ForkWithDrivers, EveryDevice) {
  for (const DeviceCase &device : devices_under_test()) {
    if (device.absent) continue;
    SCOPED_TRACE(device.id);
    Context context(device.id.c_str(), LC_FALLBACK_CPU);
    ASSERT_EQ("", one_job(context.get(), 1));
    in_child([&]() -> std::string {
      std::string error = one_job(context.get(), 8);
      if (error.empty() && context.counters(LC_CPU).bytes + context.counters(0).bytes != 100006)
        error = "wrong count of bytes";
      return error;
    });
    EXPECT_EQ("", one_job(context.get(), 2)) << "the parent, after its child";
  }
}

// Keys of the parent, keys of its child, and later keys of the parent from a pool that held primes
// when it forked have no prime in common. Otherwise a batch GCD would find it.
TEST(ForkWithDrivers, NoPrimeOfTheParents) {
  const char *wanted = std::getenv("LANECRYPT_TEST_KEYS");
  const size_t keys = wanted == nullptr ? 4 : std::stoul(wanted);
  constexpr size_t kBytes = 64;
  const size_t most = 2 * keys, bytes = most * kBytes;
  auto *shared = static_cast<uint8_t *>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(MAP_FAILED, static_cast<void *>(shared));
  const ScopedEnvironment pool("LANECRYPT_PRIME_POOL", "8");
  for (const DeviceCase &device : devices_under_test()) {
    if (device.absent || device.id.starts_with("opencl")) continue;
    SCOPED_TRACE(device.id);
    // If a driver does not survive fork, the CPU does the work.
    Context context(device.id.c_str(), LC_FALLBACK_CPU);
    const auto make_keys = [&](uint8_t *to, uint64_t count) -> std::string {
      lc_rsa_generation generation{};
      generation.struct_size = sizeof generation;
      generation.bits = 1024;
      generation.count = count;
      generation.device = LC_ANY_DEVICE;
      generation.on_key = [](void *argument, uint64_t, const lc_rsa_parts *parts) {
        auto *&at = *static_cast<uint8_t **>(argument);
        for (const lc_number &prime : {parts->p, parts->q}) {
          memcpy(at, prime.bytes, kBytes);
          at += kBytes;
        }
        return 1;
      };
      uint8_t *at = to;
      generation.argument = &at;
      if (lc_rsa_generate(context.get(), &generation, nullptr) != LC_OK) return lc_last_error();
      return at == to + 2 * count * kBytes ? "" : "too few keys";
    };
    std::vector<uint8_t> first(2 * kBytes), mine(bytes);
    ASSERT_EQ("", make_keys(first.data(), 1));
    // The child does not inherit the primes that the pool has now.
    in_child([&] { return make_keys(shared, keys); });
    ASSERT_EQ("", make_keys(mine.data(), keys));
    std::set<std::string> all;
    const auto add = [&](const uint8_t *primes, size_t count) {
      for (size_t n = 0; n < count; ++n)
        all.emplace(reinterpret_cast<const char *>(primes + n * kBytes), kBytes);
    };
    add(first.data(), 2);
    add(mine.data(), most);
    add(shared, most);
    EXPECT_EQ(2 + 2 * most, all.size());
  }
  munmap(shared, bytes);
}

}  // namespace
}  // namespace lanecrypt::test
