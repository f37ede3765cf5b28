// Runs bulk data on a device or on several cores, and updates the state of the stream after it.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "job/cipher/counter.h"
#include "job/cipher/stealing.h"
#include "provider/cipher/cipher.h"
#include "provider/cipher/stream_position.h"
#include "provider/device_health.h"

namespace lanecrypt::provider {
namespace {

// ask_stealing() queries OpenSSL's context for the variant of ciphertext stealing that the program
// has set.
bool ask_stealing(CipherContext &context, lc_cipher *cipher) {
  char name[8] = "";
  OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_CTS_MODE, OSSL_PARAM_UTF8_STRING, name, sizeof name,
                          OSSL_PARAM_UNMODIFIED},
                         OSSL_PARAM_END};
  if (!context.fallback.get_params(params)) return false;
  for (const CipherInfo &info : kCipherInfos)
    if (info.openssl_cts != nullptr && std::strcmp(info.openssl_cts, name) == 0) {
      *cipher = info.cipher;
      return true;
    }
  return false;
}

// last_block_at() returns the offset of the last whole ciphertext block in a message with
// ciphertext stealing.
size_t last_block_at(lc_cipher cipher, size_t bytes) {
  const StealingEnd end = stealing_end(cipher, bytes);
  return bytes - kBlockBytes - (end.is_swapped ? end.part_bytes : 0);
}

// give_up_devices() stops the use of devices, and keeps the reason for requests that require one.
void give_up_devices(Provider &provider, const char *why) {
  char *reason = strdup(why);
  char *before = nullptr;
  if (reason != nullptr && !provider.no_device.compare_exchange_strong(before, reason))
    std::free(reason);
}

lc_cipher_job job_of(const CipherContext &context, lc_cipher cipher, const lc_message &message,
                     uint32_t device) {
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = cipher;
  job.direction = context.encrypting ? LC_ENCRYPT : LC_DECRYPT;
  job.key_bytes = context.algorithm().key_bytes;
  job.memory = LC_MEMORY_HOST;
  job.device = device;
  job.has_device = 1;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  return job;
}

// run_on_cores() has the library process `message` on several cores: that is what LC_CPU means as
// the device of a job. LC_CHOICE_CPU, in contrast, means OpenSSL on the caller's core.
OffloadResult run_on_cores(CipherContext &context, lc_cipher cipher, const lc_message &message) {
  lc_context *const library = context.provider->devices();
  if (library == nullptr) return OffloadResult::kNotTaken;
  const lc_cipher_job job = job_of(context, cipher, message, LC_CPU);
  const lc_status status = lc_run(library, &job, nullptr);
  if (status == LC_OK) {
    context.provider->counters.count_cores(message.length);
    return OffloadResult::kDone;
  }
  // As for a device: either no thread could be started and nothing was begun, or there was no
  // memory, or exit() was called.
  if (message.out != message.in || status == LC_ERROR_NO_DEVICE) return OffloadResult::kNotTaken;
  ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
  return OffloadResult::kFailed;
}

// repeat_block() has OpenSSL's context process a block that was processed elsewhere. When OpenSSL
// does CTR block by block, it keeps the keystream of the last block, to which a program may return
// by the parameter num.
bool repeat_block(CipherContext &context, const uint8_t in[kBlockBytes]) {
  uint8_t out[kBlockBytes];
  size_t bytes = 0;
  const bool done = context.fallback.update(out, &bytes, in, kBlockBytes);
  OPENSSL_cleanse(out, sizeof out);
  return done;
}

// SecretBlock is wiped by its destructor.
struct SecretBlock {
  uint8_t bytes[kBlockBytes] = {};
  ~SecretBlock() { OPENSSL_cleanse(bytes, sizeof bytes); }
};

// note_that_others_took_over() notes that another device or the library's CPU code did the work of
// a device. `a_device_failed`: a device had accepted the work and could not do all of it.
void note_that_others_took_over(Provider &provider, bool a_device_failed, bool device_did_a_part) {
  // It is no failure if there is no device at all, or none that does such a request.
  const DeviceHealth health = check_device_health(provider);
  if (a_device_failed && (device_did_a_part || health.usable + health.lost > 0))
    provider.counters.count(Count::kFailures);
  if (health.usable == 0) give_up_devices(provider, "no usable device");
}

}  // namespace

OffloadResult do_without_device(Provider &provider, const char *why) {
  if (!provider.settings.require_gpu) return OffloadResult::kNotTaken;
  provider.counters.count(Count::kFailures);
  provider.errors.raise(Reason::kDeviceRequired, why);
  return OffloadResult::kFailed;
}

OffloadResult run_on_device(CipherContext &context, uint32_t device, lc_cipher cipher,
                            const lc_message &message, uint32_t iv_bytes, uint32_t tag_bytes) {
  Provider &provider = *context.provider;
  const char *why_none = provider.no_device.load(std::memory_order_acquire);
  if (why_none == nullptr && !provider.may_use_devices()) why_none = kSandboxed;
  if (why_none == nullptr) why_none = provider.why_no_devices(nullptr);
  if (why_none != nullptr) return do_without_device(provider, why_none);

  lc_context *const library = provider.devices();
  lc_cipher_job job = job_of(context, cipher, message, device);
  job.iv_bytes = iv_bytes;
  job.tag_bytes = tag_bytes;
  lc_result result{};
  result.struct_size = sizeof result;
  provider.asked_devices.store(true, std::memory_order_relaxed);
  const lc_status status = lc_run(library, &job, &result);

  if (status != LC_OK && status != LC_ERROR_TAG) {
    // The text of lc_last_error() is valid only until this thread's next call.
    char why[320];
    std::strncpy(why, lc_last_error(), sizeof why - 1);
    why[sizeof why - 1] = '\0';
    (void)check_device_health(provider);
    if (status == LC_ERROR_NO_DEVICE) give_up_devices(provider, why);
    if (provider.settings.require_gpu) return do_without_device(provider, why);
    if (status != LC_ERROR_NO_DEVICE) provider.counters.count(Count::kFailures);
    // Input that was partly overwritten is lost. Input that is separate from the output is intact.
    if (message.out != message.in || status == LC_ERROR_NO_DEVICE) return OffloadResult::kNotTaken;
    provider.errors.raise(Reason::kDeviceFailed, why);
    return OffloadResult::kFailed;
  }

  if (result.cpu_bytes > 0 || result.failed_devices > 0)
    note_that_others_took_over(provider, result.failed_devices > 0, result.device_bytes > 0);
  if (result.device_bytes > 0)
    provider.counters.count_device(result.device_bytes, result.cpu_bytes);
  else
    provider.counters.count_cpu(result.cpu_bytes);
  return status == LC_OK ? OffloadResult::kDone : OffloadResult::kWrongTag;
}

OffloadResult run_bulk(CipherContext &context, const Placement &place,
                       const uint8_t iv[kBlockBytes], uint8_t *out, const uint8_t *in,
                       size_t bytes) {
  const Algorithm &algorithm = context.algorithm();
  // The IV after the bulk. Input that in-place processing overwrites must be read now.
  uint8_t next_iv[kBlockBytes] = {};
  SecretBlock last_in;
  const Continuation continuation = algorithm.traits().continuation;
  if (continuation == Continuation::kCounter) {
    // The counter of the last block, which OpenSSL's context processes again.
    std::memcpy(next_iv, iv, kBlockBytes);
    advance_counter(next_iv, bytes / kBlockBytes - 1);
  }
  lc_cipher cipher = algorithm.cipher;
  const uint8_t *last_block_in = in + bytes - std::min(bytes, kBlockBytes);
  if (algorithm.traits().mode == Mode::kXtsGb && context.is_ieee_xts)
    cipher = another_mode(cipher, Mode::kXts);
  if (algorithm.traits().steals()) {
    if (!ask_stealing(context, &cipher)) return OffloadResult::kNotTaken;
    last_block_in = in + last_block_at(cipher, bytes);
  }
  if (bytes >= kBlockBytes) std::memcpy(last_in.bytes, last_block_in, kBlockBytes);

  lc_message message{};
  message.key = context.key;
  message.iv = iv;
  message.in = in;
  message.out = out;
  message.length = bytes;
  const OffloadResult bulk = place.choice == LC_CHOICE_CORES
                                 ? run_on_cores(context, cipher, message)
                                 : run_on_device(context, place.device, cipher, message, 0);
  if (bulk != OffloadResult::kDone) return bulk;

  if (algorithm.has_data_units()) return OffloadResult::kDone;
  const uint8_t *last_out = out + (last_block_in - in);
  if (continuation == Continuation::kCiphertext)
    std::memcpy(next_iv, context.encrypting ? last_out : last_in.bytes, kBlockBytes);
  if (continuation == Continuation::kKeystream)
    for (size_t at = 0; at < kBlockBytes; ++at) next_iv[at] = last_in.bytes[at] ^ last_out[at];
  if (!set_behind(context, iv, bytes, next_iv)) return OffloadResult::kFailed;
  const bool is_whole =
      continuation != Continuation::kCounter || repeat_block(context, last_in.bytes);
  return is_whole ? OffloadResult::kDone : OffloadResult::kFailed;
}

}  // namespace lanecrypt::provider
