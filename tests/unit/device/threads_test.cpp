// Eight threads share one context, on every device.
//
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr int kThreads = 8;

class Threads : public DeviceTest {};

// Each thread has its own jobs. It waits for some of them at once, and for others by ticket.
TEST_P(Threads, EightAtOnce) {
  const uint64_t rounds = scaled(40);
  std::atomic<uint64_t> jobs = 0, bytes = 0;
  std::vector<std::string> errors(kThreads);
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; n++)
    threads.emplace_back([&, n] {
      Random random(n);
      for (uint64_t round = 0; round < rounds && errors[n].empty(); round++) {
        Batch batch(context(), random_shape(random, 10, round % 10 ? 3000 : 100000), random);
        lc_cipher_job job = batch.job();
        lc_status status = LC_OK;
        if (round % 2) {
          lc_ticket *ticket = nullptr;
          status = lc_submit(context(), &job, nullptr, &ticket);
          if (status == LC_OK) status = lc_ticket_wait(ticket, nullptr);
          lc_ticket_free(ticket);
        } else {
          status = lc_run(context(), &job, nullptr);
        }
        if (status != LC_OK) errors[n] = std::string("it says: ") + lc_last_error();
        if (errors[n].empty()) errors[n] = batch.check();
        if (!errors[n].empty()) errors[n] += ": " + batch.shape().name();
        jobs += batch.bytes() > 0;
        bytes += batch.bytes();
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (int n = 0; n < kThreads; n++) EXPECT_EQ("", errors[n]) << "thread " << n;
  expect_done(jobs, bytes);
}

// Eight threads submit the first job at the same time, and the device is opened only once.
TEST_P(Threads, FirstUseAtOnce) {
  std::atomic<int> ready = 0;
  std::vector<std::string> errors(kThreads);
  std::vector<std::thread> threads;
  BatchShape shape;
  shape.cipher = LC_AES_CBC;
  shape.messages.resize(2);
  shape.messages[0].length = shape.messages[1].length = 4096;
  for (int n = 0; n < kThreads; n++)
    threads.emplace_back([&, n] {
      Random random(n);
      Batch batch(nullptr, shape, random);
      lc_cipher_job job = batch.job();
      ready++;
      while (ready < kThreads) std::this_thread::yield();
      errors[n] = lc_run(context(), &job, nullptr) == LC_OK ? batch.check() : lc_last_error();
    });
  for (std::thread &thread : threads) thread.join();
  for (int n = 0; n < kThreads; n++) EXPECT_EQ("", errors[n]) << "thread " << n;
  expect_done(kThreads, kThreads * 2 * 4096);
}

// lc_last_error() is thread-local.
TEST_P(Threads, LastErrorIsEachThreadsOwn) {
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context(), nullptr, nullptr));
  const std::string mine = lc_last_error();
  EXPECT_NE("", mine);
  std::string other = "unset";
  std::thread([&] { other = lc_last_error(); }).join();
  EXPECT_EQ("", other);
  EXPECT_EQ(mine, lc_last_error());
}

// Several contexts use one device.
TEST_P(Threads, ContextEach) {
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (size_t n = 0; n < errors.size(); n++)
    threads.emplace_back([&, n] {
      Context own(GetParam().id.c_str(), LC_FALLBACK_NONE);
      Random random(n);
      for (uint64_t round = 0; round < scaled(8) && errors[n].empty(); round++) {
        Batch batch(own.get(), random_shape(random, 10, 3000), random);
        lc_cipher_job job = batch.job();
        errors[n] = lc_run(own.get(), &job, nullptr) == LC_OK ? batch.check() : lc_last_error();
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (const std::string &error : errors) EXPECT_EQ("", error);
}

INSTANTIATE_TEST_SUITE_P(, Threads, testing::ValuesIn(devices_under_test()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
