// The dispatch tables of SLH-DSA signatures. There is no update function, because the message hash
// begins with R, which is computed from the whole message. A device, the service or the default
// provider signs, and the default provider verifies.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <array>
#include <new>
#include <span>

#include "provider/dispatch.h"
#include "provider/pq/pq_operation.h"
#include "provider/pq/pq_operations.h"
#include "provider/pq/signature_context.h"
#include "provider/pq/slh_dsa_input.h"
#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

SignatureContext &context_of(void *pointer) { return *static_cast<SignatureContext *>(pointer); }

template <size_t kType>
void *new_context(void *provider, const char *) {
  return new SignatureContext(*static_cast<Provider *>(provider), kPqTypes[kType]);
}
void free_context(void *pointer) { delete static_cast<SignatureContext *>(pointer); }
void *copy_context(void *pointer) { return new SignatureContext(context_of(pointer)); }

int set_params(void *pointer, const OSSL_PARAM params[]) {
  if (pointer == nullptr) return refuse(ERR_R_PASSED_NULL_PARAMETER);
  return params == nullptr || context_of(pointer).set_params(params);
}
int get_params(void *pointer, OSSL_PARAM params[]) {
  return get_signature_params(context_of(pointer), params);
}

#define BYTES(name) OSSL_PARAM_octet_string(name, nullptr, 0)
#define NUMBER(name) OSSL_PARAM_int(name, nullptr)
const OSSL_PARAM *settable_params(void *, void *) {
  static const OSSL_PARAM kAll[] = {BYTES(kContextString), BYTES(kTestEntropy),
                                    NUMBER(kDeterministic), NUMBER(kMessageEncoding),
                                    OSSL_PARAM_END};
  return kAll;
}
#undef BYTES
#undef NUMBER

int begin(void *pointer, void *key, const OSSL_PARAM params[]) {
  return context_of(pointer).begin(static_cast<PqKey *>(key)) && set_params(pointer, params);
}
int begin_digest(void *pointer, const char *digest, void *key, const OSSL_PARAM params[]) {
  return has_no_digest(digest, "SLH-DSA") && begin(pointer, key, params);
}

// FallbackParams are the parameters for the default provider: those of our context, and the random
// bytes that were drawn.
class FallbackParams {
 public:
  FallbackParams(SignatureContext &context, uint8_t *random)
      : deterministic_(context.is_deterministic() ? 1 : 0), encoding_(context.encoding) {
    size_t count = 0;
    params_[count++] = {kContextString, OSSL_PARAM_OCTET_STRING, context.context_string.data(),
                        context.context_bytes, 0};
    params_[count++] = {kMessageEncoding, OSSL_PARAM_INTEGER, &encoding_, sizeof encoding_, 0};
    params_[count++] = {kDeterministic, OSSL_PARAM_INTEGER, &deterministic_, sizeof deterministic_,
                        0};
    if (random != nullptr && deterministic_ == 0)
      params_[count++] = {kTestEntropy, OSSL_PARAM_OCTET_STRING, random, context.type.random_bytes,
                          0};
    params_[count] = OSSL_PARAM_END;
  }
  FallbackParams(const FallbackParams &) = delete;
  const OSSL_PARAM *get() const { return params_.data(); }

 private:
  int deterministic_, encoding_;
  std::array<OSSL_PARAM, 5> params_;
};

bool is_signature(SignatureContext &context, std::span<const uint8_t> signature,
                  std::span<const uint8_t> message) {
  const FallbackParams params(context, nullptr);
  const auto fallback = context.begin_fallback(false, params.get());
  return fallback != nullptr && EVP_DigestVerify(fallback.get(), signature.data(), signature.size(),
                                                 message.data(), message.size()) == 1;
}

// Signing makes one signature of a message (FIPS 205, Algorithm 22, slh_sign). submit() copies the
// context string and the random bytes before it returns.
class Signing final : public PqSigning {
 public:
  Signing(SignatureContext &context, const uint8_t *random, std::span<const uint8_t> message)
      : context_(context), random_(random), message_(message) {}

  lc_status run(const uint8_t *in, uint8_t *out, lc_result *result) const override {
    const lc_slh_dsa_message message = message_of(in, out);
    const lc_slh_dsa_job job = job_of(message);
    return lc_slh_dsa_run(context_.provider.devices(), &job, result);
  }
  lc_status submit(const uint8_t *in, uint8_t *out, const lc_completion *completion,
                   lc_ticket **ticket) const override {
    const lc_slh_dsa_message message = message_of(in, out);
    const lc_slh_dsa_job job = job_of(message);
    return lc_slh_dsa_submit(context_.provider.devices(), &job, completion, ticket);
  }
  bool is_right(std::span<const uint8_t> signature) const override {
    return is_signature(context_, signature, message_);
  }

 private:
  lc_slh_dsa_message message_of(const uint8_t *in, uint8_t *out) const {
    lc_slh_dsa_message message{};
    message.key = context_.key->slh_dsa_key();
    message.message = in;
    message.message_bytes = message_.size();
    if (context_.encoding != 0) {
      message.context = context_.context_string.data();
      message.context_bytes = context_.context_bytes;
    }
    // Without it, a deterministic signature uses PK.seed.
    if (!context_.is_deterministic()) message.additional_random = random_;
    message.signature = out;
    message.signature_bytes = context_.type.signature_bytes;
    return message;
  }
  lc_slh_dsa_job job_of(const lc_slh_dsa_message &message) const {
    lc_slh_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_SLH_DSA_SIGN;
    job.encoding = context_.encoding == 0 ? LC_MESSAGE_RAW : LC_MESSAGE_PURE;
    job.deterministic = context_.is_deterministic() ? 1 : 0;
    job.device = LC_ANY_DEVICE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    return job;
  }

  SignatureContext &context_;
  const uint8_t *const random_;
  const std::span<const uint8_t> message_;
};

bool sign_on_cpu(SignatureContext &context, uint8_t *random, std::span<const uint8_t> message,
                 uint8_t *signature, size_t *bytes) {
  const FallbackParams params(context, random);
  const auto fallback = context.begin_fallback(true, params.get());
  return fallback != nullptr &&
         EVP_DigestSign(fallback.get(), signature, bytes, message.data(), message.size()) == 1;
}

// sign_elsewhere() signs on a device or by the service.
OffloadResult sign_elsewhere(PqOperation &operation, SignatureContext &context,
                             const uint8_t *random, std::span<const uint8_t> message,
                             std::span<uint8_t> signature) {
  const Signing signing(context, random, message);
  if (!operation.is_for_service()) return operation.sign(signing, message, signature);
  const auto input =
      make_slh_dsa_input(context, context.is_deterministic() ? nullptr : random, message);
  return input ? operation.sign(signing, input->get(), signature) : operation.has_no_input();
}

bool sign_message(SignatureContext &context, uint8_t *random, std::span<const uint8_t> message,
                  uint8_t *signature, size_t *bytes) {
  PqOperation operation = PqOperation::signature(*context.key);
  if (!operation.may_go_on()) return false;
  if (operation.is_for_device()) {
    const std::span<uint8_t> out(signature, context.type.signature_bytes);
    switch (sign_elsewhere(operation, context, random, message, out)) {
      case OffloadResult::kDone:
        *bytes = out.size();
        return true;
      case OffloadResult::kFailed:
      case OffloadResult::kRefused:
      case OffloadResult::kWrongTag:
        return false;
      case OffloadResult::kNotTaken:
        break;
    }
  }
  return operation.note(sign_on_cpu(context, random, message, signature, bytes));
}

int sign(void *pointer, unsigned char *signature, size_t *bytes, size_t room,
         const unsigned char *in, size_t in_bytes) {
  SignatureContext &context = context_of(pointer);
  if (context.key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  if (signature == nullptr) {
    *bytes = context.type.signature_bytes;
    return 1;
  }
  if (!context.key->has_private()) return refuse(PROV_R_MISSING_KEY);
  if (!context.has_room(room, bytes)) return 0;
  std::array<uint8_t, kMostPqRandomBytes> random;
  const bool done = context.draw(random.data()) &&
                    sign_message(context, random.data(), {in, in_bytes}, signature, bytes);
  OPENSSL_cleanse(random.data(), random.size());
  return done;
}

int verify(void *pointer, const unsigned char *signature, size_t bytes, const unsigned char *in,
           size_t in_bytes) {
  SignatureContext &context = context_of(pointer);
  if (context.key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  return is_signature(context, {signature, bytes}, {in, in_bytes});
}

template <size_t kType>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_SIGNATURE_NEWCTX, reinterpret_cast<Function>(called_from_c<new_context<kType>>)},
    {OSSL_FUNC_SIGNATURE_FREECTX, reinterpret_cast<Function>(called_from_c<free_context>)},
    {OSSL_FUNC_SIGNATURE_DUPCTX, reinterpret_cast<Function>(called_from_c<copy_context>)},
    {kSignMessageInit, reinterpret_cast<Function>(called_from_c<begin>)},
    {OSSL_FUNC_SIGNATURE_SIGN, reinterpret_cast<Function>(called_from_c<sign>)},
    {kVerifyMessageInit, reinterpret_cast<Function>(called_from_c<begin>)},
    {OSSL_FUNC_SIGNATURE_VERIFY, reinterpret_cast<Function>(called_from_c<verify>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, reinterpret_cast<Function>(called_from_c<begin_digest>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN, reinterpret_cast<Function>(called_from_c<sign>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT,
     reinterpret_cast<Function>(called_from_c<begin_digest>)},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY, reinterpret_cast<Function>(called_from_c<verify>)},
    {OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS, reinterpret_cast<Function>(called_from_c<get_params>)},
    {OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<gettable_signature_params>)},
    {OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, reinterpret_cast<Function>(called_from_c<set_params>)},
    {OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS,
     reinterpret_cast<Function>(called_from_c<settable_params>)},
    {0, nullptr},
};

template <size_t kType>
constexpr OSSL_ALGORITHM row() {
  return {kPqTypes[kType].names, "provider=gpu", kFunctions<kType>, nullptr};
}

}  // namespace

const OSSL_ALGORITHM kSlhDsaSignatureOperations[] = {
    row<kSlhDsaTypes + 0>(),
    row<kSlhDsaTypes + 1>(),
    row<kSlhDsaTypes + 2>(),
    row<kSlhDsaTypes + 3>(),
    row<kSlhDsaTypes + 4>(),
    row<kSlhDsaTypes + 5>(),
    row<kSlhDsaTypes + 6>(),
    row<kSlhDsaTypes + 7>(),
    row<kSlhDsaTypes + 8>(),
    row<kSlhDsaTypes + 9>(),
    row<kSlhDsaTypes + 10>(),
    row<kSlhDsaTypes + 11>(),
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
