// The dispatch tables of ML-DSA signatures. Every message to sign is hashed here to mu (FIPS 204,
// Algorithms 2 and 7: ML-DSA.Sign and ML-DSA.Sign_internal). A device, the service or the default
// provider signs mu, and the default provider verifies.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "provider/dispatch.h"
#include "provider/pq/pq_operation.h"
#include "provider/pq/pq_operations.h"
#include "provider/pq/shake256.h"
#include "provider/pq/signature_context.h"
#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

// Parameter names and function identifiers that OpenSSL 3.0's headers do not define.
constexpr char kSignature[] = "signature";
constexpr int kSignMessageUpdate = 28, kSignMessageFinal = 29;
constexpr int kVerifyMessageUpdate = 31, kVerifyMessageFinal = 32;

// MlDsaInput is the input of a signature: mu, and then rnd of FIPS 204.
struct MlDsaInput {
  uint8_t bytes[kMuBytes + kMostPqRandomBytes];
  uint8_t *mu() { return bytes; }
  uint8_t *random() { return bytes + kMuBytes; }
};

struct MlDsaContext : SignatureContext {
  using SignatureContext::SignatureContext;
  MlDsaContext(const MlDsaContext &from)
      : SignatureContext(from),
        is_mu(from.is_mu),
        message(from.message.copy()),
        has_ended(from.has_ended),
        signature(from.signature) {}

  int is_mu = 0;
  Shake256 message;                // the hash of a message that comes in pieces
  bool has_ended = false;          // that message is finished, and takes no more data
  std::vector<uint8_t> signature;  // the signature to verify it with
};

MlDsaContext &context_of(void *pointer) { return *static_cast<MlDsaContext *>(pointer); }

template <size_t kType>
void *new_context(void *provider, const char *) {
  return new MlDsaContext(*static_cast<Provider *>(provider), kPqTypes[kType]);
}
void free_context(void *pointer) { delete static_cast<MlDsaContext *>(pointer); }

void *copy_context(void *pointer) {
  const MlDsaContext &from = context_of(pointer);
  auto copy = std::make_unique<MlDsaContext>(from);
  return or_refuse(bool(copy->message) == bool(from.message) ? copy.release() : nullptr);
}

// ---- Parameters ------------------------------------------------------------

int set_params(void *pointer, const OSSL_PARAM params[]) {
  if (pointer == nullptr) return refuse(ERR_R_PASSED_NULL_PARAMETER);
  if (params == nullptr) return 1;
  MlDsaContext &context = context_of(pointer);
  if (!context.set_params(params)) return 0;
  if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, kMu);
      param != nullptr && !OSSL_PARAM_get_int(param, &context.is_mu))
    return 0;
  if (const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, kSignature); param != nullptr) {
    // libcrypto raises the error if the parameter is no octet string.
    size_t bytes = 0;
    if (OSSL_PARAM_get_octet_string(param, nullptr, 0, &bytes) != 1) return 0;
    const auto *from = static_cast<const uint8_t *>(param->data);
    context.signature.assign(from, from + bytes);
  }
  return 1;
}

#define BYTES(name) OSSL_PARAM_octet_string(name, nullptr, 0)
#define NUMBER(name) OSSL_PARAM_int(name, nullptr)
const OSSL_PARAM *settable_params(void *, void *) {
  static const OSSL_PARAM kAll[] = {
      BYTES(kContextString),    BYTES(kTestEntropy), NUMBER(kDeterministic), NUMBER(kMu),
      NUMBER(kMessageEncoding), BYTES(kSignature),   OSSL_PARAM_END};
  return kAll;
}
#undef BYTES
#undef NUMBER

// ---- The default provider's part -------------------------------------------

int sign_on_cpu(MlDsaContext &context, MlDsaInput &in, uint8_t *signature, size_t *bytes) {
  int is_mu = 1;
  const OSSL_PARAM params[] = {
      {kMu, OSSL_PARAM_INTEGER, &is_mu, sizeof is_mu, 0},
      {kTestEntropy, OSSL_PARAM_OCTET_STRING, in.random(), kMostPqRandomBytes, 0},
      OSSL_PARAM_END};
  const auto fallback = context.begin_fallback(true, params);
  return fallback != nullptr &&
         EVP_DigestSign(fallback.get(), signature, bytes, in.mu(), kMuBytes) == 1;
}

bool verify_on_cpu(const MlDsaContext &context, const OSSL_PARAM params[],
                   std::span<const uint8_t> signature, std::span<const uint8_t> message) {
  const auto fallback = context.begin_fallback(false, params);
  return fallback != nullptr && EVP_DigestVerify(fallback.get(), signature.data(), signature.size(),
                                                 message.data(), message.size()) == 1;
}

bool verify_mu(const MlDsaContext &context, const uint8_t *mu, std::span<const uint8_t> signature) {
  int is_mu = 1;
  const OSSL_PARAM params[] = {{kMu, OSSL_PARAM_INTEGER, &is_mu, sizeof is_mu, 0}, OSSL_PARAM_END};
  return verify_on_cpu(context, params, signature, {mu, kMuBytes});
}

int get_params(void *pointer, OSSL_PARAM params[]) {
  return get_signature_params(context_of(pointer), params);
}

// ---- Beginning ------------------------------------------------------------

int begin(void *pointer, void *key, const OSSL_PARAM params[]) {
  MlDsaContext &context = context_of(pointer);
  if (!context.begin(static_cast<PqKey *>(key))) return 0;
  context.is_mu = 0;
  context.message = Shake256();
  context.has_ended = false;
  context.signature.clear();
  return set_params(pointer, params);
}

int begin_digest(void *pointer, const char *digest, void *key, const OSSL_PARAM params[]) {
  return has_no_digest(digest, "ML-DSA") && begin(pointer, key, params);
}

// ---- Messages --------------------------------------------------------------

// begin_message() starts mu: it hashes tr and, unless the encoding is raw, the domain separator and
// the context string (FIPS 204, Algorithm 2, line 10, and Algorithm 7, line 6). It returns an
// uninitialised hash on failure, with an error raised.
Shake256 begin_message(MlDsaContext &context) {
  std::array<uint8_t, 64> tr;
  if (context.encoding != 0 && context.encoding != 1) {
    (void)refuse(PROV_R_NOT_SUPPORTED);
    return {};
  }
  if (!context.key->copy_tr(tr)) return {};
  Shake256 message(context.provider);
  const uint8_t head[] = {0, uint8_t(context.context_bytes)};
  const bool done = message.take(tr.data(), tr.size()) &&
                    (context.encoding == 0 ||
                     (message.take(head, sizeof head) &&
                      message.take(context.context_string.data(), context.context_bytes)));
  return done ? std::move(message) : Shake256();
}

int update(void *pointer, const unsigned char *data, size_t bytes) {
  MlDsaContext &context = context_of(pointer);
  if (context.key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  // mu itself cannot be extended, and nothing follows the last piece.
  if (context.is_mu != 0 || context.has_ended) return refuse(PROV_R_NOT_SUPPORTED);
  if (!context.message) context.message = begin_message(context);
  return context.message.take(data, bytes);
}

bool finish_message(Shake256 &message, uint8_t *mu) {
  std::array<uint8_t, kMuBytes> made;
  if (!message.give(made)) return false;
  std::memcpy(mu, made.data(), made.size());
  return true;
}

bool finish_pieces(MlDsaContext &context, uint8_t *mu) {
  context.has_ended = true;
  return finish_message(context.message, mu);
}

bool make_mu(MlDsaContext &context, const unsigned char *in, size_t in_bytes, uint8_t *mu) {
  if (context.is_mu != 0) {
    if (in_bytes != kMuBytes) return refuse(PROV_R_BAD_LENGTH);
    std::memcpy(mu, in, in_bytes);
    return true;
  }
  // A message that comes in pieces keeps its own hash, and continues after this.
  Shake256 message = begin_message(context);
  return message.take(in, in_bytes) && finish_message(message, mu);
}

// ---- Signing and verifying --------------------------------------------------

// Signing makes one signature of an MlDsaInput, which must outlive it.
class Signing final : public PqSigning {
 public:
  Signing(const MlDsaContext &context, const uint8_t *mu)
      : context_(context),
        mu_(mu),
        devices_(context.provider.devices()),
        key_(context.key->ml_dsa_key()),
        signature_bytes_(context.type.signature_bytes) {}

  lc_status run(const uint8_t *in, uint8_t *out, lc_result *result) const override {
    const lc_ml_dsa_message message = message_of(in, out);
    const lc_ml_dsa_job job = job_of(message);
    return lc_ml_dsa_run(devices_, &job, result);
  }
  lc_status submit(const uint8_t *in, uint8_t *out, const lc_completion *completion,
                   lc_ticket **ticket) const override {
    const lc_ml_dsa_message message = message_of(in, out);
    const lc_ml_dsa_job job = job_of(message);
    return lc_ml_dsa_submit(devices_, &job, completion, ticket);
  }
  bool is_right(std::span<const uint8_t> signature) const override {
    return verify_mu(context_, mu_, signature);
  }

 private:
  lc_ml_dsa_message message_of(const uint8_t *in, uint8_t *out) const {
    lc_ml_dsa_message message{};
    message.key = key_;
    message.message = in;
    message.message_bytes = kMuBytes;
    message.random = in + kMuBytes;
    message.signature = out;
    message.signature_bytes = signature_bytes_;
    return message;
  }
  static lc_ml_dsa_job job_of(const lc_ml_dsa_message &message) {
    lc_ml_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_ML_DSA_SIGN;
    job.encoding = LC_MESSAGE_MU;
    job.device = LC_ANY_DEVICE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    return job;
  }

  const MlDsaContext &context_;
  const uint8_t *const mu_;
  lc_context *const devices_;
  const lc_ml_dsa_key *const key_;
  const size_t signature_bytes_;
};

// sign_mu() signs the mu in `in`, on a device, by the service or by the default provider, and draws
// rnd. It writes the signature and its length.
int sign_mu(MlDsaContext &context, MlDsaInput &in, uint8_t *signature, size_t *bytes) {
  if (!context.draw(in.random())) return 0;
  PqOperation operation = PqOperation::signature(*context.key);
  if (!operation.may_go_on()) return 0;
  if (operation.is_for_device()) {
    const std::span<uint8_t> out(signature, context.type.signature_bytes);
    const Signing signing(context, in.mu());
    switch (operation.sign(signing, in.bytes, out)) {
      case OffloadResult::kDone:
        *bytes = out.size();
        return 1;
      case OffloadResult::kFailed:
      case OffloadResult::kRefused:
      case OffloadResult::kWrongTag:
        return 0;
      case OffloadResult::kNotTaken:
        break;
    }
  }
  return operation.note(sign_on_cpu(context, in, signature, bytes));
}

// sign_with() signs the message whose mu `make` computes.
template <typename MakeMu>
int sign_with(MlDsaContext &context, unsigned char *signature, size_t *bytes, size_t room,
              const MakeMu &make) {
  if (context.key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  // As in OpenSSL, a public key does not report the signature length either.
  if (!context.key->has_private()) return refuse(PROV_R_NOT_A_PRIVATE_KEY);
  if (signature == nullptr) {
    *bytes = context.type.signature_bytes;
    return 1;
  }
  if (!context.has_room(room, bytes)) return 0;
  MlDsaInput in;
  const int done = make(in.mu()) && sign_mu(context, in, signature, bytes);
  OPENSSL_cleanse(&in, sizeof in);
  return done;
}

int sign(void *pointer, unsigned char *signature, size_t *bytes, size_t room,
         const unsigned char *in, size_t in_bytes) {
  MlDsaContext &context = context_of(pointer);
  return sign_with(context, signature, bytes, room,
                   [&](uint8_t *mu) { return make_mu(context, in, in_bytes, mu); });
}

int finish_sign(void *pointer, unsigned char *signature, size_t *bytes, size_t room) {
  MlDsaContext &context = context_of(pointer);
  if (!context.message) return refuse(PROV_R_NOT_SUPPORTED);
  return sign_with(context, signature, bytes, room,
                   [&](uint8_t *mu) { return finish_pieces(context, mu); });
}

// verify() passes a whole message to the default provider unchanged, so that nothing is hashed
// twice.
int verify(void *pointer, const unsigned char *signature, size_t bytes, const unsigned char *in,
           size_t in_bytes) {
  MlDsaContext &context = context_of(pointer);
  if (context.key == nullptr) return refuse(PROV_R_NO_KEY_SET);
  if (context.is_mu != 0 && in_bytes != kMuBytes) return refuse(PROV_R_BAD_LENGTH);
  const OSSL_PARAM params[] = {
      {kMu, OSSL_PARAM_INTEGER, &context.is_mu, sizeof context.is_mu, 0},
      {kMessageEncoding, OSSL_PARAM_INTEGER, &context.encoding, sizeof context.encoding, 0},
      {kContextString, OSSL_PARAM_OCTET_STRING, context.context_string.data(),
       context.context_bytes, 0},
      OSSL_PARAM_END};
  return verify_on_cpu(context, params, {signature, bytes}, {in, in_bytes});
}

int finish_verify(void *pointer) {
  MlDsaContext &context = context_of(pointer);
  uint8_t mu[kMuBytes];
  if (!context.message) return refuse(PROV_R_NOT_SUPPORTED);
  return finish_pieces(context, mu) && verify_mu(context, mu, context.signature);
}

template <size_t kType>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_SIGNATURE_NEWCTX, reinterpret_cast<Function>(called_from_c<new_context<kType>>)},
    {OSSL_FUNC_SIGNATURE_FREECTX, reinterpret_cast<Function>(called_from_c<free_context>)},
    {OSSL_FUNC_SIGNATURE_DUPCTX, reinterpret_cast<Function>(called_from_c<copy_context>)},
    {kSignMessageInit, reinterpret_cast<Function>(called_from_c<begin>)},
    {kSignMessageUpdate, reinterpret_cast<Function>(called_from_c<update>)},
    {kSignMessageFinal, reinterpret_cast<Function>(called_from_c<finish_sign>)},
    {OSSL_FUNC_SIGNATURE_SIGN, reinterpret_cast<Function>(called_from_c<sign>)},
    {kVerifyMessageInit, reinterpret_cast<Function>(called_from_c<begin>)},
    {kVerifyMessageUpdate, reinterpret_cast<Function>(called_from_c<update>)},
    {kVerifyMessageFinal, reinterpret_cast<Function>(called_from_c<finish_verify>)},
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

}  // namespace

const OSSL_ALGORITHM kMlDsaSignatureOperations[] = {
    {kPqTypes[0].names, "provider=gpu", kFunctions<0>, nullptr},
    {kPqTypes[1].names, "provider=gpu", kFunctions<1>, nullptr},
    {kPqTypes[2].names, "provider=gpu", kFunctions<2>, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
