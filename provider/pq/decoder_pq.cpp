// Decoders for ML-DSA keys. A key that the default provider's decoders construct is exported to our
// keymgmt when it is first used, and each import of a private key costs as much as generating a
// key. These decoders have the default provider parse the file, so that the loaded key is ours from
// the beginning.
//
// They leave a key to the default provider's decoders if its operations would not be fetched from
// us, because then the default provider would have to import it.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/bio.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/core_object.h>
#include <openssl/decoder.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <cstring>
#include <memory>

#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/pq/pq_key.h"
#include "provider/pq/pq_operations.h"

namespace lanecrypt::provider {
namespace {

struct Structure {
  const char *properties;
  int part;  // OSSL_KEYMGMT_SELECT_PRIVATE_KEY or OSSL_KEYMGMT_SELECT_PUBLIC_KEY
};
constexpr Structure kStructures[] = {
    {"provider=gpu,input=der,structure=PrivateKeyInfo", OSSL_KEYMGMT_SELECT_PRIVATE_KEY},
    {"provider=gpu,input=der,structure=SubjectPublicKeyInfo", OSSL_KEYMGMT_SELECT_PUBLIC_KEY}};

// Decoder reads one structure of one key type. It has no settings, so the provider context serves
// as its context.
struct Decoder {
  Provider &provider;
  const PqType &type;
  const Structure &structure;
};

void *new_context(void *provider) { return provider; }
void free_context(void *) {}

// does_selection() implements OSSL_FUNC_decoder_does_selection. Each selection includes the parts
// after it: private key, public key, parameters.
template <size_t kStructure>
int does_selection(void *, int selection) {
  constexpr int kPart = kStructures[kStructure].part;
  if (selection == 0) return 1;
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0)
    return kPart == OSSL_KEYMGMT_SELECT_PRIVATE_KEY;
  return (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0 &&
         kPart == OSSL_KEYMGMT_SELECT_PUBLIC_KEY;
}

// are_operations_ours() says whether the program would fetch the operations of such a key from us.
// libcrypto does not pass the property query with which a program reads one key, so only its
// default properties are known here.
bool are_operations_ours(const Decoder &decoder) {
  EVP_KEYMGMT *const management =
      EVP_KEYMGMT_fetch(decoder.provider.program, decoder.type.name, nullptr);
  if (management == nullptr) return false;
  const bool ours =
      OSSL_PROVIDER_get0_provider_ctx(EVP_KEYMGMT_get0_provider(management)) == &decoder.provider;
  EVP_KEYMGMT_free(management);
  return ours;
}

struct Reading {
  const Decoder &decoder;
  EVP_PKEY *made = nullptr;
};

int import_key(const OSSL_PARAM params[], void *argument) {
  Reading &reading = *static_cast<Reading *>(argument);
  reading.made = make_fallback_pq_key(reading.decoder.provider, reading.decoder.type,
                                      EVP_PKEY_KEYPAIR, params);
  return reading.made != nullptr ? 1 : 0;
}

int construct(OSSL_DECODER_INSTANCE *of, const OSSL_PARAM params[], void *argument) {
  const OSSL_PARAM *const reference = OSSL_PARAM_locate_const(params, OSSL_OBJECT_PARAM_REFERENCE);
  return reference != nullptr && OSSL_DECODER_export(of, reference->data, reference->data_size,
                                                     called_from_c<import_key>, argument);
}

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

// read_all() reads all bytes of `bio`, up to `most`, into `to`, and returns their number.
size_t read_all(BIO *bio, uint8_t *to, size_t most) {
  size_t all = 0, bytes = 0;
  while (all < most && BIO_read_ex(bio, to + all, most - all, &bytes) == 1) all += bytes;
  return all;
}

// read_public_key() reads a SubjectPublicKeyInfo (RFC 9881, section 4). It is one fixed header and
// the key, so it needs no decoder of the default provider. nullptr if `in` has no such key.
EVP_PKEY *read_public_key(const Decoder &decoder, OSSL_CORE_BIO *in) {
  // The public key lengths of FIPS 204, table 2, in the order of kPqTypes.
  constexpr size_t kKeyBytes[] = {1312, 1952, 2592}, kMostKeyBytes = 2592;
  const size_t number = size_t(&decoder.type - kPqTypes) - kMlDsaTypes;
  const size_t key_bytes = kKeyBytes[number];
  const auto high = [](size_t length) { return uint8_t(length >> 8); };
  const auto low = [](size_t length) { return uint8_t(length); };
  const uint8_t head[] = {0x30,
                          0x82,
                          high(key_bytes + 18),
                          low(key_bytes + 18),
                          0x30,
                          0x0b,
                          0x06,
                          0x09,
                          0x60,
                          0x86,
                          0x48,
                          0x01,
                          0x65,
                          0x03,
                          0x04,
                          0x03,
                          uint8_t(0x11 + number),
                          0x03,
                          0x82,
                          high(key_bytes + 1),
                          low(key_bytes + 1),
                          0x00};
  // One byte more than the longest key detects input that is too long.
  uint8_t file[sizeof head + kMostKeyBytes + 1];
  const Bio bio(BIO_new_from_core_bio(decoder.provider.fallback, in), BIO_free);
  if (bio == nullptr ||
      read_all(bio.get(), file, sizeof head + key_bytes + 1) != sizeof head + key_bytes ||
      std::memcmp(file, head, sizeof head) != 0)
    return nullptr;
  const OSSL_PARAM params[] = {
      {OSSL_PKEY_PARAM_PUB_KEY, OSSL_PARAM_OCTET_STRING, file + sizeof head, key_bytes, 0},
      OSSL_PARAM_END};
  return make_fallback_pq_key(decoder.provider, decoder.type, EVP_PKEY_PUBLIC_KEY, params);
}

// read_private_key() has the default provider read a PrivateKeyInfo, because its settings determine
// the accepted formats. nullptr if `in` has no such key, or none that is accepted.
EVP_PKEY *read_private_key(const Decoder &decoder, OSSL_CORE_BIO *in, int selection) {
  const std::unique_ptr<OSSL_DECODER, decltype(&OSSL_DECODER_free)> method(
      OSSL_DECODER_fetch(library_of_fallback(decoder.provider), decoder.type.name,
                         "provider=default,-fips,input=der,structure=PrivateKeyInfo"),
      OSSL_DECODER_free);
  const std::unique_ptr<OSSL_DECODER_CTX, decltype(&OSSL_DECODER_CTX_free)> context(
      OSSL_DECODER_CTX_new(), OSSL_DECODER_CTX_free);
  const Bio bio(BIO_new_from_core_bio(decoder.provider.fallback, in), BIO_free);
  Reading reading{decoder};
  if (method == nullptr || context == nullptr || bio == nullptr ||
      OSSL_DECODER_CTX_set_input_type(context.get(), "DER") != 1 ||
      OSSL_DECODER_CTX_set_selection(context.get(), selection) != 1 ||
      OSSL_DECODER_CTX_add_decoder(context.get(), method.get()) != 1 ||
      OSSL_DECODER_CTX_set_construct(context.get(), called_from_c<construct>) != 1 ||
      OSSL_DECODER_CTX_set_construct_data(context.get(), &reading) != 1 ||
      OSSL_DECODER_from_bio(context.get(), bio.get()) != 1) {
    EVP_PKEY_free(reading.made);
    return nullptr;
  }
  return reading.made;
}

// decode() implements OSSL_FUNC_decoder_decode. It returns success if it has read nothing:
// libcrypto then tries the next decoder, and at last the default provider's, which raises the
// error.
template <size_t kType, size_t kStructure>
int decode(void *provider, OSSL_CORE_BIO *in, int selection, OSSL_CALLBACK *callback,
           void *argument, OSSL_PASSPHRASE_CALLBACK *, void *) {
  const Decoder decoder{*static_cast<Provider *>(provider), kPqTypes[kType],
                        kStructures[kStructure]};
  PqKey *key = nullptr;
  {
    const ErrorMark mark;
    if (!are_operations_ours(decoder) ||
        fallback_pq_keymgmt(decoder.provider, size_t(&decoder.type - kPqTypes)) == nullptr)
      return 1;
    key = PqKey::around(decoder.provider, decoder.type,
                        decoder.structure.part == OSSL_KEYMGMT_SELECT_PRIVATE_KEY
                            ? read_private_key(decoder, in, selection)
                            : read_public_key(decoder, in));
  }
  if (key == nullptr) return 1;
  int kind = OSSL_OBJECT_PKEY;
  const OSSL_PARAM params[] = {
      {OSSL_OBJECT_PARAM_TYPE, OSSL_PARAM_INTEGER, &kind, sizeof kind, 0},
      {OSSL_OBJECT_PARAM_DATA_TYPE, OSSL_PARAM_UTF8_STRING, const_cast<char *>(decoder.type.name),
       std::strlen(decoder.type.name), 0},
      {OSSL_OBJECT_PARAM_REFERENCE, OSSL_PARAM_OCTET_STRING, &key, sizeof key, 0},
      OSSL_PARAM_END};
  const int done = callback(params, argument);
  // nullptr if our keymgmt has taken the key by load().
  PqKey::release(key);
  return done;
}

int export_object(void *, const void *reference, size_t bytes, OSSL_CALLBACK *callback,
                  void *argument) {
  if (reference == nullptr || bytes != sizeof(PqKey *)) return 0;
  const PqKey *const key = *static_cast<const PqKey *const *>(reference);
  return key != nullptr &&
         EVP_PKEY_export(key->fallback(),
                         key->has_private() ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, callback,
                         argument);
}

template <size_t kType, size_t kStructure>
const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_DECODER_NEWCTX, reinterpret_cast<Function>(called_from_c<new_context>)},
    {OSSL_FUNC_DECODER_FREECTX, reinterpret_cast<Function>(called_from_c<free_context>)},
    {OSSL_FUNC_DECODER_DOES_SELECTION,
     reinterpret_cast<Function>(called_from_c<does_selection<kStructure>>)},
    {OSSL_FUNC_DECODER_DECODE,
     reinterpret_cast<Function>(called_from_c<decode<kType, kStructure>>)},
    {OSSL_FUNC_DECODER_EXPORT_OBJECT, reinterpret_cast<Function>(called_from_c<export_object>)},
    {0, nullptr},
};

template <size_t kType, size_t kStructure>
constexpr OSSL_ALGORITHM row() {
  return {kPqTypes[kType].names, kStructures[kStructure].properties, kFunctions<kType, kStructure>,
          nullptr};
}

}  // namespace

const OSSL_ALGORITHM kMlDsaDecoderOperations[] = {
    row<kMlDsaTypes + 0, 0>(),
    row<kMlDsaTypes + 0, 1>(),
    row<kMlDsaTypes + 1, 0>(),
    row<kMlDsaTypes + 1, 1>(),
    row<kMlDsaTypes + 2, 0>(),
    row<kMlDsaTypes + 2, 1>(),
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace lanecrypt::provider
