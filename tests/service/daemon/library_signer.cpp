// SPDX-License-Identifier: Apache-2.0
#include "library_signer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lanecrypt::service::test {

using lanecrypt::test::slh_key;
using lanecrypt::test::slh_seeds;
using lanecrypt::test::SlhRunner;

LibrarySigner::LibrarySigner(const SignatureSet &set, const std::string &service, Options options)
    : private_key(std::move(options.private_key)), set_(set) {
  lc_options chosen{};
  chosen.struct_size = sizeof chosen;
  chosen.devices = "none";
  chosen.fallback = options.fallback;
  chosen.verify = options.verify;
  chosen.service = service.c_str();
  EXPECT_EQ(LC_OK, lc_open(&chosen, &context)) << lc_last_error();
  result.struct_size = sizeof result;
  if (is_ml_dsa()) {
    const std::vector<uint8_t> seed(32, 5);
    lc_ml_dsa_parts parts{};
    parts.struct_size = sizeof parts;
    parts.set = lc_ml_dsa_set(set.number);
    parts.seed = seed.data();
    EXPECT_EQ(LC_OK, lc_ml_dsa_key_new(&parts, &ml_dsa_)) << lc_last_error();
  } else {
    if (private_key.empty())
      private_key = SlhRunner(context, LC_CPU).make_key(set.number, slh_seeds(set.number, 5));
    slh_dsa_ = slh_key(set.number, private_key);
  }
  for (size_t n = 0; n < options.count; ++n) {
    messages.emplace_back(10 + 1000 * n, uint8_t(n));
    signatures.emplace_back(set.signature_bytes);
  }
  for (size_t n = 0; n < options.count; ++n) {
    const auto fill = [&](auto &message) {
      message.message = messages[n].data();
      message.message_bytes = messages[n].size();
      message.signature = signatures[n].data();
      message.signature_bytes = signatures[n].size();
    };
    fill(ml_dsa_messages_.emplace_back(lc_ml_dsa_message{}));
    fill(slh_dsa_messages_.emplace_back(lc_slh_dsa_message{}));
    ml_dsa_messages_.back().key = ml_dsa_;
    slh_dsa_messages_.back().key = slh_dsa_.get();
  }
}

LibrarySigner::~LibrarySigner() {
  free_key();
  lc_close(context);
}

void LibrarySigner::free_key() {
  lc_ml_dsa_key_free(ml_dsa_);
  ml_dsa_ = nullptr;
  slh_dsa_.reset();
}

lc_ml_dsa_job LibrarySigner::ml_dsa_job(lc_ml_dsa_operation operation) const {
  lc_ml_dsa_job job{};
  job.struct_size = sizeof job;
  job.operation = operation;
  job.device = operation == LC_ML_DSA_SIGN ? LC_ANY_DEVICE : LC_CPU;
  job.messages = ml_dsa_messages_.data();
  job.message_count = ml_dsa_messages_.size();
  job.message_size = sizeof(lc_ml_dsa_message);
  return job;
}

lc_slh_dsa_job LibrarySigner::slh_dsa_job(lc_slh_dsa_operation operation) const {
  lc_slh_dsa_job job{};
  job.struct_size = sizeof job;
  job.operation = operation;
  job.device = operation == LC_SLH_DSA_SIGN ? LC_ANY_DEVICE : LC_CPU;
  job.messages = slh_dsa_messages_.data();
  job.message_count = slh_dsa_messages_.size();
  job.message_size = sizeof(lc_slh_dsa_message);
  return job;
}

lc_status LibrarySigner::sign(bool is_deterministic, uint32_t device) {
  for (auto &signature : signatures) std::fill(signature.begin(), signature.end(), uint8_t{0xa5});
  const auto run = [&](auto job, auto function) {
    job.deterministic = is_deterministic ? 1 : 0;
    job.device = device;
    job.has_device = 1;
    return function(context, &job, &result);
  };
  return is_ml_dsa() ? run(ml_dsa_job(LC_ML_DSA_SIGN), lc_ml_dsa_run)
                     : run(slh_dsa_job(LC_SLH_DSA_SIGN), lc_slh_dsa_run);
}

lc_status LibrarySigner::submit(size_t message, const lc_completion *completion,
                                lc_ticket **ticket) {
  const auto start = [&](auto job, auto function) {
    job.messages += message;
    job.message_count = 1;
    return function(context, &job, completion, ticket);
  };
  return is_ml_dsa() ? start(ml_dsa_job(LC_ML_DSA_SIGN), lc_ml_dsa_submit)
                     : start(slh_dsa_job(LC_SLH_DSA_SIGN), lc_slh_dsa_submit);
}

bool LibrarySigner::are_right() const {
  std::vector<uint8_t> verdicts(signatures.size());
  const auto verify = [&](auto job, auto function) {
    job.verdicts = verdicts.data();
    return function(context, &job, nullptr);
  };
  const lc_status status = is_ml_dsa() ? verify(ml_dsa_job(LC_ML_DSA_VERIFY), lc_ml_dsa_run)
                                       : verify(slh_dsa_job(LC_SLH_DSA_VERIFY), lc_slh_dsa_run);
  return status == LC_OK &&
         std::all_of(verdicts.begin(), verdicts.end(), [](uint8_t one) { return one == 1; });
}

}  // namespace lanecrypt::service::test
