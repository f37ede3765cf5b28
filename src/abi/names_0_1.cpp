// The functions that were renamed after 0.1, under their old names, so that old programs load.
//
// SPDX-License-Identifier: Apache-2.0
#include "lanecrypt/lanecrypt.h"

lc_status lc_captured_free(lc_context *context, lc_graph_job *job) {
  return lc_graph_job_free(context, job);
}

int lc_rsa_device_is_sooner(lc_context *context, uint32_t bits, uint32_t in_line) {
  return lc_rsa_prefers_device(context, bits, in_line);
}

void lc_rsa_ran_on_cpu(lc_context *context, uint32_t bits, uint64_t nanoseconds) {
  lc_rsa_report_cpu_time(context, bits, nanoseconds);
}

int lc_rsa_generation_is_sooner(lc_context *context, uint32_t bits) {
  return lc_rsa_generation_prefers_device(context, bits);
}

int lc_slh_dsa_device_is_sooner(lc_context *context, lc_slh_dsa_set set,
                                lc_slh_dsa_operation operation, uint32_t in_line) {
  return lc_slh_dsa_prefers_device(context, set, operation, in_line);
}

void lc_slh_dsa_ran_on_cpu(lc_context *context, lc_slh_dsa_set set, lc_slh_dsa_operation operation,
                           uint64_t nanoseconds) {
  lc_slh_dsa_report_cpu_time(context, set, operation, nanoseconds);
}

int lc_ml_dsa_device_is_sooner(lc_context *context, lc_ml_dsa_set set, uint32_t in_line) {
  return lc_ml_dsa_prefers_device(context, set, in_line);
}

void lc_ml_dsa_ran_on_cpu(lc_context *context, lc_ml_dsa_set set, uint64_t nanoseconds) {
  lc_ml_dsa_report_cpu_time(context, set, nanoseconds);
}
