// Submits a job of the C ABI to a dispatcher that the test owns.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "placement/dispatcher.h"

namespace lanecrypt::test {

inline runtime::RequestPointer submit(runtime::Dispatcher &dispatcher, const lc_cipher_job &job) {
  Result<CipherJob> checked = make_cipher_job(&job);
  EXPECT_TRUE(checked.ok()) << checked.status().text();
  const auto request = std::make_shared<runtime::Request>(std::move(*checked), nullptr);
  const Status status = dispatcher.submit(request);
  EXPECT_TRUE(status.ok()) << status.text();
  return request;
}

}  // namespace lanecrypt::test
