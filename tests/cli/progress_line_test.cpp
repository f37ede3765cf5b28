// The amounts and durations of the progress line.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <gtest/gtest.h>

namespace lanecrypt::cli {
namespace {

TEST(ProgressLine, Amounts) {
  EXPECT_EQ(format_amount(0, std::nullopt), "0 B");
  EXPECT_EQ(format_amount(999, std::nullopt), "999 B");
  EXPECT_EQ(format_amount(1000, std::nullopt), "1.00 kB");
  EXPECT_EQ(format_amount(1'500'000, 3'000'000'000), "0.00 of 3.00 GB");
  EXPECT_EQ(format_amount(1'250'000'000, 4'000'000'000), "1.25 of 4.00 GB");
}

TEST(ProgressLine, Durations) {
  EXPECT_EQ(format_duration(0), "0:00");
  EXPECT_EQ(format_duration(59.4), "0:59");
  EXPECT_EQ(format_duration(59.6), "1:00");
  EXPECT_EQ(format_duration(3661), "1:01:01");
  EXPECT_EQ(format_duration(-5), "0:00");
}

}  // namespace
}  // namespace lanecrypt::cli
