// Fake keys: numbers of the right lengths.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <thread>

#include "service/client/client.h"
#include "service/client/fake_service.h"
#include "service/client/operation.h"

namespace service_test {

namespace client = lanecrypt::client;
using lanecrypt::OffloadResult;
using lanecrypt::service::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

class TestKey final : public client::Key {
 public:
  explicit TestKey(size_t modulus_bytes = 128)
      : Key({lanecrypt::service::Family::kRsa, uint32_t(8 * modulus_bytes)}),
        bytes_(modulus_bytes) {}
  bool copy_numbers(client::KeyNumbers &to) const override {
    ++copies;
    if (!has_numbers) return false;
    to.memory = lanecrypt::secure::KeyMemory(lanecrypt::service::kD * bytes_);
    for (size_t n = 0; n < lanecrypt::service::kD; ++n)
      to.parts[n] = {to.memory.data() + n * bytes_, bytes_};
    return true;
  }
  bool has_numbers = true;
  mutable std::atomic<int> copies{0};

 private:
  const size_t bytes_;
};

class TestSetKey final : public client::Key {
 public:
  explicit TestSetKey(const lanecrypt::service::SignatureSet &set)
      : Key(set.operation_kind()), bytes_(set.key_bytes) {}
  bool copy_numbers(client::KeyNumbers &to) const override {
    to.memory = lanecrypt::secure::KeyMemory(bytes_);
    to.parts[lanecrypt::service::kWholeKey] = {to.memory.data(), bytes_};
    return true;
  }

 private:
  const size_t bytes_;
};

inline Bytes input_of(int seed, size_t bytes = 128) {
  Bytes input(bytes);
  for (size_t at = 0; at < bytes; ++at) input[at] = uint8_t(seed + 7 * int(at));
  return input;
}
inline Bytes reversed(const Bytes &input) { return {input.rbegin(), input.rend()}; }

// A client of a fake service.
class WithFake : public testing::Test {
 protected:
  // Runs one operation, whose output must be right if it is done.
  OffloadResult run(int seed = 1) {
    const Bytes input = input_of(seed);
    Bytes output(input.size(), 0xEE);
    const OffloadResult taken = client::run_private(user.here(), key, input, output);
    if (taken == OffloadResult::kDone) {
      EXPECT_EQ(reversed(input), output);
    } else {
      EXPECT_EQ(Bytes(input.size(), 0xEE), output);
    }
    return taken;
  }
  std::shared_ptr<client::Session> connect() { return user.here().connect(true); }
  // Connects. A client that is not scheduled for a quarter of a second gives up and tries again
  // later.
  bool connects() {
    return comes_true([&] { return connect() != nullptr; });
  }
  // Waits until `is_so()` returns true, for `limit` at most.
  template <class Condition>
  static bool comes_true(const Condition &is_so, milliseconds limit = seconds(10)) {
    const auto end = client::Clock::now() + limit;
    while (!is_so() && client::Clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
    return is_so();
  }

  FakeService fake;
  client::Client user{client::ServiceAddress::named(fake.path())};
  TestKey key;
};

}  // namespace service_test
