// What is computed of the figures that a service tells. tests/e2e/cli/test_cli_service.py has the
// command whole, and services that tell what is wrong.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/service/state.h"

#include <gtest/gtest.h>

namespace lanecrypt::cli {
namespace {

TEST(ServiceState, QuantilesOfAHistogram) {
  Histogram histogram;
  EXPECT_FALSE(histogram.quantile(0.5));
  // 10 of up to 1, none of 2, 80 of 4, and 10 of more.
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
