// The self-test of a device: before it is trusted, it must give the known answers of its set of
// kernels, which are in verify/NAME_known_answers.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "job/status.h"

namespace lanecrypt::verify {

inline Status failed_self_test(const std::string &why) {
  return Status(LC_ERROR_SELF_TEST, "its self-test failed: " + why);
}

// Checks each of the answers. is_right(answer) returns a Result<bool>: whether the device gave it.
// subject() names the answer in the error.
template <class Answers, class IsRight>
Status self_test(const Answers &answers, IsRight is_right) {
  for (const auto &answer : answers) {
    Result<bool> right = is_right(answer);
    if (!right.ok()) return right.status();
    if (!*right) return failed_self_test("wrong " + answer.subject());
  }
  return Status();
}

}  // namespace lanecrypt::verify
