// The names of version 0.1 still work, for programs that were built against its header.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lanecrypt/lanecrypt.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace lanecrypt {
namespace {

class NamesOf01 : public ::testing::Test {
 protected:
  void SetUp() override {
    lc_options options = {};
    options.struct_size = sizeof options;
    options.devices = "none";
    ASSERT_EQ(LC_OK, lc_open(&options, &context_)) << lc_last_error();
  }
  void TearDown() override { lc_close(context_); }

  lc_context *context_ = nullptr;
};

TEST_F(NamesOf01, AnswerAsTheNewOnes) {
  EXPECT_EQ(lc_rsa_prefers_device(context_, 2048, 1), lc_rsa_device_is_sooner(context_, 2048, 1));
  lc_rsa_ran_on_cpu(context_, 2048, 1'000'000);
  EXPECT_EQ(lc_rsa_generation_prefers_device(context_, 2048),
            lc_rsa_generation_is_sooner(context_, 2048));
  EXPECT_EQ(0, lc_slh_dsa_device_is_sooner(context_, LC_SLH_DSA_SHA2_128F, LC_SLH_DSA_SIGN, 1));
  lc_slh_dsa_ran_on_cpu(context_, LC_SLH_DSA_SHA2_128F, LC_SLH_DSA_SIGN, 1'000'000);
  EXPECT_EQ(0, lc_ml_dsa_device_is_sooner(context_, LC_ML_DSA_44, 1));
  lc_ml_dsa_ran_on_cpu(context_, LC_ML_DSA_44, 1'000'000);
}

TEST_F(NamesOf01, FreeAndRefuseAsTheNewOnes) {
  lc_replays update = {};
  update.struct_size = sizeof update;
  lc_captured *job = nullptr;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_capture(context_, nullptr, &update, &job));
  EXPECT_EQ(LC_OK, lc_captured_free(context_, nullptr));
}

}  // namespace
}  // namespace lanecrypt
