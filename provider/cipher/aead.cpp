// GCM and ChaCha20-Poly1305. CCM, which takes its text in one piece, is in ccm.cpp.
// A message stays with OpenSSL's context until its first large request. From then on it is an
// AeadMessage. OpenSSL's context continues to answer parameter queries, and is finished when the
// message is. That context has not processed the text and would start again at the first counter,
// which would reuse keystream. So while there is an AeadMessage, no data go to that context.
// An AeadMessage that has ended stays in place and refuses all data. It is freed only when
// OpenSSL's context has begun another message.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/aead.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <cstring>

#include "provider/cipher/aead_message.h"
#include "provider/cipher/ccm.h"
#include "provider/find_param.h"

namespace lanecrypt::provider {
namespace {

bool is_gcm(const CipherContext &context) { return context.algorithm().is_gcm(); }

// drop_message() frees the AeadMessage after OpenSSL's context has begun another message, all of
// which that context has.
void drop_message(CipherContext &context) {
  free_message(context.aead.message);
  context.aead.message = nullptr;
}

// is_ended() says whether data are refused until there is a new IV.
bool is_ended(const CipherContext &context) {
  return context.aead.message != nullptr && context.aead.message->is_over;
}

void end_message(CipherContext &context) {
  if (context.aead.message != nullptr) end_message(*context.aead.message);
}

int raise_failed() {
  ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
  return 0;
}

int raise_too_small() {
  ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
  return 0;
}

// tells_tag() says whether a decrypting context of this version of OpenSSL reveals its tag when it
// is switched to encryption. The first call tries it on a message with a known tag.
bool tells_tag(CipherContext &context) {
  std::atomic<int> &known = context.provider->tells_tag[is_gcm(context) ? 0 : 1];
  if (known == 0) known = decryption_tells_tag(*context.provider, context.index) ? 1 : -1;
  return known > 0;
}

// what_hinders() returns the reason why a message must stay with OpenSSL's own implementation, or
// nullptr if it may go to a device.
const char *what_hinders(CipherContext &context) {
  if (context.aead.openssl_only) return "its IV or its record is TLS's";
  if (!context.iv_set || context.aead.is_over) return "it has no IV of its own";
  if (context.aead.message == nullptr && !context.encrypting && !tells_tag(context))
    return "OpenSSL does not tell the hash of what it has decrypted";
  return nullptr;
}

// feed_openssl() gives data to OpenSSL's context. It fails once a device has processed a part of
// the message.
bool feed_openssl(CipherContext &context, uint8_t *out, size_t *out_bytes, const uint8_t *in,
                  size_t in_bytes) {
  if (context.aead.message != nullptr) return raise_failed() != 0;
  if (!feed(context, out, out_bytes, in, in_bytes)) return false;
  (out == nullptr ? context.aead.aad_bytes : context.aead.text_bytes) += in_bytes;
  return true;
}

bool on_cpu(CipherContext &context, uint8_t *out, const uint8_t *in, size_t bytes) {
  size_t written = 0;
  if (context.aead.message == nullptr) return feed_openssl(context, out, &written, in, bytes);
  if (update_message(*context.aead.message, context.encrypting, out, in, bytes)) return true;
  end_message(context);
  return raise_failed() != 0;
}

// refuse_length() refuses text that is longer than its IV allows. None of the text is processed,
// and the message gets no tag. OpenSSL's context would detect this too late, or, for
// ChaCha20-Poly1305, never.
[[gnu::cold]] int refuse_length(CipherContext &context) {
  if (context.aead.message == nullptr)
    context.aead.message = new_ended_message();
  else
    end_message(context);
  return raise_failed();
}

bool may_take(const CipherContext &context, size_t bytes) {
  const uint64_t before =
      context.aead.message != nullptr ? context.aead.message->text_bytes : context.aead.text_bytes;
  return has_room(context.algorithm(), before, bytes);
}

// run_part() processes `bytes` of text on the device: a number of whole units that starts at a unit
// boundary of the message. The first call makes the message an AeadMessage.
OffloadResult run_part(CipherContext &context, uint32_t device, uint8_t *out, const uint8_t *in,
                       size_t bytes) {
  AeadMessage *message = context.aead.message;
  if (message == nullptr) message = take_over_message(context);
  if (message == nullptr) return OffloadResult::kNotTaken;
  lc_aead_part part{};
  OffloadResult bulk = OffloadResult::kFailed;
  if (sum_up(*message)) {
    part.text_before = message->text_bytes;
    std::memcpy(part.sum, message->sum, sizeof part.sum);
    lc_message piece{};
    piece.key = message->key;
    piece.iv = message->iv;
    piece.in = in;
    piece.out = out;
    piece.length = bytes;
    piece.part = &part;
    bulk = run_on_device(context, device, context.algorithm().cipher, piece,
                         uint32_t(message->iv_bytes));
  } else {
    raise_failed();
  }
  if (bulk == OffloadResult::kNotTaken && context.aead.message == nullptr) {
    free_message(message);
    return bulk;
  }
  context.aead.message = message;
  if (bulk == OffloadResult::kDone) {
    std::memcpy(message->sum, part.sum, sizeof part.sum);
    message->text_bytes += bytes;
    message->summed_bytes = message->text_bytes;
  } else if (bulk != OffloadResult::kNotTaken) {
    end_message(context);  // some of the text may have been given out
  }
  OPENSSL_cleanse(&part, sizeof part);
  return bulk;
}

int update_text(CipherContext &context, const Placement &place, uint8_t *out, size_t *out_bytes,
                const uint8_t *in, size_t in_bytes) {
  size_t head = 0, bulk = 0, done = 0;
  if (!may_take(context, in_bytes)) return refuse_length(context);
  if (place.choice == LC_CHOICE_DEVICE) {
    const unsigned unit = context.algorithm().unit_bytes();
    const uint64_t before = context.aead.message != nullptr ? context.aead.message->text_bytes
                                                            : context.aead.text_bytes;
    head = size_t((unit - before % unit) % unit);
    bulk = in_bytes > head ? (in_bytes - head) / unit * unit : 0;
  }
  bool ran = false;
  if (bulk > 0) {
    const char *hindrance = what_hinders(context);
    if (hindrance == nullptr && out != in && out < in + in_bytes && in < out + in_bytes)
      hindrance = "its input and output overlap in part";
    if (hindrance == nullptr) {
      if (head > 0 && !on_cpu(context, out, in, head)) return 0;
      done = head;
      switch (run_part(context, place.device, out + head, in + head, bulk)) {
        case OffloadResult::kDone:
          done += bulk;
          ran = true;
          break;
        case OffloadResult::kNotTaken:
          break;
        case OffloadResult::kFailed:
        case OffloadResult::kRefused:
        case OffloadResult::kWrongTag:  // a part has no tag
          return 0;
      }
    } else if (do_without_device(*context.provider, hindrance) == OffloadResult::kFailed) {
      return 0;
    }
  }
  if (!ran)
    context.provider->counters.count_cpu(in_bytes);
  else if (in_bytes > bulk)
    context.provider->counters.count(Count::kCpuBytes, in_bytes - bulk);
  if (done < in_bytes && !on_cpu(context, out + done, in + done, in_bytes - done)) return 0;
  *out_bytes = in_bytes;
  return 1;
}

// begin() notes that OpenSSL's context is about to get this key and IV. Either may be nullptr.
inline void begin(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                  size_t iv_bytes) {
  if (key == nullptr && iv == nullptr) return;
  const bool has_begun =
      context.aead.message != nullptr || context.aead.aad_bytes + context.aead.text_bytes > 0;
  context.aead.aad_bytes = context.aead.text_bytes = 0;
  if (context.algorithm().is_ccm()) begin_ccm(context, key != nullptr, iv != nullptr);
  if (iv != nullptr && iv_bytes <= sizeof context.aead.iv) {
    // The usual length is a constant here, so that the compiler copies it without a call.
    if (iv_bytes == 12)
      std::memcpy(context.aead.iv, iv, 12);
    else
      std::memcpy(context.aead.iv, iv, iv_bytes);
    context.aead.iv_bytes = iv_bytes;
    context.aead.is_over = false;
  } else if (is_gcm(context) && has_begun) {
    // Without a new IV, OpenSSL's GCM context has no counter now.
    context.aead.is_over = true;
  }
  if (iv != nullptr) context.iv_set = true;
  if (key != nullptr) context.set_key(key, key_bytes);
}

// has_key() says whether OpenSSL's context already has this key, so that a new IV alone begins a
// message. Many programs set the key with each message, and the key expansion of GCM takes longer
// than the encryption of a short message. The comparison takes constant time.
bool has_key(const CipherContext &context, const uint8_t *key, size_t bytes) {
  if (key == nullptr || !context.key_set || !is_gcm(context) || context.aead.openssl_only)
    return false;
  uint64_t difference = 0;
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t ours, theirs;
    std::memcpy(&ours, context.key + at, sizeof ours);
    std::memcpy(&theirs, key + at, sizeof theirs);
    difference |= ours ^ theirs;
  }
  return difference == 0;
}

// lose() handles that OpenSSL's context has refused a key or an IV, but may have accepted the other
// one. Devices get nothing until both are set again.
[[gnu::cold]] int lose(CipherContext &context) {
  end_message(context);
  context.key_set = context.iv_set = false;
  context.aead.openssl_iv_bytes = 0;
  if (context.algorithm().is_ccm()) lose_ccm(context);
  return 0;
}

// leave_message() handles that OpenSSL's context has accepted this key or IV while there is an
// AeadMessage, which is now over. With a new key alone, ChaCha20-Poly1305 begins again; GCM has no
// counter until there is an IV.
[[gnu::cold]] void leave_message(CipherContext &context, const uint8_t *iv) {
  if (iv != nullptr || !is_ended(context)) drop_message(context);
}

// leave_to_openssl() leaves this and all later messages to OpenSSL's context, which has a new IV or
// generates the IV of each record.
void leave_to_openssl(CipherContext &context) {
  context.aead.openssl_only = true;
  drop_message(context);
}

void note_iv_length(CipherContext &context, const OSSL_PARAM &param) {
  size_t bytes = 0;
  if (!OSSL_PARAM_get_size_t(&param, &bytes)) return;
  context.aead.openssl_iv_bytes = bytes;
  if (bytes == context.aead.iv_bytes) return;
  context.aead.is_over = true;
  context.ccm.iv_set = false;
  end_message(context);
}

void note_tag(CipherContext &context, const OSSL_PARAM &param) {
  if (context.encrypting || param.data_size > sizeof context.aead.wanted_tag) return;
  // Without data the parameter only sets a length. CCM accepts that and keeps its tag.
  if (param.data == nullptr && context.algorithm().is_ccm()) return;
  if (param.data != nullptr) std::memcpy(context.aead.wanted_tag, param.data, param.data_size);
  context.aead.wanted_tag_bytes = param.data_size;
  // OpenSSL stores the tag that the program sets and the tag that it computes in the same place.
  // CCM has two places.
  if (param.data != nullptr && !context.algorithm().is_ccm())
    std::memcpy(context.aead.tag, param.data, param.data_size);
}

// note_params() notes parameters that OpenSSL's context has accepted.
void note_params(CipherContext &context, const OSSL_PARAM params[]) {
  for (; params->key != nullptr; ++params)
    if (is_named(*params, OSSL_CIPHER_PARAM_AEAD_IVLEN)) {
      note_iv_length(context, *params);
    } else if (is_named(*params, OSSL_CIPHER_PARAM_AEAD_TAG)) {
      note_tag(context, *params);
    } else if (is_named(*params, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD) ||
               is_named(*params, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED)) {
      context.aead.tag_is_ours = false;
      if (is_gcm(context) || is_named(*params, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD)) {
        leave_to_openssl(context);
      } else {
        // Otherwise a message of ChaCha20-Poly1305 would continue at its position under another IV.
        context.aead.openssl_only = true;
        end_message(context);
      }
    } else if (is_named(*params, OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV) && is_gcm(context)) {
      context.aead.tag_is_ours = false;
      leave_to_openssl(context);
    }
}

// note_refused() handles that OpenSSL's context has refused one of these parameters.
[[gnu::cold]] void note_refused(CipherContext &context, const OSSL_PARAM params[]) {
  context.aead.openssl_iv_bytes = 0;
  if (context.algorithm().is_ccm()) {
    lose_ccm(context);
    return;
  }
  // It may have accepted others, among them a length or an IV.
  if (params != nullptr && params[0].key != nullptr && params[1].key != nullptr) {
    context.aead.is_over = true;
    end_message(context);
  }
}

// finish_message() finishes a message of which a device has processed a part: it computes the tag
// of the whole message, and on decryption compares it with the expected tag in constant time.
[[gnu::noinline]] bool finish_message(CipherContext &context, uint8_t *out) {
  uint8_t tag[16] = {};
  const bool made = sum_up(*context.aead.message);
  if (made) make_tag(*context.aead.message, tag);
  bool is_right = made && (context.encrypting || CRYPTO_memcmp(tag, context.aead.wanted_tag,
                                                               context.aead.wanted_tag_bytes) == 0);
  const bool has_tag = !context.encrypting && context.aead.wanted_tag_bytes > 0;
  // OpenSSL's context has not processed the text, so it succeeds only with the tag of the data that
  // it has processed.
  if (is_right && has_tag) is_right = set_own_tag(context.fallback, context.aead.wanted_tag_bytes);
  size_t bytes = 0;
  const bool done = context.fallback.finish(out, &bytes);
  if (has_tag)
    (void)set_tag(context.fallback, context.aead.wanted_tag, context.aead.wanted_tag_bytes);
  if (context.encrypting && done) {
    context.aead.tag_is_ours = true;
    std::memcpy(context.aead.tag, tag, sizeof tag);
  }
  OPENSSL_cleanse(tag, sizeof tag);
  // OpenSSL's GCM context refuses more text only after a successful tag check.
  if (is_gcm(context))
    end_message(context);
  else
    drop_message(context);
  return done && is_right;
}

// changes_nothing() says whether OpenSSL's context would stay unchanged and report success. That
// context compares each parameter with every name that it knows, which takes as long as a block or
// two. Programs set such parameters with each message.
bool changes_nothing(const CipherContext &context, const OSSL_PARAM &param) {
  // EVP sets it for every mode when padding is off. Authenticated modes have no padding.
  if (is_named(param, OSSL_CIPHER_PARAM_PADDING)) return true;
  if (!is_gcm(context) || !is_named(param, OSSL_CIPHER_PARAM_AEAD_IVLEN)) return false;
  size_t bytes = 0;  // the form that EVP_CTRL_AEAD_SET_IVLEN uses, read without a call
  if (param.data == nullptr || param.data_type != OSSL_PARAM_UNSIGNED_INTEGER ||
      param.data_size != sizeof bytes)
    return false;
  std::memcpy(&bytes, param.data, sizeof bytes);
  return bytes != 0 && bytes == context.aead.openssl_iv_bytes;
}

}  // namespace

int set_aead_params(CipherContext &context, const OSSL_PARAM params[]) {
  if (params != nullptr && params[0].key != nullptr && params[1].key == nullptr &&
      changes_nothing(context, params[0]))
    return 1;
  if (!context.fallback.set_params(params)) {
    note_refused(context, params);
    return 0;
  }
  if (params != nullptr) note_params(context, params);
  return 1;
}

int get_aead_params(CipherContext &context, OSSL_PARAM params[]) {
  if (!context.fallback.get_params(params)) return 0;
  // Only GCM has this parameter.
  if (is_gcm(context) && find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN) != nullptr)
    leave_to_openssl(context);
  const OSSL_PARAM *tag = find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG);
  if (tag != nullptr && tag->data != nullptr && context.aead.tag_is_ours &&
      tag->data_size <= sizeof context.aead.tag)
    std::memcpy(tag->data, context.aead.tag, tag->data_size);
  if (tag != nullptr && context.algorithm().is_ccm()) note_ccm_end(context);
  return 1;
}

int update_aead(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                const uint8_t *in, size_t in_bytes) {
  if (context.algorithm().is_ccm())
    return update_ccm(context, out, out_bytes, out_size, in, in_bytes, Call::kUpdate);
  // An update without data changes nothing. OpenSSL's context decides whether it is an error.
  if (in_bytes == 0) return context.fallback.update(out, out_bytes, in, 0) ? 1 : 0;
  if (context.aead.message == nullptr &&
      (in == nullptr || context.aead.openssl_only || (out != nullptr && !context.key_set)))
    return feed_openssl(context, out, out_bytes, in, in_bytes) ? 1 : 0;
  if (in == nullptr || is_ended(context)) return raise_failed();
  if (out_size < in_bytes) return raise_too_small();
  if (out != nullptr)
    return update_text(context, place_of(context, out, in, in_bytes), out, out_bytes, in, in_bytes);
  // Additional data must come before the text.
  if (context.aead.message != nullptr) return raise_failed();
  context.provider->counters.count_cpu(in_bytes);
  return feed_openssl(context, out, out_bytes, in, in_bytes) ? 1 : 0;
}

namespace {

// keep_made_tag() copies the tag that was computed last into wanted_tag. If OpenSSL's context is
// switched to decryption, it compares with that tag until the program sets another. The device path
// must do the same. ChaCha20-Poly1305 compares as many bytes as the program set before, which may
// be none.
[[gnu::cold]] bool keep_made_tag(CipherContext &context) {
  OSSL_PARAM params[] = {
      {OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, context.aead.wanted_tag,
       sizeof context.aead.wanted_tag, OSSL_PARAM_UNMODIFIED},
      OSSL_PARAM_END};
  context.aead.has_made_tag = false;
  if (!get_aead_params(context, params)) return false;
  if (is_gcm(context)) context.aead.wanted_tag_bytes = sizeof context.aead.wanted_tag;
  return context.aead.tag_is_ours && context.aead.wanted_tag_bytes > 0;
}

// tell_made_tag() sets that tag in OpenSSL's context, which has not processed a device's part and
// has computed another tag.
[[gnu::cold]] bool tell_made_tag(CipherContext &context) {
  context.aead.tag_is_ours = context.aead.wanted_tag_bytes < sizeof context.aead.tag;
  return set_tag(context.fallback, context.aead.wanted_tag, context.aead.wanted_tag_bytes);
}

}  // namespace

template <bool kEncrypt>
int init_aead(CipherContext &context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
              size_t iv_bytes, const OSSL_PARAM params[]) {
  const Algorithm &algorithm = context.algorithm();
  if (key != nullptr && key_bytes != algorithm.key_bytes) {
    ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_KEY_LENGTH);
    return 0;
  }
  if (algorithm.is_ccm() && key != nullptr) note_ccm_key(context);
  if (iv != nullptr && has_key(context, key, key_bytes)) key = nullptr;
  const bool tells_tag = !kEncrypt && context.aead.has_made_tag && keep_made_tag(context);
  // This is set before the call, so that the compiler keeps fewer values across it.
  context.encrypting = kEncrypt;
  begin(context, key, key_bytes, iv, iv_bytes);
  // Parameters are set separately, as in OpenSSL: if they are refused, the key and the IV are still
  // accepted.
  if (!context.fallback.init(key, key_bytes, iv, iv_bytes, kEncrypt)) return lose(context);
  if (context.aead.message != nullptr && (iv != nullptr || key != nullptr))
    leave_message(context, iv);
  if (tells_tag && !tell_made_tag(context)) return lose(context);
  if (iv != nullptr) context.aead.openssl_iv_bytes = iv_bytes;
  return params == nullptr ? 1 : set_aead_params(context, params);
}

template int init_aead<true>(CipherContext &, const uint8_t *, size_t, const uint8_t *, size_t,
                             const OSSL_PARAM[]);
template int init_aead<false>(CipherContext &, const uint8_t *, size_t, const uint8_t *, size_t,
                              const OSSL_PARAM[]);

int finish_aead(CipherContext &context, uint8_t *out, size_t *out_bytes) {
  bool done = false;
  *out_bytes = 0;
  if (is_ended(context)) return 0;
  // If no tag was set, GCM refuses before it processes the text, and a tag may still be set.
  if (context.aead.message != nullptr && !context.encrypting &&
      context.aead.wanted_tag_bytes == 0 && is_gcm(context) &&
      !context.fallback.finish(out, out_bytes))
    return 0;
  if (context.aead.message != nullptr) {
    done = finish_message(context, out);
  } else {
    done = context.fallback.finish(out, out_bytes);
    if (context.algorithm().is_ccm())
      finish_ccm(context);
    else if (done && context.encrypting)
      context.aead.tag_is_ours = false;
  }
  context.aead.has_made_tag |= done && context.encrypting && !context.algorithm().is_ccm();
  // GCM continues only with the next IV. ChaCha20-Poly1305 continues with the same one, as in
  // OpenSSL.
  context.aead.aad_bytes = context.aead.text_bytes = 0;
  context.aead.is_over |= is_gcm(context);
  return done ? 1 : 0;
}

int aead_at_once(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                 const uint8_t *in, size_t in_bytes) {
  if (context.algorithm().is_ccm())
    return update_ccm(context, out, out_bytes, out_size, in, in_bytes, Call::kAtOnce);
  if (is_ended(context)) return 0;
  if (!context.aead.openssl_only && in == nullptr) return finish_aead(context, out, out_bytes);
  if (context.aead.message != nullptr)
    return update_aead(context, out, out_bytes, out_size, in, in_bytes);
  if (!context.aead.openssl_only && out != nullptr) {
    const Placement place = place_of(context, out, in, in_bytes);
    if (place.choice == LC_CHOICE_DEVICE)
      return out_size < in_bytes ? raise_too_small()
                                 : update_text(context, place, out, out_bytes, in, in_bytes);
  }
  if (!context.aead.openssl_only && out != nullptr && !may_take(context, in_bytes))
    return refuse_length(context);
  if (in_bytes > 0) context.provider->counters.count_cpu(in_bytes);
  size_t written = 0;
  if (!context.fallback.at_once(out, &written, in, in_bytes)) return 0;
  (out == nullptr ? context.aead.aad_bytes : context.aead.text_bytes) += in_bytes;
  *out_bytes = written;
  return 1;
}

}  // namespace lanecrypt::provider
