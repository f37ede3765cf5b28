// The functions of liblanecrypt that the provider calls:
// F(result, value without the library, name, parameters, arguments)
//
// No include guard: each including file defines F first.
//
// SPDX-License-Identifier: Apache-2.0

F(const char *, "", lc_version, (void), ())
F(const char *, "liblanecrypt cannot be loaded", lc_last_error, (void), ())
F(lc_status, LC_ERROR_NO_DEVICE, lc_open, (const lc_options *options, lc_context **context),
  (options, context))
F(void, , lc_close, (lc_context * context), (context))
F(lc_status, LC_ERROR_NO_DEVICE, lc_device_count, (lc_context * context, uint32_t *count),
  (context, count))
F(lc_status, LC_ERROR_NO_DEVICE, lc_device_get,
  (lc_context * context, uint32_t index, lc_device_info *info), (context, index, info))
F(lc_status, LC_ERROR_NO_DEVICE, lc_counters_get,
  (lc_context * context, uint32_t index, lc_counters *counters), (context, index, counters))
F(lc_choice, LC_CHOICE_CPU, lc_cipher_place,
  (lc_context * context, const lc_cipher_question *question, uint32_t *device),
  (context, question, device))
F(lc_status, LC_ERROR_NO_DEVICE, lc_run,
  (lc_context * context, const lc_cipher_job *job, lc_result *result), (context, job, result))
F(lc_status, LC_ERROR_NO_DEVICE, lc_ticket_result, (const lc_ticket *ticket, lc_result *result),
  (ticket, result))
F(void, , lc_ticket_free, (lc_ticket * ticket), (ticket))
F(lc_status, LC_ERROR_NO_DEVICE, lc_rsa_key_new, (const lc_rsa_parts *parts, lc_rsa_key **key),
  (parts, key))
F(void, , lc_rsa_key_free, (lc_rsa_key * key), (key))
F(lc_status, LC_ERROR_NO_DEVICE, lc_rsa_run,
  (lc_context * context, const lc_rsa_job *job, lc_result *result), (context, job, result))
F(lc_status, LC_ERROR_NO_DEVICE, lc_rsa_submit,
  (lc_context * context, const lc_rsa_job *job, const lc_completion *completion,
   lc_ticket **ticket),
  (context, job, completion, ticket))
F(int, 0, lc_rsa_device_is_sooner, (lc_context * context, uint32_t bits, uint32_t in_line),
  (context, bits, in_line))
F(void, , lc_rsa_ran_on_cpu, (lc_context * context, uint32_t bits, uint64_t nanoseconds),
  (context, bits, nanoseconds))
F(size_t, 0, lc_ml_dsa_bytes, (lc_ml_dsa_set set, lc_ml_dsa_part part), (set, part))
F(lc_status, LC_ERROR_NO_DEVICE, lc_ml_dsa_key_new,
  (const lc_ml_dsa_parts *parts, lc_ml_dsa_key **key), (parts, key))
F(void, , lc_ml_dsa_key_free, (lc_ml_dsa_key * key), (key))
F(lc_status, LC_ERROR_NO_DEVICE, lc_ml_dsa_run,
  (lc_context * context, const lc_ml_dsa_job *job, lc_result *result), (context, job, result))
F(lc_status, LC_ERROR_NO_DEVICE, lc_ml_dsa_submit,
  (lc_context * context, const lc_ml_dsa_job *job, const lc_completion *completion,
   lc_ticket **ticket),
  (context, job, completion, ticket))
F(int, 0, lc_ml_dsa_device_is_sooner, (lc_context * context, lc_ml_dsa_set set, uint32_t in_line),
  (context, set, in_line))
F(void, , lc_ml_dsa_ran_on_cpu, (lc_context * context, lc_ml_dsa_set set, uint64_t nanoseconds),
  (context, set, nanoseconds))
F(lc_status, LC_ERROR_NO_DEVICE, lc_slh_dsa_key_new,
  (const lc_slh_dsa_parts *parts, lc_slh_dsa_key **key), (parts, key))
F(void, , lc_slh_dsa_key_free, (lc_slh_dsa_key * key), (key))
F(lc_status, LC_ERROR_NO_DEVICE, lc_slh_dsa_run,
  (lc_context * context, const lc_slh_dsa_job *job, lc_result *result), (context, job, result))
F(lc_status, LC_ERROR_NO_DEVICE, lc_slh_dsa_submit,
  (lc_context * context, const lc_slh_dsa_job *job, const lc_completion *completion,
   lc_ticket **ticket),
  (context, job, completion, ticket))
F(lc_status, LC_ERROR_NO_DEVICE, lc_slh_dsa_generate,
  (lc_context * context, const lc_slh_dsa_generation *generation, lc_result *result),
  (context, generation, result))
F(lc_status, LC_ERROR_NO_DEVICE, lc_slh_dsa_submit_generation,
  (lc_context * context, const lc_slh_dsa_generation *generation, const lc_completion *completion,
   lc_ticket **ticket),
  (context, generation, completion, ticket))
F(int, 0, lc_slh_dsa_device_is_sooner,
  (lc_context * context, lc_slh_dsa_set set, lc_slh_dsa_operation operation, uint32_t in_line),
  (context, set, operation, in_line))
F(void, , lc_slh_dsa_ran_on_cpu,
  (lc_context * context, lc_slh_dsa_set set, lc_slh_dsa_operation operation, uint64_t nanoseconds),
  (context, set, operation, nanoseconds))
F(lc_status, LC_ERROR_NO_DEVICE, lc_rsa_generate,
  (lc_context * context, const lc_rsa_generation *generation, lc_result *result),
  (context, generation, result))
F(int, 0, lc_rsa_generation_is_sooner, (lc_context * context, uint32_t bits), (context, bits))
