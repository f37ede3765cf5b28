// Tests liblanecrypt as a client of lanecryptd (lc_options.service): generation of RSA keys.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/rand.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "daemon_process.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::bn;
using lanecrypt::test::bn_of;
using lanecrypt::test::is_prime;

Bytes bytes_of_number(const lc_number &number) {
  const auto *const begin = static_cast<const uint8_t *>(number.bytes);
  return Bytes(begin, begin + number.length);
}

// A context that names the service at `path`, and the keys that it makes.
class Maker {
 public:
  explicit Maker(const std::string &path, lc_fallback fallback = LC_FALLBACK_CPU,
                 lc_verify verify = LC_VERIFY_SAMPLED) {
    lc_options options{};
    options.struct_size = sizeof options;
    options.devices = "none";
    options.fallback = fallback;
    options.verify = verify;
    options.service = path.c_str();
    EXPECT_EQ(LC_OK, lc_open(&options, &context)) << lc_last_error();
    result.struct_size = sizeof result;
    wish.struct_size = sizeof wish;
    wish.bits = 1024;
    wish.device = LC_ANY_DEVICE;
    wish.on_key = [](void *of, uint64_t number, const lc_rsa_parts *parts) {
      return static_cast<Maker *>(of)->take(number, *parts) ? 1 : 0;
    };
    wish.on_progress = [](void *of, const lc_rsa_progress *now) {
      auto &self = *static_cast<Maker *>(of);
      self.progress = *now;
      return self.on_progress() ? 1 : 0;
    };
    wish.argument = this;
  }
  ~Maker() { lc_close(context); }
  Maker(const Maker &) = delete;

  lc_status make(uint64_t count) {
    wish.count = count;
    return lc_rsa_generate(context, &wish, &result);
  }

  lc_context *context = nullptr;
  lc_rsa_generation wish{};
  lc_result result{};
  lc_rsa_progress progress{};
  uint64_t keys = 0;
  std::set<Bytes> primes;
  // Called after each key, and regularly. False ends the call.
  std::function<bool()> on_key = [] { return true; }, on_progress = [] { return true; };

 private:
  bool take(uint64_t number, const lc_rsa_parts &parts) {
    EXPECT_EQ(keys++, number);
    EXPECT_EQ(wish.bits, uint32_t(BN_num_bits(bn_of(bytes_of_number(parts.n)).get())));
    EXPECT_NE(0u, parts.d.length);
    for (const lc_number &prime : {parts.p, parts.q}) {
      EXPECT_TRUE(is_prime(bn_of(bytes_of_number(prime)).get()));
      EXPECT_TRUE(primes.insert(bytes_of_number(prime)).second) << "a prime came twice";
    }
    // The key is complete.
    lc_rsa_key *key = nullptr;
    EXPECT_EQ(LC_OK, lc_rsa_key_new(&parts, &key)) << lc_last_error();
    lc_rsa_key_free(key);
    return on_key();
  }
};

TEST(LibraryKeysOfDaemon, ItMakesThem) {
  DaemonProcess daemon(with_subgroups());
  for (const lc_verify verify : {LC_VERIFY_SAMPLED, LC_VERIFY_FULL}) {
    Maker maker(daemon.socket_path(), LC_FALLBACK_NONE, verify);
    ASSERT_EQ(LC_OK, maker.make(12)) << lc_last_error();
    EXPECT_EQ(12u, maker.keys);
    EXPECT_EQ(12u, maker.result.service_operations);
    EXPECT_EQ(12u, maker.result.device_operations);
    EXPECT_EQ(0u, maker.result.cpu_operations);
    EXPECT_EQ(0u, maker.result.failed_devices);
  }
  EXPECT_EQ(24, connected(daemon.socket_path()).kind("rsa-1024-generate")["done"]);
}

// A device whose threads do not share a number makes no single key.
TEST(LibraryKeysOfDaemon, WhatItDoesNotMakeTheCpuMakes) {
  DaemonProcess daemon;
  Maker maker(daemon.socket_path()), without(daemon.socket_path(), LC_FALLBACK_NONE);
  ASSERT_EQ(LC_OK, maker.make(2)) << lc_last_error();
  EXPECT_EQ(2u, maker.keys);
  EXPECT_EQ(0u, maker.result.service_operations);
  EXPECT_GT(maker.result.cpu_operations, 0u);
  EXPECT_EQ(0u, maker.result.failed_devices);
  EXPECT_EQ(LC_ERROR_NO_DEVICE, without.make(2));
  EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("no room or no device"));
  Maker nowhere("/nowhere/socket", LC_FALLBACK_NONE);
  EXPECT_EQ(LC_ERROR_NO_DEVICE, nowhere.make(1));
  EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("/nowhere/socket"));
}

// The service cannot use the caller's random generator, and makes no longer keys than devices do.
TEST(LibraryKeysOfDaemon, SomeAreTheCallersAlone) {
  DaemonProcess daemon(with_subgroups());
  static std::atomic<int> draws{0};
  const auto draw = [](void *, void *to, size_t bytes) {
    ++draws;
    return RAND_priv_bytes(static_cast<unsigned char *>(to), int(bytes));
  };
  Maker maker(daemon.socket_path()), without(daemon.socket_path(), LC_FALLBACK_NONE);
  maker.wish.random = without.wish.random = draw;
  ASSERT_EQ(LC_OK, maker.make(1)) << lc_last_error();
  EXPECT_GT(draws, 0);
  EXPECT_EQ(0u, maker.result.service_operations);
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, without.make(1));
  without.wish.random = nullptr;
  without.wish.bits = 8448;
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, without.make(1));
  EXPECT_TRUE(connected(daemon.socket_path()).kind("rsa-1024-generate").is_null());
}

TEST(LibraryKeysOfDaemon, TheCallerStopsIt) {
  DaemonProcess daemon(with_subgroups());
  TestClient witness = connected(daemon.socket_path());
  Maker maker(daemon.socket_path());
  maker.on_key = [&] { return maker.keys < 3; };
  EXPECT_EQ(LC_ERROR_STOPPED, maker.make(1000));
  EXPECT_EQ(3u, maker.keys);
  // A key for which the emulator takes long.
  maker.wish.bits = 4096;
  int heard = 0;
  maker.on_progress = [&] { return ++heard < 2; };
  EXPECT_EQ(LC_ERROR_STOPPED, maker.make(1));
  EXPECT_EQ(2, heard);
  // The service notices that its client has abandoned the search.
  EXPECT_TRUE(comes_true([&] {
    const nlohmann::json kind = witness.kind("rsa-4096-generate");
    return !kind.is_null() && kind["outcomes"]["failed"] == 1;
  }));
  maker.wish.bits = 1024;
  maker.on_key = maker.on_progress = [] { return true; };
  maker.keys = 0;
  EXPECT_EQ(LC_OK, maker.make(1)) << lc_last_error();
  EXPECT_EQ(1u, maker.result.service_operations);
}

TEST(LibraryKeysOfDaemon, NothingIsLostIfItIsKilledInTheMiddle) {
  DaemonProcess daemon(with_subgroups());
  Maker maker(daemon.socket_path());
  maker.on_key = [&] {
    if (maker.keys == 2) daemon.send_signal(SIGKILL);
    return true;
  };
  // More keys than the service can have sent before it is killed.
  constexpr uint64_t kCount = 24;
  ASSERT_EQ(LC_OK, maker.make(kCount)) << lc_last_error();
  EXPECT_EQ(kCount, maker.keys);
  EXPECT_GE(maker.result.service_operations, 2u);
  EXPECT_LT(maker.result.service_operations, kCount);
  EXPECT_GT(maker.result.cpu_operations, 0u);
  EXPECT_EQ(1u, maker.result.failed_devices);
  EXPECT_EQ(kCount, maker.progress.keys);
}

TEST(LibraryKeysOfDaemon, WithoutTheCpuAKillIsAnError) {
  DaemonProcess daemon(with_subgroups());
  Maker maker(daemon.socket_path(), LC_FALLBACK_NONE);
  maker.on_key = [&] {
    daemon.send_signal(SIGKILL);
    return true;
  };
  EXPECT_EQ(LC_ERROR_DEVICE, maker.make(1000));
  EXPECT_EQ(maker.keys, maker.result.service_operations);
}

TEST(LibraryKeysOfDaemon, ASilentServiceIsGivenUp) {
  DaemonProcess daemon(with_subgroups());
  Maker maker(daemon.socket_path());
  ASSERT_EQ(LC_OK, maker.make(1));
  daemon.send_signal(SIGSTOP);
  maker.keys = 0;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(LC_OK, maker.make(1)) << lc_last_error();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(0u, maker.result.service_operations);
  daemon.send_signal(SIGCONT);
}

TEST(LibraryKeysOfDaemon, AChildOfForkHasOthers) {
  DaemonProcess daemon(with_subgroups());
  Maker maker(daemon.socket_path(), LC_FALLBACK_NONE);
  ASSERT_EQ(LC_OK, maker.make(1));
  const pid_t child = fork();
  if (child == 0) {
    // The set still has the primes of the parent.
    maker.keys = 0;
    const bool is_right = maker.make(2) == LC_OK && maker.result.service_operations == 2;
    _exit(is_right && maker.primes.size() == 6 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

// The process exits in a bounded time, whether the service or the CPU makes keys.
TEST(LibraryKeysOfDaemon, ItsProcessExits) {
  DaemonProcess daemon(with_subgroups());
  for (const bool by_service : {true, false})
    for (int round = 0; round < 10; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);
        static auto &maker = *new Maker(by_service ? daemon.socket_path() : "/nowhere/socket");
        static std::atomic<bool> runs{false};
        // The test's own checks would use OpenSSL after OpenSSL has cleaned up.
        maker.wish.on_key = [](void *, uint64_t, const lc_rsa_parts *) { return int(runs = true); };
        std::thread([] {
#ifdef __SANITIZE_ADDRESS__
          // OpenSSL does not free the error queue of a thread that still runs at exit.
          __lsan_disable();
#endif
          (void)maker.make(1'000'000);
        }).detach();
        while (!runs) std::this_thread::yield();
        exit(0);
      }
      int status = -1;
      ASSERT_EQ(child, waitpid(child, &status, 0));
      EXPECT_EQ(0, status) << by_service;
    }
  EXPECT_TRUE(
      comes_true([&] { return connected(daemon.socket_path()).statistics()["channels"] == 0; }));
}

}  // namespace
}  // namespace lanecrypt::service::test
