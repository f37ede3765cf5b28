/* Names of Lanecrypt 0.1 that have changed. <lanecrypt/lanecrypt.h> includes this. The names will
 * be removed in 0.3: use the new ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LANECRYPT_LANECRYPT_0_1_H
#define LANECRYPT_LANECRYPT_0_1_H

#include <stdint.h>

#include "lanecrypt/graph.h"
#include "lanecrypt/ml_dsa.h"
#include "lanecrypt/rsa.h"
#include "lanecrypt/slh_dsa.h"

#define LC_RENAMED(name) __attribute__((deprecated("renamed to " name)))

#ifdef __cplusplus
extern "C" {
#endif

typedef lc_graph_update lc_replays;
typedef lc_graph_job lc_captured;

LC_API lc_status lc_captured_free(lc_context *context, lc_graph_job *job)
    LC_RENAMED("lc_graph_job_free");
LC_API int lc_rsa_device_is_sooner(lc_context *context, uint32_t bits, uint32_t in_line)
    LC_RENAMED("lc_rsa_prefers_device");
LC_API void lc_rsa_ran_on_cpu(lc_context *context, uint32_t bits, uint64_t nanoseconds)
    LC_RENAMED("lc_rsa_report_cpu_time");
LC_API int lc_rsa_generation_is_sooner(lc_context *context, uint32_t bits)
    LC_RENAMED("lc_rsa_generation_prefers_device");
LC_API int lc_slh_dsa_device_is_sooner(lc_context *context, lc_slh_dsa_set set,
                                       lc_slh_dsa_operation operation, uint32_t in_line)
    LC_RENAMED("lc_slh_dsa_prefers_device");
LC_API void lc_slh_dsa_ran_on_cpu(lc_context *context, lc_slh_dsa_set set,
                                  lc_slh_dsa_operation operation, uint64_t nanoseconds)
    LC_RENAMED("lc_slh_dsa_report_cpu_time");
LC_API int lc_ml_dsa_device_is_sooner(lc_context *context, lc_ml_dsa_set set, uint32_t in_line)
    LC_RENAMED("lc_ml_dsa_prefers_device");
LC_API void lc_ml_dsa_ran_on_cpu(lc_context *context, lc_ml_dsa_set set, uint64_t nanoseconds)
    LC_RENAMED("lc_ml_dsa_report_cpu_time");

#ifdef __cplusplus
}
#endif

#endif
