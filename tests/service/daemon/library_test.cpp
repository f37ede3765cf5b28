// Tests liblanecrypt as a client of lanecryptd (lc_options.service): private operations of RSA.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "daemon_process.h"
#include "test_client.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::service::test {
namespace {

using lanecrypt::test::extreme_inputs;
using lanecrypt::test::key_of_bits;

// A context that names the service at `path`, and operations with one key.
class User {
 public:
  explicit User(const std::string &path, lc_fallback fallback = LC_FALLBACK_CPU,
                lc_verify verify = LC_VERIFY_SAMPLED) {
    lc_options options{};
    options.struct_size = sizeof options;
    // The context has no device: the CPU does what the service does not.
    options.devices = "none";
    options.fallback = fallback;
    options.verify = verify;
    options.service = path.c_str();
    EXPECT_EQ(LC_OK, lc_open(&options, &context)) << lc_last_error();
    const lc_rsa_parts parts = key_.parts();
    EXPECT_EQ(LC_OK, lc_rsa_key_new(&parts, &key)) << lc_last_error();
    result.struct_size = sizeof result;
    inputs = extreme_inputs(key_, 20);
    outputs = inputs;
    for (Bytes &output : outputs) messages.push_back({key, output.data(), output.data()});
  }
  ~User() {
    lc_rsa_key_free(key);
    lc_close(context);
  }
  User(const User &) = delete;

  lc_rsa_job job() const {
    lc_rsa_job made{};
    made.struct_size = sizeof made;
    made.operation = LC_RSA_PRIVATE;
    made.device = LC_ANY_DEVICE;
    made.messages = messages.data();
    made.message_count = messages.size();
    made.message_size = sizeof(lc_rsa_message);
    return made;
  }
  // Runs in place: the outputs overwrite the inputs.
  lc_status run() {
    begin();
    const lc_rsa_job what = job();
    return lc_rsa_run(context, &what, &result);
  }
  void begin() {
    for (size_t n = 0; n < inputs.size(); ++n)
      std::copy(inputs[n].begin(), inputs[n].end(), outputs[n].begin());
  }
  bool is_right() const {
    for (size_t n = 0; n < inputs.size(); ++n)
      if (outputs[n] != key_.power(inputs[n], key_.secret.get())) return false;
    return true;
  }

  lc_context *context = nullptr;
  lc_rsa_key *key = nullptr;
  std::vector<Bytes> inputs, outputs;
  std::vector<lc_rsa_message> messages;
  lc_result result{};

 private:
  const TestKey &key_ = key_of_bits(kBits);
};

TEST(LibraryAndDaemon, ItDoesTheOperationsOfACallThatWaits) {
  DaemonProcess daemon;
  for (const lc_verify verify : {LC_VERIFY_SAMPLED, LC_VERIFY_FULL}) {
    User user(daemon.socket_path(), LC_FALLBACK_NONE, verify);
    ASSERT_EQ(LC_OK, user.run()) << lc_last_error();
    EXPECT_TRUE(user.is_right());
    EXPECT_EQ(user.inputs.size(), user.result.service_operations);
    EXPECT_EQ(user.inputs.size(), user.result.device_operations);
    EXPECT_EQ(0u, user.result.cpu_operations);
    EXPECT_EQ(0u, user.result.failed_devices);
  }
  TestClient witness = connected(daemon.socket_path());
  EXPECT_TRUE(comes_true([&] { return witness.statistics()["keys"] == 0; }));
}

TEST(LibraryAndDaemon, AKeyThatIsFreedIsForgotten) {
  DaemonProcess daemon;
  TestClient witness = connected(daemon.socket_path());
  User user(daemon.socket_path());
  ASSERT_EQ(LC_OK, user.run());
  EXPECT_EQ(1, witness.statistics()["keys"]);
  lc_rsa_key_free(user.key);
  user.key = nullptr;
  EXPECT_TRUE(comes_true([&] { return witness.statistics()["keys"] == 0; }));
  EXPECT_EQ(2, witness.statistics()["clients"]);
}

TEST(LibraryAndDaemon, ManyTicketsAreToldByEventfd) {
  DaemonProcess daemon;
  User user(daemon.socket_path(), LC_FALLBACK_NONE);
  user.begin();
  const int event = eventfd(0, EFD_CLOEXEC);
  std::vector<lc_ticket *> tickets(user.messages.size());
  for (size_t n = 0; n < tickets.size(); ++n) {
    lc_rsa_job one = user.job();
    one.messages = &user.messages[n];
    one.message_count = 1;
    lc_completion completion{};
    completion.struct_size = sizeof completion;
    completion.eventfd = event;
    ASSERT_EQ(LC_OK, lc_rsa_submit(user.context, &one, &completion, &tickets[n]));
  }
  uint64_t all = 0;
  while (all < tickets.size()) {
    pollfd waits = {event, POLLIN, 0};
    ASSERT_EQ(1, poll(&waits, 1, 20'000));
    eventfd_t more = 0;
    ASSERT_EQ(0, eventfd_read(event, &more));
    all += more;
  }
  for (lc_ticket *ticket : tickets) {
    EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, &user.result));
    EXPECT_EQ(1u, user.result.service_operations);
    lc_ticket_free(ticket);
  }
  EXPECT_TRUE(user.is_right());
  close(event);
}

TEST(LibraryAndDaemon, NothingIsLostIfItIsKilledAmidOperations) {
  auto daemon = std::make_unique<DaemonProcess>();
  User user(daemon->socket_path());
  ASSERT_EQ(LC_OK, user.run());
  ASSERT_EQ(user.inputs.size(), user.result.service_operations);
  daemon->send_signal(SIGSTOP);
  user.begin();
  const lc_rsa_job job = user.job();
  lc_ticket *ticket = nullptr;
  ASSERT_EQ(LC_OK, lc_rsa_submit(user.context, &job, nullptr, &ticket));
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    daemon->send_signal(SIGKILL);
  });
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, &user.result)) << lc_last_error();
  killer.join();
  lc_ticket_free(ticket);
  EXPECT_TRUE(user.is_right());
  EXPECT_EQ(user.inputs.size(), user.result.cpu_operations);
  EXPECT_EQ(1u, user.result.failed_devices);
  // A call does not wait for a service that has gone.
  EXPECT_EQ(LC_OK, user.run());
  EXPECT_TRUE(user.is_right());
  EXPECT_EQ(0u, user.result.service_operations);
  lc_counters counters{};
  counters.struct_size = sizeof counters;
  EXPECT_EQ(LC_OK, lc_counters_get(user.context, LC_CPU, &counters));
  EXPECT_EQ(2 * user.inputs.size(), counters.operations);
}

TEST(LibraryAndDaemon, ASilentServiceIsGivenUp) {
  DaemonProcess daemon;
  User user(daemon.socket_path());
  ASSERT_EQ(LC_OK, user.run());
  daemon.send_signal(SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(LC_OK, user.run());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_TRUE(user.is_right());
  EXPECT_EQ(user.inputs.size(), user.result.cpu_operations);
  daemon.send_signal(SIGCONT);
}

// poll() then takes fewer descriptors than there are channels.
TEST(LibraryAndDaemon, AProgramMayLowerItsLimitOfDescriptors) {
  DaemonProcess daemon;
  User user(daemon.socket_path(), LC_FALLBACK_NONE);
  ASSERT_EQ(LC_OK, user.run()) << lc_last_error();
  rlimit before{};
  ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
  const rlimit lower{8, before.rlim_max};
  ASSERT_LT(lower.rlim_cur, user.inputs.size());
  std::atomic<bool> is_over{false};
  bool came_to_an_end = false;
  std::thread watch([&] {
    came_to_an_end = comes_true([&] { return is_over.load(); });
    if (!came_to_an_end) (void)setrlimit(RLIMIT_NOFILE, &before);
  });
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &lower));
  EXPECT_EQ(LC_OK, user.run()) << lc_last_error();
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
  is_over = true;
  watch.join();
  EXPECT_TRUE(came_to_an_end);
  EXPECT_TRUE(user.is_right());
  EXPECT_EQ(user.inputs.size(), user.result.service_operations);
}

TEST(LibraryAndDaemon, WithoutTheCpuAKillIsAnError) {
  DaemonProcess daemon;
  User user(daemon.socket_path(), LC_FALLBACK_NONE);
  ASSERT_EQ(LC_OK, user.run());
  daemon.send_signal(SIGKILL);
  (void)daemon.wait();
  EXPECT_NE(LC_OK, user.run());
  EXPECT_NE(std::string(), lc_last_error());
}

TEST(LibraryAndDaemon, AChildOfForkHasAConnectionOfItsOwn) {
  DaemonProcess daemon;
  TestClient witness = connected(daemon.socket_path());
  User user(daemon.socket_path(), LC_FALLBACK_NONE);
  ASSERT_EQ(LC_OK, user.run());
  const pid_t child = fork();
  if (child == 0) {
    const bool is_right = user.run() == LC_OK && user.is_right() &&
                          user.result.service_operations == user.inputs.size();
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ(3, witness.statistics()["clients_total"]);
  EXPECT_EQ(LC_OK, user.run());
  EXPECT_TRUE(user.is_right());
}

TEST(LibraryAndDaemon, AWrongPathIsAnErrorOrTheCpu) {
  User with_cpu("/nowhere/socket"), without("/nowhere/socket", LC_FALLBACK_NONE);
  EXPECT_EQ(LC_OK, with_cpu.run());
  EXPECT_TRUE(with_cpu.is_right());
  EXPECT_EQ(with_cpu.inputs.size(), with_cpu.result.cpu_operations);
  EXPECT_EQ(LC_ERROR_NO_DEVICE, without.run());
  EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("/nowhere/socket"));
  EXPECT_EQ(without.inputs, without.outputs);
  lc_options options{};
  options.struct_size = sizeof options;
  options.service = "socket";
  lc_context *context = nullptr;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_open(&options, &context));
  EXPECT_EQ(nullptr, context);
}

TEST(LibraryAndDaemon, AFolderThatOthersMayWriteToIsNotTrusted) {
  DaemonProcess daemon;
  const std::string folder = daemon.socket_path().substr(0, daemon.socket_path().rfind('/'));
  ASSERT_EQ(0, chmod(folder.c_str(), 0777));
  User user(daemon.socket_path(), LC_FALLBACK_NONE);
  EXPECT_EQ(LC_ERROR_NO_DEVICE, user.run());
  EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("others than its owner"));
  ASSERT_EQ(0, chmod(folder.c_str(), 0700));
}

}  // namespace
}  // namespace lanecrypt::service::test
