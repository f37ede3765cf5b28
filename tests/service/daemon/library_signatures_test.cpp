// Tests liblanecrypt as a client of lanecryptd (lc_options.service): signatures of ML-DSA and
// SLH-DSA.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "daemon_process.h"
#include "library_signer.h"
#include "test_client.h"

namespace lanecrypt::service::test {
namespace {

// Returns whether the service makes the signatures, if not at the first try. It tries its device
// for SLH-DSA when the first key comes, and on a busy machine the emulator may take longer than a
// client waits.
bool signs_by_service(LibrarySigner &signer, bool is_deterministic = false) {
  return comes_true([&] { return signer.sign(is_deterministic) == LC_OK && signer.did_service(); });
}

class LibrarySignatures : public testing::TestWithParam<const SignatureSet *> {
 protected:
  // Tests that leave the service intact share one, which has tried its device.
  DaemonProcess &daemon() {
    static DaemonProcess one;
    static const bool is_ready = [&] {
      LibrarySigner ml_dsa(kMlDsaTried, one.socket_path()),
          slh_dsa(kSlhDsaTried, one.socket_path());
      return signs_by_service(ml_dsa) && signs_by_service(slh_dsa);
    }();
    EXPECT_TRUE(is_ready);
    return one;
  }
  const SignatureSet &set() const { return *GetParam(); }
  uint64_t done(TestClient &witness) const {
    return witness.kind(std::string(set().name) + "-sign")["done"].get<uint64_t>();
  }
};

TEST_P(LibrarySignatures, TheServiceMakesThoseOfACallThatWaits) {
  TestClient witness = connected(daemon().socket_path());
  for (const lc_verify verify : {LC_VERIFY_SAMPLED, LC_VERIFY_FULL}) {
    LibrarySigner signer(set(), daemon().socket_path(), {.verify = verify});
    const uint64_t before = done(witness);
    ASSERT_TRUE(signs_by_service(signer)) << lc_last_error();
    EXPECT_GE(done(witness), before + signer.signatures.size());
    EXPECT_EQ(signer.signatures.size() * set().signature_bytes, signer.result.device_bytes);
    EXPECT_TRUE(signer.are_right());
    const auto hedged = signer.signatures;
    ASSERT_TRUE(signs_by_service(signer));
    EXPECT_NE(hedged, signer.signatures);
  }
}

TEST_P(LibrarySignatures, ThatAreDeterministicAreTheCpus) {
  LibrarySigner signer(set(), daemon().socket_path());
  ASSERT_TRUE(signs_by_service(signer, true)) << lc_last_error();
  const auto made = signer.signatures;
  ASSERT_EQ(LC_OK, signer.sign(true, LC_CPU));
  EXPECT_TRUE(signer.did_cpu());
  EXPECT_EQ(signer.signatures, made);
}

TEST_P(LibrarySignatures, KeysThatAreFreedAreForgotten) {
  TestClient witness = connected(daemon().socket_path());
  // The keys of clients that have gone are released a little later.
  const auto becomes = [&](const char *what, int count) {
    return comes_true([&] { return witness.statistics()[what] == count; });
  };
  ASSERT_TRUE(becomes("keys", 0));
  LibrarySigner signer(set(), daemon().socket_path());
  ASSERT_TRUE(signs_by_service(signer));
  EXPECT_EQ(1, witness.statistics()["keys"]);
  signer.free_key();
  EXPECT_TRUE(becomes("keys", 0));
  EXPECT_TRUE(becomes("clients", 2));
}

TEST_P(LibrarySignatures, TicketsAreToldByEventfd) {
  LibrarySigner signer(set(), daemon().socket_path());
  const int event = eventfd(0, EFD_CLOEXEC);
  std::vector<lc_ticket *> tickets(signer.messages.size());
  EXPECT_TRUE(comes_true([&] {
    for (size_t n = 0; n < tickets.size(); ++n) {
      lc_completion completion{};
      completion.struct_size = sizeof completion;
      completion.eventfd = event;
      EXPECT_EQ(LC_OK, signer.submit(n, &completion, &tickets[n])) << lc_last_error();
    }
    uint64_t all = 0, by_service = 0;
    while (all < tickets.size()) {
      pollfd waits = {event, POLLIN, 0};
      EXPECT_EQ(1, poll(&waits, 1, 60'000));
      eventfd_t more = 0;
      EXPECT_EQ(0, eventfd_read(event, &more));
      all += more;
    }
    for (lc_ticket *ticket : tickets) {
      EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, &signer.result));
      by_service += signer.result.service_operations;
      lc_ticket_free(ticket);
    }
    EXPECT_TRUE(signer.are_right());
    return by_service == tickets.size();
  }));
  close(event);
}

TEST_P(LibrarySignatures, AChildOfForkHasAConnectionOfItsOwn) {
  LibrarySigner signer(set(), daemon().socket_path());
  ASSERT_TRUE(signs_by_service(signer));
  TestClient witness = connected(daemon().socket_path());
  const auto before = witness.statistics()["clients_total"].get<int>();
  const pid_t child = fork();
  if (child == 0) _exit(signs_by_service(signer) && signer.are_right() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_GT(witness.statistics()["clients_total"], before);
  EXPECT_TRUE(signs_by_service(signer));
}

TEST_P(LibrarySignatures, NoneIsLostIfTheServiceIsKilledAmidThem) {
  DaemonProcess mine;
  LibrarySigner signer(set(), mine.socket_path());
  // Afterwards there is a session, whether the service or the CPU has signed.
  ASSERT_EQ(LC_OK, signer.sign());
  mine.send_signal(SIGSTOP);
  ASSERT_EQ(mine.number(), waitpid(mine.number(), nullptr, WUNTRACED));
  std::vector<lc_ticket *> tickets(signer.messages.size());
  for (size_t n = 0; n < tickets.size(); ++n)
    ASSERT_EQ(LC_OK, signer.submit(n, nullptr, &tickets[n]));
  mine.send_signal(SIGKILL);
  for (lc_ticket *ticket : tickets) {
    EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, &signer.result)) << lc_last_error();
    EXPECT_EQ(1u, signer.result.cpu_operations);
    lc_ticket_free(ticket);
  }
  EXPECT_TRUE(signer.are_right());
  (void)mine.wait();
  // A call does not wait for a service that has gone.
  EXPECT_EQ(LC_OK, signer.sign());
  EXPECT_TRUE(signer.did_cpu());
  EXPECT_TRUE(signer.are_right());
}

TEST_P(LibrarySignatures, WithoutAServiceTheCpuSignsOrNobody) {
  LibrarySigner with_cpu(set(), "/nowhere/socket"),
      without(set(), "/nowhere/socket", {.fallback = LC_FALLBACK_NONE});
  EXPECT_EQ(LC_OK, with_cpu.sign());
  EXPECT_TRUE(with_cpu.did_cpu());
  EXPECT_TRUE(with_cpu.are_right());
  EXPECT_EQ(LC_ERROR_NO_DEVICE, without.sign());
  EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("/nowhere/socket"));
  for (const auto &signature : without.signatures)
    EXPECT_EQ(std::vector<uint8_t>(set().signature_bytes, 0xa5), signature);
}

INSTANTIATE_TEST_SUITE_P(EachFamily, LibrarySignatures,
                         testing::Values(&kMlDsaTried, &kSlhDsaTried), [](const auto &set) {
                           return std::string(set.param->family == Family::kMlDsa ? "MlDsa"
                                                                                  : "SlhDsa");
                         });

}  // namespace
}  // namespace lanecrypt::service::test
