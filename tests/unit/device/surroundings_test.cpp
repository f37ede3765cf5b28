// What a program may do around its jobs, on every device: it receives signals, and its data lie in
// mapped files, some of which are read-only.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "unit/support/devices.h"
#include "unit/support/reference.h"

namespace lanecrypt::test {
namespace {

std::atomic<pid_t> thread_of_signals{0};
std::atomic<uint64_t> signals_here{0}, signals_elsewhere{0};

void on_signal(int) {
  const int before = errno;
  ++(gettid() == thread_of_signals ? signals_here : signals_elsewhere);
  errno = before;
}

// Sends a signal each millisecond. It interrupts blocking system calls.
class Signals {
 public:
  Signals() {
    struct sigaction action = {};
    action.sa_handler = on_signal;  // without SA_RESTART
    sigaction(SIGALRM, &action, &before_);
    const itimerval each = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &each, nullptr);
  }
  ~Signals() {
    const itimerval none = {};
    setitimer(ITIMER_REAL, &none, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ = {};
};

class Surroundings : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    const DeviceCase &device = GetParam();
    ASSERT_TRUE(!device.absent || device.is_gpu) << device.id << " is not here";
    if (device.absent) GTEST_SKIP() << "needs a GPU: none was found";
  }
  // Opens only the device under test, which pins all memory that can be pinned.
  std::unique_ptr<Context> open() const {
    lc_options options{};
    options.struct_size = sizeof options;
    options.devices = GetParam().id.c_str();
    options.fallback = LC_FALLBACK_NONE;
    options.prefer = LC_PREFER_OFFLOAD;
    return std::make_unique<Context>(options);
  }
  Random random_{91};
};

BatchShape some_messages() {
  BatchShape shape;
  shape.cipher = LC_AES_CTR;
  shape.key_bytes = 32;
  shape.messages = {{.length = 100001, .in_place = true}, {.length = 300000}, {.length = 5}};
  return shape;
}

// Only the program's thread may receive signals: the kernel delivers them to any thread that does
// not block them. Interrupted calls are resumed.
TEST_P(Surroundings, Signals) {
  sigset_t alarm, before;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, &before);
  signals_here = signals_elsewhere = 0;
  std::thread program([&] {
    thread_of_signals = gettid();
    pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
    const Signals signals;
    const std::unique_ptr<Context> context = open();
    const int over = eventfd(0, EFD_CLOEXEC);
    for (int round = 0; round < 1000 && (round < 8 || signals_here < 20); ++round) {
      Batch batch(nullptr, some_messages(), random_), later(nullptr, some_messages(), random_);
      lc_cipher_job job = batch.job(), another = later.job();
      lc_completion completion{};
      completion.struct_size = sizeof completion;
      completion.eventfd = over;
      lc_ticket *ticket = nullptr;
      ASSERT_EQ(LC_OK, lc_submit(context->get(), &another, &completion, &ticket))
          << lc_last_error();
      EXPECT_EQ(LC_OK, lc_run(context->get(), &job, nullptr)) << lc_last_error();
      EXPECT_EQ("", batch.check());
      eventfd_t told = 0;
      while (eventfd_read(over, &told) != 0) ASSERT_EQ(EINTR, errno);
      EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
      EXPECT_EQ("", later.check());
      lc_ticket_free(ticket);
    }
    close(over);
  });
  program.join();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_GE(signals_here, 20u);
  EXPECT_EQ(0u, signals_elsewhere);
}

// A file that is mapped into memory.
class Mapping {
 public:
  Mapping(int file, uint64_t bytes, int protection, int flags)
      : bytes_(bytes), at_(mmap(nullptr, bytes, protection, flags, file, 0)) {
    EXPECT_NE(MAP_FAILED, at_);
  }
  ~Mapping() { munmap(at_, bytes_); }
  Mapping(const Mapping &) = delete;
  uint8_t *data() const { return static_cast<uint8_t *>(at_); }

 private:
  const uint64_t bytes_;
  void *const at_;
};

TEST_P(Surroundings, MemoryOfFiles) {
  // Enough for several spans that are worth pinning.
  const uint64_t bytes = (kIsSanitized ? 4 : 9) << 20;
  Bytes text(bytes), expected(bytes);
  uint8_t key[32], iv[16];
  random_.fill(text.data(), bytes);
  random_.fill(key, sizeof key);
  random_.fill(iv, sizeof iv);
  reference_crypt({LC_AES_CTR, LC_ENCRYPT, 32}, key, iv, text.data(), expected.data(), bytes);
  std::string path = testing::TempDir() + "lanecrypt.XXXXXX";
  const int file = mkstemp(path.data());
  ASSERT_GE(file, 0) << path;
  unlink(path.c_str());
  ASSERT_EQ(ssize_t(bytes), pwrite(file, text.data(), bytes, 0));
  const std::unique_ptr<Context> context = open();
  const auto encrypt = [&](const uint8_t *in, uint8_t *out) {
    lc_message message{};
    message.key = key;
    message.iv = iv;
    message.in = in;
    message.out = out;
    message.length = bytes;
    lc_cipher_job job{};
    job.struct_size = sizeof job;
    job.cipher = LC_AES_CTR;
    job.key_bytes = sizeof key;
    job.memory = LC_MEMORY_HOST;
    job.device = LC_ANY_DEVICE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    ASSERT_EQ(LC_OK, lc_run(context->get(), &job, nullptr)) << lc_last_error();
    EXPECT_EQ(0, memcmp(expected.data(), out, bytes));
  };
  const auto in_file = [&] {
    Bytes now(bytes);
    EXPECT_EQ(ssize_t(bytes), pread(file, now.data(), bytes, 0));
    return now;
  };
  for (const int flags : {MAP_PRIVATE, MAP_SHARED}) {
    SCOPED_TRACE(flags == MAP_SHARED ? "shared" : "private");
    const Mapping readable(file, bytes, PROT_READ, flags);
    Bytes out(bytes);
    encrypt(readable.data(), out.data());
  }
  {
    // Anonymous memory that is read-only after it was written.
    const Mapping sealed(-1, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    memcpy(sealed.data(), text.data(), bytes);
    ASSERT_EQ(0, mprotect(sealed.data(), bytes, PROT_READ));
    Bytes out(bytes);
    encrypt(sealed.data(), out.data());
  }
  {
    const Mapping own(file, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    encrypt(own.data(), own.data());
    EXPECT_TRUE(in_file() == text) << "a private mapping was written into its file";
  }
  const Mapping shared(file, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
  encrypt(text.data(), shared.data());
  EXPECT_TRUE(in_file() == expected);
  close(file);
  EXPECT_EQ(0u, context->counters(0).failures);
}

INSTANTIATE_TEST_SUITE_P(, Surroundings, testing::ValuesIn(devices_under_test()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
