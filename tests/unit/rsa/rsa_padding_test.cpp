// The code that removes the padding of a decrypted message executes the same instructions whether
// the padding is right or wrong. The test traces a child step by step to show it.
//
// SPDX-License-Identifier: Apache-2.0
#define OPENSSL_SUPPRESS_DEPRECATED

#include "provider/rsa/rsa_padding.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace lanecrypt::test {
namespace {

// Short, since each step takes microseconds. kForTls is the length that TLS needs.
constexpr size_t kShort = 24, kForTls = provider::kPremasterBytes + 11;
using Encoded = std::vector<uint8_t>;

struct Trace {
  uint64_t hash = 0xcbf29ce484222325u, steps = 0;
  bool is_whole = false;
};

uint64_t instruction_of(pid_t child) {
  user_regs_struct registers{};
  iovec place{&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &place) != 0) return 0;
#if defined(__x86_64__)
  return registers.rip;
#else
  return registers.pc;
#endif
}

// Allocates nothing: the children may differ at their start only in the input.
Trace trace(void (*body)(const Encoded &), const Encoded &encoded) {
  Trace trace;
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    body(encoded);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    trace.hash = (trace.hash ^ instruction_of(child)) * 0x100000001b3u;
    ++trace.steps;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
  }
  trace.is_whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return trace;
}

// Returns a valid padding, with a message of 13 bytes or of TLS's version 0x0303; one case for
// everything that can be wrong with it; and another valid one, if the message may have any length.
std::vector<Encoded> make_cases(size_t bytes) {
  const size_t separator = 10;
  Encoded right(bytes, 0xA5);
  right[0] = 0;
  right[1] = 2;
  right[separator] = 0;
  right[separator + 1] = right[separator + 2] = 3;
  std::vector<Encoded> cases(9, right);
  cases[1][0] = 1;
  cases[2][1] = 1;
  cases[3][2] = 0;
  cases[4][separator - 1] = 0;
  cases[5][separator] = 1;  // there is no zero byte at all
  cases[6].assign(bytes, 0);
  cases[7].assign(bytes, 0xFF);
  cases[8][separator] = 1;
  cases[8][separator + 2] = 0;
  return cases;
}

volatile size_t sink;

void decode_with_errors(const Encoded &encoded) {
  uint8_t out[kForTls];
  size_t bytes = 0;
  const int result = provider::conclude_decryption(&bytes, provider::decode_pkcs1(out, encoded), 7);
  sink = bytes + size_t(result);
}

void decode_for_tls(const Encoded &encoded) {
  static constexpr uint8_t kRandom[provider::kPremasterBytes] = {1, 2, 3};
  uint8_t out[provider::kPremasterBytes];
  provider::decode_tls_premaster(out, encoded, kRandom, 0x0303, 0);
  sink = out[0];
}

// A function with a secret-dependent branch. Its traces must differ.
void decode_and_branch(const Encoded &encoded) {
  uint8_t out[kForTls];
  ERR_set_mark();
  const int bytes = int(encoded.size());
  if (RSA_padding_check_PKCS1_type_2(out, bytes, encoded.data(), bytes, bytes) < 0)
    ERR_clear_last_mark();
  else
    ERR_pop_to_mark();
}

// Returns how many traces differ from the first, or -1 if tracing is not possible.
int count_others(void (*body)(const Encoded &), size_t bytes) {
  const std::vector<Encoded> cases = make_cases(bytes);
  // The first calls do what is only set up once.
  for (const Encoded &encoded : cases) body(encoded);
  ERR_clear_error();
  std::vector<Trace> traces(cases.size());
  for (size_t n = 0; n < cases.size(); ++n) traces[n] = trace(body, cases[n]);
  int others = 0;
  for (const Trace &one : traces) {
    if (!one.is_whole || one.steps < bytes) return -1;
    others += one.hash != traces[0].hash || one.steps != traces[0].steps ? 1 : 0;
  }
  return others;
}

TEST(RsaPadding, IsTakenOffByTheSameSteps) {
  const int branching = count_others(decode_and_branch, kShort);
  if (branching < 0) GTEST_SKIP() << "no process may trace another here";
  EXPECT_GE(branching, 5);
  EXPECT_EQ(0, count_others(decode_with_errors, kShort));
  EXPECT_EQ(0, count_others(decode_for_tls, kForTls));
}

TEST(RsaPadding, TellsRightFromWrong) {
  const std::vector<Encoded> cases = make_cases(kShort);
  constexpr int kMessageBytes[] = {13, -1, -1, -1, -1, -1, -1, -1, 11};
  for (size_t n = 0; n < cases.size(); ++n) {
    uint8_t out[kShort];
    size_t bytes = 0;
    const int decoded = provider::decode_pkcs1(out, cases[n]);
    EXPECT_EQ(kMessageBytes[n], decoded) << n;
    EXPECT_EQ(decoded >= 0 ? 1 : 0, provider::conclude_decryption(&bytes, decoded, 7)) << n;
    EXPECT_EQ(decoded >= 0 ? size_t(decoded) : 7u, bytes) << n;
    if (decoded >= 0) {
      EXPECT_TRUE(std::equal(out, out + decoded, cases[n].end() - decoded)) << n;
    } else {
      EXPECT_EQ(RSA_R_PKCS_DECODING_ERROR, ERR_GET_REASON(ERR_get_error())) << n;
      EXPECT_EQ(RSA_R_PADDING_CHECK_FAILED, ERR_GET_REASON(ERR_get_error())) << n;
    }
    EXPECT_EQ(0ul, ERR_get_error()) << n;
  }
}

// The empty message is valid, and no error.
TEST(RsaPadding, ConcludesTheEmptyMessage) {
  size_t bytes = 5;
  EXPECT_EQ(1, provider::conclude_decryption(&bytes, 0, 7));
  EXPECT_EQ(0u, bytes);
}

}  // namespace
}  // namespace lanecrypt::test
