// The values that are computed from a service's figures. tests/e2e/cli/test_cli_service.py tests
// the whole command, with services that report problems too.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/service/state.h"

#include <gtest/gtest.h>

namespace lanecrypt::cli {
namespace {

TEST(ServiceState, QuantilesOfAHistogram) {
  Histogram histogram;
  EXPECT_FALSE(histogram.quantile(0.5));
  // 10 values up to 1, none up to 2, 80 up to 4, and 10 above.
  histogram.buckets = {{1, 10}, {2, 10}, {4, 90}};
  histogram.count = 100;
  EXPECT_DOUBLE_EQ(histogram.quantile(0.05).value(), 0.5);
  EXPECT_DOUBLE_EQ(histogram.quantile(0.1).value(), 1);
  EXPECT_DOUBLE_EQ(histogram.quantile(0.5).value(), 3);
  EXPECT_DOUBLE_EQ(histogram.quantile(0.9).value(), 4);
  EXPECT_FALSE(histogram.quantile(0.99));
}

}  // namespace
}  // namespace lanecrypt::cli
