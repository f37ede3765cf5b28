// CCM. The whole text of a message comes in one request. What the program sets before it goes to
// OpenSSL's context, and a copy is kept here. When a device has processed the text, OpenSSL's
// context processes an empty message instead, which leaves it in the state that the text would
// have. Requests that OpenSSL's context would refuse, or process in a special way, go to that
// context.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/ccm.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/proverr.h>

#include <climits>
#include <cstring>

#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

// The nonce and the length field together take 15 bytes (SP 800-38C, appendix A.2.1).
constexpr size_t kNonceAndLengthBytes = 15;

// may_want_device() says whether a device may get a message at all. A message is one chain, which a
// device processes slowly: see place_of().
bool may_want_device(const CipherContext &context) {
  const Settings &settings = context.provider->settings;
  return settings.require_gpu || settings.threshold_bytes == 0;
}

void drop_aad(CcmState &ccm) {
  OPENSSL_clear_free(ccm.aad, ccm.aad_bytes);
  ccm.aad = nullptr;
  ccm.aad_bytes = 0;
}

bool ask_lengths(CipherContext &context, size_t *iv_bytes, size_t *tag_bytes) {
  OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_AEAD_IVLEN, OSSL_PARAM_UNSIGNED_INTEGER, iv_bytes,
                          sizeof *iv_bytes, OSSL_PARAM_UNMODIFIED},
                         {OSSL_CIPHER_PARAM_AEAD_TAGLEN, OSSL_PARAM_UNSIGNED_INTEGER, tag_bytes,
                          sizeof *tag_bytes, OSSL_PARAM_UNMODIFIED},
                         OSSL_PARAM_END};
  return context.fallback.get_params(params);
}

bool on_openssl(CipherContext &context, uint8_t *out, size_t *out_bytes, const uint8_t *in,
                size_t in_bytes, Call call) {
  if (in_bytes > INT_MAX) {
    ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
    return false;
  }
  if (in != nullptr && in_bytes > 0) context.provider->counters.count_cpu(in_bytes);
  *out_bytes = 0;
  return call == Call::kAtOnce ? context.fallback.at_once(out, out_bytes, in, in_bytes)
                               : context.fallback.update(out, out_bytes, in, in_bytes);
}

void note_length(CcmState &ccm, uint64_t length) {
  ccm.length_set = ccm.is_fresh = true;
  ccm.length = length;
  drop_aad(ccm);
}

void note_aad(CipherContext &context, const uint8_t *aad, size_t bytes) {
  CcmState &ccm = context.ccm;
  context.aead.tag_is_ours = false;
  if (!ccm.is_fresh || !may_want_device(context)) return;
  // With more additional data, OpenSSL's context begins again, in its own way.
  const bool is_first = ccm.aad == nullptr;
  if (is_first) ccm.aad = static_cast<uint8_t *>(OPENSSL_zalloc(bytes));
  if (!is_first || ccm.aad == nullptr) {
    ccm.is_fresh = false;
    return;
  }
  std::memcpy(ccm.aad, aad, bytes);
  ccm.aad_bytes = bytes;
}

// note_text() notes that OpenSSL's context has been given the text.
void note_text(CipherContext &context, bool was_taken) {
  // Without an IV it did not reach the tag of the previous message.
  if (was_taken || context.ccm.iv_set) context.aead.tag_is_ours = false;
  if (!was_taken) {
    lose_ccm(context);
  } else if (!context.encrypting) {
    note_ccm_end(context);
  } else {
    context.ccm.length_set = context.ccm.has_tag = true;
    context.ccm.is_fresh = false;
    drop_aad(context.ccm);
  }
}

// is_refused() says whether OpenSSL's context would refuse any text of this length.
bool is_refused(const CipherContext &context, size_t iv_bytes, size_t text_bytes) {
  const CcmState &ccm = context.ccm;
  const size_t length_bits = 8 * (kNonceAndLengthBytes - iv_bytes);
  return !ccm.iv_set || (!context.encrypting && context.aead.wanted_tag_bytes == 0) ||
         (length_bits < 64 && uint64_t{text_bytes} >> length_bits != 0) ||
         (ccm.is_fresh && ccm.length != text_bytes);
}

// what_hinders() returns the reason why a message must stay with OpenSSL's own implementation, or
// nullptr if it may go to a device.
const char *what_hinders(const CipherContext &context, size_t iv_bytes, size_t tag_bytes,
                         const uint8_t *out, const uint8_t *in, size_t in_bytes) {
  const CcmState &ccm = context.ccm;
  if (ccm.is_lost) return "a call failed, and no key came after it";
  // OpenSSL chooses its code when the key is set, and computes another tag in this case.
  if (context.encrypting != context.key_was_set_encrypting)
    return "the direction was changed without a key";
  if (iv_bytes != ccm.key_iv_bytes || tag_bytes != ccm.key_tag_bytes)
    return "the length of its IV or tag came after its key";
  if (!context.encrypting && tag_bytes != context.aead.wanted_tag_bytes)
    return "its tag has another length than was said";
  if (ccm.length_set && !ccm.is_fresh) return "its length came before its IV or key";
  if (out != in && out < in + in_bytes && in < out + in_bytes)
    return "its input and output overlap in part";
  return nullptr;
}

// do_nothing() processes an empty message under the IV that the context has.
bool do_nothing(FallbackContext &context) {
  uint8_t nothing[16] = {};
  size_t bytes = 0;
  return context.update(nullptr, &bytes, nullptr, 0) && context.update(nothing, &bytes, nothing, 0);
}

// end_decryption() leaves the context in the state after a successful decryption: it encrypts an
// empty message and reads the tag.
bool end_decryption(FallbackContext &context, size_t tag_bytes) {
  uint8_t tag[16];
  OSSL_PARAM params[] = {
      {OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, tag, tag_bytes, OSSL_PARAM_UNMODIFIED},
      OSSL_PARAM_END};
  const bool ok = context.init(nullptr, 0, nullptr, 0, true) && do_nothing(context) &&
                  context.get_params(params) && context.init(nullptr, 0, nullptr, 0, false);
  OPENSSL_cleanse(tag, sizeof tag);
  return ok;
}

OffloadResult run_text(CipherContext &context, uint32_t device, uint8_t *out, const uint8_t *in,
                       size_t bytes, size_t iv_bytes, size_t tag_bytes) {
  uint8_t tag[16] = {};
  lc_message message{};
  message.key = context.key;
  message.iv = context.aead.iv;
  message.in = in;
  message.out = out;
  message.length = bytes;
  message.aad = context.ccm.aad;
  message.aad_length = context.ccm.aad_bytes;
  message.tag = context.encrypting ? tag : context.aead.wanted_tag;
  OffloadResult bulk = run_on_device(context, device, context.algorithm().cipher, message,
                                     uint32_t(iv_bytes), uint32_t(tag_bytes));
  if (bulk == OffloadResult::kDone) {
    const bool follows = context.encrypting ? do_nothing(context.fallback)
                                            : end_decryption(context.fallback, tag_bytes);
    if (follows) {
      note_text(context, true);
      context.aead.tag_is_ours = context.encrypting;
      std::memcpy(context.aead.tag, tag, sizeof tag);
    } else {
      bulk = OffloadResult::kFailed;
      OPENSSL_cleanse(out, bytes);
      lose_ccm(context);
    }
  }
  OPENSSL_cleanse(tag, sizeof tag);
  return bulk;
}

// refuse_tag() has OpenSSL's context refuse the tag too, with a message without text, so that the
// errors are OpenSSL's.
int refuse_tag(CipherContext &context, Call call) {
  uint8_t nothing[16] = {};
  size_t written = 0;
  size_t bytes = 0;
  lose_ccm(context);
  if (context.fallback.update(nullptr, &bytes, nullptr, 0) &&
      on_openssl(context, nothing, &written, nothing, 0, call))
    ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
  return 0;
}

int update_text(CipherContext &context, uint8_t *out, size_t *out_bytes, const uint8_t *in,
                size_t in_bytes, Call call) {
  size_t iv_bytes = 0, tag_bytes = 0;
  const Placement place = place_of(context, out, in, in_bytes);
  if (place.choice == LC_CHOICE_DEVICE && ask_lengths(context, &iv_bytes, &tag_bytes) &&
      !is_refused(context, iv_bytes, in_bytes)) {
    const char *hindrance = what_hinders(context, iv_bytes, tag_bytes, out, in, in_bytes);
    if (hindrance == nullptr) {
      switch (run_text(context, place.device, out, in, in_bytes, iv_bytes, tag_bytes)) {
        case OffloadResult::kDone:
          *out_bytes = in_bytes;
          return 1;
        case OffloadResult::kNotTaken:
          break;
        case OffloadResult::kFailed:
        case OffloadResult::kRefused:
          return 0;
        case OffloadResult::kWrongTag:
          return refuse_tag(context, call);
      }
    } else if (do_without_device(*context.provider, hindrance) == OffloadResult::kFailed) {
      return 0;
    }
  }
  const bool done = on_openssl(context, out, out_bytes, in, in_bytes, call);
  note_text(context, done);
  return done ? 1 : 0;
}

}  // namespace

bool copy_ccm(const CipherContext &context, CipherContext &copy) {
  copy.ccm.aad = nullptr;
  if (context.ccm.aad == nullptr) return true;
  copy.ccm.aad = static_cast<uint8_t *>(OPENSSL_zalloc(context.ccm.aad_bytes));
  if (copy.ccm.aad == nullptr) return refuse_without_memory();
  std::memcpy(copy.ccm.aad, context.ccm.aad, context.ccm.aad_bytes);
  return true;
}

void free_ccm(CipherContext &context) { drop_aad(context.ccm); }

void note_ccm_key(CipherContext &context) {
  CcmState &ccm = context.ccm;
  ccm.key_iv_bytes = ccm.key_tag_bytes = 0;
  if (may_want_device(context)) (void)ask_lengths(context, &ccm.key_iv_bytes, &ccm.key_tag_bytes);
}

void begin_ccm(CipherContext &context, bool key, bool iv) {
  CcmState &ccm = context.ccm;
  ccm.iv_set |= iv;
  ccm.is_fresh = false;
  if (key) ccm.is_lost = false;
  drop_aad(ccm);
}

void lose_ccm(CipherContext &context) {
  CcmState &ccm = context.ccm;
  ccm.is_lost = true;
  ccm.has_tag = false;
  // It may have a length. Which one it has is known only after the next one is set.
  ccm.length_set = true;
  ccm.is_fresh = false;
  context.aead.wanted_tag_bytes = 0;
  drop_aad(ccm);
}

void note_ccm_end(CipherContext &context) {
  CcmState &ccm = context.ccm;
  ccm.iv_set = ccm.length_set = ccm.has_tag = ccm.is_fresh = false;
  context.aead.wanted_tag_bytes = 0;
  drop_aad(ccm);
}

void finish_ccm(CipherContext &context) {
  if (context.ccm.iv_set && !(context.encrypting && context.ccm.has_tag)) lose_ccm(context);
}

int update_ccm(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
               const uint8_t *in, size_t in_bytes, Call call) {
  if (out_size < in_bytes) {
    ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    return 0;
  }
  if (out != nullptr && in != nullptr && !context.aead.openssl_only)
    return update_text(context, out, out_bytes, in, in_bytes, call);
  const bool done = on_openssl(context, out, out_bytes, in, in_bytes, call);
  if (in == nullptr && call == Call::kAtOnce)
    finish_ccm(context);
  else if (done && out == nullptr && in == nullptr)
    note_length(context.ccm, in_bytes);
  else if (done && out == nullptr && in_bytes > 0)
    note_aad(context, in, in_bytes);
  return done ? 1 : 0;
}

}  // namespace lanecrypt::provider
